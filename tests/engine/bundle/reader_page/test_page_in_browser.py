"""The page of a bundle in Chromium, opened as a file: what it believes, who can use it, what it forbids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from real_browser import Browser, chromium
from selenium.webdriver import Keys

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.which_number import Question, best_number
from tabprotect.engine.bundle import public
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.release.release import Release
from tests.engine.belief.test_which_number import release_of as rounded
from tests.engine.bundle.reader_page.test_magnitude_page import released
from tests.engine.bundle.reader_page.test_page import PRIORS, Laws, difference, release_of

DESK, PHONE = (1200, 800), (390, 780)

SEVERAL = (*range(6), *range(15, 21), 25, 26, 30, 31, 32, 33, 34, 45)
"""Twenty of the random releases: exact pages and kept ones."""

LAWS = """
const [cells, priors] = arguments, laws = {};
for (const prior of priors) laws[prior] = cells.map((cell) => {
  try { return window.reader.distribution(cell, prior); } catch (error) { return { error: error.message }; }
});
return [window.reader.exact, laws];
"""

FORBIDDEN = """
const done = arguments[0], image = new Image();
image.onload = () => done("an image was read");
image.onerror = () => done("");
image.src = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";
"""

ROWS = """
return [...document.querySelectorAll('[role=grid] tbody tr')].map(row => [...row.cells].map(one => one.innerText));
"""

PICK = """
const [row, column] = arguments, cell = document.querySelectorAll('[role=grid] tbody tr')[row].cells[column];
cell.click();
return document.querySelector('aside .answer').innerText;
"""

ANSWER = "return document.querySelector('aside .answer').innerText;"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium("file://", tmp_path_factory.mktemp("chromium")) as found:
        found.screen(DESK)
        yield found


def open_page(browser: Browser, release: Release, folder: Path) -> None:
    place = folder / "page.html"
    place.write_bytes(public.page_of(release))
    browser.go(str(place))


def test_a_browser_believes_what_we_believe(browser: Browser, tmp_path: Path) -> None:
    known = 0
    for number in SEVERAL:
        release = release_of(number)
        open_page(browser, release, tmp_path)
        domain = likelihood_of(release).domain
        cells = [list(map(int, domain.unflat(key))) for key in range(domain.size)]
        exact, laws = browser.chrome.execute_script(LAWS, cells, list(PRIORS))
        told: Laws = {
            prior: [{n: p if n == "error" else float(p) for n, p in law.items()} for law in each]
            for prior, each in laws.items()
        }
        worst = difference(release, exact, told)
        assert worst is None or worst < (1e-12 if exact else 1e-6), (number, worst)
        known += worst is not None
    assert known == len(SEVERAL) == 20


@pytest.mark.parametrize("number", [2, 22])
def test_anybody_can_use_it(browser: Browser, tmp_path: Path, number: int) -> None:
    """By keyboard alone, on a phone, in the dark, in German; nothing asks for anything."""
    open_page(browser, release_of(number), tmp_path)
    for _ in range(12):
        browser.key(Keys.TAB)
        if browser.focused()[0] == "TD":
            break
    browser.key(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ENTER)
    assert browser.focused()[0] == "TD"
    english = browser.chrome.execute_script(ANSWER)
    assert "c1" in english
    faults = browser.faults()
    browser.screen(PHONE, dark=True)
    browser.find(".languages [lang=de]").click()
    assert browser.chrome.execute_script("return document.documentElement.lang") == "de"
    assert browser.chrome.execute_script(ANSWER) != english
    faults += [*browser.faults(), *browser.beyond_the_edge()]
    browser.screen(DESK)
    assert not faults and not browser.chrome.get_log("browser")
    assert browser.chrome.execute_async_script(FORBIDDEN) == ""
    (refused,) = browser.chrome.get_log("browser")
    assert "Content Security Policy" in refused["message"]


@pytest.mark.parametrize("method", ["suppression", "multiplicative_noise", "cell_key"])
def test_sums_are_looked_at_too(browser: Browser, tmp_path: Path, method: str) -> None:
    release, ranges = released(method)
    place = tmp_path / "page.html"
    place.write_bytes(public.page_of(release))
    browser.go(str(place))
    shown = browser.chrome.execute_script(ROWS)
    assert [len(row) for row in shown] == [6] * 5 and shown[-1][0] == shown[0][0].replace("0", "Total")
    for (row, column), (low, high) in ranges.items():
        said = browser.chrome.execute_script(PICK, row, column + 1).replace("\u202f", "")
        assert f"within {low} to {high}" in said, (row, column, said)
    assert "as it is" in browser.chrome.execute_script(PICK, 4, 5) or method != "suppression"
    table = release.magnitude_table
    beside = replace(table, units=np.full(len(table.key), 1234), means=table.value)
    place.write_bytes(public.page_of(replace(release, magnitudes=(beside,))))
    browser.go(str(place))
    assert browser.chrome.execute_script(ROWS)[-1][-1].split("\n")[1] == "n 1\u202f234"
    browser.screen(PHONE, dark=True)
    assert not browser.faults() and not browser.beyond_the_edge()
    browser.screen(DESK)
    assert not browser.chrome.get_log("browser")


def test_which_number_to_use_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    """A total and two counts are marked, others beside them; the sentence is that of the command."""
    release = rounded("random_rounding", base=3)
    posterior = believe([release]).posterior
    open_page(browser, release, tmp_path)
    browser.find(".which").send_keys(Keys.ENTER)
    for _ in range(8):
        browser.key(Keys.TAB)
        if browser.focused()[0] == "TD":
            break
    browser.key(Keys.END, Keys.ENTER)

    def said() -> str:
        text: str = browser.chrome.execute_script("return document.querySelector('.said').innerText")
        return text.replace("\u202f", ",").replace("\u2212", "-")

    def mine(text: str) -> str:
        return best_number(posterior, Question.parse(text), release=release).text

    assert said() == mine("v=a") and "use both" in said()
    browser.find("input[name=kind][value=difference]").click()
    browser.find("td[tabindex='0']").send_keys(Keys.ARROW_DOWN, Keys.HOME, Keys.ENTER)
    assert said() == mine("v=a - v=b; w=x")
    browser.screen(PHONE, dark=True)
    assert not browser.faults() and not browser.beyond_the_edge()
    browser.screen(DESK)
    browser.find("input[name=kind][value=rate]").click()
    assert said() == mine("v=a / v=b; w=x")
    assert not browser.chrome.get_log("browser")
