"""`relu-verify search`: exit codes, lines, files, bad input."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from properties.seeking import Sought, seek
from reports.searching.entries import entry
from reports.searching.lines import lines
from tests.properties.seeking.toys import numbers_theorem
from verify.counterexample import Counterexample, read

NUMBERS = """
from tests.properties.seeking.toys import *

{before}
theorem = numbers_theorem({changes})
"""


@pytest.fixture
def search(call, tmp_path, monkeypatch):
    """Write a theorem about a few numbers and search a claim of it."""
    monkeypatch.chdir(tmp_path)

    def run(claim, *arguments, changes="", before="", examples=20):
        file = tmp_path / "few.py"
        file.write_text(NUMBERS.format(changes=changes, before=before), encoding="utf-8")
        return call("search", f"few.py::{claim}", "--examples", examples, *arguments)

    return run


def test_a_claim_without_an_assumption(search, tmp_path):
    code, out, err = search("squares_are_subadditive", "--without", "all_are_positive")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "few.py::squares_are_subadditive"
    assert lines[2] == "  without: all_are_positive"
    assert lines[3] == "  in the scope of: all_are_at_most_two"
    assert "smallest: n=2: x=(1, -1) → not Σx² ≤ (Σx)²: 2 > 0 (exact)" in lines
    assert "Without all_are_positive the claim is false." in lines
    folder = (
        tmp_path / "relu-verify-out" / "search-squares_are_subadditive-without-all_are_positive"
    )
    written = {
        str(tmp_path / line.removeprefix("Written: ")) for line in lines if "Written" in line
    }
    assert written == {str(file) for file in folder.iterdir()}
    assert {file.name for file in folder.iterdir()} == {
        "search.json",
        *(f"{stem}.{end}" for stem in ("smallest", "worst") for end in ("json", "txt", "tex")),
    }
    assert read(folder / "smallest.json").recipe == {"values": {"n": 2, "numbers": [4, -4]}}
    assert f"relu-verify replay {folder.relative_to(tmp_path)}/smallest.json --exact" in out


def test_what_was_found_replays_exactly(search, call):
    code, *_ = search("squares_are_subadditive", "--without", "all_are_positive", "--out", "here")
    for stem in ("smallest", "worst"):
        code, out, _ = call("replay", f"here/{stem}.json", "--exact")
        assert code == 0, out


def test_a_theorem_without_small_problems_is_told_why_there_is_no_smallest(search, tmp_path):
    false = "claims=(Universal(sum_is_small, given=(POSITIVE,)),), controls=(), small=None"
    code, out, _ = search("sum_is_small", "--out", "found", changes=false)
    assert code == 1
    told = out.splitlines()
    why = next(line for line in told if line.startswith("smallest: "))
    assert why.endswith("give it small=Explicit(…) or explicit=Explicit(…)")
    assert told[told.index(why) + 1] == "  relu-verify run shrinks one that is drawn"
    assert any(line.startswith("worst: drawn at") for line in told)
    assert not (tmp_path / "found/smallest.json").exists()


def test_a_false_claim_is_refuted(search):
    false = "claims=(Universal(sum_is_small, given=(POSITIVE,)),), controls=()"
    code, out, _ = search("sum_is_small", changes=false)
    assert code == 1
    assert "smallest: n=1: x=(3) → not (Σx)² ≤ 4: 9 > 4 (exact)" in out
    assert "\nThe claim is refuted.\n" in out


def test_a_false_claim_without_exact_form_is_refuted_in_floating_point(search):
    false = "claims=(Universal(sum_is_small, given=(POSITIVE,)),), controls=(), exact=None"
    code, out, _ = search("sum_is_small", changes=false)
    assert code == 1
    assert "smallest: n=1: x=(3) → margin -5 (floating point)" in out
    assert "\nThe claim is refuted (floating point).\n" in out


def test_sizes_that_were_not_searched_are_told_and_counts_agree(search):
    code, out, _ = search("sum_is_small")
    assert code == 0
    assert "\n  not searched, since a smaller one has a counterexample: n=2, n=3, n=4\n" in out
    told = re.search(r"(\d+) of the (\d+) examples in scope \(n=1\) violate it: no prob", out)
    assert told, out
    row = next(line.split() for line in out.splitlines() if line.startswith("  n=1 "))
    assert list(told.groups()) == [row[3], row[2]]
    assert "not searched" not in search("squares_are_bounded", "--out", "other")[1]


def test_where_only_steps_led_to_the_smallest_that_is_said():
    theorem = numbers_theorem()
    found = seek(Sought(theorem, theorem.claim("sum_is_small")), examples=20)
    led = "; steps from others led to this one"
    assert led not in "\n".join(lines(theorem, found))
    first, *others = found.efforts
    none = replace(found, efforts=(replace(first, violated=0), *others))
    told = f"  0 of the {first.in_scope} examples in scope (n=1) violate it: no probability{led}"
    assert told in list(lines(theorem, none))


def test_numbers_of_a_small_problem_are_fractions_throughout(search):
    false = "claims=(Universal(sum_is_small, given=(POSITIVE,)),), controls=(), exact=None"
    code, out, _ = search("sum_is_small", changes=false)
    assert code == 1
    assert "\nOf the numbers n=1: x=(3)\n" in out
    assert "integers" not in out
    assert "\nViolated in floating point: left ≤ right\n  9  >  4\n" in out


CRASH = '''
def crashes(trial):
    """It holds."""
    return {}["no such key"]
'''


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_crash_inside_a_claim_is_told_with_its_place_and_instance_once(search, jobs):
    claims = "claims=(Universal(crashes),), controls=()"
    code, out, err = search("crashes", "--jobs", jobs, changes=claims, before=CRASH)
    assert code == 2
    assert not out
    assert err.count("few.py:7 ") == err.count("(at ") == err.count("no such key") == 1, err


def test_a_control_is_found_false_as_it_is_to_be(search):
    code, out, _ = search("sum_is_small")
    assert code == 0
    assert "smallest: n=1: x=(3) →" in out
    assert "The claim is a control, known to be false: numbers can be large." in out


def test_a_probability_is_not_refuted_by_one_instance(search):
    code, out, _ = search("sum_is_often_small")
    assert code == 0
    assert "a probability (at least 0.1), which no single instance refutes" in out
    assert "refuted" not in out


def test_finding_nothing_proves_nothing(search, tmp_path):
    code, out, _ = search("squares_are_bounded")
    assert code == 0
    assert "No counterexample was found. Finding nothing proves nothing." in out
    assert re.search(r"n=4 +20 ", out), "the effort is told"
    assert re.search(r"structured ensembles +2\d ", out)
    folder = tmp_path / "relu-verify-out" / "search-squares_are_bounded"
    assert [file.name for file in folder.iterdir()] == ["search.json"]


def test_what_is_only_rounding_is_undecided_and_refutes_nothing(search, tmp_path):
    code, out, _ = search("tenths_add_up", before="numbers_theorem = tenths_theorem", examples=60)
    assert code == 3
    assert "numerically undecided: n=2: tenths=(" in out
    assert "  no counterexample: exactly the claim holds" in out
    assert "Nothing is refuted: floating point alone violates the claim." in out
    folder = tmp_path / "relu-verify-out" / "search-tenths_add_up"
    assert {file.name for file in folder.iterdir()} == {"search.json", "unconfirmed.json"}


def test_what_is_drawn_and_has_no_exact_form_is_unconfirmed(search, tmp_path):
    false = "claims=(Universal(sum_is_small, given=(POSITIVE,)),), controls=(), small=None, "
    before = "from dataclasses import replace"
    changes = false + "exact=replace(EXACT, from_floats=None)"
    code, out, _ = search("sum_is_small", changes=changes, before=before)
    assert code == 3
    assert "unconfirmed: drawn at n=5 (seed=" in out
    assert "  no counterexample: floating point violates it, and the exact form says nothing" in out
    assert "Nothing is refuted: floating point alone violates the claim." in out
    folder = tmp_path / "relu-verify-out" / "search-sum_is_small"
    assert {file.name for file in folder.iterdir()} == {"search.json", "unconfirmed.json"}


def test_where_nothing_is_decided_nothing_was_tested(search):
    before = (
        'def unknown(trial):\n    """Who knows."""\n'
        "    return Margin(1.0, 0.0, rounding=float('inf'))\n"
    )
    claims = "claims=(Universal(unknown),), controls=(), exact=None"
    code, out, _ = search("unknown", changes=claims, before=before)
    assert code == 3
    assert "Every example in scope is undecided: nothing was tested." in out


def test_where_nothing_is_in_scope_nothing_was_tested(search):
    never = "claims=(Universal(squares_are_bounded, given=(Assumption(never),)),), controls=()"
    before = 'def never(trial):\n    """Never."""\n    return Margin(1.0, 0.0)\n'
    code, out, _ = search("squares_are_bounded", changes=never, before=before)
    assert code == 3
    assert "No example was in scope: nothing was tested." in out


INTERRUPT = '''
looks = []

def interrupted(trial):
    """The square of the sum is at most 4."""
    looks.append(1)
    if len(looks) == LOOKS:
        raise KeyboardInterrupt
    return sum_is_small(trial)
'''


def test_an_interrupted_search_tells_what_it_found(search, tmp_path):
    claims = 'claims=(Universal(interrupted, name="sum_is_small"),), controls=()'
    for looks, found in ((5, False), (150, True)):
        before = INTERRUPT.replace("LOOKS", str(looks))
        code, out, _ = search(
            "sum_is_small", "--jobs", 1, changes=claims, before=before, examples=80
        )
        assert code == 130
        why = "a smaller one has a counterexample" if found else "it ended first"
        assert f"  not searched, since {why}: n=2, n=3, n=4\n" in out
        assert "Interrupted: this is what was found so far." in out
        assert ("smallest: n=1: x=(3) →" in out) == found
    told = json.loads((tmp_path / "relu-verify-out/search-sum_is_small/search.json").read_text())
    assert told["ended"] == "interrupted"


LOST = '''
import signal
looks = []

def lost(trial):
    """The square of the sum is at most 4."""
    looks.append(1)
    if len(looks) == 30:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            pass  # as the garbage collector's callbacks do
    return sum_is_small(trial)
'''


def test_an_interrupt_that_got_lost_ends_the_search_all_the_same(tmp_path):
    claims = 'claims=(Universal(lost, name="sum_is_small"),), controls=()'
    (tmp_path / "few.py").write_text(NUMBERS.format(before=LOST, changes=claims))
    command = "import sys; from reports.cli import main; main(sys.argv[1:])"
    arguments = ["search", "few.py::sum_is_small", "--examples", "10000", "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 143, done.stderr
    assert "Terminated: this is what was found so far." in done.stdout
    told = json.loads((tmp_path / "relu-verify-out/search-sum_is_small/search.json").read_text())
    assert told["ended"] == "terminated"
    assert 30 <= told["efforts"][0]["examples"] < 60, "some make no instance, and none follows"


def test_json_is_what_the_file_holds(search, tmp_path):
    code, out, _ = search("sum_is_small", "--json", "--seed", 3)
    assert code == 0
    told = json.loads(out)
    files = told.pop("files")
    kept = json.loads((tmp_path / files[0]).read_text(encoding="utf-8"))
    assert kept.pop("command").startswith("relu-verify")
    assert kept == told
    assert (told["format"], told["schema_version"], told["seed"]) == ("relu-verify search", 1, 3)
    assert told["smallest"]["recipe"] == {"values": {"n": 1, "numbers": [12]}}


def test_files_of_an_earlier_search_do_not_stay(search, tmp_path):
    folder = tmp_path / "here"
    search("sum_is_small", "--out", folder)
    assert (folder / "smallest.json").exists()
    (folder / "mine.txt").write_text("kept")
    search("squares_are_bounded", "--out", folder)
    assert {file.name for file in folder.iterdir()} == {"search.json", "mine.txt"}


def test_only_what_a_search_writes_is_removed(search, tmp_path):
    folder = tmp_path / "here"
    search("sum_is_small", "--out", folder)
    mine = {"smallest.bib", "worst.png", "smallest.tex.orig", "smallest.md"}
    for name in mine:
        (folder / name).write_text("kept")
    search("squares_are_bounded", "--out", folder)
    assert {file.name for file in folder.iterdir()} == {"search.json", *mine}


@pytest.mark.parametrize(
    "name", ["smallest.tex", "worst.json", "unconfirmed.json", "worst_check.py", "search.json"]
)
@pytest.mark.parametrize("text", ["mine", "{}", '{"format": "another"}'])
def test_a_file_of_somebody_else_is_neither_removed_nor_overwritten(search, tmp_path, name, text):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / name).write_text(text)
    code, out, err = search("sum_is_small", "--out", folder)
    assert code == 2
    assert not out
    if name == "search.json":
        assert "search.json is there and was not written by a search" in err
    else:
        assert f"{name} is there and was not written by a search" in err
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [(name, text)]


def test_what_was_found_is_printed_though_it_cannot_be_written(search, tmp_path, monkeypatch):
    def seek_while_the_disk_changes(*asked, **how):
        found = seek(*asked, **how)
        (tmp_path / "here").write_text("a file")
        return found

    monkeypatch.setattr("properties.seeking.seek", seek_while_the_disk_changes)
    code, out, err = search("sum_is_small", "--out", "here/below")
    assert code == 2
    assert "smallest: n=1: x=(3) →" in out
    assert "cannot be written" in err
    (tmp_path / "here").unlink()
    code, out, err = search("sum_is_small", "--out", "here/below", "--json")
    assert code == 2
    assert json.loads(out)["smallest"]["recipe"] == {"values": {"n": 1, "numbers": [12]}}
    assert json.loads(out)["files"] == []


@pytest.mark.parametrize(
    ("checker", "said"),
    [('"print(1)"', "the checker has 0 lines 'RECORD = None'"), ("7", "the checker is int")],
)
def test_a_checker_without_a_place_is_told_before_the_search(search, tmp_path, checker, said):
    changes = f"exact=replace(EXACT, checker={checker})"
    before = "from dataclasses import replace"
    code, out, err = search("sum_is_small", "--out", "here", changes=changes, before=before)
    assert code == 2
    assert said in err
    assert not out
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(
    ("claim", "arguments", "message"),
    [
        ("nothing", [], "no claim or measure 'nothing'; the nearest names are"),
        ("sum_is_small", ["--without", "nothing"], "no assumption 'nothing' to drop; it has all"),
        ("sum_is_small", ["--seconds", "0"], "0"),
        ("sum_is_small", ["--seconds", "-1"], "-1"),
        ("sum_is_small", ["--seconds", "nan"], "seconds=nan, expected a finite number above 0"),
        ("sum_is_small", ["--seconds", "inf"], "seconds=inf, expected a finite number above 0"),
        (
            "sum_is_small",
            ["--without", "all_are_positive"] * 2,
            "is given twice, expected each assumption once",
        ),
        ("sum_is_small", ["--seed", "-1"], "-1"),
    ],
)
def test_bad_input_is_told_in_a_sentence(search, claim, arguments, message):
    code, out, err = search(claim, *arguments)
    assert code == 2
    assert message in err
    assert not out


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("lai2026.theorem2.gap_scales_as_n_over_d", "is a rate, which no single instance violates"),
        ("lai2026.theorem2.gap_over_leading_order", "is measured and claims nothing"),
    ],
)
def test_what_is_no_inequality_is_not_searched(call, claim, message):
    code, _, err = call("search", claim)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("kind", "recipe", "line"),
    [
        (
            "small",
            {"values": {"n": 3, "numbers": [4, -2, 1]}},
            "n=3: x=(1, -1/2, 1/4) → margin -0.5 (floating point)",
        ),
        (
            "seeded",
            {"point": {"n": 2, "low": 0.25}, "seed": 7},
            "drawn at low=0.25, n=2 (seed=7) → margin -0.5 (floating point)",
        ),
    ],
)
def test_a_counterexample_in_one_line(kind, recipe, line):
    example = Counterexample("numbers", "sum_is_small", "", kind, recipe, -0.5)
    assert entry(numbers_theorem(), example) == line


def test_matrices_are_written_row_by_row():
    from properties.catalogue import find_theorem

    values = {"n": 2, "d": 2, "features": [[1, 0], [0, 1]], "labels": [1, -1], "start": [1, 8]}
    recipe = {"values": {**values, "c": 8}}
    theorem = find_theorem("lai2026.theorem2")
    example = Counterexample(theorem.id, "limit_is_the_minimum_norm", "", "small", recipe, -1.0)
    assert entry(theorem, example).startswith(
        "n=2, d=2: X=[[1, 0], [0, 1]], y=(1, -1), β⁰=(1/16, 1/2), c=1/2 → "
    )
