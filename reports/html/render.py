"""The HTML report: one self-contained page, from report.json alone.

`render` has a model built in which everything a reader sees is decided (`page`), and hands it to
the templates in `templates/`, which only lay it out. Nothing is fetched and no script runs: a
content security policy in the page says so to the browser. Text from theorems and files is
escaped; `typography` alone adds markup, to text that is escaped already.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from reports import typography
from reports.html.marks import VERDICTS
from reports.html.page import page_of
from reports.runs.schema import SCHEMA_VERSION
from reports.typography import Part, number, percent, point_text
from verify.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Environment


def render(report: Part) -> str:
    """Return the page for a report as read from report.json.

    The same report gives the same bytes. Raises InputError for a report of another version.
    """
    version = report.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"schema_version={version!r}, expected {SCHEMA_VERSION}; render the report with the "
            "relu-verify that wrote it"
        )
    page = page_of(typography.clean(report))
    return environment().get_template("report.html").render(page=page)


def require_format(content: Part, form: str, version: int, what: str) -> None:
    """Raise InputError unless a file's content is of this format and version; what: a noun."""
    kind, known = content.get("format"), content.get("schema_version")
    if (kind, known) != (form, version):
        raise InputError(
            f"format={kind!r}, schema_version={known!r}, expected {form!r}, {version}; "
            f"render the {what} with the relu-verify that wrote it"
        )


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return what renders the templates: their folder, and how values become text on a page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number,
        point=point_text,
        percent=percent,
        at_least=typography.at_least,
        at_most=typography.at_most,
        interval=typography.interval,
        claimed_slope=typography.claimed_slope,
        where_slopes_lie=typography.where_slopes_lie,
        prose=typography.prose,
        breakable=typography.breakable,
        capitalize_first=typography.capitalize_first,
        citation=typography.citation,
        figure=Markup,
    )
    environment.globals.update(verdicts=VERDICTS)
    return environment
