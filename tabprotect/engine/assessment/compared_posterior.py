"""Posteriors of a comparison's releases: kept for equal releases, and given up after a time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tabprotect.engine.assessment.figure import NotComputable
from tabprotect.engine.belief.believing import RELEASE_ALONE, believe
from tabprotect.engine.belief.effort import Effort
from tabprotect.engine.belief.one_draw import OfRelease, release_fingerprint
from tabprotect.engine.errors import Interrupted, TabprotectError
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.release.release import Release
from tabprotect.languages.said import say

SECONDS = 30.0
"""Seconds after which a posterior is given up: a safety net that no figure depends on."""

MOST_FOUND = 8
"""Most posteriors kept: methods with few outcomes give the same release again and again."""


@dataclass(frozen=True)
class _Deadline:
    """Progress that gives up after a time."""

    end: float
    progress: Progress

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        # The fraction is that of a part: whoever watches sees the runs.
        self.progress.report(stage, 0.0)
        if time.monotonic() > self.end:
            raise NotComputable(say("the posterior would take more than {SECONDS:g} s", SECONDS))


_FOUND: dict[str, Posterior | str] = {}


def compared_posterior(release: Release, effort: Effort, progress: Progress) -> Posterior:
    """What a reader who assumes nothing believes of the inner cells, count by count.

    Equal releases share one posterior. A drawn posterior takes its seed from the release, so that
    no figure depends on the process that computes it.

    Raises
    ------
    NotComputable
        Where none is affordable or none exists, saying why.
    """
    name = release_fingerprint(release, repr(effort)).hex()
    if name not in _FOUND:
        watch = _Deadline(time.monotonic() + SECONDS, progress)
        chance = OfRelease(release)
        try:
            found: Posterior | str = believe(
                [release], knowing=RELEASE_ALONE, effort=effort, randomness=chance, progress=watch
            ).posterior
        except Interrupted:
            raise
        except (NotComputable, TabprotectError) as error:
            found = str(error)
        while len(_FOUND) >= MOST_FOUND:
            _FOUND.pop(next(iter(_FOUND)))
        _FOUND[name] = found
    kept = _FOUND[name]
    if isinstance(kept, str):
        raise NotComputable(kept)
    return kept
