"""Backward factors of the steps, and the structure that components share.

A *variable* is the effective coefficient of one cycle in one pass, with the three values
-1, 0, +1 (axis positions 0, 1, 2); a cycle repeated in place k times has the 2 k + 1 values
from -k to k. Within a component, variable ``i * passes + p`` is its cycle i in pass p, so that all
passes of a cycle lie side by side.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.cycles.graphs import cycle_components
from tabprotect.engine.equal_rows import by_number, spread
from tabprotect.engine.posterior.moves.signature_model import FAR, Coin, GroupModel
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

Scalar = TypeVar("Scalar", bound=np.generic)

Touches = tuple[tuple[int, ...], tuple[int, ...]]
"""Cycles that touch a group, ascending, and their signs."""


@dataclass(frozen=True, eq=False)
class StepStructure:
    """The structure shared by components with the same pattern of overlaps.

    Attributes
    ----------
    cycles
        Number of cycles in one component.
    lengths : int64 (groups,)
        For each group of a component the number of cycles that touch it.
    codes : int64 (touches,)
        Those (local) cycles, group by group and ascending: twice the number, and 1 more for the sign +.
    members : int64 (groups, batch)
        Group numbers of the model, one column per component.
    cycle_members : int64 (cycles, batch)
        Cycle numbers of the model.
    """

    cycles: int
    lengths: Ints
    codes: Ints
    members: Ints
    cycle_members: Ints

    @cached_property
    def groups(self) -> tuple[Touches, ...]:
        """For each group the cycles touching it, and their signs."""
        parts = np.split(self.codes, np.cumsum(self.lengths)[:-1])
        return tuple(
            (tuple((code >> 1).tolist()), tuple(np.where(code & 1, 1, -1).tolist())) for code in parts
        )


def step_structures(model: GroupModel) -> list[StepStructure]:
    """Components of cycles that share cells, grouped by equal structure.

    O(entries log entries), and one short Python step per component; once per model.
    """
    if model not in _FOUND:
        _FOUND[model] = _structures(model)
    return _FOUND[model]


_FOUND: WeakKeyDictionary[GroupModel, list[StepStructure]] = WeakKeyDictionary()


def _structures(model: GroupModel) -> list[StepStructure]:
    sig, count = model.signatures, len(model.moves)
    label = cycle_components(sig, count)
    # 16-bit integers are sorted without comparisons.
    label = label.astype(np.int16) if label.max(initial=0) < 2**15 else label
    by_label, cycle_bounds = by_number(label, int(label.max(initial=-1)) + 1)
    local = np.empty(count, dtype=np.int64)
    local[by_label] = np.arange(count) - cycle_bounds[label[by_label]]
    owner = label[sig.cycles[sig.starts[:-1]]]
    group_order, group_bounds = by_number(owner, len(cycle_bounds) - 1)
    lengths = np.diff(sig.starts)[group_order]
    code_bounds = np.r_[0, np.cumsum(lengths)]
    take = spread(sig.starts[group_order], lengths)
    codes = local[sig.cycles[take]] * 2 + (sig.signs[take] > 0)
    alike: dict[tuple[bytes, bytes], list[int]] = {}
    spans = list(itertools.pairwise(group_bounds.tolist()))
    for component, (a, b) in enumerate(spans):
        key = (lengths[a:b].tobytes(), codes[code_bounds[a] : code_bounds[b]].tobytes())
        alike.setdefault(key, []).append(component)
    out = []
    for chosen in alike.values():
        a, b = spans[chosen[0]]
        size = int(cycle_bounds[chosen[0] + 1] - cycle_bounds[chosen[0]])
        out.append(
            StepStructure(
                cycles=size,
                lengths=lengths[a:b],
                codes=codes[code_bounds[a] : code_bounds[b]],
                members=group_order[group_bounds[chosen] + np.arange(b - a)[:, None]],
                cycle_members=by_label[cycle_bounds[chosen] + np.arange(size)[:, None]],
            )
        )
    return out


@dataclass(frozen=True)
class Watched:
    """Groups touched by one step that the later steps shift alike.

    ``groups`` are local group numbers, ``later`` the later variables that touch them, ``signs``
    the signs of these.
    """

    groups: tuple[int, ...]
    later: tuple[int, ...]
    signs: tuple[int, ...]


@dataclass(frozen=True)
class BackwardStep:
    """One step: its variable, the cells it adds to and those it subtracts from."""

    variable: int
    plus: tuple[Watched, ...]
    minus: tuple[Watched, ...]


def scopes_of(structure: StepStructure, passes: int) -> list[tuple[int, ...]]:
    """Return for each step, its variable and the later ones that touch its cells, ascending."""
    near: list[set[int]] = [set() for _ in range(structure.cycles)]
    for cycles, _ in structure.groups:
        for i in cycles:
            near[i].update(cycles)
    out: list[tuple[int, ...]] = []
    for i, p in itertools.product(range(structure.cycles), range(passes)):
        later = [j * passes + q for j in near[i] for q in range(p if j > i else p + 1, passes)]
        out.append((i * passes + p, *sorted(later)))
    return out


def backward_steps(structure: StepStructure, passes: int, progress: Progress = SILENT) -> list[BackwardStep]:
    """All steps of one component."""
    touching: list[list[tuple[int, int]]] = [[] for _ in range(structure.cycles)]
    for g, (cycles, signs) in enumerate(structure.groups):
        for i, sign in zip(cycles, signs, strict=True):
            touching[i].append((g, sign))
    out = []
    for i, p in itertools.product(range(structure.cycles), range(passes)):
        if p == 0 and i % 256 == 0:
            progress.report(message("planning the posterior"), i / structure.cycles)
        sides: dict[int, dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]]] = {1: {}, -1: {}}
        for g, sign in touching[i]:
            later = [
                (j * passes + q, s)
                for j, s in zip(*structure.groups[g], strict=True)
                for q in range(p if j > i else p + 1, passes)
            ]
            key = (tuple(v for v, _ in later), tuple(s for _, s in later))
            sides[sign].setdefault(key, []).append(g)
        plus, minus = (
            tuple(Watched(tuple(groups), *key) for key, groups in sides[s].items()) for s in (1, -1)
        )
        out.append(BackwardStep(i * passes + p, plus, minus))
    return out


@lru_cache(maxsize=4096)
def shifts(signs: tuple[int, ...], levels: int = 3) -> npt.NDArray[np.int32]:
    """The sum of sign * coefficient over all assignments, shape (levels,) * len(signs)."""
    total = np.zeros((), dtype=np.int32)
    value = np.arange(levels, dtype=np.int32) - levels // 2
    for sign in signs:
        total = total[..., None] + sign * value
    total.flags.writeable = False
    return total


def laid_out(
    array: npt.NDArray[Scalar], variables: Sequence[int], axes: Sequence[int]
) -> npt.NDArray[Scalar]:
    """Reshape an array (one axis per variable, then the batch) to broadcast over ``axes``.

    Both lists are in the same order; ``axes`` contains the variables.
    """
    own = set(variables)
    sizes = iter(array.shape[:-1])
    return array.reshape([next(sizes) if v in own else 1 for v in axes] + [array.shape[-1]])


def worth_factor(
    step: BackwardStep, axes: Sequence[int], worth: Floats, coin: Coin, levels: int = 3
) -> Floats:
    """:func:`step_factor` for the rule ``reversible``.

    Parameters
    ----------
    worth : float64 (groups, batch, 2 span + 3)
        Log weight of each change of each local group.
    """
    middle, batch = worth.shape[2] // 2, worth.shape[1]

    def masses(undone: int) -> list[Floats]:
        ratios = [np.zeros([1] * len(axes) + [batch]) for _ in range(2)]
        for side, sign in ((step.plus, 1), (step.minus, -1)):
            for watched in side:
                later, after = _after(watched, axes, levels)
                own = worth[list(watched.groups)].sum(axis=0)
                at = middle - after - sign * undone
                # What a path cannot reach has no mass, so any value may be read here.
                at = np.clip(at, 1, worth.shape[2] - 2)
                here = own[:, at]
                for k, way in enumerate((sign, -sign)):
                    change = np.moveaxis(own[:, at + way] - here, 0, -1)
                    ratios[k] = ratios[k] + laid_out(change, later, axes)
        with np.errstate(divide="ignore"):
            return [np.log(mass) for mass in coin.ratio_masses(ratios[0], ratios[1])]

    return _in_place(masses, levels // 2, list(axes).index(step.variable))


def _in_place(masses: Callable[[int], list[Floats]], repeats: int, axis: int) -> Floats:
    """The log factor of a cycle repeated in place, over the sum of its coefficients.

    ``masses`` gives the log masses of -1, 0, +1 after so much has been undone.
    """
    if repeats == 1:
        return np.concatenate(np.broadcast_arrays(*masses(0)), axis=axis)
    sums: dict[int, Floats] = {0: np.zeros(1)}
    for _ in range(repeats):
        further: dict[int, Floats] = {}
        for undone, log in sums.items():
            for value, mass in zip((-1, 0, 1), masses(undone), strict=True):
                path = log + mass
                known = further.get(undone + value)
                further[undone + value] = path if known is None else np.logaddexp(known, path)
        sums = further
    parts = np.broadcast_arrays(*(sums[value] for value in sorted(sums)))
    return np.concatenate(parts, axis=axis)


def _after(watched: Watched, axes: Sequence[int], levels: int) -> tuple[list[int], npt.NDArray[np.int32]]:
    """The later variables of watched groups in the order of the axes, and the shifts they cause."""
    order = sorted(range(len(watched.later)), key=lambda k: axes.index(watched.later[k]))
    later = [watched.later[k] for k in order]
    return later, shifts(tuple(watched.signs[k] for k in order), levels)


def step_factor(
    step: BackwardStep, axes: Sequence[int], lowest: npt.NDArray[np.int32], coin: Coin, levels: int = 3
) -> Floats:
    """The log factor of a step over ``axes`` (its scope, in order of elimination), then batch.

    Parameters
    ----------
    lowest : int32 (groups, batch)
        Smallest published count of each local group.
    """
    batch = lowest.shape[1]
    low: list[npt.NDArray[np.int32]] = []
    for side in (step.plus, step.minus):
        smallest = np.full([1] * len(axes) + [batch], FAR, dtype=np.int32)
        for watched in side:
            later, shift = _after(watched, axes, levels)
            own = lowest[list(watched.groups)].min(axis=0)
            after = laid_out(own - shift[..., None], later, axes)
            smallest = np.minimum(smallest, after)
        low.append(smallest)
    return _in_place(
        lambda undone: coin.log_masses(low[0] - undone, low[1] + undone),
        levels // 2,
        list(axes).index(step.variable),
    )
