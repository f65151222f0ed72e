"""The watchdog of all window tests bites: what holds the window's thread is counted, and only that."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from watchdog import NOT_COUNTED, PART, Watchdog

WORK = """
def work(seconds):
    end = thread_time() + seconds
    while thread_time() < end:
        pass
"""

LONG = 0.16
"""Processor seconds: more than the window's thread may take."""


@pytest.fixture
def watched(watchdog: Watchdog) -> Iterator[Watchdog]:
    watchdog.forget()
    yield watchdog
    # What was held here was meant to be.
    watchdog.forget()


def work_in(file: str) -> Callable[[float], None]:
    """Work that the interpreter takes for a file's."""
    names = {"thread_time": time.thread_time}
    exec(compile(WORK, file, "exec"), names)
    return names["work"]  # type: ignore[return-value]


def test_a_turn_of_the_loop_is_counted_with_its_place(watched: Watchdog, qtbot: QtBot) -> None:
    work = work_in(f"/program{PART}pages/slow.py")
    done: list[object] = []
    QTimer.singleShot(0, lambda: done.append(work(LONG)))
    qtbot.waitUntil(lambda: bool(done))
    # The test's own line lies between: it is not the loop's.
    assert LONG / 2 < max(watched.longest, watched.longest_call).seconds < 1.5 * LONG
    assert "slow.py" in max(watched.longest, watched.longest_call).where


def test_each_turn_and_each_call_counts_alone(watched: Watchdog) -> None:
    work = work_in(f"/program{PART}pages/slow.py")
    for _ in range(3):
        work(LONG / 4)
        QApplication.processEvents()
    work(LONG / 4)
    work(LONG / 4)
    assert watched.longest_call.seconds < LONG / 2
    work(LONG)
    assert LONG / 2 < watched.longest_call.seconds < 1.5 * LONG


@pytest.mark.parametrize("file", ["/tests/gui/test_it.py", "/program/tabprotect/gui/frame/stages.py"])
def test_what_is_not_the_windows_is_not_counted(watched: Watchdog, file: str) -> None:
    assert PART not in file or any(pattern in file for pattern in NOT_COUNTED)
    work_in(file)(LONG / 2)
    assert max(watched.longest, watched.longest_call).seconds < LONG / 4


def test_looking_for_garbage_is_not_counted(watched: Watchdog, qtbot: QtBot) -> None:
    code = f"""
def work():
    end = thread_time() + {LONG}
    while thread_time() < end:
        collect()
"""
    names = {"thread_time": time.thread_time, "collect": gc.collect}
    exec(compile(code, f"/program{PART}pages/slow.py", "exec"), names)
    names["work"]()  # type: ignore[operator]
    assert max(watched.longest, watched.longest_call).seconds < 0.8 * LONG
