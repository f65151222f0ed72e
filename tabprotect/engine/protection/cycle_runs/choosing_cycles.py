"""Choose cycles where none are given, from the kept margins alone.

The designs are run on synthetic tables, drawn with the expected counts that the kept margins give.
The margins are published, the drawing is seeded by them, and so the choice is a constant of
whatever is released: it tells nothing, and everybody can make it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tabprotect.engine.cycles.graphs import MAX_WIDTH, elimination_cost
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.fitting.synthetic_tables import expected_counts, shrunk, spread_part, synthetic_counts
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.cycle_runs.cycle_parameters import (
    ALPHA,
    BETA,
    BLOCKING,
    HEIGHT,
    N_COVER,
    OF_DESIGNS,
    ORDER,
    PASSES,
    STRIPS,
    THETA,
    TRIANGULAR,
    designed,
    template_of,
    zeros_said,
)
from tabprotect.engine.protection.cycle_runs.trial_runs import TrialTables, Tried
from tabprotect.engine.protection.simulate import trial_generator
from tabprotect.engine.release.likelihood import BlockingRule
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

MEDIUM = 2_000
"""Most cells of three and more variables for which elementary swaps are considered. They block less than
triangular cycles and leave more known than the trials show: of 20 x 20 x 20 sparse cells 8 in 100 where
2 in 100 are stuck."""

TRIED_CELLS, TRIED_DEEP = 2_500, 20_000
"""Most cells of the tables on which designs are tried, of two variables and of more: of a larger
table, a part of the categories. In more ways more cells of a part lie at its rim, where fewer cycles
pass."""

TALL_CELLS = 1_000_000
"""Cells up to which strips are as high as the table, whose posterior is then one of trains: no sum of a block is
published, and readers know a quarter as many small counts as by strips of eight."""

AS_GOOD = 0.05
"""Difference within which shares of stuck counts are taken as equal."""

CLEARLY = 0.02
"""Margin by which the design from the shape alone must repeat small counts less often."""

FORMER = "default"
"""The design that follows from the shape alone: it publishes the most sums exactly."""

EVENED, AS_CALM = 4, 1.02
"""Steps in which coins are made rarer until counts change equally, and the tolerance of that."""

MOST_LEFT = 0.04
"""Share of small counts that may be stuck before another rule is looked at, and before the list is run
through twice: readers know about as many, and up to four tenths more, while a house seldom lets out
more than one in twenty."""


@dataclass(frozen=True)
class Candidate:
    """A design and what it does to synthetic tables with the kept margins.

    Attributes
    ----------
    name
        Of the template.
    moves
        Its cycles.
    done
        Figures of its runs.
    exact
        Whether the posterior is exact whatever is published.
    """

    name: str
    moves: MoveSet
    done: Tried
    exact: bool


def candidates(
    kept: KeptMargins, values: Values, progress: Progress = SILENT, *, others: Sequence[Candidate] = ()
) -> list[Candidate]:
    """Every design that is available, tried.

    Parameters
    ----------
    values
        Public parameters of the mechanism: coins, order, number of steps, blocking rule, and
        those of the design.
    others
        The same designs with another blocking rule; their cycles, and whether the posterior is
        exact, are reused.
    """
    tables = TrialTables.of(kept, zeros_said(kept.domain, values), progress)
    designs = [(one.name, one.moves, one.exact) for one in others] or [
        (name, moves, _exact(moves, values, progress)) for name, moves in _designs(kept, values, progress)
    ]
    return [
        Candidate(name, moves, tables.tried(moves, values, progress), exact) for name, moves, exact in designs
    ]


def _exact(moves: MoveSet, values: Values, progress: Progress) -> bool:
    """Return True if the posterior is exact whatever is published."""
    cost = elimination_cost(moves, values[PASSES], limit=MAX_WIDTH, progress=progress)
    return cost is not None and cost.affordable


def _designs(kept: KeptMargins, values: Values, progress: Progress) -> list[tuple[str, MoveSet]]:
    """The designs to choose from: the one that the parameters name, else all.

    The design from the shape alone keeps all margins over one variable less, so it serves where
    these are to be kept.
    """
    domain = kept.domain

    def made(name: str) -> tuple[str, MoveSet]:
        return name, designed(name, domain, values, kept=kept, progress=progress)

    asked = template_of(None, values)
    if asked is not None:
        return [made(asked)]
    plain = kept.follow_from_shape
    small = domain.size <= MEDIUM
    found = [made("elementary")] if plain and small else []
    try:
        found.append(made(TRIANGULAR))
    except ParameterError:
        # Empty rows and columns leave nothing to move: then one design is like another.
        if not plain:
            raise
    return found + [made(name) for name in ((STRIPS, FORMER) if domain.ndim == 2 else (FORMER,)) if plain]


@dataclass(frozen=True)
class CycleChoice:
    """The cycles, the rule and the passes chosen where none are given.

    Attributes
    ----------
    moves, rule
        The cycles, and the blocking rule.
    passes
        Rounds over the list.
    """

    moves: MoveSet
    rule: BlockingRule
    passes: int


def chosen_cycles(kept: KeptMargins, values: Values, progress: Progress = SILENT) -> CycleChoice:
    """The cycles for margins and public parameters, and the blocking rule where none is given.

    Of the designs that leave about the fewest small counts stuck, those whose posterior is exact,
    if there are any; of these, the one that repeats a small count least often when all change
    counts equally much (strips of two, which publish the most sums, only where they are clearly
    better); strips are as high as the table where the rule is negative and tables have ``TALL_CELLS`` at
    most. The rule is any_zero, which is unbiased, unless it would leave more than ``MOST_LEFT``
    of the small counts stuck and negative would leave clearly fewer. The list is run through once; twice
    where negative leaves more than ``MOST_LEFT`` of them stuck and the posterior is drawn anyway.

    Raises
    ------
    ParameterError
        When no count can change.
    """
    said = (ORDER, PASSES, N_COVER, ALPHA, BETA, BLOCKING, THETA, *OF_DESIGNS)
    names = [one.name for one in said]
    return _chosen(_Asked(kept, tuple((name, values.get(name)) for name in names), progress))


@dataclass(frozen=True)
class _Asked:
    """The cache key of a choice: all that it depends on; the progress is not part of it."""

    kept: KeptMargins
    values: tuple[tuple[str, object], ...]
    progress: Progress = field(compare=False)


@lru_cache(maxsize=16)
def _chosen(asked: _Asked) -> CycleChoice:
    kept, progress = asked.kept, asked.progress
    domain = kept.domain
    plain = kept.follow_from_shape
    given = Values(dict(asked.values))
    is_open, passes = given["blocking"] is None, given["passes"]
    if passes is None:
        given |= {"passes": 1}
    rule: BlockingRule = "any_zero" if is_open else given[BLOCKING]
    if given[ORDER] == "positive":
        kind = template_of(None, given) or (FORMER if plain else TRIANGULAR)
        moves = designed(kind, domain, given, kept=kept, progress=progress)
        return CycleChoice(moves, rule, given[PASSES])
    tried = typical_part(kept, given, progress)
    found = candidates(tried, given | {"blocking": rule}, progress)
    drawn = domain.size > MEDIUM and not any(c.exact for c in _pool(found))
    left = _least(_pool(found))
    if is_open and (drawn or left > MOST_LEFT):
        negative = given | {"blocking": "negative"}
        others = candidates(tried, negative, progress, others=found)
        fewer = 0.0 if drawn else min(AS_GOOD, left / 2)
        if _least(_pool(others)) < left - fewer:
            found, rule = others, "negative"
    best = _best(_pool(found), tried, given | {"blocking": rule}, progress)
    twice = passes is None and not given[N_COVER] and rule == "negative" and not best.exact
    if twice and best.done.stuck > MOST_LEFT:
        given |= {"passes": 2}
    whole = best.name == STRIPS and rule == "negative" and given[ALPHA] == given[BETA] and given[PASSES] == 1
    if whole and given[HEIGHT] is None and domain.size <= TALL_CELLS:
        given |= {HEIGHT.name: min(domain.shape)}
    elif tried is kept:
        return CycleChoice(best.moves, rule, given[PASSES])
    moves = designed(best.name, domain, given, kept=kept, progress=progress)
    return CycleChoice(moves, rule, given[PASSES])


def typical_part(kept: KeptMargins, values: Values, progress: Progress = SILENT) -> KeptMargins:
    """The margins of a synthetic table over a part of the categories (``tried_cells``).

    Of each variable so many categories, evenly spread from the rarest to the most frequent: what a
    design does to a count depends on the counts near it, not on the size of the table. Margins that
    are not all of one variable less, structural zeros and small tables are taken as they are.
    """
    domain = kept.domain
    most = tried_cells(domain.shape)
    sizes = shrunk(domain.shape, most)
    if domain.size <= most or not kept.follow_from_shape or sizes == domain.shape:
        return kept
    expected = expected_counts(kept, zeros_said(domain, values), progress).reshape(domain.shape)
    part = Domain.of_shape(sizes)
    coins = trial_generator("typical part", kept.counts.tobytes(), stream=0)
    counts = synthetic_counts(spread_part(expected, sizes).reshape(-1), 1, coins, shape=1.0)
    table = Table.dense(part, counts.reshape(sizes))
    return KeptMargins.of(Publication(part, all_margins(part)), table)


def tried_cells(shape: tuple[int, ...]) -> int:
    """The most cells of the tables on which designs for a shape are tried."""
    return TRIED_CELLS if len(shape) < 3 else TRIED_DEEP


def _pool(found: list[Candidate]) -> list[Candidate]:
    """Keep those of the good ones whose posterior is exact, if there are any."""
    good = [c for c in found if c.done.stuck <= _least(found) + AS_GOOD]
    return [c for c in good if c.exact] or good


def _least(found: list[Candidate]) -> float:
    return min(candidate.done.stuck for candidate in found)


def _best(found: list[Candidate], kept: KeptMargins, values: Values, progress: Progress) -> Candidate:
    """The candidate that repeats small counts least when all change counts as little as the calmest.

    More change protects by itself, and the coin gives it with any design.
    """
    calm = min(candidate.done.change for candidate in found)
    tables = TrialTables.of(kept, zeros_said(kept.domain, values), progress)

    def repeated(candidate: Candidate) -> float:
        done, coin = candidate.done, 1.0
        for _ in range(EVENED):
            if done.change <= calm * AS_CALM:
                break
            coin *= calm / done.change
            coins = {"alpha": coin * values[ALPHA], "beta": coin * values[BETA]}
            done = tables.tried(candidate.moves, values | coins, progress)
        return done.repeated + (CLEARLY if candidate.name == FORMER else 0.0)

    return found[0] if len(found) == 1 else min(found, key=repeated)
