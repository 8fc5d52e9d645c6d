"""Sentences as LaTeX: what stands for a product, an entry of a neuron, a power of ten."""

import pytest

from reports.counterexamples.tex import prose, scientific


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w⋆", r"\ensuremath{w^{\star }{}}"),
        ("the ⋆", r"the \ensuremath{^{\star }}"),
        (
            "β⊕_12 and α⊖",
            r"\ensuremath{\beta _{\oplus , 12}} and \ensuremath{\alpha}\ensuremath{\ominus}",
        ),
        ("ηλ_max(G)", r"\ensuremath{\eta}\ensuremath{\lambda _{max}}(G)"),
        ("1e-9 of 2.5e-13", r"\ensuremath{10^{-9}} of \ensuremath{2.5 \cdot 10^{-13}}"),
        ("face1e-9x", "face1e-9x"),
    ],
)
def test_symbols_of_theorems(text, expected):
    assert prose(text) == expected


def test_powers_of_ten():
    assert scientific("1", "-12") == "10^{-12}"
    assert scientific("-1", "+08") == "-10^{8}"
    assert scientific("5.06097", "-14") == r"5.06097 \cdot 10^{-14}"
