#!/bin/sh
# Whether the rooms of the tree are what tests/rooms says: `make layers`. Prints what is not; exit status 1 when there is something.
# usage: tests/layers.sh [BUILD]    with BUILD the symbols of its objects are looked at, too
#
# A room includes, of other rooms, the doors (headers named like their rooms) and what these call open; rooms use rooms above
# them in tests/rooms only; 5 to 25 source files each; no name in two rooms; LLVM in backend/llvm and SUNDIALS in the runtime only.
# A door says what comes in, what goes out and what to read first, and opens nothing that no other room includes.
# No function or variable is defined twice, even where no program has both; what only its own file uses is static, and no static function of one file
# has the name of one that other files may call.
# A source file begins with its name, and says its purpose, method, contract and complexity before its first line of code.
# No status is dropped in the runtime. Nothing but the folders and files of the project lies at the top.
set -u
build=${1:+$(cd "$1" && pwd)}
cd "$(dirname "$0")/.."
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# Includes as "FILE HEADER", and what doors call open as "open ROOM HEADER".
includes() {
    grep -rE '^[ \t]*#[ \t]*include[ \t]*"' frontend ir backend runtime --include='*.[chly]' --include='*.def' |
        sed -n 's|^\([^:]*\):[^"]*"\([^"]*\)".*|\1 \2|p'
}
opened() {
    for room in $(sed 's/#.*//; s/ .*//' tests/rooms); do
        sed -n '/^\/\/ Also open to other rooms:/,/^#ifndef/p' "$room/${room##*/}.h" | tr -c 'a-zA-Z0-9_.\n' '\n' |
            sed -n "s/^\([a-z_0-9]*\.h\)\.*\$/open $(echo "$room" | sed 's,\/,\\\/,g') \1/p; s/^\([a-z_0-9]*\.def\)\.*\$/open $(echo "$room" | sed 's,\/,\\\/,g') \1/p"
    done
}
{ sed 's/#.*//; /^ *$/d; s/^/room /' tests/rooms; opened; includes | sed 's/^/include /'; } | awk '
    $1 == "room" { at[$2] = ++n; for (i = 3; i <= NF; i++) may[$2 " " $i] = 1; next }
    $1 == "open" { open[$2 "/" $3] = 1; next }
    {
        split($2, f, "/"); split($3, h, "/")
        room = f[1] "/" f[2]; other = h[1] "/" h[2]
        if (!(room in at) || room == other) next
        if (!(other in at)) { print $2 ": includes " $3 ", which is in no room"; next }
        if (at[other] > at[room]) print $2 ": includes " $3 ", of a room below it in tests/rooms"
        if (other != "ir/base" && other != "runtime/model" && !((room " " h[1]) in may)) print $2 ": includes " $3 ", of a floor it may not use"
        if (h[3] != h[2] ".h" && !($3 in open)) print $2 ": includes " $3 ", which the door of " other " does not open"
    }' >"$found"

# Sizes, doors, names.
find frontend ir backend runtime -name '*.[chly]' | sed 's|/[^/]*$||' | sort -u | awk '
    FILENAME == "tests/rooms" { sub(/#.*/, ""); if (NF) room[$1] = 1; next }
    !($1 in room) { print $1 ": this folder has source files, but is no room of tests/rooms" }' tests/rooms - >>"$found"
for room in $(sed 's/#.*//; s/ .*//' tests/rooms); do
    files=$(find "$room" -maxdepth 1 -name '*.[cly]' | wc -l)
    [ "$files" -ge 5 ] && [ "$files" -le 25 ] || echo "$room: $files source files; a room has 5 to 25"
    grep -q "^// ${room##*/}.h: the door of $room" "$room/${room##*/}.h" 2>/dev/null || echo "$room: has no door ${room##*/}.h"
    for what in In Out 'Read first'; do
        grep -q "^// $what: " "$room/${room##*/}.h" || echo "$room/${room##*/}.h: does not say '$what:'"
    done
done >>"$found"
# What a door opens, another room includes.
opened | while read -r _ room header; do
    [ ! -e "$room/$header" ] || grep -rl "\"$room/$header\"" frontend ir backend runtime tests --include='*.[chly]' | grep -qv "^$room/" || echo "$room/${room##*/}.h: opens $header, which no other room includes"
done >>"$found"
find frontend ir backend runtime -name '*.[chly]' | awk -F/ '
    { room = $1 "/" $2; name = $NF; sub(/\.[chly]$/, "", name); if ((name in in_room) && in_room[name] != room) print $0 ": another file of that name is in " in_room[name]; in_room[name] = room }' >>"$found"
grep -lE '#include <llvm-c' -r frontend ir backend runtime | grep -v '^backend/llvm/' | sed 's/$/: LLVM belongs to backend\/llvm/' >>"$found"
grep -lE '#include <(sundials|ida|cvode|arkode|nvector|sunlinsol|sunmatrix|klu|btf|amd|colamd|suitesparse)' -r frontend ir backend | sed 's/$/: SUNDIALS belongs to the runtime/' >>"$found"
grep -lE '#include <[a-z]*/[a-z_]*_impl\.h>' -r frontend ir backend runtime | grep -v '^runtime/solver/ida_private\.h$' | sed 's/$/: private headers of SUNDIALS belong to runtime\/solver\/ida_private.h/' >>"$found"

# What files say of themselves.
find frontend ir backend runtime -name '*.c' | sort | xargs awk '
    function close_file() {
        if (file == "") return
        if (first != "// " name ":") print file ": does not begin with // " name ":"
        for (w = 1; w <= 4; w++) if (!index(said, word[w] ":")) print file ": its first comment lacks " word[w] ":"
    }
    BEGIN { split("Purpose Method Contract Complexity", word, " ") }
    FNR == 1 { close_file(); file = name = FILENAME; sub(/.*\//, "", name); first = $1 " " $2; said = ""; heading = 1 }
    !/^\/\// { heading = 0 }
    heading { said = said $0 " " }
    END { close_file() }' >>"$found"

# A definition: its type stands alone, its name begins the next line.
find frontend ir backend runtime -name '*.c' | sort | xargs awk '
    FNR == 1 { type = "" }
    type != "" && /^[a-z_0-9]+\(/ {
        name = $0; sub(/\(.*/, "", name)
        if (type !~ /static/) shared[name] = FILENAME
        else if (!((name, FILENAME) in own)) { own[name, FILENAME] = 1; n++; static_name[n] = name; home[n] = FILENAME }
    }
    { type = /^[A-Za-z_].*[a-zA-Z0-9_*]$/ && !/[=;]/ ? $0 : "" }
    END { for (i = 1; i <= n; i++) if (static_name[i] in shared && shared[static_name[i]] != home[i]) print home[i] ": " static_name[i] "() is also a function of " shared[static_name[i]] }' >>"$found"

# No result of an evaluation is dropped: functions of the runtime that give a status are MDL_CHECKED (runtime/model/checked.h), and what another one says,
# of what it did, is looked at or left with (void).
find runtime -name '*.[ch]' | sort | xargs awk '
    FNR == 1 { type = name = "" }
    # A prototype of a header.
    FILENAME ~ /\.h$/ && /^(MDL_CHECKED )?(int|bool) [a-z_0-9]+\(/ {
        name = $0; sub(/\(.*/, "", name); sub(/.* /, "", name)
        if (/^MDL_CHECKED/) checked["*\001" name] = 1
        next
    }
    # A definition: its type stands alone, its name begins the next line.
    /^(MDL_CHECKED )?(static )?(int|bool)$/ { type = $0; next }
    type != "" && /^[a-z_0-9]+\(/ {
        name = $0; sub(/\(.*/, "", name)
        at = (type ~ /static/ ? FILENAME : "*") "\001" name; home[at] = FILENAME; gives[at] = type ~ /int$/ ? "int" : "bool"
        if (type ~ /MDL_CHECKED/) checked[at] = 1
        type = ""; current = at
    }
    /^}/ { current = "" }
    current != "" && /return .*MDL_(OK|FAILED|INTERNAL|IO)|return status;/ { status[current] = 1 }
    # A call that is a statement.
    /^[ \t]+[a-z_0-9]+\(.*\);$/ && before ~ /([;{}:)]|else|\*\/)$|^$/ {
        call = $0; sub(/^[ \t]+/, "", call); sub(/\(.*/, "", call)
        n++; of[n] = call; where[n] = FILENAME; line[n] = FNR
    }
    !/^[ \t]*\/\// { before = $0; sub(/[ \t]*(\/\/.*)?$/, "", before) }
    END {
        for (at in status) {
            name = at; sub(/.*[*c]\001/, "", name)
            # What programs around a model call is declared in a header of its own, which needs no other.
            if (gives[at] == "int" && !(at in checked) && home[at] !~ /\/embed[a-z_]*\.c$/) print home[at] ": " name "() gives a status and is not MDL_CHECKED"
        }
        for (i = 1; i <= n; i++) {
            at = where[i] "\001" of[i]; if (!(at in gives)) at = "*\001" of[i]
            if (at in gives && !(at in checked)) print where[i] ":" line[i] ": drops what " of[i] "() gives; (void) says that it is meant"
        }
    }' >>"$found"

# Symbols: who defines what others need, and that nothing is defined twice. Of the objects whose sources are still there.
objects() {
    { find frontend ir backend runtime -name '*.[cly]'; echo frontend/page/assets.c; } | sed 's/\.[cly]$/.o/' | sort -u |
        while read -r object; do [ -e "$build/$object" ] && echo "$object"; done
}
if [ -n "$build" ] && [ -e "$build/ir/base/arena.o" ]; then
    objects | (cd "$build" && xargs nm -A -P) | awk '
        FILENAME == "tests/rooms" { sub(/#.*/, ""); if (NF) at[$1] = ++n; for (i = 2; i <= NF; i++) may[$1 " " $i] = 1; next }
        {
            object = $1; sub(/:$/, "", object); split(object, f, "/"); room = f[1] "/" f[2]
            if ($3 ~ /^[TDBRVWC]$/) {
                # Each program takes one of them, whichever its linker finds first; mains are of different programs.
                if ($3 ~ /^[TDBR]$/ && ($2 in first) && first[$2] != object && $2 != "main") print object ": defines " $2 ", as " first[$2] " does"
                first[$2] = object; home[$2] = room; next
            }
            if ($3 == "U") { needs[++m] = object; symbol[m] = $2; by[m] = room }
        }
        END {
            for (i = 1; i <= m; i++) {
                of = home[symbol[i]]; split(of, f, "/")
                if (!(of in at) || !(by[i] in at) || of == by[i]) continue
                if (at[of] > at[by[i]]) print needs[i] ": calls " symbol[i] "() of " of ", below it in tests/rooms"
                if (of != "ir/base" && of != "runtime/model" && !((by[i] " " f[1]) in may)) print needs[i] ": calls " symbol[i] "() of " of ", a floor it may not use"
            }
        }' tests/rooms - >>"$found"

    # What no other object needs is static, or it is not there: but for what programs around a model call, what flex writes, and what AddressSanitizer has
    # for each global. Tests count.
    { objects; (cd "$build" && find tests -name '*.o' 2>/dev/null); } | (cd "$build" && xargs nm -A -P) | awk '
        { object = $1; sub(/:$/, "", object) }
        $3 == "U" || $3 ~ /^[wv]$/ { needed[$2] = 1 }
        $3 ~ /^[TDBR]$/ && object !~ /^(tests|runtime\/(model|fmu|shell))\// && $2 !~ /^(study_)?scan_|^__odr_asan\./ { home[$2] = object }
        END { for (symbol in home) if (!(symbol in needed)) print home[symbol] ": only this file uses " symbol }' >"$found.static"
    while read -r line; do # those that only tests need are named in their sources, which may not be built
        grep -rqw "${line##* }" tests --include='*.[ch]' --include='*.cc' || echo "$line"
    done <"$found.static" >>"$found"
    rm -f "$found.static"

    # Variables that change at file scope: none, but for the flag of the signal handler. AddressSanitizer has one for each global.
    objects | (cd "$build" && xargs objdump -t) | awk '
        /file format/ { object = $1; sub(/:$/, "", object) }
        $3 == "O" && ($4 ~ /^\.(bss|data)(\.|$)/ && $4 !~ /\.rel\.ro/ || $4 == "*COM*") && $NF != "interrupted" && $NF !~ /^__odr_asan\./ {
            print object ": " $NF " is a variable at file scope that can change" }' >>"$found"
fi

# Nothing else lies at the top: what a command has left there is not of the project.
git ls-files 2>/dev/null | sed 's|/.*||' | sort -u |
    grep -vxE '\..*|Makefile|frontend|ir|backend|runtime|stdlib|tests|examples|docs|README\.md|LICENSE|CHANGELOG\.md|pyproject\.toml' |
    sed 's/$/: does not belong at the top/' >>"$found"
sort -u "$found"
[ -s "$found" ] || echo "layers: fine"
[ ! -s "$found" ]
