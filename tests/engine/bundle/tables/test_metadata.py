"""What leaves with a table beside its numbers, in every format, from the house and for the table."""

from __future__ import annotations

import html
import json
import zipfile
from io import BytesIO
from pathlib import Path

import pandas
import pyarrow.parquet
import pytest
import sdmx

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.bundle.tables.about import Telling, about_release
from tabprotect.engine.bundle.tables.export import Exporting, exported
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.disclosure import policy
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_of, named
from tests.engine.bundle.tables.test_intervals import released

HOUSE = {
    "licence": "CC-BY-4.0",
    "publisher": "Office & Co",
    "contact": "desk@office.example",
    "language": "en",
}
TABLE = {"period": "2025", "concept": "Usual residents", "contact": "the census desk"}
TOLD = HOUSE | TABLE


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy.write(AgencyPolicy(metadata=HOUSE), tmp_path / "policy.toml")
    monkeypatch.setenv(policy.VARIABLE, str(tmp_path / "policy.toml"))


@pytest.mark.usefixtures("house")
def test_every_format_has_what_the_house_and_the_table_say(tmp_path: Path) -> None:
    release = released("cyclic_perturbation")
    asked = Exporting(**TABLE, date="2026-03-01", source="Register", unit="persons", add="nothing")
    for name in ("px", "jsonstat", "sdmx-ml", "sdmx-json", "csv", "parquet", "xlsx"):
        kind = named(name)
        path = tmp_path / f"t{kind.suffixes[0]}"
        made = exported(release, path, kind, asked)
        path.write_bytes(made.content)
        for beside, content in made.beside.items():
            (tmp_path / beside).write_bytes(content)
        if name in ("px", "jsonstat", "sdmx-ml", "sdmx-json", "csv"):
            # Who takes it up again takes these texts with it.
            read = format_of(path).about(path, Reading()).metadata
            assert TOLD.items() <= {**TOLD, **read}.items() and read["contact"] == TABLE["contact"], name
            if name != "px":
                assert read.items() >= TOLD.items() and "at most" in read["confidentiality"], name
        # The same bytes at any time: no clock has a part in them.
        assert exported(release, path, kind, asked).content == made.content
    px = (tmp_path / "t.px").read_text()
    said = {name for name in ("CONTACT", "REFPERIOD", "NOTE") if f"\n{name}=" in px}
    assert said == {"CONTACT", "REFPERIOD", "NOTE"} and "CC-BY-4.0" in px
    assert 'LAST-UPDATED="20260301 00:00";' in px
    message = sdmx.read_sdmx(BytesIO((tmp_path / "t.sdmx.xml").read_bytes()))
    assert str(message.header.sender.name) == "Office & Co" and message.header.prepared.year == 2026
    assert pyarrow.parquet.read_metadata(tmp_path / "t.parquet").metadata[b"licence"] == b"CC-BY-4.0"
    notes = pandas.read_excel(tmp_path / "t.xlsx", sheet_name="Notes", header=None, engine="calamine")
    assert set(TOLD.values()) <= set(notes[1])


OF_TABLE = {"period": "2025", "concept": "Usual residents", "unit": "persons", "source": "Register"}


@pytest.mark.usefixtures("house")
def test_a_bundle_says_it_once_for_every_file_that_is_made_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tp.read_table("example:duncan-roehrig-4x4")
    done = tp.protect(table, about=OF_TABLE, seed=3, accept="a test")
    done.publish(tmp_path / "r.zip", accept="a test", dossier=tmp_path / "d.zip")
    # Who reads it elsewhere knows nothing of the house.
    monkeypatch.delenv(policy.VARIABLE)
    everything = HOUSE | OF_TABLE
    release = verify(tmp_path / "r.zip").release
    assert release.metadata == everything
    # The dossier leads from its original to these bytes again.
    assert main(["verify", str(tmp_path / "d.zip"), "--quick"]) == 0
    with zipfile.ZipFile(tmp_path / "r.zip") as bundle:
        package, page, readme = (
            bundle.read(name).decode() for name in ("datapackage.json", "page.html", "README.md")
        )
    said = json.loads(package)
    assert said["metadata"] == everything and said["licenses"] == [
        {"name": "CC-BY-4.0", "title": "CC-BY-4.0"}
    ]
    assert said["sources"] == [{"title": "Register"}] and "at most 2" in said["confidentiality"]
    for text in everything.values():
        assert text in readme and (text in page or text.replace("&", r"\u0026") in page), text
    for kind in map(named, ("px", "jsonstat", "sdmx-ml", "sdmx-json", "csv", "parquet", "xlsx")):
        made = exported(release, tmp_path / f"t{kind.suffixes[0]}", kind, Exporting(add="nothing"))
        held = made.content + b"".join(made.beside.values())
        if kind.book:
            with zipfile.ZipFile(BytesIO(held)) as book:
                held = b"".join(book.read(name) for name in book.namelist())
        for text in everything.values():
            written = {text, html.escape(text), json.dumps(text)[1:-1]}
            assert any(one.encode() in held for one in written), (kind.name, text)


def test_what_is_said_of_a_table_has_known_names() -> None:
    table = tp.read_table("example:duncan-roehrig-4x4")
    for about in ({"colour": "red"}, {"licence": " "}):
        with pytest.raises(ParameterError, match=next(iter(about))):
            tp.protect(table, about=about, seed=3, accept="a test")


@pytest.mark.usefixtures("house")
def test_frictionless_says_it_in_its_own_words() -> None:
    made = exported(released("cyclic_perturbation"), Path("t.csv"), named("csv"), Exporting(add="intervals"))
    said = json.loads(made.beside["t.datapackage.json"])
    assert said["licenses"] == [{"name": "CC-BY-4.0", "title": "CC-BY-4.0"}]
    other = Exporting(add="intervals", licence="https://example.org/licence 1")
    made = exported(released("cyclic_perturbation"), Path("t.csv"), named("csv"), other)
    (licence,) = json.loads(made.beside["t.datapackage.json"])["licenses"]
    assert licence["path"] == licence["title"] == "https://example.org/licence 1"
    assert {"title": "Office & Co", "roles": ["publisher"]} in said["contributors"]


def test_nothing_is_said_that_was_not_given() -> None:
    release = released("cyclic_perturbation")
    about = about_release(release)
    assert about.metadata == {} and not [name for name, _ in about.facts if "SIMS" in name]
    content = exported(release, Path("t.px"), named("px")).content.decode()
    assert not [one for one in ("CONTACT", "REFPERIOD", "LAST-UPDATED", "SOURCE") if f"\n{one}=" in content]
    assert about_release(release, telling=Telling(licence="CC0")).metadata["licence"] == "CC0"
    with pytest.raises(ParameterError, match="must be one of"):
        AgencyPolicy(metadata={"colour": "red"})
    with zipfile.ZipFile(BytesIO(exported(release, Path("t.xlsx"), named("xlsx")).content)) as book:
        assert not [name for name in book.namelist() if b"SIMS" in book.read(name)]


def test_sentences_on_the_mechanism_are_of_this_release_alone(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.json"
    asked = Exporting(licence="CC0", add="nothing")
    earlier.write_bytes(exported(released("cyclic_perturbation"), earlier, named("jsonstat"), asked).content)
    taken = Telling(texts_of=str(earlier))
    about = about_release(released("random_rounding", base=5), telling=taken)
    assert about.metadata["licence"] == "CC0"
    assert about.metadata["confidentiality"].startswith(str(about.changed))
    assert (
        about.metadata["confidentiality"]
        != format_of(earlier).about(earlier, Reading()).metadata["confidentiality"]
    )


def test_px_has_the_sentence_that_a_house_writes_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy.write(AgencyPolicy(metadata={"confidentiality": "Ask us."}), tmp_path / "policy.toml")
    monkeypatch.setenv(policy.VARIABLE, str(tmp_path / "policy.toml"))
    content = exported(released("cyclic_perturbation"), Path("t.px"), named("px")).content.decode()
    assert "Ask us." in content
