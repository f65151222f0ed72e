"""Model that a bundle's page computes with: the likelihood as arrays, or a posterior that was computed.

The page is exact where each original is reached by moves that overlap little, or by sums that leave few
states: within about a second in a browser; and where few originals were listed, each weighed by the whole
mechanism. Elsewhere it holds the posterior of a reader who assumes nothing, in millionths, if the table is
small enough for that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.factors.cell_laws import cell_laws
from tabprotect.engine.posterior.factors.components import split_components
from tabprotect.engine.posterior.factors.residual_sums import ResidualSums
from tabprotect.engine.posterior.infer import knowing_zeros
from tabprotect.engine.posterior.moves.backward_factors import StepStructure, step_structures
from tabprotect.engine.posterior.moves.elimination import elimination_plan
from tabprotect.engine.posterior.moves.signature_model import GroupModel, group_model
from tabprotect.engine.posterior.moves.strips import StripPlan
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.likelihood import (
    UNBOUNDED,
    CellFactors,
    ExchangeSteps,
    Likelihood,
    MoveSequence,
)
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import joined, message

Model = Mapping[str, object]

MOST_SHOWN = 250_000
"""Most cells of all published tables that a page shows."""

MOST_ENTRIES = 500_000
"""Most entries of cycles, or of sums, that a page carries."""

MOST_HELD = 300_000
"""Most entries of the tables of one component that a browser eliminates within a second."""

MOST_STEPS = 200_000
"""Most transitions between the states of one component."""

TRAIN_CELLS = 1_600
"""Most cells of a strip as high as its table whose posterior a browser computes within some seconds."""

PLANNED = 2_000
"""Most steps of one component for which an order of elimination is sought."""

MOST_RUNS, FEWEST_RUNS, EXCHANGES = 4_000, 500, 4_000_000
"""How often a browser runs exchange steps again, and most steps of all runs: a second or two."""

LISTED_ENTRIES = 40_000
"""Most counts of listed originals, or of drawn ones, that a page carries."""

KEPT_ENTRIES = 200_000
"""Most chances of it."""

FEWEST_DRAWS, MOST_DRAWS = 100, 2_000
"""Originals that are drawn for the sums of a page; one where fewer fit has none."""

MILLION = 1_000_000

MOST_HIDDEN = 400
"""Most hidden magnitudes whose ranges are worked out: each takes two programmes."""

TOO_MANY = message("More sums are hidden than this page holds ranges for; the program computes them.")

BROKEN = message("This release does not say enough for the probabilities of its counts.")

TOO_LARGE = message(
    "The table is too large for this page to hold the probabilities of its counts; the program computes them."
)


def model_of(release: Release, likelihood: Likelihood | None) -> Model | None:
    """The exact model of a release; ``None`` where the page holds what was computed, if anything.

    It depends on sizes alone, and computes no posterior.
    """
    if release.magnitudes:
        return magnitude_model(release)
    gate = release.mechanism.gate
    if likelihood is None or (gate is not None and gate.refused):
        return None
    if sum(one.table.domain.size for one in release.tables) > MOST_SHOWN:
        return None
    if isinstance(likelihood, MoveSequence):
        return _moves(release, likelihood)
    if isinstance(likelihood, ExchangeSteps):
        return _exchanges(release, likelihood)
    return _factors(likelihood) if isinstance(likelihood, CellFactors) else None


def computed_model(release: Release, likelihood: Likelihood | None, progress: Progress = SILENT) -> Model:
    """The originals, if they are few; else the posterior of a reader who assumes nothing, in millionths."""
    # Late: a page that holds the likelihood needs no posterior.
    from tabprotect.engine.belief.believing import believe
    from tabprotect.engine.belief.effort import VERDICT
    from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence, OfRelease
    from tabprotect.engine.disclosure.cell_beliefs import KEPT_CELLS, believed_alone
    from tabprotect.engine.disclosure.counts_verdict import weigh_refused

    if likelihood is None or release.domain.size > KEPT_CELLS:
        return {"way": "none", "why": TOO_LARGE}
    evidence = Evidence(release, likelihood)
    try:
        if likelihood.domain != release.domain:
            # The cells of the main table, where inner cells are not published.
            mine = OfRelease(release)
            found = believe(
                [evidence], knowing=RELEASE_ALONE, effort=VERDICT, randomness=mine, progress=progress
            ).posterior
        else:
            found = believed_alone(evidence, progress)
        gate = release.mechanism.gate
        if gate is not None and gate.refused:
            chance = OfRelease(release, "refused draws")
            found = weigh_refused(found, gate.refused, chance, progress) or found
    except InfeasibleError as error:
        return {"way": "none", "why": joined([BROKEN, " ", error.message])}
    listed = _listed(found, likelihood)
    if listed is not None:
        return listed
    kept = _kept(found, likelihood)
    # What leaves published totals out would tell less of them than the program does.
    whole = set(found.left_out) <= {"attempts", "pattern_choice"}
    return kept | _drawn(found, release, progress) if whole and kept["way"] == "kept" else kept


def _drawn(found: Posterior, release: Release, progress: Progress) -> dict[str, object]:
    """Some originals, as drawn: the counts of the first one, and of the cells where any differs."""
    unsure = ((found.chances > 0).sum(axis=1) > 1)[found.group_of_cell]
    number = min(LISTED_ENTRIES // max(int(unsure.sum()), 1), MOST_DRAWS)
    if number < FEWEST_DRAWS:
        return {}
    from tabprotect.engine.belief.evidence import OfRelease
    from tabprotect.engine.belief.which_number import drawn_originals

    drawn = drawn_originals(found, number, OfRelease(release, "sums of the page"), progress)
    tables = drawn.tables
    open_ = np.flatnonzero((tables != tables[:1]).any(axis=0))
    return {
        "draws": {
            "worth": drawn.least_worth(release.domain),
            "base": tables[0].tolist(),
            "open": open_.tolist(),
            "tables": tables[:, open_].tolist(),
        }
    }


def _listed(found: Posterior, likelihood: Likelihood) -> Model | None:
    """Every original with the log of its share under an even prior; ``None`` where they are too many."""
    if found.way != "exact" or found.left_out or found.domain != likelihood.domain:
        return None
    number = found.originals
    if number is None or number > LISTED_ENTRIES or (listing := found.list_originals()) is None:
        return None
    tables, shares = listing
    open_ = np.flatnonzero((tables != tables[:1]).any(axis=0))
    if len(tables) * max(len(open_), 1) > LISTED_ENTRIES:
        return None
    order = np.lexsort(tables.T[::-1])
    return {
        "way": "listed",
        "base": tables[0].tolist(),
        "open": open_.tolist(),
        "tables": tables[order][:, open_].tolist(),
        "logs": np.log(shares[order]).tolist(),
    }


def _kept(found: Posterior, likelihood: Likelihood) -> dict[str, object]:
    if found.domain != likelihood.domain:
        return {"way": "none", "why": BROKEN}
    millionths = np.rint(found.chances * MILLION).astype(np.int64)
    rows, row_of = np.unique(millionths, axis=0, return_inverse=True)
    lengths = [int(np.flatnonzero(row)[-1]) + 1 if row.any() else 0 for row in rows]
    if sum(lengths) > KEPT_ENTRIES:
        return {"way": "none", "why": TOO_LARGE}
    return {
        "way": "kept",
        "drawn": found.way != "exact",
        "error": None if found.error is None else round(found.error, 6),
        "first": found.first.tolist(),
        "row": row_of.reshape(-1)[found.group_of_cell].tolist(),
        "rows": [row[:n].tolist() for row, n in zip(rows, lengths, strict=True)],
    }


def _moves(release: Release, likelihood: MoveSequence) -> Model | None:
    moves, passes = likelihood.moves, likelihood.passes
    if len(moves.cells) > MOST_ENTRIES or likelihood.published != release.table:
        return None
    high = _high_strips(moves) > MOST_HELD
    if high and likelihood.domain.size > TRAIN_CELLS:
        return None
    model = group_model(likelihood, knowing_zeros(Uniform(), likelihood.domain))
    coins = {
        "alpha": likelihood.alpha,
        "beta": likelihood.beta,
        "gamma": likelihood.gamma,
        "passes": passes,
        "rule": likelihood.rule,
        "theta": likelihood.theta,
    }
    for structure in step_structures(model):
        plan = None
        if not high and structure.cycles * passes <= PLANNED:
            plan = elimination_plan(structure, passes, 3)
        if plan is None or plan.held > MOST_HELD:
            return _strip(model, structure, coins)
    return {
        "way": "moves",
        **coins,
        "cycles": {
            "starts": moves.starts.tolist(),
            "cells": moves.cells.tolist(),
            "signs": moves.signs.tolist(),
        },
    }


def _strip(model: GroupModel, structure: StepStructure, coins: Model) -> Model | None:
    """One strip of all cells, column by column; ``None`` where the cycles are something else."""
    group_of_cell = model.signatures.group_of_cell
    size = len(group_of_cell)
    plan = StripPlan.of(structure, model) if model.worth is None and size <= TRAIN_CELLS else None
    if plan is None or plan.rows < 3 or plan.columns * plan.rows != size:
        return None
    cell = np.empty(size, dtype=np.int64)
    cell[group_of_cell] = np.arange(size)
    cells = cell[structure.members[plan.cells, 0]]
    return {
        "way": "strip",
        **coins,
        "columns": plan.columns,
        "rows": plan.rows,
        "cells": cells.reshape(-1).tolist(),
    }


def _exchanges(release: Release, likelihood: ExchangeSteps) -> Model | None:
    """The steps, which a browser runs again; ``None`` where the fewest draws take it too long."""
    plan, counts = likelihood.plan, likelihood.published.counts.reshape(-1)
    steps = int(plan.steps(counts).sum())
    draws = min(MOST_RUNS, EXCHANGES // max(steps, 1))
    if likelihood.published != release.table or draws < FEWEST_RUNS:
        return None
    strata, rows, columns = plan.shape
    return {
        "way": "exchange",
        "drawn": True,
        "error": round(0.5 / math.sqrt(draws), 6),
        "strata": strata,
        "rows": rows,
        "columns": columns,
        "rate": plan.rate,
        "theta": plan.theta,
        "draws": draws,
        "cells": plan.cell.tolist(),
        "nobody": [] if plan.nobody is None else np.flatnonzero(plan.nobody).tolist(),
    }


def _high_strips(moves: MoveSet) -> int:
    """A bound from below for the entries of one strip of swaps, which needs no plan; 0 for others.

    Of h rows with n columns each: a swap is joined to h or so that come later, at all but the rim.
    """
    design = moves.design
    if design is None or design.kind != "strips" or moves.domain.ndim != 2:
        return 0
    short, long = sorted(moves.domain.shape)
    # Of each column of cells every row has a swap, but one of each strip.
    number = short - len(moves) // (long - 1)
    rows = -(-short // max(number, 1))
    return (rows - 1) * (long - 1) * int(3 ** max(rows - 2, 0))


def _factors(likelihood: CellFactors) -> Model | None:
    apart = "joint_noise" in likelihood.left_out
    if likelihood.rerun is not None or apart or len(likelihood.cells) > MOST_ENTRIES:
        return None
    several = bool((np.diff(likelihood.starts) > 1).any())
    order = _order(likelihood) if several else []
    if order is None:
        return None
    each = np.array_equal(likelihood.cells, np.arange(likelihood.domain.size)) and not several
    known: dict[bytes, int] = {}
    runs: list[list[float | None]] = []
    run_of_kind = []
    for a, b in zip(likelihood.log_starts[:-1], likelihood.log_starts[1:], strict=True):
        run = likelihood.logs[a:b]
        if not len(run):
            run_of_kind.append(-1)
            continue
        if run.tobytes() not in known:
            known[run.tobytes()] = len(runs)
            runs.append(_finite(run))
        run_of_kind.append(known[run.tobytes()])
    sums = (
        {}
        if each and likelihood.factors == likelihood.domain.size
        else {"starts": likelihood.starts.tolist(), "cells": likelihood.cells.tolist()}
    )
    return {
        "way": "factors",
        **sums,
        "kind": likelihood.kind.tolist(),
        "low": likelihood.low.tolist(),
        "high": [None if high >= UNBOUNDED else high for high in likelihood.high.tolist()],
        "run": run_of_kind,
        "runs": runs,
        "order": order,
    }


def _finite(run: Floats) -> list[float | None]:
    return [None if log == -np.inf else log for log in run.tolist()]


def _order(likelihood: CellFactors) -> list[int] | None:
    """The joined cells in an order that leaves few states; ``None`` where there are too many."""
    prior = knowing_zeros(Uniform(), likelihood.domain)
    try:
        parts = split_components(cell_laws(likelihood, prior)).components
    except InfeasibleError:
        return None
    ordered: list[Ints] = []
    for part in parts:
        walked = ResidualSums.of(part, most=MOST_STEPS)
        if walked is None:
            return None
        ordered.append(part.cells[walked.order])
    return [int(cell) for cells in ordered for cell in cells]


def magnitude_model(release: Release) -> Model:
    """The range of every magnitude that is not published as it is, in units."""
    table, method = release.magnitude_table, methods("magnitudes")[release.mechanism.method]
    cells = math.prod(table.shape)
    if cells > MOST_SHOWN or int(table.hidden.sum()) > MOST_HIDDEN:
        return {"way": "none", "why": TOO_MANY}
    at, ranges = method.ranges(release)
    # Ranges are mostly whole units: what solvers add in the last digits is taken away.
    near = np.rint(ranges)
    ranges = np.where(np.isclose(ranges, near, rtol=0, atol=1e-6), near, ranges)
    different, which = np.unique(ranges, axis=0, return_inverse=True)
    places = np.full(cells, len(different), dtype=np.int64)
    places[table.key[at]] = which.reshape(-1)
    return {
        "way": "sums",
        "noise": method.is_random(release.mechanism.values),
        "ranges": [
            [float(low), float(high) if np.isfinite(high) else None]
            for low, high in [*different.tolist(), (0.0, 0.0)]
        ],
        "range": places.tolist(),
    }
