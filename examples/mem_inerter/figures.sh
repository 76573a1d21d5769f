#!/bin/sh
# Draws what a memory element is known by.
#
#   examples/mem_inerter/figures.sh [DIRECTORY]      default: build/figures; FORMAT=png makes pictures of pixels
#
# mem_inerter.svg   its constitutive curve, its pinched loop, and the zero crossings that velocity and momentum have in common
# Needs gnuplot. MDLC names another compiler than build/mdlc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
mdlc=${MDLC:-$top/build/mdlc}
pictures=${1:-$top/build/figures}
format=${FORMAT:-svg}
picture=$pictures/mem_inerter.$format
command -v gnuplot >/dev/null || { echo "figures.sh: gnuplot is not installed" >&2; exit 2; }
mkdir -p "$pictures"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Columns time, x, v, p, delta by name, whatever their order.
"$mdlc" run "$here/loop.mdl" --quiet --vars '^(x|v|p|delta)$' -o "$work/loop.csv"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { h = $i; gsub(/"/, "", h); at[h] = i }; next }
         { print $1, $at["x"], $at["v"], $at["p"], $at["delta"] }' "$work/loop.csv" >"$work/loop.dat"

case $format in
svg) terminal="svg size 1200,420 font 'Helvetica,14' background '#ffffff'" ;;
*) terminal="pngcairo size 1200,420 font 'Helvetica,12'" ;;
esac
cat >"$work/plot.gp" <<PLOT
set terminal $terminal
set output '$picture'
set multiplot
set border linecolor rgb "#666666"
set grid linecolor rgb "#dddddd" linetype 1
unset key
set label 1 "A fluid mem-inerter, δ = b_0/2 (w − x) x, moved as x = 0.02 m sin(4π t/s)" at screen 0.5, screen 0.945 center font ",18"
set tmargin at screen 0.82
set bmargin at screen 0.16
set zeroaxis linecolor rgb "#999999" linetype 1

set lmargin at screen 0.065
set rmargin at screen 0.325
set title "constitutive curve" offset 0, -0.5
set xlabel "displacement x (m)"
set ylabel "integrated momentum δ (N s²)" offset 1
set xtics -0.02, 0.01
plot '$work/loop.dat' using 2:5 with lines linewidth 2.4 linecolor rgb '#1f4e79'
unset label

set lmargin at screen 0.405
set rmargin at screen 0.655
set title "pinched loop"
set xlabel "velocity v (m/s)"
set ylabel "momentum p (N s)" offset 1
set xtics -0.2, 0.1
plot '$work/loop.dat' using 3:4 with lines linewidth 2.4 linecolor rgb '#c0392b'

set lmargin at screen 0.735
set rmargin at screen 0.985
set title "coincident zero crossings"
set xlabel "time (s)"
set ylabel "p (N s), 20 v (m/s)" offset 1
set xtics 0, 0.25
set key at graph 0.98, graph 0.97 right top horizontal samplen 1.5 font ",11" opaque
do for [k=0:3] { set arrow k+1 from 0.125+0.25*k, graph 0 to 0.125+0.25*k, graph 1 nohead linecolor rgb "#bbbbbb" dashtype 2 }
set yrange [-7.5:9]
plot '$work/loop.dat' using 1:(20*\$3) with lines linewidth 2 linecolor rgb '#1f4e79' title '20 v', \\
     '' using 1:4 with lines linewidth 2 linecolor rgb '#c0392b' title 'p'
unset multiplot
PLOT
gnuplot "$work/plot.gp"
echo "$picture"
