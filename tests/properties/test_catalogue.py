"""From names to theorems: ids, their endings, families, files."""

from __future__ import annotations

from pathlib import Path

import pytest

from properties.catalogue import (
    MODULES,
    distinct,
    family,
    find_entry,
    find_theorem,
    full_id,
    others_called,
)
from verify.errors import InputError, UnknownName

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["frei2023", "frei2023.*"])
def test_a_family_stands_for_its_theorems(name):
    assert family(name) == ["frei2023.proposition3", "frei2023.proposition4"]
    assert distinct([name]) == family(name)


@pytest.mark.parametrize("name", ["frei", "frei2023.proposition3", "frei2023.*.*", "*", "", ".*"])
def test_what_is_no_family_stands_for_none(name):
    assert family(name) == []


def test_every_theorem_is_in_one_family():
    families = {name.partition(".")[0] for name in MODULES}
    assert sorted(known for name in families for known in family(name)) == sorted(MODULES)


def test_theorems_are_told_once_however_they_are_named():
    names = ["lai2026.theorem3", "vardi_shamir2021", "theorem3", "vardi_shamir2021.*", "theorem5"]
    assert distinct(names) == ["lai2026.theorem3", *family("vardi_shamir2021")]


def test_an_ending_of_several_ids_is_the_main_papers_and_the_others_are_told():
    assert full_id("theorem3") == "lai2026.theorem3"
    assert others_called("theorem3") == ["vardi_shamir2021.theorem3"]


@pytest.mark.parametrize("name", ["theorem2", "theorem5", "lai2026.theorem3", "theorem9", "x.py"])
def test_of_a_name_without_a_choice_there_are_no_others(name):
    assert others_called(name) == []


def test_one_theorem_of_a_family_is_asked_for():
    with pytest.raises(UnknownName, match=r"family of 2 theorems, expected one.*frei2023\.prop"):
        find_theorem("frei2023.*")


def test_a_family_of_one_is_its_theorem():
    assert find_theorem("dana2025").id == find_theorem("dana2025.*").id == "dana2025.coverage"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("theorem3", r"'theorem3' is theorem lai2026\.theorem3, expected one of its claims"),
        ("kou2023.relu", r"theorem kou2023\.relu, expected one of its claims.*kou2023\.relu\.\w"),
        ("kou2023", r"'kou2023' is a family of 2 theorems, expected a claim .*kou2023\.leaky_relu"),
    ],
)
def test_where_a_claim_is_asked_for_a_theorem_is_told_from_it(name, message):
    with pytest.raises(UnknownName, match=message):
        find_entry(name)


@pytest.mark.parametrize(
    ("name", "theorem", "entry"),
    [
        ("theorem5.the_norm_is_minimised", "vardi_shamir2021.theorem5", "the_norm_is_minimised"),
        ("theorem3.loss_ends_at_zero", "vardi_shamir2021.theorem3", "loss_ends_at_zero"),
        ("theorem3.neurons_decouple", "lai2026.theorem3", "neurons_decouple"),
        ("frei2023.boundary_is_uniform", "frei2023.proposition4", "boundary_is_uniform"),
    ],
)
def test_a_claim_may_be_called_by_the_last_part_of_its_theorem_or_by_its_paper(
    name, theorem, entry
):
    found, claim = find_entry(name)
    assert (found.id, claim.id) == (theorem, entry)


def test_a_claim_of_several_theorems_of_a_paper_is_asked_back():
    with pytest.raises(UnknownName, match=r"in several theorems: write one of lai2026\.theorem2\."):
        find_entry("lai2026.comparator_is_optimal")


def test_a_claim_that_none_of_them_has_is_told_what_they_have():
    with pytest.raises(UnknownName, match=r"nearest names are lai2026\.theorem3\.neurons_decouple"):
        find_entry("theorem3.neurons_decouples")


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A theorem's file in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_bytes((EXAMPLES / "same_factor.py").read_bytes())
    return "mine.py"


@pytest.mark.parametrize("name", ["mine.py", "./mine.py", "theorem1.py"])
def test_where_a_claim_is_asked_for_a_file_is_told_what_claims_it_has(file, tmp_path, name):
    (tmp_path / "theorem1.py").write_bytes((tmp_path / file).read_bytes())
    claims = map(find_theorem(name).address_of, [e.id for e in find_theorem(name).entries])
    with pytest.raises(UnknownName) as found:
        find_entry(name)
    told = f"{name!r} is a theorem's file, expected one of its claims: {', '.join(claims)}"
    assert str(found.value) == told


def test_a_file_that_is_not_there_is_said_to_be_missing_whatever_is_asked_for():
    for ask in (find_entry, find_theorem):
        with pytest.raises(InputError, match=r"no file 'nowhere\.py'"):
            ask("nowhere.py")
    with pytest.raises(InputError, match=r"no file 'nowhere\.py'"):
        find_entry("nowhere.py::claim")


def test_where_a_theorem_is_asked_for_a_claim_is_told_from_it(file):
    claim = find_theorem(file).claims[0].id
    for name in (f"{file}::{claim}", f"./{file}::nothing"):
        path = name.partition("::")[0]
        with pytest.raises(UnknownName, match=rf"write {path} alone, without ::claim$"):
            find_theorem(name)
    bare = "neurons_decouple"
    for name in (f"theorem3.{bare}", f"lai2026.theorem3.{bare}", bare):
        with pytest.raises(UnknownName, match=r"names a claim.* write lai2026\.theorem3 alone$"):
            find_theorem(name)
    with pytest.raises(UnknownName, match=r"theorem 'theorem3\.nothing' is unknown; the nearest"):
        find_theorem("theorem3.nothing")


def test_an_unknown_claim_of_a_file_is_told_where_its_names_are_listed(file):
    with pytest.raises(UnknownName, match=r"no claim or measure 'x'.*relu-verify list mine\.py`"):
        find_entry(f"{file}::x")
