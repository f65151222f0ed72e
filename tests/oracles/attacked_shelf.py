"""Tables of some strata of the same people, asked for by the command line, and who lists everybody behind them.

The reader knows who is counted in what, and takes of each release what nobody can doubt: the sums that it
states and the counts that each number leaves possible. A small count that only one population gives is known.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from tabprotect.cli.main import main
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.bundle import public
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.register.people.stated_margins import exact_margin
from tabprotect.engine.release.likelihood import CellFactors, Likelihood, MoveSequence
from tabprotect.engine.release.release import Release

Strata = tuple[int, ...]
"""The numbers of the strata whose people a table counts."""

Limit = tuple[np.ndarray, float, float]
"""Of each stratum and cell how often a sum counts it, the least and the most of the sum."""


def kept_sums(release: Release) -> Iterator[list[int]]:
    """The cells of each sum over some variables that is kept."""
    domain = release.domain
    cells = np.arange(domain.size, dtype=np.int64)
    for number in range(domain.ndim):
        for names in itertools.combinations(domain.names, number):
            if exact_margin(Evidence(release), names) is not None:
                key = domain.project_keys(cells, names)
                yield from (np.flatnonzero(key == place).tolist() for place in range(int(key.max()) + 1))


def ranges(known: Likelihood) -> Iterator[tuple[int, float, float]]:
    """How far the steps of cycles go, for each cell."""
    if isinstance(known, MoveSequence):
        published = known.published.counts.reshape(-1)
        steps = known.passes * np.bincount(known.moves.cells, minlength=len(published))
        for cell, (count, most) in enumerate(zip(published.tolist(), steps.tolist(), strict=True)):
            yield cell, max(count - most, 0), count + most


@dataclass
class Shelf:
    """What of some people has left, and how.

    Attributes
    ----------
    people : int64 (strata, rows, columns)
    folder
        Of the files.
    left
        The strata of each release that left without a reason, with it.
    """

    people: np.ndarray
    folder: Path
    left: list[tuple[Strata, Release]] = field(default_factory=list)
    asked: int = 0

    def ask(self, strata: Strata, method: str, *more: str, apart: bool = False) -> dict[str, Any]:
        """Ask for the table of some strata, or with the variable that tells them apart; a refusal leaves nothing."""
        self.asked += 1
        counts = self.people[list(strata)]
        if not apart:
            counts = counts.sum(axis=0)[None]
        source, bundle = (self.folder / f"{self.asked}.{kind}" for kind in ("csv", "zip"))
        kinds = [f"s{kind}," for kind in strata] if apart else [""]
        header = "s,r,c,count" if apart else "r,c,count"
        lines = [f"{kinds[k]}r{i},c{j},{counts[k, i, j]}" for k, i, j in np.ndindex(counts.shape)]
        source.write_text("\n".join([header, *lines]) + "\n")
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            words = ["--method", method, "--no-page", "--json", *more, "--out", str(bundle)]
            code = main(["protect", str(source), *words])
        found: dict[str, Any] = json.loads(said.getvalue())
        if code == 0 and not found["verdict"]["left_out"]:
            self.left.append((strata, public.read(bundle)))
        return {**found, "code": code}

    def known(self) -> Iterator[tuple[Strata, int, bool]]:
        """The small counts that are certain: of which strata, the cell, and if one release alone tells it.

        Of every table that left, and of whom one counts more than another.
        """
        wanted = {strata for strata, _ in self.left}
        for (one, _), (other, _) in itertools.permutations(self.left, 2):
            if set(one) < set(other):
                wanted.add(tuple(sorted(set(other) - set(one))))
        limits = [limit for strata, release in self.left for limit in self._limits(strata, release)]
        for strata, release in self.left:
            if release.domain.ndim == 3:
                wanted |= {(one,) for one in strata}
        for strata in sorted(wanted):
            counts = self.people[list(strata)].sum(axis=0).reshape(-1)
            for cell in np.flatnonzero((counts >= 1) & (counts <= 2)).tolist():
                if self._settled(limits, strata, cell):
                    alone = any(
                        one == strata and self._settled(list(self._limits(one, release)), strata, cell)
                        for one, release in self.left
                    )
                    yield strata, cell, alone

    def _sum(self, strata: Strata, cells: Sequence[int]) -> np.ndarray:
        row = np.zeros((len(self.people), self.people[0].size))
        row[np.ix_(list(strata), cells)] = 1.0
        return row.reshape(-1)

    def _limits(self, strata: Strata, release: Release) -> Iterator[Limit]:
        known = likelihood_of(release)
        if known.domain.ndim == 3:
            yield from self._apart(strata, release, known)
            return
        if isinstance(known, CellFactors):
            low, high = known.ends
            for number, (begin, end) in enumerate(itertools.pairwise(known.starts.tolist())):
                cells = known.cells[begin:end].tolist()
                yield self._sum(strata, cells), float(low[number]), float(high[number])
            return
        published = release.table.counts.reshape(-1)
        for cell, low, high in ranges(known):
            yield self._sum(strata, [cell]), low, high
        for cells in kept_sums(release):
            kept = float(published[cells].sum())
            yield self._sum(strata, cells), kept, kept

    def _apart(self, strata: Strata, release: Release, known: Likelihood) -> Iterator[Limit]:
        domain, size = known.domain, self.people[0].size
        axes = [domain.axis(name) for name in ("s", "r", "c")]

        def row(cells: Sequence[int]) -> np.ndarray:
            found = np.zeros((len(self.people), size))
            for cell in cells:
                s, r, c = (np.unravel_index(cell, domain.shape)[axis] for axis in axes)
                found[strata[s], r * self.people.shape[2] + c] += 1
            return found.reshape(-1)

        if isinstance(known, CellFactors):
            low, high = known.ends
            for number, (begin, end) in enumerate(itertools.pairwise(known.starts.tolist())):
                yield row(known.cells[begin:end].tolist()), float(low[number]), float(high[number])
            return
        published = release.table.counts.reshape(-1)
        for cell, low, high in ranges(known):
            yield row([cell]), low, high
        for cells in kept_sums(release):
            kept = float(published[cells].sum())
            yield row(cells), kept, kept

    def _settled(self, limits: Sequence[Limit], strata: Strata, cell: int) -> bool:
        rows, low, high = zip(*limits, strict=True)
        aim, both = self._sum(strata, [cell]), []
        for way in (1, -1):
            found = milp(
                way * aim,
                integrality=np.ones(len(aim)),
                bounds=Bounds(0, np.inf),
                constraints=[LinearConstraint(np.array(rows), np.array(low), np.array(high))],
            )
            if found.status == 3:
                return False
            assert found.x is not None, "nobody fits what left"
            both.append(round(float(aim @ found.x)))
        return both[0] == both[1]
