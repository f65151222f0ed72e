"""``examples`` and ``describe``: what there is, and what a table holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabprotect.cli.arguments import STREAM, TableReading, open_source
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.options import Options, part, position
from tabprotect.engine.paths import is_there
from tabprotect.engine.project.examples import PREFIX, examples
from tabprotect.engine.project.plugin_pages import plugin_json, plugin_page, plugins_named, registries
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate
from tabprotect.version import __version__


@dataclass(frozen=True, kw_only=True)
class Describe(Options):
    """Arguments of ``describe``."""

    table: str | None = position(
        None,
        metavar="NAME|TABLE",
        help=message(
            "the page of a method, measure, criterion, rule, utility or format; or what a table holds, its "
            "totals beside it: CONFIDENTIAL"
        ),
    )
    reading: TableReading = part(TableReading)


@command("examples", example="tabprotect examples")
def run_examples(console: Console) -> None:
    """Print every example with its source."""
    found = examples()
    lines = []
    for example in found:
        lines += [
            (
                message("example:{name}  (records)", example.name)
                if example.microdata
                else message("example:{name}  (table)", example.name)
            ),
            message("    {title}. {source}", message(example.title), example.source),
        ]
    console.result({"examples": found}, lines)


@command("describe", example="tabprotect describe cell_key")
def run_describe(asked: Describe, console: Console) -> int:
    """Print the registries, as they are found in this very program."""
    if asked.table is not None and _is_source(asked.table):
        return _describe_table(asked.table, asked.reading, console)
    if given := asked.reading.stated():
        raise UsageError(message("{words} goes with a table", ", ".join(one.word for one in given)))
    if asked.table is not None:
        first, *others = plugins_named(asked.table)
        pages = [line for one in (first, *others) for line in (*translate(plugin_page(one)).splitlines(), "")]
        also = {"also": [plugin_json(one) for one in others]} if others else {}
        console.result(plugin_json(first) | also, pages[:-1])
    else:
        console.result(_described(), _lines())
    return 0


def _is_source(text: str) -> bool:
    """Return True for what can only be a table: an example, a file or its path, standard input."""
    if any(text in registry for registry in registries().values()):
        return False
    return text == STREAM or text.startswith(PREFIX) or is_there(text) or "." in text


def _describe_table(source: str, reading: TableReading, console: Console) -> int:
    project = open_source(source, reading, console).project
    domain, kept, sums = project.domain, project.kept_totals, project.magnitudes
    data: dict[str, object] = {
        "variables": [
            {"name": v.name, "categories": v.categories, "labels": v.labels} for v in domain.variables
        ],
        "shape": domain.shape,
        "kept_totals": kept,
        "notes": [translate(note) for note in project.notes],
        "confidential": True,
    }
    shape = joined((f"{len(v.categories)} {v.name}" for v in domain.variables), " x ")
    if sums is None:
        data |= {"cells": domain.size, "total": project.original.total}
        said = message(
            "{shape}: {cells:,} cells, sum {total:,}. CONFIDENTIAL: true counts.",
            shape,
            domain.size,
            project.original.total,
        )
    else:
        table, cells = sums.table, sums.table.cells
        of = {
            "measure": table.measure,
            "cells": len(cells),
            "total": table.shown(int(cells.value[table.number({})])),
            "records": project.original.total,
            "holdings": len(table.names),
        }
        data |= of
        said = message(
            "{shape}: {measure} of {holdings:,} holdings in {records:,} records, {cells:,} cells with totals, "
            "sum {total:,}. CONFIDENTIAL: true sums.",
            shape=shape,
            **of,
        )
    lines = [
        said,
        *project.notes,
        *(
            message(
                "  {where}: {published:,} beside a sum of {inner:,} ({difference:+,})",
                joined((f"{n} = {c}" for n, c in total.where.items()), ", ") or message("all"),
                total.published,
                total.inner,
                total.difference,
            )
            for total in kept
        ),
    ]
    console.result(data, lines)
    return 0


def _described() -> dict[str, object]:
    """Everything registered, for programs."""
    return {
        "version": __version__,
        **{
            kind: [plugin_json(plugin) for plugin in registry.values()]
            for kind, registry in registries().items()
        },
        "cycle_designs": [
            {"name": d.name, "label": d.label, "sentence": d.sentence, "avoid": d.avoid}
            for d in DESIGNS.values()
        ],
        "at_risk": str(SmallCount()),
        "priors": [
            "uniform",
            "positive",
            "positive:CELLS",
            "poisson:FILE",
            "negative_binomial:FILE",
            "table:FILE",
        ],
        "exit_codes": {
            "0": "done",
            "2": "usage",
            "3": message("bad input"),
            "4": message("bad parameters"),
            "5": message("infeasible or refused"),
            "6": message("bundle fails verification"),
            "130": "interrupted",
        },
    }


def _lines() -> Iterator[str]:
    """Methods, designs, measures and formats, for people."""
    for method in registries()["methods"].values():
        yield from translate(plugin_page(method)).splitlines()
        yield ""
    yield message("# Cycle designs")
    yield ""
    for design in DESIGNS.values():
        yield f"- `{design.name}`: {design.sentence}"
    yield ""
    yield message("Measures of a comparison:")
    for measure in measures().values():
        yield message(
            "  {name} ({noun}, {direction}): {label}",
            measure.name,
            measure.noun,
            measure.direction,
            measure.label,
        )
    yield ""
    yield message("File formats (resources/docs/formats.md):")
    for kind in formats().values():
        named = kind.name, kind.label, joined(kind.suffixes, " ")
        yield (
            message("  {name} ({label}, read and written): {suffixes}", *named)
            if kind.writes
            else message("  {name} ({label}, read): {suffixes}", *named)
        )
