"""A process of the simulated machine: it runs a program's operations on mounted file systems.

A run of equal system calls is one operation (:mod:`raidsim.model.programs.operation`), so it costs a few events however
many calls it has. The process pays CPU time for its calls, what they copy and what the kernel does on its behalf, and
waits for what is not in memory. It looks at the clock where the program does (:data:`Kind.MARK`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

from ..core.engine import Engine
from ..core.errors import ModelError
from ..file_system import File, FileSystem
from ..memory.page_cache import PageCache
from ..memory.pipe import Pipe
from ..programs.operation import Kind, Operation
from ..readahead import PAGE, ReadAhead
from ..tasks.cpu import QUANTUM_S
from ..tasks.host import Host
from .phase import Phase

_SLICE_BYTES = 256 * 1024
"""A program that writes is looked at after so many bytes: dirty limits, other programs."""
IN_MEMORY = "/memory/"
"""Files below this path are held by memory and cost nothing but CPU time: an archive that was read before."""
_DEVICES = "/dev/"
"""/dev/zero and /dev/null; what calls on them cost is part of the price of the call on the file at the other end."""
_PER_BYTE = {"putc": "putc_s_per_byte", "getc": "getc_s_per_byte"}


_PAY_FIRST = frozenset(
    (Kind.MARK, Kind.LAP, Kind.SLEEP, Kind.FORK, Kind.WAIT, Kind.TELL, Kind.HEAR, Kind.FSYNC, Kind.SYNC)
)
"""Before these the clock shows what has been spent."""


class Mount:
    """A mounted file system with its page cache."""

    __slots__ = ("cache", "file_system")

    def __init__(self, file_system: FileSystem, cache: PageCache) -> None:
        self.file_system = file_system
        self.cache = cache


class _Open:
    """An open file."""

    __slots__ = ("file", "mount", "read_ahead")

    def __init__(self, mount: Mount, file: File) -> None:
        self.mount = mount
        self.file = file
        self.read_ahead: ReadAhead | None = None


class Process:
    """One process.

    Parameters
    ----------
    engine, host
        Clock and payer.
    mounts
        By mount point; a path belongs to the longest one that it begins with.
    root
        What relative paths begin with: a directory with its /, and perhaps the beginning of the names in it.
    issuer
        By which I/O schedulers know it.

    Attributes
    ----------
    cpu_s, owed_s
        CPU time spent so far, and the part of it that the CPU has not been asked for yet.
    phases
        What it has done, from mark to mark.
    output, input
        Pipes that it writes to and reads from.
    children
        What the processes that a fork starts do, by the phase they start in and their number.
    slept_s
        Time spent in sleep(3).
    """

    __slots__ = (
        "_closed",
        "_engine",
        "_forked",
        "_host",
        "_left",
        "_mounts",
        "_open",
        "_reading",
        "_running",
        "children",
        "cpu_s",
        "input",
        "issuer",
        "output",
        "owed_s",
        "phases",
        "root",
        "slept_s",
    )

    def __init__(self, engine: Engine, host: Host, mounts: dict[str, Mount], root: str, issuer: int) -> None:
        self._engine = engine
        self._host = host
        self._mounts = mounts
        self.root = root
        self.issuer = issuer
        self.cpu_s = 0.0
        self.owed_s = 0.0
        self.phases = [Phase("", engine.now)]
        self.output: Pipe | None = None
        self.input: Pipe | None = None
        self.children: Callable[[str, int], Iterable[Operation]] | None = None
        self.slept_s = 0.0
        self._open: dict[str, _Open] = {}
        self._forked = 0
        self._running: list[tuple[Process, Any]] = []
        self._closed = False
        self._left = 0
        self._reading: tuple[ReadAhead, int, int] | None = None

    @property
    def moved(self) -> int:
        """About how many bytes it and its children have moved so far; an operation on names counts as a page."""
        moved = sum(phase.bytes + PAGE * phase.operations for phase in self.phases) - self._left
        if self._reading is not None:
            read_ahead, start, end = self._reading
            moved -= min(end - start, max(0, end - read_ahead.read_to))
        return moved + sum(child.moved for child, _ in self._running)

    def path(self, name: str) -> str:
        """A program's name for a file as an absolute path."""
        return name if name.startswith("/") else f"{self.root}{name.removeprefix('./')}"

    def _place(self, path: str) -> tuple[Mount, str]:
        """The file system a path is on, and the path below its mount point."""
        point = max((point for point in self._mounts if path.startswith(point)), key=len)
        return self._mounts[point], path[len(point) :].lstrip("/")

    def run(self, operations: Iterable[Operation]) -> Generator[Any, Any, None]:
        """Do all of them: a SimPy process."""
        do = {
            Kind.READ: self._read,
            Kind.WRITE: self._write,
            Kind.REWRITE: self._rewrite,
            Kind.OPEN: self._open_file,
            Kind.CLOSE: self._close,
            Kind.FSYNC: self._fsync,
            Kind.FDATASYNC: self._fsync,
            Kind.TELL: self._tell,
            Kind.HEAR: self._hear,
            Kind.WAIT: self._wait,
        }
        for operation in operations:
            kind = operation.kind
            if self.owed_s and kind in _PAY_FIRST:
                yield self._pay()
                self.phases[-1].ended = self._engine.now if not self._closed else self.phases[-1].ended
            if kind is Kind.MARK:
                self.phases.append(Phase(operation.file, self._engine.now))
                self._closed = False
                continue
            if kind is Kind.LAP:
                self._closed = True
                continue
            if kind is Kind.SLEEP:
                self.slept_s += operation.size
                yield self._engine.timeout(operation.size)
                continue
            if kind is Kind.FORK:
                self._forked = operation.calls
                continue
            phase, spent = self.phases[-1], self.cpu_s
            act = do.get(kind)
            if act is not None:
                yield from act(operation)
            elif kind is not Kind.SEEK:
                yield from self._name(operation)
                phase.operations += 0 if self._closed else operation.calls
            if not self._closed:
                phase.cpu_s += self.cpu_s - spent
                phase.ended = self._engine.now
            if kind is Kind.WAIT or (kind is Kind.HEAR and self.input is None):
                self._closed = True  # what follows is no part of what the program times
        if self.owed_s:
            yield self._pay()
            if not self._closed:
                self.phases[-1].ended = self._engine.now

    def _spend(self, seconds: float) -> bool:
        """Charge CPU time; whether it is time to :meth:`_pay`."""
        self.cpu_s += seconds
        self.owed_s += seconds
        return self.owed_s >= QUANTUM_S

    def _pay(self) -> Any:
        """The event that ends when the CPU has done what is owed."""
        owed, self.owed_s = self.owed_s, 0.0
        return self._host.cpu.run(owed)

    def _open_file(self, operation: Operation) -> Generator[Any, Any, None]:
        path, flags = self.path(operation.file), operation.flags
        if path.startswith((IN_MEMORY, _DEVICES)):
            return
        mount, inside = self._place(path)
        system = mount.file_system
        if "O_DIRECTORY" in flags:
            yield from system.stat(inside, self)
            return
        if "O_TRUNC" in flags and system.exists(inside):
            yield from system.unlink(inside, self)
        if "O_CREAT" in flags and not system.exists(inside):
            file = yield from system.create(inside, self)
            self.phases[-1].operations += 1
        else:
            file = yield from system.open(inside, self)
        self._open[path] = _Open(mount, file)

    def _close(self, operation: Operation) -> Generator[Any, Any, None]:
        opened = self._open.pop(self.path(operation.file), None)
        if opened is not None:
            yield from opened.mount.file_system.close(opened.file, self)

    def _fsync(self, operation: Operation) -> Generator[Any, Any, None]:
        opened = self._open[self.path(operation.file)]
        yield from opened.mount.file_system.fsync(opened.file, self, operation.kind is Kind.FDATASYNC)

    def _read(self, operation: Operation) -> Generator[Any, Any, None]:
        prices, phase = self._host.prices, self.phases[-1]
        path, size, call = self.path(operation.file), operation.size, operation.call_bytes
        if path.startswith(_DEVICES):
            if self._spend(size * prices.copy_s_per_byte):
                yield self._pay()
            return
        if not size:
            if self._spend(operation.calls * prices.file_read_s):
                yield self._pay()
            return
        phase.bytes += size
        per_byte = operation.calls * prices.file_read_s / size + prices.read_copy_s_per_byte(call)
        per_byte += getattr(prices, _PER_BYTE[phase.name]) if phase.name in _PER_BYTE else 0.0
        if path.startswith(IN_MEMORY):
            if self._spend(size * per_byte):
                yield self._pay()
            return
        opened = self._open[path]
        yield from self._read_file(opened, operation.offset, operation.offset + size, per_byte, call)

    def _read_file(self, opened: _Open, start: int, end: int, per_byte: float, call: int) -> Generator[Any, Any, None]:
        cache, file = opened.mount.cache, opened.file
        end = min(end, file.size)
        if opened.read_ahead is None:
            opened.read_ahead = cache.open(file)
        system = opened.mount.file_system
        self._reading = (opened.read_ahead, start, end)
        yield from cache.read(file, opened.read_ahead, start, end, self, per_byte, call, system)
        self._reading = None

    def _write(self, operation: Operation) -> Generator[Any, Any, None]:
        prices, phase = self._host.prices, self.phases[-1]
        path, size = self.path(operation.file), operation.size
        if path.startswith(_DEVICES):
            return
        phase.bytes += size
        if not size:
            if self._spend(operation.calls * prices.file_write_s):
                yield self._pay()
            return
        copy_s = prices.write_copy_s_per_byte(operation.call_bytes)
        per_byte = operation.calls * prices.file_write_s / size + copy_s
        per_byte += getattr(prices, _PER_BYTE[phase.name]) if phase.name in _PER_BYTE else 0.0
        opened = self._open[path]
        yield from self._write_file(opened, operation.offset, operation.offset + size, per_byte, copy_s)

    def _write_file(
        self, opened: _Open, start: int, end: int, per_byte: float, copy_s: float, in_order: bool = True
    ) -> Generator[Any, Any, None]:
        """Write [start, end) at what a byte costs, of that `copy_s` to be copied.

        A kernel that sees calls `in_order` may write behind the program.
        """
        mount, file = opened.mount, opened.file
        cache, system = mount.cache, mount.file_system
        block = cache.block_bytes
        page_s = self._host.prices.page_s
        edge = start - start % block
        if edge < start and edge < file.extents.size and not cache.is_cached(file, edge, edge + 1):
            # A block that is written in part has to be in memory first.
            yield from cache.fetch(file, edge, edge + block, self)
        turns = self._host.writer_turns
        turns.writers += 1
        while start < end:
            self._left = end - start
            if turns.side_by_side and cache.interleaves:
                start = yield from self._write_beside(opened, start, end, per_byte, copy_s)
                continue
            stop = min(end, start - start % _SLICE_BYTES + _SLICE_BYTES)
            self._spend((stop - start) * per_byte + (stop - start) / PAGE * page_s)
            if self.owed_s >= cache.turn_s:
                yield self._pay()
            yield from system.written(file, stop, self)
            dirtied = cache.mark_dirty(file, start, stop)
            if in_order and cache.write_behind_bytes:
                yield from cache.write_behind(file, start, stop, self)
            start = stop
            if cache.memory.over_limit:
                yield from cache.throttle(self, dirtied)
        turns.writers -= 1
        self._left = 0

    def _write_beside(
        self, opened: _Open, start: int, end: int, per_byte: float, copy_s: float
    ) -> Generator[Any, Any, int]:
        """Write for a time slice while another program writes on another processor; returns how far it got."""
        cache, system, file = opened.mount.cache, opened.mount.file_system, opened.file
        turns = self._host.writer_turns
        locked_s = per_byte - copy_s + self._host.prices.page_s / PAGE
        piece = system.settings.reservation or system.settings.block
        waits = turns.take()
        if waits is not None:
            if self.owed_s:
                yield self._pay()
            if not waits.fired:
                yield waits
        left = cache.turn_s
        while start < end and left > 0.0:
            self._left = end - start
            stop = min(end, start - start % piece + piece)
            self._spend((stop - start) * copy_s)
            self._spend(turns.locked(self._engine.now + self.owed_s, (stop - start) * locked_s))
            left -= self.owed_s
            yield self._pay()
            yield from system.written(file, stop, self)
            dirtied = cache.mark_dirty(file, start, stop)
            start = stop
            if cache.memory.over_limit:
                sleeps = not cache.device.has_room
                if sleeps:
                    turns.give()
                spent = self.cpu_s
                yield from cache.throttle(self, dirtied, piece / _SLICE_BYTES)
                left -= self.cpu_s - spent
                if sleeps:
                    return start
        turns.give()
        return start

    def _rewrite(self, operation: Operation) -> Generator[Any, Any, None]:
        prices, phase = self._host.prices, self.phases[-1]
        opened = self._open[self.path(operation.file)]
        size = operation.size
        copy_s = prices.write_copy_s_per_byte(operation.call_bytes)
        read_s = operation.calls * prices.file_read_s / size + prices.read_copy_s_per_byte(operation.call_bytes)
        write_s = operation.calls * prices.file_write_s / size + copy_s
        part = max(operation.call_bytes, _SLICE_BYTES // 2)
        start, end = operation.offset, operation.offset + size
        while start < end:
            stop = min(end, start + part)
            phase.bytes += stop - start
            yield from self._read_file(opened, start, stop, read_s, operation.call_bytes)
            yield from self._write_file(opened, start, stop, write_s, copy_s, in_order=False)  # a seek before each call
            start = stop

    def _name(self, operation: Operation) -> Generator[Any, Any, None]:
        """Operations on names."""
        path = self.path(operation.file)
        if path.startswith(IN_MEMORY):
            return
        mount, path = self._place(path)
        system = mount.file_system
        kind = operation.kind
        if kind is Kind.UNLINK:
            if system.exists(path):
                yield from system.unlink(path, self)
        elif kind is Kind.MKDIR:
            if not system.exists(path):
                yield from system.mkdir(path, self)
        elif kind is Kind.RMDIR:
            yield from system.rmdir(path, self)
        elif kind is Kind.STAT:
            yield from system.stat(path, self)
        elif kind is Kind.LIST:
            if not operation.offset:
                yield from system.list_directory(path, self)
        elif kind in (Kind.SET_TIMES, Kind.SET_OWNER, Kind.SET_MODE):
            yield from system.set_attributes(path, self)
        elif kind is Kind.SYNC:
            yield from system.sync(self)
        else:
            raise ModelError(f"{kind} on {path}: no process does this")

    def _tell(self, operation: Operation) -> Generator[Any, Any, None]:
        if self.output is None:
            self._start_children()
            return
        if self._spend(operation.size * self._host.prices.copy_s_per_byte + self._host.prices.switch_s):
            yield self._pay()
        yield from self.output.write(operation.size)

    def _hear(self, operation: Operation) -> Generator[Any, Any, None]:
        if self.input is None:
            yield from self._wait(operation)
            return
        yield from self.input.read(operation.size)
        if self._spend(operation.size * self._host.prices.copy_s_per_byte + self._host.prices.switch_s):
            yield self._pay()

    def _wait(self, _: Operation) -> Generator[Any, Any, None]:
        """Wait for the children; what they did is the phase's."""
        self._start_children()
        phase = self.phases[-1]
        for child, running in self._running:
            yield running
            phase.cpu_s += child.cpu_s
            phase.operations += sum(each.operations for each in child.phases)
            phase.bytes += sum(each.bytes for each in child.phases)
        self._running = []

    def _start_children(self) -> None:
        """Start what was forked: now it has something to do."""
        if self._forked and self.children is None:
            raise ModelError("a fork without children")
        for number in range(self._forked):
            assert self.children is not None
            child = Process(self._engine, self._host, self._mounts, self.root, self.issuer + 1 + number)
            operations = self.children(self.phases[-1].name, number)
            self._running.append((child, self._engine.spawn(child.run(operations))))
        self._forked = 0
