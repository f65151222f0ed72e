"""Asking beside the window: once for a key, the latest answer only, told failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import Progress
from tabprotect.gui.base.background.background_task import BackgroundTask, same
from tabprotect.gui.base.background.jobs import Jobs


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    jobs.close()


class Asker(QObject):
    """Notes everything it hears."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self.heard: list[object] = []
        self.question: BackgroundTask[object] = BackgroundTask(
            self,
            jobs,
            self.heard.append,
            lambda error: self.heard.append(str(error)),
            came=lambda partial: self.heard.append(("so far", partial)),
            stopped=lambda: self.heard.append("stopped"),
        )


def endless(progress: Progress) -> str:
    while True:
        time.sleep(0.001)
        progress.report("going on", 0.5)


def test_the_same_key_is_asked_once_and_another_replaces_it(jobs: Jobs, qtbot: QtBot) -> None:
    asker, table = Asker(jobs), [1]
    question = asker.question
    assert question.ask("first", endless, (table, "uniform"))
    assert not question.ask("again", lambda _: "again", (table, "uni" + "form"))
    # An equal object is not the same one.
    assert question.ask("second", lambda _: "second", ([1], "uniform"))
    qtbot.waitUntil(lambda: not jobs.running)
    assert asker.heard == ["second"]
    assert not question.running


def test_an_answer_that_comes_late_is_dropped(jobs: Jobs, qtbot: QtBot) -> None:
    asker = Asker(jobs)
    begun, going = threading.Event(), threading.Event()

    def deaf(progress: Progress) -> str:
        begun.set()
        going.wait(5)
        return "late"

    asker.question.ask("deaf", deaf, ("a",))
    assert begun.wait(5)
    assert asker.question.drop()
    going.set()
    qtbot.waitUntil(lambda: not jobs.running)
    assert asker.heard == [] and asker.question.key is None
    assert not asker.question.drop()


def test_a_failure_is_told_and_not_asked_for_again(jobs: Jobs, qtbot: QtBot) -> None:
    asker = Asker(jobs)

    def fails(progress: Progress) -> str:
        raise InputError("no such table")

    asker.question.ask("fails", fails, ("a",))
    qtbot.waitUntil(lambda: not jobs.running)
    assert asker.heard == ["no such table"]
    assert not asker.question.ask("fails", fails, ("a",))
    asker.question.drop()
    assert asker.question.ask("works", lambda _: "works", ("a",))
    qtbot.waitUntil(lambda: not jobs.running)
    assert asker.heard[1:] == ["works"]


def test_a_fault_of_ours_is_raised(jobs: Jobs, qtbot: QtBot) -> None:
    asker = Asker(jobs)
    with qtbot.captureExceptions() as raised:
        asker.question.ask("broken", lambda _: 1 // 0)
        qtbot.waitUntil(lambda: not jobs.running)
    assert [kind for kind, _, _ in raised] == [ZeroDivisionError]
    assert asker.heard == [] and not asker.question.running


def test_partial_results_come_and_cancelling_is_heard(jobs: Jobs, qtbot: QtBot) -> None:
    asker = Asker(jobs)

    def slow(progress: Progress) -> str:
        while True:
            time.sleep(0.001)
            progress.report("going on", 0.5, "half")

    asker.question.ask("slow", slow, ("a",))
    qtbot.waitUntil(lambda: ("so far", "half") in asker.heard)
    asker.question.cancel()
    qtbot.waitUntil(lambda: not jobs.running)
    assert asker.heard[-1] == "stopped"
    # Cancelled is cancelled: a page that repaints does not begin again.
    assert not asker.question.ask("slow", slow, ("a",))


def test_who_types_asks_once_and_who_leaves_asks_nothing(jobs: Jobs, qtbot: QtBot) -> None:
    asker, asked = Asker(jobs), list[int]()
    for n in range(5):
        asker.question.ask("typed", lambda _, n=n: asked.append(n) or n, (n,), wait=30)
    assert asker.question.running
    qtbot.waitUntil(lambda: asker.heard == [4])
    assert asked == [4]
    assert not asker.question.leave() and asker.question.key == (4,)
    asker.question.ask("typed", lambda _: asked.append(9), (9,), wait=30)
    assert asker.question.leave()
    qtbot.wait(60)
    assert asked == [4] and not asker.question.running


def test_keys_compare_plain_values_and_else_the_objects_themselves() -> None:
    table = [1, 2]
    assert same((table, ("a", 1), None), (table, ("a", 1), None))
    assert not same((table,), ([1, 2],))
    assert not same((1,), (True,)) and not same((1, 2), (1,)) and not same((1,), None)


@pytest.mark.parametrize("outlives", [False, True])
def test_an_answer_about_another_document_is_not_told(jobs: Jobs, qtbot: QtBot, outlives: bool) -> None:
    """No page looks whose answer it gets: what was asked of a document that is not open is dropped."""
    asker, go_on = Asker(jobs), threading.Event()
    asker.question.outlives = outlives
    asker.question.ask("of the former", lambda _: go_on.wait() and "former", ("key",))
    jobs.document += 1
    go_on.set()
    qtbot.waitUntil(lambda: not jobs.running)
    assert asker.heard == (["former"] if outlives else [])
    # It may be asked again.
    assert asker.question.ask("again", lambda _: "again", ("key",)) != outlives
    qtbot.waitUntil(lambda: not jobs.running)


def test_what_is_asked_of_a_window_that_was_closed_is_not_begun(qtbot: QtBot) -> None:
    jobs = Jobs()
    asker = Asker(jobs)
    jobs.close()
    asker.question.ask("too late", lambda _: "an answer")
    assert asker.heard == [] and not jobs.running
