"""The verdict on counts: what readers learn, cell by cell, from everything that is published.

It is a function of the release, the limits and public facts: anyone with the bundle gets the same.
With the original it also has figures of what is true of it, marked as for staff only.

With b a reader's posterior and L the at-risk counts, over the judged cells of a table: *at_risk*
is the sum of b(L), *known* the number of cells where one value of L has more than the belief limit,
*certain* where it is as good as 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.effort import VERDICT, Effort
from tabprotect.engine.cycles import reach
from tabprotect.engine.posterior.widening import NOT_WIDENED, Widening
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Staff, StaffVerdict, WorstCell
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.findings import kinds
from tabprotect.engine.release.likelihood import AdaptiveSequence, ExchangeSteps, Likelihood, MoveSequence
from tabprotect.engine.release.mechanism import CHANGED, Gate, RefusedDraws
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import CERTAIN, NOT_LOOKED_AT, Insiders, TableVerdict, Who
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.belief.evidence import Evidence
    from tabprotect.engine.disclosure.cell_beliefs import TableBelief, TablesBelieved
    from tabprotect.engine.posterior.posterior import Posterior

INSIDERS_UNKNOWN = message("What somebody alone in a cell learns could not be worked out.")

GROUPS_UNKNOWN = message("What is learned of whole groups of people could not be worked out.")

NONE_EXPECTED = 1e-9
"""Expected at-risk cells below which there is no mean belief."""


def counts_verdict(
    counts: Release | Evidence,
    limits: Gate,
    earlier: Sequence[Release | Evidence] = (),
    original: Table | None = None,
    effort: Effort = VERDICT,
    progress: Progress = SILENT,
) -> StaffVerdict:
    """Judge the counts of a release, or what a release of magnitudes says of them: see :func:`verdict`."""
    # Inference is imported with the first verdict, not with every project that is opened.
    from tabprotect.engine.belief.evidence import Evidence
    from tabprotect.engine.disclosure.cell_beliefs import tables_believed
    from tabprotect.engine.disclosure.exact_small_margins import exact_small_margins
    from tabprotect.engine.disclosure.least_squares_check import least_squares_check

    evidence = counts if isinstance(counts, Evidence) else Evidence(counts)
    release = evidence.release
    widening = _listed(limits, [evidence, *earlier])

    def believed(prior: str, effort: Effort = effort) -> TablesBelieved:
        found = tables_believed(
            evidence,
            prior,
            earlier=earlier,
            refused=limits.refused,
            weigh=weigh_refused,
            effort=effort,
            progress=progress,
        )
        return replace(found, widening=found.widening.beside(widening))

    def fails(belief: TableBelief) -> bool:
        return judged_table("user", belief, limits).fails(limits)

    def even(effort: Effort) -> TablesBelieved:
        found = believed("uniform", effort=effort)
        second = found.apart and not any(map(fails, found.beliefs))
        return least_squares_check(release, found, fails) if second else found

    user: TablesBelieved | None = None
    if not effort.tells and len(release.tables) > 1:
        # Whether it passes is all that is asked: what shows at once that it does not, is enough.
        quick = even(replace(effort, joint=0.0))
        user = quick if any(map(fails, quick.beliefs)) or not quick.apart else None
    if user is None:
        user = even(effort)
    tables = [judged_table("user", belief, limits) for belief in user.beliefs]
    readers = [user]
    if limits.intruder:
        readers.append(believed(limits.intruder))
        tables += [judged_table("intruder", belief, limits) for belief in readers[-1].beliefs]
    refused = any(table.fails(limits) for table in tables)
    tells = effort.tells and (effort.tells_refused or not refused)
    inside = (
        _insiders(user, limits, release, progress) if tells or limits.insider_limit < 1 else NOT_LOOKED_AT
    )
    unjudged_inside = inside.unknown and limits.insider_limit < 1
    if (tells or limits.groups) and not earlier:
        # Late: whoever only asks what is known of small counts needs none of it.
        tables = [*_with_groups(tables, readers, release, limits, progress)]
    unjudged_groups = limits.groups and any(
        table.judged and table.groups is not None and table.groups.number is None for table in tables
    )
    unknown = limits.changed and not limits.refused
    unknown = unknown or any(_could_be_broken(reader, limits) for reader in readers)
    unknown = unknown or any(table.groups is not None and table.groups.open for table in tables)
    return StaffVerdict(
        tuple(tables),
        limits=limits,
        attempts_at_most=limits.attempts_at_most,
        note=_said_once(
            [
                *(table.note for table in tables if table.note),
                *([CHANGED] if unknown else []),
                *([INSIDERS_UNKNOWN] if unjudged_inside else []),
                *([GROUPS_UNKNOWN] if unjudged_groups else []),
            ]
        ),
        left_out=kinds(
            *(table.left_out for table in tables),
            ["attempts"] if unknown else [],
            ["simulation"] if unjudged_inside or unjudged_groups else [],
            ["other_releases"] if _others_left_out(release, earlier, tables) else [],
        ),
        insiders=inside,
        exact_small_margins=exact_small_margins(release, user.likelihood, limits.at_risk)
        if effort.tells
        else (),
        no_change=no_change_of(user.likelihood, release, progress) if effort.tells else None,
        unchanged=_unchanged(user, release, progress) if effort.tells else None,
        staff=None
        if original is None
        else _staff(
            user.beliefs,
            user.likelihood,
            limits,
            (original, [release, *(one for one in earlier if isinstance(one, Release))]),
        ),
    )


def _listed(limits: Gate, read: Sequence[Release | Evidence]) -> Widening:
    """What is known of the chance that entries of stated lists were refused before those that left."""
    first, *earlier = (one if isinstance(one, Release) else one.release for one in read)
    gates = [limits if limits.listed else first.mechanism.gate, *(one.mechanism.gate for one in earlier)]
    least = 1.0
    for gate in gates:
        least /= gate.listed.factor if gate is not None and gate.listed else 1.0
    return Widening(least, least)


def _others_left_out(release: Release, earlier: Sequence[object], tables: Sequence[TableVerdict]) -> bool:
    """Return True if what other releases tell is left out: by itself a release says so, who reads it cannot
    know."""
    if earlier:
        return not all(table.judged for table in tables)
    stated = release.mechanism.gate
    return stated is not None and "other_releases" in stated.left_out


def _said_once(notes: Sequence[str]) -> str:
    """Notes after each other, without those that are part of another."""
    each = list(dict.fromkeys(notes))
    return joined([n for n in each if not any(n != other and n in other for other in each)], " ")


def _could_be_broken(user: TablesBelieved, limits: Gate) -> bool:
    """Return True if a limit could be broken by what is bounded of earlier refusals."""
    if user.widening == NOT_WIDENED:
        return False
    # Late: who judges nothing needs none of it.
    from tabprotect.engine.disclosure.widened import cells_may_fail

    return limits.insider_limit < 1 or any(
        cells_may_fail(belief, user.widening, limits) for belief in user.beliefs
    )


def weigh_refused(
    found: Posterior, refused: tuple[RefusedDraws, ...], randomness: Randomness, progress: Progress = SILENT
) -> Posterior | None:
    """The posterior given that draws were refused before; ``None`` if that is too much work."""
    from tabprotect.engine.disclosure.refusals import weigh_refusals

    return weigh_refusals(found, refused, randomness, counts_verdict, progress)


def _insiders(user: TablesBelieved, limits: Gate, release: Release, progress: Progress) -> Insiders:
    """Return what somebody alone in a cell learns; not looked at without a posterior of the cells."""
    if user.inner is None:
        return NOT_LOOKED_AT
    from tabprotect.engine.belief.evidence import OfRelease
    from tabprotect.engine.disclosure.insiders import insiders

    generator = OfRelease(release, "insiders").generator()
    hanging = None if user.inner.recorded_sums is not None else user.likelihood
    return insiders(user.inner, hanging, limits, generator, progress)


BY_STEPS = MoveSequence | AdaptiveSequence | ExchangeSteps
"""Mechanisms that change a table step by step, each by a coin, and so may change nothing."""


def no_change_of(likelihood: Likelihood | None, release: Release, progress: Progress) -> float | None:
    """The chance that a draw would publish everything as it is: the same for the original."""
    if not isinstance(likelihood, BY_STEPS):
        return None
    method = methods()[release.mechanism.method]
    values = method.resolve(release.domain, release.mechanism.parameters)
    return method.no_change(release.table, values, progress)


def _unchanged(user: TablesBelieved, release: Release, progress: Progress) -> float | None:
    """The chance that the release is its original, where it publishes a count for each."""
    if user.inner is None or not any(one.table.domain == release.domain for one in release.tables):
        return None
    from tabprotect.engine.belief.evidence import OfRelease
    from tabprotect.engine.disclosure.unchanged import as_listed, unchanged

    if not isinstance(user.likelihood, BY_STEPS):
        return as_listed(user.inner)
    return unchanged(user.inner, OfRelease(release, "unchanged").generator(), progress)


def _with_groups(
    tables: Sequence[TableVerdict],
    readers: Sequence[TablesBelieved],
    release: Release,
    limits: Gate,
    progress: Progress,
) -> Iterator[TableVerdict]:
    """Each table's verdict with what its reader learns of whole groups."""
    from tabprotect.engine.belief.evidence import OfRelease
    from tabprotect.engine.disclosure.groups import groups_of

    generator = OfRelease(release, "groups").generator()
    found = [
        one
        for reader in readers
        for one in groups_of(reader.beliefs, limits, generator, progress, reader.widening)
    ]
    return (replace(table, groups=one) for table, one in zip(tables, found, strict=True))


def judged_table(who: Who, belief: TableBelief, limits: Gate) -> TableVerdict:
    """The verdict on what a reader believes of the cells of one table."""
    # A belief that may be beyond the limit within what is stated counts as beyond it.
    off = belief.error if belief.way == "exact" else 0.0
    found = _figures(belief, limits.at_risk, limits.belief_limit - off)
    return TableVerdict(
        who=who,
        names=belief.domain.names,
        inner=belief.inner,
        cells=belief.domain.size if belief.judged is None else int(belief.judged.sum()),
        at_risk=found.at_risk,
        known=found.known,
        certain=found.certain,
        way=belief.way,
        error=belief.error,
        note=belief.note,
        mean_belief=found.mean_belief,
        small_known=found.small_known,
        left_out=belief.left_out,
        basis=belief.basis,
    )


@dataclass(frozen=True)
class LearnedFigures:
    """The figures of a reader's learning about the cells of one table: see :class:`TableVerdict`."""

    at_risk: float = 0.0
    known: int = 0
    certain: int = 0
    mean_belief: float | None = None
    small_known: int = 0


def posterior_figures(posterior: Posterior, rule: SmallCount, limit: float) -> LearnedFigures:
    """The figures of all cells of a posterior."""
    from tabprotect.engine.disclosure.cell_beliefs import as_belief

    return _figures(as_belief(posterior, inner=True, judged=None), rule, limit)


def _figures(belief: TableBelief, rule: SmallCount, limit: float) -> LearnedFigures:
    if belief.rows is None:
        return LearnedFigures()
    _, first, chances = belief.rows
    # Only cells that could be at risk at all are examined.
    cells = belief.among((first <= rule.high) & (first + chances.shape[1] > rule.low))
    inside, highest, squares = (np.zeros(len(cells)) for _ in range(3))
    if len(cells):
        low = max(rule.low, int(first[cells].min()))
        high = min(rule.high, int(first[cells].max()) + chances.shape[1] - 1)
        for value in range(low, high + 1):
            chance = belief.probability(value, cells)
            inside += chance
            squares += chance**2
            if belief.draws:
                # The square of a share of draws is too large by the share's variance.
                squares -= chance * (1.0 - chance) / belief.draws
            np.maximum(highest, chance, out=highest)
    beside = int(rule.mask(belief.beside).sum())
    expected = float(inside.sum()) + beside
    return LearnedFigures(
        expected,
        int((highest > limit).sum()) + beside,
        int((highest > CERTAIN).sum()) + beside,
        (float(squares.sum()) + beside) / expected if expected >= NONE_EXPECTED else None,
        int((inside > limit).sum()) + beside,
    )


MOST_DRAWN, ALL_DRAWN = 48, 0.9995
"""Counts of the closest cell that are drawn at most, and the chance they have at which it is enough."""


def _staff(
    beliefs: Sequence[TableBelief],
    likelihood: Likelihood | None,
    limits: Gate,
    both: tuple[Table, Sequence[Release]],
) -> Staff:
    """Return what is true of the original; nothing of a finer table, whose counts are not known here."""
    original, releases = both
    coarse = [one for one in releases if one.domain.size <= original.domain.size]
    groupings = tuple(
        dict.fromkeys(
            grouping for one in coarse for grouping in groupings_of(original.domain, one.mechanism.parameters)
        )
    )
    found: list[np.ndarray] = []
    worst: WorstCell | None = None
    closest: tuple[TableBelief, Ints]
    cells_at_risk = 0
    for belief in beliefs:
        if belief.domain.size > original.domain.size:
            continue
        table = true_table(original, belief.domain, groupings)
        if belief.rows is None:
            # Neither side is laid out if there are no beliefs.
            cells_at_risk += int(limits.at_risk.mask(table.cells[1]).sum())
            continue
        truth = table.counts.reshape(-1)
        cells = belief.among(limits.at_risk.mask(truth))
        cells_at_risk += len(cells)
        if not len(cells):
            continue
        belief_in_truth = belief.probability(truth[cells], cells)
        found.append(belief_in_truth)
        highest = int(belief_in_truth.argmax())
        if worst is None or belief_in_truth[highest] > worst.belief:
            labels = belief.domain.labels(belief.domain.unflat(int(cells[highest])))
            chances = tuple(
                (value, float(belief.probability(value, cells[highest : highest + 1])[0]))
                for value in range(limits.at_risk.low, min(limits.at_risk.high, limits.at_risk.low + 9) + 1)
            )
            worst = WorstCell(belief.domain.names, labels, float(belief_in_truth[highest]), chances)
            closest = belief, cells[highest : highest + 1]
    if worst is not None:
        worst = replace(worst, believed=_believed(*closest))
    every = np.concatenate([np.zeros(0), *found])
    return Staff(
        at_risk_cells=cells_at_risk,
        known=int((every > limits.belief_limit).sum()),
        certain=int((every > CERTAIN).sum()),
        stuck=_stuck(likelihood, original, limits.at_risk),
        # Bounds are no belief.
        mean_belief=None
        if not len(every) or any(belief.way == "bounds" for belief in beliefs)
        else float(every.mean()),
        worst=worst,
    )


def _believed(belief: TableBelief, cell: Ints) -> tuple[tuple[int, float], ...]:
    """How likely each count of a cell is, from 0 up to where hardly anything is left, or a reader gives up."""
    found: list[tuple[int, float]] = []
    for value in range(MOST_DRAWN):
        found.append((value, float(belief.probability(value, cell)[0])))
        if sum(chance for _, chance in found) > ALL_DRAWN:
            break
    return tuple(found)


def _stuck(likelihood: Likelihood | None, original: Table, rule: SmallCount) -> int | None:
    """At-risk cells that no cycle can move in the original."""
    if not isinstance(likelihood, MoveSequence):
        return None
    stuck = reach.immovable_cells(likelihood.moves, original, likelihood.rule, passes=likelihood.passes)
    counts: Ints = original.counts.reshape(-1)
    return int((np.asarray(stuck).reshape(-1) & rule.mask(counts)).sum())
