"""The page on a researcher's own data: one self-contained file, from data.json alone.

It has the look and the parts of the report's page; as there, nothing is fetched, no script runs,
and text from files is escaped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reports import typography
from reports.exit_codes import ALL_AS_EXPECTED, REFUTED, USAGE
from reports.html.marks import mark
from reports.html.render import environment
from reports.own_data import figures, words
from reports.own_data.analysis import SCHEMA_VERSION
from reports.own_data.words import is_frozen, is_settled, or_infinite
from reports.typography import Part, number, percent
from verify.errors import InputError
from verify.writing import json_text, require_writable, write_text

_NAMES = ("data.json", "data.html")


def require_room(folder: Path) -> None:
    """Raise InputError where `write` could not write to a folder."""
    require_writable(*(folder / name for name in _NAMES))


def write(found: dict[str, Any], folder: Path, command: str = "") -> None:
    """Write data.json and data.html into a folder, each whole or not at all.

    command: what was typed, for the page.   Raises InputError where they cannot be written.
    """
    kept = {**found, "command": command}
    for name, content in zip(_NAMES, (json_text(kept), render(kept)), strict=True):
        write_text(folder / name, content)


def render(found: Part) -> str:
    """Return the page for an analysis as read from data.json.

    The same analysis gives the same bytes. Raises InputError for one of another version.
    """
    version = found.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"schema_version={version!r}, expected {SCHEMA_VERSION}; render the analysis with the "
            "relu-verify that wrote it"
        )
    return environment().get_template("data.html").render(page=_page(typography.clean(found)))


def _page(found: Part) -> dict[str, Any]:
    described = words.is_about_descent(found)
    return {
        "title": "relu-verify data",
        "sentence": found["sentence"],
        "tone": {ALL_AS_EXPECTED: "good", REFUTED: "bad", USAGE: "bad"}.get(found["exit_code"], ""),
        "source": _source(found),
        "ledger": _ledger(found),
        "warnings": found["warnings"],
        "whose_setting": words.whose_setting(found),
        "facts": _facts(found),
        "setting": f"c = {number(found['relative_step'])}, {words.start_words(found, number)}",
        "assumptions": [
            {**entry, "mark": mark(entry), "margin": words.margin_words(entry, number)}
            for entry in found.get("assumptions") or ()
        ],
        "descent": _descent(found) if described else [],
        "gap": _gap(found) if described else [],
        "own_run": _own_run(found),
        "claims": [_claim(claim) for claim in found.get("claims") or ()],
        "theorems": found.get("theorems") or (),
        "figures": figures.captioned(found),
        "command": found.get("command") or "",
    }


def _source(found: Part) -> str:
    labels = found["labels"] or "the same file"
    column = f", column {found['label_column']}" if found["label_column"] else ""
    positive = f"; {found['positive']} is +1, all others −1" if found["positive"] else ""
    return f"{found['features']}; labels from {labels}{column}{positive}"


def _ledger(found: Part) -> list[tuple[str, str]]:
    data, descent = found["data"], found.get("descent")
    shown = [
        ("Examples", number(data["examples"])),
        ("Features", number(data["dimension"])),
        ("Positive labels", number(data["positives"])),
        ("Effective dimension d_2", or_infinite(data["d_2"], lambda d: number(d, 3))),
    ]
    if words.is_predicted(found):
        shown.append(("Regime index H", words.index_words(data, lambda h: number(h, 2))))
    return [*shown, ("Gradient descent", descent["status"])] if descent else shown


def _facts(found: Part) -> list[tuple[str, str]]:
    data = found["data"]
    given = words.given_words(found) or "as they are in the file"
    facts = [
        ("Features", given),
        ("Model", words.neurons_words(found)),
        (
            "Labels",
            f"{number(data['positives'])} positive, {number(data['negatives'])} negative, "
            f"{number(data['zeros'])} zero; |y| from {number(data['y_min'])} to "
            f"{number(data['y_max'])}",
        ),
        (
            "Dimensions",
            f"d_2 ≈ {or_infinite(data['d_2'], number)}, d_∞ ≈ {number(data['d_inf_rough'])} "
            f"(a rough bound, at most n), τ ≈ {number(data['trace'])}",
        ),
        (
            "Gram matrix",
            f"λ_max = {number(data['largest_eigenvalue_over_mean_diagonal'])} τ; "
            f"λ_max/λ_min = {or_infinite(data['conditioning'], number)}; largest |cosine| "
            f"{number(data['coherence'])}; δ = {number(data['gram_deviation'])}",
        ),
        ("Common mean", f"{percent(data['share_of_common_mean'])} of the trace"),
    ]
    if not words.is_predicted(found):
        return facts
    predicted = (
        f"H ≈ {words.index_words(data, number)} (freezing is likely from about 2 on), "
        f"{words.freezing_words(data)}; both are heuristics of ours"
    )
    return [*facts, ("Prediction", predicted)]


def _descent(found: Part) -> list[tuple[str, str]]:
    descent, data = found["descent"], found["data"]
    inactive = (
        f"{number(descent['dead_positives'])} of {number(data['positives'])} positives inactive, "
        f"{number(descent['active_negatives'])} negatives active"
    )
    end = "At the end" if is_settled(found) else "At the last step"
    return [
        ("Outcome", f"{descent['status']} at step {number(descent['steps'])}"),
        ("Last change of pattern", f"step {number(descent['last_flip'])}"),
        (end, inactive + words.second_words(found)),
        ("Global minimum", "yes" if descent["global_minimum"] else "no"),
        ("Largest misfit", number(descent["largest_misfit"])),
        ("Loss", number(descent["loss"])),
    ]


def _gap(found: Part) -> list[tuple[str, str]]:
    best = found["comparator"]
    if best is None:
        return [("Minimum norm", "none: the Gram matrix is singular")]
    rows = [
        (
            "Minimum norm",
            f"{number(best['norm'])}; largest optimality residual {number(max(best['kkt']), 2)}"
            f"{words.bracket_words(found)}",
        )
    ]
    if best["gap"] is None:
        return [*rows, ("Gap", "none: the run has no certified limit")]
    unit = words.gap_unit(found)
    rows.append(
        (
            "Gap",
            f"{number(best['gap'])} = {number(best['relative_gap'])} times the minimum norm = "
            f"{number(best['gap_over_root_off_class_over_trace'])} {unit}",
        )
    )
    if not is_frozen(found):
        return [*rows, ("Bounds", "none: they need the pattern to be frozen from step one on")]
    return [
        *rows,
        ("Leading order", number(best["leading_order"])),
        (
            "Deductive bounds",
            f"{number(best['deductive_low'])} to {or_infinite(best['deductive_high'], number)}",
        ),
    ]


def _own_run(found: Part) -> list[tuple[str, str]]:
    run = found.get("own_run")
    if not run:
        return []
    return [
        ("What was run", words.own_run_words(found)),
        ("Outcome", words.outcome_words(run)),
        ("Last change of pattern", f"step {number(run['last_flip'])}"),
    ]


def _claim(claim: Part) -> dict[str, Any]:
    word, note = words.claim_words(claim)
    margin = words.margin_words(claim, number)
    return {**claim, "word": word, "note": note, "mark": mark(claim), "margin": margin}
