"""Superblock and write-intent bitmap, against what Linux 6.1 was recorded to write to null block devices."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import DIRECT, WAITED, WRITE, WRITE_THROUGH, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.layouts import ParityLayout, Raid10Layout, layout_for
from raidsim.model.raid.metadata.array_metadata import ArrayMetadata
from raidsim.model.raid.metadata.bitmap import SAFE_MODE_DELAY_S, WriteIntentBitmap
from raidsim.model.raid.metadata.superblock import GEOM, VERSION_0_90, VERSION_1_2, MetadataWrite, Superblock
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md61, Md61Raid10
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.model.recording import KIB, MIB, Recorder

TRUTH = Path(raidsim.__file__).parent / "validation" / "truth" / "io"
CAPACITY = 512 * MIB
SUPERBLOCK, BITMAP = -2040, -2032
AT_ONCE = replace(VERSION_0_90, in_turn=False, write_through=True)
"""As Linux 2.6.20 writes it."""


class Member(Recorder):
    """A recorder that notes metadata apart, which are written `through` the cache or not."""

    __slots__ = ("metadata", "write_through")

    def __init__(self, engine: Engine, name: str, write_through: bool, service_s: float = 0.0001) -> None:
        super().__init__(engine, name, CAPACITY, service_s, 32)
        self.metadata: list[tuple[int, int]] = []
        self.write_through = write_through

    def submit(self, request: Request) -> None:
        if isinstance(request, MetadataWrite):
            assert request.sync == (WRITE_THROUGH if self.write_through else WAITED)
            self.metadata.append((request.sector, request.size // 512))
        super().submit(request)


def array_of(engine: Engine, level: str, members: list[Member]) -> MirrorArray | Raid10Array | ParityArray:
    """RAID 1, 10 or 5 of chunks of 64 KiB."""
    devices: list[Device] = list(members)
    count = len(members)
    if level == "raid1":
        return MirrorArray(engine, "md0", devices, Md61(count))
    layout = layout_for(level, count, 64 * KIB, [CAPACITY] * count)
    if isinstance(layout, Raid10Layout):
        return Raid10Array(engine, "md0", devices, layout, Md61Raid10(count))
    assert isinstance(layout, ParityLayout)
    return ParityArray(engine, "md0", devices, layout, ParitySettings(heads=0))


class Bench:
    """An array with metadata, played one I/O at a time."""

    def __init__(
        self,
        level: str,
        count: int,
        *,
        bitmap: bool,
        safe: float,
        fresh: bool = False,
        superblock: Superblock = VERSION_1_2,
    ) -> None:
        self.engine = Engine()
        self.members = [Member(self.engine, f"d{slot}", superblock.write_through) for slot in range(count)]
        self.array: Any = array_of(self.engine, level, self.members)
        marks = WriteIntentBitmap(self.engine, self.array, MIB, fresh) if bitmap else None
        self.metadata = ArrayMetadata(self.engine, self.array, marks, safe, superblock=superblock)
        self.array.keep_metadata(self.metadata)

    def write(self, offset: int, size: int = 4 * KIB) -> float:
        """Write and wait; how long it took (s)."""
        done: list[Request] = []
        began = self.engine.now
        self.array.submit(Request(WRITE, offset, size, done.append, 1, DIRECT))
        self.array.unplug()
        while not done:
            self.engine.step()
        return self.engine.now - began

    def sleep(self, seconds: float) -> None:
        """Do nothing."""
        self.engine.run(until=self.engine.now + seconds)

    def taken(self) -> Counter[tuple[int, int, int]]:
        """(member, sector, sectors) of the metadata writes since last asked."""
        found = Counter((slot, *write) for slot, member in enumerate(self.members) for write in member.metadata)
        for member in self.members:
            member.metadata.clear()
        return found


@pytest.mark.parametrize("name", ["raid1_bitmap", "raid10_bitmap", "raid5_bitmap"])
def test_bitmap_as_recorded(name: str) -> None:
    """Protects every recorded superblock and bitmap write: first touch, lazy clearing, touch after idle."""
    for recorded in json.loads((TRUTH / f"{name}.json").read_text())["arrays"]:
        level, count = recorded["name"].split("_")[0], int(recorded["name"].split("_n")[1][0])
        bench = Bench(level, count, bitmap=True, safe=0.0, fresh=True)
        bench.sleep(1.0)  # mdadm ends, the recorder starts
        for case in recorded["cases"]:
            for op, offset, size in case["ios"]:
                if op == "s":
                    bench.sleep(size / 1000)
                else:
                    bench.write(offset, size)
            expected = Counter(tuple(write[1:]) for write in case.get("superblock_bitmap_flush_bios", ()))
            assert bench.taken() == expected, case["case"]


def test_a_clean_array_is_marked_dirty_once() -> None:
    """Protects the first write: one superblock write per member before it, none for what follows soon after."""
    bench = Bench("raid1", 2, bitmap=False, safe=SAFE_MODE_DELAY_S)
    first = bench.write(0)
    assert bench.taken() == Counter([(0, SUPERBLOCK, 1), (1, SUPERBLOCK, 1)])
    assert [member.log[0] for member in bench.members] == [(WRITE, 0, 512)] * 2
    bench.sleep(0.05)
    assert bench.write(4096) == pytest.approx(first / 2)
    assert not bench.taken()


def test_an_idle_array_is_marked_clean_again() -> None:
    """Protects safe mode: clean after its delay, dirty again at the next write; with a delay of 0 never clean again."""
    for safe, expected in ((SAFE_MODE_DELAY_S, 1), (0.0, 0)):
        bench = Bench("raid5", 4, bitmap=False, safe=safe)
        bench.write(0)
        bench.taken()
        bench.sleep(0.5)
        assert bench.metadata.clean == bool(safe)
        assert bench.taken() == Counter({(slot, SUPERBLOCK, 1): expected for slot in range(4)}) - Counter()
        bench.write(MIB)
        assert sum(bench.taken().values()) == 4 * expected


@pytest.mark.parametrize("superblock", [VERSION_0_90, AT_ONCE])
def test_old_superblocks_lie_behind_the_data(superblock: Superblock) -> None:
    """Protects version 0.90: a page in the last 64 KiB of each member; up to 2.6.12 the drive's cache may hold it."""
    bench = Bench("raid1", 2, bitmap=False, safe=0.021, superblock=superblock)
    last = (CAPACITY // (64 * KIB) - 1) * 64 * KIB
    bench.write(0)
    assert [member.log for member in bench.members] == [[(WRITE, last, 4096), (WRITE, 0, 4096)]] * 2
    assert bench.taken() == Counter([(0, last // 512, 8), (1, last // 512, 8)])


def test_geom_has_it_in_the_last_sector() -> None:
    """Protects gmirror: 512 bytes at the very end of each member, one member after the other."""
    bench = Bench("raid1", 2, bitmap=False, safe=5.0, superblock=GEOM)
    first = bench.write(0)
    assert [member.log for member in bench.members] == [[(WRITE, CAPACITY - 512, 512), (WRITE, 0, 4096)]] * 2
    assert first == pytest.approx(3 * bench.write(4096))


@pytest.mark.parametrize(("superblock", "turns"), [(VERSION_0_90, 3), (AT_ONCE, 1), (VERSION_1_2, 1)])
def test_old_superblocks_are_written_one_after_the_other(superblock: Superblock, turns: int) -> None:
    """Protects how long the first write waits: for all members in turn up to 2.6.12, for all at once since."""
    bench = Bench("raid1", 3, bitmap=False, safe=0.021, superblock=superblock)
    first = bench.write(0)
    assert first == pytest.approx((turns + 1) * bench.write(4096))


def test_as_a_barrier_superblocks_bring_the_drives_caches_to_the_platters() -> None:
    """Protects what a first write costs on 2.6.20: all that the drives have acknowledged goes to the platters, and the
    superblocks behind it. Counter-test: without barrier the drives' caches take them in less than a ms.
    """
    took = {}
    for write_through in (True, False):
        engine = Engine()
        disks = [HardDisk(engine, hard_disk("WD2500JB").with_values(write_cache=True), name) for name in ("a", "b")]
        array = MirrorArray(engine, "md0", list(disks), Md61(2))
        array.keep_metadata(ArrayMetadata(engine, array, superblock=replace(AT_ONCE, write_through=write_through)))
        for disk in disks:
            for offset in range(0, 100 * MIB, 10 * MIB):
                disk.submit(Request(WRITE, offset, 4 * KIB, lambda _: None))
        engine.run(until=0.01)
        done: list[Request] = []
        array.submit(Request(WRITE, 200 * MIB, 4 * KIB, done.append, 1, DIRECT))
        while not done:
            engine.step()
        took[write_through] = engine.now - 0.01
    assert took[True] > 0.05
    assert took[False] < 0.001


def test_who_comes_with_a_write_sleeps_while_superblocks_are_written() -> None:
    """Protects write-back, which goes on when they are written: nothing more is taken before."""
    bench = Bench("raid1", 2, bitmap=False, safe=SAFE_MODE_DELAY_S)
    assert bench.array.has_room
    bench.array.submit(Request(WRITE, 0, 4096, lambda _: None, 1, WAITED))
    assert not bench.array.has_room
    woken: list[float] = []
    bench.array.when_room(lambda: woken.append(bench.engine.now))
    bench.sleep(0.05)
    assert woken == [pytest.approx(0.0001)]
    assert bench.array.has_room


def test_a_short_pause_costs_two_superblocks_where_arrays_are_marked_clean_soon() -> None:
    """Protects the delay of 20 ms, md's until 2006: a write every 50 ms pays for marks, one every 10 ms does not."""
    for pause, safe, expected in ((0.05, 0.021, 2 * 20), (0.01, 0.021, 0), (0.05, SAFE_MODE_DELAY_S, 0)):
        bench = Bench("raid1", 2, bitmap=False, safe=safe, superblock=VERSION_0_90)
        bench.write(0)
        bench.taken()
        for _ in range(20):
            bench.sleep(pause)
            bench.write(0)
        assert sum(bench.taken().values()) == 2 * expected


def test_writes_at_the_same_time_share_the_metadata_writes() -> None:
    """Protects batching: of 64 writes to 64 clean chunks the first waits for its bit, the others share one write."""
    bench = Bench("raid1", 2, bitmap=True, safe=0.0)
    bench.write(0)
    bench.taken()
    done: list[Request] = []
    for chunk in range(1, 65):
        bench.array.submit(Request(WRITE, chunk * MIB, 4096, done.append, 1, DIRECT))
    bench.sleep(0.1)
    assert len(done) == 64
    assert bench.taken() == Counter({(slot, BITMAP, 1): 2 for slot in (0, 1)})


def test_no_write_to_a_chunk_overtakes_its_bit() -> None:
    """Protects the order: data go to no member before the bit is on all of them."""
    bench = Bench("raid1", 2, bitmap=True, safe=0.0)
    bench.write(0)
    for member in bench.members:
        member.log.clear()
    bench.write(10 * MIB)
    for member in bench.members:
        assert member.log == [(WRITE, 0, 512), (WRITE, 10 * MIB, 4096)]


def test_a_failed_member_gets_no_metadata() -> None:
    """Protects degraded arrays: only members that are there are written."""
    bench = Bench("raid1", 3, bitmap=False, safe=0.0)
    bench.array.fail(1)
    bench.write(0)
    assert bench.taken() == Counter([(0, SUPERBLOCK, 1), (2, SUPERBLOCK, 1)])


def test_a_large_bitmap_has_pages() -> None:
    """Protects the place of a bit: 4,096-byte pages, the last one cut to what is used."""
    bench = Bench("raid1", 2, bitmap=False, safe=0.0)
    marks = WriteIntentBitmap(bench.engine, bench.array, 4 * KIB)  # 131,072 bits: four pages and 256 bytes
    bench.array.keep_metadata(ArrayMetadata(bench.engine, bench.array, marks, 0.0))
    for offset in (0, 256 * MIB, CAPACITY - 4096):
        bench.write(offset)
    bitmap = [write for (slot, *write), n in bench.taken().items() for _ in range(n) if not slot]
    bitmap.remove([SUPERBLOCK, 1])
    assert bitmap == [[BITMAP, 8], [BITMAP, 8], [BITMAP + 16, 8], [BITMAP + 32, 1]]
    with pytest.raises(ModelError, match="power of two"):
        WriteIntentBitmap(bench.engine, bench.array, 5000)


def test_the_bitmap_of_raid10_covers_all_of_the_array() -> None:
    """Protects its length: bits of RAID 10 stand for the array's bytes, not for a member's as those of RAID 5 do."""
    for level, end in (("raid10", (BITMAP + 64, 1)), ("raid5", (BITMAP + 32, 1))):
        bench = Bench(level, 4, bitmap=False, safe=0.0)
        marks = WriteIntentBitmap(bench.engine, bench.array, 4 * KIB)
        bench.array.keep_metadata(ArrayMetadata(bench.engine, bench.array, marks, 0.0))
        bench.write(bench.array.capacity - 4096)
        assert max((sector, sectors) for _, sector, sectors in bench.taken()) == end
