"""``[mapping]`` of a recipe: what categories that it was not made for are counted as.

``[mapping.region]`` with ``"1199" = "1101"``: a name of the recipe or of its code list, the category
itself where it is one of its own, or an empty text where its records are left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.paths import read_text
from tabprotect.languages.messages import joined, message

Renames = Mapping[tuple[str, str], str]
"""(variable, category found) -> what it is counted as."""


def part_of(path: Path, name: str) -> object:
    """A table of a recipe; empty if it has none."""
    try:
        return tomllib.loads(read_text(path)).get(name, {})
    except tomllib.TOMLDecodeError:
        # Running the recipe reports where.
        return {}


def mapped_categories(path: Path) -> dict[tuple[str, str], str]:
    """Return what a recipe says in ``[mapping]`` of categories that it was not made for.

    Raises
    ------
    InputError
        If ``[mapping]`` does not give each variable its categories.
    """
    mapping = part_of(path, "mapping")
    if not isinstance(mapping, dict) or not all(
        isinstance(of, dict) and all(isinstance(to, str) for to in of.values()) for of in mapping.values()
    ):
        raise InputError(
            message("[mapping] must say of each variable what its categories are counted as"),
            file=path,
            hint=message('for example [mapping.region] and below it "1199" = "1101"'),
        )
    return {(name, found): to for name, of in mapping.items() for found, to in of.items()}


def remember_mapping(path: Path, mapping: Renames) -> None:
    """Write what was said of categories into a recipe's ``[mapping]``, for the years to come."""
    text, every = read_text(path), {**mapped_categories(path), **mapping}
    lines, skipping = [], False
    for line in text.splitlines():
        if line.startswith("["):
            skipping = line.startswith(("[mapping]", "[mapping."))
        if not skipping:
            lines.append(line)
    at = next((n for n, line in enumerate(lines) if line.startswith("[[step]]")), len(lines))
    lines[at:at] = [mapping_text(every)]
    write_bytes(path, (joined(lines, "\n") + "\n").encode(), private=True)


def mapping_text(mapping: Renames) -> str:
    """``[mapping]`` as a recipe has it."""
    by_variable: dict[str, dict[str, str]] = {}
    for (name, found), to in mapping.items():
        by_variable.setdefault(name, {})[found] = to
    return tomli_w.dumps({"mapping": by_variable})
