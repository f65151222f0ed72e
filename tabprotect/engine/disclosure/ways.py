"""Which settings are drawn for a table, one after the other.

Most often a method's default settings follow from the sums that it publishes exactly, and pass. Whether
they do is foreseen on tables drawn from these sums, or from the single counts that are published exactly:
whoever reads the release has them, and foresees the same. Where all of those pass, the settings are drawn up to the stated number of times. Where some do
not, the settings are the first entry of a stated list, with the remedy that passes most often and states
the same exactly as the second; it begins at either by the toss of a coin. Where hardly any would pass and
there is no such remedy, nothing is drawn: that tells nothing, and is remembered nowhere.

Before all of that other settings may take the place of a method's own, where these would not pass: that is
foreseen from the sums that both keep, and so is no word on any other.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tabprotect.engine.disclosure.choosing.acceptance_probability import (
    FEW,
    LARGE,
    SYNTHETIC,
    Setting,
    chance,
    judged_trials,
    may_pass,
    problems_around,
    remedies,
)
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import attempted
from tabprotect.engine.fitting.synthetic_tables import shrunk, spread_part
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem, StaffVerdict
from tabprotect.engine.protection.remedy import Otherwise
from tabprotect.engine.protection.simulate import Runs, trial_coins, trial_generator
from tabprotect.engine.protection.subtables import GROUPINGS, KEEP
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Gate, RefusedDraws
from tabprotect.engine.release.stated_list import StatedList
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

EVEN = (0.5, 0.5)
"""The chance to begin at each of two entries: the second moves odds by a factor of two at most."""

START = 0
"""The number of the draw that says where a list begins: those of releases are counted from 1."""


UNSURE = 32
"""Cells up to which it is foreseen what passes, of those whose count no release states exactly where no
margin is kept: of more the default settings pass, and to foresee it takes longer than to draw."""

FORESEEN, TOO_MANY = (2_500, 10_000), (100_000, 20_000)
"""Cells of the tables on which the default settings are tried before others take their place, parts of
larger ones; and the cells beyond which the others are taken untried, as cycles would take minutes. Each in
three ways, and in more, where fewer cells of a part are like those of the whole."""


_RECENT: deque[tuple[weakref.ref[Table], tuple[object, ...], Mapping[str, object]]] = deque(maxlen=32)
"""What was taken lately by default: it is asked for when a run is shown, and when it is made."""


def by_default(
    method: Method,
    problem: Problem,
    given: Mapping[str, object],
    policy: AgencyPolicy,
    progress: Progress = SILENT,
) -> Mapping[str, object]:
    """What is given; for whoever gives nothing, what takes the place of settings that would not pass."""
    if any(value is not None for value in given.values()):
        return given
    table, asked = problem.table, (method.name, problem.at_risk, policy.limits_for(problem))
    for whose, what, known in tuple(_RECENT):
        if whose() is table and what == asked:
            return {**given, **known}
    other = method.otherwise(problem)
    keeps = other is None or _would_pass(method, problem, other, policy, progress)
    found: Mapping[str, object] = {} if other is None or keeps else other.parameters
    _RECENT.append((weakref.ref(table), asked, found))
    return {**given, **found}


def _would_pass(
    method: Method, problem: Problem, other: Otherwise, policy: AgencyPolicy, progress: Progress
) -> bool:
    """Whether the default settings pass on each of a few tables around the sums that both keep; public."""
    domain = problem.table.domain
    part, most = (of_ways[domain.ndim > 3] for of_ways in (FORESEEN, TOO_MANY))
    if domain.size > most:
        return False
    expected = other.expected.reshape(domain.shape)
    if domain.size > part:
        domain = Domain.of_shape(shrunk(domain.shape, part))
        expected = spread_part(expected, domain.shape)
    coins = trial_generator("otherwise", other.sums.tobytes())
    runs = Runs(FEW, 2, FORESEEN[0]).of_cost(domain.size)
    for table in problems_around(expected.reshape(-1), domain, problem.at_risk, runs, coins):
        values = attempted(partial(method.resolve_for, table, {}, progress))
        if not isinstance(values, Values):
            return False
        setting = Setting(method, values, alone_of(policy.limits_for(table)))
        judged = [found for _, found in judged_trials(setting, table, coins=coins, progress=progress)]
        if not all(isinstance(found, StaffVerdict) and found.passed for found in judged):
            return False
    return True


def alone_of(limits: Gate) -> Gate:
    """The limits without what was refused before."""
    return replace(limits, changed=False, refused=())


@dataclass(frozen=True, eq=False)
class Ways:
    """The settings to be drawn.

    Attributes
    ----------
    settings
        One of each entry; the same for every draw where there is no list.
    limits
        By which they are judged.
    listed
        The list, as a refusal of all of it is stated; ``None`` without one.
    hopeless
        Whether nothing is to be drawn.
    """

    settings: tuple[Values, ...]
    limits: Gate
    listed: StatedList | None = None
    hopeless: bool = False

    @classmethod
    def of(
        cls,
        method: Method,
        problem: Problem,
        given: Mapping[str, object],
        values: Values,
        limits: Gate,
        progress: Progress = SILENT,
    ) -> Ways:
        """Foresee what passes, where the settings are those that a method takes by itself."""
        one, domain = cls((values,), limits), problem.table.domain
        kept, told = method.kept(domain, values), method.told(problem.table, values)
        chosen = {name for name in given if given[name] is not None}
        public = kept is not None or (told is not None and 0 < (told[0] < told[1]).sum() <= UNSURE)
        if domain.size > LARGE or not public or chosen - {KEEP.name, GROUPINGS.name}:
            return one
        alone = Setting(method, values, alone_of(limits))
        most = SYNTHETIC if kept is None else FEW
        foreseen = chance(alone, problem, on_this_table=False, most=most, progress=progress).synthetic
        if foreseen in (None, 1.0):
            return one
        for remedy in remedies(method, problem, Values(values), alone.limits, progress):
            other = method.resolve_for(problem, {**values, **remedy.parameters}, progress)
            alike = np.array_equal(told, method.told(problem.table, other))  # type: ignore[arg-type]
            if alike and method.kept(domain, other) == kept:
                return replace(
                    one, settings=(values, other), listed=StatedList(({}, remedy.parameters), EVEN)
                )
        hopeless = kept is not None and not foreseen and not may_pass(alone, problem, progress)
        return replace(one, hopeless=hopeless)

    @property
    def of_refusal(self) -> Gate:
        """The limits as a refusal of all of it states them."""
        if self.listed is None:
            return self.limits
        return replace(self.limits, attempts_at_most=1, listed=self.listed)

    def after_refusal(self, method: Method, problem: Problem, progress: Progress = SILENT) -> Gate:
        """The limits of what is drawn for the table once all of it is refused."""
        stated, _ = method.perform(problem, self.settings[0], trial_coins(problem.table.domain), progress)
        gate = replace(alone_of(self.of_refusal), passed=False, left_out=(), reason=False)
        mechanism = replace(stated.mechanism, gate=gate)
        refused = (*self.limits.refused, RefusedDraws(gate.attempts_at_most, mechanism))
        return replace(self.limits, changed=True, refused=refused)

    def draws(self, randomness: Randomness, at_most: int | None = None) -> Iterator[tuple[int, Values, Gate]]:
        """The draws to be made until one passes: the number of each, its settings and limits."""
        if self.listed is None:
            for number in range(1, (at_most or self.limits.attempts_at_most) + 1):
                yield number, self.settings[0], self.limits
            return
        begin = int(np.searchsorted(np.cumsum(self.listed.start), randomness.generator(START).random()))
        for number in range(begin + 1, len(self.settings) + 1):
            listed = replace(self.listed, entry=number)
            yield number, self.settings[number - 1], replace(self.limits, attempts_at_most=1, listed=listed)
