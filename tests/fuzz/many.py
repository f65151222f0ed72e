"""Try many mutants of small files of every reader, and count what happens.

``python tests/fuzz/many.py --mutants 1000000 --seed 1 --found FOLDER`` writes a line of JSON: mutants,
accepted, refused, files that made their reader stop (all of these are as they should be), errors that
nobody foresaw by kind and place, and mutants that took more than ten processor seconds. Each of the last
two lies in the folder. Every reader has the same share of the time, so that quick ones try more; the
mutants of a file follow from the seed alone, whatever else is tried.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))

from foreign_files import mutant, reader_of, sound_files

from tabprotect.engine.errors import TabprotectError

HANG = 10.0
"""Processor seconds, the reader's process aside, which has a limit of its own."""

BATCH = 10
"""Mutants of a file one after the other."""

SAID = 20_000
"""After so many mutants it says how far it is."""


class Hang(BaseException):
    """A mutant has taken too long."""


def _hang(*_: object) -> None:
    raise Hang


def tried(name: str, path: Path) -> str:
    """What became of a mutant: a word, or the kind and place of an error that nobody foresaw."""
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG)
    try:
        reader_of(name)(path)
    except TabprotectError as error:
        return "stopped" if "made its reader stop" in error.message else "refused"
    except Hang as error:
        return f"{name}: hang {_place(error)}"
    except Exception as error:
        return f"{name}: {type(error).__name__} {_place(error)}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return "accepted"


def _place(error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(where.filename).name}:{where.lineno}"


def main() -> None:
    """Parse the command line, and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="names of files")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after so many")
    parser.add_argument("--found", type=Path, default=Path("build/fuzz"))
    arguments = parser.parse_args()
    arguments.found.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGVTALRM, _hang)
    counts: Counter[str] = Counter()
    of_each: Counter[str] = Counter()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TABPROTECT_HOME"] = folder
        sound = sound_files(Path(folder))
        for name, data in sound.items():
            (Path(folder) / name).write_bytes(data)
        names = sorted(arguments.only or sound)
        of = {name: np.random.default_rng([arguments.seed, *name.encode()]) for name in names}
        spent = dict.fromkeys(names, 0.0)
        while counts["mutants"] < arguments.mutants:
            if time.monotonic() - begun > arguments.seconds:
                break
            name = min(names, key=spent.__getitem__)
            path = Path(folder) / name
            started = time.monotonic()
            for _ in range(BATCH):
                data = mutant(sound[name], of[name])
                path.write_bytes(data)
                said = tried(name, path)
                if said not in ("accepted", "refused", "stopped") and not counts[said]:
                    (arguments.found / f"{len(counts)}-{arguments.seed}-{name}").write_bytes(data)
                    print(said, file=sys.stderr, flush=True)
                counts[said] += 1
            path.write_bytes(sound[name])
            spent[name] += time.monotonic() - started
            counts["mutants"] += BATCH
            of_each[name] += BATCH
            if counts["mutants"] % SAID < BATCH:
                print(json.dumps(counts), file=sys.stderr, flush=True)
    print(json.dumps({**counts, "of each": of_each}))


if __name__ == "__main__":
    main()
