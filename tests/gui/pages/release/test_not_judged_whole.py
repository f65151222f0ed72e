"""What was not judged whole: never green, and out of the house with a reason only."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from pages_of import page_of
from pytestqt.qtbot import QtBot

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters, set_policy
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.release.page import ReleasePage

Settle = Callable[[], None]

WHY = "its choice was looked at by hand"


def page(window: MainWindow) -> ReleasePage:
    return page_of(window, ReleasePage)


def released(window: MainWindow, settle: Settle, folder: Path, **policy: object) -> ReleasePage:
    """The Release page of margins whose choice is not judged."""
    document = window.document
    if policy:
        document.do(set_policy, **policy)
    document.do(set_method, method="publish_margins")
    document.do(set_parameters, margins="v + w", threshold=3, cells="at_risk")
    document.do(protect, draft=True)
    settle()
    window.go("release")
    settle()
    page(window).form.set_destination(folder / "release.zip", folder / "dossier.zip")
    return page(window)


def test_the_banner_says_what_was_not_judged_and_asks_for_a_reason(
    opened: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    shown = released(opened, settle, tmp_path)
    line = shown.banner.line
    assert line.state == "mind" and line.text.startswith("One question open. Readers would know ")
    assert THEME.colours.undecided_fill in shown.banner.styleSheet()
    assert THEME.colours.released_fill not in shown.banner.styleSheet()
    assert "one question open" in opened.strip.facts
    assert not shown.main_button.isEnabled() and "a reason" in shown.missing
    qtbot.keyClicks(shown.signing.reason, WHY)
    shown.main_button.click()
    assert shown._question is not None
    assert "Not worked out: " in shown._question.text and WHY in shown._question.text
    shown._question.publish.click()
    settle()
    assert shown.banner.line.state == "mind"
    assert shown.sentence.startswith("Published. ")
    gate = public.read(tmp_path / "release.zip").mechanism.gate
    assert gate is not None and gate.passed is None and gate.reason
    assert gate.left_out == verify(tmp_path / "release.zip").left_out != ()
    record = confidential.read(tmp_path / "dossier-CONFIDENTIAL.zip").record
    assert WHY in record.decisions[0]
    assert WHY.encode() not in (tmp_path / "release.zip").read_bytes()


def test_a_reason_is_kept_as_a_standing_one_from_where_it_is_asked(
    opened: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    shown = released(opened, settle, tmp_path)
    keep = shown.signing.keep
    assert keep.isVisibleTo(shown) and not keep.isEnabled()
    qtbot.keyClicks(shown.signing.reason, WHY)
    keep.click()
    assert in_force().standing == {"pattern_choice": WHY}
    assert not keep.isVisibleTo(shown)
    opened.document.undo()
    opened.document.do(protect, draft=True)
    settle()
    shown.signing.reason.clear()
    opened.go("release")
    settle()
    assert not shown.signing.reason.isVisibleTo(shown) and shown.main_button.isEnabled()


def test_a_standing_reason_is_taken_and_kept(opened: MainWindow, settle: Settle, tmp_path: Path) -> None:
    shown = released(opened, settle, tmp_path, standing={"pattern_choice": WHY})
    assert shown.banner.line.state == "mind" and shown.main_button.isEnabled()
    assert any(WHY in row.line.text for row in shown.honesty.rows)


@pytest.mark.parametrize("given", ["", WHY])
def test_the_policy_may_refuse_whatever_the_reason(
    opened: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot, given: str
) -> None:
    shown = released(opened, settle, tmp_path, unjudged="refuse")
    qtbot.keyClicks(shown.signing.reason, given)
    assert shown.banner.line.state == "mind" and not shown.main_button.isEnabled()
    assert "nothing leave before all" in shown.missing


def test_no_reason_is_asked_for_where_none_would_do(
    opened: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What tells too much beside earlier releases is refused before anything is asked."""
    numbers = count(1 << 200)
    seeds = SimpleNamespace(randbits=lambda _: next(numbers))
    monkeypatch.setattr("tabprotect.engine.randomness.secrets", seeds)
    shown = page(opened)
    for number in range(8):
        opened.document.do(protect, fresh=True, draft=True)
        settle()
        opened.go("release")
        settle()
        shown.form.set_destination(tmp_path / f"{number}.zip", tmp_path / f"d{number}.zip")
        shown.signing.reason.clear()
        qtbot.keyClicks(shown.signing.reason, "asked for")
        if shown.banner.line.state == "failed":
            break
        shown.main_button.click()
        assert shown._question is not None
        shown._question.publish.click()
        settle()
    assert "beside what left before" in shown.missing
    assert not shown.main_button.isEnabled()
