"""A recipe: the list of commands as readable text, to be run again.

On the same input a recipe gives the same bytes when every command that drew a seed carries it; it
is then as confidential as the original. Without seeds coins and keys are drawn afresh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tomli_w

from tabprotect.engine.project.command import Arguments, Command, TrailEntry

FORMAT = 1

_HEADER = "# A recipe of tabprotect: run it with  tabprotect run recipe.toml --out DIR\n"
_CONFIDENTIAL = (
    "# CONFIDENTIAL: it carries a seed, which replays the coins. Keep it in the house.\n"
)
_FRESH = "# It carries no seed: every run flips fresh coins.\n"


def steps_of(trail: Sequence[TrailEntry], *, seeds: bool) -> list[tuple[Command[...], Arguments]]:
    """The commands that lead to the present state, from the last opening on."""
    begin = max((n for n, e in enumerate(trail) if e.order.command.says.opens), default=0)
    out: list[tuple[Command[...], Arguments]] = []
    for entry in trail[begin:]:
        command = entry.order.command
        if not command.says.replayed:
            continue
        given = {k: v for k, v in entry.arguments.items() if v is not None}
        for name in (command.says.seed, *(() if seeds else command.says.answers)):
            given.pop(name, None)
        if seeds and entry.seed is not None:
            # TOML's whole numbers end at 64 bits; a seed has 128.
            given[command.says.seed] = str(entry.seed)
        out.append((command, given))
    return out


def to_text(trail: Sequence[TrailEntry], *, seeds: bool) -> str:
    """The trail as a recipe.

    Parameters
    ----------
    seeds
        Whether each command carries the seed that it drew: the same bytes again, confidential.
    """
    lines: list[str] = []
    seeded = False
    for command, given in steps_of(trail, seeds=seeds):
        seeded |= command.says.seed in given
        nested = {k: v for k, v in given.items() if isinstance(v, Mapping)}
        plain = {k: v for k, v in given.items() if k not in nested}
        lines += ["", "[[step]]", tomli_w.dumps({"do": command.name, **plain}).rstrip()]
        if nested:
            lines.append(tomli_w.dumps({"step": nested}).rstrip())
    header = _HEADER + (_CONFIDENTIAL if seeded else _FRESH)
    return header + f"\nrecipe = {FORMAT}\n" + "\n".join(lines) + "\n"
