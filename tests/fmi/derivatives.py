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

    worst, missed = 0, []
    for k, known in enumerate(knowns):
        # Richardson's extrapolation of central differences.
        h = 1e-3 * max(abs(now[k]), 1e-1)
        coarse = (at(stepped(now, k, h)) - at(stepped(now, k, -h))) / (2 * h)
        fine = (at(stepped(now, k, h / 2)) - at(stepped(now, k, -h / 2))) / h
        finest = (at(stepped(now, k, h / 4)) - at(stepped(now, k, -h / 4))) / (h / 2)
        once, twice = (4 * fine - coarse) / 3, (4 * finest - fine) / 3
        expected = (16 * twice - once) / 15
        at(now)
        exact = np.array(one.getDirectionalDerivative(unknowns, [known], [1.0]))
        scale = 1 + np.max(np.abs(exact))
        worst = max(worst, np.max(np.abs(exact - expected)) / scale)
        for row, unknown in zip(exact, description.derivatives + description.outputs):
            listed = unknown.dependencies
            if abs(row) > 1e-12 * scale and listed is not None and known not in [v.valueReference for v in listed]:
                missed.append((unknown.variable.name, known))
        # The transposed: each row by one call.
        for r, row in enumerate(exact):
            back = one.getAdjointDerivative([unknowns[r]], [known], [1.0])
            if abs(back[0] - row) > 1e-12 * scale:
                missed.append("adjoint")
    i.check(worst < 1e-8, "%s: directional derivatives differ from extrapolated differences by %.1g" % (name, worst))
    i.check(not missed, "%s: what depends is listed %s" % (name, missed[:3] or ""))
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
