"""``protect-set``: several tables of the same records, protected and published as one."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tabprotect.cli.arguments import add_reading, keep_apart, once, setting
from tabprotect.cli.data.tabulate import add_counting, counted
from tabprotect.cli.output import Console
from tabprotect.cli.protecting.protect import (
    add_protecting,
    method_settings,
    protected_as_asked,
    signing_keys,
)
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.bounds.joined import check_common
from tabprotect.engine.bundle.set_bundles import ALL, verify_set
from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.reading_options import Reading, options
from tabprotect.engine.project.history import History
from tabprotect.engine.project.in_one_go import absolute, opened
from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.engine.project.verbs.set_verbs import (
    check_publishes_margins,
    check_within,
    join_tables,
    publish_set,
)
from tabprotect.engine.tables.formula import in_formula, names_in
from tabprotect.engine.tables.publication_set import PublicationSet
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import AT


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("protect-set", run)
    command.add_argument(
        "source",
        nargs="+",
        metavar="SOURCE",
        help="records, or a table or project; further files are tables of the same records, whose "
        "common cells must agree. No file need be over all variables",
    )
    command.add_argument(
        "--table",
        type=setting,
        action="append",
        default=[],
        dest="tables",
        metavar="NAME=FORMULA",
        help="a table of the set, as geo@nuts2*age*sex; once for each. Of several files each is one "
        "by default",
    )
    command.add_argument(
        "--tables",
        type=Path,
        dest="listed",
        metavar="FILE.toml",
        help='the tables of the set: NAME = "FORMULA" for each, in [tables]',
    )
    command.add_argument(
        "--previous",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="a set of the same records by other groups: what both give away by subtraction is "
        "listed",
    )
    add_protecting(command)
    add_counting(command)
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    command.add_argument("--dossier", type=Path, metavar="dossier.zip", help="CONFIDENTIAL")
    add_reading(command)


def run(args: argparse.Namespace, console: Console) -> int:
    """Count the records once, protect all tables in one run, write a bundle for each."""
    settings = method_settings(args)
    formulas = {**_listed(args.listed), **once(args.tables, "--table")}
    keys = signing_keys(args.sign)
    keep_apart([*args.source, *args.sign], [args.dossier])
    previous = [verify_set(folder, progress=console).tables for folder in args.previous]
    history = _opened(args, formulas, console)
    method = args.method or history.project.method
    table = history.project.original
    others = {
        str(file): opened(file, _reading(args), console).project.original
        for file in args.source[1:]
    }
    files = {args.source[0]: table, **others}
    if all(n in table.domain.known_names for f in others.values() for n in f.domain.names):
        check_common(files)
    else:
        check_publishes_margins(method)
        order = join_tables(
            source=absolute(args.source[0]),
            beside={file: absolute(file) for file in others},
            **_reading(args).given,
        )
        history = History().do(order, progress=console)[0]
        table = history.project.original
    chosen = PublicationSet(table.domain, formulas or _each(files))
    check_within(chosen, files)
    history = history.do(set_method(method=method), progress=console)[0]
    if any(p.name == "margins" for p in history.project.protection.parameters):
        settings["margins"] = chosen.formula
    history = protected_as_asked(history, args, settings, None, console)
    order = publish_set(
        folder=str(args.out),
        tables=dict(chosen.formulas),
        dossier=None if args.dossier is None else str(args.dossier),
        overwrite=True,
        **keys,
        again=args.again or args.accept or "",
        prepared_by=args.prepared_by,
        approved_by=args.approved_by,
    )
    history, _ = history.do(order, progress=console, register=args.register)
    _say(history, chosen, previous, args, console)
    return 0


def _listed(path: Path | None) -> dict[str, str]:
    """The tables that a file lists."""
    if path is None:
        return {}
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file).get("tables")
    except OSError as error:
        raise InputError("cannot be read", file=path, detail=str(error)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not TOML: {error}", file=path) from None
    if not isinstance(tables, dict) or not all(isinstance(f, str) for f in tables.values()):
        raise InputError("no tables are listed", file=path, hint='[tables], then NAME = "FORMULA"')
    return dict(tables)


def _reading(args: argparse.Namespace) -> Reading:
    return Reading(**{option.name: getattr(args, option.name) for option in options()})


def _opened(args: argparse.Namespace, formulas: Mapping[str, str], console: Console) -> History:
    """The table over all variables, counted from records where the source holds records."""
    source = args.source[0]
    coded = (args.bands, args.cuts, args.code_lists, args.levels, args.level_names, args.weight)
    keyed = (args.record_key, args.draw_record_keys, args.design_weight)
    if not any((*coded, *keyed)):
        try:
            return opened(source, _reading(args), console)
        except RecordsError:
            pass
    names = [name for formula in formulas.values() for name in names_in(formula)]
    by = dict.fromkeys(name.partition(AT)[0] for name in names)
    return History().do(counted(args, source, tuple(by)), progress=console)[0]


def _each(files: Mapping[str, Table]) -> dict[str, str]:
    """Several files as the tables of a set, by their names; none for one alone."""
    tables = {
        Path(file).stem: "*".join(map(in_formula, table.domain.names))
        for file, table in files.items()
    }
    if len(tables) < len(files):
        raise InputError("two files have one name", hint="name the tables: --table NAME=FORMULA")
    return tables if len(tables) > 1 else {}


def _say(
    history: History,
    chosen: PublicationSet,
    previous: list[PublicationSet],
    args: argparse.Namespace,
    console: Console,
) -> None:
    project = history.project
    result = project.protected
    assert result is not None and result.record.verdict is not None
    rule = result.record.problem.at_risk
    slivers = chosen.slivers(project.original, (rule.low, rule.high), previous)
    done = verify_set(args.out, progress=console)
    tables = {
        name: {
            "bundle": f"{name}.zip" if name in done.releases else f"{ALL}.zip",
            "sub_tables": len(table.margins),
            "cells": table.size,
        }
        for name, table in chosen.tables.items()
    }
    data = {
        "out": str(args.out),
        "dossier": None if args.dossier is None else str(args.dossier),
        "method": project.method,
        "fingerprint": done.fingerprint,
        "tables": tables,
        "common_cells": done.common_cells,
        "slivers": [sliver.as_json() for sliver in slivers],
        "verdict": result.record.verdict.as_json(),
        "decisions": list(result.record.decisions),
        "confidential": True,
    }
    risky = [sliver for sliver in slivers if sliver.at_risk]
    lines = [
        f"{args.out}: {len(tables)} table{'' if len(tables) == 1 else 's'}, {chosen.whole.size:,} cells, "
        f"{done.common_cells:,} of them compared between bundles and the same",
        f"Verdict: {result.record.verdict.sentence}",
        f"Fingerprint of the manifest: {done.fingerprint}",
        f"{len(slivers):,} difference{'' if len(slivers) == 1 else 's'} between groups that do not nest, "
        f"{len(risky):,} with cells at risk",
        *(f"  {sliver.sentence}" for sliver in slivers[:10]),
        f"Dossier (CONFIDENTIAL): {args.dossier or 'none written'}",
        *(f"Decision: {decision}" for decision in result.record.decisions),
        "These figures depend on the original: keep them in the house.",
    ]
    console.result(data, lines)
