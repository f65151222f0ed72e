"""The methods page: the run page with the list of every registered method."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListView, QListWidget, QListWidgetItem, QSplitter, QWidget

from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Changes
from tabprotect.gui.look.label import tip
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.pages.run.page import RunPage
from tabprotect.gui.pages.run.stage import MethodsStage


class MethodsPage(MethodsStage, RunPage):
    """Choosing a method in the list makes it the project's."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.list.currentItemChanged.connect(lambda now, _: self._chosen(now))

    def _whole(self) -> QWidget:
        self.list = QListWidget()
        self.list.setAccessibleName("Methods")
        self.list.setMinimumWidth(18 * GRID)
        self.list.setWordWrap(True)
        self.list.setResizeMode(QListView.ResizeMode.Adjust)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSpacing(GRID // 2)
        for name, method in methods().items():
            item = QListWidgetItem(method.label)
            item.setData(Qt.ItemDataRole.UserRole, name)
            self.list.addItem(item)
        whole = QSplitter(Qt.Orientation.Horizontal)
        whole.setChildrenCollapsible(False)
        whole.addWidget(self.list)
        whole.addWidget(self.setup)
        whole.setStretchFactor(1, 1)
        whole.setSizes([22 * GRID, 88 * GRID])
        return whole

    def refresh(self, changes: Changes) -> None:
        project = self.document.project
        if changes & {"theme", "everything"}:
            # Fusion frames a line that has the focus, but no list.
            self.list.setStyleSheet(
                f"QListWidget:focus {{ border: 1px solid {THEME.colours.focus}; }}"
            )
        if project is not None:
            self._show_list(project)
        super().refresh(changes)

    def _stops(self) -> list[QWidget]:
        return [*self._faces.values(), self.list, *self.form.stops]

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
            self.do(set_method, method=name)
