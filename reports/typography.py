"""Text of a report as people read it: numbers, points, bounds, and statements as markup.

Every function takes values of report.json. `prose`, `breakable` and `citation` alone return
markup, and escape what they are given first; `clean` takes from a whole report the characters
that no page can hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.characters import CONTROLS
from verify.verdict import searched_violations

if TYPE_CHECKING:
    from markupsafe import Markup

Part = Mapping[str, Any]
"""An object of report.json."""

LONGEST_LIST, LONGEST_TEXT = 14, 400
"""Entries of a list, and characters of a text, that are shown at most."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FIRST = ("n", "m", "d", "aspect", "c")


def number(value: Any, digits: int = 4) -> str:
    """Return a number as people write it: 0.9556, 20 000, 1.5×10⁻⁷, 10¹²; "—" for none."""
    if value is None:
        return "—"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    try:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    except OverflowError:
        return "beyond 10³⁰⁸"
    if not power:
        return {"inf": "∞", "-inf": "−∞"}.get(mantissa, "—")
    if value != 0 and not -3 <= int(power) < 6:
        tail = f"10{str(int(power)).translate(_SUPERSCRIPT)}"
        mantissa = _without_zeros(mantissa)
        return {"1": tail, "−1": f"−{tail}"}.get(mantissa, f"{mantissa}×{tail}")
    decimals = 0 if isinstance(value, int) else max(digits - 1 - int(power), 0)
    text = _without_zeros(f"{value + 0:.{decimals}f}")
    long = "." not in text and len(text.lstrip("−")) > 4
    return f"{text[:-3]}\N{NARROW NO-BREAK SPACE}{text[-3:]}" if long else text


def _without_zeros(text: str) -> str:
    """Return decimals without zeros at their end, with a true minus sign."""
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def point_text(point: Part, without: Sequence[str] = (), digits: int = 4) -> str:
    """Return a point as "n = 20, d = 10 000, c = 0.5", sizes first, numbers to so many digits."""
    names = sorted(point, key=lambda k: (_FIRST.index(k) if k in _FIRST else len(_FIRST), k))
    shown = [f"{name} = {number(point[name], digits)}" for name in names if name not in without]
    return ", ".join(shown)


def common_coordinates(points: Sequence[Part]) -> dict[str, Any]:
    """Return the coordinates that all points have with the same value."""
    if not points:
        return {}
    first, *others = points
    return {k: v for k, v in first.items() if all(k in p and p[k] == v for p in others)}


def shorten(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with … where it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def listed(texts: Sequence[str]) -> str:
    """Return texts as a list in a sentence: "a, b and c"."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def capitalize_first(text: str) -> str:
    """Return a text that begins with a capital; the rest stays as it is."""
    return text[:1].upper() + text[1:]


# Shares, bounds and slopes.


def percent(share: float | None, digits: int = 2) -> str:
    """Return a share as a percentage, with `digits` digits of its distance from 0 and 100%."""
    if share is None:
        return "—"
    least = min(abs(share), abs(1 - share)) * 100
    decimals = min(max(digits - 1 - math.floor(math.log10(least)), 0), 8) if least > 1e-12 else 0
    text = f"{share * 100:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}\N{NARROW NO-BREAK SPACE}%"


def at_least(bound: float | None) -> str:
    """Return a lower bound rounded down to 4 decimals, so that what is printed is true."""
    return "—" if bound is None else f"{math.floor(bound * 1e4 + 1e-9) / 1e4:.4f}"


def at_most(bound: float | None) -> str:
    """Return an upper bound rounded up to 4 decimals."""
    return "—" if bound is None else f"{math.ceil(bound * 1e4 - 1e-9) / 1e4:.4f}"


def interval(slope: Part) -> str:
    """Return a fitted slope with its interval; without one where each point is one problem."""
    if slope.get("slope") is None:
        return "—"
    middle, low, high = (f"{slope[k]:.4f}".replace("-", "−") for k in ("slope", "low", "high"))
    middle = "0.0000" if middle == "−0.0000" else middle
    return f"{middle}, one problem a point" if slope.get("copies") else f"{middle} [{low}, {high}]"


def spread(quantile: Part) -> str:
    """Return a quantile with its interval."""
    if quantile.get("value") is None:
        return "—"
    ends = ", ".join(number(quantile.get(key)) for key in ("low", "high"))
    return f"{number(quantile['value'])} [{ends}]"


def quantile_name(level: float) -> str:
    """Return what a quantile is called: "median", "5 % quantile"."""
    return "median" if level == 0.5 else f"{percent(level)} quantile"


def claimed_slope(slope: Part) -> str:
    """Return the claimed exponent with its tolerance, in one piece."""
    exponent, tolerance = (number(slope.get(key)) for key in ("exponent", "tolerance"))
    return f"{exponent}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{tolerance}"


def claimed_law(slope: Part) -> str:
    """Return the claimed exponent with its tolerance, and the abscissa that it is of."""
    against = f" against {in_sentence(slope['against'])}" if slope.get("against") else ""
    return f"{claimed_slope(slope)}{against}"


def excludes_exponent(slope: Part) -> bool:
    """Whether the interval of a slope leaves out the claimed exponent itself; one of copies of a
    problem says nothing."""
    if slope.get("copies") or slope.get("low") is None or slope.get("high") is None:
        return False
    return not slope["low"] <= slope["exponent"] <= slope["high"]


def where_slopes_lie(slopes: Sequence[Part]) -> str:
    """Say which supported sweeps have an interval without the claimed exponent; "" if none."""
    count = sum(s["verdict"] == "supported" and excludes_exponent(s) for s in slopes)
    if not count:
        return ""
    which = "the interval" if len(slopes) == 1 else f"{count} of {len(slopes)} intervals"
    return f"Here {which} leave{'s' * (count == 1)} out the exponent itself, within tolerance."


# A verdict, in words.


def cells_words(cells: Sequence[Part]) -> str:
    """Say how many cells have which verdict."""
    if len(cells) == 1:
        return f"1 cell, {cells[0]['verdict']}"
    found = [cell["verdict"] for cell in cells]
    words = [f"{found.count(word)} {word}" for word in dict.fromkeys(found)]
    if len(words) == 1:
        return f"{len(cells)} cells, all {found[0]}"
    return f"{len(cells)} cells: {', '.join(words)}"


def kind_words(verdict: Part, ours: int = 0) -> str:
    """Return what kind of claim it is, and for one about every instance in scope how much puts
    one there: its assumptions, of which `ours` are not the paper's."""
    if verdict["kind"] == "probable" and verdict["probability"] is not None:
        return f"with probability ≥ {number(verdict['probability'])}"
    if verdict["kind"] == "universal":
        return f"every instance{_scope_words(len(verdict['given']), ours)}"
    return "power law" if verdict["kind"] == "rate" else str(verdict["kind"])


def _scope_words(assumptions: int, ours: int) -> str:
    """Say how many assumptions an instance must meet, and how many of them are ours."""
    if not assumptions:
        return ""
    told = f" that meets {assumptions} assumption{'s' * (assumptions > 1)}"
    if not ours:
        return told
    if ours < assumptions:
        return f"{told}, {ours} of them ours"
    return f"{told}, {'all of them' if ours > 2 else {1: 'which is', 2: 'both of them'}[ours]} ours"


def margin_words(counted: Part) -> str:
    """Return the worst margin of a verdict or a tally, or why there is none."""
    if counted["worst_margin"] is not None:
        return number(counted["worst_margin"])
    if counted.get("kind") == "rate":
        return "no slope fitted"
    return "no decided margin" if counted["in_scope"] else "none in scope"


def bound_words(verdict: Part) -> str:
    """Return the bound that decides: a lower one, or for a refuted claim the upper one.

    What a search alone refutes has none, for its examples are no sample.
    """
    if verdict["kind"] == "rate":
        slopes = [slope for slope in verdict["slopes"] if slope.get("slope") is not None]
        if not slopes:
            return "no slope fitted"
        furthest = max(slopes, key=lambda s: _reach(s) - s["tolerance"])
        more = f" (furthest of {len(slopes)} sweeps)" if len(slopes) > 1 else ""
        return f"slope {interval(furthest)}, claimed {claimed_law(furthest)}{more}"
    if found := search_alone(verdict):
        return searched_violations(number(found["violated"]), number(found["in_scope"]))
    if not verdict["in_scope"]:
        return "none: nothing in scope"
    checked = verdict.get("checked") or ""
    if verdict["lower_bound"] is None and checked:
        return checked
    return f"{f'{checked}; ' if checked else ''}{_bound_of_sample(verdict)}"


def _bound_of_sample(verdict: Part) -> str:
    if verdict["verdict"] == "refuted":
        upper = f"P ≤ {at_most(verdict['upper_bound'])}"
        return upper if verdict["kind"] == "probable" else f"{_violations(verdict)}; {upper}"
    where = "in every cell" if verdict["kind"] == "probable" else "on average"
    return f"P ≥ {at_least(verdict['lower_bound'])} {where}"


def search_alone(verdict: Part) -> Part | None:
    """Return what the search met, where it alone refutes a claim: no drawn trial violates it."""
    found: Part = verdict["hunted"] or {}
    alone = verdict["verdict"] == "refuted" and found.get("violated") and not verdict["violated"]
    return found if alone else None


def _violations(verdict: Part) -> str:
    """Say how many drawn trials violate a claim about every instance."""
    return f"{number(verdict['violated'])} of {number(verdict['in_scope'])} violate it"


def _reach(slope: Part) -> float:
    """Return how far the slope's interval reaches from the claimed exponent."""
    ends = (slope[end] for end in ("low", "high") if slope.get(end) is not None)
    return max((abs(end - slope["exponent"]) for end in ends), default=0.0)


# Facts: any JSON value, in the room that a card or a caption has.


def fact(value: Any) -> dict[str, Any]:
    """Return a value as a matrix (rows of texts), a list, or a text; long ones cut, visibly."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        rows = [[brief(entry) for entry in row[:LONGEST_LIST]] for row in value[:LONGEST_LIST]]
        wide = max(len(row) for row in value)
        cut = len(value) > LONGEST_LIST or wide > LONGEST_LIST
        return {"rows": rows, "cut": f"{len(value)} × {wide}, cut" if cut else ""}
    if isinstance(value, list):
        texts = [brief(entry) for entry in value[:LONGEST_LIST]]
        more = len(value) - LONGEST_LIST
        return {"text": ", ".join(texts) + (f", … {more} more" if more > 0 else "")}
    if isinstance(value, Mapping):
        return {"text": ", ".join(f"{name} = {brief(entry)}" for name, entry in value.items())}
    return {"text": brief(value)}


def fact_name(name: str) -> str:
    """Return a fact's name in words; symbols such as d_2 stay."""
    return name if re.fullmatch(r"\w_\w{1,3}", name) else name.replace("_", " ")


def brief(value: Any) -> str:
    """Return any value as a text that is not too long; what is just below 1 is not printed as 1."""
    just_below = isinstance(value, float) and 0.99995 <= value < 1
    text = "> 0.9999" if just_below else number(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


# Statements, names and citations as markup, and what no markup can hold.

_BELOW, _ABOVE = "₀₁₂₃₄₅₆₇₈₉₊₋", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_BESIDE = f"{_BELOW}{_ABOVE}ᵀΑ-Ωα-ω"
"""Letters to Python that are no part of a name: η in ηλ_max."""
_LETTER_SCRIPTS = re.compile(
    rf"""(?P<base>
            (?<![^\W{_BESIDE}])(?<!\.) X?[A-Za-z]\u0303?[⁰¹²₊₋⋆]?
          | [Α-Ωα-ω]\u0303?[⁰¹²₊₋⋆]?
          | (?<![\w.])(?:max|min)(?=_\{{)
          | (?<![\w.])\d+(?=\^)
          | [‖|)]
        )
        (?:_(?: \{{(?P<listed>[^{{}}_^]{{1,12}})\}}
              | (?P<below>∞|\d{{1,2}}|[a-z]{{1,3}}|[α-ω]|[A-Z][₊₋]?) ))?
        (?:\^(?: \((?P<enclosed>[^()_^]{{1,8}})\)
               | (?P<above>[⊥∞]|−?\d{{1,2}}|−?[a-z][₊₋]?) ))?
        (?![^\W{_BESIDE}]|\^)
    """,
    re.VERBOSE,
)
_PLAIN = str.maketrans(_BELOW + _ABOVE, "0123456789+−" * 2)
_RUNS = re.compile(f"([{_BELOW}]+)|([{_ABOVE}]+)")
_POWERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d{1,3}(?!\w)")
_PREPRINT = re.compile(r"arXiv[ :](\d{4}\.\d{4,5})(?!\d)")


_EQUALS = re.compile(r"(?<![\w.])(\w{1,10}) = (?=[\w.−]{1,12}(?![\w.−]))")


def script_runs(text: str) -> list[tuple[str, int]]:
    """Return a text as runs, each with its level: 0 on the line, −1 below it, 1 above it.

    The same scripts as in `prose`, for figures; their own characters for scripts stay.
    """
    runs, end = [], 0
    for found in _LETTER_SCRIPTS.finditer(text):
        below, above = _scripts_of(found)
        if below or above:
            runs += [(text[end : found.end("base")], 0), (below, -1), (above, 1)]
            end = found.end()
    return [(run, level) for run, level in (*runs, (text[end:], 0)) if run]


def _scripts_of(found: re.Match[str]) -> tuple[str, str]:
    """Return what stands below and above a symbol, without the brackets that hold it together."""
    return found["listed"] or found["below"] or "", found["enclosed"] or found["above"] or ""


def in_sentence(text: str) -> str:
    """Return the name of an axis as it stands within a sentence: a first word begins small."""
    return text[0].lower() + text[1:] if re.match(r"[A-Z][a-z]", text) else text


def prose(text: Any) -> Markup:
    """Return a statement escaped and typeset: w_∞, y_min, X₊ and 1e-9 with real scripts.

    Before "_" and "^" only a single letter (also after X, the data), a closing bracket, and max and
    min before "_{" take a script, before "^" a number too, so that names_of_claims stay as they
    are. The characters for scripts become markup too: few text fonts have them. Short equations
    such as n = 20 do not break.
    """
    from markupsafe import Markup, escape

    def scripts(below: str | None, above: str | None) -> str:
        low, high = (part and part.translate(_PLAIN) for part in (below, above))
        return (f"<sub>{low}</sub>" if low else "") + (f"<sup>{high}</sup>" if high else "")

    text = str(escape(str(text)))
    text = _POWERS.sub(lambda found: number(float(found[0])), text)
    text = _EQUALS.sub("\\1\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}", text)
    text = _LETTER_SCRIPTS.sub(lambda found: found["base"] + scripts(*_scripts_of(found)), text)
    return Markup(_RUNS.sub(lambda found: scripts(found[1], found[2]), text))


def breakable(name: Any) -> Markup:
    """Return a name, escaped, that may break after its underscores, dots and slashes."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([_./:]+)(?=[^_./:])", r"\1<wbr>", str(escape(str(name)))))


def citation(text: Any) -> Markup:
    """Return a citation with its arXiv number as a link: the only links that leave the page."""
    from markupsafe import Markup

    link = r'<a rel="external noreferrer" href="https://arxiv.org/abs/\1">arXiv \1</a>'
    return Markup(_PREPRINT.sub(link, str(prose(text))))


_UNPRINTABLE = re.compile(f"[{CONTROLS}\ud800-\udfff\ufffe\uffff]")


def clean(value: Any) -> Any:
    """Return JSON values without the characters that neither HTML nor SVG can hold, and without
    those that turn round the text about them."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {clean(key): clean(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [clean(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
