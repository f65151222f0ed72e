"""The posterior of totals, computed in the background: margins, levels, groups of categories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Who
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.gui.base.background.background_task import BackgroundTask, Told
from tabprotect.gui.base.document import Document
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.posterior.posterior import Posterior

CERTAIN = 1.0 - 1e-9
"""Probabilities above this are 1: they are sums of rounded ones."""


@dataclass(frozen=True)
class TotalsBy:
    """The totals by some variables and levels, with their posterior.

    Attributes
    ----------
    publication
        The publication whose only margin they are.
    posterior
        The posterior of the totals.
    """

    publication: Publication
    posterior: Posterior

    def place(self, cell: Index) -> Index:
        """The total that a cell of the table belongs to."""
        domain = self.publication.domain
        return self.posterior.domain.unflat(int(self.publication.keys(0)[domain.flat(cell)]))


def groupings_for(domain: Domain, release: Release) -> tuple[Grouping, ...]:
    """The groupings that cells of a domain can be added up by: those of a release are of its inner cells."""
    inner = domain == release.domain
    return tuple(groupings_of(domain, release.mechanism.parameters)) if inner else ()


class Totals(BackgroundTask[TotalsBy]):
    """The question about the totals under the current posterior."""

    def __init__(
        self, document: Document, parent: QObject, answered: Callable[[TotalsBy], object], failed: Told
    ) -> None:
        super().__init__(parent, document.jobs, answered, failed)
        self.document, self.failed = document, failed

    def ask_by(self, names: tuple[str, ...], who: Who) -> bool:
        """Ask for totals by variables and levels; return True if the question differs from the last."""
        posterior, release = self.document.known_posterior(who), self.document.counts_release
        if posterior is None or release is None:
            return False
        groupings = groupings_for(posterior.domain, release)
        known = {*posterior.domain.known_names, *(grouping.name for grouping in groupings)}
        if not known.issuperset(names):
            self.drop()
            self.failed(
                InfeasibleError(
                    message("What to believe of it does not follow from the table that was judged.")
                )
            )
            return False
        publication = Publication(posterior.domain, (names,), groupings)

        def work(progress: Progress) -> TotalsBy:
            # Inference imports scipy: a window that only shows a table does not wait for it.
            from tabprotect.engine.posterior.margins import sums

            progress.report(message("adding up the cells"), 0.0)
            return TotalsBy(publication, sums(posterior, publication, progress=progress)[0])

        return self.ask(message("what to believe of totals"), work, (posterior, *names), wait=150)
