#!/bin/sh
# Runs the car, draws its motion as one HTML file (no server, no library) and plots jounce, camber and loads.
#
#   examples/suspension/animate.sh [FILE.html [PLOT.svg]]      default: build/suspension.html build/suspension.svg
#
# MDLC names another compiler than build/mdlc. The plot needs gnuplot.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
mdlc=${MDLC:-$top/build/mdlc}
page=${1:-$top/build/suspension.html}
plot=${2:-$top/build/suspension.svg}
command -v gnuplot >/dev/null || { echo "animate.sh: gnuplot is not installed" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$mdlc" run "$here/suspension.mdl" -m Car -o "$work/quoted.csv" >&2
# Names of matrix elements are quoted, because they contain commas; here they get semicolons instead.
awk 'NR == 1 { n = split($0, part, "\""); for (i = 2; i <= n; i += 2) gsub(",", ";", part[i])
        for (i = 1; i <= n; i++) printf "%s", part[i]; print ""; next } { print }' "$work/quoted.csv" >"$work/car.csv"

# Frames of 0.01 s: per corner the joints, the wheel's centre, axis and angle, the road under it; and the chassis. In the
# axes of a camera that moves along with the car.
awk -F, '
    function at(name) { if (!(name in column)) { print "animate.sh: no column " name > "/dev/stderr"; exit 1 } return $column[name] }
    function point(name, x0) { return sprintf("[%.4f,%.4f,%.4f]", at(name "[1]") - x0, at(name "[2]"), at(name "[3]")) }
    function corner(c, x0,   text, z) {
        text = "{li:" point(c ".lower_joint.frame_a.r_0", x0) ",lo:" point(c ".lower.frame_b.r_0", x0)
        text = text ",ui:" point(c ".upper_joint.frame_a.r_0", x0) ",uo:" point(c ".upper.frame_b.r_0", x0)
        text = text ",ti:" point(c ".tie.frame_a.r_0", x0) ",to:" point(c ".tie.frame_b.r_0", x0)
        text = text ",sl:" point(c ".strut.frame_a.r_0", x0) ",su:" point(c ".strut.frame_b.r_0", x0)
        text = text ",w:" point(c ".wheel.frame_a.r_0", x0) ",ax:" point(c ".tyre.axis", 0)
        z = at(c ".wheel.frame_a.r_0[3]") - at(c ".tyre.h")*at(c ".tyre.e_r[3]")
        return text sprintf(",phi:%.4f,road:%.4f,load:%.0f}", at(c ".bearing.phi"), z, at(c ".tyre.F_z"))
    }
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $1 >= next_time - 1e-9 {
        next_time = $1 + 0.01
        x0 = at("surge.s")
        printf "%s{t:%.3f,x:%.4f,front:%s,rear:%s,c:[%s,%s,%s,%s]}", n++ ? ",\n" : "", $1, x0, point("front.frame_b.r_0", x0),
            point("rear.frame_b.r_0", x0), corner("left[1]", x0), corner("right[1]", x0), corner("left[2]", x0), corner("right[2]", x0)
    }' "$work/car.csv" >"$work/frames"
awk -v frames="$work/frames" '/FRAMES/ { while ((getline line < frames) > 0) print line; next } { print }' "$here/page.html" >"$page"

awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    { print $1, 1000*$c["left[1].jounce"], 1000*$c["right[1].jounce"], 57.29578*$c["left[1].camber"], 57.29578*$c["right[1].camber"],
        $c["left[1].tyre.F_z"]/1000, $c["right[1].tyre.F_z"]/1000, 57.29578*$c["roll.phi"], 57.29578*$c["pitch.phi"],
        1000*($c["heave.s"] - 0.295) }' \
    "$work/car.csv" >"$work/curves"
gnuplot <<EOF
set terminal svg size 900,760 font "sans-serif,13" background "white"
set output "$plot"
set multiplot layout 4,1
set lmargin 10
set linetype 1 linecolor rgb "#0072b2"
set linetype 2 linecolor rgb "#d55e00"
set linetype 3 linecolor rgb "#009e73"
set grid
set key outside top right horizontal samplen 2
set xrange [0:2]
set ylabel "jounce in mm"
plot "$work/curves" using 1:2 with lines lw 2 title "front left (bump)", "" using 1:3 with lines lw 2 title "front right (random road)"
set ylabel "camber in deg"
plot "$work/curves" using 1:4 with lines lw 2 notitle, "" using 1:5 with lines lw 2 notitle
set ylabel "load in kN"
plot "$work/curves" using 1:6 with lines lw 2 notitle, "" using 1:7 with lines lw 2 notitle
set ylabel "body"
set ytics 0.5
set xlabel "time in s"
plot "$work/curves" using 1:8 with lines lw 2 title "roll in deg", "" using 1:9 with lines lw 2 title "pitch in deg", \
    "" using 1:(\$10/10) with lines lw 2 title "heave in cm"
EOF
echo "$page $plot"
