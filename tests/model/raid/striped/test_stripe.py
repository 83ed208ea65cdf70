"""RAID 0 and linear in time: 1 ms a member request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ArrayFailed, ModelError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.layouts import layout_for
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders

CHUNK = 64 * KIB


def build(level: str, members: int, host: Host | None = None) -> tuple[Engine, list[Recorder], StripeArray, Issuer]:
    """An array of `members` disks with chunks of 64 KiB."""
    engine = Engine()
    disks = recorders(engine, members)
    layout = layout_for(level, members, CHUNK, [disk.capacity for disk in disks])
    array = StripeArray(engine, "md0", disks, layout, host)
    return engine, disks, array, Issuer(engine, array)


@pytest.mark.parametrize("op", [READ, WRITE])
def test_a_stripe_is_served_side_by_side(op: int) -> None:
    """Protects the point of RAID 0: four chunks on four disks take the time of one."""
    engine, disks, array, issuer = build("raid0", 4)
    issuer.send(op, 0, 4 * CHUNK)
    engine.run()
    assert engine.now == pytest.approx(0.001)
    assert [disk.log for disk in disks] == [[(op, 0, CHUNK)]] * 4
    assert (array.member_reads, array.member_writes) == ((4, 0) if op == READ else (0, 4))


def test_what_lies_in_one_chunk_goes_where_all_else_does() -> None:
    """Protects the short path: a chunk's part goes to the layout's place, and one byte more takes the long way."""
    engine, disks, array, issuer = build("raid0", 4)
    for chunk in (0, 1, 6, 31, array.capacity // CHUNK - 1):
        offset = chunk * CHUNK + CHUNK // 2
        for size in (512, CHUNK // 2, min(CHUNK // 2 + 512, array.capacity - offset)):
            before = [len(disk.log) for disk in disks]
            issuer.write(offset, size)
            engine.run()
            new = [disk.log[count:] for disk, count in zip(disks, before, strict=True)]
            expected: list[list[tuple[int, int, int]]] = [[] for _ in disks]
            for member, at, length, _ in array.layout.extents(offset, size):
                expected[member].append((WRITE, at, length))
            assert new == expected
    with pytest.raises(ModelError):
        issuer.write(array.capacity - 512, 1024)


def test_linear_does_not_spread() -> None:
    """The counter-test: the same request on a linear array is one member's."""
    engine, disks, array, issuer = build("linear", 4)
    issuer.read(0, 4 * CHUNK)
    engine.run()
    assert [len(disk.log) for disk in disks] == [1, 0, 0, 0]
    assert array.member_reads == 1


def test_a_request_ends_with_its_last_piece() -> None:
    """Protects latency: with two requests queued on one member the whole waits for the second, 2 ms."""
    engine, _, _, issuer = build("raid0", 2)
    issuer.read(0, 4 * KIB)
    issuer.read(CHUNK - 4 * KIB, 8 * KIB)
    engine.run()
    assert [now for now, _, _ in issuer.done] == pytest.approx([0.001, 0.002])


def test_pieces_are_at_their_place() -> None:
    """Protects addresses: 8 KiB across chunks 1 and 2 of two disks end d1's first chunk and begin d0's second."""
    engine, disks, _, issuer = build("raid0", 2)
    issuer.read(2 * CHUNK - 4 * KIB, 8 * KIB)
    engine.run()
    assert disks[1].log == [(READ, CHUNK - 4 * KIB, 4 * KIB)]
    assert disks[0].log == [(READ, CHUNK, 4 * KIB)]


def test_the_host_pays_a_bio_per_piece() -> None:
    """Protects the CPU price of splitting: four pieces at 5 us are 20 us; one piece is 5."""
    for size, pieces in ((4 * CHUNK, 4), (CHUNK, 1)):
        engine = Engine()
        disks = recorders(engine, 4)
        cpu = Cpu(engine)
        layout = layout_for("raid0", 4, CHUNK, [disk.capacity for disk in disks])
        array = StripeArray(engine, "md0", disks, layout, Host(cpu, replace(FREE, bio_s=5e-6)))
        Issuer(engine, array).read(0, size)
        engine.run()
        assert cpu.busy_s == pytest.approx(pieces * 5e-6)


def test_it_survives_nothing() -> None:
    """Protects from a degraded RAID 0, which does not exist."""
    engine = Engine()
    disks = recorders(engine, 3)
    layout = layout_for("raid0", 3, CHUNK, [disk.capacity for disk in disks])
    with pytest.raises(ArrayFailed, match="survive no failed member, slot 1"):
        StripeArray(engine, "md0", disks, layout, failed=[1])
    assert StripeArray(engine, "md0", disks, layout).capacity == 3 * 64 * MIB
