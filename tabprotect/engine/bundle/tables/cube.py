"""The published tables of a release as one cube, totals and groups of levels as categories.

Everything in it is public: a total that was published stands as it was published. One that was not is
the sum of published cells where all of them are shown, and hidden otherwise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.cube import COUNTED, Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import AT, Level, TotalCode, Variable
from tabprotect.languages.messages import message

TOTAL: TotalCode = ("T", "Total")
"""Code and label of totals where the source had none."""

MOST_CELLS = 2**24
"""The most cells of a cube; of more, the tables are written apart."""


def cube_of(release: Release, total_code: str | None = None) -> Cube:
    """All published tables of a release as one cube.

    Totals are listed by ``total_code``; by default as the source had them, else by ``T``; those of
    magnitudes as their table has them.

    Raises
    ------
    InputError
        If a table is over variables that the original does not have, a variable has a category
        named like the total, or the cube is too large.
    """
    if release.magnitudes:
        return magnitude_cube(release.magnitude_table, total_code)
    placed, used, axes = _laid_out(release, total_code)
    shape = tuple(len(axis.codes) for axis in axes)
    _check_size(shape, message("write a file for each table: --apart"))
    counts, shown = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    said = np.zeros(shape, dtype=np.bool_)
    for one in placed:
        at = [np.array([len(axis.codes) - 1]) for axis in axes]
        for axis, level in one.places:
            place = used.index(axis)
            at[place] = axes[place].of_level(level)
        # Names stand in the table's own order; the cube has the original's.
        order = np.argsort([axis for axis, _ in one.places], kind="stable")
        size = tuple(map(len, at))
        values = np.transpose(one.published.table.counts, order).reshape(size)
        open_cells = ~np.transpose(one.published.hidden, order).reshape(size)
        here = np.ix_(*at)
        first = ~said[here]
        counts[here] = np.where(first, values, counts[here])
        shown[here] = np.where(first, open_cells, shown[here])
        said[here] = True
    for number, summed in enumerate(axes):
        _add_up(summed, number, counts, shown, said)
    counts[~shown] = 0
    hidden: Bools | None = None if shown.all() else np.logical_not(shown)
    variables = tuple(axis.variable for axis in axes)
    return Cube(
        Table.dense(Domain(variables), counts),
        hidden,
        {one.variable.name: one.codes[-1] for one in axes},
        {one.variable.name: one.parents for one in axes},
    )


def margins_of(
    release: Release, total_code: str | None = None
) -> Iterator[tuple[tuple[str, ...], list[Ints]]]:
    """The margins that a cube of counts holds: variables or their levels, and where each stands.

    Yields
    ------
    tuple
        The names in the original's order, those that are summed over left out; the cube's places of
        their categories on each of its axes.
    """
    axes = _laid_out(release, total_code)[2]
    for chosen in itertools.product(*(axis.margins() for axis in axes)):
        yield tuple(name for name, _ in chosen if name), [places for _, places in chosen]


def _laid_out(release: Release, total_code: str | None) -> tuple[list[_Placed], list[int], list[_Axis]]:
    """The tables with their places, the variables that they have, and these with totals and groups."""
    domain = release.domain
    placed = [_Placed.of(published, domain) for published in release.tables]
    used = sorted({axis for one in placed for axis, _ in one.places})
    axes = [
        _Axis.of(
            domain.variables[axis],
            [level for one in placed for at, level in one.places if at == axis],
            _total(domain.variables[axis], total_code),
        )
        for axis in used
    ]
    return placed, used, axes


def magnitude_cube(published: PublishedMagnitudes, total_code: str | None = None) -> Cube:
    """A table of magnitudes as a cube; those that are hidden hold 0.

    Parameters
    ----------
    total_code
        The category of totals; by default ``Total``.

    Raises
    ------
    InputError
        For too many cells, or a category named like the total.
    """
    _check_size(published.shape, message("write CSV"))
    places = np.unravel_index(published.key, published.shape)
    counts, hidden = np.zeros(published.shape, dtype=np.int64), np.zeros(published.shape, dtype=np.bool_)
    counts[places], hidden[places] = published.value, published.hidden
    variables, parents = [], {}
    for variable in published.variables:
        codes = variable.written if total_code is None else (*variable.written[:-1], total_code)
        if codes[-1] in codes[:-1]:
            raise _named_as_total(variable.name, codes[-1])
        labels = (*variable.labels, *codes[len(variable.labels) :])
        labelled = bool(variable.labels) and len(set(labels)) == len(labels)
        variables.append(Variable(variable.name, codes, labels=labels if labelled else ()))
        parents[variable.name] = own = dict[str, str]()
        for step in variable.steps:
            for child in np.flatnonzero(step >= 0).tolist():
                own.setdefault(codes[child], codes[int(step[child])])
    return Cube(
        Table.dense(Domain(tuple(variables)), np.where(hidden, 0, counts)),
        hidden if hidden.any() else None,
        {variable.name: variable.categories[-1] for variable in variables},
        parents,
        content=published.measure,
        decimals=published.decimals,
    )


def with_numbers(cube: Cube, published: PublishedMagnitudes) -> Cube:
    """A cube of sums with what is published beside them."""
    shape, beside = cube.table.domain.shape, {}
    for name, column in published.beside.items():
        spread = np.zeros(math.prod(shape), dtype=np.int64)
        spread[published.key] = column * (10**cube.decimals if name == COUNTED else 1)
        beside[name] = spread.reshape(shape)
    return with_figures(cube, beside) if beside else cube


def with_figures(
    cube: Cube, beside: Mapping[str, Ints], hidden: Bools | None = None, *, whole: Sequence[str] = (COUNTED,)
) -> Cube:
    """A cube with further figures of each cell, by a last variable.

    Parameters
    ----------
    beside
        Figures by name, each of the shape of the cube, in its units.
    hidden
        The cells without these figures; by default those without a published number.
    whole
        Those that have no decimals.
    """
    names = cube.table.domain.names
    less = cube.hidden if hidden is None else hidden
    masks = [
        np.zeros(cube.table.domain.shape, dtype=np.bool_) if one is None else one
        for one in (cube.hidden, *[less] * len(beside))
    ]
    away = np.stack(masks, axis=-1)
    counts = np.stack([cube.table.counts, *beside.values()], axis=-1)
    counts[away] = 0
    measure = cube.content if cube.content not in (COUNTED, *beside) else "value"
    figures = next(name for n in itertools.count() if (name := "figure" + "_" * n) not in names)
    domain = Domain((*cube.table.domain.variables, Variable(figures, (measure, *beside))))
    table = Table.dense(domain, counts)
    return replace(
        cube, table=table, hidden=away if away.any() else None, figures=figures, whole=tuple(whole)
    )


def _check_size(shape: Sequence[int], hint: str) -> None:
    if math.prod(shape) > MOST_CELLS:
        raise InputError(message("one cube would have more than {n:,} cells", MOST_CELLS), hint=hint)


def _named_as_total(name: str, total: str) -> InputError:
    return InputError(
        message("{name} has a category {total} of its own", repr(name), repr(total)),
        hint=message("choose another code of totals: --total-code _T"),
    )


def _total(variable: Variable, chosen: str | None) -> TotalCode:
    """Return what the totals over a variable are listed by."""
    code, label = variable.total or TOTAL
    if chosen is None or chosen == code:
        return code, label or TOTAL[1]
    return chosen, TOTAL[1]


@dataclass(frozen=True)
class _Placed:
    """A published table with the axis and the level of each of its variables."""

    published: PublishedTable
    places: tuple[tuple[int, Level | None], ...]

    @classmethod
    def of(cls, published: PublishedTable, domain: Domain) -> _Placed:
        places = []
        for variable in published.table.domain.variables:
            try:
                axis, level = domain.place(variable.name)
            except InputError:
                axis, level = -1, None
            if axis < 0 or variable.categories != _categories(domain.variables[axis], level):
                raise InputError(
                    message("the release groups categories of its own: {name}", repr(variable.name)),
                    hint=message("write a file for each table: --apart"),
                )
            places.append((axis, level))
        return cls(published, tuple(places))


def _categories(variable: Variable, level: Level | None) -> tuple[str, ...]:
    return variable.categories if level is None else tuple(dict.fromkeys(level.groups))


@dataclass(frozen=True)
class _Axis:
    """A variable of the cube: its codes, which of them each level has, and what they are part of."""

    variable: Variable
    finest: Ints
    levels: dict[str, Ints]
    parts: dict[int, list[int]]
    parents: dict[str, str]

    @property
    def codes(self) -> tuple[str, ...]:
        return self.variable.categories

    def margins(self) -> Iterator[tuple[str, Ints]]:
        """What a margin can have of it, by name, and the places of these codes; the total has no name."""
        if len(self.finest):
            yield self.variable.name, self.finest
        for level, places in self.levels.items():
            yield f"{self.variable.name}{AT}{level}", places
        yield "", np.array([len(self.codes) - 1])

    def of_level(self, level: Level | None) -> Ints:
        return self.finest if level is None else self.levels[level.name]

    @classmethod
    def of(cls, variable: Variable, found: Sequence[Level | None], listed: TotalCode) -> _Axis:
        total, called = listed
        inner = None in found
        levels = list({level.name: level for level in found if level is not None}.values())
        levels.sort(key=lambda level: len(set(level.groups)))
        codes: list[str] = []
        labels: list[str] = []
        places: dict[str, list[int]] = {}
        parents: dict[str, str] = {}
        parts: dict[int, list[int]] = {}
        named = set(variable.categories) if inner else set()
        of_level: dict[str, dict[str, int]] = {}
        for level in levels:
            of_level[level.name] = {}
            for group in dict.fromkeys(level.groups):
                code = group if group not in named else f"{level.name}:{group}"
                named.add(code)
                of_level[level.name][group] = len(codes)
                places.setdefault(level.name, []).append(len(codes))
                codes.append(code)
                labels.append(group)
        start = len(codes)
        if inner:
            codes += variable.categories
            labels += [variable.label(number) for number in range(len(variable.categories))]
        if total in codes:
            raise _named_as_total(variable.name, total)
        _parents(levels, of_level, codes, start if inner else None, parents, parts)
        tops = [code for code in codes if code not in parents]
        parents |= dict.fromkeys(tops, total)
        whole = range(start, len(codes)) if inner else places[levels[-1].name]
        parts[len(codes)] = list(whole)
        label = called if called not in labels else f"{called} ({total})"
        made = Variable(variable.name, (*codes, total), labels=_labels_each_once(codes, labels, total, label))
        return cls(
            made,
            np.arange(start, len(codes)),
            {name: np.array(codes_of) for name, codes_of in places.items()},
            parts,
            parents,
        )


def _parents(
    levels: Sequence[Level],
    of_level: dict[str, dict[str, int]],
    codes: Sequence[str],
    start: int | None,
    parents: dict[str, str],
    parts: dict[int, list[int]],
) -> None:
    """Note of each code the nearest group that it is part of, and of each group its parts."""
    for number, level in enumerate(levels):
        finer = next((other for other in levels[number + 1 :] if other.refines(level)), None)
        if finer is None and start is None:
            continue
        own = of_level[level.name]
        for category, group in enumerate(level.groups):
            child = own[group]
            below = start + category if finer is None and start is not None else None
            if finer is not None:
                below = of_level[finer.name][finer.groups[category]]
            if below is not None and below not in parts.setdefault(child, []):
                parts[child].append(below)
                parents[codes[below]] = codes[child]


def _labels_each_once(codes: Sequence[str], labels: Sequence[str], total: str, label: str) -> tuple[str, ...]:
    """The labels, each once; one that several codes have gets the code behind it."""
    texts = [*labels, label]
    twice = {text for text in texts if texts.count(text) > 1}
    every = zip((*codes, total), texts, strict=True)
    return tuple(f"{text} ({code})" if text in twice else text for code, text in every)


def _add_up(axis: _Axis, number: int, counts: Ints, shown: Bools, said: Bools) -> None:
    """Fill the totals of one variable that no table published, where all their parts are shown."""
    value, open_cells, known = (np.moveaxis(array, number, 0) for array in (counts, shown, said))
    # Groups before the total, the finest of them first.
    for code in sorted(axis.parts, key=lambda code: (code == len(axis.codes) - 1, -code)):
        parts = axis.parts[code]
        here = ~known[code] & open_cells[parts].all(axis=0)
        value[code] = np.where(here, value[parts].sum(axis=0), value[code])
        open_cells[code] |= here
        known[code] |= here
