"""docs/verdicts.md and README.md: a line that is explained is printed, and tables are complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from properties.catalogue import MODULES
from reports.cli import main
from tests.test_tutorial import BLOCK, PAGE, apply
from verify.engine.plan import PROFILES

ROOT = Path(__file__).parents[1]
VERDICTS = (ROOT / "docs/verdicts.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_line_that_is_explained_is_what_the_tutorial_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = [block for block in BLOCK.findall(PAGE.read_text("utf-8")) if "file: " in block[0]]
    apply(block[0], block[2])
    with pytest.raises(SystemExit):
        main(["run", "ridge.py", "--jobs", "1"])
    printed = capfd.readouterr().out.splitlines()
    (explained,) = re.findall(r"^# Reading a verdict\n\n```text\n(.+)\n", VERDICTS)
    assert explained in printed


def test_the_table_of_profiles_has_their_numbers() -> None:
    rows = re.findall(r"^\| (\w+) \| ([\d ]+) \| ([\d ]+) \| ([\d ]+) \|$", VERDICTS, re.M)
    told = {name: tuple(int(n.replace(" ", "")) for n in numbers) for name, *numbers in rows}
    assert told == {p.name: (p.trials, p.sweep_trials, p.hunted) for p in PROFILES.values()}


def test_the_readme_names_every_theorem() -> None:
    """By id, by its name in the row of its paper, or as one of a paper that has no names there."""
    table = README.partition("| | what is verified |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()]
    papers = {paper for cell, _ in rows for paper in re.findall(r"`(\w+)\.\*`", cell)}
    named = {name for cell, _ in rows for name in re.findall(r"`([\w.]+)`", cell)}
    for theorem in MODULES:
        paper, name = theorem.split(".")
        if paper not in papers:
            assert {theorem, name} & named, theorem
            continue
        (text,) = [text for cell, text in rows if f"`{paper}.*`" in cell]
        assert f"`{name}`" in text or "`" not in text, theorem
