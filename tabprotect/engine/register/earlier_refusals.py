"""What the gate refused for a table before: kept by the house, stated by later releases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.house import is_unmade, register_address
from tabprotect.engine.house import key as house_key
from tabprotect.engine.parameters import Values
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.reading_together import marks
from tabprotect.engine.register.register_entry import coins_mark
from tabprotect.engine.release.mechanism import Gate, Mechanism, RefusedDraws

if TYPE_CHECKING:
    from tabprotect.engine.register.register import RefusedMechanism


@dataclass(frozen=True, eq=False)
class EarlierRefusals:
    """What the gate refused for a table before a mechanism is run.

    Attributes
    ----------
    problem, method, values
        The table, and the mechanism at hand.
    others
        The refused mechanisms, but for the one at hand if that is accepted against the gate.
    draws
        All refused draws, where all of them are known.
    limits
        Those by which the mechanism at hand is judged.
    standing
        Whether the policy holds reasons to publish what is not judged whole.
    """

    problem: Problem
    method: Method
    values: Values
    others: tuple[RefusedMechanism, ...]
    draws: tuple[RefusedDraws, ...]
    limits: Gate
    standing: bool = False

    @classmethod
    def of(
        cls,
        problem: Problem,
        how: tuple[Method, Values, HousePolicy],
        *,
        accepted: bool,
        randomness: Randomness,
        register: str | None,
    ) -> EarlierRefusals:
        """Look them up.

        Parameters
        ----------
        how
            The mechanism at hand, and the house's policy.
        accepted
            Whether a draw is accepted against the gate.
        randomness
            That of the mechanism at hand.

        Raises
        ------
        InputError
            If the register cannot be read.
        """
        method, values, policy = how
        known = _refused_before(problem, register)
        own, coins = _digest(problem, method.name, values), randomness.coins
        if known:
            # The very draw that was refused beside other releases is no choice between two.
            known.pop(_drawn_digest(problem, (method, values), randomness), None)
        # Nor is the refused mechanism itself, accepted against the gate.
        itself = known.pop(own) if accepted and own in known else None
        draws = _refused_draws(problem, known.values())
        if itself is not None and len(draws) == len(known):
            mine = _refused_draws(problem, [itself])
            # The house's coins draw the same again: the first of the refused draws leaves.
            fewer = [
                replace(one, draws=one.draws - (coins == "house"))
                for one in mine
                if one.draws > (coins == "house")
            ]
            draws = (*draws, *fewer)
        limits = policy.limits(
            problem.at_risk,
            again=method.draws_again(problem.table.domain, values),
            changed=bool(known),
            refused=draws,
        )
        return cls(
            *(problem, method, values, tuple(known.values()), draws, limits),
            standing=bool(policy.standing),
        )

    def remember(self, register: str | None) -> None:
        """Record that the gate refused the mechanism at hand: a later release states that."""
        place = register_address(register)
        if place is None:
            return
        from tabprotect.engine.register.register import RefusedMechanism, Register

        digest = _digest(self.problem, self.method.name, self.values)
        stated = _stated(self.problem, self.method, self.values, self.limits)
        if self.standing and not self.method.is_random(self.values):
            # Which originals would have left for a standing reason is nothing that is published.
            stated = ""
        with Register(place) as opened:
            original = marks(self.problem).original
            opened.refuse(original, digest, RefusedMechanism(self.method.name, stated))


def remember_beside(
    problem: Problem,
    how: tuple[Method, Values, HousePolicy],
    randomness: Randomness,
    register: str | None,
) -> None:
    """Record that a draw was refused for what it tells together with earlier releases.

    A later release leaves this out: who has that release alone cannot judge the refused draw.

    Raises
    ------
    InputError
        If the register cannot be written.
    """
    place = register_address(register)
    if place is None or is_unmade(place):
        return
    from tabprotect.engine.register.register import RefusedMechanism, Register

    method, values, policy = how
    limits = policy.limits(problem.at_risk, again=False, changed=True)
    digest = _drawn_digest(problem, (method, values), randomness)
    with Register(place) as opened:
        stated = _stated(problem, method, values, limits)
        opened.refuse(marks(problem).original, digest, RefusedMechanism(method.name, stated))


def _refused_before(problem: Problem, register: str | None = None) -> dict[str, RefusedMechanism]:
    """Mechanisms that the gate refused for a table, by their digests.

    Raises
    ------
    InputError
        If the register cannot be read.
    """
    place = register_address(register)
    if place is None or is_unmade(place):
        return {}
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        return opened.refused(marks(problem).original)


def _stated(problem: Problem, method: Method, values: Values, limits: Gate) -> str:
    """What a release by a mechanism would state; empty where chance rests on anything else."""
    own = [p for p in method.parameters if not p.public and values[p.name] != p.default]
    if own or method.needs:
        return ""
    public_ones = {
        p.name: values[p.name]
        for p in method.parameters
        if p.public and not (p.may_be_unstated and values[p.name] is None)
    }
    # What came of its draws is the house's own.
    gate = replace(limits, passed=False, left_out=(), reason=False)
    return Mechanism(method.name, problem.table.domain, public_ones, gate).to_text(categories=True)


def _refused_draws(
    problem: Problem, refused: Iterable[RefusedMechanism]
) -> tuple[RefusedDraws, ...]:
    """Refused mechanisms as a later release states them; none if not all of them are known."""
    out = []
    for one in refused:
        if not one.stated:
            return ()
        try:
            table = problem.table
            mechanism = Mechanism.from_json(json.loads(one.stated), table.domain, table)
        except (InputError, ParameterError):
            return ()
        gate = mechanism.gate
        if gate is None or (gate.changed and not gate.refused):
            return ()
        out.append(RefusedDraws(gate.attempts_at_most, mechanism))
    return tuple(out)


def _drawn_digest(problem: Problem, how: tuple[Method, Values], randomness: Randomness) -> str:
    """A digest, equal for equal draws of one table; it tells nothing of their coins."""
    method, values = how
    # Without chance there is one draw.
    mark = coins_mark(randomness.seed, house_key()) if method.is_random(values) else ""
    return _digest(problem, method.name, {**values, "coins": mark})


def _digest(problem: Problem, method: str, values: Mapping[str, object]) -> str:
    """A digest, equal for equal methods with equal resolved parameters of one table."""
    stated = Mechanism(method, problem.table.domain, dict(sorted(values.items())))
    return hashlib.sha256(
        stated.to_text(categories=True).encode(errors="surrogatepass")
    ).hexdigest()
