"""A theorem is found in a file or a module, and whatever is wrong there is said with its line."""

import os
import sys

import numpy as np
import pytest

from tests.verify.engine.toys import same_claims, write_theorem
from verify import loading
from verify.counterexample import file_of
from verify.engine.check import check
from verify.engine.evaluate import draw_trial
from verify.engine.executors import ProcessPool
from verify.engine.plan import Cell
from verify.engine.store import Store
from verify.errors import InputError, TheoremError
from verify.loading import load_file, load_module, load_origin, source_digest
from verify.space import Point


@pytest.fixture(autouse=True)
def _leaves_no_trace():
    """Loading changes neither sys.path nor which modules of a user's folder are known."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    assert sys.path == path
    new = set(sys.modules) - modules
    assert not [name for name in new if name.startswith(("helper", "kit"))]


def test_a_file_holds_one_theorem_whose_address_is_the_path_as_given(tmp_path, monkeypatch):
    path = write_theorem(tmp_path)
    monkeypatch.chdir(tmp_path)
    theorem = load_file("filed.py")
    assert theorem.address == "filed.py"
    assert theorem.address_of("at_least_zero") == "filed.py::at_least_zero"
    assert load_file(path).address == path.as_posix()
    assert load_file("./filed.py").address_of("x") == "filed.py::x"


def test_relative_and_absolute_paths_give_the_same_draws_and_verdicts(tmp_path, monkeypatch):
    path = write_theorem(tmp_path)
    monkeypatch.chdir(tmp_path)
    relative, absolute = load_file("filed.py"), load_file(path)
    cell = Cell(Point(n=1), "", (), 10)
    np.testing.assert_array_equal(
        draw_trial(relative, cell, 0, 0).problem, draw_trial(absolute, cell, 0, 0).problem
    )
    assert source_digest(relative) == source_digest(absolute)
    assert [v.tally for u in check(relative) for v in u.cells] == [
        v.tally for u in check(absolute) for v in u.cells
    ]


def test_a_file_loaded_twice_is_run_once_and_again_when_it_was_edited(tmp_path):
    write_theorem(tmp_path, **{"import numpy as np": "import numpy as np\nRUNS.append(1)"})
    path = tmp_path / "filed.py"
    path.write_text(
        "import builtins\nRUNS = builtins.__dict__.setdefault('_runs', [])\n" + path.read_text()
    )
    import builtins

    builtins._runs = []
    try:
        assert load_file(path) == load_file(path)
        assert len(builtins._runs) == 1
        before = load_file(path)
        path.write_text(path.read_text().replace("0.9", "0.8"))
        assert load_file(path) != before
        assert len(builtins._runs) == 2
    finally:
        del builtins._runs


def test_an_edit_within_the_same_second_and_of_the_same_size_counts(tmp_path):
    path = write_theorem(tmp_path)
    before = load_file(path)
    stat = path.stat()
    path.write_text(path.read_text().replace("One uniform number", "Two uniform number"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    after = load_file(path)
    assert (before.title, after.title) == ("One uniform number", "Two uniform number")
    assert source_digest(before) != source_digest(after)
    assert not (tmp_path / "__pycache__").exists()


def test_a_module_holds_one_theorem_too(tmp_path, monkeypatch):
    package = tmp_path / "kit_of_theorems"
    package.mkdir()
    (package / "__init__.py").touch()
    write_theorem(package)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        theorem = load_module("kit_of_theorems.filed")
        assert theorem.address == "filed"
        assert theorem.address_of("x") == "filed.x"
        assert load_origin(theorem.origin) == theorem
        assert theorem.source
    finally:
        for name in [name for name in sys.modules if name.startswith("kit_of")]:
            del sys.modules[name]


def test_a_single_module_outside_any_package_is_enough(tmp_path, monkeypatch):
    write_theorem(tmp_path, "kit_alone.py")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert load_module("kit_alone").source
    finally:
        del sys.modules["kit_alone"]


# What is wrong with a file


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    for path in (tmp_path / "none.py", tmp_path):
        with pytest.raises(InputError, match=r"no file .*; give the path of a Python file"):
            load_file(path)


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"notes.txt is not a Python file; give it the ending .py"):
        load_file(tmp_path / "notes.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "holds 0 theorems, expected one: end the file with `theorem = Theorem"),
        ("x = 1\ny = = 2\n", r"bad.py:2 raised SyntaxError: invalid syntax"),
        ("x = 1\n\nraise ValueError('no luck')\n", r"bad.py:3 raised ValueError: no luck"),
        ("def f():\n    1 / 0\nf()\n", r"bad.py:2 raised ZeroDivisionError"),
        ("import nowhere_at_all\n", r"bad.py:1 raised ModuleNotFoundError: No module named"),
        ("import sys\nsys.exit(3)\n", r"bad.py:2 raised SystemExit: 3"),
        ("import numpy\nnumpy.linalg.inv([[0.0]])\n", r"bad.py:2 raised LinAlgError"),
        ("from verify import Axis\nAxis('c', 2, 1)\n", r"bad.py:2: axis 'c': low=2, high=1"),
        ("from verify import geometric\ngeometric(0, 1, 3)\n", r"bad.py:2: geometric\(0, 1, 3\)"),
        ("x = '\0'\n", r"raised (SyntaxError|ValueError): source code .* null bytes"),
    ],
)
def test_a_file_that_fails_says_where(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text)
    before = {name for name in sys.modules if name.startswith("_theorem_file_")}
    with pytest.raises(TheoremError, match=message):
        load_file(path)
    after = {name for name in sys.modules if name.startswith("_theorem_file_")}
    assert after == before, "a file that failed leaves no module behind"


def test_a_file_of_two_theorems_is_ambiguous(tmp_path):
    path = write_theorem(tmp_path)
    path.write_text(
        path.read_text() + "\nfrom dataclasses import replace\nb = replace(theorem, id='b')\n"
    )
    with pytest.raises(TheoremError, match=r"holds 2 theorems \(theorem, b\), expected one: move"):
        load_file(path)


def test_a_theorem_under_two_names_is_one(tmp_path):
    path = write_theorem(tmp_path)
    path.write_text(path.read_text() + "\nthe_same = theorem\n")
    assert load_file(path).id == "filed"


def test_an_interrupt_while_loading_is_no_fault_of_the_file(tmp_path):
    path = tmp_path / "slow.py"
    path.write_text("raise KeyboardInterrupt\n")
    before = set(sys.modules)
    with pytest.raises(KeyboardInterrupt):
        load_file(path)
    assert set(sys.modules) == before


# What a file may do


def test_a_file_may_define_dataclasses(tmp_path):
    path = tmp_path / "classes.py"
    path.write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Problem:\n"
        "    u: list[float]\n" + write_theorem(tmp_path).read_text().split('file of its own."""')[1]
    )
    assert load_file(path).id == "filed"


def test_a_file_is_compiled_by_its_own_future_imports_not_by_ours(tmp_path):
    path = write_theorem(tmp_path)
    path.write_text(
        path.read_text() + "\ndef f(x: int): ...\nassert f.__annotations__ == {'x': int}\n"
    )
    assert load_file(path).id == "filed"


def test_what_a_file_prints_goes_to_stderr(tmp_path, capfd):
    noise = "import numpy as np\nprint('noise\\n' * 100_000)"
    path = write_theorem(tmp_path, **{"import numpy as np": noise})
    with ProcessPool(1) as pool:
        check(load_file(path), trials=10, executor=pool)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("noise") == 200_000  # here and in the worker


def test_a_file_imports_from_its_own_folder_here_and_in_workers(tmp_path):
    helped = {"import numpy as np": "import numpy as np\nfrom helper import half\nimport kit.deep"}
    path = write_theorem(tmp_path, **helped, **{"(trial.problem, 0.5)": "(trial.problem, half)"})
    (tmp_path / "helper.py").write_text("import kit\nhalf = 0.25 + kit.quarter\n")
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "__init__.py").write_text("quarter = 0.25\n")
    (tmp_path / "kit" / "deep.py").touch()
    theorem = load_file(path)
    here = check(theorem, trials=20)
    with ProcessPool(1) as pool:
        assert same_claims(here, check(theorem, trials=20, executor=pool))


def test_files_of_two_folders_have_helpers_of_their_own(tmp_path):
    found = []
    for name, half in (("one", "0.5"), ("two", "0.25")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "helper.py").write_text(f"title = 'below {half}'\n")
        helped = {"import numpy as np": "import numpy as np\nfrom helper import title"}
        path = write_theorem(tmp_path / name, **helped, **{'"One uniform number"': "title"})
        found.append(load_file(path).title)
    assert found == ["below 0.5", "below 0.25"]


def test_a_folder_that_can_be_imported_from_anyway_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    helped = {"import numpy as np": "import numpy as np\nimport used_by_others"}
    (tmp_path / "used_by_others.py").touch()
    load_file(write_theorem(tmp_path, **helped))
    assert "used_by_others" in sys.modules
    del sys.modules["used_by_others"]


@pytest.mark.parametrize("edited", ["filed.py", "helper.py", "kit/deep.py"])
def test_an_edit_of_the_file_or_of_what_it_imports_gives_new_records(tmp_path, edited):
    helped = {"import numpy as np": "import numpy as np\nimport helper"}
    path = write_theorem(tmp_path, **helped)
    (tmp_path / "helper.py").write_text("import kit.deep\n")
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "__init__.py").touch()
    (tmp_path / "kit" / "deep.py").touch()
    (tmp_path / "unrelated.py").touch()
    before = load_file(path)
    (tmp_path / "unrelated.py").write_text("# nobody imports this\n")
    assert source_digest(load_file(path)) == source_digest(before)
    (tmp_path / edited).write_text((tmp_path / edited).read_text() + "\n# edited\n")
    assert source_digest(load_file(path)) != source_digest(before)


def test_the_digest_is_of_the_source_that_was_loaded_not_of_a_later_edit(tmp_path):
    path = write_theorem(tmp_path)
    theorem = load_file(path)
    digest = source_digest(theorem)
    path.write_text(path.read_text().replace("0.9", "0.8"))
    assert source_digest(theorem) == digest


def test_a_theorem_edited_since_it_was_loaded_is_neither_stored_nor_sent(tmp_path):
    path = write_theorem(tmp_path)
    theorem = load_file(path)
    path.write_text(path.read_text().replace("0.9", "0.8"))
    with (
        Store(tmp_path / "s.sqlite") as store,
        pytest.raises(InputError, match=r"not \(or no more\) the one in its file.*load it again"),
    ):
        check(theorem, store=store)
    with (
        ProcessPool(1) as pool,
        pytest.raises(InputError, match=r"not \(or no more\) the one in its file"),
    ):
        check(theorem, executor=pool)
    assert len(check(theorem, trials=10)) == 3


def test_a_file_edited_while_workers_start_is_noticed_by_them(tmp_path, monkeypatch):
    path = write_theorem(tmp_path)
    theorem = load_file(path)
    monkeypatch.setattr("verify.engine.asked._require_traceable", lambda *_: None)
    path.write_text(path.read_text().replace("0.9", "0.8"))
    with ProcessPool(1) as pool, pytest.raises(InputError, match="was edited while it was being"):
        check(theorem, trials=10, executor=pool)


def test_the_library_is_part_of_every_digest(tmp_path, monkeypatch):
    theorem = load_file(write_theorem(tmp_path))
    before = source_digest(theorem)
    monkeypatch.setattr(loading, "package_digest", lambda name: "another version")
    assert source_digest(theorem) != before


ODD = os.fsdecode(b"caf\xe9")
"""A name that no encoding of text can spell, as all of them are under LC_ALL=C."""


def test_names_that_are_no_text_are_as_good_as_others(tmp_path):
    folder = tmp_path / ODD
    (folder / "kit").mkdir(parents=True)
    (folder / "kit" / "__init__.py").touch()
    (folder / "kit" / f"{ODD}.py").touch()
    path = write_theorem(folder, f"{ODD}.py", **{"import numpy as np": "import kit, numpy as np"})
    theorem = load_file(path)
    assert source_digest(theorem) == source_digest(load_file(path))
    assert check(theorem, trials=10)


@pytest.mark.skipif(os.name == "nt", reason="no path of Windows has a line break")
@pytest.mark.parametrize("name", ["a\nb.py", "file:\n.py", "\n\n.py"])
def test_a_path_with_a_line_break_is_as_good_as_others(tmp_path, monkeypatch, name):
    (tmp_path / "of\ntwo").mkdir()
    path = write_theorem(tmp_path / "of\ntwo", name)
    monkeypatch.chdir(path.parent)
    theorem = load_file(name)
    assert theorem.address == name
    assert file_of(theorem) == str(path.resolve())
    assert load_origin(theorem.origin) == theorem
    assert check(theorem, trials=10)
