"""A theorem's file that is not on a machine can come with the work."""

import pytest

from tests.verify.engine.toys import FILE, write_theorem
from verify import provided
from verify.errors import InputError, TheoremError
from verify.loading import load_file, loaded_files
from verify.provided import provide

BESIDE = FILE.replace("import numpy as np\n", "import numpy as np\nfrom parts import halves\n", 1)


@pytest.fixture(autouse=True)
def nothing_provided(monkeypatch):
    monkeypatch.setattr(provided, "_provided", {})
    monkeypatch.setattr(provided, "_copies", {})


@pytest.fixture
def sent(tmp_path):
    """A theorem with a package beside it, and what was loaded of it; the folder is gone."""
    folder = tmp_path / "there"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts/__init__.py").write_text("")
    (folder / "parts/halves.py").write_text("HALF = 0.5\n")
    (folder / "filed.py").write_text(BESIDE)
    theorem = load_file(folder / "filed.py")
    files = {
        name: held for name, held in loaded_files().items() if name == str(folder / "filed.py")
    }
    folder.rename(tmp_path / "gone")
    return theorem, files


def test_what_was_loaded_of_a_file_is_known_with_what_it_imports(sent):
    _, files = sent
    (held,) = files.values()
    assert list(held) == ["filed.py", "parts/__init__.py", "parts/halves.py"]
    assert held["filed.py"].decode() == BESIDE


def test_it_is_loaded_as_where_it_came_from(sent):
    theorem, files = sent
    (name,) = files
    with pytest.raises(InputError, match="no file"):
        load_file(name)
    provide(files)
    again = load_file(name)
    assert (again.source, again.origin, again.id) == (theorem.source, theorem.origin, theorem.id)


def test_an_error_in_it_is_told_at_its_own_path(tmp_path):
    file = tmp_path / "nowhere" / "wrong.py"
    provide({str(file): {"wrong.py": b"x = 1\n1 / 0\n"}})
    with pytest.raises(TheoremError, match=rf"^{file}:2 raised ZeroDivisionError"):
        load_file(file)


def test_a_file_that_is_here_is_used_if_it_is_the_same(tmp_path):
    path = write_theorem(tmp_path)
    load_file(path)
    files = {str(path): loaded_files()[str(path)]}
    provide(files)
    assert provided.place_of(path) == path
    path.write_text(FILE + "\n# edited\n")
    with pytest.raises(InputError, match=r"filed\.py on .* is not the one that is being checked"):
        load_file(path)


def test_a_later_version_takes_the_place_of_an_earlier_one(tmp_path):
    file = tmp_path / "nowhere" / "filed.py"
    sources = []
    for text in (FILE, FILE + "\n# edited\n", FILE):
        provide({str(file): {"filed.py": text.encode()}})
        sources.append(load_file(file).source)
    assert sources[0] == sources[2] != sources[1]
