"""A machine that is simulated in a tenth of a second, for tests of the public API."""

from __future__ import annotations

from typing import Any

from raidsim import Scenario


def small(**changes: Any) -> Scenario:
    """Four disks in RAID 5 under small reads and writes."""
    scenario = Scenario(
        machine={"drives": {"model": "WD2500JS", "count": 4}},
        array={"level": "raid5", "bitmap": "none"},
        workload={
            "kind": "load",
            "block_size": "4KiB",
            "read_share": "50%",
            "depth": 8,
            "warm_up": "50ms",
            "duration": "300ms",
        },
        kernel="linux-6.1",
        name="small",
    )
    return scenario.with_(**changes)
