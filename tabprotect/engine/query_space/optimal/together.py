"""The largest part of a wish list that may be released together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabprotect.engine import solver
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import RiskCriterion
from tabprotect.engine.query_space.criterion_evidence import Evidence, RiskJudgement
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.ways_to_bound import BoundsWay
from tabprotect.languages.said import say

TOGETHER_WORK = 5e6
"""Nominal microseconds (`solver.solver_work`) of programmes after which wishes stay undecided.
"""


@dataclass(frozen=True)
class WishesTogether:
    """Wishes divided into three lists. Confidential.

    Attributes
    ----------
    kept
        Wishes that are proved safe to release together.
    left
        Wishes that are proved unsafe with the kept ones before them, in the order of the list.
    undecided
        Wishes with neither proof: they stay in like ``left``.
    judgement
        Judgement of all that is kept.
    """

    kept: tuple[Query, ...]
    left: tuple[Query, ...]
    undecided: tuple[Query, ...]
    judgement: RiskJudgement

    def joined(self, wishes: Sequence[Query], judgement: RiskJudgement) -> WishesTogether:
        """This with more wishes kept, and the judgement of all that is kept with them."""
        if judgement.verdict == "safe":
            return replace(self, kept=(*self.kept, *wishes), judgement=judgement)
        if judgement.verdict == "bad":
            return replace(self, left=(*self.left, *wishes))
        return replace(self, undecided=(*self.undecided, *wishes))


class _SoFar:
    """Progress that adds what is proved so far to every report: listeners hear only the latest."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.share = 0.0
        self.found: WishesTogether | None = None

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        self._progress.report(say("trying wishes"), self.share, self.found)


def wishes_together(
    evidence: Evidence,
    wishes: Sequence[Query],
    threshold: int,
    criterion: RiskCriterion,
    *,
    bounds: BoundsWay = "auto",
    progress: Progress = SILENT,
) -> WishesTogether:
    """Keep all wishes if they may be released together; else each in turn that may join those kept.

    A larger release is never proved safe where a smaller one is not, so a wish that is left cannot
    join later. Under ``auto`` closed forms come first. Programmes then look at what is undecided
    until they have cost ``TOGETHER_WORK``; every report meanwhile has the proofs so far as its
    partial result.

    Raises
    ------
    Interrupted
        If cancelled.
    """
    begun = solver.solver_work()
    so_far = _SoFar(progress)

    def tried(
        found: WishesTogether, wishes: Sequence[Query], *, closed: bool, decide_only: bool = True
    ) -> WishesTogether:
        """This with one more wish judged, or all of them at once."""
        released = Frontier.below(evidence.lattice, (0, *found.kept, *wishes))
        judgement = criterion.judge(
            evidence,
            released.members,
            threshold,
            bounds="decomposable" if closed else bounds,
            decide_only=decide_only,
            quick=True,
            progress=so_far,
        )
        return found.joined(wishes, judgement)

    def completed(found: WishesTogether, rest: Sequence[Query]) -> WishesTogether:
        """This with what is known about the rest without programmes."""
        for wish in rest:
            if bounds in ("auto", "decomposable"):
                found = tried(found, [wish], closed=True)
            else:
                found = replace(found, undecided=(*found.undecided, wish))
        return found

    def figured(found: WishesTogether) -> WishesTogether:
        """This with the exact figure if it is cheap."""
        if found.judgement.exact:
            return found
        whole = tried(replace(found, kept=()), found.kept, closed=False, decide_only=False)
        return whole if whole.kept else found

    nothing = WishesTogether(
        (), (), (), criterion.judge(evidence, (0,), threshold, progress=so_far)
    )
    found = so_far.found = completed(nothing, wishes)
    if found.undecided and not found.left:
        whole = tried(nothing, wishes, closed=False)
        if whole.kept:
            return figured(whole)
    turn = nothing
    for wish in wishes if found.undecided else ():
        after = completed(turn, [wish])
        turn = tried(turn, [wish], closed=False) if after.undecided else after
        if turn.undecided:
            break
    else:
        return figured(turn if found.undecided else found)
    # Too hard to go in turn: the proofs of closed forms stand, and the others may join them.
    for number, wish in enumerate(found.undecided):
        so_far.share = number / len(found.undecided)
        if solver.solver_work() - begun >= TOGETHER_WORK:
            break
        others = tuple(w for w in found.undecided if w != wish)
        found = tried(replace(found, undecided=others), [wish], closed=False)
        so_far.found = found
    return figured(found)
