# importer.py: what the tests of tests/fmi share: building units, running them in FMPy, comparing with native runs.
import csv
import os
import re
import subprocess
import sys
import tempfile
import types

import fmpy
import fmpy.validation
import numpy as np

top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
mdlc = os.path.join(os.environ["BUILD"], "mdlc")
work = os.environ.get("WORK") or tempfile.mkdtemp()
quiet = {k: v for k, v in os.environ.items() if k not in ("MDLC_VERIFY", "MDLC_CHECK")}


def check(good, what):
    print(("ok " if good else "FAIL ") + what, flush=True)
    return good


def call(*words, wanted=0):
    done = subprocess.run(words, capture_output=True, text=True, env=quiet)
    if done.returncode != wanted:
        raise RuntimeError("%s: exit status %d: %s" % (" ".join(words), done.returncode, (done.stdout + done.stderr)[:1000]))
    return done


def build(model, version=3, *options):
    unit = os.path.join(work, "%s_%d.fmu" % (os.path.basename(model).replace(".", "_"), version))
    call(mdlc, "build", model, "-o", unit, "--fmi", str(version), *options)
    return unit


def write_model(name, text):
    path = os.path.join(work, name + ".mdl")
    with open(path, "w") as file:
        file.write(text)
    return path


def native(model, tolerance, *options):
    result = os.path.join(work, "native.csv")
    call(mdlc, "run", model, "-o", result, "--tol", tolerance, *options)
    return result


def columns(path):
    with open(path) as file:
        names = next(csv.reader(file))
        rows = np.loadtxt(file, delimiter=",", ndmin=2)
    return {name: rows[:, k] for k, name in enumerate(names)}


# A unit's files and its description, which FMPy would unpack and read at each run.
units = {}


def opened(unit):
    when = os.stat(unit).st_mtime_ns
    if units.get(unit, (None,))[0] != when:
        units.clear()
        units[unit] = when, fmpy.extract(unit), fmpy.read_model_description(unit, validate=False)
    return units[unit][1:]


# The variables of a native result, from a unit in FMPy.
def simulate(unit, kind, names, tolerance, result=None, **options):
    folder, description = opened(unit)
    known = {variable.name for variable in description.modelVariables}
    seen = [name for name in names if name in known]
    interval = float(description.defaultExperiment.stepSize)
    rows = fmpy.simulate_fmu(folder, model_description=description, validate=False, fmi_type=kind, relative_tolerance=float(tolerance), output=seen, output_interval=interval, **options)
    if result:
        numbers = np.column_stack([rows[name].astype(float) for name in rows.dtype.names])
        with open(result, "w") as file:
            file.write(",".join('"%s"' % name for name in rows.dtype.names) + "\n")
            file.writelines(",".join(map(repr, row)) + "\n" for row in numbers.tolist())
    return rows, set(names) - known - {"time"}


def compare(result, reference, relative="1e-4"):
    done = subprocess.run([mdlc, "compare", result, reference, "--rel", relative, "--abs", "1e-6", "--shift", "1e-6"], capture_output=True, text=True,
                          env=quiet)
    return done.returncode == 0, (done.stdout + done.stderr).split("\n")[0]


# FMPy parses each name by a general grammar, 7 ms for one. The grammar does not tell letters from each other, nor digits, so that one name of each shape
# says what it says of all.
parse_names = fmpy.validation._validate_variable_names
shapes = {}


def shape_of(name):
    return re.sub(r"der\(|[A-Za-z_][A-Za-z0-9_]*|[0-9]+", lambda part: part[0] if part[0] == "der(" else "1" if part[0].isdigit() else "a", name)


def validate_names(description):
    new = {shape_of(v.name): v for v in description.modelVariables}
    fresh = [v for shape, v in new.items() if (description.variableNamingConvention, shape) not in shapes]
    for v in fresh:
        one = types.SimpleNamespace(variableNamingConvention=description.variableNamingConvention, modelVariables=[v])
        shapes[description.variableNamingConvention, shape_of(v.name)] = parse_names(one)
    return [problem for shape in new for problem in shapes[description.variableNamingConvention, shape]]


fmpy.validation._validate_variable_names = validate_names


def is_valid(unit):
    return fmpy.validation.validate_fmu(unit)
