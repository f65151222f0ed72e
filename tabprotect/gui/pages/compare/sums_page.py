"""Ways to protect sums side by side on one scale: how probable a near guess of a contributor's value is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.sums_verbs import compare_sums, run_of
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.work.question import Question
from tabprotect.gui.grid.sums_grid import sum_text
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.lists.listing import ListColumn, Listing
from tabprotect.gui.look.theme import chance_text, count_text
from tabprotect.gui.pages.stages import CompareStage
from tabprotect.languages.said import say
from tabprotect.languages.speaking import told

if TYPE_CHECKING:
    from tabprotect.engine.project.sums.sums_compared import ComparedSums

WAYS = 5
"""Ways that are compared: the rules alone, three methods, rounding."""


class CompareSumsPage(CompareStage, Page):
    """A row for each way: what an outsider can guess, what is hidden, what is changed."""

    hint = say("Ways to protect these sums side by side: what each gives away, and what it keeps.")
    main_label = say("Compare")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.set_heading(say("Protect"))
        self.rows: tuple[ComparedSums, ...] = ()
        self._key: tuple[object, ...] | None = None
        self._comparing: Question[tuple[ComparedSums, ...]] = Question(
            self, document.jobs, self._compared, self.show_error, came=self._compared
        )
        self.list = Listing(say("Ways to protect sums"))
        self.body.addWidget(self.list, 1)
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
        self.main_button.setEnabled(house and bool(sums is not None and sums.rules))
        self._show()

    def main_action(self) -> None:
        project = self.document.project
        if project is None or self._key is None or not self.main_button.isEnabled():
            return
        self.rows = ()
        self._comparing.drop()
        self._comparing.ask(say("comparing ways to protect"), partial(_compare, project), self._key)
        self._show()

    def _compared(self, found: tuple[ComparedSums, ...]) -> None:
        self.rows = found
        self._show()

    def _show(self) -> None:
        sums = self.document.sums
        if sums is None or self._key is None:
            self.list.show_rows(())
            self.set_sentence(say("What is protected how is for staff: F9 shows it again."))
            self._note.setText("")
            return
        self.list.show_rows(_columns(self.rows, sums.table.decimals), stretch=(0,))
        if not sums.rules:
            self.set_sentence(
                say("No rule is given yet: the page Data says which sums tell too much.")
            )
        elif self._comparing.running:
            self.set_sentence(
                say("Comparing {n} ways, {done} done.", WAYS, count_text(len(self.rows)))
            )
        elif self.rows:
            self.set_sentence(
                say(
                    "One scale: how probable it is that an outsider's best guess of a contribution is near."
                )
            )
        else:
            self.set_sentence(say("Five ways to protect these sums, each tried on this table."))
        self._note.setText(
            told(
                say(
                    "A guess is near within the share that the p rule names, else 10 %. Trial runs on "
                    "this table; nothing is published."
                )
            )
        )


def _compare(project: Project, progress: Progress) -> tuple[ComparedSums, ...]:
    # Imported late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.project.sums.sums_compared import compared_sums

    assert project.sums is not None
    asked = run_of(project, project.seed)
    found: tuple[ComparedSums, ...] = ()
    for one in compared_sums(project.sums.table, asked, project.limits, progress):
        found = (*found, one)
        progress.report(say("comparing ways to protect"), len(found) / WAYS, found)
    return found


def _columns(rows: tuple[ComparedSums, ...], decimals: int) -> tuple[ListColumn, ...]:
    text = sum_text(decimals)
    return (
        ListColumn(say("Way"), [_name(one, text) for one in rows], str, right=False),
        ListColumn(say("Largest belief"), [one.worst for one in rows], chance_text),
        ListColumn(say("Average belief"), [one.mean_belief for one in rows], chance_text),
        ListColumn(say("Hidden"), [one.hidden for one in rows]),
        ListColumn(say("Average change"), [one.mean_deviation for one in rows], chance_text),
        ListColumn(
            say("Too near"),
            [-1 if one.broken is None else int(str(one.broken)) for one in rows],
            lambda n: say("not tried") if n < 0 else count_text(n),
        ),
    )


def _name(one: ComparedSums, text: Callable[[int], str]) -> str:
    return told(one.label if one.base is None else say("Rounding to {base}", text(one.base)))
