"""The library that ``import tabprotect`` shows."""

import copyreg
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


def read_only(held: Mapping[Any, Any]) -> MappingProxyType[Any, Any]:
    """A mapping that cannot be written to."""
    return MappingProxyType(dict(held))


# Frozen values hold such mappings, which Python by itself neither pickles nor copies.
copyreg.pickle(MappingProxyType, lambda held: (read_only, (dict(held),)))
