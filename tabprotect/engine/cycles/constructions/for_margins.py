"""Cycles designed for the margins that are published anyway, and for nothing else.

A designer is given kept margins and public information, never a table. The margins are the same
for every table that may be released for the original, so the design is a constant: it leaks
nothing and changes no posterior. Every reader of the release can design the same cycles.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.cycles.constructions.long_cycles import check_size
from tabprotect.engine.cycles.constructions.triangular import (
    ChosenMoves,
    TriangularSearch,
    TriangularSettings,
)
from tabprotect.engine.cycles.kernel_basis import Vector, as_cycles, core, kernel, shortened
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.fitting.synthetic_tables import expected_counts
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import dimension as closed_form
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

MOST_COMPLETED = 400
"""Most cells among which moves are sought that the triangular ones leave out."""

MOST_PROVED = 10_000_000
"""Most sums of entries over margins that are checked when a design is done."""


@dataclass(frozen=True, eq=False)
class ProvedDesign:
    """A design with the proof of what it spans.

    Attributes
    ----------
    moves
        The triangular cycles, then those that complete them.
    dimension
        Number of independent moves that keep the margins and touch no public zero; ``None`` if too
        large to compute.
    completed
        Number of cycles that are not triangular.
    support : bool (cells,)
        Cells that are not public zeros.
    """

    moves: MoveSet
    dimension: int | None
    completed: int
    support: Bools

    @property
    def rank(self) -> int:
        """Rank of the cycles: they are independent by construction."""
        return len(self.moves)

    @property
    def deficit(self) -> int | None:
        """Number of sums that are published exactly though nobody asked for them."""
        return None if self.dimension is None else self.dimension - self.rank


def design_for_margins(
    kept: KeptMargins,
    settings: TriangularSettings | None = None,
    *,
    zeros: Bools | None = None,
    progress: Progress = SILENT,
) -> ProvedDesign:
    """The triangular design: cycles that keep the margins and leave nothing else exactly known.

    Every cell that can have a move with less rare cells has exactly one. That is a basis of all
    moves if the margins' groupings are nested and no cell is a public zero (checked, not proved
    in general); otherwise moves among the other cells are completed from a basis of the integer
    kernel, as far as they are cycles.

    Parameters
    ----------
    kept
        The margins with their counts.
    settings
        Settings that decide between partners.
    zeros : bool (cells,)
        Structural zeros beyond those of the table's domain: empty whatever is published.

    Raises
    ------
    ParameterError
        If nothing can move, or the table is too large.
    """
    domain = kept.domain
    check_size(domain)
    mu = expected_counts(kept, zeros, progress)
    support = mu > 0
    chosen = TriangularSearch(kept.publication, mu, settings or TriangularSettings(), progress).run()
    rest = support.copy()
    rest[chosen.targets] = False
    basis = remaining_kernel(kept.publication, rest, progress)
    completing = as_cycles(basis or [], _vectors(chosen) if basis else [])
    moves = _move_set(kept.publication, chosen, completing)
    if not len(moves):
        raise ParameterError(
            {"keep": message("with these margins kept no count can change")},
            hint=message("keep fewer margins, or groups of categories"),
        )
    _prove(moves, len(chosen.targets))
    dimension = None if basis is None else len(chosen.targets) + len(basis)
    return ProvedDesign(moves, dimension, len(completing), support)


def _vectors(chosen: ChosenMoves) -> list[Vector]:
    cells, signs = chosen.cells.tolist(), chosen.signs.tolist()
    ends = chosen.starts.tolist()
    return [dict(zip(cells[a:b], signs[a:b], strict=True)) for a, b in pairwise(ends)]


def _move_set(publication: Publication, chosen: ChosenMoves, completing: list[Vector]) -> MoveSet:
    lengths = [len(vector) for vector in completing]
    starts = np.concatenate([chosen.starts, chosen.starts[-1] + np.cumsum(lengths, dtype=np.int64)])
    cells = np.concatenate([chosen.cells, *(np.fromiter(v, np.int64) for v in completing)])
    signs = np.concatenate([chosen.signs, *(np.fromiter(v.values(), np.int8) for v in completing)])
    return MoveSet.of(
        publication.domain, starts, cells, signs, margins=publication.margins, groupings=publication.groupings
    )


def _prove(moves: MoveSet, triangular: int) -> None:
    """Check that the design keeps its margins and is independent; if not, the program is at fault.

    Margins are summed for as many cycles as ``MOST_PROVED`` allows, evenly chosen.
    """
    every = -(-len(moves.cells) * len(moves.margins) // MOST_PROVED)
    if moves.take(np.arange(0, len(moves), every)).violations(most=1):
        raise AssertionError("a designed cycle breaks a margin")
    entries = int(moves.starts[triangular])
    stays = core(moves.rows[:entries], moves.cells[:entries], count=triangular)
    if stays.any():
        raise AssertionError("designed cycles are not unitriangular")


def remaining_kernel(
    publication: Publication, rest: Bools, progress: Progress = SILENT
) -> list[Vector] | None:
    """A basis of the integer moves among some cells that keep the margins; ``None`` if too large.

    Every move that keeps the margins is, in exactly one way, a combination of triangular moves and
    one move among the cells that are not targets: its entries at targets are removed one by one,
    last cell first. So these are the moves that the triangular ones leave out.

    Parameters
    ----------
    rest : bool (cells,)
    """
    cells = np.flatnonzero(rest)
    keys = [publication.keys(m, cells) for m in range(len(publication.margins))]
    places = np.concatenate(
        [key + start for key, start in zip(keys, publication.starts[:-1].tolist(), strict=True)]
    )
    items = np.tile(np.arange(len(cells)), len(keys))
    # A cell that is alone in a margin's cell, once others are peeled off, is in no move.
    stays = core(items, places, count=len(cells))
    open_cells = np.flatnonzero(stays)
    if not len(open_cells):
        return []
    if len(open_cells) > MOST_COMPLETED:
        return None
    sums: list[Ints] = []
    for key in keys:
        own = key[open_cells]
        sums += [np.flatnonzero(own == value) for value in np.unique(own).tolist()]
    found = shortened(kernel(sums, len(open_cells), progress), len(open_cells))
    number = cells[open_cells]
    return [{int(number[c]): value for c, value in vector.items()} for vector in found]


def dimension(
    publication: Publication, support: Bools | None = None, progress: Progress = SILENT
) -> int | None:
    """Number of independent moves that keep margins and touch only some cells.

    Parameters
    ----------
    support : bool (cells,)
        All cells by default.

    Returns
    -------
    dimension
        ``None`` if it is too large to compute.
    """
    kept = publication.maximal()
    if (support is None or support.all()) and not kept.groupings:
        return closed_form(kept.domain, kept.margins)
    cells = np.ones(kept.domain.size) if support is None else support.astype(np.float64)
    targets = TriangularSearch(kept, cells, TriangularSettings(), progress).run().targets
    rest = cells > 0
    rest[targets] = False
    basis = remaining_kernel(kept, rest, progress)
    return None if basis is None else len(targets) + len(basis)
