"""``draw``: whole originals drawn from the posterior."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabprotect.cli.arguments import keep_apart, positive
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.atomic import replacing
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import PriorKnowledge
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.bundle.informed_prior import informed
from tabprotect.engine.disclosure.verdict import weigh_refused
from tabprotect.engine.formats.registered import by_suffix, figures_format, format_names
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.posterior_file import drawn_figures
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

DRAWS = 1000


def add(verbs: Verbs) -> None:
    """Declare the command."""
    take = verbs.add("draw", run_draw)
    add_reader(take)
    take.add_argument("--number", type=positive, default=DRAWS, metavar="N")
    take.add_argument(
        "--format",
        choices=format_names(),
        metavar="NAME",
        help=message("csv, parquet, or another that holds figures; by default that of the name"),
    )
    take.add_argument("--out", type=Path, required=True, metavar="FILE")


def add_reader(command: argparse.ArgumentParser) -> None:
    """The options of whoever draws from releases."""
    command.add_argument(
        "releases", type=Path, nargs="+", metavar="RELEASE.zip", help=message("several are read together")
    )
    command.add_argument("--prior", metavar="PRIOR", help=message("as of infer"))
    command.add_argument("--seed", type=int, metavar="N", help=message("of the draws"))


def releases_of(args: argparse.Namespace, console: Console) -> list[Release]:
    """The releases, checked."""
    return [bundle.verify(path, judge=False, progress=console).release for path in args.releases]


def posterior_of(
    found: list[Release], args: argparse.Namespace, console: Console
) -> tuple[Posterior, Randomness]:
    """Return what is believed given releases, and the chance that the draws come from."""
    chance = Randomness.fresh() if args.seed is None else Randomness.seeded(args.seed)
    knowing = PriorKnowledge(weigh_refused=weigh_refused)
    prior = informed(args.prior or "uniform", found, console)
    read = believe(found, prior, knowing=knowing, randomness=chance, progress=console)
    return read.posterior, chance


def run_draw(args: argparse.Namespace, console: Console) -> int:
    """Write drawn originals in long form."""
    keep_apart(args.releases, [args.out])
    said = by_suffix(args.out)
    if args.format is None and (said is None or not said.holds_figures):
        raise UsageError(message("say --format csv or --format parquet"))
    kind = said if args.format is None else figures_format(args.format)
    assert kind is not None
    posterior, chance = posterior_of(releases_of(args, console), args, console)
    tables = posterior.draw_originals(args.number, chance.generator(), console)
    with replacing(args.out) as file:
        file.writelines(kind.figures(drawn_figures(posterior.domain, tables)))
    data = {
        "out": str(args.out),
        "draws": args.number,
        "cells": posterior.domain.size,
        "independent": posterior.way == "exact" or posterior.independent,
    }
    console.result(data, [message("{out}: {number:,} possible originals", args.out, args.number)])
    return 0
