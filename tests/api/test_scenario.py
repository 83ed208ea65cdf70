"""Scenarios as values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidsim import InputError, Scenario
from raidsim.tests.api.small import small


def test_a_change_makes_another_scenario() -> None:
    """Protects notebooks: a cell that is run again finds the scenario as it was."""
    base = small()
    changed = base.with_(layout="raid6", disks=6)
    assert base.spec.arrays["md0"].level == "raid5"
    assert changed.spec.arrays["md0"].level == "raid6"
    assert len(changed.spec.machine.drives) == 6
    assert base == small()
    assert hash(base) == hash(small())
    assert base != changed


@pytest.mark.parametrize(
    ("changes", "path", "expected"),
    [
        ({"machine__cpu__cores": 2}, "machine.cpu.cores", 2),
        ({"arrays__md0__chunk": "128KiB"}, "arrays.md0.chunk", 131072),
        ({"seed": 7}, "seed", 7),
        ({"precision": 0.02}, "workload.precision", 0.02),
    ],
)
def test_two_underscores_stand_for_a_dot(changes: dict[str, Any], path: str, expected: object) -> None:
    """Protects paths as keywords: they mean what --set means, and so does a mapping of dotted paths."""
    for scenario in (small(**changes), small().with_({path: next(iter(changes.values()))})):
        value: Any = scenario.spec.model_dump()
        for key in path.split("."):
            value = value[key]
        assert value == expected


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"layot": "raid6"}, "did you mean layout?"),
        ({"machine__cpu__coers": 2}, "did you mean machine.cpu.cores"),
        ({"arrays__md1__chunk": "64KiB"}, "there is no 'md1' in arrays"),
    ],
)
def test_a_wrong_keyword_names_the_closest(changes: dict[str, Any], words: str) -> None:
    """Protects from a misspelt keyword that changes nothing: it is refused at once, with the closest path."""
    with pytest.raises(InputError, match=r"changed .*there is no") as caught:
        small().with_(**changes)
    assert words in str(caught.value)
    with pytest.raises(InputError, match="did you mean layout"):
        Scenario(machine="nas", layot="raid6")


def test_a_scenario_is_written_and_read_again(tmp_path: Path) -> None:
    """Protects files made in a notebook: the YAML means the same scenario, short and with every default."""
    scenario = small(depth=16)
    file = tmp_path / "mine.yaml"
    for full in (False, True):
        file.write_text(scenario.to_yaml(full), encoding="utf-8")
        for again in (Scenario.from_yaml(scenario.to_yaml(full)), Scenario.from_yaml(file), Scenario.load(str(file))):
            assert again.spec == scenario.spec
            assert again.name == "small"


def test_a_scenario_shows_itself() -> None:
    """Protects the first look: one line with the array, also of a scenario that cannot be run."""
    assert repr(small()) == "Scenario('small': md0: md RAID 5 of 4, chunk 512 KiB, no bitmap; load)"
    assert "raid6 needs at least 4" in repr(small(layout="raid6", disks=3))
    assert "<pre>" in small()._repr_html_()
    assert "database-server" in Scenario.library()
    with pytest.raises(InputError, match="did you mean 'database-server'"):
        Scenario.load("databse-server")
    with pytest.raises(InputError, match="array and arrays"):
        Scenario(array="raid5", arrays={"md0": "raid6"})
