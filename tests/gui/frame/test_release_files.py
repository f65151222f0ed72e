"""The published release, and the table, in a house's format, from the window, looked at first."""

from __future__ import annotations

from pathlib import Path

import pytest
import python_calamine
from pytestqt.qtbot import QtBot

import tabprotect as tp
from tabprotect.gui.base.exporter import MARK
from tabprotect.gui.forms.save_as import OFFERED, SaveAsDialog, ask_release, ask_table
from tabprotect.gui.frame.main_window import MainWindow

TABLE = "example:duncan-roehrig-4x4"


def choose(dialog: SaveAsDialog, name: str, qtbot: QtBot) -> str:
    """How the file of a format begins."""
    dialog.format.setCurrentIndex(OFFERED.index(name))
    qtbot.waitUntil(dialog.save_button.isEnabled)
    return dialog.preview.toPlainText()


def test_a_release_is_saved_as_one_cube(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    assert ask_release(window.page) is None and ask_table(window.page) is None
    done = tp.protect(tp.read_table(TABLE), "random_rounding", base=5, seed=1, accept_weak=True, accept="why")
    done.publish(tmp_path / "r.zip", accept="why")
    window.files.open(str(tmp_path / "r.zip"))
    qtbot.waitUntil(lambda: window.document.project is not None)
    # A reader has no table of the house.
    assert ask_table(window.page) is None
    dialog = ask_release(window.page)
    assert dialog is not None
    for name, begins in {
        "xlsx": "v\tw\tcount\n",
        "px": "CHARSET=",
        "jsonstat": '{"version":"2.0"',
        "sdmx-csv": "STRUCTURE,",
        "csv": "v,w,count\n",
    }.items():
        shown = choose(dialog, name, qtbot)
        assert shown.startswith(begins), shown[:60]
    # A workbook has the intervals by itself; a tick has them elsewhere, or takes them away.
    choose(dialog, "xlsx", qtbot)
    made = dialog.made
    assert dialog.intervals.isChecked() and made is not None
    dialog.intervals.click()
    qtbot.waitUntil(lambda: dialog.made is not None and len(dialog.made.content) < len(made.content))
    choose(dialog, "csv", qtbot)
    assert not dialog.intervals.isChecked()
    dialog.intervals.click()
    qtbot.waitUntil(lambda: dialog.preview.toPlainText().startswith("v,w,count,lower,upper,estimate\n"))
    dialog.total_code.setText("_Z")
    qtbot.waitUntil(lambda: "_Z" in dialog.preview.toPlainText())
    choose(dialog, "px", qtbot)
    dialog.save(tmp_path / "r.px")
    qtbot.waitUntil(lambda: (tmp_path / "r.px").exists() and not window.document.jobs.running)
    assert '"_Z"' in (tmp_path / "r.px").read_text()


def test_a_set_is_saved_as_one_workbook(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    found = tp.protect(tp.read_table(TABLE), "cyclic_perturbation", seed=1, accept="why")
    found = found.publish(tmp_path / "set", tables={"rows": "v", "both": "v*w"}, accept="why")
    window.document.take(found.history)
    dialog = ask_release(window.page)
    assert dialog is not None
    choose(dialog, "xlsx", qtbot)
    dialog.save(tmp_path / "s.xlsx")
    qtbot.waitUntil(lambda: (tmp_path / "s.xlsx").exists() and not window.document.jobs.running)
    book = python_calamine.load_workbook(str(tmp_path / "s.xlsx"))
    assert book.sheet_names[:3] == ["rows", "both", "Notes"]
    dialog.format.setCurrentIndex(OFFERED.index("px"))
    qtbot.waitUntil(lambda: "one workbook" in dialog.notes.text())
    assert "FILE.xlsx" in dialog.notes.text() and not dialog.save_button.isEnabled()


def test_the_table_is_saved_as_confidential(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.files.open(TABLE)
    qtbot.waitUntil(lambda: window.document.project is not None)
    dialog = ask_table(window.page)
    assert dialog is not None
    assert choose(dialog, "csv", qtbot).startswith("v,w,count\n")
    dialog.save(tmp_path / "t.csv")
    path = tmp_path / f"t-{MARK}.csv"
    qtbot.waitUntil(lambda: path.exists() and not window.document.jobs.running)
    assert tp.read_table(path).table == tp.read_table(TABLE).table
    window.document.set_public(True)
    assert ask_table(window.page) is None


def test_what_is_told_beside_a_release_is_asked_or_is_what_the_file_said(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.files.open(TABLE)
    qtbot.waitUntil(lambda: window.document.project is not None)
    published = tp.protect(tp.read_table(TABLE), "cyclic_perturbation", seed=1, accept="why")
    tp.export(published.release, tmp_path / "t.px", unit="persons", source="The office")
    table = tp.read_table(tmp_path / "t.px", totals="T")
    found = tp.protect(table, "cell_key", seed=1, accept="why", about={"licence": "CC0"})
    found = found.publish(tmp_path / "r.zip", accept="why")
    window.document.take(found.history)
    dialog = ask_release(window.page)
    assert dialog is not None
    assert 'UNITS="persons"' in choose(dialog, "px", qtbot) and "The office" in dialog.preview.toPlainText()
    # What the bundle says of itself is shown where nothing is typed, and goes into the file.
    assert dialog.made is not None and b"CC0" in dialog.made.content
    assert dialog.telling["licence"].placeholderText() == "CC0"
    dialog.telling["publisher"].setText("The publisher")
    dialog.telling["source"].setText("Another one")
    qtbot.waitUntil(lambda: "Another one" in dialog.preview.toPlainText())
    assert dialog.made is not None and b"The publisher" in dialog.made.content
    dialog.telling["date"].setText("yesterday")
    qtbot.waitUntil(lambda: "must look like" in dialog.notes.text())
    assert not dialog.save_button.isEnabled()


def test_a_confidential_file_among_versions_is_remarked_on(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    window.files.open(TABLE)
    qtbot.waitUntil(lambda: window.document.project is not None)
    noted: list[str] = []
    monkeypatch.setattr(window.page.errors, "show_note", noted.append)
    for told, ignored in enumerate(("", "*CONFIDENTIAL*")):
        (tmp_path / ".gitignore").write_text(ignored)
        dialog = ask_table(window.page)
        assert dialog is not None
        choose(dialog, "csv", qtbot)
        dialog.save(tmp_path / f"t{told}.csv")
        qtbot.waitUntil(lambda: len(noted) > told)  # noqa: B023
    assert ["under version control" in one for one in noted] == [True, False]
