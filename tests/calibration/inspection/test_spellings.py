"""One machine, however its tools are asked and its output is pasted: always the same scenario."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.calibration.inspection.inspection import Source, inspect
from raidsim.tests.calibration.inspection.machines import ARRAYS, DRIVES, Machine, machines, mdstat, pasted

FRONTS = ("", "    ", "\t", "> ", ">> ", " > ")


def scenario(*texts: str) -> dict[str, Any]:
    """The scenario of some outputs."""
    return inspect([Source("x", text) for text in texts], "x").document


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(machine=machines(), front=st.sampled_from(FRONTS), drives=st.sampled_from(DRIVES))
def test_every_format_makes_the_same_scenario(machine: Machine, front: str, drives: Any) -> None:
    """Protects pasted outputs: mdstat, --detail and --examine, each with any lsblk, indented or quoted: all one."""
    arrays = [scenario(pasted(each(machine), front), pasted(drives(machine), front)) for each in ARRAYS]
    assert arrays[0] == arrays[1] == arrays[2]
    array = arrays[0]["arrays"]["md7"]
    names = [name if slot != machine.gone else f"md7-slot{slot}" for slot, name in enumerate(machine.drives)]
    assert array["level"] == machine.level
    assert array["members"] == names
    assert array.get("failed", []) == ([names[machine.gone]] if machine.gone is not None else [])
    assert array.get("chunk") == (f"{machine.chunk}KiB" if machine.level != "raid1" else None)
    assert set(arrays[0]["machine"]["drives"]) == set(names)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(machine=machines(), front=st.sampled_from(FRONTS))
def test_lsblk_in_every_form(machine: Machine, front: str) -> None:
    """Protects lsblk as a table, with letters for branches, as pairs and as JSON: the same drives and array."""
    whole = dataclasses.replace(machine, gone=None)
    found = [scenario(pasted(each(whole), front)) for each in DRIVES]
    assert all(each == found[0] for each in found)
    assert found[0]["arrays"]["md7"]["level"] == machine.level
    assert set(found[0]["machine"]["drives"]) == set(machine.drives)


@settings(max_examples=6, deadline=None)
@given(machine=machines())
def test_several_outputs_after_prompts(machine: Machine) -> None:
    """Protects a whole terminal in one file: prompts, other commands and their output between what is read."""
    parts = [f"root@nas:~# some command {number}\n{each(machine)}" for number, each in enumerate((*ARRAYS, DRIVES[1]))]
    noise = (
        "root@nas:~# df -h\nFilesystem      Size  Used Avail Use% Mounted on\n/dev/md7        7.3T  5.1T  1.9T  74% /\n"
    )
    made = inspect([Source("x", noise.join(parts))], "x")
    assert made.document == scenario(mdstat(machine), DRIVES[0](machine))
    assert any("what df prints is skipped" in note for note in made.notes)
