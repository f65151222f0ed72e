"""Plug-ins by folder and by entry point: each declares itself, in one file."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from tabprotect.engine.errors import ParameterError
from tabprotect.languages.messages import message, prose
from tabprotect.languages.nearest import closest_match

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Named(Protocol):
    """The attributes that all plug-ins have."""

    @property
    def name(self) -> str: ...


class Documented:
    """A plug-in whose help page is the docstring of its module."""

    @property
    def help(self) -> str:
        """The help page (plain text)."""
        return prose((sys.modules[type(self).__module__].__doc__ or "").strip())


T = TypeVar("T", bound=Named)


class Registry(Mapping[str, T], Generic[T]):
    """Every object of a class that is offered as a plug-in.

    The modules of some packages offer theirs as ``PLUGIN``, or several as ``PLUGINS``; this works
    from source, from a wheel and in a frozen program (whose importer lists its modules through
    ``pkgutil`` too; the packaging smoke test proves it). Other installed packages offer theirs as
    entry points: an object, its class, or a module with ``PLUGIN``.

    A foreign plug-in that cannot be loaded stops nothing: it is listed in ``broken`` with the
    reason, and asking for it raises that.

    Parameters
    ----------
    noun, plural
        The noun for one plug-in and for several; the group of the entry points is ``tabprotect.``
        and the plural.
    order
        The sort key; their names by default.
    where
        Which of them belong to this registry: modules may offer others besides.
    """

    def __init__(
        self,
        packages: ModuleType | Sequence[ModuleType],
        kind: type[T],
        noun: str,
        plural: str = "",
        order: Callable[[T], Any] = lambda plugin: plugin.name,
        where: Callable[[T], bool] = lambda plugin: True,
    ) -> None:
        self._noun, self._kind, self._order, self._where = noun, kind, order, where
        self._packages = (packages,) if isinstance(packages, ModuleType) else tuple(packages)
        self._group = f"tabprotect.{plural or noun + 's'}"
        self._broken: dict[str, str] = {}

    @property
    def broken(self) -> Mapping[str, str]:
        """Foreign plug-ins that cannot be loaded: name -> reason."""
        list(self)  # They are found when all are loaded.
        return self._broken

    @property
    def names(self) -> list[str]:
        """The names, without loading anything."""
        ours = [name for package in self._packages for name in own_names(package)]
        return sorted(
            {*(self._found if self.loaded else ()), *ours, *(point.name for point in _installed(self._group))}
        )

    @property
    def ours(self) -> list[T]:
        """Our own, without a look at other packages."""
        names = [f"{p.__name__}.{name}" for p in self._packages for name in own_names(p)]
        return [plugin for name in names for plugin in self._own(name).values()]

    @property
    def loaded(self) -> bool:
        """Return True if all are imported already: to list them costs nothing then."""
        return "_found" in vars(self)

    @cached_property
    def _found(self) -> dict[str, T]:
        found: dict[str, T] = {}
        for package in self._packages:
            for name in own_names(package):
                found |= self._own(f"{package.__name__}.{name}")
        for point in _installed(self._group):
            try:
                found |= self._loaded(point, found)
            except Exception as error:
                # Foreign code may fail in any way.
                self._broken[point.name] = message("{name}: {error}", type(error).__name__, error)
        return self._sorted(found)

    def _own(self, module: str) -> dict[str, T]:
        out: dict[str, T] = {}
        for plugin in _offered(importlib.import_module(module)):
            if not isinstance(plugin, self._kind):
                raise TypeError(f"{module} offers what is not a {self._kind.__name__}")
            if self._where(plugin):
                out[_key(plugin)] = plugin
        return out

    def _alone(self, name: str) -> T | None:
        """One of our own by the module named after it, without importing all the others."""
        if not self.loaded and name.isidentifier():
            for package in self._packages:
                module = f"{package.__name__}.{name}"
                if importlib.util.find_spec(module) is not None:
                    return self._own(module).get(name)
        return None

    def _sorted(self, found: Mapping[str, T]) -> dict[str, T]:
        return {_key(plugin): plugin for plugin in sorted(found.values(), key=self._order)}

    def _loaded(self, point: EntryPoint, found: Mapping[str, T]) -> dict[str, T]:
        out: dict[str, T] = {}
        for offered in _offered(point.load()):
            plugin = offered() if isinstance(offered, type) else offered
            if not isinstance(plugin, self._kind):
                raise TypeError(f"it is not a {self._kind.__name__}")
            if not self._where(plugin):
                continue
            if _key(plugin) in found:
                raise ValueError(message("there is a {noun} {name} already", self._noun, repr(plugin.name)))
            out[_key(plugin)] = plugin
        return out

    @contextmanager
    def including(self, plugin: T) -> Iterator[None]:
        """Add one more plug-in, or replace one by name: to check it before it is installed."""
        before = self._found
        self._found = self._sorted(before | {_key(plugin): plugin})
        try:
            yield
        finally:
            self._found = before

    def __getitem__(self, name: str) -> T:
        alone = self._alone(name)
        if alone is not None:
            return alone
        if name in self._found:
            return self._found[name]
        if name in self._broken:
            reason = self._broken[name]
            raise ParameterError(
                {self._noun: message("the plug-in {name} cannot be loaded: {reason}", repr(name), reason)},
                hint=message("ask those it comes from, or uninstall its package"),
            )
        known = ", ".join(self._found)
        raise ParameterError(
            {self._noun: message("unknown: {name}; there are {known}", repr(name), known)},
            hint=closest_match(name, self._found),
        )

    def __contains__(self, name: object) -> bool:
        return (isinstance(name, str) and self._alone(name) is not None) or name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def own_names(package: ModuleType) -> list[str]:
    """The names of our own plug-ins, those of the modules, without loading any."""
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


@cache
def _every() -> Sequence[EntryPoint]:
    """The entry points of all packages, read once: of many that takes a tenth of a second."""
    # Late: one of our own plug-ins, asked for by its name, needs none of them.
    from importlib.metadata import entry_points

    found = entry_points()
    return [point for group in found.groups for point in found.select(group=group)]


def _installed(group: str) -> Iterator[EntryPoint]:
    return (point for point in _every() if point.group == group)


def _key(plugin: Named) -> str:
    # Names for people may have hyphens, as those of formats do.
    return plugin.name.replace("-", "_")


def _offered(source: object) -> tuple[object, ...]:
    if not isinstance(source, ModuleType):
        return (source,)
    several = getattr(source, "PLUGINS", None)
    return (source.PLUGIN,) if several is None else tuple(several)
