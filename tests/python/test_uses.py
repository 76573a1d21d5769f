# test_uses.py: analysis, control, fitting, notebooks.
import zipfile

import numpy as np
import pytest

import mdlc

DRIVEN = """
model Driven
  parameter Real m = 1, c = 0.4, k = 9, k3 = 20;
  input Real u;
  Real s(start = 0.1, fixed = true), v(start = 0, fixed = true);
  Real a = (u - c*v - k*s - k3*s^3)/m;
equation
  der(s) = v;
  der(v) = a;
end Driven;
"""


def test_rates():
    f = mdlc.compile(text=DRIVEN).rates(parameters=["m", "k"])
    assert f.inputs == ["u"] and f.states == ["s", "v"]
    x, u, p = np.array([0.3, -0.2]), [0.7], [2.0, 5.0]
    want = np.array([x[1], (0.7 - 0.4 * x[1] - 5 * x[0] - 20 * x[0] ** 3) / 2])
    assert np.allclose(f(0, x, u, p), want, rtol=1e-15) and np.array_equal(f(0, x, u, p), f(0, x, u, p))
    by_state, by_input = f.jac(0, x, u, p)
    assert np.allclose(by_state, [[0, 1], [(-5 - 60 * x[0] ** 2) / 2, -0.2]], rtol=1e-14) and np.allclose(by_input, [[0], [0.5]])
    first = f(0, x)
    f(1, x + 1, [3.0])
    assert np.array_equal(f(0, x), first)
    with pytest.raises(ValueError, match="2 states, 1 inputs"):
        f(0, [1])
    # Somebody else's method of integration: classical Runge-Kutta, against the run.
    y, h = f.x0.copy(), 1e-3
    for k in range(1000):
        a = f(0, y)
        b = f(0, y + h / 2 * a)
        c = f(0, y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + f(0, y + h * c))
    r = mdlc.compile(text=DRIVEN).run(stop=1, tol=1e-11)
    assert np.allclose(y, [r["s"][-1], r["v"][-1]], atol=1e-9)


def test_env():
    env = mdlc.compile(text=DRIVEN).env(["s", "v"], interval=0.05, stop=0.5, reward=lambda e: -e["s"] ** 2)
    with pytest.raises(mdlc.MdlcError):
        env.step([0])

    def episode():
        seen, over = env.reset(), False
        rows = [seen]
        while not over:
            seen, reward, ended, over, _ = env.step([-3 * seen[1]])
            assert reward == -seen[0] ** 2 and not ended
            rows.append(seen)
        return np.array(rows)

    first = episode()
    assert len(first) == 11 and np.array_equal(first, episode())
    state = env.save()
    a = env.step([1.0])[0]
    env.restore(state)
    assert np.array_equal(a, env.step([1.0])[0])


def test_analysis():
    m = mdlc.compile(text=DRIVEN)
    system = m.linearize(steady=True)
    assert np.allclose(system.A, [[0, 1], [-9, -0.4]]) and np.allclose(system.B, [[0], [1]])
    assert np.allclose(np.sort_complex(system.eigenvalues), np.sort_complex(np.linalg.eigvals(system.A)))
    rest = m.steady(set={"u": 1.0})
    assert rest.stable and abs(9 * rest["s"] + 20 * rest["s"] ** 3 - 1) < 1e-6
    assert m.check() == []


def test_three_parameters_from_noisy_data():
    m = mdlc.compile(text=DRIVEN)
    truth = {"c": 0.55, "k": 7.3, "k3": 31.0}
    generator = np.random.default_rng(5)
    times = np.arange(1, 401) * 0.02
    clean = m.run(stop=8, interval=0.02, set={**truth, "s": 0.8}, tol=1e-9)
    data = np.interp(times, clean.time, clean["s"]) + generator.normal(0, 0.004, times.size)
    p = m.residuals(times, {"s": data}, list(truth), set={"s": 0.8})
    x = p.x0
    # Gauss-Newton with halved steps, as scipy.optimize.least_squares(p, p.x0, jac=p.jac) would do with more care.
    for _ in range(12):
        r, j = p(x), p.jac(x)
        step = np.linalg.lstsq(j, -r, rcond=None)[0]
        while ((p(x + step)) ** 2).sum() > (r**2).sum() and np.abs(step).max() > 1e-9:
            step = step / 2
        x = x + step
        if np.abs(step / x).max() < 1e-6:
            break
    assert p.runs <= 30 and np.abs(x / list(truth.values()) - 1).max() < 0.01, (p.runs, x)


def test_units(tmp_path):
    file = mdlc.compile(text=DRIVEN).fmu(str(tmp_path / "driven.fmu"))
    with zipfile.ZipFile(file) as unit:
        names, description = unit.namelist(), unit.read("modelDescription.xml").decode()
    assert "binaries/x86_64-linux/Driven.so" in names and 'fmiVersion="3.0"' in description and 'name="k3"' in description


def test_pages(hybrid, hello):
    assert hybrid.run()._repr_html_().count("<svg") >= 3 and "body.m" in hello._repr_html_()
    assert hello.bond_graph().svg.lstrip().startswith(("<svg", "<?xml"))


class Notebook:
    def __init__(self):
        self.user_ns, self.magic = {}, {}

    def register_magic_function(self, function, kind, name):
        self.magic[kind, name] = function


def test_cells_are_models(capsys):
    notebook = Notebook()
    mdlc.load_ipython_extension(notebook)
    cell = notebook.magic["cell", "mdlc"]
    assert cell("Driven", DRIVEN) is notebook.user_ns["Driven"] and notebook.user_ns["Driven"].name == "Driven"
    pytest.importorskip("IPython")
    assert cell("Driven", DRIVEN.replace("c*v", "c*w")) is None
    assert "E0101" in capsys.readouterr().out
