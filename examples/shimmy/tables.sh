#!/bin/sh
# Tables 4 and 5 of Nie, Liu and Zhang: the paper's figures (paper.dat) beside those of the equations as they are printed and, for Table 4,
# of the reading that comes closest.
#
#   examples/shimmy/tables.sh [-r] [ROADS]      ROADS random roads for each case of Table 5 (default 0: without it); -r: rows for other
#                                               programs: table, case, indicator, paper's two values, ours, best reading or spread
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mdlc=${MDLC:-$here/../../build/mdlc}
export MDLC="$mdlc"
raw=false
[ "${1:-}" = -r ] && raw=true && shift
roads=${1:-0}
columns=BA,SWS_L,SWS_R,DTL_L,DTL_R,th1,th2,th3,BRAA
best="--set road.length=4.854 --set ratio=1.015 --set w=1e6 --set b0=9.22e-4 --set c4=6816 --set kappa=0.2334 --set J_br=60"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Peak to peak, one per line, DTL in kN.
peaks() {
    "$mdlc" run "$here/Shimmy.mdl" -m Shimmy.S0 "$@" --vars "^($(echo $columns | tr , '|'))\$" --interval 0.001 --tol 1e-9 \
        --quiet -o "$work/out.csv"
    awk -F, -v wanted="$columns" -f "$here/peaks.awk" "$work/out.csv" | tr ' ' '\n' | awk '{ print NR == 4 || NR == 5 ? $1/1000 : $1 }'
}
printed() { awk -v table="$1" -v case="$2" '$1 == table && $2 == case' "$here/paper.dat"; }

pulse() { # CASE MASS
    peaks --set m_b="$2" >"$work/memory"
    peaks --set m_b="$2" --set integrated=false >"$work/lagrangian"
    # shellcheck disable=SC2086
    peaks --set m_b="$2" $best >"$work/best"
    printed 4 "$1" | paste -d ' ' - "$work/memory" "$work/lagrangian" "$work/best"
}
random() { # CASE OPTIONS
    OPTIONS=$2 "$here/ensemble.sh" "$roads" 2>>"$work/ended" | awk 'NR > 1 && NF == 6 { s = $1 ~ /DTL/ ? 1000 : 1; print $1, $2/s, $4/s, $3/s }' >"$work/ours"
    printed 5 "$1" | awk -v ours="$work/ours" '
        BEGIN { while ((getline line <ours) > 0) { split(line, v, " "); at[v[1]] = v[2] " " v[3] " " v[4] } }
        { print $1, $2, $3, $4, $5, $3 in at ? at[$3] : "0 0 0" }' # nothing of (66)-(78) turns the wheels on a straight road
}
{
    pulse no 600
    pulse half 780
    pulse full 960
    if [ "$roads" -gt 0 ]; then
        random 1 "--set v=30 --set G0=16e-6"
        random 2 "--set v=20 --set G0=64e-6"
        random 3 "--set v=30 --set G0=64e-6"
        random 4 "--set v=30 --set G0=64e-6 --set m_b=960"
    fi
} >"$work/all"
if $raw; then
    cat "$work/all"
else
    awk '
        $1 == 4 && !four++ { print "Table 4, peak to peak     paper      |  as printed, l = 5 m | best reading\n  (DTL in kN)     memory     Lagr.   |   memory     Lagr.   |   memory" }
        $1 == 5 && !five++ { print "Table 5, effective        paper      |        ours          | between roads\n  (DTL in kN)     memory     Lagr.   |   memory     Lagr.   |   +-" }
        $1 $2 != last { print $1 == 4 ? $2 " load" : "case " $2; last = $1 $2 }
        { printf "  %-8s %9.4g %9.4g    | %9.4g %9.4g  | %9.4g\n", $3, $4, $5, $6, $7, $8 }' "$work/all"
    [ ! -s "$work/ended" ] || { echo "Runs that ended early (a piston at the end of its channel), with what they had until then:"; grep -c 'ended early' "$work/ended"; }
fi
