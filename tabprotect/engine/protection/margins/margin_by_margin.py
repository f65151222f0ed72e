"""Margins protected one by one: each as a problem of its own, and their likelihoods together."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import cast

import numpy as np

from tabprotect.engine.equal_rows import by_number, spread
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.method import MAY_NAME_FILES, Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

INNER = "protected_by"
"""Disclosed by the run: the public parameters of the further method, margin by margin."""

THEN: Parameter[str | None] = Parameter(
    "then",
    message("Then"),
    message(
        "A further method for each margin, with its parameters: random_rounding base=3. "
        "Without one the margins are published exactly."
    ),
    "setting",
    "",
)


def words(text: str) -> list[str]:
    """Split ``NAME KEY=VALUE ...`` into its parts; quotation marks protect blanks.

    Raises
    ------
    InputError
        When a quotation mark is not closed.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(message("cannot be read: {error}", error)) from None


Following = tuple[Method, Mapping[str, object]]
"""The method that protects the margins, and its parameters for every margin."""


def further_method(text: str) -> Following | None:
    """The further method that a text names; ``None`` for an empty one.

    Raises
    ------
    InputError
        When it cannot be read, or the method cannot protect a margin by itself.
    """
    parts = words(text)
    if not parts:
        return None
    registry = registered().methods()
    if parts[0] not in registry:
        raise InputError(
            message("{parts} is no method; there are {registry}", repr(parts[0]), ", ".join(registry))
        )
    method = cast(Method, registry[parts[0]])
    known = {p.name: p for p in method.parameters}
    settable = may_be_set(method)
    if settable is None:
        raise InputError(message("{name} cannot follow: there is no posterior for it", method.name))
    given: dict[str, object] = {}
    for word in parts[1:]:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise InputError(
                message("{word} is not NAME=VALUE with one of {known}", repr(word), ", ".join(known))
            )
        if name not in settable:
            raise InputError(message("{name} cannot be set for a margin", repr(name)))
        given[name] = value
    return method, given


def following(text: str | None, name: str) -> Following | None:
    """The further method after the one of a name, which cannot follow itself; ``None`` for an empty text.

    Raises
    ------
    InputError
        As of :func:`further_method`.
    """
    found = further_method(text or "")
    if found is not None and found[0].name == name:
        raise InputError(message("{name} cannot follow itself", name))
    return found


def may_be_set(method: Method) -> tuple[str, ...] | None:
    """The parameters of a method that follows; ``None`` where it cannot follow.

    They are published with the margin: no file's name, nothing confidential.
    """
    if any(p.kind == "cycles" for p in method.parameters):
        return None
    return tuple(
        p.name
        for p in method.parameters
        if p.public and p.kind not in MAY_NAME_FILES and p.name != MARGINS.name
    )


def values_for(inner: Following, domain: Domain) -> Values:
    """The method's parameters for one margin: where it publishes sub-tables, the margin alone.

    Raises
    ------
    InputError, ParameterError
        When they do not fit the margin.
    """
    method, given = inner
    alone = {}
    if any(p.name == MARGINS.name for p in method.parameters):
        alone[MARGINS.name] = ":".join(map(in_formula, domain.names)) + " - 1" if domain.ndim else "1"
    return method.resolve(domain, {**given, **alone})


def protected(
    further: Following, problems: list[Problem], generator: np.random.Generator, progress: Progress
) -> tuple[list[Draft], list[dict[str, object]]]:
    """The draft of each margin by the further method, and the parameters that each states."""
    method = further[0]
    drafts: list[Draft] = []
    stated: list[dict[str, object]] = []
    for one in problems:
        method.require(one)
        chosen = values_for(further, one.table.domain)
        release, draft = method.perform(one, chosen, generator, progress)
        if [p.table.domain for p in release.tables] != [one.table.domain]:
            raise ParameterError(
                {"then": message("{name} publishes other tables than the margin itself", method.name)}
            )
        drafts.append(draft)
        stated.append(dict(release.mechanism.parameters))
    return drafts, stated


def registered() -> ModuleType:
    """The registry of methods, imported late: filling it imports the methods that call this."""
    return import_module("tabprotect.engine.protection.registered")


def part(problem: Problem, margin: tuple[str, ...]) -> Problem:
    """One margin as a problem of its own; its record keys and weights add up, too."""
    table = problem.table.margin(margin)
    keys, weights = problem.record_keys, problem.weights
    if keys is not None:
        summed = keys.margin(margin)
        keys = Table.dense(table.domain, summed.counts % problem.key_range)
    if weights is not None:
        weights = weights.margin(margin)
    return Problem(
        Table.dense(table.domain, table.counts),
        problem.at_risk,
        problem.title,
        record_keys=keys,
        key_range=problem.key_range,
        weights=weights,
    )


def product_over_margins(
    publication: Publication,
    tables: tuple[PublishedTable, ...],
    parts: Sequence[CellFactors],
    *,
    note: str = "",
    left_out: tuple[Omission, ...] = (),
) -> CellFactors:
    """The product of the margins' likelihoods, each part over the cells of one margin.

    A cell of a margin is a sum of inner cells, so a sum of a margin's cells is a sum of inner cells.
    """
    starts, cells = [np.zeros(1, dtype=np.int64)], []
    kind, number, logs = [], 0, 0
    log_starts = [np.zeros(1, dtype=np.int64)]
    for m, part in enumerate(parts):
        order, ends = by_number(publication.keys(m), part.domain.size)
        lengths = (ends[1:] - ends[:-1])[part.cells]
        # Every inner cell of every entry: from its margin cell's begin onwards.
        cells.append(order[spread(ends[part.cells], lengths)])
        reached = np.concatenate([[0], np.cumsum(lengths)])[part.starts[1:]]
        starts.append(starts[-1][-1] + reached)
        kind.append(part.kind + number)
        log_starts.append(logs + part.log_starts[1:])
        number += len(part.low)
        logs += len(part.logs)
    return CellFactors(
        domain=publication.domain,
        tables=tables,
        starts=np.concatenate(starts),
        cells=np.concatenate(cells),
        kind=np.concatenate(kind),
        low=np.concatenate([part.low for part in parts]),
        high=np.concatenate([part.high for part in parts]),
        log_starts=np.concatenate(log_starts),
        logs=np.concatenate([part.logs for part in parts]),
        rerun=_rerun(publication, parts),
        note=joined(filter(None, dict.fromkeys([note, *(part.note for part in parts)])), " "),
        approximate=any(part.approximate for part in parts),
        left_out=kinds(left_out, *(part.left_out for part in parts)),
    )


def _rerun(publication: Publication, parts: Sequence[CellFactors]) -> Rerun | None:
    """The product of the margins' reruns, where any has one."""
    asked = [
        (names, part.rerun, part.rerun.cost_over(part.domain.size))
        for names, part in zip(publication.margins, parts, strict=True)
        if part.rerun is not None
    ]
    if not asked:
        return None

    def estimate(original: Table, generator: np.random.Generator) -> float:
        chance = 1.0
        for names, rerun, _ in asked:
            chance *= rerun.estimate(original.margin(names), generator)
            if chance == 0.0:
                break
        return chance

    return Rerun(
        estimate,
        exact=all(rerun.exact for _, rerun, _ in asked),
        cost=sum(cost for _, _, cost in asked),
        programmes=any(rerun.programmes for _, rerun, _ in asked),
    )
