"""Layers of cycles as draws walk through them backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints, Shorts
from tabprotect.engine.cycles.layers import Layer


@dataclass(frozen=True, eq=False)
class WalkLayer:
    """Disjoint cycles of a pass, and the components they belong to.

    Cycles are sorted by component; those of ``components[k]`` begin at ``component_starts[k]``.
    """

    cycles: Ints
    starts: Ints
    groups: Ints
    signs: Shorts
    rows: Ints
    components: Ints
    component_starts: Ints


def by_component(layer: Layer, component: Ints) -> WalkLayer:
    """The layer with its cycles sorted by component."""
    cycles, ends, groups, signs = merged([layer], component)
    owner = component[cycles]
    first = np.flatnonzero(np.r_[True, np.diff(owner) != 0])
    rows = np.repeat(np.arange(len(cycles)), np.diff(ends))
    return WalkLayer(cycles, ends[:-1], groups, signs, rows, owner[first], first)


def merged(given: Sequence[Layer], component: Ints) -> tuple[Ints, Ints, Ints, Shorts]:
    """All layers, the last one first, as one: numbers and starts of the cycles, groups and signs.

    One after the other their cycles are the same walk; with the random numbers in the same order, the
    same draws. The last start is the number of entries.
    """
    cycles = np.concatenate([one.cycles for one in given])
    layer = np.repeat(np.arange(len(given)), [len(one.cycles) for one in given])
    order = np.lexsort((component[cycles], -layer))
    lengths = np.concatenate([np.diff(one.starts, append=len(one.cells)) for one in given])
    before = np.cumsum(lengths) - lengths
    spans = lengths[order]
    starts = np.cumsum(spans) - spans
    take = np.repeat(before[order] - starts, spans) + np.arange(spans.sum())
    groups = np.concatenate([one.cells for one in given])[take]
    signs = np.concatenate([one.signs for one in given])[take].astype(np.int16)
    return cycles[order], np.append(starts, len(groups)), groups, signs
