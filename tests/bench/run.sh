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
for n in 1000 10000 100000; do
    row "check heat_chain/loop.mdl, $n cells in a for loop" 3 "$mdlc" check examples/heat_chain/loop.mdl --set n=$n
done
for n in 1000 10000 100000; do
    row "check heat_chain/components.mdl, $n component instances" 3 "$mdlc" check examples/heat_chain/components.mdl \
        --set n=$n
done
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
echo
echo "heat chain of 1000 states: IDA as packaged / this runtime"
"$build/tests/bench/peer_chain"
for program in "$build"/tests/bench/codegen*; do
    case $program in *.o | *.d) continue ;; esac
    [ -x "$program" ] || continue
    echo
    echo "== $(basename "$program")"
    "$program"
done
