"""The page Attack, through the real window: files of an office, nothing of a house open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pages_of import page_of
from pytestqt.qtbot import QtBot
from readable import texts, unnamed

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.attack import page as attack_page
from tabprotect.gui.pages.attack.page import AttackPage

Settle = Callable[[], None]

AGES = "area,age,count\nH,0,3\nH,18,0\nH,40,0\nH,65,0\nS,0,6\nS,18,3\nS,40,3\nS,65,9\n"
TOTALS = "area,count\nH,11\nS,22\n"


@pytest.fixture
def page(
    window: MainWindow, tmp_path: Path, settle: Settle, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> AttackPage:
    """A table rounded to 3 at random, and true totals of it: 5 + 2 + 2 + 2 is the only way to 11."""
    monkeypatch.setattr(attack_page, "TYPING", 1)
    (tmp_path / "ages.csv").write_text(AGES)
    (tmp_path / "totals.csv").write_text(TOTALS)
    window.go("attack")
    found = page_of(window, AttackPage)
    # One sentence and one button, and nothing that waits for files.
    assert found.empty.isVisible() and not found.why.isVisible()
    assert not found.main_button.isVisible()
    found.add([str(tmp_path / "ages.csv"), str(tmp_path / "totals.csv")])
    qtbot.waitUntil(lambda: found.findings is not None)
    return found


def test_counts_are_proved_with_the_sum_that_proves_them(page: AttackPage) -> None:
    assert page.files.said == ("random_rounding:base=3", "exact")
    assert page.sentence.startswith("Together they give away 4 of 8 counts; 4 of them are proved.")
    assert [label.text() for label in page.figures.values()] == ["4", "0", "4", "0"]
    said = " ".join(texts(page.why))
    assert "H, 0 is 5" in said and "published: 3" in said
    assert "They add up to H, which is 11." in said
    assert "The others are 0 to 6 together" in said
    shown = page.why.list.model()
    row = [shown.index(0, column).data() for column in range(4)]
    assert row == ["H, 0", "3", "1 to 5", "5"]
    assert not unnamed(page) and not page.shows_original()


def test_another_method_is_attacked_with(page: AttackPage, qtbot: QtBot) -> None:
    """Rounding that may move a count by more leaves none of them alone."""
    page.files.rows[0].method.setCurrentText("random_rounding:base=5")
    qtbot.waitUntil(lambda: page.errors.error is not None)
    assert page.findings is None and not page.main_button.isEnabled()
    page.files.rows[0].method.setCurrentText("unknown:sd=2")
    qtbot.waitUntil(lambda: page.findings is not None)
    assert page.sentence.startswith("Together they give away 0 of 8 counts")
    assert not page.errors.isVisible() and page.among == "all"
    page.files.rows[1].out.click()
    page.files.rows[0].out.click()
    assert page.findings is None and page.command_line() == ""


def test_report_and_json_are_what_the_command_line_writes(
    page: AttackPage, settle: Settle, tmp_path: Path
) -> None:
    page.save_json(tmp_path / "found.json")
    page.save_report(tmp_path / "found.html")
    settle()
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["known"], found["proved"], len(found["cells"])) == (4, 4, 8)
    assert "4 of 8 counts can be known" in (tmp_path / "found.html").read_text()
    assert page.command_line().endswith("--method random_rounding:base=3 --method exact")


def test_the_map_and_the_list_go_together(page: AttackPage) -> None:
    page.views["map"].click()
    assert page.stack.currentWidget() is page.map
    page.map.chosen.emit((1, 2))
    assert "S, 40 is most likely 3" in " ".join(texts(page.why))
    page.choices_among["all"].click()
    page.search.setText("s, 65")
    assert page.list.model().rowCount() == 1


def test_a_proof_is_checked_and_the_publisher_could_do_otherwise(page: AttackPage, qtbot: QtBot) -> None:
    page.why.check.click()
    # 1 to 5 by itself; 11 is reached by 5 alone.
    assert page.why.checked.text() == "Checked: none of 4 other counts lets them add up."
    found = page.findings
    assert found is not None
    proof = found.proof(0)
    assert proof is not None and proof.other_counts(5) == (4, ())
    assert proof.other_counts(4) == (4, (5,))
    qtbot.waitUntil(lambda: page.why.could.model().rowCount() > 0)
    shown = page.why.could.model()
    rows = [[shown.index(k, c).data() for c in range(2)] for k in range(shown.rowCount())]
    assert rows[0][0] == "Leave out ages.csv"
    assert rows[1] == ["Round totals.csv at random to multiples of 3 as well", "0 proved, 0 sure"]
    assert rows[2] == ["Leave out totals.csv", "0 proved, 0 sure"]
