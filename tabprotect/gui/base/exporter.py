"""Writing a page's files: ask for the path, mark confidential names, write in a job, report on the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.paths import remark_on_versions
from tabprotect.engine.progress import Progress
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.page import Page
from tabprotect.gui.look.buttons import push_button
from tabprotect.gui.look.file_dialogs import ask_export
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

MARK = "CONFIDENTIAL"


def marked(path: Path) -> Path:
    """The path with the mark in its file name, added if it is missing."""
    if MARK in path.name:
        return path
    return path.with_name(f"{path.stem}-{MARK}{path.suffix}")


Content = Callable[[Progress], bytes]
"""A function that makes the bytes of a file in the background."""


class Exporter(QObject):
    """Writes the files of one page; errors show on the page. ``written`` carries the path."""

    written = Signal(object)

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._page = page
        # One question each: a file that is being written is not dropped for another one.
        self._writing: dict[str, BackgroundTask[Path]] = {}

    def ask(self, place: Path, write: Callable[..., object], *, confidential: bool) -> None:
        """Ask where to write, suggesting ``place``; ``write`` takes the path and ``overwrite``."""
        name = str(marked(place) if confidential else place)
        # The dialog asks before overwriting the name that was typed, not the marked one.
        kind = place.suffix.removeprefix(".")
        ask_export(self._page, name, kind, lambda path: write(path, overwrite=True))

    def write(
        self,
        kind: str,
        path: Path,
        content: Content,
        *,
        confidential: bool,
        private: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Write a file of one of the page's kinds; of each kind only the latest request is written.

        A private file is its owner's alone, as every confidential one is, but without the mark.
        """
        if confidential and marked(path) != path:
            path, overwrite = marked(path), False

        def work(progress: Progress) -> Path:
            write_bytes(path, content(progress), overwrite=overwrite, private=confidential or private)
            return path

        if kind not in self._writing:
            jobs, failed = self._page.document.jobs, self._page.show_error
            self._writing[kind] = BackgroundTask(self, jobs, self._written, failed)
            self._writing[kind].outlives = True
        self._writing[kind].ask(message("writing {name}", path.name), work)

    def _written(self, path: Path) -> None:
        # Public view names no file of the house, even one requested before the switch.
        if MARK not in path.name or not self._page.document.public:
            remark = remark_on_versions(path) if MARK in path.name else ""
            said = message("Written: {name}.", path.name)
            self._page.errors.show_note(joined([said, remark], " ") if remark else said)
        self.written.emit(path)


class Files(QObject):
    """The files that a page can write, each kind with its action; errors show on the page.

    A subclass makes the bytes of a kind, and says what stands against that.

    Parameters
    ----------
    kinds
        Of each kind the words of its action, and the name that is suggested.
    """

    def __init__(self, page: Page, kinds: Mapping[str, tuple[str, str]]) -> None:
        super().__init__(page)
        self.page, self._exporter = page, Exporter(page)
        self._names = {kind: name for kind, (_, name) in kinds.items()}
        self.actions: dict[str, QAction] = {}
        for kind, (words, _) in kinds.items():
            action = self.actions[kind] = QAction(translate(words), page)
            action.triggered.connect(lambda _=False, kind=kind: self.ask(kind))

    def button(self, name: str, *before: QAction) -> QPushButton:
        """A button that offers them all, behind other actions."""
        button = push_button(message("Export"), name=name)
        menu = QMenu(button)
        menu.addActions([*before, *self.actions.values()])
        button.setMenu(menu)
        return button

    def missing(self, kind: str) -> InfeasibleError | None:
        """Say why a kind cannot be written as the page is now; ``None`` if it can."""
        raise NotImplementedError

    def content(self, kind: str) -> Content:
        """Return what makes the bytes of a kind, beside the window; widgets draw theirs at once."""
        raise NotImplementedError

    def confidential(self, kind: str) -> bool:
        """Return True if the file would hold anything of the original."""
        return True

    def possible(self, kind: str) -> bool:
        """Tell the page what stands against it, if anything does."""
        if (error := self.missing(kind)) is not None:
            self.page.show_error(error)
        return error is None

    def ask(self, kind: str) -> None:
        """Ask where to write a kind."""
        if self.possible(kind):
            write, secret = partial(self.write, kind), self.confidential(kind)
            self._exporter.ask(Path(self._names[kind]), write, confidential=secret)

    def write(self, kind: str, path: Path, *, overwrite: bool = False) -> None:
        """Write a kind; what is confidential says so in its name."""
        if self.possible(kind):
            content, secret = self.content(kind), self.confidential(kind)
            self._exporter.write(kind, path, content, confidential=secret, overwrite=overwrite)
