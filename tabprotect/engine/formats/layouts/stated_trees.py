"""Trees of codes that a file states: which codes are parts of others, and which one is the total of all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from tabprotect.engine.arrays import Codes
from tabprotect.engine.formats.grouping_files import depth_names

Trails = Mapping[str, tuple[str, ...]]
"""Code -> the codes above it, from the coarsest, and itself; the total of all left out."""


@dataclass(frozen=True)
class StatedTree:
    """What a file states of the codes of one variable."""

    trails: Trails = field(default_factory=lambda: MappingProxyType({}))
    total: str | None = None

    @classmethod
    def of_parents(
        cls, codes: Collection[str], parents: Mapping[str, str], total: str | None = None
    ) -> StatedTree:
        """The tree of codes with the parent of each; a single code above all others is the total."""
        trails: dict[str, tuple[str, ...]] = {}
        for code in codes:
            line = [code]
            # What goes round in a circle is no tree.
            while (above := parents.get(line[0])) is not None and above in codes and above not in line:
                line.insert(0, above)
            trails[code] = tuple(line)
        tops = {line[0] for line in trails.values()}
        if total is None and len(tops) == 1 and len(codes) > 1:
            (total,) = tops
        short = {
            code: line[1:] if line[0] == total and len(line) > 1 else line for code, line in trails.items()
        }
        return cls(short, total)

    def called(self, names: Mapping[str, str]) -> StatedTree:
        """The tree with other names of its codes."""
        trails = {
            names.get(c, c): tuple(names.get(one, one) for one in line) for c, line in self.trails.items()
        }
        return StatedTree(trails, None if self.total is None else names.get(self.total, self.total))

    def totals(self, codes: Sequence[str]) -> dict[int, Codes | None]:
        """Numbers of codes that sum others -> the numbers of the lowest-level codes that they cover.

        The codes of the total of all cover ``None``.
        """
        above = {code for line in self.trails.values() for code in line[:-1]}
        bottom: dict[str, list[int]] = {}
        for number, code in enumerate(codes):
            if code not in above and code != self.total:
                for parent in self.trails.get(code, ())[:-1]:
                    bottom.setdefault(parent, []).append(number)
        found: dict[int, Codes | None] = {
            number: np.array(bottom[code], dtype=np.int32)
            for number, code in enumerate(codes)
            if code in bottom
        }
        if self.total in codes and len(codes) > 1:
            found[codes.index(self.total)] = None
        return found

    def levels(self, name: str, codes: Sequence[str]) -> dict[str, list[str]]:
        """The levels above the codes, by name: ``region_1`` is the coarsest."""
        lines = [self.trails.get(code, (code,)) for code in codes]
        found = {
            called: [line[min(level, len(line) - 1)] for line in lines]
            for level, called in enumerate(depth_names(name, max(map(len, lines), default=1) - 1))
        }
        return {name: groups for name, groups in found.items() if len(set(groups)) < len(groups)}
