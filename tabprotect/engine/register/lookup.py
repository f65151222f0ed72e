"""What left before of a table, as the register of this house knows it. Confidential.

The register itself is imported late: the library behind it would be a third of the program's start.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabprotect.engine.house import key as house_key
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.register.address import address
from tabprotect.engine.register.entry import Earlier, related
from tabprotect.engine.register.marks import Marks, marks_of


def marks(problem: Problem) -> Marks:
    """The fingerprints of an original under the key of this house."""
    return marks_of(problem.table, house_key(), problem.record_keys)


def published_before(
    problem: Problem, register: str | None = None, *, but: str = ""
) -> list[Earlier]:
    """Earlier publications that bear on a table, the closest first; none without a register.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.
    but
        The fingerprint of a bundle that is no other release.

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
        return related(marks(problem), opened.entries(), but=but)


def releases_of(entries: Sequence[Earlier], register: str | None = None) -> list[bytes]:
    """The bundles of earlier publications of the same original that are kept, in order."""
    place = address(register)
    if place is None:
        return []
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        found = [opened.content(e.entry) for e in entries if e.relation == "original"]
    return [content for content in found if content is not None]
