"""``batch``: many recipes, with one summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.engine.options import Options, option_field, position
from tabprotect.engine.project.recipes.batch import SUMMARIES, run_batch, worst_exit_code
from tabprotect.engine.project.recipes.batch_jobs import jobs_of
from tabprotect.engine.workers.spreading import Workers, workers_field
from tabprotect.engine.workers.threads import cores
from tabprotect.languages.messages import message, plural


@dataclass(frozen=True, kw_only=True)
class Batch(Options):
    """Arguments of ``batch``."""

    jobs: Path = position(metavar="JOBS", help=message("a file with [[job]] tables, or a folder of recipes"))
    sources: Sequence[Path] = option_field(
        (),
        shell="--source",
        metavar="FILE",
        help=message("with a folder: run every recipe on it, as its variable source; may be repeated"),
        repeated=True,
    )
    workers: Workers = workers_field()
    out: Path = option_field(
        metavar="DIR",
        help=message("a folder for each job, and the summary; jobs that were done there are kept"),
    )


@command("batch", example="tabprotect batch recipes --source counts.csv --out results")
def run(asked: Batch, console: Console) -> int:
    """Run what is not done yet; the exit code is that of the worst job."""
    jobs = jobs_of(asked.jobs, asked.sources)
    # Other processes would not know of a rehearsal.
    workers = 1 if console.rehearsal is not None else asked.workers or min(cores(), len(jobs))
    outcomes = run_batch(jobs, asked.out, workers=workers, progress=console)
    summaries = [str(asked.out / name) for name in SUMMARIES]
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
