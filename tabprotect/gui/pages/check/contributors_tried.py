"""What contributors and others learn from protected magnitudes: the verdict, and who was tried on whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QStackedWidget, QWidget

from tabprotect.engine.arrays import Floats
from tabprotect.engine.bundle.staff.release_findings import magnitude_headline
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.magnitudes.patterns.tried_readers import TriedReader, tried_readers
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import infer_magnitudes
from tabprotect.engine.project.verbs.table_verbs import placed
from tabprotect.engine.protection.problem import Protected, StaffVerdict
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.judging import WAITING
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.forms.banner import Banner
from tabprotect.gui.forms.remedies import Remedies, take_for_magnitudes
from tabprotect.gui.grid.magnitude_grid import MagnitudeGrid, ShownMagnitudes, magnitude_text
from tabprotect.gui.look.buttons import Inside, Scrolling, card, choice, connected, faces
from tabprotect.gui.look.drawn.icons import icon
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import filled, held, in_column, in_row, split
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, Colours, chance_number, count_text, number_text, per_cent
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

Read = tuple[StaffVerdict, Floats | None]
"""The verdict on a release by itself, and an outsider's belief about each cell."""

KINDS = {
    "all": message("All readers"),
    "close": message("Too close"),
    "anybody": message("Anybody"),
    "alone": message("One contributor"),
    "together": message("Several together"),
}
"""The readers that can be listed."""


UNITED = message("Proved for these readers, not for contributors who talk to each other.")


class ContributorsTried(QWidget):
    """The verdict on magnitudes; below it what was tried, and what an outsider can guess."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page, self.document = page, page.document
        document = page.document
        self._rows: list[TriedReader] = []

        def more(_: object = None) -> None:
            page.follow("release")

        self._reading: BackgroundTask[Read] = BackgroundTask(self, document.jobs, more, page.show_error)
        self._trying: BackgroundTask[tuple[TriedReader, ...]] = BackgroundTask(
            self, document.jobs, more, page.show_error
        )
        document.judging.changed.connect(more)
        self.banner, self.remedies = Banner(), Remedies()
        self.remedies.chosen.connect(partial(take_for_magnitudes, page))
        self.map = connected(
            MagnitudeGrid(message("How probable a near guess is")),
            current_changed=document.select,
            placed=lambda where: document.run(placed(where), page=page.name),
        )
        self._map_note = Label(wordWrap=True, role="quiet")
        self.stack = filled(
            QStackedWidget(),
            self._listing(),
            held(in_column((self.map, 1), self._map_note, margins=0, spacing=GRID)),
        )
        in_column(self.banner, self.remedies, (self.stack, 1), on=self, margins=0, spacing=GRID)
        self.faces = faces(
            {"tried": message("Contributors"), "map": message("Map of guesses")}, self.show_face
        )
        tools = held(in_row(*self.faces.values(), margins=0, spacing=GRID))
        self._note = Label(wordWrap=True, role="quiet")
        self.around = (tools, self._note)
        page.tools.addWidget(tools)
        page.footer.addWidget(self._note, 1)
        document.selection_changed.connect(self._selected)
        self.show_face("tried")

    def _listing(self) -> QWidget:
        """The list of those who were tried, and how the chosen one would do it."""
        self.kinds = choice(message("Which readers are listed"), KINDS, self._fill)
        self.list = connected(RowList(message("Who could estimate whom")), chosen=self._explain)
        how = message("How that would be done")
        self.steps = Label(wordWrap=True, name=how)
        inner = Inside()
        in_column(self.steps, 1, on=inner, margins=2 * GRID)
        shown = card(in_column(Scrolling(inner, name=how, sideways=False), margins=0))
        self._list_note = Label(wordWrap=True, role="quiet")
        head = in_row(heading(message("Who could estimate whom")), 1, self.kinds)
        left = held(in_column(head, (self.list, 1), self._list_note, margins=0, spacing=GRID))
        side = held(in_column(heading(how), (shown, 1), margins=(GRID, 0, 0, 0), spacing=4))
        return split((left, 3), (side, 2))

    def show_face(self, name: str) -> None:
        """``tried`` for what contributors know, or the ``map``."""
        self.stack.setCurrentIndex(list(self.faces).index(name))
        self.faces[name].setChecked(True)

    def pieces(self) -> Iterator[object]:
        """None: nothing takes long to build."""
        return iter(())

    def choices(self) -> Mapping[str, Callable[[], object]]:
        """None: nothing is written of it."""
        return {}

    def without_work(self) -> frozenset[str]:
        """The menu entries that have nothing to work on."""
        return self.page.stage.idle(self.document)

    def words(self, project: Project) -> list[str]:
        """The command line of what an outsider can guess."""
        return infer_magnitudes(project)

    # -- what is shown ------------------------------------------------------------------------

    @property
    def tried(self) -> tuple[TriedReader, ...]:
        """The readers that were tried on the release."""
        return self._trying.answer or ()

    def refresh(self, changes: PageChanges) -> None:
        """Bring it up to date with the release."""
        project, release = self.document.project, self.document.magnitude_release
        assert project is not None and release is not None
        house = self.document.in_house
        self.faces["tried"].setVisible(house)
        if not house:
            # What may not be seen is taken away, not only hidden.
            self._trying.drop()
            self.show_face("map")
        self._ask(project, release)
        self._show(project)
        self._fill()
        self._draw(project, release)

    def _ask(self, project: Project, release: Release) -> None:
        def read(_progress: Progress) -> Read:
            found = verdict(release)
            method = methods("magnitudes")[release.mechanism.method]
            return found, method.outsider(release, found.limits.near)

        self._reading.ask(message("what a reader would know"), read, (release,))
        done, magnitudes = project.protected_magnitudes, project.magnitudes
        if not self.document.in_house or done is None or magnitudes is None or not magnitudes.rules:
            return
        if not release.magnitude_table.hidden.any():
            self._trying.drop()
            return
        work = partial(_all_tried, magnitudes, done)
        self._trying.ask(message("who could estimate whom"), work, (release, magnitudes.weights))

    def _show(self, project: Project) -> None:
        found = self._reading.answer
        done = project.protected_magnitudes if self.document.in_house else None
        refused = done is not None and not project.published and not done.verdict.passed
        self.remedies.show_remedies(self.document.judging.remedies(project) if refused else ())
        hidden = done is not None and done.release.magnitude_table.hidden.any()
        self._note.setText(UNITED if hidden else "")
        line = WAITING if found is None else magnitude_headline(found[0], staff=False)
        # Whether it is ready the gate alone says: it asks for more than readers.
        staff = line if done is None else magnitude_headline(done.verdict, staff=True)
        self.banner.show_line(replace(staff, word=""))

    def _fill(self) -> None:
        """The list of those who were tried, worst first."""
        magnitudes = self.document.magnitudes
        self.steps.setText("")
        if not self.document.in_house or magnitudes is None:
            self.list.show_rows(())
            self._list_note.setText("")
            return
        kind = str(self.kinds.currentData())
        rows = [one for one in self.tried if _fits(one, kind)]
        self._rows = rows
        self.list.show_rows(self._columns(magnitudes, rows), stretch=(0, 1, 2))
        running = self._trying.running
        self._list_note.setText(
            translate(
                message("Trying contributors as readers\u2026")
                if running
                else message(
                    "{shown} of {all} shown, closest first; \u2265 where the search ended early.",
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

    def _columns(self, magnitudes: ChosenMagnitudes, rows: list[TriedReader]) -> tuple[ListColumn, ...]:
        text = magnitude_text(magnitudes.table.decimals)

        def bound(said: str, one: TriedReader) -> str:
            return message("\u2265 {text}", said) if one.more else said

        cells = [magnitudes.table.cells.nodes[:, one.cell] for one in rows]
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
                [self.document.magnitude_cell_text(tuple(nodes.tolist())) for nodes in cells],
                str,
                right=False,
                data=True,
            ),
            ListColumn(message("true"), np.array([one.true for one in rows]), text),
            ListColumn(
                message("cannot rule out"),
                [text(one.upper) for one in rows],
                str,
                order=np.array([one.upper for one in rows]),
            ),
            ListColumn(
                message("too much by"),
                [bound(_off(one), one) for one in rows],
                str,
                order=np.array([one.off for one in rows]),
            ),
        )

    def _explain(self, row: int) -> None:
        """The subtraction behind a line, which a person can check."""
        if (
            (magnitudes := self.document.magnitudes) is None
            or not self.document.in_house
            or row >= len(self._rows)
        ):
            return
        one, table = self._rows[row], magnitudes.table
        text = magnitude_text(table.decimals)
        value = int(table.cells.value[one.cell])
        nodes = tuple(table.cells.nodes[:, one.cell].tolist())
        lines = [
            message(
                "1.  {cell} is hidden ({value}); from what is published {whole} cannot be ruled out.",
                self.document.magnitude_cell_text(nodes),
                text(value),
                text(one.upper + one.own),
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
                "{n}.  So it cannot be ruled out that {target} has {upper}{last}; the truth is {true}.",
                len(lines) + 1,
                one.target,
                text(one.upper),
                "" if one.more else message(", and no more"),
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
        verdict, beliefs = self._reading.answer or (None, None)
        if verdict is None or beliefs is None:
            self.map.hide()
            many = message("So many sums are hidden that beliefs about them were not worked out.")
            self._map_note.setText(WAITING.text if verdict is None else many)
            return
        self.map.show()
        limit = verdict.limits.belief_limit
        shown = ShownMagnitudes(beliefs, lambda value: chance_number(float(value)), mark=beliefs > limit)
        placement = project.shown_placement
        table = release.magnitude_table
        self.map.show_magnitudes(table.variables, table.key, placement, shown)
        self._map_note.setText(
            translate(
                message(
                    "In how many of 100 the best guess of somebody outside is within {within} % of the truth, "
                    "if the sum were that of one contributor. Marked: above {limit}.",
                    number_text(100 * verdict.limits.near, digits=0),
                    chance_number(limit),
                )
            )
        )

    def _selected(self, index: Index | None) -> None:
        if self.document.of_magnitudes and self.map.isVisible():
            self.map.select(index)


def _all_tried(magnitudes: ChosenMagnitudes, done: Protected, progress: Progress) -> tuple[TriedReader, ...]:
    pattern = done.record.primary, done.release.magnitude_table.hidden
    rules = rules_of(magnitudes.rules)
    return tried_readers(magnitudes.table, rules, pattern, weights=magnitudes.weights, progress=progress)


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


def _off(one: TriedReader) -> str:
    if one.off >= 10:
        return message("{times} times", number_text(one.off, digits=0))
    return per_cent(number_text(100 * one.off, digits=0))


def _sign(colours: Colours) -> QIcon:
    return icon("tick", colour=colours.released)


def _warning(colours: Colours) -> QIcon:
    return icon("cross", colour=colours.error)
