"""relu-verify new: what it writes is whole, verifies, is formatted; and nothing is lost."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.cli import main
from reports.new_theorem import TEMPLATES, write_new
from verify import InputError, load_file
from verify.trial import Trial

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
OPTIONS = {"deviations": [], "relu": ["--relu"], "leaky": ["--leaky"], "flow": ["--flow"],
           "both_layers": ["--both-layers"]}  # fmt: skip
KINDS = pytest.mark.parametrize("kind", OPTIONS)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any) -> Any:
    """Run a command in an empty folder; return (code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


@KINDS
def test_what_is_written_verifies_at_once_with_its_control_refuted(command: Any, kind: str) -> None:
    code, out, _ = command("new", "mine", *OPTIONS[kind])
    assert code == 0
    template = (TEMPLATES / f"{kind}.py").read_text(encoding="utf-8")
    assert Path("mine.py").read_text(encoding="utf-8") == template.replace("my_theorem", "mine")
    theorem = load_file("mine.py")
    assert theorem.id == "mine"
    assert theorem.assumptions
    assert theorem.axes
    assert kind == "deviations" or theorem.small is not None, "what a search shrinks to"
    first = shlex.split(next(line for line in out.splitlines() if "relu-verify run" in line), True)
    code, out, _ = command(*first[1:], "--jobs", "1")
    assert code == 0, out
    verdicts = json.loads(Path("relu-verify-out/mine/report.json").read_text())["verdicts"]
    controls = [v["verdict"] for v in verdicts if v["expected"] == "refuted"]
    assert controls == ["refuted"]
    assert {v["verdict"] for v in verdicts if v["expected"] == "supported"} == {"supported"}


def test_the_flow_template_stays_true_where_the_two_ends_are_one(
    command: Any, tmp_path: Path
) -> None:
    """Of labels that are all positive, flow and descent both end at the minimum itself."""
    theorem = load_file(write_new(str(tmp_path / "mine"), "flow"))
    claim = theorem.claim("flow_ends_no_farther_than_descent")
    drawn = theorem.draw(theorem.cells[0], np.random.default_rng(0), 50)
    problem = drawn.select(np.flatnonzero(drawn.positives.all(axis=-1)))
    assert problem.batch > 1
    trial = Trial(theorem, None, problem, problem.batch)
    assert claim.inequality(trial).holds.all()


def test_of_several_kinds_the_last_is_written(command: Any) -> None:
    command("new", "mine", "--flow", "--leaky")
    assert Path("mine.py").read_text(encoding="utf-8").startswith('"""One leaky ReLU neuron')


def test_the_three_commands_that_it_tells_are_there(command: Any) -> None:
    _, out, _ = command("new", "folder with spaces/mine")
    told = [line.split("#")[0].strip() for line in out.splitlines()[1:]]
    path = "'folder with spaces/mine.py'"
    assert told == [f"relu-verify run {path}", f"relu-verify explain {path}",
                    f"pytest --theorem {path}"]  # fmt: skip
    code, out, _ = command(*shlex.split(told[1])[1:])
    assert code == 0
    assert "no_number_is_far" in out


@KINDS
def test_what_is_written_is_formatted_short_and_free_of_placeholders(
    tmp_path: Path, kind: str
) -> None:
    file = write_new(str(tmp_path / "a_rather_long_name_for_a_theorem"), kind)
    text = file.read_text()
    assert "my_theorem" not in text
    assert len([line for line in text.splitlines() if line.strip()]) <= 90
    for check in (["check"], ["format", "--check"]):
        call = [sys.executable, "-m", "ruff", *check, "--config", str(PYPROJECT), str(file)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_that_is_there_is_replaced_only_if_asked(command: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("precious")
    code, _, err = command("new", "mine.py")
    assert code == 2
    assert err == ("relu-verify: mine.py is there already; choose another name, or add --force\n")
    assert (tmp_path / "mine.py").read_text() == "precious"
    code, _, _ = command("new", "mine.py", "--force")
    assert code == 0
    assert load_file("mine.py").id == "mine"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("my-theorem", "try 'my_theorem'"),
        ("2nd", "try 'theorem_2nd'"),
        ("class", "try 'class_theorem'"),
        ("", "try 'my_theorem'"),
        ("a.b", "try 'a_b'"),
        ("numpy", "try 'numpy_theorem'"),
        ("sub/random.py", "try 'random_theorem'"),
        ("verify", "try 'verify_theorem'"),
    ],
)
def test_a_name_that_cannot_be_imported_or_hides_a_module_is_refused(
    command: Any, tmp_path: Path, name: str, hint: str
) -> None:
    code, out, err = command("new", name)
    assert (code, out) == (2, "")
    assert err.startswith("relu-verify: NAME=")
    assert hint in err
    assert list(tmp_path.iterdir()) == []


def test_a_name_in_use_by_a_theorem_of_the_same_folder_is_no_module_elsewhere(
    command: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    command("new", "mine")
    code, _, err = command("new", "mine", "--force")
    assert (code, err) == (0, "")


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written .*; choose another folder"):
        write_new(str(tmp_path / "file" / "mine"))


def test_the_templates_lie_in_a_package_that_is_shipped_whole() -> None:
    assert {file.stem for file in TEMPLATES.glob("*.py")} == set(OPTIONS)
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert shipped["packages"] == ["verify", "properties", "reports"]
    assert "exclude" not in shipped
    assert TEMPLATES.parent == PYPROJECT.parent / "reports"


@pytest.mark.parametrize(
    ("name", "advice"),
    [("", "'my_theorem'"), (".py", "'my_theorem'"), ("adir/", "'adir/my_theorem'"),
     ("adir/.py", "'adir/my_theorem'"), ("__init__", "'init_theorem'"),
     ("__main__.py", "'main_theorem'"), ("conftest", "'conftest_theorem'")],
)  # fmt: skip
def test_a_name_that_is_none_or_special_is_refused_as_it_was_typed(
    command: Any, tmp_path: Path, name: str, advice: str
) -> None:
    (tmp_path / "adir").mkdir()
    code, _, err = command("new", name)
    assert code == 2
    assert f"NAME={name.removesuffix('.py')!r} " in err or f"NAME={name!r} " in err
    assert f"try {advice}" in err
    assert [path.name for path in tmp_path.rglob("*")] == ["adir"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_nothing_is_written_through_a_link_that_leads_nowhere(
    command: Any, tmp_path: Path, force: list[str]
) -> None:
    (tmp_path / "link.py").symlink_to(tmp_path / "elsewhere.py")
    code, _, err = command("new", "link", *force)
    assert code == 2
    assert "link.py is a link to" in err
    assert not (tmp_path / "elsewhere.py").exists()
