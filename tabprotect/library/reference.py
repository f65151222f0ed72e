"""What there is: methods, and what each does."""

from __future__ import annotations

from tabprotect.engine.protection.descriptions.method_page import method_page
from tabprotect.engine.protection.registered import methods as registered


def methods() -> tuple[str, ...]:
    """Names of the protection methods.

    Examples
    --------
    >>> import tabprotect as tp
    >>> "cyclic_perturbation" in tp.methods()
    True
    """
    return tuple(registered())


def describe(method: str) -> str:
    """The page of a method as Markdown: what it does, its parameters, promises and needs.

    Raises
    ------
    ParameterError
        For an unknown method, naming those there are.
    """
    return method_page(registered()[method])
