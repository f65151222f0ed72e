"""What can wait is done in later turns, in order, once, and not for those that are gone."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from tabprotect.gui.look.theme import SHARE, Turns


class Worker(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def short(self) -> None:
        self.done.append("short")

    def long(self) -> None:
        end = time.thread_time() + 1.5 * SHARE
        while time.thread_time() < end:
            pass
        self.done.append("long")


@pytest.fixture
def turns(qtbot: QtBot) -> Turns:
    return Turns()


def test_work_waits_and_is_done_once_in_order(turns: Turns, qtbot: QtBot) -> None:
    worker = Worker()
    for work in (worker.long, worker.short, worker.long):
        turns.later(worker, work)
    assert not worker.done and turns.waiting
    qtbot.waitUntil(lambda: not turns.waiting)
    assert worker.done == ["long", "short"]


def test_a_turn_ends_when_its_share_is_spent(turns: Turns) -> None:
    worker = Worker()
    turns.later(worker, worker.long)
    turns.later(worker, worker.short)
    turns._turn()
    assert worker.done == ["long"] and turns.waiting


def test_nothing_is_done_for_who_is_gone_and_a_fault_holds_up_nothing(turns: Turns, qtbot: QtBot) -> None:
    gone, worker = Worker(), Worker()
    parent = QObject()
    gone.setParent(parent)
    turns.later(gone, gone.short)
    turns.later(worker, lambda: 1 / 0)
    turns.later(worker, worker.short)
    del parent
    with pytest.raises(ZeroDivisionError):
        turns._turn()
    qtbot.waitUntil(lambda: not turns.waiting)
    assert worker.done == ["short"] and not gone.done
