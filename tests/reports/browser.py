"""Headless Chromium through the W3C WebDriver protocol: what only a browser can tell of a page.

A `Browser` is one session of chromedriver, spoken to with urllib. Scripts that tests run in a page
come through the driver, so the page's own security policy, which allows none, stays in force.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")
"""Paths of the browser and of its driver, or None."""

MISSING = " and ".join(
    f"no {name} on this machine (Debian package: {package})"
    for name, package, path in (
        ("chromium", "chromium", CHROMIUM),
        ("chromedriver", "chromium-driver", DRIVER),
    )
    if path is None
)
"""Why there is no browser; "" where there is one."""

TAB, ENTER = "\ue004", "\ue007"
"""Keys, as WebDriver spells them."""

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)


_ASTRAY = """
document.querySelectorAll("details").forEach((details) => { details.open = true; });
const edge = document.documentElement.clientWidth + 1;
const reaches = (element) => element.getBoundingClientRect().right > edge;
return [...document.querySelectorAll("body *")]
  .filter((element) => reaches(element) && !element.closest(".wide, .skip, svg"))
  .map((element) => element.outerHTML.slice(0, 120));
"""


class Browser:
    """A session. Raises RuntimeError with the driver's own words when a command fails."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}"
        logging = {"browser": "ALL", "performance": "ALL"}
        options = {"binary": CHROMIUM, "args": list(_FLAGS)}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": logging}
        made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._base += f"/session/{made['sessionId']}"

    def close(self) -> None:
        """End the session, and the browser with it."""
        self._send("DELETE", "")

    def open(self, file: Path, fragment: str = "") -> None:
        """Open a file of this machine, at a fragment, as if nothing had been open before."""
        self._send("POST", "/url", {"url": "about:blank"})
        self.log("browser")
        self.log("performance")
        url = file.as_uri() + (f"#{fragment}" if fragment else "")
        self._send("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what the body of a function returns in the page."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def show(self, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Give the page a size in CSS pixels, and the user's preference for light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._devtools("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._devtools("Emulation.setEmulatedMedia", {"features": [scheme]})

    def overflowing(self) -> list[str]:
        """Open all details, and return the elements beyond the right edge that are not inside
        something that scrolls by itself; and the page, if it scrolls sideways."""
        astray = list(self.run(_ASTRAY))
        wide = self.run("return document.scrollingElement.scrollWidth - innerWidth")
        return [*astray, *[f"the page, by {wide} pixels"] * (wide > 0)]

    def press(self, *keys: str) -> None:
        """Press keys one after the other, each let go before the next."""
        for key in keys:
            strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
            board = {"type": "key", "id": "keyboard", "actions": strokes}
            self._send("POST", "/actions", {"actions": [board]})

    def click(self, selector: str) -> None:
        """Click on the first element that a CSS selector finds."""
        found = self._send("POST", "/element", {"using": "css selector", "value": selector})
        self._send("POST", f"/element/{found[_ELEMENT]}/click", {})

    def log(self, kind: str) -> list[dict[str, Any]]:
        """Return, once, what has been logged since the last call: "browser" or "performance"."""
        return list(self._send("POST", "/se/log", {"type": kind}))

    def complaints(self) -> list[str]:
        """Return what the console has said: errors, and what the security policy kept out."""
        return [entry["message"] for entry in self.log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that pages have asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def _devtools(self, command: str, parameters: dict[str, Any]) -> Any:
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _send(self, method: str, path: str, content: dict[str, Any] | None = None) -> Any:
        data = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(f"{self._base}{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                told = json.load(error)["value"]
            raise RuntimeError(f"{method} {path}: {told['error']}: {told['message']}") from None


@contextmanager
def driven() -> Iterator[Browser]:
    """Start chromedriver on a free port, give a session, and end both."""
    assert DRIVER is not None, "no driver; tests that need one should be skipped"
    command = [DRIVER, "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        try:
            browser = Browser(_port_of(driver))
            try:
                yield browser
            finally:
                browser.close()
        finally:
            driver.terminate()


def _port_of(driver: subprocess.Popen[str]) -> int:
    """Return the port that a driver says it listens on."""
    assert driver.stdout is not None
    for line in driver.stdout:
        if "on port " in line and "started successfully" in line:
            return int(line.rsplit("on port ", 1)[1].strip(" .\n"))
    raise RuntimeError("chromedriver ended before it listened")
