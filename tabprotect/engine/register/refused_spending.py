"""What refused private draws spent: that a draw was refused tells of it, and so counts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.privacy import Spent
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain

if TYPE_CHECKING:
    from tabprotect.engine.register.register import RefusedMechanism


def spent_on_refusals(
    refused: Iterable[RefusedMechanism], domain: Domain, release: Release | None = None
) -> Spent:
    """The budgets of all draws that the gate refused for an original.

    Parameters
    ----------
    release
        What is to leave now. By the coins of the house it is the very draw that its own mechanism
        was refused with, which counts once.
    """
    found = []
    for one in refused:
        mechanism = _stated(one, domain)
        if mechanism is None or _same_draw(mechanism, release):
            continue
        method = methods()[mechanism.method]
        budget = method.privacy(domain, method.resolve(domain, mechanism.parameters))
        if budget is not None:
            draws = 1 if mechanism.gate is None else mechanism.gate.attempts_at_most
            found.append(budget.total.times(draws))
    return Spent.together(found)


def _stated(refused: RefusedMechanism, domain: Domain) -> Mechanism | None:
    """The mechanism that was refused; ``None`` where it is not known."""
    if not refused.stated:
        return None
    try:
        return Mechanism.from_json(json.loads(refused.stated), domain)
    except (InputError, ParameterError):
        return None


def _same_draw(refused: Mechanism, release: Release | None) -> bool:
    if release is None or release.mechanism.coins != "house" or refused.coins is not None:
        return False
    leaving = release.mechanism
    return (refused.method, dict(refused.parameters)) == (leaving.method, dict(leaving.parameters))
