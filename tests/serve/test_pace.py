"""Simulated time: latencies are those of the model, requests enter when they arrive, lateness is counted."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.scenarios.documents.document import document_from
from raidsim.serve import protocol as nbd
from raidsim.serve.array import Io, ServedArray
from raidsim.serve.counts import Counts
from raidsim.serve.pace import Pace, precise_loop
from raidsim.tests.serve.client import FLASH, RAID5, Client, served


def simulated(text: str, depth: int, op: int, ios: int) -> tuple[float, float, float]:
    """IOPS, p50 and p99 (s) of a closed load of random 4 KiB I/O without the CPU of a client."""
    array = ServedArray(document_from(text).spec())
    load = ClosedLoad(
        array.engine, array.device, size=4096, depth=depth, read_share=1.0 - op, issuer=100, independent=True
    )
    while load.reads + load.writes < ios:
        array.engine.run_to(array.engine.now + 0.0001)
    latency = load.write_latency if op else load.read_latency
    return ios / array.engine.now, latency.percentile(50.0), latency.percentile(99.0)


@pytest.mark.parametrize(
    ("text", "depth", "op", "ios"),
    [(RAID5, 1, READ, 1000), (RAID5, 8, READ, 3000), (RAID5, 4, WRITE, 2000), (FLASH, 16, READ, 3000)],
)
def test_a_closed_load_sees_the_simulated_array(tmp_path: Path, text: str, depth: int, op: int, ios: int) -> None:
    """Protects what serving is for: a client that keeps `depth` I/Os outstanding gets the rate and the median latency
    that the same load gets inside the simulation, within 10 %; the p99 of so few I/Os within 15 %.
    """
    drawn = random.Random(4)
    kind = nbd.CMD_WRITE if op else nbd.CMD_READ
    with served(tmp_path, text) as server, Client(server.options.unix or tmp_path) as client:
        sizes: dict[int, int] = {}

        def send() -> None:
            offset = 4096 * drawn.randrange(server.capacity // 4096)
            cookie = client.send(kind, offset, 4096, bytes(4096) if op else b"")
            if not op:
                sizes[cookie] = 4096

        for _ in range(depth):
            send()
        for number in range(ios):
            assert client.reply(sizes)[1] == 0
            if number < ios - depth:
                send()
        found = server.counts.document()
    each = found["requests"]["write" if op else "read"]
    iops, p50_s, p99_s = simulated(text, depth, op, ios)
    assert each["per_second"] == pytest.approx(iops, rel=0.1)
    assert each["p50_s"] == pytest.approx(p50_s, rel=0.1)
    assert each["p99_s"] == pytest.approx(p99_s, rel=0.15)
    assert "lateness" not in found


def test_the_wall_clock_paces_the_answers(tmp_path: Path) -> None:
    """Protects real time: an answer comes no earlier than the model says, at half speed after twice the time."""
    for speed in (1.0, 0.5):
        with served(tmp_path, speed=speed) as server, Client(server.options.unix or tmp_path) as client:
            drawn, began = random.Random(5), time.perf_counter()
            for _ in range(15):
                client.read(4096 * drawn.randrange(server.capacity // 4096), 4096)
            took_s = time.perf_counter() - began
            found = server.counts.document()
        each = found["requests"]["read"]
        assert took_s >= 15 * each["mean_s"] / speed
        assert found["lateness"]["mean_s"] >= 0
        assert took_s == pytest.approx(15 * (each["mean_s"] / speed + found["lateness"]["mean_s"]), rel=0.5)


def test_a_request_enters_when_it_arrives_also_if_the_simulation_is_behind() -> None:
    """Protects the model from a slow machine: the simulated latency is from the arrival, and the answer is late."""
    array = ServedArray(document_from(RAID5).spec())
    pace = Pace(array, 1.0)
    answered: list[Io] = []
    time.sleep(0.05)  # the simulation stands at 0 meanwhile
    pace.arrive(Io(READ, 0, 4096, False, answered.append))
    assert array.engine.now == 0.0
    array.engine.run_to(1.0)
    (io,) = array.take_ended()
    assert 0.05 <= io.arrived_s < 1.0
    assert 0.0 < io.completed_s - io.arrived_s < 0.1


@pytest.mark.parametrize(
    ("late_s", "speed", "is_late"), [(0.0004, 1.0, False), (0.0006, 1.0, True), (0.004, 0.1, False)]
)
def test_too_late_is_said(late_s: float, speed: float, is_late: bool) -> None:
    """Protects the reader of the summary: lateness above 5 % of the latency that a client sees is too late."""
    counts = Counts(speed)
    io = Io(READ, 0, 4096, False, lambda _: None)
    io.completed_s = 0.01
    for _ in range(10):
        counts.add(io, late_s)
    found = counts.document()["lateness"]
    assert counts.is_late is found["too_late"] is is_late
    assert found["share_of_latency"] == pytest.approx(late_s * speed / 0.01, rel=0.01)


@pytest.mark.parametrize("speed", [None, 1.0])
def test_a_request_that_is_lost_is_an_error(speed: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects from a hang: if the model lost a request, the server ends with an error."""
    array = ServedArray(document_from(RAID5).spec())
    monkeypatch.setattr(array, "_done", lambda io, request: None)
    pace = Pace(array, speed)
    pace.arrive(Io(READ, 0, 4096, False, lambda _: None))
    with pytest.raises(ModelError, match="never completes"):
        asyncio.run(asyncio.wait_for(pace.run(), 20))


def test_fua_and_flush_reach_the_medium() -> None:
    """Protects FLUSH and FUA: a write into the drives' caches is fast, and with FUA it takes a revolution or more."""
    took = {}
    for fua in (False, True):
        array = ServedArray(document_from(RAID5).spec())
        ended: list[Io] = []
        array.submit(Io(WRITE, 0, 3 * 64 * 1024, fua, ended.append), 0.0)
        while not array.run_to_completion(1000):
            pass
        (io,) = array.take_ended()
        took[fua] = io.completed_s
        flushes = [disk.flushes for disk in array.machine.disks.values()]
        assert any(flushes) is fua
    assert took[True] > took[False] + 0.001


def test_a_timer_ends_within_a_millisecond() -> None:
    """Protects the client's CPU time: the server sleeps until an answer is due, where epoll would sleep too long."""

    async def shortest() -> float:
        took_s = []
        for _ in range(30):
            began = time.perf_counter()
            await asyncio.sleep(0.0003)
            took_s.append(time.perf_counter() - began)
        return min(took_s)

    with asyncio.Runner(loop_factory=precise_loop) as runner:
        assert 0.0003 <= runner.run(shortest()) < 0.0009
