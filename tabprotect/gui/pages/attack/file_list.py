"""The files that are attacked, each with what is said of its method."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFrame, QWidget

from tabprotect.engine.bundle.attacked_files import PublishedFile
from tabprotect.engine.release.release import Release
from tabprotect.gui.look.buttons import choice, connected, emptied, named, present, tool_button
from tabprotect.gui.look.label import ElidedLabel, Label
from tabprotect.gui.look.layouts import in_column, in_row, tab_follows_layout
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

USUAL = (
    ("exact", message("published as they are")),
    ("suppression", message("small counts left out")),
    ("random_rounding:base=3", message("rounded at random to multiples of 3")),
    ("random_rounding:base=5", message("rounded at random to multiples of 5")),
    ("rounded:base=5", message("rounded to multiples of 5")),
    ("rounded:base=10", message("rounded to multiples of 10")),
    ("cell_key:D=5,V=3,js=2", message("cell keys, noise of at most 5 with variance 3")),
    ("swapped:rate=.05", message("5 in 100 records swapped")),
    ("unknown:sd=1", message("noise of some kind, of standard deviation 1")),
)
"""Methods as they are typed, and in words; any other is typed."""


class FileRow(QWidget):
    """One file. ``method_changed`` when something else is said of it, ``dropped`` when it is taken out."""

    method_changed = Signal()
    dropped = Signal()

    def __init__(self, file: PublishedFile, method: str) -> None:
        super().__init__()
        self.file = file
        name = named(ElidedLabel(file.path.name), tip=file.path.name)
        size = Label(joined((count_text(size) for size in file.shape), " \u00d7 "), role="quiet")
        self.method = choice(message("Method of {name}", file.path.name), dict(USUAL))
        self.method.setEditable(True)
        edit = present(self.method.lineEdit())
        edit.setAccessibleName(self.method.accessibleName())
        self.method.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.method.setMinimumContentsLength(24)
        guess, self._why = file.likely_method()
        self._show_method(method or guess)
        self.method.setEnabled(not isinstance(file.content, Release))
        self._guess = guess
        self.meaning = Label(role="quiet", wordWrap=True)
        self.method.currentTextChanged.connect(self._changed)
        self.out = tool_button(
            "\u00d7", self.dropped, name=message("Leave out {name}", file.path.name), flat=True
        )
        title = in_column(name, size, margins=0, spacing=0)
        in_row((title, 2), (self.method, 3), (self.meaning, 2), self.out, on=self, margins=0, spacing=GRID)
        self._say()

    @property
    def said(self) -> str:
        """Say what is said of its method, as it is typed."""
        shown = self.method.currentText().strip()
        return next((typed for typed, words in USUAL if translate(words) == shown), shown)

    def _show_method(self, typed: str) -> None:
        """Show a method, in words where there are any."""
        self.method.setCurrentText(translate(dict(USUAL).get(typed, typed)))
        if (edit := self.method.lineEdit()) is not None:
            edit.setCursorPosition(0)

    def _changed(self) -> None:
        self._say()
        self.method_changed.emit()

    def _say(self) -> None:
        self.meaning.setText(self._why if self.said == self._guess else "")


class FileList(QFrame):
    """``changed`` when there are other files, or something else is said of one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, message("Published files"), role="card")
        self.rows: list[FileRow] = []
        self._inside = in_column(on=self, margins=(GRID + 4, GRID, GRID + 4, GRID), spacing=GRID)

    @property
    def files(self) -> list[PublishedFile]:
        """The files, in order."""
        return [row.file for row in self.rows]

    @property
    def said(self) -> tuple[str, ...]:
        """Return what is said of the method of each."""
        return tuple(row.said for row in self.rows)

    def show_files(self, files: Sequence[PublishedFile]) -> None:
        """Show files; what was said of one that was there is kept."""
        before = {row.file.path: row.said for row in self.rows}
        emptied(self._inside)
        self.rows = []
        for file in files:
            row = connected(
                FileRow(file, before.get(file.path, "")),
                method_changed=self.changed,
                dropped=lambda file=file: self.show_files([one for one in self.files if one is not file]),
            )
            self.rows.append(row)
            self._inside.addWidget(row)
        tab_follows_layout(self)
        self.changed.emit()
