"""Cyclic perturbation: cycles of +1 and -1 that keep every margin, added by a three-sided coin.

For each cycle of a published list, in order, a coin is flipped: with probability alpha the cycle
is added to the running table, with beta it is subtracted, with gamma = 1 - alpha - beta the table
is left. A whole round over the list is a pass. Every margin that the cycles keep is published
exactly. Cycles, coin, passes and blocking rule are public, so that anybody can compute the exact
posterior distribution of every true cell under a prior of their own.

Blocking rules. any_zero (the default): a cycle that touches a cell which is zero now is not
applied; with alpha = beta the published table is then exactly unbiased, a zero stays zero, and a
positive published count proves a positive original one. negative: a cycle is not applied in a
direction that would make a cell negative; zeros can rise. none: cells can become negative, for
analysis only.

Long cycles fail on sparse tables: one zero blocks a whole cycle. A mechanism that would leave
this table (almost) unchanged is refused before the coins are flipped, from the probability that
at-risk cells move; never from the outcome, which would change the mechanism and every posterior.

Sources: Duncan and Roehrig 2006; Lenz 2016.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from tabprotect.engine.cycles import files, reach
from tabprotect.engine.cycles.designs import DESIGNS, default_design, design
from tabprotect.engine.cycles.layers import layers
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import PREVIEW_SEED, WEAK_UNCHANGED, Method
from tabprotect.engine.protection.problem import Draft, Preview, Problem, Remedy, Steps
from tabprotect.engine.protection.walk import flip, walk
from tabprotect.engine.release.likelihood import BLOCKING_RULES, BlockingRule, MoveSequence
from tabprotect.engine.release.published import PublishedTable
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import INT64_MAX, Table

PREVIEW_WORK = 30_000_000
"""Cell updates the preview may cost (about a second)."""

LARGE = 200_000
"""Cells from which on only a few remedies are tried."""


@dataclass(frozen=True)
class _Trial:
    """What many simulated runs did to one table."""

    at_risk: int
    judged: int
    unchanged_share: float
    change: dict[int, float]
    blocked: npt.NDArray[np.float64]
    unchanged: npt.NDArray[np.float64]
    runs: int


def _try(problem: Problem, values: Mapping[str, object], work: int, progress: Progress) -> _Trial:
    """Run the mechanism on copies of the table, about ``work`` cell updates in all."""
    moves = cast(MoveSet, values["cycles"])
    passes, rule = cast(int, values["passes"]), cast(BlockingRule, values["blocking"])
    alpha, beta = cast(float, values["alpha"]), cast(float, values["beta"])
    counts = problem.table.counts.reshape(-1)
    judged = problem.at_risk.mask(counts)
    at_risk = int(judged.sum())
    if not at_risk:
        judged = counts > 0
    plan = layers(moves)
    runs = int(np.clip(work // max(len(moves.cells) * passes, 1), 2, 2000))
    # Copies side by side, as many as fit about 100 MB at once.
    batch = int(np.clip(10_000_000 // max(len(counts), 1), 1, runs))
    generator = np.random.Generator(np.random.PCG64(PREVIEW_SEED))
    unchanged = np.zeros(len(counts))
    blocked = np.zeros(len(moves))
    change: dict[int, float] = {}
    done = 0
    while done < runs:
        size = min(batch, runs - done)
        progress.report("trying the mechanism on this table", done / runs)
        state = np.repeat(counts[:, None], size, axis=1)
        coins = flip(generator, (passes, len(moves), size), alpha=alpha, beta=beta)
        _, stuck = walk(state, plan, coins, rule)
        moved = state - counts[:, None]
        unchanged += (moved == 0).sum(axis=1)
        blocked += stuck.sum(axis=(0, 2))
        seen, times = np.unique(moved[judged], return_counts=True)
        for value, count in zip(seen.tolist(), times.tolist(), strict=True):
            change[value] = change.get(value, 0.0) + count
        done += size
    unchanged /= runs
    blocked /= runs * passes
    if rule == "negative":
        # Only a coin that wants to move can be refused: share of those.
        blocked /= alpha + beta
    cells = int(judged.sum())
    return _Trial(
        at_risk=at_risk,
        judged=cells,
        unchanged_share=float(unchanged[judged].mean()) if cells else 1.0,
        change={k: v / (cells * runs) for k, v in sorted(change.items())},
        blocked=blocked,
        unchanged=unchanged,
        runs=runs,
    )


class CyclicPerturbation(Method):
    """Registered as ``cyclic_perturbation``."""

    name = "cyclic_perturbation"
    label = "Cyclic perturbation"
    parameters = (
        Parameter(
            "cycles",
            "Cycle set",
            "The cycles in the order they are applied: a file, or the name of a template. "
            "Without one the set follows from the table's shape alone.",
            "cycles",
        ),
        Parameter(
            "alpha",
            "alpha",
            "Chance that a cycle is added.",
            "real",
            0.25,
            low=0.0,
            high=1.0,
            unit="probability",
        ),
        Parameter(
            "beta",
            "beta",
            "Chance that a cycle is subtracted. Equal to alpha keeps the table unbiased.",
            "real",
            0.25,
            low=0.0,
            high=1.0,
            unit="probability",
        ),
        Parameter(
            "passes",
            "Passes",
            "Rounds over the whole list of cycles. More passes protect more; the posterior "
            "becomes wider and may become Monte Carlo.",
            "integer",
            1,
            low=1,
            high=100,
            unit="passes",
        ),
        Parameter(
            "blocking",
            "Blocking rule",
            "When a cycle is not applied.",
            "choice",
            "any_zero",
            choices=cast("Mapping[str, str]", BLOCKING_RULES),
        ),
    )
    guarantees: ClassVar[Mapping[str, str]] = {
        "margins_kept": "Every margin that the cycles keep is published exactly.",
        "additive": "The published table adds up: inner cells to margins.",
        "unbiased": "With alpha = beta and any_zero, E[published | original] = original.",
        "non_negative": "No published count is negative (any_zero and negative).",
        "zeros_kept": "A zero stays zero (any_zero).",
        "posterior": "The posterior of every true cell is computable from the bundle alone.",
    }

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> dict[str, object]:
        """Parameters with ``cycles`` as a ``MoveSet`` over the domain, margins verified."""
        values = super().resolve(domain, given)
        alpha, beta = cast(float, values["alpha"]), cast(float, values["beta"])
        wrong: dict[str, str] = {}
        # A last-digit excess, as from 0.1 + 0.9, is rounding and not a mistake.
        if alpha + beta > 1.0 + 1e-12:
            wrong["alpha"] = f"alpha + beta = {alpha + beta:g} is more than 1"
        elif alpha + beta == 0.0:
            wrong["alpha"] = "alpha + beta = 0: nothing would ever move"
        if wrong:
            raise ParameterError(wrong, hint="leave room for gamma = 1 - alpha - beta")
        values["cycles"] = self._moves(domain, values["cycles"])
        return values

    @staticmethod
    def _moves(domain: Domain, value: object) -> MoveSet:
        if value is None:
            moves = default_design(domain)
        elif isinstance(value, MoveSet):
            moves = value.on(domain)
        elif isinstance(value, str) and (value in DESIGNS or value.startswith("order-")):
            moves = design(domain, value)
        elif isinstance(value, (str, Path)):
            moves = files.read(Path(value), domain=domain)
        else:
            raise ParameterError({"cycles": f"must be a file, is {value!r}"})
        if not len(moves):
            raise ParameterError({"cycles": "the cycle set is empty"})
        broken = moves.violations(most=20)
        if broken:
            raise InputError(
                str(broken[0]),
                hint="mend the cycle, or say which margins are to be kept",
                detail="\n".join(map(str, broken)),
            )
        return moves

    def promised(self, values: Mapping[str, object]) -> tuple[str, ...]:
        """Which guarantees hold depends on the blocking rule and on alpha = beta."""
        rule = values["blocking"]
        broken = {"non_negative"} if rule == "none" else set()
        if rule != "any_zero":
            broken |= {"zeros_kept", "unbiased"}
        if values["alpha"] != values["beta"]:
            broken.add("unbiased")
        return tuple(name for name in self.guarantees if name not in broken)

    def judge(
        self,
        problem: Problem,
        values: Mapping[str, object],
        progress: Progress = SILENT,
        *,
        with_remedies: bool = True,
    ) -> tuple[Preview, Draft | None]:
        """Simulate the mechanism on this table, from a fixed seed (an estimate)."""
        moves = cast(MoveSet, values["cycles"])
        trial = _try(problem, values, PREVIEW_WORK, progress)
        rule = cast(BlockingRule, values["blocking"])
        passes = cast(int, values["passes"])
        immovable = reach.immovable_cells(moves, problem.table, rule, passes=passes)
        stuck = np.flatnonzero(immovable)
        weak = ""
        remedies: tuple[Remedy, ...] = ()
        if trial.unchanged_share > WEAK_UNCHANGED:
            whose = "an at-risk cell" if trial.at_risk else "a positive cell"
            weak = (
                f"{whose} would be published unchanged with probability "
                f"{trial.unchanged_share:.2f}: the table would leave the house (almost) as it is"
            )
            if with_remedies:
                remedies = self._remedies(problem, values, progress)
        preview = Preview(
            at_risk_cells=trial.at_risk,
            judged_cells=trial.judged,
            unchanged_share=trial.unchanged_share,
            blocked_share=float(trial.blocked.mean()),
            mean_absolute_deviation=sum(abs(k) * p for k, p in trial.change.items()),
            change=trial.change,
            blocked_by_cycle=trial.blocked,
            unchanged_by_cell=trial.unchanged.reshape(problem.table.domain.shape),
            immovable=[problem.table.domain.unflat(int(k)) for k in stuck],
            runs=trial.runs,
            weak=weak,
            remedies=remedies,
        )
        return preview, None

    def _remedies(
        self, problem: Problem, values: Mapping[str, object], progress: Progress
    ) -> tuple[Remedy, ...]:
        """Other settings, each tried on this table; those that help, best first."""
        domain = problem.table.domain
        ideas: list[tuple[str, dict[str, object]]] = [
            ("strips of swaps", {"cycles": "strips"}),
            ("elementary swaps", {"cycles": "elementary"}),
            ("the rule 'negative' (zeros can rise)", {"blocking": "negative"}),
            ("strips of swaps with 'negative'", {"cycles": "strips", "blocking": "negative"}),
            ("alpha = beta = 1/3 and 3 passes", {"alpha": 1 / 3, "beta": 1 / 3, "passes": 3}),
        ]
        if domain.size > LARGE:
            # Each trial costs seconds here: the two that help most often.
            ideas = [ideas[0], ideas[3]]
        elif domain.ndim > 2:
            ideas.append(("keeping the two-way margins only", {"cycles": "order-2"}))
        found = []
        for text, change in ideas:
            try:
                other = self.resolve(domain, {**values, **change})
            except (ParameterError, InputError):
                continue
            share = _try(problem, other, PREVIEW_WORK // 10, progress).unchanged_share
            if share <= WEAK_UNCHANGED:
                found.append(Remedy(text, change, share))
        return tuple(sorted(found, key=lambda r: r.unchanged_share))

    def draw(
        self,
        problem: Problem,
        values: Mapping[str, object],
        generator: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Draft:
        """Flip the coins and apply the cycles."""
        moves = cast(MoveSet, values["cycles"])
        passes = cast(int, values["passes"])
        rule = cast(BlockingRule, values["blocking"])
        state = problem.table.counts.reshape(-1).copy()
        plus, minus = moves.touches
        if int(state.max(initial=0)) > INT64_MAX - passes * int((plus + minus).max()):
            raise InputError("a count is too large to be perturbed within 9.2e18")
        coins = flip(
            generator,
            (passes, len(moves)),
            alpha=cast(float, values["alpha"]),
            beta=cast(float, values["beta"]),
        )
        effective, blocked = walk(state, layers(moves), coins, rule, progress)
        domain = problem.table.domain
        table = Table.dense(domain, state.reshape(domain.shape))
        return Draft((PublishedTable(table),), steps=Steps(coins, effective, blocked))

    def likelihood(self, release: Release) -> MoveSequence:
        """A known sequence of moves, each taken by a coin unless blocked."""
        values = self.resolve(release.table.domain, release.mechanism.parameters)
        return MoveSequence(
            published=release.table,
            moves=cast(MoveSet, values["cycles"]),
            alpha=cast(float, values["alpha"]),
            beta=cast(float, values["beta"]),
            passes=cast(int, values["passes"]),
            rule=cast(BlockingRule, values["blocking"]),
        )


PLUGIN = CyclicPerturbation()
