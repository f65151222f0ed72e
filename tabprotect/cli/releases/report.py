"""``report``: what was done to a table, as a page to read, print and keep."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.options import Options, option_field, position
from tabprotect.engine.report.report import SUFFIXES, Edition, make_report
from tabprotect.languages.messages import message


@dataclass(frozen=True, kw_only=True)
class Report(Options):
    """Arguments of ``report``."""

    source: Path = position(metavar="RELEASE.zip|DOSSIER.zip")
    edition: Edition = option_field(
        help=message(
            "staff: CONFIDENTIAL, from a dossier; public: from a release bundle (or that in a dossier)"
        )
    )
    register: str | None = option_field(
        None,
        needs="edition=staff",
        metavar="FILE|URL|none",
        help=message("where the staff edition looks up what left before (default: the house's own)"),
    )
    out: Path = option_field(metavar="FILE.html|.pdf")


@command("report", example="tabprotect report release.zip --edition public --out report.html")
def run_report(asked: Report, console: Console) -> None:
    """Write the report."""
    if asked.out.suffix.lower() not in SUFFIXES:
        raise UsageError("--out takes a name that ends in .html or .pdf")
    keep_apart([asked.source], [asked.out])
    report = make_report(
        asked.source, asked.edition, datetime.now(UTC).date(), console, register=asked.register
    )
    report.write(asked.out)
    staff = report.edition == "staff"
    console.result(
        {
            "edition": report.edition,
            "title": report.title,
            "verdict": {"state": report.verdict.state, "sentence": report.verdict.text},
            "fingerprint": report.fingerprint,
            "out": str(asked.out),
            "confidential": staff,
        },
        [
            report.verdict.text,
            (
                message("Report (CONFIDENTIAL): {out}", asked.out)
                if staff
                else message("Report: {out}", asked.out)
            ),
        ],
    )
