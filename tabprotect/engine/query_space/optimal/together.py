"""Which of the wished sub-tables may go out together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.bounds_way import BoundsWay
from tabprotect.engine.query_space.criterion import RiskCriterion
from tabprotect.engine.query_space.evidence import Evidence, Judgement
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Query


@dataclass(frozen=True)
class Together:
    """Wishes parted in two. Confidential.

    Attributes
    ----------
    kept
        Those that may go out together.
    left
        Those that may not go out with them, in the order of the wishes.
    judgement
        Of all that is kept.
    """

    kept: tuple[Query, ...]
    left: tuple[Query, ...]
    judgement: Judgement


def together(
    evidence: Evidence,
    wishes: Sequence[Query],
    threshold: int,
    criterion: RiskCriterion,
    *,
    bounds: BoundsWay = "auto",
    progress: Progress = SILENT,
) -> Together:
    """All wishes where they may go out together; else each in turn that may join those before it.

    Since no more is proved of more tables than of fewer, none that is left can join later.

    Raises
    ------
    Interrupted
        When cancelled.
    """

    def judged(queries: Sequence[Query]) -> Judgement:
        released = Frontier.below(evidence.lattice, (0, *queries))
        return criterion.judge(
            evidence, released.members, threshold, bounds=bounds, progress=progress
        )

    whole = judged(wishes)
    if whole.verdict == "safe":
        return Together(tuple(wishes), (), whole)
    kept: list[Query] = []
    left: list[Query] = []
    best = judged(())
    for number, wish in enumerate(wishes):
        progress.report("trying wishes", number / len(wishes))
        found = judged([*kept, wish])
        if found.verdict == "safe":
            kept.append(wish)
            best = found
        else:
            left.append(wish)
    return Together(tuple(kept), tuple(left), best)
