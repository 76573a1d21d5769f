# E9, E10: directional and adjoint derivatives against differences, in both interfaces, and what depends on what.
import os

import fmpy
import numpy as np
from fmpy.fmi3 import FMU3Model, FMU3Slave

import importer as i

coupled = i.write_model("Coupled", """model Coupled
  parameter Real k = 3;
  input Real u(start = 0.3);
  input Real w(start = 0.1);
  output Real y;
  output Real z;
  Real a(start = 0.5, fixed = true);
  Real b(start = 0.2, fixed = true);
  Real p(start = 1), q(start = 1);
equation
  p + sin(q) = a + 2;
  q*exp(p/4) = b + 3 + u;
  der(a) = -k*p*a + w;
  der(b) = q - b^2;
  y = p*u;
  z = sin(b);
end Coupled;
""")
cases = [coupled] + [os.path.join(i.top, path) for path in ("examples/quarter_car/sine.mdl", "examples/linkage/four_bar.mdl", "examples/energies/chain.mdl",
                                                            "examples/embedding/plant.mdl", "examples/hello/oscillator.mdl")]


def stepped(values, k, h):
    moved = list(values)
    moved[k] += h
    return moved


def look(name, model):
    unit = i.build(model)
    description = fmpy.read_model_description(unit)
    folder = fmpy.extract(unit)
    one = FMU3Model(guid=description.guid, unzipDirectory=folder, modelIdentifier=description.modelExchange.modelIdentifier, instanceName="one")
    one.instantiate()
    one.enterInitializationMode()
    one.exitInitializationMode()
    one.updateDiscreteStates()
    one.enterContinuousTimeMode()
    rates = [u.variable for u in description.derivatives]
    outputs = [u.variable for u in description.outputs]
    states = [v.derivative for v in rates]
    inputs = [v for v in description.modelVariables if v.causality == "input" and v.type == "Float64"]
    unknowns = [v.valueReference for v in rates + outputs if v.type == "Float64"]
    knowns = [v.valueReference for v in states + inputs]
    x = np.zeros(len(states))
    one.getContinuousStates(x.ctypes.data_as(fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)), len(states))
    now = list(x) + (one.getFloat64([v.valueReference for v in inputs]) if inputs else [])

    def at(values):
        c = np.array(values[:len(states)])
        one.setContinuousStates(c.ctypes.data_as(fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)), len(states))
        if inputs:
            one.setFloat64([v.valueReference for v in inputs], values[len(states):])
        return np.array(one.getFloat64(unknowns))

    def compare(now):
        worst, missed = 0, []
        for k, known in enumerate(knowns):
            at(now)
            exact = np.array(one.getDirectionalDerivative(unknowns, [known], [1.0]))
            scale, off = 1 + np.max(np.abs(exact)), []
            # Richardson's extrapolation of central differences: wide ones leave where the way back onto constraints is followed whole, narrow ones are rough.
            for width in 1e-3, 1e-4:
                h = width * max(abs(now[k]), 1e-1)
                coarse = (at(stepped(now, k, h)) - at(stepped(now, k, -h))) / (2 * h)
                fine = (at(stepped(now, k, h / 2)) - at(stepped(now, k, -h / 2))) / h
                finest = (at(stepped(now, k, h / 4)) - at(stepped(now, k, -h / 4))) / (h / 2)
                once, twice = (4 * fine - coarse) / 3, (4 * finest - fine) / 3
                off.append(np.max(np.abs(exact - (16 * twice - once) / 15)) / scale)
            at(now)
            worst = max(worst, min(off))
            for row, unknown in zip(exact, description.derivatives + description.outputs):
                listed = unknown.dependencies
                if abs(row) > 1e-12 * scale and listed is not None and known not in [v.valueReference for v in listed]:
                    missed.append((unknown.variable.name, known))
            # The transposed: each row by one call.
            for r, row in enumerate(exact):
                back = one.getAdjointDerivative([unknowns[r]], [known], [1.0])
                if abs(back[0] - row) > 1e-12 * scale:
                    missed.append("adjoint")
        return worst, missed

    # At the start, and behind steps of Euler's method, which leave the constraints of mechanisms.
    for moment in "start", "steps":
        worst, missed = compare(now)
        i.check(worst < 1e-8, "%s, %s: directional derivatives differ from extrapolated differences by %.1g" % (name, moment, worst))
        i.check(not missed, "%s, %s: what depends is listed %s" % (name, moment, missed[:3] or ""))
        for step in range(5 if moment == "start" else 0):
            x = np.array(now[:len(states)])
            x += 1e-3 * np.array(one.getFloat64([v.valueReference for v in rates]))
            now[:len(states)] = list(x)
            one.setTime(1e-3 * (step + 1))
            at(now)
            event, end = one.completedIntegratorStep()
            if event or end:
                one.enterEventMode()
                one.updateDiscreteStates()
                one.enterContinuousTimeMode()
    if model == coupled:
        names = {u.variable.name: {v.name for v in u.dependencies or []} for u in description.derivatives + description.outputs}
        expected = {"der(a)": {"a", "b", "u", "w"}, "der(b)": {"a", "b", "u"}, "y": {"a", "b", "u"}, "z": {"b"}}
        i.check(names == expected, "%s: and nothing else is listed %s" % (name, "" if names == expected else names))
    one.terminate()
    one.freeInstance()


for model in cases:
    try:
        look(os.path.relpath(model, i.top) if model != coupled else "loops", model)
    except Exception as error:
        i.check(False, "%s: %r" % (model, error))


# E9: what is not listed does not count: along the motion no difference finds a known that is missing. Friction, contacts, rests, delays, constraints,
# samples, tables, loops, fractional derivatives.
def complete(name, model):
    unit = i.build(model)
    description = fmpy.read_model_description(unit)
    unknowns = description.derivatives + [u for u in description.outputs if u.variable.type == "Float64"]
    references = [u.variable.valueReference for u in unknowns]
    listed = [None if u.dependencies is None else {v.name for v in u.dependencies} for u in unknowns]
    states = [u.variable.derivative for u in description.derivatives]
    inputs = [v for v in description.modelVariables if v.causality == "input" and v.type == "Float64"]
    names = [v.name for v in states + inputs]
    missed, looks, count = set(), [0], [0]

    def look(time, recorder):
        count[0] += 1
        if count[0] % 40 != 1:
            return True
        looks[0] += 1
        one = recorder.fmu
        x = np.zeros(len(states))
        pointer = fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)
        one.getContinuousStates(x.ctypes.data_as(pointer), len(states))
        now = list(x) + (one.getFloat64([v.valueReference for v in inputs]) if inputs else [])

        def at(values, when):
            c = np.array(values[:len(states)])
            one.setTime(when)
            one.setContinuousStates(c.ctypes.data_as(pointer), len(states))
            if inputs:
                one.setFloat64([v.valueReference for v in inputs], values[len(states):])
            return np.array(one.getFloat64(references))

        here = at(now, time)
        for k, known in enumerate(names + ["time"]):
            if all(l is None or known in l for l in listed):
                continue
            moved = list(now)
            h = 1e-4
            if known != "time":
                h *= max(1, abs(now[k]))
                moved[k] += h
            there = at(moved, time + h if known == "time" else time)
            for r in range(len(references)):
                if abs(there[r] - here[r]) > 1e-10 * (1 + abs(here[r])) and listed[r] is not None and known not in listed[r]:
                    missed.add((unknowns[r].variable.name, known))
        at(now, time)
        return looks[0] < 6

    fmpy.simulate_fmu(unit, fmi_type="ModelExchange", relative_tolerance=1e-6, step_finished=look, output=[])
    whole = all(l is not None for l in listed)
    i.check(not missed and whole and looks[0] > 1, "%s: nothing that counts is missing among %d dependencies, at %d points %s"
            % (name, sum(len(l or ()) for l in listed), looks[0], sorted(missed)[:3] or ""))


# What remembers, on the way: values of the past that are looked up with states or inputs move with them. (Polynomials of the past meet to the tolerance, by
# which differences are off, over h.)
def underway(name, text):
    unit = i.build(i.write_model(name, text))
    description = fmpy.read_model_description(unit)
    unknowns = [u.variable.valueReference for u in description.derivatives + description.outputs]
    states = [u.variable.derivative for u in description.derivatives]
    inputs = [v for v in description.modelVariables if v.causality == "input"]
    knowns = [v.valueReference for v in states + inputs]
    worst, looks = [0], [0]

    def look(time, recorder):
        one = recorder.fmu
        if not 1.2 < time < 1.9:
            return True
        now = one.getFloat64(knowns)

        def at(values):
            c = np.array(values[:len(states)])
            one.setContinuousStates(c.ctypes.data_as(fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)), len(states))
            one.setFloat64([v.valueReference for v in inputs], values[len(states):])
            return np.array(one.getFloat64(unknowns))

        looks[0] += 1
        for k, known in enumerate(knowns):
            h = 1e-4
            coarse = (at(stepped(now, k, h)) - at(stepped(now, k, -h))) / (2 * h)
            fine = (at(stepped(now, k, h / 2)) - at(stepped(now, k, -h / 2))) / h
            at(now)
            exact = np.array(one.getDirectionalDerivative(unknowns, [known], [1.0]))
            worst[0] = max(worst[0], np.max(np.abs(exact - (4 * fine - coarse) / 3)) / (1 + np.max(np.abs(exact))))
        return True

    fmpy.simulate_fmu(unit, fmi_type="ModelExchange", relative_tolerance=1e-8, stop_time=2, output_interval=0.1, step_finished=look, output=[])
    i.check(looks[0] > 3 and worst[0] < 1e-6, "%s: directional derivatives differ from extrapolated differences by %.1g, at %d points" % (name, worst[0], looks[0]))


underway("Pipe", """model Pipe
  input Real u(start = 0.2);
  Real x(start = 0, fixed = true), T(start = 1, fixed = true), c(start = 0, fixed = true);
  output Real leaves, other;
equation
  der(x) = 1 + 0.2*c + u;
  der(T) = -T*c;
  (, leaves) = spatialDistribution(cos(3*T), 0, x, true, {0, 1}, {1, 2});
  (, other) = spatialDistribution(T^2, 0, x + 0.1*u + 0.05*other, true, {0, 1}, {1, 2}); // from itself
  der(c) = leaves - c*other;
end Pipe;
""")
underway("Stretched", """model Stretched
  input Real u(start = 0.2);
  Real x(start = 1, fixed = true), y(start = 0.3, fixed = true);
  output Real late;
equation
  der(x) = -late + u;
  der(y) = x - y;
  late = delay(x + y, 0.3 + 0.1*y^2 + 0.05*u, 1);
end Stretched;
""")


# Time among the knowns: derivatives by it are those of differences, and an error where histories would have to be differentiated.
def by_time():
    model = i.write_model("Driven", """model Driven
  input Real u(start = 0.4);
  Real x(start = 0.2, fixed = true), z(start = 1);
  output Real y;
equation
  der(x) = sin(3*time + 0.3)*x + u;
  z + 0.1*exp(z) = x + time^2;
  y = z*cos(time);
end Driven;
""")
    unit = i.build(model)
    description = fmpy.read_model_description(unit)
    one = FMU3Model(guid=description.guid, unzipDirectory=fmpy.extract(unit), modelIdentifier=description.modelExchange.modelIdentifier, instanceName="one")
    one.instantiate()
    one.enterInitializationMode()
    one.exitInitializationMode()
    one.updateDiscreteStates()
    one.enterContinuousTimeMode()
    named = {v.name: v.valueReference for v in description.modelVariables}
    unknowns = [named["der(x)"], named["y"]]

    def at(time):
        one.setTime(time)
        return np.array(one.getFloat64(unknowns))

    t, h = 0.7, 1e-3
    coarse, fine = (at(t + h) - at(t - h)) / (2 * h), (at(t + h / 2) - at(t - h / 2)) / h
    at(t)
    exact = np.array(one.getDirectionalDerivative(unknowns, [named["time"]], [1.0]))
    i.check(np.max(np.abs(exact - (4 * fine - coarse) / 3)) < 1e-8, "directional derivatives by time")
    # A state alone (FMI 3.0.2, 3.2.1), and what is none.
    one.setFloat64([named["x"]], [0.9])
    i.check(one.getFloat64([named["x"]])[0] == 0.9 and abs(one.getFloat64([named["der(x)"]])[0] - (np.sin(3 * t + 0.3) * 0.9 + 0.4)) < 1e-14,
            "a state is set alone in continuous-time mode")
    try:
        one.setFloat64([named["y"]], [1.0])
        refused = False
    except fmpy.fmi1.FMICallException:
        refused = True
    i.check(refused, "an output is not set")
    one.freeInstance()


try:
    by_time()
except Exception as error:
    i.check(False, "by time: %r" % error)
for path in ("examples/quarter_car/sine.mdl", "examples/linkage/four_bar.mdl", "examples/conveyor/conveyor.mdl", "examples/bicycle/bicycle.mdl",
             "examples/woodpecker/woodpecker.mdl", "tests/sim/bouncing_ball.mdl", "tests/sim/rest_pulled.mdl", "tests/sim/delay_changing.mdl",
             "tests/sim/delay_equation.mdl", "tests/sim/transport_loop.mdl", "tests/sim/diode_bridge.mdl", "tests/sim/friction_row.mdl",
             "tests/sim/contact_incline.mdl", "tests/sim/contact_disk.mdl", "tests/sim/cradle_impact.mdl", "tests/sim/energy_fractional.mdl",
             "tests/sim/sampled_controller.mdl", "tests/sim/event_elsewhen.mdl", "examples/mem_inerter/loop.mdl", "examples/embedding/plant.mdl"):
    try:
        complete(path, os.path.join(i.top, path))
    except Exception as error:
        i.check(False, "%s: %r" % (path, error))
