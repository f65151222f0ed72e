"""What an installation computes, checked on the spot: what a validator calls installation qualification."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import math
import platform
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from html import escape
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from tabprotect.engine.atomic import not_rehearsed
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.bounds.counting import count_tables
from tabprotect.engine.bundle.public import to_bytes
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.paths import is_there
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.registered import criteria_of, rules
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.sensitivity.magnitude_rules import sensitivity_rules
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message
from tabprotect.testing.calibration import LIMIT
from tabprotect.testing.failure import require
from tabprotect.testing.format_checks import check_format
from tabprotect.testing.method_checks import check_method
from tabprotect.testing.query_space_checks import check_criterion, check_rule
from tabprotect.testing.sensitivity_checks import check_sensitivity_rule
from tabprotect.version import RESOURCES, __version__, commit, compiled, missing_kernels

NAME = "tabprotect"

SLIDES = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
"""The table of Duncan and Roehrig."""

PUBLISHED = np.array([[16, 0, 2, 2], [21, 11, 9, 14], [2, 11, 11, 1], [11, 13, 8, 3]])
"""The table that their slides publish of it, by four cycles of coins 1/4."""

BELIEVED = {
    (0, 1): (0, (240, 82, 11)),
    (0, 3): (1, (92, 135, 86, 20)),
    (2, 3): (1, (240, 82, 11)),
    (3, 3): (1, (19, 108, 154, 52)),
}
"""What its readers believe of cells: the first count that is possible, and chances as 333rds."""

DRAWS = 4_000
"""Originals that are drawn where the law of the draws is known."""

HIDDEN = ((0, 1), (0, 2), (0, 3), (2, 2), (2, 3), (3, 1), (3, 3))
"""Its cells that their slides hide."""

DERIVED = {"page.html", "README.md", "manifest.json"}
"""Files of a bundle with texts for people, and their hashes: made from the others."""

MADE = {
    "cyclic_perturbation": "ddb1d7a53e7c5f5eb0ac505d359ceb290663b3ab408eebd23dcbd3b861352440",
    "random_rounding": "f6447adaf569b4e7abfb600d1612319fe83043eecb8d76b443d24ed8424daf37",
}
"""SHA-256 of what bundles of ``SLIDES`` say, by method, from one seed."""


@dataclass(frozen=True)
class CheckDone(Encodable):
    """One check of an installation.

    Attributes
    ----------
    name
    passed
    seconds
        CPU time.
    found
        What was wrong; empty where it passed.
    """

    name: str
    passed: bool
    seconds: float
    found: str
    json_keys = "name passed seconds found"


@dataclass(frozen=True)
class SelfTest(Encodable):
    """What an installation is, and which checks it passed.

    Attributes
    ----------
    version, commit, compiled, python, system, libraries
        Of the program, of Python, and of what it uses.
    files
        SHA-256 of the program's own files.
    checks
    """

    version: str
    commit: str
    compiled: str
    python: str
    system: str
    libraries: dict[str, str]
    files: str
    checks: tuple[CheckDone, ...]
    json_keys = "version commit compiled python system libraries files passed seconds checks"

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def seconds(self) -> float:
        """CPU time of all checks together."""
        return round(sum(check.seconds for check in self.checks), 1)

    def html(self) -> str:
        """A page to file."""
        told = {
            message("Version"): self.version,
            message("Commit"): self.commit,
            message("Compiled"): self.compiled,
            "Python": self.python,
            message("System"): self.system,
            message("Files (SHA-256)"): self.files,
            message("CPU time"): f"{self.seconds:g} s",
            **self.libraries,
        }
        facts = "".join(f"<tr><td>{escape(k)}</td><td>{escape(v)}</td></tr>" for k, v in told.items() if v)
        lines = "".join(
            f"<tr><td>{escape(c.name)}</td><td>{_word(c)}</td><td>{c.seconds:.1f} s</td><td>{escape(c.found)}</td></tr>"
            for c in self.checks
        )
        title = message("Check of an installation")
        return joined([
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>',
            "<style>body{font:11px sans-serif}td{padding:1px 8px;border-bottom:1px solid #ccc}</style>",
            f"<h1>{title}</h1><table>{facts}</table><table>{lines}</table></html>", "",
        ], "\n")  # fmt: skip


def _word(check: CheckDone) -> str:
    return message("passed") if check.passed else message("FAILED")


def selftest(only: str = "", progress: Progress = SILENT) -> SelfTest:
    """Run every check, whatever those before found.

    Kernels, files as installed, worked examples of the sources, bundles byte for byte; and of every
    registered method its law and posteriors against enumeration and simulation, its promises and its
    bundles; of every format, criterion and rule what must hold for it. About a minute.

    Parameters
    ----------
    only
        Text that the names of the checks have.

    Raises
    ------
    Interrupted
        When cancelled.
    ParameterError
        If no check has such a name.
    """
    checks = [(name, check) for name, check in _checks() if only in name]
    if not checks:
        raise ParameterError(
            {"only": message("no check is called so: {only}", repr(only))},
            hint=message("leave it out; every check is listed with --json"),
        )
    done = []
    for number, (name, check) in enumerate(checks):
        progress.report(message("checking {name}", name), number / len(checks))
        begin, found = time.process_time(), ""
        try:
            with not_rehearsed():
                check()
        except Exception as error:
            found = str(error) or type(error).__name__
        done.append(CheckDone(name, not found, round(time.process_time() - begin, 2), found))
    return SelfTest(
        __version__,
        commit(),
        message("{here} of {all}", **compiled()),
        platform.python_version(),
        platform.platform(),
        _libraries(),
        _digest(),
        tuple(done),
    )


def _checks() -> Iterator[tuple[str, Callable[[], None]]]:
    yield message("compiled parts"), _kernels
    yield message("files as they were installed"), _installed
    yield message("tables with given totals (Duncan and Roehrig; OEIS A000681; MacMahon)"), _counted
    yield message("originals of a suppressed table (Duncan and Roehrig)"), _suppressed
    yield message("a posterior in fractions (Duncan and Roehrig)"), _believed
    yield message("originals drawn by their law"), _drawn
    for name in MADE:
        yield message("a bundle of {name}, byte for byte", name), partial(_made, name)
    for name, method in methods().items():
        yield message("method {name}", name), partial(check_method, method)
    for name, kind in formats().items():
        yield message("format {name}", name), partial(check_format, kind)
    for name, criterion in criteria_of("counts").items():
        yield message("criterion {name}", name), partial(check_criterion, criterion)
    for name, answering in rules().items():
        yield message("rule of a table server {name}", name), partial(check_rule, answering)
    for name, rule in sensitivity_rules().items():
        yield message("rule of sensitivity {name}", name), partial(check_sensitivity_rule, rule)


def _kernels() -> None:
    require(not missing_kernels(), joined(missing_kernels(), ", "))


def _installed() -> None:
    """Compare files with the record of what was installed; those of a checkout with its commit."""
    wrong = [
        str(path)
        for path in importlib.metadata.files(NAME) or ()
        if path.hash is not None and path.suffix != ".pth" and _other(Path(str(path.locate())), path.hash)
    ]
    require(not wrong, message("changed since it was installed: {names}", joined(wrong[:9], ", ")))
    wrong = _changed(RESOURCES.parent)
    require(
        not wrong, message("changed since the commit {commit}: {names}", commit(), joined(wrong[:9], ", "))
    )


def _changed(top: Path) -> list[str]:
    """Files of the program that differ from the commit of a checkout; none elsewhere, or without git."""
    if not is_there(top / ".git"):
        return []
    asked = ["git", "-C", str(top), "diff", "--name-only", "HEAD", "--", "tabprotect", "resources"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return []


def _other(path: Path, stated: importlib.metadata.FileHash) -> bool:
    try:
        found = hashlib.new(stated.mode, path.read_bytes()).digest()
    except OSError:
        return True
    return base64.urlsafe_b64encode(found).rstrip(b"=").decode() != stated.value


def _counted() -> None:
    slides = count_tables(SLIDES.sum(axis=1).tolist(), SLIDES.sum(axis=0).tolist())
    require((slides.count, slides.exact) == (18_272_363_056, True), f"4 x 4: {slides.count:,}")
    require(count_tables([2] * 10, [2] * 10).count == 3_930_730_108_200, "10 x 10")
    require(count_tables([100] * 3, [100] * 3).count == 101 * 102 * 10_304 // 8, "3 x 3")


def _suppressed() -> None:
    hidden = np.zeros(SLIDES.shape, dtype=np.bool_)
    hidden[tuple(zip(*HIDDEN, strict=True))] = True
    table = _slides()
    tables = (
        PublishedTable.hiding(table, hidden),
        *(PublishedTable(table.margin(names)) for names in (["v"], ["w"], [])),
    )
    method = methods()["suppression"]
    for zeros, number in (("allowed", 15), ("published", 3)):
        given = method.resolve(table.domain, {"choice": "cheapest", "zeros": zeros}) | {"at_risk": "1..2"}
        release = Release(tables, Mechanism("suppression", table.domain, given))
        found = believe([release], knowing=RELEASE_ALONE).posterior.originals
        require(found == number, f"{zeros}: {found}")


def _posterior() -> Posterior:
    """That of the slides' published table."""
    domain = _slides().domain
    given = {"cycles": design(domain, "bidiagonal"), "alpha": 0.25, "beta": 0.25, "blocking": "any_zero"}
    values = methods()["cyclic_perturbation"].resolve(domain, given)
    release = Release(
        (PublishedTable(Table.dense(domain, PUBLISHED)),), Mechanism("cyclic_perturbation", domain, values)
    )
    return believe([release], knowing=RELEASE_ALONE).posterior


def _believed() -> None:
    found = _posterior()
    require(found.originals == 22, f"{found.originals} originals, 22")
    for cell, (first, weights) in BELIEVED.items():
        for count, weight in enumerate(weights, first):
            off = abs(found.probability(count)[cell] - weight / 333)
            require(off < 1e-9, f"{cell}: {count} is off by {off:.2g}")


def _drawn() -> None:
    drawn = _posterior().draw_originals(DRAWS, np.random.default_rng(11), SILENT)
    for (row, column), (first, weights) in BELIEVED.items():
        for count, weight in enumerate(weights, first):
            chance = weight / 333
            hits = int((drawn[:, 4 * row + column] == count).sum())
            z = (hits - DRAWS * chance) / math.sqrt(DRAWS * chance * (1 - chance))
            require(abs(z) < LIMIT, f"({row}, {column}): {count} in {hits} of {DRAWS} draws, z {z:.1f}")


def _slides() -> Table:
    domain = Domain.of({name: [f"{name}{n}" for n in range(1, 5)] for name in "vw"})
    return Table.dense(domain, SLIDES)


def _made(name: str) -> None:
    done = methods()[name].run(Problem(_slides()), {}, Randomness.seeded(20_041_968))
    content = to_bytes(done.release)
    verify_bytes(content)
    require(said(content) == MADE[name], said(content))


def said(content: bytes) -> str:
    """SHA-256 of what a bundle says, without what is derived from it."""
    digest = hashlib.sha256()
    with ZipFile(BytesIO(content)) as bundle:
        for one in sorted(set(bundle.namelist()) - DERIVED):
            data = bundle.read(one)
            if one.endswith("datapackage.json"):
                data = json.dumps({**json.loads(data), "created_with": ""}, sort_keys=True).encode()
            digest.update(f"{one}\n{len(data)}\n".encode() + data)
    return digest.hexdigest()


def _libraries() -> dict[str, str]:
    found = {}
    for wanted in importlib.metadata.requires(NAME) or ():
        name = re.split(r"[^\w.-]", wanted, maxsplit=1)[0]
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return dict(sorted(found.items()))


def _digest() -> str:
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()
