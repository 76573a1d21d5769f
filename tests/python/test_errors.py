# test_errors.py: what is wrong is an exception, and the process goes on.
import os
import re
import signal
import threading
import time

import pytest
from conftest import TOP

import mdlc
from mdlc._program import call, parse_diagnostics

CASES = sorted(TOP.glob("tests/errors/*.err"))
# All of them with ALL=1; each takes a process.
CHOSEN = CASES if os.environ.get("ALL") else CASES[::20]


def test_codes_are_those_of_the_command():
    folder = TOP / "tests/errors"
    assert len(CHOSEN) > 15
    for expected in CHOSEN:
        source = next(f"{expected.stem}{end}" for end in (".mdl", ".mo") if (folder / f"{expected.stem}{end}").exists())
        words = (folder / f"{expected.stem}.call").read_text().split() if (folder / f"{expected.stem}.call").exists() else ["check"]
        codes = re.findall(r"^(?:(?:<[^>]*>)?\S*: )?(?:error|warning)\[(\w+)", expected.read_text(errors="replace"), re.MULTILINE)
        if words[0] != "check":
            continue
        done = call([*words, source, "--message-format=json"], folder=str(folder))
        found = parse_diagnostics(done.stdout.decode(errors="replace"))
        assert sorted(d.code for d in found) == sorted(codes), expected.stem


def test_where_it_is_wrong():
    with pytest.raises(mdlc.CompileError) as caught:
        mdlc.compile(text='model M "é"\n  Real x "éé"; Real y = x + z;\nend M;')
    one = caught.value.diagnostics[0]
    assert (one.code, one.file, one.line, one.column) == ("E0101", "<text>", 2, 29)
    mark = str(one).splitlines()[2]
    assert mark.index("^") - 4 == one.column - 1 and one.source[one.column - 1] == "z"
    assert "E0101" in caught.value._repr_html_()
    with pytest.raises(mdlc.CompileError, match="cannot read"):
        mdlc.compile("nothing.mdl")


def test_failed_run_keeps_rows(capfd):
    m = mdlc.compile(text="model F Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0.5, \"too low\"); end F;")
    with pytest.raises(mdlc.SimulationError, match="too low") as caught:
        m.run()
    assert abs(caught.value.time - 0.5) < 1e-6 and caught.value.result["x"][-1] < 0.51 and len(caught.value.result) > 100
    assert capfd.readouterr() == ("", "")


def test_a_fault_raises(monkeypatch, tmp_path):
    from mdlc import _program

    for script in ("kill -SEGV $$", "exit 4"):
        wrong = tmp_path / "mdlc"
        wrong.write_text("#!/bin/sh\n" + script)
        wrong.chmod(0o755)
        monkeypatch.setattr(_program, "program", lambda: str(wrong))
        with pytest.raises(mdlc.CompilerFault):
            call(["check", "x.mdl"])


def test_interrupt_keeps_rows():
    m = mdlc.compile(text="model L Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = v; der(v) = -1e6*x; end L;")
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts this in the background has it ignored
    sent = []
    timer = threading.Timer(0.3, lambda: (sent.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        m.run(stop=1e7, interval=1, solver="ida", variables=["x"])
    signal.signal(signal.SIGINT, kept)
    assert time.monotonic() - sent[0] < 0.2
    assert isinstance(caught.value, mdlc.Interrupted) and len(caught.value.result) > 0 and caught.value.result.end < 1e7
    # What a progress function raises ends the run, too.
    with pytest.raises(ZeroDivisionError):
        m.run(stop=1e7, interval=1, solver="ida", variables=["x"], progress=lambda part, time: 1 / 0)
