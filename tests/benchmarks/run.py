"""Run every benchmark: ``python tests/benchmarks/run.py [name ...]``.

Each prints times, ratios within this run, and how cost grows. Figures of shared machines are
noisy: compare ratios, not seconds.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path


def main() -> None:
    """Run the named benchmarks, or all of them."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    wanted = sys.argv[1:]
    for path in sorted(Path(__file__).parent.rglob("bench_*.py")):
        if wanted and path.stem.removeprefix("bench_") not in wanted:
            continue
        print(f"== {path.stem}", flush=True)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.main()


if __name__ == "__main__":
    main()
