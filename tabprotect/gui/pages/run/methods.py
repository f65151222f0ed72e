"""The methods page: every registered method, its form, its help, and what a run published."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTextBrowser,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from tabprotect.engine.errors import ParameterError, RefusedError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.shell import as_command
from tabprotect.engine.protection.problem import Preview
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.summary import summarise
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Changes, Page
from tabprotect.gui.forms.method_form import MethodForm, heading
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.pages.run.method_help import method_help
from tabprotect.gui.pages.run.method_result import MethodResult
from tabprotect.gui.pages.run.preview_panel import RefusalStrip
from tabprotect.gui.pages.run.run_words import expectation

WAIT = 300
"""Milliseconds of rest before a method is tried."""

JUDGED = frozenset({"table", "at_risk", "cycles", "parameters", "view", "everything"})


class MethodsPage(Page):
    """Two faces: the methods with form and help, and the tables that a run published."""

    name = "methods"
    label = "Methods"
    icon = "methods"
    hint = "Every way to protect the table: its parameters, its promises, its result."
    main_label = "Run"
    aside = True

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._preview: Preview | None = None
        self._key: tuple[object, ...] = ()
        self._seen: object = None
        self._ordered: object = None
        self.list = QListWidget()
        self.list.setAccessibleName("Methods")
        self.list.setMinimumWidth(18 * GRID)
        self.list.setWordWrap(True)
        self.list.setResizeMode(QListView.ResizeMode.Adjust)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSpacing(GRID // 2)
        self.list.currentItemChanged.connect(lambda now, _: self._chosen(now))
        self.form = MethodForm()
        self.help = QTextBrowser(openLinks=False)
        self.help.setAccessibleName("Help of the method")
        self.expected = Label(wordWrap=True)
        self.expected.setAccessibleName("What will happen")
        self.refusal = RefusalStrip()
        self.result = MethodResult()
        self._wait = QTimer(self, singleShot=True, interval=WAIT)
        self._faces: dict[str, QToolButton] = {}
        for name, text in (("setup", "Set-up"), ("result", "Result")):
            button = QToolButton(text=text, checkable=True, autoExclusive=True)
            button.setAccessibleName(f"Show the {text.lower()}")
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.clicked.connect(lambda _=False, n=name: self.show_face(n))
            self._faces[name] = button
            self.tools.addWidget(button)
        self.stack = QStackedWidget()
        self.stack.addWidget(self._setup())
        self.stack.addWidget(self.result)
        self.body.addWidget(self.stack, 1)
        self._copy = QPushButton("Copy as command", flat=True)
        self._copy.setAccessibleName("Copy the run as a command line")
        self._copy.clicked.connect(self.copy_command)
        self.footer.addWidget(self._copy)
        self.footer.addStretch(1)
        QWidget.setTabOrder(self.main_button, self._faces["setup"])
        QWidget.setTabOrder(self._copy, self.main_button)
        self._connect()
        self._fill_list()
        self.show_face("setup")

    def _setup(self) -> QWidget:
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(GRID, 0, GRID, 0)
        column.setSpacing(GRID)
        column.addWidget(heading("Parameters"))
        column.addWidget(self.form, 1)
        column.addWidget(self.refusal)
        column.addWidget(self.expected)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        for widget, room in ((self.list, 2), (middle, 4), (self.help, 4)):
            split.addWidget(widget)
            split.setStretchFactor(split.count() - 1, room)
        split.setSizes([22 * GRID, 44 * GRID, 44 * GRID])
        whole = QWidget()
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(split)
        return whole

    def _connect(self) -> None:
        document = self.document
        self._wait.timeout.connect(self._try)
        self.form.parameters_set.connect(self._set)
        self.form.seed_set.connect(
            lambda seed: document.apply("set_seed", page=self.name, seed=seed)
        )
        self.form.wrong.connect(self.show_error)
        self.form.cycles_asked.connect(lambda: document.page_asked.emit("cycles"))
        self.refusal.accepted.connect(lambda: self.protect(accept_weak=True))
        self.result.chosen.connect(document.select)
        document.selection_changed.connect(self._selected)

    def menu_actions(self) -> list[tuple[str, QAction]]:
        rows: tuple[tuple[str, Callable[[], object]], ...] = (
            ("Run the &method", self.protect),
            ("Show the methods' set-up", lambda: self.show_face("setup")),
            ("Show the published tables", lambda: self.show_face("result")),
        )
        out = []
        for text, run in rows:
            action = QAction(text, self)
            action.triggered.connect(lambda _=False, r=run: (self._come(), r()))
            out.append(("Protect", action))
        return out

    def _come(self) -> None:
        if not self.isVisible():
            self.document.page_asked.emit(self.name)

    @property
    def editable(self) -> bool:
        """Whether a method may be chosen and run: in the house, in the house's view."""
        return self.document.has_original and not self.document.public

    def shows_original(self) -> bool:
        return self.editable

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.form.flush()
        if self._wait.isActive():
            self._wait.stop()
            self._key = ()
            self._missed |= {"parameters"}

    # -- faces --------------------------------------------------------------------------------

    @property
    def face(self) -> str:
        """``setup`` or ``result``."""
        return "result" if self.stack.currentWidget() is self.result else "setup"

    def show_face(self, name: str) -> None:
        """Show the set-up, or what was published where there is something."""
        if name == "result" and self.document.release is None:
            name = "setup"
        self.stack.setCurrentIndex(1 if name == "result" else 0)
        self._faces[name].setChecked(True)
        self._tell()

    # -- the list -----------------------------------------------------------------------------

    def _fill_list(self) -> None:
        for name, method in methods().items():
            item = QListWidgetItem(method.label)
            item.setData(Qt.ItemDataRole.UserRole, name)
            self.list.addItem(item)

    def _show_list(self, project: Project) -> None:
        self.list.blockSignals(True)
        for number in range(self.list.count()):
            item = self.list.item(number)
            name = item.data(Qt.ItemDataRole.UserRole)
            unmet = methods()[name].unmet(project.problem) if self.editable else {}
            reason = "; ".join(unmet.values())
            # It stays choosable: the page then says what is missing, and the help can be read.
            item.setForeground(
                self.palette().placeholderText() if reason else self.palette().text()
            )
            item.setToolTip(tip(reason or methods()[name].help.splitlines()[0]))
            item.setData(
                Qt.ItemDataRole.AccessibleDescriptionRole,
                f"Not possible: {reason}" if reason else "",
            )
            if name == project.method:
                self.list.setCurrentItem(item)
        self.list.setEnabled(self.editable)
        self.list.blockSignals(False)

    def _chosen(self, item: QListWidgetItem | None) -> None:
        project = self.document.project
        if item is None or project is None:
            return
        name = item.data(Qt.ItemDataRole.UserRole)
        if name != project.method:
            self.document.apply("set_method", page=self.name, method=name)

    def _order(self) -> None:
        """Tab follows the eye, also through fields that were made just now."""
        stops: list[QWidget] = [*self._faces.values(), self.list, *self.form.stops]
        stops += [self.refusal.accept, self.help]
        for first, second in pairwise(stops):
            QWidget.setTabOrder(first, second)

    # -- bringing up to date ------------------------------------------------------------------

    def refresh(self, changes: Changes) -> None:
        project = self.document.project
        if project is None:
            return
        if changes & {"theme", "everything"}:
            # Fusion frames a line that has the focus, but no list.
            self.list.setStyleSheet(
                f"QListWidget:focus {{ border: 1px solid {THEME.colours.focus}; }}"
            )
        self._show_list(project)
        house = self.editable
        method = project.protection
        self.form.show_method(
            method, project.values, seed=project.seed if house else None, house=house
        )
        if self._ordered is not method:
            self._ordered = method
            self._order()
        self.help.setHtml(method_help(method, project.problem if house else None))
        self._copy.setVisible(house)
        self._faces["result"].setEnabled(self.document.release is not None)
        if changes & JUDGED:
            self._invalidate(project)
        release = project.release
        self.result.show_result(release, project.protected if house else None)
        if release is not None and release is not self._seen and self._seen is not False:
            self.show_face("result")
        elif release is None:
            self.show_face("setup")
        self._seen = release
        self._tell()

    def _tell(self) -> None:
        project = self.document.project
        result = self.face == "result"
        if project is None:
            self.set_sentence("")
            return
        unmet = project.protection.unmet(project.problem) if self.editable else {}
        self.main_button.setVisible(self.editable or result)
        self.main_button.setEnabled(result or not unmet)
        self.main_button.setText("See what a reader can believe" if result else "Run")
        if not result:
            lines = project.protection.help.splitlines()
            reason = "; ".join(unmet.values())
            self.set_sentence(f"Not possible here: {reason}." if reason else lines[0])
        elif self.editable and project.protected is not None:
            self.set_sentence(summarise(project.protected).sentence)
        else:
            self.set_sentence(
                "These are the published tables, as every reader sees them."
                if self.document.release is not None and len(self.document.release.tables) > 1
                else "This is the published table, as every reader sees it."
            )

    # -- the preview --------------------------------------------------------------------------

    def _invalidate(self, project: Project) -> None:
        self.refusal.clear()
        self._key, self._preview = (), None
        self.expected.clear()
        if not self.editable:
            self.expected.setText(
                "What a method does to this very table is confidential."
                if self.document.has_original
                else "This is how the table was made."
            )
            return
        if project.protection.unmet(project.problem):
            return
        self._key = (project.table, project.at_risk, project.method, project.parameters)
        self.expected.setText("Trying the method on this table\u2026")
        self._wait.start()

    def _try(self) -> None:
        project, key = self.document.project, self._key
        if project is None or not key or not self.editable:
            return

        def work(progress: Progress) -> Preview:
            return project.protection.preview(project.problem, project.given, progress)

        job = self.document.jobs.question("try the method", work, name="method preview")
        job.finished.connect(lambda preview: self._tried(key, preview))
        job.failed.connect(lambda error: self._not_tried(key, error))
        job.cancelled.connect(lambda: self.expected.setText("Not tried: cancelled."))

    def _tried(self, key: tuple[object, ...], preview: Preview) -> None:
        if key is not self._key:
            return
        self._preview = preview
        self.expected.setText(expectation(preview))

    def _not_tried(self, key: tuple[object, ...], error: Exception) -> None:
        if not isinstance(error, TabprotectError):
            raise error
        if key is not self._key:
            return
        self.expected.clear()
        if not (isinstance(error, ParameterError) and self.form.show_error(error)):
            hint = f" {error.hint[0].upper()}{error.hint[1:]}." if error.hint else ""
            self.expected.setText(f"Not possible: {error.message}.{hint}")

    # -- doing --------------------------------------------------------------------------------

    def _set(self, given: dict[str, Any]) -> None:
        def failed(error: TabprotectError) -> None:
            if isinstance(error, ParameterError) and self.form.show_error(error):
                return
            if len(given) == 1:
                # Whatever is wrong came with this one field.
                hint = f". {error.hint[0].upper()}{error.hint[1:]}" if error.hint else ""
                self.form.show_faults(dict.fromkeys(given, f"{error.message}{hint}"))
                return
            self.show_error(error)

        self.document.apply("set_parameters", page=self.name, failed=failed, **given)

    def main_action(self) -> None:
        if self.face == "result":
            self.document.page_asked.emit("posterior")
        else:
            self.protect()

    def protect(self, *, accept_weak: bool = False) -> None:
        """Run the method; what the gate refuses goes out by an explicit decision only."""
        if not self.editable:
            return
        self.form.flush()
        given: dict[str, Any] = {"accept_weak": True} if accept_weak else {}
        self.document.apply("protect", page=self.name, **given)

    def show_error(
        self,
        error: TabprotectError,
        *,
        remedy_label: str = "",
        remedy: Callable[[], object] | None = None,
    ) -> None:
        if isinstance(error, RefusedError):
            self.show_face("setup")
            self.refusal.refuse(error.message, ())
            self.refusal.setFocus()
            return
        super().show_error(error, remedy_label=remedy_label, remedy=remedy)

    def copy_command(self) -> None:
        """Put the command line of this run onto the clipboard."""
        project = self.document.project
        if project is not None and self.editable:
            QGuiApplication.clipboard().setText(as_command(project, "protect"))

    def _selected(self, index: Index | None) -> None:
        if self.isVisible() and self.document.project is not None:
            self.result.select(index)
