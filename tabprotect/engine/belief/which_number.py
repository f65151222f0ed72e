"""Which number to use: the best value and the interval of a sum of cells, a difference, a share or a rate.

A published total has noise of its own, and so has each of its parts: with noise of variance V on each, the total
has V, the sum of n parts n V, and both together V n / (n + 1). What is believed here takes in both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief import number_words as words
from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import OfRelease
from tabprotect.engine.belief.of_table import law_of_its_own, of_table
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.posterior.factors.solved_parts import PartSums
from tabprotect.engine.posterior.moves.sum_sweep import SumLaws
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import joined, message

LEVEL = 0.9

DRAWS = 20_000
"""Originals drawn where no law is exact."""

RUNS = 32
"""Of originals that chains drew one after the other: the means of runs tell what they are worth."""

SUMS_WORK = 20_000_000
"""Most entries that an exact law of a sum may cost."""

Kind = Literal["sum", "difference", "share", "rate"]

Cells = Mapping[str, str | Sequence[str]]
"""Categories of some variables; over the others it is summed."""


@dataclass(frozen=True)
class Law:
    """The law of a figure: its values in order, their chances, and how it was got.

    ``draws`` is 0 where it is exact.
    """

    values: Floats
    chances: Floats
    draws: int = 0

    @property
    def mean(self) -> float:
        return float(self.values @ self.chances)

    @property
    def variance(self) -> float:
        return max(float((self.values - self.mean) ** 2 @ self.chances), 0.0)

    def interval(self, level: float) -> tuple[float, float]:
        """The shortest interval with this chance at least; of equally short ones the likeliest."""
        below, best = np.concatenate([[0.0], np.cumsum(self.chances)]), None
        last = np.searchsorted(below, below[:-1] + level - 1e-9)
        for first in range(len(self.values)):
            if last[first] > len(self.values):
                break
            end = int(last[first]) - 1
            width = float(self.values[end] - self.values[first])
            # Values that are equally far apart hold more if there are more of them.
            found = (round(width, 12), -round(float(below[end + 1] - below[first]), 12), first, end)
            best = found if best is None or found < best else best
        assert best is not None
        return float(self.values[best[2]]), float(self.values[best[3]])

    @classmethod
    def of(cls, values: Floats | Ints, chances: Floats, draws: int = 0) -> Law:
        """Equal values together."""
        different, place = np.unique(values, return_inverse=True)
        found = np.bincount(place.reshape(-1), chances, minlength=len(different))
        kept = found > 0
        return cls(np.asarray(different[kept], dtype=np.float64), found[kept] / found.sum(), draws)

    def both(self, other: Law) -> Law:
        """Given two sources that are independent, under an even prior of the figure."""
        shared, mine, its = np.intersect1d(self.values, other.values, return_indices=True)
        chances = self.chances[mine] * other.chances[its]
        if not chances.sum():
            raise InfeasibleError(message("the published total and its parts contradict each other"))
        return Law.of(np.asarray(shared, dtype=np.float64), chances, max(self.draws, other.draws))


@dataclass(frozen=True)
class Source(Encodable):
    """One way to a number: what is published, its estimate by published numbers alone, the variance left.

    ``total``, ``parts`` (their sum), and ``both`` by least squares.
    """

    name: str
    published: int | None
    estimate: float
    variance: float
    json_keys = "name published estimate variance"


@dataclass(frozen=True)
class BestNumber(Encodable):
    """What to use for a sum, a difference, a share or a rate.

    Attributes
    ----------
    kind
        What of the cells.
    asked
        The cells in words.
    estimate, low, high
        The best value and both ends of the interval.
    level
        The chance that it holds the true figure.
    variance
        Of what is believed.
    sources
        What the published total, the sum of its parts and both leave by their noise alone; empty where
        there is one way only. The estimate takes in both, and that counts are whole and not below 0.
    draws
        How many independent originals those are worth that were drawn; 0 where it is exact.
    error
        The standard error of the estimate; 0 where it is exact.
    several
        Whether more than one cell is summed.
    """

    kind: Kind
    asked: str
    estimate: float
    low: float
    high: float
    level: float
    variance: float
    sources: tuple[Source, ...] = ()
    draws: int = 0
    several: bool = False
    json_keys = "kind asked estimate low high level variance sources draws error text"

    @property
    def error(self) -> float:
        return float(np.sqrt(self.variance / self.draws)) if self.draws else 0.0

    @property
    def text(self) -> str:
        """What to write beside the number."""
        places = 1 if self.kind in ("sum", "difference") else 4
        ends = 0 if self.kind in ("sum", "difference") else 4
        estimate = f"{self.estimate:,.{places}f}"
        if self.low == self.high and not self.draws:
            exact = self.estimate.is_integer()
            return message(words.KNOWN, self.asked, f"{self.estimate:,.0f}" if exact else estimate)
        ends_said = (f"{end:,.{ends}f}" for end in (self.low, self.high))
        said = [message(words.ANSWER, self.asked, estimate, *ends_said, round(100 * self.level))]
        if self.sources:
            left = (f"{source.variance:,.2f}" for source in self.sources)
            said.append(message(words.SOURCES, *left))
        elif self.kind == "sum" and self.several:
            said.append(words.NO_SOURCES)
        if self.draws:
            said.append(message(words.DRAWN, f"{self.error:.2g}"))
        return joined(said, " ")


def cells_of(domain: Domain, blocks: Sequence[Cells]) -> Ints:
    """The flat cells of some blocks, each once.

    Raises
    ------
    InputError
        For an unknown variable or category.
    """
    chosen = np.zeros(domain.shape, dtype=np.bool_)
    for block in blocks:
        places = [np.arange(size) for size in domain.shape]
        for name, categories in block.items():
            axis = domain.axis(name)
            listed = [categories] if isinstance(categories, str) else list(categories)
            places[axis] = np.array([_code(domain.variables[axis], one) for one in listed])
        chosen[np.ix_(*places)] = True
    found = np.flatnonzero(chosen)
    if not len(found):
        raise InputError(message("no cell is named"))
    return found


def _code(variable: Variable, name: str) -> int:
    """The number of a category, by itself or by its label."""
    labels = variable.labels or ()
    by_label = name not in variable.categories and list(labels).count(name) == 1
    return list(labels).index(name) if by_label else variable.code(name)


_QUOTED = re.compile(r"""[,;="]|\s[-+/]\s|^\s|\s$""")


def _name(text: str) -> str:
    """A name as it is written: in quotes where it holds a sign of the question."""
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _read(text: str) -> str:
    """A name that was written."""
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('""', '"') if quoted else text


def _split(text: str, sign: str, most: int = 0) -> list[str]:
    """Parts of a text between signs that stand outside quotes."""
    return re.split(sign + r'(?=(?:[^"]*"[^"]*")*[^"]*$)', text, maxsplit=most)


def written(blocks: Sequence[Cells]) -> str:
    """Blocks as they are written."""
    return joined(
        (
            joined(
                (
                    f"{_name(n)}={','.join(map(_name, [c] if isinstance(c, str) else map(str, c)))}"
                    for n, c in block.items()
                ),
                "; ",
            )
            for block in blocks
        ),
        " + ",
    ) or message("all")


@dataclass(frozen=True)
class Question:
    """What is asked: some cells, and those that they are compared with."""

    kind: Kind
    cells: tuple[Cells, ...]
    other: tuple[Cells, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Question:
        """Parse ``A=a1,a2; B=b1``, with `` + `` between blocks, and `` - `` or `` / `` before others.

        Raises
        ------
        ParameterError
            If it is not of this form.
        """
        parts = _split(text.strip(), r"\s+([-/])\s+")
        if len(parts) not in (1, 3):
            raise _unread(text)
        first, *rest = parts
        cells = _blocks(first, text)
        if not rest:
            return cls("sum", cells)
        return cls("difference" if rest[0] == "-" else "rate", cells, _blocks(rest[1], text))

    @property
    def text(self) -> str:
        """The question as it is written."""
        sign = {"sum": "", "difference": " - "}.get(self.kind, " / ")
        return written(self.cells) + (sign + written(self.other) if self.other else "")


def blocks_of(given: Sequence[str | Cells]) -> tuple[Cells, ...]:
    """Blocks as they are, or as texts of one or more."""
    return tuple(block for one in given for block in (_blocks(one, one) if isinstance(one, str) else (one,)))


def is_question(text: str) -> bool:
    """Return True for cells by their categories; formulas have no such sign."""
    return "=" in text


def _unread(text: str) -> ParameterError:
    return ParameterError(
        {"of": message("cannot read {text}", repr(text))},
        hint=message('write "A=a1,a2; B=b1" for a sum, and " - " or " / " before others'),
    )


def _blocks(part: str, text: str) -> tuple[Cells, ...]:
    blocks: list[Cells] = []
    for block in _split(part.strip(), r"\s+\+\s+"):
        named: dict[str, Sequence[str]] = {}
        for one in _split(block, ";"):
            name, *rest = map(_read, _split(one, "=", 1))
            found = list(map(_read, _split(_split(one, "=", 1)[-1], ",")))
            if not rest or not name or not all(found):
                raise _unread(text)
            named[name] = found
        blocks.append(named)
    return tuple(blocks)


def best_number(
    posterior: Posterior,
    question: Question,
    *,
    release: Release | None = None,
    level: float = LEVEL,
    randomness: Randomness | None = None,
    progress: Progress = SILENT,
) -> BestNumber:
    """The best value and interval of what is asked.

    Parameters
    ----------
    posterior
        Of the inner cells.
    release
        The one release that it is of, whose published totals may tell more; ``None`` for several.
    randomness
        Of draws, where they are needed; by default that of the release: one answer for one file.

    Raises
    ------
    InputError
        For an unknown variable or category.
    ParameterError
        For a share or rate whose denominator may be 0, or a level that is none.
    """
    if not 0 < level <= 1:
        raise ParameterError({"level": message("must be above 0 and at most 1, is {level}", level)})
    domain = posterior.domain
    cells = cells_of(domain, question.cells)
    # One answer for one release, by whoever asks.
    chance = randomness or (Randomness.fresh() if release is None else OfRelease(release, "sums"))
    kind = question.kind
    sources: tuple[Source, ...] = ()
    if kind == "sum":
        law, sources = _of_sum(posterior, cells, release, chance, progress)
    else:
        other = cells_of(domain, question.other)
        if kind == "rate" and np.isin(cells, other).all():
            kind = "share"
        law = _of_two(posterior, cells, other, kind, chance, progress)
    low, high = law.interval(level)
    return BestNumber(
        kind, question.text, law.mean, low, high, level, law.variance, sources, law.draws, len(cells) > 1
    )


def _of_sum(
    posterior: Posterior, cells: Ints, release: Release | None, chance: Randomness, progress: Progress
) -> tuple[Law, tuple[Source, ...]]:
    """The law of a sum, and its sources where a total of its own is published."""
    law = _law_of_sum(posterior, cells, chance, progress)
    if release is None or len(cells) == 1 or posterior.domain != release.domain:
        return law, ()
    alone = _total_left_out(release, posterior, cells, progress)
    return law if alone is None else law.both(alone), _sources(release, cells)


def _sources(release: Release, cells: Ints) -> tuple[Source, ...]:
    """What the published total, its parts, and both by least squares leave; empty without such numbers."""
    numbers = methods()[release.mechanism.method].numbers(release)
    if numbers is None:
        return ()
    behind = [numbers.cells[a:b] for a, b in zip(numbers.starts[:-1], numbers.starts[1:], strict=True)]
    total = next((k for k, own in enumerate(behind) if np.array_equal(np.sort(own), cells)), None)
    single = {int(own[0]): k for k, own in enumerate(behind) if len(own) == 1}
    parts = [single[cell] for cell in cells.tolist() if cell in single]
    if total is None or len(parts) < len(cells):
        return ()
    said, added = int(numbers.published[total]), int(numbers.published[parts].sum())
    one, several = float(numbers.variance[total]), float(numbers.variance[parts].sum())
    if not (np.isfinite(one) and np.isfinite(several) and one + several > 0):
        return ()
    weight = several / (one + several)
    return (
        Source("total", said, said, one),
        Source("parts", added, added, several),
        Source("both", None, weight * said + (1 - weight) * added, weight * one),
    )


def _law_of_sum(posterior: Posterior, cells: Ints, chance: Randomness, progress: Progress) -> Law:
    if len(cells) == 1:
        values, chances = posterior.distribution(posterior.domain.unflat(int(cells[0])))
        if posterior.way == "exact":
            return Law.of(values, chances)
    exact = posterior.exact_sums
    work = None if exact is None else exact.work(cells)
    if exact is not None and work is not None and work <= SUMS_WORK:
        first, chances = exact.law(cells, progress)
        return Law.of(first + np.arange(len(chances)), chances)
    originals = _originals(posterior, chance, progress)
    drawn = originals.law(originals.tables[:, cells].sum(axis=1))
    if posterior.recorded_sums is not None and (known := posterior.recorded_sums.law(cells)) is not None:
        first, chances = known
        return Law.of(first + np.arange(len(chances)), chances, drawn.draws)
    return drawn


@dataclass(frozen=True)
class Originals:
    """All originals and their chances; else some that are drawn.

    Attributes
    ----------
    tables : int64 (originals, cells)
    chances : float64 (originals,)
    draws
        How many independent ones they are worth; 0 where they are all.
    in_order
        Whether chains drew them, one after the other.
    """

    tables: Ints
    chances: Floats
    draws: int
    in_order: bool = False

    def law(self, values: Floats | Ints) -> Law:
        """The law of a figure, by its value in each original.

        What chains drew is worth what their runs say of this figure: of a sum it is less than of a cell where
        the sum changes slowly.
        """
        found = Law.of(values, self.chances, self.draws)
        if not self.in_order or not found.variance:
            return found
        means = [float(run.mean()) for run in np.array_split(values, min(RUNS, len(values)))]
        noise = float(np.var(means, ddof=1)) / len(means) if len(means) > 1 else found.variance
        own = int(found.variance / noise) if noise else self.draws
        return replace(found, draws=max(min(own, self.draws), 1))

    def least_worth(self, domain: Domain) -> int:
        """What they are worth to the sum of whichever category they are worth least to."""
        if not self.in_order:
            return self.draws
        shaped = self.tables.reshape(-1, *domain.shape)
        others = [tuple(k + 1 for k in range(domain.ndim) if k != axis) for axis in range(domain.ndim)]
        sums = [column for axes in others for column in shaped.sum(axis=axes).T]
        return min(self.law(values).draws for values in sums)


def _originals(posterior: Posterior, chance: Randomness, progress: Progress) -> Originals:
    if posterior.way == "exact" and (listed := posterior.list_originals()) is not None:
        return Originals(*listed, 0)
    return drawn_originals(posterior, DRAWS, chance, progress)


def drawn_originals(posterior: Posterior, number: int, chance: Randomness, progress: Progress) -> Originals:
    """Originals of a posterior; of those that chains recorded at most so many, evenly among them."""
    generator, in_order = chance.generator(), posterior.draw_in_order
    if in_order is None or posterior.draws is None:
        tables = posterior.draw_originals(number, generator, progress)
        draws = worth(posterior, len(tables))
    else:
        draws = min(number, posterior.draws)
        evenly = np.linspace(0, posterior.draws - 1, draws).astype(np.int64)
        tables = in_order(evenly, generator, progress)
    return Originals(tables, np.full(len(tables), 1 / len(tables)), draws, in_order is not None)


def worth(posterior: Posterior, number: int) -> int:
    """How many independent originals so many drawn ones are worth: those of chains share ancestors."""
    effective = posterior.effective_sample_size
    exact = posterior.way == "exact" or posterior.independent or effective is None
    return number if exact else max(int(1 / (1 / number + 1 / max(effective or 1.0, 1.0))), 1)


def _of_two(
    posterior: Posterior, cells: Ints, other: Ints, kind: Kind, chance: Randomness, progress: Progress
) -> Law:
    """The law of a difference, a share or a rate."""
    if kind == "difference":
        # What is in both cancels.
        cells, other = np.setdiff1d(cells, other), np.setdiff1d(other, cells)
        if not len(cells) or not len(other):
            alone = _law_of_sum(posterior, cells if len(cells) else other, chance, progress)
            return alone if len(cells) else Law.of(-alone.values, alone.chances, alone.draws)
    law = _with_fixed(posterior, cells, other, kind, chance, progress)
    if law is not None:
        return law
    pairs = _together(posterior, cells, other, kind, chance, progress)
    one, two = pairs.tables.T
    if kind == "difference":
        return pairs.law(one - two)
    if (two == 0).any():
        raise ParameterError(
            {
                "of": message(
                    "the second sum may be 0: {share} of the chance", f"{pairs.chances[two == 0].sum():.2g}"
                )
            },
            hint=message("ask for the sums themselves"),
        )
    return pairs.law(np.round(one / two, 12))


def _together(
    posterior: Posterior, cells: Ints, other: Ints, kind: Kind, chance: Randomness, progress: Progress
) -> Originals:
    """Two sums with their chances: exactly, by one sum with weights that keeps them apart, or by originals."""
    exact = posterior.exact_sums
    if posterior.way == "exact" and isinstance(exact, SumLaws | PartSums):
        rows = posterior.chances[posterior.group_of_cell[cells]] > 0
        low = posterior.first[cells] + rows.argmax(axis=1)
        high = posterior.first[cells] + rows.shape[1] - 1 - rows[:, ::-1].argmax(axis=1)
        least, apart = int(low.sum()), int((high - low).sum()) + 1
        weights = np.zeros(posterior.domain.size, dtype=np.int64)
        weights[cells] += 1
        # A difference needs no more than itself.
        weights[other] += -1 if kind == "difference" else apart
        found = exact.weighted(weights, SUMS_WORK, progress)
        if found is not None:
            at = np.flatnonzero(found[1] > 0)
            sums, chances = found[0] + at, found[1][at]
            two = np.zeros_like(sums) if kind == "difference" else (sums - least) // apart
            return Originals(np.stack([sums - two * apart, two], axis=1), chances, 0)
    drawn = _originals(posterior, chance, progress)
    sums = np.stack([drawn.tables[:, asked].sum(axis=1) for asked in (cells, other)], axis=1)
    return replace(drawn, tables=sums)


def _with_fixed(
    posterior: Posterior, cells: Ints, other: Ints, kind: Kind, chance: Randomness, progress: Progress
) -> Law | None:
    """The same by the law of one sum, where the other, or both together, are known for certain."""
    if posterior.way != "exact" or posterior.exact_sums is None:
        return None

    def fixed(asked: Ints) -> int | None:
        law = _law_of_sum(posterior, asked, chance, progress)
        return int(law.values[0]) if len(law.values) == 1 and not law.draws else None

    below = fixed(other)
    if below is not None and (below or kind == "difference"):
        law = _law_of_sum(posterior, cells, chance, progress)
        values = law.values - below if kind == "difference" else np.round(law.values / below, 12)
        return Law.of(values, law.chances, law.draws)
    if kind == "difference" and (both := fixed(np.union1d(cells, other))) is not None:
        law = _law_of_sum(posterior, cells, chance, progress)
        return Law.of(2 * law.values - both, law.chances, law.draws)
    return None


def _total_left_out(release: Release, posterior: Posterior, cells: Ints, progress: Progress) -> Law | None:
    """The law alone of the published total of just these cells, where the posterior leaves it out."""
    groupings = groupings_of(release.domain, release.mechanism.parameters)
    for number, published in enumerate(release.tables):
        domain = published.table.domain
        if domain == release.domain or law_of_its_own(release, number, posterior) is None:
            continue
        keys = Publication(release.domain, (domain.names,), groupings).keys(0)
        at = int(keys[cells[0]])
        if not np.array_equal(np.flatnonzero(keys == at), cells) or published.hidden.reshape(-1)[at]:
            continue
        found = of_table(
            release, number, Believed(posterior), lambda one: believe([one], progress=progress)
        ).believed.posterior
        values, chances = found.distribution(domain.unflat(at))
        return Law.of(values, chances, 0 if found.way == "exact" else worth(found, found.draws or DRAWS))
    return None
