"""A small year of an agency by the command line, and a reader who puts all that left together.

    python tests/benchmarks/bench_year.py [SEED]

One house publishes tables of the same people: of all, men, women, students; coarser ages; a ring; the next
quarter; a table again by another method. The first remedy of a refusal is run as printed, where it takes no
reason. The reader makes one linear programme of all that left without a reason in a quarter, over everybody's
age, education, activity and sex. A hidden small count that it settles is a leak, and ends the run with 1.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, vstack

from tabprotect.cli.main import main as tabprotect
from tabprotect.engine.agency import KEY_BYTES
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import public
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.release.likelihood import CellFactors

NAMES = ("age", "edu", "act", "sex")
CATEGORIES = {
    "age": [f"{10 * n}-{10 * n + 9}" for n in range(6)],
    "edu": ["none", "first", "second", "third"],
    "act": ["work", "student", "home", "retired"],
    "sex": ["m", "f"],
}
WIDE = [f"{20 * n}-{20 * n + 19}" for n in range(3)]
WHERE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "all": lambda p: p[:, 0] >= 0,
    "men": lambda p: p[:, 3] == 0,
    "women": lambda p: p[:, 3] == 1,
    "students": lambda p: p[:, 2] == 1,
}
REASONS = {"--accept", "--again", "--accept-weak"}


def people(random: np.random.Generator, number: int) -> np.ndarray:
    """People, int64 (number, 4): the codes of their age, education, activity and sex."""
    age = random.choice(6, number, p=[0.1, 0.16, 0.21, 0.22, 0.19, 0.12])
    young = age < 2
    education = np.where(
        young, random.choice(4, number, p=[0.5, 0.4, 0.09, 0.01]), random.binomial(3, 0.5, number)
    )
    does = np.where(
        young,
        random.choice(4, number, p=[0.15, 0.8, 0.05, 0.0]),
        random.choice(4, number, p=[0.6, 0.02, 0.1, 0.28]),
    )
    return np.stack([age, education, does, random.choice(2, number)], axis=1)


def command(*words: str) -> tuple[int, dict[str, Any]]:
    """Run a command; its exit code and what it says."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = tabprotect([*words, "--json"])
    return code, json.loads(out.getvalue())


class Year:
    """Requests of one house, and what came of them."""

    def __init__(self) -> None:
        self.left: list[tuple[str, tuple[str, ...], str, int, np.ndarray]] = []
        self.states: dict[str, str] = {}
        self.seconds: list[float] = []

    def ask(self, name: str, who: np.ndarray, by: str, where: str, method: str, quarter: int = 0) -> None:
        """Ask for one table of some people."""
        names = tuple(by.split("*"))
        some = who[WHERE[where](who)]
        wide = names[0] == "wide"
        columns = [some[:, 0] // 2 if one == "wide" else some[:, NAMES.index(one)] for one in names]
        labels = [WIDE if one == "wide" else CATEGORIES[one] for one in names]
        counts = np.zeros([len(one) for one in labels], dtype=np.int64)
        np.add.at(counts, tuple(columns), 1)
        filled = [np.flatnonzero(counts.sum(axis=tuple({0, 1} - {axis}))) for axis in (0, 1)]
        rows = [
            f"{labels[0][a]},{labels[1][b]},{counts[a, b]}"
            for a, b in itertools.product(*map(np.ndarray.tolist, filled))
        ]
        header = ",".join("age" if one == "wide" else one for one in names)
        Path(f"{name}.csv").write_text("\n".join([f"{header},count", *rows]) + "\n")
        start = time.process_time()
        code, said = command(
            "protect", f"{name}.csv", "--method", method, "--no-page", "--out", f"{name}.zip"
        )
        self.seconds.append(time.process_time() - start)
        state = "at once"
        if code:
            free = [
                one for one in said["error"].get("suggestions", []) if not REASONS & set(shlex.split(one))
            ]
            state = "refused"
            if free:
                code, said = command(*(word for word in shlex.split(free[0])[1:] if word != "--json"))
                state = "remedy" if code == 0 else "remedy refused"
        if code == 0 and said["verdict"]["left_out"]:
            state += ", standing"
        self.states[name] = state
        if state in ("at once", "remedy") and not wide:
            self.left.append((f"{name}.zip", names, where, quarter, counts))
        print(f"{name:<12} {method:<20} {state:<16} {self.seconds[-1]:.1f} s", flush=True)


def settled(left: list[tuple[str, tuple[str, ...], str, int, np.ndarray]]) -> list[str]:
    """The hidden small counts that one linear programme over everybody settles."""
    shape = [len(CATEGORIES[name]) for name in NAMES]
    at = np.indices(shape).reshape(len(shape), -1)
    rows: list[np.ndarray] = []
    ends: list[tuple[float, float]] = []
    small: list[tuple[str, np.ndarray]] = []
    for path, names, where, _, counts in left:
        release, inside = public.read(Path(path)), WHERE[where](at.T)

        def everybody(table: Any, cell: int, inside: np.ndarray = inside) -> np.ndarray:
            index = np.unravel_index(cell, table.shape)
            held = inside.copy()
            for variable, code in zip(table.variables, index, strict=True):
                known = CATEGORIES[variable.name].index(variable.categories[code])
                held &= at[NAMES.index(variable.name)] == known
            return held.astype(np.float64)

        known = likelihood_of(release)
        domain = known.domain
        if isinstance(known, CellFactors):
            low, high = known.ends
            for number in range(len(low)):
                cells = known.cells[known.starts[number] : known.starts[number + 1]]
                rows.append(np.sum([everybody(domain, int(cell)) for cell in cells], axis=0))
                ends.append((float(low[number]), float(high[number])))
        else:
            for name in domain.names:
                margin = release.table.margin([name])
                for cell, count in enumerate(margin.counts.tolist()):
                    rows.append(everybody(margin.domain, cell))
                    ends.append((count, count))
        for code in np.argwhere((counts > 0) & (counts <= 2)):
            held = inside.copy()
            for name, one in zip(names, code.tolist(), strict=True):
                held &= at[NAMES.index(name)] == one
            small.append((f"{path} {code.tolist()}", held.astype(np.float64)))
    sums = csr_matrix(np.array(rows))
    both = vstack([sums, -sums])
    most = np.concatenate([[high for _, high in ends], [-low for low, _ in ends]])
    found = []
    for cell, aim in small:
        fewest, largest = (linprog(way * aim, A_ub=both, b_ub=most, method="highs") for way in (1, -1))
        assert fewest.status == largest.status == 0, "nobody fits what left"
        if np.ceil(fewest.fun - 1e-6) >= np.floor(-largest.fun + 1e-6):
            found.append(cell)
    return found


def main() -> None:
    """Run a year and print what came of it."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdecimal() else 1
    random = np.random.default_rng(seed)
    coins = np.random.default_rng([seed, 1])
    methods = random.permutation(["suppression", "suppression", "cyclic_perturbation", "cell_key"]).tolist()
    first = people(random, 3000)
    later = np.concatenate([first[random.random(len(first)) > 0.004], people(random, 12)])
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        patch.dict(os.environ, {"TABPROTECT_HOME": folder}),
    ):
        # The same coins in every run of a seed.
        write_bytes(Path("house.key"), coins.bytes(KEY_BYTES).hex().encode(), overwrite=False, private=True)
        year = Year()
        for where in random.permutation(["all", "men", "women"]).tolist():
            year.ask(f"edu-{where}", first, "edu*act", where, methods[0])
        for where in random.permutation(["all", "students"]).tolist():
            year.ask(f"age-{where}", first, "age*edu", where, methods[1])
        year.ask("wide", first, "wide*edu", "all", methods[1])
        for number, by in enumerate(("age*sex", "sex*edu", "age*act")):
            year.ask(f"ring-{number}", first, by, "all", methods[2])
        year.ask("again", first, "age*act", "all", "random_rounding")
        for quarter, who in enumerate((first, later)):
            year.ask(f"quarter-{quarter}", who, "edu*sex", "all", methods[3], quarter)
        leaks = [
            one
            for quarter in (0, 1)
            for one in settled([each for each in year.left if each[3] == quarter] or year.left[:1])
        ]
    states = list(year.states.values())
    judged = sum(one in ("at once", "remedy") for one in states)
    print(f"without a reason {judged} of {len(states)}; refused {sum('refused' in one for one in states)}")
    print(f"time of the last three : first three  {sum(year.seconds[-3:]) / sum(year.seconds[:3]):.2f}")
    print(f"small counts that a reader of all settles: {len(leaks)}")
    for leak in leaks:
        print(f"  {leak}")
    if leaks:
        sys.exit(1)


if __name__ == "__main__":
    main()
