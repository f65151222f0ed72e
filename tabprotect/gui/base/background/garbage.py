"""Garbage of Python, collected on the window's thread only.

Python collects on whichever thread makes an object too many. If that is a worker's, the parts of a
closed page that lie in a circle of references are destroyed there, while the window's thread paints
or serves them: Qt ends the program.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QAbstractEventDispatcher, QObject, QTimer

THRESHOLDS = (10_000, 4, 100)
"""Objects made between two collections, and collections between two more thorough ones.

Each holds the window; of 10 000 objects it takes 5 ms.
"""

INTERVAL = 500
"""Milliseconds after which it is looked even where nothing wakes the window: work that does not
report makes garbage, too."""


class GarbageCollection(QObject):
    """Collects garbage between two events of the window, and nowhere else.

    Parameters
    ----------
    parent
        Lives as long as it; the application.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        dispatcher = QAbstractEventDispatcher.instance()
        if dispatcher is not None:
            dispatcher.awake.connect(self.look)
        timer = QTimer(self)
        timer.timeout.connect(self.look)
        timer.start(INTERVAL)

    def look(self) -> None:
        """Collect if enough was made, the oldest generation whose turn it is."""
        made = gc.get_count()
        if made[0] <= THRESHOLDS[0]:
            return
        for generation in (2, 1, 0):
            if made[generation] > THRESHOLDS[generation] or generation == 0:
                gc.collect(generation)
                return
