"""Drives that read only so much ahead after a read that continues no other, against arithmetic of turns on paper."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk

KIB = 1024
TURN_S = 60 / 7200
COMMAND = 64 * KIB


AMOUNT = 64 * KIB
"""What is read ahead after a read that continues no other."""


def rate(first: int | None, offsets: list[int], size: int = COMMAND, pause_s: float = 0.0) -> float:
    """MB/s of reads at `offsets`, each sent when the one before is complete, or a pause later."""
    engine = Engine(1)
    spec = hard_disk("WD2500JS").with_values(queue_depth=1, look_ahead_first=first)
    disk = HardDisk(engine, spec, "disk")
    left = iter(offsets)

    def following(_: Any = None) -> None:
        offset = next(left, None)
        if offset is not None:
            disk.submit(Request(READ, offset, size, completed, 1))

    def completed(_: Request) -> None:
        engine.call_at(engine.now + pause_s, following)

    following()
    engine.run()
    return disk.read_bytes / engine.now / 1e6


def strided(commands: int, period: int, periods: int = 200) -> list[int]:
    """So many commands on end, at the start of every period."""
    return [start * period + number * COMMAND for start in range(periods) for number in range(commands)]


def late_s(first: int | None, offsets: list[int], pause_s: float = 0.0) -> float:
    """How much longer than on a drive that always reads on (s)."""
    read = len(offsets) * COMMAND / 1e6
    return read / rate(first, offsets, pause_s=pause_s) - read / rate(None, offsets, pause_s=pause_s)


@pytest.mark.parametrize(("first", "turns"), [(0, 1), (AMOUNT, 0)])
def test_a_stream_is_read_at_the_rate_of_the_platters(first: int, turns: int) -> None:
    """Protects sequential reading: only the second of all its commands can come a revolution late."""
    assert late_s(first, strided(1, COMMAND, 400)) == pytest.approx(turns * TURN_S, rel=0.05, abs=0.05 * TURN_S)


def test_the_second_command_after_a_gap_comes_a_revolution_late_if_nothing_is_read_ahead() -> None:
    """Protects what gaps cost then: 128 KiB of every 256 in two commands take 4 ms to pass, and a revolution more."""
    offsets = strided(2, 256 * KIB)
    assert late_s(0, offsets) == pytest.approx(200 * TURN_S, rel=0.06)
    assert rate(0, offsets) < 0.35 * rate(None, offsets)


def test_a_certain_amount_is_enough_for_a_second_command_that_comes_at_once() -> None:
    """Protects what gaps do not cost: what they read on holds the next command, so gaps only take the time to pass."""
    offsets = strided(2, 256 * KIB)
    assert rate(AMOUNT, offsets) == pytest.approx(rate(None, offsets), rel=0.02)


def test_who_comes_when_the_amount_has_been_read_waits_for_the_platters() -> None:
    """Protects the limit: 64 KiB are read in 1 ms; 3 ms later the place behind them has gone by, and it takes a turn
    and the 128 KiB of the way. If the drive has read on for longer, the pause is all.
    """
    offsets = strided(1, COMMAND + AMOUNT)
    way_s = (COMMAND + AMOUNT) / 65e6
    assert COMMAND / 1e6 / rate(AMOUNT, offsets, pause_s=0.003) == pytest.approx(TURN_S + way_s, rel=0.05)
    assert COMMAND / 1e6 / rate(8 * AMOUNT, offsets, pause_s=0.003) == pytest.approx(0.003, rel=0.12)


def test_a_gap_alone_costs_only_the_time_it_takes_to_pass() -> None:
    """Counter-test: one command for each piece starts its seek in time for it, with or without look-ahead."""
    offsets = strided(1, 128 * KIB)
    assert rate(0, offsets) == pytest.approx(rate(None, offsets), rel=0.02)
    assert rate(AMOUNT, offsets) == pytest.approx(rate(None, offsets), rel=0.02)


@pytest.mark.parametrize("pause_us", range(0, 420, 30))
def test_a_short_gap_costs_no_revolution_wherever_the_head_is_when_the_command_comes(pause_us: int) -> None:
    """Protects short gaps: 32 KiB pass in 0.44 ms, and some come by while the drive gets ready to look for them.

    Before, the drive began anew for these and waited a turn for what it had just read: 12 MB/s, where it has 50.
    """
    offsets = [period * 160 * KIB + number * 32 * KIB for period in range(150) for number in range(4)]
    slower = rate(AMOUNT, offsets, 32 * KIB, pause_us * 1e-6)
    assert slower == pytest.approx(rate(None, offsets, 32 * KIB, pause_us * 1e-6), rel=0.06)


def test_a_drive_that_always_reads_ahead_has_the_next_command_on_its_way() -> None:
    """Counter-test: without adapting, half of what passes is what was asked for."""
    offsets = strided(2, 256 * KIB)
    assert rate(None, offsets) == pytest.approx(0.5 * rate(None, strided(1, COMMAND, 400)), rel=0.02)


def test_streams_that_take_turns_keep_what_was_read_ahead() -> None:
    """Protects several readers: a stream that was once recognized still is when the head has been elsewhere."""
    far = 100 << 30
    turns = [base + number * COMMAND for number in range(0, 64, 8) for base in (0, far) for number in (number,)]
    runs = [start + step * COMMAND for start in turns for step in range(8)]
    assert rate(0, runs) > 0.8 * rate(None, runs)
