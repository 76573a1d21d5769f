# vary.awk: another text of the same flat model (docs/ir.md), for tests that what must not matter does not.
#
# usage: awk -v seed=N -v how=WHAT [-v map=FILE] -f vary.awk MODEL.dae
#   order   equations, declarations and connections in random order
#   rename  every variable and component gets another name
#   swap    a random half of the equations change their sides
#   alias   some variables get copies, x1 = x and x + x2 = 0, which stand for them in half of the equations
#   scale   some variables that are no part of a connector are measured in thousandths of their unit
# `map` receives lines "OLD NEW FACTOR" (old = factor*new) for csvcheck agree. The generator is that of Park and
# Miller, so that a seed gives the same model everywhere.

function random(n) {
    seed = (seed * 16807) % 2147483647
    return seed % n
}

# The text with every name of a variable or component handed to changed(name, what is before it). Strings are left alone.
function replace(text,    out, token, quoted) {
    out = ""
    while (match(text, /"[^"]*"|[A-Za-z_$][A-Za-z0-9_]*(\[[0-9,]+\])?(\.[A-Za-z_$][A-Za-z0-9_]*(\[[0-9,]+\])?)*/)) {
        token = substr(text, RSTART, RLENGTH)
        out = out substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        quoted = token ~ /^"/
        out = out (quoted ? token : changed(token, out))
    }
    return out text
}

function plain(name) {
    gsub(/\[[0-9,]+\]/, "", name)
    return name
}

function changed(name, before) {
    if (!(plain(name) in known))
        return name
    if (how == "rename")
        return renamed(name)
    if (how == "scale" && name in scaled)
        return before ~ /(der|pre)\($/ ? "@" name : "(" name "/1000)"
    if (how == "alias" && name in copied && random(2))
        return before ~ /(der|pre)\($/ || random(2) ? flat(name) "_copy" : "(-" flat(name) "_negative)"
    return name
}

# der(x) and pre(x) of scaled variables were marked with @.
function settle(text) {
    while (match(text, /(der|pre)\(@[^)]*\)/))
        text = substr(text, 1, RSTART - 1) "(" substr(text, RSTART, 4) substr(text, RSTART + 5, RLENGTH - 5) "/1000)" \
            substr(text, RSTART + RLENGTH)
    return text
}

# Every component of a path gets a letter and a number that belong to its text.
function renamed(name,    n, i, part, rest, out) {
    n = split(name, part, ".")
    out = ""
    for (i = 1; i <= n; i++) {
        rest = part[i]
        sub(/\[.*/, "", part[i])
        rest = substr(rest, length(part[i]) + 1)
        if (!(part[i] in new_name))
            new_name[part[i]] = sprintf("%c%d_%s", 97 + random(26), random(100), part[i])
        out = out (i > 1 ? "." : "") new_name[part[i]] rest
    }
    return out
}

# Copies belong to the model, not to the component of their variable, whose contract counts its variables.
function flat(name) {
    gsub(/\./, "_", name)
    return name
}

function owner(name) {
    return name ~ /\./ ? substr(name, 1, length(name) - length(last_part(name)) - 1) : "/"
}

function last_part(name,    n, part) {
    n = split(name, part, ".")
    return part[n]
}

# A permutation of 1..n in order[].
function shuffle(n, order,    i, j, keep) {
    for (i = 1; i <= n; i++)
        order[i] = i
    for (i = n; i > 1; i--) {
        j = 1 + random(i)
        keep = order[i]
        order[i] = order[j]
        order[j] = keep
    }
}

function name_of_declaration(line,    word, n, i) {
    n = split(line, word, " ")
    for (i = 1; i < n; i++)
        if (word[i] ~ /^(Real|Integer|Boolean|String|enum\(.*\))$/)
            return word[i + 1]
    return ""
}

# The value of a number after an attribute's name, times `factor`.
function times(line, attribute, factor,    text) {
    if (!match(line, " " attribute " [-+0-9.e]+"))
        return line
    text = substr(line, RSTART + length(attribute) + 2, RLENGTH - length(attribute) - 2)
    return substr(line, 1, RSTART - 1) " " attribute " " sprintf("%.17g", text * factor) substr(line, RSTART + RLENGTH)
}

# In thousandths: start, min, max and nominal are a thousand times as many, and errors are measured as before.
function scale_declaration(line) {
    line = times(times(times(line, "start", 1000), "min", 1000), "max", 1000)
    line = line ~ / nominal / ? times(line, "nominal", 1000) : line " nominal 1000"
    return line
}

/^(discrete |parameter |constant |input )?(Real|Integer|Boolean|String|enum\()/ {
    name = name_of_declaration($0)
    known[plain(name)] = 1
    declaration[++declarations] = $0
    declared[declarations] = name
    next
}
/^instance / { known[plain($2)] = 1 }
/^connector / { connector[$3] = 1 }
/^in / { place = $2 }
/^(flags|value|start|nominal|min|max) / { note[++notes] = $0; next }
/^connect / { connect[++connects] = $0; next }
/^ / { equation[++equations] = $0; at[equations] = place; next }
/^in / { next }
/^(reinit|assert|same) / { tail[++tails] = $0; next }
{ head[++heads] = $0; stage[heads] = declarations ? 2 : 1 }

# Variables that may be copied or scaled: continuous scalars without brackets and without bindings of their own.
function choose(    i, k, word, bound) {
    for (i = 1; i <= notes; i++) {
        split(note[i], word, " ")
        bound[word[2]] = 1
    }
    for (i = 1; i <= declarations; i++)
        if (declaration[i] ~ /^Real / && declared[i] !~ /\[/ && !(declared[i] in bound) && !(declared[i] in connector) &&
            !(owner(declared[i]) in connector)) {
            if (how == "scale" && random(2))
                scaled[declared[i]] = 1
            if (how == "alias" && random(2))
                copied[declared[i]] = 1
        }
}

function print_declarations(    i, k, n, start, order) {
    n = 0
    for (i = 1; i <= declarations; i++) { # variables of one connector stay together
        if (i == 1 || !(owner(declared[i]) in connector) || owner(declared[i]) != owner(declared[i - 1]))
            start[++n] = i
    }
    start[n + 1] = declarations + 1
    for (i = 1; i <= n; i++)
        order[i] = i
    if (how == "order")
        shuffle(n, order)
    for (i = 1; i <= n; i++)
        for (k = start[order[i]]; k < start[order[i] + 1]; k++)
            print_declaration(declaration[k], declared[k])
    for (i = 1; i <= declarations; i++)
        if (declared[i] in copied) {
            print "Real " flat(declared[i]) "_copy"
            print "Real " flat(declared[i]) "_negative"
        }
}

function print_declaration(line, name,    at_name, to) {
    if (how == "scale") # units would have to say thousandths
        gsub(/ (unit|display|quantity) "[^"]*"/, "", line)
    if (name in scaled)
        line = scale_declaration(line)
    if (how == "rename") {
        at_name = index(line " ", " " name " ")
        to = renamed(name)
        line = substr(line, 1, at_name) to substr(line, at_name + 1 + length(name))
    }
    print line
    if (map && how == "rename")
        map_elements(name)
    if (map && name in scaled)
        print name, name, 0.001 >map
}

# A line for every element of a variable declared with sizes; sizes of its component are subscripts already.
function map_elements(name,    last, size, n, i, k) {
    last = last_part(name)
    if (last !~ /\[/) {
        print name, renamed(name), 1 >map
        return
    }
    n = split(substr(last, index(last, "[") + 1, length(last) - index(last, "[") - 1), size, ",")
    sub(/\[[0-9,]*\]$/, "", name)
    for (i = 1; i <= size[1]; i++)
        for (k = 1; k <= (n > 1 ? size[2] : 1); k++)
            print name "[" i (n > 1 ? "," k : "") "]", renamed(name) "[" i (n > 1 ? "," k : "") "]", 1 >map
}

function swap_sides(line,    i, left) {
    i = index(line, " = ")
    if (line ~ /^ *(when|law|made|removed|alias)[ :]/ || !i)
        return line
    left = substr(line, 1, i - 1)
    sub(/^ */, "", left)
    if (sub(/^initial: */, "", left))
        return "  initial: (" substr(line, i + 3) ") = (" left ")"
    return "  (" substr(line, i + 3) ") = (" left ")"
}

function print_equation(line, where,    i) {
    print "in " where
    if (how == "swap" && random(2))
        line = swap_sides(line)
    if (how == "rename" || how == "alias" || how == "scale")
        line = settle(replace(line))
    print line
}

function print_copies(    i, name) {
    for (i = 1; i <= declarations; i++) {
        name = declared[i]
        if (!(name in copied))
            continue
        print "in /"
        print "  " flat(name) "_copy = " name
        print "  " name " + " flat(name) "_negative = 0"
    }
}

END {
    if (how == "alias" || how == "scale")
        choose()
    for (i = 1; i <= heads; i++)
        if (stage[i] == 1)
            print how == "rename" && head[i] ~ /^instance / ? rename_instance(head[i]) : head[i]
    print_declarations()
    for (i = 1; i <= notes; i++)
        print how == "rename" || how == "scale" ? after_word(note[i]) : note[i]
    for (i = 1; i <= heads; i++) {
        if (stage[i] == 2 && head[i] !~ /^node /)
            print how == "rename" && head[i] ~ /^connector / ? replace(head[i]) : head[i]
    }
    for (i = 1; i <= connects; i++)
        order[i] = i
    if (how == "order")
        shuffle(connects, order)
    for (i = 1; i <= connects; i++)
        print how == "rename" ? replace(connect[order[i]]) : connect[order[i]]
    for (i = 1; i <= heads; i++)
        if (head[i] ~ /^node /)
            print how == "rename" ? replace(head[i]) : head[i]
    for (i = 1; i <= equations; i++)
        order[i] = i
    if (how == "order")
        shuffle(equations, order)
    for (i = 1; i <= equations; i++)
        print_equation(equation[order[i]], at[order[i]])
    print_copies()
    for (i = 1; i <= tails; i++)
        print_tail(tail[i])
}

# reinit CONDITION NAME = expression, assert LEVEL INSTANCE "text" condition.
function print_tail(line,    word, value) {
    split(line, word, " ")
    if (how == "scale" && word[1] == "reinit") {
        value = settle(replace(substr(line, index(line, " = ") + 3)))
        line = "reinit " word[2] " " word[3] " = " (word[3] in scaled ? "1000*(" value ")" : value)
    } else if (how == "rename" || how == "scale") {
        line = settle(after_word(line))
    }
    print line
}

# The first word says what the line is, whatever variables are called.
function after_word(line,    i) {
    i = index(line, " ")
    return substr(line, 1, i) replace(substr(line, i + 1))
}

function rename_instance(line,    word) {
    split(line, word, " ")
    if (word[2] == "/")
        return line
    return "instance " renamed(word[2]) substr(line, 10 + length(word[2]))
}
