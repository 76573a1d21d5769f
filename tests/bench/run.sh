#!/bin/sh
# Benchmarks: one table, ratios measured in the same run. usage: tests/bench/run.sh BUILD
# Nothing here asserts a time: machines differ. Peers are hand-written C in tests/bench/peer_*.c and codegen*.c.
set -eu
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
mdlc=$build/mdlc
measure=$build/tests/tools/measure
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$top"

row() { # NAME RUNS COMMAND...
    name=$1
    shift
    result=$("$measure" "$@") || result="failed failed failed"
    # shellcheck disable=SC2086
    set -- $result
    printf '%-58s %10s ms %10s ms %9s MB\n' "$name" "$1" "$2" "$3"
}

field() { # FILE NAME
    tr -d '{}" \n' <"$1" | tr ',' '\n' | sed -n "s/^$2://p"
}

printf '%-58s %13s %13s %12s\n' "whole process" "median" "least" "peak"
row "int main(){} with the same C library" 20 true
row "check hello/oscillator.mdl" 20 "$mdlc" check examples/hello/oscillator.mdl
cp examples/hello/oscillator.mdl "$work/fmt.mdl"
row "fmt hello/oscillator.mdl" 20 "$mdlc" fmt "$work/fmt.mdl"
row "run one equation, LLVM, result file" 20 "$mdlc" run tests/bench/one.mdl -o "$work/one.csv"
row "run one equation, interpreter" 20 "$mdlc" run tests/bench/one.mdl -o "$work/one.csv" --engine interp
row "run quarter car 5 s, tol 1e-6, LLVM, result file" 20 "$mdlc" run examples/quarter_car/bump.mdl --set V=3 -o "$work/qc.csv"
# Fitted by least squares through (log n, log ms); memory from the growth between the smallest and the largest.
grow() { # TITLE FILE EQUATIONS-PER-N N...
    title=$1 file=$2 per=$3
    shift 3
    for n in "$@"; do
        runs=3
        [ "$n" -ge 1000000 ] && runs=1
        result=$("$measure" $runs "$mdlc" check "$file" --set n="$n") || result="0 0 0"
        # shellcheck disable=SC2086
        printf '%-58s %10s ms %10s ms %9s MB\n' "check $title, n = $n" $result >&2
        echo "$n $result"
    done 2>&3 | awk -v title="$title" -v per="$per" '
        $2 > 0 { x = log($1); y = log($2); k++; sx += x; sy += y; sxx += x*x; sxy += x*y
                 if (k == 1) { n0 = $1; m0 = $4 } n1 = $1; m1 = $4 }
        END { if (k > 1) printf "%-58s exponent %.2f, %.0f bytes per equation\n", "growth of " title,
              (k*sxy - sx*sy)/(k*sxx - sx*sx), (m1 - m0)*1048576/((n1 - n0)*per) }'
}
exec 3>&1
# Equations as `show stats` counts them: one of a cell in a loop, three of a cell and its conductor.
grow heat_chain/loop.mdl examples/heat_chain/loop.mdl 1 1000 10000 100000 1000000
grow heat_chain/components.mdl examples/heat_chain/components.mdl 3 1000 10000 100000 1000000
for form in loop components; do
    row "run heat_chain/$form.mdl, n = 1000000, 1 ms" 1 "$mdlc" run examples/heat_chain/$form.mdl --set n=1000000 --stop 1e-3 \
        -o "$work/chain.csv" --vars '^(cell.1..)?T(.1.)?$'
    row "show states of heat_chain/$form.mdl, n = 1000000" 1 "$mdlc" show states examples/heat_chain/$form.mdl --set n=1000000
done
row "check many_parts.mdl, 10000 components of 50 equations" 1 "$mdlc" check tests/bench/models/many_parts.mdl
row "check resistive_grid.mdl, 200 x 200 (one linear loop)" 1 "$mdlc" check tests/bench/models/resistive_grid.mdl --set n=200
row "run resistive_grid.mdl, 200 x 200, 1 s" 1 "$mdlc" run tests/bench/models/resistive_grid.mdl --set n=200 \
    -o "$work/grid.csv" --vars '^load.v$'
row "run rc_ladder.mdl, 4000 sections, 10 s" 3 "$mdlc" run tests/bench/models/rc_ladder.mdl --set n=4000 \
    -o "$work/ladder.csv" --vars '^C.4000..v$'
echo
echo "simulation of the same model: generated code / hand-written C, on the same runtime"
best=""
for _ in 1 2 3 4 5 6 7 8 9 10; do
    "$mdlc" run examples/quarter_car/bump.mdl --set V=3 --tol 1e-6 --stats=json -o "$work/qc.csv" \
        --vars '^(z0|z1|z2|v1|v2|q10|q21|damper.v|damper.f)$' >"$work/stats.json"
    ms=$(field "$work/stats.json" run_ms)
    if [ -z "$best" ] || [ "$(echo "$ms $best" | awk '{ print ($1 < $2) }')" = 1 ]; then best=$ms; fi
done
"$build/tests/bench/peer_quarter_car" "$best" "$(field "$work/stats.json" steps)"
"$mdlc" run tests/bench/models/filter_cascade.mdl --set n=2000 --stats=json -o "$work/filters.csv" \
    --vars '^x.2000.$' >"$work/stats.json"
"$build/tests/bench/peer_filters" 2000 "$(field "$work/stats.json" run_ms)" "$(field "$work/stats.json" steps)"
echo
echo "heat chain of 1000 states: IDA as packaged / this runtime"
"$build/tests/bench/peer_chain"
for program in "$build"/tests/bench/structural "$build"/tests/bench/codegen*; do
    case $program in *.o | *.d) continue ;; esac
    [ -x "$program" ] || continue
    echo
    echo "== $(basename "$program")"
    "$program"
done
