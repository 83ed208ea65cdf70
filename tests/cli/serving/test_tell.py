"""`raidsim tell` as a person types it: what was done, and bad input."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.tests.serve.client import served


def tell(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str, str]:
    """Status, output and errors."""
    status: object = 0
    try:
        cli.main(["tell", *words])
    except SystemExit as ended:
        status = ended.code
    out, err = capsys.readouterr()
    return status or 0, out, err


def test_commands_are_carried_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line says when and what was done; the state is one JSON object."""
    control = tmp_path / "c.sock"
    with served(tmp_path, control=control):
        assert tell(capsys, str(control), "fail", "disk2") == (0, "0.000 s: disk2 has failed; md0 is degraded\n", "")
        status, out, _ = tell(capsys, str(control), "status")
        assert (status, json.loads(out)["arrays"]["md0"]["failed"]) == (0, ["disk2"])
        assert json.loads(tell(capsys, str(control), "slow", "disk0", "2", "--json")[1])["ok"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("explode",), "COMMAND: found 'explode'; expected: status, fail"),
        (("fail", "disk0", "disk1"), "expected: fail DRIVE"),
        (("fail",), "fail: found no drive; expected: a drive's name"),
        (("slow", "disk0", "often"), "expected: a number"),
        (("fail", "sda"), "expected: a working member (disk0, disk1, disk2, disk3)"),
    ],
)
def test_bad_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    """One message that says what is expected, and status 2, whoever has found it."""
    control = tmp_path / "c.sock"
    with served(tmp_path, control=control):
        status, out, err = tell(capsys, str(control), *words)
    assert (status, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1


def test_a_socket_of_somebody_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no server, or answers something else, is bad input."""
    path = tmp_path / "other.sock"
    assert "No such file" in tell(capsys, str(path), "status")[2]
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()

        def answer() -> None:
            connection, _ = other.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"220 welcome\n")

        thread = threading.Thread(target=answer)
        thread.start()
        status, _, err = tell(capsys, str(path), "status")
        thread.join(20)
    assert status == 2
    assert "expected: the --control of a running server" in err
