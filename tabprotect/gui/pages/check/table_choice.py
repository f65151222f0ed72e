"""The published table that the page is about, and what is believed of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Who
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.variable import spoken
from tabprotect.gui.base.background.background_task import BackgroundTask, same
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.buttons import choice, silent
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.belief.believed import Believed
    from tabprotect.engine.belief.of_table import OfTable


class TableChoice(QWidget):
    """Offers the tables of the release. ``changed``: another one is shown, or more is known of it."""

    changed = Signal()

    def __init__(self, document: Document, persons: tuple[Who, ...]) -> None:
        super().__init__()
        self.document = document
        self.box = choice(message("Table that the page is about"), changed=self._chosen, wide=24)
        in_row(Label(message("Table"), buddy=self.box), self.box, on=self, margins=0, spacing=GRID)
        self._of: object = None

        def more(_: object) -> None:
            self.changed.emit()

        self._asking: dict[Who, BackgroundTask[OfTable]] = {
            who: BackgroundTask(self, document.jobs, more, more) for who in persons
        }
        self.hide()

    @property
    def number(self) -> int:
        """The table chosen: its place in the release, or ``INNER``; the main one at first."""
        found: int | None = self.box.currentData()
        return 0 if found is None else found

    def known(self, who: Who) -> OfTable | None:
        """Return what somebody believes of the chosen table, if it is known already."""
        return self._asking[who].known(self._key(who))

    def fault(self, who: Who) -> str:
        """Say why nothing is known of the chosen table; empty if something is, or will be."""
        key, task = self._key(who), self._asking[who]
        return "" if task.error is None or key is None or not same(task.key, key) else task.error.sentence

    def refresh(self) -> None:
        """Offer the tables of the release, and ask about the chosen one where that is open."""
        from tabprotect.engine.belief.of_table import tables_to_judge

        release, first = self.document.counts_release, self.document.known_posterior("user")
        if release is None:
            return
        if first is not None and not same(self._of, (release, first.domain)):
            self._offer(release, tables_to_judge(release, first))
            self._of = (release, first.domain)
        for who in self._asking:
            self._ask(who, release)

    def _offer(self, release: Release, numbers: tuple[int, ...]) -> None:
        wanted = self.box.currentText()
        with silent(self.box):
            self.box.clear()
            for number in numbers:
                self.box.addItem(translate(_title(release, number)), number)
            # The same table of another draw stays in front.
            self.box.setCurrentIndex(max(self.box.findText(wanted), 0))
        self.setVisible(len(numbers) > 1)

    def _key(self, who: Who) -> tuple[object, ...] | None:
        release, base = self.document.counts_release, self.document.known_belief(who)
        return None if release is None or base is None else (release, base, self.number)

    def _ask(self, who: Who, release: Release) -> None:
        base, project, key = self.document.known_belief(who), self.document.project, self._key(who)
        if base is None or project is None or key is None or self.known(who) is not None:
            return
        from tabprotect.engine.belief.believing import believe
        from tabprotect.engine.belief.evidence import Evidence
        from tabprotect.engine.belief.of_table import INNER, of_table
        from tabprotect.engine.bundle.informed_prior import informed

        text, number, original = project.priors[who], self.number, project.table

        def work(progress: Progress) -> OfTable:
            def alone(evidence: Evidence) -> Believed:
                return believe([evidence], informed(text, [evidence], progress), progress=progress)

            found = of_table(release, number, base, alone, original=original, progress=progress)
            # What the page asks of all cells at once is worked out beside the window.
            _ = found.believed.posterior.mode_matches, found.believed.posterior.entropy
            return found

        inner = number == INNER or release.tables[number] is release.inner
        if inner and base.posterior.domain == release.domain:
            # Nothing is to be worked out.
            self._asking[who].know(key, of_table(release, number, base, _never, original=original))
        else:
            self._asking[who].ask(message("what to believe of a table"), work, key)

    def _chosen(self) -> None:
        if (release := self.document.counts_release) is None:
            return
        for who in self._asking:
            self._ask(who, release)
        self.changed.emit()


def _never(_: object) -> Believed:
    raise AssertionError("the inner cells need no posterior of a table by itself")


def _title(release: Release, number: int) -> str:
    """A table by its variables, as people say them."""
    if number < 0:
        return message("{names} (not published)", spoken(release.domain.names))
    return spoken(release.tables[number].table.domain.names) or message("Grand total")
