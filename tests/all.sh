#!/bin/sh
# The suite on the ordinary and on the sanitizer build; one closing line for both.
# usage: tests/all.sh BUILD SANITIZER_BUILD
set -u
here=$(dirname "$0")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0
for build in "$1" "$2"; do
    echo "== $build"
    "$here/shards.sh" "$build" >"$log" 2>&1
    sed '$d' "$log"
    last=$(tail -n 1 "$log")
    case "$last" in
    *" passed, "*" failed") ;;
    *) last="0 passed, 1 failed" ;;
    esac
    passed=$((passed + ${last%% passed*}))
    count=${last##*, }
    failed=$((failed + ${count%% failed}))
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
