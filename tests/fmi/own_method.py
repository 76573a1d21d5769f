# E2: events are where native runs have them when the importer looks for them well. CVode at 1e-8 has the last of this bump's events up to 2e-4 s away;
# Runge and Kutta's steps of order 5 and 1e-10, with roots found on the solution itself, leave the unit no excuse. Steps here may be longer than
# flights between impacts, and begin with the whole flight.
import os
from ctypes import POINTER, c_double

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model

import importer as i

# Dormand and Prince.
NODES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
ROWS = ((), (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9), (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656), (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))
ERROR = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


class Unit:
    def __init__(self, path, tolerance, stop=None):
        d = fmpy.read_model_description(path, validate=False)
        self.fmu = FMU2Model(guid=d.guid, unzipDirectory=fmpy.extract(path), modelIdentifier=d.modelExchange.modelIdentifier, instanceName="own")
        self.fmu.instantiate()
        self.fmu.setupExperiment(tolerance=tolerance, startTime=0, stopTime=stop)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.rate, self.sign = np.zeros(d.numberOfContinuousStates), np.zeros(d.numberOfEventIndicators)
        self.stop, self.events, self.next, self.known = float(d.defaultExperiment.stopTime), [], np.inf, d.modelVariables
        self.settle()

    # The states behind an event.
    def settle(self):
        told = self.fmu.newDiscreteStates()
        while told[0]:
            told = self.fmu.newDiscreteStates()
        self.next = told[5] if told[4] else np.inf
        self.fmu.enterContinuousTimeMode()
        return self.states()

    def move(self, t, x):
        self.fmu.setTime(t)
        self.fmu.setContinuousStates(x.ctypes.data_as(POINTER(c_double)), x.size)

    def rates(self, t, x):
        self.move(t, x)
        self.fmu.getDerivatives(self.rate.ctypes.data_as(POINTER(c_double)), self.rate.size)
        return self.rate.copy()

    def holds(self, t, x):
        self.move(t, x)
        self.fmu.getEventIndicators(self.sign.ctypes.data_as(POINTER(c_double)), self.sign.size)
        return self.sign > 0

    def step(self, t, x, h):
        k = []
        for node, row in zip(NODES, ROWS):
            y = x + h * sum((a * b for a, b in zip(row, k)), np.zeros_like(x))
            k.append(self.rates(t + node * h, y))
        return y, h * (ERROR @ np.array(k))

    # To the stop; the final values. Roots are bisected by steps of other lengths.
    def run(self, tolerance, first, t=0.0):
        x, h = self.states(), first
        while t < self.stop:
            end = min(self.next, self.stop)
            h = min(h, end - t)
            y, error = self.step(t, x, h)
            size = np.max(np.abs(error) / (tolerance * (1 + np.abs(x)))) if x.size else 0
            if size > 1:
                h *= max(0.2, 0.9 * size ** -0.2)
                continue
            before, found = self.holds(t, x), h
            if np.any(self.holds(t + h, y) != before):
                low = 0.0
                while found - low > 1e-13:
                    middle = low + (found - low) / 2
                    if np.any(self.holds(t + middle, self.step(t, x, middle)[0]) != before):
                        found = middle
                    else:
                        low = middle
                y = self.step(t, x, found)[0]
            located = found < h or np.any(self.holds(t + found, y) != before)
            t = end if found == h and t + h >= end else t + found
            self.move(t, y)
            asked, ended = self.fmu.completedIntegratorStep()
            x, h = y, h * min(4.0, 0.9 * max(size, 1e-10) ** -0.2)
            if located or asked or t == self.next:
                self.fmu.enterEventMode()
                x, h = self.settle(), first
                self.events.append(t)
        self.move(t, x)
        self.fmu.completedIntegratorStep()
        return {v.name: self.fmu.getReal([v.valueReference])[0] for v in self.known if v.type == "Real"}

    def states(self):
        x = np.zeros_like(self.rate)
        self.fmu.getContinuousStates(x.ctypes.data_as(POINTER(c_double)), x.size)
        return x


def against_native(model, tolerance, first, what, within, *names, main=(), close=1e-6, stop=None):
    reference = i.columns(i.native(model, "1e-11", *main, *(["--stop", str(stop)] if stop else [])))
    unit = Unit(i.build(model, 2, *main), tolerance)
    unit.stop = stop or unit.stop
    end = unit.run(tolerance, first)
    times = reference["time"]
    native = np.unique(times[1:][times[1:] == times[:-1]])
    apart = max([np.min(np.abs(np.array(unit.events) - t)) for t in native], default=0)
    off = max(abs(end[name] - reference[name][-1]) for name in names)
    i.check(apart < within and off < close, "%s: %d events, %.1g s from those of a native run; ends within %.1g" % (what, len(native), apart, off))


try:
    against_native(os.path.join(i.top, "examples/quarter_car/bump.mdl"), 1e-10, 1e-3, "a bump", 1e-6, "wheel.s", "chassis.v")
    disks = i.write_model("Disks", """model Disks
  Real y[2](start = {0.1, 0.2}, each fixed = true), v[2](each start = 0, each fixed = true), p[2];
equation
  p = {unilateral(y[1], 0.5), unilateral(y[2] - y[1], 0.5)};
  der(y) = v;
  der(v) = {-9.81 + p[1] - p[2], -9.81 + p[2]};
  annotation(experiment(StopTime = 0.33));
end Disks;
""")
    against_native(disks, 1e-10, 0.1, "disks strike each other and the floor in steps as long as flights", 1e-6, "y[1]", "v[2]")
    # Conditions that come and go within one step are seen behind it, and where they began is where their indicators change.
    brief = os.path.join(i.top, "tests/sim/brief_conditions.mdl")
    for name in ("Corners", "Products"):
        main = ("-m", "BriefConditions." + name)
        against_native(brief, 1e-10, 0.1, "windows of 10 microseconds in steps of seconds (%s)" % name, 1e-8, "x[1]", "x[2]", "x[3]", main=main, close=1e-5)
    against_native(os.path.join(i.top, "tests/sim/event_graze.mdl"), 1e-10, 0.1, "grazes for a thousandth of a step", 1e-5, "h", "x", stop=7)
    # Delays that shorten pass jumps of their arguments within steps.
    against_native(os.path.join(i.top, "tests/sim/delay_history.mdl"), 1e-10, 0.01, "delays that change", 1e-6, "q", "r", stop=1.5)
    # E7: the same state and the same calls give the same bits, also where contacts have been measured in between.
    column = Unit(i.build(os.path.join(i.top, "tests/sim/column_impacts.mdl"), 2), 1e-8)
    column.stop = 0.24
    column.run(1e-8, 0.1)
    column.stop, state, following = 0.27, column.fmu.getFMUstate(), column.next
    ends = []
    for _ in range(2):
        ends.append(column.run(1e-8, 0.1, 0.24))
        column.fmu.setFMUstate(state)
        column.next = following
    i.check(ends[0] == ends[1], "E7: eight disks go on from a state twice with the same bits")
    blocks = i.write_model("Blocks", """model Blocks
  Real x[2](start = {1.01, 2.02}, each fixed = true), v[2](each start = 0, each fixed = true);
equation
  der(x) = v;
  der(v) = {-9.81, -9.81};
  when x[1] - 1 <= 0 then
    reinit(v[1], -0.1*pre(v[1]));
  end when;
  when x[2] - x[1] - 1 <= 0 then
    reinit(v[2], 0.55*pre(v[1]) + 0.45*pre(v[2]));
    reinit(v[1], 0.45*pre(v[1]) + 0.55*pre(v[2]));
  end when;
  annotation(experiment(StopTime = 0.5, Interval = 0.05));
end Blocks;
""")
    against_native(blocks, 1e-10, 0.1, "blocks come to rest in steps longer than flights", 1e-6, "x[1]", "x[2]", "v[1]")
    # Sums of exponentials are stretched for another stop than that of the model: fder(0.5, t) is 2*sqrt(t/pi) and sums to 4/3*sqrt(t^3/pi).
    root = i.build(i.write_model("Root", """model Root
  Real x(start = 0, fixed = true), h = fder(x, 0.5), sum(start = 0, fixed = true);
equation
  der(x) = 1;
  der(sum) = h;
  annotation(experiment(StopTime = 1, Tolerance = 1e-6));
end Root;
"""), 2)
    for stop in (0.05, 20):
        end = fmpy.simulate_fmu(root, fmi_type="CoSimulation", stop_time=stop, output=["sum"], output_interval=stop / 10)["sum"][-1]
        off = abs(end / (4 / 3 * np.sqrt(stop**3 / np.pi)) - 1)
        i.check(off < 1e-4, "half a derivative up to %g instead of 1, within %.1g" % (stop, off))
    # Whatever tolerance and stop the importer names: the sums of exponentials stay as many as the description says.
    element = i.build(os.path.join(i.top, "tests/sim/energy_fractional.mdl"), 2)
    begun = [Unit(element, tolerance) for tolerance in (1e-3, 1e-6, 1e-11)]
    begun += [Unit(element, 1e-6, 0.01 * 1.7**k) for k in range(20)]
    rates = [unit.rates(0.0, unit.states()) for unit in begun]
    i.check(all(np.array_equal(rates[0], other) for other in rates), "%d states of fractional elements at any tolerance and stop" % rates[0].size)
except Exception as error:
    i.check(False, str(error))
