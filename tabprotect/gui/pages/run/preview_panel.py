"""What a method will do to this table, before it happens; refusal and remedies; the method's help page."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QPen
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from tabprotect.engine.errors import InfeasibleError, Suggestion, TabprotectError
from tabprotect.engine.protection.guarantees import GUARANTEES
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.needs import NEEDS
from tabprotect.engine.protection.problem import Preview, Problem
from tabprotect.engine.protection.remedy import OTHERWISE
from tabprotect.engine.release.findings import Finding
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.look.buttons import Scrolling, emptied, named
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, show_text, tip
from tabprotect.gui.look.layouts import filled, in_column, in_grid, in_row, set_visible
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME, chance_text, count_text, moved_text, signed_text
from tabprotect.gui.plots.canvas import Canvas
from tabprotect.gui.plots.plot import Plot
from tabprotect.languages.messages import capital, in_100, joined, message, percent, plural
from tabprotect.languages.translation import tr, translate

MOST_NAMED = 4

CYCLES_ONLY = ("blocked", "immovable")
"""Figures that only a sequence of cycles has."""


class RefusalStrip(QFrame):
    """A strip of why a method is refused, and what to do instead.

    ``remedy_chosen`` carries one of the remedies it was given.
    """

    remedy_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Refused: readers would know too much"))
        self._picture = Label()
        self._reason = Label(wordWrap=True, selectable=True)
        self._open = False
        self._instead = Label(wordWrap=True)
        self.remedies: dict[str, QPushButton] = {}
        self._offers = in_column(spacing=2)
        said = in_column(self._reason, self._instead, self._offers, spacing=GRID // 2)
        in_row(
            (self._picture, 0, Qt.AlignmentFlag.AlignTop),
            (said, 1),
            on=self,
            margins=(12, GRID, 12, GRID),
            spacing=GRID,
        )
        THEME.follow(self, RefusalStrip._take_colours)
        self._take_colours()
        self.hide()

    @property
    def text(self) -> str:
        """The reason shown; empty when nothing is refused."""
        return "" if self.isHidden() else self._reason.text()

    def refuse(self, reason: str, remedies: Sequence[Suggestion], *, open_: bool = False) -> None:
        """Show a refusal; ``open_`` no limit is broken."""
        self.clear()
        self._open = open_
        self._take_colours()
        self._reason.setText(translate(capital(reason).rstrip(".") + "."))
        self.setAccessibleDescription(translate(self._reason.text()))
        for remedy in remedies:
            button = named(
                QPushButton(translate(capital(remedy.text))),
                message("Remedy: {text}", remedy.text),
                about=remedy.reached,
                clicked=lambda _=False, r=remedy: self.remedy_chosen.emit(r),
            )
            self.remedies[remedy.text] = button
            self._offers.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            if remedy.reached:
                self._offers.addWidget(Label(remedy.reached, wordWrap=True))
        self._instead.setText(
            translate(message("Instead:") if remedies else message("Instead, {OTHERWISE}.", OTHERWISE))
        )
        self.show()

    def clear(self) -> None:
        """Take the refusal away, and every word of it."""
        self._reason.clear()
        self.setAccessibleDescription("")
        emptied(self._offers)
        self.remedies = {}
        self.hide()

    def _take_colours(self) -> None:
        c = THEME.colours
        fill, ink = (c.undecided_fill, c.undecided) if self._open else (c.error_fill, c.error)
        self.setStyleSheet(
            f"RefusalStrip {{ background: {fill}; border: 1px solid {ink};"
            f" border-radius: 4px; }} RefusalStrip QLabel {{ color: {c.text}; }}"
        )
        self._picture.setPixmap(icons.pixmap("warning", 20, colour=ink))


class PreviewPanel(Scrolling):
    """The refusal strip, four figures with their words, two plots."""

    def __init__(self) -> None:
        super().__init__(name=message("What will happen"), focus=Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        self.setWidget(inner)
        self._state = Label(wordWrap=True, role="quiet")
        self.refusal = RefusalStrip()
        self.go_mend = QPushButton(tr("Go to Cycles"))
        self._figures: dict[str, QLabel] = {}
        self._words: dict[str, QLabel] = {}
        numbers = in_grid(across=GRID, down=0)
        for at, (name, words) in enumerate(
            (
                ("unchanged", message("stays unchanged")),
                ("deviation", message("average change")),
                ("blocked", message("coins blocked")),
                ("immovable", message("cells cannot move")),
            )
        ):
            value, label = Label(), Label(words, wordWrap=True)
            dress(value, "figure")
            value.setAccessibleName(translate(words))
            dress(label, "quiet")
            numbers.addWidget(value, 0, at)
            numbers.addWidget(label, 1, at, Qt.AlignmentFlag.AlignTop)
            numbers.setColumnStretch(at, 1)
            self._figures[name], self._words[name] = value, label
        self.change = ChangeFigure()
        self._stuck = Label(wordWrap=True, role="quiet")
        self._content = QWidget()
        column = in_column(numbers, on=self._content, margins=0, spacing=GRID)
        self.change.setMaximumHeight(28 * GRID)
        filled(column, (self.change, 1), self._stuck, 0)
        in_column(
            self._state,
            self.refusal,
            (self.go_mend, 0, Qt.AlignmentFlag.AlignLeft),
            (self._content, 1),
            0,
            on=inner,
            margins=(GRID, 2 * GRID, GRID, 0),
            spacing=GRID,
        )
        self.show_state("")

    def figure(self, name: str) -> str:
        """One of the figures as shown: unchanged, deviation, blocked, immovable."""
        return "" if self._content.isHidden() else self._figures[name].text()

    @property
    def state(self) -> str:
        """Say what the panel says instead of figures."""
        return self._state.text()

    def show_state(self, text: str) -> None:
        """Say what is going on; figures that no longer hold are taken away."""
        self.say(text)
        self.refusal.clear()
        set_visible(False, self.go_mend, self._content)
        for value in self._figures.values():
            value.clear()
        self._stuck.clear()
        self.change.show_change({})

    def say(self, text: str) -> None:
        """Say what is going on, beside all that is shown."""
        show_text(self._state, text)

    def show_error(self, error: TabprotectError, *, cycles: bool) -> None:
        """It cannot even be tried; ``cycles``: whether the cycle set may be what is wrong."""
        if isinstance(error, InfeasibleError) and error.suggestions:
            self.show_state("")
            self.refusal.refuse(error.message, error.suggestions)
            return
        said = [capital(part) + "." for part in (error.message, error.hint) if part]
        self.show_state(joined(said, " "))
        self.go_mend.setVisible(cycles)

    def show_preview(self, preview: Preview, domain: Domain, chance: str) -> None:
        """Show the figures, and in words how likely the gate is to let a release through."""
        self.show_state("")
        cycles = len(preview.blocked_by_cycle) > 0
        for name in CYCLES_ONLY:
            set_visible(cycles, self._figures[name], self._words[name])
        self.change.setVisible(bool(preview.change))
        self._figures["unchanged"].setText(translate(chance_text(preview.unchanged_share)))
        self._figures["deviation"].setText(translate(moved_text(preview.mean_absolute_deviation)))
        self._figures["blocked"].setText(translate(percent(preview.blocked_share)))
        self._figures["immovable"].setText(count_text(len(preview.immovable)))
        self.change.show_change(preview.change)
        named = joined(
            (domain.cell_text(domain.unflat(key)) for key in preview.immovable[:MOST_NAMED].tolist()), ", "
        )
        if (more := len(preview.immovable) - MOST_NAMED) > 0:
            named += message(" and {more} more", count_text(more))
        stuck = message("Cannot move: {named}.", named) if named else message("Every positive cell can move.")
        averages = (
            plural(
                preview.judged_cells,
                "Averages over {judged_cells} small count, from {trials}.",
                "Averages over {judged_cells} small counts, from {trials}.",
                count_text(preview.judged_cells),
                trial_runs(preview.runs),
            )
            if preview.at_risk_cells
            else plural(
                preview.judged_cells,
                "Averages over {judged_cells} count above zero, from {trials}.",
                "Averages over {judged_cells} counts above zero, from {trials}.",
                count_text(preview.judged_cells),
                trial_runs(preview.runs),
            )
        )
        often = "" if preview.no_change is None else in_100(preview.no_change)
        same = Finding("no_change", values={"often": often}).text if often else ""
        show_text(self._stuck, joined(filter(None, (same, chance)), " "))
        of = joined(filter(None, (averages, stuck if cycles else "")), " ")
        self._content.setToolTip(translate(tip(of)))
        self._content.show()


TAIL = 5e-4
"""Rarer changes at the ends are left out of the picture."""


def trial_runs(runs: int) -> str:
    """Say how many times a method was tried."""
    return plural(runs, "{n} trial run", "{n} trial runs", count_text(runs))


class ChangeFigure(Plot):
    """Probability of each change of a small cell, with the number over each bar."""

    def __init__(self) -> None:
        super().__init__(message("Distribution of the change of a small cell"))
        self._change: dict[int, float] = {}
        self.setMinimumSize(24 * GRID, 15 * GRID)

    def sizeHint(self) -> QSize:
        return QSize(40 * GRID, 18 * GRID)

    def show_change(self, change: dict[int, float]) -> None:
        """Draw a distribution of published minus original."""
        likely = [v for v, p in change.items() if p >= TAIL]
        span = range(min(likely), max(likely) + 1) if likely else ()
        self._change = {v: change.get(v, 0.0) for v in span}
        self.say(
            joined(
                (message("{v}: {p}", signed_text(v), chance_text(p)) for v, p in self._change.items()), "; "
            )
        )
        self.refresh()

    @property
    def filled(self) -> bool:
        return bool(self._change)

    @property
    def title(self) -> str:
        return message("change of the count (published \u2212 original)")

    def span(self) -> tuple[float, float]:
        # Few changes stay narrow bars.
        middle, reach = (min(self._change) + max(self._change)) / 2, len(self._change) / 2
        return middle - max(reach, 2.5), middle + max(reach, 2.5)

    def arrange(self, canvas: Canvas) -> None:
        values = np.array(list(self._change))
        chances = np.array(list(self._change.values()))
        ticks = [(float(v), signed_text(v)) for v in values.tolist()]
        canvas.axes(float(chances.max()), rows=0, headroom=1.3, ticks=ticks)
        colours = canvas.colours
        inks = [colours.border if v == 0 else colours.plus if v > 0 else colours.minus for v in values]
        brushes = [QBrush(QColor(ink)) for ink in inks]
        canvas.bars(values - 0.38, 0.76, chances, pen=QPen(Qt.PenStyle.NoPen), brush=brushes)
        for value, chance in zip(values.tolist(), chances.tolist(), strict=True):
            text = chance_text(chance)
            if (size := canvas.metrics.horizontalAdvance(text) + 2) <= 1 / canvas.unit[0]:
                left, top = canvas.x(value) - size / 2, canvas.y(chance) - canvas.line - 3
                canvas.label(text, left, top, ink=colours.text)


def method_help(method: Method, problem: Problem | None) -> str:
    """The page as HTML; with a problem, whether it has what is needed."""
    first, *rest = translate(method.help).split("\n\n")
    parts = [
        message("<h3>{label}</h3>", html.escape(method.label)),
        message("<p><b>{first}</b></p>", html.escape(first)),
    ]
    parts += [_paragraph(text) for text in rest]
    if method.guarantees:
        parts.append(message("<h4>What it promises</h4><ul>"))
        parts += [
            message(
                "<li><b>{label}</b>: {sentence}</li>",
                html.escape(translate(GUARANTEES[name].label)),
                html.escape(sentence),
            )
            for name, sentence in method.guarantees.items()
        ]
        parts.append("</ul>")
    if method.needs:
        unmet = {} if problem is None else method.unmet(problem)
        parts.append(message("<h4>What it needs</h4><ul>"))
        for name in method.needs:
            missing = message(": {unmet}", html.escape(unmet[name])) if name in unmet else ""
            mark = "\u2717 " if missing else "\u2713 " if problem is not None else ""
            parts.append(
                message(
                    "<li>{mark}{sentence}{missing}</li>", mark, html.escape(NEEDS[name].sentence), missing
                )
            )
        parts.append("</ul>")
    return joined(parts)


def _paragraph(text: str) -> str:
    """Indented lines are a worked example and keep their columns."""
    if all(line.startswith("    ") for line in text.splitlines()):
        return f"<pre>{html.escape(text)}</pre>"
    return message("<p>{text}</p>", html.escape(text))


def expectation(preview: Preview) -> str:
    """Say what a method will do to this table, for the house."""
    if preview.sentence:
        return preview.sentence
    if not preview.judged_cells:
        return message("No published cell has anybody in it.")
    if not preview.change:
        return (
            message("A small count of the main table is not published.")
            if preview.at_risk_cells
            else message("A count of the main table is not published.")
        )
    moved, trials = moved_text(preview.mean_absolute_deviation), trial_runs(preview.runs)
    if preview.at_risk_cells:
        return message("A small count moves by {moved} on average ({trials}).", moved, trials)
    return message("A count moves by {moved} on average ({trials}).", moved, trials)
