"""A window of read-ahead that nobody waits for yet: Linux 2.2 unplugs the queues for it, so that the drives read on."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from raidsim.model.core.request import Request
from raidsim.model.memory.dirty_memory import DirtyMemory
from raidsim.model.memory.page_cache import PageCache
from raidsim.model.memory.raw_cache import RawCache, RawCacheSettings
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.readahead import READ_AHEAD
from raidsim.model.readahead.linux24 import ReadAhead22, ReadAhead24
from raidsim.tests.model.memory.page_cache_bench import KIB, MIB, NO_LIMITS, Bench, Disk

WINDOW = 128 * KIB
SECONDS_PER_BYTE = 2e-3 / WINDOW


class PluggedDisk(Disk):
    """It holds requests back until somebody unplugs it."""

    __slots__ = ("held",)

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.held: list[Request] = []

    def submit(self, request: Request) -> None:
        self.held.append(request)

    def unplug(self) -> None:
        held, self.held = self.held, []
        for request in held:
            super().submit(request)


class WaitsForSomebody(ReadAhead22):
    """The same without what `reada_ok == 2` does."""

    __slots__ = ()

    unplugs: ClassVar[bool] = False


def seconds(policy: type[ReadAhead24], raw: bool) -> float:
    """How long 4 MiB take a program that works 2 ms on each window, over a disk that takes 1 ms for one."""
    bench = Bench()
    disk = PluggedDisk(bench.engine, capacity=1 << 40)
    memory = DirtyMemory(NO_LIMITS)

    def opened(end: int) -> ReadAhead24:
        return policy(WINDOW - 4 * KIB, end)

    if raw:
        device = RawCache(bench.engine, bench.host, disk, RawCacheSettings(4 * KIB, 1 << 30), memory, opened)
        return bench.do(device.stream_read(0, 4 * MIB, 1, SECONDS_PER_BYTE, lambda _: None))
    settings = PageCacheSettings(read_run_aligned=False)
    cache = PageCache(bench.engine, bench.host, disk, settings, bench.pages, memory, opened)
    file = bench.file(4 * MIB)

    def work() -> Any:
        yield from cache.read(file, cache.open(file), 0, file.size, bench.program, SECONDS_PER_BYTE)
        yield cache.pay(bench.program)

    return bench.do(work())


@pytest.mark.parametrize("raw", [False, True])
def test_the_drives_read_the_next_window_while_the_program_works(raw: bool) -> None:
    """Protects bonnie's getc on 2.2, which works longer on a window than the drives: 64 ms of work hide all of
    32 ms of reading. Were the window plugged until somebody waits for it (counter-test), every second one would be
    waited for.
    """
    assert seconds(ReadAhead22, raw) == pytest.approx(0.066, abs=0.003)
    assert seconds(WaitsForSomebody, raw) > 0.077


def test_only_2_2_unplugs_for_it() -> None:
    """Protects the others: 2.4.10 lost it, 2.6 has a timer and a limit, later kernels plug tasks, FreeBSD nothing."""
    assert {name for name, policy in READ_AHEAD.items() if policy.unplugs} == {"2.2"}
