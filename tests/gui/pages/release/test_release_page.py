"""The release page, through the real window: from the one button to a reader's desk."""

from __future__ import annotations

import html
import json
import shlex
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages_of import beliefs, page_of
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from readable import model_texts, tab_order, texts, unnamed

from tabprotect.cli.main import main
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.errors import InputError
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.release.findings import Finding
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.preferences import Preferences
from tabprotect.gui.frame.main_window import OPEN, MainWindow
from tabprotect.gui.look.buttons import present
from tabprotect.gui.pages.release import gates
from tabprotect.gui.pages.release.bundle_shown import AT_FIRST, Bundle
from tabprotect.gui.pages.release.destinations import Destination
from tabprotect.gui.pages.release.line_rows import LineRow
from tabprotect.gui.pages.release.page import ReleasePage
from tabprotect.gui.pages.release.publish_form import PublishForm, SigningForm, in_groups
from tabprotect.gui.pages.stages import CHECK
from tabprotect.languages.messages import uncapital

Settle = Callable[[], None]


CELL = (0, 1)


def page(window: MainWindow) -> ReleasePage:
    return page_of(window, ReleasePage)


def posterior_of(window: MainWindow) -> dict[str, float]:
    belief = beliefs(window).cell.histogram.beliefs[0]
    chances = zip(belief.values.tolist(), belief.chances.tolist(), strict=True)
    return {str(value): chance for value, chance in chances}


def publish(window: MainWindow, settle: Settle) -> None:
    page(window).main_button.click()
    question = page(window)._question
    assert question is not None and question.isModal()
    question.publish.click()
    settle()


EACH_MEASURE = pytest.mark.parametrize("ready", ["counts", "magnitudes"], indirect=True)


@pytest.fixture
def second(qtbot: QtBot) -> Iterator[MainWindow]:
    """Another window, with nothing open."""
    window = MainWindow(Document())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    yield window
    window.document.saved = window.document.project
    window.close()


@EACH_MEASURE
def test_every_public_byte_can_be_looked_at(ready: MainWindow) -> None:
    shown, project = page(ready), ready.document.project
    assert project is not None and project.release is not None
    files = public.files(project.release)
    assert shown.bundle is not None and shown.bundle.files == files
    tree = shown.panel.tree
    group = tree.topLevelItem(0)
    assert [group.child(i).text(0) for i in range(group.childCount())] == list(files)
    for i, data in enumerate(files.values()):
        tree.setCurrentItem(group.child(i))
        text = shown.panel.preview.toPlainText()
        # All of a long one is asked for.
        assert text == data.decode()[: len(text)] and len(text) >= min(len(data), AT_FIRST)
    stays = tree.topLevelItem(1)
    tree.setCurrentItem(stays.child(0))
    assert stays.child(0).text(0).startswith("original.")
    assert shown.panel.preview.toPlainText() == ""
    assert shown.main_button.isEnabled()


def test_the_light_is_no_greener_than_the_warning_below_it(ready: MainWindow) -> None:
    assert page(ready).sentence == (
        "One question open. Readers would know 0 of 4 small counts. Limit 0. A fixed seed was used. "
        "Nothing of this table has left before."
    )


@EACH_MEASURE
def test_strip_gate_and_readers_say_the_same(ready: MainWindow, settle: Settle) -> None:
    said = page(ready).banner.line.heading
    ready.go("check")
    settle()
    assert uncapital(said) in ready.strip.facts
    assert [text for text in texts(ready.page) if said in text]


def test_strip_and_rail_count_as_the_headline_does(
    ready: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ready.document
    verdict = document.judging.verdict(document.project)
    assert isinstance(verdict, StaffVerdict) and verdict.staff is not None and not verdict.known
    other = replace(verdict, staff=replace(verdict.staff, known=2))
    monkeypatch.setattr(document.judging, "verdict", lambda _: other)
    ready._tell()
    assert "readers would know 2 of 4 small counts" in ready.strip.facts
    assert CHECK.problems(document) == 2


def test_the_closest_cell_has_one_figure_chosen_or_not(ready: MainWindow, settle: Settle) -> None:
    cell, document = page(ready).cell, ready.document
    before = cell.title.text(), cell.chance.text()
    assert before[0].startswith("Closest: ")
    verdict, original = document.judging.verdict(document.project), document.original
    assert isinstance(verdict, StaffVerdict) and verdict.staff is not None and original is not None
    worst = verdict.staff.worst
    assert worst is not None
    document.select(
        tuple(v.categories.index(c) for v, c in zip(original.domain.variables, worst.cell, strict=True))
    )
    settle()
    assert (cell.title.text(), cell.chance.text()) == before


def test_a_bundle_that_comes_after_its_release_was_taken_back_is_left(
    opened: MainWindow, settle: Settle, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    made, held = gates.prepare, threading.Event()

    def prepare(*given: Any) -> Bundle:
        held.wait(10)
        return made(*given)

    monkeypatch.setattr(gates, "prepare", prepare)
    opened.document.do(protect, seed=7)
    qtbot.waitUntil(lambda: opened.document.release is not None)
    opened.go("release")
    shown = page(opened)
    opened.document.undo()
    assert opened.document.release is None
    held.set()
    settle()
    assert shown.bundle is None and not shown.isVisible()


@EACH_MEASURE
def test_what_stays_names_files_of_a_real_dossier(ready: MainWindow) -> None:
    assert ready.document.project is not None
    protected = ready.document.project.protected
    assert protected is not None
    real = {name.removeprefix(confidential.FOLDER) for name in confidential.files(protected)}
    said = model_texts(page(ready).panel.tree.model())
    group = page(ready).panel.tree.topLevelItem(1)
    names = {group.child(i).text(0) for i in range(group.childCount())}
    assert names <= real and names <= set(said)


def test_published_bundle_gives_everybody_the_same_posterior(
    ready: MainWindow,
    second: MainWindow,
    settle: Settle,
    qtbot: QtBot,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = ready.document
    publish(ready, settle)
    path = tmp_path / "release.zip"
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "dossier-CONFIDENTIAL.zip",
        "release.xlsx",
        "release.zip",
    ]
    verified = verify(path)
    assert page(ready).bundle is not None
    assert page(ready).bundle.fingerprint == verified.fingerprint
    assert in_groups(verified.fingerprint) in page(ready).seal.text.text()
    assert verified.fingerprint in page(ready).seal.text.toolTip()
    dossier = confidential.read(tmp_path / "dossier-CONFIDENTIAL.zip")
    assert document.original is not None
    assert np.array_equal(dossier.record.problem.table.counts, document.original.counts)

    # The dossier holds all that led to it: nothing is lost by leaving.
    assert not document.modified and ready.files.may_close()

    # Undo cannot cross it.
    assert document.history.undo_label == ""
    document.undo()
    assert document.project is not None and document.project.published
    assert page(ready).main_button.text() == "Next table\u2026"
    assert page(ready).banner.line.text.startswith("Published. ")

    ready.go("check")
    settle()
    document.select(CELL)
    house = posterior_of(ready)
    capsys.readouterr()
    assert main(["infer", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    cell = next(c for c in told["cells"] if c["index"] == list(CELL))
    assert cell["distribution"] == pytest.approx(house, abs=1e-12)

    second.files.open(str(path))
    qtbot.waitUntil(lambda: not second.document.jobs.running)
    second.go("check")
    qtbot.waitUntil(lambda: not second.document.jobs.running)
    second.document.select(CELL)
    assert second.document.public and not second.shows_original()
    assert posterior_of(second) == pytest.approx(house, abs=1e-12)
    second.document.set_public(False)
    assert second.document.public
    second.go("release")
    qtbot.waitUntil(lambda: not second.document.jobs.running)
    shown = page(second)
    assert shown.bundle is not None and shown.bundle.fingerprint == verified.fingerprint
    assert not shown.main_button.isVisible() and not shown.form.isVisible()
    assert not any("dossier" in text.lower() for text in texts(shown.panel))
    shown.fingerprint.announced.setText(verified.fingerprint.upper())
    assert "It is the announced bundle" in shown.fingerprint.verdict.text()
    shown.fingerprint.announced.setText("0" * 64)
    assert "another bundle" in shown.fingerprint.verdict.text()


@EACH_MEASURE
def test_what_no_dossier_holds_is_not_left_unasked(ready: MainWindow, settle: Settle) -> None:
    page(ready).form.keep.setChecked(False)
    publish(ready, settle)
    assert ready.document.history.trail[-1].sealed
    assert ready.document.modified and not ready.files.may_close()


def test_a_reader_has_a_window_of_its_own_with_nothing_of_the_house(
    ready: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    ready.document.do(set_count, index=[0, 1], count=7391773917)
    ready.document.do(protect, seed=982451653982451653)
    settle()
    ready.go("release")
    settle()
    publish(ready, settle)
    page(ready).seal.open.click()
    settle()
    # The house's window goes on with its own.
    assert ready.document.original is not None
    (theirs,) = OPEN
    qtbot.addWidget(theirs)
    document = theirs.document
    assert document.original is None and document.public and not document.modified
    for _ in range(3):
        document.undo()
        assert document.original is None
    document.redo()
    assert document.release is not None
    saved = tmp_path / "reader.tabprotect"
    theirs.files.save_to(saved)
    qtbot.waitUntil(lambda: not document.jobs.running)
    with zipfile.ZipFile(saved) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    secrets = (b"7391773917", np.int64(7391773917).tobytes(), b"982451653982451653", b"duncan")
    published = document.release.table.counts.tobytes()
    assert published in content
    assert not [s for s in secrets if s in content and s not in published]
    # A report on the original is for those who hold it.
    page(theirs).report.write("staff", tmp_path / "staff.html")
    qtbot.waitUntil(lambda: not document.jobs.running)
    assert "there is no original here to tell of" in page(theirs).errors.text
    assert not list(tmp_path.glob("staff*"))
    theirs.close()
    assert OPEN == []


@EACH_MEASURE
def test_f9_shows_the_readers_page(ready: MainWindow, settle: Settle) -> None:
    shown = page(ready)
    assert shown.form.isVisible() and shown.main_button.isVisible()
    assert shown.protection.isVisible() and shown.before.isVisible()
    ready.document.set_public(True)
    settle()
    assert not shown.form.isVisible() and not shown.main_button.isVisible()
    assert not shown.shows_original()
    said = " ".join([*texts(shown, hidden=False), shown.sentence])
    for word in ("at-risk", "dossier", "original.csv", "seed was used", "true"):
        assert word not in said


def test_a_fixed_seed_is_left_for_the_house_key_by_a_button(ready: MainWindow, settle: Settle) -> None:
    (row,) = (row for row in page(ready).honesty.rows if row.line.shows == "coins")
    assert row.button is not None and row.button.text() == "Use the house key"
    row.button.click()
    settle()
    project = ready.document.project
    protected = None if project is None else project.protected
    assert protected is not None and not protected.record.seed_given
    assert not any(row.line.shows == "coins" for row in page(ready).honesty.rows)
    assert page(ready).isVisible()


def test_tables_that_are_only_counted_are_named_on_request(qtbot: QtBot) -> None:
    row = LineRow(
        Finding(
            "none_expected_in_some",
            "passed",
            {"number": 2, "every": 3, "names": "age x sex; sex"},
            shows="tables",
        )
    )
    qtbot.addWidget(row)
    assert row.button is not None and row.button.text() == "Show"
    row.button.click()
    assert row.words.text() == f"{row.line.text} age x sex; sex"
    assert row.button.isHidden()


@EACH_MEASURE
def test_lines_follow_each_other_without_a_hole(ready: MainWindow, settle: Settle) -> None:
    ready.document.set_public(True)
    settle()
    rows = page(ready).files.rows
    assert len(rows) > 1
    for row in rows:
        # No higher than its words, or the picture beside them.
        assert row.words.height() <= max(row.words.heightForWidth(row.words.width()), 16)


@EACH_MEASURE
def test_the_title_is_public_and_keeps_the_result(ready: MainWindow, settle: Settle, qtbot: QtBot) -> None:
    shown, document = page(ready), ready.document
    before = present(present(document.project).release)
    old = before.title
    shown.signing.title.setFocus()
    shown.signing.title.selectAll()
    qtbot.keyClicks(shown.signing.title, "People by v and w, 2025")
    qtbot.keyClick(shown.signing.title, Qt.Key.Key_Return)
    settle()
    assert replace(present(present(document.project).release), title=old) == before
    assert shown.bundle is not None
    assert shown.bundle.files["README.md"].decode().startswith("# People by v and w, 2025\n")
    document.undo()
    settle()
    assert shown.bundle.files["README.md"].decode().startswith(f"# {old}")
    # Leaving the field does not bring the undone title back.
    shown.panel.tree.setFocus()
    assert document.project is not None and document.project.title == shown.signing.title.text() == old


@EACH_MEASURE
def test_not_yet_leaves_everything_as_it_was(
    ready: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    shown = page(ready)
    (tmp_path / "release.zip").write_bytes(b"an older release")
    shown.main_button.click()
    question = shown._question
    assert question is not None
    assert "it is replaced: release.zip" in question.text
    assert question.focusWidget() is question.back
    qtbot.keyClick(question, Qt.Key.Key_Escape)
    settle()
    assert (tmp_path / "release.zip").read_bytes() == b"an older release"
    assert ready.document.project is not None and not ready.document.project.published
    assert not [p.name for p in tmp_path.iterdir() if "dossier" in p.name]
    publish(ready, settle)
    left = present(present(ready.document.project).release)
    assert public.files(verify(tmp_path / "release.zip").release) == public.files(left)


@EACH_MEASURE
def test_a_missing_folder_is_said_on_the_page(ready: MainWindow, settle: Settle, tmp_path: Path) -> None:
    shown, before = page(ready), list(tmp_path.iterdir())
    shown.form.set_destination(tmp_path / "nowhere" / "release.zip", None)
    shown.main_button.click()
    assert shown._question is None
    assert shown.errors.isVisible() and shown.errors.error is not None
    assert "no such folder" in shown.errors.error.message
    assert list(tmp_path.iterdir()) == before


@EACH_MEASURE
def test_a_dossiers_name_always_says_confidential(ready: MainWindow, tmp_path: Path) -> None:
    form = page(ready).form
    form.dossier.setText(str(tmp_path / "secret.zip"))
    form.dossier.editingFinished.emit()
    assert form.dossier.text() == str(tmp_path / "secret-CONFIDENTIAL.zip")
    form.release.setText(str(tmp_path / "a.zip"))
    form.release.textEdited.emit(form.release.text())
    assert "CONFIDENTIAL" in form.dossier.text()
    form.dossier.setText("")
    assert form.destination().dossier == tmp_path / "a-CONFIDENTIAL-dossier.zip"
    form.keep.setChecked(False)
    assert form.destination().dossier is None
    form.release.setText(str(tmp_path / "b"))
    assert form.destination().release == tmp_path / "b.zip"


@EACH_MEASURE
def test_a_changed_bundle_is_refused_and_nothing_happens(
    ready: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    publish(ready, settle)
    path = tmp_path / "release.zip"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    before = ready.document.project
    page(ready).seal.open.click()
    settle()
    assert ready.document.project is before and OPEN == []
    assert page(ready).errors.isVisible()
    assert page(ready).errors.error is not None and page(ready).errors.error.kind == "bundle"


@EACH_MEASURE
def test_a_press_right_after_typing_the_title_is_not_lost(
    ready: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    shown = page(ready)
    shown.signing.title.setFocus()
    shown.signing.title.selectAll()
    qtbot.keyClicks(shown.signing.title, "Another title")
    qtbot.mouseClick(shown.main_button, Qt.MouseButton.LeftButton)
    settle()
    question = shown._question
    assert question is not None
    # Return presses the button that has the focus, as space does.
    question.publish.setFocus()
    qtbot.keyClick(question.publish, Qt.Key.Key_Return)
    settle()
    project = ready.document.project
    assert project is not None and project.published and project.title == "Another title"


@EACH_MEASURE
def test_the_report_is_written_from_the_page(ready: MainWindow, settle: Settle, tmp_path: Path) -> None:
    shown = page(ready)
    shown.report.write("public", tmp_path / "public.html")
    settle()
    told = (tmp_path / "public.html").read_text()
    said = "This release is within its limits" if ready.document.release else "This release passes."
    assert said in told and "CONFIDENTIAL" not in told
    shown.report.write("staff", tmp_path / "staff.html")
    settle()
    staff = (tmp_path / "staff-CONFIDENTIAL.html").read_text()
    for row in shown.protection.rows:
        assert html.escape(row.line.text, quote=False) in html.unescape(staff)
    assert "What left before is not known without a register." in staff
    ready.document.set_public(True)
    visible = {key for key, action in shown.report.entries.items() if action.isVisible()}
    assert visible == {("public", "html"), ("public", "pdf"), ("public", "md")}
    assert not shown.report.open.isEnabled()
    shown.report.write("public", tmp_path / "texts.md")
    settle()
    texts = (tmp_path / "texts.md").read_text("utf-8")
    assert "# English" in texts and "# Deutsch" in texts and "## Fußnote" in texts


@EACH_MEASURE
def test_beside_the_table_stands_what_decides_and_its_lines_are_one_step_away(
    ready: MainWindow, settle: Settle
) -> None:
    shown = page(ready)
    assert ready.decision is shown and shown.protection.isVisible() and shown.form.isVisible()
    ready.go("table")
    settle()
    assert ready.decision is shown and shown.banner.isVisible() and shown.main_button.isVisible()
    assert not shown.protection.isVisible() and not shown.form.isVisible()


@EACH_MEASURE
def test_tab_follows_reading(ready: MainWindow) -> None:
    shown = page(ready)
    order = tab_order(shown)
    assert order[0] is shown._faces["gate"]
    assert order[-1] is shown.main_button
    wanted = [shown.signing.title, shown.signing.prepared, shown.form.release, shown.form.dossier]
    places = [order.index(control) for control in wanted]
    assert places == sorted(places)


@EACH_MEASURE
def test_the_command_line_does_the_same(
    ready: MainWindow, settle: Settle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = page(ready)
    shown._copy_line.click()
    words = shlex.split(QApplication.clipboard().text())
    assert "--seed" not in words
    publish(ready, settle)
    clicked = (tmp_path / "release.zip").read_bytes()
    (tmp_path / "release.zip").unlink()
    (tmp_path / "dossier-CONFIDENTIAL.zip").unlink()
    seeded = present(present(ready.document.project).protected).record.seed_given
    assert main([*words[1:], *(["--seed", "7"] if seeded else [])]) == 0
    assert (tmp_path / "release.zip").read_bytes() == clicked


@EACH_MEASURE
def test_every_control_has_a_name(ready: MainWindow, settle: Settle) -> None:
    assert unnamed(page(ready)) == []
    publish(ready, settle)
    QApplication.processEvents()
    assert unnamed(page(ready)) == []


def test_the_next_release_is_not_written_over_the_last(tmp_path: Path, qtbot: QtBot) -> None:
    form = PublishForm()
    qtbot.addWidget(form)
    chosen = Preferences(public_folder=tmp_path)
    form.show_project(title="Health", source="", preferences=chosen)
    assert form.destination().release == tmp_path / "health-release.zip"
    (tmp_path / "health-release.zip").touch()
    form.show_project(title="Health", source="", preferences=chosen)
    assert form.destination().release == tmp_path / "health-release-2.zip"
    assert not form.destination().taken


def test_what_was_chosen_for_one_table_is_not_offered_for_another(tmp_path: Path, qtbot: QtBot) -> None:
    form, signing = PublishForm(), SigningForm()
    for widget in (form, signing):
        qtbot.addWidget(widget)
    chosen = Preferences(public_folder=tmp_path)
    form.show_project(title="Health", source="a.csv", preferences=chosen)
    signing.begin("a.csv")
    form.set_destination(tmp_path / "chosen.zip", None)
    signing.approved.setText("Anna")
    form.show_project(title="Health", source="a.csv", preferences=chosen)
    signing.begin("a.csv")
    assert form.destination().release.name == "chosen.zip" and signing.names()[1] == "Anna"
    form.show_project(title="Trade", source="b.csv", preferences=chosen)
    signing.begin("b.csv")
    assert form.destination().release == tmp_path / "trade-release.zip"
    assert signing.names()[1] == ""


@pytest.mark.parametrize("typed", ["", "/", ".", ".."])
def test_a_bundle_without_a_name_is_told_when_it_is_to_be_written(
    tmp_path: Path, qtbot: QtBot, typed: str
) -> None:
    form = PublishForm()
    qtbot.addWidget(form)
    form.show_project(title="", source="", preferences=Preferences(public_folder=tmp_path))
    form.release.setText(typed)
    form.release.textEdited.emit(typed)
    assert form.dossier.text() == ""
    with pytest.raises(InputError, match="no name"):
        form.destination().check()


def test_a_public_bundle_is_not_called_confidential(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="CONFIDENTIAL"):
        Destination(tmp_path / "a-confidential-dossier.zip", None).check()


def test_a_table_that_the_method_itself_finds_too_narrow_is_not_ready(
    opened: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    document = opened.document
    document.do(set_method, method="publish_margins")
    document.do(set_parameters, margins="v + w", threshold=60)
    document.do(protect, draft=True)
    settle()
    opened.go("release")
    settle()
    shown = page(opened)
    assert document.project is not None
    assert document.project.acceptance_failure and shown.banner.line.state == "failed"
    assert document.project.acceptance_failure in shown.sentence
    # What it publishes is said in words, and so are the settings.
    assert shown.bundle is not None
    assert "`" not in shown.bundle.mechanism and "at_risk" not in shown.bundle.mechanism
    # What helps is tried on this table, and is a button.
    helps = shown.helps.buttons
    assert helps
    helps[next(iter(helps))].click()
    qtbot.waitUntil(lambda: shown.banner.line.state == "passed")
    assert document.project is not None and not document.project.acceptance_failure
    # All cells are judged, so that it takes no reason.
    release = document.project.release
    assert release is not None and dict(release.mechanism.parameters)["cells"] == "all"
    assert shown.main_button.isEnabled() and not shown.missing


@EACH_MEASURE
def test_a_release_that_left_says_so(ready: MainWindow, settle: Settle) -> None:
    publish(ready, settle)
    (line,) = page(ready).before.group.findings
    assert line.text == "This release left as release.zip."
