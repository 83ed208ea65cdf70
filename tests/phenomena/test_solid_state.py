"""What everybody finds who measures solid-state drives, each with its cause switched off."""

from __future__ import annotations

import math
from typing import Any

import pytest

from raidsim.model.core.request import READ, TRIM, WRITE, Request
from raidsim.model.solid_state.steady_state import write_amplification
from raidsim.model.solid_state.superblocks import RESERVE
from raidsim.tests.model.solid_state.drive_bench import KIB, MIB, Bench, Loaded, small

DIES = 16
SENSE_S = 50e-6


def test_a_used_drive_writes_slower_than_a_fresh_one() -> None:
    """Random writes in steady state cost as many flash writes as the closed form says; the rate falls with them."""
    random: dict[str, Any] = {"depth": 64, "read_share": 0.0, "seconds": 0.025, "warm_up": 0.012}
    fresh, steady = Loaded(state="fresh", **random), Loaded(state="steady", **random)
    expected = write_amplification(128 / (160 - RESERVE))
    assert fresh.drive.write_amplification == pytest.approx(1, rel=0.02)
    assert steady.drive.write_amplification == pytest.approx(expected, rel=0.08)
    # For 24 units of the host: programs with their share of an erase, and reads of 8 units, of which some are valid.
    moved = expected - 1
    reads = math.ceil(24 / (8 * moved / expected)) * SENSE_S
    per_program = expected * (600e-6 + 3e-3 * 3 / 100) + moved * reads
    assert fresh.iops == pytest.approx(DIES * 24 / 600e-6, rel=0.02)
    assert steady.iops == pytest.approx(DIES * 24 / per_program, rel=0.05)


def test_the_order_of_overwriting_is_the_cause() -> None:
    """A drive that was filled in order and is overwritten in order writes as fast as a fresh one."""
    ordered: dict[str, Any] = {
        "size": 128 * KIB,
        "depth": 16,
        "read_share": 0.0,
        "sequential": True,
        "seconds": 0.03,
        "warm_up": 0.01,
    }
    fresh, filled = Loaded(state="fresh", **ordered), Loaded(state="sequential", **ordered)
    assert filled.bytes_per_s == pytest.approx(fresh.bytes_per_s, rel=0.02)
    assert filled.drive.write_amplification == pytest.approx(1, rel=0.02)


def test_spare_room_makes_random_writes_fast() -> None:
    """From 7 to 50 % over-provisioning the rate rises as the closed form's amplification falls."""
    rates, amplified = [], []
    for spare in (1.07, 1.15, 1.28, 1.5):
        flash = int(128 * spare) * 50 * MIB
        load = Loaded(depth=64, read_share=0.0, seconds=0.025, warm_up=0.012, flash=flash)
        expected = write_amplification(128 / (int(128 * spare) - RESERVE))
        assert load.drive.write_amplification == pytest.approx(expected, rel=0.08)
        rates.append(load.iops)
        amplified.append(expected)
    assert rates == sorted(rates)
    assert rates[-1] / rates[0] == pytest.approx(amplified[0] / amplified[-1], rel=0.3)


@pytest.mark.parametrize("depth", [1, 4, 16, 64, 256])
def test_random_reads_grow_with_depth_until_the_dies_are_busy(depth: int) -> None:
    """IOPS between what dies hit blindly in turns give and what a free choice of dies would.

    `depth` reads thrown on 16 dies at random hit 16 (1 - (15/16)^depth) of them; the rest of the time of a read (16
    us) is spent elsewhere.
    """
    load = Loaded(depth=depth, command_rate=1e7, seconds=0.02, warm_up=0.002)
    alone = 10.1e-6 + SENSE_S + 5e-6
    hit = DIES * (1 - (1 - 1 / DIES) ** depth)
    lower = min(hit / alone, depth / alone)
    upper = min(depth / alone, DIES / SENSE_S)
    assert 0.97 * lower <= load.iops <= 1.01 * upper
    if depth >= 256:
        assert load.iops > 0.97 * DIES / SENSE_S
        assert load.usage["dies"] > 0.97


def test_collisions_are_the_cause_of_the_slow_approach() -> None:
    """Sixteen reads outstanding do not reach what 16 dies can; on 512 dies as many hardly meet."""
    few = Loaded(depth=16, command_rate=1e7, seconds=0.02)
    many = Loaded(depth=16, command_rate=1e7, seconds=0.02, dies=512, pages_per_block=4)
    alone = 16 / 65.1e-6
    assert few.iops < 0.8 * alone
    assert many.iops > 0.95 * alone


@pytest.mark.parametrize(
    ("limit", "changes", "iops"),
    [
        ("controller", {"command_rate": 100_000.0}, 100_000),
        ("channels", {"channel_rate": "51.2MB/s"}, 4 * 51.2e6 / 4096),
        ("interface", {"interface_rate": "409.6MB/s"}, 100_000),
        ("dies", {}, DIES / SENSE_S),
    ],
)
def test_each_part_can_be_the_limit(limit: str, changes: dict[str, Any], iops: float) -> None:
    """At a deep queue the rate is that of the slowest part, and the drive names it as the busy one."""
    load = Loaded(depth=512, seconds=0.02, warm_up=0.012, **changes)
    assert load.iops == pytest.approx(iops, rel=0.04)
    assert max(load.usage, key=lambda part: load.usage[part]) == limit
    assert load.usage[limit] > 0.95


def test_writes_slow_reads_down_and_suspension_helps() -> None:
    """A read that finds a program under way waits for the rest of it; with suspension hardly."""
    mixed: dict[str, Any] = {"depth": 8, "read_share": 0.7, "seconds": 0.05, "warm_up": 0.01}
    alone = Loaded(depth=8, seconds=0.02)
    waiting, suspending = Loaded(**mixed), Loaded(**mixed, suspend_time="10us")
    assert waiting.read_us > 1.5 * alone.read_us
    assert waiting.read_p99_us > 500
    assert suspending.read_us < 0.7 * waiting.read_us
    assert suspending.read_p99_us < 0.5 * waiting.read_p99_us


def test_writes_are_faster_than_reads_until_the_buffer_is_full() -> None:
    """One at a time a write takes 7 us and a read 66; deep, the programs set the pace, not the buffer."""
    assert Loaded(read_share=0.0, seconds=0.01).write_us == pytest.approx(7, rel=0.02)
    assert Loaded(read_share=1.0, seconds=0.01).read_us == pytest.approx(66, rel=0.02)
    deep = Loaded(depth=64, read_share=0.0, seconds=0.025, warm_up=0.012)
    large = Loaded(depth=64, read_share=0.0, seconds=0.025, warm_up=0.012, write_buffer="8MiB")
    assert deep.write_us > 20 * 7
    assert large.iops == pytest.approx(deep.iops, rel=0.1)


def test_the_cliff_of_one_bit_cells() -> None:
    """A long write has the interface's rate until the cells are used up; without them it is slow from the beginning."""

    def early_and_late(**changes: Any) -> tuple[float, float]:
        long: dict[str, Any] = {
            "size": 128 * KIB,
            "depth": 16,
            "read_share": 0.0,
            "sequential": True,
            "state": "fresh",
            **changes,
        }
        early = Loaded(warm_up=0.002, seconds=0.008, **long)
        return early.bytes_per_s, Loaded(warm_up=0.03, seconds=0.03, **long).bytes_per_s

    early, late = early_and_late(slc_cache="64MiB", slc_program_time="80us")
    assert early == pytest.approx(4.096e9, rel=0.05)
    assert late < 0.7 * early
    assert early_and_late() == pytest.approx((late, late), rel=0.1)


def test_a_map_in_flash_makes_wide_reads_slow() -> None:
    """A reach of 256 MiB: reads within it are fast, over the whole 6.25 GiB nearly every one reads the map first."""
    narrow = Loaded(span=128 * MIB, seconds=0.03, warm_up=0.02, mapping_reach="256MiB")
    wide = Loaded(seconds=0.03, warm_up=0.02, mapping_reach="256MiB")
    whole = Loaded(seconds=0.03, warm_up=0.02)
    missed = 1 - 256 / 6400
    assert narrow.read_us == pytest.approx(66, rel=0.01)
    assert whole.read_us == pytest.approx(66, rel=0.01)
    assert wide.read_us == pytest.approx(66 + missed * 54, rel=0.03)


def test_trim_gives_back_the_speed_of_a_fresh_drive() -> None:
    """Half the drive deallocated: random writes on the other half find room for long without collection."""
    plain = Bench("steady")
    trimmed = Bench("steady")
    trimmed.drive.submit(Request(TRIM, 0, 64 * 50 * MIB, trimmed.done))
    trimmed.engine.run()
    amplified = []
    for bench in (plain, trimmed):
        bench.drive.start_statistics(bench.engine.now)
        for i in range(6000):
            bench.request(WRITE, (64 * 50 * MIB + i * 7919 * 4 * KIB) % (64 * 50 * MIB) + 64 * 50 * MIB, 4 * KIB)
        bench.engine.run()
        amplified.append(bench.drive.write_amplification)
    assert amplified[1] < 0.6 * amplified[0]


def test_a_flush_after_every_write_is_what_consumer_drives_are_bad_at() -> None:
    """Synchronous writes: with capacitors two quick commands, without them a program of wasted pages each."""
    taken = []
    for protected in (True, False):
        bench = Bench("fresh", power_loss_protection=protected)
        times = [bench.timed(WRITE, i * 4 * KIB, 4 * KIB) + bench.flushed() for i in range(50)]
        taken.append((sum(times) / 50, bench.drive.write_amplification))
    assert taken[0][0] == pytest.approx(7 + 6)
    assert taken[0][1] <= 1
    assert 600 < taken[1][0] < 850
    assert taken[1][1] == 24


def test_large_reads_of_data_written_at_random_take_more_of_the_flash() -> None:
    """128 KiB written in order is eight reads of dies, written at random 32: the dies are busier for the same bytes."""
    large: dict[str, Any] = {"size": 128 * KIB, "depth": 4, "sequential": True, "seconds": 0.02}
    ordered, scattered = Loaded(state="sequential", **large), Loaded(state="steady", **large)
    assert ordered.bytes_per_s > 1.2 * scattered.bytes_per_s
    per_byte = [load.usage["dies"] / load.bytes_per_s for load in (ordered, scattered)]
    assert per_byte[1] > 6 * per_byte[0]


@pytest.mark.parametrize(("size", "striped"), [(4 * KIB, True), (128 * KIB, True), (4 * KIB, False)])
def test_what_is_written_in_order_is_read_fast(size: int, striped: bool) -> None:
    """3 MiB written in order, in small or large writes, are read in large ones as from a drive filled in order."""
    bench, ordered = Bench("steady"), Bench("sequential")
    places = list(range(0, 3 * MIB, size))
    if not striped:
        places = [places[i * 311 % len(places)] for i in range(len(places))]
    for place in places:
        bench.request(WRITE, place, size)
    bench.engine.run()
    bench.engine.run(until=bench.engine.now + 1)
    times = [sum(each.timed(READ, i * 128 * KIB, 128 * KIB) for i in range(24)) for each in (bench, ordered)]
    if striped:
        assert times[0] == pytest.approx(times[1], rel=0.02)
    else:
        assert times[0] > 1.1 * times[1]


def test_a_superblock_is_50_mib() -> None:
    """What the closed forms above divide by."""
    assert small().superblock == 50 * MIB
    assert small().superblocks == 160
