#!/bin/sh
# Runs every fuzz target. usage: tests/fuzz/run.sh BUILD RUNS SEED
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
MDLC_FUZZ_LIBRARY=$top/stdlib
export MDLC_FUZZ_LIBRARY
status=0
"$build/tests/fuzz/parse" "$2" "$3" "$top/tests/parse" "$top/tests/fmt" "$top/tests/errors" || status=1
"$build/tests/fuzz/flat_text" "$2" "$3" "$top/tests/pass" || status=1
"$build/tests/fuzz/flatten" "$2" "$3" "$top/tests/elab" "$top/tests/errors" "$top/tests/show" "$top/tests/sim" || status=1
exit $status
