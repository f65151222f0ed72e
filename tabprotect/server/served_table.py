"""One table, served with its history, asked by many at once. Confidential inside."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle import public as bundle
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.chained_log import Head
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.errors import InputError, Interrupted, TabprotectError
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.magnitudes.files.sniffing import is_magnitudes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.releasing.coins import agency_randomness
from tabprotect.engine.project.sources import Opened, open_table, records_file, summed, sums_not_counts
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.keyed_answers import KeyedAnswers
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.query_space.registered import gathered_sums, rules, standard
from tabprotect.engine.query_space.release_set import Consequence, ReleaseSet
from tabprotect.engine.query_space.release_set_on_demand import AskedReleaseSet
from tabprotect.engine.query_space.sums.sum_evidence import SumEvidence
from tabprotect.engine.query_space.table_server.decision import (
    REFUSED,
    LogLine,
    Request,
    ServerState,
    decide,
    release_of,
)
from tabprotect.engine.query_space.table_server.ledger import Ledger
from tabprotect.engine.query_space.table_server.log_entry import LogEntry
from tabprotect.engine.query_space.table_server.refusal_price import TELLS, refusal_price
from tabprotect.engine.query_space.table_server.session import (
    Answered,
    Sealed,
    ServerSession,
    followed,
    replay,
)
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.engine.tables.wide_table import WideTable
from tabprotect.languages.messages import message
from tabprotect.server.service import Service

if TYPE_CHECKING:
    from tabprotect.engine.bundle.tables.intervals import Doubt

NOISE = ("D", "V", "js")
"""Parameters of ``cell_key`` that the rule of its name has."""

NOT_OFFERED = message("not offered by the house")

MOST_WAITING = 20
"""Refusals that wait to be priced; beyond, the log says nothing of them."""

AT_ONCE = 64
"""Bundles that are kept at hand between their making and their release."""

AT_A_TIME = 2
"""Answers that are worked on at a time, one of them being logged. That one takes turns with all others at
each statement of its transaction: among forty it would wait for seconds, and everybody for it."""

DRAWS = 400
"""Originals that are drawn and judged; errors are about one in twenty of a probability."""

LOG = logging.getLogger("tabprotect.server")


class PriceWorker:
    """One worker that prices refusals in turn."""

    def __init__(self, ledger: Ledger, *, wanted: bool) -> None:
        self._ledger, self._wanted = ledger, wanted
        self._worker = ThreadPoolExecutor(1, "tabprotect-pricing")
        self._waiting, self._closing = 0, False

    def refused(self, before: ServerState, answered: Answered) -> None:
        """Price an answer, if it is a refusal by the criterion."""
        line = answered.entry.line
        if not self._wanted or line.reason != REFUSED or self._waiting >= MOST_WAITING:
            return
        if self._closing:
            # Decided while the server ends: it is in the log, and answered.
            return
        if TELLS in line.detail:
            # Worked out exactly already.
            return
        self._waiting += 1
        self._worker.submit(self._priced, before, answered.entry.number, line.query)

    def close(self) -> None:
        """Stop; what is under way is left."""
        self._closing = True
        self._worker.shutdown(cancel_futures=True)

    def wait(self) -> None:
        """Wait until everything that waits is priced."""
        self._worker.submit(lambda: None).result()

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Report as a ``Progress`` does: what is under way ends when the server does."""
        if self._closing:
            raise Interrupted

    def _priced(self, before: ServerState, number: int, query: Query) -> None:
        try:
            found = refusal_price(
                before.releases, query, history=before.decisions, draws=DRAWS, progress=self
            )
            said = {} if found is None else found.as_json()
            self._ledger.set_price(number, said)
        except TabprotectError as error:
            # Most often the table is too large for it. The answer is out; the log has a line less.
            LOG.info(message("no price for line %d: %s"), number, error.kind)
        finally:
            self._waiting -= 1


@dataclass(frozen=True)
class Given:
    """A sub-table that goes out, with the bundle it is in. Public."""

    query: Query
    table: Table
    fingerprint: str
    kind: Literal["table", "perturbed"]


class ServedTable:
    """One table, served. Safe to use from several threads.

    Parameters
    ----------
    service
        What is fixed.
    url
        The database of the history.
    opened
        The table, where it is open already: nothing is read from the service's source then.

    Raises
    ------
    InputError, InfeasibleError
        When the table, the criterion or the database cannot be used.
    """

    def __init__(
        self, service: Service, url: str, progress: Progress = SILENT, opened: Opened | None = None
    ) -> None:
        source, columns = service.table.source, service.table.variables
        self.service = service
        self._answers: KeyedAnswers | None = None
        if opened is None and columns:
            records = records_file(source)
            if service.table.measure:
                raise InputError(
                    message("records are counted by the server, and not summed"),
                    hint=message("tabulate them: tabprotect tabulate RECORDS --measure NAME --out T.parquet"),
                )
            if service.table.record_key:
                opened = Opened(self._keyed(records, progress))
            else:
                # Imported late: DuckDB takes a tenth of the program's start.
                from tabprotect.engine.microdata.tabulate import tabulate_with_keys

                opened = Opened(tabulate_with_keys(records, columns, wide=True, progress=progress).table)
        elif opened is None and not service.table.measure:
            if is_magnitudes(Path(source)):
                raise sums_not_counts("")
            opened = open_table(source, progress=progress)
        name = source.removeprefix(PREFIX) if source.startswith(PREFIX) else "table"
        self.id = service.table.id or name
        # Loaded before anybody waits for an answer.
        methods(), formats()
        self.label = service.table.label or (opened.title if opened else "") or self.id
        choice = service.held_to
        if self._answers is None:
            evidence = _evidence(service, opened, progress)
        else:
            assert opened is not None
            # No criterion looks at any.
            evidence = Evidence.gather(_single(opened.table.domain, 1), SmallCount(), asked=True)
        self.domain: Domain = evidence.table.domain
        kind = ReleaseSet if evidence.lattice.listed else AskedReleaseSet
        releases = kind.begin(
            standard(evidence, choice.threshold, choice.name, choice.bounds), progress=progress
        )
        rule = rules()[service.rule.name]
        self._start = ServerState.begin(releases, rule, service.rule.parameters, self._answers)
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(AT_A_TIME)
        # Held here, not by the functions: they go with the table.
        self._margin = lru_cache(maxsize=256)(self._summed)
        self._sealed = lru_cache(maxsize=AT_ONCE)(self._made)
        self._perturbed = lru_cache(maxsize=1)(self._opened)
        self._doubt = lru_cache(maxsize=1)(self._doubted)
        self._ledger = Ledger(url, evidence.table if opened is None else opened.table)
        self._ledger.write_ahead()
        self._price_worker = PriceWorker(self._ledger, wanted=service.access.prices)
        try:
            before = self._ledger.latest_settings() or {}
            mark = service.fingerprint
            self._session = ServerSession(
                self._ledger, self._start, progress, publish=self._sealed, service=mark
            )
            if self._answers is not None:
                # What an answer loads is there before anybody waits for one.
                self._sealed(1)
            if before.get("service", mark) != mark:
                self._log_settings(mark)
        except BaseException:
            self._ledger.close()
            raise

    def _keyed(self, records: Path | str, progress: Progress) -> Table:
        """Begin to answer with noise; a table that stands for the records where histories are told apart."""
        # Imported late, as above.
        from tabprotect.engine.microdata.coded_records import CodedRecords

        table = self.service.table
        found = CodedRecords.read(records, table.variables, table.record_key, progress)
        given = rules()[self.service.rule.name].resolve(self.service.rule.parameters)
        noise = {name: given[name] for name in NOISE if name in given}
        most = SmallCount.parse(table.at_risk).high + int(str(noise.get("D", 0)))
        self._answers = KeyedAnswers(found.domain, found.count, found.key_range, noise, most)
        return _single(found.domain, found.mark)

    def close(self) -> None:
        """Let go of the database."""
        self._price_worker.close()
        self._ledger.close()

    @property
    def lattice(self) -> Lattice:
        """The query space."""
        return self._ledger.lattice

    @property
    def state(self) -> ServerState:
        """Return what has been decided so far, as far as this process knows. Confidential."""
        return self._session.state

    @cached_property
    def disallowed(self) -> Query:
        """Variables and levels that the house does not offer; the counts have no part in it."""
        lattice, found = self.lattice, 0
        for name in self.service.table.disallowed:
            found |= lattice.finest(lattice.query([name]))
        return found

    @property
    def offered(self) -> tuple[Variable, ...]:
        """Variables, and levels of variables, that may be asked for, coarser ones first.

        What was refused for good is offered no more: users know it. Nothing is judged for this.
        """
        lattice, refused = self.lattice, self.state.refused
        return tuple(
            self.domain.project([name])[name]
            for v, name in enumerate(lattice.names)
            if not lattice.closed(1 << v) & self.disallowed and lattice.closed(1 << v) not in refused
        )

    def not_offered(self, user: str, query: Query) -> None:
        """Log a request for what the house does not offer."""
        self.record(LogLine(user, query, "disallowed", None, NOT_OFFERED, ""))

    def shape(self, query: Query) -> tuple[int, ...]:
        """Return how many categories a sub-table has of each of its variables."""
        return tuple(len(self.domain[n].categories) for n in self.lattice.names_of(query))

    def ask(self, user: str, query: Query) -> Answered:
        """Decide on a request; on return the decision is in the log.

        Raises
        ------
        InputError
            When the database cannot be used: nothing was decided.
        """
        request = Request(user, query)
        with self._turns:
            if self._answers is not None:
                # Others need not wait while noise is drawn and packed: it is the same whenever that is done.
                foreseen, _ = decide(self._session.state, request)
                if foreseen.kind == "table" and query not in self._session.state.bundles:
                    self._sealed(query)
            with self._lock:
                self._session.catch_up()
                before = self._session.state
                answered = self._session.ask(request)
        self._price_worker.refused(before, answered)
        return answered

    def vote(self, user: str, number: int, *, known: bool) -> Answered | None:
        """Ask again for what was put off; ``None`` where there is nothing to vote for.

        Parameters
        ----------
        known
            Whether the name is one person's: of these each votes once.
        """
        entry = self.entry(number)
        if entry is None or entry.line.kind != "deferral":
            return None
        query = entry.line.query
        if known and any(e.line.query == query for e in self._ledger.of_user(user)):
            return None
        return self.ask(user, query)

    def at_hand(self, query: Query) -> Given | None:
        """Return what this process knows to be out, without asking the database; else ``None``."""
        return self._known(query) if query in self._session.state.bundles else None

    def known(self, query: Query) -> Given | None:
        """Return what a sub-table was answered with before, by whomever; ``None`` if it was not."""
        given = self._known(query)
        if given is None:
            with self._lock:
                self._session.catch_up()
            given = self._known(query)
        return given

    def out(self, query: Query) -> Given | None:
        """Return what is out: an answer given before, or part of one, whoever asked for that."""
        given = self.known(query)
        if given is None:
            # In the order in which they were decided: the same answer at any time.
            bundles = self._session.state.bundles if self._answers is None else {}
            whole = next((other for other in bundles if other & query == query), None)
            if whole is not None:
                given = Given(query, self._margin(query), bundles[whole], "table")
        return given

    def doubt(self, given: Given) -> Mapping[str, Ints]:
        """From what to what each true count lies by the bundle that went out, and the estimate."""
        from tabprotect.engine.bundle.tables.intervals import DIGITS, ESTIMATE, LOWER, UPPER

        told = None
        if given.kind == "perturbed":
            told = self._doubt(given.fingerprint).of_margin(given.table.domain.names)
        exact = given.table.counts * 10**DIGITS
        return dict(zip((LOWER, UPPER, ESTIMATE), told or (exact, exact, exact), strict=True))

    def given(self, answered: Answered) -> Given | None:
        """Return what goes out with an answer; ``None`` where none of the asked table does."""
        return self._known(answered.answer.query)

    def entry(self, number: int) -> LogEntry | None:
        """A line of the log."""
        return self._ledger.entry(number) if 0 < number < 2**31 else None

    def bundle(self, fingerprint: str) -> bytes | None:
        """A bundle that went out."""
        return self._ledger.bundle(fingerprint)

    def queries_of(self, user: str) -> list[LogEntry]:
        """The latest queries of one user, the latest first."""
        return self._ledger.of_user(user)

    def refresh(self) -> ServerState:
        """The state with what other processes have decided."""
        with self._lock:
            self._session.catch_up()
            return self._session.state

    def consequence(self, query: Query) -> Consequence:
        """Return what releasing a query would do. Confidential."""
        return self.refresh().releases.preview(query)

    def log(self, before: int, most: int) -> list[tuple[LogEntry, Mapping[str, object] | None]]:
        """Lines up to a number, the latest first, with the prices of refusals. Confidential."""
        first = max(0, before - most)
        entries = list(self._ledger.entries(after=first, until=before))
        prices = self._ledger.prices([entry.number for entry in entries])
        return [(entry, prices.get(entry.number)) for entry in reversed(entries)]

    @property
    def length(self) -> int:
        """Return how many lines the log has."""
        self.refresh()
        return self._session.length

    def replayed(self, until: int | datetime) -> tuple[int, ReleaseSet]:
        """Return how many lines there were up to a number or a time, and what they made. Confidential.

        Raises
        ------
        InputError
            When the log has been tampered with.
        """
        number, state = 0, self._start.releases
        for entry, after in replay(self._ledger, state, until=until):
            number, state = entry.number, after
        return number, state

    def verified(self) -> Head:
        """The last line of the log, every line checked against the one before it.

        Raises
        ------
        InputError
            At the first line that was tampered with.
        """
        head = Head()
        for entry in followed(self._ledger):
            head = entry.head
        return head

    def record(self, line: LogLine) -> LogEntry:
        """Log an act of the house."""
        with self._lock:
            entry = self._session.record(lambda state: line)
        assert entry is not None
        return entry

    def freeze(self, user: str, progress: Progress = SILENT) -> LogEntry | None:
        """Release no further true sub-table from now on; ``None`` where that is so already.

        Where the service answers beyond the frontier, the whole table is perturbed once, by cycles
        that keep exactly the released margins, and everything else is answered from that.

        Raises
        ------
        RefusedError
            When no perturbed table passes the gate: nothing is frozen then.
        InfeasibleError, ParameterError, InputError
            When none can be made.
        """
        with self._lock:
            self._session.catch_up()
            state = self._session.state
            if state.frozen:
                return None
            sealed = None
            if self.service.beyond.answer == "perturbed":
                table = state.releases.evidence.cells.table
                released = [q for q in state.releases.released if q]
                release = perturbed_release(self.service, table, self.lattice.margins(released), progress)
                release = replace(release, title=message("{label} (perturbed)", self.label))
                sealed = self._packed(release)
            margins = state.releases.released

            def frozen(now: ServerState) -> LogLine | None:
                if now.frozen:
                    return None
                if now.releases.released != margins:
                    raise InputError(
                        message("another process released more meanwhile"), hint=message("freeze once more")
                    )
                mark = "" if sealed is None else sealed.fingerprint
                return LogLine(user, 0, "freeze", None, "frozen", "", True, mark)

            return self._session.record(frozen, sealed)

    def wait(self) -> None:
        """Wait until everything that is worked out beside the answers is noted."""
        self._price_worker.wait()

    def vacuum(self) -> None:
        """Give back the room that deleted rows took."""
        self._ledger.vacuum()

    def _known(self, query: Query) -> Given | None:
        state = self._session.state
        mark = state.bundles.get(query)
        if mark is not None and self._answers is not None:
            return Given(query, self._margin(query), mark, "perturbed")
        if mark is not None:
            return Given(query, self._margin(query), mark, "table")
        if state.perturbed and query not in state.releases.released:
            names = self.lattice.names_of(query)
            perturbed = self._perturbed(state.perturbed)
            return Given(query, perturbed.margin(names), state.perturbed, "perturbed")
        return None

    def _summed(self, query: Query) -> Table:
        if self._answers is not None:
            return self._release(query).table
        return self._start.releases.evidence.table.margin(self.lattice.names_of(query))

    def _opened(self, fingerprint: str) -> Table:
        content = self._ledger.bundle(fingerprint)
        assert content is not None, message("a frozen frontier has its table in the same transaction")
        return verify_bytes(content).release.table

    def _doubted(self, fingerprint: str) -> Doubt:
        # Late: a server that tells no intervals waits for nothing that computes posteriors.
        from tabprotect.engine.bundle.tables.intervals import Doubt

        content = self._ledger.bundle(fingerprint)
        assert content is not None, message("what went out is kept")
        return Doubt(verify_bytes(content).release)

    def _release(self, query: Query) -> Release:
        title = message("{label}: {query}", self.label, self.lattice.text(query))
        evidence = self._start.releases.evidence
        if self._answers is not None:
            return self._answers.release(self.lattice.names_of(query), title)
        if isinstance(evidence, SumEvidence):
            return Release.of_magnitudes(evidence.part(query), "suppression", title=title)
        return release_of(self._start, query, self._margin(query), title)

    def _made(self, query: Query) -> Sealed:
        return self._packed(self._release(query))

    def _packed(self, release: Release) -> Sealed:
        key = self.service.access.signing
        content = bundle.verified_bytes(release, signing=[Path(key)] if key else ())
        return Sealed(archive.sha256(content), content)

    def _log_settings(self, mark: str) -> None:
        """A change of what is fixed is an event in the history."""
        said = json.dumps(self.service.settings, sort_keys=True, ensure_ascii=False)

        def changed(state: ServerState) -> LogLine | None:
            return None if state.settings == mark else LogLine("", 0, "settings", None, mark, said)

        self._session.record(changed)


def _single(domain: Domain, count: int) -> Table:
    """A table with one count, in its first cell."""
    if domain.wide:
        return WideTable.of(domain, [np.zeros(1, dtype=np.int64)] * domain.ndim, [count])
    return Table.sparse(domain, [0], [count])


def _evidence(service: Service, opened: Opened | None, progress: Progress) -> Evidence:
    """The served table, as its criterion looks at it."""
    if opened is not None:
        at_risk, cells = SmallCount.parse(service.table.at_risk), service.criterion.cells
        return Evidence.gather(opened.table, at_risk, cells=cells, asked=True, progress=progress)
    sums = summed(Path(service.table.source), service.table.measure)
    if sums.decimals:
        raise InputError(
            message("sums with decimals are not served"),
            hint=message("tabulate a column of whole numbers, such as one in cents"),
        )
    return gathered_sums(sums, service.held_to.name)


METHOD = "cyclic_perturbation"


def perturbed_release(
    service: Service, table: Table, kept: MarginSet, progress: Progress = SILENT
) -> Release:
    """The whole table, perturbed with the house's own coins, as a release that passed the gate.

    Parameters
    ----------
    kept
        The released frontier: these margins, and what follows from them, stay as they are.

    Raises
    ------
    RefusedError
        When readers would know too much of every perturbed table that was drawn.
    InfeasibleError, ParameterError, InputError
        When none can be made, for example because the released margins leave nothing to move.
    """
    method = methods()[METHOD]
    problem = Problem(table, at_risk=SmallCount.parse(service.table.at_risk))
    given: dict[str, object] = {
        "keep": " + ".join(":".join(f"`{name}`" for name in margin) for margin in kept) or "1",
        "alpha": service.beyond.alpha,
        "beta": service.beyond.alpha,
        "passes": service.beyond.passes,
        "blocking": service.beyond.blocking,
    }
    values = method.resolve_for(problem, given)
    coins = agency_randomness(problem, METHOD, values)
    # The kept sums are those that have been released; nobody sits there to be asked.
    return protect(
        method, problem, given, coins, policy=in_force(), kept_small="keep", progress=progress
    ).release
