#!/bin/sh
# The figures of the quarter car's paper (Żardecki, Dębowski, Appl. Math. Model. 94 (2021), Figs 10 to 13) that follow from its model.
#
#   examples/quarter_car/figures.sh [DIRECTORY]      default: build/figures; FORMAT=png makes pictures of pixels
#
# hump.svg      Figs 10, 11: responses to the hump at eight speeds
# time.svg      Figs 12, 13: responses to the sine at eight frequencies, after the transients
# phase.svg     Figs 12, 13: phase planes of tyre and suspension at the same frequencies, marked where an indicator is not zero
# speed.svg     what happens as a function of the speed: time off the road, deepest stroke
# frequency.svg response against frequency: extremes, and the body's position once per period
# Needs gnuplot. MDLC names another compiler than build/mdlc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
mdlc=${MDLC:-$top/build/mdlc}
pictures=${1:-$top/build/figures}
command -v gnuplot >/dev/null || { echo "figures.sh: gnuplot is not installed" >&2; exit 2; }
mkdir -p "$pictures"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/columns.sh"
format=${FORMAT:-svg}
transients=20 # seconds of the sine that are not drawn

open_file() { # NAME WIDTH HEIGHT
    case $format in
    svg) echo "set terminal svg size $2,$3 font 'Helvetica,13' background '#ffffff'" ;;
    *) echo "set terminal pngcairo size $2,$3 font 'Helvetica,11'" ;;
    esac
    echo "set output '$pictures/$1.$format'"
    echo "set grid linecolor rgb '#dddddd' linetype 1"
    echo "set border linecolor rgb '#666666'"
    echo "set key outside top left horizontal Left reverse samplen 2"
}
open_panels() { # NAME WIDTH HEIGHT ROWS COLUMNS TITLE
    open_file "$1" "$2" "$3"
    echo "set multiplot layout $4,$5 columnsfirst title \"$6\" font ',14' margins screen 0.06, 0.97, 0.05, 0.9 spacing screen 0.05, 0.05"
}
responses() { # RESULT LABEL: one panel of road, wheel and body
    pick "$1" time z0 z1 z2 >"$1.dat"
    shade "$1" '#dce9f7' q10
    shade "$1" '#f6c9a8' q21
    echo "set label 1 '$2' at graph 0.985, graph 0.88 right font ',13'"
    echo "plot '$1.dat' using 1:2 with lines linewidth 1.4 linecolor rgb '#999999' title 'road z_0', \\"
    echo "     '' using 1:3 with lines linewidth 1.8 linecolor rgb '#c0392b' title 'wheel z_1', \\"
    echo "     '' using 1:4 with lines linewidth 2.2 linecolor rgb '#1f4e79' title 'car body z_2'"
    echo "unset object; unset key"
}

# --- the hump, Figs 10 and 11
speeds="0.5 1 2 3 5 6.5 8 10"
{
    open_panels hump 1200 900 4 2 "Half-sine hump of 0.15 m by 0.5 m; shaded: wheel off the road (blue), suspension on its stop (orange)"
    echo "set xrange [0:2]; set yrange [-0.24:0.19]; set ytics 0.1; set key at screen 0.07, screen 0.945"
    for speed in $speeds; do
        "$mdlc" run "$here/bump.mdl" --quiet --set V="$speed" --tol 1e-8 --interval 0.002 --stop 2 -o "$work/hump$speed"
        responses "$work/hump$speed" "V = $speed m/s"
    done
    echo "unset multiplot"
} >"$work/hump.gp"

# --- the sine, Figs 12 and 13
frequencies="0.5 1 1.5 3 4.5 5 5.5 8"
for f in $frequencies; do
    "$mdlc" run "$here/sine.mdl" --quiet --set f0="$f" --tol 1e-8 --interval 0.002 --stop $((transients + 10)) -o "$work/all"
    awk -F, -v from=$transients 'NR == 1 || $1 >= from' "$work/all" >"$work/sine$f"
done
{
    open_panels time 1200 900 4 2 "Sine of 0.15 m, after $transients s; shaded: wheel off the road (blue), suspension on its stop (orange)"
    echo "set xrange [$transients:$transients + 4]; set yrange [-0.45:1]; set ytics 0.4; set key at screen 0.07, screen 0.945"
    for f in $frequencies; do
        responses "$work/sine$f" "f_0 = $f Hz"
    done
    echo "unset multiplot"
} >"$work/time.gp"
{
    open_panels phase 1200 1100 4 4 "Velocity (m/s) over position (m) after $transients s: tyre (left half), suspension (right half); coloured: off the road, on a stop"
    echo "unset key; set tics font ',9'; set xtics rotate by -30"
    for columns in "z1-z0 q10" "z2-z1 q21"; do
        case $columns in
        z1*) name='z_{10}' with='$2-$1' against='$4-$5' mark='$7' colour='#2a78c2' ;;
        *) name='z_{21}' with='$3-$2' against='$6-$4' mark='$8' colour='#d9741a' ;;
        esac
        for f in $frequencies; do
            # the velocity of the road is that of its sine
            pick "$work/sine$f" z0 z1 z2 v1 time v2 q10 q21 |
                awk -v f="$f" '{ $5 = 0.15*2*3.14159265358979*f*cos(2*3.14159265358979*f*$5); print }' >"$work/phase$f"
            echo "set title '$name, f_0 = $f Hz' offset 0,-0.7"
            echo "plot '$work/phase$f' using ($with):($against) with lines linewidth 1 linecolor rgb '#8a8a8a', \\"
            echo "     '' using ($mark != 0 ? $with : 1/0):($against) with lines linewidth 2.6 linecolor rgb '$colour'"
        done
    done
    echo "unset multiplot"
} >"$work/phase.gp"

# --- against the speed: what section 4.3 of the paper says in words
: >"$work/speed.dat"
for speed in $(seq 0.25 0.25 10); do
    "$mdlc" run "$here/bump.mdl" --quiet --set V="$speed" --tol 1e-8 --interval 0.002 --stop 3 -o "$work/one"
    pick "$work/one" time z1 z2 q10 q21 | awk -v speed="$speed" '
        NR > 1 { if (q10) off += $1 - t; if (q21) stop += $1 - t }
        { t = $1; q10 = $4 + 0; q21 = $5 + 0; d = $3 - $2; if (NR == 1 || d < low) low = d; if ($3 > top) top = $3 }
        END { print speed, off + 0, stop + 0, low, top }' >>"$work/speed.dat"
done
cat >"$work/speed.gp" <<PLOT
$(open_file speed 900 380)
set key outside top center
set xlabel 'speed V (m/s)'
set ylabel 'time in the first 3 s (s)'
set y2label 'deepest stroke z_2 - z_1 (m)'
set y2tics
set ytics nomirror
plot '$work/speed.dat' using 1:2 with linespoints pt 7 ps 0.4 lc rgb '#2a78c2' title 'wheel off the road', \\
     '' using 1:3 with linespoints pt 7 ps 0.4 lc rgb '#d9741a' title 'on the lower stop', \\
     '' using 1:4 axes x1y2 with lines dashtype 2 lc rgb '#555555' title 'deepest stroke', -0.14 axes x1y2 with lines lc rgb '#bbbbbb' title 'stop'
PLOT

# --- against the frequency: 64 rows per period, 60 periods after the transients
: >"$work/frequency.dat"
: >"$work/strobe.dat"
for f in $(seq 0.25 0.125 10); do
    stop=$(awk -v f="$f" -v from=$transients 'BEGIN { printf "%.12g", int(from*f + 60)/f }')
    "$mdlc" run "$here/sine.mdl" --quiet --set f0="$f" --tol 1e-8 --stop "$stop" --interval "$(awk -v f="$f" 'BEGIN { printf "%.17g", 1/(64*f) }')" -o "$work/one"
    pick "$work/one" time z1 z2 | awk -v f="$f" -v from=$transients -v strobe="$work/strobe.dat" '
        $1 < from { next }
        !n++ { wl = wh = $2; bl = bh = $3 }
        { if ($2 < wl) wl = $2; if ($2 > wh) wh = $2; if ($3 < bl) bl = $3; if ($3 > bh) bh = $3
          p = $1*f; if ((p - int(p + 0.5))^2 < 1e-12) print f, $3 >>strobe }
        END { print f, wl, wh, bl, bh }' >>"$work/frequency.dat"
done
cat >"$work/frequency.gp" <<PLOT
$(open_file frequency 900 700)
set multiplot layout 2,1
set ylabel 'peak to peak / that of the road'
set logscale y
set yrange [0.03:100]
set key inside top right vertical
plot '$work/frequency.dat' using 1:((\$5 - \$4)/0.3) with linespoints pt 7 ps 0.3 lw 1.8 lc rgb '#1f4e79' title 'car body z_2', \\
     '' using 1:((\$3 - \$2)/0.3) with linespoints pt 7 ps 0.3 lw 1.4 lc rgb '#c0392b' title 'wheel z_1'
unset logscale y
set yrange [-0.5:1.5]
set xlabel 'frequency f_0 of the road (Hz)'
set ylabel 'z_2 once per period (m)'
plot '$work/strobe.dat' using 1:2 with points pt 7 ps 0.15 lc rgb '#1f4e79' notitle
unset multiplot
PLOT

for picture in hump time phase speed frequency; do
    gnuplot "$work/$picture.gp"
    echo "$pictures/$picture.$format"
done
