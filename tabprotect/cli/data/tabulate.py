"""``tabulate`` and ``record-keys``: counts from records, and keys for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.cli.arguments import STREAM, as_file, keep_apart, to_stream
from tabprotect.cli.declaring import check_measure, command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.formats.table_writing import format_to_write, write_table
from tabprotect.engine.options import Options, option_field, part, position
from tabprotect.engine.project.options import MagnitudeTabulation, Tabulation
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.sources import magnitudes_tabulated
from tabprotect.engine.project.workflow import tabulated
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.groupings.nesting import chains
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message, plural


@dataclass(frozen=True, kw_only=True)
class Tabulate(Options):
    """Arguments of ``tabulate``."""

    counting: MagnitudeTabulation = part(MagnitudeTabulation)
    out: Path = option_field(
        metavar="TABLE.csv",
        help=message(
            "a table in any format, or a project (.tabprotect, CONFIDENTIAL), which keeps keys and weights"
        ),
    )


@dataclass(frozen=True, kw_only=True)
class RecordKeys(Options):
    """Arguments of ``record-keys``."""

    microdata: Path = position(help=message("CSV or Parquet file of records"))
    column: str = option_field("record_key", metavar="K", help=message("its name"))
    out: Path = option_field(metavar="KEYED", help=message("a copy, CSV or Parquet, CONFIDENTIAL"))


@command("tabulate", example="tabprotect tabulate people.parquet --by region,age --out table.csv")
def run_tabulate(asked: Tabulate, console: Console) -> int:
    """Write the counts as a long-form CSV file, or with keys and weights as a project."""
    streams = str(asked.out) == STREAM
    magnitudes = asked.counting
    keep_apart([magnitudes.source], [None if streams else asked.out])
    as_project = asked.out.suffix == storage.SUFFIX
    check_measure(magnitudes, "counts" if magnitudes.measure is None else "magnitudes")
    if magnitudes.measure is not None:
        return _sum(magnitudes, asked.out, console)
    counting = magnitudes.counts
    if not (streams or as_project) and not counting.given.keys() - {"source"}:
        # Late: a bundle is verified by what counting does not need.
        from tabprotect.engine.bundle.published_records import published_records, write_records

        if records := published_records(counting.source):
            number = write_records(records, asked.out)
            said = plural(number, "{out}: {number:,} record", "{out}: {number:,} records", asked.out, number)
            console.result(
                {"out": str(asked.out), "variables": list(records.columns), "records": number}, [said]
            )
            return 0
    if (counting.record_key is not None or counting.draw_keys) and not as_project:
        raise UsageError(
            message("record keys are kept in a project only: --out NAME{SUFFIX}", storage.SUFFIX)
        )
    if counting.design_weight is not None and not as_project:
        raise UsageError(message("weights are kept in a project only: --out NAME{SUFFIX}", storage.SUFFIX))
    keep_apart((counting.code_lists or {}).values(), [asked.out])
    with as_file(counting.source) as source:
        history = tabulated(replace(counting, source=source), console)
    table = history.project.original
    if streams:
        return to_stream(table, format_to_write(asked.out), False, console)
    if as_project:
        storage.save(history, asked.out)
    else:
        write_table(table, asked.out, format_to_write(asked.out))
    project = history.project
    data = {
        "out": str(asked.out),
        "variables": table.domain.names,
        "shape": table.domain.shape,
        "cells": table.domain.size,
        "positive_cells": len(table.cells[0]),
        "levels": {v.name: [g.name for g in v.levels] for v in table.domain.variables if v.coarser},
        "total": table.total,
        "record_keys": project.record_keys is not None,
        "record_keys_drawn": counting.draw_keys,
        "design_weights": project.weights is not None,
    }
    console.result(
        data, [*_report_lines(table, asked.out, drawn=counting.draw_keys), *_on_code_lists(counting)]
    )
    return 0


def _on_code_lists(counting: Tabulation) -> Iterator[str]:
    """Return what to say of hierarchies that were counted by their coarsest groups."""
    # Late: who asks for help does not wait for it.
    from tabprotect.engine.microdata.coding import counted_by_codes

    for name, text in (counting.code_lists or {}).items():
        if finer := counted_by_codes(name, text, (counting.level_names or {}).get(name, ())):
            yield message(
                "{name} is counted by the coarsest groups of {text}; by its codes, with all levels: "
                "--code-list {finer}",
                name,
                text,
                finer,
            )


def _sum(counting: MagnitudeTabulation, out: Path, console: Console) -> int:
    """Write a magnitude table."""
    from tabprotect.engine.magnitudes.files.table_files import write_magnitudes

    if out.suffix.lower() not in (".parquet", ".pq"):
        raise UsageError(message("a magnitude table is written as Parquet: --out NAME.parquet"))
    keep_apart((counting.code_lists or {}).values(), [out])
    with as_file(counting.source) as source:
        table = magnitudes_tabulated(replace(counting, source=source), console)
    write_magnitudes(table, out)
    cells = table.cells
    data = {
        "out": str(out),
        "variables": [v.name for v in table.variables],
        "shape": [len(v.categories) for v in table.variables],
        "levels": {v.name: [g.name for g in v.levels] for v in table.variables if v.coarser},
        "measure": table.measure,
        "decimals": table.decimals,
        "cells": len(cells),
        "holdings": len(table.names),
        "units": int(table.rows.units.sum()),
        "negative": table.signed,
        "weights": table.weighted,
        "confidential": True,
    }
    said = message(
        "{out}: {measure} by {names}, {cells:,} cells with totals, {holdings:,} contributors. CONFIDENTIAL",
        out,
        table.measure,
        joined((v.name for v in table.variables), ", "),
        len(cells),
        len(table.names),
    )
    console.result(data, [said])
    return 0


def _report_lines(table: Table, out: Path, *, drawn: bool) -> Iterator[str]:
    """Return what was counted, what the file loses, and what could be counted otherwise."""
    domain = table.domain
    yield message(
        "{out}: {names} ({shape}), total {total:,}",
        out,
        joined(domain.names, ", "),
        " x ".join(map(str, domain.shape)),
        table.total,
    )
    for v in domain.variables:
        if v.coarser:
            levels = joined((f"{v.name}@{level.name}" for level in v.levels), ", ")
            yield message("{name} has the levels {join}", v.name, levels)
    if out.suffix != storage.SUFFIX and (lost := format_to_write(out).loses(domain)):
        yield message("{lost} A project ({SUFFIX}) keeps all.", joined(lost, " "), storage.SUFFIX)
    for chain in chains(table):
        yield message(
            "{chain} nest: --levels {chain2}=NAME counts them as one variable",
            joined(chain, ", "),
            ",".join(chain),
        )
    if drawn:
        yield message(
            "record keys were drawn for this table: other tabulations of the same file will not "
            "agree with it (record-keys writes keys into the file, for all of them)"
        )


@command("record-keys", example="tabprotect record-keys people.parquet --out CONFIDENTIAL-keyed.parquet")
def run_record_keys(asked: RecordKeys, console: Console) -> None:
    """Write a copy of the records with a key each, from the operating system's randomness."""
    keep_apart([asked.microdata], [asked.out])
    # Late: DuckDB costs a tenth of the program's start.
    from tabprotect.engine.microdata.record_keys import add_record_keys

    records = add_record_keys(
        asked.microdata, asked.out, column=asked.column, randomness=Randomness.fresh(), progress=console
    )
    data = {"out": str(asked.out), "column": asked.column, "records": records, "confidential": True}
    said = plural(
        records,
        "{out}: {records:,} record, keys in {column}. CONFIDENTIAL: keep them for good.",
        "{out}: {records:,} records, keys in {column}. CONFIDENTIAL: keep them for good.",
        asked.out,
        records,
        asked.column,
    )
    console.result(data, [said])
