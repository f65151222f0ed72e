"""Damaged, forged and hostile bundles: each is refused with what is wrong and where."""

from __future__ import annotations

import gc
import hashlib
import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.verify import KIND, Verifying, verify, verify_bytes, with_verdict
from tabprotect.engine.cycles.cycle_files import state, to_json
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.release.mechanism import UNSTATED
from tabprotect.engine.tables.moves import MoveSet

Files = dict[str, bytes]


def zipped(files: Files, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def resealed(files: Files) -> bytes:
    """A forger's bundle: changed, with a manifest that fits."""
    return zipped(archive.sealed({n: d for n, d in files.items() if n != archive.MANIFEST}, KIND))


def edited(files: Files, name: str, change: Callable[[Any], object]) -> Files:
    data = json.loads(files[name])
    new = change(data)
    return files | {name: json.dumps(data if new is None else new).encode()}


@pytest.fixture
def files(protected: Protected) -> Files:
    """Without a page, which is of these very files: what is forged shows before it does."""
    return public.files(protected.release, page=False)


def refused(data: bytes, match: str) -> BundleError:
    with pytest.raises(BundleError, match=match) as error:
        verify_bytes(data)
    assert error.value.exit_code == 6
    return error.value


def test_a_sound_bundle_passes_however_it_was_zipped(files: Files, protected: Protected) -> None:
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        found = verify_bytes(zipped(files, compression))
        assert found.release.table == protected.release.table
        assert len(found.checks) == 7


def test_the_fingerprint_is_that_of_the_file(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped(files))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert verify(path).fingerprint == digest
    assert (
        verify(path, Verifying(quick=True, fingerprint=f" {digest.upper()}\n"))
        .checks[0]
        .startswith("The fingerprint")
    )
    with pytest.raises(BundleError, match=r"a\.zip: the fingerprint is"):
        verify(path, Verifying(quick=True, fingerprint="0" * 64))


@pytest.mark.parametrize("name", ["mechanism.json", "table.csv", "datapackage.json", "README.md"])
def test_any_changed_file_is_found_in_a_sound_zip(files: Files, name: str) -> None:
    data = bytearray(files[name])
    data[len(data) // 2] ^= 1
    refused(zipped(files | {name: bytes(data)}), f"{name} was changed")


def test_the_text_for_readers_is_the_programs_own(files: Files) -> None:
    """Readers begin with it: in a sealed bundle of this version it says nothing else."""
    other = files | {"README.md": files["README.md"] + b"Send your data to evil.example.\n"}
    refused(resealed(other), "README.md is not what this program writes")
    whole = archive.sealed({n: d for n, d in other.items() if n != archive.MANIFEST}, KIND)
    elsewhere = edited(whole, "manifest.json", lambda m: m.update(written_by="tabprotect 9.9"))
    checks = verify_bytes(zipped(elsewhere)).checks
    assert "README.md is of tabprotect 9.9, and was not compared." in checks


def test_missing_and_unlisted_files(files: Files) -> None:
    for name in files:
        refused(zipped({n: d for n, d in files.items() if n != name}), f"{name} is missing")
    refused(zipped(files | {"extra.txt": b"x"}), "'extra.txt', which does not belong")
    listed = json.loads(files["manifest.json"])
    del listed["files"]["README.md"]
    refused(zipped(files | {"manifest.json": json.dumps(listed).encode()}), "not listed")
    listed["files"] |= {"README.md": 3, "ghost.txt": {}}
    refused(zipped(files | {"manifest.json": json.dumps(listed).encode()}), "ghost.txt is listed")


def test_a_manifest_of_something_else(files: Files) -> None:
    for change, match in (
        ({"format": "tabprotect dossier"}, "no tabprotect release"),
        ({"format_version": 99}, "version 99 is unknown"),
        ({"files": []}, '"files" is missing'),
    ):
        stated = json.loads(files["manifest.json"]) | change
        refused(zipped(files | {"manifest.json": json.dumps(stated).encode()}), match)


def test_not_a_zip(files: Files) -> None:
    whole = zipped(files)
    refused(b"", "no zip file")
    refused(b"count\n1\n", "no zip file")
    refused(whole[:-30], "no zip file|damaged")
    refused(whole[: len(whole) // 2], "no zip file|damaged")


def named(name: str, *, mode: int = 0, flags: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("x" * len(name))
        info.external_attr = mode << 16
        archive.writestr(info, b"data")
    # zipfile mends bad names while writing: put them in afterwards.
    raw = bytearray(out.getvalue().replace(b"x" * len(name), name.encode()))
    if flags:
        raw[raw.rfind(b"PK\x01\x02") + 8] |= flags
        raw[6] |= flags
    return bytes(raw)


@pytest.mark.parametrize(
    "name", ["../table.csv", "/etc/passwd", "a/../../b", "..\\x.csv", "C:\\x.csv", "\\\\host\\x", "a\x00b"]
)
def test_names_that_lead_out(name: str) -> None:
    refused(named(name), "leads out of it")


def test_links_folders_and_encryption() -> None:
    refused(named("table.csv", mode=stat.S_IFLNK | 0o777), "is a link")
    refused(named("table.csv", mode=stat.S_IFIFO | 0o644), "not a plain file")
    refused(named("folder/", mode=stat.S_IFDIR | 0o755), "not a plain file")
    refused(named("table.csv", flags=1), "encrypted")


def test_what_no_line_of_a_bundle_shows() -> None:
    refused(named("table.csv", mode=stat.S_IFREG | 0o755), "more than a name")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("table.csv")
        info.extra = b"UT\x05\x00\x01\x00\x00\x00\x00"
        archive.writestr(info, b"data")
    refused(out.getvalue(), "more than a name")


def test_unusual_compression(files: Files) -> None:
    refused(zipped(files, zipfile.ZIP_BZIP2), "unusual way")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice(files: Files) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in [*files.items(), ("table.csv", b"other")]:
            archive.writestr(name, data)
    refused(out.getvalue(), "'table.csv' twice")


def test_bombs(files: Files) -> None:
    refused(zipped(files | {"table.csv": b"0" * 30_000_000}), "zip bomb")
    lying = bytearray(zipped(files | {"table.csv": b"0" * 3_000_000}))
    # A directory that understates the size does not get more unpacked than it says.
    entry = lying.find(b"PK\x01\x02", lying.find(b"PK\x01\x02") + 1)
    while lying[entry + 46 : entry + 55] != b"table.csv":
        entry = lying.find(b"PK\x01\x02", entry + 1)
    lying[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")
    refused(bytes(lying), "damaged|was changed|size the zip says")
    whole = bytearray(zipped(files))
    end = whole.rfind(b"PK\x05\x06")
    whole[end + 12 : end + 16] = (2**31).to_bytes(4, "little")
    refused(bytes(whole), "absurd number of files")
    zip64 = zipped(files)
    end = zip64.rfind(b"PK\x05\x06")
    refused(zip64[:end] + b"PK\x06\x07" + bytes(16) + zip64[end:], "zip64")


def test_json_that_is_meant_to_hurt(files: Files) -> None:
    for text, match in (
        (b"[" * 200_000, "nested too deeply"),
        (b'{"method": "a", "method": "b"}', "names a key twice"),
        (b'{"alpha": NaN}', "NaN is not JSON"),
        (b'{"alpha": ' + b"9" * 5000 + b"}", "mechanism.json"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{", "line 1: not valid JSON"),
        (b"[]", "missing"),
    ):
        refused(resealed(files | {"mechanism.json": text}), match)


FORGERIES: list[tuple[str, Callable[[Any], object], str]] = [
    ("mechanism.json", lambda m: m["cycles"][0]["plus"].pop(), "mechanism.json: cycle 1 changes"),
    ("mechanism.json", lambda m: m.update(alpha=0.9), "more than 1"),
    ("mechanism.json", lambda m: m.update(alpha=-0.1), "alpha: must be between"),
    ("mechanism.json", lambda m: m.update(passes=0), "passes"),
    ("mechanism.json", lambda m: m.update(passes=1.5), "whole number"),
    ("mechanism.json", lambda m: m.update(blocking="slides_legacy"), "blocking"),
    ("mechanism.json", lambda m: m.update(blocking=["any_zero"]), "blocking"),
    ("mechanism.json", lambda m: m.update(alpha="0.25"), '"alpha" must be a number'),
    ("mechanism.json", lambda m: m.update(passes=True), '"passes" must be a number'),
    ("mechanism.json", lambda m: m.update(alpha=10**400), "alpha: must be a finite number"),
    ("mechanism.json", lambda m: m.pop("alpha") and None, 'does not state "alpha"'),
    ("mechanism.json", lambda m: m.pop("cycles") and None, 'does not state "cycles"'),
    ("mechanism.json", lambda m: m.update(margins=[[["age"]]]), r"margins\[0\]\[0\]: must be text"),
    ("mechanism.json", lambda m: m.update(method="magic"), "unknown: 'magic'"),
    ("mechanism.json", lambda m: m.update(method=3), "names no"),
    ("mechanism.json", lambda m: m.update(extra=1), "extra: unknown"),
    ("mechanism.json", lambda m: m.update(shape=[7, 6]), "for the shape"),
    ("mechanism.json", lambda m: m.update(variables=["a", "b"]), "for the variables"),
    ("mechanism.json", lambda m: m.update(cycles=[]), "missing or empty"),
    ("mechanism.json", lambda m: m.update(cycles="order-1"), "missing or empty"),
    ("mechanism.json", lambda m: m["cycles"][0]["plus"].append([99, 0]), "lies outside"),
    ("mechanism.json", lambda m: m["cycles"][0]["plus"][0].append(0), "is not a cell of 2"),
    ("mechanism.json", lambda m: m["cycles"][1]["plus"][0].reverse(), "mechanism.json: cycle 2"),
    ("mechanism.json", lambda m: m["cycles"][0].update(plus=[[True, 0]]), "whole number"),
    ("mechanism.json", lambda m: m["cycles"][0].update(plus=[[2**70, 0]]), "whole number of 64 bits"),
    ("mechanism.json", lambda m: m["cycles"][0].update(plus=[[-1, 0]]), "lies outside"),
    ("mechanism.json", lambda m: m["cycles"][0].update(plus=[5]), r"cycle 1.plus\[0\]: must be a list"),
    ("mechanism.json", lambda m: m["cycles"][0].update(plus={}), "cycle 1.plus: must be a list"),
    ("mechanism.json", lambda m: m["cycles"].append(3), "must be named values"),
    ("mechanism.json", lambda m: m.pop("variables") and None, "is missing"),
    ("mechanism.json", lambda m: m.update(margins=[["age"], ["nothing"]]), "mechanism.json"),
    ("datapackage.json", lambda p: p.update(title=7), "title is not text"),
    ("datapackage.json", lambda p: p.update(resources={}), "'resources' is missing"),
    ("datapackage.json", lambda p: p["resources"].pop(0) and None, "describe table.csv once"),
    (
        "datapackage.json",
        lambda p: p["resources"][0]["schema"]["fields"][1]["constraints"]["enum"].pop() and None,
        "table.csv, line 8: variable 'age' has no category",
    ),
    (
        "datapackage.json",
        lambda p: p["resources"][0]["schema"]["fields"][1]["constraints"]["enum"].append("new"),
        "6 of 48 cells are missing, first .*new",
    ),
    (
        "datapackage.json",
        lambda p: p["resources"][0]["schema"]["fields"][1]["constraints"]["enum"].append("10-19"),
        "twice",
    ),
    ("datapackage.json", lambda p: p["resources"][0]["schema"]["fields"].reverse(), "last field must be"),
    ("datapackage.json", lambda p: p["resources"][0]["schema"].pop("primaryKey") and None, "key"),
]


@pytest.mark.parametrize(("name", "change", "match"), FORGERIES)
def test_forgeries_with_a_manifest_that_fits(
    files: Files, protected: Protected, name: str, change: Callable[[Any], object], match: str
) -> None:
    def in_place(data: Any) -> None:
        if name == "mechanism.json":
            # Cell by cell, as cycle files have them.
            data["cycles"] = to_json(_cycles(protected))["cycles"]
        change(data)

    refused(resealed(edited(files, name, in_place)), match)


def test_what_another_version_states_need_not_be_damage(files: Files) -> None:
    bundle = resealed(edited(files, "mechanism.json", lambda m: m.pop("alpha") and None))
    assert "need be no damage" not in refused(bundle, "does not state").hint
    held = archive.unpack(bundle, allowed=lambda name: True)
    manifest = held[archive.MANIFEST].replace(archive.written_by().encode(), b"tabprotect 0.0.7")
    found = refused(archive.pack(held | {archive.MANIFEST: manifest}), "does not state")
    assert "tabprotect 0.0.7" in found.hint and "need be no damage" in found.hint


def _cycles(protected: Protected) -> MoveSet:
    moves = protected.release.mechanism.parameters["cycles"]
    assert isinstance(moves, MoveSet)
    return moves


BY_DESIGN: list[tuple[Callable[[Any], object], str]] = [
    (lambda c: c.update(sha256="0" * 64), "SHA-256 differs"),
    (lambda c: c.update(sha256=None), "SHA-256 differs"),
    (lambda c: c.update(design="bands", parameters={}), "SHA-256 differs"),
    (lambda c: c.update(design="magic"), "unknown: 'magic'"),
    (lambda c: c.update(design=["strips"]), 'has "design"'),
    (lambda c: c.update(extra=1), 'has "design"'),
    (lambda c: c.pop("parameters") and None, 'has "design"'),
    (lambda c: c.update(parameters=[]), "no JSON object"),
    (lambda c: c.update(parameters={"closed": 1}), "nothing that 'strips' takes"),
    (lambda c: c.update(parameters={"wide": True}), "nothing that 'strips' takes"),
    (lambda c: c.update(parameters={"closed": False}), "SHA-256 differs"),
    (lambda c: c.update(design="order", parameters={}), "order: must be given"),
    (lambda c: c.update(design="order", parameters={"order": -1}), "mechanism.json"),
]


@pytest.mark.parametrize(("change", "match"), BY_DESIGN)
def test_a_design_must_give_the_cycles_of_its_hash(
    files: Files, change: Callable[[Any], object], match: str
) -> None:
    def in_place(data: Any) -> None:
        change(data["cycles"])

    refused(resealed(edited(files, "mechanism.json", in_place)), match)


AS_ARRAYS: list[tuple[Callable[[Any], object], str]] = [
    (lambda c: c["cells"].pop(), '"starts" of the cycles do not fit'),
    (lambda c: c["signs"].pop(), "not as many"),
    (lambda c: c["starts"].insert(1, 0), "a cycle is empty"),
    (lambda c: c["starts"].clear(), "do not fit"),
    (lambda c: c["starts"].__setitem__(1, 10**6), "a cycle is empty"),
    (lambda c: c["cells"].__setitem__(0, 42), "outside the table"),
    (lambda c: c["cells"].__setitem__(0, -1), "outside the table"),
    (lambda c: c["cells"].__setitem__(1, c["cells"][0]), "twice"),
    (lambda c: c["cells"].__setitem__(0, True), "list of whole numbers"),
    (lambda c: c["cells"].__setitem__(0, 2**70), "absurdly large"),
    (lambda c: c["signs"].__setitem__(0, 257), "neither 1 nor -1"),
    (lambda c: c["signs"].__setitem__(0, -c["signs"][0]), "cycle 1 changes"),
    (lambda c: c.update(cells={}), "list of whole numbers"),
    (lambda c: c.update(more=[]), "cycles are a design, or the arrays"),
]


def _as_arrays(files: Files, protected: Protected) -> Files:
    listed = state(replace(_cycles(protected), design=None))
    return edited(files, "mechanism.json", lambda m: m.update(listed))


@pytest.fixture
def _any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the README say how cycles were stated first."""
    monkeypatch.setattr("tabprotect.engine.bundle.verify._checked_text", lambda *_: "")


@pytest.mark.usefixtures("_any_text")
@pytest.mark.parametrize(("change", "match"), AS_ARRAYS)
def test_listed_cycles_are_arrays_that_fit(
    files: Files, protected: Protected, change: Callable[[Any], object], match: str
) -> None:
    listed = _as_arrays(files, protected)
    assert verify_bytes(resealed(listed)).release.table == protected.release.table

    def in_place(data: Any) -> None:
        change(data["cycles"])

    refused(resealed(edited(listed, "mechanism.json", in_place)), match)


def test_a_bundle_that_states_no_gate_verifies_with_a_word_on_it(files: Files) -> None:
    found = with_verdict(verify_bytes(zipped(files)))
    assert found.release.mechanism.gate is None
    assert found.verdict is not None and found.verdict.note.endswith(UNSTATED)


def test_a_bundle_that_states_no_gate_or_another_one(files: Files) -> None:
    assert b'"gate"' not in files["mechanism.json"]
    found = with_verdict(verify_bytes(resealed(files)))
    assert found.release.mechanism.gate is None and found.left_out == ("attempts",)
    assert found.verdict is not None and found.verdict.note.endswith(UNSTATED)

    def of_magnitudes(mechanism: Any) -> None:
        mechanism["gate"] = {
            "within": 10, "belief_limit": 0.95, "passed": True, "left_out": [], "reason": False,
        }  # fmt: skip

    with pytest.raises(BundleError, match="gate"):
        verify_bytes(resealed(edited(files, "mechanism.json", of_magnitudes)))


@pytest.mark.usefixtures("_any_text")
def test_every_way_to_state_cycles_is_the_same_mechanism(files: Files, protected: Protected) -> None:
    def spelled(mechanism: Any) -> None:
        mechanism["cycles"] = to_json(_cycles(protected))["cycles"]

    for stated in (files, _as_arrays(files, protected), edited(files, "mechanism.json", spelled)):
        release = verify_bytes(resealed(stated)).release
        assert release.mechanism.parameters == protected.release.mechanism.parameters


def test_the_collector_rests_while_a_mechanism_is_read(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    parse = archive.parse_json

    def watched(name: str, data: bytes) -> object:
        seen.append((name, gc.isenabled()))
        return parse(name, data)

    monkeypatch.setattr(archive, "parse_json", watched)
    ran = gc.isenabled()
    # A window of an earlier test collects by itself, and has it rest.
    gc.enable()
    try:
        verify_bytes(zipped(files))
        assert ("mechanism.json", False) in seen and gc.isenabled()
        refused(resealed(files | {"mechanism.json": b"{"}), "not valid JSON")
        assert gc.isenabled()
    finally:
        if not ran:
            gc.disable()


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        (b",10-19,2\n", b",10-19,2.0\n", "no whole number"),
        (b",10-19,2\n", b",10-19,two\n", "no whole number"),
        (b",10-19,2\n", b",10-19, 2\n", "no whole number"),
        (b",10-19,2\n", b",10-19,9999999999999999999\n", "no whole number"),
        (b",10-19,2\n", b",10-19,\n", "no whole number"),
        (b",10-19,2\n", b",10-19,-2\n", "no negative count: a negative count at"),
        (b",10-19,2\n", b",20-29,2\n", "line 3: the cell occurs twice"),
        (b"north,10-19,2\n", b"", "1 of 42 cells is missing"),
        (b",10-19,2\n", b",10-19,2,2\n", "4 fields, not 3"),
        (b",age,", b",year,", "columns are not those"),
        (b",10-19,2\n", b',10-19,"2\n', "table.csv"),
    ],
)
def test_tables_that_contradict_their_description(files: Files, old: bytes, new: bytes, match: str) -> None:
    lines = files["table.csv"].split(b"\n", 2)
    # The first cell's line gets a known count, so that every case starts from the same text.
    known = b"\n".join([lines[0], b"north,10-19,2", lines[2]])
    assert old in known
    refused(resealed(files | {"table.csv": known.replace(old, new, 1)}), match)


def test_the_order_of_the_lines_and_their_quotes_do_not_matter(files: Files, protected: Protected) -> None:
    whole = files["table.csv"]
    # The fifth label holds a line break: leave its lines together.
    lines = whole.split(b"\n")
    turned = b"\n".join([lines[0], *lines[8:15], *lines[1:8], *lines[15:]])
    assert turned != whole
    found = verify_bytes(resealed(files | {"table.csv": turned}))
    assert found.release.table == protected.release.table
    quoted = whole.replace(b"north,", b'"north",')
    assert verify_bytes(resealed(files | {"table.csv": quoted})).release == found.release


def test_no_such_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        verify(tmp_path / "none.zip")
    with pytest.raises(InputError, match="folder"):
        verify(tmp_path)


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_random_damage_never_gets_through(protected: Protected, data: st.DataObject) -> None:
    """Any flipped byte is either found, or changed nothing that a reader sees."""
    whole = bytearray(public.to_bytes(protected.release))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    try:
        found = verify_bytes(bytes(whole))
    except BundleError:
        return
    assert found.release.table == protected.release.table
    assert found.release.mechanism.as_json() == protected.release.mechanism.as_json()
    assert found.release.title == protected.release.title


def test_bytes_around_the_zip_and_comments_are_refused(files: Files) -> None:
    data = zipped(files, zipfile.ZIP_DEFLATED)
    refused(data + b"SECRET", "after the end")
    refused(b"SECRET" + data, "before the beginning|damaged")
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a") as opened:
        opened.comment = b"SECRET"
    refused(out.getvalue(), "after the end")


def test_everything_together_may_not_be_absurd(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    data = zipped(files, zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(archive, "MAX_UNPACKED", sum(map(len, files.values())))
    verify_bytes(data)
    monkeypatch.setattr(archive, "MAX_UNPACKED", sum(map(len, files.values())) - 1)
    refused(data, "zip bomb")


def test_json_of_very_many_lists_is_not_even_parsed(files: Files) -> None:
    absurd = b"[" + b"[]," * 9_000_000 + b"[]]"
    refused(resealed(files | {"mechanism.json": absurd}), "absurd number of lists|zip bomb")


def test_a_pipe_is_no_bundle(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no regular file"):
        verify(tmp_path / "pipe")
