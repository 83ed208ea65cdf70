"""The table of optional mechanisms: each is in the model for a reason, and for one only."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import yaml

import raidsim
from raidsim.calibration.simulation.touched_runs import all_switches
from raidsim.calibration.study.study import study_names

TABLE = yaml.safe_load((Path(raidsim.__file__).parent / "docs" / "mechanisms.yaml").read_text(encoding="utf-8"))
DELETED = TABLE.pop("deleted")


def test_every_mechanism_has_one_reason() -> None:
    """Protects the model from mechanisms that nothing needs: a new one brings its reason, one that is gone leaves."""
    named = Counter(name for names in TABLE.values() for name in names)
    assert set(named) == set(all_switches())
    assert max(named.values()) == 1


def test_a_reason_says_what_changes() -> None:
    """Protects the table's use: cells are of a study that there is, and changes of at least 1 %."""
    for name, why in TABLE["moved"].items():
        study, _, cell = why.partition(": ")
        change = cell.rpartition(", ")[2]
        assert study in study_names(), name
        assert change == "all of it" or float(change.removesuffix(" %")) >= 1, name
    assert all(why for names in TABLE.values() for why in names.values())


def test_what_is_gone_is_gone() -> None:
    """Counter-test: no mechanism is both in the model and among those that were taken out."""
    assert not set(DELETED) & set(all_switches())
