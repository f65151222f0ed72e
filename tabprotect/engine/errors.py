"""The tree of errors. Each names the fault, its place and its remedy."""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from tabprotect.languages.messages import capital, joined, message
from tabprotect.version import missing_kernels

T = TypeVar("T")


Answer = tuple[Mapping[str, object], tuple[str, ...]]
"""Settings that change on a command line, and words that come to it."""

ACCEPT: Answer = ({}, ("--accept", "REASON"))
KEPT_SMALL: Answer = ({}, ("--kept-small", "keep"))
AGAIN: Answer = ({}, ("--again", "REASON"))


class TabprotectError(Exception):
    """Anything the program refuses or cannot do.

    Parameters
    ----------
    message
        The cause in one sentence, in the user's words.
    hint
        The remedy in one sentence; empty if there is none.
    detail
        Further lines to unfold and copy (such as a list of sums that do not add up).
    """

    exit_code = 1
    kind = "error"
    commands: tuple[str, ...] = ()
    """Command lines that do what was asked in a way that may succeed, best first. Confidential."""
    answers: tuple[Answer, ...] = ()
    """What else to say on the same command line, where no suggestion does it; best first."""
    figures: Mapping[str, object] = MappingProxyType({})
    """What was worked out before it failed, for ``--json`` output. Confidential."""
    json_keys = "kind message place hint detail suggestions=commands"

    def __init__(
        self, message: str, *, hint: str = "", detail: str = "", answers: tuple[Answer, ...] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.detail = detail
        self.answers = answers

    def __reduce__(self) -> tuple[object, ...]:
        # Out of a pickle it is not made by its parameters, of which it holds the text that they became.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]

    @property
    def place(self) -> str:
        """The place of the fault, as text; empty if it has none."""
        return ""

    @property
    def sentence(self) -> str:
        """The message as a separate sentence, to stand beside others."""
        return capital(self.message) + "."

    def __str__(self) -> str:
        where = message("{place}: ", self.place) if self.place else ""
        return f"{where}{self.message}"


class InputError(TabprotectError):
    """A file or a table that cannot be used, with its file, line and cell."""

    exit_code = 3
    kind = "input"
    json_keys = f"{TabprotectError.json_keys} file line cell"

    def __init__(
        self,
        message: str,
        *,
        file: Path | str | None = None,
        line: int | None = None,
        cell: str | None = None,
        hint: str = "",
        detail: str = "",
    ) -> None:
        super().__init__(message, hint=hint, detail=detail)
        self.file = None if file is None else str(file)
        self.line = line
        self.cell = cell

    @property
    def place(self) -> str:
        parts = []
        if self.file is not None:
            parts.append(self.file)
        if self.line is not None:
            parts.append(message("line {line}", self.line))
        if self.cell is not None:
            parts.append(message("cell {cell}", self.cell))
        return joined(parts, ", ")

    def in_file(self, file: Path | str) -> InputError:
        """The same error with the file named, for readers that only see lines."""
        if self.file is None:
            self.file = str(file)
        return self


@contextmanager
def in_file(file: Path | str) -> Iterator[None]:
    """Name the file in errors of what is read from it, or written to it."""
    try:
        yield
    except InputError as error:
        raise error.in_file(file) from None


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Report a missing optional package: everything else runs without it.

    Raises
    ------
    InputError
        Names the extra that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(
            message("{what} cannot be loaded: {name} is not installed", what, error.name),
            hint=message("install it with: pip install 'tabprotect[{extra}]'", extra),
        ) from None


class RecordsError(InputError):
    """A file or an example that holds records instead of a table of counts."""


class ParameterError(TabprotectError):
    """Parameters out of bounds. ``fields`` names *all* wrong ones, not only the first."""

    exit_code = 4
    kind = "parameter"
    json_keys = f"{TabprotectError.json_keys} fields"

    def __init__(self, fields: Mapping[str, str], *, hint: str = "") -> None:
        text = joined((message("{name}: {why}", name, why) for name, why in fields.items()), "; ")
        super().__init__(text, hint=hint)
        self.fields = dict(fields)


@contextmanager
def about(keyword: str = "", **called: str) -> Iterator[None]:
    """Name what somebody typed in the errors of what is done with it.

    Parameters
    ----------
    keyword
        What an error of the input is about.
    **called
        The keyword of each parameter that has another name further down.
    """
    try:
        yield
    except ParameterError as error:
        raise ParameterError(
            {called.get(name, name): why for name, why in error.fields.items()}, hint=error.hint
        ) from None
    except InputError as error:
        if keyword:
            error.message = message("{name}: {why}", keyword, error.message)
        raise


@dataclass(frozen=True)
class Suggestion:
    """Another request to make: in words (a button), and as parameters."""

    json_keys = "text parameters"

    text: str
    parameters: Mapping[str, object]

    @property
    def reached(self) -> str:
        """Its result in the trial, in words; empty if it was not tried."""
        return ""

    @property
    def takes_reason(self) -> bool:
        """Return True if its result takes a reason to leave."""
        return False


class InfeasibleError(TabprotectError):
    """No result satisfies the request (or no original fits).

    ``suggestions`` are other requests, the most promising first; ``runnable`` those that lead to a
    result as they stand, each with the words of the command line it takes besides, where that was
    looked at.
    """

    exit_code = 5
    kind = "infeasible"
    suggestions: tuple[Suggestion, ...] = ()
    runnable: tuple[tuple[Suggestion, tuple[str, ...]], ...] | None = None
    json_keys = f"{TabprotectError.json_keys} remedies=suggestions?"


class TooLargeError(InfeasibleError):
    """A result may exist, but finding it takes more than the program does."""


class SolverError(TabprotectError):
    """The solver failed on a programme that has a solution; the failure proves nothing."""

    exit_code = 5
    kind = "solver"


class RefusedError(InfeasibleError):
    """Possible, but it would not protect: going on takes an explicit, recorded decision.

    ``drawn`` unless the settings alone were refused, which tells nothing of the table; ``weighed``
    unless what it tells cannot be worked out for a later release; ``by_itself`` unless a draw failed
    only for what was refused before; ``listed`` the list of settings of which all were refused; ``asks`` where somebody has to
    decide about it, whatever the settings.
    """

    kind = "refused"
    drawn: bool = True
    weighed: bool = True
    asks: bool = False
    by_itself: bool = True
    listed: Any = None


class Interrupted(TabprotectError):  # noqa: N818 (nothing went wrong)
    """The user cancelled; everything is as it was before."""

    exit_code = 130
    kind = "interrupted"

    def __init__(self, message: str = message("cancelled; nothing was changed")) -> None:
        super().__init__(message)


def attempted(work: Callable[[], T], *, faults: bool = False) -> T | TabprotectError:
    """The result of the work, or the error that refuses it.

    Parameters
    ----------
    faults
        Whether a fault of the program counts as a refusal too: see :func:`internal`.

    Raises
    ------
    Interrupted
        If cancelled.
    """
    try:
        return work()
    except Interrupted:
        raise
    except TabprotectError as error:
        return error
    except Exception as error:
        if not faults:
            raise
        return internal(error)


def of_system(error: OSError, path: Path | str | None = None) -> InputError:
    """Return what the system says of a file as an error of the program."""
    return InputError(
        message("the system says: {cause}", error.strerror or type(error).__name__),
        file=path or (os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None),
        hint=message("check that it is there, and that you may use it"),
    )


def internal(error: Exception) -> TabprotectError:
    """The error for a fault of the program, by type and place; its own text may quote a count.

    What the system refuses is no fault of the program.
    """
    if isinstance(error, OSError):
        return of_system(error)
    if isinstance(error, ImportError) and (parts := missing_kernels()):
        return not_whole(parts)
    import traceback

    where = traceback.extract_tb(error.__traceback__)[-1]
    place = message("{name}, line {lineno}", Path(where.filename).name, where.lineno)
    return TabprotectError(message("internal error: {name} in {place}", type(error).__name__, place))


def not_whole(parts: list[str]) -> TabprotectError:
    """The error for an installation that lacks these compiled parts."""
    return TabprotectError(
        message("this needs a compiled part that is not here: {parts}", joined(parts, ", ")),
        hint=message("install a wheel, or install again where there is a C compiler"),
    )


ANOTHER_COPY = message(
    "take another copy from its source, and compare it with what was announced: "
    "tabprotect verify FILE --fingerprint SHA256"
)


class BundleError(TabprotectError):
    """A release bundle or dossier that is damaged, forged or unsafe to open."""

    exit_code = 6
    kind = "bundle"

    def __init__(self, message: str, *, hint: str = "", detail: str = "") -> None:
        super().__init__(message, hint=hint or ANOTHER_COPY, detail=detail)
