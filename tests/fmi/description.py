# E8: values in the initialization mode are those of what has been set so far, in any order. E11: nominal values, aliases, units of the description.
import itertools
import os
import stat
import sys
import zipfile

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave

import importer as i

model = i.write_model("Begins", """model Begins
  parameter Real k = 2, b = 1;
  parameter Real twice = 2*b;
  input Real u(start = 0);
  Real x, y, w(start = 0.5);
  Real v(start = 0.3, fixed = true, nominal = 1e-6);
  output Real p, q;
  Real seen, seen_too;
  parameter Real again = twice;
initial equation
  der(x) = 0;
equation
  der(x) = y - x + u;
  der(v) = -v;
  k*y^3 + y = u + b;
  w = exp(-w) + x + v;
  p = -x;
  q = x + twice;
  seen = q;
  seen_too = q;
end Begins;
""")


def root(f, low, high):
    for _ in range(200):
        half = (low + high) / 2
        low, high = (half, high) if (f(half) > 0) == (f(high) < 0) else (low, half)
    return (low + high) / 2


def expected(k, b, u, v):
    y = root(lambda y: k * y**3 + y - u - b, -10, 10)
    x = y + u
    w = root(lambda w: w - np.exp(-w) - x - v, -20, 20)
    return {"x": x, "y": y, "w": w, "v": v, "p": -x, "q": x + 2 * b, "seen": x + 2 * b, "seen_too": x + 2 * b, "twice": 2 * b, "again": 2 * b}


settings = {"k": 0.5, "b": -2.0, "u": 1.5, "v": -0.4}
begin = {"k": 2.0, "b": 1.0, "u": 0.0, "v": 0.3}
for version, kind in ((2, "ModelExchange"), (2, "CoSimulation"), (3, "ModelExchange"), (3, "CoSimulation")):
    unit = i.build(model, version)
    problems = i.is_valid(unit)
    i.check(not problems, "FMI %d: outputs and calculated parameters with aliases are valid%s" % (version, "".join("\n    " + text for text in problems)))
    description = fmpy.read_model_description(unit)
    reference = {v.name: v.valueReference for v in description.modelVariables}
    identifier = (description.modelExchange if kind == "ModelExchange" else description.coSimulation).modelIdentifier
    make = {(2, "ModelExchange"): FMU2Model, (2, "CoSimulation"): FMU2Slave, (3, "ModelExchange"): FMU3Model, (3, "CoSimulation"): FMU3Slave}[version, kind]
    one = make(guid=description.guid, unzipDirectory=fmpy.extract(unit), modelIdentifier=identifier, instanceName="one")
    read, write = (one.getReal, one.setReal) if version == 2 else (one.getFloat64, one.setFloat64)
    worst, runs = 0, 0
    one.instantiate()
    for order in itertools.permutations(settings):
        for early in (0, 2):  # how many are set before the initialization mode
            now = dict(begin)
            if runs:
                one.reset()
            if version == 2:
                one.setupExperiment(startTime=0)
            for count, name in enumerate(order):
                if count == early:
                    one.enterInitializationMode() if version == 2 else one.enterInitializationMode(startTime=0)
                write([reference[name]], [settings[name]])
                now[name] = settings[name]
                if count >= early and runs % 3 == 0 or name == order[-1]:
                    right = expected(**now)
                    values = read([reference[name] for name in right])
                    worst = max(worst, max(abs(a - b) for a, b in zip(values, right.values())))
            one.exitInitializationMode()
            worst = max(worst, max(abs(a - b) for a, b in zip(read([reference[name] for name in right]), right.values())))
            runs += 1
    one.terminate()
    one.freeInstance()
    i.check(worst < 1e-8, "FMI %d %s: %d starts, parameters, inputs and start values set in any order (%.1g)" % (version, kind, runs, worst))

scaled = i.write_model("Scaled", """model Scaled
  constant Real T(unit = "s") = 1;
  Real angle(start = 0.1, fixed = true, unit = "rad", displayUnit = "deg");
  Real warm(start = 300, fixed = true, unit = "K", displayUnit = "degC");
  Real small(start = 1e-7, fixed = true, nominal = 1e-7, unit = "m");
  Real large(start = 0, fixed = true, nominal = 1e5, unit = "Pa");
  Real same(unit = "rad"), opposite(unit = "rad");
  Real speed(unit = "km/h"), torque(unit = "N.m");
  Integer count = if angle > 0 then 3 else 2, copy = count;
equation
  T*der(angle) = 1;
  speed = 3.6;
  T*der(warm) = -0.01*(warm - 290);
  T*der(small) = -small;
  T*der(large) = 1e4 - large;
  torque = 2*time/T;
  same = angle;
  opposite = -angle;
end Scaled;
""")
# What one of it is in units of the SI (The International System of Units, 9th ed., 2019).
units = {"rad": ({"rad": 1}, 1, 0), "K": ({"K": 1}, 1, 0), "m": ({"m": 1}, 1, 0), "Pa": ({"kg": 1, "m": -1, "s": -2}, 1, 0),
         "km/h": ({"m": 1, "s": -1}, 1 / 3.6, 0), "N.m": ({"kg": 1, "m": 2, "s": -2}, 1, 0)}
displayed = {"deg": (180 / np.pi, 0), "degC": (1, -273.15)}
for version in (2, 3):
    unit = i.build(scaled, version)
    description = fmpy.read_model_description(unit)
    variable = {v.name: v for v in description.modelVariables}
    nominal = {name: float(variable[name].nominal) if variable[name].nominal else 1.0 for name in ("small", "large")}
    i.check(nominal == {"small": 1e-7, "large": 1e5}, "FMI %d: nominal values are those of the model %s" % (version, nominal))
    if version == 2:
        alias = variable["same"].valueReference == variable["angle"].valueReference
    else:
        with open(os.path.join(fmpy.extract(unit), "modelDescription.xml")) as file:
            alias = '<Alias name="same"' in file.read()
    i.check(alias, "FMI %d: an alias shares the number of its variable" % version)
    rows = fmpy.simulate_fmu(unit, stop_time=0.5, output=["angle", "opposite", "count"])
    i.check(np.all(rows["opposite"] == -rows["angle"]) and np.all(rows["count"] == 3), "FMI %d: a negated alias is computed" % version)
    defined = {u.name: u for u in description.unitDefinitions}
    wrong = []
    for name, (base, factor, offset) in units.items():
        u = defined.get(name)
        have = {d: getattr(u.baseUnit, d) for d in ("kg", "m", "s", "A", "K", "mol", "cd", "rad") if getattr(u.baseUnit, d)} if u and u.baseUnit else None
        if have != base or abs(u.baseUnit.factor - factor) > 1e-12 or u.baseUnit.offset != offset:
            wrong.append("%s: %s" % (name, have))
    for name, (factor, offset) in displayed.items():
        d = [d for u in description.unitDefinitions for d in u.displayUnits if d.name == name]
        if len(d) != 1 or abs(d[0].factor - factor) > 1e-9 or abs(d[0].offset - offset) > 1e-9:
            wrong.append(name)
    i.check(not wrong, "FMI %d: units and display units are what the SI says%s" % (version, "".join("\n    " + text for text in wrong)))

# E1: as FMPy's own command says it, and the archive is what every program can unpack: deflated or stored entries with plain paths that are no links.
for version in (2, 3):
    unit = i.build(scaled, version)
    said = i.call(sys.executable, "-m", "fmpy", "validate", unit).stdout
    i.check("No problems found." in said, "FMI %d: fmpy validate: %s" % (version, said.strip()))
    with zipfile.ZipFile(unit) as archive:
        plain = all(e.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and "\\" not in e.filename and ".." not in e.filename and
                    not e.filename.startswith("/") and not stat.S_ISLNK(e.external_attr >> 16) for e in archive.infolist())
        i.check(plain and archive.testzip() is None, "FMI %d: %d entries of the archive are plain" % (version, len(archive.infolist())))

# Every variable has a value, event indicators too, in both interfaces; reading them changes nothing. At rows none is negative by more than the tolerance: a
# root that an importer has found is an event, even where the indicator, computed anew, is zero or positive by rounding (friction at its limit at 0.207).
struck = i.build(os.path.join(i.top, "examples/woodpecker/woodpecker.mdl"))
known = [v.name for v in fmpy.read_model_description(struck).modelVariables if v.type == "Float64"]
indicators = [name for name in known if name.startswith("_indicator_")]
for kind in ("CoSimulation", "ModelExchange"):
    plain, whole = (fmpy.simulate_fmu(struck, fmi_type=kind, output=names, relative_tolerance=1e-6, stop_time=0.3, output_interval=0.01)
                    for names in ([name for name in known if name not in indicators], known))
    same = all(np.array_equal(plain[name], whole[name]) for name in plain.dtype.names)
    positive = all(np.all(whole[name] > -1e-7) and np.max(whole[name]) > 0 for name in indicators)
    i.check(len(indicators) > 3 and positive and same, "%s: values of all variables, of %d event indicators among them" % (kind, len(indicators)))

# What is zero by a formula of parameters holds no state, in units as at home: nothing asks them for derivatives by parameters. Another value is an error.
zero = i.write_model("Junction", """model Junction
  parameter Real cj = 0, cap = cj*(1 + 0.1);
  Real v, u, c = noEvent(if v < 0.5 then cap/sqrt(1 - v) else cap*(1 + v));
equation
  u + v = 0.4*sin(2*time);
  u/100 = 1e-3*(exp(v) - 1) + c*der(v);
end Junction;
""")
v = 0.0
for _ in range(50):
    v -= ((0.4 * np.sin(2) - v) / 100 - 1e-3 * (np.exp(v) - 1)) / (-0.01 - 1e-3 * np.exp(v))
for version in (2, 3):
    unit = i.build(zero, version)
    ends = [fmpy.simulate_fmu(unit, fmi_type=kind, output=["v"], stop_time=1)["v"][-1] for kind in ("CoSimulation", "ModelExchange")]
    try:
        fmpy.simulate_fmu(unit, start_values={"cj": 1e-3}, stop_time=1)
        refused = False
    except Exception:
        refused = True
    i.check(max(abs(end - v) for end in ends) < 1e-12 and refused, "FMI %d: a capacitance that a formula makes zero (%s), and no other value of it" % (version, ends))
