"""``serve-session``: a table server whose history is in a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tabprotect.cli.declaring import command
from tabprotect.cli.margins.released_margins import (
    Gathering,
    Threshold,
    bracketed,
    frontier_json,
    standard_of,
)
from tabprotect.cli.output import Console
from tabprotect.engine.agency import user_name
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.options import Naming, option_field, part, position
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.registered import rules, session_rules
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.decision import Request, ServerState
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.query_space.table_server.ledger import Ledger
    from tabprotect.engine.query_space.table_server.session import Answered


@dataclass(frozen=True, kw_only=True)
class ServeSession(Gathering):
    """Arguments of ``serve-session``."""

    database: str = position(
        metavar="DB_URL", help=message("an SQLite file or any SQLAlchemy URL (confidential)")
    )
    table: str = option_field(metavar="TABLE", help=message("a file or example:NAME"))
    query: Sequence[str] = option_field(
        (), metavar="A,B", help=message("tables to ask for, in this order"), several=True
    )
    user: str | None = option_field(None, help=message("who asks (default: your login name)"))
    rule: str = option_field(
        "myopic",
        metavar="RULE",
        help=message("release rule: {rules} (default: myopic)", joined(session_rules(), ", ")),
    )
    set: Mapping[str, str] | None = option_field(
        None, metavar="NAME=VALUE", help=message("a parameter of the rule"), naming=Naming()
    )
    replay: str | None = option_field(
        None,
        metavar="NUMBER|TIME",
        help=message("show the history, up to a number or an ISO time, and ask nothing"),
        bare="all",
    )
    threshold: Threshold = part(Threshold)


@command(
    "serve-session",
    example="tabprotect serve-session history.db --table example:czech-autoworkers --query A,B",
)
def run_session(asked: ServeSession, console: Console) -> int:
    """Open the history, answer in turn, print the answers."""
    rule = rules()[asked.rule.replace("-", "_")]
    values = rule.resolve(dict(asked.set or {}))
    until = None if asked.replay in (None, "all") else _until(asked.replay)
    held_to = standard_of(asked, asked.threshold, asked.threshold.bounds, console)
    evidence = held_to.evidence
    lattice = evidence.lattice
    queries = [lattice.parse(text) for text in asked.query]
    start = ReleaseSet.begin(held_to, progress=console)
    # Here, because the database library would slow the start of every other command.
    from tabprotect.engine.query_space.table_server.ledger import Ledger
    from tabprotect.engine.query_space.table_server.session import ServerSession

    user = asked.user or user_name()
    if not user and asked.replay is None:
        raise ParameterError(
            {"user": message("the system knows no name of yours")}, hint=message("give --user")
        )
    with Ledger(asked.database, evidence.table) as ledger:
        if asked.replay is not None:
            return _replayed(ledger, start, until, console)
        session = ServerSession(ledger, ServerState.begin(start, rule, values), console)
        answers = [session.ask(Request(user, query), console) for query in queries]
    releases = session.state.releases
    data = {
        "session": session.number,
        "answers": [_answer_json(answered, evidence) for answered in answers],
        "released_frontier": frontier_json(lattice, releases.released),
        "unreleasable_frontier": frontier_json(lattice, releases.unreleasable),
        "released": releases.released.size,
        "unreleasable": releases.refused,
    }
    lines = []
    for answered in answers:
        answer = answered.answer
        given = message(", {lattice}", bracketed(lattice, answer.queries)) if answer.queries else ""
        lines.append(
            message(
                "{number}  {value}: {kind}{given} ({reason})",
                answered.entry.number,
                lattice.text(answer.query) or "(total)",
                answer.kind,
                given,
                answer.reason,
            )
        )
        if answered.entry.line.price is not None:
            lines.append(message("   {sentence}", answered.entry.line.price.sentence))
    lines += [
        message("released: {lattice}", bracketed(lattice, releases.released)),
        message("unreleasable: {lattice}", bracketed(lattice, releases.unreleasable)),
    ]
    console.result(data, lines)
    return 0


def _until(text: str) -> int | datetime:
    try:
        return int(text) if natural(text) is not None else datetime.fromisoformat(text)
    except ValueError:
        raise ParameterError(
            {"replay": message("must be a number or a time such as 2026-01-31T12:00, is {text}", repr(text))}
        ) from None


def _replayed(ledger: Ledger, start: ReleaseSet, until: int | datetime | None, console: Console) -> int:
    from tabprotect.engine.query_space.table_server.session import replay

    lattice, history, lines = ledger.lattice, [], []
    for entry, state in replay(ledger, start, until=until, progress=console):
        history.append(
            entry.as_json(lattice)
            | {
                "released_frontier": frontier_json(lattice, state.released),
                "unreleasable_frontier": frontier_json(lattice, state.unreleasable),
                "released": state.released.size,
                "unreleasable": state.refused,
            }
        )
        lines.append(
            message(
                "{number}  {time:%Y-%m-%d %H:%M}  {user}  "
                "{value}: {kind}; "
                "{size} released, {refused} unreleasable",
                entry.number,
                entry.time,
                entry.line.user,
                lattice.text(entry.line.query) or "(total)",
                entry.line.kind,
                state.released.size,
                state.refused,
            )
        )
    console.result({"history": history}, lines or [message("nothing has been asked yet")])
    return 0


def _answer_json(answered: Answered, evidence: Evidence) -> dict[str, object]:
    answer, price, table = answered.answer, answered.entry.line.price, evidence.table
    column = "counts" if evidence.measure == "counts" else "sums"
    names = [_names(table, query) for query in answer.queries]
    return {
        "number": answered.entry.number,
        "query": _names(table, answer.query),
        "answer": answer.kind,
        "released": names,
        "reason": answer.reason,
        "price": price,
        "tables": [
            {
                "variables": m.domain.names,
                "categories": list(m.domain.categories.values()),
                column: evidence.shown(m.counts),
            }
            for m in map(table.margin, names)
        ],
    }


def _names(table: Table, query: Query) -> tuple[str, ...]:
    return tuple(name for v, name in enumerate(table.domain.names) if query >> v & 1)
