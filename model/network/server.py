"""A network in front of a device: clients send their I/Os to a server, which has the device (iSCSI, NFS, NVMe/TCP).

A request crosses the client's port and the server's, waits for a thread of the server if there is a pool of them,
costs CPU time there for itself and for its data, and its data come back the same way, or go with it if it writes.
Latency that takes up nothing (wires, switches, stacks that wake threads up) is added to each I/O as a round trip. Read
data go out when the device has them; written data must have arrived before the device gets them. All that does not
depend on the device is booked at one end of an I/O, so a front costs one event for each.

A client keeps a limited number of requests outstanding (queue depth of a session, slots); the others wait at the
client. An NFS server with a ``sync`` export answers a write when it is on the medium (RFC 1813, FILE_SYNC; RFC 8881,
the same): nfsd writes its pages back as any others and then flushes the device (fs/nfsd/vfs.c, RWF_SYNC;
vfs_fsync_range of ext4 and XFS), so that md and the I/O scheduler merge them. One with ``async`` answers a write when
it is in memory: see :attr:`FrontSettings.writes`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from mypy_extensions import i64

from ..core.device import Device, SubmissionQueue
from ..core.discard_limits import DiscardLimits, refused
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import ASYNC, FLUSHER_ISSUER, READ, WAITED, Call, Request
from ..links.link import Link, Path
from ..tasks.cpu import Cpu
from ..waits.causes import FLUSH, NETWORK, NETWORK_SLOT, PAGE_CACHE
from ..waits.trail import waited

THREAD_ISSUERS = 1 << 24
"""Streams of the server's threads begin here."""


@dataclass(frozen=True, slots=True)
class FrontSettings:
    """What network and server do."""

    round_trip_s: float
    """Latency (s) of a request and its reply, but for what is booked on links, CPU and device."""
    request_s: float
    """CPU time (s) of the server for a request."""
    send_s_per_byte: float
    receive_s_per_byte: float
    """CPU time (s) of the server for a byte that is read, and that is written."""
    request_bytes: int
    reply_bytes: int
    """Of a message, but for its data."""
    inline_bytes: int
    """Writes of more than this take another `another_trip_s`."""
    another_trip_s: float
    """The network's part of the round trip (s)."""
    depth: int
    device_depth: int = 0
    """Requests that a client keeps outstanding at most, in all and on one device; 0 on a device for no other limit."""
    threads: int = 0
    """Requests that the server works on at once; 0 for any number."""
    writes: Literal["passed", "stable", "memory"] = "passed"
    """"passed": as the client says; "stable": done when on the medium; "memory": done when in the server's memory."""
    memory_bytes: int = 0
    """What memory takes of the last kind before writers wait."""


class Slots:
    """A fixed number of slots, and the requests that wait for one.

    Parameters
    ----------
    places
        How many.

    Attributes
    ----------
    taken
        How many are.
    waited_s
        Time (s) during which somebody waited.
    """

    __slots__ = ("_since", "_waiting", "places", "taken", "waited_s")

    def __init__(self, places: int) -> None:
        self.places = places
        self.taken = 0
        self.waited_s = 0.0
        self._since = 0.0
        self._waiting: deque[tuple[Callable[[Request], None], Request]] = deque()

    def take(self, request: Request, now: float, start: Callable[[Request], None]) -> None:
        """Take a place and start `request`, now or when it is its turn."""
        if self.taken < self.places:
            self.taken += 1
            start(request)
            return
        if not self._waiting:
            self._since = now
        self._waiting.append((start, request))

    def leave(self, now: float) -> None:
        """Give a place up to who has waited longest for one."""
        if not self._waiting:
            self.taken -= 1
            return
        start, request = self._waiting.popleft()
        if not self._waiting:
            self.waited_s += now - self._since
        start(request)

    def start_statistics(self, now: float) -> None:
        """Forget how long somebody has waited; `now` is the current time (s)."""
        self.waited_s = 0.0
        self._since = now

    def waited(self, now: float) -> float:
        """Time (s) during which somebody waited, up to now."""
        return self.waited_s + (now - self._since if self._waiting else 0.0)


class NetworkFront(Device):
    """A device as clients see it across a network.

    Parameters
    ----------
    engine
        The clock.
    device
        What the server has.
    cpu
        The server's.
    port
        The server's port; reads go towards the clients.
    clients
        Each client's own port.
    settings
        What network and server do.
    sessions, threads
        Places of each client, and of the server's pool, if it has one; several fronts of one server share them.
    queues
        Places of each client on this device alone, if there are fewer.

    Attributes
    ----------
    reads, writes
        Completed.
    """

    __slots__ = (
        "_arrived",
        "_below",
        "_cpu",
        "_engine",
        "_held",
        "_memory_used",
        "_number",
        "_paths",
        "_port",
        "_queues",
        "_replied",
        "_sessions",
        "_settings",
        "_threads",
        "_unplug",
        "device",
        "reads",
        "writes",
    )

    def __init__(
        self,
        engine: Engine,
        device: Device,
        cpu: Cpu,
        port: Link,
        clients: Sequence[Link],
        settings: FrontSettings,
        sessions: Sequence[Slots],
        threads: Slots | None,
        queues: Sequence[Slots] = (),
    ) -> None:
        if not sessions or not {len(clients), len(queues)} <= {0, len(sessions)}:
            found = f"{len(sessions)} clients with {len(clients)} ports and {len(queues)} queues"
            raise ModelError(f"{device.name}: {found}; one for each, or none")
        self._engine = engine
        self.device = device
        self.name = device.name
        self.capacity = device.capacity
        self._below: Callable[[Request], None] = device.submit
        self._unplug: Callable[[], None] = device.unplug
        self._cpu = cpu
        self._port = port
        self._paths = [Path((client, port)) for client in clients] or [Path((port,))] * len(sessions)
        self._settings = settings
        self._sessions = sessions
        self._queues = queues
        self._threads = threads
        self._number = 0
        self._held: deque[Request] = deque()
        self._memory_used = 0
        self._arrived = Call(self._serve)
        self._replied = Call(self._finish)
        self.reads = self.writes = 0

    @property
    def discard_limits(self) -> DiscardLimits:
        """It takes no discards."""
        return refused(f"{self.name} is behind a network, across which no discards are passed on")

    @property
    def foreground_bytes(self) -> int:
        """What the device has completed so far, but for resync (bytes)."""
        return self.device.foreground_bytes

    @property
    def dirty_bytes(self) -> int:
        """What the server has answered from its memory and its device does not have (bytes)."""
        return self._memory_used

    def queues(self) -> tuple[SubmissionQueue, ...]:
        """The queues of the server's device."""
        return self.device.queues()

    def flush(self, done: Callable[[], None]) -> None:
        """A client's flush, a request without data that a block protocol hands on; replies of a file server are final.

        Those say how safe a write is (``FILE_SYNC``), so the client has nothing more to ask for.
        """
        settings = self._settings
        if settings.writes != "passed":
            done()
            return
        now = self._engine._now
        _, there = self._port.reserve(now, now, settings.request_bytes, True)
        taken = self._cpu.book(settings.request_s)
        at = (there if there > taken else taken) + settings.round_trip_s
        self._engine.call_at(at, lambda _: self.device.flush(done))

    def submit(self, request: Request) -> None:
        """Accept a request of the client whose turn its stream is."""
        now = request.submitted = self._engine._now
        if self._queues:
            self._queues[request.issuer % len(self._queues)].take(request, now, self._queued)
        else:
            self._sessions[request.issuer % len(self._sessions)].take(request, now, self._send)

    def _waited(self, request: Request, cause: i64) -> None:
        """A request has waited for `cause` until now."""
        request.mark(cause, self._engine._now)

    def _queued(self, request: Request) -> None:
        """A client's queue for the device has a place for a request, which now needs one of the session."""
        self._waited(request, NETWORK_SLOT)
        self._sessions[request.issuer % len(self._sessions)].take(request, self._engine._now, self._send)

    def _send(self, request: Request) -> None:
        """A client sends a request, and the data of a write with it."""
        self._waited(request, NETWORK_SLOT)
        now, settings = self._engine._now, self._settings
        size: int = request.size
        if request.op == READ:
            self._port.reserve(now, now, settings.request_bytes, True)
            self._serve(request)
            return
        path = self._paths[request.issuer % len(self._paths)]
        there = path.reserve(now, now, size + settings.request_bytes, True)
        taken = self._cpu.book(settings.request_s + size * settings.receive_s_per_byte)
        trip = settings.round_trip_s + (settings.another_trip_s if size > settings.inline_bytes else 0.0)
        self._engine.complete(request, self._arrived, (there if there > taken else taken) + trip)

    def _serve(self, request: Request) -> None:
        """The server has a request."""
        self._waited(request, NETWORK)
        if request.op != READ and self._settings.writes == "memory":
            self._keep(request)
        elif self._threads is None:
            self._issue(request)
        else:
            self._threads.take(request, self._engine._now, self._issue)

    def _issue(self, request: Request) -> None:
        """The server sends a request to its device."""
        self._waited(request, NETWORK_SLOT)
        issuer, sync = request.issuer, request.sync
        if self._threads is not None:
            self._number += 1
            issuer = THREAD_ISSUERS + self._number % self._threads.places
        if request.op == READ:
            done = self._read
        else:
            done = self._written
            if self._settings.writes == "stable":
                done, sync = self._flushed, WAITED
        self._below(Request(request.op, request.offset, request.size, done, issuer, sync, request, request.trail))
        self._unplug()

    def _read(self, below: Request) -> None:
        """The device has read: the data go out."""
        request: Request = below.parent
        if below.trail is not None:
            request.trail = below.trail
        now, settings = self._engine._now, self._settings
        size: int = request.size
        ready = self._cpu.book(settings.request_s + size * settings.send_s_per_byte)
        path = self._paths[request.issuer % len(self._paths)]
        over = path.reserve(now, ready, size + settings.reply_bytes)
        self._engine.complete(request, self._replied, over + settings.round_trip_s)
        if self._threads is not None:
            self._threads.leave(now)

    def _flushed(self, below: Request) -> None:
        """The device has a stable write: it is flushed before the reply goes out."""
        self.device.flush(partial(self._written, below))

    def _written(self, below: Request) -> None:
        """The device has written: the reply goes out."""
        now = self._engine._now
        self._port.reserve(now, now, self._settings.reply_bytes)
        if self._threads is not None:
            self._threads.leave(now)
        if below.trail is not None:
            below.parent.trail = waited(below.trail, FLUSH, now)
        self._finish(below.parent)

    def _keep(self, request: Request) -> None:
        """A write that is done when it is in the server's memory, and written to the device after that."""
        if self._held or not self._fits(request):
            self._held.append(request)
        else:
            self._take_in(request)

    def _fits(self, request: Request) -> bool:
        """Whether memory has room for a write; for a single one it always has."""
        return not self._memory_used or self._memory_used + request.size <= self._settings.memory_bytes

    def _take_in(self, request: Request) -> None:
        self._waited(request, PAGE_CACHE)
        self._memory_used += request.size
        now = self._engine._now
        self._port.reserve(now, now, self._settings.reply_bytes)
        self._below(Request(request.op, request.offset, request.size, self._cleaned, FLUSHER_ISSUER, ASYNC))
        self._unplug()
        self._finish(request)

    def _cleaned(self, below: Request) -> None:
        """What was in memory is on the device."""
        self._memory_used -= below.size
        held = self._held
        while held and self._fits(held[0]):
            self._take_in(held.popleft())

    def _finish(self, request: Request) -> None:
        """The client has the reply, and may send what waits there."""
        self._waited(request, NETWORK)
        if request.op == READ:
            self.reads += 1
        else:
            self.writes += 1
        client, now = request.issuer % len(self._sessions), self._engine._now
        self._sessions[client].leave(now)
        if self._queues:
            self._queues[client].leave(now)
        request.complete()
