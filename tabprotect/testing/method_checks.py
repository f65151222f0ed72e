"""What holds for every protection method, whatever it does.

Each check takes a method and raises ``CheckFailed`` with what is wrong. The checks protect small
random tables, write and read bundles in a folder of their own, and touch nothing else.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify as verify_bundle
from tabprotect.engine.errors import InfeasibleError, ParameterError, TabprotectError
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.posterior.prior import CellTable
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.guarantees import GUARANTEES, verify
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.needs import NEEDS
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    ExchangeSteps,
    MoveSequence,
    RecordSwaps,
    SwappedFirst,
)
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import every_original, marginals, weight
from tabprotect.testing.calibration import ENOUGH, LIMIT, AlwaysRefused, calibrate_method
from tabprotect.testing.failure import CheckFailed, require
from tabprotect.testing.planted_faults import NARROW, RIGHT, TILTED, WIDE

SHAPES = ((3, 4), (4, 3), (2, 3, 2), (5, 5))
SEED = 81282004651
"""Long enough not to be found in a bundle by chance."""

DRAWN = 400
"""Draws whose published counts are compared with their law."""

MOST = 3
"""Largest count of the originals that are all listed."""


def problem_of(shape: tuple[int, ...], seed: int) -> Problem:
    """A random table with many small counts and some zeros."""
    generator = np.random.default_rng(seed)
    counts = generator.negative_binomial(1, 0.12, shape) * (generator.random(shape) > 0.15)
    return Problem(Table.dense(Domain.of_shape(shape), counts), title="a table")


def run(method: Method, problem: Problem, seed: int) -> Protected:
    """The table protected with the parameters that the method names as worth a trial."""
    given = method.trial_parameters(problem.table.domain)
    return method.run(problem, given, Randomness.seeded(seed))


def declarations(method: Method) -> None:
    """The help page, parameters, needs and promises are declared in full."""
    require(bool(method.name and method.label), "name and label must not be empty")
    pieces = method.help.split("\n\n")
    require(
        len(pieces) >= 3,
        "the module's docstring is the help page: a summary line, what it does, more, the sources",
    )
    first, second = pieces[:2]
    require(
        first.endswith(".") and "\n" not in first and len(first) < 100,
        f"the help's first paragraph must be one sentence on one line of under 100: {first!r}",
    )
    require(second.endswith("."), "the help's second paragraph must end with a full stop")
    for word in ("xample", "Source"):
        require(word in method.help, f"the help must hold an example and its sources: no {word!r}")
    unknown = sorted(set(method.guarantees) - set(GUARANTEES))
    require(not unknown, f"unknown guarantees {unknown}; there are {sorted(GUARANTEES)}")
    unknown = sorted(set(method.needs) - set(NEEDS))
    require(not unknown, f"unknown needs {unknown}; there are {sorted(NEEDS)}")
    for name, sentence in method.guarantees.items():
        require(sentence.endswith("."), f"the promise {name!r} must be a sentence: {sentence!r}")
    for parameter in method.parameters:
        _declared(parameter)
    json.dumps(method.as_json(), allow_nan=False)


def _declared(parameter: Parameter[object]) -> None:
    at = f"parameter {parameter.name!r}"
    require(bool(parameter.label), f"{at} has no label")
    require(parameter.help.endswith("."), f"{at}: its help must be a sentence")
    if parameter.kind in ("real", "integer"):
        require(parameter.low < parameter.high, f"{at}: its low must be below its high")
    if parameter.kind == "choice":
        require(bool(parameter.choices), f"{at} has no choices")
        require(parameter.default in (None, *(parameter.choices or {})), f"{at}: its default is no choice")


def wrong_fields(method: Method) -> None:
    """Every wrong parameter is reported at once."""
    domain = Domain.of_shape((3, 4))
    wrong: dict[str, object] = {"no such parameter": 1}
    for parameter in method.parameters:
        if parameter.kind in ("real", "integer"):
            wrong[parameter.name] = "many"
        elif parameter.kind in ("choice", "flag"):
            wrong[parameter.name] = "no such choice"
    try:
        method.resolve(domain, method.trial_parameters(domain) | wrong)
    except ParameterError as error:
        missed = sorted(set(wrong) ^ set(error.fields))
        require(not missed, f"resolve must name every wrong field at once; not so: {missed}")
        return
    raise CheckFailed("resolve accepts parameters that are no values of their kind")


def promises(method: Method) -> None:
    """Promises hold, the same seed gives the same release, and the truth stays possible."""
    runs, differing = 0, 0
    excuses: list[str] = []
    for number, shape in enumerate(SHAPES * 3):
        problem = problem_of(shape, 8128 + number)
        if method.unmet(problem):
            continue
        try:
            first = run(method, problem, number)
        except InfeasibleError as error:
            # It may be impossible on this table, never for a broken promise.
            excuses.append(f"{error.message}: {error.detail}")
            continue
        runs += 1
        values = method.resolve(problem.table.domain, method.trial_parameters(problem.table.domain))
        more = sorted(set(method.promised(values)) - set(method.guarantees))
        require(not more, f"promised() names what is not in guarantees: {more}")
        again = run(method, problem, number).release
        require(
            public.to_bytes(again, page=False) == public.to_bytes(first.release, page=False),
            "the same seed gave another release: draw() may use its generator only",
        )
        differing += run(method, problem, number + 1).release.tables != first.release.tables
        likelihood = method.likelihood(first.release)
        if isinstance(likelihood, CellFactors) and likelihood.domain == problem.table.domain:
            if likelihood.rerun is not None and not likelihood.rerun.exact:
                likelihood = replace(likelihood, rerun=None)
            require(
                weight(likelihood, problem.table) > 0,
                f"the likelihood says that the true table was impossible, shape {shape}",
            )
    broken = [excuse for excuse in excuses if "promise" in excuse]
    require(not broken, "; ".join(broken))
    require(
        runs >= len(SHAPES),
        f"only {runs} of {3 * len(SHAPES)} small tables could be protected: {excuses[:1]}",
    )
    problem = problem_of((3, 4), 1)
    values = method.resolve(problem.table.domain, method.trial_parameters(problem.table.domain))
    require(
        (differing > 0) == method.is_random(values),
        f"is_random says {method.is_random(values)}; of {runs} pairs of runs {differing} differ",
    )


def main_table(method: Method) -> None:
    """The main table is not one of groups: those hide small counts of their members."""
    problem = problem_of((4, 4), 8128)
    domain = problem.table.domain
    if not {"margins", "groupings"} <= {p.name for p in method.parameters}:
        return
    groups = ",".join(f"{label}>{i // 2}" for i, label in enumerate(domain.variables[0].categories))
    given = {"margins": "(g + A) * B", "groupings": f"g:A={groups}"}
    draft = method.draw(problem, method.resolve(domain, given), np.random.default_rng(1))
    ordered = [published.table.domain.names for published in draft.tables]
    require(
        ordered[:2] == [("A", "B"), ("g", "B")] and ordered[-1] == (),
        f"the main table must come first (published_sums.main_first); the order is {ordered}",
    )


def bundles(method: Method) -> None:
    """Bundle and dossier give the run again, the bundle holds nothing confidential."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        protected = run(method, problem_of((4, 4), 8128), SEED)
        (folder / "release.zip").write_bytes(public.to_bytes(protected.release, page=False))
        read = verify_bundle(folder / "release.zip").release
        require(read.tables == protected.release.tables, "the bundle holds other tables")
        require(read.domain == protected.release.domain, "the bundle holds another domain")
        likelihood_of(read)
        confidential.write(protected, folder / "dossier.zip")
        again = confidential.read(folder / "dossier.zip")
    require(
        again.release.tables == protected.release.tables and again.record.seed == protected.record.seed,
        "replaying the dossier gives another release",
    )
    stated = set(read.mechanism.parameters)
    owed = {p.name for p in method.parameters if p.public and not p.may_be_unstated}
    missing = sorted(owed - stated)
    require(not missing, f"public parameters that the bundle does not state: {missing}")
    leaked = sorted({p.name for p in method.parameters if not p.public} & stated)
    require(not leaked, f"confidential parameters in the bundle: {leaked}")
    for file, data in public.files(protected.release, page=False).items():
        require(str(SEED).encode() not in data, f"the seed is in the bundle's {file}")
    summary = summarise(protected)
    json.dumps(summary.as_json())
    require(summary.sentence.endswith("."), "the summary must end with a full stop")


def broken_promise(method: Method) -> None:
    """A published count that no promise allows is caught."""
    problem = problem_of((4, 4), 8128)
    values = method.resolve(problem.table.domain, method.trial_parameters(problem.table.domain))
    draft = method.draw(problem, values, np.random.default_rng(3))
    names = method.promised(values)
    verify(method, problem, values, draft)
    if not any(GUARANTEES[name].check for name in names):
        return
    main = draft.tables[0]
    broken = main.table.counts.copy()
    broken.reshape(-1)[np.flatnonzero(~main.hidden.reshape(-1))[0]] -= 1_000_003
    table = PublishedTable(Table.dense(main.table.domain, broken), main.suppressed)
    try:
        verify(method, problem, values, replace(draft, tables=(table, *draft.tables[1:])))
    except InfeasibleError:
        return
    raise CheckFailed(f"a count lowered by 1,000,003 breaks none of the promises {list(names)}")


def brute_force(method: Method) -> None:
    """The posterior is the sum over every original, each weighed by the likelihood alone."""
    shape = (2, 2)
    domain = Domain.of_shape(shape)
    keys, values = (a.reshape(-1) for a in np.indices((4, MOST + 1)))
    prior = CellTable(keys, values, ((7 * keys + 3 * values) % 5 + 1).astype(np.float64))
    compared = 0
    for seed in range(8):
        counts = np.random.default_rng(seed).integers(0, MOST + 1, shape)
        try:
            release = run(method, Problem(Table.dense(domain, counts)), seed).release
            likelihood = method.likelihood(release)
        except TabprotectError:
            continue
        estimated = isinstance(likelihood, CellFactors) and not (
            likelihood.rerun is None or likelihood.rerun.exact
        )
        require(
            isinstance(
                likelihood,
                CellFactors | MoveSequence | AdaptiveSequence | RecordSwaps | SwappedFirst | ExchangeSteps,
            ),
            f"likelihood() must give a shape of likelihood, not {type(likelihood).__name__}",
        )
        if estimated or likelihood.domain != domain:
            # Calibration judges what only simulated runs can estimate.
            return
        found = believe(
            [Evidence(release, likelihood, alone=True)],
            prior,
            knowing=RELEASE_ALONE,
            randomness=Randomness.seeded(seed),
        ).posterior
        expected = marginals(every_original(likelihood, prior, MOST), MOST)
        seen = np.stack([found.probability(v).reshape(-1) for v in range(MOST + 1)], axis=1)
        worst = float(np.abs(seen - expected).max())
        allowed = 1e-8 if found.way == "exact" else 0.05
        require(worst < allowed, f"a posterior probability is {worst:.2g} off the brute force's")
        compared += 1
    require(compared > 0, "no small table could be protected and inferred")


def transitions(method: Method) -> None:
    """The law of a published count that ``transitions`` states is that of ``likelihood``.

    Compared are, for every inner count published in a few runs, the chances of it given the true
    counts 0, 1, 2, ..., up to a constant.
    """
    compared = 0
    for seed, shape in enumerate(SHAPES):
        problem = problem_of(shape, 8128 + seed)
        try:
            release = run(method, problem, seed).release
            laws = method.transitions(release)
        except InfeasibleError:
            continue
        if laws is None:
            return
        likelihood = method.likelihood(release)
        inner = release.inner
        require(
            isinstance(likelihood, CellFactors) and inner is not None,
            "transitions() states a law of each count: likelihood() must be of cells",
        )
        assert isinstance(likelihood, CellFactors) and inner is not None
        published = inner.table.counts.reshape(-1)
        for factor in np.flatnonzero(np.diff(likelihood.starts) == 1):
            cell = likelihood.cells[likelihood.starts[factor]]
            stated = np.array([_chance(law, int(published[cell])) for law in laws])
            weighed = _weights(likelihood, int(likelihood.kind[factor]), len(laws))
            if not stated.any():
                continue
            require(bool(weighed.any()), f"likelihood() holds {published[cell]} to be impossible")
            worst = np.abs(stated / stated.max() - weighed / weighed.max()).max()
            require(
                worst < 1e-9,
                f"transitions() and likelihood() give other laws of a published "
                f"{published[cell]}: off by {worst:.2g}",
            )
            compared += 1
    require(compared > 0, "no published count could be compared with transitions()")


def drawn_law(method: Method) -> None:
    """Published counts are drawn by the law that ``transitions`` states."""
    problem = problem_of((4, 5), 3)
    domain = problem.table.domain
    given = method.trial_parameters(domain)
    try:
        laws = method.transitions(run(method, problem, SEED).release)
    except InfeasibleError:
        return
    if laws is None:
        return
    values, generator = method.resolve(domain, given), np.random.default_rng(5)
    true = problem.table.counts.reshape(-1)
    drawn = [method.draw(problem, values, generator).tables[0].table.counts.reshape(-1) for _ in range(DRAWN)]
    published = np.stack(drawn)
    for count, (first, chances) in enumerate(laws):
        of = published[:, true == count]
        for value, chance in enumerate(chances, first):
            variance = of.size * chance * (1 - chance)
            if variance > ENOUGH:
                z = ((of == value).sum() - of.size * chance) / math.sqrt(variance)
                require(
                    abs(z) < LIMIT,
                    f"draw() publishes {value} for {count} at another rate than transitions() says, z {z:+.1f}",
                )


def _chance(law: tuple[int, Floats], published: int) -> float:
    """Return the chance of a published count, by a law of its lowest value and the chances from there on."""
    first, chances = law
    return float(chances[published - first]) if 0 <= published - first < len(chances) else 0.0


def _weights(likelihood: CellFactors, kind: int, counts: int) -> Floats:
    """Return what a kind of factor weighs the true counts 0, 1, 2, ... by, (counts,)."""
    true = np.arange(counts)
    low, high = likelihood.low[kind], likelihood.high[kind]
    run = likelihood.logs[likelihood.log_starts[kind] : likelihood.log_starts[kind + 1]]
    inside = (true >= low) & (true <= high)
    logs = run[np.where(inside, true - low, 0)] if len(run) else np.zeros(counts)
    return np.where(inside, np.exp(logs), 0.0)


def calibration(method: Method) -> None:
    """Beliefs come true as often as they say; planted faults of the likelihood are found.

    Counts tilted upwards have to be seen in every simulation, a law too narrow or too wide by 2
    in one of them at least.
    """
    require(bool(method.calibrations), "calibrations must name at least one simulation")
    unseen = {NARROW: 0.0, WIDE: 0.0}
    read_otherwise = dict.fromkeys(unseen, False)
    for plan in method.calibrations:
        at = f"in the simulation with {dict(plan.parameters or {}) or 'trial parameters'}"
        readers = (RIGHT, TILTED, *unseen)
        try:
            found, tilted, *spreads = calibrate_method(method, plan, readers=readers)
        except AlwaysRefused as error:
            raise CheckFailed(f"{at} hardly an original could be protected: {error}") from None
        require(
            found.worst_z < LIMIT, f"beliefs do not come true {at} (worst z {found.worst_z:.1f}):\n{found}"
        )
        require(
            tilted.worst_z > LIMIT,
            f"{at} a likelihood {TILTED.name} stays unseen (worst z {tilted.worst_z:.1f} in "
            f"{found.bins} bins): declare more runs or other means",
        )
        for reader, spread in zip(readers[2:], spreads, strict=True):
            read_otherwise[reader] |= spread.misread
            unseen[reader] = max(unseen[reader], spread.worst_z)
            if spread.worst_z > LIMIT:
                del unseen[reader]
    for reader, worst in unseen.items():
        # A law that leaves a count free, or fixes it, is neither narrow nor wide.
        require(
            not read_otherwise[reader],
            f"a likelihood {reader.name} stays unseen in every simulation (worst z {worst:.1f}): "
            "declare more runs or other means",
        )


METHOD_CHECKS: tuple[Callable[[Method], None], ...] = (
    declarations,
    wrong_fields,
    promises,
    main_table,
    bundles,
    broken_promise,
    brute_force,
    transitions,
    drawn_law,
    calibration,
)


def check_method(method: Method | type[Method]) -> None:
    """Run every check on a method of one's own; it need not be registered.

    Raises
    ------
    CheckFailed
        With what the first check that fails found.
    """
    made = method() if isinstance(method, type) else method
    with methods().including(made):
        for check in METHOD_CHECKS:
            try:
                check(made)
            except CheckFailed as error:
                raise CheckFailed(f"{made.name}: {error}") from None
