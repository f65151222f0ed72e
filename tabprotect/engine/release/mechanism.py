"""The public mechanism (method, table shape, disclosed parameters) and the gate that it states.

The gate holds the limits by which a release was judged, and the outcome. It is a function of the
release alone, so it changes no posterior and anybody can apply it again. The number of draws that
were needed is never disclosed, only the most there could have been.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, get_args

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Values
from tabprotect.engine.plain_values.decoding import decoded
from tabprotect.engine.plain_values.encoding import Encodable, keyed
from tabprotect.engine.randomness import NONCE_BYTES, Coins
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.limits import ATTEMPTS, Limits
from tabprotect.engine.release.privacy import KEY as PRIVACY
from tabprotect.engine.release.privacy import Privacy
from tabprotect.engine.release.stated_list import KEY as LIST
from tabprotect.engine.release.stated_list import StatedList
from tabprotect.engine.release.tuned import KEY as TUNED
from tabprotect.engine.release.tuned import Tuned
from tabprotect.engine.sensitivity.roles import NO_ROLES, Roles
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import DOMAIN_KEYS, Domain, domain_from_json, domain_json
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MOST_ATTEMPTS = 100

CHANGED = message(
    "Other settings were refused for this table before, by the same gate; what that tells is left out."
)
"""Sentence for a release whose mechanism was changed after refusals."""

TAKEN_IN = message("Draws were refused for this table before, by the same gate; what that tells is taken in.")
"""Sentence for a release whose originals are weighed by the chance of the earlier refusals."""

UNSTATED = message(
    "The bundle does not state its whole gate: what it would tell that other draws or originals were "
    "refused is left out."
)
"""Sentence for a bundle without a gate, or with one of an earlier form."""

READERS = ("uniform", "positive")
"""Beliefs that an intruder may be taken to start with: prior texts that name no file."""


@dataclass(frozen=True, kw_only=True)
class Gate(Limits):
    """The public limits and what came of them, stated in the mechanism.

    Attributes
    ----------
    at_risk
        The counts at risk.
    attempts_at_most
        Most draws there could have been; 1 for a method without chance.
    intruder
        Prior text of the intruder judged beside the user; empty for none.
    passed
        Whether the release passes; ``None`` if it could not be judged, or not whole.
    left_out
        The kinds of what was not judged.
    reason
        Whether a reason was given for what is beyond the limits or was not judged; which one is
        the house's own.
    changed
        Whether another mechanism, or other coins, were refused for the same table before.
    refused
        The draws that are known to have been refused before; none where some are not known.
    within
        Of magnitudes: how near a guess of a contribution comes that counts, in percent of it; of
        their limits only ``belief_limit`` says when one is known. ``None`` for counts alone.
    counts
        Whether counts are judged: by themselves, or beside magnitudes.
    groups
        Whether it is judged what is learned of whole groups of people.
    roles
        The sensitive variables and those by which groups are told.
    listed
        The list of settings that it is an entry of; ``None`` without one.
    """

    at_risk: SmallCount = field(default_factory=SmallCount)
    attempts_at_most: int = ATTEMPTS
    intruder: str = ""
    passed: bool | None = True
    left_out: tuple[Omission, ...] = ()
    reason: bool = False
    changed: bool = False
    refused: tuple[RefusedDraws, ...] = ()
    within: float | None = None
    counts: bool = True
    groups: bool = False
    roles: Roles = NO_ROLES
    listed: StatedList | None = None

    def __post_init__(self) -> None:
        wrong: dict[str, str] = {}
        try:
            super().__post_init__()
        except ParameterError as error:
            wrong |= error.fields
        if not 1 <= self.attempts_at_most <= MOST_ATTEMPTS:
            wrong["attempts_at_most"] = message("must be from 1 to {MOST_ATTEMPTS}", MOST_ATTEMPTS)
        if self.intruder not in ("", *READERS):
            wrong["intruder"] = message("must be empty or one of {READERS}", ", ".join(READERS))
        if self.within is not None and not 0 < self.within < 100:
            wrong["within"] = message("must be above 0 and below 100")
        if wrong:
            raise ParameterError(wrong)

    @property
    def near(self) -> float:
        """Return how near a guess of a contribution comes that counts, as a share of it."""
        return (self.within or 0.0) / 100

    def as_json(self) -> dict[str, object]:
        """Return it as ``mechanism.json`` states it."""
        came = "passed left_out reason"
        if not self.counts:
            return {"gate": keyed(self, f"within? belief_limit {came}")}
        # What is left out is false: that is what a reader assumes.
        numbers, later = " ".join(_NUMBERS), f"{CHANGED_KEY}=changed? {_REFUSED}=refused?"
        stated = keyed(self, f"within? {numbers} at_risk=at_risk.text intruder {came} {later}")
        if self.groups or self.roles:
            stated[_GROUPS] = {"judged": self.groups, **self.roles.as_json()}
        if self.listed is not None:
            stated[LIST] = self.listed.as_json()
        return {"attempts_at_most": self.attempts_at_most, "gate": stated}

    @classmethod
    def from_json(
        cls, data: Mapping[str, object], domain: Domain | None = None, table: Table | None = None
    ) -> Gate | None:
        """Read from a mechanism for a table.

        Returns
        -------
        Gate or None
            ``None`` if none is stated.

        Raises
        ------
        InputError
            If it is not of the form in which gates are written.
        """
        stated = data.get("gate")
        if stated is None and "attempts_at_most" not in data:
            return None
        try:
            assert isinstance(stated, Mapping)
            counts, near = "at_risk" in stated, ("within",) * ("within" in stated)
            numbers = (*near, *(_NUMBERS if counts else ("belief_limit",)))
            beside = {"passed", "left_out", "reason"} | ({"at_risk", "intruder"} if counts else set())
            assert (near or counts) and set(stated) - (_LATER if counts else set()) == {*numbers, *beside}
            passed, left_out = stated["passed"], stated["left_out"]
            assert passed is None or isinstance(passed, bool)
            assert isinstance(stated["reason"], bool)
            assert isinstance(left_out, list) and all(isinstance(kind, str) for kind in left_out)
            assert list(kinds(left_out)) == left_out and not (passed and left_out)
            assert all(type(stated[name]) in (int, float) for name in numbers)
            given = {name: float(stated[name]) for name in numbers}
            within = given.pop("within", None)
            came = replace(
                cls(passed=passed, left_out=kinds(left_out), reason=stated["reason"], counts=counts),
                within=within,
                **vars(Limits(**given)),
            )
            if not counts:
                return came
            attempts = data["attempts_at_most"]
            assert type(attempts) is int and stated.get(CHANGED_KEY, True) is True
            assert isinstance(stated["at_risk"], str) and isinstance(stated["intruder"], str)
            return replace(
                came,
                at_risk=SmallCount.parse(stated["at_risk"]),
                attempts_at_most=attempts,
                intruder=stated["intruder"],
                changed=CHANGED_KEY in stated,
                refused=RefusedDraws.listed(stated.get(_REFUSED, []), domain, table),
                listed=StatedList.from_json(stated[LIST]) if LIST in stated else None,
                **_groups(stated),
            )
        except (AssertionError, KeyError, ParameterError):
            raise InputError(message('the mechanism\'s "gate" is not as it was written')) from None


_NUMBERS = tuple(limit.name for limit in fields(Limits))

CHANGED_KEY = "changed_after_refusal"

_REFUSED = "refused_before"

_GROUPS = "groups"

_LATER = {CHANGED_KEY, _REFUSED, _GROUPS, LIST}


@dataclass(frozen=True)
class _StatedGroups:
    """What a gate states of groups, as it is written."""

    judged: bool
    sensitive: Mapping[str, tuple[str, ...]]
    key_variables: tuple[str, ...]


def _groups(stated: Mapping[str, object]) -> dict[str, Any]:
    """Read whether groups are judged, and the roles, as a gate states them."""
    if _GROUPS not in stated:
        return {}
    said = decoded(stated[_GROUPS], _StatedGroups)
    assert said.judged or said.sensitive or said.key_variables
    return {"groups": said.judged, "roles": Roles(said.sensitive, said.key_variables)}


_BESIDE = frozenset({"gate", "attempts_at_most", PRIVACY, TUNED})
"""The names under which a mechanism states its gate, its budget of privacy, and how it was tuned."""


NAMED = frozenset({"method", "variables", "shape", "categories", "coins", "nonce", *DOMAIN_KEYS})
"""All that a mechanism states beside its parameters."""


@dataclass(frozen=True)
class Mechanism:
    """A statement of how a table was protected; everything of it is public.

    Attributes
    ----------
    method
        Registered name of the protection method.
    domain
        The table's variables.
    parameters
        The disclosed parameters; a cycle set is a ``MoveSet``, the rest plain values.
    gate
        The limits by which the release was judged; ``None`` if they are not stated.
    privacy
        The budget of differential privacy it spends; ``None`` without one.
    tuned
        How its parameters were chosen from the kept margins; ``None`` where a person chose them.
    coins
        Where the coins come from; ``None`` for a method without chance, or where it is not stated.
        The house's own are the same ones whenever table and mechanism are.
    nonce
        Tells a run with fresh coins from every other run; empty where coins are not fresh.
    """

    method: str
    domain: Domain
    parameters: Mapping[str, object]
    gate: Gate | None = None
    privacy: Privacy | None = None
    tuned: Tuned | None = None
    coins: Coins | None = None
    nonce: str = ""

    @property
    def values(self) -> Values:
        """The parameters as their method declares them; unstated ones are left out."""
        return Values(self.parameters)

    def as_json(self, *, categories: bool = False) -> dict[str, object]:
        """One flat object: ``method``, ``variables``, ``shape``, then the parameters.

        The categories are added if no published table shows all of them.
        """
        out: dict[str, object] = {
            "method": self.method,
            "variables": list(self.domain.names),
            "shape": list(self.domain.shape),
        }
        if categories:
            out["categories"] = {v.name: list(v.categories) for v in self.domain.variables}
        out |= domain_json(self.domain)
        for name, value in self.parameters.items():
            if isinstance(value, MoveSet):
                from tabprotect.engine.cycles import cycle_files

                out |= cycle_files.state(value)
            else:
                out[name] = value
        if self.tuned is not None:
            out[TUNED] = self.tuned.as_json()
        if self.privacy is not None:
            out[PRIVACY] = self.privacy.as_json()
        if self.coins is not None:
            out["coins"] = self.coins
        if self.nonce:
            out["nonce"] = self.nonce
        if self.gate is not None:
            out |= self.gate.as_json()
        return out

    def to_text(self, *, categories: bool = False) -> str:
        """The text of ``mechanism.json``."""
        data = self.as_json(categories=categories)
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, data: object, domain: Domain, table: Table | None = None) -> Mechanism:
        """Read ``mechanism.json`` for a published table.

        The parameters are checked later, by the method that declares them.

        Parameters
        ----------
        table
            The published table, or another with the same kept margins: cycles may follow from these.

        Raises
        ------
        InputError
            If anything is missing, misplaced, or for a table of another shape.
        """
        if not isinstance(data, Mapping):
            raise InputError(message("a mechanism is a JSON object"))
        method = data.get("method")
        if not isinstance(method, str):
            raise InputError(message('the mechanism names no "method"'))
        names = data.get("variables")
        if names is not None and list(domain.names) != names:
            raise InputError(
                message(
                    "the mechanism is for the variables {names}, the table has {names2}",
                    names,
                    list(domain.names),
                ),
                hint=message("the order matters; take the mechanism that came with the table"),
            )
        parameters: dict[str, object] = {k: v for k, v in data.items() if k not in NAMED | _BESIDE}
        if "cycles" in data and data["cycles"] is None:
            # A rule without any.
            parameters["cycles"] = None
        elif "cycles" in data:
            # Late: most methods state no cycles.
            from tabprotect.engine.cycles import cycle_files

            moves = cycle_files.from_json(data, domain=domain, table=table)
            # The margins beside cycles are those that the cycles keep.
            parameters.pop("margins", None)
            parameters = {**parameters, "cycles": moves}
        privacy = Privacy.from_json(data[PRIVACY]) if PRIVACY in data else None
        tuned = Tuned.from_json(data[TUNED]) if TUNED in data else None
        gate, coins = Gate.from_json(data, domain, table), _coins(data)
        return cls(method, domain, parameters, gate, privacy, tuned, *coins)

    @staticmethod
    def stated_domain(data: object, published: Domain) -> Domain:
        """The variables of the original: as stated, or those of the published main table.

        Raises
        ------
        InputError
            If the stated ones do not make a table.
        """
        if not isinstance(data, Mapping):
            return published
        return domain_from_json(data, Mechanism._stated_categories(data, published))

    @staticmethod
    def _stated_categories(data: Mapping[str, object], published: Domain) -> Domain:
        if "categories" not in data:
            return published
        stated, names = data["categories"], data.get("variables")
        if not isinstance(stated, Mapping) or list(stated) != names:
            raise InputError(message('"categories" are not those of "variables"'))
        for name, categories in stated.items():
            if not isinstance(categories, list) or not all(isinstance(c, str) for c in categories):
                raise InputError(message("the categories of {name} are not a list of texts", repr(name)))
        return Domain.of({str(name): list(found) for name, found in stated.items()})


@dataclass(frozen=True)
class RefusedDraws(Encodable):
    """Draws of a mechanism that the gate refused for the same original.

    Attributes
    ----------
    draws
        How many, by the cap of its gate.
    mechanism
        With the gate that refused them.
    """

    draws: int
    mechanism: Mechanism

    @classmethod
    def listed(
        cls, data: object, domain: Domain | None, table: Table | None = None
    ) -> tuple[RefusedDraws, ...]:
        """Read what a gate states.

        Raises
        ------
        AssertionError, KeyError, InputError, ParameterError
            If it is not of that form.
        """
        assert isinstance(data, list) and len(data) <= MOST_ATTEMPTS
        out = []
        for one in data:
            assert isinstance(one, Mapping) and set(one) == {"draws", "mechanism"}
            draws = one["draws"]
            assert domain is not None and type(draws) is int and 1 <= draws <= MOST_ATTEMPTS
            out.append(cls(draws, Mechanism.from_json(one["mechanism"], domain, table)))
        return tuple(out)


def _coins(data: Mapping[str, object]) -> tuple[Coins | None, str]:
    """Return where the coins come from, and the nonce of fresh ones, as a mechanism states them."""
    stated, nonce = data.get("coins"), data.get("nonce", "")
    found: Coins | None = next((one for one in get_args(Coins) if one == stated), None)
    if stated is not None and found is None:
        raise InputError(
            message('the mechanism\'s "coins" must be one of {coins}', ", ".join(get_args(Coins)))
        )
    digits = NONCE_BYTES * 2 if found == "fresh" else 0
    if not isinstance(nonce, str) or not re.fullmatch(f"[0-9a-f]{{{digits}}}", nonce):
        raise InputError(message('the mechanism\'s "nonce" does not go with its "coins"'))
    return found, nonce
