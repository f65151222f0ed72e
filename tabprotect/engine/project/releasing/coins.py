"""The coins of a run: those of the house, a seed or fresh ones, and the decisions that each takes.

The house's are a keyed function of the table and the mechanism: the same ones for ever. Publishing
again gives the same bytes, so that nothing can be averaged, and running again after a refusal draws
the same releases. The counts enter the function: coins that depend on the shape alone would publish
the exact difference of two vintages. To readers a keyed function of the original is chance.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping

import numpy as np

from tabprotect.engine import agency
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import ACCEPT, ParameterError, RefusedError
from tabprotect.engine.parameters import Values
from tabprotect.engine.paths import is_there
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.descriptions.run_summary import short_seed_sentence
from tabprotect.engine.protection.problem import GIVEN_SEED, SHORT_SEED, Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.left_before import damaged
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

LABEL = message("tabprotect coins of a release, version 1")
CELLS_LABEL = "tabprotect coins of cells, version 1"
KEYS_LABEL = "tabprotect record keys, version 1"

FRESH_COINS = message(
    "fresh coins were drawn: the same table published again has others, and their average tells "
    "more than either"
)


def coins_of(
    project: Project, seed: int | None, fresh: bool, admit_key: Callable[[], tuple[str, ...]] = tuple
) -> tuple[Randomness, tuple[str, ...]]:
    """The randomness of a run, and the decisions to be recorded with it.

    Parameters
    ----------
    admit_key
        Refuses the key of the house where it may not be used, else gives the decisions.

    Raises
    ------
    InputError
        When the house's key is needed and cannot be read or made.
    ParameterError
        For a seed and fresh coins at once.
    """
    if fresh and seed is not None:
        replayed = Randomness(seed, given=True, coins="fresh")
        if not replayed.short:
            # A recipe with seeds: the same coins, and the nonce that they were published with.
            return replayed, (GIVEN_SEED, FRESH_COINS)
        raise ParameterError({"seed": message("given, and fresh coins are asked for as well")})
    seed = project.seed if seed is None and not fresh else seed
    values = project.protection.resolve_for(project.problem, project.taken)
    if not project.protection.is_random(values):
        return Randomness.seeded(seed), ()
    if seed is not None:
        own = is_there(agency.key_file()) and not Randomness.seeded(seed).short
        if own and agency_randomness(project.problem, project.method, values).seed == seed:
            return Randomness(seed, given=True, coins="house"), (GIVEN_SEED,)
        return Randomness.seeded(seed), (GIVEN_SEED,)
    if fresh or project.fresh:
        return Randomness.fresh(), (FRESH_COINS,)
    decisions = admit_key()
    return agency_randomness(project.problem, project.method, values), decisions


def admit_seed(
    randomness: Randomness, policy: AgencyPolicy, reason: str, decisions: tuple[str, ...]
) -> tuple[str, ...]:
    """The decision by which a release rests on a seed that can be guessed; none if none does.

    Raises
    ------
    RefusedError
        Where that takes a reason and there is none.
    """
    if not randomness.short or policy.short_seed != "refuse":
        return ()
    if any(decision.startswith(SHORT_SEED) for decision in decisions):
        return ()
    if not reason:
        raise RefusedError(
            short_seed_sentence(randomness),
            hint=message(
                "take the coins of the house, or a random number of 40 digits; or say why it is "
                "taken all the same"
            ),
            answers=(({"seed": None}, ()), ACCEPT),
        )
    return (message("{SHORT_SEED}: {accepted}", SHORT_SEED, reason),)


def admit_key(accepted: str, register: str | None) -> tuple[str, ...]:
    """The decisions by which a key of the house is used that is no secret, or made anew.

    Raises
    ------
    RefusedError
        Where that takes a reason and there is none.
    ParameterError, InputError
        Where the register belongs to another key, or the key cannot be read.
    """
    concerns = agency.key_concerns()
    if not concerns:
        return ()
    # A register that knows its key says better what is wrong.
    damaged(register)
    if not accepted:
        raise RefusedError(
            concerns[0],
            hint=message("put it right, or say why it is used all the same: the decision is recorded"),
            answers=(ACCEPT,),
        )
    agency.key(make=True)
    return tuple(message("{concern}: {accepted}", concern, accepted) for concern in concerns)


def agency_randomness(
    problem: Problem, method: str, values: Mapping[str, object], key: bytes | None = None
) -> Randomness:
    """HMAC-SHA256 (RFC 2104) of the original and all of the mechanism, as a seed of 256 bits.

    Where every cell has its own coins, of the names of the variables: the same in every vintage.

    Parameters
    ----------
    values
        The method's resolved parameters, the cycles among them.
    key : 32 bytes
        By default the house's own, made where there is none.

    Raises
    ------
    InputError
        When the house's key cannot be read or made.
    """
    domain = problem.table.domain
    if (own := methods()[method].drawn_by_cells(Values(values))) is not None:
        said = json.dumps([sorted(domain.names), *own])
        return _keyed([CELLS_LABEL.encode(), said.encode()], key)
    mechanism = Mechanism(method, domain, dict(sorted(values.items())))
    parts = [
        LABEL.encode(),
        mechanism.to_text(categories=True).encode(errors="surrogatepass"),
        str(problem.at_risk).encode(),
        _canonical(problem.table),
        _canonical(problem.record_keys),
        _canonical(None if problem.weights is None else problem.weights.sums),
        json.dumps(None if problem.weights is None else [problem.weights.low, problem.weights.high]).encode(),
    ]
    return _keyed(parts, key)


def house_keys(table: Table, key: bytes | None = None) -> Randomness:
    """HMAC-SHA256 of the counted records, as the seed of their drawn record keys.

    Recipes draw so: the same records counted in the same way get the same keys, in a later run too.
    """
    named = [[v.name, *v.categories] for v in table.domain.variables]
    return _keyed([KEYS_LABEL.encode(), json.dumps(named).encode(), _canonical(table)], key)


def _keyed(parts: list[bytes], key: bytes | None) -> Randomness:
    """Randomness from a keyed hash of parts, each as long as it says: no two lists give the same bytes."""
    content = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    digest = hmac.new(agency.key() if key is None else key, content, hashlib.sha256).digest()
    return Randomness(int.from_bytes(digest, "big"), given=False, coins="house")


def _canonical(table: Table | None) -> bytes:
    """Keys and counts of the cells that are not zero, as 64-bit little-endian integers."""
    return b"none" if table is None else np.stack(table.cells).astype("<i8").tobytes()
