# test_studies.py: studies from Python, their tables, and pools of processes by others.
import csv
import math

import numpy as np
import pytest

import mdlc

MODEL = """
model Fall
  parameter Integer n(min = 1) = 1;
  parameter Real a = 1;
  parameter Boolean high = false;
  Real x[n](each start = 1, each fixed = true);
  Real y = sum(x) + (if high then 1 else 0);
equation
  der(x) = -a*x;
  assert(a < 2.5, "a, which is \\"large\\"");
end Fall;
"""
STUDY = """
study Falls
  model "fall.mdl" Fall;
  design grid;
  structural n = {1, 2};
  structural high = {false, true};
  factor a = {1, 2, 3};
  output y;
  output t = first(y < 0.2);
  run(stop = 1, tol = 1e-9);
end Falls;
"""


@pytest.fixture(scope="module")
def falls(tmp_path_factory):
    room = tmp_path_factory.mktemp("studies")
    (room / "fall.mdl").write_text(MODEL)
    (room / "falls.study").write_text(STUDY)
    return mdlc.sweep(room / "falls.study", room / "falls.csv", jobs=2)


def test_table(falls):
    assert len(falls) == 12 and list(falls)[:4] == ["id", "n", "high", "a"] and falls["high"].tolist() == (["false"] * 3 + ["true"] * 3) * 2
    for n, high, a, y, status, message in zip(*(falls[name] for name in ("n", "high", "a", "y", "status", "message"))):
        if a == 3:
            assert status == "failed" and math.isnan(y) and 'a, which is "large"' in message
        else:
            assert status == "ok" and message == "" and abs(y - n * math.exp(-a) - (high == "true")) < 1e-6
    # Of a run that comes to its end `nan` is a value.
    assert np.isnan(falls["t"]).sum() == 11 and abs(falls["t"][1] - math.log(5) / 2) < 1e-4
    assert falls["id"].dtype == np.int64 and falls["a"].dtype == np.float64
    with pytest.raises(KeyError, match="no column 'z'; it has id, n"):
        falls["z"]
    # The same call has nothing to do, and one from the table of the same file reads the same.
    again = mdlc.sweep(falls.path.replace(".csv", ".study"), falls.path)
    assert np.array_equal(again["seconds"], falls["seconds"]) and repr(again) == "<Table falls.csv: 12 runs, 11 columns>"


def test_other_forms(falls, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = falls.to_pandas()
    assert frame.index.name == "id" and frame.y.equals(pandas.Series(falls["y"], index=frame.index)) and (frame.status == "failed").sum() == 4
    parquet = pytest.importorskip("pyarrow.parquet")
    falls.to_parquet(tmp_path / "falls.parquet")
    read = parquet.read_table(tmp_path / "falls.parquet")
    types = ["int64", "double", "string", "double", "double", "double", "string", "string", "double", "int64", "uint64"]
    assert read.column_names == list(falls) and [str(t) for t in read.schema.types] == types
    with open(falls.path, newline="") as file:
        rows = list(csv.DictReader(file))
    for name in ("y", "t"):  # no value is null, and `nan` is a value
        assert [None if row[name] == "" else float(row[name]) for row in rows] == pytest.approx(read[name].to_pylist(), abs=0, nan_ok=True)
    assert read["message"].to_pylist() == [row["message"] for row in rows]


def test_what_is_wrong(tmp_path):
    (tmp_path / "wrong.study").write_text('study W model "no.mdl"; design grid; factor a = {1}; output x; end W;')
    with pytest.raises(mdlc.MdlcError, match="cannot read .*no.mdl"):
        mdlc.sweep(tmp_path / "wrong.study", tmp_path / "w.csv")
    (tmp_path / "fall.mdl").write_text(MODEL)
    for values in ("{1}", "{2}"):
        (tmp_path / "two.study").write_text('study T model "fall.mdl"; design grid; factor a = %s; output y; end T;' % values)
        if values == "{1}":
            mdlc.sweep(tmp_path / "two.study", tmp_path / "t.csv")
    with pytest.raises(ValueError, match="begun as another study"):
        mdlc.sweep(tmp_path / "two.study", tmp_path / "t.csv")
    assert mdlc.sweep(tmp_path / "two.study", tmp_path / "t.csv", fresh=True)["a"].tolist() == [2.0]
    with pytest.raises(mdlc.CompileError):
        mdlc.sweep(tmp_path / "nothing.study", tmp_path / "n.csv")


def end_of(model, a):
    return float(model.run(set={"a": a}, stop=1)["y"][-1])


def test_pools_of_others():
    model = mdlc.compile(text=MODEL)
    values = [0.1 * k for k in range(20)]
    want = [end_of(model, a) for a in values]
    joblib = pytest.importorskip("joblib")
    for backend in ("loky", "threading"):
        assert joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(end_of)(model, a) for a in values) == want
    dask = pytest.importorskip("dask")
    for scheduler in ("threads", "processes"):
        assert list(dask.compute(*[dask.delayed(end_of)(model, a) for a in values], scheduler=scheduler, num_workers=2)) == want
