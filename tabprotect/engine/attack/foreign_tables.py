"""Tables of any office as published numbers: lists of counts, with what is said of their methods.

Tables over some of the variables, in one file with the code ``Total`` or in several, are tables of
one original: variables of one name are one variable, and their categories are those of all files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError, ParameterError, TooLargeError
from tabprotect.engine.fitting.margin_variance import EXACT_VARIANCE
from tabprotect.engine.formats.published_rows import PublishedRows
from tabprotect.engine.protection.published_margins import main_first
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.rounding.rounding_base import BASE
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.published_numbers import Law, PublishedNumbers
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.publication_set import formula_of
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_CELLS = 2_000_000
"""Most inner cells of the tables together."""

PROGRAMMES = 200
"""Most cells that integer programmes are solved for."""

REACH = 8.0
"""Standard deviations beyond which noise of an unknown kind is taken as impossible."""

FORM = message(
    "write it as cell_key:D=5,V=3,js=2 or random_rounding:base=3, suppression, rounded:base=5, "
    "swapped:rate=.1, unknown:sd=1 or exact"
)


BASES = {10: "rounded", 5: "random_rounding", 3: "random_rounding"}
"""Bases that offices round to, and how."""

FEW = 3
"""With fewer counts than these, multiples of a base may be chance."""


@dataclass(frozen=True)
class SaidMethod:
    """The method that an office says it used: a name and parameters.

    Attributes
    ----------
    name
        ``exact``, ``suppression``, ``rounded``, ``swapped``, ``unknown`` or a registered method that
        protects number by number.
    given
        Parameters by name, as texts.
    """

    name: str
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> SaidMethod:
        """Read ``name:parameter=value,...``.

        Raises
        ------
        ParameterError
            For an unknown name or a wrong parameter.
        """
        name, _, rest = text.strip().partition(":")
        if name not in _OWN and name not in methods():
            raise ParameterError({"method": message("there is no method {name}", repr(name))}, hint=FORM)
        given: dict[str, str] = {}
        for part in filter(None, (one.strip() for one in rest.split(","))):
            parameter, equals, value = part.partition("=")
            if not equals:
                raise ParameterError({"method": message("{part} is no name=value", repr(part))}, hint=FORM)
            given[parameter.strip()] = value.strip()
        if name in _OWN:
            missing = {_OWN[name]} - {""} - set(given)
            unknown = set(given) - {_OWN[name]}
            wrong = {f"{name}.{one}": message("must be stated") for one in missing}
            wrong |= {f"{name}.{one}": message("is no parameter of it") for one in unknown}
            if wrong:
                raise ParameterError(wrong, hint=FORM)
        return cls(name, given)

    def __str__(self) -> str:
        return self.name + (
            ":" + ",".join(f"{name}={value}" for name, value in self.given.items()) if self.given else ""
        )

    def number(self) -> float:
        """The one parameter of a method that is not registered.

        Raises
        ------
        ParameterError
            If it is not a positive number.
        """
        name = _OWN[self.name]
        try:
            found = float(self.given[name])
        except ValueError:
            found = math.nan
        if not 0 < found < 2**31 or (name == "base" and found != int(found)):
            raise ParameterError({f"{self.name}.{name}": message("must be a positive number")}, hint=FORM)
        return found


_OWN = {"exact": "", "suppression": "", "rounded": "base", "swapped": "rate", "unknown": "sd"}
"""Ways in which numbers are published beside the registered methods, and their parameters."""


@dataclass(frozen=True, eq=False)
class ForeignTables:
    """Published tables of one original, protected by one method.

    Attributes
    ----------
    publication
        The tables, over the variables of all lists.
    counts : int64 (published,)
        0 where a list leaves a number out.
    known : bool (published,)
        The numbers that were published.
    """

    publication: Publication
    counts: Ints
    known: Bools

    def shown(self) -> Ints:
        """The published count of each inner cell, int64 (cells,); -1 where none was published."""
        domain = self.publication.domain
        if domain not in self.publication.domains:
            return np.full(domain.size, -1, dtype=np.int64)
        start = int(self.publication.starts[self.publication.domains.index(domain)])
        rows = slice(start, start + domain.size)
        return np.where(self.known[rows], self.counts[rows], -1)

    def numbers(self, method: SaidMethod) -> PublishedNumbers:
        """The published numbers under a method.

        Raises
        ------
        InputError
            When a number cannot come from the method.
        ParameterError
            For parameters that make no sense.
        """
        if method.name not in _OWN:
            return self._of_registered(method)
        law, variance = self._law(method)
        return PublishedNumbers.of(self.publication, self.counts, law, variance=variance, hidden=~self.known)

    def _law(self, method: SaidMethod) -> tuple[Callable[[int], Law], float]:
        if method.name in ("exact", "suppression"):
            return lambda count: (count, count, None), EXACT_VARIANCE
        number = method.number()
        if method.name == "rounded":
            base = int(number)
            self._check_multiples(base)
            return _within(base // 2), (base**2 - 1) / 12 or EXACT_VARIANCE
        if method.name == "swapped":
            # No number moves by more records than were swapped at all.
            return _within(math.ceil(number * self._total())), math.inf
        reach = math.ceil(REACH * number)

        def normal(count: int) -> Law:
            low = max(count - reach, 0)
            values = np.arange(low, max(count + reach, 0) + 1)
            return low, int(values[-1]), -0.5 * ((values - count) / number) ** 2

        return normal, number**2

    def _check_multiples(self, base: int) -> None:
        """Refuse numbers that rounding to a base cannot give.

        Raises
        ------
        InputError
            Naming the first of them.
        """
        wrong = np.flatnonzero(self.known & (self.counts % base != 0))
        if len(wrong):
            raise InputError(
                message(
                    "a published count of {published} is no multiple of {base}",
                    int(self.counts[wrong[0]]),
                    base,
                ),
                cell=self.publication.cell_text(int(wrong[0])),
                hint=message(
                    "{wrong:,} of {known:,} counts are none: say the base that they were rounded to, "
                    "or exact or unknown:sd=1 of a list that was not rounded",
                    wrong=len(wrong),
                    known=int(self.known.sum()),
                ),
            )

    def _total(self) -> int:
        """The largest grand total that the tables say."""
        starts = self.publication.starts
        return max(int(self.counts[starts[m] : starts[m + 1]].sum()) for m in range(len(starts) - 1))

    def _of_registered(self, method: SaidMethod) -> PublishedNumbers:
        if not self.known.all():
            raise InputError(
                message("a published table is there in part only"),
                hint=message("this method publishes every number: give the tables whole"),
            )
        found, domain = methods()[method.name], self.publication.domain
        formula = formula_of(self.publication.margins)
        values = found.resolve(domain, {**method.given, "margins": formula})
        public = {p.name: values[p.name] for p in found.parameters if p.name in values}
        if BASE in found.parameters:
            self._check_multiples(values[BASE])
        tables = [
            Table.dense(of, self.counts[int(first) : int(first) + of.size].reshape(of.shape))
            for of, first in zip(self.publication.domains, self.publication.starts, strict=False)
        ]
        release = Release(main_first(tables, domain), Mechanism(method.name, domain, public))
        numbers = found.numbers(release)
        if numbers is None:
            raise ParameterError(
                {"method": message("{name} does not protect number by number", method.name)},
                hint=message("its releases are read by infer"),
            )
        return numbers


def _within(reach: int) -> Callable[[int], Law]:
    """The law of a number that is within a distance of the true one."""
    return lambda count: (max(count - reach, 0), max(count + reach, 0), None)


def together(
    read: Sequence[PublishedRows], names: Sequence[str], methods: Sequence[SaidMethod]
) -> tuple[PublishedNumbers, Ints]:
    """The tables of several lists of rows as numbers of one original.

    Parameters
    ----------
    names
        What the lists are called in errors.
    methods
        What is said of each list; one for all where it is the only one.

    Returns
    -------
    numbers : PublishedNumbers
    shown : int64 (cells,)
        The published count of each inner cell, of the first list that has it; -1 for none.

    Raises
    ------
    InputError, ParameterError
        As of :meth:`ForeignTables.numbers`; also for lists of methods that cannot be read together.
    TooLargeError
        For more inner cells than can be followed.
    """
    if len(methods) not in (1, len(read)):
        raise ParameterError(
            {"method": message("{methods} methods for {files} files", len(methods), len(read))},
            hint=message("say one for all files, or one for each in their order"),
        )
    said = list(methods) * (len(read) if len(methods) == 1 else 1)
    domain, groupings = _variables_of(read)
    shown = np.full(domain.size, -1, dtype=np.int64)
    parts = []
    for method in {str(one): one for one in said}.values():
        of = [k for k, one in enumerate(said) if str(one) == str(method)]
        margins = dict.fromkeys(margin for k in of for margin in read[k].publication.margins)
        whole = Publication(domain, tuple(margins), tuple(groupings))
        counts = np.zeros(whole.size, dtype=np.int64)
        known = np.zeros(whole.size, dtype=np.bool_)
        for k in of:
            _add(whole, read[k], names[k], counts, known)
        tables = ForeignTables(whole, counts, known)
        parts.append(tables.numbers(method))
        shown = np.where(shown < 0, tables.shown(), shown)
    if sum(part.shared for part in parts) > 1:
        # Under other settings the noise is other noise, but of the same keys.
        raise ParameterError(
            {"method": message("cell keys put the same noise on the same records in every table")},
            hint=message("attack the tables of that method apart from the others"),
        )
    return PublishedNumbers.together(parts), shown


def _variables_of(read: Sequence[PublishedRows]) -> tuple[Domain, list[Grouping]]:
    """The variables of all lists with the categories of all, and the groupings."""
    categories: dict[str, dict[str, None]] = {}
    groupings: list[Grouping] = []
    for rows in read:
        for variable in rows.publication.domain.variables:
            known = categories.setdefault(variable.name, {})
            known.update(dict.fromkeys(variable.categories))
        groupings += [one for one in rows.publication.groupings if one not in groupings]
    cells = math.prod(len(known) for known in categories.values())
    if cells > MOST_CELLS:
        raise TooLargeError(
            message("the tables together have {cells:,} inner cells", cells),
            hint=message("attack fewer tables at once"),
        )
    return Domain.of({name: list(known) for name, known in categories.items()}), groupings


def likely_method(rows: PublishedRows) -> tuple[SaidMethod, str]:
    """Return what a list of published counts looks like, for a person to confirm, and why in words."""
    counts = rows.counts[rows.counts > 0]
    common = int(np.gcd.reduce(counts)) if len(counts) >= FEW else 1
    for base, name in BASES.items():
        if common % base:
            continue
        return SaidMethod(name, {"base": str(base)}), message(
            "guessed: all counts are multiples of {base}", base
        )
    if not rows.known.all():
        return SaidMethod("suppression"), message("guessed: some counts are not there")
    return SaidMethod("exact"), message("taken as true")


def _add(whole: Publication, rows: PublishedRows, name: str, counts: Ints, known: Bools) -> None:
    """Put the numbers of one list in their places."""
    publication = rows.publication
    for m, of in enumerate(publication.domains):
        target = next(k for k, one in enumerate(whole.domains) if set(one.names) == set(of.names))
        place = whole.domains[target]
        values = rows.values[publication.starts[m] : publication.starts[m + 1]]
        there = rows.known[publication.starts[m] : publication.starts[m + 1]]
        at = np.zeros(of.shape, dtype=np.int64)
        for axis, variable in enumerate(of.variables):
            codes = [place[variable.name].code(one) for one in variable.categories]
            step = math.prod(place.shape[place.axis(variable.name) + 1 :])
            shape = [1] * of.ndim
            shape[axis] = -1
            at = at + (np.array(codes, dtype=np.int64) * step).reshape(shape)
        cells = at.reshape(-1)[there] + int(whole.starts[target])
        twice = known[cells] & (counts[cells] != values[there])
        if twice.any():
            cell = int(cells[np.flatnonzero(twice)[0]])
            raise InputError(
                message("another file publishes another number for this cell"),
                file=Path(name),
                cell=whole.cell_text(cell),
                hint=message("attack releases that were protected apart one by one"),
            )
        counts[cells], known[cells] = values[there], True
