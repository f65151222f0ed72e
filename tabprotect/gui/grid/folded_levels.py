"""A table whose variables are trees: groups with their totals above what they hold, folded or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Arrays, Bools
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.gui.grid.layout import Layout
from tabprotect.languages.messages import message

FOLDED, OPEN = "\u25b8", "\u25be"
"""Before the name of a group: what it holds is out of sight, or below it."""

_STEP = "\u2003"
"""How far each level stands to the right of that above it."""

Group = tuple[str, str]
"""A level and one of its groups."""


@dataclass(frozen=True)
class Node:
    """A line of a variable's tree.

    Attributes
    ----------
    label
    codes
        The categories that it adds up.
    group
        What it is if it is a group; ``None`` for a category.
    top
        Whether nothing stands above it.
    """

    label: str
    codes: tuple[int, ...]
    group: Group | None = None
    top: bool = True


Unfolded = Mapping[str, frozenset[Group]]
"""Which groups of each variable are open."""


def every_group(variable: Variable) -> frozenset[Group]:
    """All groups of a variable's tree: unfold these, and everything is in sight."""
    return frozenset((level.name, g) for level in variable.levels[:-1] for g in level.groups)


@dataclass(frozen=True, eq=False)
class Folding:
    """The state of a table shown while some of its variables are trees.

    Attributes
    ----------
    domain
        The table's.
    trees
        The variables that are shown as trees.
    unfolded
        Their open groups.
    """

    domain: Domain
    trees: tuple[str, ...]
    unfolded: Unfolded

    @cached_property
    def nodes(self) -> tuple[tuple[Node, ...], ...]:
        """The lines of each variable."""
        return tuple(
            tuple(_nodes(v, v.levels[:-1], range(len(v.categories)), self._open(v.name), 0))
            if v.name in self.trees
            else tuple(Node(category, (n,)) for n, category in enumerate(v.categories))
            for v in self.domain.variables
        )

    def _open(self, name: str) -> frozenset[Group]:
        return self.unfolded.get(name, frozenset())

    @cached_property
    def shown(self) -> Domain:
        """The lines as categories, so that what lays out a table lays out these."""
        return Domain(
            tuple(
                Variable(v.name, tuple(node.label for node in nodes))
                for v, nodes in zip(self.domain.variables, self.nodes, strict=True)
            )
        )

    def sums(self, array: Arrays) -> Arrays:
        """An array of the table's shape, added up over what each line holds (bool: any of it)."""
        found = array
        add = np.logical_or if array.dtype == np.bool_ else np.add
        for axis, nodes in enumerate(self.nodes):
            if self.domain.names[axis] in self.trees:
                parts = [add.reduce(found.take(n.codes, axis=axis), axis=axis) for n in nodes]
                found = np.stack(parts, axis=axis)
        return found

    def inner(self, index: Index) -> Index | None:
        """The table's cell that is shown there; ``None`` for a sum."""
        nodes = [nodes[i] for nodes, i in zip(self.nodes, index, strict=True)]
        return None if any(n.group for n in nodes) else tuple(n.codes[0] for n in nodes)

    def place(self, index: Index) -> Index | None:
        """Return where a cell of the table is shown; ``None`` while it is folded away."""
        found = []
        for nodes, code in zip(self.nodes, index, strict=True):
            at = [n for n, node in enumerate(nodes) if not node.group and node.codes == (code,)]
            if not at:
                return None
            found.append(at[0])
        return tuple(found)

    def nearest(self, index: Index) -> Index:
        """Return where a cell of the table is shown, or the closed group that holds it."""
        return tuple(
            max(n for n, node in enumerate(nodes) if code in node.codes)
            for nodes, code in zip(self.nodes, index, strict=True)
        )

    def opened_for(self, index: Index) -> Folding:
        """With the groups open that a cell lies in."""
        found = dict(self.unfolded)
        for variable, code in zip(self.domain.variables, index, strict=True):
            if variable.name in self.trees:
                own = {(level.name, level.groups[code]) for level in variable.levels[:-1]}
                found[variable.name] = self._open(variable.name) | own
        return Folding(self.domain, self.trees, found)

    def toggled(self, name: str, line: int) -> Folding:
        """With a group of a variable open that was closed, or closed that was open."""
        if (group := self.nodes[self.domain.axis(name)][line].group) is None:
            return self
        return Folding(self.domain, self.trees, {**self.unfolded, name: self._open(name) ^ {group}})

    def whole(self, names: Sequence[str]) -> Bools:
        """Return which of the lines, some variables nested, add up to the whole table, bool (lines,)."""
        found = np.ones(1, dtype=np.bool_)
        for name in names:
            top = np.array([node.top for node in self.nodes[self.domain.axis(name)]])
            found = np.logical_and.outer(found, top).reshape(-1)
        return found

    def _is_sum(self, names: Sequence[str]) -> Bools:
        found = np.zeros(1, dtype=np.bool_)
        for name in names:
            sums = np.array([bool(node.group) for node in self.nodes[self.domain.axis(name)]])
            found = np.logical_or.outer(found, sums).reshape(-1)
        return found

    def sum_cells(self, layout: Layout) -> npt.NDArray[np.uint8]:
        """1 for every shown cell of a layout that is a sum over a group."""
        rows, columns = map(self._is_sum, (layout.placement.rows, layout.placement.columns))
        return layout.shown(np.logical_or.outer(rows, columns).astype(np.uint8))


def _nodes(
    variable: Variable, levels: Sequence[Level], codes: Sequence[int], unfolded: frozenset[Group], depth: int
) -> list[Node]:
    indent = _STEP * depth
    if not levels:
        # Where it is a tree a category stands under the name of its group, past the sign.
        return [Node(f"{indent}{variable.categories[code]}", (code,), top=depth == 0) for code in codes]
    level, rest = levels[0], levels[1:]
    out: list[Node] = []
    for name in dict.fromkeys(level.groups[code] for code in codes):
        inside = tuple(code for code in codes if level.groups[code] == name)
        group = (level.name, name)
        sign = OPEN if group in unfolded else FOLDED
        out.append(Node(message("{indent}{sign} {name}", indent, sign, name), inside, group, depth == 0))
        if group in unfolded:
            out += _nodes(variable, rest, inside, unfolded, depth + 1)
    return out
