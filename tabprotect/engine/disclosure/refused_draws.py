"""What it tells a reader that earlier draws were refused."""

from __future__ import annotations

from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import RefusedDraws


def weigh_refused(
    found: Posterior,
    refused: tuple[RefusedDraws, ...],
    randomness: Randomness,
    progress: Progress = SILENT,
) -> Posterior | None:
    """The posterior given that draws were refused before; ``None`` if that is too much work."""
    # Late: few releases state draws that were refused.
    from tabprotect.engine.disclosure.refusals import weigh_refusals
    from tabprotect.engine.disclosure.verdict import verdict

    return weigh_refusals(found, refused, randomness, verdict, progress)
