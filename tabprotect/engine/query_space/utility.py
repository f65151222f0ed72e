"""What a set of released margins is good for. One file in ``utilities/`` = one utility."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import comb
from typing import ClassVar

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.graphs.chordal import JunctionTree
from tabprotect.engine.tables.table import Table


class ReleaseUtility(ABC):
    """Base of all utilities. The module's docstring is its help page."""

    name: ClassVar[str]
    label: ClassVar[str]

    @property
    def help(self) -> str:
        """The help page (plain text)."""
        return (sys.modules[type(self).__module__].__doc__ or "").strip()

    @abstractmethod
    def value(self, table: Table, released: Frontier, progress: Progress = SILENT) -> float:
        """The utility of a release: larger is better, and never falls when more is released."""

    def weights(self, variables: int) -> tuple[float, ...] | None:
        """The weight of a released sub-table by its dimension 0..K, where the utility is their
        sum: only such a utility can be searched for."""
        return None

    def as_json(self) -> dict[str, object]:
        """The utility for ``describe --json``."""
        return {"name": self.name, "label": self.label, "help": self.help}


def clique_worth(weights: Sequence[float]) -> tuple[float, ...]:
    """What a clique of 0, 1, ..., K variables is worth: the weights of all its subsets."""
    return tuple(
        sum(comb(size, dimension) * weights[dimension] for dimension in range(size + 1))
        for size in range(len(weights))
    )


def worth_of(tree: JunctionTree, worth: Sequence[float]) -> float:
    """The worth of a decomposable release: its cliques' less its separators'."""
    return sum(worth[c.bit_count()] for c in tree.cliques) - sum(
        worth[s.bit_count()] for s in tree.separators
    )


def edge_gain(worth: Sequence[float], common: int) -> float:
    """What an edge whose ends share ``common`` neighbours adds: every subset with both ends."""
    return worth[common + 2] - 2 * worth[common + 1] + worth[common]
