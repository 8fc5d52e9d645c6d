"""What the text and the LaTeX of a counterexample say of ends, assumptions, rates and sources."""

import re
import shutil
from dataclasses import replace

import pytest

from properties.catalogue import find_theorem
from properties.seeking import Sought, seek
from reports.counterexamples.latex import latex
from reports.counterexamples.network import network_of
from reports.counterexamples.readable import TRIED, readable
from reports.searching.files import published
from tests.properties.checkers.records import DOUBLING, FREEZING, GAP, confirmed
from tests.reports.counterexamples.typesetting import typeset
from verify.counterexample import captured
from verify.errors import UnknownName


def small(features, labels, start, c):
    """Return the recipe of a small problem."""
    sizes = {"n": len(features), "d": len(features[0])}
    return {"values": {**sizes, "features": features, "labels": labels, "start": start, "c": c}}


TWO = small([[1, 0], [0, 1]], [1, -1], [8, 8], 16)
FROZEN = small([[1, 1], [1, 0]], [2, -2], [1, 1], 16)
ONE = small([[1]], [-1], [1], 8)
GAP_FOUND = confirmed(*GAP, TWO).example
FREEZING_FOUND = confirmed(*FREEZING, FROZEN).example
DOUBLING_FOUND = confirmed(*DOUBLING, ONE).example
DRAWN = confirmed(*GAP, {"point": {"n": 4, "d": 50.0, "c": 0.5}, "seed": 1}, "seeded").example


def block(example):
    """Return the LaTeX of an example of a built-in theorem."""
    return latex(example, find_theorem(example.theorem))


def severe(example):
    """Return an example with its severity."""
    theorem = find_theorem(example.theorem)
    claim = theorem.claim(example.claim)
    found = captured(theorem, claim, example.kind, example.recipe, -1.0, "", example.without)
    return replace(example, severity=found.severity)


# where descent ends


def test_the_text_has_the_limit_and_the_comparator_as_weights():
    assert "\nw_∞ = 1  -1\nw⋆ = 1  0\n" in readable(GAP_FOUND, "it.json")
    assert "\nw_0 = 1/16\nw_∞ = -15/32\nw̃ = 0\n" in readable(DOUBLING_FOUND, "it.json")


def test_the_block_has_the_limit_and_the_comparator_as_weights():
    text = block(GAP_FOUND)
    assert r"w_{\infty} = \begin{bmatrix} 1 \\ -1 \end{bmatrix}" in text
    assert r"w^{\star} = \begin{bmatrix} 1 \\ 0 \end{bmatrix}" in text
    text = block(DOUBLING_FOUND)
    assert r"w_{\infty} = \begin{bmatrix} -\tfrac{15}{32} \end{bmatrix}" in text
    assert r"\tilde{w} = \begin{bmatrix} 0 \end{bmatrix}" in text


def test_without_features_or_with_parts_outside_the_span_predictions_are_told():
    assert DRAWN.exact["problem"]["features"] is None
    assert re.search(r"^Xw_∞ = ≈-0.264879 ", readable(DRAWN, "it.json"), re.M)
    assert r"X w_{\infty} \approx \begin{bmatrix} -0.264879 " in block(DRAWN)
    problem = {**GAP_FOUND.exact["problem"], "outside": [["1/9"]]}
    outside = replace(GAP_FOUND, exact={**GAP_FOUND.exact, "problem": problem})
    assert "\nXw_∞ = 1  -1\n" in readable(outside, "it.json")


def test_the_weights_are_those_that_the_claim_compares():
    """‖w_∞ − w⋆‖² is the claim's left side, of a problem whose features are no unit vectors."""
    found = confirmed(*GAP, small([[1, 2, 0], [0, 1, -3]], [3, -2], [1, 2], 12)).example
    network = network_of(found.exact)
    (limit,), (best,) = map(network.vectors, (network.limit_duals, network.comparator_duals))
    apart = sum((a - b) ** 2 for a, b in zip(limit, best, strict=True))
    assert str(apart) == found.exact["claim"]["left"]
    assert apart != 0


def test_claims_without_comparator_have_no_ends():
    assert "w_∞ =" not in readable(FREEZING_FOUND, "it.json")
    assert r"\infty} =" not in block(FREEZING_FOUND)


def test_a_matrix_wider_than_a_line_is_told_some_columns_at_a_time():
    point = {"point": {"n": 8, "d": 50_000.0, "c": 0.5}, "seed": 1}
    text = block(confirmed(*GAP, point, "seeded").example)
    parts = re.findall(
        r"G_\{\\cdot, (\d+) \\ldots (\d+)\} \\approx \\begin\{bmatrix\} (.*?) \\\\", text
    )
    ends = [(int(first), int(last)) for first, last, _ in parts]
    assert len(ends) > 1
    assert [i for first, last in ends for i in range(first, last + 1)] == list(range(1, 9))
    assert [row.count("&") + 1 for *_, row in parts] == [b - a + 1 for a, b in ends]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed here")
def test_no_line_is_too_long_for_an_article(tmp_path):
    points = [{"point": {"n": n, "d": 50_000.0, "c": 0.5}, "seed": 1} for n in (6, 12)]
    wide = [confirmed(*GAP, point, "seeded").example for point in points]
    blocks = map(block, [GAP_FOUND, FREEZING_FOUND, DOUBLING_FOUND, DRAWN, *wide])
    said = typeset(blocks, tmp_path)
    assert b"Overfull" not in said


# assumptions


def test_sides_have_names_and_one_unit():
    text = readable(severe(FREEZING_FOUND), "it.json")
    for line in (
        "  Out of scope: dimension_is_high\n",
        "  labels_are_bounded: min|y| = 2 ≥ ½ max|y| = 1\n",
        "  step_is_bounded_above: ητ = 1 ≤ 6/5\n",
        "  dimension_is_high: d = 2 where ≥ 5000 n = 10000 is required\n",
        "  start_is_in_the_span: ‖w_0^⊥‖² τ = 0 ≤ 10⁻¹⁶\n",
    ):
        assert line in text
    assert ", by 1" not in text


def test_what_was_dropped_and_holds_is_said_to():
    without = ("dimension_is_high", "both_signs_occur")
    two = small([[1, 0], [0, 1]], [2, -2], [1, 1], 16)
    held = confirmed(GAP[0], GAP[1], without, two).example
    assert "both_signs_occur: min(n₊, n₋) = 1 ≥ 1, holds all the same\n" in readable(held, "a.json")


def test_the_block_has_assumptions_by_their_sentences():
    text = block(FREEZING_FOUND)
    held, _, rest = text.partition("in floating point, beyond rounding, and have no exact form:")
    floating, _, dropped = rest.partition("Dropped:")
    assert "The labels are bounded, and away from zero" in held
    assert "= 2$ $\\ge$" in held
    assert "The features' entries are sub-Gaussian" in floating
    assert "\\ensuremath{d} $= 2$, where $\\ge$ 5000 \\ensuremath{n} $= 10000$" in dropped
    with pytest.raises(UnknownName, match="no assumption 'start_is_positive'"):
        latex(FREEZING_FOUND, find_theorem(DOUBLING[0]))


def test_the_block_names_its_source_and_numbers_are_no_computer_output():
    for example in (GAP_FOUND, FREEZING_FOUND, DOUBLING_FOUND, DRAWN):
        text = block(example)
        assert "arXiv" in text
        assert not re.search(r"\de[+-]?\d|= ?\{?\\approx|\\not\\le \{?\\approx", text), text
    assert r"\eta \approx 0.01" in block(DRAWN)
    assert r"0.00329703 \not\le 5.06097 \cdot 10^{-14} \ (\approx)" in block(DRAWN)


def test_lines_of_a_matrix_with_fractions_are_further_apart():
    text = block(confirmed(*GAP, small([[1, 0], [0, 1]], [1, -1], [1, 1], 8)).example)
    matrix = r"\begin{bmatrix} \tfrac{1}{16} \\ \tfrac{1}{16} \end{bmatrix}"
    assert rf"{{\renewcommand{{\arraystretch}}{{1.4}}{matrix}}}" in text
    assert r"X = \begin{bmatrix}" in text


def test_of_a_control_the_inequality_is_told_and_not_its_ensemble():
    name = "never_increases_at_a_longer_step"
    theorem = find_theorem(DOUBLING[0])
    assert "2.2" in theorem.claim(name).statement
    found = confirmed(DOUBLING[0], name, (), small([[1]], [1], [1], 40)).example
    text = block(found)
    assert "2.2" not in text
    assert "a control that is known to be false" in text
    assert "is violated:" in text


# rates


def test_a_searched_problem_says_what_was_tried_in_place_of_a_rate():
    theorem = find_theorem(DOUBLING[0])
    sought = Sought(theorem, theorem.claim(DOUBLING[1]), DOUBLING[2])
    found = seek(sought, examples=40)
    ((_, example), *_) = published(found)
    place = found.efforts[0]
    assert place.where == "n=1, d=1"
    assert example.facts[TRIED] == {
        "where": "n=1, d=1",
        "in_scope": place.in_scope,
        "violated": place.violated,
    }
    text = " ".join(readable(example, "it.json").split())
    assert (
        f"Small problem: no law, so no rate; {place.violated} of the {place.in_scope} problems of "
        "this size (n=1, d=1) that were tried in scope violate it" in text
    )
    start = example.recipe["values"]["start"]
    assert 0 not in start, "a start at the kink, where w_0 may be a minimum already"


def test_where_steps_led_to_it_that_is_said():
    tried = {"where": "n=2, d=2", "in_scope": 2, "violated": 0}
    example = replace(severe(FREEZING_FOUND), facts={TRIED: tried})
    text = " ".join(readable(example, "it.json").split())
    assert "0 of the 2 problems" in text
    assert "beyond rounding, but steps from others led to this one" in text
    assert "no law, so no rate\n" in readable(replace(example, facts={TRIED: 3}), "it.json")


@pytest.mark.parametrize("name", ["final", "comparator"])
@pytest.mark.parametrize("value", [None, [], {"name": "minimum_norm"}, {"duals": [["1"]]}])
def test_ends_that_are_not_recorded_are_not_told(name, value):
    example = replace(GAP_FOUND, exact={**GAP_FOUND.exact, name: value})
    text = readable(example, "it.json")
    assert "225/1024" in text or "1  >  10⁻¹²" in text
    assert ("w⋆ =" in text) == (name == "final")
    assert "w_∞ =" not in text
    assert "begin{itemize}" in block(example)
