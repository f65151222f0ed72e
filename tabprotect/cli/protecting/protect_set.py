"""``protect-set``: several tables of the same records, protected and published as one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.cli.arguments import TableReading, keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.protecting.protect import BESIDE, ProtectingAndPublishing
from tabprotect.cli.protecting.published import ExtraOutput, protect_and_publish
from tabprotect.engine.atomic import written_at
from tabprotect.engine.bounds.joined import check_common
from tabprotect.engine.bundle.set_bundles import ALL, verify_set
from tabprotect.engine.errors import InputError, RecordsError, of_system
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.options import option_field, options_of, part, position
from tabprotect.engine.project.history import History
from tabprotect.engine.project.options import METHOD, OUTPUT, Protecting, Publishing, Tabulation
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.sources import absolute
from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.engine.project.verbs.set_verbs import (
    check_counts,
    check_publishes_margins,
    check_within,
    join_tables,
    stack_tables,
)
from tabprotect.engine.project.workflow import opened, tabulated
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.tables.formula import in_formula, names_in
from tabprotect.engine.tables.publication_set import PublicationSet, with_parts
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import AT
from tabprotect.languages.messages import message, plural

OF_MAGNITUDES = tuple(one.name for one in options_of(Protecting) if one.measure == "magnitudes")
"""What is asked of no table of a set."""


@dataclass(frozen=True, kw_only=True)
class ProtectSet(ProtectingAndPublishing):
    """Arguments of ``protect-set``."""

    source: Sequence[str] = position(
        metavar="SOURCE",
        help=message(
            "records, or a table or project; further files are tables of the same records, whose "
            "common cells must agree. No file need be over all variables"
        ),
    )
    listed: Path | None = option_field(
        None,
        shell="--tables",
        metavar="FILE.toml",
        help=message('the tables of the set: NAME = "FORMULA" for each, in [tables]'),
    )
    by: str | None = option_field(
        None,
        metavar="VARIABLE",
        help=message(
            "publish each table of all and by this variable, too, such as men, women and all; of files that "
            "lack it each is the table of one of its categories"
        ),
    )
    previous: Sequence[Path] = option_field(
        (),
        metavar="FOLDER",
        help=message(
            "a set of the same records by other groups: what both give away by subtraction is listed"
        ),
        repeated=True,
    )
    protecting: Protecting = part(Protecting, group=METHOD, help=BESIDE, but=OF_MAGNITUDES)
    publishing: Publishing = part(Publishing, group=OUTPUT, but=("replicates",))
    counting: Tabulation = part(Tabulation, group=message("counting records"), but=("source", "by", "order"))
    reading: TableReading = part(TableReading)


@command(
    "protect-set",
    example="tabprotect protect-set people.parquet --table a=region*age --table b=region*sex --out set",
)
def run(asked: ProtectSet, console: Console) -> int:
    """Count the records once, protect all tables in one run, write a bundle for each."""
    protecting, publishing = asked.protected, asked.published(asked.publishing)
    formulas = {**_listed(asked.listed), **(publishing.tables or {})}
    dossier = None if publishing.dossier is None else Path(publishing.dossier)
    keep_apart([*asked.source, publishing.sign, publishing.sign_too], [dossier])
    previous = [verify_set(folder, progress=console).tables for folder in asked.previous]
    reading = Reading.of(asked.reading.named)
    history = _opened(asked, reading, formulas, console)
    method = protecting.method or history.project.method
    table = history.project.original
    others = {str(file): opened(file, reading, console).project for file in asked.source[1:]}
    for project in (history.project, *others.values()):
        check_counts(project)
    files = {asked.source[0]: table, **{file: project.original for file, project in others.items()}}
    tables = formulas or _each(files)
    if others and asked.by is not None and asked.by not in table.domain.known_names:
        beside = {Path(file).stem: absolute(file) for file in others}
        order = stack_tables(source=absolute(asked.source[0]), beside=beside, by=asked.by, **reading.given)
        history = History().do(order, progress=console)[0]
        table = history.project.original
        files, tables = {asked.source[0]: table}, formulas
    if all(n in table.domain.known_names for f in list(files.values())[1:] for n in f.domain.names):
        check_common(files)
    else:
        check_publishes_margins(method)
        order = join_tables(
            source=absolute(asked.source[0]),
            beside={file: absolute(file) for file in others},
            **reading.given,
        )
        history = History().do(order, progress=console)[0]
        table = history.project.original
    if asked.by is not None:
        tables = with_parts(tables, table.domain, asked.by)
    chosen = PublicationSet(table.domain, tables)
    check_within(chosen, files)
    history = history.do(set_method(method=method), progress=console)[0]
    parameters = dict(protecting.parameters or {})
    if any(p.name == MARGINS.name for p in history.project.protection.parameters):
        parameters[MARGINS.name] = chosen.formula
    protecting = replace(protecting, method=None, parameters=parameters)
    publishing = replace(publishing, tables=dict(chosen.formulas))

    def written(project: Project) -> ExtraOutput:
        return _written(project, chosen, previous, Path(publishing.release), console)

    protect_and_publish(history, protecting, publishing, console, written)
    return 0


def _listed(path: Path | None) -> dict[str, str]:
    """The tables that a file lists."""
    if path is None:
        return {}
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file).get("tables")
    except OSError as error:
        raise of_system(error, path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            message("not TOML: {error}", error),
            file=path,
            hint=message('below [tables] each line is a table: sexes = "age*sex"'),
        ) from None
    if not isinstance(tables, dict) or not all(isinstance(f, str) for f in tables.values()):
        raise InputError(
            message("no tables are listed"), file=path, hint=message('[tables], then NAME = "FORMULA"')
        )
    return dict(tables)


def _opened(asked: ProtectSet, reading: Reading, formulas: Mapping[str, str], console: Console) -> History:
    """The table over all variables, counted from records where the source holds records."""
    source = asked.source[0]
    counting = replace(asked.counting, source=source)
    if counting == Tabulation(source=source):
        try:
            return opened(source, reading, console)
        except RecordsError:
            pass
    counting = replace(counting, order=reading.order)
    names = [name for formula in formulas.values() for name in names_in(formula)]
    names += [] if asked.by is None else [asked.by]
    by = dict.fromkeys(name.partition(AT)[0] for name in names)
    return tabulated(replace(counting, by=tuple(by)), console)


def _each(files: Mapping[str, Table]) -> dict[str, str]:
    """Several files as the tables of a set, by their names; none for one alone."""
    tables = {Path(file).stem: "*".join(map(in_formula, table.domain.names)) for file, table in files.items()}
    if len(tables) < len(files):
        raise InputError(
            message("two files have one name"), hint=message("name the tables: --table NAME=FORMULA")
        )
    return tables if len(tables) > 1 else {}


def _written(
    project: Project, chosen: PublicationSet, previous: list[PublicationSet], out: Path, console: Console
) -> ExtraOutput:
    """Return what is said of the bundles of a set."""
    rule = project.problem.at_risk
    slivers = chosen.slivers(project.original, (rule.low, rule.high), previous)
    done = verify_set(written_at(out), progress=console)
    tables = {
        name: {
            "bundle": f"{name}.zip" if name in done.releases else f"{ALL}.zip",
            "sub_tables": len(table.margins),
            "cells": table.size,
        }
        for name, table in chosen.tables.items()
    }
    data = {
        "fingerprint": done.fingerprint,
        "tables": tables,
        "common_cells": done.common_cells,
        "slivers": slivers,
    }
    risky = [sliver for sliver in slivers if sliver.at_risk]
    lines = [
        plural(
            len(tables),
            "{out}: {tables} table, {size:,} cells, "
            "{common_cells:,} of them compared between bundles and the same",
            "{out}: {tables} tables, {size:,} cells, "
            "{common_cells:,} of them compared between bundles and the same",
            out,
            len(tables),
            chosen.whole.size,
            done.common_cells,
        ),
        message("Check number of the manifest: {fingerprint}", done.fingerprint),
        plural(
            len(slivers),
            "{slivers:,} difference between groups that do not nest, {risky:,} with small counts",
            "{slivers:,} differences between groups that do not nest, {risky:,} with small counts",
            len(slivers),
            len(risky),
        ),
        *(message("  {sentence}", sliver.sentence) for sliver in slivers[:10]),
    ]
    return data, lines
