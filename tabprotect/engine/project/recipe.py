"""A recipe: the list of commands as readable text, to be run again.

On the same input a recipe gives the same bytes when every ``protect`` in it carries its seed, and
every ``tabulate`` that draws record keys theirs; it is then as confidential as the original.
Without a seed coins and keys are drawn afresh.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import tomli_w

from tabprotect.engine.errors import InputError
from tabprotect.engine.project.command import Arguments, TrailEntry

FORMAT = 1

_HEADER = "# A recipe of tabprotect: run it with  tabprotect run recipe.toml --out DIR\n"
_CONFIDENTIAL = (
    "# CONFIDENTIAL: it carries a seed, which replays the coins. Keep it in the house.\n"
)
_FRESH = "# It carries no seed: every run flips fresh coins.\n"

OPENING = ("open_table", "tabulate", "new_table", "open_bundle")
"""Commands that begin a document: nothing before the last of them matters."""

FILES = {"open_table": "source", "tabulate": "source", "set_cycles": "file", "open_bundle": "path"}
"""The argument that names a file to be read, by command."""

SEEDS = {"protect": "seed", "tabulate": "key_seed"}
"""The argument that carries the seed a command drew, by command."""

WRITTEN = ("release", "dossier")
"""Arguments of ``publish`` that name files to be written."""

Step = tuple[str, Arguments]


def steps_of(trail: Sequence[TrailEntry], *, seeds: bool) -> list[Step]:
    """The commands that lead to the present state, from the last opening on."""
    begin = max((n for n, e in enumerate(trail) if e.command in OPENING), default=0)
    out: list[Step] = []
    for entry in trail[begin:]:
        given = {k: v for k, v in entry.arguments.items() if v is not None}
        if entry.command == "set_seed":
            # A policy: what it led to stands beside each protect.
            continue
        if entry.command in SEEDS:
            given.pop(SEEDS[entry.command], None)
            if seeds and entry.seed is not None:
                given[SEEDS[entry.command]] = entry.seed
        out.append((entry.command, given))
    return out


def to_text(trail: Sequence[TrailEntry], *, seeds: bool) -> str:
    """The trail as a recipe.

    Parameters
    ----------
    seeds
        Whether each command in ``SEEDS`` carries the seed that was used: the same bytes again,
        confidential.
    """
    lines: list[str] = []
    seeded = False
    for name, given in steps_of(trail, seeds=seeds):
        written = dict(given)
        for key in SEEDS.values():
            if key in written:
                # TOML's whole numbers end at 64 bits; a seed has 128.
                written[key] = str(written[key])
                seeded = True
        nested = {k: v for k, v in written.items() if isinstance(v, Mapping)}
        plain = {k: v for k, v in written.items() if k not in nested}
        lines += ["", "[[step]]", tomli_w.dumps({"do": name, **plain}).rstrip()]
        if nested:
            lines.append(tomli_w.dumps({"step": nested}).rstrip())
    header = _HEADER + (_CONFIDENTIAL if seeded else _FRESH)
    return header + f"\nrecipe = {FORMAT}\n" + "\n".join(lines) + "\n"


def from_text(text: str) -> list[Step]:
    """The commands of a recipe.

    Raises
    ------
    InputError
        Naming the line or the step.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"not a valid recipe: {error}") from None
    if data.get("recipe") != FORMAT:
        raise InputError(
            f'a recipe begins with "recipe = {FORMAT}"', hint="this file may be something else"
        )
    steps = data.get("step")
    if not isinstance(steps, list) or not steps:
        raise InputError("the recipe has no [[step]]")
    out: list[Step] = []
    for number, step in enumerate(steps, 1):
        if not isinstance(step, dict) or not isinstance(step.get("do"), str):
            raise InputError(f'step {number} says not what to do: do = "..." is missing')
        given = {k: v for k, v in step.items() if k != "do"}
        for key in SEEDS.values():
            seed = given.get(key)
            if isinstance(seed, str):
                if not seed.isdecimal():
                    raise InputError(f"step {number}: the seed {seed!r} is no whole number")
                given[key] = int(seed)
        out.append((step["do"], given))
    return out


def read(path: Path) -> list[Step]:
    """Read a recipe file (see :func:`from_text`)."""
    try:
        return from_text(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except UnicodeDecodeError:
        raise InputError("not a text file in UTF-8", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except InputError as error:
        raise error.in_file(path) from None
