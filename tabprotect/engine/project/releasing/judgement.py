"""The verdict on a project's release, alone and together with earlier releases. Confidential."""

from __future__ import annotations

from dataclasses import dataclass, field

from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.register.left_before import LeftBefore, left_before
from tabprotect.engine.release.verdict_figures import Verdict


@dataclass(frozen=True)
class ReleaseJudgement:
    """What there is to consider before a release leaves.

    Attributes
    ----------
    alone
        The verdict on the release by itself.
    against
        What stands against publishing it, in words; empty if nothing does.
    before
        The earlier releases, and what readers of those and of this one learn.
    """

    alone: Verdict
    against: str = ""
    before: LeftBefore = field(default_factory=LeftBefore)


def judge_release(
    project: Project, register: str | None = None, *, progress: Progress = SILENT
) -> ReleaseJudgement:
    """Judge the release of a project, and look up earlier releases.

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
        return ReleaseJudgement(verdict(release, progress=progress))
    problem, policy = done.record.problem, project.limits
    found = done.record.verdict
    if found is None:
        found = verdict(release, policy, original=problem.table, progress=progress)
    before = left_before(problem, register, release=release, policy=policy, progress=progress)
    return ReleaseJudgement(found, project.against, before)
