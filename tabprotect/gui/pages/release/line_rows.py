"""Lines of a group: each with its mark, what it says, and what can be done about it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from tabprotect.engine.bundle.check_lines import (
    CheckGroup,
    CheckLine,
    bundle_files,
    honesty,
    protection,
)
from tabprotect.engine.errors import Suggestion
from tabprotect.engine.project.project import Project
from tabprotect.gui.look import icons
from tabprotect.gui.look.buttons import emptied, push_button, tool_button
from tabprotect.gui.look.label import Label, heading, tip
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME, spaced
from tabprotect.gui.pages.release.bundle_shown import Bundle
from tabprotect.languages.said import capital, say
from tabprotect.languages.speaking import tell, told

MARKS = {
    "passed": ("tick", "released", "passed"),
    "told": ("information", "quiet", say("for information")),
    "mind": ("warning", "undecided", "mind"),
    "failed": ("cross", "error", "failed"),
}
"""Icon, colour and word of each state."""


EDGE = 8
"""Pixels of the banner's left edge, which has the colour of its state."""


class LineRow(QWidget):
    """One line. ``cells_asked`` where its cells are to be looked at."""

    cells_asked = Signal()

    def __init__(self, line: CheckLine) -> None:
        super().__init__()
        self.line = line
        icon, ink, word = MARKS[line.state]
        picture = Label()
        picture.setPixmap(icons.pixmap(icon, 16, colour=getattr(THEME.colours, ink)))
        self.words = Label(spaced(line.text), wordWrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setAccessibleName(tell("{word}: {text}", word, line.text))
        row = in_row(
            (picture, 0, Qt.AlignmentFlag.AlignTop),
            (self.words, 1),
            on=self,
            margins=0,
            spacing=GRID,
        )
        if line.staff:
            badge = Label(say("staff only"), role="quiet")
            row.addWidget(badge, 0, Qt.AlignmentFlag.AlignTop)
        self.button: QPushButton | None = None
        if line.cells:
            self.button = QPushButton(tell("Show cells"))
            self.button.setAccessibleName(tell("Show the cells of: {text}", line.text))
            self.button.clicked.connect(self.cells_asked)
            row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)


class LineGroup(QWidget):
    """A titled card of lines; folded it is one line with a mark that sums up.

    ``cells_asked``: the cells of a line are to be looked at; ``remedy_chosen`` carries what was
    chosen of what helps.
    """

    cells_asked = Signal()
    remedy_chosen = Signal(object)

    def __init__(self, title: str, *, folded: str = "") -> None:
        super().__init__()
        self.group = CheckGroup(title, ())
        self.rows: list[LineRow] = []
        self.remedies: dict[str, QPushButton] = {}
        self._folded = folded
        self._shown: tuple[object, ...] | None = None
        self.setAccessibleName(told(title))
        self.title = heading(title)
        self.card = QFrame()
        dress(self.card, "card")
        self._inside = in_column(
            on=self.card, margins=(GRID + 4, GRID, GRID + 4, GRID), spacing=GRID
        )
        self._lines = in_column(spacing=GRID)
        self.fold = tool_button("", checkable=True, flat=True)
        self.fold.setParent(self.card)
        self.fold.toggled.connect(self._unfold)
        self._folding, self._may_fold = False, True
        self._sum = in_row(spacing=GRID)
        self._inside.addLayout(self._sum)
        self._inside.addLayout(self._lines)
        self._helps = in_column(spacing=4)
        self._inside.addLayout(self._helps)
        in_column(self.title, self.card, on=self, margins=0, spacing=4)
        self.fold.setVisible(False)
        THEME.follow(self, LineGroup._repaint)

    def add(self, widget: QWidget) -> None:
        """Put something beneath the lines."""
        self._inside.addWidget(widget)

    def show_group(
        self,
        group: CheckGroup,
        *,
        helps: Sequence[Suggestion] | None = (),
        folding: bool = True,
    ) -> None:
        """Show lines anew.

        Parameters
        ----------
        helps
            Remedies, ``None`` while they are being tried.
        folding
            Whether lines that all passed may be folded into one.
        """
        shown = (group, None if helps is None else tuple(map(id, helps)), folding)
        if shown == self._shown:
            # What is the same stays, and with it what has the focus.
            return
        self._shown = shown
        self.group, self._may_fold = group, folding
        self._fill(group.lines)
        emptied(self._helps)
        self.remedies = {}
        if helps is None:
            self._helps.addWidget(_quiet(say("Trying what helps\u2026")))
        elif helps:
            self._helps.addWidget(_quiet(say("What helps")))
            for remedy in helps:
                button = QPushButton(told(capital(remedy.text)))
                button.setAccessibleName(tell("Remedy: {text}", remedy.text))
                button.setAccessibleDescription(told(remedy.reached))
                button.setToolTip(tip(remedy.reached))
                button.clicked.connect(lambda _=False, r=remedy: self.remedy_chosen.emit(r))
                self.remedies[remedy.text] = button
                row = QWidget()
                in_row(button, (_quiet(remedy.reached), 1), on=row, margins=0, spacing=GRID)
                self._helps.addWidget(row)

    def _fill(self, lines: Sequence[CheckLine]) -> None:
        emptied(self._lines)
        for old in self.rows:
            # At once: what it said may belong to the house.
            old.setParent(None)
        self.rows = [LineRow(line) for line in lines]
        for row in self.rows:
            row.cells_asked.connect(self.cells_asked)
            self._lines.addWidget(row)
        self._sum_up(lines)

    def _sum_up(self, lines: Sequence[CheckLine]) -> None:
        self._sum.removeWidget(self.fold)
        emptied(self._sum)
        all_passed = all(line.state == "passed" for line in lines)
        self._folding = bool(self._folded and lines and self._may_fold) and all_passed
        self.fold.setVisible(self._folding)
        if self._folding:
            self._sum.addWidget(LineRow(CheckLine("passed", self._folded)), 1)
            self._sum.addWidget(self.fold)
        self._unfold(self.fold.isChecked())

    def _unfold(self, open_: bool) -> None:
        self.fold.setText(told(say("Hide") if open_ else say("Show")))
        group = told(self.group.title)
        self.fold.setAccessibleName(
            told(
                say("Hide the lines of {group}", group)
                if open_
                else say("Show the lines of {group}", group)
            )
        )
        for row in self.rows:
            row.setVisible(open_ or not self._folding)

    def _repaint(self) -> None:
        self._fill(self.group.lines)


def _quiet(text: str) -> Label:
    label = Label(text, wordWrap=True, role="quiet")
    return label


class Banner(QFrame):
    """The verdict *is* the page's sentence; nothing else on it is large."""

    def __init__(self) -> None:
        super().__init__()
        self.line = CheckLine("told", "")
        self._shown: tuple[CheckLine, str, str] | None = None
        self.mark = Label()
        self.text = Label(wordWrap=True, role="heading", name=say("The verdict"))
        self.rest = Label(wordWrap=True, name=say("What is to be said beside it"))
        self.below = Label(wordWrap=True, role="quiet", name=say("What readers work out"))
        self.ways = Label(wordWrap=True, role="quiet", name=say("How it is computed"))
        for label in (self.text, self.rest, self.below, self.ways):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.word = Label(role="section", name=say("State of the release"))
        self.word.setObjectName("word")
        self.word.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.how = push_button(say("How is this computed?"), flat=True)
        self.how.setCheckable(True)
        self.how.toggled.connect(self._unfold)
        top, side = Qt.AlignmentFlag.AlignTop, QWidget()
        in_column(self.word, self.how, on=side, margins=0, spacing=GRID)
        in_row(
            (self.mark, 0, top),
            (in_column(self.text, self.rest, self.below, self.ways, spacing=4), 1),
            (side, 0, top),
            on=self,
            margins=(2 * GRID + EDGE, GRID + 4, 2 * GRID, GRID + 4),
            spacing=2 * GRID,
        )
        THEME.follow(self, Banner._paint)

    def show_line(self, line: CheckLine, *, below: str = "", ways: str = "") -> None:
        """Show a verdict in its parts, ``below`` it what its number means, on request its ways."""
        # A style sheet is dear: who types beside it does not wait for the same words again.
        if self._shown == (line, below, ways):
            return
        self._shown = line, below, ways
        self.line = line
        self.text.setText(told(spaced(line.finding or line.text)))
        self.rest.setText(told(spaced(line.rest)))
        self.rest.setVisible(bool(line.rest))
        self.below.setText(told(spaced(below)))
        self.below.setVisible(bool(below))
        self.ways.setText(told(spaced(ways)))
        self.how.setVisible(bool(ways))
        self._unfold(self.how.isChecked())
        self.word.setText(told(line.word).upper())
        self.word.setVisible(bool(line.word))
        self.setAccessibleName(told(line.text))
        self._paint()

    def _unfold(self, open_: bool) -> None:
        self.ways.setVisible(open_ and bool(self.ways.text()))

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
            f" border-left: {EDGE}px solid {edge}; border-radius: 6px; }}"
            f"Banner QLabel {{ color: {c.text}; }}"
            f"Banner QLabel#word {{ background: {ink}; color: {ground}; border-radius: 3px;"
            " padding: 1px 8px; }"
        )


def groups_of(project: Project, bundle: Bundle | None, *, house: bool) -> list[CheckGroup]:
    """The groups, once the bundle is made; outside the house what its reader can check."""
    if bundle is None:
        return []
    groups = [bundle_files(bundle.checks)]
    done = project.protected
    if not house or done is None or bundle.summary is None:
        return groups
    return [protection(done, bundle.summary, done.record.verdict), honesty(done), *groups]
