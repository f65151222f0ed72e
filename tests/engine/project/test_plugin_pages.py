"""Everything that is registered has a page, and the page says what its file says."""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.disclosure.choosing.acceptance_probability import judged_elsewhere
from tabprotect.engine.errors import Suggestion
from tabprotect.engine.project.plugin_pages import plugin_json, plugin_page, plugin_pages, plugins_named
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.registered import criteria, rules, utilities
from tabprotect.engine.sensitivity.magnitude_rules import sensitivity_rules
from tabprotect.engine.tables.domain import Domain


def test_each_has_its_page() -> None:
    pages = plugin_pages()
    registries = {
        "methods": {**methods("magnitudes"), **methods()},
        "measures": measures(),
        "sensitivity_rules": sensitivity_rules(),
        "criteria": criteria(),
        "rules": rules(),
        "utilities": utilities(),
    }
    wanted = {f"{kind}/{name}" for kind, found in registries.items() for name in found}
    assert set(pages) == wanted
    for kind, found in registries.items():
        for name, plugin in found.items():
            page = pages[f"{kind}/{name}"]
            assert page.startswith(f"# {plugin.label} (`{name}`)\n\n{plugin.help}\n")
            for parameter in getattr(plugin, "parameters", ()):
                assert f"- `{parameter.name}`: {parameter.help}" in page
            for number, line in enumerate(page.splitlines()):
                assert not line.startswith("# ") or number == 0


def test_a_method_of_both_measures_stands_once_with_what_it_does_to_either() -> None:
    both = [name for name in methods() if name in methods("magnitudes")]
    assert {"cell_key", "suppression"} <= set(both)
    for name in both:
        found, magnitudes = plugin_json(plugins_named(name)[0]), methods("magnitudes")[name]
        assert found["measures"] == ["counts", "magnitudes"] and found["label"] == magnitudes.label
        for parameter in magnitudes.parameters:
            assert f"- `{parameter.name}`: {parameter.help}" in plugin_page(plugins_named(name)[0])
    assert plugin_json(plugins_named("multiplicative_noise")[0])["measures"] == ["magnitudes"]


def test_pages_say_how_large_a_table_is_judged_whole_as_it_was_measured() -> None:
    text = (Path(__file__).parents[3] / "resources/docs/site/limits.md").read_text(encoding="utf-8")
    rows = [
        [part.strip() for part in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    sizes = [int(head.split()[0].replace(",", "")) for head in rows[0][1:]]
    whole = {label: ["part" not in cell for cell in cells] for label, *cells in rows[2:]}
    measured = {label: sizes[[*found, False].index(False) - 1] for label, found in whole.items() if found[0]}
    stated = {one.label: one.judged_up_to for one in methods().values() if one.judged_up_to}
    assert stated == measured
    for method in methods().values():
        page = plugin_page(method)
        said = f"measured up to {method.judged_up_to or 0:,} cells" in page
        assert said == (method.judged_up_to is not None)
        assert said != ("depends on the parameters" in page)


def test_what_is_not_judged_says_the_nearest_that_is() -> None:
    adjusting, cycles = methods()["controlled_tabular_adjustment"], methods()["cyclic_perturbation"]
    assert "leaves out: `suppression` is judged whole up to 10,000 cells." in plugin_page(adjusting)
    assert "leaves out: merge categories" in plugin_page(cycles)
    large, larger = Domain.of_shape((100, 100)), Domain.of_shape((1000, 1000))
    assert judged_elsewhere(adjusting, large, ()).endswith("up to 10,000 cells: --method suppression")
    # What was tried on the table did not pass: a smaller one is what is left.
    assert judged_elsewhere(adjusting, Domain.of_shape((40, 40)), ()).startswith("merge categories")
    assert judged_elsewhere(cycles, larger, ()).endswith("up to 99,856 cells")
    assert judged_elsewhere(adjusting, large, (Suggestion("", {"method": "cell_key"}),)) == ""
    assert judged_elsewhere(cycles, large, ()) == ""
