"""Public view: nothing of the house is left on any page, shown or hidden, nor on the clipboard."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pages_of import beliefs as posterior
from pages_of import counts, page_of, replay
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication, QLabel
from readable import texts

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT
from tabprotect.engine.project.verbs.release_verbs import protect, set_prior
from tabprotect.engine.project.verbs.table_verbs import set_at_risk, set_title
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.label import tip
from tabprotect.gui.pages.check.posterior_files import MARK, table_csv
from tabprotect.gui.pages.run.page import PerturbPage
from tabprotect.gui.pages.stages import CHECK_FILES
from tabprotect.gui.pages.table.page import TablePage

Settle = Callable[[], None]

COUNTS = (73917, 73951, 2, 74203, 74413, 1, 74719, 74923, 75209)
"""The large ones stand nowhere else in the program: a hit is a leak."""
SEED = 123456791
TOTALS = "r,x,y,Total\na,83917,84027,167945\nb,84133,84241,168374\nTotal,168050,168268,336319\n"
OF_TOTALS = ("167945", "168050", "167944", "totals-of-mine")
HOUSE = ("counts-of-mine", "prior-of-mine", str(SEED), "dossier.zip")
"""Not the at-risk rule: the release states the gate it passed."""


REACHED = re.compile(r"\d+: [.\d]+|\d{3,} to \d+|\d+\.\d+")
"""What a reader works out may reach the true count, as one of many: chances, intervals, means."""


def bare(text: str) -> str:
    """A text without the separators of thousands."""
    return re.sub("(?<=\\d)[\u2009\u202f\u00a0](?=\\d)", "", text)


def harvest(window: MainWindow) -> list[str]:
    """Everything that can be read off the window, hidden widgets and menus included."""
    said = [window.windowTitle(), *texts(window, hidden=True)]
    window.actions_._fill_recent()
    for menu in (*window.actions_.menus.values(), window.actions_.recent_menu):
        for action in menu.actions():
            said += [action.text(), action.toolTip(), action.statusTip()]
    return said


def secrets(window: MainWindow) -> tuple[str, ...]:
    """What may not be seen: the original's counts that are not published too, and the house's."""
    original, published = window.document.original, window.document.published
    assert original is not None and published is not None
    public = {int(n) for n in published.counts.reshape(-1)}
    counts = {int(n) for n in original.counts.reshape(-1)} - public
    large = tuple(str(n) for n in sorted(counts) if n > 1000)
    assert len(large) >= 5
    return (*large, "88888", *HOUSE)


def leaks(said: list[str], words: tuple[str, ...]) -> list[tuple[str, str]]:
    """Which of the words are said, and where."""
    said = [REACHED.sub("", bare(text)) for text in said]
    return [(word, text[:200]) for text in said for word in words if word in text]


@pytest.fixture
def house(window: MainWindow, settle: Settle, tmp_path: Path) -> MainWindow:
    """A protected table with unmistakable counts, a rule, a seed and a prior's file of its own."""
    path = tmp_path / "counts-of-mine.csv"
    cells = [f"{r},{c}" for r in "abc" for c in "xyz"]
    lines = [f"{cell},{count}" for cell, count in zip(cells, COUNTS, strict=True)]
    path.write_text("\n".join(["r,c,count", *lines]))
    prior = tmp_path / "prior-of-mine.csv"
    prior.write_text("\n".join(["r,c,count", *(f"{cell},5" for cell in cells)]))
    window.files.open(str(path))
    settle()
    window.document.do(set_at_risk, rule="1..7")
    window.document.do(set_prior, who="intruder", prior=f"negative_binomial(2):{prior}")
    window.document.do(protect, seed=SEED)
    settle()
    window.document.select((0, 0))
    for dock in window.docks.values():
        dock.show()
    return window


def test_no_widget_shown_or_hidden_keeps_anything_of_the_house(house: MainWindow, settle: Settle) -> None:
    for name in house.pages:
        house.go(name)
        settle()
    table, perturb = counts(house), house.pages["perturb"]
    assert isinstance(perturb, PerturbPage)
    words = secrets(house)
    # Without this the test would pass on a window that shows nothing at all.
    found = {word for word, _ in leaks(harvest(house), words)}
    assert {"counts-of-mine", "prior-of-mine", "dossier.zip"} <= found
    house.go("table")
    QApplication.clipboard().setText("88888\t88888\n")
    table.grid.set_current((0, 0))
    table.paste()
    assert "88888" in bare(table.paste_bar.words)
    house.document.set_public(True)
    settle()
    assert leaks(harvest(house), words) == []  # not even before any page is looked at again
    for name in house.pages:
        house.go(name)
        settle()
        assert leaks(harvest(house), words) == [], name
    house.document.set_public(False)
    settle()
    release = house.pages["release"]
    house.go("release")
    assert "counts-of-mine" in {w for w, _ in leaks(harvest(house), words)}
    assert any("dossier.zip" in text for text in texts(release))  # the form has its paths again


def test_an_error_strip_goes_with_every_word(house: MainWindow, settle: Settle, tmp_path: Path) -> None:
    path = tmp_path / "totals-of-mine.csv"
    path.write_text(TOTALS)
    house.document.saved = house.document.project  # nothing is asked about unsaved work
    house.files.open(str(path))
    settle()
    strip = house.page.errors
    strip._details.setChecked(True)
    assert {w for w, _ in leaks(harvest(house), OF_TOTALS)} >= {"167945", "totals-of-mine"}
    strip._copy.click()
    assert "167945" in QApplication.clipboard().text()
    QApplication.clipboard().clear()
    other = house.pages["cycles"].errors  # a page that is not in front
    other.show_error(InputError("167945 is wrong", file=path, detail="168050"))
    house.document.set_public(True)
    settle()
    assert not strip.isVisible()
    assert strip.text == other.text == ""
    assert leaks(harvest(house), OF_TOTALS) == []
    strip._copy.click()
    other._copy.click()
    assert leaks([QApplication.clipboard().text()], OF_TOTALS) == []
    house.document.set_public(False)
    settle()
    assert leaks(harvest(house), OF_TOTALS) == []  # gone for good


def test_the_windows_title_is_the_releases(house: MainWindow, settle: Settle) -> None:
    assert "counts-of-mine" in house.windowTitle()
    house.document.set_public(True)
    assert house.windowTitle().startswith("release")
    house.document.set_public(False)
    house.document.do(set_title, title="Survey of 1990")
    house.document.do(protect, seed=1)
    settle()
    house.document.set_public(True)
    assert house.windowTitle().startswith("Survey of 1990")


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("table", "tabprotect open release.zip"),
        ("cycles", "tabprotect cycles check cycles.json"),
        ("perturb", ""),
        ("check", "tabprotect infer release.zip --prior uniform"),
        ("release", ""),
    ],
)
def test_copied_commands_are_a_readers(house: MainWindow, settle: Settle, page: str, line: str) -> None:
    house.document.set_public(True)
    house.go(page)
    settle()
    QApplication.clipboard().setText("before")
    house.actions_["copy_command"].trigger()
    assert QApplication.clipboard().text() == (line or "before")
    assert house.page.errors.isVisible() == (not line)  # says why nothing was copied


def test_the_posterior_pages_own_copy_names_no_file_of_the_house(house: MainWindow, settle: Settle) -> None:
    shown = posterior(house)
    house.go("check")
    shown.who_box.setCurrentIndex(1)
    settle()
    shown.page.copy_command()
    assert "prior-of-mine" in QApplication.clipboard().text()
    house.document.set_public(True)
    settle()
    shown.page.copy_command()
    text = QApplication.clipboard().text()
    assert text.startswith("tabprotect infer release.zip --prior 'negative_binomial(2):")
    assert leaks([text], secrets(house)) == []
    assert shown.priors["intruder"].file.text() == "from a file"


def test_small_means_in_public_what_it_means_to_a_reader(house: MainWindow, settle: Settle) -> None:
    house.go("check")
    settle()
    shown = posterior(house)
    view = shown.view()
    assert view is not None and (view.rule.low, view.rule.high) == (1, 7)
    house.document.set_public(True)
    settle()
    view = shown.view()
    assert view is not None and (view.rule.low, view.rule.high) == (1, 2)
    found = shown.files._known()
    head = table_csv(found, rule=view.rule, original=None, progress=SILENT).decode().split("\n")[0]
    assert "user_p_1_to_2" in head
    assert "Chance of 1 or 2" in [shown._figure_box.itemText(i) for i in range(shown._figure_box.count())]


@pytest.mark.parametrize("kind", [kind for kind in CHECK_FILES if not kind.endswith("png")])
def test_every_export_says_confidential_exactly_when_it_is(
    house: MainWindow, settle: Settle, tmp_path: Path, kind: str
) -> None:
    house.go("check")
    settle()
    shown = posterior(house)
    # The map is as confidential as its figure; all else is whatever the map shows.
    shown._figure_box.setCurrentIndex(0 if kind.startswith("map") else 1)
    assert shown.figure.house == kind.startswith("map")
    shown.draws.run()
    settle()
    suffix = kind.rpartition("_")[2]
    house_file, public_file = tmp_path / f"house.{suffix}", tmp_path / f"public.{suffix}"
    shown.files.write(kind, house_file)
    settle()
    assert not house_file.exists()
    told = (tmp_path / f"house-{MARK}.{suffix}").read_text()
    assert MARK in told
    house.document.set_public(True)
    settle()
    shown.files.write(kind, public_file)
    settle()
    told = public_file.read_text()
    assert MARK not in told and "original_" not in told and "[staff only]" not in told
    assert leaks([told], HOUSE) == []
    if kind in ("cell_csv", "table_csv"):
        # What a reader works out reaches the true counts, but no column says which they are.
        head = next(csv.reader(told.splitlines()))
        assert not [name for name in head if "true" in name or "original" in name]
    elif kind != "cell_svg":
        assert leaks([told], secrets(house)) == []


MARKUP = "<h1 style=color:red>CERTAIN</h1>"
TITLE = "<h1>Official: nothing was changed</h1>"


def test_names_and_titles_of_strangers_are_never_read_as_markup(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "markup.csv"
    path.write_text(f'"<b>r</b>",c,count\n"{MARKUP}",x,5\n"{MARKUP}",y,7\nb,x,9\nb,y,6\n', encoding="utf-8")
    window.files.open(str(path))
    settle()
    window.document.do(set_title, title=TITLE)
    window.document.do(protect, seed=1)
    settle()
    window.document.select((0, 0))
    for dock in window.docks.values():
        dock.show()
    shown = set()
    for public in (False, True):
        window.document.set_public(public)
        for name in window.pages:
            window.go(name)
            settle()
            for label in window.findChildren(QLabel):
                text = label.text()
                if "<h1" in text or "<b>" in text:
                    shown.add(name)
                    if label.textFormat() != Qt.TextFormat.PlainText:
                        # Lines that wrap are set apart by markup, in which theirs is none.
                        read = QTextDocument()
                        read.setHtml(QLabel.text(label))
                        assert read.toPlainText() == text, (name, text)
            for widget in (window, *window.findChildren(QLabel)):
                assert "<h1" not in widget.toolTip() and "<b>" not in widget.toolTip()
            tips = [t for t in texts(window) if t.startswith("<p>")]
            assert not [t for t in tips if "<h1" in t or "<b>" in t], name
    assert {"table", "check"} <= shown
    model = counts(window).grid.model
    role = Qt.ItemDataRole.ToolTipRole
    assert model.headerData(0, Qt.Orientation.Vertical, role) == tip(MARKUP)
    assert "&lt;h1" in tip(MARKUP) and tip("") == ""


def test_the_replay_of_the_run_is_empty_on_a_page_that_is_not_in_front(
    house: MainWindow, settle: Settle
) -> None:
    house.go("table")
    settle()
    original = house.document.original
    assert original is not None
    table = replay(house).table
    table.turn("original")
    assert np.array_equal(table.grid.model.values, original.counts)
    house.go("help")
    house.document.set_public(True)
    settle()
    published = house.document.published
    assert published is not None and np.array_equal(table.grid.model.values, published.counts)
    assert table.grid.delegate.mark is None and not any(
        f.isVisible() for f in page_of(house, TablePage).faces.values()
    )
    assert replay(house).coins.model.rowCount() == 0
