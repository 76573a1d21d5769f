"""``mdl_embed.h`` by ctypes. Calls leave the interpreter's lock to other threads."""

from __future__ import annotations

import ctypes
import threading
import weakref
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_ulonglong, c_void_p
from typing import Any, NamedTuple

from ._errors import MdlcError

VERSION = 1
TYPES = ("Real", "Integer", "Boolean", "enumeration")
SOLVERS = ("auto", "ida", "cvode", "adams", "erk", "rk4", "gauss", "radau", "dop853")
FORMS = ("auto", "causal", "dae")
PROGRESS = ctypes.CFUNCTYPE(None, c_void_p, c_double, c_double, c_double)


class About(ctypes.Structure):
    """``mdl_about``.

    >>> About().type
    0
    """

    _fields_ = [
        ("name", c_char_p), ("unit", c_char_p), ("comment", c_char_p), ("type", c_int), ("kind", c_int), ("literals", c_int),
        ("literal", POINTER(c_char_p)), ("value", c_double), ("low", c_double), ("high", c_double), ("why", c_char_p),
    ]


class Request(ctypes.Structure):
    """``mdl_request``.

    >>> Request().points
    0
    """

    _fields_ = [
        ("start", c_double), ("stop", c_double), ("interval", c_double), ("step", c_double), ("abstol", c_double), ("time_limit", c_double),
        ("points", c_int), ("steps", c_int), ("assemble", c_int), ("solver", c_int), ("form", c_int), ("column", POINTER(c_int)),
        ("columns", c_int), ("interrupt", POINTER(c_int)), ("progress", PROGRESS), ("user", c_void_p),
    ]


class Trajectory(ctypes.Structure):
    """``mdl_trajectory``.

    >>> Trajectory().rows
    0
    """

    _fields_ = [
        ("value", c_void_p), ("rows", c_size_t), ("columns", c_int), ("column", POINTER(c_int)), ("end", c_double), ("seconds", c_double),
        ("steps", c_ulonglong), ("events", c_ulonglong), ("messages", c_char_p),
    ]


class Variable(NamedTuple):
    """What a model says about a variable, or about something that can be set.

    >>> Variable("m", "kg", "mass", "Real", "parameter", (), 2.0, 0.0, float("inf"), None).unit
    'kg'
    """

    name: str
    unit: str
    description: str
    type: str
    kind: str
    literals: "tuple[str, ...]"
    value: float
    low: float
    high: float
    fixed_because: "str | None"


_SIGNATURES: "dict[str, tuple[Any, list[Any]]]" = {
    "mdl_embed_version": (c_int, []),
    "mdl_create_program": (c_void_p, [c_double]),
    "mdl_destroy": (None, [c_void_p]),
    "mdl_set": (c_int, [c_void_p, c_char_p, c_double]),
    "mdl_start": (c_int, [c_void_p, c_double]),
    "mdl_advance": (c_int, [c_void_p, c_double]),
    "mdl_time": (c_double, [c_void_p]),
    "mdl_save": (c_size_t, [c_void_p, c_void_p, c_size_t]),
    "mdl_restore": (c_int, [c_void_p, c_char_p, c_size_t]),
    "mdl_ended": (c_int, [c_void_p]),
    "mdl_value": (c_double, [c_void_p, c_int]),
    "mdl_about_variable": (c_int, [c_void_p, c_int, POINTER(About)]),
    "mdl_about_settable": (c_int, [c_void_p, c_int, POINTER(About)]),
    "mdl_request_default": (None, [POINTER(Request)]),
    "mdl_trajectory_run": (c_int, [c_void_p, POINTER(Request), POINTER(Trajectory)]),
    "mdl_trajectory_free": (None, [POINTER(Trajectory)]),
    "mdl_start_rates": (c_int, [c_void_p, c_double]),
    "mdl_state_count": (c_int, [c_void_p]),
    "mdl_state_name": (c_char_p, [c_void_p, c_int]),
    "mdl_rates": (c_int, [c_void_p, c_double, c_void_p, c_void_p, c_void_p, c_void_p]),
    "mdl_state_now": (None, [c_void_p, c_void_p]),
    "mdl_message": (c_char_p, [c_void_p]),
}

_KINDS = {"variable": ("variable", "parameter", "derivative"), "settable": ("parameter", "start", "input")}


class Library:
    """A compiled model in memory, until nobody uses it any more."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.calls = ctypes.CDLL(path)  # RTLD_LOCAL: models do not meet
        # At the end of the process nothing is unloaded: objects that use the library may live longer than what ends them.
        weakref.finalize(self, _unload, self.calls._handle).atexit = False
        for name, (result, arguments) in _SIGNATURES.items():
            call = getattr(self.calls, name, None)
            if call is None:
                raise MdlcError(f"{path} was built by another version of mdlc")
            call.restype, call.argtypes = result, arguments
        found = self.calls.mdl_embed_version()
        if found != VERSION:
            raise MdlcError(f"{path} has version {found} of the embedding interface, and this package is for version {VERSION}")
        simulation = self.calls.mdl_create_program(0)
        self.variables = self._describe(simulation, "variable")
        self.settables = self._describe(simulation, "settable")
        self.calls.mdl_destroy(simulation)
        self.index = {variable.name: k for k, variable in enumerate(self.variables)}
        self.settable = {variable.name: variable for variable in self.settables}

    def _describe(self, simulation: Any, what: str) -> "list[Variable]":
        ask = getattr(self.calls, f"mdl_about_{what}")
        about = About()
        found: list[Variable] = []
        while ask(simulation, len(found), ctypes.byref(about)) == 0:
            literals = tuple(about.literal[k].decode() for k in range(about.literals))
            found.append(
                Variable(
                    about.name.decode(), about.unit.decode(), about.comment.decode(), TYPES[about.type], _KINDS[what][about.kind], literals,
                    about.value, about.low, about.high, about.why.decode() if about.why else None,
                )
            )
        return found


def destroy(owner: Any, library: Library, simulation: int) -> "weakref.finalize[Any, Any]":
    """Ends the simulation with its owner, and keeps the library until then: who dies first of both is not told.

    >>> destroy.__name__
    'destroy'
    """
    ending = weakref.finalize(owner, _destroy, library, simulation)
    ending.atexit = False
    return ending


def _destroy(library: Library, simulation: int) -> None:
    library.calls.mdl_destroy(simulation)


def _unload(handle: int) -> None:
    import _ctypes

    _ctypes.dlclose(handle)


_loaded: "weakref.WeakValueDictionary[str, Library]" = weakref.WeakValueDictionary()
_loading = threading.Lock()


def load(path: str) -> Library:
    """The library at ``path``, which is loaded once however many models use it."""
    with _loading:
        library = _loaded.get(path)
        if library is None:
            library = Library(path)
            _loaded[path] = library
        return library
