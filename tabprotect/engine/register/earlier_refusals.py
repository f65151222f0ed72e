"""What the gate refused for a table before: kept by the house, stated by later releases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from tabprotect.engine.agency import key as house_key
from tabprotect.engine.agency import made_register, register_address
from tabprotect.engine.bundle.archive import parse_json
from tabprotect.engine.bundle.verify import MECHANISM
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InputError, ParameterError, TabprotectError
from tabprotect.engine.parameters import Values
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people.reading_together import LookedUp, marks
from tabprotect.engine.register.register_entry import (
    BESIDE,
    COINS,
    LOOKED,
    RefusedMechanism,
    RegisterEntry,
    coins_mark,
)
from tabprotect.engine.release.mechanism import CHANGED_KEY, MOST_ATTEMPTS, Gate, Mechanism, RefusedDraws
from tabprotect.engine.release.stated_list import KEY as LIST
from tabprotect.engine.release.stated_list import StatedList


@dataclass(frozen=True, eq=False)
class EarlierRefusals:
    """The refusals of the gate for a table before a mechanism is run.

    Attributes
    ----------
    problem, method, values
        The table, and the mechanism at hand.
    others
        The refused mechanisms, but for the one at hand if that is accepted against the gate; none
        that were refused after the very run at hand was made before.
    draws
        All refused draws, where all of them are known.
    limits
        Those by which the mechanism at hand is judged.
    randomness
        That of the mechanism at hand.
    standing
        Whether the policy holds reasons to publish what is not judged whole.
    """

    problem: Problem
    method: Method
    values: Values
    others: tuple[RefusedMechanism, ...]
    draws: tuple[RefusedDraws, ...]
    limits: Gate
    randomness: Randomness
    standing: bool = False

    @classmethod
    def of(
        cls,
        problem: Problem,
        how: tuple[Method, Values, AgencyPolicy],
        *,
        accepted: bool,
        randomness: Randomness,
        looked_up: LookedUp,
        looks: bool = True,
    ) -> EarlierRefusals:
        """Find them among what the register holds.

        Parameters
        ----------
        how
            The mechanism at hand, and the house's policy.
        accepted
            Whether a draw is accepted against the gate.
        randomness
            That of the mechanism at hand.
        looks
            Whether what was only looked at counts, where the policy let out the list alone.
        """
        known = {
            digest: one
            for digest, one in looked_up.refused.items()
            # What was refused beside other releases is weighed beside them, but where a reason lets out the next.
            if (accepted or not one.beside) and (looks or not one.looked)
        }
        if known:
            # The very draw that was refused beside other releases is no choice between two.
            known.pop(_drawn_digest(problem, (how[0], how[1]), randomness), None)
        run = _Run(problem, how, randomness, accepted)
        for made, is_same in run.made_before(known, looked_up):
            # Of the very run that was made before, what was refused later tells nothing.
            found = run.after({d: one for d, one in known.items() if one.time < made})
            if is_same(found.limits):
                return found
        return run.after(known)

    def remember(
        self,
        register: str | None,
        listed: StatedList | None = None,
        *,
        by_itself: bool = True,
        looked: bool = False,
    ) -> None:
        """Record that the gate refused the mechanism at hand: a later release states that.

        Parameters
        ----------
        listed
            The list whose first entry it is, where all of it was refused.
        by_itself
            Whether every draw was refused whatever else had been refused before.
        looked
            Whether only the list leaves without a reason.
        """
        how, limits = (self.method, self.values), self.limits
        if by_itself:
            limits = replace(limits, changed=False, refused=())
        if listed is not None:
            limits = replace(limits, attempts_at_most=1, listed=replace(listed, entry=0))
        stated = _stated(self.problem, how, limits, self.randomness)
        if self.standing and not self.method.is_random(self.values):
            # Which originals would have left for a standing reason is nothing that is published.
            stated = ""
        refused = RefusedMechanism((LOOKED if looked else "") + self.method.name, stated)
        _note(self.problem, _run_digest(self.problem, how, self.randomness), refused, register)


def remember_beside(
    problem: Problem, how: tuple[Method, Values, AgencyPolicy], randomness: Randomness, register: str | None
) -> None:
    """Record that a draw was refused for what it tells together with earlier releases.

    What that tells is weighed when a later one is read beside the same releases.

    Raises
    ------
    InputError
        If the register cannot be written.
    """
    if made_register(register) is None:
        return
    method, values, policy = how
    limits = policy.limits_for(problem, again=False, changed=True)
    refused = RefusedMechanism(BESIDE + method.name, _stated(problem, (method, values), limits, randomness))
    _note(problem, _drawn_digest(problem, (method, values), randomness), refused, register)


def _note(problem: Problem, digest: str, refused: RefusedMechanism, register: str | None) -> None:
    """Enter a refusal, where there is to be a register."""
    place = register_address(register)
    if place is None:
        return
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        opened.refuse(marks(problem).of_refusals[0], digest, refused)


@dataclass(frozen=True, eq=False)
class _Run:
    """A run of a mechanism: with the same coins it draws the same again."""

    problem: Problem
    how: tuple[Method, Values, AgencyPolicy]
    randomness: Randomness
    accepted: bool

    def after(self, known: Mapping[str, RefusedMechanism]) -> EarlierRefusals:
        """Return what was refused before it, of all that is known to have been refused."""
        problem, (method, values, policy) = self.problem, self.how
        again = method.draws_again(problem.table.domain, values)
        others = dict(known)
        # Nor is the refused run itself a choice, accepted against the gate.
        own = _run_digest(problem, (method, values), self.randomness) if known else ""
        itself = others.pop(own, None) if self.accepted else None
        draws = _refused_draws(problem, others.values())
        if itself is not None and len(draws) == len(others):
            mine = _refused_draws(problem, [itself])
            # The first of its draws leaves.
            fewer = [replace(one, draws=one.draws - 1) for one in mine if one.draws > 1]
            draws = (*draws, *fewer)
        if itself is not None and again and not _refused_draws(problem, [itself]):
            # Others were refused after that one, and it is not known how many, or by what.
            others[own], draws = itself, ()
        limits = policy.limits_for(problem, again=again, changed=bool(others), refused=draws)
        return EarlierRefusals(
            *(problem, method, values, tuple(others.values()), draws, limits),
            randomness=self.randomness,
            standing=bool(policy.standing),
        )

    def made_before(
        self, known: Mapping[str, RefusedMechanism], looked_up: LookedUp
    ) -> Iterator[tuple[str, Callable[[Gate], bool]]]:
        """Return when it left, or was refused, before; and whether limits are those that it had."""
        if not known:
            return
        method, values, _ = self.how
        for entry, mechanism in self._left(looked_up):
            gate = mechanism.gate
            if gate is not None and self._let_out_alike(gate):
                time = entry.time.isoformat(" ", "microseconds")
                yield time, partial(_same_limits, gate)
        itself = known.get(_run_digest(self.problem, (method, values), self.randomness))
        if itself is not None and itself.stated and not self.accepted:
            listed = _listed(itself.stated)

            def alike(limits: Gate) -> bool:
                if not _changed(itself.stated):
                    limits = replace(limits, changed=False, refused=())
                if listed is not None:
                    limits = replace(limits, attempts_at_most=1, listed=listed)
                return _stated(self.problem, (method, values), limits, self.randomness) == itself.stated

            yield itself.time, alike

    def _left(self, looked_up: LookedUp) -> Iterator[tuple[RegisterEntry, Mechanism]]:
        """The publications of the same mechanism with the same coins, the first of them first."""
        method, values, _ = self.how
        domain, public_ones = self.problem.table.domain, _public(method, values)
        own = coins_mark(self.randomness.seed, house_key()) if method.is_random(values) else None
        alike = [
            one
            for one in reversed(looked_up.earlier)
            if (one.relation, one.entry.publication.method) == ("original", method.name)
            and one.entry.publication.gate.get(COINS) == own
        ]
        for one, files in looked_up.files(alike):
            try:
                stated = parse_json(MECHANISM, files[MECHANISM])
                mechanism = Mechanism.from_json(stated, domain, self.problem.table)
            except (KeyError, TabprotectError):
                # Of a set the register keeps what its bundles are sealed with.
                continue
            # What follows from the original is stated as well.
            if all(mechanism.parameters.get(n) == v for n, v in public_ones.items()):
                yield one.entry, mechanism

    def _let_out_alike(self, gate: Gate) -> bool:
        """Return True if a reason was taken for what left, if and only if one is given for the run at
        hand."""
        policy = self.how[2]
        unjudged = set(gate.left_out) - {"other_releases"}
        given = gate.passed is False or bool(unjudged and policy.standing_reasons(gate.left_out) is None)
        return given == self.accepted


def _changed(stated: str) -> bool:
    """Return True if a refused mechanism was judged by what was refused before."""
    return CHANGED_KEY in (json.loads(stated).get("gate") or {})


def _listed(stated: str) -> StatedList | None:
    """The list of which a refused mechanism is the first entry."""
    gate = json.loads(stated).get("gate") or {}
    return StatedList.from_json(gate[LIST]) if LIST in gate else None


def _same_limits(stated: Gate, limits: Gate) -> bool:
    """Return True if a gate that is stated is one of these limits, whatever came of it."""
    came = ("passed", "left_out", "reason", "attempts_at_most", "listed")
    outcome = {name: getattr(stated, name) for name in came}
    return replace(limits, **outcome).as_json() == stated.as_json()


def _public(method: Method, values: Values) -> dict[str, object]:
    """The parameters that a release states."""
    return {
        p.name: values[p.name]
        for p in method.parameters
        if p.public and not (p.may_be_unstated and values[p.name] is None)
    }


def _stated(problem: Problem, how: tuple[Method, Values], limits: Gate, randomness: Randomness) -> str:
    """Say what a release by a mechanism would state; empty where chance rests on anything else."""
    method, values = how
    own = [p for p in method.parameters if not p.public and values[p.name] != p.default]
    if own or method.needs:
        return ""
    # What came of its draws is the house's own.
    gate = replace(limits, passed=False, left_out=(), reason=False)
    mechanism = Mechanism(method.name, problem.table.domain, _public(method, values), gate)
    if method.is_random(values) and randomness.coins != "house":
        mechanism = replace(mechanism, coins=randomness.coins, nonce=randomness.nonce)
    return mechanism.to_text(categories=True)


def _refused_draws(problem: Problem, refused: Iterable[RefusedMechanism]) -> tuple[RefusedDraws, ...]:
    """Refused mechanisms as a later release states them; none if not all of them are known.

    Draws of one mechanism with other coins are draws of it: who weighs them knows no coins.
    """
    out: dict[str, RefusedDraws] = {}
    categories = {v.name: list(v.categories) for v in problem.table.domain.variables}
    for one in refused:
        if not one.stated:
            return ()
        try:
            table, stated = problem.table, json.loads(one.stated)
            if stated.get("categories") != categories:
                # The same counts under other names, or in another order.
                return ()
            mechanism = Mechanism.from_json(stated, table.domain, table)
        except (InputError, ParameterError):
            return ()
        gate = mechanism.gate
        if gate is None or (gate.changed and not gate.refused):
            return ()
        # Which coins were drawn is nothing to who weighs all of them.
        mechanism = replace(mechanism, coins=None, nonce="")
        text = mechanism.to_text()
        draws = gate.attempts_at_most + (out[text].draws if text in out else 0)
        if draws > MOST_ATTEMPTS:
            return ()
        out[text] = RefusedDraws(draws, mechanism)
    return tuple(out.values())


def _run_digest(problem: Problem, how: tuple[Method, Values], randomness: Randomness) -> str:
    """The digest of a run that the gate refused: other coins than the house's draw anew each time."""
    method, values = how
    if randomness.coins == "house" or not method.is_random(values):
        return _digest(problem, method.name, values)
    mark = coins_mark(randomness.seed, house_key())
    return _digest(problem, method.name, {**values, "refused_coins": mark})


def _drawn_digest(problem: Problem, how: tuple[Method, Values], randomness: Randomness) -> str:
    """A digest, equal for equal draws of one table; it tells nothing of their coins."""
    method, values = how
    # Without chance there is one draw.
    mark = coins_mark(randomness.seed, house_key()) if method.is_random(values) else ""
    return _digest(problem, method.name, {**values, "coins": mark})


def _digest(problem: Problem, method: str, values: Mapping[str, object]) -> str:
    """A digest, equal for equal methods with equal resolved parameters of one table."""
    stated = Mechanism(method, problem.table.domain, dict(sorted(values.items())))
    return hashlib.sha256(stated.to_text(categories=True).encode(errors="surrogatepass")).hexdigest()
