"""``report``: what was done to a table, as a page to read, print and keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.options import Options, option_field, position
from tabprotect.engine.report.report import SUFFIXES, Edition, make_report
from tabprotect.languages.messages import message, plural


@dataclass(frozen=True, kw_only=True)
class Report(Options):
    """Arguments of ``report``."""

    sources: Sequence[Path] = position(
        metavar="RELEASE.zip|DOSSIER.zip|FOLDER",
        help=message("of the quality sheet several, or folders of them: a set, or what a batch wrote"),
    )
    quality: bool = option_field(
        False,
        help=message(
            "the quality of each table in figures: before and after (staff), or by what the release tells "
            "(public); a row each in FILE.xlsx, a page each in FILE.pdf"
        ),
    )
    texts: bool = option_field(
        False,
        help=message(
            "texts for users in English and German, made from the mechanism and [texts] of the policy: methodology page, why parts do not add up, footnote, press; in FILE.md or FILE.txt"
        ),
    )
    edition: Edition = option_field(
        "public",
        help=message(
            "staff: CONFIDENTIAL, from a dossier; public (default): from a release bundle (or that in a dossier)"
        ),
    )
    register: str | None = option_field(
        None,
        needs="edition=staff",
        metavar="FILE|URL|none",
        help=message("where the staff edition looks up what left before (default: the house's own)"),
    )
    out: Path = option_field(metavar="FILE.html|.pdf|.xlsx|.md")


@command("report", example="tabprotect report release.zip --edition public --out report.html")
def run_report(asked: Report, console: Console) -> None:
    """Write the report."""
    keep_apart(asked.sources, [asked.out])
    if asked.quality and asked.texts:
        raise UsageError(message("ask for one of them: --quality or --texts"))
    if asked.quality:
        _quality(asked, console)
        return
    if asked.texts:
        _texts(asked, console)
        return
    if asked.out.suffix.lower() not in SUFFIXES:
        raise UsageError("--out takes a name that ends in .html or .pdf")
    if len(asked.sources) > 1:
        raise UsageError(message("a report is of one release; the quality sheet is of several: --quality"))
    report = make_report(
        asked.sources[0], asked.edition, datetime.now(UTC).date(), console, register=asked.register
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


def _quality(asked: Report, console: Console) -> None:
    """Write the quality sheet."""
    # Late: a report of one release needs none of it.
    from tabprotect.engine.report.quality_files import SHEETS, qualities, quality_bytes

    if asked.out.suffix.lower() not in (*SUFFIXES, *SHEETS):
        raise UsageError(message("--out takes a name that ends in .html, .pdf or .xlsx"))
    if asked.register is not None:
        raise UsageError(message("the quality sheet looks nothing up: leave --register out"))
    found = qualities(asked.sources, asked.edition, console)
    staff = asked.edition == "staff"
    write_bytes(asked.out, quality_bytes(found, asked.out), private=staff)
    console.result(
        {
            "edition": asked.edition,
            "tables": [one.row for one in found],
            "out": str(asked.out),
            "confidential": staff,
        },
        [
            plural(len(found), "{n:,} table in {out}", "{n:,} tables in {out}", len(found), asked.out)
            + (message(" (CONFIDENTIAL)") if staff else "")
        ],
    )


def _texts(asked: Report, console: Console) -> None:
    """Write the texts for users of one release."""
    # Late: a report needs none of it.
    from tabprotect.engine.report.text_files import TEXT_FILES, texts_bytes, texts_of

    if asked.out.suffix.lower() not in TEXT_FILES:
        raise UsageError(message("--out takes a name that ends in .md or .txt"))
    if asked.edition == "staff" or asked.register is not None:
        raise UsageError(message("texts for users are public: --edition public, and no --register"))
    if len(asked.sources) > 1:
        raise UsageError(message("the texts are of one release"))
    found = texts_of(asked.sources[0], console)
    write_bytes(asked.out, texts_bytes(found))
    console.result({"texts": found, "out": str(asked.out)}, [message("Texts for users: {out}", asked.out)])
