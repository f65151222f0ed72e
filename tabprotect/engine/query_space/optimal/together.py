"""The largest part of a wish list that may be released together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabprotect.engine import solver
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import RiskJudgement
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Query
from tabprotect.languages.messages import message

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
        """Return this with more wishes kept, and the judgement of all that is kept with them."""
        if judgement.verdict == "safe":
            return replace(self, kept=(*self.kept, *wishes), judgement=judgement)
        if judgement.verdict == "bad":
            return replace(self, left=(*self.left, *wishes))
        return replace(self, undecided=(*self.undecided, *wishes))


class _Tries:
    """Wishes judged in turn; every report adds what is proved so far.

    Listeners hear only the latest report.
    """

    def __init__(self, standard: Standard, progress: Progress) -> None:
        self._standard, self._progress = standard, progress
        self.share = 0.0
        self.found: WishesTogether | None = None

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        self._progress.report(message("trying wishes"), self.share, self.found)

    @property
    def nothing(self) -> WishesTogether:
        """No wish kept yet."""
        whole = replace(self._standard, bounds="auto")
        return WishesTogether((), (), (), whole.judge((0,), progress=self))

    def tried(
        self,
        found: WishesTogether,
        wishes: Sequence[Query],
        *,
        closed: bool = False,
        decide_only: bool = True,
    ) -> WishesTogether:
        """Return this with one more wish judged, or several at once; by ``closed`` forms alone."""
        standard = replace(self._standard, bounds="decomposable") if closed else self._standard
        released = Frontier.below(standard.evidence.lattice, (0, *found.kept, *wishes))
        judgement = standard.judge(released.members, decide_only=decide_only, quick=True, progress=self)
        return found.joined(wishes, judgement)

    def completed(self, found: WishesTogether, rest: Sequence[Query]) -> WishesTogether:
        """Return this with what is known about the rest without programmes."""
        for wish in rest:
            if self._standard.bounds in ("auto", "decomposable"):
                found = self.tried(found, [wish], closed=True)
            else:
                found = replace(found, undecided=(*found.undecided, wish))
        return found

    def figured(self, found: WishesTogether) -> WishesTogether:
        """Return this with the exact figure if it is cheap."""
        if found.judgement.exact:
            return found
        whole = self.tried(replace(found, kept=()), found.kept, decide_only=False)
        return whole if whole.kept else found


def wishes_together(
    standard: Standard, wishes: Sequence[Query], progress: Progress = SILENT
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
    tries = _Tries(standard, progress)
    nothing = tries.nothing
    found = tries.found = tries.completed(nothing, wishes)
    if found.undecided and not found.left:
        whole = tries.tried(nothing, wishes)
        if whole.kept:
            return tries.figured(whole)
    turn = nothing
    for wish in wishes if found.undecided else ():
        after = tries.completed(turn, [wish])
        turn = tries.tried(turn, [wish]) if after.undecided else after
        if turn.undecided:
            break
    else:
        return tries.figured(turn if found.undecided else found)
    # Too hard to go in turn: the proofs of closed forms stand, and the others may join them.
    for number, wish in enumerate(found.undecided):
        tries.share = number / len(found.undecided)
        if solver.solver_work() - begun >= TOGETHER_WORK:
            break
        others = tuple(w for w in found.undecided if w != wish)
        found = tries.tried(replace(found, undecided=others), [wish])
        tries.found = found
    return tries.figured(found)
