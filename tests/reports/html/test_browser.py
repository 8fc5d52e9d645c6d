"""What only a browser can tell of a page: Chromium, headless, through WebDriver."""

import json

import pytest

from reports.html.anchors import anchor
from reports.html.render import render
from tests.reports import browser
from tests.reports.browser import ENTER, TAB
from tests.reports.sample import REPORTS, Reader

pytestmark = pytest.mark.skipif(
    bool(browser.MISSING), reason=browser.MISSING or "a browser is here"
)


@pytest.fixture(scope="module")
def driver():
    with browser.driven() as session:
        yield session


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.html" for name in ("full", "hostile", "empty")}
    for name, file in made.items():
        file.write_text(render(REPORTS[name]()), encoding="utf-8")
    return made


CONTRAST = """
const parsed = (colour) => {
  const found = colour.match(/[-\\d.e]+/g).map(Number);
  const unit = colour.startsWith("color(") ? 255 : 1;
  return [...found.slice(0, 3).map((part) => part * unit), found[3] ?? 1];
};
const over = ([red, green, blue, alpha], below) =>
  [red, green, blue].map((part, k) => part * alpha + below[k] * (1 - alpha));
const luminance = (rgb) => rgb.map((part) => part / 255)
  .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, k) => sum + part * [0.2126, 0.7152, 0.0722][k], 0);
const backdrop = (element) => {
  if (!element) return [255, 255, 255];
  return over(parsed(getComputedStyle(element).backgroundColor), backdrop(element.parentElement));
};
document.querySelectorAll("details").forEach((details) => { details.open = true; });
const found = {};
for (const element of document.querySelectorAll("body *")) {
  const nodes = [...element.childNodes].filter((node) => node.nodeType === 3);
  const text = nodes.map((node) => node.data).join("").trim().slice(0, 30);
  if (!text) continue;
  const style = getComputedStyle(element);
  const below = backdrop(element);
  const ink = over(parsed(element.closest("svg") ? style.fill : style.color), below);
  const [dark, light] = [luminance(ink), luminance(below)].sort((a, b) => a - b);
  const ratio = (light + 0.05) / (dark + 0.05);
  const name = `${element.tagName}.${element.getAttribute("class")}`;
  if (!(ratio >= found[name]?.ratio)) found[name] = { ratio, text };
}
return found;
"""
"""The least contrast of text with what lies behind it, by kind of element (WCAG 2)."""


@pytest.mark.parametrize("name", ["full", "hostile"])
@pytest.mark.parametrize("width", [400, 1200])
def test_pages_fit_their_screen(name, width, driver, files):
    driver.show(width=width)
    driver.open(files[name])
    assert driver.overflowing() == []
    assert driver.run("return document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["full", "hostile"])
def test_pages_ask_for_nothing_and_the_console_is_silent(name, driver, files):
    driver.show(width=1200)
    driver.open(files[name])
    driver.run("window.scrollTo(0, document.scrollingElement.scrollHeight)")
    assert driver.complaints() == []
    assert driver.requests() == [files[name].as_uri()]


def test_the_browser_sees_what_it_is_asked_about(driver, files, tmp_path):
    bad = (
        '<div style="width: 900px">wide</div><img src="missing.png"><script>throw 1</script>'
        '<p class="faint" style="color: #999; background: #aaa">faint</p>'
    )
    page = files["empty"].read_text(encoding="utf-8").replace("</main>", f"{bad}</main>")
    file = tmp_path / "bad.html"
    file.write_text(page, encoding="utf-8")
    driver.show(width=400)
    driver.open(file)
    said = "\n".join(driver.complaints())
    assert "missing.png" in said
    assert "script" in said
    found = driver.overflowing()
    assert any("wide" in element for element in found)
    assert found[-1].startswith("the page, by 5")
    assert driver.run(CONTRAST)["P.faint"]["ratio"] < 2
    unguarded = page.replace("http-equiv", "data-was")
    file.write_text(unguarded, encoding="utf-8")
    driver.open(file)
    assert any(address.endswith("missing.png") for address in driver.requests())


def test_every_link_within_a_page_scrolls_to_its_target(driver, files):
    driver.show(width=1200)
    driver.open(files["full"])
    links = driver.run(
        """return [...new Set([...document.querySelectorAll('a[href^="#"]')]
        .map((link) => link.getAttribute("href")))]"""
    )
    assert len(links) > 30
    for link in links:
        driver.run("window.scrollTo(0, 0); history.replaceState(null, '', '#')")
        driver.run("document.querySelector(`a[href=${arguments[0]}]`).click()", json.dumps(link))
        top = driver.run("return document.querySelector(':target')?.getBoundingClientRect().top")
        left = driver.run(
            "const page = document.scrollingElement;"
            "return page.scrollHeight - page.scrollTop - page.clientHeight"
        )
        assert top is not None, link
        assert -1 <= top < 120 or left < 2, f"{link} lies at {top}, {left} from the end"


@pytest.mark.parametrize(
    "fragment",
    [
        anchor("theorem", "lai2026.theorem1"),
        anchor("claim", "lai2026.theorem1.scales"),
        anchor("measure", "lai2026.theorem1.ratio"),
        "lai2026.theorem1",
        "lai2026.theorem1.scales",
        "figure-5",
        "figures",
    ],
)
def test_pages_open_at_a_fragment(fragment, driver, files):
    driver.show(width=1200)
    driver.open(files["full"], fragment)
    top = driver.run("return document.querySelector(':target').getBoundingClientRect().top")
    assert 0 <= top < 200


def focused(driver):
    """Return where the focus is, whether it can be seen, and how."""
    return driver.run(
        """const here = document.activeElement, box = here.getBoundingClientRect();
        const style = getComputedStyle(here);
        return {
          tag: here.tagName, href: here.getAttribute("href"), open: here.parentElement?.open,
          outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
          visible: box.width > 0 && box.bottom > 0 && box.top < innerHeight
            && box.right > 0 && box.left < innerWidth,
        };"""
    )


def test_pages_can_be_gone_through_by_keyboard(driver, files):
    driver.show(width=1200)
    driver.open(files["full"])
    driver.press(TAB)
    skip = focused(driver)
    assert skip["href"] == "#answer"
    assert skip["visible"]
    driver.press(TAB)
    contents = Reader(files["full"].read_text(encoding="utf-8").split("</nav>")[0])
    wanted = [link for link in contents.values("href") if link.startswith("#")][1:]
    seen = []
    while len(seen) < 40:
        here = focused(driver)
        assert here["visible"], here
        assert here["outline"] >= 2, here
        seen.append(here["href"])
        driver.press(TAB)
    assert seen[: len(wanted)] == wanted
    assert len(set(seen)) > 20


def test_the_skip_link_leads_past_the_contents(driver, files):
    driver.show(width=1200)
    driver.open(files["full"])
    driver.press(TAB, ENTER)
    assert driver.run("return location.hash") == "#answer"
    driver.press(TAB)
    inside = driver.run("return document.activeElement.closest('#answer') !== null")
    assert inside


def test_details_open_and_close_by_keyboard(driver, files):
    driver.show(width=1200)
    driver.open(files["full"])
    driver.run("document.querySelector('details:not([open]) > summary').focus()")
    driver.press(ENTER)
    assert focused(driver)["open"] is True
    driver.press(ENTER)
    assert focused(driver)["open"] is False


def test_a_click_opens_details_and_follows_links(driver, files):
    driver.show(width=1200)
    driver.open(files["full"])
    driver.click("#figures details summary")
    driver.click('#figures a[href="#figure-3"]')
    assert driver.run("return location.hash") == "#figure-3"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read_in_light_and_dark(dark, driver, files):
    driver.show(width=1200, dark=dark)
    driver.open(files["full"])
    found = driver.run(CONTRAST)
    assert len(found) > 30
    faint = {name: entry for name, entry in found.items() if entry["ratio"] < 4.5}
    assert not faint


TOKENS = ("ink", "soft", "link", "alarm", "ours", "fig-ink", "fig-claim", "fig-data")
TOKENS += ("certified", "supported", "refuted", "vacuous", "inconclusive", "undecided")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colours_of_text_stand_out_from_every_ground(dark, driver, files):
    driver.show(width=1200, dark=dark)
    driver.open(files["empty"])
    driver.run(
        """document.body.innerHTML = arguments[0].flatMap((ink) => ["paper", "card", "tint"].map(
        (ground) => `<p class="${ink}-${ground}" style="color: var(--${ink});
        background: var(--${ground})">text</p>`)).join("")""",
        TOKENS,
    )
    found = driver.run(CONTRAST)
    assert len(found) == 3 * len(TOKENS)
    assert not {name: entry for name, entry in found.items() if entry["ratio"] < 4.5}


def test_dark_and_light_differ(driver, files):
    grounds = []
    for dark in (False, True):
        driver.show(width=1200, dark=dark)
        driver.open(files["full"])
        grounds.append(driver.run("return getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] != grounds[1]
