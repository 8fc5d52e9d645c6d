"""A report as Markdown, for an issue, a pull request or a lab notebook: from report.json alone.

GitHub's dialect. Text from theorems and files is escaped, so that it shows as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reports.html.claims import replay_command
from reports.points import count_of_points
from reports.text.counterexamples import example_lines
from reports.text.times import time_words
from reports.thresholds import passed_words
from reports.typography import bound_words, clean, kind_words, margin_words, number

Part = Mapping[str, Any]

CONTROLS_MUST_FAIL = "False on purpose: if one of them is not refuted, the evidence is void."


def markdown(report: Part) -> str:
    """Return a report as Markdown: the answer, claims, controls, what was assumed, and
    counterexamples with the commands that replay them."""
    report = clean(report)
    claims = [v for v in report["verdicts"] if v["expected"] != "refuted"]
    controls = [v for v in report["verdicts"] if v["expected"] == "refuted"]
    parts = [
        "## relu-verify",
        f"**{text(report['sentence'])}**",
        settings_lines(report),
        *missing_lines(report),
        "### Claims" if claims else "",
        verdict_table(claims),
        "### Controls" if controls else "",
        CONTROLS_MUST_FAIL if controls else "",
        verdict_table(controls),
        "### Measured" if report["measures"] else "",
        "Reported, not judged." if report["measures"] else "",
        _measures(report["measures"]),
        *_chains(report["chains"]),
        *_assumed(report, claims),
        *_counterexamples(report),
        "### Again",
        fenced(report["command"]),
        f"Made with {', '.join(f'{text(k)} {text(v)}' for k, v in report['versions'].items())}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def settings_lines(report: Part) -> str:
    theorems = ", ".join(code(theorem["address"]) for theorem in report["theorems"])
    when = report["created"].replace("T", " ").replace("+00:00", " UTC")
    took = time_words(report)
    told = [
        f"{text(when)}",
        f"profile {text(report['profile'])}",
        f"seed {report['seed']}",
        f"backend {text(report['backend'])}",
        f"confidence {report['confidence']:g} over all that is stated",
        *([took] if took else []),
    ]
    return "\n\n".join(part for part in (theorems, " · ".join(told)) if part)


def missing_lines(report: Part) -> Iterable[str]:
    entries = report.get("missing") or ()
    if entries:
        lines = [f"- {code(entry['theorem'])}: {text(entry['reason'])}" for entry in entries]
        yield "Not in this report:\n\n" + "\n".join(lines)


def verdict_table(verdicts: Sequence[Part]) -> str:
    """Return a table with a row for each verdict; "" for none."""
    if not verdicts:
        return ""
    head = ("verdict", "claim", "about", "holds / in scope / trials", "bound", "worst margin", "")
    return _rows(head, [_row(verdict) for verdict in verdicts])


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(verdict: Part) -> tuple[str, ...]:
    unexpected = not verdict["as_expected"]
    because = f" False, because {text(verdict['because'])}." if verdict["because"] else ""
    word = f"**{verdict['verdict']}**" if unexpected else verdict["verdict"]
    names = ("in_scope", "trials") if verdict["kind"] == "rate" else ("holds", "in_scope", "trials")
    counts = " / ".join(str(verdict[name]) for name in names)
    if verdict["undecided"]:
        counts += f"<br>{verdict['undecided']} undecided"
    return (
        word,
        f"{code(verdict['full_id'])}<br>{text(verdict['statement'])} {mark(verdict)}{because}",
        text(kind_words(verdict)),
        counts,
        text(bound_words(verdict)),
        text(margin_words(verdict)),
        "not as expected" if unexpected else "",
    )


def _measures(measures: Sequence[Part]) -> str:
    """Return a table with a row for each measure, least and greatest over its points."""
    if not measures:
        return ""
    rows = []
    for measure in measures:
        name = "frequency" if measure["kind"] == "frequency" else "mean"
        known = [cell[name] for cell in measure["cells"] if cell[name] is not None]
        ends = dict.fromkeys(number(end) for end in (min(known), max(known))) if known else ()
        unit = "" if measure["unit"] == "dimensionless" else f" {measure['unit']}"
        told = f"{name} {' to '.join(ends)}{unit}" if known else "none in scope"
        what = f"{code(measure['full_id'])}<br>{text(measure['statement'])} {mark(measure)}"
        found = "<br>".join(map(text, [told, *_thresholds(measure)]))
        rows.append((what, count_of_points(measure["cells"]), found))
    return _rows(("measure", "points", "found"), rows)


def _thresholds(measure: Part) -> list[str]:
    """Say for each line of a frequency's figure where it passes its levels."""
    by_line: dict[Any, list[str]] = {}
    for found in measure.get("thresholds") or ():
        passed = f"{number(found['level'])} {passed_words(found)}"
        by_line.setdefault(found.get("line"), []).append(passed)
    along = measure.get("abscissa") or "the abscissa"
    return [
        (f"{measure['by']} = {number(line)}: " if measure.get("by") else "")
        + f"passes, along {along}, {'; '.join(told)}"
        for line, told in by_line.items()
    ]


def _chains(chains: Sequence[Part]) -> Iterable[str]:
    """Yield, for each chain, in how many trials each link of the proof is the first to break."""
    for chain in chains:
        own = [cell for cell in chain["cells"] if not cell["controls"]]
        places = [own, [cell for cell in chain["cells"] if cell["controls"]]]
        rows = [
            _summed(
                f"{code(link['id'])}<br>{text(link['statement'])}",
                [[cell["first"][number] for cell in cells] for cells in places],
            )
            for number, link in enumerate(chain["links"])
        ]
        for name, key in (("undecided", "undecided"), ("none: all hold", "holds")):
            rows.append(_summed(name, [[cell[key] for cell in cells] for cells in places]))
        yield f"### What breaks first in the proof of {code(chain['theorem'])}"
        yield _rows(("link", "at the theorem's points", "at the controls' points"), rows)


def _summed(name: str, counts: Sequence[Sequence[int]]) -> tuple[str, ...]:
    return (name, *(str(sum(found)) for found in counts))


def _assumed(report: Part, claims: Sequence[Part]) -> Iterable[str]:
    """Yield the assumptions of each theorem's claims, and which claims they are made for."""
    for theorem in report["theorems"]:
        lines = []
        own = [claim for claim in claims if claim["theorem"] == theorem["address"]]
        for assumption in theorem["assumptions"]:
            under = [code(claim["claim"]) for claim in own if assumption["id"] in claim["given"]]
            if under:
                told = f"{code(assumption['id'])} {text(assumption['statement'])}"
                by = "every claim" if len(under) == len(own) > 1 else ", ".join(under)
                lines.append(f"- {told} {mark(assumption)}, for {by}")
        if lines:
            yield f"### Assumed in {code(theorem['address'])}"
            yield "\n".join(lines)


def _counterexamples(report: Part) -> Iterable[str]:
    found = [(v, entry) for v in report["verdicts"] for entry in v["counterexamples"]]
    if found:
        yield "### Counterexamples"
    for verdict, entry in found:
        yield f"{code(verdict['full_id'])}, {text(entry['kind'])}{margin_of(entry)}"
        yield from counterexample(report, entry)


def counterexample(report: Part, entry: Part) -> Iterable[str]:
    """Yield what is told of a counterexample, as a list, and the command that replays it."""
    if told := [f"- {text(line)}" for line in example_lines(entry)]:
        yield "\n".join(told)
    yield fenced(replay_command(report["out"], entry["file"]))


def margin_of(entry: Part) -> str:
    """Return a counterexample's margin, after a comma; "" if it is not finite."""
    return "" if entry["margin"] is None else f", margin {entry['margin']:.4g}"


def mark(entry: Part) -> str:
    """Return whose statement an entry is, as its letter in brackets."""
    return f"\\[{text(entry['status'])}\\]"


def text(value: Any) -> str:
    """Return text that Markdown shows as it is, on one line, in a table's cell as well."""
    line = " ".join(str(value).split())
    line = re.sub(r"([\\`*~<>\[\]|$&])", r"\\\1", line)
    line = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", line)
    line = re.sub(r"^(\d*)(#+|[+.)-])(?= |$)", r"\1\\\2", line)  # no heading, no list
    return REFERENCES.sub(COMMENTED, line)


REFERENCES = re.compile(
    r"@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=//)|\bwww(?=\.)", re.ASCII | re.IGNORECASE
)
"""Where GitHub would begin to mention people, or to link to issues and addresses.

It looks for them in what is shown, where neither a backslash nor an entity is left: only a comment
parts them, COMMENTED.
"""
COMMENTED = r"\g<0><!-- -->"


def code(value: Any) -> str:
    """Return a name as a code span, in a table's cell as well."""
    name = " ".join(str(value).split()) or " "
    ticks = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    space = " " if "`" in (name[0], name[-1]) else ""
    return f"{ticks}{space}{name}{space}{ticks}".replace("|", "\\|")


def fenced(command: str) -> str:
    """Return a command as a block of code."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
    return f"{fence}sh\n{command}\n{fence}"
