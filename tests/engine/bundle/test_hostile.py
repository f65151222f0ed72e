"""Bundles made to hurt their reader: each is refused, and none makes the program read a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.archive import pack, sealed
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import FITS, POSSIBLE, verify_bytes
from tabprotect.engine.errors import BundleError
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.engine.bundle.test_verify import Files, edited, refused, resealed

COUNTS = np.array([[9, 1, 12, 3], [2, 15, 1, 8], [7, 2, 20, 11]])
DOMAIN = Domain.of({"place": ["A", "B", "C"], "year": ["1", "2", "3", "4"]})
PTABLE = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n2;2;1;0;1\n"
SEED = 2**127 + 11


def run(method: str, **given: object) -> Protected:
    problem = Problem(Table.dense(DOMAIN, COUNTS))
    return methods()[method].run(problem, given, Randomness.seeded(SEED))


def bundle(method: str, **given: object) -> Files:
    return public.files(run(method, **given).release, page=False)


def mechanism(files: Files, **stated: object) -> bytes:
    def change(data: Any) -> None:
        data.update(stated)

    return resealed(edited(files, "mechanism.json", change))


def refused_unread(data: bytes, match: str) -> BundleError:
    """As ``refused``; any look at a file of this machine fails the test."""

    def touched(*given: object, **named: object) -> None:
        raise AssertionError(f"a file was looked at: {given}")

    with pytest.MonkeyPatch.context() as patched:
        for name in ("open", "read_text", "read_bytes", "stat", "exists", "is_file"):
            patched.setattr(Path, name, touched)
        patched.setattr(os, "stat", touched)
        patched.setattr("builtins.open", touched)
        try:
            verify_bytes(data)
        except BundleError as error:
            found = error
        else:
            raise AssertionError("it passed")
    assert match in found.message
    assert found.exit_code == 6
    return found


NAMES = ["/etc/passwd", "secret_keys.csv", "/dev/zero", r"\\host\share\x.csv", "~/.ssh/id_rsa"]


@pytest.mark.parametrize("name", NAMES)
def test_a_perturbation_table_may_not_be_a_name(name: str) -> None:
    error = refused_unread(mechanism(bundle("cell_key"), table=name), '"table" does not stand in it')
    assert name not in str(error) + error.hint + error.detail


@pytest.mark.parametrize("name", ["/etc/x.csv", r"\\host\x.hrc", "a.gz; b.txt", "x.tsv"])
@pytest.mark.parametrize("method", ["random_rounding", "suppression", "cell_key"])
def test_groupings_may_not_be_a_name(name: str, method: str) -> None:
    refused_unread(mechanism(bundle(method), groupings=name), '"groupings" does not stand in it')


def test_confidential_parameters_may_not_be_a_name_either() -> None:
    refused_unread(mechanism(bundle("suppression"), statuses="/etc/passwd"), "does not stand in it")


def test_a_good_table_on_this_machine_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(PTABLE)
    (tmp_path / "g.csv").write_text("place,half\nA,one\nB,one\nC,two\n")
    files = bundle("cell_key", table=str(tmp_path / "p.csv"))
    assert verify_bytes(resealed(files)).release.mechanism.method == "cell_key"
    refused(mechanism(files, table=str(tmp_path / "p.csv")), "does not stand in it")
    given = {"groupings": str(tmp_path / "g.csv"), "margins": "half*year"}
    files = bundle("random_rounding", **given)
    assert "half:place=" in json.loads(files["mechanism.json"])["groupings"]
    refused(mechanism(files, **given), "does not stand in it")


def test_a_dossier_may_not_name_a_file(tmp_path: Path) -> None:
    files = confidential.files(run("suppression"))
    record = json.loads(files["CONFIDENTIAL/record.json"])
    for name, value, match in (
        ("statuses", "/etc/passwd", "does not stand in it"),
        ("seed", "-5", "not as it was written"),
    ):
        stated = json.loads(json.dumps(record))
        (stated["parameters"] if name == "statuses" else stated)[name] = value
        forged = files | {"CONFIDENTIAL/record.json": json.dumps(stated).encode()}
        del forged["manifest.json"]
        path = tmp_path / "d.zip"
        path.write_bytes(pack(sealed(forged, confidential.KIND)))
        with pytest.raises(BundleError, match=match):
            confidential.read(path)


PROMISES: list[tuple[str, dict[str, object], int]] = [
    ("suppression", {}, 50),
    ("controlled_rounding", {"choice": "nearest"}, 3),
    ("controlled_rounding", {"choice": "nearest"}, 1),
    ("controlled_rounding", {}, 3),
    ("controlled_rounding", {}, 1),
    ("small_count_rounding", {"choice": "nearest"}, 6),
    ("small_count_rounding", {}, 6),
    ("controlled_tabular_adjustment", {}, 5),
    ("controlled_tabular_adjustment", {"choice": "nearest"}, 5),
    ("suppression", {"choice": "cheapest"}, 50),
    ("random_rounding", {}, 30),
    ("publish_margins", {"margins": "place + year"}, 1),
]


@pytest.mark.parametrize(("method", "given", "amount"), PROMISES)
def test_a_changed_count_is_called_impossible(method: str, given: dict[str, object], amount: int) -> None:
    files = bundle(method, **given)
    assert verify_bytes(resealed(files)).checks[-1] in (POSSIBLE, FITS)
    head, *lines = files["table.csv"].decode().splitlines()
    # The first published count of a visible cell, made larger.
    at = next(k for k, line in enumerate(lines) if line.rsplit(",", 1)[1].isdecimal())
    label, count = lines[at].rsplit(",", 1)
    lines[at] = f"{label},{int(count) + amount}"
    changed = files | {"table.csv": ("\n".join([head, *lines]) + "\n").encode()}
    refused(resealed(changed), "impossible|are not what|no multiple|in this way")


SHAPES: list[tuple[str, Callable[[Any], None], str]] = [
    ("controlled_tabular_adjustment", lambda m: m.update(largest_change=2**70), "beyond all numbers"),
    ("controlled_tabular_adjustment", lambda m: m.update(largest_change=[1]), "largest change"),
    ("random_rounding", lambda m: m.update(groupings="x:place=A>b\nC"), "groupings"),
    ("random_rounding", lambda m: m.update(groupings="x:place=A\r>b"), "groupings"),
    ("random_rounding", lambda m: m.update(groupings={"a": 1}), "groupings"),
    ("cell_key", lambda m: m.update(table={"i": [0], "v": [2**80], "end": [1]}), "table"),
    ("cell_key", lambda m: m.update(table='{"i":' + "[" * 9000), "table"),
    ("publish_margins", lambda m: m.update(then="cell_key table=/etc/passwd"), "cannot be set"),
    ("post_randomisation", lambda m: m.update(matrices="place=" + "[" * 9000), "mechanism.json"),
    ("post_randomisation", lambda m: m.update(transition="/etc/passwd"), "mechanism.json"),
]


@pytest.mark.parametrize(("method", "change", "match"), SHAPES)
def test_forged_parameters(method: str, change: Callable[[Any], None], match: str) -> None:
    needed: dict[str, dict[str, object]] = {
        "publish_margins": {"margins": "place + year"},
        "controlled_tabular_adjustment": {"choice": "nearest"},
    }
    given = needed.get(method, {})
    files = edited(bundle(method, **given), "mechanism.json", change)
    refused(resealed(files), match)


def test_half_a_character_in_a_label() -> None:
    files = bundle("random_rounding")
    data = files["datapackage.json"].replace(b'"A"', b'"\\ud800"')
    assert data != files["datapackage.json"]
    refused(resealed(files | {"datapackage.json": data}), "half a character")
    whole = files["datapackage.json"].replace(b'"A"', b'"\\ud83d\\ude00"')
    refused(resealed(files | {"datapackage.json": whole}), "table.csv")
