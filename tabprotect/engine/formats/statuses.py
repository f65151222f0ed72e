"""The statuses of counts, in one vocabulary for every reader and writer: SDMX's and tau-ARGUS'.

A suppressed count is never an empty cell without a mark. The reason for suppression (at risk
itself, or only to protect another) is not public, so that one mark serves both. Sources: SDMX code
lists CL_CONF_STATUS 1.3 and CL_OBS_STATUS 2.2; tau-ARGUS 4.2, User's manual.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tabprotect.languages.messages import joined, message

COUNT = "count"
"""The name of the count column wherever a table is written in long form."""

CONF_STATUS = "CONF_STATUS"
OBS_STATUS = "OBS_STATUS"
COLUMNS = frozenset({CONF_STATUS, OBS_STATUS, "OBS_FLAG"})
"""Columns that qualify the count beside them, and are no variables."""

FLAGS = frozenset({"flag", "flags", "obs_flag"})
"""Names of a last column that qualifies the counts before it."""

FREE = "F"
"""CONF_STATUS: free for publication."""
CONFIDENTIAL = "C"
"""CONF_STATUS: confidential statistical information."""
NOT_FOR_PUBLICATION = "N"
"""CONF_STATUS: not for publication; true counts, for the house alone."""

NORMAL = "A"
"""OBS_STATUS: normal value."""
SUPPRESSED = "Q"
"""OBS_STATUS: missing value; suppressed."""

SHOWN = ".."
"""The mark that people see in place of a suppressed count."""
UNPUBLISHED = "x"
"""The mark of a suppressed count in tau-ARGUS files."""

SAFE, UNSAFE, PROTECTED, SECONDARY, EMPTY = "S", "U", "P", "M", "E"
"""The status letters of tau-ARGUS."""

TAU = MappingProxyType(
    {
        SAFE: "safe",
        UNSAFE: message("unsafe by itself"),
        PROTECTED: message("protected, must be published"),
        SECONDARY: message("hidden to protect others"),
        EMPTY: "empty",
        "Z": "empty",
    }
)
_HIDDEN = {
    CONFIDENTIAL: "confidential",
    "A": message("confidential: small count"),
    "O": message("confidential: one dominates"),
    "T": message("confidential: two dominate"),
    "G": message("confidential: one or two dominate"),
    "M": message("confidential: dominance"),
    "D": message("hidden to protect others"),
    "S": message("hidden to protect others"),
    NOT_FOR_PUBLICATION: message("not for publication"),
    "E": message("under embargo"),
    "X": message("military secret"),
}
CONF = MappingProxyType({FREE: "free", **_HIDDEN})
OBS = MappingProxyType(
    {
        NORMAL: "normal",
        SUPPRESSED: "suppressed",
        "B": message("break in the series"),
        "D": message("definition differs"),
        "E": "estimated",
        "F": "forecast",
        "I": "imputed",
        "H": message("missing: holiday or weekend"),
        "K": message("in another category"),
        "L": message("missing: not collected"),
        "M": message("missing: cannot exist"),
        "O": "missing",
        "P": "provisional",
        "S": "strike",
        "U": message("low reliability"),
        "V": "unvalidated",
    }
)
VOCABULARIES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {CONF_STATUS: CONF, OBS_STATUS: OBS, "status": TAU}
)


def withheld(statuses: Mapping[str, str]) -> str:
    """The status that marks an observation without a value as suppressed, in words; else empty.

    Parameters
    ----------
    statuses
        Column or attribute -> its code, in capitals or not.
    """
    said = {name.upper(): code.strip().upper() for name, code in statuses.items()}
    conf, obs = (said.get(name, "") for name in (CONF_STATUS, OBS_STATUS))
    if conf in _HIDDEN:
        return message("{CONF_STATUS} {conf}: {HIDDEN}", CONF_STATUS, conf, _HIDDEN[conf])
    for name, code in statuses.items():
        # Eurostat's flag c means confidential.
        if name.casefold() in FLAGS and "c" in code.split():
            return message("{name} c: confidential", name)
    return message("{OBS_STATUS} {obs}: {OBS}", OBS_STATUS, obs, OBS[obs]) if obs == SUPPRESSED else ""


def statuses_told(name: str, codes: Iterable[str]) -> str:
    """The statuses counted, for people: ``CONF_STATUS: 5 C (confidential), 4 F (free)``."""
    found = Counter(code.strip().upper() for code in codes)
    known = VOCABULARIES[name]
    parts = [
        message("{n:,} {value} ({c})", n, c or "blank", known.get(c, "unknown"))
        for c, n in sorted(found.items())
    ]
    return message("{name}: {parts}", name, joined(parts, ", "))
