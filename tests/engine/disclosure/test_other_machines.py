"""The verdict is a function of the release: processors that round otherwise find the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

JUDGED = """
import json
import numpy as np
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

def released(name, shape, **given):
    domain = Domain.of({n: list("0123456789"[:k]) for n, k in zip("ABCDE", shape)})
    generator = np.random.default_rng(len(shape))
    counts = generator.poisson(generator.gamma(0.8, 2.5, shape)).astype(np.int64)
    method = methods()[name]
    return method.run(Problem(Table.dense(domain, counts)), given, Randomness.seeded(1)).release

for release in (
    released("cell_key", (2,) * 5, D=3, V=2.0, js=0, margins="A*B*C*D*E"),
    released("random_rounding", (3, 4)),
    released("cyclic_perturbation", (4, 4, 3)),
    released("discrete_laplace", (3, 3)),
):
    print(json.dumps(verdict(release).as_json()))
"""
"""Verdicts by the tempered chain, by convolution, by elimination, and by reweighing."""

NEWER = "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"


def _verdicts(**machine: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", JUDGED],
        env=os.environ | machine,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="how a processor is hidden is told for Linux")
def test_older_processors_come_to_the_same_verdict() -> None:
    here = _verdicts()
    assert len(here) == 4 and all('"mean_belief"' in line for line in here)
    older = _verdicts(
        # Sums in another order, and functions without fused steps.
        OPENBLAS_CORETYPE="Nehalem",
        GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F",
        NPY_DISABLE_CPU_FEATURES=NEWER,
    )
    assert older == here
