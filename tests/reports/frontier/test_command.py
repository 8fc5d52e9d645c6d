"""`relu-verify frontier` from end to end, on a theorem of known boundary, n·level/(1 − level)."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reports.cli import cli
from reports.frontier import measuring
from reports.frontier.folders import default_folder, replaced
from reports.frontier.request import Asked
from reports.frontier.request import read as read_request
from reports.frontier.schema import SCHEMA
from tests.reports.conftest import Call

THEOREM = '''
"""A claim that holds with probability x/(x + n)."""

import os

from verify import Assumption, Axis, Margin, Point, Status, Theorem, Universal


def draw(point, generator, trials):
    """Draw u uniform on [0, 1), and note that a block was drawn."""
    with open(os.environ["RELU_VERIFY_TEST_LOG"], "a", encoding="utf-8") as log:
        log.write("block\\n")
    return generator.random(trials)


def simulate(problem):
    """Return the problem itself."""
    return problem


def stands(trial):
    """u is below x/(x + n)."""
    x, n = trial.point["x"], trial.point["n"]
    return Margin(trial.problem, x / (x + n))


def is_drawn(trial):
    """u is at least 0."""
    return Margin(0.0, trial.problem)


def is_certain(trial):
    """u is below x/(x + 100·n)."""
    x, n = trial.point["x"], trial.point["n"]
    return Margin(trial.problem, x / (x + 100 * n))


def is_predicted(trial):
    """x/(x + n), the probability itself."""
    x, n = trial.point["x"], trial.point["n"]
    return x / (x + n)


theorem = Theorem(
    id="odds",
    title="One uniform number against x/(x + n)",
    citation="none",
    status=Status.DERIVED,
    draw=draw,
    simulate=simulate,
    axes=(
        Axis("x", 0.1, 1e4, "log", meaning="the greater the easier"),
        Axis("n", 2, 400, "integer", inside=(2, 32)),
        Axis("colour", scale="choice", choices=("red", "blue")),
    ),
    cells=(Point(x=3, n=4),),
    defaults={"colour": "red"},
    block=20,
    claims=(
        Universal(
            stands,
            given=(Assumption(is_drawn), Assumption(is_certain, certificate=True)),
            prediction=is_predicted,
        ),
    ),
)
'''
CONFIRMED = 1
"""Blocks that are drawn again, to confirm that what is stored comes out the same."""

ROWS = ("--x", "x", "--y", "n:4,16,64", "--budget", 6000, "--jobs", 1)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a theorem's file; what it draws is counted by `drawn`."""
    monkeypatch.setenv("RELU_VERIFY_TEST_LOG", str(tmp_path / "log"))
    path = tmp_path / "odds.py"
    path.write_text(THEOREM, encoding="utf-8")
    return path


def drawn(file: Path) -> int:
    """Return how many blocks have been drawn."""
    log = file.with_name("log")
    return len(log.read_text().splitlines()) if log.exists() else 0


def read(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "frontier.json").read_text(encoding="utf-8")))


def measured(found: dict[str, Any]) -> dict[str, Any]:
    """Return what was measured, without when and how it was asked for."""
    return {name: value for name, value in found.items() if name not in ("created", "command")}


def test_a_known_boundary_is_found_written_and_told_again(file: Path, call: Call) -> None:
    out = file.parent / "out"
    asked = ("frontier", f"{file}::stands", *ROWS, "--level", "0.5,0.8", "--out", out)
    code, printed, said = call(*asked)
    found = read(out)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert code == found["exit_code"] == 0
    assert found["command"].startswith("relu-verify")
    assert [(r["y"], r["level"]) for r in found["rows"]] == [
        (n, level) for n in (4, 16, 64) for level in (0.5, 0.8)
    ]
    for row in found["rows"]:
        assert row["low"] <= row["y"] * row["level"] / (1 - row["level"]) <= row["high"]
    assert found["left_out"] == ["is_certain"]
    kinds = {line["what"]: line for line in found["lines"]}
    assert set(kinds) >= {"certificate", "prediction"}
    for row in kinds["prediction"]["rows"]:
        known = row["y"] * row["level"] / (1 - row["level"])
        assert row["boundary"] == pytest.approx(known, rel=0.4)
    assert found["sentence"] in printed
    assert str(out / "frontier.html") in said
    with (out / "frontier.csv").open(encoding="utf-8") as stream:
        assert sum(row["what"] == "claim" for row in csv.DictReader(stream)) == 6
    assert (out / "frontier.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")

    before = drawn(file)
    assert before * 20 >= found["trials"]
    again, _, _ = call(*asked)
    assert again == 0
    assert drawn(file) <= before + CONFIRMED, "a finished frontier is told from its records"
    assert measured(read(out)) == measured(found)


def test_an_interrupted_frontier_goes_on_and_ends_the_same(
    file: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("frontier", f"{file}::stands", "--x", "x", "--y", "n:4,16", "--budget", 3000)
    whole, parts = file.parent / "whole", file.parent / "parts"
    call(*asked, "--jobs", 1, "--out", whole)
    in_one_go = drawn(file)

    usual = measuring.measure_frontier

    def stopping(*arguments: Any, **options: Any) -> Any:
        def stop(done: int, total: int, what: str) -> None:
            if done > 1000:
                raise KeyboardInterrupt

        return usual(*arguments, **{**options, "progress": stop})

    monkeypatch.setattr(measuring, "measure_frontier", stopping)
    code, _, said = call(*asked, "--jobs", 1, "--out", parts)
    assert code == 130
    assert "what was finished is kept: run the same command to go on" in said
    assert not (parts / "frontier.json").exists()
    monkeypatch.setattr(measuring, "measure_frontier", usual)
    call(*asked, "--jobs", 1, "--out", parts)
    assert drawn(file) <= 2 * in_one_go + 2 * CONFIRMED, "what was finished is kept"
    assert measured(read(parts)) == measured(read(whole))


def test_an_interval_that_is_open_exits_with_3_and_json_is_printed(file: Path, call: Call) -> None:
    out = file.parent / "out"
    asked = ("frontier", f"{file}::stands", "--x", "x::40", "--at", "n=4", "--level", "0.9")
    code, printed, _ = call(*asked, "--budget", 20, "--jobs", 1, "--out", out, "--json")
    found = json.loads(printed)
    assert found == read(out)
    assert code == found["exit_code"] == 3
    (row,) = found["rows"]
    assert row["low"] is None or row["high"] is None
    assert found["y"] is None
    assert found["x"]["high"] == 40


def test_two_jobs_give_the_same(file: Path, call: Call) -> None:
    asked = ("frontier", f"{file}::stands", "--x", "x", "--at", "n=4", "--budget", 1000)
    call(*asked, "--jobs", 1, "--out", file.parent / "one")
    call(*asked, "--jobs", 2, "--out", file.parent / "two")
    assert measured(read(file.parent / "one")) == measured(read(file.parent / "two"))


def test_a_choice_is_a_row_by_name_and_other_frontiers_are_not_replaced_silently(
    file: Path, call: Call
) -> None:
    out = file.parent / "out"
    asked = ("frontier", f"{file}::stands", "--x", "x", "--at", "n=4", "--budget", 400)
    _, _, said = call(*asked, "--y", "colour", "--jobs", 1, "--out", out)
    assert "it is replaced" not in said
    assert [row["y"] for row in read(out)["rows"]] == ["red", "blue"]
    _, _, said = call(*asked, "--jobs", 1, "--out", out)
    assert f"holds the frontier of {file}::stands along x by colour; it is replaced" in said
    _, _, said = call(*asked, "--jobs", 1, "--out", out)
    assert "it is replaced" not in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("stands",), "is unknown; the nearest names are"),
        (("FILE::stands", "--x", "y", "--at", "n=4"), "--x 'y' is no axis of theorem"),
        (("FILE::stands", "--x", "x"), "n is not set, and theorem"),
        (("FILE::stands", "--x", "x", "--at", "n=4", "--out", "FILE"), "is a file, expected a fol"),
        (("FILE::stands",), "Missing option '--x'"),
    ],
)
def test_bad_input_gets_its_sentence(
    arguments: tuple[str, ...], message: str, file: Path, call: Call
) -> None:
    typed = [word.replace("FILE", str(file)) for word in arguments]
    if "--x" not in typed and "stands" in typed:
        typed += ["--x", "x"]
    code, _, said = call("frontier", *typed)
    assert code == 2
    assert message in said


CLAIM = "pattern_freezes_after_step_one"


def wanted(x: str = "d", y: str | None = None, *at: str, **options: Any) -> Asked:
    return read_request(CLAIM, x, y, at or ("n=20",), budget=1000, **options)


def test_the_folder_is_named_after_the_claim_and_its_axes() -> None:
    out = Path("relu-verify-out")
    assert default_folder(CLAIM, wanted()) == out / f"frontier-{CLAIM}-d"
    by_c = wanted("d_over_n", "c")
    assert default_folder("some/where/mine.py::a", by_c) == out / "frontier-mine.a-d_over_n-by-c"
    assert len(default_folder("a" * 500, wanted()).name) <= 102


def test_a_frontier_that_is_another_gets_a_folder_of_its_own(
    file: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    asked = ("frontier", f"{file}::stands", "--x", "x", "--budget", 300, "--jobs", 1)
    out = file.parent / "relu-verify-out"
    name = f"frontier-{file.stem}.stands-x"
    for options in ((), ("--level", "0.6"), ("--budget", 400)):
        call(*asked, "--at", "n=4", *options)
    call(*asked, "--at", "n=8")
    call(*asked, "--y", "colour", "--at", "n=4")
    assert sorted(folder.name for folder in out.iterdir()) == [
        name,
        f"{name}-2",
        f"{name}-3",
        f"{name}-by-colour",
    ]
    assert read(out / name)["budget"] == 400, "more trials go on with the same frontier"
    assert read(out / f"{name}-2")["levels"] == [0.6]
    assert read(out / f"{name}-3")["at"] == {"n": 8}


def test_what_replaces_another_says_in_what_it_differs(file: Path, call: Call) -> None:
    out = file.parent / "out"
    asked = ("frontier", f"{file}::stands", "--x", "x", "--budget", 300, "--jobs", 1, "--out", out)
    call(*asked, "--at", "n=4")
    same = read_request(f"{file}::stands", "x", None, ("n=4",), budget=9)
    assert replaced(same, out) == ""
    other = read_request(f"{file}::stands", "x", None, ("n=5",), budget=9, level="0.5,0.6")
    told = f"{file}::stands along x, with coordinates and levels of its own"
    assert replaced(other, out) == told


def test_an_assumption_is_dropped_and_defaults_are_told(file: Path, call: Call) -> None:
    out = file.parent / "out"
    asked = ("frontier", f"{file}::stands", "--x", "x", "--at", "n=4", "--budget", 300)
    _, printed, _ = call(*asked, "--without", "is_drawn", "--jobs", 1, "--out", out)
    found = read(out)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert (found["without"], found["given"]) == (["is_drawn"], [])
    assert "Assumed of every problem: none. Dropped: is_drawn. Left out, because" in printed
    assert found["defaults"] == {"colour": "red"}
    assert "\nDefaults      colour = red\n" in printed


def test_the_help_names_the_command() -> None:
    assert "frontier" in cli.commands
    assert "relu-verify frontier pattern_freezes_after_step_one --x d" in (cli.epilog or "")
