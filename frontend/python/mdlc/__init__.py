"""Acausal models of mechanical systems, compiled: run them, look at them, drive them.

>>> import mdlc
>>> m = mdlc.compile(text='''
... model Swing
...   Translational.Fixed wall;
...   Translational.Spring spring(k = 40);
...   Translational.Mass body(m = 1, s(start = 0.1, fixed = true), v(start = 0, fixed = true));
... equation
...   connect(wall.flange, spring.flange_a);
...   connect(spring.flange_b, body.flange);
... end Swing;''')
>>> r = m.run(stop=1)
>>> round(r["body.s"][-1].item(), 4), r["body.s"].unit
(0.0999, 'm')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import CompileError, CompilerFault, Diagnostic, Interrupted, MdlcError, SimulationError
from ._model import Model, Picture, compile, example

if TYPE_CHECKING:
    from ._analysis import LinearSystem, Optimum, Residuals, Sensitivities, SteadyState
    from ._control import Env, Rates
    from ._result import Column, Result
    from ._simulation import Simulation
    from ._study import Table, sweep

__version__ = "0.1.0"
__all__ = [
    "CompileError", "CompilerFault", "Diagnostic", "Interrupted", "MdlcError", "SimulationError", "Model", "Picture", "compile", "example", "Result",
    "Column", "Simulation", "LinearSystem", "Optimum", "SteadyState", "Sensitivities", "Residuals", "Env", "Rates", "Table", "sweep",
    "load_ipython_extension",
]

# What needs NumPy is loaded when it is wanted.
_LATER = {
    "Result": "_result", "Column": "_result", "Simulation": "_simulation", "LinearSystem": "_analysis", "Optimum": "_analysis", "SteadyState": "_analysis",
    "Sensitivities": "_analysis", "Residuals": "_analysis", "Env": "_control", "Rates": "_control",
    "Table": "_study", "sweep": "_study",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module 'mdlc' has no attribute '{name}'")


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext mdlc`` in a notebook.

    >>> load_ipython_extension.__name__
    'load_ipython_extension'
    """
    from ._magic import register

    register(ipython)


for _class in (CompileError, CompilerFault, Diagnostic, Interrupted, MdlcError, SimulationError):
    _class.__module__ = __name__  # where people find it
del _class
