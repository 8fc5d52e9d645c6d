"""The hunt finds what is false, shrinks it, keeps the worst, and repeats itself exactly."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import HypothesisDeprecationWarning
from hypothesis.internal.conjecture import providers

from properties import catalogue
from properties.catalogue import find_entry, find_theorem, full_id
from properties.search import (
    Hunt,
    hunt,
    hunt_hash,
    hunted_claims,
    rest_of_the_process_left_out,
    searching,
    with_hunt,
)
from verify import (
    Assumption,
    Explicit,
    Field,
    InputError,
    Margin,
    Point,
    Status,
    Store,
    Theorem,
    TheoremError,
    Trial,
    Universal,
    UnknownName,
    check,
    load_file,
)
from verify.counterexample import read, replay, write

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def found() -> Hunt:
    theorem = load_file(EXAMPLES / "same_factor.py")
    return hunt(theorem, theorem.claims[0], 60, root_seed=0)


def test_the_false_folklore_shrinks_to_two_dimensions(found: Hunt) -> None:
    assert found.smallest is not None
    assert found.smallest.kind == "explicit"
    values = found.smallest.recipe["values"]
    assert values["d"] == 2, f"out={values}"
    assert max(map(abs, [*values["curvatures"], *values["start"]])) <= 3, f"out={values}"


def condition_theorem() -> Theorem:
    """Return the false folklore that another row of numbers never raises the condition number."""

    def draw(point: Point, generator: np.random.Generator, trials: int) -> np.ndarray:
        return generator.normal(size=(trials, 4, 2))

    def simulate(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return tuple(np.linalg.svd(rows, compute_uv=False) for rows in (matrices[:, :-1], matrices))

    def full_column_rank(trial: Trial) -> Margin:
        """The matrix without its last row is tall and of full column rank."""
        rows, columns = trial.problem.shape[-2:]
        least = trial.run[0][:, -1]
        return Margin(0.01, least if rows > columns else 0 * least)

    def another_row_is_no_worse(trial: Trial) -> Margin:
        """Another row does not raise the condition number."""
        before, after = trial.run
        return Margin(after[:, 0] * before[:, -1], before[:, 0] * after[:, -1], rounding=1e-9)

    return Theorem(
        id="condition",
        title="",
        citation="",
        status=Status.FOLKLORE,
        draw=draw,
        simulate=simulate,
        cells=(Point(rows=4),),
        explicit=Explicit(
            sizes={"rows": (2, 4), "columns": (1, 3)},
            fields={"matrix": Field(-3, 3, shape=("rows", "columns"))},
            build=lambda values: values["matrix"][None],
        ),
        claims=(Universal(another_row_is_no_worse, given=(Assumption(full_column_rank),)),),
    )


@pytest.mark.parametrize("root_seed", [0, 11, 14, 33])
def test_ties_within_rounding_do_not_attract_the_search(root_seed: int) -> None:
    """One column has the condition number 1 whatever its rows are: undecided, and of no use."""
    theorem = condition_theorem()
    found = hunt(theorem, theorem.claims[0], 60, root_seed)
    assert found.hunted.violated > 0
    assert found.hunted.undecided > 5


def test_the_worst_margin_of_a_hunt_is_the_least_that_was_decided() -> None:
    theorem = find_theorem("lai2026.theorem2")
    hunted = hunt(theorem, theorem.claim("gap_deductive_bounds"), 20, 0).hunted
    assert hunted.violated == 0
    assert 0 < hunted.worst_margin < 10


def test_the_worst_is_at_least_as_bad_as_the_smallest(found: Hunt) -> None:
    assert found.smallest is not None
    assert found.worst is not None
    assert found.worst.margin <= found.smallest.margin < 0


def test_the_same_hunt_finds_the_same(found: Hunt) -> None:
    theorem = load_file(EXAMPLES / "same_factor.py")
    again = hunt(theorem, theorem.claims[0], 60, root_seed=0)
    assert again.hunted == found.hunted
    assert again.smallest is not None
    assert found.smallest is not None
    assert again.smallest.recipe == found.smallest.recipe


def test_a_hunt_leaves_out_the_constants_of_loaded_modules() -> None:
    """Hypothesis mixes them in, so that a search would depend on what a process has imported."""
    from hypothesis.internal.conjecture import providers

    with rest_of_the_process_left_out():
        assert len(providers._get_local_constants()) == 0
    assert len(providers._get_local_constants()) > 0, "this test file's project is local"


def test_a_hunt_takes_no_draw_of_another_thread_for_a_strategys() -> None:
    """The event loop of a Dask worker draws while another of its threads searches."""
    with ThreadPoolExecutor(1) as elsewhere:
        moved = st.integers().map(lambda _: elsewhere.submit(random.random).result())

        @searching(3)
        @given(moved)
        def search(_: float) -> None:
            pass

        with rest_of_the_process_left_out():
            search()
        with pytest.warns(HypothesisDeprecationWarning, match="`random` module inside strategies"):
            search()


def test_a_true_claim_survives_the_hunt_and_gains_no_confidence_from_it() -> None:
    theorem = load_file(EXAMPLES / "least_squares.py")
    met = hunt(theorem, theorem.claims[0], 60, root_seed=0)
    assert met.smallest is None
    assert met.worst is None
    assert met.hunted.in_scope >= 50
    verdict = check(theorem, trials=50)[0]
    joined = with_hunt(verdict, met)
    assert joined.verdict == verdict.verdict
    assert joined.lower_bound == verdict.lower_bound


def test_a_hunted_violation_refutes_what_random_trials_support(found: Hunt) -> None:
    verdict = check(load_file(EXAMPLES / "least_squares.py"), trials=50)[0]
    joined = with_hunt(verdict, found)
    assert joined.verdict == "refuted"
    assert not joined.as_expected
    met = found.hunted
    assert joined.detail == (
        f"100/100 in scope hold (100 trials); {met.violated} of {met.in_scope} searched examples "
        "in scope violate it"
    )


def test_counterexamples_survive_the_file_and_still_violate(found: Hunt, tmp_path: Path) -> None:
    theorem = load_file(EXAMPLES / "same_factor.py")
    for example in (found.smallest, found.worst):
        assert example is not None
        write(example, tmp_path / "one.json")
        again = replay(theorem, read(tmp_path / "one.json"))
        assert again.violated
        assert again.same
        assert np.isclose(again.margin, example.margin)


FALSE_AT_AN_EDGE = """
import numpy as np
from verify import Axis, Margin, Point, Status, Theorem, Universal

def only_at_the_edge(trial):
    \"\"\"Nothing happens at the edge.\"\"\"
    n, c, law = trial.problem
    return Margin(np.where({where}, 1.0, 0.0), 0.5)

theorem = Theorem(
    id="edge", title="False at an edge", citation="none", status=Status.FOLKLORE,
    axes=(
        Axis("n", 1, 40, "integer"),
        Axis("c", 0.1, 1.9),
        Axis("law", scale="choice", choices=("a", "b", "z")),
    ),
    cells=(Point(n=10, c=1.0, law="a"),),
    draw=lambda point, generator, trials: tuple(
        np.full(trials, point[name]) for name in ("n", "c", "law")
    ),
    simulate=lambda problem: None,
    claims=(Universal(only_at_the_edge),),
)
"""


@pytest.mark.parametrize(
    "where",
    ["n == 2", "n == 40", "c == 1.9", "law == 'b'", "(n == 40) & (c == 1.9) & (law == 'z')"],
)
@pytest.mark.parametrize("root_seed", [0, 1])
def test_what_is_false_only_at_an_edge_of_the_space_is_found(
    tmp_path: Path, where: str, root_seed: int
) -> None:
    file = tmp_path / "edge.py"
    file.write_text(FALSE_AT_AN_EDGE.format(where=where))
    theorem = load_file(file)
    met = hunt(theorem, theorem.claims[0], 60, root_seed)
    assert met.hunted.violated >= 1
    assert met.smallest is not None


def test_an_error_at_one_instance_names_the_instance(tmp_path: Path) -> None:
    file = tmp_path / "edge.py"
    file.write_text(FALSE_AT_AN_EDGE.format(where="1 / (n - 2) > 9").replace("np.where", "boom"))
    theorem = load_file(file)
    with pytest.raises(TheoremError, match=r"NameError.*at the seeded instance \{'point': "):
        hunt(theorem, theorem.claims[0], 60, 0)


def test_a_hunt_survives_the_store(found: Hunt, tmp_path: Path) -> None:
    with Store(tmp_path / "records.sqlite") as store:
        assert store.recall("key", Hunt.from_json) is None
        store.remember("key", found.to_json())
    with Store(tmp_path / "records.sqlite") as store:
        assert store.recall("key", Hunt.from_json) == found


def test_whatever_decides_a_hunt_is_in_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (load_file(EXAMPLES / f"{name}.py") for name in ("same_factor", "least_squares"))
    keys = {
        hunt_hash(one, "claim", 60, 0),
        hunt_hash(one, "claim", 61, 0),
        hunt_hash(one, "claim", 60, 1),
        hunt_hash(one, "claim_2", 60, 0),
        hunt_hash(other, "claim", 60, 0),
    }
    assert len(keys) == 5
    assert hunt_hash(one, "claim", 60, 0) in keys
    for name, another in (
        ("properties.search.package_digest", lambda name: "another version of the search"),
        ("properties.search.scipy.__version__", "0.1"),
        ("properties.search.np.__version__", "0.1"),
        ("hypothesis.__version__", "0.1"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(name, another)
            assert hunt_hash(one, "claim", 60, 0) not in keys


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d": 3}, "integer array of"),
        ({"c": 99}, "outside 1 to 3"),
        ({"start": [0.5, 1]}, "integer array"),
        ({"extra": 1}, "missing or unknown"),
    ],
)
def test_an_edited_recipe_is_refused(
    found: Hunt, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    from dataclasses import replace

    assert found.smallest is not None
    values = {**found.smallest.recipe["values"], **change}
    edited = replace(found.smallest, recipe={"values": values})
    with pytest.raises(InputError, match=message):
        replay(load_file(EXAMPLES / "same_factor.py"), edited)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "\x00",
        '{"format": "relu-verify counterexample"}',
        '{"format": "relu-verify counterexample", "version": 99}',
        '{"format": "relu-verify counterexample", "version": 1, "theorem": 3}',
        "[" * 100_000,
    ],
    ids=["empty", "list", "object", "nul", "no version", "version", "types", "nested"],
)
def test_a_file_that_is_no_counterexample_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(InputError):
        read(file)


def test_only_universal_claims_are_hunted() -> None:
    theorem = find_theorem("lai2026.theorem2")
    assert {claim.kind for claim in hunted_claims(theorem)} == {"universal"}


@pytest.mark.parametrize(
    "name",
    [
        "lai2026.theorem1.pattern_freezes_after_step_one",
        "pattern_freezes_after_step_one",
        f"{EXAMPLES}/same_factor.py::shrinks_by_the_same_factor",
        "frozen_with_harmonic_spectrum",
    ],
)
def test_claims_are_found_by_full_and_by_bare_name(name: str) -> None:
    theorem, claim = find_entry(name)
    assert theorem.address_of(claim.id).endswith(name)


def test_the_last_part_of_an_id_is_enough() -> None:
    assert find_theorem("theorem2").id == "lai2026.theorem2"


@pytest.mark.parametrize("name", ["pattern_freezes", "lai2026.theorem1.nothing", "theorem9"])
def test_unknown_names_come_with_the_nearest(name: str) -> None:
    with pytest.raises(UnknownName, match="the nearest names are"):
        find_entry(name)
    with pytest.raises(UnknownName, match="the nearest names are"):
        find_theorem(name)


def test_a_short_name_that_several_papers_share_is_that_of_the_main_one(monkeypatch):
    monkeypatch.setitem(catalogue.MODULES, "elsewhere.theorem2", "nowhere")
    monkeypatch.setitem(catalogue.MODULES, "elsewhere.other", "nowhere")
    assert full_id("theorem2") == "lai2026.theorem2"
    assert full_id("other") == "elsewhere.other"
    monkeypatch.setitem(catalogue.MODULES, "third.other", "nowhere")
    assert full_id("other") == "other"


def test_searches_in_threads_leave_the_constants_out_until_the_last_one_ends() -> None:
    original = providers._get_local_constants
    entered, leave = threading.Event(), threading.Event()

    def first() -> None:
        with rest_of_the_process_left_out():
            entered.set()
            leave.wait(60)

    other = threading.Thread(target=first)
    other.start()
    assert entered.wait(60)
    with rest_of_the_process_left_out():
        leave.set()
        other.join(60)
        assert not providers._get_local_constants().integers
    assert providers._get_local_constants is original
