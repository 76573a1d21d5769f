#!/bin/sh
# The long run of every fuzz target. usage: tests/fuzz/long.sh SECONDS JOBS
#
# Where clang has libFuzzer it is used, with ASan and UBSan and coverage of the compiler, SECONDS for each target; what it
# learns stays in build/fuzz/corpus. Otherwise tests/fuzz/driver.c runs RUNS inputs from seed SEED on the ASan build.
# An input that fails is left in the current folder; it belongs into tests/fuzz/found/TARGET once what it shows is mended.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
# Nothing added to a null pointer is null, which C did not promise before C2y and all compilers keep.
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=pointer-overflow"

# The compiler that has libFuzzer, or nothing.
find_clang() {
    for name in ${FUZZ_CLANG:-clang-19 clang-18 clang-17 clang-16 clang}; do
        echo 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return !data && size; }' |
            "$name" -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null && echo "$name" && return
    done
}

# usage: fuzz TARGET FOLDER...
fuzz() {
    target=$1
    shift
    corpus=$build/corpus/$target
    mkdir -p "$corpus"
    "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=100 -rss_limit_mb=2500 -malloc_limit_mb=1500 -max_len=20000 \
        -dict="$build/words.dict" -artifact_prefix="fuzz-$target-" -print_final_stats=1 -verbosity=0 "$corpus" "$@" >"$build/$target.log" 2>&1 &&
        echo "ok $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log") inputs" || {
        echo "FAIL $target, see $build/$target.log"
        status=1
    }
}

seconds=$1
build=$top/build/fuzz
clang=$(find_clang || true)
if [ -z "$clang" ]; then
    make -C "$top" -j"$2" BUILD=build/asan OPT="-O1 -g" SAN="-fsanitize=address,undefined -fno-sanitize-recover=undefined" fuzz-targets
    exec "$top/tests/fuzz/run.sh" "$top/build/asan" "${RUNS:-100000}" "${SEED:-1}"
fi
make -C "$top" -j"$2" BUILD=build/fuzz CC="${CCACHE:-} $clang" OPT="-O1 -g" SAN="$sanitizers -fsanitize=fuzzer-no-link" LINK_FUZZER="-fsanitize=fuzzer" fuzz-targets
"$top/tests/fuzz/modelica.sh" >"$build/words.dict"
MDLC_FUZZ_LIBRARY=$top/stdlib
ASAN_OPTIONS=detect_stack_use_after_return=0
export MDLC_FUZZ_LIBRARY ASAN_OPTIONS
status=0
tests=$top/tests
found=$tests/fuzz/found
fuzz scan "$found" "$tests/parse" "$tests/fmt" "$tests/errors"
fuzz parse "$found" "$tests/parse" "$tests/fmt" "$tests/errors"
fuzz flat_text "$found" "$tests/pass"
fuzz programs_text "$found" "$tests/programs"
fuzz flatten "$found" "$tests/elab" "$tests/errors" "$tests/show" "$tests/sim" "$tests/language"
exit $status
