"""``infer``: what a reader of releases can believe of the true counts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

from tabprotect.cli.arguments import Contributor, TableReading, keep_apart
from tabprotect.cli.declaring import check_measure, command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.atomic import replacing
from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.counts_among import counts_among
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.belief.which_number import is_question
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.bundle.inferring import Inferring, best_of, inferred
from tabprotect.engine.errors import InfeasibleError, InputError, in_file
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import TEXT, figures_format, format_names
from tabprotect.engine.options import option_field, part, position
from tabprotect.engine.plain_values.encoding import keyed
from tabprotect.engine.posterior.how_found import how_found, how_right
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table
from tabprotect.engine.workers.threads import threads_field
from tabprotect.languages.messages import capital, joined, message, uncapital
from tabprotect.languages.number_formats import large
from tabprotect.languages.translation import translate

SHOWN = 40
"""Cells that are printed for people; ``--json`` and ``--cells`` give all that are asked for."""

MOST_COUNTS = 12
"""Counts of a cell that are printed for people; of more the most probable, and a range."""

RANGE = 0.9
"""Probability that this range holds, at least."""


def cell_list(text: str) -> list[tuple[int, ...]]:
    """``0,1;2,3`` as cell indices; ``all`` as an empty list."""
    if text == "all":
        return []
    try:
        return [tuple(int(i) for i in cell.split(",")) for cell in text.split(";")]
    except ValueError:
        raise ValueError(message("not cells such as 0,1;2,3: {text}", repr(text))) from None


@dataclass(frozen=True, kw_only=True)
class Infer(Inferring):
    """Arguments of ``infer``."""

    releases: Sequence[Path] = position(
        (),
        measure=None,
        metavar="RELEASE.zip",
        help=message("several releases of one table are read together"),
    )
    table: str | None = option_field(
        None, shell="--published", metavar="TABLE", help=message("with --mechanism")
    )
    mechanism: Path | None = option_field(None, metavar="mechanism.json")
    cells: Sequence[tuple[int, ...]] = option_field(
        (), metavar="0,1;2,3", help=message("only these (default all)"), read=cell_list
    )
    format: str | None = option_field(
        None,
        choices=format_names(),
        metavar="NAME",
        help=message("one row for each cell and possible count: csv, parquet, or another that holds figures"),
    )
    out: Path | None = option_field(None, metavar="FILE", help=message("of --format (csv: or printed)"))
    contributor: Contributor = part(Contributor, group=message("releases of magnitudes"))
    reading: TableReading = part(TableReading, but=["cells"], needs="table")
    workers: int | None = threads_field()


def _releases(asked: Infer, console: Console) -> list[Evidence]:
    """The releases, and what each says of the original where that is known."""
    if (not asked.releases) == (asked.table is None and asked.mechanism is None):
        raise UsageError(message("say either RELEASE.zip, or --published and --mechanism"))
    if asked.releases:
        found = [bundle.verify(path, progress=console) for path in asked.releases]
        return [Evidence(one.release, one.likelihood) for one in found]
    if asked.table is None or asked.mechanism is None:
        raise UsageError("--published and --mechanism go together")
    reading = Reading.of(asked.reading.named)
    # Late: a bundle is read without all kinds of table files.
    from tabprotect.engine.bundle.verify import MECHANISM_HINT
    from tabprotect.engine.paths import read_text
    from tabprotect.engine.project.sources import open_table

    # Whether a count can be below 0 is for the mechanism's likelihood to say.
    table = open_table(asked.table, reading, signed=True, progress=console).table
    path = asked.mechanism
    text = read_text(path)
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            message("not valid JSON"), file=path, line=getattr(error, "lineno", None), hint=MECHANISM_HINT
        ) from None
    with in_file(path):
        table = _named(table, stated)
        release = Release.of(table, Mechanism.from_json(stated, table.domain, table))
    return [Evidence(release)]


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


@command("infer", example="tabprotect infer release.zip --prior positive")
def run(asked: Infer, console: Console) -> int:
    """Print the posterior."""
    releases = _releases(asked, console)
    if any(one.release.magnitudes for one in releases):
        counts = [found for one in releases if (found := counts_among(one.release)) is not None]
        if len(counts) < len(releases) or not asked.beside("magnitudes"):
            check_measure(asked, "magnitudes")
            _of_magnitudes(asked, releases, counts, console)
            return 0
        releases = counts
    check_measure(asked, "counts")
    _check_format(asked, console)
    domain = releases[0].likelihood.domain
    for cell in asked.cells:
        if len(cell) != domain.ndim:
            raise InputError(
                message("{cell} is not a cell of {ndim} numbers", cell, domain.ndim),
                hint=message(
                    "the numbers of its categories, counted from 0: --cells {first}",
                    first=",".join("0" * domain.ndim),
                ),
            )
        domain.flat(cell)
    if asked.of is not None and is_question(asked.of):
        best = best_of(releases, asked, bundled=bool(asked.releases), progress=console)
        console.result(best.as_json(), [best.text])
        return 0
    try:
        read, tables = inferred(releases, asked, bundled=bool(asked.releases), progress=console)
    except InfeasibleError as error:
        if len(releases) == 1 or asked.way != "auto" or asked.format:
            raise
        # Nothing is known of what they say together, which is no fault of who asks.
        console.result(_unknown(domain, len(releases), error), [error.sentence])
        return 0
    posterior = read.posterior
    if read.sentence:
        console.say(read.sentence)
    if tables is not None:
        data = read.head() | {"tables": [_sums_json(one) for one in tables]}
        console.result(data, itertools.chain.from_iterable(map(_sums_lines, tables)))
        return 0
    cells = np.array([domain.flat(cell) for cell in asked.cells], dtype=np.int64)
    if not asked.cells:
        cells = np.arange(domain.size)
    if asked.format:
        _write(read, cells, asked, console)
    elif console.as_json:
        console.stream(read.json_pieces(cells))
    else:
        several = [message("{releases} releases of one table, read together.", len(releases))]
        lines = _lines(posterior, cells, all_asked=bool(asked.cells))
        console.result({}, [*several[: len(releases) - 1], *lines])
    return 0


def _of_magnitudes(
    asked: Infer, releases: Sequence[Evidence], counts: Sequence[Evidence], console: Console
) -> None:
    """Print what is believed of contributions, and of counts that are published with them."""
    # Late: releases of counts, which are most, do not wait for it.
    from tabprotect.cli.reader.contributor_beliefs import beliefs_of_contributions

    magnitudes = [one.release for one in releases]
    data, lines = beliefs_of_contributions(asked.contributor, asked.seed, magnitudes)
    if counts and not asked.beside("counts"):
        try:
            read = believe(counts, progress=console)
        except InfeasibleError as error:
            data |= {"counts": _unknown(counts[0].release.domain, len(counts), error)}
            lines += ["", error.sentence]
        else:
            data |= {"counts": json.loads("".join(read.json_pieces()))}
            cells = np.arange(read.posterior.domain.size)
            lines += ["", *_lines(read.posterior, cells, all_asked=False)]
    console.result(data, lines)


def _unknown(domain: Domain, releases: int, why: InfeasibleError) -> dict[str, object]:
    """Return what is known of several releases that cannot be read together, for ``--json``."""
    return {
        "way": None,
        "variables": domain.names,
        "reason": why.sentence,
        "complete": False,
        "error": None,
        "originals": None,
        "releases": releases,
        "cells": None,
    }


def _check_format(asked: Infer, console: Console) -> None:
    if asked.out is None:
        if asked.format and (asked.format != TEXT or console.as_json):
            raise UsageError(message("say where to write it: --out FILE"))
    elif not asked.format:
        raise UsageError("--out goes with --format csv or --format parquet")
    if asked.format:
        if asked.of is not None:
            raise UsageError(message("{options}: goes with the cells, not with --of", "--format"))
        figures_format(asked.format)
    keep_apart([*asked.releases, asked.table, asked.mechanism], [asked.out])


def _write(read: Believed, cells: Ints, asked: Infer, console: Console) -> None:
    from tabprotect.engine.posterior.posterior_file import posterior_figures

    pieces = figures_format(asked.format or TEXT).figures(posterior_figures(read.posterior, cells))
    if asked.out is None:
        console.stream(pieces)
        return
    with replacing(asked.out) as file:
        file.writelines(pieces)
    console.result(
        read.head() | {"out": str(asked.out)}, [*_heading(read.posterior), message("wrote {out}", asked.out)]
    )


def _sums_json(found: Posterior) -> dict[str, object]:
    domain, cells = found.domain, []
    for key in range(domain.size):
        index = domain.unflat(key)
        values, chances = found.distribution(index)
        law = dict(zip(map(str, values.tolist()), chances.tolist(), strict=True))
        cells.append(
            {
                "codes": list(domain.labels(index)),
                "distribution": law,
                "expected": float(found.mean[index]),
                "published": found.published_count(index),
            }
        )
    return keyed(found, "variables=domain.names way reason error") | {"cells": cells}


def _sums_lines(found: Posterior) -> Iterator[str]:
    """One table of sums for people."""
    domain = found.domain
    yield message(
        "{value} ({found})",
        joined(domain.names, ", ") or message("grand total"),
        uncapital(how_found(found).heading),
    )
    shown = [domain.unflat(key) for key in range(min(domain.size, SHOWN))]
    width = max((len(domain.cell_text(index)) for index in shown), default=0)
    for index in shown:
        law = chances_text(*found.distribution(index))
        yield message(
            "  {index:<{width}}  {mean:>9.2f}  {law}",
            index=domain.cell_text(index),
            width=width,
            mean=found.mean[index],
            law=law,
        )
    if domain.size > SHOWN:
        yield message("  ... {size:,} more; take --json", domain.size - SHOWN)
    yield ""


def _published(posterior: Posterior, index: Index) -> str:
    count = posterior.published_count(index)
    return "-" if count is None else str(count)


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
    text = joined(
        (message("{v}: {p:.3f}", v, p) for v, p in zip(values[shown].tolist(), chances[shown], strict=True)),
        "  ",
    )
    if len(shown) == len(values):
        return text
    below = np.cumsum(chances)
    tail = (1.0 - RANGE) / 2.0
    last = len(values) - 1
    low = values[min(int(np.searchsorted(below, tail, side="right")), last)]
    high = values[min(int(np.searchsorted(below, 1.0 - tail)), last)]
    return joined(
        filter(None, [message("{value:.0f} %: {low}..{high}", 100 * RANGE, low, high), text, "..."]), "  "
    )


def _lines(posterior: Posterior, cells: Ints, *, all_asked: bool) -> list[str]:
    domain = posterior.domain
    lines = [*_heading(posterior), ""]
    shown = [domain.unflat(key) for key in (cells if all_asked else cells[:SHOWN]).tolist()]
    width = max((len(domain.cell_text(i)) for i in shown), default=4)
    heads = translate(message("cell")), translate(message("published")), translate(message("mean"))
    widths = max(width, len(heads[0])), max(9, len(heads[1])), max(5, len(heads[2]))
    head = "  ".join(f"{name:{side}{wide}}" for name, side, wide in zip(heads, "<>>", widths, strict=True))
    lines.append(message("{head}  true count: probability", head))
    for index in shown:
        lines.append(
            message(
                "{index:<{width}}  {posterior:>{wide}}  {mean:>{narrow}.2f}  {value}",
                index=domain.cell_text(index),
                width=widths[0],
                wide=widths[1],
                narrow=widths[2],
                posterior=_published(posterior, index),
                mean=posterior.mean[index],
                value=chances_text(*posterior.distribution(index)),
            )
        )
    if (weakened := posterior.weakened) is not None:
        lines[-len(shown) :] = [
            message("{line}  (without bias {unbiased:.2f})", line, weakened.unbiased[domain.flat(index)])
            for line, index in zip(lines[-len(shown) :], shown, strict=True)
        ]
    if len(shown) < len(cells):
        lines.append(message("... {cells:,} more; take --json, --format or --cells", len(cells) - len(shown)))
    return lines


def _heading(posterior: Posterior) -> list[str]:
    label = posterior.prior.label
    lines = [
        message("What a reader who {label} would believe: only one original is possible.", label)
        if posterior.originals == 1
        else message(
            "What a reader who {label} would believe: {possible} are possible.", label, _possible(posterior)
        ),
        how_found(posterior).text,
    ]
    if posterior.weakened is not None:
        left = posterior.weakened.left
        lines.append(
            message(
                "Association is weakened in what is published: {low:.2f} to {high:.2f} of it are left. Estimates "
                "without bias make up for that, and scatter more.",
                left.min(),
                left.max(),
            )
        )
    if posterior.way == "monte_carlo" and not posterior.independent:
        lines.append(capital(posterior.reason) + ".")
    lines.append(
        message(
            "The published count is the most probable one in {sum:,} of {sum2:,} cells that have one.",
            int(posterior.mode_matches.sum()),
            int(posterior.is_published.sum()),
        )
        if posterior.is_published.any()
        else message("No count is published for any of these cells.")
    )
    return [*lines, *filter(None, (how_right(posterior), posterior.note))]


def _possible(posterior: Posterior) -> str:
    """Say how many originals are possible, in words."""
    if (estimate := posterior.count_estimate) is not None:
        return message("about {count:.3g} originals", Decimal(estimate.count))
    if posterior.originals is None:
        return message("too many originals to count")
    return message("{originals} originals", large(posterior.originals, ","))
