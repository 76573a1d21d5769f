#!/bin/sh
# Runs every fuzz target for a short while with the driver of its own. usage: tests/fuzz/run.sh BUILD RUNS SEED
# What once went wrong (tests/fuzz/found) runs unchanged, first.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
MDLC_FUZZ_LIBRARY=$top/stdlib
export MDLC_FUZZ_LIBRARY
status=0
runs=$2
seed=$3
# usage: fuzz TARGET FOLDER...
fuzz() {
    program=$build/tests/fuzz/$1
    shift
    "$program" 0 "$seed" "$top/tests/fuzz/found" && "$program" "$runs" "$seed" "$@" || status=1
}
fuzz scan "$top/tests/parse" "$top/tests/fmt" "$top/tests/errors"
fuzz parse "$top/tests/parse" "$top/tests/fmt" "$top/tests/errors"
fuzz flat_text "$top/tests/pass"
fuzz programs_text "$top/tests/programs"
fuzz flatten "$top/tests/elab" "$top/tests/errors" "$top/tests/show" "$top/tests/sim"
exit $status
