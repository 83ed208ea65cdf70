"""A network in front of a device: what each part adds to an I/O, what each part limits, and that nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import ASYNC, DIRECT, READ, WAITED, WRITE, Request
from raidsim.model.core.signal import Signal
from raidsim.model.links.link import DuplexLink
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.network.server import FrontSettings, NetworkFront, Slots
from raidsim.model.tasks.cpu import Cpu

SIZE = 100_000
DEVICE_S, FLUSH_S = 1e-3, 3e-3
RATE = 1e9
SETTINGS = FrontSettings(
    round_trip_s=50e-6,
    request_s=10e-6,
    send_s_per_byte=1e-10,
    receive_s_per_byte=2e-10,
    request_bytes=100,
    reply_bytes=200,
    inline_bytes=SIZE,
    another_trip_s=30e-6,
    depth=1000,
)


class Bench:
    """A device behind a network."""

    def __init__(
        self,
        settings: FrontSettings,
        *,
        clients: int = 1,
        servers: int = 1,
        cores: int = 4,
        service_s: float = DEVICE_S,
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine, cores)
        self.device = FixedServiceDevice(self.engine, "disk", 1 << 40, lambda *_: service_s, servers)
        self.port = DuplexLink("network", RATE)
        ports = [DuplexLink(f"client{number}", RATE) for number in range(clients)] if clients > 1 else []
        self.sessions = [Slots(settings.depth) for _ in range(clients)]
        self.threads = Slots(settings.threads) if settings.threads else None
        self.front = NetworkFront(
            self.engine, self.device, self.cpu, self.port, ports, settings, self.sessions, self.threads
        )
        self.done: list[Request] = []

    def submit(self, op: int, size: int = SIZE, issuer: int = 0) -> Request:
        """Send one I/O."""
        request = Request(op, 0, size, self.done.append, issuer, DIRECT)
        self.front.submit(request)
        return request

    def watch(self) -> list[int]:
        """What the device is asked for from now on: who waits for it."""
        seen: list[int] = []
        below = self.front._below

        def note(request: Request) -> None:
            seen.append(request.sync)
            below(request)

        self.front._below = note
        return seen

    def latency(self, op: int, size: int = SIZE) -> float:
        """Of one I/O alone (s)."""
        self.submit(op, size)
        self.engine.run()
        assert len(self.done) == 1
        return self.engine.now

    def rate(self, read_share: float, depth: int, size: int = SIZE, seconds: float = 0.2) -> float:
        """Bytes a second of a closed load."""
        load = ClosedLoad(self.engine, self.front, size=size, depth=depth, read_share=read_share)
        self.engine.run(until=0.02)
        load.start_statistics(0.02)
        self.engine.run(until=0.02 + seconds)
        return load.bytes / seconds


def changed(**values: Any) -> FrontSettings:
    """The settings with other values."""
    names = FrontSettings.__dataclass_fields__
    return FrontSettings(**{name: values.get(name, getattr(SETTINGS, name)) for name in names})


def test_a_read_alone_takes_device_cpu_wire_and_round_trip() -> None:
    """Protects latency at one outstanding: the sum of the parts, and with a free network that of the device alone."""
    expected = DEVICE_S + 10e-6 + SIZE * 1e-10 + (SIZE + 200) / RATE + 50e-6
    assert Bench(SETTINGS).latency(READ) == pytest.approx(expected)
    free = changed(round_trip_s=0.0, request_s=0.0, send_s_per_byte=0.0, reply_bytes=0)
    assert Bench(free).latency(READ) == pytest.approx(DEVICE_S + SIZE / RATE)


def test_a_write_is_on_the_wire_before_the_device_has_it() -> None:
    """Protects writes: data and CPU at the same time, then the device; what is too large to go along costs a trip."""
    expected = max((SIZE + 100) / RATE, 10e-6 + SIZE * 2e-10) + 50e-6 + DEVICE_S
    assert Bench(SETTINGS).latency(WRITE) == pytest.approx(expected)
    asked_for = Bench(changed(inline_bytes=SIZE - 1)).latency(WRITE)
    assert asked_for == pytest.approx(expected + 30e-6)


@pytest.mark.parametrize("op", [READ, WRITE])
def test_one_event_more_for_each_io(op: int) -> None:
    """Protects the price of a simulated I/O: the device's event and one of the front."""
    bench = Bench(SETTINGS)
    before = bench.engine.scheduled_events
    bench.latency(op)
    assert bench.engine.scheduled_events - before <= 3  # and the one that stands for looking at the count


def test_reads_and_writes_at_once_exceed_one_direction() -> None:
    """Full duplex: half reads, half writes move more than the port's rate; reads alone (the counter-test) do not."""
    bench = Bench(SETTINGS, servers=64, service_s=1e-5)
    assert bench.rate(0.5, depth=64) > 1.5 * RATE
    alone = Bench(SETTINGS, servers=64, service_s=1e-5).rate(1.0, depth=64)
    assert 0.97 * RATE < alone <= RATE


def test_small_requests_are_limited_by_the_servers_cores() -> None:
    """Ten microseconds of a core for each request: 100,000 a second of each core, with more cores as many more."""
    for cores in (1, 2):
        settings = changed(send_s_per_byte=0.0)
        bench = Bench(settings, servers=64, cores=cores, service_s=1e-5)
        rate = bench.rate(1.0, depth=256, size=512, seconds=0.05)
        assert rate / 512 == pytest.approx(cores * 1e5, rel=0.02)
        assert bench.port.ways[0].busy_s < 0.5 * bench.engine.now


def test_a_session_keeps_only_so_many_outstanding() -> None:
    """Four commands of a session and a device of 1 ms with many servers: 4,000 a second; two clients twice that."""
    settings = changed(depth=4, round_trip_s=0.0, request_s=0.0, send_s_per_byte=0.0, reply_bytes=0)
    for clients in (1, 2):
        bench = Bench(settings, servers=64, clients=clients)
        for issuer in range(clients):
            ClosedLoad(bench.engine, bench.front, size=512, depth=32, issuer=issuer, name=f"job {issuer}")
        bench.engine.run(until=1.0)
        assert bench.front.reads == pytest.approx(clients * 4_000, rel=0.01)
        assert all(session.waited(1.0) == pytest.approx(1.0) for session in bench.sessions)


def test_server_threads_work_on_one_request_each() -> None:
    """Eight nfsd and a device of 1 ms: 8,000 a second however many are asked for; without a pool 32,000."""
    for threads, expected in ((8, 8_000), (0, 32_000)):
        bench = Bench(changed(threads=threads, round_trip_s=0.0, request_s=0.0), servers=64)
        rate = bench.rate(1.0, depth=32, size=512) / 512
        assert rate == pytest.approx(expected, rel=0.02)


def test_stable_writes_reach_the_medium_and_memory_answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects NFS exports: sync is written and flushed before the reply, async answered from memory and written later.

    The flush follows the write; no part of the write is forced through the cache by itself.
    """
    bench = Bench(changed(writes="stable"))
    seen = bench.watch()
    flushed: list[float] = []

    def flush(_: FixedServiceDevice, done: Callable[[], None]) -> None:
        flushed.append(bench.engine.now)
        bench.engine.call_at(bench.engine.now + FLUSH_S, lambda _: done())

    monkeypatch.setattr(FixedServiceDevice, "flush", flush)
    stable = bench.latency(WRITE)
    assert seen == [WAITED]
    assert flushed == [pytest.approx(stable - FLUSH_S)]
    bench = Bench(changed(writes="memory", memory_bytes=2 * SIZE))
    seen = bench.watch()
    bench.submit(WRITE)
    while not bench.done:
        bench.engine.step()
    assert bench.engine.now == pytest.approx(stable - DEVICE_S - FLUSH_S)
    bench.engine.run()
    assert seen == [ASYNC]
    assert bench.device.writes == 1


def test_memory_makes_writers_wait_for_the_device() -> None:
    """Protects async exports from taking in more than memory holds: in the long run the device's rate is what lasts."""
    bench = Bench(changed(writes="memory", memory_bytes=4 * SIZE))
    rate = bench.rate(0.0, depth=16, seconds=1.0)
    assert rate == pytest.approx(SIZE / DEVICE_S, rel=0.02)
    assert bench.front._memory_used <= 4 * SIZE


def test_a_small_write_does_not_overtake_one_that_waits_for_memory() -> None:
    """Protects large writes to an async export from waiting for ever; with room for both (the counter-test) none waits.

    The device takes one write at a time, so the second is let in when the first has been written.
    """
    for room, first_two in ((SIZE, [SIZE]), (4 * SIZE, [SIZE, SIZE, 512])):
        bench = Bench(changed(writes="memory", memory_bytes=room + 512))
        for size in (SIZE, SIZE):
            bench.submit(WRITE, size)
        bench.engine.run(until=0.4 * DEVICE_S)
        bench.submit(WRITE, 512)
        bench.engine.run(until=0.9 * DEVICE_S)
        assert [request.size for request in bench.done] == first_two
        bench.engine.run()
        assert [request.size for request in bench.done] == [SIZE, SIZE, 512]


def test_a_flush_of_a_block_protocol_crosses_the_network() -> None:
    """Protects fsync over iSCSI and NVMe/TCP: a request to the server; a file server (the counter-test) needs none."""
    for writes, expected in (("passed", 10e-6 + 50e-6), ("stable", 0.0), ("memory", 0.0)):
        bench = Bench(changed(writes=writes, memory_bytes=SIZE))
        over = Signal()
        bench.front.flush(over.fire)
        bench.engine.run()
        assert over.fired
        assert bench.engine.now == pytest.approx(expected)


def test_every_client_has_a_port_of_its_own() -> None:
    """Two clients with ports of the server's rate share the server's; one alone fills its own."""
    bench = Bench(SETTINGS, clients=2, servers=64, service_s=1e-5)
    for issuer in (0, 1):
        ClosedLoad(bench.engine, bench.front, size=SIZE, depth=32, issuer=issuer, name=f"job {issuer}")
    bench.engine.run(until=0.2)
    moved = [path.links[0].bytes_moved for path in bench.front._paths]
    assert moved[0] == pytest.approx(moved[1], rel=0.05)
    assert sum(moved) == pytest.approx(0.2 * RATE, rel=0.05)


def test_a_front_needs_clients() -> None:
    """Protects from streams that belong to no session."""
    bench = Bench(SETTINGS)
    with pytest.raises(ModelError, match="one for each"):
        NetworkFront(bench.engine, bench.device, bench.cpu, bench.port, [], SETTINGS, [], None)


def test_devices_share_a_session_and_the_threads() -> None:
    """Protects several devices of one server: who waits goes to his own device, and all together keep the limits."""
    bench = Bench(changed(depth=6, threads=4), servers=64)
    other = FixedServiceDevice(bench.engine, "other", 1 << 40, lambda *_: 2 * DEVICE_S, 64)
    second = NetworkFront(
        bench.engine, other, bench.cpu, bench.port, [], bench.front._settings, bench.sessions, bench.threads
    )
    for number, front in enumerate((bench.front, second)):
        ClosedLoad(bench.engine, front, size=512, depth=16, issuer=number, name=f"job {number}")
    bench.engine.run(until=0.5)
    assert bench.threads is not None
    assert (bench.sessions[0].taken, bench.threads.taken) == (6, 4)
    assert bench.device.reads == pytest.approx(other.reads, abs=20)
    assert bench.front.reads == pytest.approx(bench.device.reads, abs=6)
    assert second.reads == pytest.approx(other.reads, abs=6)
    assert bench.device.reads + other.reads == pytest.approx(4 * 0.5 / (1.5 * DEVICE_S), rel=0.02)


def test_a_device_has_a_queue_of_its_own_in_a_session() -> None:
    """Two commands of each device (iSCSI's queue_depth) and a session that takes 100: 2,000 a second of 1 ms."""
    settings = changed(round_trip_s=0.0, request_s=0.0, send_s_per_byte=0.0, reply_bytes=0, depth=100, device_depth=2)
    bench = Bench(settings, servers=64)
    queues = [Slots(2)]
    front = NetworkFront(bench.engine, bench.device, bench.cpu, bench.port, [], settings, bench.sessions, None, queues)
    ClosedLoad(bench.engine, front, size=512, depth=8)
    bench.engine.run(until=0.5)
    assert front.reads == pytest.approx(1_000, rel=0.01)
    assert (queues[0].taken, bench.sessions[0].taken) == (2, 2)
