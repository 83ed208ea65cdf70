"""The hash that tells results of one model from those of another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from raidsim.scenarios.sweeps import model_version
from raidsim.scenarios.sweeps.model_version import WITHOUT, model_fingerprint
from raidsim.tests.house import folder_of, imports, sources

SETS_UP_WORKERS = "scenarios/workers"
"""A simulation asks it for room for nested calls, which changes no result."""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with a file of the model and one that draws pictures."""
    for name in ("model/core/engine.py", "model/drives/catalogue/a.yaml", f"{WITHOUT[0]}/style.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one\n")
    monkeypatch.setattr(model_version, "ROOT", tmp_path)
    model_fingerprint.cache_clear()
    yield tmp_path
    model_fingerprint.cache_clear()


@pytest.mark.parametrize("name", ["model/core/engine.py", "model/drives/catalogue/a.yaml", "scenarios/new.py"])
def test_the_model_changes_the_hash(package: Path, name: str) -> None:
    """Code, data and new files of the model and the scenarios count."""
    before = model_fingerprint()
    (package / name).write_text("two\n")
    model_fingerprint.cache_clear()
    assert model_fingerprint() != before


@pytest.mark.parametrize("name", [f"{WITHOUT[0]}/style.py", "model/notes.txt", "cli/main.py"])
def test_what_only_shows_results_does_not(package: Path, name: str) -> None:
    """Pictures, notes and commands leave results as they are; so do line ends of another system."""
    before = model_fingerprint()
    (package / name).parent.mkdir(exist_ok=True)
    (package / name).write_text("two\n")
    (package / "model/core/engine.py").write_bytes(b"one\r\n")
    model_fingerprint.cache_clear()
    assert model_fingerprint() == before


def test_no_simulation_imports_what_is_left_out() -> None:
    """Protects the hash from a folder in WITHOUT that results begin to follow from."""
    modules = sources()
    reached: set[str] = set()
    left = ["scenarios.running.simulate", "scenarios.sweeps.point", "scenarios.documents.document"]
    while left:
        name = left.pop()
        if name in reached or name not in modules:
            continue
        reached.add(name)
        left += [target for _, target in imports(name, modules[name], modules)]
    folders = {folder_of(name, modules) for name in reached} - {SETS_UP_WORKERS}
    assert "model/core" in folders
    assert not folders & set(WITHOUT)
