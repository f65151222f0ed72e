"""Commands on categories: add, remove, merge, rename and reorder them; rename variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.project.command import Context, Declared
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import of_parts, regrouped
from tabprotect.engine.project.verbs.table_verbs import edited
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


def _with(
    project: Project, variable: str, categories: Sequence[str], parts: Sequence[Sequence[int]], counts: Ints
) -> Project:
    """The project with other categories of a variable, each the sum of some old ones, and the counts."""
    domain = project.original.domain
    made = domain[variable].made_of(categories, parts)
    changed = domain.with_variable(made, parts=parts)
    into = of_parts(len(domain[variable].categories), parts)
    magnitudes = regrouped(project, changed, {variable: (variable, into)})
    return edited(project, Table.dense(changed, counts), magnitudes)


@Declared(message("add category {category} to {variable}"))
def add_category(
    project: Project, context: Context, *, variable: str, category: str, at: int | None = None
) -> Project:
    """Add a category with zero counts, at the end or before number ``at``."""
    table = project.original
    axis = table.domain.axis(variable)
    names = list(table.domain[variable].categories)
    parts = [[n] for n in range(len(names))]
    place = len(names) if at is None else min(max(at, 0), len(names))
    names.insert(place, category)
    parts.insert(place, [])
    return _with(project, variable, names, parts, np.insert(table.counts, place, 0, axis=axis))


@Declared(message("remove category {category} of {variable}"))
def remove_category(project: Project, context: Context, *, variable: str, category: str) -> Project:
    """Remove a category that nobody is in."""
    table = project.original
    axis, code = table.domain.axis(variable), table.domain[variable].code(category)
    if np.take(table.counts, code, axis=axis).any():
        raise InputError(
            message("{variable} = {category} is not empty", variable, category),
            hint=message("merge it with another category, so that nobody is lost"),
        )
    old = table.domain[variable].categories
    parts = [[n] for n in range(len(old)) if n != code]
    names = [old[n] for (n,) in parts]
    return _with(project, variable, names, parts, np.delete(table.counts, code, axis=axis))


@Declared(message("merge categories of {variable} into {into}"))
def merge_categories(
    project: Project, context: Context, *, variable: str, categories: Sequence[str], into: str
) -> Project:
    """Merge categories under one name, at the place of the first of them."""
    table = project.original
    axis = table.domain.axis(variable)
    codes = sorted(table.domain[variable].code(c) for c in categories)
    if len(set(codes)) < 2:
        raise InputError(message("merging takes at least two categories"))
    first, rest = codes[0], codes[1:]
    counts = np.moveaxis(table.counts.copy(), axis, 0)
    counts[first] = counts[codes].sum(axis=0)
    counts = np.moveaxis(np.delete(counts, rest, axis=0), 0, axis)
    old = table.domain[variable].categories
    kept = [n for n in range(len(old)) if n not in rest]
    names = [into if n == first else old[n] for n in kept]
    return _with(project, variable, names, [codes if n == first else [n] for n in kept], counts)


@Declared(message("rename {variable} = {category} to {to}"))
def rename_category(project: Project, context: Context, *, variable: str, category: str, to: str) -> Project:
    """Rename a category."""
    table = project.original
    code = table.domain[variable].code(category)
    names = list(table.domain[variable].categories)
    names[code] = to
    return _with(project, variable, names, [[n] for n in range(len(names))], table.counts)


@Declared(message("reorder the categories of {variable}"))
def reorder_categories(
    project: Project, context: Context, *, variable: str, categories: Sequence[str]
) -> Project:
    """Reorder all categories of a variable."""
    table = project.original
    old = table.domain[variable]
    if sorted(categories) != sorted(old.categories):
        raise InputError(message("the new order must name each category of {variable} once", repr(variable)))
    codes = [old.code(c) for c in categories]
    counts = np.take(table.counts, codes, axis=table.domain.axis(variable))
    return _with(project, variable, categories, [[n] for n in codes], counts)


@Declared(message("rename {variable} to {to}"))
def rename_variable(project: Project, context: Context, *, variable: str, to: str) -> Project:
    """Rename a variable."""
    table = project.original
    old = table.domain.variables[table.domain.axis(variable)]
    placed = None if project.placement is None else project.placement.renamed(variable, to)
    renamed = table.on(table.domain.with_variable(old.renamed(to), instead_of=variable))
    changed = edited(project, renamed, regrouped(project, renamed.domain))
    return replace(changed, placement=placed, roles=project.roles.renamed(variable, to))
