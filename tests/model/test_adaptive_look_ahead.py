"""A drive that reads ahead only after reads that continue others, against arithmetic of turns on paper."""

from __future__ import annotations

import pytest

from raidsim.model.disk import HardDisk
from raidsim.model.drives import hard_disk
from raidsim.model.engine import Engine
from raidsim.model.request import READ, Request

KIB = 1024
TURN_S = 60 / 7200
COMMAND = 64 * KIB


def rate(adapts: bool, offsets: list[int], size: int = COMMAND) -> float:
    """MB/s of reads at `offsets`, one after the other, each sent when the one before is complete."""
    engine = Engine(1)
    spec = hard_disk("WD2500JS").with_values(queue_depth=1, look_ahead_adapts=adapts)
    disk = HardDisk(engine, spec, "disk")
    left = iter(offsets)

    def following(_: Request | None = None) -> None:
        offset = next(left, None)
        if offset is not None:
            disk.submit(Request(READ, offset, size, following, 1))

    following()
    engine.run()
    return disk.read_bytes / engine.now / 1e6


def strided(commands: int, period: int, periods: int = 200) -> list[int]:
    """So many commands on end, at the start of every period."""
    return [start * period + number * COMMAND for start in range(periods) for number in range(commands)]


def test_a_stream_is_read_at_the_rate_of_the_platters() -> None:
    """Protects sequential reading: only the second of all its commands comes a revolution late."""
    offsets = strided(1, COMMAND, 400)
    late_s = 400 * COMMAND / 1e6 / rate(True, offsets) - 400 * COMMAND / 1e6 / rate(False, offsets)
    assert late_s == pytest.approx(TURN_S, rel=0.05)


def test_the_second_command_after_a_gap_comes_a_revolution_late() -> None:
    """Protects the cost of gaps: 128 KiB of every 256 in two commands take 4 ms to pass, and a revolution more."""
    offsets = strided(2, 256 * KIB)
    read = len(offsets) * COMMAND / 1e6
    late_s = read / rate(True, offsets) - read / rate(False, offsets)
    assert late_s == pytest.approx(200 * TURN_S, rel=0.06)
    assert rate(True, offsets) < 0.35 * rate(False, offsets)


def test_a_gap_alone_costs_only_the_time_it_takes_to_pass() -> None:
    """Counter-test: one command for each piece starts its seek in time for it, with or without look-ahead."""
    offsets = strided(1, 128 * KIB)
    assert rate(True, offsets) == pytest.approx(rate(False, offsets), rel=0.02)


def test_a_drive_that_always_reads_ahead_has_the_next_command_on_its_way() -> None:
    """Counter-test: without adapting, half of what passes is what was asked for."""
    offsets = strided(2, 256 * KIB)
    assert rate(False, offsets) == pytest.approx(0.5 * rate(False, strided(1, COMMAND, 400)), rel=0.02)


def test_streams_that_take_turns_keep_what_was_read_ahead() -> None:
    """Protects several readers: a stream that was once recognised still is when the head has been elsewhere."""
    far = 100 << 30
    turns = [base + number * COMMAND for number in range(0, 64, 8) for base in (0, far) for number in (number,)]
    runs = [start + step * COMMAND for start in turns for step in range(8)]
    assert rate(True, runs) > 0.8 * rate(False, runs)
