"""The server: an array, its data and its connections, until it is told to end."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..model.core.errors import ArrayFailed, InputError
from ..model.core.request import READ, WRITE
from ..scenarios.description.scenario import ScenarioSpec
from ..scenarios.machine.observer import UNOBSERVED, Observer
from ..scenarios.running.base.prediction import Prediction
from ..scenarios.running.summary import prediction_of
from . import protocol as nbd
from .array import Io, ServedArray
from .connection import HANDSHAKE_S, Connection
from .control import ControlConnection, Operator
from .counts import Counts
from .data import Data, FileData, MemoryData
from .pace import Pace, precise_loop
from .recent import Looks
from .service import Service
from .trace import TraceFile

MOST_CONNECTIONS = 64
DEFAULT_PORT = 10809
"""The port that IANA lists for NBD."""
DEFAULT_MEMORY = 4 << 30
ONCE_S = 1.0
"""fio and qemu connect to ask for the size, disconnect, and connect again to do I/O."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How an array is served.

    Attributes
    ----------
    target
        Drive or array; None for the one that the scenario's workload uses.
    host, port
        Where to listen; port 0 takes a free one.
    unix
        A Unix socket instead.
    exposed
        If true, `host` may be an address that other machines reach.
    data
        File that keeps the data; None for memory.
    base
        Image that is read and not changed; changes stay in memory.
    memory
        Most memory (bytes) that data in memory take.
    read_only
        If true, writes are refused.
    speed
        Simulated seconds per second of the wall clock; None for as fast as possible.
    once
        If true, the server ends when its last client has been gone for `ONCE_S`.
    control
        A Unix socket for an operator's commands: see :mod:`.control`.
    trace
        File that gets all requests: see :mod:`.trace`.
    """

    target: str | None = None
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    unix: Path | None = None
    exposed: bool = False
    data: Path | None = None
    base: Path | None = None
    memory: int = DEFAULT_MEMORY
    read_only: bool = False
    speed: float | None = 1.0
    once: bool = False
    control: Path | None = None
    trace: Path | None = None

    def check(self) -> None:
        """Refuse what means nothing, and what would let other machines in.

        Raises
        ------
        InputError
            Naming the option.
        """
        if self.speed is not None and not 1e-6 <= self.speed <= 1e6:
            raise InputError("--speed", f"found {self.speed:g}", "expected: 0.000001 to 1,000,000")
        if not 0 <= self.port <= 65535:
            raise InputError("--port", f"found {self.port}", "expected: 0 to 65535")
        if self.data is not None and self.base is not None:
            raise InputError("--base", "found it with --data", "expected: one of the two")
        if self.unix is None and not self.exposed and not _is_loopback(self.host):
            allowed = "expected: a loopback address (127.0.0.1, ::1), or --yes-expose"
            raise InputError("--host", f"found {self.host}, which other machines may reach", allowed)
        if self.control is not None and self.control == self.unix:
            raise InputError("--control", f"found {self.control}, which is --unix", "expected: a socket of its own")


class Server:
    """An array that is served.

    Parameters
    ----------
    scenario
        Whose array it is.
    options
        How.
    observer
        Sees each part of the machine when it is built.

    Attributes
    ----------
    operator
        Carries out an operator's commands; None without a control socket.
    address
        Where it listens, as an NBD URI; empty before :meth:`run`.
    looks
        What the array has done in the last second, for all who watch.
    refused
        Connections that were refused because there were `MOST_CONNECTIONS`.
    """

    def __init__(self, scenario: ScenarioSpec, options: ServeOptions, observer: Observer = UNOBSERVED) -> None:
        options.check()
        serviced = options.control is not None
        self.array = ServedArray(scenario, options.target, observer, serviced)
        self.options = options
        self.name = self.array.name
        self.capacity = self.array.capacity // self.array.sector * self.array.sector
        self.sector = self.array.sector
        self.data: Data = (
            MemoryData(self.capacity, options.memory, options.base)
            if options.data is None
            else FileData(options.data, self.capacity, options.read_only)
        )
        self.handshake_s = HANDSHAKE_S
        self.address = ""
        self.refused = 0
        self._pace = Pace(self.array, options.speed)
        self.looks = Looks(self._pace)
        self.array.measured = {name: self.counts.latencies[op] for op, name in ((READ, "read"), (WRITE, "write"))}
        self._connections: set[Connection] = set()
        self._operators: set[ControlConnection] = set()
        self.operator: Operator | None = None
        if serviced:
            self.operator = Operator(Service(self.array), self._pace, self._status, self.looks, self.end)
        self._trace: TraceFile | None = None
        self._end: asyncio.Event | None = None

    @property
    def flags(self) -> int:
        """What the export can do."""
        flags = nbd.HAS_FLAGS | nbd.SEND_FLUSH | nbd.SEND_FUA | nbd.CAN_MULTI_CONN
        if self.array.is_rotational:
            flags |= nbd.ROTATIONAL
        if self.options.read_only:
            return flags | nbd.READ_ONLY
        return flags | (nbd.SEND_TRIM if self.array.takes_trim else 0)

    @property
    def counts(self) -> Counts:
        """What was served."""
        return self._pace.counts

    @property
    def pace(self) -> Pace:
        """Lets time pass."""
        return self._pace

    def prediction(self) -> Prediction | None:
        """The result of the run so far, as `raidsim run` has it; None before the first request."""
        array, counts = self.array, self.counts
        if not (array.is_counting and array.span > 0):
            return None
        return prediction_of(array, array.span, (counts.read_bytes + counts.write_bytes) / array.span)

    def _status(self) -> dict[str, Any]:
        array = self.array
        rebuilds = [
            {"array": each.array, "action": each.action, "rate": each.rate, "done": each.position / each.total_bytes}
            for each in array.working()
        ]
        found = {"rebuilds": rebuilds, "outstanding": self._pace.outstanding, "clients": len(self._connections)}
        return {**found, **self.counts.document(), "busiest": array.busiest}

    def arrive(self, io: Io) -> None:
        """See :meth:`.connection.Export.arrive`."""
        self._pace.arrive(io)

    def answered(self, io: Io) -> None:
        """See :meth:`.connection.Export.answered`."""
        self._pace.answered(io)

    def send_later(self, send: Callable[[], None]) -> None:
        """See :meth:`.connection.Export.send_later`."""
        self._pace.send_later(send)

    def opened(self, connection: Connection) -> bool:
        """See :meth:`.connection.Export.opened`."""
        if len(self._connections) >= MOST_CONNECTIONS:
            self.refused += 1
            return False
        self._connections.add(connection)
        return True

    def closed(self, connection: Connection) -> None:
        """See :meth:`.connection.Export.closed`."""
        if connection in self._connections:
            self._connections.remove(connection)
            if self.options.once and not self._connections:
                asyncio.get_running_loop().call_later(ONCE_S, self._end_if_unused)

    def _end_if_unused(self) -> None:
        if not self._connections:
            self.end()

    def end(self) -> None:
        """End :meth:`run`."""
        if self._end is not None:
            self._end.set()

    async def run(self, listening: Callable[[], None]) -> None:
        """Serve until :meth:`end`; call `listening` when clients can connect.

        Raises
        ------
        InputError
            If the address cannot be used, or the array fails.
        """
        self._end = asyncio.Event()
        listeners: list[asyncio.AbstractServer] = []
        try:
            if self.options.trace is not None:
                self._trace = TraceFile(self.options.trace, self.name)
                self.array.submitted = self._trace.add
            if self.options.control is not None:
                listeners.append(await self._listen_to_operators(self.options.control))
            listeners.append(await self._listen())
        except InputError:
            self.data.close()
            for listener in listeners:
                listener.close()
            if listeners:
                self._remove_sockets((self.options.control,))
            raise
        pace = asyncio.create_task(self._pace.run())
        end = asyncio.create_task(self._end.wait())
        try:
            listening()
            await asyncio.wait({pace, end}, return_when=asyncio.FIRST_COMPLETED)
            if pace.done():
                await pace
        except ArrayFailed as error:
            raise InputError(
                "failures", str(error), "expected: failures that every array survives when they come"
            ) from None
        finally:
            for listener in listeners:
                listener.close()
            for task in (pace, end):
                task.cancel()
            for connection in list(self._connections):
                connection.close()
            for operator in list(self._operators):
                operator.close()
            await asyncio.gather(pace, end, return_exceptions=True)
            self._remove_sockets((self.options.unix, self.options.control))
            await self._close_data()
        if self._trace is not None:
            self._trace.close()

    @staticmethod
    def _remove_sockets(paths: Iterable[Path | None]) -> None:
        for path in paths:
            if path is not None:
                with suppress(FileNotFoundError):
                    path.unlink()

    async def _close_data(self) -> None:
        """Writes that were answered are in the file; this makes them outlast the machine, too."""
        try:
            if self.data.is_durable and not self.options.read_only:
                await asyncio.to_thread(self.data.sync)
        except OSError as error:
            allowed = "expected: a disk without errors; what was written after the last successful flush may be lost"
            raise InputError("--data", f"{self.options.data}: {error.strerror}", allowed) from None
        finally:
            self.data.close()

    async def _listen_to_operators(self, path: Path) -> asyncio.AbstractServer:
        assert self.operator is not None
        operator = self.operator
        try:
            return await _unix_server(path, "--control", lambda: ControlConnection(operator, self._operators))
        except OSError as error:
            raise InputError("--control", f"{path}: {error.strerror}", "expected: a path that is free") from None

    async def _listen(self) -> asyncio.AbstractServer:
        loop, unix = asyncio.get_running_loop(), self.options.unix
        try:
            if unix is not None:
                server = await _unix_server(unix, "--unix", lambda: Connection(self))
                self.address = f"nbd+unix:///{self.name}?socket={unix}"
                return server
            host, port = self.options.host, self.options.port
            server = await loop.create_server(lambda: Connection(self), host, port)
        except OSError as error:
            option = "--port" if unix is None else "--unix"
            place = f"{self.options.host}:{self.options.port}" if unix is None else str(unix)
            raise InputError(option, f"{place}: {error.strerror}", "expected: an address that is free") from None
        port = server.sockets[0].getsockname()[1]
        self.address = f"nbd://{f'[{host}]' if ':' in host else host}:{port}/{self.name}"
        return server


def serve(
    scenario: ScenarioSpec,
    options: ServeOptions,
    listening: Callable[[Server], None],
    observer: Observer = UNOBSERVED,
) -> Server:
    """Serve until SIGINT or SIGTERM, or until the last client has gone (`once`).

    Parameters
    ----------
    scenario
        Whose array is served.
    options
        How.
    listening
        Called when clients can connect.
    observer
        Sees each part of the machine when it is built.

    Returns
    -------
    Server
        The server, which has ended, with its counts.

    Raises
    ------
    InputError
        If an option, a file or the address cannot be used, or the array fails.
    """
    server = Server(scenario, options, observer)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.end)
        await server.run(lambda: listening(server))

    with asyncio.Runner(loop_factory=precise_loop) as runner:
        runner.run(main())
    return server


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _unix_server(path: Path, option: str, made: Callable[[], asyncio.BaseProtocol]) -> asyncio.AbstractServer:
    """A listener on a Unix socket that only its owner can open."""
    _remove_stale(path, option)
    mask = os.umask(0o177)
    try:
        return await asyncio.get_running_loop().create_unix_server(made, str(path))
    finally:
        os.umask(mask)


def _remove_stale(path: Path, option: str) -> None:
    """Remove the socket of a server that was killed; one that answers is left alone, and so is any other file."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise InputError(option, f"{path} exists and is no socket", "expected: a new path")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise InputError(option, f"a server listens on {path}", "expected: a path for each server")
