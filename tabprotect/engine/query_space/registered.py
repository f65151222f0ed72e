"""The registered criteria, rules and utilities: every file in their folders."""

from __future__ import annotations

from functools import cache

from tabprotect.engine.query_space import criteria as criteria_package
from tabprotect.engine.query_space import rules as rules_package
from tabprotect.engine.query_space import utilities as utilities_package
from tabprotect.engine.query_space.criterion import RiskCriterion, Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.rule import ReleaseRule
from tabprotect.engine.query_space.utility import ReleaseUtility
from tabprotect.engine.registry import Registry
from tabprotect.engine.ways_to_bound import BoundsWay


@cache
def criteria() -> Registry[RiskCriterion]:
    """Every registered risk criterion by name."""
    return Registry(criteria_package, RiskCriterion, "criterion", "criteria")


def standard(
    evidence: Evidence, threshold: int, criterion: str = "width", bounds: BoundsWay = "auto"
) -> Standard:
    """Return what releases of a table are held to, by the name of the criterion."""
    return Standard(evidence, criteria()[criterion], threshold, bounds)


@cache
def rules() -> Registry[ReleaseRule]:
    """Every registered release rule by name."""
    return Registry(rules_package, ReleaseRule, "rule")


@cache
def utilities() -> Registry[ReleaseUtility]:
    """Every registered utility by name."""
    return Registry(utilities_package, ReleaseUtility, "utility", "utilities")
