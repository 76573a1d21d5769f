"""Compiled models on disk, by what they were made from.

A model is found again when the same files with the same contents, the same options and the same compiler would make it. A library has the hash of
its bytes as a name, so that a model that was built anew is another file (a library that is loaded again from one path is the old one). Files
are written beside their place and renamed, so that any number of processes may do it at once; the oldest go when there is more than a gigabyte.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Iterable, Optional

LIMIT = 1 << 30


def folder() -> Path:
    """The cache: ``MDLC_CACHE``, or ``mdlc`` in the user's folder of caches.

    >>> folder().is_dir()
    True
    """
    given = os.environ.get("MDLC_CACHE")
    place = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mdlc"
    try:
        place.mkdir(parents=True, exist_ok=True)
        probe = os.access(place, os.W_OK)
    except OSError:
        probe = False
    if not probe:
        import tempfile

        place = Path(tempfile.gettempdir()) / f"mdlc-{os.getuid()}"
        place.mkdir(mode=0o700, exist_ok=True)
        if place.stat().st_uid != os.getuid():
            raise PermissionError(f"{place} belongs to somebody else; MDLC_CACHE names another folder")
    return place


def digest(*parts: object) -> str:
    """A name for these parts.

    >>> digest("a", 1) == digest("a", 1) != digest("a1")
    True
    """
    made = hashlib.sha256()
    for part in parts:
        made.update(part if isinstance(part, bytes) else repr(part).encode())
        made.update(b"\0")
    return made.hexdigest()[:32]


def stamp(path: str) -> "list[Any]":
    """What says that a file is the same: its size, its time, and the hash of its bytes, which decides when these differ.

    >>> stamp(__file__)[0] == __file__
    True
    """
    info = os.stat(path)
    return [path, info.st_size, info.st_mtime_ns, hashlib.sha256(Path(path).read_bytes()).hexdigest()]


def is_same(entry: "list[Any]") -> bool:
    """Whether the file still is what :func:`stamp` saw.

    >>> is_same(stamp(__file__))
    True
    """
    path, size, time, mark = entry
    try:
        info = os.stat(path)
        if info.st_size != size:
            return False
        return bool(info.st_mtime_ns == time or hashlib.sha256(Path(path).read_bytes()).hexdigest() == mark)
    except OSError:
        return False


def listing(folders: Iterable[str]) -> "list[list[str]]":
    """Names of models in the folders where packages are looked for: another one there may be another model.

    >>> listing([])
    []
    """
    found = []
    for place in folders:
        try:
            with os.scandir(place) as entries:
                found.append(sorted(e.name for e in entries if e.name.endswith((".mdl", ".mo")) or e.is_dir()))
        except OSError:
            found.append([])
    return found


def write(path: Path, content: bytes) -> None:
    """The whole file or none of it.

    >>> write(folder() / "example.json", b"{}")
    """
    import tempfile

    handle, fresh = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(fresh, path)
    except BaseException:
        os.unlink(fresh)
        raise


def find(key: str, folders: "list[str]") -> Optional["dict[str, Any]"]:
    """The entry of that key, when everything it was made from is unchanged.

    >>> find("none", []) is None
    True
    """
    path = folder() / f"{key}.json"
    try:
        entry: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    library = str(folder() / entry.get("library", "none"))
    if not os.path.exists(library) or entry["listing"] != listing(folders) or not all(map(is_same, entry["sources"])):
        return None
    return entry


def keep(key: str, entry: "dict[str, Any]", made: Path) -> "dict[str, Any]":
    """Takes the library ``made`` into the cache; the entry with its name.

    >>> made = folder() / "made.so"
    >>> write(made, b"no library")
    >>> keep("example", {"listing": [], "sources": []}, made)["library"].endswith(".so")
    True
    """
    content = made.read_bytes()
    name = f"{hashlib.sha256(content).hexdigest()[:32]}.so"
    os.replace(made, folder() / name)
    entry = {**entry, "library": name}
    write(folder() / f"{key}.json", json.dumps(entry).encode())
    _shrink()
    return entry


def _shrink() -> None:
    files = []
    with os.scandir(folder()) as entries:
        for entry in entries:
            try:
                if entry.is_file():
                    info = entry.stat()
                    files.append((info.st_mtime, info.st_size, entry.path))
            except FileNotFoundError:
                continue
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= LIMIT:
            break
        try:
            os.unlink(path)  # who has it loaded keeps it
            total -= size
        except OSError:
            pass
