"""dm-crypt of today: workers on all cores, sorted writes, split I/Os, and what its flags change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.crypt.ciphers import cipher, cipher_names, cipher_sources
from raidsim.model.crypt.dm_crypt import CryptPipeline, CryptSettings
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.controller.controller_bench import ClosedLoop, sequential
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder

RATE = 1e9
SWITCH_S = 5e-6
SETTINGS = CryptSettings(1 / RATE)


class Bench:
    """A core encrypts 1 GB/s; the disk takes 10 us and 16 requests at once."""

    def __init__(self, cores: int = 4, switch_s: float = SWITCH_S, **changes: Any) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine, cores)
        self.disk = Recorder(self.engine, capacity=256 * MIB, service_s=1e-5, servers=16)
        host = Host(self.cpu, replace(FREE, switch_s=switch_s))
        self.crypt = CryptPipeline(self.engine, self.disk, host, replace(SETTINGS, **changes), "secret")
        self.issuer = Issuer(self.engine, self.crypt)

    def rate(self, op: int, size: int, depth: int, count: int = 64) -> float:
        """Bytes per second of a sequential stream."""
        loop = ClosedLoop(self, self.crypt, op, size, depth, sequential(size, count * size))
        self.engine.run()
        return count * size / loop.completed[-1]


@pytest.mark.parametrize("name", cipher_names())
def test_every_cipher_has_its_sources(name: str) -> None:
    """Protects the catalogue: each number is found or assumed, and larger keys cost more on the same core."""
    assert all(bool(each.source) != bool(each.assumed) for each in cipher_sources(name).values())
    assert cipher(name).cycles > 0
    assert cipher("aes-xts-256").cycles < cipher("aes-xts").cycles < cipher("aes-xts-generic").cycles / 10


def test_an_unknown_cipher_is_refused() -> None:
    """Protects from typing errors: the message names those there are."""
    with pytest.raises(InputError, match="aes-xts-vaes"):
        cipher("aes-xtc")


@pytest.mark.parametrize("op", [READ, WRITE])
def test_workers_use_all_cores(op: int) -> None:
    """Protects the parallel pipeline: with enough outstanding, four cores encrypt four times what one does."""
    size = 128 * KIB
    assert Bench(cores=4).rate(op, size, 16) == pytest.approx(4 * RATE, rel=0.1)
    assert Bench(cores=1).rate(op, size, 16) == pytest.approx(RATE, rel=0.1)


@pytest.mark.parametrize(("flag", "op"), [("queues_reads", READ), ("queues_writes", WRITE)])
def test_without_workers_one_stream_is_on_one_core(flag: str, op: int) -> None:
    """Protects the flags: without a workqueue the I/Os of one program are encrypted one after the other, so large ones
    get slower; a single small one gets faster, because nobody has to be woken.
    """
    size = 128 * KIB
    changes = {flag: False}
    assert Bench(**changes).rate(op, size, 16) == pytest.approx(RATE, rel=0.1)
    queued, inline = Bench().rate(op, 4 * KIB, 1), Bench(**changes).rate(op, 4 * KIB, 1)
    wakings = 1 if op == READ else 2
    assert 4 * KIB / queued - 4 * KIB / inline == pytest.approx(wakings * SWITCH_S, rel=0.02)
    assert Bench(switch_s=0.0).rate(op, 4 * KIB, 1) == Bench(switch_s=0.0, **changes).rate(op, 4 * KIB, 1)


def test_large_ios_are_split_for_the_workers() -> None:
    """Protects max_read_size and max_write_size: one I/O of 1 MiB at a time is encrypted by four cores in pieces of
    128 KiB, and goes down so; counter-tests: whole it is one core's, and reads are split only where they are to be.
    """
    whole, split = Bench(), Bench(largest_bytes=128 * KIB, splits_reads=True)
    for op in (READ, WRITE):
        assert Bench(largest_bytes=128 * KIB, splits_reads=True).rate(op, MIB, 1) > 3 * Bench().rate(op, MIB, 1)
    unsplit = Bench(largest_bytes=128 * KIB)
    for bench, pieces in ((whole, 1), (split, 8), (unsplit, 1)):
        bench.issuer.read(0, MIB)
        bench.engine.run()
        assert len(bench.disk.log) == pieces
        assert bench.cpu.busy_s == pytest.approx(MIB / RATE + pieces * SWITCH_S)
        assert len(bench.issuer.done) == 1


def test_writes_that_overtake_each_other_go_down_in_order() -> None:
    """Protects dmcrypt_write: a small write is encrypted before the large ones in front of it, but those encrypted by
    the time that the thread runs are submitted by their addresses. Counter-test: without the thread they are not.
    """
    sizes = [36 * KIB, 32 * KIB, 4 * KIB, 34 * KIB]
    for queues, in_order in ((True, True), (False, False)):
        bench = Bench(cores=4, switch_s=40e-6, queues_writes=queues)
        at = 0
        for number, size in enumerate(sizes):
            bench.issuer.send(WRITE, at, size, issuer=number)
            at += size
        bench.engine.run()
        order = [offset for offset, _ in bench.disk.sent(WRITE)]
        assert (order == sorted(order)) is in_order
        assert bench.disk.covered(WRITE) == [(0, sum(sizes))]


def test_larger_sectors_cost_less() -> None:
    """Protects sector_size: eight calls of the cipher for 4 KiB in sectors of 512 bytes, one in a sector of 4,096."""
    times = []
    for sector in (512, 4096):
        bench = Bench(sector_s=1e-6, sector_bytes=sector, switch_s=0.0)
        bench.issuer.read(0, 4 * KIB)
        bench.engine.run()
        times.append(bench.cpu.busy_s)
    assert times[0] - times[1] == pytest.approx(7e-6)
