"""``ptable``: make, read and convert perturbation tables for cell keys."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.protection.cell_keys import perturbation_files as files
from tabprotect.engine.protection.cell_keys.perturbation_table import (
    KEYS,
    PerturbationTable,
    perturbation_table,
)
from tabprotect.languages.messages import joined, message

FORMATS = {"ptable": message("i;j;p;v;p_int_ub as tau-ARGUS reads it"), "ons": "pcv,ckey,pvalue", "json": ""}
ONS_KEYS = (256, 4096)


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("ptable", run_ptable)
    command.add_argument("--D", type=int, metavar="N", help=message("largest noise"))
    command.add_argument("--V", type=float, metavar="X", help=message("variance of the noise"))
    command.add_argument("--js", type=int, default=0, metavar="N", help=message("never publish 1..N"))
    command.add_argument(
        "--pstay", type=float, default=0.0, metavar="P", help=message("least probability of noise 0")
    )
    command.add_argument(
        "--mono",
        action=argparse.BooleanOptionalAction,
        default=True,
        help=message("probabilities do not fall from the lowest noise up to 0 (default)"),
    )
    command.add_argument(
        "--optim", type=int, choices=[1, 4], default=1, help=message("1: variance at most V; 4: exactly V")
    )
    command.add_argument("--read", type=Path, metavar="FILE", help=message("take a table from a file"))
    command.add_argument("--out", type=Path, metavar="FILE")
    command.add_argument(
        "--format",
        choices=list(FORMATS),
        default="ptable",
        help=message("of --out; ")
        + joined((message("{name}: {text}", name, text) for name, text in FORMATS.items() if text), "; "),
    )
    command.add_argument(
        "--keys", type=int, choices=ONS_KEYS, default=256, help=message("of the format ons (default 256)")
    )


def run_ptable(args: argparse.Namespace, console: Console) -> int:
    """Print the table, and write it where a file is named."""
    if args.read is not None:
        if args.D is not None or args.V is not None:
            raise UsageError(message("say either --read or --D and --V"))
        keep_apart([args.read], [args.out])
        table = files.read(args.read)
    elif args.D is None or args.V is None:
        raise UsageError("--D and --V are needed (or --read)")
    else:
        table = perturbation_table(
            D=args.D, V=args.V, js=args.js, pstay=args.pstay, monotone=args.mono, attain=args.optim == 4
        )
    note = ""
    if args.out is not None:
        note = _write(table, args)
    for row in table.unreached:
        console.say(message("note: the variance V is not reached: {row}", row))
    if note:
        console.say(message("note: {note}", note))
    console.result(_json(table, args.out), _lines(table) if args.out is None else [str(args.out)])
    return 0


def _write(table: PerturbationTable, args: argparse.Namespace) -> str:
    """Write the file; a remark on what the format cannot hold."""
    note = ""
    if args.format == "json":
        text = json.dumps(files.to_json(table)) + "\n"
    elif args.format == "ons":
        text = files.to_ons(table, keys=args.keys)
        bias = files.from_text(text).bias
        note = message(
            "{keys} cell keys round the probabilities: the largest mean noise is "
            "{bias:.2g} (in the table itself {bias2:.2g})",
            args.keys,
            bias,
            table.bias,
        )
    else:
        text = files.to_ptable(table)
    write_bytes(args.out, text.encode())
    return note


def _json(table: PerturbationTable, out: Path | None) -> dict[str, object]:
    matrix = table.matrix
    row = np.repeat(np.arange(table.rows), np.diff(table.starts))
    noise = table.targets[None, :] - np.arange(table.rows)[:, None]
    return {
        "i": list(range(table.rows)),
        "j": table.targets.tolist(),
        "matrix": matrix.tolist(),
        "mean": (matrix * noise).sum(axis=1).tolist(),
        "variance": (matrix * noise**2).sum(axis=1).tolist(),
        "unreached": [{"row": u.row, "variance": u.variance, "pstay": u.stay} for u in table.unreached],
        "intervals": {"i": row.tolist(), "v": table.noise.tolist(), "ub": (table.upper / KEYS).tolist()},
        "period": table.period,
        "out": None if out is None else str(out),
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
