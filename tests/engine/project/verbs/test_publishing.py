"""Publishing is all or nothing, and never costs a published release its dossier."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.agency import REGISTER, register_address
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.set_bundles import ReleaseFiles
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, InputError, RefusedError
from tabprotect.engine.project.history import History
from tabprotect.engine.project.releasing.judgement import judge_release
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.cycle_verbs import set_cycles
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect, set_policy
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.engine.register.left_before import LeftBefore, left_before
from tabprotect.engine.register.people.reading_together import ReadingTogether, look_up
from tabprotect.engine.register.register import Register, RegisterContents
from tabprotect.engine.register.register_entry import OriginalMarks
from tabprotect.engine.release.release import Release

SEED = 2**127 + 5


def protected(seed: int) -> History:
    history = History()
    for order in (open_table(source="example:duncan-roehrig-4x4"), protect(seed=seed)):
        history, _ = history.do(order)
    return history


def published(history: History, release: Path, dossier: Path) -> History:
    order = publish(release=str(release), dossier=str(dossier), overwrite=True)
    return history.do(order)[0]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_failed_publish_changes_nothing(tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d-CONFIDENTIAL.zip"
    published(protected(SEED), release, dossier)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for where in (tmp_path / "none" / "r.zip", tmp_path):
        with pytest.raises(InputError, match="cannot be written"):
            published(protected(SEED + 1), where, dossier)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(InputError, match="cannot be written"):
        published(protected(SEED + 1), release, tmp_path / "none" / "d.zip")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_dossier_of_another_release_is_kept_under_a_free_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    policy = tmp_path / "policy" / "policy.toml"
    policy.parent.mkdir()
    policy.write_text('together = "warn"\n')
    monkeypatch.setenv("TABPROTECT_POLICY", str(policy))
    first = published(protected(SEED), release, dossier)
    assert first.project.notes == ()
    old = dossier.read_bytes()
    second = published(protected(SEED + 1), release, dossier)
    assert "it is now d-1.zip" in second.project.notes[-1]
    assert (tmp_path / "d-1.zip").read_bytes() == old
    assert confidential.read(tmp_path / "d-1.zip").record.seed == SEED
    third = published(protected(SEED + 2), release, dossier)
    assert "d-2.zip" in third.project.notes[-1]
    # The same release again loses nothing.
    assert published(protected(SEED + 2), release, dossier).project.notes == ()
    assert sorted(p.name for p in tmp_path.glob("*.zip")) == ["d-1.zip", "d-2.zip", "d.zip", "r.zip"]
    assert confidential.read(dossier).release == verify(release).release


def test_what_is_confidential_is_for_its_owner_alone(tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    dossier.write_bytes(b"no dossier")
    dossier.chmod(0o644)
    history = published(protected(SEED), release, dossier)
    assert mode(dossier) == 0o600
    assert mode(release) & 0o044
    storage.save(history, tmp_path / "p.tabprotect")
    assert mode(tmp_path / "p.tabprotect") == 0o600


def test_two_people_answer_where_the_policy_says_so(tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    history, _ = protected(SEED).do(set_policy(two_signatures=True))
    history, _ = history.do(protect(seed=SEED))
    for names in ((), ("Karin",), ("Karin", " karin ")):
        given = dict(zip(("prepared_by", "approved_by"), names, strict=False))
        with pytest.raises(RefusedError, match="two people"):
            history.do(publish(release=str(release), dossier=str(dossier), **given))
        assert list(tmp_path.iterdir()) == []
    order = publish(release=str(release), dossier=str(dossier), prepared_by="Karin", approved_by="Erik")
    history, _ = history.do(order)
    record = confidential.read(dossier).record
    assert (record.prepared_by, record.approved_by) == ("Karin", "Erik")
    assert b"Karin" not in b"".join(public.files(public.read(release)).values())
    with Register(str(register_address())) as register:
        assert register.entries()[0].publication.who == "Karin, approved by Erik"


def test_what_was_refused_cannot_be_published_without_a_reason(tmp_path: Path) -> None:
    history = History()
    for order in (
        open_table(source="example:czech-autoworkers"),
        set_cycles(kind="elementary"),
        protect(draft=True, seed=SEED),
    ):
        history, _ = history.do(order)
    assert "a reader would know 3 of" in history.project.against
    with pytest.raises(RefusedError):
        history.do(publish(release=str(tmp_path / "r.zip")))
    # Not by another program that opens the saved project either.
    storage.save(history, tmp_path / "work.tabprotect")
    again = storage.load(tmp_path / "work.tabprotect")
    with pytest.raises(RefusedError):
        again.do(publish(release=str(tmp_path / "r.zip")))
    done, _ = again.do(publish(release=str(tmp_path / "r.zip"), accept="known to all"))
    assert done.project.against == "" and done.project.published


def test_a_release_is_judged_together_with_what_left_before(tmp_path: Path) -> None:
    first = protected(SEED)
    assert replace(judge_release(first.project).before, alone=None) == LeftBefore()
    first, _ = first.do(publish(release=str(tmp_path / "a.zip")))
    # The very bytes that left are no other release, and it is said that they left.
    found = replace(judge_release(first.project).before, alone=None)
    assert found == LeftBefore(again=(1,)) and found.group.findings[0].text.startswith("Yes")
    second, _ = first.do(protect(seed=SEED + 2))
    found, alone = judge_release(second.project).before, judge_release(second.project).alone
    assert [e.relation for e in found.close] == ["original"] and found.unread == 0
    assert found.together is not None and alone.at_risk != found.together.at_risk
    before = public.read(tmp_path / "a.zip")
    assert second.project.release is not None and second.project.protected is not None
    joint = verdict(second.project.release, earlier=[before], original=second.project.original)
    assert found.together.tables == joint.tables
    # It stands for who asks at once for the same, and for nobody who asks for something else.
    problem = second.project.protected.record.problem
    asked = partial(left_before, problem, looked_up=look_up(problem))
    found = asked(release=second.project.release, policy=second.project.limits)
    copied = replace(second.project.release)
    assert asked(release=copied, policy=second.project.limits).together is found.together
    assert asked(release=copied).together is not found.together
    assert asked(release=second.project.release).together is not found.together
    assert asked(policy=second.project.limits).together is not found.together
    place = str(register_address())
    with closing(sqlite3.connect(place)) as raw, raw:
        raw.execute("update published_bundle set content = x'00'")
    spoilt = judge_release(second.project).before
    assert spoilt.unread == 1 and spoilt.together is None and spoilt.error is None
    (tmp_path / "broken").write_text("no database at all")
    broken = judge_release(second.project, str(tmp_path / "broken"))
    assert broken.before.error and broken.alone is alone


def test_what_cannot_be_read_of_earlier_releases_is_never_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = protected(SEED).do(publish(release=str(tmp_path / "a.zip")))
    second, _ = first.do(protect(seed=SEED + 2))

    def unreadable(*_: object) -> None:
        raise InfeasibleError("these cannot be read together")

    with monkeypatch.context() as broken:
        broken.setattr(ReadingTogether, "opened", unreadable)
        assert judge_release(second.project).before.error
        with pytest.raises(RefusedError, match="It is not known what left before: these cannot"):
            second.do(publish(release=str(tmp_path / "b.zip")))
        assert not (tmp_path / "b.zip").exists()
        done, _ = second.do(publish(release=str(tmp_path / "b.zip"), again="a correction"))
        gate = done.project.release.mechanism.gate if done.project.release else None
    assert gate is not None and "other_releases" in gate.left_out
    assert "other_releases" in str(public.read(tmp_path / "b.zip").mechanism.gate)
    # Where nothing can be entered, a reason does not help.
    (tmp_path / "broken").write_text("no database at all")
    monkeypatch.setenv(REGISTER, str(tmp_path / "broken"))
    with pytest.raises(InputError, match="no SQLite database"):
        second.do(publish(release=str(tmp_path / "c.zip"), again="a correction"))
    assert not (tmp_path / "c.zip").exists()


@pytest.mark.parametrize("one", [True, False])
def test_a_walk_asks_the_register_once_and_makes_the_bundle_once(
    one: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    made: list[Path] = []
    opened: list[object] = []
    bundles_made: list[Release] = []
    bearing_on, files = Register.bearing_on, ReleaseFiles.files
    begun, to_bytes = Register.__init__, public.to_bytes

    def looked_at(register: Register, marks: OriginalMarks, named: Collection[int] = ()) -> RegisterContents:
        asked.append(marks)
        return bearing_on(register, marks, named)

    def written(leaving: ReleaseFiles, place: Path, **given: Any) -> dict[Path, bytes]:
        made.append(place)
        return files(leaving, place, **given)

    def entered(register: Register, *place: Any, **given: Any) -> None:
        opened.append(register)
        begun(register, *place, **given)

    def packed(release: Release, **given: Any) -> bytes:
        bundles_made.append(release)
        return to_bytes(release, **given)

    monkeypatch.setattr(Register, "__init__", entered)
    monkeypatch.setattr(public, "to_bytes", packed)
    monkeypatch.setattr(Register, "bearing_on", looked_at)
    monkeypatch.setattr(ReleaseFiles, "files", written)
    words = ["example:duncan-roehrig-4x4", "--method", "random_rounding", "--accept", "a try"]
    words = ["protect", *words] if one else ["protect-set", *words, "--table", "all=v*w"]
    for number, base in enumerate(("3", "5", "7")):
        for noted in (asked, made, opened, bundles_made):
            noted.clear()
        out = tmp_path / f"{number}.zip"
        assert main([*words, "--set", f"base={base}", "--again", "a try", "--out", str(out)]) == 0
        # There is none at first: what it holds is seen when it is entered.
        # A set states that it was not compared with an earlier one: other bytes than those at first.
        times = 1 + (number > 0 and not one)
        assert len(asked) == 1 and made == [out] * times and len(bundles_made) == times
        # To look up what was refused and what left before, and to enter it.
        assert len(opened) == 1 + (number > 0)


def test_what_was_entered_since_it_was_looked_up_is_judged(tmp_path: Path) -> None:
    history = protected(SEED)
    assert history.project.protected is not None
    looked_up = look_up(history.project.protected.record.problem)
    protected(SEED + 20).do(publish(release=str(tmp_path / "other.zip")))
    with pytest.raises(RefusedError, match=r"Together with no\. 1"):
        history.do(publish(release=str(tmp_path / "r.zip"), again="every year"), looked_up=looked_up)
    assert [path.name for path in tmp_path.iterdir()] == ["other.zip"]
