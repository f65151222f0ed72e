"""``report``: what was done to a table, as a page to read, print and keep."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.report.report import EDITIONS, SUFFIXES, make_report
from tabprotect.languages.messages import message


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("report", run_report)
    command.add_argument("source", type=Path, metavar="RELEASE.zip|DOSSIER.zip")
    command.add_argument(
        "--edition",
        choices=EDITIONS,
        required=True,
        help=message(
            "staff: CONFIDENTIAL, from a dossier; public: from a release bundle (or that in a dossier)"
        ),
    )
    command.add_argument(
        "--register",
        metavar="FILE|URL|none",
        help=message("where the staff edition looks up what left before (default: the house's own)"),
    )
    command.add_argument("--out", type=Path, required=True, metavar="FILE.html|.pdf")


def run_report(args: argparse.Namespace, console: Console) -> int:
    """Write the report."""
    if args.out.suffix.lower() not in SUFFIXES:
        raise UsageError("--out takes a name that ends in .html or .pdf")
    keep_apart([args.source], [args.out])
    report = make_report(args.source, args.edition, datetime.now(UTC).date(), console, register=args.register)
    report.write(args.out)
    staff = report.edition == "staff"
    console.result(
        {
            "edition": report.edition,
            "title": report.title,
            "verdict": {"state": report.verdict.state, "sentence": report.verdict.text},
            "fingerprint": report.fingerprint,
            "out": str(args.out),
            "confidential": staff,
        },
        [
            report.verdict.text,
            (
                message("Report (CONFIDENTIAL): {out}", args.out)
                if staff
                else message("Report: {out}", args.out)
            ),
        ],
    )
    return 0
