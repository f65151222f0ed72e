"""Resolved values are read-only, and of the type that their parameter's constant declares."""

import pickle
import sys
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from tabprotect.engine.parameters import Parameter, Values, resolve
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.registered import rules
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet

STEP: Parameter[int] = Parameter("step", "Step", "How far.", "integer", 3, low=1)
SHARE: Parameter[float] = Parameter("share", "Share", "How much.", "real", 0.5)

TYPES = {"integer": int, "real": float, "flag": bool, "cycles": MoveSet}
"""By kind; all other ones but choices are text."""


def test_a_value_is_found_by_its_parameter_and_by_its_name() -> None:
    values = resolve((STEP, SHARE), {"step": "7"})
    assert values[STEP] == values["step"] == 7
    assert dict(values) == {"step": 7, "share": 0.5} == values
    assert list(values) == ["step", "share"] and len(values) == 2


def test_values_change_by_making_others() -> None:
    values = resolve((STEP, SHARE), {})
    other = values | {"step": 4}
    assert (values[STEP], other[STEP], other[SHARE]) == (3, 4, 0.5)
    with pytest.raises(TypeError):
        values["step"] = 4  # type: ignore[index]


def test_values_keep_nothing_of_the_mapping_they_were_made_of() -> None:
    given: dict[str, object] = {"step": 1}
    values = Values(given)
    given["step"] = 2
    assert values[STEP] == 1


def test_values_travel_to_other_processes() -> None:
    values = resolve((STEP, SHARE), {})
    assert pickle.loads(pickle.dumps(values)) == values


def test_values_are_not_told_by_their_text() -> None:
    assert repr(resolve((STEP,), {"step": 41})) == "Values(step)"


def constants() -> dict[int, Any]:
    """The declared type of every constant that is a parameter, by the identity of the constant."""
    methods(), rules()
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("tabprotect.engine."):
            own = [n for n, value in vars(module).items() if isinstance(value, Parameter)]
            hints = get_type_hints(module) if own else {}
            for constant in own:
                if constant in hints:
                    found[id(vars(module)[constant])] = get_args(hints[constant])[0]
    return found


def declared() -> list[tuple[str, Parameter[object], Any]]:
    """Owner, parameter, declared type; one that was varied by ``replace`` is of no constant."""
    types = constants()
    owners = [*methods().values(), *rules().values()]
    return [
        (owner.name, parameter, types[id(parameter)])
        for owner in owners
        for parameter in owner.parameters
        if id(parameter) in types
    ]


def allowed(declared_type: Any) -> tuple[Any, ...]:
    union = get_origin(declared_type) in (Union, UnionType)
    return get_args(declared_type) if union else (declared_type,)


def test_a_declared_type_is_that_of_the_kind() -> None:
    for owner, parameter, declared_type in declared():
        where = f"{owner} {parameter.name}: {declared_type}"
        if parameter.kind == "choice":
            assert parameter.choices is not None, where
            assert get_origin(declared_type) is Literal, where
            assert set(get_args(declared_type)) == set(parameter.choices), where
        else:
            wanted = TYPES.get(parameter.kind, str)
            assert wanted in allowed(declared_type), where


def test_every_parameter_but_varied_ones_is_a_constant() -> None:
    owners = [*methods().values(), *rules().values()]
    constant = {id(parameter) for _, parameter, _ in declared()}
    rest = [(owner.name, p.name) for owner in owners for p in owner.parameters if id(p) not in constant]
    assert sorted(rest) == [
        ("coarsening", "groupings"),
        ("cyclic_perturbation", "groupings"),
        ("publish_margins", "margins"),
        ("record_swapping", "margins"),
    ]


@pytest.mark.parametrize("name", methods())
def test_what_a_method_resolves_is_of_the_declared_type(name: str) -> None:
    method, domain = methods()[name], Domain.of_shape((3, 3))
    values = method.resolve(domain, method.trial_parameters(domain))
    types = constants()
    for parameter in method.parameters:
        if id(parameter) not in types:
            continue
        value, declared_type = values[parameter], types[id(parameter)]
        if get_origin(declared_type) is Literal:
            assert value in get_args(declared_type), parameter.name
            continue
        fits = tuple(get_origin(one) or one for one in allowed(declared_type))
        assert isinstance(value, fits), (parameter.name, value)
