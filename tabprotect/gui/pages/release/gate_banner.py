"""The gate's answer: one number, one colour, one sentence."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from tabprotect.engine.bundle.check_lines import CheckLine
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_row
from tabprotect.gui.look.theme import GRID, THEME, spaced


class Banner(QFrame):
    """The verdict *is* the page's sentence; nothing else on it is large."""

    def __init__(self) -> None:
        super().__init__()
        self.line = CheckLine("told", "")
        self.figure = Label(
            role="figure", name="What a reader would know, of the cells expected at risk"
        )
        self.text = Label(wordWrap=True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setAccessibleName("The verdict")
        in_row(
            self.figure,
            (self.text, 1),
            on=self,
            margins=(2 * GRID, GRID, 2 * GRID, GRID),
            spacing=2 * GRID,
        )
        THEME.follow(self, Banner._paint)

    def show_line(self, line: CheckLine, *, figure: str = "") -> None:
        """Show a verdict, with its number large."""
        self.line = line
        self.figure.setText(figure)
        self.figure.setVisible(bool(figure))
        self.text.setText(spaced(line.text))
        self.setAccessibleName(line.text)
        self._paint()

    def _paint(self) -> None:
        c = THEME.colours
        ground, ink = {
            "failed": (c.error_fill, c.error),
            "mind": (c.at_risk_fill, c.at_risk if not THEME.dark else c.on_at_risk),
            "told": (c.raised, c.text),
            "passed": (c.released_fill, c.released),
        }[self.line.state]
        border = c.border if self.line.state == "told" else ink
        self.setStyleSheet(
            f"Banner {{ background: {ground}; border: 1px solid {border}; border-radius: 6px; }}"
            f"Banner QLabel {{ color: {c.text}; }}"
            f'Banner QLabel[role="figure"] {{ color: {ink}; }}'
        )
