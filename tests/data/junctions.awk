# Of a bond graph for Graphviz: each junction with what it is bound to, a junction by its kind, one line each:
#     1: C capacitor, I inductor, Se source
# Lines and neighbours are sorted; a bond with several causalities counts once.
/^  [a-z][0-9]+ \[label=/ {
    id = $1
    text = $0
    sub(/^[^<]*</, "", text)
    gsub(/<br\/>/, " ", text)
    gsub(/<[^>]*>/, "", text)
    sub(/>.*$/, "", text)
    label[id] = text
    next
}
/^  [a-z][0-9]+ -> / && !seen[$1, $3]++ {
    add($1, $3)
    add($3, $1)
}
function add(from, to) {
    near[from] = near[from] (near[from] == "" ? "" : ",") to
}
END {
    for (id in label) {
        if (label[id] !~ /^[01]$/) continue
        n = split(near[id], ends, ",")
        for (i = 1; i <= n; i++) ends[i] = label[ends[i]]
        for (i = 2; i <= n; i++)
            for (k = i; k > 1 && ends[k] < ends[k - 1]; k--) { kept = ends[k]; ends[k] = ends[k - 1]; ends[k - 1] = kept }
        line = label[id] ":"
        for (i = 1; i <= n; i++) line = line (i > 1 ? ", " : " ") ends[i]
        print line | "LC_ALL=C sort"
    }
}
