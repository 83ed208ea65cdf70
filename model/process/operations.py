"""What a process does for each kind of operation of its program, and how it does them one after the other.

A run of equal system calls is one operation (:mod:`raidsim.model.programs.operation`), so it costs a few events however
many calls it has. A process waits for what is not in memory, and looks at the clock where its program does
(:data:`Kind.MARK`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ..core.errors import ModelError
from ..core.signal import NOTHING, Waits
from ..file_system import FileSystem
from ..programs.operation import Kind, Loop, Operation
from ..readahead import ReadAhead
from ..tasks.prices import NotedPrices
from .process import IN_MEMORY, Mount, OpenFile, Phase, Process
from .writing import SLICE_BYTES, Steps, write_file

_DEVICES = "/dev/"
"""/dev/zero and /dev/null; what calls on them cost is part of the price of the call on the file at the other end."""
# Looked up once: a member of an enumeration takes as long to find as some operations take.
_READ: Final = Kind.READ
_WRITE: Final = Kind.WRITE
_OPEN: Final = Kind.OPEN
_CLOSE: Final = Kind.CLOSE
_SEEK: Final = Kind.SEEK
_STAT: Final = Kind.STAT
_WAIT: Final = Kind.WAIT
_HEAR: Final = Kind.HEAR
_ATTRIBUTES: Final = frozenset((Kind.SET_TIMES, Kind.SET_OWNER, Kind.SET_MODE))
_PROGRAM: Final = frozenset((Kind.MARK, Kind.LAP, Kind.SLEEP, Kind.FORK))
"""What a program does without the kernel's files."""
_PAY_FIRST: Final = _PROGRAM | {Kind.WAIT, Kind.TELL, Kind.HEAR, Kind.FSYNC, Kind.SYNC}
"""Before these the clock shows what has been spent."""


def execute(process: Process, operations: Iterable[Operation]) -> Steps:
    """Do all operations of a program: a SimPy process.

    Raises
    ------
    ModelError
        For an operation that no process does.
    """
    for operation in operations:
        kind = operation.kind
        if process.owed_s and kind in _PAY_FIRST:
            yield process.pay()
            process.look_at_clock()
        if kind in _PROGRAM:
            yield from _by_itself(process, operation)
            continue
        phase, spent = process.phases[-1], process.cpu_s
        waits = _do(process, operation)
        if waits is not NOTHING:
            yield from waits
        process.reading = None
        if process.timing:
            phase.cpu_s += process.cpu_s - spent
            phase.ended = process.engine._now
        if kind is _WAIT or (kind is _HEAR and process.input is None):
            process.timing = False  # what follows is no part of what the program times
    if process.owed_s:
        yield process.pay()
        process.look_at_clock()


def _by_itself(process: Process, operation: Operation) -> Steps:
    """Do what a program does without the kernel's files."""
    kind = operation.kind
    if kind is Kind.MARK:
        process.phases.append(Phase(operation.file, process.engine.now))
        process.timing = True
    elif kind is Kind.LAP:
        process.timing = False
    elif kind is Kind.SLEEP:
        process.slept_s += operation.size
        yield process.engine.timeout(operation.size)
    else:
        process.forked = operation.calls


def _do(process: Process, operation: Operation) -> Waits:
    """Do one operation, by its kind; the ones that programs do most often are looked for first."""
    kind = operation.kind
    if kind is _READ:
        return _read(process, operation)
    if kind is _WRITE:
        return _write(process, operation)
    if kind is _OPEN:
        return _open(process, operation)
    if kind is _CLOSE:
        return _close(process, operation)
    if kind is _SEEK:
        return NOTHING
    act = _ON_DATA.get(kind)
    if act is not None:
        return act(process, operation)
    phase, path = process.phases[-1], process.path(operation.file)
    waits = NOTHING
    if not path.startswith(IN_MEMORY):
        mount, inside = process.place(path)
        system = mount.file_system
        if kind in _ATTRIBUTES:
            waits = system.set_attributes(inside, process)
        elif kind is _STAT:
            waits = system.stat(inside, process)
        else:
            on_name = _ON_NAMES.get(kind)
            if on_name is None:
                raise ModelError(f"{kind} on {path}: no process does this")
            waits = on_name(process, system, inside, operation)
    if waits is not NOTHING:
        return _counted(waits, process, phase, operation.calls)
    if process.timing:
        phase.operations += operation.calls
    return NOTHING


def _counted(waits: Waits, process: Process, phase: Phase, calls: int) -> Steps:
    """Count operations when they are over."""
    yield from waits
    phase.operations += calls if process.timing else 0


def _owed(process: Process, seconds: float) -> Waits:
    """Charge CPU time, and wait for what is owed once it is enough."""
    return (process.pay(),) if process.spend(seconds) else NOTHING


# Open files


def _open(process: Process, operation: Operation) -> Waits:
    path, flags = process.path(operation.file), operation.flags
    if path.startswith((IN_MEMORY, _DEVICES)):
        return NOTHING
    mount, inside = process.place(path)
    if "O_DIRECTORY" in flags:
        return mount.file_system.stat(inside, process)
    return _open_file(process, mount, path, inside, flags)


def _open_file(process: Process, mount: Mount, path: str, inside: str, flags: str) -> Steps:
    system = mount.file_system
    if "O_TRUNC" in flags and system.exists(inside):
        yield from system.unlink(inside, process)
    if "O_CREAT" in flags and not system.exists(inside):
        file = yield from system.create(inside, process)
        process.phases[-1].operations += 1
    else:
        file = yield from system.open(inside, process)
    process.files[path] = OpenFile(mount, file)


def _close(process: Process, operation: Operation) -> Waits:
    opened = process.files.pop(process.path(operation.file), None)
    return NOTHING if opened is None else opened.mount.file_system.close(opened.file, process)


def _fsync(process: Process, operation: Operation) -> Steps:
    opened = process.files[process.path(operation.file)]
    yield from opened.mount.file_system.fsync(opened.file, process, operation.kind is Kind.FDATASYNC)


# Data


def _loop_s_per_byte(prices: NotedPrices, loop: Loop) -> float:
    """What a byte costs in the loop of the program that moves the data (s)."""
    return prices.putc_s_per_byte if loop == "putc" else prices.getc_s_per_byte


def _read(process: Process, operation: Operation) -> Waits:
    prices, phase = process.host.prices, process.phases[-1]
    path, size, call = process.path(operation.file), operation.size, operation.call_bytes
    if path.startswith(_DEVICES):
        return _owed(process, size * prices.copy_s_per_byte)
    if not size:
        return _owed(process, operation.calls * prices.file_read_s)
    phase.bytes += size
    per_byte = operation.calls * prices.file_read_s / size + prices.read_copy_s_per_byte(call)
    if operation.loop:
        per_byte += _loop_s_per_byte(prices, operation.loop)
    if path.startswith(IN_MEMORY):
        return _owed(process, size * per_byte)
    opened = process.files[path]
    start, end = operation.offset, min(operation.offset + size, opened.file.size)
    process.reading = (_read_ahead(opened), start, end)
    return _read_file(process, opened, start, end, per_byte, call)


def _read_ahead(opened: OpenFile) -> ReadAhead:
    if opened.read_ahead is None:
        opened.read_ahead = opened.mount.cache.open(opened.file)
    return opened.read_ahead


def _read_file(process: Process, opened: OpenFile, start: int, end: int, per_byte: float, call: int) -> Steps:
    cache, file, system = opened.mount.cache, opened.file, opened.mount.file_system
    return cache.read(file, _read_ahead(opened), start, min(end, file.size), process, per_byte, call, system)


def _write(process: Process, operation: Operation) -> Waits:
    prices, phase = process.host.prices, process.phases[-1]
    path, size = process.path(operation.file), operation.size
    if path.startswith(_DEVICES):
        return NOTHING
    phase.bytes += size
    if not size:
        return _owed(process, operation.calls * prices.file_write_s)
    copy_s = prices.write_copy_s_per_byte(operation.call_bytes)
    per_byte = operation.calls * prices.file_write_s / size + copy_s
    if operation.loop:
        per_byte += _loop_s_per_byte(prices, operation.loop)
    opened = process.files[path]
    return write_file(process, opened, operation.offset, operation.offset + size, per_byte, copy_s)


def _rewrite(process: Process, operation: Operation) -> Steps:
    prices, phase = process.host.prices, process.phases[-1]
    opened = process.files[process.path(operation.file)]
    size = operation.size
    copy_s = prices.write_copy_s_per_byte(operation.call_bytes)
    read_s = operation.calls * prices.file_read_s / size + prices.read_copy_s_per_byte(operation.call_bytes)
    write_s = operation.calls * prices.file_write_s / size + copy_s
    part = max(operation.call_bytes, SLICE_BYTES // 2)
    start, end = operation.offset, operation.offset + size
    while start < end:
        stop = min(end, start + part)
        yield from _read_file(process, opened, start, stop, read_s, operation.call_bytes)
        phase.bytes += stop - start  # Counted once, as the write goes on.
        # A seek comes before each call, so no kernel sees them in order.
        yield from write_file(process, opened, start, stop, write_s, copy_s, in_order=False)
        start = stop


# Names


def _unlink(process: Process, system: FileSystem, path: str, _: Operation) -> Waits:
    return system.unlink(path, process) if system.exists(path) else NOTHING


def _mkdir(process: Process, system: FileSystem, path: str, _: Operation) -> Waits:
    return NOTHING if system.exists(path) else system.mkdir(path, process)


def _rmdir(process: Process, system: FileSystem, path: str, _: Operation) -> Waits:
    return system.rmdir(path, process)


def _list(process: Process, system: FileSystem, path: str, operation: Operation) -> Waits:
    return NOTHING if operation.offset else system.list_directory(path, process)


def _sync(process: Process, system: FileSystem, _: str, __: Operation) -> Waits:
    return system.sync(process)


# Other processes


def _tell(process: Process, operation: Operation) -> Steps:
    if process.output is None:
        _start_children(process)
        return
    if process.spend(operation.size * process.host.prices.copy_s_per_byte + process.host.prices.switch_s):
        yield process.pay()
    yield from process.output.write(operation.size)


def _hear(process: Process, operation: Operation) -> Steps:
    if process.input is None:
        yield from _wait(process, operation)
        return
    yield from process.input.read(operation.size)
    if process.spend(operation.size * process.host.prices.copy_s_per_byte + process.host.prices.switch_s):
        yield process.pay()


def _wait(process: Process, _: Operation) -> Steps:
    """Wait for the children; what they did is the phase's."""
    _start_children(process)
    phase = process.phases[-1]
    while process.running:
        child, running = process.running[0]
        yield running
        del process.running[0]
        phase.cpu_s += child.cpu_s
        phase.operations += sum(each.operations for each in child.phases)
        phase.bytes += sum(each.bytes for each in child.phases)


def _start_children(process: Process) -> None:
    """Start what was forked: now it has something to do."""
    if process.forked and process.children is None:
        raise ModelError("a fork without children")
    for number in range(process.forked):
        assert process.children is not None
        child = process.child(number)
        operations = process.children(process.phases[-1].name, number)
        process.running.append((child, process.engine.spawn(execute(child, operations))))
    process.forked = 0


_ON_DATA: dict[Kind, Callable[[Process, Operation], Waits]] = {
    Kind.REWRITE: _rewrite,
    Kind.FSYNC: _fsync,
    Kind.FDATASYNC: _fsync,
    Kind.TELL: _tell,
    Kind.HEAR: _hear,
    Kind.WAIT: _wait,
}
_ON_NAMES: dict[Kind, Callable[[Process, FileSystem, str, Operation], Waits]] = {
    Kind.UNLINK: _unlink,
    Kind.MKDIR: _mkdir,
    Kind.RMDIR: _rmdir,
    Kind.LIST: _list,
    Kind.SYNC: _sync,
}
"""On names; programs count these operations."""
