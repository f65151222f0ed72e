"""Commands on levels: group categories, remove a level, nest variables, count at a level.

They only change how the same records are named or added up, so record keys and weights stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.grouping_files import code_list_levels, codes_counted_as
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.project.command import Arguments, Context, Declared
from tabprotect.engine.project.magnitude_ways import chosen
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import of_parts, regrouped
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.bands import banded, cut_at
from tabprotect.engine.tables.groupings.digits import check_digits, first_characters
from tabprotect.engine.tables.groupings.nesting import Nesting
from tabprotect.engine.tables.groupings.unlisted_codes import LEFT_OUT
from tabprotect.engine.tables.structural import stated
from tabprotect.engine.tables.table import Table, check_structural
from tabprotect.engine.tables.variable import AT, Level, Variable
from tabprotect.languages.messages import message


def _group_label(project: Project, given: Arguments) -> str:
    if given.get("width") is not None:
        return message("group {given} in bands of {given2}", given["variable"], given["width"])
    if given.get("cuts"):
        cuts = given["cuts"]
        assert isinstance(cuts, Sequence)
        return message("cut {given} at {str}", given["variable"], ", ".join(map(str, cuts)))
    if digits := given.get("digits"):
        assert isinstance(digits, Mapping)
        return message(
            "group {given} by first digits: {numbers}",
            given["variable"],
            ", ".join(map(str, digits.values())),
        )
    files = given.get("files")
    if isinstance(files, Mapping):
        return message(
            "group {given} by {join}", given["variable"], ", ".join(Path(f).name for f in files.values())
        )
    return message("group {given} as {get}", given["variable"], given.get("level"))


@dataclass(frozen=True, kw_only=True)
class CategoryGroups(Options):
    """One way to group the categories of a variable.

    Attributes
    ----------
    level
        The name of the level; by default ``band5``, ``cut``, or the names in the code list. A level
        of that name is replaced.
    groups
        The categories of each group; categories in no group stand alone.
    digits
        What each level is called -> by how many first characters of the codes it goes. Shorter codes, and
        what is no code, stand alone. Of squares of a grid: the side of the larger ones in metres.
    files
        ``{"code list": FILE}``, as for ``--code-list``: all levels of the code list.
    least
        Merge squares of a grid until each has so many people by the public counts in the code list.
    mapping
        Of categories that the code list lacks: the code that each is counted as, itself for a category
        of its own, or nothing where its records are left out.
    """

    variable: str = option_field()
    level: str = option_field("")
    width: int | None = option_field(None)
    cuts: Sequence[int] | None = option_field(None)
    groups: Mapping[str, Sequence[str]] | None = option_field(None)
    digits: Mapping[str, int] | None = option_field(None)
    files: Mapping[str, str] | None = option_field(None)
    least: int | None = option_field(None, needs="files")
    mapping: Mapping[str, str] | None = option_field(None)

    @property
    def code_list(self) -> Path | None:
        """The file of the code list."""
        return Path(next(iter(self.files.values()))) if self.files else None


@Declared(_group_label, reads_too="files").asking(CategoryGroups)
def group_categories(project: Project, context: Context, asked: CategoryGroups) -> Project:
    """Give a variable levels: by width, by cut points, by first digits, by a code list, or group by group.

    Raises
    ------
    InputError
        For categories that do not fit, and unless exactly one way of grouping is given.
    """
    labels, variable, path = {}, asked.variable, asked.code_list
    project.original.domain.axis(variable)
    if path is not None:
        # A code list may have labels for its codes.
        known = project.original.domain[variable]
        project = counted_so(
            project, variable, codes_counted_as(path, known, asked.mapping or {}, asked.least)
        )
        labels = code_list_levels(path, project.original.domain[variable], asked.least)[1]
    domain = project.original.domain
    found = levels_of(domain.variables[domain.axis(variable)], asked)
    return _over(project, _labelled(with_levels(domain, variable, *found), variable, labels))


def unsafe_at_level(
    project: Project, variable: str, level: str, given: Mapping[str, object]
) -> tuple[int, int]:
    """Return how many sums are unsafe now, and where a variable were counted at a level that is made so.

    Parameters
    ----------
    given
        The arguments of :func:`group_categories`.
    """
    order = group_categories.order({"variable": variable, **given})
    coarse = take_level.run(order.run(project), Context(), variable=variable, level=level)
    numbers = []
    for one in (project, coarse):
        chosen_here = chosen(one)
        rules = rules_of(chosen_here.rules) if chosen_here.rules else ()
        numbers.append(
            int(sensitive_cells(chosen_here.table, rules, weights=chosen_here.weights).unsafe.sum())
        )
    return numbers[0], numbers[1]


def counted_so(project: Project, variable: str, counted: Mapping[str, str]) -> Project:
    """The project with categories counted as others: merged, renamed, or left out where they are not named.

    Parameters
    ----------
    counted
        Category -> what it is counted as; the first of those that become one gives the place.
    """
    domain = project.original.domain
    old, axis = domain[variable], domain.axis(variable)
    held: dict[str, list[int]] = {}
    for code, category in enumerate(old.categories):
        if category in counted:
            held.setdefault(counted[category], []).append(code)
    if tuple(held) == old.categories:
        return project
    if not held:
        raise InputError(message("no category of {variable} is left", variable))
    parts = list(held.values())
    after = domain.with_variable(old.made_of(tuple(held), parts), parts=parts)

    def change(table: Table) -> Table:
        sums = [table.counts.take(codes, axis=axis).sum(axis=axis) for codes in parts]
        return Table.dense(after, np.stack(sums, axis=axis))

    into = of_parts(len(old.categories), parts)
    return _added(project, after, change, summed=True, origin={variable: (variable, into)})


def levels_of(variable: Variable, asked: CategoryGroups) -> tuple[Level, ...]:
    """The levels that :func:`group_categories` would add."""
    width, level, categories = asked.width, asked.level, variable.categories
    ways = ("width", "cuts", "groups", "digits", "files")
    given = [name for name in ways if getattr(asked, name) not in (None, [], (), {})]
    if len(given) != 1:
        raise InputError(
            message("name one way to group the categories, not {given}", ", ".join(given) or message("none")),
            hint=message("a width, cut points, groups, first digits, or the file of a code list"),
        )
    if asked.digits:
        check_digits(categories, asked.digits)
        made_of = [Level(name, tuple(first_characters(categories, n))) for name, n in asked.digits.items()]
        return tuple(sorted(made_of, key=lambda one: len(set(one.groups))))
    if asked.code_list is not None:
        return code_list_levels(asked.code_list, variable, asked.least)[0]
    if width is not None:
        made, name = banded(categories, width), f"band{width}"
    elif asked.cuts:
        made, name = cut_at(categories, asked.cuts), "cut"
    else:
        made, name = _as_said(variable, asked.groups or {}), "groups"
    number = 2
    while not level and name == variable.finest:
        # The categories themselves are a level that was made so.
        name, number = f"{name.rstrip('0123456789')}{number}", number + 1
    return (Level(level or name, tuple(made)),)


def _as_said(variable: Variable, groups: Mapping[str, Sequence[str]]) -> list[str]:
    said: dict[str, str] = {}
    for group, categories in groups.items():
        for category in categories:
            variable.code(category)
            if said.setdefault(category, group) != group:
                raise InputError(
                    message(
                        "{category} is put into both {said} and {group}",
                        repr(category),
                        repr(said[category]),
                        repr(group),
                    )
                )
    return [said.get(category, category) for category in variable.categories]


def with_levels(domain: Domain, variable: str, *levels: Level) -> Domain:
    """The domain with further levels of a variable, replacing levels of the same names."""
    old = domain.variables[domain.axis(variable)]
    new = {level.name: level for level in levels}
    kept = [new.pop(level.name, level) for level in old.coarser]
    return domain.with_variable(old.grouped(*kept, *new.values(), finest=old.finest))


@Declared(message("count categories of {variable} as others"))
def map_categories(
    project: Project, context: Context, *, variable: str, mapping: Mapping[str, str]
) -> Project:
    """Count categories as others: under another name, together with one that is there, or left out.

    Parameters
    ----------
    mapping
        Category -> what it is counted as; nothing where its records are left out. Categories that are
        not there have no effect.
    """
    known = project.original.domain[variable].categories
    counted = {category: mapping.get(category, category) for category in known}
    return counted_so(project, variable, {c: to for c, to in counted.items() if to != LEFT_OUT})


@Declared(message("label the categories of {variable}"))
def label_categories(
    project: Project, context: Context, *, variable: str, labels: Mapping[str, str]
) -> Project:
    """Set labels for categories that are codes; categories not named keep theirs."""
    return _over(project, _labelled(project.original.domain, variable, labels))


def _labelled(domain: Domain, variable: str, labels: Mapping[str, str]) -> Domain:
    old = domain.variables[domain.axis(variable)]
    for category in labels:
        old.code(category)
    said = [labels.get(c) or old.label(n) for n, c in enumerate(old.categories)]
    return domain.with_variable(old.labelled(said)) if labels else domain


@Declared(message("state structural zeros"))
def state_structural_zeros(
    project: Project, context: Context, *, zeros: Sequence[Mapping[str, Sequence[str]]]
) -> Project:
    """Declare structural zeros: each entry means all cells with these categories of these variables.

    They replace the earlier ones.

    Raises
    ------
    InputError
        For an unknown category, and if one of the cells has a positive count.
    """
    domain = project.original.domain
    found = [stated(zero, domain.categories) for zero in zeros]
    changed = _over(project, domain.with_structural(found))
    check_structural(changed.original)
    return changed


@Declared(message("let go of {variable}@{level}"))
def remove_level(project: Project, context: Context, *, variable: str, level: str) -> Project:
    """Remove a level; the categories stay."""
    domain = project.original.domain
    old = domain.variables[domain.axis(variable)]
    kept = [one for one in old.coarser if one.name != level]
    if len(kept) == len(old.coarser):
        raise InputError(message("{variable} has no level {level}", variable, repr(level)))
    return _over(project, domain.with_variable(old.grouped(*kept, finest=old.finest)))


def _nest_label(project: Project, given: Arguments) -> str:
    variables = given["variables"]
    assert isinstance(variables, Sequence)
    return message("make {variables} the levels of {given}", ", ".join(variables), given["name"])


@Declared(_nest_label)
def nest_variables(project: Project, context: Context, *, variables: Sequence[str], name: str) -> Project:
    """Turn nested variables, the coarsest first, into the levels of one variable."""
    for variable in variables:
        project.original.domain.axis(variable)
    if len(set(variables)) < 2:
        raise InputError(message("nesting takes at least two variables"))
    nesting = Nesting.of(project.original, {name: list(variables)})
    origin = {
        new: (old, np.arange(len(project.domain[old].categories))) for new, old in nesting.finest.items()
    }
    return _added(project, nesting.after, nesting.nested, summed=False, origin=origin)


@Declared(message("count {variable} at the level {level}"))
def take_level(project: Project, context: Context, *, variable: str, level: str) -> Project:
    """Add the counts up to the categories of a level; coarser levels stay above it."""
    before = project.original.domain
    name = f"{variable}{AT}{level}"
    coarse = before[name].renamed(variable)
    margin = [name if n == variable else n for n in before.names]
    after = before.project(margin).with_variable(coarse, instead_of=name)
    groups = next(one.groups for one in before[variable].levels if one.name == level)
    into = np.array([coarse.code(group) for group in groups], dtype=np.int64)
    return _added(
        project,
        after,
        lambda table: table.margin(margin).on(after),
        summed=True,
        origin={variable: (variable, into)},
    )


def _over(project: Project, domain: Domain) -> Project:
    return _added(project, domain, lambda table: table.on(domain), summed=False)


def _added(
    project: Project,
    domain: Domain,
    change: Callable[[Table], Table],
    *,
    summed: bool,
    origin: Mapping[str, tuple[str, Ints]] | None = None,
) -> Project:
    """The project with its table, keys, weights and sums added up over another domain.

    Parameters
    ----------
    origin
        As of :func:`~tabprotect.engine.project.verbs.magnitude_verbs.regrouped`.
    """
    before = project.original.domain
    keys, weights, moves = project.record_keys, project.weights, project.moves
    placed = set(domain.names) == set(before.names)
    if keys is not None:
        keys = change(keys)
        if summed:
            cells, sums = keys.cells
            rest = Table.sparse(domain, cells, sums % project.key_range)
            keys = rest if keys.is_sparse else Table.dense(domain, rest.counts)
    if weights is not None:
        weights = replace(weights, sums=change(weights.sums))
    if moves is not None:
        moves = moves.on(domain) if domain.shape == before.shape else None
    same = domain.shape == before.shape and project.plan.fits(domain)
    return replace(
        project.without_result(),
        table=change(project.original),
        magnitudes=regrouped(project, domain, origin),
        record_keys=keys,
        weights=weights,
        edited=True,
        moves=moves,
        cycles_from=project.cycles_from if moves is not None else "",
        roles=project.roles.on(domain),
        placement=project.placement if placed else None,
        plan=project.plan if same else replace(project.plan, margins=()),
    )
