"""Protecting a table: from counts to a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tabprotect.engine.bounds.joined import joined_table, stacked_table
from tabprotect.engine.bundle.tables.data_package import HIDDEN
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.disclosure.magnitude_verdict import sentences
from tabprotect.engine.errors import Interrupted, ParameterError, TabprotectError
from tabprotect.engine.options import Measure
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project import workflow
from tabprotect.engine.project.history import History
from tabprotect.engine.project.options import DEFAULT_METHOD, Protecting, Publishing
from tabprotect.engine.project.plugin_pages import plugin_page, plugins_named
from tabprotect.engine.project.releasing.judgement import judge_release
from tabprotect.engine.project.verbs import set_verbs
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods as registered
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.publication_set import PublicationSet, with_parts
from tabprotect.engine.workers.spreading import Workers, spread
from tabprotect.languages.messages import joined, message
from tabprotect.library.arguments.asking import asks, keywords, plain, taken
from tabprotect.library.cycles import Cycles
from tabprotect.library.release import published_frame
from tabprotect.library.shown.frames import Framed, made
from tabprotect.library.table import Table, check_table
from tabprotect.library.verdicts import AgencyVerdict

if TYPE_CHECKING:
    from typing import Unpack

    from tabprotect.library.arguments.keywords import (
        Method,
        Protects,
        ProtectsAll,
        ProtectsSet,
        PublishingKeywords,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Protection(Framed):
    """A protected table in the house: what may leave it, and what stays.

    Attributes
    ----------
    history
        All steps so far. CONFIDENTIAL.
    kind
        What data frames come back as.

    See Also
    --------
    protect

    Examples
    --------
    >>> import tabprotect as tp
    >>> protection = tp.protect(tp.read_table("example:duncan-roehrig-4x4"))
    >>> protection.verdict.to_frame("dict")["reader"][0]
    'user'
    """

    history: History = field(repr=False)
    kind: str

    @property
    def protected(self) -> Protected:
        """Release and evidence. CONFIDENTIAL."""
        protected = self.history.project.protected
        assert protected is not None
        return protected

    @property
    def release(self) -> Release:
        """Return what would be published, with nothing of the original."""
        return self.protected.release

    @property
    def parameters(self) -> Mapping[str, object]:
        """All resolved parameters, the confidential ones too."""
        return self.protected.record.parameters

    @property
    def figures(self) -> Mapping[str, object]:
        """Return what the run did, as ``protect --json`` has it. CONFIDENTIAL."""
        if self.history.project.measure == "counts":
            return summarise(self.protected).as_json()
        return self.protected.record.findings

    @property
    def verdict(self) -> AgencyVerdict:
        """Return what readers of the release learn, with the true figures for staff. CONFIDENTIAL."""
        return AgencyVerdict.of(self.protected.verdict)

    @property
    def together(self) -> AgencyVerdict | None:
        """Return what readers of this and of all earlier releases of the original learn, by the register
        of the house; ``None`` where nothing left before. CONFIDENTIAL."""
        found = judge_release(self.history.project).before.together
        return None if found is None else AgencyVerdict.of(found)

    @property
    def sentence(self) -> str:
        """Say what the run did to the table, in one sentence. CONFIDENTIAL."""
        if self.history.project.measure == "counts":
            return summarise(self.protected).sentence
        return joined(sentences(self.protected), " ")

    def __repr__(self) -> str:
        project = self.history.project
        return f"Protection({project.method}, {' x '.join(map(str, project.domain.shape))})"

    def to_frame(self, kind: str | None = None) -> Any:
        """The published cells: categories and published figure, missing where suppressed.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> list(tp.protect(table, seed=7).to_frame("dict"))
        ['v', 'w', 'count']
        """
        release = self.release
        if release.tables:
            return published_frame(release, kind or self.kind)
        table = release.magnitude_table
        columns = {
            variable.name: np.array(variable.written, dtype=object)[nodes]
            for variable, nodes in zip(table.variables, table.nodes, strict=True)
        }
        value = np.array(
            [None if text == "" else float(text) for text in map(table.written, range(len(table.key)))],
            dtype=object,
        )
        columns |= {"value": value, "status": np.where(table.hidden, HIDDEN, "").astype(object)}
        rows = [table.figures(number) for number in range(len(table.key))]
        for name, texts in zip(table.beside, zip(*rows, strict=True), strict=True):
            kind_of = int if name == "n" else float
            columns[name] = np.array([kind_of(text) if text else None for text in texts], dtype=object)
        return made(columns, kind or self.kind)

    @asks(Publishing)
    def publish(
        self, release: str | Path, *, progress: Progress = SILENT, **asked: Unpack[PublishingKeywords]
    ) -> Protection:
        """Write the release bundle and, where wanted, the CONFIDENTIAL dossier: both or neither.

        It is entered in the register of the house.

        Parameters
        ----------
        release
            The zip for readers; of several ``tables`` the folder of their bundles.
        **asked

        Raises
        ------
        InputError
            When a file is there already, or cannot be written, or the release lacks a table.
        RefusedError
            When the policy of the house takes names or a reason that are not given.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     left = tp.protect(table).publish(Path(folder) / "release.zip")
        ...     tp.open_release(Path(folder) / "release.zip").domain.names
        ('v', 'w')
        """
        publishing = taken(Publishing, asked, release=str(release))
        history = workflow.published(self.history, publishing, progress=progress)
        return Protection(history, self.kind)

    def publish_set(self, folder: str | Path, *, tables: Mapping[str, str], **asked: Any) -> Protection:
        """Write a bundle for each table of a set: :meth:`publish` with ``tables``.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:czech-autoworkers")
        >>> both = {"ab": "A*B", "bc": "B*C"}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     left = tp.protect_set(table, both, "random_rounding").publish_set(folder, tables=both)
        ...     sorted(one.name for one in Path(folder).iterdir())
        ['ab.zip', 'bc.zip', 'manifest.json', 'set.json']
        """
        return self.publish(folder, tables=tables, **asked)


# The same functions: checked, and completed in an editor, by the parameters of the method they name.


def _one(function: Callable[..., Protection]) -> Protects[Table, Protection]:
    return cast("Protects[Table, Protection]", function)


def _set(function: Callable[..., Protection]) -> ProtectsSet[Table, Protection]:
    return cast("ProtectsSet[Table, Protection]", function)


def _all(function: Callable[..., ProtectedTables]) -> ProtectsAll[Table, ProtectedTables]:
    return cast("ProtectsAll[Table, ProtectedTables]", function)


@_set
def protect_set(
    table: Table | Mapping[str, Table],
    /,
    tables: Mapping[str, str] | None = None,
    method: Method = DEFAULT_METHOD,
    *,
    by: str | None = None,
    progress: Progress = SILENT,
    **given: Any,
) -> Protection:
    """Protect several tables of the same records in one run: what they share is the same in all.

    Parameters
    ----------
    table
        The counts over all variables; or several tables by name, of which none need be.
    tables
        A formula for each table by name; levels are named ``region@nuts2``. Of several tables each
        is one by default.
    method
        Its name. One that publishes the inner cells is told by ``keep`` which margins stay exact,
        and needs the counts over all variables.
    by
        A variable by which each table is published, too, such as men, women and all. Several tables that lack
        it are those of its categories, by their names.
    **given
        As in :func:`~tabprotect.protect`.

    Returns
    -------
    Protection
        Of all tables together; :meth:`Protection.publish` with ``tables`` writes a bundle for each.

    See Also
    --------
    protect, protect_all, Protection.publish

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:czech-autoworkers")
    >>> found = tp.protect_set(table, {"one": "A*B", "two": "B*C"}, "random_rounding", seed=1)
    >>> len(found.release.tables)
    6
    """
    for one in table.values() if isinstance(table, Mapping) else [table]:
        check_table(one)
        set_verbs.check_counts(one.history.project)
    several = {n: t.table for n, t in table.items()} if isinstance(table, Mapping) else {}
    formulas = dict(tables or {})
    if isinstance(table, Mapping):
        kind = next(iter(table.values())).kind
        if by is not None and not any(by in one.domain.known_names for one in several.values()):
            table, several = Table(History.of(stacked_table(several, by)), kind), {}
        else:
            set_verbs.check_publishes_margins(method)
            table = Table(History.of(joined_table(several, progress)), kind)
            formulas = formulas or {n: "*".join(map(in_formula, t.domain.names)) for n, t in several.items()}
    chosen = PublicationSet(table.domain, formulas if by is None else with_parts(formulas, table.domain, by))
    if several:
        set_verbs.check_within(chosen, several)
    if any(parameter.name == "margins" for parameter in registered()[method].parameters):
        given["margins"] = chosen.formula
    return protect(table, method, progress=progress, **given)


@_one
@asks(Protecting, rest="parameters")
def protect(
    table: Table, /, method: str | None = None, *, progress: Progress = SILENT, **asked: Any
) -> Protection:
    """Protect a table of counts or of magnitudes with one of the :func:`~tabprotect.methods`.

    The same seed gives the same bytes as the command line.

    Parameters
    ----------
    table
        Of :func:`~tabprotect.read_table`, :func:`~tabprotect.tabulate` or ``Table.from_frame``.
    method
        Its name; by default that of a saved project, else cyclic perturbation, and suppression for
        magnitudes.
    **asked
    **parameters
        Of the method; :func:`~tabprotect.describe` explains them.

    Raises
    ------
    ParameterError
        Naming every wrong parameter at once.
    RefusedError
        When readers of every draw would know too much; what may help is in its ``suggestions``.

    See Also
    --------
    methods, describe, compare, protect_set, protect_all

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:duncan-roehrig-4x4")
    >>> tp.protect(table, "cyclic_perturbation", alpha=0.25)
    Protection(cyclic_perturbation, 4 x 4)
    >>> firms = {"nace": ["24"] * 6, "turnover": [660, 83, 49, 8, 5, 4]}
    >>> turnover = tp.tabulate(firms, by=["nace"], measure="turnover")
    >>> tp.protect(turnover, "suppression", rule="p=10")
    Protection(suppression, 1)
    """
    check_table(table)
    named = {one.name for one in keywords(Protecting)}
    cycles = asked.get("cycles")
    if isinstance(cycles, Cycles):
        asked["cycles"] = cycle_files.to_json(cycles.moves)
    elif not isinstance(cycles, str | Path | None):
        what = type(cycles).__name__
        raise ParameterError({"cycles": message("must be a kind, a file, or Cycles, is {kind}", what)})
    protecting = taken(
        Protecting,
        {name: value for name, value in asked.items() if name in named},
        method=None if method == table.history.project.method else method,
        parameters={name: plain(value) for name, value in asked.items() if name not in named},
    )
    return Protection(workflow.protected(table.history, protecting, progress), table.kind)


@dataclass(frozen=True, eq=False, repr=False)
class ProtectedTables:
    """Several tables, each protected by itself or refused.

    Attributes
    ----------
    protections
        Those that were protected, by name.
    errors
        Why each of the others was not.

    See Also
    --------
    protect_all

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:czech-autoworkers")
    >>> found = tp.protect_all({"ab": table.margin("A", "B")}, "random_rounding", workers=1)
    >>> found.protections["ab"]
    Protection(random_rounding, 2 x 2)
    """

    protections: Mapping[str, Protection]
    errors: Mapping[str, TabprotectError]

    def __repr__(self) -> str:
        return f"ProtectedTables({len(self.protections)} protected, {len(self.errors)} refused)"


@_all
def protect_all(
    tables: Mapping[str, Table],
    /,
    method: Method | None = None,
    *,
    workers: Workers = None,
    progress: Progress = SILENT,
    **given: Any,
) -> ProtectedTables:
    """Protect many tables, each by itself, on all cores; what is refused stops none of the others.

    Tables of the same records belong into :func:`protect_set`.

    Parameters
    ----------
    tables
        By name.
    method
        Its name, as in :func:`protect`.
    workers
        Processes at most; all cores by default, 1 for this one alone. They are started where it pays, and
        get tables from this process by pipes: no table is written to a file. ``"tcp://host:port"`` of a
        Dask scheduler sends the tables to its workers, which have this program.
    progress
        Called after each table; what it raises ends all processes, as Ctrl-C does.
    **given
        As in :func:`protect`.

    Returns
    -------
    ProtectedTables
        The same as a loop over :func:`protect` gives.

    See Also
    --------
    protect, protect_set

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:czech-autoworkers")
    >>> tables = {name: table.margin("A", name) for name in "BCDEF"}
    >>> found = tp.protect_all(tables, "random_rounding", base=5)
    >>> found
    ProtectedTables(5 protected, 0 refused)
    >>> sorted(found.protections)
    ['B', 'C', 'D', 'E', 'F']
    """
    found = spread(
        _attempt,
        [(table, method, given) for table in tables.values()],
        workers=workers,
        progress=progress,
        stage=message("protecting the tables"),
    )
    each = dict(zip(tables, found, strict=True))
    return ProtectedTables(
        {name: one for name, one in each.items() if isinstance(one, Protection)},
        {name: one for name, one in each.items() if isinstance(one, TabprotectError)},
    )


def _attempt(
    asked: tuple[Table, Method | None, Mapping[str, Any]], progress: Progress
) -> Protection | TabprotectError:
    table, method, given = asked
    try:
        return protect(table, method, progress=progress, **given)
    except Interrupted:
        raise
    except TabprotectError as error:
        return error


def methods(measure: Measure = "counts") -> tuple[Method, ...]:
    """Names of the protection methods.

    Parameters
    ----------
    measure
        ``counts``, or ``magnitudes``.

    See Also
    --------
    describe, compare

    Examples
    --------
    >>> import tabprotect as tp
    >>> "cyclic_perturbation" in tp.methods()
    True
    """
    names = registered(measure)
    # Those of plug-ins are among them.
    return cast("tuple[Method, ...]", tuple(names))


def describe(method: str) -> str:
    """The page of a method as Markdown: what it does, its parameters, promises and needs.

    Raises
    ------
    ParameterError
        For an unknown method, naming those there are.

    See Also
    --------
    methods, protect

    Examples
    --------
    >>> import tabprotect as tp
    >>> tp.describe("cell_key").splitlines()[0]
    '# Cell keys (`cell_key`)'
    """
    return "\n\n".join(plugin_page(one) for one in plugins_named(method))
