"""The command line, end to end: exit codes, output, files, bad input."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.cli import main
from tests.verify.engine.sealing import edited
from verify import counterexample

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in this process, from the repository root; return (code, stdout, stderr)."""
    monkeypatch.chdir(ROOT)

    def call(*arguments: Any) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def test_a_false_theorem_is_refuted_with_files_that_replay(command: Any, tmp_path: Path) -> None:
    code, out, err = command("run", "examples/same_factor.py", "--out", tmp_path, "--jobs", 1)
    assert code == 1
    assert out.startswith("refuted      examples/same_factor.py::shrinks_by_the_same_factor  0/")
    _, where = out.splitlines()
    assert "report.html" in err
    report = json.loads((tmp_path / "report.json").read_text())
    verdict = report["verdicts"][0]
    smallest = tmp_path / verdict["counterexamples"][0]["file"]
    assert smallest.name.endswith(".smallest.json")
    assert where == f"  smallest counterexample: {smallest}   (relu-verify replay {smallest})"
    assert verdict["verdict"] == "refuted"
    assert {c["kind"] for c in verdict["counterexamples"]} == {"smallest", "worst"}
    for entry in verdict["counterexamples"]:
        code, out, _ = command("replay", tmp_path / entry["file"])
        assert code == 0
        assert "still violates the claim" in out
        recipe = json.loads((tmp_path / entry["file"]).read_text())["recipe"]
        assert ("drawn at: " in out) == ("point" in recipe)
        assert entry["summary"].get("drawn at") == recipe.get("point")


def test_where_a_small_counterexample_was_drawn_is_told(command: Any, tmp_path: Path) -> None:
    text = (EXAMPLES / "least_squares.py").read_text()
    (tmp_path / "false.py").write_text(text.replace(", 1e-10, scale", ", -1e-1, scale"))
    command("run", tmp_path / "false.py", "--out", tmp_path / "out", "--jobs", 1)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    (smallest,) = [c for c in report["verdicts"][0]["counterexamples"] if c["kind"] == "smallest"]
    point = json.loads((tmp_path / "out" / smallest["file"]).read_text())["recipe"]["point"]
    assert set(point) == {"n", "d", "c"}
    assert smallest["summary"]["drawn at"] == point
    page = (tmp_path / "out" / "report.html").read_text()
    told = f"n = {point['n']}, d = {point['d']}, c = "
    assert told in re.sub(r"<[^>]*>", "", page)
    assert told in command("report", tmp_path / "out", "--format", "md")[1]
    assert "drawn at: " in command("replay", tmp_path / "out" / smallest["file"])[1]


def test_a_report_of_another_file_is_not_replaced_silently(
    command: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy(EXAMPLES / "same_factor.py", tmp_path / folder / "mine.py")
    told = f"holds a report of {tmp_path / 'a' / 'mine.py'}; it is replaced (use --out"
    for file, warned in (("a/mine.py", False), ("a/mine.py", False), ("b/mine.py", True),
                         ("b/mine.py", False)):  # fmt: skip
        _, out, err = command("run", file, "--jobs", 1)
        assert (told in err) is warned
        assert told not in out
    assert "holds a report" not in command("run", "a/mine.py", "--out", "other", "--jobs", 1)[2]
    edited(Path("other/records.sqlite"), "UPDATE runs SET asked = '{}'")
    assert "holds a report" not in command("run", "b/mine.py", "--out", "other", "--jobs", 1)[2]


def test_a_true_theorem_is_supported(command: Any, tmp_path: Path) -> None:
    code, out, _ = command("run", "examples/least_squares.py", "--out", tmp_path, "--jobs", 1)
    assert code == 0
    assert out.startswith("supported")
    assert not (tmp_path / "counterexamples").exists()
    assert (tmp_path / "report.html").read_text().lower().startswith("<!doctype html>")


def test_the_report_says_what_it_depends_on(command: Any, tmp_path: Path) -> None:
    command("run", "examples/least_squares.py", "--out", tmp_path, "--seed", 3, "--jobs", 1)
    report = json.loads((tmp_path / "report.json").read_text())
    for name in ("schema_version", "seed", "profile", "backend", "versions", "error_budget"):
        assert name in report
    assert report["seed"] == 3
    assert report["error_budget"]["total"] == pytest.approx(0.05)
    needed = {"theorem", "claim", "kind", "verdict", "expected", "trials", "in_scope", "holds"}
    needed |= {"lower_bound", "confidence", "worst_margin"}
    assert needed <= set(report["verdicts"][0])


SMALL = """
from dataclasses import replace
from properties.lai2026 import theorem1

whole = theorem1.theorem
claims = (whole.claims[0], whole.claims[-1])
theorem = replace(whole, id="small", cells=whole.cells[:3], claims=claims, controls=())
del whole
"""


def test_jobs_and_interruption_do_not_change_the_report(tmp_path: Path) -> None:
    """One process, two processes, and a run killed half-way and started again agree."""
    (tmp_path / "small.py").write_text(SMALL)

    def command(folder: str, jobs: int) -> list[str]:
        call = [sys.executable, "-c", "from reports.cli import main; main()", "run", "small.py"]
        return [*call, "--seed", "5", "--jobs", str(jobs), "--out", folder]

    def verdicts(folder: str) -> Any:
        return json.loads((tmp_path / folder / "report.json").read_text())["verdicts"]

    def run(folder: str, jobs: int) -> None:
        done = subprocess.run(command(folder, jobs), cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()

    run("one", 1)
    run("two", 2)
    killed = subprocess.Popen(
        command("killed", 1), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    store = tmp_path / "killed" / "records.sqlite"
    while killed.poll() is None and not _blocks(store) >= 3:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "killed" / "report.json").exists(), "killed too late to show anything"
    assert _blocks(store) >= 3
    run("killed", 2)
    assert len(verdicts("one")) == 2
    assert verdicts("one") == verdicts("two") == verdicts("killed")


def _blocks(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        with closing(sqlite3.connect(store, timeout=5)) as connection:
            return int(connection.execute("SELECT COUNT(*) FROM blocks").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "lai2026.theorem7"], 2, "the nearest names are lai2026.theorem"),
        (["run", "no/such/file.py"], 2, "no file 'no/such/file.py'"),
        (["run", "--confidence", "1.5"], 2, "confidence=1.5"),
        (["run", "--seed", "-1"], 2, "root_seed=-1"),
        (["run", "--profile", "slow"], 2, "slow"),
        (["run", "--jobs", "0"], 2, "jobs"),
        (["run", "--backend", "tensorflow"], 2, "tensorflow"),
        (["run", "--backend", "cupy"], 4, "cupy"),
        (["explain", "gap_uper_band"], 2, "gap_upper_band"),
        (["replay", "no.json"], 2, "no.json"),
        (["data", "no.npy", "no.csv"], 2, "no.npy"),
        (["nonsense"], 2, "nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_gets_one_sentence_and_its_exit_code(
    command: Any, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    if "cupy" in arguments and importlib.util.find_spec("cupy") is not None:
        pytest.skip("cupy is installed here, so the backend may be available")
    out = ["--out", tmp_path / "out"] if arguments[0] == "run" else []
    got, _, err = command(*arguments, *out)
    assert got == code, err
    assert message in err
    assert "Traceback" not in err
    assert not (tmp_path / "out" / "report.json").exists()


def test_a_folder_that_is_a_file_is_left_alone(command: Any, tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("keep me")
    code, _, err = command("run", "examples/least_squares.py", "--out", file)
    assert code == 2
    assert "is a file" in err
    assert file.read_text() == "keep me"


def test_a_store_that_is_none_is_left_alone(command: Any, tmp_path: Path) -> None:
    (tmp_path / "records.sqlite").write_text("keep me, I am no database at all, just text")
    code, _, err = command("run", "examples/least_squares.py", "--out", tmp_path)
    assert code == 2
    assert "cannot be used as a record store" in err
    assert "keep me" in (tmp_path / "records.sqlite").read_text()


def test_list_names_every_claim_and_control(command: Any) -> None:
    code, out, _ = command("list")
    assert code == 0
    for name in ("lai2026.theorem1", "gap_lower_band", "broken_solver_leaks_gradient"):
        assert name in out


def test_explain_says_statement_assumptions_source_status_and_test(command: Any) -> None:
    code, out, _ = command("explain", "lai2026.theorem2.gap_deductive_bounds")
    assert code == 0
    for part in ("no hidden constant", "Given that", "arXiv 2603.04895", "[D]", "Tested"):
        assert part in out
    _, out, _ = command("explain", "gap_lower_band_without_step")
    assert "must be refuted, because" in out


def test_replay_of_a_claim_that_holds_says_so(command: Any, tmp_path: Path) -> None:
    command("run", "examples/same_factor.py", "--out", tmp_path, "--jobs", 1)
    file = next((tmp_path / "counterexamples").glob("*smallest.json"))
    example = counterexample.read(file)
    values = {**example.recipe["values"], "curvatures": [1, 1]}
    counterexample.write(replace(example, recipe={"values": values}), file)
    code, out, _ = command("replay", file)
    assert code == 1
    assert "does not violate the claim" in out


# What a shell does to it


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a bash script in which $R is the command and $E the folder of examples."""
    command = f"{sys.executable} -c 'from reports.cli import main; main()'"
    return subprocess.run(
        ["bash", "-c", f'R() {{ {command} "$@"; }}\n{script}'],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "E": str(EXAMPLES)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a shell of Linux")
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("R run $E/same_factor.py --jobs 1 --out o | true; exit ${PIPESTATUS[0]}", 1),
        ("R run $E/same_factor.py --jobs 1 --out o > /dev/full", 1),
        ("R run $E/same_factor.py --jobs 2 --out o 2>&-", 1),
        ("R run $E/same_factor.py --jobs 1 --out o >&- 2>&-", 1),
        ("R run $E/same_factor.py --jobs 1 --out o 2> /dev/full", 1),
        ("R list | true; exit ${PIPESTATUS[0]}", 0),
        ("R --help | true; exit ${PIPESTATUS[0]}", 0),
        ("R run nothing 2>&-", 2),
        ("PYTHONIOENCODING=cp1252 R explain lai2026.theorem2.gap_lower_band", 0),
        ("PYTHONIOENCODING=ascii R explain lai2026.theorem2.gap_lower_band", 0),
    ],
)
def test_the_exit_code_is_the_verdicts_whoever_reads(
    tmp_path: Path, script: str, code: int
) -> None:
    done = shell(script, tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert (tmp_path / "o" / "report.html").exists() == ("--out" in script)


def test_no_text_of_others_commands_the_terminal_or_turns_a_page(
    command: Any, tmp_path: Path
) -> None:
    file = tmp_path / "a\u202eyp.py"
    source = (EXAMPLES / "same_factor.py").read_text()
    hidden = "\u202eNot\u2069 \\x1bc"
    file.write_text(source.replace('"""The second step', f'"""{hidden} the second step'))
    printed = [
        command("run", file, "--out", tmp_path / "out", "--jobs", 1),
        command("run", tmp_path / "gone\u202e.py"),
        command("explain", file),
        *(
            command("report", tmp_path / "out", "--format", f)
            for f in ("md", "json", "csv", "html")
        ),
        command("report", tmp_path / "out", "--list"),
    ]
    told = "".join(out + err for _, out, err in printed)
    pages = told + (tmp_path / "out" / "report.html").read_text()
    assert not set("\u202e\u2069\x1b") & set(pages)
    assert "a\\u202eyp.py::shrinks" in printed[0][1]
    assert "\\u202eNot\\u2069 \\u001bc" in printed[2][1]
    written = json.loads((tmp_path / "out" / "report.json").read_text())
    assert json.loads(printed[4][1]) == written
    assert written["verdicts"][0]["statement"].startswith("\u202eNot\u2069 \x1bc")


def test_what_a_claim_prints_is_no_verdict(command: Any, tmp_path: Path) -> None:
    file = tmp_path / "loud.py"
    loud = (EXAMPLES / "least_squares.py").read_text().replace("    return Margin(", LOUD)
    file.write_text(loud)
    code, out, err = command("run", file, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 0
    assert len(out.splitlines()) == 1
    assert "LOUD" in err


LOUD = """    print("LOUD")
    return Margin("""


def test_a_file_is_run_once_however_it_is_spelt(command: Any, tmp_path: Path) -> None:
    names = ["examples/least_squares.py", "./examples/least_squares.py"]
    names.append(str(EXAMPLES / "least_squares.py"))
    _, out, err = command("run", *names, "--out", tmp_path, "--jobs", 1)
    assert len(out.splitlines()) == 1
    assert "The claim is supported" in err


@pytest.mark.parametrize("name", ["report.json", "report.html", "counterexamples"])
def test_what_is_in_the_way_gets_one_sentence(command: Any, tmp_path: Path, name: str) -> None:
    if name == "counterexamples":
        (tmp_path / name).write_text("a file")
    else:
        (tmp_path / name).mkdir()
    code, _, err = command("run", "examples/same_factor.py", "--out", tmp_path, "--jobs", 1)
    assert code == 2
    assert len(err.splitlines()) == 1
    assert "cannot be written" in err
    assert not [file for file in tmp_path.rglob("*") if "partial" in file.name]


@pytest.mark.parametrize(
    "arguments", [["run", "examples/least_squares.py", "--out", "x" * 300], ["run", "x" * 300]]
)
def test_names_too_long_get_one_sentence(command: Any, arguments: list[str]) -> None:
    code, _, err = command(*arguments)
    assert code == 2
    assert "Traceback" not in err


def test_replay_finds_a_theorem_whose_path_was_relative(command: Any, tmp_path: Path) -> None:
    command("run", "examples/same_factor.py", "--out", tmp_path, "--jobs", 1)
    file = next((tmp_path / "counterexamples").glob("*smallest.json"))
    done = shell(f"R replay {file}", tmp_path)
    assert done.returncode == 0, done.stderr
    example = counterexample.read(file)
    counterexample.write(replace(example, theorem_file="", theorem="gone.py"), file)
    done = shell(f"R replay {file}", tmp_path)
    assert done.returncode == 2
    assert "no file 'gone.py'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "called", "left"),
    [
        (["run", "theorem1"], "reports.runs.running.run", "what was finished is kept"),
        (["data", "x.csv"], "reports.own_data.analysis.analyse", "each file is as it was or whole"),
        (["report", "."], "reports.runs.telling.tell", "each file is as it was or whole"),
        (["diff", "a", "b"], "reports.runs.saved.read", "nothing is kept"),
        (["explain", "theorem1"], "properties.catalogue.find_theorem", "nothing is kept"),
        (["list"], "properties.catalogue.find_theorem", "nothing is kept"),
        (["replay", "x.json"], "verify.counterexample.read", "nothing is kept"),
        (["new", "x"], "reports.new_theorem.write_new", "nothing is kept"),
    ],
)
def test_an_interrupted_command_says_what_it_leaves(
    command: Any, tmp_path: Path, monkeypatch: Any, arguments: list[str], called: str, left: str
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    if arguments[0] == "run":
        arguments = [*arguments, "--out", str(tmp_path)]
    monkeypatch.setattr(called, interrupt)
    code, _, err = command(*arguments)
    assert code == 130
    assert f"interrupted; {left}" in err
    assert ("go on" in err) == (arguments[0] == "run")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_a_stopped_run_ends_at_once_and_says_so(tmp_path: Path, number: int, code: int) -> None:
    slow = (EXAMPLES / "least_squares.py").read_text()
    slow = slow.replace("    return Margin(", "    import time; time.sleep(30)\n    return Margin(")
    (tmp_path / "slow.py").write_text(slow)
    call = [sys.executable, "-c", "from reports.cli import main; main()", "run", "slow.py"]
    running = subprocess.Popen(
        [*call, "--jobs", "2", "--out", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "out" / "records.sqlite").exists() and running.poll() is None:
        time.sleep(0.02)
    time.sleep(0.2)
    for _ in range(3):
        running.send_signal(number)
        time.sleep(0.02)
    _, err = running.communicate(timeout=20)
    assert running.returncode == code, err
    assert "run the same command to go on" in err
    # A worker that loses its parent while it starts may say so, in Python's own words.
    assert "Traceback" not in err or "spawn_main" in err


# data


def write_data(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Path, Path]:
    np.save(folder / "X.npy", X)
    np.savetxt(folder / "y.csv", y)
    return folder / "X.npy", folder / "y.csv"


def test_data_in_the_regime_is_certified(command: Any) -> None:
    code, out, _ = command(
        "data", "examples/data/features.csv", "examples/data/labels.csv", "--positive", "treated"
    )
    assert code == 0
    assert "From step one on the active examples are those of positive label" in out
    assert "certified" in out
    assert "refuted" not in out
    assert "holds here" in out, "a probability is not certified on one data set"


@pytest.mark.parametrize(
    ("options", "blame"),
    [
        (["--step", "3"], "The step c = 3 is too large"),
        (["--start", "1"], "The start 1 is not small"),
        (["--step", "0.01"], "outside the theorems' regime"),
    ],
)
def test_what_takes_tame_data_out_of_the_regime_is_named(
    command: Any, options: list[str], blame: str
) -> None:
    files = ["examples/data/features.csv", "examples/data/labels.csv", "--positive", "treated"]
    code, out, _ = command("data", *files, *options)
    assert code == 3
    assert blame in out.splitlines()[-1]
    assert "Bounds        none" in out or options[0] == "--start"


def test_labels_0_and_1_get_advice(command: Any, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(12, 600))
    code, out, _ = command("data", *write_data(tmp_path, X, np.repeat([0.0, 1.0], 6)))
    assert code == 3
    assert "name one with --positive 1" in out


def test_data_as_json_parses_and_agrees_with_the_text(command: Any) -> None:
    files = ["examples/data/features.csv", "examples/data/labels.csv", "--positive", "treated"]
    _, text, _ = command("data", *files)
    code, out, _ = command("data", *files, "--json")
    found = json.loads(out)
    assert code == found["exit_code"] == 0
    assert found["sentence"] in text
    assert found["descent"]["global_minimum"] is True
    bounds = found["comparator"]["deductive_low"], found["comparator"]["deductive_high"]
    assert bounds[0] <= found["comparator"]["gap"] <= bounds[1]


def test_data_outside_the_regime_is_not_a_counterexample(command: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60)) + 3.0 * rng.normal(size=60)  # a large common mean
    y = rng.permutation(np.repeat([1.0, -1.0], 15))
    code, out, _ = command("data", *write_data(tmp_path, X, y))
    assert code == 3
    assert "outside the theorems' regime" in out
    assert "refuted" not in out
    assert "violated" in out
    assert "this is what makes d_2 small" in out


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda X: X - X.mean(axis=0), "the columns are centred"),
        (lambda X: X[[0, 0, *range(2, len(X))]], "1 row is a duplicate; drop it"),
        (lambda X: X[:, :5], "more examples than features"),
    ],
    ids=["centred", "duplicated", "n > d"],
)
def test_a_singular_gram_matrix_is_explained(
    command: Any, tmp_path: Path, make: Any, reason: str
) -> None:
    X = make(np.random.default_rng(0).normal(size=(12, 300)))
    y = np.repeat([1.0, -1.0], 6)
    code, out, _ = command("data", *write_data(tmp_path, X, y))
    assert code == 2
    assert reason in out


@pytest.mark.parametrize("size", [1e-200, 1e-60, 1e60, 1e200])
def test_numbers_of_absurd_size_are_told_to_rescale(
    command: Any, tmp_path: Path, size: float
) -> None:
    X = np.random.default_rng(0).normal(size=(6, 100))
    y = np.repeat([1.0, -1.0], 3)
    for features, labels in ((X * size, y), (X, y * size)):
        code, _, err = command("data", *write_data(tmp_path, features, labels))
        assert code == 2
        assert "rescale" in err


def test_labels_that_are_all_zero_are_refused(command: Any, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(6, 100))
    code, _, err = command("data", *write_data(tmp_path, X, np.zeros(6)))
    assert code == 2
    assert "only zeros" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--step", "0"], "--step"), (["--start", "-1"], "--start"), (["--step", "nan"], "--step")],
)
def test_bad_options_of_data_are_refused(command: Any, options: list[str], message: str) -> None:
    files = ["examples/data/features.csv", "examples/data/labels.csv", "--positive", "treated"]
    code, _, err = command("data", *files, *options)
    assert code == 2
    assert message in err


def test_the_installed_command_is_the_same(tmp_path: Path) -> None:
    found = shutil.which("relu-verify", path=str(Path(sys.executable).parent))
    assert found is not None
    done = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "0.1.0" in done.stdout
