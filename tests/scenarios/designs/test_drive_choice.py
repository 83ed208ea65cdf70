"""Drives of two kinds: mirrored pairs, with their price and power, and reasons for what cannot be built of them."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.advice.fewest_drives import FewestDrives
from raidsim.scenarios.advice.runs import Task, run_task
from raidsim.scenarios.advice.trials import Trials
from raidsim.scenarios.comparison.array_facts import array_facts
from raidsim.scenarios.designs.designs import Design, left_out
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.scenarios.designs.room import room
from raidsim.tests.scenarios.designs.test_requirement import wanted

FLASH, DISK = "Samsung-870-EVO-1TB", "WD5000AAKS"
PAIR: dict[str, Any] = {"model": FLASH, "price": 90, "watts": 3, "mirror": {"model": DISK, "price": 40, "watts": 9}}
PAIRS: dict[str, Any] = {
    "load": {"total_iops": 100, "read_share": "100%", "block_size": "8KiB"},
    "limits": {"p99": "10ms"},
    "levels": ["raid1", "raid10", "raid5"],
    "chunks": ["64KiB"],
    "bitmap": "none",
    "drives": [{**PAIR, "count": "2-5"}, {"model": DISK, "count": 2, "price": 40}],
}


def _designs(requirement: RequirementSpec) -> list[Design]:
    return [each for found in FewestDrives(Trials(requirement)).candidates for each in found.designs]


def test_pairs_are_candidates_of_levels_that_mirror_them() -> None:
    """RAID 1 and RAID 10 take even numbers of drives, RAID 5 and other copies have a reason."""
    requirement = wanted(**PAIRS)
    names = [each.name for each in _designs(requirement)]
    assert names[:4] == [
        f"RAID 1, 2 x {FLASH} + {DISK}",
        f"RAID 1, 4 x {FLASH} + {DISK}",
        f"RAID 10, 2 x {FLASH} + {DISK}, 64 KiB",
        f"RAID 10, 4 x {FLASH} + {DISK}, 64 KiB",
    ]
    (reason,) = [each for each in left_out(requirement) if FLASH in each.name]
    assert reason.name == f"RAID 5 of 2 to 5 x {FLASH} + {DISK}"
    assert (
        reason.reason == "drives of two kinds are for mirrored pairs: raid1, raid10 near, mirrors, without a controller"
    )
    far = wanted(**{**PAIRS, "levels": [{"level": "raid10", "algorithm": "far"}], "drives": [{**PAIR, "count": 4}]})
    assert not _designs(far)
    assert len(left_out(far)) == 1


def test_members_take_turns_and_cost_what_each_costs() -> None:
    """Each pair has one of both kinds, the array is as large as the smaller ones, and price and power are their sum."""
    requirement = wanted(**PAIRS)
    design = _designs(requirement)[3]
    spec = design.scenario(requirement)
    assert [spec.machine.drives[name].model for name in spec.arrays["md0"].members] == [FLASH, DISK, FLASH, DISK]
    facts = array_facts(spec)
    assert facts.cost == 260
    assert facts.usable_bytes == pytest.approx(2 * 500e9, rel=0.01)
    assert room(design, requirement).watts == 24


def test_disks_that_mirror_flash_are_read_only_if_they_must_be() -> None:
    """md reads the flash of each RAID 1: its reads are those of flash, and bounds of disks refuse none."""
    requirement = wanted(**PAIRS)
    mixed, disks = (
        next(each for each in _designs(requirement) if each.name == name)
        for name in (f"RAID 1, 2 x {FLASH} + {DISK}", f"RAID 1, 2 x {DISK}")
    )
    assert mixed.scenario(requirement).arrays["md0"].write_mostly == ("disk1",)
    assert disks.scenario(requirement).arrays["md0"].write_mostly == ()
    trials = Trials(requirement)
    assert not trials.refused(mixed)
    fast, slow = (run_task(requirement, Task(each, "brief", 100, 200)) for each in (mixed, disks))
    assert fast.latencies["read_p99"].mean < 0.001
    assert slow.latencies["read_p99"].mean > 0.01


def test_a_budget_needs_the_price_of_both() -> None:
    """The message names the kind without a price."""
    with pytest.raises(InputError, match=r"drives.*0.*mirror.price: found no price"):
        wanted(**{**PAIRS, "budget": 500, "drives": [{**PAIR, "count": 2, "mirror": {"model": DISK}}]})
