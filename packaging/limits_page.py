"""The page *How large, how long* of the documentation: ``python packaging/limits_page.py``.

Protects tables of two variables, about half of whose cells are empty, by every method at its
defaults, each in a process of its own. CPU time (user and system) and peak memory are those of the whole process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tabprotect.engine.protection.registered import methods

PAGE = Path(__file__).resolve().parents[1] / "resources" / "docs" / "site" / "limits.md"
SIDES = (10, 32, 100, 316)
MOST_SECONDS = 600

HEAD = """# How large, how long

```{index} ! memory, ! limits, ! speed, ! size, ! how large, ! how long
```

Each method at its defaults on square tables of two variables, about half of whose cells are empty, by `tabprotect protect` as a process of its own: CPU
seconds, peak memory, and whether what readers learn is worked out whole (*part*: the verdict names what it leaves out, and the release takes a reason).
Times are of one core of a shared machine: compare them with each other.

| method | {sizes} |
|---|{lines}
{rows}

`tabprotect describe METHOD` says the size up to which a method was judged whole here, without a gap, and what is judged whole beyond; a refusal of a larger table says it, too.

What is not in the table: `coarsening` and `publish_margins` take parameters that depend on the table. Records are counted by DuckDB, 10 million in about two
seconds. A table in memory takes about 500 bytes a cell while it is protected; the most cells of a designed cycle set are 2 x 10^7.
"""


def sparse(side: int) -> str:
    """A table as CSV: negative binomial counts, 45 in 100 of them zero."""
    chance = np.random.default_rng(7)
    counts = chance.poisson(chance.gamma(0.36, 3 / 0.36, size=(side, side)))
    rows = (f"r{i},c{j},{n}" for (i, j), n in np.ndenumerate(counts))
    return "\n".join(["row,column,count", *rows]) + "\n"


def measured(method: str, table: Path) -> str:
    """Seconds of CPU, mebibytes, and how whole the verdict is."""
    words = [sys.executable, "-m", "tabprotect", "protect", str(table), "--method", method, "--json"]
    words += ["--register", "none", "--accept", "measured", "--out", str(table.with_suffix(".zip"))]
    code = (
        "import resource, subprocess, sys, json\n"
        f"done = subprocess.run({words!r}, capture_output=True, text=True, timeout={MOST_SECONDS})\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss, done.returncode, done.stdout]))"
    )
    try:
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError:
        return f"over {MOST_SECONDS} s"
    seconds, kibibytes, failed, said = json.loads(out.stdout)
    if failed:
        return "-"
    whole = not json.loads(said)["verdict"]["left_out"]
    return f"{seconds:.1f} s, {kibibytes // 1024} MiB{'' if whole else ', *part*'}"


def main() -> None:
    """Measure, and write the page."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TABPROTECT_HOME"] = folder
        tables = []
        for side in SIDES:
            tables.append(Path(folder, f"t{side}.csv"))
            tables[-1].write_text(sparse(side), encoding="utf-8")
        for name, method in methods().items():
            if name in ("coarsening", "publish_margins"):
                continue
            cells = [measured(name, table) for table in tables]
            rows.append(f"| {method.label} | {' | '.join(cells)} |")
            print(rows[-1], flush=True)
    sizes = " | ".join(f"{side * side:,} cells" for side in SIDES)
    text = HEAD.replace("{sizes}", sizes).replace("{lines}", "---|" * len(SIDES))
    PAGE.write_text(text.replace("{rows}", "\n".join(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
