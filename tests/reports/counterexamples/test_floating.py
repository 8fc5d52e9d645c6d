"""What is told of counterexamples that are known in floating point alone, as users' theorems have
them: the problem, and both sides of the inequality."""

import re
import shutil
from dataclasses import replace

import pytest

from properties.catalogue import find_theorem
from properties.seeking import Sought, seek
from reports.counterexamples.compare import compared
from reports.counterexamples.latex import latex
from reports.counterexamples.publish import publish
from reports.counterexamples.readable import readable
from reports.new_theorem import TEMPLATES
from reports.searching.files import published
from tests.reports.counterexamples.typesetting import typeset
from verify import Margin, Universal, load_file
from verify.confirm import confirm
from verify.counterexample import SIDES, captured

SIDES_CLAIM = "sides_are_those_of_the_labels_from_step_one"
SMALL = {
    "values": {
        "n": 2, "diagonal": [3, 1], "column": [0, 0], "labels": [-1, -1], "start": [4, 2], "c": 16,
    }
}  # fmt: skip


def template(kind):
    """Return the theorem of a template."""
    return load_file(TEMPLATES / f"{kind}.py")


@pytest.fixture(scope="module")
def leaky():
    return template("leaky")


@pytest.fixture(scope="module")
def example(leaky):
    return captured(leaky, leaky.claim(SIDES_CLAIM), "small", SMALL, -1.0)


def test_the_block_has_the_problem_in_exact_numbers_and_in_floating_point(example, leaky):
    text = latex(example, leaky)
    entered, _, rest = text.partition("In floating point:")
    assert "n = 2" in entered
    assert r"\text{diagonal} = \begin{bmatrix} 3 \\ 1 \end{bmatrix}" in entered
    assert r"y = \begin{bmatrix} -1 \\ -1 \end{bmatrix}" in entered
    assert r"\begin{bmatrix} \tfrac{1}{4} \\ \tfrac{1}{8} \end{bmatrix}" in entered, "β⁰, not 16ths"
    assert "c = 1" in entered
    assert r"X = \begin{bmatrix} 3 & 0 & 0 \\ 0 & 1 & 0 \end{bmatrix}" in rest
    assert r"\beta^{(0)} = X w_0 =" in rest
    assert r"\eta \approx 0.1" in rest
    assert "y =" not in rest, "it is among the exact numbers"
    assert "gram" not in rest, "the features are told"


def test_a_matrix_of_one_row_is_no_column_and_neurons_have_a_column_each(example, leaky):
    facts = {"features": [[0.0, -1.0]], "starting_predictions": [[1.0, 2.0], [3.0, 4.0]]}
    text = latex(replace(example, facts=facts), leaky)
    assert r"X = \begin{bmatrix} 0 & -1 \end{bmatrix}" in text
    assert r"_{k = 1, \ldots, 2} = \begin{bmatrix} 1 & 3 \\ 2 & 4 \end{bmatrix}" in text


def test_the_block_has_the_violated_inequality_and_its_sides(example, leaky):
    text = latex(example, leaky)
    assert "Known in floating point, with margin $-1$" in text
    assert r"1 \not\le 0." in text
    _, _, held = text.partition("These assumptions hold in floating point, beyond rounding:")
    assert r"\item \texttt{examples\_\allowbreak are\_\allowbreak independent}" in held


def test_what_was_dropped_is_said(example, leaky):
    name = "examples_are_independent"
    text = latex(replace(example, without=(name,)), leaky)
    assert "Dropped:" in text
    assert r"\item \texttt{examples\_\allowbreak are" in text.partition("Dropped:")[2]


def test_the_text_has_fractions_and_the_sides(example, leaky, tmp_path):
    text = publish(example, tmp_path, "it", leaky).text.read_text(encoding="utf-8")
    told = " ".join(text.split())
    assert "Of the numbers n=2: diagonal=(3, 1), column=(0, 0), y=(-1, -1), β⁰=(1/4, 1/8), c=1" in (
        told
    )
    assert "Violated in floating point: left ≤ right\n  1  >  0\n" in text
    assert "Of the integers n=2" in readable(example, "it.json"), "without the theorem, as recorded"


def test_of_what_is_drawn_point_and_seed_are_told_and_data_that_have_room(leaky):
    recipe = {"point": {"n": 2, "d": 100, "c": 0.5}, "seed": 7}
    example = captured(leaky, leaky.claim(SIDES_CLAIM), "seeded", recipe, -1.0)
    text = latex(example, leaky)
    assert "Drawn at c=0.5, d=100, n=2 (seed=7)." in text
    assert "exact" not in text
    assert r"G = XX^{\top} \approx" in text or r"X \approx" not in text
    for name in ("y", r"\beta^{(0)} = X w_0", r"\eta"):
        assert re.search(rf"{re.escape(name)} (=|\\approx) ", text), name


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"wide": [[0.5] * 30] * 2}, r"Not shown here, and in its record: \texttt{wide}."),
        ({"ragged": [[1, 2], [3]]}, r"in its record: \texttt{ragged}."),
        ({"cube": [[[1, 2]]]}, r"in its record: \texttt{cube}."),
        ({"open": [1.0, None]}, r"in its record: \texttt{open}."),
        ({"why": "it is 50% off."}, r"why: it is 50\% off."),
        ({"big": [[0.5] * 12] * 2}, r"\setcounter{MaxMatrixCols}{12}"),
        ({"squared_lengths": [0.5]}, r"\text{squared lengths} = \begin{bmatrix} \tfrac{1}{2} "),
        ({"features": [1.0, 2.0], "starting_predictions": 1.0}, "X = "),
    ],
)
def test_facts_of_any_kind_are_told(example, leaky, facts, told):
    assert told in latex(replace(example, facts=facts), leaky)


@pytest.mark.parametrize("facts", [{}, {"nothing": None, "none": [], "map": {"a": 1}, SIDES: 3}])
def test_without_facts_the_exact_numbers_are_left(example, leaky, facts):
    text = latex(replace(example, facts=facts), leaky)
    assert "In floating point:" not in text
    assert "Known in floating point, with margin $-1$." in text
    assert "Violated in floating point" not in readable(replace(example, facts=facts), "it.json")


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        (2, 0.0, {"left": 2.0, "right": 0.0}),
        (1 + 1e-12, 1, {"left": 1 + 1e-12, "right": 1.0}),
        (2**60 + 1, 2**60, None),
        (float("inf"), 0.0, None),
    ],
)
def test_both_sides_are_a_fact_where_floating_point_has_them(leaky, left, right, told):
    def claimed(trial):
        """It is claimed."""
        return Margin(left, right)

    theorem = replace(leaky, claims=(Universal(claimed),), controls=())
    example = captured(theorem, theorem.claims[0], "small", SMALL, -1.0)
    assert example.facts.get(SIDES) == told
    if told is not None and left < 2:
        assert r"1.0000000000010001 \not\le 1." in latex(example, theorem)


def test_of_a_record_without_sides_nothing_else_comes_out(example, leaky):
    older = replace(example, facts={n: f for n, f in example.facts.items() if n != SIDES})
    for one in (example, older):
        found = compared(leaky, one, confirm(leaky, one))
        assert not found.other
    other = replace(example, facts={**example.facts, SIDES: {"left": 3.0, "right": 0.0}})
    assert compared(leaky, other, confirm(leaky, other)).other == (
        "facts.sides.left: stored 3.0, today 1.0",
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed here")
def test_blocks_of_users_theorems_compile_in_a_bare_article(example, leaky, tmp_path):
    blocks = [latex(example, leaky)]
    wide = {"wide": [[0.5] * 30] * 2, "why": "50%", "big": [[0.1] * 12] * 2, "d_2": 1e-9}
    blocks.append(latex(replace(example, facts=wide, without=("examples_are_independent",)), leaky))
    for kind in ("relu", "leaky", "flow", "both_layers"):
        theorem = template(kind)
        for control in theorem.controls:
            found = seek(Sought(theorem, theorem.claim(control.id)), examples=10)
            blocks += [latex(one, theorem) for _, one in published(found)]
    for name, claim in (("between.road", 0), ("vardi_shamir2021.theorem3", 0)):
        theorem = find_theorem(name)
        control = theorem.controls[claim]
        point = dict(theorem.cells[0]) if theorem.cells else {}
        recipe = {"point": {**point}, "root_seed": 0, "block": 0, "trial": 0}
        one = captured(theorem, theorem.claim(control.id), "drawn", recipe, -1.0, "")
        blocks.append(latex(one, theorem))
    assert len(blocks) >= 8
    said = typeset(blocks, tmp_path)
    overfull = re.findall(rb"Overfull \\hbox \((\d+)", said)
    assert all(int(points) < 30 for points in overfull), said[-3000:]
