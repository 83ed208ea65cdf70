"""What the browser pages import: results come from the public functions, never from the simulator itself."""

from __future__ import annotations

import pytest

from raidsim.tests.house import API, imports, sources

DESCRIBES = ("scenarios.description", "scenarios.documents", "scenarios.workers.process_setup")
"""What a scenario is, as the form makes it; none of these simulates."""
CATALOGUES = (
    *("model.controller.catalogue", "model.core.errors", "model.crypt.ciphers", "model.disk.spec", "model.files"),
    *("model.drives.catalogue", "model.kernels", "model.layouts", "model.links.catalogue", "model.loads.pattern"),
    *("model.network.protocols", "model.solid_state.spec"),
)
"""What the form offers."""
SERVED = ("serve.ask", "serve.counts", "serve.recent")
"""What asks a served array for its figures through its control socket, and the form of the answer."""


def too_deep(module: str) -> bool:
    """Whether a page may not import a module."""
    return module != API and not module.startswith(("api.", "web.", *DESCRIBES, *CATALOGUES, *SERVED))


def test_results_come_from_the_public_functions() -> None:
    """Protects the pages from a second way to a number: they simulate, compare and advise through `raidsim.api`."""
    modules = sources()
    pages = {name: path for name, path in modules.items() if name.startswith("web.")}
    deep = {
        f"{name} imports {module}"
        for name, path in pages.items()
        for _, module in imports(name, path, modules)
        if too_deep(module)
    }
    assert pages
    assert deep == set()


@pytest.mark.parametrize(
    "module", ["scenarios.running.simulate", "calibration.fit", "model.raid.parity", "scenarios", "serve.array"]
)
def test_the_simulator_itself_is_too_deep(module: str) -> None:
    """Protects the test above from passing everything."""
    assert too_deep(module)
