"""The control socket: what an operator does while a client runs, and an answer to everything else."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.serve import control as module
from raidsim.tests.serve.client import RAID5, Client, raw, served


def told(path: Path, *lines: bytes) -> list[dict[str, Any]]:
    """The answers to lines that are sent at once."""
    with raw(path) as connection:
        connection.sendall(b"".join(line + b"\n" for line in lines))
        with connection.makefile("rb") as answers:
            return [json.loads(answers.readline()) for _ in lines]


def tell(path: Path, do: str, **arguments: object) -> dict[str, Any]:
    """The answer to one command."""
    (answer,) = told(path, json.dumps({"do": do, **arguments}).encode())
    return answer


def test_a_drive_is_failed_and_replaced_while_a_client_runs(tmp_path: Path) -> None:
    """Protects the exercise "pull a disk": no request is lost, the data stay, and a new drive is rebuilt onto."""
    control = tmp_path / "control.sock"
    with served(tmp_path, control=control) as server, Client(tmp_path / "nbd.sock") as client:
        assert control.stat().st_mode & 0o077 == 0
        assert client.write(0, b"x" * 4096) == 0
        reads = [client.send(0, n * 65536, 4096) for n in range(1, 9)]
        assert "md0 is degraded" in tell(control, "fail", drive="disk1")["done"]
        answered = [client.reply(dict.fromkeys(reads, 4096)) for _ in reads]
        assert sorted(cookie for cookie, _, _ in answered) == reads
        assert all(error == 0 for _, error, _ in answered)
        assert client.read(0, 4096) == b"x" * 4096
        refused = tell(control, "fail", drive="disk0")
        assert not refused["ok"]
        assert "expected: a member that the array survives" in refused["error"]
        assert tell(control, "status")["arrays"]["md0"]["failed"] == ["disk1"]
        assert "md0 rebuilds onto it" in tell(control, "insert", drive="disk1")["done"]
        assert client.read(65536, 4096) == bytes(4096)
        found = tell(control, "status")
        assert found["arrays"]["md0"]["rebuilding"] == ["disk1-2"]
        assert [each["action"] for each in found["rebuilds"]] == ["recover"]
    assert server.operator is not None
    assert len(server.operator.done) == 2
    assert not control.exists()


def test_a_limit_slows_a_rebuild_and_gives_the_disks_to_the_client(tmp_path: Path) -> None:
    """Protects "limit": a rebuild at full speed delays the client; at 1 MiB/s (`sync_speed_max`) it hardly does."""
    control = tmp_path / "control.sock"
    took = []
    with served(tmp_path, control=control) as server, Client(tmp_path / "nbd.sock") as client:
        assert "expected: none" in tell(control, "limit", rate="1MB/s")["error"]
        tell(control, "fail", drive="disk1")
        tell(control, "insert", drive="disk1")
        for _ in range(2):
            before = server.counts.latencies[0].total_ns
            for n in range(20):
                client.read((n * 7919 % 4096) * (1 << 20), 4096)
            took.append(server.counts.latencies[0].total_ns - before)
            assert tell(control, "limit", rate="1MiB/s")["done"] == "rebuild of md0: 1 MiB/s at most"
        assert "expected: md0" in tell(control, "limit", rate=1e6, array="md1")["error"]
        assert not tell(control, "limit", rate="0MB/s")["ok"]
        least = []
        for rate in ("100kB/s", "200MB/s"):
            assert tell(control, "limit", rate=rate)["ok"]
            [(_, resync)] = server.array.at_work()
            least.append(resync.settings.speed_min)
        assert least == [1e5, 1000 * 1024], "the least speed comes back with a higher limit"
    assert took[1] < 0.5 * took[0]


def test_a_slow_drive_slows_the_array_until_it_is_healed(tmp_path: Path) -> None:
    """Protects "slow" and its counter-test: reads take longer while a drive is slow, and no longer afterwards."""
    control = tmp_path / "control.sock"
    took = []
    with served(tmp_path, control=control) as server, Client(tmp_path / "nbd.sock") as client:
        for factor in (1, 20, 1):
            assert tell(control, "slow", drive="disk0", factor=factor)["ok"]
            before = server.counts.latencies[0].total_ns
            for n in range(24):
                client.read((n * 7919 % 4096) * (1 << 20), 4096)
            took.append(server.counts.latencies[0].total_ns - before)
        assert tell(control, "status")["slow"] == {}
    assert took[1] > 3 * took[0]
    assert took[2] < 1.5 * took[0]


def test_a_scrub_repairs_an_unreadable_sector(tmp_path: Path) -> None:
    """Protects "latent" and "scrub": a check waits for the drive's retries, and then no read does."""
    control = tmp_path / "control.sock"
    with served(tmp_path, control=control) as server, Client(tmp_path / "nbd.sock") as client:
        assert tell(control, "latent", drive="disk0", offset="0B", size="4KiB", retry="2s")["ok"]
        assert tell(control, "scrub")["done"] == "md0 is being checked"
        assert "being checked already" in tell(control, "scrub")["error"]
        while server.array.machine.arrays["md0"].members[0].unreadable:
            client.read(1 << 30, 4096)
        assert tell(control, "status")["at_s"] > 2.0
        most = server.counts.latencies[0].max
        client.read(0, 4096)
        assert server.counts.latencies[0].max == most


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"?", "expected: a JSON object"),
        (b"[" * 5000, "expected: a JSON object"),
        (b'{"do": 5}', "expected: status, fail"),
        (b'{"do": "__init__"}', "expected: status, fail"),
        (b'{"do": "fail"}', "found no drive"),
        (b'{"do": "fail", "drive": ["disk0"]}', "expected: a drive's name"),
        (b'{"do": "fail", "drive": "disk0", "now": 1}', "found 'now'"),
        (b'{"do": "fail", "drive": "disk9"}', "expected: a working member"),
        (b'{"do": "insert", "drive": "disk0"}', "expected: a failed drive"),
        (b'{"do": "scrub", "array": "md7"}', "expected: md0"),
        (b'{"do": "slow", "drive": "disk0", "factor": NaN}', "expected: a number"),
        (b'{"do": "slow", "drive": "disk0", "factor": 0}', "expected: 1 to 1000"),
        (b'{"do": "latent", "drive": "disk0", "offset": 100}', "expected: a multiple of 4096"),
        (b'{"do": "latent", "drive": "disk0", "offset": 0, "size": "4KiB", "retry": "1h"}', "expected: 0 to 30 s"),
    ],
)
def test_what_cannot_be_done_is_answered_in_one_line(tmp_path: Path, line: bytes, words: str) -> None:
    """Protects the server: bad commands are answered with what is expected, and the next one works."""
    control = tmp_path / "control.sock"
    with served(tmp_path, control=control):
        bad, good = told(control, line, b'{"do": "status"}')
        assert not bad["ok"]
        assert words in bad["error"]
        assert good["ok"]


def test_limits_are_themselves_allowed(tmp_path: Path) -> None:
    """Protects the limits of commands: each is allowed at its least and its most, and refused beyond."""
    control = tmp_path / "control.sock"
    with served(tmp_path, control=control) as server:
        end = server.array.machine.arrays["md0"].members[0].capacity // 4096 * 4096
        for factor, allowed in ((1, True), (1000, True), (0.999, False), (1000.1, False)):
            assert tell(control, "slow", drive="disk0", factor=factor)["ok"] == allowed
        for offset, size, retry, allowed in (
            *((0, 4096, "0s", True), (0, 4096, "30s", True), (0, 4096, "30.1s", False)),
            *((end - 4096, 4096, "1s", True), (end - 4096, 8192, "1s", False), (end + 4096, 4096, "1s", False)),
            *((0, 0, "1s", False),),
        ):
            told_of = tell(control, "latent", drive="disk0", offset=f"{offset}B", size=f"{size}B", retry=retry)
            assert told_of["ok"] == allowed, (offset, size, retry, told_of)


def test_operators_cannot_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the server: a line without an end, and more operators than there may be, are disconnected."""
    monkeypatch.setattr(module, "MOST_OPERATORS", 1)
    monkeypatch.setattr(module, "MOST_LINE_BYTES", 1000)
    control = tmp_path / "control.sock"
    with served(tmp_path, control=control), raw(control) as first:
        with raw(control) as second:
            assert second.recv(1) == b""
        first.sendall(bytes(2000))
        assert first.recv(1) == b""


def test_without_a_control_socket_nothing_is_added(tmp_path: Path) -> None:
    """Protects the speed of plain serving: no slots, no fault switches; and a path in use names the option."""
    with served(tmp_path) as server:
        assert not server.array.machine.faults
        assert not server.array.machine.spares
    path = tmp_path / "c.sock"
    path.write_text("precious")
    with pytest.raises(InputError, match="--control"), served(tmp_path, RAID5, control=path):
        pass
    assert path.read_text() == "precious"


def test_end_ends_the_server(tmp_path: Path) -> None:
    """Protects scripts: the last answer is sent, and the clients are disconnected."""
    control = tmp_path / "control.sock"
    with served(tmp_path, control=control), raw(tmp_path / "nbd.sock") as client:
        assert tell(control, "end")["done"] == "the server ends"
        client.settimeout(20)
        while client.recv(64):
            pass
        assert isinstance(client, socket.socket)
