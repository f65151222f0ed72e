"""What leaves by publishing goes into the house's register, and what left before is looked up.

The register itself is imported late: the library behind it would be a third of the program's start.
"""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.disclosure.policy import Again
from tabprotect.engine.house import key as house_key
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.register.address import address, is_missing
from tabprotect.engine.register.entry import Earlier, Publication, admit, related
from tabprotect.engine.register.marks import Marks, marks_of
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release


def marks(problem: Problem) -> Marks:
    """The fingerprints of an original under the key of this house."""
    return marks_of(problem.table, house_key(), problem.record_keys)


def published_before(
    problem: Problem, register: str | None = None, *, but: bytes = b""
) -> list[Earlier]:
    """Earlier publications that bear on a table, the closest first; none without a register.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.
    but
        The bytes of a bundle that is no other release.

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
        return related(marks(problem), opened.entries(), but=sha256(but))


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


@contextmanager
def entered(
    protected: Protected, data: bytes, *, register: str | None, rule: Again, reason: str
) -> Iterator[None]:
    """The entry of a bundle whose files the block writes; taken back where it fails.

    It is made first: a release that nobody can look up is worse than an entry too many.

    Raises
    ------
    RefusedError
        When the policy admits no second release, or not without a reason.
    InputError
        When the register cannot be written.
    """
    place = address(register)
    if place is None:
        yield
        return
    from tabprotect.engine.register.register import Register

    problem, release = protected.record.problem, protected.release
    bundle = sha256(data)
    own = marks(problem)
    with Register(place) as opened:
        decision = admit(related(own, opened.entries(), but=bundle), rule, reason)
        number = opened.add(
            Publication(
                own,
                bundle,
                release.mechanism.method,
                release.title,
                _gate(release),
                (*protected.record.decisions, *filter(None, [decision])),
                _who(),
            ),
            data,
        )
        try:
            yield
        except BaseException:
            if number is not None:
                opened.forget(number)
            raise


def _gate(release: Release) -> dict[str, object]:
    stated = release.mechanism.gate
    return {} if stated is None else stated.as_json()


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def releases_of(entries: Sequence[Earlier], register: str | None) -> list[bytes]:
    """The bundles of earlier publications of the same original that are kept, in order."""
    place = address(register)
    if place is None:
        return []
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        found = [opened.content(e.entry) for e in entries if e.relation == "original"]
    return [content for content in found if content is not None]
