"""Another theorem than the built-in ones on a researcher's data: its own assumptions and claims,
and gradient descent only where that is what it runs; a user's may be about other problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from properties.catalogue import MODULES, find_theorem
from reports.new_theorem import write_new
from reports.own_data.analysis import analyse
from reports.own_data.lines import told
from reports.own_data.page import render
from reports.own_data.request import Request
from verify.errors import InputError, ReluVerifyError, TheoremError

EXAMPLES = Path(__file__).parents[3] / "examples"
RAISING = """
from verify import Margin, Point, Status, Theorem, Universal
from verify.errors import InputError


def draw(point, generator, trials):
    return generator.normal(size=trials)


def small(trial):
    \"\"\"It is small.\"\"\"
    {line}


theorem = Theorem(
    id="raising", title="Raising", citation="here", status=Status.FOLKLORE, draw=draw,
    simulate=lambda problem: None, cells=(Point(n=3),), claims=(Universal(small),),
)
"""


def message(theorem: Path, error: type[ReluVerifyError]) -> str:
    data = EXAMPLES / "data"
    request = Request(
        str(data / "features.csv"), str(data / "labels.csv"), None, "treated", theorem=str(theorem)
    )
    with pytest.raises(error) as caught:
        analyse(request)
    assert caught.type is error
    return str(caught.value)


@pytest.mark.parametrize("name", ["least_squares", "same_factor"])
def test_a_right_file_about_other_problems_is_not_told_to_be_corrected(name: str) -> None:
    file = EXAMPLES / f"{name}.py"
    told = message(file, TheoremError)
    assert "raised TypeError" in told
    assert "the Problem of verify.relu" in told
    assert f"`relu-verify run {file}`" in told
    assert "; correct it;" not in told


@pytest.mark.parametrize("neurons", [1, 2])
@pytest.mark.parametrize("theorem", MODULES)
def test_a_built_in_theorem_is_examined_or_refused_without_a_line_of_ours(
    theorem: str, neurons: int
) -> None:
    found, told = None, ""
    try:
        found = on_the_example(theorem, neurons)
    except InputError as reason:
        told = str(reason)
    assert found is not None or "about problems of its own" in told or "--neurons" in told, told
    assert ".py:" not in told
    assert "raised" not in told


@pytest.mark.parametrize("theorem", ["boursier2022.both_layers", "vardi_shamir2021.theorem3"])
def test_a_built_in_theorem_about_other_problems_says_so(theorem: str) -> None:
    with pytest.raises(InputError, match="about problems of its own") as caught:
        on_the_example(theorem)
    assert f"`relu-verify run {theorem}`" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("return Margin(trial.problem, 1.0)", TheoremError),
        ("return Margin(trial.problem.mean(), 1.0)", TheoremError),
        ("raise InputError('n=4, expected 3; take another')", InputError),
    ],
)
def test_whatever_a_theorem_raises_comes_with_the_remark(
    tmp_path: Path, line: str, error: type[ReluVerifyError]
) -> None:
    file = tmp_path / "raising.py"
    file.write_text(RAISING.format(line=line))
    told = message(file, error)
    assert "raising.py:" in told
    assert "problems of another type" in told


def on_the_example(theorem: str, neurons: int = 1) -> dict[str, Any]:
    data = EXAMPLES / "data"
    files = str(data / "features.csv"), str(data / "labels.csv")
    return analyse(Request(*files, positive="treated", theorem=theorem, neurons=neurons))


def own_assumptions(theorem: str) -> set[str]:
    claims = find_theorem(theorem).claims
    return {assumption.id for claim in claims for assumption in claim.given}


def test_a_run_that_is_no_plain_descent_is_not_described_as_one(tmp_path: Path) -> None:
    file = write_new(str(tmp_path / "my_leaky.py"), "leaky")
    found = on_the_example(str(file))
    assert not {"descent", "patterns", "comparator"} & set(found)
    assert {a["id"] for a in found["assumptions"]} == own_assumptions(str(file))
    text, page = told(found), render(found)
    for written in (text, page):
        assert "Gradient descent" not in written
        assert "Prediction" not in written
        assert "minimum norm ‖w⋆‖" not in written
        assert "pattern-0" not in written
    assert "as stated" not in found["sentence"]
    assert "limit_is_the_nearest_zero_loss_point" in text


def on(folder: Path, X: Any, y: Any, theorem: Path, **options: Any) -> dict[str, Any]:
    np.savez(folder / "data.npz", X=np.asarray(X, dtype=float), y=np.asarray(y, dtype=float))
    return analyse(Request(str(folder / "data.npz"), theorem=str(theorem), **options))


def tame(n: int = 12, d: int = 600) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).normal(size=(n, d)), np.tile([1.0, -1.0], n // 2)


# Runs of the theorem's own ------------------------------------------------------------------


def test_leaky_descent_is_told_without_the_comparator(tmp_path: Path) -> None:
    file = write_new(str(tmp_path / "my_leaky.py"), "leaky")
    found = on_the_example(str(file))
    run, text, page = found["own_run"], told(found), render(found)
    assert (run["status"], run["slope_below"]) == ("certified", 0.2)
    line = f"leaky ReLU descent (γ = 0.2): certified at step {run['steps']}; last change of pattern"
    assert f"Descent       {line} at step {run['last_flip']}" in text
    assert f"leaky ReLU descent (γ = 0.2) settles (certified at step {run['steps']})" in text
    assert "What the theorem runs" in page
    assert "Comparator" not in text


def test_an_undecided_run_of_the_theorems_own_says_why(tmp_path: Path) -> None:
    file = write_new(str(tmp_path / "my_leaky.py"), "leaky")
    X, y = tame()
    unstable = on(tmp_path, X, y, file, relative_step=5.0)
    why = "and the step is too large for the last pattern (η·λ_max = "
    for written in (told(unstable), render(unstable), unstable["sentence"]):
        assert why in written
    file.write_text(file.read_text().replace("max_steps=10_000", "max_steps=3"))
    slow = on(tmp_path, X + 0.4, y, file, relative_step=0.1)
    assert slow["own_run"]["status"] == "undecided"
    assert "undecided: no certificate after 3 steps; last change" in told(slow)
    assert slow["sentence"].endswith("is undecided: no certificate after 3 steps.")


def test_a_diverged_run_of_the_theorems_own_says_why(tmp_path: Path) -> None:
    file = write_new(str(tmp_path / "my_leaky.py"), "leaky")
    found = on(tmp_path, *tame(), file, relative_step=1e6)
    assert found["own_run"]["status"] == "diverged"
    assert "the step is too large" in told(found)
    assert "diverged within" in found["sentence"]
    assert "refuted" in told(found).split("Claims")[1], "judged where it got to"


def test_a_theorem_that_looks_at_no_run_has_no_line_on_one() -> None:
    found = on_the_example("gram_concentration")
    assert found["own_run"] is None
    assert "Descent" not in told(found)
    assert "What the theorem runs" not in render(found)


# Singular data ------------------------------------------------------------------------------


def repeated() -> tuple[np.ndarray, np.ndarray]:
    X, y = tame()
    X[6] = X[2]
    return X, y


def tall() -> tuple[np.ndarray, np.ndarray]:
    return tame(12, 7)


def centred() -> tuple[np.ndarray, np.ndarray]:
    X, y = tame()
    return X - X.mean(axis=0), y


@pytest.mark.parametrize("neurons", [1, 2])
@pytest.mark.parametrize("data", [repeated, tall, centred])
def test_a_theorem_is_examined_on_singular_data(tmp_path: Path, data: Any, neurons: int) -> None:
    file = write_new(str(tmp_path / "my_leaky.py"), "leaky")
    if neurons == 2:
        file.write_text(file.read_text().replace("draw=draw", "draw=lambda *_: None"))
    found = on(tmp_path, *data(), file, neurons=neurons)
    assert found["stopped"] is None
    assert found["exit_code"] == 3
    assert {claim["conclusion"] for claim in found["claims"]} == {"vacuous"}
    assert "(violated: examples_are_independent)" in found["sentence"]
    (warning,) = [w for w in found["warnings"] if w["kind"] == "singular Gram matrix"]
    assert "there is no comparator and no gap" in warning["reason"]
    attained = found["start_had"] is None
    assert attained == (data is repeated)
    assert ("no weights have the start asked for" in warning["reason"]) != attained
    assert ("that can be attained" in told(found)) != attained
    assert ("that can be attained" in render(found)) != attained


@pytest.mark.parametrize("data", [repeated, tall, centred])
def test_plain_descent_is_described_on_singular_data_without_its_comparator(
    tmp_path: Path, data: Any
) -> None:
    file = write_new(str(tmp_path / "plain.py"), "relu")
    text = file.read_text()
    found = on(tmp_path, *data(), file)
    if found["stopped"] is None:
        assert found["comparator"] is None
        assert "Comparator    none: the Gram matrix is singular" in told(found)
        assert "none: the Gram matrix is singular" in render(found)
    else:
        assert "minimum_norm" in text


def test_a_theorem_that_refuses_singular_data_ends_as_the_built_in_ones(tmp_path: Path) -> None:
    file = tmp_path / "asks.py"
    file.write_text(
        RAISING.replace("{line}", "return Margin(minimum_norm(trial.problem).norm, 9.0)").replace(
            "from verify.errors", "from verify.relu import minimum_norm\nfrom verify.errors"
        )
    )
    assert on(tmp_path, *tame(), file)["stopped"] is None
    for theorem in (file, Path("lai2026.theorem1")):
        found = on(tmp_path, *repeated(), theorem)
        assert found["exit_code"] == 2
        assert found["stopped"].endswith("1 row is a duplicate; drop it")
        assert "claims" not in found


def test_a_claim_that_solves_with_a_singular_matrix_is_undecided(tmp_path: Path) -> None:
    file = tmp_path / "solves.py"
    line = "np.linalg.inv(np.zeros((2, 2))); return Margin(0.0, 1.0)"
    file.write_text("import numpy as np\n" + RAISING.replace("{line}", line))
    found = on(tmp_path, *repeated(), file)
    (claim,) = found["claims"]
    assert (claim["conclusion"], claim["state"], found["exit_code"]) == ("undecided", "unknown", 3)
    assert "undecided             –" in told(found)
    with pytest.raises(TheoremError, match="LinAlgError"):
        on(tmp_path, *tame(), file)


def test_a_mistake_in_a_theorem_is_told_on_singular_data_too(tmp_path: Path) -> None:
    file = tmp_path / "raising.py"
    file.write_text(RAISING.replace("{line}", "return trial.nothing"))
    with pytest.raises(TheoremError, match=r"raising\.py:"):
        on(tmp_path, *repeated(), file)


# Neurons ------------------------------------------------------------------------------------


def test_a_theorem_of_ones_own_about_other_neurons_is_refused(tmp_path: Path) -> None:
    one = write_new(str(tmp_path / "one.py"), "leaky")
    with pytest.raises(InputError, match=r"1 neuron of sign \+1, expected --neurons 1, which"):
        on_the_example(str(one), 2)
    two = tmp_path / "two.py"
    two.write_text(
        one.read_text().replace(
            'relative_step=point["c"])', 'relative_step=point["c"], signs=(1, -1))'
        )
    )
    with pytest.raises(InputError, match="2 neurons of signs \\+1, −1, expected --neurons 2"):
        on_the_example(str(two), 1)
    assert on_the_example(str(two), 2)["neurons"] == 2
    two.write_text(two.read_text().replace("signs=(1, -1)", "signs=(1, 1, -1)"))
    for neurons in (1, 2):
        with pytest.raises(InputError, match=r"3 neurons of signs .*`relu-verify run "):
            on_the_example(str(two), neurons)


def test_a_theorem_about_several_widths_is_examined_at_each_of_them(tmp_path: Path) -> None:
    file = write_new(str(tmp_path / "wide.py"), "leaky")
    signs = 'signs=(1, -1) if point["n"] == 20 else (1,))'
    file.write_text(
        file.read_text().replace('relative_step=point["c"])', f'relative_step=point["c"], {signs}')
    )
    for neurons in (1, 2):
        assert on_the_example(str(file), neurons)["neurons"] == neurons


def test_a_theorem_whose_draws_tell_nothing_is_examined(tmp_path: Path) -> None:
    file = write_new(str(tmp_path / "my_leaky.py"), "leaky")
    file.write_text(file.read_text().replace("draw=draw", "draw=lambda *_: 1 / 0"))
    assert on_the_example(str(file), 2)["neurons"] == 2


def test_a_theorem_without_assumptions_keeps_its_claims_on_the_page(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    line = "return Margin(trial.problem.labels.max(axis=-1), 2.0)"
    file.write_text(RAISING.replace("{line}", line))
    found = on_the_example(str(file))
    assert "Assumptions   none" in told(found)
    assert found["sentence"] == "On these data: 1 of 1 claim of raising certified."
    page = render(found)
    assert "has none." in page
    assert 'data-label="Verdict"' in page


@pytest.mark.parametrize("theorem", ["frei2023.proposition3", "gram_concentration"])
def test_a_theorem_without_training_is_told_without_descent(theorem: str) -> None:
    found = on_the_example(theorem)
    assert "descent" not in found
    assert {a["id"] for a in found["assumptions"]} == own_assumptions(theorem)
    assert "step_is_stable" not in told(found)
    assert "descent" not in found["sentence"]


def test_vacuous_claims_are_counted_with_what_is_violated() -> None:
    found = on_the_example("vardi_shamir2021.theorem8")
    vacuous = [claim for claim in found["claims"] if claim["conclusion"] == "vacuous"]
    assert vacuous
    assert len(vacuous) < len(found["claims"])
    said = f"{len(vacuous)} of {len(found['claims'])} claims of vardi_shamir2021.theorem8 vacuous"
    violated = [a["id"] for a in found["assumptions"] if a["state"] == "violated"]
    assert said in found["sentence"]
    assert f"violated: {', '.join(violated)}" in found["sentence"]
    assert "gradient descent settles" in found["sentence"]
    assert found["descent"]["status"] == "certified"


def test_a_changed_run_of_descent_is_no_plain_descent(tmp_path: Path) -> None:
    file = write_new(str(tmp_path / "slower.py"), "relu")
    assert on_the_example(str(file))["descent"]["status"] == "certified"
    file.write_text(
        file.read_text()
        .replace("simulate=descend,", "simulate=slower,")
        .replace(
            "\ntheorem = Theorem(",
            "\ndef slower(problem):\n"
            "    return descend(replace(problem, step_size=problem.step_size / 64))\n\n\n"
            "theorem = Theorem(",
        )
        .replace("\nfrom verify", "\nfrom dataclasses import replace\nfrom verify", 1)
    )
    assert "simulate=slower" in file.read_text()
    found = on_the_example(str(file))
    assert "descent" not in found
    assert "Descent       the theorem's own descent on ReLU neurons: certified" in told(found)


def test_a_refuted_claim_is_told_first(tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text(
        RAISING.replace("{line}", "return Margin(trial.problem.labels.max(axis=-1), 2.0)").replace(
            "claims=(Universal(small),)",
            "claims=(Universal(small), Universal(small, name='again'), Universal(large))",
        )
    )
    text = file.read_text().replace(
        "\ntheorem = Theorem(",
        "\ndef large(trial):\n"
        '    """It is large."""\n'
        "    return Margin(9.0, trial.problem.labels.max(axis=-1))\n\n\ntheorem = Theorem(",
    )
    file.write_text(text)
    found = on_the_example(str(file))
    assert found["sentence"] == "On these data: 1 of 3 claims of raising refuted, 2 certified."
    assert found["exit_code"] == 1
