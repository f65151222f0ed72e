"""What contributors and others learn from protected sums: the verdict, and who was tried on whom."""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QComboBox, QFrame, QSplitter, QStackedWidget, QWidget

from tabprotect.engine.arrays import Floats
from tabprotect.engine.bundle.staff.release_findings import sums_headline
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import Suggestion
from tabprotect.engine.magnitudes.patterns.tried_readers import TriedReader, tried_readers
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import infer_sums
from tabprotect.engine.project.verbs.table_verbs import placed
from tabprotect.engine.protection.problem import Protected, StaffVerdict
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.findings import said
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.forms.banner import Banner
from tabprotect.gui.forms.remedies import Remedies, take_for_sums
from tabprotect.gui.grid.sums_grid import ShownSums, SumsGrid, sum_text
from tabprotect.gui.look.buttons import faces, named
from tabprotect.gui.look.drawn.icons import icon
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import filled, in_column, in_row
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, Colours, chance_text, count_text, number_text, per_cent
from tabprotect.gui.pages.stages import CheckStage
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

Read = tuple[StaffVerdict, Floats | None]
"""What a release says by itself: its verdict, and an outsider's belief about each cell."""

KINDS = {
    "all": message("All readers"),
    "close": message("Too close"),
    "anybody": message("Anybody"),
    "alone": message("One contributor"),
    "together": message("Several together"),
}
"""The readers that can be listed."""


class CheckSumsPage(CheckStage, Page):
    """The verdict's card; below it what was tried, and what an outsider can guess."""

    hint = message("Who could work out whose amount?")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._verdict: StaffVerdict | None = None
        self._beliefs: Floats | None = None
        self.tried: tuple[TriedReader, ...] = ()
        self._rows: list[TriedReader] = []
        self._reading: BackgroundTask[Read] = BackgroundTask(self, document.jobs, self._read, self.show_error)
        self._trying: BackgroundTask[tuple[TriedReader, ...]] = BackgroundTask(
            self, document.jobs, self._listed, self.show_error
        )
        self.banner = Banner()
        self.body.addWidget(self.banner)
        self.remedies = Remedies()
        self.remedies.chosen.connect(partial(take_for_sums, self))
        self.body.addWidget(self.remedies)
        document.judging.changed.connect(lambda: self._changed(frozenset({"release"})))
        self._build_list()
        self.map = SumsGrid(message("How probable a near guess is"))
        self.map.current_changed.connect(document.select)
        self.map.placed.connect(lambda where: document.run(placed(where), page=self.name))
        self._map_note = Label(wordWrap=True, role="quiet")
        self._map = QWidget()
        in_column((self.map, 1), self._map_note, on=self._map, margins=0, spacing=GRID)
        self.stack = QStackedWidget()
        filled(self.stack, self._list, self._map)
        self.body.addWidget(self.stack, 1)
        self.faces = faces(
            {"tried": message("Contributors"), "map": message("Map of guesses")}, self.show_face
        )
        filled(self.tools, *self.faces.values())
        self._note = Label(wordWrap=True, role="quiet")
        self.footer.addWidget(self._note, 1)
        document.selection_changed.connect(self._selected)
        self.show_face("tried")

    def _build_list(self) -> None:
        self.kinds = named(QComboBox(), message("Which readers are listed"))
        for name, words in KINDS.items():
            self.kinds.addItem(translate(words), name)
        self.kinds.currentIndexChanged.connect(lambda _: self._fill())
        self.list = RowList(message("Who could estimate whom"))
        self.list.chosen.connect(self._explain)
        self._how = heading(message("How that would be done"))
        self.steps = Label(wordWrap=True, name=message("How that would be done"))
        card = QFrame()
        dress(card, "card")
        in_column(self.steps, on=card, margins=2 * GRID, spacing=GRID)
        side, left = QWidget(), QWidget()
        in_column(self._how, card, 1, on=side, margins=(GRID, 0, 0, 0), spacing=4)
        self._list_note = Label(wordWrap=True, role="quiet")
        in_column(
            in_row(heading(message("Who could estimate whom")), 1, self.kinds),
            (self.list, 1),
            self._list_note,
            on=left,
            margins=0,
            spacing=GRID,
        )
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        filled(split, left, side)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        self._list: QWidget = split

    def show_face(self, name: str) -> None:
        """``tried`` for what contributors know, or the ``map``."""
        self.stack.setCurrentIndex(list(self.faces).index(name))
        self.faces[name].setChecked(True)

    def words(self, project: Project) -> list[str]:
        return infer_sums(project)

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project, release = self.document.project, self.document.release_of_sums
        if project is None or release is None:
            return
        house = self.document.in_house
        self.faces["tried"].setVisible(house)
        if not house:
            # What may not be seen is taken away, not only hidden.
            self.tried = ()
            self._trying.drop()
            self.show_face("map")
        self._ask(project, release)
        self._show()
        self._fill()
        self._draw(project, release)

    def _ask(self, project: Project, release: Release) -> None:
        def read(_progress: Progress) -> Read:
            found = verdict(release)
            method = methods("magnitudes")[release.mechanism.method]
            return found, method.outsider(release, found.limits.near)

        if self._reading.ask(message("what a reader would know"), read, (release,)):
            self._verdict = self._beliefs = None
        done, sums = project.protected_sums, project.sums
        if not self.document.in_house or done is None or sums is None or not sums.rules:
            return
        if not release.magnitude_table.hidden.any():
            self.tried = ()
            return
        work = partial(_all_tried, sums, done)
        if self._trying.ask(message("who could estimate whom"), work, (release, sums.weights)):
            self.tried = ()

    def _read(self, found: Read) -> None:
        self._verdict, self._beliefs = found
        # Out of sight it is shown when the page is next.
        self._changed(frozenset({"release"}))

    def _listed(self, found: tuple[TriedReader, ...]) -> None:
        self.tried = found
        self._changed(frozenset({"release"}))

    def _show(self) -> None:
        project = self.document.project
        done = None if project is None else project.protected_sums
        helps: tuple[Suggestion, ...] | None = ()
        leaving = self.document.in_house and project is not None and not project.published
        if project is not None and leaving and done is not None and not done.verdict.passed:
            helps = self.document.judging.remedies(project)
        self.remedies.show_remedies(helps)
        if self.document.in_house and done is not None:
            line = sums_headline(done.verdict, staff=True)
            self.banner.show_line(line)
            self._note.setText(
                translate(
                    message("Proved for these readers, not for contributors who talk to each other.")
                    if done.release.magnitude_table.hidden.any()
                    else ""
                )
            )
            return
        self._note.setText("")
        if self._verdict is None:
            self.banner.show_line(said(message("Working out what a reader would know \u2026")))
            return
        self.banner.show_line(sums_headline(self._verdict, staff=False))

    def _fill(self) -> None:
        """The list of those who were tried, worst first."""
        sums = self.document.sums
        self.steps.setText("")
        if not self.document.in_house or sums is None:
            self.list.show_rows(())
            self._list_note.setText("")
            return
        kind = str(self.kinds.currentData())
        rows = [one for one in self.tried if _fits(one, kind)]
        self._rows = rows
        self.list.show_rows(self._columns(sums, rows), stretch=(0, 1, 2))
        running = self._trying.running
        self._list_note.setText(
            translate(
                message("Trying contributors as readers\u2026")
                if running
                else message(
                    "{shown} of {all} shown, closest first. \u201cOff by\u201d: how far the best bound is "
                    "above the truth; \u2265 where the search ended because it was enough.",
                    count_text(len(rows)),
                    count_text(len(self.tried)),
                )
                if self.tried
                else message("Nothing is hidden: no contributor gains from what others know exactly.")
            )
        )
        if rows:
            self.list.set_current(0)
            self._explain(0)

    def _columns(self, sums: ChosenMagnitudes, rows: list[TriedReader]) -> tuple[ListColumn, ...]:
        text = sum_text(sums.table.decimals)
        cells = [sums.table.cells.nodes[:, one.cell] for one in rows]
        return (
            ListColumn(
                message("Who"),
                [_who(one) for one in rows],
                str,
                right=False,
                signs=[_sign if one.holds else _warning for one in rows],
            ),
            ListColumn(tr("whom"), [one.target for one in rows], str, right=False, data=True),
            ListColumn(
                tr("sum"),
                [self.document.sums_cell_text(tuple(nodes.tolist())) for nodes in cells],
                str,
                right=False,
                data=True,
            ),
            ListColumn(message("true"), np.array([one.true for one in rows]), text),
            ListColumn(
                message("can say: at most"),
                [_upper(one, text(one.upper)) for one in rows],
                str,
                order=np.array([one.upper for one in rows]),
            ),
            ListColumn(
                message("off by"), [_off(one) for one in rows], str, order=np.array([one.off for one in rows])
            ),
        )

    def _explain(self, row: int) -> None:
        """The subtraction behind a line, which a person can check."""
        sums = self.document.sums
        if sums is None or not self.document.in_house or row >= len(self._rows):
            return
        one, table = self._rows[row], sums.table
        text = sum_text(table.decimals)
        value = int(table.cells.value[one.cell])
        nodes = tuple(table.cells.nodes[:, one.cell].tolist())
        whole = one.upper + one.own
        lines = [
            message(
                "1.  {cell} is hidden ({value}); from what is published it is at most {whole}{more}.",
                self.document.sums_cell_text(nodes),
                text(value),
                text(whole),
                message(" or more") if one.more else "",
            )
        ]
        if one.reader and not one.own:
            lines.append(
                message("2.  {who} knows what it puts into other hidden sums, and takes that off.", _who(one))
            )
        elif one.own:
            lines.append(message("2.  {who} takes off what is its own: {own}.", _who(one), text(one.own)))
        lines.append(
            message(
                "{n}.  So {target} cannot have more than {upper}{more}; the truth is {true}.",
                len(lines) + 1,
                one.target,
                text(one.upper),
                message(" or more") if one.more else "",
                text(one.true),
            )
        )
        lines.append(
            message("The rules ask that at least {needed} stays possible: it does.", text(one.needed))
            if one.holds
            else message("The rules ask that at least {needed} stays possible.", text(one.needed))
        )
        self.steps.setText(translate(joined(lines, "\n\n")))
        self.document.select(nodes)

    def _draw(self, project: Project, release: Release) -> None:
        if self._beliefs is None:
            self.map.hide()
            self._map_note.setText(
                translate(
                    message("Working out what a reader would know \u2026")
                    if self._verdict is None
                    else message("So many sums are hidden that beliefs about them were not worked out.")
                )
            )
            return
        verdict = self._verdict
        assert verdict is not None
        self.map.show()
        limit = verdict.limits.belief_limit
        shown = ShownSums(self._beliefs, lambda value: chance_text(float(value)), mark=self._beliefs > limit)
        placement = project.placement or Placement.of(project.domain)
        table = release.magnitude_table
        self.map.show_sums(table.axes, table.key, placement, shown)
        self._map_note.setText(
            translate(
                message(
                    "How probable the best guess of somebody outside is within {within} % of the truth, if "
                    "the sum were that of one contributor. Marked: above {limit}.",
                    number_text(100 * verdict.limits.near, digits=0),
                    chance_text(limit),
                )
            )
        )

    def _selected(self, index: Index | None) -> None:
        if self.document.of_sums and self.map.isVisible():
            self.map.select(index)

    def main_action(self) -> None:
        self.document.page_asked.emit("release")


def _all_tried(sums: ChosenMagnitudes, done: Protected, progress: Progress) -> tuple[TriedReader, ...]:
    pattern = done.record.primary, done.release.magnitude_table.hidden
    rules = rules_of(sums.rules)
    return tried_readers(sums.table, rules, pattern, weights=sums.weights, progress=progress)


def _fits(one: TriedReader, kind: str) -> bool:
    size = len(one.reader)
    return {
        "all": True,
        "close": not one.holds,
        "anybody": size == 0,
        "alone": size == 1,
        "together": size > 1,
    }[kind]


def _who(one: TriedReader) -> str:
    return joined(one.reader, message(" and ")) if one.reader else message("Anybody")


def _upper(one: TriedReader, text: str) -> str:
    return message("\u2265 {text}", text) if one.more else text


def _off(one: TriedReader) -> str:
    said = (
        message("{times} times", number_text(one.off, digits=0))
        if one.off >= 10
        else per_cent(number_text(100 * one.off, digits=0))
    )
    return message("\u2265 {text}", said) if one.more else said


def _sign(colours: Colours) -> QIcon:
    return icon("tick", colour=colours.released)


def _warning(colours: Colours) -> QIcon:
    return icon("cross", colour=colours.error)
