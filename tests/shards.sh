#!/bin/sh
# Runs the suite with as many runners as there are processors, each taking the next case when it is free; the same output, in
# parts, and one closing line.
# usage: tests/shards.sh BUILD [PATTERN]
set -u
here=$(dirname "$0")
shards=${JOBS:-$(nproc)}
logs=$(mktemp -d)
claims=$(mktemp -d)
trap 'rm -rf "$logs" "$claims"' EXIT
k=1
while [ "$k" -le "$shards" ]; do
    CLAIMS=$claims "$here/run.sh" "$@" >"$logs/$k" 2>&1 &
    k=$((k + 1))
done
wait
passed=0
failed=0
for log in "$logs"/*; do
    sed '$d' "$log"
    last=$(tail -n 1 "$log")
    case "$last" in
    *" passed, "*" failed") ;;
    *)
        echo "$last"
        last="0 passed, 1 failed"
        ;;
    esac
    passed=$((passed + ${last%% passed*}))
    count=${last##*, }
    failed=$((failed + ${count%% failed}))
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
