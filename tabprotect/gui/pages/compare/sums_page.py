"""Ways to protect sums side by side: what an outsider can guess of an unsafe sum, against what is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.assessment.comparing.over_seeds import front
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import compare_sums
from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.engine.protection.registered import magnitude_methods
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.rule_field import no_rule
from tabprotect.gui.grid.sums_grid import sum_text
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, split
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, chance_text, count_text
from tabprotect.gui.pages.stages import CompareStage
from tabprotect.gui.plots.map_axis import Axis
from tabprotect.gui.plots.ru_map import Place, PlottedConfiguration, RiskUtilityMap
from tabprotect.gui.plots.series_looks import SeriesLook, series_looks
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.project.magnitudes.magnitude_comparison import ComparedSums

LOOKS = series_looks(("rules", *magnitude_methods(), "rounding"))
"""How each way is marked: the rules alone, three methods, rounding."""

MARK = 14
"""Pixels of a mark in the list."""


class CompareSumsPage(CompareStage, Page):
    """A row for each way: what an outsider can guess, what is hidden, what is changed."""

    hint = message("Ways to protect these sums side by side: what each gives away, and what it keeps.")
    main_label = message("Compare")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.set_heading(message("Protect"))
        self.rows: tuple[ComparedSums, ...] = ()
        self._key: tuple[object, ...] | None = None
        self._comparing: BackgroundTask[tuple[ComparedSums, ...]] = BackgroundTask(
            self, document.jobs, self._compared, self.show_error, came=self._compared
        )
        self.map = RiskUtilityMap(message("Return sets the method up"))
        self.map.words = self._words_of
        self.map.chosen.connect(lambda place: self._go_to(place[0]))
        self.map.opened.connect(lambda place: self._open(place[0]))
        self.list = RowList(message("Ways to protect sums"), sortable=False)
        self.list.chosen.connect(self._go_to)
        self.list.activated_row.connect(self._open)
        self._split = split((self.map, 2), (self.list, 1), down=True, sizes=(36 * GRID, 20 * GRID))
        self.no_rule = no_rule(document)
        filled(self.body, (self._split, 1), (self.no_rule, 1))
        self.no_rule.hide()
        self._note = Label(wordWrap=True, role="quiet")
        self.footer.addWidget(self._note, 1)

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"compare": self.main_action}

    def words(self, project: Project) -> list[str]:
        return compare_sums(project)

    def refresh(self, changes: PageChanges) -> None:
        project, sums = self.document.project, self.document.sums
        house = project is not None and sums is not None and self.document.in_house
        key: tuple[object, ...] | None = None
        if house and sums is not None and project is not None:
            chosen = (project.method, project.parameters, repr(project.limits))
            key = (sums.table, sums.weights, *sums.rules, *chosen)
        if key != self._key:
            self._key, self.rows = key, ()
            self._comparing.drop()
        ruled = bool(sums is not None and sums.rules)
        self.main_button.setEnabled(house and ruled)
        self.no_rule.setVisible(house and not ruled)
        self._split.setVisible(ruled or not house)
        self._show()

    def main_action(self) -> None:
        project = self.document.project
        if project is None or self._key is None or not self.main_button.isEnabled():
            return
        self.rows = ()
        self._comparing.drop()
        self._comparing.ask(message("comparing ways to protect"), partial(_compare, project), self._key)
        self._show()

    def _compared(self, found: tuple[ComparedSums, ...]) -> None:
        self.rows = found
        self._show()

    def _show(self) -> None:
        sums = self.document.sums
        if sums is None or self._key is None:
            self.list.show_rows(())
            self.map.show_nothing(message("What is protected how is for staff."))
            self.set_sentence(message("What is protected how is for staff: F9 shows it again."))
            self._note.setText("")
            return
        text = sum_text(sums.table.decimals)
        looks = [LOOKS[one.method] for one in self.rows]
        self.list.show_rows(_columns(self.rows, looks, text), stretch=(0,))
        self._show_map(looks, text)
        self.list.setVisible(bool(self.rows))
        if not sums.rules:
            self.set_sentence(message("No rule is given yet."))
        elif self._comparing.running:
            self.set_sentence(
                message("Comparing {n} ways, {done} done.", len(LOOKS), count_text(len(self.rows)))
            )
        elif self.rows:
            self.set_sentence(
                message(
                    "One scale: how probable it is that an outsider's best guess of an unsafe sum, taken "
                    "as one contributor's, is near."
                )
            )
        else:
            self.set_sentence(message("Five ways to protect these sums, each tried on this table."))
        self._note.setText(
            translate(
                message(
                    "A guess is near within the share that the p rule names, else 10 %. A hidden sum is "
                    "lost whole; hollow: somebody comes too near. Trial runs, nothing is published."
                )
            )
        )

    def _show_map(self, looks: Sequence[SeriesLook], text: Callable[[int], str]) -> None:
        if not self.rows:
            self.map.show_nothing(message("Each way is a point here: what it gives away, what it loses."))
            return
        points = np.array([[one.unsafe_worst, one.loss] for one in self.rows])
        settings = [
            _setting(number, one, look, _name(one, text))
            for number, (one, look) in enumerate(zip(self.rows, looks, strict=True))
        ]
        best = [] if self._comparing.running else front(points, (False, False))
        self.map.show_settings(settings, AXES, best)

    def _words_of(self, place: Place) -> str:
        one = self.rows[place[0]]
        return message(
            "{label}: a best guess of an unsafe sum is near with {belief}; sums lose {loss} on average",
            one.label,
            chance_text(one.unsafe_worst),
            chance_text(one.loss),
        )

    def _go_to(self, number: int) -> None:
        """Mark a way in the list and on the map."""
        if number < len(self.rows):
            self.map.set_place((number, None))
            self.list.set_current(number)

    def _open(self, number: int) -> None:
        """Go to the set-up of a way that is one of the methods."""
        project = self.document.project
        if project is None or not self.document.in_house or number >= len(self.rows):
            return
        name = self.rows[number].method
        if name in magnitude_methods():
            if project.method != name:
                self.do(set_method, method=name)
            self.document.page_asked.emit("methods")


AXES = (
    Axis(message("Largest belief about an unsafe sum"), "probability", False),
    Axis(message("What sums lose on average"), "share", False),
)
"""Risk to the right, loss upwards; both are better where they are small."""


def _setting(number: int, one: ComparedSums, look: SeriesLook, label: str) -> PlottedConfiguration:
    at = (one.unsafe_worst, one.loss)
    none = np.zeros(0)
    return PlottedConfiguration(
        number=number, label=label, look=look, runs=none.astype(np.int64), x=none, y=none,
        mean=at, low=at, high=at, beyond=one.broken is not None and int(str(one.broken)) > 0,
    )  # fmt: skip


def _compare(project: Project, progress: Progress) -> tuple[ComparedSums, ...]:
    # Imported late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.project.magnitudes.magnitude_comparison import compared_sums

    found: tuple[ComparedSums, ...] = ()
    for one in compared_sums(project, progress):
        found = (*found, one)
        progress.report(message("comparing ways to protect"), len(found) / len(LOOKS), found)
    return found


def _columns(
    rows: tuple[ComparedSums, ...], looks: Sequence[SeriesLook], text: Callable[[int], str]
) -> tuple[ListColumn, ...]:
    return (
        ListColumn(
            message("Way"),
            [_name(one, text) for one in rows],
            str,
            right=False,
            signs=[partial(look.icon, MARK) for look in looks],
        ),
        ListColumn(message("Largest belief"), [one.unsafe_worst for one in rows], chance_text),
        ListColumn(message("Average belief"), [one.mean_belief for one in rows], chance_text),
        ListColumn(message("Hidden"), [one.hidden for one in rows]),
        ListColumn(message("Average change"), [one.mean_deviation for one in rows], chance_text),
        ListColumn(message("Lost"), [one.loss for one in rows], chance_text),
        ListColumn(
            message("Too near"),
            [-1 if one.broken is None else int(str(one.broken)) for one in rows],
            lambda n: message("not tried") if n < 0 else count_text(n),
        ),
    )


def _name(one: ComparedSums, text: Callable[[int], str]) -> str:
    return translate(one.label if one.base is None else message("Rounding to {base}", text(one.base)))
