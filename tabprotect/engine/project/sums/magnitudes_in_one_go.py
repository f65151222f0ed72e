"""A magnitude table protected, audited and published in one go, for shell and library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tabprotect.engine import house
from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.sums.magnitude_bundle import read_release
from tabprotect.engine.disclosure.magnitude_verdict import (
    MOST_HIDDEN,
    ContributorsAudit,
    MagnitudeVerdict,
    limits_of,
    magnitude_verdict,
)
from tabprotect.engine.disclosure.policy import HousePolicy, in_force
from tabprotect.engine.disclosure.together import checked
from tabprotect.engine.errors import InputError, RefusedError
from tabprotect.engine.magnitudes.methods.key_noise import KeyNoise, keyed
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw, multiplied
from tabprotect.engine.magnitudes.methods.sums_methods import sums_method
from tabprotect.engine.magnitudes.patterns.pattern import Pattern, Wanted, suppress
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums, SumsGate
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.releasing.coins import admit_key, admit_seed
from tabprotect.engine.project.releasing.magnitude_release import (
    LeavingSums,
    Left,
    counts_before,
    decided,
    leave,
    other_releases,
    sums_beside,
)
from tabprotect.engine.protection.suppressing.given_statuses import text_of
from tabprotect.engine.protection.suppressing.given_sums import given_sums
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.left_out import Kind, kinds
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, rules_of
from tabprotect.languages.messages import message, plural


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How a magnitude table is protected.

    Attributes
    ----------
    method
        One of :data:`~tabprotect.engine.magnitudes.methods.sums_methods.SUMS_METHODS`.
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
    publish
        What is published beside the sums: ``n``, ``mean``.
    """

    method: str = "suppression"
    rules: tuple[MagnitudeRule, ...] = ()
    weights: str = "sample"
    parameters: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    like: Path | None = None
    seed: int | None = None
    publish: tuple[str, ...] = ()


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
                plural(
                    int(self.pattern.primary.sum()),
                    "{primary:,} sum is hidden as unsafe, {secondary:,} more to protect it, of {cells:,}.",
                    "{primary:,} sums are hidden as unsafe, {secondary:,} more to protect them, of {cells:,}.",
                    int(self.pattern.primary.sum()),
                    int(self.pattern.secondary.sum()),
                    self.verdict.cells,
                )
            ]
        open_ends = self.figures.get("not_proved")
        more = [str(one) for one in open_ends] if isinstance(open_ends, list) else []
        return [*said, self.verdict.staff_sentence, *more]


def protect_magnitudes(
    table: MagnitudeTable, asked: Asked, leaving: LeavingSums | None = None, progress: Progress = SILENT
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
    policy = in_force() if leaving is None or leaving.policy is None else leaving.policy
    asked = with_house_rules(asked, policy)
    done = protected_sums(table, asked, policy, progress)
    if leaving is None:
        return done
    return published_sums(table, asked, done, replace(leaving, policy=policy))


def protected_sums(
    table: MagnitudeTable, asked: Asked, policy: HousePolicy, progress: Progress = SILENT
) -> Done:
    """Protect a table, and audit that; nothing is refused.

    Raises
    ------
    ParameterError
        For a method or a parameter that there is not.
    InputError
        When last year's bundle is of another table.
    Interrupted
    """
    sums_method(asked.method).of(asked.parameters)
    asked = replace(with_house_rules(asked, policy), publish=checked(asked.publish, table))
    work = suppressed if asked.method == "suppression" else with_noise
    return work(table, asked, limits_of(policy), progress)


def published_sums(table: MagnitudeTable, asked: Asked, done: Done, leaving: LeavingSums) -> Done:
    """Write a protected table with its dossier, if it may leave, and enter it in the register.

    Parameters
    ----------
    asked
        With the rules of the house among its rules.

    Raises
    ------
    RefusedError
        When it may not leave.
    InputError
        When a file cannot be written.
    """
    policy = leaving.policy or in_force()
    seeded: tuple[str, ...] = ()
    if asked.method != "suppression":
        seeded = (
            admit_key(leaving.accept, leaving.register)
            if asked.seed is None
            else admit_seed(Randomness.seeded(asked.seed), policy, leaving.accept, ())
        )
    found = with_earlier(table, done, leaving.register)
    # Why it leaves once more answers for what left before, and for nothing else.
    beside = done.verdict.passed is True and found.passed is None
    accept = leaving.accept or (leaving.again if beside else "")
    try:
        found, decisions = decided(found, policy, accept, HINTS[asked.method])
    except RefusedError as error:
        error.figures = {**done.figures, "verdict": found.as_json(), "confidential": True}
        raise
    release = replace(done.release, gate=found.gate)
    decisions = (*seeded, *decisions)
    left = leave(table, release, leaving, record_of(asked, done, found), decisions)
    return replace(done, release=release, verdict=found, decisions=decisions, left=left)


def record_of(asked: Asked, done: Done, verdict: MagnitudeVerdict) -> dict[str, object]:
    """What a dossier keeps of a run."""
    return {
        "method": asked.method,
        "rules": [rule.written for rule in asked.rules],
        "weights": asked.weights,
        "parameters": dict(asked.parameters),
        "publish": list(asked.publish),
        "verdict": verdict.as_json() | {"staff": verdict.staff_sentence},
        **done.figures,
    }


def with_earlier(table: MagnitudeTable, done: Done, register: str | None) -> MagnitudeVerdict:
    """The verdict, with what left before among what it leaves out."""
    found, counts = done.verdict, counts_before(table, done.release, register)
    # True counts tell readers how many contribute, as they are taken to know anyway; others were
    # changed to protect somebody, and what they and the sums tell together was not weighed.
    unweighed = other_releases(table, done.release, register) or not all(counts)
    if unweighed or sums_beside(table, done.release, register):
        found = replace(found, left_out=kinds(found.left_out, ["other_releases"]))
    return replace(found, numbers=max(found.numbers, len(table.cells) if counts else 0))


HINTS = {
    "suppression": message(
        "free cells that are frozen, use coarser categories, or accept it: --accept REASON"
    ),
    "multiplicative_noise": message("take more noise, or accept it: --accept REASON"),
    "cell_key": message("take multiplicative_noise, or accept it: --accept REASON"),
}
"""What to do where a release may not leave."""


def with_house_rules(asked: Asked, policy: HousePolicy) -> Asked:
    """With the rules of the house beside those that are asked for."""
    house_rules = rules_of(policy.rules) if policy.rules else ()
    rules = tuple(dict.fromkeys((*asked.rules, *house_rules)))
    if asked.method == "suppression" and not rules:
        rules_of(())
    return replace(asked, rules=rules)


def suppressed(table: MagnitudeTable, asked: Asked, limits: SumsGate, progress: Progress = SILENT) -> Done:
    """The sums with what has to be hidden hidden."""
    wanted = wanted_of(table, asked)
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
        narrow=_narrow(table, release, pattern.primary, limits),
    )
    untried: tuple[Kind, ...] = () if pattern.everybody else ("contributors",)
    found = magnitude_verdict(release, limits, audit=audit, more=untried)
    figures = {
        "primary": audit.unsafe,
        "secondary": int(pattern.secondary.sum()),
        "hidden_value": table.shown(int(cells.value[pattern.secondary].sum())),
        "broken": audit.broken,
        "audit": audit.as_json(),
        "declared_safe": pattern.declared,
        "not_proved": not_proved(table, pattern.declared),
    }
    return Done(release, found, figures, pattern=pattern)


def _narrow(table: MagnitudeTable, release: ReleasedSums, unsafe: Bools, limits: SumsGate) -> int:
    """In how many hidden sums a guess of the largest contribution comes near with more than the limit."""
    if int(release.hidden.sum()) > MOST_HIDDEN:
        return 0
    # Late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.magnitudes.readers.beliefs import second_beliefs
    from tabprotect.engine.magnitudes.readers.contributors import contributors

    cells = np.flatnonzero(unsafe & release.hidden)
    parts = np.zeros((len(cells), 2), dtype=np.int64)
    for n, cell in enumerate(cells.tolist()):
        sizes = [abs(one.own) for one in contributors(table, cell)]
        whole = sum(sizes) if table.largest is None else int(table.cells.value[cell])
        parts[n] = sum(sizes[1:2]), whole - sum(sizes[:2])
    found = second_beliefs(release, cells, parts, limits.within / 100)
    return int((found > limits.belief_limit).sum())


def wanted_of(table: MagnitudeTable, asked: Asked) -> Wanted:
    """How a pattern is chosen, from what is asked.

    Raises
    ------
    InputError
        For a file of given statuses that cannot be read.
    """
    given, zeros = asked.parameters, asked.parameters.get("zeros", "published")
    text = table.given + ("" if "statuses" not in given else text_of(given["statuses"]))
    return Wanted(
        rules=asked.rules,
        weights=asked.weights,
        cost=given.get("cost", "value"),
        frozen=None if asked.like is None else published_before(table, asked.like),
        decided=given_sums(text, table) if text.strip() else None,
        zeros=0 if zeros == "published" else int(zeros) * 10**table.decimals,
        missing_safe=given.get("missing") == "safe",
    )


def not_proved(table: MagnitudeTable, declared: int) -> list[str]:
    """What the audit of a pattern leaves open, in words."""
    said = []
    if table.largest is not None:
        said.append(
            message(
                "not proved: the table names the {n} largest contributions of each sum, and not who they "
                "are; what somebody knows who contributes to several sums was not tried",
                table.largest.ranks,
            )
        )
    if declared:
        said.append(
            plural(
                declared,
                "not proved: {n:,} unsafe sum was declared safe",
                "not proved: {n:,} unsafe sums were declared safe",
                declared,
            )
        )
    return said


def with_noise(table: MagnitudeTable, asked: Asked, limits: SumsGate, progress: Progress = SILENT) -> Done:
    """The sums with noise that follows from a key of the house, and what an outsider believes."""
    if table.largest is not None:
        raise InputError(
            message("noise is put on each contribution, and the table names the largest only"),
            hint=message("tabulate the records, or hide sums: --method suppression"),
        )
    unsafe = np.ones(len(table.cells), dtype=bool)
    if asked.rules:
        unsafe = sensitive_cells(table, asked.rules, weights=asked.weights).unsafe
    progress.report(message("adding noise"), 0.0)
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
    units = table.cells.units
    # Halves are rounded away from 0.
    means = np.sign(values) * ((2 * np.abs(values) + units) // (2 * units))
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
        units=units if "n" in asked.publish else None,
        means=means if "mean" in asked.publish else None,
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
            message("{like} is of other variables", like.name),
            hint=message("give last year's bundle of this table"),
        )
    before = {tuple(sorted(last.index(number).items())) for number in np.flatnonzero(~last.hidden).tolist()}
    return np.array([tuple(sorted(table.index(n).items())) in before for n in range(len(table.cells))])
