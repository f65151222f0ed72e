"""Whole groups of people, by how sure a reader could be that all of one share a category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InfeasibleError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.sensitivity.roles import NO_ROLES
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.buttons import choice, connected, offer, present
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, chance_number, count_text
from tabprotect.gui.pages.check.cell_figures import View
from tabprotect.languages.messages import in_100, message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.groups import GroupBeliefs

MOST_ROWS = 1000
"""Groups that are listed at most."""

NEVER = 1e-9
"""A chance that is none."""


class GroupsPanel(QWidget):
    """The groups of the table shown, the closest first. ``chosen`` carries the cell of a row gone to."""

    chosen = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__(accessibleName=tr("Groups"))
        self.document = document
        self._view: View | None = None
        self._asked: dict[str, tuple[int, tuple[int, ...], tuple[int, ...]]] = {}
        self._cells: list[tuple[int, ...]] = []
        self.wanted = choice(message("What a reader wants to know of a group"), changed=self._ask)
        self.sentence = Label(wordWrap=True, selectable=True, name=message("What readers learn of groups"))
        self.table = connected(
            RowList(message("Groups closest to being told"), sortable=False, compact=True),
            chosen=lambda row: self.chosen.emit(self._cells[row]),
        )
        self._asking: BackgroundTask[GroupBeliefs] = BackgroundTask(
            self, document.jobs, self._answered, self._failed
        )
        in_column(
            in_row(Label(message("All of one"), buddy=self.wanted), self.wanted, 1, spacing=GRID),
            self.sentence,
            (self.table, 1),
            on=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )

    def show_view(self, view: View | None) -> None:
        """Show the groups of the table that a posterior is of; worked out while they are looked at."""
        self._view = view
        if view is None:
            self._asking.drop()
            self._say("")
            return
        project, domain = self.document.project, view.posterior.domain
        roles = NO_ROLES if project is None or self.document.hiding else project.roles.on(domain)
        self._asked = {domain.names[one[0]]: one for one in roles.asked(domain)}
        offer(self.wanted, {}, names=self._asked, current=self.wanted.currentText())
        self._ask()

    def _ask(self) -> None:
        if (view := self._view) is None or not self.isVisible() or not self._asked:
            return
        axis, keys, _ = self._asked[self.wanted.currentText()]
        posterior, least, release = view.posterior, view.rule.high + 1, self.document.counts_release
        assert release is not None

        def work(progress: Progress) -> GroupBeliefs:
            from tabprotect.engine.belief.evidence import OfRelease
            from tabprotect.engine.disclosure.groups import MOST_CELLS, DrawnOnce, group_beliefs

            generator = OfRelease(release, "groups").generator()
            tables = DrawnOnce(posterior, generator, progress)
            small = posterior.domain.size <= MOST_CELLS
            found = group_beliefs(tables, posterior.domain, None, axis, keys, least) if small else None
            if found is None:
                raise InfeasibleError(message("the table is too large for it"))
            return found

        if self._asking.ask(message("what is learned of whole groups"), work, (posterior, axis, least)):
            self._say(message("Working out what a reader learns of whole groups."))

    def _say(self, text: str) -> None:
        self._cells = []
        self.table.show_rows(())
        self.sentence.setText(translate(text))

    def _failed(self, error: TabprotectError) -> None:
        self._say(error.sentence)

    def _answered(self, found: GroupBeliefs) -> None:
        if (view := self._view) is None:
            return
        axis, keys, categories = self._asked[self.wanted.currentText()]
        domain, posterior = view.posterior.domain, view.posterior
        others = tuple(other for other in range(domain.ndim) if other != axis and other not in keys)
        # Of categories that are as likely shared the one that most have is told.
        expected = np.moveaxis(posterior.mean.sum(axis=others, keepdims=True), axis, -1)
        shares = expected.reshape(found.whole.shape) / np.maximum(expected.sum(axis=-1).reshape(-1, 1), 1.0)
        chances = found.whole[:, list(categories)].round(9) + 1e-10 * shares[:, list(categories)]
        category, chance = np.asarray(categories)[chances.argmax(axis=1)], chances.max(axis=1)
        order = np.argsort(-chance, kind="stable")
        groups = order[found.enough[order] > 0][:MOST_ROWS]
        if not len(groups):
            self._say(message("There is no group of {least} and more.", view.rule.high + 1))
            return
        cells = np.zeros((len(groups), domain.ndim), dtype=np.int64)
        if keys:
            cells[:, list(keys)] = np.array(np.unravel_index(groups, [domain.shape[key] for key in keys])).T
        cells[:, axis] = category[groups]

        def labels(axes: Sequence[int]) -> list[str]:
            of = [(domain.variables[one].categories, cells[:, one]) for one in axes]
            return [", ".join(names[codes[row]] for names, codes in of) for row in range(len(cells))]

        def share(head: str, counts: Ints) -> ListColumn:
            inside = counts.sum(axis=others, keepdims=True)
            people = np.broadcast_to(inside.sum(axis=axis, keepdims=True), inside.shape)
            at = tuple(np.minimum(cells, np.array(inside.shape) - 1).T)
            pairs = zip(inside[at], people[at], strict=True)
            return ListColumn(head, [tr("{n} of {of}", *map(count_text, pair)) for pair in pairs], str)

        columns = [
            ListColumn(message("group"), labels(keys), str, right=False),
            ListColumn(domain.names[axis], labels((axis,)), str, right=False, data=True),
        ]
        if posterior.hidden is None or not posterior.hidden.any():
            columns.append(share(message("published"), posterior.published.counts))
        if view.original is not None:
            columns.append(share(message("true"), view.original.counts))
        columns.append(ListColumn(message("all, in 100"), chance[groups], chance_number))
        number, top = count_text(round(float(found.enough.sum()))), float(chance[groups[0]])
        closest = message(
            "Closest: {group}: a reader is {chance} sure that all are {category}.",
            labels(keys)[0] or domain.names[axis],
            in_100(top),
            labels((axis,))[0],
        )
        known = int((chance > present(self.document.project).limits.belief_limit).sum())
        self._say(
            message(
                "{known} of {number} groups give themselves away. {closest}",
                count_text(known),
                number,
                closest if top > NEVER else message("Each is sure to hold several categories."),
            )
        )
        self._cells = [tuple(int(code) for code in cell) for cell in cells]
        self.table.show_rows(columns)
