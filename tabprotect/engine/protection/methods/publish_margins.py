"""Publish margins: chosen sub-tables of one big table go out, the table itself does not.

The stated margins of a larger table were published, and nothing else of it; every smaller table
that adds up from them follows. They were chosen so that no cell of the large table with an at-risk
count can be narrowed down too far from all margins together: the width, upper minus lower bound of
what such a cell may hold, is at least the stated threshold. The margins are exact unless a further
method is stated, which was then applied to each of them on its own.

Example. Of the table 3, 1 / 2, 4 the two one-way margins 4, 6 and 5, 5 are published. The cell
with the 1 lies between max(0, 4 + 5 - 10) = 0 and min(4, 5) = 4: its width is 4, safe at 3. The
formula for this is a + b.

A release is called safe only on proof: the closed form of decomposable margins, or linear and
integer programmes that give the very bounds. What is not proved safe is refused unless that is
accepted; the reason names the tightest cells. What else would have been safe is not published:
only the released frontier, the criterion and the threshold are. Margins that are perturbed or
rounded afterwards say no more than exact ones, so the proof holds for them.

Source: Dobra, Karr, Sanil and Fienberg 2002, sections 3 and 4.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import ClassVar, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tabprotect.engine.bounds import bounding
from tabprotect.engine.errors import (
    InfeasibleError,
    InputError,
    ParameterError,
    TabprotectError,
    TooLargeError,
)
from tabprotect.engine.parameters import Parameter, resolve
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.composed import composed
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Preview, Problem
from tabprotect.engine.protection.published_sums import counts_of, sum_factors
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.published import PublishedTable
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import terms
from tabprotect.engine.tables.margins import MarginSet, maximal
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

CRITERION = "width"

FRONTIER = "released_frontier"
"""Disclosed by the run: the published margins."""

INNER = "protected_by"
"""Disclosed by the run: the public parameters of the further method, margin by margin."""

DISCLOSED = frozenset({"criterion", FRONTIER, INNER})

MOST_ENTRIES = 5_000_000
"""Inner cells times margins up to which there is a posterior."""

MOST_TIGHT = 20
"""Tight cells that the findings list."""


class PublishMargins(Method):
    """Registered as ``publish_margins``."""

    name = "publish_margins"
    label = "Publish margins only"
    parameters = (
        replace(
            MARGINS,
            label="Published margins",
            help="A model formula over the variables: a:b + c publishes a by b, and c. Smaller "
            "tables that follow from these are not listed again.",
        ),
        Parameter(
            "threshold",
            "Threshold beta",
            "The smallest width of the bounds on an at-risk cell that counts as safe.",
            "integer",
            3,
            low=1,
            high=1e9,
            unit="counts",
        ),
        Parameter(
            "bounds",
            "Bounds",
            "How the bounds are found.",
            "choice",
            "auto",
            choices=bounding.WAYS,
        ),
        Parameter(
            "then",
            "Then",
            "A further method for each margin, with its parameters: random_rounding base=3. "
            "Without one the margins are published exactly.",
            "text",
            "",
        ),
    )
    guarantees: ClassVar[Mapping[str, str]] = {
        "exact": "Every published count is exact (without a further method).",
        "additive": "The published tables agree on what they share (without a further method).",
        "posterior": "The posterior of every true cell is computable from the bundle alone, where "
        "the large table is not too large.",
    }

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> dict[str, object]:
        """The formula, the threshold and the further method, checked; all wrong fields at once."""
        chosen = {k: v for k, v in given.items() if k not in DISCLOSED}
        wrong: dict[str, str] = {}
        try:
            values = resolve(self.parameters, chosen)
        except ParameterError as error:
            wrong |= error.fields
            values = {p.name: chosen.get(p.name, p.default) for p in self.parameters}
        margins: MarginSet = ()
        if MARGINS.name not in wrong:
            try:
                margins = _margins(domain, values)
            except InputError as error:
                wrong[MARGINS.name] = error.message
        if "then" not in wrong:
            try:
                for margin in margins:
                    _inner(domain.project(margin), values)
            except TabprotectError as error:
                wrong["then"] = error.message
        if wrong:
            raise ParameterError(wrong)
        return values

    def promised(self, values: Mapping[str, object]) -> tuple[str, ...]:
        """A further method keeps its own promises, which are checked where it runs."""
        return ("posterior",) if values["then"] else tuple(self.guarantees)

    def is_random(self, values: Mapping[str, object]) -> bool:
        """Whether the further method is."""
        return bool(values["then"])

    def weakness(
        self, problem: Problem, values: Mapping[str, object], preview: Preview, draft: Draft
    ) -> str:
        """Whatever is not proved safe: what is published exactly is judged, not an outcome."""
        if draft.findings["proved"]:
            return ""
        tight = cast("list[dict[str, object]]", draft.findings["tight"])
        cells = "; ".join(f"{t['cell']} lies in {t['lower']}..{t['upper']}" for t in tight[:3])
        return f"{draft.findings['why']}" + (f" {cells}." if cells else "")

    def draw(
        self,
        problem: Problem,
        values: Mapping[str, object],
        generator: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Draft:
        """Sum up the margins, judge them, and protect each on its own if that is asked."""
        table = problem.table
        margins = _margins(table.domain, values)
        judgement = _judged(problem, margins, values, progress)
        parts = [_part(problem, margin) for margin in margins]
        findings = dict(judgement)
        findings["at_risk_counts_published"] = sum(
            int(problem.at_risk.mask(part.table.counts).sum()) for part in parts
        )
        disclosed: dict[str, object] = {
            "criterion": CRITERION,
            FRONTIER: [list(margin) for margin in margins],
        }
        sentence = str(judgement["why"])
        if not values["then"]:
            tables = tuple(PublishedTable(part.table) for part in parts)
            return Draft(tables, disclosed=disclosed, findings=findings, sentence=sentence)
        drafts, stated = [], []
        for part in parts:
            inner = _inner(part.table.domain, values)
            assert inner is not None
            method, given = inner
            method.require(part)
            release, draft = method.perform(
                part, method.resolve(part.table.domain, given), generator, progress
            )
            if [p.table.domain for p in release.tables] != [part.table.domain]:
                raise ParameterError(
                    {"then": f"{method.name} publishes other tables than the margin itself"}
                )
            drafts.append(draft)
            stated.append(dict(release.mechanism.parameters))
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
            raise InputError(f'the mechanism\'s "{FRONTIER}" is not what its formula says')
        if domain.size * len(margins) > MOST_ENTRIES:
            raise TooLargeError(
                f"a table of {domain.size:,} cells is too large for a posterior",
                hint="ask for bounds of single cells",
            )
        publication = Publication(domain, margins)
        by_names = {p.table.domain: p for p in release.tables}
        if set(by_names) != set(publication.domains) or len(by_names) != len(release.tables):
            raise InputError("the published tables are not the margins the mechanism names")
        if not values["then"]:
            counts = counts_of(release, publication)
            return sum_factors(release, publication, counts, lambda count, _: (count, count, None))
        inner = stated.get(INNER)
        if not isinstance(inner, Sequence) or len(inner) != len(margins):
            raise InputError(f'the mechanism does not state "{INNER}" for every margin')
        parts = []
        for m, parameters in zip(publication.domains, inner, strict=True):
            if not isinstance(parameters, Mapping):
                raise InputError(f'the mechanism\'s "{INNER}" holds no parameters')
            mechanism = Mechanism(_words(values)[0], m, parameters)
            likelihood = _registered().likelihood_of(Release((by_names[m],), mechanism))
            if not isinstance(likelihood, CellFactors):
                raise InfeasibleError("there is no posterior for margins protected by cycles")
            parts.append(likelihood)
        return composed(publication, release.tables, parts)


def _margins(domain: Domain, values: Mapping[str, object]) -> MarginSet:
    """The published margins: the largest of the formula's, those over most variables first."""
    formula = values[MARGINS.name]
    if not formula:
        raise InputError("must name the margins to be published, such as a:b + c")
    found = maximal(domain, terms(str(formula), domain.names))
    return tuple(sorted(found, key=lambda margin: -len(margin)))


def _words(values: Mapping[str, object]) -> list[str]:
    try:
        return shlex.split(str(values["then"]))
    except ValueError as error:
        raise InputError(f"cannot be read: {error}") from None


def _inner(domain: Domain, values: Mapping[str, object]) -> tuple[Method, dict[str, object]] | None:
    """The further method and its parameters for one margin.

    Raises
    ------
    InputError, ParameterError
        When it cannot be read, or stands for something else than a protection of the margin.
    """
    words = _words(values)
    if not words:
        return None
    registry = _registered().methods()
    if words[0] not in registry or words[0] == PublishMargins.name:
        raise InputError(f"{words[0]!r} is no method for a margin")
    method = cast(Method, registry[words[0]])
    known = {p.name: p for p in method.parameters}
    given: dict[str, object] = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise InputError(f"{word!r} is not NAME=VALUE with one of {', '.join(known)}")
        # What stands here is published: no file's name, nothing confidential.
        told = known[name].public and known[name].kind not in (
            "cycles",
            "perturbation",
            "groupings",
        )
        if not told or name == MARGINS.name:
            raise InputError(f"{name!r} cannot be set for a margin")
        given[name] = value
    if any(p.kind == "cycles" for p in method.parameters):
        raise InputError(f"{method.name} cannot follow: there is no posterior for it")
    if MARGINS.name in known:
        given[MARGINS.name] = (":".join(f"`{n}`" for n in domain.names) + " - 1").removeprefix(
            " - "
        )
    method.resolve(domain, given)
    return method, given


def _registered() -> ModuleType:
    """The other methods. By name, because the registry reads this file when it fills."""
    return import_module("tabprotect.engine.protection.registered")


def _part(problem: Problem, margin: tuple[str, ...]) -> Problem:
    """One margin as a problem of its own; its record keys and weights add up, too."""
    table = problem.table.margin(margin)
    keys, weights = problem.record_keys, problem.weights
    if keys is not None:
        summed = keys.margin(margin)
        keys = Table.dense(table.domain, summed.counts % KEY_MODULUS)
    if weights is not None:
        gone = tuple(a for a, n in enumerate(problem.table.domain.names) if n not in margin)
        weights = weights.sum(axis=gone)
    return Problem(
        Table.dense(table.domain, table.counts),
        problem.at_risk,
        problem.title,
        record_keys=keys,
        weights=weights,
    )


_JUDGED: WeakKeyDictionary[Table, dict[object, Mapping[str, object]]] = WeakKeyDictionary()
"""Judgements by table, for as long as it is open: trial runs ask the same again."""


def _judged(
    problem: Problem, margins: MarginSet, values: Mapping[str, object], progress: Progress
) -> Mapping[str, object]:
    """Whether the margins are proved safe, as findings."""
    beta, way = cast(int, values["threshold"]), cast(bounding.Way, values["bounds"])
    rule = (problem.at_risk.low, problem.at_risk.high)
    known = _JUDGED.setdefault(problem.table, {})
    key = (margins, rule, beta, way)
    if key not in known:
        known[key] = _judge(problem, margins, beta, way, progress)
    return known[key]


def _judge(
    problem: Problem, margins: MarginSet, beta: int, way: bounding.Way, progress: Progress
) -> Mapping[str, object]:
    table, rule = problem.table, problem.at_risk
    found: dict[str, object] = {"criterion": CRITERION, "threshold": beta}
    if rule.low > 0 and not rule.mask(table.cells[1]).any():
        why = f"No cell has a count in {rule}: nothing is at risk."
        return found | {"width": None, "exact": True, "proved": True, "tight": [], "why": why}
    result = bounding.width(
        table, margins, at_risk=(rule.low, rule.high), beta=beta, method=way, progress=progress
    )
    bounds, domain = result.tight, table.domain
    order: npt.NDArray[np.intp] = np.argsort(bounds.widths, kind="stable")[:MOST_TIGHT]
    tight = [
        {
            "cell": domain.cell_text(domain.unflat(int(bounds.cells[at]))),
            "lower": int(bounds.lower[at]),
            "upper": int(bounds.upper[at]),
        }
        for at in order
    ]
    safe = result.verdict == "safe"
    return found | {
        "width": result.width,
        "exact": result.exact,
        "proved": safe,
        "tight": [] if safe else tight,
        "why": result.why,
    }


PLUGIN = PublishMargins()
