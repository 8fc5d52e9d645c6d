"""A runner of GitHub workflows, as far as files go, for the tests of workflows."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any


def shell(line: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line as GitHub's runners do, with this Python's commands first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    usual = {"PYTHON": sys.executable, "PATH": path, "CI": "true", "GITHUB_STEP_SUMMARY": ""}
    usual |= {"PYTEST_XDIST_AUTO_NUM_WORKERS": "2"}
    changes = {**usual, **environment}
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", line],
        cwd=cwd, env={**os.environ, **changes}, capture_output=True, text=True, check=False,
    )  # fmt: skip


class Runner:
    """What GitHub would do with a workflow, as far as files go: jobs in order, each in a copy of
    the repository, for every combination of its matrix; artifacts; a cache."""

    def __init__(self, workflow: dict[str, Any], repository: Path, folder: Path) -> None:
        self.workflow, self.repository, self.folder = workflow, repository, folder
        self.artifacts, self.cache = folder / "artifacts", folder / "cache"
        self.summary, self.output = folder / "summary.md", folder / "output"
        self.printed: list[str] = []

    def run(self, only: str = "") -> dict[str, bool]:
        """Run the jobs (of one name, if given); return whether each, in all its combinations,
        went well."""
        jobs = self.workflow["jobs"]
        return {name: self._job(name, jobs[name]) for name in jobs if only in ("", name)}

    def _job(self, name: str, job: dict[str, Any]) -> bool:
        matrix = job.get("strategy", {}).get("matrix", {})
        combinations = [
            dict(zip(matrix, values, strict=True)) for values in itertools.product(*matrix.values())
        ]
        well = True
        for number, combination in enumerate(combinations):
            place = self.folder / f"{name}-{number}"
            shutil.copytree(self.repository, place)
            told = {f"matrix.{key}": str(value) for key, value in combination.items()}
            told |= {"strategy.job-total": str(len(combinations)), "github.run_id": "1"}
            well &= self._steps(job["steps"], place, told)
        return well

    def _steps(self, steps: list[dict[str, Any]], place: Path, told: dict[str, str]) -> bool:
        well = True
        for step in steps:
            if not well and "always()" not in step.get("if", ""):
                continue
            filled = json.loads(
                re.sub(r"\$\{\{ (.*?) \}\}", lambda found: told.get(found[1], found[0]),
                       json.dumps({key: step[key] for key in ("run", "with") if key in step}))
            )  # fmt: skip
            if "run" in filled:
                well &= self._line(filled["run"], place)
                told.update(self._outputs(step.get("id", "")))
            else:
                self._action(step["uses"].partition("@")[0], filled.get("with", {}), place)
        return well

    def _line(self, line: str, place: Path) -> bool:
        assert "${{" not in line
        if line.startswith("pip install"):
            assert line == 'pip install "$RELU_VERIFY"'
            return True
        files = {"GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.output)}
        done = shell(line, place, **files)
        self.printed.append(done.stdout + done.stderr)
        return done.returncode == 0

    def _outputs(self, step: str) -> dict[str, str]:
        """Return what a step has put out, by the names that later steps have for it."""
        if not self.output.exists():
            return {}
        lines = [line.partition("=") for line in self.output.read_text().splitlines()]
        self.output.unlink()
        return {f"steps.{step}.outputs.{name}": value for name, _, value in lines}

    def _action(self, name: str, inputs: dict[str, str], place: Path) -> None:
        """Do what an action does with files."""
        path = place / inputs.get("path", "")
        if name == "actions/upload-artifact":
            target = self.artifacts / inputs["name"]
            assert path.exists(), f"{inputs['name']} has nothing to upload"
            if path.is_dir():
                shutil.copytree(path, target)
            else:
                target.mkdir(parents=True)
                shutil.copy(path, target)
        elif name == "actions/download-artifact":
            for artifact in self.artifacts.glob(inputs["pattern"]):
                shutil.copytree(artifact, path / artifact.name)
        elif name == "actions/cache/save":
            shutil.copytree(path, self.cache / inputs["key"], dirs_exist_ok=True)
        elif name == "actions/cache/restore":
            found = sorted(self.cache.glob(f"{inputs['restore-keys']}*"))
            if found:
                shutil.copytree(found[-1], path, dirs_exist_ok=True)
        elif name == "actions/checkout":
            for line in ("init -q", "add -A", "commit -q -m 'what was pushed'"):
                shell(f"git -c user.name=a -c user.email=a@b.c {line}", path).check_returncode()
        else:
            assert name == "actions/setup-python"
