"""Plug-ins by folder: one file = one method, measure, criterion or rule."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Generic, TypeVar

from tabprotect.engine.errors import ParameterError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Every object of a class that the modules of one package offer as ``PLUGIN``.

    Works from source, from a wheel and in a frozen program (whose importer lists its modules
    through ``pkgutil`` too); the packaging smoke test proves the last.
    """

    def __init__(self, package: ModuleType, kind: type[T], noun: str) -> None:
        self._noun = noun
        found: dict[str, T] = {}
        for module in pkgutil.iter_modules(package.__path__):
            plugin = importlib.import_module(f"{package.__name__}.{module.name}").PLUGIN
            if not isinstance(plugin, kind):
                raise TypeError(f"{module.name}.PLUGIN is not a {kind.__name__}")
            found[module.name] = plugin
        self._found = dict(sorted(found.items()))

    def __getitem__(self, name: str) -> T:
        try:
            return self._found[name]
        except KeyError:
            known = ", ".join(self._found)
            raise ParameterError({self._noun: f"unknown: {name!r}; there are {known}"}) from None

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)
