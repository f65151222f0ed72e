"""The start page: examples, recent files, open, tabulate, and what a crash left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QDate, QLocale, QSize, Qt
from PySide6.QtWidgets import QGridLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from tabprotect.engine.project.examples import Example, examples
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.recent_files import RecentFile
from tabprotect.gui.base.stage import Stage
from tabprotect.gui.look.buttons import Inside, Scrolling, card, connected, emptied, named, push_button
from tabprotect.gui.look.choice_card import ChoiceCard
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import ElidedLabel, Label, heading, tip
from tabprotect.gui.look.layouts import filled, held, in_column, in_grid, in_row, set_visible
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import language, tr

ABREAST = 4
"""Examples that stand side by side."""

WIDE = 144 * GRID
"""Pixels that the page is wide at most: longer lines are not read."""

FIRST = ("duncan-roehrig-4x4", "sparse-10x10", "social-assistance", "fictitious-businesses")
"""Examples that one learns most from."""

SOME = 5
"""Recent files that are listed before somebody asks for all of them."""

PARTS = (18, 7, 8, 12, 7)
"""Shares of a row that title, shape, state, file and day have."""


class Card(ChoiceCard):
    """A way to begin: a picture, a title, a sentence, and a button that says what happens."""

    def __init__(self, title: str, text: str, *, icon: str, foot: str, filled: bool) -> None:
        super().__init__(title, text)
        self._icon = icon
        self._picture = Label()
        face = Label(foot, role="filled button" if filled else "button")
        in_column(
            in_row(self._picture, (Label(title, wordWrap=True, role="title"), 1), spacing=GRID),
            Label(text, wordWrap=True, role="quiet"),
            1,
            in_row(face, 1),
            on=self,
            margins=2 * GRID,
            spacing=GRID,
        )
        self.repaint_picture()

    def repaint_picture(self) -> None:
        """Paint it in the colours of the theme in force."""
        self._picture.setPixmap(icons.pixmap(self._icon, 20))


class ExampleCard(ChoiceCard):
    """An example: its title, how large it is, and what one learns from it."""

    def __init__(self, example: Example) -> None:
        super().__init__(message(example.title), message(example.description))
        in_column(
            Label(message(example.title), wordWrap=True, role="section"),
            Label(message(example.size), wordWrap=True, role="quiet"),
            1,
            on=self,
            margins=(12, GRID, 12, GRID),
            spacing=2,
        )


class RecentRow(ChoiceCard):
    """A recent file: its title, its shape, whether it has left, its name, and when it was open."""

    def __init__(self, recent: RecentFile) -> None:
        place = Path(recent.path)
        title = recent.title or place.stem
        super().__init__(message("Open {path}", recent.path), title)
        dress(self, "row")
        shape = joined(map(count_text, recent.shape), " \u00d7 ")
        state, role = _state(recent)
        parts = [ElidedLabel(title, role="section"), ElidedLabel(shape, role="quiet")]
        parts += [ElidedLabel(state, role=role), ElidedLabel(place.name, role="quiet")]
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        day = Label(day_text(recent.opened), role="quiet", alignment=side)
        self._picture = Label()
        self._icon = KINDS.get(place.suffix.lower(), "table")
        row = in_row(self._picture, on=self, margins=(GRID, 0, GRID, 0), spacing=2 * GRID)
        for part, share in zip((*parts, day), PARTS, strict=True):
            # Each row has the same columns, whatever is written in them.
            part.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            row.addWidget(part, share)
        self.setToolTip(tip(recent.path))
        self.repaint_picture()

    def sizeHint(self) -> QSize:
        return QSize(0, round(28 * THEME.scale))

    def repaint_picture(self) -> None:
        """Paint it in the colours of the theme in force."""
        self._picture.setPixmap(icons.pixmap(self._icon, 16))


KINDS = {".zip": "open-eye", ".toml": "recipe"}
"""Pictures of files that are no tables."""


def _state(recent: RecentFile) -> tuple[str, str]:
    """Tell whether it has left, and the role of the words."""
    if (kind := Path(recent.path).suffix.lower()) == ".zip":
        return message("a release"), "quiet"
    if kind == ".toml":
        return message("a recipe"), "quiet"
    if not recent.shape:
        return "", "quiet"
    return (message("released"), "released") if recent.released else (message("not released yet"), "")


def _take_width(inner: QWidget) -> None:
    inner.setMaximumWidth(round(WIDE * THEME.scale))


def day_text(seconds: float) -> str:
    """A day for people, near ones by their names; empty for 0."""
    if not seconds:
        return ""
    when = datetime.fromtimestamp(seconds)
    if (days := (datetime.now().date() - when.date()).days) == 0:
        return message("today {hour:02d}:{minute:02d}", hour=when.hour, minute=when.minute)
    if days == 1:
        return message("yesterday")
    return QLocale(language()).toString(QDate(when.year, when.month, when.day), "d MMM yyyy")


class StartPage(Page):
    """The start page: examples, recent files, ways to begin."""

    stage = Stage(
        name="start",
        page_class="start.StartPage",
        label=message("Start"),
        icon="start",
        hint=message("Open something."),
    )

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.set_heading(message("What would you like to publish?"))
        # Without a line that says where one is.
        if (whole := self.layout()) is not None:
            whole.setContentsMargins(0, 2 * GRID, 0, GRID)
        inner = Inside()
        THEME.follow(inner, _take_width)
        _take_width(inner)
        self._column = in_column(on=inner, margins=(0, 0, GRID, 0), spacing=3 * GRID)
        # Tab goes to what is in it, and brings that into sight.
        scroll = named(Scrolling(inner), message("Ways to begin"), focus=Qt.FocusPolicy.NoFocus)
        self.body.addWidget(scroll)
        self._offers = QVBoxLayout()
        self._cards: list[Card] = []
        ways = self._ways()
        filled(self._column, self._offers, self._grid(ways, len(ways)))
        self._listed: list[RecentRow] = []
        self._all_recent = self._unfolding(lambda: self._list_recent())
        self._recent = in_column(spacing=0, margins=(GRID, 4, GRID, 4))
        head = in_row(heading(message("Recent")), 1, self._all_recent)
        self._recent_part = held(in_column(head, card(self._recent), margins=0, spacing=GRID))
        self._column.addWidget(self._recent_part)
        self._all_examples = self._unfolding(self._show_examples)
        found = sorted(examples(), key=lambda e: e.name not in FIRST)
        self._examples = [self._example(e) for e in found]
        about = Label(message("nothing confidential"), role="quiet")
        head = in_row(heading(message("Examples")), about, 1, self._all_examples, spacing=GRID)
        filled(self._column, in_column(head, self._grid(self._examples), spacing=GRID), 1)
        self._recent_part.hide()
        document.work_found.connect(self._offer_recovery)

    def _unfolding(self, show: Callable[[], object]) -> QPushButton:
        """A button that shows all there are, or as few as before."""
        button = push_button("", show, flat=True)
        button.setCheckable(True)
        return button

    def _show_examples(self) -> None:
        """All of them where somebody asks; else the first."""
        few = not self._all_examples.isChecked()
        set_visible(not few, *self._examples[ABREAST:])
        self._all_examples.setText(tr("All {number}", len(self._examples)) if few else tr("Fewer"))

    needs: ClassVar[Mapping[str, str]] = {}

    def shows_original(self) -> bool:
        return False

    def refresh(self, changes: PageChanges) -> None:
        if "theme" in changes:
            for way in self._cards:
                way.repaint_picture()
        self._list_recent()
        self._show_examples()

    def _offer_recovery(
        self, text: str, recover: Callable[[], object] | None, discard: Callable[[], object]
    ) -> None:
        """Offer what a killed program left behind; what cannot be recovered can be removed."""
        what = message("An unfinished file") if recover is None else message("Recover unsaved work")
        row = in_row((in_column(heading(what), Label(text, wordWrap=True)), 1))
        frame = card(row, what)
        remove = message("Remove") if recover is None else message("Discard")
        offered = ((remove, discard), *(() if recover is None else ((message("Recover"), recover),)))
        for label, run in offered:
            button = push_button(label, name=message("{label}: {text}", label, text))
            if run is recover:
                dress(button, "main")
            button.clicked.connect(frame.hide)
            button.clicked.connect(lambda _=False, r=run: r())
            row.addWidget(button)
        self._offers.addWidget(frame)

    def _ways(self) -> list[Card]:
        document = self.document
        ways = (
            (
                *(
                    message("Open a table"),
                    "open",
                    lambda: document.open_asked.emit(""),
                    message("Open\u2026"),
                ),
                message("Counts or amounts: CSV, Excel, PX, SDMX\u2026 or drop the file anywhere."),
            ),
            (
                *(
                    message("Count records"),
                    "microdata",
                    document.records_asked.emit,
                    message("Choose a file\u2026"),
                ),
                message("One row per person or firm: count them, or add up an amount such as turnover."),
            ),
            (
                *(
                    message("Read a release"),
                    "open-eye",
                    lambda: document.page_asked.emit("attack"),
                    message("Choose files\u2026"),
                ),
                message("What can be learned from published tables?"),
            ),
        )
        for number, (title, icon, ask, foot, text) in enumerate(ways):
            way = connected(Card(title, text, icon=icon, foot=foot, filled=not number), chosen=ask)
            self._cards.append(way)
        return self._cards

    def _example(self, example: Example) -> ExampleCard:
        # What the command line calls it.
        return named(
            ExampleCard(example),
            tip=tip(message("{description} (example:{name})", message(example.description), example.name)),
            chosen=lambda: self.document.open_asked.emit(f"example:{example.name}"),
        )

    @staticmethod
    def _grid(cards: Sequence[ChoiceCard], abreast: int = ABREAST) -> QGridLayout:
        grid = in_grid(across=2 * GRID, down=2 * GRID)
        for number, one in enumerate(cards):
            grid.addWidget(one, number // abreast, number % abreast)
        for column in range(abreast):
            grid.setColumnStretch(column, 1)
        return grid

    def _list_recent(self) -> None:
        """Files are the house's own: readers see none."""
        emptied(self._recent)
        recent = [] if self.document.hiding else self.document.recent()
        few = not self._all_recent.isChecked()
        self._listed = [RecentRow(one) for one in (recent[:SOME] if few else recent)]
        for row, one in zip(self._listed, recent, strict=False):
            row.chosen.connect(partial(self.document.open_asked.emit, one.path))
            self._recent.addWidget(row)
        self._all_recent.setVisible(len(recent) > SOME)
        self._all_recent.setText(tr("Show all {number}", len(recent)) if few else tr("Fewer"))
        self._recent_part.setVisible(bool(recent))
