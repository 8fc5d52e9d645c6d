"""docs/benchmarks.md: everything between its two markers is what the program measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.tables import Table, as_markdown

DOCS = Path(__file__).parents[1] / "docs"
PAGE, FIGURE = "benchmarks.md", "benchmarks-cost.svg"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

_CAPTION = (
    "Above, every curve of ours at its best batch size; below, single trials. PyTorch, CVXPY and "
    "JAX are given X, whose drawing is not counted. Bars are the spread over the rounds."
)

_ORDER = ("goals", "wishart", "stages", "flatness", "sampled", "dimension", "otherwise")
"""Tables that come first; others follow as they were measured."""


def section(tables: Sequence[Table], machine: Mapping[str, str], command: str) -> str:
    """Return the measured part of the page. The figure stands where theirs was measured too."""
    names = [table.name for table in tables]
    first = [tables[names.index(name)] for name in _ORDER if name in names]
    ordered = first + [table for table in tables if table.name not in _ORDER]
    told = "; ".join(f"{name}: {value}" for name, value in machine.items())
    lines = [f"Measured with `{command}`.", "", f"{told}.", ""]
    if drawable(tables):
        lines += [f"![Cost of a trial against n and against d]({FIGURE})", "", _CAPTION, ""]
    return "\n".join([*lines, "\n\n".join(as_markdown(table) for table in ordered), ""])


def drawable(tables: Sequence[Table]) -> bool:
    """Whether there is all that the figure shows."""
    return {"wishart", "sampled", "dimension", "otherwise"} <= {table.name for table in tables}


def replaced(page: str, measured: str) -> str:
    """Return the page's text with what stands between its markers replaced.

    Raises ValueError for a page without the two markers.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"page lacks {BEGIN} … {END}, expected both; put them back")
    return f"{before}{begin}\n\n{measured}\n{end}{after}"


def write(
    tables: Sequence[Table], machine: Mapping[str, str], command: str, folder: Path = DOCS
) -> None:
    """Write the measured part of the page in `folder`, and its figure."""
    from benchmarks import figure

    page = folder / PAGE
    text = replaced(page.read_text(encoding="utf-8"), section(tables, machine, command))
    if drawable(tables):
        figure.write(tables, folder / FIGURE)
    page.write_text(text, encoding="utf-8")
