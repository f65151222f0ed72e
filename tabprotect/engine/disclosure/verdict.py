"""The verdict on a release of any measures, by everything that is published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabprotect.engine.belief.effort import VERDICT, Effort
from tabprotect.engine.disclosure.counts_verdict import counts_verdict
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.table import Table

if TYPE_CHECKING:
    from tabprotect.engine.belief.evidence import Evidence


def verdict(
    release: Release | Evidence,
    policy: AgencyPolicy | Gate | None = None,
    earlier: Sequence[Release | Evidence] = (),
    original: Table | None = None,
    effort: Effort = VERDICT,
    progress: Progress = SILENT,
) -> StaffVerdict:
    """Judge a release as its readers see it.

    Parameters
    ----------
    release
        Or the counts among its measures alone.
    policy
        The limits; by default those that the release states.
    earlier
        Other releases of the same original, and what is known of it besides.
    original
        The original for the staff figures, which are left out without it.
    effort
        The work that posteriors may take.

    Raises
    ------
    InputError, ParameterError
        When the release cannot come from its mechanism.
    Interrupted
        When cancelled.
    """
    whole = release if isinstance(release, Release) else release.release
    stated = whole.mechanism.gate
    limits = policy if isinstance(policy, Gate) else stated if policy is None else None
    if limits is None:
        house = policy if isinstance(policy, AgencyPolicy) else AgencyPolicy()
        own = (None, None) if stated is None else (stated.at_risk, stated.roles)
        limits = house.of_release(whole, *own)
    if isinstance(release, Release) and release.magnitudes:
        # Late: counts need none of it.
        from tabprotect.engine.disclosure.magnitude_verdict import magnitude_verdict

        return magnitude_verdict(release, limits, effort=effort, progress=progress)
    return counts_verdict(release, limits, earlier, original, effort, progress)
