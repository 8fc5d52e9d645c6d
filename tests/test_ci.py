"""Workflows do what they say: every step is a script that runs here, and so does the snippet that
the docs give, in a repository of a theorem of somebody else's.

Of GitHub's actions only what passes files between jobs is played: artifacts and the cache.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.github_runner import Runner, shell
from verify import __version__

read = YAML(typ="safe").load

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
WORKFLOW = read((ROOT / ".github/workflows/ci.yml").read_text())
PAGE = (ROOT / "docs/parallel.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(
    r"^```yaml\n(.*?)^```", PAGE.partition("## Continuous integration")[2], re.M | re.S
)


# The repository's own workflow


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


def test_every_step_is_a_script_of_the_repository() -> None:
    lines = [step["run"] for step in steps(WORKFLOW) if "run" in step]
    scripts = {found for line in lines for found in re.findall(r"\.ci/[\w-]+", line)}
    assert len(lines) == sum(bool(re.search(r"\.ci/[\w-]+", line)) for line in lines)
    assert scripts == {f".ci/{file.name}" for file in (ROOT / ".ci").iterdir()} - {".ci/lint"}
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


@pytest.mark.parametrize("text", [(ROOT / ".github/workflows/ci.yml").read_text(), SNIPPETS[0]])
def test_a_workflow_may_read_only_ends_and_pins_what_it_uses(text: str) -> None:
    workflow = read(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "cancel-in-progress" in workflow["concurrency"]
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[\w/-]+@v\d+\.\d+\.\d+", action) for action in used)


def test_the_matrix_names_every_shard_once() -> None:
    job = WORKFLOW["jobs"]["shard"]
    shards = job["strategy"]["matrix"]["shard"]
    assert shards == list(range(1, len(shards) + 1))
    (line,) = (step["run"] for step in job["steps"] if "verify-shard" in step.get("run", ""))
    assert re.search(r"verify-shard \$\{\{ matrix.shard \}\} (\d+) ", line)[1] == str(len(shards))
    assert (
        job["strategy"]["matrix"]["python"]
        == (WORKFLOW["jobs"]["verify"]["strategy"]["matrix"]["python"])
    )


def test_shards_are_done_merged_and_told(tmp_path: Path) -> None:
    summary, theorem = tmp_path / "summary.md", EXAMPLES / "same_factor.py"
    for index in (1, 2):
        line = f".ci/verify-shard {index} 2 {tmp_path}/shards/{index} {theorem} --jobs 1"
        done = shell(line, ROOT)
        assert done.returncode == 0, done.stderr
    merge = f".ci/verify-merge {tmp_path}/out {tmp_path}/shards/*"
    done = shell(merge, ROOT, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1, done.stderr
    assert json.loads((tmp_path / "out/report.json").read_text())["exit_code"] == 1
    assert ET.parse(tmp_path / "out/junit.xml").getroot().attrib["failures"] == "1"
    assert summary.read_text().startswith("## relu-verify: not as expected\n")
    assert shell(merge, ROOT, GITHUB_STEP_SUMMARY="").returncode == 1


def test_what_a_shard_that_failed_leaves_out_is_an_error(tmp_path: Path) -> None:
    summary, theorem = tmp_path / "summary.md", EXAMPLES / "least_squares.py"
    shell(f".ci/verify-shard 1 2 {tmp_path}/shards/1 {theorem} --jobs 1", ROOT)
    merge = f".ci/verify-merge {tmp_path}/out {tmp_path}/shards/*"
    done = shell(merge, ROOT, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 3
    assert "2/2" in done.stderr
    (error,) = ET.parse(tmp_path / "out/junit.xml").iter("error")
    assert error.attrib["message"].endswith("(shard 2/2)")
    assert summary.read_text().startswith("## relu-verify: incomplete\n")


def test_the_nightly_suite_is_the_property_suite() -> None:
    done = shell(".ci/nightly --collect-only -q -n 0 -k gram_concentration", ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "properties/test_verdicts.py::test_verdict" in done.stdout


@pytest.mark.parametrize(
    ("extras", "installed"),
    [
        ("", ["-e ."]),
        ("dev", ["-e .[dev]"]),
        ("dev torch", ["torch --index-url https://download.pytorch.org/whl/cpu",
                       "-e .[dev,torch]"]),
    ],
)  # fmt: skip
def test_what_is_installed_where(tmp_path: Path, extras: str, installed: list[str]) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/install", tmp_path / ".ci")
    python = tmp_path / "bin/python3"
    python.parent.mkdir()
    python.write_text(
        '#!/bin/sh\n[ "$*" = "-m venv .venv" ] || exit 1\nmkdir -p .venv/bin\n'
        "printf '#!/bin/sh\\necho \"$@\" >> log\\n' > .venv/bin/pip\nchmod +x .venv/bin/pip\n"
    )
    python.chmod(0o755)
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    done = shell(f".ci/install {extras}", tmp_path, PATH=path)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines == [f"install -q {arguments}" for arguments in installed]


# The snippets of the docs


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return the folder of somebody's repository; the theorem is still to come."""
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


def workflow_of_two_shards() -> dict[str, Any]:
    """Return the docs' workflow with fewer shards: how many is its reader's choice."""
    workflow: dict[str, Any] = read(SNIPPETS[0])
    workflow["jobs"]["shard"]["strategy"]["matrix"]["shard"] = [1, 2]
    return workflow


@pytest.mark.parametrize(("snippet", "schema"), [(0, "github-workflows"), (1, "gitlab-ci")])
def test_a_snippet_is_what_its_server_reads(tmp_path: Path, snippet: int, schema: str) -> None:
    (tmp_path / "snippet.yml").write_text(SNIPPETS[snippet])
    done = shell(f"check-jsonschema --builtin-schema vendor.{schema} snippet.yml", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r"relu-verify==(\S+)", SNIPPETS[snippet])) == {__version__}


def test_a_true_theorem_of_somebody_else_is_verified(repository: Path, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "least_squares.py", repository / "theorem.py")
    runner = Runner(workflow_of_two_shards(), repository, tmp_path)
    assert runner.run() == {"shard": True, "verdict": True, "tests": True}, runner.printed
    assert runner.summary.read_text().startswith("## relu-verify: as expected\n")
    for file in ("report/report.html", "report/junit.xml", "tests/pytest.xml"):
        assert (runner.artifacts / file).is_file()
    cases = ET.parse(runner.artifacts / "report/junit.xml").findall(".//testcase")
    assert {case.attrib["classname"] for case in cases} == {"theorem"}


def test_a_false_theorem_is_red_and_leaves_what_a_reader_needs(
    repository: Path, tmp_path: Path
) -> None:
    shutil.copy(EXAMPLES / "same_factor.py", repository / "theorem.py")
    runner = Runner(workflow_of_two_shards(), repository, tmp_path)
    assert runner.run() == {"shard": True, "verdict": False, "tests": False}
    assert "Counterexample to <code>theorem.py::" in runner.summary.read_text()
    files = sorted((runner.artifacts / "report/counterexamples").glob("*.json"))
    assert [file.name.split(".")[-2] for file in files] == ["smallest", "worst"]
    assert shell(f"relu-verify replay {files[0]}", repository).returncode == 0
    assert (runner.artifacts / "tests/pytest.xml").is_file()

    again = Runner(runner.workflow, repository, tmp_path / "again")
    shutil.copytree(runner.cache, again.cache)
    assert again.run("tests") == {"tests": False}
    assert "an earlier search found this, and it still violates it" in "".join(again.printed)
    assert again.run("shard") == {"shard": True}
    runs = shell("relu-verify report shard --list", again.folder / "shard-0").stdout
    assert len(runs.splitlines()) == 2, "the records of the first run are there"


def test_a_shard_that_fails_is_told_where_readers_look(repository: Path, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "least_squares.py", repository / "theorem.py")
    workflow = workflow_of_two_shards()
    for step in workflow["jobs"]["shard"]["steps"]:
        if "--shard" in step.get("run", ""):
            step["run"] += "; test ${{ matrix.shard }} = 1 || { rm shard/records.sqlite*; exit 1; }"
    runner = Runner(workflow, repository, tmp_path)
    assert runner.run("shard") == {"shard": False}
    shutil.rmtree(runner.artifacts / "shard-2")
    assert runner.run("verdict") == {"verdict": False}
    (error,) = ET.parse(runner.artifacts / "report/junit.xml").iter("error")
    assert error.attrib["message"].endswith("(shard 2/2)")
    assert runner.summary.read_text().startswith("## relu-verify: incomplete\n")


@pytest.mark.parametrize("text", [(ROOT / ".github/workflows/ci.yml").read_text(), SNIPPETS[0]])
def test_what_is_kept_is_uploaded_also_of_what_failed(text: str) -> None:
    uploads = [step for step in steps(read(text)) if "upload-artifact" in step.get("uses", "")]
    assert uploads
    assert all(step["if"] == "${{ always() }}" for step in uploads)


def test_records_of_other_data_are_not_restored(repository: Path, tmp_path: Path) -> None:
    source = (EXAMPLES / "least_squares.py").read_text()
    assert source.count('point["c"] / np') == 1
    scale = "SCALE = float((Path(__file__).parent / 'scale.txt').read_text())"
    (repository / "theorem.py").write_text(
        source.replace('point["c"] / np', 'SCALE * point["c"] / np').replace(
            "import numpy", "from pathlib import Path\n\nimport numpy", 1
        )
        + f"\n{scale}\n"
    )
    (repository / "scale.txt").write_text("1.0")
    first = Runner(workflow_of_two_shards(), repository, tmp_path / "first")
    assert first.run("shard") == {"shard": True}, first.printed
    (repository / "scale.txt").write_text("0.5")
    again = Runner(first.workflow, repository, tmp_path / "again")
    shutil.copytree(first.cache, again.cache)
    assert again.run("shard") == {"shard": True}, again.printed
    runs = shell("relu-verify report shard --list", again.folder / "shard-0").stdout
    assert len(runs.splitlines()) == 1
    mixed = shell(f"relu-verify run theorem.py --out {first.folder}/shard-0/shard", repository)
    assert mixed.returncode == 2, "records of other data are told, where they are met"


def test_a_branch_with_a_pull_request_is_verified_once() -> None:
    assert read(SNIPPETS[0])["on"] == {"push": {"branches": ["main"]}, "pull_request": None}


def test_the_snippet_for_gitlab_does_the_same(repository: Path) -> None:
    shutil.copy(EXAMPLES / "same_factor.py", repository / "theorem.py")
    jobs = read(SNIPPETS[1])
    assert jobs["variables"] == {"RELU_VERIFY": f"relu-verify=={__version__}"}
    assert jobs["theorem"]["parallel"] > 1
    for index in (1, 2):
        install, line = jobs["theorem"]["script"]
        assert install == 'pip install "$RELU_VERIFY"'
        done = shell(line, repository, CI_NODE_INDEX=str(index), CI_NODE_TOTAL="2")
        assert done.returncode == 0, done.stderr
    _, line = jobs["verdict"]["script"]
    assert shell(line, repository).returncode == 1
    report = ET.parse(repository / jobs["verdict"]["artifacts"]["reports"]["junit"])
    assert report.getroot().attrib["failures"] == "1"


def test_a_shard_that_fails_on_gitlab_leaves_no_pass(repository: Path) -> None:
    shutil.copy(EXAMPLES / "least_squares.py", repository / "theorem.py")
    jobs = read(SNIPPETS[1])
    assert jobs["verdict"]["when"] == jobs["theorem"]["artifacts"]["when"] == "always"
    _, line = jobs["theorem"]["script"]
    assert shell(line, repository, CI_NODE_INDEX="1", CI_NODE_TOTAL="2").returncode == 0
    _, line = jobs["verdict"]["script"]
    done = shell(line, repository)
    assert done.returncode == 3
    assert "2/2" in done.stderr
    report = ET.parse(repository / jobs["verdict"]["artifacts"]["reports"]["junit"])
    assert report.getroot().attrib["errors"] == "1"
