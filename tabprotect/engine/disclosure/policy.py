"""The house policy: the limits by which releases are judged, and what needs a reason.

It is a file ``policy.toml``, named on the command line or by an environment variable, or beside the
settings, where the window writes it. Its limits are public and stated in every mechanism.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from tabprotect.engine import agency
from tabprotect.engine.atomic import make_folder, write_bytes
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.errors import ParameterError, in_file
from tabprotect.engine.paths import is_there, read_text
from tabprotect.engine.plain_values.decoding import FieldsError, decoded, parsed_toml
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.plain_values.metadata import OWN_TEXTS, TABLE_TEXTS
from tabprotect.engine.release.findings import KINDS, Finding
from tabprotect.engine.release.limits import (
    ATTEMPTS,
    MEAN_BELIEF_LIMIT,
    NO_CHANGE_LIMIT,
    ROUNDING,
    SHARE,
    Limits,
)
from tabprotect.languages.messages import in_100, message

if TYPE_CHECKING:
    from tabprotect.engine.protection.problem import Problem
    from tabprotect.engine.release.mechanism import Gate, RefusedDraws
    from tabprotect.engine.release.release import Release
    from tabprotect.engine.sensitivity.roles import Roles
    from tabprotect.engine.sensitivity.small_count import SmallCount

VARIABLE = "TABPROTECT_POLICY"
"""The environment variable that names the house's policy file."""

Again = Literal["warn", "reason", "refuse"]
Unjudged = Literal["reason", "refuse"]
Insiders = Literal["tell", "judge"]
ShortSeed = Literal["warn", "refuse"]
NoChange = Literal["tell", "refuse"]
OffList = Literal["allowed", "reason"]
KeptSmall = Literal["ask", "keep", "never"]
JudgedGroups = Literal["tell", "judge", "judge_all"]

CHOICES: Mapping[str, tuple[str, ...]] = {
    "second_release": get_args(Again),
    "together": get_args(Again),
    "insiders": get_args(Insiders),
    "groups": get_args(JudgedGroups),
    "unjudged": get_args(Unjudged),
    "short_seed": get_args(ShortSeed),
    "no_change": get_args(NoChange),
    "off_list": get_args(OffList),
    "kept_small": get_args(KeptSmall),
}


@dataclass(frozen=True)
class AgencyPolicy(Encodable):
    """The demands of a house on every release.

    Attributes
    ----------
    belief_limit, share, mean_belief_limit, small_share, attempts_at_most, intruder
        As in :class:`~tabprotect.engine.release.mechanism.Gate`.
    insiders, insider_limit
        Whether the chance that somebody alone in a cell learns another at-risk count is told or
        judged, and its limit then.
    groups
        Whether it is told what is learned of whole groups of people, judged by the limits of small counts
        where a variable is named sensitive, or judged of every variable.
    sensitive
        Variables that are sensitive in every table that has them.
    at_risk
        The counts at risk, such as ``1..2``; empty means the table's own rule.
    second_release
        What a second release of the same table requires.
    together
        What a release requires that is beyond the limits together with earlier ones.
    unjudged
        Whether a release that cannot be judged, or not whole, may leave with a reason.
    standing
        Reasons that are taken whenever something of that kind is left out; each goes into the
        dossier.
    no_change, no_change_limit
        Whether a mechanism of which too many draws would change nothing at all is told or refused,
        and the chance from which on it is; both are known from the kept margins before any draw.
    off_list
        Whether settings that somebody names may leave like those that the usual method takes by itself, or
        take a reason. Where they do, what is only looked at changes nothing of what leaves.
    kept_small
        Whether a release may publish sums exactly that are at-risk counts: somebody has to decide
        it each time, it may, or it may not.
    epsilon_limit
        The most that private releases of one original may spend together; 0 for no limit.
    rules
        Rules of the house that every magnitude table keeps beside those that are asked for, such as
        ``p=10``. CONFIDENTIAL: no release states them.
    within
        How near a guess of a contribution has to come to count as known, in percent of it.
    short_seed
        How a given seed that could be guessed is treated.
    signatures
        How many different people sign a release: 0, 1 or 2.
    two_signatures
        True if two do: the same as two ``signatures``.
    approvers
        The public keys (64 hexadecimal figures) of those who may sign, by their names. Where there are any,
        people sign with their keys, and two signatures are two keys.
    retention_days
        For how many days dossiers are kept after their release left; 0 for ever.
    metadata
        What all tables of the house say of themselves: licence, publisher, contact, language and the
        like, by name; what is given for a table goes before.
    texts
        What the house writes in place of the texts for users that are made from a mechanism, by name
        (``footnote``), or by name and language (``footnote_de``); ``{text}`` in it is the one made.
    """

    belief_limit: float = BELIEF_LIMIT
    share: float = SHARE
    mean_belief_limit: float = MEAN_BELIEF_LIMIT
    small_share: float = 1.0
    insiders: Insiders = "tell"
    insider_limit: float = 1.0
    groups: JudgedGroups = "judge"
    sensitive: tuple[str, ...] = ()
    attempts_at_most: int = ATTEMPTS
    at_risk: str = ""
    intruder: str = ""
    second_release: Again = "warn"
    together: Again = "refuse"
    unjudged: Unjudged = "reason"
    short_seed: ShortSeed = "refuse"
    kept_small: KeptSmall = "ask"
    no_change: NoChange = "tell"
    no_change_limit: float = NO_CHANGE_LIMIT
    off_list: OffList = "allowed"
    signatures: int = 1
    two_signatures: bool = False
    epsilon_limit: float = 0.0
    rules: tuple[str, ...] = ()
    within: float = 10.0
    retention_days: int = 0
    approvers: Mapping[str, str] = field(default_factory=dict, hash=False)
    standing: Mapping[str, str] = field(default_factory=dict, hash=False)
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    texts: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        wrong: dict[str, str] = {}
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                wrong[name] = message(
                    "must be one of {choices}, is {self}", ", ".join(choices), repr(getattr(self, name))
                )
        for kind, reason in self.standing.items():
            if kind not in KINDS:
                wrong[f"standing.{kind}"] = message("must be one of {KINDS}", ", ".join(KINDS))
            elif not reason.strip():
                wrong[f"standing.{kind}"] = message("says no reason")
        for held, known in (("metadata", tuple(TABLE_TEXTS)), ("texts", OWN_TEXTS)):
            for name, text in getattr(self, held).items():
                if name not in known:
                    wrong[f"{held}.{name}"] = message("must be one of {names}", ", ".join(known))
                elif not text.strip():
                    wrong[f"{held}.{name}"] = message("says nothing")
        keys, people = dict[str, str](), dict[str, str]()
        for name, key in self.approvers.items():
            if not (len(key) == 64 and set(key.lower()) <= set("0123456789abcdef")):
                wrong[f"approvers.{name}"] = message(
                    "is no public key of 64 figures: tabprotect keys new says it"
                )
            elif (other := keys.setdefault(key.lower(), name)) != name:
                wrong[f"approvers.{name}"] = message("has the key of {other}", other)
            elif (other := people.setdefault(agency.letters(name), name)) != name:
                wrong[f"approvers.{name}"] = message("is the name of {other}", other)
        if self.approvers and not self.signatures and not self.two_signatures:
            wrong["signatures"] = message("must be 1 or 2 where there are approvers")
        if self.retention_days < 0:
            wrong["retention_days"] = message("must not be negative")
        if self.signatures not in (0, 1, 2):
            wrong["signatures"] = message("must be 0, 1 or 2, is {number}", self.signatures)
        object.__setattr__(self, "signatures", 2 if self.two_signatures else self.signatures)
        object.__setattr__(self, "two_signatures", self.signatures == 2)
        if not 0 <= self.no_change_limit <= 1:
            wrong["no_change_limit"] = message("must be from 0 to 1, is {share}", self.no_change_limit)
        if self.epsilon_limit < 0:
            wrong["epsilon_limit"] = message("must not be negative")
        if not 0 < self.within < 100:
            wrong["within"] = message("must be between 0 and 100")
        for check in (self.limits, self._rules):
            try:
                check()
            except ParameterError as error:
                wrong |= error.fields
        if wrong:
            raise ParameterError(wrong)

    def _rules(self) -> None:
        """Raise if the rules of sums make no sense."""
        if self.rules:
            from tabprotect.engine.sensitivity.magnitude_rules import rules_of

            rules_of(self.rules)

    def limits(
        self,
        at_risk: SmallCount | None = None,
        roles: Roles | None = None,
        *,
        again: bool = True,
        changed: bool = False,
        refused: tuple[RefusedDraws, ...] = (),
    ) -> Gate:
        """The limits for a table.

        Parameters
        ----------
        at_risk
            The table's own rule, which applies if the policy has none.
        roles
            Those of its variables, with what the policy takes for sensitive.
        again
            True if another draw may follow a refused one.
        changed
            True if something else was refused for the table before.
        refused
            The draws that were refused, where they are known.
        """
        # Late: what a policy may say is said without arrays.
        from tabprotect.engine.release.mechanism import Gate
        from tabprotect.engine.sensitivity.roles import NO_ROLES
        from tabprotect.engine.sensitivity.small_count import SmallCount

        roles = roles or NO_ROLES
        stated = SmallCount.parse(self.at_risk) if self.at_risk else at_risk or SmallCount()
        attempts = self.attempts_at_most if again else min(self.attempts_at_most, 1)
        return Gate(
            **{limit.name: getattr(self, limit.name) for limit in fields(Limits)}
            | {"insider_limit": self.insider_limit if self.insiders == "judge" else 1.0},
            at_risk=stated,
            attempts_at_most=attempts,
            intruder=self.intruder,
            changed=changed,
            refused=refused,
            groups=self.groups == "judge_all" or (self.groups == "judge" and bool(roles.sensitive)),
            roles=roles,
        )

    def limits_for(
        self,
        problem: Problem,
        *,
        again: bool = True,
        changed: bool = False,
        refused: tuple[RefusedDraws, ...] = (),
    ) -> Gate:
        """The limits for a table with the roles of its variables; ``again`` and further as of :meth:`limits`."""
        roles = problem.roles.beside(self.sensitive, problem.table.domain)
        return self.limits(problem.at_risk, roles, again=again, changed=changed, refused=refused)

    def of_release(
        self, release: Release, at_risk: SmallCount | None = None, roles: Roles | None = None
    ) -> Gate:
        """The limits for the measures of a release that is drawn once.

        Parameters
        ----------
        at_risk, roles
            As of :meth:`limits`.
        """
        from tabprotect.engine.release.mechanism import Gate
        from tabprotect.engine.sensitivity.roles import NO_ROLES

        if not release.counted:
            return Gate(within=self.within, belief_limit=self.belief_limit, counts=False)
        named = (roles or NO_ROLES).beside(self.sensitive, release.domain)
        found = self.limits(at_risk, named, again=not release.magnitudes)
        return replace(found, within=self.within) if release.magnitudes else found

    def too_often_unchanged(self, chance: float | None) -> str:
        """Say that too many draws of a mechanism change nothing, where that is refused; else empty."""
        if self.no_change == "tell" or chance is None or chance <= self.no_change_limit + ROUNDING:
            return ""
        values = {"often": in_100(chance), "limit": in_100(self.no_change_limit)}
        return Finding("no_change_beyond", values=values).text

    def standing_reasons(self, left_out: Iterable[str]) -> Mapping[str, str] | None:
        """The reason for each kind that is left out; ``None`` where the policy has none for one."""
        found = {kind: self.standing.get(kind, "") for kind in left_out}
        return found if found and all(found.values()) else None

    def owner(self, key: str) -> str:
        """The name of the approver who has a public key; empty for nobody's."""
        return next((name for name, own in self.approvers.items() if own.lower() == key.lower()), "")

    def unsigned(self, prepared_by: str, approved_by: str) -> str:
        """The name that is still missing, in words; empty where enough people of different names sign."""
        names = {agency.letters(name) for name in (prepared_by, approved_by)} - {""}
        if len(names) >= self.signatures:
            return ""
        return (
            message("two names: who prepared it, and somebody else who approves it")
            if self.signatures == 2
            else message("the name of who signs")
        )

    @classmethod
    def of(cls, given: Mapping[str, object]) -> AgencyPolicy:
        """Make a policy from values by name; missing ones take their defaults.

        Raises
        ------
        ParameterError
            With every wrong field.
        """
        try:
            return decoded(given, cls)
        except FieldsError as error:
            known = ", ".join(one.name for one in fields(cls))
            raise ParameterError(error.fields, hint=message("the limits are {known}", known)) from None


def read(path: Path) -> AgencyPolicy:
    """Read a policy file.

    Raises
    ------
    InputError
        When it cannot be read, or is no TOML.
    ParameterError
        With every wrong field.
    """
    with in_file(path):
        return AgencyPolicy.of(parsed_toml(read_text(path), "policy"))


def policy_file() -> Path:
    """The path of the house's policy file, which need not exist.

    The one named by the environment variable, else the one beside the settings.
    """
    named = os.environ.get(VARIABLE)
    return Path(named) if named else agency.folder() / "policy.toml"


def in_force() -> AgencyPolicy:
    """The house policy, else the program's default limits.

    Raises
    ------
    InputError, ParameterError
        As :func:`read`.
    """
    path = policy_file()
    return read(path) if os.environ.get(VARIABLE) or is_there(path) else AgencyPolicy()


def write(policy: AgencyPolicy, path: Path) -> None:
    """Write a policy file, whole or not at all.

    Raises
    ------
    InputError
        When it cannot be written there.
    """
    if path.parent == agency.folder():
        make_folder(path.parent, private=True)
    # Late: to read one takes none of it.
    import tomli_w

    write_bytes(path, tomli_w.dumps(policy.as_json()).encode())
