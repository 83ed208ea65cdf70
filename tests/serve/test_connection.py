"""What a client gets: the handshake, data, flags, errors, and an answer or an end for whatever it sends."""

from __future__ import annotations

import asyncio
import random
import struct
import time
from pathlib import Path

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.serve import connection
from raidsim.serve import protocol as nbd
from raidsim.serve.server import MOST_CONNECTIONS, ServeOptions, Server
from raidsim.tests.serve.client import FLASH, RAID5, Client, raw, served

KIB = 1024


@pytest.mark.parametrize("structured", [False, True])
def test_reads_give_what_was_written(tmp_path: Path, structured: bool) -> None:
    """Protects the data: writes across blocks of the store, neighbors, and zeros where nothing was written."""
    with served(tmp_path) as server, Client(server.options.unix or tmp_path, structured) as client:
        payload = random.Random(1).randbytes(200 * KIB)
        assert client.read(0, 4 * KIB) == bytes(4 * KIB)
        assert client.write(60 * KIB, payload) == 0
        assert client.write(64 * KIB, b"x" * 512, nbd.FLAG_FUA) == 0
        assert client.ask(nbd.CMD_FLUSH) == 0
        expected = bytearray(bytes(60 * KIB) + payload + bytes(4 * KIB))
        expected[64 * KIB : 64 * KIB + 512] = b"x" * 512
        assert client.read(0, len(expected)) == expected
        assert client.write(server.capacity - 512, b"e" * 512) == 0
        assert client.read(server.capacity - 512, 512) == b"e" * 512
    assert server.counts.document()["requests"]["flush"]["count"] == 1


def test_the_export_says_what_it_can(tmp_path: Path) -> None:
    """Protects clients from asking what fails: flags, block sizes and names, by each of the options."""
    with served(tmp_path) as server:
        path = server.options.unix
        assert path is not None
        with Client(path, go=False) as client:
            assert client.option(nbd.OPT_LIST) == [(nbd.REP_SERVER, struct.pack(">I", 3) + b"md0"), (nbd.REP_ACK, b"")]
            client.name = b"md0"
            told = client.asked(nbd.OPT_INFO)
            assert told == client.asked(nbd.OPT_GO)
            assert (told.size, told.blocks) == (server.capacity, (512, 4096, 32 << 20))
            assert told.flags == (nbd.HAS_FLAGS | nbd.SEND_FLUSH | nbd.SEND_FUA | nbd.ROTATIONAL | nbd.CAN_MULTI_CONN)
            assert client.read(0, 512) == bytes(512)
        with Client(path, go=False) as client:
            client.socket.sendall(nbd.OPTION.pack(nbd.OPTION_MAGIC, nbd.OPT_EXPORT_NAME, 0))
            assert struct.unpack(">QH", client.receive(10)) == (server.capacity, told.flags)
            assert client.read(0, 512) == bytes(512)
        with Client(path, structured=True) as client:
            assert client.export.flags == told.flags | nbd.SEND_DF


def test_flash_takes_trims(tmp_path: Path) -> None:
    """Protects trims: announced where the array passes discards on, simulated, and the data are gone."""
    with served(tmp_path, FLASH) as server, Client(server.options.unix or tmp_path) as client:
        assert client.export.flags & nbd.SEND_TRIM
        assert not client.export.flags & nbd.ROTATIONAL
        assert client.write(0, b"x" * 128 * KIB) == 0
        assert client.ask(nbd.CMD_TRIM, 0, 64 * KIB) == 0
        assert client.read(0, 128 * KIB) == bytes(64 * KIB) + b"x" * 64 * KIB
        assert server.counts.latencies[3].count == 1


@pytest.mark.parametrize("structured", [False, True])
def test_bad_requests_get_the_error_of_the_protocol(tmp_path: Path, structured: bool) -> None:
    """Protects both ends: each bad request has its error, its data are passed over, and the next request works."""
    with served(tmp_path) as server, Client(server.options.unix or tmp_path, structured) as client:
        end, sector = server.capacity, b"y" * 512
        for expected, request in (
            (nbd.EINVAL, (nbd.CMD_READ, end, 512)),
            (nbd.EINVAL, (nbd.CMD_READ, 2**64 - 512, 512)),
            (nbd.EINVAL, (nbd.CMD_READ, 0, 0)),
            (nbd.EINVAL, (nbd.CMD_READ, 1, 512)),
            (nbd.EINVAL, (nbd.CMD_READ, 0, 64 << 20)),
            (nbd.EINVAL, (nbd.CMD_READ, 0, 512, b"", 1 << 9)),
            (nbd.ENOSPC, (nbd.CMD_WRITE, end, 512, sector)),
            (nbd.EINVAL, (nbd.CMD_WRITE, 0, 500, sector[:500])),
            (nbd.EINVAL, (nbd.CMD_WRITE, 0, 33 << 20, bytes(33 << 20))),
            (nbd.EINVAL, (nbd.CMD_WRITE, 0, 512, sector, nbd.FLAG_DF)),
            (nbd.EINVAL, (nbd.CMD_FLUSH, 512, 512)),
            (nbd.EINVAL, (nbd.CMD_TRIM, 0, 512)),
            (nbd.EINVAL, (99, 0, 512)),
        ):
            assert client.ask(*request) == expected, request[:3]
            assert client.read(0, 512) == bytes(512)


def test_read_only_refuses_writes(tmp_path: Path) -> None:
    """Protects an image that is only looked at."""
    with served(tmp_path, FLASH, read_only=True) as server, Client(server.options.unix or tmp_path) as client:
        assert client.export.flags & nbd.READ_ONLY
        assert not client.export.flags & nbd.SEND_TRIM
        assert client.write(0, b"x" * 512) == nbd.EPERM
        assert client.ask(nbd.CMD_TRIM, 0, 512) == nbd.EPERM
        assert client.read(0, 512) == bytes(512)


def test_bad_options_are_answered(tmp_path: Path) -> None:
    """Protects the handshake: unknown, malformed and too large options are refused, and the next one works."""
    with served(tmp_path) as server, Client(server.options.unix or tmp_path, go=False) as client:
        assert client.option(5) == [(nbd.REP_ERR_UNSUP, b"")]
        assert client.option(nbd.OPT_LIST, b"x") == [(nbd.REP_ERR_INVALID, b"")]
        for data in (b"", b"\xff\xff\xff\xff\0\0", struct.pack(">IH", 0, 9), struct.pack(">IHB", 0, 0, 1)):
            assert client.option(nbd.OPT_GO, data) == [(nbd.REP_ERR_INVALID, b"")]
        assert client.option(nbd.OPT_GO, struct.pack(">I3sH", 3, b"abc", 0)) == [(nbd.REP_ERR_UNKNOWN, b"")]
        assert client.option(nbd.OPT_INFO, bytes(100_000)) == [(nbd.REP_ERR_TOO_BIG, b"")]
        assert client.asked(nbd.OPT_INFO).size == server.capacity
        assert client.option(nbd.OPT_ABORT) == [(nbd.REP_ACK, b"")]
        assert client.socket.recv(1) == b""


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack(">I", 1 << 7),
        struct.pack(">I", 3) + bytes(16),
        struct.pack(">I", 3) + nbd.OPTION.pack(nbd.OPTION_MAGIC, nbd.OPT_EXPORT_NAME, 3) + b"abc",
        struct.pack(">I", 3) + nbd.OPTION.pack(nbd.OPTION_MAGIC, nbd.OPT_EXPORT_NAME, 1 << 31),
        struct.pack(">I", 3) + nbd.OPTION.pack(nbd.OPTION_MAGIC, nbd.OPT_EXPORT_NAME, 0) + bytes(28),
        b"",
        b"\0\0",
    ],
)
def test_what_is_no_client_is_disconnected(tmp_path: Path, sent: bytes) -> None:
    """Protects against a hang: wrong magic, unknown flags and names, silence. The server then serves others."""
    with served(tmp_path, handshake_s=0.2) as server:
        path = server.options.unix
        assert path is not None
        with raw(path) as stranger:
            stranger.sendall(sent)
            received = b""
            try:
                while part := stranger.recv(4096):
                    received += part
            except ConnectionResetError:
                pass
            assert received.startswith(nbd.GREETING)
        with Client(path) as client:
            assert client.read(0, 512) == bytes(512)
            if not sent:
                time.sleep(0.3)
                assert client.read(0, 512) == bytes(512), "the limit is for the handshake"


def test_connections_have_a_limit(tmp_path: Path) -> None:
    """Protects the machine: one more than the limit is refused, and there is room again when one ends."""
    with served(tmp_path) as server:
        path = server.options.unix
        assert path is not None
        clients = [Client(path) for _ in range(MOST_CONNECTIONS)]
        with raw(path) as late:
            assert late.recv(1) == b""
        assert server.refused == 1
        clients.pop().socket.close()
        clients[0].read(0, 512)
        with Client(path) as client:
            client.read(0, 512)
        for each in clients:
            each.socket.close()


def test_more_requests_than_fit_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects memory: beyond the limit requests are not read, and all are answered nevertheless."""
    monkeypatch.setattr(connection, "MOST_IN_FLIGHT", 4)
    most = 0
    with served(tmp_path) as server, Client(server.options.unix or tmp_path) as client:
        arrive = server._pace.arrive

        def counted(io: object) -> None:
            nonlocal most
            arrive(io)  # type: ignore[arg-type]
            most = max(most, server._pace.outstanding)

        monkeypatch.setattr(server._pace, "arrive", counted)
        sizes = {client.send(nbd.CMD_READ, 4096 * number, 4096): 4096 for number in range(100)}
        left = set(sizes)
        while left:
            cookie, error, data = client.reply(sizes)
            assert (error, data) == (0, bytes(4096))
            left.remove(cookie)
    assert most == 4


def test_a_goodbye_waits_for_the_answers(tmp_path: Path) -> None:
    """Protects what a client has asked before it says goodbye."""
    with served(tmp_path, RAID5) as server, Client(server.options.unix or tmp_path) as client:
        cookie = client.send(nbd.CMD_READ, 0, 4096)
        client.send(nbd.CMD_DISC)
        assert client.reply({cookie: 4096}) == (cookie, 0, bytes(4096))
        assert client.socket.recv(1) == b""


class _Wire(asyncio.Transport):
    """A transport that keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep `data`."""
        self.sent.append(bytes(data))

    def is_closing(self) -> bool:
        """See :meth:`asyncio.BaseTransport.is_closing`."""
        return False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """See :meth:`asyncio.WriteTransport.set_write_buffer_limits`."""


def test_answers_of_one_moment_go_out_together() -> None:
    """Protects the rate: answers that are due together need one call of the system; others wait for nothing."""

    async def answers() -> tuple[list[bytes], list[bytes]]:
        server = Server(document_from(FLASH).spec(), ServeOptions(speed=1.0))
        client, wire = connection.Connection(server), _Wire()
        client.connection_made(wire)
        go = struct.pack(">I", 3) + nbd.OPTION.pack(nbd.OPTION_MAGIC, nbd.OPT_GO, 6) + bytes(6)
        reads = b"".join(nbd.REQUEST.pack(nbd.REQUEST_MAGIC, 0, nbd.CMD_READ, n, 512 * n, 512) for n in range(50))
        client.data_received(go + reads)
        handshake, wire.sent = wire.sent, []
        server.array.engine.run_to(1.0)
        server.pace.answer()
        assert server.counts.document()["requests"]["read"]["count"] == 50
        client.connection_lost(None)
        return handshake, wire.sent

    handshake, together = asyncio.run(answers())
    assert [len(each) for each in together] == [50 * (nbd.SIMPLE.size + 512)]
    assert len(handshake) == 4  # the greeting, and three replies to one option
