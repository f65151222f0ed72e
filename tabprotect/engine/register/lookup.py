"""What left before of a table, as the register of this house knows it. Confidential.

The register itself is imported late: the library behind it would be a third of the program's start.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from tabprotect.engine.house import key as house_key
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.register.address import address, is_missing
from tabprotect.engine.register.original_marks import OriginalMarks, marks_of
from tabprotect.engine.register.register_entry import Earlier, related
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.tables.table import Table


def marks(problem: Problem) -> OriginalMarks:
    """The fingerprints of an original under the key of this house; found once for each."""
    asked = (house_key(), problem.record_keys)
    known = _FOUND.get(problem.table)
    if known is None or known[0] != asked:
        known = asked, marks_of(problem.table, *asked)
        _FOUND[problem.table] = known
    return known[1]


_FOUND: WeakKeyDictionary[Table, tuple[tuple[bytes, Table | None], OriginalMarks]] = (
    WeakKeyDictionary()
)


def published_before(problem: Problem, register: str | None = None) -> list[Earlier]:
    """Earlier publications that bear on a table, the closest first; none without a register.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.

    Raises
    ------
    InputError
        When the register cannot be read.
    """
    place = address(register)
    if place is None:
        return []
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        return related(marks(problem), opened.entries())


def refused_before(problem: Problem, register: str | None = None) -> dict[str, str]:
    """Mechanisms that the gate refused for a table, as digests with their methods.

    Raises
    ------
    InputError
        When the register cannot be read.
    """
    place = address(register)
    if place is None or is_missing(place):
        return {}
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        return opened.refused(marks(problem).original)


def remember_refusal(
    problem: Problem, method: str, mechanism: str, register: str | None = None
) -> None:
    """Note that the gate refused a mechanism, by its digest: another that follows says so."""
    place = address(register)
    if place is None:
        return
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        opened.refuse(marks(problem).original, mechanism, method)


def mechanism_digest(problem: Problem, method: str, values: Mapping[str, object]) -> str:
    """Equal for equal methods with equal resolved parameters of one table."""
    stated = Mechanism(method, problem.table.domain, dict(sorted(values.items())))
    return hashlib.sha256(
        stated.to_text(categories=True).encode(errors="surrogatepass")
    ).hexdigest()


def contents_of(
    entries: Sequence[Earlier], register: str | None = None
) -> list[tuple[Earlier, bytes]]:
    """Earlier publications of the same original whose bundles are kept, with these, in order."""
    place = address(register)
    if place is None or not entries:
        return []
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        found = [(e, opened.content(e.entry)) for e in entries if e.relation == "original"]
    return [(one, content) for one, content in found if content is not None]
