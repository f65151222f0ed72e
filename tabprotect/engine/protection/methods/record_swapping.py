"""Record swapping: exchange where people live, and know exactly what a reader may then believe.

Records that agree in chosen variables (match) form a class. Some of them change places with each
other: their area, or whatever is named, goes to another record of the class, and all else stays. All
tables of the swapped records add up and agree with each other. Tables without what is swapped are
exact, and so are those of each place by the matched variables, with their small counts.

deal: every record is drawn with one chance, and the places of the drawn are dealt among them anew;
about rate (1 - sum of squared shares) of the records change place. With hi given, records of rare
kinds (three a place or fewer on average, by the table without places, which is published) are drawn
with it. own: the records of a class are paired by chance, and a pair is exchanged with the chance hi
if a count of the named tables is small before or after the exchange, else with lo. levels: records
are first swapped across the coarsest parts, then within them. Within the parts alone (the region is
matched) every small count of the tables of the parts is published as it is: 318 of 318 of a census of
100,000 people. The verdict says how many.

A reader who takes every assignment of places to the records of a class to be equally likely believes
of the original what comes of the mechanism run once more from the published table, the levels in
reverse order: the chain is reversible. Under a deal that is a closed form, count by count, whatever
else is published; else independent draws. A rule that looked at small counts before the exchange
alone would not be reversible: read in the same way it is wrong by up to .43.

A person alone with a trait is believed in a published 1 with about 1 - rate. With a rate
below .19 readers are, on average, more than 2/3 sure wherever people are unique. For users: the
expected published count is e + l (x - e) with e = n m / N and l = (N q - q^N) / (N - 1), q = 1 - rate; so
e + (y - e) / l is unbiased, and association is weakened by about 1 - rate.

Example. Of a class of 20 people 6 live in an area and 5 have a trait; the rate is 0.2. Of a
published 1 a reader believes 0, 1, 2 with .071, .784, .140; a member of the cell 1, 2 with .726, .260.

With one rate a deal has a budget of differential privacy, all that is kept being fixed and neighbours
one exchange within a class: ln(1 + 2N/o + N(N-1)/o^2) with o = rate/(1 - rate), which for ordinary
classes is so large (12 for 100 people) that it protects nobody by itself.

Sources: Dalenius and Reiss 1982; Diaconis and Shahshahani 1987 (eigenvalues); Bailie, Gong and Meng
2025 (swapping and privacy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.margins.margin_by_margin import INNER, following, registered
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import main_first
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS, publication_of
from tabprotect.engine.protection.swapping.swap_settings import (
    HI,
    LEVELS,
    LO,
    MATCH,
    RATE,
    RATES,
    RULE,
    SMALL,
    SWAP,
    SWAP_LEVELS,
    TARGETS,
    THEN,
    SwapSettings,
    settings_of,
)
from tabprotect.engine.release.likelihood import RecordSwaps, SwappedFirst
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.swaps.swap_plan import SwapPlan, SwapRuns
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message, plural


class RecordSwapping(Method):
    """Record swapping: registered as ``record_swapping``."""

    name = "record_swapping"
    label = message("Record swapping")
    trial_work = 40.0
    judged_up_to = 99_856
    other_way = True
    parameters = (
        SWAP,
        MATCH,
        RULE,
        RATE,
        HI,
        LO,
        TARGETS,
        LEVELS,
        replace(
            MARGINS,
            help=message(
                "Further tables of the swapped records that are published and judged beside the table "
                "itself, as a formula."
            ),
        ),
        GROUPINGS,
        THEN,
    )
    ladder = tuple({"rule": "deal", "rate": rate / 100} for rate in (5, 10, 15, 20, 25, 30, 40, 50, 60, 80))
    guarantees = promises(
        (
            "margins_kept",
            message("Tables without what is swapped are exact, and those by it and the matched variables."),
        ),
        "non_negative",
        "additive",
        "complete",
        ("consistent", message("All tables are of the same swapped records.")),
        "posterior",
    )
    calibrations = (
        CalibrationPlan({"rule": "deal"}, ((3.0, 1.0, 0.5), (1.0, 3.0, 2.0)), runs=600),
        CalibrationPlan({"rule": "own", "hi": 0.6}, ((1.2, 0.6), (0.8, 1.6)), runs=200),
        CalibrationPlan(
            {"rule": "deal", "rate": 0.4, "then": "random_rounding base=3"},
            ((3.0, 1.0, 0.5), (1.0, 3.0, 2.0)),
            runs=150,
        ),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """The names checked; what a mechanism states beside them is let through."""
        if domain.ndim < 2:
            raise InputError(
                message("records of a table of one variable have nothing to keep"),
                hint=message("swap in a table of two variables and more"),
            )
        chosen = {k: v for k, v in given.items() if k not in (RATES, SMALL, SWAP_LEVELS, INNER)}
        if SWAP_LEVELS in given:
            chosen[LEVELS.name] = given[SWAP_LEVELS]
        if RULE.name not in chosen and RATE.name in chosen:
            # A rate is one of deals.
            chosen[RULE.name] = "deal"
        values = super().resolve(domain, chosen)
        settings = settings_of(domain, values)
        if domain.structural and not _by_kind(settings):
            raise InputError(
                message("a swap would bring records into cells where nobody can be"),
                hint=message("take a method that spares structural zeros: --method cyclic_perturbation"),
            )
        if values[RULE] == "deal":
            unused = {name: values[name] for name in (TARGETS.name, LO.name) if values[name]}
        else:
            unused = {RATE.name: values[RATE]} if values[RATE] != RATE.default else {}
        if unused:
            raise ParameterError({name: message("has no part in this rule") for name in unused})
        if values[THEN]:
            if values[RULE] == "deal" and values[HI] is not None:
                raise ParameterError({HI.name: message("would tell which kinds are rare, which then hides")})
            try:
                _then(domain, values)
            except ParameterError as error:
                raise ParameterError({THEN.name: error.message}, hint=error.hint) from None
            except InputError as error:
                raise ParameterError({THEN.name: error.message}, hint=error.hint) from None
        return values | {SWAP.name: settings.swap}

    def trial_parameters(self, domain: Domain) -> dict[str, object]:
        """One deal, whose posterior is exact."""
        return {RULE.name: "deal"}

    def promised(self, values: Values) -> tuple[str, ...]:
        """A further method keeps its own promises, which are checked where it runs."""
        return ("posterior",) if values.get(THEN.name) else tuple(self.guarantees)

    def kept(self, domain: Domain, values: Values) -> Publication | None:
        """What is not swapped, and the places by the matched variables; nothing before a further method."""
        return None if values.get(THEN.name) else SwapSettings(domain, values).kept()

    def publishes_true_counts(self, release: Release) -> bool:
        """No: small counts of every table are judged."""
        return False

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Swap once, and add up."""
        table = problem.table
        settings = SwapSettings(table.domain, values)
        progress.report(message("swapping records"), 0.0)
        stated: dict[str, object] = {RATES: settings.rates(table), SWAP_LEVELS: settings.levels_text}
        if values[RULE] == "own":
            stated[SMALL] = problem.at_risk.high
        plan = settings.plan(stated[RATES], stated.get(SMALL))
        counts = table.counts.reshape(-1)
        swapped = next(SwapRuns(plan, counts).tables(1, generator))[0]
        published = Table.dense(table.domain, swapped.reshape(table.domain.shape))
        fixed = plan.fixed(counts)
        findings = {"moved_at_least": int(np.abs(swapped - counts).sum()) // 2, "cannot_move": fixed}
        draft = Draft(main_first(_published(table.domain, values).sums(published), table.domain))
        if values[THEN]:
            method, chosen = _then(table.domain, values)
            again = Problem(published, problem.at_risk)
            method.require(again)
            release, draft = method.perform(again, chosen, generator, progress)
            stated[INNER] = [dict(release.mechanism.parameters)]
        return Draft(
            draft.tables,
            disclosed=stated,
            statuses=draft.statuses,
            findings=findings,
            sentence=plural(
                fixed,
                "{fixed:,} record has nobody elsewhere to change places with.",
                "{fixed:,} records have nobody elsewhere to change places with.",
                fixed,
            )
            if fixed
            else "",
        )

    def likelihood(self, release: Release) -> RecordSwaps | SwappedFirst:
        """The swap, run once more from what is published, or from what a further method may have had."""
        domain, stated = release.domain, release.mechanism.parameters
        values = self.resolve(domain, stated)
        settings = SwapSettings(domain, values)
        if values[THEN]:
            inner = stated.get(INNER)
            if not isinstance(inner, Sequence) or len(inner) != 1 or not isinstance(inner[0], Mapping):
                raise InputError(message('the mechanism does not state "{INNER}"', INNER))
            mechanism = Mechanism(_then(domain, values)[0].name, domain, inner[0])
            then = registered().likelihood_of(Release(release.tables, mechanism))
            if then.domain != domain or release.inner is None:
                raise InputError(message("a method after a swap publishes the table of all variables"))
            return SwappedFirst(release.inner.table, _plan(settings, stated), settings.kept(), then)
        table = next((p for p in release.tables if p.table.domain == domain), None)
        if table is None or table.suppressed is not None:
            raise InputError(message("a swap publishes the table of all variables, every cell of it"))
        return RecordSwaps(table.table, _plan(settings, stated), settings.kept())


def _published(domain: Domain, values: Values) -> Publication:
    """The table itself, and those that are named beside it."""
    if not values[MARGINS]:
        return Publication(domain, (domain.names,))
    named = publication_of(domain, values)
    margins = dict.fromkeys([domain.names, *named.margins])
    return Publication(domain, tuple(margins), named.groupings)


def _then(domain: Domain, values: Values) -> tuple[Method, Values]:
    """The further method, and its parameters for the published tables.

    Raises
    ------
    InputError, ParameterError
        When there is no such method, or its parameters do not fit.
    """
    found = following(values[THEN], RecordSwapping.name)
    assert found is not None
    method, given = found
    chosen = dict(given)
    if any(p.name == MARGINS.name for p in method.parameters):
        whole = ":".join(map(in_formula, domain.names))
        named = f" + {values[MARGINS]}" if values[MARGINS] else ""
        chosen |= {
            MARGINS.name: f"{whole}{named}" + ("" if named else " - 1"),
            GROUPINGS.name: values[GROUPINGS],
        }
    elif values[MARGINS]:
        raise InputError(message("{name} publishes the table itself alone, and no margins", method.name))
    return method, method.resolve(domain, chosen)


def _plan(settings: SwapSettings, stated: Mapping[str, object]) -> SwapPlan:
    return settings.plan(stated.get(RATES, settings.rates(None)), stated.get(SMALL))


def _by_kind(settings: SwapSettings) -> bool:
    """Return True if structural zeros are the same in every place."""
    nobody = settings.domain.structural_cells().reshape(settings.domain.shape)
    grid = np.moveaxis(nobody.astype(np.int8), settings.axis, 0)
    return bool((grid == grid[:1]).all())


PLUGIN = RecordSwapping()
