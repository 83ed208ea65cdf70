"""A process of the simulated machine: what it has opened, what it has spent, and what its program has timed.

What it does is in :mod:`.operations`. The process pays CPU time for its calls, what they copy and what the kernel does
on its behalf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..core.engine import Engine
from ..core.errors import ModelError
from ..file_system import File, FileSystem
from ..memory.page_cache import PageCache
from ..memory.pipe import Pipe
from ..programs.operation import Operation
from ..readahead import PAGE, ReadAhead
from ..tasks.cpu import QUANTUM_S, Account
from ..tasks.host import Host

IN_MEMORY = "/memory/"
"""Files below this path are held by memory and cost nothing but CPU time: an archive that was read before."""


class Phase:
    """What a program did between two looks at the clock, which is what it prints its figures from.

    Attributes
    ----------
    name
        Of the mark it began with.
    began, ended
        Times (s).
    cpu_s
        CPU time of the process and its children.
    bytes, operations
        Moved by read and write calls; number of operations of other kinds (seeks, creates, deletes).
    """

    __slots__ = ("began", "bytes", "cpu_s", "ended", "name", "operations")

    def __init__(self, name: str, began: float) -> None:
        self.name = name
        self.began = self.ended = began
        self.cpu_s = 0.0
        self.bytes = 0
        self.operations = 0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.began


class Mount:
    """A mounted file system with its page cache."""

    __slots__ = ("cache", "file_system")

    def __init__(self, file_system: FileSystem, cache: PageCache) -> None:
        self.file_system = file_system
        self.cache = cache


class OpenFile:
    """An open file."""

    __slots__ = ("file", "mount", "read_ahead")

    def __init__(self, mount: Mount, file: File) -> None:
        self.mount = mount
        self.file = file
        self.read_ahead: ReadAhead | None = None


class Process(Account):
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
    files
        What it has open, by absolute path.
    forked, running
        Number of children that have nothing to do yet; those that run, each with the event of its end.
    timing
        If true, the program times what it does now: the last mark came after the last lap.
    left, reading
        Of what it writes now, the bytes that are still to come; what it reads now: how, from where, to where.
    """

    __slots__ = (
        "_inside",
        "_mount",
        "_name",
        "_path",
        "_placed",
        "children",
        "engine",
        "files",
        "forked",
        "host",
        "input",
        "left",
        "mounts",
        "output",
        "phases",
        "reading",
        "root",
        "running",
        "slept_s",
        "timing",
    )

    def __init__(self, engine: Engine, host: Host, mounts: dict[str, Mount], root: str, issuer: int) -> None:
        super().__init__(issuer)
        self.engine = engine
        self.host = host
        self.mounts = mounts
        self.root = root
        self.phases = [Phase("", engine.now)]
        self.output: Pipe | None = None
        self.input: Pipe | None = None
        self.children: Callable[[str, int], Iterable[Operation]] | None = None
        self.slept_s = 0.0
        self.files: dict[str, OpenFile] = {}
        self.forked = 0
        self.running: list[tuple[Process, Any]] = []
        self.timing = True
        self.left = 0
        self.reading: tuple[ReadAhead, int, int] | None = None
        # The name and the path that were asked for last: a program does several things to a file in a row.
        self._name = self._path = self._placed = self._inside = ""
        self._mount: Mount | None = None

    @property
    def moved(self) -> int:
        """About how many bytes it and its children have moved so far; an operation on names counts as a page."""
        moved = sum(phase.bytes + PAGE * phase.operations for phase in self.phases) - self.left
        if self.reading is not None:
            read_ahead, start, end = self.reading
            moved -= min(end - start, max(0, end - read_ahead.read_to))
        return moved + sum(child.moved for child, _ in self.running)

    def path(self, name: str) -> str:
        """A program's name for a file as an absolute path."""
        if name is self._name:
            return self._path
        path = name if name.startswith("/") else self.root + (name[2:] if name.startswith("./") else name)
        self._name, self._path = name, path
        return path

    def place(self, path: str) -> tuple[Mount, str]:
        """The file system a path is on, and the path below its mount point."""
        last = self._mount
        if path is self._placed and last is not None:
            return last, self._inside
        best, found = "", None
        for point, mount in self.mounts.items():
            if path.startswith(point) and (found is None or len(point) > len(best)):
                best, found = point, mount
        if found is None:
            raise ModelError(f"{path}: is on no file system")
        inside = path[len(best) :].lstrip("/")
        self._placed, self._mount, self._inside = path, found, inside
        return found, inside

    def spend(self, seconds: float) -> bool:
        """Charge CPU time; whether it is time to :meth:`pay`."""
        self.cpu_s += seconds
        self.owed_s += seconds
        return self.owed_s >= QUANTUM_S

    def pay(self) -> Any:
        """The event that ends when the CPU has done what is owed."""
        owed, self.owed_s = self.owed_s, 0.0
        return self.host.cpu.run(owed)

    def look_at_clock(self) -> None:
        """End the phase that the program times, if it times one, now."""
        if self.timing:
            self.phases[-1].ended = self.engine.now

    def child(self, number: int) -> Process:
        """A process that it has forked, with issuer and number of its own."""
        return Process(self.engine, self.host, self.mounts, self.root, self.issuer + 1 + number)
