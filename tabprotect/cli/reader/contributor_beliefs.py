"""``infer`` of a release of magnitudes: how near a reader's best guess of a contribution comes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import numpy as np

from tabprotect.cli.arguments import Contributor
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.readers.beliefs import ContributorView
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import at_most_in_100, joined, message

OUTSIDER = "outsider"


def beliefs_of_contributions(
    reader: Contributor, seed: int | None, releases: Sequence[Release]
) -> tuple[dict[str, object], list[str]]:
    """The probability that the best guess of a contribution comes that near, for programs and for people."""
    if len(releases) != 1:
        raise UsageError(message("releases of magnitudes are read one by one"))
    if not 0 < reader.within < 100 or not 0 <= reader.rest < 100:
        raise UsageError(message("--within and --rest are percentages below 100"))
    release, table = releases[0], releases[0].magnitude_table
    view = view_of(table, reader.as_contributor or OUTSIDER, reader.rest / 100)
    method = methods("magnitudes")[release.mechanism.method]
    if seed is not None and method.is_random(release.mechanism.values):
        raise UsageError(message("--seed: what is believed of noise is exact, and nothing is drawn"))
    found = list(method.beliefs(release, view, reader.within / 100, seed=seed or 0))
    rows = [
        {"index": table.index(one.cell), "belief": round(one.belief, 6)}
        for one in sorted(found, key=lambda one: one.cell)
    ]
    worst = max((one.belief for one in found), default=0.0)
    data: dict[str, object] = {
        "reader": reader.as_contributor or OUTSIDER,
        "within": reader.within,
        "method": release.mechanism.method,
        "worst": round(worst, 6),
        "cells": rows,
    }
    lines = [
        message(
            "{index}: {belief:.1f} %",
            joined((f"{name}={value}" for name, value in table.index(one.cell).items()), ", "),
            100 * one.belief,
        )
        for one in sorted(found, key=lambda one: -one.belief)[:40]
    ]
    said = message(
        "The best guess of another's value comes within {within:g} % with a probability of at most {worst}.",
        reader.within,
        at_most_in_100(worst),
    )
    head = message("How probable it is that a guess comes within {within:g} %:", reader.within)
    return data, [*([head] if lines else []), *lines, said]


def view_of(table: PublishedMagnitudes, text: str, rest: float) -> ContributorView:
    """Return who reads, as the command line says it: ``480@nace=24,region=North``.

    Raises
    ------
    InputError
        For no number, or a cell that there is not.
    """
    if text == OUTSIDER:
        return ContributorView()
    value, sign, cell = text.partition("@")
    try:
        own = int(Decimal(value) * 10**table.decimals)
    except (InvalidOperation, ValueError):
        own = -1
    if not sign or own <= 0:
        raise InputError(
            message("a contributor is a value and its cell, not {text}", repr(text)),
            hint=message("for example 480@nace=24,region=North, or outsider"),
        )
    index = dict(part.strip().partition("=")[::2] for part in cell.split(","))
    nodes = []
    for variable in table.variables:
        name = variable.name
        given = [entry for entry in index if entry.partition("@")[0] == name]
        nodes.append(variable.node(given[0], index.pop(given[0])) if given else len(variable.nodes) - 1)
    if index:
        raise InputError(
            message("the table has no variable {name}", repr(next(iter(index)))),
            hint=message("it has {names}", ", ".join(v.name for v in table.variables)),
        )
    key = int(np.ravel_multi_index(tuple(nodes), tuple(len(variable.nodes) for variable in table.variables)))
    number = int(np.searchsorted(table.key, key))
    if number == len(table.key) or table.key[number] != key:
        raise InputError(
            message("the cell {index} has no records", cell),
            hint=message("take one of which table.csv in the bundle says something"),
        )
    return ContributorView(own, number, rest)
