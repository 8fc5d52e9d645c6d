"""From the words of the command line to what the engine is asked."""

from __future__ import annotations

from typing import Any

import pytest

from properties.catalogue import find_theorem
from reports.frontier.request import read, spread
from tests.verify.engine.toys import write_theorem
from verify.engine.frontier import FrontierRequest
from verify.errors import InputError, UnknownName
from verify.space import Axis

CLAIM = "pattern_freezes_after_step_one"


def asked(x: str = "d", y: str | None = None, *at: str, **options: Any) -> FrontierRequest:
    """Return what is asked of the claim; n = 20 unless it is said."""
    words = at if y or any(word.startswith("n=") for word in at) else (*at, "n=20")
    return read(CLAIM, x, y, words, **{"budget": 1000, **options}).request


def test_an_axis_may_be_whole_or_a_part_with_open_ends() -> None:
    assert (asked("d").x.low, asked("d").x.high) == (2, 1e7)
    assert (asked("d:10:1e5").x.low, asked("d:10:1e5").x.high) == (10, 1e5)
    assert (asked("d::500").x.low, asked("d::500").x.high) == (2, 500)
    assert asked("d:10:1e5").x.scale == find_theorem("lai2026.theorem1").axis("d").scale


def test_values_of_the_other_axis_are_whole_sorted_and_once() -> None:
    found = asked("d", "n:40,10,2e1,10")
    assert found.y is not None
    assert found.y.name == "n"
    assert found.y_values == (10, 20, 40)
    assert all(isinstance(value, int) for value in found.y_values)


def test_choices_are_told_apart_although_they_hold_commas_and_colons() -> None:
    found = asked("d", "spectrum:power:1,levels:4x0.5,1x0.5,isotropic", "n=20")
    assert found.y_values == ("power:1", "levels:4x0.5,1x0.5", "isotropic")
    assert asked("d", "start", "n=20").y_values == ("positive", "constant", "random_sign", "zero")


def test_values_that_are_not_given_are_spread_over_what_is_assumed() -> None:
    log = Axis("a", 1e-4, 1.0, "log", inside=(1e-2, 1.0))
    assert spread(log) == pytest.approx((0.01, 0.0316, 0.1, 0.316, 1.0))
    assert spread(Axis("a", 0.0, 2.0)) == (0.0, 0.5, 1.0, 1.5, 2.0)
    assert spread(Axis("a", 2, 100, "integer", inside=(2, 4))) == (2, 3, 4)
    one_point = Axis("a", 0.0, 10.0, inside=(0.0, 0.0))
    assert spread(one_point) == (0.0, 2.5, 5.0, 7.5, 10.0)
    low, high = 1.23456, 9.87654
    assert all(low <= value <= high for value in spread(Axis("a", low, high)))


def test_coordinates_are_numbers_or_strings_as_they_have_to_be() -> None:
    at = dict(asked("d", None, "c=0.9", "start=zero", "features=student_t:5", "y_max=2").at or {})
    assert at == {"c": 0.9, "start": "zero", "features": "student_t:5", "y_max": 2.0, "n": 20}


def test_levels_are_sorted_and_once_and_the_rest_reaches_the_engine() -> None:
    found = asked(level="0.95,.5,0.95", budget=77, confidence=0.9, seed=5)
    assert found.levels == (0.5, 0.95)
    assert (found.budget, found.confidence, found.root_seed) == (77, 0.9, 5)


def test_the_claim_may_be_of_a_file(tmp_path: Any) -> None:
    file = write_theorem(tmp_path)
    with pytest.raises(UnknownName, match="--x 'n' is no axis of theorem"):
        read(f"{file}::below_nine_tenths", "n", budget=100)


def test_an_axis_that_stands_in_anothers_place_is_not_missed() -> None:
    assert asked("d_over_n").x.name == "d_over_n"
    with pytest.raises(InputError, match=r"n is not set, and theorem 'lai2026.theorem1' has no"):
        read(CLAIM, "d", budget=100)
    with pytest.raises(InputError, match="add --at d=2000, or --y d"):
        read(CLAIM, "c", at=("n=20",), budget=100)
    assert read(CLAIM, "c", at=("n=20", "d_over_n=50"), budget=100)


@pytest.mark.parametrize(
    ("x", "y", "at", "options", "message"),
    [
        ("dd", None, (), {}, r"--x 'dd' is no axis of theorem 'lai2026.theorem1'; the nearest"),
        ("d", "starts", (), {}, r"--y 'starts' is no axis .*nearest names are start"),
        ("start", None, (), {}, r"--x start is a choice of positive.*may be --y start"),
        ("aspect", None, (), {}, r"--x 'aspect' is no axis"),
        ("d:5", None, (), {}, r"--x d:5, expected d or d:lo:hi"),
        ("d:50:50", None, (), {}, r"--x d:50:50 is the single point 50, expected low < high"),
        ("d:9:4", None, (), {}, r"has low > high, 9 > 4, .*: --x d:4:9"),
        ("d:1:50", None, (), {}, r"--x d: 1 is not on the axis, expected between 2 and 1e\+07"),
        ("d:few:50", None, (), {}, r"'few' is no number"),
        ("d:nan:50", None, (), {}, r"'nan' is no number"),
        ("n:2.5:9", None, ("d=900",), {}, r"--x n: 2.5, expected a whole number"),
        ("d", "n:10,x", (), {}, r"--y n: x: 'x' is no number"),
        ("d", "n:10,9999", (), {}, r"--y n: 9999 is not on the axis, expected between 2 and 2000"),
        ("d", "start:positiv", (), {}, r"positiv is no choice of start; the nearest names are pos"),
        ("d", None, ("c",), {}, r"--at c, expected NAME=VALUE"),
        ("d", None, ("c=fast",), {}, r"'fast' is no number"),
        ("d", None, ("cc=1",), {}, r"--at 'cc' is no coordinate .*nearest names are c"),
        ("d", None, ("c=1", "c=2"), {}, r"--at c=1 and --at c=2 set the same thing, c"),
        ("d", None, ("d=9",), {}, r"--x d and --at d=9 set the same thing"),
        ("d", "d_over_n", (), {}, r"--x d and --y d_over_n set the same thing, d_over_n"),
        ("d", None, (), {"level": "0.5,1"}, r"--level 1, expected probabilities between 0 and 1"),
        ("d", None, (), {"level": "half"}, r"--level half: 'half' is no number"),
        ("d", None, (), {"budget": 0}, r"--budget 0, expected a number of trials"),
        ("d", None, (), {"budget": 2_000_001}, r"expected 2000000 trials at most: .* 40001 blocks"),
        (
            "d",
            None,
            (),
            {"without": ("positive",)},
            r"has no assumption 'positive' to drop; it has",
        ),
        ("d", None, ("start_low=1", "start_scale=1"), {}, r"set the same thing, start_low"),
        ("d", None, (), {"confidence": 1.0}, r"--confidence 1.0, expected between 0 and 1"),
        ("d", None, (), {"seed": -1}, r"--seed -1, expected a whole number"),
    ],
)
def test_what_cannot_be_asked_gets_its_sentence(
    x: str, y: str | None, at: tuple[str, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        asked(x, y, *at, **options)


def test_what_is_no_claim_about_problems_has_no_frontier() -> None:
    theorem2 = find_theorem("lai2026.theorem2")
    rate = next(claim.id for claim in theorem2.all_claims if claim.kind == "rate")
    with pytest.raises(UnknownName, match=f"{rate} is a power law along sweeps: it has no front"):
        read(f"lai2026.theorem2.{rate}", "d", at=("n=20",), budget=100)
    measure = find_theorem("lai2026.theorem1").measures[0].id
    with pytest.raises(UnknownName, match="is measured, and claims nothing"):
        read(f"lai2026.theorem1.{measure}", "d", at=("n=20",), budget=100)
    with pytest.raises(UnknownName, match=r"patern_freezes.*nearest names are pattern_freezes"):
        read("patern_freezes", "d", budget=100)


def test_what_is_dropped_reaches_the_engine_once() -> None:
    found = asked(without=("start_is_positive", "start_is_small", "start_is_positive"))
    assert found.without == ("start_is_positive", "start_is_small")
    assert asked().without == ()


def test_defaults_are_those_of_coordinates_that_nothing_sets() -> None:
    theorem1 = find_theorem("lai2026.theorem1")
    found = read(CLAIM, "d", at=("n=20", "spike_height=3", "start_scale=0.1"), budget=100).defaults
    gone = {"spectrum", "start_low", "start_high"}
    assert found == {k: v for k, v in theorem1.defaults.items() if k not in gone}


MANY = "lai2026.many_neurons.sixteen_neurons_reach_a_global_minimum"


def test_many_neurons_have_frontiers_along_m_and_along_d() -> None:
    found = read(MANY, "m", at=("n=20", "d=2000"), budget=100)
    assert (found.request.x.scale, found.request.x.low, found.request.x.high) == ("integer", 2, 64)
    assert found.request.at == {"n": 20, "d": 2000}
    assert "m" not in found.defaults
    assert found.defaults["start"] == "random_sign"
    found = read(MANY, "d", "m:2,4,8,16", ("n=20",), budget=100)
    assert found.request.y_values == (2, 4, 8, 16)
    assert read(MANY, "c", at=("n=20", "d=2000", "positives=random"), budget=100).request.at == {
        "n": 20,
        "d": 2000,
        "positives": "random",
    }


def test_a_coordinate_of_the_theorems_own_points_needs_no_axis() -> None:
    claim = next(c.id for c in find_theorem("lai2026.selection").claims if c.kind != "rate")
    address = f"lai2026.selection.{claim}"
    with pytest.raises(InputError, match=r"n is not set|d is not set"):
        read(address, "c", budget=100)
    with pytest.raises(InputError, match=r"^d is not set, and .*; add --at d=\d+$"):
        read(address, "c", at=("n=20",), budget=100)
    assert read(address, "c", at=("n=20", "d=2000"), budget=100).request.at == {"n": 20, "d": 2000}
    assert read(address, "aspect", at=("n=6",), budget=100)
    with pytest.raises(InputError, match=r"--x aspect and --at d=90 are two ways to say the same"):
        read(address, "aspect", at=("n=6", "d=90"), budget=100)
    with pytest.raises(InputError, match=r"--at d=90\.5, expected a whole number"):
        read(address, "c", at=("n=6", "d=90.5"), budget=100)
