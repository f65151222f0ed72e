"""The jobs of a batch: those of a file, or every recipe of a folder with every source."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tabprotect.engine.errors import InputError, TabprotectError, in_file
from tabprotect.engine.paths import is_file, is_folder, read_text
from tabprotect.engine.plain_values.decoding import decoded, parsed_toml
from tabprotect.engine.project.recipes.replay import read
from tabprotect.languages.messages import message
from tabprotect.version import __version__

_NAME = re.compile(r"[\w][\w .-]*")


@dataclass(frozen=True)
class BatchJob:
    """One recipe with its variables.

    Attributes
    ----------
    name
        The name of the job and of the folder for its files.
    """

    name: str
    recipe: Path
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(message("a job cannot be named {name}: it names a folder, too", repr(self.name)))
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def __reduce__(self) -> tuple[type[BatchJob], tuple[str, Path, dict[str, str]]]:
        # Jobs are sent to other processes; a read-only mapping cannot be.
        return BatchJob, (self.name, self.recipe, dict(self.settings))

    def key(self) -> str:
        """The SHA-256 of all the result depends on: recipe, variables, files read, program version.

        Empty if the recipe or a file cannot be read: the job is then run, and fails.
        """
        parts: list[object] = [__version__, dict(self.settings)]
        try:
            parts.append(read_text(self.recipe))
            parts += [_digest(path) for path in self.sources()]
        except (TabprotectError, OSError, UnicodeDecodeError):
            return ""
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def sources(self) -> list[Path]:
        """The files that the recipe's steps read.

        Raises
        ------
        TabprotectError
            For a recipe that cannot be read.
        """
        named: list[object] = []
        for order in read(self.recipe, self.settings):
            says = order.command.says
            also = order.arguments.get(says.reads_too)
            named.append(order.arguments.get(says.reads))
            named += also.values() if isinstance(also, Mapping) else ()
        paths = [self.recipe.parent / name for name in named if isinstance(name, str)]
        return [path for path in paths if is_file(path)]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def jobs_of(path: Path, sources: Sequence[Path] = ()) -> tuple[BatchJob, ...]:
    """The jobs of a file, or of a folder of recipes.

    A file has a table ``[[job]]`` for each job, with ``name``, ``recipe`` (relative to the file) and
    variables in ``[job.set]``; ``recipe`` and ``[set]`` at its top are the defaults of all jobs. A
    folder gives one job for each recipe (``.toml``) and source, which is the variable ``source``.

    Raises
    ------
    InputError
        For a file without jobs, jobs without a recipe, or two jobs of one name.
    """
    jobs = _of_folder(path, sources) if is_folder(path) else _of_file(path, sources)
    if not jobs:
        raise InputError(message("there are no jobs"), file=path, hint=message("list them as [[job]]"))
    names = [job.name for job in jobs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            message("two jobs are named {twice}", repr(twice)), file=path, hint=message("name each once")
        )
    return tuple(jobs)


def _of_folder(folder: Path, sources: Sequence[Path]) -> list[BatchJob]:
    recipes = sorted(folder.glob("*.toml"))
    if not sources:
        return [BatchJob(recipe.stem, recipe) for recipe in recipes]
    return [
        BatchJob(f"{recipe.stem}-{source.name.partition('.')[0]}", recipe,
            {"source": str(source.absolute())})
        for recipe in recipes for source in sources
    ]  # fmt: skip


def _of_file(path: Path, sources: Sequence[Path]) -> list[BatchJob]:
    if sources:
        raise InputError(message("sources go with a folder of recipes"), file=path)
    with in_file(path):
        data = decoded(parsed_toml(read_text(path), message("list of jobs")), _Jobs)
    jobs = []
    for number, job in enumerate(data.job, 1):
        recipe = job.recipe or data.recipe
        if not recipe:
            raise InputError(message("job {number} names no recipe", number), file=path)
        values = {name: str(value) for name, value in {**data.set, **job.set}.items()}
        jobs.append(BatchJob(str(job.name) or f"job-{number}", path.parent / recipe, values))
    return jobs


_Set = Mapping[str, str | int | float | bool]


@dataclass(frozen=True)
class _Job:
    """``[[job]]``."""

    name: str | int = ""
    recipe: str = ""
    set: _Set = field(default_factory=dict)


@dataclass(frozen=True)
class _Jobs:
    """A whole file of jobs."""

    job: tuple[_Job, ...] = ()
    recipe: str = ""
    set: _Set = field(default_factory=dict)
