"""The levels of categorical columns in a Parquet file, by pyarrow: DuckDB gives their texts alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from tabprotect.engine.foreign.wire import Buffer
from tabprotect.engine.foreign.worker import Answer


def levels(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """The levels of each categorical column that holds texts, in their order: used or not.

    Columns are categorical by the schema of Arrow, or by the metadata of pandas, as fastparquet writes them:
    their dictionaries hold every level.
    """
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    def of_texts(kind: object) -> bool:
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    with pq.ParquetFile(str(of["path"])) as file:
        named = _named(file.schema_arrow.metadata or {})
        plain = [c.name for c in file.schema_arrow if c.name in named and of_texts(c.type)]
    with pq.ParquetFile(str(of["path"]), read_dictionary=plain) as file:
        found = []
        for column in file.schema_arrow:
            if not pa.types.is_dictionary(column.type) or not of_texts(column.type.value_type):
                continue
            texts: dict[str, None] = {}
            for group in range(file.num_row_groups):
                for chunk in file.read_row_group(group, [column.name]).column(0).chunks:
                    texts.update(dict.fromkeys(chunk.dictionary.to_pylist()))
            found.append([column.name, [text for text in texts if text is not None]])
        return found, ()


def _named(metadata: Mapping[bytes, bytes]) -> set[str]:
    """The columns that the metadata of pandas calls categorical."""
    try:
        said = json.loads(metadata.get(b"pandas", b"{}"))
        return {str(one["name"]) for one in said["columns"] if one["pandas_type"] == "categorical"}
    except (ValueError, KeyError, TypeError):
        return set()


def _load_pyarrow(of: Mapping[str, object]) -> None:
    import_module("pyarrow.parquet")


levels.ready = _load_pyarrow  # type: ignore[attr-defined]
