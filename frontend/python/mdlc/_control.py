"""Models for controllers and integrators of others."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._errors import MdlcError, SimulationError
from ._library import destroy
from ._simulation import Simulation

if TYPE_CHECKING:
    from ._model import Model

Vector = Any  # what numpy.asarray takes


class Rates:
    """``f(t, x, u, p)``: derivatives of the states. ``f.jac`` has those by states and inputs, ``f.x0`` consistent states at the start.

    Conditions and modes are those of the start: a model with events is integrated by :meth:`mdlc.Model.run` instead. A change of ``p`` starts the model
    anew. Calls with the same values give the same bits.

    >>> import mdlc
    >>> f = mdlc.example("hello").rates()
    >>> f.states, f.x0.tolist()
    (['body.s', 'body.v'], [0.1, 0.0])
    """

    def __init__(self, model: "Model", parameters: "list[str]", values: "dict[str, Any]", time: float) -> None:
        self.model = model
        self.parameters = parameters
        self.inputs = list(model.inputs)
        self._values = values
        self._time = time
        self._library = model._library
        self._busy = threading.Lock()
        self._given: "dict[str, float]" = {}
        settable = model._library.settable
        for name in parameters:
            if name not in settable:
                raise KeyError(f"the model has no parameter '{name}'")
        self.p0 = np.array([float(values.get(name, settable[name].value)) for name in parameters])
        self.u0 = np.array([float(values.get(name, settable[name].value)) for name in self.inputs])
        self._open(self.p0)

    def _open(self, p: "npt.NDArray[np.float64]") -> None:
        calls = self._library.calls
        settings = self.model._settings({**self._values, **dict(zip(self.parameters, p.tolist()))})
        handle = self.model._create(0.0, settings)
        self._handle = handle
        self._end = destroy(self, self._library, handle)
        if calls.mdl_start_rates(handle, self._time):
            raise SimulationError(calls.mdl_message(handle).decode(errors="replace"), self._time, None)
        self._p = p.copy()
        self._given = {}
        n = calls.mdl_state_count(handle)
        named = [calls.mdl_state_name(handle, k) for k in range(n)]
        self.states = [name.decode() if name else "" for name in named]
        self.x0 = np.zeros(n)
        calls.mdl_state_now(handle, self.x0.ctypes.data)

    def _point(self, t: float, x: Vector, u: Vector, p: Vector, jacobians: bool) -> "tuple[npt.NDArray[np.float64], ...]":
        state = np.ascontiguousarray(x, dtype=float)
        inputs = self.u0 if u is None else np.asarray(u, dtype=float).reshape(-1)
        values = self.p0 if p is None else np.asarray(p, dtype=float).reshape(-1)
        n = len(self.x0)
        if state.shape != (n,) or inputs.shape != self.u0.shape or values.shape != self.p0.shape:
            raise ValueError(f"f(t, x, u, p) has {n} states, {len(self.u0)} inputs and {len(self.p0)} parameters")
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("these rates are used by another thread")
        try:
            if not np.array_equal(values, self._p):
                self._end()
                self._open(values)
            calls = self._library.calls
            for name, value in zip(self.inputs, inputs.tolist()):
                if self._given.get(name) != value:
                    if calls.mdl_set(self._handle, name.encode(), value):
                        raise ValueError(calls.mdl_message(self._handle).decode(errors="replace"))
                    self._given[name] = value
            rate = np.empty(n)
            by_state, by_input = np.empty((n, n)), np.empty((n, len(inputs)))
            status = calls.mdl_rates(
                self._handle, t, state.ctypes.data, rate.ctypes.data, by_state.ctypes.data if jacobians else None,
                by_input.ctypes.data if jacobians and len(inputs) else None,
            )
            if status:
                message = calls.mdl_message(self._handle).decode(errors="replace") or "the equations have no solution there"
                raise ValueError(message) if status == 2 else SimulationError(message, t, None, status)
            return (by_state, by_input) if jacobians else (rate,)
        finally:
            self._busy.release()

    def __call__(self, t: float, x: Vector, u: Vector = None, p: Vector = None) -> "npt.NDArray[np.float64]":
        return self._point(t, x, u, p, False)[0]

    def jac(self, t: float, x: Vector, u: Vector = None, p: Vector = None) -> "tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]":
        """df/dx and df/du, exact.

        >>> import mdlc
        >>> mdlc.example("hello").rates().jac(0, [0.1, 0])[0].tolist()
        [[0.0, 1.0], [-40.0, -1.0]]
        """
        by_state, by_input = self._point(t, x, u, p, True)
        return by_state, by_input

    def __reduce__(self) -> Any:
        return Rates, (self.model, self.parameters, self._values, self._time)


class Env:
    """A plain environment for controllers that learn; wrappers of other packages fit around it.

    ``step(u)`` holds the inputs for an interval and returns observations, reward, whether the model has ended or failed, whether the time is up,
    and a dictionary. Behind ``save`` and each ``restore`` of it the same inputs give the same bits.

    >>> import mdlc
    >>> m = mdlc.compile(text="model M input Real u; Real x(start = 1, fixed = true); equation der(x) = u; end M;")
    >>> env = m.env(["x"], interval=0.1, stop=0.2, reward=lambda env: -abs(env["x"]))
    >>> env.reset().tolist()
    [1.0]
    >>> env.step([0.0])[1:4], env.step([0.0])[1:4]
    ((-1.0, False, False), (-1.0, False, True))
    """

    def __init__(self, model: "Model", observe: "list[str]", interval: float, stop: Optional[float], reward: "Optional[Callable[[Env], float]]", values: "dict[str, Any]", inputs: Optional[Sequence[str]], tol: float) -> None:
        self.model = model
        self.observe = observe
        self.inputs = list(model.inputs if inputs is None else inputs)
        self.interval = interval
        self.stop = stop
        self._reward = reward
        self._values = values
        self._tol = tol
        self._simulation: Optional[Simulation] = None
        for name in observe:
            model._handle(name)
        for name in self.inputs:
            if name not in model.inputs:
                raise KeyError(f"'{name}' is no input of the model")

    def _running(self) -> Simulation:
        if self._simulation is None:
            raise MdlcError("reset() comes first")
        return self._simulation

    def __getitem__(self, name: str) -> Any:
        return self._running()[name]

    @property
    def time(self) -> float:
        """The time of the model.

        >>> import mdlc
        >>> env = mdlc.example("hello").env(["body.s"], interval=0.1); _ = env.reset(); env.time
        0.0
        """
        return self._running().time

    def observation(self) -> "npt.NDArray[np.float64]":
        """The values of ``observe``, now.

        >>> import mdlc
        >>> env = mdlc.example("hello").env(["body.s"], interval=0.1); _ = env.reset(); env.observation().tolist()
        [0.1]
        """
        simulation = self._running()
        return np.array([float(simulation[name]) for name in self.observe])

    def reset(self, set: "Optional[dict[str, Any]]" = None) -> "npt.NDArray[np.float64]":
        """To the start, with other parameters or start values where ``set`` says so; the first observation.

        >>> import mdlc
        >>> env = mdlc.example("hello").env(["body.s"], interval=0.1)
        >>> env.reset({"body.s": 0.2}).tolist()
        [0.2]
        """
        self._simulation = self.model.simulation(set={**self._values, **(set or {})}, tol=self._tol)
        self._simulation.start()
        return self.observation()

    def step(self, action: Vector = ()) -> "tuple[npt.NDArray[np.float64], float, bool, bool, dict[str, Any]]":
        """One interval with these inputs.

        >>> import mdlc
        >>> env = mdlc.example("hello").env(["body.s"], interval=0.1); _ = env.reset(); len(env.step())
        5
        """
        simulation = self._running()
        values = np.asarray(action, dtype=float).reshape(-1)
        if len(values) != len(self.inputs):
            raise ValueError(f"an action has {len(self.inputs)} values: {', '.join(self.inputs)}")
        for name, value in zip(self.inputs, values.tolist()):
            simulation[name] = value
        info: "dict[str, Any]" = {}
        failed = False
        try:
            simulation.advance(self.interval)
        except SimulationError as error:
            failed = True
            info["error"] = error.message
        reward = self._reward(self) if self._reward else 0.0
        over = self.stop is not None and simulation.time >= self.stop - 1e-9 * self.interval
        return self.observation(), float(reward), failed or simulation.ended, over, info

    def save(self) -> bytes:
        """The state, for :meth:`restore`.

        >>> import mdlc
        >>> env = mdlc.example("hello").env(["body.s"], interval=0.1); _ = env.reset()
        >>> state = env.save(); first = env.step()[0]; env.restore(state); bool(first == env.step()[0])
        True
        """
        return self._running().save()

    def restore(self, state: bytes) -> None:
        """Back to a state that was saved.

        >>> Env.restore.__name__
        'restore'
        """
        self._running().restore(state)
