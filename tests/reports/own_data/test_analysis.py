"""The analysis of a researcher's own data: options, warnings and their reasons, both models."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.own_data.analysis import analyse
from reports.own_data.lines import told
from reports.own_data.page import render
from reports.own_data.request import Request, read
from reports.own_data.warnings import duplicates, warnings_of
from reports.own_data.words import margin_words
from verify.errors import InputError, TheoremError, UnknownName
from verify.relu.random_features import RandomFeatures, median_distance

EXAMPLE = Path(__file__).parents[3] / "examples" / "data"
TAME = Request(str(EXAMPLE / "features.csv"), str(EXAMPLE / "labels.csv"), positive="treated")


def request(folder: Path, X: Any, y: Any, **options: Any) -> Request:
    np.savez(folder / "data.npz", X=np.asarray(X, dtype=float), y=np.asarray(y, dtype=float))
    return Request(str(folder / "data.npz"), **options)


def with_options(asked: Request, **options: Any) -> Request:
    return Request(**{**vars(asked), **options})


def tame(n: int = 12, d: int = 600) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).normal(size=(n, d)), np.tile([1.0, -1.0], n // 2)


# Options ------------------------------------------------------------------------------------


def test_the_example_is_in_the_regime_and_has_no_warnings() -> None:
    found = analyse(TAME)
    assert found["exit_code"] == 0
    assert found["warnings"] == []
    assert found["theorems"] == ["lai2026.theorem1", "lai2026.theorem2"]
    assert found["descent"]["pattern_is_the_label_classes_from_step_one"] == "holds"
    assert "Warnings" not in told(found)
    assert "Features " not in told(found)


def test_rows_of_length_one_have_a_trace_of_one(tmp_path: Path) -> None:
    X, y = tame()
    asked = request(tmp_path, X * np.linspace(1, 9, 12)[:, None], y)
    assert any(w["kind"] == "unequal rows" for w in analyse(asked)["warnings"])
    found = analyse(with_options(asked, normalise_rows=True))
    assert found["data"]["trace"] == pytest.approx(1)
    assert found["normalise_rows"] is True
    assert not any(w["kind"] == "unequal rows" for w in found["warnings"])
    assert "rows scaled to length 1" in told(found)


def test_normalising_survives_any_size_of_numbers(tmp_path: Path) -> None:
    X, y = tame(4, 20)
    for size in (1e-49, 1e49):
        given = read(request(tmp_path, X * size, y, normalise_rows=True))
        np.testing.assert_allclose(np.diag(given.gram), 1.0, rtol=1e-12)


def test_a_row_of_zeros_has_no_direction(tmp_path: Path) -> None:
    X, y = tame()
    X[4] = 0
    with pytest.raises(InputError, match="has 1 row of zeros, row 5"):
        analyse(request(tmp_path, X, y, normalise_rows=True))


@pytest.mark.parametrize("lift", ["relu:500", "fourier:500", "fourier:500:7.5"])
def test_random_features_are_of_the_scaled_rows_and_recorded(lift: str) -> None:
    asked = with_options(TAME, lift=lift, seed=5, normalise_rows=True)
    found, given = analyse(asked), read(asked)
    norms = np.linalg.norm(read(TAME).examples, axis=1)
    X = read(TAME).examples / norms[:, None]
    np.testing.assert_allclose(given.gram, RandomFeatures.named(lift, 5).gram(X), atol=1e-9)
    assert found["data"]["dimension"] == 500
    recorded = found["random_features"]
    assert (recorded["number"], recorded["seed"], recorded["of_dimension"]) == (500, 5, 600)
    if lift == "relu:500":
        assert recorded["bandwidth"] is None
    elif lift == "fourier:500":
        assert recorded["bandwidth"] == pytest.approx(median_distance(X))
        assert "the median distance between two examples (seed 5)" in told(found)
    else:
        assert (recorded["bandwidth"], recorded["bandwidth_is"]) == (7.5, "given")


def test_a_narrow_gaussian_kernel_brings_data_into_the_regime() -> None:
    wide, narrow = (analyse(with_options(TAME, lift=f"fourier:10000{b}")) for b in ("", ":9"))
    assert wide["exit_code"] == 3
    assert [w["kind"] for w in wide["warnings"]] == ["small effective dimension"]
    assert "smaller bandwidth" in wide["warnings"][0]["try"]
    assert narrow["descent"]["global_minimum"] is True
    assert narrow["warnings"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"neurons": 3}, "--neurons 3"),
        ({"relative_step": 0.0}, "--step"),
        ({"relative_step": 1e-10}, "within 1e-9 and 1e9"),
        ({"start": 1e-60}, "within 1e-50 and 1e50"),
        ({"seed": -1}, "--seed=-1"),
        ({"start": -1.0}, "--start"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        with_options(TAME, **options)


def test_a_bad_lift_is_refused_before_files_are_read() -> None:
    with pytest.raises(InputError, match="try relu:10000"):
        analyse(Request("absent.csv", "absent.csv", lift="tanh"))


def test_the_analysis_is_json() -> None:
    found = analyse(with_options(TAME, lift="relu:100"))
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_nothing_is_drawn_beyond_a_run_that_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = tame()
    asked = request(tmp_path, X + 0.4, y, relative_step=0.1)
    found = analyse(asked)
    (neuron,) = found["patterns"]["neurons"]
    assert len(neuron["steps"]) - 1 == found["descent"]["last_flip"] + 12
    monkeypatch.setattr("reports.own_data.analysis.MAX_STEPS", 2)
    found = analyse(asked)
    assert found["descent"]["status"] == "undecided"
    assert found["sentence"].endswith("has not settled after 2 steps.")
    assert len(found["patterns"]["neurons"][0]["steps"]) == 3


def test_the_mean_share_is_that_of_the_columns(tmp_path: Path) -> None:
    X, y = tame()
    X += 0.7
    expected = 12 * (X.mean(axis=0) ** 2).sum() / (X**2).sum()
    found = analyse(request(tmp_path, X, y))
    assert found["data"]["share_of_common_mean"] == pytest.approx(expected)


# Theorems -----------------------------------------------------------------------------------

OWN = '''
from verify import Assumption, Margin, Point, Status, Theorem, Universal
from verify.arrays import to_numpy


def few_examples(trial):
    """There are at most {most} examples."""
    return Margin(trial.problem.examples, {most})


def diagonal_is_positive(trial):
    """Every example has a length."""
    print("thinking aloud")
    return Margin(0.0, to_numpy(trial.problem.gram)[0].diagonal().min())


def draw(point, generator, trials):
    raise NotImplementedError


theorem = Theorem(
    id="mine", title="Mine", citation="here", status=Status.FOLKLORE, draw=draw,
    simulate=lambda problem: None, cells=(Point(n=3),),
    claims=(Universal(diagonal_is_positive, given=(Assumption(few_examples),)),),
)
'''


@pytest.mark.parametrize(("most", "verdict", "code"), [(12, "certified", 0), (11, "vacuous", 3)])
def test_a_theorem_of_ones_own_is_examined_on_the_data(
    tmp_path: Path, most: int, verdict: str, code: int
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN.replace("{most}", str(most)))
    found = analyse(with_options(TAME, theorem=str(file)))
    assert found["theorems"] == ["mine"]
    (claim,) = found["claims"]
    assert (claim["id"], claim["conclusion"]) == ("diagonal_is_positive", verdict)
    assert found["exit_code"] == code
    assert claim["status"] == "F"
    assert {a["id"] for a in found["assumptions"]} == {"few_examples"}
    reason = " (violated: few_examples)" if verdict == "vacuous" else ""
    assert found["sentence"] == f"On these data: 1 of 1 claim of mine {verdict}{reason}."


def test_a_theorem_about_something_else_is_named() -> None:
    file = EXAMPLE.parent / "same_factor.py"
    with pytest.raises(TheoremError, match="same_factor"):
        analyse(with_options(TAME, theorem=str(file)))


@pytest.mark.parametrize(
    ("theorem", "neurons"),
    [
        ("lai2026.theorem3", 1),
        ("theorem1", 2),
        ("between.road", 2),
        ("boursier2022.fixed_signs", 2),
        ("vardi_shamir2021.theorem8", 2),
        ("vardi_shamir2021.theorem8_flow", 2),
    ],
)
def test_a_theorem_about_other_neurons_is_not_refuted_by_these(theorem: str, neurons: int) -> None:
    with pytest.raises(InputError, match=f"expected --neurons {3 - neurons}"):
        analyse(with_options(TAME, theorem=theorem, neurons=neurons))


def test_two_neurons_are_examined_by_the_theorems_about_two() -> None:
    found = analyse(with_options(TAME, neurons=2))
    assert found["theorems"] == ["lai2026.theorem3", "lai2026.theorem4"]
    assert found["exit_code"] == 0
    assert found["sentence"].startswith("From step one on each neuron is active exactly on")
    assert found["descent"]["global_minimum"] is True
    assert (found["descent"]["dead_negatives"], found["descent"]["active_positives"]) == (0, 0)
    best = found["comparator"]
    assert best["certified"]
    assert best["bracket"] == pytest.approx([best["norm"]] * 2, rel=1e-10)
    assert best["deductive_low"] <= best["gap"] <= best["deductive_high"]
    first, second = found["patterns"]["neurons"]
    assert (first["sign"], second["sign"]) == (1, -1)
    signs = ["".join("10"[y < 0] for y in found["patterns"]["labels"]) for _ in "x"]
    assert first["steps"][1:] == signs * (len(first["steps"]) - 1)
    text = told(found)
    assert "Model         two neurons, output signs +1 and −1" in text
    assert "√(n/‖λ‖₁)" in text
    assert "0 of 6 negatives end dead" in text


def test_two_neurons_outside_the_regime_have_a_bracket(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 60)) + 3.0 * rng.normal(size=60), np.tile([1.0, -1.0], 10)
    found = analyse(request(tmp_path, X, y, neurons=2))
    low, high = found["comparator"]["bracket"]
    assert 0 < low < high == pytest.approx(found["comparator"]["norm"], rel=1e-9)
    assert "the least norm of a global minimum is within" in told(found)
    assert found["descent"]["pattern_is_the_label_classes_from_step_one"] == "violated"
    assert not any(claim["conclusion"] == "refuted" for claim in found["claims"])


def test_an_unknown_theorem_is_refused() -> None:
    with pytest.raises(UnknownName):
        analyse(with_options(TAME, theorem="lai2026.theorem9"))


# Warnings -----------------------------------------------------------------------------------


def kinds(asked: Request) -> dict[str, dict[str, str]]:
    found = analyse(asked)
    text = told(found)
    for warning in found["warnings"]:
        assert set(warning) == {"kind", "reason", "try"}
        assert warning["reason"] in text
    return {warning["kind"]: warning for warning in found["warnings"]}


@pytest.mark.parametrize("decimals", [None, 3])
def test_centred_columns_are_warned_of(tmp_path: Path, decimals: int | None) -> None:
    """Also where a file has so few decimals that the Gram matrix is not quite singular."""
    X, y = tame()
    X -= X.mean(axis=0)
    X = X if decimals is None else X.round(decimals)
    asked = request(tmp_path, X, y)
    assert "rows sum to zero" in kinds(asked)["centred columns"]["reason"]
    assert (analyse(asked)["stopped"] is None) == (decimals is not None)


def test_too_few_columns_that_are_not_zero_are_counted(tmp_path: Path) -> None:
    X, y = tame()
    X[:, 9:] = 0.0
    assert "only 9 features are not zero in all 12" in analyse(request(tmp_path, X, y))["stopped"]


def test_duplicated_rows_are_named(tmp_path: Path) -> None:
    X, y = tame()
    X[5], X[9], X[10] = X[1], X[1], X[2]
    found = analyse(request(tmp_path, X, y))
    (warning,) = [w for w in found["warnings"] if w["kind"] == "duplicated rows"]
    assert "rows 2 = 6 = 10; 3 = 11 are equal" in warning["reason"]
    assert "different labels" not in warning["reason"]
    assert "3 rows are duplicates" in found["stopped"]
    y[9] = 1.0
    assert "different labels" in kinds(request(tmp_path, X, y))["duplicated rows"]["reason"]


def test_signs_of_zero_do_not_make_rows_different() -> None:
    assert duplicates(np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]])) == [[1, 2]]


def test_a_small_effective_dimension_gets_its_reason(tmp_path: Path) -> None:
    X, y = tame()
    shared = kinds(request(tmp_path, X + 2.0, y))["small effective dimension"]
    assert "common mean" in shared["reason"]
    assert "other examples" in shared["try"]
    few = X * np.where(np.arange(600) < 3, 30.0, 1.0)
    assert (
        "directions hold half"
        in (kinds(request(tmp_path, few, y))["small effective dimension"]["reason"])
    )
    loud = X * np.where(np.arange(600) == 6, 100.0, 1.0)
    warning = kinds(request(tmp_path, loud, y))["small effective dimension"]
    assert "column 7 alone makes" in warning["reason"]
    assert warning["try"] == "columns of equal scale"


def test_a_relu_lift_is_told_why_its_dimension_is_small() -> None:
    warning = kinds(with_options(TAME, lift="relu:2000"))["small effective dimension"]
    assert "never negative" in warning["try"]


def test_constant_columns_are_counted(tmp_path: Path) -> None:
    X, y = tame()
    X[:, [3, 8]], X[:, 5] = 0.0, 2.0
    reason = kinds(request(tmp_path, X, y))["constant columns"]["reason"]
    assert "3 of 600 given columns have one value in all rows (number 4, 6, 9)" in reason
    assert "2 are zero" in reason
    assert "1 adds the same number" in reason


def test_labels_that_the_theorems_do_not_want_are_warned_of(tmp_path: Path) -> None:
    X, y = tame()
    assert "3 of 12" in kinds(request(tmp_path, X, [0] * 3 + [1] * 9))["zero labels"]["reason"]
    assert (
        "all labels are positive"
        in kinds(request(tmp_path, X, [1] * 12))["one sign only"]["reason"]
    )
    few = kinds(request(tmp_path, X, [1] + [-1] * 11))["unbalanced labels"]
    assert "only 1 of 12 labels is positive" in few["reason"]
    wide = kinds(request(tmp_path, X, y * np.linspace(0.05, 1, 12)))
    assert "from 0.05 to 1" in wide["labels of very different size"]["reason"]


def test_whole_numbers_of_few_values_look_like_classes(tmp_path: Path) -> None:
    X, y = tame()
    warning = kinds(request(tmp_path, X, np.tile([1, 2, 7], 4)))["labels like classes"]
    assert "3 whole numbers (1, 2, 7)" in warning["reason"]
    assert "--positive" in warning["try"]
    for labels in (y, np.arange(1, 13), np.tile([1, 2, 7.5], 4)):
        assert "labels like classes" not in kinds(request(tmp_path, X, labels))


def test_unequal_rows_are_named(tmp_path: Path) -> None:
    X, y = tame()
    X[6] *= 9
    warning = kinds(request(tmp_path, X, y))["unequal rows"]
    assert warning["reason"].startswith("row 7 is ")
    assert warning["try"] == "--normalise-rows"


def test_a_row_of_zeros_is_named(tmp_path: Path) -> None:
    X, y = tame()
    X[6] = 0
    assert "row 7 is zero" in kinds(request(tmp_path, X, y))["unequal rows"]["reason"]


def test_bad_conditioning_names_the_rows(tmp_path: Path) -> None:
    X, y = tame()
    X[8] = X[3] + 1e-3 * X[8]
    reason = kinds(request(tmp_path, X, y))["bad conditioning"]["reason"]
    assert "rows 4 and 9" in reason


def test_warnings_change_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = tame()[0]
    asked = request(tmp_path, X + 0.1, [1] + [-1] * 11)
    found = analyse(asked)
    assert found["warnings"]
    monkeypatch.setattr("reports.own_data.analysis.warnings_of", lambda *_: [])
    silent = analyse(asked)
    assert {**found, "warnings": []} == silent


def test_tame_data_have_no_warnings(tmp_path: Path) -> None:
    """20 draws of data that the theorems are about."""
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(20, 4000))
        given = read(request(tmp_path, X, np.tile([1.0, -1.0], 10)))
        assert warnings_of(given, analyse(request(tmp_path, X, given.labels))["data"]) == []


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("normalise_rows", [False, True])
def test_row_numbers_among_the_features_are_told(
    tmp_path: Path, first: int, normalise_rows: bool
) -> None:
    X, y = tame()
    X[:, 7] = np.arange(12) + first
    found = analyse(request(tmp_path, X, y, normalise_rows=normalise_rows))
    (warning,) = (w for w in found["warnings"] if w["kind"] == "row numbers")
    assert warning["reason"].startswith("given column 8 counts the 12 rows")
    assert "index=False" in warning["try"]


def test_few_rows_and_other_counts_are_no_row_numbers(tmp_path: Path) -> None:
    X, y = tame()
    X[:, 7] = np.arange(12) + 2
    X[:, 8] = np.arange(12)[::-1]
    X[:, 9] = np.arange(12) / 2
    assert read(request(tmp_path, X, y)).row_numbers == ()
    X, y = tame(2)
    X[:, 0] = [0, 1]
    assert read(request(tmp_path, X, y)).row_numbers == ()


def test_one_column_row_or_label_is_no_plural(tmp_path: Path) -> None:
    X, y = tame()
    X[:, 5] = 2.0
    told_one = kinds(request(tmp_path, X, y))["constant columns"]["reason"]
    assert "1 of 600 given columns has one value" in told_one
    X[5] = X[1]
    found = analyse(request(tmp_path, X, y))
    assert found["stopped"].endswith("1 row is a duplicate; drop it")
    few = kinds(request(tmp_path, tame()[0], [0] + [1] * 11))
    assert "1 of 12 labels is 0" in few["zero labels"]["reason"]
    assert "1 zero label\n" in told(analyse(request(tmp_path, tame()[0], [0] + [1] * 11)))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({7: (-2.0, 3)}, "rows 4 and 8 are proportional; drop one of the two"),
        (
            {7: (-2.0, 3), 9: (0.5, 1)},
            "rows 2 and 10; 4 and 8 are proportional; drop one of each pair",
        ),
        ({7: (0.0, 3)}, "row 8 is zero; drop it"),
    ],
)
def test_dependent_rows_are_named(
    tmp_path: Path, changed: dict[int, tuple[float, int]], why: str
) -> None:
    X, y = tame()
    for row, (factor, other) in changed.items():
        X[row] = factor * X[other]
    stopped = analyse(request(tmp_path, X, y))["stopped"]
    assert stopped == f"The Gram matrix is singular, so there is no comparator: {why}"


def test_rows_that_are_combinations_of_others_are_named(tmp_path: Path) -> None:
    X, y = tame()
    X[6] = X[0] - 3 * X[4]
    stopped = analyse(request(tmp_path, X, y))["stopped"]
    assert stopped.endswith("row 7 is a combination of rows before it; drop it")
    X[8] = X[1] + X[2] + X[3]
    stopped = analyse(request(tmp_path, X, y))["stopped"]
    assert stopped.endswith("rows 7, 9 are combinations of rows before them; drop them")


def test_a_dimension_above_the_number_of_features_is_sampling_error(tmp_path: Path) -> None:
    X = np.random.default_rng(1).normal(size=(30, 20))
    reason = kinds(request(tmp_path, X, np.tile([1.0, -1.0], 15)))["small effective dimension"]
    assert "(above d = 20 by sampling error)" in reason["reason"]
    assert "of 20 directions hold half" in reason["reason"]


def test_a_margin_that_numerics_cannot_tell_is_a_dash(tmp_path: Path) -> None:
    found = analyse(TAME)
    found["claims"][0] |= {"margin": -2.4e109, "state": "unknown"}
    assert "e+109" not in told(found)
    assert "10¹⁰⁹" not in render(found)


# Numbers that are not finite ----------------------------------------------------------------

INFINITE = {
    "orthogonal": [1.0, -1.0, 0.5, -0.7],
    "and zero labels": [1.0, 0.0, 0.5, -0.7],
}


@pytest.mark.parametrize("neurons", [1, 2])
@pytest.mark.parametrize("options", [{}, {"relative_step": 3.0}, {"start": 1e10}])
@pytest.mark.parametrize("labels", INFINITE)
def test_orthogonal_features_have_an_infinite_dimension(
    tmp_path: Path, labels: str, options: dict[str, float], neurons: int
) -> None:
    found = analyse(request(tmp_path, 3 * np.eye(4), INFINITE[labels], neurons=neurons, **options))
    text, index = told(found), "∞" if labels == "orthogonal" else "–"
    assert found["data"]["d_2"] is found["data"]["regime_index_H"] is None
    assert "d_2 ≈ ∞ (plug-in; above d by sampling error)" in text
    assert f"H ≈ {index} (for" in text
    page = render(found)
    assert page.count("<dd>∞</dd>") == (2 if index == "∞" else 1)
    for written in (text, page, found["sentence"]):
        assert not re.search(r"\b(nan|inf|None)\b", written)


def test_a_margin_of_infinity_is_told_by_its_state() -> None:
    entry = {"margin": None, "state": "holds"}
    assert margin_words(entry, str) == "∞"
    assert margin_words({**entry, "state": "violated"}, str) == "−∞"
    assert margin_words({**entry, "state": "unknown"}, str) == "–"
    assert margin_words({**entry, "margin": 0.0}, str) == "0.0"


def test_margins_of_infinity_are_printed(tmp_path: Path) -> None:
    found = analyse(TAME)
    found["claims"][0] |= {"margin": None, "state": "violated"}
    found["assumptions"][0] |= {"margin": None, "state": "holds"}
    assert re.search(rf" −∞  {found['claims'][0]['id']}", told(found))
    assert re.search(r"holds +∞  ", told(found))
    assert 'class="number">−∞<' in render(found)
    assert 'class="number">∞<' in render(found)
