"""Decisions of the table server on requests, one by one, so that every session can be replayed.

``serve(state, request)`` gives the next state, the answer for the user and a line for the log.
It is pure: no clock, no random numbers, no files. The keeper of the log decides what holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

from tabprotect.engine.errors import InputError
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.margins.margin_by_margin import THEN
from tabprotect.engine.protection.methods.publish_margins import BOUNDS, CELLS, FRONTIER, PROVED, THRESHOLD
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.query_space.frontier import Frontier, maximal_queries
from tabprotect.engine.query_space.keyed_answers import KeyedAnswers
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.engine.query_space.table_server.refusal_price import Decision, RefusalPrice, refusal_price
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

AnswerKind = Literal["table", "projection", "refusal", "deferral", "perturbed"]

EventKind = Literal["settings", "freeze", "account", "disallowed"]

LineKind = AnswerKind | EventKind

EVENTS: frozenset[str] = frozenset(get_args(EventKind))
"""Kinds of lines that decided nothing."""

REFUSED = message("not released: the sub-table is too close to single persons, or cannot be shown not to be")
"""All that may be said: figures would be a release in themselves."""

PERTURBED = message("from the perturbed table, which agrees with every released sub-table")

CLOSED = message("not released: the released frontier is frozen")


@dataclass(frozen=True)
class Request:
    """A user asks for a sub-table."""

    user: str
    query: Query


@dataclass(frozen=True)
class Answer:
    """The reply to a user. Public.

    Attributes
    ----------
    kind
        ``table``: the sub-table itself; ``projection``: its released sub-tables; ``refusal``;
        ``deferral``: perhaps later; ``perturbed``: the sub-table of the perturbed table.
    queries
        The sub-tables given out.
    reason
        The part of the reason that may be shown.
    permanent
        Whether the same request will always get the same answer.
    """

    query: Query
    kind: AnswerKind
    queries: tuple[Query, ...]
    reason: str
    permanent: bool


@dataclass(frozen=True)
class LogLine:
    """The record of one request, or of one act of the house. Confidential.

    Attributes
    ----------
    newly_released
        The query, if this answer is its first release.
    detail
        The reason, with figures.
    permanent
        As in the :class:`Answer`.
    bundle
        Fingerprint of the release bundle that went out with it; empty for none.
    price
        The price of a refusal, as ``detail`` states it; the log holds it only there.
    """

    user: str
    query: Query
    kind: LineKind
    newly_released: Query | None
    reason: str
    detail: str
    permanent: bool = False
    bundle: str = ""
    price: RefusalPrice | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ServerState:
    """Everything an answer depends on. Confidential.

    Attributes
    ----------
    demand
        Number of times each query was asked for.
    bundles
        Fingerprint of the bundle that each query was answered with.
    refused
        What users know to be refused for good: the smallest such queries, and all above them.
    frozen
        Whether no further true sub-table is ever released.
    perturbed
        Fingerprint of the perturbed table that answers beyond the frozen frontier; empty for none.
    settings
        Fingerprint of the settings last fixed for the service.
    decisions
        What the criterion decided, each with what was out then; not what follows from another.
    answers
        What answers with noise by cell keys, under a rule that does so.
    """

    releases: ReleaseSet
    rule: ReleaseRule
    values: Values
    demand: Mapping[Query, int]
    bundles: Mapping[Query, str]
    refused: Frontier
    frozen: bool = False
    perturbed: str = ""
    settings: str = ""
    decisions: tuple[Decision, ...] = ()
    answers: KeyedAnswers | None = None

    @classmethod
    def begin(
        cls,
        releases: ReleaseSet,
        rule: ReleaseRule,
        given: Mapping[str, object] | None = None,
        answers: KeyedAnswers | None = None,
    ) -> ServerState:
        """A server that has answered nothing yet.

        Raises
        ------
        ParameterError
            If parameters of the rule are wrong.
        InputError
            If the rule lists what becomes impossible and sub-tables are too many.
        InfeasibleError
            If the threshold forbids even the one-way tables.
        """
        lattice = releases.evidence.lattice
        if rule.lists and not lattice.listed:
            raise InputError(
                message(
                    "the rule {name} weighs what becomes impossible, and there are too many "
                    "sub-tables to list",
                    repr(rule.name),
                ),
                hint=message("take another rule, such as myopic; or serve fewer variables"),
            )
        if rule.keyed != (answers is not None):
            raise InputError(
                message("the rule {name} answers from records with keys", repr(rule.name))
                if rule.keyed
                else message("records with keys are served by the rule cell_keys alone"),
                hint=message(
                    'write name = "cell_keys" in [rule], and in [table] variables = [...] and '
                    "record_key, the column of keys"
                ),
            )
        if not rule.simulatable:
            releases.require_some_one_way()
        refused = Frontier(lattice, (), upward=True)
        nothing: Mapping[Query, int] = MappingProxyType({})
        bundles: Mapping[Query, str] = MappingProxyType({})
        values = rule.resolve(given or {})
        return cls(releases, rule, values, nothing, bundles, refused, answers=answers)

    def after(self, lines: Iterable[LogLine], progress: Progress = SILENT) -> ServerState:
        """The state after lines have been logged: decisions made then stand."""
        demand, bundles = dict(self.demand), dict(self.bundles)
        releases, refused, frozen, perturbed = (self.releases, self.refused, self.frozen, self.perturbed)
        settings, decisions = self.settings, list(self.decisions)
        for line in lines:
            if line.kind == "freeze":
                frozen, perturbed = True, line.bundle
            if line.kind == "settings":
                settings = line.reason
            if line.kind in EVENTS:
                continue
            made = self._decided(line, releases, refused)
            if made is not None and made not in decisions:
                decisions.append(made)
            demand[line.query] = demand.get(line.query, 0) + 1
            if line.kind == "table" and line.bundle:
                bundles[line.query] = line.bundle
            if line.kind in ("refusal", "projection") and line.permanent:
                refused = refused.add(line.query)
                releases = releases.refuse(line.query)
            if line.newly_released is not None:
                releases = releases.release(line.newly_released, progress)
        return replace(
            self,
            releases=releases,
            demand=MappingProxyType(demand),
            bundles=MappingProxyType(bundles),
            refused=refused,
            frozen=frozen,
            perturbed=perturbed,
            settings=settings,
            decisions=tuple(decisions),
        )

    def _decided(self, line: LogLine, releases: ReleaseSet, refused: Frontier) -> Decision | None:
        """Return what the criterion decided with a line; ``None`` where that follows from something else."""
        by_criterion = line.reason == REFUSED
        # A rule is asked only for what the criterion allows.
        by_rule = line.kind in ("refusal", "projection") and line.reason not in (REFUSED, CLOSED)
        put_off = line.kind == "deferral" or by_rule
        # Above what was refused all is refused; what is released is safe with all that is out.
        if self.rule.simulatable or not (by_criterion or put_off) or line.query in refused:
            return None
        return Decision(line.query, tuple(releases.released.members), put_off)


def serve(
    state: ServerState, request: Request, progress: Progress = SILENT
) -> tuple[ServerState, Answer, LogLine]:
    """Answer one request."""
    answer, line = decide(state, request, progress)
    return state.after([line], progress), answer, line


def decide(state: ServerState, request: Request, progress: Progress = SILENT) -> tuple[Answer, LogLine]:
    """The answer to one request and its log line; nothing is changed yet."""
    answer, new, detail = _answered(state, request.query, progress)
    cost = None
    if answer.reason == REFUSED:
        cost = refusal_price(state.releases, request.query, history=state.decisions, progress=progress)
    line = LogLine(
        request.user,
        request.query,
        answer.kind,
        new,
        answer.reason,
        detail if cost is None else message("{detail}. {sentence}", detail, cost.sentence),
        answer.permanent,
        price=cost,
    )
    return answer, line


def _answered(state: ServerState, query: Query, progress: Progress) -> tuple[Answer, Query | None, str]:
    """The answer, the query if this is its first release, and the reason for the log."""
    releases = state.releases
    if query in releases.released or (state.answers is not None and query in state.bundles):
        return Answer(query, "table", (query,), message("released before"), True), None, ""
    if state.frozen and state.perturbed:
        return Answer(query, "perturbed", (query,), PERTURBED, True), None, ""
    if state.frozen:
        return _refused(releases, query, CLOSED, True), None, ""
    if not state.rule.simulatable and not releases.allows(query):
        detail = (
            message("proved too tight") if query in releases.proved else message("not proved wide enough")
        )
        return _refused(releases, query, REFUSED, True), None, detail
    asked = dict(state.demand)
    asked[query] = asked.get(query, 0) + 1
    situation = Situation(query, releases, asked, state.answers, tuple(state.bundles))
    answer, new, detail = _by_rule(releases, query, state.rule.decide(situation, state.values, progress))
    # No true sub-table is out by an answer with noise.
    return answer, new if state.answers is None else None, detail


def _by_rule(releases: ReleaseSet, query: Query, ruling: Ruling) -> tuple[Answer, Query | None, str]:
    if ruling.decision == "release":
        return Answer(query, "table", (query,), ruling.reason, True), query, ruling.detail
    if ruling.decision == "defer":
        return Answer(query, "deferral", (), ruling.reason, False), None, ruling.detail
    return _refused(releases, query, ruling.reason, False), None, ruling.detail


def _refused(releases: ReleaseSet, query: Query, reason: str, permanent: bool) -> Answer:
    """A refusal, or the released part of the query if there is one."""
    parts = maximal_queries(member & query for member in releases.released)
    kind: AnswerKind = "projection" if any(parts) else "refusal"
    return Answer(query, kind, parts if any(parts) else (), reason, permanent)


def release_of(state: ServerState, query: Query, table: Table, title: str) -> Release:
    """The release in which a released sub-table is published; nothing that comes later changes it.

    It states what judged it: the criterion with its threshold, if that proved it safe together
    with all released before, or a rule that looks at no original.

    Parameters
    ----------
    query
        Has at least one variable.
    table
        Its true counts.
    """
    releases = state.releases
    cells = releases.evidence.cells
    margin = cells.lattice.names_of(query)
    said: dict[str, object] = {
        MARGINS.name: ":".join(map(in_formula, margin)),
        THRESHOLD.name: releases.threshold,
        BOUNDS.name: releases.bounds,
        CELLS.name: cells.judged,
        THEN.name: "",
        "criterion": state.rule.name if state.rule.simulatable else releases.criterion.name,
        FRONTIER: [list(margin)],
    }
    if not state.rule.simulatable:
        said |= {"at_risk": str(cells.at_risk), PROVED: True}
    domain = cells.table.domain
    # In a table that nobody could lay out, only the given variables are described.
    described = domain.project(margin) if domain.wide else domain
    mechanism = Mechanism("publish_margins", described, said)
    return Release((PublishedTable(table),), mechanism, title)
