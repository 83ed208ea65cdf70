"""Freeing half of an array of solid-state drives gives their flash room, and random writes speed; where the discards do
not reach the drives, nothing changes.
"""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.discard import issue
from raidsim.model.core.engine import Engine
from raidsim.model.layouts import MirroredLayout, ParityLayout, Raid10Layout, StripedLayout, layout_for
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md61
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.solid_state.drive import SolidState
from raidsim.tests.model.solid_state.drive_bench import KIB, MIB, small

CHUNK = 64 * KIB
SUPERBLOCK = 10 * MIB
MEMBERS = 4
_SECONDS = 0.06


class Written:
    """Random writes of 4 KiB to the second half of an array of small drives in long use.

    Parameters
    ----------
    level
        Of the array.
    discards
        Whether the first half is freed before, if the array passes that on.
    safely
        devices_handle_discard_safely.

    Attributes
    ----------
    iops, amplification
        What the writes gave, and what they cost in flash.
    held
        Share of the drives' addresses that hold data.
    """

    def __init__(self, level: str, discards: bool, safely: bool = True) -> None:
        engine = Engine(1)
        spec = small(pages_per_block=20, capacity=64 * SUPERBLOCK, flash=80 * SUPERBLOCK)
        drives = [SolidState(engine, spec, f"ssd{slot}") for slot in range(MEMBERS)]
        array = _array(engine, level, drives, safely)
        half = array.capacity // 2 // MIB * MIB
        self.refusal = array.discard_limits.refusal
        if discards and not self.refusal:
            issue(array, 0, half, lambda: None, 1)
            engine.run()
        self.held = sum(drive._translation.valid for drive in drives) / (MEMBERS * spec.capacity // spec.mapping_unit)
        load = ClosedLoad(engine, array, size=4 * KIB, depth=64, read_share=0.0, start=half)
        began = engine.now
        for drive in drives:
            drive.start_statistics(began)
        engine.run(until=began + _SECONDS)
        load.stop()
        self.iops = load.writes / _SECONDS
        self.amplification = sum(drive.write_amplification for drive in drives) / MEMBERS


def _array(engine: Engine, level: str, drives: list[SolidState], safely: bool) -> Any:
    layout = layout_for(level, MEMBERS, CHUNK, [drive.capacity for drive in drives])
    match layout:
        case MirroredLayout():
            return MirrorArray(engine, "md0", drives, Md61(MEMBERS, [False] * MEMBERS))
        case Raid10Layout():
            return Raid10Array(engine, "md0", drives, layout, Md61(MEMBERS, [False] * MEMBERS))
        case ParityLayout():
            settings = ParitySettings(heads=0, hold=None, direct_reads=True, discards=safely)
            return ParityArray(engine, "md0", drives, layout, settings)
        case StripedLayout():
            return StripeArray(engine, "md0", drives, layout)
    raise AssertionError(level)


@pytest.mark.parametrize("level", ["raid0", "raid1", "raid10", "raid5"])
def test_a_half_that_is_freed_makes_writes_to_the_other_fast(level: str) -> None:
    """Half of all addresses hold nothing any more, each write costs little more than itself, and more of them get
    through; without the discard the drives move what they hold.
    """
    kept, freed = Written(level, discards=False), Written(level, discards=True)
    assert kept.held == pytest.approx(1, abs=0.001)
    assert freed.held == pytest.approx(0.5, abs=0.01)
    assert freed.amplification < 0.6 * kept.amplification
    assert freed.iops > 1.2 * kept.iops


def test_a_raid5_that_frees_nothing_stays_slow() -> None:
    """devices_handle_discard_safely off, as it is unless somebody sets it: nothing is sent, and nothing changes."""
    kept, unsafe = Written("raid5", discards=False), Written("raid5", discards=True, safely=False)
    assert "devices_handle_discard_safely" in unsafe.refusal
    assert (unsafe.held, unsafe.iops, unsafe.amplification) == (kept.held, kept.iops, kept.amplification)
