#!/bin/sh
# Draws the pictures of docs/ and README anew. usage: docs/pictures.sh MDLC
# Those of plots change with every improvement of the plotter or the drawing of graphs, so no test compares them.
set -eu
mdlc=$(realpath "$1")
top=$(cd "$(dirname "$0")/.." && pwd)
images=$top/docs/images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export MDLC="$mdlc"

# The models of the tutorial.
awk '/^```mdl file=/ { split($2, part, "="); file = part[2]; next } /^```/ { file = "" } file { print > file }' "$top"/docs/tutorial/*.md
"$mdlc" new Swing >/dev/null
"$mdlc" plot Swing.mdl body.s spring.f damper.f -o "$images/swing.svg" --size 800x400
"$mdlc" plot Conveyor.mdl parcel.v belt.v contact.f inductor.i -o "$images/conveyor_motor.svg" --size 800x560
"$mdlc" plot Conveyor.mdl parcel.v belt.v contact.f -o "$images/conveyor.svg" --size 800x400
"$mdlc" plot suspension.mdl road.z wheel.s chassis.s inerter.f -o "$images/ride.svg" --size 800x440
"$mdlc" plot suspension.mdl inerter.p --against rate -o "$images/loop.svg" --size 600x340
"$mdlc" plot FourBar.mdl crankPin.w rockerPin.phi -o "$images/four_bar_motion.svg" --size 800x400
"$mdlc" plot stick.mdl v x friction -o "$images/stick.svg" --size 800x400

# Examples.
examples=$top/examples
"$mdlc" plot "$examples/flexible_rod/flexible_rod.mdl" bend torque -o "$images/flexible_rod.svg" --size 800x560
"$mdlc" plot "$examples/squeezer/squeezer.mdl" gamma.phi Phi.phi delta.phi Omega.phi epsilon.phi -o "$images/squeezer.svg" --size 800x340
"$mdlc" plot "$examples/bicycle/bicycle.mdl" lean head.phi -o "$images/bicycle.svg" --size 800x340
"$mdlc" plot "$examples/woodpecker/woodpecker.mdl" phi_M phi_S -o "$images/woodpecker.svg" --size 800x340
"$examples/mem_inerter/figures.sh" "$images"
"$mdlc" plot "$examples/quarter_car/bump.mdl" z0 z1 z2 --by V=0.5,1,2,3,5 --panels result --shade q10,q21 --stop 2 --size 1100x1400 -o "$images/quarter_car.png"
FORMAT=png "$examples/quarter_car/figures.sh" figures
FORMAT=png "$examples/shimmy/figures.sh" figures
"$examples/linkage/figures.sh" figures
cp figures/joint_FixedIdeal.svg "$images/joint_revolute.svg"
for name in phase frequency speed; do cp "figures/$name.png" "$images/quarter_car_$name.png"; done
for name in pulse random_errors; do cp "figures/$name.png" "$images/shimmy_$name.png"; done
"$examples/suspension/animate.sh" page.html "$images/suspension.svg"

# The functions of docs/nonsmooth.md, with their vertical parts.
gnuplot <<G
set terminal svg size 840,280 font "Helvetica,13" enhanced background "#ffffff"
set output "$images/luz_tar.svg"
set multiplot layout 1,3
set samples 601
set xrange [-3:3]; set yrange [-3:3]; set xzeroaxis; set yzeroaxis; set xtics ("-a" -1, "a" 1); set ytics ("-a" -1, "a" 1); set grid; unset key
set title "luz(x, a): clearance"
plot x > 1 ? x - 1 : x < -1 ? x + 1 : 0 with lines lw 2 lc "#1170aa"
set title "tar(x, a): friction and damper"
set parametric; set trange [-3:3]
plot t > 1 ? t - 1 : t < -1 ? t + 1 : 0, t with lines lw 2 lc "#1170aa"
set title "a Sgn(x): dry friction"
set xtics ("" 0)
plot t > 1 ? 1.5*(t - 1) : t < -1 ? 1.5*(t + 1) : 0, t > 1 ? 1 : t < -1 ? -1 : t with lines lw 2 lc "#1170aa"
unset multiplot
G

# Bond graphs.
"$mdlc" show bonds "$examples/quarter_car/bump.mdl" --format=svg >"$images/bonds.svg"
"$mdlc" show bonds "$examples/linkage/four_bar.mdl" --format=svg >"$images/four_bar.svg"
"$mdlc" show bonds "$examples/squeezer/squeezer.mdl" --format=svg >"$images/squeezer_bonds.svg"
"$mdlc" show bonds "$top/tests/sim/redundant_loops.mdl" -m P6 --canonical --format=svg >"$images/canonical.svg"

# Motion, in a browser: three mechanisms side by side.
if command -v chromium >/dev/null; then
    "$mdlc" animate "$examples/suspension/suspension.mdl" -m Car -o car.html
    "$mdlc" animate "$examples/squeezer/squeezer.mdl" -o squeezer.html
    "$mdlc" animate "$examples/library/plane_gears.mdl" -o gears.html
    echo '<body style="margin:0;display:flex;gap:6px;background:white">' >motion.html
    for page in car:0.4 squeezer:0.012 gears:0.4; do
        echo "<div style='width:460px;height:400px;overflow:hidden'><iframe src='${page%:*}.html#t=${page#*:}' style='border:0;width:560px;height:640px;margin:-102px 0 0 -14px'></iframe></div>" >>motion.html
    done
    chromium --headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist --user-data-dir="$work/profile" --hide-scrollbars \
        --window-size=1400,400 --virtual-time-budget=8000 --screenshot="$images/motion.png" "file://$work/motion.html" >/dev/null 2>&1
fi

# The report, in a browser.
if command -v chromium >/dev/null; then
    (cd "$top" && "$mdlc" report examples/quarter_car/bump.mdl -o "$work/report.html")
    chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --hide-scrollbars --window-size=1400,1000 \
        --virtual-time-budget=5000 --screenshot="$images/report.png" "file://$work/report.html" >/dev/null 2>&1
fi
