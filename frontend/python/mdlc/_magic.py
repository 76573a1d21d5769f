"""``%load_ext mdlc``: cells that are models."""

from __future__ import annotations

from typing import Any

from ._errors import CompileError
from ._model import compile


def register(ipython: Any) -> None:
    """Gives the notebook ``%%mdlc``.

    >>> register.__name__
    'register'
    """

    def mdlc_cell(line: str, cell: str) -> Any:
        """``%%mdlc Name``: the cell is a model, which becomes the variable ``Name``."""
        words = line.split()
        try:
            made = compile(text=cell, name=words[0] if words else None, path=["."])
        except CompileError as error:
            from IPython.display import display

            show: Any = display  # which has types in some releases only
            if error.diagnostics:
                # As text where there is no browser.
                show({"text/plain": str(error), "text/html": error._repr_html_()}, raw=True)
            else:
                print(error)
            return None
        ipython.user_ns[words[0] if words else made.name] = made
        return made

    ipython.register_magic_function(mdlc_cell, "cell", "mdlc")
