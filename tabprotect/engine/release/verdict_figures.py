"""Figures of what a reader learns from a release. Public: a function of the release alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from tabprotect.engine.plain_values.encoding import Encodable, keyed
from tabprotect.engine.release.findings import Finding, Omission, in_words, listed, said
from tabprotect.engine.release.group_figures import Groups
from tabprotect.engine.release.limits import LEAST_EXPECTED, NO_CHANGE_LIMIT, ROUNDING, Limits
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.tables.variable import spoken
from tabprotect.languages.messages import capital, in_100, joined, message, plural


@dataclass(frozen=True)
class KeptSum(Encodable):
    """A sum of inner cells that is an at-risk count and is published exactly.

    Attributes
    ----------
    table
        The variables of the margin; none for the grand total.
    cell
        Their categories.
    count
    whole
        Whether every count of the margin is published exactly.
    """

    table: tuple[str, ...]
    cell: tuple[str, ...]
    count: int
    whole: bool = True
    json_keys = "table cell count"


MOST_NAMED = 3
"""Sums, or tables of them, that are named; the others are counted."""


def kept_sums_named(kept: Sequence[KeptSum]) -> str:
    """Say which they are, the first few by name; empty for none."""
    if not kept:
        return ""
    first = joined(
        (
            message("{cell}: {count}", joined(one.cell, ", ") or message("grand total"), one.count)
            for one in kept[:MOST_NAMED]
        ),
        "; ",
    )
    more = len(kept) - MOST_NAMED
    return first if more <= 0 else message("{first}; and {more:,} more", first, more)


def kept_in_words(kept: Sequence[KeptSum]) -> str:
    """Say how many there are in each table, in words; empty for none."""
    tables: dict[tuple[str, ...], list[KeptSum]] = {}
    for one in kept:
        tables.setdefault(one.table, []).append(one)
    said = [_of_table(table, sums) for table, sums in list(tables.items())[:MOST_NAMED]]
    if (more := len(tables) - MOST_NAMED) > 0:
        said.append(
            plural(more, "So it is in {more:,} more table.", "So it is in {more:,} more tables.", more)
        )
    return joined(said, " ")


def _of_table(table: tuple[str, ...], sums: Sequence[KeptSum]) -> str:
    number, name = len(sums), spoken(table) or message("grand total")
    if sums[0].whole:
        return plural(
            number,
            "{number:,} of {number:,} small counts of {name} is published as it is.",
            "{number:,} of {number:,} small counts of {name} are published as they are.",
            number,
            name,
        )
    return plural(
        number,
        "{number:,} small count of {name} is published as it is.",
        "{number:,} small counts of {name} are published as they are.",
        number,
        name,
    )


@dataclass(frozen=True)
class Insiders(Encodable):
    """The chance that somebody alone in an inner cell learns another at-risk count.

    Who is alone in a cell knows that it holds 1. With b a reader's posterior of an inner cell i,
    somebody alone there learns if another inner cell has an at-risk count that is believed with more
    than the limit given that i holds 1, and not without.

    Attributes
    ----------
    alone
        The expected number of inner cells that hold one person; ``None`` if that is not known.
    chance
        The chance that one of these learns: the sum of b_i(1) over cells where somebody would, by
        the sum over all. ``None`` where nobody is expected to be alone, or it is not known.
    worst
        The highest chance with which a single cell holds somebody who learns; ``None`` as above.
    exact
        Whether all originals were looked at; drawn ones otherwise.
    """

    alone: float | None
    chance: float | None = None
    worst: float | None = None
    exact: bool = True
    json_keys = "chance worst"

    @property
    def unknown(self) -> bool:
        """True if somebody may be alone, and what they learn is not known."""
        return self.chance is None and self.alone != 0.0

    def fails(self, limits: Limits) -> bool:
        """True if the limits judge it, and it is beyond them."""
        return self.chance is not None and self.chance > limits.insider_limit + ROUNDING

    def findings(self, limits: Limits) -> tuple[Finding, ...]:
        """The chance, with its limit where it is beyond it; nothing where it is not known or none."""
        if not self.chance or self.alone is None:
            return ()
        values = {"n": round(self.alone), "chance": in_100(self.chance)}
        if self.fails(limits):
            return (Finding("insiders_beyond", "failed", values | {"limit": in_100(limits.insider_limit)}),)
        return (Finding("insiders" if self.alone >= 0.5 else "insiders_unlikely", values=values),)


NOT_LOOKED_AT = Insiders(None)
"""Of a verdict that leaves insiders out."""


JudgedBy = Literal["exact", "exact_draws", "simulation", "bounds", "none"]
"""The way in which a posterior was found: exactly; by independent exact draws; by weighed or
dependent draws; only bounds; not at all."""

WAYS: tuple[JudgedBy, ...] = ("exact", "exact_draws", "simulation", "bounds", "none")
"""From the surest way to none."""

SAID = {
    "exact": message("worked out exactly"),
    "exact_draws": message("estimated from drawn tables"),
    "simulation": message("estimated by simulation"),
    "bounds": message("only limits of each count worked out"),
    "none": message("not worked out"),
}
"""How a figure was got, as part of a sentence."""

Who = Literal["user", "intruder"]
"""The readers of counts, each with a prior."""

Reader = Literal["user", "intruder", "outsider", "contributor"]
"""The readers of counts, and those of magnitudes."""

READER: Mapping[Reader, str] = {
    "user": message("a reader"),
    "intruder": message("a reader who knows more"),
    "outsider": message("an outsider"),
    "contributor": message("a contributor"),
}

CERTAIN = 1 - 1e-9
"""Belief from which on a count is certain: the rest is rounding."""


@dataclass(frozen=True)
class TableVerdict:
    """The verdict of one reader on the cells of one table.

    Attributes
    ----------
    who
        The reader.
    names
        The table's variables; none for the grand total.
    inner
        Whether its cells are the inner cells, published or not.
    cells
        Number of cells that were judged.
    at_risk
        Number of at-risk cells that the reader expects among them.
    known, certain
        Number of cells where one at-risk value is believed with more than the limit; as good as
        certain.
    way, error
        The way the posterior was found; the largest standard error of a probability, 0 if exact.
    note
        What is left out or assumed, in words; empty for nothing.
    mean_belief
        What the reader expects their belief in the truth to be over the at-risk cells: the sum of
        b(v)^2 over the sum of b(v), over cells and at-risk values v. ``None`` where they expect
        none.
    small_known
        Number of cells that the reader is certain to be at risk, whichever value they hold: at-risk
        values together are believed with more than the limit.
    left_out
        The kinds of what is left out.
    basis
        What was weighed of the choice of the published numbers, in words; empty if nothing was.
    worst
        Of magnitudes: the largest probability that the reader's best guess comes near the value of
        somebody alone in a cell; ``None`` where that was not worked out.
    hidden
        Of magnitudes: the number of sums that are not published.
    numbers
        Of magnitudes: the number of sums of which readers know how many contribute.
    groups
        What is learned of whole groups of people; ``None`` where that was not asked.
    """

    who: Reader
    names: tuple[str, ...]
    inner: bool
    cells: int
    at_risk: float
    known: int
    certain: int
    way: JudgedBy
    error: float = 0.0
    note: str = ""
    mean_belief: float | None = None
    small_known: int = 0
    left_out: tuple[Omission, ...] = ()
    basis: str = ""
    worst: float | None = None
    hidden: int = 0
    numbers: int = 0
    groups: Groups | None = None

    @property
    def label(self) -> str:
        """The table in words."""
        return spoken(self.names) or message("grand total")

    @property
    def judged(self) -> bool:
        """True if there is a posterior to judge by."""
        return self.way not in ("bounds", "none")

    def allowed(self, limits: Limits) -> float:
        """The largest number of its cells that may be known."""
        return limits.share * self.at_risk

    def fails(self, limits: Limits) -> bool:
        """True if the reader would know or guess more than the limits allow."""
        if self.who == "outsider":
            # Which sums tell too much is not public: contributors are tried on those.
            return False
        return self._counts_fail(limits) or (self.groups is not None and self.groups.fails(limits))

    def _counts_fail(self, limits: Limits) -> bool:
        expected = self.mean_belief is not None
        return (
            self.known > self.allowed(limits)
            or (expected and (self.mean_belief or 0.0) > limits.mean_belief_limit + ROUNDING)
            # A cell that is believed to be at risk counts less than one among those expected.
            or (
                expected
                and limits.small_share < 1
                and self.small_known > limits.small_share * self.at_risk + ROUNDING
            )
        )

    def guesses(self, limits: Gate) -> Finding:
        """Say how near an outsider's best guess comes."""
        beyond = "near_hidden_beyond" if self.known else "near_hidden"
        values = {
            "n": self.known,
            "within": limits.within,
            "worst": math.ceil(100 * (self.worst or 0.0) - ROUNDING),
            "limit": round(100 * limits.belief_limit),
        }
        return Finding(beyond if self.hidden else "near_guess", values=values)

    def finding(self, limits: Limits) -> Finding:
        """Say what of it is beyond a limit; what is known where nothing is."""
        fails, most = self._counts_fail(limits), self.allowed(limits)
        if not fails and self.groups is not None and self.groups.fails(limits):
            return replace(self.groups.findings(limits)[0], where=self.label)
        found = knows(self.at_risk, self.known, self.certain, limit=most, who=self.who)
        if fails and self.known <= most:
            guess = (self.mean_belief or 0.0) > limits.mean_belief_limit + ROUNDING
            found = Finding(
                "guess" if guess else "small_beyond",
                values={
                    **found.values,
                    "sure": self.small_known,
                    "most": int(limits.small_share * self.at_risk + ROUNDING),
                    "chance": in_100(self.mean_belief or 0.0),
                    "often": in_100(limits.mean_belief_limit),
                },
            )
        return replace(found, state="failed" if fails else "told", where=self.label)

    def as_json(self) -> dict[str, object]:
        """One entry of ``tables``."""
        own = (
            "reader=who table=names inner cells at_risk known certain way error mean_belief small_known "
            "left_out note"
        )
        groups = {} if self.groups is None else self.groups.as_json()
        return keyed(self, own) | {"complete": not self.left_out} | groups


@dataclass(frozen=True)
class Verdict:
    """The verdict on everything that is published together.

    The figures are those of the user, who assumes nothing, or of an outsider where only magnitudes are
    published; other readers are in ``tables``.

    Attributes
    ----------
    tables
        Every judged table, for each reader.
    limits
        The limits that applied.
    attempts_at_most
        Most draws there could have been.
    note
        What is left out or assumed, in words; empty for nothing.
    left_out
        The kinds of what is left out.
    reason
        Whether a reason was given for letting out what was not judged whole.
    insiders
        What somebody alone in a cell learns.
    exact_small_margins
        Sums that are at-risk counts and are published exactly on purpose.
    no_change
        The chance, known from the kept margins before any draw, that a draw publishes everything as
        it is; ``None`` where no margin is kept, or nobody works it out.
    unchanged
        The chance for a reader of the release that it is the original; ``None`` where a count is not
        published, or the originals of a method without moves are too many to be listed.
    stated
        Whether it passes as the release states: contributors are tried by who has the contributions.
    """

    tables: tuple[TableVerdict, ...]
    limits: Gate
    attempts_at_most: int
    note: str = ""
    left_out: tuple[Omission, ...] = ()
    reason: bool = False
    insiders: Insiders = NOT_LOOKED_AT
    exact_small_margins: tuple[KeptSum, ...] = ()
    no_change: float | None = None
    unchanged: float | None = None
    stated: bool = False

    @property
    def _user(self) -> tuple[TableVerdict, ...]:
        counts = tuple(table for table in self.tables if table.who == "user")
        return counts or tuple(table for table in self.tables if table.who == "outsider")

    @property
    def counted(self) -> bool:
        """Return True if it is a verdict on counts, by themselves or beside magnitudes."""
        return any(table.who == "user" for table in self.tables)

    @property
    def outsider(self) -> TableVerdict | None:
        """What somebody outside learns of magnitudes; ``None`` for counts alone."""
        return next((table for table in self.tables if table.who == "outsider"), None)

    @property
    def worst(self) -> float | None:
        """The largest probability that an outsider's best guess comes near; ``None`` where unknown."""
        return None if self.outsider is None else self.outsider.worst

    @property
    def gate(self) -> Gate:
        """The limits with what came of them, as the release states them."""
        return replace(self.limits, passed=self.passed, left_out=self.left_out, reason=self.reason)

    @property
    def at_risk(self) -> float:
        """Expected number of at-risk cells, over all judged tables."""
        return sum(table.at_risk for table in self._user)

    @property
    def known(self) -> int:
        """Number of known cells, over all judged tables."""
        return sum(table.known for table in self._user)

    @property
    def certain(self) -> int:
        """Number of certain cells, over all judged tables."""
        return sum(table.certain for table in self._user)

    @property
    def limit(self) -> float:
        """The largest number of cells that may be known in all."""
        return self.limits.share * self.at_risk

    @property
    def mean_belief(self) -> float | None:
        """Return that of the inner cells, as ``infer`` shows them; of the first table without them."""
        own = sorted(self._user, key=lambda table: not table.inner)
        return own[0].mean_belief if own else None

    @property
    def groups(self) -> Groups | None:
        """What is learned of whole groups, over all judged tables; ``None`` where it was not asked."""
        return Groups.of_all([table.groups for table in self._user if table.groups is not None])

    @property
    def small_known(self) -> int:
        """Number of cells known to be at risk, over all judged tables."""
        return sum(table.small_known for table in self._user)

    @property
    def way(self) -> JudgedBy:
        """The least sure way among all judged tables."""
        return max((t.way for t in self.tables), key=WAYS.index, default="none")

    @property
    def error(self) -> float:
        """The largest standard error of a probability."""
        return max((t.error for t in self.tables), default=0.0)

    @property
    def complete(self) -> bool:
        """True if everything public was taken into account."""
        return not self.left_out

    @property
    def judged(self) -> bool:
        """True if every table could be judged for every reader who matters for it."""
        return bool(self.tables) and all(table.judged for table in self.tables)

    @property
    def failing(self) -> tuple[TableVerdict, ...]:
        """Tables of which a user or an intruder would know too many cells.

        Each table has to pass by itself, so that a second one beside it never helps; then they pass
        together, too.
        """
        return tuple(table for table in self.tables if table.fails(self.limits))

    @property
    def passed(self) -> bool | None:
        """True if the release passes the gate; ``None`` if it was not judged, or not whole."""
        if self.failing or self.insiders.fails(self.limits):
            return False
        if self.stated:
            return self.limits.passed
        return True if self.judged and self.complete else None

    @property
    def accepted(self) -> bool:
        """True if it may leave: it passes, or there is a reason for what was not judged."""
        # A reason lets counts out where something was not judged; sums also against the verdict.
        return self.passed is True or (self.reason and (self.passed is None or self.outsider is not None))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Say what was found, the gravest alone where it is beyond a limit."""
        if (outsider := self.outsider) is None:
            return self._of_counts(self.left_out_found)
        found = self._of_magnitudes(outsider)
        return (*found, *self._of_counts(())) if self.counted else found

    def _of_counts(self, left_out: tuple[Finding, ...]) -> tuple[Finding, ...]:
        bases = [said(basis) for basis in dict.fromkeys(table.basis for table in self._user if table.basis)]
        if failing := self.failing:
            return (*(table.finding(self.limits) for table in failing[:3]), *bases)
        if not self.judged:
            return (Finding("not_worked_out", "mind"), *([said(self.note)] if self.note else []))
        if self.insiders.fails(self.limits):
            return self.insiders.findings(self.limits)
        kept = [said(kept_in_words(self.exact_small_margins), "mind")] if self.exact_small_margins else []
        note = [said(self.note, "mind")] if self.note and not self.complete else []
        return (
            *left_out,
            self.known_found,
            said(message("{way}.", capital(SAID[self.way]))),
            *self.insiders.findings(self.limits),
            *(self.change_found if self.hardly_drawn else ()),
            *(() if self.groups is None else self.groups.findings(self.limits)),
            *kept,
            *bases,
            *note,
        )

    def _of_magnitudes(self, outsider: TableVerdict) -> tuple[Finding, ...]:
        found = [] if outsider.worst is None else [outsider.guesses(self.limits)]
        if outsider.known and not outsider.hidden:
            found.append(Finding("sums_known", values={"n": outsider.known}))
        if outsider.numbers:
            found.append(Finding("numbers_known", values={"n": outsider.numbers}))
        return (*found, *self.left_out_found) or (Finding("sums_judged"),)

    @property
    def hardly_drawn(self) -> bool:
        """Return True if too many draws of the mechanism would change nothing at all."""
        return (self.no_change or 0.0) > NO_CHANGE_LIMIT + ROUNDING

    @property
    def change_found(self) -> tuple[Finding, ...]:
        """Say how likely it is that nothing was changed; nothing where that is not known."""
        found: list[Finding] = []
        if self.no_change is not None:
            values = {"often": in_100(self.no_change), "limit": in_100(NO_CHANGE_LIMIT)}
            told = Finding("no_change", values=values)
            found.append(replace(told, kind="no_change_beyond", state="mind") if self.hardly_drawn else told)
        often = self.no_change is not None or (self.unchanged or 0.0) > NO_CHANGE_LIMIT
        if self.unchanged is not None and often:
            found.append(Finding("original", values={"chance": in_100(self.unchanged)}))
        return tuple(found)

    @property
    def known_found(self) -> Finding:
        """Say what a reader would know of all tables."""
        return knows(self.at_risk, self.known, self.certain, limit=self.limit)

    @property
    def left_out_found(self) -> tuple[Finding, ...]:
        """Say what was not judged; nothing where all was."""
        return () if self.complete else (Finding("left_out", "mind", {"parts": listed(self.left_out)}),)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return in_words(self.findings)

    @property
    def unjudged(self) -> str:
        """Say what was not judged, with what is to be said of it, in words; empty for nothing."""
        return "" if self.complete else joined(filter(None, [self.not_whole, self.note]), " ")

    @property
    def not_whole(self) -> str:
        """Say what was not judged, in a sentence; empty for nothing."""
        return in_words(self.left_out_found)

    def as_json(self) -> dict[str, object]:
        """The figures for ``--json``."""
        if (outsider := self.outsider) is not None:
            of_magnitudes = keyed(
                self,
                "passed accepted within=limits.within belief_limit=limits.belief_limit "
                "cells=outsider.cells hidden=outsider.hidden known=outsider.known "
                "numbers_known=outsider.numbers complete left_out sentence",
            ) | {"belief": None if outsider.worst is None else round(outsider.worst, 6)}
            return of_magnitudes | ({"counts": self._counts_json()} if self.counted else {})
        return self._counts_json() | {"sentence": self.sentence}

    def _counts_json(self) -> dict[str, object]:
        groups = self.groups or Groups((), 0, None)
        return {
            **keyed(
                self,
                "at_risk known certain limit accepted attempts_at_most belief_limit=limits.belief_limit "
                "share=limits.share mean_belief mean_belief_limit=limits.mean_belief_limit small_known "
                "small_share=limits.small_share no_change unchanged insiders kept_small=exact_small_margins "
                "insider_limit=limits.insider_limit way error complete left_out note",
            ),
            **groups.as_json(),
            "tables": [
                table.as_json() | {"limit": table.allowed(self.limits)}
                for table in self.tables
                if table.who in get_args(Who)
            ],
        }


def nothing_expected(judged: TableVerdict | Verdict) -> bool:
    """True if a reader expects next to no cell at risk, and knows none."""
    return not (judged.known or judged.certain) and judged.at_risk < LEAST_EXPECTED


def knows(
    at_risk: float, known: int, certain: int, *, limit: float | None = None, who: Reader = "user"
) -> Finding:
    """Say what a reader would know, of one table or of all.

    Parameters
    ----------
    limit
        Cells that may be known; ``None`` where no limit is about it.
    """
    none = at_risk < LEAST_EXPECTED and not (known or certain)
    kind = "known" + "_certain" * bool(certain) + "_without_limit" * (limit is None)
    values: dict[str, object] = {
        "reader": capital(READER[who]),
        "known": known,
        "certain": certain,
        "small": about_small(at_risk),
        "limit": int((limit or 0.0) + ROUNDING),
    }
    return Finding("none_expected" if none else kind, values=values)


def about(expected: float) -> str:
    """An expected number of cells as sentences write it, whole: ``about 20``."""
    return message("about {cells:,}", round(expected)) if expected >= 0.5 else message("less than 1")


def about_small(expected: float) -> str:
    """An expected number of small counts, whole: ``about 20 small counts``."""
    n = round(expected)
    if expected < 0.5:
        return message("less than 1 small count")
    return plural(n, "about {n:,} small count", "about {n:,} small counts", n=n)
