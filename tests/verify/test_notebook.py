"""Verdicts in a notebook: whole HTML, every text escaped, nothing to fetch, the same numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.verify.engine.toys import NEVER_MET, at_least_zero, rate, theorem_of
from verify import Conclusion, Control, Status, Universal, check, load_file
from verify.notebook import _COLOURS
from verify.verdict import Hunted, Verdict, Verdicts

EXAMPLES = Path(__file__).parents[2] / "examples"


class Balanced(HTMLParser):
    """Raises where a tag is closed that is not open; collects tags and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, _: object) -> None:
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def found() -> Verdicts:
    theorem = load_file(EXAMPLES / "same_factor.py")
    claim = theorem.claims[0]
    control = Control(
        Universal(claim.inequality, name="again", status=Status.FALSE), because="a < b & c"
    )
    return check(replace(theorem, controls=(control,)))


def test_a_table_has_a_row_for_every_verdict_and_says_what_its_words_mean(found: Verdicts) -> None:
    html = Balanced(found._repr_html_())
    assert html.tags.count("tr") == 1 + len(found)
    for verdict in found:
        assert verdict.claim in html.text
        assert verdict.detail in html.text
        assert f"{verdict.holds} / {verdict.in_scope} / {verdict.trials}" in html.text
    assert "again (control)" in html.text
    assert "refuted expected: supported" in html.text
    assert Conclusion.REFUTED.meaning in html.text
    assert "at confidence 0.95" in html.text


def test_a_card_tells_the_statement_and_the_numbers(found: Verdicts) -> None:
    html = Balanced(found["again"]._repr_html_()).text
    assert found["again"].statement in html
    assert "false because a < b & c" in html
    assert "expected" not in html, "a control that is refuted is as expected"


def test_a_card_tells_how_often_a_claim_is_violated(found: Verdicts) -> None:
    where = ", ".join(
        f"{name} = {value:g}" for name, value in found["again"].instance.point.items()
    )
    told = f"violations violated in 200 of 200 in scope at {where}: probability 0.981 to 1.000"
    assert told in Balanced(found["again"]._repr_html_()).text
    met = Hunted(9, 8, 1, 0)
    searched = replace(found["again"], instance=None, hunted=met)
    assert "violations in scope, searched, no rate" in Balanced(searched._repr_html_()).text
    clean = replace(searched, hunted=replace(met, violated=0))
    assert "violations" not in Balanced(clean._repr_html_()).text


def test_at_a_prompt_verdicts_are_lines_not_every_field(found: Verdicts) -> None:
    assert repr(found).splitlines() == ["Verdicts at confidence 0.95", *str(found).splitlines()]
    assert repr(found["again"]).startswith("Verdict(refuted: ")
    assert repr(found["again"]).endswith("::again  200 of 200 in scope violate it (200 trials))")


def hostile(verdict: Verdict) -> Verdict:
    text = '<script>alert("&")</script>'
    names = ("claim", "full_id", "statement", "detail", "because")
    return replace(verdict, **dict.fromkeys(names, text), given=(text,), rests_on=(text,))


def test_every_text_of_a_users_is_escaped(found: Verdicts) -> None:
    bad = hostile(found[0])
    for html in (bad._repr_html_(), Verdicts((bad,), 0.05)._repr_html_()):
        assert "script" not in Balanced(html).tags
        assert '<script>alert("&")</script>' in Balanced(html).text
        assert 'title="<' not in html


def test_nothing_is_fetched_and_every_colour_is_a_badges(found: Verdicts) -> None:
    html = found._repr_html_() + found[0]._repr_html_()
    assert not re.search(r"https?:|src=|href=|<style|class=", html)
    assert set(re.findall(r"[;\"]color:([^;\"]+)", html)) == {"#fff", "inherit"}
    assert set(_COLOURS) == {str(word) for word in Conclusion}


def contrast_with_white(colour: str) -> float:
    """The contrast ratio of WCAG 2.1 between white text and a background."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


@pytest.mark.parametrize("word", sorted(_COLOURS))
def test_a_badge_can_be_read(word: str) -> None:
    assert contrast_with_white(_COLOURS[word]) >= 4.5


def test_a_rate_shows_its_slopes_and_a_missing_number_nothing() -> None:
    never_met = Universal(at_least_zero, given=(NEVER_MET,))
    html = Balanced(check(theorem_of(rate(), never_met))._repr_html_()).text
    assert "slope 1.0" in html
    assert "nan" not in html.lower()


def test_what_a_search_alone_refutes_has_no_bound(found: Verdicts) -> None:
    alone = replace(found[0], verdict=Conclusion.REFUTED, holds=100, violated=0)
    assert not re.search("P [≤≥]", alone._repr_html_().replace(found[0].detail, ""))
    assert "P ≤" in replace(alone, violated=3)._repr_html_()
