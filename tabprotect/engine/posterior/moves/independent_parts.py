"""Parts of a table whose counts are independent: the components of cycles that share no cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Ints, Signs
from tabprotect.engine.posterior.moves.drawn_tables import DrawNarrow, narrow_tables
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.posterior import IndependentPart, Parts
from tabprotect.engine.progress import Progress


def of_elimination(exact: Elimination, group_of_cell: Ints, published: Ints) -> Parts | None:
    """The components; ``None`` where there is one, or groups were split to compute it.

    Parameters
    ----------
    group_of_cell, published : int64 (cells,)
        The groups from that of the cells that never change on are none.
    """
    if exact.thinned is not None or sum(one.batch for one in exact.plans) < 2:
        return None
    return _Components(exact, group_of_cell, published)


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
        return None if draw is None else _Part(cells, draw)


@dataclass(eq=False)
class _Part:
    cells: Ints
    narrow: DrawNarrow

    def draw(self, number: int, generator: np.random.Generator, progress: Progress) -> Signs:
        return self.narrow(number, generator, progress)
