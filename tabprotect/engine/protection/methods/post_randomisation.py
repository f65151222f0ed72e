"""Post-randomisation (PRAM): every record changes its categories at random, by a public matrix.

Each record behind the table kept or changed its category of every variable at random, by the
chances in the public matrices (rows are true categories, columns published ones), independently
of the other variables and of all other records. The grand total is exact. No single record behind
a count need truly be there. Because the matrices are public, the expected true counts can be
estimated without bias (published counts times the inverse matrices), and the probability of every
possible original can be computed.

Example. 8 women and 2 men, who keep their sex with chance 0.9: one of 8 women becomes a man with
chance 8 x 0.1 x 0.9^7 = 0.38. Suppose 7 and 3 are published. The inverse matrix has 1.125 on the
diagonal and -0.125 beside it: the estimate is 7 x 1.125 - 3 x 0.125 = 7.5 women and 2.5 men.

The matrices follow from the chance to keep a category. Changes go to the other categories alike
(uniform), or the category is drawn anew from the shares of the categories in the table
(proportional), rounded to whole percentages because the matrix discloses them; the expected
shares then stay as they are, but for that rounding. Matrices of one's own may be given.

Structural zeros are not spared: a record that changes may be published where nobody can be, and
whoever sees it there knows that it has changed. Readers hold the true count there for 0.

The probability of a release is exact where the cells that records can move between are few and
small, and every original is weighed by it. Else originals are drawn whole: given where the records
are, the chances of the cells are drawn; given these, every published record goes back to where it may
have come from. That leaves the posterior of a reader who assumes nothing as it is, at every size. For
other readers an unbiased estimate weighs drawn originals, by particles that fill one published cell
after the other.

Sources: Gouweleeuw, Kooiman, Willenborg and de Wolf 1998; the table as a misclassified one:
Duncan and Roehrig 2006; data augmentation: Tanner and Wong 1987.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.resampling import transitions
from tabprotect.engine.protection.resampling.category_chances import (
    checked_matrix,
    read_chances,
    read_matrices,
)
from tabprotect.engine.protection.resampling.record_walk import RecordWalk
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_WEIGHTS = 2_000_000
"""Possible counts, over all cells, up to which each is weighed on its own."""

TRANSITIONS_STEPS = 2_000_000
"""Array elements that the exact probability of one block may touch."""

TRANSITIONS_CELLS = 400
"""Cells of a block whose probability is estimated."""


MOST_LISTED = 64
"""Cells of a block whose originals are counted."""

LISTING_WORK = 2e6
"""Nominal microseconds of weighing all originals, up to which that is done."""

TRANSITION = "transition"
"""Disclosed by the run: the matrix of every variable."""


FLAT = 20.0
"""Log weight that a count far from its estimate loses at most."""


PSTAY: Parameter[str] = Parameter(
    "pstay",
    message("Chance to keep a category"),
    message(
        "One number for all variables, or sex=0.9, age=0.7; a variable that is not named then stays as it is."
    ),
    "chances",
    "0.8",
    unit=message("probability"),
)

SPREAD: Parameter[Literal["uniform", "proportional"]] = Parameter(
    "spread",
    message("Where changes go"),
    message("Which category a record gets that does not keep its own."),
    "choice",
    "uniform",
    choices={
        "uniform": message("A changed category is any other one, with equal chances."),
        "proportional": message(
            "A category is drawn anew from the shares of the categories, in whole percent."
        ),
    },
)

MATRICES: Parameter[str | None] = Parameter(
    "matrices",
    message("Matrices"),
    message(
        "Matrices of your own: sex=[[0.9, 0.1], [0.2, 0.8]]; age=... . Each row is a true "
        "category and adds up to 1."
    ),
    "matrices",
    "",
)


class PostRandomisation(Method):
    """Post-randomisation of the categories: registered as ``post_randomisation``."""

    name = "post_randomisation"
    label = message("Post-randomisation of the categories")
    trial_work = 60.0
    judged_up_to = 10_000
    ladder = tuple({"pstay": f"{stay / 100:g}"} for stay in range(95, 25, -5))
    parameters = (PSTAY, SPREAD, MATRICES)
    guarantees = promises("total_kept", "non_negative", "additive", "complete", "posterior")

    calibrations = (
        CalibrationPlan({"pstay": "0.6"}, (1.0, 2.2, 0.7)),
        CalibrationPlan({"pstay": "0.8"}, (1.5, 2.2, 0.7), runs=260),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """The chances and matrices checked; what a mechanism states of them is let through.

        Every wrong field is named at once. A number for ``pstay`` counts as text.
        """
        chosen = {k: v for k, v in given.items() if k != TRANSITION}
        if type(chosen.get("pstay")) in (int, float):
            chosen["pstay"] = f"{chosen['pstay']}"
        values, wrong, _ = self._resolved(chosen)
        for name, read in (("pstay", read_chances), ("matrices", read_matrices)):
            if name not in wrong:
                try:
                    read(domain, str(values[name] or ""))
                except ValueError as error:
                    wrong[name] = str(error)
        if wrong:
            raise ParameterError(wrong)
        return values

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Move every record."""
        table = problem.table
        progress.report(message("moving the records"), 0.0)
        matrices = _transition(table, values)
        out = transitions.applied(table.counts, list(matrices.values()), generator)
        published = Table.dense(table.domain, out)
        return Draft(
            (PublishedTable(published),),
            disclosed={TRANSITION: {name: m.tolist() for name, m in matrices.items()}},
            findings={
                "records_expected_to_stay": _staying(table, matrices),
                # How much the noise grows when a reader inverts the matrix; None when that fails.
                "condition": {name: _condition(m) for name, m in matrices.items()},
            },
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Totals between which no record moves, and the probability of the whole."""
        domain, stated = release.domain, release.mechanism.parameters
        values = self.resolve(domain, stated)
        published = release.table
        if published.domain != domain or release.tables[0].suppressed is not None:
            raise InputError(message("post-randomisation publishes every inner cell"))
        if published.has_negative:
            raise InputError(message("a published count is negative, which no record can make it"))
        matrices = _stated(domain, stated)
        out = published.counts.reshape(-1)
        blocks = transitions.blocks(domain, matrices)
        totals, kind = np.unique([out[cells].sum() for cells in blocks], return_inverse=True)
        kinds: list[tuple[int, int, Floats | None]] = [(int(n), int(n), None) for n in totals]
        starts = [0, *np.cumsum([len(cells) for cells in blocks]).tolist()]
        shapes = _shapes(out, blocks, matrices, domain)
        loose = np.array(sorted(shapes), dtype=np.int64)
        factors = CellFactors.of(
            domain,
            release.tables,
            (
                np.array([*starts, *(starts[-1] + 1 + np.arange(len(loose)))], dtype=np.int64),
                np.concatenate([*blocks, loose]),
            ),
            np.concatenate([kind.reshape(-1), len(kinds) + np.arange(len(loose))]),
            [*kinds, *((0, len(shapes[c]) - 1, shapes[c]) for c in loose.tolist())],
        )
        return replace(
            factors,
            rerun=_rerun((domain, out), blocks, matrices, shapes, values),
            note=message(
                "The exact law of the counts is too much to work out: a normal one around the "
                "unbiased estimate of each is taken instead."
            ),
            approximate=True,
            left_out=("simulation",),
        )


def _shapes(
    out: Ints, blocks: Sequence[Ints], matrices: Mapping[str, Floats], domain: Domain
) -> dict[int, Floats]:
    """Log weights of each cell's counts from 0 up: what is left out where nothing else is used.

    A normal law around the unbiased estimate with its variance, flat far out; empty where there
    is no estimate or the counts are too many. What is beyond it is for the rerun.
    """
    if any(_condition(matrix) is None for matrix in matrices.values()):
        return {}
    inverses: list[Floats] = [np.asarray(np.linalg.inv(matrix)) for matrix in matrices.values()]
    estimate = _along(out.reshape(domain.shape).astype(np.float64), inverses)
    held = np.maximum(estimate, 0.0)
    noise = _along(held, list(matrices.values())) - _along(
        held, [matrix * matrix for matrix in matrices.values()]
    )
    spread = _along(np.maximum(noise, 0.0), [inverse * inverse for inverse in inverses])
    centre, width = estimate.reshape(-1), np.maximum(spread.reshape(-1), 0.5)
    if sum(len(c) * (int(out[c].sum()) + 1) for c in blocks if len(c) > 1) > MOST_WEIGHTS:
        return {}
    found = {}
    for cells in blocks:
        if len(cells) > 1:
            counts = np.arange(int(out[cells].sum()) + 1)
            for cell in cells.tolist():
                far = (counts - centre[cell]) ** 2 / (2.0 * width[cell])
                found[cell] = -np.minimum(far, FLAT)
    return found


def _along(array: Floats, matrices: Sequence[Floats]) -> Floats:
    """Each axis multiplied by its matrix, from the left: rows are what goes in."""
    for axis, matrix in enumerate(matrices):
        array = np.moveaxis(np.moveaxis(array, axis, -1) @ matrix, -1, axis)
    return array


def _transition(table: Table, values: Values) -> dict[str, Floats]:
    """The matrix of every variable, in order; with ``proportional`` it depends on the table."""
    domain = table.domain
    own = read_matrices(domain, values[MATRICES] or "")
    out = {}
    for name, chance in read_chances(domain, values[PSTAY]).items():
        size = len(domain[name].categories)
        if name in own:
            out[name] = own[name]
        elif values[SPREAD] == "proportional":
            to = transitions.shares(table.margin([name]).counts) / 100.0
            out[name] = chance * np.eye(size) + (1.0 - chance) * to
        elif size == 1:
            out[name] = np.eye(1)
        else:
            other = (1.0 - chance) / (size - 1)
            out[name] = np.where(np.eye(size, dtype=np.bool_), chance, other)
    return out


def _stated(domain: Domain, parameters: Mapping[str, object]) -> dict[str, Floats]:
    stated = parameters.get(TRANSITION)
    if not isinstance(stated, Mapping) or set(stated) != set(domain.names):
        raise InputError(
            message('the mechanism does not state "{TRANSITION}" for every variable', TRANSITION)
        )
    try:
        return {name: checked_matrix(domain, name, stated[name]) for name in domain.names}
    except ValueError as error:
        raise InputError(str(error)) from None


def _staying(table: Table, matrices: Mapping[str, Floats]) -> float:
    """Expected share of the records that keep all their categories."""
    expected = table.counts.astype(np.float64)
    for matrix in reversed(list(matrices.values())):
        expected = expected @ np.diag(matrix)
    return float(expected) / table.total if table.total else 1.0


def _condition(matrix: Floats) -> float | None:
    found = float(np.linalg.cond(matrix))
    return found if found < 1e12 else None


def _rerun(
    published: tuple[Domain, Ints],
    blocks: Sequence[Ints],
    matrices: Mapping[str, Floats],
    shapes: Mapping[int, Floats],
    values: Values,
) -> Rerun | None:
    """The whole probability over the shapes, which the factors hold."""
    domain, out = published
    parts = [cells for cells in blocks if len(cells) > 1]
    own = frozenset(matrices)
    if values[SPREAD] == "proportional":
        own = frozenset(read_matrices(domain, values[MATRICES] or ""))

    def made(name: str, original: Table) -> bool:
        return bool(np.abs(_transition(original, values)[name] - matrices[name]).max() <= 1e-9)

    def fits(original: Ints) -> bool:
        # Matrices made from the table are those of this candidate, or it is none.
        table = Table.dense(domain, original.reshape(domain.shape))
        return all(made(name, table) for name in matrices.keys() - own)

    nobody = np.zeros(domain.size, dtype=np.bool_)
    nobody[domain.structural_cells()] = True
    walk = RecordWalk(
        out.reshape(domain.shape),
        list(matrices.values()),
        nobody.reshape(domain.shape),
        None if own == frozenset(matrices) else fits,
    )
    if max(map(len, parts), default=0) > TRANSITIONS_CELLS:
        # Beyond this nothing is weighed one by one.
        return Rerun(lambda *_: math.nan, exact=False, cost=math.inf, walk=walk, walk_cost=walk.cost)
    # Every array access costs as much as some hundred elements.
    exact = [transitions.elements_touched(out[c]) < TRANSITIONS_STEPS / len(parts) for c in parts]
    scale: list[float] = []
    chances_of: list[Floats] = []

    def beyond(x: Ints, generator: np.random.Generator) -> Floats:
        log = np.zeros(len(x))
        if not chances_of:
            chances_of.extend(transitions.between(domain, matrices, c) for c in parts)
        for cell, shape in shapes.items():
            log -= shape[x[:, cell]]
        for cells, chances, sure in zip(parts, chances_of, exact, strict=True):
            if sure:
                log += [transitions.log_chance(one, out[cells], chances) for one in x[:, cells]]
            else:
                log += transitions.log_estimates(x[:, cells], out[cells], chances, generator)
        return log

    def many(originals: Ints, generator: np.random.Generator) -> Floats:
        possible = np.ones(len(originals), dtype=bool)
        for cells in blocks:
            possible &= originals[:, cells].sum(axis=1) == out[cells].sum()
        if own != frozenset(matrices):
            for k in np.flatnonzero(possible).tolist():
                possible[k] = fits(originals[k])
        if not scale:
            # Any constant that keeps the figures of large tables within floating point: of one seed,
            # so that it is the same for every original.
            fixed = np.random.Generator(np.random.PCG64(0))
            found = float(beyond(out[None], fixed)[0])
            scale.append(found if found > -math.inf else 0.0)
        chances = np.zeros(len(originals))
        log = beyond(originals[possible], generator) - scale[0]
        chances[possible] = np.exp(np.minimum(log, 700.0))
        return chances

    def estimate(original: Table, generator: np.random.Generator) -> float:
        return float(many(original.counts.reshape(1, -1), generator)[0])

    # An estimate fills cell after cell from all others; a sum goes array by array.
    cost = 50.0
    for c, sure in zip(parts, exact, strict=True):
        cost += 0.05 * transitions.elements_touched(out[c]) if sure else transitions.estimated_cost(out[c])
    ways = math.prod(
        math.comb(int(out[c].sum()) + len(c) - 1, len(c) - 1) if len(c) < MOST_LISTED else math.inf
        for c in parts
    )
    listed = all(exact) and ways * cost < LISTING_WORK
    return Rerun(
        estimate, exact=all(exact), cost=cost, many=many, walk=None if listed else walk, walk_cost=walk.cost
    )


PLUGIN = PostRandomisation()
