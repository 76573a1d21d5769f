# E2, E13: events are where native runs have them, in both interfaces; event mode shows both sides of each.
import os

import fmpy
import numpy as np
from fmpy.fmi3 import FMU3Slave

import importer as i

model = os.path.join(i.top, "examples/quarter_car/sine.mdl")
reference = i.columns(i.native(model, "1e-8", "--stop", "3"))
unit = i.build(model)
times = reference["time"]
native = times[1:][times[1:] == times[:-1]]


def both_sides(rows):
    time = rows["time"]
    return time[1:][time[1:] == time[:-1]]


names = ["wheel.s", "damper.v", "damper.f"]
for kind, options in (("ModelExchange", {}), ("CoSimulation", {"use_event_mode": True, "early_return_allowed": True})):
    rows, _ = i.simulate(unit, kind, names, "1e-8", stop_time=3, **options)
    found = both_sides(rows)
    apart = [np.min(np.abs(found - t)) for t in native]
    i.check(len(native) >= 5 and max(apart) < 1e-6, "%s: %d events, at most %.1g s from those of a native run" % (kind, len(native), max(apart)))

# Sticking is exact.
stick = i.write_model("Stick", """model Stick
  Real x(start = 0.4, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = 2*sin(3*time) - 4*x - 1.5*Sgn(v);
  annotation(experiment(StopTime = 10));
end Stick;
""")
reference = i.columns(i.native(stick, "1e-9"))
unit = i.build(stick)
for kind, options in (("ModelExchange", {}), ("CoSimulation", {"use_event_mode": True, "early_return_allowed": True})):
    rows, _ = i.simulate(unit, kind, ["x", "v"], "1e-9", **options)
    rests = [t for t, v in zip(rows["time"], rows["v"]) if v == 0]
    native = [t for t, v in zip(reference["time"], reference["v"]) if v == 0]
    here, there = {round(t, 3) for t in rests}, {round(t, 3) for t in native}
    i.check(len(native) > 50 and here == there, "%s: what sticks has the velocity 0.0, at %d rows" % (kind, len(native)))

# Without early return events are handled inside, and the end is the same.
unit = i.build(model)
reference = i.columns(i.native(model, "1e-8", "--stop", "3"))
rows, _ = i.simulate(unit, "CoSimulation", names, "1e-8", stop_time=3)
i.check(abs(rows["wheel.s"][-1] - reference["wheel.s"][-1]) < 1e-6, "co-simulation without event mode ends where a native run does")

# A sampled controller, a reset, a discrete input.
sampled = i.write_model("Sampled", """model Sampled
  input Boolean open(start = false);
  discrete output Real held(start = 0, fixed = true);
  output Integer count(start = 0, fixed = true);
  output Real x(start = 1, fixed = true);
equation
  der(x) = if open then -2 else -x;
  when sample(0.25, 0.25) then
    held = x;
    count = pre(count) + 1;
  end when;
  when x < 0.1 then
    reinit(x, 1);
  end when;
end Sampled;
""")
signals = np.array([(0.0, False), (1.0, False), (1.0, True), (2.0, True), (2.0, False), (3.0, False)], dtype=[("time", float), ("open", bool)])
for version in (2, 3):
    unit = i.build(sampled, version)
    i.check(not i.is_valid(unit), "FMI %d: a unit with inputs, samples and resets is valid" % version)
    for kind in ("ModelExchange", "CoSimulation"):
        mode = version == 3 and kind == "CoSimulation"
        rows = fmpy.simulate_fmu(unit, fmi_type=kind, input=signals, stop_time=3, output_interval=0.125, output=["x", "held", "count"],
                                 relative_tolerance=1e-9, use_event_mode=mode, early_return_allowed=mode)
        # Until 1: exp(-t). Then x falls by 2 per second from exp(-1), and is set to 1 whenever it reaches 0.1. From 2 on it decays.
        first = 1 + (np.exp(-1) - 0.1) / 2
        second = first + 0.45
        # Below 0.1 it begins at 1 once more.
        expected = (1 - 2 * (2 - second)) / 0.1 * np.exp(-1.0)
        held = np.exp(-0.75)
        at = np.argmin(np.abs(rows["time"] - 0.875))
        good = abs(rows["x"][-1] - expected) < 1e-5 and rows["count"][-1] == 12 and abs(rows["held"][at] - held) < 1e-6
        i.check(good, "FMI %d %s: inputs, samples and resets (%.8g, %d)" % (version, kind, rows["x"][-1], rows["count"][-1]))

# E13: intermediate update at the steps of the method, where variables may be read, and an early return at one of them.
unit = i.build(stick)
description = fmpy.read_model_description(unit)
x = [v.valueReference for v in description.modelVariables if v.name == "x"]
seen, leave = [], []


def update(environment, time, set_requested, get_allowed, finished, can_return, requested, until):
    seen.append((time, one.getFloat64(x)[0] if get_allowed else None))
    if can_return and leave and time >= leave[0]:
        requested[0], until[0] = True, time
        leave.clear()


one = FMU3Slave(guid=description.guid, unzipDirectory=fmpy.extract(unit), modelIdentifier=description.coSimulation.modelIdentifier, instanceName="one")
one.instantiate(earlyReturnAllowed=True, intermediateUpdate=update)
one.enterInitializationMode(startTime=0, tolerance=1e-8)
one.exitInitializationMode()
_, _, early, last = one.doStep(0, 1)
whole = len(seen) > 20 and not early and last == 1 and all(a[0] <= b[0] <= 1 for a, b in zip(seen, seen[1:]))
reference = i.columns(i.native(stick, "1e-8", "--stop", "1", "--points", "1000"))
apart = max(abs(value - np.interp(time, reference["time"], reference["x"])) for time, value in seen)
leave.append(1.3)
_, _, early, last = one.doStep(1, 1)
one.freeInstance()
i.check(whole and apart < 1e-5, "intermediate update at %d points, x within %.1g of a native run" % (len(seen), apart))
i.check(early and 1.3 <= last < 1.9, "and an early return at one of them (%.4g)" % last)
