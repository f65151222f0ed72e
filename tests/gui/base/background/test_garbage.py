"""Garbage is collected on the window's thread, whoever makes it."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

from pytestqt.qtbot import QtBot

from tabprotect.gui.base.background.jobs import THRESHOLDS


class Circle:
    """What only garbage collection finds."""

    def __init__(self, ended: list[int]) -> None:
        self.itself = self
        self.ended = ended

    def __del__(self) -> None:
        self.ended.append(threading.get_ident())


def test_what_a_worker_leaves_is_collected_by_the_window(qtbot: QtBot) -> None:
    ended: list[int] = []

    def work() -> list[list[int]]:
        Circle(ended)
        return [[] for _ in range(2 * THRESHOLDS[0])]

    with ThreadPoolExecutor(1) as pool:
        kept = [pool.submit(work).result() for _ in range(3)]
    assert not ended
    qtbot.waitUntil(lambda: len(ended) == 3)
    assert set(ended) == {threading.get_ident()}
    assert len(kept) == 3 and not gc.isenabled()
