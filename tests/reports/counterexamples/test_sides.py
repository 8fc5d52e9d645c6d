"""Both sides of a statement by their names, and the numbers as people and LaTeX write them."""

from fractions import Fraction

import pytest

from reports.counterexamples.numbers import both, by_how_much, equal, exactly, small
from reports.counterexamples.sides import Sides, sides_of


def statement(reads, strict=False):
    """Return a recorded statement with sides "l" and "r"."""
    return {"reads": reads, "left": "l", "right": "r", "strict": strict}


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        ("5000 n ≤ d", Sides("d", "r", "≥", "5000 n", "l")),
        ("½ max|y| ≤ min|y|", Sides("min|y|", "r", "≥", "½ max|y|", "l")),
        ("max|β⁰| ≤ min|y|/20", Sides("max|β⁰|", "l", "≤", "min|y|/20", "r")),
        ("ητ ≤ 6/5", Sides("ητ", "l", "≤", "", "r")),
        ("¼ ≤ ητ", Sides("ητ", "r", "≥", "", "l")),
        ("‖w_0^⊥‖² τ ≤ 10⁻¹⁶", Sides("‖w_0^⊥‖² τ", "l", "≤", "", "r")),
        ("d/4 ≤ d_∞", Sides("d_∞", "r", "≥", "d/4", "l")),
        ("2|Σ y_i| ≤ n", Sides("n", "r", "≥", "2|Σ y_i|", "l")),
        ("0 ≤ −β_2 at step 7", Sides("−β_2", "r", "≥", "", "l", "at step 7")),
        ("", Sides("", "r", "≥", "", "l")),
        ("a ≤ b ≤ c", Sides("", "r", "≥", "", "l")),
    ],
)
def test_what_is_bounded_comes_first(reads, expected):
    assert sides_of(statement(reads)) == expected


def test_strict_statements_have_strict_signs():
    assert sides_of(statement("0 < min|y|", strict=True)).relation == ">"
    assert sides_of(statement("u < 1", strict=True)).relation == "<"


@pytest.mark.parametrize(
    ("text", "shown", "told"),
    [
        ("0", "0", "q = 0"),
        ("-17/24", "-17/24", "q = -17/24"),
        ("1/1000", "1/1000", "q = 1/1000"),
        ("1/1000000000000", "10⁻¹²", "q = 10⁻¹²"),
        ("-1/10000000", "-10⁻⁷", "q = -10⁻⁷"),
        ("1/8000000", "1.25·10⁻⁷", "q = 1.25·10⁻⁷"),
        ("1/30000", "1/30000", "q = 1/30000"),
        (f"1{'0' * 30}/3", "≈3.33333e+29", "q ≈ 3.33333e+29"),
        (f"1/{'3' * 3999}", "≈3e-3999", "q ≈ 3e-3999"),
    ],
)
def test_numbers_as_people_write_them(text, shown, told):
    assert (exactly(text), equal("q", text)) == (shown, told)
    if len(text) < 4000:
        assert exactly(Fraction(text)) == shown


def test_decimals_stand_beside_fractions_alone():
    assert both("17/24") == "17/24 ≈ 0.708333"
    assert both("1/4") == "1/4 = 0.25"
    assert both("1/1000000000000") == "10⁻¹²"
    assert both("3") == "3"
    assert both(f"{'7' * 40}/3") == "≈2.59259e+39 (of 40 digits)"


def test_differences_of_long_numbers_are_rounded():
    """Their digits together are more than Python turns into a string."""
    assert by_how_much(f"1/{'7' * 3001}", f"1/{'3' * 3000}") == "≈2.87143e-3000"
    assert by_how_much("1/2", "1/3") == "1/6"


def test_a_small_number_is_written_with_a_power_only_if_that_is_exact():
    assert small("1/8000000000000") == ("1.25", "-13")
    assert small("1/70000") is None
    assert small(f"1/1{'0' * 30}") is None, "it is a long one"
