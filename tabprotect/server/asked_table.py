"""What is asked for: variables, perhaps at a level, and the categories that are to be shown."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.decoding import Between, decoded, parsed_json
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message
from tabprotect.server.problems import HttpProblem

CONTENTS = "ContentsCode"
"""The variable of the figures of a cell, as PxWeb calls it."""

T = TypeVar("T")
Word = Annotated[str, Between(1)]
Words = Annotated[tuple[Word, ...], Between(1)]
"""Some texts, none of them empty."""


@dataclass(frozen=True)
class AskedTable:
    """A request, understood.

    Attributes
    ----------
    query
        The sub-table that is decided on.
    shown
        Of some of its variables the categories to be shown, once it has been decided.
    called
        What variables are called in the answer, where that is not their name.
    order
        Names of variables that stand first, in this order; the others follow.
    figures
        Figures of each cell, by a last variable; none: the counts alone.
    groups
        Of some of its variables groups of categories by name, whose counts are added up once it has been decided.
    summed
        Variables that records are chosen by, and that are not shown: counts are added up over what is chosen.
    """

    query: Query
    shown: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    groups: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    summed: tuple[str, ...] = ()

    @property
    def layout(self) -> list[object]:
        """Return how the answer is laid out, as JSON; nothing where it is as it is."""
        laid: list[object] = [sorted(self.called.items()), self.order] if self.called or self.order else []
        if self.groups or self.summed:
            laid.append(
                {"groups": [[n, list(g.items())] for n, g in self.groups.items()], "summed": self.summed}
            )
        return [*laid, {"figures": self.figures}] if self.figures else laid

    def part_of(self, table: Table) -> Table:
        """The part of the answered sub-table that is shown, as it is to be called and laid out."""
        if not (self.shown or self.called or self.order or self.groups or self.summed):
            return table
        counts, variables = table.counts, list(table.domain.variables)
        for axis, variable in enumerate(table.domain.variables):
            if variable.name in self.shown:
                kept = self.shown[variable.name]
                counts = counts.take(kept, axis=axis)
                categories = tuple(variable.categories[k] for k in kept)
                labels = tuple(variable.labels[k] for k in kept) if variable.labels else ()
                variables[axis] = Variable(variable.name, categories, labels=labels, total=variable.total)
            elif groups := self.groups.get(variable.name):
                parts = [counts.take(codes, axis=axis).sum(axis=axis) for codes in groups.values()]
                counts = np.stack(parts, axis=axis)
                variables[axis] = Variable(variable.name, tuple(groups))
        for axis in reversed([n for n, v in enumerate(variables) if v.name in self.summed]):
            counts = counts.sum(axis=axis)
            del variables[axis]
        places = [n for name in self.order for n, v in enumerate(variables) if v.name == name]
        places += [n for n in range(len(variables)) if n not in places]
        laid = [v.renamed(self.called.get(v.name, v.name)) for v in map(variables.__getitem__, places)]
        return Table.dense(Domain(tuple(laid)), counts.transpose(places))


def asked_as(
    said: bytes | Mapping[str, object], kind: type[T], *, among_others: bool = False, any_case: bool = False
) -> T:
    """What the body of a request, or its address, asks for (see :func:`decoded`).

    Raises
    ------
    HttpProblem
        ``invalid_query`` for anything else.
    """
    try:
        plain = parsed_json(said) if isinstance(said, bytes) else said
        return decoded(plain, kind, among_others=among_others, any_case=any_case)
    except InputError as error:
        raise HttpProblem("invalid_query", error.message) from None


def names_listed(text: str) -> list[str]:
    """``A,B`` as names; one with a comma stands in double quotes."""
    try:
        return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        raise HttpProblem("invalid_query", message("the list of names cannot be read")) from None


def asked_table(
    domain: Domain, lattice: Lattice, names: Iterable[str], filters: Sequence[str] = ()
) -> AskedTable:
    """Understand a request.

    Parameters
    ----------
    names
        ``A``, or ``B@level``.
    filters
        ``A=a1,a2``: of the asked variable A only these categories are to be shown; of a variable that is
        not asked, only records with these are to be counted. ``A:north=a1,a2``: a group of categories. All
        of it is taken from the whole sub-table once that has been decided: no filter gets round a rule.

    Raises
    ------
    Problem
        ``invalid_query``.
    """
    try:
        names = list(names)
        if not lattice.query(names):
            raise HttpProblem("invalid_query", message("name at least one variable"))
        return _filtered(domain, lattice, names, filters)
    except InputError as error:
        hint = message(" ({hint})", error.hint) if error.hint else ""
        raise HttpProblem("invalid_query", f"{error.message}{hint}") from None


def _filtered(domain: Domain, lattice: Lattice, names: Sequence[str], filters: Sequence[str]) -> AskedTable:
    inside = set(lattice.names_of(lattice.query(names)))
    shown: dict[str, tuple[int, ...]] = {}
    groups: dict[str, dict[str, tuple[int, ...]]] = {}
    summed: list[str] = []
    for text in filters:
        said, equals, values = text.partition("=")
        name, group = said.strip(), ""
        if not equals or not values.strip():
            raise InputError(message("the filter {text} is not of the form A=a1,a2", repr(text)))
        if ":" in name and name not in domain.known_names:
            name, group = (part.strip() for part in name.rsplit(":", 1))
        if name not in inside:
            if group:
                raise InputError(message("the groups of {name} are not of an asked variable", repr(name)))
            if name not in lattice.names:
                lattice.query([name])
                raise InputError(
                    message("records are chosen by variables themselves, not by {name}", repr(name))
                )
            summed.append(name)
            inside.add(name)
        variable = domain.project([name])[name]
        chosen = tuple(sorted({variable.code(value) for value in names_listed(values)}))
        if name in shown or (name in groups) > bool(group) or group in groups.get(name, {}):
            raise InputError(message("there are two filters on {name}", repr(name)))
        if group:
            groups.setdefault(name, {})[group] = chosen
        else:
            shown[name] = chosen
    for name, of in groups.items():
        codes = [code for chosen in of.values() for code in chosen]
        if len(set(codes)) < len(codes):
            raise InputError(message("two groups of {name} hold the same category", repr(name)))
    query = lattice.query([*names, *summed])
    if set(lattice.names_of(query)) != inside:
        raise InputError(message("records are not chosen by what an asked variable is a level of"))
    return AskedTable(query, shown, groups=groups, summed=tuple(summed))
