#!/bin/sh
# The rooms of the tree and who uses whom, as SVG on standard output; what follows from other arrows is left out. Needs Graphviz.
# usage: docs/rooms.sh >docs/rooms.svg
set -eu
cd "$(dirname "$0")/.."
{
    echo 'digraph rooms { rankdir=TB; newrank=true; node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica", fontsize=12, margin="0.12,0.06"]; edge [color="#777777", arrowsize=0.6];'
    for floor in frontend backend runtime ir; do
        echo "subgraph cluster_$floor { label=\"$floor\"; labeljust=l; fontname=\"Helvetica-Bold\"; fontsize=14; color=\"#bbbbbb\"; style=rounded; bgcolor=\"#f6f6f2\";"
        sed -n "s/#.*//; s|^\($floor\)/\([a-z]*\).*|\"\1/\2\" [label=\"\2\"];|p" tests/rooms
        echo '}'
    done
    grep -rE '^#include "(frontend|ir|backend|runtime)/' frontend ir backend runtime --include='*.[chly]' |
        sed -n 's|^\([a-z]*/[a-z]*\)/[^:]*:#include "\([a-z]*/[a-z]*\)/.*|"\1" -> "\2"|p' | awk '$1 != $3' | sort -u
    echo '}'
} | tred 2>/dev/null | dot -Tsvg
