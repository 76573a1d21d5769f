#!/bin/sh
# Benchmarks: one table in Markdown. usage: tests/bench/run.sh BUILD
# Times are processor time unless "clock" is said: they change less with what else the machine does. Instructions
# are counted by callgrind and do not change with it at all. Peers are hand-written C in tests/bench/peer_*.c. Nothing
# here asserts a time: a goal that is missed says so in its row.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
mdlc=$build/mdlc measure=$build/tests/tools/measure models=tests/bench/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

row() { # WHAT RESULT [GOAL VERDICT]
    printf '| %s | %s | %s | %s |\n' "$1" "$2" "${3:-}" "${4:-}"
}

title() { # TEXT
    printf '\n### %s\n\n| what | measured | goal | |\n|---|---|---|---|\n' "$1"
}

calc() { # FORMAT EXPRESSION
    awk "BEGIN { printf \"$1\", $2 }" 2>"$work/awk" || echo "no figure"
}

judge() { # CONDITION: met or missed
    awk "BEGIN { print ($1) ? \"met\" : \"**missed**\" }" 2>"$work/awk" || echo "**failed**"
}

field() { # NAME: a member of the statistics of the last run
    tr -d '{}" \n' <"$work/stats" | tr ',' '\n' | sed -n "s/^$1://p"
}

# Sets median, least (ms by the clock), peak (MB), cpu (ms); statistics of mdlc are left for `field`.
timed() { # RUNS COMMAND...
    figures=$("$measure" -o "$work/stats" "$@" 2>"$work/said") || figures="nan nan nan nan"
    # shellcheck disable=SC2086
    set -- $figures
    median=$1 least=$2 peak=$3 cpu=$4
}

whole() { # NAME RUNS COMMAND...
    name=$1
    shift
    timed "$@"
    row "$name" "$(calc '%.1f ms, clock %.1f ms, %.0f MB' "$cpu, $median, $peak")" "$goal" \
        "$(if [ "$goal" ]; then judge "$cpu <= $limit"; fi)"
    goal=""
}

# Source to the first steps, for growing sizes: the exponent is fitted by least squares through (log n, log ms). What the user
# waits for is judged, by the clock; the processor time of all threads stands beside it, and is what the exponent is fitted to.
growth() { # TITLE FILE EQUATIONS-PER-N
    : >"$work/growth"
    for n in 1000 10000 100000 1000000; do
        runs=3
        [ $n -ge 100000 ] && runs=0
        timed $runs "$mdlc" run "$2" --set n=$n --stop 1e-3 --tol 1e-4 --stats=json -o "$work/chain.csv" \
            --vars '^(cell.1..)?T(.1.)?$'
        echo "$n $cpu" >>"$work/growth"
        row "$1, n = $n: source to running" "$(calc 'clock %.3f s, processors %.3f s, %.0f MB' "$median/1000, $cpu/1000, $peak")" \
            "$([ $n -lt 1000000 ] || echo "10 s by the clock, 4 GB")" \
            "$([ $n -lt 1000000 ] || judge "$median <= 10000 && $peak <= 4096")"
    done
    row "$1: memory per equation, n = $n" "$(calc '%.0f bytes' "$peak*1048576/($3*$n)")" "2,000 bytes" \
        "$(judge "$peak*1048576/($3*$n) <= 2000")"
    exponent=$(awk '{ x = log($1); y = log($2); sx += x; sy += y; xx += x*x; xy += x*y }
        END { printf "%.2f", (NR*xy - sx*sy)/(NR*xx - sx*sx) }' "$work/growth")
    row "$1: exponent of time from n = 1000" "$exponent" 1.1 "$(judge "$exponent <= 1.1")"
}

# Other kinds of large models: the exponent between n and 10 n, of processor time.
kinds() {
    title "Growth of other models: check"
    for of in "Line 10000" "ThermalGrid 10000" "Net 10000" "Train 10000" "Buffers 10000" "Counters 10000" "Records 10000" \
        "Sections 2000" "Linkages 200" "Gears 10000" "Oscillators 100000" "Unlike 10000" "Tree 10000" "Star 10000" "Mean 10000" "Clutches 10000" "Loops 10000" \
        "Sampled 10000" "Delays 10000" "Looked 10000" "Machines 10000" "Diodes 10000" "Swinging 1000"; do
        n=${of#* }
        timed 1 "$mdlc" check $models/kinds.mdl -m "${of% *}" --set n="$n"
        less=$cpu
        timed 0 "$mdlc" check $models/kinds.mdl -m "${of% *}" --set n="${n}0"
        exponent=$(calc %.2f "log($cpu/$less)/log(10)")
        row "${of% *}, n = $n and ${n}0" "$(calc '%.3f s, %.3f s' "$less/1000, $cpu/1000"), exponent $exponent, $(calc %.0f "$peak") MB" \
            1.1 "$(judge "$exponent <= 1.1")"
    done
}

own_literals() {
    awk 'BEGIN {
        print "model Part\n  parameter Real p = 1;"
        for (i = 0; i < 50; i++) print "  Real x" i (i % 5 ? "" : "(start = 0, fixed = true)") ";"
        print "equation"
        for (i = 0; i < 50; i++) print i % 5 ? "  x" i " = p*sin(x" i - 1 ") + " i ";" : "  der(x" i ") = x" i + 1 " - p*x" i ";"
        print "end Part;\nmodel OwnLiterals"
        for (i = 1; i <= 10000; i++) print "  Part part" i "(p = " 1 + i/10000 ");"
        print "end OwnLiterals;" }'
}

large() {
    title "Large models"
    growth "heat chain, loop" examples/heat_chain/loop.mdl 1
    growth "heat chain, components" examples/heat_chain/components.mdl 3
    timed 0 "$mdlc" run examples/heat_chain/loop.mdl --set n=1000000 --tol 1e-4 --stop 1 --points 1 \
        -o "$work/chain.csv" --vars '^T.1.$' --stats=json
    row "heat chain, loop, n = 1000000, 1 s at tol 1e-4" \
        "$(calc '%.1f s, clock %.1f s, %.0f MB' "$cpu/1000, $median/1000, $peak"), $(field steps) steps" "simulates" \
        "$(judge "$(field steps) > 0")"
    goal="" limit=0
    whole "10,000 components of 50 equations: check" 0 "$mdlc" check $models/many_parts.mdl
    own_literals >"$work/own.mdl"
    goal="2 s, 500 MB" limit=2000
    whole "10,000 components of 50 written equations, each with a literal of its own: flattened" 0 "$mdlc" show ir --after=variability "$work/own.mdl"
    goal="5 s" limit=5000
    whole "resistive grid 200 x 200: check" 0 "$mdlc" check $models/resistive_grid.mdl --set n=200
    whole "the same: compile and run 1 s" 0 "$mdlc" run $models/resistive_grid.mdl --set n=200 \
        -o "$work/grid.csv" --vars '^load.v$'
    goal="2 s" limit=2000
    whole "RC ladder of 4,000 sections: compile and run 10 s" 3 "$mdlc" run $models/rc_ladder.mdl --set n=4000 \
        -o "$work/ladder.csv" --vars '^C.4000..v$'
    goal="1.5 s" limit=1500
    whole "chain of 64 spatial bodies: source to first steps" 3 "$mdlc" run $models/spatial_chain.mdl --set n=64 \
        --stop 1e-6 -o "$work/bodies.csv" --vars '^joint.1..phi$'
}

# One evaluation of the derivatives of a chain of bodies in space: the difference of two runs with erk, of which one is ten times as
# long, without their compilation (by the clock: at rest only). PIN names a Python that has Pinocchio (pip install pin), whose articulated-body algorithm is then timed beside it.
mechanisms() {
    title "Mechanisms: operations and time of one evaluation"
    for n in 6 8 16 32 64; do
        operations=$("$mdlc" show stats $models/spatial_chain.mdl --set n=$n 2>"$work/said" | tee "$work/stats" | sed -n 's/^operations per right-hand side \([0-9]*\).*/\1/p')
        computed=$(sed -n 's/^with equal parts computed once //p' "$work/stats")
        row "chain of $n spatial bodies: operations per body, as written" "$(calc %.0f "$operations/$n")" 900 "$(judge "$operations <= 900*$n")"
        row "the same, as computed" "$(calc %.0f "$computed/$n")"
        before="" residuals=""
        for stop in 2 20; do
            timed 0 "$mdlc" run $models/spatial_chain.mdl --set n=$n --solver=erk --check=off --stop $stop --interval $stop --stats=json \
                -o "$work/bodies.csv" --vars '^joint.1..phi$'
            ran=$(field run_seconds)
            spent=$(calc %.3f "($ran - ${before:-0})*1e6/($(field residuals) - ${residuals:-0})")
            before=$ran residuals=$(field residuals)
        done
        aba=""
        [ -z "${PIN:-}" ] || aba=$("$PIN" tests/bench/pinocchio_chain.py $n)
        row "chain of $n spatial bodies: one evaluation" "$(calc '%.1f us' "$spent")${aba:+; Pinocchio $aba us}" \
            "${aba:+1.5 times Pinocchio}" "${aba:+$(judge "$spent <= 1.5*${aba:-0}")}"
    done
}

# Generated and hand-written code run in turn, twice; the least time of each counts. Compiling is taken off the
# generated one's. IDA as packaged takes long and runs once. What is compared of the results is the front.
# A nonlinear loop of all flows and pressures of a net: the time of one solution.
nets() {
    title "Nets of pipes, n x n nodes: one solution of the loop"
    former=""
    for n in 10 20 40 80; do
        timed 0 "$mdlc" run $models/pipe_net.mdl --set n=$n --stop 1 --points 10 --check=off --stats=json -o "$work/net.csv" --vars '^h.1,1..a.q$'
        each=$(calc %.4f "$cpu/$(field block_solves)")
        row "n = $n: $(field block_solves) solutions, each" "$(calc '%.3f ms' "$each")${former:+, $(calc 'n^%.1f' "log($each/$former)/log(2)")}"
        former=$each
    done
}

# Rows of sines from 0 to 10: a signal with an event at each, and a curve along which the argument swings.
tables() {
    title "Tables of many rows"
    for n in 10000 100000; do
        rows=$(awk -v n=$n 'BEGIN { for (k = 0; k < n; k++) printf "%s%.5f, %.6f", k ? "; " : "", 10*k/n, sin(50*k/n) }')
        printf 'model Signal\n  Blocks.TimeTable s(table = [%s]);\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = s.y - x;\nend Signal;\n' "$rows" >"$work/Signal.mdl"
        printf 'model Curve\n  Blocks.Table1D s(table = [%s]);\n  Real x(start = 0, fixed = true);\nequation\n  s.u = 5 + 4*sin(time);\n  der(x) = s.y - x;\nend Curve;\n' "$rows" \
            >"$work/Curve.mdl"
        timed 1 "$mdlc" run "$work/Signal.mdl" --stop 1e-6 --vars '^x$' -o "$work/t.csv"
        compile=$cpu
        row "$n rows: source to running" "$(calc '%.0f ms' "$compile")" "$([ $n -lt 100000 ] || echo "50 ms")" "$([ $n -lt 100000 ] || judge "$compile <= 50")"
        timed 1 "$mdlc" run "$work/Signal.mdl" --stop 10 --stats=json --vars '^x$' -o "$work/t.csv"
        row "$n rows over time, $(field events) events: each" "$(calc '%.0f us' "1000*($cpu - $compile)/$(field events)")"
        timed 1 "$mdlc" run "$work/Curve.mdl" --stop 10 --stats=json --vars '^x$' -o "$work/t.csv"
        row "$n rows of a curve, $(field steps) steps: each" "$(calc '%.1f us' "1000*($cpu - $compile)/$(field steps)")"
    done
}

# The same run by one thread and by all, by the clock (at rest only), without compiling; then compiling alone. Rows are the same to the last bit (tests/cli/threads.check).
threads() {
    title "Threads: one, and $(nproc)"
    shared() { # WHAT MODEL OPTION...
        what=$1
        shift
        for count in 1 "$(nproc)"; do
            timed 0 "$mdlc" run "$@" --threads "$count" --points 2 --vars '^x$' --stats=json -o "$work/t.csv"
            ran=$(field run_seconds) compiled=$(field compile_ms)
            [ "$count" = 1 ] && alone=$ran compiled_alone=$compiled
        done
        row "$what: run" "$(calc '%.2f s, %.2f s: %.2f times' "$alone, $ran, $alone/$ran")" "1.7 times" "$(judge "$alone >= 1.7*$ran")"
        row "the same: from source to machine code" "$(calc '%.2f s, %.2f s: %.2f times' "$compiled_alone/1000, $compiled/1000, $compiled_alone/$compiled")"
    }
    shared "cascade of 200,000 filters" $models/filter_cascade.mdl --set n=200000 --stop 0.002
    shared "heat chain of 300,000 cells" examples/heat_chain/loop.mdl --set n=300000 --stop 1 --solver ida
    shared "thermal grid of 102,400 nodes" $models/kinds.mdl -m ThermalGrid --set n=102400 --stop 1 --solver ida
    for matrix in "grid 320" "chain 300000" "cube 24"; do
        for count in 1 "$(nproc)"; do # the least of many times
            set -- $matrix
            "$build/tests/bench/factors" "$1" "$2" "$count" >"$work/factors" || echo "factors: failed" >&2
            again=$(sed 's/.*again \([0-9.]*\) s.*/\1/' "$work/factors") solved=$(sed 's/.*solution \([0-9.]*\) s.*/\1/' "$work/factors")
            [ "$count" = 1 ] && alone=$again solved_alone=$solved
        done
        row "matrix of a $1 of $2: factorisation" "$(calc '%.1f ms, %.1f ms: %.2f times' "1000*$alone, 1000*$again, $alone/$again")" "1.7 times" "$(judge "$alone >= 1.7*$again")"
        row "the same: solution" "$(calc '%.2f ms, %.2f ms: %.2f times' "1000*$solved_alone, 1000*$solved, $solved_alone/$solved")" "1.7 times" "$(judge "$solved_alone >= 1.7*$solved")"
    done
    awk 'BEGIN {
        n = 10000
        print "model Different"
        for (i = 1; i <= n; i++) printf "  Real x%d(start = %d/%d, fixed = true);\n", i, i, n
        print "equation"
        for (i = 1; i <= n; i++)
            printf "  der(x%d) = %s;\n", i, i % 3 == 0 ? "-x" i "*sin(x" i % n + 1 ") + 1/(1 + x" i "^2)" : i % 3 == 1 ? "cos(x" i " + x" i % n + 1 ") - exp(-x" i ")" : "x" i "*(1 - x" i ")"
        print "end Different;" }' >"$work/Different.mdl"
    shared "10,000 equations that are compiled one by one" "$work/Different.mdl" --opt 0 --stop 0.1
}

cascade() {
    n=25600 stop=0.2 front=5120
    title "Cascade of $n first-order filters, tol 1e-6, $stop s"
    timed 0 "$mdlc" run $models/filter_cascade.mdl --set n=$n --stop 1e-9 -o "$work/c.csv" --vars '^x.1.$'
    compile=$cpu ours="" hand=""
    for _ in 1 2; do
        timed 0 "$mdlc" run $models/filter_cascade.mdl --set n=$n --stop $stop --stats=json \
            -o "$work/c.csv" --vars "^x.$front.\$"
        ours=$(lesser "$(calc %.2f "$cpu - $compile")" $ours)
        one=$("$build/tests/bench/peer_filters" $n $stop)
        hand=$(lesser "$(echo "$one" | cut -d' ' -f2)" $hand)
    done
    peer "generated code" "$(field steps) $ours $(tail -n 1 "$work/c.csv" | cut -d, -f2)"
    peer "hand-written C on the same runtime" "$(echo "$one" | awk -v ms="$hand" '{ print $1, ms, $3 }')"
    peer "hand-written C on IDA as packaged" "$("$build/tests/bench/peer_filters_ida" $n $stop)"
    packaged=$ms
    peer "the same, subnormal numbers flushed" "$("$build/tests/bench/peer_filters_ida" $n $stop flush)"
    row "generated / hand-written" "$(calc %.2f "$ours/$hand")" "at most 1.1" "$(judge "$ours <= 1.1*$hand")"
    row "IDA as packaged / generated" "$(calc %.2f "$packaged/$ours")" "at least 2.5" "$(judge "$packaged >= 2.5*$ours")"
    row "the same, subnormal numbers flushed" "$(calc %.2f "$ms/$ours")" "at least 2.5" "$(judge "$ms >= 2.5*$ours")"
}

peer() { # NAME "STEPS MS FRONT"; leaves ms
    name=$1
    # shellcheck disable=SC2086
    set -- $2
    ms=${2:-nan}
    row "$name" "$(calc '%.2f s, %d steps, x at the front %.6f' "$ms/1000, ${1:-nan}, ${3:-nan}")"
}

lesser() { # A [B]
    awk "BEGIN { print (\"${2:-}\" == \"\" || $1 < ${2:-0}) ? $1 : ${2:-0} }"
}

# Incidence to blocks is index, states and causality; solving and tearing come after it. Families whose rows are random
# have no natural order: the goal of random order applies to both.
structural() {
    title "Structural passes, 10^6 equations"
    "$build/tests/bench/structural" 1000000 | awk '
        $1 == "FAIL" { print "| " $0 " | | | **failed** |" }
        /natural|random +[0-9]/ {
            n = split($0, f); if (f[n - 1] !~ /^[0-9]+$/ || f[n] !~ /[.]/) next
            order = f[n - 13]; name = f[1]; for (i = 2; i < n - 13; i++) name = name " " f[i]
            blocks = (f[n - 9] + f[n - 7] + f[n - 5])*f[n - 12]/1e9; all = f[n - 1]*f[n - 12]/1e9
            bytes = 0; for (i = n - 8; i <= n - 4; i += 2) if (f[i] + 0 > bytes) bytes = f[i] + 0
            top = f[n - 2] > bytes ? f[n - 2] : bytes
            natural = order == "natural" && name !~ /^(random|heavy tails)$/
            goal = natural ? "0.5 s, 200 bytes" : "7 s"
            met = natural ? blocks <= 0.5 && bytes <= 200 : blocks <= 7
            printf "| %s, %s order: incidence to blocks | %.2f s, %d bytes per equation; ", name, order, blocks, bytes
            printf "with tearing %.2f s, %d bytes, exponent %s | %s | %s |\n",
                all, top, f[n], goal, met ? "met" : "**missed**" }'
}

# Sets count (instructions within the simulation) and leaves the statistics for `field`. How many rows are checked against the written
# equations depends on the clock, and C by hand checks none, so that is asked for or not.
counted() { # off|rows FILE [OPTION...]
    check=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect=mdl_simulate \
        "$mdlc" run "$@" --check="$check" --stats=json -o "$work/i.csv" --vars '^(x|a|T.1.|u.1.)$' >"$work/stats" 2>"$work/said" || true
    count=$(sed -n 's/.*Collected : \([0-9]*\)$/\1/p' "$work/said")
}

# The figures are of C by hand: on IDA compiled with optimisation, and on IDA as packaged with vectorised operations.
per_step() { # NAME OPTIMISED PACKAGED FILE [OPTION...]
    name=$1 known=$2 same=$3
    shift 3
    counted rows "$@"
    checked=${count:-nan}
    counted off "$@"
    each=$(calc %.0f "${count:-nan}/$(field steps)")
    row "$name" "$each, $(field steps) steps; $(calc '%.2f of %d optimised, %.2f of %d packaged; with every row checked %.0f' \
        "$each/$known, $known, $each/$same, $same, $checked/$(field steps)")" \
        "1.15 of optimised" "$(judge "$each <= 1.15*$known")"
}

instructions() {
    title "Instructions per step of the simulation (callgrind)"
    if ! command -v valgrind >/dev/null; then
        row "all rows about instructions" "skipped: valgrind is not installed"
        return
    fi
    per_step "pendulum, 5 unknowns" 4638 7287 $models/pendulum.mdl
    per_step "Robertson's reaction, two conditions" 5031 8149 $models/robertson.mdl --abstol 1e-6
    per_step "heat rod, 1000 states" 177000 187000 $models/heat.mdl
    plain=$each
    per_step "transmission line, 1000 states" 151000 153000 $models/line.mdl --stop 0.2
    per_step "heat rod with flows, 500 states left of 1000 unknowns" 213000 355000 $models/heat_flows.mdl
    per_step "thermostat, 100 states" 25700 29500 $models/thermostat.mdl --stop 0.1
    for m in 1 1000; do
        counted off $models/heat.mdl --set m=$m
        share=$(calc %.2f "100*(${count:-nan}/$(field steps)/$plain - 1)")
        row "heat rod, 1000 states, conditions that never hold: $m" "$share % more per step" "3 %" "$(judge "$share <= 3")"
    done
}

events() {
    title "Steps per event"
    timed 0 "$mdlc" run $models/restarts.mdl --set events=0 --stats=json -o "$work/e.csv" --vars '^T.1.$'
    smooth=$(field steps)
    timed 0 "$mdlc" run $models/restarts.mdl --set events=5 --stats=json -o "$work/e.csv" --vars '^T.1.$'
    extra=$(calc %.1f "($(field steps) - $smooth)/$(field events)")
    row "events that change nothing, $(field events) events on a rod of 100 states: steps more per event" \
        "$extra ($smooth without events, $(field steps) with)" 5 "$(judge "$extra <= 5")"
    timed 0 "$mdlc" run $models/restarts.mdl --set events=5 --set kick=1e-2 --stats=json -o "$work/e.csv" --vars '^T.1.$'
    row "events that kick the first cell of the rod by 0.01: steps more per event" \
        "$(calc %.1f "($(field steps) - $smooth)/$(field events)") ($(field steps) with)"
    timed 0 "$mdlc" run $models/restarts.mdl --set events=0 --solver radau --stats=json -o "$work/e.csv" --vars '^T.1.$'
    smooth=$(field steps)
    timed 0 "$mdlc" run $models/restarts.mdl --set events=5 --set kick=1e-2 --solver radau --stats=json -o "$work/e.csv" --vars '^T.1.$'
    extra=$(calc %.1f "($(field steps) - $smooth)/$(field events)")
    row "the same with radau, whose steps do not begin anew: steps more per event" "$extra ($(field steps) with)" 8 "$(judge "$extra <= 8")"
    timed 0 "$mdlc" run $models/thermostat.mdl --stop 0.1 --stats=json -o "$work/e.csv" --vars '^T.1.$'
    row "thermostat on a rod of 100 states, $(field events) switches: all steps per event" \
        "$(calc %.1f "$(field steps)/$(field events)")"
    timed 0 "$mdlc" run tests/sim/thermostat.mdl --tol 1e-6 --stats=json -o "$work/e.csv" --vars '^T$'
    row "thermostat of one room, $(field events) switches: all steps per event" \
        "$(calc %.1f "$(field steps)/$(field events)")"
}

small() {
    title "Whole processes"
    goal="" limit=0
    whole "int main(){} with the same C library" 20 true
    whole "check hello/oscillator.mdl" 20 "$mdlc" check examples/hello/oscillator.mdl
    cp examples/hello/oscillator.mdl "$work/fmt.mdl"
    whole "fmt hello/oscillator.mdl" 20 "$mdlc" fmt "$work/fmt.mdl"
    whole "run one equation, native code" 20 "$mdlc" run tests/bench/one.mdl -o "$work/one.csv"
    whole "run one equation, interpreter" 20 "$mdlc" run tests/bench/one.mdl -o "$work/one.csv" --engine interp
    whole "run quarter car 5 s, tol 1e-6" 20 "$mdlc" run examples/quarter_car/bump.mdl --set V=3 -o "$work/qc.csv"
}

# Products of the compiler. What writing costs is the difference of runs with the same points, with and without a file.
# What a user waits for is judged: a second core writes. Each run makes a file of its own.
writing() { # WHAT ANGULAR-FREQUENCY
    for format in "" mat csv; do
        least="" cpu=""
        for _ in 1 2 3; do
            set -- "$1" "$2" "$least" "$cpu"
            rm -f "$work/line.$format"
            timed 0 "$mdlc" run $models/line.mdl --set w="$2" --stop 2.5 --points 10000 --quiet --stats=json ${format:+-o "$work/line.$format"}
            least=$(lesser "$least" "$3") cpu=$(lesser "$cpu" "$4")
        done
        [ "$format" ] || without=$cpu clock=$least steps=$(field steps)
        [ "$format" ] || continue
        share=$(calc %.1f "100*($least/$clock - 1)")
        row "1,000 variables x 10,000 points to .$format, $1 ($steps), $(nproc) processors" \
            "clock $(calc '%.0f ms without, %.0f ms more' "$clock, $least - $clock"), $share %; processors $(calc '%.0f ms more' "$cpu - $without")" \
            "20 %" "$(judge "$share <= 20")"
    done
}

products() {
    title "Products"
    goal="1 s" limit=1000
    whole "build a car with four suspensions, 985 equations" 3 "$mdlc" build examples/suspension/suspension.mdl -o "$work/car"
    goal="1 s" limit=1000
    whole "build an RC ladder of 200 sections, 1004 equations" 3 "$mdlc" build $models/rc_ladder.mdl --set n=200 -o "$work/ladder"
    goal="10 ms" limit=10
    whole "the ladder's executable, to its first steps" 20 "$work/ladder" --stop 1e-9 --quiet
    "$mdlc" build tests/bench/one.mdl -o "$work/one"
    goal="10 ms" limit=10
    whole "executable of one equation, to its first steps" 20 "$work/one" --stop 1e-9 --quiet
    writing "half as many steps as points" 10
    writing "about as many steps as points" 40
    "$mdlc" report examples/linkage/four_bar.mdl -o "$work/page.html" >"$work/said" 2>&1
    row "report of the four-bar linkage, 201 equations: size of the page" "$(($(wc -c <"$work/page.html")/1024)) kB"
    if ! command -v chromium >/dev/null; then
        row "the page opens" "skipped: chromium is not installed"
        return
    fi
    echo '<!doctype html><title>empty</title>' >"$work/empty.html"
    opens() { timed 3 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --dump-dom "file://$1"; }
    opens "$work/empty.html" # the first start makes the browser's own files
    opens "$work/empty.html"
    browser=$cpu waited=$median
    opens "$work/page.html"
    row "the page opens (chromium, less its start with an empty page)" \
        "$(calc '%.0f ms, clock %.0f ms' "$cpu - $browser, $median - $waited")" "1 s" "$(judge "$cpu - $browser <= 1000")"
}

# A study against what people write who have none: a loop of the shell over mdlc run, and a driver that starts a built program and reads its file.
studies() {
    title "Many runs of the quarter car: 2 s of motion, its highest point"
    cp -r examples/quarter_car "$work/car"
    study() { # NAME RUNS
        printf 'study %s\n  model "car/bump.mdl" Bump;\n  design grid;\n  factor K21 = linspace(38000, 42000, %s);\n  output max(z2);\n  run(stop = 2);\nend %s;\n' "$1" "$2" "$1" >"$work/$1.study"
    }
    study Many 5000
    study One 1
    timed 1 "$mdlc" sweep "$work/One.study" --fresh -o "$work/one.csv" --jobs 1 --quiet
    once=$cpu
    timed 1 "$mdlc" sweep "$work/Many.study" --fresh -o "$work/many.csv" --jobs 2 --quiet
    each=$(calc %.4f "($cpu - $once)/4999") peak_of_master=$peak
    row "mdlc sweep --jobs 2, 5,000 runs: each" "$(calc '%.3f ms' "$each")"
    row "the same: the model compiled, one run, the table" "$(calc '%.1f ms' "$once")"
    row "largest process" "$(calc '%.0f MB' "$peak_of_master")"
    cat >"$work/loop" <<S
#!/bin/sh
for run in \$(seq 100); do "$mdlc" run "$work/car/bump.mdl" --set "K21=\$((38000 + 40*run))" --stop 2 --vars '^z2\$' --quiet -o "$work/loop.csv"; awk -F, 'NR > 1 && \$2 > m { m = \$2 } END { print m }' "$work/loop.csv"; done >"$work/loop.said"
S
    chmod +x "$work/loop"
    timed 1 "$work/loop"
    row "a loop of the shell over mdlc run and awk: each, and as a multiple" "$(calc '%.1f ms, %.1f times' "$cpu/100, $cpu/100/$each")"
    "$mdlc" build "$work/car/bump.mdl" -o "$work/bump"
    timed 1 python3 tests/bench/driver.py "$work/bump" "$work" 200
    row "a driver in Python over the built program and its result file: each, and as a multiple" "$(calc '%.1f ms, %.1f times' "$cpu/200, $cpu/200/$each")"
}

peers() {
    printf '\n### Other peers\n\n```\n'
    best=""
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        "$mdlc" run examples/quarter_car/bump.mdl --set V=3 --tol 1e-6 --stats=json -o "$work/qc.csv" \
            --vars '^(z0|z1|z2|v1|v2|q10|q21|damper.v|damper.f)$' >"$work/stats"
        best=$(lesser "$(field run_ms)" $best)
    done
    echo "quarter car, 5 s, with its result file"
    "$build/tests/bench/peer_quarter_car" "$best" "$(field steps)"
    echo
    echo "heat chain of 1000 states: IDA as packaged / this runtime"
    "$build/tests/bench/peer_chain"
    echo
    echo "functions of the language that are called at run time, one call"
    for model in Calls RootRates LookedRates SeriesRates FourthRates; do
        "$mdlc" show flat tests/bench/models/calls.mdl -m $model >"$work/$model.dae"
    done
    "$build/tests/bench/calls" "$work/Calls.dae" "$work/RootRates.dae" "$work/LookedRates.dae" "$work/SeriesRates.dae" "$work/FourthRates.dae"
    for program in codegen codegen_latency; do
        echo
        "$build/tests/bench/$program"
    done
    printf '```\n'
}

load() {
    printf '%s processors, load' "$(getconf _NPROCESSORS_ONLN)"
    uptime | sed 's/.*load average:/ average/'
}

echo "Begun with $(load)."
ensembles() {
    title "Eight runs at once: processor time of a run, a parameter being another one in each"
    together() { # WHAT RUNS SOLVER PARAMETER MODEL OPTION...
        what=$1; runs=$2; solver=$3; varied=$4; shift 4
        "$mdlc" build "$@" --emit=shared --lanes 8 --implicit -o "$work/together.so" 2>"$work/said"
        "$build/tests/bench/peer_ensemble" "$work/together.so" "$runs" "$solver" "$varied" >"$work/times"
        read -r states width alone at_once ratio <"$work/times"
        row "$what, $states states, $solver" "$alone us alone, $at_once us with $width at once: $ratio times" "3.5 times"
    }
    stiff=tests/bench/models/stiff_runs.mdl
    for solver in dop853 radau; do
        together "10 masses between nonlinear springs" 400 $solver p tests/cli/ensemble.mdl -m Springs --set n=10
        together "50 masses between nonlinear springs" 100 $solver p tests/cli/ensemble.mdl -m Springs --set n=50
    done
    together "Andrews' squeezing mechanism" 40 dop853 drive examples/squeezer/squeezer.mdl
    together "four-bar" 200 dop853 p tests/cli/ensemble.mdl -m Linkage
    together "shimmy of a car" 40 dop853 v examples/shimmy/Shimmy.mdl
    for n in 2 4 8; do together "chain of $n bodies in space" 48 dop853 "body[1].m" tests/bench/models/spatial_chain.mdl --set n=$n; done
    for n in 2 4 8; do together "chain of $n bodies in space, every second joint stiff" 48 radau d $stiff -m StiffLinks --set n=$n; done
    together "lattice of 10 masses" 64 gauss p tests/cli/ensemble.mdl -m Lattice --set n=10
    together "lattice of 50 masses" 32 gauss p tests/cli/ensemble.mdl -m Lattice --set n=50
    together "orbit" 64 gauss p tests/cli/ensemble.mdl -m Orbit
    for n in 2 4 8; do together "chain of $n bodies in space" 24 gauss "body[1].m" tests/bench/models/spatial_chain.mdl --set n=$n; done
    together "amplifier of 3 transistors" 64 radau U $stiff -m Amplifiers --set n=3
    together "amplifier of 8 transistors" 64 radau U $stiff -m Amplifiers --set n=8
    together "line of 10 coils with diodes" 64 radau R $stiff -m DiodeLine --set n=10
    together "line of 50 coils with diodes" 64 radau R $stiff -m DiodeLine --set n=50
    together "voltage multiplier of 5 stages" 16 radau C $stiff -m Multiplier
}
for part in ${2:-large kinds mechanisms nets tables threads cascade structural instructions events small products studies ensembles peers}; do
    "$part"
done
printf '\nEnded with %s.\n' "$(load)"
