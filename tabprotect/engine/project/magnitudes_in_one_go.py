"""A magnitude table protected, audited and published in one go, for shell and library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tabprotect.engine import house
from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.magnitude_bundle import read_release
from tabprotect.engine.disclosure.magnitude_verdict import (
    ContributorsAudit,
    MagnitudeVerdict,
    limits_of,
    magnitude_verdict,
)
from tabprotect.engine.disclosure.policy import HousePolicy, in_force
from tabprotect.engine.errors import InputError, ParameterError, RefusedError
from tabprotect.engine.magnitudes.key_noise import KeyNoise, keyed
from tabprotect.engine.magnitudes.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.multipliers import MultiplierLaw, multiplied
from tabprotect.engine.magnitudes.pattern import Pattern, Wanted, suppress
from tabprotect.engine.magnitudes.released_sums import ReleasedSums, SumsGate
from tabprotect.engine.magnitudes.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.releasing.coins import admit_key, admit_seed
from tabprotect.engine.project.releasing.magnitude_release import (
    LeavingSums,
    Left,
    decided,
    leave,
    other_releases,
)
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.left_out import Kind, kinds
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, rules_of
from tabprotect.languages.said import joined, say

METHODS = ("suppression", "multiplicative_noise", "cell_key")
"""The methods that protect magnitudes."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How a magnitude table is protected.

    Attributes
    ----------
    method
        One of :data:`METHODS`.
    rules, weights
        Confidential.
    parameters
        Of the method, as texts.
    title
        For the reader; published.
    like
        Last year's bundle: what was published then is published again unless unsafe.
    seed
        In place of the key of the house, to repeat noise.
    """

    method: str = "suppression"
    rules: tuple[MagnitudeRule, ...] = ()
    weights: str = "sample"
    parameters: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    like: Path | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Done:
    """What was protected. Confidential.

    Attributes
    ----------
    release
    verdict
        With what was tried with the contributions.
    figures
        For programs.
    decisions
        Taken against the program's advice.
    left
        The bundle's SHA-256, and what left before.
    pattern
        What is hidden and why; ``None`` with noise.
    """

    release: ReleasedSums
    verdict: MagnitudeVerdict
    figures: Mapping[str, object]
    decisions: tuple[str, ...] = ()
    left: Left = field(default_factory=lambda: Left(""))
    pattern: Pattern | None = None

    @property
    def sentences(self) -> list[str]:
        """For staff."""
        said = []
        if self.pattern is not None:
            said = [
                say(
                    "{primary:,} sums are hidden as unsafe, {secondary:,} more to protect them, of {cells:,}.",
                    int(self.pattern.primary.sum()),
                    int(self.pattern.secondary.sum()),
                    self.verdict.cells,
                )
            ]
        return [*said, self.verdict.staff_sentence]


def protect_magnitudes(
    table: MagnitudeTable,
    asked: Asked,
    leaving: LeavingSums | None = None,
    progress: Progress = SILENT,
) -> Done:
    """Protect a table and judge that; where it goes somewhere, write it if it may leave.

    Parameters
    ----------
    leaving
        ``None`` to look at it alone: nothing is refused then.

    Raises
    ------
    ParameterError
        For a method or a parameter that there is not.
    RefusedError
        When it may not leave.
    InputError
        When last year's bundle is of another table, or a file cannot be written.
    """
    if asked.method not in METHODS:
        raise ParameterError(
            {"method": say("{method} does not protect magnitudes", repr(asked.method))},
            hint=say("choose {names}", joined(METHODS, ", ")),
        )
    policy = in_force() if leaving is None or leaving.policy is None else leaving.policy
    asked = _with_rules(asked, policy)
    work = suppressed if asked.method == "suppression" else with_noise
    done = work(table, asked, limits_of(policy), progress)
    if leaving is None:
        return done
    leaving = replace(leaving, policy=policy)
    seeded: tuple[str, ...] = ()
    if asked.method != "suppression":
        seeded = (
            admit_key(leaving.accept, leaving.register)
            if asked.seed is None
            else admit_seed(Randomness.seeded(asked.seed), policy, leaving.accept, ())
        )
    others = other_releases(table, done.release, leaving.register)
    found = done.verdict
    if others:
        found = replace(found, left_out=kinds(found.left_out, ["other_releases"]))
    accept = leaving.accept or leaving.again
    try:
        found, decisions = decided(found, policy, accept, HINTS[asked.method])
    except RefusedError as error:
        error.figures = {**done.figures, "verdict": found.as_json(), "confidential": True}
        raise
    release = replace(done.release, gate=found.gate)
    decisions = (*seeded, *decisions)
    record = {
        "method": asked.method,
        "rules": [_written(rule) for rule in asked.rules],
        "weights": asked.weights,
        "parameters": dict(asked.parameters),
        "verdict": found.as_json() | {"staff": found.staff_sentence},
        **done.figures,
    }
    left = leave(table, release, leaving, record, decisions)
    return replace(done, release=release, verdict=found, decisions=decisions, left=left)


HINTS = {
    "suppression": say(
        "free cells that are frozen, use coarser categories, or accept it: --accept REASON"
    ),
    "multiplicative_noise": say("take more noise, or accept it: --accept REASON"),
    "cell_key": say("take multiplicative_noise, or accept it: --accept REASON"),
}
"""What to do where a release may not leave."""


def _with_rules(asked: Asked, policy: HousePolicy) -> Asked:
    """With the rules of the house beside those that are asked for."""
    house_rules = rules_of(policy.rules) if policy.rules else ()
    rules = tuple(dict.fromkeys((*asked.rules, *house_rules)))
    if asked.method == "suppression" and not rules:
        rules_of(())
    return replace(asked, rules=rules)


def suppressed(
    table: MagnitudeTable, asked: Asked, limits: SumsGate, progress: Progress = SILENT
) -> Done:
    """The sums with what has to be hidden hidden."""
    unknown = asked.parameters.keys() - {"cost"}
    if unknown:
        raise ParameterError({min(unknown): say("suppression of magnitudes has no such parameter")})
    wanted = Wanted(
        rules=asked.rules,
        weights=asked.weights,
        cost=asked.parameters.get("cost", "value"),
        frozen=None if asked.like is None else published_before(table, asked.like),
    )
    pattern = suppress(table, wanted, progress)
    cells = table.cells
    release = _release(table, asked, np.where(pattern.hidden, 0, cells.value), pattern.hidden)
    tally = pattern.tally
    audit = ContributorsAudit(
        tally.readers,
        tally.items,
        tally.exactly,
        tally.within,
        len(pattern.broken),
        int(pattern.primary.sum()),
        audited=tally.audited,
        to_audit=tally.unsafe,
        share=_share(asked.rules),
    )
    untried: tuple[Kind, ...] = () if pattern.everybody else ("contributors",)
    found = magnitude_verdict(release, limits, audit=audit, more=untried)
    figures = {
        "primary": audit.unsafe,
        "secondary": int(pattern.secondary.sum()),
        "hidden_value": table.shown(int(cells.value[pattern.secondary].sum())),
        "broken": audit.broken,
        "audit": audit.as_json(),
    }
    return Done(release, found, figures, pattern=pattern)


def with_noise(
    table: MagnitudeTable, asked: Asked, limits: SumsGate, progress: Progress = SILENT
) -> Done:
    """The sums with noise that follows from a key of the house, and what an outsider believes."""
    unsafe = np.ones(len(table.cells), dtype=bool)
    if asked.rules:
        unsafe = sensitive_cells(table, asked.rules, weights=asked.weights).unsafe
    progress.report(say("adding noise"), 0.0)
    secret = house.key() if asked.seed is None else sha256(str(asked.seed).encode()).encode()
    if asked.method == "multiplicative_noise":
        law = MultiplierLaw.of(asked.parameters)
        values, stated = multiplied(table, law, secret), law.as_json()
    else:
        noise = KeyNoise.of(asked.parameters)
        extra = unsafe if asked.rules else ~unsafe
        values, stated = keyed(table, noise, secret, extra), noise.as_json()
    release = _release(table, asked, values, np.zeros(len(values), dtype=bool), stated)
    audit = ContributorsAudit(1, 0, 0, 0, 0, int(unsafe.sum()) if asked.rules else 0)
    found = magnitude_verdict(release, limits, audit=audit, unsafe=unsafe)
    assert found.audit is not None
    figures: dict[str, object] = {
        "primary": found.audit.unsafe,
        "secondary": 0,
        "hidden_value": 0,
        "broken": found.audit.known,
        "audit": found.audit.as_json(),
        "belief": round(found.worst or 0.0, 6),
        "within": limits.within,
        "parameters": dict(release.parameters),
    }
    return Done(release, found, figures)


def _release(
    table: MagnitudeTable,
    asked: Asked,
    values: Ints,
    hidden: Bools,
    stated: Mapping[str, float | str | bool] | None = None,
) -> ReleasedSums:
    return ReleasedSums(
        table.variables,
        table.measure,
        table.decimals,
        table.cells.key,
        values,
        hidden,
        asked.method,
        stated or {},
        asked.title,
        table.weighted,
    )


def _share(rules: Sequence[MagnitudeRule]) -> str:
    """How near is too near by the p rule, in percent; empty without one."""
    return next((f"{float(rule.numbers[0]):g}" for rule in rules if rule.name == "p"), "")


def published_before(table: MagnitudeTable, like: Path) -> Bools:
    """The cells that a bundle published.

    Raises
    ------
    InputError
        When it is of other variables.
    """
    last = read_release(like)
    if [v.name for v in last.variables] != [v.name for v in table.variables]:
        raise InputError(
            say("{like} is of other variables", like.name),
            hint=say("give last year's bundle of this table"),
        )
    before = {
        tuple(sorted(last.index(number).items()))
        for number in np.flatnonzero(~last.hidden).tolist()
    }
    return np.array(
        [tuple(sorted(table.index(n).items())) in before for n in range(len(table.cells))]
    )


def _written(rule: MagnitudeRule) -> str:
    numbers = ",".join(f"{float(number):g}" for number in rule.numbers)
    return f"{rule.name}={numbers}" + (f",coalition={rule.coalition}" if rule.coalition > 1 else "")
