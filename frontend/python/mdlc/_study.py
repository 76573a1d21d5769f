"""Studies, which ``mdlc sweep`` makes, and their tables."""

from __future__ import annotations

import array
import csv
import os
from typing import Any, Iterable, Iterator, Optional, Union

import numpy as np
import numpy.typing as npt

from ._errors import CompileError, MdlcError
from ._program import call, parse_diagnostics

_Path = Union[str, "os.PathLike[str]"]
_TYPES = {"id": "int64", "steps": "int64", "seed": "uint64", "seconds": "float64", "status": "text", "message": "text"}


def sweep(
    study: _Path,
    output: Optional[_Path] = None,
    *,
    jobs: int = 0,
    retry_failed: bool = False,
    fresh: bool = False,
    time_limit: float = 0.0,
    path: Iterable[_Path] = (),
    allow_external: bool = False,
) -> "Table":
    """Makes the runs of a study, a small file as ``mdlc sweep`` takes it, and returns their table, which is ``output``, too.

    Runs that are there already are not made again, so that the same call goes on after an interruption; runs that fail are rows.

    >>> import mdlc, os, tempfile
    >>> room = tempfile.mkdtemp()
    >>> _ = open(room + "/m.mdl", "w").write("model M parameter Real a = 1; Real x(start = 1, fixed = true); equation der(x) = -a*x; end M;")
    >>> _ = open(room + "/s.study", "w").write('study S model "m.mdl" M; design grid; factor a = {1, 2}; output x; run(stop = 1); end S;')
    >>> mdlc.sweep(room + "/s.study", room + "/s.csv", jobs=1)["x"].round(4).tolist()
    [0.3679, 0.1353]
    """
    table = os.fspath(output) if output is not None else os.path.splitext(os.path.basename(os.fspath(study)))[0] + ".csv"
    words = ["sweep", os.fspath(study), "-o", table, "--quiet", "--message-format=json"] + [f"--path={os.fspath(place)}" for place in path]
    words += ["--jobs", str(jobs)] if jobs else []
    words += ["--retry=failed"] if retry_failed else []
    words += ["--fresh"] if fresh else []
    words += [f"--limit=time={time_limit!r}"] if time_limit else []
    words += ["--allow-external"] if allow_external else []
    done = call(words)
    if done.returncode not in (0, 3):
        found = parse_diagnostics(done.stdout.decode(errors="replace"))
        said = done.stderr.decode(errors="replace").strip()
        if found:
            raise CompileError(found, "\n".join(filter(None, [*map(str, found), said])))
        raise (ValueError if done.returncode == 2 else MdlcError)(said)
    return Table(table)


class Table:
    """The table of a study, from a file that ``mdlc sweep`` has written: a column for each factor and output, a row for each run.

    ``t["highest"]`` is a NumPy array; outputs of failed runs are ``nan``, and ``t["status"]`` says what became of each. ``t.names`` has the columns.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/t.csv"
    >>> _ = open(place, "w").write("id,k,x,status,message,seconds,steps,seed\\n0,1,0.5,ok,,0.01,30,0\\n1,2,,failed,too low,0.01,9,0\\n")
    >>> t = Table(place)
    >>> len(t), t["x"].tolist(), t["status"].tolist()
    (2, [0.5, nan], ['ok', 'failed'])
    """

    def __init__(self, path: _Path) -> None:
        self.path = os.fspath(path)
        self._columns: "dict[str, npt.NDArray[Any]]" = {}
        with open(self.path, newline="") as file:
            rows = csv.reader(file)
            self.names = next(rows)
            first = next(rows, [])
        # Values of structural factors may be texts.
        self._types = {name: _TYPES.get(name, "float64" if _is_number(cell) else "text") for name, cell in zip(self.names, first or [""] * len(self.names))}

    def _read(self) -> None:
        kinds = {"float64": "d", "int64": "q", "uint64": "Q"}
        found: "list[Any]" = [array.array(kinds[kind]) if kind in kinds else [] for kind in self._types.values()]
        convert = [float if kind == "float64" else str if kind == "text" else int for kind in self._types.values()]
        missing = [float("nan") if kind == "float64" else "" if kind == "text" else 0 for kind in self._types.values()]
        with open(self.path, newline="") as file:
            rows = csv.reader(file)
            next(rows)
            for row in rows:
                for column, make, none, cell in zip(found, convert, missing, row):
                    column.append(make(cell) if cell else none)
        for name, column in zip(self.names, found):
            self._columns[name] = np.array(column, dtype=object if isinstance(column, list) else None)

    def __getitem__(self, name: str) -> "npt.NDArray[Any]":
        if not self._columns:
            self._read()
        if name not in self._columns:
            raise KeyError(f"the table has no column '{name}'; it has {', '.join(self.names)}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self[self.names[0]])

    def to_pandas(self) -> Any:
        """A DataFrame with the ids as its index (needs pandas).

        >>> Table.to_pandas.__name__
        'to_pandas'
        """
        import pandas

        return pandas.DataFrame({name: self[name] for name in self.names[1:]}, index=pandas.Index(self[self.names[0]], name=self.names[0]))

    def to_parquet(self, path: _Path) -> None:
        """A Parquet file, written piece by piece, so that the table may be larger than memory (needs pyarrow).

        >>> Table.to_parquet.__name__
        'to_parquet'
        """
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet

        types = {name: pyarrow.string() if kind == "text" else getattr(pyarrow, kind)() for name, kind in self._types.items()}
        numbers = pyarrow.csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=False)
        with pyarrow.csv.open_csv(self.path, convert_options=numbers, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True)) as pieces:
            with pyarrow.parquet.ParquetWriter(os.fspath(path), pieces.schema) as file:
                for piece in pieces:
                    file.write_batch(piece)

    def __repr__(self) -> str:
        return f"<Table {os.path.basename(self.path)}: {len(self)} runs, {len(self.names)} columns>"


def _is_number(cell: str) -> bool:
    try:
        float(cell or "nan")
    except ValueError:
        return False
    return True
