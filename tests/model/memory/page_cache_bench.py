"""A page cache over a device that takes 1 ms a request and writes down what it is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from raidsim.model.core.engine import Engine
from raidsim.model.memory.dirty_memory import DirtyLimits, DirtyMemory
from raidsim.model.memory.page_cache import PageCache
from raidsim.model.memory.page_memory import PageMemory
from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.readahead import READ_AHEAD
from raidsim.model.tasks.cpu import Account, Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Recorder

NO_LIMITS = DirtyLimits(1 << 40, 1 << 40, 1 << 41)


class Disk(Recorder):
    """1 ms a request, one at a time; its queue is never full."""

    __slots__ = ("submission_s_per_page",)

    submission_s_per_page: float

    def __init__(self, engine: Engine, name: str = "d", capacity: int = 64 * MIB, **times: Any) -> None:
        super().__init__(engine, name, capacity, **times)
        self.submission_s_per_page = 0.0


class Program(Account):
    """Who pays for CPU time."""

    def __init__(self, issuer: int = 1) -> None:
        super().__init__(issuer)


class Bench:
    """The cache, and one program that uses it. Prices are zero unless given."""

    def __init__(
        self,
        memory: int = 1 << 30,
        limits: DirtyLimits = NO_LIMITS,
        generation: str = "2.6",
        window: int = 128 * KIB,
        settings: PageCacheSettings | None = None,
        submission_s: float = 0.0,
        **prices: float,
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine)
        self.host = Host(self.cpu, replace(FREE, **prices))
        self.disk = Disk(self.engine, capacity=1 << 40)
        self.disk.submission_s_per_page = submission_s
        self.memory = DirtyMemory(limits)
        self.pages = PageMemory(memory)
        policy = READ_AHEAD[generation]
        self.cache = PageCache(
            self.engine,
            self.host,
            self.disk,
            settings or PageCacheSettings(),
            self.pages,
            self.memory,
            lambda end: policy(window, end),
        )
        self.program = Program()

    def file(self, size: int, address: int = 0, name: str = "f") -> PagedFile:
        """A contiguous file."""
        file = PagedFile(name, size)
        file.extents.append(address, size)
        return file

    def do(self, work: Any) -> float:
        """Do something to its end; returns how long it took (s)."""
        begun = self.engine.now
        self.engine.run(self.engine.spawn(work))
        return self.engine.now - begun

    def read(
        self,
        file: PagedFile,
        start: int = 0,
        end: int | None = None,
        seconds_per_byte: float = 0.0,
        call_bytes: int = 4 * KIB,
    ) -> float:
        """Open the file and read [start, end) in order, paying at the end; returns how long it took (s)."""

        def work() -> Any:
            state = self.cache.open(file)
            until = file.size if end is None else end
            yield from self.cache.read(file, state, start, until, self.program, seconds_per_byte, call_bytes)
            yield self.cache.pay(self.program)

        return self.do(work())

    def io(self, op: int) -> int:
        """Bytes of the requests of a direction since the last look."""
        moved = sum(size for _, size in self.disk.sent(op))
        self.disk.log.clear()
        return moved


__all__ = ["KIB", "MIB", "NO_LIMITS", "Bench", "Disk", "Program"]
