"""Every way to protect the table, grouped by what it promises, and each to be taken or tuned."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.release_verbs import protect_words
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.stage import setup_page
from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.buttons import named, push_button, silent
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import filled, set_visible
from tabprotect.gui.look.theme import count_text
from tabprotect.gui.pages.protect.taking import protect_by
from tabprotect.gui.pages.protect.ways import MORE, Way, ways
from tabprotect.gui.pages.protect.words import PUBLIC
from tabprotect.gui.pages.stages import PROTECT
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate


class ProtectPage(Page):
    """The ways; what is tried goes on beside the window."""

    stage = PROTECT

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.ways: list[Way] = []
        self._coming = AfterPress(self, self._show)
        self.list = named(QTreeWidget(), message("Ways to protect, best first"))
        self.list.setHeaderLabels([tr("Way"), tr("known"), tr("moves by")])
        self.list.setRootIsDecorated(False)
        self.list.setItemsExpandable(False)
        self.list.setUniformRowHeights(True)
        head = self.list.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
            self.list.headerItem().setTextAlignment(column, Qt.AlignmentFlag.AlignRight)
        self.list.currentItemChanged.connect(lambda *_: self._turned())
        self.list.itemActivated.connect(lambda *_: self.main_action())
        self.why = Label(wordWrap=True, role="quiet", name=message("What is to be said of it"))
        filled(self.body, (self.list, 1), self.why)
        self.tune = push_button(message("Tune"), self._tune, flat=True)
        self.many = push_button(message("Many runs"), lambda: document.page_asked.emit("compare"), flat=True)
        filled(self.footer, self.tune, self.many, 1)
        self.begins = self.list
        document.trying.changed.connect(self._more)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"choose": self.list.setFocus, "again": self.try_again}

    def words(self, project: Project) -> list[str]:
        return protect_words(project) if project.of_magnitudes else []

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project, house = self.document.project, self.document.in_house
        set_visible(house, self.list, self.main_button, self.note, self.tune, self.many)
        if project is None or not house:
            self.document.trying.leave()
            self.ways = []
            self.list.clear()
            self.why.clear()
            self.set_sentence(PUBLIC)
            return
        self.document.trying.ask(project)
        self._show()

    def _more(self) -> None:
        self.when_seen(self._coming.go)

    def _show(self) -> None:
        project, trying = self.document.project, self.document.trying
        if project is None or not self.document.in_house or not methods(project.measure).loaded:
            return
        chosen = self.chosen
        self.ways = ways(project, trying)
        self.set_sentence(
            message("Trying {i} of {m} ways", trying.number, len(methods(project.measure)))
            if trying.running
            else ""
        )
        with silent(self.list):
            self._fill(project)
        self._pick((chosen.method if chosen is not None else "") or project.method)
        self._turned()

    def _fill(self, project: Project) -> None:
        self.list.clear()
        groups: dict[str, QTreeWidgetItem] = {}
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for number, way in enumerate(self.ways):
            if way.group not in groups:
                words = translate(way.group)
                if way.group == MORE:
                    n = sum(one.group == MORE for one in self.ways)
                    words = tr("{n} more: change too much, or need a choice", count_text(n))
                head = groups[way.group] = QTreeWidgetItem(self.list, [words])
                head.setFlags(Qt.ItemFlag.ItemIsEnabled)
                head.setFirstColumnSpanned(True)
                head.setExpanded(True)
            name = translate(way.name)
            row = QTreeWidgetItem(groups[way.group], [name, translate(way.known), translate(way.change)])
            row.setData(0, Qt.ItemDataRole.UserRole, number)
            row.setToolTip(0, tip(way.why))
            if way.method == project.method:
                font = row.font(0)
                font.setBold(True)
                row.setFont(0, font)
            for column in (1, 2):
                row.setTextAlignment(column, right)

    def _rows(self) -> list[QTreeWidgetItem]:
        heads = (self.list.topLevelItem(n) for n in range(self.list.topLevelItemCount()))
        return [child for head in heads if head is not None for n in range(head.childCount())
                if (child := head.child(n)) is not None]  # fmt: skip

    def _pick(self, method: str) -> None:
        rows = self._rows()
        row = next((r for r in rows if self.ways[r.data(0, Qt.ItemDataRole.UserRole)].method == method), None)
        if row is not None or rows:
            self.list.setCurrentItem(row or rows[0])

    @property
    def chosen(self) -> Way | None:
        """The way that is looked at."""
        item = self.list.currentItem()
        number = None if item is None else item.data(0, Qt.ItemDataRole.UserRole)
        return self.ways[number] if isinstance(number, int) and number < len(self.ways) else None

    def choose(self, method: str) -> None:
        """Look at a way."""
        self._pick(method)

    def _turned(self) -> None:
        way = self.chosen
        self.why.setText(translate("" if way is None else way.why))
        able = way is not None and not getattr(way.trial, "fault", "")
        self.main_button.setEnabled(able)
        self.tune.setEnabled(way is not None)

    # -- what happens -------------------------------------------------------------------------

    def try_again(self) -> None:
        """Try every method once more, also after somebody stopped it."""
        self.document.trying.again()
        self.refresh(frozenset({"table"}))

    def main_action(self) -> None:
        if (way := self.chosen) is not None and self.main_button.isEnabled():
            protect_by(self, way)

    def _tune(self) -> None:
        if (way := self.chosen) is not None:
            protect_by(self, way, run=False)
            self.document.page_asked.emit(setup_page(self.document))
