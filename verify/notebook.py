"""Verdicts as HTML for notebooks: self-contained, readable on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verify.verdict import Verdict, Verdicts

_BADGE = (
    "display:inline-block;min-width:6.5em;padding:0 .5em;border-radius:.6em;text-align:center;"
    "color:#fff;background:{colour}"
)
_COLOURS = {
    "certified": "#1b6e3c",
    "supported": "#1b6e3c",
    "refuted": "#a3262a",
    "vacuous": "#5c6370",
    "inconclusive": "#85560a",
    "undecided": "#85560a",
}
_CELL = "text-align:left;vertical-align:top;padding:.2em .6em"
_QUIET = "opacity:.75"


def verdicts_html(verdicts: Verdicts) -> str:
    """Return a table, one row a verdict, and below it what the words say."""
    heads = ("verdict", "claim", "holds / in scope / trials", "bound", "worst margin", "detail")
    rows = [_row(_verdict_cells(verdict)) for verdict in verdicts]
    met = {verdict.verdict: verdict.verdict.meaning for verdict in verdicts}
    legend = "; ".join(f"<b>{escape(word)}</b>: {escape(text)}" for word, text in met.items())
    return (
        f'<table style="color:inherit"><thead>{_row(map(escape, heads), "th")}</thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
        f'<div style="{_QUIET};font-size:smaller">All of this holds together at confidence '
        f"{1 - verdicts.error:.4g}. {legend}.</div>"
    )


def verdict_html(verdict: Verdict) -> str:
    """Return a card: the statement, the verdict, and the numbers behind it."""
    rows = "".join(_row(map(escape, fact)) for fact in _facts(verdict))
    return (
        f'<div style="color:inherit"><div>{_badge(verdict)} <code>{escape(verdict.full_id)}</code>'
        f"</div><p>{escape(verdict.statement)}</p>"
        f'<table style="color:inherit"><tbody>{rows}</tbody></table>'
        f'<div style="{_QUIET};font-size:smaller">{escape(verdict.verdict)}: '
        f"{escape(verdict.verdict.meaning)}.</div></div>"
    )


def _verdict_cells(verdict: Verdict) -> Iterable[str]:
    """Return the cells of a verdict's row, as HTML."""
    title = escape(verdict.statement)
    control = " (control)" if verdict.because else ""
    yield _badge(verdict)
    yield f'<span title="{title}">{escape(verdict.claim)}{control}</span>'
    yield f'<span style="white-space:nowrap">{escape(_counts(verdict))}</span>'
    yield escape(_bound(verdict))
    yield escape(_number(verdict.worst_margin))
    yield escape(verdict.detail)


def _facts(verdict: Verdict) -> Iterable[tuple[str, str]]:
    """Yield what a card tells about a verdict, where there is something to tell."""
    facts = (
        ("expected", "" if verdict.as_expected else verdict.expected),
        ("holds / in scope / trials", _counts(verdict)),
        ("bound", _bound(verdict)),
        ("confidence of the bound", _number(verdict.confidence)),
        ("worst margin", _number(verdict.worst_margin)),
        ("detail", verdict.detail),
        ("violations", _violations(verdict)),
        ("given", ", ".join(verdict.given)),
        ("rests on", ", ".join(verdict.rests_on)),
        ("false because", verdict.because),
    )
    return ((name, text) for name, text in facts if text)


def _violations(verdict: Verdict) -> str:
    """Say how often a claim is violated where it is violated most; "" where it is not."""
    from verify.severity import rate_words, violation_rate

    rate = verdict.instance and violation_rate(verdict, verdict.instance.point)
    if rate:
        return rate_words(rate.to_json())
    searched = verdict.hunted is not None and verdict.hunted.violated
    return "in scope, searched, no rate" if searched else ""


def _badge(verdict: Verdict) -> str:
    style = _BADGE.format(colour=_COLOURS[verdict.verdict])
    surprise = "" if verdict.as_expected else f" expected: {escape(verdict.expected)}"
    return f'<span style="{style}">{escape(verdict.verdict)}</span>{surprise}'


def _counts(verdict: Verdict) -> str:
    if verdict.kind == "rate":
        return f"{verdict.in_scope} / {verdict.trials}"
    return f"{verdict.holds} / {verdict.in_scope} / {verdict.trials}"


def _bound(verdict: Verdict) -> str:
    """Return the bound that decides; nothing of a rate, whose detail tells the slopes, nor of what
    a search alone refutes, which is no sample."""
    from verify.verdict import at_least, at_most

    if math.isnan(verdict.lower_bound):
        return verdict.checked
    if verdict.verdict == "refuted":
        return at_most(verdict.upper_bound) if verdict.violated else ""
    return at_least(verdict.lower_bound)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


def _row(cells: Iterable[str], tag: str = "td") -> str:
    row = "".join(f'<{tag} style="{_CELL}">{cell}</{tag}>' for cell in cells)
    return f"<tr>{row}</tr>"
