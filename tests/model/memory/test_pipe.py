"""A pipe: what is written is read, nobody overtakes, and each side waits for the other."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.memory.pipe import Pipe


class Bench:
    """A writer and a reader of one pipe, each with a pause after every call."""

    def __init__(self, capacity: int = 4096) -> None:
        self.engine = Engine()
        self.pipe = Pipe(capacity)
        self.wrote: list[float] = []
        self.read: list[float] = []

    def writer(self, calls: int, size: int, pause_s: float) -> Generator[Any, Any, None]:
        """Write, and pause."""
        for _ in range(calls):
            yield from self.pipe.write(size)
            self.wrote.append(self.engine.now)
            yield self.engine.timeout(pause_s)
        self.pipe.close()

    def reader(self, calls: int, size: int, pause_s: float) -> Generator[Any, Any, None]:
        """Read, and pause."""
        for _ in range(calls):
            yield from self.pipe.read(size)
            self.read.append(self.engine.now)
            yield self.engine.timeout(pause_s)

    def run(self, writer: tuple[int, int, float], reader: tuple[int, int, float]) -> None:
        """Both, to the end."""
        both = [self.engine.spawn(self.writer(*writer)), self.engine.spawn(self.reader(*reader))]
        self.engine.run(self.engine.all_of(both))


def test_the_slower_side_sets_the_pace() -> None:
    """Protects tar | tar: with a slow reader the writer is at most a pipe ahead; with a slow writer it never waits."""
    slow_reader = Bench(4096)
    slow_reader.run((10, 4096, 0.0), (10, 4096, 1.0))
    assert slow_reader.read == pytest.approx(list(range(10)))
    assert slow_reader.wrote == pytest.approx([0, 0, *range(1, 9)])
    slow_writer = Bench(4096)
    slow_writer.run((10, 4096, 1.0), (10, 4096, 0.0))
    assert slow_writer.wrote == pytest.approx(list(range(10)))
    assert slow_writer.read == pytest.approx(list(range(10)))


def test_a_large_pipe_lets_the_writer_run_ahead() -> None:
    """Protects Linux 2.6.11: a pipe of 64 KiB takes 16 pages before the writer waits, one of 4 KiB takes one."""
    large = Bench(16 * 4096)
    large.run((16, 4096, 0.0), (16, 4096, 1.0))
    assert large.wrote == pytest.approx([0.0] * 16)
    small = Bench(4096)
    small.run((16, 4096, 0.0), (16, 4096, 1.0))
    assert small.wrote[-1] > 10


def test_a_call_longer_than_the_pipe_goes_through_in_pieces() -> None:
    """Protects tar's records of 10 KiB through a pipe of 4 KiB: a read waits for all of its bytes."""
    bench = Bench(4096)
    bench.run((3, 10240, 1.0), (3, 10240, 0.0))
    assert bench.read == pytest.approx([0.0, 1.0, 2.0])


def test_the_end_of_the_writer_ends_the_reader() -> None:
    """Protects from readers that wait for ever: after the last byte a read gets what there is."""
    bench = Bench(4096)
    bench.run((1, 1000, 2.0), (2, 4096, 0.0))
    assert bench.read == pytest.approx([2.0, 2.0])
