"""A magnitude table protected, audited and published in one go, for shell and library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.magnitude_bundle import dossier_bytes, public_bytes, read_release
from tabprotect.engine.errors import InputError, ParameterError, RefusedError
from tabprotect.engine.magnitudes.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.pattern import Pattern, Wanted, suppress
from tabprotect.engine.magnitudes.released_sums import ReleasedSums
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.said import joined, plural, say

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
    accept
        Why a pattern that is broken goes out all the same.
    """

    method: str = "suppression"
    rules: tuple[MagnitudeRule, ...] = ()
    weights: str = "sample"
    parameters: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    like: Path | None = None
    accept: str = ""


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
    done = suppressed(table, asked, progress)
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
            hint=say("free cells that are frozen, use coarser categories, or --accept REASON"),
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
