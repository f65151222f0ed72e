"""The marks of published counts that every writer uses: those of SDMX.

A suppressed count never stands as an empty cell without its mark. Why it is suppressed (itself at
risk, or only to protect another) is not public, so that one mark serves both.
"""

from __future__ import annotations

CONF_STATUS = "CONF_STATUS"
OBS_STATUS = "OBS_STATUS"

FREE = "F"
"""CONF_STATUS: free for publication."""
CONFIDENTIAL = "C"
"""CONF_STATUS: confidential statistical information."""
NOT_FOR_PUBLICATION = "N"
"""CONF_STATUS: true counts, for the house alone."""

NORMAL = "A"
"""OBS_STATUS of a count that is there."""
SUPPRESSED = "Q"
"""OBS_STATUS: missing value; suppressed."""

SHOWN = ".."
"""What people see in place of a suppressed count."""

SAFE, UNSAFE, PROTECTED, SECONDARY, EMPTY = "S", "U", "P", "M", "E"
"""As tau-ARGUS marks cells in its files."""

STATUSES = {
    SAFE: "safe",
    UNSAFE: "unsafe",
    PROTECTED: "must be published",
    SECONDARY: "hidden to protect others",
    EMPTY: "empty",
}
