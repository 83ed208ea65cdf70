"""An array behind its locks: who waits, for how long, and what it costs the simulator."""

from __future__ import annotations

from functools import partial

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.raid.base.locks import SHORT_S, LockedArray
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.lock import QueuedLock

SERVICE_S = 1e-6
HOLD_S = 2e-6


class Rig:
    """A device that serves everything at once, behind a lock for reads."""

    def __init__(self, cores: int = 8, locks: int = 1, hold_s: float = HOLD_S) -> None:
        self.engine = Engine()
        self.host = Host(Cpu(self.engine, cores))
        below = FixedServiceDevice(self.engine, "fast", 1 << 30, lambda size, op: SERVICE_S, servers=1000)
        taken = [(QueuedLock(f"lock {number}", "Linux", 0.0), hold_s, 1) for number in range(locks)]
        self.array = LockedArray(self.engine, self.host, below, taken, [])
        self.ended: list[tuple[int, float, float]] = []

    def send(self, issuer: int, op: int = READ) -> None:
        """Submit an I/O."""
        self.array.submit(Request(op, 0, 4096, self._done, issuer))

    def _done(self, request: Request) -> None:
        now = self.engine.now
        self.ended.append((request.issuer, now, now - request.submitted))


def test_an_uncontended_lock_costs_no_event() -> None:
    """Protects the speed of the simulator: an I/O that waits for nobody costs the event of its drive."""
    events = []
    for locks in (0, 3):
        rig = Rig(locks=locks)
        for number in range(50):
            rig.engine.call_at(1e-5 * number, partial(_sent, rig, number))
        rig.engine.run()
        events.append(rig.engine.scheduled_events)
        assert {round(latency_s, 9) for _, _, latency_s in rig.ended} == {SERVICE_S}
    assert events[0] == events[1]


def test_cores_wait_for_each_other() -> None:
    """Protects the ceiling: eight cores at once are served one after the other, and latency counts their wait."""
    rig = Rig()
    for issuer in range(8):
        rig.send(issuer)
    rig.engine.run()
    expected = [SERVICE_S + (0.0 if not place else (place + 1) * HOLD_S) for place in range(8)]
    assert [latency_s for _, _, latency_s in rig.ended] == pytest.approx(expected)


def test_writes_do_not_wait_for_what_only_reads_take() -> None:
    """Counter-test: no lock, no wait."""
    rig = Rig()
    for issuer in range(8):
        rig.send(issuer, WRITE)
    rig.engine.run()
    assert [latency_s for _, _, latency_s in rig.ended] == pytest.approx([SERVICE_S] * 8)


def test_a_core_spins_for_one_thread_at_a_time() -> None:
    """Protects the crowd at a lock from being larger than the machine: 100 threads on two cores are two that spin."""
    rig = Rig(cores=2)
    for issuer in range(100):
        rig.send(issuer)
    rig.engine.run()
    assert len(rig.ended) == 100
    assert rig.host.cpu.busy_s < 100 * 3 * HOLD_S
    assert rig.ended[-1][1] == pytest.approx(100 * HOLD_S + SERVICE_S, rel=0.1)


def test_the_thread_knows_how_long_it_has_spun() -> None:
    """Protects the CPU time of whoever spins."""
    rig = Rig()
    rig.send(0)
    assert rig.host.stalled_s(0, 0.0) == 0.0
    rig.send(1)
    assert rig.host.stalled_s(1, 0.0) == pytest.approx(2 * HOLD_S)
    assert rig.host.stalled_s(0, 0.0) == 0.0


def _sent(rig: Rig, issuer: int, _: object) -> None:
    rig.send(issuer)


def test_a_core_alone_is_no_crowd() -> None:
    """Protects the short way of a core that had the locks last: another one still finds them held after it."""
    rig = Rig(locks=2)
    for number in range(3):
        rig.engine.call_at(1e-5 * number, lambda _: rig.send(0))
    for issuer in (1, 2):
        rig.engine.call_at(2e-5 + HOLD_S, partial(_sent, rig, issuer))
    rig.engine.run()
    assert [issuer for issuer, _, _ in rig.ended] == [0, 0, 0, 1, 2]
    assert [round(latency_s, 8) for _, _, latency_s in rig.ended] == [1e-6, 1e-6, 1e-6, 1e-6, 5e-6]


def test_a_short_wait_costs_the_thread_but_no_event() -> None:
    """Protects the speed of the simulator where a few cores meet now and then."""
    rig = Rig(hold_s=SHORT_S / 4)
    rig.send(0)
    rig.send(1)
    assert rig.host.stalled_s(1, 0.0) == pytest.approx(SHORT_S / 2)
    before = rig.engine.scheduled_events
    rig.send(2)
    assert rig.engine.scheduled_events == before + 1
    rig.send(3)
    assert rig.engine.scheduled_events == before + 2
    rig.engine.run()
    assert len(rig.ended) == 4
