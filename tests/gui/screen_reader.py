"""What a screen reader knows of the window, and can do there, by roles and names alone.

Run by Debian's Python, which has ``pyatspi``: takes one JSON list a line (an order and what it
needs) and answers each with ``>`` and one line of JSON. It knows nothing of the program.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import pyatspi
from gi.repository import Atspi, GLib

WAIT = 300.0
"""Seconds until something is there, on the slowest machine."""

STEP = 0.25

USED = ("push button", "check box", "radio button", "text", "combo box", "table", "list", "slider")
"""Roles of what people use."""

CLOSED = (pyatspi.ROLE_TABLE, pyatspi.ROLE_TREE, pyatspi.ROLE_LIST, pyatspi.ROLE_IMAGE)
"""Roles of what is asked for by place and not gone through."""

T = TypeVar("T")


def patient(look: Callable[[], T]) -> T:
    """What is found once it is there; what goes while it is looked at is looked for again."""
    end = time.monotonic() + WAIT
    while True:
        try:
            return look()
        except (LookupError, GLib.GError):
            if time.monotonic() > end:
                raise
            time.sleep(STEP)


def role_of(found: Any) -> str:
    """The name of a role as AT-SPI 2.46 has it; from 2.54 on a push button is a button."""
    name: str = found.getRoleName()
    return "push button" if name == "button" else name


def showing(found: Any) -> bool:
    states = found.getState()
    return bool(states.contains(pyatspi.STATE_SHOWING) and states.contains(pyatspi.STATE_ENABLED))


def everything() -> Iterator[Any]:
    """All that shows, the window in front first and each from above."""
    shown = [w for app in pyatspi.Registry.getDesktop(0) if app for w in app if w]
    for window in reversed(shown):
        below = [window]
        while below:
            here = below.pop()
            yield here
            if here.getRole() not in CLOSED:
                below += [c for c in here if c is not None and showing(c)][::-1]


def find(role: str, name: str) -> Any:
    """The one that shows; a name that ends in an ellipsis is a beginning."""
    for found in everything():
        if role_of(found) == role and matches(found.name, name):
            return found
    raise LookupError(f"no {role} {name!r} in {said()}")


def matches(name: str, wanted: str) -> bool:
    return name.startswith(wanted[:-1]) if wanted.endswith("\u2026") else name == wanted


def said() -> list[list[str]]:
    """Role, name and description of everything that shows and has a name."""
    return [[role_of(f), f.name, f.description] for f in everything() if f.name]


def nameless() -> list[str]:
    """Roles of what can be used and has no name, and where it stands."""
    return [
        f"{role_of(found)} in {role_of(found.parent)} {found.parent.name!r}"
        for found in everything()
        if role_of(found) in USED and not found.name
    ]


def press(role: str, name: str) -> None:
    """Do what a press does."""
    action = patient(lambda: find(role, name).queryAction())
    names = [action.getName(n) for n in range(action.nActions)]
    action.doAction(names.index("Press"))


def description(role: str, name: str) -> str:
    """What is said of it, as soon as anything is."""
    found = str(find(role, name).description)
    if not found:
        raise LookupError(f"{role} {name!r} says nothing")
    return found


def write(name: str, text: str) -> None:
    """Put a text into a field."""
    find("text", name).queryEditableText().setTextContents(text)


def cell(name: str, row: int, column: int) -> str:
    """What a cell of a table says."""
    return str(find("table", name).queryTable().getAccessibleAt(row, column).name)


ORDERS: dict[str, Callable[..., object]] = {
    "find": lambda role, name: find(role, name).name,
    "said": said,
    "nameless": nameless,
    "description": description,
    "write": write,
    "cell": cell,
}


def main() -> None:
    # Otherwise a window that is at work for a second counts as gone.
    Atspi.set_timeout(int(WAIT * 1000), int(WAIT * 1000))
    for line in sys.stdin:
        order, *given = json.loads(line)
        try:
            if order == "press":
                answer: object = press(*given)
            else:
                answer = patient(partial(ORDERS[order], *given))
        except (LookupError, GLib.GError) as error:
            answer = {"error": str(error)}
        print(">", json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
