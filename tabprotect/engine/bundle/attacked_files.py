"""Published files attacked: tables of any office, or a release, and what they tell together."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.attack.attack import Attacked, attack
from tabprotect.engine.attack.foreign_tables import PROGRAMMES, SaidMethod, likely_method, together
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.published_rows import PublishedReading, PublishedRows, read_published
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.progress import SILENT, PartialProgress, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import joined, message

Thing = TypeVar("Thing")


@dataclass(frozen=True, eq=False)
class PublishedFile:
    """A file of published counts, as it was read.

    Attributes
    ----------
    path
    content
        The rows of a table of any office, or a release of this program.
    """

    path: Path
    content: PublishedRows | Release

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each variable."""
        of = self.content
        return of.domain.shape if isinstance(of, Release) else of.publication.domain.shape

    def likely_method(self) -> tuple[str, str]:
        """The method as it would be said, for a person to confirm, and where that comes from."""
        if isinstance(self.content, Release):
            return self.content.mechanism.method, message("read from the release")
        said, why = likely_method(self.content)
        return str(said), why


def read_file(
    path: Path | str, asked: PublishedReading, reading: Reading | None = None, *, progress: Progress = SILENT
) -> PublishedFile:
    """Read a file of published counts: a release where it ends in ``.zip``, else as
    :func:`~tabprotect.engine.formats.published_rows.read_published`.

    Raises
    ------
    InputError
        Naming file, line, cell, cause and remedy.
    BundleError
        For a release that does not hold.
    """
    path = Path(path)
    if path.suffix.lower() == ".zip":
        return PublishedFile(path, verify(path, progress=progress).release)
    return PublishedFile(path, read_published(path, asked, reading, missing="unknown", progress=progress))


@dataclass(frozen=True, eq=False)
class AttackedFiles:
    """The beliefs that several files together allow.

    Attributes
    ----------
    found
    shown : int64 (cells,)
        The published count of each inner cell, -1 for none.
    said
        What was said of the methods.
    sources
        Names of the files.
    """

    found: Attacked
    shown: Ints
    said: str
    sources: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return what can be known, cell by cell, and of what method."""
        return self.found.as_json(self.shown, BELIEF_LIMIT) | {"method": self.said}


def attack_files(
    files: Sequence[PublishedFile], said: Sequence[str] = (), *, progress: Progress = SILENT
) -> AttackedFiles:
    """Return what somebody who puts published files together can know of every count.

    Parameters
    ----------
    said
        What is said of the methods: one for all files, or one for each. A release says it itself.

    Raises
    ------
    InputError
        When no table fits the numbers, or files contradict each other.
    ParameterError
        For a method that there is not, or methods that do not go together.
    Interrupted
        When cancelled.
    """
    sources = tuple(file.path.name for file in files)
    rows = [file.content for file in files if isinstance(file.content, PublishedRows)]
    if len(rows) < len(files):
        if len(files) > 1:
            raise InputError(
                message("a release is attacked by itself"), hint=message("infer reads several together")
            )
        found, shown, method = _release(files[0], progress)
        return AttackedFiles(found, shown, method, sources)
    if not said:
        raise ParameterError({"method": message("say how the tables were protected")})
    parsed = [SaidMethod.parse(one) for one in said]
    numbers, shown = together(rows, [str(file.path) for file in files], parsed)
    found = attack(numbers, programmes=PROGRAMMES, progress=progress)
    return AttackedFiles(found, shown, joined(dict.fromkeys(map(str, parsed)), "; "), sources)


ROUNDED = "random_rounding:base={}"

BASE = 3
"""To what a publisher would round who rounds none of the files yet."""


def publisher_could(
    files: Sequence[PublishedFile], said: Sequence[str], *, progress: Progress = SILENT
) -> list[tuple[str, AttackedFiles]]:
    """Return what a publisher of several files could do instead, in words, and what they would tell then.

    Each file is left out; one that is published as it is would be rounded at random as well. What is
    tried is a function of the files.

    Parameters
    ----------
    said
        What is said of the method of each file.
    """
    out: list[tuple[str, AttackedFiles]] = []
    if len(files) < 2 or len(said) != len(files):
        return out
    bases = (SaidMethod.parse(one).given.get("base", "") for one in said)
    base = next((int(one) for one in bases if one.isdecimal() and int(one) > 1), BASE)
    for number, file in enumerate(files):
        part = PartialProgress(progress, number, len(files))
        content, name = file.content, file.path.name
        ways: list[tuple[str, list[PublishedFile], list[str]]] = []
        if said[number] == "exact" and isinstance(content, PublishedRows):
            coins = np.random.default_rng(number).random(len(content.counts))
            down, left = np.divmod(content.counts, base)
            rounded = base * (down + (coins * base < left))
            instead = replace(file, content=replace(content, counts=rounded.astype(np.int64)))
            words = message("Round {name} at random to multiples of {base} as well", name, base)
            method = ROUNDED.format(base)
            ways.append((words, _with(files, number, [instead]), _with(said, number, [method])))
        words = message("Leave out {name}", name)
        ways.append((words, _with(files, number, []), _with(said, number, [])))
        for words, some, how in ways:
            # Files that are nothing without one another are no remedy.
            with suppress(InputError, ParameterError):
                out.append((words, attack_files(some, how, progress=part)))
    return out


def _with(every: Sequence[Thing], number: int, instead: list[Thing]) -> list[Thing]:
    return [*every[:number], *instead, *every[number + 1 :]]


def _release(file: PublishedFile, progress: Progress) -> tuple[Attacked, Ints, str]:
    release = file.content
    assert isinstance(release, Release)
    method = methods()[release.mechanism.method]
    numbers = method.numbers(release)
    if numbers is None:
        raise InputError(
            message("{label} does not protect number by number", method.label),
            hint=message("infer says what can be believed of every count"),
        )
    inner = release.inner
    shown = (
        np.full(release.domain.size, -1, dtype=np.int64)
        if inner is None
        else np.where(inner.hidden, -1, inner.table.counts).reshape(-1)
    )
    found = attack(numbers, programmes=PROGRAMMES, progress=progress)
    return found, shown, release.mechanism.method
