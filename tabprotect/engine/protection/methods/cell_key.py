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
by cell. Totals published beside their parts can say much more. Every table has noise of its own,
which putting them all together undoes in part: settings under which it would be undone are refused,
and without a formula the tables are the largest family that keeps enough of it, by the number of
categories and V alone; of a sparse table of four and more variables and 40 to 200 cells these
are the inner cells and the tables of one variable, and of one of at most 12 cells the inner cells alone, as
the perturbed inner cells alone show that it is sparse. Sums over the same records show the same noise, and that they do tells which cells are empty; the verdict counts
that in.

Keys add up, too: where a 2 x 2 table and all its totals are published as 0 under plain keys, a cell
among 0 to 3 is a true 0 with probability 0.73, and with 0.43 by the cell alone. Hashed keys, taken by
default where several tables are published, end this: the noise is looked up under a secret hash of
the cell key. The same records still get the same noise in every table of one house. With plain keys,
which other offices use, the posterior counts it in for tables of up to 9 cells with up to 8 totals;
larger ones are not judged whole.

Where the records of a survey have design weights, estimates can be published in place of counts:
the perturbed count times the mean weight of its cell, as a whole number. The counts themselves are
then not published: an estimate beside its count would give the mean weight away, and a mean of
round weights (3.333...) with it the true count. The range of the weights is public, as you state
it; the posterior takes the mean weight of a cell as evenly spread over it.

Worked example: with D = 5, V = 3, js = 2 a count of 1 is published as 0 (chance 0.73), 3 (0.14),
4 (0.07), 5 or 6; with equal chances for all true counts a published 0 is a true 0 with
probability 0.41 only.

Sources: Fraser and Wooton 2005; Marley and Leaver 2011; Giessing 2016; Langsrud and Lupp 2021.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine import agency
from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError, TabprotectError
from tabprotect.engine.fitting.margin_variance import deviation_left, families, largest_family
from tabprotect.engine.magnitudes.methods.key_noise import NUMBERS, KeyNoise, keyed
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.cell_keys import perturbation_files as files
from tabprotect.engine.protection.cell_keys.cell_noise import cell_keys, drawn, hashed, perturbed
from tabprotect.engine.protection.cell_keys.key_parameters import (
    JS,
    KEYS,
    LEAST_V,
    MONOTONE,
    PSTAY,
    TABLE,
    WEIGHT_HIGH,
    WEIGHT_LOW,
    WEIGHTED,
    D,
    V,
    table_of,
    weight_range,
)
from tabprotect.engine.protection.cell_keys.keyed_totals import with_totals
from tabprotect.engine.protection.cell_keys.perturbation_table import LARGEST_D
from tabprotect.engine.protection.cell_keys.published_laws import check_possible, of_count, of_estimate
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.method import MagnitudeMethod, Method
from tabprotect.engine.protection.problem import Draft, Preview, Problem
from tabprotect.engine.protection.published_margins import counts_of, rank
from tabprotect.engine.protection.subtables import (
    GROUPINGS,
    MARGINS,
    Fewer,
    fewer_by_inner,
    may_be_fewer,
    publication_of,
)
from tabprotect.engine.release.findings import Omission
from tabprotect.engine.release.likelihood import CellFactors, independent
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.design_weights import SCALE
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.engine.tables.variable import spoken
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.readers.beliefs import CellBelief, ContributorView

TOTALS_NOTE = message(
    "Published totals can say much more than the inner cells alone: the key of a total is the sum "
    "of the keys below it. They are left out here: readers may know more."
)
ALONE_NOTE = message("Each table of totals was judged by itself; what they tell together is not worked out.")
MARGIN_NOTE = message(
    "Shown for {names} by itself, as the inner cells are not published. The other published tables "
    "may tell more."
)


def beside_others(values: Values) -> tuple[Omission, ...]:
    """Return what a table by itself leaves out of several."""
    return ("joint_noise",) if values[KEYS] == "hashed" else ("joint_noise", "key_algebra")


WEIGHTS_NOTE = message(
    "Published are estimates, sums of design weights. What is worked out is about counts of "
    "records; it takes the mean weight of a cell as evenly spread over the stated range, {low:g} "
    "to {high:g}, and as independent of the count."
)


class CellKey(Method):
    """Cell keys: registered as ``cell_key``."""

    name = "cell_key"
    label = message("Cell keys")
    trial_work = 5.0
    judged_up_to = 10_000
    ladder = tuple(
        {"D": most, "V": variance}
        for most, variance in ((2, 1.0), (3, 1.0), (3, 2.0), (5, 3.0), (5, 5.0), (7, 7.0), (8, 10.0))
    )
    parameters = (
        D,
        V,
        JS,
        PSTAY,
        MONOTONE,
        TABLE,
        MARGINS,
        GROUPINGS,
        KEYS,
        WEIGHTED,
        WEIGHT_LOW,
        WEIGHT_HIGH,
    )
    shape_alone = True
    guarantees = promises(
        "zeros_kept",
        "non_negative",
        ("within_deviation", message("No count moves by more than D.")),
        ("small_avoided", message("No count from 1 to js is published.")),
        ("consistent", message("The same records get the same noise in every table of one set of keys.")),
        "unbiased",
        "complete",
        "posterior",
    )
    limits = MappingProxyType({"within_deviation": D, "small_avoided": JS})

    # Totals are left out: each of their posteriors takes seconds of simulated keys.
    calibrations = (
        CalibrationPlan({"margins": "A:B - 1"}, ((2.2,) * 8,) * 8, runs=60),
        CalibrationPlan({"D": 3, "V": 1.0, "js": 0, "margins": "A:B - 1"}, ((1.2,) * 8,) * 8, runs=60),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Parameters with ``table`` as JSON text (or ``None``); D, V (of large counts) and js are
        then as they are in it."""
        values = super().resolve(domain, given)
        values |= {"table": self._text(values["table"])}
        table = table_of(values)
        if values[TABLE] is not None:
            if max(table.largest, table.never) > LARGEST_D:
                raise ParameterError(
                    {"table": message("its noise or js is larger than {LARGEST_D}", LARGEST_D)}
                )
            variance = sum(v * v * p for v, p in table.transitions(table.rows - 1).items())
            values |= {"D": max(table.largest, 1), "V": max(variance, LEAST_V), "js": table.never}
        if self.weighted(values):
            names = ("weight_low", "weight_high")
            wrong = {name: message("must be stated") for name in names if values[name] is None}
            if not wrong and weight_range(values)[0] > weight_range(values)[1]:
                wrong = {"weight_low": message("must not be above the highest weight")}
            if wrong:
                raise ParameterError(
                    wrong,
                    hint=message("state the range of design weights, as the survey's documentation has it"),
                )
        return values

    def resolve_for(
        self, problem: Problem, given: Mapping[str, object], progress: Progress = SILENT
    ) -> Values:
        """Resolve, with the published sub-tables and the way of the keys settled."""
        domain = problem.table.domain
        values = self.resolve(domain, given)
        if not values[MARGINS] and not self.weighted(values):
            family = largest_family(domain, values[V])
            every = may_be_fewer(domain) and family == next(families(domain))
            # All tables, if not what is drawn first says otherwise.
            values |= {"margins": None if every else family}
        if values[KEYS] == "auto":
            several = len(publication_of(domain, values).margins) > 1
            values |= {"keys": "hashed" if several else "plain"}
        return values

    def deviation_left(self, domain: Domain, values: Values) -> float | None:
        """Find it by least squares over all published tables."""
        publication = publication_of(domain, values)
        if len(publication.margins) == 1 or self.weighted(values):
            return None
        return deviation_left(publication, values[V])

    def alternatives(self, domain: Domain, values: Values) -> tuple[tuple[str, Mapping[str, object]], ...]:
        """Hashed keys, and fewer tables with noise of their own."""
        names = [in_formula(name) for name in domain.names]
        inner, every = ":".join(names), " + ".join(names)
        now = set(publication_of(domain, values).margins)
        ideas: list[tuple[str, dict[str, object]]] = []
        if values[KEYS] in ("plain", "records") and len(now) > 1:
            ideas.append((message("keys hashed under the key of the house"), {"keys": "hashed"}))
        fewer = [
            (message("the inner cells alone: readers add up the totals"), f"{inner} - 1"),
            (message("the inner cells and the tables of one variable"), f"{every} + {inner}"),
        ]
        if domain.ndim > 2:
            pairs = " + ".join(map(":".join, combinations(names, 2)))
            fewer.append((message("the tables of two variables alone"), f"{pairs} - 1"))
        for text, formula in fewer:
            if set(Publication.of(domain, formula).margins) < now:
                ideas.append((text, {"margins": formula, "keys": "hashed"}))
        return tuple(ideas)

    def weighted(self, values: Values) -> bool:
        """Return True if estimates are published."""
        return values.get("weighted") == "yes"

    @staticmethod
    def _text(value: object) -> str | None:
        """A table, or the name of its file, in its one form as JSON text."""
        if value is None or value == "":
            return None
        try:
            if isinstance(value, Path) or (isinstance(value, str) and not value.lstrip().startswith("{")):
                table = files.read(value)
            else:
                table = files.from_json(json.loads(value) if isinstance(value, str) else value)
        except (ValueError, RecursionError):
            raise ParameterError({"table": message("damaged JSON")}) from None
        except TabprotectError as error:
            raise ParameterError({"table": str(error)}, hint=error.hint) from None
        return json.dumps(files.to_json(table), separators=(",", ":"))

    def promised(self, values: Values) -> tuple[str, ...]:
        """A table from a file need not have mean 0; D and js are about counts, and the posterior
        of weighted ones takes an assumption."""
        broken = {"unbiased"} if table_of(values).bias > 1e-6 else set()
        if self.weighted(values):
            broken = {"within_deviation", "small_avoided", "unbiased", "posterior"}
        return tuple(name for name in self.guarantees if name not in broken)

    def foresee(self, problem: Problem, values: Values, progress: Progress = SILENT) -> Preview:
        """Try with fresh keys: stored ones would give the outcome itself."""
        if values[KEYS] == "records":
            _stored(problem)
            values = values | {"keys": "plain"}
        return super().foresee(replace(problem, record_keys=None), values, progress)

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Look up the noise of every published count."""
        given = table_of(values)
        table = given.on_grid(problem.key_range)
        if problem.table.total > INT64_MAX - LARGEST_D:
            raise InputError(message("a count is too large to be perturbed within 9.2e18"))
        stored = problem.record_keys is not None or values[KEYS] == "records"
        keys = _stored(problem) if stored else drawn(problem.table, generator)
        secret = None
        if values[KEYS] == "hashed":
            # Kept keys get the same noise in every run; drawn ones have a secret of their own.
            secret = agency.key() if stored else generator.bytes(agency.KEY_BYTES)
        sums = _weights(problem, values) if self.weighted(values) else None
        publication = publication_of(problem.table.domain, values)
        ranked = [rank(domain, publication.domain) for domain in publication.domains]
        # The main table first; sorting keeps the order of those alike.
        order = sorted(range(len(ranked)), key=ranked.__getitem__)
        margins = [publication.margins[m] for m in order]
        tables: list[Table] = []
        fewer: Fewer | None = None
        left = set(margins)
        for number, margin in enumerate(margins):
            # What plain keys tell beside sums is weighed where they are asked for.
            usual = values[KEYS] == "hashed" and not self.weighted(values)
            if number == 1 and usual and tables[0].domain == publication.domain:
                fewer = fewer_by_inner(tables[0], values)
                if fewer is not None:
                    chosen = values | {MARGINS.name: fewer.formula}
                    left = set(publication_of(publication.domain, chosen).margins)
            if margin not in left:
                continue
            progress.report(message("looking up the noise"), number / len(margins))
            one = Publication(publication.domain, (margin,), publication.groupings)
            counts, of_keys = one.sums(problem.table)[0], one.sums(keys)[0]
            of_keys = cell_keys(counts, of_keys, problem.key_range)
            if secret is not None:
                of_keys = hashed(of_keys, secret)
            weights = None if sums is None else one.sums(sums)[0]
            tables.append(perturbed(table, counts, of_keys, weights))
        own = values[TABLE] is not None or table is not given
        disclosed: dict[str, object] = {"table": files.to_json(table)} if own else {}
        if fewer is not None:
            disclosed |= {MARGINS.name: fewer.formula}
        said = message(
            "The table has no record keys: keys were drawn for this run, and another table "
            "of the same records will get other noise."
        )
        return Draft(
            tuple(map(PublishedTable, tables)),
            disclosed=disclosed,
            findings={
                "keys": message("stored with the table") if stored else message("drawn for this run"),
                message("rows that miss V"): [str(row) for row in table.unreached],
            },
            sentence=joined(
                filter(None, ["" if stored else said, "" if fewer is None else fewer.sentence]), " "
            ),
        )

    def transitions(self, release: Release) -> tuple[tuple[int, Floats], ...] | None:
        """The rows of the perturbation table, the last one twice."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        if self.weighted(values):
            return None
        table = table_of(values)
        return tuple(
            (count - table.largest, chances)
            for count, chances in enumerate([*table.chances, table.chances[-1]])
        )

    def likelihood(self, release: Release) -> CellFactors:
        """Cell by cell a row of the perturbation table; totals of small tables by drawn keys."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        table, notes = table_of(values), []
        several = len(release.tables) > 1
        main, inner = release.tables[0], release.inner
        weighted = self.weighted(values)
        if weighted:
            low, high = weight_range(values)
            check_possible(main.table.counts, table, low=low, high=high)
            notes.append(_weights_note(values))
        if inner is None and several:
            names = spoken(main.table.domain.names) or message("the grand total")
            notes.append(MARGIN_NOTE.format(names=names))
        elif several:
            if (joint := self._with_totals(release, values)) is not None:
                return joint
            notes.append(TOTALS_NOTE)
        factors = self._each_count(main if inner is None else inner, values, joined(notes, " "))
        if several:
            factors = replace(factors, left_out=beside_others(values))
        if not weighted:
            return factors
        # No count of records is published: nothing that a reader's mode could be equal to.
        return replace(factors, tables=(PublishedTable.hiding(main.table, np.ones_like(main.hidden)),))

    def table_likelihood(self, release: Release, number: int) -> CellFactors | None:
        """A table whose noise the posterior of the others leaves out, by itself."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        if self._with_totals(release, values) is not None:
            return None
        alone = self._each_count(release.tables[number], values, ALONE_NOTE)
        return replace(alone, left_out=beside_others(values))

    def _with_totals(self, release: Release, values: Values) -> CellFactors | None:
        """The likelihood of small tables with their totals under plain keys, if it is one."""
        if self.weighted(values) or values[KEYS] == "hashed":
            return None
        return with_totals(release, publication_of(release.domain, values), table_of(values))

    def numbers(self, release: Release) -> PublishedNumbers | None:
        """All published numbers; sums over the same records have the same noise."""
        values = self.resolve(release.domain, release.mechanism.parameters)
        publication = publication_of(release.domain, values)
        weighted = self.weighted(values)
        found = PublishedNumbers.of(
            publication,
            counts_of(release, publication),
            self._weighing(values),
            variance=math.inf if weighted else float(values[V]),
            shared=True,
        )
        return replace(found, note=_weights_note(values)) if weighted else found

    def _each_count(self, published: PublishedTable, values: Values, note: str) -> CellFactors:
        """Every count of a table by itself."""
        return independent(published, self._weighing(values), note=note)

    def _weighing(self, values: Values) -> Callable[[int], tuple[int, int, Floats]]:
        """Published number -> what the true count may be."""
        table = table_of(values)
        if not self.weighted(values):
            return partial(of_count, table)
        low, high = weight_range(values)
        return partial(of_estimate, table, low=low, high=high)


def _stored(problem: Problem) -> Table:
    if problem.record_keys is None:
        raise ParameterError(
            {"keys": message("the table has no record keys")},
            hint=message("tabulate it from records with a column of keys, or take keys = auto"),
        )
    return problem.record_keys


def _weights_note(values: Values) -> str:
    low, high = weight_range(values)
    return WEIGHTS_NOTE.format(low=low / SCALE, high=high / SCALE)


def _weights(problem: Problem, values: Values) -> Table:
    """Sums of design weights, in millionths, that lie in the stated range."""
    weights = problem.weights
    if weights is None:
        raise ParameterError(
            {"weighted": message("the table has no design weights")},
            hint=message("tabulate it from records with a column of design weights, or take weighted = no"),
        )
    low, high = weight_range(values)
    outside = {
        "weight_low": message("a record has a smaller weight") if weights.low < low else "",
        "weight_high": message("a record has a larger weight") if weights.high > high else "",
    }
    wrong = {name: reason for name, reason in outside.items() if reason}
    if wrong:
        raise ParameterError(wrong, hint=message("state a range that covers the weights of all records"))
    if weights.sums.total > INT64_MAX // (LARGEST_D + 1):
        raise InputError(
            message(
                "the design weights add up to more than {INT64_MAX:,}", INT64_MAX // (LARGEST_D + 1) // SCALE
            ),
            hint=message("check the weights for typing errors"),
        )
    return weights.sums


def _number(name: str, label: str, help_: str) -> Parameter[object]:
    return Parameter(name, label, help_, "real", NUMBERS[name], low=0.0, high=1e9)


class CellKeyOfMagnitudes(MagnitudeMethod):
    name = CellKey.name
    label = CellKey.label
    about = message(
        "Adds noise to each sum that follows from its contributors: the same sum is the same in every "
        "table. Sums do not add up exactly."
    )
    promise = message(
        "Every sum has noise that follows from its contributors: the same contributors always get the "
        "same noise. Sums do not add up exactly."
    )
    hint = message("take multiplicative_noise, or accept it: --accept REASON")
    place = 3
    adds_up = False
    parameters = (
        _number("D", message("Largest noise"), message("In steps of the share below.")),
        _number("V", message("Variance of the noise"), message("In such steps, squared.")),
        _number("step", message("Width of a step"), message("Noise comes in multiples of it.")),
        _number(
            "top",
            message("Contributions"),
            message("How many of the largest the noise is made of: 1, 2 or 3."),
        ),
        _number(
            "flexpoint",
            message("Small up to"),
            message("From here on, in units of the sum, the share falls from that of small contributions."),
        ),
        _number("small", message("Share for small contributions"), message("Of a contribution.")),
        _number("large", message("Share for large contributions"), message("Of a contribution.")),
        _number("steepness", message("Steepness"), message("How fast the share falls.")),
        _number("extra", message("More for unsafe sums"), message("In units of the sum.")),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        return Values(KeyNoise.of(super().resolve(domain, given)).as_json())

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        progress.report(message("adding noise"), 0.0)
        given = problem.contributions
        extra = given.unsafe if given.rules else ~given.unsafe
        value = keyed(given.table, KeyNoise.of(values), given.key, extra)
        return Draft(magnitudes=(given.published(value),))

    def beliefs(
        self, release: Release, view: ContributorView, within: float, *, seed: int = 0
    ) -> Iterator[CellBelief]:
        from tabprotect.engine.magnitudes.readers.beliefs import noise_beliefs

        return noise_beliefs(release.magnitude_table, KeyNoise.of(release.mechanism.parameters), view, within)

    def quantiles(self, release: Release, levels: Floats) -> tuple[Ints, Floats]:
        table, noise = release.magnitude_table, KeyNoise.of(release.mechanism.parameters)
        at = np.flatnonzero(table.value != 0)
        found = []
        for value in table.value[at].tolist():
            true, chances = noise.originals(value, 1 / 10**table.decimals)
            order = np.argsort(true)
            summed = np.cumsum(chances[order]) / chances.sum()
            # A step of the law that ends at a level is outside it.
            place = np.searchsorted(summed, levels + np.where(levels < 0.5, 1e-12, -1e-12))
            found.append(true[order][np.minimum(place, len(true) - 1)])
        return at, np.array(found).reshape(-1, len(levels))

    def left_out(self, release: Release) -> tuple[Omission, ...]:
        # Each sum has noise of its own, and what sums say together was not weighed.
        return ("joint_noise", "contributors")


PLUGIN = CellKey()
PLUGINS = PLUGIN, CellKeyOfMagnitudes()
