"""``infer`` and ``verify``: what a reader of a bundle does."""

from __future__ import annotations

import argparse
import json
from decimal import Decimal
from pathlib import Path

import numpy as np

from tabprotect.cli.arguments import UsageError, add_reading, cell_list, open_source, positive
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.bundle.signature import public_key
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.opening import read_text
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import parse_prior
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table

SHOWN = 40
"""Cells that are printed for people; ``--json`` and ``--cells`` give all that are asked for."""

MOST_COUNTS = 12
"""Counts of a cell that are printed for people; of more the most probable, and a range."""

RANGE = 0.9
"""Probability that this range holds, at least."""


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    command = verbs.add("infer", run_infer, "the posterior distribution of every true cell")
    command.add_argument("release", type=Path, nargs="?", metavar="RELEASE.zip")
    command.add_argument("--published", dest="table", metavar="TABLE", help="with --mechanism")
    command.add_argument("--mechanism", type=Path, metavar="mechanism.json")
    command.add_argument(
        "--prior",
        default="uniform",
        metavar="PRIOR",
        help="uniform, positive, positive:CELLS, poisson:FILE, negative_binomial:FILE, table:FILE",
    )
    command.add_argument(
        "--cells", type=cell_list, default=[], metavar="0,1;2,3", help="only these (default all)"
    )
    command.add_argument("--way", choices=["auto", "exact", "monte_carlo"], default="auto")
    command.add_argument("--draws", type=positive, metavar="N", help="of Monte Carlo")
    command.add_argument("--seed", type=int, metavar="N", help="of Monte Carlo")
    add_reading(command)
    check = verbs.add("verify", run_verify, "check a release bundle")
    check.add_argument("release", type=Path, metavar="RELEASE.zip")
    check.add_argument(
        "--fingerprint", metavar="SHA256", help="the one its publisher named elsewhere"
    )
    check.add_argument(
        "--signer", metavar="PUBLIC", help="the public key that must have signed: a file or figures"
    )


def run_verify(args: argparse.Namespace, console: Console) -> int:
    """Print what was checked."""
    signer = None if args.signer is None else public_key(args.signer)
    found = bundle.verify(
        args.release, fingerprint=args.fingerprint, signer=signer, progress=console
    )
    domain = found.release.table.domain
    data = {
        "ok": True,
        "fingerprint": found.fingerprint,
        "title": found.release.title,
        "method": found.release.mechanism.method,
        "variables": list(domain.names),
        "shape": list(domain.shape),
        "checks": list(found.checks),
        "signers": list(found.signers),
    }
    lines = [
        *(f"ok  {check}" for check in found.checks),
        f"Fingerprint (SHA-256): {found.fingerprint}",
        "Compare it with the one its publisher names elsewhere, or ask for the publisher's own key "
        "(--signer): hashes inside a zip find damage, not a forger.",
    ]
    console.result(data, lines)
    return 0


def _release(args: argparse.Namespace, console: Console) -> Release:
    if (args.release is None) == (args.table is None and args.mechanism is None):
        raise UsageError("say either RELEASE.zip, or --published and --mechanism")
    if args.release is not None:
        return bundle.verify(args.release, progress=console).release
    if args.table is None or args.mechanism is None:
        raise UsageError("--published and --mechanism go together")
    table = open_source(args, console).project.original
    path = args.mechanism
    text = read_text(path)
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("not valid JSON", file=path, line=getattr(error, "lineno", None)) from None
    try:
        table = _named(table, stated)
        return Release.of(table, Mechanism.from_json(stated, table.domain))
    except InputError as error:
        raise error.in_file(path) from None


def _named(table: Table, mechanism: object) -> Table:
    """A grid without variable names takes those of its mechanism."""
    if not isinstance(mechanism, dict):
        return table
    names, shape = mechanism.get("variables"), list(table.domain.shape)
    generic = table.domain.names == ("row", "column")
    if not generic or mechanism.get("shape") != shape or not isinstance(names, list):
        return table
    categories = [v.categories for v in table.domain.variables]
    domain = Domain.of(dict(zip(map(str, names), categories, strict=True)))
    return Table.dense(domain, table.counts) if len(names) == len(shape) else table


def run_infer(args: argparse.Namespace, console: Console) -> int:
    """Print the posterior."""
    release = _release(args, console)
    likelihood = likelihood_of(release)
    # Where only margins are published a posterior can be about one of these.
    domain = likelihood.domain
    prior = parse_prior(args.prior, domain)
    for cell in args.cells:
        if len(cell) != domain.ndim:
            raise InputError(f"{cell} is not a cell of {domain.ndim} numbers")
        domain.flat(cell)
    randomness = None if args.seed is None else Randomness.seeded(args.seed)
    posterior = infer(
        likelihood,
        prior,
        way=args.way,
        randomness=randomness,
        draws=args.draws,
        progress=console,
    )
    asked: list[Index] = args.cells or list(np.ndindex(*domain.shape))
    if console.as_json:
        console.result(_json(posterior, asked), ())
    else:
        console.result({}, _lines(posterior, asked, all_asked=bool(args.cells)))
    return 0


def _json(posterior: Posterior, cells: list[Index]) -> dict[str, object]:
    mean, mode = posterior.mean, posterior.mode
    domain = posterior.domain
    return {
        "way": posterior.way,
        "variables": list(domain.names),
        "reason": posterior.reason,
        "note": posterior.note,
        "complete": posterior.complete,
        "approximate": posterior.approximate,
        "error": posterior.error,
        "effective_sample_size": posterior.effective_sample_size,
        "draws": posterior.draws,
        "r_hat": posterior.r_hat,
        "prior": posterior.prior.label,
        "originals": posterior.originals,
        "mode_is_published": posterior.mode_is_published,
        "cells": [
            {
                "index": list(index),
                "labels": list(domain.labels(index)),
                "published": posterior.published_count(index),
                "mean": float(mean[index]),
                "mode": int(mode[index]),
                "distribution": _distribution(posterior, index),
            }
            for index in cells
        ],
    }


def _published(posterior: Posterior, index: Index) -> str:
    count = posterior.published_count(index)
    return "-" if count is None else str(count)


def _distribution(posterior: Posterior, index: Index) -> dict[str, float]:
    values, chances = posterior.distribution(index)
    return {str(v): p for v, p in zip(values.tolist(), chances.tolist(), strict=True)}


def chances_text(values: Ints, chances: Floats) -> str:
    """A distribution (counts ascending, probabilities) on one line.

    Example: ``4: 0.250  5: 0.750``; of many counts the most probable in ascending order, and
    before them a range that holds nine tenths: ``90 %: 13..87  48: 0.013  49: 0.014  ...``.
    """
    if len(values) <= MOST_COUNTS:
        shown = np.arange(len(values))
    else:
        shown = np.sort(np.argsort(-chances, kind="stable")[:MOST_COUNTS])
        # What would be printed as 0.000 says nothing.
        shown = shown[chances[shown] >= 0.0005]
    told = "  ".join(
        f"{v}: {p:.3f}" for v, p in zip(values[shown].tolist(), chances[shown], strict=True)
    )
    if len(shown) == len(values):
        return told
    below = np.cumsum(chances)
    tail = (1.0 - RANGE) / 2.0
    last = len(values) - 1
    low = values[min(int(np.searchsorted(below, tail, side="right")), last)]
    high = values[min(int(np.searchsorted(below, 1.0 - tail)), last)]
    return "  ".join(filter(None, [f"{100 * RANGE:.0f} %: {low}..{high}", told, "..."]))


def _lines(posterior: Posterior, cells: list[Index], *, all_asked: bool) -> list[str]:
    domain = posterior.domain
    exact = "Exact posterior" if posterior.complete else "Incomplete posterior, computed exactly,"
    if posterior.approximate:
        exact = "Approximate posterior"
    way = (
        exact
        if posterior.way == "exact"
        else f"Monte Carlo posterior (standard error at most {posterior.error:.4f}, effective "
        f"sample size {posterior.effective_sample_size:,.0f})"
    )
    originals = posterior.originals
    possible = "too many originals to count" if originals is None else f"{originals:,} originals"
    estimate = posterior.count_estimate
    if estimate is not None:
        possible = f"about {Decimal(estimate.count):.3g} originals"
    matches = posterior.mode_matches
    lines = [
        f"{way} of a reader who {posterior.prior.label}: {possible} are possible."
        if originals != 1
        else f"{way} of a reader who {posterior.prior.label}: only one original is possible.",
        *(
            [
                f"The published count is the most probable one in {int(matches.sum()):,} of "
                f"{int(posterior.is_published.sum()):,} cells that have one."
            ]
            if posterior.is_published.any()
            else ["No count is published for any of these cells."]
        ),
        *([posterior.note] if posterior.note else []),
        "",
    ]
    shown = cells if all_asked else cells[:SHOWN]
    width = max((len(domain.cell_text(i)) for i in shown), default=4)
    lines.append(f"{'cell':<{width}}  published   mean  true count: probability")
    for index in shown:
        lines.append(
            f"{domain.cell_text(index):<{width}}  {_published(posterior, index):>9}  "
            f"{posterior.mean[index]:>5.2f}  {chances_text(*posterior.distribution(index))}"
        )
    if len(shown) < len(cells):
        lines.append(f"... {len(cells) - len(shown):,} more; take --json or --cells")
    return lines
