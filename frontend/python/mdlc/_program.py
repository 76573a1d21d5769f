"""The program ``mdlc`` as a child process: where it is, how it is called, what it says."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Sequence

from ._errors import CompileError, CompilerFault, Diagnostic, MdlcError

if TYPE_CHECKING:
    import subprocess

_HERE = Path(__file__).resolve().parent


@lru_cache(maxsize=None)
def program() -> str:
    """The path of the compiler: of the wheel, of the source tree, or what ``MDLC`` names.

    >>> os.path.basename(program())
    'mdlc'
    """
    given = os.environ.get("MDLC")
    candidates = [given] if given else [str(_HERE / "_files/bin/mdlc"), str(_HERE.parents[2] / "build/mdlc")]
    for candidate in candidates:
        if os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    import shutil

    found = None if given else shutil.which("mdlc")
    if not found:
        raise MdlcError(f"the compiler is not there: {' and '.join(candidates)} cannot be run")
    return found


@lru_cache(maxsize=None)
def version() -> str:
    """The compiler's version, which is that of this package.

    >>> version().count(".")
    2
    """
    from . import __version__

    said = call(["--version"]).stdout.decode().split()
    found = said[1] if len(said) > 1 else "?"
    if found != __version__:
        raise MdlcError(f"{program()} is mdlc {found}, and this package is of {__version__}")
    return found


def call(words: Sequence[str], folder: Optional[str] = None) -> "subprocess.CompletedProcess[bytes]":
    """Runs ``mdlc`` with these words, without a shell; what it prints is kept from the terminal.

    >>> call(["--version"]).returncode
    0
    """
    import subprocess

    environment = {name: value for name, value in os.environ.items() if name not in ("MDLC_CHECK", "CC")}
    done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment)
    if done.returncode in (4,) or done.returncode < 0:
        raise CompilerFault(f"mdlc {words[0]} ended with {_ending(done.returncode)}\n{done.stderr.decode(errors='replace')}")
    return done


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _source_line(path: str, line: int, texts: dict[str, list[bytes]], named: Optional[str]) -> bytes:
    if path not in texts:
        try:
            texts[path] = Path(path).read_bytes().split(b"\n")
        except OSError:
            texts[path] = []
    lines = texts[path]
    return lines[line - 1] if 0 < line <= len(lines) else b""


def _characters(line: bytes, column: int) -> int:
    """Columns of the compiler count bytes.

    >>> _characters("é = 1".encode(), 3)
    2
    """
    return len(line[: column - 1].decode(errors="replace")) + 1 if line else column


def parse_diagnostics(text: str, shown: Optional[dict[str, str]] = None) -> list[Diagnostic]:
    """Diagnostics from what ``--message-format=json`` has printed; ``shown`` has other names for files.

    >>> parse_diagnostics('[{"code":"E0901","severity":"error","message":"no file","notes":[],"help":[]}]')[0].code
    'E0901'
    """
    start = text.find("[{")
    if start < 0:
        return []
    rows: list[dict[str, Any]] = json.JSONDecoder().raw_decode(text[start:])[0]
    texts: dict[str, list[bytes]] = {}
    found = []
    for row in rows:
        path = row.get("path", "")
        line = _source_line(path, row.get("line", 0), texts, None)
        end = _source_line(path, row.get("end_line", 0), texts, None)
        notes = [note["message"] if isinstance(note, dict) else str(note) for note in row["notes"]]
        found.append(
            Diagnostic(
                row["code"], row["severity"], row["message"], (shown or {}).get(path, path), row.get("line", 0),
                _characters(line, row.get("column", 0)), row.get("end_line", 0), _characters(end, row.get("end_column", 0)),
                tuple(row["help"]), tuple(notes), line.decode(errors="replace"),
            )
        )
    return found


def checked(words: Sequence[str], shown: Optional[dict[str, str]] = None) -> "tuple[bytes, list[Diagnostic]]":
    """Calls a command that takes a model; errors of the model raise ``CompileError``. What it printed, and warnings.

    >>> checked(["check", "nothing.mdl"])
    Traceback (most recent call last):
    ...
    mdlc.CompileError: error[E0901]: cannot read 'nothing.mdl': No such file or directory
    """
    done = call([*words, "--message-format=json"])
    found = parse_diagnostics(done.stdout.decode(errors="replace"), shown)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        errors = [one for one in found if one.severity == "error"]
        text = "\n".join(map(str, errors)) if errors else said
        raise CompileError(found, "\n".join(filter(None, [text, said if errors else ""])) or f"mdlc {words[0]} ended with exit code {done.returncode}")
    return done.stdout, found
