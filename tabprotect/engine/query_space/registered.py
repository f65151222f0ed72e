"""The registered criteria, rules and utilities: every file in their folders."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.options import Measure
from tabprotect.engine.query_space import criteria as criteria_package
from tabprotect.engine.query_space import rules as rules_package
from tabprotect.engine.query_space import utilities as utilities_package
from tabprotect.engine.query_space.criterion import RiskCriterion, Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.rule import ReleaseRule
from tabprotect.engine.query_space.sums.sum_criterion import SumCriterion
from tabprotect.engine.query_space.sums.sum_evidence import MOST_FIGURE
from tabprotect.engine.query_space.utility import ReleaseUtility
from tabprotect.engine.registry import Registry
from tabprotect.engine.ways_to_bound import BoundsWay
from tabprotect.languages.messages import message


@cache
def criteria() -> Registry[RiskCriterion]:
    """Every registered risk criterion by name."""
    return Registry(criteria_package, RiskCriterion, "criterion", "criteria")


USUAL: Mapping[Measure, str] = {"counts": "width", "magnitudes": "p"}
"""The criterion where none is named."""


def criteria_of(measure: Measure) -> dict[str, RiskCriterion]:
    """The criteria that judge tables of a measure, by name."""
    return {name: found for name, found in criteria().items() if found.measure == measure}


def criterion_named(name: str | None, measure: Measure) -> RiskCriterion:
    """The criterion of a name, or the usual one, for tables of a measure.

    Raises
    ------
    ParameterError
        For one that judges the other measure, naming those there are.
    """
    found = criteria()[(name or USUAL[measure]).replace("-", "_")]
    if found.measure != measure:
        ours = ", ".join(criteria_of(measure))
        said = (
            message("{name} judges sums, and the table holds counts", found.name)
            if measure == "counts"
            else message("{name} judges counts, and the table holds sums", found.name)
        )
        raise ParameterError({"criterion": said}, hint=message("there are {ours}", ours))
    return found


def gathered_sums(sums: MagnitudeTable, name: str | None) -> Evidence:
    """The evidence of a criterion about sums, by its name or the usual one."""
    found = criterion_named(name, "magnitudes")
    assert isinstance(found, SumCriterion)
    return found.gather(sums)


def standard(
    evidence: Evidence, threshold: int | None, criterion: str | None = None, bounds: BoundsWay = "auto"
) -> Standard:
    """Return what releases of a table are held to, by the name of the criterion.

    Raises
    ------
    ParameterError
        For a criterion of the other measure, and for a way to bound counts where there are sums.
    """
    found = criterion_named(criterion, evidence.measure)
    if evidence.measure != "counts" and bounds != "auto":
        raise ParameterError({"bounds": message("sums are bounded by linear programmes alone")})
    if isinstance(found, SumCriterion) and threshold is not None and threshold > MOST_FIGURE:
        raise ParameterError({"beta": message("of sums at most {most}", MOST_FIGURE)})
    return Standard(evidence, found, found.usual if threshold is None else threshold, bounds)


@cache
def rules() -> Registry[ReleaseRule]:
    """Every registered release rule by name."""
    return Registry(rules_package, ReleaseRule, "rule")


def session_rules() -> dict[str, ReleaseRule]:
    """The rules of sessions about one table of counts or sums; others need the records."""
    return {name: rule for name, rule in rules().items() if not rule.keyed}


@cache
def utilities() -> Registry[ReleaseUtility]:
    """Every registered utility by name."""
    return Registry(utilities_package, ReleaseUtility, "utility", "utilities")
