"""Batches: many recipes in parallel processes, resumed after a kill, with one summary. CONFIDENTIAL.

Every job has a folder with what it published and, written last, ``job.json``: a finished job whose
inputs are still those in its ``job.json`` is not run again.
"""

from __future__ import annotations

import html
import json
import multiprocessing
import os
import platform
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from tabprotect.engine.agency import user_name
from tabprotect.engine.atomic import make_folder, write_bytes
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.formats.text.csv_rows import csv_rows
from tabprotect.engine.paths import is_file
from tabprotect.engine.plain_values.decoding import decoded, parsed_json
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.recipes.batch_jobs import BatchJob
from tabprotect.engine.project.recipes.replay import last_and_now, run_file
from tabprotect.engine.workers.spreading import executor
from tabprotect.engine.workers.threads import LOOK
from tabprotect.languages.messages import joined, message, plural
from tabprotect.version import __version__

STATE = "job.json"
SUMMARIES = ("summary.csv", "summary.html")


@dataclass(frozen=True)
class JobOutcome:
    """The outcome of a job: one line of the audit trail.

    Attributes
    ----------
    job
        The name of the job.
    status
        ``done``, ``failed``, or ``kept`` (done before, on the same inputs).
    exit_code
        The exit code of ``run``.
    message
        The error message.
    seconds
        The time it took.
    written
        The files written in its folder.
    since_last_year
        What differs from the file the recipe was made from, if that is still beside the recipe.
    key
        SHA-256 of the program version, the recipe, its variables and the input files.
    user, host, version, started
        Who ran it, where, with which version of this program, and when (UTC).
    """

    job: str
    status: str
    exit_code: int
    message: str
    seconds: float
    written: tuple[str, ...]
    since_last_year: tuple[str, ...]
    key: str
    user: str
    host: str
    version: str
    started: str


def run_batch(
    jobs: Sequence[BatchJob], out: Path, *, workers: int | str = 1, progress: Progress = SILENT
) -> tuple[JobOutcome, ...]:
    """Run jobs, each into a folder of ``out``, and write the summaries there.

    Parameters
    ----------
    workers
        The number of processes; with 1 everything runs in this one. ``"tcp://host:port"`` of a Dask
        scheduler: its workers see the same files.

    Raises
    ------
    Interrupted
        When cancelled. Finished jobs stay done.
    InputError
        When nothing can be written there.
    """
    make_folder(out)
    found = {job.name: kept for job in jobs if (kept := _kept(job, out)) is not None}
    waiting = [job for job in jobs if job.name not in found]
    run = _here(waiting, out) if workers == 1 else _spread(waiting, out, workers, progress)
    progress.report(message("running jobs"), len(found) / len(jobs))
    for outcome in run:
        found[outcome.job] = outcome
        progress.report(message("running jobs"), len(found) / len(jobs))
    outcomes = tuple(found[job.name] for job in jobs)
    for name, data in zip(SUMMARIES, (csv_rows(*_rows(outcomes)), _html(outcomes)), strict=True):
        write_bytes(out / name, data.encode("utf-8"), private=True)
    return outcomes


def worst_exit_code(outcomes: Sequence[JobOutcome]) -> int:
    """The exit code of a batch: the worst of its jobs', an internal error being the worst of all."""
    return max((o.exit_code for o in outcomes), key=lambda code: (code == 1, code), default=0)


def _kept(job: BatchJob, out: Path) -> JobOutcome | None:
    """The outcome in ``job.json``, if it is still valid."""
    try:
        outcome = decoded(parsed_json((out / job.name / STATE).read_bytes()), JobOutcome)
    except (OSError, InputError):
        return None
    if outcome.exit_code or not outcome.key or outcome.key != job.key():
        return None
    there = all(is_file(out / job.name / name) for name in outcome.written)
    return replace(outcome, status="kept") if there else None


def _here(jobs: Sequence[BatchJob], out: Path) -> Iterator[JobOutcome]:
    for job in jobs:
        yield run_job(job, out)


def _spread(
    jobs: Sequence[BatchJob], out: Path, workers: int | str, progress: Progress
) -> Iterator[JobOutcome]:
    with _pool(workers) as pool:
        pending: dict[Future[JobOutcome], BatchJob] = {pool.submit(run_job, job, out): job for job in jobs}
        while pending:
            done, _ = wait(pending, timeout=LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                job = pending.pop(future)
                try:
                    yield future.result()
                except Exception:
                    # A job's own errors are part of its outcome: what is left is the end of its process.
                    yield _outcome(job, 1, message("its process ended (too little memory, or killed)"))
            progress.report(message("running jobs"), 1 - len(pending) / len(jobs))


@contextmanager
def _pool(workers: int | str) -> Iterator[Executor]:
    if isinstance(workers, str):
        with executor(workers) as (pool, _):
            yield pool
        return
    # Fresh processes: forking one with threads (DuckDB's, the solver's) can deadlock.
    context = multiprocessing.get_context("spawn")
    here = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
    try:
        yield here
    finally:
        here.shutdown(wait=True, cancel_futures=True)


def _end_with_parent() -> None:
    """End this process with its parent, so that a killed batch leaves nothing behind that still writes."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_job(job: BatchJob, out: Path) -> JobOutcome:
    """Run one job into its folder; errors become part of the outcome."""
    begin, started = time.perf_counter(), _now()
    folder = out / job.name
    key = job.key()
    code, text = 0, ""
    written: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    try:
        history, paths = run_file(job.recipe, folder, settings=job.settings)
        written = tuple(path.name for path in paths)
        since = last_and_now(job.recipe, job.settings, history)
        differences = () if since is None else tuple(since.lines())
    except TabprotectError as error:
        code, text = error.exit_code, str(error)
    except Exception as error:
        # Never the exception's own text: it may quote a count.
        code, text = 1, message("internal error: {name}", type(error).__name__)
    outcome = replace(
        _outcome(job, code, text),
        seconds=round(time.perf_counter() - begin, 2),
        written=written,
        since_last_year=differences,
        key=key,
        started=started,
    )
    make_folder(folder)
    state = json.dumps(asdict(outcome), ensure_ascii=False, indent=1) + "\n"
    write_bytes(folder / STATE, state.encode("utf-8"), private=True)
    return outcome


def _outcome(job: BatchJob, code: int, message: str) -> JobOutcome:
    status = "failed" if code else "done"
    return JobOutcome(
        job.name, status, code, message, 0.0, (), (), "", user_name(), platform.node(),
        __version__, _now(),
    )  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _rows(outcomes: Sequence[JobOutcome]) -> tuple[list[str], list[list[str]]]:
    header = [f.name for f in fields(JobOutcome)]
    rows = [
        [joined(value, "; ") if isinstance(value, tuple) else str(value) for value in asdict(o).values()]
        for o in outcomes
    ]
    return header, rows


def _html(outcomes: Sequence[JobOutcome]) -> str:
    header, rows = _rows(outcomes)
    failed = sum(o.exit_code != 0 for o in outcomes)

    def line(cells: Sequence[str], tag: str, kind: str = "") -> str:
        inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
        return f"<tr{kind}>{inner}</tr>"

    body = [
        line(row, "td", ' class="failed"' if o.exit_code else "")
        for o, row in zip(outcomes, rows, strict=True)
    ]
    return joined([
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Batch summary</title>',
        "<style>body{font:14px sans-serif}td,th{padding:2px 8px;text-align:left;"
        "border-bottom:1px solid #ccc}.failed{background:#fdd}</style>",
        message("<h1>Batch summary, CONFIDENTIAL</h1>"),
        plural(len(outcomes), "<p>{outcomes} job, {failed} failed.</p>", "<p>{outcomes} jobs, {failed} failed.</p>", len(outcomes), failed),
        f"<table>{line(header, 'th')}", *body, "</table></html>", "",
    ], "\n")  # fmt: skip
