"""``attack``: what somebody could get of published tables."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tabprotect.cli.arguments import add_published
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.arrays import Ints
from tabprotect.engine.attack.attack import Attacked
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.bundle.attacked_files import AttackedFiles, attack_files, read_file
from tabprotect.engine.progress import PartialProgress
from tabprotect.engine.report.attack_report import attack_report
from tabprotect.languages.messages import message, plural

SHOWN = 20
"""Cells that are printed for people; ``--json`` and the report give all."""


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("attack", run_attack)
    command.add_argument(
        "targets",
        nargs="+",
        metavar="FILE|BUNDLE.zip",
        help=message(
            "published tables of one original, with the code Total for what is summed; or a release"
        ),
    )
    command.add_argument(
        "--method",
        action="append",
        metavar="SPEC",
        help=message(
            "what is said of the method of the tables, once for all files or once for each: "
            "cell_key:D=5,V=3,js=2, random_rounding:base=3, suppression, rounded:base=5, "
            "swapped:rate=.1, unknown:sd=1, exact"
        ),
    )
    add_published(command)
    command.add_argument("--out", type=Path, metavar="FILE", help=message("a report: .html or .pdf"))


def run_attack(args: argparse.Namespace, console: Console) -> int:
    """Attack tables, and say what came of it."""
    attacked = _attacked(args, console)
    data = attacked.as_json()
    if args.out is not None:
        attack_report(attacked).write(args.out)
        data["out"] = str(args.out)
    console.result(data, _lines(attacked.found, attacked.shown))
    return 0


def _attacked(args: argparse.Namespace, console: Console) -> AttackedFiles:
    bundles = [target for target in args.targets if target.lower().endswith(".zip")]
    if bundles and len(args.targets) > 1:
        raise UsageError(message("a release is attacked by itself; infer reads several together"))
    if bundles and args.method:
        raise UsageError(message("a release says itself how it was made"))
    if not bundles and not args.method:
        raise UsageError(message("say how the tables were protected: --method SPEC"))
    files = [
        read_file(
            target,
            count=args.count,
            total=args.total,
            groupings=args.groupings,
            progress=PartialProgress(console, number, len(args.targets)),
        )
        for number, target in enumerate(args.targets)
    ]
    return attack_files(files, args.method or (), progress=console)


def _lines(found: Attacked, shown: Ints) -> list[str]:
    domain, ways = found.numbers.domain, found.ways()
    value, belief = found.cells.most_likely()
    known = found.known(BELIEF_LIMIT)
    lines = [
        plural(
            known,
            "{known:,} of {size:,} counts can be known",
            "{known:,} of {size:,} counts can be known",
            known,
            domain.size,
        ),
        plural(
            ways.count("proved"),
            "{proved:,} of them is proved",
            "{proved:,} of them are proved",
            ways.count("proved"),
        ),
        *found.notes,
    ]
    surest = np.argsort(-belief, kind="stable")
    for cell in surest[belief[surest] > BELIEF_LIMIT][:SHOWN].tolist():
        lines.append(
            message(
                "  {labels}: {count:,} with {belief:.3f} (published {published}, {way})",
                ", ".join(domain.labels(domain.unflat(cell))),
                int(value[cell]),
                float(belief[cell]),
                message("nothing") if shown[cell] < 0 else str(int(shown[cell])),
                ways[cell],
            )
        )
    return lines
