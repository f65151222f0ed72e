"""A publication as the register keeps it, the mark of its original, and how earlier ones relate to it.

Marks are keyed fingerprints of originals: they identify, but nothing can be guessed from them. A
mark is an HMAC-SHA256 under a key of the house, so that not even a table of four cells can be found
by trying all of them. Neither the order of the variables nor that of the categories matters.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.chained_log import Head
from tabprotect.engine.disclosure.policy import Again
from tabprotect.engine.errors import AGAIN, InputError, ParameterError, RefusedError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.privacy import KEY as PRIVACY
from tabprotect.engine.release.privacy import Privacy, Spent
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import day_said, joined, message

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable

NAMELESS = frozenset({"row", "column"})
"""Names without meaning: any two grids would share them."""


@dataclass(frozen=True)
class OriginalMarks:
    """Fingerprints of one original, each in hexadecimal.

    Attributes
    ----------
    original
        Mark of variables, categories and counts.
    variables
        Mark of each variable's name, sorted; for a grid whose variables have no own names a shorter one
        of each category.
    records
        Marks that two tables of the same records share: of each one-way margin, and of the sum of
        the record keys if the records have keys. Sorted.
    unlabelled
        Mark of the counts and one-way margins alone, sorted: the same under other names and
        categories, in another order, and with more empty categories. Empty where it is not known.
    """

    original: str
    variables: tuple[str, ...]
    records: tuple[str, ...]
    unlabelled: str = ""

    @property
    def of_refusals(self) -> tuple[str, ...]:
        """The marks under which refusals are found: names and order do not matter where that is known."""
        return tuple(filter(None, (self.unlabelled, self.original)))

    @property
    def named(self) -> frozenset[str]:
        """The marks of names."""
        return frozenset(mark for mark in self.variables if len(mark) > CUT)

    def shares_names(self, other: OriginalMarks) -> bool:
        """Return True if a variable is named alike; of two grids, if all categories of one are of the other."""
        if self.named or other.named:
            return bool(self.named & other.named)
        return bool(self.variables and other.variables) and self.names_alike(other)

    def names_alike(self, other: OriginalMarks) -> bool:
        """Return True if all names, or categories, of one are of the other."""
        ours, theirs = set(self.variables), set(other.variables)
        return ours <= theirs or theirs <= ours


CUT = 16
"""Length of the marks of categories."""


def marks_of(table: Table, key: bytes, record_keys: Table | None = None) -> OriginalMarks:
    """The fingerprints of an original.

    Parameters
    ----------
    key : 32 bytes
        The house's key.
    record_keys
        The sum of the record keys in each cell, if the records have keys.
    """

    def mark(kind: str, content: bytes) -> str:
        return hmac.new(key, f"{kind}\n".encode() + content, hashlib.sha256).hexdigest()

    names = table.domain.names
    variables = [mark("variable", _plain(n).encode()) for n in names if n not in NAMELESS] or [
        mark("category", f"{v.name}\n{_plain(category)}".encode("utf-8", "surrogatepass"))[:CUT]
        for v in table.domain.variables
        for category in v.categories
    ]
    records = [mark("margin", _canonical(table.margin([name]))) for name in names]
    if record_keys is not None:
        records.append(mark("records", f"{record_keys.total} of {table.total}".encode()))
    return OriginalMarks(
        mark("original", _canonical(table)),
        tuple(sorted(variables)),
        tuple(sorted(records)),
        mark("unlabelled", _unlabelled(table)) if table.total else "",
    )


_OF_MAGNITUDES: WeakKeyDictionary[MagnitudeTable, tuple[bytes, OriginalMarks]] = WeakKeyDictionary()


def marks_of_magnitudes(table: MagnitudeTable, key: bytes) -> OriginalMarks:
    """The fingerprints of a magnitude table: its own, and those of the counts of its records."""
    found = _OF_MAGNITUDES.get(table)
    if found is None or found[0] != key:
        counted = marks_of(table.units, key)
        own = hmac.new(key, b"magnitudes\n" + _contributions(table), hashlib.sha256).hexdigest()
        # The same counts under other names may have another measure.
        found = key, replace(counted, original=own, unlabelled="")
        _OF_MAGNITUDES[table] = found
    return found[1]


def _contributions(table: MagnitudeTable) -> bytes:
    """The contributions as bytes, independent of the order of records, categories and holdings."""
    rows = table.rows
    labels = [sorted(v.categories) for v in table.variables]
    codes = [_ranks(v.categories)[code] for v, code in zip(table.variables, rows.codes, strict=True)]
    columns = np.stack([*codes, _ranks(table.names)[rows.holding], rows.own, rows.weight, rows.units])
    head = [table.measure, table.decimals, [v.name for v in table.variables], labels]
    text = json.dumps([*head, sorted(table.names)], ensure_ascii=False)
    ordered = columns[:, np.lexsort(columns[::-1])]
    return text.encode("utf-8", "surrogatepass") + b"\n" + ordered.astype("<i8").tobytes()


def _ranks(names: Sequence[str]) -> Ints:
    """The place of each name among the sorted ones."""
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def _unlabelled(table: Table) -> bytes:
    """Counts and one-way margins as bytes, each sorted, without the empty ones.

    A variable that has all records in one category tells nothing and is left out: it may have been
    added.
    """
    margins = [
        np.sort(filled)[::-1]
        for name in table.domain.names
        if len(filled := (counts := table.margin([name]).cells[1])[counts > 0]) > 1
    ]
    rows = sorted((margin.tolist() for margin in margins), reverse=True)
    _, counts = table.cells
    return json.dumps([np.sort(counts[counts > 0]).tolist(), rows]).encode()


def _plain(text: str) -> str:
    """A label without differences that mean nothing to a person."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _canonical(table: Table) -> bytes:
    """The table as bytes, independent of the order of its variables and categories."""
    domain = table.domain
    axes = sorted(range(domain.ndim), key=lambda axis: (_plain(domain.names[axis]), axis))
    orders = [
        np.array(sorted(range(len(v.categories)), key=v.categories.__getitem__), dtype=np.int64)
        for v in domain.variables
    ]
    stated = [
        [_plain(domain.names[axis]), [domain.variables[axis].categories[k] for k in orders[axis]]]
        for axis in axes
    ]
    text = json.dumps(stated, ensure_ascii=False).encode("utf-8", "surrogatepass")
    # The first variable is the slowest, as in the keys of a table.
    if table.is_sparse:
        keys, counts = table.cells
        index = np.unravel_index(keys, domain.shape)
        places = [np.argsort(orders[axis])[index[axis]] for axis in axes]
        order_of_cells = np.lexsort(places[::-1])
        rows = [place[order_of_cells] for place in places] + [counts[order_of_cells]]
    else:
        laid_out = np.asarray(table.counts[np.ix_(*orders)]).transpose(axes)
        filled = laid_out != 0
        rows = [*np.argwhere(filled).T, laid_out[filled]]
    return text + b"\n" + np.stack(rows).astype("<i8").tobytes()


Relation = Literal["original", "renamed", "records", "variables"]
"""The same original; the same counts under other names or labels; the same records under other
variables; variables of the same name."""

RELATIONS: Mapping[Relation, str] = {
    "original": message("this very table has left before"),
    "renamed": message("a table of the same counts has left before, under other names or labels"),
    "records": message("a table of the same people has left before"),
    "variables": message("a table with variables of the same names has left before"),
}
"""The meaning of each relation, the closest first."""

KIND = "published_before"

COINS = "coins_mark"
"""The key of what a publication's coins are known again by, beside its gate."""

TRAIL = "audit_trail"
"""The key of the last line of the audit trail of its dossier, beside its gate."""

PEOPLE = "people"
"""The key of what the house has said of who is counted, beside its gate."""


@dataclass(frozen=True)
class LeavingPublication:
    """A publication that is about to leave the house.

    Attributes
    ----------
    marks
        Keyed fingerprints of the original.
    bundle
        The bundle's own fingerprint, the SHA-256 of the zip; public.
    method, title
        As the release states them.
    gate
        As stated in the mechanism, with its budget of privacy; empty if none is stated.
    decisions
        Decisions taken against the program's advice, in words.
    who
        The name of the publisher.
    dossier
        The path of its dossier, where the house has the original; empty for none.
    """

    marks: OriginalMarks
    bundle: str
    method: str
    title: str
    gate: Mapping[str, object]
    decisions: tuple[str, ...]
    who: str
    dossier: str = ""

    def trail_of(self, bundle: str) -> Head | None:
        """The last line of the audit trail of a dossier, by the fingerprint of the bundle in it."""
        stated = self.gate.get(TRAIL)
        if not isinstance(stated, Mapping) or stated.get("of") != bundle:
            return None
        return Head(int(stated["lines"]), str(stated["head"]))

    @property
    def spent(self) -> Spent | None:
        """The budget of differential privacy over all its tables; ``None`` without one."""
        stated = self.gate.get(PRIVACY)
        return None if stated is None else Privacy.from_json(stated).total

    @property
    def method_label(self) -> str:
        """The method's name for people; for a plug-in that is missing, the name as stated."""
        known = methods() if self.method in methods() else methods("magnitudes")
        return known[self.method].label if self.method in known else self.method


@dataclass(frozen=True)
class RegisterEntry(Encodable):
    """A publication in the register.

    Attributes
    ----------
    number
        1, 2, ... in the order of publication.
    time
        Time of publication in UTC.
    withdrawn, withdrawn_reason
        Time and reason of a withdrawal, if there was one. What was read cannot be unread: a
        withdrawn release still counts.
    """

    number: int
    time: datetime
    publication: LeavingPublication
    withdrawn: datetime | None = None
    withdrawn_reason: str = ""
    json_keys = (
        "number time who=publication.who title=publication.title method=publication.method "
        "bundle=publication.bundle original=publication.marks.original "
        "variables=publication.marks.variables gate=publication.gate spent=publication.spent "
        "decisions=publication.decisions withdrawn withdrawn_reason"
    )

    @property
    def day(self) -> str:
        """The day of publication, for people."""
        return day_said(self.time)

    @property
    def line(self) -> str:
        """The entry on one line."""
        of = self.publication
        gone = (
            ""
            if self.withdrawn is None
            else message(", withdrawn ({withdrawn_reason})", self.withdrawn_reason)
        )
        title = f" {of.title!r}" if of.title else ""
        return message(
            "{number}  {time}  {method}{title}  {bundle}  {who}{gone}",
            self.number,
            _text(self.time),
            of.method,
            title,
            of.bundle[:12],
            of.who,
            gone,
        )


LOOKED = "looked at: "
"""Before the method of what was looked at where the policy lets out the list alone."""

BESIDE = "beside others: "
"""Before the method of what was refused for what it tells together with earlier releases alone."""


@dataclass(frozen=True)
class RefusedMechanism:
    """A mechanism that the gate refused for an original.

    Attributes
    ----------
    method
    stated
        The text that it would have stated, with its gate; empty where that is not known.
    time
        When that was, in UTC as the register writes it.
    """

    method: str
    stated: str = ""
    time: str = field(default="", compare=False)

    @property
    def looked(self) -> bool:
        """Return True if it was looked at where only the list leaves: that changes nothing of the list."""
        return self.method.startswith(LOOKED)

    @property
    def beside(self) -> bool:
        """Return True if it was refused beside earlier releases: what that tells is weighed with these."""
        return self.method.startswith(BESIDE)

    def mechanism(self, domain: Domain, table: Table | None = None) -> Mechanism | None:
        """The mechanism as a release would have stated it; ``None`` where it is not known, or of other labels."""
        if not self.stated:
            return None
        try:
            return Mechanism.from_json(json.loads(self.stated), domain, table)
        except (InputError, ParameterError):
            return None


@dataclass(frozen=True)
class Earlier(Encodable):
    """An earlier publication that bears on a table, and its relation.

    Attributes
    ----------
    named_alike
        Where nothing but names is alike: whether all variables of one are named as some of the other.
        One shared name, such as age, says nothing of who is counted.
    """

    entry: RegisterEntry
    relation: Relation
    named_alike: bool = True
    json_keys = "relation *entry"

    @property
    def is_told(self) -> bool:
        """Return True if it is told of to people; those that are not are compared all the same."""
        return self.relation != "variables" or self.named_alike


def numbers_said(numbers: Sequence[int]) -> str:
    """Numbers in order, runs of three and more by their ends."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    said = [
        [message("{first} to {last}", run[0], run[-1])] if len(run) > 2 else map(str, run) for run in runs
    ]
    return joined((one for some in said for one in some), ", ")


def related(marks: OriginalMarks, entries: Sequence[RegisterEntry], *, but: str = "") -> list[Earlier]:
    """The earlier publications that bear on an original, the closest first, then the latest.

    Parameters
    ----------
    but
        Fingerprint of a bundle that does not count as another release: the same bytes add nothing.
    """
    found = []
    for entry in entries:
        of = entry.publication.marks
        if entry.publication.bundle == but:
            continue
        relation: Relation
        alike = True
        if of.original == marks.original:
            relation = "original"
        elif marks.unlabelled and of.unlabelled == marks.unlabelled:
            relation = "renamed"
        elif set(of.records) & set(marks.records):
            relation = "records"
        elif marks.shares_names(of):
            relation = "variables"
            alike = marks.names_alike(of)
        else:
            continue
        found.append(Earlier(entry, relation, alike))
    closeness = list(RELATIONS)
    return sorted(found, key=lambda e: (closeness.index(e.relation), -e.entry.number))


def warnings_of(earlier: Sequence[Earlier]) -> list[dict[str, str]]:
    """One warning for each way in which the earlier publications bear on the table.

    Tables that share some names of variables, and no margin and no record, are not warned of.
    """
    out = []
    for relation, said in RELATIONS.items():
        mine = [e.entry for e in earlier if e.relation == relation and e.is_told]
        if not mine:
            continue
        last = mine[0]
        times = "" if len(mine) == 1 else message(", {mine} times, last", len(mine))
        text = (
            message(
                "{said}{times} on {day} (release {number}, {method_label}, withdrawn since)",
                said,
                times,
                last.day,
                last.number,
                last.publication.method_label,
            )
            if last.withdrawn
            else message(
                "{said}{times} on {day} (release {number}, {method_label})",
                said,
                times,
                last.day,
                last.number,
                last.publication.method_label,
            )
        )
        out.append({"kind": KIND, "message": text})
    return out


def admit(earlier: Sequence[Earlier], rule: Again, reason: str) -> None:
    """Refuse another release that may not go out.

    Variables that merely are called the same lead to a warning at most, under every rule.

    Raises
    ------
    RefusedError
        If the policy refuses it, or requires a reason and there is none.
    """
    close = [e for e in earlier if e.relation != "variables"]
    if not close:
        return
    said = warnings_of(close)[0]["message"]
    if rule == "refuse":
        raise RefusedError(said, hint=message("the house policy allows no second release of a table"))
    if rule == "reason" and not reason:
        hint = message("the house's policy takes a reason: say why it is published")
        raise RefusedError(said, hint=hint, answers=(AGAIN,))


def coins_mark(seed: int, key: bytes) -> str:
    """The keyed fingerprint of the coins of a run, by which they are known again."""
    return hmac.new(key, f"coins\n{seed}".encode(), hashlib.sha256).hexdigest()


def with_the_same_coins(earlier: Sequence[Earlier], mark: str) -> list[Earlier]:
    """The earlier publications for which the same coins were drawn."""
    return [one for one in earlier if one.entry.publication.gate.get(COINS) == mark]


def same_coins(earlier: RegisterEntry) -> RefusedError:
    """The refusal of a release with the coins of another one."""
    return RefusedError(
        message(
            "the given seed was used before, on {day} (release {number}): two releases with the same "
            "coins show readers how their originals differ",
            earlier.day,
            earlier.number,
        ),
        hint=message("leave the seed out; or say why it is published again"),
        answers=(({"seed": None}, ()), AGAIN),
    )


def _text(time: datetime) -> str:
    return time.replace(tzinfo=UTC).isoformat(timespec="seconds")
