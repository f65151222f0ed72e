"""The exact posterior of every cell: seconds against the targets, memory, growth in the cycles."""

from __future__ import annotations

import resource
import time

import numpy as np

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Poisson, Prior, Uniform
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

TARGETS = [
    ((4, 4), "bidiagonal", 1, 0.05),
    ((4, 4, 3), "balanced", 1, 0.05),
    ((400, 400), "bidiagonal", 1, 1.0),
    ((1000, 1000), "bidiagonal", 1, 5.0),
    ((100, 100), "bidiagonal", 2, 5.0),
    ((1000, 1000), "strips", 1, 5.0),
]


def memory() -> float:
    """Largest resident memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def posterior(
    shape: tuple[int, ...], kind: str, passes: int, mean: float, *, informed: bool = False
) -> tuple[float, Posterior]:
    """Seconds from release to posterior (the better of two), and the posterior."""
    moves = design(Domain.of_shape(shape), kind)
    counts = np.random.default_rng(1).poisson(mean, shape)
    likelihood = MoveSequence(Table.dense(moves.domain, counts), moves, 0.25, 0.25, passes, "any_zero")
    prior: Prior = Poisson(np.full(counts.size, mean)) if informed else Uniform()
    taken = []
    for _ in range(2):
        start = time.perf_counter()
        found = infer(likelihood, prior)
        taken.append(time.perf_counter() - start)
    return min(taken), found


def main() -> None:
    """Print the figures."""
    print("posterior of every cell")
    for shape, kind, passes, target in TARGETS:
        for mean in (5.0, 50.0):
            for informed in (False, True):
                seconds, found = posterior(shape, kind, passes, mean, informed=informed)
                start = time.perf_counter()
                assert found.mean.shape == found.mode.shape == found.entropy.shape
                figures = time.perf_counter() - start
                name = f"{'x'.join(map(str, shape))} {kind}, {passes} pass{'es' * (passes > 1)}"
                prior = "Poisson prior" if informed else "uniform prior"
                print(
                    f"  {name:30} mean {mean:2.0f}, {prior:13} {found.way:11} "
                    f"{seconds * 1e3:8.1f} ms = {seconds / target:5.3f} of the target, "
                    f"figures {figures * 1e3:6.1f} ms, memory {memory():5.0f} MiB"
                )
    for name, kind, shapes in (
        ("n x n, bidiagonal", "bidiagonal", [(n, n) for n in (125, 250, 500, 1000)]),
        ("2 x n, strips", "strips", [(2, n) for n in (500, 1000, 2000, 4000, 8000)]),
    ):
        print(f"growth in the number of cycles ({name}; the table grows too)")
        first = 0.0
        for shape in shapes:
            seconds, found = posterior(shape, kind, 1, 5.0)
            assert found.way == "exact"
            each = seconds / shape[1] * 1e6
            first = first or each
            print(
                f"  {shape[1]:5} cycles {seconds * 1e3:8.1f} ms, {each:6.1f} us each ({each / first:4.2f} x)"
            )


if __name__ == "__main__":
    main()
