# Another importer: CasADi integrates a four-bar with IDAS, and a linear oscillator, by what the unit says of its structure and by its directional
# derivatives; how an end depends on the start is what differences of native runs say.
import os

import fmpy
import numpy as np

import importer as i

try:
    import casadi
except ImportError:
    print("SKIP fmi/second_opinion: there is no CasADi (make importer)")
    raise SystemExit(0)


# Where angles of a loop are guesses the description has these; the unit knows the start.
def start_of(unit, states):
    rows = fmpy.simulate_fmu(unit, fmi_type="ModelExchange", stop_time=1e-6, output=states)
    return np.array([rows[state][0] for state in states])


def integrate(f, n, stop, points, **options):
    x, t = casadi.MX.sym("x", n), casadi.MX.sym("t")
    grid = list(np.linspace(0, stop, points + 1)[1:])
    settings = dict(reltol=1e-10, abstol=1e-10, **options)
    return casadi.integrator("run", "idas", {"x": x, "t": t, "ode": f(t, x)}, 0, grid, settings)


four_bar = os.path.join(i.top, "examples/linkage/four_bar.mdl")
oscillator = os.path.join(i.top, "examples/hello/oscillator.mdl")

for model, stop in ((four_bar, 1.0), (oscillator, 5.0)):
    name = os.path.basename(model)
    for version in (2, 3):
        unit = i.build(model, version)
        builder = casadi.DaeBuilder("model_%d" % version, str(fmpy.extract(unit)))
        states = builder.x()
        f = builder.create("rates", ["t", "x"], ["ode"])
        start = start_of(unit, states)
        n = len(start)
        # The pattern of the Jacobian comes from modelDescription.xml, its numbers from directional derivatives.
        exact = np.array(f.factory("jacobian", ["t", "x"], ["jac:ode:x"])(0, start))
        h = 1e-3 * np.maximum(np.abs(start), 0.1)

        def difference(k, part):
            e = np.zeros(n)
            e[k] = h[k] * part
            return (np.array(f(0, start + e)) - np.array(f(0, start - e))).ravel() / (2 * e[k])

        def extrapolated(k):
            coarse, fine, finest = difference(k, 1), difference(k, 0.5), difference(k, 0.25)
            return (64 * finest - 20 * fine + coarse) / 45

        expected = np.array([extrapolated(k) for k in range(n)]).T
        worst = np.max(np.abs(exact - expected)) / (1 + np.max(np.abs(exact)))
        i.check(worst < 1e-8, "FMI %d, %s: the Jacobian is that of extrapolated differences (%.1g)" % (version, name, worst))
        end = np.array(integrate(f, n, stop, 20)(x0=start)["xf"])
        native = i.columns(i.native(model, "1e-10", "--stop", str(stop), "--points", "20"))
        rows = np.array([native[state][1:] for state in states])
        apart = np.max(np.abs(end - rows)) / np.max(np.abs(rows))
        i.check(apart < 1e-7, "FMI %d, %s: IDAS comes where a native run comes (%.1g)" % (version, name, apart))
