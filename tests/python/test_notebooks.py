# test_notebooks.py: the notebooks of docs/notebooks do what they show, without a browser. NOTEBOOKS=all takes all of them; otherwise the first:
# a kernel needs a second to start. UPDATE=1 writes what they print into them.
import os

import pytest
from conftest import TOP

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

BOOKS = sorted(TOP.glob("docs/notebooks/*.ipynb"))


def printed(book):
    """What there is to compare: text, without drawings."""
    found = []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            found.append("".join(text).strip())
    return [text for text in found if not text.startswith("<IPython")]


def test_there_are_three():
    assert len(BOOKS) == 3


@pytest.mark.parametrize("file", BOOKS if os.environ.get("NOTEBOOKS") == "all" else BOOKS[:1], ids=lambda file: file.stem)
def test_notebook(file, tmp_path):
    book = nbformat.read(file, as_version=4)
    wanted = printed(book)
    done = nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    if os.environ.get("UPDATE") == "1":
        for cell in done.cells:
            cell.metadata.pop("execution", None)
            for output in cell.get("outputs", []):
                # Drawings are large, and are there when the notebook is run.
                for kind in ("text/html", "image/svg+xml"):
                    output.get("data", {}).pop(kind, None)
        nbformat.write(done, file)
    else:
        assert printed(done) == wanted
