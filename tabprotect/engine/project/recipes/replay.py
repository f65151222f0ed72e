"""Running recipes: the same commands, run the same way as by a click.

Variables of recipes: ``${name}`` in any text of a step, set when the recipe is run.

A recipe may give their defaults in a table ``[variables]``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os.path import isfile
from pathlib import Path

from tabprotect.engine.atomic import make_folder
from tabprotect.engine.bundle.staff.confidential import suggested_name
from tabprotect.engine.errors import InputError, ParameterError, TabprotectError, in_file
from tabprotect.engine.paths import is_url, read_text
from tabprotect.engine.plain_values.decoding import parsed_toml
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.commands import spelled
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipe_text import FORMAT
from tabprotect.engine.project.recipes.last_year import (
    OtherCategories,
    SinceLastYear,
    expected_categories,
    other_categories,
    since_last_year,
    undecided,
)
from tabprotect.engine.project.recipes.recipe_mapping import Renames, mapped_categories
from tabprotect.engine.project.verbs.level_verbs import map_categories
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})([.][0-9]+)?")
_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_-]*)\}")


class Alone(str):
    """The value of a step's text that consisted of one variable alone."""


def given_variables(defaults: object, settings: Mapping[str, str]) -> dict[str, str]:
    """The variables of a recipe: as set, else its own defaults.

    Raises
    ------
    InputError
        If ``[variables]`` is no table of texts and numbers.
    """
    if not isinstance(defaults, dict) or any(
        isinstance(v, bool) or not isinstance(v, str | int | float) for v in defaults.values()
    ):
        raise InputError(message("[variables] must give each variable a text or a number"))
    return {**{name: str(value) for name, value in defaults.items()}, **settings}


def filled(steps: object, values: Mapping[str, str]) -> object:
    """Steps with every ``${name}`` replaced; a text of one variable alone becomes :class:`Alone`.

    Raises
    ------
    ParameterError
        Naming all variables that are not set, and all values that no step uses.
    """
    used: set[str] = set()

    def fill(value: object) -> object:
        if isinstance(value, dict):
            return {key: fill(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [fill(inner) for inner in value]
        if not isinstance(value, str):
            return value
        used.update(_NAME.findall(value))
        alone = _NAME.fullmatch(value)
        text = _NAME.sub(lambda found: values.get(found[1], found[0]), value)
        return Alone(text) if alone else text

    out = fill(steps)
    wrong = dict.fromkeys(sorted(used - set(values)), message("not set: --set NAME=VALUE"))
    wrong |= dict.fromkeys(sorted(set(values) - used), message("the recipe has no such variable"))
    if wrong:
        raise ParameterError(wrong)
    return out


def settled(value: object, *, text: bool) -> object:
    """The value of a step's argument: a variable alone becomes a number if it looks like one and may be.

    Parameters
    ----------
    text
        True if the command takes text there.
    """
    if isinstance(value, dict):
        return {key: settled(inner, text=text) for key, inner in value.items()}
    if isinstance(value, list):
        return [settled(inner, text=text) for inner in value]
    if not isinstance(value, Alone):
        return value
    if text or not _NUMBER.fullmatch(value):
        return str(value)
    return float(value) if "." in value else int(value)


MOST_DIGITS = 400
"""Of a seed in a recipe."""

RELEASE = "release.zip"

AFTER_TABLE = frozenset({"set_cycles", "set_method", "set_parameters", "set_rules", "protect", "publish"})
"""Commands that need the table the recipe is made for."""


@dataclass(frozen=True)
class Mapped:
    """The categories a recipe expects, and the decisions where they differ.

    Attributes
    ----------
    expects
        Variable -> its categories; empty if the recipe does not say.
    renames
        (variable, category found) -> its name in the recipe, itself, or nothing where it is left out:
        as the recipe's ``[mapping]`` says, and as is said when it runs.
    accept
        True if other categories are taken as they are.
    """

    expects: Mapping[str, tuple[str, ...]]
    renames: Renames
    accept: bool = False

    def check(self, domain: Domain) -> None:
        """Refuse undecided categories."""
        found = [self._open(other) for other in other_categories(domain, self.expects)]
        left = tuple(other for other in found if other.new or other.missing)
        if left and not self.accept:
            raise undecided(left)

    def _open(self, other: OtherCategories) -> OtherCategories:
        """Return what is not said yet: of a category that keeps its name it is."""
        said = {name for name in other.new if self.renames.get((other.variable, name)) == name}
        alike = {name: like for name, like in other.alike.items() if name not in said}
        new = tuple(name for name in other.new if name not in said)
        return replace(other, new=new, alike=alike)

    def of(self, variable: str) -> dict[str, str]:
        """Category found -> what it is counted as, of one variable."""
        return {found: to for (name, found), to in self.renames.items() if name == variable}

    def listed(self, step: Order, given: dict[str, object]) -> None:
        """Say in the arguments of a step that reads code lists what codes that these lack are."""
        lists = given.get("code_lists" if step.command.says.opens else "files")
        if not isinstance(lists, Mapping) or not lists:
            return
        before = given.get("mapping")
        said = dict(before) if isinstance(before, Mapping) else {}
        if step.command.says.opens:
            said |= {f"{v}:{found}": to for v in lists for found, to in self.of(v).items()}
        else:
            said |= self.of(str(given["variable"]))
        if said:
            given["mapping"] = said

    def orders(self, steps: Sequence[Order], domain: Domain) -> Iterator[Order]:
        """Return what is to be done to the table as opened; code lists that steps read do it themselves."""
        listed: set[str] = set()
        for step in steps:
            lists = step.arguments.get("code_lists")
            listed |= set(lists) if isinstance(lists, Mapping) else set()
            if step.arguments.get("files"):
                listed.add(str(step.arguments.get("variable")))
        for name in domain.names:
            if name not in listed and (mapping := self.of(name)):
                yield map_categories(variable=name, mapping=mapping)


@contextmanager
def _step(number: int, name: str) -> Iterator[None]:
    """Add the step's number and name to errors."""
    try:
        yield
    except TabprotectError as error:
        error.message = message("step {number} ({name}): {message}", number, name, error.message)
        raise


def from_text(text: str, settings: Mapping[str, str] | None = None) -> list[Order]:
    """The commands of a recipe.

    Parameters
    ----------
    settings
        The recipe's variables by name (see :mod:`~tabprotect.engine.project.recipes.replay`).

    Raises
    ------
    InputError
        Naming the line or the step.
    ParameterError
        For variables that are not set, or that the recipe does not have.
    """
    data = parsed_toml(text, "recipe")
    if data.get("recipe") != FORMAT:
        raise InputError(
            message('a recipe begins with "recipe = {FORMAT}"', FORMAT),
            hint=message("this file may be something else"),
        )
    values = given_variables(data.get("variables", {}), settings or {})
    steps = filled(data.get("step"), values)
    if not isinstance(steps, list) or not steps:
        raise InputError(message("the recipe has no [[step]]"))
    out: list[Order] = []
    for number, step in enumerate(steps, 1):
        if not isinstance(step, dict) or not isinstance(name := step.pop("do", None), str):
            raise InputError(message('step {number} says not what to do: do = "..." is missing', number))
        with _step(number, name):
            command, step = spelled(name, step)
            step = {key: settled(v, text=command.takes_text(key)) for key, v in step.items()}
            if isinstance(seed := step.get(command.says.seed), str):
                if not seed.isdecimal() or len(seed) > MOST_DIGITS:
                    raise InputError(message("the seed {seed} is no whole number", repr(seed[:60])))
                step[command.says.seed] = int(seed)
            out.append(command.order(step))
    return out


def read(path: Path, settings: Mapping[str, str] | None = None) -> list[Order]:
    """Read a recipe file (see :func:`from_text`)."""
    text = read_text(path)
    with in_file(path):
        return from_text(text, settings)


def run(
    steps: Sequence[Order],
    out: Path,
    *,
    folder: Path = Path(),
    mapping: Mapped | None = None,
    publishing: bool = True,
    progress: Progress = SILENT,
) -> tuple[History, list[Path]]:
    """Run commands and write what they publish into ``out``.

    For a recipe that protects but does not publish, release and dossier are written at the end. Files
    that steps read are looked for beside the recipe; files that steps write go into ``out`` under
    their own names.

    Parameters
    ----------
    folder
        The recipe's folder.
    mapping
        The categories that the steps are made for, and the decisions where they differ.
    publishing
        True to run the steps that publish, and to add them if there are none.

    Returns
    -------
    history, written
        The finished history, and the files that were written.

    Raises
    ------
    TabprotectError
        Naming the step.
    """
    history = History()
    written: list[Path] = []
    read_files: set[str] = set()
    added = 0
    checked = False
    if not publishing:
        steps = [step for step in steps if not step.command.says.seals]
    elif not any(step.command.says.seals for step in steps):
        beside = suggested_name(Path(RELEASE)).name
        steps = [*steps, publish(release=RELEASE, dossier=beside)]
        added = len(steps)
    for number, step in enumerate(steps, 1):
        if number == added and not history.project.done:
            break
        with _step(number, step.command.name):
            given = dict(step.arguments)
            read_files |= _found(step, given, folder)
            if mapping is not None and step.command.name in AFTER_TABLE and not checked:
                checked = True
                mapping.check(history.project.original.domain)
            if step.command.says.writes:
                written += _redirected(step, given, out, read_files)
            if given.get("draw_keys") and given.get("key_seed") is None:
                # The same recipe on the same records is the same release.
                given["house_keys"] = True
            if mapping is not None:
                mapping.listed(step, given)
            history, _ = history.do(step.command.order(given), progress=progress)
            if mapping is not None and step.command.says.opens:
                for order in mapping.orders(steps, history.project.original.domain):
                    history, _ = history.do(order, progress=progress)
    return history, written


def _found(step: Order, given: dict[str, object], folder: Path) -> set[str]:
    """Point a step to the files beside the recipe that it reads; return their paths."""
    says, found = step.command.says, set()
    if isinstance(source := given.get(says.reads), str):
        given[says.reads] = beside = _beside(source, folder)
        found.add(os.path.realpath(beside))
    if isinstance(files := given.get(says.reads_too), dict):
        named = {name: _beside(str(file), folder) for name, file in files.items()}
        given[says.reads_too] = named
        found |= {os.path.realpath(file) for file in named.values()}
    return found


def _redirected(step: Order, given: dict[str, object], out: Path, read_files: set[str]) -> list[Path]:
    """Send a step's files into the folder, replacing any but those the recipe reads."""
    written: list[Path] = []
    for key in step.command.says.writes:
        if given.get(key) is not None:
            path = out / Path(str(given[key])).name
            if os.path.realpath(path) in read_files:
                raise InputError(
                    message("would be overwritten: the recipe reads it"),
                    file=path,
                    hint=message("write into another folder"),
                )
            given[key] = str(path)
            written.append(path)
    given["overwrite"] = True
    try:
        make_folder(out)
    except OSError as error:
        raise InputError(message("cannot be created: {strerror}", error.strerror), file=out) from None
    return written


def _beside(source: str, folder: Path) -> str:
    if source.startswith(PREFIX) or is_url(source) or Path(source).is_absolute():
        return source
    return str(folder / source)


def run_file(
    path: Path,
    out: Path,
    *,
    settings: Mapping[str, str] | None = None,
    renames: Renames | None = None,
    accept: bool = False,
    progress: Progress = SILENT,
) -> tuple[History, list[Path]]:
    """Read a recipe file and run it with its variables (see :func:`from_text`, :func:`run`).

    Parameters
    ----------
    renames
        The categories of the file and their names in the recipe.
    accept
        True to take new and missing categories as they are.

    Raises
    ------
    TabprotectError
        As the steps raise; also for categories that differ from the expected ones and are undecided.
    """
    mapping = Mapped(expected_categories(path), {**mapped_categories(path), **(renames or {})}, accept)
    steps = read(path, settings)
    return run(steps, out, folder=path.parent, mapping=mapping, progress=progress)


def prepared_recipe(
    path: Path,
    settings: Mapping[str, str],
    *,
    renames: Renames | None = None,
    accept: bool = False,
    progress: Progress = SILENT,
) -> tuple[History, SinceLastYear | None]:
    """Run a recipe up to the gate, publishing nothing; with the differences from last year.

    Raises
    ------
    TabprotectError
        As :func:`run_file`.
    """
    mapping = Mapped(expected_categories(path), {**mapped_categories(path), **(renames or {})}, accept)
    steps, folder = read(path, settings), path.parent
    history, _ = run(steps, folder, folder=folder, mapping=mapping, publishing=False, progress=progress)
    return history, last_and_now(path, settings, history, progress)


def _as_opened(history: History) -> Table | None:
    """The table as read from the file, with its categories renamed as the recipe names them."""
    found: Table | None = None
    for step in history.steps:
        mine = step.order.command.says.opens or step.order.command is map_categories
        if not mine or step.project is None:
            break
        found = step.project.table
    return found


def last_and_now(
    path: Path, settings: Mapping[str, str], now: History, progress: Progress = SILENT
) -> SinceLastYear | None:
    """The differences from last year, if last year's file is beside the recipe and is read as this one."""
    try:
        steps = read(path)
        begin = next(step for step in steps if step.command.says.opens)
        given = dict(begin.arguments)
        source = _beside(str(given.get(begin.command.says.reads, "")), path.parent)
    except (TabprotectError, StopIteration):
        # A variable without a default: the recipe does not say which file it was made from.
        return None
    first = _as_opened(now)
    if first is None or not isfile(source):
        return None
    if begin.arguments == next(iter(read(path, settings))).arguments:
        return None
    _found(begin, given, path.parent)
    Mapped({}, mapped_categories(path)).listed(begin, given)
    try:
        before, _ = History().do(begin.command.order(given), progress=progress)
        return since_last_year(before.project.original, first)
    except TabprotectError:
        # Last year's file is not read as this year's is: there is nothing to compare.
        return None
