"""The best methods for a table as cards: two figures each, why, what stays true; the others below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import REQUIREMENTS
from tabprotect.gui.look.buttons import Scrolling, emptied, named, push_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import ElidedLabel, Label, heading, tip
from tabprotect.gui.look.layouts import filled, in_column, in_grid, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.pages.protect.words import (
    NONE,
    about,
    change_text,
    helps,
    known_words,
    sentence_of,
    share_text,
    short_of,
    why,
)
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.choosing.method_trials import Ranked

BEST = 3
"""Methods that have a card; the others have a line."""

NAMED, ROOMY = 208, 680
"""Pixels, at normal text, that names of methods have in their lines where these are so wide."""


@dataclass(frozen=True)
class Described:
    """A method on its card.

    Attributes
    ----------
    name
        What it is called.
    title
        Its name with its rank, where there is one.
    figures
        What it does to the table in figures, each with its caption.
    about
        What it does, in a sentence.
    trial
        What :attr:`Cards.chosen` carries.
    current
        Whether it is the project's.
    says
        What is heard of it.
    notes
        More of it, each with its role.
    kept
        What of the wishes it keeps or loses, in words.
    tip
        What is read at the pointer.
    """

    name: str
    title: str
    figures: Sequence[tuple[str, str]]
    about: str
    trial: object
    current: bool
    says: str = ""
    notes: Sequence[tuple[str, str]] = ()
    kept: Sequence[tuple[bool, str]] = ()
    tip: str = ""


class MethodCard(QFrame):
    """One method: its figures, why, what of the wishes it keeps, and the way to its set-up."""

    def __init__(self, method: Described) -> None:
        super().__init__()
        name = translate(method.name)
        dress(self, "card")
        self.setProperty("current", method.current)
        named(self, method.title.replace("  ", ". "), about=method.says, tip=tip(method.tip))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.title = _wrapped(method.title, "section")
        self.title.setAlignment(Qt.AlignmentFlag.AlignTop)
        figures = in_row(spacing=2 * GRID)
        for text, caption in method.figures:
            figures.addLayout(
                in_column(Label(text, role="figure"), _wrapped(caption, "quiet"), 1, spacing=0), 1
            )
        self.choose = push_button(
            message("Chosen: go on") if method.current else message("Choose"),
            name=message("Choose {name}", name),
        )
        in_column(
            *(self.title, figures, _wrapped(method.about)),
            *(_wrapped(text, role) for text, role in method.notes if text),
            *(_kept(said, kept=kept) for kept, said in method.kept),
            1,
            (self.choose, 0, Qt.AlignmentFlag.AlignLeft),
            on=self,
            margins=(2 * GRID, GRID + 4, 2 * GRID, GRID + 4),
            spacing=GRID // 2 + 2,
        )


def ranked_card(rank: int, place: Ranked, asked: Sequence[str], share: float, *, current: bool) -> Described:
    """The card of a method that was tried on a table of counts."""
    trial = place.trial
    name, shown = methods()[trial.method].label, share_text(trial)
    of_known = message("small counts known: not worked out")
    return Described(
        name,
        message("{rank}  {name}", rank, translate(name)),
        (
            (shown, of_known if shown == NONE else message("of small counts known")),
            (change_text(trial), message("average change of a count")),
        ),
        about(trial.method),
        trial,
        current,
        message(
            "{trial} of the small counts would be known, average change {trial2}. {place}",
            shown,
            change_text(trial),
            why(place, asked, share),
        ),
        [(helps(place), "section"), *((said, "") for said in short_of(trial, share))],
        [
            (False, REQUIREMENTS[wish].lost) if wish in place.lost else (True, REQUIREMENTS[wish].kept)
            for wish in asked
        ],
        "" if trial.safe(share) else sentence_of(known_words(trial)),
    )


class MethodLine:
    """One method in a row: its name, two figures, why not, and the way to its set-up.

    Parameters
    ----------
    wraps
        Whether the words take the lines they need: else they are cut.
    """

    def __init__(self, method: str, *, wraps: bool) -> None:
        self.method = method
        self.place: Ranked | None = None
        # Long names break: none pushes the other columns out of sight.
        self.name = _wrapped(methods()[method].label, "strong")
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        self.share, self.change = Label(alignment=right), Label(alignment=right)
        self.words = Label(wordWrap=True) if wraps else ElidedLabel()
        self.choose = push_button(
            message("Choose"), name=message("Choose {text}", self.name.text()), flat=True
        )
        self.parts = (self.name, self.share, self.change, self.words, self.choose)

    def show_place(self, place: Ranked, said: str, *, tried: bool) -> None:
        """Show what was found, and why it is not among the best."""
        self.place, trial = place, place.trial
        found = tried and not trial.fault
        self.share.setText(share_text(trial) if found else "\u2013")
        self.change.setText(change_text(trial) if found else "\u2013")
        said = said if tried else message("Not tried yet.")
        self.words.setText(translate(said))
        more = known_words(trial) if tried and trial.done and trial.left_out else ""
        self.words.setToolTip(tip(joined(filter(None, (said, sentence_of(more))), " ")))
        self.choose.setAccessibleDescription(translate(said))


class Cards(Scrolling):
    """``chosen`` carries the trial whose method is to be set up."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(name=message("Methods, best first"), sideways=False, focus=Qt.FocusPolicy.NoFocus)
        self.cards: list[MethodCard] = []
        self.buttons: dict[str, QPushButton] = {}
        self._lines: dict[str, MethodLine] = {}
        self._coming: list[str] = []
        self._wide = 0
        inner = QWidget()
        self._column = in_column(on=inner, margins=(0, 0, GRID, 0), spacing=2 * GRID)
        self._grid = in_grid(across=2 * GRID, down=2 * GRID)
        self._column.addLayout(self._grid)
        self._title = heading(message("The others"))
        self._column.addWidget(self._title)
        self._others = in_grid(across=2 * GRID, down=2, wide=3)
        filled(self._column, self._others, 1)
        self.setWidget(inner)

    def show_ranked(
        self,
        places: Sequence[Ranked],
        asked: Sequence[str],
        share: float,
        *,
        current: str,
        running: bool = False,
    ) -> None:
        """Show methods from the best to the worst; ``current`` is the project's.

        While trials are ``running`` each has a line in the order of ``places``.
        """
        best = [] if running else _carded([place for place in places if place.trial.done])
        rest = [place for place in places if place not in best]
        if running and self._coming == [place.trial.method for place in rest]:
            # What somebody is about to press stays the same button.
            for place in rest:
                self._fill(place, asked, share, running=running)
            return
        self._coming = [place.trial.method for place in rest] if running else []
        focused = self.show_cards(
            {
                place.trial.method: ranked_card(
                    rank, place, asked, share, current=place.trial.method == current
                )
                for rank, place in enumerate(best, 1)
            }
        )
        self._title.setVisible(bool(rest) and not running)
        if rest:
            heads = ("", message("Known"), message("Change"), "" if running else message("Why not"))
            for column, words in enumerate(heads):
                self._others.addWidget(_wrapped(words, "quiet"), 0, column)
        for row, place in enumerate(rest, 1):
            line = MethodLine(place.trial.method, wraps=not running)
            under = QFrame(frameShape=QFrame.Shape.HLine, frameShadow=QFrame.Shadow.Plain)
            under.setForegroundRole(QPalette.ColorRole.Mid if row == 1 else QPalette.ColorRole.Light)
            self._others.addWidget(under, 2 * row - 1, 0, 1, len(line.parts))
            for column, widget in enumerate(line.parts):
                self._others.addWidget(widget, 2 * row, column)
            line.choose.clicked.connect(partial(self._choose, line))
            self.buttons[line.method] = line.choose
            self._lines[line.method] = line
            self._fill(place, asked, share, running=running)
        if focused in self.buttons:
            self.buttons[focused].setFocus(Qt.FocusReason.OtherFocusReason)

    def show_cards(self, described: Mapping[str, Described]) -> str:
        """Show methods by their names, and nothing else; returns that whose button had the focus."""
        focused = next((name for name, b in self.buttons.items() if b.hasFocus()), "")
        emptied(self._grid)
        emptied(self._others)
        self.cards, self.buttons, self._lines = [], {}, {}
        self._title.hide()
        for name, method in described.items():
            card = MethodCard(method)
            self.buttons[name] = card.choose
            card.choose.clicked.connect(partial(self.chosen.emit, method.trial))
            self.cards.append(card)
        self._wide = 0
        self._arrange()
        if focused in self.buttons:
            self.buttons[focused].setFocus(Qt.FocusReason.OtherFocusReason)
        return focused

    def begin(self) -> None:
        """Have the best method's button take the keyboard."""
        for button in list(self.buttons.values())[:1]:
            button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        self._level()

    def _level(self) -> None:
        """Figures of cards in a row stand at one height, however many lines their titles have.

        Names of the others have a line where there is room for it.
        """
        roomy = self.viewport().width() >= ROOMY * THEME.scale
        self._others.setColumnMinimumWidth(0, round(NAMED * THEME.scale) if roomy else 0)
        titles = [card.title for card in self.cards]
        tall = max((title.heightForWidth(title.width()) for title in titles), default=0)
        for title in titles:
            if title.minimumHeight() != tall:
                title.setMinimumHeight(tall)

    def _arrange(self) -> None:
        """As many cards in a row as fit."""
        if not self.cards:
            return
        gap = self._grid.spacing()
        need = max(card.minimumSizeHint().width() for card in self.cards) + gap
        wide = min(max((self.viewport().width() - GRID + gap) // need, 1), BEST)
        if wide == self._wide:
            return
        self._wide = wide
        for number, card in enumerate(self.cards):
            self._grid.addWidget(card, number // wide, number % wide)
        for column in range(BEST):
            self._grid.setColumnStretch(column, 1 if column < wide else 0)

    def _choose(self, line: MethodLine) -> None:
        if line.place is not None:
            self.chosen.emit(line.place.trial)

    def _fill(self, place: Ranked, asked: Sequence[str], share: float, *, running: bool) -> None:
        """Write what was found into the line of a method."""
        waits = place.trial.waits
        self._lines[place.trial.method].show_place(
            place, joined(filter(None, (why(place, asked, share), helps(place))), " "), tried=not waits
        )


def _carded(done: Sequence[Ranked]) -> list[Ranked]:
    """The best, and the next of which it is worked out what readers would know."""
    rest = sorted(done[1:], key=lambda place: share_text(place.trial) == NONE)
    return [*done[:1], *rest][:BEST]


def _wrapped(text: str, role: str = "") -> Label:
    label = Label(text, wordWrap=True)
    if role:
        dress(label, role)
    return label


def _kept(said: str, *, kept: bool) -> QHBoxLayout:
    """A wish with a tick, or with a cross and what is lost."""
    mark, c = Label(), THEME.colours
    mark.setPixmap(icons.pixmap("tick" if kept else "cross", 16, colour=c.released if kept else c.minus))
    mark.setFixedWidth(2 * GRID)
    heard = message("kept: {said}", said) if kept else message("lost: {said}", said)
    label = named(_wrapped(said, "quiet"), heard)
    return in_row((mark, 0, Qt.AlignmentFlag.AlignTop), (label, 1), spacing=GRID // 2)
