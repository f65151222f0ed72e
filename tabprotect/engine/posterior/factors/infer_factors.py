"""The posterior of a product of factors: each part of the original in the cheapest exact way.

Cells that no sum joins are independent. Cells joined by one sum are solved by convolution; by
several, by a dynamic programme over partial sums if its states are few, or by listing the
originals if the sums leave few dimensions; the rest by a Markov chain over the feasible originals,
with its error. What the mechanism says beyond the factors weighs whole originals: all of them if
they can be listed, else drawn ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.bounds.counting import TableCount
from tabprotect.engine.bounds.fibre import FIBRE_POINTS
from tabprotect.engine.budgets import FACTOR_DRAWS
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.agreement import SETTLED
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors import reweighing
from tabprotect.engine.posterior.factors.cell_laws import CellLaws, cell_laws
from tabprotect.engine.posterior.factors.cellwise import MOST_ENTRIES, Cellwise, cellwise
from tabprotect.engine.posterior.factors.chain_posterior import by_chain, by_walk
from tabprotect.engine.posterior.factors.components import FactorComponent, Split, split_components
from tabprotect.engine.posterior.factors.residual_sums import MOST_STEPS
from tabprotect.engine.posterior.factors.reweighing import REWEIGHING_CELLS, REWEIGHING_HELD
from tabprotect.engine.posterior.factors.solved_parts import (
    LOG_MOST,
    Draw,
    PartSums,
    SolvedPart,
    by_cell,
    by_convolution,
    by_fibre,
    by_residuals,
)
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior, Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

STEPS_OF_A_TABLE = 4
"""Transitions between states that cost as much as listing one table."""


THOROUGH = 3
"""Factor by which the limits are raised when the exact way is asked for."""


def infer_factors(
    likelihood: CellFactors,
    prior: Prior,
    approach: Approach,
    randomness: Randomness | None,
    progress: Progress,
) -> Posterior:
    """See :func:`infer`."""
    progress.report(message("weighing each cell"), 0.0)
    laws = cell_laws(likelihood, prior)
    pieces = split_components(laws)
    alone = cellwise(laws, pieces.alone, progress)
    generator = (randomness or Randomness.fresh()).generator()
    walked = _walked(likelihood, prior, laws, approach, generator, progress)
    if walked is not None:
        return walked
    parts = _solved(pieces.components, likelihood.domain.shape, approach, generator, progress)
    found = _joined(likelihood, prior, pieces, (alone, parts))
    unsettled = approach.weighing is not None and found.r_hat is not None and found.r_hat > SETTLED
    if likelihood.rerun is not None and not unsettled:
        return reweighing.reweighed(
            found,
            likelihood,
            # Many independent cells can neither be listed nor each be given a row of its own.
            [by_cell(alone), *parts] if len(alone.cells) <= REWEIGHING_CELLS else None,
            approach,
            generator,
            progress,
        )
    if approach.way == "monte_carlo" and found.way == "exact":
        return _simulated(found, approach.draws or FACTOR_DRAWS, generator, progress)
    return found


def _walked(
    likelihood: CellFactors,
    prior: Prior,
    laws: CellLaws,
    approach: Approach,
    generator: np.random.Generator,
    progress: Progress,
) -> Posterior | None:
    """The posterior by walks of the mechanism's own, where it has them and the prior is uniform."""
    rerun = likelihood.rerun
    # Who knows the structural zeros believes as everybody does of the rest.
    believed = getattr(prior, "prior", prior)
    if rerun is None or rerun.walk is None or not isinstance(believed, Uniform) or approach.way == "exact":
        return None
    size = likelihood.domain.size
    part = by_walk(rerun, size, approach, generator, progress)
    if part is None:
        return None
    nothing = np.zeros(0, dtype=np.int64)
    whole = replace(likelihood, rerun=None, note="", approximate=False, left_out=())
    found = _joined(whole, prior, Split(nothing, (nothing, nothing), ()), (cellwise(laws, nothing), [part]))
    return replace(found, reason=message("originals were drawn by walks of the mechanism's own that agree"))


def _solved(
    components: tuple[FactorComponent, ...],
    shape: tuple[int, ...],
    approach: Approach,
    generator: np.random.Generator,
    progress: Progress,
) -> list[SolvedPart]:
    """Solve every component; those with the same sums and cells only once."""
    known: dict[object, SolvedPart] = {}
    out = []
    for number, component in enumerate(components):
        progress.report(message("solving the parts"), number / len(components))
        same = _likeness(component)
        if same not in known:
            known[same] = _one(component, shape, approach, generator, progress)
        out.append(replace(known[same], cells=component.cells))
    return out


def _likeness(component: FactorComponent) -> object:
    """A key that is equal for components that differ only in the numbers of their cells."""
    return (
        component.low.tobytes(),
        tuple(map(id, component.logs)),
        tuple(
            (s.cells.tobytes(), s.low, s.high, None if s.logs is None else s.logs.tobytes())
            for s in component.sums
        ),
    )


def _one(
    component: FactorComponent,
    shape: tuple[int, ...],
    approach: Approach,
    generator: np.random.Generator,
    progress: Progress,
) -> SolvedPart:
    chain = partial(by_chain, component, shape, approach, generator, progress)
    if approach.way == "monte_carlo" and component.sums:
        return chain()
    steps = approach.steps
    if steps is None:
        steps = MOST_STEPS * (THOROUGH if approach.way == "exact" else 1)
    found = (
        by_convolution(component, progress)
        or by_residuals(component, most=steps, progress=progress)
        # Work spent on one way is no longer available to the next.
        or by_fibre(component, most=min(FIBRE_POINTS, steps // STEPS_OF_A_TABLE), progress=progress)
    )
    if found is None and approach.way == "exact":
        raise TooLargeError(
            message("too many originals hang together for an exact posterior"),
            hint=message("take Monte Carlo, or a prior that knows more"),
        )
    return chain() if found is None else found


def _joined(
    likelihood: CellFactors, prior: Prior, pieces: Split, solved: tuple[Cellwise, list[SolvedPart]]
) -> Posterior:
    """Join all parts in one posterior."""
    alone, parts = solved
    size = likelihood.domain.size
    group, first, chances, standard_errors = _rows(size, pieces.known, alone, parts)
    simulated = [part for part in parts if part.errors is not None]
    published, hidden = published_counts(likelihood)
    by_chains = [part.in_order for part in simulated if part.in_order is not None]
    return Posterior(
        exact_sums=PartSums.of(group, first, chances, parts),
        published=published,
        prior=prior,
        way="monte_carlo" if simulated else "exact",
        reason=_reason(alone, parts),
        group_of_cell=group,
        first=first,
        chances=chances,
        draw_originals=_drawing(
            size, pieces.known, [(alone.cells, alone.draw)] + [(part.cells, part.draw) for part in parts]
        ),
        draw_in_order=_in_order(size, pieces.known, alone, parts) if by_chains else None,
        count_originals=_counting(alone, parts),
        list_originals=lambda: _listing(alone, parts, (group, first)),
        estimate_originals=_estimating(alone, parts),
        hidden=hidden,
        standard_errors=standard_errors,
        error=None if standard_errors is None else float(standard_errors.max()),
        effective_sample_size=min(
            (p.effective_sample_size for p in simulated if p.effective_sample_size is not None), default=None
        ),
        draws=min((p.draws for p in simulated if p.draws is not None), default=None),
        r_hat=max((p.r_hat for p in simulated if p.r_hat is not None), default=None),
        note=likelihood.note if likelihood.rerun is None else "",
        approximate=likelihood.approximate and likelihood.rerun is None,
        left_out=likelihood.left_out if likelihood.rerun is None else (),
    )


def _rows(
    size: int, known: tuple[Ints, Ints], alone: Cellwise, parts: list[SolvedPart]
) -> tuple[Ints, Ints, Floats, Floats | None]:
    """The row and the first count of each cell, and the rows with the errors of simulated ones."""
    group = np.zeros(size, dtype=np.int64)
    first = np.zeros(size, dtype=np.int64)
    group[alone.cells] = alone.row_of_cell
    first[alone.cells] = alone.first[alone.row_of_cell]
    count = len(alone.first)
    group[known[0]], first[known[0]] = count, known[1]
    rows: list[Floats] = [np.ones(1)]
    errors: list[Floats | None] = [None]
    numbers: dict[int, int] = {}
    for part in parts:
        first[part.cells] = part.first
        for k, row in enumerate(part.rows):
            if id(row) not in numbers:
                numbers[id(row)] = count + len(rows)
                rows.append(row)
                errors.append(None if part.errors is None else part.errors[k])
            group[part.cells[k]] = numbers[id(row)]
    width = max(alone.chances.shape[1] if count else 1, *(len(row) for row in rows))
    if (count + len(rows)) * width > MOST_ENTRIES:
        raise InfeasibleError(
            message("the distributions of so many cells over so many counts are too large"),
            hint=message("take a prior that knows more, or fewer cells"),
        )
    chances = np.zeros((count + len(rows), width))
    chances[:count, : alone.chances.shape[1]] = alone.chances
    for k, row in enumerate(rows):
        chances[count + k, : len(row)] = row
    if all(error is None for error in errors):
        return group, first, chances, None
    standard_errors = np.zeros_like(chances)
    for k, error in enumerate(errors):
        if error is not None:
            standard_errors[count + k, : len(error)] = error
    return group, first, chances, standard_errors


def published_counts(likelihood: CellFactors) -> tuple[Table, Bools | None]:
    """The published inner cells, and a mask of those without a published count."""
    domain = likelihood.domain
    for table in likelihood.tables:
        if table.table.domain == domain:
            return table.table, table.suppressed
    nothing = np.zeros(domain.shape, dtype=np.int64)
    return Table.dense(domain, nothing), np.ones(domain.shape, dtype=np.bool_)


def _reason(alone: Cellwise, parts: list[SolvedPart]) -> str:
    simulated = [part for part in parts if part.errors is not None]
    if simulated:
        worst = max((p.r_hat for p in simulated if p.r_hat is not None), default=1.0)
        said = message("the published sums leave too many originals for the exact way")
        return (
            said
            if worst <= SETTLED
            else message("{said}; the chains do not agree yet (R-hat {worst:.2f})", said, worst)
        )
    if not len(alone.cells) and not parts:
        return message("the published sums leave one original")
    if not parts:
        return message("the cells are independent of each other")
    if len(alone.cells):
        return message("few cells hang together by published sums")
    return message("few originals hang together by published sums")


def _drawing(size: int, known: tuple[Ints, Ints], parts: list[tuple[Ints, Draw]]) -> Draw:
    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        out = np.zeros((number, size), dtype=np.int64)
        out[:, known[0]] = known[1]
        for cells, part in parts:
            if len(cells):
                out[:, cells] = part(number, generator, progress)
        return out

    return draw


def _in_order(
    size: int, known: tuple[Ints, Ints], alone: Cellwise, parts: list[SolvedPart]
) -> Callable[[Ints, np.random.Generator, Progress], Ints]:
    def draw(at: Ints, generator: np.random.Generator, progress: Progress) -> Ints:
        def placed(part: SolvedPart) -> Draw:
            recorded = part.in_order
            return part.draw if recorded is None else lambda *_: recorded(at)

        every = [(alone.cells, alone.draw), *((part.cells, placed(part)) for part in parts)]
        return _drawing(size, known, every)(len(at), generator, progress)

    return draw


def _counting(alone: Cellwise, parts: list[SolvedPart]) -> Callable[[], int | None]:
    def count() -> int | None:
        if alone.log_count > LOG_MOST:
            return None
        total = alone.count()
        # Identical parts share their count.
        counted: dict[int, int | None] = {}
        for part in parts:
            key = id(part.rows)
            if key not in counted:
                counted[key] = part.count()
            here = counted[key]
            if here is None:
                return None
            total *= here
            if total and math.log(total) > LOG_MOST:
                return None
        return total

    return count


def _listing(
    alone: Cellwise, parts: list[SolvedPart], of_cell: tuple[Ints, Ints]
) -> tuple[Ints, Floats] | None:
    """Every original with its probability; ``None`` if there are too many."""
    group, first = of_cell
    if len(alone.cells) > REWEIGHING_CELLS or alone.infinite.any():
        return None
    every = [by_cell(alone), *parts]
    number = reweighing.number_of(every)
    if number is None or number * len(group) > REWEIGHING_HELD:
        return None
    unknown = np.sort(np.concatenate([part.cells for part in every]))
    tables, chances = reweighing.listed_originals(every, unknown)
    out = np.tile(first, (len(tables), 1))
    out[:, unknown] = tables
    return out, chances


def _estimating(alone: Cellwise, parts: list[SolvedPart]) -> Callable[[], TableCount | None]:
    def estimate() -> TableCount | None:
        if math.isinf(alone.log_count):
            return None
        total, relative = alone.count(), 0.0
        for part in parts:
            exact = part.count()
            found = TableCount(exact, True, None) if exact is not None else part.estimate()
            if found is None or found.count == 0:
                return None
            total *= found.count
            relative += float(Fraction(found.error or 0) / found.count) ** 2
        error = Fraction(math.sqrt(relative)) * total
        return TableCount(total, False, float(error) if error < 2**1000 else int(error))

    return estimate


def _simulated(
    exact: Posterior, draws: int, generator: np.random.Generator, progress: Progress = SILENT
) -> Posterior:
    """An exact posterior replaced by independent draws, because Monte Carlo was asked for."""
    size = len(exact.group_of_cell)
    if size * exact.width > MOST_ENTRIES:
        raise InfeasibleError(
            message("so many cells are too much for Monte Carlo"), hint=message("take the exact way")
        )
    share = np.zeros(size * exact.width)
    base = np.arange(size) * exact.width
    block = max(1, 2**24 // size)
    for done in range(0, draws, block):
        progress.report(message("drawing originals"), done / draws)
        tables = exact.draw_originals(min(block, draws - done), generator, progress)
        share += np.bincount((tables - exact.first + base).reshape(-1), minlength=len(share))
    chances = (share / draws).reshape(size, exact.width)
    errors = np.sqrt(chances * (1 - chances) / draws)
    return replace(
        exact,
        way="monte_carlo",
        reason=message("asked for"),
        exact_sums=None,
        group_of_cell=np.arange(size),
        chances=chances,
        standard_errors=errors,
        error=float(errors.max(initial=0.0)),
        effective_sample_size=float(draws),
        draws=draws,
    )
