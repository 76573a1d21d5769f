# I1: the Reference-FMUs of the Modelica Association, units that others have made, move in an mdlc model as they do in FMPy. REFERENCE_FMUS names the
# folder with their archives, 2.0/ and 3.0/. FMI 2 by co-simulation and FMI 3 by model exchange; what is in FMI 3 alone by both.
import os
import subprocess

import fmpy
import numpy as np

import importer as i

folder = os.environ.get("REFERENCE_FMUS") or os.path.join(i.top, "build/importer/reference")
# A stiff problem from 1e-5 on, over many decades: as far as others get with steps of 0.001.
short = {"Roberts": (1e-5, 1 + 1e-5, 0.02)}


def columns_of(rows, name):
    return {name: rows[name]} if rows[name].ndim == 1 else {"%s[%d]" % (name, k + 1): rows[name][:, k] for k in range(rows[name].shape[1])}


def apart(name, version, kind):
    unit, model = os.path.join(folder, "%d.0" % version, name + ".fmu"), os.path.join(i.work, name + ".mdl")
    by_steps = kind == "CoSimulation"
    description = fmpy.read_model_description(unit, validate=False)
    experiment = description.defaultExperiment
    start, stop, step = short.get(name) or (0.0, float(experiment.stopTime), float(experiment.stepSize or float(experiment.stopTime) / 100))
    outputs = [v.name for v in description.modelVariables if v.causality == "output" and v.type not in ("String", "Binary")]
    tolerance = "1e-9" if name != "Roberts" else "1e-10"
    i.call(i.mdlc, "import", unit, "-o", model, "--interface", "cs" if by_steps else "me")
    native = i.columns(i.native(model, tolerance, "--allow-external", "--start", repr(start), "--stop", repr(stop), "--interval", repr(step),
                                *(["--set", "fmu_step=%r" % step] if by_steps else [])))
    rows = fmpy.simulate_fmu(unit, fmi_type=kind, relative_tolerance=float(tolerance), output=outputs, output_interval=step, start_time=start, stop_time=stop)
    times, worst, compared = native["time"], 0, 0
    events = times[1:][times[1:] == times[:-1]]
    last = np.append(times[1:] != times[:-1], True)
    away = np.array([by_steps or not np.any(np.abs(events - t) < 1e-4) for t in rows["time"]])
    for output in outputs:
        for column, values in columns_of(rows, output).items():
            if column not in native:  # an alias of another one
                continue
            values, mine = values.astype(float), np.interp(rows["time"], times, native[column])
            if by_steps:  # what stands behind all events of an instant
                mine = native[column][last][np.array([np.argmin(np.abs(times[last] - t)) for t in rows["time"]])]
            worst, compared = max(worst, np.max(np.abs(mine - values)[away]) / (1e-9 + np.max(np.abs(values)))), compared + 1
    return worst, compared


if not os.path.exists(os.path.join(folder, "3.0/StateSpace.fmu")):
    print("SKIP fmi/reference: there are no Reference-FMUs (make importer)")
else:
    units = [(name, 2, "CoSimulation") for name in ("BouncingBall", "Dahlquist", "Feedthrough", "Resource", "Stair", "VanDerPol")]
    units += [(name, 3, "ModelExchange") for name, _, _ in units] + [(name, 3, kind) for name in ("Roberts", "StateSpace") for kind in ("ModelExchange", "CoSimulation")]
    for name, version, kind in units:
        try:
            worst, compared = apart(name, version, kind)
            i.check(worst < 1e-4 and compared, "%s, FMI %d, %s: %d outputs, %.1g from FMPy's" % (name, version, kind, compared, worst))
        except Exception as error:
            i.check(False, "%s, FMI %d, %s: %s" % (name, version, kind, error))
    refused = subprocess.run([i.mdlc, "import", os.path.join(folder, "3.0/Clocks.fmu"), "-o", os.path.join(i.work, "Clocks.mdl")], capture_output=True, text=True)
    i.check(refused.returncode == 1 and "clocks" in refused.stderr, "Clocks is refused: " + refused.stderr.strip())
