"""PyInstaller, which looks only where its analysis of bytecode can find something.

``python packaging/pyinstaller_quickly.py ...`` takes what ``python -m PyInstaller ...`` takes, and
builds the same in two thirds of the processor time.
"""

from __future__ import annotations

import gc
import opcode
from collections.abc import Iterator
from types import CodeType
from typing import Any

from PyInstaller.__main__ import run
from PyInstaller.lib.modulegraph import util

FOUND = frozenset(
    opcode.opmap[name]
    for name in ("IMPORT_NAME", "STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL")
)
"""What the analysis looks for: imports, and names that a module gets or loses."""

every_instruction = util.iterate_instructions


def instructions(code: CodeType) -> Iterator[Any]:
    """The instructions of every block of code that has one that is looked for.

    Taking apart all others, most functions, takes as long as the rest of the analysis.
    """
    # Operations stand at even places. What else may stand there is looked at for nothing.
    if not FOUND.isdisjoint(code.co_code[::2]):
        yield from every_instruction(code.replace(co_consts=_without_blocks(code)))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from instructions(constant)


def _without_blocks(code: CodeType) -> tuple[object, ...]:
    """The constants, with nothing in the place of functions and classes: they come by themselves."""
    return tuple(None if isinstance(one, CodeType) else one for one in code.co_consts)


if __name__ == "__main__":
    # Syntax trees are millions of objects, and none of them is garbage before it is freed.
    gc.disable()
    util.iterate_instructions = instructions
    run()
