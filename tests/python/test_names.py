# test_names.py: every public name has a text with an example, which pytest --doctest-modules runs; with HINTS=1 hints that mypy --strict accepts, which
# takes it ten seconds; and the wheel asks make for what there is.
import inspect
import os
import shutil
import subprocess
import sys

import pytest
from conftest import TOP

import mdlc


def public():
    """Functions and classes of the package, and methods of these, by their names."""
    for name in mdlc.__all__:
        thing = getattr(mdlc, name)
        yield name, thing
        if inspect.isclass(thing) and thing.__module__.startswith("mdlc"):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod))):
                    yield f"{name}.{member}", value


def test_every_name_says_what_it_is():
    names = dict(public())
    assert len(names) > 30
    silent = [name for name, thing in names.items() if not (inspect.getdoc(thing) or "").strip()]
    assert silent == []
    # Of a function or class; methods may be shown by the example of their class.
    shown = "".join(inspect.getdoc(thing) or "" for thing in names.values())
    without = [name for name in names if ">>>" not in (inspect.getdoc(names[name]) or "") and name.split(".")[-1] not in shown]
    assert without == []


@pytest.mark.skipif(not os.environ.get("HINTS"), reason="HINTS=1 looks at them")
def test_hints_are_strict(tmp_path):
    pytest.importorskip("mypy")
    assert (TOP / "frontend/python/mdlc/py.typed").exists()
    settings = ["--config-file", str(TOP / "pyproject.toml"), "--strict", "--no-error-summary", "--cache-dir", str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "mypy", *settings], capture_output=True, text=True, timeout=200, cwd=TOP)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("llvm-config-19"), reason="what the compiler is built with is needed")
def test_what_the_wheel_asks_for_can_be_made():
    sys.path.insert(0, str(TOP / "frontend/python"))
    import wheel_backend

    # Without making it: the wheel calls the folder of builds by its absolute name, and pip has none in the environment.
    for folder in (str(TOP / "build"), wheel_backend.build_folder()):
        asked = subprocess.run(["make", "-n", "-C", str(TOP), "BUILD=" + folder, *wheel_backend.PARTS], capture_output=True, text=True)
        assert asked.returncode == 0, asked.stderr
