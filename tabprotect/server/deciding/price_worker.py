"""What refusals told, worked out beside the answers and noted for the log. Confidential."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from tabprotect.engine.errors import Interrupted, TabprotectError
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.table_server.decision import REFUSED, ServerState
from tabprotect.engine.query_space.table_server.ledger import Ledger
from tabprotect.engine.query_space.table_server.refusal_price import TELLS, refusal_price
from tabprotect.engine.query_space.table_server.session import Answered
from tabprotect.languages.said import say

MOST_WAITING = 20
"""Refusals that wait to be priced; beyond, the log says nothing of them."""

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
        """Until everything that waits is priced."""
        self._worker.submit(lambda: None).result()

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """As a ``Progress``: what is under way ends when the server does."""
        if self._closing:
            raise Interrupted

    def _priced(self, before: ServerState, number: int, query: Query) -> None:
        try:
            found = refusal_price(
                before.releases, query, refused=before.refused, draws=DRAWS, progress=self
            )
            said = {} if found is None else found.as_json()
            self._ledger.set_price(number, said)
        except TabprotectError as error:
            # Most often the table is too large for it. The answer is out; the log has a line less.
            LOG.info(say("no price for line %d: %s"), number, error.kind)
        finally:
            self._waiting -= 1
