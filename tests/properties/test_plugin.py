"""pytest --theorem: what is collected, what a failure says, and that it is free when not asked."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import properties.catalogue  # inner pytests run in this process and drop what they import
import properties.suite

pytest_plugins = ["pytester"]

SMALL = '''
import numpy as np
from verify import Assumption, Axis, Control, Margin, Point, Status, Theorem, Universal


def draw(point, generator, trials):
    return generator.uniform(-1, 1, size=(trials, int(point["n"])))


def sums(numbers):
    return numbers.sum(axis=-1)


def positive(trial):
    """All are positive."""
    return Margin(LEAST, trial.problem.min(axis=-1))


def sum_is_at_most_n(trial):
    """The sum is at most n."""
    return Margin(trial.run, MOST * trial.problem.shape[-1])


def sum_is_at_most_a_tenth(trial):
    """The sum is at most a tenth."""
    return Margin(trial.run, 0.1)


theorem = Theorem(
    id="sums",
    title="Sums",
    citation="folklore",
    status=Status.FOLKLORE,
    draw=draw,
    simulate=sums,
    cells=(Point(n=1),),
    axes=(Axis("n", 1, 3, "integer"),),
    claims=(Universal(sum_is_at_most_n, given=(Assumption(positive),)),),
    controls=(Control(Universal(sum_is_at_most_a_tenth), because="it can be anything"),),
)
'''


def small(most: str = "1.0", least: str = "0.0") -> str:
    return SMALL.replace("MOST", most).replace("LEAST", least)


@pytest.fixture
def theorems(pytester: pytest.Pytester) -> Any:
    """Run pytest on a file sums.py in a folder of its own; return its result."""

    def run(text: str, *arguments: str) -> pytest.RunResult:
        pytester.path.joinpath("sums.py").write_text(text)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    return run


IDS = [
    "sums.py::sum_is_at_most_n[[]search[]] PASSED*",
    "sums.py::sum_is_at_most_n[[]verdict[]] PASSED*",
    "sums.py::sum_is_at_most_a_tenth[[]verdict[]] PASSED*",
]


def test_a_theorem_is_searched_and_judged_claim_by_claim(theorems: Any) -> None:
    done = theorems(small(), "--theorem", "sums.py", "-v", "--theorem-seed", "3")
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(["theorems: sums.py (profile quick, seed 3)", *IDS])


def test_two_workers_find_the_same(theorems: Any) -> None:
    done = theorems(small(), "--theorem", "sums.py", "-n", "2")
    done.assert_outcomes(passed=3)


def collected(done: pytest.RunResult) -> list[str]:
    return [line for line in done.outlines if line.startswith("sums.py::")]


def test_shards_share_the_tests_and_search_other_examples(
    theorems: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[list[int]] = []
    usual = properties.suite.hunt

    def noted(*arguments: Any) -> Any:
        made.append(list(arguments[-1]))
        return usual(*arguments)

    monkeypatch.setattr(properties.suite, "hunt", noted)
    shards = []
    for index in (1, 2):
        how = ("--theorem", "sums.py", "--theorem-shard", f"{index}/2", "-v")
        done = theorems(small(), *how)
        done.stdout.fnmatch_lines([f"theorems: sums.py (profile quick, seed 0, shard {index}/2)"])
        shards.append({line.split()[0] for line in collected(done)})
    search, *verdicts = (
        line.partition(" ")[0].replace("[[]", "[").replace("[]]", "]") for line in IDS
    )
    assert shards[0] & shards[1] == {search}
    assert shards[0] | shards[1] == {search, *verdicts}
    assert sorted(made) == [[0], [1]]


def test_a_shard_that_nothing_falls_to_passes(theorems: Any) -> None:
    codes = [
        theorems(small(), "--theorem", "sums.py", "--theorem-shard", f"{index}/9").ret
        for index in range(1, 10)
    ]
    assert codes == [pytest.ExitCode.OK] * 9
    done = theorems(small(), "--theorem", "sums.py", "--theorem-shard", "10/9")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--theorem-shard: shard=10/9, expected *"])


def test_a_failure_is_what_a_reader_needs_and_no_traceback(theorems: Any) -> None:
    done = theorems(small(most="0.5"), "--theorem", "sums.py", "--theorem-seed", "2")
    done.assert_outcomes(failed=2, passed=1)
    done.stdout.fnmatch_lines(
        [
            "*sum_is_at_most_n[[]search[]]*",
            "refuted by the search: The sum is at most n.",
            "* of * examples in scope violate it (*, seed 2)",
            "smallest counterexample, margin -*:",
            "  at n=1 (seed=*)",
            "  in scope",
            "  searched, no rate",
            "  problem: [[]0.*[]]",
            "claim: *sums.py:*in claim sum_is_at_most_n",
            "go on: relu-verify run sums.py --profile quick --seed 2",
            "*sum_is_at_most_n[[]verdict[]]*",
            "refuted, expected supported: The sum is at most n.",
            "* in scope violate it (200 trials) (profile quick, seed 2)",
            "worst counterexample, margin -*:",
            "  at n=1 (root_seed=2, block=*, trial=*)",
            "  in scope",
            "  violated in * of * in scope at n = 1: probability 0.* to 0.* at confidence 0.95",
        ]
    )
    for inside in ("Traceback", "raise ", "properties/", "verify/"):
        done.stdout.no_fnmatch_line(f"*{inside}*")


def test_a_search_that_tests_nothing_does_not_pass(theorems: Any) -> None:
    done = theorems(small(least="9.0"), "--theorem", "sums.py", "-rs")
    done.assert_outcomes(skipped=1, failed=1, passed=1)
    done.stdout.fnmatch_lines(["vacuous, expected supported: *", "SKIPPED*in scope of its assump*"])


@pytest.mark.parametrize(
    ("most", "message"),
    [
        ("1 / 0", "*sums.py:21 in claim sum_is_at_most_n raised ZeroDivisionError: *"),
        ("1 2", "*sums.py:21 raised SyntaxError: *"),
    ],
)
def test_mistakes_are_told_by_their_line(theorems: Any, most: str, message: str) -> None:
    done = theorems(small(most), "--theorem", "sums.py")
    assert done.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    done.stdout.fnmatch_lines([message])
    done.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.py", "*no file 'nowhere.py'; give the path of a Python file with a Theorem"),
        ("theorem9", "*theorem 'theorem9' is unknown; the nearest names are lai2026.theorem*"),
    ],
)
def test_a_theorem_that_is_nowhere_is_a_usage_error(theorems: Any, name: str, message: str) -> None:
    done = theorems(small(), "--theorem", name)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([message])


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (["--theorem=sums.py"], 3),
        (["--theorem=sums.py", "."], 4),
        (["--theorem=sums.py", "--theorem=./sums.py", "test_own.py"], 4),
        (["--theorem=sums.py", "sums.py::sum_is_at_most_n"], 2),
        (["--theorem=sums.py", "-k", "verdict"], 2),
        (["--theorem=test_own.py"], 3),
        ([], 2),
    ],
)
def test_what_is_collected_beside_the_users_own_tests(
    theorems: Any, pytester: pytest.Pytester, arguments: list[str], passed: int
) -> None:
    own = "def test_one():\n    pass\n"
    if arguments == ["--theorem=test_own.py"]:
        own = small()
    elif not arguments:
        own += "def test_two():\n    pass\n"
    pytester.path.joinpath("test_own.py").write_text(own)
    theorems(small(), *arguments).assert_outcomes(passed=passed)


@pytest.mark.parametrize(
    ("arguments", "folder", "passed"),
    [
        ([], ".", 4),
        (["--theorem-profile=quick"], ".", 4),
        ([], "tests", 4),
        (["-k", "one"], ".", 1),
    ],
)
def test_a_theorem_named_in_the_settings_runs_beside_the_users_own_tests(
    pytester: pytest.Pytester, monkeypatch: Any, arguments: Any, folder: str, passed: int
) -> None:
    pytester.makeini("[pytest]\naddopts = --theorem sums.py\n")
    (pytester.path / "sums.py").write_text(small())
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_own.py").write_text("def test_one():\n    pass\n")
    monkeypatch.chdir(pytester.path / folder)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)
    assert done.parseoutcomes()["passed"] == passed


def test_a_built_in_theorem_goes_by_its_id_in_any_folder(theorems: Any) -> None:
    done = theorems("", "--theorem", "theorem1", "-v", "-k", "positives_interpolated and verdict")
    done.assert_outcomes(passed=1, deselected=done.parseoutcomes()["deselected"])
    done.stdout.fnmatch_lines(["lai2026.theorem1::positives_interpolated[[]verdict[]] PASSED*"])


def test_a_family_is_all_theorems_of_a_paper(theorems: Any) -> None:
    done = theorems("", "--theorem", "frei2023.*", "--collect-only", "-q")
    files = {line.partition("::")[0] for line in done.outlines}
    assert {"frei2023.proposition3", "frei2023.proposition4"} <= files


def test_a_pytest_that_does_not_ask_imports_nothing(pytester: pytest.Pytester) -> None:
    code = (
        "import sys, pytest\n"
        "assert pytest.main(['-q', '-p', 'no:cacheprovider']) == 5\n"
        "assert 'pytest_relu_verify' in sys.modules\n"
        "heavy = ('numpy', 'scipy', 'verify', 'properties')\n"
        "sys.exit([name for name in heavy if name in sys.modules] or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.parametrize(("arguments", "code"), [([], 0), (["--theorem", "sums.py"], 4)])
def test_a_users_own_package_of_our_name_breaks_nothing_of_the_users(
    pytester: pytest.Pytester, arguments: list[str], code: int
) -> None:
    pytester.mkpydir("properties")
    pytester.makepyfile(test_own="def test_one():\n    pass\n", sums=small())
    call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert ("hides relu-verify's: run `pytest` in place of" in done.stderr) == bool(arguments)
