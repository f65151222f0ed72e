"""A publication set of census size: 20 tables with four levels of geography from 3 million records.

``python tests/benchmarks/protection/bench_set.py [RECORDS]`` prints seconds of processor time: of counting the
records by all variables once, and of the whole command for two methods, with what is left for each
table beyond one and a half times the counting.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TABLES = (
    "lau*sex", "lau*age@band20", "lau@nuts3*age*sex", "lau@nuts3*age@band20*sex*civil",
    "lau@nuts3*work*sex", "lau@nuts3*edu*sex", "lau@nuts2*age*sex*civil", "lau@nuts2*age*edu",
    "lau@nuts2*work*edu*sex", "lau@nuts2*age@band20*work*edu", "lau@nuts2*house*sex",
    "lau@nuts1*age*sex*edu", "lau@nuts1*age*work*sex", "lau@nuts1*civil*house*sex",
    "lau@nuts1*edu*work*civil", "age*sex*civil", "age*edu*work", "house*civil*sex",
    "lau@nuts3*house", "lau*work",
)  # fmt: skip
"""Every table with its totals; each has the level of geography that it names and those above."""

ABOVE = {"lau": ("lau@nuts3", "lau@nuts2", "lau@nuts1"),
         "lau@nuts3": ("lau@nuts2", "lau@nuts1"), "lau@nuts2": ("lau@nuts1",)}  # fmt: skip


def formulas() -> dict[str, str]:
    """The tables with the coarser levels of their geography."""
    found = {}
    for number, text in enumerate(TABLES, 1):
        first, *rest = text.split("*")
        levels = [first, *ABOVE.get(first, ())]
        found[f"t{number:02}"] = "*".join([f"({' + '.join(levels)})", *rest])
    return found


def records(path: Path, number: int) -> None:
    """Synthetic people as Parquet, with record keys."""
    import duckdb

    random = np.random.default_rng(7)
    size = np.sort(random.pareto(1.2, 2000) + 0.2)
    lau = random.choice(2000, number, p=size / size.sum())
    age = np.minimum(random.gamma(4.0, 10.0, number).astype(np.int64), 99)
    columns = {
        "nuts1": lau // 500, "nuts2": lau // 100, "nuts3": lau // 20, "lau": lau, "age": age,
        "sex": random.integers(0, 2, number),
        "civil": np.minimum(age // 20, random.integers(0, 6, number)),
        "edu": np.minimum(age // 8, random.integers(0, 7, number)),
        "work": random.integers(0, 5, number) * (age > 14),
        "house": random.integers(0, 8, number),
        "key": random.random(number).round(8),
    }  # fmt: skip
    with duckdb.connect() as connection:
        connection.register("people", columns)
        connection.execute(f"COPY (SELECT * FROM people) TO '{path}' (FORMAT parquet)")


def seconds(words: list[str]) -> float:
    """Processor seconds of a command of the program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "tabprotect", *words], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the figures."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        people = here / "people.parquet"
        records(people, number)
        coded = ["--levels", "nuts1,nuts2,nuts3,lau=lau", "--band", "age:5", "--band", "age:20"]
        by = "lau,age,sex,civil,edu,work,house"
        counted = ["tabulate", str(people), "--by", by, *coded, "--record-key", "key"]
        alone = seconds([*counted, "--out", str(here / "all.tabprotect")])
        print(f"{number:,} records by 7 variables: {alone:.1f} s")
        (here / "set.toml").write_text(
            "[tables]\n" + "".join(f'{n} = "{f}"\n' for n, f in formulas().items())
        )
        for method, given in (("cell_key", ["--set", "D=3", "--set", "V=2"]), ("small_count_rounding", [])):
            whole = seconds(
                ["protect-set", str(people), *coded, "--record-key", "key",
                 "--tables", str(here / "set.toml"), "--method", method, *given, "--accept", "a trial",
                 "--register", "none", "--out", str(here / method)]
            )  # fmt: skip
            each = (whole - 1.5 * alone) / len(TABLES)
            print(f"{method}: {whole:.1f} s in all, {each:.1f} s a table beyond 1.5 x counting")


if __name__ == "__main__":
    main()
