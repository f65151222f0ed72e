"""The window with a magnitude table: opened, judged, protected, checked, published, read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pages_of import counts, page_of
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QPushButton, QToolButton
from pytestqt.qtbot import QtBot
from readable import texts, unnamed

from tabprotect.engine.bundle import public
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import set_title
from tabprotect.gui.forms.save_as import ask_release
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.check.contributors_tried import ContributorsTried
from tabprotect.gui.pages.check.page import CheckPage
from tabprotect.gui.pages.compare.magnitude_ways import WaysCompared
from tabprotect.gui.pages.compare.page import ComparePage
from tabprotect.gui.pages.protect.page import ProtectPage
from tabprotect.gui.pages.protect.proposal import ProposalPage
from tabprotect.gui.pages.release.page import ReleasePage
from tabprotect.gui.pages.run.page import MethodsPage
from tabprotect.gui.pages.table.counts_part import CountsPart
from tabprotect.gui.pages.table.magnitudes_part import MagnitudesPart
from tabprotect.gui.pages.table.page import TablePage

Settle = Callable[[], None]

pytestmark = pytest.mark.parametrize("measured", ["magnitudes"], indirect=True)


def magnitudes(window: MainWindow) -> MagnitudesPart:
    """The part of the table page that is about magnitudes."""
    part = page_of(window, TablePage).part
    assert isinstance(part, MagnitudesPart)
    return part


def test_rules_are_judged_at_once_and_a_panel_says_who_could_estimate_whom(
    measured: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    page = magnitudes(measured)
    assert page.page.sentence.startswith("1 of 9 sums may not be shown")
    assert measured.rail.buttons["table"].badge == 1
    assert "1 of 9 sums unsafe" in measured.strip.facts
    # While a rule is typed it is judged, and nothing is changed by that.
    page.rules.kind.setCurrentIndex(page.rules.kind.findData("n"))
    page.rules.numbers[0].setValue(4)
    qtbot.waitUntil(lambda: "With n=4 " in page.rules._draft.text())
    assert page.rules._draft.text() == "With n=4 4 sums would be unsafe (1 now)."
    assert measured.document.magnitudes is not None and measured.document.magnitudes.rules == ("p=10",)
    page.rules.add.click()
    settle()
    assert measured.document.magnitudes.rules == ("p=10", "n=4") and measured.document.at_risk_cells == 4
    measured.document.undo()
    settle()
    measured.page.choices()["next"]()
    assert measured.document.selection == (0, 0)
    view = measured.contributors
    measured.docks["contributors"].show()
    said = texts(view)
    assert any("Sydow could work out Nordmetall to within 5.6 %" in text for text in said)
    assert any("Protection level 40" in text and "1\u202f050" in text for text in said)
    # A reader's view forgets it all.
    measured.document.set_public(True)
    assert not [text for text in texts(measured) if "Nordmetall" in text or "p=10" in text]


def test_the_proposal_hides_what_is_unsafe_and_says_of_how_many(
    tries: None, measured: MainWindow, settle: Settle
) -> None:
    proposal = page_of(measured, ProposalPage)
    assert proposal.sentence == "It tells too much of one contributor."
    assert proposal.title.text() == "Suppression" and proposal.main_button.text() == "Hide what is unsafe"
    assert proposal.facts[1].text().startswith("4 of 9 sums are hidden; ")
    # Without a rule the usual one is a click away, and nothing else is asked for.
    measured.document.do(set_rules, rules=[])
    settle()
    measured.go("protect")
    assert proposal.main_button.text() == "Use p = 10" and measured.page.name == "table"
    proposal.main_button.click()
    settle()
    assert measured.document.magnitudes is not None and measured.document.magnitudes.rules == ("p=10",)
    measured.document.do(set_method, method="multiplicative_noise")
    settle()
    assert proposal.main_button.text() == "Protect"
    assert proposal.facts[1].text().endswith(" in 100 on average.")
    assert not [fact.text() for fact in proposal.facts if "%" in fact.text()]


def test_from_protection_to_a_reader_of_the_bundle(
    measured: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    document = measured.document
    measured.go("protect")
    settle()
    choosing = measured.page
    assert isinstance(choosing, ProtectPage)
    assert len(choosing.ways) == 3
    measured.go("compare")
    compare = measured.page
    assert isinstance(compare, ComparePage) and compare.comparison is None
    assert not compare.runs.isVisible()
    compare.choices()["compare"]()
    settle()
    found = compare.comparison
    assert isinstance(found, WaysCompared)
    ways = ["rules", "suppression", "multiplicative_noise", "cell_key", "rounding"]
    assert [one.method for one in found.configurations] == ways
    assert found.configurations[0].worst == 1 and "gives away least" in compare.sentence
    # The map has a point for each, and map and list mark the same one.
    view = compare.view
    assert [s.mean for s in view.map.settings] == [(r.unsafe_worst, r.loss) for r in found.configurations]
    assert view.map.front and all(s.there for s in view.map.settings) and not unnamed(compare)
    assert view.map.settings[0].beyond is False and view.table.list.rows.rowCount() == 5
    view.table.chosen.emit((3, None))
    assert view.map.place == (3, None) and "Cell keys" in view.map.words((3, None))
    # Other measures may span the map, and all can be copied and written.
    view.risk.setCurrentIndex(view.risk.findData("broken"))
    assert [s.mean[0] for s in view.map.settings if s.there] == [
        float(str(one.broken)) for one in found.configurations if one.broken is not None
    ]
    compare.files.write("csv", tmp_path / "ways.csv")
    settle()
    assert (tmp_path / "ways-CONFIDENTIAL.csv").read_text().startswith("run_CONFIDENTIAL,unsafe_worst,")
    # What is no method cannot be set up.
    compare.choose((0, None))
    assert not compare.open_button.isEnabled()
    view.map.opened.emit((2, None))
    assert document.project is not None and document.project.method == "multiplicative_noise"
    document.undo()
    measured.go("compare")
    settle()
    assert compare.words(document.project)[-2:] == ["--rule", "p=10"]
    document.set_public(True)
    assert not view.map.settings and not view.table.list.rows.columns
    assert not compare.main_button.isVisible()
    document.set_public(False)
    measured.go("methods")
    assert isinstance(measured.page, MethodsPage)
    form = measured.page.form
    fields = form.fields
    assert list(fields) == ["choice", "cost", "zeros", "missing", "statuses", "publish"]
    fields["statuses"].put(str(tmp_path / "none.hst"))
    form.flush()
    settle()
    assert fields["statuses"].fault.text() == "There is no such file."
    fields["statuses"].put("")
    fields["publish"].put("n")
    fields["choice"].put("cheapest")
    form.flush()
    settle()
    chosen = {"choice": "cheapest", "publish": "n"}
    assert document.project is not None and dict(document.project.parameters) == chosen
    measured.page.main_action()
    settle()
    assert measured.page.name == "table" and measured.decision is measured.pages["release"]
    measured.go("check")
    settle()
    check = page_of(measured, CheckPage).part
    assert isinstance(check, ContributorsTried)
    assert check.banner.text.text().startswith("Nobody among ")
    assert check.tried and all(one.holds for one in check.tried)
    assert [one.off for one in check.tried] == sorted(one.off for one in check.tried)
    measured.go("release")
    settle()
    page = measured.page
    assert isinstance(page, ReleasePage)
    # What the choice of the cheapest pattern tells is not worked out: that takes a reason.
    assert not page.main_button.isEnabled()
    page.signing.reason.setText("weighed by the board")
    page.signing.changed.emit()
    out = tmp_path / "r.zip"
    page.form.set_destination(out, tmp_path / "d.zip")
    page.main_button.click()
    assert page._question is not None
    page._question.publish.click()
    settle()
    assert document.project is not None and document.project.published
    release = public.read(out)
    gate = release.mechanism.gate
    assert release.magnitude_table.hidden.sum() >= 4 and gate is not None and gate.reason
    assert b"Nordmetall" not in out.read_bytes()
    # The workbook lies beside it, as the dialog offers.
    assert out.with_suffix(".xlsx").read_bytes()[:2] == b"PK"
    dialog = ask_release(page)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.made is not None)
    assert dialog.made is not None and b"Nordmetall" not in dialog.made.content
    dialog.reject()
    # Another document: a bundle of sums, as its reader has it.
    document.saved = document.project
    reader = MainWindow(type(document)())
    qtbot.addWidget(reader)
    reader.show()
    reader.files.read(str(out))
    qtbot.waitUntil(lambda: reader.document.project is not None)
    reader.go("table")
    qtbot.waitUntil(lambda: not reader.document.jobs.running)
    assert reader.document.public and not reader.document.has_original
    shown = magnitudes(reader)
    assert "are hidden (x)" in reader.page.sentence
    assert not shown.rules.isVisibleTo(reader)
    reader.close()


@pytest.mark.parametrize("where", ["check", "release"])
def test_what_helps_is_a_button(measured: MainWindow, settle: Settle, where: str) -> None:
    document = measured.document
    document.do(set_parameters, choice="cheapest")
    document.do(protect)
    settle()
    measured.go(where)
    settle()
    page = measured.page
    assert isinstance(page, CheckPage | ReleasePage)
    part = page.part if isinstance(page, CheckPage) else page
    assert isinstance(part, ContributorsTried | ReleasePage)

    def offered() -> Mapping[str, QPushButton]:
        return part.remedies.buttons if isinstance(part, ContributorsTried) else part.helps.buttons

    buttons = offered()
    words = "noise on every contribution, 5 % to 15 %"
    assert words in buttons and "Tried: passes." in buttons[words].accessibleDescription()
    buttons[words].click()
    settle()
    project = document.project
    assert project is not None and project.method == "multiplicative_noise"
    assert dict(project.parameters) == {}
    assert project.protected_magnitudes is not None and project.protected_magnitudes.verdict.passed
    settle()
    assert page in (measured.page, measured.decision) and not offered()
    line = part.banner.line
    if isinstance(page, ReleasePage):
        # What passes is not ready without a title.
        assert line.state == "mind" and line.rest.startswith("Still open: a title.")
        document.do(set_title, title="Turnover by branch")
        settle()
    assert part.banner.line.state == "passed"


def test_sums_hidden_by_letters_take_no_reason(measured: MainWindow, settle: Settle) -> None:
    document = measured.document
    document.do(set_title, title="Turnover by branch")
    document.do(protect)
    settle()
    measured.go("release")
    settle()
    page = measured.page
    assert isinstance(page, ReleasePage) and document.project is not None
    found = document.project.protected_magnitudes
    assert found is not None and found.release.mechanism.parameters["choice"] == "letters"
    assert found.verdict.passed and not found.verdict.left_out
    assert page.banner.line.state == "passed" and not page.helps.buttons and not page.answers.buttons
    assert page.main_button.isEnabled() and not page.missing


def test_counts_after_sums_have_their_own_pages(measured: MainWindow, settle: Settle) -> None:
    assert measured.pages.why_not("query_space") and not measured.pages.why_not("register")
    measured.document.saved = measured.document.project
    measured.files.open("example:duncan-roehrig-4x4")
    settle()
    assert isinstance(counts(measured), CountsPart) and not measured.pages.why_not("query_space")


def test_what_a_rule_would_do_moves_nothing_that_is_being_pressed(
    measured: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    page = magnitudes(measured)
    chip = next(b for b in page.rules.findChildren(QToolButton) if "p=10" in b.text())

    def places() -> dict[int, QPoint]:
        shown = [b for b in measured.findChildren(QAbstractButton) if b.isVisible()]
        return {id(b): b.mapTo(measured, QPoint(0, 0)) for b in shown}

    page.rules.show_draft("")
    before, high = places(), page.rules.height()
    QTest.mousePress(chip, Qt.MouseButton.LeftButton)
    page.rules.show_draft("With n=4 many sums would be unsafe. " * 12)
    qtbot.wait(60)
    assert places() == before and page.rules.height() == high
    QTest.mouseRelease(chip, Qt.MouseButton.LeftButton, pos=QPoint(-9, -9))
    qtbot.waitUntil(lambda: page.rules.height() > high)
