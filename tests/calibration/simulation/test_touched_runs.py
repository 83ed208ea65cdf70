"""Which runs a mechanism that is switched off concerns."""

from __future__ import annotations

import re

import pytest

from raidsim.calibration.simulation.touched_runs import (
    PLANNED,
    all_switches,
    chosen_switches,
    switches_on,
    touched_by,
)
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import load_study
from raidsim.model.core.errors import InputError
from raidsim.model.files.switches import FACTS, switched_off
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.tests.house import ROOT


@pytest.fixture(scope="module")
def runs() -> dict[str, ScenarioSpec]:
    """A mirror and a parity array under Linux 2.6.8, of a study."""
    study = load_study("gentoo-2004")
    builder = RunBuilder(study, {})
    found: dict[str, ScenarioSpec] = {}
    for run in study.wanted_runs:
        made = builder.scenario(run)
        if made.kernel == "linux-2.6.8":
            for array in made.arrays.values():
                found.setdefault(array.level, made)
    return {level: found[level] for level in ("raid1", "raid5")}


@pytest.mark.parametrize(
    ("name", "mirror", "parity"),
    [
        ("kernel.raid5.hold", False, True),
        ("kernel.raid1.submitter_pays", True, False),
        ("kernel.read_ahead.parity_chunks", True, True),
        ("hard_disk.write_cache", True, True),
        ("kernel.cache.by_age", False, False),
    ],
)
def test_a_run_is_touched_by_what_its_machine_has(
    runs: dict[str, ScenarioSpec], name: str, mirror: bool, parity: bool
) -> None:
    """md's sections concern arrays of their level, drives' fields whoever has the drive, and what is not on nobody."""
    with switched_off(frozenset({name})):
        touched = {level: touched_by(scenario) for level, scenario in runs.items()}
    assert touched == {"raid1": (name,) if mirror else (), "raid5": (name,) if parity else ()}
    assert all(touched_by(scenario) == () for scenario in runs.values())


def test_what_is_on_is_known_whatever_is_off(runs: dict[str, ScenarioSpec]) -> None:
    """A mechanism that is off just now is still one that the run has."""
    with switched_off(frozenset({"hard_disk.write_cache"})):
        assert {"hard_disk.write_cache", "kernel.raid5.hold"} <= switches_on(runs["raid5"])


def test_md_reaches_a_run_by_its_plan_alone() -> None:
    """No module that runs a machine reads md's sections of the kernel, but for the heads, which are a number."""
    places = [ROOT / "scenarios" / "machine" / name for name in ("machine.py", "assemble.py")]
    places += sorted((ROOT / "scenarios" / "running").rglob("*.py"))
    read = {name for path in places for name in re.findall(r"\bkernel\.(\w+(?:\.\w+)?)", path.read_text("utf-8"))}
    assert "cache.reach" in read
    assert {name for name in read if name.split(".")[0] in PLANNED} == {"raid5.heads"}


@pytest.mark.parametrize("name", sorted(FACTS))
def test_no_simulation_reads_how_drives_fail(name: str) -> None:
    """What is left out of the mechanisms moves nothing."""
    for folder in ("disk", "solid_state", "raid", "block"):
        for path in (ROOT / "model" / folder).rglob("*.py"):
            if path.name != "spec.py":
                assert not re.search(rf"\.{name}\b", path.read_text("utf-8")), path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("kernel.raid5.hold", ("kernel.raid5.hold",)),
        ("locks_rows", ("kernel.raid5.locks_rows",)),
        ("raid1.barrier, slc_cache", ("kernel.raid1.barrier", "solid_state.slc_cache")),
    ],
)
def test_a_name_may_be_short(text: str, names: tuple[str, ...]) -> None:
    """As long as only one mechanism has it."""
    assert chosen_switches(text) == names
    assert set(names) <= set(all_switches())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("barrier", "kernel.raid1.barrier"),
        ("locks_row", "kernel.raid5.locks_rows"),
        ("hold,nothing", "no optional mechanism has the name 'nothing'"),
        ("", "no optional mechanism has the name ''"),
    ],
)
def test_a_name_that_fits_none_or_several_is_refused(text: str, words: str) -> None:
    """The message names those that may be meant."""
    with pytest.raises(InputError) as refusal:
        chosen_switches(text)
    assert words in str(refusal.value)
    assert "expected: all" in str(refusal.value)
