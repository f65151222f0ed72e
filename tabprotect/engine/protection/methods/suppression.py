"""Suppression: sensitive counts are not published, nor what would reveal them.

Primary cells are those that the sensitivity rule names, totals among them. Hiding only these
would not do: what is left and the totals give them back. So further, secondary cells are hidden, until
what is published leaves the primary ones open. Everything that is published is exact.

How far: until every primary cell keeps its protection interval. The published numbers alone, with the
knowledge that hidden cells are not zero (where zeros are always published), leave a sensitive
count c open at least from max(n, 1, c - L) to c + L, where L is the protection level and n the
number of non-zero cells that c is made of. By letters that is asked of the plan.

Which cells: by letters. Every inner count draws one, by chance of its own and a public law: P if it
is small, and sometimes if it is a little larger; a class of size, its own or sometimes the next one; O
if it is large. A plan has a number for each letter, and the cheapest set of cells is hidden that
keeps the intervals of what is P in the plan. The letters of hidden cells are published. So what
the choice tells of a hidden count is told by its letter, and a reader who runs this program again
finds no more: the release is judged whole. The intervals hold for the plan, and nobody is
promised them: the posterior judges. About a third more cells are hidden than by the cheapest pattern for
the counts themselves. Where no pattern serves the plan all that is not zero is hidden. The same cell
draws the same letter whenever its count is the same, so that tables of two years differ where counts do.

The other choices look at the counts: the cheapest set that was found, one with secret random costs, or
whole blocks. Margins alone, without the inner cells, have no letters and take the cheapest. In
small tables and in large two-way ones the cheapest set is sought for one primary cell after the other,
by the cheapest cells that can make up for a change of it; else by a programme over all cells at once
(cutting planes), with a bound that says how much cheaper a set could be. The costs say what is kept
rather: large counts, or as many cells as possible.

Then, without letters, the check of the promise, always and anew: for both ends of every interval a table that
nobody can rule out. The exact interval of every suppressed cell is worked out where that is
cheap. Statuses are those of tau-ARGUS: S safe, U primary, M secondary, P must be published, E
empty. They stay in the house: a reader sees only that a cell is suppressed.

People who are alone in a cell know its count and could undo the protection of another one; by
default none of them can alone, and on request not all of them together. Zeros are published
unless allowed as secondary cells; where zeros are sensitive (a rule from 0 up) they are primary.
Shown zeros tell that all of a group share one category: where a variable is sensitive, half of the zeros
draw the letter P. Given statuses, a tau-ARGUS a priori file, say which cells an earlier release has
published or hidden, which are sensitive besides, and what hiding a cell costs.

What a reader learns: the published counts exactly, and of the suppressed ones what these leave open,
weighed by the letters. Without letters the intervals are no promise against somebody who runs this program
on every table that fits: which cells were hidden tells something, too, and in small tables such a reader
can be certain of sensitive counts though every interval is kept. Such a release is judged with the choice:
every table that fits is protected again, or, where they are too many, drawn ones are until enough
give the same pattern; where that cannot be done it is not judged, and takes a reason. Random costs help
some and are no cure. Blocks hide every block of categories that holds a sensitive count whole, zeros
excepted: little but that can be learned from them, and in large sparse tables they hide about twice as many.

Worked example: in the 4 x 4 table 15 1 3 1 / 20 10 10 15 / 3 10 10 2 / 12 14 7 2 hiding the
counts 1 and 2 and three more cells leaves 15 tables, three without a suppressed zero, and no
count is safe; protection intervals of 2 need larger cells in their company.

Sources: Kelly, Golden and Assad 1992; Cox 1995; Fischetti and Salazar 2001; Hundepool et al.
2012, Statistical Disclosure Control, chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Ints, Letters
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError, Suggestion
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.cell_chance import KEY_BYTES
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import Support, counts_of, rank, sum_factors
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, publication_of
from tabprotect.engine.protection.suppressing.audit import audit, is_cheap
from tabprotect.engine.protection.suppressing.block_rule import BLOCK, USUAL, BlockRule
from tabprotect.engine.protection.suppressing.choice import SEARCH, choose, most_work
from tabprotect.engine.protection.suppressing.given_statuses import (
    GivenStatuses,
    cells_named,
    hidden_lines,
    text_of,
    with_those_of_the_file,
)
from tabprotect.engine.protection.suppressing.hiding_sets.promise import check_intervals
from tabprotect.engine.protection.suppressing.letters import HALF, LARGEST, NOT_INNER, usual_half
from tabprotect.engine.protection.suppressing.planned import LETTERS, plan, stated_largest, told_by_letters
from tabprotect.engine.protection.suppressing.sensitive import (
    ALSO,
    COSTS,
    INSIDERS,
    LEVEL,
    LEVEL_PERCENT,
    PLANNED_LEVEL,
    STATUSES,
    TOTALS,
    USUAL_LEVEL,
    WHOLE_RANGE,
    ZEROS,
    never_zero,
    task_of,
)
from tabprotect.engine.protection.suppressing.sums import GIVEN, SuppressionOfMagnitudes
from tabprotect.engine.protection.suppressing.task import Task
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, Rerun
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message, plural

if TYPE_CHECKING:
    pass

GIVEN_NOTE = message(
    "Left out: which cells had to be hidden or published because of statuses given beforehand."
)

NOTE = message(
    "Which cells were hidden tells something, too: a reader with this program can try every table that fits."
)


CHOICE: Parameter[Literal["letters", "cheapest", "random", "blocks"]] = Parameter(
    "choice",
    message("Choice"),
    message("Which of many patterns is taken."),
    "choice",
    "letters",
    choices={
        "letters": message(
            "The cheapest pattern for a plan that knows of each count a letter drawn by chance; the letters "
            "of hidden cells are published. What the pattern tells is told by them, and is judged."
        ),
        "cheapest": message("The cheapest pattern found: the same table gives the same one."),
        "random": message("Costs are multiplied by secret random factors: the pattern tells less."),
        "blocks": message(
            "Blocks of cells that hold a small count are hidden whole: the pattern tells next "
            "to nothing else. No interval is promised."
        ),
    },
)

SPREAD: Parameter[float] = Parameter(
    "spread",
    message("Spread of the random choice"),
    message("Costs are multiplied by factors from 1 to this; more tells less and hides more."),
    "real",
    3.0,
    1.5,
    1000.0,
)


FURTHER = (1.5, 3.0)
"""What is tried where letters tell too much."""


class Suppression(Method):
    """Hide sensitive cells and what would reveal them."""

    name: ClassVar[str] = "suppression"
    label: ClassVar[str] = message("Suppression")
    parameters: ClassVar[tuple[Parameter[object], ...]] = (
        MARGINS,
        GROUPINGS,
        LEVEL,
        LEVEL_PERCENT,
        TOTALS,
        ZEROS,
        INSIDERS,
        COSTS,
        WHOLE_RANGE,
        CHOICE,
        HALF,
        LARGEST,
        BLOCK,
        SPREAD,
        SEARCH,
        ALSO,
        STATUSES,
    )
    trial_work = 3_300.0
    judged_up_to = 10_000
    guarantees = promises(
        ("exact", message("Every published count is the true one.")),
        ("no_at_risk", message("No small count is published.")),
        (
            "intervals_protected",
            message(
                "The published numbers alone, with the knowledge that hidden cells are not zero, leave "
                "every sensitive count c open at least from max(n, 1, c - L) to c + L (n: non-zero "
                "cells it is made of; where hidden cells may be zero, from max(0, c - L) or from what "
                "people alone in a cell know of it). It is no promise against somebody who runs this "
                "program on every table that fits."
            ),
        ),
        ("posterior", message("What a reader can believe about each count can be computed.")),
    )

    calibrations = (
        CalibrationPlan({"zeros": "allowed"}, ((2.0, 6.5), (4.2, 2.7)), runs=700),
        CalibrationPlan(
            {"choice": "cheapest", "level": 1, "zeros": "allowed", "insiders": "none"},
            ((2.0, 1.5), (1.2, 2.7)),
            runs=180,
            at_risk=SmallCount(1, 1),
        ),
    )
    most_trials: ClassVar[int] = 3

    def is_random(self, values: Values) -> bool:
        """Return True if costs or letters are; else the same table gives the same pattern."""
        return values.get("choice") in ("random", "letters")

    def drawn_by_cells(self, values: Values) -> tuple[object, ...] | None:
        """Letters belong to the cells, whatever else is set."""
        return (LETTERS, values[HALF]) if values.get("choice") == "letters" else None

    def promised(self, values: Values) -> tuple[str, ...]:
        """Blocks look at no interval, and with letters the plan keeps them."""
        intervals = values[CHOICE] not in ("blocks", "letters")
        return tuple(n for n in self.guarantees if n != "intervals_protected" or intervals)

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Settle parameters as every method does, and what is in the file of statuses."""
        values = super().resolve(domain, given)
        level = values[LEVEL] or USUAL_LEVEL
        inner = domain in publication_of(domain, values).domains
        if not inner and CHOICE.name not in given:
            values |= {CHOICE.name: "cheapest"}
        if values[CHOICE] == "letters":
            if not inner:
                raise ParameterError({"choice": NOT_INNER}, hint=message("take choice=cheapest"))
            level = values[LEVEL] or PLANNED_LEVEL
            values |= {HALF.name: values[HALF] or usual_half(domain)}
        else:
            values |= {HALF.name: None, LARGEST.name: None}
        values |= {LEVEL.name: level}
        if values[CHOICE] != "blocks":
            values |= {BLOCK.name: None}
        elif values[STATUSES] or values[ALSO]:
            raise ParameterError({"choice": message("blocks follow the counts alone, no statuses")})
        elif values[BLOCK] is None:
            values |= {BLOCK.name: USUAL}
        if also := values[ALSO]:
            try:
                cells_named(also, publication_of(domain, values))
            except InputError as error:
                raise ParameterError({"also": str(error)}, hint=error.hint) from None
        if given_statuses := values[STATUSES]:
            try:
                text = text_of(given_statuses)
                GivenStatuses.of(text, publication_of(domain, values))
            except InputError as error:
                raise ParameterError({"statuses": str(error)}, hint=error.hint) from None
            values |= {"statuses": text}
        return values

    def resolve_for(
        self, problem: Problem, given: Mapping[str, object], progress: Progress = SILENT
    ) -> Values:
        """Take what the table's own file says of its cells as given, before what a person gives."""
        if problem.roles.sensitive and given.get(ZEROS.name) is None:
            usual = self.resolve(problem.table.domain, given)[CHOICE] == "letters"
            given = {**given, **({ZEROS.name: "often"} if usual else {})}
        values = self.resolve(problem.table.domain, given)
        if not problem.statuses or values[CHOICE] == "blocks":
            return values
        publication, asked = publication_of(problem.table.domain, values), values[STATUSES] or ""
        own = with_those_of_the_file(problem.statuses, "", publication)
        if asked.startswith(own):
            return values
        merged = with_those_of_the_file(problem.statuses, asked, publication)
        return self.resolve(problem.table.domain, {**given, STATUSES.name: merged})

    def beside(self, domain: Domain, values: Values, earlier: Sequence[Release]) -> dict[str, object]:
        """By letters, what earlier releases hide is hidden, too, and their classes are kept.

        Both are public, and no count is asked.
        """
        if values[CHOICE] != "letters":
            return {}
        found: dict[str, object] = {}
        if values[ALSO] is None and (lines := hidden_lines(publication_of(domain, values), earlier)):
            found[ALSO.name] = lines
        if values[LARGEST] is None and (largest := stated_largest(domain, earlier)) is not None:
            found[LARGEST.name] = largest
        return found

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Choose the pattern, and check what it promises."""
        publication = publication_of(problem.table.domain, values)
        if values[CHOICE] == "blocks":
            return _in_blocks(problem, publication, values)
        if values[CHOICE] == "letters":
            return _by_letters(problem, publication, values, generator.bytes(KEY_BYTES), progress)
        task = _at_random(task_of(problem, publication, values), values, generator)
        try:
            choice = choose(task, values[SEARCH], progress)
        except InfeasibleError as error:
            error.suggestions = _suggestions(values)
            raise
        suppressed = choice.hidden
        kept = check_intervals(task, suppressed, progress)
        audited: dict[str, object] = {
            "sentence": kept.sentence,
            "suppressed": int(suppressed.sum()),
            "unprotected": len(kept.unprotected),
            "ends": kept.ends,
            "ends_in_whole_numbers": kept.whole,
        }
        sentence = kept.sentence
        if is_cheap(publication, suppressed):
            found = audit(
                publication,
                problem.table,
                suppressed,
                levels=task.levels,
                never_zero=task.never_zero,
                progress=progress,
            )
            audited |= found.as_json(publication)
            sentence = joined([kept.sentence, found.sentence], " ")
        letters = _letters(task, suppressed)
        tables, statuses = _main_first(publication, task.values, suppressed, letters)
        disclosed: dict[str, object] = {"at_risk": str(problem.at_risk)}
        if values[STATUSES]:
            disclosed[GIVEN] = True
        return Draft(
            tables,
            disclosed=disclosed,
            statuses=statuses,
            findings={
                message("primary cells"): int(task.primary.sum()),
                message("secondary cells"): int((suppressed & ~task.primary).sum()),
                "cost": choice.cost,
                "gap": choice.gap,
                "choice": choice.sentence,
                "audit": audited,
            },
            sentence=sentence,
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Published counts are the true ones; the choice of the hidden cells by choosing again."""
        parameters = dict(release.mechanism.parameters)
        at_risk, given = parameters.pop("at_risk", None), parameters.pop(GIVEN, False)
        letters = parameters.pop(LETTERS, None)
        # Who states letters states that they were chosen by.
        values = self.resolve(release.domain, {CHOICE.name: "cheapest"} | parameters)
        publication = publication_of(release.domain, values)
        counts = counts_of(release, publication)
        hidden = _hidden(release, publication)
        rule = None if at_risk is None else SmallCount.parse(str(at_risk))
        # Where the rule is not told an empty cell may be sensitive.
        least = int(rule is not None and never_zero(values, rule))
        # One more than the count, so that 0 can stand for none.
        shown = np.where(hidden, 0, counts + 1)
        rerun, sure = None, -1
        if rule is not None and values[CHOICE] == "letters":
            told = told_by_letters(release, (publication, counts), hidden, (values, rule, letters))
            return replace(told, note=GIVEN_NOTE, left_out=("pattern_choice",)) if given else told
        if rule is not None and values[CHOICE] == "blocks":
            blocks = _blocks(publication, values, rule)
            rerun = blocks.rerun(hidden)
            sure = int(shown.max(initial=0)) + 1
            shown[blocks.alone(hidden)] = sure
        elif rule is not None and not given:
            at_random = self.is_random(values)
            cost = 500.0 + 100.0 * publication.domain.size
            cost += most_work(publication, values[SEARCH])
            again = _again(publication, values, rule, hidden)
            rerun = Rerun(again, exact=not at_random, cost=cost)

        def weigh(number: int, size: int) -> Support:
            if number == sure and rule is not None:
                return rule.low, rule.high, None
            return (number - 1, number - 1, None) if number else (least, UNBOUNDED, None)

        return sum_factors(
            release,
            (publication, shown),
            weigh,
            rerun=rerun,
            note=GIVEN_NOTE if given else NOTE,
            left_out=("pattern_choice",),
        )

    def alternatives(self, domain: Domain, values: Values) -> tuple[tuple[str, Mapping[str, object]], ...]:
        """Letters that tell less, or letters at all: what they tell can be judged."""
        if values[CHOICE] != "letters":
            return ((message("Choose by letters of the counts"), {"choice": "letters", "level": 1}),)
        half = values[HALF] or usual_half(domain)
        return tuple(
            (message("Let the letter P stand for more counts: half={further}", further), {"half": further})
            for further in FURTHER
            if further > half
        )


def _blocks(publication: Publication, values: Values, rule: SmallCount) -> BlockRule:
    return BlockRule.of(
        publication,
        rule,
        values[BLOCK],
        zeros=not never_zero(values, rule),
        totals=values[TOTALS] == "allowed",
    )


def _in_blocks(problem: Problem, publication: Publication, values: Values) -> Draft:
    """Hide whole blocks: no interval is asked for, and the posterior alone judges."""
    task = task_of(problem, publication, values)
    rule = _blocks(publication, values, problem.at_risk)
    suppressed = rule.hidden(problem.table.counts.reshape(-1))
    number = int(rule.held(suppressed).sum())
    tables, statuses = _main_first(publication, task.values, suppressed, _letters(task, suppressed))
    sentence = plural(
        number,
        "{number} block with a sensitive count is hidden, {suppressed} published numbers in all.",
        "{number} blocks with a sensitive count are hidden, {suppressed} published numbers in all.",
        number,
        int(suppressed.sum()),
    )
    return Draft(
        tables,
        disclosed={"at_risk": str(problem.at_risk)},
        statuses=statuses,
        findings={
            message("primary cells"): int(task.primary.sum()),
            message("secondary cells"): int((suppressed & ~task.primary).sum()),
            message("hidden blocks"): number,
        },
        sentence=sentence,
    )


def _by_letters(
    problem: Problem, publication: Publication, values: Values, key: bytes, progress: Progress
) -> Draft:
    """Hide what protects the plan; the posterior alone judges."""
    found = plan(problem, publication, values, key, progress)
    counts: Ints = np.asarray(publication.incidence @ problem.table.counts.reshape(-1))
    tables, statuses = _main_first(publication, counts, found.hidden, _letters(found.task, found.hidden))
    disclosed: dict[str, object] = {"at_risk": str(problem.at_risk), **found.disclosed}
    if values[STATUSES]:
        disclosed[GIVEN] = True
    findings: dict[str, object] = {
        message("primary cells"): int(found.task.primary.sum()),
        message("secondary cells"): int((found.hidden & ~found.task.primary).sum()),
    }
    sentence = message(
        "No pattern protects all that is planned as small: all that is not zero is hidden, as far as it may be."
    )
    if found.choice is not None:
        findings |= {"cost": found.choice.cost, "gap": found.choice.gap, "choice": found.choice.sentence}
        number = int(found.task.primary.sum())
        sentence = plural(
            number,
            "{number} published number is planned as small, {hidden} are hidden in all. Intervals hold for "
            "the plan; the posterior judges.",
            "{number} published numbers are planned as small, {hidden} are hidden in all. Intervals hold "
            "for the plan; the posterior judges.",
            number,
            int(found.hidden.sum()),
        )
    return Draft(tables, disclosed=disclosed, statuses=statuses, findings=findings, sentence=sentence)


def _again(
    publication: Publication, values: Values, rule: SmallCount, hidden: Bools
) -> Callable[[Table, np.random.Generator], float]:
    """1 for an original in which a choice hides these very cells, else 0."""

    search = values[SEARCH]

    def estimate(original: Table, generator: np.random.Generator) -> float:
        task = task_of(Problem(original, at_risk=rule), publication, values)
        if (task.primary & ~hidden).any():
            return 0.0
        try:
            choice = choose(_at_random(task, values, generator), search, expected=hidden)
        except InfeasibleError:
            return 0.0
        return float(np.array_equal(choice.hidden, hidden))

    return estimate


def _at_random(task: Task, values: Values, generator: np.random.Generator) -> Task:
    """The task with other costs where the choice is random: a factor for every distinct number."""
    if values[CHOICE] != "random":
        return task
    first, inverse = task.publication.distinct
    factor = generator.uniform(1.0, values[SPREAD], len(first))
    return replace(task, cost=task.cost * factor[inverse])


def _suggestions(values: Values) -> tuple[Suggestion, ...]:
    """Other parameters that may protect the table, the one that helps most often first."""
    found = []
    if values[TOTALS] == "published":
        found.append(Suggestion(message("Hide totals too"), {"totals": "allowed"}))
    if values[ZEROS] == "published":
        found.append(Suggestion(message("Hide zeros too"), {"zeros": "allowed"}))
    if values[WHOLE_RANGE]:
        found.append(Suggestion(message("Ask for the level only"), {"whole_range": False}))
    elif values[LEVEL_PERCENT] > 0:
        found.append(Suggestion(message("Ask for the absolute level only"), {"level_percent": 0.0}))
    elif (values[LEVEL] or USUAL_LEVEL) > 1:
        found.append(Suggestion(message("Ask for a level of 1"), {"level": 1}))
    if values[INSIDERS] in ("one", "all"):
        found.append(
            Suggestion(
                message("Ask less of somebody who is part of the unsafe cell"), {"insiders": "outside"}
            )
        )
    return tuple(found)


def _hidden(release: Release, publication: Publication) -> Bools:
    by_names = {p.table.domain.names: p.hidden for p in release.tables}
    return np.concatenate([by_names[d.names].reshape(-1) for d in publication.domains])


def _letters(task: Task, suppressed: Bools) -> Letters:
    letters = np.full(len(suppressed), "S", dtype="<U1")
    letters[np.isinf(task.cost)] = "P"
    letters[task.values == 0] = "E"
    letters[suppressed] = "M"
    letters[task.primary] = "U"
    return letters


def _main_first(
    publication: Publication, counts: Ints, hidden: Bools, letters: Letters
) -> tuple[tuple[PublishedTable, ...], tuple[Letters, ...]]:
    """The published cells as tables, each with its status letters; the main table first."""
    ordered = []
    for m in sorted(
        range(len(publication.domains)), key=lambda m: rank(publication.domains[m], publication.domain)
    ):
        run = slice(int(publication.starts[m]), int(publication.starts[m + 1]))
        domain = publication.domains[m]
        table = Table.dense(domain, counts[run].reshape(domain.shape))
        published = PublishedTable.hiding(table, hidden[run].reshape(domain.shape))
        ordered.append((published, letters[run].reshape(domain.shape)))
    tables, statuses = zip(*ordered, strict=True)
    return tables, statuses


PLUGIN = Suppression()
PLUGINS = PLUGIN, SuppressionOfMagnitudes()
