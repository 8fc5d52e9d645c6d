import copy
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from reports import html
from tests.reports import browser
from verify.claims import Status
from verify.errors import InputError
from verify.verdict import Conclusion

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> & {{ 7*7 }} ∮ 🙂"
LONG = "a_very_long_name_" * 20 + "w" * 300


def tally(holds, in_scope=200, undecided=0):
    counts = {"trials": 200, "in_scope": in_scope, "holds": holds, "undecided": undecided}
    violated = in_scope - holds - undecided
    return {**counts, "violated": violated, "worst_margin": -0.18 if violated else 2.8e-4}


def cell(verdict="supported", holds=200, *, bounded=True, **point):
    bounds = {"lower_bound": 0.95814, "upper_bound": 1.0} if bounded else {}
    return {
        "point": {"n": 20, "d": 1e4, **point},
        "verdict": verdict,
        "tally": tally(holds),
        **dict.fromkeys(("lower_bound", "upper_bound")),
        **bounds,
    }


SEARCHED = {"examples": 500, "in_scope": 431, "violated": 0, "undecided": 2}


def verdict(claim, word="supported", theorem="lai2026.theorem1", **changes):
    found = {
        "theorem": theorem,
        "claim": claim,
        "full_id": f"{theorem}.{claim}",
        "kind": "universal",
        "verdict": word,
        "expected": "supported",
        "statement": f"What {claim} says of w_∞, y_min and 1e-9.",
        "status": "A",
        **tally(200),
        "lower_bound": 0.99305,
        "upper_bound": 1.0,
        "confidence": 0.99904,
        "detail": f"the detail of {claim}",
        "cells": [cell(c=0.5, bounded=False), cell(c=0.9, bounded=False)],
        "slopes": [],
        "instance": None,
        "hunted": {**SEARCHED, "worst_margin": None},
        "probability": None,
        "given": ["labels_are_nonzero", "not_listed"],
        "because": "",
        "status_meaning": "the abstract or a published summary only",
        "counterexamples": [],
    }
    found.update(changes)
    good = ("supported", "certified") if found["expected"] == "supported" else ("refuted",)
    return {"as_expected": found["verdict"] in good, **found}


SLOPE = {
    "sweep": "d at n=20",
    "against": "n/‖λ‖₁",
    "quantity": "gap ‖w_∞ − w⋆‖₂",
    "verdict": "supported",
    "exponent": 0.5,
    "tolerance": 0.01,
    "slope": 0.4973,
    "low": 0.4958,
    "high": 0.4988,
    "curvature": 0.02,
    "abscissa": [2e-2, 2e-4, 2e-6],
    "mean": [3.4e-2, 3.7e-3, 3.8e-4],
    "spread": [0.08, 0.07, 0.08],
    "points": [{"n": 20, "d": 10.0**k} for k in (3, 5, 7)],
    "band_low": [2e-2, 2e-3, 2e-4],
    "band_high": [6e-2, 6e-3, 6e-4],
}
COUNTEREXAMPLE = {
    "kind": "smallest",
    "file": "counterexamples/x.json",
    "margin": -0.18,
    "summary": {
        "labels": [-0.5, 1],
        "block": [[1, 0], [-2, 1]],
        "gram": [[k * j for k in range(40)] for j in range(40)],
        "step_size": 4.9e-4,
        "recipe": {"n": 2},
        "nothing": None,
    },
}


def theorem(name="lai2026.theorem1", **changes):
    assumption = {
        "id": "labels_are_nonzero",
        "statement": "No label is zero.",
        "status": "D",
        "status_meaning": "derived here and checked numerically",
    }
    axis = {"name": "n", "low": 2, "high": 12, "scale": "integer", "choices": [], "meaning": ""}
    return {
        "id": name,
        "address": name,
        "title": "One ReLU neuron",
        "citation": "Lai et al.: COLT 2026, PMLR 336; arXiv 2603.04895; Theorem 1.",
        "statement": "After step one the pattern is frozen.",
        "method": "By plain gradient descent [D], w_0^⊥ included.",
        "status": "A",
        "status_meaning": "the abstract or a published summary only",
        "axes": [axis],
        "symbols": [{"symbol": "w_∞", "meaning": "limit of ‖w_∞‖, from Xw_0"}],
        "defaults": {"n": 20, "spectrum": "isotropic", "start_low": 1e-4},
        "assumptions": [assumption],
        **changes,
    }


def report(**changes):
    """Return a report with every verdict, every kind of claim, a control and every figure."""
    rate = {"kind": "rate", "cells": [], "slopes": [SLOPE], "hunted": None, "lower_bound": None}
    cells = [cell(c=0.5), cell(c=0.9)]
    likely = {"kind": "probable", "probability": 0.95, "status": "D", "cells": cells}
    searched = {**SEARCHED, "violated": 3, "undecided": 0, "worst_margin": -0.27}
    bad = {"counterexamples": [COUNTEREXAMPLE], **tally(190), "worst_margin": -0.18}
    verdicts = [
        verdict("freezes", "certified"),
        verdict("interpolates", "supported", rests_on=["freezes"]),
        verdict("never", "refuted", status="H", **bad),
        verdict("empty", "vacuous", in_scope=0, holds=0, worst_margin=None, lower_bound=0.0),
        verdict("likely", "inconclusive", rests_on=["never", "left_out", "freezes"], **likely),
        verdict("unsure", "undecided", undecided=3, holds=197),
        verdict("scales", "supported", **rate),
        verdict("missed", "refuted", hunted=searched, counterexamples=[COUNTEREXAMPLE]),
        verdict(
            "small_step",
            "refuted",
            expected="refuted",
            status="X",
            because="it is too small",
            **bad,
        ),
        verdict("missed_control", "supported", expected="refuted", because="it is false"),
    ]
    raster = {
        "theorem": "lai2026.theorem1",
        "kind": "typical",
        "point": {"n": 4, "d": 400},
        "pattern": [[1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 1, 0]],
        "labels": [0.5, -0.9, 0.8, -0.6],
        "caption_facts": {"regime_index_H": 13.1, "labels": [1, 2]},
    }
    flipping = {**raster, "kind": "small_step", "pattern": [*raster["pattern"], [0, 1, 1, 0]]}
    return {
        "schema_version": 1,
        "tool": {"name": "relu-verify", "version": "0.1.0"},
        "command": "relu-verify run --profile quick",
        "out": "my runs/one",
        "created": "2026-11-30T19:00:00+00:00",
        "seed": 0,
        "profile": "quick",
        "backend": "numpy",
        "confidence": 0.95,
        "wall_time_s": 17.2,
        "exit_code": 1,
        "sentence": "Of 8 claims, 3 are supported.",
        "error_budget": {"total": 0.05, "theorems": {"lai2026.theorem1": 0.05}},
        "versions": {"python": "3.11.7", "numpy": "2.4.6"},
        "theorems": [theorem()],
        "verdicts": verdicts,
        "rasters": [raster, flipping],
        **changes,
    }


def hostile():
    """Return a report whose every text, keys of facts included, attacks the page."""

    def poison(value):
        if isinstance(value, str):
            return f"{value}{HOSTILE}\x00\x1b\ud800"
        if isinstance(value, dict):
            return {key: poison(entry) for key, entry in value.items()}
        return [poison(entry) for entry in value] if isinstance(value, list) else value

    found = copy.deepcopy(report())
    kept = ("kind", "verdict", "expected", "status")
    for entry in found["verdicts"]:
        kinds = {key: entry[key] for key in kept}
        entry.update({**poison(entry), **kinds})
        for inner, clean in zip(entry["cells"] + entry["slopes"], [1] * 9, strict=False):
            inner["verdict"] = "supported" if clean else ""
        for example in entry["counterexamples"]:
            example["summary"] = {HOSTILE: HOSTILE, "rows": [[HOSTILE, 1]], LONG: LONG * 3}
    found["theorems"] = poison([theorem(status="<b>")])
    found["rasters"] = [{**poison(raster), "kind": HOSTILE} for raster in found["rasters"]]
    for key in ("command", "out", "created", "profile", "sentence", "versions", "tool", "backend"):
        found[key] = poison(found[key])
    long = f"{LONG}/{LONG}.py"
    found["theorems"].append(theorem(LONG, address=long, title=LONG, citation=LONG))
    found["verdicts"].append(verdict(LONG, theorem=long, full_id=f"{long}::{LONG}"))
    return found


def bare():
    """Return a report in which everything optional is missing or null."""
    required = ("theorem", "claim", "full_id", "kind", "verdict", "expected", "as_expected")
    verdicts = []
    for entry in report()["verdicts"]:
        nothing = dict.fromkeys(entry)
        verdicts.append({**nothing, **{key: entry[key] for key in required}})
        verdicts.append(
            {key: entry[key] for key in required}
            | {"theorem": "other", "full_id": f"other.{entry['claim']}"}
        )
    gap = {"verdict": "vacuous", "slope": None, "low": None, "high": None, "curvature": None}
    verdicts[12] |= {"slopes": [{**SLOPE, **gap, "abscissa": [], "mean": [], "spread": []}]}
    return {"schema_version": 1, "verdicts": verdicts}


REPORTS = {"full": report, "hostile": hostile, "bare": bare, "empty": lambda: {"schema_version": 1}}


class Reader(HTMLParser):
    """Collects what tests ask about: elements with attributes, ids, links, and the text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self._skip = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._skip = tag in ("style", "script")

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self._skip = False

    def handle_data(self, data):
        if not self._skip:
            self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())

    def values(self, name):
        return [attrs[name] for _, attrs in self.elements if name in attrs]


@pytest.fixture(scope="module")
def pages():
    return {name: html.render(make()) for name, make in REPORTS.items()}


@pytest.fixture(params=sorted(REPORTS))
def page(request, pages):
    return pages[request.param]


# Every page.


def test_ids_are_unique_and_links_have_targets(page):
    reader = Reader(page)
    ids = reader.values("id")
    assert sorted(set(ids)) == sorted(ids)
    targets = [link[1:] for link in reader.values("href") if link.startswith("#")]
    assert not set(targets) - set(ids)
    assert not [found for found in ids if set(found) & set(" \"'<>%#")]


def test_nothing_is_fetched_and_nothing_runs(page):
    reader = Reader(page)
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "video", "audio", "form"}
    assert not reader.values("src")
    for tag, attrs in reader.elements:
        assert not [name for name in attrs if name.startswith("on")], attrs
        link = attrs.get("href", "#")
        away = tag == "a" and link.startswith("https://arxiv.org/abs/")
        assert link.startswith("#") or link == "data:," or away, attrs
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in page


def test_pages_are_small(page):
    assert len(page.encode()) < 3_000_000


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_the_same_report_gives_the_same_bytes(name, pages):
    assert html.render(REPORTS[name]()) == pages[name]


# What the full page says.


def test_the_answer_comes_first(pages):
    text = Reader(pages["full"]).words
    asked = ("Of 8 claims, 3 are supported.", "Claims as expected", "split equally", "Claims Each")
    positions = [text.index(part) for part in asked]
    assert positions == sorted(positions)
    assert "3 of 8" in text
    assert "1 of 2" in text
    assert "All of the error of 5 % goes to one theorem." in text


@pytest.mark.parametrize("word", list(html.VERDICTS))
def test_every_verdict_is_told_by_word_shape_and_meaning(pages, word):
    reader = Reader(pages["full"])
    assert ("use", {"href": f"#icon-{word}"}) in reader.elements
    assert f"{word.capitalize()}: {html.VERDICTS[word]}" in reader.words


def test_meanings_are_those_of_the_library():
    assert {word.value: word.meaning for word in Conclusion} == html.VERDICTS
    assert {mark.value: mark.meaning for mark in Status} == {
        mark: meaning for mark, (_, meaning) in html.MARKS.items()
    }


def test_every_claim_says_whose_statement_it_is(pages):
    page = pages["full"]
    claims = page.split('<article class="claim')[1:]
    assert len(claims) == 10
    for claim in claims:
        assert re.search('class="mark owner-(summary|ours|none)"', claim)


def test_only_what_was_read_in_the_paper_is_called_so():
    whose = {letter: html.MARKS[letter][0] for letter in "VADHFX"}
    assert len({whose["V"], whose["A"], whose["D"], whose["F"], whose["X"]}) == 5
    assert whose["D"] == whose["H"] == "ours"
    for letter, words in whose.items():
        page = html.render(report(verdicts=[verdict("stated", status=letter)]))
        badge = f"{letter} {words} · every instance"
        assert badge in Reader(page).words
        owner = {"V": "paper", "A": "summary", "D": "ours", "H": "ours"}.get(letter, "none")
        assert f'class="mark owner-{owner}"' in page.split('<article class="claim')[1]


def reading(page):
    """Return the words of "How to read this"."""
    return Reader(page.split('<section id="reading">')[1].split("</section>")[0]).words


@pytest.mark.parametrize("where", ["theorem", "assumption", "claim", "control", "nowhere"])
def test_pages_say_when_nobody_has_read_the_paper(where):
    whole = theorem(status="V" if where == "theorem" else "A")
    if where == "assumption":
        whole["assumptions"][0]["status"] = "V"
    claims = [
        verdict("one", status="V" if where == "claim" else "D"),
        verdict("two", "refuted", expected="refuted", status="V" if where == "control" else "X"),
    ]
    told = reading(html.render(report(theorems=[whole], verdicts=claims)))
    rule = "When no statement is marked V, nobody here has read the body of the paper"
    assert f"{rule}{'; in this report none is' if where == 'nowhere' else ''}." in told


@pytest.mark.parametrize(
    "part",
    [
        "ours even in a claim marked A: probabilities, tolerances, the regime index H and its",
        "the error is split over every bound that is printed: every instanceone lower and one",
        "its cells show counts only",
        "one-sided binomial (Clopper–Pearson) bounds from independent, seeded trials, at a sample "
        "size fixed beforehand",
        "approximate: Student’s t, with the degrees of freedom of Welch and Satterthwaite",
        "not lack of fit",
        "the largest deviation of a cell mean from the fitted line",
        "refuted if it lies wholly outside. So an interval may leave out the exponent itself",
        "for an identity the tolerance, so that 1 is exact equality",
        "for predictions the largest label; for bands √(n−/‖λ‖1)",
        "Margins of different claims are not comparable.",
        "the random trials in scope; that of a search stands with the search",
    ],
)
def test_how_to_read_this_says(part, pages):
    assert part in reading(pages["full"])


def test_controls_are_apart_and_explained(pages):
    page = pages["full"]
    summary, controls = (
        Reader(page.split(f'<section id="{name}">')[1].split("</section>")[0])
        for name in ("summary", "controls")
    )
    assert "small_step" not in summary.words
    assert "small_step" in controls.words
    assert "must refute it" in controls.words
    assert "missed_control" in controls.words
    assert "not as expected" in controls.words


def test_claims_tell_their_evidence(pages):
    text = Reader(pages["full"]).words
    for part in (
        "the detail of freezes",
        "P ≥ 0.9930 on average",
        "500 examples by Hypothesis, 431 in scope: 0 violated, 2 undecided. A search is no random",
        "It is false because it is too small.",
        "2 cells, all supported",
        "slope 0.4973 [0.4958, 0.4988], claimed 0.5 ± 0.01",
        "d at n=20against n/‖λ‖1",
        "40 × 40, cut",
        "none: nothing in scope",
        "10 of 200 violate it; P ≤ 1.0000",
        "3 found by search; P ≤ 1.0000",
    ):
        assert part in text, f"{part!r} should be on the page"


def test_tables_tell_what_each_claim_says_and_what_puts_an_instance_in_scope(pages):
    rows = pages["full"].split('<section id="summary">')[1].split("</section>")[0]
    found = Reader(rows).words
    assert (
        "What freezes says of w∞, ymin and 10−9. A abstract or summary · every instance that meets "
        "2 assumptions, 1 of them ours"
    ) in found
    assert "D ours · with probability ≥ 0.95" in found
    assert rows.count('<p class="aside line" title="What ') == 8
    assert '<p class="aside line"' not in html.render(bare())


def test_bounds_are_shown_for_the_cells_that_have_them(pages):
    for name, bounded in (("freezes", False), ("likely", True)):
        found = claim_section(pages["full"], name)
        assert ("0.9581 to 1.0000" in found.words) == bounded
        assert ("P(holds) within" in found.words) == bounded
        assert ("each bound, lower or upper, has confidence 99.904 %" in found.words) == bounded
        assert ("the bound above is on all of them together" in found.words) != bounded


def test_slopes_say_what_decides_and_what_their_interval_does_not_cover(pages):
    found = claim_section(pages["full"], "scales").words
    assert (
        "supported when its whole interval lies within exponent ± tolerance, refuted when" in found
    )
    assert "Here the interval leaves out the exponent itself, within tolerance." in found
    assert "natural logarithm; the interval does not cover it." in found


def test_worst_margins_are_of_the_random_trials_and_of_the_search(pages):
    missed = claim_section(pages["full"], "missed").words
    assert "Worst margin2.8×10⁻⁴, in the random trials" in missed
    assert "3 violated, 0 undecided; worst margin −0.27. A search" in missed
    assert "worst margin" not in claim_section(pages["full"], "freezes").words


@pytest.mark.parametrize(("in_scope", "told"), [(200, "no decided margin"), (0, "none in scope")])
def test_a_missing_worst_margin_is_explained(in_scope, told):
    counts = {"in_scope": in_scope, "holds": 0, "undecided": in_scope, "worst_margin": None}
    one = {**cell(bounded=False), "tally": {"trials": 200, **counts}}
    page = html.render(report(verdicts=[verdict("unsure", "undecided", cells=[one], **counts)]))
    assert Reader(page.split('<section id="controls">')[0]).words.count(told) >= 3
    found = claim_section(page, "unsure").words
    assert f"Worst margin{told} in the random trials" in found
    assert found.endswith(told)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "relu-verify replay 'my runs/one/counterexamples/x.json'"),
        ({"out": None}, "relu-verify replay relu-verify-out/counterexamples/x.json"),
        ({"out": "/tmp/a/"}, "relu-verify replay /tmp/a/counterexamples/x.json"),
        ({"out": "-x"}, "relu-verify replay ./-x/counterexamples/x.json"),
        ({"out": "a;b'"}, """relu-verify replay 'a;b'"'"'/counterexamples/x.json'"""),
    ],
)
def test_counterexamples_can_be_replayed_from_where_the_run_was_started(changes, told):
    assert told in claim_section(html.render(report(**changes)), "never").words


def test_a_command_that_a_report_gives_is_kept():
    given = {**COUNTEREXAMPLE, "command": "relu-verify replay elsewhere.json"}
    without = {**COUNTEREXAMPLE, "file": None}
    verdicts = [verdict("never", "refuted", counterexamples=[given, without])]
    found = claim_section(html.render(report(verdicts=verdicts)), "never").words
    assert found.count("relu-verify replay") == 1
    assert "relu-verify replay elsewhere.json" in found


def test_theorems_list_their_symbols_and_defaults(pages):
    page = pages["full"]
    assert "<dt>w<sub>∞</sub></dt><dd>limit of ‖w<sub>∞</sub>‖, from Xw<sub>0</sub></dd>" in page
    told = (
        "Where a point does not name a coordinate: n = 20, spectrum = isotropic, start_low = 10⁻⁴."
    )
    assert told in Reader(page).words
    assert "Symbols" not in Reader(pages["bare"]).words
    assert "Where a point does not name" not in Reader(pages["bare"]).words


def claim_section(page, name):
    """Return the claim's part of a page, read."""
    start = page.index(f'id="claim-lai2026.theorem1.{name}"')
    return Reader(page[page.rindex("<article", 0, start) : page.index("</article>", start)])


def test_theorems_tell_how_they_are_checked_under_the_statement(pages):
    text = Reader(pages["full"]).words
    told = (
        "the pattern is frozen. How it is checked: By plain gradient descent [D], w0⊥ included. A"
    )
    assert told in text
    assert "How it is checked" not in Reader(pages["bare"]).words


def test_claims_link_to_what_they_rest_on(pages):
    found = claim_section(pages["full"], "likely")
    assert "Rests onnever, left_out (not checked in this run), freezes Searched" in found.words
    links = found.values("href")
    assert links.count("#claim-lai2026.theorem1.freezes") == 1
    assert links.count("#claim-lai2026.theorem1.never") == 2
    assert "Rests on" not in claim_section(pages["full"], "freezes").words


def test_claims_say_when_what_they_rest_on_is_not_as_expected(pages):
    told = "It rests on never, which is refuted and was expected to be supported."
    shaken = claim_section(pages["full"], "likely").words
    assert shaken.count("basis not as expected") == 1
    assert told in shaken
    assert "not as expected" not in claim_section(pages["full"], "interpolates").words


def test_claims_rest_on_claims_of_their_own_theorem_only():
    bad = verdict("lemma", "refuted", theorem="other")
    good = verdict("lemma")
    resting = verdict("main", rests_on=["lemma"])
    found = claim_section(html.render(report(verdicts=[bad, good, resting])), "main")
    assert "#claim-lai2026.theorem1.lemma" in found.values("href")
    assert "not as expected" not in found.words


@pytest.mark.parametrize("status", ["C", "c", "🙂", "V A", 7])
@pytest.mark.parametrize("meaning", ["told by the report", "", None])
def test_unknown_marks_are_shown_as_unknown(status, meaning):
    unknown = {"status": status, "status_meaning": meaning}
    assumption = {"id": "labels_are_nonzero", "statement": "No label is zero.", **unknown}
    claims = [{**entry, **unknown} for entry in report()["verdicts"]]
    whole = theorem(assumptions=[assumption], **unknown)
    reader = Reader(html.render(report(theorems=[whole], verdicts=claims)))
    assert f"{status} unknown ({meaning or 'a mark that this page does not know'})" in reader.words
    assert f"labels_are_nonzero {status} unknown No label" in reader.words
    assert reader.words.count(f"{status} unknown · every instance") == 8


def test_figures_have_captions_that_say_what_to_see(pages):
    page = pages["full"]
    captions = [Reader(part.split("</figcaption>")[0]).words for part in page.split("<figcaption>")]
    for part in (
        "From step 1 on the active examples are those of positive label; nothing changes.",
        "A typical draw: n = 4, d = 400. Rows are examples",
        "by formulas of ours: regime index H 13.1",
        "goes on changing after step 1, last at step 3; of positive label but inactive",
        "do not take its constants for the paper’s",
        "In 2 of 2 cells the lower confidence bound is at or above the claimed 0.95",
        "at n = 20: gap ‖w∞ − w⋆‖2, as geometric mean over trials, against n/‖λ‖1. Bars: one",
        "of the slope, 0.4973 [0.4958, 0.4988], lies within 0.5 ± 0.01, though it leaves out 0.5",
        "a tilt is how far the slope is from the claimed exponent, which the tolerance may allow. "
        "The dot farthest from the fitted line is off by 0.02 in natural log (curvature)",
        "Each bound, upper or lower, has confidence 99.904 %.",
    ):
        assert any(part in caption for caption in captions[1:]), f"no caption says {part!r}"
    drawn = [attrs for tag, attrs in Reader(page).elements if tag == "svg" and "viewbox" in attrs]
    assert len(drawn) == len(captions) - 1 == 4
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in drawn)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"low": 0.49, "high": 0.505}, "0.5050], lies within 0.5 ± 0.01. 3 points"),
        (
            {"verdict": "refuted"},
            "the whole interval of the slope, 0.4973 [0.4958, 0.4988], lies out",
        ),
        ({"verdict": "inconclusive"}, "does not settle the claimed 0.5 ± 0.01. 3 points"),
    ],
)
def test_captions_of_slopes_say_where_the_interval_lies(changes, told):
    rate = {"kind": "rate", "cells": [], "slopes": [{**SLOPE, **changes}], "hunted": None}
    page = html.render(report(verdicts=[verdict("scales", **rate)], rasters=[]))
    assert told in Reader(page.split("<figcaption>")[1].split("</figcaption>")[0]).words


def test_pages_open_at_theorems_and_claims(pages):
    ids = Reader(pages["full"]).values("id")
    assert "theorem-lai2026.theorem1" in ids
    assert "claim-lai2026.theorem1.freezes" in ids


def test_hostile_text_is_shown_as_it_is(pages):
    reader = Reader(pages["hostile"])
    assert reader.words.count("<script>alert(1)</script>") > 50
    assert "{{ 7*7 }}" in reader.words
    assert not set("\x00\x1b\ud800") & set(pages["hostile"])


def test_a_theorem_that_only_verdicts_name_is_told(pages):
    assert "theorem-other" in Reader(pages["bare"]).values("id")


def test_two_theorems_of_one_id_have_an_anchor_each():
    twice = [theorem("mine", address="a.py"), theorem("mine", address="b.py")]
    verdicts = [verdict("c", theorem=f"{x}.py", full_id=f"{x}.py::c") for x in "ab"]
    ids = Reader(html.render(report(theorems=twice, verdicts=verdicts))).values("id")
    assert {"theorem-mine", "theorem-b.py", "claim-a.py::c", "claim-b.py::c"} <= set(ids)


def test_reports_of_another_version_are_refused():
    with pytest.raises(InputError, match="schema_version=2, expected 1"):
        html.render(report(schema_version=2))


def test_importing_the_report_is_light():
    code = (
        "import sys, reports.html; print([m for m in ('matplotlib', 'jinja2') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_anchors_are_safe_and_distinct():
    names = ["lai2026.theorem1", "a b", "a~20b", "a%20b", "é", "e", "<x>", 'a"b', "path/to.py::c"]
    found = [html.anchor("claim", name) for name in names]
    assert len(set(found)) == len(names)
    assert found[0] == "claim-lai2026.theorem1"
    assert found[-1] == "claim-path/to.py::c"
    safe = set("-._~/:@abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    assert set("".join(found)) <= safe


# What only a browser can tell.

needs_browser = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no chromium on this machine (Debian package: chromium)"
)


@needs_browser
@pytest.mark.parametrize("name", ["full", "hostile"])
def test_pages_fit_a_narrow_screen(name, pages, tmp_path):
    seen = browser.look(pages[name], tmp_path, width=400)
    assert seen.width == 400
    assert seen.scroll_width <= 400, f"too wide: {seen.overflowing}"
    assert not seen.overflowing


@needs_browser
def test_pages_open_at_a_fragment_and_follow_the_users_light(pages, tmp_path):
    fragment = html.anchor("claim", "lai2026.theorem1.scales")
    light = browser.look(pages["full"], tmp_path, width=1200, fragment=fragment)
    dark = browser.look(pages["full"], tmp_path, width=1200, dark=True)
    assert light.in_view is not None
    assert 0 <= light.in_view < 200
    assert dark.background != light.background
    assert light.scroll_width <= 1200


@needs_browser
def test_the_browser_sees_what_it_is_asked_about(pages, tmp_path):
    bad = '<div style="width: 900px">wide</div><img src="missing.png"><script>throw 1</script>'
    page = pages["empty"].replace("</main>", f"{bad}</main>")
    seen = browser.look(page, tmp_path, width=400)
    assert seen.scroll_width >= 900
    assert any("wide" in element for element in seen.overflowing)
    said = browser.complaints(page, tmp_path)
    assert any("missing.png" in line for line in said)
    assert any("script" in line for line in said)


@needs_browser
def test_browsers_have_nothing_to_complain_of(pages, tmp_path):
    assert browser.complaints(pages["full"], tmp_path) == []
