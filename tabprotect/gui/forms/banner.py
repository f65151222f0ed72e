"""A verdict as a banner: its sentence large, its state by colour, icon and word."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from tabprotect.engine.release.findings import Finding, said
from tabprotect.gui.look.buttons import push_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, show_text
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

MARKS = {
    "passed": ("tick", "released", "passed"),
    "told": ("information", "quiet", message("for information")),
    "mind": ("warning", "undecided", "mind"),
    "failed": ("cross", "error", "failed"),
}
"""Icon, colour and word of each state."""

LARGE = 80
"""Letters of a verdict up to which it is written large: a longer one would take half of a small window."""

EDGE = 8
"""Pixels of the banner's left edge, which has the colour of its state."""


class Banner(QFrame):
    """The verdict *is* the page's sentence; nothing else on it is large."""

    def __init__(self) -> None:
        super().__init__()
        self.line = said("")
        self._shown: tuple[Finding, str, str] | None = None
        self.mark = Label()
        self.text = Label(wordWrap=True, role="heading", name=message("The verdict"))
        self.rest = Label(wordWrap=True, name=message("What is to be said beside it"))
        self.below = Label(wordWrap=True, role="quiet", name=message("What readers work out"))
        self.ways = Label(wordWrap=True, role="quiet", name=message("How it is computed"))
        for label in (self.text, self.rest, self.below, self.ways):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.word = Label(role="section", name=message("State of the release"))
        self.word.setObjectName("word")
        self.word.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.how = push_button(message("How is this computed?"), flat=True)
        self.how.setCheckable(True)
        self.how.toggled.connect(self._unfold)
        head = in_row(self.mark, self.word, 1, self.how, spacing=GRID)
        in_column(
            head,
            *(self.text, self.rest, self.below, self.ways),
            on=self,
            margins=(2 * GRID + EDGE, GRID + 4, 2 * GRID, GRID + 4),
            spacing=4,
        )
        self._folded = False
        THEME.follow(self, Banner._paint)

    def fold(self, folded: bool) -> None:
        """Show the verdict alone, without what readers work out and how it is computed."""
        self._folded = folded
        self.how.setVisible(not folded and bool(self.below.text() or self.ways.text()))
        self._unfold(self.how.isChecked())

    def show_line(self, line: Finding, *, below: str = "", ways: str = "") -> None:
        """Show a verdict; on request, ``below`` it, what its number means and its ways."""
        # A style sheet is dear: who types beside it does not wait for the same words again.
        if self._shown == (line, below, ways):
            return
        self._shown = line, below, ways
        self.line = line
        dress(self.text, "heading" if len(line.heading) <= LARGE else "section")
        self.text.setText(translate(line.heading))
        show_text(self.rest, line.rest)
        self.below.setText(translate(below))
        self.ways.setText(translate(ways))
        self.fold(self._folded)
        self.word.setText(translate(line.word).upper())
        self.word.setVisible(bool(line.word))
        self.setAccessibleName(translate(line.text))
        self._paint()

    def _unfold(self, open_: bool) -> None:
        for label in (self.below, self.ways):
            label.setVisible(open_ and not self._folded and bool(label.text()))

    def _paint(self) -> None:
        c = THEME.colours
        icon = MARKS[self.line.state][0]
        ground, ink = {
            "failed": (c.error_fill, c.error),
            "mind": (c.undecided_fill, c.undecided),
            "told": (c.raised, c.text),
            "passed": (c.released_fill, c.released),
        }[self.line.state]
        self.mark.setPixmap(icons.pixmap(icon, 24, colour=ink))
        edge = c.border if self.line.state == "told" else ink
        self.setStyleSheet(
            f"Banner {{ background: {ground}; border: 1px solid {edge};"
            f" border-left: {EDGE}px solid {edge}; border-radius: 6px;"
            # Two widths of border make no clean curve where they meet.
            " border-top-left-radius: 0; border-bottom-left-radius: 0; }"
            f"Banner QLabel {{ color: {c.text}; }}"
            f"Banner QLabel#word {{ background: {ink}; color: {ground}; border-radius: 3px;"
            " padding: 1px 8px; }"
        )
