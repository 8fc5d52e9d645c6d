"""The project itself: public names, layers, documentation, scripts and packaging."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHON": sys.executable}  # for .ci/
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("package", ["verify", "verify.relu", "verify.relu.dynamics"])
def test_every_public_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert len(module.__all__) == len(set(module.__all__))
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_the_dynamics_say_what_is_in_which_file() -> None:
    module = importlib.import_module("verify.relu.dynamics")
    assert module.__doc__
    files = {file.stem for file in (ROOT / "verify/relu/dynamics").glob("[!_]*.py")}
    assert files - set(re.findall(r"`(\w+)`", module.__doc__)) == set()


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
    return re.findall(
        r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S
    )


@pytest.mark.parametrize(
    "page", ["docs/guide.md", "docs/parallel.md", "docs/verdicts.md", "README.md"]
)
def test_the_code_of_a_page_runs(page: str, tmp_path: Path) -> None:
    blocks = code_blocks(page)
    assert blocks
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks))
    done = run(sys.executable, "-W", "error", str(script))
    assert done.returncode == 0, done.stderr


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def headings(page: Path) -> list[str]:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.findall(r"^#+ (.+)$", prose, re.M)


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        if re.match(r"https?:", link):
            continue
        name, _, place = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name} links to {link}"
        if place:
            assert place in map(anchor, headings(target)), f"{page.name} links to {link}"


def sections_referred_to(text: str) -> set[int]:
    """Return the numbers N of every "§N" and of the ranges "§N–M"."""
    found = re.findall(r"§(\d+)(?:[–-](\d+))?", text)
    return {n for low, high in found for n in range(int(low), int(high or low) + 1)}


def test_every_section_of_the_theory_that_the_code_refers_to_exists() -> None:
    theory = ROOT / "docs/theory.md"
    sections = {int(n) for h in headings(theory) for n in re.findall(r"^(\d+)\. ", h)}
    assert sections == set(range(1, 12)), "docstrings refer to sections by these numbers"
    files = [f for name in ("verify", "properties", "reports", "examples", "tests")
             for f in (ROOT / name).rglob("*.py")]  # fmt: skip
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    assert any(sections_referred_to(text) for text in texts.values())
    for file, text in texts.items():
        unknown = sections_referred_to(text) - sections
        assert not unknown, f"{file.relative_to(ROOT)} refers to sections {unknown}"


def test_the_failure_regimes_that_controls_name_are_in_the_theory() -> None:
    theory = (ROOT / "docs/theory.md").read_text(encoding="utf-8")
    listed = re.search(r"^Known failure regimes.*?(?=^## )", theory, re.M | re.S)
    assert listed
    numbers = set(re.findall(r"^(\d+)\. ", listed[0], re.M))
    for file in (ROOT / "properties").rglob("*.py"):
        joined = re.sub(r'"\s*"', "", file.read_text(encoding="utf-8"))
        assert set(re.findall(r"failure regime (\d+)", joined)) <= numbers, file.name


def test_every_file_that_the_pages_name_exists() -> None:
    for page in PAGES:
        named = re.findall(
            r"\b(?:examples|docs|benchmarks|verify|properties)/[\w./]+\.\w+", page.read_text()
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
