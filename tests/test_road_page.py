"""docs/road.md is followed in an empty folder, and its figure is the one that its commands draw."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from reports.cli import main
from tests.test_tutorial import console, mismatch

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "road.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(console|text)\n(.*?)^```", PAGE, re.M | re.S)
NARROW = "\N{NARROW NO-BREAK SPACE}"
"""Between the thousands of a number; the page has plain spaces."""
_NEAR = 5.0
"""Units of the figure by which marks may be off: axes follow the bounds, and these the number of
theorems that share the error."""

Reader = Callable[[str], str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("road")


@pytest.fixture
def reader(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Reader:
    """Run one command, and return what the terminal shows."""
    monkeypatch.chdir(folder)

    def call(line: str) -> str:
        _, *arguments = shlex.split(line)
        jobs = ["--jobs", "1"] if arguments[0] in ("run", "frontier") else []
        with pytest.raises(SystemExit):
            main([*arguments, *jobs])
        out, err = capfd.readouterr()
        return (out + err).replace(NARROW, " ")

    return call


def test_the_page_holds_and_its_figure_is_what_its_commands_draw(
    reader: Reader, folder: Path
) -> None:
    judged, commands = "", 0
    for language, block in BLOCKS:
        if language == "text":
            missing = mismatch(block.splitlines(), judged)
            assert not missing, f"shown: {missing}\nprinted:\n{judged}"
            continue
        for command, shown in console(block):
            printed = reader(command)
            commands += 1
            judged = printed if " run " in command else judged
            missing = mismatch(shown, printed)
            assert not missing, f"$ {command}\nshown: {missing}\nprinted:\n{printed}"
    assert commands == 4
    drawn, kept = (root_of(path / "road.svg") for path in (folder, DOCS))
    assert names(drawn) == names(kept)
    assert len(names(kept)) == 6 + 1 + 4, "panels, abscissa, lines"
    marks, expected = marks_of(drawn), marks_of(kept)
    assert marks.shape == expected.shape
    assert len(marks) > 100
    assert np.abs(marks - expected).max() < _NEAR


def root_of(file: Path) -> ElementTree.Element:
    return ElementTree.fromstring(file.read_text(encoding="utf-8"))


def names(root: ElementTree.Element) -> list[str]:
    """Return the texts of a figure, less the ticks."""
    texts = ("".join(element.itertext()) for element in root.iter() if element.tag.endswith("text"))
    return [text for text in texts if re.search(r"[^\d.×⁰-⁹⁻¹²³−]", text)]


def marks_of(root: ElementTree.Element) -> np.ndarray:
    """Return where the marks of a figure are that it draws at medians and shares, (K, 2)."""
    uses = [element for element in root.iter() if element.tag.endswith("use")]
    found = [(float(use.get("x", "nan")), float(use.get("y", "nan"))) for use in uses]
    return np.asarray(found)
