"""Every decomposable release that satisfies a threshold, for tables of few variables.

Any chordal graph is reached from the empty one by legal edges, and if it satisfies the threshold,
so does every graph on the way: only such graphs are visited, each once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import RiskCriterion
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.graphs.chordal import JunctionTree
from tabprotect.engine.query_space.utility import Worth
from tabprotect.languages.said import say

MAX_VARIABLES = 7
"""617,675 chordal graphs; with eight variables there are 30,888,596."""


GRAPHS = (1, 1, 2, 8, 61, 822, 18_154, 617_675)
"""Labelled chordal graphs by number of variables."""


def every_release(
    criterion: RiskCriterion, evidence: Evidence, threshold: int, progress: Progress = SILENT
) -> Iterator[JunctionTree]:
    """Cliques and separators of each decomposable release of all variables at the threshold.

    Raises
    ------
    InputError
        If there are more than ``MAX_VARIABLES`` variables.
    """
    variables = evidence.lattice.variables
    if variables > MAX_VARIABLES:
        raise InputError(
            say("an exhaustive search over {variables} variables has too many graphs", variables),
            hint=say(
                "take annealing, or a margin over at most {MAX_VARIABLES} variables", MAX_VARIABLES
            ),
        )
    axis_of = evidence.lattice.axis_of
    pairs = [(i, j) for i, j in combinations(range(variables), 2) if axis_of[i] != axis_of[j]]
    walk = criterion.walk(evidence, threshold)
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
                    progress.report(say("all decomposable releases"), len(seen) / GRAPHS[variables])
                walk.toggle(i, j)
                yield walk.tree()
                stack += [(edges, number + 1), (larger, 0)]
                break
        else:
            if stack:
                # Go back to the release before: remove its edge again.
                before = stack[-1][0]
                walk.toggle(*pairs[(edges ^ before).bit_length() - 1])


def best_release(
    criterion: RiskCriterion,
    evidence: Evidence,
    threshold: int,
    worth: Worth,
    progress: Progress = SILENT,
) -> JunctionTree:
    """The release of largest worth (see ``Worth``); among equals the one of least risk."""
    best, rank = JunctionTree((), ()), (-1.0, -1)
    for tree in every_release(criterion, evidence, threshold, progress):
        value = worth.of(tree)
        if value < rank[0]:
            continue
        figure = criterion.judge(evidence, tree.cliques, threshold).width
        if (value, figure) > rank:
            best, rank = tree, (value, figure)
    return best
