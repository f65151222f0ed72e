"""The register of releases: what left, when, by whom, and what of it bears on the open table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QRegion, QShowEvent
from PySide6.QtWidgets import QFormLayout, QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from tabprotect.engine import agency
from tabprotect.engine.agency import register_address
from tabprotect.engine.errors import InputError, RefusedError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.register.people.reading_together import marks
from tabprotect.engine.register.register_chain import Damage
from tabprotect.engine.register.register_entry import (
    RELATIONS,
    RegisterEntry,
    Relation,
    numbers_said,
    related,
)
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.exporter import Exporter
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.look.buttons import card, connected, named, push_button
from tabprotect.gui.look.empty import Empty
from tabprotect.gui.look.file_dialogs import ask_folder, ask_place
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_column, in_row, set_visible
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import AnyIndex, ListColumn, RowList
from tabprotect.gui.look.theme import GRID, colour, count_text, inked
from tabprotect.gui.pages.stages import REGISTER
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.register.read_all import AllRead, ReadTogether

MOST_DAMAGES = 3
"""Damages that are named one by one."""


class RegisterPage(Page):
    """The page of the register: what left this house."""

    stage = REGISTER

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._all: list[ListedRelease] = []
        self._reading: BackgroundTask[tuple[list[ListedRelease], tuple[Damage, ...]]] = BackgroundTask(
            self, document.jobs, self._read, self.show_error
        )
        self._reading.outlives = True
        self._exporter = Exporter(self)
        self._writing: BackgroundTask[str] = BackgroundTask(
            self, document.jobs, self._written, self.show_error
        )
        self._writing.outlives = True
        self.search = connected(Finder(message("Find releases")), textChanged=self._sift)
        self.tools.addWidget(self.search)
        self.rows: list[ListedRelease] = []
        self.damaged = Label(wordWrap=True, role="warning")
        self.damaged.hide()
        self.body.addWidget(self.damaged)
        self.list = connected(
            RowList(message("Releases"), sortable=False, compact=True), chosen=lambda _: self._show_one()
        )
        self.empty = Empty(
            message("Here stand all releases, with who signed them and what they have in common."),
            message("Go to the release"),
            lambda: document.page_asked.emit("table" if document.project is not None else "start"),
        )
        self.line = TimeLine(self.list)
        self.list.setItemDelegate(self.line)
        self._together: BackgroundTask[AllRead] = BackgroundTask(
            self, document.jobs, self._show_together, self._failed, stopped=self._show_together
        )
        self._together.outlives = True
        self.said = Label(wordWrap=True, selectable=True)
        self.said.hide()
        filled(self.body, self.said, (self.list, 2), (self.empty, 2), self._one())
        self._note = Label(wordWrap=True, role="quiet")
        self.footer.addWidget(self._note, 1)
        self.new = push_button(
            message("New register\u2026"), self._ask_new, tip=message("An empty one, beside the one shown.")
        )
        self.another_key = push_button(
            message("Another key\u2026"),
            self.ask_another_key,
            tip=message("Another key of the house; the register is marked again."),
        )
        self.all_button = push_button(
            message("Read all together"),
            self.read_together,
            tip=message("What a reader of everything that has left would know, by people and variables."),
        )
        filled(self.footer, self.all_button, self.new, self.another_key)

    def read_together(self) -> None:
        """Read all that has left together; a second click stops it."""
        if self._together.running:
            self._together.cancel()
            return
        self.errors.clear()

        def work(progress: Progress) -> AllRead:
            from tabprotect.engine.register.read_all import read_all

            return read_all(progress=progress)

        self._together.ask(message("reading all releases together"), work)
        self.all_button.setText(tr("Stop reading"))

    def _failed(self, error: TabprotectError) -> None:
        self._show_together()
        self.show_error(error)

    def _show_together(self, found: AllRead | None = None) -> None:
        self.all_button.setText(tr("Read all together"))
        shown = found is not None and not self.document.public
        self.said.setVisible(shown)
        self.said.setText(translate(found.sentence) if found is not None and shown else "")
        self.line.groups = (*found.groups, *found.parts) if found is not None and shown else ()
        self._fill()

    def _one(self) -> QWidget:
        """The chosen release: what is kept of it, and withdrawing it."""
        self._facts = QFormLayout(verticalSpacing=2, horizontalSpacing=2 * GRID)
        self.reason = named(
            QLineEdit(placeholderText=tr("why it is withdrawn")),
            message("Reason for withdrawing"),
            textChanged=lambda _: self._enable(),
        )
        self.withdraw = push_button(
            message("Withdraw"),
            self._withdraw,
            tip=message("What was read stays known: it still counts in every check."),
        )
        self.save = push_button(message("Save its bundle\u2026"), self._ask_save)
        row = in_row(self.save, 1, (self.reason, 2), self.withdraw, spacing=GRID)
        self.card = card(
            in_column(self._facts, row, margins=(GRID + 4, GRID, GRID + 4, GRID)),
            message("The chosen release"),
        )
        return self.card

    def shows_original(self) -> bool:
        """All of the register is the house's own."""
        return not self.document.public

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"show": lambda: None}

    # -- what is shown ------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Another window, or somebody else's, may have published meanwhile.
        self._ask()

    def refresh(self, changes: PageChanges) -> None:
        if self.document.public:
            self._reading.drop()
            self._together.drop()
            self._show_together()
            self._all = []
            self._fill()
            self.set_sentence(message("The register is for staff only: it is not shown in public view."))
        elif changes & {"table", "release", "view", "everything"}:
            self._ask()

    def _ask(self) -> None:
        project = self.document.project
        if self.document.public:
            return
        if register_address() is None:
            self.set_sentence(message("There is no register: the environment says that there is none."))
            return
        self._reading.ask(message("reading the register"), lambda progress: _rows(project))

    def _read(self, found: tuple[list[ListedRelease], tuple[Damage, ...]]) -> None:
        rows, damaged = found
        self._all = rows
        gone = sum(row.entry.withdrawn is not None for row in rows)
        mine = sum(row.relation in ("original", "renamed", "records") for row in rows)
        if not rows:
            self.set_sentence(message("Nothing was published yet. Each release is entered when it leaves."))
        else:
            said = (
                message("1 release was")
                if len(rows) == 1
                else message("{rows} releases were", count_text(len(rows)))
            )
            bears = message("; {mine} of this very table or its records", count_text(mine)) if mine else ""
            withdrawn = message("; {gone} withdrawn", count_text(gone)) if gone else ""
            self.set_sentence(message("{said} published{bears}{withdrawn}.", said, bears, withdrawn))
        self.damaged.setVisible(bool(damaged))
        lines = [one.message for one in damaged[:MOST_DAMAGES]]
        if len(damaged) > MOST_DAMAGES:
            lines.append(message("and {n} more", len(damaged) - MOST_DAMAGES))
        self.damaged.setText(translate(message("Damaged: {what}.", joined(lines, "; "))))
        self._fill()

    def _fill(self) -> None:
        before = None if self.current is None else self.current.entry.number
        staff = not self.document.public
        self.empty.setVisible(staff and not self._all)
        set_visible(staff and bool(self._all), self.list, self.search, self.all_button)
        self.rows = self._all
        numbers = [row.entry.number for row in self.rows]
        kept = numbers.index(before) if before in numbers else None
        self.line.entries = [row.entry for row in self.rows]
        self.list.show_rows(columns(self.rows, self.line.groups), stretch=(2,), current=kept)
        self._show_one()

    def _sift(self, words: str) -> None:
        self.list.sift(words)
        self._show_one()

    @property
    def current(self) -> ListedRelease | None:
        """The chosen release."""
        at = self.list.current
        return None if at is None else self.rows[at]

    def _show_one(self) -> None:
        if self.current is None and len(shown := self.list.rows.rows):
            self.list.set_current(int(shown[0]))
        row = self.current
        while self._facts.rowCount():
            self._facts.removeRow(0)
        self.card.setVisible(row is not None)
        for name, text in [] if row is None else details(row, self.line.groups):
            value = Label(text, wordWrap=True, selectable=True, name=name)
            self._facts.addRow(Label(name, role="quiet"), value)
        self._enable()

    def _enable(self) -> None:
        row = self.current
        set_visible(row is not None and row.entry.withdrawn is None, self.reason, self.withdraw)
        self.withdraw.setEnabled(bool(self.reason.text().strip()))

    # -- what happens -------------------------------------------------------------------------

    def _withdraw(self) -> None:
        row, reason = self.current, self.reason.text().strip()
        if row is None or not reason:
            return
        number = row.entry.number

        def work(progress: Progress) -> str:
            from tabprotect.engine.register.register import Register

            with Register(_place()) as register:
                register.withdraw(number, reason)
            return message("Release {number} is noted as withdrawn. What was read stays known.", number)

        self._writing.ask(message("withdrawing a release"), work)

    def _ask_save(self) -> None:
        if (row := self.current) is None:
            return
        place = Path(self.document.preferences.public_folder or "") / f"release-{row.entry.number}.zip"
        self._exporter.ask(place, partial(self.save_to, row), confidential=False)

    def save_to(self, row: ListedRelease, path: Path, *, overwrite: bool = False) -> None:
        """Write the bundle of a release, as it left."""

        def content(progress: Progress) -> bytes:
            from tabprotect.engine.register.register import Register

            with Register(_place()) as register:
                kept = register.content(row.entry, progress)
            if kept is None:
                raise InputError(
                    message("the register does not keep the bytes of release {number}", row.entry.number),
                    hint=message(
                        "large bundles are not kept, and the figures of a page come out otherwise by another "
                        "processor or version: take it from where it was published"
                    ),
                )
            return kept

        self._exporter.write("bundle", path, content, confidential=False, overwrite=overwrite)

    def _ask_new(self) -> None:
        filters = message("Register (*.sqlite);;All files (*)")
        title = message("New register")
        ask_place(self, title, "register.sqlite", filters, self.make_new, confirm=False)

    def make_new(self, place: str) -> None:
        """Make a register."""

        def work(progress: Progress) -> str:
            from tabprotect.engine.register.register import new_register

            made = new_register(place)
            return message(
                "Made: {name}. It belongs to the key of mark {mark}; {REGISTER} names it.",
                Path(place).name,
                made.mark,
                agency.REGISTER,
            )

        self._writing.ask(message("making a register"), work)

    def ask_another_key(self) -> None:
        """Ask whether the house is to have another key, and where originals lie."""
        self.errors.show_error(
            RefusedError(
                message(
                    "with another key of the house the same table gets other coins, and only what "
                    "the house still has the original of is found again"
                ),
                hint=message("the dossiers that the register names are looked into, and a folder"),
            ),
            asking=True,
            remedy_label=message("Make another key"),
            remedy=self.rotate,
            other_label=message("With a folder of originals\u2026"),
            other=lambda: ask_folder(
                self, message("Originals"), "", lambda folder: self.rotate([Path(folder)])
            ),
        )

    def rotate(self, sources: Sequence[Path] = ()) -> None:
        """Make another key of the house, and mark the register again."""
        self.errors.clear()

        def work(progress: Progress) -> str:
            from tabprotect.engine.project.releasing.rotating import rotate

            done = rotate(None, sources, progress)
            lost = ", ".join(map(str, done.unmarked))
            return message(
                "Another key of the house, of mark {mark}; marked again: {n} of {total} releases{lost}.",
                done.mark,
                len(done.marked),
                len(done.marked) + len(done.unmarked),
                message("; not found again: {lost}", lost) if lost else "",
            )

        self._writing.ask(message("making another key of the house"), work)

    def _written(self, said: str) -> None:
        self.reason.clear()
        self._note.setText(translate(said))
        self.document.judging.again()
        self._ask()


def _place() -> str:
    if (place := register_address()) is None:
        raise InputError(
            message("there is no register"), hint=message("the environment says that there is none")
        )
    return place


def _rows(project: Project | None) -> tuple[list[ListedRelease], tuple[Damage, ...]]:
    """The releases, the latest first, how each bears on the open table; and what is damaged."""
    # The library behind the register comes with the first look into it.
    from tabprotect.engine.register.register import Register

    with Register(_place()) as register:
        contents = register.contents()
    entries = contents.entries
    table = None if project is None else project.table
    bears = {}
    if project is not None and table is not None and entries:
        bears = {
            earlier.entry.number: earlier.relation
            for earlier in related(marks(project.problem), entries)
            if earlier.is_told
        }
    rows = [ListedRelease(entry, bears.get(entry.number)) for entry in reversed(entries)]
    return rows, contents.damaged


HEADS = (
    "No.",
    message("Published"),
    message("Title"),
    message("Method"),
    message("Who"),
    message("This table"),
    message("State"),
)

BEARS: dict[Relation, str] = {
    "original": message("the same original"),
    "renamed": message("the same counts, other names"),
    "records": message("the same records"),
    "variables": message("the same people may be counted"),
}
"""The relation of a release to the open table, for a column."""

assert BEARS.keys() == RELATIONS.keys()


@dataclass(frozen=True)
class ListedRelease:
    """A release, and how it bears on the table that is open."""

    entry: RegisterEntry
    relation: Relation | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The cells of the row."""
        of = self.entry.publication
        return (
            str(self.entry.number),
            self.entry.day,
            of.title or "untitled",
            of.method_label,
            of.who,
            "" if self.relation is None else BEARS[self.relation],
            "withdrawn" if self.entry.withdrawn is not None else _gate(of.gate),
        )


def _gate(gate: Any) -> str:
    stated = gate.get("gate")
    if not isinstance(stated, dict):
        return message("no verdict")
    if (passed := stated.get("passed")) is None:
        return message("one question open")
    return message("within the limits") if passed else message("beyond the limits, by decision")


def details(row: ListedRelease, groups: Sequence[ReadTogether] = ()) -> list[tuple[str, str]]:
    """Name and value of all that the register keeps of a release, and with what it was read, and why."""
    entry, of = row.entry, row.entry.publication
    out = [
        (
            message("Published"),
            message("{time:%Y-%m-%d %H:%M} UTC, {value}", entry.time, of.who or message("nobody named")),
        ),
        (message("Title"), of.title or "untitled"),
        (message("Method"), of.method_label),
        (message("Gate"), _gate(of.gate)),
        (message("Check number"), of.bundle),
    ]
    out += [(message("Decision"), text) for text in of.decisions]
    for group in groups:
        if entry.number in group.numbers:
            alone = len(group.numbers) < 2
            name = message("What a reader would know") if alone else message("Read together")
            out.append((name, group.said if alone else message("{why}: {said}", _why(group), group.said)))
    if (day := entry.withdrawn) is not None:
        out.append(
            (
                message("Withdrawn"),
                message("{day:%Y-%m-%d %H:%M} UTC: {withdrawn_reason}", day, entry.withdrawn_reason),
            )
        )
    return out


def _why(group: ReadTogether) -> str:
    """Say why releases are read together."""
    numbers = numbers_said(group.numbers)
    return (
        message("No. {numbers}, perhaps a whole and its parts", numbers)
        if group.what == "parts"
        else message("No. {numbers}, tables of the same people", numbers)
    )


def columns(rows: Sequence[ListedRelease], groups: Sequence[ReadTogether] = ()) -> list[ListColumn]:
    """The releases for a list; with what each was read together, once that was asked."""
    every = [*HEADS, message("Read together")] if groups else HEADS
    texts = [
        (
            *row.texts,
            "  " * len(groups) + joined((_why(g) for g in groups if row.entry.number == g.numbers[-1]), "; "),
        )
        for row in rows
    ]
    return [
        ListColumn(head, [row[at] for row in texts], translate, right=False) for at, head in enumerate(every)
    ]


STEP = GRID
"""Pixels between two brackets."""


class TimeLine(QStyledItemDelegate):
    """Releases as points on a line in time, with brackets around those that are read together."""

    def __init__(self, view: RowList) -> None:
        super().__init__(view)
        self._view = view
        self.entries: Sequence[RegisterEntry] = ()
        self.groups: Sequence[ReadTogether] = ()

    def initStyleOption(self, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        super().initStyleOption(option, index)
        if not index.column():
            option.displayAlignment = Qt.AlignmentFlag.AlignCenter

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        shown = [self.entries[row] for row in self._view.rows.rows]
        at, area, middle = index.row(), QRectF(option.rect), QRectF(option.rect).center()

        def line(ink: str, x: float, first: int, last: int) -> None:
            inked(painter, QPen(colour(ink), 2))
            top, bottom = (
                (middle.y() if at == first else area.top()),
                (middle.y() if at == last else area.bottom()),
            )
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))

        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        super().paint(painter, option, index)
        if not index.column():
            point = QRectF(0, 0, area.height() - 6, area.height() - 6)
            point.moveCenter(middle)
            # Not through the number.
            painter.setClipRegion(QRegion(option.rect) - QRegion(point.toRect(), QRegion.RegionType.Ellipse))
            line("border", middle.x(), 0, len(shown) - 1)
            painter.setClipping(False)
            inked(painter, QPen(colour("quiet" if shown[at].withdrawn else "released"), 1.5))
            painter.drawEllipse(point)
        for number, group in enumerate(self.groups if index.column() == len(HEADS) else ()):
            held = [row for row, entry in enumerate(shown) if entry.number in group.numbers]
            if held and held[0] <= at <= held[-1] > held[0]:
                x = area.left() + (number + 1) * STEP
                line("accent", x, held[0], held[-1])
                if at in held:
                    painter.drawLine(QPointF(area.left(), middle.y()), QPointF(x, middle.y()))
        painter.restore()
