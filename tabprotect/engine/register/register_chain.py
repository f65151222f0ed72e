"""The chain of a register: every act on it is a line, hashed with the line before. Confidential.

A line names what was done to which entry, with a digest of what the entry held. The hash of the last
line is the register's head: whoever has a head (a dossier has one) sees that lines after it are gone.
Each line is sealed under the house's key, so that nobody without the key writes one.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tabprotect.engine import agency
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.chained_log import Head
from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.languages.messages import message

KEY_LABEL = b"tabprotect register, mark of the house key, version 1"
"""What the mark of a key is the HMAC of."""

Act = Literal[
    "key", "published", "unkept", "withdrawn", "returned", "forgotten", "refused", "replaced",
    "marked",
]  # fmt: skip
"""What is done; ``unkept`` is a publication whose bundle the register does not hold."""

Damaged = Literal["deleted", "changed", "unreadable", "foreign", "bundle", "refusal", "chain", "cut"]

DAMAGES: Mapping[Damaged, str] = {
    "deleted": message("release {number} was deleted from the register"),
    "changed": message("release {number} was changed in the register"),
    "unreadable": message("release {number} cannot be read in the register"),
    "foreign": message("release {number} was put into the register by another program"),
    "bundle": message("the bundle of release {number} was deleted or changed in the register"),
    "refusal": message("what the gate refused before was deleted or changed (line {number})"),
    "chain": message("line {number} of the register's chain was deleted or changed"),
    "cut": message(
        "the register had {number} lines before and lacks them: it was deleted, cut, replaced by an older one, or is another"
    ),
}
"""What is said of each kind of damage."""

LOSSES: frozenset[Damaged] = frozenset({"deleted", "changed", "unreadable", "chain", "cut"})
"""Damages after which it is not known what left before."""


@dataclass(frozen=True)
class Damage(Encodable):
    """Something in a register that is not as it was entered.

    Attributes
    ----------
    number
        Of the release, or of the line of the chain.
    """

    what: Damaged
    number: int
    json_keys = "what number message"

    @property
    def message(self) -> str:
        """The damage in words."""
        return DAMAGES[self.what].format(number=self.number)

    @property
    def loses(self) -> bool:
        """Return True if more may have left before than the register tells."""
        return self.what in LOSSES


@dataclass(frozen=True)
class ChainLine:
    """One line.

    Attributes
    ----------
    subject
        The number of an entry, or what a refusal is found by; empty for the house's key.
    digest
        SHA-256 of what the entry holds; for the house's key its mark.
    """

    number: int
    act: Act
    subject: str
    digest: str
    time: str
    chain: str
    seal: str

    @classmethod
    def after(cls, head: Head, act: Act, subject: str, digest: str, *, time: str, key: bytes) -> ChainLine:
        """The line that follows a head."""
        made = head.then(head.lines + 1, act, subject, digest, time)
        return cls(made.lines, act, subject, digest, time, made.chain, sealed(key, made.chain))

    @property
    def head(self) -> Head:
        """The head that this line makes."""
        return Head(self.number, self.chain)

    def follows(self, previous: Head, key: bytes) -> bool:
        """Return True if the line is the next one, unchanged, of a holder of the key."""
        made = previous.then(self.number, self.act, self.subject, self.digest, self.time)
        return self.head == made and hmac.compare_digest(self.seal.encode(), sealed(key, self.chain).encode())


def lost(damaged: Iterable[Damage]) -> bool:
    """Return True if the register is known to have had lines that it lacks."""
    return any(one.loses for one in damaged)


def mark_of_key(key: bytes) -> str:
    """The mark of a house's key, by which a register knows it: nothing of the key is learnt from it."""
    return hmac.new(key, KEY_LABEL, hashlib.sha256).hexdigest()


def digest_of(values: Sequence[object]) -> str:
    """SHA-256 of what an entry holds."""
    text = json.dumps(list(map(str, values)), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def sealed(key: bytes, chain: str) -> str:
    """The seal of a line: HMAC-SHA256 of its hash under the house's key."""
    return hmac.new(key, b"tabprotect register line\n" + chain.encode(), hashlib.sha256).hexdigest()


def chain_damage(lines: Sequence[ChainLine], key: bytes, seen: Iterable[Head] = ()) -> list[Damage]:
    """Lines that are not as they were written, each named once.

    Parameters
    ----------
    seen
        Heads that the register had at some time.
    """
    found, before = [], Head()
    for line in lines:
        if not line.follows(before, key):
            found.append(Damage("chain", line.number))
        before = line.head
    missing = set(seen) - {Head(), *(line.head for line in lines)}
    found += [Damage("cut", head.lines) for head in sorted(missing, key=lambda h: h.lines)]
    return found


@dataclass(frozen=True)
class Expected:
    """The entries that there are by the chain.

    Attributes
    ----------
    releases, withdrawn
        Digests of releases, and of their withdrawals, by number.
    refused
        Digests of what the gate refused.
    kept
        Numbers of the releases whose bundles are held.
    """

    releases: dict[str, str] = field(default_factory=dict)
    withdrawn: dict[str, str] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)


def expected(lines: Iterable[ChainLine]) -> Expected:
    """Return what the chain says that there is."""
    found = Expected()
    for line in lines:
        if line.act in ("published", "unkept", "marked"):
            found.releases[line.subject] = line.digest
        if line.act == "published":
            found.kept.add(line.subject)
        elif line.act == "withdrawn":
            found.withdrawn[line.subject] = line.digest
        elif line.act == "returned":
            found.withdrawn.pop(line.subject, None)
        elif line.act == "forgotten":
            found.releases.pop(line.subject, None)
            found.withdrawn.pop(line.subject, None)
            found.kept.discard(line.subject)
        elif line.act == "refused":
            found.refused.add(line.digest)
        elif line.act == "replaced":
            found.refused.discard(line.digest)
    return found


FILE = "register-heads.json"
"""Where the heads of registers are kept as this house has seen them last, so that lost lines show."""

BESIDE_KEY = ".heads"
"""Suffix of a second such file, beside the key of the house."""


def seen_heads(name: str) -> tuple[Head, ...]:
    """The heads that a register had when it was written to from here; none if that is unknown."""
    found = {head for place in _places() for head in _heads(_read(place), name)}
    return tuple(sorted(found, key=lambda head: head.lines))


def missing_lines(register: str | None) -> tuple[Damage, ...]:
    """What the house's own register has lost where it is not there, or was never made."""
    place = agency.register_address(register)
    return () if place is None else tuple(Damage("cut", head.lines) for head in seen_heads(place))


def remember_head(name: str, head: Head, held: Collection[Head] = ()) -> None:
    """Keep a head, instead of those that the register is known to hold; others are lines that it lost."""
    for place in _places():
        known = _read(place)
        before = _heads(known, name)
        now = [*(one for one in before if one not in held and one != head), head]
        if now == before:
            continue
        known[address_mark(name)] = [[one.lines, one.chain] for one in now]
        # What cannot be kept is no reason to publish nothing: the dossier has the head as well.
        with contextlib.suppress(InputError):
            write_bytes(place, json.dumps(known).encode(), private=True)


def _places() -> tuple[Path, Path]:
    """The files of heads: one beside the register, one beside the key, which may lie elsewhere."""
    key = agency.key_file()
    return agency.folder() / FILE, key.with_name(key.name + BESIDE_KEY)


def _heads(known: Mapping[str, object], name: str) -> list[Head]:
    found = known.get(address_mark(name))
    try:
        return [Head(int(lines), str(chain)) for lines, chain in found]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return []


def _read(place: Path) -> dict[str, object]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def address_mark(name: str) -> str:
    """A register's address without telling it; the house's own is the same wherever its folder is."""
    if agency.is_own_register(name):
        name = "own"
    elif name.startswith("sqlite:///"):
        name = os.path.realpath(name.removeprefix("sqlite:///"))
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]
