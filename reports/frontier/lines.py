"""A frontier as text for a terminal: a table, then the laws fitted to it, then other lines."""

from __future__ import annotations

from collections.abc import Sequence

from reports.frontier import words
from reports.typography import Part, capitalize_first, number


def told(found: Part) -> str:
    """Return the content of frontier.json as text."""
    blocks = [_head(found), _table(found, found["rows"]), _laws(found)]
    blocks += [_line(found, line) for line in found["lines"]]
    return "\n\n".join("\n".join(block) for block in [*blocks, [found["sentence"]]] if block)


def _head(found: Part) -> list[str]:
    place, defaults = words.place_words(found), words.defaults_words(found)
    return [
        f"Claim         {found['full_id']}: {found['statement']}",
        f"Along         {words.axis_words(found['x'])}"
        + (f"; by {words.axis_words(found['y'])}" if found["y"] else ""),
        *([f"At            {place}"] if place else []),
        *([f"Defaults      {defaults}"] if defaults else []),
        f"Scope         {words.scope_words(found)}",
        f"Trials        {number(found['trials'])} of {number(found['budget'])}"
        f"{words.over_budget_words(found)}, seed {found['seed']}",
    ]


def _table(found: Part, rows: Sequence[Part]) -> list[str]:
    """Return the rows of the claim: y, level, boundary, interval, trials, ratio, what is noted."""
    ratio = words.ratio_name(found)
    head = [found["y"]["name"]] if found["y"] else []
    head += ["level", found["x"]["name"], "interval", "trials", *([ratio] if ratio else [])]
    body = []
    for row in rows:
        cells = [words.exact(row["y"])] if found["y"] else []
        cells += [words.exact(row["level"]), *words.ends_words(row)]
        cells += [number(row["trials"])]
        cells += [words.short(words.ratio(row))] if ratio else []
        body.append([*cells, row["note"]])
    return _aligned([*head, ""], body)


def _laws(found: Part) -> list[str]:
    comparison = words.compared(found)
    if not comparison:
        return []
    x, y = found["x"]["name"], found["y"]["name"]
    lines = [f"Laws          {x} = a·{y}^p·(log {y})^q, q fixed, p with its interval"]
    lines += [_law({"what": "claim"}, fit, x, y) for fit in found["fits"]]
    return [
        *lines,
        *(f"  level {words.exact(c['level'])}: {c['sentence']}" for c in comparison),
    ]


def _law(line: Part, fit: Part, x: str, y: str) -> str:
    note = words.law_note(line, fit)
    said = f"  ({note})" if note else ""
    return f"  level {words.exact(fit['level'])}, q = {fit['q']}: {words.law(fit, x, y)}{said}"


def _line(found: Part, line: Part) -> list[str]:
    """Return a certificate's or a prediction's own boundaries, and its laws; of an assumption, a
    line that says where it is met."""
    named = "" if line["id"] == line["what"] else f"{line['id']}: "
    title = f"{line['what'].capitalize():<13} {named}{line['meaning']}"
    if line["what"] == "assumption":
        return [title, f"  {capitalize_first(words.assumption_words(found, line))}"]
    head = [found["y"]["name"]] if found["y"] else []
    head += ["level", found["x"]["name"], "interval", "× the claim's"]
    body = []
    for row in line["rows"]:
        cells = [words.exact(row["y"])] if found["y"] else []
        cells += [words.exact(row["level"]), *words.ends_words(row)]
        body.append([*cells, words.short(words.times_the_claims(found, row))])
    if not body:
        return [title, f"  Passes none of the levels along {found['x']['name']}."]
    laws = [_law(line, fit, found["x"]["name"], found["y"]["name"]) for fit in line["fits"]]
    return [title, *_aligned(head, body), *laws]


def _aligned(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines: columns to the right, but the last of notes, without a head."""
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = []
    for row in (head, *body):
        cells = [
            text if not name else text.rjust(wide)
            for text, wide, name in zip(row, widths, head, strict=True)
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines
