"""The register's page: what left is listed, and comes back byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pages_of import page_of

from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.register import RegisterPage

Settle = Callable[[], None]


def test_a_release_that_left_is_listed_and_its_bytes_come_back(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    document = opened.document
    document.do(protect, seed=7)
    document.do(publish, release=str(tmp_path / "release.zip"), prepared_by="Karin Lund")
    opened.go("register")
    settle()
    shown = page_of(opened, RegisterPage)
    assert [row.entry.publication.who for row in shown.rows] == ["Karin Lund"]
    again = tmp_path / "again.zip"
    shown.save_to(shown.rows[0], again)
    settle()
    assert again.read_bytes() == (tmp_path / "release.zip").read_bytes()
    assert "Written: again.zip" in shown.errors.accessibleDescription()
    # What is there is replaced only where the dialog has asked.
    again.write_bytes(b"mine")
    shown.save_to(shown.rows[0], again)
    settle()
    assert again.read_bytes() == b"mine"
    assert shown.errors.error is not None and "already" in shown.errors.error.message
    shown.save_to(shown.rows[0], again, overwrite=True)
    settle()
    assert again.read_bytes() == (tmp_path / "release.zip").read_bytes()
