# E1, E2: every example is a valid unit of FMI 2 and 3 whose trajectories, in co-simulation and in model exchange under FMPy's CVode, are those of
# `mdlc run`. usage: examples.py [FOLDER [PATTERN [FILES]]]: only units, into FOLDER, that are kept, of the models that FILES is the pattern of
# (make fmus; FILES='tests/sim/*.mdl' is the models of the suite). What does not run by itself is said and passed over.
import glob
import os
import sys
import time

import numpy as np

import importer as i

if len(sys.argv) > 1:
    i.work = os.path.abspath(sys.argv[1])
    os.makedirs(i.work, exist_ok=True)
pattern = sys.argv[2] if len(sys.argv) > 2 else ""
files = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else "examples/*/*.mdl"
LONGEST = 60  # seconds of a run in FMPy
# A tolerance of 1e-8 leaves CVode an error above 1e-4 of forces in long chains of stiff constraints, which goes with the tolerance.
finer = {"four_bar.mdl": "1e-10", "four_bar_in_space.mdl": "1e-10", "bump.mdl": "1e-10"}
# For `mdlc path`: nothing runs.
left_out = {"spline.mdl"}
# Relative width of tubes where that takes too long.
wider = {"flexible_rod.mdl": "3e-3"}


# Without event mode there are no rows at events: the rows that there are lie on the native result, but where that jumps.
def on_native(rows, reference):
    times = reference["time"]
    events = times[1:][times[1:] == times[:-1]]
    away = np.array([not np.any(np.abs(events - t) < 1e-6) for t in rows["time"]])
    for name in rows.dtype.names[1:]:
        expected = np.interp(rows["time"], times, reference[name])
        apart = np.abs(rows[name].astype(float) - expected)[away]
        allowed = 1e-6 + 1e-4 * np.max(np.abs(reference[name]))
        if np.max(apart) > allowed:
            return False, "%s is off by %.3g, allowed %.3g" % (name, np.max(apart), allowed)
    return True, ""


def models():
    everything = len(sys.argv) > 1
    for path in sorted(glob.glob(os.path.join(i.top, files))):
        if pattern in path and os.path.basename(path) not in left_out and (everything or "/library/" not in path):
            yield path


def in_time(begin):
    def finished(now, recorder):
        if time.monotonic() - begin > LONGEST:
            raise RuntimeError("it has not ended after %d s, at time %.9g" % (LONGEST, now))
        return True
    return finished


for model in models():
    name = os.path.relpath(model, i.top)
    short = os.path.basename(model)
    tolerance, width = finer.get(short, "1e-8"), wider.get(short, "1e-4")
    os.chdir(os.path.dirname(model))
    try:
        reference = i.native(model, tolerance)
        native = i.columns(reference)
    except RuntimeError as error:
        if files.startswith("examples/"):
            i.check(False, "%s: %s" % (name, error))
        else:
            print("none of its own: %s (%s)" % (name, str(error).split(": ", 2)[-1][:80]))
        continue
    try:
        names = list(native)
        bad = []
        for version in (2, 3):
            unit = i.build(model, version)
            problems = i.is_valid(unit)
            if problems:
                bad.append("FMI %d: %s" % (version, problems[0]))
            for kind in ("CoSimulation", "ModelExchange"):
                result = os.path.join(i.work, "result.csv")
                both = version == 3 and kind == "CoSimulation"
                rows, missing = i.simulate(unit, kind, names, tolerance, result, use_event_mode=both, early_return_allowed=both,
                                           step_finished=in_time(time.monotonic()))
                alone = kind == "CoSimulation" and not both
                good, why = on_native(rows, native) if alone else i.compare(result, reference, width)
                if missing or not good:
                    bad.append("FMI %d %s: %s" % (version, kind, ("no " + missing.pop()) if missing else why))
        i.check(not bad, name + "".join("\n    " + text for text in bad))
    except Exception as error:
        i.check(False, "%s: %s" % (name, error))
