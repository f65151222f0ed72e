"""Priors: beliefs about each true count before the release, as products over cells.

Weights need not be normalised (the uniform prior over all non-negative counts cannot be). An
intruder who knows more is a prior with more zeros.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.text.opening import check_file
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.release.likelihood import UNBOUNDED
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.said import plural, say

MAX_COUNT = 2**53
"""Larger counts in a prior's file are taken for typing errors."""

MODEL, LAST = "model", "last"
"""Kinds of prior text that rest on releases: they are made where these can be read."""


class Prior(ABC):
    """A product over cells of weights on the counts 0, 1, 2, ..."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The holder of this belief, in words."""

    @abstractmethod
    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        """Log weights at non-negative values."""

    def log_weight(self, keys: npt.ArrayLike, values: npt.ArrayLike) -> Floats:
        """Log weight of the counts ``values`` at the flat cells ``keys``; -inf is impossible.

        The two broadcast against each other; the result has their common shape. Negative counts
        are impossible under every prior.
        """
        k, v = np.broadcast_arrays(
            np.asarray(keys, dtype=np.int64), np.asarray(values, dtype=np.int64)
        )
        return np.where(v < 0, -np.inf, self._log_weight(k, np.maximum(v, 0)))

    def alike(self, keys: Ints) -> Ints:
        """A number for each flat cell, int64 (keys,); equal only where the weights are equal."""
        return np.arange(len(keys), dtype=np.int64)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        """The lowest and highest possible count of flat cells; ``UNBOUNDED`` if there is none.

        Possible counts may still have holes between them.
        """
        return np.zeros(len(keys), dtype=np.int64), np.full(len(keys), UNBOUNDED, dtype=np.int64)

    def distribution(self, key: int, values: npt.ArrayLike) -> Floats:
        """The prior of a flat cell, normalised over given counts (all 0 if none is possible)."""
        log = self.log_weight(key, values)
        if not np.isfinite(log).any():
            return np.zeros(len(log))
        weight = np.exp(log - log.max())
        return np.asarray(weight / weight.sum(), dtype=np.float64)


@dataclass(frozen=True)
class Uniform(Prior):
    """Every count is as likely as any other."""

    @property
    def label(self) -> str:
        return say("assumes nothing")

    def alike(self, keys: Ints) -> Ints:
        return np.zeros(len(keys), dtype=np.int64)

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        return np.zeros(keys.shape)


@dataclass(frozen=True, eq=False)
class Positive(Prior):
    """At least 1 in the chosen cells ("I am in the survey"), else uniform.

    Attributes
    ----------
    cells
        Flat keys of the chosen cells; ``None`` for all.
    """

    cells: Ints | None = None

    @property
    def label(self) -> str:
        if self.cells is None:
            return say("knows that every cell holds somebody")
        return say("knows who is in the survey")

    def alike(self, keys: Ints) -> Ints:
        chosen = np.ones(len(keys)) if self.cells is None else np.isin(keys, self.cells)
        return chosen.astype(np.int64)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = super().support(keys)
        return low + self.alike(keys), high

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        chosen = np.isin(keys, self.cells) if self.cells is not None else True
        return np.where(chosen & (values < 1), -np.inf, 0.0)


@dataclass(frozen=True, eq=False)
class _Expected(Prior):
    """Around an expected count per cell; an expected count of 0 is certainly 0.

    Attributes
    ----------
    means : float64 (cells,)
    """

    means: Floats

    def __post_init__(self) -> None:
        means = np.asarray(self.means, dtype=np.float64).reshape(-1)
        if not np.isfinite(means).all() or (means < 0).any():
            raise InputError(say("an expected count is negative or not a number"))
        object.__setattr__(self, "means", means)

    def alike(self, keys: Ints) -> Ints:
        # Equal means have equal numbers.
        return np.unique(self.means[keys], return_inverse=True)[1].reshape(-1).astype(np.int64)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = super().support(keys)
        return low, np.where(self.means[keys] == 0, 0, high)


class Poisson(_Expected):
    """Poisson around an expected count per cell; an expected count of 0 is certainly 0."""

    @property
    def label(self) -> str:
        return say("knows earlier counts (Poisson)")

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        # Imported late: scipy would be a third of the start-up time.
        from scipy.special import gammaln, xlogy

        # xlogy(0, 0) = 0 and xlogy(v, 0) = -inf: an expected zero needs no special case.
        mean = self.means[keys]
        return np.asarray(xlogy(values, mean) - mean - gammaln(values + 1.0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NegativeBinomial(_Expected):
    """Like Poisson, but wider: variance ``mean + mean^2 / dispersion``.

    Attributes
    ----------
    dispersion
        Positive; the larger, the closer to Poisson.
    """

    dispersion: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.dispersion < np.inf:
            raise ParameterError(
                {"dispersion": say("must be positive, is {dispersion}", self.dispersion)}
            )

    @property
    def label(self) -> str:
        return say(
            "knows earlier counts (negative binomial, dispersion {dispersion:g})", self.dispersion
        )

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        # Imported late: see Poisson.
        from scipy.special import gammaln, xlogy

        mean, r = self.means[keys], self.dispersion
        return np.asarray(
            gammaln(values + r)
            - gammaln(values + 1.0)
            - gammaln(r)
            + xlogy(values, mean / (mean + r))
            - r * np.log1p(mean / r),
            dtype=np.float64,
        )


@dataclass(frozen=True, eq=False)
class CellTable(Prior):
    """Arbitrary weights: a list of counts and weights for each listed cell, the others uniform.

    Attributes
    ----------
    keys, values : int64 (entries,)
        Flat cell and count of each entry, sorted by cell, then count, without repetition.
    weights : float64 (entries,)
        Non-negative; a listed cell's unlisted counts have weight 0.
    """

    keys: Ints
    values: Ints
    weights: Floats
    source: str = field(default=say("a table of weights"), compare=False)

    def __post_init__(self) -> None:
        keys = np.asarray(self.keys, dtype=np.int64)
        values = np.asarray(self.values, dtype=np.int64)
        weights = np.asarray(self.weights, dtype=np.float64)
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InputError(say("a weight is negative or not a number"))
        if (values < 0).any():
            raise InputError(say("a count is negative"))
        order = np.lexsort((values, keys))
        keys, values, weights = keys[order], values[order], weights[order]
        if ((np.diff(keys) == 0) & (np.diff(values) == 0)).any():
            raise InputError(say("a cell lists the same count twice"))
        for name, array in (("keys", keys), ("values", values), ("weights", weights)):
            object.__setattr__(self, name, array)

    @property
    def label(self) -> str:
        return say("believes {source}", self.source)

    def alike(self, keys: Ints) -> Ints:
        listed = np.isin(keys, self.keys)
        return np.where(listed, np.arange(1, len(keys) + 1), 0)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = super().support(keys)
        believed = self.weights > 0
        cells, first = np.unique(self.keys[believed], return_index=True)
        last = np.append(first[1:], believed.sum()) - 1
        # Listed without any weight: no count is possible.
        low[np.isin(keys, self.keys)], high[np.isin(keys, self.keys)] = 1, 0
        if len(cells):
            at = np.minimum(np.searchsorted(cells, keys), len(cells) - 1)
            found = cells[at] == keys
            values = self.values[believed]
            low[found], high[found] = values[first[at[found]]], values[last[at[found]]]
        return low, high

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(np.append(self.weights, 0.0))
        # One sorted code per (cell, count): ranks keep it within int64 for any cell key.
        cells, first = np.unique(self.keys, return_index=True)
        if not len(cells):
            return np.zeros(keys.shape)
        at = np.minimum(np.searchsorted(cells, keys), len(cells) - 1)
        listed = cells[at] == keys
        ceiling = int(self.values.max()) + 2
        rank = np.repeat(np.arange(len(cells)), np.diff(np.append(first, len(self.keys))))
        codes = rank * ceiling + self.values
        wanted = at * ceiling + np.minimum(values, ceiling - 1)
        entry = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        found = np.where(codes[entry] == wanted, entry, len(codes))
        return np.where(listed, logs[found], 0.0)


@dataclass(frozen=True)
class Factorial(Prior):
    """Proportional to prod (1/x!)^theta: for theta 1 the law of counts without association.

    Given kept margins, that is the conditional law under the log-linear model of exactly these
    margins; whatever is expected of a cell cancels. The blocking rule ``reversible`` is the chain
    that leaves this law as it is.

    Attributes
    ----------
    theta
        0 is uniform.
    """

    theta: float = 1.0

    @property
    def label(self) -> str:
        return say("assumes no association beyond what the margins say")

    def alike(self, keys: Ints) -> Ints:
        return np.zeros(len(keys), dtype=np.int64)

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        # Imported late: scipy would be a third of the start-up time.
        from scipy.special import gammaln

        return np.asarray(-self.theta * gammaln(values + 1.0), dtype=np.float64)


def parse_prior(text: str, domain: Domain) -> Prior:
    """A prior as written on the command line.

    ``uniform``; ``factorial`` or ``factorial(0.5)`` (no association beyond the margins, which
    the rule ``reversible`` draws exactly); ``positive`` (all cells) or ``positive:0,1;2,3`` (the
    cells with these category numbers, from 0); ``poisson:FILE``, ``negative_binomial:FILE`` or
    ``negative_binomial(2.5):FILE`` (with its dispersion) around the counts of a file, which may be
    fractions;
    ``table:FILE`` with a ``count`` and a ``weight`` column. Files are long CSV: one column per
    variable, then these.

    Raises
    ------
    ParameterError
        For anything else.
    InputError
        If a file cannot be used, with its line.
    """
    kind, colon, name = text.partition(":")
    if kind in ("uniform", "positive") and not colon:
        return Uniform() if kind == "uniform" else Positive()
    if kind.startswith("factorial") and not colon:
        theta = kind.removeprefix("factorial").strip("()") or "1"
        try:
            return Factorial(float(theta))
        except ValueError:
            raise ParameterError({"prior": say("not a number: {theta}", repr(theta))}) from None
    if kind == "positive" and name:
        return Positive(_chosen(name, domain))
    if kind == "table" and name:
        return _cell_table(Path(name), domain)
    if kind == "poisson" and name:
        return Poisson(_means(Path(name), domain))
    if kind.startswith("negative_binomial") and name:
        dispersion = kind.removeprefix("negative_binomial").strip("()") or "1"
        try:
            return NegativeBinomial(_means(Path(name), domain), float(dispersion))
        except ValueError:
            raise ParameterError(
                {"prior": say("not a dispersion: {dispersion}", repr(dispersion))}
            ) from None
    raise ParameterError(
        {"prior": say("unknown: {text}", repr(text))},
        hint=say(
            "uniform, factorial, positive, positive:CELLS, poisson:FILE, negative_binomial:FILE, table:FILE, last:RELEASE.zip or model:FORMULA"
        ),
    )


def check_prior(text: str, domain: Domain) -> None:
    """Refuse the text of a prior that makes no sense for a table.

    Raises
    ------
    ParameterError, InputError
        As :func:`parse_prior`, or as the model's formula.
    """
    kind, _, rest = text.partition(":")
    if kind == MODEL and rest:
        LogLinear.of(domain, rest)
    elif kind != LAST or not rest:
        parse_prior(text, domain)


def _chosen(text: str, domain: Domain) -> Ints:
    """Flat cells from text such as ``0,1;2,3``."""
    try:
        indices = [[int(i) for i in cell.split(",")] for cell in text.split(";")]
        return np.array(sorted({domain.flat(index) for index in indices}), dtype=np.int64)
    except (ValueError, InputError):
        raise ParameterError(
            {"prior": say("not cells of this table: {text}", repr(text))},
            hint=say(
                "{ndim} category numbers from 0 per cell, cells apart by a semicolon", domain.ndim
            ),
        ) from None


def _rows(
    path: Path, domain: Domain, columns: tuple[str, ...]
) -> list[tuple[int, int, tuple[float, ...]]]:
    """(line, flat cell, numbers of the given columns) of every row of a long CSV file."""
    check_file(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            return _parse(csv.reader(stream), domain, columns)
    except OSError as error:
        raise InputError(
            say("the file cannot be read ({strerror})", error.strerror),
            file=path,
            hint=say("check its name"),
        ) from None
    except UnicodeDecodeError:
        raise InputError(
            say("the file is not UTF-8 text"), file=path, hint=say("save it as UTF-8")
        ) from None
    except csv.Error as error:
        raise InputError(say("not a CSV file ({error})", error), file=path) from None
    except InputError as error:
        raise error.in_file(path) from None


def _parse(
    reader: csv._reader,  # type: ignore[name-defined, unused-ignore]
    domain: Domain,
    columns: tuple[str, ...],
) -> list[tuple[int, int, tuple[float, ...]]]:
    header = next(reader, None)
    needed = (*domain.names, *columns)
    if header is None or sorted(header) != sorted(needed):
        raise InputError(
            say("the columns are not the ones of this table"),
            line=1,
            hint=say("the first line must name {needed}", ", ".join(needed)),
        )
    at = [header.index(name) for name in needed]
    out = []
    for row in reader:
        if not row:
            continue
        line = reader.line_num
        if len(row) != len(header):
            raise InputError(
                say("{row} fields instead of {header}", len(row), len(header)),
                line=line,
                hint=say("quote labels that contain a comma"),
            )
        fields = [row[a] for a in at]
        try:
            index = domain.index(fields[: domain.ndim])
        except InputError as error:
            raise InputError(error.message, line=line, hint=error.hint) from None
        numbers = []
        for name, number in zip(columns, fields[domain.ndim :], strict=True):
            try:
                value = float(number)
            except ValueError:
                value = np.nan
            # Among weights it is a count that could be true; by itself the mean of one.
            whole = name == "count" and len(columns) > 1
            if not 0 <= value <= MAX_COUNT or (whole and value != int(value)):
                raise InputError(
                    (
                        say(
                            "{name} must be a whole number from 0 up, is {number}",
                            name,
                            repr(number),
                        )
                        if whole
                        else say(
                            "{name} must be a number from 0 up, is {number}", name, repr(number)
                        )
                    ),
                    line=line,
                    cell=domain.cell_text(index),
                )
            numbers.append(value)
        out.append((line, domain.flat(index), tuple(numbers)))
    if not out:
        raise InputError(
            say("the file lists no cell"), hint=say("one line per cell, after the first line")
        )
    return out


def _means(path: Path, domain: Domain) -> Floats:
    means = np.full(domain.size, np.nan)
    for line, key, (count,) in _rows(path, domain, ("count",)):
        if not np.isnan(means[key]):
            raise InputError(
                say("the cell is listed twice"),
                file=path,
                line=line,
                cell=domain.cell_text(domain.unflat(key)),
            )
        means[key] = count
    missing = np.flatnonzero(np.isnan(means))
    if len(missing):
        raise InputError(
            plural(
                len(missing),
                "{missing} cell is not listed",
                "{missing} cells are not listed",
                len(missing),
            ),
            file=path,
            cell=domain.cell_text(domain.unflat(int(missing[0]))),
            hint=say("list every cell; a count of 0 says that the true count is certainly 0"),
        )
    return means


def _cell_table(path: Path, domain: Domain) -> CellTable:
    rows = _rows(path, domain, ("count", "weight"))
    seen: set[tuple[int, float]] = set()
    for line, key, (count, _) in rows:
        if (key, count) in seen:
            raise InputError(
                say("the count {count} is listed twice for the cell", int(count)),
                file=path,
                line=line,
                cell=domain.cell_text(domain.unflat(key)),
            )
        seen.add((key, count))
    return CellTable(
        np.array([key for _, key, _ in rows], dtype=np.int64),
        np.array([int(count) for _, _, (count, _) in rows], dtype=np.int64),
        np.array([weight for _, _, (_, weight) in rows]),
        say("the weights of {name}", path.name),
    )
