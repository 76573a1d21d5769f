"""Trajectories: rows of a run as NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Optional, Union

import numpy as np
import numpy.typing as npt

from ._library import Library, Trajectory, Variable

if TYPE_CHECKING:
    from ._model import Model


class Column(np.ndarray[Any, np.dtype[Any]]):
    """A variable of a result: an array that knows its ``name``, ``unit``, ``description`` and, of an enumeration, its ``literals``.

    >>> import mdlc
    >>> mdlc.example("hello").run()["body.s"].unit
    'm'
    """

    name: str = ""
    unit: str = ""
    description: str = ""
    literals: "tuple[str, ...]" = ()

    def __new__(cls, values: "npt.NDArray[Any]", variable: Optional[Variable] = None) -> "Column":
        made = np.asarray(values).view(cls)
        if variable:
            made.name, made.unit, made.description, made.literals = variable.name, variable.unit, variable.description, variable.literals
        return made

    def __array_finalize__(self, source: Any) -> None:
        if isinstance(source, Column):
            self.__dict__.update(source.__dict__)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # What is computed from a column is no column: its unit would be a guess.
        return array[()] if return_scalar else np.asarray(array)

    def __reduce__(self) -> Any:
        return _column, (np.asarray(self), self.name, self.unit, self.description, self.literals)

    @property
    def names(self) -> "npt.NDArray[Any]":
        """Of an enumeration: the names of its values.

        >>> Column(np.array([2, 1]), Variable("gear", "", "", "enumeration", "variable", ("up", "down"), 0, 0, 0, None)).names.tolist()
        ['down', 'up']
        """
        names: "npt.NDArray[Any]" = np.array(self.literals)[np.asarray(self, dtype=np.int64) - 1]
        return names

    def to_pint(self, registry: Any = None) -> Any:
        """With its unit, by the package pint.

        >>> Column.to_pint.__name__
        'to_pint'
        """
        if registry is None:
            import pint

            registry = pint.UnitRegistry()
        unit = self.unit.replace(".", "*").replace("degC", "celsius")
        for power in "23456":
            unit = unit.replace(power, "**" + power)
        return np.asarray(self) * registry(unit or "1").units


def _column(values: Any, name: str, unit: str, description: str, literals: "tuple[str, ...]") -> Column:
    return Column(values, Variable(name, unit, description, "Real", "variable", literals, 0, 0, 0, None))


def _release(library: Library, trajectory: Trajectory) -> None:
    library.calls.mdl_trajectory_free(trajectory)


class _Block:
    """The rows in the memory of C, freed when no array uses them any more."""

    def __init__(self, library: Library, trajectory: Trajectory) -> None:
        self.__array_interface__ = {
            "data": (trajectory.value or 0, True), "shape": (trajectory.rows, trajectory.columns + 1), "typestr": "<f8", "version": 3,
        }
        self._library = library
        self._trajectory = trajectory

    def __del__(self) -> None:
        _release(self._library, self._trajectory)


class Result:
    """Rows of a run: ``r.time``, ``r["body.s"]``.

    The time is not strictly increasing: an event has two rows, with the values before and behind it.

    >>> import mdlc
    >>> r = mdlc.example("hello").run(stop=1)
    >>> float(r.time[-1]), len(r), r["body.s"][0].item()
    (1.0, 501, 0.1)
    """

    def __init__(self, rows: "npt.NDArray[np.float64]", variables: "list[Variable]", model: Optional["Model"] = None, end: float = 0.0, seconds: float = 0.0, steps: int = 0, events: int = 0, messages: "tuple[str, ...]" = ()) -> None:
        self.rows = rows
        self.variables = variables
        self.model = model
        self.end = end
        self.seconds = seconds
        self.steps = steps
        self.n_events = events
        self.messages = list(messages)
        self._place = {variable.name: k + 1 for k, variable in enumerate(variables)}

    @classmethod
    def _of_run(cls, model: "Model", library: Library, t: Trajectory) -> "Result":
        variables = [library.variables[t.column[k]] for k in range(t.columns)]
        messages = tuple(filter(None, (t.messages or b"").decode(errors="replace").split("\n")))
        end, seconds, steps, events = t.end, t.seconds, t.steps, t.events
        if t.rows:
            rows: Any = np.asarray(_Block(library, t))
        else:
            rows = np.empty((0, t.columns + 1))
            _release(library, t)
        return cls(rows, variables, model, end, seconds, steps, events, messages)

    def __reduce__(self) -> Any:
        return Result, (np.array(self.rows), self.variables, self.model, self.end, self.seconds, self.steps, self.n_events, tuple(self.messages))

    @property
    def names(self) -> "list[str]":
        """Names of the variables.

        >>> import mdlc
        >>> "body.v" in mdlc.example("hello").run().names
        True
        """
        return [variable.name for variable in self.variables]

    @property
    def time(self) -> Column:
        """Times of the rows; two rows of one time are both sides of an event.

        >>> import mdlc
        >>> mdlc.example("hello").run().time.unit
        's'
        """
        return Column(self.rows[:, 0], Variable("time", "s", "", "Real", "variable", (), 0, 0, 0, None))

    def __getitem__(self, name: str) -> Column:
        place = self._place.get(name)
        if place is None:
            if name == "time":
                return self.time
            import difflib

            near = difflib.get_close_matches(name, self._place, 1)
            raise KeyError(f"there is no variable '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        variable = self.variables[place - 1]
        values = self.rows[:, place]
        if variable.type == "Boolean":
            return Column(values != 0, variable)
        return Column(values.astype(np.int64) if variable.type != "Real" else values, variable)

    def __contains__(self, name: object) -> bool:
        return name in self._place or name == "time"

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def events(self) -> "npt.NDArray[np.float64]":
        """Times that have rows on both sides.

        >>> import mdlc
        >>> m = mdlc.compile(text="model M Boolean b = time > 0.5; end M;")
        >>> m.run().events.tolist()
        [0.5]
        """
        time = self.rows[:, 0]
        twice: "npt.NDArray[np.float64]" = np.unique(time[1:][time[1:] == time[:-1]])
        return twice

    def at(self, t: float, name: Optional[str] = None, side: str = "right") -> Any:
        """Values at a time, straight lines between rows; at an event those before it (``side="left"``) or behind it.

        >>> import mdlc
        >>> r = mdlc.compile(text="model M Real x = if time > 0.5 then 2 else 1; end M;").run()
        >>> r.at(0.5, "x", side="left"), r.at(0.5, "x")
        (1.0, 2.0)
        """
        if side not in ("left", "right"):
            raise ValueError("side is 'left' or 'right'")
        time = self.rows[:, 0]
        if not len(time) or not time[0] <= t <= time[-1]:
            raise ValueError(f"the result has no row at time {t:g}")
        if side == "right":
            k = int(np.searchsorted(time, t, side="right")) - 1
            exact = time[k] == t
        else:
            k = int(np.searchsorted(time, t, side="left"))
            exact = time[k] == t
            k -= not exact
        row = self.rows[k]
        if not exact:
            part = (t - time[k]) / (time[k + 1] - time[k])
            smooth = np.array([True] + [v.type == "Real" for v in self.variables])
            row = np.where(smooth, row + part * (self.rows[k + 1] - row), row)
        convert = {"Boolean": bool, "Integer": int, "enumeration": int, "Real": float}
        names = [name] if name is not None else self.names
        found: "dict[str, Union[bool, int, float]]" = {n: convert[self.variables[self._place[n] - 1].type](row[self._place[n]]) for n in names}
        return found[name] if name is not None else found

    def to_pandas(self) -> Any:
        """A DataFrame with the time as its index (needs pandas).

        >>> Result.to_pandas.__name__
        'to_pandas'
        """
        import pandas

        return pandas.DataFrame({name: np.asarray(self[name]) for name in self}, index=pandas.Index(np.asarray(self.time), name="time"))

    def to_parquet(self, path: str) -> None:
        """A Parquet file, with units and descriptions (needs pyarrow).

        >>> Result.to_parquet.__name__
        'to_parquet'
        """
        import pyarrow
        import pyarrow.parquet

        fields = [pyarrow.field("time", pyarrow.float64(), metadata={"unit": "s"})]
        columns = [pyarrow.array(np.asarray(self.time))]
        for variable in self.variables:
            values = pyarrow.array(np.ascontiguousarray(self[variable.name]))
            fields.append(pyarrow.field(variable.name, values.type, metadata={"unit": variable.unit, "description": variable.description}))
            columns.append(values)
        pyarrow.parquet.write_table(pyarrow.table(columns, schema=pyarrow.schema(fields)), path)

    def to_csv(self, path: str) -> None:
        """The file that ``mdlc run -o`` writes, to the last byte.

        >>> import mdlc, os, tempfile
        >>> place = os.path.join(tempfile.mkdtemp(), "out.csv")
        >>> mdlc.example("hello").run(points=1).to_csv(place)
        >>> open(place).readline().split(",")[0]
        'time'
        """
        with open(path, "w") as file:
            file.write(",".join(_quoted(name) for name in ["time", *self.names]) + "\n")
            for row in self.rows:
                file.write(",".join(f"{value:.17g}" for value in row) + "\n")

    def __repr__(self) -> str:
        name = self.model.name if self.model else "a model"
        return f"<Result of {name}: {len(self)} rows of {len(self.variables)} variables, to {self.end:g} s, {self.n_events} events>"

    def _repr_html_(self) -> str:
        from ._html import result

        return result(self)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\n') else name
