"""Classes that are found because their module is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.files import plugins
from raidsim.model.files.plugins import classes_in, room_of
from raidsim.model.layouts import ALGORITHMS, Raid10Layout, factory
from raidsim.model.raid.read_balance import READ_BALANCE, PrimaryOnly, ReadBalance


def test_public_classes_of_every_module_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the search: every module but those set apart, by name, without private and imported classes."""
    package = tmp_path / "found_here"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "b.py").write_text("from pathlib import Path\n\nclass Two: ...\nclass _Hidden: ...\n")
    (package / "a.py").write_text("class One: ...\n")
    (package / "apart.py").write_text("raise AssertionError\n")
    monkeypatch.syspath_prepend(tmp_path)
    names = [each.__name__ for each in classes_in("found_here", ["apart"])]
    assert names == ["One", "Two"]


def test_every_policy_has_its_name_and_none_is_inherited() -> None:
    """Protects policies from being reached by another one's name."""
    assert all("name" in vars(policy) and policy.name == name for name, policy in READ_BALANCE.items())
    assert len(set(READ_BALANCE.values())) == len(READ_BALANCE)
    assert ReadBalance not in READ_BALANCE.values()


def test_one_name_in_two_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects from a policy or a layout that takes another one's place unseen: the message names both files."""
    twin = type("Twin", (PrimaryOnly,), {"__module__": "twin", "name": "primary"})
    monkeypatch.setattr(plugins, "classes_in", lambda *_: iter([PrimaryOnly, twin]))
    with pytest.raises(ModelError, match=r"balance 'primary'.*read_balance\.primary.*twin"):
        len(room_of("balance", "anywhere", ReadBalance))
    near = type("Near", (Raid10Layout,), {"__module__": "near", "algorithms": {"raid10": ("near",)}})
    monkeypatch.setattr(factory, "classes_in", lambda *_: iter([near]))
    with pytest.raises(ModelError, match=r"raid10 near.*layouts\.raid10.*near"):
        factory._builders()


def test_an_algorithm_of_a_level_without_any_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects from a layout that nobody could ask for."""
    odd = type("Odd", (Raid10Layout,), {"__module__": "odd", "algorithms": {"raid1": ("odd",)}})
    monkeypatch.setattr(factory, "classes_in", lambda *_: iter([odd]))
    with pytest.raises(ModelError, match=re.escape("odd: an algorithm of raid1; expected: of raid0")):
        factory._builders()


def test_mds_algorithms_come_first() -> None:
    """Protects the defaults: what mdadm takes unless told otherwise, whatever else is found."""
    assert [names[0] for names in ALGORITHMS.values()] == [
        "original",
        "parity-last",
        "left-symmetric",
        "left-symmetric",
        "near",
        "left-symmetric",
        "left-symmetric",
    ]
