"""What is written: any value becomes JSON, and a file is whole or not there."""

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from verify.errors import InputError
from verify.verdict import Conclusion
from verify.writing import (
    json_text,
    jsonable,
    require_appendable,
    require_writable,
    write_text,
    writing,
)


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


@pytest.mark.parametrize("require", [require_writable, require_appendable])
def test_whether_a_file_can_be_written_is_tried_without_a_trace(tmp_path, require):
    (tmp_path / "old").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    (tmp_path / "below").mkdir()
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    for name in ("old", "new", "link", "a/b/new", "below/new"):
        require(tmp_path / name)
    after = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert after.keys() == before.keys()
    assert after[tmp_path / "old"] == before[tmp_path / "old"]
    for name in ("below", "old/new", "x" * 300):
        with pytest.raises(InputError, match=r"cannot be written .*; choose another folder"):
            require(tmp_path / name)
    assert set(tmp_path.rglob("*")) == set(before)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("require", [require_writable, require_appendable])
def test_a_pipe_without_a_reader_is_not_waited_for(tmp_path, require):
    os.mkfifo(tmp_path / "pipe")
    require(tmp_path / "pipe")
    require(Path("/dev/null"))


def test_a_stream_is_whole_or_not_there(tmp_path):
    def fail():
        with writing(tmp_path / "file") as stream:
            stream.write("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with writing(tmp_path / "file") as stream:
        stream.write("one\n")
        stream.write("two\r\n")
    assert (tmp_path / "file").read_bytes() == b"one\ntwo\r\n"
