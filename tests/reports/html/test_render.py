import re
import subprocess
import sys

import pytest

from reports.html.anchors import aliases, anchor
from reports.html.marks import MARKS, VERDICTS
from reports.html.render import render
from tests.reports.sample import (
    COUNTEREXAMPLE,
    REPORTS,
    SLOPE,
    Reader,
    bare,
    cell,
    full,
    large,
    report,
    theorem,
    verdict,
)
from verify.claims import Status
from verify.errors import InputError
from verify.verdict import Conclusion


@pytest.fixture(scope="module")
def pages():
    return {name: render(make()) for name, make in REPORTS.items()}


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
    assert render(REPORTS[name]()) == pages[name]


# What the full page says.


def test_the_answer_comes_first(pages):
    text = Reader(pages["full"].split("<main>")[1]).words
    asked = (
        "profile quick · seed 0",
        "Of 8 claims, 3 are supported.",
        "What holds 3 of 8 claims stand",
        "What does not never, missed are refuted",
        "Open, for want of evidence: empty, likely, unsure",
        "How sure All bounds on this page hold together with confidence 95 %",
        "missed_control should have been refuted and is not: the evidence is void",
        "What is measured beyond the claims lai2026.theorem1",
        "Theorems at a glance One ReLU neuron",
        "Claims Each",
        "Theorem by theorem",
        "Controls: false on purpose",
        "Figures 10 figures, listed",
        "How to read this The six verdicts",
        "Reproducing it",
    )
    positions = [text.index(part) for part in asked]
    assert positions == sorted(positions)
    assert "3 of 8" in text
    assert "split equally" in text
    assert "All of the error of 5 % goes to one theorem." in text


@pytest.mark.parametrize("word", list(VERDICTS))
def test_every_verdict_is_told_by_word_shape_and_meaning(pages, word):
    reader = Reader(pages["full"])
    assert ("use", {"href": f"#icon-{word}"}) in reader.elements
    assert f"{word.capitalize()}: {VERDICTS[word]}" in reader.words


def test_meanings_are_those_of_the_library():
    assert {word.value: word.meaning for word in Conclusion} == VERDICTS
    assert {mark.value: mark.meaning for mark in Status} == {
        mark: meaning for mark, (_, meaning) in MARKS.items()
    }


def test_every_claim_says_whose_statement_it_is(pages):
    page = pages["full"]
    claims = page.split('<article class="claim')[1:]
    assert len(claims) == 10 + len(full()["measures"])
    for claim in claims:
        assert re.search('class="mark owner-(summary|ours|none)"', claim)


def test_only_what_was_read_in_the_paper_is_called_so():
    whose = {letter: MARKS[letter][0] for letter in "VADHFX"}
    assert len({whose["V"], whose["A"], whose["D"], whose["F"], whose["X"]}) == 5
    assert whose["D"] == whose["H"] == "ours"
    for letter, words in whose.items():
        page = render(report(verdicts=[verdict("stated", status=letter)], rasters=[]))
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
    told = reading(render(report(theorems=[whole], verdicts=claims)))
    rule = "When no statement is marked V, nobody here has read the body of the paper"
    assert f"{rule}{'; in this report none is' if where == 'nowhere' else ''}." in told


@pytest.mark.parametrize(
    "part",
    [
        "ours even in a claim marked A: probabilities, tolerances, the regime index H and its",
        "the error is split over every bound that is printed. All of the error of 5 % goes to one",
        "whether or not they were selected, and within each so: every instanceone lower and one",
        "its cells show counts only",
        "never falls along the abscissa, which is assumed",
        "where it liesboth ends of the interval of each quantile in each cell",
        "These counts carry no bounds.",
        "one-sided binomial (Clopper–Pearson) bounds from independent, seeded trials, at a sample "
        "size fixed beforehand",
        "approximate: Student’s t, with the degrees of freedom of Welch and Satterthwaite",
        "not lack of fit",
        "the largest deviation of a cell mean from the fitted line",
        "refuted if it lies wholly outside, and inconclusive in between",
        "no interval covers it. So an interval may leave out the exponent itself",
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
        "the detail of missed",
        "P ≥ 0.9930 on average",
        "500 examples by Hypothesis (no sample), 431 in scope: 0 violated, 2 undecided.",
        "It is false because it is too small.",
        "2 cells, all supported",
        "slope 0.4973 [0.4958, 0.4988], claimed 0.5 ± 0.01",
        "d at n=20against n/‖λ‖1",
        "40 × 40, cut",
        "none: nothing in scope",
        "10 of 200 violate it; P ≤ 1.0000",
        "3 of 431 searched examples in scope violate it",
    ):
        assert part in text, f"{part!r} should be on the page"


def test_what_a_search_alone_refutes_has_no_bound_and_no_confidence(pages):
    found = claim_section(pages["full"], "missed").words
    assert "3 of 431 searched examples in scope violate it" in found
    assert "violate it, at confidence" not in found
    assert "the bound above" not in found
    assert "the bound above" in claim_section(pages["full"], "freezes").words


def test_tables_tell_what_each_claim_says_and_what_puts_an_instance_in_scope(pages):
    rows = pages["full"].split('<section id="summary">')[1].split("</section>")[0]
    found = Reader(rows).words
    assert (
        "What freezes says of w∞, ymin and 10−9. A abstract or summary · every instance that meets "
        "2 assumptions, 1 of them ours"
    ) in found
    assert "D ours · with probability ≥ 0.95" in found
    assert rows.count('<p class="aside line" title="What ') == 8
    assert '<p class="aside line"' not in render(bare())


def test_bounds_are_shown_for_the_cells_that_have_them(pages):
    for name, bounded in (("freezes", False), ("likely", True)):
        found = claim_section(pages["full"], name)
        assert ("0.9581 to 1.0000" in found.words) == bounded
        assert ("P(holds) within" in found.words) == bounded
        assert ("each bound, lower or upper, has confidence 99.904 %" in found.words) == bounded
        assert ("the bound above is on all of them together" in found.words) != bounded


def test_slopes_say_what_decides_and_what_their_interval_does_not_cover(pages):
    found = claim_section(pages["full"], "scales").words
    assert "How slopes are judged, and what curvature is." in found
    assert "Here the interval leaves out the exponent itself, within tolerance." in found


def test_worst_margins_are_of_the_random_trials_and_of_the_search(pages):
    missed = claim_section(pages["full"], "missed").words
    assert "Worst margin2.8×10⁻⁴, in the random trials" in missed
    assert "3 violated, 0 undecided; worst margin −0.27." in missed
    assert "worst margin" not in claim_section(pages["full"], "freezes").words


@pytest.mark.parametrize(("in_scope", "told"), [(200, "no decided margin"), (0, "none in scope")])
def test_a_missing_worst_margin_is_explained(in_scope, told):
    counts = {"in_scope": in_scope, "holds": 0, "undecided": in_scope, "worst_margin": None}
    one = {**cell(bounded=False), "tally": {"trials": 200, **counts}}
    page = render(report(verdicts=[verdict("unsure", "undecided", cells=[one], **counts)]))
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
    assert told in claim_section(render(report(**changes)), "never").words


def test_a_command_that_a_report_gives_is_kept():
    given = {**COUNTEREXAMPLE, "command": "relu-verify replay elsewhere.json"}
    without = {**COUNTEREXAMPLE, "file": None}
    verdicts = [verdict("never", "refuted", counterexamples=[given, without])]
    found = claim_section(render(report(verdicts=verdicts)), "never").words
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
    found = claim_section(render(report(verdicts=[bad, good, resting])), "main")
    assert "#claim-lai2026.theorem1.lemma" in found.values("href")
    assert "not as expected" not in found.words


@pytest.mark.parametrize("status", ["C", "c", "🙂", "V A", 7])
@pytest.mark.parametrize("meaning", ["told by the report", "", None])
def test_unknown_marks_are_shown_as_unknown(status, meaning):
    unknown = {"status": status, "status_meaning": meaning}
    assumption = {"id": "labels_are_nonzero", "statement": "No label is zero.", **unknown}
    claims = [{**entry, **unknown} for entry in report()["verdicts"]]
    whole = theorem(assumptions=[assumption], **unknown)
    reader = Reader(render(report(theorems=[whole], verdicts=claims, rasters=[])))
    assert f"{status} unknown ({meaning or 'a mark that this page does not know'})" in reader.words
    assert f"labels_are_nonzero {status} unknown No label" in reader.words
    assert reader.words.count(f"{status} unknown · every instance") == 8


def test_figures_have_captions_that_say_what_to_see(pages):
    page = pages["full"]
    captions = [Reader(part.split("</figcaption>")[0]).words for part in page.split("<figcaption>")]
    for part in (
        "From step 1 on the active examples are those of positive label; nothing changes.",
        "A typical draw: n = 4, d = 400. Rows are examples",
        "Computed for it by the theorem’s code: regime index H 13.1",
        "goes on changing after step 1, last at step 3; of positive label but inactive",
        "do not take its constants for the paper’s",
        "at n = 20: gap ‖w∞ − w⋆‖2, as geometric mean over trials, against n/‖λ‖1. Bars: one",
        "of the slope, 0.4973 [0.4958, 0.4988], lies within 0.5 ± 0.01, though it leaves out 0.5",
        "a tilt is how far the slope is from the claimed exponent, which the tolerance may allow. "
        "The dot farthest from the fitted line is off by 0.02 in natural log (curvature)",
        "No pattern changes after step 1; at the end 2 of 2 neurons shown are active on",
        "The worst draw, of the least margin in freezes: n = 4, d = 400. Rows are examples, "
        "columns steps; dark is active, that is, predicted positive by the neuron. 2 of its 16 "
        "neurons are shown, those that change latest.",
        "No margin lies left of zero, where a claim would be violated; freezes comes closest",
        "It passes 0.5 between 2 and 8 for n = 20 and between 4 and 16 for n = 50. The prediction "
        "is off by ",
        "on the assumption that the frequency never falls along the abscissa",
        "Marks on the diagonal mean that the predicted probability is the measured one: it is off "
        "by ",
        "and within the bounds, which are wide, in 5.",
        "It holds in 90 % of the trials in scope at 2 points, 1 of them without a value. Marks: "
        "share of the trials in scope in which it holds, cell by cell. Bars: exact bounds, each "
        "with confidence 99.95 %.",
        "The median is 1.02 to 1.05 at 4 points, and 5 % to 95 % of the trials lie in 0.816 to "
        "1.26. The prediction lies between these quantiles in 4 of 4 cells.",
        "where the trials suffice for one. Intervals are distribution-free",
    ):
        assert any(part in caption for caption in captions[1:]), f"no caption says {part!r}"
    drawn = [attrs for tag, attrs in Reader(page).elements if tag == "svg" and "role" in attrs]
    assert len(drawn) == len(captions) - 1 == 10
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
    page = render(report(verdicts=[verdict("scales", **rate)], rasters=[]))
    assert told in Reader(page.split("<figcaption>")[1].split("</figcaption>")[0]).words


@pytest.mark.parametrize(
    ("words", "controls", "state"),
    [
        (["supported"] * 3, ["refuted"] * 2, "All 3 claims supported; all 2 controls refuted, as"),
        (["certified"], ["refuted"], "Its claim is certified; its control refuted, as it must be."),
        (
            ["supported", "refuted", "vacuous"],
            ["refuted", "supported"],
            "Of 3 claims 1 supported, 1 refuted and 1 vacuous; only 1 of 2 controls refuted.",
        ),
        (["supported"] * 2, [], "All 2 claims supported; no controls."),
        ([], ["refuted"], "No claim checked; its control refuted, as it must be."),
    ],
)
def test_a_line_says_how_a_theorem_stands(words, controls, state):
    verdicts = [verdict(f"claim_{k}", word) for k, word in enumerate(words)]
    verdicts += [verdict(f"control_{k}", w, expected="refuted") for k, w in enumerate(controls)]
    page = render(report(verdicts=verdicts, rasters=[]))
    glance = page.split('<section id="glance">')[1].split("</section>")[0]
    assert state in Reader(glance).words
    assert state in Reader(page.split('<section id="theorems">')[1]).words
    beads = [attrs for tag, attrs in Reader(glance).elements if "bead" in attrs.get("class", "")]
    links = [attrs for attrs in beads if "href" in attrs]
    assert [attrs["aria-label"] for attrs in links] == [
        f"claim_{k}: {word}" for k, word in enumerate(words)
    ]


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ([], ["No claim is supported or certified.", "No claim is refuted.", "There are no contr"]),
        (
            [verdict("a"), verdict("b", lower_bound=0.9), verdict("c", lower_bound=None)],
            [
                "3 of 3 claims stand: no evidence against them, and enough for them.",
                "weakest, it is P ≥ 0.9000 (b).",
            ],
        ),
        (
            [verdict("a", kind="rate", lower_bound=None)],
            ["1 of 1 claims stands", "enough for it. What"],
        ),
        (
            [verdict("only", "refuted", counterexamples=[COUNTEREXAMPLE])],
            ["only is refuted; counterexamples stand with it."],
        ),
        ([verdict("rate", "refuted")], ["rate is refuted."]),
        (
            [verdict("one", "refuted", counterexamples=[COUNTEREXAMPLE]), verdict("b", "refuted")],
            ["one, b are refuted; counterexamples stand with 1 of them."],
        ),
        (
            [verdict(f"v{k}", "vacuous") for k in range(11)],
            ["want of evidence: v0, v1, v2, v3, v4, v5, v6, v7 and 3 more."],
        ),
        (
            [verdict("x", "refuted", expected="refuted")],
            ["The same checks refute the one statement that is false on purpose."],
        ),
    ],
    ids=["nothing", "holds", "unbounded", "fails", "rate", "fails twice", "open", "control"],
)
def test_the_answer_says_what_holds_what_does_not_and_how_sure(verdicts, told):
    page = render(report(verdicts=verdicts, rasters=[]))
    answer = Reader(page.split('<header id="answer"')[1].split("</header>")[0]).words
    for part in told:
        assert part in answer, f"{part!r} should be in {answer}"


def test_pages_open_at_theorems_claims_and_measures_by_their_names_too(pages):
    ids = Reader(pages["full"]).values("id")
    for kind, name in (("theorem", ""), ("claim", ".freezes"), ("measure", ".success")):
        assert f"{kind}-lai2026.theorem1{name}" in ids
        assert f"lai2026.theorem1{name}" in ids
    assert "chain-lai2026.theorem1" in ids


def test_a_name_that_is_taken_opens_what_took_it():
    assert aliases(["summary", "a b", "a~20b", "a b"], ["summary"]) == {
        "a b": "a~20b",
        "a~20b": "a~7E20b",
    }
    ids = Reader(render(report(theorems=[theorem("summary")]))).values("id")
    assert ids.count("summary") == 1
    assert "theorem-summary" in ids


def test_figures_stand_with_what_they_show(pages):
    page = pages["full"]
    for name, figures in (("likely", 0), ("scales", 1), ("freezes", 0), ("small_step", 1)):
        section = page[page.index(f'id="claim-lai2026.theorem1.{name}"') :].split("</article>")[0]
        assert section.count("<figure ") == figures, name
    for entry in full()["measures"]:
        section = page[page.index(f'id="measure-{entry["full_id"]}"') :].split("</article>")[0]
        assert section.count("<figure ") == 1, entry["measure"]
    numbers = [int(found) for found in re.findall(r"<b>Figure (\d+)\.</b>", page)]
    assert numbers == list(range(1, 11))


def test_a_report_of_ten_theorems_stays_small():
    made = large()
    page = render(made)
    assert len(made["theorems"]) == 10
    assert len(made["verdicts"]) == 120
    assert page.count("<figure ") >= 60
    assert len(page.encode()) < 3_000_000
    assert "All 100 claims in one table" in page


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
    ids = Reader(render(report(theorems=twice, verdicts=verdicts))).values("id")
    assert {"theorem-mine", "theorem-b.py", "claim-a.py::c", "claim-b.py::c"} <= set(ids)


def test_reports_of_another_version_are_refused():
    with pytest.raises(InputError, match="schema_version=2, expected 3"):
        render(report(schema_version=2))


def test_importing_the_report_is_light():
    code = (
        "import sys, reports.html.render; "
        "print([m for m in ('matplotlib', 'jinja2') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_anchors_are_safe_and_distinct():
    names = ["lai2026.theorem1", "a b", "a~20b", "a%20b", "é", "e", "<x>", 'a"b', "path/to.py::c"]
    found = [anchor("claim", name) for name in names]
    assert len(set(found)) == len(names)
    assert found[0] == "claim-lai2026.theorem1"
    assert found[-1] == "claim-path/to.py::c"
    safe = set("-._~/:@abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    assert set("".join(found)) <= safe


def test_sweeps_of_one_claim_say_once_how_they_are_drawn():
    plain = {**SLOPE, "band_low": [], "band_high": []}
    rate = {"kind": "rate", "cells": [], "slopes": [SLOPE, SLOPE, plain, plain], "hunted": None}
    page = render(report(verdicts=[verdict("scales", **rate)], rasters=[]))
    told = [Reader(part.split("</figcaption>")[0]).words for part in page.split("<figcaption>")[1:]]
    assert ["Drawn as in Figure" in caption for caption in told] == [False, True, False, True]
    assert "Drawn as in Figure 1." in told[1]
    assert "Drawn as in Figure 3." in told[3]
    assert all("dot farthest from the fitted line" in caption for caption in told)
