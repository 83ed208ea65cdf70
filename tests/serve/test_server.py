"""Where the server listens, who may connect, and when it ends."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from raidsim.model.core.errors import InputError
from raidsim.serve import server as module
from raidsim.serve.server import ServeOptions
from raidsim.tests.serve.client import RAID5, Client, raw, served


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_other_machines_need_a_word(host: str) -> None:
    """Protects the data: an address that others may reach is refused without --yes-expose, and loopback is not."""
    with pytest.raises(InputError, match="--yes-expose"):
        ServeOptions(host=host).check()
    ServeOptions(host=host, exposed=True).check()
    for loopback in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        ServeOptions(host=loopback).check()


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"speed": 0.0}, "--speed"),
        ({"speed": float("nan")}, "--speed"),
        ({"port": 65536}, "--port"),
        ({"data": Path("a"), "base": Path("b")}, "--base"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], place: str) -> None:
    """Protects from a server that does something else than was asked."""
    with pytest.raises(InputError, match=place):
        ServeOptions(**options).check()  # type: ignore[arg-type]


def test_tcp_serves_and_a_port_in_use_is_bad_input(tmp_path: Path) -> None:
    """Protects the message: a second server on a port names the option."""
    with served(tmp_path, unix=None, port=0) as server:
        port = int(server.address.rsplit(":", 1)[1].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            assert connection.recv(8) == b"NBDMAGIC"
        with pytest.raises(InputError, match="--port"), served(tmp_path, unix=None, port=port):
            pass


def test_a_unix_socket_belongs_to_one_server(tmp_path: Path) -> None:
    """Protects a running server and other files: only a socket that nobody listens on is replaced."""
    path = tmp_path / "nbd.sock"
    with served(tmp_path) as server:
        assert path.stat().st_mode & 0o077 == 0
        with pytest.raises(InputError, match="a server listens"), served(tmp_path):
            pass
        with Client(path) as client:
            assert client.export.size == server.capacity
    assert not path.exists()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with served(tmp_path), Client(path):
        pass
    path.write_text("precious")
    with pytest.raises(InputError, match="is no socket"), served(tmp_path):
        pass
    assert path.read_text() == "precious"


def test_once_ends_after_the_last_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects scripts: the server ends when its last client is gone, and not while there is one."""
    monkeypatch.setattr(module, "ONCE_S", 0.1)
    path = tmp_path / "nbd.sock"
    with served(tmp_path, once=True):
        with Client(path) as first:
            with Client(path):
                pass
            assert first.read(0, 512) == bytes(512)
        with Client(path) as again:  # within the time
            assert again.read(0, 512) == bytes(512)
            with raw(path) as watcher:
                assert watcher.recv(8) == b"NBDMAGIC"
        for _ in range(200):
            if not path.exists():
                break
            time.sleep(0.05)
        assert not path.exists()


def test_an_array_that_fails_ends_the_server(tmp_path: Path) -> None:
    """Protects the client from a hang: a second failure of RAID 5 ends the connections, and the message says why."""
    text = RAID5 + "failures:\n  - {member: disk0, at: 0s}\n  - {member: disk1, at: 1ms}\n"
    path = tmp_path / "nbd.sock"

    def use() -> None:
        with served(tmp_path, text, speed=1.0), raw(path) as client:
            while client.recv(64):
                pass

    with pytest.raises(InputError, match="failures"):
        use()
