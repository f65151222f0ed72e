"""Everything that is registered has a page, and the page says what its file says."""

from __future__ import annotations

from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.project.plugin_pages import plugin_pages
from tabprotect.engine.protection.registered import magnitude_methods, methods
from tabprotect.engine.query_space.registered import criteria, rules, utilities


def test_each_has_its_page() -> None:
    pages = plugin_pages()
    registries = {
        "methods": methods(),
        "magnitude_methods": magnitude_methods(),
        "measures": measures(),
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
