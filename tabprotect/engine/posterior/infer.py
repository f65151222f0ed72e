"""The posterior of one or several releases: exact if possible, else Monte Carlo with its error.

The likelihood of given whole originals under a release by moves, component by component.

Cycles that share no cell change their cells independently, so the weight of an original is a
product over such components, and the originals of each are listed separately. However many
components there are, only the largest has to be small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors.cell_laws import kind_logs
from tabprotect.engine.posterior.margins import laws_of, standard_errors
from tabprotect.engine.posterior.moves.backward_factors import step_structures
from tabprotect.engine.posterior.moves.enumeration import MOST_WORK, enumerated_originals
from tabprotect.engine.posterior.moves.open_cycles import only_open
from tabprotect.engine.posterior.moves.signature_model import group_model
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import KnowingZeros, Prior, Uniform
from tabprotect.engine.posterior.together.coarser import is_coarser, sums_of
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    ExchangeSteps,
    Likelihood,
    MoveSequence,
    RecordSwaps,
    SwappedFirst,
    product,
)
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message


def log_weights(likelihood: MoveSequence, tables: Ints, progress: Progress) -> Floats | None:
    """Log P(release | original) of originals int64 (n, cells), up to a constant.

    ``None`` if the originals of some component are too many to be listed.
    """
    model = only_open(group_model(likelihood, Uniform(), progress))
    sig = model.signatures
    change = tables - likelihood.published.counts.reshape(-1)
    group = sig.group_of_cell
    untouched = group < 0
    of_group = change[:, sig.first_cell]
    # Untouched cells are as published, and the cells of a group move alike.
    possible = (change[:, untouched] == 0).all(axis=1)
    possible &= (change[:, ~untouched] == of_group[:, group[~untouched]]).all(axis=1)
    log = np.where(possible, 0.0, -np.inf)
    left = MOST_WORK
    for structure in step_structures(model):
        for cycles in structure.cycle_members.T:
            left -= 1000
            found = enumerated_originals(model, cycles=cycles, most_work=left, progress=progress)
            if found is None:
                return None
            groups, changes, weights = found
            left -= changes.size
            known = {row.tobytes(): weight for row, weight in zip(changes, weights, strict=True)}
            open_ = np.flatnonzero(log > -np.inf)
            asked = np.ascontiguousarray(of_group[np.ix_(open_, groups)])
            log[open_] += [known.get(row.tobytes(), -np.inf) for row in asked]
    return log


MOST_HELD = 2**24
"""Most counts in all originals that are weighed."""

MOST_RERUNS = 20_000
"""Most originals for which a whole mechanism is rerun."""

JOINT_DRAWS = 20_000
"""Originals drawn when several releases are weighed together."""


CHEAPEST = Approach()
"""The cheapest way, for as long as it takes."""


def infer(
    likelihood: Likelihood,
    prior: Prior | None = None,
    approach: Approach = CHEAPEST,
    randomness: Randomness | None = None,
    progress: Progress = SILENT,
) -> Posterior:
    """The posterior distribution of every true cell.

    Parameters
    ----------
    prior
        Uniform when none is given. Structural zeros are zeros under every prior.
    approach
        The way to it, and the work that it may take.
    randomness
        For Monte Carlo: fresh by default, as nothing confidential depends on it.

    Raises
    ------
    InputError
        If the published table cannot come from the mechanism.
    InfeasibleError
        If no original fits table, mechanism and prior; if the exact way, asked for, is too wide;
        or if neither the release nor the prior bounds a count.
    """
    prior = knowing_zeros(prior, likelihood.domain)
    # Late: of the ways to a posterior one is gone, and each has solvers of its own.
    if isinstance(likelihood, MoveSequence):
        from tabprotect.engine.posterior.moves.infer_moves import infer_moves

        return infer_moves(likelihood, prior, approach, randomness, progress)
    if isinstance(likelihood, AdaptiveSequence):
        from tabprotect.engine.posterior.adaptive.infer_adaptive import infer_adaptive

        return infer_adaptive(likelihood, prior, approach, randomness, progress)
    if isinstance(likelihood, SwappedFirst):
        from tabprotect.engine.posterior.swaps.infer_swapped_first import infer_swapped_first

        return infer_swapped_first(likelihood, prior, approach, randomness, progress, infer)
    if isinstance(likelihood, RecordSwaps):
        from tabprotect.engine.posterior.swaps.infer_swaps import infer_swaps

        return infer_swaps(likelihood, prior, approach, randomness, progress)
    if isinstance(likelihood, ExchangeSteps):
        from tabprotect.engine.posterior.swaps.infer_exchange import infer_exchange

        return infer_exchange(likelihood, prior, approach, randomness, progress)
    from tabprotect.engine.posterior.factors.infer_factors import infer_factors

    return infer_factors(likelihood, prior, approach, randomness, progress)


def knowing_zeros(prior: Prior | None, domain: Domain) -> Prior:
    """The prior, uniform when none is given, of who knows the structural zeros of a table."""
    prior = Uniform() if prior is None else prior
    return KnowingZeros(prior, domain) if domain.structural else prior


def infer_jointly(
    likelihoods: Sequence[Likelihood],
    prior: Prior | None = None,
    randomness: Randomness | None = None,
    progress: Progress = SILENT,
) -> Posterior | None:
    """The posterior of several releases, by their factors; ``None`` where there is none.

    Parameters
    ----------
    likelihoods
        Of releases by moves, at least one, and of others by factors of sums.
    randomness
        Of a posterior that is drawn; without it there is only the exact one.

    Raises
    ------
    InputError
        If no original fits all of them.
    """
    moves = [one for one in likelihoods if isinstance(one, MoveSequence)]
    factors = [one for one in likelihoods if isinstance(one, CellFactors)]
    if not moves or len(moves) + len(factors) < len(likelihoods):
        return None
    evidence = product(factors) if factors else None
    known = knowing_zeros(prior, moves[0].domain)
    # Late: one release alone needs none of it.
    from tabprotect.engine.posterior.together.infer_together import infer_together

    found = infer_together(moves, evidence, known, randomness, progress)
    if found is None or evidence is None:
        return found
    return replace(found, note=evidence.note, approximate=evidence.approximate, left_out=evidence.left_out)


LEAST_EFFECTIVE = 100.0


_TOO_MANY = message("the originals of these releases are too many to be listed")


def multiplied(likelihoods: Sequence[Likelihood]) -> list[Likelihood]:
    """The likelihoods with all products of factors, and exchanges of one split, merged at the first's place."""
    factors = [one for one in likelihoods if isinstance(one, CellFactors)]
    out: list[Likelihood] = []
    for one in likelihoods:
        same = [k for k, other in enumerate(out) if _one_split(other, one)]
        if same and isinstance(first := out[same[0]], ExchangeSteps) and isinstance(one, ExchangeSteps):
            out[same[0]] = replace(first, beside=(*first.beside, one))
        elif not isinstance(one, CellFactors):
            out.append(one)
        elif one is factors[0]:
            out.append(product(factors))
    return out


def _one_split(one: Likelihood, other: Likelihood) -> bool:
    if not isinstance(one, ExchangeSteps) or not isinstance(other, ExchangeSteps):
        return False
    return one.domain == other.domain and one.plan.same_split(other.plan)


def same_variables(domain: Domain, others: Sequence[Likelihood], *, coarser: bool = False) -> None:
    """Raise if a release is of a table with other variables than a domain.

    Parameters
    ----------
    coarser
        Whether some of the variables will do.

    Raises
    ------
    InputError
    """
    if any(other.domain != domain and not (coarser and is_coarser(other.domain, domain)) for other in others):
        raise InputError(
            message("the releases are of tables with other variables"),
            hint=message("together only releases of one original can be read"),
        )


def posterior_joined(
    first: Posterior,
    others: Sequence[Likelihood],
    randomness: Randomness,
    progress: Progress = SILENT,
    *,
    draws: int | None = None,
) -> Posterior:
    """The posterior given further releases of the same original, or of a coarser table of it.

    Raises
    ------
    InputError
        If the releases are of tables with other variables, or no original fits all of them.
    InfeasibleError
        If there are too many originals to be listed and drawn ones say too little.
    """
    same_variables(first.domain, others, coarser=True)
    listed = first.list_originals()
    exact = listed is not None and first.way == "exact"
    if listed is None or not exact:
        number = min(draws or JOINT_DRAWS, MOST_HELD // first.domain.size)
        tables = first.draw_originals(max(number, 1), randomness.generator(), progress)
        weights = np.ones(len(tables))
    else:
        tables, weights = listed
    note, kept_out = first.note, first.left_out
    log = np.log(weights, where=weights > 0, out=np.full(len(weights), -np.inf))
    for number, other in enumerate(others):
        progress.report(message("weighing by the other releases"), number / len(others))
        sums = sums_of(tables, first.domain, other.domain)
        more, unused = _log_weights(other, sums, randomness, progress)
        log = log + more
        note = joined(filter(None, [note, unused.note]), " ")
        kept_out = kinds(kept_out, unused.left_out)
    peak = float(log.max(initial=-np.inf))
    if peak == -np.inf:
        if exact:
            raise InputError(
                message("no original fits all these releases"),
                hint=message("check that they are of one and the same table"),
            )
        raise InfeasibleError(message("no drawn original fits all these releases"))
    weights = np.exp(log - peak)
    weights /= weights.sum()
    effective = None if exact else 1.0 / float((weights**2).sum())
    if effective is not None and effective < LEAST_EFFECTIVE:
        raise InfeasibleError(
            message(
                "the drawn originals are worth {effective:.0f} independent ones under all releases: "
                "too few to say anything",
                effective,
            )
        )
    first = replace(first, note=note, left_out=kept_out)
    return _weighed(first, (tables, weights), effective)


def _weighed(first: Posterior, weighed: tuple[Ints, Floats], effective: float | None) -> Posterior:
    possible = weighed[1] > 0
    tables, weights = weighed[0][possible], weighed[1][possible]
    cells = tables.shape[1]
    spread = int((tables.max(axis=0) - tables.min(axis=0)).max(initial=0)) + 1
    if cells * spread > MOST_HELD:
        raise InfeasibleError(message("the distributions of so many cells are too large"))
    start, chances = laws_of(tables, weights)
    errors = None if effective is None else standard_errors(chances, effective)

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        progress.report(message("drawing tables"), 0.0)
        return np.asarray(tables[generator.choice(len(tables), number, p=weights)])

    return replace(
        first,
        way="exact" if effective is None else "monte_carlo",
        reason=message("every original that fits was weighed by all releases")
        if effective is None
        else message("drawn originals were weighed by all releases"),
        group_of_cell=np.arange(cells),
        first=start,
        chances=chances,
        draw_originals=draw,
        count_originals=(lambda: len(tables)) if effective is None else (lambda: None),
        list_originals=(lambda: (tables, weights)) if effective is None else (lambda: None),
        estimate_originals=lambda: None,
        exact_sums=None,
        standard_errors=errors,
        error=None if errors is None else float(errors.max(initial=0.0)),
        effective_sample_size=effective,
        draws=None if effective is None else len(weighed[1]),
        r_hat=None,
        independent=False,
    )


@dataclass(frozen=True)
class _Unused:
    """The part of the evidence that a weight leaves out."""

    note: str = ""
    left_out: tuple[Omission, ...] = ()


def _log_weights(
    likelihood: Likelihood, tables: Ints, randomness: Randomness, progress: Progress
) -> tuple[Floats, _Unused]:
    """Log P(release | original) of whole originals, up to a constant, and what was left out."""
    if isinstance(likelihood, CellFactors):
        return _by_factors(likelihood, tables, randomness, progress)
    if isinstance(likelihood, MoveSequence):
        log = log_weights(likelihood, tables, progress)
        if log is None:
            raise InfeasibleError(_TOO_MANY)
        return log, _Unused()
    alone = infer(likelihood, Uniform(), progress=progress)
    listed = alone.list_originals()
    if listed is None:
        raise InfeasibleError(_TOO_MANY)
    known = {row.tobytes(): weight for row, weight in zip(*listed, strict=True)}
    found = np.array([known.get(row.tobytes(), 0.0) for row in np.ascontiguousarray(tables)])
    return np.log(found, where=found > 0, out=np.full(len(found), -np.inf)), _Unused(
        alone.note, alone.left_out
    )


def _by_factors(
    likelihood: CellFactors, tables: Ints, randomness: Randomness, progress: Progress
) -> tuple[Floats, _Unused]:
    filled = np.diff(likelihood.starts) > 0
    sums = np.zeros((len(tables), likelihood.factors), dtype=np.int64)
    if filled.any():
        begins = likelihood.starts[:-1][filled]
        sums[:, filled] = np.add.reduceat(tables[:, likelihood.cells], begins, axis=1)
    log = np.zeros(len(tables))
    for kind in np.unique(likelihood.kind).tolist():
        mine = sums[:, likelihood.kind == kind]
        log += kind_logs(likelihood, kind, mine).sum(axis=1)
    rerun, unused = likelihood.rerun, _Unused(likelihood.note, likelihood.left_out)
    if rerun is None:
        return log, unused
    candidates = np.flatnonzero(log > -np.inf)
    if not rerun.exact or len(candidates) > MOST_RERUNS:
        return log, unused
    generator = randomness.generator()
    known_weights = None if rerun.known_weights is None else rerun.known_weights(tables[candidates])
    for number, k in enumerate(candidates.tolist()):
        progress.report(message("weighing by the other releases"), number / len(candidates))
        chance = math.nan if known_weights is None else float(known_weights[number])
        if math.isnan(chance):
            table = Table.dense(likelihood.domain, tables[k].reshape(likelihood.domain.shape))
            chance = rerun.estimate(table, generator)
        log[k] = log[k] + np.log(chance) if chance > 0 else -np.inf
    return log, _Unused()
