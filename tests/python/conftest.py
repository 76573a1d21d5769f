# conftest.py: what the tests of the Python package share. BUILD names the folder with mdlc; the package is that of the source tree, or with INSTALLED=1 the
# one that is installed, as a wheel.
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
if os.environ.get("INSTALLED"):
    from mdlc._program import program

    os.environ["MDLC"] = program()
else:
    os.environ.setdefault("MDLC", str(Path(os.environ.get("BUILD", TOP / "build")).resolve() / "mdlc"))
    os.environ["PYTHONPATH"] = str(TOP / "frontend/python")  # of processes that tests start
    sys.path.insert(0, str(TOP / "frontend/python"))

HYBRID = """
model Hybrid "a ball that bounces in a room with three gears"
  type Gear = enumeration(low, middle, high);
  parameter Real g = 9.81;
  input Real wind;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  discrete Integer n(start = 0, fixed = true);
  Boolean falling = v < 0;
  Gear gear = if time < 0.3 then Gear.low elseif time < 0.6 then Gear.middle else Gear.high;
equation
  der(h) = v;
  der(v) = -g + wind;
  when h <= 0 then
    reinit(v, -0.8*pre(v));
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 1.5));
end Hybrid;
"""


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    os.environ["MDLC_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def hybrid(cache):
    import mdlc

    return mdlc.compile(text=HYBRID)


@pytest.fixture(scope="session")
def hello(cache):
    import mdlc

    return mdlc.example("hello")


def mdlc_says(*words, folder=None):
    environment = {k: v for k, v in os.environ.items() if k not in ("MDLC_VERIFY", "MDLC_CHECK")}
    return subprocess.run([os.environ["MDLC"], *words], capture_output=True, text=True, cwd=folder, env=environment)
