"""The ways to group a variable: by first digits, in bands, by a code list, or by hand; and a preview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QPlainTextEdit, QSpinBox, QWidget

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.groupings.digits import usual_digits
from tabprotect.engine.tables.groupings.squares import squares_of
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.look.buttons import connected, faces, named, push_button
from tabprotect.gui.look.file_dialogs import ask_file
from tabprotect.gui.look.label import ElidedLabel, Label
from tabprotect.gui.look.layouts import held, in_column, in_row, set_enabled
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.variables.category_tree import CategoryTree
from tabprotect.gui.pages.variables.digit_rows import DigitRows
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

WAYS = {
    "digits": message("First digits"),
    "bands": message("Bands"),
    "files": message("Code list"),
    "hand": message("By hand"),
}
"""The ways to group, by name."""

LISTS = message("Code lists (*.hrc *.csv *.tsv *.txt)")

WRITTEN = message("North: 11; 12; 13\nSouth: 21; 22")
"""An example of groups as they are typed."""


class GroupingPanel(QFrame):
    """A panel for what a person says of a grouping; ``changed`` when another one is meant.

    ``asked`` carries the arguments of ``group_categories`` but the variable, ``together`` asks for one
    group of what is selected, ``writing`` for a level as text.
    """

    changed = Signal()
    asked = Signal(dict)
    together = Signal()
    writing = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Group the categories"))
        self.setMinimumWidth(36 * GRID)
        dress(self, "card")
        self.title = ElidedLabel(message("Make a level"), role="section")
        self.faces = faces(WAYS, self._choose)
        for button in self.faces.values():
            # Tab goes to each of them; which one is open is said by turning.
            button.setAutoExclusive(False)
        makers = (self._digits, self._bands, self._files, self._by_hand)
        self.parts = {way: make() for way, make in zip(WAYS, makers, strict=True)}
        self.live = Label(wordWrap=True, name=message("Small counts that the grouping would leave"))
        self.preview = CategoryTree(message("What the categories would be grouped into"), drags=False)
        # Its small counts would be those of the categories, not those of the groups.
        self.preview.setColumnHidden(2, True)
        self.preview.setMinimumHeight(9 * GRID)
        self.name = named(
            QLineEdit(placeholderText=tr("name of the level (optional)")), message("Name of the level")
        )
        self.add_button = push_button(message("Add this level"), self.ask)
        for part in (self.preview, self.name):
            # What is below and beside it stays where it is.
            stays = part.sizePolicy()
            stays.setRetainSizeWhenHidden(True)
            part.setSizePolicy(stays)
        in_column(
            self.title,
            in_row(*self.faces.values(), 1, spacing=0, margins=0),
            *self.parts.values(),
            self.live,
            (self.preview, 1),
            in_row((self.name, 1), self.add_button, spacing=GRID, margins=0),
            on=self,
            margins=(2 * GRID, 12, 2 * GRID, 12),
            spacing=GRID,
        )
        self.way = "hand"
        self._chosen: dict[str, str] = {}
        self._variable = ""
        self.turn("hand")

    # -- the ways ---------------------------------------------------------------------------------

    def _digits(self) -> QWidget:
        self.digits = connected(DigitRows(), changed=self.changed)
        words = Label(
            message("Codes that begin alike belong together: 111 and 112 are in 11, and 11 is in 1."),
            wordWrap=True,
            role="quiet",
        )
        return held(in_column(words, self.digits, margins=(0, GRID, 0, 0), spacing=GRID))

    def _bands(self) -> QWidget:
        self.width_box = named(
            QSpinBox(minimum=1, maximum=10**6, value=5),
            message("Width of the bands"),
            valueChanged=lambda _: self._means("width"),
        )
        self.cuts = named(
            QLineEdit(placeholderText=translate("0, 15, 65")),
            message("Where bands begin"),
            textChanged=lambda _: self._means("cuts"),
            returnPressed=self.ask,
        )
        self.meant = "width"
        """The field that the bands go by."""
        return held(
            in_row(
                Label(message("All as wide as"), buddy=self.width_box),
                self.width_box,
                Label(message("or beginning at"), buddy=self.cuts),
                (self.cuts, 1),
                margins=(0, GRID, 0, 0),
                spacing=GRID,
            )
        )

    def _files(self) -> QWidget:
        self.file_button = push_button(
            message("Code list from a file\u2026"),
            lambda: ask_file(self, message("Code list"), LISTS, self.take_file, kind="code list"),
        )
        self.least = named(QSpinBox(maximum=10**6), message("People that a square has, or four become one"))
        self.least.setSpecialValueText(tr("as listed"))
        self.merging = held(
            in_row(
                Label(message("Merge squares until each has so many people by the list"), buddy=self.least),
                self.least,
                1,
                margins=0,
                spacing=GRID,
            )
        )
        words = Label(
            message(
                "A table with the codes in its first column and their groups beside them (CSV), or a "
                "hierarchy (.hrc). Codes that it lacks are asked about."
            ),
            wordWrap=True,
            role="quiet",
        )
        left = Qt.AlignmentFlag.AlignLeft
        parts = (words, self.merging, (self.file_button, 0, left))
        return held(in_column(*parts, margins=(0, GRID, 0, 0), spacing=GRID))

    def _by_hand(self) -> QWidget:
        self.group_name = named(
            QLineEdit(placeholderText=tr("name of the group (optional)")), message("Name of the group")
        )
        self.together_button = push_button(message("Group the selected categories"), self.together)
        self.written = named(
            QPlainTextEdit(placeholderText=translate(WRITTEN), tabChangesFocus=True),
            message("Groups as text"),
            textChanged=self.changed,
        )
        self.written.setFixedHeight(8 * GRID)
        self.write_button = push_button(message("Write out the level"), self.writing, flat=True)
        words = message("Select categories at the left and group them, or drag one onto another.")
        type_them = Label(message("Or type a group in each line:"), wordWrap=True, role="quiet")
        return held(
            in_column(
                Label(words, wordWrap=True, role="quiet"),
                in_row((self.group_name, 1), self.together_button, spacing=GRID, margins=0),
                in_row(type_them, 1, self.write_button, margins=0),
                self.written,
                margins=(0, GRID, 0, 0),
                spacing=GRID,
            )
        )

    def _choose(self, way: str) -> None:
        self._chosen[self._variable] = way
        self.turn(way)

    def turn(self, way: str) -> None:
        """Group in another way."""
        self.way = way
        for name, button in self.faces.items():
            button.setChecked(name == way)
        for name, part in self.parts.items():
            part.setVisible(name == way)
        self.name.setVisible(way in ("bands", "hand"))
        self.changed.emit()

    def _means(self, way: str) -> None:
        self.meant = way
        self.changed.emit()

    # -- what is shown ----------------------------------------------------------------------------

    def show_variable(self, variable: Variable | None, *, numbers: bool) -> None:
        """Offer what can be done with a variable, and first what is likely meant."""
        self.title.setText(
            tr("Make a level") if variable is None else tr("Make a level of {name}", variable.name)
        )
        for way, button in self.faces.items():
            button.setEnabled(way != "bands" or numbers)
        self.merging.setVisible(variable is not None and bool(squares_of(variable.categories)))
        self.faces["bands"].setToolTip("" if numbers else tr("The categories are no numbers."))
        if variable is None:
            self._variable = ""
            self.digits.show_codes("", (), ())
            self.written.clear()
            return
        likely = usual_digits(variable.categories)
        fresh = variable.name != self._variable
        self._variable = variable.name
        taken = {level.name for level in variable.coarser}
        self.digits.show_codes(variable.name, variable.categories, () if taken else likely)
        if fresh:
            self.written.clear()
            self.name.clear()
        usual = "digits" if likely else "bands" if numbers else "hand"
        way = self._chosen.get(variable.name, usual)
        self.turn(way if self.faces[way].isEnabled() else usual)

    def show_selected(self, number: int) -> None:
        """Show how many categories could be put into one group."""
        set_enabled(number > 1, self.group_name, self.together_button)

    def write(self, name: str, groups: Mapping[str, Sequence[str]]) -> None:
        """Show groups as text, to be changed."""
        self.name.setText(name)
        self.written.setPlainText(
            "\n".join(f"{group}: {'; '.join(inside)}" for group, inside in groups.items())
        )

    def show_made(self, variable: Variable | None, counts: Ints, why: str = "") -> None:
        """Show what would be made; ``None`` where nothing can be, and why not."""
        self.add_button.setEnabled(variable is not None)
        several = variable is not None and len(variable.coarser) > 1
        self.add_button.setText(
            translate(message("Add these levels") if several else message("Add this level"))
        )
        self.preview.setVisible(variable is not None)
        self.preview.show_variable(variable, counts)
        if variable is None:
            self.live.setText(why)

    # -- what is said -----------------------------------------------------------------------------

    def given(self) -> dict[str, object] | None:
        """The arguments that are meant; ``None`` while nothing is written out.

        Raises
        ------
        InputError
            For groups as text that cannot be read.
        """
        name = self.name.text().strip()
        out: dict[str, object] = {"level": name} if name else {}
        if self.way == "digits":
            digits = self.digits.levels()
            return {"digits": digits} if digits else None
        if self.way == "bands" and self.meant == "width":
            return out | {"width": self.width_box.value()}
        if self.way == "bands":
            cuts = self._cuts()
            return out | {"cuts": cuts} if cuts else None
        groups = written_groups(self.written.toPlainText()) if self.way == "hand" else {}
        return out | {"groups": groups} if groups else None

    def _cuts(self) -> list[int] | None:
        """Return where bands begin; ``None`` while that is not written out."""
        try:
            return [int(part) for part in self.cuts.text().replace(";", ",").split(",")]
        except ValueError:
            return None

    def ask(self) -> None:
        """Make the level that is meant."""
        try:
            given = self.given()
        except InputError:
            return
        if given is not None:
            self.asked.emit(given)
            self.name.clear()
            self.written.clear()

    def take_file(self, path: str) -> None:
        """Group by a code list."""
        least = {"least": self.least.value()} if self.merging.isVisible() and self.least.value() else {}
        self.asked.emit({"files": {message("code list"): str(Path(path).absolute())}, **least})


def written_groups(text: str) -> dict[str, list[str]]:
    """Group -> its categories, from lines such as ``North: 11; 12``.

    Raises
    ------
    InputError
        For a line without a colon, or a group that is there twice.
    """
    groups: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        group, colon, rest = line.partition(":")
        inside = [part.strip() for part in rest.split(";") if part.strip()]
        if not colon or not group.strip() or not inside:
            raise InputError(
                message("line {number} is no group", number),
                hint=message("write its name, a colon, and its categories with semicolons between"),
            )
        if group.strip() in groups:
            raise InputError(message("{group} is there twice", repr(group.strip())))
        groups[group.strip()] = inside
    return groups
