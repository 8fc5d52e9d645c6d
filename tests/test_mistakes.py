"""Mistakes that people make in a theorem's file: each message names the line and says what to do.

Each case edits a file that is right, marks the line that must be named, and runs it as a user does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reports.cli import main

RIGHT = '''"""The mean of n numbers is at most the largest of them."""

import numpy as np

from verify import Assumption, Axis, Control, Margin, Point, Status, Theorem, Universal


def draw(point, generator, trials):
    return generator.normal(size=(trials, int(point["n"])))


def simulate(numbers):
    return numbers.mean(axis=-1)


def first_is_positive(trial):
    """The first number is positive."""
    return Margin(0.0, trial.problem[:, 0])


def below_largest(trial):
    """The mean is at most the largest number."""
    return Margin(trial.run, trial.problem.max(axis=-1), rounding=1e-12)


def below_zero(trial):
    """The mean is at most 0."""
    return Margin(trial.run, 0.0)


theorem = Theorem(
    id="means",
    title="Means",
    citation="folklore",
    status=Status.FOLKLORE,
    draw=draw,
    simulate=simulate,
    cells=(Point(n=3),),
    axes=(Axis("n", 1, 9, "integer"),),
    claims=(Universal(below_largest, given=(Assumption(first_is_positive),)),),
    controls=(Control(Universal(below_zero), because="half of the means lie above it"),),
)
'''

DRAW = '    return generator.normal(size=(trials, int(point["n"])))'
CLAIM = "    return Margin(trial.run, trial.problem.max(axis=-1), rounding=1e-12)"
DEF = "def below_largest(trial):"
GIVEN = "    return Margin(0.0, trial.problem[:, 0])"
CLAIMS = "    claims=(Universal(below_largest, given=(Assumption(first_is_positive),)),),"
START = "theorem = Theorem("
HERE = "  # this line"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any) -> Any:
    """Run an edited file; return (code, stdout, stderr, "my.py:LINE" of the marked line)."""
    monkeypatch.chdir(tmp_path)

    def call(*edits: tuple[str, str]) -> tuple[int, str, str, str]:
        text = RIGHT
        for old, new in edits:
            assert old in text
            text = text.replace(old, new, 1)
        Path("my.py").write_text(text)
        lines = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith(HERE)]
        with pytest.raises(SystemExit) as ended:
            main(["run", "my.py", "--jobs", "1"])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err, f"my.py:{lines[0]}" if lines else "my.py"

    return call


def test_the_file_is_right_before_it_is_edited(run: Any) -> None:
    code, out, _, _ = run()
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["supported", "refuted"]


def body(line: str, marked: bool = True) -> tuple[str, str]:
    """Replace the claim's last line."""
    return CLAIM, f"    {line}{HERE if marked else ''}"


MARKED_DEF = (DEF, DEF + HERE)
MARKED_START = (START, START + HERE)

REFUSED = {
    "no theorem": ([(START, "theorem = dict(")], "holds 0 theorems, expected one: end the file"),
    "two theorems": (
        [(RIGHT, RIGHT + "from dataclasses import replace\n\nb = replace(theorem, id='b')\n")],
        "holds 2 theorems (theorem, b), expected one: move the others to files of their own",
    ),
    "a claim that returns a bool": (
        [MARKED_DEF, body("return bool(trial.run.max() < 9)", False)],
        "returned bool, expected a Margin; write `return Margin(left, right)` for the inequality",
    ),
    "a claim that returns an array of truth values": (
        [MARKED_DEF, body("return trial.run <= trial.problem.max(axis=-1)", False)],
        "returned ndarray, expected a Margin; write `return Margin(left, right)`",
    ),
    "a claim that forgets to return": (
        [MARKED_DEF, body("Margin(trial.run, trial.problem.max(axis=-1))", False)],
        "returned NoneType, expected a Margin",
    ),
    "a margin of truth values that always holds": (
        [MARKED_DEF, body("return Margin(trial.run <= 0, True)", False)],
        "which holds whatever left is; give both sides of the inequality as numbers",
    ),
    "an assumption that returns truth values": (
        [
            ("def first_is_positive(trial):", "def first_is_positive(trial):" + HERE),
            (GIVEN, "    return trial.problem[:, 0] > 0"),
        ],
        "in assumption first_is_positive returned ndarray, expected a Margin",
    ),
    "the wrong axis": (
        [MARKED_DEF, body("return Margin(trial.run, trial.problem.max(axis=0))", False)],
        "do not fit together (left (50,), right (3,)): its right is expected to have shape (50,), "
        "one number an instance; axis 0 counts the instances",
    ),
    "no axis": (
        [MARKED_DEF, body("return Margin(trial.run.max(), trial.problem.max())", False)],
        "its margin has shape (), expected (50,), one number an instance",
    ),
    "an axis too many": (
        [MARKED_DEF, body("return Margin(trial.run[:, None], trial.problem)", False)],
        "its margin has shape (50, 3), expected (50,), one number an instance; axis 0 counts the "
        "instances: reduce the other axes, say with .max(axis=-1)",
    ),
    "words": (
        [MARKED_DEF, body('return Margin(trial.run, "largest")', False)],
        "its margin's right is of type <U7, expected real numbers",
    ),
    "an exception in a claim": (
        [body("return Margin(trial.run, 1 / len(trial.problem[:0]))")],
        "in claim below_largest raised ZeroDivisionError: division by zero; correct it",
    ),
    "an exception inside a library": (
        [body("return Margin(trial.run, np.linalg.inv(trial.problem))")],
        "in claim below_largest raised LinAlgError: Last 2 dimensions of the array must be square",
    ),
    "a misspelt attribute": (
        [body("return Margin(trial.run, trial.problems.max(axis=-1))")],
        "raised AttributeError: 'Trial' object has no attribute 'problems'; correct it",
    ),
    "a claim of no arguments": (
        [(DEF, "def below_largest():" + HERE)],
        "it is called as its_name(trial), so write `def its_name(trial): …`",
    ),
    "a claim that writes into the problem": (
        [(CLAIM, f"    trial.problem.sort(axis=-1){HERE}\n{CLAIM}")],
        "all claims look at the same problem and run, which are read-only: change a copy",
    ),
    "a claim that sets the trial": (
        [(CLAIM, f"    trial.run = 0 * trial.run{HERE}\n{CLAIM}")],
        "trial.run was set anew, but all claims look at the same trial; use a variable of your own",
    ),
    "a claim that rolls dice": (
        [MARKED_DEF, body("return Margin(trial.run, 9 + np.random.rand(len(trial.run)))", False)],
        "in claim below_largest gives different answers for the same problem; take all randomness "
        "from the generator that draw() is given",
    ),
    "a claim that remembers": (
        [
            (DEF, f"SEEN = []\n\n\n{DEF}{HERE}"),
            body("SEEN.append(1)\n    return Margin(trial.run, 9.0 + len(SEEN))", False),
        ],
        "in claim below_largest gives different answers for the same problem",
    ),
    "draws that roll other dice": (
        [
            ("def draw(point, generator, trials):", "def draw(point, generator, trials):" + HERE),
            ("generator.normal", "np.random.normal"),
        ],
        "so something is not deterministic: look at",
    ),
    "draw returns nothing": (
        [
            ("def draw(point, generator, trials):", "def draw(point, generator, trials):" + HERE),
            ("    return generator", "    generator"),
        ],
        "in draw returned nothing; end it with `return …`, the batch of problems",
    ),
    "draw returns one problem": (
        [
            ("def first_is_positive(trial):", "def first_is_positive(trial):" + HERE),
            ("size=(trials,", "size=(1,"),
        ],
        "has shape (1,), expected (50,), one number an instance; axis 0 counts the instances: "
        "reduce the others, say with .max(axis=-1), and see that draw makes `trials` of them",
    ),
    "draw takes two arguments": (
        [("def draw(point, generator, trials):", "def draw(point, generator):" + HERE)],
        "it is called as draw(point, generator, trials), so write `def draw(point, generator, tri",
    ),
    "a coordinate that is no whole number": (
        [
            (DRAW, '    return generator.normal(size=(trials, point["n"]))' + HERE),
            ("Point(n=3)", "Point(n=3.0)"),
        ],
        'make it one: int(point["n"]), say, for a coordinate that counts',
    ),
    "a coordinate that the point lacks": (
        [(DRAW, DRAW + HERE), ("Point(n=3)", "Point(m=3)")],
        "in draw: no coordinate 'n' in Point(m=3)",
    ),
    "an axis of another name": (
        [(DRAW, DRAW + HERE), ('Axis("n"', 'Axis("m"')],
        "in draw: no coordinate 'n' in Point(m=1) (at the seeded instance",
    ),
    "an exception in simulate": (
        [("    return numbers.mean(axis=-1)", "    return numbers.mean(axis=3)" + HERE)],
        "in simulate raised AxisError",
    ),
    "a claim without a docstring": (
        [MARKED_DEF, ('    """The mean is at most the largest number."""\n', "")],
        "in universal below_largest): it is the statement that reports print",
    ),
    "a tuple without its comma": (
        [MARKED_START, ("(Point(n=3),)", "(Point(n=3))")],
        "cells is a Point, expected a tuple: (Point(…),) with its comma",
    ),
    "claims in a list": (
        [MARKED_START, (CLAIMS, "    claims=[Universal(below_largest)],")],
        "claims is a list, expected a tuple: (Universal(…),) with its comma",
    ),
    "a claim that is not wrapped": (
        [MARKED_START, (CLAIMS, "    claims=(below_largest,),")],
        "claims holds below_largest, expected a Claim; write Universal(below_largest)",
    ),
    "an assumption that is not wrapped": (
        [MARKED_START, ("(Assumption(first_is_positive),)", "(first_is_positive,)")],
        "given holds first_is_positive, expected an Assumption; write Assumption(first_is_positive",
    ),
    "nowhere to sample": (
        [MARKED_START, ("cells=(Point(n=3),)", "cells=()")],
        "is sampled nowhere; give it at=(Point(…), …), or the theorem cells=(Point(…), …)",
    ),
    "one name twice": (
        [MARKED_START, ("Control(Universal(below_zero)", "Control(Universal(below_largest)")],
        "the claim ids ['below_largest'] occur twice; give one of them another",
    ),
    "a status that is a word": (
        [MARKED_START, ("status=Status.FOLKLORE", 'status="folklore"')],
        "status='folklore', expected a Status, such as Status.FOLKLORE",
    ),
    "a claim without a name": (
        [MARKED_START, ("Universal(below_largest,", "Universal(lambda trial: Margin(0, 1),")],
        "expected a function `def its_name(trial): …`",
    ),
    "a forgotten argument": (
        [MARKED_START, ("    simulate=simulate,\n", "")],
        "raised TypeError: Theorem.__init__() missing 1 required positional argument: 'simulate'",
    ),
    "a forgotten comma": (
        [('    title="Means",', '    title="Means"' + HERE)],
        "raised SyntaxError: invalid syntax. Perhaps you forgot a comma?\n",
    ),
    "a misspelt name": (
        [("    simulate=simulate,", "    simulate=simulat," + HERE)],
        "raised NameError: name 'simulat' is not defined",
    ),
    "a misspelt import": (
        [("import numpy as np", "import nunpy as np" + HERE)],
        "raised ModuleNotFoundError: No module named 'nunpy'",
    ),
    "an exit": ([(CLAIM, f"    exit(0){HERE}\n{CLAIM}")], "raised SystemExit: 0; correct it"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_gets_one_sentence_with_its_line_and_what_to_do(run: Any, mistake: str) -> None:
    edits, message = REFUSED[mistake]
    code, out, err, where = run(*edits)
    assert (code, out) == (2, "")
    told = err[err.index("relu-verify: ") :]
    assert len(told.splitlines()) == 1
    assert where in told
    assert message in told
    assert "Traceback" not in err


def test_an_assumption_that_is_never_met_is_named_with_what_to_do(run: Any) -> None:
    code, out, _, _ = run((GIVEN, "    return Margin(90.0, trial.problem[:, 0])"))
    assert code == 3
    line = out.splitlines()[0]
    assert line.startswith("vacuous      my.py::below_largest  0/0/200  ")
    assert "never met in any of 200 trials: first_is_positive is violated in 200 of 200" in line
    assert line.endswith("draw problems that meet it, or correct it  <- not as expected")


def test_margins_of_nan_are_undecided_and_numpy_names_the_line(run: Any) -> None:
    edit = body("return Margin(trial.run, np.sqrt(trial.problem.min(axis=-1) - 9))")
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
        code, out, _, _ = run(edit)
    assert code == 3
    assert out.startswith("undecided    my.py::below_largest  0/118/200  P ≥ 0.0000  no decided ma")


def test_a_margin_without_end_is_told_as_one(run: Any) -> None:
    code, out, _, _ = run(body("return Margin(trial.run + np.inf, trial.problem.max(axis=-1))"))
    assert code == 1
    assert "worst margin -inf, of the search -inf, in scope  <- not as expected" in out


def test_a_control_that_is_true_makes_the_evidence_void(run: Any) -> None:
    code, out, err, _ = run(
        ("    return Margin(trial.run, 0.0)", "    return Margin(trial.run, 9)")
    )
    assert code == 1
    assert out.splitlines()[1].endswith("<- not as expected")
    assert "the control is not refuted: the evidence is void" in err
