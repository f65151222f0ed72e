"""Projects as JSON and plain number arrays: written without pickles, read without trust.

Arrays and values that several snapshots share are stored once.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.project.comparison_plan import ComparisonPlan
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.release_plan import ReleasePlan
from tabprotect.engine.protection.problem import (
    Problem,
    Protected,
    RunEvidence,
    Steps,
)
from tabprotect.engine.protection.staff_verdict import Staff, StaffVerdict, WorstCell
from tabprotect.engine.release.gate import Gate
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.published import PublishedTable
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict import TableVerdict
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.design_weights import DesignWeights
from tabprotect.engine.tables.domain import Domain, Variable
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

Json = dict[str, Any]

KINDS = ("domains", "tables", "moves", "results", "projects")


class Encoder:
    """Collects projects: ``shared`` goes into the JSON, ``arrays`` beside it by digest."""

    def __init__(self) -> None:
        self.shared: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        self.arrays: dict[str, bytes] = {}
        self.size = 0
        self._known: dict[tuple[str, int], int] = {}
        # Identities are only good while their objects live.
        self._alive: list[object] = []

    def _once(self, kind: str, value: object, encoded: Any) -> int:
        self.shared[kind].append(encoded)
        number = len(self.shared[kind]) - 1
        self._known[kind, id(value)] = number
        self._alive.append(value)
        return number

    def _array(self, array: npt.NDArray[Any]) -> str:
        out = io.BytesIO()
        np.save(out, np.asarray(array, order="C"), allow_pickle=False)
        data = out.getvalue()
        name = hashlib.sha256(data).hexdigest()
        if name not in self.arrays:
            self.arrays[name] = data
            self.size += len(data)
        return name

    def project(self, project: Project) -> int:
        """The number of a project among ``shared["projects"]``."""
        known = self._known.get(("projects", id(project)))
        if known is not None:
            return known
        placement = project.placement
        return self._once(
            "projects",
            project,
            {
                "title": project.title,
                "source": project.source,
                "edited": project.edited,
                "notes": list(project.notes),
                "table": None if project.table is None else self._table(project.table),
                "record_keys": None
                if project.record_keys is None
                else self._table(project.record_keys),
                "weights": self._weights(project.weights),
                "at_risk": str(project.at_risk),
                "placement": None
                if placement is None
                else [list(placement.rows), list(placement.columns), list(placement.layers)],
                "moves": None if project.moves is None else self._moves(project.moves),
                "cycles_from": project.cycles_from,
                "method": project.method,
                "parameters": self._values(project.parameters),
                "seed": None if project.seed is None else str(project.seed),
                "policy": None if project.policy is None else project.policy.as_dict(),
                "protected": None
                if project.protected is None
                else self._protected(project.protected),
                "released": None if project.released is None else self._release(project.released),
                "published": project.published,
                "priors": dict(project.priors),
                "plan": {
                    "margins": [list(m) for m in project.plan.margins],
                    "threshold": project.plan.threshold,
                    "criterion": project.plan.criterion,
                    "bounds": project.plan.bounds,
                },
                "comparison": {
                    "runs": list(project.comparison.runs),
                    "runs_per_method": project.comparison.runs_per_method,
                    "margins": project.comparison.margins,
                    "groupings": project.comparison.groupings,
                    "key": list(project.comparison.key),
                    "sensitive": project.comparison.sensitive,
                },
            },
        )

    def _weights(self, weights: DesignWeights | None) -> Json | None:
        if weights is None:
            return None
        return {"sums": self._table(weights.sums), "low": weights.low, "high": weights.high}

    def _domain(self, domain: Domain) -> int:
        known = self._known.get(("domains", id(domain)))
        if known is not None:
            return known
        encoded = [[v.name, list(v.categories)] for v in domain.variables]
        return self._once("domains", domain, encoded)

    def _table(self, table: Table) -> int:
        known = self._known.get(("tables", id(table)))
        if known is not None:
            return known
        encoded: Json = {"domain": self._domain(table.domain)}
        if table.is_sparse:
            keys, values = table.cells
            encoded |= {"keys": self._array(keys), "values": self._array(values)}
        else:
            encoded["counts"] = self._array(table.counts)
        return self._once("tables", table, encoded)

    def _moves(self, moves: MoveSet) -> int:
        known = self._known.get(("moves", id(moves)))
        if known is not None:
            return known
        encoded = {
            "domain": self._domain(moves.domain),
            "starts": self._array(moves.starts),
            "cells": self._array(moves.cells),
            "signs": self._array(moves.signs),
            "margins": [list(m) for m in moves.margins],
        }
        return self._once("moves", moves, encoded)

    def _values(self, values: Mapping[str, object]) -> Json:
        return {
            name: {"moves": self._moves(value)} if isinstance(value, MoveSet) else {"plain": value}
            for name, value in values.items()
        }

    def _release(self, release: Release) -> Json:
        return {
            "domain": self._domain(release.domain),
            "tables": [
                {
                    "table": self._table(published.table),
                    "suppressed": None
                    if published.suppressed is None
                    else self._array(published.suppressed),
                }
                for published in release.tables
            ],
            "method": release.mechanism.method,
            "parameters": self._values(release.mechanism.parameters),
            "gate": None if release.mechanism.gate is None else release.mechanism.gate.as_json(),
            "title": release.title,
        }

    def _protected(self, protected: Protected) -> int:
        known = self._known.get(("results", id(protected)))
        if known is not None:
            return known
        record = protected.record
        encoded = {
            "release": self._release(protected.release),
            "original": self._table(record.problem.table),
            "at_risk": str(record.problem.at_risk),
            "seed": str(record.seed),
            "seed_given": record.seed_given,
            "record_keys": None
            if record.problem.record_keys is None
            else self._table(record.problem.record_keys),
            "weights": self._weights(record.problem.weights),
            "parameters": self._values(record.parameters),
            "steps": None
            if record.steps is None
            else {
                "coins": self._array(record.steps.coins),
                "effective": self._array(record.steps.effective),
                "blocked": self._array(record.steps.blocked),
                "sequence": None
                if record.steps.sequence is None
                else self._array(record.steps.sequence),
            },
            "statuses": [self._array(letters) for letters in record.statuses],
            "hidden": None if record.hidden is None else self._table(record.hidden),
            "findings": dict(record.findings),
            "sentence": record.sentence,
            "decisions": list(record.decisions),
            "attempt": record.attempt,
            "verdict": None if record.verdict is None else asdict(record.verdict),
        }
        return self._once("results", protected, encoded)


class Decoder:
    """Builds projects again through the constructors that check everything.

    Raises ``KeyError``, ``TypeError``, ``ValueError``, ``IndexError`` or an ``InputError`` for
    data that no encoder wrote; whoever reads a file turns them into one error.
    """

    def __init__(self, shared: Mapping[str, Sequence[Any]], arrays: Mapping[str, bytes]) -> None:
        self._shared = shared
        self._arrays = arrays
        self._built: dict[tuple[str, int], Any] = {}

    def _get(self, kind: str, number: int) -> Any:
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ValueError(f"{number!r} is no number of {kind}")
        if (kind, number) not in self._built:
            build = getattr(self, f"_build_{kind}")
            self._built[kind, number] = build(self._shared[kind][number])
        return self._built[kind, number]

    def project(self, number: int) -> Project:
        """The project of a number."""
        built = self._get("projects", number)
        assert isinstance(built, Project)
        return built

    def _array(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = np.load(io.BytesIO(self._arrays[name]), allow_pickle=False)
        if array.dtype != np.dtype(dtype):
            raise ValueError("an array is of the wrong kind")
        array.flags.writeable = False
        return array

    def _build_domains(self, data: Any) -> Domain:
        return Domain(tuple(Variable(str(n), tuple(map(str, c))) for n, c in data))

    def _build_tables(self, data: Json) -> Table:
        domain = self._get("domains", data["domain"])
        if "counts" in data:
            return Table.dense(domain, self._array(data["counts"], np.int64))
        return Table.sparse(
            domain, self._array(data["keys"], np.int64), self._array(data["values"], np.int64)
        )

    def _build_moves(self, data: Json) -> MoveSet:
        domain = self._get("domains", data["domain"])
        starts = self._array(data["starts"], np.int64)
        cells = self._array(data["cells"], np.int64)
        if (
            starts.ndim != 1
            or starts[0] != 0
            or starts[-1] != len(cells)
            or (np.diff(starts) < 0).any()
        ):
            raise ValueError("a cycle set is torn")
        margins = tuple(tuple(map(str, m)) for m in data["margins"])
        for margin in margins:
            domain.project(margin)
        return MoveSet.of(
            domain, starts, cells, self._array(data["signs"], np.int8), margins=margins
        )

    def _values(self, data: Json) -> dict[str, object]:
        return {
            name: self._get("moves", value["moves"]) if "moves" in value else value["plain"]
            for name, value in data.items()
        }

    def _release(self, data: Json) -> Release:
        domain = self._get("domains", data["domain"])
        tables = tuple(
            PublishedTable(
                self._get("tables", one["table"]),
                None if one["suppressed"] is None else self._array(one["suppressed"], np.bool_),
            )
            for one in data["tables"]
        )
        gate = Gate.from_json(data.get("gate") or {})
        parameters = self._values(data["parameters"])
        mechanism = Mechanism(str(data["method"]), domain, parameters, gate)
        return Release(tables, mechanism, str(data["title"]))

    def _build_results(self, data: Json) -> Protected:
        release = self._release(data["release"])
        problem = Problem(
            self._get("tables", data["original"]),
            SmallCount.parse(data["at_risk"]),
            release.title,
            record_keys=self._optional_table(data["record_keys"]),
            weights=self._weights(data.get("weights")),
        )
        record = RunEvidence(
            problem=problem,
            seed=int(data["seed"]),
            seed_given=bool(data["seed_given"]),
            # Results of earlier versions were the first draw, and nobody had judged them.
            attempt=int(data.get("attempt", 1)),
            verdict=None if data.get("verdict") is None else _verdict(data["verdict"]),
            parameters=self._values(data["parameters"]),
            decisions=tuple(map(str, data["decisions"])),
            steps=None if data["steps"] is None else self._steps(data["steps"]),
            statuses=tuple(self._array(letters, "<U1") for letters in data["statuses"]),
            hidden=self._optional_table(data["hidden"]),
            findings=dict(data["findings"]),
            sentence=str(data["sentence"]),
        )
        if problem.table.domain != release.domain:
            raise ValueError("a result belongs to another table")
        return Protected(release, record)

    def _optional_table(self, number: int | None) -> Table | None:
        return None if number is None else self._get("tables", number)

    def _weights(self, data: Json | None) -> DesignWeights | None:
        # Projects of earlier versions have none.
        if data is None:
            return None
        return DesignWeights(self._get("tables", data["sums"]), int(data["low"]), int(data["high"]))

    def _steps(self, data: Json) -> Steps:
        return Steps(
            coins=self._array(data["coins"], np.int8),
            effective=self._array(data["effective"], np.int8),
            blocked=self._array(data["blocked"], np.bool_),
            # Projects of earlier versions took the cycles as listed.
            sequence=None
            if data.get("sequence") is None
            else self._array(data["sequence"], np.int64),
        )

    def _build_projects(self, data: Json) -> Project:
        table = None if data["table"] is None else self._get("tables", data["table"])
        released = None if data["released"] is None else self._release(data["released"])
        project = Project(
            title=str(data["title"]),
            source=str(data["source"]),
            edited=bool(data["edited"]),
            notes=tuple(map(str, data["notes"])),
            table=table,
            record_keys=self._optional_table(data["record_keys"]),
            weights=self._weights(data.get("weights")),
            at_risk=SmallCount.parse(data["at_risk"]),
            placement=None
            if data["placement"] is None
            else Placement(*(tuple(map(str, names)) for names in data["placement"])),
            moves=None if data["moves"] is None else self._get("moves", data["moves"]),
            cycles_from=str(data["cycles_from"]),
            method=str(data["method"]),
            parameters=MappingProxyType(self._values(data["parameters"])),
            seed=None if data["seed"] is None else int(data["seed"]),
            policy=None if data.get("policy") is None else HousePolicy.of(data["policy"]),
            protected=None
            if data["protected"] is None
            else self._get("results", data["protected"]),
            released=released,
            published=bool(data["published"]),
            priors=MappingProxyType({str(k): str(v) for k, v in data["priors"].items()}),
            plan=_plan(data["plan"]) if "plan" in data else ReleasePlan(),
            # Projects of earlier versions compared nothing.
            comparison=_comparison(data["comparison"])
            if "comparison" in data
            else ComparisonPlan(),
        )
        if project.kind != "empty" and project.placement is not None:
            project.placement.check(project.domain)
        if project.moves is not None and project.moves.domain != project.domain:
            raise ValueError("a cycle set belongs to another table")
        if project.plan.margins and not project.plan.fits(project.domain):
            raise ValueError("a release plan belongs to another table")
        return project


def _verdict(data: Json) -> StaffVerdict:
    tables = tuple(
        TableVerdict(**{**one, "names": tuple(map(str, one["names"]))}) for one in data["tables"]
    )
    staff = data["staff"]
    if staff is not None:
        worst = staff["worst"]
        if worst is not None:
            worst = WorstCell(tuple(worst["table"]), tuple(worst["cell"]), float(worst["belief"]))
        staff = Staff(**{**staff, "worst": worst})
    return StaffVerdict(**{**data, "tables": tables, "staff": staff})


def _plan(data: Json) -> ReleasePlan:
    return ReleasePlan(
        tuple(tuple(map(str, m)) for m in data["margins"]),
        int(data["threshold"]),
        str(data["criterion"]),
        str(data["bounds"]),
    )


def _comparison(data: Json) -> ComparisonPlan:
    return ComparisonPlan(
        tuple(map(str, data["runs"])),
        int(data["runs_per_method"]),
        str(data["margins"]),
        str(data["groupings"]),
        tuple(map(str, data["key"])),
        str(data["sensitive"]),
    )
