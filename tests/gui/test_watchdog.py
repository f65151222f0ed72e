"""The watchdog of all window tests bites: what holds the window's thread is counted, and only that."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication
from watchdog import NOT_COUNTED, PART, Stretch, Watchdog

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
    watchdog.longest = Stretch(0.0)
    yield watchdog
    # What was held here was meant to be.
    watchdog.longest = Stretch(0.0)


def work_in(file: str) -> Callable[[float], None]:
    """Work that the interpreter takes for a file's."""
    names = {"thread_time": time.thread_time}
    exec(compile(WORK, file, "exec"), names)
    return names["work"]  # type: ignore[return-value]


def test_work_of_the_window_is_counted_with_its_place(watched: Watchdog) -> None:
    work_in(f"/program{PART}pages/slow.py")(LONG)
    assert LONG / 2 < watched.longest.seconds < 1.5 * LONG
    assert "slow.py" in watched.longest.where


def test_each_turn_and_each_call_counts_alone(watched: Watchdog) -> None:
    work = work_in(f"/program{PART}pages/slow.py")
    for _ in range(3):
        work(LONG / 4)
        QApplication.processEvents()
    work(LONG / 4)
    work(LONG / 4)
    assert watched.longest.seconds < LONG / 2


@pytest.mark.parametrize(
    "file", ["/tests/gui/test_it.py", "/program/tabprotect/gui/frame/stages.py"]
)
def test_what_is_not_the_windows_is_not_counted(watched: Watchdog, file: str) -> None:
    assert PART not in file or any(pattern in file for pattern in NOT_COUNTED)
    work_in(file)(LONG / 2)
    assert watched.longest.seconds < LONG / 4
