"""The page on a researcher's own data, as parsed HTML and as a browser sees it; and the command."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports import cli
from reports.own_data.analysis import analyse
from reports.own_data.figures import captioned, spectrum
from reports.own_data.page import render
from reports.own_data.request import Request
from tests.reports import browser
from verify.errors import InputError

EXAMPLE = Path(__file__).parents[3] / "examples" / "data"
FILES = [str(EXAMPLE / "features.csv"), str(EXAMPLE / "labels.csv")]
TAME = Request(*FILES, positive="treated")
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> & {{ 7*7 }} ∮ 🙂"
_VOID = {"meta", "link", "br", "wbr", "hr", "img", "input"}


class Parsed(HTMLParser):
    """The tags of a page, its texts, and what is not balanced."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.texts))


def drawn(folder: Path, X: Any, y: Any, **options: Any) -> dict[str, Any]:
    np.savez(folder / "data.npz", X=np.asarray(X, dtype=float), y=np.asarray(y, dtype=float))
    return analyse(Request(str(folder / "data.npz"), **options))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("found")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 60)) + 3.0 * rng.normal(size=60), np.tile([1.0, -1.0], 15)
    hostile = {**analyse(TAME), "features": HOSTILE, "labels": HOSTILE, "positive": HOSTILE}
    hostile["label_column"] = HOSTILE * 20
    hostile["warnings"] = [{"kind": HOSTILE, "reason": HOSTILE, "try": HOSTILE}]
    return {
        "tame": analyse(TAME),
        "lifted": analyse(Request(*FILES, positive="treated", lift="fourier:500")),
        "outside": drawn(folder, X, y),
        "pair": drawn(folder, X, y, neurons=2),
        "stopped": drawn(folder, X - X.mean(axis=0), y),
        "hostile": hostile,
    }


@pytest.fixture(scope="module")
def pages(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: render({**each, "command": HOSTILE}) for name, each in found.items()}


NAMES = ["tame", "lifted", "outside", "pair", "stopped", "hostile"]
every = pytest.mark.parametrize("name", NAMES)


@every
def test_the_page_is_balanced_and_begins_with_the_sentence(
    name: str, found: dict[str, Any], pages: dict[str, str]
) -> None:
    page = Parsed(pages[name])
    assert pages[name].lstrip().lower().startswith("<!doctype html>")
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(set(ids)) == len(ids)
    for tag, attributes in page.tags:
        if tag == "a" and (attributes.get("href") or "").startswith("#"):
            assert (attributes["href"] or "")[1:] in ids
    heading = re.search(r"<h1>(.*?)</h1>", pages[name], re.S)
    assert heading
    said = re.sub(r"<[^>]+>", "", heading[1])
    assert said.split()[:4] == found[name]["sentence"].replace("_", "").split()[:4]
    assert pages[name].index("<h1>") < pages[name].index("<h2>")


@every
def test_nothing_is_fetched_and_no_script_runs(name: str, pages: dict[str, str]) -> None:
    page = Parsed(pages[name])
    assert not {"script", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    addresses = [v for _, a in page.tags for k, v in a.items() if k in ("src", "href") and v]
    assert all(v.startswith(("#", "data:")) for v in addresses)
    assert any(a.get("http-equiv") == "Content-Security-Policy" for _, a in page.tags)


def test_text_from_files_is_escaped_and_not_evaluated(pages: dict[str, str]) -> None:
    text = Parsed(pages["hostile"]).text
    assert "<script>alert(1)</script>" in text
    assert "{{ 7*7 }}" in text


@every
def test_every_finding_is_on_the_page(
    name: str, found: dict[str, Any], pages: dict[str, str]
) -> None:
    text, analysis = Parsed(pages[name]).text, found[name]
    for claim in analysis.get("claims") or ():
        assert claim["id"] in text
    assert text.count("an assumption is not met; the") == sum(
        claim["conclusion"] == "vacuous" for claim in analysis.get("claims") or ()
    )
    for warning in analysis["warnings"]:
        assert warning["kind"] in text
    states = [a["state"] for a in analysis.get("assumptions") or ()]
    rows = re.findall(r'data-label="State"><b>(\w+)</b>', pages[name])
    assert rows == states


def test_figures_of_a_run_and_of_one_that_was_stopped(pages: dict[str, str]) -> None:
    assert pages["tame"].count("<figure") == 2
    assert pages["pair"].count("<figure") == 3
    assert "Neuron of output sign −1." in Parsed(pages["pair"]).text
    assert pages["stopped"].count("<figure") == 1
    assert "1 of them are zero but for rounding" in Parsed(pages["stopped"]).text
    assert "of positive label but inactive at the end" in Parsed(pages["outside"]).text
    assert "From step 1 on the active examples are those" in Parsed(pages["tame"]).text


@pytest.mark.parametrize(
    ("status", "last_flip", "seen"),
    [
        ("certified", 1, "From step 1 on the active examples are those of positive label; nothing "
         "changes."),
        ("undecided", 1, "From step 1 on the active examples are those of positive label, in the "
         "{steps} steps shown."),
        ("certified", 900, "From step 1 on the active examples are those of positive label, in the "
         "{steps} steps shown. The pattern changes last at step 900."),
        ("diverged", 900, "From step 1 on the active examples are those of positive label, in the "
         "{steps} steps shown. The pattern changes last at step 900, and what comes later is not "
         "certified."),
    ],
)  # fmt: skip
def test_no_caption_speaks_of_steps_that_are_neither_shown_nor_certified(
    found: dict[str, Any], status: str, last_flip: int, seen: str
) -> None:
    descent = {**found["tame"]["descent"], "status": status, "last_flip": last_flip}
    first, *_ = captioned({**found["tame"], "descent": descent})
    steps = len(found["tame"]["patterns"]["neurons"][0]["steps"]) - 1
    assert first["caption"][0] == seen.format(steps=steps)


@pytest.mark.parametrize(("name", "tone"), [("tame", "good"), ("outside", ""), ("stopped", "bad")])
def test_only_what_is_wrong_is_alarming(name: str, tone: str, pages: dict[str, str]) -> None:
    assert f'<header id="answer" class="answer {tone}">' in pages[name]


def test_what_was_done_to_the_features_is_on_the_page(pages: dict[str, str]) -> None:
    text = Parsed(pages["lifted"]).text
    assert "500 random Fourier features of the 600 given ones, bandwidth" in text
    assert "the median distance between two examples (seed 0)" in text


def test_the_same_analysis_gives_the_same_bytes(found: dict[str, Any]) -> None:
    assert render(found["tame"]) == render(json.loads(json.dumps(found["tame"])))


def test_no_name_turns_round_the_words_about_it(found: dict[str, Any]) -> None:
    page = render({**found["tame"], "features": "a\u202evsc.x", "positive": "\u2067ill\x1b"})
    assert not set("\u202e\u2067\x1b") & set(page)
    assert "a\ufffdvsc.x" in Parsed(page).text


def test_an_analysis_of_another_version_is_refused(found: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="schema_version=99"):
        render({**found["tame"], "schema_version": 99})


def test_a_spectrum_without_a_smallest_eigenvalue_is_drawn() -> None:
    for values in ([1.0], [3.0, 0.0, -1e-17], [5.0, 5.0]):
        svg = spectrum(values, 1.0, name="s", label="S")
        assert svg.startswith("<svg")
        assert "nan" not in svg.lower()


def command(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(["data", *arguments])
    return int(ended.value.code or 0)


def test_the_command_writes_the_page_beside_what_it_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a" / "b"
    code = command(*FILES, "--positive", "treated", "--json", "--out", str(out))
    printed, said = capsys.readouterr()
    written = json.loads((out / "data.json").read_text(encoding="utf-8"))
    assert code == written["exit_code"] == 0
    assert written.pop("command").startswith("relu-verify")
    assert json.loads(printed) == written
    assert str(out / "data.html") in said
    page = (out / "data.html").read_text(encoding="utf-8")
    assert written["sentence"].split(",")[0] in Parsed(page).text


def test_labels_may_be_a_column_and_options_reach_the_analysis(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    features, labels = (Path(file).read_text().splitlines() for file in FILES)
    rows = zip(labels, features, strict=True)
    (tmp_path / "both.csv").write_text("\n".join(map(",".join, rows)))
    options = ["--label-column", "class", "--positive", "treated", "--normalise-rows"]
    lift = ["--features", "relu:300", "--seed", "7", "--json"]
    command(str(tmp_path / "both.csv"), *options, *lift)
    one = json.loads(capsys.readouterr().out)
    command(*FILES, "--positive", "treated", "--normalise-rows", *lift)
    two = json.loads(capsys.readouterr().out)
    assert one["random_features"]["seed"] == 7
    assert one["data"] == two["data"]
    assert one["claims"] == two["claims"]


def test_what_a_theorem_prints_is_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.reports.own_data.test_analysis import OWN

    file = tmp_path / "mine.py"
    file.write_text(OWN.replace("{most}", "12"))
    code = command(*FILES, "--positive", "treated", "--theorem", str(file), "--json")
    printed, said = capsys.readouterr()
    assert code == 0
    assert json.loads(printed)["theorems"] == ["mine"]
    assert "thinking aloud" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([FILES[0]], "--label-column NAME"),
        ([FILES[0], FILES[1]], "'control' (6), 'treated' (6)"),
        ([*FILES, "--positive", "treated", "--features", "tanh:3"], "try relu:10000"),
        ([*FILES, "--positive", "treated", "--neurons", "3"], "--neurons"),
        ([*FILES, "--positive", "treated", "--seed", "-1", "--features", "relu:9"], "seed=-1"),
    ],
)
def test_bad_input_gets_its_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(bool(browser.MISSING), reason=browser.MISSING or "a browser is here")
@pytest.mark.parametrize("name", ["outside", "hostile"])
def test_pages_fit_a_narrow_screen_and_the_console_is_silent(
    name: str, pages: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "data.html"
    file.write_text(pages[name], encoding="utf-8")
    with browser.driven() as driver:
        driver.show(width=400)
        driver.open(file)
        assert driver.overflowing() == []
        assert driver.complaints() == []
        assert driver.requests() == [file.as_uri()]
