# test_runs.py: trajectories are those of mdlc run to the last bit, with their types, and both sides of events.
import ctypes
import re
import subprocess

import numpy as np
import pytest
from conftest import HYBRID, TOP, mdlc_says

import mdlc


@pytest.mark.parametrize("name", ["hello/oscillator", "quarter_car/bump", "series_clearance/series_clearance", "conveyor/conveyor"])
def test_same_bytes_as_the_command(name, tmp_path):
    file = TOP / "examples" / f"{name}.mdl"
    if not file.exists():
        file = sorted(file.parent.glob("*.mdl"))[0]
    done = mdlc_says("run", str(file), "-o", str(tmp_path / "command.csv"), "--quiet", "--stop", "1")
    assert done.returncode == 0, done.stderr
    mdlc.compile(file).run(stop=1).to_csv(tmp_path / "python.csv")
    assert (tmp_path / "command.csv").read_bytes() == (tmp_path / "python.csv").read_bytes()


def test_types_and_both_sides(hybrid):
    r = hybrid.run(variables=["h", "v", "n", "falling", "gear", "g", "der(v)"])
    assert r["falling"].dtype == bool and r["n"].dtype == np.int64 and r["gear"].dtype == np.int64
    assert r["gear"].names[0] == "low" and r["gear"].names[-1] == "high"
    at = float(r.time[np.argmax(r["n"] == 1)])
    assert abs(at - np.sqrt(2 / 9.81)) < 1e-6 and at in r.events
    before, behind = r.at(at, "v", side="left"), r.at(at, "v")
    assert abs(behind + 0.8 * before) < 1e-9 and before < 0 < behind
    assert r.at(at, "n", side="left") == 0 and r.at(at, "n") == 1 and r.at(at, "falling") is False
    assert r["g"][0] == 9.81 and abs(r["der(v)"][0] + 9.81) < 1e-12
    assert np.shares_memory(r["h"], r.rows) and not r.rows.flags.writeable
    with pytest.raises(KeyError, match="did you mean 'falling'"):
        r["faling"]


def test_values(hybrid):
    assert hybrid.run(set={"g": 1.62, "h": 2.0})["h"][0] == 2.0
    assert list(hybrid.inputs) == ["wind"] and hybrid.parameters["g"].value == 9.81
    for wrong, why in (({"gg": 1}, "gg"), ({"g": float("nan")}, "needs a number"), ({"g": "low"}, "cannot be")):
        with pytest.raises(ValueError, match=why):
            hybrid.run(set=wrong)
    with pytest.raises(ValueError, match="solver is one of"):
        hybrid.run(solver="euler")
    with pytest.raises(ValueError, match="interval and points"):
        hybrid.run(interval=0.1, points=3)
    with pytest.raises(KeyError, match="did you mean"):
        hybrid.run(variables=["hh"])
    array = mdlc.compile(text="model A parameter Real k[2, 2] = {{1, 2}, {3, 4}}; Real x = k[1, 2]*time; end A;")
    assert array.run(set={"k": [[1, 5], [3, 4]]})["x"][-1] == 5
    cells = "model N parameter Integer n = 2; Real x[n](each start = 1, each fixed = true); equation der(x) = -x; end N;"
    assert "x[3]" in mdlc.compile(text=cells, set={"n": 3}).run()
    with pytest.raises(ValueError, match="n"):
        mdlc.compile(text=cells).run(set={"n": 3})


def test_subnormal_numbers_are_left_as_they_were(hybrid):
    tiny = np.full(4, 5e-324)
    hybrid.run()
    broken = mdlc.compile(text="model B Real x(start = 1, fixed = true); equation der(x) = -1/x; end B;")
    with pytest.raises(mdlc.SimulationError):
        broken.run()
    s = hybrid.simulation()
    s.start()
    s.advance(0.1)
    hybrid.rates()(0, [1, 0])
    with np.errstate(all="raise"):
        assert (tiny * 1.0 != 0).all() and np.float64(5e-324) + 0.0 != 0


def test_exported_symbols(hello):
    header = (TOP / "runtime/shell/embed.h").read_text()
    code = re.sub(r"//.*", "", header)
    declared = set(re.findall(r"\b(mdl_[a-z_]+)\(", code)) | {"mdl_program"}
    said = subprocess.run(["nm", "-D", "--defined-only", hello._library.path], capture_output=True, text=True).stdout
    assert {line.split()[-1].split("@")[0] for line in said.splitlines()} == declared
    assert ctypes.CDLL(hello._library.path).mdl_embed_version() == 1


def test_simulation_save_restore(hybrid):
    s = hybrid.simulation(tol=1e-8)
    with pytest.raises(ValueError, match="not started"):
        s.save()
    s.start()
    s.advance(0.3)
    state = s.save()
    s["wind"] = 2.0
    s.advance(0.5)
    first = s["h"], s["v"], s["n"], s["falling"]
    s.restore(state)
    s["wind"] = 2.0
    s.advance(0.5)
    assert first == (s["h"], s["v"], s["n"], s["falling"]) and type(s["falling"]) is bool
    with pytest.raises(ValueError, match="cannot change"):
        s["g"] = 1
    with pytest.raises(ValueError, match="not behind"):
        s.advance(-1)
