#!/bin/sh
# How long examples of the Modelica Standard Library take, each as its annotation says, from source to a MAT file.
# usage: tests/msl/times.sh LIBRARY NAMES
#   LIBRARY  the folder that has Modelica/package.mo and Complex.mo
#   NAMES    a file with the name of a class per line
# MDLC=build/mdlc is what runs them, JOBS=2 how many at once, SECONDS_EACH=300 how long each may take. Prints per class its exit status, processor time of the
# user and of the system, time by the clock and memory in kB; then the sums and medians. Results are deleted.
set -u
export LC_ALL=C
mdlc=${MDLC:-build/mdlc} library=${1:-} names=${2:-}
if [ ! -f "$library/Modelica/package.mo" ] || [ ! -f "$names" ]; then
    echo "nothing is measured: LIBRARY/Modelica/package.mo and NAMES are wanted (usage: tests/msl/times.sh LIBRARY NAMES)"
    exit 0
fi
mdlc=$(realpath "$mdlc") library=$(realpath "$library") names=$(realpath "$names")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export mdlc library work
began=$(date +%s.%N)
# shellcheck disable=SC2016
xargs -P "${JOBS:-2}" -I{} sh -c '
    at=$(mktemp -d "$work/XXXXXX") && cd "$at" || exit
    /usr/bin/time -f "%U %S %e %M" -o time timeout "${SECONDS_EACH:-300}" "$mdlc" run "$1" --path "$library" --allow-files . --quiet -o result.mat >said 2>&1
    echo "$1 $? $(tail -n 1 time)"
    rm -r "$at"' sh {} <"$names" | tee "$work/lines"
median() { awk -v k="$1" '{ print k == 3 ? $3 + $4 : $k }' "$work/lines" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1)/2)] }'; }
awk -v began="$began" -v ended="$(date +%s.%N)" '
    { user += $3; kernel += $4; failed += $2 != 0 }
    END { printf "%d classes, %d of them ended with an error: processor time %.1f s of the user and %.1f s of the system, %.1f s by the clock\n", NR, failed, user, kernel, ended - began }' "$work/lines"
echo "median: processor time $(median 3) s, memory $(median 6) kB"
