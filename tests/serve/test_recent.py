"""The figures of the live view."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import TypeAdapter

from raidsim.model.core.request import READ, WRITE
from raidsim.serve.recent import EVERY_S, Look, Looks, Recent
from raidsim.serve.server import Server
from raidsim.tests.serve.client import Client, served


def _wait_for(server: Server, op: int, count: int) -> None:
    """The server counts an answer after it has sent it."""
    for _ in range(1000):
        if server.counts.latencies[op].count == count:
            return
        time.sleep(0.01)
    pytest.fail("an answer was not counted")


def test_a_look_has_what_happened_since_the_last(tmp_path: Path) -> None:
    """Protects the live view: rates and latencies of the time since the last look, not of the whole run."""
    with served(tmp_path) as server, Client(tmp_path / "nbd.sock") as client:
        recent = Recent(server.array, server.counts)
        nothing = recent.look(0)
        assert (nothing.requests, nothing.parts, nothing.bottleneck) == ((), (), None)
        for n in range(20):
            client.read(n * 977 % 64 << 28, 4096)
        _wait_for(server, READ, 20)
        first = recent.look(0)
        (reads,) = first.requests
        assert reads.kind == "read"
        assert reads.per_second == pytest.approx(20 / first.span_s)
        assert first.bytes_per_second == pytest.approx(20 * 4096 / first.span_s)
        assert 0.001 < reads.p50_s <= reads.p99_s < 0.1
        assert sum(share for _, kind, share in first.parts if kind == "disk") == pytest.approx(1.0, abs=0.1)
        assert first.late_p50_s is None
        client.write(0, b"x" * 4096)
        _wait_for(server, WRITE, 1)
        second = recent.look(0)
        assert [each.kind for each in second.requests] == ["write"]
        assert recent.look(0).requests == ()


def test_viewers_share_looks(tmp_path: Path) -> None:
    """Protects the terminal and the page, both open: neither takes the figures of the other, late or not."""
    now = [0.0]
    with served(tmp_path, speed=1.0) as server, Client(tmp_path / "nbd.sock") as client:
        client.write(0, b"x" * 4096)
        _wait_for(server, WRITE, 1)
        looks = Looks(server.pace, lambda: now[0])
        assert looks.latest().requests == ()
        client.read(1 << 30, 4096)
        _wait_for(server, READ, 1)
        assert looks.latest().requests == ()
        now[0] = EVERY_S
        shown = looks.latest()
        assert [each.kind for each in shown.requests] == ["read"]
        assert shown.bytes_per_second == pytest.approx(4096 / shown.span_s)
        assert all(share < 1.0 for _, _, share in shown.parts), "only the time since somebody looked counts"
        assert looks.latest() is shown
        assert TypeAdapter(Look).validate_python(json.loads(json.dumps(shown.document(), allow_nan=False))) == shown
        now[0] = 2 * EVERY_S
        assert looks.latest().requests == ()


def test_a_viewer_that_asks_every_second_sees_every_second(tmp_path: Path) -> None:
    """Protects the least time between looks: a second viewer half a second later gets the same look, the first one gets
    a new one each time.
    """
    now = [0.0]
    with served(tmp_path) as server, Client(tmp_path / "nbd.sock"):
        looks = Looks(server.pace, lambda: now[0])
        seen = []
        for second in range(4):
            now[0] = float(second)
            seen.append(looks.latest())
            now[0] += 0.5
            assert looks.latest() is seen[-1]
    assert len(set(map(id, seen))) == 4


def test_a_drive_that_a_fault_holds_up_is_busy(tmp_path: Path) -> None:
    """Protects the utilization of a drive that is held up: the share of the time so far comes on top, up to 100 %."""
    with served(tmp_path) as server, Client(tmp_path / "nbd.sock") as client:
        for n in range(20):
            client.read(n * 977 % 64 << 28, 4096)
        _wait_for(server, READ, 20)
        array = server.array
        before = {each.name: each.utilization for each in array.usages()}
        name = min((each for each in array.usages() if each.kind == "disk"), key=lambda each: each.utilization).name
        assert before[name] < 0.7
        for share in (0.0, 0.1, 0.25, 2.0):
            fault: Any = SimpleNamespace(held_s=share * array.span)
            array.machine.faults[name] = fault
            found = {each.name: each.utilization for each in array.usages()}
            assert found == pytest.approx(before | {name: min(1.0, before[name] + share)})
