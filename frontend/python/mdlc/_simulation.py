"""Simulations that are driven step by step."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any, Optional

from ._errors import MdlcError, SimulationError
from ._library import destroy

if TYPE_CHECKING:
    from ._model import Model


class Simulation:
    """A model that is driven: ``start``, inputs by ``s["u"] = 1``, ``advance``, values by ``s["x"]``, ``save`` and ``restore``.

    It belongs to one thread at a time: a second one that calls it meanwhile gets a ``RuntimeError``.

    >>> import mdlc
    >>> m = mdlc.compile(text="model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;")
    >>> s = m.simulation()
    >>> s.start()
    >>> s["u"] = 2
    >>> s.advance(0.5)
    >>> round(s["x"], 9)
    1.0
    """

    def __init__(self, model: "Model", values: "dict[str, Any]", tol: float = 0.0) -> None:
        self.model = model
        self._tol = tol
        self._values = dict(values)
        self._begin: Optional[float] = None
        self._busy = threading.Lock()
        self._library = model._library
        self._handle = model._create(tol, model._settings(values))
        self._end = destroy(self, self._library, self._handle)

    def _enter(self) -> Any:
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("this simulation is used by another thread")
        return self._library.calls

    def _check(self, status: int) -> None:
        if not status:
            return
        message = self._library.calls.mdl_message(self._handle).decode(errors="replace")
        if status in (1, 2):
            raise ValueError(message)
        raise SimulationError(message, self._library.calls.mdl_time(self._handle), None, status)

    def start(self, time: float = 0.0) -> None:
        """Finds consistent values at ``time``.

        >>> import mdlc
        >>> s = mdlc.example("hello").simulation(); s.start(); s.time
        0.0
        """
        calls = self._enter()
        try:
            self._check(calls.mdl_start(self._handle, time))
            self._begin = time
        finally:
            self._busy.release()

    def advance(self, by: float) -> None:
        """Integrates so far, through all events.

        >>> import mdlc
        >>> s = mdlc.example("hello").simulation(); s.start(); s.advance(0.25); s.time
        0.25
        """
        self.advance_to(self.time + by)

    def advance_to(self, time: float) -> None:
        """Integrates to that time.

        >>> import mdlc
        >>> s = mdlc.example("hello").simulation(); s.start(); s.advance_to(0.25); s.time
        0.25
        """
        calls = self._enter()
        try:
            self._check(calls.mdl_advance(self._handle, time))
        finally:
            self._busy.release()

    @property
    def time(self) -> float:
        """Where it is.

        >>> import mdlc
        >>> s = mdlc.example("hello").simulation(); s.start(2.0); s.time
        2.0
        """
        return float(self._library.calls.mdl_time(self._handle))

    @property
    def ended(self) -> bool:
        """Whether the model has called ``terminate``.

        >>> import mdlc
        >>> s = mdlc.example("hello").simulation(); s.start(); s.ended
        False
        """
        return bool(self._library.calls.mdl_ended(self._handle))

    def __getitem__(self, name: str) -> Any:
        handle = self.model._handle(name)
        calls = self._enter()
        try:
            value = calls.mdl_value(self._handle, handle)
        finally:
            self._busy.release()
        kind = self._library.variables[handle].type
        return value if kind == "Real" else bool(value) if kind == "Boolean" else int(value)

    def __setitem__(self, name: str, value: Any) -> None:
        settings = self.model._settings({name: value})
        calls = self._enter()
        try:
            for full, number in settings:
                self._check(calls.mdl_set(self._handle, full.encode(), number))
            if self._begin is None:
                self._values[name] = value
        finally:
            self._busy.release()

    def save(self) -> bytes:
        """The state as bytes; also a file may keep them.

        >>> import mdlc
        >>> s = mdlc.example("hello").simulation(); s.start(); state = s.save(); s.advance(1); s.restore(state); s.time
        0.0
        """
        calls = self._enter()
        try:
            size = calls.mdl_save(self._handle, None, 0)
            if not size:
                raise ValueError("the simulation has not started")
            block = ctypes.create_string_buffer(size)
            calls.mdl_save(self._handle, block, size)
            return block.raw
        finally:
            self._busy.release()

    def restore(self, state: bytes) -> None:
        """Goes on from a state that was saved, of this or another simulation of the model.

        >>> import mdlc
        >>> s = mdlc.example("hello").simulation(); s.start()
        >>> s.restore(b"something else")
        Traceback (most recent call last):
        ...
        ValueError: this is no state of a simulation
        """
        calls = self._enter()
        try:
            self._check(calls.mdl_restore(self._handle, state, len(state)))
        finally:
            self._busy.release()

    def __reduce__(self) -> Any:
        return _resume, (self.model, self._values, self._tol, self._begin, self.save() if self._begin is not None else None)

    def __repr__(self) -> str:
        return f"<Simulation of {self.model.name} at time {self.time:g}>"


def _resume(model: "Model", values: "dict[str, Any]", tol: float, begin: Optional[float], state: Optional[bytes]) -> Simulation:
    made = Simulation(model, values, tol)
    if begin is not None and state is not None:
        made.start(begin)
        made.restore(state)
    elif begin is not None:
        raise MdlcError("the simulation has no state")
    return made
