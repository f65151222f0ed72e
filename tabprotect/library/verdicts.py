"""Verdicts as scripts and notebooks show them: a row for each judged table and reader."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.release.verdict_figures import TableVerdict, Verdict
from tabprotect.library.shown.frames import Framed, made, usual_kind


class VerdictRows(Framed):
    """The rows of a verdict: what each reader knows of each table, never the true figures."""

    if TYPE_CHECKING:
        tables: tuple[TableVerdict, ...]

    def to_frame(self, kind: str | None = None) -> Any:
        """A row for each judged table and reader, with what the reader expects, knows and is certain of.

        Parameters
        ----------
        kind
            ``pandas``, ``polars``, ``arrow``, ``duckdb`` or ``dict``; by default the first that is
            installed.
        """
        columns: dict[str, list[object]] = {
            "reader": [one.who for one in self.tables],
            "table": [str(one.label) for one in self.tables],
            "cells": [one.cells for one in self.tables],
            "at_risk": [one.at_risk for one in self.tables],
            "known": [one.known for one in self.tables],
            "certain": [one.certain for one in self.tables],
            "mean_belief": [one.mean_belief for one in self.tables],
            "way": [one.way for one in self.tables],
            "left_out": [", ".join(one.left_out) for one in self.tables],
        }
        return made({name: np.array(of, dtype=object) for name, of in columns.items()}, kind or usual_kind())

    def __repr__(self) -> str:
        readers = [one for one in self.tables if one.who == "user"]
        known, small = sum(t.known for t in readers), sum(t.at_risk for t in readers)
        return f"Verdict({known} known of {small:.1f} small counts)"


class ReadersVerdict(VerdictRows, Verdict):
    """The verdict on what readers learn, as a bundle alone tells it."""

    @classmethod
    def of(cls, verdict: Verdict) -> ReadersVerdict:
        """The same, with rows."""
        return cls(**{one.name: getattr(verdict, one.name) for one in fields(Verdict)})


class AgencyVerdict(VerdictRows, StaffVerdict):
    """The same with the figures of staff, which no row shows. CONFIDENTIAL."""

    @classmethod
    def of(cls, verdict: StaffVerdict) -> AgencyVerdict:
        """The same, with rows."""
        return cls(**{one.name: getattr(verdict, one.name) for one in fields(StaffVerdict)})
