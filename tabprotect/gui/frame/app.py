"""Starting the window: the application, its error hook, autosave and recovery.

What the first paint does not wait for, made ready while nobody asks for anything.

Pages are built when they are first needed. Here they are built before, in pieces between which the
window serves whoever uses it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTimer, QTranslator, Signal
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from tabprotect.engine import agency
from tabprotect.engine.atomic import leftovers
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.foreign.reader import warm
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.saving.recovery import Recoverable, Session, recoverable
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.background.jobs import GarbageCollection
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.own_files import state_folder, stored_settings
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.stages import Pages, page_type
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.file_dialogs import FOLDERS
from tabprotect.gui.look.style import Style
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.plots.canvas import Canvas, loaded_in_pieces
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import ENGLISH, VARIABLE, known, language, of_environment, set_language
from tabprotect.version import __version__


def speak_in_window(app: QApplication) -> QTranslator | None:
    """Let Qt speak the language in force; ``None`` in English, where nothing is changed."""
    if language() == ENGLISH:
        return None
    QLocale.setDefault(QLocale(language()))
    translator = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{language()}", folder):
        app.installTranslator(translator)
    return translator


PIECE = 0.02
"""Processor seconds of one go: less than anybody sees."""

PAUSE = 5
"""Milliseconds between two goes."""

BESIDE = (
    "tabprotect.engine.protection.registered",
    "tabprotect.engine.project.releasing.judgement",
    "tabprotect.engine.query_space.registered",
    "tabprotect.engine.assessment.comparing.comparison",
    "tabprotect.engine.cycles.designs",
    # Of the plotting library.
    "multiprocessing.connection",
    "numpy.ma",
    "pydoc",
    "xml.etree.ElementTree",
)
"""What pages and plots import, and nothing of it touches Qt: it loads beside the window."""


class Readying(QObject):
    """Makes ready all pages of a window, then their plots.

    Parameters
    ----------
    pages
        The window's.
    document
        The window's too.

    ``ended`` when all is ready.
    """

    ended = Signal()

    def __init__(self, parent: QObject, pages: Pages, document: Document) -> None:
        super().__init__(parent)
        self.done = False
        self._pieces = _pieces(pages)
        self._timer = connected(QTimer(self, interval=PAUSE), timeout=self._go)
        document.closed.connect(self._timer.stop)
        document.jobs.unseen(_beside, self._timer.start)

    def _go(self) -> None:
        end = time.thread_time() + PIECE
        while time.thread_time() < end:
            if next(self._pieces, self) is self:
                self.done = True
                self._timer.stop()
                self.ended.emit()
                return


def _beside(progress: Progress) -> None:
    """Load the engine's part of the pages, and the plug-ins that they list; have a reader ready."""
    for name in BESIDE:
        progress.report("loading", 0.0)
        module = importlib.import_module(name)
        for registry in ("methods", "criteria", "rules"):
            if registry in vars(module):
                # What is listed is loaded with the first question.
                len(vars(module)[registry]())
    warm()


def _pieces(pages: Pages) -> Iterator[object]:
    for name, stage in pages.stages.items():
        yield page_type(stage)
        page = pages[name]
        yield page
        # Else all of it is dressed when it is first shown.
        for part in page.findChildren(QWidget):
            # A page may have made another one of it between two pieces.
            if isValid(part):
                part.ensurePolished()
                yield part
    yield from loaded_in_pieces()
    for page in pages.values():
        yield from page.pieces()


AUTOSAVE_SECONDS = 60
EXAMPLE = "example:duncan-roehrig-4x4"


class UnexpectedError(TabprotectError):
    """A fault of the program itself, shown like any other error."""


def application() -> QApplication:
    """The application, made once, with the theme in force and figures as print has them."""
    set_language(language(), apart=True)
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
        app.setApplicationName("tabprotect")
        app.setOrganizationName("tabprotect")
        app.setApplicationVersion(__version__)
        app.setDesktopFileName("org.tabprotect.Tabprotect")
    if app.findChild(GarbageCollection) is None:
        GarbageCollection(app)
    if not isinstance(app.style(), Style):
        app.setStyle(Style())
    THEME.apply()
    return app


class Autosave:
    """Saves the document every minute, and offers what earlier programs left behind.

    That is unsaved work, to recover, and unfinished files beside recent ones, to remove.
    """

    def __init__(self, window: MainWindow, folder: Path, *, first: bool = True) -> None:
        self._window = window
        self._session: Session | None = None
        self._saving: BackgroundTask[bool] = BackgroundTask(
            window, window.document.jobs, lambda _: None, window.show_error
        )
        self._saving.outlives = True
        left: list[Recoverable] = []
        try:
            # Before the session of our own, which would be found too.
            left = recoverable(folder) if first else []
            self._session = Session(folder)
        except TabprotectError as error:
            window.show_error(error)
        for found in left:
            when = datetime.fromtimestamp(found.saved).strftime("%Y-%m-%d %H:%M")
            window.document.work_found.emit(
                message(
                    "{name}, as it was at {when}, when the program ended unexpectedly.", found.name, when
                ),
                lambda f=found: self._window.files.unless_unsaved(
                    message("Recover without saving"), lambda: self._take(f)
                ),
                found.discard,
            )
        folders = {folder, *_recent_folders(window)} if first else set()
        for left_over in sorted({path for one in folders for path in leftovers(one)}):
            window.document.work_found.emit(
                message(
                    "{name} in {parent} was being written when its program ended. It may be confidential.",
                    left_over.name,
                    left_over.parent,
                ),
                None,
                lambda p=left_over: p.unlink(missing_ok=True),
            )
        self._timer = connected(QTimer(window, interval=AUTOSAVE_SECONDS * 1000), timeout=self.save)
        self._timer.start()

    def save(self) -> None:
        """Autosave beside the window, if anything changed."""
        session, document = self._session, self._window.document
        if session is None or not document.modified or not document.preferences.autosave:
            return
        history = document.history
        self._saving.ask("autosave", lambda _: session.save(history))

    def close(self) -> None:
        """End well: nothing is left to recover."""
        self._timer.stop()
        if self._session is not None:
            self._session.close()

    def _take(self, found: Recoverable) -> None:
        try:
            history = found.load()
        except TabprotectError as error:
            self._window.show_error(error)
            return
        self._window.files.take(history, found.name)
        if self._session is not None:
            # Ours before theirs goes: there is always one copy on disk.
            self._session.save(history)
        found.discard()


def show_unexpected(window: MainWindow, error: BaseException) -> None:
    """Show a fault of the program on the page in front, with its traceback to copy."""
    detail = joined(traceback.format_exception(error))
    opened = window.document.project is not None
    window.page.show_error(
        UnexpectedError(
            message(
                "this page could not be worked out ({name}); your table is as it was", type(error).__name__
            ),
            hint=message("save under another name, and report the details"),
            detail=detail,
        ),
        remedy_label=message("Save a copy\u2026") if opened else "",
        remedy=window.files.save_as if opened else None,
    )


def install_hook(window: MainWindow) -> None:
    """Show whatever no code caught; nothing is swallowed and nothing ends the program."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            window.close()
            return
        before(kind, error, trace)
        if threading.current_thread() is threading.main_thread():
            show_unexpected(window, error)

    sys.excepthook = hook


def main(argv: Sequence[str] | None = None, reading: Mapping[str, object] | None = None) -> int:
    """Open the window; ``argv`` may name one table, project or bundle, ``reading`` how it is read.

    ``--smoke FILE.png`` shows it (or the first example), saves a picture of the window and
    quits: for the test of a packaged program.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    smoke = ""
    if "--smoke" in arguments:
        at = arguments.index("--smoke")
        smoke = arguments[at + 1]
        del arguments[at : at + 2]
    # Ctrl+C in the terminal ends the program as a kill would; autosave offers the work again.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    app = application()
    if smoke:
        return _smoke(app, arguments[0] if arguments else EXAMPLE, Path(smoke), reading)
    FOLDERS.settings = settings = stored_settings()
    mode, zoom = settings.value("mode", "system"), settings.value("zoom", 1.0)
    with contextlib.suppress(TypeError, ValueError):
        THEME.apply(mode=mode if mode in ("light", "dark", "contrast") else "system", zoom=float(str(zoom)))
    chosen = str(settings.value("language", "") or "")
    spoken = known(chosen) if chosen and not os.environ.get(VARIABLE) else of_environment()
    set_language(spoken, apart=True)
    speak_in_window(app)
    window = MainWindow(Document(), settings)
    install_hook(window)
    autosave = Autosave(window, state_folder())
    window.made.connect(_autosaved)
    window.show()
    if arguments:
        window.files.open(arguments[0], reading=reading)
    # Pages are classes of the whole program: those of later windows are built when needed.
    readying = Readying(window, window.pages, window.document)
    # All that stays until the program ends: nobody need look through it for garbage again.
    readying.ended.connect(gc.freeze)
    code = app.exec()
    # A session that ends leaves windows open: nothing of them is on the screen when the application goes.
    for left in app.topLevelWidgets():
        if isinstance(left, MainWindow):
            left.document.close()
        left.hide()
    autosave.close()
    settings.setValue("mode", THEME.mode)
    settings.setValue("zoom", THEME.zoom)
    return code


def _autosaved(window: MainWindow) -> None:
    """Another window saves its own work, and makes windows that do."""
    autosave = Autosave(window, state_folder(), first=False)
    connected(window, closed=autosave.close, made=_autosaved)


def _smoke(app: QApplication, source: str, path: Path, reading: Mapping[str, object] | None) -> int:
    window = MainWindow(Document())
    window.show()
    faults: list[object] = []

    def done() -> None:
        if not window.grab().save(str(path)):
            faults.append(message("cannot write {path}", path))
        if getattr(sys, "frozen", False):
            # Pages and plots are built late, and a packaged program must find all they import.
            Canvas(lambda canvas: None)
            dict(window.pages)
        # Not quit(): it closes windows, which posts a second quit for whoever runs events next.
        app.exit()

    def failed(error: TabprotectError) -> None:
        faults.append(error)
        app.exit()

    connected(window.files, opened=lambda _: QTimer.singleShot(200, done), refused=failed)
    QTimer.singleShot(0, lambda: window.files.open(source, reading=reading))
    app.exec()
    window.close()
    for fault in faults:
        print(message("smoke test failed: {fault}", fault), file=sys.stderr)
    return 1 if faults else 0


def _recent_folders(window: MainWindow) -> set[Path]:
    chosen = window.document.preferences
    folders = {Path(one.path).parent for one in window.files.recent.files()}
    folders |= {f for f in (chosen.public_folder, chosen.confidential_folder) if f is not None}
    return folders | {agency.folder()}
