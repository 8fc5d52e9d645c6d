"""What is written: any value becomes JSON, and a file is whole or not there."""

import json
import os
import threading

import numpy as np
import pytest

from verify.errors import InputError
from verify.verdict import Conclusion
from verify.writing import json_text, jsonable, write_text


class Hostile:
    def __repr__(self):
        raise ValueError("no")


CYCLE: list = [1]
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([1.0, np.nan]), [1.0, None]),
        (np.float32(0.5), 0.5),
        (object(), "<object object>"),
        (1j, "1j"),
        (Hostile(), "<Hostile>"),
        (CYCLE, [1, "…"]),
        ({1: b"x"}, {"1": "b'x'"}),
        (np.array([None, {1}], dtype=object), [None, "{1}"]),
        (1 << 20_000, hex(1 << 20_000)),
        ({"k": Conclusion.VACUOUS}, {"k": "vacuous"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_becomes_json(value, expected):
    assert jsonable(value) == expected
    assert json.loads(json_text(jsonable(value))) == expected


def test_words_become_plain_text():
    assert type(jsonable(Conclusion.VACUOUS)) is str


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_json_is_not_written_as_json(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"x": value})


def test_a_file_is_whole_or_not_there(tmp_path):
    write_text(tmp_path / "new" / "file.txt", "naïve \udcff\n")
    assert (tmp_path / "new" / "file.txt").read_bytes() == b"na\xc3\xafve \\udcff\n"
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"cannot be written .*; choose another folder"):
        write_text(tmp_path / "folder", "text")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file.txt", "folder", "new"]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for text in ("one", "two"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "file").read_text() == text
        assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_what_is_no_file_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "text")
    reader.join(10)
    assert read == ["text"]
    assert pipe.is_fifo()
