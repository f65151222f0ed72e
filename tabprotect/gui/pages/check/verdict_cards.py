"""The cards of the verdict, and the intruder's beside them, worked out beside the window."""

from __future__ import annotations

from PySide6.QtCore import Signal

from tabprotect.engine.posterior.exposure import Exposure, exposure
from tabprotect.engine.project.project import Project
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.question import Question, same
from tabprotect.gui.pages.check.reader_cards import ReaderCards, readers
from tabprotect.gui.pages.check.words import verdict_sentence


class VerdictCards(ReaderCards):
    """What each reader would know. ``counted`` when the intruder's figures are there."""

    counted = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.sentence = ""
        self._exposing: Question[Exposure] = Question(
            self, document.jobs, self._exposed, lambda _: None
        )
        self._exposure: tuple[object, Exposure] | None = None

    def bring_up(self, project: Project, rule: SmallCount, *, intruder: bool) -> bool:
        """Show what is known of the verdict; whether there are other cards than before.

        Parameters
        ----------
        intruder
            Whether there is one who knows more than any reader.
        """
        judging, staff = self.document.judging, not self.document.public
        verdict = judging.verdict(project)
        if verdict is None:
            self.sentence = judging.fault(project) or "Working out what a reader would know\u2026"
            return self.show_readers(())
        known = judging.known(project) if staff else None
        self.sentence = verdict_sentence(verdict, None if known is None else known.before.together)
        told = self._intruder(rule, verdict.belief_limit) if intruder else None
        return self.show_readers(readers(verdict, known, intruder=told, staff=staff))

    def _intruder(self, rule: SmallCount, limit: float) -> tuple[str, Exposure] | None:
        """What the chosen intruder knows beforehand and would know; asked where it is not known."""
        posterior = self.document.known_posterior("intruder")
        if posterior is None:
            return None
        key = (posterior, str(rule), limit)
        if self._exposure is not None and same(self._exposure[0], key):
            return posterior.prior.label, self._exposure[1]
        self._exposing.ask(
            "what an intruder would know", lambda _: exposure(posterior, rule, limit), key
        )
        return None

    def _exposed(self, found: Exposure) -> None:
        self._exposure = (self._exposing.key, found)
        self.counted.emit()
