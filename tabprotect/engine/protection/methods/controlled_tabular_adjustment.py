"""Controlled tabular adjustment: sensitive counts become safe ones, and all others make room.

Filled, by default: cells are hidden as suppression by letters hides them, and then each hidden
one gets a safe count (0, or one above the small ones, near the middle of what its letter says) that
keeps every published total, wherever that is possible. What is filled, and the letters, are published.
The numbers come from what is published and from nothing else, so that a reader who takes them out again
knows what the suppression told, and no more: that is judged whole. How far
counts moved is not told.

The nearest table, on request: every small count that would be published is replaced by a safe one: the nearest count below the small ones (0, for the usual rule) or the nearest above it, whichever is closer. That
would break the totals; so the other counts move, as little as possible in sum (L1) or in squares
(L2), never below the small counts' upper neighbour, and zeros stay zero. Everything published
adds up, in whole numbers. Totals that are not sensitive move only where they must: totals that are small themselves have to change, and then not all the others can stay. They can also be
kept exactly, which not every table allows, or move like all other counts. Where the nearest safe
counts leave no such table the other ones are tried by an integer programme; where it is proved
that there is none the totals in conflict are named, and where none was found within the stated
work that is said instead.

What a table costs is said before a search begins: changes of counts, sums, and the nodes of the
search tree at most. nodes stops it earlier, or lets it go on, with the best table so far.

No random number is used for it: the same table is adjusted in the same way every time.

What a reader learns of the nearest table: a published 0 was a 0 or a small count, the count just above the range
may have been a small one, and no other count moved by more than the largest change, which is
published. For small tables the posterior also adjusts every original that is possible by these
limits, and keeps those that give this very table; adjusting by a fixed rule tells much more than
the limits alone.

Worked example: 15 1 3 1 / 20 10 10 15 / 3 10 10 2 / 12 14 7 2 with the small counts 1 and 2 has the nearest table
16 0 4 0 / 20 11 10 14 / 3 10 9 3 / 11 14 7 3: all totals are kept, no count moved by more than 1.

Sources: Dandekar and Cox 2002; Castro 2006, European J. Oper. Res. 171; Hundepool et al. 2012,
Statistical Disclosure Control, section 4.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.cell_chance import KEY_BYTES
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import counts_of, main_first, sum_factors
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, publication_of
from tabprotect.engine.protection.suppressing.filled import MOST, fill
from tabprotect.engine.protection.suppressing.letters import HALF, LARGEST, NOT_INNER, from_text, usual_half
from tabprotect.engine.protection.suppressing.nearest_table import (
    MOST_NODES,
    AdjustmentTarget,
    Distance,
    Rivals,
    Totals,
    nearest_safe,
    search_cost,
)
from tabprotect.engine.protection.suppressing.planned import (
    LETTERS,
    inner_run,
    law_of,
    plan,
    told_by_letters,
    usual_values,
)
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

FILLED = "filled"
"""Disclosed: a mark for each published number, x for those that were hidden and filled."""

MOVED = "moved"
"""Disclosed where filling moves published numbers: the true ones by place, so that nobody is told less
than the suppression tells, and what is judged is true."""

NOTE = message(
    "How far counts can have moved is counted in, not that the nearest table was taken: that tells more."
)


CHOICE: Parameter[Literal["filled", "nearest"]] = Parameter(
    "choice",
    message("Choice"),
    message("How the adjusted table comes about."),
    "choice",
    "filled",
    choices={
        "filled": message(
            "Cells are hidden as by suppression, by letters of the counts, and filled by a look at what is "
            "published alone: published totals stay exact, and what readers learn is judged whole."
        ),
        "nearest": message("The nearest safe table: what that choice tells is not judged in larger tables."),
    },
)

DISTANCE: Parameter[Distance] = Parameter(
    "distance",
    message("Distance"),
    message("What is kept small."),
    "choice",
    "l1",
    choices={
        "l1": message("The sum of all changes is least: few counts move."),
        "l2": message("The sum of squares is least: no count moves far."),
    },
)

TOTALS: Parameter[Totals] = Parameter(
    "totals",
    message("Totals"),
    message("Whether totals move."),
    "choice",
    "spared",
    choices={
        "spared": message("Totals that are not small move only where they must, and as little as they can."),
        "kept": message("Totals that are not small are published exactly; not every table allows that."),
        "moved": message("Totals may move like every other count."),
    },
)

NODES: Parameter[int] = Parameter(
    "nodes",
    message("Effort"),
    message(
        "Nodes of each search after which the nearest table found so far is taken; fewer in "
        "large tables, and none in small ones, which are searched to the end. A count, not a time: "
        "every machine adjusts alike."
    ),
    "integer",
    MOST_NODES,
    low=1,
    high=100_000,
    unit=message("nodes"),
)


class ControlledTabularAdjustment(Method):
    """Move at-risk counts to safe ones, and all others least."""

    name: ClassVar[str] = "controlled_tabular_adjustment"
    label: ClassVar[str] = message("Controlled tabular adjustment")
    parameters: ClassVar[tuple[Parameter[object], ...]] = (
        *(MARGINS, GROUPINGS, CHOICE, HALF, LARGEST, DISTANCE, TOTALS, NODES),
    )
    trial_work = 15_000.0
    most_trials: ClassVar[int] = 3
    guarantees = promises(
        ("no_at_risk", message("No small count is published, and no published count looks like one.")),
        ("additive", message("Everything that is published adds up.")),
        ("non_negative", message("No count is negative.")),
        ("zeros_kept", message("Zeros stay zero.")),
        ("bounded", message("No count moves by more than the largest change, which is published.")),
        "complete",
        ("posterior", message("What a reader can believe about each count can be computed.")),
    )

    judged_up_to = 1_024
    instead = ("suppression", "cell_key", "cyclic_perturbation")
    calibrations = (CalibrationPlan({"choice": "nearest"}, runs=100), CalibrationPlan(runs=300))

    def is_random(self, values: Values) -> bool:
        """Return True if letters are drawn; else the same table is adjusted in the same way."""
        return values.get("choice") == "filled"

    def drawn_by_cells(self, values: Values) -> tuple[object, ...] | None:
        """Those of suppression."""
        return (LETTERS, values[HALF]) if values.get("choice") == "filled" else None

    def promised(self, values: Values) -> tuple[str, ...]:
        """The largest change of what was filled depends on the original, and is not told."""
        return tuple(n for n in self.guarantees if n != "bounded" or values.get("choice") != "filled")

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Settle parameters as every method does; where the nearest table is described it is sought."""
        values = super().resolve(domain, given)
        described = any(values[one.name] != one.default for one in (DISTANCE, TOTALS))
        inner = domain in publication_of(domain, values).domains
        if CHOICE.name not in given and (described or not inner):
            values |= {CHOICE.name: "nearest"}
        if values[CHOICE] == "nearest":
            return values | {HALF.name: None, LARGEST.name: None}
        if described or not inner:
            raise ParameterError(
                {"choice": message("distance and totals are those of the nearest table")}
                if described
                else {"choice": NOT_INNER},
                hint=message("take choice=nearest"),
            )
        return values | {HALF.name: values[HALF] or usual_half(domain)}

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Hide by letters and fill, or find the nearest safe table."""
        if problem.at_risk.low < 1:
            raise ParameterError(
                {"at_risk": message("empty cells cannot be adjusted: nobody is in them")},
                hint=message("take a rule from 1 up, for example 1..2"),
            )
        publication = publication_of(problem.table.domain, values)
        if values[CHOICE] == "filled":
            key = generator.bytes(KEY_BYTES)
            return _filled(problem, publication, values, key, progress)
        adjusted = _adjusted(problem.table, publication, problem.at_risk, values, progress)
        true = publication.added_up(problem.table)
        tables = publication.sums(adjusted)
        moved = np.abs(publication.stack(tables) - true)[publication.distinct[0]]
        sensitive = int(problem.at_risk.mask(true[publication.distinct[0]]).sum())
        largest = _largest(publication, problem.table, adjusted, problem.at_risk)
        changed = int((moved > 0).sum())
        return Draft(
            main_first(tables, publication.domain),
            disclosed={"at_risk": str(problem.at_risk), "largest_change": largest},
            hidden=None if problem.table.domain in publication.domains else adjusted,
            findings={
                message("sensitive counts"): sensitive,
                message("changed counts"): changed,
                message("sum of changes"): int(moved.sum()),
                message("largest change of a safe count"): largest,
            },
            sentence=message(
                "{sensitive} sensitive counts became safe ones; {changed} counts moved in "
                "all, safe ones by {largest} at most.",
                sensitive,
                changed,
                largest,
            ),
        )

    def made_again(self, release: Release, progress: Progress = SILENT) -> bool | None:
        """Fill again what is stated to be filled, by a look at the rest."""
        given = release.mechanism.parameters
        if FILLED not in given:
            return None
        values = self.resolve(release.domain, _without(given))
        (publication, counts), hidden, (usual, rule, text) = _stated_filling(release, values, given)
        run = inner_run(publication)
        law, letters = law_of(publication, usual, rule), np.full(publication.domain.size, -1)
        letters[hidden[run]] = from_text(text, int(hidden[run].sum()), law)
        again = fill(
            publication, (np.where(hidden, 0, counts), hidden), letters, law, values[NODES], progress
        )
        return np.array_equal(again, counts_of(release, publication)[run])

    def likelihood(self, release: Release) -> CellFactors:
        """The letters of what is filled; or limits for every true count, then the adjustment as a whole."""
        given = dict(release.mechanism.parameters)
        if FILLED in given:
            told = _stated_filling(release, self.resolve(release.domain, _without(given)), given)
            return told_by_letters(release, *told)
        rule, most = _stated(given)
        values = self.resolve(release.domain, {CHOICE.name: "nearest"} | given)
        publication = publication_of(release.domain, values)
        counts = counts_of(release, publication)
        kept = values[TOTALS] == "kept"

        def weigh(count: int, size: int) -> tuple[int, int, None]:
            return *_limits(count, rule, 0 if kept and size > 1 else most), None

        return sum_factors(
            release,
            (publication, counts),
            weigh,
            rerun=Rerun(
                _again(counts, publication, values, rule, most),
                exact=True,
                cost=search_cost(counts, values[DISTANCE]),
                programmes=True,
            ),
            note=NOTE,
            left_out=("pattern_choice",),
        )


def _filled(
    problem: Problem, publication: Publication, values: Values, key: bytes, progress: Progress
) -> Draft:
    """Hide by letters; what is hidden is filled from what is published and nothing else."""
    found = plan(problem, publication, usual_values(values), key, progress)
    true = publication.added_up(problem.table)
    inner = found.hidden[inner_run(publication)]
    letters = np.where(inner, found.letters, -1)
    shown = np.where(found.hidden, 0, true), found.hidden
    counts = fill(publication, shown, letters, found.law, values[NODES], progress)
    adjusted = Table.dense(problem.table.domain, counts.reshape(problem.table.domain.shape))
    tables = publication.sums(adjusted)
    moved = np.abs(publication.stack(tables) - true)[publication.distinct[0]]
    beyond = np.flatnonzero((publication.stack(tables) != true) & ~found.hidden)
    off = int(np.isin(publication.distinct[0], beyond).sum())
    disclosed = found.disclosed | {"at_risk": str(problem.at_risk), FILLED: _as_marks(found.hidden)}
    if off:
        disclosed |= {MOVED: {str(place): int(true[place]) for place in beyond.tolist()}}
    changed = int((moved > 0).sum())
    return Draft(
        main_first(tables, publication.domain),
        disclosed=disclosed,
        findings={
            message("filled counts"): int(found.hidden.sum()),
            message("changed counts"): changed,
            message("sum of changes"): int(moved.sum()),
            message("changes beyond what was filled"): off,
        },
        sentence=message(
            "{filled} published numbers were filled, {changed} are not the true ones, {off} of these beyond "
            "what was filled.",
            int(found.hidden.sum()),
            changed,
            off,
        ),
    )


def _as_marks(hidden: Bools) -> str:
    return "".join("x" if one else "." for one in hidden.tolist())


def _without(given: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in given.items() if name not in ("at_risk", LETTERS, FILLED, MOVED)}


def _stated_filling(
    release: Release, values: Values, given: Mapping[str, object]
) -> tuple[tuple[Publication, Ints], Bools, tuple[Values, SmallCount, object]]:
    """What the same release told with the filled numbers hidden, as for :func:`told_by_letters`."""
    publication = publication_of(release.domain, values)
    rule, marks = given.get("at_risk"), given[FILLED]
    if not isinstance(rule, str) or not isinstance(marks, str) or len(marks) != publication.size:
        raise InputError(
            message("the mechanism does not state its rule for small counts, and what was filled"),
            hint=message("take the mechanism that came with the table"),
        )
    hidden, counts = np.array([mark == "x" for mark in marks]), counts_of(release, publication).copy()
    moved = given.get(MOVED, {})
    places = {str(place) for place in np.flatnonzero(~hidden).tolist()}
    if not isinstance(moved, Mapping) or not all(
        place in places and type(true) is int and 0 <= true <= MOST for place, true in moved.items()
    ):
        raise InputError(
            message("the mechanism does not state the true numbers that filling moved"),
            hint=message("take the mechanism that came with the table"),
        )
    for place, true in moved.items():
        counts[int(place)] = true
    stated = usual_values(values), SmallCount.parse(rule), given.get(LETTERS)
    return (publication, counts), hidden, stated


def _adjusted(
    table: Table, publication: Publication, rule: SmallCount, values: Values, progress: Progress
) -> Table:
    return nearest_safe(publication, table, rule, _wanted(values), progress)


def _wanted(values: Values) -> AdjustmentTarget:
    return AdjustmentTarget(values[DISTANCE], values[TOTALS], values[NODES])


def _inner(publication: Publication, counts: Ints, like: Table) -> Table:
    """The inner counts that are published; those that are not as in another table."""
    incidence, inner = publication.incidence.tocsr(), like.counts.reshape(-1).copy()
    alone = np.diff(incidence.indptr) == 1
    inner[incidence.indices[incidence.indptr[:-1][alone]]] = counts[alone]
    return Table.dense(like.domain, inner.reshape(like.domain.shape))


def _largest(publication: Publication, table: Table, adjusted: Table, rule: SmallCount) -> int:
    """The largest change of a published count that was not at risk."""
    true = publication.added_up(table)
    moved = np.abs(publication.added_up(adjusted) - true)
    return int(moved[~rule.mask(true)].max(initial=0))


def _limits(count: int, rule: SmallCount, most: int) -> tuple[int, int]:
    """The true counts that may have become a published one."""
    below, above = rule.low - 1, rule.high + 1
    if rule.low <= count <= rule.high:
        raise InputError(
            message("a published count is {count}; this mechanism publishes no small count", count)
        )
    if count < rule.low:
        return count, rule.high if count == below else count
    if count == above:
        return rule.low, count + most
    return max(above, count - most), count + most


def _stated(given: dict[str, object]) -> tuple[SmallCount, int]:
    """The rule and the largest change, taken out of the disclosed parameters."""
    rule, most = given.pop("at_risk", None), given.pop("largest_change", None)
    if not isinstance(rule, str) or type(most) is not int or most < 0:
        raise InputError(
            message("the mechanism does not state its rule for small counts and its largest change"),
            hint=message("take the mechanism that came with the table"),
        )
    return SmallCount.parse(rule), most


def _again(
    counts: Ints, publication: Publication, values: Values, rule: SmallCount, most: int
) -> Callable[[Table, np.random.Generator], float]:
    """1 for an original that would be adjusted to this very table, else 0."""
    rivals: list[Rivals] = []

    def estimate(original: Table, generator: np.random.Generator) -> float:
        if not rivals:
            published = _inner(publication, counts, original)
            rivals.append(Rivals(publication, published, rule, _wanted(values)))
        (others,) = rivals
        if others.usable and others.rule_out(original):
            return 0.0
        try:
            adjusted = _adjusted(original, publication, rule, values, SILENT)
        except InfeasibleError:
            return 0.0
        others.add(adjusted)
        found = publication.added_up(adjusted)
        same = np.array_equal(found, counts)
        return float(same and _largest(publication, original, adjusted, rule) == most)

    return estimate


PLUGIN = ControlledTabularAdjustment()
