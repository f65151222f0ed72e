"""Recipes: lists of commands as readable text that can be run again.

If every command that drew a seed carries it, a recipe gives the same bytes on the same input, and
is as confidential as the original. Without seeds, coins and keys are drawn afresh.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import tomli_w

from tabprotect.engine.paths import is_url
from tabprotect.engine.project.command import Arguments, Command, TrailEntry
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.project import Project
from tabprotect.languages.messages import joined, message

FORMAT = 1

_HEADER = message("# A recipe of tabprotect: run it with  tabprotect run recipe.toml --out DIR\n")
_CONFIDENTIAL = message("# CONFIDENTIAL: it carries a seed, which replays the coins. Keep it in the house.\n")
_YEARLY = message(
    "# Next year: tabprotect run recipe.toml --set source=FILE --out DIR. Other files that it names\n"
    "# stand beside it.\n"
)
_FRESH = message("# It carries no seed: every run flips fresh coins.\n")


def steps_of(trail: Sequence[TrailEntry], *, seeds: bool) -> list[tuple[Command[...], Arguments]]:
    """The commands that lead to the current state, from the last opening on."""
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
        True if each command carries the seed it drew: reproduces the same bytes; confidential.
    """
    lines: list[str] = []
    seeded = False
    for command, given in steps_of(trail, seeds=seeds):
        seeded |= command.says.seed in given
        lines += _step_lines(command, given)
    header = _HEADER + (_CONFIDENTIAL if seeded else _FRESH)
    return header + f"\nrecipe = {FORMAT}\n" + joined(lines, "\n") + "\n"


def next_year_text(trail: Sequence[TrailEntry], project: Project) -> str:
    """The trail as a recipe for new data, without seeds, paths, the title and steps that publish.

    The file is the variable ``source``, whose default is the name of this year's file; ``[expects]``
    lists the categories that the steps are made for.
    """
    lines: list[str] = []
    variables: dict[str, str] = {}
    mapping: dict[str, dict[str, str]] = {}
    for command, given in yearly_steps(trail):
        given = dict(given)
        for variable, found, to in _mapped(given):
            mapping.setdefault(variable, {})[found] = to
        source = given.get(command.says.reads)
        if isinstance(source, str) and not source.startswith(PREFIX) and not is_url(source):
            given[command.says.reads] = "${source}"
            variables["source"] = Path(source).name
        others = given.get(command.says.reads_too)
        if isinstance(others, Mapping):
            given[command.says.reads_too] = {k: Path(str(file)).name for k, file in others.items()}
        lines += _step_lines(command, given)
    expects = {} if project.table is None else {
        v.name: list(v.categories) for v in project.original.domain.variables
    }  # fmt: skip
    parts = [f"{_HEADER}{_YEARLY}\nrecipe = {FORMAT}"]
    if variables:
        parts.append("\n" + tomli_w.dumps({"variables": variables}).rstrip())
    if expects:
        parts.append("\n" + tomli_w.dumps({"expects": expects}).rstrip())
    if mapping:
        parts.append("\n" + tomli_w.dumps({"mapping": mapping}).rstrip())
    return joined([*parts, *lines], "\n") + "\n"


TRIED = frozenset({"set_method", "set_parameters", "set_mechanism"})
"""Commands that choose a method or parameters."""

REPLACED = frozenset(
    {"set_at_risk", "set_roles", "set_rules", "set_policy", "set_comparison", "set_release_criterion"}
)
"""Commands that replace all that the same command said before."""


def yearly_steps(trail: Sequence[TrailEntry]) -> list[tuple[Command[...], Arguments]]:
    """The steps that lead to the release, without drafts, set-ups that were left, and the title.

    A title names its year: next year's release gets its own. A method that takes cycles may have
    designed them by earlier parameters: its set-ups all stay.
    """
    steps = [
        (command, {k: v for k, v in given.items() if k != "draft"})
        for command, given in steps_of(trail, seeds=False)
        if not command.says.seals and command.name not in ("set_title", "set_metadata")
    ]
    last = {command.name: number for number, (command, _) in enumerate(steps)}
    chosen = last.get("set_method", -1)
    designed = any("cycle" in command.name or "design" in command.name for command, _ in steps)
    out: list[tuple[Command[...], Arguments]] = []
    for number, (command, given) in enumerate(steps):
        left = command.name in REPLACED and number < last[command.name]
        left |= command.name in TRIED and number < chosen and not designed
        if command.name == "protect" or left:
            continue
        if command.name == "set_parameters" and out and out[-1][0] is command and not designed:
            given = {**out.pop()[1], **given}
        out.append((command, given))
    # The result that counts is that of the last set-up.
    return [*out, steps[last["protect"]]] if "protect" in last else out


def _mapped(given: dict[str, object]) -> Iterator[tuple[str, str, str]]:
    """Take out of a step what it says of codes that a list lacks: variable, code, counted as."""
    mapping = given.pop("mapping", None)
    for found, to in mapping.items() if isinstance(mapping, Mapping) else ():
        variable, _, code = found.partition(":") if "source" in given else ("", "", found)
        yield str(given.get("variable", variable)), code, to


def _step_lines(command: Command[...], given: Arguments) -> list[str]:
    nested = {k: v for k, v in given.items() if isinstance(v, Mapping)}
    plain = {k: v for k, v in given.items() if k not in nested}
    lines = ["", "[[step]]", tomli_w.dumps({"do": command.name, **plain}).rstrip()]
    return [*lines, *([tomli_w.dumps({"step": nested}).rstrip()] if nested else [])]
