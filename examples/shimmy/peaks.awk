# Peak-to-peak values of columns of a result: awk -F, -v wanted=a,b -f peaks.awk out.csv. Extremes are those of the parabolas
# through three points.
NR == 1 {
    for (i = 1; i <= NF; i++)
        at[$i] = i
    n = split(wanted, name, ",")
    next
}
{
    for (k = 1; k <= n; k++)
        see(k, $at[name[k]] + 0)
}
END {
    for (k = 1; k <= n; k++)
        printf("%s%.17g", (k > 1 ? " " : ""), high[k] - low[k])
    print ""
}
function see(k, v,   a, b, top) {
    if (NR == 2)
        high[k] = low[k] = v
    if (v > high[k])
        high[k] = v
    if (v < low[k])
        low[k] = v
    a = older[k]
    b = old[k]
    if (NR > 3 && (b - a)*(v - b) < 0) {
        top = b - (v - a)^2/(8*(v - 2*b + a))
        if (top > high[k])
            high[k] = top
        if (top < low[k])
            low[k] = top
    }
    older[k] = b
    old[k] = v
}
