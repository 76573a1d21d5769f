#!/bin/sh
# Whether the files and folders that documentation and comments name are there. Prints those that are not; exit status 1 when there is one.
# usage: tests/names.sh
#
# Looked at: what stands in backquotes in README.md and docs/*.md, comments of sources, tests and doors. A name with folders is a path from the top;
# a bare name is a file of the same floor (frontend, ir, backend, runtime), in docs/passes.md and docs/ir.md of `ir`, in docs/runtime.md of
# `runtime`. Files of others and of the build are listed below.
set -u
cd "$(dirname "$0")/.."
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# Every `NAME` of the documentation, and every comment, as "FILE:LINE:TEXT".
texts() {
    awk '/^ *```/ { fence = !fence; next } FNR == 1 { fence = 0 }
        !fence { n = split($0, part, "`"); for (i = 2; i <= n; i += 2) print FILENAME ":" FNR ":" part[i] }' README.md docs/*.md
    awk '/^ *#include/ { next }
        match($0, /(^|[ ;{}()])\/\/.*/) { print FILENAME ":" FNR ":" substr($0, RSTART) }' $(find frontend ir backend runtime tests -name '*.[chly]' -o -name '*.def')
}
{ find frontend ir backend runtime stdlib examples tests docs .ci | sed 's/^/file /'; texts | sed 's/^/text /'; } | awk '
    BEGIN {
        # of the build, of SUNDIALS, of the Modelica Language Specification, and what `make install` calls runtime/shell/embed.h
        n = split("parser.c parser.h lexer.c lexer.h assets.c ida_impl.h ModelicaUtilities.h mdl_embed.h", other, " ")
        for (i = 1; i <= n; i++) known[other[i]] = 1
        page["docs/passes.md"] = page["docs/ir.md"] = "ir"; page["docs/runtime.md"] = "runtime"
    }
    $1 == "file" {
        there[$2] = 1; n = split($2, f, "/"); bare[f[n]] = 1; of_floor[f[1] "/" f[n]] = 1
        next
    }
    {
        split($2, at, ":"); floor = at[1] in page ? page[at[1]] : at[1]; sub(/\/.*/, "", floor)
        text = substr($0, 6); sub(/^[^:]*:[^:]*:/, "", text)
        while (match(text, /[A-Za-z0-9_.\/$*-]+/)) {
            name = substr(text, RSTART, RLENGTH); next_to = substr(text, RSTART + RLENGTH, 1); text = substr(text, RSTART + RLENGTH)
            sub(/[.\/]+$/, "", name)
            is_file = name ~ /^[a-z0-9_\/]*[a-z][a-z0-9_]+\.([ch]|def)$/ && next_to != "("
            is_place = name ~ /^(frontend|ir|backend|runtime)\/[a-z_]+(\/[a-z_0-9]+)?$/
            if (!is_file && !is_place) continue
            n = split(name, f, "/")
            if (f[n] in known || name in there) continue
            if (is_place && next_to != "*" || n > 1) { print at[1] ":" at[2] ": there is no " name; continue }
            if (is_place) continue
            if (floor ~ /^(frontend|ir|backend|runtime)$/ ? (floor "/" name) in of_floor : name in bare) continue
            print at[1] ":" at[2] ": there is no " name (name in bare ? " in " floor : "")
        }
    }' | sort -u >"$found"
cat "$found"
[ -s "$found" ] || echo "names: fine"
[ ! -s "$found" ]
