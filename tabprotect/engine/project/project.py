"""The user's document: one immutable value with everything a person has chosen.

A *house* project holds an original table; a *reader* project holds only a release opened from a
bundle. Commands make new projects from old ones (``commands.apply``); undo goes back to an earlier
value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from tabprotect.engine.disclosure.policy import AgencyPolicy, in_force
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.options import Measure
from tabprotect.engine.parameters import Values
from tabprotect.engine.project.options import DEFAULT_METHOD
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.plans import ChosenMagnitudes, ComparisonPlan, ReleasePlan
from tabprotect.engine.project.sources import counts_not_sums, of_measure, sums_not_counts
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import kept_of
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.roles import NO_ROLES, Roles
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.design_weights import DesignWeights
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.kept_total import KeptTotal
from tabprotect.engine.tables.margins import MarginSet, all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.protection.method import Method

Who = Literal["user", "intruder"]

PRIORS: Mapping[str, str] = MappingProxyType({"user": "uniform", "intruder": "uniform"})
"""The two default priors that are compared, as prior texts.

The intruder assumes no more: further knowledge could contradict the table, and choosing it by
looking at the table would reveal something of it. The choice is the user's.
"""

ChangeName = Literal[
    "title",
    "table",
    "at_risk",
    "placement",
    "cycles",
    "parameters",
    "release",
    "priors",
    "plan",
    "comparison",
]
Changes = frozenset[ChangeName]

EVERYTHING: Changes = frozenset(get_args(ChangeName))
"""The changes of another project altogether."""


@dataclass(frozen=True, eq=False)
class Project:
    """Everything chosen so far. Confidential whenever it has an original.

    Attributes
    ----------
    title
        The title for readers of a release: typed by the user, or a bundled example's title.
    metadata
        What is told of this table, by the names of ``TABLE_TEXTS``.
    source
        The table's origin: a path, ``example:NAME``, or ``""``. Never published.
    edited
        True if counts or categories were changed since the table was opened.
    notes
        Notes from reading the file.
    kept_totals
        The totals of the file that stand beside the table as published sums of their own.
    table
        The original; ``None`` for a reader, and before anything is opened. Of a magnitude table, the
        counts of the same records.
    magnitudes
        The magnitude table with its rules; ``None`` for a table of counts.
    statuses
        What the file calls its cells, as lines of an a priori file.
    record_keys
        The sum of the record keys of each cell, if the table came from records with keys.
    key_range
        Record keys, and their sums, are whole numbers below it.
    weights
        The weighted counts, if the records have design weights.
    at_risk
        The small-count rule.
    people
        Whether earlier releases count the same people, where the house has said so.
    roles
        The sensitive variables, and those by which groups of people are told.
    placement
        The variables in rows, columns and layers; ``None`` for the usual places.
    moves
        The chosen cycle set; ``None`` means the default for the shape.
    cycles_from
        The origin of the cycle set, in words ("bidiagonal", a file's name, "drawn by hand").
    method, parameters
        The protection method and the parameters set for it (except cycles).
    seed, fresh
        A given seed; else True for fresh coins. By default coins follow from the house's key.
    policy
        The house's limits; ``None`` means those in force where the program runs.
    protected
        The result of the last run on this table and mechanism.
    released
        The opened release, in a reader project.
    published
        True if the current result has been written as a release bundle.
    priors
        The prior texts of ``user`` and ``intruder``.
    plan
        The margins to be released together.
    comparison
        The methods to be compared.
    """

    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    edited: bool = False
    notes: tuple[str, ...] = ()
    kept_totals: tuple[KeptTotal, ...] = field(default=(), repr=False)
    table: Table | None = None
    magnitudes: ChosenMagnitudes | None = field(default=None, repr=False)
    statuses: str = field(default="", repr=False)
    record_keys: Table | None = field(default=None, repr=False)
    key_range: int = KEY_MODULUS
    weights: DesignWeights | None = field(default=None, repr=False)
    at_risk: SmallCount = field(default_factory=SmallCount)
    people: People = field(default_factory=People)
    roles: Roles = NO_ROLES
    placement: Placement | None = None
    moves: MoveSet | None = None
    cycles_from: str = ""
    method: str = DEFAULT_METHOD
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    seed: int | None = field(default=None, repr=False)
    fresh: bool = False
    policy: AgencyPolicy | None = None
    protected: Protected | None = None
    released: Release | None = None
    published: bool = False
    priors: Mapping[str, str] = field(default_factory=lambda: PRIORS)
    plan: ReleasePlan = field(default_factory=ReleasePlan)
    comparison: ComparisonPlan = field(default_factory=ComparisonPlan)

    def __post_init__(self) -> None:
        if self.table is not None and self.released is not None:
            raise InputError(message("a project has an original or an opened release, not both"))

    def __repr__(self) -> str:
        # The generated form would show the seed and the coins.
        return f"<Project, {self.kind}, {self.table!r}>"

    @property
    def kind(self) -> Literal["empty", "house", "reader"]:
        """``house`` has the original; ``reader`` has only a bundle and is always public."""
        if self.table is not None:
            return "house"
        return "empty" if self.released is None else "reader"

    @property
    def measure(self) -> Measure:
        """Return what its table holds."""
        return "magnitudes" if self.of_magnitudes else "counts"

    @property
    def counted(self) -> Table:
        """The table, where it is one of counts.

        Raises
        ------
        InputError
            For a table of sums, whose numbers of contributors are another table.
        """
        if self.of_magnitudes:
            raise sums_not_counts(self.magnitudes.table.measure if self.magnitudes else "")
        return self.original

    def summed(self, measure: str) -> MagnitudeTable:
        """The table of sums of a measure, with who contributes to them.

        Raises
        ------
        InputError
            For a table of counts, and for one of another measure.
        """
        if self.magnitudes is None:
            raise counts_not_sums(measure)
        return of_measure(self.magnitudes.table, measure)

    @property
    def of_magnitudes(self) -> bool:
        """True if it is about a magnitude table, or a release of one."""
        return self.magnitudes is not None or (self.released is not None and bool(self.released.magnitudes))

    @property
    def protected_magnitudes(self) -> Protected | None:
        """The result of the last run on a magnitude table."""
        return None if self.magnitudes is None else self.protected

    @property
    def magnitude_release(self) -> Release | None:
        """The release of sums that a reader sees: the opened one, or the current result."""
        return self.release if self.of_magnitudes else None

    @property
    def left(self) -> bool:
        """True if what readers get is out: it was published here, or opened as its reader does."""
        return self.kind == "reader" or self.published

    @property
    def done(self) -> bool:
        """True if there is a result."""
        return self.protected is not None

    @property
    def original(self) -> Table:
        """The original table.

        Raises
        ------
        InputError
            When there is none.
        """
        if self.table is None:
            raise InputError(
                message("this release comes without its original")
                if self.kind == "reader"
                else message("no table is open"),
                hint=message("open a table first"),
            )
        return self.table

    @property
    def release(self) -> Release | None:
        """The release that a reader sees: the opened one, or the current result."""
        return self.released if self.protected is None else self.protected.release

    @property
    def shown_placement(self) -> Placement:
        """Return where the variables stand on the screen, as chosen or as usual."""
        return self.placement or Placement.of(self.domain)

    @property
    def domain(self) -> Domain:
        """The variables of the table, or of the opened release."""
        return self.original.domain if self.released is None else self.released.domain

    @property
    def cycles(self) -> MoveSet:
        """The cycle set: that of the release, the chosen one, or the default for the shape.

        Raises
        ------
        ParameterError
            When the shape allows no cycle (a variable with one category).
        InputError
            When no cycle set is chosen and the method takes none.
        """
        if self.released is not None:
            found = self.released.mechanism.parameters.get("cycles")
            if not isinstance(found, MoveSet):
                raise InputError(message("the release has no cycle set"))
            return found
        if self.moves is not None:
            return self.moves
        if not self.takes_cycles:
            raise InputError(message("the chosen method takes no cycles"))
        # Late: a table is opened, counted and converted without it.
        from tabprotect.engine.protection.cycle_runs.cycle_parameters import CYCLES

        return self.resolved[CYCLES]

    @property
    def resolved(self) -> Values:
        """All parameters as a run uses them: those left open follow from the kept margins.

        Raises
        ------
        ParameterError, InputError
            When they do not fit the table.
        """
        if self.released is not None:
            return self.released.mechanism.values
        if self.protected is not None:
            return Values(self.protected.record.parameters)
        return self.protection.resolve_for(self.problem, self.given)

    @property
    def kept(self) -> KeptMargins:
        """The margins kept according to the parameters, with their counts; cycles are designed for
        them."""
        return KeptMargins.of(kept_of(self.domain, self.parameters), self.original)

    @property
    def margins(self) -> MarginSet:
        """The margins kept exactly."""
        return self.cycles.margins if self.takes_cycles else all_margins(self.domain)

    @property
    def protection(self) -> Method:
        """The chosen method."""
        return methods()[self.method]

    @property
    def values(self) -> Values:
        """All parameters except the cycles, with defaults filled in."""
        given = {p.name: p.default for p in self.protection.parameters}
        given |= dict(self.parameters if self.released is None else self.released.mechanism.parameters)
        given.pop("cycles", None)
        return Values(given)

    @property
    def given(self) -> dict[str, object]:
        """Parameters as the method takes them, including the cycle set if it takes one."""
        given = dict(self.parameters)
        return given if self.moves is None or not self.takes_cycles else given | {"cycles": self.moves}

    @property
    def taken(self) -> Mapping[str, object]:
        """Parameters as a run takes them: what is given, or what takes the place of a method's own."""
        from tabprotect.engine.disclosure.ways import by_default

        return by_default(self.protection, self.problem, self.given, self.limits)

    @property
    def limits(self) -> AgencyPolicy:
        """The limits by which releases are judged."""
        return in_force() if self.policy is None else self.policy

    @property
    def against(self) -> str:
        """Say what stands against publishing the result, in words; empty if nothing does."""
        if self.protected is None:
            return ""
        # Late: a table is opened, counted and converted without it.
        from tabprotect.engine.disclosure.gate import against

        try:
            return against(self.protected, self.limits)
        except TabprotectError as error:
            return message("The policy of the house cannot be used: {error}", error)

    @property
    def acceptance_failure(self) -> str:
        """The method's own objection to the result, in words; empty if it has none."""
        done = self.protected
        if done is None or self.of_magnitudes or done.release.mechanism.method != self.method:
            return ""
        return self.protection.acceptance_failure(done.record.findings)

    @property
    def takes_cycles(self) -> bool:
        """True if the method has a cycle set among its parameters, and its rule takes cycles."""
        # Late: a table is opened, counted and converted without it.
        from tabprotect.engine.protection.cycle_runs.cycle_parameters import EXCHANGE

        drawn = None if self.protected is None else self.protected.release.mechanism.parameters
        return self.perturbs and (self.values if drawn is None else drawn).get("blocking") != EXCHANGE

    @property
    def perturbs(self) -> bool:
        """True if the method is cyclic perturbation by any of its rules."""
        parameters = () if self.of_magnitudes else self.protection.parameters
        return any(parameter.kind == "cycles" for parameter in parameters)

    @property
    def problem(self) -> Problem:
        """The table with all that a method takes besides its parameters."""
        return Problem(
            self.original,
            self.at_risk,
            self.title,
            statuses=self.statuses,
            metadata=self.said,
            record_keys=self.record_keys,
            key_range=self.key_range,
            weights=self.weights,
            people=self.people,
            roles=self.roles,
        )

    @property
    def said(self) -> dict[str, str]:
        """What the table says of itself: what is given for it, else what the house says of all its tables."""
        return {**self.limits.metadata, **self.metadata}

    @property
    def name(self) -> str:
        """The name inside the house: the title, or the last part of its source."""
        tail = self.source.replace("\\", "/").rpartition("/")[2]
        return self.title or tail.removeprefix("example:") or "untitled"

    def without_result(self) -> Project:
        """The project without its result, which does not belong to changed choices."""
        if not self.done and not self.published:
            return self
        return replace(self, protected=None, published=False)


def checked(project: Project) -> Project:
    """Return the project if all of it belongs to one table.

    Raises
    ------
    InputError, ValueError
        When a part belongs to another table.
    """
    if project.kind != "empty" and project.placement is not None:
        project.placement.check(project.domain)
    if project.moves is not None and project.moves.domain != project.domain:
        raise ValueError(message("a cycle set belongs to another table"))
    if project.plan.margins and not project.plan.fits(project.domain):
        raise ValueError(message("a release plan belongs to another table"))
    return project


TOLD: Mapping[str, tuple[ChangeName, ...]] = MappingProxyType(
    {
        "title": ("title",),
        "metadata": ("title",),
        "table": ("table",),
        "at_risk": ("at_risk",),
        "people": ("at_risk",),
        "roles": ("at_risk",),
        "placement": ("placement",),
        "moves": ("cycles",),
        "method": ("parameters",),
        "parameters": ("parameters",),
        "seed": ("parameters",),
        "fresh": ("parameters",),
        "policy": ("parameters",),
        "protected": ("release",),
        "released": ("table", "cycles", "release"),
        "magnitudes": ("table", "at_risk", "parameters"),
        "published": ("release",),
        "priors": ("priors",),
        "plan": ("plan",),
        "comparison": ("comparison",),
        # These come with a table.
        **dict.fromkeys(
            (
                "source",
                "edited",
                "notes",
                "kept_totals",
                "statuses",
                "record_keys",
                "key_range",
                "weights",
                "cycles_from",
            ),
            (),
        ),
    }
)
"""The changes that a window is told of when a field differs."""


def changes(before: Project, after: Project) -> Changes:
    """The differences between two projects, as names that a window can listen to."""
    found = {
        name
        for field_name, in_fields in TOLD.items()
        if not _same(getattr(before, field_name), getattr(after, field_name))
        for name in in_fields
    }
    if before.moves is after.moves is None and _shape(before) != _shape(after):
        found.add("cycles")
    return frozenset(found)


def _same(a: object, b: object) -> bool:
    # Large values compare slowly, and a command that does not change them passes them on.
    large = isinstance(a, (Table, MoveSet, Protected, Release))
    return a is b or (not large and a == b)


def _shape(project: Project) -> tuple[int, ...]:
    return () if project.table is None else project.table.domain.shape
