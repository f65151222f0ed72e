"""``selftest``: what this installation is, and whether it computes what it must."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.report.report import page_bytes
from tabprotect.languages.messages import message, plural

DAMAGED = 1
"""The exit code where a check fails: as of an internal error, for so it is."""


@dataclass(frozen=True, kw_only=True)
class SelfTesting(Options):
    """Arguments of ``selftest``."""

    only: str = option_field("", metavar="TEXT", help=message("checks that have this in their name"))
    out: Path | None = option_field(
        None, metavar="FILE.pdf|.html|.json", help=message("a copy of the result to file")
    )


@command("selftest", example="tabprotect selftest --out qualification.pdf")
def run(asked: SelfTesting, console: Console) -> int:
    """Check the installation."""
    # Late: help does not wait for what computes.
    from tabprotect.testing.selftest import selftest

    found = selftest(asked.only, console)
    data = found.as_json()
    if asked.out is not None:
        as_json = asked.out.suffix.lower() == ".json"
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        write_bytes(asked.out, text.encode() if as_json else page_bytes(found.html(), asked.out))
    wrong = [check for check in found.checks if not check.passed]
    total = len(found.checks)
    console.result(
        {**data, "confidential": False},
        [
            message("tabprotect {version}, compiled: {compiled}", found.version, found.compiled),
            *(message("FAILED  {name}: {found}", check.name, check.found) for check in wrong),
            plural(
                total,
                "{passed} of {total} check passed, in {seconds} s of CPU time.",
                "{passed} of {total} checks passed, in {seconds} s of CPU time.",
                total - len(wrong),
                total,
                found.seconds,
            ),
        ],
    )
    return DAMAGED if wrong else 0
