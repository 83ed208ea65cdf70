"""`raidsim serve` as a person runs it: the address, the summary, JSON, bad input."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from raidsim.cli import main as cli
from raidsim.cli.serving import live
from raidsim.serve import counts
from raidsim.serve import protocol as nbd
from raidsim.serve import server as module
from raidsim.tests.serve.client import RAID5, Client

Shown = tuple[object, str, str]


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Shown]:
    """Runs the command on RAID 5 with a client that writes, flushes and reads; gives status, output and errors."""
    monkeypatch.setattr(module, "ONCE_S", 0.05)
    file, path = tmp_path / "small.yaml", tmp_path / "nbd.sock"
    file.write_text(RAID5)

    def use() -> None:
        for _ in range(400):
            with suppress(FileNotFoundError, ConnectionRefusedError):  # it is bound before the server listens
                client = Client(path)
                break
            time.sleep(0.02)
        with client:
            assert client.write(0, b"x" * 8192) == 0
            assert client.ask(nbd.CMD_FLUSH) == 0
            assert client.read(4096, 4096) == b"x" * 4096

    def run(*arguments: str, client: bool = True) -> Shown:
        thread = threading.Thread(target=use)
        if client:
            thread.start()
        status: object = 0
        try:
            cli.main(["serve", str(file), "--unix", str(path), "--once", *arguments])
        except SystemExit as ended:
            status = ended.code
        if client:
            thread.join(20)
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_text(ran: Callable[..., Shown]) -> None:
    """The address comes first, on stderr; then what was served, how fast and how late; no line is too wide."""
    status, out, err = ran()
    assert status in (0, None)
    assert err.startswith("serving md0 of")
    assert "nbd+unix:///md0?socket=" in err
    assert out.startswith("Served 4 KiB read, 8 KiB written in ")
    for words in ("read", "write", "flush", "late by", "busiest: "):
        assert words in out
    assert max(len(line) for line in out.splitlines()) <= 100


def test_json(ran: Callable[..., Shown]) -> None:
    """One object with SI units; as fast as possible has no lateness."""
    _, out, _ = ran("--as-fast-as-possible", "--json")
    found: dict[str, Any] = json.loads(out)
    assert found["target"] == "md0"
    assert {name: each["count"] for name, each in found["requests"].items()} == {"read": 1, "write": 1, "flush": 1}
    assert 0 < found["requests"]["read"]["p99_s"] < 0.1
    assert "lateness" not in found


@pytest.mark.parametrize("most_late", [-1.0, 1e9])
def test_lateness_above_the_limit_is_noted(
    ran: Callable[..., Shown], monkeypatch: pytest.MonkeyPatch, most_late: float
) -> None:
    """A client that saw a slower array than the simulated one is told so, and any other is not."""
    monkeypatch.setattr(counts, "MOST_LATE", most_late)
    _, out, _ = ran()
    assert ("note: the answers were late by" in out) is (most_late < 0)


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("--speed", "2", "--as-fast-as-possible"), "--speed"),
        (("--memory", "much"), "--memory"),
        (("--target", "md7"), "--target"),
        (("--data", "/dev/null/x"), "--data"),
        (("--set", "disks=1"), "disks"),
    ],
)
def test_bad_input(ran: Callable[..., Shown], arguments: tuple[str, ...], place: str) -> None:
    """One message that names the option, and status 2."""
    status, out, err = ran(*arguments, client=False)
    assert (status, out) == (2, "")
    assert place in err
    assert len(err.splitlines()) == 1


def test_live_prints_lines_outside_a_terminal(ran: Callable[..., Shown], monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects logs: no control characters, a line each time, on stderr."""
    monkeypatch.setattr(live, "EVERY_S", 0.01)
    _, out, err = ran("--live")
    assert out.startswith("Served ")
    lines = err.splitlines()[1:]
    assert lines
    assert all(" in the array" in each for each in lines)
    assert "\x1b" not in err


def test_the_end_has_the_usual_result_and_the_timeline(ran: Callable[..., Shown], tmp_path: Path) -> None:
    """The JSON has the document of `raidsim run`, and the timeline every request with the commands that served it."""
    timeline = tmp_path / "timeline.json"
    _, out, _ = ran("--json", "--timeline", str(timeline))
    run = json.loads(out)["run"]
    assert run["latencies"]["read"]["n"] == 1
    assert {"disk0", "disk3"} <= {each["name"] for each in run["usages"]}
    events = json.loads(timeline.read_text())["traceEvents"]
    assert {"read", "write"} <= {str(each.get("name", "")).split()[0] for each in events if each.get("name")}
