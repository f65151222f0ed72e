"""Commands: verbs on the project, each declared in one place.

A verb is a function ``(project, context, *, arguments) -> project``. Its annotations give the type
of each argument; :class:`Declared` adds everything else there is to know of it, so that no code
depends on a command's name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.plain_values.decoding import Decoding, FieldsError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.circumstances import Circumstances
from tabprotect.engine.project.project import Project
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.register.people.reading_together import LookedUp

Arguments = Mapping[str, object]

T = TypeVar("T")
P = ParamSpec("P")
Verb = Callable[Concatenate[Project, "Context", P], Project]


class _Argument(Decoding):
    # Seeds have 256 bits, and a given seed may have more.
    widest = 2**512 - 1


@dataclass(frozen=True)
class Context:
    """The means that a command may use besides the project.

    Attributes
    ----------
    progress
        Takes reports, and may cancel the work.
    trail
        The steps so far, for the dossier.
    register
        The register of releases: a file, a URL or ``none``; by default the house's own. It is chosen
        by whoever runs the program, and no recipe names it.
    looked_up
        What the register holds of the table, if it was asked a moment ago.
    """

    progress: Progress = SILENT
    trail: tuple[TrailEntry, ...] = ()
    register: str | None = None
    looked_up: LookedUp | None = None
    _seeds: list[int] = field(default_factory=list, repr=False)

    def randomness(self, seed: int | None) -> Randomness:
        """Randomness from a seed, or fresh; the trail keeps the seed."""
        return self.drawn(Randomness.seeded(seed))

    def drawn(self, randomness: Randomness) -> Randomness:
        """Hand on randomness that is already made; the trail keeps its seed."""
        self._seeds.append(randomness.seed)
        return randomness

    @property
    def seed(self) -> int | None:
        """The seed drawn or given last. Confidential."""
        return self._seeds[-1] if self._seeds else None


@dataclass(frozen=True, eq=False)
class Declared:
    """The declaration of a verb, as a decorator that makes the function a :class:`Command`.

    Attributes
    ----------
    label
        The named step ("set alpha to 0.30"): text with the arguments' names in braces, where
        ``{file}`` is the name of the file it reads or writes; or a function of the project
        before the command and the arguments.
    shell
        A function of the project before the command and the arguments that gives the equivalent
        command line as words; ``None`` if there is none.
    reads, writes
        The arguments that name a file to be read, and files to be written; a command that writes
        also has an argument ``overwrite``.
    reads_too
        An argument that holds further files to be read, by name.
    seed
        The argument with which the draws from :meth:`Context.randomness` are replayed.
    opens
        True if it opens a new document with a new history: nothing of another survey stays.
    seals
        True if it lets something out of the house: undo cannot cross it.
    replayed
        True if recipes include it.
    answers
        The arguments by which somebody answers for one release; a recipe without seeds, which is
        for other releases, leaves them out.
    slow
        True (or a function of the project) if it needs a worker and a progress bar.
    """

    label: str | Callable[[Project, Arguments], str]
    shell: Callable[[Project, Arguments], list[str]] | None = None
    reads: str = ""
    writes: tuple[str, ...] = ()
    reads_too: str = ""
    seed: str = ""
    opens: bool = False
    seals: bool = False
    replayed: bool = True
    answers: tuple[str, ...] = ()
    slow: bool | Callable[[Project], bool] = False

    def __call__(self, run: Verb[P]) -> Command[P]:
        return Command(run, self)

    def asking(
        self, asked: Callable[P, T]
    ) -> Callable[[Callable[[Project, Context, T], Project]], Command[P]]:
        """Declare a verb that takes its arguments as one value.

        Parameters
        ----------
        asked
            The class of that value (:class:`~tabprotect.engine.options.Options`); its fields are
            the arguments of the command.
        """

        def declare(verb: Callable[[Project, Context, T], Project]) -> Command[P]:
            def run(project: Project, context: Context, /, *args: P.args, **given: P.kwargs) -> Project:
                return verb(project, context, asked(*args, **given))

            before = list(inspect.signature(run).parameters.values())[:2]
            fields = inspect.signature(asked).parameters.values()
            run.__signature__ = inspect.Signature([*before, *fields])  # type: ignore[attr-defined]
            run.__annotations__ = get_type_hints(asked)
            run.__name__, run.__doc__, run.__module__ = verb.__name__, verb.__doc__, verb.__module__
            return Command(run, self)

        return declare


@dataclass(frozen=True, eq=False)
class Command(Generic[P]):
    """A verb with its declaration. Calling it with arguments returns an :class:`Order`."""

    run: Verb[P]
    says: Declared = field(repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        # Pickled by its name, as functions are.
        return resolve_name, (f"{self.run.__module__}:{self.name}",)

    @property
    def name(self) -> str:
        """The function's name, as in recipes and saved projects."""
        return self.run.__name__

    def __call__(self, *args: P.args, **given: P.kwargs) -> Order:
        return self.order(given)

    @cached_property
    def _taken(self) -> tuple[dict[str, inspect.Parameter], dict[str, object]]:
        """The arguments' types by name."""
        everything = list(inspect.signature(self.run).parameters.items())
        return dict(everything[2:]), get_type_hints(self.run)

    def takes_text(self, name: str) -> bool:
        """Return True if an argument takes text (or texts) and no number."""
        return _is_text(self._taken[1].get(name))

    def order(self, arguments: Arguments) -> Order:
        """Make an order from arguments out of JSON, checked against the verb's declaration.

        Arguments equal to their defaults are left out.

        Raises
        ------
        FieldsError
            For missing arguments and wrong types, all at once.
        ParameterError
            For unknown arguments, all at once.
        """
        parameters, types = self._taken
        named = [n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
        unknown = set(arguments) - set(named)
        if unknown and len(named) == len(parameters):
            why = message("{name} takes {value}", self.name, ", ".join(named) or message("no argument"))
            raise ParameterError(dict.fromkeys(sorted(unknown), message("unknown; {why}", why)))
        out = dict(arguments)
        decoding = _Argument()
        for name in named:
            default = parameters[name].default
            if name not in out:
                if default is inspect.Parameter.empty:
                    decoding.faults[name] = message("is missing")
            elif type(out[name]) is type(default) and out[name] == default:
                del out[name]
            else:
                decoding.value(out[name], types[name], name)
        if decoding.faults:
            raise FieldsError(decoding.faults)
        return Order(self, MappingProxyType(out))


@dataclass(frozen=True, eq=False)
class Order:
    """A command with its arguments, made by a click or a step of a recipe."""

    command: Command[...]
    arguments: Arguments = field(repr=False)

    def run(self, project: Project, context: Context | None = None) -> Project:
        """Run it and return the project after it.

        Raises
        ------
        TabprotectError
            As the command raises; the given project is never changed.
        """
        return self.command.run(project, context or Context(), **self.arguments)

    @property
    def files(self) -> dict[str, str]:
        """What it reads, by the arguments that name it."""
        says, given = self.command.says, self.arguments
        found = {says.reads: given.get(says.reads)} if says.reads else {}
        more = given.get(says.reads_too) if says.reads_too else None
        if isinstance(more, Mapping):
            found |= {f"{says.reads_too}.{name}": path for name, path in more.items()}
        return {name: path for name, path in found.items() if isinstance(path, str)}

    def label(self, project: Project) -> str:
        """The named step, for people; ``project`` is the one before it runs."""
        says = self.command.says
        label = says.label
        if not isinstance(label, str):
            return label(project, self.arguments)
        path = self.arguments.get(next(iter((*says.writes, says.reads))))
        return label.format(file=Path(str(path)).name, **self.arguments)

    def words(self, project: Project) -> list[str]:
        """The words of the equivalent command line; none if there is none.

        Seeds are left out: a command line ends up in a shell's history.
        """
        shell = self.command.says.shell
        return [] if shell is None else shell(project, self.arguments)

    def slow(self, project: Project) -> bool:
        """Return True if it needs a worker and a progress bar."""
        slow = self.command.says.slow
        return slow if isinstance(slow, bool) else slow(project)


@dataclass(frozen=True, eq=False)
class TrailEntry(Encodable):
    """One line of the audit trail.

    Attributes
    ----------
    order
        The command and its arguments.
    label
        The named step, for people.
    time
        The time of the step: UTC, ISO 8601 to the second.
    seed
        The seed the command drew or was given. Confidential.
    at
        By whom, with which program, on what, and with which result. Confidential.
    """

    order: Order
    label: str
    time: str
    seed: int | None = field(default=None, repr=False)
    at: Circumstances = field(default_factory=Circumstances, repr=False)
    json_keys = "time *at label command arguments seed published=sealed"

    @property
    def command(self) -> str:
        """The name of the command."""
        return self.order.command.name

    @property
    def arguments(self) -> Arguments:
        """The arguments of the command."""
        return self.order.arguments

    @property
    def sealed(self) -> bool:
        """True if this step published something: nothing before it can be undone."""
        return self.order.command.says.seals


def _is_text(hint: object) -> bool:
    if get_origin(hint) is UnionType:
        return any(map(_is_text, get_args(hint)))
    return _is_text(get_args(hint)[-1]) if get_args(hint) else hint is str


def stated(**given: object) -> dict[str, Any]:
    """The arguments that are not ``None``."""
    return {name: value for name, value in given.items() if value is not None}


def cell(value: Sequence[int], domain: Domain) -> Index:
    """A cell index out of JSON, checked against the table.

    Raises
    ------
    InputError
        When it is no cell of the table.
    """
    if len(value) != domain.ndim:
        raise InputError(message("{value} is not a cell of {ndim} numbers", repr(value), domain.ndim))
    index = tuple(value)
    domain.flat(index)
    return index


def number_text(value: object) -> str:
    """A number for a label: with two decimals if these are exact."""
    if isinstance(value, float):
        short = float(f"{value:.2f}") == value
        return message("{value:.2f}" if short else "{value:g}", value)
    return str(value)
