"""Cyclic perturbation: cycles of +1 and -1 that keep every margin, added by a three-sided coin.

For each cycle of a published list, in order, a coin is flipped: with probability alpha the cycle
is added to the running table, with beta it is subtracted, with gamma = 1 - alpha - beta the table
is left. A whole round over the list is a pass. Every margin that the cycles keep is published
exactly. Cycles, coin, passes and blocking rule are public, so that anybody can compute the
posterior distribution of every true cell under a prior of their own: exactly where cycles overlap
little, else by draws with a stated error.

Blocking rules. any_zero: a cycle that touches a cell which is zero now is not
applied; with alpha = beta the published table is then exactly unbiased, a zero stays zero, and a
positive published count proves a positive original one. negative: a cycle is not applied in a
direction that would make a cell negative; zeros can rise. Where neither rule nor cycles are given
both follow from the kept sums: any_zero, unless synthetic tables with these margins show that it
would leave more than one small count in ten stuck, or nobody could work out what is left of a large
table; then negative. Where negative leaves more than four in a hundred stuck, and the posterior is
drawn anyway, the list is run through twice unless a number of passes is given. reversible: a cycle that would lead from
counts x to y is taken with probability min(1, prod (x!/y!)^theta), and never to a negative count.
With alpha = beta the tables are then drawn from the law prod (1/x!)^theta given the margins, which
for theta = 1 is that of counts without association: no cell is stuck, and chi-square is distorted
little where association is weak; strong association is pulled towards none. none: cells can become negative, for
analysis only. exchange: no cycles at all. The variables are split, a | b, the others are strata; a step
draws two cells of a stratum that are not empty, which exchange a unit where they differ in both; it is
taken with the chance min(1, (m/m')^2 prod (x!/y!)^theta), m the number of cells that are not empty.
Every table inside the strata and one side is kept, and what a reader may believe are the same steps run
once more from the published table: independent exact draws, for any number of variables and cells. Of
three and more variables it is the default where cycles would not pass on tables around the sums that both
keep.

What is kept. keep names margins by a formula, at any level of a hierarchy: geo + region*age with
groupings for region. Those are published beside the inner cells, exact; every other level is the
sum of the perturbed cells. The cycles are then designed for these margins and no others, from
their published counts alone: whoever has the release can design the same ones, and nothing else of
the table is published exactly.

Which cycle comes when. listed (the default): in the order of the list. random: every pass in a new
random order. replacement: each step any cycle, which may come again. For these two the order that
was drawn is published with the table; it was drawn without a look at the table, and the posterior
stays as exact. positive: each step any of the cycles that run through positive cells of the table
as it is then; nothing is ever blocked, but the choice depends on the table, so it stays secret
and is part of the likelihood: the posterior adds up over everything that may have been chosen.
cycles=data stands for that with all swaps of two rows and two columns. What no cycle through
positive cells can move are the bridges of the graph of positive cells: they are reported.
The number of steps is a number of passes, or n_cover coins in all.

Long cycles fail on sparse tables: one zero blocks a whole cycle. A release that would let its
reader know too many small counts is refused and drawn again, a stated number of times at most. It
is judged by itself, never beside the original, so that no posterior changes.

Worked example. The table 3 1 / 2 4 and the one cycle + - / - + with alpha = beta = 1/4: published
is 4 0 / 1 5 or 2 2 / 3 3 with probability 1/4 each, else the table as it is. Who reads 3 1 / 2 4
and assumes nothing believes with probability 2/3 that the cell with the 1 is a 1, with 1/3 that
it is a 2, and never that it is a 0: from 4 0 / 1 5 the zero would have stopped the cycle.

Sources: Duncan and Roehrig 2006; Lenz 2016.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabprotect.engine.cycles import cycle_files, reach
from tabprotect.engine.cycles.constructions.long_cycles import check_size
from tabprotect.engine.cycles.designs import in_place, is_named
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.grouping_files import grouping_text
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.cycle_runs.cycle_parameters import (
    ALPHA,
    BETA,
    BLOCKING,
    CYCLES,
    EXCHANGE,
    N_COVER,
    OF_DESIGNS,
    ORDER,
    PASSES,
    REPEATS,
    THETA,
    TRIANGULAR,
    ZEROS,
    check_zeros,
    designed,
    emptied_designs,
    number_of_steps,
    template_of,
    zeros_text,
)
from tabprotect.engine.protection.cycle_runs.exchange_rule import (
    OF_EXCHANGE,
    SPLIT,
    STEP_RATE,
    ExchangeRule,
    Unchanged,
    chosen_rate,
    chosen_split,
    expected_by_sides,
    plain_rate,
    split_inside,
    without_cycles,
    without_exchange,
)
from tabprotect.engine.protection.cycle_runs.forward_walk import Walker
from tabprotect.engine.protection.cycle_runs.no_change import COINS, chosen_coin, no_change
from tabprotect.engine.protection.cycle_runs.sequence import DISCLOSED_ORDERS, SEQUENCE, stated_sequence
from tabprotect.engine.protection.cycle_runs.trial_runs import preview_cycles
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Preview, Problem
from tabprotect.engine.protection.remedy import Otherwise
from tabprotect.engine.protection.subtables import GROUPINGS, KEEP, kept_of
from tabprotect.engine.release.likelihood import AdaptiveSequence, ExchangeSteps, MoveSequence
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.languages.messages import joined, message


def fewer_sums(domain: Domain) -> list[tuple[str, dict[str, object]]]:
    """All sums but those over the three longest variables, over the two longest, and single variables.

    Where sums over all variables but one are kept, hardly a cycle is left on a sparse table; cycles on
    some of the variables keep every sum that does not tell all of these apart. Design, rule and passes
    follow from what is kept.
    """
    longest = sorted(range(domain.ndim), key=lambda axis: -domain.shape[axis])
    open_: dict[str, object] = dict.fromkeys(("cycles", BLOCKING.name, PASSES.name), None)
    found = []
    for most in (3, 2):
        left = sorted(longest[:most])
        if most < domain.ndim:
            others = ([a for a in range(domain.ndim) if a != axis] for axis in left)
            kept = " + ".join(":".join(in_formula(domain.names[a]) for a in one) for one in others)
            names = joined([domain.names[axis] for axis in left], ", ")
            text = message("every sum published exactly but those that tell {names} apart together", names)
            found.append((text, {KEEP.name: kept, **open_}))
    single = " + ".join(map(in_formula, domain.names))
    text = message("only the sums of single variables published exactly")
    return [*found, (text, {KEEP.name: single, **open_})]


def bridges(table: Table) -> tuple[dict[str, object], str]:
    """Positive cells that no cycle through positive cells can ever move; two-way tables only."""
    if table.domain.ndim != 2:
        return {"bridges": None, "why_no_bridges": message("only a two-way table is a graph")}, ""
    found = reach.bridges(table)
    if not found:
        return {"bridges": []}, message("Every positive cell lies on a cycle through positive cells.")
    which = (
        message("1 positive cell is a bridge")
        if len(found) == 1
        else (message("{found:,} positive cells are bridges", len(found)))
    )
    return (
        {"bridges": [list(cell) for cell in found]},
        message(
            "{which}: no cycle through positive cells can move such a cell, it is published as it is.", which
        ),
    )


MOST_ENTRIES = 50_000_000
"""Entries of a sequence that is not whole passes over the list: about a gigabyte."""


DATA = "data"
"""As ``cycles``: all swaps, of which the running table chooses."""

FEW_SWAPS = 500
"""Up to so many swaps the posterior of a choice among them is found in seconds."""

CLOSE = 0.1
"""So near to the limit a remedy is tried as long as the mechanism itself: what is offered must not
be refused when it is taken."""

MANY = 100_000
"""Cells from which on the first setting that is tried is the only one, or nearly."""

WITH_CYCLES = (CYCLES, ALPHA, BETA, PASSES, ORDER, N_COVER, *OF_DESIGNS)
"""Parameters that have no part in the rule exchange."""

SIX = ((1.2, 0.7, 2.0), (0.8, 1.5, 1.0))
"""Means of the counts in its calibration."""


SHARES = (0.02, 0.03, 0.05, 0.07, 0.09, 0.11, 0.13, 0.16, 0.19, 0.22, 0.25, 0.3, 0.35, 0.4, 0.5)
"""The values of alpha and beta between which tuning chooses."""


class CyclicPerturbation(Method):
    """Cyclic perturbation: registered as ``cyclic_perturbation``."""

    name = "cyclic_perturbation"
    label = message("Cyclic perturbation")
    trial_work = 3.0
    judged_up_to = 99_856
    parameters = (
        CYCLES,
        ALPHA,
        BETA,
        PASSES,
        BLOCKING,
        ORDER,
        N_COVER,
        THETA,
        KEEP,
        replace(GROUPINGS, may_be_unstated=True),
        *OF_DESIGNS,
        *OF_EXCHANGE,
    )
    guarantees = promises(
        ("margins_kept", message("Every margin that the cycles keep is published exactly.")),
        "additive",
        (
            "unbiased",
            message("With alpha = beta and any_zero, E[published | original] = original before the gate."),
        ),
        ("non_negative", message("No published count is negative (any_zero and negative).")),
        ("zeros_kept", message("A zero stays zero (any_zero).")),
        "complete",
        "posterior",
    )

    calibrations = (
        CalibrationPlan(means=SIX, runs=180),
        CalibrationPlan({"alpha": 0.15}, ((3.0,) * 6,) * 6, runs=160),
        CalibrationPlan({"cycles": "every", "n_cover": 5, "order": "random", "blocking": "negative"}, SIX),
        CalibrationPlan({"cycles": "every", "n_cover": 5, "order": "replacement"}, SIX, runs=160),
        CalibrationPlan({"cycles": "every", "n_cover": 5, "order": "positive"}, SIX, runs=160),
        CalibrationPlan({"blocking": "exchange", "rate": 0.5}, SIX, runs=160),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Parameters with ``cycles`` as a ``MoveSet`` over the domain, margins verified."""
        given = {name: value for name, value in given.items() if name != SEQUENCE}
        if given.get("cycles") == DATA:
            given = {"order": "positive", "n_cover": domain.size, **given, "cycles": "every"}
            if given["order"] != "positive":
                raise ParameterError({"order": message("cycles={DATA} goes with the order positive", DATA)})
        values = super().resolve(domain, given)
        if values[BLOCKING] == EXCHANGE:
            return self._exchanging(domain, values, given)
        without_exchange(values)
        values |= {"groupings": values[GROUPINGS] or None}
        values |= {ZEROS.name: zeros_text(domain, values)}
        if values["blocking"] is None:
            values |= {"blocking": "any_zero"}
        if values["passes"] is None:
            values |= {"passes": 1}
        if values[BLOCKING] != "reversible":
            values |= {"theta": None}
        elif values[THETA] is None:
            values |= {"theta": 1.0}
        values |= {one.name: COINS[0] for one in (ALPHA, BETA) if values[one] is None}
        alpha, beta = values[ALPHA], values[BETA]
        wrong: dict[str, str] = {}
        if values[ORDER] == "positive" and values[BLOCKING] != "any_zero":
            wrong["order"] = message("positive goes with the blocking rule any_zero: nothing is blocked")
        if values[BLOCKING] == "reversible" and alpha != beta:
            wrong["beta"] = message("the rule reversible goes with alpha = beta")
        # A last-digit excess, as from 0.1 + 0.9, is rounding and not a mistake.
        if alpha + beta > 1.0 + 1e-12:
            wrong["alpha"] = message("alpha + beta = {alpha:g} is more than 1", alpha + beta)
        elif alpha + beta == 0.0:
            wrong["alpha"] = message("alpha + beta = 0: nothing would ever move")
        if wrong:
            hint = message("leave room for gamma = 1 - alpha - beta") if "alpha" in wrong else ""
            raise ParameterError(wrong, hint=hint)
        moves = self._moves(domain, values)
        values |= {"cycles": moves}
        if moves.groupings and not values[GROUPINGS]:
            values |= {"groupings": grouping_text(moves.groupings, domain)}
        steps = number_of_steps(values, len(moves))
        whole = values[ORDER] == "listed" and steps % len(moves) == 0
        # Such a sequence is written out, cycle by cycle; one that the table chooses never is.
        written = 0 if whole or values[ORDER] == "positive" else steps
        if written * int(np.diff(moves.starts).max()) > MOST_ENTRIES:
            raise ParameterError(
                {"n_cover": message("{steps:,} steps over cycles of this length are too many", steps)},
                hint=message("take the cycles as listed, in whole passes"),
            )
        return values

    def _exchanging(
        self, domain: Domain, values: Values, given: Mapping[str, object], table: Table | None = None
    ) -> Values:
        """The values of the rule exchange; what follows from the kept sums needs a table."""
        if domain.ndim < 2:
            raise ParameterError(
                {BLOCKING.name: message("exchanges need two variables")},
                hint=message("take another blocking rule"),
            )
        values = without_cycles(values, given, WITH_CYCLES)
        people = domain.size if table is None else table.total
        rule = ExchangeRule.of(domain, values) if values[SPLIT] else chosen_split(domain, values, people)
        values |= {SPLIT.name: rule.text}
        if values[KEEP]:
            kept = rule.kept(values)
            if not all(
                any(kept.determines(one, margin) for one in kept.margins)
                for margin in kept_of(domain, values).margins
            ):
                raise ParameterError({SPLIT.name: message("does not keep the sums that are asked for")})
        if values[STEP_RATE] is None:
            rate = plain_rate(domain, people) if table is None else chosen_rate(rule, values, table)
            values |= {STEP_RATE.name: rate}
        return values

    def resolve_for(
        self, problem: Problem, given: Mapping[str, object], progress: Progress = SILENT
    ) -> Values:
        """Resolve with a design for the kept margins where no cycle set is given, or one by that name.

        Without a rule or a number of passes either, these follow from the kept margins too.
        """
        given = dict(given)
        if given.get(BLOCKING.name) == EXCHANGE:
            domain = problem.table.domain
            return self._exchanging(domain, super().resolve(domain, given), given, problem.table)
        coin_open = not given.get("n_cover") and all(
            given.get(name) is None for name in ("alpha", "beta", "passes")
        )
        if given.get("cycles") in (None, TRIANGULAR):
            domain = problem.table.domain
            check_size(domain)
            margins = KeptMargins.of(kept_of(domain, given), problem.table)
            check_zeros(problem.table, given)
            if given.get("cycles") == TRIANGULAR:
                # Every wrong parameter is told, before any design.
                values = super().resolve(domain, given)
                given["cycles"] = designed(TRIANGULAR, domain, values, kept=margins, progress=progress)
            else:
                rest = {n: v for n, v in given.items() if n not in ("cycles", KEEP.name)}
                public = self.resolve(domain, rest)
                left = [n for n in ("blocking", "passes") if given.get(n) is None]
                # Late: it tries cycles, which nobody who reads a release does.
                from tabprotect.engine.protection.cycle_runs.choosing_cycles import chosen_cycles

                choice = chosen_cycles(margins, public | dict.fromkeys(left), progress)
                given |= {"cycles": choice.moves, "blocking": choice.rule}
                given["passes"] = choice.passes
        values = self.resolve(problem.table.domain, given)
        if coin_open and values[ORDER] != "positive" and (kept := self.kept(problem.table.domain, values)):
            coin = chosen_coin(KeptMargins.of(kept, problem.table), values, progress)
            values |= {"alpha": coin, "beta": coin}
        return values

    def otherwise(self, problem: Problem) -> Otherwise | None:
        """Exchange steps, in three and more ways."""
        domain, counts = problem.table.domain, problem.table.counts.reshape(-1)
        if domain.ndim < 3:
            return None
        rule = chosen_split(domain, {}, problem.table.total)
        return Otherwise(
            {BLOCKING.name: EXCHANGE},
            *expected_by_sides(rule.plan({STEP_RATE.name: None, THETA.name: None}), counts),
        )

    def keeping(self, domain: Domain, margins: Sequence[tuple[str, ...]]) -> tuple[Mapping[str, object], ...]:
        """An exchange that keeps two of the margins, and cycles that keep all."""
        named = " + ".join(":".join(map(in_formula, one)) or "1" for one in margins)
        split = split_inside(domain, margins)
        exchange = () if split is None else ({BLOCKING.name: EXCHANGE, SPLIT.name: split.text},)
        cycles = {KEEP.name: named, "cycles": TRIANGULAR, BLOCKING.name: "negative"}
        return (*exchange, *((cycles,) if margins else ()))

    def no_change(self, table: Table, values: Values, progress: Progress = SILENT) -> float | None:
        """The same for the table and for any draw: both have the kept margins."""
        kept = self.kept(table.domain, values)
        if values[BLOCKING] == EXCHANGE:
            plan = ExchangeRule.of(table.domain, values).plan(values)
            return Unchanged(plan, table.counts.reshape(-1)).chance()
        return None if kept is None else no_change(KeptMargins.of(kept, table), values, progress)

    @staticmethod
    def _moves(domain: Domain, values: Values) -> MoveSet:
        value = values["cycles"]
        if value is None:
            value = template_of(None, values) or (TRIANGULAR if values[KEEP] else "default")
        if isinstance(value, MoveSet):
            moves = value.on(domain)
        elif isinstance(value, str) and is_named(value):
            even = KeptMargins.even(kept_of(domain, values))
            moves = designed(value, domain, values, kept=even)
        elif isinstance(value, (str, Path)):
            template_of(message("a file of cycles"), values)
            moves = in_place(cycle_files.read(Path(value), domain=domain), values[REPEATS] or 1)
        else:
            raise ParameterError({"cycles": message("must be a file, is {value}", repr(value))})
        if domain.structural and values[BLOCKING] != "any_zero":
            moves = _around_nobody(moves, template=isinstance(value, str) and is_named(value))
        if not len(moves):
            raise ParameterError({"cycles": message("the cycle set is empty")})
        if values[KEEP]:
            kept = kept_of(domain, values).maximal()
            moves = moves.keeping(kept.margins, kept.groupings)
        if not moves.keeps_margins:
            broken = moves.violations(most=20)
            raise InputError(
                str(broken[0]),
                hint=message("mend the cycle, or say which margins are to be kept"),
                detail=joined(map(str, broken), "\n"),
            )
        return moves

    def promised(self, values: Values) -> tuple[str, ...]:
        """Return which guarantees hold depends on the blocking rule and on alpha = beta."""
        rule = values[BLOCKING]
        if rule == EXCHANGE:
            return tuple(name for name in self.guarantees if name not in ("unbiased", "zeros_kept"))
        broken = {"non_negative"} if rule == "none" else set()
        if rule != "any_zero":
            broken |= {"zeros_kept", "unbiased"}
        if values[ALPHA] != values[BETA]:
            broken.add("unbiased")
        return tuple(name for name in self.guarantees if name not in broken)

    def ladders(self, domain: Domain, values: Values) -> tuple[tuple[Mapping[str, object], ...], ...]:
        """Coins that fall more and more often, then further passes; by the rule as it is."""
        if values[BLOCKING] == EXCHANGE:
            rest = {name: values[name] for name in (BLOCKING.name, SPLIT.name)}
            return (tuple({**rest, STEP_RATE.name: share} for share in SHARES),)
        if values[ORDER] != "listed":
            return ()
        rule = {"blocking": values[BLOCKING]}
        coins = [{"alpha": share, "beta": share, "passes": 1, **rule} for share in SHARES]
        passes = [{"alpha": 0.5, "beta": 0.5, "passes": number, **rule} for number in (2, 3)]
        return ((*coins, *passes),)

    def kept(self, domain: Domain, values: Values) -> Publication | None:
        """The margins that the cycles keep."""
        if values[BLOCKING] == EXCHANGE:
            return ExchangeRule.of(domain, values).kept(values)
        moves = values[CYCLES]
        return Publication(domain, moves.margins, moves.groupings) if any(moves.margins) else None

    def foresee(self, problem: Problem, values: Values, progress: Progress = SILENT) -> Preview:
        """Try on copies of the table side by side; find also which cells no cycle can move."""
        if values[BLOCKING] == EXCHANGE:
            found = super().foresee(problem, values, progress)
            return replace(found, no_change=self.no_change(problem.table, values, progress))
        moves, steps = values[CYCLES], number_of_steps(values, len(values[CYCLES]))
        if values[ORDER] == "listed" and steps < len(moves):
            moves = moves.take(np.arange(steps))
        # In no fixed order, whatever chain of cycles could free a cell may come.
        passes = -(-steps // len(moves)) if values[ORDER] == "listed" else steps
        stuck = reach.immovable_cells(moves, problem.table, values[BLOCKING], passes=passes)
        return replace(
            preview_cycles(problem, values, progress),
            immovable=np.flatnonzero(stuck),
            no_change=self.no_change(problem.table, values, progress),
        )

    def alternatives(self, domain: Domain, values: Values) -> tuple[tuple[str, Mapping[str, object]], ...]:
        """Other cycles, the rule that blocks least, a coin that stays less often."""
        if values[BLOCKING] == EXCHANGE:
            rate = values[STEP_RATE] or 0.0
            return tuple(
                (
                    message("more steps: {rate:g} a person", more),
                    {BLOCKING.name: EXCHANGE, STEP_RATE.name: more},
                )
                for more in (round(2 * rate, 4), round(4 * rate, 4))
            )
        often: dict[str, object] = {"alpha": 0.5, "beta": 0.5}
        rise: dict[str, object] = {"blocking": "negative"}
        ideas: list[tuple[str, dict[str, object]]] = [
            (message("coins that always fall: alpha = beta = 1/2"), often),
            (message("cycles designed for the kept sums"), {"cycles": TRIANGULAR}),
            (
                message("cycles designed for the kept sums, and zeros that may rise"),
                {"cycles": TRIANGULAR, "blocking": "negative"},
            ),
            (message("strips of swaps"), {"cycles": "strips"}),
            (message("elementary swaps"), {"cycles": "elementary"}),
            (message("zeros that may rise"), rise),
            (
                message("strips of swaps, and zeros that may rise"),
                {"cycles": "strips", "blocking": "negative"},
            ),
            (message("alpha = beta = 1/3 and 3 passes"), {"alpha": 1 / 3, "beta": 1 / 3, "passes": 3}),
        ]
        if math.prod(math.comb(size, 2) for size in domain.shape) <= FEW_SWAPS:
            chosen = {"order": "positive", "n_cover": domain.size, "passes": 1}
            ideas.append(
                (message("swaps through positive cells"), {"cycles": DATA, "blocking": "any_zero", **chosen})
            )
        if values[BLOCKING] == "any_zero":
            # Counts beside zeros are stuck: no coin moves them, however often it falls.
            ideas.sort(key=lambda idea: idea[1] != rise)
        if domain.ndim > 2 and not values[KEEP]:
            # Last to be put first: on a large table few are tried.
            ideas[:0] = fewer_sums(domain)
            steps: dict[str, object] = {
                **dict.fromkeys((one.name for one in (CYCLES, ALPHA, BETA, PASSES)), None),
                BLOCKING.name: EXCHANGE,
            }
            # Of the largest tables hardly one setting is tried, and this one always can.
            ideas.insert(
                3 if domain.size <= MANY else 0, (message("exchange steps instead of cycles"), steps)
            )
            ideas.append((message("keeping the two-way margins only"), {"cycles": "order-2"}))
        # What was said of another design says nothing of these.
        empty = emptied_designs(values)
        # Left open, another coin might follow from another design.
        coin = {one.name: values[one] for one in (ALPHA, BETA) if values[one] != COINS[0]}
        return tuple(
            (words, {**coin, **empty, **change} if change.get("cycles") else {**coin, **change})
            for words, change in ideas
        )

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Draw the order, flip the coins and apply the cycles."""
        if values[BLOCKING] == EXCHANGE:
            return self._exchanged(problem.table, values, generator)
        walker = Walker.of(values)
        state = problem.table.counts.reshape(-1).copy()
        if walker.order in DISCLOSED_ORDERS or walker.order == "positive":
            most = walker.steps
        else:
            plus, minus = walker.moves.touches
            most = -(-walker.steps // len(walker.moves)) * int((plus + minus).max())
        if int(state.max(initial=0)) > INT64_MAX - most:
            raise InputError(message("a count is too large to be perturbed within 9.2e18"))
        steps = walker.run(state, generator, progress)
        domain = problem.table.domain
        table = Table.dense(domain, state.reshape(domain.shape))
        disclosed: dict[str, object] = {}
        findings: dict[str, object] = {}
        sentence = ""
        if walker.order in DISCLOSED_ORDERS:
            disclosed[SEQUENCE] = steps.cycles.tolist()
        elif walker.order == "positive":
            findings, sentence = bridges(problem.table)
        return Draft(
            (PublishedTable(table), *self._kept_tables(table, values)),
            disclosed=disclosed,
            findings=findings,
            sentence=sentence,
            steps=steps,
        )

    def _exchanged(self, table: Table, values: Values, generator: np.random.Generator) -> Draft:
        """The table after all exchange steps."""
        plan = ExchangeRule.of(table.domain, values).plan(values)
        counts = table.counts.reshape(-1)
        found = plan.tables(counts, 1, generator)[0].reshape(table.domain.shape)
        published = Table.dense(table.domain, found)
        return Draft(
            (PublishedTable(published), *self._kept_tables(published, values)),
            sentence=message("{steps:,} exchange steps were taken.", int(plan.steps(counts).sum())),
        )

    @staticmethod
    def _kept_tables(table: Table, values: Values) -> list[PublishedTable]:
        """The kept margins as tables of their own, where they were named."""
        if not values[KEEP]:
            return []
        kept = kept_of(table.domain, values)
        sums = zip(kept.margins, kept.sums(table), strict=True)
        return [PublishedTable(found) for margin, found in sums if margin]

    def likelihood(self, release: Release) -> MoveSequence | AdaptiveSequence | ExchangeSteps:
        """A known sequence of moves, each taken by a coin unless blocked; an unseen one; or exchange steps."""
        stated = release.mechanism.parameters
        values = self.resolve(release.table.domain, stated)
        if values[BLOCKING] == EXCHANGE:
            rule = ExchangeRule.of(release.table.domain, values)
            return ExchangeSteps(release.table, rule.plan(values), rule.kept(values))
        walker = Walker.of(values)
        moves, steps, passes = walker.moves, walker.steps, 1
        if walker.order == "positive":
            return AdaptiveSequence(release.table, moves, walker.alpha, walker.beta, steps)
        if walker.order in DISCLOSED_ORDERS:
            sequence = stated_sequence(stated.get(SEQUENCE), walker.order, cycles=len(moves), steps=steps)
            moves = moves.take(sequence)
        elif steps % len(moves):
            moves = moves.take(np.arange(steps) % len(moves))
        else:
            passes = steps // len(moves)
        return MoveSequence(
            published=release.table,
            moves=moves,
            alpha=walker.alpha,
            beta=walker.beta,
            passes=passes,
            rule=walker.rule,
            theta=walker.theta,
        )


def _around_nobody(moves: MoveSet, *, template: bool) -> MoveSet:
    """Cycles that touch no structural zero, where zeros can rise.

    A template goes without those that do; a list of somebody's own is refused.
    """
    nobody = moves.domain.structural_cells()
    touching = np.add.reduceat(nobody[moves.cells], moves.starts[:-1]) > 0
    if template or not touching.any():
        return moves.take(np.flatnonzero(~touching))
    first = int(np.flatnonzero(touching)[0])
    cells = moves.cells[moves.starts[first] : moves.starts[first + 1]]
    at = moves.domain.cell_text(moves.domain.unflat(int(cells[nobody[cells]][0])))
    raise ParameterError(
        {"cycles": message("cycle {first} touches {at}, in which nobody can be", first + 1, at)},
        hint=message("take it out, or take the blocking rule any_zero"),
    )


PLUGIN = CyclicPerturbation()
