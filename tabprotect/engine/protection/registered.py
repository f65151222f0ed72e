"""The registered methods: every file in ``methods/``."""

from __future__ import annotations

from functools import cache

from tabprotect.engine.protection import methods as package
from tabprotect.engine.protection.method import Method
from tabprotect.engine.registry import Registry
from tabprotect.engine.release.likelihood import Likelihood
from tabprotect.engine.release.release import Release


@cache
def methods() -> Registry[Method]:
    """Every registered method by name."""
    return Registry(package, Method, "method")  # type: ignore[type-abstract]


def likelihood_of(release: Release) -> Likelihood:
    """The likelihood of a release, by the method its mechanism names.

    The parameters are checked as if a user had typed them: a bundle may come from anywhere.
    """
    return methods()[release.mechanism.method].likelihood(release)
