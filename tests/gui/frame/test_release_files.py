"""The published release in a house's format, from the window."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

import tabprotect as tp
from tabprotect.gui.frame.main_window import MainWindow


def test_a_release_is_saved_as_one_cube(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    files = window.actions_.release_files
    files.ask()
    assert files.release is None
    table = tp.read_table("example:duncan-roehrig-4x4")
    done = tp.protect(table, "random_rounding", base=5, seed=1, accept_weak=True, accept="why")
    done.publish(tmp_path / "r.zip", accept="why")
    window.files.open(str(tmp_path / "r.zip"))
    qtbot.waitUntil(lambda: files.release is not None)
    files.save(tmp_path / "r.px")
    qtbot.waitUntil(lambda: (tmp_path / "r.px").exists() and not window.document.jobs.running)
    assert 'CODES("v")=' in (tmp_path / "r.px").read_text()
