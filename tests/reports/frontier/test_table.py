"""A frontier as CSV, and as text for a terminal."""

from __future__ import annotations

import csv
import io

from reports.frontier.lines import told
from reports.frontier.measuring import complete
from reports.frontier.table import CELL_COLUMNS, ROW_COLUMNS, boundaries, cells
from tests.reports.frontier.sample import LEVELS, Y_VALUES, by_start, frontier, row, single


def read(text: str) -> list[dict[str, str]]:
    assert "\r" not in text
    return list(csv.DictReader(io.StringIO(text)))


def test_every_boundary_is_a_row_in_full_precision() -> None:
    found = frontier()
    rows = read(boundaries(found))
    assert tuple(rows[0]) == ROW_COLUMNS
    assert [r["what"] for r in rows].count("claim") == len(Y_VALUES) * len(LEVELS)
    assert len(rows) == 3 * len(Y_VALUES) * len(LEVELS)
    for told_, known in zip(rows, found["rows"], strict=False):
        for name in ("boundary", "low", "high", "level"):
            assert float(told_[name]) == known[name]
        assert (told_["y"], told_["y_axis"], told_["x_axis"]) == (str(known["y"]), "n", "d")


def test_what_is_unknown_is_empty() -> None:
    last = read(boundaries(by_start()))[-1]
    assert (last["y"], last["boundary"], last["low"], last["high"]) == ("random_sign", "", "", "")
    assert last["note"].startswith("no boundary: the probability stays below 0.95")
    assert {r["y"] for r in read(boundaries(single()))} == {""}


def test_every_cell_is_a_row() -> None:
    found = frontier()
    found["cells"][0] = {**found["cells"][0], "frequency": None, "in_scope": 0}
    rows = read(cells(found))
    assert tuple(rows[0]) == CELL_COLUMNS
    assert len(rows) == len(found["cells"])
    assert rows[0]["frequency"] == ""
    assert float(rows[7]["x"]) == found["cells"][7]["x"]
    assert int(rows[7]["holds"]) == found["cells"][7]["holds"]


def below(text: str, *head: str) -> list[list[str]]:
    """Return the words of each line below the first that begins with `head`, to the next gap."""
    told_ = text.splitlines()
    first = next(k for k, line in enumerate(told_) if line.split()[: len(head)] == [*head])
    rest = told_[first + 1 :]
    end = rest.index("") if "" in rest else len(rest)
    return [line.split() for line in rest[:end]]


def test_the_terminal_has_a_row_for_each_y_and_level() -> None:
    text = told(complete(frontier(), "", "now"))
    rows = below(text, "n", "level", "d", "interval", "trials", "d/(n·log", "n)")
    assert len(rows) == len(Y_VALUES) * len(LEVELS)
    assert rows[0] == ["10", "0.5", "39.1", "[36.8,", "41.5]", "4000", "1.7"]
    assert rows[1][:3] == ["10", "0.95", "63.9"]


def test_the_terminal_has_laws_lines_and_the_sentence_last() -> None:
    text = told(complete(frontier(), "", "now"))
    assert "level 0.5, q = 1: d ≈ 1.66·n^p·log n, p = 1.01 [0.96, 1.06]\n" in text
    assert "level 0.95: Both laws fit.\n" in text
    assert "Certificate   certified_from_step_one: Where certified_from_step_one is met." in text
    assert "Prediction    P̂: Where P̂ is met." in text
    certificate = below(text, "Certificate")[1]
    assert certificate == ["10", "0.5", "500", "[470,", "530]", "12.8"]
    assert text.splitlines()[-1].startswith("With probability 0.5 or more, pattern_freezes")


def test_without_numbers_along_y_there_is_no_ratio_and_no_law() -> None:
    for found in (single(), by_start()):
        text = told(complete(found, "", "now"))
        assert "log" not in text
        assert "Laws" not in text
    last = below(told(complete(by_start(), "", "now")), "start", "level")[-1]
    assert last[:5] == ["random_sign", "0.95", "—", "—", "4000"]


def test_a_note_stands_at_the_end_of_its_row() -> None:
    found = frontier(rows=[row(10, 0.5, 40.0, note="one of 2 crossings")])
    (line,) = [ln for ln in told(complete(found, "", "")).splitlines() if "crossings" in ln]
    assert line.endswith("1.74  one of 2 crossings")


def test_an_axis_without_meaning_is_told_by_its_name() -> None:
    meant = complete(frontier(), "relu-verify frontier …")
    plain = {name: {**meant[name], "meaning": ""} for name in ("x", "y")}
    assert "Along         d, features; by n, examples\n" in told(meant)
    assert "Along         d; by n\n" in told({**meant, **plain})


def test_an_assumption_is_one_line_that_is_no_statistics() -> None:
    rows = [row(n, 0.5, 100.0 * n) for n in Y_VALUES]
    line = {"what": "assumption", "id": "is_a", "meaning": "A.", "rows": rows, "fits": []}
    lines = told(complete(frontier(lines=[line]), "", "now")).splitlines()
    at = lines.index("Assumption    is_a: A.")
    assert lines[at + 1].startswith(
        "  Met from d = 1000 [940, 1060] at n = 10 to 16\N{NARROW NO-BREAK SPACE}000 ["
    )
    assert lines[at + 1].endswith("Intervals are between neighbouring values, not statistical.")
    assert lines[at + 2] == ""


def test_levels_and_rows_have_all_their_digits() -> None:
    rows = [row(1_000_001, 0.999999999, 40.0)]
    text = told(complete(frontier(rows=rows, levels=[0.999999999]), "", "now"))
    assert below(text, "n", "level")[0][:2] == ["1.000001×10⁶", "0.999999999"]


def test_the_defaults_that_decide_are_told() -> None:
    text = told(complete(frontier(), "", "now"))
    assert "\nDefaults      positives = 0.5, start = positive, y_min = 0.5\n" in text
    assert "Defaults" not in told(complete(frontier(defaults={}), "", "now"))


def test_a_prediction_that_passes_no_level_has_no_empty_table() -> None:
    lines = [{**ln, "rows": []} for ln in frontier()["lines"] if ln["what"] == "prediction"]
    text = told(complete(frontier(lines=lines), "", "now"))
    assert "Where P̂ is met.\n  Passes none of the levels along d.\n\n" in text
