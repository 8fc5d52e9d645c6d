"""A block follows from seed, theorem, point and number; misbehaviour is told with its line."""

import inspect
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from tests.verify.engine.toys import (
    ALWAYS_MET,
    HERE,
    NEVER_MET,
    OFTEN_MET,
    UNKNOWN,
    at_least_zero,
    below_a_half,
    n_of,
    rate,
    rising,
    simulate,
    theorem_of,
)
from verify.arrays import backend
from verify.claims import Assumption, Control, Rate, Sweep, Universal
from verify.engine.evaluate import Record, draw_trial, evaluate_block, margin_of, scope_of, stream
from verify.engine.plan import Cell
from verify.errors import InputError, ReluVerifyError, TheoremError
from verify.margin import Margin
from verify.space import Point
from verify.trial import Trial


def cell_of(theorem, point=HERE, control=""):
    return Cell(point, control, tuple(claim.id for claim in theorem.claims), 10)


def record_of(theorem, point=HERE, block=0, root_seed=0):
    return evaluate_block(theorem, cell_of(theorem, point), root_seed, block)


# Streams


@pytest.mark.parametrize(
    "changed",
    [
        {"root_seed": 1},
        {"block": 1},
        {"point": Point(n=2)},
        {"point": Point(n=1, m=1)},
        {"theorem": theorem_of(Universal(at_least_zero), id="other")},
    ],
)
def test_a_stream_follows_from_seed_theorem_point_and_block_alone(changed):
    same = {"theorem": theorem_of(Universal(at_least_zero)), "point": HERE}
    first = stream(**{**same, "root_seed": 0, "block": 0}).random(4)
    again = {"theorem": theorem_of(Universal(below_a_half), block=7), "point": Point(n=1.0)}
    np.testing.assert_array_equal(stream(**again, root_seed=0, block=0).random(4), first)
    other = stream(**{**same, "root_seed": 0, "block": 0, **changed}).random(4)
    assert not np.isin(other, first).any()


def test_no_two_blocks_of_a_grid_share_a_number():
    theorem = theorem_of(Universal(at_least_zero))
    numbers = np.concatenate(
        [
            stream(theorem, Point(n=n), seed, block).random(50)
            for n in range(10)
            for seed in range(3)
            for block in range(10)
        ]
    )
    assert len(np.unique(numbers)) == numbers.size


def test_a_stream_stays_what_it_was_in_earlier_versions():
    """Pinned: stored counterexamples are found again by seed, block and trial."""
    found = stream(theorem_of(Universal(at_least_zero)), Point(n=1), 0, 0).random(2)
    np.testing.assert_array_equal(found, [0.36706465732365734, 0.4626454310144066])


# Records


def test_a_record_holds_margins_scopes_and_assumptions_by_name():
    theorem = theorem_of(Universal(at_least_zero, given=(OFTEN_MET, UNKNOWN)), rate())
    u = draw_trial(theorem, cell_of(theorem), 0, 0).problem
    record = record_of(theorem)
    np.testing.assert_array_equal(record["at_least_zero.value"], u)
    np.testing.assert_array_equal(record["at_least_zero.rounding"], 0 * u)
    np.testing.assert_array_equal(record["at_least_zero.scope"], np.where(u > 0.5, 0.0, 0.5))
    np.testing.assert_array_equal(record["given.below_a_half.value"], 0.5 - u)
    np.testing.assert_array_equal(record["given.never_decided.rounding"], np.full(10, np.inf))
    np.testing.assert_array_equal(record["rising.against.n"], np.ones(10))
    np.testing.assert_allclose(record["rising.quantity"], np.exp(0.01 * (u - 0.5)))


def test_a_band_is_recorded_beside_its_rate():
    theorem = theorem_of(rate(band=(n_of, rising)))
    record = record_of(theorem)
    np.testing.assert_array_equal(record["rising.band_low"], np.ones(10))
    np.testing.assert_array_equal(record["rising.band_high"], record["rising.quantity"])


def test_an_abscissa_is_recorded_only_on_the_sweeps_that_pass_there():
    points = tuple(Point(n=n) for n in (1, 2, 3)), tuple(Point(n=n) for n in (3, 4, 5))
    sweeps = tuple(Sweep(name, p, n_of, 1.0) for name, p in zip("ab", points, strict=True))
    theorem = theorem_of(Rate(rising, sweeps=sweeps))
    assert "rising.against.b" not in record_of(theorem, Point(n=1)).series
    assert {"rising.against.a", "rising.against.b"} <= set(record_of(theorem, Point(n=3)).series)


def test_an_assumption_is_evaluated_once_a_block():
    calls = []

    def counted(trial):
        """u is what it is."""
        calls.append(1)
        return Margin(0.0, trial.problem)

    given = (Assumption(counted),)
    record_of(
        theorem_of(Universal(at_least_zero, given=given), Universal(below_a_half, given=given))
    )
    assert len(calls) == 1


def test_scope_is_the_worst_of_the_assumptions():
    theorem = theorem_of(Universal(at_least_zero))
    trial = Trial(theorem, HERE, np.array([0.25, 0.75]), 2)
    for given, expected in (
        ((), [1, 1]),
        ((ALWAYS_MET, OFTEN_MET), [1, 0]),
        ((UNKNOWN, OFTEN_MET), [0.5, 0]),
        ((UNKNOWN, NEVER_MET), [0, 0]),
    ):
        claim = Universal(at_least_zero, given=given)
        np.testing.assert_array_equal(scope_of(claim, trial), expected)


def test_an_assumption_of_nan_leaves_the_scope_unknown():
    def nan(trial):
        """Nobody knows."""
        return Margin(0.0, np.full(trial.trials, np.nan))

    record = record_of(theorem_of(Universal(at_least_zero, given=(Assumption(nan),))))
    assert (record["at_least_zero.scope"] == 0.5).all()


def test_records_differ_in_the_series_whose_numbers_differ():
    one = Record(("a", "b"), np.array([[1.0, np.nan], [np.inf, 0.0]]))
    assert one.differing(Record(("a", "b"), one.data.copy())) == ()
    assert one.differing(Record(("a", "b"), one.data + np.array([[0], [1]]))) == ("b",)
    assert one.differing(Record(("a", "c"), one.data)) == ("a", "b", "c")
    assert one.differing(Record(("a", "b"), one.data[:, :1])) == ("a", "b")


def test_a_broken_simulator_runs_in_its_control_only():
    def off_by_one(problem):
        return problem - 1

    def run_is_u(trial):
        """The run is the problem."""
        return Margin(abs(trial.run - trial.problem), 0.0)

    theorem = theorem_of(
        Universal(run_is_u),
        controls=(Control(Universal(run_is_u, name="broken"), "it is off", simulate=off_by_one),),
    )
    cell = Cell(HERE, "broken", ("broken",), 10)
    np.testing.assert_array_equal(evaluate_block(theorem, cell, 0, 0)["broken.value"], -np.ones(10))
    np.testing.assert_array_equal(record_of(theorem)["run_is_u.value"], np.zeros(10))


# What theorems must not return


def line_of(function, text):
    lines, start = inspect.getsourcelines(function)
    return start + next(i for i, line in enumerate(lines) if text in line)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (True, "returned bool, expected a Margin; write `return Margin"),
        (None, "returned NoneType, expected a Margin"),
        (np.ones(10), "returned ndarray, expected a Margin"),
        (Margin(0.0, np.ones(9)), r"its margin has shape \(9,\), expected \(10,\)"),
        (Margin(0.0, np.ones((10, 1))), r"its margin has shape \(10, 1\), expected \(10,\)"),
        (Margin(np.ones((10, 1)), np.ones(10)), r"its margin has shape \(10, 10\)"),
        (Margin(0.0, 1.0, rounding=np.ones(3)), r"its margin's rounding has shape \(3,\)"),
        (Margin(0.0, 1.0, rounding=-1e-9), "returned a margin with rounding=-1e-09, expected a"),
        (
            Margin(0.0, 1.0, scale=-2.0),
            "returned a margin with scale=-2, expected a finite positive",
        ),
        (Margin(0.0, 1.0, scale=-np.ones(10)), "returned a margin with scale=-1, expected a fin"),
        (Margin(0.0, None), "its margin's right is of type object, expected real numbers"),
        (Margin(1j, 0.0), "its margin's left is of type complex128, expected real numbers"),
        (Margin("a", 0.0), "its margin's left is of type <U1, expected real numbers"),
        (
            Margin(np.ones(10), np.ones(3)),
            r"do not fit together \(left \(10,\), right \(3,\)\): its right is expected .*axis 0",
        ),
        (Margin(np.ones((10, 3)), np.ones(10)), r"its left is .*reduce the other axes, say with"),
        (Margin(np.ones(10) > 0, True), "which holds whatever left is"),
    ],
)
@pytest.mark.parametrize("role", ["claim", "assumption"])
def test_a_claim_or_assumption_returns_one_margin_an_instance(returned, message, role):
    def odd(trial):
        """It is odd."""
        return returned

    given = (Assumption(odd),) if role == "assumption" else ()
    theorem = theorem_of(Universal(at_least_zero if given else odd, given=given))
    with pytest.raises(TheoremError, match=message) as caught:
        record_of(theorem)
    where = line_of(odd, "def odd")
    assert str(caught.value).startswith(f"{__file__}:{where} in {role} odd")


@pytest.mark.parametrize(
    "returned",
    [
        Margin(0, 1.0),
        Margin(np.zeros(10), 1.0),
        Margin(0.0, 1.0, scale=np.ones(10)),
        Margin.worst(Margin(0, 1), Margin(0.0, 2.0)),
        Margin(0, 2).contradicted_where(np.zeros(10, bool)),
        Margin.equal(1, 1.0, 1.0, 0.1),
    ],
)
def test_a_statement_between_two_numbers_is_one_for_all_instances(returned):
    def constant(trial):
        """It is constant."""
        return returned

    assert (record_of(theorem_of(Universal(constant)))["constant.value"] > 0).all()


ONE = np.ones(1)


@pytest.mark.parametrize(
    ("returned", "shape"),
    [
        (Margin(0.0, ONE), r"\(1,\)"),
        (Margin(ONE, 2 * ONE), r"\(1,\)"),
        (Margin(0.0, ONE.sum()), r"\(\)"),
        (Margin(np.float64(0.0), 1.0), r"\(\)"),
        (Margin(np.zeros(()), 1), r"\(\)"),
        (Margin.worst(Margin(0, 1), Margin(0, ONE.sum())), r"\(\)"),
        (Margin.equal(ONE.sum(), 1.0, 1.0, 0.1), r"\(\)"),
        (Margin(0, 1).undecided_where(ONE > 2), r"\(1,\)"),
    ],
)
@pytest.mark.parametrize("role", ["claim", "assumption"])
def test_one_number_computed_from_a_batch_is_not_counted_for_each_instance(returned, shape, role):
    def odd(trial):
        """It is odd."""
        return returned

    given = (Assumption(odd),) if role == "assumption" else ()
    theorem = theorem_of(Universal(at_least_zero if given else odd, given=given))
    where = f"{__file__}:{line_of(odd, 'def odd')} in {role} odd"
    with pytest.raises(TheoremError, match=rf"{where}.* has shape {shape}, expected \(10,\)"):
        record_of(theorem)


def test_a_batch_of_one_may_be_a_number():
    trial = Trial(theorem_of(Universal(at_least_zero)), HERE, np.array([0.25]), 1)
    for returned in (Margin(0.0, ONE), Margin(0.0, ONE.sum())):
        assert margin_of(lambda trial, margin=returned: margin, trial).value == 1


@pytest.mark.parametrize("scale", [0.0, np.inf, np.nan, -1, np.float64(0), np.array(np.inf)])
def test_a_scale_for_all_instances_is_finite_and_positive(scale):
    def odd(trial):
        """It is odd."""
        return Margin(trial.problem, 1.0, scale)

    where = f"{__file__}:{line_of(odd, 'def odd')} in claim odd"
    with pytest.raises(TheoremError, match=rf"^{where} .*scale=.*finite positive number.*, try "):
        record_of(theorem_of(Universal(odd)))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "its quantity is of type object, expected real numbers"),
        (np.ones(3), r"its quantity has shape \(3,\), expected \(10,\), one number an instance"),
        (np.ones(1), r"its quantity has shape \(1,\), expected \(10,\)"),
        (np.ones(10).mean(), r"its quantity has shape \(\), expected \(10,\)"),
        (Margin(0, 1), "its quantity is of type object"),
        ("a", "its quantity is of type <U1"),
    ],
)
def test_a_quantity_is_one_number_an_instance(returned, message):
    def odd(trial):
        """It is odd."""
        return returned

    with pytest.raises(TheoremError, match=f"test_evaluate.py:.* in quantity odd: {message}"):
        record_of(theorem_of(rate(quantity=odd)))


# What theorems raise


def fails(*_):
    """It fails."""
    raise ValueError("no luck")


def asks(trial):
    """It asks for a reference."""
    return Margin(0, trial.reference("it"))


@pytest.mark.parametrize(
    ("role", "theorem"),
    [
        ("draw fails", theorem_of(Universal(at_least_zero), draw=fails)),
        ("simulate fails", theorem_of(Universal(at_least_zero), simulate=fails)),
        ("claim fails", theorem_of(Universal(fails))),
        ("assumption fails", theorem_of(Universal(at_least_zero, given=(Assumption(fails),)))),
        ("quantity fails", theorem_of(rate(quantity=fails))),
        ("quantity fails", theorem_of(rate(band=(n_of, fails)))),
        ("reference fails", theorem_of(Universal(asks), references={"it": fails})),
    ],
)
def test_what_a_theorem_raises_is_told_with_line_and_role(role, theorem):
    with pytest.raises(TheoremError) as caught:
        record_of(theorem)
    assert str(caught.value) == (
        f"{__file__}:{line_of(fails, 'raise ValueError')} in {role} raised ValueError: no luck; "
        "correct it, or, if the instance is at fault, keep such instances out of draw"
    )
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_line_inside_a_library_is_told_by_the_line_that_called_it():
    def inverts(trial):
        """It inverts the zero matrix."""
        np.linalg.inv(np.zeros((2, 2)))
        return Margin(0, 1)

    called = line_of(inverts, "np.linalg.inv")
    with pytest.raises(TheoremError, match=f"py:{called} in claim inverts raised LinAlgError"):
        record_of(theorem_of(Universal(inverts)))


def test_a_missing_coordinate_is_told_with_the_line_that_asks_for_it():
    def of_m(trial):
        """It asks for m."""
        return Margin(0, trial.point["m"])

    where = f"{__file__}:{line_of(of_m, 'point')} in claim of_m"
    with pytest.raises(TheoremError, match=rf"^{where}: no coordinate 'm' in Point\(n=1\)$"):
        record_of(theorem_of(Universal(of_m)))


class Odd(BaseException):
    """No Exception."""


@pytest.mark.parametrize("error", [SystemExit, Odd])
@pytest.mark.parametrize("place", ["draw", "simulate", "claim"])
def test_an_exit_is_the_theorems_fault_too(error, place):
    def raises(*_):
        """It raises."""
        raise error(0)

    claims = (Universal(raises if place == "claim" else at_least_zero),)
    changes = {} if place == "claim" else {place: raises}
    with pytest.raises(TheoremError, match=f"in {place} raises raised {error.__name__}: 0; "):
        record_of(theorem_of(*claims, **changes))


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, ReluVerifyError, InputError])
@pytest.mark.parametrize("place", ["draw", "simulate", "claim"])
def test_interrupts_pass_and_the_projects_own_errors_keep_their_class(error, place):
    def raises(*_):
        """It raises."""
        raise error("this one")

    claims = (Universal(raises if place == "claim" else at_least_zero),)
    changes = {} if place == "claim" else {place: raises}
    with pytest.raises(error, match="this one") as caught:
        record_of(theorem_of(*claims, **changes))
    assert caught.type is error


def test_an_input_error_of_the_library_gets_the_line_of_the_theorem_once():
    def refuses(problem, run):
        raise InputError("n=0, expected more")

    with pytest.raises(InputError) as caught:
        record_of(theorem_of(Universal(asks), references={"it": refuses}))
    where = f"{__file__}:{line_of(refuses, 'raise')} in reference refuses"
    assert str(caught.value) == f"{where}: n=0, expected more"


def writes(trial):
    """It writes."""
    trial.problem[:] = 0
    return Margin(0, 1)


def adds(*_):
    """It adds a word to a number."""
    return 1 + "one"


@pytest.mark.parametrize(
    ("claim", "changes", "advice"),
    [
        (writes, {}, "all claims look at the same problem and run, which are read-only: change a"),
        (at_least_zero, {"draw": lambda point: 1}, r"write `def draw\(point, generator, trials\)"),
        (at_least_zero, {"simulate": lambda: 1}, r"so write `def simulate\(problem\): …`"),
        (at_least_zero, {"draw": lambda *_: range(1.5)}, r'make it one: int\(point\["n"\]\), say'),
        (at_least_zero, {"draw": lambda *_: None}, "in draw returned nothing; end it with `retur"),
        (adds, {}, "; correct it$"),
    ],
)
def test_an_error_comes_with_what_to_do_about_it(claim, changes, advice):
    for function in changes.values():
        function.__name__ = next(iter(changes))
    with pytest.raises(TheoremError, match=advice):
        record_of(theorem_of(Universal(claim), **changes))


# Backends


def test_a_theorem_without_place_runs_on_numpy_only():
    theorem = theorem_of(Universal(at_least_zero))
    with pytest.raises(InputError, match="'toy' runs on numpy only: it has no place"):
        evaluate_block(theorem, cell_of(theorem), 0, 0, backend("array-api-strict"))


def test_a_theorem_with_place_gives_the_same_record_on_another_backend():
    theorem = theorem_of(
        Universal(at_least_zero), place=lambda problem, on: on.asarray(problem), simulate=simulate
    )
    strict = evaluate_block(theorem, cell_of(theorem), 0, 0, backend("array-api-strict"))
    assert record_of(theorem).differing(strict) == ()


def test_margins_are_of_scale_one_on_the_host():
    trial = Trial(theorem_of(Universal(at_least_zero)), HERE, np.array([1.0, 3.0]), 2)
    margin = margin_of(lambda t: Margin(1.0, t.problem, scale=2.0, rounding=0.5), trial)
    np.testing.assert_array_equal(margin.value, [0.0, 1.0])
    assert margin.scale == 1.0
    np.testing.assert_array_equal(margin.uncertainty, 0.5)


# What claims must leave alone


@dataclass(frozen=True)
class Held:
    """A problem of several arrays, one of them computed on demand."""

    parts: dict
    listed: list

    @cached_property
    def doubled(self):
        return 2 * self.parts["u"]


class Loose:
    """Not even a dataclass."""

    def __init__(self, u):
        self.u = u
        self.me = self


@pytest.mark.parametrize(
    ("shaped", "u_of"),
    [
        (lambda u: u, lambda held: held),
        (lambda u: (0, u), lambda held: held[1]),
        (lambda u: [(u,)], lambda held: held[0][0]),
        (lambda u: Held({"u": u}, []), lambda held: held.parts["u"]),
        (lambda u: Held({}, [u]), lambda held: held.listed[0]),
        (Loose, lambda held: held.u),
    ],
)
@pytest.mark.parametrize("place", ["claim", "claim, of the run", "reference", "simulate"])
def test_whoever_writes_into_a_problem_run_or_reference_is_told(shaped, u_of, place):
    def spoils(held):
        u_of(held)[:] = 0
        return held

    def spoiling(trial):
        """It writes."""
        spoils(
            trial.problem
            if place == "claim"
            else trial.reference("it")
            if place == "reference"
            else trial.run
        )
        return Margin(0, 1)

    theorem = theorem_of(
        Universal(spoiling),
        draw=lambda point, generator, trials: shaped(generator.random(trials)),
        simulate=spoils if place == "simulate" else lambda problem: shaped(u_of(problem) + 1),
        references={"it": lambda problem, run: shaped(u_of(problem) + u_of(run))},
    )
    where = f"{__file__}:.* in {'simulate spoils' if place == 'simulate' else 'claim spoiling'}"
    with pytest.raises(TheoremError, match=rf"^{where} raised ValueError: .*read-only"):
        record_of(theorem)


def test_what_is_computed_on_demand_still_is():
    def doubled(trial):
        """Twice u is at least u."""
        return Margin(trial.problem.parts["u"], trial.problem.doubled)

    theorem = theorem_of(
        Universal(doubled),
        draw=lambda point, generator, trials: Held({"u": generator.random(trials)}, []),
        simulate=lambda problem: problem.doubled + 1,
    )
    assert (record_of(theorem)["doubled.value"] > 0).all()


@pytest.mark.parametrize("name", ["problem", "run", "trials", "point"])
def test_a_trial_stays_what_all_claims_look_at(name):
    def sets(trial):
        """It replaces what the next claim looks at."""
        setattr(trial, name, np.zeros(10))
        return Margin(0, 1)

    with pytest.raises(TheoremError, match=rf"claim sets raised AttributeError: trial.{name} was"):
        record_of(theorem_of(Universal(sets)))
