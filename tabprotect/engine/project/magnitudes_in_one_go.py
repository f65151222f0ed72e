"""A magnitude table protected, audited and published in one go, for shell and library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tabprotect.engine import house
from tabprotect.engine.arrays import Bools
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.magnitude_bundle import dossier_bytes, public_bytes, read_release
from tabprotect.engine.errors import InputError, ParameterError, RefusedError
from tabprotect.engine.magnitudes.beliefs import ContributorView, beliefs
from tabprotect.engine.magnitudes.key_noise import KeyNoise, keyed
from tabprotect.engine.magnitudes.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.multipliers import MultiplierLaw, multiplied
from tabprotect.engine.magnitudes.pattern import Pattern, Wanted, suppress
from tabprotect.engine.magnitudes.released_sums import ReleasedSums
from tabprotect.engine.magnitudes.sensitive_cells import sensitive_cells
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.said import joined, plural, say

METHODS = ("suppression", "multiplicative_noise", "cell_key")
"""The methods that protect magnitudes."""

CERTAIN = 1 - 1e-9
"""The belief from which on a guess is no guess."""


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
    accept
        Why a pattern that is broken goes out all the same.
    seed
        In place of the key of the house, to repeat noise.
    """

    method: str = "suppression"
    rules: tuple[MagnitudeRule, ...] = ()
    weights: str = "sample"
    parameters: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    like: Path | None = None
    accept: str = ""
    seed: int | None = None


@dataclass(frozen=True)
class Done:
    """What was protected. Confidential.

    Attributes
    ----------
    release
    figures
        For programs.
    sentences
        For staff.
    fingerprint
        SHA-256 of the bundle.
    """

    release: ReleasedSums
    figures: Mapping[str, object]
    sentences: Sequence[str]
    fingerprint: str = ""


def protect_magnitudes(
    table: MagnitudeTable,
    asked: Asked,
    out: Path | None = None,
    dossier: Path | None = None,
    progress: Progress = SILENT,
) -> Done:
    """Protect a table; with ``out``, write the bundle, and with ``dossier`` what stays.

    Raises
    ------
    ParameterError
        For a method or a parameter that there is not.
    RefusedError
        When a contributor still comes too near another, and nothing is accepted.
    InputError
        When last year's bundle is of another table, or a file cannot be written.
    """
    if asked.method not in METHODS:
        raise ParameterError(
            {"method": say("{method} does not protect magnitudes", repr(asked.method))},
            hint=say("choose {names}", joined(METHODS, ", ")),
        )
    work = suppressed if asked.method == "suppression" else with_noise
    done = work(table, asked, progress)
    data = public_bytes(done.release)
    if out is not None:
        write_bytes(out, data)
    if dossier is not None:
        kept = {
            "rules": [_written(rule) for rule in asked.rules],
            "weights": asked.weights,
            "parameters": dict(asked.parameters),
            "accept": asked.accept,
            "release": sha256(data),
            **done.figures,
        }
        write_bytes(dossier, dossier_bytes(kept))
    return Done(done.release, done.figures, done.sentences, sha256(data))


def suppressed(table: MagnitudeTable, asked: Asked, progress: Progress = SILENT) -> Done:
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
    sentences = told(table, pattern, asked.rules)
    if pattern.broken and not asked.accept:
        raise RefusedError(
            sentences[-1],
            hint=say(
                "free cells that are frozen, use coarser categories, or accept it: --accept REASON"
            ),
        )
    cells = table.cells
    release = ReleasedSums(
        table.variables,
        table.measure,
        table.decimals,
        cells.key,
        np.where(pattern.hidden, 0, cells.value),
        pattern.hidden,
        "suppression",
        {},
        asked.title,
    )
    tally = pattern.tally
    figures: dict[str, object] = {
        "primary": int(pattern.primary.sum()),
        "secondary": int(pattern.secondary.sum()),
        "hidden_value": table.shown(int(cells.value[pattern.secondary].sum())),
        "broken": len(pattern.broken),
        "audit": {
            "readers": len(tally.readers),
            "items": tally.items,
            "exactly": tally.exactly,
            "within": tally.within,
        },
    }
    return Done(release, figures, sentences)


def with_noise(table: MagnitudeTable, asked: Asked, progress: Progress = SILENT) -> Done:
    """The sums with noise that follows from a key of the house, and what an outsider believes.

    Raises
    ------
    RefusedError
        When somebody is certain to come too near to an unsafe sum, and nothing is accepted.
    """
    unsafe = np.zeros(len(table.cells), dtype=bool)
    if asked.rules:
        unsafe = sensitive_cells(table, asked.rules, weights=asked.weights).unsafe
    progress.report(say("adding noise"), 0.0)
    release = _noisy(table, asked, unsafe)
    within = next((float(rule.numbers[0]) for rule in asked.rules if rule.name == "p"), 10.0)
    found = list(beliefs(release, ContributorView(), within / 100))
    certain = sum(one.belief >= CERTAIN for one in found if unsafe[one.cell])
    worst = max((one.belief for one in found), default=0.0)
    figures: dict[str, object] = {
        "primary": int(unsafe.sum()),
        "secondary": 0,
        "hidden_value": 0,
        "broken": certain,
        "audit": {"readers": 1, "items": len(found), "exactly": 0, "within": certain},
        "belief": round(worst, 6),
        "within": within,
        "parameters": dict(release.parameters),
    }
    said = say(
        "An outsider's best guess of the value of one who is alone in a cell comes within "
        "{within:g} % with a probability of {worst:.1%}. Other readers were not tried.",
        within,
        worst,
    )
    if certain and not asked.accept:
        raise RefusedError(said, hint=say("take more noise, or accept it: --accept REASON"))
    return Done(release, figures, [said])


def _noisy(table: MagnitudeTable, asked: Asked, unsafe: Bools) -> ReleasedSums:
    secret = house.key() if asked.seed is None else sha256(str(asked.seed).encode()).encode()
    if asked.method == "multiplicative_noise":
        law = MultiplierLaw.of(asked.parameters)
        values, stated = multiplied(table, law, secret), law.as_json()
    else:
        noise = KeyNoise.of(asked.parameters)
        values, stated = keyed(table, noise, secret, unsafe), noise.as_json()
    return ReleasedSums(
        table.variables,
        table.measure,
        table.decimals,
        table.cells.key,
        values,
        np.zeros(len(values), dtype=bool),
        asked.method,
        stated,
        asked.title,
    )


def told(table: MagnitudeTable, pattern: Pattern, rules: Sequence[MagnitudeRule]) -> list[str]:
    """What the verdict's card says to staff."""
    tried = len(pattern.tally.readers)
    share = next((rule.numbers[0] for rule in rules if rule.name == "p"), None)
    near = (
        say("too near to another's value")
        if share is None
        else say("within {share} % of another's value", f"{float(share):g}")
    )
    lines = [
        say(
            "{primary:,} sums are hidden as unsafe, {secondary:,} more to protect them, of {cells:,}.",
            int(pattern.primary.sum()),
            int(pattern.secondary.sum()),
            len(table.cells),
        )
    ]
    if not pattern.broken:
        lines.append(
            say(
                "Nobody among {tried:,} businesses and groups tried could come {near}.", tried, near
            )
        )
    else:
        lines.append(
            plural(
                len(pattern.broken),
                "{broken:,} sum is not protected: somebody could come {near}",
                "{broken:,} sums are not protected: somebody could come {near}",
                len(pattern.broken),
                near,
            )
        )
    return lines


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
