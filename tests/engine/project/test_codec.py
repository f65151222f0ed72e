"""What a project holds is saved by its fields: a field that would be lost fails here by itself."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from same_values import difference, written_out

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.project import codec
from tabprotect.engine.project.codec import Decoder, Encoder, held_values, kinds, types_of
from tabprotect.engine.project.history import History, held_bytes
from tabprotect.engine.project.project import EVERYTHING, TOLD, Project
from tabprotect.engine.project.saving import storage
from tabprotect.engine.protection.staff_verdict import Staff, StaffVerdict, WorstCell
from tabprotect.engine.release.stated_gate import Gate
from tabprotect.engine.release.verdict_figures import TableVerdict
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table

REFERENCE = Path(__file__).parents[2] / "reference"
HOUSE, READER = (REFERENCE / f"{name}-0.1.0.tabprotect" for name in ("project", "reader"))


@pytest.fixture(scope="module")
def house() -> History:
    """A history that has been through (almost) everything, made by tabprotect 0.1.0."""
    return storage.load(HOUSE)


@pytest.fixture(scope="module")
def everything(house: History) -> list[object]:
    """Projects and values that set every field of every kind at least once."""
    found = [step.project for step in (*house.steps, *storage.load(READER).steps)]
    run = next(p for p in found if p is not None and p.protected is not None)
    assert run.protected is not None
    record = run.protected.record
    found_out = StaffVerdict(
        (TableVerdict("intruder", ("a",), True, 4, 1.5, 1, 1, "simulation", 0.1, "left out"),),
        *(0.9, 0.1, 2, "left out"),
        Staff(1, 1, 1, 1, 0.5, WorstCell(("a",), ("x",), 0.5)),
    )
    gate = Gate(0.9, 0.1, SmallCount(2, 3), 2, "positive", False)
    policy = HousePolicy(
        *(0.9, 0.1, 2, "1..3", "positive", "refuse", "warn", "refuse", True),
    )
    record = replace(
        record,
        attempt=2,
        verdict=found_out,
    )
    release = run.protected.release
    release = replace(release, mechanism=replace(release.mechanism, gate=gate))
    further = replace(
        run,
        policy=policy,
        protected=replace(run.protected, record=record, release=release),
        moves=design(run.original.domain, "strips", {"closed": False}),
    )
    domain = run.original.domain
    first = domain.variables[0]
    groups = Grouping("grouped", first.name, ("all",) * len(first.categories))
    levels = design(domain, "strips").keeping((("grouped",),), (groups,))
    told = domain.with_variable(first.labelled([f"L {c}" for c in first.categories]))
    nobody = StructuralZeros(((first.name, first.categories[:1]),))
    told = told.with_structural([nobody])
    known = Project(table=Table.dense(told, np.zeros(told.shape, dtype=np.int64)))
    return [*found, further, replace(run, moves=levels), known]


def back(value: object) -> object:
    encoder = Encoder()
    number = encoder.put(value)
    return Decoder(json.loads(json.dumps(encoder.shared)), encoder.arrays).get(number)


def values(of: object, seen: dict[int, object]) -> Iterator[object]:
    """All values of some kind in a value, once each."""
    if id(of) in seen:
        return
    seen[id(of)] = of
    if is_dataclass(of):
        yield of
    for part in held_values(of):
        yield from values(part, seen)


def is_default(value: object, name: str) -> bool:
    field = next(f for f in fields(value) if f.name == name)  # type: ignore[arg-type]
    if field.default is MISSING and field.default_factory is MISSING:
        return False
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return difference(written_out(default), written_out(getattr(value, name))) == ""


def sample(hint: Any, seen: Iterable[object]) -> Any:
    """Some value of a type that is no default."""
    inner = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return sample(next(h for h in inner if h is not NoneType), seen)
    if get_origin(hint) is tuple:
        return tuple(sample(h, seen) for h in inner if h is not Ellipsis)
    if get_origin(hint) is Mapping:
        return MappingProxyType({sample(inner[0], seen): sample(inner[1], seen)})
    if get_origin(hint) is np.ndarray:
        return np.ones(3, dtype=get_args(inner[1])[0])
    if hint in (str, int, float, bool):
        return hint("2")
    return next((one for one in seen if type(one) is hint), frozenset({"of no known type"}))


def lost(everything: list[object]) -> set[str]:
    """The fields that do not survive, or that nothing shows to survive."""
    unset = {(name, field) for name, kind in kinds().items() for field in types_of(kind)}
    unset |= {("Project", f.name) for f in fields(Project)}
    wrong: set[str] = set()
    seen: dict[int, object] = {}
    for value in everything:
        found = difference(value, back(value), type(value).__name__)
        wrong |= {found} if found else set()
        for one in values(value, seen):
            name = type(one).__name__
            unset -= {(name, f.name) for f in fields(one) if not is_default(one, f.name)}  # type: ignore[arg-type]
    for name, field in sorted(unset):
        one = next((one for one in seen.values() if type(one) is kinds()[name]), None)
        hint = get_type_hints(kinds()[name])[field]
        try:
            # Of what is set nowhere above, something simple is tried.
            further: Any = replace(one, **{field: sample(hint, seen.values())})  # type: ignore[type-var]
            same = not difference(further, back(further))
        except (TypeError, ValueError, TabprotectError):
            continue
        unset -= {(name, field)} if same else set()
    return wrong | {f"{name}.{field} is not seen to survive" for name, field in unset}


def test_every_field_of_everything_in_a_project_survives(everything: list[object]) -> None:
    assert {"Project", "RunEvidence", "DesignWeights", "Steps"} <= set(kinds())
    assert lost(everything) == set()


def test_a_field_that_is_lost_is_found(
    everything: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaky(kind: type) -> dict[str, Any]:
        return {name: hint for name, hint in types_of(kind).items() if name != "notes"}

    monkeypatch.setattr(codec, "types_of", leaky)
    assert lost(everything) == {"Project.notes is not seen to survive"}


LEFT = {"preview", "contributors"}
"""Fields of 0.1.0 that are not kept: what trial runs said before a run, and one that held nothing."""


FURTHER = {"attempt": 1, "stream": "PCG64"}
"""Fields that 0.1.0 had not, and what they were there."""


def holds(old: Any, now: Any) -> bool:
    """Whether a value is what it was, but for fields left, and further ones that hold nothing."""
    if isinstance(old, Mapping):
        return (
            set(old) - LEFT <= set(now)
            and all(
                now[k] == FURTHER[k] if k in FURTHER else not now[k] for k in set(now) - set(old)
            )
            and all(holds(old[name], now[name]) for name in set(old) - LEFT)
        )
    if isinstance(old, list):
        return len(old) == len(now) and all(map(holds, old, now))
    return type(old) is type(now) and bool(old == now)


def test_projects_of_0_1_open_with_all_they_held(house: History) -> None:
    data = json.loads(gzip.decompress((REFERENCE / "projects-0.1.0.json.gz").read_bytes()))
    reader = storage.load(READER)
    for name, history in (("house", house), ("reader", reader)):
        now = [written_out(p) for p in (history.base, *(s.project for s in history.steps))]
        assert len(data[name]) == len(now)
        for number, (old, new) in enumerate(zip(data[name], now, strict=True)):
            assert holds(old, json.loads(json.dumps(new))), (name, number)
    assert house.position == data["position"] and house.redo_label == "set the title to later"
    # They go on: the next save is in today's format, and the same again.
    saved = storage.to_bytes(house)
    assert storage.to_bytes(storage.from_bytes(saved)) == saved
    undone, _ = house.jump(house.floor)
    with pytest.raises(InputError, match="published"):
        undone.undo()


def test_what_a_newer_program_wrote_is_told(
    house: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Encoder()
    number = encoder.put(house.project)
    for place, newer in ((1, 99), (2, {"remark": "x"})):
        shared = json.loads(json.dumps(encoder.shared))
        shared[number][place] = newer
        with pytest.raises(NotImplementedError):
            Decoder(shared, encoder.arrays).get(number)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("seed", "7"),
        ("published", 1),
        ("notes", {"list": ["x"]}),
        ("notes", [1]),
        ("priors", {"map": [["user", 5]]}),
        ("placement", {"value": 0}),
        ("table", {"os.system": "ls"}),
        ("table", {"value": True}),
        ("table", {"array": "none"}),
        ("moves", [[[]]]),
    ],
)
def test_values_of_another_type_are_refused(house: History, field: str, wrong: object) -> None:
    encoder = Encoder()
    number = encoder.put(house.project)
    encoder.shared[number][2][field] = wrong
    with pytest.raises((TypeError, ValueError, KeyError)):
        Decoder(encoder.shared, encoder.arrays).get(number)


def test_a_head_with_many_digits_is_refused_at_once() -> None:
    # One that could be read in many ways would never be done.
    head = b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': ("
    for shape in (b"1" * 5000, b"1, " * 5000, b"1," * 5000, b"12" * 9 + b" " * 5000):
        with pytest.raises(ValueError, match="damaged"):
            Decoder([], {"a": head + shape + b"x"})._array("a")
    for shape in ((), (3,), (2, 3), (1, 2, 3, 4)):
        encoder = Encoder()
        name = encoder._array(np.zeros(shape))
        assert Decoder([], encoder.arrays)._array(name).shape == shape


def test_only_kinds_are_built_and_none_holds_itself(house: History) -> None:
    for shared in (
        [["Path", 1, {}]],
        [["Problem", 1, {"table": {"value": 0}}]],
        [["Domain", 1, {"variables": [{"value": 0}]}]],
    ):
        with pytest.raises((KeyError, RecursionError)):
            Decoder(shared, {}).get(0)
    with pytest.raises(TypeError, match="not reached"):
        Encoder().put(house)


def test_a_history_counts_all_that_it_holds(everything: list[object]) -> None:
    seen: dict[int, object] = {}
    arrays: dict[int, int] = {}
    for value in everything:
        for one in values(value, seen):
            for f in fields(one):  # type: ignore[arg-type]
                content = getattr(one, f.name)
                for array in content if isinstance(content, tuple) else (content,):
                    if isinstance(array, np.ndarray):
                        arrays[id(array)] = array.nbytes
    assert len(arrays) > 50
    counted: dict[int, object] = {}
    assert sum(held_bytes(value, counted) for value in everything) > sum(arrays.values())
    # What snapshots share is counted once; what comes on top is seen wherever it hangs.
    assert sum(held_bytes(value, counted) for value in everything) == 0
    first = next(p for p in everything if isinstance(p, Project) and p.protected is not None)
    assert first.protected is not None
    record = replace(first.protected.record, statuses=(np.full(10_000, "s"),))
    further = replace(first, protected=replace(first.protected, record=record))
    assert 40_000 <= held_bytes(further, counted) < 50_000


def test_a_window_is_told_of_every_field() -> None:
    assert set(TOLD) == {f.name for f in fields(Project)}
    assert {name for told in TOLD.values() for name in told} == EVERYTHING
