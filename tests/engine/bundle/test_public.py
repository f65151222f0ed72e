"""The release bundle: the same bytes every time, and nothing of the original in any of them."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from magnitude_cases import table_of

from tabprotect.engine import agency
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.tables import data_package
from tabprotect.engine.disclosure.magnitude_verdict import protect_magnitudes
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.project.history import History
from tabprotect.engine.protection.problem import MagnitudeProblem, Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def streams(bundle: bytes) -> Iterator[bytes]:
    """Every byte stream of a bundle: the raw zip and each file in it."""
    yield bundle
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        for info in archive.infolist():
            yield archive.read(info)
            yield info.filename.encode() + info.comment + info.extra
        yield archive.comment


def table_forms(table: Table) -> dict[str, bytes]:
    """A table of counts in every form it could plausibly leak in."""
    counts = table.counts
    flat = counts.reshape(-1).tolist()
    forms = {
        "csv": data_package.table_csv(PublishedTable(table)),
        "json": json.dumps(counts.tolist()).encode(),
        "compact": json.dumps(counts.tolist(), separators=(",", ":")).encode(),
        "flat json": json.dumps(flat).encode()[1:-1],
        "flat compact": ",".join(map(str, flat)).encode(),
        "words": " ".join(map(str, flat)).encode(),
        "lines": "\n".join(map(str, flat)).encode(),
        "tabs": "\t".join(map(str, flat)).encode(),
        "transposed": ",".join(map(str, counts.T.reshape(-1).tolist())).encode(),
        "repr": repr(counts).encode(),
    }
    for dtype in ("<i8", ">i8", "<i4", ">i4", "<i2", "u1", "<f8"):
        forms[dtype] = counts.astype(dtype).tobytes()
    for name in ("<i8", "<i4", "u1"):
        forms[f"base64 {name}"] = base64.b64encode(forms[name])
        forms[f"hex {name}"] = forms[name].hex().encode()
    # A digest of the original would let anybody test a guess.
    for name in ("csv", "json", "<i8"):
        forms[f"sha256 of {name}"] = hashlib.sha256(forms[name]).hexdigest().encode()
    return forms


def secrets(protected: Protected) -> dict[str, bytes]:
    """Everything that must not be in a bundle."""
    original, seed = protected.record.problem.table, protected.record.seed
    found = {f"original as {k}": v for k, v in table_forms(original).items()}
    for row in range(original.domain.shape[0]):
        found[f"row {row}"] = ", ".join(map(str, original.counts[row].tolist())).encode()
    found |= {
        "seed": str(seed).encode(),
        "seed in hex": f"{seed:x}".encode(),
        "seed bytes": seed.to_bytes(8, "little"),
        "seed bytes, big": seed.to_bytes(8, "big"),
        "coins": protected.record.steps.coins.tobytes(),
        "coins as text": ",".join(map(str, protected.record.steps.coins.reshape(-1))).encode(),
        "effective": protected.record.steps.effective.tobytes(),
        "home": str(Path.home()).encode(),
        "here": str(Path.cwd()).encode(),
        "blocked share": f"{protected.record.blocked_share:.4f}".encode(),
    }
    return found


def leaks(bundle: bytes, protected: Protected) -> list[str]:
    """The names of the secrets that are in some byte stream."""
    everything = list(streams(bundle))
    return [
        name for name, secret in secrets(protected).items() if any(secret in stream for stream in everything)
    ]


def test_nothing_confidential_is_in_any_byte_stream(protected: Protected) -> None:
    assert protected.release.table != protected.record.problem.table
    bundle = public.to_bytes(protected.release)
    assert leaks(bundle, protected) == []
    # The search would see a table: it finds the published one.
    published = table_forms(protected.release.table)["csv"]
    assert any(published in stream for stream in streams(bundle))


LARGE = {
    (0, 0, "zq-holding-a"): 7_391_857,
    (0, 1, "zq-holding-b"): 6_204_439,
    (1, 0, "zq-holding-c"): 5_118_271,
    (1, 1, "zq-holding-a"): 9_440_023,
    (1, 1, "zq-holding-d"): 8_815_207,
    (1, 1, "zq-holding-e"): 41_617,
    (2, 0, "zq-holding-f"): 3_300_901,
    (2, 1, "zq-holding-g"): 2_777_677,
}
"""Contributions that nobody would write by chance."""


def magnitude_secrets(done: Protected) -> dict[str, bytes]:
    """Everything that must not be in a bundle of magnitudes: what contributors put in, and what changed."""
    table, published = table_of(LARGE, (3, 2)), done.release.magnitude_table
    found = {f"{holding} {value}": str(value).encode() for (_, _, holding), value in LARGE.items()}
    for cell, value in enumerate(table.cells.value.tolist()):
        found[f"cell {cell}"] = str(value).encode()
        found[f"cell {cell} bytes"] = value.to_bytes(8, "little")
    shown = [value for value, gone in zip(published.value, published.hidden, strict=True) if not gone]
    public_ones = {str(value).encode() for value in shown}
    found = {name: secret for name, secret in found.items() if secret not in public_ones}
    beside = {
        "names": b"zq-holding",
        "seed": b"918273645546372819",
        "rule": b"p=13",
        "home": str(Path.home()).encode(),
        "here": str(Path.cwd()).encode(),
        "house key": agency.key().hex().encode(),
    }
    return found | beside


@pytest.mark.parametrize("method", list(methods("magnitudes")))
def test_nothing_confidential_is_in_a_bundle_of_magnitudes(method: str) -> None:
    way = methods("magnitudes")[method]
    problem = MagnitudeProblem(
        table=table_of(LARGE, (3, 2)), rules=rules_of(["p=13"]), seed=918273645546372819
    )
    whole = Problem.of_magnitudes(problem)
    done = protect_magnitudes(way, whole, way.resolve(whole.table.domain, {}), AgencyPolicy())
    secrets = magnitude_secrets(done)
    assert len(secrets) > 15
    everything = list(streams(public.to_bytes(done.release)))
    assert [name for name, secret in secrets.items() if any(secret in one for one in everything)] == []
    # The search would see a value: it finds the published ones.
    published = done.release.magnitude_table
    assert published.written(int(published.key.argmax())).encode() in b"".join(everything)
    true = replace(published, value=problem.table.cells.value, hidden=np.zeros_like(published.hidden))
    leaking = list(streams(public.to_bytes(replace(done.release, magnitudes=(true,)))))
    assert any(secret in one for one in leaking for secret in secrets.values())


def test_a_release_without_a_title_holds_nothing_either(tmp_path: Path) -> None:
    history = History()
    source = tmp_path / "zq-secret-name.csv"
    source.write_text("r,c,count\na,x,73917\na,y,5\nb,x,8\nb,y,73\n")
    history, _ = history.apply("open_table", {"source": str(source)})
    history, _ = history.apply("protect", {"seed": 918273645546372819})
    done = history.project.protected
    assert done is not None and done.release.title == ""
    bundle = public.to_bytes(done.release)
    for stream in streams(bundle):
        assert b"918273645546372819" not in stream
        assert b"zq-secret-name" not in stream


def test_nothing_is_published_that_does_not_verify(
    protected: Protected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = public.to_bytes(protected.release)
    monkeypatch.setattr(public, "to_bytes", lambda *_, **__: sound[:-1])
    with pytest.raises(BundleError):
        public.write(protected.release, tmp_path / "release.zip")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["original as csv", "original as <i8", "seed", "here", "row 3"])
def test_a_planted_leak_is_found(protected: Protected, name: str) -> None:
    planted = dict(public.files(protected.release))
    planted["README.md"] += b"\n" + secrets(protected)[name] + b"\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in planted.items():
            archive.writestr(member, data)
    assert name in leaks(out.getvalue(), protected)


def test_the_original_does_not_reach_the_bundle_at_all(protected: Protected) -> None:
    # Not one byte depends on how the release came about: any record gives the same bundle.
    release = protected.release
    copy = Release.of(
        Table.dense(release.table.domain, release.table.counts.copy()),
        Mechanism(
            release.mechanism.method,
            release.table.domain,
            dict(release.mechanism.parameters),
            coins=release.mechanism.coins,
        ),
        release.title,
    )
    assert public.to_bytes(copy) == public.to_bytes(release)


SCRIPT = """
import getpass, os, platform, socket, sys
getpass.getuser = lambda: "zq-secret-user"
socket.gethostname = platform.node = lambda: "zq-secret-host"
os.uname = lambda: os.uname_result(("Linux", "zq-secret-host", "6", "1", "x86_64"))
from tabprotect.engine.project.history import History
history = History()
for name, given in [("open_table", {"source": "example:duncan-roehrig-4x4"}),
                    ("protect", {"seed": 7 << 120}), ("publish", {"release": sys.argv[1]})]:
    history, _ = history.apply(name, given)
"""


def test_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    bundles = []
    for number, hash_seed in enumerate(("0", "4242")):
        folder = tmp_path / f"zq-secret-folder-{number}"
        folder.mkdir()
        out = folder / f"zq-secret-name-{number}.zip"
        environment = os.environ | {
            "PYTHONHASHSEED": hash_seed,
            "USER": "zq-secret-user",
            "LOGNAME": "zq-secret-user",
            "TZ": ("UTC", "Asia/Tokyo")[number],
        }
        subprocess.run([sys.executable, "-c", SCRIPT, str(out)], env=environment, cwd=folder, check=True)
        bundles.append(out.read_bytes())
    assert bundles[0] == bundles[1]
    assert not any(b"zq-secret" in stream for stream in streams(bundles[0]))


def test_writing_and_reading_gives_the_release_again(protected: Protected, tmp_path: Path) -> None:
    path = tmp_path / "release.zip"
    fingerprint = public.write(protected.release, path)
    assert fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()
    again = public.read(path)
    assert again.table == protected.release.table
    assert again.title == "Health, 2026"
    assert again.mechanism.as_json() == protected.release.mechanism.as_json()
    assert public.to_bytes(again) == path.read_bytes()


def test_the_files_of_a_bundle_say_what_they_should(protected: Protected) -> None:
    files = public.files(protected.release)
    mechanism = json.loads(files["mechanism.json"])
    assert list(mechanism) == [
        *("method", "variables", "shape", "cycles", "alpha", "beta", "passes", "blocking"),
        *("order", "n_cover", "coins"),
    ]
    assert mechanism["shape"] == [6, 7]
    assert mechanism["cycles"]["design"] == "strips" and mechanism["cycles"]["parameters"]["height"] >= 2
    package = json.loads(files["datapackage.json"])
    fields = package["resources"][0]["schema"]["fields"]
    assert [f["name"] for f in fields] == ["place, or region", "age", "count"]
    assert fields[0]["constraints"]["enum"][1] == 'the "old" town'
    manifest = json.loads(files["manifest.json"])
    assert set(manifest["files"]) == set(files) - {"manifest.json"}
    for name, entry in manifest["files"].items():
        assert entry["sha256"] == hashlib.sha256(files[name]).hexdigest()
    assert "tabprotect infer" in files["README.md"].decode()


def test_a_variable_called_count_is_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match="called 'count'") as error:
        data_package.table_csv(PublishedTable(Table.dense(Domain.of({"count": ["a"], "b": ["c"]}), [[1]])))
    assert "rename" in error.value.hint


LABELS = st.lists(st.text(st.characters(codec="utf-8"), max_size=4), min_size=1, max_size=4, unique=True)


@given(st.tuples(LABELS, LABELS), st.data())
@settings(max_examples=50, deadline=None)
def test_any_labels_survive_the_csv(labels: tuple[list[str], list[str]], data: st.DataObject) -> None:
    domain = Domain.of({"a": labels[0], ' b,"': labels[1]})
    whole = st.integers(-(2**40), 2**40)
    counts = data.draw(st.lists(whole, min_size=domain.size, max_size=domain.size))
    table = Table.dense(domain, np.array(counts, dtype=np.int64).reshape(domain.shape))
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=domain.size, max_size=domain.size))).reshape(
        domain.shape
    )
    published = PublishedTable.hiding(table, hidden)
    release = Release((published,), Mechanism("any", domain, {}), "t")
    (described,), said = data_package.read_package(json.loads(data_package.package_json(release)))
    assert (described.domain, described.hiding, said.title) == (domain, bool(hidden.any()), "t")
    written = data_package.table_csv(published)
    assert data_package.read_table(written, domain, hiding=described.hiding) == published


def test_a_hidden_grand_total_survives_the_csv() -> None:
    """A table without variables has one field to a line, and an empty line would be no line."""
    alone = Domain(())
    published = PublishedTable.hiding(Table.dense(alone, np.array(7)), np.array(True))
    written = data_package.table_csv(published)
    assert written == b'count\n""\n'
    assert data_package.read_table(written, alone, hiding=True) == published
