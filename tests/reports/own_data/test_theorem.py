"""A theorem of a user's own, about problems of another type than a neuron's, on their data."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.own_data.analysis import analyse
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
