"""What the gate says on the release page where it holds a release back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import page_of
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.project.verbs.cycle_verbs import set_cycles
from tabprotect.engine.project.verbs.publish_verbs import publish as publish_verb
from tabprotect.engine.project.verbs.release_verbs import protect, set_seed
from tabprotect.gui.base.preferences import Preferences
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.register import RegisterPage
from tabprotect.gui.pages.release.page import ReleasePage

Settle = Callable[[], None]


def page(window: MainWindow) -> ReleasePage:
    return page_of(window, ReleasePage)


def publish(window: MainWindow, settle: Settle) -> None:
    page(window).main_button.click()
    question = page(window)._question
    assert question is not None and question.isModal()
    question.publish.click()
    settle()


@pytest.fixture
def refused(window: MainWindow, settle: Settle, tmp_path: Path) -> MainWindow:
    """A table of 64 cells whose one cycle never moves: it would go out as it is."""
    window.files.open("example:czech-autoworkers")
    settle()
    window.document.do(set_cycles, kind="elementary")
    settle()
    # The project keeps the seed: the remedy is drawn by it, too, and changes the table.
    window.document.do(set_seed, seed=2**127)
    settle()
    window.document.do(protect, draft=True)
    settle()
    window.go("release")
    settle()
    page(window).form.set_destination(tmp_path / "release.zip", tmp_path / "dossier.zip")
    return window


def test_what_the_gate_refuses_is_said_with_its_number_and_what_helps(
    refused: MainWindow, settle: Settle
) -> None:
    shown, document = page(refused), refused.document
    assert document.original == document.published
    assert shown.banner.text.text() == "Readers would know 3 of 3 small counts"
    assert shown.sentence == "Not ready. Readers would know 3 of 3 small counts. Limit 0."
    below = shown.banner.below.text()
    assert not shown.banner.below.isVisible()
    assert "expect about 3 small counts and would be sure of 3." in below
    assert "more than 95 in 100 sure of the true count" in below and "100 in 100" in below
    lines = [row.line for row in shown.protection.rows]
    assert lines[0].state == "failed" and shown.protection.rows[0].button is not None
    # No number that is no merit carries a tick; the true ones say whose they are.
    assert not [line for line in lines if line.state == "passed"]
    assert all(line.staff for line in lines if "small count" in line.text and line is not lines[0])
    assert not shown.main_button.isEnabled() and "a reason" in shown.missing
    assert refused.rail.buttons["check"].badge == 3
    shown.protection.rows[0].button.click()
    assert refused.page is refused.pages["check"]
    refused.go("release")
    settle()
    assert shown.helps.buttons
    next(iter(shown.helps.buttons.values())).click()
    settle()
    assert document.history.undo_label.startswith("protect")
    assert document.project is not None and document.project.protected is not None
    assert document.published != document.original


def test_past_the_limit_with_a_reason_only_and_it_is_on_record(
    refused: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    shown, document = page(refused), refused.document
    shown.main_button.click()
    document.do(publish_verb, release=str(tmp_path / "release.zip"))
    settle()
    assert isinstance(refused.page.errors.error, RefusedError)
    assert list(tmp_path.iterdir()) == []
    # Whoever is logged in is offered as the one who signs; without a name nobody does.
    assert shown.signing.prepared.text()
    shown.signing.prepared.selectAll()
    qtbot.keyClick(shown.signing.prepared, Qt.Key.Key_Delete)
    assert "the name of who signs" in shown.missing
    qtbot.keyClicks(shown.signing.prepared, "Karin Lund")
    qtbot.keyClicks(shown.signing.reason, "Reason")
    publish(refused, settle)
    assert "REASON stands for a reason in your own words" in str(refused.page.errors.error)
    assert list(tmp_path.iterdir()) == []
    shown.signing.reason.clear()
    qtbot.keyClicks(shown.signing.reason, "nobody lives there")
    assert shown.main_button.isEnabled()
    shown.main_button.click()
    assert shown._question is not None and "would know 3 of 3" in shown._question.text
    shown._question.publish.click()
    settle()
    record = confidential.read(tmp_path / "dossier-CONFIDENTIAL.zip").record
    assert record.prepared_by == "Karin Lund" and record.approved_by == ""
    assert "nobody lives there" in record.decisions[0]
    released = public.read(tmp_path / "release.zip")
    assert released.mechanism.gate is not None and released.mechanism.gate.passed is False
    assert b"Karin" not in (tmp_path / "release.zip").read_bytes()
    refused.go("register")
    settle()
    register = refused.pages["register"]
    assert isinstance(register, RegisterPage) and register.current is not None
    assert register.current.texts[-1] == "beyond the limits, by decision"
    assert register.current.entry.publication.who == "Karin Lund"
    assert "1 of this very table" in register.sentence
    refused.go("release")
    settle()
    assert "Prepared by Karin Lund." in shown.seal.text.text()


def test_two_names_where_the_policy_takes_them(
    ready: MainWindow, settle: Settle, tmp_path: Path, house_folder: Path, qtbot: QtBot
) -> None:
    (house_folder / "policy.toml").write_text("two_signatures = true\n")
    shown = page(ready)
    ready.document.set_preferences(Preferences(name="Karin Lund"))
    settle()
    assert shown.signing.prepared.text() == "Karin Lund"
    assert not shown.main_button.isEnabled() and "two names" in shown.missing
    qtbot.keyClicks(shown.signing.approved, "karin lund")
    assert not shown.main_button.isEnabled()
    shown.signing.approved.clear()
    qtbot.keyClicks(shown.signing.approved, "Erik Sandberg")
    publish(ready, settle)
    record = confidential.read(tmp_path / "dossier-CONFIDENTIAL.zip").record
    assert (record.prepared_by, record.approved_by) == ("Karin Lund", "Erik Sandberg")


def test_a_table_that_left_before_takes_a_reason(
    ready: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    shown = page(ready)
    assert [row.line.state for row in shown.before.rows] == ["passed"]
    publish(ready, settle)
    ready.document.do(protect, draft=True, seed=2**127 + 2)
    settle()
    lines = [row.line.text for row in shown.before.rows]
    assert "This very table has left before" in lines[0]
    assert lines[1].startswith("Together with no. 1")
    assert not shown.main_button.isEnabled()
    shown.form.set_destination(tmp_path / "second.zip", None)
    qtbot.keyClicks(shown.signing.reason, "corrected")
    publish(ready, settle)
    assert (tmp_path / "second.zip").exists()
    ready.go("register")
    settle()
    register = ready.pages["register"]
    assert isinstance(register, RegisterPage) and len(register.rows) == 2
    decisions = register.rows[0].entry.publication.decisions
    assert "published again: corrected" in decisions
    register.reason.setText("a wrong title")
    register.withdraw.click()
    settle()
    assert [row.texts[-1] for row in register.rows] == ["withdrawn", "within the limits"]
    register.save_to(register.rows[1], tmp_path / "again.zip")
    settle()
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "release.zip").read_bytes()
    ready.document.set_public(True)
    settle()
    assert register.rows == [] and not register.shows_original()
