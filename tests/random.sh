#!/bin/sh
# Random models, each written twice (tests/tools/random_model.c): all solvers and both forms agree on all variables that both have, in all rows.
# usage: tests/random.sh BUILD FIRST COUNT [KIND...]     COUNT seeds from FIRST on, of each kind; exit status 1 when a model differs
# SHARE=3: each model by every third way only, the next one by the next ways, and no step is looked at: for the sanitizers.
set -u
build=$1 first=$2 count=$3
shift 3
[ $# -gt 0 ] || set -- expressions hybrid circuit beads linkage energies memory tables arrays classes functions whens impacts friction valves delays \
    transports fractional inverse_memory pendulums sleighs stops planes ladders mixing areas struts feet
share=${SHARE:-1}
[ "$share" -gt 1 ] || export MDLC_VERIFY=1 MDLC_CHECK=steps
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mdlc=$build/mdlc
models=0
wrong=0
# simulate MODEL FILE [options]
simulate() {
    class=$1 file=$2
    shift 2
    timeout 120 "$mdlc" run "$work/model.mdl" -m "R.$class" --tol 1e-8 -o "$file" --quiet --points 50 "$@" >"$work/said" 2>&1
}
for kind in "$@"; do
    seed=$first
    while [ "$seed" -lt $((first + count)) ]; do
        models=$((models + 1))
        good=1
        "$build/tests/tools/random_model" "$kind" "$seed" >"$work/model.mdl"
        # Friction written out as a steep slope is inexact at the tolerance that struts with laws need.
        case $kind in struts) finer='--tol 1e-10' ;; *) finer= ;; esac
        # shellcheck disable=SC2086
        simulate Written "$work/written.csv" --solver ida $finer || { good=0; echo "$kind $seed, written out:"; cat "$work/said"; }
        turn=$models
        for way in 'ida --form causal' 'ida --form dae' 'cvode' 'erk' 'adams' 'gauss'; do
            [ $good = 1 ] || break
            turn=$((turn + 1))
            [ $((turn % share)) = 0 ] || continue
            # The exponentials of fractional derivatives are so stiff that these two take thousands of steps for each row. Where a body comes to
            # rest in a plane the direction of its friction turns ever faster, which a constant step does not follow to the end.
            case $kind-$way in fractional-adams | fractional-gauss | ladders-adams | ladders-gauss | planes-gauss) continue ;; esac
            # shellcheck disable=SC2086
            simulate Given "$work/given.csv" --solver $way || { good=0; echo "$kind $seed, $way:"; cat "$work/said"; break; }
            awk -F, -v allowed=1e-5 -f "${0%/*}/tools/same_rows.awk" "$work/written.csv" "$work/given.csv" >"$work/differences" && continue
            good=0
            echo "$kind $seed, $way:"
            cat "$work/differences"
        done
        [ $good = 1 ] || wrong=$((wrong + 1))
        seed=$((seed + 1))
    done
done
echo "$models random models, $wrong with differences"
[ "$models" -gt 0 ] && [ "$wrong" -eq 0 ]
