"""Protecting a table: from counts to a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabprotect.engine.bounds.joined import joined_table
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.disclosure.policy import read as read_policy
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project import in_one_go
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.history import History
from tabprotect.engine.project.project import DEFAULT_METHOD
from tabprotect.engine.project.releasing.judgement import judge_release
from tabprotect.engine.project.verbs import cycle_verbs, release_verbs, set_verbs
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods as registered
from tabprotect.engine.protection.staff_verdict import StaffVerdict
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.publication_set import PublicationSet
from tabprotect.library.cycles import Cycles
from tabprotect.library.release import published_frame
from tabprotect.library.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Protection:
    """A protected table in the house: what may leave it, and what stays.

    Attributes
    ----------
    history
        All steps so far. CONFIDENTIAL.
    kind
        What data frames come back as.
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
        """What would be published: tables and mechanism, nothing of the original."""
        return self.protected.release

    @property
    def parameters(self) -> Mapping[str, object]:
        """All resolved parameters, the confidential ones too."""
        return self.protected.record.parameters

    @property
    def verdict(self) -> StaffVerdict:
        """What readers of the release learn; ``staff`` holds the true figures. CONFIDENTIAL."""
        found = self.protected.record.verdict
        assert found is not None
        return found

    @property
    def together(self) -> StaffVerdict | None:
        """What readers of this and of all earlier releases of the original learn, by the register
        of the house; ``None`` where nothing left before. CONFIDENTIAL."""
        return judge_release(self.history.project).before.together

    @property
    def sentence(self) -> str:
        """What the run did to the table, in one sentence. CONFIDENTIAL."""
        return summarise(self.protected).sentence

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.release.domain.shape))
        return f"Protection({self.release.mechanism.method}, {shape})"

    def to_frame(self) -> Any:
        """The published cells: categories and published count, missing where suppressed."""
        return published_frame(self.release, self.kind)

    def publish(
        self,
        release: str | Path,
        *,
        dossier: str | Path | None = None,
        overwrite: bool = False,
        sign: str | Path | None = None,
        progress: Progress = SILENT,
    ) -> Protection:
        """Write the release bundle and, where wanted, the CONFIDENTIAL dossier: both or neither.

        Parameters
        ----------
        release
            The zip for readers.
        dossier
            The zip that stays in the house.
        overwrite
            Whether files of these names may be replaced. The dossier of another release is kept
            under a further name.
        sign
            The file of the private key that signs the bundle.

        Raises
        ------
        InputError
            When a file is there already, or cannot be written.
        """
        beside = None if dossier is None else str(dossier)
        key = None if sign is None else in_one_go.absolute(str(sign))
        order = release_verbs.publish(
            release=str(release), dossier=beside, overwrite=overwrite, sign=key
        )
        history, _ = self.history.do(order, progress=progress)
        return Protection(history, self.kind)

    def publish_set(
        self,
        folder: str | Path,
        *,
        tables: Mapping[str, str],
        dossier: str | Path | None = None,
        overwrite: bool = False,
        sign: str | Path | None = None,
        progress: Progress = SILENT,
    ) -> Protection:
        """Write a bundle for each table of a set, and one manifest for all.

        Parameters
        ----------
        folder
            Where they go.
        tables
            Formulas by name, as :func:`~tabprotect.protect_set` took them.
        dossier, overwrite, sign
            As in :meth:`publish`.

        Raises
        ------
        InputError
            When a file is there already, or the release lacks a table.
        """
        order = set_verbs.publish_set(
            folder=str(folder),
            tables=dict(tables),
            dossier=None if dossier is None else str(dossier),
            overwrite=overwrite,
            sign=None if sign is None else in_one_go.absolute(str(sign)),
        )
        history, _ = self.history.do(order, progress=progress)
        return Protection(history, self.kind)


def protect_set(
    table: Table | Mapping[str, Table],
    tables: Mapping[str, str] | None = None,
    method: str = DEFAULT_METHOD,
    *,
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
    **given
        As in :func:`~tabprotect.protect`.

    Returns
    -------
    Protection
        Of all tables together; :meth:`Protection.publish_set` writes a bundle for each.

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:czech-autoworkers")
    >>> found = tp.protect_set(table, {"one": "A*B", "two": "B*C"}, "random_rounding", seed=1)
    >>> len(found.release.tables)
    6
    """
    if isinstance(table, Table):
        chosen = PublicationSet(table.domain, dict(tables or {}))
    else:
        several, kind = {n: t.table for n, t in table.items()}, next(iter(table.values())).kind
        set_verbs.check_publishes_margins(method)
        table = Table(History.of(joined_table(several, progress)), kind)
        each = {n: "*".join(map(in_formula, t.domain.names)) for n, t in several.items()}
        chosen = PublicationSet(table.domain, dict(tables or each))
        set_verbs.check_within(chosen, several)
    if any(parameter.name == "margins" for parameter in registered()[method].parameters):
        given["margins"] = chosen.formula
    return protect(table, method, progress=progress, **given)


def protect(
    table: Table,
    method: str = DEFAULT_METHOD,
    *,
    seed: int | None = None,
    fresh: bool = False,
    title: str | None = None,
    at_risk: str | None = None,
    cycles: str | Path | Cycles | None = None,
    accept: str | None = None,
    accept_weak: bool = False,
    policy: HousePolicy | str | Path | None = None,
    progress: Progress = SILENT,
    **parameters: object,
) -> Protection:
    """Protect a table with one of the :func:`~tabprotect.methods`.

    The same seed gives the same bytes as the command line.

    Parameters
    ----------
    table
        Of :func:`~tabprotect.read_table`, :func:`~tabprotect.tabulate` or ``Table.from_frame``.
    method
        Its name.
    seed
        Replays the coins; recorded. By default the same table and mechanism always get the same
        ones, by the key of the house. CONFIDENTIAL.
    fresh
        Draw coins that nobody can draw again; recorded.
    title
        For the reader; published.
    at_risk
        Counts at risk, ``"1..2"`` by default.
    cycles
        A kind of cycle design, a file of cycles or a :func:`~tabprotect.design`, for methods that
        take them.
    accept
        Why it is published whatever the gate says; recorded.
    accept_weak
        The same without a reason.
    policy
        The limits of the house, or their file.
    **parameters
        Of the method; :func:`~tabprotect.describe` explains them.

    Raises
    ------
    ParameterError
        Naming every wrong parameter at once.
    RefusedError
        When readers of every draw would know too much; what may help is in its ``suggestions``.

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:duncan-roehrig-4x4")
    >>> tp.protect(table, "cyclic_perturbation", alpha=0.25)
    Protection(cyclic_perturbation, 4 x 4)
    """
    given: str | Order | None = None
    if isinstance(cycles, Cycles):
        given = cycle_verbs.set_cycles(cycles=cycle_files.to_json(cycles.moves))
    elif cycles is not None:
        given = str(cycles)
    history = in_one_go.protected(
        table.history,
        policy=read_policy(Path(policy)) if isinstance(policy, str | Path) else policy,
        title=title,
        at_risk=at_risk,
        method=None if method == table.history.project.method else method,
        parameters=parameters,
        cycles=given,
        accept=accept,
        accept_weak=accept_weak,
        seed=seed,
        fresh=fresh,
        progress=progress,
    )
    return Protection(history, table.kind)
