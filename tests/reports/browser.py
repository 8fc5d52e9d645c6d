"""A page as headless Chromium sees it: for tests of what only a browser can tell."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
"""Path of the browser, or None."""

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_FRAME = """<!doctype html><meta charset="utf-8"><pre></pre>
<script>
function measure(frame, fragment) {
  const page = frame.contentDocument;
  page.querySelectorAll("details").forEach((details) => { details.open = true; });
  const edge = frame.contentWindow.innerWidth + 1;
  const reaches = (element) => element.getBoundingClientRect().right > edge;
  const wide = [...page.querySelectorAll("body *")].filter(reaches);
  const astray = wide.filter((element) => !element.closest(".wide, .skip, svg"));
  if (fragment) frame.contentWindow.location.hash = fragment;
  document.querySelector("pre").textContent = JSON.stringify({
    width: frame.contentWindow.innerWidth,
    scroll_width: page.documentElement.scrollWidth,
    overflowing: astray.slice(0, 5).map((element) => element.outerHTML.slice(0, 120)),
    in_view: page.querySelector(":target")?.getBoundingClientRect().top ?? null,
    background: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
  });
}
</script>
"""


@dataclass(frozen=True)
class Seen:
    """What the browser found. Lengths are in CSS pixels.

    overflowing: elements that reach beyond the right edge.   in_view: distance of the element
    that the fragment names from the top of the window, None without one.
    """

    width: int
    scroll_width: int
    overflowing: list[str]
    in_view: float | None
    background: str


def look(page: str, folder: Path, *, width: int, fragment: str = "", dark: bool = False) -> Seen:
    """Open a page at a width, with all its details open, and measure it.

    It is opened in a frame, since a window has a least width, and measured from outside, since
    its own security policy allows no scripts.
    """
    file = folder / "frame.html"
    frame = (
        f'<iframe srcdoc="{html.escape(page)}" style="border: 0; width: {width}px; height: 900px" '
        f"onload=\"measure(this, '{fragment}')\"></iframe>"
    )
    file.write_text(_FRAME + frame, encoding="utf-8")
    scheme = ("--blink-settings=preferredColorScheme=0",) if dark else ()
    dom = _run(file, "--hide-scrollbars", *scheme).stdout
    found = re.search(r"<pre>({.*?})</pre>", dom, re.DOTALL)
    if found is None:
        raise AssertionError(f"the browser did not measure the page: {dom[:500]!r}")
    return Seen(**json.loads(html.unescape(found[1])))


def complaints(page: str, folder: Path) -> list[str]:
    """Open a page as it is and return what the browser's console says about it:
    errors, and whatever the page's security policy kept from being fetched or run."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    said = _run(file, "--enable-logging=stderr").stderr
    return [line for line in said.splitlines() if ":CONSOLE" in line]


def _run(file: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    if CHROMIUM is None:
        raise AssertionError("no browser; tests that need one should be skipped")
    command = [CHROMIUM, *_FLAGS, f"--user-data-dir={file.parent / 'profile'}", *flags]
    return subprocess.run(
        [*command, "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
