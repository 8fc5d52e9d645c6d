"""What all readers have in common."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.verify.readers.helpers import KINDS, Bomb, X, refusal
from verify import files
from verify.datasets import read_labels, read_matrix
from verify.errors import BackendUnavailable, ReluVerifyError


def test_the_bomb_goes_off_where_a_pickle_is_loaded(bomb: Bomb) -> None:
    pickle.loads(pickle.dumps(bomb)).close()
    assert bomb.trace.exists()


@pytest.mark.parametrize(
    ("name", "module", "extra"), [("x.parquet", "pyarrow", "parquet"), ("x.h5ad", "h5py", "h5ad")]
)
def test_a_missing_extra_is_named_with_its_pip_line(
    tmp_path: Path, name: str, module: str, extra: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"anything")
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        f"from reports.cli import main; main(['data', {str(path)!r}, {str(path)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert f"pip install 'relu-verify[{extra}]'" in done.stderr


def test_the_libraries_of_extras_are_not_imported_without_need() -> None:
    code = (
        "import sys, verify.datasets; "
        "print([m for m in ('h5py', 'pyarrow', 'scipy.io') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_library_is_not_a_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="no_such_library"):
        files.library("no_such_library", "extra", tmp_path)


@pytest.mark.parametrize("suffix", [".mat", ".mtx", ".svm", ".parquet", ".h5ad"])
@pytest.mark.parametrize("read", [read_matrix, read_labels])
def test_text_that_is_nothing_of_the_kind_is_refused(
    tmp_path: Path, suffix: str, read: Callable[[Path], Any]
) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_text("::: nothing of the kind :::\n" * 40)
    refusal(read, path)


def _sound(folder: Path) -> dict[str, bytes]:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    pyarrow = pytest.importorskip("pyarrow")
    h5py = pytest.importorskip("h5py", reason="the extra h5ad is not installed")
    scipy.io.savemat(folder / "x.mat", {"X": X, "y": np.array(KINDS, dtype=object)})
    scipy.io.mmwrite(folder / "x.mtx", scipy.sparse.coo_matrix(X))
    parquet.write_table(
        pyarrow.table({name: X[:, j] for j, name in enumerate("abcd")}), folder / "x.parquet"
    )
    with h5py.File(folder / "x.h5ad", "w") as root:
        root["X"] = X
    (folder / "x.svm").write_text("1 1:2 3:4\n-1 2:3\n")
    return {f.suffix: f.read_bytes() for f in folder.glob("x.*")}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return _sound(tmp_path_factory.mktemp("sound"))


@settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=(HealthCheck.function_scoped_fixture,),
)
@given(data=st.data(), suffix=st.sampled_from([".mat", ".mtx", ".svm", ".parquet", ".h5ad"]))
def test_any_bytes_are_read_or_refused(
    tmp_path: Path, sound: dict[str, bytes], data: st.DataObject, suffix: str
) -> None:
    content = bytearray(sound[suffix])
    edits = st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255))
    for position, byte in data.draw(st.lists(edits, max_size=4)):
        content[position] = byte
    cut = data.draw(st.just(len(content)) | st.integers(0, len(content)))
    path = tmp_path / f"x{suffix}"
    path.write_bytes(bytes(content[:cut]))
    for read in (read_matrix, read_labels):
        try:
            found = read(path)
            assert np.isfinite(getattr(found, "values", found)).all()
        except ReluVerifyError:
            pass
