"""Two shares of one whole: their fields beside a triangle, and what they leave."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from tabprotect.gui.forms.field import Field
from tabprotect.gui.forms.share_triangle import ShareTriangle
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID, number_text
from tabprotect.languages.speaking import told

WIDE = 46 * GRID
"""From this width on the fields stand beside the triangle, else below it."""


class ShareEditor(QWidget):
    """``changed`` when the user has set another pair. ``stops`` are what Tab should reach."""

    changed = Signal()

    def __init__(self, first: Field, second: Field) -> None:
        super().__init__()
        shares = first.parameter.shares
        assert shares is not None
        self.fields = (first, second)
        names = (first.parameter.label, second.parameter.label, shares.rest)
        self.triangle = ShareTriangle(names, shares.words)
        self.triangle.changed.connect(self._dragged)
        self.triangle.settled.connect(self.changed)
        self.rest = Label(wordWrap=True, name=shares.rest)
        self._rest, self._words = shares.rest, told(shares.words[2])
        self.stops: list[QWidget] = [self.triangle, *first.stops, *second.stops]
        side = in_column(spacing=GRID // 2)
        for field in self.fields:
            field.changed.connect(partial(self._typed, field))
            side.addWidget(field)
        side.addWidget(self.rest)
        side.addStretch(1)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(2 * GRID)
        self._box.addWidget(self.triangle)
        self._box.addLayout(side, 1)

    def show_shares(self) -> None:
        """Draw what the fields hold."""
        first, second = (float(str(field.value)) for field in self.fields)
        self.triangle.set_values(first, second)
        self._tell(first, second)

    def minimumSizeHint(self) -> QSize:
        # However it stands now: it can always stand in one column.
        least = super().minimumSizeHint()
        return QSize(self.triangle.sizeHint().width(), least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        ways = QBoxLayout.Direction
        self._box.setDirection(ways.LeftToRight if self.width() >= WIDE else ways.TopToBottom)

    def _dragged(self, first: float, second: float) -> None:
        for field, share in zip(self.fields, (first, second), strict=True):
            field.show_value(share)
        self._tell(first, second)

    def _typed(self, field: Field) -> None:
        other = self.fields[self.fields[0] is field]
        try:
            share, rest = (float(str(f.parameter.check(f.value))) for f in (field, other))
        except ValueError:
            # Said at the field, once it is read.
            self.changed.emit()
            return
        if share + rest > 1:
            # The one that is not being typed gives way.
            other.show_value(round(1 - share, 4))
        self.show_shares()
        self.changed.emit()

    def _tell(self, first: float, second: float) -> None:
        left = max(round(1 - first - second, 10), 0.0)
        self.rest.setText(f"{self._rest}, the rest ({self._words}): {number_text(left)}")
