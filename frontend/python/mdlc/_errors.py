"""What goes wrong, as exceptions: models that do not compile, runs that end early, faults of the compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence

if TYPE_CHECKING:
    from ._result import Result


class Diagnostic(NamedTuple):
    """One message of the compiler.

    >>> Diagnostic("E0301", "error", "the sides have different units", "a.mdl", 8, 3).place
    'a.mdl:8:3'
    """

    code: str
    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0  # in characters, from 1
    end_line: int = 0
    end_column: int = 0
    help: Sequence[str] = ()
    notes: Sequence[str] = ()
    source: str = ""  # the line that it is about

    @property
    def place(self) -> str:
        """``file:line:column``, or "" where it is about no place.

        >>> Diagnostic("E0901", "error", "cannot read 'a.mdl'").place
        ''
        """
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def __str__(self) -> str:
        place = self.place + ": " if self.place else ""
        lines = [f"{place}{self.severity}[{self.code}]: {self.message}"]
        if self.source:
            # A tab is as wide in the line of the mark as in the line above it.
            lead = "".join(c if c == "\t" else " " for c in self.source[: self.column - 1])
            width = self.end_column - self.column if self.end_line == self.line else len(self.source) - self.column + 1
            lines += ["    " + self.source, "    " + lead + "^" + "~" * max(width - 1, 0)]
        lines += [f"note: {note}" for note in self.notes] + [f"help: {text}" for text in self.help]
        return "\n".join(lines)


class MdlcError(Exception):
    """What all errors of this package have as a base, but for values that are not allowed (``ValueError``, ``KeyError``).

    >>> issubclass(CompileError, MdlcError) and issubclass(SimulationError, MdlcError)
    True
    """


class CompileError(MdlcError):
    """The model is wrong; ``diagnostics`` says where and why.

    >>> import mdlc
    >>> try:
    ...     _ = mdlc.compile(text="model M Real x; equation der(x) = y; end M;")
    ... except CompileError as error:
    ...     print(error.diagnostics[0].code, error.diagnostics[0].column)
    E0101 35
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], text: str = "") -> None:
        self.diagnostics = list(diagnostics)
        super().__init__(text or "\n".join(map(str, self.diagnostics)))

    def __reduce__(self) -> Any:
        return CompileError, (self.diagnostics, str(self))

    def _repr_html_(self) -> str:
        from ._html import diagnostics

        return diagnostics(self.diagnostics)

    def _render_traceback_(self) -> list[str]:
        # Jupyter prints this in place of a traceback, which would lead into this package.
        return str(self).splitlines()


class CompilerFault(MdlcError):
    """The compiler itself has failed: a fault of its own, or memory was exhausted. The process that called it goes on.

    >>> issubclass(CompilerFault, MdlcError)
    True
    """


class SimulationError(MdlcError):
    """A run has failed: ``time``, ``message``, and in ``result`` the rows so far (``None`` for single steps).

    >>> SimulationError("no solution", 0.5, None).time
    0.5
    """

    def __init__(self, message: str, time: float, result: Optional["Result"], status: int = 3) -> None:
        super().__init__(message)
        self.message = message
        self.time = time
        self.result = result
        self.status = status

    def __reduce__(self) -> Any:
        return SimulationError, (self.message, self.time, None, self.status)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; ``result`` has the rows up to there.

    >>> issubclass(Interrupted, KeyboardInterrupt)
    True
    """

    def __init__(self, result: "Result") -> None:
        super().__init__(f"interrupted at time {result.end:g}")
        self.result = result

