"""A swap of records as its parameters say it: names and formulas into a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.protection.subtables import MARGINS, groupings_of, publication_of
from tabprotect.engine.swaps.swap_plan import SwapLevel, SwapPlan, SwapRule
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

RARE = 3
"""Records a place, on average, up to which a kind is rare."""

UPPER, LOWEST = 0.3, 0.25
"""The higher chance of an exchange at upper levels and at the lowest, where none is given."""

RATES, SMALL, SWAP_LEVELS = "rates", "small", "swap_levels"
"""Stated by the mechanism: the chances level by level, the largest small count, the levels."""

SWAP: Parameter[str] = Parameter(
    "swap",
    message("What is swapped"),
    message(
        "The variable whose categories records exchange, such as where people live. Without one the "
        "first variable that has levels, else the first."
    ),
    "text",
    "",
)

MATCH: Parameter[str | None] = Parameter(
    "match",
    message("Alike in"),
    message(
        "The variables, or levels of them, that two records must share to change places, as a formula: "
        "age*sex. Counts of each place by these stay as they are. Records that must share a region are "
        "exchanged within regions alone: every small count of a region then stays as it is, which levels "
        "do not leave so."
    ),
    "formula",
)

RULE: Parameter[SwapRule] = Parameter(
    "rule",
    message("Who changes places"),
    message("How records are chosen."),
    "choice",
    "own",
    choices={
        "deal": message(
            "Every record is drawn with the same chance, and the places of the drawn are dealt among "
            "them. Any later table of the swapped records is covered."
        ),
        "own": message(
            "Pairs with a small count before or after the exchange are exchanged more often. It moves "
            "the fewest records, and holds for the tables that are named."
        ),
    },
)

RATE: Parameter[float] = Parameter(
    "rate",
    message("Rate"),
    message("Of the deal: the chance that a record is drawn."),
    "real",
    0.2,
    low=0.0,
    high=1.0,
    unit=message("probability"),
)

HI: Parameter[float | None] = Parameter(
    "hi",
    message("Chance where counts are small"),
    message(
        "That a pair with a small count is exchanged: 0.3 at upper levels and 0.25 at the lowest where "
        "none is given. Of the deal: the chance of records of rare kinds, three a place or fewer."
    ),
    "real",
    low=0.0,
    high=1.0,
    unit=message("probability"),
)

LO: Parameter[float] = Parameter(
    "lo",
    message("Chance elsewhere"),
    message("That a pair without a small count is exchanged."),
    "real",
    0.0,
    low=0.0,
    high=1.0,
    unit=message("probability"),
)

TARGETS: Parameter[str | None] = Parameter(
    "targets",
    message("Tables to protect"),
    message(
        "The tables whose small counts decide, as a formula: area*country + area*work. Without one the "
        "published tables by what is swapped."
    ),
    "formula",
)

LEVELS: Parameter[str] = Parameter(
    "levels",
    message("Levels"),
    message(
        "Levels of what is swapped, the coarsest first, with commas: records change places across these "
        "before they do within them. Without any those that the variable has; none for a single level."
    ),
    "text",
    "",
    # A mechanism's "levels" are those of variables: it states these as ``SWAP_LEVELS``.
    public=False,
)

THEN: Parameter[str | None] = Parameter(
    "then",
    message("Then"),
    message(
        "A further method for the tables of the swapped records, with its parameters: random_rounding base=3. "
        "Without one they are published as they are."
    ),
    "setting",
    may_be_unstated=True,
)

Choice = Literal["deal", "own"]


@dataclass(frozen=True, eq=False)
class SwapSettings:
    """The parameters of a swap, for a table of some variables."""

    domain: Domain
    values: Mapping[str, object]

    @cached_property
    def swap(self) -> str:
        """The variable that is swapped.

        Raises
        ------
        ParameterError
            When the table does not have it.
        """
        name, domain = str(self.values[SWAP.name] or ""), self.domain
        if not name:
            return next((v.name for v in domain.variables if v.coarser), domain.names[0])
        if name not in domain.names:
            raise ParameterError(
                {SWAP.name: message("the table has no variable {name}", repr(name))},
                hint=message("it has {names}", ", ".join(domain.names)),
            )
        return name

    @cached_property
    def axis(self) -> int:
        return self.domain.axis(self.swap)

    @property
    def others(self) -> tuple[str, ...]:
        """The variables that stay with their records."""
        return tuple(name for name in self.domain.names if name != self.swap)

    def _formula(self, parameter: Parameter[str | None]) -> Publication | None:
        formula = self.values[parameter.name]
        if not formula:
            return None
        try:
            return Publication.of(self.domain, str(formula), groupings_of(self.domain, self.values)).maximal()
        except InputError as error:
            raise ParameterError({parameter.name: error.message}, hint=error.hint) from None

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """The names that two records must share.

        Raises
        ------
        ParameterError
            For what is swapped among them, or a formula that does not fit the table.
        """
        found = self._formula(MATCH)
        if found is None:
            return ()
        names = dict.fromkeys(name for margin in found.margins for name in margin)
        of = {grouping.name: grouping.of for grouping in found.groupings}
        if any(of.get(name, name) == self.swap for name in names):
            raise ParameterError(
                {MATCH.name: message("records exchange {swap}, so they need not share it", self.swap)},
                hint=message("levels says within which parts records stay"),
            )
        return tuple(names)

    @cached_property
    def _kinds(self) -> tuple[Ints, Ints]:
        """The place and the kind of each cell."""
        key, places = np.arange(self.domain.size, dtype=np.int64), self.domain.shape[self.axis]
        stride = int(np.prod(self.domain.shape[self.axis + 1 :], dtype=np.int64))
        place = key // stride % places
        return place, key // (stride * places) * stride + key % stride

    def _of_kinds(self, names: Sequence[str]) -> Ints:
        """A number for each kind by some names, from 0 on."""
        place, kind = self._kinds
        alone = Publication(self.domain, (tuple(names),), groupings_of(self.domain, self.values))
        keys = alone.keys(0)[place == 0]
        out = np.empty(len(keys), dtype=np.int64)
        out[kind[place == 0]] = np.unique(keys, return_inverse=True)[1].reshape(-1)
        return out

    @cached_property
    def levels(self) -> tuple[tuple[str, Ints], ...]:
        """The name and the units of each level, the coarsest first, the places themselves last.

        Raises
        ------
        ParameterError
            For a name that is no level of what is swapped, or levels that do not nest.
        """
        given = str(self.values[LEVELS.name] or "").strip()
        size = self.domain.shape[self.axis]
        known = {g.name: g for g in groupings_of(self.domain, self.values) if g.of == self.swap}
        known |= {name.partition("@")[2]: g for name, g in known.items() if "@" in name}
        if given == "none" or (not given and self.values[RULE.name] == "deal"):
            names: list[str] = []
        elif given:
            names = [name.strip() for name in given.split(",")]
        else:
            variable = self.domain[self.swap]
            names = sorted(variable.named, key=lambda name: len(set(known[name].groups)))
        names = [name for name in names if name != self.swap]
        found: list[tuple[str, Ints]] = []
        for name in names:
            if name not in known:
                there = ", ".join(dict.fromkeys(known)) or message("none")
                raise ParameterError(
                    {LEVELS.name: message("{swap} has no level {name}", self.swap, repr(name))},
                    hint=message("there are {there}", there),
                )
            found.append((name, known[name].codes))
        found.append((self.swap, np.arange(size, dtype=np.int64)))
        for (_, coarse), (name, fine) in pairwise(found):
            pairs = len(np.unique(fine * (size + 1) + coarse))
            if pairs != len(np.unique(fine)) or pairs == len(np.unique(coarse)):
                raise ParameterError(
                    {LEVELS.name: message("{name} does not divide the level before it", repr(name))},
                    hint=message("name the coarsest level first"),
                )
        return tuple(found)

    @cached_property
    def targets(self) -> Ints:
        """The category of each kind in every target, int64 (tables, kinds)."""
        found = self._formula(TARGETS)
        margins = [] if found is None else list(found.margins)
        of = {g.name: g.of for g in groupings_of(self.domain, self.values)}
        if found is None:
            named = publication_of(self.domain, self.values).margins if self.values.get(MARGINS.name) else ()
            margins = [self.domain.names, *(m for m in named if self.swap in (of.get(n, n) for n in m))]
        rest = [tuple(n for n in margin if of.get(n, n) != self.swap) for margin in margins]
        return np.stack([self._of_kinds(names) for names in dict.fromkeys(rest)])

    @property
    def levels_text(self) -> str:
        """The levels above the places themselves, as they are given."""
        return ",".join(name for name, _ in self.levels[:-1]) or "none"

    def kept(self) -> Publication:
        """The margins that no swap changes."""
        margins = dict.fromkeys([self.others, (self.swap, *self.matched)])
        return Publication(self.domain, tuple(margins), groupings_of(self.domain, self.values))

    def rates(self, table: Table | None) -> list[object]:
        """The chances level by level, as a mechanism states them.

        Parameters
        ----------
        table
            Its counts by all but what is swapped say which kinds are rare; ``None``: none are.
        """
        last = len(self.levels) - 1
        values = Values(self.values)
        hi, lo, rate = values[HI], values[LO], values[RATE]
        if values[RULE] == "own":
            found = [UPPER if k < last else LOWEST for k in range(last + 1)]
            return [[one if hi is None else hi, lo] for one in found]
        if hi is None or table is None:
            return [rate] * (last + 1)
        _, kind = self._kinds
        people = np.bincount(kind, table.counts.reshape(-1))
        rare = people <= RARE * self.domain.shape[self.axis]
        return [np.where(rare, hi, rate).tolist()] * (last + 1)

    def plan(self, stated: object, small: object) -> SwapPlan:
        """The plan with stated chances.

        Raises
        ------
        InputError
            For chances that are none.
        """
        place, kind = self._kinds
        match = self._of_kinds(self.matched)
        rule: SwapRule = "own" if self.values[RULE.name] == "own" else "deal"
        chances = self._chances(stated, len(match), rule)
        if rule == "own" and (type(small) is not int or small < 1):
            raise InputError(message('the mechanism\'s "{SMALL}" is no count', SMALL))
        within, levels = np.zeros(self.domain.shape[self.axis], dtype=np.int64), []
        targets = self.targets if rule == "own" else np.zeros((0, len(match)), dtype=np.int64)
        for (_, unit), rates in zip(self.levels, chances, strict=True):
            levels.append(SwapLevel(within, unit, rule, rates, targets, small if type(small) is int else 0))
            within = unit
        return SwapPlan(place, kind, match, tuple(levels))

    def _chances(self, stated: object, kinds: int, rule: SwapRule) -> list[Floats]:
        each = stated if isinstance(stated, list) else [stated]
        if rule == "deal" and len(self.levels) == 1 and len(each) == kinds > 1:
            # By kind, of a single level.
            each = [each]
        try:
            found = [np.asarray(one, dtype=np.float64) for one in each]
        except (TypeError, ValueError):
            found = []
        shape = (2,) if rule == "own" else (kinds,)
        if rule == "deal":
            found = [np.full(kinds, float(one)) if one.shape == () else one for one in found]
        right = len(found) == len(self.levels) and all(one.shape == shape for one in found)
        if not right or any((one < 0).any() or (one > 1).any() or np.isnan(one).any() for one in found):
            raise InputError(
                message('the mechanism\'s "{RATES}" are no chances of its levels', RATES),
                hint=message("take the mechanism that came with the table"),
            )
        return found


def settings_of(domain: Domain, values: Values) -> SwapSettings:
    """The settings, checked.

    Raises
    ------
    ParameterError
        With every wrong field.
    """
    settings, hint = SwapSettings(domain, values), ""
    wrong: dict[str, str] = {}
    for name in ("swap", "matched", "levels", "targets"):
        try:
            getattr(settings, name)
        except ParameterError as error:
            wrong |= error.fields
            hint = hint or error.hint
            if name == "swap":
                break
    if wrong:
        raise ParameterError(wrong, hint=hint)
    return settings
