# Constraints of units between events: what the importer's method leaves of them is led back by the rates themselves, so that it does not grow, whatever the
# tolerance and whether the unit is told it, without events, and without stiffness for explicit methods. What is read behind a step is on the constraints.
import os
import re
from ctypes import c_double

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model

import importer as i

TURNS = 8

# The positions of two joints: all four are integrated. The crank turns against gravity.
bar = i.write_model("Bar", """
model Bar
  parameter Real a = 0.3, b = 0.8, c = 0.6, d = 0.9, w0 = 14;
  Real x(start = a*cos(1), fixed = true), y(start = a*sin(1)), s(start = 0.9), t(start = 0.6);
  Real u(start = -a*sin(1)*w0, fixed = true), v(start = a*cos(1)*w0), p, q, f, g, h;
equation
  der(x) = u;
  der(y) = v;
  der(s) = p;
  der(t) = q;
  2*der(u) = -f*x + g*(s - x);
  2*der(v) = -f*y + g*(t - y) - 2*9.81;
  der(p) = -g*(s - x) - h*(s - d);
  der(q) = -g*(t - y) - h*t - 9.81;
  x^2 + y^2 = a^2;
  (s - x)^2 + (t - y)^2 = b^2;
  (s - d)^2 + t^2 = c^2;
  annotation(experiment(StopTime = 6, Interval = 0.01));
end Bar;
""")
STATES = ["x", "y", "s", "t", "u", "v", "p", "q"]


# Of the positions, and of the velocities, in lengths.
def gaps(r):
    x, y, s, t, u, v, p, q = (np.asarray(r[name]) for name in STATES)
    place = (x**2 + y**2 - 0.09) / 0.6, ((s - x)**2 + (t - y)**2 - 0.64) / 1.6, ((s - 0.9)**2 + t**2 - 0.36) / 1.2
    speed = (x * u + y * v) / 0.3, ((s - x) * (p - u) + (t - y) * (q - v)) / 0.8, ((s - 0.9) * p + t * q) / 0.6
    return max(np.max(np.abs(g)) for g in place), max(np.max(np.abs(g)) for g in speed)


def native_steps(model, tolerance, stop, solver):
    said = i.call(i.mdlc, "run", model, "-o", os.path.join(i.work, "n.csv"), "--tol", str(tolerance), "--stop", str(stop), "--stats", "--solver", solver)
    return int(re.search(r"(\d+) steps", said.stdout + said.stderr).group(1))


seen = {"own": [], "events": 0, "times": []}
complete, events, rates = FMU2Model.completedIntegratorStep, FMU2Model.enterEventMode, FMU2Model.getDerivatives
setup = FMU2Model.setupExperiment
told = None


def completed(fmu, *words):
    x = (c_double * 8)()
    fmu.getContinuousStates(x, 8)
    seen["own"].append(list(x))
    return complete(fmu, *words)


def entered(fmu):
    seen["events"] += 1
    return events(fmu)


def asked(fmu, *words):
    seen["times"].append(seen["now"])
    return rates(fmu, *words)


def timed(fmu, time, inner=FMU2Model.setTime):
    seen["now"] = time
    return inner(fmu, time)


FMU2Model.completedIntegratorStep, FMU2Model.enterEventMode, FMU2Model.getDerivatives, FMU2Model.setTime = completed, entered, asked, timed
FMU2Model.setupExperiment = lambda fmu, tolerance=None, **words: setup(fmu, tolerance=told, **words)

unit = i.build(bar, 2)
order = [v.derivative.name for v in fmpy.read_model_description(unit, validate=False).modelVariables if v.derivative is not None]
truth = i.columns(i.native(bar, "1e-11"))
angle = np.unwrap(np.arctan2(truth["y"], truth["x"]))
stop = truth["time"][np.argmax(np.abs(angle - angle[0]) > TURNS * 2 * np.pi)]
i.check(0 < stop < 6, "%d turns take %.3g s" % (TURNS, stop))

for tolerance in (1e-4, 1e-6, 1e-8):
    for told in (None, tolerance):
        seen.update(own=[], events=0, times=[])
        rows = fmpy.simulate_fmu(unit, fmi_type="ModelExchange", relative_tolerance=tolerance, output=STATES, stop_time=stop, output_interval=0.01, validate=False)
        own = dict(zip(order, np.array(seen["own"]).T))
        (place, speed), (own_place, own_speed) = gaps(rows), gaps(own)
        largest = np.max(np.abs(rows["u"]))
        steps, native = len(set(seen["times"])), native_steps(bar, tolerance, stop, "cvode")
        text = "%g%s: read %.1e and %.1e, integrated %.1e and %.1e" % (tolerance, "" if told else ", not told", place, speed, own_place, own_speed)
        i.check(place < tolerance and speed < tolerance * largest and own_place < 30 * tolerance and own_speed < 60 * tolerance * largest, text)
        i.check(seen["events"] == 0 and steps <= 3 * native, "    %d events; %d points for %d native steps" % (seen["events"], steps, native))
        off = max(np.max(np.abs(rows[n] - np.interp(rows["time"], truth["time"], truth[n]))) for n in ("x", "y", "s", "t"))
        i.check(off < 3e3 * tolerance, "    positions off by %.1e" % off)


# Methods of fixed steps, as many tools have them.
class Unit:
    def __init__(self, stop):
        d = fmpy.read_model_description(unit, validate=False)
        self.fmu = FMU2Model(guid=d.guid, unzipDirectory=fmpy.extract(unit), modelIdentifier=d.modelExchange.modelIdentifier, instanceName="fixed")
        self.number = [v.valueReference for v in d.modelVariables if v.name in STATES + ["f", "g", "h"]]
        self.fmu.instantiate()
        setup(self.fmu, tolerance=1e-2, startTime=0, stopTime=stop)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        while self.fmu.newDiscreteStates()[0]:
            pass
        self.fmu.enterContinuousTimeMode()
        self.now, self.rate = (c_double * 8)(), (c_double * 8)()
        self.fmu.getContinuousStates(self.now, 8)
        self.x = np.array(self.now)

    def put(self, t, x):
        self.fmu.setTime(t)
        self.now[:] = list(x)
        self.fmu.setContinuousStates(self.now, 8)

    def f(self, t, x):
        self.put(t, x)
        rates(self.fmu, self.rate, 8)
        return np.array(self.rate)

    # Whether an event is asked for.
    def step(self, method, t, h):
        self.x = method(self.f, t, self.x, h)
        self.put(t + h, self.x)
        return complete(self.fmu)[0]

    def close(self):
        self.fmu.terminate()
        self.fmu.freeInstance()


def euler(f, t, x, h):
    return x + h * f(t, x)


def heun(f, t, x, h):
    k = f(t, x)
    return x + h / 2 * (k + f(t + h, x + h * k))


def rk4(f, t, x, h):
    k1 = f(t, x)
    k2 = f(t + h / 2, x + h / 2 * k1)
    k3 = f(t + h / 2, x + h / 2 * k2)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(t + h, x + h * k3))


# Rates do not become stiff for them, and what they leave does not grow. An event cuts a step short now and then.
for method, h, most in ((euler, 1e-4, 1e-5), (heun, 5e-4, 1e-4), (rk4, 2e-3, 5e-4)):
    one, open_by, asks = Unit(3), [], False
    for k in range(round(3 / h)):
        if k % 50:
            asks |= one.step(method, k * h, h)
        else:
            asks |= one.step(method, k * h, 1e-7 * h) or one.step(method, (k + 1e-7) * h, (1 - 1e-7) * h)
        open_by.append(gaps(dict(zip(order, one.x)))[0])
    first, second = max(open_by[:len(open_by) // 2]), max(open_by[len(open_by) // 2:])
    i.check(second < min(most, 2 * first) and not asks, "%s, steps of %g: open by %.1e, and %.1e later" % (method.__name__, h, first, second))
    one.close()

# A state of the instance has all of that: the same calls behind it give the same bits in another instance.
one, other, h, trail = Unit(3), Unit(3), 1e-3, []
for k in range(300):
    one.step(rk4, k * h, h)
    if k == 200:
        kept = one.fmu.serializeFMUstate(one.fmu.getFMUstate())
        rates(one.fmu, one.rate, 8)
        there = one.fmu.getReal(one.number), list(one.rate)
other.fmu.setFMUstate(other.fmu.deSerializeFMUstate(kept))
rates(other.fmu, other.rate, 8)
i.check(there == (other.fmu.getReal(other.number), list(other.rate)), "a restored state has the same values and rates")
other.x = np.zeros(8)
other.fmu.getContinuousStates(other.now, 8)
other.x[:] = other.now
for k in range(201, 300):
    other.step(rk4, k * h, h)
same = np.array_equal(one.x, other.x) and one.fmu.getReal(one.number) == other.fmu.getReal(other.number)
i.check(same, "a restored state goes on with the same bits")
one.close()
other.close()
