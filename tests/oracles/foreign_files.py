"""Small sound files of every kind that the program reads, what reads each, and mutants of them."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from magnitude_cases import table_of

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.disclosure import policy
from tabprotect.engine.formats.agencies.rda_metadata import read_metadata
from tabprotect.engine.formats.file_preview import preview
from tabprotect.engine.formats.grouping_files import parse_groupings, read_hierarchy
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.structural_zeros import zeros_of
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes, write_magnitudes
from tabprotect.engine.magnitudes.files.top_tables import read_top_table
from tabprotect.engine.magnitudes.files.top_writing import top_table_files
from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells
from tabprotect.engine.microdata.tabulate import tabulate
from tabprotect.engine.output_checking.acro_files import read_acro, write_acro
from tabprotect.engine.output_checking.decision_files import read_decisions, write_decisions
from tabprotect.engine.output_checking.flags_and_decisions import CheckRules, Decision, flag_cells
from tabprotect.engine.posterior.prior_text import parse_prior
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipes import batch_jobs, replay
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.engine.protection.cell_keys import perturbation_files
from tabprotect.engine.protection.suppressing.given_statuses import given_sums, given_text, text_of
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.server import service

DOMAIN = Domain.of({"A": list("0123"), "B": list("0123")})
TABLE = Table.dense(
    Domain.of({"v": ["a", "b", "c"], "w": ["x", "y"]}), np.array([[3, 0], [1, 25], [2, 7]], dtype=np.int64)
)
SUMS = PublishedMagnitudes(
    Domain.of({"v": ["a", "b"], "w": ["x", "y"]}).variables,
    "turnover",
    1,
    np.arange(9, dtype=np.int64),
    np.array([10, 25, 35, 40, 0, 40, 50, 25, 75], dtype=np.int64),
    np.zeros(9, dtype=bool),
)
SUMS_RELEASE = Release.of_magnitudes(SUMS, "suppression")
"""Two by two sums with their totals, to a tenth."""
FIRMS = table_of({(0, 0, "a"): 90, (0, 1, "b"): 6, (1, 0, "c"): 4, (1, 1, "a"): 70, (1, 1, "d"): 8}, (2, 2))
RULED = sensitive_cells(FIRMS, rules_of(["p=10"]))
TOP_FILES = top_table_files(FIRMS, "top", RULED)
"""Sums with who contributes to them, and their largest contributions as tau-ARGUS has them."""
RECIPE = 'recipe = 1\n[[step]]\ndo = "open_table"\nsource = "t.csv"\n'
CSV = "a,b,count\nx,1,3\nx,2,0\ny,1,7\ny,2,12\n"
PEOPLE = "sex,age,weight\n" + "f,1,2\nm,2,1\nf,3,1\nm,1,1.5\n" * 4
TEXTS = {
    "t.csv": CSV,
    "people.csv": PEOPLE,
    "p.csv": "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n2;2;1;0;1\n",
    "g.csv": "A,half\n" + "".join(f"{c},h\n" for c in DOMAIN.variables[0].categories),
    "h.hrc": "a\n@b\n@@c\n@d\n",
    "w.csv": "A,B,count,weight\n1,1,0,1\n",
    "z.csv": "A,B\n1,2\n*,3\n",
    "s.toml": RECIPE,
    "policy.toml": 'belief_limit = 0.9\nsecond_release = "refuse"\n[standing]\nattempts = "x"\n',
    "batch.toml": '[[job]]\nname = "a"\nrecipe = "s.toml"\n',
    "service.toml": '[service]\ntitle = "T"\nlanguages = ["en"]\n[table]\nsource = "t.csv"\n',
    "m.rda": '<SEPARATOR> ","\nage 1 2 99\n  <RECODEABLE>\n  <TOTCODE> "T"\nn 4 6\n  <NUMERIC>\n',
}
NASTY = [
    *(b"\x00", b"\xff\xfe", b"\r", b"\n", b'"', b"\\ud800", b"NaN", b"-1", b"1e999", b"{", b"["),
    *(b"9" * 40, b"/etc/passwd", b"null", b"true", b"[" * 3000, b"=", b";", b">", b"\xe2\x80\xae"),
    *(b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"7" * 5000, b"<!ENTITY", b",", b" " * 50, b"'"),
]

Reader = Callable[[Path], object]


def _table(path: Path) -> object:
    return read_table(path)


def _top(path: Path) -> object:
    """A table of largest contributions and its description, of which one is sound."""
    for name in ("top.tab", "top.rda"):
        if name != path.name and path.parent.is_dir():
            path.with_name(name).write_bytes(TOP_FILES[name])
    return read_top_table(path.with_name("top.tab"))


def _records(path: Path) -> object:
    return tabulate(path, ["v"])


READERS: dict[str, Reader] = {
    "people.csv": lambda path: tabulate(path, ["sex", "age"], weight="weight"),
    "records.parquet": _records,
    "records.sav": _records,
    "preview.xlsx": lambda path: preview(path, Reading()),
    "r.zip": verify,
    "d.zip": confidential.read,
    "sums.zip": verify,
    "p.tabprotect": storage.load,
    "c.json": lambda path: cycle_files.read(path, domain=DOMAIN),
    "c.mar": lambda path: cycle_files.read(path, domain=DOMAIN),
    "p.csv": perturbation_files.read,
    "p.json": perturbation_files.read,
    "g.csv": lambda path: parse_groupings(str(path), DOMAIN),
    "h.hrc": read_hierarchy,
    "w.csv": lambda path: parse_prior(f"table:{path}", DOMAIN),
    "z.csv": lambda path: zeros_of(str(path), DOMAIN),
    "s.toml": replay.read,
    "policy.toml": policy.read,
    "batch.toml": batch_jobs.jobs_of,
    "service.toml": service.read,
    "m.rda": lambda path: read_metadata(path, path),
    "t.rda": lambda path: read_table(path.with_name("t.tab")),
    "firms.parquet": lambda path: read_magnitudes(path).cells,
    "top.tab": _top,
    "top.rda": _top,
    "given.hst": lambda path: given_sums(text_of(str(path)), FIRMS),
    "results.json": read_acro,
    "decisions.csv": lambda path: read_decisions(path, TABLE.domain.names),
    "decisions.json": lambda path: read_decisions(path, TABLE.domain.names),
}
"""What reads each; all others are tables."""


def sound_files(folder: Path) -> dict[str, bytes]:
    """A small file of every kind by its name."""
    history = History()
    for order in (
        open_table(source="example:duncan-roehrig-4x4"),
        protect(seed=2**127),
        publish(release=str(folder / "r.zip"), dossier=str(folder / "d.zip")),
    ):
        history, _ = history.do(order)
    storage.save(history, folder / "p.tabprotect")
    found = {name: text.encode() for name, text in TEXTS.items()}
    found["t.csv.gz"] = gzip.compress(CSV.encode())
    for name, kind in formats().items():
        if kind.writes and name != "csv":
            path = folder / f"t{kind.suffixes[0]}"
            found[path.name] = kind.write(TABLE)
            found |= kind.beside(Cube(TABLE), path)
    found["records.parquet"], found["records.sav"] = found["t.parquet"], found["t.sav"]
    found["preview.xlsx"] = found["t.xlsx"]
    write_magnitudes(FIRMS, folder / "firms.parquet")
    found["firms.parquet"] = (folder / "firms.parquet").read_bytes()
    found |= {name: TOP_FILES[name] for name in ("top.tab", "top.rda")}
    found["given.hst"] = given_text(FIRMS, RULED.unsafe, RULED.upper).encode()
    found["sums.zip"] = public.to_bytes(SUMS_RELEASE)
    for name in ("r.zip", "d.zip", "p.tabprotect"):
        found[name] = (folder / name).read_bytes()
    (folder / "p.csv").write_bytes(found["p.csv"])
    perturbation = perturbation_files.read(folder / "p.csv")
    found["p.json"] = json.dumps(perturbation_files.to_json(perturbation)).encode()
    cycles = history.project.cycles
    assert cycles is not None
    found["c.json"] = json.dumps(cycle_files.to_json(cycles)).encode()
    found["c.mar"] = cycle_files.to_4ti2(cycles).encode()
    checked = flag_cells(TABLE, CheckRules(zeros=True))
    said = Decision("approve", "ann", "2026-11-22T10:00:00+00:00", "known")
    checked = checked.decided({checked.flags[0].cell: said})
    write_acro(checked, TABLE, folder / "results.json", when="2026-11-22T10:00:00+00:00")
    for name in ("decisions.csv", "decisions.json"):
        write_decisions(checked, folder / name)
    for name in ("results.json", "decisions.csv", "decisions.json"):
        found[name] = (folder / name).read_bytes()
    return found


def reader_of(name: str) -> Reader:
    """What reads a file of this name."""
    return READERS.get(name, _table)


def mutated(data: bytes, generator: np.random.Generator) -> bytes:
    """A few bytes flipped, cut, doubled, or replaced by something nasty."""
    out = bytearray(data)
    for _ in range(int(generator.integers(1, 4))):
        at = int(generator.integers(0, len(out) + 1))
        size = int(generator.integers(1, 12))
        kind = int(generator.integers(0, 5))
        if kind == 0 and at < len(out):
            out[at] ^= int(generator.integers(1, 256))
        elif kind == 1:
            del out[at : at + size]
        elif kind == 2:
            out[at:at] = out[at : at + size]
        elif kind == 3:
            out[at : at + size] = NASTY[int(generator.integers(0, len(NASTY)))]
        else:
            out[at:at] = NASTY[int(generator.integers(0, len(NASTY)))]
    return bytes(out)


def mutant(data: bytes, generator: np.random.Generator) -> bytes:
    """A mutant; of what is packed, in half of the cases one of its parts, packed again."""
    if generator.integers(0, 2):
        if data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                parts = {name: packed.read(name) for name in packed.namelist()}
            chosen = sorted(parts)[int(generator.integers(0, len(parts)))]
            parts[chosen] = mutated(parts[chosen], generator)
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as packed:
                for name, part in parts.items():
                    packed.writestr(zipfile.ZipInfo(name), part)
            return out.getvalue()
        if data.startswith(b"\x1f\x8b"):
            return gzip.compress(mutated(gzip.decompress(data), generator), 1)
    return mutated(data, generator)
