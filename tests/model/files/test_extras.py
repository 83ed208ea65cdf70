"""How to install what is missing, in a checkout and from a wheel."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from raidsim.model.files import extras
from raidsim.model.files.extras import how_to_install


def test_a_checkout_names_its_own_commands() -> None:
    """Protects people with a checkout: the command works there, and the page has a target of make."""
    assert how_to_install("web") == "expected, in the checkout: make web"
    assert how_to_install("plot").endswith("pip install -e '.[plot]'")


def test_an_installed_package_names_the_libraries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Protects people with a wheel: raidsim is on no index, so the libraries themselves are named."""
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    lines = [
        "simpy>=4",
        "streamlit>=1.67; extra == 'web'",
        'streamlit>=1.67; extra == "all"',
        "zstandard; extra == 'traces'",
    ]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: lines)
    assert how_to_install("web") == "expected: pip install 'streamlit>=1.67'"
