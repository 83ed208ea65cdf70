"""The drive as a device: times of single commands, statistics, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import FLUSH, READ, TRIM, WRITE, WRITE_THROUGH, Request
from raidsim.model.links.link import Link, Path
from raidsim.model.solid_state.drive import SolidState
from raidsim.tests.model.solid_state.drive_bench import KIB, MIB, Bench, Loaded, small


def test_a_small_read() -> None:
    """Controller 1, firmware 10, die 50, channel 4, interface 1: 66 us."""
    assert Bench().timed(READ, 40 * KIB, 4 * KIB) == pytest.approx(66)


@pytest.mark.parametrize("changes", [{"read_ahead": "128KiB"}, {"mapping_reach": "1GB"}, {"slc_cache": "64MiB"}])
def test_the_short_way_for_small_reads_is_the_long_way(changes: dict[str, Any]) -> None:
    """Drives with features that small reads take the long way for give the same time where the feature does nothing."""
    bench = Bench(slc_program_time="200us", **changes)
    more = 54 if "mapping_reach" in changes else 0  # the map page: a read and its transfer
    assert bench.timed(READ, 40 * KIB, 4 * KIB) == pytest.approx(66 + more)
    assert bench.drive.usages(66e-6)[1].utilization == pytest.approx((1 + (more > 0)) * 50 / 66 / 16, rel=0.01)


def test_less_than_a_codeword_leaves_the_flash_as_one() -> None:
    """512 bytes take the channel as long as 4 KiB, and the interface an eighth."""
    assert Bench().timed(READ, 40 * KIB, 512) == pytest.approx(65 + 0.125)


def test_a_large_read_of_striped_data_uses_all_channels() -> None:
    """64 KiB: 16 KiB on each of four channels (16 us) at once; the interface begins with the first 4 KiB."""
    assert Bench("sequential").timed(READ, 0, 64 * KIB) == pytest.approx(1 + 10 + 50 + 4 + 16)
    striped = Bench("sequential").timed(READ, 0, MIB)
    assert striped == pytest.approx(1 + 10 + 50 + 4 + 256, rel=0.12)


def test_a_small_write() -> None:
    """Controller 1, firmware 5, interface 1; the flash comes later."""
    assert Bench().timed(WRITE, 40 * KIB, 4 * KIB) == pytest.approx(7)


def test_a_written_unit_is_read_from_the_buffer() -> None:
    """No flash: 1 + 10 + 1 us, and the drive counts a hit."""
    bench = Bench()
    bench.timed(WRITE, 40 * KIB, 4 * KIB)
    assert bench.timed(READ, 40 * KIB, 4 * KIB) == pytest.approx(12)
    assert bench.timed(READ, 44 * KIB, 4 * KIB) == pytest.approx(66)
    assert bench.drive.cache_hits == 1


def test_nothing_is_read_where_nothing_was_written() -> None:
    """A fresh drive answers without flash; once written there and flushed out, the flash is read."""
    bench = Bench("fresh", power_loss_protection=False)
    assert bench.timed(READ, 0, 4 * KIB) == pytest.approx(12)
    bench.timed(WRITE, 0, 4 * KIB)
    bench.flushed()
    assert bench.timed(READ, 0, 4 * KIB) == pytest.approx(66)


def test_trim_is_forgotten_data() -> None:
    """After a deallocation the read needs no flash; a neighbor in the same chunk does."""
    bench = Bench()
    assert bench.timed(TRIM, 64 * KIB, 8 * KIB) == pytest.approx(6)
    assert bench.timed(READ, 64 * KIB, 8 * KIB) < 20
    assert bench.timed(READ, 72 * KIB, 4 * KIB) == pytest.approx(66)
    bench.drive.submit(Request(TRIM, 0, MIB, bench.done))
    bench.engine.run()
    assert bench.drive.trims == 2
    assert bench.timed(READ, 72 * KIB, 4 * KIB) == pytest.approx(12)


def test_a_trim_of_parts_of_units_deallocates_whole_ones_only() -> None:
    """2 to 10 KiB covers the unit from 4 to 8 KiB; the others keep their data."""
    bench = Bench()
    bench.timed(TRIM, 2 * KIB, 8 * KIB)
    assert bench.timed(READ, 0, 4 * KIB) == pytest.approx(66)
    assert bench.timed(READ, 4 * KIB, 4 * KIB) == pytest.approx(12)
    assert bench.timed(READ, 8 * KIB, 4 * KIB) == pytest.approx(66)


def test_flush_with_power_loss_protection() -> None:
    """Nothing to do but the command, and a write with FUA is like any other."""
    bench = Bench()
    bench.timed(WRITE, 0, 4 * KIB)
    assert bench.flushed() == pytest.approx(6)
    assert bench.timed(WRITE, 0, 4 * KIB, WRITE_THROUGH) == pytest.approx(7)
    assert bench.drive.flash_bytes == 0


def test_flush_without_power_loss_protection() -> None:
    """It waits for a program of pages that are mostly wasted: 96 KiB for 4, and so does a write with FUA."""
    bench = Bench("fresh", power_loss_protection=False)
    bench.timed(WRITE, 0, 4 * KIB)
    assert bench.flushed() > 600
    assert bench.flushed() == pytest.approx(6)
    assert bench.drive.flash_bytes == 96 * KIB
    assert bench.timed(WRITE, 0, 4 * KIB, WRITE_THROUGH) > 600
    assert bench.drive.write_amplification == pytest.approx(24)
    assert bench.drive.flushes == 2


def test_queue_pairs_limit_what_is_inside() -> None:
    """With two commands inside, the third of three reads begins when one is complete."""
    bench = Bench(queue_depth=2)
    for unit in range(3):
        bench.request(READ, unit * MIB, 4 * KIB)
    assert bench.drive.outstanding == 3
    bench.engine.run()
    assert [round(1e6 * end) for end in bench.ends][:2] == [66, 67]
    assert 1e6 * bench.ends[2] == pytest.approx(66 + 66)
    bench = Bench(queue_depth=2, queues=2)
    for unit in range(3):
        bench.request(READ, unit * MIB, 4 * KIB)
    bench.engine.run()
    assert 1e6 * bench.ends[2] < 75


@pytest.mark.parametrize(("interface", "ratio"), [("SATA 6Gb/s", 1), ("PCIe 4.0 x4 NVMe", 2), ("SAS 12Gb/s", 2)])
def test_both_directions_at_once_but_on_sata(interface: str, ratio: int) -> None:
    """Half reads, half writes on an interface that limits: a duplex one moves twice as much."""
    load = Loaded(
        size=32 * KIB, depth=32, read_share=0.5, interface=interface, interface_rate=2e8, seconds=0.05, state="fresh"
    )
    assert load.bytes_per_s == pytest.approx(ratio * 2e8, rel=0.1)
    assert load.usage["interface"] > 0.9


def test_shared_links_beyond_the_drive() -> None:
    """Two drives behind one link get half of it each; their own interfaces would do more."""
    engine = Engine(1)
    uplink = Path((Link("switch", 1.024e9),))
    ends: list[float] = []
    for name in ("a", "b"):
        drive = SolidState(engine, small(), name, uplink)
        for unit in range(100):
            drive.submit(Request(READ, unit * MIB, 4 * KIB, lambda _: ends.append(engine.now)))
    engine.run()
    assert max(ends) > 200 * 4e-6
    assert max(ends) < 200 * 4e-6 + 100e-6


@pytest.mark.parametrize("read_share", [1.0, 0.0, 0.7])
def test_little_and_one_event_per_io(read_share: float) -> None:
    """A closed load of 16 keeps 16 inside on average, busy all the time, with one scheduled event an I/O."""
    load = Loaded(depth=16, read_share=read_share, seconds=0.06)
    drive = load.drive
    assert drive.latency_s / 0.06 == pytest.approx(16, rel=0.02)
    assert drive.busy_s == pytest.approx(0.06, rel=0.02)
    assert load.bench.engine.scheduled_events <= load.ios + 20
    assert drive.write_bytes == drive.writes * 4 * KIB
    assert drive.read_bytes == drive.reads * 4 * KIB


def test_statistics_begin_anew() -> None:
    """After the warm-up everything counts from nought, also the parts inside."""
    load = Loaded(depth=16, read_share=0.5, seconds=0.01)
    load.drive.start_statistics(load.bench.engine.now)
    assert load.drive.reads == load.drive.writes == load.drive.flash_bytes == load.drive.erases == 0
    assert load.drive.die_busy_s == load.drive.channel_busy_s == load.drive.controller_busy_s == 0
    assert load.drive.write_amplification == 0
    assert load.drive.outstanding == 16


def test_reproducible() -> None:
    """The same seed gives the same times bit by bit; another one other dies."""
    runs = [Loaded(depth=16, read_share=0.7, seconds=0.01, seed=seed).drive.latency_s for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_a_write_larger_than_the_buffer_goes_through_in_pieces() -> None:
    """1 MiB through 128 KiB takes eleven programs one by one; through 4 MiB no longer than the interface."""
    bench = Bench("fresh", write_buffer="128KiB")
    assert bench.timed(WRITE, 0, MIB) > 9 * 600
    bench = Bench("fresh")
    assert bench.timed(WRITE, 0, MIB) == pytest.approx(6 + 256)
    assert bench.drive.dirty_bytes <= MIB


@pytest.mark.parametrize(("offset", "size"), [(0, 0), (100, 512), (0, 100), (-512, 512), (128 * 50 * MIB, 512)])
def test_what_is_not_on_the_drive_is_refused(offset: int, size: int) -> None:
    """Whole sectors within the capacity."""
    with pytest.raises(ModelError, match=r"ssd: .*expected: multiples of 512 bytes"):
        Bench().request(READ, offset, size)


def test_an_unknown_state_is_refused() -> None:
    """What a drive can hold at the start."""
    with pytest.raises(ModelError, match=r"'old'.*steady, sequential, fresh"):
        Bench("old")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"flash": 128 * 50 * MIB + 1}, "superblocks"),
        ({"flash": 1000}, "more than capacity"),
        ({"dies": 18}, "multiple of channels"),
        ({"page": 10000}, "power of two"),
        ({"mapping_unit": "64KiB"}, "page of all planes"),
        ({"capacity": 128 * 50 * MIB + 512}, "multiple of mapping_unit"),
        ({"slc_cache": "1GB"}, "slc_program_time"),
    ],
)
def test_impossible_drives_are_refused(changes: dict[str, object], words: str) -> None:
    """The description says what does not fit."""
    with pytest.raises(ValueError, match=words):
        small(**changes)


@pytest.mark.parametrize("flush_s", [0.0, 1e-3])
@pytest.mark.parametrize("protected", [False, True])
def test_a_flush_has_a_cost_of_its_own(protected: bool, flush_s: float) -> None:
    """Besides the program, which capacitors make needless; a flush that finds nothing written costs a command only."""
    bench = Bench("fresh", power_loss_protection=protected, flush_time=flush_s)
    bench.timed(WRITE, 0, 4 * KIB)
    program_us = 0 if protected else 600 + 6 * 16  # and its pages over the channel
    assert bench.flushed() == pytest.approx(1 + 1e6 * flush_s + program_us, rel=0.3)
    assert bench.flushed() == pytest.approx(6)
    bench.timed(WRITE, MIB, 4 * KIB)
    begun, over = bench.engine.now, []
    for _ in range(2):  # the second finds nothing new, and is over when the first has made all of it safe
        bench.drive.flush(lambda: over.append(bench.engine.now))
    bench.engine.run()
    assert over[0] - begun >= flush_s
    assert over[1] >= over[0]
    through = bench.timed(WRITE, MIB, 4 * KIB, WRITE_THROUGH)
    assert (through > 1e6 * flush_s + 600) == (not protected)


@pytest.mark.parametrize("fua_s", [None, 3e-3])
def test_a_write_with_fua_has_a_time_of_its_own(fua_s: float | None) -> None:
    """One drive does 171 writes with FUA a second and 802 with a flush, another one 4,863 and 4,265.

    Counter-test: without a time of its own FUA takes as long as a flush.
    """
    bench = Bench("fresh", power_loss_protection=False, flush_time=1e-3, fua_time=fua_s)
    bench.timed(WRITE, 0, 4 * KIB)
    bench.flushed()
    own = bench.timed(WRITE, MIB, 4 * KIB, WRITE_THROUGH)
    bench.timed(WRITE, 2 * MIB, 4 * KIB)
    assert own - bench.flushed() == pytest.approx(0 if fua_s is None else 2000, abs=30)


def test_a_commit_flushes_first() -> None:
    """What was written before is flushed, then the commit is written: twice the time of a flush.

    Counter-test: if nothing was written before, there is nothing to flush.
    """
    bench = Bench("fresh", power_loss_protection=False, flush_time=2e-3)
    alone = bench.timed(WRITE, MIB, 4 * KIB, WRITE_THROUGH)
    bench.timed(WRITE, 0, 4 * KIB)
    assert bench.timed(WRITE, MIB, 4 * KIB, WRITE_THROUGH) == pytest.approx(2 * alone, rel=0.05)


def test_flush_and_trim_are_not_reads_or_writes() -> None:
    """The operations' numbers differ."""
    assert len({READ, WRITE, FLUSH, TRIM}) == 4


@pytest.mark.parametrize(("offset", "size"), [(0, 128 * KIB), (3 * 512, 40 * KIB), (4 * KIB, 8 * KIB)])
def test_the_short_way_for_large_reads_is_the_long_way(offset: int, size: int) -> None:
    """Something in the buffer that has nothing to do with the read does not change its time."""
    plain, other = Bench(), Bench()
    other.timed(WRITE, 64 * MIB, 4 * KIB)
    assert plain.timed(READ, offset, size) == pytest.approx(other.timed(READ, offset, size))
    assert plain.drive.die_busy_s == pytest.approx(other.drive.die_busy_s)


def test_a_drive_formatted_with_4_kib_takes_no_smaller_commands() -> None:
    """Protects the format: sectors of 4 KiB refuse 512 bytes; those of 512 read the rest of a mapping unit."""
    bench = Bench(logical_sector="4KiB")
    with pytest.raises(ModelError, match=r"ssd: .*expected: multiples of 4096 bytes"):
        bench.request(WRITE, 0, 512)
    assert bench.drive.logical_sector == 4 * KIB
    small_writes = Bench()
    for i in range(25):
        small_writes.request(WRITE, i * MIB, 512)
    small_writes.engine.run()
    assert small_writes.drive._flash.die_busy_s >= 24 * 50e-6  # the units that the rest was read from


def test_a_controller_takes_each_4_kib_of_a_command() -> None:
    """Protects larger random I/Os at depth: 30 us for 4 KiB and 20 us for each further 4 KiB. One command alone waits
    for none of that. Counter-test: without `unit_time` 16 KiB are as many commands/s as 4 KiB.
    """
    changes: dict[str, Any] = {
        "command_rate": 1 / 30e-6,
        "dies": 64,
        "capacity": 128 * 200 * MIB,
        "flash": 160 * 200 * MIB,
    }
    for size, unit_time, expected_us in ((4, "20us", 30), (16, "20us", 90), (16, "0us", 30)):
        found = Loaded(size=size * KIB, depth=32, unit_time=unit_time, **changes)
        assert 1e6 / found.iops == pytest.approx(expected_us, rel=0.03)
        assert found.usage["controller"] == pytest.approx(1, abs=0.02)
    alone = [Bench("sequential", unit_time=each).timed(READ, 0, 16 * KIB) for each in ("20us", "0us")]
    assert alone[0] == alone[1]


@pytest.mark.parametrize(("interface", "expected"), [("PCIe 4.0 x4 NVMe", 0.7), ("SATA 6Gb/s", 0.0)])
def test_what_collection_moves_takes_the_controller(interface: str, expected: float) -> None:
    """Protects steady random writes of SATA drives, too: a moved unit takes `unit_time`. Without one it takes a share
    of a command on NVMe, and nothing on SATA.
    """
    assert small(interface=interface, command_rate=1e5, unit_time="2us").move_share == pytest.approx(0.2)
    assert small(interface=interface).move_share == expected
