#!/bin/sh
# Runs the hump cases of the quarter car and draws them in one picture.
#
#   examples/quarter_car/plot.sh [PICTURE.png|PICTURE.svg]      default: build/quarter_car.png
#
# Per speed: road, wheel and body displacement; shaded are the time off the road (q10 = 1) and on a suspension
# stop (q21 <> 0). Needs gnuplot. MDLC names another compiler than build/mdlc, SPEEDS other speeds.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
mdlc=${MDLC:-$top/build/mdlc}
picture=${1:-$top/build/quarter_car.png}
speeds=${SPEEDS:-0.5 1 2 3 5}
command -v gnuplot >/dev/null || { echo "plot.sh: gnuplot is not installed" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$here/columns.sh"

n=0
for speed in $speeds; do
    "$mdlc" run "$here/bump.mdl" --quiet --set V="$speed" --tol 1e-8 --interval 0.002 --stop 2 -o "$work/$speed.csv"
    pick "$work/$speed.csv" time z0 z1 z2 > "$work/$speed.dat"
    n=$((n + 1))
done

case $picture in
*.svg) terminal="svg size 1200,$((n * 210 + 172)) font 'Helvetica,14' background '#ffffff'" ;;
*) terminal="pngcairo size 1200,$((n * 210 + 172)) font 'Helvetica,12'" ;;
esac
{
    cat <<PLOT
set terminal $terminal
set output '$picture'
top = $((n * 210 + 172)).0
set multiplot
set label 1 "Quarter car over a half-sine hump" at screen 0.5, screen 1 - 26/top center font ",19"
set label 2 "hump 0.15 m × 0.5 m;  M_1 = 30 kg, M_2 = 300 kg, C_{21} = 2000 N s/m, F_D = 0.2 N, K_{21} = 40 kN/m, K_{21L} = 300 kN/m beyond ±0.14 m, K_{10} = 200 kN/m" \
    at screen 0.5, screen 1 - 54/top center font ",11" textcolor rgb "#444444"
set label 3 "Model and parameters: D. Żardecki, A. Dębowski, Applied Mathematical Modelling 94 (2021), Table 1, equations (35)-(49), corrected" \
    at screen 0.5, screen 16/top center font ",10" textcolor rgb "#666666"
set label 4 "shaded:" at screen 0.60, screen 1 - 82/top left font ",11"
set object 901 rectangle from screen 0.665, screen 1 - 88/top to screen 0.685, screen 1 - 76/top fillcolor rgb "#dce9f7" fillstyle solid border rgb "#9bb8d8"
set label 5 "wheel off the road" at screen 0.69, screen 1 - 82/top left font ",11"
set object 902 rectangle from screen 0.82, screen 1 - 88/top to screen 0.84, screen 1 - 76/top fillcolor rgb "#f6c9a8" fillstyle solid border rgb "#d89a6b"
set label 6 "suspension on its stop" at screen 0.845, screen 1 - 82/top left font ",11"
set lmargin at screen 0.075
set rmargin at screen 0.985
set xrange [0:2]
set yrange [-0.24:0.19]
set ytics -0.2, 0.1, 0.1
set mytics 2
set xtics 0, 0.2 format ""
set grid xtics ytics linecolor rgb "#dddddd" linetype 1
set border linecolor rgb "#666666"
set key at screen 0.075, screen 1 - 82/top left center horizontal Left reverse samplen 2 width 1 font ",11"
set ylabel "displacement (m)" offset 1
PLOT
    i=0
    for speed in $speeds; do
        echo "set tmargin at screen 1 - ($i*210 + 105)/top"
        echo "set bmargin at screen 1 - ($i*210 + 105 + 190)/top"
        shade "$work/$speed.csv" '#dce9f7' q10
        shade "$work/$speed.csv" '#f6c9a8' q21
        echo "set label 10 'V = $speed m/s' at graph 0.985, graph 0.9 right font ',14'"
        [ $((i + 1)) -lt "$n" ] || echo "set xtics 0, 0.2 format '%g'; set xlabel 'time (s)' offset 0, 0.5"
        echo "plot '$work/$speed.dat' using 1:2 with lines linewidth 1.5 linecolor rgb '#999999' title 'road z_0', \\"
        echo "     '' using 1:3 with lines linewidth 2 linecolor rgb '#c0392b' title 'wheel z_1', \\"
        echo "     '' using 1:4 with lines linewidth 2.4 linecolor rgb '#1f4e79' title 'car body z_2'"
        # What was drawn once would be drawn again by every further plot of the multiplot.
        echo "unset key; unset label; unset object"
        i=$((i + 1))
    done
    echo "unset multiplot"
} > "$work/plot.gp"
gnuplot "$work/plot.gp"
echo "$picture"
