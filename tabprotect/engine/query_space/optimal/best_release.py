"""Optimal tabular releases: as much as possible at a threshold, by three methods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import RiskCriterion
from tabprotect.engine.query_space.criterion_evidence import Evidence, RiskJudgement
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.graphs.chordal import decomposable
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.query_space.optimal.annealing import ANNEALING_PROPOSALS, anneal
from tabprotect.engine.query_space.optimal.exhaustive import best_release
from tabprotect.engine.query_space.optimal.heuristic import longest_prefix
from tabprotect.engine.query_space.registered import criteria, utilities
from tabprotect.engine.query_space.utility import Worth
from tabprotect.engine.query_space.ways_to_bound import BoundsWay
from tabprotect.engine.randomness import Randomness
from tabprotect.languages.said import joined, say, uncapital

SearchMethod = Literal["annealing", "heuristic", "exhaustive"]

METHODS: dict[SearchMethod, str] = {
    "annealing": say("the best decomposable release that simulated annealing finds"),
    "heuristic": say("the longest releasable prefix of the sub-tables ordered by critical width"),
    "exhaustive": say("the best of all decomposable releases, up to seven variables"),
}


@dataclass(frozen=True)
class ReleaseProposal:
    """A set of margins that might be released together. Confidential until it is.

    Attributes
    ----------
    lattice, released
        The released frontier.
    judgement
        Its risk at the requested threshold.
    decomposable
        Whether its queries are the cliques of a chordal graph.
    complete
        Whether the search ran to its end; a cancelled search keeps the best it had.
    """

    lattice: Lattice
    released: Frontier
    judgement: RiskJudgement
    decomposable: bool
    complete: bool = True

    def as_json(self) -> dict[str, object]:
        """For ``optimal --json``."""
        return {
            "released_frontier": [list(self.lattice.names_of(q)) for q in self.released],
            "released": self.released.size,
            "width": self.judgement.width,
            "by_dimension": {str(d): n for d, n in enumerate(self.released.by_dimension)},
            "decomposable": self.decomposable,
            "exact": self.judgement.exact,
            "bounds": self.judgement.bounds,
            "releasable": self.judgement.verdict == "safe",
            "complete": self.complete,
        }


def judged_proposal(
    evidence: Evidence,
    queries: Iterable[Query],
    threshold: int,
    *,
    criterion: RiskCriterion | None = None,
    bounds: BoundsWay = "auto",
    complete: bool = True,
    progress: Progress = SILENT,
) -> ReleaseProposal:
    """Judge any release as a proposal: to compare searches with, say, all three-way tables."""
    lattice = evidence.lattice
    released = Frontier.below(lattice, (0, *queries))
    judgement = (criterion or criteria()["width"]).judge(
        evidence, released.members, threshold, bounds=bounds, progress=progress
    )
    tree = decomposable(lattice.variables, released.members)
    closed = tree is not None and lattice.separable(released)
    return ReleaseProposal(lattice, released, judgement, closed, complete)


def optimal(
    evidence: Evidence,
    threshold: int,
    method: SearchMethod,
    *,
    criterion: RiskCriterion | None = None,
    utility: str = "released_count",
    randomness: Randomness | None = None,
    proposals: int = ANNEALING_PROPOSALS,
    bounds: BoundsWay = "auto",
    progress: Progress = SILENT,
) -> ReleaseProposal:
    """Search for the best release that a criterion (by default the width) proves safe.

    Raises
    ------
    ParameterError
        If the method is unknown, or the utility cannot be searched for.
    InfeasibleError
        If the threshold forbids even the one-way tables; names the cells.
    InputError
        If the search is exhaustive and there are too many variables.
    """
    if method not in METHODS:
        raise ParameterError(
            {
                "method": say(
                    "unknown: {method}; there are {METHODS}", repr(method), ", ".join(METHODS)
                )
            }
        )
    if threshold < 0:
        raise ParameterError({"beta": say("must be a whole number from 0 up")})
    criterion = criterion or criteria()["width"]
    lattice = evidence.lattice
    judged = partial(
        judged_proposal,
        evidence,
        threshold=threshold,
        criterion=criterion,
        bounds=bounds,
        progress=progress,
    )
    if method == "heuristic":
        if utility != "released_count":
            raise ParameterError({"utility": say("the heuristic has no utility to choose")})
        length, queries = longest_prefix(
            evidence, criterion, threshold, bounds=bounds, progress=progress
        )
        if not length:
            raise _forbidden(evidence, criterion, threshold)
        return judged(queries)
    weights = utilities()[utility].weights(len(lattice.axes))
    if weights is None:
        raise ParameterError(
            {"utility": say("{utility} is no sum over sub-tables: compare with it", utility)}
        )
    if criterion.judge(evidence, lattice.axes, threshold, decide_only=True).verdict != "safe":
        raise _forbidden(evidence, criterion, threshold)
    worth = Worth(lattice, weights)
    if method == "exhaustive":
        return judged(best_release(criterion, evidence, threshold, worth, progress).cliques)
    generator = (randomness or Randomness.fresh()).generator()
    found = anneal(
        criterion,
        evidence,
        threshold,
        worth,
        generator,
        proposals=proposals,
        progress=progress,
    )
    # The best of a cancelled search is judged all the same.
    return judged_proposal(
        evidence,
        found.cliques,
        threshold,
        criterion=criterion,
        bounds=bounds,
        complete=found.complete,
    )


def _forbidden(evidence: Evidence, criterion: RiskCriterion, threshold: int) -> InfeasibleError:
    """The error when the threshold forbids the one-way tables, with the cells to blame."""
    judgement = criterion.judge(evidence, evidence.lattice.axes, threshold)
    figure = uncapital(criterion.label)
    said = say(
        "the threshold {threshold} forbids even the one-way tables together: the {figure} is only ",
        threshold,
        figure,
    )
    at = say(" at {text}", judgement.tight[0].text) if judgement.tight else ""
    return InfeasibleError(
        say("{said}{width}{at}", said, judgement.width, at),
        hint=say("take a threshold of at most {width}, or merge rare categories", judgement.width),
        detail=joined(
            (say("{text}: {lower}..{upper}", c.text, c.lower, c.upper) for c in judgement.tight),
            "\n",
        ),
    )
