"""The table server: a fold over requests, so that every session can be replayed and audited.

``serve(state, request)`` gives the next state, the answer for the user and a line for the log.
It is pure: no clock, no random numbers, no files. Who keeps the log decides what is so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import maximal
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.engine.query_space.table_server.price import price

AnswerKind = Literal["table", "projection", "refusal", "deferral"]

REFUSED = "not released: the sub-table is too close to single persons, or cannot be shown not to be"
"""All that may be said: figures would be a release of their own."""


@dataclass(frozen=True)
class Request:
    """A user asks for a sub-table."""

    user: str
    query: Query


@dataclass(frozen=True)
class Answer:
    """What the user gets. Public.

    Attributes
    ----------
    kind
        ``table``: the sub-table itself; ``projection``: what of it is released; ``refusal``;
        ``deferral``: perhaps later.
    queries
        The sub-tables given out.
    reason
        What may be said about it.
    """

    query: Query
    kind: AnswerKind
    queries: tuple[Query, ...]
    reason: str


@dataclass(frozen=True)
class LogLine:
    """What the house records of one request. Confidential.

    Attributes
    ----------
    newly_released
        The query, if this answer is its first release.
    detail
        Why, with figures.
    """

    user: str
    query: Query
    kind: AnswerKind
    newly_released: Query | None
    reason: str
    detail: str


@dataclass(frozen=True)
class ServerState:
    """Everything an answer depends on. Confidential.

    Attributes
    ----------
    demand
        How often each query was asked for.
    refused
        What the criterion refused so far: what users know of the original beside the margins.
    """

    releases: ReleaseSet
    rule: ReleaseRule
    values: Values
    demand: Mapping[Query, int]
    refused: frozenset[Query] = frozenset()

    @classmethod
    def begin(
        cls, releases: ReleaseSet, rule: ReleaseRule, given: Mapping[str, object] | None = None
    ) -> ServerState:
        """A server that has answered nothing yet.

        Raises
        ------
        ParameterError
            For wrong parameters of the rule.
        InfeasibleError
            When the threshold forbids even the one-way tables.
        """
        releases.require_some_one_way()
        return cls(releases, rule, rule.resolve(given or {}), MappingProxyType({}))

    def after(self, line: LogLine, progress: Progress = SILENT) -> ServerState:
        """The state once a line is in the log: what was decided then stays decided."""
        demand = dict(self.demand)
        demand[line.query] = demand.get(line.query, 0) + 1
        releases, refused = self.releases, self.refused
        if line.query not in releases.released and not releases.allows(line.query):
            refused |= {line.query}
        if line.newly_released is not None:
            releases = releases.release(line.newly_released, progress)
        return replace(self, releases=releases, demand=MappingProxyType(demand), refused=refused)


def serve(
    state: ServerState, request: Request, progress: Progress = SILENT
) -> tuple[ServerState, Answer, LogLine]:
    """Answer one request."""
    releases, query = state.releases, request.query
    if query in releases.released:
        ruling = Ruling("release", "released before")
        new = None
    elif not releases.allows(query):
        proved = "proved too tight" if query in releases.proved else "not proved wide enough"
        told = price(releases, query, refused=state.refused, progress=progress)
        detail = proved if told is None else f"{proved}. {told.sentence}"
        ruling = Ruling("refuse", REFUSED, detail)
        new = None
    else:
        asked = dict(state.demand)
        asked[query] = asked.get(query, 0) + 1
        ruling = state.rule.decide(Situation(query, releases, asked), state.values, progress)
        new = query if ruling.decision == "release" else None
    if ruling.decision == "release":
        answer = Answer(query, "table", (query,), ruling.reason)
    elif ruling.decision == "defer":
        answer = Answer(query, "deferral", (), ruling.reason)
    else:
        parts = maximal(member & query for member in releases.released)
        kind: AnswerKind = "projection" if any(parts) else "refusal"
        answer = Answer(query, kind, parts if any(parts) else (), ruling.reason)
    line = LogLine(request.user, query, answer.kind, new, answer.reason, ruling.detail)
    return state.after(line, progress), answer, line
