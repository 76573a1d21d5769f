#!/bin/sh
# Writes what the tables in the source say: `make docs`, and tests/cli/docs.check compares.
# usage: docs/generate.sh MDLC FOLDER    FOLDER receives passes.md (its table renewed) and diagnostics.md
set -eu
mdlc=$1
folder=$2
top=$(cd "$(dirname "$0")/.." && pwd)
table=$(mktemp)
trap 'rm -f "$table" "$table.md"' EXIT

"$mdlc" show passes >"$table"
awk -v table="$table" '
    /^<!-- end of the table/ { inside = 0 }
    !inside { print }
    /^<!-- begin of the table/ { inside = 1; while ((getline line < table) > 0) print line }
' "$top/docs/passes.md" >"$table.md"
cp "$table.md" "$folder/passes.md"

{
    printf '# Diagnostics\n\nMade from `ir/base/diag.def` by `make docs`.\n\n| code | severity | meaning |\n|---|---|---|\n'
    sed -nE 's/^DIAG\(([EW][0-9]+), SEVERITY_([A-Z]+), "(.*)"\)$/| \1 | \2 | \3 |/p' "$top/ir/base/diag.def" |
        sed -E 's/\| ERROR \|/| error |/; s/\| WARNING \|/| warning |/; s/\\"/"/g' | sort
} >"$folder/diagnostics.md"
