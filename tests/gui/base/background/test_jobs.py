"""Work beside the window: order, cancelling, throttling, no thread left."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from tabprotect.engine.progress import Progress
from tabprotect.gui.base.background.jobs import JOBS_PATIENCE, Job, Jobs
from tabprotect.languages.messages import Message, message


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    jobs.close()


def endless(progress: Progress) -> None:
    while True:
        time.sleep(0.001)
        progress.report("going on", 0.5)


def test_results_arrive_on_the_window_thread(jobs: Jobs, qtbot: QtBot) -> None:
    seen: list[tuple[str, bool]] = []

    def work(progress: Progress) -> str:
        return threading.current_thread().name

    job = jobs.question("where", work)
    with qtbot.waitSignal(job.ended):
        job.finished.connect(
            lambda name: seen.append((name, threading.current_thread() is threading.main_thread()))
        )
    assert seen[0][1]
    assert seen[0][0] != threading.main_thread().name


def test_a_stage_is_still_translated_when_it_arrives(jobs: Jobs, qtbot: QtBot) -> None:
    seen: list[object] = []
    went = threading.Event()

    def work(progress: Progress) -> None:
        progress.report(message("{n} of {m}", 1, 2), 0.5)
        went.wait(30)

    job = jobs.question("count", work)
    job.progressed.connect(lambda stage, *_: seen.append(stage))
    qtbot.waitUntil(lambda: bool(seen))
    went.set()
    with qtbot.waitSignal(job.ended):
        pass
    assert isinstance(seen[0], Message) and seen[0].template == "{n} of {m}"


def test_commands_run_one_after_another(jobs: Jobs, qtbot: QtBot) -> None:
    order: list[str] = []

    def step(name: str, seconds: float) -> Job:
        def work(progress: Progress) -> None:
            order.append(f"begin {name}")
            time.sleep(seconds)
            order.append(f"end {name}")

        return jobs.command(name, work)

    step("a", 0.05)
    last = step("b", 0.0)
    with qtbot.waitSignal(last.ended):
        pass
    assert order == ["begin a", "end a", "begin b", "end b"]


def test_cancel_ends_work_at_its_next_report(jobs: Jobs, qtbot: QtBot) -> None:
    asked, reports = threading.Event(), []

    def work(progress: Progress) -> None:
        while True:
            time.sleep(0.001)
            if asked.is_set():
                reports.append("after it was asked to end")
            progress.report("going on", 0.5)

    job = jobs.question("endless", work)
    with qtbot.waitSignal(job.progressed):
        pass
    with qtbot.waitSignal(job.cancelled):
        job.cancel()
        asked.set()
    assert len(reports) <= 1
    qtbot.waitUntil(lambda: job not in jobs.running)


def test_reports_are_throttled_before_they_cross_threads(jobs: Jobs, qtbot: QtBot) -> None:
    def work(progress: Progress) -> float:
        began = time.monotonic()
        for step in range(200_000):
            progress.report("counting", step / 200_000)
        return time.monotonic() - began

    job = jobs.question("chatty", work)
    seen: list[float] = []
    spent: list[float] = []
    job.progressed.connect(lambda stage, fraction, partial: seen.append(fraction))
    job.finished.connect(spent.append)
    with qtbot.waitSignal(job.ended):
        pass
    assert 1 <= len(seen) <= spent[0] / 0.05 + 2
    assert seen == sorted(seen)


def test_the_last_report_before_a_silence_is_heard(jobs: Jobs, qtbot: QtBot) -> None:
    heard = threading.Event()

    def work(progress: Progress) -> bool:
        for number in range(3):
            progress.report("found", 0.5, number)
        return heard.wait(300)

    job = jobs.question("found three", work)
    seen: list[object] = []
    job.progressed.connect(lambda stage, fraction, partial: seen.append(partial))
    ends: list[object] = []
    job.finished.connect(ends.append)
    with qtbot.waitSignal(job.ended):
        qtbot.waitUntil(lambda: bool(seen) and seen[-1] == 2)
        heard.set()
    assert ends == [True]


def test_a_command_that_was_done_before_the_cancel_is_not_denied(jobs: Jobs, qtbot: QtBot) -> None:
    begun = threading.Event()
    going = threading.Event()

    def work(progress: Progress) -> str:
        begun.set()
        going.wait()
        return "written"

    job = jobs.command("publish", work, deniable=False)
    ends: list[object] = []
    job.finished.connect(ends.append)
    job.cancelled.connect(lambda: ends.append("cancelled"))
    assert begun.wait(300)
    job.cancel()
    going.set()
    with qtbot.waitSignal(job.ended):
        pass
    assert ends == ["written"]


def test_the_window_does_not_wait_for_work_that_never_reports(jobs: Jobs, qtbot: QtBot) -> None:
    begun = threading.Event()
    going = threading.Event()

    def work(progress: Progress) -> str:
        begun.set()
        going.wait()
        return "late"

    job = jobs.command("deaf", work)
    ends: list[object] = []
    job.finished.connect(ends.append)
    job.cancelled.connect(lambda: ends.append("cancelled"))
    assert begun.wait(300)
    with qtbot.waitSignal(job.ended):
        job.cancel()
    # Half a second is what anybody may notice; the work itself has not ended.
    assert JOBS_PATIENCE < 500 and not going.is_set()
    going.set()
    after = jobs.command("next", lambda progress: "next")
    with qtbot.waitSignal(after.ended):
        pass
    assert ends == ["cancelled"]


def test_failures_carry_the_exception(jobs: Jobs, qtbot: QtBot) -> None:
    def work(progress: Progress) -> None:
        raise ZeroDivisionError("oh")

    job = jobs.question("bad", work)
    with qtbot.waitSignal(job.failed) as caught:
        pass
    assert isinstance(caught.args[0], ZeroDivisionError)


def test_close_leaves_no_thread(qtbot: QtBot) -> None:
    jobs = Jobs()
    before = threading.active_count()
    for number in range(5):
        jobs.question(f"endless {number}", endless)
        jobs.command(f"endless {number}", endless)
    qtbot.waitUntil(lambda: threading.active_count() > before)
    jobs.close()
    assert threading.active_count() == before


def test_work_that_was_given_up_says_the_rest_to_nobody(qtbot: QtBot, jobs: Jobs) -> None:
    told: list[str] = []
    going = threading.Event()

    def work(progress: Progress) -> str:
        going.wait()
        return "late"

    job = jobs.question("slow", work)
    job.finished.connect(told.append)
    job.cancel()
    qtbot.waitUntil(lambda: not isValid(job))
    going.set()
    # As its thread does: the signals of what is deleted must not be touched from there.
    job.run()
    jobs.posted.emit(job, "finished", "late")
    qtbot.waitUntil(lambda: not jobs.running)
    assert not told
