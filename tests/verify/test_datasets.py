"""What users' files become, and what every unusable file gets: one sentence, never a crash."""

from __future__ import annotations

import io
import os
import pickle
import runpy
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st

from tests.verify.readers.helpers import refusal
from verify import datasets
from verify.datasets import Labels, pair, read_labels, read_matrix
from verify.errors import InputError, ReluVerifyError, UnknownName

EXAMPLE = Path(__file__).parents[2] / "examples" / "data"

Write = Callable[[str, Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write text, bytes, an array (.npy) or a mapping of arrays (.npz); give the path."""

    def write_file(name: str, content: Any) -> Path:
        path = tmp_path / name
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8", newline="")
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, dict):
            np.savez_compressed(path, **content)
        else:
            np.save(path, content, allow_pickle=True)
        return path

    return write_file


def npy_bytes(array: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def npy_claiming(shape: str, dtype: str = "<f8", data: bytes = b"") -> bytes:
    """An .npy file whose header says whatever it likes."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


# Matrices -----------------------------------------------------------------------------------

X = np.array([[1.0, -2.5, 3.0], [4.0, 5.0, 6e-3]])


def assert_reads(path: Any, expected: Any = X) -> None:
    out = read_matrix(path)
    assert out.dtype == np.float64
    assert out.dtype.isnative
    assert out.flags.c_contiguous
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.csv", "1,-2.5,3\n4,5,6e-3\n"),
        ("no_final_newline.csv", "1,-2.5,3\n4,5,6e-3"),
        ("blank_lines_at_the_end.csv", "1,-2.5,3\n4,5,6e-3\n\n\n"),
        ("spaces.csv", " 1 , -2.5, 3\n4 ,5 ,6e-3 \n"),
        ("bom_and_crlf.csv", "\ufeff1,-2.5,3\r\n4,5,6e-3\r\n"),
        ("quoted.csv", '"1","-2.5","3"\n"4","5","6e-3"\n'),
        ("capital_suffix.CSV", "1,-2.5,3\n4,5,6e-3\n"),
        ("tabs.tsv", "1\t-2.5\t3\n4\t5\t6e-3\n"),
        ("header.csv", "a,b,c\n1,-2.5,3\n4,5,6e-3\n"),
        ("header_with_one_name.csv", "1,2,c\n1,-2.5,3\n4,5,6e-3\n"),
        ("header_with_comma_and_newline.csv", '"a,1","b\n2",c\n1,-2.5,3\n4,5,6e-3\n'),
        ("row_names.csv", "s1,1,-2.5,3\ns2,4,5,6e-3\n"),
        ("row_names_like_dates.csv", "2020-01-01,1,-2.5,3\n2020-01-02,4,5,6e-3\n"),
        ("header_and_row_names.tsv", "gene\ta\tb\tc\ns1\t1\t-2.5\t3\ns2\t4\t5\t6e-3\n"),
        ("index_of_pandas.csv", ",a,b,c\n0,1,-2.5,3\n1,4,5,6e-3\n"),
        ("index_of_r.csv", '"","a","b","c"\n"1",1,-2.5,3\n"2",4,5,6e-3\n'),
        ("deep_unicode.csv", "\U0001f9ec,\u202eb,e\u0301\n1,-2.5,3\n4,5,6e-3\n"),
    ],
)
def test_tables_are_read(write: Write, name: str, text: str) -> None:
    assert_reads(write(name, text))


def test_a_path_may_be_a_string(write: Write) -> None:
    assert_reads(str(write("x.csv", "1,-2.5,3\n4,5,6e-3\n")))


def test_one_row_may_have_a_name(write: Write) -> None:
    assert_reads(write("x.csv", "s1,1,2\n"), [[1, 2]])


def test_numbers_survive_a_table_to_the_last_bit(write: Write) -> None:
    matrix = np.random.default_rng(7).standard_normal((5, 4))
    text = "\n".join(",".join(map(repr, row)) for row in matrix.tolist())
    assert_reads(write("x.csv", text), matrix)


@pytest.mark.parametrize("dtype", ["f2", "f4", "<f8", ">f8", "i1", "u2", "i8", "u8", "?", "g"])
def test_real_arrays_become_float64(write: Write, dtype: str) -> None:
    array = np.array([[0, 1, 2], [3, 0, 1]]).astype(dtype)
    assert_reads(write("x.npy", array), array.astype(np.float64))


def test_fortran_order_does_not_matter(write: Write) -> None:
    assert_reads(write("x.npy", np.asfortranarray(X)))


def test_the_header_of_npy_version_2_is_read(write: Write) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, X, version=(2, 0))
    assert_reads(write("x.npy", stream.getvalue()))


def test_a_header_by_python_2_is_read_without_a_warning(write: Write) -> None:
    assert_reads(write("x.npy", npy_claiming("(2L, 3L)", data=X.tobytes())))


def test_the_only_array_of_an_npz_is_read(write: Write) -> None:
    assert_reads(write("x.npz", {"whatever": X}))


@pytest.mark.parametrize("name", ["X", "features", "data"])
def test_the_array_with_the_usual_name_is_read(write: Write, name: str) -> None:
    assert_reads(write("x.npz", {"other": np.zeros(2), name: X}))


def test_any_array_of_an_npz_can_be_named(write: Write) -> None:
    assert_reads(f"{write('x.npz', {'X': np.zeros((2, 2)), 'mine': X})}::mine")


def test_several_arrays_without_a_usual_name_are_listed(write: Write) -> None:
    message = refusal(read_matrix, write("x.npz", {"a": X, "b": X}))
    assert "'a', 'b'" in message
    assert "file.npz::name" in message


def test_an_array_that_is_not_in_the_npz_gets_the_nearest_names_first(write: Write) -> None:
    path = write("x.npz", {"labels": X, "weight": X})
    assert "'weight', 'labels'" in refusal(read_matrix, f"{path}::weights", error=UnknownName)


@pytest.mark.parametrize("name", ["", "../x", "a\nb", "\U0001f9ec"])
def test_odd_names_of_arrays_are_refused(write: Write, name: str) -> None:
    refusal(read_matrix, f"{write('x.npz', {'X': X})}::{name}", error=UnknownName)


def test_an_npz_without_arrays_is_refused(write: Write) -> None:
    assert "0 arrays (none)" in refusal(read_matrix, write("x.npz", {}))


# Paths --------------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [read_matrix, read_labels])
@pytest.mark.parametrize("name", ["absent.csv", "absent.npz::X", "nul\0.csv", "x" * 300 + ".csv"])
def test_a_file_that_cannot_be_opened_is_refused(
    tmp_path: Path, read: Callable[[str], Any], name: str
) -> None:
    assert "cannot be opened" in refusal(read, f"{tmp_path}/{name}")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "x.csv"
    folder.mkdir()
    assert "is a directory" in refusal(read_matrix, folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.csv")
    assert "not a regular file" in refusal(read_matrix, tmp_path / "x.csv")


@pytest.mark.parametrize("name", ["x.xlsx", "x", "x.csv.gz", "x.txt"])
def test_an_unknown_suffix_gets_the_known_ones(write: Write, name: str) -> None:
    message = refusal(read_matrix, write(name, "1,2\n"))
    assert "(.npy, .npz, .csv, .tsv, .mat, .mtx, .svm, .svmlight, .libsvm, .parquet, .h5ad)" in (
        message
    )


@pytest.mark.parametrize("suffix", [".xlsx", ".feather", ".h5", ".hdf5", ".H5"])
def test_a_format_of_another_library_gets_the_line_that_converts_it(
    write: Write, suffix: str
) -> None:
    message = refusal(read_matrix, write("x" + suffix, "1"))
    assert "np.save(" in message
    assert "(path)" in message


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".tsv", ".txt"])
def test_an_empty_file_is_refused(write: Write, suffix: str) -> None:
    assert "is empty" in refusal(read_labels, write("y" + suffix, ""))


# Unusable matrices --------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 1), (0, 3), (3, 0), (0, 0)])
def test_only_a_matrix_with_rows_and_columns_is_accepted(
    write: Write, shape: tuple[int, ...]
) -> None:
    assert f"has shape {shape}" in refusal(read_matrix, write("x.npy", np.ones(shape)))


@pytest.mark.parametrize("text", ["\n\n", " \n", "a,b,c\n", "\ufeff"])
def test_a_table_without_rows_is_refused(write: Write, text: str) -> None:
    refusal(read_matrix, write("x.csv", text))


@pytest.mark.parametrize("dtype", ["c8", "c16", "<U3", "S3", "M8[s]", "m8[s]", "f8,f8"])
def test_what_is_not_real_numbers_is_refused(write: Write, dtype: str) -> None:
    assert "expected real numbers" in refusal(
        read_matrix, write("x.npy", np.zeros((2, 2), dtype=dtype))
    )


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)])
def test_integers_that_float64_would_round_are_refused(write: Write, value: int) -> None:
    path = write("x.npy", np.array([[0, value]], dtype=np.int64))
    assert str(value) in refusal(read_matrix, path)


def test_the_largest_unsigned_integer_is_refused(write: Write) -> None:
    assert "2**53" in refusal(read_matrix, write("x.npy", np.array([[2**64 - 1]], dtype="u8")))


def test_integers_up_to_two_to_the_53_are_exact(write: Write) -> None:
    assert_reads(write("x.npy", np.array([[2**53, -(2**53)]])), [[2.0**53, -(2.0**53)]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nonfinite_entries_are_counted_and_the_first_is_placed(write: Write, value: float) -> None:
    matrix = np.ones((4, 5))
    matrix[1, 3] = matrix[2, 0] = value
    message = refusal(read_matrix, write("x.npy", matrix))
    assert "has 2 NaN or infinite values, the first at row 2, column 4" in message


@pytest.mark.skipif(
    np.finfo(np.longdouble).max <= np.finfo(np.float64).max, reason="long double is double here"
)
def test_a_long_double_beyond_float64_is_refused(write: Write) -> None:
    big = np.array([[np.finfo(np.longdouble).max]], dtype=np.longdouble)
    assert "infinite" in refusal(read_matrix, write("x.npy", big))


@pytest.mark.parametrize("cell", ["nan", "NaN", "-inf", "1e400", "1" + "0" * 400])
def test_a_cell_that_is_not_finite_is_refused(write: Write, cell: str) -> None:
    assert "row 1, column 2" in refusal(read_matrix, write("x.csv", f"1,{cell}\n3,4\n"))


@pytest.mark.parametrize("cell", ["abc", "", "NA", "1;2", "1_000", "0x10", "\u0661\u0662", "1 2"])
def test_a_cell_that_is_not_a_number_is_named_with_its_place(write: Write, cell: str) -> None:
    message = refusal(read_matrix, write("x.csv", f"a,b\n1,2\n3,{cell}\n"))
    assert f"has {cell!r} in row 3, column 2 ('b')" in message


def test_a_bad_cell_is_named_with_its_column_under_a_header(write: Write) -> None:
    message = refusal(read_matrix, write("x.csv", "id,a,b\ns,1,2\nt,3,oops\n"))
    assert "has 'oops' in row 3, column 3 ('b')" in message


@pytest.mark.parametrize("cell", ["1.O", "1,5", "NA", "", "?", "-", "12abc"])
def test_a_mistyped_or_missing_number_on_top_does_not_make_a_header(
    write: Write, cell: str
) -> None:
    message = refusal(read_matrix, write("x.csv", f'1,"{cell}",3\n4,5,6\n'))
    assert "in row 1, column 2" in message


def test_a_row_name_that_is_missing_is_not_dropped(write: Write) -> None:
    assert "in row 1, column 1" in refusal(read_matrix, write("x.csv", "s1,1,2\n,3,4\n"))


@pytest.mark.parametrize("row", ["1", "1,2,3", ""])
def test_ragged_rows_are_refused(write: Write, row: str) -> None:
    message = refusal(read_matrix, write("x.csv", f"1,2\n{row}\n3,4\n"))
    assert "in row 2, 2 in row 1" in message


def test_a_last_row_of_missing_cells_is_not_taken_for_a_blank_line(write: Write) -> None:
    assert "row 2" in refusal(read_matrix, write("x.csv", "1,2\n,\n"))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"1,2\n3,\x004\n", id="NUL"),
        pytest.param(b"1,2\n3,\xff\n", id="not UTF-8"),
        pytest.param("a,\u00e9\n1,2\n".encode("latin-1"), id="Latin-1"),
        pytest.param("1,2\n".encode("utf-16"), id="UTF-16 with a mark"),
        pytest.param("1,2\n".encode("utf-16-le"), id="UTF-16 without"),
        pytest.param(b'1,"2\n3,4\n', id="a quote that never ends"),
        pytest.param(b'1,"2"3\n', id="text after a quote"),
        pytest.param(b"1," + b"9" * 200_000 + b"\n", id="a cell beyond the limit of csv"),
        pytest.param("\U0010ffff\u200b\ud7ff,\u202e".encode(), id="deep Unicode"),
    ],
)
def test_hostile_text_is_refused(write: Write, content: bytes) -> None:
    refusal(read_matrix, write("x.csv", content))


class Bomb:
    """A pickle that leaves a trace where it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.trace), "w"))


@pytest.mark.parametrize("read", [read_matrix, read_labels])
@pytest.mark.parametrize("kind", ["object array", "object array in npz", "bare pickle"])
def test_a_pickle_is_refused_and_not_run(
    write: Write, tmp_path: Path, read: Callable[[Path], Any], kind: str
) -> None:
    bomb = Bomb(tmp_path / "trace")
    objects = np.array([[bomb, bomb]], dtype=object)
    path = {
        "object array": lambda: write("x.npy", npy_bytes(objects)),
        "object array in npz": lambda: write("x.npz", {"X": objects}),
        "bare pickle": lambda: write("x.npy", pickle.dumps(bomb)),
    }[kind]()
    message = refusal(read, path)
    assert "never loaded" in message
    assert "save np.asarray(array, dtype=float)" in message
    assert not bomb.trace.exists()


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ("(4, 5)", "<f8"),
        ("(1000000, 1000000)", "<f8"),
        (f"({10**30}, {10**30})", "<f8"),
        ("(-1, 2)", "<f8"),
        (f"({10**18},)", "<U0"),
        ("(2,)", "<U999999999"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_header_that_claims_more_than_the_file_has_costs_no_memory(
    write: Write, shape: str, dtype: str, packed: bool
) -> None:
    content = npy_claiming(shape, dtype, data=bytes(24))
    path = write("x.npy", content)
    if packed:
        path = path.with_suffix(".npz")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", content)
    tracemalloc.start()
    try:
        message = refusal(read_labels, path)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert "intact" in message


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"hello", id="text"),
        pytest.param(b"\x93NUMPY", id="magic only"),
        pytest.param(b"\x93NUMPY\x09\x09\x00\x00", id="unknown version"),
        pytest.param(npy_bytes(X)[:-1], id="truncated"),
        pytest.param(npy_bytes(X)[:40], id="truncated header"),
        pytest.param(npy_claiming("(" * 300 + ")" * 300), id="nested header"),
        pytest.param(npy_claiming("(1, 0x_)"), id="broken literal"),
        pytest.param(npy_claiming("__import__('os')"), id="code in the header"),
        pytest.param(npy_claiming("(1,)", "nonsense"), id="unknown dtype"),
        pytest.param(npy_claiming("(1,)", "<U1", b"\xff\xff\xff\x7f"), id="no code point"),
    ],
)
def test_a_corrupt_npy_is_refused(write: Write, content: bytes) -> None:
    for read in (read_matrix, read_labels):
        assert "intact" in refusal(read, write("x.npy", content))


def test_a_truncated_npz_is_refused(write: Write) -> None:
    content = write("x.npz", {"X": X}).read_bytes()
    for length in (1, 10, len(content) // 2, len(content) - 1):
        refusal(read_matrix, write("x.npz", content[:length]))


def test_an_npz_with_a_wrong_checksum_is_refused(write: Write) -> None:
    path = write("x.npz", b"")
    np.savez(path, X=X)
    content = bytearray(path.read_bytes())
    content[content.index(X.tobytes())] ^= 1
    assert "CRC" in refusal(read_matrix, write("x.npz", bytes(content)))


def test_an_encrypted_npz_is_refused(write: Write) -> None:
    content = bytearray(write("x.npz", {"X": X}).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    assert "encrypted" in refusal(read_matrix, write("x.npz", bytes(content)))


# Labels -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("y.npy", np.array([1, -1, 2])),
        ("column.npy", np.array([[1.0], [-1.0], [2.0]])),
        ("row.npy", np.array([[1.0, -1.0, 2.0]])),
        ("text.npy", np.array(["1", "-1 ", "2.0"])),
        ("only.npz", {"anything": np.array([1, -1, 2])}),
        ("named.npz", {"X": X, "y": np.array([1, -1, 2])}),
        ("y.csv", "1\n-1\n2\n"),
        ("row.csv", "1,-1,2\n"),
        ("header.csv", "y\n1\n-1\n2\n"),
        ("unusual_header.csv", "outcome at day 7\r\n1\r\n-1\r\n2\r\n"),
        ("y.tsv", "\ufeffLabel\n1\n-1\n2"),
        ("y.txt", "1\n-1\r\n 2 \n\n"),
    ],
)
def test_numeric_labels_are_used_as_they_are(write: Write, name: str, content: Any) -> None:
    labels = read_labels(write(name, content))
    assert labels.values.dtype == np.float64
    np.testing.assert_array_equal(labels.values, [1.0, -1.0, 2.0])
    assert labels.classes is None
    assert labels.positive is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("y.npy", np.array(["ill", "well", "ill"])),
        ("column.npy", np.array([["ill"], ["well "], [" ill"]])),
        ("y.csv", "ill\nwell\nill\n"),
        ("quoted.csv", '"ill"\n"well"\n"ill"\n'),
        ("header.csv", "Target\nill\nwell\nill\n"),
        ("y.txt", "ill\n  well\t\nill"),
    ],
)
def test_a_positive_level_becomes_plus_one_and_all_others_minus_one(
    write: Write, name: str, content: Any
) -> None:
    labels = read_labels(write(name, content), " ill ")
    np.testing.assert_array_equal(labels.values, [1.0, -1.0, 1.0])
    assert labels.classes == {"ill": 2, "well": 1}
    assert labels.positive == "ill"


@pytest.mark.parametrize("positive", ["1", "1.0", "+1e0", 1, 1.0, np.int64(1)])
def test_numeric_levels_compare_as_numbers(write: Write, positive: Any) -> None:
    labels = read_labels(write("y.npy", np.array([1.0, 0.0, -0.0, 0.5])), positive)
    np.testing.assert_array_equal(labels.values, [1.0, -1.0, -1.0, -1.0])
    assert labels.classes == {"1": 1, "0": 2, "0.5": 1}
    assert labels.positive == "1"


def test_more_than_two_classes_become_one_against_the_rest(write: Write) -> None:
    labels = read_labels(write("y.txt", "a\nb\nc\nb\n"), "b")
    np.testing.assert_array_equal(labels.values, [-1.0, 1.0, -1.0, 1.0])


@pytest.mark.parametrize("level", ["\U0001f9ec", "e\u0301", "\u202eabc", "two words, comma"])
def test_a_level_may_be_any_text(write: Write, level: str) -> None:
    assert read_labels(write("y.txt", f"{level}\nother\n"), level).values.tolist() == [1.0, -1.0]


def test_strings_without_a_positive_level_are_refused_with_the_levels(write: Write) -> None:
    message = refusal(read_labels, write("y.csv", "class\nill\nwell\nill\n"))
    assert "'ill' (2), 'well' (1)" in message
    assert "--positive LEVEL" in message


def test_an_unknown_level_gets_the_nearest_first_with_counts(write: Write) -> None:
    path = write("y.csv", "control\ntreated\ncontrol\n")
    message = refusal(read_labels, path, "Treatd", error=UnknownName)
    assert "'treated' (1), 'control' (2)" in message


@pytest.mark.parametrize("positive", ["2", "one", "nan", "", "1_0"])
def test_an_unknown_numeric_level_is_refused(write: Write, positive: str) -> None:
    message = refusal(read_labels, write("y.csv", "1\n-1\n"), positive, error=UnknownName)
    assert "'1' (1)" in message


def test_at_most_twenty_levels_are_listed_and_long_ones_are_cut(write: Write) -> None:
    path = write("y.txt", "\n".join(f"{i} " + "long " * 1000 for i in range(30)))
    for arguments, error in (((), InputError), (("z",), UnknownName)):
        message = refusal(read_labels, path, *arguments, error=error)
        assert "and 10 more" in message
        assert len(message) < 2000


def test_a_level_that_every_label_has_is_refused(write: Write) -> None:
    assert "only the level 'a' (2)" in refusal(read_labels, write("y.txt", "a\na\n"), "a")


def test_a_first_label_that_occurs_again_is_not_a_header(write: Write) -> None:
    assert read_labels(write("y.csv", "y\nn\ny\n"), "y").values.tolist() == [1.0, -1.0, 1.0]


def test_other_text_above_text_is_a_label(write: Write) -> None:
    assert read_labels(write("y.csv", "dose\nhigh\nlow\n"), "low").values.size == 3


def test_the_strings_of_an_array_have_no_header(write: Write) -> None:
    assert read_labels(write("y.npy", np.array(["y", "n"])), "n").values.tolist() == [-1.0, 1.0]


@pytest.mark.parametrize("cell", ["", "NA", "nan", "N/A", "?"])
def test_a_missing_label_is_refused_rather_than_made_negative(write: Write, cell: str) -> None:
    for positive in ("a", "1"):
        message = refusal(read_labels, write("y.csv", f"a\n{cell}\nb\n"), positive)
        assert "lacks 1 labels, the first at label 2" in message


@pytest.mark.parametrize("value", ["inf", "-1e999"])
def test_an_infinite_label_is_placed(write: Write, value: str) -> None:
    assert "the first at label 2" in refusal(read_labels, write("y.csv", f"1\n{value}\n"))


@pytest.mark.parametrize("shape", [(), (0,), (0, 1), (1, 0), (2, 2), (1, 1, 3)])
def test_only_a_vector_is_accepted_as_labels(write: Write, shape: tuple[int, ...]) -> None:
    assert f"has shape {shape}" in refusal(read_labels, write("y.npy", np.ones(shape)))


@pytest.mark.parametrize("dtype", ["c16", "S3", "M8[s]", "f8,f8"])
def test_labels_that_are_neither_numbers_nor_text_are_refused(write: Write, dtype: str) -> None:
    refusal(read_labels, write("y.npy", np.zeros(3, dtype=dtype)))


def test_a_table_of_several_columns_is_refused_as_labels(write: Write) -> None:
    message = refusal(read_labels, write("y.csv", "id,y\na,1\nb,-1\n"))
    assert "has 2 columns" in message
    assert "--label-column NAME" in message


@pytest.mark.parametrize("text", ["label\n", "y\n\n", "\n", "\ufeff"])
def test_a_file_without_labels_is_refused(write: Write, text: str) -> None:
    assert "has no labels" in refusal(read_labels, write("y.csv", text))


@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_a_nul_character_is_no_part_of_a_label(write: Write, suffix: str) -> None:
    assert "NUL" in refusal(read_labels, write("y" + suffix, "a\0\nb\n"), "b")


def test_labels_cannot_be_changed_by_assignment(write: Write) -> None:
    labels = read_labels(write("y.txt", "1\n-1\n"))
    with pytest.raises(AttributeError):
        labels.positive = "1"  # type: ignore[misc]


# Pairs --------------------------------------------------------------------------------------


def test_a_pair_of_as_many_rows_as_labels_is_returned() -> None:
    features, values = pair(X, Labels(np.array([1.0, -1.0]), None, None))
    assert features is X
    assert values.tolist() == [1.0, -1.0]


def test_a_pair_that_does_not_match_is_refused_with_both_shapes() -> None:
    message = refusal(pair, X, Labels(np.ones(5), None, None))
    assert "(2, 3)" in message
    assert "(5,)" in message
    assert "transposed" not in message


def test_a_transposed_matrix_is_recognised() -> None:
    message = refusal(pair, X, Labels(np.ones(3), None, None))
    assert "looks transposed" in message


# Whatever the bytes -------------------------------------------------------------------------


def packed(**arrays: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


SEEDS = {
    ".npy": [npy_bytes(X), npy_bytes(np.array(["a", "b"])), npy_claiming("(2, 1)", "<i8")],
    ".npz": [packed(X=X), packed(a=X, y=np.array(["a", "b"]))],
    ".csv": [b"id,a\ns,1\nt,2\n", b"\xef\xbb\xbf1,2\r\n3,4\r\n"],
    ".tsv": [b"a\tb\n1\t2\n"],
    ".txt": [b"label\n1\n-1\n"],
}


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A suffix, and either any bytes or a sound file with a few bytes changed and a cut."""
    suffix = draw(st.sampled_from(sorted(SEEDS)))
    content = bytearray(draw(st.sampled_from(SEEDS[suffix]) | st.binary(max_size=60)))
    edits = st.tuples(st.integers(0, max(0, len(content) - 1)), st.integers(0, 255))
    for position, byte in draw(st.lists(edits, max_size=4)):
        content[position : position + 1] = bytes([byte])
    cut = draw(st.just(len(content)) | st.integers(0, len(content)))
    return suffix, bytes(content[:cut])


@settings(
    max_examples=300,
    derandomize=True,
    database=None,
    verbosity=Verbosity.normal,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    stateful_step_count=50,
    report_multiple_bugs=True,
    suppress_health_check=(HealthCheck.function_scoped_fixture,),  # each example overwrites
    deadline=None,
    print_blob=False,
    backend="hypothesis",
)
@given(file=files(), positive=st.none() | st.sampled_from(["1", "a"]) | st.text(max_size=3))
def test_any_bytes_are_read_or_refused(
    tmp_path: Path, file: tuple[str, bytes], positive: str | None
) -> None:
    suffix, content = file
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    try:
        matrix = read_matrix(path)
        assert matrix.ndim == 2
        assert np.isfinite(matrix).all()
    except ReluVerifyError:
        pass
    try:
        labels = read_labels(path, positive)
        assert labels.values.ndim == 1
        assert np.isfinite(labels.values).all()
    except ReluVerifyError:
        pass


# The module and its example -----------------------------------------------------------------


def test_the_module_names_what_is_public() -> None:
    assert set(datasets.__all__) == {
        "Labels",
        "pair",
        "read_labels",
        "read_matrix",
        "read_pair",
    }


def test_the_shipped_example_is_what_its_script_writes(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLE / "make_example.py"))["write"](tmp_path)
    for name in ("features.csv", "labels.csv"):
        assert (tmp_path / name).read_bytes() == (EXAMPLE / name).read_bytes()


def test_the_shipped_example_has_far_more_features_than_examples() -> None:
    labels = read_labels(EXAMPLE / "labels.csv", "treated")
    features, values = pair(read_matrix(EXAMPLE / "features.csv"), labels)
    assert features.shape == (12, 600)
    assert set(values) == {1.0, -1.0}
    assert set(labels.classes or ()) == {"control", "treated"}
    assert (EXAMPLE / "features.csv").stat().st_size < 80_000


def test_the_rows_of_the_shipped_example_are_nearly_orthogonal() -> None:
    features = read_matrix(EXAMPLE / "features.csv")
    gram = features @ features.T / features.shape[1]
    # standard deviations 1/√600 = .04 off the diagonal, √(2/600) = .06 on it
    assert np.abs(gram - np.eye(12)).max() < 0.25


def test_an_npz_that_unpacks_to_more_than_any_matrix_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zeros are compressed a thousandfold, so its size on disk says nothing."""
    monkeypatch.setattr("verify.files.LARGEST", 15)
    assert "claims the shape (4, 4)" in refusal(read_matrix, write("x.npz", {"X": np.eye(4)}))
    np.testing.assert_array_equal(read_matrix(write("x.npy", np.eye(4))), np.eye(4))
