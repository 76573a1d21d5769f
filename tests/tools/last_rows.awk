# Compares the last rows of two results in CSV: every column that both have, relative to 1 + its value, within `allowed`.
# usage: awk -F, -v allowed=1e-5 -f last_rows.awk WRITTEN GIVEN     prints what differs; exit status 1 then, or when nothing is common
function number(text) { return text == "true" ? 1 : text == "false" ? 0 : text + 0 }
function plain(name) { gsub(/^"|"$/, "", name); sub(/ \[.*/, "", name); return name }
function finish(    k) {
    for (k = 1; k <= columns; k++)
        if (file == 1)
            written[heading[k]] = value[k]
        else if (heading[k] in written) {
            common++
            a = number(written[heading[k]]); b = number(value[k]); d = a < b ? b - a : a - b; size = a < 0 ? 1 - a : 1 + a
            if (!(d <= allowed * size)) { printf "  %s: %s and %s\n", heading[k], written[heading[k]], value[k]; bad = 1 }
        }
}
FNR == 1 { if (file) finish(); file++; columns = NF; for (k = 1; k <= NF; k++) heading[k] = plain($k); next }
{ for (k = 1; k <= NF; k++) value[k] = $k }
END { finish(); if (common < 2) { print "  nothing in common"; bad = 1 } exit bad }
