#!/bin/sh
# The examples of the Modelica Standard Library, run and compared with the published results.
# usage: tests/msl/run.sh LIBRARY REFERENCES [REGEX]
#   LIBRARY     the folder that has Modelica/package.mo and Complex.mo (github.com/modelica/ModelicaStandardLibrary, v4.1.0)
#   REFERENCES  the folder that has Modelica/Blocks/... (github.com/modelica/MAP-LIB_ReferenceResults, branch v4.1.0)
#   REGEX       only examples whose names match
# PACKAGE=ModelicaTest takes the models of that package of the release instead of the examples.
# Each runs as long as the published result does, with rows as far apart and the same tolerance (`Interval` and `Tolerance` in the creation.txt beside it).
# MDLC=build/mdlc is what runs them, SECONDS_EACH=60 how long each may take. Neither folder is part of the project: without them this says so and
# does nothing. A signal agrees that stays, both ways, in a tube of 2e-3 of the time span by 2e-3 of its range, 1e-8 of its largest value or 1e-10,
# whichever is largest. What is outside of that alone where nothing is published - rows at events of our own, between published rows, whose straight lines pass
# by them, or less than single precision tells (6e-8) where all numbers are of that - agrees as published, and is not counted among those that agree. `agree.txt` beside this file (`agree-ModelicaTest.txt`) lists what agreed last time: exit status 1 when one of these does not. UPDATE=1 writes it anew.
set -u
export LC_ALL=C # one order of names
here=$(cd "$(dirname "$0")" && pwd)
package=${PACKAGE:-Modelica}
mdlc=${MDLC:-build/mdlc} library=${1:-} references=${2:-} pattern=${3:-.}
if [ ! -f "$library/$package/package.mo" ] || [ ! -d "$references/$package" ]; then
    echo "nothing is compared: LIBRARY/$package/package.mo and REFERENCES/$package are wanted (usage: tests/msl/run.sh LIBRARY REFERENCES [REGEX])"
    exit 0
fi
agreed=$here/agree.txt
[ "$package" = Modelica ] || agreed=$here/agree-$package.txt
work=$(mktemp -d)
mkdir "$work/written" # what models write goes there
mdlc=$(realpath "$mdlc") library=$(realpath "$library") references=$(realpath "$references")
trap 'rm -rf "$work"' EXIT
: >"$work/outcomes"

# The half height of each signal's tube, as options of `mdlc compare`, and the width. tubes FILE [LEAST]: of the largest value, 1e-8.
tubes() {
    awk -F '\t' -v least="${2:-1e-8}" '
        NR == 1 { gsub(/^"|"$/, ""); n = gsub(/","/, "\t") ? split($0, name, "\t") : split($0, name, ","); FS = ","; next }
        { for (i = 1; i <= n; i++) { if (NR == 2 || $i + 0 < low[i]) low[i] = $i + 0; if (NR == 2 || $i + 0 > high[i]) high[i] = $i + 0 } }
        END {
            printf "--shift\n%.9g\n", 2e-3*(high[1] - low[1])
            for (i = 2; i <= n; i++) {
                largest = high[i] > -low[i] ? high[i] : -low[i]
                height = 2e-3*(high[i] - low[i])
                if (height < least*largest) height = least*largest
                if (height < 1e-10) height = 1e-10
                printf "--tube\n%s=0,%.9g\n", name[i], height
            }
        }' "$1"
}

# Whether all numbers are those of single precision, with the digits that they are published with.
is_single() {
    awk -F, '
        NR == 1 { next }
        {
            for (i = 2; i <= NF; i++) {
                x = $i < 0 ? -$i : $i + 0
                if (x == 0) continue
                digits = $i; sub(/[eE].*/, "", digits); gsub(/[^0-9]/, "", digits); sub(/^0*/, "", digits)
                unit = 2^(int(log(x)/log(2) + 200) - 200 - 23); last = 10^(int(log(x)/log(10) + 200) - 200 - length(digits) + 1)
                if (length(digits) < 8) last = 10^(int(log(x)/log(10) + 200) - 200 - 7)
                off = x - int(x/unit + 0.5)*unit
                if (off > 0.51*last || -off > 0.51*last) exit 1
            }
        }' "$1"
}

# Of a result the rows at instants that are published: those that are nearest to each.
published() {
    awk -F, '
        function nearest(    i) { for (i = 1; i <= m; i++) if (off[i] <= least) print line[i]; m = 0; least = near }
        FNR == 1 && NR == 1 { next }
        NR == FNR { at[++n] = $1 + 0; next }
        FNR == 1 { print; k = 1; least = near = 1e-5*(at[n] - at[1]); next }
        {
            while (k < n && at[k] < $1 - near) { nearest(); k++ }
            while (k < n && at[k + 1] - $1 <= $1 - at[k]) { nearest(); k++ }
            distance = at[k] < $1 ? $1 - at[k] : at[k] - $1
            if (distance > near) next
            line[++m] = $0; off[m] = distance
            if (distance < least) least = distance
        }
        END { nearest() }' "$2" "$1"
}

run_it() {
    cd "$work/written" || exit
    timeout "${SECONDS_EACH:-60}" "$mdlc" run "$class" --path "$library" --allow-files . ${interval:+--interval "$interval"} ${tolerance:+--tol "$tolerance"} --stop "$stop" \
        -o "$work/result.csv" "$@" >"$work/said" 2>&1
}

one() {
    class=$1 reference=$2
    interval=$(sed -n 's/^Interval *= *\([0-9.eE+-]*\).*/\1/p' "$(dirname "$reference")/creation.txt" 2>/dev/null)
    case "$interval" in *[1-9]*) ;; *) interval= ;; esac # 0: there is one instant
    tolerance=$(sed -n 's/^Tolerance *= *\([0-9.eE+-]*\).*/\1/p' "$(dirname "$reference")/creation.txt" 2>/dev/null)
    stop=$(tail -n 1 "$reference" | cut -d, -f1)
    run_it
    status=$?
    outcome=agrees
    if [ $status = 1 ] || [ $status = 2 ]; then
        outcome=refused
    elif [ $status != 0 ]; then
        outcome=fails
    elif head -n 1 "$reference" | grep -qv ,; then
        : # nothing is published but that it ran
    else
        # Parameters are in a result where they are asked for.
        missing=$("$mdlc" compare "$work/result.csv" "$reference" 2>&1 |
            awk '/: missing in the result$/ { sub(/: missing in the result$/, ""); gsub(/[^A-Za-z0-9_]/, "[&]"); printf "%s%s", some++ ? "|" : "", $0 }')
        [ -z "$missing" ] || run_it --vars "^($missing)\$|^[^ ]*\$"
        tubes "$reference" >"$work/tubes"
        set --
        while IFS= read -r option; do set -- "$@" "$option"; done <"$work/tubes"
        if ! "$mdlc" compare "$work/result.csv" "$reference" "$@" >"$work/said" 2>&1; then
            outcome=deviates
            published "$work/result.csv" "$reference" >"$work/published.csv"
            if is_single "$reference"; then
                tubes "$reference" 6e-8 >"$work/tubes"
                set --
                while IFS= read -r option; do set -- "$@" "$option"; done <"$work/tubes"
            fi
            "$mdlc" compare "$work/published.csv" "$reference" "$@" >/dev/null 2>&1 && outcome=as-published
        fi
    fi
    echo "$class $outcome $(grep -m1 -E 'error|worst|differs|missing|tube|:' "$work/said" | cut -c1-160)" >>"$work/outcomes"
    [ $outcome = agrees ] || tail -n 1 "$work/outcomes"
}

find "$references/$package" -name '*.csv' | sort >"$work/files"
while IFS= read -r reference; do
    class=$(dirname "${reference#"$references"/}" | tr / .)
    echo "$class" | grep -qE "$pattern" && one "$class" "$reference"
done <"$work/files"

awk '
    { split($1, part, "."); area = part[2]; n[area]++; n["all"]++; got[area, $2]++; got["all", $2]++ }
    END {
        printf "%-18s %8s %8s %12s %8s %8s %8s\n", "area", "examples", "agree", "as published", "deviate", "fail", "refused"
        for (area in n) if (area != "all") line(area)
        close("sort")
        line("all")
    }
    function row(area) { return sprintf("%-18s %8d %8d %12d %8d %8d %8d", area, n[area], got[area, "agrees"], got[area, "as-published"], got[area, "deviates"], got[area, "fails"], got[area, "refused"]) }
    function line(area) { if (area == "all") print row(area); else print row(area) | "sort" }' "$work/outcomes"

awk '$2 == "agrees" { print $1 }' "$work/outcomes" | sort >"$work/agree"
[ -z "${UPDATE:-}" ] || cp "$work/agree" "$agreed"
awk '{ print $1 }' "$work/outcomes" | sort >"$work/looked"
[ -f "$agreed" ] || : >"$agreed"
comm -12 "$agreed" "$work/looked" | comm -23 - "$work/agree" >"$work/lost"
comm -13 "$agreed" "$work/agree" | sed 's/^/now agrees: /'
[ -s "$work/lost" ] || exit 0
sed 's/^/agreed last time: /' "$work/lost"
exit 1
