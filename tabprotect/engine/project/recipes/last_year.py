"""Differences from last year: new, missing or renamed categories, and counts that jumped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.project.recipes.recipe_mapping import part_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message, plural

JUMP = 5.0
"""The least change that is a jump, in standard deviations of the difference of two Poisson counts."""

MOST_JUMPS = 50
"""The most jumps that are listed, the largest first."""


@dataclass(frozen=True)
class OtherCategories:
    """The differences between the categories of one variable and the expected ones.

    Attributes
    ----------
    new, missing
        In the order of the table, and of the expected categories.
    alike
        New category -> a missing one that may be the same under another name.
    """

    variable: str
    new: tuple[str, ...]
    missing: tuple[str, ...]
    alike: Mapping[str, str]


@dataclass(frozen=True)
class Jump:
    """A cell whose count changed by more than chance explains. CONFIDENTIAL."""

    cell: tuple[str, ...]
    before: int
    after: int

    @property
    def deviations(self) -> float:
        """The change in standard deviations of the difference of two Poisson counts."""
        return (self.after - self.before) / math.sqrt(max(self.after + self.before, 1))


@dataclass(frozen=True)
class SinceLastYear(Encodable):
    """The differences between two years' tables. CONFIDENTIAL.

    Attributes
    ----------
    categories
        The differing categories by variable.
    total
        The totals before and after.
    appeared, vanished
        The numbers of cells present in both years that were empty and are not, and vice versa.
    jumps
        The largest jumps, at most :data:`MOST_JUMPS`; ``jumped`` counts all.
    """

    categories: tuple[OtherCategories, ...]
    total: tuple[int, int]
    appeared: int
    vanished: int
    jumps: tuple[Jump, ...]
    jumped: int
    json_keys = "categories total appeared vanished jumped jumps"

    def lines(self) -> list[str]:
        """The differences as lines for people."""
        out = category_lines(self.categories)
        out.append(message("total {total:,} -> {total2:,}", self.total[0], self.total[1]))
        out.append(
            plural(
                self.appeared,
                "{appeared:,} empty cell is filled; emptied: {vanished:,} (at the finest level)",
                "{appeared:,} empty cells are filled; emptied: {vanished:,} (at the finest level)",
                self.appeared,
                self.vanished,
            )
        )
        if self.jumped:
            out.append(
                plural(
                    self.jumped,
                    "{jumped:,} count jumped by more than {JUMP:g} standard deviations:",
                    "{jumped:,} counts jumped by more than {JUMP:g} standard deviations:",
                    self.jumped,
                    JUMP,
                )
            )
        for jump in self.jumps:
            out.append(f"  ({', '.join(jump.cell)}): {jump.before:,} -> {jump.after:,}")
        return out


def category_lines(categories: tuple[OtherCategories, ...]) -> list[str]:
    """Lines for new, missing and possibly renamed categories, one for each."""
    out = []
    for c in categories:
        for name in c.new:
            like = (
                message(" (perhaps {alike} by another name)", repr(c.alike[name])) if name in c.alike else ""
            )
            out.append(message("{variable}: {name} is new{like}", c.variable, repr(name), like))
        out += [message("{variable}: {name} is missing", c.variable, repr(name)) for name in c.missing]
    return out


def expected_categories(path: Path) -> dict[str, tuple[str, ...]]:
    """The categories that a recipe is made for; none if it does not say.

    Raises
    ------
    InputError
        If ``[expects]`` is no table of lists.
    """
    expects = part_of(path, "expects")
    if not isinstance(expects, dict) or not all(
        isinstance(v, list) and v and all(isinstance(c, str) for c in v) for v in expects.values()
    ):
        raise InputError(message("[expects] must give each variable a list of categories"), file=path)
    return {name: tuple(categories) for name, categories in expects.items()}


def other_categories(domain: Domain, expects: Mapping[str, tuple[str, ...]]) -> tuple[OtherCategories, ...]:
    """The differences between a table's categories and the expected ones.

    Raises
    ------
    InputError
        For another set of variables: that is not next year's table.
    """
    if expects and set(expects) != set(domain.names):
        raise InputError(
            message(
                "the variables are {names}, the recipe is made for {expects}",
                ", ".join(domain.names),
                ", ".join(expects),
            ),
            hint=message("choose another file; or rename its columns"),
        )
    out = []
    for name, known in expects.items():
        found = domain[name].categories
        new = tuple(c for c in found if c not in known)
        missing = tuple(c for c in known if c not in found)
        if not new and not missing:
            continue
        alike = {c: close[0] for c in new if (close := get_close_matches(c, missing, n=1))}
        out.append(OtherCategories(name, new, missing, alike))
    return tuple(out)


class UndecidedError(InputError):
    """Categories differ from those a recipe expects, and nobody has decided on them."""

    def __init__(
        self, categories: tuple[OtherCategories, ...], message: str, *, hint: str = "", detail: str = ""
    ) -> None:
        super().__init__(message, hint=hint, detail=detail)
        self.categories = categories


def undecided(categories: tuple[OtherCategories, ...]) -> UndecidedError:
    """The error for categories that nobody has decided on."""
    first = categories[0]
    name = next(iter(first.alike), first.new[0] if first.new else "")
    like = first.alike.get(name, first.missing[0] if first.missing else "")
    rename = (
        message(' (for example --rename "{variable}:{name}={like}")', first.variable, name, like)
        if name and like
        else ""
    )
    added = sum(len(c.new) for c in categories)
    gone = sum(len(c.missing) for c in categories)
    return UndecidedError(
        categories,
        plural(
            added,
            "{added} category is new, {gone}",
            "{added} categories are new, {gone}",
            added,
            plural(gone, "{n} is missing", "{n} are missing", gone),
        ),
        hint=message("decide: --rename VARIABLE:FOUND=EXPECTED{rename}, or --categories accept", rename),
        detail=joined(category_lines(categories), "\n"),
    )


def since_last_year(before: Table, after: Table) -> SinceLastYear:
    """Compare two years' tables on the categories they share.

    Raises
    ------
    InputError
        If the variables differ.
    """
    expects = {v.name: v.categories for v in before.domain.variables}
    categories = other_categories(after.domain, expects)
    total = (before.total, after.total)
    if max(before.domain.size, after.domain.size) > DENSE_LIMIT:
        return SinceLastYear(categories, total, 0, 0, (), 0)
    common = [
        [c for c in v.categories if c in set(after.domain[v.name].categories)]
        for v in before.domain.variables
    ]
    old = before.counts[
        np.ix_(
            *([v.code(c) for c in known] for v, known in zip(before.domain.variables, common, strict=True))
        )
    ]
    order = [after.domain.axis(name) for name in before.domain.names]
    moved = after.counts.transpose(order)
    new = moved[
        np.ix_(
            *(
                [after.domain[v.name].code(c) for c in known]
                for v, known in zip(before.domain.variables, common, strict=True)
            )
        )
    ]
    far = np.abs(new - old) / np.sqrt(np.maximum(new + old, 1))
    places = np.argwhere(far > JUMP)
    places = places[np.argsort(-far[tuple(places.T)], kind="stable")]
    jumps = tuple(
        Jump(
            tuple(known[i] for known, i in zip(common, place, strict=True)),
            int(old[tuple(place)]),
            int(new[tuple(place)]),
        )
        for place in places[:MOST_JUMPS].tolist()
    )
    appeared, vanished = int(((old == 0) & (new > 0)).sum()), int(((old > 0) & (new == 0)).sum())
    return SinceLastYear(categories, total, appeared, vanished, jumps, len(places))
