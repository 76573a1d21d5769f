"""Linear systems, equilibria, sensitivities, residuals for fitting."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ._library import Variable
from ._result import Column, Result

if TYPE_CHECKING:
    from ._model import Model


def _matrix(rows: "list[list[float]]", shape: "tuple[int, int]") -> "npt.NDArray[np.float64]":
    return np.array(rows, dtype=float).reshape(shape)


@dataclass
class LinearSystem:
    """``dx/dt = A x + B u``, ``y = C x + D u`` around a point.

    >>> import mdlc
    >>> s = mdlc.example("hello").linearize()
    >>> s.states, s.eigenvalues.real.round(3).tolist()
    (['body.s', 'body.v'], [-0.5, -0.5])
    """

    A: "npt.NDArray[np.float64]"
    B: "npt.NDArray[np.float64]"
    C: "npt.NDArray[np.float64]"
    D: "npt.NDArray[np.float64]"
    states: "list[str]"
    inputs: "list[str]"
    outputs: "list[str]"
    point: "dict[str, float]"
    time: float
    modes: "list[dict[str, Any]]"

    @classmethod
    def _of(cls, text: bytes) -> "LinearSystem":
        read = json.loads(text)
        x, u, y = ([one["name"] for one in read[key]] for key in ("states", "inputs", "outputs"))
        n, m, p = len(x), len(u), len(y)
        return cls(
            _matrix(read["A"], (n, n)), _matrix(read["B"], (n, m)), _matrix(read["C"], (p, n)), _matrix(read["D"], (p, m)), x, u, y,
            {one["name"]: one["value"] for key in ("states", "inputs") for one in read[key]}, read["time"], read["eigenvalues"],
        )

    @property
    def eigenvalues(self) -> "npt.NDArray[np.complex128]":
        """All of them, of pairs both; ``modes`` has frequencies and damping.

        >>> import mdlc
        >>> len(mdlc.example("hello").linearize().eigenvalues)
        2
        """
        found = []
        for one in self.modes:
            z = complex(one["real"], one["imag"])
            found += [z, z.conjugate()] if one.get("pair") else [z]
        return np.array(found, dtype=complex)


class SteadyState(Dict[str, float]):
    """States in an equilibrium, with ``eigenvalues`` around it and whether it is ``stable``.

    >>> import mdlc
    >>> mdlc.example("hello").steady().stable
    True
    """

    stable: bool
    details: "dict[str, Any]"

    @classmethod
    def _of(cls, text: bytes) -> "SteadyState":
        read = json.loads(text)
        made = cls({one["name"]: one["value"] for one in read["states"]})
        made.details = read
        made.stable = all(one["real"] < 0 for one in read["eigenvalues"])
        return made


class Optimum(Dict[str, float]):
    """Values of free quantities, with what they bring (``goals``), whether constraints are met (``feasible``) and how the search ended (``end``). Of a front
    ``points`` has all of them, and the values are those of the first.

    >>> import mdlc
    >>> front = mdlc.example("hello").optimise(["rms(body.s)", "rms(damper.f)"], {"damper.c": (0.1, 20)}, front=3)
    >>> len(front.points), sorted(front.points[0].goals)
    (3, ['rms(body.s)', 'rms(damper.f)'])
    """

    goals: "dict[str, float]"
    feasible: bool
    end: str
    points: "list[Optimum]"
    details: "dict[str, Any]"

    @classmethod
    def _of_point(cls, point: "dict[str, Any]") -> "Optimum":
        made = cls({one["name"]: one["value"] for one in point["quantities"]})
        made.goals = {one["formula"]: one["value"] for one in point["goals"]}
        made.feasible = point["feasible"]
        made.end = point["end"]
        made.details = point
        made.points = [made]
        return made

    @classmethod
    def _of(cls, text: bytes) -> "Optimum":
        read = json.loads(text)
        points = [cls._of_point(point) for point in read["points"]]
        points[0].points = points
        points[0].details = read
        return points[0]


class Sensitivities(Result):
    """A run with derivatives: ``s["x"]``, ``s.derivative("x", "p")``.

    >>> import mdlc
    >>> s = mdlc.example("hello").sense(["spring.k"], ["body.s"], points=10)
    >>> s.derivative("body.s", "spring.k").shape == s["body.s"].shape
    True
    """

    parameters: "list[str]"

    @classmethod
    def _of(cls, model: "Model", parameters: "list[str]", text: bytes) -> "Sensitivities":
        import csv

        head, _, body = text.decode().partition("\n")
        names = next(csv.reader([head]))
        rows = np.array([line.split(",") for line in body.splitlines()], dtype=float).reshape(-1, len(names))
        known = {v.name: v for v in model.variables}
        variables = [known.get(n, Variable(n, "", "", "Real", "variable", (), 0.0, 0.0, 0.0, None)) for n in names[1:]]
        made = cls(rows, variables, model, end=float(rows[-1, 0]) if len(rows) else 0.0)
        made.parameters = parameters
        return made

    def derivative(self, output: str, parameter: str) -> Column:
        """How the output answers to the parameter, at all rows.

        >>> import mdlc
        >>> mdlc.example("hello").sense(["spring.k"], ["body.s"], points=1).derivative("body.s", "spring.k")[0].item()
        0.0
        """
        return self[f"d({output})/d({parameter})"]


class Residuals:
    """Differences between a model and measured values: ``p(x)``, ``p.jac(x)``, ``p.x0``, for ``scipy.optimize.least_squares``.

    A run serves for both, and is kept: ``p.runs`` counts them. ``p.objective(x)`` is half the sum of squares with its gradient, for ``minimize(...,
    jac=True)``.

    >>> import mdlc
    >>> p = mdlc.example("hello").residuals([0.5], {"body.s": [0.0]}, ["spring.k"])
    >>> value, gradient = p.objective(p.x0)
    >>> value > 0, gradient.shape, p.runs
    (True, (1,), 1)
    """

    def __init__(self, model: "Model", times: Sequence[float], data: Mapping[str, Sequence[float]], free: Sequence[str], values: "dict[str, Any]", weights: "dict[str, float]", tol: float) -> None:
        self.model = model
        self.times = np.asarray(times, dtype=float)
        self.data = {name: np.asarray(column, dtype=float) for name, column in data.items()}
        self.free = list(free)
        self.x0 = np.array([values.get(name, model._library.settable[name].value) for name in self.free], dtype=float)
        self.runs = 0
        self._values = values
        self._weights = weights
        self._tol = tol
        self._kept: "tuple[bytes, npt.NDArray[np.float64], npt.NDArray[np.float64]] | None" = None
        if not len(self.times) or np.any(np.diff(self.times) < 0):
            raise ValueError("times of measured values grow")
        for name, column in self.data.items():
            if column.shape != self.times.shape:
                raise ValueError(f"'{name}' has {column.size} values at {self.times.size} times")

    def _evaluate(self, x: "npt.NDArray[np.float64]") -> "tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]":
        x = np.asarray(x, dtype=float)
        if self._kept is not None and self._kept[0] == x.tobytes():
            return self._kept[1], self._kept[2]
        names = list(self.data)
        spacing = np.diff(self.times)
        # A row at each measured time where these are equally spaced; between others rows are close.
        begin = float(self.times[0]) if len(self.times) == 1 else float(spacing.min())
        run = self.model.sense(
            self.free, names, stop=float(self.times[-1]), interval=max(begin, float(self.times[-1]) / 20000) or None, tol=self._tol,
            set={**self._values, **{name: float(value) for name, value in zip(self.free, x)}},
        )
        self.runs += 1
        time = run.rows[:, 0]
        parts, columns = [], []
        for name in names:
            weight = self._weights.get(name, 1.0)
            parts.append(weight * (np.interp(self.times, time, run[name]) - self.data[name]))
            columns.append(weight * np.stack([np.interp(self.times, time, run.derivative(name, p)) for p in self.free], axis=1))
        self._kept = x.tobytes(), np.concatenate(parts), np.concatenate(columns)
        return self._kept[1], self._kept[2]

    def __call__(self, x: "npt.NDArray[np.float64]") -> "npt.NDArray[np.float64]":
        return self._evaluate(x)[0]

    def jac(self, x: "npt.NDArray[np.float64]") -> "npt.NDArray[np.float64]":
        """A row for each measured value, a column for each free parameter.

        >>> import mdlc
        >>> p = mdlc.example("hello").residuals([0.5, 1], {"body.s": [0, 0]}, ["spring.k"])
        >>> p.jac(p.x0).shape
        (2, 1)
        """
        return self._evaluate(x)[1]

    def objective(self, x: "npt.NDArray[np.float64]") -> "tuple[float, npt.NDArray[np.float64]]":
        """Half the sum of squares, and its gradient.

        >>> import mdlc
        >>> p = mdlc.example("hello").residuals([0.5], {"body.s": [0.0]}, ["spring.k"])
        >>> p.objective(p.x0)[1].shape
        (1,)
        """
        r, j = self._evaluate(x)
        return 0.5 * float(r @ r), j.T @ r
