"""The register: what it keeps, what it finds again, and faults."""

from __future__ import annotations

import hashlib
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine import agency
from tabprotect.engine.database import Database
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InputError, RefusedError
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.table_server.ledger import Ledger
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.earlier_refusals import EarlierRefusals, remember_beside
from tabprotect.engine.register.left_before import LeftBefore, left_before, spent_on_refusals
from tabprotect.engine.register.people.reading_together import _closest, _holds, look_up, marks
from tabprotect.engine.register.register import SCHEMA, Register
from tabprotect.engine.register.register_entry import (
    Earlier,
    LeavingPublication,
    OriginalMarks,
    RegisterEntry,
    admit,
    marks_of,
    related,
    warnings_of,
)
from tabprotect.engine.register.spending import admit_spending, spending_warning, spent_before
from tabprotect.engine.release.privacy import Privacy, Spent
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

NOBODY = People()
"""No answer about who is counted."""


def fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def publication(original: str = "a", bundle: str = "1", **given: object) -> LeavingPublication:
    marks = OriginalMarks(original * 64, ("v" * 64, "w" * 64), (original * 63 + "r",))
    said: dict[str, object] = {"who": "ann", "title": "t", "method": "cell_key"} | given
    return LeavingPublication(
        marks,
        bundle * 64,
        gate={"passed": True},
        decisions=("because",),
        **said,  # type: ignore[arg-type]
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "register.sqlite"
    with Register(f"sqlite:///{found}", new=True):
        return found


def test_what_goes_in_comes_out(path: Path) -> None:
    one = replace(publication(), bundle=fingerprint(b"one"))
    two = publication("b", "2", title="")
    with Register(f"sqlite:///{path}") as register:
        assert register.entries() == []
        assert register.add(one, b"one") == 1
        assert register.add(two, b"two") == 2
    with Register(str(path)) as register:
        assert [e.publication for e in register.entries()] == [one, two]
        assert register.find("2") == register.find("2" * 10) == register.entries()[1]
        assert register.content(register.find("1")) == b"one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_same_bytes_are_no_new_release(path: Path) -> None:
    one = replace(publication(), bundle=fingerprint(b"one"))
    with Register(str(path)) as register:
        register.add(one, b"one")
        register.withdraw(1, "wrong title")
        assert register.find("1").withdrawn_reason == "wrong title"
        with pytest.raises(InputError, match="already"):
            register.withdraw(1, "again")
        assert register.add(one, b"one") is None
        assert register.find("1").withdrawn is None
        # Of another original the same bytes are another release; their content is kept once.
        other = replace(one, marks=publication("b").marks)
        assert register.add(other, b"one") == 2
        register.forget(2)
        assert register.content(register.find("1")) == b"one"
        register.forget(1)
        assert register.entries() == []
        # A number is never given twice.
        assert register.add(one, b"one") == 3
        assert register.contents().damaged == ()


@pytest.mark.parametrize("word", ["7", "x", "1234567", "111111111111111111112"])
def test_what_it_does_not_have(path: Path, word: str) -> None:
    with Register(str(path)) as register:
        register.add(publication(), b"")
        with pytest.raises(InputError, match="no release"):
            register.find(word)


def test_how_earlier_releases_bear_on_a_table(path: Path) -> None:
    mine = publication().marks
    same_records = replace(publication("b", "2"), marks=replace(mine, original="b" * 64))
    same_names = replace(publication("c", "3"))
    stranger = replace(publication("d", "4"), marks=OriginalMarks("d" * 64, ("x" * 64,), ("y" * 64,)))
    with Register(str(path)) as register:
        for one in (same_names, stranger, same_records, publication(), publication("a", "5")):
            register.add(one, b"")
        entries = register.entries()
    found = related(mine, entries)
    assert [(e.relation, e.entry.number) for e in found] == [
        ("original", 5),
        ("original", 4),
        ("records", 3),
        ("variables", 1),
    ]
    assert [e.entry.number for e in related(mine, entries, but="5" * 64)] == [4, 3, 1]
    said = warnings_of(found)
    assert [w["kind"] for w in said] == ["published_before"] * 3
    assert "2 times, last on" in said[0]["message"] and "release 5" in said[0]["message"]

    admit(found, "warn", "")
    admit(found, "reason", "a correction")
    for rule, reason in (("reason", ""), ("refuse", "a correction")):
        with pytest.raises(RefusedError, match="this very table has left before"):
            admit(found, rule, reason)  # type: ignore[arg-type]
    # Names alone are no second release.
    admit(found[3:], "refuse", "")


def test_a_name_that_two_files_share_is_no_alarm(path: Path) -> None:
    mine = publication().marks
    shared = OriginalMarks("e" * 64, ("v" * 64, "x" * 64), ("e" * 63 + "r",))
    finer = OriginalMarks("f" * 64, (*mine.variables, "x" * 64), ("f" * 63 + "r",))
    with Register(str(path)) as register:
        register.add(replace(publication("e", "2"), marks=shared), b"")
        register.add(replace(publication("f", "3"), marks=finer), b"")
        found = related(mine, register.entries())
    # Both are compared where their bytes are kept; of one alone people are told.
    assert [(e.entry.number, e.is_told) for e in found] == [(2, True), (1, False)]
    (said,) = warnings_of(found)
    assert "release 2" in said["message"] and "of the same names" in said["message"]
    assert not warnings_of(found[1:])
    left = LeftBefore(earlier=tuple(found[1:]))
    assert left.group.findings[0].state == "passed" and not left.warnings
    # What cannot be compared takes a reason all the same.
    assert LeftBefore(earlier=tuple(found[1:]), unread_numbers=(1,)).unjudged


def test_coarser_and_finer_tables_are_opened_and_no_others() -> None:
    def of(*names: str) -> OriginalMarks:
        shape = (2,) * len(names)
        counts = np.full(shape, 2 ** (4 - len(names)))
        return marks_of(Table.dense(Domain.of_shape(shape, names), counts), b"k" * 32)

    def before(*names: str) -> Earlier:
        entry = RegisterEntry(1, datetime.now(UTC), replace(publication(), marks=of(*names)))
        return Earlier(entry, "records")

    for mine, other, wanted in (
        ("ab", "abc", True),
        ("abc", "ab", True),
        ("abc", "b", True),
        ("ab", "bc", False),
        ("abc", "bcd", False),
    ):
        one = before(*other)
        assert _closest([one], of(*mine)) == ([one] if wanted else []), (mine, other)
        # What cannot be opened, or has its categories in another order, was not read.
        assert _holds(one, of(*mine)) == wanted
        keyed = replace(of(*mine), records=(*of(*mine).records, "0" * 64))
        both = replace(one.entry.publication.marks, records=(*of(*other).records, "0" * 64))
        entry = replace(one.entry, publication=replace(one.entry.publication, marks=both))
        assert _holds(Earlier(entry, "records"), keyed) == wanted


def test_faults(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text"
    text.write_text("no database, but long enough to be looked at " * 20)
    with pytest.raises(InputError, match="no SQLite database"):
        Register(str(text))
    with pytest.raises(InputError, match="cannot be made"):
        Register(str(tmp_path / "nowhere" / "register"), new=True)
    with pytest.raises(InputError, match="no register of releases here"):
        Register(str(tmp_path / "register.sqlit"))
    with pytest.raises(InputError, match="a register here already"):
        Register(str(path), new=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE register_schema SET version = 9999")
    with pytest.raises(InputError, match="another version"):
        Register(str(path))
    monkeypatch.setattr("tabprotect.engine.database.DATABASE_PATIENCE", 0.05)
    other = tmp_path / "locked"
    holder = Database(str(other), SCHEMA)

    def while_held(connection: object) -> None:
        with pytest.raises(InputError, match="locked"):
            Register(str(other))

    holder.transaction(while_held)
    holder.close()


def test_one_database_holds_the_register_and_a_table_server(path: Path) -> None:
    table = Table.dense(Domain.of_shape((2, 2)), [[1, 2], [3, 4]])
    with Register(str(path)) as register, Ledger(str(path), table) as ledger:
        register.add(publication(), b"")
        assert list(ledger.entries()) == [] and len(register.entries()) == 1


def test_where_the_register_is(house_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agency.register_address() == str(house_folder / "register.sqlite")
    monkeypatch.setenv(agency.REGISTER, "postgresql://host/releases")
    assert agency.register_address() == "postgresql://host/releases"
    assert agency.register_address("none") is None
    assert agency.register_address("here.sqlite") == "here.sqlite"
    monkeypatch.setenv(agency.REGISTER, "none")
    assert agency.register_address() is None


def private(*spent: Spent) -> list[LeavingPublication]:
    """Publications of one original, each with its budget."""
    return [
        replace(publication(bundle=str(n)), gate={"privacy": Privacy(**vars(one), total=one).as_json()})
        for n, one in enumerate(spent, start=1)
    ]


def test_budgets_of_one_original_add_up_to_the_limit(path: Path) -> None:
    budgets = Spent(1.0, 0.0), Spent(2.5, 0.0), Spent(rho=0.01)
    with Register(str(path)) as register:
        for one in [*private(*budgets), publication(bundle="7"), publication("z", "8")]:
            register.add(one, b"")
        earlier = related(publication().marks, register.entries())
    spent = spent_before(earlier, NOBODY)
    assert spent == Spent(3.5, 0.0, 0.01)
    first = next(one for one in earlier if one.entry.number == 1)
    assert first.as_json()["spent"] == {"epsilon": 1.0, "delta": 0.0, "rho": None}
    assert "epsilon 3.5" in spending_warning(spent)["message"]
    own = Privacy(0.5, 0.0, total=Spent(0.75, 0.0))
    implied = 4.25 + Spent(rho=0.01).as_epsilon
    admit_spending(earlier, own, 0, NOBODY)
    admit_spending(earlier, None, 1e-3, NOBODY)
    admit_spending(earlier, own, implied, NOBODY)
    with pytest.raises(RefusedError, match="beyond the epsilon of"):
        admit_spending(earlier, own, implied - 1e-6, NOBODY)
    with pytest.raises(RefusedError):
        admit_spending((), own, 0.7, NOBODY)


def test_a_draw_refused_beside_others_is_remembered(house_folder: Path) -> None:
    """What is drawn later for the table was chosen; the very draw was not, should it leave."""
    table = Table.dense(Domain.of_shape((2, 3)), np.arange(6).reshape(2, 3))
    problem, method = Problem(table), methods()["discrete_laplace"]
    values = method.resolve_for(problem, {"epsilon": 0.5, "margins": "A:B - 1"})
    how = (method, values, AgencyPolicy())
    one, other = Randomness.seeded(1), Randomness.seeded(2)
    remember_beside(problem, how, one, None)
    place = agency.register_address()
    assert place is not None and agency.is_unmade(place)
    with Register(place):
        pass
    remember_beside(problem, how, one, None)
    for randomness, accepted, changed in ((one, False, False), (other, True, True)):
        before = EarlierRefusals.of(
            problem, how, accepted=accepted, randomness=randomness, looked_up=look_up(problem)
        )
        assert (bool(before.others), before.limits.changed) == (changed, changed)
        # Who has the later release alone cannot judge what was refused.
        assert before.draws == before.limits.refused == ()
    with Register(place) as register:
        refused = register.refused(*marks(problem).of_refusals).values()
    assert spent_on_refusals(refused, table.domain) == Spent(0.5, 0.0)


def test_refused_private_draws_are_counted(house_folder: Path) -> None:
    """Each refused draw spent its budget; the very draw that leaves now counts once."""
    table = Table.dense(Domain.of_shape((2, 3)), np.arange(6).reshape(2, 3))
    problem, method = Problem(table), methods()["discrete_laplace"]
    values = method.resolve_for(problem, {"epsilon": 0.5, "margins": "A:B - 1"})
    limits = AgencyPolicy().limits(again=False)
    how = (method, values, AgencyPolicy())
    chance = Randomness(1, given=False, coins="house")
    before = EarlierRefusals.of(problem, how, accepted=False, randomness=chance, looked_up=look_up(problem))
    before.remember(None)
    place = agency.register_address()
    assert place is not None and before.limits.attempts_at_most == limits.attempts_at_most == 1
    with Register(place) as register:
        refused = register.refused(*marks(problem).of_refusals).values()
    assert spent_on_refusals(refused, table.domain) == Spent(0.5, 0.0)
    done = method.run(problem, {"epsilon": 0.5, "margins": "A:B - 1"}, Randomness.seeded(1)).release
    fresh, own = (
        replace(done, mechanism=replace(done.mechanism, coins=coins)) for coins in ("fresh", "house")
    )
    assert spent_on_refusals(refused, table.domain, fresh) == Spent(0.5, 0.0)
    assert spent_on_refusals(refused, table.domain, own) == Spent()
    with pytest.raises(RefusedError, match="beyond the epsilon of"):
        admit_spending((), own.mechanism.privacy, 0.75, NOBODY, Spent(0.5, 0.0))
    admit_spending((), own.mechanism.privacy, 0.75, NOBODY)
    assert left_before(problem).spent == Spent(0.5, 0.0)
    # With fresh coins it was another draw, refused as well.
    for chance in (Randomness.fresh(), Randomness.fresh()):
        before = EarlierRefusals.of(
            problem, how, accepted=False, randomness=chance, looked_up=look_up(problem)
        )
        before.remember(None)
    with Register(place) as register:
        refused = register.refused(*marks(problem).of_refusals).values()
    assert spent_on_refusals(refused, table.domain, own) == Spent(1.0, 0.0)
