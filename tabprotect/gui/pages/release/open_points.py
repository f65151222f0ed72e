"""What is still open before a release may leave: decisions, reasons, names, a title."""

from __future__ import annotations

from dataclasses import replace

from tabprotect.engine.bundle.staff.release_findings import CHANCE, WORDS, headline
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.project.project import Project
from tabprotect.engine.release.findings import Finding
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.gui.base.background.question import Told
from tabprotect.gui.base.judged.judging import Judging
from tabprotect.gui.pages.release.kept_sums import KeptSums
from tabprotect.gui.pages.release.publish_form import SigningForm
from tabprotect.languages.messages import capital, joined, message


class OpenPoints:
    """Weighs the verdict, what was decided on the page, and the policy of the house."""

    def __init__(self, judging: Judging, kept: KeptSums, signing: SigningForm, *, failed: Told) -> None:
        self.judging, self.kept, self.signing = judging, kept, signing
        self._failed = failed

    def line(self, project: Project, verdict: Verdict) -> Finding:
        """The headline: the verdict, with what is still to be decided."""
        if project.published:
            return headline(verdict, published=True)
        judged = self.judging.known(project)
        together = None if judged is None else judged.before.together
        return self.light(project, headline(verdict, together, question=self.question_open(project)))

    def light(self, project: Project, line: Finding) -> Finding:
        """The verdict with what else stands against it; what is left out it says itself."""
        settled = line.state == "failed" or project.published or self.unjudged(project)
        if settled or not project.against:
            return line
        return replace(line, state="failed", word=WORDS["failed"], rest=project.against)

    def question_open(self, project: Project) -> str:
        """What is to be decided although the verdict passes; a green light asks for nothing."""
        if self.kept.open:
            return message("Small sums would go out as they are.")
        reasons = [] if self.unjudged(project) or project.against else self.reasons(project)
        if reasons:
            return reasons[0]
        if unsigned := self.policy(project).unsigned(*self.signing.names()):
            return message("Still open: {unsigned}.", unsigned)
        if not project.title:
            return message("Still open: {unsigned}.", message("a title"))
        # A warning stands below: nothing is green above it.
        seeded = project.protected is not None and project.protected.record.seed_given
        return CHANCE["given"] if seeded else ""

    def policy(self, project: Project) -> HousePolicy:
        """The limits of the house; an error is shown where they cannot be read."""
        try:
            return project.limits
        except TabprotectError as error:
            self._failed(error)
            return HousePolicy()

    def unjudged(self, project: Project) -> str:
        """What was not judged, where that alone stands against it; else empty."""
        verdict = self.judging.verdict(project)
        if verdict is None or verdict.passed is not None or project.against != verdict.sentence:
            return ""
        return verdict.unjudged or verdict.sentence

    def reasons(self, project: Project) -> list[str]:
        """What takes a reason, in words."""
        known = self.judging.known(project)
        out = [self.unjudged(project) or project.against]
        if known is not None and known.before.close:
            first = known.before.warnings[0]["message"]
            out.append(message(first) + ".")
        return [capital(text) for text in out if text]

    def missing(self, project: Project) -> str:
        """What has to be done before it can be approved, in words; empty where nothing has."""
        policy, known = self.policy(project), self.judging.known(project)
        if known is not None and known.before.close and policy.second_release == "refuse":
            return message("The house policy lets no table leave twice.")
        if known is not None and known.before.refuses(policy, "whatever the reason"):
            return message("The house policy lets nothing leave that tells too much beside what left before.")
        verdict = self.judging.verdict(project)
        left_out = verdict is not None and not verdict.complete and project.against
        if (self.unjudged(project) or left_out) and policy.unjudged == "refuse":
            return message("The house policy lets nothing leave before all that readers learn is worked out.")
        missing = [message("a decision on the small kept sums")] if self.kept.open else []
        if self.reasons(project) and not self.signing.reason.text().strip():
            missing.append(message("a reason for publishing all the same"))
        if unsigned := policy.unsigned(*self.signing.names()):
            missing.append(unsigned)
        return message("Still open: {missing}.", joined(missing, "; ")) if missing else ""
