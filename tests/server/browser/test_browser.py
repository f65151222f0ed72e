"""The pages in a real browser: walked by mouse, by keyboard, on a phone, at 200 %, in dark.

``PICTURES=folder`` writes what is seen on the way; the documentation's pictures are from there.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import cast

import pytest
from python_calamine import CalamineWorkbook
from real_browser import Browser, chromium
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from table_server import czech

from tabprotect.engine.project.sources import open_table
from tabprotect.server.hosting.trial_server import TrialServer
from tabprotect.server.service import BeyondChoice, RequestLimits, RuleChoice

DESK, PHONE = (1100, 800), (360, 740)

LEAST = 24
"""Pixels of whatever is clicked, by WCAG 2.2 (2.5.8); links within a sentence may be smaller."""

SMALL = """
return [...document.querySelectorAll('main button, main input:not([type=hidden]), main select, nav a')]
  .filter(e => e.offsetParent && getComputedStyle(e).clipPath === 'none')
  .map(e => [e, e.type === 'checkbox' ? e.closest('label') : e])
  .map(([e, box]) => [e, box.getBoundingClientRect()])
  .filter(([e, r]) => r.width < arguments[0] || r.height < arguments[0])
  .map(([e, r]) => `${e.outerHTML} is ${r.width} x ${r.height}`);
"""


@pytest.fixture(scope="module")
def look() -> Iterator[TrialServer]:
    """Every kind of answer: two must ask, and beyond a frozen frontier one table answers."""
    service = czech(
        rule=RuleChoice("by_demand", {"requests": 2}),
        beyond=BeyondChoice(answer="perturbed"),
        limits=RequestLimits(requests=100_000, quantum=0.0),
    )
    found = TrialServer(service, open_table("example:czech-autoworkers")).start()
    yield found
    found.stop()
    found.wait()


@pytest.fixture(scope="module")
def browser(look: TrialServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(look.address, tmp_path_factory.mktemp("chromium")) as found:
        found.screen(DESK)
        yield found


def sign_in(browser: Browser, key: str) -> None:
    browser.go("/sign-in")
    browser.find("input[name=key]").send_keys(key)
    browser.leave(browser.find("main button").click)


def test_the_walk(browser: Browser, look: TrialServer) -> None:
    """First look, a vote, an answer in four forms, a refusal, what-if, freezing, the answer beyond."""
    faults: list[str] = []

    def seen(picture: str) -> None:
        browser.picture(picture)
        nonlocal faults
        faults += browser.faults()

    browser.go("/")
    assert "Czech car factory workers" in browser.text
    seen("server-choose")
    browser.tick("A", "B", "C")
    browser.press("Look")
    assert "Not asked for yet" in browser.text
    seen("server-look")
    browser.press("Ask for it")
    assert "Put off (deferred)" in browser.text
    seen("server-deferred")
    browser.press("Vote for it")
    assert "Released. These counts are exact" in browser.text
    shown = browser.rows()
    assert len(shown) == 8
    seen("server-answer")
    equal_in_every_format(browser, shown)
    browser.ask("A", "B", "C", "D", "E", "F")
    assert "Not released (not_released)" in browser.text and "holds for good" in browser.text
    assert browser.chrome.find_elements(By.LINK_TEXT, "A, B, C")
    seen("server-refused")
    refused = browser.chrome.current_url
    browser.go("/look?variables=A&variables=B&variables=C&variables=D&variables=E&variables=F")
    assert "Never released" in browser.text
    browser.go("/frontier")
    seen("server-frontier")
    browser.go("/mine")
    assert browser.rows()[-1][1:] == ("A, B, C", "deferred", "released")
    seen("server-mine")
    browser.go("/operator")
    assert "sign in with a key of the house" in browser.text
    seen("server-problem")
    faults += as_operator(browser, look)
    browser.chrome.get(refused)
    assert "From the perturbed table" in browser.text
    beyond = browser.rows()
    assert len(beyond) == 64
    totals = dict.fromkeys((row[:3] for row in shown), 0)
    for row in beyond:
        totals[row[:3]] += int(row[-1])
    # It agrees with what was released.
    assert totals == {row[:3]: int(row[3]) for row in shown}
    faults += browser.faults()
    assert not faults, "\n".join(faults)


def equal_in_every_format(browser: Browser, shown: Sequence[tuple[str, ...]]) -> None:
    counts = [int(row[-1]) for row in shown]
    lines = list(csv.reader(io.StringIO(browser.saved("csv").decode("utf-8-sig"))))
    assert [tuple(line) for line in lines[1:]] == list(shown)
    workbook = CalamineWorkbook.from_filelike(io.BytesIO(browser.saved("xlsx")))
    numbers = [c for row in workbook.get_sheet_by_index(0).to_python() for c in row]
    assert [int(n) for n in numbers if isinstance(n, float) and n in counts][: len(counts)] == counts
    answer = browser.chrome.current_url
    browser.press("json-stat2")
    said = json.loads(browser.chrome.find_element(By.TAG_NAME, "body").text)
    assert said["value"] == counts
    browser.chrome.get(answer)


def as_operator(browser: Browser, look: TrialServer) -> list[str]:
    """What if, log, accounts, replay, verify; then the frontier is frozen."""
    browser.go("/sign-in")
    faults = browser.faults()
    sign_in(browser, look.key)
    browser.press("House")
    browser.picture("server-house")
    faults += browser.faults()
    browser.press("What if")
    browser.tick("D", "E", "F")
    browser.leave(browser.find("main button").click)
    assert "7 sub-tables would become released" in browser.text
    browser.picture("server-what-if")
    faults += browser.faults()
    browser.press("Log")
    assert [row[4].split()[0] for row in browser.rows()] == ["projection", "table", "deferral"]
    browser.picture("server-log")
    faults += browser.faults()
    browser.press("Accounts")
    browser.find("input[name=name]").send_keys("ann")
    Select(browser.find("select[name=role]")).select_by_visible_text("auditor")
    browser.press("Make an account")
    assert browser.find("[role=status] code").text.startswith("tp_")
    faults += browser.faults()
    browser.press("Replay")
    browser.leave(lambda: browser.find("input[name=until]").send_keys("2", Keys.ENTER))
    assert "After line 2:" in browser.text
    faults += browser.faults()
    browser.press("Verify")
    assert "Every line follows the one before it" in browser.text
    faults += browser.faults()
    browser.press("Overview")
    browser.press("Freeze the frontier")
    assert "The frontier is frozen." in browser.text
    browser.press("Sign out operator")
    return faults


PAGES = (
    "/",
    "/?variables=A&variables=B",
    "/look?variables=D&variables=E",
    "/look?variables=A&variables=B&variables=C",
    "/frontier",
    "/mine",
    "/sign-in",
    "/nowhere",
)
HOUSE = ("", "/log", "/what-if?variables=D", "/accounts", "/replay?until=1", "/verify")


SCREENS = ((PHONE, 2, False), ((550, 400), 2, False), (DESK, 1, True))
"""A phone, 200 %, and dark: size, how fine, whether dark."""


def test_every_page_on_every_screen(browser: Browser, look: TrialServer) -> None:
    """Nothing leaves the screen, whatever is pressed is large enough, contrast holds."""
    sign_in(browser, look.key)
    faults = []
    for path in (*PAGES, *(f"/operator{path}" for path in HOUSE)):
        browser.go(path)
        name = path.partition("?")[0].strip("/").replace("/", "-") or "choose"
        for size, scale, dark in SCREENS:
            browser.screen(size, scale, dark=dark)
            faults += browser.beyond_the_edge()
            if dark:
                faults += browser.faults("color-contrast")
            faults += cast("list[str]", browser.chrome.execute_script(SMALL, LEAST))
            browser.picture(f"{name}-{size[0]}-{'dark' if dark else 'light'}")
    browser.screen(DESK)
    browser.press("Sign out operator")
    assert not faults, "\n".join(faults)


def test_by_keyboard_alone(browser: Browser) -> None:
    browser.go("/")
    browser.key(Keys.TAB)
    assert browser.focused()[2] == "Skip to the content"
    browser.key(Keys.ENTER)
    browser.key(Keys.TAB)
    assert browser.focused()[:2] == ("INPUT", "variables")
    browser.key(Keys.SPACE)
    browser.key(Keys.TAB, Keys.SPACE)
    order = []
    while (at := browser.focused())[0] != "BUTTON":
        order.append(at)
        browser.key(Keys.TAB)
    assert len(order) == 5 and at[2] == "Look"
    browser.leave(lambda: browser.key(Keys.ENTER))
    assert browser.text.startswith("A, B")
    # What reads along begins with the content, not with the menu again.
    for _ in range(20):
        browser.key(Keys.TAB)
        if browser.focused()[0] == "A" and browser.path != "/":
            break
    assert browser.focused()[0] == "A"
