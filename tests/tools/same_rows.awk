# Compares two results in CSV: every column that both have, at every instant of which both have one row (those of events have two, and rows within
# rounding of them may be of either side), and at the end; relative to 1 + the value, within `allowed`.
# usage: awk -F, -v allowed=1e-5 -f same_rows.awk WRITTEN GIVEN     prints what differs first in each column; exit status 1 then, or when little is common
function number(text) { return text == "true" ? 1 : text == "false" ? 0 : text + 0 }
function plain(name) { gsub(/^"|"$/, "", name); sub(/ \[.*/, "", name); return name }
function compare(name, at, p, q,    a, b, d, size) {
    a = number(p); b = number(q); d = a < b ? b - a : a - b; size = a < 0 ? 1 - a : 1 + a
    if (!(d <= allowed * size) && !(name in told)) { printf "  %s at %s: %s and %s\n", name, at, p, q; told[name]; bad = 1 }
}
FNR == 1 { file++; for (k = 1; k <= NF; k++) heading[file, k] = plain($k); columns[file] = NF; next }
{
    if (FNR > 2 && $1 - last[file] <= 1e-9 * (1 + $1)) { event[$1]; event[last[file]] }
    seen[file, $1]
    last[file] = $1
    for (k = 1; k <= NF; k++) {
        if (file == 1) written[heading[1, k], $1] = $k
        else given[k, $1] = $k
    }
    if (file == 2) instant[++instants] = $1
}
END {
    for (k = 2; k <= columns[2]; k++) {
        name = heading[2, k]
        if (!((name, last[1]) in written))
            continue
        common++
        for (i = 1; i <= instants; i++)
            if (!(instant[i] in event) && (1, instant[i]) in seen) {
                compare(name, instant[i], written[name, instant[i]], given[k, instant[i]])
                compared++
            }
        compare(name, "the end", written[name, last[1]], given[k, last[2]])
    }
    if (last[1] != last[2]) { printf "  they end at %s and %s\n", last[1], last[2]; bad = 1 }
    if (common < 1 || compared < 20) { print "  little in common"; bad = 1 }
    exit bad
}
