#!/bin/sh
# The test runner. usage: tests/run.sh BUILD [PATTERN]
# CLAIMS=FOLDER takes the cases that no other runner with the same folder has taken: tests/shards.sh has one for each processor.
#
# A case is a file; what kind it is follows from the folder:
#   parse/N.mdl|.mo  + N.ast    mdlc show ast prints N.ast
#   fmt/N.mdl        + N.fmt    mdlc fmt makes N.fmt of it, and nothing more the second time
#   errors/N.mdl|.mo + N.err    mdlc check exits with 1 (or the number in N.exit) and prints N.err
#   elab/N.mdl       + N.flat   mdlc show flat prints N.flat
#   show/N.mdl       + N.WHAT   mdlc show WHAT prints N.WHAT, for every such file
#   pass/N.dae       + N.WHAT   the same for a flat model as text (docs/ir.md): the passes without the front end;
#                    + N.err    mdlc check exits with 1 (or the number in N.exit) and prints N.err
#   programs/N.sys              the same for programs as text: back ends compute what the comments of the file say (tests/tools/programs.c);
#                    + N.err    the text is refused with N.err
#   sim/N.check, cli/N.check    a shell script that uses the functions below; its exit status decides
#   forms/N.options, N.skip, N.values, N.sanitized   see run_forms below
#   language/CHAPTER/N.mdl|.mo  one rule of the language specification; tests/tools/rules.c says what its comments mean
#   ir/N.c runtime/N.c backend/N.c   programs (built by make) that print "ok" and "FAIL" lines; one that was not built is a failure
#   fmi/N.py         units in FMPy, an importer of other people (make importer): programs that print "ok" and "FAIL" lines. Without it, and with
#                    the sanitizers, which an importer does not have, SKIP is printed for each and nothing is counted
#   python/test_N.py the Python package by pytest, and python/mdlc the examples in its text; skipped likewise
#   layers/rooms     tests/layers.sh finds nothing: includes and symbols are as tests/rooms says
# TIMES=FILE gathers what each case takes of processor time (`sort -rn FILE`): what makes the suite long is seen there.
# UPDATE=1 rewrites expected files instead of comparing: read the difference before committing it.
# The last line is `N passed, M failed`.
set -u
build=$(cd "$1" && pwd)
pattern=${2:-}
top=$(cd "$(dirname "$0")/.." && pwd)
mdlc=$build/mdlc
csvcheck=$build/tests/tools/csvcheck
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
export MDLC_VERIFY=1 MDLC_CHECK=steps NO_COLOR=1
# What the sanitizers look for does not depend on how often a step is checked, nor on a tolerance: the ordinary build compares
# numbers, this one takes less of them where a case asks `if sanitized`. Freed memory is kept for a while, not for the whole of a
# run, and whole mechanisms are verified after each pass by the ordinary build only: a quarter of the time went into both.
sanitized=false
if nm "$mdlc" 2>/dev/null | grep -q __asan_init; then
    sanitized=true
    export MDLC_CHECK=rows ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=16:malloc_context_size=8}"
fi
verified() { # CASE
    if $sanitized; then
        case "$1" in sim/* | cli/* | forms/*) unset MDLC_VERIFY ;; *) export MDLC_VERIFY=1 ;; esac
    fi
}

# A case is claimed by making a file that must not exist yet, which no two runners can do both.
case_number=0
chosen() {
    case "$1" in *"$pattern"*) ;; *) return 1 ;; esac
    verified "$1"
    [ -n "${CLAIMS:-}" ] || { note_time "$1"; return 0; }
    case_number=$((case_number + 1))
    set -C
    { true >"$CLAIMS/$case_number"; } 2>/dev/null
    claimed=$?
    set +C
    [ $claimed -eq 0 ] && note_time "$1"
}

# What the case before NAME took of processor time, in seconds, as a line of the file TIMES.
case_before='' spent_before=0
note_time() {
    [ -n "${TIMES:-}" ] || return 0
    times >"$work/times"
    spent=$(awk 'NR == 2 { gsub(/[ms]/, " "); printf "%.2f", $1 * 60 + $2 + $3 * 60 + $4 }' "$work/times")
    [ -n "$case_before" ] && awk "BEGIN { printf \"%8.2f %s\\n\", $spent - $spent_before, \"$case_before\" }" >>"$TIMES"
    case_before=$1 spent_before=$spent
}

pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$1"
    if [ -n "${2:-}" ] && [ -s "$2" ]; then
        # The beginning and the end, where scripts say what did not hold.
        awk '{ line[NR] = $0 } END { for (i = 1; i <= NR; i++) if (i <= 20 || i > NR - 40) print "    " line[i]; else if (i == 21) print "    ..." }' "$2"
    fi
}

# golden NAME EXPECTED ACTUAL
golden() {
    if [ "${UPDATE:-0}" = 1 ]; then
        cp "$3" "$2"
        pass
    elif diff -u "$2" "$3" >"$work/diff" 2>&1; then
        pass
    else
        fail "$1" "$work/diff"
    fi
}

# Is anything beside a source that says what is expected of it? A case that expects nothing would count as nothing.
expects() { # SOURCE ENDING
    for beside in "${1%."$2"}".*; do
        [ "$beside" = "$1" ] || return 0
    done
    return 1
}

run_parse() {
    for expected in "$top"/tests/parse/*.ast; do
        [ -e "$expected" ] || continue
        name=${expected##*/} name=${name%.ast}
        chosen "parse/$name" || continue
        source=$name.mdl
        [ -e "$top/tests/parse/$source" ] || source=$name.mo
        (cd "$top/tests/parse" && "$mdlc" show ast "$source") >"$work/out" 2>"$work/err"
        golden "parse/$name" "$expected" "$work/out"
    done
}

run_fmt() {
    for expected in "$top"/tests/fmt/*.fmt; do
        [ -e "$expected" ] || continue
        name=${expected##*/} name=${name%.fmt}
        chosen "fmt/$name" || continue
        source=$name.mdl
        [ -e "$top/tests/fmt/$source" ] || source=$name.mo
        cp "$top/tests/fmt/$source" "$work/$source"
        "$mdlc" fmt "$work/$source" >"$work/err" 2>&1
        golden "fmt/$name" "$expected" "$work/$source"
        if "$mdlc" fmt --check "$work/$source" >"$work/err" 2>&1; then
            pass
        else
            fail "fmt/$name: a second run changes it again" "$work/err"
        fi
    done
}

run_errors() {
    for source in "$top"/tests/errors/*.mdl "$top"/tests/errors/*.mo; do
        [ -e "$source" ] || continue
        file=${source##*/}
        name=${file%.*}
        chosen "errors/$name" || continue
        want=1
        [ -e "$top/tests/errors/$name.exit" ] && want=$(cat "$top/tests/errors/$name.exit")
        call="check"
        [ -e "$top/tests/errors/$name.call" ] && call=$(cat "$top/tests/errors/$name.call")
        # shellcheck disable=SC2086
        (cd "$top/tests/errors" && timeout 60 "$mdlc" $call "$file") >"$work/out" 2>"$work/full"
        got=$?
        sed "s|$top/||g" "$work/full" >"$work/err" # places in the standard library
        if [ "$got" != "$want" ]; then
            fail "errors/$name: exit status $got, expected $want" "$work/err"
        else
            [ -e "$top/tests/errors/$name.err" ] || : >"$work/none"
            golden "errors/$name" "$top/tests/errors/$name.err" "$work/err"
        fi
    done
}

run_views() {
    for source in "$top"/tests/elab/*.mdl "$top"/tests/show/*.mdl; do
        [ -e "$source" ] || continue
        folder=${source%/*} folder=${folder##*/}
        name=${source##*/} name=${name%.mdl}
        expects "$source" mdl || { chosen "$folder/$name" && fail "$folder/$name: there is no $name.WHAT of mdlc show beside it"; continue; }
        for expected in "$top/tests/$folder/$name".*; do
            what=${expected##*.}
            case "$what" in mdl | check) continue ;; esac
            chosen "$folder/$name.$what" || continue
            (cd "$top/tests/$folder" && "$mdlc" show "$what" "$name.mdl") >"$work/full" 2>"$work/err"
            status=$?
            sed "s|$top/||g" "$work/full" >"$work/out" # places in the standard library
            if [ $status -ne 0 ]; then
                fail "$folder/$name.$what: exit status $status" "$work/err"
            else
                golden "$folder/$name.$what" "$expected" "$work/out"
            fi
        done
    done
}

run_passes() {
    for source in "$top"/tests/pass/*.dae; do
        name=${source##*/} name=${name%.dae}
        expects "$source" dae || { chosen "pass/$name" && fail "pass/$name: beside it is neither $name.err nor a $name.WHAT of mdlc show"; continue; }
        for expected in "$top/tests/pass/$name".*; do
            what=${expected##*.}
            case "$what" in dae | exit) continue ;; esac
            chosen "pass/$name.$what" || continue
            want=0 call="show $what"
            [ "$what" = err ] && want=1 call=check
            [ "$what" = err ] && [ -e "$top/tests/pass/$name.exit" ] && want=$(cat "$top/tests/pass/$name.exit")
            # shellcheck disable=SC2086
            (cd "$top/tests/pass" && timeout 60 "$mdlc" $call "$name.dae") >"$work/out" 2>&1
            status=$?
            if [ $status -ne $want ]; then
                fail "pass/$name.$what: exit status $status" "$work/out"
            else
                golden "pass/$name.$what" "$expected" "$work/out"
            fi
        done
    done
}

run_programs_text() {
    for source in "$top"/tests/programs/*.sys; do
        name=${source##*/} name=${name%.sys}
        chosen "programs/$name" || continue
        want=0
        [ -e "$top/tests/programs/$name.err" ] && want=1
        (cd "$top/tests/programs" && timeout 60 "$build/tests/tools/programs" "$name.sys") >"$work/out" 2>&1
        status=$?
        if [ $status -ne $want ]; then
            fail "programs/$name: exit status $status" "$work/out"
        elif [ $want = 1 ]; then
            golden "programs/$name" "$top/tests/programs/$name.err" "$work/out"
        else
            pass
        fi
    done
}

# --- for .check scripts. Each function fails the script (set -e) when its assertion does not hold.
cat >"$work/functions.sh" <<EOF
set -eu
mdlc=$mdlc
csvcheck=$csvcheck
top=$top
data=$top/tests/data
work=$work/case
sanitized() { $sanitized; } # whether this is the build with sanitizers
EOF
cat >>"$work/functions.sh" <<'EOF'
# run MODEL [options]: simulates into $work/out.csv
run() { model=$1; shift; "$mdlc" run "$model" -o "$work/out.csv" "$@"; }
# same_engines MODEL [options]: both engines give the same file to the last bit
same_engines() {
    model=$1; shift
    "$mdlc" run "$model" -o "$work/llvm.csv" --engine llvm "$@"
    "$mdlc" run "$model" -o "$work/interp.csv" --engine interp "$@"
    cmp "$work/llvm.csv" "$work/interp.csv"
}
near() { "$csvcheck" near "$work/out.csv" "$@"; }
switches() { "$csvcheck" switch "$work/out.csv" "$@"; }
stick() { "$csvcheck" stick "$work/out.csv" "$@"; }
final() { "$csvcheck" final "$work/out.csv" "$@"; }
bound() { "$csvcheck" bound "$work/out.csv" "$@"; }
rows() { "$csvcheck" rows "$work/out.csv" "$@"; }
# status WANTED COMMAND...: the command ends with this exit status; its output is in $work/stdout and $work/stderr
status() {
    wanted=$1; shift
    set +e; "$@" >"$work/stdout" 2>"$work/stderr"; got=$?; set -e
    if [ "$got" != "$wanted" ]; then echo "exit status $got, expected $wanted: $*"; cat "$work/stderr"; return 1; fi
}
# says TEXT: the last command's output contains it
says() {
    grep -qF -- "$1" "$work/stdout" "$work/stderr" && return 0
    echo "output lacks: $1"; cat "$work/stdout" "$work/stderr"; return 1
}
# until_true COMMAND...: waits until it succeeds, for a minute at most: what another process does takes its time on a machine in use
until_true() {
    for tenth in $(seq 600); do
        "$@" && return 0
        sleep 0.1
    done
    echo "not within a minute: $*"; return 1
}
has_bytes() { [ -e "$1" ] && [ "$(wc -c <"$1")" -ge "$2" ]; }
has_lines() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; }
# Of the JSON that mdlc linearize or steady printed last. eigenvalue REAL IMAGINARY TOLERANCE: there is one such (of a pair that
# with positive imaginary part). entry MATRIX ROW COLUMN VALUE TOLERANCE, from 1 on.
eigenvalue() {
    awk -v re="$1" -v im="$2" -v tol="$3" '/"real": / {
        real = imag = $0; sub(/.*"real": /, "", real); sub(/.*"imag": /, "", imag)
        if ((real - re)^2 + (imag - im)^2 <= tol^2) found = 1 } END { exit !found }' "$work/stdout" ||
        { echo "no eigenvalue $1 +- $2 i"; grep -o '"real": [^,]*, "imag": [^,]*' "$work/stdout"; return 1; }
}
entry() {
    awk -v name="  \"$1\": [" -v row="$2" -v column="$3" -v want="$4" -v tol="$5" 'index($0, name) == 1 { at = NR }
        at && NR == at + row { gsub(/[][,]/, " "); d = $column - want; exit found = !($column != "" && d <= tol && -d <= tol) }
        END { exit found }' found=1 "$work/stdout" && return 0
    echo "entry $2,$3 of $1 is not $4"; cat "$work/stdout"; return 1
}
EOF

run_checks() {
    for script in "$top"/tests/sim/*.check "$top"/tests/cli/*.check; do
        [ -e "$script" ] || continue
        name=${script#"$top/tests/"} name=${name%.check}
        chosen "$name" || continue
        rm -rf "$work/case"
        mkdir "$work/case"
        cat "$work/functions.sh" "$script" >"$work/script.sh"
        if (cd "$(dirname "$script")" && timeout 300 sh "$work/script.sh") >"$work/out" 2>&1; then
            pass
            sed -n "s|^SKIP: |SKIP $name: |p" "$work/out"
            [ "${VERBOSE:-0}" = 1 ] && sed "s|^|$name: |" "$work/out"
        else
            fail "$name" "$work/out"
        fi
    done
}

# The causal and the DAE form of every example and every model in sim/ have the same trajectories and events. Where one fails,
# as models made to fail do, so does the other. forms/FOLDER_NAME.options has options, .sanitized more of them for
# the sanitizers, by which a model is smaller; .skip says why it is left out; .values
# says why events are not compared, but the values between them. With the sanitizers only the DAE form runs, for what they tell.
run_forms() {
    for model in "$top"/examples/*/*.mdl "$top"/tests/sim/*.mdl; do
        folder=${model%/*} name=${model##*/} name=${folder##*/}_${name%.mdl}
        [ -e "$top/tests/forms/$name.skip" ] && continue
        chosen "forms/$name" || continue
        options=$(cat "$top/tests/forms/$name.options" 2>/dev/null)
        $sanitized && options="$options $(cat "$top/tests/forms/$name.sanitized" 2>/dev/null)"
        apart=1e-6
        [ -e "$top/tests/forms/$name.values" ] && apart=any
        if $sanitized; then
            # shellcheck disable=SC2086
            timeout 250 "$mdlc" run "$model" --solver ida --tol 1e-6 $options --form dae -o "$work/dae.csv" >"$work/said" 2>&1
            status=$?
            if [ $status -gt 4 ] || grep -q 'Sanitizer:\|runtime error:' "$work/said"; then
                fail "forms/$name: exit status $status" "$work/said"
            else
                pass
            fi
            continue
        fi
        causal=0 dae=0
        for form in causal dae; do
            # shellcheck disable=SC2086
            timeout 250 "$mdlc" run "$model" --solver ida --tol 1e-9 $options --form $form -o "$work/$form.csv" >"$work/$form.said" 2>&1 ||
                eval "$form=\$?"
        done
        if [ $causal -ne $dae ] || [ $dae -eq 124 ]; then
            cat "$work/causal.said" "$work/dae.said" >"$work/said"
            fail "forms/$name: exit status $causal and $dae" "$work/said"
        elif [ $dae -ne 0 ] || "$csvcheck" agree "$work/causal.csv" "$work/dae.csv" 1e-5 1e-6 $apart >"$work/said" 2>&1; then
            pass
        else
            fail "forms/$name" "$work/said"
        fi
    done
}

run_programs() {
    for source in "$top"/tests/ir/*.c "$top"/tests/runtime/*.c "$top"/tests/backend/*.c; do
        [ -e "$source" ] || continue
        name=${source#"$top/tests/"} name=${name%.c}
        program=$build/tests/$name
        chosen "$name" || continue
        [ -x "$program" ] || { fail "$name: the program was not built: make programs"; continue; }
        (cd "$top" && timeout 300 "$program") >"$work/out" 2>&1
        count_lines "$name" $?
    done
}

# count_lines NAME STATUS: the lines "ok" and "FAIL" that a program has printed
count_lines() {
    good=$(grep -c '^ok' "$work/out")
    bad=$(grep -c '^FAIL' "$work/out")
    passed=$((passed + good))
    if [ "$bad" -gt 0 ] || [ "$2" -ne 0 ] || [ "$good" -eq 0 ]; then
        [ "$bad" -gt 1 ] && failed=$((failed + bad - 1))
        grep -v '^ok' "$work/out" >"$work/bad"
        fail "$1 (exit status $2)" "$work/bad"
    fi
}

# $FMPY is a Python that has FMPy; the one that `make importer` installs it for otherwise.
run_importers() {
    python=${FMPY:-$top/build/importer/bin/python}
    for source in "$top"/tests/fmi/*.py; do
        name=fmi/$(basename "$source" .py)
        [ "$name" != fmi/importer ] || continue
        chosen "$name" || continue
        if $sanitized || ! "$python" -c "import fmpy" 2>/dev/null; then
            printf 'SKIP %s: %s\n' "$name" "$($sanitized && echo "importers do not have the sanitizers" || echo "there is no FMPy (make importer)")"
            continue
        fi
        rm -rf "$work/case"
        mkdir "$work/case"
        # What is read behind its end is no number by chance; but memory that is filled counts as used, where its size is measured.
        perturb=165
        [ "$name" = fmi/instances ] && perturb=0
        (cd "$top/tests/fmi" && BUILD=$build WORK=$work/case PYTHONDONTWRITEBYTECODE=1 MALLOC_PERTURB_=$perturb timeout 600 "$python" "$source") >"$work/out" 2>&1
        status=$?
        # It may need what is not there.
        grep '^SKIP ' "$work/out" && [ "$status" -eq 0 ] && ! grep -q '^ok\|^FAIL' "$work/out" && continue
        count_lines "$name" "$status"
    done
}

# The same Python, where it has pytest.
run_python() {
    python=${FMPY:-$top/build/importer/bin/python}
    for source in "$top"/tests/python/test_*.py "$top/frontend/python/mdlc"; do
        name=python/$(basename "$source" .py)
        chosen "$name" || continue
        if $sanitized || ! "$python" -c "import pytest, numpy" 2>/dev/null; then
            printf 'SKIP %s: %s\n' "$name" "$($sanitized && echo "Python does not have the sanitizers" || echo "there is no pytest (make importer)")"
            continue
        fi
        rm -rf "$work/case"
        mkdir "$work/case"
        if (cd "$work/case" && env -u MDLC_CHECK -u MDLC_VERIFY BUILD="$build" MDLC="$mdlc" MDLC_CACHE="$work/case/cache" PYTHONPATH="$top/frontend/python" \
            PYTHONDONTWRITEBYTECODE=1 timeout 300 "$python" -m pytest -q -p no:cacheprovider --rootdir="$top" --doctest-modules "$source") >"$work/out" 2>&1; then
            pass
        else
            fail "$name" "$work/out"
        fi
    done
}

# One process checks the files that this runner has claimed, forty at a time: a rule takes milliseconds.
run_language() {
    set --
    for source in "$top"/tests/language/*/*.mdl "$top"/tests/language/*/*.mo; do
        [ -e "$source" ] || continue
        name=${source#"$top/tests/"}
        chosen "${name%.*}" && set -- "$@" "$source"
        [ $# -lt 40 ] || { check_rules "$@"; set --; }
    done
    [ $# -eq 0 ] || check_rules "$@"
}

check_rules() {
    "$build/tests/tools/rules" "$top/stdlib" "$@" >"$work/out" 2>&1
    good=$(grep -c '^ok ' "$work/out")
    passed=$((passed + good))
    failed=$((failed + $# - good))
    grep -v '^ok ' "$work/out"
}

# A short run of the fuzz targets; `make fuzz` is the long one.
run_fuzz() {
    chosen fuzz/short || return
    (cd "$work" && "$top/tests/fuzz/run.sh" "$build" "${FUZZ_RUNS:-150}" 1) >"$work/out" 2>&1 && pass || fail fuzz/short "$work/out"
}

run_layers() {
    chosen layers/rooms || return
    "$top/tests/layers.sh" "$build" >"$work/out" 2>&1 && pass || fail layers/rooms "$work/out"
}

run_layers
run_programs
run_fuzz
run_parse
run_fmt
run_errors
run_language
run_views
run_passes
run_programs_text
run_checks
run_importers
run_python
run_forms
note_time end
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
