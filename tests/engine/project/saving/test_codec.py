"""What a project holds is saved by its fields: a field that would be lost fails here by itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from same_values import difference, written_out

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.magnitudes.tables.largest_only import LargestOnly
from tabprotect.engine.plain_values.decoding import LATE
from tabprotect.engine.posterior.factors import reweighing
from tabprotect.engine.project.history import History, held_bytes, held_values
from tabprotect.engine.project.project import EVERYTHING, TOLD, Project
from tabprotect.engine.project.saving import codec, storage
from tabprotect.engine.project.saving.codec import Decoder, Encoder, kinds, types_of
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import Staff, StaffVerdict, WorstCell
from tabprotect.engine.release.limits import Limits
from tabprotect.engine.release.mechanism import Gate, RefusedDraws
from tabprotect.engine.release.privacy import Privacy, Spent
from tabprotect.engine.release.stated_list import StatedList
from tabprotect.engine.release.tuned import Tuned
from tabprotect.engine.release.verdict_figures import KeptSum, TableVerdict
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.kept_total import KeptTotal
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level

LIMITS = Gate(belief_limit=0.9, share=0.1, mean_belief_limit=0.5, small_share=0.5, insider_limit=0.5)

RECORDS = "key,region,sex,w\n" + "".join(
    f"{number * 61_803_399 % 10**8},{'NSE'[number % 3]},{'fm'[number % 2]},{1 + number % 3}\n"
    for number in range(40)
)

HOUSE: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "tabulate",
        {"source": "people.csv", "by": ["region", "sex"], "record_key": "key", "design_weight": "w"},
    ),
    ("set_method", {"method": "cell_key"}),
    ("set_parameters", {"keys": "records", "D": 3}),
    ("protect", {"seed": 2**100 + 1}),
    ("tabulate", {"source": "people.csv", "by": ["region", "sex"], "measure": "w"}),
    ("set_rules", {"rules": ["n=7"]}),
    ("protect", {}),
    ("tabulate", {"source": "people.csv", "by": ["region"], "draw_keys": True, "key_seed": 17}),
    ("new_table", {"variables": {"a": ["x", "y"], "b": ["u", "v"]}}),
    ("paste_block", {"at": [0, 0], "counts": [[3, 4], [5, 6]]}),
    ("open_table", {"source": "example:duncan-roehrig-4x4x3"}),
    ("set_count", {"index": [0, 1, 0], "count": 2}),
    ("place", {"rows": ["v"], "columns": ["w"], "layers": ["x"]}),
    ("set_method", {"method": "suppression"}),
    ("set_parameters", {"choice": "cheapest"}),
    ("protect", {"accept_weak": True, "seed": 3}),
    ("set_method", {"method": "small_count_rounding"}),
    ("protect", {"accept_weak": True, "seed": 4}),
    ("set_release_criterion", {"threshold": 1, "bounds": "integer"}),
    ("set_release_plan", {"margins": [["v", "w"], ["x"]]}),
    ("open_table", {"source": "example:sparse-10x10"}),
    ("set_cycles", {"kind": "bidiagonal"}),
    ("protect", {"accept_weak": True, "seed": 8}),
    ("open_table", {"source": "example:duncan-roehrig-4x4"}),
    ("set_cycles", {"kind": "data"}),
    ("set_seed", {"seed": 2**90}),
    ("protect", {}),
    ("set_parameters", {"order": "random", "alpha": 0.3, "beta": 0.2}),
    ("set_cycles", {"kind": "elementary"}),
    ("remove_cycle", {"cycle": 0}),
    ("set_prior", {"who": "user", "prior": "positive:0,0"}),
    (
        "set_comparison",
        {
            "runs": ["cell_key D=5 V=3", "random_rounding base=3"],
            "runs_per_method": 7,
            "key": ["v"],
            "sensitive": "w",
            "margins": "v + w",
        },
    ),
    ("set_at_risk", {"rule": "1..4"}),
    ("set_roles", {"sensitive": ["v"], "key_variables": ["w"]}),
    ("set_title", {"title": "Ünï"}),
    ("protect", {"accept_weak": True}),
    ("publish", {"release": "r.zip"}),
    ("set_title", {"title": "later"}),
)


@pytest.fixture(scope="module")
def histories(
    tmp_path_factory: pytest.TempPathFactory, draw_little: Callable[[pytest.MonkeyPatch], None]
) -> list[History]:
    """A house that has been through (almost) everything, step by step, and a reader."""
    folder = tmp_path_factory.mktemp("house")
    (folder / "people.csv").write_text(RECORDS)
    found = [History()]
    with pytest.MonkeyPatch.context() as patch:
        draw_little(patch)
        # Twenty times the effective draws that are asked for at least.
        patch.setattr(reweighing, "MOST_DRAWS", 1000)
        patch.chdir(folder)
        patch.setenv("TABPROTECT_HOME", str(folder / "home"))
        for name, arguments in HOUSE:
            found.append(found[-1].apply(name, arguments)[0])
        found.append(History().apply("open_bundle", {"path": "r.zip"})[0])
    return found


@pytest.fixture(scope="module")
def house(histories: list[History]) -> History:
    """After its last step."""
    return histories[-2]


@pytest.fixture(scope="module")
def everything(histories: list[History]) -> list[object]:
    """Projects and values that set every field of every kind at least once."""
    found = [history.project for history in histories[1:]]
    run = next(p for p in found if p is not None and p.protected is not None)
    assert run.protected is not None
    record = run.protected.record
    found_out = StaffVerdict(
        (TableVerdict("intruder", ("a",), True, 4, 1.5, 1, 1, "simulation", 0.1, "left out"),),
        limits=LIMITS,
        attempts_at_most=2,
        note="left out",
        staff=Staff(1, 1, 1, 1, 0.5, WorstCell(("a",), ("x",), 0.5)),
        exact_small_margins=(KeptSum(("a",), ("x",), 1),),
    )
    release = run.protected.release
    gate = replace(
        LIMITS,
        at_risk=SmallCount(2, 3),
        attempts_at_most=2,
        intruder="positive",
        passed=False,
        left_out=("attempts",),
        reason=True,
        refused=(RefusedDraws(2, release.mechanism),),
        listed=StatedList(({}, {"alpha": 0.2}), (0.25, 0.75), 2),
    )
    tuned = Tuned(use="sums", parameters={"alpha": 0.2}, accepted=0.96, tables=40, loss=0.3, default_loss=0.5)
    privacy = Privacy(1.0, 1e-6, 0.5, total=Spent(2.0, 2e-6, 1.0))
    policy = AgencyPolicy(
        **{one.name: getattr(LIMITS, one.name) for one in fields(Limits)},
        insiders="judge",
        groups="judge_all",
        sensitive=("ill",),
        attempts_at_most=2,
        at_risk="1..3",
        intruder="positive",
        second_release="refuse",
        together="warn",
        unjudged="refuse",
        short_seed="warn",
        two_signatures=True,
        epsilon_limit=1.5,
        no_change="refuse",
        no_change_limit=0.1,
        off_list="reason",
        kept_small="never",
        rules=("p=10", "n=3"),
        within=5.0,
        retention_days=30,
        approvers={"anna": "ab" * 32},
        standing={"attempts": "looked at"},
        metadata={"licence": "CC BY 4.0"},
        texts={"footnote": "{text} Office."},
    )
    record = replace(record, attempt=2, verdict=found_out)
    stated = replace(release.mechanism, gate=gate, tuned=tuned, privacy=privacy)
    release = replace(release, mechanism=stated)
    further = replace(
        run,
        policy=policy,
        people=People(((1, "part"),)),
        protected=replace(run.protected, record=record, release=release),
        moves=design(run.original.domain, "strips", {"closed": False}),
    )
    domain = run.original.domain
    first = domain.variables[0]
    groups = Grouping("grouped", first.name, ("all",) * len(first.categories))
    levels = design(domain, "strips").keeping((("grouped",),), (groups,))
    coarse = Level("all", ("any",) * len(first.categories))
    labelled = first.labelled([f"L {c}" for c in first.categories])
    told = domain.with_variable(labelled.grouped(coarse, finest="single"))
    nobody = StructuralZeros(((first.name, first.categories[:1]),))
    told = told.with_structural([nobody])
    known = Project(
        table=Table.dense(told, np.zeros(told.shape, dtype=np.int64)),
        kept_totals=(KeptTotal({"a": "x"}, published=5, inner=4),),
    )
    sums = next(p.magnitude_release for p in found if p.magnitude_release is not None)
    reader = Project(released=sums)
    chosen = next(p.magnitudes for p in found if p.magnitudes is not None)
    top = LargestOnly(*(np.ones(2, dtype=np.int64) for _ in range(2)), np.ones((2, 3), dtype=np.int64))
    named = replace(
        run, magnitudes=replace(chosen, weights="known", table=replace(chosen.table, largest=top))
    )
    return [*found, further, replace(run, moves=levels), known, reader, named]


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
    unset = {
        (name, field)
        for name, kind in kinds().items()
        for field, hint in types_of(kind).items()
        if get_origin(hint) is not Literal or len(get_args(hint)) > 1
    }
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
        hint = get_type_hints(kinds()[name], localns=LATE)[field]
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


def test_a_field_that_is_lost_is_found(everything: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(kind: type) -> dict[str, Any]:
        return {name: hint for name, hint in types_of(kind).items() if name != "notes"}

    monkeypatch.setattr(codec, "types_of", leaky)
    assert lost(everything) == {"Project.notes is not seen to survive"}


def test_a_saved_history_goes_on_where_it_was(house: History) -> None:
    saved = storage.to_bytes(house)
    again = storage.from_bytes(saved)
    assert storage.to_bytes(again) == saved
    assert difference(written_out(house.project), written_out(again.project)) == ""
    assert [step.label for step in again.steps] == [step.label for step in house.steps]
    undone, _ = again.jump(again.floor)
    with pytest.raises(InputError, match="published"):
        undone.undo()


def test_what_another_version_wrote_is_told(house: History) -> None:
    encoder = Encoder()
    number = encoder.put(house.project)
    encoder.shared[number][1]["remark"] = "x"
    with pytest.raises(NotImplementedError):
        Decoder(encoder.shared, encoder.arrays).get(number)


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
    encoder.shared[number][1][field] = wrong
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
        [["Path", {}]],
        [["Problem", {"table": {"value": 0}}]],
        [["Domain", {"variables": [{"value": 0}]}]],
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
