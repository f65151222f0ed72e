"""``draw``: whole originals drawn from the posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.atomic import replacing
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import PriorKnowledge
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.bundle.informed_prior import informed
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.registered import by_suffix, figures_format, format_names
from tabprotect.engine.options import Options, option_field, position
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.posterior_file import drawn_figures
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

DRAWS = 1000


@dataclass(frozen=True, kw_only=True)
class Reader(Options):
    """Whose releases are drawn from, and how."""

    releases: Sequence[Path] = position(metavar="RELEASE.zip", help=message("several are read together"))
    prior: str | None = option_field(None, metavar="PRIOR", help=message("as of infer"))
    seed: int | None = option_field(None, metavar="N", help=message("of the draws"))


@dataclass(frozen=True, kw_only=True)
class Draw(Reader):
    """Arguments of ``draw``."""

    number: int = option_field(DRAWS, metavar="N", low=1)
    format: str | None = option_field(
        None,
        choices=format_names(),
        metavar="NAME",
        help=message("csv, parquet, or another that holds figures; by default that of the name"),
    )
    out: Path = option_field(metavar="FILE")


def releases_of(asked: Reader, console: Console) -> list[Release]:
    """The releases, checked."""
    found = [bundle.verify(path, progress=console).release for path in asked.releases]
    if any(one.magnitudes for one in found):
        raise InputError(
            message("whole originals are drawn of counts, and this is a release of magnitudes"),
            hint=message("infer says what can be believed of every contribution"),
        )
    return found


def posterior_of(found: list[Release], asked: Reader, console: Console) -> tuple[Posterior, Randomness]:
    """Return what is believed given releases, and the chance that the draws come from."""
    chance = Randomness.fresh() if asked.seed is None else Randomness.seeded(asked.seed)
    knowing = PriorKnowledge(weigh_refused=weigh_refused)
    prior = informed(asked.prior or "uniform", found, console)
    read = believe(found, prior, knowing=knowing, randomness=chance, progress=console)
    return read.posterior, chance


@command("draw", example="tabprotect draw release.zip --number 1000 --out originals.parquet")
def run_draw(asked: Draw, console: Console) -> None:
    """Write drawn originals in long form."""
    keep_apart(asked.releases, [asked.out])
    said = by_suffix(asked.out)
    if asked.format is None and (said is None or not said.holds_figures):
        raise UsageError(message("say --format csv or --format parquet"))
    kind = said if asked.format is None else figures_format(asked.format)
    assert kind is not None
    posterior, chance = posterior_of(releases_of(asked, console), asked, console)
    tables = posterior.draw_originals(asked.number, chance.generator(), console)
    with replacing(asked.out) as file:
        file.writelines(kind.figures(drawn_figures(posterior.domain, tables)))
    data = {
        "out": str(asked.out),
        "draws": asked.number,
        "cells": posterior.domain.size,
        "independent": posterior.way == "exact" or posterior.independent,
    }
    console.result(data, [message("{out}: {number:,} possible originals", asked.out, asked.number)])
