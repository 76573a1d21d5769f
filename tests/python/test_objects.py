# test_objects.py: caches, threads, processes, pickling, lifetime.
import concurrent.futures
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import HYBRID

import mdlc


def final(model, g):
    return model.run(set={"g": g})["h"][-1].item()


def test_cache(tmp_path):
    file = tmp_path / "m.mdl"
    file.write_text("model M Real x = P.a*time; end M;")
    (tmp_path / "P.mdl").write_text("package P constant Real a = 1; end P;")
    first = mdlc.compile(file, path=[tmp_path])
    assert mdlc.compile(file, path=[tmp_path]).hash == first.hash and mdlc.compile(file, path=[tmp_path])._library is first._library
    (tmp_path / "P.mdl").write_text("package P constant Real a = 2; end P;")
    second = mdlc.compile(file, path=[tmp_path])
    assert second.hash != first.hash and (first.run()["x"][-1], second.run()["x"][-1]) == (1, 2)
    assert mdlc.compile(file, name="M", path=[tmp_path]).run()["x"][-1] == 2


def test_writers_do_not_meet(tmp_path):
    text = "model W Real x(start = 1, fixed = true); equation der(x) = -3*x; end W;"
    code = f"import mdlc; print(mdlc.compile(text={text!r}).run()['x'][-1])"
    environment = {**os.environ, "MDLC_CACHE": str(tmp_path)}
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) for _ in range(3)]
    assert len({one.communicate()[0] for one in started}) == 1 and all(one.returncode == 0 for one in started)
    assert not [name for name in os.listdir(tmp_path) if not name.endswith((".so", ".json", ".mdl"))]


def test_threads(hybrid):
    values = np.linspace(1, 20, 24).tolist()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda g: final(hybrid, g), values)) == [final(hybrid, g) for g in values]

    def drive(k):
        s = hybrid.simulation(set={"g": float(k + 1)})
        s.start()
        for _ in range(20):
            s.advance(0.05)
        return s["h"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(drive, range(8))) == [drive(k) for k in range(8)]
    s = hybrid.simulation()
    s._busy.acquire()
    with pytest.raises(RuntimeError, match="another thread"):
        s.start()


def test_pickles(hybrid):
    s = hybrid.simulation(set={"g": 5.0})
    s.start()
    s.advance(0.4)
    model, other, r = pickle.loads(pickle.dumps((hybrid, s, hybrid.run())))
    s.advance(0.4)
    other.advance(0.4)
    assert (s["h"], s["v"]) == (other["h"], other["v"]) and np.array_equal(r.rows, model.run().rows)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(final, [hybrid] * 4, [1.0, 2.0, 3.0, 4.0])) == [final(hybrid, g) for g in (1.0, 2.0, 3.0, 4.0)]


def test_fork(hybrid):
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert pool.submit(final, hybrid, 2.0).result() == final(hybrid, 2.0)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_nothing_is_left():
    rounds = int(os.environ.get("ROUNDS", "200"))
    mdlc.compile(text=HYBRID).run()

    def work(n):
        for _ in range(n):
            m = mdlc.compile(text=HYBRID)
            m.run(points=10)
            del m
        gc.collect()

    work(50)
    files, memory = len(os.listdir("/proc/self/fd")), resident()
    work(rounds)
    assert len(os.listdir("/proc/self/fd")) == files and resident() - memory < 4e6


def test_import_is_light():
    code = "import sys, mdlc; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_other_versions_are_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("MDLC_CACHE", str(tmp_path))
    monkeypatch.setattr("mdlc._library.VERSION", 2)
    with pytest.raises(mdlc.MdlcError, match="embedding interface"):
        mdlc.compile(text="model New Real x(start = 1, fixed = true); equation der(x) = -2.25*x; end New;").run()
