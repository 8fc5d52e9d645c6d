"""What a run makes of violations that exact arithmetic can decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.runs.running import Result, Settings, run
from verify.loading import load_file
from verify.verdict import Conclusion

TENTHS = '''
"""Two numbers of tenths and their sum."""

from fractions import Fraction

from verify import Margin, Point, Status, Theorem, Universal
from verify.exact import Exact, ExactMargin


def tenths_add_up(trial):
    """Two numbers of tenths are at most their sum{less}."""
    a, b = trial.problem.T
    return Margin(a / 10 + b / 10, (a + b) / 10{minus})


def exactly(pair):
    a, b = pair
    return ExactMargin(a / 10 + b / 10, (a + b) / 10{minus_exact})


def from_floats(problem, index):
    return [Fraction(int(number)) for number in problem[index]]


theorem = Theorem(
    id="tenths",
    title="Tenths add up",
    citation="folklore",
    status=Status.FOLKLORE,
    draw=lambda point, generator, trials: generator.integers(1, 10, size=(trials, 2)),
    simulate=lambda pair: None,
    cells=(Point(),),
    claims=(Universal(tenths_add_up),),
    exact=Exact(
        build=lambda values: values["tenths"],
        statements={{"tenths_add_up": exactly}},
        document=lambda pair: {{"tenths": [str(number) for number in pair]}},
        from_floats=from_floats,
    ),
)
'''


def result(folder: Path, **words: str) -> Result:
    file = folder / "tenths.py"
    file.write_text(TENTHS.format(**words), encoding="utf-8")
    (found,) = run([load_file(str(file))], Settings(), folder / "out")
    return found


def test_a_violation_that_is_only_rounding_is_undecided(tmp_path: Path) -> None:
    found = result(tmp_path, less="", minus="", minus_exact="")
    verdict = found.verdicts["tenths_add_up"]
    assert verdict.verdict is Conclusion.UNDECIDED
    assert verdict.violated > 0
    assert "exactly the claim holds" in verdict.detail
    assert found.counterexamples == {}
    assert not list((tmp_path / "out" / "counterexamples").glob("*"))


def test_a_violation_that_is_real_is_confirmed(tmp_path: Path) -> None:
    words = {"less": " less a hundredth", "minus": " - 0.01", "minus_exact": " - Fraction(1, 100)"}
    found = result(tmp_path, **words)
    assert found.verdicts["tenths_add_up"].verdict is Conclusion.REFUTED
    (worst,) = found.counterexamples["tenths_add_up"]
    assert worst.example.evidence == "exact"
    assert worst.example.exact is not None
    assert worst.example.exact["claim"]["violated"] is True


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_told_is_a_function_of_the_seed(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "tenths.py"
    file.write_text(TENTHS.format(less="", minus="", minus_exact=""), encoding="utf-8")
    theorem, settings = load_file(str(file)), Settings(seed=seed)
    details = [
        next(iter(run([theorem], settings, tmp_path / name))).verdicts[0].detail for name in "ab"
    ]
    assert details[0] == details[1]
