"""``widths``, ``frontier`` and ``optimal``: which margins of one table may be published together."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from tabprotect.cli.arguments import add_reading, open_source
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.criterion import RiskCriterion, Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence, TightCell
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.query_space.optimal.best_release import METHODS, optimal
from tabprotect.engine.query_space.registered import criteria, utilities
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.refusal_price import RefusalPrice, refusal_price
from tabprotect.engine.query_space.workers import parse_workers
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import JUDGED, SmallCount
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS
from tabprotect.languages.messages import joined, message, plural

WORDS = {
    "safe": message("may be released"),
    "bad": message("must not be released"),
    "unknown": message("is not proved wide enough and is refused"),
}


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    widths = verbs.add("widths", run_widths)
    widths.add_argument("table", metavar="TABLE", help=message("a file or example:NAME"))
    frontier = verbs.add("frontier", run_frontier)
    frontier.add_argument("table", metavar="TABLE", help=message("a file or example:NAME"))
    frontier.add_argument(
        "--release",
        action="append",
        default=[],
        metavar="A,B",
        help=message('a margin to release; give it once for each ("": the grand total)'),
    )
    add_threshold(frontier)
    best = verbs.add("optimal", run_optimal)
    best.add_argument("table", metavar="TABLE", help=message("a file or example:NAME"))
    best.add_argument(
        "--method", choices=list(METHODS), default="annealing", help=message("(default: annealing)")
    )
    best.add_argument("--seed", type=int, help=message("replay the annealing"))
    best.add_argument(
        "--utility",
        choices=list(utilities()),
        default="released_count",
        help=message("what to make large (default: released_count)"),
    )
    add_threshold(best)
    for parser in (widths, frontier, best):
        add_evidence(parser)
        add_reading(parser)


def add_threshold(parser: argparse.ArgumentParser) -> None:
    """The options that say what may be released."""
    parser.add_argument(
        "--criterion",
        default="width",
        metavar="CRITERION",
        help=message("risk criterion: {criteria} (default: width)", joined(criteria(), ", ")),
    )
    parser.add_argument(
        "--beta",
        type=int,
        default=3,
        metavar="N",
        help=message("releasable when the width, or what the criterion gives, is at least N (default: 3)"),
    )
    parser.add_argument(
        "--bounds",
        choices=list(BOUNDS_WAYS),
        default="auto",
        help=message("how cells are bounded (default: auto, the cheapest exact way)"),
    )


def add_evidence(parser: argparse.ArgumentParser) -> None:
    """The options of every command that looks at all margins of a table."""
    parser.add_argument(
        "--at-risk", default="1..2", metavar="LOW..HIGH", help=message("small counts (default: 1..2)")
    )
    parser.add_argument(
        "--cells",
        choices=list(JUDGED),
        default="at_risk",
        help=message(
            "cells that are judged: all, so that answers depend on the asked margins alone (default: at_risk)"
        ),
    )
    parser.add_argument("--workers", metavar="N", help="processes, or tcp://host:port of a Dask scheduler")


def criterion_of(args: argparse.Namespace) -> RiskCriterion:
    """The criterion that was asked for."""
    return criteria()[args.criterion.replace("-", "_")]


def gather(args: argparse.Namespace, console: Console) -> Evidence:
    """The table of a command with the figures of all its margins."""
    rule = SmallCount.parse(args.at_risk)
    workers = None if args.workers is None else parse_workers(args.workers)
    table = open_source(args, console).project.original
    return Evidence.gather(table, rule, cells=args.cells, workers=workers, progress=console)


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
        message("  {text}: {lower}..{upper}, width {width}", c.text, c.lower, c.upper, c.width)
        for c in cells[:10]
    ]


def run_widths(args: argparse.Namespace, console: Console) -> int:
    """Print the width of every sub-table, widest first."""
    evidence = gather(args, console)
    widths = evidence.widths
    if console.as_json:
        console.result(widths.as_json(), ())
        return 0
    chain = bracketed(evidence.lattice, widths.chain())
    lines = (message("{widths:>12}  {value}", width, text or "(total)") for text, width in widths.by_text())
    console.result({}, [*lines, message("most dangerous chain: {chain}", chain)])
    return 0


def run_frontier(args: argparse.Namespace, console: Console) -> int:
    """Judge a release. That it may not happen is a finding, not a failure."""
    if not args.release:
        raise InputError(
            message("an empty release"),
            hint=message('name at least one margin, as --release A,B (--release "" is the grand total)'),
        )
    criterion = criterion_of(args)
    evidence = gather(args, console)
    lattice = evidence.lattice
    state = ReleaseSet.begin(
        Standard(evidence, criterion, args.beta, args.bounds),
        released=[lattice.parse(text) for text in args.release],
        progress=console,
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
        "too_tight": [cell.as_json() for cell in judgement.tight],
        "price": None if own is None else own.as_json(),
        "prices": [None if told is None else told.as_json() for told in further],
    }
    lines = [
        _verdict(state),
        *tight_lines(judgement.tight),
        *([] if own is None else [own.sentence]),
        *_reach(state, further),
    ]
    console.result(data, lines)
    return 0


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
    total = ReleaseSet.begin(state.standard, progress=console)
    return refusal_price(total, *state.released, progress=console), []


def run_optimal(args: argparse.Namespace, console: Console) -> int:
    """Search, and print the plan."""
    criterion = criterion_of(args)
    evidence = gather(args, console)
    plan = optimal(
        Standard(evidence, criterion, args.beta, args.bounds),
        args.method,
        utility=args.utility,
        randomness=Randomness.seeded(args.seed),
        progress=console,
    )
    lattice = evidence.lattice
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
            figure_word(criterion),
            plan.judgement.width,
            kind,
        ),
        message("by dimension: {dimensions}", dimensions),
        message("released frontier: {lattice}", bracketed(lattice, plan.released)),
    ]
    console.result(plan.as_json(), lines)
    return 0
