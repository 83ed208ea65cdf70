"""A small solid-state drive with round numbers, and closed loads on it."""

from __future__ import annotations

from typing import Any

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import WAITED, Request
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.solid_state.spec import SolidStateSpec

KIB = 1024
MIB = 1 << 20
GB = 10**9

SMALL: dict[str, Any] = {
    "model": "small",
    "interface": "PCIe 4.0 x4 NVMe",
    "interface_rate": "4.096GB/s",  # 4 KiB in 1 us
    "capacity": 128 * 50 * MIB,
    "flash": 160 * 50 * MIB,
    "channels": 4,
    "channel_rate": "1.024GB/s",  # 4 KiB in 4 us
    "dies": 16,
    "planes": 2,
    "page": "16KiB",
    "pages_per_block": 100,  # a superblock is 50 MiB
    "bits_per_cell": 3,
    "read_time": "50us",
    "read_steps": [2],  # every page is read in the same time
    "program_time": "600us",
    "erase_time": "3ms",
    "read_overhead": "10us",
    "write_overhead": "5us",
    "command_rate": 1e6,
    "queue_depth": 1023,
    "write_buffer": "4MiB",
    "power_loss_protection": True,
}
"""A 4 KiB read alone takes 1 (controller) + 10 (firmware) + 50 (die) + 4 (channel) + 1 (interface) = 66 us."""


def small(**changes: Any) -> SolidStateSpec:
    """The small drive with some fields replaced."""
    return SolidStateSpec.model_validate({**SMALL, **changes})


class Bench:
    """A drive, and what comes of requests one after another.

    Parameters
    ----------
    state
        What the drive holds at the start.
    changes
        Fields of the description that differ.
    """

    def __init__(self, state: str = "steady", seed: int = 1, **changes: Any) -> None:
        self.engine = Engine(seed)
        self.drive = SolidState(self.engine, small(**changes), "ssd", state=state)
        self.ends: list[float] = []

    def done(self, _: Request) -> None:
        """Note when a request is complete."""
        self.ends.append(self.engine.now)

    def request(self, op: int, offset: int, size: int, sync: int = WAITED) -> None:
        """Submit a request now."""
        self.drive.submit(Request(op, offset, size, self.done, 0, sync))

    def timed(self, op: int, offset: int, size: int, sync: int = WAITED) -> float:
        """Submit a request to the idle drive; how long it takes (us)."""
        begin = self.engine.now
        self.request(op, offset, size, sync)
        self.engine.run()
        return 1e6 * (self.engine.now - begin)

    def flushed(self) -> float:
        """How long a flush takes (us)."""
        begin = self.engine.now
        self.drive.flush(lambda: None)
        self.engine.run()
        return 1e6 * (self.engine.now - begin)


class Loaded:
    """What a closed load on the small drive measures after a warm-up.

    Attributes
    ----------
    iops, bytes_per_s
        Completed in the measured time.
    read_us, write_us
        Mean latencies.
    """

    def __init__(
        self,
        *,
        size: int = 4 * KIB,
        depth: int = 1,
        read_share: float = 1.0,
        sequential: bool = False,
        span: int | None = None,
        seconds: float = 0.05,
        warm_up: float = 0.0,
        state: str = "steady",
        seed: int = 1,
        **changes: Any,
    ) -> None:
        self.bench = Bench(state, seed, **changes)
        engine, drive = self.bench.engine, self.bench.drive
        load = ClosedLoad(
            engine, drive, size=size, depth=depth, read_share=read_share, sequential=sequential, span=span
        )
        if warm_up:
            engine.run(until=warm_up)
        drive.start_statistics(engine.now)
        load.start_statistics(engine.now)
        engine.run(until=warm_up + seconds)
        self.drive = drive
        self.ios = drive.reads + drive.writes
        self.iops = self.ios / seconds
        self.bytes_per_s = (drive.read_bytes + drive.write_bytes) / seconds
        self.read_us = 1e6 * load.read_latency.mean if load.read_latency.count else 0.0
        self.write_us = 1e6 * load.write_latency.mean if load.write_latency.count else 0.0
        self.read_p99_us = 1e6 * load.read_latency.percentile(99) if load.read_latency.count else 0.0
        self.usage = {each.name.removeprefix("ssd "): each.utilization for each in drive.usages(seconds)}
