"""Response times of open loads beside a rebuild, by their rate: they hardly depend on it, but on RAID 10 they fall."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import raidsim
from raidsim.model.kernels import kernel
from raidsim.validation.conformance.rebuilds.machine import Machine
from raidsim.validation.conformance.rebuilds.rebuild import member_kind

RECORDED = Path(raidsim.__file__).parent / "validation" / "truth" / "rebuild" / "rebuild_seek_dl_6.1.json"
WARM_UP_S, LASTING_S = 6.0, 20.0


def response_s(array: str, iops: int) -> float:
    """Mean response time (s) of reads at this rate beside a recovery of a recorded array."""
    content: dict[str, Any] = json.loads(RECORDED.read_text())
    case = {
        "op": "recover",
        "foreground": f"poi{iops}",
        "settings": {},
        "fg": {"iops": iops},
        "stripe_heads_active": [1500],
    }
    machine = Machine(kernel("linux-6.1"), member_kind(content["member"]), content["arrays"][array], case, "here")
    assert machine.load is not None
    machine.engine.run(until=WARM_UP_S)
    machine.load.start_statistics(WARM_UP_S)
    machine.engine.run(until=WARM_UP_S + LASTING_S)
    return machine.load.read_latency.mean


def test_fewer_reads_do_not_wait_longer() -> None:
    """Protects RAID 1 and RAID 5, where reads meet the sync at the members or wait for stripe heads, at any rate."""
    for array in ("r1", "r5"):
        few, some, many = (response_s(array, iops) for iops in (5, 20, 50))
        assert few < 1.1 * some
        assert some < 1.1 * many


def test_on_raid_10_fewer_reads_wait_longer() -> None:
    """The counter-test, recorded as well (57 ms at 50 a second, 80 at 20): a read waits for all that is raised.

    While nobody reads, md raises up to 511 blocks of sync.
    """
    few, some, many = (response_s("r10", iops) for iops in (5, 20, 50))
    assert few > some > many
