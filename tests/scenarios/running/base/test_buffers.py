"""Write caches below the page cache: their sum in bytes of data, what they hold, and filling them at once."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.request import WRITE, Request
from raidsim.model.drives.catalogue import hard_disk
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.buffers import Buffers
from raidsim.tests.scenarios.small_machine import DRIVES, MIB, scenario

BUFFER = hard_disk("WD2500JB").write_buffer


@pytest.mark.parametrize(
    ("array", "shares"), [({"level": "raid0"}, 4), ({"level": "raid1"}, 1), ({"level": "raid10"}, 2)]
)
def test_the_caches_of_all_data_drives_count(array: dict[str, Any], shares: int) -> None:
    """Protects the sum: four caches hold the data of as many members as hold no copies."""
    spec = scenario(array={"members": list(DRIVES), **array}, targets=("md0",), kernel="linux-6.1")
    machine = BuiltMachine(spec)
    found = Buffers(machine, ["md0"])
    assert found.capacity == pytest.approx(shares * BUFFER, rel=1e-3)
    assert not found.gathers_rows


def test_a_stripe_cache_counts_too() -> None:
    """Protects parity arrays: 1,024 stripes of four members besides the caches of three of them."""
    array = {"level": "raid5", "members": list(DRIVES), "stripe_cache": 1024}
    machine = BuiltMachine(scenario(array=array, targets=("md0",)))
    found = Buffers(machine, ["md0"])
    assert found.gathers_rows
    assert found.capacity == pytest.approx(3 * BUFFER + 1024 * 4 * 4096, rel=1e-3)


def test_only_caches_that_hold_something_are_filled() -> None:
    """Protects a linear array: of its drives the one that is written is full at once, the others stay empty."""
    machine = BuiltMachine(scenario(array={"level": "linear", "members": list(DRIVES)}, targets=("md0",)))
    found = Buffers(machine, ["md0"])
    disk, other = machine.disks["sda"], machine.disks["sdb"]
    disk.submit(Request(WRITE, 64 * MIB, MIB, lambda _: None))
    machine.engine.run(until=0.012)
    held = found.held()
    assert 0 < held <= MIB
    found.fill(0.5)
    assert found.held() == pytest.approx(BUFFER, rel=0.01)
    assert other.dirty_bytes == 0
    machine.engine.run(until=1.0)
    assert found.held() == 0
