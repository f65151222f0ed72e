"""``widths``, ``frontier`` and ``optimal``: which margins of one table may be published together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabprotect.cli.arguments import TableReading, open_source
from tabprotect.cli.declaring import check_measure, command
from tabprotect.cli.output import Console
from tabprotect.engine.errors import InputError
from tabprotect.engine.options import Options, option_field, part, position
from tabprotect.engine.query_space.criterion import RiskCriterion, Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence, TightCell
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.query_space.optimal.best_release import SearchMethod, optimal
from tabprotect.engine.query_space.registered import (
    criteria,
    criterion_named,
    gathered_sums,
    standard,
    utilities,
)
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.refusal_price import RefusalPrice, refusal_price
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import Judged, SmallCount
from tabprotect.engine.ways_to_bound import BoundsWay
from tabprotect.engine.workers.spreading import Workers, workers_field
from tabprotect.languages.messages import joined, message, plural

WORDS = {
    "safe": message("may be released"),
    "bad": message("must not be released"),
    "unknown": message("is not proved wide enough and is refused"),
}


@dataclass(frozen=True, kw_only=True)
class Threshold(Options):
    """When margins may be released."""

    criterion: str | None = option_field(
        None,
        metavar="CRITERION",
        help=message("risk criterion: {criteria} (default: width; of sums p)", joined(criteria(), ", ")),
    )
    beta: int | None = option_field(
        None,
        metavar="N",
        help=message(
            "releasable when the width, or what the criterion gives, is at least N (default: 3; of p 10, "
            "of dominance 20)"
        ),
    )
    bounds: BoundsWay = option_field(
        "auto", help=message("how cells are bounded (default: auto, the cheapest exact way)")
    )


@dataclass(frozen=True, kw_only=True)
class Gathering(Options):
    """Of which table margins are judged, and how its cells are looked at."""

    table: str = position(metavar="TABLE", help=message("a file or example:NAME"))
    reading: TableReading = part(TableReading, but=["cells", "order"])

    measure: str | None = option_field(
        None, metavar="NAME", help=message("the table holds sums of this measure: by who contributes to them")
    )
    at_risk: str = option_field(
        "1..2", metavar="LOW..HIGH", measure="counts", help=message("small counts (default: 1..2)")
    )
    cells: Judged = option_field(
        "at_risk",
        measure="counts",
        help=message(
            "cells that are judged: all, so that answers depend on the asked margins alone (default: at_risk)"
        ),
    )
    workers: Workers = workers_field(measure="counts")


@dataclass(frozen=True, kw_only=True)
class Widths(Gathering):
    """Arguments of ``widths``."""

    criterion: str | None = option_field(
        None,
        metavar="CRITERION",
        measure="magnitudes",
        help=message("of sums: p, dominance or n (default: p)"),
    )


@dataclass(frozen=True, kw_only=True)
class Releasing(Gathering):
    """Arguments of ``frontier``."""

    threshold: Threshold = part(Threshold)
    release: Sequence[str] = option_field(
        (),
        metavar="A,B",
        help=message('a margin to release; give it once for each ("": the grand total)'),
        repeated=True,
    )


@dataclass(frozen=True, kw_only=True)
class Optimal(Gathering):
    """Arguments of ``optimal``."""

    threshold: Threshold = part(Threshold, but=["bounds"])
    # The other searches find releases with closed forms.
    bounds: BoundsWay = option_field(
        "auto",
        needs="method=heuristic",
        help=message("how cells are bounded (default: auto, the cheapest exact way)"),
    )
    method: SearchMethod = option_field("annealing", help=message("(default: annealing)"))
    seed: int | None = option_field(None, needs="method=annealing", help=message("replay the annealing"))
    utility: str = option_field(
        "released_count",
        choices=list(utilities()),
        help=message("what to make large (default: released_count)"),
    )


def gather(asked: Gathering, name: str | None, console: Console) -> Evidence:
    """The table of a command with the figures of all its margins, by a criterion."""
    check_measure(asked, "counts" if asked.measure is None else "magnitudes")
    rule = SmallCount.parse(asked.at_risk)
    project = open_source(asked.table, asked.reading, console).project
    if asked.measure is None:
        criterion_named(name, "counts")
        return Evidence.gather(
            project.counted, rule, cells=asked.cells, workers=asked.workers, progress=console
        )
    return gathered_sums(project.summed(asked.measure), name)


def standard_of(asked: Gathering, threshold: Threshold, bounds: BoundsWay, console: Console) -> Standard:
    """What releases of the table of a command are held to."""
    evidence = gather(asked, threshold.criterion, console)
    return standard(evidence, threshold.beta, threshold.criterion, bounds)


def frontier_json(lattice: Lattice, frontier: Frontier) -> list[list[str]]:
    """A frontier as lists of names."""
    return [list(lattice.names_of(query)) for query in frontier]


def bracketed(lattice: Lattice, queries: Sequence[Query] | Frontier) -> str:
    """Queries for people: ``[A B] [C]``; the grand total is ``[]``."""
    return joined(("[" + joined(lattice.names_of(query), " ") + "]" for query in queries), " ") or "none"


def figure_word(criterion: RiskCriterion) -> str:
    """Say what a criterion's figure is called in a sentence."""
    return criterion.name.replace("_", " ")


def tight_lines(cells: Sequence[TightCell]) -> list[str]:
    """Cells that are too tight, for people of the house."""
    return [
        message("  {text}: {lower:,}..{upper:,}, width {width:,}", c.text, c.lower, c.upper, c.width)
        for c in cells[:10]
    ]


@command("widths", example="tabprotect widths example:czech-autoworkers")
def run_widths(asked: Widths, console: Console) -> None:
    """Print the width of every sub-table, widest first."""
    evidence = gather(asked, asked.criterion, console)
    widths = evidence.widths
    chain = bracketed(evidence.lattice, widths.chain())
    lines = (message("{widths:>12}  {value}", width, text or "(total)") for text, width in widths.by_text())
    console.result(widths.as_json, [*lines, message("most dangerous chain: {chain}", chain)])


@command("frontier", example="tabprotect frontier example:czech-autoworkers --release A,B,C --beta 5")
def run_frontier(asked: Releasing, console: Console) -> None:
    """Judge a release. That it may not happen is a finding, not a failure."""
    if not asked.release:
        raise InputError(
            message("an empty release"),
            hint=message('name at least one margin, as --release A,B (--release "" is the grand total)'),
        )
    found = standard_of(asked, asked.threshold, asked.threshold.bounds, console)
    lattice = found.evidence.lattice
    state = ReleaseSet.begin(
        found, released=[lattice.parse(text) for text in asked.release], progress=console
    )
    judgement = state.judgement
    if judgement.verdict == "bad":
        state.require_some_one_way()
    own, further = _prices(state, console)
    data = {
        "releasable": judgement.verdict == "safe",
        "width": judgement.width,
        "bounds": judgement.bounds,
        "exact": judgement.exact,
        "released_frontier": frontier_json(lattice, state.released),
        "unreleasable_frontier": frontier_json(lattice, state.unreleasable),
        "released": state.released.size,
        "unreleasable": state.refused,
        "undecided": state.undecided,
        "too_tight": judgement.tight,
        "price": own,
        "prices": further,
    }
    lines = [
        _verdict(state),
        *tight_lines(judgement.tight),
        *([] if own is None else [own.sentence]),
        *_reach(state, further),
    ]
    console.result(data, lines)


def _verdict(state: ReleaseSet) -> str:
    """Say what is found of the released margins together."""
    judgement = state.judgement
    found = (
        bracketed(state.evidence.lattice, state.released),
        WORDS[judgement.verdict],
        state.threshold,
        figure_word(state.criterion),
        judgement.width,
        judgement.bounds,
    )
    return (
        message("{lattice} {WORDS} at {beta}: {figure} {width}, bounds {bounds}", *found)
        if judgement.exact
        else message("{lattice} {WORDS} at {beta}: {figure} at most {width}, bounds {bounds}", *found)
    )


def _reach(state: ReleaseSet, prices: Sequence[RefusalPrice | None]) -> Iterator[str]:
    """Both frontiers, and what each of the smallest refusals tells."""
    lattice, released = state.evidence.lattice, state.released.size
    yield plural(released, "{size:,} table released", "{size:,} tables released", released)
    yield message(
        "{refused:,} unreleasable, {undecided:,} of them because nothing is proved; the smallest: {lattice}",
        state.refused,
        state.undecided,
        bracketed(lattice, state.unreleasable),
    )
    for query, price in zip(state.unreleasable, prices, strict=False):
        if price is not None:
            yield message("  {lattice} {sentence}", bracketed(lattice, [query]), price.sentence)


def _prices(state: ReleaseSet, console: Console) -> tuple[RefusalPrice | None, list[RefusalPrice | None]]:
    """Return what the refusal of these margins tells; or that of each of the smallest beyond them."""
    if state.judgement.verdict == "safe":
        return None, [refusal_price(state, query, progress=console) for query in state.unreleasable]
    if state.evidence.measure != "counts":
        return None, []
    total = ReleaseSet.begin(state.standard, progress=console)
    return refusal_price(total, *state.released, progress=console), []


@command("optimal", example="tabprotect optimal example:czech-autoworkers --beta 5 --seed 1")
def run_optimal(asked: Optimal, console: Console) -> None:
    """Search, and print the plan."""
    found = standard_of(asked, asked.threshold, asked.bounds, console)
    plan = optimal(
        found, asked.method, utility=asked.utility, randomness=Randomness.seeded(asked.seed), progress=console
    )
    lattice = found.evidence.lattice
    dimensions = joined(
        (message("{d}: {n}", d, n) for d, n in enumerate(plan.released.by_dimension) if n), ", "
    )
    kind = "decomposable" if plan.decomposable else message("not decomposable")
    lines = [
        plural(
            plan.released.size,
            "{size:,} table at {criterion} {width}, {kind}",
            "{size:,} tables at {criterion} {width}, {kind}",
            plan.released.size,
            figure_word(found.criterion),
            plan.judgement.width,
            kind,
        ),
        message("by dimension: {dimensions}", dimensions),
        message("released frontier: {lattice}", bracketed(lattice, plan.released)),
    ]
    console.result(plan.as_json(), lines)
