"""Structural zeros: cells in which nobody can be, whatever the data are.

A statement names categories of some variables (``age`` 0-14, ``status`` married or widowed) and holds
for every cell that has one of them in each. That is short where the cells are many, and stays true
when categories are renamed, merged, or counted at a level: what can no longer be said of whole
categories is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

Parts = Sequence[tuple[str, frozenset[str]]]
"""Categories of a variable, and what each of them holds of another one's."""


@dataclass(frozen=True)
class StructuralZeros:
    """The cells with one of these categories in each of these variables.

    Attributes
    ----------
    where
        Variables in the table's order, each with categories in its order.
    """

    where: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def words(self) -> str:
        """``age 0-14 and status married, widowed``."""
        return " and ".join(f"{name} {', '.join(found)}" for name, found in self.where)


def stated(where: Mapping[str, Iterable[str]], categories: Mapping[str, Sequence[str]]) -> StructuralZeros:
    """A statement on a table's variables, in the table's order.

    A variable of which all categories are named is left out.

    Raises
    ------
    InputError
        For an unknown variable or category, no category at all, or every cell of the table.
    """
    unknown = [name for name in where if name not in categories]
    if unknown:
        raise InputError(
            message("the table has no variable {unknown}", repr(unknown[0])),
            hint=message("it has {categories}", ", ".join(categories)),
        )
    found: list[tuple[str, tuple[str, ...]]] = []
    for name, known in categories.items():
        if name not in where:
            continue
        wanted = set(where[name])
        if wanted - set(known) or not wanted:
            raise InputError(
                message(
                    "a structural zero names no category of {name}: {wanted}",
                    repr(name),
                    ", ".join(sorted(wanted))[:60],
                )
            )
        if len(wanted) < len(known):
            found.append((name, tuple(c for c in known if c in wanted)))
    if not found:
        raise InputError(message("every cell would be a structural zero"))
    return StructuralZeros(tuple(found))


def held_by(categories: Sequence[str], old: Sequence[str], parts: Sequence[Sequence[int]] | None) -> Parts:
    """Return what each category holds of old ones: the parts by number, else the same if all are.

    Nothing where that is not known.
    """
    if parts is not None:
        return [(c, frozenset(old[i] for i in part)) for c, part in zip(categories, parts, strict=True)]
    return [(c, frozenset({c})) for c in categories] if tuple(categories) == tuple(old) else []


def restated(
    zeros: Iterable[StructuralZeros], parts: Sequence[tuple[str, str, Parts]]
) -> tuple[StructuralZeros, ...]:
    """Return what statements say of other variables.

    Parameters
    ----------
    parts
        Each other variable, the one that it is made from, and what its categories hold. A category
        of a statement's is one whose every part is; a statement on a variable that is gone, or on
        parts of categories only, is left out.
    """
    return tuple(dict.fromkeys(_restated(zeros, parts)))


def _restated(
    zeros: Iterable[StructuralZeros], parts: Sequence[tuple[str, str, Parts]]
) -> Iterator[StructuralZeros]:
    for zero in zeros:
        found: dict[str, list[str]] = {}
        for name, impossible in zero.where:
            successors = [
                (new, [category for category, held in made if held and held <= set(impossible)])
                for new, source, made in parts
                if source == name
            ]
            new, left = next(((new, left) for new, left in successors if left), ("", []))
            # Two variables may have become one: both hold.
            found[new] = [c for c in left if c in found.get(new, left)]
        if all(found.values()):
            order = [new for new, _, _ in parts]
            yield StructuralZeros(
                tuple((name, tuple(found[name])) for name in sorted(found, key=order.index))
            )


def holds(zeros: Iterable[StructuralZeros], categories: Mapping[str, Sequence[str]], keys: Ints) -> Bools:
    """Return which flat cells (C order of ``categories``) are structural zeros, bool (keys,)."""
    out = np.zeros(len(keys), dtype=np.bool_)
    codes: dict[str, Ints] = {}
    left = keys
    for name in reversed(list(categories)):
        left, codes[name] = np.divmod(left, len(categories[name]))
    for zero in zeros:
        inside = np.ones(len(keys), dtype=np.bool_)
        for name, known in zero.where:
            wanted = np.array([category in known for category in categories[name]])
            inside &= wanted[codes[name]]
        out |= inside
    return out


def of_cells(
    cells: Iterable[Sequence[int]], categories: Mapping[str, Sequence[str]]
) -> tuple[StructuralZeros, ...]:
    """Few statements that say the same as a list of cells (category numbers)."""
    boxes: set[tuple[frozenset[int], ...]] = {tuple(frozenset({int(i)}) for i in cell) for cell in cells}
    for axis in range(len(categories)):
        joined: dict[tuple[frozenset[int], ...], frozenset[int]] = {}
        for box in boxes:
            others = (*box[:axis], *box[axis + 1 :])
            joined[others] = joined.get(others, frozenset()) | box[axis]
        boxes = {(*others[:axis], own, *others[axis:]) for others, own in joined.items()}
    return tuple(
        stated(
            {name: [known[i] for i in own]
             for (name, known), own in zip(categories.items(), box, strict=True)},
            categories,
        )
        for box in sorted(boxes, key=lambda box: [sorted(own) for own in box])
    )  # fmt: skip


def as_json(zeros: Iterable[StructuralZeros]) -> list[dict[str, list[str]]]:
    """``[{"age": ["0-14"], "status": ["married", "widowed"]}]``."""
    return [{name: list(known) for name, known in zero.where} for zero in zeros]
