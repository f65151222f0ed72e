"""The query space of a project: computed once for a table, and cached while it is in use.

A window asks for the same state at every click, and a command right after it: the figures of recent
tables and the released sets reached so far are cached here. Confidential.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.plans import ReleasePlan
from tabprotect.engine.project.project import Project
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence, RiskJudgement
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.registered import standard
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.sensitivity.small_count import SmallCount

KEPT_TABLES = 2
KEPT_SETS = 24

_lock = threading.Lock()
_evidence: OrderedDict[tuple[int, SmallCount], Evidence] = OrderedDict()
_sets: OrderedDict[tuple[object, ...], ReleaseSet] = OrderedDict()


def evidence_of(project: Project, progress: Progress = SILENT) -> Evidence:
    """The at-risk cells of the original and every critical width.

    Raises
    ------
    InputError
        When there is no original, nothing at risk, or too many variables.
    Interrupted
        When cancelled.
    """
    table, rule = project.original, project.at_risk
    # Evidence holds its table, so that the table's id stays valid as long as the evidence is cached.
    key = (id(table), rule)
    with _lock:
        if key in _evidence:
            _evidence.move_to_end(key)
            return _evidence[key]
    found = Evidence.gather(table, rule, progress=progress)
    with _lock:
        _evidence[key] = found
        while len(_evidence) > KEPT_TABLES:
            _evidence.popitem(last=False)
        for old in [k for k, s in _sets.items() if s.evidence not in _evidence.values()]:
            del _sets[old]
    return found


def released_set(project: Project, progress: Progress = SILENT) -> ReleaseSet:
    """The planned margins with both frontiers, reached from the nearest cached state.

    Raises
    ------
    TabprotectError
        As :func:`evidence_of`.
    """
    evidence, plan = evidence_of(project, progress), project.plan
    lattice = evidence.lattice
    wanted = Frontier.below(lattice, (0, *map(lattice.query, plan.margins)))
    with _lock:
        near = [
            known
            for known in _sets.values()
            if known.evidence is evidence
            and _rule(known) == (plan.criterion, plan.threshold, plan.bounds)
            and all(query in wanted for query in known.released)
        ]
    state = max(near, key=lambda known: known.released.size, default=None)
    if state is None:
        state = ReleaseSet.begin(standard_of(plan, evidence), progress=progress)
        _keep(state)
    state = state.release_all([q for q in wanted if q not in state.released], progress)
    _keep(state)
    return state


def judge_margins(
    project: Project, margins: Iterable[Sequence[str]], progress: Progress = SILENT
) -> RiskJudgement:
    """Return what is known of the risk of releasing margins together.

    Raises
    ------
    TabprotectError
        As :func:`evidence_of`.
    """
    evidence, plan = evidence_of(project, progress), project.plan
    lattice = evidence.lattice
    frontier = Frontier.below(lattice, (0, *map(lattice.query, margins)))
    return standard_of(plan, evidence).judge(frontier.members, decide_only=True, progress=progress)


def standard_of(plan: ReleasePlan, evidence: Evidence) -> Standard:
    """Return what a plan holds releases to."""
    return standard(evidence, plan.threshold, plan.criterion, plan.bounds)


def _rule(state: ReleaseSet) -> tuple[str, int, str]:
    return state.criterion.name, state.threshold, state.bounds


def _keep(state: ReleaseSet) -> None:
    key = (id(state.evidence), *_rule(state), state.released.members)
    with _lock:
        _sets[key] = state
        _sets.move_to_end(key)
        while len(_sets) > KEPT_SETS:
            _sets.popitem(last=False)
