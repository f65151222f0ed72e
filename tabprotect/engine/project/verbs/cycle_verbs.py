"""Commands on the cycle set: take a template or a file, draw, reorder, split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import cast

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles.constructions.swaps import swaps
from tabprotect.engine.cycles.designs import DESIGNS, connected_parts, in_place, is_named, mended
from tabprotect.engine.errors import InputError, ParameterError, about
from tabprotect.engine.project.command import Arguments, Context, Declared, cell
from tabprotect.engine.project.copy_as_command import table_word
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.cycle_runs.cycle_parameters import (
    BLOCKING,
    OF_DESIGNS,
    REPEATS,
    TRIANGULAR,
    check_zeros,
    designed,
    template_of,
    without_designs,
)
from tabprotect.engine.tables.margins import maximal_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import message

QUICK_CELLS = 20_000
"""The most cells of a table whose cycle set is designed at once, without a job."""


Entries = tuple[Ints, npt.NDArray[np.int8]]

BY_HAND = message("drawn by hand")

DATA = "data"
"""The kind for which the running table chooses among all swaps."""


def _with(project: Project, moves: MoveSet | None, cycles_from: str) -> Project:
    if cycles_from == BY_HAND:
        # Parameters of a design do not apply to these.
        chosen = MappingProxyType(without_designs(project.parameters))
        project = replace(project, parameters=chosen)
    return replace(project.without_result(), moves=moves, cycles_from=cycles_from)


def _set_label(project: Project, given: Arguments) -> str:
    if given.get("file"):
        return message("take cycles from {name}", Path(str(given["file"])).name)
    if given.get("cycles"):
        return message("take drawn cycles")
    kind = str(given.get("kind") or "default")
    return message("take cycles: {label}", DESIGNS[kind].label if kind in DESIGNS else kind)


def _cycle(given: Arguments) -> int:
    return cast(int, given["cycle"]) + 1


def _flip_label(project: Project, given: Arguments) -> str:
    sign = {1: "+", 0: "0", -1: "−"}[cast(int, given["sign"])]
    at = project.domain.cell_text(cast("Sequence[int]", given["index"]))
    return message("set {at} of cycle {given} to {sign}", at, _cycle(given), sign)


def _design_words(project: Project, given: Arguments) -> list[str]:
    if "file" in given or "cycles" in given:
        return []
    shape = ",".join(map(str, project.domain.shape))
    kind = str(given.get("kind") or "default")
    return ["cycles", "design", "--shape", shape, "--kind", kind, "--out", "cycles.json"]


@Declared(
    _set_label,
    shell=_design_words,
    reads="file",
    slow=lambda project: project.table is None or project.domain.size > QUICK_CELLS,
)
def set_cycles(
    project: Project,
    context: Context,
    *,
    kind: str | None = None,
    file: str | None = None,
    cycles: Mapping[str, object] | None = None,
    margins: Sequence[Sequence[str]] | None = None,
) -> Project:
    """Take a cycle set: a template (``order-2`` keeps two-way margins only), a file, or JSON.

    ``data`` takes every swap, and in each step one through positive cells of the running table.
    ``margins`` only changes which margins the set claims to keep. Without arguments it takes the
    default for the shape. A template uses the parameters of its design: height, repeats, cap, ...
    """
    domain = project.original.domain
    if sum(x is not None for x in (kind, file, cycles)) > 1:
        raise InputError(message("a cycle set comes from one place: a template, a file or drawn cycles"))
    if kind == DATA:
        project, kind = _chosen_by_the_table(project), "every"
    if file is not None:
        template_of(message("a file of cycles"), project.parameters)
        moves, origin = cycle_files.read(Path(file), domain=domain), Path(file).name
        moves = in_place(moves, project.values[REPEATS] or 1 if project.takes_cycles else 1)
    elif cycles is not None:
        moves, origin = cycle_files.from_json(dict(cycles), domain=domain), BY_HAND
    elif kind is None and margins is None:
        return _with(project, None, "")
    else:
        origin = template_of(kind, project.parameters) or "default"
        kept = project.kept if origin == TRIANGULAR else None
        check_zeros(project.original, project.parameters)
        with about(keep="kind"):
            moves = designed(origin, domain, project.parameters, kept=kept, progress=context.progress)
    if margins is not None:
        moves = moves.keeping(maximal_margins(domain, margins))
    return _with(project, moves, origin)


def redesigned(project: Project, context: Context, before: Mapping[str, object]) -> Project:
    """The chosen cycles, designed again if the parameters of their design changed.

    A list of the user's own is only repeated in place; other parameters take the design they are about.
    """
    moves, said = project.moves, project.parameters
    if moves is None or not project.takes_cycles:
        return project
    differ = {p.name for p in OF_DESIGNS if said.get(p.name) != before.get(p.name)}
    kind = template_of(None, said) or (project.cycles_from if is_named(project.cycles_from) else None)
    if differ and kind is not None:
        return set_cycles.run(project, context, kind=kind)
    if REPEATS.name in differ:
        times, now = (cast(int, given.get(REPEATS.name)) or 1 for given in (before, said))
        moves = in_place(moves.take(np.arange(0, len(moves), times)), now)
    return replace(project, moves=moves)


def _chosen_by_the_table(project: Project) -> Project:
    """Set the order for it, and as many steps as there are cells unless a number is set."""
    chosen = dict(project.parameters)
    if chosen.setdefault("order", "positive") != "positive":
        raise ParameterError({"order": message("cycles={DATA} goes with the order positive", DATA)})
    if (chosen.get("passes") or 1) == 1 and not chosen.get("n_cover"):
        chosen["n_cover"] = project.original.domain.size
    return replace(project, parameters=MappingProxyType(chosen))


def _entries(moves: MoveSet) -> list[Entries]:
    return [moves.entries(i) for i in range(len(moves))]


def _drawn(project: Project, cycles: Sequence[Entries]) -> Project:
    before = project.cycles
    if project.moves is None and project.takes_cycles and project.values.get(BLOCKING.name) is None:
        # Chosen with the cycles: it stays what it was when one of them is drawn by hand.
        rule = project.resolved[BLOCKING.name]
        project = replace(project, parameters=MappingProxyType({**project.parameters, BLOCKING.name: rule}))
    moves = MoveSet.of(
        before.domain,
        np.cumsum([0, *(len(cells) for cells, _ in cycles)]),
        np.concatenate([cells for cells, _ in cycles]),
        np.concatenate([signs for _, signs in cycles]),
        margins=before.margins,
    )
    return _with(project, moves, BY_HAND)


def _number(project: Project, cycle: int) -> int:
    if not 0 <= cycle < len(project.cycles):
        raise InputError(
            message("there is no cycle {cycle}; there are {cycles}", cycle + 1, len(project.cycles))
        )
    return cycle


@Declared(_flip_label)
def flip_cycle_cell(
    project: Project, context: Context, *, cycle: int, index: Sequence[int], sign: int
) -> Project:
    """Set one entry of a cycle to -1, 0 or +1."""
    project.original  # noqa: B018  (a reader cannot edit)
    number, at = _number(project, cycle), cell(index, project.domain)
    if sign not in (-1, 0, 1):
        raise InputError(message("an entry of a cycle is -1, 0 or +1, not {sign}", repr(sign)))
    cycles = _entries(project.cycles)
    cells, signs = cycles[number]
    key = project.domain.flat(at)
    rest = cells != key
    cells, signs = cells[rest], signs[rest]
    if sign:
        cells, signs = np.append(cells, key), np.append(signs, sign)
    if not len(cells):
        raise InputError(
            message("cycle {number} would be empty", number + 1),
            hint=message("remove the cycle, or set another cell first"),
        )
    cycles[number] = cells, signs
    return _drawn(project, cycles)


@Declared(lambda project, given: message("mend cycle {given}", _cycle(given)))
def mend_cycle(project: Project, context: Context, *, cycle: int) -> Project:
    """Complete a cycle by as few further signs as keep every sum."""
    project.original  # noqa: B018
    number, cycles = _number(project, cycle), _entries(project.cycles)
    if (whole := mended(project.cycles, number, progress=context.progress)) is None:
        raise InputError(
            message("no further signs near cycle {number} keep every sum", number + 1),
            hint=message("set the missing signs one by one, or remove the cycle"),
        )
    cycles[number] = whole.entries(0)
    return _drawn(project, cycles)


@Declared(message("add a cycle"))
def add_cycle(
    project: Project,
    context: Context,
    *,
    plus: Sequence[Sequence[int]] | None = None,
    minus: Sequence[Sequence[int]] | None = None,
    at: int | None = None,
) -> Project:
    """Add a cycle, by default a swap in the first corner, at the end or at position ``at``."""
    domain = project.original.domain
    cycles = _entries(project.cycles)
    if plus is None and minus is None:
        new = swaps(domain, [[(0, 1)]] * domain.ndim).entries(0)
    else:
        given = [
            (domain.flat(cell(c, domain)), sign)
            for sign, side in ((1, plus), (-1, minus))
            for c in side or ()
        ]
        new = (
            np.array([key for key, _ in given], dtype=np.int64),
            np.array([sign for _, sign in given], dtype=np.int8),
        )
    place = len(cycles) if at is None else min(max(at, 0), len(cycles))
    return _drawn(project, [*cycles[:place], new, *cycles[place:]])


@Declared(lambda project, given: message("remove cycle {given}", _cycle(given)))
def remove_cycle(project: Project, context: Context, *, cycle: int) -> Project:
    """Remove a cycle from the set."""
    project.original  # noqa: B018
    number = _number(project, cycle)
    rest = [i for i in range(len(project.cycles)) if i != number]
    if not rest:
        raise InputError(
            message("a cycle set needs at least one cycle"), hint=message("take a template instead")
        )
    return _with(project, project.cycles.take(rest), BY_HAND)


@Declared(
    lambda project, given: message(
        "move cycle {given} to place {int}", _cycle(given), cast(int, given["to"]) + 1
    )
)
def move_cycle(project: Project, context: Context, *, cycle: int, to: int) -> Project:
    """Move a cycle to another position."""
    project.original  # noqa: B018
    number, place = _number(project, cycle), _number(project, to)
    order = [i for i in range(len(project.cycles)) if i != number]
    order.insert(place, number)
    return _with(project, project.cycles.take(order), BY_HAND)


@Declared(message("split cycles into connected parts"))
def split_cycles(project: Project, context: Context) -> Project:
    """Cut each cycle into its connected parts."""
    project.original  # noqa: B018
    parts = connected_parts(project.cycles)
    if len(parts) == len(project.cycles):
        raise InputError(message("there is nothing to split: every cycle hangs together"))
    return _with(project, parts, BY_HAND)


def check(project: Project) -> list[str]:
    """Words: check a cycle set, on the table if there is one."""
    table = ["--table", table_word(project)] if project.kind == "house" else []
    return ["cycles", "check", "cycles.json", *table]
