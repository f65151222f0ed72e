"""``ptable``: make, read and convert perturbation tables for cell keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.protection.cell_keys import perturbation_files as files
from tabprotect.engine.protection.cell_keys.perturbation_table import (
    KEYS,
    PerturbationTable,
    perturbation_table,
)
from tabprotect.languages.messages import joined, message

FORMATS = {"ptable": message("i;j;p;v;p_int_ub as tau-ARGUS reads it"), "ons": "pcv,ckey,pvalue", "json": ""}
ONS_KEYS = (256, 4096)


@dataclass(frozen=True, kw_only=True)
class Ptable(Options):
    """Arguments of ``ptable``."""

    D: int | None = option_field(None, metavar="N", help=message("largest noise"))
    V: float | None = option_field(None, metavar="X", help=message("variance of the noise"))
    js: int = option_field(0, metavar="N", help=message("never publish 1..N"))
    pstay: float = option_field(0.0, metavar="P", help=message("least probability of noise 0"))
    mono: bool = option_field(
        True, help=message("probabilities do not fall from the lowest noise up to 0 (default)")
    )
    optim: int = option_field(1, choices=[1, 4], help=message("1: variance at most V; 4: exactly V"))
    read: Path | None = option_field(None, metavar="FILE", help=message("take a table from a file"))
    out: Path | None = option_field(None, metavar="FILE")
    format: str = option_field(
        "ptable",
        needs="out",
        choices=list(FORMATS),
        help=message("of --out; ")
        + joined((message("{name}: {text}", name, text) for name, text in FORMATS.items() if text), "; "),
    )
    keys: int = option_field(
        256, needs="format=ons", choices=ONS_KEYS, help=message("of the format ons (default 256)")
    )


@command("ptable", example="tabprotect ptable --D 5 --V 3 --js 2")
def run_ptable(asked: Ptable, console: Console) -> None:
    """Print the table, and write it where a file is named."""
    if asked.read is not None:
        if asked.D is not None or asked.V is not None:
            raise UsageError(message("say either --read or --D and --V"))
        keep_apart([asked.read], [asked.out])
        table = files.read(asked.read)
    elif asked.D is None or asked.V is None:
        raise UsageError("--D and --V are needed (or --read)")
    else:
        table = perturbation_table(
            D=asked.D, V=asked.V, js=asked.js, pstay=asked.pstay, monotone=asked.mono, attain=asked.optim == 4
        )
    note = ""
    if asked.out is not None:
        note = _write(table, asked.out, asked)
    for row in table.unreached:
        console.say(message("note: the variance V is not reached: {row}", row))
    if note:
        console.say(message("note: {note}", note))
    console.result(_json(table, asked.out), _lines(table) if asked.out is None else [str(asked.out)])


def _write(table: PerturbationTable, out: Path, asked: Ptable) -> str:
    """Write the file; a remark on what the format cannot hold."""
    note = ""
    if asked.format == "json":
        text = json.dumps(files.to_json(table)) + "\n"
    elif asked.format == "ons":
        text = files.to_ons(table, keys=asked.keys)
        bias = files.on_keys(table, asked.keys).bias
        note = message(
            "{keys} cell keys round the probabilities: the largest mean noise is "
            "{bias:.2g} (in the table itself {bias2:.2g})",
            asked.keys,
            bias,
            table.bias,
        )
    else:
        text = files.to_ptable(table)
    write_bytes(out, text.encode())
    return note


def _json(table: PerturbationTable, out: Path | None) -> dict[str, object]:
    matrix = table.matrix
    row = np.repeat(np.arange(table.rows), np.diff(table.starts))
    noise = table.targets[None, :] - np.arange(table.rows)[:, None]
    return {
        "i": list(range(table.rows)),
        "j": table.targets,
        "matrix": matrix,
        "mean": (matrix * noise).sum(axis=1),
        "variance": (matrix * noise**2).sum(axis=1),
        "unreached": [{"row": u.row, "variance": u.variance, "pstay": u.stay} for u in table.unreached],
        "intervals": {"i": row, "v": table.noise, "ub": table.upper / KEYS},
        "period": table.period,
        "out": out,
    }


def _lines(table: PerturbationTable) -> list[str]:
    lines = [message("count: published count with probability")]
    for i, row in enumerate(table.matrix):
        cells = zip(table.targets.tolist(), row.tolist(), strict=True)
        lines.append(
            message("{i}: ", i) + joined((message("{j} {p:.4f}", j, p) for j, p in cells if p >= 5e-5), ", ")
        )
    lines.append(message("{rows} and more: the noise of the last row", table.rows - 1))
    return lines
