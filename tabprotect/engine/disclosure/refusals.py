"""What a reader learns from the fact that draws were refused before this release was made.

An original x then weighs q(x)^r more, where q(x) is the chance that the gate refuses a draw of the
refused mechanism from x, and r the number of its draws. Where all originals and all results of the
coins can be listed this is computed. Else the refused draws are made again, from originals drawn from
the posterior: an original whose draws are all refused is kept, and the kept ones are exact draws.
Nothing is told where the refusal is certain whatever the original is. Where that is too much work few
are tried, and what the refusal can tell is bounded by the share of all originals that is refused
(``posterior.widening``).

All chance follows from the release, and all work is counted: who verifies gets the same.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.belief.effort import LEAST_EFFECTIVE, OTHERS, Effort
from tabprotect.engine.belief.evidence import OfRelease
from tabprotect.engine.budgets import ATTEMPTS_JUDGED
from tabprotect.engine.disclosure.coin_laws import RULES, forward_law, weighted
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.posterior.moves import sampling
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.open_cycles import only_open
from tabprotect.engine.posterior.moves.signature_model import GroupModel, group_model
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.posterior.widening import Widening
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, Likelihood, MoveSequence
from tabprotect.engine.release.mechanism import Gate, Mechanism, RefusedDraws
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

MOST_CELLS = 400
"""Inner cells up to which refused draws are made again: a verdict on more takes too long."""

LISTED_CELLS = 64
"""Inner cells up to which originals are counted first."""

PILOT = int(LEAST_EFFECTIVE)
"""Originals on which one draw each is judged; if all are refused, the refusal is as good as certain
where no belief is near a limit."""

MOST_JUDGED = 500
"""Most different draws that are judged: 10 to 50 ms each."""

PROGRAMMED = 9
"""Inner cells up to which draws of a mechanism that solves programmes are judged again."""

ONCE = 25
"""The same of a mechanism without chance whose runs solve none: a verdict on one takes a second."""

LISTED_ONCE = 60
"""Originals up to which the one draw from each is judged."""

LOOKS = (20, 40)
"""Numbers of originals after which it is looked whether enough are refused."""

DOUBT = 0.05
"""The chance that more is refused by luck than a bound says, at all looks together."""

MOST_RUNS = 20_000
"""Most draws that are made again."""


MOST_MECHANISMS = 4
"""Most refused mechanisms that are taken in."""

GLANCED = 300
"""Originals drawn to see whether far too many counts are known."""


class JudgeAlone(Protocol):
    """Judges a release by limits."""

    def __call__(
        self, release: Release, policy: Gate, /, *, effort: Effort, progress: Progress
    ) -> Verdict: ...


class _TooMuchError(Exception):
    """More draws would have to be judged."""


def weigh_refusals(
    found: Posterior,
    refused: tuple[RefusedDraws, ...],
    randomness: Randomness,
    verdict: JudgeAlone,
    progress: Progress = SILENT,
) -> Posterior | None:
    """The posterior given that draws were refused; ``None`` if that is too much work, or says too little.

    Parameters
    ----------
    randomness
        That of the release, so that the posterior is a function of it.
    verdict
        The gate's.
    """
    if len(refused) > MOST_MECHANISMS or found.domain.size > MOST_CELLS:
        return None
    judges = [_Judge.of(one, found.domain, verdict, progress) for one in refused]
    every = _Every(tuple(judge for judge in judges if judge is not None))
    if len(every.judges) < len(judges):
        return None
    try:
        listed = _listed(found)
        if listed is not None:
            by_law = every.chances(listed[0], randomness.generator())
            if by_law is not None:
                weights = listed[1] * by_law
                if not weights.sum():
                    return None
                return weighted(found, listed[0], weights / weights.sum())
        if not every.once or found.domain.size <= PROGRAMMED:
            with suppress(_TooMuchError):
                if (kept := _drawn(found, every, randomness.generator(), progress)) is not None:
                    return kept
        return _bounded(found, every, randomness.generator(), progress)
    except (_TooMuchError, InputError, ParameterError):
        return None


def may_be_weighed(release: Release, gate: Gate, verdict: JudgeAlone) -> bool:
    """Return True if there is a way to take in that draws like this one were refused."""
    if gate.changed or gate.refused or release.domain.size > MOST_CELLS:
        return False
    mechanism = replace(release.mechanism, gate=gate)
    refused = RefusedDraws(gate.attempts_at_most, mechanism)
    judge = _Judge.of(refused, mechanism.domain, verdict, SILENT)
    if judge is None:
        return False
    try:
        likelihood = likelihood_of(release)
        if not isinstance(likelihood, MoveSequence) or release.domain.structural:
            judge.check(likelihood, release)
    except (_TooMuchError, InputError, ParameterError, InfeasibleError):
        return False
    return True


def _listed(found: Posterior) -> tuple[Ints, Floats] | None:
    if found.way != "exact" or found.domain.size > LISTED_CELLS:
        return None
    number = found.count_originals()
    return found.list_originals() if number is not None and number <= ATTEMPTS_JUDGED else None


_last: dict[str, dict[bytes, bool]] = {}
"""What was judged of the last refused mechanisms: the gate, the page of the bundle and whoever verifies
it ask for the same."""


@dataclass(eq=False)
class _Judge:
    """Makes draws of a refused mechanism again, and judges each of them once."""

    refused: RefusedDraws
    gate: Gate
    method: Method
    verdict: JudgeAlone
    progress: Progress
    by_draws: bool = False
    _known: dict[bytes, bool] = field(default_factory=dict)
    _asked: set[bytes] = field(default_factory=set)
    _entries: list[tuple[Mechanism, Gate]] = field(default_factory=list)

    @classmethod
    def of(
        cls, refused: RefusedDraws, domain: Domain, verdict: JudgeAlone, progress: Progress
    ) -> _Judge | None:
        """``None`` for another table, or a method whose chance rests on more than the table."""
        gate = refused.mechanism.gate
        if gate is None or refused.mechanism.domain != domain or refused.mechanism.method not in methods():
            return None
        # Who judges by refusals before the refused draws makes those again, too.
        if (gate.changed or gate.refused) and not (gate.refused and _is_shallow(gate, domain)):
            return None
        method = methods()[refused.mechanism.method]
        if method.needs:
            return None
        stated = refused.mechanism.to_text(categories=True)
        if stated not in _last and len(_last) > 2 * MOST_MECHANISMS:
            _last.clear()
        return cls(*(refused, gate, method, verdict, progress), _known=_last.setdefault(stated, {}))

    @property
    def once(self) -> bool:
        """Return True if the mechanism has no chance."""
        return not self.method.is_random(self.refused.mechanism.values)

    def entries(self, problem: Problem) -> list[tuple[Mechanism, Gate]]:
        """The refused mechanisms, each with its gate: one, or those of a list.

        They are worked out for the first original: the sums that settings follow from are the same for all.
        """
        first, listed = self.refused.mechanism, self.gate.listed
        if not self._entries:
            self._entries.append((first, self.gate))
            changes = () if listed is None else listed.entries[1:]
            for change in changes:
                values = self.method.resolve_for(problem, {**first.parameters, **change})
                done, _ = self.method.perform(problem, values, np.random.default_rng(0), self.progress)
                self._entries.append((done.mechanism, self.gate))
            if listed is not None:
                self._entries[:] = [
                    (mechanism, replace(gate, listed=replace(listed, entry=number)))
                    for number, (mechanism, gate) in enumerate(self._entries, start=1)
                ]
        return self._entries

    def is_refused(self, release: Release, gate: Gate) -> bool:
        """Return True if the gate refuses a draw."""
        number = 0 if gate.listed is None else gate.listed.entry
        key = bytes([number]) + b"".join(
            np.ascontiguousarray(array, dtype="<i8").tobytes()
            for one in release.tables
            for array in (*one.table.cells, np.flatnonzero(one.hidden))
        )
        if key not in self._asked:
            if len(self._asked) >= MOST_JUDGED:
                raise _TooMuchError
            self.progress.report(message("judging other draws"), len(self._asked) / MOST_JUDGED)
            self._asked.add(key)
        if key not in self._known:
            self._known[key] = self._judged(release, gate)
        return self._known[key]

    def _judged(self, release: Release, gate: Gate) -> bool:
        likelihood = likelihood_of(release)
        if isinstance(likelihood, MoveSequence) and not release.domain.structural:
            model = only_open(group_model(likelihood, Uniform(), self.progress))
            self.by_draws = self.by_draws or Elimination.of(model, self.progress) is None
            if self.by_draws:
                # A verdict by drawn originals takes too long: enough to see what is beyond doubt.
                return self._beyond_doubt(model, release)
        else:
            self.check(likelihood, release)
        found = self.verdict(release, gate, effort=OTHERS, progress=self.progress)
        if "simulation" in found.left_out and not self.once:
            raise _TooMuchError
        return found.passed is not True

    def _beyond_doubt(self, model: GroupModel, release: Release) -> bool:
        """Return True if far more counts are known than may be; it is too much work to see that they are
        not."""
        randomness = OfRelease(release, "beyond doubt")
        drawn = sampling.draw(sampling.BackwardWalk(model), GLANCED, randomness.generator(), self.progress)
        sig = model.signatures
        cells = np.flatnonzero(sig.group_of_cell >= 0)
        counts = release.table.counts.reshape(-1)[cells] + drawn[:, sig.group_of_cell[cells]]
        rule = self.gate.at_risk
        small = (counts >= rule.low) & (counts <= rule.high)
        known = int((small.all(axis=0) & (counts == counts[0]).all(axis=0)).sum())
        if known <= 1 + 2 * self.gate.share * float(small.mean(axis=0).sum()):
            raise _TooMuchError
        return True

    def check(self, likelihood: Likelihood, release: Release) -> None:
        """Raises where a verdict on a draw takes too long."""
        rerun = likelihood.rerun if isinstance(likelihood, CellFactors) else None
        if rerun is not None and self.once and not rerun.programmes and release.domain.size <= ONCE:
            return
        plain = isinstance(likelihood, CellFactors) and rerun is None
        if len(release.tables) > 1 or not (plain or release.domain.size <= PROGRAMMED):
            raise _TooMuchError

    def chances(self, tables: Ints) -> Floats | None:
        """The chance of a refusal from each original, by all results of the coins; or ``None``."""
        domain, listed = self.refused.mechanism.domain, self.gate.listed
        first = Table.dense(domain, tables[0].reshape(domain.shape))
        out = np.zeros(len(tables))
        for number, (mechanism, gate) in enumerate(self.entries(Problem(first, self.gate.at_risk))):
            release = Release((PublishedTable(first),), replace(mechanism, gate=None))
            found = self._chances_of(release, gate, tables)
            if found is None:
                return None
            out = (out + (1.0 if listed is None else listed.start[number])) * found
        return out

    def _chances_of(self, release: Release, gate: Gate, tables: Ints) -> Floats | None:
        """The same of one mechanism."""
        mechanism = release.mechanism
        if not self.method.is_random(mechanism.values):
            return None
        try:
            likelihood = likelihood_of(release)
        except (InputError, ParameterError, InfeasibleError):
            return None
        if not isinstance(likelihood, MoveSequence) or likelihood.rule not in RULES:
            return None
        if 3 ** (len(likelihood.moves) * likelihood.passes) > ATTEMPTS_JUDGED:
            return None
        laws = [forward_law(likelihood, table) for table in tables]
        if len({y for law in laws for y in law}) > MOST_JUDGED:
            return None
        out = np.zeros(len(tables))
        for number, law in enumerate(laws):
            for y, chance in law.items():
                counts = np.frombuffer(y, dtype=np.int64).reshape(mechanism.domain.shape)
                other = PublishedTable(Table.dense(mechanism.domain, counts))
                if self.is_refused(replace(release, tables=(other,)), gate):
                    out[number] += chance
        return np.minimum(out, 1.0)

    def draw(self, original: Ints, generator: np.random.Generator) -> bool:
        """Return True if one draw from an original is refused; of a list, those from where it begins."""
        domain, listed = self.refused.mechanism.domain, self.gate.listed
        problem = Problem(Table.dense(domain, original.reshape(domain.shape)), self.gate.at_risk)
        entries = self.entries(problem)
        begin = 0 if listed is None else int(generator.choice(len(entries), p=listed.start))
        return all(self._refuses(problem, *entry, generator) for entry in entries[begin:])

    def _refuses(
        self, problem: Problem, mechanism: Mechanism, gate: Gate, generator: np.random.Generator
    ) -> bool:
        values = self.method.resolve_for(problem, dict(mechanism.parameters))
        try:
            release, draft = self.method.perform(problem, values, generator, self.progress)
        except InfeasibleError:
            # Who meets that was not refused by a gate.
            return False
        return bool(self.method.acceptance_failure(draft.findings)) or self.is_refused(release, gate)


def _is_shallow(gate: Gate, domain: Domain) -> bool:
    """Return True if the refusals before refused draws are few, of a small table, and had none before."""
    before = [one.mechanism.gate for one in gate.refused]
    plain = all(one is not None and not one.changed and not one.refused for one in before)
    return plain and len(before) <= MOST_MECHANISMS and domain.size <= PROGRAMMED


@dataclass(frozen=True, eq=False)
class _Every:
    """All mechanisms that were refused, of which every draw was."""

    judges: tuple[_Judge, ...]

    @property
    def gate(self) -> Gate:
        """The limits, which those of one house share."""
        return self.judges[-1].gate

    @property
    def once(self) -> bool:
        """Return True if none of them has chance."""
        return all(judge.once for judge in self.judges)

    @property
    def draws(self) -> int:
        """The number of all draws."""
        return sum(judge.refused.draws for judge in self.judges)

    def chances(self, tables: Ints, generator: np.random.Generator) -> Floats | None:
        """The chance from each original that all draws are refused; ``None`` beyond the work."""
        out = np.ones(len(tables))
        for judge in self.judges:
            by_law = judge.chances(tables)
            if by_law is None and judge.once and len(tables) <= LISTED_ONCE:
                by_law = np.array([float(judge.draw(table, generator)) for table in tables])
            if by_law is None:
                return None
            out *= by_law**judge.refused.draws
        return out

    def one(self, table: Ints, generator: np.random.Generator) -> bool:
        """Return True if a draw of each is refused."""
        return all(judge.draw(table, generator) for judge in self.judges)

    def others(self, table: Ints, generator: np.random.Generator) -> bool:
        """Return True if all draws but one of each are refused."""
        return all(
            judge.draw(table, generator) for judge in self.judges for _ in range(judge.refused.draws - 1)
        )

    def all(self, table: Ints, generator: np.random.Generator) -> bool:
        """Return True if all draws are refused."""
        return self.one(table, generator) and self.others(table, generator)


def _bounded(
    found: Posterior, every: _Every, generator: np.random.Generator, progress: Progress
) -> Posterior | None:
    """The posterior as it is, with a bound of what the refusal tells.

    ``None`` where that could bring it over a limit.
    """
    # Late: it takes what judges beliefs.
    from tabprotect.engine.disclosure.cell_beliefs import as_belief
    from tabprotect.engine.disclosure.widened import cells_may_fail

    if found.r_hat is not None:
        return None
    belief, tried, refused = as_belief(found, inner=True, judged=None), 0, 0
    for look in LOOKS:
        best = Widening(0.0, at_least(LOOKS[-1], LOOKS[-1] - tried + refused))
        if cells_may_fail(belief, best, every.gate):
            return None
        tables = found.draw_originals(look - tried, generator, progress)
        refused += sum(every.all(table, generator) for table in tables)
        tried = look
        bound = Widening(0.0, at_least(tried, refused))
        if not cells_may_fail(belief, bound, every.gate):
            note = message(
                "What it tells that other settings were refused makes no belief larger than by a "
                "factor of {factor:.2f}.",
                bound.larger,
            )
            note = joined(filter(None, [found.note, note]), " ")
            return replace(found, note=note, widening=bound.beside(found.widening))
    return None


def at_least(tried: int, hits: int) -> float:
    """The least share of which so many hits are no wonder (Clopper and Pearson 1934)."""
    least, most = 0.0, 1.0
    for _ in range(40):
        share = (least + most) / 2
        tail = math.fsum(
            math.comb(tried, k) * share**k * (1.0 - share) ** (tried - k) for k in range(hits, tried + 1)
        )
        least, most = (share, most) if tail < DOUBT / len(LOOKS) else (least, share)
    return least if hits else 0.0


def _drawn(
    found: Posterior, every: _Every, generator: np.random.Generator, progress: Progress
) -> Posterior | None:
    """The posterior corrected by what the originals have in common whose draws are all refused."""
    if found.r_hat is not None:
        return None
    tables: list[Ints] = [found.draw_originals(PILOT, generator, progress)]
    first = np.array([every.one(table, generator) for table in tables[0]])
    if first.all() and not _near_a_limit(found, every.gate, every.draws):
        return found
    kept = [bool(one) and every.others(table, generator) for one, table in zip(first, tables[0], strict=True)]
    runs = len(first) * len(every.judges) + int(first.sum()) * (every.draws - len(every.judges))
    while sum(kept) < 2 * PILOT and runs < MOST_RUNS:
        tables.append(found.draw_originals(PILOT, generator, progress))
        try:
            kept += [every.all(table, generator) for table in tables[-1]]
        except _TooMuchError:
            # What is judged already may be enough.
            tables.pop()
            kept = kept[: sum(map(len, tables))]
            break
        runs += PILOT * every.draws
    if sum(kept) < LEAST_EFFECTIVE:
        return None
    if all(kept):
        return found
    return _corrected(found, np.concatenate(tables), np.array(kept))


def _near_a_limit(found: Posterior, gate: Gate, draws: int) -> bool:
    """Return True if originals that a pilot may have missed could bring beliefs over a limit.

    Where none of its draws was let out, at most 3 in as many are (by 95 in 100): the draws of an
    original are all refused with a chance of ``least`` or more, on average, and no belief becomes
    larger than by that factor.
    """
    least = (1.0 - 3.0 / PILOT) ** draws
    values = range(gate.at_risk.low, gate.at_risk.high + 1)
    chances = np.stack([found.probability(value).reshape(-1) for value in values])
    highest, expected = chances.max(axis=0), float(chances.sum())
    if ((highest > gate.belief_limit * least) & (highest <= gate.belief_limit)).any():
        return True
    mean = float((chances**2).sum()) / expected if expected else 0.0
    return gate.mean_belief_limit * least**3 < mean <= gate.mean_belief_limit


def _corrected(found: Posterior, tables: Ints, kept: Bools) -> Posterior:
    """The chances, moved by as much as the kept draws differ from all."""
    representative = np.zeros(len(found.chances), dtype=np.int64)
    representative[found.group_of_cell] = np.arange(len(found.group_of_cell))
    width = found.chances.shape[1]
    columns = tables[:, representative] - found.first[representative]
    inside = (columns >= 0) & (columns < width)
    flat = np.where(inside, columns, 0) + np.arange(len(representative)) * width
    size = len(representative) * width

    def shares(rows: Bools) -> Floats:
        seen = np.bincount(flat[rows].reshape(-1), inside[rows].reshape(-1), minlength=size)
        return np.asarray(seen.reshape(-1, width) / rows.sum())

    every = np.ones(len(tables), dtype=np.bool_)
    chances = np.clip(found.chances + shares(kept) - shares(every), 0.0, 1.0)
    chances /= chances.sum(axis=1, keepdims=True)
    number = int(kept.sum())
    # All draws tell of the posterior before; the error is that of the difference.
    spread = max(1.0 / number - 1.0 / len(kept), 1e-12)
    errors = np.sqrt(chances * (1.0 - chances) * spread)
    remaining = tables[kept]

    def draw(wanted: int, random: np.random.Generator, progress: Progress) -> Ints:
        return np.asarray(remaining[random.integers(0, number, wanted)], dtype=np.int64)

    return replace(
        found,
        way="monte_carlo",
        chances=chances,
        draw_originals=draw,
        count_originals=lambda: None,
        list_originals=lambda: None,
        exact_sums=None,
        standard_errors=errors,
        error=float(errors.max(initial=0.0)),
        effective_sample_size=1.0 / spread,
        draws=number,
        independent=True,
    )
