"""What a command is: a verb on the project, with arguments that fit into JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.tables.domain import Domain, Index

Arguments = Mapping[str, object]


@dataclass(frozen=True)
class TrailEntry:
    """One line of the audit trail: when, what for people, and the command itself."""

    time: str
    label: str
    command: str
    arguments: Arguments
    seed: int | None = field(default=None, repr=False)
    published: bool = False

    def as_json(self) -> dict[str, object]:
        """The entry for the audit trail. Confidential: it may carry a seed."""
        return {
            "time": self.time,
            "label": self.label,
            "command": self.command,
            "arguments": dict(self.arguments),
            "seed": self.seed,
            "published": self.published,
        }


@dataclass(frozen=True)
class Context:
    """What a command may use besides the project.

    Attributes
    ----------
    progress
        Where to report, and what may cancel.
    trail
        The steps so far, for the dossier.
    """

    progress: Progress = SILENT
    trail: tuple[TrailEntry, ...] = ()


@dataclass(frozen=True)
class Command:
    """A verb.

    Attributes
    ----------
    name
        In recipes and in the window's code.
    run
        ``(project, context, **arguments) -> project``; keyword-only arguments, JSON values.
    label
        ``(project before, arguments) -> str``: the named step ("set alpha to 0.30").
    slow
        Whether it deserves a worker and a progress bar.
    """

    name: str
    run: Callable[..., Project]
    label: Callable[[Project, Arguments], str]
    slow: bool = False


def whole(value: object, what: str) -> int:
    """A whole number out of JSON.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{what} must be a whole number, is {value!r}")
    return value


def text(value: object, what: str) -> str:
    """A string out of JSON.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if not isinstance(value, str):
        raise InputError(f"{what} must be text, is {value!r}")
    return value


def texts(value: object, what: str) -> tuple[str, ...]:
    """A list of strings out of JSON.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(f"{what} must be a list of names, is {value!r}")
    return tuple(text(v, what) for v in value)


def cell(value: object, domain: Domain) -> Index:
    """A cell index out of JSON, checked against the table.

    Raises
    ------
    InputError
        When it is no cell of the table.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != domain.ndim:
        raise InputError(f"{value!r} is not a cell of {domain.ndim} numbers")
    index = tuple(whole(i, "a cell number") for i in value)
    domain.flat(index)
    return index


def number_text(value: object) -> str:
    """A number for a label: two decimals where they say it all."""
    if isinstance(value, float):
        short = f"{value:.2f}"
        return short if float(short) == value else f"{value:g}"
    return str(value)
