# E2: events, friction, impacts, contacts, delays, transported profiles and diodes under the importer's own integrator are what they are natively, and
# rebounds that end come to rest there, too.
import os

import fmpy
import numpy as np

import importer as i

models = ["bouncing_ball", "delay_changing", "delay_equation", "transport_loop", "diode_bridge", "friction_row", "friction_lifting", "contact_incline", "contact_disk",
          "cradle_impact", "stack_impact", "energy_fractional", "sampled_controller", "event_elsewhen", "locked_frictions"]
for name in models:
    model = os.path.join(i.top, "tests/sim", name + ".mdl")
    if not os.path.exists(model):
        i.check(False, name + ": there is no such model")
        continue
    try:
        reference = i.native(model, "1e-8")
        names = list(i.columns(reference))
        bad = []
        for version, kind in ((2, "ModelExchange"), (3, "CoSimulation")):
            result = os.path.join(i.work, "result.csv")
            mode = kind == "CoSimulation"
            i.simulate(i.build(model, version), kind, names, "1e-8", result, use_event_mode=mode, early_return_allowed=mode)
            good, why = i.compare(result, reference)
            if not good:
                bad.append("%s: %s" % (kind, why))
        i.check(not bad, name + "".join("\n    " + text for text in bad))
    except Exception as error:
        i.check(False, "%s: %s" % (name, error))

# A ball whose resets follow each other ever faster: below its own tolerance the importer does not see the flights any more.
model = os.path.join(i.top, "tests/sim/rest_pulled.mdl")
reference = i.columns(i.native(model, "1e-8"))
rows, _ = i.simulate(i.build(model, 2), "ModelExchange", ["h", "v"], "1e-8")
apart = np.max(np.abs(rows["h"] - np.interp(rows["time"], reference["time"], reference["h"])))
resting = [h for t, h in zip(rows["time"], rows["h"]) if 1.4 < t < 2.9]
i.check(apart < 1e-3 and all(h == 0 for h in resting), "a ball at rest lies on the floor exactly, and is pulled off again (%.1g m apart)" % apart)

# A push over time behind a long rest: it is told where it begins, and how it goes on.
pushed = i.write_model("Pushed", """model Pushed
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = exp(-((time - 20)/0.005)^2);
  der(y) = sin(0.1*time);
  annotation(experiment(StopTime = 60));
end Pushed;
""")
rows, _ = i.simulate(i.build(pushed, 2), "ModelExchange", ["x", "y"], "1e-8")
push = 0.005 * np.sqrt(np.pi)
i.check(abs(rows["x"][-1] / push - 1) < 1e-3, "a push of 5 ms in 60 s is not passed over (%.6g of it)" % (rows["x"][-1] / push))

# A brake that begins with no force at all: the velocity that rounding gives its shaft is held as soon as it returns to zero. Without that it changes
# its sign for ever, a thousand times in a millisecond.
model = os.path.join(i.top, "tests/sim/brake_onset.mdl")
reference = i.columns(i.native(model, "1e-8"))
steps = []
rows, _ = i.simulate(i.build(model, 2), "ModelExchange", ["a.w", "b.w"], "1e-8", step_finished=lambda time, recorder: steps.append(time) or len(steps) < 2000)
still = np.all(rows["b.w"][rows["time"] > 1e-5] == 0) and abs(rows["a.w"][-1] - reference["a.w"][-1]) < 1e-6
i.check(len(steps) < 2000 and rows["time"][-1] > 0.399 and still, "a brake that begins to be pressed holds its shaft (%d steps)" % len(steps))

# A contact that opens unseen within a step is an event at its end; friction on it has no negative limit before.
model = os.path.join(i.top, "examples/woodpecker/woodpecker.mdl")
unit = i.build(model)
failed = []
for tolerance in ("6.30957344480193e-06", "1.8478497974222906e-06", "3.6869450645195734e-07"):
    try:
        fmpy.simulate_fmu(unit, fmi_type="ModelExchange", relative_tolerance=float(tolerance), output=[], stop_time=0.3, output_interval=0.002)
    except Exception as error:
        failed.append("%s: %s" % (tolerance, error))
i.check(not failed, "a woodpecker's contacts open at the ends of steps" + "".join("\n    " + text for text in failed))
