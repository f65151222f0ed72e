"""What the first paint does not wait for, made ready while nobody asks for anything.

Pages are built when they are first needed. Here they are built before, in pieces between which the
window serves whoever uses it.
"""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from tabprotect.engine.progress import Progress
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.stages import Pages, page_type
from tabprotect.gui.plots.canvas import loaded_in_pieces

PIECE = 0.02
"""Processor seconds of one go: less than anybody sees."""

PAUSE = 5
"""Milliseconds between two goes."""

BESIDE = (
    "tabprotect.engine.protection.registered",
    "tabprotect.engine.project.releasing.judgement",
    "tabprotect.engine.query_space.registered",
    "tabprotect.engine.assessment.comparing.comparison",
    "tabprotect.engine.cycles.designs",
    # Of the plotting library.
    "multiprocessing.connection",
    "numpy.ma",
    "pydoc",
    "xml.etree.ElementTree",
)
"""What pages and plots import, and nothing of it touches Qt: it loads beside the window."""


COLLECTED = (10_000, 4, 100)
"""Objects made between two looks for garbage, and looks between two more thorough ones.

Each look holds the window; of 10 000 objects it takes 5 ms.
"""


def collect_little() -> None:
    """Look for garbage in small portions."""
    gc.set_threshold(*COLLECTED)


class Readying(QObject):
    """Makes ready all pages of a window, then their plots.

    Parameters
    ----------
    pages
        The window's.
    document
        The window's too.

    ``ended`` when all is ready.
    """

    ended = Signal()

    def __init__(self, parent: QObject, pages: Pages, document: Document) -> None:
        super().__init__(parent)
        self.done = False
        self._pieces = _pieces(pages)
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(self._go)
        document.closed.connect(self._timer.stop)
        document.jobs.unseen(_beside, self._timer.start)

    def _go(self) -> None:
        end = time.thread_time() + PIECE
        while time.thread_time() < end:
            if next(self._pieces, self) is self:
                self.done = True
                self._timer.stop()
                self.ended.emit()
                return


def _beside(progress: Progress) -> None:
    """Load the engine's part of the pages, and the plug-ins that they list."""
    for name in BESIDE:
        progress.report("loading", 0.0)
        module = importlib.import_module(name)
        for registry in ("methods", "criteria", "rules"):
            if registry in vars(module):
                # What is listed is loaded with the first question.
                len(vars(module)[registry]())


def _pieces(pages: Pages) -> Iterator[object]:
    for name, stage in pages.stages.items():
        yield page_type(stage)
        page = pages[name]
        yield page
        # Else all of it is dressed when it is first shown.
        for part in page.findChildren(QWidget):
            # A page may have made another one of it between two pieces.
            if isValid(part):
                part.ensurePolished()
                yield part
    yield from loaded_in_pieces()
    for page in pages.values():
        yield from page.pieces()
