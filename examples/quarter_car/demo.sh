#!/bin/sh
# The demonstration: checks, runs and draws the hump cases. usage: demo.sh BUILD
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
MDLC=$build/mdlc
export MDLC
mkdir -p "$build/demo"
out=$build/demo

echo "== mdlc check examples/quarter_car/bump.mdl"
"$MDLC" check "$here/bump.mdl"
echo "fine"
echo
echo "== mdlc run examples/quarter_car/bump.mdl --set V=... (one run per speed)"
printf '%5s  %-34s %-46s %s\n' V "wheel off the road (s)" "suspension on its stop (s)" cost
for speed in 0.5 1 2 3 5; do
    "$MDLC" run "$here/bump.mdl" --set V="$speed" --tol 1e-9 -o "$out/bump_$speed.csv" --stats=json >"$out/stats.json"
    awk -F, -v speed="$speed" -v stats="$(cat "$out/stats.json")" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { on1 = $at["q10"] != 0; on2 = $at["q21"] != 0
          if (on1 && !was1) from1 = $1
          if (!on1 && was1) text1 = text1 sprintf("%.6f-%.6f ", from1, $1)
          if (on2 && !was2) from2 = $1
          if (!on2 && was2) text2 = text2 sprintf("%.6f-%.6f ", from2, $1)
          was1 = on1; was2 = on2 }
        END { gsub(/[{}"]/, "", stats); n = split(stats, part, ",")
              for (i = 1; i <= n; i++) { split(part[i], pair, ":"); cost[pair[1]] = pair[2] }
              printf "%5s  %-34s %-46s %d steps, %d events, compiled in %.1f ms, ran %.1f ms\n", speed,
                     text1 ? text1 : "-", text2 ? text2 : "-", cost["steps"], cost["events"], cost["compile_ms"],
                     cost["run_ms"] }' "$out/bump_$speed.csv"
done
echo
echo "== the equations the compiler made (mdlc show equations)"
"$MDLC" show equations "$here/bump.mdl"
echo
echo "== pictures"
"$here/plot.sh" "$out/quarter_car.png"
if command -v dot >/dev/null; then
    "$MDLC" show bonds "$here/bump.mdl" --format=svg >"$out/bonds.svg"
    echo "$out/bonds.svg"
fi
echo
echo "== next: a model of your own"
echo "PATH=$build:\$PATH"
echo "mdlc new Swing                              # writes Swing.mdl, a mass on a spring"
echo "mdlc plot Swing.mdl body.s -o swing.svg     # runs and draws it"
