"""The posterior of a sequence of moves: exact if the moves overlap little, else simulated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.moves import sampling
from tabprotect.engine.posterior.moves.drawn_tables import listed_tables, narrow_tables, of_tables
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.enumeration import enumerated_originals, number_of_originals
from tabprotect.engine.posterior.moves.open_cycles import only_open
from tabprotect.engine.posterior.moves.signature_model import GroupModel, group_model
from tabprotect.engine.posterior.moves.sum_sweep import SumLaws
from tabprotect.engine.posterior.moves.trains import TooWideError
from tabprotect.engine.posterior.posterior import IndependentPart, Posterior, SomeParts
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.progress import Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.languages.messages import message


def of_elimination(exact: Elimination, group_of_cell: Ints, published: Ints) -> SomeParts | None:
    """The components; ``None`` where there is one, or groups were split to compute it.

    Parameters
    ----------
    group_of_cell, published : int64 (cells,)
        The groups from that of the cells that never change on are none.
    """
    if exact.thinned is not None or sum(one.batch for one in exact.plans) < 2:
        return None
    return _Components(exact, group_of_cell, published).some


@dataclass(frozen=True, eq=False)
class _Components:
    exact: Elimination
    group_of_cell: Ints
    published: Ints

    def some(self, most: int, generator: np.random.Generator) -> IndependentPart | None:
        exact = self.exact
        groups = exact.model.groups
        cells = np.bincount(self.group_of_cell, minlength=groups + 1)[:groups]
        sizes = [cells[one.structure.members].sum(axis=0) for one in exact.plans]
        every = np.concatenate(sizes)
        order = generator.permutation(len(every))
        before = np.cumsum(every[order]) - every[order]
        chosen = np.zeros(len(every), dtype=np.bool_)
        chosen[order[before < most]] = True
        bounds = np.cumsum([len(size) for size in sizes])[:-1]
        taken = [np.flatnonzero(part) for part in np.split(chosen, bounds)]
        return self._part(taken)

    def _part(self, taken: list[Ints]) -> IndependentPart | None:
        """The part of so many components (numbers) of each plan."""
        exact = self.exact
        members = [one.structure.members[:, columns] for one, columns in zip(exact.plans, taken, strict=True)]
        groups = np.concatenate([one.reshape(-1) for one in members])
        number = np.full(exact.model.groups + 1, len(groups), dtype=np.int64)
        number[groups] = np.arange(len(groups))
        model = exact.model
        some = replace(
            model,
            lowest=model.lowest[groups],
            reach=model.reach[groups],
            log_prior=None if model.log_prior is None else model.log_prior[groups],
            worth=None if model.worth is None else model.worth[groups],
        )
        plans = [
            replace(
                one,
                structure=replace(
                    one.structure, members=number[mine], cycle_members=one.structure.cycle_members[:, columns]
                ),
            )
            for one, mine, columns in zip(exact.plans, members, taken, strict=True)
            if len(columns)
        ]
        of_cell = number[np.minimum(self.group_of_cell, exact.model.groups)]
        cells = np.flatnonzero(of_cell < len(groups))
        draw = narrow_tables(Elimination(some, plans).draw, of_cell[cells], self.published[cells], model.span)
        return None if draw is None else IndependentPart(cells, draw)


def _exact_because(exact: Elimination) -> str:
    if exact.tall:
        return message(
            "the cycles are those of strips, whose messages are trains (off by {error:.1g} at most)",
            exact.error,
        )
    if exact.thinned is None:
        return message("the cycles overlap little enough (width {width})", exact.width)
    return message(
        "exact for this release: {dropped:,} kinds of cells are published too "
        "large to block a cycle, and the others overlap little enough (width {width})",
        exact.thinned.dropped,
        exact.width,
    )


def drawn_because(model: GroupModel) -> str:
    """Say why the posterior is drawn, and what would make it exact."""
    if model.symmetric:
        return message(
            "the cycles overlap too much for a formula; the mechanism run backwards draws "
            "originals exactly as a reader should believe them"
        )
    remedies = [
        *([message("fewer passes")] if model.passes > 1 else []),
        *([message("fewer repeats")] if model.compact().repeats > 1 else []),
        message("lower strips"),
    ]
    if model.log_prior is None:
        remedies.append(
            message("or alpha and beta alike, which is drawn exactly")
            if model.coin.rule == "negative"
            else message("or the rule negative, which is drawn exactly")
        )
    return message("the cycles overlap too much for the exact way; it takes {remedies}", ", ".join(remedies))


def _found(
    whole: GroupModel, approach: Approach, progress: Progress
) -> tuple[GroupModel, Elimination | None, Floats | None]:
    """The model that is worked with, and its laws; none where they are not exact."""
    model = only_open(whole)
    if approach.way == "monte_carlo":
        return model, None, None
    exact = Elimination.of(model, progress)
    if exact is None and model is not whole:
        # Without the cycles that are not open a strip is none.
        exact = Elimination.of(whole, progress)
        model = model if exact is None else whole
    try:
        return model, exact, None if exact is None else exact.changes(progress)
    except TooWideError:
        return model, None, None


def infer_moves(
    likelihood: MoveSequence,
    prior: Prior,
    approach: Approach,
    randomness: Randomness | None,
    progress: Progress,
) -> Posterior:
    """See :func:`infer`. Cells that always move together share the distribution of their change."""
    model, exact, changes = _found(group_model(likelihood, prior, progress), approach, progress)
    published = likelihood.published.counts.reshape(-1)
    # Untouched cells belong to a last group that never changes.
    group_of_cell = model.signatures.column
    certain = np.eye(1, 2 * model.span + 1, model.span)
    if exact is None and approach.way == "exact":
        raise InfeasibleError(
            message("the cycles overlap too much for an exact posterior"),
            hint=message("take Monte Carlo, fewer passes, or lower strips of swaps"),
        )
    if exact is not None and changes is not None:
        # Trains are drawn more dearly than the mechanism backwards, where that is the posterior.
        backwards = exact.tall and model.symmetric
        draw = partial(sampling.draw, sampling.BackwardWalk(model)) if backwards else exact.draw
        return Posterior(
            published=likelihood.published,
            prior=prior,
            way="exact",
            reason=_exact_because(exact),
            group_of_cell=group_of_cell,
            first=published - model.span,
            chances=np.concatenate([changes, certain]),
            draw_originals=of_tables(draw, group_of_cell, published),
            draw_narrow=narrow_tables(draw, group_of_cell, published, model.span),
            count_originals=lambda: number_of_originals(model),
            list_originals=lambda: _listed(model, published),
            exact_sums=SumLaws(exact, group_of_cell, published),
            some_parts=of_elimination(exact, group_of_cell, published),
            error=exact.error if exact.tall else None,
        )
    generator = (randomness or Randomness.fresh()).generator()
    walk = sampling.BackwardWalk(model)
    found = sampling.estimate(walk, draws=approach.draws, generator=generator, progress=progress)
    asked = approach.way == "monte_carlo"
    return Posterior(
        published=likelihood.published,
        prior=prior,
        way="monte_carlo",
        reason=message("asked for") if asked else drawn_because(model),
        group_of_cell=group_of_cell,
        first=published - model.span,
        chances=np.concatenate([found.changes, certain]),
        draw_originals=of_tables(partial(sampling.draw, walk), group_of_cell, published),
        draw_narrow=narrow_tables(partial(sampling.draw, walk), group_of_cell, published, model.span),
        count_originals=lambda: number_of_originals(model),
        standard_errors=np.concatenate([found.standard_errors, np.zeros_like(certain)]),
        error=float(found.standard_errors.max(initial=0.0)),
        effective_sample_size=found.effective_sample_size,
        draws=found.draws,
        independent=model.symmetric,
        list_originals=lambda: _listed(model, published),
    )


def _listed(model: GroupModel, published: Ints) -> tuple[Ints, Floats] | None:
    """Every original with its probability; ``None`` if there are too many."""
    found = enumerated_originals(model)
    if found is None:
        return None
    groups, changes, log_weights = found
    column = np.full(model.groups + 1, len(groups), dtype=np.int64)
    column[groups] = np.arange(len(groups))
    # Untouched cells stay as published.
    return listed_tables((changes, log_weights), column[model.signatures.group_of_cell], published)
