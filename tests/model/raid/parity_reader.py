"""A program that reads a file on a parity array through the page cache."""

from __future__ import annotations

from typing import Any

from raidsim.model.memory.dirty_memory import DirtyMemory
from raidsim.model.memory.page_cache import PageCache
from raidsim.model.memory.page_memory import PageMemory
from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.readahead import READ_AHEAD
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE as FREE_PRICES
from raidsim.tests.model.memory.page_cache_bench import NO_LIMITS, Program
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench


def reading(settings: dict[str, Any], per_byte: float) -> float:
    """How long a reader of four rows takes through the page cache (s), with so much CPU time for a byte."""
    bench = Bench(**settings)
    pages, memory = PageMemory(1 << 30), DirtyMemory(NO_LIMITS)
    host, window = Host(bench.cpu, FREE_PRICES), 6 * CHUNK
    cache = PageCache(
        bench.engine, host, bench.array, PageCacheSettings(), pages, memory, lambda end: READ_AHEAD["2.4"](window, end)
    )
    file, program = PagedFile("f", 12 * CHUNK), Program()
    file.extents.append(0, file.size)

    def work() -> Any:
        yield from cache.read(file, cache.open(file), 0, file.size, program, per_byte, PAGE)
        yield cache.pay(program)

    bench.engine.run(bench.engine.spawn(work()))
    return bench.engine.now
