"""Files and the window: opening whatever a file is, saving, recent files, work left by a crash."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog

from tabprotect.engine.project.examples import examples

if TYPE_CHECKING:
    from tabprotect.gui.main_window import MainWindow

RECENT = 10
"""Recent files that are remembered."""

RECORDS = (".parquet",)
"""Endings that can only be microdata."""

OPEN_FILTER = (
    "All that can be opened (*.csv *.tsv *.txt *.xlsx *.xls *.ods *.tabprotect *.zip *.parquet);;"
    "Tables (*.csv *.tsv *.txt *.xlsx *.xls *.ods);;Projects (*.tabprotect);;"
    "Release bundles (*.zip);;All files (*)"
)


class Files(QObject):
    """Opening and saving for one window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.window = window
        self.document = window.document
        self._path: Path | None = None
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
        suffix = Path(source).suffix.lower()
        if self._is_records(source, suffix):
            tabulate = self.window.pages["tabulate"]
            self.window.go("tabulate")
            tabulate.choose(source)  # type: ignore[attr-defined]
            return
        if suffix == ".tabprotect":
            self._open_project(Path(source))
            return
        if suffix == ".zip":
            job = self.document.apply("open_bundle", path=source)
        else:
            more = {"strip_totals": True} if strip_totals else {}
            job = self.document.apply("open_table", source=source, **more)
        if job is not None:
            job.finished.connect(lambda _: self._opened(source))

    @staticmethod
    def _is_records(source: str, suffix: str) -> bool:
        if source.startswith("example:"):
            name = source.removeprefix("example:")
            return any(e.name == name and e.microdata for e in examples())
        return suffix in RECORDS

    def _opened(self, source: str) -> None:
        self._path = None
        self.remember(source)

    def _open_project(self, path: Path) -> None:
        raise NotImplementedError

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
        if self.window.settings is not None and not path.startswith("example:"):
            path = str(Path(path).absolute())
            rest = [p for p in self.recent() if p != path]
            self.window.settings.setValue("recent", [path, *rest][:RECENT])

    # -- saving -------------------------------------------------------------------------------

    def save(self) -> None:
        """Save to the project's file; ask for one the first time."""

    def save_as(self) -> None:
        """Ask for a file and save there."""

    def may_close(self) -> bool:
        """Whether the window may close; otherwise a strip says what is unsaved."""
        return True
