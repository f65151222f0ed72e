"""A script as somebody writes it who has the library: every public name, with its types.

mypy reads it strictly with the product; ``test_users_script.py`` runs it. A line that is wrong on
purpose says so: if its mistake were no mistake, the comment would be one.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import tabprotect as tp


def opened(folder: Path) -> tp.Table:
    """Tables come from files, examples, frames and records."""
    names: tuple[str, ...] = tp.examples()
    assert "example:duncan-roehrig-4x4" in names
    records = folder / "people.csv"
    records.write_text("region,sex\nnorth,f\nnorth,m\nsouth,f\nsouth,f\n", "utf-8")
    people: tp.Table = tp.tabulate(records, by=["region", "sex"])
    total: int = people.total
    assert total == 4
    tp.convert(people, folder / "people.px")
    again: tp.Table = tp.read_table(folder / "people.px")
    assert again.total == total
    summed(folder)
    with suppress(tp.InputError):
        tp.read_table(records, bands=3)  # type: ignore[call-arg]
    return tp.read_table("example:duncan-roehrig-4x4")


def summed(folder: Path) -> tp.MagnitudeTable:
    """Sums come with their contributors, and with rules for them."""
    firms = {"nace": ["24", "24", "25"], "ent": ["a", "b", "a"], "turnover": [480, 20, 7]}
    table: tp.MagnitudeTable = tp.tabulate(firms, by=["nace"], measure="turnover", holding="ent")
    table.write(folder / "firms.parquet")
    assert tp.Table.from_magnitudes(table).total == 3
    again = tp.read_table(folder / "firms.parquet")
    assert isinstance(again, tp.MagnitudeTable)
    assert tp.rules(again, "p=10", "n=3")["unsafe"] == 3
    found: tp.Protection = tp.protect(table, "multiplicative_noise", seed=10**40)
    assert found.figures["broken"] == 0
    found.publish(folder / "firms.zip")
    return table


def protected(table: tp.Table, folder: Path) -> tp.Protection:
    """A method's own parameters are known by name and type."""
    methods = tp.methods()
    page: str = tp.describe(methods[0])
    with suppress(tp.ParameterError):
        tp.protect(table, "cellkey")  # type: ignore[call-overload]
    with suppress(tp.ParameterError):
        tp.protect(table, "cell_key", E=5)  # type: ignore[call-overload]
    with suppress(tp.ParameterError):
        tp.protect(table, "cell_key", D="five")  # type: ignore[call-overload]
    assert page
    protection = tp.protect(table, "cyclic_perturbation", alpha=0.25, seed=7)
    keyed: tp.Protection = tp.protect(table, "cell_key", D=5, V=3.0, seed=7, accept="a try")
    sentence: str = keyed.sentence
    assert sentence.endswith(".")
    published = protection.publish(
        folder / "release.zip",
        dossier=folder / "CONFIDENTIAL.zip",
        prepared_by="Ada",
        approved_by="Ben",
        again="a try",
    )
    return published


def several(folder: Path) -> tp.Protection:
    """Several tables of the same records are one release."""
    czech = tp.read_table("example:czech-autoworkers")
    tables = {"one": "A*B", "two": "B*C"}
    found: tp.Protection = tp.protect_set(czech, tables, "random_rounding", seed=1)
    margins = {"A": czech.margin("A"), "B": czech.margin("B")}
    each: tp.ProtectedTables = tp.protect_all(margins, workers=1)
    assert {*each.protections, *each.errors} == {"A", "B"}
    assert len(tp.protect_set(margins, method="random_rounding", base=5).release.tables) == 3
    with suppress(tp.ParameterError):
        tp.protect_set(czech, tables, "random_rounding", bse=5)  # type: ignore[call-overload]
    with suppress(tp.ParameterError):
        tp.protect_all(margins, "random_rounding", base="five", workers=1)  # type: ignore[call-overload]
    return found


def kept(folder: Path) -> str:
    """The house has a register, and a key that can be changed."""
    made = tp.new_register(folder / "releases.sqlite")
    marked: tuple[int, ...] = tuple(tp.rotate_key(made.name).marked)
    assert not marked
    return made.mark


def read(folder: Path) -> None:
    """What a reader does with a release."""
    bundle = folder / "release.zip"
    tp.verify(bundle)
    release = tp.open_release(bundle)
    belief: tp.Belief = tp.infer(bundle, prior="positive")
    chances: dict[int, float] = belief.distribution(v="v1", w="w2")
    assert abs(sum(chances.values()) - 1.0) < 1e-9
    sums: tp.SumBelief = tp.infer(release, of="v")
    assert sums.distribution(v="v1")
    published = folder / "published.csv"
    tp.export(bundle, published, format="csv")
    attacked: tp.Attack = tp.attack(published, method="unknown:sd=1")
    known: int = attacked.known
    looked_at: str = tp.page(release, folder / "page.html")
    assert looked_at.startswith("<!doctype html>")
    assert known <= len(attacked.cells)


def weighed(table: tp.Table) -> None:
    """What is chosen before anything leaves."""
    found: tp.Comparison = tp.compare(table, ["random_rounding base=3"], runs=2, seed=1, workers=1)
    assert found.configurations
    space = tp.QuerySpace(table, threshold=3)
    allowed: bool = space.allowed("v")
    assert isinstance(allowed, bool)
    cycles: tp.Cycles = tp.design("v + w", table=table)
    rank: int | None = cycles.check().rank
    assert rank == 9


def refused(table: tp.Table) -> tuple[str, ...]:
    """Every error is one of a tree, with what to do about it."""
    said: list[str] = []
    for kind in (
        *(tp.InputError, tp.ParameterError, tp.InfeasibleError, tp.RefusedError),
        *(tp.BundleError, tp.Interrupted),
    ):
        assert issubclass(kind, tp.TabprotectError)
    try:
        tp.protect(table, "cell_key", D=-5)
    except tp.ParameterError as error:
        said.append(str(error))
    return (tp.__version__, *said)
