"""The window, started from a shell, where Qt is installed."""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.engine.errors import TabprotectError
from tabprotect.languages.messages import message

USAGE = 2


class UsageFault(TabprotectError):  # noqa: N818
    """A usage error in the form of all others, for ``--json``."""

    exit_code = USAGE
    kind = "usage"


def show_window(arguments: list[str], reading: Mapping[str, object] | None = None) -> int:
    """Open the window, on a file that ``arguments`` may name, read as ``reading`` says."""
    try:
        # The one lazy import: the command line runs where no Qt is installed.
        from tabprotect.gui.frame.app import main as window
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("PySide6", "shiboken6", "pyqtgraph"):
            hint = message("install it with: pip install 'tabprotect[gui]'")
            if not isinstance(error, ModuleNotFoundError):
                hint = message("a system library of Qt is missing: see the README's apt packages")
            raise UsageFault(message("the window cannot be loaded: {error}", error), hint=hint) from None
        raise
    return window(arguments, reading)
