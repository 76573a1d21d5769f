# Functions for the scripts that draw this example: results of mdlc as input of gnuplot. Read with `.`.

# Columns of the result $1 by name, whatever their order: pick RESULT time z0 z1
pick() {
    result=$1; shift
    awk -F, -v wanted="$*" '
        NR == 1 { for (i = 1; i <= NF; i++) { h = $i; gsub(/"/, "", h); at[h] = i }; n = split(wanted, name, " "); next }
        { for (k = 1; k <= n; k++) printf "%s%s", $at[name[k]], k < n ? " " : "\n" }' "$result"
}

# Intervals in which column $3 of the result $1 is not 0, as gnuplot rectangles of colour $2.
shade() {
    pick "$1" time "$3" | awk -v colour="$2" '
        { on = $2 + 0 != 0
          if (on && !was) from = $1
          if (!on && was) print_box(from, $1)
          was = on; last = $1 }
        END { if (was) print_box(from, last) }
        function print_box(a, b) {
            printf "set object rectangle from first %.9g, graph 0 to first %.9g, graph 1 ", a, b
            printf "behind fillcolor rgb \"%s\" fillstyle solid 1.0 noborder\n", colour
        }'
}
