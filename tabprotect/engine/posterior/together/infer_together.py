"""The posterior of several releases by moves of one original, and of evidence on sums of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.cycles.signatures import signatures
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.factors.cell_laws import kind_logs
from tabprotect.engine.posterior.margins import laws_of, standard_errors
from tabprotect.engine.posterior.moves.drawn_tables import listed_tables, of_tables, over_listed, whole_tables
from tabprotect.engine.posterior.moves.signature_model import Coin, check_counts, prior_logs
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior, Uniform
from tabprotect.engine.posterior.together.differences import NoneFitError
from tabprotect.engine.posterior.together.joint_elimination import JointElimination
from tabprotect.engine.posterior.together.joint_listing import listed_together
from tabprotect.engine.posterior.together.joint_model import JointModel, Steps, SumFactor
from tabprotect.engine.posterior.together.ring_draws import RingDraws, ring_draws
from tabprotect.engine.posterior.together.torus import Torus
from tabprotect.engine.progress import Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, MoveSequence
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import message


def infer_together(
    releases: Sequence[MoveSequence],
    factors: CellFactors | None,
    prior: Prior,
    randomness: Randomness | None,
    progress: Progress,
) -> Posterior | None:
    """The posterior, exact if possible; ``None`` if it is too much work.

    Parameters
    ----------
    factors
        Further evidence; what it says of whole originals is left out.
    randomness
        Of a posterior that is drawn; without it there is only the exact one.

    Raises
    ------
    InputError
        If no original fits all of it.
    """
    if any(one.rule == "reversible" for one in releases):
        return None
    try:
        model = _model(releases, factors, prior, progress)
        found = JointElimination.of(model, progress)
        if found is not None:
            return _by_elimination(releases[0], prior, model, found, progress)
        torus = None if randomness is None else Torus.of(model, releases[0].domain.shape)
        listed = None
        if torus is None or model.cycles <= MOST_LISTED_SWAPS:
            listed = listed_together(model, progress)
        if listed is None and torus is not None and randomness is not None:
            drawn = ring_draws(torus, randomness.generator(), progress)
            return None if drawn is None else _by_rings(releases[0], prior, model, drawn)
    except NoneFitError:
        listed = np.zeros((0, 0), dtype=np.int64), np.zeros(0)
    if listed is None:
        return None
    if not len(listed[1]):
        raise InputError(
            message("no original fits all these releases"),
            hint=message("check that they are of one and the same table"),
        )
    reason = message("every original that fits was weighed by all releases")
    return over_listed(releases[0].published, prior, reason, listed, model.signatures.column)


MOST_LISTED_SWAPS = 25
"""Originals under more swaps around a table are not listed, but drawn."""


def _model(
    releases: Sequence[MoveSequence], factors: CellFactors | None, prior: Prior, progress: Progress
) -> JointModel:
    moves, sequences = _cycles([one.moves for one in releases])
    sig = signatures(moves)
    first = releases[0].published.counts.reshape(-1)
    steps, differences = [], []
    for one, sequence in zip(releases, sequences, strict=True):
        check_counts(one)
        counts = one.published.counts.reshape(-1)
        difference = first - counts
        of_group = difference[sig.first_cell]
        if (difference != np.append(of_group, 0)[sig.column]).any():
            raise NoneFitError
        coin = Coin(one.alpha, one.beta, one.gamma, one.rule)
        steps.append(Steps(sig.lowest(counts), np.tile(sequence, one.passes), coin))
        differences.append(of_group)
    model = JointModel(
        sig,
        len(moves),
        tuple(steps),
        np.stack(differences[1:], axis=1) if differences[1:] else np.zeros((len(sig), 0), np.int64),
    )
    sums: list[SumFactor] = []
    if releases[0].rule == "none" or not isinstance(prior, Uniform):
        reach = model.touches()[0]
        logs = prior_logs(prior, releases[0].published, sig, reach, progress)
        span = logs.shape[1] // 2
        for group in range(len(sig)):
            touching, signs = sig.touching(group)
            sums.append(SumFactor(tuple(touching.tolist()), tuple(signs.tolist()), -span, logs[group]))
    if factors is not None:
        sums += _sums(factors, model, first)
    return replace(model, factors=tuple(sums))


def _cycles(sets: Sequence[MoveSet]) -> tuple[MoveSet, list[Ints]]:
    """All different cycles, and the cycle of each step of each set."""
    known: dict[tuple[bytes, bytes], int] = {}
    entries: list[tuple[Ints, Ints]] = []
    sequences = []
    for moves in sets:
        sequence = np.zeros(len(moves), dtype=np.int64)
        for number in range(len(moves)):
            cells, signs = moves.entries(number)
            key = cells.tobytes(), signs.tobytes()
            if key not in known:
                known[key] = len(entries)
                entries.append((cells, signs.astype(np.int64)))
            sequence[number] = known[key]
        sequences.append(sequence)
    lengths = [len(cells) for cells, _ in entries]
    nothing = np.zeros(0, dtype=np.int64)
    return (
        MoveSet(
            sets[0].domain,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([nothing, *(cells for cells, _ in entries)]),
            np.concatenate([nothing, *(signs for _, signs in entries)]).astype(np.int8),
            (),
        ),
        sequences,
    )


def _sums(factors: CellFactors, model: JointModel, published: Ints) -> list[SumFactor]:
    """Evidence on sums of cells as factors over the cycles that cross their borders."""
    sig = model.signatures
    steps = np.bincount(model.releases[0].sequence, minlength=model.cycles)
    out = []
    for number, (a, b) in enumerate(zip(factors.starts[:-1], factors.starts[1:], strict=True)):
        cells = factors.cells[a:b]
        groups = sig.group_of_cell[cells]
        weight = np.bincount(groups[groups >= 0], minlength=len(sig))
        net = np.bincount(sig.cycles, sig.signs * weight[sig.groups], minlength=model.cycles).astype(np.int64)
        crossing = np.flatnonzero(net)
        reach = int((np.abs(net) * steps).sum())
        sums = int(published[cells].sum()) + np.arange(-reach, reach + 1)
        log = kind_logs(factors, int(factors.kind[number]), sums)
        if not len(crossing):
            if log[0] == -np.inf:
                raise NoneFitError
            continue
        signs = tuple(net[crossing].tolist())
        out.append(SumFactor(tuple(crossing.tolist()), signs, -reach, log))
    return out


def _by_elimination(
    first: MoveSequence, prior: Prior, model: JointModel, found: JointElimination, progress: Progress
) -> Posterior:
    group_of_cell = model.signatures.column
    published = first.published.counts.reshape(-1)

    def listed() -> tuple[Ints, Floats] | None:
        originals = listed_together(model)
        return None if originals is None else listed_tables(originals, group_of_cell, published)

    def count() -> int | None:
        tables = listed()
        return None if tables is None else len(tables[1])

    return Posterior(
        published=first.published,
        prior=prior,
        way="exact",
        reason=message(
            "the releases differ by known numbers of each cycle, and the cycles overlap little enough"
        ),
        group_of_cell=group_of_cell,
        first=published - found.span,
        chances=np.concatenate([found.changes(progress), np.eye(1, 2 * found.span + 1, found.span)]),
        draw_originals=of_tables(found.draw, group_of_cell, published),
        count_originals=count,
        list_originals=listed,
    )


def _by_rings(first: MoveSequence, prior: Prior, model: JointModel, found: RingDraws) -> Posterior:
    counts = first.published.counts.reshape(-1)
    tables = whole_tables(found.changes, model.signatures.column, counts)
    start, chances = laws_of(tables, np.full(len(tables), 1 / len(tables)))
    worth = found.effective[model.signatures.group_of_cell]
    errors = standard_errors(chances, worth[:, None])

    def draw(number: int, generator: np.random.Generator, _: Progress) -> Ints:
        return np.asarray(tables[generator.integers(0, len(tables), number)])

    return Posterior(
        published=first.published,
        prior=prior,
        way="monte_carlo",
        reason=message("whole rings of cycles were drawn, with every shift between the releases"),
        group_of_cell=np.arange(tables.shape[1]),
        first=start,
        chances=chances,
        draw_originals=draw,
        count_originals=lambda: None,
        standard_errors=errors,
        error=float(errors.max(initial=0.0)),
        effective_sample_size=float(worth.min()),
        draws=len(tables),
        r_hat=found.r_hat,
    )
