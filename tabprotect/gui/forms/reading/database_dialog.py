"""Where records are that a database holds: chosen field by field, never written as an address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QPushButton, QSpinBox, QWidget

from tabprotect.gui.look.buttons import Dialog, choice, connected, decision
from tabprotect.gui.look.file_dialogs import ask_file, ask_folder
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import held, in_column, in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

POSTGRESQL = 5432

KINDS = (
    ("postgresql", message("a PostgreSQL server")),
    ("duckdb", message("a DuckDB file")),
    ("files", message("the files of one kind in a folder")),
)
ENDINGS = ("parquet", "csv", "csv.gz", "tsv", "xlsx", "sav", "dta")


class DatabaseDialog(Dialog):
    """``taken`` carries the place: ``postgresql://host/base#table``, ``people.duckdb#table``."""

    taken = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, message("Where the records are"))
        self.kind = choice(message("What holds the records"), dict(KINDS))
        self.host = QLineEdit("localhost")
        self.port = QSpinBox(minimum=1, maximum=65535, value=POSTGRESQL)
        self.user = QLineEdit()
        self.base = QLineEdit()
        self.schema = QLineEdit()
        self.table = QLineEdit()
        self.file = QLineEdit(readOnly=True)
        self.choose = QPushButton(tr("Choose\u2026"))
        self.ending = QComboBox()
        self.ending.addItems(list(ENDINGS))
        self.place = Label(wordWrap=True, role="quiet", name=message("The place as it is written"))
        self._form = QFormLayout(verticalSpacing=GRID)
        self._rows: list[tuple[QWidget, frozenset[str]]] = []
        self._add(message("Held by"), self.kind, "postgresql", "duckdb", "files")
        self._add(message("Server"), self.host, "postgresql")
        self._add(message("Port"), self.port, "postgresql")
        self._add(message("User (empty: yours)"), self.user, "postgresql")
        self._add(message("Database"), self.base, "postgresql")
        row = held(in_row((self.file, 1), self.choose, margins=0, spacing=GRID))
        self._add(message("File or folder"), row, "duckdb", "files")
        self._add(message("Files that end in"), self.ending, "files")
        self._add(message("Schema (empty: the usual one)"), self.schema, "postgresql")
        self._add(message("Table"), self.table, "postgresql", "duckdb")
        self.file.setAccessibleName(tr("File or folder"))
        self.choose.setAccessibleName(tr("Choose the file or folder"))
        self.choose.clicked.connect(self._choose)
        for box in (self.host, self.user, self.base, self.schema, self.table, self.file):
            box.textChanged.connect(lambda _: self._show())
        self.port.valueChanged.connect(lambda _: self._show())
        for combo in (self.kind, self.ending):
            combo.currentIndexChanged.connect(lambda _: self._show())
        password = Label(
            message("A password is never kept: PostgreSQL takes it from PGPASSWORD or ~/.pgpass."),
            wordWrap=True,
            role="quiet",
        )
        buttons, self.take, _ = decision(self, message("Look there"), self._take)
        in_column(self._form, password, self.place, 1, buttons, on=self, margins=2 * GRID, spacing=GRID)
        self.setMinimumWidth(60 * GRID)
        self._show()

    def _add(self, words: str, field: QWidget, *kinds: str) -> None:
        field.setAccessibleName(translate(field.accessibleName() or words))
        self._form.addRow(translate(words), field)
        self._rows.append((field, frozenset(kinds)))

    def text(self) -> str:
        """The place; empty while something lacks."""
        kind, table = self.kind.currentData(), self.table.text().strip()
        if kind == "files":
            folder = self.file.text()
            return str(Path(folder) / f"*.{self.ending.currentText()}") if folder else ""
        if kind == "duckdb":
            return f"{self.file.text()}#{table}" if self.file.text() and table else ""
        host, base = self.host.text().strip(), self.base.text().strip()
        if not (host and base and table):
            return ""
        user = quote(self.user.text().strip(), safe="")
        port = "" if self.port.value() == POSTGRESQL else f":{self.port.value()}"
        schema = self.schema.text().strip()
        where = f"{f'{user}@' if user else ''}{host}{port}/{quote(base, safe='')}"
        return f"postgresql://{where}#{f'{schema}.' if schema else ''}{table}"

    def _show(self) -> None:
        kind = self.kind.currentData()
        for field, kinds in self._rows:
            self._form.setRowVisible(field, kind in kinds)
        self.place.setText(translate(self.text()))
        self.take.setEnabled(bool(self.text()))

    def _choose(self) -> None:
        if self.kind.currentData() == "files":
            ask_folder(self, message("Files of records"), self.file.text(), self.file.setText)
        else:
            ask_file(
                self, message("Database"), message("DuckDB (*.duckdb *.db);;All files (*)"), self.file.setText
            )

    def _take(self) -> None:
        self.taken.emit(self.text())
        self.accept()


def ask_database(parent: QWidget, then: Callable[[str], object]) -> DatabaseDialog:
    """Ask where records are. Nothing waits for the answer."""
    dialog = connected(DatabaseDialog(parent), taken=then)
    dialog.open()
    return dialog
