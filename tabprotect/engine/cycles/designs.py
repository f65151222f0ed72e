"""The templates of cycle sets by name, and the splitting of cycles into connected parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.budgets import MAX_CYCLE_CELLS
from tabprotect.engine.cycles import graphs
from tabprotect.engine.cycles.constructions.for_margins import design_for_margins
from tabprotect.engine.cycles.constructions.long_cycles import balanced, bidiagonal, check_shape
from tabprotect.engine.cycles.constructions.swaps import (
    bands,
    default_design,
    elementary,
    every,
    highest,
    order_design,
    strips,
)
from tabprotect.engine.cycles.constructions.triangular import TriangularSettings
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.plain_values.decoding import decoded, natural
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import Designed, MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Design:
    """A template: a description for a card, and when not to use it."""

    name: str
    label: str
    sentence: str
    avoid: str
    build: Callable[..., MoveSet]
    parameters: Mapping[str, type] = field(default_factory=dict)


def connected_parts(moves: MoveSet) -> MoveSet:
    """Each cycle cut into its connected parts (each a cycle of its own, if it keeps margins).

    Two cells of a cycle are connected if some kept margin adds them into the same cell.
    """
    starts, cells, signs = [0], [], []
    for i in range(len(moves)):
        cell, sign = moves.entries(i)
        part = _connected(moves.publication, cell)
        for number in range(int(part.max()) + 1):
            chosen = part == number
            cells.append(cell[chosen])
            signs.append(sign[chosen])
            starts.append(starts[-1] + int(chosen.sum()))
    return MoveSet.of(
        moves.domain,
        starts,
        np.concatenate(cells),
        np.concatenate(signs),
        margins=moves.margins,
        groupings=moves.groupings,
    )


MENDED_CELLS = 2_000
"""Cells among which the entries are sought that complete a broken cycle."""


def mended(moves: MoveSet, cycle: int, *, progress: Progress = SILENT) -> MoveSet | None:
    """One cycle completed by as few further entries as keep every sum; its own entries stay.

    The entries are sought, by an integer programme, where the categories of the cycle meet each other
    and as many further ones of each variable as the largest broken sum is.

    Returns
    -------
    MoveSet or None
        The one cycle; ``None`` where there is no completion there.
    """
    domain, (own, signs) = moves.domain, moves.entries(cycle)
    used = [np.unique(codes) for codes in np.unravel_index(own, domain.shape)]
    most = max((abs(one.amount) for one in moves.take([cycle]).violations()), default=1)
    met = [
        np.r_[codes, np.setdiff1d(np.arange(size), codes)[:most]]
        for codes, size in zip(used, domain.shape, strict=True)
    ]
    if np.prod([float(len(codes)) for codes in met]) > MENDED_CELLS:
        return None
    every = np.ravel_multi_index(np.ix_(*met), domain.shape).reshape(-1)
    free = np.setdiff1d(every, own)
    kept = moves.publication
    rows: list[Ints] = []
    right: list[Floats] = []
    for number in range(len(kept.margins)):
        keys, places = np.unique(kept.keys(number, np.r_[free, own]), return_inverse=True)
        rows.append(places[: len(free)] + sum(len(sums) for sums in right))
        right.append(-np.bincount(places[len(free) :], signs, len(keys)).astype(np.float64))
    # One column for a plus in each cell, one for a minus.
    into = np.concatenate([np.stack(rows, axis=1)] * 2) if rows else np.zeros((2 * len(free), 0), np.int64)
    values = np.repeat([1.0, -1.0], len(free) * len(rows))
    # Late: the first paint waits for no solver.
    from tabprotect.engine.solver import Entries, Limit, TableProgramme

    entries = replace(Entries.adding_up(into), values=values)
    sums = np.concatenate([np.zeros(0), *right])
    ends = np.zeros(2 * len(free)), np.ones(2 * len(free))
    programme = TableProgramme(entries, sums=(sums, sums), cells=ends, integral=True)
    try:
        said = message("completing the cycle")
        found = programme.weighted(
            np.ones(2 * len(free)), limit=Limit(nodes=1_000), progress=progress, stage=said
        )
    except InfeasibleError:
        return None
    if not len(found.point):
        return None
    put = np.rint(found.point[: len(free)] - found.point[len(free) :]).astype(np.int8)
    cells = np.r_[own, free[put != 0]]
    return MoveSet.of(
        domain,
        [0, len(cells)],
        cells,
        np.r_[signs, put[put != 0]],
        margins=moves.margins,
        groupings=moves.groupings,
    )


def _connected(kept: Publication, cells: Ints) -> Ints:
    left: list[int] = []
    right: list[int] = []
    offset = len(cells)
    for m in range(len(kept.margins)):
        _, key = np.unique(kept.keys(m, cells), return_inverse=True)
        left.extend(range(len(cells)))
        right.extend((key + offset).tolist())
        offset += int(key.max()) + 1
    label = graphs.components(left, right, offset)
    _, part = np.unique(label[: len(cells)], return_inverse=True)
    return part.astype(np.int64)


def _default(domain: Domain) -> MoveSet:
    # The cycles follow from another design, which the set remembers.
    return design(domain, *default_design(domain))


def _triangular(domain: Domain) -> MoveSet:
    check_shape(domain)
    kept = KeptMargins.even(Publication(domain, all_margins(domain)))
    return design_for_margins(kept).moves


DESIGNS: dict[str, Design] = {
    d.name: d
    for d in (
        Design(
            "default",
            message("Default for this shape"),
            message("Short swaps in strips; the posterior stays exact at any size."),
            message("when pair sums of neighbouring categories must not be published exactly"),
            _default,
        ),
        Design(
            "bidiagonal",
            message("Bidiagonal (Lenz)"),
            message("n long cycles; every cell is touched once with + and once with -."),
            message("on tables with zeros: a cycle that touches one zero never moves"),
            bidiagonal,
        ),
        Design(
            "balanced",
            message("Balanced, any dimension"),
            message("Few long cycles that touch every cell equally often with + and -."),
            message("on tables with zeros, and where one known row or column must not reveal others"),
            balanced,
        ),
        Design(
            "elementary",
            message("Elementary swaps"),
            message("All 2 x 2 swaps of neighbours: blocks least, leaves nothing exactly known."),
            message("on large tables when the posterior must be exact: it becomes Monte Carlo"),
            elementary,
        ),
        Design(
            "strips",
            message("Strips of swaps"),
            message(
                "Swaps within blocks of rows, as high as stays exact at any size (strips-H for blocks of H)."
            ),
            message("when the sums of a block of rows must not be published exactly"),
            strips,
            {"height": int, "closed": bool},
        ),
        Design(
            "triangular",
            message("For this table's margins"),
            message(
                "One short cycle for each cell that can have one, through cells less rare than "
                "it: only the kept sums are published exactly."
            ),
            message("on dense, even tables: elementary swaps protect them more"),
            _triangular,
        ),
        Design(
            "bands",
            message("Bands of swaps"),
            message("Swaps of all neighbouring rows and columns, open at the ends."),
            message("on tables wider than about 6 in both directions when the posterior must be exact"),
            bands,
        ),
        Design(
            "every",
            message("Every swap"),
            message(
                "Swaps of any two rows with any two columns: for the order that takes each step a "
                "cycle through positive cells."
            ),
            message(
                "as a list to run through on large tables: their number grows with the square of the cells"
            ),
            every,
        ),
    )
}


TRIANGULAR = "triangular"

REPEATS = "repeats"
MOST_REPEATS = 50

ORDER = Design(
    "order", message("Margins of an order"), order_design.__doc__ or "", "", order_design, {"order": int}
)
"""Not among the templates: ``order-R`` stands for it with its parameter."""


def design(domain: Domain, kind: str, parameters: Mapping[str, object] | None = None) -> MoveSet:
    """A cycle set by the name of its template.

    The set remembers its design. ``triangular`` is that of an even table here, with all margins
    over all variables but one; :func:`triangular` takes the margins that there are.

    Parameters
    ----------
    kind
        One of ``DESIGNS``; ``order-R`` for :func:`order_design`, ``strips-H`` for strips of height
        H.
    parameters
        Parameters of the template, such as the ``height`` of strips; every template takes
        ``repeats``: each cycle comes so many times, one time right after the other.

    Raises
    ------
    ParameterError
        If the template or a parameter is unknown, or this shape does not allow it.
    """
    given, times = _without_repeats(parameters)
    stem, _, number = kind.rpartition("-")
    if stem in _NUMBERED and (value := natural(number)) is not None:
        kind, given = stem, {_NUMBERED[stem]: value}
    template = ORDER if kind == ORDER.name else DESIGNS.get(kind)
    if template is None:
        raise ParameterError(
            {"kind": message("unknown: {kind}; there are {DESIGNS}", repr(kind), ", ".join(DESIGNS))}
        )
    _check(template, kind, given)
    if template is ORDER and "order" not in given:
        raise ParameterError({"order": message("must be given")})
    if kind == "strips" and not given:
        given = {"height": highest(domain)}
    return in_place(_built(domain, kind, tuple(given.items())), times)


def triangular(
    kept: KeptMargins,
    parameters: Mapping[str, object] | None = None,
    settings: TriangularSettings | None = None,
    *,
    zeros: Bools | None = None,
    progress: Progress = SILENT,
) -> MoveSet:
    """The design of that name for the margins that a table really has.

    The set remembers its design, which follows from the margins of any release that keeps them,
    unless zeros are declared.

    Parameters
    ----------
    parameters
        As of :func:`design`.
    settings
        They decide between partners.
    zeros : bool (cells,)
        Cells known to be empty.

    Raises
    ------
    ParameterError
        As of :func:`design`.
    """
    given, times = _without_repeats(parameters)
    _check(DESIGNS[TRIANGULAR], TRIANGULAR, given)
    settings = settings or TriangularSettings()
    if zeros is not None and not zeros[~kept.domain.structural_cells()].any():
        zeros = None
    empty = b"" if zeros is None else zeros.tobytes()
    return in_place(_of_margins(_ForMargins(kept, settings, empty, progress)), times)


@dataclass(frozen=True)
class _ForMargins:
    """The cache key of a triangular design: all that it depends on; the progress is not part of it."""

    kept: KeptMargins
    settings: TriangularSettings
    zeros: bytes
    progress: Progress = field(compare=False)


@lru_cache(maxsize=2)
def _of_margins(asked: _ForMargins) -> MoveSet:
    zeros = np.frombuffer(asked.zeros, dtype=np.bool_) if asked.zeros else None
    moves = design_for_margins(asked.kept, asked.settings, zeros=zeros, progress=asked.progress).moves
    if zeros is not None:
        return moves
    return replace(moves, design=Designed(TRIANGULAR, asked.settings.stated(), of_margins=True))


def redesigned(kept: KeptMargins, parameters: Mapping[str, object], progress: Progress = SILENT) -> MoveSet:
    """The design that :func:`triangular` made with these parameters, as its set remembers them.

    Raises
    ------
    InputError, ParameterError
        If a parameter is unknown or out of its range.
    """
    repeats = {name: value for name, value in parameters.items() if name == REPEATS}
    rest = {name: value for name, value in parameters.items() if name != REPEATS}
    return triangular(kept, repeats, decoded(rest, TriangularSettings), progress=progress)


def _without_repeats(parameters: Mapping[str, object] | None) -> tuple[dict[str, object], int]:
    given = dict(parameters or {})
    times = given.pop(REPEATS, 1)
    if type(times) is int and 1 <= times <= MOST_REPEATS:
        return given, times
    raise ParameterError(
        {REPEATS: message("must be between 1 and {MOST_REPEATS}, is {times}", MOST_REPEATS, repr(times))}
    )


def _check(template: Design, kind: str, given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if type(value) is not template.parameters.get(name):
            raise ParameterError(
                {name: message("{value} is nothing that {kind} takes", repr(value), repr(kind))}
            )


def in_place(moves: MoveSet, times: int) -> MoveSet:
    """Repeat every cycle so many times, one time right after the other."""
    if times == 1:
        return moves
    if len(moves.cells) * times > MAX_CYCLE_CELLS:
        raise ParameterError({REPEATS: message("so many cycles are too many")})
    out = moves.take(np.repeat(np.arange(len(moves)), times))
    if moves.design is None:
        return out
    parameters = {**moves.design.parameters, REPEATS: times}
    return replace(out, design=replace(moves.design, parameters=parameters))


# A cache of the last few: a run asks for its design at every stage.
@lru_cache(maxsize=4)
def _built(domain: Domain, kind: str, given: tuple[tuple[str, object], ...]) -> MoveSet:
    template = ORDER if kind == ORDER.name else DESIGNS[kind]
    moves = template.build(domain, **dict(given))
    return moves if moves.design else replace(moves, design=Designed(kind, dict(given)))


_NUMBERED = {ORDER.name: "order", "strips": "height"}
"""What the number behind a name says, of those that take one."""


def is_named(kind: str) -> bool:
    """Return True if a text names a template, with a number if one is needed."""
    stem, _, number = kind.rpartition("-")
    return kind in DESIGNS or (stem in _NUMBERED and natural(number) is not None)
