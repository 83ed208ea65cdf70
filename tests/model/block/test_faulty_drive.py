"""A drive that gets slow, or stops to retry."""

from __future__ import annotations

import pytest

from raidsim.model.block.faulty_drive import FaultyDrive
from raidsim.model.core.engine import Engine
from raidsim.tests.model.recording import KIB, Issuer, Recorder


class Bench:
    """A drive of 1 ms a command, two at a time."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.drive = FaultyDrive(self.engine, Recorder(self.engine, servers=2))
        self.issuer = Issuer(self.engine, self.drive)

    def run(self, commands: int) -> float:
        """Milliseconds that so many commands take that come at once."""
        began = self.engine.now
        for number in range(commands):
            self.issuer.read(number * 4 * KIB, 4 * KIB)
        self.engine.run()
        return 1e3 * (self.engine.now - began)


def test_a_healthy_drive_is_as_fast_as_without() -> None:
    """Protects every other prediction: what can be hurt and is not changes nothing."""
    bench = Bench()
    assert bench.run(8) == pytest.approx(4.0)
    assert bench.drive.held_s == 0.0
    assert len(bench.issuer.done) == 8


def test_a_slow_drive_takes_one_command_at_a_time() -> None:
    """Protects "slow", and that it ends: each command takes as many times as long, alone; afterwards as before."""
    bench = Bench()
    bench.drive.slowness = 5.0
    assert bench.run(4) == pytest.approx(20.0)
    assert bench.drive.held_s == pytest.approx(0.016)
    bench.drive.slowness = 1.0
    assert bench.run(8) == pytest.approx(4.0)
    assert bench.issuer.order == [4 * KIB * number for count in (4, 8) for number in range(count)]


def test_while_a_drive_retries_it_serves_nothing() -> None:
    """Protects the block of a read error: commands and flushes that come meanwhile wait, and none is lost."""
    bench = Bench()
    over: list[float] = []
    bench.drive.retry(7.0, lambda: over.append(bench.engine.now))
    bench.drive.flush(lambda: over.append(bench.engine.now))
    assert bench.run(2) == pytest.approx(7002.0)
    assert over == [7.0, 7.0]
    assert [round(at, 6) for at, _, _ in bench.issuer.done] == [7.001, 7.002]
    assert bench.run(8) == pytest.approx(4.0)
