"""What the window writes by itself, and where file dialogs begin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from tabprotect.gui.base.own_files import state_folder, stored_settings
from tabprotect.gui.frame.opening import open_filter
from tabprotect.gui.look.file_dialogs import FOLDERS, ask_file, ask_files, ask_folder, ask_place

A_DAY = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog
from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.gui.frame import app
from tabprotect.gui.look.file_dialogs import FOLDERS, ask_file
from tabprotect.gui.frame.main_window import MainWindow

app.AUTOSAVE_SECONDS = 1
saved = []

def work():
    (window,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
    if window.document.project is None:
        return
    if not window.document.modified:
        window.document.do(set_count, index=[0, 0], count=5)
    FOLDERS.keep("table", sys.argv[1])
    from tabprotect.gui.base.own_files import state_folder
    if any(state_folder().rglob("*.tabprotect")) or "--once" in sys.argv:
        dialog = ask_file(window, "Open", "CSV (*.csv)", print)
        dialog.reject()
        saved.extend(str(path) for path in state_folder().rglob("*.tabprotect"))
        # A session that ends closes no window by itself.
        window.another()
        QApplication.exit()

made = app.application()
timer = QTimer(interval=200)
timer.timeout.connect(work)
timer.start()
app.main(["example:duncan-roehrig-4x4"])
assert not [w for w in QApplication.topLevelWidgets() if w.isVisible()]
print(*saved)
"""


def test_all_that_is_written_unasked_lies_in_the_folder_that_is_named(tmp_path: Path) -> None:
    home, house = tmp_path / "home", tmp_path / "house"
    for folder in (home, house):
        folder.mkdir()
    paths = {
        name: str(home / name.lower())
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "APPDATA")
    }
    env = {**os.environ, **paths, "HOME": str(home), "TABPROTECT_HOME": str(house)}
    # A system's own files, whose names begin with a dot, are no program's.
    known = set(home.rglob("*"))
    ended = subprocess.run(
        [sys.executable, "-c", A_DAY, str(tmp_path)],
        env=env | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    (work,) = ended.stdout.split()
    assert Path(work).is_relative_to(house / "autosave")
    assert (house / "window.ini").is_file()
    # Qt may make the folders of its font cache; no file of this program is among them.
    left = {path for path in home.rglob("*") if path.is_file()} - known
    assert not [path for path in left if "fontconfig" not in str(path)]


def test_without_a_named_folder_the_system_says_where(
    monkeypatch: pytest.MonkeyPatch, house_folder: Path
) -> None:
    assert state_folder() == house_folder / "autosave"
    monkeypatch.delenv("TABPROTECT_HOME")
    assert state_folder().name == "autosave" and house_folder not in state_folder().parents
    assert stored_settings().fileName() == QSettings().fileName()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> QSettings:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    monkeypatch.setattr(FOLDERS, "settings", settings)
    return settings


def test_dialogs_begin_where_the_last_file_of_the_kind_was(
    qtbot: QtBot, tmp_path: Path, kept: QSettings
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    tables, records, out = (tmp_path / name for name in ("tables", "records", "out"))
    for folder in (tables, records, out):
        folder.mkdir()

    def begun(dialog: QFileDialog, chosen: Path | None = None) -> str:
        where = dialog.directory().absolutePath()
        if chosen is not None:
            dialog.fileSelected.emit(str(chosen))
        dialog.reject()
        return where

    filters, ignored = "CSV (*.csv)", lambda _: None
    begun(ask_file(page, "Open", filters, ignored, kind="table"), tables / "a.csv")
    begun(ask_file(page, "Records", filters, ignored, kind="records"), records / "b.csv")
    begun(ask_place(page, "Save", "x.zip", "Zip (*.zip)", ignored), out / "x.zip")
    assert begun(ask_file(page, "Open", filters, ignored, kind="table")) == str(tables)
    assert begun(ask_files(page, "Open", filters, ignored, kind="table")) == str(tables)
    assert begun(ask_folder(page, "Records", "", ignored, kind="records")) == str(records)
    assert begun(ask_place(page, "Save", "y.zip", "Zip (*.zip)", ignored)) == str(out)
    # What is asked for beside a place of its own begins there.
    there = str(tables / "y.zip")
    assert begun(ask_place(page, "Save", there, "Zip (*.zip)", ignored)) == str(tables)
    # A folder that is gone is none.
    tables.rmdir()
    assert FOLDERS.of("table") == "" and FOLDERS.of("never chosen") == ""


def test_filters_are_called_by_plain_names(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    dialog = ask_file(page, "Open", open_filter(), lambda _: None)
    names = [words.partition(" (*")[0] for words in dialog.nameFilters()]
    assert names[0] == "All that can be opened" and names[-1] == "All files"
    assert {"Excel workbook", "delimited text", "SPSS"} <= set(names)
    assert dialog.testOption(QFileDialog.Option.HideNameFilterDetails)
    dialog.reject()
