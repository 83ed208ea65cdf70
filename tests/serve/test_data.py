"""The bytes of the served device: in memory, over an image, in a file."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from raidsim.model.core.errors import InputError
from raidsim.serve import protocol as nbd
from raidsim.serve.data import BLOCK, Data, FileData, MemoryData
from raidsim.tests.processes import PATIENCE_S
from raidsim.tests.serve.client import RAID5, Client, served

SIZE = 10 * BLOCK


def test_every_store_keeps_what_random_writes_left(tmp_path: Path) -> None:
    """Protects the data: random writes and reads of all stores agree with plain bytes."""
    drawn = random.Random(1)
    image = drawn.randbytes(3 * BLOCK + 100)
    base = tmp_path / "base.img"
    base.write_bytes(image)
    stores: list[tuple[Data, bytearray]] = [
        (MemoryData(SIZE, SIZE), bytearray(SIZE)),
        (MemoryData(SIZE, SIZE, base), bytearray(image + bytes(SIZE - len(image)))),
        (FileData(tmp_path / "data.img", SIZE), bytearray(SIZE)),
    ]
    for store, expected in stores:
        for _ in range(100):
            offset = drawn.randrange(SIZE - 1)
            data = drawn.randbytes(drawn.randint(1, min(3 * BLOCK, SIZE - offset)))
            store.write(offset, data)
            expected[offset : offset + len(data)] = data
            at = drawn.randrange(SIZE - 1)
            length = drawn.randint(1, min(3 * BLOCK, SIZE - at))
            assert store.read(at, length) == expected[at : at + length]
        assert store.read(0, SIZE) == expected
        store.close()
    assert base.read_bytes() == image


def test_memory_has_a_limit_and_trims_give_it_back(tmp_path: Path) -> None:
    """Protects the machine's memory: ENOSPC at the limit, no part of such a write is kept, and trims make room."""
    base = tmp_path / "base.img"
    base.write_bytes(b"b" * SIZE)
    for image, before in ((None, 0), (base, ord("b"))):
        store = MemoryData(SIZE, 2 * BLOCK, image)
        store.write(BLOCK - 1, b"12")
        with pytest.raises(OSError, match="space") as refused:
            store.write(2 * BLOCK - 1, b"34")
        assert refused.value.errno == errno.ENOSPC
        assert store.read(2 * BLOCK - 1, 2) == bytes([before, before])
        store.trim(0, BLOCK + 100)
        assert store.read(0, BLOCK) == bytes([before]) * BLOCK
        assert store.read(BLOCK, 1) == b"2"
        store.write(2 * BLOCK, b"5")
        assert store.read(2 * BLOCK, 1) == b"5"
        store.close()


def test_a_file_belongs_to_one_server(tmp_path: Path) -> None:
    """Protects a file from two writers, and from an array that is smaller than it; both are bad input."""
    path = tmp_path / "data.img"
    store = FileData(path, SIZE)
    with pytest.raises(InputError, match="in use by another server"):
        FileData(path, SIZE)
    store.write(SIZE - 1, b"z")
    store.close()
    with pytest.raises(InputError, match=r"--data: .* 40 KiB; expected: a file of at most"):
        FileData(path, SIZE - 512)
    store = FileData(path, SIZE, read_only=True)
    assert store.read(SIZE - 1, 1) == b"z"
    store.close()
    for place in (tmp_path, tmp_path / "none" / "x"):
        with pytest.raises(InputError, match="--data"):
            FileData(place, SIZE)
    with pytest.raises(InputError, match="--base"):
        MemoryData(SIZE, SIZE, tmp_path / "none.img")


def test_a_flush_that_failed_once_fails_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects from a lie: the kernel reports lost data once, so no later flush may succeed, and the end says it."""

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "lost")

    def use() -> None:
        with (
            served(tmp_path, data=tmp_path / "data.img") as server,
            Client(server.options.unix or tmp_path) as client,
        ):
            assert client.ask(nbd.CMD_FLUSH) == 0
            with monkeypatch.context() as patched:
                patched.setattr(os, "fdatasync", fail)
                assert client.ask(nbd.CMD_FLUSH) == nbd.EIO
            assert client.write(0, b"x" * 512, nbd.FLAG_FUA) == nbd.EIO
            assert client.write(0, b"x" * 512) == 0

    with pytest.raises(InputError, match=r"--data: .*data.img: lost"):
        use()


def test_flushed_data_survive_a_kill(tmp_path: Path) -> None:
    """Protects what was flushed: a server that is killed while it writes leaves each block as flushed, or newer."""
    scenario, data, path = tmp_path / "s.yaml", tmp_path / "data.img", tmp_path / "nbd.sock"
    scenario.write_text(RAID5)
    command = [sys.executable, "-m", "raidsim", "serve", str(scenario), "--unix", str(path), "--data", str(data)]
    server = subprocess.Popen([*command, "--as-fast-as-possible"], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        assert server.stderr.readline().startswith("serving md0 of")
        with Client(path) as client:
            drawn = random.Random(2)
            payload = drawn.randbytes(1 << 20)
            assert client.write(5 << 30, payload) == 0
            slots = {slot: [drawn.randbytes(4096)] for slot in range(32)}
            for slot, (block,) in slots.items():
                assert client.write(4096 * slot, block) == 0
            assert client.ask(nbd.CMD_FLUSH) == 0
            for number in range(300):
                slot, block = drawn.randrange(32), drawn.randbytes(4096)
                slots[slot].append(block)
                client.send(nbd.CMD_WRITE, 4096 * slot, 4096, block)
                if number >= 200:
                    client.reply({})
            server.send_signal(signal.SIGKILL)
    finally:
        server.kill()
        server.communicate(timeout=PATIENCE_S)
    assert data.stat().st_blocks * 512 < 4 << 20  # it is sparse
    with served(tmp_path, data=data) as again, Client(again.options.unix or tmp_path) as client:
        assert client.read(5 << 30, 1 << 20) == payload
        found = [slots[slot].index(client.read(4096 * slot, 4096)) for slot in slots]
        assert any(found)


def test_connections_see_each_other(tmp_path: Path) -> None:
    """Protects multi-conn: what one of 24 connections has written, and flushed, each of the others reads."""
    drawn = random.Random(3)
    with served(tmp_path) as server:
        path = server.options.unix
        assert path is not None
        clients = [Client(path) for _ in range(24)]
        expected: dict[int, bytes] = {}
        for _ in range(6):
            offsets = drawn.sample(range(64), len(clients))
            for client, slot in zip(clients, offsets, strict=True):
                expected[slot] = payload = drawn.randbytes(4096)
                client.send(nbd.CMD_WRITE, 4096 * slot, 4096, payload)
            for client in clients:
                assert client.reply({})[1] == 0
            assert drawn.choice(clients).ask(nbd.CMD_FLUSH) == 0
            for client in clients:
                slot = drawn.choice(list(expected))
                assert client.read(4096 * slot, 4096) == expected[slot]
        for client in clients:
            client.socket.close()
    assert server.counts.latencies[1].count == 6 * 24


def test_reads_of_memory_cost_no_memory() -> None:
    """Protects memory: a terabyte that was never written is read and trimmed without keeping a block."""
    store = MemoryData(1 << 40, BLOCK)
    began = time.process_time()
    assert store.read((1 << 40) - (32 << 20), 32 << 20) == bytes(32 << 20)
    store.trim(0, 1 << 40)
    assert not store._blocks
    assert time.process_time() - began < 5
