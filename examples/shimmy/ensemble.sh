#!/bin/sh
# The car on random roads: effective values over an ensemble, with the memory elements' equations and with the plain
# Lagrangian's on the same roads.
#
#   examples/shimmy/ensemble.sh [RUNS]      default: 20; each is 20 s on another road
#
# Prints mean and standard deviation. OPTIONS are handed to every run, as in OPTIONS='--set v=20 --set G0=64e-6'.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mdlc=${MDLC:-$here/../../build/mdlc}
runs=${1:-20}
columns='^(sBA|sSWS_L|sSWS_R|sDTL_L|sDTL_R|sBRAA)$'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seed=1
while [ "$seed" -le "$runs" ]; do
    for form in true false; do
        # shellcheck disable=SC2086
        "$mdlc" run "$here/Shimmy.mdl" -m Shimmy.Random --set seed="$seed" --set integrated="$form" ${OPTIONS:-} \
            --vars "$columns" --quiet -o "$work/out.csv" || echo "seed $seed: ended early" >&2
        awk -F, -v form="$form" 'NR == 1 { for (i = 2; i <= NF; i++) name[i] = $i }
            { last = $0 }
            END { n = split(last, v, ","); for (i = 2; i <= n; i++) print form, substr(name[i], 2), sqrt(v[i]/v[1]) }' \
            "$work/out.csv" >>"$work/all"
    done
    seed=$((seed + 1))
done
awk '{ key = $1 " " $2; if (!(key in n) && $1 == "true") order[++kinds] = $2
       n[key]++; sum[key] += $3; square[key] += $3*$3 }
     END {
         printf "%-8s %13s %10s %13s %10s %8s\n", "", "memory", "+-", "Lagrangian", "+-", "L/I - 1"
         for (i = 1; i <= kinds; i++) {
             a = "true " order[i]; b = "false " order[i]
             ma = sum[a]/n[a]; mb = sum[b]/n[b]
             printf "%-8s %13.6g %10.2g %13.6g %10.2g %7.2f%%\n", order[i], ma, sqrt(square[a]/n[a] - ma*ma + 1e-300),
                 mb, sqrt(square[b]/n[b] - mb*mb + 1e-300), 100*(mb/ma - 1)
         }
     }' "$work/all"
