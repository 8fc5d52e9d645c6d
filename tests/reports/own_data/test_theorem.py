"""Another theorem than the built-in ones on a researcher's data: its own assumptions and claims,
and gradient descent only where that is what it runs; a user's may be about other problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    assert "descent" not in on_the_example(str(file))


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
