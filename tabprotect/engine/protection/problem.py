"""The problem a method solves, its judged cells, and the records and true figures of solving it.

All of it is confidential.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tabprotect.engine import agency
from tabprotect.engine.arrays import Bools, Floats, Ints, Letters
from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.protection.people import People
from tabprotect.engine.randomness import KEY_MODULUS, Coins, Randomness
from tabprotect.engine.release.findings import Finding, in_words
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.release.verdict_figures import CERTAIN, Verdict
from tabprotect.engine.sensitivity.roles import NO_ROLES, Roles
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.design_weights import DesignWeights
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping, true_table
from tabprotect.engine.tables.table import Table, check_structural
from tabprotect.languages.messages import in_100, joined, message

if TYPE_CHECKING:
    # Late, here and in the methods: who protects counts does not load tables of magnitudes.
    from tabprotect.engine.magnitudes.patterns.pattern import Pattern
    from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
    from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule


@dataclass(frozen=True, kw_only=True)
class MagnitudeProblem:
    """A magnitude table with all that a method takes besides its parameters. Confidential.

    Attributes
    ----------
    table
    rules
        What says which sums tell too much.
    weights
        How weights are read: ``sample``, ``replicate`` or ``known``.
    publish
        What is published beside the sums: ``n``, ``mean``.
    before
        Last year's release: what was published then is published again unless unsafe.
    seed
        In place of the key of the house, to repeat noise.
    draw
        The number of the draw, from 1: another one where an earlier one told too much.
    """

    table: MagnitudeTable
    rules: tuple[MagnitudeRule, ...] = ()
    weights: str = "sample"
    publish: tuple[str, ...] = ()
    before: PublishedMagnitudes | None = None
    seed: int | None = None
    draw: int = 1

    @cached_property
    def unsafe(self) -> Bools:
        """The sums that tell too much, bool (cells,); all where no rule says which."""
        if not self.rules:
            return np.ones(len(self.table.cells), dtype=bool)
        from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells

        return sensitive_cells(self.table, self.rules, weights=self.weights).unsafe

    @property
    def key(self) -> bytes:
        """What noise follows from: the key of the house, or the seed.

        Raises
        ------
        InputError
            When there are not all contributions to put noise on.
        """
        if self.table.largest is not None:
            raise InputError(
                message("noise is put on each contribution, and the table names the largest only"),
                hint=message("tabulate the records, or hide sums: --method suppression"),
            )
        return agency.key() if self.seed is None else sha256(str(self.seed).encode()).hexdigest().encode()

    def published(self, value: Ints, hidden: Bools | None = None) -> PublishedMagnitudes:
        """The table with these values, int64 (cells,), and what is published beside them."""
        table, units = self.table, self.table.cells.units
        hidden = np.zeros(len(units), dtype=bool) if hidden is None else hidden
        value = np.where(hidden, 0, value)
        # Halves are rounded away from 0.
        means = np.sign(value) * ((2 * np.abs(value) + units) // (2 * units))
        return PublishedMagnitudes(
            table.variables,
            table.measure,
            table.decimals,
            table.cells.key,
            value,
            hidden,
            table.weighted,
            units=units if "n" in self.publish else None,
            means=means if "mean" in self.publish else None,
        )


@dataclass(frozen=True)
class Problem:
    """An original table with its measures and the rules that say which cells are at risk.

    Attributes
    ----------
    record_keys
        The sum of the record keys of each cell, where the records have keys.
    key_range
        Record keys are whole numbers below it, and their sums are taken modulo it.
    weights
        The sum of the design weights of each cell's records, where they have any.
    magnitudes
        The magnitudes that are protected; ``table`` counts the same records. ``None`` where the counts
        are protected.
    metadata
        What its publisher says of it, by the names of ``TABLE_TEXTS``.
    statuses
        What the file of the table calls its cells, as lines of an a priori file.
    people
        Whether earlier releases count the same people, where the house has said so.
    roles
        The sensitive variables, and those by which groups of people are told.
    """

    table: Table
    at_risk: SmallCount = field(default_factory=SmallCount)
    title: str = ""
    record_keys: Table | None = None
    weights: DesignWeights | None = None
    magnitudes: MagnitudeProblem | None = None
    people: People = field(default_factory=People)
    roles: Roles = NO_ROLES
    key_range: int = KEY_MODULUS
    statuses: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def of_magnitudes(
        cls,
        magnitudes: MagnitudeProblem,
        title: str = "",
        at_risk: SmallCount | None = None,
        people: People | None = None,
        metadata: Mapping[str, str] = MappingProxyType({}),
    ) -> Problem:
        """The problem of protecting magnitudes, with the counts of the same records."""
        return cls(
            magnitudes.table.units,
            at_risk or SmallCount(),
            title,
            magnitudes=magnitudes,
            people=people or People(),
            metadata=metadata,
        )

    @property
    def contributions(self) -> MagnitudeProblem:
        """The magnitudes, for methods that hold them."""
        assert self.magnitudes is not None
        return self.magnitudes

    def __post_init__(self) -> None:
        if self.record_keys is not None and self.record_keys.domain != self.table.domain:
            raise InputError(message("the record keys are those of another table"))
        if self.weights is not None and self.weights.sums.domain != self.table.domain:
            raise InputError(message("the weights are those of another table"))
        if self.table.has_negative:
            keys, values = self.table.cells
            cell = self.table.domain.unflat(int(keys[values < 0][0]))
            raise InputError(message("an original count is negative"), cell=self.table.domain.cell_text(cell))
        check_structural(self.table)

    def unprotected(
        self, domain: Domain, groupings: tuple[Grouping, ...] = (), *, weighted: bool = False
    ) -> Table:
        """A published table as it would be without protection: counts, or sums of weights."""
        if domain == self.table.domain and not weighted:
            return self.table
        if not weighted:
            return true_table(self.table, domain, groupings)
        if self.weights is None:
            raise InputError(message("the table has no design weights"))
        return self.weights.rounded(domain, groupings)


@dataclass(frozen=True)
class Preview:
    """The foreseen effect of a mechanism on this table, before any coin is flipped. Confidential.

    Attributes
    ----------
    at_risk_cells
        Number of at-risk cells.
    judged_cells
        Number of cells the probabilities below are averaged over: the at-risk cells that are
        published, or all positive cells where none is at risk.
    unchanged_share
        Mean probability that a judged cell is published unchanged.
    mean_absolute_deviation
        Expected |published - original| per judged cell.
    change
        Probability of each change of a judged cell (published - original).
    runs
        Number of simulated runs behind the figures; 1 for a method without chance.
    blocked_share
        Expected share of the coins' moves that are blocked, for cycles.
    blocked_by_cycle
        The same by cycle, (cycles,).
    immovable
        Positive cells that no cycle of the set can move, as flat keys, int64 (cells,).
    sentence
        What a method without chance will do, in words.
    no_change
        The chance that nothing at all changes, known from the kept margins alone; ``None`` where no
        margin is kept.
    """

    at_risk_cells: int
    judged_cells: int
    unchanged_share: float
    mean_absolute_deviation: float
    change: dict[int, float]
    runs: int
    blocked_share: float = 0.0
    blocked_by_cycle: Floats = field(default_factory=lambda: np.zeros(0))
    immovable: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    sentence: str = ""
    no_change: float | None = None

    @classmethod
    def of_changes(
        cls, *, at_risk: int, judged: int, runs: int, change: Mapping[int, int], sentence: str = ""
    ) -> Preview:
        """A preview from the frequency of each change of a judged cell; hidden cells have none."""
        seen = sum(change.values())
        shares = {k: n / seen for k, n in sorted(change.items())}
        return cls(
            at_risk_cells=at_risk,
            judged_cells=judged,
            unchanged_share=change.get(0, 0) / (judged * runs) if judged else 1.0,
            mean_absolute_deviation=sum(abs(k) * share for k, share in shares.items()),
            change=shares,
            runs=runs,
            sentence=sentence,
        )


@dataclass(frozen=True, eq=False)
class Steps:
    """The coins of a sequence of cycles, and the steps taken.

    Attributes
    ----------
    coins : int8 (passes, steps of a pass)
        The coin: +1 add, -1 subtract, 0 leave. One long pass where the steps are not whole rounds
        over the list of cycles.
    effective : int8 (passes, steps of a pass)
        The step taken: 0 also where it was blocked.
    blocked : bool (passes, steps of a pass)
        Steps that no coin could have taken (any_zero), or whose coin was refused (negative).
    sequence : int64 (steps,) or None
        The cycle of each step, from 0; -1 where none could be taken. ``None``: as listed.
    """

    coins: npt.NDArray[np.int8]
    effective: npt.NDArray[np.int8]
    blocked: Bools
    sequence: Ints | None = None

    @property
    def cycles(self) -> Ints:
        """The cycle of each step, from 0, int64 (steps,); -1 where none could be taken."""
        if self.sequence is not None:
            return self.sequence
        passes, each = self.coins.shape[:2]
        return np.tile(np.arange(each, dtype=np.int64), passes)

    @property
    def blocked_share(self) -> float:
        """Share of the moves the coins asked for that were blocked."""
        asked = int((self.coins != 0).sum())
        return float(((self.coins != 0) & (self.effective == 0)).sum() / asked) if asked else 0.0


@dataclass(frozen=True, eq=False)
class Draft:
    """A method's proposed result, before its promises are checked. Confidential.

    Attributes
    ----------
    tables
        The tables that would be published, the main table first.
    disclosed
        Public parameters whose value the run decided (or completed); the others are disclosed as
        they were given.
    statuses
        One array of status letters per table, for methods that suppress.
    hidden
        A table the method worked on that does not leave the house (rounded inner cells).
    findings
        Further findings for the house, as JSON values under plain names; shown, and kept in the
        dossier.
    sentence
        The finding that matters most, in words.
    steps
        The coins and steps of a sequence of cycles.
    magnitudes
        The tables of magnitudes that would be published.
    pattern
        What is hidden of magnitudes and why; ``None`` where nothing is.
    """

    tables: tuple[PublishedTable, ...] = ()
    disclosed: Mapping[str, object] = field(default_factory=dict)
    statuses: tuple[Letters, ...] = ()
    hidden: Table | None = None
    findings: Mapping[str, object] = field(default_factory=dict)
    sentence: str = ""
    steps: Steps | None = None
    magnitudes: tuple[PublishedMagnitudes, ...] = ()
    pattern: Pattern | None = None


PRIMARY = "U"
"""The status letter of what is hidden because it is unsafe itself."""

OVERRULED = message("published all the same")
"""First words of a decision that releases against a finding."""

STANDING = message("standing reason of the house")
"""First words of a decision that the policy takes for what is not judged whole."""

SHORT_SEED = message("a short seed was accepted")
"""First words of a decision that releases what rests on a seed that can be guessed."""

GIVEN_SEED = message("a fixed seed was used: whoever knows it can undo the changes")
"""The decision that a run records."""


@dataclass(frozen=True)
class RunEvidence:
    """The house's record of a run: original, seed, coins and decisions. Confidential.

    Attributes
    ----------
    parameters
        All resolved parameters, the confidential ones too.
    coins
        Where the coins come from.
    attempt
        Number of the draw. The most confidential figure here: published, it would disclose counts.
    decisions
        Explicit decisions, for example to publish against the gate.
    stream
        The generator that made the coins from the seed.
    verdict
        The verdict, beside the true figures.
    prepared_by, approved_by
        Who answers for the release, as they signed; empty where nobody did.
    steps, statuses, hidden, findings, sentence
        As in the :class:`Draft`.
    """

    problem: Problem
    seed: int = field(repr=False)
    seed_given: bool
    coins: Coins = "house"
    attempt: int = 1
    parameters: Mapping[str, object] = field(default_factory=dict, repr=False)
    decisions: tuple[str, ...] = ()
    steps: Steps | None = None
    statuses: tuple[Letters, ...] = ()
    hidden: Table | None = None
    findings: Mapping[str, object] = field(default_factory=dict, repr=False)
    sentence: str = ""
    verdict: StaffVerdict | None = None
    prepared_by: str = ""
    approved_by: str = ""

    @property
    def randomness(self) -> Randomness:
        """The randomness the coins were drawn from."""
        return Randomness(self.seed, self.seed_given, self.coins)

    @property
    def primary(self) -> Bools:
        """The cells of the main table that are hidden because they are unsafe themselves."""
        return np.asarray(self.statuses[0] == PRIMARY)

    @property
    def overruled(self) -> bool:
        """Return True if a decision releases it against a finding."""
        return self.accepted or any(decision.startswith(STANDING) for decision in self.decisions)

    @property
    def accepted(self) -> bool:
        """Return True if somebody decided so of this very release."""
        return any(decision.startswith(OVERRULED) for decision in self.decisions)

    @property
    def blocked_share(self) -> float:
        """Share of the coins' moves that were blocked in this run."""
        return 0.0 if self.steps is None else self.steps.blocked_share


@dataclass(frozen=True)
class Protected:
    """The result of protecting: the public release and the confidential record."""

    release: Release
    record: RunEvidence

    @property
    def verdict(self) -> StaffVerdict:
        """The verdict on the release."""
        assert self.record.verdict is not None
        return self.record.verdict


@dataclass(frozen=True, eq=False)
class JudgedCells:
    """The cells of one published table that figures are averaged over. Confidential.

    Attributes
    ----------
    truth : int64, shape of the published table
        The counts that would be published without protection.
    at_risk
        Number of at-risk cells among the published table's cells.
    cells : bool, shape of the published table
        The at-risk cells, or all positive ones where none is.
    """

    truth: Ints
    at_risk: int
    cells: Bools

    @classmethod
    def of(
        cls,
        problem: Problem,
        published: PublishedTable,
        groupings: tuple[Grouping, ...] = (),
        *,
        weighted: bool = False,
    ) -> JudgedCells:
        """Judge a published table by the problem's rule, which is about counts of records."""
        domain = published.table.domain
        counts = problem.unprotected(domain, groupings).counts
        cells = problem.at_risk.mask(counts)
        at_risk = int(cells.sum())
        truth = problem.unprotected(domain, groupings, weighted=True).counts if weighted else counts
        return cls(truth, at_risk, cells if at_risk else counts > 0)

    def changes(self, published: PublishedTable) -> Counter[int]:
        """The frequency of each change of a judged cell; cells without a count are left out."""
        moved = published.table.counts - self.truth
        return changes(moved[self.cells & ~published.hidden])


def changes(moved: Ints) -> Counter[int]:
    """The frequency of each change."""
    values, times = np.unique(moved, return_counts=True)
    return Counter(dict(zip(values.tolist(), times.tolist(), strict=True)))


ALL_BUT_NOTHING = 0.995
"""Chance of two counts together from which on no other is worth a word."""


@dataclass(frozen=True)
class WorstCell(Encodable):
    """The at-risk cell in whose true count a reader has the highest belief.

    Attributes
    ----------
    chances
        How likely a reader thinks each small count to be, the least count first; empty where that
        was not kept.
    believed
        The same of every count that is likely enough to be drawn, from 0.
    """

    table: tuple[str, ...]
    cell: tuple[str, ...]
    belief: float
    chances: tuple[tuple[int, float], ...] = ()
    believed: tuple[tuple[int, float], ...] = ()
    json_keys = "table cell belief"

    @property
    def sentence(self) -> str:
        """The cell and how sure a reader is, as part of a sentence: *North, 80+: 1 or 2, 30 to 70*."""
        cell = joined(self.cell, ", ") or message("grand total")
        possible = [(count, chance) for count, chance in self.chances if chance > 1 - CERTAIN]
        if len(possible) != 2 or sum(chance for _, chance in possible) < ALL_BUT_NOTHING:
            return message("{cell}: {chance} sure", cell, in_100(self.belief))
        (low, first), (high, second) = possible
        return message(
            "{cell}: {low} or {high}, {first} to {second}",
            cell,
            low,
            high,
            round(100 * first),
            round(100 * second),
        )


@dataclass(frozen=True)
class Staff(Encodable):
    """Readers' right beliefs, over the true at-risk cells of all judged tables.

    Attributes
    ----------
    at_risk_cells
        Their number.
    known, certain
        Cells whose true count a reader believes in with more than the limit, and as good as surely.
    stuck
        Cells that no cycle of the mechanism can move; ``None`` without cycles. Nothing is gated on
        it.
    mean_belief
        Mean belief in the true count; ``None`` where no cell is at risk or nothing was judged.
    worst
        The cell with the highest belief; ``None`` where none is at risk.
    """

    at_risk_cells: int
    known: int
    certain: int
    stuck: int | None
    mean_belief: float | None
    worst: WorstCell | None

    @property
    def known_found(self) -> Finding:
        """Say how many small counts readers would know."""
        values: dict[str, object] = {"known": self.known, "cells": self.at_risk_cells}
        return Finding("true_known", values=values, staff=True)

    @property
    def finding(self) -> Finding:
        """Say how many small counts there are, and how sure of one a reader is."""
        kind, n = "true_certain" if self.certain else "true_uncertain", self.certain
        if self.mean_belief is None:
            kind, n = "small_counts" if self.at_risk_cells else "no_small_counts", self.at_risk_cells
        return Finding(kind, values={"n": n, "chance": in_100(self.mean_belief or 0.0)}, staff=True)


@dataclass(frozen=True)
class ContributorsAudit(Encodable):
    """An audit with the contributions themselves. Confidential.

    Attributes
    ----------
    readers, items
        How many readers were tried, and how many pairs of a reader and an unsafe sum.
    exactly, within
        Pairs in which the reader would know a contribution exactly, or too nearly.
    broken
        Sums that are not protected.
    unsafe
        Sums that tell too much by the rules.
    known
        Those among them whose best guess is near with more than the limit.
    audited, to_audit
        Unsafe sums that readers were tried on, and all of them, sums of the same records once.
    share
        How near is too near by the rules, in percent; empty where they do not say.
    narrow
        Hidden sums that tell too much and of which so little stays possible that the second largest's
        best guess of the largest contribution comes near with more than the limit.
    """

    readers: int
    items: int
    exactly: int
    within: int
    broken: int
    unsafe: int
    known: int = 0
    audited: int = 0
    to_audit: int = 0
    share: str = ""
    narrow: int = 0
    json_keys = "readers items exactly within audited unsafe=to_audit narrow"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Say what came of it. Confidential."""
        near = (
            message("within {share} % of another's value", self.share)
            if self.share
            else message("too near to another's value")
        )
        values: dict[str, object] = {"readers": self.readers, "near": near, "n": self.broken or self.narrow}
        if self.broken:
            return (Finding("broken", "failed", values, staff=True),)
        audited = {"audited": self.audited, "unsafe": self.to_audit}
        tried = Finding("narrow", "mind", values) if self.narrow else Finding("nobody_near", "passed", values)
        sample = () if self.audited == self.to_audit else (Finding("sampled", values=audited, staff=True),)
        return (replace(tried, staff=True), *sample)


@dataclass(frozen=True)
class StaffVerdict(Verdict):
    """A verdict with the figures that only staff may see: of the true counts, or of the contributions."""

    staff: Staff | None = None
    audit: ContributorsAudit | None = None

    @property
    def tried(self) -> tuple[Finding, ...]:
        """Say what was tried with the contributions, where sums are hidden."""
        hidden = self.outsider is not None and self.outsider.hidden
        return self.audit.findings if self.audit is not None and hidden else ()

    @property
    def staff_sentence(self) -> str:
        """The verdict in words, with what was tried with the contributions."""
        return in_words((*self.tried, *self.findings))

    def as_json(self) -> dict[str, object]:
        found = super().as_json()
        if self.outsider is not None:
            return found
        return found | {"staff": None if self.staff is None else self.staff.as_json()}
