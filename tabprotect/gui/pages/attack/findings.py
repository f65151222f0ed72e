"""What an attack found, in the order and the words in which the page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.attack.attack import Way
from tabprotect.engine.attack.proofs import Proof, proof_of
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.bundle.attacked_files import AttackedFiles
from tabprotect.engine.release.likelihood import UNBOUNDED
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.messages import in_100, joined, message, plural

Among = Literal["known", "proved", "all"]

HOW: dict[Way, str] = {
    "proved": message("proved"),
    "joint": message("all numbers together"),
    "least_squares": message("least squares"),
}


@dataclass(frozen=True, eq=False)
class Findings:
    """A table of what can be known of each inner cell.

    Attributes
    ----------
    attacked
    count, belief : int64 (cells,), float64 (cells,)
        The likeliest count and its chance; 0 and 0 where nothing can be said.
    open : bool (cells,)
        The counts that are published as they are: nothing is found out there.
    proved, known : bool (cells,)
        Those that are proved, and those believed with more than the limit, among the others.
    order : int64 (cells,)
        The cells, proved ones first, then the surest.
    """

    attacked: AttackedFiles
    count: Ints
    belief: Floats
    open: Bools
    proved: Bools
    known: Bools
    order: Ints

    @classmethod
    def of(cls, attacked: AttackedFiles) -> Findings:
        """The findings of an attack."""
        found = attacked.found
        count, belief = found.cells.most_likely()
        size = found.numbers.domain.size
        low, high = (ends[:size] for ends in found.ends)
        exact = found.published_exactly()
        proved = (low == high) & ~exact
        known = (belief > BELIEF_LIMIT) & ~exact
        order = np.lexsort((np.arange(size), -belief, exact, ~proved))
        return cls(attacked, count, belief, exact, proved, known, order.astype(np.int64))

    def cells(self, among: Among) -> Ints:
        """The cells of a list, in order."""
        mask = {"known": self.known, "proved": self.proved, "all": ~self.open}[among]
        return self.order[mask[self.order]]

    def label(self, cell: int) -> str:
        """The categories of a cell."""
        domain = self.attacked.found.numbers.domain
        return joined(domain.labels(domain.unflat(cell)), ", ")

    def published(self, cell: int) -> str:
        """Say what was published of it."""
        count = int(self.attacked.shown[cell])
        return "\u2013" if count < 0 else count_text(count)

    def likely(self, cell: int) -> str:
        """Its likeliest count."""
        return count_text(int(self.count[cell])) if self.belief[cell] else "?"

    def sure(self, cell: int) -> str:
        """Say how sure one can be of it."""
        if self.proved[cell]:
            return message("proved")
        return in_hundred(float(self.belief[cell])) if self.belief[cell] else "?"

    def proof(self, cell: int) -> Proof | None:
        """The published sum that proves its count, where one does."""
        if not self.proved[cell]:
            return None
        return proof_of(self.attacked.found.numbers, cell, int(self.attacked.found.ends[0][cell]))

    @property
    def sentence(self) -> str:
        """Say what the files give away together, in whole numbers."""
        size, known = len(self.count), int((self.known | self.proved).sum())
        proved = int(self.proved.sum())
        said = plural(
            proved,
            "Together they give away {known} of {size} counts; {proved} of them is proved.",
            "Together they give away {known} of {size} counts; {proved} of them are proved.",
            *map(count_text, (known, size, proved)),
        )
        if not self.open.any():
            return said
        return message("{said} {open} are published as they are.", said, count_text(self.open.sum()))


def in_hundred(chance: float) -> str:
    """A chance in a sentence: whole numbers, never all or nothing that is not certain."""
    return in_100(min(max(chance, 1e-6), 1 - 1e-6))


def span(low: int, high: int) -> str:
    """Say what a count can be."""
    if high >= UNBOUNDED:
        return message("{low} or more", count_text(low))
    return count_text(low) if low == high else message("{low} to {high}", *map(count_text, (low, high)))


def why(findings: Findings, cell: int, proof: Proof | None) -> Sequence[str]:
    """Return why one can know it, step by step."""
    found = findings.attacked.found
    if not findings.proved[cell]:
        low, high = int(found.ends[0][cell]), int(found.ends[1][cell])
        steps = [message("It is proved that it is {span}.", span(low, high))]
        if findings.belief[cell]:
            steps.append(
                message(
                    "Among these {count} is the likeliest, with {chance}: {way}.",
                    findings.likely(cell),
                    in_hundred(float(findings.belief[cell])),
                    HOW[found.way],
                )
            )
        return steps
    if proof is None:
        return [message("It takes several published sums together: no other count fits all of them.")]
    number = proof.number
    table = next(t for t in found.numbers.tables if t.rows.start <= number < t.rows.stop)
    labels = table.domain.labels(table.domain.unflat(number - table.first))
    name = joined(labels, ", ") or message("all together")
    steps = [message("Each number alone leaves what stands under \u201ccould be\u201d.")]
    if len(proof.cells) > 1:
        steps.append(message("They add up to {name}, which is {span}.", name, span(*proof.sums)))
        least, most = (sum(ends[1:].tolist()) for ends in (proof.low, proof.high))
        steps.append(message("The others are {span} together: there is no other way.", span(least, most)))
    return steps
