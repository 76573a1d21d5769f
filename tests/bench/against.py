"""Time to one error: the models of tests/bench/models/against.mdl by mdlc and by other tools, compiling and running apart.

usage: against.py MDLC PEER_IVP [MODEL...]      with numpy, scipy, casadi, exudyn and rumoca (pip) and ngspice (Debian); what is not there is left out, by name

Each tool runs each model at a row of tolerances. A figure is the processor time of the cheapest run whose values at the end are within the error asked for
of a reference that none of them computed: closed forms of the linear models, Radau and Dormand-Prince methods of SciPy at 1e-13 for the others. Errors are relative
to what stands in `against` below for each value. Times are the least of several runs, in processes of this one's making where a tool is a program.
"""
import importlib.util
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
from scipy.integrate import solve_ivp

MDLC, PEER = map(os.path.abspath, sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "models", "against.mdl")
sys.path.insert(0, os.path.join(HERE, "..", "..", "frontend", "python"))
os.environ["MDLC"] = MDLC
TOLERANCES = [10.0 ** (-k / 2) for k in range(6, 25)]
ERRORS = [1e-4, 1e-6, 1e-8]
RUNS = 3


# --- the models once more, for tools that take functions

def reaction(t, y):
    slow, fast = -0.04 * y[0] + 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return [slow, -slow - fast, fast]


def chain(n):
    def rates(t, y, sin=np.sin, cos=np.cos, solve=np.linalg.solve, matrix=np.array):
        q, w = [y[i] for i in range(n)], [y[n + i] for i in range(n)]
        carried = [[n - max(i, j) for j in range(n)] for i in range(n)]
        mass = matrix([[carried[i][j] * cos(q[i] - q[j]) for j in range(n)] for i in range(n)])
        force = matrix([[-sum(carried[i][j] * sin(q[i] - q[j]) * w[j] * w[j] for j in range(n)) - (n - i) * 9.81 * sin(q[i])] for i in range(n)])
        a = solve(mass, force)
        return w + [a[i, 0] for i in range(n)]

    return rates


def rectifier(t, y, sin=math.sin, exp=math.exp):
    a, b, u = y[0], y[1], y[2]
    i = (10 * sin(314.1592653589793 * t) - a + b) / 10
    pa, pb, na, nb = (1e-12 * (exp(v / 0.025) - 1) for v in (a - u, b - u, -a, -b))
    return [(i - pa + na) / 1e-8, (-i - pb + nb) / 1e-8, (pa + pb - u / 1000) / 1e-4]


def line(n, gain, frequency):
    def rates(t, y, sin=math.sin):
        return [gain * ((sin(frequency * t) if i == 0 else y[i - 1]) - 2 * y[i] + y[i + 1]) for i in range(n - 1)] + [gain * (y[n - 2] - y[n - 1])]

    return rates


def line_end(n, gain, frequency, stop):
    """The line at rest driven by sin(w t): by the eigenvectors of its matrix."""
    matrix = gain * (np.diag([-2.0] * (n - 1) + [-1.0]) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))
    value, vector = np.linalg.eigh(matrix)
    w, s = frequency, stop
    # Of y' = v*y + sin(w t), y(0) = 0.
    mode = (w * np.exp(value * s) - value * np.sin(w * s) - w * np.cos(w * s)) / (value**2 + w**2)
    return vector @ (mode * (gain * vector[0]))


class Problem:
    def __init__(self, name, what, stop, start, rates, names, shown, against, scale, reference):
        self.name, self.what, self.stop, self.start, self.rates, self.names, self.shown = name, what, stop, start, rates, names, shown
        self.against, self.scale = np.array(against), scale  # of errors; of absolute tolerances
        end = reference(self)
        self.reference = np.array([end[k] for k in shown])

    def error(self, values):
        return float(np.max(np.abs(np.array(values) - self.reference) / self.against))


def integrated(method):
    return lambda p: solve_ivp(p.rates, (0, p.stop), p.start, method=method, rtol=1e-13 if method == "DOP853" else 3e-14, atol=1e-16).y[:, -1]


PROBLEMS = [
    Problem("Reaction", "Robertson's reaction, 3 states, stiff, to 400 s", 400, [1, 0, 0], reaction, ["y1", "y2", "y3"], [0, 1, 2], [1, 3e-5, 1], 1e-6,
            integrated("Radau")),
    Problem("Rod", "heat in a rod, 1,000 cells, to 1 s", 1, [0] * 1000, line(1000, 1e4, 1), [f"T[{i}]" for i in range(1, 1001)], [9, 99, 499], [1, 1, 1], 1e-2,
            lambda p: line_end(1000, 1e4, 1, p.stop)),
    Problem("Chain", "four points on rods in a plane, 8 states, not stiff, to 3 s", 3, [1.0, 0.6, 0.2, -0.2] + [0] * 4, chain(4), [f"q[{i}]" for i in range(1, 5)],
            [0, 1, 3], [1, 1, 1], 0.1, integrated("DOP853")),
    Problem("Ladder", "RC ladder, 200 sections, driven at 0.2 rad/s, to 100 s", 100, [0] * 200, line(200, 1, 0.2), [f"v[{i}]" for i in range(1, 201)], [0, 9, 29],
            [1, 1, 1], 1e-2, lambda p: line_end(200, 1, 0.2, p.stop)),
    Problem("Rectifier", "bridge of four diodes, capacitor and load, 50 Hz, to 0.05 s", 0.05, [0, 0, 0], rectifier, ["a", "b", "u"], [0, 1, 2], [10, 10, 10], 0.1,
            integrated("Radau")),
]


# --- processor time, of this process and of those that have ended

def spent():
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def least(call, runs=RUNS):
    """The result, and ms of processor time of the cheapest call; long calls are made once."""
    best = math.inf
    for _ in range(runs):
        begin = spent()
        result = call()
        best = min(best, spent() - begin)
        if best > 2:
            break
    return result, 1e3 * best


def there(package):
    return importlib.util.find_spec(package) is not None


# --- the tools: each gives None where it does not take the model, or ms to compile and a function of the tolerance that gives values and ms

def by_mdlc(p, solver="auto"):
    import mdlc

    # The runs are those of a library in this process, as other tools' are; what `mdlc run` takes from the source to its first rows is what compiling costs.
    os.environ["MDLC_CACHE"] = tempfile.mkdtemp(dir=WORK)
    model = mdlc.compile(SOURCE, p.name)
    first = [MDLC, "run", SOURCE, "-m", p.name, "--stop", repr(1e-9 * p.stop), "--quiet", "-o", os.path.join(WORK, "first.csv")]
    _, ms = least(lambda: subprocess.run(first, check=True, capture_output=True))
    names = [p.names[k] for k in p.shown]

    def run(tolerance):
        result, took = least(lambda: model.run(stop=p.stop, interval=p.stop, tol=tolerance, solver=solver, variables=names))
        return [result[name][-1] for name in names], took

    return ms, run


def by_mdlc_adams(p):
    return by_mdlc(p, "adams") if p.name == "Chain" else None


def by_hand(p):
    def run(tolerance):
        said = subprocess.run([PEER, p.name, repr(tolerance), repr(p.stop)], check=True, capture_output=True, text=True).stdout.split()
        return [float(value) for value in said[2:]], float(said[0])

    return 0.0, run


def by_casadi(p):
    import casadi

    def made(tolerance):
        t, y = casadi.SX.sym("t"), casadi.SX.sym("y", len(p.start))
        if p.name == "Chain":
            f = p.rates(t, y, casadi.sin, casadi.cos, casadi.solve, lambda rows: casadi.vertcat(*[casadi.horzcat(*row) for row in rows]))
        elif p.name == "Rectifier":
            f = p.rates(t, y, casadi.sin, casadi.exp)
        elif p.name == "Reaction":
            f = p.rates(t, y)
        else:
            f = p.rates(t, y, casadi.sin)
        options = {"reltol": tolerance, "abstol": tolerance * p.scale, "max_num_steps": 10**8, "newton_scheme": "direct"}
        return casadi.integrator("run", "idas", {"x": y, "t": t, "ode": casadi.vertcat(*f)}, 0, p.stop, options)

    _, ms = least(lambda: made(1e-6))

    def run(tolerance):
        solver = made(tolerance)
        result, took = least(lambda: solver(x0=p.start))
        return [float(result["xf"][k]) for k in p.shown], took

    return ms, run


def by_rumoca(p):
    import rumoca

    def compiled():
        try:
            return rumoca.Session().load(os.path.join(WORK, "against.mo"), model=p.name)
        except BaseException as error:  # its panics are no Exception
            raise RuntimeError(str(error)) from None

    if not os.path.exists(os.path.join(WORK, "against.mo")):
        shutil.copy(SOURCE, os.path.join(WORK, "against.mo"))
    model, ms = least(compiled)

    def run(tolerance):
        config = rumoca.SimConfig(rtol=tolerance, atol=tolerance * p.scale, dt=p.stop)
        result, took = least(lambda: model.simulate(t=(0, p.stop), config=config))
        rows = np.array(result.to_numpy())
        place = {name: k for k, name in enumerate(result.names)}
        if abs(result.time[-1] - p.stop) > 1e-9 * p.stop:
            raise RuntimeError("ends at %g" % result.time[-1])
        rows = rows if rows.shape[0] == len(result.time) else rows.T
        return [float(rows[-1][place[p.names[k]] + (rows.shape[1] - len(place))]) for k in p.shown], took

    return ms, run


def by_exudyn(p):
    if p.name != "Chain":
        return None
    import exudyn as exu
    from exudyn.utilities import NodeGenericODE2, ObjectKinematicTree

    n = 4

    def made():
        container = exu.SystemContainer()
        system = container.AddSystem()
        turned = [p.start[0]] + [p.start[i] - p.start[i - 1] for i in range(1, n)]
        node = system.AddNode(NodeGenericODE2(referenceCoordinates=[0] * n, initialCoordinates=turned, initialCoordinates_t=[0] * n, numberOfODE2Coordinates=n))
        places, turns, offsets, inertias = exu.Vector3DList(), exu.Matrix3DList(), exu.Vector3DList(), exu.Matrix3DList()
        for i in range(n):
            offsets.Append([0, 0 if i == 0 else -1, 0])
            places.Append([0, -1, 0])
            turns.Append(np.eye(3))
            inertias.Append(np.zeros((3, 3)))
        system.AddObject(ObjectKinematicTree(nodeNumber=node, jointTypes=[exu.JointType.RevoluteZ] * n, linkParents=list(range(-1, n - 1)), jointTransformations=turns,
                                             jointOffsets=offsets, linkInertiasCOM=inertias, linkCOMs=places, linkMasses=[1] * n, baseOffset=[0, 0, 0], gravity=[0, -9.81, 0]))
        system.Assemble()
        return container, system, node

    _, ms = least(made)

    def run(tolerance):
        container, system, node = made()
        settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = p.stop
        settings.timeIntegration.numberOfSteps = 1
        settings.timeIntegration.automaticStepSize = True
        settings.timeIntegration.initialStepSize = 1e-3
        settings.timeIntegration.relativeTolerance = tolerance
        settings.timeIntegration.absoluteTolerance = tolerance * p.scale
        settings.timeIntegration.explicitIntegration.dynamicSolverType = exu.DynamicSolverType.DOPRI5
        settings.timeIntegration.verboseMode = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.displayComputationTime = settings.displayStatistics = False

        def solved():
            system.SolveDynamic(settings, solverType=exu.DynamicSolverType.DOPRI5)
            return np.cumsum(system.GetNodeOutput(node, exu.OutputVariableType.Coordinates))

        angles, took = least(solved)
        return [float(angles[k]) for k in p.shown], took

    return ms, run


def by_ngspice(p):
    cards = {
        "Ladder": lambda: ["vs s 0 sin(0 1 %.17g)" % (0.2 / (2 * math.pi))] + [f"r{i} {'s' if i == 1 else f'n{i - 1}'} n{i} 1\nc{i} n{i} 0 1 ic=0" for i in range(1, 201)],
        "Rod": lambda: ["vs s 0 sin(0 1 %.17g)" % (1 / (2 * math.pi))] + [f"r{i} {'s' if i == 1 else f'n{i - 1}'} n{i} 1e-4\nc{i} n{i} 0 1 ic=0" for i in range(1, 1001)],
        # Its own diode has other physical constants; sources that depend on voltages say just what the model says.
        "Rectifier": lambda: ["bs s b v=10*sin(314.1592653589793*time)", "rs s a 10"]
        + [f"b{k} {p} {n} i=1e-12*(exp(v({p},{n})/0.025)-1)" if n != "0" and p != "0" else f"b{k} {p} {n} i=1e-12*(exp({'-' if p == '0' else ''}v({p if n == '0' else n})/0.025)-1)"
           for k, (p, n) in enumerate((("a", "u"), ("b", "u"), ("0", "a"), ("0", "b")))]
        + ["ca a 0 1e-8 ic=0", "cb b 0 1e-8 ic=0", "cu u 0 1e-4 ic=0", "rl u 0 1000"],
    }
    if p.name not in cards:
        return None
    shown = {"Ladder": ["n1", "n10", "n30"], "Rod": ["n10", "n100", "n500"], "Rectifier": ["a", "b", "u"]}[p.name]

    def call(tolerance, stop):
        path = os.path.join(WORK, "x.cir")
        with open(path, "w") as file:
            print("against", *cards[p.name](), sep="\n", file=file)
            print(f".options reltol={tolerance:g} abstol={1e-6 * tolerance:g} vntol={tolerance * p.scale:g} chgtol={1e-6 * tolerance:g} trtol=1 gmin=1e-18", file=file)
            print(f".tran {p.stop / 50:.17g} {stop:.17g} 0 {p.stop / 50:.17g} uic", ".control", "set numdgt=15", "run", sep="\n", file=file)
            print("print " + " ".join(f"v({node})[length(time)-1]" for node in shown), "print time[length(time)-1]", "quit", ".endc", ".end", sep="\n", file=file)
        said = subprocess.run(["ngspice", "-b", path], capture_output=True, text=True).stdout
        values = [float(row.split("=")[1]) for row in said.splitlines() if row.startswith(("v(", "time[")) and "=" in row]
        if len(values) != 4 or abs(values[3] - stop) > 1e-9 * stop:
            raise RuntimeError("did not reach the end")
        return values[:3]

    _, ms = least(lambda: call(1e-3, 1e-9 * p.stop))

    def run(tolerance):
        values, took = least(lambda: call(tolerance, p.stop))
        return values, max(took - ms, 0.1)

    return ms, run


WORK = tempfile.mkdtemp()
TOOLS = [
    ("mdlc", by_mdlc, "mdlc"), ("mdlc --solver adams", by_mdlc_adams, "mdlc"), ("C with CVODE", by_hand, None), ("CasADi's IDAS", by_casadi, "casadi"), ("Rumoca", by_rumoca, "rumoca"),
    ("Exudyn, Dormand-Prince", by_exudyn, "exudyn"), ("ngspice", by_ngspice, None),
]


def figures(tool, p):
    """ms to compile; for each error the cheapest run, as ms and tolerance; the smallest error reached."""
    made = tool(p)
    if made is None:
        return None
    ms, run = made
    best, smallest, why = {}, math.inf, ""
    for tolerance in TOLERANCES:
        try:
            values, took = run(tolerance)
        except Exception as error:
            why = str(error).splitlines()[0][:60] if str(error) else type(error).__name__
            continue
        error = p.error(values)
        smallest = min(smallest, error)
        if os.environ.get("AGAINST"):
            print(f"  {p.name} {tolerance:.1e}: error {error:.2e}, {took:.3f} ms", file=sys.stderr)
        for wanted in ERRORS:
            if error <= wanted and took < best.get(wanted, math.inf):
                best[wanted] = took
        if ERRORS[-1] in best or took > 20000:
            break
    return ms, best, smallest, why


def main():
    only = sys.argv[3:]
    try:
        print("| model | tool | to compile | to 1e-4 | to 1e-6 | to 1e-8 |", "|---|---|---|---|---|---|", sep="\n")
        for p in PROBLEMS:
            if only and p.name not in only:
                continue
            for name, tool, package in TOOLS:
                if package and not there(package) or tool is by_ngspice and not shutil.which("ngspice"):
                    print(f"| {p.what} | {name} | not installed | | | |")
                    continue
                try:
                    found = figures(tool, p)
                except Exception as error:
                    print(f"| {p.what} | {name} | refused: {str(error).splitlines()[0][:80]} | | | |")
                    continue
                if found is None:
                    continue
                ms, best, smallest, why = found
                cells = [f"{best[wanted]:.3g} ms" if wanted in best else f"no: {smallest:.1e} at best" if smallest < math.inf else f"no: {why}" for wanted in ERRORS]
                print(f"| {p.what} | {name} | {f'{ms:.3g} ms' if ms else ''} | {' | '.join(cells)} |", flush=True)
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


main()
