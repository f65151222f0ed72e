"""Files and the window: opening whatever a file is, saving, recent files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from tabprotect.engine.errors import InputError, RecordsError, RefusedError, TabprotectError
from tabprotect.engine.formats.file_preview import FilePreview, preview, title_in
from tabprotect.engine.formats.format import RowFormat
from tabprotect.engine.formats.reading_options import ALL_ADD_UP, Reading
from tabprotect.engine.formats.registered import TEXT, by_suffix, format_of, formats, named, patterns
from tabprotect.engine.formats.remembered_readings import recalled, remember
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.saving.held import HeldProject, InUseError
from tabprotect.engine.project.verbs.publish_verbs import open_bundle
from tabprotect.engine.project.verbs.table_verbs import open_table, set_title, tabulate
from tabprotect.gui.base.background.background_task import BackgroundTask, tell_failure
from tabprotect.gui.base.document import AskedSigns
from tabprotect.gui.base.recent_files import RecentFiles
from tabprotect.gui.frame.stages import OTHERS
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.file_dialogs import ask_file, ask_place
from tabprotect.languages.messages import joined, message

OPEN_ANYHOW = message("Open without saving")

RECIPE = ".toml"

CHOOSE = message("Choose how it is read\u2026")

REMEDIES: tuple[tuple[str, str, object, str], ...] = (
    ("--strip-totals", "strip_totals", True, message("Open without the totals")),
    ("--totals recompute", "totals", "recompute", message("Let the inner cells count")),
    ("--missing zero", "missing", "zero", message("Take missing cells as 0")),
)
"""What an error offers in its hint: the option, its value, and the button that says so."""


def open_filter() -> str:
    """Say what the dialog shows that opens anything: all of it, then kind by kind in plain words."""
    tables, project = patterns("table"), f"*{storage.SUFFIX}"
    kinds = joined(
        message("{label} ({endings});;", one.label, " ".join(f"*{end}" for end in one.suffixes))
        for one in formats().values()
        if "table" in one.holds
    )
    return message(
        "All that can be opened ({tables} {project} *.zip *{RECIPE});;Tables of every format ({tables});;"
        "Projects ({project});;Releases (*.zip);;Recipes (*{RECIPE});;{kinds}All files (*)",
        tables,
        project,
        RECIPE,
        kinds,
    )


def _can_be_asked(source: str) -> bool:
    """Return True if a file is one of rows, so that somebody can say how they are to be read."""
    path = Path(source)
    try:
        return path.stat().st_size > 0 and isinstance(format_of(path), RowFormat)
    except (OSError, TabprotectError):
        return False


@dataclass(frozen=True)
class Told:
    """A file of which the totals may tell what its signs stand for; ``error`` is what asks."""

    source: str
    error: InputError
    reading: Reading
    seen: FilePreview


class Files(QObject):
    """Opening and saving for one window.

    ``opened`` and ``saved`` carry the path or source, ``refused`` the error, ``recipe`` the path of
    a recipe, which is run, on data that are yet to be named.
    """

    opened = Signal(str)
    recipe = Signal(str)
    refused = Signal(object)
    saved = Signal(str)

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self.window = window
        self.document = window.document
        self.path: Path | None = None
        self._held: HeldProject | None = None
        self.recent = RecentFiles(lambda: window.settings)
        connected(
            window.document,
            open_asked=self._asked,
            records_asked=self.ask_records,
            reader_asked=self.read,
            begins=self.begin,
        )
        window.document.recent = self.recent.files
        window.document.project_changed.connect(lambda _: self._kept())
        window.document.project_changed.connect(self._follow)
        self._titled: BackgroundTask[tuple[str, str]] = BackgroundTask(
            self, self.document.jobs, self._take_title, lambda _: None
        )
        self._by_totals: BackgroundTask[Told] = BackgroundTask(
            self, self.document.jobs, self._take_told, lambda _: None
        )
        self._told: Told | None = None
        self._leave = False

    # -- opening ------------------------------------------------------------------------------

    def ask_open(self) -> None:
        """Ask for a file; the window stays alive meanwhile."""
        ask_file(self.window, message("Open"), open_filter(), self.open, kind="table")

    def ask_records(self) -> None:
        """Go where records are tabulated, and ask for their file."""
        self.window.go("tabulate")
        self.window.page.take("")

    def _asked(self, source: str) -> None:
        if source:
            self.open(source, stays=True)
        else:
            self.ask_open()

    def open(self, source: str, *, stays: bool = False, reading: Mapping[str, object] | None = None) -> None:
        """Open whatever a path or ``example:NAME`` is: table, project, bundle or records.

        Where a page of the river asks for a table it may stay in front.
        ``reading`` are options of reading a table, such as ``strip_totals``.
        """
        self.window.page.errors.clear()
        if (suffix := Path(source).suffix.lower()) == storage.SUFFIX:
            self.unless_unsaved(OPEN_ANYHOW, lambda: self._load(Path(source)))
        elif suffix == ".zip":
            self.read(source)
        elif suffix == RECIPE:
            self.recipe.emit(source)
        else:
            given = dict(reading or self._as_before(source))
            self.begin(open_table(source=source, **given), stays=stays)

    def _as_before(self, source: str) -> dict[str, object]:
        """Return how a file of this look was read the last time somebody chose."""
        path = Path(source)
        try:
            if source.startswith(PREFIX) or not os.path.isfile(path):
                return {}
            return dict(recalled(by_suffix(path) or named(TEXT), path))
        except (OSError, TabprotectError):
            return {}

    def ask_reading(self, source: str, **given: object) -> None:
        """Show the import sheet: how a file is to be read."""
        # With the first file that leaves a doubt, not with the window.
        from tabprotect.gui.forms.reading.import_sheet import ImportSheet

        sheet = self._sheet = connected(
            ImportSheet(self.window, self.document.jobs, Path(source), given), chosen=self._read_so
        )
        # Its raw lines are the house's own.
        self.document.view_changed.connect(sheet.reject)
        sheet.open()

    def ask_reading_of(self) -> None:
        """Ask for a file, and how it is to be read."""
        ask_file(self.window, message("Open with choices"), open_filter(), self.ask_reading, kind="table")

    def _read_so(self, source: str, reading: Reading, seen: FilePreview) -> None:
        if seen.records:
            self.recent.remember(source)
            self.window.go("tabulate")
            self.window.page.take(source)
            return
        self._remember(seen, reading)
        self.open(source, reading=reading.given)

    def _remember(self, seen: FilePreview, reading: Reading) -> None:
        try:
            remember(seen, reading)
        except InputError as error:
            # Not to be remembered is no reason not to open.
            self.window.page.show_error(error)

    def begin(self, order: Order, *, stays: bool = True) -> None:
        """Begin a new document in this window, after a question where work would be lost.

        A page of the river that asks for it ``stays`` in front.
        """
        self.unless_unsaved(OPEN_ANYHOW, lambda: self._run(order, stays))

    def _run(self, order: Order, stays: bool) -> None:
        source = str(order.arguments[order.command.says.reads])
        job = self.document.run(order, failed=lambda error: self._refused(error, source, order.arguments))
        if job is not None:
            # What can be opened again as it is need not be saved.
            saved = order.command is open_table
            job.finished.connect(lambda _: self._opened(source, saved=saved, stays=stays))
            if saved and not source.startswith(PREFIX):
                reading = Reading.of({k: v for k, v in order.arguments.items() if k != "source"})
                job.finished.connect(
                    lambda _: self._titled.ask(
                        message("looking for the title"), lambda _: (source, title_in(Path(source), reading))
                    )
                )

    def _take_title(self, found: tuple[str, str]) -> None:
        source, title = found
        project, untouched = self.document.project, not self.document.modified
        if project is None or not title or project.title or project.source != source:
            return
        self.document.do(set_title, title=title)
        if untouched:
            self.document.saved = self.document.project
        self.recent.remember(source, self.document.history)

    def read(self, path: str) -> None:
        """Open a release bundle as its reader: in a window of its own where this one is in use."""
        connected(
            self.document.jobs.command(
                message("open {name}", Path(path).name),
                lambda progress: History().do(open_bundle(path=path), progress=progress)[0],
            ),
            finished=lambda history: self._reads(history, path),
            failed=tell_failure(lambda error: self._refused(error, path)),
        )

    def _reads(self, history: History, path: str) -> None:
        if self.document.project is None:
            self.arrived(history, path)
        else:
            self.window.show_reader(history, path)

    def arrived(self, history: History, path: str) -> None:
        """Go on with a bundle that was opened."""
        self.document.take(history)
        self._opened(path, saved=True)

    def _load(self, path: Path) -> None:
        try:
            held = HeldProject(path)
        except InUseError as error:
            self.window.page.errors.show_error(
                error, remedy_label=message("Open a copy"), remedy=lambda: self._load_from(path, None)
            )
            return
        self._load_from(path, held)

    def _load_from(self, path: Path, held: HeldProject | None) -> None:
        """A copy, which nobody holds, is saved under a name of its own."""
        job = self.document.load(
            message("open {name}", path.name), lambda _: storage.load(path), lambda: self._loaded(path, held)
        )
        if job is None:
            if held is not None:
                held.release()
            self.window.page.errors.show_error(
                RefusedError(
                    message("work on the open table is still running"),
                    hint=message("stop it, or wait until it has ended"),
                ),
                asking=True,
                remedy_label=message("Stop it and open"),
                remedy=lambda: self.document.stop(lambda: self._load(path)),
            )
        elif held is not None:
            connected(job, failed=lambda _: held.release(), cancelled=held.release)

    def _hold(self, held: HeldProject | None) -> None:
        """Hold the file that this window has open, in place of the one before."""
        if self._held is not None and self._held is not held:
            self._held.release()
        self._held = held
        self.path = None if held is None else held.path

    def unless_unsaved(self, label: str, then: Callable[[], object]) -> None:
        """Do what replaces the document, after a question where work would be lost.

        ``label`` names the button that leaves the work behind.
        """
        if not self.document.modified:
            then()
            return
        self._ask_unsaved(label, then, saved=lambda: self.unless_unsaved(label, then))

    def _ask_unsaved(self, label: str, then: Callable[[], object], *, saved: Callable[[], object]) -> None:
        last = self.document.history.trail[-1:]
        what = message("; the last step was: {label}", last[0].label) if last else ""
        self.window.page.errors.show_error(
            RefusedError(
                message("there is unsaved work{what}", what),
                hint=message("save it first, or go on without it"),
            ),
            asking=True,
            remedy_label=label,
            remedy=then,
            other_label=message("Save first"),
            other=lambda: self.save(saved),
        )

    def _follow(self, changes: frozenset[str]) -> None:
        """A table that is protected, and not yet published, is said nothing else of."""
        project = self.document.project
        if changes != {"release"} or (project is not None and project.published):
            self.recent.follow(self.document.history)

    def _kept(self) -> None:
        """A dossier holds all that led to a release, as a file of the project would."""
        last = self.document.history.trail[-1:]
        if self.path is None and last and last[0].sealed and last[0].arguments.get("dossier"):
            self.document.saved = self.document.project

    def take(self, history: History, name: str) -> None:
        """Go on with a history that a crash left behind."""
        self.document.take(history)
        self._hold(None)
        self._arrive(name)

    def _opened(self, source: str, *, saved: bool, stays: bool = False) -> None:
        self._hold(None)
        told, self._told = self._told, None
        self.document.signs = self._question_of(told) if told is not None and told.source == source else None
        # Nothing of the former document stays selected.
        self.document.select(None)
        self.document.select_cycle(None)
        if saved:
            self.document.saved = self.document.project
        self.recent.remember(source, self.document.history)
        self._arrive(source, stays=stays)

    def _loaded(self, path: Path, held: HeldProject | None) -> None:
        self._hold(held)
        self.document.saved = self.document.project
        self.recent.remember(str(path), self.document.history)
        self._arrive(str(path))

    def close(self) -> None:
        """Let other windows have the project."""
        self._hold(None)

    def _arrive(self, name: str, *, stays: bool = False) -> None:
        window = self.window
        if not stays or isinstance(window.page, OTHERS):
            # Another document begins where it is seen, whatever page the last one was on.
            window.go("check" if window.pages.why_not("table") else "table")
        self.opened.emit(name)

    def _refused(
        self, error: TabprotectError, source: str, arguments: Mapping[str, Any] | None = None
    ) -> None:
        page = self.window.page
        if error.hint != ALL_ADD_UP:
            self.refused.emit(error)
        if isinstance(error, RecordsError):
            self.window.go("tabulate")
            self.window.page.take(source)
            return
        said = arguments or {}
        if isinstance(error, InputError) and "record-keys" in error.hint and said.get("record_key"):
            error.hint = ""
            drawn = {**said, "record_key": None, "draw_keys": True, "house_keys": True}
            page.errors.show_error(
                error,
                remedy_label=message("Make keys from the house key"),
                remedy=lambda: self.begin(tabulate(**drawn)),
            )
            return
        given = {name: said[name] for _, name, _, _ in REMEDIES if said.get(name)}
        if error.hint == ALL_ADD_UP:
            # After the job that was refused has ended: a command would wait for it.
            reading = {**given, "strip_totals": True}
            QTimer.singleShot(0, self, lambda: self.open(source, reading=reading))
            return
        for word, option, value, label in REMEDIES:
            # The command line's option, as a button.
            if isinstance(error, InputError) and word in error.hint:
                error.hint = ""
                page.errors.show_error(
                    error,
                    remedy_label=label,
                    remedy=partial(self.open, source, reading={**given, option: value}),
                    other_label=CHOOSE,
                    other=partial(self.ask_reading, source),
                )
                return
        if isinstance(error, InputError) and _can_be_asked(source):
            if "--marks" in error.hint and not said.get("missing"):
                self._ask_totals(error, source, said)
            else:
                self._ask_how(error, source)
            return
        page.show_error(error)

    def _ask_how(self, error: InputError, source: str) -> None:
        """Have the sheet ask; the error is told to whoever leaves it unanswered."""
        self.ask_reading(source)
        tell = partial(self.window.page.errors.show_error, error, other_label=CHOOSE)
        self._sheet.rejected.connect(lambda: tell(other=partial(self.ask_reading, source)))

    def _ask_totals(self, error: InputError, source: str, said: Mapping[str, Any]) -> None:
        """Look whether the totals of a file leave one answer for each of its signs."""
        given = {name: value for name, value in said.items() if name != "source"}
        strip = {} if given.get("totals") else {"strip_totals": True}
        reading = Reading.of({**given, **strip, "missing": "suppressed"})
        self._by_totals.ask(
            message("asking the totals"),
            lambda p: Told(source, error, reading, preview(Path(source), reading, p)),
        )

    def _take_told(self, told: Told) -> None:
        if not told.seen.hidden:
            self._ask_how(told.error, told.source)
            return
        self._told = told
        self.open(told.source, reading=told.reading.given)

    def _question_of(self, told: Told) -> AskedSigns | None:
        """The question that stands beside the table until somebody agrees."""
        if (table := self.document.original) is None:
            return None

        def agree() -> None:
            self.document.signs = None
            self._remember(told.seen, told.reading)

        return AskedSigns(told.seen.hidden, table, agree, partial(self.ask_reading, told.source))

    # -- saving -------------------------------------------------------------------------------

    def save(self, then: Callable[[], object] | None = None) -> None:
        """Save to the project's file, ask for one the first time, and go on with ``then``."""
        if self.path is None:
            self.save_as(then)
        else:
            self.save_to(self.path, then)

    def save_as(self, then: Callable[[], object] | None = None) -> None:
        """Ask for a file and save there; overwriting is asked about."""
        if (project := self.document.project) is None:
            return
        ask_place(
            self.window,
            message("Save the project"),
            f"{Path(project.name).stem}{storage.SUFFIX}",
            message("Projects (*{SUFFIX})", storage.SUFFIX),
            lambda path: self.save_to(Path(path), then),
        )

    def save_to(self, path: Path, then: Callable[[], object] | None = None) -> None:
        """Save the project file, with its whole history, and go on with ``then``."""
        history = self.document.history
        if (held := self._held) is None or held.path != path.absolute():
            try:
                held = HeldProject(path)
            except InUseError as error:
                self._not_saved(error, then)
                return
        connected(
            self.document.jobs.command(
                message("save {name}", path.name), lambda _: storage.save(history, path), deniable=False
            ),
            finished=lambda _: self._saved(held, history, then),
            failed=tell_failure(lambda error: self._not_saved(error, then, held)),
        )

    def _saved(self, held: HeldProject, history: History, then: Callable[[], object] | None = None) -> None:
        self._hold(held)
        self.document.saved = history.project
        self.recent.remember(str(held.path), history)
        self.saved.emit(str(held.path))
        if then is not None:
            # After the job has ended: closing the window ends all jobs.
            QTimer.singleShot(0, self, then)

    def _not_saved(
        self, error: TabprotectError, then: Callable[[], object] | None, held: HeldProject | None = None
    ) -> None:
        if held is not None and held is not self._held:
            held.release()
        self.window.page.show_error(
            error, remedy_label=message("Save elsewhere"), remedy=lambda: self.save_as(then)
        )

    # -- leaving ------------------------------------------------------------------------------

    def may_close(self) -> bool:
        """Return True if the window may close; otherwise a strip says what is unsaved."""
        if self._leave or not self.document.modified:
            return True
        self._ask_unsaved(message("Quit without saving"), self._quit, saved=self.window.close)
        return False

    def _quit(self) -> None:
        self._leave = True
        self.window.close()
