"""Commands that need no head: the drive's processor serves them one after another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import hard_disk, hard_disk_names

SATA = hard_disk("IronWolf-Pro-20TB")
SIZE = 512
COMMANDS = 4000


def _closed(spec: DriveSpec, op: int, outstanding: int, step: int) -> tuple[float, float, HardDisk]:
    """Commands a second and their mean latency (s), of small I/Os `step` bytes apart, after the first hundred."""
    engine = Engine(1)
    disk = HardDisk(engine, spec, "disk")
    offsets: Iterator[int] = iter(range(0, COMMANDS * step, step)) if step else iter([0] * COMMANDS)
    times: list[float] = []
    latencies: list[float] = []

    def issue(_: object = None) -> None:
        offset = next(offsets, None)
        if offset is not None:
            disk.submit(Request(op, offset, SIZE, done))

    def done(request: Request) -> None:
        times.append(engine.now)
        latencies.append(engine.now - request.submitted)
        issue()

    for _ in range(outstanding):
        issue()
    engine.run()
    rate = (len(times) - 101) / (times[-1] - times[100])
    return rate, sum(latencies[100:]) / len(latencies[100:]), disk


@pytest.mark.parametrize(("op", "step"), [(READ, 0), (WRITE, SIZE), (READ, SIZE)])
def test_hits_and_cached_writes_are_served_one_by_one(op: int, step: int) -> None:
    """Protects the interface's limit: 32 outstanding get no more than one command after another allows."""
    rate, _, disk = _closed(SATA, op, 32, step)
    assert 100_000 < rate <= 1.001 / SATA.hit_overhead
    assert disk.processor_s == pytest.approx(len(range(COMMANDS)) * SATA.hit_overhead, rel=0.02)


def test_a_processor_without_a_time_serves_them_at_once() -> None:
    """The counter-test: only the interface limits then."""
    assert _closed(SATA.with_values(command_time=0.0), READ, 32, 0)[0] > 1_000_000


def test_one_at_a_time_keeps_its_latency() -> None:
    """Protects depth 1: nothing is before a lone hit, so it takes the firmware's time and the transfer."""
    _, latency, _ = _closed(SATA, READ, 1, 0)
    assert latency == pytest.approx(SATA.hit_overhead + SIZE / SATA.interface_rate, rel=1e-3)


def test_the_head_is_not_held_up() -> None:
    """Protects the media rate: small I/Os in order, which a drive reads as they pass, are not slower for it."""
    spec = SATA.with_values(command_time=0.0)
    for size in (4096, 65536):
        rates = []
        for each in (SATA, spec):
            engine = Engine(1)
            disk = HardDisk(engine, each, "disk")
            offsets = iter(range(0, 1000 * size, size))

            def issue(
                _: object = None, disk: HardDisk = disk, offsets: Iterator[int] = offsets, size: int = size
            ) -> None:
                offset = next(offsets, None)
                if offset is not None:
                    disk.submit(Request(READ, offset, size, issue))

            for _ in range(8):
                issue()
            engine.run()
            rates.append(1000 * size / engine.now)
        assert rates[0] == pytest.approx(rates[1], rel=0.01)


@pytest.mark.parametrize("name", [name for name in hard_disk_names() if hard_disk(name).interface.startswith("SATA")])
def test_no_drive_with_sata_exceeds_what_the_interface_takes(name: str) -> None:
    """Protects the catalogue: 200,000 commands a second at most."""
    spec = hard_disk(name)
    time = spec.hit_overhead if spec.command_time is None else spec.command_time
    assert time >= 5e-6
