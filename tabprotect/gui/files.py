"""Files and the window: opening whatever a file is, saving, recent files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog

from tabprotect.engine.errors import InputError, RefusedError, TabprotectError
from tabprotect.engine.project import storage
from tabprotect.engine.project.examples import PREFIX, RECORDS, examples

if TYPE_CHECKING:
    from tabprotect.engine.project.history import History
    from tabprotect.gui.main_window import MainWindow

RECENT = 10
"""Recent files that are remembered."""

TABLES = "*.csv *.tsv *.txt *.xlsx *.xls *.ods"

OPEN_FILTER = (
    f"All that can be opened ({TABLES} *{storage.SUFFIX} *.zip *.parquet *.gz);;"
    f"Tables ({TABLES});;Projects (*{storage.SUFFIX});;Release bundles (*.zip);;All files (*)"
)


class Files(QObject):
    """Opening and saving for one window.

    ``opened`` and ``saved`` carry the path or source, ``refused`` the error.
    """

    opened = Signal(str)
    refused = Signal(object)
    saved = Signal(str)

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.window = window
        self.document = window.document
        self.path: Path | None = None
        self._leave = False

    # -- opening ------------------------------------------------------------------------------

    def ask_open(self) -> None:
        """Ask for a file; the window stays alive meanwhile."""
        dialog = QFileDialog(self.window, "Open", "", OPEN_FILTER)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.open)
        dialog.open()

    def open(self, source: str, *, strip_totals: bool = False) -> None:
        """Open whatever a path or ``example:NAME`` is: table, project, bundle or records."""
        self.window.page.errors.clear()
        if is_records(source):
            self.window.go("tabulate")
            self.window.tabulate.choose(source)
            return
        suffix = Path(source).suffix.lower()
        if suffix == storage.SUFFIX:
            self.document.load(
                f"open {Path(source).name}",
                lambda _: storage.load(Path(source)),
                lambda: self._loaded(Path(source)),
            )
            return
        arguments: dict[str, object] = {"path" if suffix == ".zip" else "source": source}
        if strip_totals:
            arguments["strip_totals"] = True
        job = self.document.apply(
            "open_bundle" if suffix == ".zip" else "open_table",
            failed=lambda error: self._refused(error, source),
            **arguments,
        )
        if job is not None:
            job.finished.connect(lambda _: self._opened(source))

    def take(self, history: History, name: str) -> None:
        """Go on with a history that a crash left behind."""
        self.document.take(history)
        self.path = None
        self.opened.emit(name)

    def _opened(self, source: str) -> None:
        self.path = None
        self.document.saved = self.document.project
        self.remember(source)
        self.opened.emit(source)

    def _loaded(self, path: Path) -> None:
        self.path = path
        self.document.saved = self.document.project
        self.remember(str(path))
        self.opened.emit(str(path))

    def _refused(self, error: TabprotectError, source: str) -> None:
        page = self.window.page
        self.refused.emit(error)
        if isinstance(error, InputError) and "--strip-totals" in error.hint:
            # The command line's option, as a button.
            error.hint = ""
            page.show_error(
                error,
                remedy_label="Open without the totals",
                remedy=lambda: self.open(source, strip_totals=True),
            )
            return
        page.show_error(error)

    # -- recent files -------------------------------------------------------------------------

    def recent(self) -> list[str]:
        """Paths of recent files, latest first."""
        if self.window.settings is None:
            return []
        value = self.window.settings.value("recent", [])
        paths = [value] if isinstance(value, str) else list(value or [])
        return [p for p in map(str, paths) if Path(p).exists()]

    def remember(self, path: str) -> None:
        """Put a path at the head of the recent files."""
        if self.window.settings is not None and not path.startswith(PREFIX):
            path = str(Path(path).absolute())
            rest = [p for p in self.recent() if p != path]
            self.window.settings.setValue("recent", [path, *rest][:RECENT])

    # -- saving -------------------------------------------------------------------------------

    def save(self) -> None:
        """Save to the project's file; ask for one the first time."""
        if self.path is None:
            self.save_as()
        else:
            self.save_to(self.path)

    def save_as(self) -> None:
        """Ask for a file and save there; overwriting is asked about."""
        project = self.document.project
        if project is None:
            return
        dialog = QFileDialog(self.window, "Save the project", "", f"Projects (*{storage.SUFFIX})")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(storage.SUFFIX.removeprefix("."))
        dialog.selectFile(f"{Path(project.name).stem}{storage.SUFFIX}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.save_to(Path(path)))
        dialog.open()

    def save_to(self, path: Path) -> None:
        """Save the project file, with its whole history."""
        history = self.document.history
        job = self.document.jobs.command(
            f"save {path.name}", lambda _: storage.save(history, path), deniable=False
        )
        job.finished.connect(lambda _: self._saved(path, history))
        job.failed.connect(self._not_saved)

    def _saved(self, path: Path, history: History) -> None:
        self.path = path
        self.document.saved = history.project
        self.remember(str(path))
        self.saved.emit(str(path))

    def _not_saved(self, error: Exception) -> None:
        if not isinstance(error, TabprotectError):
            raise error
        self.window.page.show_error(error, remedy_label="Save elsewhere", remedy=self.save_as)

    # -- leaving ------------------------------------------------------------------------------

    def may_close(self) -> bool:
        """Whether the window may close; otherwise a strip says what is unsaved."""
        if self._leave or not self.document.modified:
            return True
        self.window.page.show_error(
            RefusedError("there is unsaved work", hint="save it with Ctrl+S, or leave it behind"),
            remedy_label="Quit without saving",
            remedy=self._quit,
        )
        return False

    def _quit(self) -> None:
        self._leave = True
        self.window.close()


def is_records(source: str) -> bool:
    """Whether a file or example can only be microdata."""
    if source.startswith(PREFIX):
        name = source.removeprefix(PREFIX)
        return any(e.name == name and e.microdata for e in examples())
    return Path(source).suffix.lower() in RECORDS
