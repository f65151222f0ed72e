"""Hierarchies of tau-ARGUS: trees of codes in a file (.hrc), or by the digits of the codes.

They leave out the total. tau-ARGUS has no groups of one: their part takes their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Codes
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.grouping_files import depth_names, read_hierarchy
from tabprotect.engine.formats.tau.rda_metadata import TauVariable
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.said import joined, say

LEAD = "@"

Trails = Mapping[str, tuple[str, ...]]
"""Code -> the codes above it, from the coarsest, and itself."""


def trails(variable: TauVariable, codes: Sequence[str], folder: Path) -> Trails:
    """The tree of a variable as stated in its description; empty if it has none.

    Raises
    ------
    InputError
        For a file that does not exist, or is no hierarchy.
    """
    named = variable.options.get("HIERCODELIST", ())
    if named:
        # Only the file name is used: the description is not to be trusted.
        path = folder / Path(named[0].replace("\\", "/")).name
        lead = next(iter(variable.options.get("HIERLEADSTRING", ())), LEAD)
        return read_hierarchy(path, lead)
    widths = [int(word) for word in variable.options.get("HIERLEVELS", ()) if word.isdecimal()]
    ends = [end for end, width in zip(accumulate(widths), widths, strict=True) if width]
    if len(ends) < 2:
        return {}
    return {
        code: (*(code[:end] for end in ends if end < len(code)), code) for code in codes if code
    }


def subtotals(codes: Sequence[str], tree: Trails, total: str | None) -> dict[int, Codes | None]:
    """Numbers of codes that sum others -> the numbers of the lowest-level codes that they cover."""
    above = {code for own in tree.values() for code in own[:-1]}
    bottom: dict[str, list[int]] = {}
    for number, code in enumerate(codes):
        if code not in above and code != total:
            for parent in tree.get(code, ())[:-1]:
                bottom.setdefault(parent, []).append(number)
    return {
        number: np.array(bottom[code], dtype=np.int32)
        for number, code in enumerate(codes)
        if code in bottom
    }


def levels_of(name: str, codes: Sequence[str], tree: Trails) -> dict[str, list[str]]:
    """The levels above the codes, by name: ``region_1`` is the coarsest."""
    lines = [tree.get(code, (code,)) for code in codes]
    found = {
        called: [line[min(level, len(line) - 1)] for line in lines]
        for level, called in enumerate(depth_names(name, max(map(len, lines), default=1) - 1))
    }
    return {name: groups for name, groups in found.items() if len(set(groups)) < len(groups)}


def hierarchy_text(variable: Variable, total: str) -> str:
    """The tree of a variable as a file (.hrc); empty if it has no levels.

    Raises
    ------
    InputError
        For a group named like another code.
    """
    lines = list(_lines(variable, range(len(variable.categories)), 0, 0))
    codes = [line.lstrip(LEAD) for line in lines]
    twice = next((c for c in codes if codes.count(c) > 1 or c == total), None)
    if twice is not None or any(c.startswith(LEAD) or not c.strip() for c in variable.categories):
        raise InputError(
            say(
                "tau-ARGUS cannot tell two codes {twice} of {name} apart",
                repr(twice),
                repr(variable.name),
            )
            if twice
            else say("a code of {name} begins with {LEAD}", repr(variable.name), LEAD),
            hint=say("name every group otherwise than its parts, or write CSV"),
        )
    return joined(lines, "\n") + "\n" if len(lines) > len(variable.categories) else ""


def label_text(variable: Variable) -> str:
    """The labels of a variable's categories as a file (.cdl); empty if it has none.

    Raises
    ------
    InputError
        For labels that could not be read back.
    """
    lines = []
    for code, label in zip(variable.categories, variable.labels, strict=False):
        if not label.isprintable() or '"' in label or label != label.strip():
            raise InputError(
                say("tau-ARGUS has no place for the label of {code}", repr(code[:40])),
                hint=say("labels have no quotation mark"),
            )
        # The first comma separates code and label.
        lines.append((f'"{code}"' if "," in code else code) + f",{label}\n")
    return "".join(lines)


def _lines(variable: Variable, members: Sequence[int], level: int, depth: int) -> Iterator[str]:
    if level == len(variable.levels) - 1:
        yield from (LEAD * depth + variable.categories[member] for member in members)
        return
    groups: dict[str, list[int]] = {}
    for member in members:
        groups.setdefault(variable.levels[level].groups[member], []).append(member)
    for group, parts in groups.items():
        if len(parts) == 1:
            yield LEAD * depth + variable.categories[parts[0]]
        elif len(groups) == 1:
            yield from _lines(variable, parts, level + 1, depth)
        else:
            yield LEAD * depth + group
            yield from _lines(variable, parts, level + 1, depth + 1)
