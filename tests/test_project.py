"""The project itself: public names, layers, documentation, scripts and packaging."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("package", ["verify", "verify.relu"])
def test_every_public_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__all__ == sorted(module.__all__)
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_the_lazy_names_are_the_ones_that_type_checkers_see() -> None:
    import verify

    source = (ROOT / "verify/__init__.py").read_text()
    seen = set(re.findall(r"^    from \S+ import (\w+) as \1$", source, re.M))
    assert seen == set(verify.__all__)


def test_the_version_is_the_same_everywhere() -> None:
    import verify

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == verify.__version__


def test_importing_the_library_imports_no_test_or_plotting_tools() -> None:
    code = (
        "import sys, verify.relu, verify.engine.check; "
        "print([m for m in ('hypothesis', 'pytest', 'matplotlib', 'cupy') if m in sys.modules])"
    )
    assert run(sys.executable, "-c", code).stdout.strip() == "[]"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom reports.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'scipy', 'hypothesis', 'matplotlib') if m in sys.modules])"
    )
    assert run(sys.executable, "-c", code).stdout.strip().endswith("[]")


def test_lint_types_layers_and_workflow_pass() -> None:
    done = run("bash", ".ci/lint")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["run", "tests"])
def test_the_readme_gives_the_command_that_ci_runs(name: str) -> None:
    command = run("bash", ".ci/readme-command", name).stdout.strip()
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert "\n" not in command, "a copy-and-paste command is one line"


def code_blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page", ["docs/guide.md", "README.md"])
def test_the_code_of_a_page_runs(page: str, tmp_path: Path) -> None:
    blocks = code_blocks(page)
    assert blocks
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks))
    done = run(sys.executable, "-W", "error", str(script))
    assert done.returncode == 0, done.stderr


def test_every_file_that_the_pages_name_exists() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        named = re.findall(
            r"(?:examples|docs|benchmarks|verify|properties)/[\w./]+\.\w+", page.read_text()
        )
        missing = [name for name in named if not (ROOT / name).exists()]
        assert not missing, f"{page.name} names {missing}"


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_an_example_is_short(example: Path) -> None:
    code = [line for line in example.read_text().splitlines() if line.strip()]
    assert len(code) <= 75, f"{len(code)} lines; a theorem should be writable in one sitting"


def test_nothing_names_a_path_of_this_machine() -> None:
    tracked = run("git", "ls-files").stdout.split()
    for name in tracked:
        file = ROOT / name
        if file.suffix in {".py", ".md", ".toml", ".ini", ".yml", ""} and file.is_file():
            text = file.read_text(encoding="utf-8")
            assert "/work" + "/" not in text, name
