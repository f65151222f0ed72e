"""Project files of tabprotect 0.1: their values as the codec writes them, all of version 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

KINDS = ("domains", "tables", "moves", "results", "projects")


class FirstFormat:
    """The values of a file of the first format in one list.

    There each kind had a list and numbers of its own, smaller values stood within larger ones,
    and some were written as text.
    """

    def __init__(self, shared: Mapping[str, list[Any]]) -> None:
        self.values: list[list[Any]] = []
        self._numbers: dict[str, list[int]] = {kind: [] for kind in KINDS}
        makers = (self._domain, self._table, self._moves, self._result, self._project)
        for kind, make in zip(KINDS, makers, strict=True):
            for data in shared[kind]:
                self._numbers[kind].append(make(data)["value"])

    def project(self, number: int) -> int:
        """The number of a project in the one list."""
        return self._numbers["projects"][_index(number)]

    def _new(self, name: str, /, **content: Any) -> Json:
        self.values.append([name, 1, content])
        return {"value": len(self.values) - 1}

    def _known(self, kind: str, number: int | None) -> Json | None:
        return None if number is None else {"value": self._numbers[kind][_index(number)]}

    def _domain(self, data: Any) -> Json:
        variables = [self._new("Variable", name=n, categories=c) for n, c in data]
        return self._new("Domain", variables=variables)

    def _table(self, data: Json) -> Json:
        arrays = {f"_{new}": _array(data.get(old)) for new, old in _TABLE.items()}
        return self._new("Table", domain=self._known("domains", data["domain"]), **arrays)

    def _moves(self, data: Json) -> Json:
        arrays = {name: _array(data[name]) for name in ("starts", "cells", "signs")}
        domain = self._known("domains", data["domain"])
        return self._new("MoveSet", domain=domain, **arrays, margins=data["margins"])

    def _mapping(self, data: Json) -> Json:
        return {
            "map": [
                [name, self._known("moves", v["moves"]) if "moves" in v else _plain(v["plain"])]
                for name, v in data.items()
            ]
        }

    def _rule(self, text: str) -> Json:
        low, _, high = text.partition("..")
        return self._new("SmallCount", low=int(low), high=int(high or low))

    def _weights(self, data: Json | None) -> Json | None:
        if data is None:
            return None
        return self._new("DesignWeights", **data | {"sums": self._known("tables", data["sums"])})

    def _release(self, data: Json | None) -> Json | None:
        if data is None:
            return None
        domain = self._known("domains", data["domain"])
        mechanism = self._new(
            "Mechanism",
            method=data["method"],
            domain=domain,
            parameters=self._mapping(data["parameters"]),
        )
        tables = [
            self._new(
                "PublishedTable",
                table=self._known("tables", one["table"]),
                suppressed=_array(one["suppressed"]),
            )
            for one in data["tables"]
        ]
        return self._new("Release", tables=tables, mechanism=mechanism, title=data["title"])

    def _result(self, data: Json) -> Json:
        release = self._release(data["release"])
        problem = self._new(
            "Problem",
            table=self._known("tables", data["original"]),
            at_risk=self._rule(data["at_risk"]),
            title=data["release"]["title"],
            record_keys=self._known("tables", data["record_keys"]),
            weights=self._weights(data.get("weights")),
        )
        steps = data["steps"]
        if steps is not None:
            steps = self._new("Steps", **{name: _array(steps.get(name)) for name in _STEPS})
        record = self._new(
            "RunEvidence",
            problem=problem,
            seed=int(data["seed"]),
            seed_given=data["seed_given"],
            parameters=self._mapping(data["parameters"]),
            decisions=data["decisions"],
            steps=steps,
            statuses=[_array(letters) for letters in data["statuses"]],
            hidden=self._known("tables", data["hidden"]),
            findings=_plain(data["findings"]),
            sentence=data["sentence"],
        )
        return self._new("Protected", release=release, record=record)

    def _project(self, data: Json) -> Json:
        placement = data["placement"]
        if placement is not None:
            rows, columns, layers = placement
            placement = self._new("Placement", rows=rows, columns=columns, layers=layers)
        changed: Json = {
            "table": self._known("tables", data["table"]),
            "record_keys": self._known("tables", data["record_keys"]),
            "weights": self._weights(data.get("weights")),
            "at_risk": self._rule(data["at_risk"]),
            "placement": placement,
            "moves": self._known("moves", data["moves"]),
            "parameters": self._mapping(data["parameters"]),
            "seed": None if data["seed"] is None else int(data["seed"]),
            "protected": self._known("results", data["protected"]),
            "released": self._release(data["released"]),
            "priors": {"map": list(map(list, data["priors"].items()))},
        }
        for name, kind in (("plan", "ReleasePlan"), ("comparison", "ComparisonPlan")):
            if name in data:
                changed[name] = self._new(kind, **data[name])
        return self._new("Project", **data | changed)


_TABLE = {"array": "counts", "keys": "keys", "values": "values"}
_STEPS = ("coins", "effective", "blocked", "sequence")


def _index(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is no number of a value")
    return number


def _array(name: str | None) -> Json | None:
    return None if name is None else {"array": name}


def _plain(value: Any) -> Any:
    """JSON as it was: its lists as lists, its objects as dictionaries."""
    if isinstance(value, list):
        return {"list": [_plain(one) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[key, _plain(one)] for key, one in value.items()]}
    return value
