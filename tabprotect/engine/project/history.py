"""Undo, redo and the audit trail: the list of steps, with the project after each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.budgets import SNAPSHOT_BYTES
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.circumstances import Circumstances, now
from tabprotect.engine.project.command import Arguments, Context, Order, TrailEntry
from tabprotect.engine.project.project import Changes, Project, changes
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.register.people.reading_together import LookedUp


@dataclass(frozen=True, eq=False)
class Step(TrailEntry):
    """One command that was run.

    Attributes
    ----------
    project
        The project after it; ``None`` once dropped to save memory (the step stays in the trail).
    """

    project: Project | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class History:
    """The steps and the current position among them. Every change makes a new history.

    Attributes
    ----------
    base
        The project before the first step.
    steps
        All steps, including undone ones (they can be redone).
    position
        The number of steps in force.
    """

    base: Project = field(default_factory=Project)
    steps: tuple[Step, ...] = ()
    position: int = 0

    @classmethod
    def of(cls, table: Table, *, title: str = "") -> History:
        """A history that begins with a table in memory rather than a file."""
        return cls(Project(title=title, table=table))

    @property
    def project(self) -> Project:
        """The project at the current position."""
        return self._at(self.position)

    def _at(self, position: int) -> Project:
        project = self.base if position == 0 else self.steps[position - 1].project
        assert project is not None
        return project

    @property
    def floor(self) -> int:
        """The lowest position undo may go back to: the opening of the document, or its last publication."""
        for number in range(self.position, 0, -1):
            step = self.steps[number - 1]
            if step.project is None:
                return number + 1
            if step.sealed or step.order.command.says.opens:
                return number
        return 0

    @property
    def undo_label(self) -> str:
        """The label of the step that undo would take back; empty if there is none."""
        return self.steps[self.position - 1].label if self.position > self.floor else ""

    @property
    def redo_label(self) -> str:
        """The label of the step that redo would repeat; empty if there is none."""
        return self.steps[self.position].label if self.position < len(self.steps) else ""

    @property
    def publication(self) -> Mapping[str, object]:
        """What the release was published with; empty before."""
        sealed = (step for step in reversed(self.steps[: self.position]) if step.sealed)
        return next((step.arguments for step in sealed), {})

    @property
    def trail(self) -> tuple[TrailEntry, ...]:
        """The steps in force, for the dossier and the recipe."""
        return self.steps[: self.position]

    def do(
        self,
        order: Order,
        *,
        progress: Progress = SILENT,
        register: str | None = None,
        looked_up: LookedUp | None = None,
    ) -> tuple[History, Changes]:
        """Run a command on the project; undone steps can no longer be redone.

        A command that opens a document begins a new history, with nothing of this one. ``register``
        and ``looked_up`` are as in :class:`~tabprotect.engine.project.command.Context`.

        Raises
        ------
        TabprotectError
            As the command raises; this history is never changed.
        """
        here = History() if order.command.says.opens else self
        context = Context(progress, here.trail, register, looked_up)
        project = order.run(here.project, context)
        at = Circumstances.of(order.files, here.project, project)
        step = Step(order, order.label(here.project), now(), context.seed, at, project)
        steps = (*here.steps[: here.position], step)
        there = History(here.base, _lightened(steps), len(steps))
        return there, changes(self.project, project)

    def apply(
        self, name: str, arguments: Arguments | None = None, *, progress: Progress = SILENT
    ) -> tuple[History, Changes]:
        """Run a command by its name, with arguments out of JSON (see :meth:`do`).

        Raises
        ------
        TabprotectError
            For an unknown command or argument, or as the command raises.
        """
        # Late: who has the order itself needs no list of all commands.
        from tabprotect.engine.project.commands import named

        return self.do(named(name).order(arguments or {}), progress=progress)

    def undo(self) -> tuple[History, Changes]:
        """Take back the last step.

        Raises
        ------
        InputError
            When there is none, or it is a publication.
        """
        return self.jump(self.position - 1)

    def redo(self) -> tuple[History, Changes]:
        """Repeat the step undone last.

        Raises
        ------
        InputError
            When there is nothing to redo.
        """
        return self.jump(self.position + 1)

    def jump(self, position: int) -> tuple[History, Changes]:
        """Go to the state after the first ``position`` steps.

        Raises
        ------
        InputError
            When it lies before the opening or a publication, or there is no such state.
        """
        if position > len(self.steps):
            raise InputError(message("there is nothing to redo"))
        if position < self.floor:
            if self.floor and self.steps[self.floor - 1].sealed:
                raise InputError(
                    message("what was published cannot be undone"),
                    hint=message("go on from here; the published bundle is out of the house"),
                )
            raise InputError(message("there is nothing to undo"))
        there = History(self.base, self.steps, position)
        return there, changes(self.project, there.project)


def _lightened(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Drop the oldest snapshots if all together exceed the limit."""
    seen: dict[int, object] = {}
    size = 0
    out: list[Step] = []
    for number, step in enumerate(reversed(steps)):
        size += held_bytes(step.project, seen)
        if number and size > SNAPSHOT_BYTES:
            step = replace(step, project=None)
        out.append(step)
    return tuple(reversed(out))


def held_bytes(value: object, seen: dict[int, object]) -> int:
    """The bytes of everything a value holds, except what was ``seen`` before (by identity)."""
    size, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (int, float, NoneType)) or id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, np.ndarray):
            # A view keeps its whole base array alive.
            if isinstance(one.base, np.ndarray):
                waiting.append(one.base)
            else:
                size += one.nbytes
        else:
            size += sys.getsizeof(one)
            waiting += held_values(one)
    return size


def held_values(value: object) -> Iterator[object]:
    """The values held by a value: its fields (and what is cached of them), items and keys."""
    if is_dataclass(value):
        yield from vars(value).values()
    elif isinstance(value, Mapping):
        yield from value
        yield from value.values()
    elif isinstance(value, (tuple, list)):
        yield from value
