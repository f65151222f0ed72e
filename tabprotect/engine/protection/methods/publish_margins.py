"""Publish margins: chosen tables of one big table go out, the table itself does not.

The stated margins of a larger table were published, and nothing else of it; every smaller table
that adds up from them follows. They were judged by how far a reader can narrow down a cell of the
large table with a small count from all margins together: the width, upper minus lower bound of
what such a cell may hold, is to be at least the stated threshold, unless the publisher decided
otherwise. The margins are exact unless a further method is stated, which was then applied to each
of them on its own.

Example. Of the table 3, 1 / 2, 4 the two one-way margins 4, 6 and 5, 5 are published. The cell
with the 1 lies between max(0, 4 + 5 - 10) = 0 and min(4, 5) = 4: its width is 4, wide enough at 3.
The formula for this is a + b.

Wide enough takes proof: the closed form of decomposable margins, or linear and integer programmes
that give the very bounds. What is not proved is refused unless that is accepted; the reason names
the tightest cells. What else would have passed is not published: only the released frontier, the
criterion with its threshold and rule, and whether the margins passed. Margins that are perturbed
or rounded afterwards say no more than exact ones, so the proof holds for them.

Over all cells, as here where nothing else is said, what passes follows from the margins alone, so
that a reader is left with every width that is promised. A width over the small counts
(cells=at_risk) says what margins by themselves leave open, and more of them pass. That they passed
tells more: where a cell is narrow, it holds no small count. What a reader believes is in the
verdict, either way.

Margins that get noise of differential privacy are not judged by widths: the noise protects them, and
a judgement by the original would tell more than the budget. The budget is spent by every margin, and
the mechanism states the total.

Source: Dobra, Karr, Sanil and Fienberg 2002, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from tabprotect.engine.bounds.bounding import AUTO_INTEGER_CELLS
from tabprotect.engine.bounds.decomposable import is_decomposable
from tabprotect.engine.errors import (
    InfeasibleError,
    InputError,
    ParameterError,
    TabprotectError,
    TooLargeError,
)
from tabprotect.engine.parameters import Parameter, Values, resolve
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.guarantees import promises
from tabprotect.engine.protection.margins.margin_by_margin import (
    INNER,
    THEN,
    following,
    part,
    product_over_margins,
    protected,
    registered,
    values_for,
)
from tabprotect.engine.protection.margins.margin_safety import CRITERION, margin_findings
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.published_margins import counts_of, sum_factors
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.privacy import Privacy, Spent
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.sensitivity.small_count import JUDGED, Judged, SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula, terms
from tabprotect.engine.tables.margins import MarginSet, maximal_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS, BoundsWay
from tabprotect.languages.messages import joined, message

MOST_JUDGED = 12
"""Inner cells up to which readers are taken to judge the margins for every original that fits.
"""

MOST_ENTRIES = 5_000_000
"""Inner cells times margins up to which there is a posterior."""


FRONTIER = "released_frontier"
"""Disclosed by the run: the published margins."""

NOTE = message(
    "Left out: that the margins were judged by the original, which might have been found too narrow."
)

PROVED = "proved_safe"
"""Disclosed by the run: whether the margins were, for this original and the stated rule."""

UNJUDGED: Mapping[str, object] = {
    "proved": True,
    "tight": [],
    "why": message(
        "The margins get noise of differential privacy: how wide they leave the cells was not "
        "judged, as that would tell more than the budget."
    ),
}
"""The findings on margins whose noise protects them."""

DISCLOSED = frozenset({"criterion", "at_risk", FRONTIER, INNER, PROVED})


THRESHOLD: Parameter[int] = Parameter(
    "threshold",
    message("Least width of bounds"),
    message("How many counts apart the bounds of every small count must lie."),
    "integer",
    3,
    low=1,
    high=1e9,
    unit=message("counts"),
)

BOUNDS: Parameter[BoundsWay] = Parameter(
    "bounds", message("Bounds"), message("How the bounds are found."), "choice", "auto", choices=BOUNDS_WAYS
)

CELLS: Parameter[Judged] = Parameter(
    "cells",
    message("Judged cells"),
    message(
        "Over all cells, whether margins pass depends on the margins alone and tells nothing "
        "more; over the small counts more margins pass, and a reader learns that narrow cells "
        "hold no such count."
    ),
    "choice",
    "all",
    choices=cast("Mapping[str, str]", JUDGED),
)


class PublishMargins(Method):
    """Publish margins only: registered as ``publish_margins``."""

    name = "publish_margins"
    label = message("Publish margins only")
    trial_work = 7.0
    parameters = (
        replace(
            MARGINS,
            label=message("Published margins"),
            help=message(
                "A model formula over the variables: a:b + c publishes a by b, and c. Smaller "
                "tables that follow from these are not listed again."
            ),
        ),
        THRESHOLD,
        BOUNDS,
        CELLS,
        THEN,
    )
    guarantees = promises(
        ("exact", message("Every published count is exact (without a further method).")),
        ("additive", message("The published tables agree on what they share (without a further method).")),
        "complete",
        (
            "posterior",
            message(
                "The posterior of every true cell is computable from the bundle alone, where "
                "the large table is not too large."
            ),
        ),
    )

    calibrations = (
        CalibrationPlan({"margins": "A + B"}, ((1.0, 2.0, 0.6), (1.5, 0.8, 2.5)), runs=130),
        CalibrationPlan(
            {"margins": "A + B", "then": "cell_key D=3 V=2"}, ((1.0, 2.0, 0.6), (1.5, 0.8, 2.5)), runs=80
        ),
        CalibrationPlan({"margins": "A:B", "then": "cell_key D=3 V=2"}, ((2.2,) * 6,) * 6, runs=80),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """The formula, the threshold and the further method, checked; all wrong fields at once."""
        chosen = {k: v for k, v in given.items() if k not in DISCLOSED}
        values, wrong, _ = self._resolved(chosen)
        margins: MarginSet = ()
        if MARGINS.name not in wrong:
            try:
                margins = _margins(domain, values)
            except InputError as error:
                wrong[MARGINS.name] = error.message
        if "then" not in wrong:
            try:
                inner = following(values[THEN], PublishMargins.name)
                for margin in margins:
                    if inner is not None:
                        values_for(inner, domain.project(margin))
            except TabprotectError as error:
                wrong["then"] = error.message
        if wrong:
            raise ParameterError(wrong)
        return values

    def promised(self, values: Values) -> tuple[str, ...]:
        """A further method keeps its own promises, which are checked where it runs."""
        return ("posterior",) if values[THEN] else tuple(self.guarantees)

    def trial_parameters(self, domain: Domain) -> dict[str, object]:
        """The margins of one variable."""
        return {MARGINS.name: " + ".join(map(in_formula, domain.names))}

    def is_random(self, values: Values) -> bool:
        """Return True if the further method is."""
        inner = following(values[THEN], PublishMargins.name)
        return inner is not None and inner[0].is_random(resolve(inner[0].parameters, inner[1]))

    def privacy(self, domain: Domain, values: Values) -> Privacy | None:
        """The further method's budget for each margin, and for all of them together."""
        inner = following(values[THEN], PublishMargins.name)
        if inner is None:
            return None
        of = [domain.project(margin) for margin in _margins(domain, values)]
        found = [inner[0].privacy(one, values_for(inner, one)) for one in of]
        spent = [one.total for one in found if one is not None]
        return Privacy(**vars(spent[0]), total=Spent.together(spent)) if spent else None

    def alternatives(self, domain: Domain, values: Values) -> tuple[tuple[str, Mapping[str, object]], ...]:
        """Judged over all cells, without the largest margins, or a lower threshold."""
        margins = _margins(domain, values)
        ideas: list[tuple[str, Mapping[str, object]]] = []
        if values[CELLS] != "all":
            # What passes tells of the margins alone, so that the verdict is whole.
            ideas.append((message("bounds of all cells judged"), {CELLS.name: "all"}))
        for margin in margins:
            rest = [other for other in margins if other != margin]
            smaller = [margin[:at] + margin[at + 1 :] for at in range(len(margin))]
            less = maximal_margins(domain, [*rest, *smaller])
            formula = " + ".join(":".join(map(in_formula, one)) for one in less if one) or "1"
            ideas.append(
                (message("without the table {margin}", " by ".join(margin)), {MARGINS.name: formula})
            )
        beta = values[THRESHOLD]
        lower = {beta - 1, beta // 2, beta // 4, beta // 8} - {0, -1}
        ideas += [(message("a threshold of {b}", b), {THRESHOLD.name: b}) for b in sorted(lower)[::-1]]
        return tuple(ideas)

    def acceptance_failure(self, findings: Mapping[str, object]) -> str:
        """Whatever is not proved safe: what is published exactly is judged, not an outcome."""
        if findings["proved"]:
            return ""
        tight = cast("list[dict[str, object]]", findings["tight"])
        cells = joined(
            (message("{t} lies in {t2}..{t3}", t["cell"], t["lower"], t["upper"]) for t in tight[:3]), "; "
        )
        return f"{findings['why']}" + (f" {cells}." if cells else "")

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Sum up the margins, judge them, and protect each on its own if that is asked."""
        table = problem.table
        margins = _margins(table.domain, values)
        private = self.privacy(table.domain, values) is not None
        judgement = (
            UNJUDGED
            if private
            else margin_findings(
                problem,
                margins,
                threshold=values[THRESHOLD],
                way=values[BOUNDS],
                cells=values[CELLS],
                progress=progress,
            )
        )
        problems = [part(problem, margin) for margin in margins]
        findings = dict(judgement)
        findings["at_risk_counts_published"] = sum(
            int(problem.at_risk.mask(p.table.counts).sum()) for p in problems
        )
        disclosed: dict[str, object] = {
            "criterion": None if private else CRITERION,
            "at_risk": str(problem.at_risk),
            FRONTIER: [list(margin) for margin in margins],
            PROVED: None if private else judgement["proved"],
        }
        sentence = str(judgement["why"])
        inner = following(values[THEN], PublishMargins.name)
        if inner is None:
            tables = tuple(PublishedTable(p.table) for p in problems)
            return Draft(tables, disclosed=disclosed, findings=findings, sentence=sentence)
        drafts, stated = protected(inner, problems, generator, progress)
        findings["margins"] = {
            " x ".join(margin) or "total": dict(draft.findings)
            for margin, draft in zip(margins, drafts, strict=True)
        }
        statuses = tuple(letters for draft in drafts for letters in draft.statuses)
        return Draft(
            tuple(draft.tables[0] for draft in drafts),
            disclosed=disclosed | {INNER: stated},
            statuses=statuses if len(statuses) == len(drafts) else (),
            findings=findings,
            sentence=sentence,
        )

    def likelihood(self, release: Release) -> CellFactors:
        """The true sums behind each margin; or what the further method says of them.

        Raises
        ------
        TooLargeError
            For a table whose cells cannot be listed.
        """
        stated = release.mechanism.parameters
        domain, values = release.domain, self.resolve(release.domain, stated)
        margins = _margins(domain, values)
        if stated.get(FRONTIER) != [list(margin) for margin in margins]:
            raise InputError(message('the mechanism\'s "{FRONTIER}" is not what its formula says', FRONTIER))
        if domain.size * len(margins) > MOST_ENTRIES:
            raise TooLargeError(
                message("a table of {size:,} cells is too large for a posterior", domain.size),
                hint=message("ask for bounds of single cells"),
            )
        publication = Publication.of(domain, margins)
        by_names = {p.table.domain: p for p in release.tables}
        if set(by_names) != set(publication.domains) or len(by_names) != len(release.tables):
            raise InputError(message("the published tables are not the margins the mechanism names"))
        further = following(values[THEN], PublishMargins.name)
        if further is None:
            # Then whether the margins pass is told by the margins.
            decided = values[CELLS] == "all" and (
                is_decomposable(margins) or domain.size <= AUTO_INTEGER_CELLS
            )
            counts = counts_of(release, publication)
            return sum_factors(
                release,
                (publication, counts),
                lambda count, _: (count, count, None),
                rerun=None if decided else _rerun(stated, margins, values, domain.size),
                note="" if decided else NOTE,
                left_out=() if decided else ("pattern_choice",),
            )
        inner = stated.get(INNER)
        if not isinstance(inner, Sequence) or len(inner) != len(margins):
            raise InputError(message('the mechanism does not state "{INNER}" for every margin', INNER))
        parts = []
        for m, parameters in zip(publication.domains, inner, strict=True):
            if not isinstance(parameters, Mapping):
                raise InputError(message('the mechanism\'s "{INNER}" holds no parameters', INNER))
            mechanism = Mechanism(further[0].name, m, parameters)
            likelihood = registered().likelihood_of(Release((by_names[m],), mechanism))
            if not isinstance(likelihood, CellFactors):
                raise InfeasibleError(message("there is no posterior for margins protected by cycles"))
            parts.append(likelihood)
        if self.privacy(domain, values) is not None:
            return product_over_margins(publication, release.tables, parts)
        return product_over_margins(
            publication, release.tables, parts, note=NOTE, left_out=("pattern_choice",)
        )


def _margins(domain: Domain, values: Values) -> MarginSet:
    """The published margins: the largest of the formula's, those over most variables first."""
    formula = values[MARGINS]
    if not formula:
        raise InputError(message("must name the margins to be published, such as a:b + c"))
    found = maximal_margins(domain, terms(formula, domain.known_names, everything=domain.names))
    return tuple(sorted(found, key=lambda margin: -len(margin)))


def _rerun(stated: Mapping[str, object], margins: MarginSet, values: Values, size: int) -> Rerun | None:
    """Originals for which the margins are judged as it is stated: 1, all others 0."""
    proved, at_risk = stated.get(PROVED), stated.get("at_risk")
    if type(proved) is not bool or not isinstance(at_risk, str) or size > MOST_JUDGED:
        return None
    rule, threshold = SmallCount.parse(at_risk), values[THRESHOLD]
    way, cells = values[BOUNDS], values[CELLS]

    def estimate(original: Table, _: np.random.Generator) -> float:
        problem = Problem(original, at_risk=rule)
        return float(
            margin_findings(problem, margins, threshold=threshold, way=way, cells=cells)["proved"] == proved
        )

    return Rerun(estimate, exact=True, programmes=not is_decomposable(margins))


PLUGIN = PublishMargins()
