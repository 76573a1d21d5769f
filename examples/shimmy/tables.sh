#!/bin/sh
# Table 4 of Nie, Liu and Zhang (peak-to-peak values after a hump): the paper's figures beside those of the equations as they
# are printed and of the reading that comes closest.
#
#   examples/shimmy/tables.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mdlc=${MDLC:-$here/../../build/mdlc}
columns=BA,SWS_L,SWS_R,DTL_L,DTL_R,th1,th2,th3,BRAA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

peaks() {
    "$mdlc" run "$here/Shimmy.mdl" -m Shimmy.S0 "$@" --vars "^($(echo $columns | tr , '|'))\$" --interval 0.001 --tol 1e-9 \
        --quiet -o "$work/out.csv"
    awk -F, -v wanted="$columns" -f "$here/peaks.awk" "$work/out.csv"
}

# print LOAD PAPER MASS
print() {
    load=$1 paper=$2 mass=$3
    best="--set road.length=4.854 --set ratio=1.015 --set w=1e6 --set b0=9.22e-4 --set c4=6816 --set kappa=0.2334 --set J_br=60"
    printed=$(peaks --set m_b="$mass") lagrangian=$(peaks --set m_b="$mass" --set integrated=false)
    # shellcheck disable=SC2086
    best=$(peaks --set m_b="$mass" $best)
    echo "$load"
    echo "$columns $paper $printed $lagrangian $best" | awk '
        { n = split($1, name, ",")
          for (k = 1; k <= n; k++) {
              scale = name[k] ~ /DTL/ ? 1000 : 1
              printf "  %-6s %9.4f %9.4f | %9.4f %9.4f | %9.4f\n", name[k], $(1 + k), $(1 + n + k), $(1 + 2*n + k)/scale,
                  $(1 + 3*n + k)/scale, $(1 + 4*n + k)/scale
          } }'
}

echo "Table 4               paper       |  as printed, l = 5 m | best reading"
echo "  (DTL in kN)  memory     Lagr.   |   memory     Lagr.   |   memory"
print "no load" "9.4783 0.078 0.0781 3.5971 3.3586 0.0509 0.0497 0.0277 0.1608 \
 11.7546 0.0691 0.0692 3.3392 3.1106 0.0478 0.0466 0.0259 0.1424" 600
print "half load" "8.1265 0.089 0.0893 3.8765 3.6253 0.0548 0.0537 0.0299 0.1884 \
 10.1024 0.0787 0.0789 3.6027 3.3611 0.0511 0.05 0.0278 0.1656" 780
print "full load" "7.0558 0.0965 0.0968 4.0503 3.7962 0.0623 0.0611 0.0341 0.2184 \
 8.7876 0.0851 0.0855 3.768 3.523 0.057 0.0559 0.0312 0.1912" 960
