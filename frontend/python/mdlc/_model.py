"""Compiled models."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Tuple, Union, cast

from . import _cache
from ._errors import CompileError, Diagnostic, Interrupted, MdlcError, SimulationError
from ._library import FORMS, PROGRESS, SOLVERS, Library, Request, Trajectory, Variable, load
from ._program import call, checked, parse_diagnostics, program, version

if TYPE_CHECKING:
    from ._analysis import LinearSystem, Optimum, Residuals, Sensitivities, SteadyState
    from ._control import Env, Rates
    from ._result import Result
    from ._simulation import Simulation

Value = Union[bool, int, float, str, Sequence[Any]]
Progress = Union[bool, Callable[[float, float], Any]]


def compile(
    file: Union[str, "os.PathLike[str]", None] = None,
    name: Optional[str] = None,
    *,
    path: Iterable[Union[str, "os.PathLike[str]"]] = (),
    set: Optional[Mapping[str, Value]] = None,
    text: Optional[str] = None,
    formalism: Optional[str] = None,
    native: bool = False,
    allow_external: bool = False,
    warnings: Iterable[str] = (),
) -> "Model":
    """Compiles the model ``name`` of a file, or of ``text``; or finds it in the cache, where it is when nothing it is made from has changed.

    ``path`` has folders in which packages are looked for, ``set`` values that shape the equations (a number of cells, a condition), ``warnings``
    switches as they stand behind ``-W``.

    >>> import mdlc
    >>> m = mdlc.compile(text="model Fall Real v(start = 0, fixed = true); equation der(v) = -9.81; end Fall;")
    >>> m.name, round(m.run()["v"][-1].item(), 6)
    ('Fall', -9.81)
    """
    if (file is None) == (text is None):
        raise TypeError("a model is read from a file or from a text")
    if text is not None:
        source = _cache.folder() / f"{_cache.digest(text)}.mdl"
        if not source.exists():
            _cache.write(source, text.encode())
        where = str(source)
    else:
        where = os.fspath(file)  # type: ignore[arg-type]
        where = os.path.abspath(where) if os.path.exists(where) or where.endswith((".mdl", ".mo", ".dae")) else where
    words = [where]
    folders = [os.path.abspath(os.fspath(place)) for place in path]
    words += ["-m", name] if name else []
    words += [f"--path={place}" for place in folders]
    words += [f"--set={key}={_written(value)}" for key, value in (set or {}).items()]
    words += [f"--formalism={formalism}"] if formalism else []
    words += ["--allow-external"] if allow_external else []
    words += [f"-W{switch}" for switch in warnings]
    options = dict(name=name, path=tuple(folders), set=dict(set or {}), formalism=formalism, native=native, allow_external=allow_external, warnings=tuple(warnings))
    return _compile(where, text, words, folders, native, options)


def _compile(where: str, text: Optional[str], words: "list[str]", folders: "list[str]", native: bool, options: "dict[str, Any]") -> "Model":
    compiler = os.stat(program())
    looked = ([os.path.dirname(where)] if text is None and os.path.isabs(where) else []) + folders + os.environ.get("MDLPATH", "").split(":")
    looked = [place for place in looked if place]
    from . import __version__

    key = _cache.digest(words, native and _processor(), program(), compiler.st_size, compiler.st_mtime_ns, os.environ.get("MDLPATH"), __version__)
    entry = _cache.find(key, looked)
    shown = {where: "<text>"} if text is not None else {}
    if entry is None:
        version()
        import tempfile

        handle, made = tempfile.mkstemp(suffix=".so", dir=_cache.folder())
        os.close(handle)
        listed = made + ".sources"
        try:
            more = ["--native"] if native else []
            _, found = checked(["build", *words, "--emit=shared", "--derivatives", *more, f"--sources={listed}", "-o", made], shown)
            sources = [_cache.stamp(os.path.abspath(line)) for line in Path(listed).read_text().splitlines() if os.path.exists(line)]
            said = [one._asdict() for one in found]
            entry = _cache.keep(key, {"sources": sources, "listing": _cache.listing(looked), "warnings": said}, Path(made))
        finally:
            for place in (made, listed):
                if os.path.exists(place):
                    os.unlink(place)
    library = load(str(_cache.folder() / entry["library"]))
    warnings = [Diagnostic(**cast("dict[str, Any]", one)) for one in entry["warnings"]]
    return Model(library, where, text, words, options, warnings)


def _processor() -> str:
    with open("/proc/cpuinfo") as file:
        return "".join(sorted({line for line in file if line.startswith(("flags", "model name"))}))


def _written(value: Any) -> str:
    """As ``--set`` takes it.

    >>> _written([1, True, 0.5])
    '{1, true, 0.5}'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "true" if value else "false"
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(_written(item) for item in value) + "}"
    return repr(value)


def _reopen(where: str, text: Optional[str], options: "dict[str, Any]", mark: str) -> "Model":
    model = compile(text=text, **options) if text is not None else compile(where, **options)
    if model.hash != mark:
        raise MdlcError(f"{where} has changed since this was saved")
    return model


class Model:
    """A compiled model, from :func:`mdlc.compile`. It is never changed: any number of threads may run it.

    >>> import mdlc
    >>> m = mdlc.example("hello")
    >>> m
    <Model Oscillator: 9 parameters, 0 inputs>
    """

    def __init__(self, library: Library, where: str, text: Optional[str], words: "list[str]", options: "dict[str, Any]", warnings: "list[Diagnostic]") -> None:
        self._library = library
        self._words = words
        self._options = options
        self._text = text
        self.path = where
        self.warnings = warnings

    @property
    def hash(self) -> str:
        """Of the compiled code: models with one hash are the same.

        >>> import mdlc
        >>> mdlc.example("hello").hash == mdlc.example("hello").hash
        True
        """
        return os.path.basename(self._library.path)[:-3]

    @property
    def name(self) -> str:
        """The name of its class.

        >>> import mdlc
        >>> mdlc.example("hello").name
        'Oscillator'
        """
        given = self._options["name"]
        if given:
            return str(given)
        import re

        source = self._text if self._text is not None else Path(self.path).read_text(errors="replace") if os.path.isfile(self.path) else ""
        found = re.findall(r"^\s*(?:model|class|block)\s+(\w+)", source, re.MULTILINE)
        return found[-1] if found else self.path

    @property
    def variables(self) -> "list[Variable]":
        """Variables, with parameters and derivatives (``kind``).

        >>> import mdlc
        >>> [v.unit for v in mdlc.example("hello").variables if v.name == "body.v"]
        ['m/s']
        """
        return self._library.variables

    @property
    def parameters(self) -> "dict[str, Variable]":
        """What :meth:`run` can set, besides start values.

        >>> import mdlc
        >>> mdlc.example("hello").parameters["body.m"].value
        1.0
        """
        return {v.name: v for v in self._library.settables if v.kind == "parameter"}

    @property
    def starts(self) -> "dict[str, Variable]":
        """Start values that can be set.

        >>> import mdlc
        >>> "body.s" in mdlc.example("hello").starts
        True
        """
        return {v.name: v for v in self._library.settables if v.kind == "start"}

    @property
    def inputs(self) -> "dict[str, Variable]":
        """Inputs of the model, which keep a value until another is given.

        >>> import mdlc
        >>> list(mdlc.compile(text="model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;").inputs)
        ['u']
        """
        return {v.name: v for v in self._library.settables if v.kind == "input"}

    def __reduce__(self) -> Any:
        return _reopen, (self.path, self._text, self._options, self.hash)

    def __repr__(self) -> str:
        return f"<Model {self.name}: {len(self.parameters)} parameters, {len(self.inputs)} inputs>"

    def _repr_html_(self) -> str:
        from ._html import model

        return model(self)

    # --- values

    def _settings(self, values: Optional[Mapping[str, Value]]) -> "list[tuple[str, float]]":
        found: "list[tuple[str, float]]" = []
        for name, value in (values or {}).items():
            self._flatten(name, value, (), found)
        return found

    def _flatten(self, name: str, value: Any, index: "tuple[int, ...]", found: "list[tuple[str, float]]") -> None:
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, (list, tuple)):
            for k, item in enumerate(value):
                self._flatten(name, item, (*index, k + 1), found)
            return
        full = name + ("[" + ",".join(map(str, index)) + "]" if index else "")
        if isinstance(value, str):
            variable = self._library.settable.get(full)
            literal = value.rsplit(".", 1)[-1]
            if variable is None or literal not in variable.literals:
                raise ValueError(f"'{full}' cannot be {value!r}" + (f": it is one of {', '.join(variable.literals)}" if variable and variable.literals else ""))
            value = variable.literals.index(literal) + 1
        found.append((full, float(value)))

    def _create(self, tolerance: float, settings: "list[tuple[str, float]]") -> int:
        calls = self._library.calls
        simulation: Optional[int] = calls.mdl_create_program(tolerance)
        if not simulation:
            raise MemoryError("a simulation")
        for name, value in settings:
            if calls.mdl_set(simulation, name.encode(), value):
                message = calls.mdl_message(simulation).decode(errors="replace")
                calls.mdl_destroy(simulation)
                raise ValueError(message)
        return simulation

    # --- runs

    def run(
        self,
        stop: Optional[float] = None,
        *,
        start: Optional[float] = None,
        set: Optional[Mapping[str, Value]] = None,
        interval: Optional[float] = None,
        points: int = 0,
        steps: bool = False,
        tol: float = 0.0,
        abstol: Optional[float] = None,
        solver: str = "auto",
        step: Optional[float] = None,
        form: str = "auto",
        assemble: bool = False,
        variables: Optional[Iterable[str]] = None,
        time_limit: float = 0.0,
        progress: Progress = False,
    ) -> "Result":
        """A run, with the options of ``mdlc run``; what is not said is as the model says.

        ``variables`` has names (parameters and ``der(x)``, too); without it all variables come. ``progress`` is ``True`` for a line on the terminal, or is
        called as ``progress(part, time)``. Ctrl-C raises :class:`mdlc.Interrupted` with the rows up to there.

        >>> import mdlc
        >>> r = mdlc.example("hello").run(stop=2, set={"body.m": 2}, tol=1e-8)
        >>> round(r["body.s"][-1].item(), 6)
        -0.051776
        """
        library = self._library
        request = Request()
        library.calls.mdl_request_default(ctypes.byref(request))
        for name, value in (("start", start), ("stop", stop), ("interval", interval), ("step", step), ("abstol", abstol)):
            if value is not None:
                setattr(request, name, float(value))
        request.points, request.steps, request.assemble, request.time_limit = points, steps, assemble, time_limit
        request.solver, request.form = _word("solver", solver, SOLVERS), _word("form", form, FORMS)
        if variables is not None:
            handles = [self._handle(name) for name in variables]
            request.column = (ctypes.c_int * (len(handles) + 1))(*handles)
            request.columns = len(handles)
        simulation = self._create(tol, self._settings(set))
        try:
            return self._simulate(simulation, request, progress)
        finally:
            library.calls.mdl_destroy(simulation)

    def _handle(self, name: str) -> int:
        try:
            return self._library.index[name]
        except KeyError:
            import difflib

            near = difflib.get_close_matches(name, self._library.index, 1)
            raise KeyError(f"the model has no variable '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")) from None

    def _simulate(self, simulation: int, request: Request, progress: Progress) -> "Result":
        from ._result import Result

        raised: "list[BaseException]" = []
        flag = ctypes.c_int(0)
        show = _progress_line if progress is True else progress

        def watch(_user: Any, time: float, begin: float, end: float) -> None:
            try:
                show((time - begin) / (end - begin), time)  # type: ignore[operator]
            except BaseException as error:
                raised.append(error)
                flag.value = 1

        request.progress = PROGRESS(watch) if show else _nothing
        request.interrupt = ctypes.pointer(flag)
        trajectory = Trajectory()
        interrupted: "list[int]" = []

        # While C is at work Ctrl-C sets the flag instead of raising an exception, which C would be in the way of.
        def note(number: int, _frame: Any) -> None:
            interrupted.append(number)
            flag.value = 1

        mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        try:
            if mine:
                signal.signal(signal.SIGINT, note)
            status = self._library.calls.mdl_trajectory_run(simulation, ctypes.byref(request), ctypes.byref(trajectory))
        finally:
            if mine:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        result = Result._of_run(self, self._library, trajectory)
        if progress is True:
            _progress_line(1.0, None)
        if interrupted:
            raise Interrupted(result)
        if raised:
            raise raised[0]
        if status in (1, 2):
            raise ValueError(_last_error(result))
        if status:
            raise SimulationError(_last_error(result), result.end, result, status)
        return result

    def simulation(self, *, set: Optional[Mapping[str, Value]] = None, tol: float = 0.0) -> "Simulation":
        """A simulation to be driven step by step: inputs, states to go back to.

        >>> import mdlc
        >>> s = mdlc.example("hello").simulation()
        >>> s.start(); s.advance(0.1); round(s["body.s"], 4)
        0.0813
        """
        from ._simulation import Simulation

        return Simulation(self, dict(set or {}), tol)

    # --- analysis

    def check(self) -> "list[Diagnostic]":
        """Warnings of the compiler; errors raise :class:`mdlc.CompileError`.

        >>> import mdlc
        >>> mdlc.example("hello").check()
        []
        """
        return checked(["check", *[w for w in self._words if not w.startswith("--formalism")]], {self.path: "<text>"} if self._text is not None else {})[1]

    def _analyse(self, what: str, words: "list[str]", suffix: str, partial: bool = False) -> bytes:
        import tempfile

        handle, place = tempfile.mkstemp(suffix=suffix)
        os.close(handle)
        try:
            done = call([what, *self._words, *words, "-o", place])
            if done.returncode == 1:
                raise CompileError([], done.stderr.decode(errors="replace").strip())
            read = Path(place).read_bytes()
            if done.returncode and not (partial and done.returncode == 3 and read):
                raise SimulationError(done.stderr.decode(errors="replace").strip(), float("nan"), None, done.returncode)
            return read
        finally:
            os.unlink(place)

    def _set_words(self, values: Optional[Mapping[str, Value]]) -> "list[str]":
        return [f"--set={name}={_written(value)}" for name, value in (values or {}).items()]

    def linearize(self, at: Optional[float] = None, *, steady: bool = False, set: Optional[Mapping[str, Value]] = None) -> "LinearSystem":
        """A, B, C, D and eigenvalues at the start, at a time, or around an equilibrium.

        >>> import mdlc
        >>> mdlc.example("hello").linearize().A.tolist()
        [[0.0, 1.0], [-40.0, -1.0]]
        """
        from ._analysis import LinearSystem

        words = self._set_words(set) + ([f"--at={at!r}"] if at is not None else []) + (["--steady"] if steady else [])
        return LinearSystem._of(self._analyse("linearize", words, ".json"))

    def steady(self, *, set: Optional[Mapping[str, Value]] = None) -> "SteadyState":
        """Where the model rests, near its start values.

        >>> import mdlc
        >>> abs(mdlc.example("hello").steady()["body.s"]) < 1e-9
        True
        """
        from ._analysis import SteadyState

        return SteadyState._of(self._analyse("steady", self._set_words(set), ".json"))

    def sense(self, parameters: Sequence[str], outputs: Optional[Sequence[str]] = None, *, stop: Optional[float] = None, points: int = 0, interval: Optional[float] = None, tol: Optional[float] = None, set: Optional[Mapping[str, Value]] = None) -> "Sensitivities":
        """A run with exact derivatives of outputs (of states, where none are named) by parameters.

        >>> import mdlc
        >>> s = mdlc.example("hello").sense(["spring.k"], ["body.s"], stop=0.1, points=2)
        >>> round(s.derivative("body.s", "spring.k")[-1].item(), 8)
        -0.00045234
        """
        from ._analysis import Sensitivities

        words = self._set_words(set) + ["--param=" + ",".join(parameters)] + (["--outputs=" + ",".join(outputs)] if outputs else [])
        words += [f"--{key}={value!r}" for key, value in (("stop", stop), ("interval", interval), ("tol", tol)) if value is not None]
        words += [f"--points={points}"] if points else []
        return Sensitivities._of(self, list(parameters), self._analyse("sense", words, ".csv"))

    def residuals(self, times: Sequence[float], data: Mapping[str, Sequence[float]], free: Sequence[str], *, set: Optional[Mapping[str, Value]] = None, weights: Optional[Mapping[str, float]] = None, tol: float = 1e-8) -> "Residuals":
        """What a run differs by from measured values, with the exact Jacobian by the parameters ``free``: for ``scipy.optimize``.

        >>> import mdlc
        >>> p = mdlc.example("hello").residuals([0.5, 1.0], {"body.s": [-0.07, 0.06]}, ["spring.k", "damper.c"])
        >>> p.x0.tolist(), p.jac(p.x0).shape
        ([40.0, 1.0], (2, 2))
        """
        from ._analysis import Residuals

        return Residuals(self, times, data, free, dict(set or {}), dict(weights or {}), tol)

    def optimise(self, minimise: Union[str, Sequence[str]], free: Mapping[str, Tuple[float, float]], *, subject_to: Sequence[str] = (), starts: int = 1, front: int = 0, stop: Optional[float] = None, interval: Optional[float] = None, tol: Optional[float] = None, max_runs: int = 0, record: Optional[str] = None, set: Optional[Mapping[str, Value]] = None) -> "Optimum":
        """The values of the parameters ``free`` (within bounds) with which a formula is least; of two formulas, their front.

        >>> import mdlc
        >>> best = mdlc.example("hello").optimise("rms(body.s)", {"damper.c": (0.1, 20)}, stop=20)
        >>> round(best["damper.c"], 1), best.feasible
        (6.3, True)
        """
        from ._analysis import Optimum

        goals = [minimise] if isinstance(minimise, str) else list(minimise)
        words = self._set_words(set) + [f"--minimise={goal}" for goal in goals] + [f"--subject-to={goal}" for goal in subject_to]
        words += [f"--free={name}={low!r}..{high!r}" for name, (low, high) in free.items()]
        words += [f"--{key}={value!r}" for key, value in (("stop", stop), ("interval", interval), ("tol", tol)) if value is not None]
        words += [f"--{key}={value}" for key, value in (("starts", starts), ("front", front), ("max-runs", max_runs)) if value]
        words += [f"--record={os.fspath(record)}"] if record is not None else []
        return Optimum._of(self._analyse("optimise", words, ".json", partial=True))

    # --- control

    def rates(self, *, parameters: Sequence[str] = (), set: Optional[Mapping[str, Value]] = None, time: float = 0.0) -> "Rates":
        """The right-hand side ``f(t, x, u, p)`` with its Jacobians, for integrators and controllers of others.

        >>> import mdlc
        >>> f = mdlc.example("hello").rates(parameters=["body.m"])
        >>> f(0, [0.1, 0.0], [], [2.0]).tolist()
        [0.0, -2.0]
        """
        from ._control import Rates

        return Rates(self, list(parameters), dict(set or {}), time)

    def env(self, observe: Sequence[str], *, interval: float, stop: Optional[float] = None, reward: Optional[Callable[["Env"], float]] = None, set: Optional[Mapping[str, Value]] = None, inputs: Optional[Sequence[str]] = None, tol: float = 0.0) -> "Env":
        """An environment for controllers that learn: ``reset``, ``step``, ``save``, ``restore``.

        >>> import mdlc
        >>> m = mdlc.compile(text="model M input Real u; Real x(start = 1, fixed = true); equation der(x) = u; end M;")
        >>> env = m.env(["x"], interval=0.1, stop=1)
        >>> env.reset().tolist(), [round(v, 9) for v in env.step([-1.0])[0].tolist()]
        ([1.0], [0.9])
        """
        from ._control import Env

        return Env(self, list(observe), interval, stop, reward, dict(set or {}), inputs, tol)

    # --- products

    def fmu(self, file: Union[str, "os.PathLike[str]"], *, version: int = 3, interface: str = "me,cs") -> str:
        """Writes a functional mock-up unit (needs a C compiler).

        >>> Model.fmu.__name__
        'fmu'
        """
        checked(["build", *self._words, f"--fmi={version}", f"--interface={interface}", "-o", os.fspath(file)])
        return os.fspath(file)

    def show(self, what: str, format: str = "text") -> str:
        """What ``mdlc show`` prints: ``"equations"``, ``"states"``, ``"bonds"``, ...

        >>> import mdlc
        >>> "body.s" in mdlc.example("hello").show("states")
        True
        """
        done = call(["show", what, *self._words, *([f"--format={format}"] if format != "text" else [])])
        if done.returncode:
            raise CompileError([], done.stderr.decode(errors="replace").strip())
        return done.stdout.decode()

    def bond_graph(self) -> "Picture":
        """The bond graph as a drawing.

        >>> import mdlc
        >>> mdlc.example("hello").bond_graph().text.splitlines()[0][:20]
        'multibond graph of O'
        """
        return Picture(self.show("bonds", "svg"), self.show("bonds"))


class Picture:
    """A drawing (``svg``), with the same as text.

    >>> print(Picture("<svg/>", "a drawing"))
    a drawing
    """

    def __init__(self, svg: str, text: str) -> None:
        self.svg = svg
        self.text = text

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


def _word(option: str, given: str, words: Sequence[str]) -> int:
    if given not in words:
        raise ValueError(f"{option} is one of {', '.join(words)}")
    return words.index(given)


# Called from C about ten times a second: handlers of signals run at its beginning. Nothing may be raised through C.
_nothing = PROGRESS(lambda _user, _time, _begin, _end: None)


def _last_error(result: "Result") -> str:
    text = "\n".join(result.messages)
    at = text.rfind("error: ")
    return text[at + 7 :] if at >= 0 else text or "the run failed"


def _progress_line(part: float, time: Optional[float]) -> None:
    import sys

    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        text = "\r\033[K" if time is None else f"\r{100 * part:3.0f} %  time {time:.4g} s\033[K"
        print(text, end="", file=sys.stderr, flush=True)


def example(name: str = "hello", model: Optional[str] = None) -> Model:
    """One of the examples that come along; ``mdlc examples`` lists them.

    >>> import mdlc
    >>> len(mdlc.example("hello").run()) > 100
    True
    """
    beside = Path(program()).resolve().parent
    for place in (beside / "../share/mdlc/examples", beside / "../examples", beside / "../../examples", beside / "examples"):
        files = sorted((place / name).glob("*.mdl")) if (place / name).is_dir() else []
        if files:
            chosen = [f for f in files if f.stem == model] if model else files
            if not chosen:
                raise KeyError(f"the example '{name}' has {', '.join(f.stem for f in files)}")
            return compile(chosen[0].resolve(), path=[place / name] if len(files) > 1 else [])
    raise KeyError(f"there is no example '{name}'")
