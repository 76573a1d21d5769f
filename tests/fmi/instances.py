# E5, E6, E14: many instances, resets, failures; E15: nothing on standard output.
import ctypes
import os
import resource
import threading

import fmpy
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

import importer as i

unit = i.build(os.path.join(i.top, "examples/quarter_car/sine.mdl"))
description = fmpy.read_model_description(unit)
folder = fmpy.extract(unit)
references = [v.valueReference for v in description.modelVariables if v.name in ("wheel.s", "wheel.v", "damper.x", "damper.v")]


def instance(k=0):
    return FMU3Slave(guid=description.guid, unzipDirectory=folder, modelIdentifier=description.coSimulation.modelIdentifier, instanceName=str(k))


def begin(unit, made=True):
    if not made:
        unit.instantiate()
    unit.enterInitializationMode(startTime=0, tolerance=1e-6)
    unit.exitInitializationMode()


def steps(unit, first, last):
    for k in range(first, last):
        unit.doStep(k * 0.01, 0.01)


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


alone = instance()
begin(alone, False)
steps(alone, 0, 20)
expected = alone.getFloat64(references)

units = [instance(k) for k in range(1000)]
before = memory()
for one in units:
    begin(one, False)
each = (memory() - before) / 1000
i.check(each < 102400, "1,000 instances take %.0f KiB each" % (each / 1024))


def drive(part):
    for k in range(20):
        for one in part:
            steps(one, k, k + 1)


threads = [threading.Thread(target=drive, args=(units[k::8],)) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
i.check(all(one.getFloat64(references) == expected for one in units), "interleaved on 8 threads they have the bits of one alone")
for one in units:
    one.freeInstance()

# Resets.
same = True
for k in range(2000):
    alone.reset()
    begin(alone)
    steps(alone, 0, 20 if k % 500 == 499 else 2)
    if k == 100:
        before, files = memory(), len(os.listdir("/proc/self/fd"))
    if k % 500 == 499:
        same = same and alone.getFloat64(references) == expected
i.check(same, "2,000 resets: each run is the first")
i.check(memory() - before < 400000 and len(os.listdir("/proc/self/fd")) == files, "2,000 resets: memory and descriptors are constant")
alone.freeInstance()

# The same with fractional elements, whose sums of exponentials each instance has of its own.
element = i.build(os.path.join(i.top, "tests/sim/energy_fractional.mdl"))
about = fmpy.read_model_description(element)
files = fmpy.extract(element)
shown = [v.valueReference for v in about.modelVariables if v.type == "Float64" and v.variability == "continuous"]


def elements(n):
    made = [FMU3Slave(guid=about.guid, unzipDirectory=files, modelIdentifier=about.coSimulation.modelIdentifier, instanceName=str(k)) for k in range(n)]
    for one in made:
        begin(one, False)
    return made


alone = elements(1)
steps(alone[0], 0, 20)
expected = alone[0].getFloat64(shown)
units = elements(24)
threads = [threading.Thread(target=drive, args=(units[k::8],)) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
i.check(all(one.getFloat64(shown) == expected for one in units), "so they do with fractional elements")
for one in units + alone:
    one.freeInstance()

# A step that fails: how far it came is known, and an earlier state goes on.
model = i.write_model("Fails", """model Fails
  input Real u(start = 0);
  output Real x(start = 0, fixed = true);
equation
  der(x) = 1 + u;
  assert(x < 1, "x is too large");
end Fails;
""")
failing = i.build(model, 2)
folder = fmpy.extract(failing)
description = fmpy.read_model_description(failing)
two = FMU2Slave(guid=description.guid, unzipDirectory=folder, modelIdentifier=description.coSimulation.modelIdentifier, instanceName="two")
two.instantiate()
two.setupExperiment(startTime=0)
two.enterInitializationMode()
two.exitInitializationMode()
two.doStep(0, 0.5)
x = [v.valueReference for v in description.modelVariables if v.name == "x"]
u = [v.valueReference for v in description.modelVariables if v.name == "u"]
state = two.getFMUState()
try:
    two.doStep(0.5, 2.0)
    status = 0
except fmpy.fmi1.FMICallException as failure:
    status = failure.status
last = ctypes.c_double()
two.fmi2GetRealStatus(two.component, 2, ctypes.byref(last))
i.check(status == 2 and 0.5 <= last.value <= 1 + 1e-6, "a step that fails is discarded (%d); the last time is known: %.9g" % (status, last.value))
two.setFMUState(state)
two.setReal(u, [-1.0])
two.doStep(0.5, 2.0)
i.check(abs(two.getReal(x)[0] - 0.5) < 1e-9, "the instance goes on from a state before the failure")
two.freeFMUState(state)
two.freeInstance()

# One of several fails, in FMI 3: the others do not notice, and it is one of them again behind a reset or from a state of another one.
failing = i.build(model, 3)
about = fmpy.read_model_description(failing)
files = fmpy.extract(failing)
x, u = ([v.valueReference for v in about.modelVariables if v.name == name] for name in ("x", "u"))
several = [FMU3Slave(guid=about.guid, unzipDirectory=files, modelIdentifier=about.coSimulation.modelIdentifier, instanceName=str(k)) for k in range(3)]
for one in several:
    begin(one, False)
    one.setFloat64(u, [-0.5])
    one.doStep(0, 0.5)
several[1].setFloat64(u, [9.0])
state = several[0].getFMUState()
try:
    several[1].doStep(0.5, 1.0)
    status = 0
except fmpy.fmi1.FMICallException as failure:
    status = failure.status
reached = several[1].getFloat64(x)[0]
for one in (several[0], several[2]):
    one.doStep(0.5, 1.0)
ends = [one.getFloat64(x)[0] for one in (several[0], several[2])]
several[1].setFMUState(state)
several[1].doStep(0.5, 1.0)
ends.append(several[1].getFloat64(x)[0])
several[1].reset()
begin(several[1])
several[1].setFloat64(u, [-0.5])
several[1].doStep(0, 0.5)
several[1].doStep(0.5, 1.0)
ends.append(several[1].getFloat64(x)[0])
i.check(status in (2, 3) and reached <= 1 + 1e-6, "FMI 3: a step of one instance among others fails (%d), at %.7g" % (status, reached))
i.check(all(abs(end - 0.75) < 1e-9 for end in ends) and ends[0] == ends[1] == ends[2], "the others go on, and so does it from a state and behind a reset")
several[0].freeFMUState(state)
for one in several:
    one.freeInstance()

# Communication points end no steps of the method: a run with a thousand of them has the bits of one with seven, where nothing changes there.
smooth = i.write_model("Smooth", """model Smooth
  input Real u(start = 0.5);
  output Real x(start = 1, fixed = true);
  output Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = u - x - 0.3*x^3 - 0.1*v;
  assert(x < 3, "x is too large");
end Smooth;
""")
unit = i.build(smooth)
folder = fmpy.extract(unit)
description = fmpy.read_model_description(unit)
named = {v.name: v.valueReference for v in description.modelVariables}


def run(points, change=None, stop=7.0):
    one = FMU3Slave(guid=description.guid, unzipDirectory=folder, modelIdentifier=description.coSimulation.modelIdentifier, instanceName="smooth")
    one.instantiate()
    one.enterInitializationMode(startTime=0, tolerance=1e-8, stopTime=stop)
    one.exitInitializationMode()
    for k in range(points):
        if change:
            change(one, k * stop / points)
        one.doStep(k * stop / points, (k + 1) * stop / points - k * stop / points)
    values = one.getFloat64([named["x"], named["v"]])
    one.freeInstance()
    return values


i.check(run(7) == run(1000), "1,000 communication points give the bits of 7")


# An input that changes within a step of the method counts from there on: a constant force, switched at 2.1.
def switch(one, time):
    if abs(time - 2.1) < 1e-9:
        one.setFloat64([named["u"]], [-0.2])


def keep(one, time):
    switch(one, time)
    if abs(time - 4.2) < 1e-9:
        kept = one.getFMUState()
        one.doStep(time, 0.7)
        one.setFMUState(kept)
        one.freeFMUState(kept)


twice = [run(10, switch), run(1000, switch), run(1000, keep)]
i.check(max(abs(a - b) for other in twice[1:] for a, b in zip(other, twice[0])) < 1e-6, "inputs change, and states are kept, between the ends of steps")


# What would fail beyond a communication point has not happened when an input prevents it there.
def prevent(one, time):
    one.setFloat64([named["u"]], [5.0 if time < 0.8 else -9.0])


i.check(abs(run(700, prevent, 1.4)[0]) < 3, "a failure beyond a communication point is none")

# Units that show less compute the same.
plant = os.path.join(i.top, "examples/embedding/plant.mdl")
ends = []
for expose in ("all", "public", "interface"):
    unit = i.build(plant, 3, "--expose", expose)
    outputs = [u.variable.name for u in fmpy.read_model_description(unit).outputs]
    for kind in ("CoSimulation", "ModelExchange"):
        rows = fmpy.simulate_fmu(unit, fmi_type=kind, relative_tolerance=1e-9, output=outputs)
        ends.append([rows[name][-1] for name in outputs])
    problems = i.is_valid(unit)
    i.check(not problems, "--expose %s: a valid unit %s" % (expose, problems[:1] or ""))
i.check(ends[2:4] == ends[:2] and ends[4:] == ends[:2], "what a unit shows does not change what it computes")
