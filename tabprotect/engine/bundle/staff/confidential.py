"""The dossier: everything the house keeps about a release. It never leaves the house."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.encryption import is_encrypted
from tabprotect.engine.bundle.staff.audit_trail import CHAIN, ChainedTrail, trail_faults
from tabprotect.engine.bundle.staff.risk_report import (
    magnitude_risk_json,
    magnitude_risk_text,
    risk_json,
    risk_text,
)
from tabprotect.engine.bundle.tables import data_package
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.chained_log import Head
from tabprotect.engine.disclosure.magnitude_verdict import magnitude_verdict
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.errors import BundleError, InputError, TabprotectError
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes, write_magnitudes
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.paths import is_file, is_there
from tabprotect.engine.plain_values.decoding import decoded
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.method import require_inline
from tabprotect.engine.protection.problem import (
    ContributorsAudit,
    MagnitudeProblem,
    Problem,
    Protected,
    RunEvidence,
    Steps,
)
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import GENERATOR, KEY_MODULUS, Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.design_weights import DesignWeights
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

KIND = message("tabprotect dossier, CONFIDENTIAL")
FOLDER = archive.CONFIDENTIAL
README, ORIGINAL, RECORD, RELEASE = ("README.md", "original.csv", "record.json", "release.zip")
CONTRIBUTIONS = "original.parquet"
"""The original of a release of magnitudes."""

COINS, STATUSES, HIDDEN = ("coins.csv", "statuses.csv", "hidden.csv")
KEYS, WEIGHTS = ("record_keys.csv", "weights.csv")
EVIDENCE = (COINS, STATUSES, HIDDEN)
"""The files of a run that a replay must reproduce byte for byte."""

TRAIL = "audit_trail.json"
NO_TRAIL = ChainedTrail()
"""That of a run which nobody recorded."""

REGISTER = "register.json"
"""The head of the register of releases when this one was entered."""

OTHERS = ("risk_report.md", "risk_report.json", TRAIL, "recipe.toml", REGISTER)

_README = message(
    "# CONFIDENTIAL\n\nThis dossier belongs to a release and must never leave the "
    "house. With it anybody can read the\noriginal table and replay every coin.\n\n- "
    "`original.csv`: the original counts; of magnitudes `original.parquet`: what each contributor put "
    "in.\n- `record.json`: the seed, its generator and which draw it was, the verdict, the rules for what "
    "tells too\n  much, all parameters, the findings, the decisions.\n- `coins.csv` (cycles): each coin (+1 "
    "add, -1 subtract, 0 leave), what was done, what was blocked.\n- `statuses.csv` "
    "(suppression): S safe, U primary unsafe, P protected, M secondary, E empty.\n- "
    "`hidden.csv` (small count rounding): the rounded inner cells behind the "
    "published tables.\n- `record_keys.csv` (cell keys): the sum of the record keys "
    "of every cell.\n- `weights.csv`: the sum of the design weights of every cell, in "
    "millionths.\n- `risk_report.md`, `risk_report.json`: what told too much and what "
    "became of it.\n- `audit_trail.json`, `recipe.toml`: every step that led here, "
    "and how to repeat them.\n- `register.json`: the last line of the register of "
    "releases when this one was entered. A register\n  that has not that line has "
    "lost what came last.\n- `release.zip`: the public bundle this dossier belongs "
    "to.\n"
)


def suggested_name(release: Path) -> Path:
    """The default path of the dossier of a release bundle."""
    return release.with_name(f"{release.stem}-CONFIDENTIAL-dossier.zip")


def files(
    protected: Protected, *, release: bytes | None = None, trail: ChainedTrail = NO_TRAIL, recipe: str = ""
) -> dict[str, bytes]:
    """All files of the dossier by name, sealed, of a release that is in no register.

    Parameters as in :func:`contents`.
    """
    return sealed(contents(protected, release=release, trail=trail, recipe=recipe))


def sealed(content: Mapping[str, bytes], register: Mapping[str, object] | None = None) -> dict[str, bytes]:
    """The files with their manifest.

    Parameters
    ----------
    register
        The head of the register in which the release is entered; ``None`` for none.
    """
    head = archive.dump_json({"confidential": True, "register": register})
    return archive.sealed({FOLDER + name: data for name, data in {**content, REGISTER: head}.items()}, KIND)


def contents(
    protected: Protected, *, release: bytes | None = None, trail: ChainedTrail = NO_TRAIL, recipe: str = ""
) -> dict[str, bytes]:
    """All that the house keeps of a release, by the names of the files.

    Parameters
    ----------
    release
        The bundle it belongs to, if already packed.
    trail
        The steps that led to the release.
    recipe
        The same steps as a recipe, TOML text.
    """
    record, magnitudes = protected.record, protected.record.problem.magnitudes
    public_ones = protected.release.mechanism.parameters
    # The release states the other parameters; a large cycle set is not written twice.
    own = {n: v for n, v in record.parameters.items() if public_ones.get(n) is not v}
    given = Mechanism("", record.problem.table.domain, own).as_json()
    # Written as text, because other programs round whole numbers of 128 bits.
    stated = {
        "confidential": True,
        "seed": str(record.seed),
        "seed_given": record.seed_given,
        "generator": GENERATOR,
        "attempt": record.attempt,
        "verdict": record.verdict,
        "at_risk": {"low": record.problem.at_risk.low, "high": record.problem.at_risk.high},
        "parameters": given,
        "decisions": list(record.decisions),
        "prepared_by": record.prepared_by,
        "approved_by": record.approved_by,
        "findings": dict(record.findings),
        "trail": trail.head,
    }
    keys, weights = record.problem.record_keys, record.problem.weights
    if weights is not None:
        stated["weights"] = {"low": weights.low, "high": weights.high}
    if record.problem.key_range != KEY_MODULUS:
        stated["key_range"] = record.problem.key_range
    if magnitudes is not None:
        audit = protected.verdict.audit
        stated |= {
            "rules": [rule.written for rule in magnitudes.rules],
            "weights": magnitudes.weights,
            "publish": list(magnitudes.publish),
            "audit": None if audit is None else asdict(audit),
        }
        original = {CONTRIBUTIONS: _contributions(magnitudes.table)}
        text, data = magnitude_risk_text(protected), archive.dump_json(magnitude_risk_json(protected))
    else:
        original = {ORIGINAL: data_package.table_csv(PublishedTable(record.problem.table))}
        summary = summarise(protected)
        text, data = risk_text(protected, summary), risk_json(protected, summary)
    return {
        README: _README.encode(),
        **original,
        **({} if keys is None else {KEYS: data_package.table_csv(PublishedTable(keys))}),
        **({} if weights is None else {WEIGHTS: data_package.table_csv(PublishedTable(weights.sums))}),
        RECORD: archive.dump_json(stated),
        **_evidence(protected),
        "risk_report.md": text.encode(),
        "risk_report.json": data,
        TRAIL: archive.dump_json(trail.lines),
        "recipe.toml": recipe.encode(errors="replace"),
        RELEASE: public.to_bytes(protected.release, page=False) if release is None else release,
    }


def _contributions(table: MagnitudeTable) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / CONTRIBUTIONS
        write_magnitudes(table, path)
        return path.read_bytes()


def _evidence(protected: Protected) -> dict[str, bytes]:
    record = protected.record
    out = {}
    if record.steps is not None:
        out[COINS] = _coins(record.steps)
    if record.statuses:
        out[STATUSES] = _statuses(protected)
    if record.hidden is not None:
        out[HIDDEN] = data_package.table_csv(PublishedTable(record.hidden))
    return out


def _coins(steps: Steps) -> bytes:
    fates = [np.asarray(c, dtype=np.int64).reshape(-1) for c in (steps.coins, steps.effective, steps.blocked)]
    # Many steps share few outcomes; numpy's own writer takes seconds for a million cells.
    kind, fate = equal_rows(fates)
    ends = [f",{c},{e},{b}\n" for c, e, b in np.stack(fates, axis=1)[kind].tolist()]
    pieces = np.empty((len(fate), 3), dtype=np.object_)
    pieces[:, 0] = np.repeat([f"{p + 1}," for p in range(len(steps.coins))], steps.coins.shape[1])
    # A step without a cycle to take has the number 0.
    pieces[:, 1] = list(map(str, (steps.cycles.reshape(-1) + 1).tolist()))
    pieces[:, 2] = np.array(ends, dtype=np.object_)[fate]
    return ("pass,cycle,coin,effective,blocked\n" + "".join(pieces.reshape(-1).tolist())).encode()


def _statuses(protected: Protected) -> bytes:
    """Table number, number of the cell in order, and status letter; the labels are in the tables."""
    lines = ["table,cell,status"]
    for number, letters in enumerate(protected.record.statuses):
        flat = letters.reshape(-1).tolist()
        lines += [f"{number + 1},{cell + 1},{letter}" for cell, letter in enumerate(flat)]
    return ("\n".join(lines) + "\n").encode()


def kept_name(path: Path, release: bytes) -> Path | None:
    """A free name under which to keep another release's dossier that is already there.

    Without it that release could never be accounted for. ``None`` if nothing would be lost: there is
    no dossier, or it belongs to the same release. An encrypted one that is not opened is another's.
    """
    if not is_file(path):
        return None
    try:
        found = archive.unpack(archive.load(path), allowed=lambda name: True)
    except (BundleError, InputError):
        with path.open("rb") as file:
            found = {FOLDER + RELEASE: b""} if is_encrypted(file.read(100)) else {}
    if found.get(FOLDER + RELEASE) in (None, release):
        return None
    numbers = itertools.count(1)
    names = (path.with_name(f"{path.stem}-{n}{path.suffix}") for n in numbers)
    return next(name for name in names if not is_there(name))


def write(
    protected: Protected,
    path: Path,
    *,
    release: bytes | None = None,
    trail: ChainedTrail = NO_TRAIL,
    recipe: str = "",
) -> None:
    """Write the dossier, whole or not at all, over one that is there.

    Raises
    ------
    InputError
        When it cannot be written there.
    """
    data = archive.pack(files(protected, release=release, trail=trail, recipe=recipe))
    write_bytes(path, data, private=True)


def read(path: Path, *, progress: Progress = SILENT) -> Protected:
    """Open a dossier and replay it: the seed must reproduce the coins and the release.

    Raises
    ------
    BundleError
        When it is damaged, or its original, seed and release do not belong together.
    InputError
        When there is no such file.
    """
    try:
        return open_dossier(archive.load(path), progress=progress).protected
    except BundleError as error:
        raise BundleError(message("{name}: {message}", path.name, error.message), hint=error.hint) from None


@dataclass(frozen=True)
class DossierStep:
    """A step that led to the release: its time (ISO 8601, UTC), and what was done, in words."""

    time: str
    label: str


@dataclass(frozen=True)
class Dossier:
    """A dossier that has been replayed, or, of magnitudes, compared with its release.

    Attributes
    ----------
    protected
        The original, the release and the run between them.
    bundle
        The release bundle inside, as it left the house.
    steps
        The steps that led to the release.
    trail
        The last line of its audit trail; ``None`` where the version that wrote it hashed none.
    """

    protected: Protected
    bundle: bytes
    steps: tuple[DossierStep, ...]
    trail: Head | None = None


def is_dossier(data: bytes) -> bool:
    """Return True if the bytes claim to be a dossier; nothing else is examined.

    Raises
    ------
    BundleError
        When they are no zip that is safe to open.
    """
    return any(name.startswith(FOLDER) for name in archive.unpack(data, allowed=lambda _: True))


def bundle_within(data: bytes) -> bytes:
    """The release bundle inside a dossier, unchecked; nothing else is read."""
    return _files(data)[FOLDER + RELEASE]


def register_head(data: bytes) -> Head | None:
    """Number and hash of the register's last line as a dossier has them; ``None`` without any."""
    return _head(_files(data), REGISTER, "register")


def _head(found: Mapping[str, bytes], name: str, key: str) -> Head | None:
    """The head of a log that a file of a dossier states; ``None`` without any."""
    stated = archive.parse_json(name, found.get(FOLDER + name, b"null"))
    try:
        assert isinstance(stated, dict)
        head = stated[key]
        return Head(int(head["lines"]), str(head["head"]))
    except (AssertionError, KeyError, TypeError, ValueError):
        return None


def trail_head(data: bytes) -> Head | None:
    """The last line of the audit trail as a dossier states it; ``None`` where none was hashed."""
    return _head(_files(data), RECORD, "trail")


def check_trail(data: bytes, head: Head) -> None:
    """Refuse a dossier whose audit trail does not end as the register has it.

    Raises
    ------
    BundleError
        Naming every line that is not as it was written.
    """
    _check_trail(_files(data), head)


def _check_trail(found: Mapping[str, bytes], head: Head | None = None) -> None:
    lines, known = archive.parse_json(TRAIL, found.get(FOLDER + TRAIL, b"[]")), _head(found, RECORD, "trail")
    of = lines if isinstance(lines, list) else [None]
    if head is None and known is None and not any(isinstance(one, dict) and CHAIN in one for one in of):
        # Dossiers of earlier versions have no hashes.
        return
    if faults := trail_faults(of, head or known):
        raise BundleError(
            message("{TRAIL}: {faults}", TRAIL, joined(faults, "; ")),
            hint=message("take the dossier from where it was kept first; the register has the last hash"),
        )


def open_dossier(data: bytes, *, progress: Progress = SILENT) -> Dossier:
    """Open a dossier's bytes as :func:`read` does, with the bundle and the steps."""
    found = _files(data)
    steps, trail = _steps(found.get(FOLDER + TRAIL, b"[]")), _head(found, RECORD, "trail")
    return Dossier(_replayed(found, progress), found[FOLDER + RELEASE], steps, trail)


def _steps(data: bytes) -> tuple[DossierStep, ...]:
    """The steps that have a time and a label; a trail may hold other JSON values too."""
    trail = archive.parse_json(TRAIL, data)
    found = trail if isinstance(trail, list) else []
    return tuple(
        DossierStep(str(step["time"]), str(step["label"]))
        for step in found
        if isinstance(step, dict) and {"time", "label"} <= set(step)
    )


def _files(data: bytes) -> dict[str, bytes]:
    every = (README, ORIGINAL, CONTRIBUTIONS, RECORD, RELEASE, KEYS, WEIGHTS, *EVIDENCE, *OTHERS)
    names = {FOLDER + name for name in every}
    names.add(archive.MANIFEST)
    found = archive.unpack(data, allowed=names.__contains__)
    _check_trail(found)
    archive.check_manifest(found, KIND)
    original = CONTRIBUTIONS if FOLDER + CONTRIBUTIONS in found else ORIGINAL
    for name in (original, RECORD, RELEASE):
        if FOLDER + name not in found:
            raise BundleError(message("{name} is missing", name), hint=message("this is no {KIND}", KIND))
    return found


def _replayed(found: Mapping[str, bytes], progress: Progress) -> Protected:
    release = verify_bytes(found[FOLDER + RELEASE]).release
    if release.magnitudes:
        return _compared(found, release)
    original = data_package.read_table(found[FOLDER + ORIGINAL], release.domain, name=ORIGINAL)
    keys = found.get(FOLDER + KEYS)
    record_keys = None
    if keys is not None:
        record_keys = data_package.read_table(keys, release.domain, name=KEYS).table
    stated = _Stated.read(found[FOLDER + RECORD], original.table)
    sums, weights = found.get(FOLDER + WEIGHTS), None
    if (sums is None) != (stated.weights is None):
        raise BundleError(message("{WEIGHTS}: it does not belong to {RECORD}", WEIGHTS, RECORD))
    if sums is not None and stated.weights is not None:
        table = data_package.read_table(sums, release.domain, name=WEIGHTS).table
        weights = DesignWeights(table, *stated.weights)
    given = {**release.mechanism.parameters, **stated.parameters}
    method = methods()[release.mechanism.method]
    declared = {p.name for p in method.parameters}
    try:
        require_inline(method.parameters, stated.parameters)
        problem = Problem(
            original.table,
            stated.at_risk,
            release.title,
            metadata=release.metadata,
            record_keys=record_keys,
            key_range=stated.key_range,
            weights=weights,
        )
        coins = release.mechanism.coins or stated.randomness.coins
        randomness = replace(stated.randomness, coins=coins)
        # The other disclosures follow from the run.
        values = method.resolve_for(problem, {n: v for n, v in given.items() if n in declared})
        replayed = method.attempt(problem, values, randomness, number=stated.attempt, progress=progress)
    except TabprotectError as error:
        if error.kind == "interrupted":
            raise
        raise BundleError(message("the original cannot be replayed: {message}", error.message)) from None
    if replayed.release.tables != release.tables:
        raise BundleError(message("the seed does not lead from the original to the release"))
    if release.mechanism.nonce not in ("", replayed.release.mechanism.nonce):
        raise BundleError(message("the seed does not lead to the nonce of the release"))
    evidence = _evidence(replayed)
    for name in EVIDENCE:
        if evidence.get(name) != found.get(FOLDER + name):
            raise BundleError(message("{name}: this is not what the seed leads to", name))
    prepared_by, approved_by = stated.names
    record = replace(
        replayed.record, decisions=stated.decisions, prepared_by=prepared_by, approved_by=approved_by
    )
    return Protected(release, record)


def _compared(found: Mapping[str, bytes], release: Release) -> Protected:
    """The run behind a release of magnitudes: what is published as it is must be true.

    Noise follows from a key that is not in the dossier, and large patterns take long to find again.
    """
    published, record = release.magnitude_table, archive.parse_json(RECORD, found[FOLDER + RECORD])
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / CONTRIBUTIONS
            path.write_bytes(found.get(FOLDER + CONTRIBUTIONS, b""))
            table = read_magnitudes(path)
    except InputError as error:
        raise BundleError(message("the original cannot be read: {message}", error.message)) from None
    cells, method = table.cells, methods("magnitudes")[release.mechanism.method]
    same = published.variables == table.variables and published.measure == table.measure
    # A bundle lists cells without records too, as 0.
    at = np.searchsorted(published.key, cells.key)
    same = same and np.array_equal(published.key[np.minimum(at, len(published.key) - 1)], cells.key)
    if same and not method.is_random(release.mechanism.values):
        shown = ~published.hidden[at]
        same = np.array_equal(published.value[at][shown], cells.value[shown])
    if same:
        least, most = published.numbers
        same = bool(((least[at] <= cells.units) & (cells.units <= most[at])).all())
    if not same:
        raise BundleError(message("the release is not one of the original"))
    try:
        assert isinstance(record, dict)
        problem = MagnitudeProblem(
            table=table,
            rules=rules_of(record["rules"]) if record["rules"] else (),
            weights=str(record["weights"]),
            publish=tuple(record["publish"]),
        )
        gate = release.mechanism.gate
        given = {**release.mechanism.parameters, **record["parameters"]}
        declared = {one.name for one in method.parameters}
        given = {name: value for name, value in given.items() if name in declared}
        require_inline(method.parameters, given)
        letters = [line.rsplit(",", 1)[1] for line in found[FOLDER + STATUSES].decode().splitlines()[1:]]
        assert len(letters) == len(cells)
        evidence = RunEvidence(
            problem=Problem.of_magnitudes(
                *(problem, release.title, None if gate is None else gate.at_risk), metadata=release.metadata
            ),
            seed=int(record["seed"]),
            seed_given=bool(record["seed_given"]),
            parameters=method.resolve(release.domain, given),
            decisions=tuple(map(str, record["decisions"])),
            statuses=(np.array(letters),),
            findings=dict(record["findings"]),
            verdict=magnitude_verdict(release, audit=decoded(record["audit"], ContributorsAudit)),
            prepared_by=str(record["prepared_by"]),
            approved_by=str(record["approved_by"]),
        )
    except (AssertionError, IndexError, KeyError, TypeError, ValueError, TabprotectError):
        raise BundleError(message("{RECORD}: the record is not as it was written", RECORD)) from None
    return Protected(release, evidence)


@dataclass(frozen=True)
class _Stated:
    """The contents of ``record.json``."""

    randomness: Randomness
    attempt: int
    at_risk: SmallCount
    parameters: Mapping[str, object]
    decisions: tuple[str, ...]
    names: tuple[str, str]
    weights: tuple[int, int] | None
    key_range: int

    @classmethod
    def read(cls, data: bytes, table: Table) -> _Stated:
        stated = archive.parse_json(RECORD, data)
        try:
            assert isinstance(stated, dict)
            rule = stated["at_risk"]
            given = Mechanism.from_json(stated["parameters"], table.domain, table)
            weights = stated.get("weights")
            assert stated["generator"] == GENERATOR
            return cls(
                Randomness(int(stated["seed"]), bool(stated["seed_given"])),
                int(stated["attempt"]),
                SmallCount(int(rule["low"]), int(rule["high"])),
                given.parameters,
                tuple(map(str, stated["decisions"])),
                (str(stated.get("prepared_by", "")), str(stated.get("approved_by", ""))),
                None if weights is None else (int(weights["low"]), int(weights["high"])),
                int(stated.get("key_range", KEY_MODULUS)),
            )
        except (AssertionError, KeyError, TypeError, ValueError, TabprotectError):
            raise BundleError(message("{RECORD}: the record is not as it was written", RECORD)) from None
