"""Optimal tabular releases: as much as possible at a threshold, by three methods.

Every decomposable release that satisfies a threshold, for tables of few variables.

Any chordal graph is reached from the empty one by legal edges, and if it satisfies the threshold,
so does every graph on the way: only such graphs are visited, each once.

Ordered marginals: the longest prefix of the list of sub-tables that may be released together.

Sub-tables are ordered by critical width (or by the criterion's figure of each alone), then
dimension, then the variables' order. Releasing more never widens a bound, so bisection finds the
prefix. The first element alone and the whole list are candidates too, which the published procedure
forgets.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import RiskJudgement
from tabprotect.engine.query_space.frontier import Frontier, maximal_queries
from tabprotect.engine.query_space.graphs.chordal import JunctionTree, decomposable
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.query_space.optimal.annealing import ANNEALING_PROPOSALS, anneal
from tabprotect.engine.query_space.registered import utilities
from tabprotect.engine.query_space.utility import Worth
from tabprotect.engine.randomness import Randomness
from tabprotect.languages.messages import joined, message, uncapital


def longest_prefix(standard: Standard, progress: Progress = SILENT) -> tuple[int, tuple[Query, ...]]:
    """Length of the longest prefix proved safe, and its frontier (empty if there is none)."""
    order = standard.criterion.order(standard.evidence)
    # The prefix of length `safe` is safe (0: only the total), that of length `refused` is not.
    safe, refused = 0, len(order) + 1
    best: tuple[Query, ...] = ()
    steps = max(1, len(order).bit_length())
    done = 0
    while refused - safe > 1:
        progress.report("bisection", min(done / steps, 1.0), best)
        middle = (safe + refused) // 2
        frontier = maximal_queries(order[:middle])
        if standard.judge(frontier, decide_only=True, progress=progress).verdict == "safe":
            safe, best = middle, frontier
        else:
            refused = middle
        done += 1
    return safe, best


MAX_VARIABLES = 7
"""617,675 chordal graphs; with eight variables there are 30,888,596."""


GRAPHS = (1, 1, 2, 8, 61, 822, 18_154, 617_675)
"""Labelled chordal graphs by number of variables."""


def every_release(standard: Standard, progress: Progress = SILENT) -> Iterator[JunctionTree]:
    """Cliques and separators of each decomposable release of all variables that meets a standard.

    Raises
    ------
    InputError
        If there are more than ``MAX_VARIABLES`` variables.
    """
    lattice = standard.evidence.lattice
    variables = lattice.variables
    if variables > MAX_VARIABLES:
        raise InputError(
            message("an exhaustive search over {variables} variables has too many graphs", variables),
            hint=message("take annealing, or a margin over at most {MAX_VARIABLES} variables", MAX_VARIABLES),
        )
    axis_of = lattice.axis_of
    pairs = [(i, j) for i, j in combinations(range(variables), 2) if axis_of[i] != axis_of[j]]
    walk = standard.walk()
    seen = {0}
    # (edges, next pair to try); the walk stands at the top of the stack.
    stack = [(0, 0)]
    yield walk.tree()
    while stack:
        edges, start = stack.pop()
        for number in range(start, len(pairs)):
            larger = edges | 1 << number
            if larger == edges or larger in seen:
                continue
            i, j = pairs[number]
            if walk.can_add(i, j):
                seen.add(larger)
                if len(seen) % 200 == 0:
                    progress.report(message("all decomposable releases"), len(seen) / GRAPHS[variables])
                walk.toggle(i, j)
                yield walk.tree()
                stack += [(edges, number + 1), (larger, 0)]
                break
        else:
            if stack:
                # Go back to the release before: remove its edge again.
                before = stack[-1][0]
                walk.toggle(*pairs[(edges ^ before).bit_length() - 1])


def best_release(standard: Standard, worth: Worth, progress: Progress = SILENT) -> JunctionTree:
    """The release of largest worth (see ``Worth``); among equals the one of least risk."""
    best, rank = JunctionTree((), ()), (-1.0, -1)
    # These have closed forms: how cells are bounded is not asked.
    closed = replace(standard, bounds="auto")
    for tree in every_release(standard, progress):
        value = worth.of(tree)
        if value < rank[0]:
            continue
        figure = closed.judge(tree.cliques).width
        if (value, figure) > rank:
            best, rank = tree, (value, figure)
    return best


SearchMethod = Literal["annealing", "heuristic", "exhaustive"]

METHODS: dict[SearchMethod, str] = {
    "annealing": message("the best decomposable release that simulated annealing finds"),
    "heuristic": message("the longest releasable prefix of the tables ordered by critical width"),
    "exhaustive": message("the best of all decomposable releases, up to seven variables"),
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
        """Return what ``optimal --json`` prints."""
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
    standard: Standard, queries: Iterable[Query], *, complete: bool = True, progress: Progress = SILENT
) -> ReleaseProposal:
    """Judge any release as a proposal: to compare searches with, say, all three-way tables."""
    lattice = standard.evidence.lattice
    released = Frontier.below(lattice, (0, *queries))
    judgement = standard.judge(released.members, progress=progress)
    tree = decomposable(lattice.variables, released.members)
    closed = tree is not None and lattice.separable(released)
    return ReleaseProposal(lattice, released, judgement, closed, complete)


def optimal(
    standard: Standard,
    method: SearchMethod,
    *,
    utility: str = "released_count",
    randomness: Randomness | None = None,
    proposals: int = ANNEALING_PROPOSALS,
    progress: Progress = SILENT,
) -> ReleaseProposal:
    """Search for the best release that is proved to meet a standard.

    Raises
    ------
    ParameterError
        If the method is unknown, or has no utility to choose.
    InfeasibleError
        If the threshold forbids even the one-way tables; names the cells.
    InputError
        If the search is exhaustive and there are too many variables.
    """
    if method not in METHODS:
        raise ParameterError(
            {"method": message("unknown: {method}; there are {METHODS}", repr(method), ", ".join(METHODS))}
        )
    if standard.threshold < 0:
        raise ParameterError({"beta": message("must be a whole number from 0 up")})
    if method == "heuristic":
        if utility != "released_count":
            raise ParameterError({"utility": message("the heuristic has no utility to choose")})
        length, queries = longest_prefix(standard, progress)
        if not length:
            raise _forbidden(standard)
        return judged_proposal(standard, queries, progress=progress)
    worth = utilities()[utility].worth(standard.evidence.table, standard.evidence.lattice)
    # The one-way tables have closed forms too.
    one_way = replace(standard, bounds="auto").judge(standard.evidence.lattice.axes, decide_only=True)
    if one_way.verdict != "safe":
        raise _forbidden(standard)
    if method == "exhaustive":
        found = best_release(standard, worth, progress)
        return judged_proposal(standard, found.cliques, progress=progress)
    generator = (randomness or Randomness.fresh()).generator()
    walked = anneal(standard, worth, generator, proposals=proposals, progress=progress)
    # The best of a cancelled search is judged all the same.
    return judged_proposal(standard, walked.cliques, complete=walked.complete)


def _forbidden(standard: Standard) -> InfeasibleError:
    """The error when the threshold forbids the one-way tables, with the cells to blame."""
    judgement = replace(standard, bounds="auto").judge(standard.evidence.lattice.axes)
    figure = uncapital(standard.criterion.label)
    said = message(
        "the threshold {threshold} forbids even the one-way tables together: the {figure} is only ",
        standard.threshold,
        figure,
    )
    at = message(" at {text}", judgement.tight[0].text) if judgement.tight else ""
    return InfeasibleError(
        message("{said}{width}{at}", said, judgement.width, at),
        hint=message("take a threshold of at most {width}, or merge rare categories", judgement.width),
        detail=joined(
            (message("{text}: {lower}..{upper}", c.text, c.lower, c.upper) for c in judgement.tight), "\n"
        ),
    )
