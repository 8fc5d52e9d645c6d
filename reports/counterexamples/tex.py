"""Sentences and names as LaTeX: symbols as mathematics, everything else escaped, ASCII alone."""

from __future__ import annotations

import unicodedata

from reports.typography import script_runs


def typewriter(name: str) -> str:
    """Return an identifier, escaped, in typewriter type."""
    return f"\\texttt{{{''.join(map(_character, name))}}}"


def prose(text: str) -> str:
    """Return a sentence of a theorem; w_∞, y_min and w_0^⊥ get scripts, as on pages.

    Characters that are not known are written as their code points, [U+2620].
    """
    parts: list[str] = []
    runs = script_runs(text)
    for (run, level), (_, following) in zip(runs, [*runs[1:], ("", 0)], strict=True):
        line = list(run)
        if level:
            mark = "_" if level < 0 else "^"
            parts.append(f"{mark}{{{''.join(map(_inside, line))}}}")
            parts.append("" if following else "}")
            continue
        base = line.pop() if following else ""
        if base and unicodedata.combining(base) and line:
            base = line.pop() + base
        parts += _running(line)
        parts.append(f"\\ensuremath{{{_accented(base)}" if following else "")
    return "".join(parts)


def _running(line: list[str]) -> list[str]:
    """Return characters of running text, accents joined to what they stand on."""
    found = []
    for place, character in enumerate(line):
        if character in _ACCENTS and place:
            found.pop()
            found.append(f"\\ensuremath{{{_accented(line[place - 1] + character)}}}")
        else:
            found.append(_character(character))
    return found


def _accented(base: str) -> str:
    """Return a letter within mathematics, with the accent that may follow it."""
    if len(base) == 2 and base[1] in _ACCENTS:
        return f"{_ACCENTS[base[1]]}{{{_inside(base[0])}}}"
    return "".join(map(_inside, base))


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
    if character in _SYMBOLS:
        return f"{_SYMBOLS[character]} "
    return (
        character
        if character.isascii() and character.isalnum()
        else f"\\text{{{_character(character)}}}"
    )


_ACCENTS = {"\u0302": "\\hat", "\u0303": "\\tilde", "\u0304": "\\bar"}

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
    "→": "\\to",
    "⊤": "\\top",
    "ᵀ": "^{\\top}",
    "½": "\\tfrac{1}{2}",
    "¼": "\\tfrac{1}{4}",
    "¾": "\\tfrac{3}{4}",
    "ŵ": "\\hat{w}",
    "′": "'",
} | {letter: f"\\{name}" for letter, name in _GREEK.items()}

_SYMBOLS |= {
    character: f"{mark}{{{plain}}}"
    for mark, characters, plains in (
        ("^", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-"),
        ("_", "₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-"),
    )
    for character, plain in zip(characters, plains, strict=True)
}
