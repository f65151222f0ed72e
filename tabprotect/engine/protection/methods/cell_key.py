"""Cell keys: every count gets noise that its own records decide.

Every record has a random key, drawn once and kept. The key of a cell is the sum of the keys of
its records, modulo 1, and a perturbation table says which noise a count gets under its cell key.
The same records get the same noise in whatever table they are counted; a count of 0 stays 0; no
count moves by more than D; the noise has mean 0 and variance V. With js above 0 the counts 1 to
js are never published. Each count is perturbed on its own, totals too: tables do not add up, by
a little.

The perturbation table is that of largest entropy under D, V, js and pstay, computed here, or one
from a file. It is public, the keys never are: with them the noise could be taken off. Rows whose
variance cannot be V are reported, rows without a solution are an error that names them.

Record keys come with the table where it was tabulated from records with keys. Else one key for
each cell that is not empty is drawn for the run. That is the same in distribution, because sums
of uniform keys modulo 1 are uniform and inner cells share no records; but another table of the
same records will get other noise. Keep keys with the records where several tables are published.

What a reader learns: the table says how likely each published count is for each true one, cell
by cell. Totals published beside their parts say more (their keys are sums of the parts' keys);
the posterior of the inner cells leaves that out, and says so.

Worked example: with D = 5, V = 3, js = 2 a count of 1 is published as 0 (chance 0.73), 3 (0.14),
4 (0.07), 5 or 6; with equal chances for all true counts a published 0 is a true 0 with
probability 0.41 only.

Sources: Fraser and Wooton 2005; Marley and Leaver 2011; Giessing 2016; Langsrud and Lupp 2021.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from tabprotect.engine.errors import InputError, ParameterError, TabprotectError
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection import perturbation_files as files
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.perturbation_table import (
    LARGEST_D,
    PerturbationTable,
    perturbation_table,
)
from tabprotect.engine.protection.problem import Draft, Preview, Problem
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, publication_of
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.release.likelihood import CellFactors, independent
from tabprotect.engine.release.published import PublishedTable
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import INT64_MAX, Table

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

KEYS = {
    "auto": "Those that came with the table; where there are none, drawn for this run.",
    "records": "Those that came with the table; an error where there are none.",
}

LEAST_V = 1e-6

TOTALS_NOTE = (
    "The published totals say a little more than their cells alone: the key of a total is the sum "
    "of the keys below it. This posterior uses the inner cells only."
)
MARGIN_NOTE = (
    "The inner cells are not published. This posterior is about the cells of {names}, from that "
    "table alone; the other published tables say a little more."
)

_made = lru_cache(maxsize=32)(perturbation_table)


@lru_cache(maxsize=8)
def _read(text: str) -> PerturbationTable:
    return files.from_json(json.loads(text))


def table_of(values: Mapping[str, object]) -> PerturbationTable:
    """The perturbation table that resolved parameters (or those of a mechanism) mean."""
    table = values["table"]
    if table is not None:
        return _read(table if isinstance(table, str) else json.dumps(table))
    return _made(
        D=cast(int, values["D"]),
        V=cast(float, values["V"]),
        js=cast(int, values["js"]),
        pstay=cast(float, values["pstay"]),
        monotone=cast(bool, values["monotone"]),
    )


def perturbed(table: PerturbationTable, counts: Table, keys: Table) -> Table:
    """Every count with the noise of its cell key.

    Parameters
    ----------
    keys
        Sums of record keys, over the domain of the counts; taken modulo 10^8.
    """
    if not counts.is_sparse:
        flat = counts.counts.reshape(-1)
        noise = table.noise_of(flat, keys.counts.reshape(-1) % KEY_MODULUS)
        return Table.dense(counts.domain, (flat + noise).reshape(counts.domain.shape))
    cells, values = counts.cells
    of_keys, sums = keys.cells
    at = np.minimum(np.searchsorted(of_keys, cells), max(len(of_keys) - 1, 0))
    # A cell that is not among the sparse keys has the key 0.
    key = np.where(of_keys[at] == cells, sums[at], 0) if len(of_keys) else np.zeros_like(cells)
    return Table.sparse(counts.domain, cells, values + table.noise_of(values, key % KEY_MODULUS))


class CellKey(Method):
    """Registered as ``cell_key``."""

    name = "cell_key"
    label = "Cell keys"
    parameters = (
        Parameter(
            "D",
            "D",
            "No count moves by more than this.",
            "integer",
            5,
            low=1,
            high=LARGEST_D,
            unit="counts",
        ),
        Parameter(
            "V",
            "V",
            "Variance of the noise of every count (at most, where a row cannot reach it).",
            "real",
            3.0,
            low=LEAST_V,
            high=float(LARGEST_D**2),
            unit="counts squared",
        ),
        Parameter(
            "js",
            "js",
            "Counts from 1 to this are never published; 0 publishes all.",
            "integer",
            2,
            low=0,
            high=LARGEST_D,
            unit="counts",
        ),
        Parameter(
            "pstay",
            "pstay",
            "Least probability that a count above js stays; lowered in rows that would miss V "
            "because of it.",
            "real",
            0.0,
            low=0.0,
            high=1.0,
            unit="probability",
        ),
        Parameter(
            "monotone",
            "Monotone",
            "Probabilities do not fall from the lowest noise up to noise 0.",
            "flag",
            True,
        ),
        Parameter(
            "table",
            "Perturbation table",
            "A file (tau-ARGUS ptable text, ONS CSV or JSON) in place of D, V, js, pstay.",
            "perturbation",
        ),
        MARGINS,
        GROUPINGS,
        Parameter(
            "keys", "Record keys", "Where the keys come from.", "choice", "auto", choices=KEYS
        ),
    )
    guarantees: ClassVar[Mapping[str, str]] = {
        "zeros_kept": "A zero stays zero.",
        "non_negative": "No published count is negative.",
        "within_deviation": "No count moves by more than D.",
        "small_avoided": "No count from 1 to js is published.",
        "consistent": "The same records get the same noise in every table of one set of keys.",
        "unbiased": "E[published | original] = original, count by count.",
        "posterior": "The posterior of every true cell is computable from the bundle alone.",
    }

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> dict[str, object]:
        """Parameters with ``table`` as JSON text (or ``None``); D, V (of large counts) and js are
        then as they are in it."""
        values = super().resolve(domain, given)
        values["table"] = self._text(values["table"])
        table = table_of(values)
        if values["table"] is not None:
            if max(table.largest, table.never) > LARGEST_D:
                raise ParameterError({"table": f"its noise or js is larger than {LARGEST_D}"})
            variance = sum(v * v * p for v, p in table.transitions(table.rows - 1).items())
            values |= {"D": max(table.largest, 1), "V": max(variance, LEAST_V), "js": table.never}
        return values

    @staticmethod
    def _text(value: object) -> str | None:
        """A table, or the name of its file, in its one form as JSON text."""
        if value is None or value == "":
            return None
        try:
            if isinstance(value, Path) or (
                isinstance(value, str) and not value.lstrip().startswith("{")
            ):
                table = files.read(value)
            else:
                table = files.from_json(json.loads(value) if isinstance(value, str) else value)
        except json.JSONDecodeError:
            raise ParameterError({"table": "damaged JSON"}) from None
        except TabprotectError as error:
            raise ParameterError({"table": str(error)}, hint=error.hint) from None
        return json.dumps(files.to_json(table), separators=(",", ":"))

    def promised(self, values: Mapping[str, object]) -> tuple[str, ...]:
        """A table from a file need not have mean 0."""
        biased = table_of(values).bias > 1e-6
        return tuple(name for name in self.guarantees if name != "unbiased" or not biased)

    def judge(
        self,
        problem: Problem,
        values: Mapping[str, object],
        progress: Progress = SILENT,
        *,
        with_remedies: bool = True,
    ) -> tuple[Preview, Draft | None]:
        """Judged under fresh keys: stored ones give the outcome itself, which may not decide."""
        if values["keys"] == "records":
            _stored(problem)
        return super().judge(
            replace(problem, record_keys=None),
            {**values, "keys": "auto"},
            progress,
            with_remedies=with_remedies,
        )

    def draw(
        self,
        problem: Problem,
        values: Mapping[str, object],
        generator: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Draft:
        """Look up the noise of every published count."""
        table = table_of(values)
        if problem.table.total > INT64_MAX - LARGEST_D:
            raise InputError("a count is too large to be perturbed within 9.2e18")
        stored = problem.record_keys is not None or values["keys"] == "records"
        keys = _stored(problem) if stored else _drawn(problem.table, generator)
        publication = publication_of(problem.table.domain, values)
        # The main table is that over the most variables.
        margins = sorted(publication.margins, key=len, reverse=True)
        tables = []
        for number, margin in enumerate(margins):
            progress.report("looking up the noise", number / len(margins))
            one = Publication(publication.domain, (margin,), publication.groupings)
            tables.append(perturbed(table, *one.sums(problem.table), *one.sums(keys)))
        disclosed = {} if values["table"] is None else {"table": files.to_json(table)}
        return Draft(
            tuple(map(PublishedTable, tables)),
            disclosed=disclosed,
            findings={
                "keys": "stored with the table" if stored else "drawn for this run",
                "rows that miss V": [str(row) for row in table.unreached],
            },
            sentence=""
            if stored
            else "The table has no record keys: keys were drawn for this run, and another table "
            "of the same records will get other noise.",
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Cell by cell: a row of the perturbation table for each published count."""
        table = table_of(self.resolve(release.domain, release.mechanism.parameters))

        def weigh(published: int) -> tuple[int, int, FloatArray | None]:
            return _true_counts(table, published)

        inner = release.inner
        if inner is not None:
            return independent(inner, weigh, note=TOTALS_NOTE if len(release.tables) > 1 else "")
        main = release.tables[0]
        names = " x ".join(main.table.domain.names) or "the grand total"
        return independent(main, weigh, note=MARGIN_NOTE.format(names=names))


def _stored(problem: Problem) -> Table:
    if problem.record_keys is None:
        raise ParameterError(
            {"keys": "the table has no record keys"},
            hint="tabulate it from records with a column of keys, or take keys = auto",
        )
    return problem.record_keys


def _drawn(table: Table, generator: np.random.Generator) -> Table:
    """A key for each cell that is not empty."""
    cells, _ = table.cells
    keys = generator.integers(0, KEY_MODULUS, len(cells))
    sparse = Table.sparse(table.domain, cells, keys)
    return sparse if table.is_sparse else Table.dense(table.domain, sparse.counts)


def _true_counts(table: PerturbationTable, published: int) -> tuple[int, int, FloatArray]:
    """Lowest and highest true count that may be published so, and the log chances between."""
    low = max(published - table.largest, 0)
    counts = np.arange(low, published + table.largest + 1)
    rows = table.row_of(counts)
    chances = np.array(
        [
            table.transitions(row).get(published - count, 0.0)
            for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
        ]
    )
    possible = np.flatnonzero(chances)
    if not len(possible):
        raise InputError(
            f"a published count of {published} cannot come from this perturbation table",
            hint="take the mechanism that came with the table",
        )
    first, last = int(possible[0]), int(possible[-1])
    with np.errstate(divide="ignore"):
        logs = np.log(chances[first : last + 1])
    return int(counts[first]), int(counts[last]), logs


PLUGIN = CellKey()
