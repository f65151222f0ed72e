"""Undo, redo and the audit trail: the list of steps and the project after each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.command import Context, TrailEntry
from tabprotect.engine.project.commands import apply
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Changes, Project, changes
from tabprotect.engine.tables.table import Table

FRESH = frozenset({"open_bundle"})
"""Commands that begin a history of their own: nothing of the house stays behind a reader."""

SNAPSHOT_BYTES = 2**29
"""Memory of what is kept for undo (512 MiB); the oldest snapshots beyond it are forgotten."""


@dataclass(frozen=True)
class Step:
    """One command that was run.

    Attributes
    ----------
    command, arguments
        What was asked for; arguments fit into JSON.
    label
        The named step, for people.
    time
        When, in UTC, ISO 8601 to the second.
    project
        The project after it; ``None`` once forgotten to save memory (it stays in the trail).
    seed
        The seed of the coins of ``protect`` or the keys of ``tabulate``. Confidential.
    """

    command: str
    arguments: Mapping[str, object]
    label: str
    time: str
    project: Project | None = field(repr=False)
    seed: int | None = field(default=None, repr=False)

    @property
    def sealed(self) -> bool:
        """Whether this step published something: nothing before it can be undone."""
        return self.command == "publish"


@dataclass(frozen=True, eq=False)
class History:
    """The steps, and where in them the project stands now. Every change makes a new history.

    Attributes
    ----------
    base
        The project before the first step.
    steps
        All steps, those that were undone included (they can be redone).
    position
        How many of them are in force.
    """

    base: Project = field(default_factory=Project)
    steps: tuple[Step, ...] = ()
    position: int = 0

    @classmethod
    def of(cls, table: Table, *, title: str = "") -> History:
        """A history that begins with a table in memory, of no file."""
        return cls(Project(title=title, table=table, placement=Placement.of(table.domain)))

    @property
    def project(self) -> Project:
        """The project as it stands."""
        return self._at(self.position)

    def _at(self, position: int) -> Project:
        project = self.base if position == 0 else self.steps[position - 1].project
        assert project is not None
        return project

    @property
    def floor(self) -> int:
        """The lowest position undo may go back to: after the last publication."""
        for number in range(self.position, 0, -1):
            step = self.steps[number - 1]
            if step.project is None:
                return number + 1
            if step.sealed:
                return number
        return 0

    @property
    def undo_label(self) -> str:
        """The step that undo would take back; empty when there is none."""
        return self.steps[self.position - 1].label if self.position > self.floor else ""

    @property
    def redo_label(self) -> str:
        """The step that redo would do again; empty when there is none."""
        return self.steps[self.position].label if self.position < len(self.steps) else ""

    @property
    def trail(self) -> tuple[TrailEntry, ...]:
        """The steps in force, for the dossier and the recipe."""
        return tuple(
            TrailEntry(s.time, s.label, s.command, s.arguments, s.seed, s.sealed)
            for s in self.steps[: self.position]
        )

    def apply(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        progress: Progress = SILENT,
    ) -> tuple[History, Changes]:
        """Run a command on the project; what was undone before can no longer be redone.

        Commands in ``FRESH`` leave nothing of this history in the new one.

        Raises
        ------
        TabprotectError
            As the command says; this history is untouched in any case.
        """
        given = dict(arguments or {})
        here = History() if name in FRESH else self
        context = Context(progress, here.trail)
        done = apply(here.project, name, given, context=context)
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        step = Step(name, MappingProxyType(given), done.label, time, done.project, done.seed)
        steps = (*here.steps[: here.position], step)
        found = done.changes if here is self else changes(self.project, done.project)
        return History(here.base, _lightened(steps), len(steps)), found

    def undo(self) -> tuple[History, Changes]:
        """Take back the last step.

        Raises
        ------
        InputError
            When there is none, or it was a publication.
        """
        return self.jump(self.position - 1)

    def redo(self) -> tuple[History, Changes]:
        """Do again what was undone last.

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
            When that lies before a publication, or is no state at all.
        """
        if position > len(self.steps):
            raise InputError("there is nothing to redo")
        if position < self.floor:
            if self.floor and self.steps[self.floor - 1].sealed:
                raise InputError(
                    "what was published cannot be undone",
                    hint="go on from here; the published bundle is out of the house",
                )
            raise InputError("there is nothing to undo")
        there = History(self.base, self.steps, position)
        return there, changes(self.project, there.project)


def _lightened(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Forget the oldest snapshots when all together outgrow the limit."""
    seen: set[int] = set()
    size = 0
    out: list[Step] = []
    for number, step in enumerate(reversed(steps)):
        if step.project is not None:
            for value, held in _holdings(step.project):
                if id(value) not in seen:
                    seen.add(id(value))
                    size += held
            if number and size > SNAPSHOT_BYTES:
                step = replace(step, project=None)
        out.append(step)
    return tuple(reversed(out))


def _holdings(project: Project) -> Iterator[tuple[object, int]]:
    """What of a project takes memory, with its bytes."""
    if project.table is not None:
        yield project.table, _bytes(project.table)
    if project.release is not None:
        yield project.release.table, _bytes(project.release.table)
    if project.moves is not None:
        yield project.moves, project.moves.cells.nbytes + project.moves.signs.nbytes
    if project.protected is not None:
        record = project.protected.record
        steps = record.steps
        held = 0 if steps is None else 3 * steps.coins.nbytes
        if steps is not None and steps.sequence is not None:
            held += steps.sequence.nbytes
        yield record, held


def _bytes(table: Table) -> int:
    return 16 * len(table.cells[0]) if table.is_sparse else 8 * table.domain.size
