"""What the command line and the page import: the public API, what they share with nobody, and `serve` next to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from raidsim.tests.house import API, imports, sources

FACES = ("cli", "web")
START = {"compiled.loader", "model.core.errors", "scenarios.workers.process_setup"}
"""What a process has to set before it imports anything else; only the first module of a face and its workers do."""
DESCRIBES = ("scenarios.description", "scenarios.documents")
"""What a scenario is, as the page's form makes it; none of these simulates."""
CATALOGUES = (
    *("model.controller.catalogue", "model.crypt.ciphers", "model.disk.spec", "model.drives.catalogue"),
    *("model.kernels", "model.layouts", "model.links.catalogue", "model.loads.pattern"),
    *("model.network.protocols", "model.solid_state.spec"),
)
"""What the page's form offers. The list may only become shorter: a new need belongs into the API."""
STARTS = ("cli.main", "web.work.runs", "web.form.choices")


def allowed(name: str, module: str) -> bool:
    """Whether a module of a face may import another module."""
    face = name.partition(".")[0]
    if module == API or module.startswith(("api.", f"{face}.", "serve.")):
        return True
    if name in STARTS and module in START:
        return True
    return face == "web" and module.startswith((*DESCRIBES, *CATALOGUES))


def imported() -> Iterator[tuple[str, str]]:
    """(module of a face, module that it imports)."""
    modules = sources()
    for name, path in modules.items():
        if name.startswith(FACES):
            yield from ((name, module) for _, module in imports(name, path, modules))


def test_faces_import_the_api() -> None:
    """Protects from a second way to a number: a face asks the API, and shows the answer."""
    deep = {f"{name} imports {module}" for name, module in imported() if not allowed(name, module)}
    assert deep == set()


def test_every_exception_is_needed() -> None:
    """Protects the exceptions from staying when nothing needs them any more."""
    found = list(imported())
    for prefix in (*DESCRIBES, *CATALOGUES):
        assert any(name.startswith("web.") and module.startswith(prefix) for name, module in found), prefix
    for start in STARTS:
        assert any(name == start and module in START for name, module in found), start


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("web.work.tasks", "scenarios.running.simulate"),
        ("web.views.files", "calibration.fit"),
        ("cli.commands.run", "model.raid.parity"),
        ("cli.commands.compare", "scenarios"),
        ("cli.commands.run", "compiled.loader"),
        ("cli.commands.drives", "model.drives.catalogue"),
        ("cli.commands.run", "web.figures"),
    ],
)
def test_what_is_below_the_api_is_too_deep(name: str, module: str) -> None:
    """Protects the tests above from passing everything."""
    assert not allowed(name, module)
