"""An encrypting device: the cipher's rate is a ceiling, one thread is one core, and free ciphers cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.crypt.cryptoloop import CryptDevice
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.controller.controller_bench import ClosedLoop, sequential
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder

AES_RATE = 20e6
SIZE = 64 * KIB
CIPHER_S = SIZE / AES_RATE


class CryptBench:
    """AES at 20 MB/s over a disk of 200 MB/s that takes four requests at once."""

    def __init__(self, cores: int = 1, threads: int = 1, rate: float = AES_RATE, sector_s: float = 0.0) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine, cores)
        self.disk = Recorder(self.engine, capacity=256 * MIB, service_s=1e-4, servers=4, per_byte_s=1 / 50e6)
        s_per_byte = 1 / rate if rate else 0.0
        self.crypt = CryptDevice(self.engine, self.disk, Host(self.cpu), s_per_byte, sector_s, threads)
        self.issuer = Issuer(self.engine, self.crypt)

    def rate(self, op: int, count: int = 200) -> float:
        """Bytes per second of a sequential stream, eight requests outstanding."""
        loop = ClosedLoop(self, self.crypt, op, SIZE, 8, sequential(SIZE, count * SIZE))
        self.engine.run()
        return count * SIZE / loop.completed[-1]


@pytest.mark.parametrize("op", [READ, WRITE])
def test_the_cipher_is_the_ceiling(op: int) -> None:
    """Protects cryptoloop's ceiling: a disk ten times as fast gives what one thread encrypts."""
    bench = CryptBench()
    assert bench.rate(op) == pytest.approx(AES_RATE, rel=0.03)
    assert 0.97 < bench.cpu.busy_s / bench.engine.now <= 1.0
    assert bench.cpu.kernel_s == bench.cpu.busy_s == pytest.approx(200 * CIPHER_S)


@pytest.mark.parametrize("op", [READ, WRITE])
def test_two_threads_on_two_cores_encrypt_twice_as_much(op: int) -> None:
    """Protects dm-crypt's workqueue; counter-test: a second core does nothing for cryptoloop's one thread."""
    assert CryptBench(cores=2, threads=2).rate(op) == pytest.approx(2 * AES_RATE, rel=0.03)
    one = CryptBench(cores=2, threads=1)
    assert one.rate(op) == pytest.approx(AES_RATE, rel=0.03)
    assert one.cpu.busy_s / one.engine.now / 2 < 0.51


@pytest.mark.parametrize("op", [READ, WRITE])
def test_a_fast_cipher_leaves_the_disk_as_the_limit(op: int) -> None:
    """Counter-test: at 2 GB/s the disk's own 200 MB/s come through."""
    assert CryptBench(rate=2e9).rate(op) == pytest.approx(4 * SIZE / (1e-4 + SIZE / 50e6), rel=0.05)


def test_the_cipher_comes_before_a_write_and_after_a_read() -> None:
    """Protects the order: the disk gets a write late, the program a read late."""
    for op, at in ((WRITE, CIPHER_S), (READ, 0.0)):
        bench = CryptBench()
        request = bench.issuer.send(op, 0, SIZE)
        bench.engine.run(until=CIPHER_S * 0.99)
        assert bool(bench.disk.log) == (at == 0.0)
        bench.engine.run()
        assert bench.engine.now == pytest.approx(CIPHER_S + 1e-4 + SIZE / 50e6)
        assert request.submitted == 0.0
        assert bench.disk.log == [(op, 0, SIZE)]


def test_one_thread_keeps_the_order_of_writes() -> None:
    """Protects cryptoloop's order, and that writes do not overtake the encryption of a large one."""
    bench = CryptBench()
    for offset, size in ((0, MIB), (MIB, 4 * KIB), (2 * MIB, 4 * KIB)):
        bench.issuer.write(offset, size)
    bench.engine.run()
    assert [offset for offset, _ in bench.disk.sent(WRITE)] == [0, MIB, 2 * MIB]


def test_sectors_have_a_price_of_their_own() -> None:
    """Protects the initialization vector: it is paid for every 512 bytes."""
    bench = CryptBench(rate=0.0, sector_s=1e-6)
    bench.issuer.write(0, SIZE)
    bench.engine.run()
    assert bench.cpu.busy_s == pytest.approx(SIZE / 512 * 1e-6)


@pytest.mark.parametrize("op", [READ, WRITE])
def test_a_request_costs_one_event_more_and_a_free_cipher_none(op: int) -> None:
    """Protects the speed of the simulator."""
    for rate, events in ((AES_RATE, 2), (0.0, 1)):
        bench = CryptBench(rate=rate)
        bench.issuer.send(op, 0, SIZE)
        bench.engine.run()
        assert bench.engine.scheduled_events == events
        assert len(bench.issuer.done) == 1


def test_programs_get_between_the_pieces_of_a_long_queue() -> None:
    """Protects programs from a kernel thread with seconds of work: they wait for a piece and not for the queue."""
    bench = CryptBench()
    for number in range(100):
        bench.issuer.write(number * SIZE, SIZE)
    ran: list[float] = []

    def program() -> Generator[Any, Any, None]:
        yield bench.cpu.run(1e-3)
        ran.append(bench.engine.now)

    bench.engine.spawn(program())
    bench.engine.run()
    assert ran == [pytest.approx(CIPHER_S + 1e-3)]
    assert bench.cpu.kernel_s == pytest.approx(100 * CIPHER_S)
    assert bench.disk.covered(WRITE) == [(0, 100 * SIZE)]


class Plugged(Recorder):
    """Remembers what it was asked beside requests."""

    __slots__ = ("asked", "has_room", "room")

    has_room: bool

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.asked: list[str] = []
        self.has_room = False
        self.room: list[Callable[[], None]] = []

    foreground_bytes = 7

    def when_room(self, callback: Callable[[], None]) -> None:
        self.room.append(callback)

    def plug(self) -> None:
        self.asked.append("plug")

    def unplug(self) -> None:
        self.asked.append(f"unplug after {len(self.log)}")


def test_plugs_and_room_are_passed_through() -> None:
    """Protects merging below: whoever waits has his writes let go also when they are encrypted later."""
    engine = Engine()
    below = Plugged(engine)
    crypt = CryptDevice(engine, below, Host(Cpu(engine)), 1e-8, name="loop0")
    issuer = Issuer(engine, crypt)
    assert (crypt.name, crypt.capacity, crypt.has_room, crypt.foreground_bytes) == ("loop0", below.capacity, False, 7)
    told: list[bool] = []
    crypt.when_room(lambda: told.append(True))
    below.room[0]()
    assert told == [True]
    crypt.plug()
    issuer.write(0, SIZE)
    issuer.write(SIZE, SIZE)
    crypt.unplug()
    engine.run()
    assert below.asked == ["plug", "unplug after 0", "unplug after 1", "unplug after 2"]
    issuer.write(0, SIZE)
    engine.run()
    assert len(below.asked) == 4


def test_a_plain_device_below_always_has_room() -> None:
    """Protects devices without a queue."""
    crypt = CryptBench().crypt
    told: list[bool] = []
    crypt.when_room(lambda: told.append(crypt.has_room))
    crypt.plug()
    crypt.unplug()
    assert told == [True]
    assert crypt.foreground_bytes == 0


@pytest.mark.parametrize(
    "wrong",
    [{"threads": 2}, {"threads": 0}, {"s_per_byte": -1e-9}, {"sector_s": -1e-9}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_devices_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    """Protects the CPU from being more than 100 % busy: no more threads than cores."""
    engine = Engine()
    with pytest.raises(ModelError, match=r"threads|negative"):
        CryptDevice(engine, Recorder(engine), Host(Cpu(engine)), **{"s_per_byte": 1e-8, **wrong})
