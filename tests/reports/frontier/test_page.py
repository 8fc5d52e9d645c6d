"""The page on a frontier, as parsed HTML and as a browser sees it; and the format of the file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reports.frontier.measuring import complete
from reports.frontier.page import NAMES, render, write
from reports.frontier.schema import SCHEMA
from tests.reports import browser
from tests.reports.frontier.sample import by_start, frontier, row, single
from tests.reports.own_data.test_page import HOSTILE, Parsed
from verify.errors import InputError


def hostile() -> dict[str, Any]:
    """Return a frontier in which every text is hostile."""
    found = by_start()
    kinds = {kind: f"{kind} {HOSTILE}" for kind in ("positive", "constant", "random_sign")}
    for part in (*found["rows"], *found["cells"]):
        part["y"] = kinds[part["y"]]
    rows = [{**r, "note": HOSTILE} for r in found["rows"]]
    lines = [{"what": "assumption", "id": HOSTILE, "meaning": HOSTILE, "rows": rows, "fits": []}]
    axes = {name: {**found[name], "name": HOSTILE, "meaning": HOSTILE} for name in ("x", "y")}
    changed = {"claim": HOSTILE, "full_id": HOSTILE, "statement": HOSTILE, "given": [HOSTILE]}
    return {**found, **changed, **axes, "rows": rows, "lines": lines, "at": {HOSTILE: HOSTILE}}


def nowhere() -> dict[str, Any]:
    """Return a frontier without any trial in scope."""
    note = "no trial met what the claim is given, anywhere along the row"
    cells = [{**c, "in_scope": 0, "frequency": None} for c in frontier()["cells"]]
    rows = [row(r["y"], r["level"], None, note=note) for r in frontier()["rows"]]
    return frontier(cells=cells, rows=rows, lines=[], fits=[])


MADE = {
    "rows": frontier,
    "single": single,
    "choice": by_start,
    "nowhere": nowhere,
    "hostile": hostile,
}
every = pytest.mark.parametrize("name", MADE)


def found_of(name: str) -> dict[str, Any]:
    return complete(MADE[name](), HOSTILE, "2026-01-01T00:00:00+00:00")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: render(found_of(name)) for name in MADE}


@every
def test_the_file_is_as_its_schema_says(name: str) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(found_of(name))))


@pytest.mark.parametrize(
    "changes", [{"rows": [{"y": 1}]}, {"extra": 1}, {"levels": []}, {"exit_code": 1}]
)
def test_the_schema_refuses_what_is_another(changes: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate({**found_of("rows"), **changes})


@every
def test_the_page_is_balanced_and_begins_with_the_sentence(
    name: str, pages: dict[str, str]
) -> None:
    page = Parsed(pages[name])
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(set(ids)) == len(ids)
    for tag, attributes in page.tags:
        if tag == "a" and (attributes.get("href") or "").startswith("#"):
            assert (attributes["href"] or "")[1:] in ids
    assert pages[name].index("<h1>") < pages[name].index("<h2>")
    heading = re.search(r"<h1>(.*?)</h1>", pages[name], re.S)
    assert heading
    assert heading[1].split()[:2] == found_of(name)["sentence"].split()[:2]


@every
def test_nothing_is_fetched_and_no_script_runs(name: str, pages: dict[str, str]) -> None:
    page = Parsed(pages[name])
    assert not {"script", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    addresses = [v for _, a in page.tags for k, v in a.items() if k in ("src", "href") and v]
    assert all(v.startswith(("#", "data:")) for v in addresses)
    assert any(a.get("http-equiv") == "Content-Security-Policy" for _, a in page.tags)


def test_text_of_others_is_escaped_and_not_evaluated(pages: dict[str, str]) -> None:
    text = Parsed(pages["hostile"]).text
    assert "<script>alert(1)</script>" in text
    assert "{{ 7*7 }}" in text


def test_figures_are_a_diagram_and_a_profile_for_each_row(pages: dict[str, str]) -> None:
    assert pages["rows"].count("<figure") == 1 + 5
    assert pages["single"].count("<figure") == 1
    assert pages["choice"].count("<figure") == 1 + 3
    assert pages["nowhere"].count("<figure") == 0
    assert 'id="diagram"' in pages["rows"]
    assert 'id="diagram"' not in pages["single"]
    for page in pages.values():
        for label in re.findall(r'<svg xmlns[^>]*aria-label="([^"]*)"', page):
            assert label.startswith(("Phase diagram. ", "Probability along the axis. "))
    numbers = re.findall(r"<b>Figure (\d+)\.</b>", pages["rows"])
    assert numbers == ["1", "2", "3", "4", "5", "6"]


def test_every_row_is_in_the_table(pages: dict[str, str]) -> None:
    table = pages["rows"].split('id="boundaries"')[1].split("</table>")[0]
    assert table.count("<tr") == 1 + 10
    assert "d/(n·log n)" in table
    assert 'data-label="Interval" class="number">[36.8, 41.5]<' in table
    assert "d/(n·log n)" not in pages["single"].split('id="boundaries"')[1]
    assert "stays below 0.5 from end to end" in Parsed(pages["choice"]).text


def test_laws_and_lines_are_told(pages: dict[str, str]) -> None:
    text = Parsed(pages["rows"]).text
    assert "Level 0.5: Both laws fit." in text
    assert "1.01 [0.96, 1.06]" in text
    assert "Where certified_from_step_one is met." in text
    assert "The certificate certified_from_step_one lies at 12.8 to 92.7 times the d" in text
    assert 'id="laws"' not in pages["choice"]


def test_defaults_and_assumptions_are_told_in_a_line(pages: dict[str, str]) -> None:
    assert "positives = 0.5, start = positive, ymin = 0.5" in Parsed(pages["rows"]).text
    assumption = {**frontier()["lines"][0], "what": "assumption", "id": "is_a"}
    page = render(complete(frontier(lines=[assumption]), "", "now"))
    lines = page.split('id="lines"')[1].split("</section>")[0].replace("\N{NO-BREAK SPACE}", " ")
    assert "Met from d = 500 [470, 530] at n = 10 to" in lines
    assert "not statistical" in lines
    assert "<table" not in lines


def test_an_axis_without_meaning_leaves_no_comma() -> None:
    found = frontier()
    axes = {name: {**found[name], "meaning": ""} for name in ("x", "y")}
    text = Parsed(render(complete({**found, **axes}, "", "now"))).text
    assert "Alongd, from 2 to 107 Byn: 10, 20, 40, 80 and 160 " in text
    assert ", ," not in text
    assert ", :" not in text


def test_how_it_was_measured_and_how_to_do_it_again(pages: dict[str, str]) -> None:
    text = Parsed(pages["rows"]).text
    assert "38 400 trials, of a budget of 50 000" in text.replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert "anytime-valid" in text
    assert "only rises or only falls along d" in text
    assert "Left out, because it implies what is claimed: certified_from_step_one." in text
    assert "A certificate’s boundaries are measured like the claim’s" in text
    assert "An assumption’s are those" not in text
    assert "0: every row has its boundary" in text


@pytest.mark.parametrize(("name", "tone"), [("rows", "good"), ("nowhere", "")])
def test_only_a_whole_answer_is_marked_as_good(name: str, tone: str, pages: dict[str, str]) -> None:
    assert f'<header id="answer" class="answer {tone}">' in pages[name]


def test_a_folder_gets_four_files_of_which_the_page_follows(tmp_path: Path) -> None:
    found = found_of("rows")
    write(found, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(NAMES)
    known = json.loads((tmp_path / "frontier.json").read_text(encoding="utf-8"))
    assert known == found
    assert (tmp_path / "frontier.html").read_text(encoding="utf-8") == render(known)


def test_a_frontier_of_another_version_is_refused() -> None:
    with pytest.raises(InputError, match="schema_version=99"):
        render({**found_of("rows"), "schema_version": 99})
    with pytest.raises(InputError, match="format='another'"):
        render({**found_of("rows"), "format": "another"})


@pytest.mark.skipif(bool(browser.MISSING), reason=browser.MISSING or "a browser is here")
def test_pages_fit_a_narrow_screen_and_the_console_is_silent(
    pages: dict[str, str], tmp_path: Path
) -> None:
    with browser.driven() as driver:
        for name in ("rows", "choice", "hostile"):
            file = tmp_path / f"{name}.html"
            file.write_text(pages[name], encoding="utf-8")
            driver.show(width=400)
            driver.open(file)
            assert driver.overflowing() == []
            assert driver.complaints() == []
            assert driver.requests() == [file.as_uri()]
