"""Named variables with their categories: the axes of every table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import starmap

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.decoding import decoded
from tabprotect.engine.tables import structural
from tabprotect.engine.tables.structural import StructuralZeros, held_by, holds, restated, stated
from tabprotect.engine.tables.variable import Level, TotalCode, Variable
from tabprotect.languages.messages import message

DOMAIN_CELLS = 2**62
"""A mixed-radix cell key must fit int64."""

MAX_CATEGORIES = 10_000_000
"""Most categories of all variables together."""

PROJECTIONS = 4096
"""Domains of margins that a domain remembers."""


Index = tuple[int, ...]
"""A cell as one category number per variable."""


@dataclass(frozen=True)
class Domain:
    """An ordered set of variables; the last one varies fastest (C order).

    Attributes
    ----------
    variables
    structural
        The cells in which nobody can be: public knowledge, as the categories are.
    wide
        Whether there may be more cells than a key can number (see ``wide_table``).
    """

    variables: tuple[Variable, ...]
    structural: tuple[StructuralZeros, ...] = ()
    wide: bool = False

    def __post_init__(self) -> None:
        names = self.names
        if len(set(names)) != len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise InputError(
                message("the variable {twice} occurs twice", repr(twice[0])),
                hint=message("rename one of them"),
            )
        if self.size > DOMAIN_CELLS and not self.wide:
            raise InputError(
                message("a table of {str} has more than 2^62 cells", " x ".join(map(str, self.shape))),
                hint=message("leave out a variable or merge categories"),
            )
        for zero in self.structural:
            stated(dict(zero.where), self.categories)

    @classmethod
    def of(cls, categories: dict[str, Sequence[str]]) -> Domain:
        """Make one from ``{"age": ["young", "old"], ...}``."""
        return cls(tuple(Variable(n, tuple(c)) for n, c in categories.items()))

    @classmethod
    def of_shape(cls, shape: Sequence[int], names: Sequence[str] | None = None) -> Domain:
        """Generic names: variables A, B, ..., categories a1, a2, ..."""
        # Before any label is made: a shape may come from a file.
        if sum(shape) > MAX_CATEGORIES:
            raise InputError(
                message("{shape:,} categories are more than {MAX_CATEGORIES:,}", sum(shape), MAX_CATEGORIES)
            )
        if names is None:
            names = [chr(65 + k) if k < 26 else f"V{k + 1}" for k in range(len(shape))]
        return cls(
            tuple(
                Variable(name, tuple(f"{name.lower()}{i + 1}" for i in range(size)))
                for name, size in zip(names, shape, strict=True)
            )
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables' names in order."""
        return tuple(v.name for v in self.variables)

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories by variable."""
        return {v.name: v.categories for v in self.variables}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each variable."""
        return tuple(len(v.categories) for v in self.variables)

    @cached_property
    def size(self) -> int:
        """Number of cells (an exact int)."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """Number of variables."""
        return len(self.variables)

    def axis(self, name: str) -> int:
        """The axis of a variable.

        Raises
        ------
        InputError
            For a variable the table does not have.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise InputError(
                message("the table has no variable {name}", repr(name)),
                hint=message("it has {names}", ", ".join(self.names)),
            ) from None

    def __getitem__(self, name: str) -> Variable:
        """A variable, or one of its levels as a variable (``region@nuts2``)."""
        axis, level = self.place(name)
        return self.variables[axis] if level is None else self.variables[axis].at(level)

    @cached_property
    def _places(self) -> dict[str, tuple[int, int, Level | None]]:
        places: dict[str, tuple[int, int, Level | None]] = {}
        for axis, variable in enumerate(self.variables):
            for number, (name, level) in enumerate(variable.named.items(), 1):
                places[name] = axis, number, level
            if variable.coarser or variable.finest:
                places[variable.finest_name] = axis, 0, None
        # A variable's own name goes first, whatever signs it has.
        return places | {name: (axis, 0, None) for axis, name in enumerate(self.names)}

    def place(self, name: str) -> tuple[int, Level | None]:
        """The axis that a name stands for, and the level of it (none: the categories themselves).

        Raises
        ------
        InputError
            For a variable or a level that the table does not have.
        """
        if name not in self._places:
            known = (*self.names, *(n for v in self.variables for n in v.named))
            raise InputError(
                message("the table has no variable {name}", repr(name)),
                hint=message("it has {known}", ", ".join(known)),
            )
        axis, _, level = self._places[name]
        return axis, level

    def order(self, name: str) -> tuple[int, int]:
        """The sort key of margins' names: the axis, then the categories before the levels."""
        self.place(name)
        return self._places[name][:2]

    @cached_property
    def known_names(self) -> tuple[str, ...]:
        """All that a margin may name: variables, their levels, and the finest levels by name."""
        return tuple(self._places)

    def axis_of(self, name: str) -> int:
        """The axis that a variable, or a level of it, stands on."""
        return self.place(name)[0]

    def tells(self, finer: Iterable[str], name: str) -> bool:
        """Return True if the categories of some names (variables or levels) tell that of another."""
        axis, level = self.place(name)
        for other, known in map(self.place, finer):
            if axis == other and (known is None or (level is not None and known.refines(level))):
                return True
        return False

    def tidy(self, names: Iterable[str]) -> tuple[str, ...]:
        """A margin in this domain's order, each name once, levels beside a finer one left out.

        Raises
        ------
        InputError
            For a name the table does not have.
        """
        kept: list[str] = []
        for name in sorted(dict.fromkeys(names), key=self.order):
            # Of two that tell each other the first stands.
            if not self.tells(kept, name):
                kept = [*(other for other in kept if not self.tells([name], other)), name]
        return tuple(self.names[self.axis_of(n)] if self._places[n][1] == 0 else n for n in kept)

    def project(self, names: Iterable[str]) -> Domain:
        """The domain of a margin; the order is this domain's, whatever order is asked."""
        asked, known = tuple(names), self._projected
        if asked not in known:
            if len(known) >= PROJECTIONS:
                known.clear()
            known[asked] = self.over(tuple(self[name] for name in self.tidy(asked)))
        return known[asked]

    @cached_property
    def _projected(self) -> dict[tuple[str, ...], Domain]:
        """Remember domains of margins: many tables over one domain ask for the same ones."""
        return {}

    def over(self, variables: Sequence[Variable]) -> Domain:
        """Make a domain of some variables, with the structural zeros that are told by them.

        They are this domain's, levels of them as variables (``region@nuts2``), or others, of which
        nothing is known.
        """
        if not self.structural:
            return Domain(tuple(variables))
        return Domain(tuple(variables), restated(self.structural, self._parts(variables)))

    def _parts(
        self, variables: Sequence[Variable]
    ) -> list[tuple[str, str, list[tuple[str, frozenset[str]]]]]:
        parts = []
        for variable in variables:
            axis, level = self.place(variable.name) if variable.name in self._places else (-1, None)
            if axis < 0:
                continue
            own = self.variables[axis]
            groups = own.categories if level is None else level.groups
            if variable.categories != tuple(dict.fromkeys(groups)):
                continue
            held: dict[str, set[str]] = {}
            for category, group in zip(own.categories, groups, strict=True):
                held.setdefault(group, set()).add(category)
            made = [(c, frozenset(held[c])) for c in variable.categories]
            parts.append((variable.name, own.name, made))
        return parts

    def structural_cells(self, keys: Ints | None = None) -> Bools:
        """The flat cells that are structural zeros, bool (keys,); of all cells where none are given."""
        if not self.structural:
            return np.zeros(self.size if keys is None else len(keys), dtype=np.bool_)
        if keys is None:
            keys = np.arange(self.size, dtype=np.int64)
        return holds(self.structural, self.categories, keys)

    def with_structural(self, zeros: Iterable[StructuralZeros]) -> Domain:
        """The domain with these structural zeros and no others."""
        known = self.categories
        return replace(self, structural=tuple(dict.fromkeys(stated(dict(z.where), known) for z in zeros)))

    @property
    def has_levels(self) -> bool:
        """Return True if any variable has groups of categories."""
        return any(v.coarser or v.finest for v in self.variables)

    def with_variable(
        self, variable: Variable, *, instead_of: str = "", parts: Sequence[Sequence[int]] | None = None
    ) -> Domain:
        """The domain with another variable of the same name, or in the place of another one.

        Parameters
        ----------
        parts
            What its categories hold of the old one's, by number; not needed where they are the same.
            Structural zeros of which that is not known are left out.
        """
        axis = self.axis(instead_of or variable.name)
        old = self.variables[axis]
        variables = (*self.variables[:axis], variable, *self.variables[axis + 1 :])
        if not self.structural:
            return Domain(variables)
        held = held_by(variable.categories, old.categories, parts)
        made = [
            (new.name, was.name, held if new is variable else [(c, frozenset({c})) for c in new.categories])
            for new, was in zip(variables, self.variables, strict=True)
        ]
        return Domain(variables, restated(self.structural, made))

    def labels(self, index: Sequence[int]) -> tuple[str, ...]:
        """The categories of a cell."""
        return tuple(v.categories[i] for v, i in zip(self.variables, index, strict=True))

    def index(self, labels: Sequence[str]) -> Index:
        """The cell of categories."""
        return tuple(v.code(c) for v, c in zip(self.variables, labels, strict=True))

    def flat(self, index: Sequence[int]) -> int:
        """Mixed-radix key of a cell."""
        key = 0
        for i, size in zip(index, self.shape, strict=True):
            if not 0 <= i < size:
                raise InputError(message("the table has no cell {index}", tuple(index)))
            key = key * size + i
        return key

    def unflat(self, key: int) -> Index:
        """The cell of a mixed-radix key."""
        index = []
        for size in reversed(self.shape):
            key, i = divmod(int(key), size)
            index.append(i)
        return tuple(reversed(index))

    def project_keys(self, keys: Ints, names: Iterable[str]) -> Ints:
        """Keys of the margin's cells that the cells ``keys`` are added into."""
        margin = self.tidy(names)
        out = np.zeros(len(keys), dtype=np.int64)
        strides = [math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim)]
        for name in margin:
            axis, level = self.place(name)
            code = (keys // strides[axis]) % self.shape[axis]
            if level is None:
                out *= self.shape[axis]
                out += code
            else:
                codes = level.codes
                out *= int(codes.max()) + 1
                out += codes[code]
        return out

    def cell_text(self, index: Sequence[int]) -> str:
        """A cell for people: ``(v1, w2)``."""
        return f"({', '.join(self.labels(index))})"


DOMAIN_KEYS = ("levels", "structural_zeros")
"""Keys that :func:`domain_json` may write."""


def domain_json(domain: Domain, *, labels: bool = True) -> dict[str, object]:
    """``{"levels": {"region": {"finest": "nuts3", "coarser": {"nuts2": [...]}, "labels": [...]}}}``.

    The groups of each level and the labels stand in the order of the categories; ``total`` is the code
    and the label of totals in the source; structural zeros stand beside them. What a table does not have is left out.

    Parameters
    ----------
    labels
        Whether labels are written; some formats have a place of their own for them.
    """
    levels = {
        v.name: {
            **({"finest": v.finest} if v.finest else {}),
            "coarser": {level.name: list(level.groups) for level in v.coarser},
            **({"labels": list(v.labels)} if v.labels and labels else {}),
            **({"total": list(v.total)} if v.total else {}),
        }
        for v in domain.variables
        if v.coarser or v.finest or (v.labels and labels) or v.total
    }
    out: dict[str, object] = {"levels": levels} if levels else {}
    if domain.structural:
        out["structural_zeros"] = structural.as_json(domain.structural)
    return out


@dataclass(frozen=True)
class _DescribedVariable:
    coarser: Mapping[str, tuple[str, ...]]
    finest: str = ""
    labels: tuple[str, ...] = ()
    total: TotalCode | None = None


@dataclass(frozen=True)
class _Described:
    """What :func:`domain_json` writes."""

    levels: Mapping[str, _DescribedVariable] = field(default_factory=dict)
    structural_zeros: tuple[Mapping[str, tuple[str, ...]], ...] = ()


def domain_from_json(data: Mapping[str, object], domain: Domain) -> Domain:
    """The domain with what :func:`domain_json` wrote; other keys are somebody else's.

    Raises
    ------
    InputError
        For anything else, or levels of other categories.
    """
    said = decoded(data, _Described, among_others=True)
    for name, given in said.levels.items():
        if name not in domain.names:
            raise InputError(message('"levels" of {name} are none of a variable', repr(name[:60])))
        variable = domain[name].grouped(*starmap(Level, given.coarser.items()), finest=given.finest)
        if given.total and not given.total[0]:
            raise InputError(message("the total of {name} is no code and label", repr(name)))
        variable = replace(
            variable, labels=given.labels or variable.labels, total=given.total or variable.total
        )
        domain = domain.with_variable(variable)
    known = domain.categories
    return replace(domain, structural=tuple(dict.fromkeys(stated(z, known) for z in said.structural_zeros)))


def adopted(domain: Domain, known: Domain) -> Domain:
    """A published domain with the levels and structural zeros that it has where they are known.

    A variable (or a level as a variable, ``region@nuts2``) takes them if its categories are the
    same; everything else stays as it is.
    """

    def found(variable: Variable) -> Variable:
        if variable.name not in known.known_names:
            return variable
        same = known[variable.name]
        return same if same.categories == variable.categories else variable

    return known.over(tuple(map(found, domain.variables)))
