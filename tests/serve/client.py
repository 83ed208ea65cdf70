"""A small NBD client of the tests, and a server in a thread of its own."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from raidsim.scenarios.documents.document import document_from
from raidsim.serve import protocol as nbd
from raidsim.serve.pace import precise_loop
from raidsim.serve.server import ServeOptions, Server

RAID5 = """
machine:
  drives: {model: Generic-20GB-ATA, count: 4}
arrays:
  md0: {level: raid5, bitmap: none}
workload: {kind: load}
"""
FLASH = """
machine:
  drives: {model: Samsung-970-EVO-Plus-1TB, count: 4}
arrays:
  md0: {level: raid10, bitmap: none}
workload: {kind: load}
"""


@contextmanager
def served(tmp_path: Path, text: str = RAID5, *, handshake_s: float = 10.0, **options: object) -> Iterator[Server]:
    """A server on a Unix socket, in a thread; as fast as possible unless `speed` is given."""
    path = tmp_path / "nbd.sock"
    chosen = ServeOptions(**{"speed": None, "unix": path, **options})  # type: ignore[arg-type]
    server = Server(document_from(text).spec(), chosen)
    server.handshake_s = handshake_s
    ready, failed = threading.Event(), []
    loop = precise_loop()

    def main() -> None:
        try:
            loop.run_until_complete(server.run(ready.set))
        except Exception as error:
            failed.append(error)
            ready.set()
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    thread = threading.Thread(target=main)
    thread.start()
    assert ready.wait(20)
    try:
        yield server
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(server.end)
        thread.join(20)
        assert not thread.is_alive()
        if failed:
            raise failed[0]


@dataclass
class Export:
    """What the server says of its export."""

    size: int = 0
    flags: int = 0
    blocks: tuple[int, ...] = ()


@dataclass
class Client:
    """One connection. Every wait has a limit, so that a hang fails the test."""

    path: Path
    structured: bool = False
    go: bool = True
    name: bytes = b""
    export: Export = field(default_factory=Export)

    def __post_init__(self) -> None:
        self.socket = raw(self.path)
        self.cookie = 0
        assert self.receive(18) == nbd.GREETING
        self.socket.sendall(struct.pack(">I", 3))
        if self.structured:
            assert self.option(nbd.OPT_STRUCTURED_REPLY) == [(nbd.REP_ACK, b"")]
        if self.go:
            self.export = self.asked(nbd.OPT_GO)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def receive(self, size: int) -> bytes:
        """Exactly so many bytes; `EOFError` if the server disconnects."""
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def option(self, option: int, data: bytes = b"") -> list[tuple[int, bytes]]:
        """The replies to an option, up to the last."""
        self.socket.sendall(nbd.OPTION.pack(nbd.OPTION_MAGIC, option, len(data)) + data)
        found = []
        while True:
            magic, about, kind, length = nbd.OPTION_REPLY.unpack(self.receive(nbd.OPTION_REPLY.size))
            assert (magic, about) == (nbd.OPTION_REPLY_MAGIC, option)
            found.append((kind, self.receive(length)))
            if kind == nbd.REP_ACK or kind >> 31:
                return found

    def asked(self, option: int) -> Export:
        """What INFO or GO says."""
        replies = self.option(option, struct.pack(">I", len(self.name)) + self.name + struct.pack(">HH", 1, 3))
        assert replies[-1] == (nbd.REP_ACK, b"")
        export = Export()
        for kind, data in replies[:-1]:
            assert kind == nbd.REP_INFO
            what = int.from_bytes(data[:2], "big")
            if what == nbd.INFO_EXPORT:
                export.size, export.flags = struct.unpack(">QH", data[2:])
            elif what == nbd.INFO_BLOCK_SIZE:
                export.blocks = struct.unpack(">III", data[2:])
        return export

    def send(self, kind: int, offset: int = 0, length: int = 0, payload: bytes = b"", flags: int = 0) -> int:
        """Send a request; gives its cookie."""
        self.cookie += 1
        head = nbd.REQUEST.pack(nbd.REQUEST_MAGIC, flags, kind, self.cookie, offset, length)
        self.socket.sendall(head + payload)
        return self.cookie

    def reply(self, sizes: dict[int, int]) -> tuple[int, int, bytes]:
        """The next reply: its cookie, error and data, if reads have these sizes by their cookies."""
        (magic,) = struct.unpack(">I", self.receive(4))
        if magic == nbd.SIMPLE_MAGIC:
            error, cookie = struct.unpack(">IQ", self.receive(12))
            assert not (self.structured and cookie in sizes)
            return cookie, error, b"" if error else self.receive(sizes.get(cookie, 0))
        assert magic == nbd.STRUCTURED_MAGIC
        assert self.structured
        flags, kind, cookie, length = struct.unpack(">HHQI", self.receive(16))
        data = self.receive(length)
        assert flags == nbd.CHUNK_DONE
        if kind == nbd.CHUNK_ERROR:
            return cookie, int.from_bytes(data[:4], "big"), b""
        assert kind == nbd.CHUNK_OFFSET_DATA
        return cookie, 0, data[8:]

    def ask(self, kind: int, offset: int = 0, length: int = 0, payload: bytes = b"", flags: int = 0) -> int:
        """Send a request without data to come, and give the error of its reply."""
        cookie = self.send(kind, offset, length, payload, flags)
        answered, error, data = self.reply({cookie: length} if kind == nbd.CMD_READ else {})
        assert (answered, data) == (cookie, b"")
        return error

    def read(self, offset: int, length: int) -> bytes:
        """Read."""
        cookie = self.send(nbd.CMD_READ, offset, length)
        answered, error, data = self.reply({cookie: length})
        assert (answered, error) == (cookie, 0)
        return data

    def write(self, offset: int, payload: bytes, flags: int = 0) -> int:
        """Write; gives the error."""
        return self.ask(nbd.CMD_WRITE, offset, len(payload), payload, flags)


def raw(path: Path) -> socket.socket:
    """A socket that is connected and has said nothing."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection
