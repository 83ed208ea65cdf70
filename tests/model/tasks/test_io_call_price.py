"""I/O engines: what a core can do with each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import FLUSH, READ, TRIM, WRITE
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


PAGES = replace(PRICES, pin_s=30e-9, unpin_s=20e-9)


def test_each_page_of_a_direct_io_is_pinned_and_released() -> None:
    """Protects the price by size: every page that the I/O touches, and another bio for each 256 pages."""
    pages = submission(NotedPrices(PAGES)).pages
    assert pages.submission_s(READ, 4096) == pages.submission_s(READ, 512) == pytest.approx(30e-9)
    assert pages.submission_s(WRITE, 256 * 4096) == pytest.approx(256 * 30e-9)
    assert pages.submission_s(WRITE, 257 * 4096) == pytest.approx(257 * 30e-9 + 1e-6)
    assert pages.completion_s(READ, 256 * 4096) == pytest.approx(256 * 20e-9)


@pytest.mark.parametrize("op", [FLUSH, TRIM])
def test_what_moves_no_data_pins_nothing(op: int) -> None:
    """A flush has no pages, and a discard none however long it is."""
    pages = submission(NotedPrices(PAGES)).pages
    assert pages.submission_s(op, 1 << 30) == pages.completion_s(op, 1 << 30) == 0.0


def test_only_io_uring_registers_buffers() -> None:
    """Registered buffers stay pinned, and long I/Os are several bios all the same; libaio pins its pages."""
    fixed = submission(NotedPrices(PAGES), "io_uring", fixed_buffers=True).pages
    assert fixed.submission_s(READ, 1 << 20) == fixed.completion_s(READ, 1 << 20) == 0.0
    assert fixed.submission_s(READ, 2 << 20) == pytest.approx(1e-6)
    assert submission(NotedPrices(PAGES), "libaio", fixed_buffers=True) == submission(NotedPrices(PAGES), "libaio")


def test_ios_of_mixed_sizes_pay_for_their_own_pages() -> None:
    """Protects the price of a mix: the thread knows the sizes of the I/Os that it is about to submit."""
    clock = Engine(1)
    host = Host(Cpu(clock), PAGES)
    device = FixedServiceDevice(clock, "d", 1 << 40, linear_service(20e-6), 256)
    cost = submission(host.prices)
    sizes = (4096, 1 << 20)
    ios = ((READ, at << 20, sizes[at % 2]) for at in range(1 << 16))
    load = ClosedLoad(
        clock, device, size=1 << 20, ios=ios, submit_s=cost.submit_s, pages=cost.pages, cpu=host.cpu, host=host
    )
    clock.run_to(0.01)
    each_s = 2 * 3e-6 + (1 + 256) * 50e-9
    assert host.cpu.busy_s == pytest.approx(load.reads / 2 * each_s, rel=0.02)
    assert load.bytes == pytest.approx(load.reads / 2 * sum(sizes), rel=0.02)
