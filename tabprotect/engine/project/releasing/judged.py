"""The verdict on a project's release, alone and together with what left before. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.together import together
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.register.entry import Earlier
from tabprotect.engine.register.lookup import published_before, releases_of
from tabprotect.engine.release.verdict import Verdict


@dataclass(frozen=True)
class Judgement:
    """What is to be weighed before a release leaves.

    Attributes
    ----------
    alone
        What its readers learn.
    against
        What stands against publishing it, in words; empty where nothing does.
    earlier
        What left before and bears on its table.
    together
        What readers of this release and of all earlier ones of the same original learn; ``None``
        where there is none that could be read beside it.
    unread
        Earlier releases of the same original that could not be: their bytes are not kept, or their
        variables or categories stand in another order.
    fault
        Why it is not known what left before; empty where it is.
    """

    alone: Verdict
    against: str = ""
    earlier: tuple[Earlier, ...] = ()
    together: Verdict | None = None
    unread: int = 0
    fault: str = ""

    @property
    def close(self) -> tuple[Earlier, ...]:
        """Of the earlier ones those of the same original or the same records."""
        return tuple(e for e in self.earlier if e.relation != "variables")


def judged(
    project: Project, register: str | None = None, *, progress: Progress = SILENT
) -> Judgement:
    """Judge the release of a project, and look up what left before.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.

    Raises
    ------
    InputError, ParameterError
        When the release cannot come from its mechanism.
    Interrupted
        When cancelled.
    """
    release, done = project.release, project.protected
    assert release is not None
    if done is None:
        return Judgement(verdict(release, progress=progress))
    table, policy = done.record.problem.table, project.limits
    found = done.record.verdict
    if found is None:
        found = verdict(release, policy, original=table, progress=progress)
    try:
        earlier = published_before(done.record.problem, register)
        if earlier:
            # The very bytes that are about to leave are no other release.
            own = sha256(public.to_bytes(release))
            earlier = [e for e in earlier if e.entry.publication.bundle != own]
        contents = releases_of(earlier, register) if earlier else []
        both = together(contents, table, policy=policy, release=release, progress=progress)
    except TabprotectError as error:
        if error.kind == "interrupted":
            raise
        return Judgement(found, project.against, fault=str(error))
    same = sum(e.relation == "original" for e in earlier)
    joint, number = both
    unread = same if joint is None else same + 1 - number
    return Judgement(found, project.against, tuple(earlier), joint, unread)
