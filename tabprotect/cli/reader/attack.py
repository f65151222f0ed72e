"""``attack``: what somebody could get of published tables, or out of a table server."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tabprotect.cli.arguments import add_published, positive
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.arrays import Ints
from tabprotect.engine.attack.attack import Attacked
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.bundle.attacked_files import AttackedFiles, attack_files, read_file
from tabprotect.engine.errors import needing
from tabprotect.engine.progress import Part
from tabprotect.engine.report.attack_report import attack_report
from tabprotect.languages.messages import message, plural

SERVER = ("server", message("the table server"))
"""Its extra, and what it is called."""

SHOWN = 20
"""Cells that are printed for people; ``--json`` and the report give all."""


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("attack", run_attack)
    command.add_argument(
        "targets",
        nargs="+",
        metavar="FILE|BUNDLE.zip|URL|DATABASE",
        help=message(
            "published tables of one original, with the code Total for what is summed; a release; "
            "a table server at http://host:port or the history of one"
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
    command.add_argument("--key", default="", help=message("of an account, where a server wants one"))
    command.add_argument(
        "--queries",
        type=positive,
        default=100,
        metavar="N",
        help=message(
            "tables to ask a server for; each is decided on, and released for good if it may "
            "be (default: 100)"
        ),
    )


def run_attack(args: argparse.Namespace, console: Console) -> int:
    """Attack tables, or a server, and say what came of it."""
    servers = [target for target in args.targets if _is_server(target)]
    if servers:
        if len(args.targets) > 1 or args.method or args.out:
            raise UsageError(message("a table server is attacked by itself"))
        return _attack_server(args, console)
    attacked = _attacked(args, console)
    data = attacked.as_json()
    if args.out is not None:
        attack_report(attacked).write(args.out)
        data["out"] = str(args.out)
    console.result(data, _lines(attacked.found, attacked.shown))
    return 0


def _is_server(target: str) -> bool:
    if "://" in target:
        return True
    path = Path(target)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(16).startswith(b"SQLite format 3")


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
            progress=Part(console, number, len(args.targets)),
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


def _attack_server(args: argparse.Namespace, console: Console) -> int:
    """Attack a server, or the answers it gave."""
    with needing(*SERVER):
        from tabprotect.server.attack.suite import findings
    target = args.targets[0]
    found = findings(target, key=args.key, queries=args.queries, progress=console)
    succeeded = sum(finding.succeeded for finding in found)
    data = {"target": target, "succeeded": succeeded, "attacks": [finding.as_json() for finding in found]}
    lines = [message("{name}: {sentence} ({tried} tried)", f.name, f.sentence, f.tried) for f in found]
    console.result(
        data,
        [
            *lines,
            plural(
                succeeded, "{succeeded} count was got in all", "{succeeded} counts were got in all", succeeded
            ),
        ],
    )
    return 0
