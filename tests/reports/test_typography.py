import math

import pytest

from reports import typography

BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""All that Unicode gives the property Bidi_Control."""
EQUALS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (float("nan"), "—"),
        (float("inf"), "∞"),
        (0, "0"),
        (-0.0, "0"),
        (True, "True"),
        ("isotropic", "isotropic"),
        (1e12, "10¹²"),
        (-1e-10, "−10⁻¹⁰"),
        (1.5e-7, "1.5×10⁻⁷"),
        (0.9556123, "0.9556"),
        (0.001, "0.001"),
        (-0.18, "−0.18"),
        (100.0, "100"),
        (8000, "8000"),
        (20_000, "20\N{NARROW NO-BREAK SPACE}000"),
        (20_000.0, "20\N{NARROW NO-BREAK SPACE}000"),
        (123_456, "123\N{NARROW NO-BREAK SPACE}456"),
        (1_000_000, "10⁶"),
        (9.99999e5, "10⁶"),
        (10**400, "beyond 10³⁰⁸"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert typography.number(value) == text


def test_points_name_sizes_first():
    point = {"c": 0.5, "d": 1e9, "n": 40, "spectrum": "isotropic"}
    assert typography.point_text(point) == "n = 40, d = 10⁹, c = 0.5, spectrum = isotropic"
    assert typography.point_text(point, without=("n", "c", "spectrum")) == "d = 10⁹"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.95, "95"), (0.0125, "1.2"), (0.99904, "99.904"), (0.9999975, "99.99975"), (1.0, "100")],
)
def test_percentages_keep_their_distance_from_certainty(share, text):
    assert typography.percent(share) == f"{text}\N{NARROW NO-BREAK SPACE}%"


@pytest.mark.parametrize("bound", [0.0, 0.94996, 0.95, 0.999999, 1.0])
def test_bounds_are_rounded_to_the_safe_side(bound):
    assert float(typography.at_least(bound)) <= bound + 1e-12
    assert float(typography.at_most(bound)) >= bound - 1e-12
    assert math.isclose(float(typography.at_least(bound)), bound, abs_tol=1e-4)
    assert typography.at_least(0.95) == typography.at_most(0.95) == "0.9500"
    assert typography.at_least(None) == typography.at_most(None) == "—"


@pytest.mark.parametrize(
    ("text", "typeset"),
    [
        ("‖w_∞ − w⋆‖", "‖w<sub>∞</sub> − w⋆‖"),
        ("β⁰_max", "β<sup>0</sup><sub>max</sub>"),
        ("w_0^⊥", "w<sub>0</sub><sup>⊥</sup>"),
        (
            "X₊⁺(y₊ − X₊w_1)",
            "X<sub>+</sub><sup>+</sup>(y<sub>+</sub> − X<sub>+</sub>w<sub>1</sub>)",
        ),
        ("λ_min > 1e-9 λ_max", "λ<sub>min</sub> &gt; 10<sup>−9</sup> λ<sub>max</sub>"),
        ("‖λ‖_∞ and ‖y‖", "‖λ‖<sub>∞</sub> and ‖y‖"),
        ("c² d_2 y_min²/n", "c<sup>2</sup> d<sub>2</sub> y<sub>min</sub><sup>2</sup>/n"),
        ("β⁰ = Xw_0 + 1", f"β<sup>0</sup>{EQUALS}Xw<sub>0</sub> + 1"),
        ("n = 20, d = 4000.", f"n{EQUALS}20, d{EQUALS}4000."),
        ("√(Σ_{S₊} y²)", "√(Σ<sub>S+</sub> y<sup>2</sup>)"),
        ("Σ_S₋(c", "Σ<sub>S−</sub>(c"),
        ("(β_i^∞)²", "(β<sub>i</sub><sup>∞</sup>)<sup>2</sup>"),
        ("|y_i|((1−a)^t − 1)", "|y<sub>i</sub>|((1−a)<sup>t</sup> − 1)"),
        ("(1 − 2^(−m₊))^n₊", "(1 − 2<sup>−m+</sup>)<sup>n+</sup>"),
        ("λ_j = j^−a", f"λ<sub>j</sub>{EQUALS}j<sup>−a</sup>"),
        ("max_{i≠j}|x_i·x_j|", "max<sub>i≠j</sub>|x<sub>i</sub>·x<sub>j</sub>|"),
        ("ηλ_max(G)", "ηλ<sub>max</sub>(G)"),
        ("α_iβ_i + |β⋆_i|", "α<sub>i</sub>β<sub>i</sub> + |β⋆<sub>i</sub>|"),
        ("Δ_kᵀS_kΔ_k", "Δ<sub>k</sub>ᵀS<sub>k</sub>Δ<sub>k</sub>"),
        ("Xᵀα_k⁰, (Xw̃)_i", "Xᵀα<sub>k</sub><sup>0</sup>, (Xw̃)<sub>i</sub>"),
        (
            "‖x‖²y_i²‖y_off‖₁",
            "‖x‖<sup>2</sup>y<sub>i</sub><sup>2</sup>‖y<sub>off</sub>‖<sub>1</sub>",
        ),
        ("X_γ, r_D, √(2πd_2)", "X<sub>γ</sub>, r<sub>D</sub>, √(2πd<sub>2</sub>)"),
        ("w_∞ = f(x)_one_thing", "w<sub>∞</sub> = f(x)_one_thing"),
        ("a_b_c, d_over_n, x_axis, {n}_{m", "a_b_c, d_over_n, x_axis, {n}_{m"),
        ("gap_upper_band and file_1", "gap_upper_band and file_1"),
        ("<b>x_1</b>", "&lt;b&gt;x<sub>1</sub>&lt;/b&gt;"),
        ("x1e5 0x1e5 v1.2e3b", "x1e5 0x1e5 v1.2e3b"),
    ],
)
def test_prose_typesets_mathematics_and_leaves_names(text, typeset):
    assert typography.prose(text) == typeset


@pytest.mark.parametrize(
    ("given", "ours", "told"),
    [
        (0, 0, "every instance"),
        (1, 0, "every instance that meets 1 assumption"),
        (1, 1, "every instance that meets 1 assumption, which is ours"),
        (2, 2, "every instance that meets 2 assumptions, both of them ours"),
        (3, 3, "every instance that meets 3 assumptions, all of them ours"),
        (4, 2, "every instance that meets 4 assumptions, 2 of them ours"),
    ],
)
def test_universal_claims_tell_what_puts_an_instance_in_scope(given, ours, told):
    verdict = {"kind": "universal", "probability": None, "given": ["one"] * given}
    assert typography.kind_words(verdict, ours) == told


@pytest.mark.parametrize(
    ("counted", "told"),
    [
        ({"worst_margin": -0.18, "in_scope": 5}, "−0.18"),
        ({"worst_margin": None, "in_scope": 5}, "no decided margin"),
        ({"worst_margin": None, "in_scope": 0}, "none in scope"),
        ({"worst_margin": None, "in_scope": 5, "kind": "rate"}, "no slope fitted"),
    ],
)
def test_a_missing_margin_says_why(counted, told):
    assert typography.margin_words(counted) == told


def test_slopes_that_leave_out_their_exponent_within_tolerance_are_counted():
    slope = {"verdict": "supported", "exponent": 0.5, "low": 0.495, "high": 0.499}
    around = {**slope, "high": 0.501}
    refuted = {**slope, "verdict": "refuted"}
    unfitted = {**slope, "verdict": "vacuous", "low": None, "high": None}
    told = typography.where_slopes_lie
    assert told([slope]) == "Here the interval leaves out the exponent itself, within tolerance."
    assert told([slope, around]).startswith("Here 1 of 2 intervals leaves out")
    assert told([slope, slope, around]).startswith("Here 2 of 3 intervals leave out")
    assert told([around, refuted, unfitted]) == told([]) == ""
    assert not typography.excludes_exponent(unfitted)


def test_citations_link_to_preprints_only():
    found = str(
        typography.citation("arXiv 2603.04895, https://example.org/<x>, javascript:alert(1)")
    )
    assert found.count("<a ") == 1
    assert 'href="https://arxiv.org/abs/2603.04895"' in found


def test_characters_that_no_page_can_hold_are_replaced_wherever_they_are():
    found = typography.clean({"a\x00": ["b\x1b", ("\ud800", math.inf, math.nan, 1.5, True)]})
    assert found == {"a\ufffd": ["b\ufffd", ["\ufffd", None, None, 1.5, True]]}


@pytest.mark.parametrize("control", BIDIRECTIONAL)
def test_no_text_turns_round_what_is_about_it(control):
    assert typography.clean({"claim": f"safe{control}elbanu"}) == {"claim": "safe\ufffdelbanu"}


def test_text_of_any_direction_stays():
    written = "שלום، مرحبا 👩\u200d🔬 e\u0301\ttab\nline"
    assert typography.clean(written) == written
