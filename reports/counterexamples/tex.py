"""Sentences and names as LaTeX: symbols as mathematics, everything else escaped, ASCII alone."""

from __future__ import annotations

import re

from reports.typography import script_runs


def typewriter(name: str) -> str:
    """Return an identifier, escaped, in typewriter type; lines may break after "_" and "."."""
    escaped = "".join(map(_character, name))
    return f"\\texttt{{{re.sub(_BREAKS, _BREAK, escaped)}}}"


_BREAKS = r"(?<=\\_|\w\.)(?=\w)"
_BREAK = "\\\\allowbreak "


def prose(text: str) -> str:
    """Return a sentence of a theorem; w_∞, y_min and w_0^⊥ get scripts, as on pages.

    Characters that are not known are written as their code points, [U+2620].
    """
    # Of two Greek letters in a row, a product, the second alone has the script: ηλ_max.
    first, *products = re.split("(?<=[α-ω])(?=[α-ω]_)", text, maxsplit=1)
    if products:
        return prose(first) + prose(products[0])
    parts: list[str] = []
    runs = script_runs(text)
    for (run, level), (_, following) in zip(runs, [*runs[1:], ("", 0)], strict=True):
        if level:
            mark = "_" if level < 0 else "^"
            parts.append(f"{mark}{{{''.join(map(_inside, run))}}}" + ("" if following else "}"))
            continue
        last = _LAST.search(run)
        base = last[0] if last and following else ""
        parts.append(_running(run.removesuffix(base)))
        parts.append(f"\\ensuremath{{{_accented(base)}" if following else "")
    return "".join(parts)


def _running(text: str) -> str:
    """Return running text: accents joined to what they stand on, scripts of one run together."""
    return "".join(_token(found[0]) for found in _TOKENS.finditer(text))


def scientific(mantissa: str, power: str) -> str:
    """Return a number as one writes it within mathematics: 10^{-12}, 2 \\cdot 10^{-5}."""
    factor = {"1": "", "-1": "-"}.get(mantissa, f"{mantissa} \\cdot ")
    return f"{factor}10^{{{int(power)}}}"


def _token(token: str) -> str:
    if (entry := _ENTRY.fullmatch(token)) is not None:
        letter, neuron, index = entry.groups()
        return f"\\ensuremath{{{_inside(letter)}_{{{_inside(neuron)}, {index}}}}}"
    if (number := _DECIMAL.fullmatch(token)) is not None:
        return f"\\ensuremath{{{scientific(*number.groups())}}}"
    if token[0] in _SCRIPTS:
        mark = "_" if token[0] in _BELOW else "^"
        return f"\\ensuremath{{{mark}{{{''.join(_SCRIPTS[one] for one in token)}}}}}"
    return _character(token) if len(token) == 1 else f"\\ensuremath{{{_accented(token)}}}"


def _accented(base: str) -> str:
    """Return a letter within mathematics, with the accent and the scripts that may follow it."""
    if base in _OPERATORS:
        return f"\\{base}"
    found = _LETTER.fullmatch(base)
    if found is None:
        return ""
    letter, accent, scripts = found.groups()
    shown = f"{_ACCENTS[accent]}{{{_inside(letter)}}}" if accent else _inside(letter)
    return shown + "".join(
        f"{'_' if one in _BELOW else '^'}{{{_SCRIPTS[one]}}}{{}}" for one in scripts
    )


def _character(character: str) -> str:
    """Return one character of running text."""
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character in _SYMBOLS:
        return f"\\ensuremath{{{_SYMBOLS[character]}}}"
    if " " <= character <= "\x7e":
        return character
    return " " if character in "\t\n\r" else f"[U+{ord(character):04X}]"


def _inside(character: str) -> str:
    """Return one character within mathematics."""
    if character in _SCRIPTS:
        return f"{'_' if character in _BELOW else '^'}{{{_SCRIPTS[character]}}}"
    if character in _SYMBOLS:
        return f"{_SYMBOLS[character]} "
    return (
        character
        if character.isascii() and character.isalnum()
        else f"\\text{{{_character(character)}}}"
    )


_ACCENTS = {"\u0302": "\\hat", "\u0303": "\\tilde", "\u0304": "\\bar"}
_ABOVE, _BELOW, _MEANT = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-"
_SCRIPTS = dict(zip(_ABOVE + _BELOW, _MEANT * 2, strict=True)) | {"⋆": "\\star "}

_RAISED, _SCRIPT = f"{_ABOVE}⋆", f"{_ABOVE}⋆{_BELOW}"
_DECIMAL = re.compile(r"\b(\d+(?:\.\d+)?)e([+-]?\d+)\b", re.ASCII)
_ENTRY = re.compile(r"([^\W\d_])([⊕⊖])_(\d+)")
"""Of one neuron: β⊕_1."""
_TOKENS = re.compile(
    rf"{_ENTRY.pattern}|{_DECIMAL.pattern}|[^\W\d_]⋆|[{_RAISED}]+|[{_BELOW}]+|.[{''.join(_ACCENTS)}]|.",
    re.DOTALL,
)
_LETTER = re.compile(f"(.)([{''.join(_ACCENTS)}]?)([{_SCRIPT}]*)", re.DOTALL)
_OPERATORS = ("max", "min")
_LAST = re.compile(f"(?:max|min)$|[^{_SCRIPT}]?[{''.join(_ACCENTS)}]?[{_SCRIPT}]*$", re.DOTALL)

_ESCAPED = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\ensuremath{<}",
    ">": "\\ensuremath{>}",
    "|": "\\ensuremath{|}",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    "’": "'",
    "…": "\\ldots{}",
    "§": "\\S{}",
    "é": "\\'e",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": "\\,",
} | {character: f"\\{character}" for character in "#$%&_{}"}

_GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau "
    "varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_GREEK = dict(zip("αβγδεζηθκλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ", _GREEK_NAMES.split(), strict=True))

_SYMBOLS = {
    "‖": "\\|",
    "∞": "\\infty",
    "⋆": "\\star",
    "⊥": "\\perp",
    "⊕": "\\oplus",
    "⊖": "\\ominus",
    "≤": "\\le",
    "≥": "\\ge",
    "≠": "\\ne",
    "≈": "\\approx",
    "≪": "\\ll",
    "≫": "\\gg",
    "·": "\\cdot",
    "×": "\\times",
    "−": "-",
    "±": "\\pm",
    "√": "\\surd",
    "∑": "\\sum",
    "∏": "\\prod",
    "∈": "\\in",
    "∖": "\\setminus",
    "→": "\\to",
    "⊤": "\\top",
    "ᵀ": "^{\\top}",
    "½": "\\tfrac{1}{2}",
    "¼": "\\tfrac{1}{4}",
    "¾": "\\tfrac{3}{4}",
    "ŵ": "\\hat{w}",
    "′": "'",
    "ℓ": "\\ell",
    "⌈": "\\lceil",
    "⌉": "\\rceil",
    "⌊": "\\lfloor",
    "⌋": "\\rfloor",
} | {letter: f"\\{name}" for letter, name in _GREEK.items()}
