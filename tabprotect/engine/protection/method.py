"""A protection method: one file in ``methods/`` that declares everything about itself.

A new method writes its declarations, :meth:`Method.draw` and :meth:`Method.likelihood`, or, for
magnitudes, what its release tells (:meth:`MagnitudeMethod.beliefs`); the form, the command line, the
help, the preview, the checks of its promises, the bundle with its page, the dossier, the verdict, the
posterior and the comparison follow. What a method does to counts and to magnitudes stands in one file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.budgets import METHOD_PREVIEW_WORK
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.fitting.margin_variance import THIN, words
from tabprotect.engine.formats.grouping_files import grouping_text, names_files
from tabprotect.engine.options import Measure
from tabprotect.engine.parameters import Kind, Parameter, Values, resolve
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection import guarantees as promises
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.needs import NEEDS
from tabprotect.engine.protection.problem import (
    Draft,
    JudgedCells,
    MagnitudeProblem,
    Preview,
    Problem,
    Protected,
    RunEvidence,
)
from tabprotect.engine.protection.remedy import Otherwise
from tabprotect.engine.protection.simulate import Runs, simulate, trial_coins
from tabprotect.engine.protection.subtables import (
    GROUPINGS,
    MARGINS,
    given_groupings,
    groupings_of,
    publication_of,
)
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.registry import Documented
from tabprotect.engine.release.findings import Omission
from tabprotect.engine.release.likelihood import Likelihood
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.privacy import Privacy
from tabprotect.engine.release.published_magnitudes import BESIDE
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    # Late, here and in the methods: who protects counts does not load tables of magnitudes.
    from tabprotect.engine.magnitudes.readers.beliefs import CellBelief, ContributorView
    from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable

FEWEST_TRIALS = 3
"""Fewest runs of a preview of a random method."""


class Method(Documented, ABC):
    """Base of all methods. The module's docstring is the method's help page.

    Attributes
    ----------
    name, label
        The registered name (that of the file), and the name for people.
    measure
        What it protects. A file may hold a method for each measure, under one name.
    place
        Its place among the methods, the usual one first.
    parameters
        Declared parameters.
    needs
        Names of ``NEEDS``.
    guarantees
        Names of ``GUARANTEES`` -> the promise in a sentence.
    limits
        Names of ``GUARANTEES`` -> the parameter that limits the promise, where there is one.
    most_trials
        Most runs of a preview.
    trial_work
        Nominal microseconds of trial runs for each inner cell: the costliest methods are tried
        last, and not at all beyond a budget.
    other_way
        Whether it is for uses that are not asked about, and is offered after methods that do as well.
    shape_alone
        Whether other settings are tried on synthetic tables of the same shape, where no margins
        are stated exactly.
    instead
        Names of other methods to be tried where none of its settings pass, the first first.
    ladder
        Settings to be tuned over: each changes a table more than the one before.
    calibrations
        The simulations that test the calibration of its posterior.
    judged_up_to
        Cells of square tables of two variables up to which a release by default was measured to be judged
        whole; ``None`` where nobody measured.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    measure: ClassVar[Measure] = "counts"
    place: ClassVar[int] = 100
    parameters: ClassVar[tuple[Parameter[object], ...]]
    needs: ClassVar[tuple[str, ...]] = ()
    guarantees: ClassVar[Mapping[str, str]] = {}
    limits: ClassVar[Mapping[str, Parameter[int] | Parameter[int | None]]] = MappingProxyType({})
    most_trials: ClassVar[int] = 100
    trial_work: ClassVar[float] = 20.0
    other_way: ClassVar[bool] = False
    shape_alone: ClassVar[bool] = False
    instead: ClassVar[tuple[str, ...]] = ("cell_key", "cyclic_perturbation")
    ladder: ClassVar[tuple[Mapping[str, object], ...]] = ()
    calibrations: ClassVar[tuple[CalibrationPlan, ...]] = (CalibrationPlan(),)
    judged_up_to: ClassVar[int | None] = None

    # -- what a method writes -----------------------------------------------------------------

    @abstractmethod
    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        """Protect once: the tables to publish.

        Parameters
        ----------
        values
            The values that :meth:`resolve` returns.

        Raises
        ------
        InputError, InfeasibleError
            When this table cannot be protected with these values.
        """

    @abstractmethod
    def likelihood(self, release: Release) -> Likelihood:
        """The likelihood of a release, from its disclosed parameters alone."""

    # -- what a method may refine -------------------------------------------------------------

    def _resolved(self, given: Mapping[str, object]) -> tuple[Values, dict[str, str], str]:
        """The parameters, those that are wrong as they were given; what is wrong, and a hint."""
        try:
            return resolve(self.parameters, given), {}, ""
        except ParameterError as error:
            values = Values({p.name: given.get(p.name, p.default) for p in self.parameters})
            return values, dict(error.fields), error.hint

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Complete and check parameters for a table of this domain.

        Raises
        ------
        ParameterError
            With every wrong field.
        InputError
            When the table does not suit the defaults.
        """
        values, wrong, hint = self._resolved(given)
        declared = {parameter.name for parameter in self.parameters}
        try:
            field = GROUPINGS.name
            if field in declared - set(wrong):
                # A file's name is nobody's business: the values hold what is in it.
                groupings = given_groupings(domain, values)
                values |= {field: grouping_text(groupings, domain) if groupings else ""}
            field = MARGINS.name
            if field in declared and not {MARGINS.name, GROUPINGS.name} & set(wrong):
                publication_of(domain, values)
        except InputError as error:
            if not given.get(field) and not wrong:
                raise
            wrong[field], hint = str(error), error.hint
        if wrong:
            raise ParameterError(wrong, hint=hint)
        return values

    def resolve_for(
        self, problem: Problem, given: Mapping[str, object], progress: Progress = SILENT
    ) -> Values:
        """Resolve what depends on the sums kept exactly, too."""
        return self.resolve(problem.table.domain, given)

    def beside(self, domain: Domain, values: Values, earlier: Sequence[Release]) -> dict[str, object]:
        """What earlier releases of the same people change of the parameters; public as they are."""
        return {}

    def no_change(self, table: Table, values: Values, progress: Progress = SILENT) -> float | None:
        """The chance that a draw publishes everything as it is, known from the kept margins alone.

        ``None`` where no margin is kept, or nobody works it out.

        Parameters
        ----------
        table
            The original, or what is published: their kept margins are the same.
        """
        return None

    def is_random(self, values: Values) -> bool:
        """Return True if two runs may differ; a method without chance is tried once."""
        return True

    def drawn_by_cells(self, values: Values) -> tuple[object, ...] | None:
        """What its chance depends on beside the labels of cells, where each cell has its own.

        Such a cell keeps its coins in every table with these variables; ``None`` where coins are those
        of the table.
        """
        return None

    def privacy(self, domain: Domain, values: Values) -> Privacy | None:
        """The budget of differential privacy that a draw spends; ``None`` without one."""
        return None

    def promised(self, values: Values) -> tuple[str, ...]:
        """The guarantees that hold with these values."""
        return tuple(self.guarantees)

    def weighted(self, values: Values) -> bool:
        """Return True if sums of design weights are published, not counts of records."""
        return False

    def transitions(self, release: Release) -> tuple[tuple[int, Floats], ...] | None:
        """P(published | true count) of the true counts 0, 1, 2, ..., from disclosed parameters.

        Each is the lowest published count and the probabilities from there on; there are as many as
        show every pair of neighbouring counts. ``None`` where numbers are not protected one by one.
        """
        return None

    def trial_parameters(self, domain: Domain) -> dict[str, object]:
        """Parameters for trying the method where its defaults do not suffice."""
        return {}

    def kept(self, domain: Domain, values: Values) -> Publication | None:
        """The margins that every release states exactly, whatever the random numbers."""
        return None

    def told(self, table: Table, values: Values) -> Ints | None:
        """What every release states exactly of each cell where no margin is kept: int64 (2, cells).

        The lowest and the highest count. Whoever reads a release has them, whatever the random numbers, so
        that what follows from them alone tells nothing more. ``None`` where nobody works it out.
        """
        return None

    def publishes_true_counts(self, release: Release) -> bool:
        """Return True if published cells state their true count on purpose.

        Cells outside the inner table are then not judged, unless they are suppressed.
        """
        values = release.mechanism.values
        return "exact" in self.promised(values) or self.kept(release.domain, values) is not None

    def made_again(self, release: Release, progress: Progress = SILENT) -> bool | None:
        """Return whether what a release settles by a look at itself alone comes out again; ``None`` for nothing."""
        return None

    def table_likelihood(self, release: Release, number: int) -> Likelihood | None:
        """The likelihood of one published table over its own cells, where :meth:`likelihood` leaves
        that table out; ``None`` where it does not."""
        return None

    def numbers(self, release: Release) -> PublishedNumbers | None:
        """All published numbers with their laws, from disclosed parameters alone; ``None`` where
        the method does not protect them one by one."""
        return None

    def deviation_left(self, domain: Domain, values: Values) -> float | None:
        """The standard deviation of noise that putting several published tables together leaves on
        an inner cell; ``None`` where that is not how readers would go about it."""
        return None

    def acceptance_failure(self, findings: Mapping[str, object]) -> str:
        """Say why a run's findings fail a criterion of the method's own; ``""`` where they do not."""
        return ""

    def alternatives(self, domain: Domain, values: Values) -> tuple[tuple[str, Mapping[str, object]], ...]:
        """Other settings that may protect better: each in words, with the parameters to change."""
        return ()

    def keeping(self, domain: Domain, margins: Sequence[tuple[str, ...]]) -> tuple[Mapping[str, object], ...]:
        """Changes under which nothing is kept exactly but margins inside these, the best first."""
        return ()

    def ladders(self, domain: Domain, values: Values) -> tuple[tuple[Mapping[str, object], ...], ...]:
        """The ladders to be tuned over, where they follow from the other values."""
        return (self.ladder,) if self.ladder else ()

    # -- what follows -------------------------------------------------------------------------

    def draws_again(self, domain: Domain, values: Values) -> bool:
        """Return True if another draw may follow a refused one.

        It would equal the first where there is no chance. With differential privacy it would break
        the budget: which draw passes depends on the original, as every refusal does.
        """
        return self.is_random(values) and self.privacy(domain, values) is None

    def otherwise(self, problem: Problem) -> Otherwise | None:
        """Other settings for whoever asks for none, if the default ones would not pass; by default none.

        Which of them is taken follows from the sums that both keep, so that it tells nothing.
        """
        return None

    def unmet(self, problem: Problem) -> dict[str, str]:
        """The needs that a problem does not meet, each with the reason."""
        reasons = {name: NEEDS[name].missing(problem) for name in self.needs}
        return {name: reason for name, reason in reasons.items() if reason}

    def require(self, problem: Problem) -> None:
        """Refuse a problem that lacks what the method needs.

        Raises
        ------
        ParameterError
            Naming every unmet need.
        """
        unmet = self.unmet(problem)
        if unmet:
            raise ParameterError(unmet, hint=message("{label} cannot do without", self.label))

    def preview(self, problem: Problem, given: Mapping[str, object], progress: Progress = SILENT) -> Preview:
        """Foresee what the method would do to this table, before any random number of the run."""
        values = self.resolve_for(problem, given)
        self.require(problem)
        return self.foresee(problem, values, progress)

    def foresee(self, problem: Problem, values: Values, progress: Progress = SILENT) -> Preview:
        """Preview with resolved parameters: trial runs, with figures of the main table."""
        trials = simulate(
            self,
            problem,
            values,
            Runs(self.most_trials, FEWEST_TRIALS, METHOD_PREVIEW_WORK),
            generator=trial_coins(problem.table.domain),
            progress=progress,
        )
        first = next(trials).draft
        judged = JudgedCells.of(
            problem,
            first.tables[0],
            groupings_of(problem.table.domain, values),
            weighted=self.weighted(values),
        )
        change, runs = judged.changes(first.tables[0]), 1
        for trial in trials:
            change += judged.changes(trial.draft.tables[0])
            runs += 1
        return Preview.of_changes(
            at_risk=judged.at_risk,
            judged=int(judged.cells.sum()),
            runs=runs,
            change=change,
            sentence=self.thin_noise(problem.table.domain, values)
            if self.is_random(values)
            else first.sentence,
        )

    def thin_noise(self, domain: Domain, values: Values) -> str:
        """A warning where the published tables put together nearly undo the noise; else empty."""
        left = self.deviation_left(domain, values)
        return "" if left is None or left >= THIN else words(left)

    def perform(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> tuple[Release, Draft]:
        """Draw once and check every promise, without a preview.

        Raises
        ------
        InfeasibleError
            When a promise is broken.
        """
        draft = self.draw(problem, values, generator, progress)
        promises.verify(self, problem, values, draft)
        public = {
            p.name: values[p.name]
            for p in self.parameters
            if p.public and not (p.may_be_unstated and values[p.name] is None)
        }
        domain = problem.table.domain
        mechanism = Mechanism(
            self.name, domain, public | dict(draft.disclosed), privacy=self.privacy(domain, values)
        )
        return Release(draft.tables, mechanism, problem.title, draft.magnitudes, problem.metadata), draft

    def run(
        self,
        problem: Problem,
        given: Mapping[str, object],
        randomness: Randomness,
        *,
        progress: Progress = SILENT,
    ) -> Protected:
        """Protect the table by one draw that has not passed the gate: see ``disclosure.gate``.

        Raises
        ------
        ParameterError
            For wrong parameters, or a problem that lacks what the method needs.
        InputError, InfeasibleError
            When this table cannot be protected with these parameters.
        """
        values = self.resolve_for(problem, given)
        return self.attempt(problem, values, randomness, progress=progress)

    def attempt(
        self,
        problem: Problem,
        values: Values,
        randomness: Randomness,
        *,
        number: int = 1,
        progress: Progress = SILENT,
    ) -> Protected:
        """Run with resolved parameters.

        Parameters
        ----------
        number
            Which of the draws that the randomness yields, from 1.
        """
        self.require(problem)
        release, draft = self.perform(problem, values, randomness.generator(number), progress)
        if self.is_random(values):
            coins, nonce = randomness.coins, randomness.nonce
            mechanism = replace(release.mechanism, coins=coins, nonce=nonce)
            release = replace(release, mechanism=mechanism)
        record = RunEvidence(
            problem=problem,
            seed=randomness.seed,
            seed_given=randomness.given,
            coins=randomness.coins,
            attempt=number,
            parameters=values,
            steps=draft.steps,
            statuses=draft.statuses,
            hidden=draft.hidden,
            findings=draft.findings,
            sentence=draft.sentence,
        )
        return Protected(release, record)

    @property
    def every_parameter(self) -> tuple[Parameter[object], ...]:
        """Its parameters, with what is asked whatever the method."""
        return self.parameters

    def as_json(self) -> dict[str, object]:
        """The method for ``describe --json``."""
        return {
            "name": self.name,
            "label": self.label,
            "measures": [self.measure],
            "summary": self.help.splitlines()[0],
            "help": self.help,
            "parameters": [p.as_json() for p in self.every_parameter],
            "needs": list(self.needs),
            "guarantees": dict(self.guarantees),
            "judged_up_to": self.judged_up_to,
        }


PUBLISH: Parameter[object] = Parameter(
    "publish",
    message("Beside the sums"),
    message("What is published of each sum that is shown."),
    "choice",
    "none",
    choices={
        "none": message("nothing"),
        "n": message("its number of records"),
        "mean": message("its mean"),
        "n,mean": message("its number of records and its mean"),
    },
)
"""What is published beside sums, whatever the method: ``--publish`` of the command line."""

CONTRIBUTIONS = ("max", "min", "median", "quantile", "variance", "cv")
"""What would tell contributions: of two contributors the mean and the variance give both."""


def published_beside(given: object, table: MagnitudeTable) -> tuple[str, ...]:
    """The names of what is published beside sums, as :data:`PUBLISH` says it.

    Raises
    ------
    ParameterError
        For figures that tell contributions, that there are not, or that weights do not allow.
    """
    names = () if given in (None, PUBLISH.default) else str(given).replace(" ", "").split(",")
    for name in names:
        if name in CONTRIBUTIONS:
            raise ParameterError(
                {PUBLISH.name: message("{name} tells what single contributors put in", repr(name))},
                hint=message("of two contributors a mean and a variance give both; publish n or mean"),
            )
        if name not in BESIDE:
            raise ParameterError(
                {PUBLISH.name: message("{given} is no figure beside sums", repr(given))},
                hint=message('write n, mean, or both ("n,mean"); none publishes the sums alone'),
            )
    if "mean" in names and table.weighted:
        raise ParameterError(
            {PUBLISH.name: message("with weights a mean is not the sum over the number in the records")},
            hint=message("publish the sums alone"),
        )
    return tuple(name for name in BESIDE if name in names)


OUTSIDE = 0.05
"""Probability on either side of the range of a noisy sum."""


class MagnitudeMethod(Method):
    """Base of the methods for magnitudes.

    Attributes
    ----------
    about
        A sentence on what it does.
    promise
        What it promises its readers.
    hint
        What to do where a release may not leave.
    takes_rules
        Whether it needs a rule that says which sums tell too much.
    adds_up
        Whether published sums add up.
    """

    measure = "magnitudes"
    about: ClassVar[str]
    promise: ClassVar[str]
    hint: ClassVar[str]
    takes_rules: ClassVar[bool] = False
    adds_up: ClassVar[bool] = True

    @property
    def help(self) -> str:
        """Say what it does and what it promises."""
        return joined((self.about, self.promise), "\n\n")

    @property
    def every_parameter(self) -> tuple[Parameter[object], ...]:
        return (*self.parameters, PUBLISH)

    def likelihood(self, release: Release) -> Likelihood:
        """Refuse: what magnitudes tell is said by :meth:`beliefs`.

        Raises
        ------
        InputError
        """
        raise InputError(message("the release has no table of counts"))

    @abstractmethod
    def beliefs(
        self, release: Release, view: ContributorView, within: float, *, seed: int = 0
    ) -> Iterator[CellBelief]:
        """Return what a reader believes of every cell that is not published as it is.

        Parameters
        ----------
        within
            As a share: .1 for 10 %.
        seed
            Of walks through what is possible; the same seed gives the same figures.
        """

    @abstractmethod
    def quantiles(self, release: Release, levels: Floats) -> tuple[Ints, Floats]:
        """The cells that are not published as they are, and what an outsider believes of their values.

        Returns
        -------
        int64 (those,), float64 (those, levels)
            Quantiles at each level, in units; infinite where nothing bounds a value. No cells where it is
            too much work.
        """

    def ranges(self, release: Release) -> tuple[Ints, Floats]:
        """The cells that are not published as they are, and where their values lie, float64 (those, 2)."""
        return self.quantiles(release, np.array([OUTSIDE, 1 - OUTSIDE]))

    def outsider(self, release: Release, within: float) -> Floats | None:
        """An outsider's belief about every cell, float64 (cells,); ``None`` where it is too much work."""
        # Late: who hides nothing does not wait for what solves programmes.
        from tabprotect.engine.magnitudes.readers.beliefs import ContributorView

        out = np.zeros(len(release.magnitude_table.key))
        for one in self.beliefs(release, ContributorView(), within):
            out[one.cell] = one.belief
        return out

    def said(self, given: Mapping[str, object]) -> str:
        """A setting of the ladder in words."""
        return self.label

    def narrow(
        self, problem: MagnitudeProblem, unsafe: Bools, release: Release, limits: tuple[float, float]
    ) -> int:
        """Return how many hidden unsafe sums the second largest's best guess of the largest comes near in.

        Parameters
        ----------
        limits
            How near, as a share, and the probability above which that counts.
        """
        return 0

    def told_beside(self, release: Release) -> frozenset[str]:
        """Return what its mechanism may state beside parameters, after a check that it makes sense.

        Raises
        ------
        InputError
            When it does not.
        """
        return frozenset()

    def most_draws(self, values: Values, release: Release) -> int:
        """Return how many draws there may be if ones like this release tell too much."""
        return 1

    def left_out(self, release: Release) -> tuple[Omission, ...]:
        """Return what a release leaves out whoever judges it."""
        return ()

    def adds_nothing(self, before: Release, release: Release) -> bool:
        """Return True if a release tells nothing together with an earlier one of other sums of the records."""
        return False


_INLINE: Mapping[Kind, Callable[[object], bool]] = {
    "cycles": lambda value: isinstance(value, MoveSet),
    "perturbation": lambda value: isinstance(value, Mapping) or _is_json(value),
    "groupings": lambda value: isinstance(value, str) and not names_files(value),
    "statuses": lambda value: isinstance(value, str) and "\n" in value,
    "cells": lambda value: isinstance(value, str) and "\n" in value,
}
"""For each kind of parameter that may name a file: the test that a value names none."""

MAY_NAME_FILES = frozenset(_INLINE)
"""Kinds of parameters."""


def _is_json(value: object) -> bool:
    return isinstance(value, str) and value.lstrip().startswith("{")


def require_inline(parameters: Iterable[Parameter[object]], stated: Mapping[str, object]) -> None:
    """Refuse a foreign mechanism that names a file. No file is looked at.

    Parameters
    ----------
    parameters
        The parameters that the method declares.
    stated
        The values in the mechanism or the dossier.

    Raises
    ------
    InputError
        Naming the parameter, never its value.
    """
    for parameter in parameters:
        value = stated.get(parameter.name)
        check = _INLINE.get(parameter.kind)
        # Nothing is stated: the method's own default, which is no file.
        if check is None or value is None or value == "":
            continue
        if not check(value):
            raise InputError(
                message(
                    'the mechanism\'s "{name}" does not stand in it, but names a file or '
                    "nothing that is known",
                    parameter.name,
                ),
                hint=message("what a release rests on must be in its bundle; no file was read"),
            )
