"""The start page: examples, recent files, open, tabulate, and what a crash left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
)

from tabprotect.engine.project.examples import Example, examples
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.look.buttons import Inside, emptied, push_button, scrolling
from tabprotect.gui.look.choice_card import ChoiceCard
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell, told

WAYS, ABREAST = 4, 3
"""Ways to begin, and examples, that stand side by side."""

WIDE = 130 * GRID
"""Pixels that the page is wide at most: longer lines are not read."""


class Card(ChoiceCard):
    """A way to begin: a title, a sentence, a picture."""

    def __init__(self, title: str, text: str, *, icon: str, foot: str = "") -> None:
        super().__init__(title, text)
        self._icon = icon
        self._picture = Label()
        heading = Label(title, wordWrap=True, role="title" if foot else "section")
        words = Label(text, wordWrap=True, role="quiet")
        column = in_column(on=self, margins=2 * GRID, spacing=GRID)
        row = in_row(self._picture, (heading, 1), spacing=GRID)
        column.addLayout(row)
        column.addWidget(words)
        column.addStretch(1)
        if foot:
            column.addWidget(Label(foot, role="link"))
        self.repaint_picture()

    def repaint_picture(self) -> None:
        """In the colours of the theme in force."""
        self._picture.setPixmap(icons.pixmap(self._icon, 22))


class StartPage(Page):
    """What to begin with."""

    name = "start"
    label = say("Start")
    icon = "start"
    hint = say("Open something.")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.set_heading(say("What would you like to publish?"))
        self.set_sentence(
            say(
                "See which counts are small, choose what must stay true, and publish only what a "
                "reader may learn. Files can be dropped anywhere on this window."
            )
        )
        inner = Inside()
        inner.setMaximumWidth(WIDE)
        self._column = in_column(on=inner, margins=(0, 0, GRID, 0), spacing=2 * GRID)
        scroll = scrolling()
        scroll.setAccessibleName(tell("Ways to begin"))
        # Tab goes to what is in it, and brings that into sight.
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inner)
        self.body.addWidget(scroll)
        self._offers = QVBoxLayout()
        self._column.addLayout(self._offers)
        self._cards: list[Card] = []
        self._column.addLayout(self._ways())
        self._recent_title = self._section(say("Recent"))
        self._recent = in_column(spacing=0)
        self._column.addWidget(self._recent_title)
        self._column.addLayout(self._recent)
        self._column.addWidget(self._section(say("Examples")))
        self._column.addLayout(self._grid([self._example(e) for e in examples()], ABREAST))
        self._column.addStretch(1)
        self._recent_title.hide()
        document.work_found.connect(self._offer_recovery)

    @classmethod
    def why_not(cls, document: Document) -> str:
        return ""

    def shows_original(self) -> bool:
        return False

    def refresh(self, changes: PageChanges) -> None:
        if "theme" in changes:
            for card in self._cards:
                card.repaint_picture()
        self._list_recent()

    def _offer_recovery(
        self, text: str, recover: Callable[[], object] | None, discard: Callable[[], object]
    ) -> None:
        """Offer what a killed program left behind; what cannot be recovered can be removed."""
        frame = QFrame()
        dress(frame, "card")
        heading = say("An unfinished file") if recover is None else say("Recover unsaved work")
        frame.setAccessibleName(told(heading))
        title = Label(heading, role="section")
        row = QHBoxLayout(frame)
        words = in_column(title, Label(text, wordWrap=True))
        row.addLayout(words, 1)
        remove = say("Remove") if recover is None else say("Discard")
        offered = ((remove, discard), *(() if recover is None else ((say("Recover"), recover),)))
        for label, run in offered:
            button = push_button(label, name=say("{label}: {text}", label, text))
            if run is recover:
                dress(button, "main")
            button.clicked.connect(frame.hide)
            button.clicked.connect(lambda _=False, r=run: r())
            row.addWidget(button)
        self._offers.addWidget(frame)

    def _ways(self) -> QGridLayout:
        ways = (
            (
                *(say("Open a table"), "open", self._ask_open, say("Open\u2026")),
                say("Counts as CSV, Excel, PX, SAS, SPSS, JSON-stat, SDMX or a project."),
            ),
            (
                *(
                    say("Count records"),
                    "microdata",
                    self._ask_tabulate,
                    say("Choose a file\u2026"),
                ),
                say(
                    "One row per person or firm, in a file, a folder or a database: tick the variables."
                ),
            ),
            (
                *(
                    say("Same as last year"),
                    "recipe",
                    self.document.recipe_asked.emit,
                    say("Choose a recipe\u2026"),
                ),
                say("Run a saved recipe on the new file. New and missing codes are asked about."),
            ),
            (
                *(say("Read a release"), "open-eye", self._ask_attack, say("Choose files\u2026")),
                say("Somebody's release or any published tables: what can be learned from them?"),
            ),
        )
        cards = []
        for title, icon, ask, foot, text in ways:
            card = self._card(title, text, icon=icon, foot=foot)
            card.chosen.connect(ask)
            cards.append(card)
        return self._grid(cards, WAYS)

    def _ask_attack(self) -> None:
        self.document.page_asked.emit("attack")

    def _ask_open(self) -> None:
        self.document.open_asked.emit("")

    def _ask_tabulate(self) -> None:
        self.document.records_asked.emit()

    def _example(self, example: Example) -> Card:
        card = self._card(
            say(example.title),
            say(example.description),
            icon="microdata" if example.microdata else "table",
        )
        # What the command line calls it.
        card.setToolTip(told(f"example:{example.name}"))
        card.chosen.connect(lambda: self.document.open_asked.emit(f"example:{example.name}"))
        return card

    def _card(self, title: str, text: str, *, icon: str, foot: str = "") -> Card:
        card = Card(title, text, icon=icon, foot=foot)
        self._cards.append(card)
        return card

    @staticmethod
    def _grid(cards: list[Card], across: int) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(2 * GRID)
        for number, card in enumerate(cards):
            grid.addWidget(card, number // across, number % across)
        for column in range(across):
            grid.setColumnStretch(column, 1)
        return grid

    @staticmethod
    def _section(text: str) -> QLabel:
        label = Label(text, role="section")
        return label

    def _list_recent(self) -> None:
        emptied(self._recent)
        recent = self.document.recent()
        self._recent_title.setVisible(bool(recent))
        for path in recent:
            place = Path(path)
            button = QPushButton(icons.icon("table"), f"{place.stem}     {place.name}")
            button.setToolTip(tip(path))
            button.setFlat(True)
            button.setIconSize(QSize(16, 16))
            button.setStyleSheet("text-align: left; padding: 4px;")
            button.setAccessibleName(tell("Open {path}", path))
            button.clicked.connect(lambda _=False, p=path: self.document.open_asked.emit(p))
            self._recent.addWidget(button)
