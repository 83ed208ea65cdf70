"""I/O engines: what a core can do with each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.io_call_price import IoEngine, submission
from raidsim.model.tasks.prices import FREE, NotedPrices

PRICES = replace(FREE, read_call_s=2e-6, uring_call_s=1e-6, bio_s=1e-6, switch_s=4e-6)


def reads(engine: IoEngine | None, depth: int, service_s: float = 20e-6) -> float:
    """Reads/s of one job on a drive that takes any number at once."""
    clock = Engine(1)
    host = Host(Cpu(clock, 2), PRICES)
    device = FixedServiceDevice(clock, "d", 1 << 40, linear_service(service_s), 256)
    queue = HardwareQueues(clock, host, device, depth=256, hardware_queues=2)
    cost = submission(NotedPrices(PRICES), engine)
    load = ClosedLoad(
        clock,
        queue,
        size=4096,
        depth=depth,
        submit_s=cost.submit_s,
        wake_s=cost.wake_s,
        cpu=host.cpu,
    )
    clock.run_to(0.02)
    return load.reads / 0.02


def test_a_deep_queue_is_limited_by_the_calls_alone() -> None:
    """3 us an I/O through io_submit, 2 us through io_uring: the job never sleeps."""
    assert reads("libaio", 64) == pytest.approx(1 / 3e-6, rel=0.02)
    assert reads("io_uring", 64) == pytest.approx(1 / 2e-6, rel=0.02)


def test_a_drive_slower_than_the_thread_wakes_it_for_every_io() -> None:
    """The counter-test: with 20 us a read and one at a time, each read costs its calls and a wake-up."""
    assert reads("libaio", 1) == pytest.approx(1 / 27e-6, rel=0.02)


def test_one_at_a_time_all_sleep() -> None:
    """20 us of the drive, 3 us of calls and 4 us to wake up, whatever it is called."""
    assert reads("libaio", 1) == reads(None, 1) == reads("psync", 1)
