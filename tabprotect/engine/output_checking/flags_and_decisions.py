"""Flagged cells with their reasons, and what a person decided on each. CONFIDENTIAL.

Rules of output checking for counts flag small counts, empty cells, and groups in one category. The
thresholds are those that research data centres publish (Eurostat's guidelines for output checking,
DwB 2015: ten records a cell; no group of which everybody has one property).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.statuses import TAU
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.protection.suppressing.given_statuses import stated_letters
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

DECISIONS = ("approve", "reject", "change")

Status = Literal["pass", "review", "fail", "approved"]


@dataclass(frozen=True)
class Decision:
    """A decision on a flagged cell.

    Attributes
    ----------
    what
        ``approve`` (it may be published as it is), ``reject``, or ``change``.
    who, when, why
        The checker, the time (UTC, ISO 8601), the reason.
    to
        What is published instead, of a change.

    Raises
    ------
    InputError
        For another decision, or one without name or reason.
    """

    what: str
    who: str
    when: str
    why: str
    to: int | None = None

    def __post_init__(self) -> None:
        if self.what not in DECISIONS:
            raise InputError(
                message("{what} is no decision", repr(self.what)),
                hint=message("decide {DECISIONS}", ", ".join(DECISIONS)),
            )
        for name, text in ((message("who decided"), self.who), ("when", self.when), ("why", self.why)):
            if not text.strip():
                raise InputError(
                    message("a decision does not say {name}", name),
                    hint=message("every decision has a name and a reason"),
                )
        if (self.what == "change") != (self.to is not None) or (self.to or 0) < 0:
            raise InputError(message("a change says to which count, of 0 or more; other decisions say none"))


DECIDED = "decision=decision.what to=decision.to who=decision.who when=decision.when why=decision.why"
"""What is said of the decision on a cell."""


@dataclass(frozen=True)
class Flag(Encodable):
    """One flagged cell.

    Attributes
    ----------
    cell
        Its categories.
    count
        Its count, where it is known.
    reasons
        The rules that flag it, with a sentence each.
    """

    cell: tuple[str, ...]
    count: int | None
    reasons: Mapping[str, str]
    decision: Decision | None = None
    json_keys = f"cell count rules reasons {DECIDED}"

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules alone."""
        return tuple(self.reasons)


@dataclass(frozen=True)
class Checked:
    """The flags of a table.

    Attributes
    ----------
    variables
        What the categories of a cell are of.
    flags
        In the order of the table.
    """

    variables: tuple[str, ...]
    flags: tuple[Flag, ...]

    @property
    def status(self) -> Status:
        """``pass`` without flags, ``fail`` with a rejected cell, ``review`` with an undecided one."""
        if not self.flags:
            return "pass"
        if any(f.decision is not None and f.decision.what == "reject" for f in self.flags):
            return "fail"
        return "review" if any(f.decision is None for f in self.flags) else "approved"

    def decided(self, decisions: Mapping[tuple[str, ...], Decision]) -> Checked:
        """The same flags with further decisions, which take the place of earlier ones.

        Raises
        ------
        InputError
            For a decision on a cell that is not flagged: the table, or the rules, are others.
        """
        flagged = {flag.cell for flag in self.flags}
        for cell in decisions:
            if cell not in flagged:
                raise InputError(
                    message("a decision is about a cell that is not flagged"),
                    cell=f"({', '.join(cell)})",
                    hint=message("check the same table by the same rules as before"),
                )
        flags = [replace(f, decision=decisions.get(f.cell, f.decision)) for f in self.flags]
        return replace(self, flags=tuple(flags))


THRESHOLD = "threshold"
ZERO = "zero"
CLASS = "class"
STATUS = "status"


@dataclass(frozen=True)
class CheckRules:
    """The rules by which cells are flagged.

    Attributes
    ----------
    threshold
        Counts from 1 up to below it; 0 and 1 flag none.
    zeros
        Empty cells: it is told that nobody is there.
    classes
        Cells that hold everybody of a line (of all who agree in the other variables).
    """

    threshold: int = 10
    zeros: bool = False
    classes: bool = True

    def __post_init__(self) -> None:
        if self.threshold < 0:
            raise ParameterError({"threshold": message("must be 0 or more, is {threshold}", self.threshold)})


def flag_cells(table: Table, rules: CheckRules | None = None, statuses: str = "") -> Checked:
    """Flag the cells of a table, each with every rule that it breaks, and with what its file calls it.

    Parameters
    ----------
    statuses
        What the file says of cells, as lines of an a priori file.
    """
    rules = rules or CheckRules()
    counts, domain = table.counts, table.domain
    reasons: dict[tuple[int, ...], dict[str, str]] = {}

    def flag(cell: tuple[int, ...], rule: str, sentence: str) -> None:
        found = reasons.setdefault(cell, {})
        found[rule] = message("{found}; {sentence}", found[rule], sentence) if rule in found else sentence

    small = (counts > 0) & (counts < rules.threshold)
    for cell in map(tuple, np.argwhere(small).tolist()):
        flag(
            cell,
            THRESHOLD,
            message("{counts} is below the threshold of {threshold}", counts[cell], rules.threshold),
        )
    if rules.zeros:
        for cell in map(tuple, np.argwhere(counts == 0).tolist()):
            flag(cell, ZERO, message("nobody is there"))
    for axis, variable in enumerate(domain.variables if rules.classes else ()):
        if len(variable.categories) < 2:
            continue
        alone = (counts > 0) & ((counts > 0).sum(axis=axis, keepdims=True) == 1)
        for cell in map(tuple, np.argwhere(alone).tolist()):
            labels = domain.labels(cell)
            others = ", ".join(label for a, label in enumerate(labels) if a != axis)
            of = message(" of ({others})", others) if others else ""
            flag(
                cell, CLASS, message("everybody{of} is in {name} = {labels}", of, variable.name, labels[axis])
            )
    known = (
        {labels: cell for cell in np.ndindex(*domain.shape) if (labels := domain.labels(cell))}
        if statuses
        else {}
    )
    totals: list[Flag] = []
    for codes, letter in stated_letters(statuses):
        sentence = message("the file says {letter}: {meaning}", letter, TAU[letter])
        if codes in known:
            flag(known[codes], STATUS, sentence)
        else:
            totals.append(Flag(tuple(code or "Total" for code in codes), None, {STATUS: sentence}))
    inner = [Flag(domain.labels(c), int(counts[c]), reasons[c]) for c in sorted(reasons)]
    return Checked(domain.names, (*inner, *totals))
