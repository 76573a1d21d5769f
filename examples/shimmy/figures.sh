#!/bin/sh
# The figures of the memory elements' paper (Nie, Liu, Zhang, Machines 12 (2024) 208) that follow from its equations.
#
#   examples/shimmy/figures.sh [DIRECTORY [ROADS]]      default: build/figures, 10 roads for each case; FORMAT=png makes pictures of pixels
#
# mem_inerter.svg    Fig. 6: curve, pinched loop, zero crossings of the device
# pulse.svg          Fig. 8: no load, a hump: integrated Lagrangian, Lagrangian, and the reading that comes closest
# pulse_errors.svg   Fig. 9: error of the Lagrangian over the load, the paper's and ours
# random.svg         Fig. 10: case 2, one road
# random_errors.svg  Figs 11 to 13: error of the Lagrangian in the four cases, the paper's and ours
# Needs gnuplot. MDLC names another compiler than build/mdlc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
mdlc=${MDLC:-$top/build/mdlc}
export MDLC="$mdlc"
pictures=${1:-$top/build/figures}
roads=${2:-10}
format=${FORMAT:-svg}
command -v gnuplot >/dev/null || { echo "figures.sh: gnuplot is not installed" >&2; exit 2; }
mkdir -p "$pictures"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
indicators="BA SWS_L SWS_R DTL_L DTL_R th1 th2 th3 BRAA"
best="--set road.length=4.854 --set ratio=1.015 --set w=1e6 --set b0=9.22e-4 --set c4=6816 --set kappa=0.2334 --set J_br=60"

unit() {
    case $1 in
    BA) echo "body acceleration (m/s^2)" ;;
    SWS_L) echo "working space, left (m)" ;;
    SWS_R) echo "working space, right (m)" ;;
    DTL_L) echo "tyre load, left (kN)" ;;
    DTL_R) echo "tyre load, right (kN)" ;;
    th1) echo "left wheel θ_1 (rad)" ;;
    th2) echo "right wheel θ_2 (rad)" ;;
    th3) echo "pitman arm θ_3 (rad)" ;;
    *) echo "roll acceleration (rad/s^2)" ;;
    esac
}
open_panels() { # NAME TITLE
    case $format in
    svg) echo "set terminal svg size 1200,800 font 'Helvetica,13' background '#ffffff'" ;;
    *) echo "set terminal pngcairo size 1200,800 font 'Helvetica,11'" ;;
    esac
    echo "set output '$pictures/$1.$format'"
    echo "set grid linecolor rgb '#dddddd' linetype 1"
    echo "set border linecolor rgb '#666666'"
    echo "set multiplot layout 3,3 title \"$2\" font ',15' margins screen 0.06, 0.985, 0.06, 0.86 spacing screen 0.055, 0.07"
    echo "set key at screen 0.985, screen 0.958 right top vertical maxrows 3 Left reverse samplen 3" # between the title and the panels
}
result() { # NAME MODEL OPTIONS...: the nine indicators over time, DTL in kN
    name=$1 model=$2; shift 2
    "$mdlc" run "$here/Shimmy.mdl" -m "Shimmy.$model" "$@" --vars "^($(echo $indicators | tr ' ' '|'))\$" --quiet -o "$work/$name.csv"
    awk -F, -v wanted="$indicators" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(wanted, name, " "); next }
        { printf "%s", $1; for (k = 1; k <= n; k++) printf " %.9g", name[k] ~ /DTL/ ? $at[name[k]]/1000 : $at[name[k]]; print "" }' \
        "$work/$name.csv" >"$work/$name.dat"
}
lines() { # RESULT:COLOUR:WIDTH:TITLE...: a panel for each indicator
    k=2
    for indicator in $indicators; do
        echo "set title '$(unit "$indicator")' offset 0,-0.6"
        separator=plot
        for line in "$@"; do
            printf "%s '%s/%s.dat' using 1:%d with lines lw %s lc rgb '%s' title '%s'" "$separator" "$work" \
                "$(echo "$line" | cut -d: -f1)" $k "$(echo "$line" | cut -d: -f3)" "$(echo "$line" | cut -d: -f2)" "$(echo "$line" | cut -d: -f4)"
            separator=,
        done
        echo; echo "unset key"
        k=$((k + 1))
    done
    echo "unset multiplot"
}
errors() { # TABLE: a panel for each indicator, |Lagrangian/integrated - 1| in % over the case; the paper's own column where it has one
    k=1
    for indicator in $indicators; do
        awk -v table="$1" -v indicator="$indicator" '
            FNR == NR { said[$1 $2 $3] = $6; next } # where the printed values are too short to tell
            $1 == table && $3 == indicator {
                n++; paper = said[$1 $2 $3] ? said[$1 $2 $3] : 100*($5/$4 - 1)
                ours = $(NF - 2) > 1e-9 ? 100*($(NF - 1)/$(NF - 2) - 1) : "nan"
                print n, $2, paper < 0 ? -paper : paper, ours < 0 ? -ours : ours
            }' "$here/paper.dat" "$work/tables" >"$work/error$1$indicator"
        echo "set title '$(unit "$indicator" | sed 's/ (.*//')' offset 0,-0.6"
        echo "plot '$work/error$1$indicator' using 1:3:xtic(2) with linespoints pt 7 ps 0.7 lw 2 lc rgb '#777777' title 'paper', \\"
        echo "     '' using 1:4 with linespoints pt 5 ps 0.7 lw 2 lc rgb '#1f4e79' title 'its equations'"
        echo "unset key"
        k=$((k + 1))
    done
    echo "unset multiplot"
}

FORMAT=$format "$here/../mem_inerter/figures.sh" "$pictures"

result memory S0 --interval 0.002 --stop 2.5
result lagrangian S0 --interval 0.002 --stop 2.5 --set integrated=false
# shellcheck disable=SC2086
result best S0 --interval 0.002 --stop 2.5 $best
{
    open_panels pulse "Hump of 0.08 m by 5 m at 10 m/s, no load, over time (s)"
    lines "best:#c9a227:1.2:best reading, five fitted numbers" "memory:#1f4e79:2.4:integrated Lagrangian" "lagrangian:#c0392b:1.2:Lagrangian"
} >"$work/pulse.gp"

result road_memory Random --set v=20 --set G0=64e-6 --interval 0.005
result road_lagrangian Random --set v=20 --set G0=64e-6 --interval 0.005 --set integrated=false
{
    open_panels random "One road of class B at 20 m/s, no load, over time (s)"
    echo "set xrange [10:14]; set yrange [*<-0.01:0.01<*]"
    lines "road_memory:#1f4e79:2:integrated Lagrangian" "road_lagrangian:#c0392b:1:Lagrangian"
} >"$work/random.gp"

"$here/tables.sh" -r "$roads" >"$work/tables"
# The last three columns of both tables are ours twice, and the best reading or the spread. What the equations do not move has no error.
{
    open_panels pulse_errors "Error of the Lagrangian after the hump over the load (%)"
    echo "set yrange [0:*]; set xrange [0.7:3.3]"
    errors 4
} >"$work/pulse_errors.gp"
{
    open_panels random_errors "Error of the Lagrangian (%), $( [ "$roads" = 1 ] && echo "one random road" || echo "$roads random roads"): 1 class A, 30 m/s; 2 B, 20 m/s; 3 B, 30 m/s; 4 as 3, full load"
    echo "set yrange [0:*]; set xrange [0.7:4.3]"
    errors 5
} >"$work/random_errors.gp"

echo "$pictures/mem_inerter.$format"
for picture in pulse pulse_errors random random_errors; do
    gnuplot "$work/$picture.gp" 2>"$work/said" || { cat "$work/said" >&2; exit 1; } # it warns of curves that are 0 throughout
    echo "$pictures/$picture.$format"
done
