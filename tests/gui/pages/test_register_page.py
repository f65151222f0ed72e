"""The register's page: what left is listed, and comes back byte by byte."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from pages_of import page_of
from readable import texts

from tabprotect.engine import agency
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.engine.register.read_all import read_all
from tabprotect.engine.register.register import Register
from tabprotect.engine.register.register_chain import mark_of_key
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


def test_another_key_marks_what_the_house_still_has(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    document, dossier = opened.document, tmp_path / "d.zip"
    document.do(protect, seed=7)
    document.do(publish, release=str(tmp_path / "release.zip"), dossier=str(dossier))
    opened.go("register")
    settle()
    shown, old = page_of(opened, RegisterPage), agency.key()
    shown.another_key.click()
    # Nothing is done before somebody has chosen.
    assert shown.errors.error is not None and agency.key() == old
    shown.rotate()
    settle()
    assert agency.key() != old
    said = shown._note.text()
    assert mark_of_key(agency.key())[:16] in said and "1 of 1" in said
    assert [row.relation for row in shown.rows] == ["original"]
    dossier.unlink()
    shown.rotate([tmp_path])
    settle()
    assert "0 of 1" in shown._note.text() and "not found again: 1" in shown._note.text()


def test_a_register_is_made(opened: MainWindow, settle: Settle, tmp_path: Path) -> None:
    opened.go("register")
    settle()
    shown = page_of(opened, RegisterPage)
    place = tmp_path / "new.sqlite"
    shown.make_new(str(place))
    settle()
    assert "Made: new.sqlite" in shown._note.text()
    with Register(str(place)) as register:
        assert register.key_mark == mark_of_key(agency.key())
    shown.make_new(str(place))
    settle()
    assert shown.errors.error is not None and "already" in shown.errors.error.message


def test_an_empty_register_says_what_will_stand_in_it(opened: MainWindow, settle: Settle) -> None:
    opened.go("register")
    settle()
    shown = page_of(opened, RegisterPage)
    assert shown.empty.isVisible() and not shown.list.isVisible()
    shown.empty.button.click()
    assert opened.page.name == "table"


def test_one_shared_name_of_a_variable_is_no_sign_of_the_same_people(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    document = opened.document
    document.do(protect, seed=7)
    document.do(publish, release=str(tmp_path / "release.zip"))
    other = tmp_path / "other.csv"
    # Of v and w, with other counts; then of v and another variable.
    for names, said in (("v,w", "the same people may be counted"), ("v,age", "")):
        other.write_text(f"{names},count\nv1,w1,90\nv1,w2,91\nv2,w1,92\nv2,w2,93\n")
        document.saved = document.project
        opened.files.open(str(other))
        settle()
        opened.go("register")
        settle()
        rows = page_of(opened, RegisterPage).rows
        assert len(rows) == 1 and said in " ".join(rows[0].texts)
        assert ("may be counted" in " ".join(rows[0].texts)) == bool(said)


def test_all_that_has_left_is_read_together_and_can_be_stopped(
    opened: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    """The same releases as by the command line, off the window's thread; a stopped reading shows nothing."""
    document = opened.document
    document.do(protect, seed=7)
    document.do(publish, release=str(tmp_path / "release.zip"))
    opened.go("register")
    settle()
    shown = page_of(opened, RegisterPage)
    shown.all_button.click()
    assert shown.all_button.text() == "Stop reading"
    shown.all_button.click()
    settle()
    assert shown.all_button.text() == "Read all together" and not shown.said.isVisible()
    shown.all_button.click()
    settle()
    assert shown.said.text() == read_all().sentence and shown.said.isVisible()
    # In the line of releases stands what was read together, and with the chosen one why.
    (alone,) = shown.line.groups
    assert alone.numbers == (1,) and alone.said in texts(shown.card)
    document.saved = document.project
    document.run(open_table(source="example:duncan-roehrig-4x4"))
    document.do(protect, seed=8)
    document.do(publish, release=str(tmp_path / "again.zip"), again="another draw")
    shown.refresh(frozenset({"everything"}))
    settle()
    shown.all_button.click()
    settle()
    (both,) = shown.line.groups
    assert both.numbers == (1, 2) and shown.list.rows.columns[-1].values[0].strip() == (
        "No. 1, 2, tables of the same people"
    )
    assert any(one.startswith("No. 1, 2, tables of the same people: ") for one in texts(shown.card))
    shown.list.set_current(1)
    shown.list.grab()
    if folder := os.environ.get("SCREENS"):
        opened.resize(1366, 768)
        settle()
        opened.grab().save(f"{folder}/line.png")
    document.set_public(True)
    settle()
    assert not shown.said.isVisible()
