#!/bin/sh
# Writes what the tables in the source say: `make docs`, and tests/cli/docs.check compares.
# usage: docs/generate.sh MDLC FOLDER    FOLDER receives passes.md (its table renewed), diagnostics.md, words.md and library/
set -eu
mdlc=$1
folder=$2
top=$(cd "$(dirname "$0")/.." && pwd)
table=$(mktemp)
trap 'rm -f "$table" "$table.md" "$table.shown"' EXIT

"$mdlc" show passes >"$table"
awk -v table="$table" '
    /^<!-- end of the table/ { inside = 0 }
    !inside { print }
    /^<!-- begin of the table/ { inside = 1; while ((getline line < table) > 0) print line }
' "$top/docs/passes.md" >"$table.md"
cp "$table.md" "$folder/passes.md"

# Which cases show a code: golden messages in tests/errors and tests/pass, and scripts that name it. Lines "CODE CASE", three at most of each.
(cd "$top/tests" && awk '
    function note(text, pattern) {
        while (match(text, pattern)) {
            code = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH); gsub(/[][]/, "", code)
            if (!seen[code, FILENAME]++) print code, FILENAME
        }
    }
    { note($0, "\\[[EW][0-9][0-9][0-9][0-9]\\]") }
    match($0, /says /) { note(substr($0, RSTART), "[EW][0-9][0-9][0-9][0-9]") }' errors/*.err pass/*.err cli/*.check sim/*.check) |
    sed -E 's/\.(err|check)$//' | sort -u | awk '++count[$1] <= 3' >"$table.shown"
shown_by() {
    sed -n "s/^$1 //p" "$table.shown" | paste -sd ' ' -
}

{
    printf '# Diagnostics\n\nMade from `ir/base/diag.def` and the folders of `tests/` by `make docs`; at most three cases are named.\n\n'
    printf '| code | severity | meaning | shown by |\n|---|---|---|---|\n'
    sed -nE 's/^DIAG\((E[0-9]+), SEVERITY_ERROR, "(.*)"\)$/| \1 | error | \2 |/p
        s/^WARNING\((W[0-9]+), "(.*)", "(.*)"\)$/| \1 | warning `-W\2` | \3 |/p' "$top/ir/base/diag.def" |
        sed -E 's/\\"/"/g' | sort |
        while IFS= read -r line; do
            code=$(printf '%s\n' "$line" | cut -c 3-7)
            printf '%s %s |\n' "$line" "$(shown_by "$code")"
        done
    printf '\n## Causes and examples\n\n`mdlc explain CODE` shows these in the terminal. Each wrong example gives its code, and each right one is clean.\n\n'
    "$mdlc" explain --format=markdown
} >"$folder/diagnostics.md"

"$mdlc" doc language --format=markdown >"$folder/words.md"

# One page per library, and a list of them.
mkdir -p "$folder/library"
{
    printf '# The standard library\n\nMade from the sources in `stdlib/` by `make docs`. `mdlc doc NAME` prints the same in the terminal, also for classes of your own.\n\n'
    printf '| library | what it has |\n|---|---|\n'
    for file in "$top"/stdlib/*.mdl; do
        name=$(basename "$file" .mdl)
        "$mdlc" doc "$name" --format=markdown >"$folder/library/$name.md"
        printf '| [%s](%s.md) | %s |\n' "$name" "$name" "$("$mdlc" doc | sed -n "s/^$name  *//p")"
    done
    printf '\nThe package `Modelica` has the names that models written for the Modelica Standard Library use (%s).\n' \
        '`mdlc doc Modelica.Blocks.Math`, for example; [modelica.md](../modelica.md)'
} >"$folder/library/README.md"
