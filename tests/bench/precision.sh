#!/bin/sh
# Error against processor time: problems of the test sets of the literature with published or independent values at their ends, each method, tolerances from
# 1e-3 to 1e-11. usage: tests/bench/precision.sh BUILD [PICTURE.svg [OTHERS]]
# A line for each run: problem, method, tolerance, largest relative error at the end, seconds of the integration (the least of two, at most 5), steps. The table at the
# end says which method comes to an error first. gnuplot draws the picture, with the points of other codes that the file OTHERS has in lines of the same form. Nothing asserts a time.
set -eu
cd "$(dirname "$0")/../.."
mdlc=$1/mdlc picture=${2:-} others=${3:-/dev/null}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
methods="auto ida cvode adams erk dop853 radau gauss"

# problem NAME METHODS FILE [OPTION...] -- COLUMN=VALUE...: the methods that are tried ("-": all; those that are not are hopeless for minutes)
problem() {
    name=$1 tried=$2
    shift 2
    : >"$work/options" >"$work/values"
    while [ "$1" != -- ]; do printf '%s\n' "$1" >>"$work/options"; shift; done
    shift
    printf '%s\n' "$@" | sed 's/=\(-*[0-9.e+-]*\)$/ \1/' >"$work/values"
    columns=$(awk '{ gsub(/[][.]/, "\\\\&", $1); printf "%s%s", (NR > 1 ? "|" : ""), $1 }' "$work/values")
    [ "$tried" != - ] || tried=$methods
    for method in $tried; do
        for k in 3 4 5 6 7 8 9 10 11; do
            best=
            for round in 1 2; do
                # Options have no blanks.
                # shellcheck disable=SC2046
                "$mdlc" run $(cat "$work/options") --solver "$method" --tol 1e-$k --points 1 --check off --limit time=5 --vars "^($columns)\$" --stats=json --quiet \
                    -o "$work/out.csv" >"$work/said" 2>&1 || continue 2
                seconds=$(sed -n 's/.*"run_seconds":\([^,]*\),.*/\1/p' "$work/said")
                best=$(echo "$seconds ${best:-1e9}" | awk '{ print $1 < $2 ? $1 : $2 }')
            done
            steps=$(sed -n 's/.*"steps":\([^,]*\),.*/\1/p' "$work/said")
            error=$(awk -F, 'FILENAME == ARGV[1] { split($0, part, " "); value[part[1]] = part[2]; next }
                FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
                { worst = 0; for (i = 2; i <= NF; i++) { e = ($i - value[name[i]])/value[name[i]]; e = e < 0 ? -e : e; worst = e > worst ? e : worst } }
                END { printf "%.3g", (worst > 1e-14 ? worst : 1e-14) }' "$work/values" "$work/out.csv")
            echo "$name $method 1e-$k $error $best $steps" | tee -a "$work/runs"
        done
    done
}

models=tests/bench/models tests=tests/sim
problem hires "auto ida cvode radau" $tests/hires.mdl -- 'y[1]=7.3713125733257e-04' 'y[4]=1.1756513432831e-03' 'y[6]=6.2389682527428e-03' 'y[8]=2.8500016048142e-03'
problem robertson "auto ida cvode radau" $tests/robertson.mdl -- a=0.1073004285378 b=4.800166972572e-07 c=0.8926990914455
problem oregonator "auto ida cvode radau" $tests/oregonator.mdl -- 'y[1]=1.000814870318523' 'y[2]=1228.178521549917' 'y[3]=132.0554942846706'
problem pollution "auto ida cvode radau" $tests/pollution.mdl -- 'y[1]=0.05646255480022769' 'y[2]=0.1342484130422339' 'y[3]=4.139734331099427e-9' 'y[4]=0.005523140207484359'
problem medical_akzo "auto ida cvode radau" $tests/medical_akzo.mdl -- 'u[40]=2.339942217046434e-4' 'u[75]=3.595616017506735e-4' 'v[103]=0.03234526094359604' 'v[105]=0.4026980529594953'
problem amplifier "auto ida cvode radau" $tests/transistor_amplifier.mdl -- 'y[1]=-0.0055621450123' 'y[2]=3.006522471903' 'y[4]=2.926422536204' 'y[7]=4.770927631617' 'y[8]=1.236995868092'
problem pleiades - $models/ivp.mdl -m Pleiades -- 'x[1]=0.3706139143878724' 'x[7]=-0.7003092922204109' 'x[4]=0.6597091455785424' 'y[2]=-3.2713809739723136' 'y[7]=1.0914492404302456'
problem arenstorf - $models/ivp.mdl -m Arenstorf -- x=0.994 v=-2.00158510637908252
problem car_axis - $tests/car_axis.mdl -- xl=0.0493455784275 yl=0.4969894602302 xr=1.0417425248854 yr=0.3739110272653 p=-0.00473688675 q=-0.00110468041
# Published values are wrong from the tenth digit on; these are of one coordinate, with closed forms of the others, extrapolated from midpoint rules in 30 digits (the last steps changed 2e-16).
problem squeezer - examples/squeezer/squeezer.mdl -- beta.phi=15.810771195153707 gamma.phi=0.0408222401196458 Phi.phi=-0.5347301163420796 delta.phi=0.5244099658799541 epsilon.phi=1.048080741041938

echo
echo "Milliseconds to a relative error, and the method that takes them:"
echo
echo "| problem | 1e-3 | 1e-5 | 1e-7 | 1e-9 |"
echo "|---|---|---|---|---|"
awk '{ if (!($1 in seen)) { order[++n] = $1; seen[$1] } for (k = 3; k <= 9; k += 2) { key = $1 " " k; if ($4 <= 10^-k && (!(key in best) || $5 < best[key])) { best[key] = $5; by[key] = $2 } } }
    END { for (i = 1; i <= n; i++) { printf "| %s |", order[i]; for (k = 3; k <= 9; k += 2) { key = order[i] " " k; if (key in best) printf " %.3g %s |", 1000*best[key], by[key]; else printf " |" } print "" } }' "$work/runs"

[ -n "$picture" ] || exit 0
{
    echo "set terminal svg size 1400,1300 dashlength 1 font 'sans,11' background 'white'"
    echo "set output '$picture'; set multiplot layout 4,3; set logscale xy; set format '10^{%T}'; set grid lc '#dddddd'; set key outside right top samplen 1 font ',9'"
    echo "set xlabel 'relative error at the end' offset 0,0.5; set ylabel 'seconds' offset 1,0; set xrange [1e-13:1] reverse"
    for name in $(awk '!seen[$1]++ { print $1 }' "$work/runs"); do
        echo "set title '$name' noenhanced"
        printf 'plot'
        n=0
        for method in $methods; do
            awk -v name="$name" -v method="$method" '$1 == name && $2 == method { print $4, $5 }' "$work/runs" >"$work/$name.$method"
            [ -s "$work/$name.$method" ] || continue
            [ $n = 0 ] || printf ','
            n=$((n + 1))
            printf " '%s' with linespoints pt 7 ps 0.5 lw 1.3 title '%s'" "$work/$name.$method" "$method"
        done
        mark=3
        for code in $(awk -v name="$name" '$1 == name && !seen[$2]++ { print $2 }' "$others"); do
            awk -v name="$name" -v code="$code" '$1 == name && $2 == code { print $4, $5 }' "$others" >"$work/$name.$code"
            mark=$((mark + 1))
            printf ", '%s' with points pt %d ps 0.6 lc 'black' title '%s'" "$work/$name.$code" "$((2*mark))" "$code"
        done
        echo
    done
} >"$work/draw"
gnuplot "$work/draw"
