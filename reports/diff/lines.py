"""What changed between two runs, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.thresholds import passed_words
from reports.typography import number, percent, point_text, shorten

Part = Mapping[str, Any]


def told(found: Part, places: Sequence[str]) -> str:
    """Return the lines that `relu-verify diff` prints: a summary, then what changed in detail.

    places: of the two reports, as they were given.
    """
    runs = [found["runs"][side] for _, side in _SIDES]
    blocks = [
        [_summary(found)],
        [f"{n}  {_run(r, place)}" for (n, _), r, place in zip(_SIDES, runs, places, strict=True)],
        *([heading, *lines] for heading, lines in _sections(found) if lines),
    ]
    return "\n\n".join("\n".join(block) for block in blocks)


_SIDES = (("A", "before"), ("B", "after"))


def _summary(found: Part) -> str:
    verdicts, claims = found["verdicts"], found["claims"]
    counts = {
        "for the worse": len(verdicts["worse"]),
        "for the better": len(verdicts["better"]),
        "otherwise": len(verdicts["other"]),
    }
    changed = [f"{count} {way}" for way, count in counts.items() if count]
    parts = [f"Verdicts changed: {', '.join(changed)}." if changed else "No verdict changed."]
    parts += [
        f"{len(entries)} {'claim' if len(entries) == 1 else 'claims'} {how}."
        for how, entries in claims.items()
        if entries
    ]
    moved = len(found["frequencies"]["moved"]) + len(found["slopes"])
    thresholds = len(found["thresholds"])
    noun = "number" if moved == 1 else "numbers"
    parts += [f"{moved} {noun} moved by more than chance."] if moved else []
    noun = "threshold" if thresholds == 1 else "thresholds"
    parts += [f"{thresholds} {noun} moved."] if thresholds else []
    return " ".join(parts)


def _run(run: Part, place: str) -> str:
    when = run["created"].replace("T", " ").removesuffix("+00:00")
    settings = f"{run['profile']}, seed {run['seed']}, {run['backend']}"
    return f"{place}  {when}  {settings}  {run['sentence']}"


def _sections(found: Part) -> Iterator[tuple[str, list[str]]]:
    """Yield every heading with its lines."""
    verdicts, claims, moved = found["verdicts"], found["claims"], found["frequencies"]
    yield "Worse", _verdicts(verdicts["worse"])
    yield "Better", _verdicts(verdicts["better"])
    yield "Changed otherwise", _verdicts(verdicts["other"])
    for how in ("added", "removed"):
        lines = [f"  {entry['claim']}  {_evidence(entry)}" for entry in claims[how]]
        yield f"Claims {how}", lines
    yield "Claims that say something else", _named(claims["restated"], "claim")
    yield (
        "Frequencies of holding in scope that moved by more than chance (Fisher's exact test, "
        f"two-sided, {percent(moved['error'])} over all comparisons together: {moved['compared']})",
        [_moved(entry) for entry in moved["moved"]],
    )
    yield "Slopes whose intervals do not overlap", [_slope(entry) for entry in found["slopes"]]
    yield (
        "Thresholds of which something else is known, or that lie apart",
        [_threshold(entry) for entry in found["thresholds"]],
    )
    yield "Counterexamples", _counterexamples(found["counterexamples"])
    yield "Theorems", _named(found["theorems"], "theorem")
    for heading in ("settings", "versions"):
        yield heading.capitalize(), [_change(change) for change in found[heading]]
    yield "Wall time", _time(found["time"])


def _verdicts(entries: list[Part]) -> list[str]:
    lines = []
    for entry in entries:
        before, after = entry["before"], entry["after"]
        lines += [
            f"  {entry['claim']}  {before['verdict']} -> {after['verdict']}",
            f"    A  {_evidence(before)}",
            f"    B  {_evidence(after)}",
        ]
    return lines


def _evidence(entry: Part) -> str:
    margin = entry["worst_margin"]
    worst = "" if margin is None else f", worst margin {number(margin)}"
    flag = "" if entry["as_expected"] else "  <- not as expected"
    return f"{entry['verdict']}: {entry['detail']}{worst}{flag}"


def _named(entries: list[Part], what: str) -> list[str]:
    lines = []
    for entry in entries:
        lines += [f"  {entry[what]}", *(f"  {_change(change)}" for change in entry["changes"])]
    return lines


def _change(change: Part) -> str:
    before, after = change["before"], change["after"]
    if change["name"] == "points":
        return f"  points  {len(before)} no more, {len(after)} new{_points(before, after)}"
    short = f"  {change['name']}  {_plain(before)} -> {_plain(after)}"
    if len(short) <= 100:
        return short
    return f"  {change['name']}\n      A  {_plain(before)}\n      B  {_plain(after)}"


def _points(before: list[Part], after: list[Part]) -> str:
    """Return the first point that is gone and the first that is new."""
    told = [("no more", before), ("new", after)]
    return "".join(f"\n      {how}  {point_text(points[0])}" for how, points in told if points)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return "none" if value in (None, "") else shorten(" ".join(str(value).split()), 400)


def _moved(entry: Part) -> str:
    where = f" at {point_text(entry['point'])}" if entry["point"] is not None else ""
    shares = [f"{number(held)}/{number(trials)}" for held, trials in _pairs(entry)]
    return f"  {entry['claim']}{where}  {' -> '.join(shares)}  (p = {number(entry['p_value'], 2)})"


def _pairs(entry: Part) -> tuple[tuple[int, int], tuple[int, int]]:
    return tuple(entry["before"]), tuple(entry["after"])


def _slope(entry: Part) -> str:
    spelt = [
        f"{entry[side]['slope']:.4f} in [{entry[side]['low']:.4f}, {entry[side]['high']:.4f}]"
        for _, side in _SIDES
    ]
    return f"  {entry['claim']}, {entry['sweep']}  {' -> '.join(spelt)}"


def _threshold(entry: Part) -> str:
    line = f", {entry['by']} = {_plain(entry['line'])}" if entry["by"] else ""
    spelt = " -> ".join(passed_words(entry[side]) for _, side in _SIDES)
    return f"  {entry['measure']}{line}, {number(entry['level'])}  {spelt}"


def _counterexamples(entries: list[Part]) -> list[str]:
    """Return a line for each counterexample that is new or gone, and one for all the others."""
    lines = []
    for entry in (entry for entry in entries if entry["change"] != "another"):
        margin = entry["after"] if entry["before"] is None else entry["before"]
        told = "" if margin is None else f"  margin {number(margin)}"
        rest = "".join(f"  {entry[name]}" for name in ("scope", "file") if entry[name])
        lines.append(f"  {entry['change']:<4}  {entry['claim']}, {entry['kind']}{told}{rest}")
    others = len(entries) - len(lines)
    if others:
        lines.append(f"  {others} {'is another' if others == 1 else 'are others'} than in A")
    return lines


def _time(time: Part) -> list[str]:
    if time["ratio"] is None or time["before"] == time["after"]:
        return []
    times = f"{number(time['before'], 3)} s -> {number(time['after'], 3)} s"
    return [f"  {times}  (x {number(time['ratio'], 3)}; what a store already held takes no time)"]
