"""One connection of a client: the handshake, requests and answers, and what is refused.

Whatever a client sends gets the answer of the protocol or ends its connection; nothing is waited for without a limit.
"""

from __future__ import annotations

import asyncio
import errno
import struct
from collections.abc import Callable
from typing import Protocol, cast

from ..model.core.request import FLUSH, READ, TRIM, WRITE
from . import protocol as nbd
from .array import Io
from .data import Data

HANDSHAKE_S = 10.0
"""A client that is not through with its handshake by then is disconnected (s)."""
MOST_IN_FLIGHT = 1024
"""Requests of one connection that are not answered; more are not read until some are."""
MOST_BYTES_IN_FLIGHT = 64 << 20
_EXPORT_NAME_ZEROES = bytes(124)
_SERVED = {nbd.CMD_READ: READ, nbd.CMD_WRITE: WRITE, nbd.CMD_FLUSH: FLUSH, nbd.CMD_TRIM: TRIM}


class Export(Protocol):
    """What is served, as a connection sees it."""

    name: str
    capacity: int
    sector: int
    data: Data
    handshake_s: float

    @property
    def flags(self) -> int:
        """What the export can do: transmission flags of the protocol."""

    def arrive(self, io: Io) -> None:
        """A request enters the array."""

    def answered(self, io: Io) -> None:
        """The answer of a request has been given to :meth:`Connection._send`."""

    def send_later(self, send: Callable[[], None]) -> None:
        """Call `send` when the answers of this moment are there: now, unless more of them follow."""

    def opened(self, connection: Connection) -> bool:
        """A client has connected; false if there are too many."""

    def closed(self, connection: Connection) -> None:
        """A client is gone."""


class Connection(asyncio.Protocol):
    """The server's end of one connection.

    Parameters
    ----------
    export
        What is served.
    """

    def __init__(self, export: Export) -> None:
        self._export = export
        self._buffer = bytearray()
        self._unsent: list[bytes] = []
        self._need = 4
        self._skip = 0  # bytes of data that nobody wants
        self._step: Callable[[bytes], None] = self._client_flags
        self._no_zeroes = False
        self._structured = False
        self._in_flight = self._bytes_in_flight = 0
        self._is_full = False  # the client does not read its answers
        self._paused = False
        self._ending = False
        self._parsing = False
        self._request = (0, 0, 0, 0, 0)
        self._option = 0
        self._timer: asyncio.TimerHandle | None = None

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :meth:`asyncio.BaseProtocol.connection_made`."""
        self._transport = cast("asyncio.Transport", transport)
        if not self._export.opened(self):
            self._transport.abort()
            return
        # Answers are as large as the requests in flight, whose number is limited.
        self._transport.set_write_buffer_limits(high=MOST_BYTES_IN_FLIGHT)
        self._timer = asyncio.get_running_loop().call_later(self._export.handshake_s, self.close)
        self._transport.write(nbd.GREETING)

    def connection_lost(self, exc: Exception | None) -> None:
        """See :meth:`asyncio.BaseProtocol.connection_lost`."""
        self._through()
        self._ending = True
        self._buffer.clear()
        self._export.closed(self)

    def data_received(self, data: bytes) -> None:
        """See :meth:`asyncio.Protocol.data_received`."""
        self._buffer += data
        self._parse()

    def pause_writing(self) -> None:
        """See :meth:`asyncio.BaseProtocol.pause_writing`."""
        self._is_full = True

    def resume_writing(self) -> None:
        """See :meth:`asyncio.BaseProtocol.resume_writing`."""
        self._is_full = False
        self._parse()

    def close(self) -> None:
        """Disconnect at once."""
        self._ending = True
        self._transport.abort()

    # From bytes to messages.

    @property
    def _must_wait(self) -> bool:
        busy = self._in_flight >= MOST_IN_FLIGHT or self._bytes_in_flight >= MOST_BYTES_IN_FLIGHT
        return self._is_full or busy

    def _parse(self) -> None:
        if self._parsing:
            return  # an answer that is sent while a message is taken
        self._parsing = True
        buffer, at = self._buffer, 0
        while not self._ending and not self._must_wait:
            if self._skip:
                skipped = min(self._skip, len(buffer) - at)
                self._skip -= skipped
                at += skipped
                if self._skip:
                    break
            if len(buffer) - at < self._need:
                break
            message = bytes(memoryview(buffer)[at : at + self._need])
            at += self._need
            self._step(message)
        self._parsing = False
        del buffer[:at]
        if self._ending:
            buffer.clear()
        if self._must_wait != self._paused and not self._transport.is_closing():
            self._paused = not self._paused
            (self._transport.pause_reading if self._paused else self._transport.resume_reading)()

    def _next(self, need: int, step: Callable[[bytes], None]) -> None:
        self._need, self._step = need, step

    def _send(self, data: bytes) -> None:
        """Send `data`, with the other answers of this moment in one system call: each takes 20 to 60 us of CPU time."""
        self._unsent.append(data)
        if len(self._unsent) == 1:
            self._export.send_later(self._send_all)

    def _send_all(self) -> None:
        if not self._unsent:
            return
        if not self._transport.is_closing():
            self._transport.write(self._unsent[0] if len(self._unsent) == 1 else b"".join(self._unsent))
        self._unsent.clear()

    def _end(self) -> None:
        """Disconnect when all that was sent has gone out."""
        self._ending = True
        self._send_all()
        if not self._in_flight:
            self._transport.close()

    def _through(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # The handshake.

    def _client_flags(self, message: bytes) -> None:
        flags = int.from_bytes(message, "big")
        if flags & ~(nbd.CLIENT_FIXED_NEWSTYLE | nbd.CLIENT_NO_ZEROES):
            self._end()
            return
        self._no_zeroes = bool(flags & nbd.CLIENT_NO_ZEROES)
        self._next(nbd.OPTION.size, self._option_head)

    def _option_head(self, message: bytes) -> None:
        magic, self._option, length = nbd.OPTION.unpack(message)
        if magic != nbd.OPTION_MAGIC:
            self._end()
        elif length > nbd.MOST_OPTION_BYTES:
            if self._option == nbd.OPT_EXPORT_NAME:
                self._end()
                return
            self._skip = length
            self._reply(nbd.REP_ERR_TOO_BIG)
        else:
            self._next(length, self._option_data)

    def _reply(self, kind: int, data: bytes = b"") -> None:
        self._send(nbd.option_reply(self._option, kind, data))

    def _option_data(self, data: bytes) -> None:
        self._next(nbd.OPTION.size, self._option_head)
        match self._option:
            case nbd.OPT_EXPORT_NAME:
                self._export_name(data)
            case nbd.OPT_ABORT:
                self._reply(nbd.REP_ACK)
                self._end()
            case nbd.OPT_LIST | nbd.OPT_STRUCTURED_REPLY if data:
                self._reply(nbd.REP_ERR_INVALID)
            case nbd.OPT_LIST:
                name = self._export.name.encode()
                self._reply(nbd.REP_SERVER, struct.pack(">I", len(name)) + name)
                self._reply(nbd.REP_ACK)
            case nbd.OPT_STRUCTURED_REPLY:
                self._structured = True
                self._reply(nbd.REP_ACK)
            case nbd.OPT_INFO | nbd.OPT_GO:
                self._info(data)
            case _:
                self._reply(nbd.REP_ERR_UNSUP)

    def _knows(self, name: bytes) -> bool:
        return name in (b"", self._export.name.encode())

    @property
    def _flags(self) -> int:
        return self._export.flags | (nbd.SEND_DF if self._structured else 0)

    def _export_name(self, name: bytes) -> None:
        if not self._knows(name):
            self._end()  # this option has no answer that says so
            return
        zeroes = b"" if self._no_zeroes else _EXPORT_NAME_ZEROES
        self._send(struct.pack(">QH", self._export.capacity, self._flags) + zeroes)
        self._transmit()

    def _info(self, data: bytes) -> None:
        length = int.from_bytes(data[:4], "big")
        if len(data) < 6 or len(data) < 6 + length:
            self._reply(nbd.REP_ERR_INVALID)
            return
        asked = int.from_bytes(data[4 + length : 6 + length], "big")
        if len(data) != 6 + length + 2 * asked:
            self._reply(nbd.REP_ERR_INVALID)
            return
        if not self._knows(data[4 : 4 + length]):
            self._reply(nbd.REP_ERR_UNKNOWN)
            return
        export = self._export
        sizes = (export.sector, max(4096, export.sector), nbd.MOST_REQUEST_BYTES)
        self._reply(nbd.REP_INFO, struct.pack(">HQH", nbd.INFO_EXPORT, export.capacity, self._flags))
        self._reply(nbd.REP_INFO, struct.pack(">HIII", nbd.INFO_BLOCK_SIZE, *sizes))
        self._reply(nbd.REP_ACK)
        if self._option == nbd.OPT_GO:
            self._transmit()

    def _transmit(self) -> None:
        self._through()
        self._next(nbd.REQUEST.size, self._request_head)

    # Requests.

    def _request_head(self, message: bytes) -> None:
        magic, flags, kind, cookie, offset, length = nbd.REQUEST.unpack(message)
        if magic != nbd.REQUEST_MAGIC:
            self._end()
            return
        if kind == nbd.CMD_DISC:
            self._end()
            return
        error = self._error_of(flags, kind, offset, length)
        if error:
            self._skip = length if kind == nbd.CMD_WRITE else 0
            self._refuse(kind, cookie, error)
            return
        self._request = (flags, kind, cookie, offset, length)
        if kind == nbd.CMD_WRITE:
            self._next(length, self._take)
        else:
            self._take(b"")

    def _error_of(self, flags: int, kind: int, offset: int, length: int) -> int:
        """Why a request cannot be served; 0 if it can."""
        export = self._export
        known = nbd.FLAG_FUA | (nbd.FLAG_DF if kind == nbd.CMD_READ and self._structured else 0)
        if kind not in _SERVED or flags & ~known:
            return nbd.EINVAL
        if kind == nbd.CMD_TRIM and not export.flags & nbd.SEND_TRIM:
            return nbd.EPERM if export.flags & nbd.READ_ONLY else nbd.EINVAL
        if kind == nbd.CMD_FLUSH:
            return nbd.EINVAL if offset or length else 0
        if kind == nbd.CMD_WRITE and export.flags & nbd.READ_ONLY:
            return nbd.EPERM
        if not length or (offset | length) % export.sector:
            return nbd.EINVAL
        if kind != nbd.CMD_TRIM and length > nbd.MOST_REQUEST_BYTES:
            return nbd.EINVAL
        if offset + length > export.capacity:
            return nbd.ENOSPC if kind == nbd.CMD_WRITE else nbd.EINVAL
        return 0

    def _take(self, payload: bytes) -> None:
        self._next(nbd.REQUEST.size, self._request_head)
        flags, kind, cookie, offset, length = self._request
        try:
            if kind == nbd.CMD_WRITE:
                self._export.data.write(offset, payload)
            elif kind == nbd.CMD_TRIM:
                self._export.data.trim(offset, length)
        except OSError as error:
            self._refuse(kind, cookie, _number_of(error))
            return
        held = 0 if kind == nbd.CMD_TRIM else length
        self._in_flight += 1
        self._bytes_in_flight += held

        def done(io: Io) -> None:
            self._in_flight -= 1
            self._bytes_in_flight -= held
            self._answer(io, kind, cookie)

        def synced(io: Io) -> None:
            loop = asyncio.get_running_loop()
            loop.run_in_executor(None, self._export.data.sync).add_done_callback(lambda job: after(io, job))

        def after(io: Io, job: asyncio.Future[None]) -> None:
            if job.cancelled():
                return  # the server has ended
            error = job.exception()
            if error is None:
                done(io)
                return
            self._in_flight -= 1
            self._bytes_in_flight -= held
            self._refuse(kind, cookie, _number_of(error) if isinstance(error, OSError) else nbd.EIO)
            self._go_on()

        stable = kind == nbd.CMD_FLUSH or (flags & nbd.FLAG_FUA and kind != nbd.CMD_READ)
        waits = stable and self._export.data.is_durable and not self._export.flags & nbd.READ_ONLY
        io = Io(_SERVED[kind], offset, length, bool(flags & nbd.FLAG_FUA), synced if waits else done)
        self._export.arrive(io)

    # Answers.

    def _refuse(self, kind: int, cookie: int, error: int) -> None:
        structured = self._structured and kind == nbd.CMD_READ
        self._send(nbd.error_chunk(cookie, error) if structured else nbd.simple_reply(cookie, error))

    def _answer(self, io: Io, kind: int, cookie: int) -> None:
        try:
            data = self._export.data.read(io.offset, io.size) if kind == nbd.CMD_READ else b""
        except OSError as error:
            self._refuse(kind, cookie, _number_of(error))
        else:
            structured = self._structured and kind == nbd.CMD_READ
            self._send(nbd.data_chunk(cookie, io.offset, data) if structured else nbd.simple_reply(cookie, data=data))
        self._export.answered(io)
        self._go_on()

    def _go_on(self) -> None:
        """Read more requests if there is room for them; end if the client has asked for it."""
        if self._ending:
            self._end()
        elif self._paused or self._buffer:
            self._parse()


def _number_of(error: OSError) -> int:
    """The protocol's number for what the system said."""
    return nbd.ENOSPC if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else nbd.EIO
