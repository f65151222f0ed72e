"""``batch``: many recipes, with one summary."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from tabprotect.cli.arguments import positive
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.assessment.comparing.spreading import cores
from tabprotect.engine.project.recipes.batch import SUMMARIES, run_batch, worst_exit_code
from tabprotect.engine.project.recipes.batch_jobs import jobs_of
from tabprotect.languages.messages import message, plural


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("batch", run)
    command.add_argument(
        "jobs", type=Path, metavar="JOBS", help=message("a file with [[job]] tables, or a folder of recipes")
    )
    command.add_argument(
        "--source",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        dest="sources",
        help=message("with a folder: run every recipe on it, as its variable source; may be repeated"),
    )
    command.add_argument(
        "--workers", type=positive, metavar="N", help=message("processes (default: one for each core)")
    )
    command.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help=message("a folder for each job, and the summary; jobs that were done there are kept"),
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Run what is not done yet; the exit code is that of the worst job."""
    jobs = jobs_of(args.jobs, args.sources)
    workers = args.workers or min(cores(), len(jobs))
    outcomes = run_batch(jobs, args.out, workers=workers, progress=console)
    summaries = [str(args.out / name) for name in SUMMARIES]
    lines = [
        message("{job}: {status}", o.job, o.status)
        + (message(" ({message})", o.message) if o.message else message(", {seconds:.1f} s", o.seconds))
        for o in outcomes
    ]
    failed = sum(o.exit_code != 0 for o in outcomes)
    lines.append(
        plural(
            len(outcomes),
            "{outcomes} job, {failed} failed. Summary (CONFIDENTIAL): {summaries}",
            "{outcomes} jobs, {failed} failed. Summary (CONFIDENTIAL): {summaries}",
            len(outcomes),
            failed,
            summaries[0],
        )
    )
    data = {"jobs": [asdict(o) for o in outcomes], "failed": failed, "summaries": summaries}
    console.result(data, lines)
    return worst_exit_code(outcomes)
