"""Chromium, driven as somebody drives it who sees the page.

``PICTURES=folder`` writes what is seen on the way; the documentation's pictures are from there.
"""

from __future__ import annotations

import base64
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from selenium.webdriver import ActionChains, Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

AXE = (files("axe_core_python") / "axe.min.js").read_text("utf-8")

SAYS = """
return [...document.querySelectorAll('button, a')].find(e => e.innerText.trim() === arguments[0]);
"""

ROWS = """
return [...document.querySelectorAll('main tbody tr')]
  .map(row => [...row.cells].map(cell => cell.innerText.trim()));
"""

FOCUSED = """
const e = document.activeElement, s = getComputedStyle(e);
return [e.tagName, e.name || '', e.innerText || '', s.outlineStyle, parseFloat(s.outlineWidth)];
"""


class Browser:
    """Chromium before one server, or before files."""

    def __init__(self, chrome: Chrome, home: str, downloads: Path) -> None:
        self.chrome, self.home, self.downloads = chrome, home, downloads

    def go(self, path: str) -> None:
        self.chrome.get(self.home + path)

    @property
    def path(self) -> str:
        return urlsplit(self.chrome.current_url).path

    @property
    def text(self) -> str:
        return self.chrome.find_element(By.TAG_NAME, "main").text

    def find(self, selector: str) -> WebElement:
        return self.chrome.find_element(By.CSS_SELECTOR, selector)

    def tick(self, *names: str) -> None:
        for box in self.chrome.find_elements(By.NAME, "variables"):
            if box.is_selected() != (box.get_attribute("value") in names):
                box.click()

    def press(self, words: str, *, leaves: bool = True) -> None:
        """A button or a link by what it says; on return the page that it leads to is there."""
        found = self.chrome.execute_script(SAYS, words)
        assert found is not None, f"nothing says {words!r} on {self.path}"
        if leaves:
            self.leave(found.click)
        else:
            found.click()

    def leave(self, act: Callable[[], object]) -> None:
        """Do what leads to another page, and wait for that."""
        self.chrome.execute_script("window.here = true")
        act()
        WebDriverWait(self.chrome, 30, 0.02).until(
            lambda chrome: chrome.execute_script("return !window.here && document.readyState === 'complete'")
        )

    def ask(self, *names: str) -> None:
        """From the first page to the answer."""
        self.go("/")
        self.tick(*names)
        self.press("Look")
        self.press("Ask for it")

    def rows(self) -> list[tuple[str, ...]]:
        """The table that is on the screen."""
        return [tuple(row) for row in self.chrome.execute_script(ROWS)]

    def saved(self, words: str) -> bytes:
        """Follow a link to a file that the browser keeps."""
        before = set(self.downloads.iterdir())
        self.press(words, leaves=False)
        last = time.monotonic() + 300
        while time.monotonic() < last:
            new = [p for p in set(self.downloads.iterdir()) - before if p.suffix != ".crdownload"]
            if new and not new[0].name.startswith("."):
                return new[0].read_bytes()
            time.sleep(0.05)
        raise AssertionError(f"{words} was not kept")

    def screen(self, size: tuple[int, int], scale: float = 1, *, dark: bool = False) -> None:
        """A screen of so many pixels of the style sheet; as fine only where pictures are kept."""
        scale = scale if "PICTURES" in os.environ else 1
        said = {"width": size[0], "height": size[1], "deviceScaleFactor": scale, "mobile": False}
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", said)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def picture(self, name: str) -> None:
        """The whole page as a picture, where somebody wants to see it."""
        if folder := os.environ.get("PICTURES"):
            height = self.chrome.execute_script("return document.documentElement.scrollHeight")
            width = self.chrome.execute_script("return window.innerWidth")
            clip = {"x": 0, "y": 0, "width": width, "height": min(height, 1600), "scale": 1}
            given = {"captureBeyondViewport": True, "clip": clip}
            found = self.chrome.execute_cdp_cmd("Page.captureScreenshot", given)
            Path(folder, f"{name}.png").write_bytes(base64.b64decode(found["data"]))

    def faults(self, *rules: str) -> list[str]:
        """What axe-core finds on the page; all its rules, or some."""
        self.chrome.execute_script(AXE)
        options: dict[str, object] = {"preload": False, "resultTypes": ["violations"]}
        if rules:
            options["runOnly"] = {"type": "rule", "values": list(rules)}
        found = self.chrome.execute_async_script(
            "const done = arguments[1]; axe.run(document, arguments[0]).then(done, e => done(`${e}`))",
            options,
        )
        assert isinstance(found, dict), found
        return [
            f"{self.path}: {v['id']} ({v['impact']}): {v['nodes'][0]['html'][:120]}"
            for v in found["violations"]
        ]

    def beyond_the_edge(self) -> list[str]:
        """Whether the page is wider than the screen."""
        wide, screen = self.chrome.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        return [f"{self.path}: {wide} pixels wide on {screen}"] if wide > screen else []

    def key(self, *keys: str) -> None:
        ActionChains(self.chrome).send_keys(*keys).perform()

    def focused(self) -> tuple[str, str, str]:
        """Kind, name and words of what has the focus, which must be seen to have it."""
        tag, name, words, style, width = self.chrome.execute_script(FOCUSED)
        assert tag == "BODY" or (style != "none" and width >= 2), f"the focus on {words!r} is unseen"
        return tag, name, words.strip()


@contextmanager
def chromium(home: str, folder: Path) -> Iterator[Browser]:
    """A browser of its own, with its profile and what it keeps in a folder."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert program and driver, "install chromium and chromium-driver (apt-packages-test.txt)"
    downloads = folder / "downloads"
    downloads.mkdir()
    options = ChromeOptions()
    options.binary_location = program
    # A profile of its own; no sandbox, because tests may run as root.
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={folder / 'profile'}")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=ChromeService(driver))
    try:
        chrome.set_script_timeout(300)
        yield Browser(chrome, home, downloads)
    finally:
        chrome.quit()
