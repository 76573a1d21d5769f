# Of a drawing that Graphviz made (SVG): how many pairs of bonds cross, and how many bonds run over a title, a label or another's node.
# Independent of ir/view/graph_layout.c: curves are cut into 16 pieces, boxes of texts are a little smaller than the letters.
function number(line, name,    at) { at = index(line, " " name "=\""); return at ? substr(line, at + length(name) + 3) + 0 : 0 }
function side(ax, ay, bx, by, cx, cy) { return (bx - ax)*(cy - ay) - (by - ay)*(cx - ax) }
function cross(ax, ay, bx, by, cx, cy, dx, dy) {
    return side(ax, ay, bx, by, cx, cy)*side(ax, ay, bx, by, dx, dy) < 0 && side(cx, cy, dx, dy, ax, ay)*side(cx, cy, dx, dy, bx, by) < 0
}
/<g id=/ { kind = match($0, /class="[a-z]+"/) ? substr($0, RSTART + 7, RLENGTH - 8) : ""; name = ""; path = 0 }
/<title>/ { name = $0; gsub(/.*<title>|<\/title>.*/, "", name) }
/<path / && kind == "edge" && !path {
    path = 1
    match($0, / d="[^"]*"/)
    row = substr($0, RSTART + 4, RLENGTH - 5)
    gsub(/[MC, ]+/, " ", row)
    n = split(row, p, " ")
    edges++; end_of[edges] = name
    for (i = 1; i + 7 <= n; i += 6)
        for (k = 0; k <= 16; k++) {
            t = k/16; u = 1 - t
            x[edges, ++points[edges]] = u*u*u*p[i] + 3*u*u*t*p[i + 2] + 3*u*t*t*p[i + 4] + t*t*t*p[i + 6]
            y[edges, points[edges]] = u*u*u*p[i + 1] + 3*u*u*t*p[i + 3] + 3*u*t*t*p[i + 5] + t*t*t*p[i + 7]
        }
}
/<text / && kind ~ /edge|node|cluster/ {
    content = $0; gsub(/<[^>]*>|&[^;]*;/, "", content); gsub("\302\240", "", content)
    texts++; size = number($0, "font-size"); width = 0.5*size*length(content)
    left[texts] = number($0, "x") - ($0 ~ /text-anchor="middle"/ ? width/2 : 0); right[texts] = left[texts] + width
    bottom[texts] = number($0, "y"); top[texts] = bottom[texts] - 0.7*size
    of[texts] = name; what[texts] = kind
}
END {
    for (e = 1; e <= edges; e++) {
        west[e] = east[e] = x[e, 1]; north[e] = south[e] = y[e, 1]
        for (i = 2; i <= points[e]; i++) {
            if (x[e, i] < west[e]) west[e] = x[e, i]
            if (x[e, i] > east[e]) east[e] = x[e, i]
            if (y[e, i] < north[e]) north[e] = y[e, i]
            if (y[e, i] > south[e]) south[e] = y[e, i]
        }
    }
    for (e = 1; e <= edges; e++) {
        split(end_of[e], ends, "&#45;&gt;")
        for (f = 1; f < e; f++) {
            if (end_of[f] == end_of[e] || end_of[f] == ends[2] "&#45;&gt;" ends[1]) continue
            if (west[e] > east[f] || west[f] > east[e] || north[e] > south[f] || north[f] > south[e]) continue
            hit = 0
            for (i = 1; i < points[e] && !hit; i++)
                for (k = 1; k < points[f] && !hit; k++)
                    hit = cross(x[e, i], y[e, i], x[e, i + 1], y[e, i + 1], x[f, k], y[f, k], x[f, k + 1], y[f, k + 1])
            crossings += hit
        }
        for (t = 1; t <= texts; t++) {
            if (what[t] == "edge" ? of[t] == end_of[e] : what[t] == "node" && (of[t] == ends[1] || of[t] == ends[2])) continue
            hit = 0
            for (i = 1; i <= points[e]; i++)
                hit = hit || (left[t] < x[e, i] && x[e, i] < right[t] && top[t] < y[e, i] && y[e, i] < bottom[t])
            over += hit
        }
    }
    print edges + 0, crossings + 0, over + 0
}
