"""Mutants: a mechanism that is broken on purpose breaks its law within a few drawn scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, Request
from raidsim.model.disk.activity import DiskActivity
from raidsim.model.disk.look_ahead import LookingAhead
from raidsim.model.disk.shortest_positioning import ShortestPositioning
from raidsim.model.drives.catalogue import AnyDrive
from raidsim.model.drives.power import watts
from raidsim.model.links.link import Path
from raidsim.model.loads.direct_load import DirectLoad, LoadIo
from raidsim.model.loads.trace_load import ClosedTrace
from raidsim.model.raid.mirrors.barrier import RESYNC_BARRIER, PausingBarrier
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.solid_state import media
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.solid_state.timeline import Timeline
from raidsim.model.statistics import usage
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.zfs.pool.dirty_data import DirtyData
from raidsim.scenarios.traces.replay import replay
from raidsim.validation.laws import utilization
from raidsim.validation.laws.broken import violations
from raidsim.validation.laws.hunting import hunt
from raidsim.validation.laws.laws import LAWS
from raidsim.validation.laws.trial import Trial

FLASH, SATA, DISK = "Samsung-980-PRO-1TB", "Samsung-870-EVO-1TB", "IronWolf-8TB"
DRAWS = 24
SEED = 7
BARE: dict[str, Any] = dict.fromkeys(
    ("arrays", "encrypted", "volumes", "network", "failures", "file_systems", "machine.controllers")
) | {"workload.targets": ["disk0"], "machine.drives.disk0": None, "machine.drives.scheduler": None}
"""A drive by itself."""
CLOSED: dict[str, Any] = dict.fromkeys(
    ("workload.total_iops", "workload.arrivals", "workload.think_time", "workload.fsync", "workload.engine")
) | {"workload.depth": 8}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mechanism that is broken.

    Attributes
    ----------
    law
        The law that must find it.
    plant
        Breaks the mechanism.
    model
        Drive of the scenarios that are drawn.
    fields
        What all of them have in common, by dotted paths: the mechanism must be at work.
    """

    law: str
    plant: Callable[[pytest.MonkeyPatch], None]
    model: str = FLASH
    fields: dict[str, Any] = field(default_factory=dict)


def latency_begins_late(patch: pytest.MonkeyPatch) -> None:
    """An I/O that waited counts half of its time."""
    count = DirectLoad._count

    def late(self: DirectLoad, io: LoadIo, now: float) -> None:
        count(self, io, (io.wanted + now) / 2)

    patch.setattr(DirectLoad, "_count", late)


def interface_without_a_queue(patch: pytest.MonkeyPatch) -> None:
    """Transfers of a drive cross its connector at the same time."""

    def book(self: Timeline, now: float, ready: float, duration: float) -> float:
        self.busy_s += duration
        return ready + duration

    patch.setattr(Timeline, "book", book)
    patch.setattr(Path, "reserve", lambda self, now, earliest, size, write=False: earliest)


def links_that_nobody_waits_for(patch: pytest.MonkeyPatch) -> None:
    """Cables and buses count what they carry, and delay nothing."""
    reserve = Path.reserve

    def counted(self: Path, now: float, earliest: float, size: int, write: bool = False) -> float:
        reserve(self, now, earliest, size, write)
        return earliest

    patch.setattr(Path, "reserve", counted)


def busy_with_a_command_inside(patch: pytest.MonkeyPatch) -> None:
    """A disk that writes its cache back is idle."""
    patch.setattr(DiskActivity, "working_s", property(lambda self: self.inside_s))


def one_stream_is_read_ahead(patch: pytest.MonkeyPatch) -> None:
    """The newest stream takes the only place for one."""
    patch.setattr(media, "STREAMS", 1)
    patch.setattr(media, "_KEPT_READS", 0)


def a_mirror_is_not_written(patch: pytest.MonkeyPatch) -> None:
    """The last copy of a mirror is left out."""
    write = MirrorArray._write

    def partly(self: MirrorArray, request: Request) -> None:
        failed = self.failed
        self.failed = failed | {len(self._members) - 1}
        write(self, request)
        self.failed = failed

    patch.setattr(MirrorArray, "_write", partly)


def no_destaging_in_idle_time(patch: pytest.MonkeyPatch) -> None:
    """A disk writes its cache back only where a write needs room."""
    settle = LookingAhead.settle

    def reading_only(self: LookingAhead, to: float) -> None:
        if self._reading:
            settle(self, to)

    patch.setattr(LookingAhead, "settle", reading_only)


def free_processors(patch: pytest.MonkeyPatch) -> None:
    """CPU time is not counted."""
    for name in ("run", "run_then", "spend", "interrupt"):
        real = getattr(Cpu, name)

        def free(self: Cpu, seconds: float, *others: Any, real: Any = real) -> Any:
            return real(self, 0.0, *others)

        patch.setattr(Cpu, name, free)


def power_falls_under_load(patch: pytest.MonkeyPatch) -> None:
    """A drive with something to do takes a twentieth of the power."""

    def less(spec: AnyDrive, busy: float) -> float | None:
        found = watts(spec, busy)
        return found if found is None or busy in (0, 1) else found / 20

    patch.setattr("raidsim.scenarios.running.base.power.watts", less)


def no_part_limits(patch: pytest.MonkeyPatch) -> None:
    """No part is said to limit."""
    patch.setattr(utilization, "limit", lambda usages: None)


def a_wait_without_a_name(patch: pytest.MonkeyPatch) -> None:
    """A program does not say what it has waited for above its device."""
    patch.setattr(DirectLoad, "_on_host", lambda self, trail, now: trail)


def saturated_too_early(patch: pytest.MonkeyPatch) -> None:
    """A part that is busy for a third of the time is said to limit."""
    patch.setattr(usage, "SATURATED", 0.3)


def the_farthest_command_first(patch: pytest.MonkeyPatch) -> None:
    """A disk with command queuing serves the command that is farthest away."""

    def farthest(self: ShortestPositioning, now: float) -> tuple[int, float]:
        arm = self._media.head_cylinder(now)
        known = self._known
        return max(range(len(known)), key=lambda number: abs(known[number].cylinder - arm)), 1.0

    patch.setattr(ShortestPositioning, "_choose", farthest)


def large_reads_stall(patch: pytest.MonkeyPatch) -> None:
    """A read of more than 128 KiB takes 2 ms longer."""
    start = SolidState._start

    def slow(self: SolidState, request: Request, now: float) -> None:
        stalls = request.op == READ and request.size > 128 << 10
        start(self, request, now + 2e-3 if stalls else now)

    patch.setattr(SolidState, "_start", slow)


def a_read_gets_lost(patch: pytest.MonkeyPatch) -> None:
    """Every tenth command of a drive is never complete."""
    submit = SolidState.submit
    seen = [0]

    def losing(self: SolidState, request: Request) -> None:
        seen[0] += 1
        if seen[0] % 10:
            submit(self, request)

    patch.setattr(SolidState, "submit", losing)


def a_replay_of_one_at_a_time(patch: pytest.MonkeyPatch) -> None:
    """A trace that is replayed has one I/O outstanding, whatever the depth."""

    def single(*arguments: Any, **options: Any) -> ClosedTrace:
        return ClosedTrace(*arguments, **{**options, "depth": 1})

    patch.setattr(replay, "ClosedTrace", single)


def one_barrier_for_a_mirror(patch: pytest.MonkeyPatch) -> None:
    """Reads of RAID 1 wait for all requests of a resync, as on RAID 10, so that few reads wait for more of them."""
    patch.setitem(RESYNC_BARRIER, "md-6.1", PausingBarrier)


SINGLE = {"workload.depth": 1}
TWO = {"workload.depth": 2, "workload.jobs": 1}
READS = {"workload.read_share": "100%"}
WRITES = {"workload.read_share": "0%"}
RANDOM: dict[str, Any] = {"workload.pattern": "random", "workload.locality": None, "workload.span": None}
ORDERED = {**RANDOM, "workload.pattern": "sequential"}
MIRROR = {
    **BARE,
    "machine.drives.count": 2,
    "arrays": {"md0": {"level": "raid1", "members": ["disk0", "disk1"], "bitmap": "none"}},
    "workload.targets": ["md0"],
}
OPEN: dict[str, Any] = dict.fromkeys([*CLOSED, "workload.precision"]) | {
    "workload.total_iops": 4000,
    "workload.block_size": "4KiB",
}
CHECKED = {**MIRROR, "kernel": "linux-6.1"}
CHECKED["arrays"] = {"md0": {**MIRROR["arrays"]["md0"], "resync": {"action": "check"}}}
TWELVE = {
    **BARE,
    **ORDERED,
    "machine.model": "storage-server",
    "machine.drives.count": 12,
    "workload.targets": [f"disk{number}" for number in range(12)],
    "workload.block_size": "1MiB",
    "workload.jobs": 1,
}
"""Drives that move more together than the cable of their expander."""


def a_full_pool_forgets_a_writer(patch: pytest.MonkeyPatch) -> None:
    """The first writer that waits for room in the dirty data of a pool is not woken."""
    when_room = DirtyData.when_room
    forgotten: set[DirtyData] = set()

    def later(self: DirtyData, callback: Callable[[], None]) -> None:
        if self in forgotten:
            when_room(self, callback)
        forgotten.add(self)

    patch.setattr(DirtyData, "when_room", later)


POOLED: dict[str, Any] = {
    **BARE,
    **CLOSED,
    "kernel": "linux-6.12",
    "machine.drives.count": 2,
    "pools": {"tank": {"vdevs": "mirror disk0 disk1", "datasets": {"vm": {"volume": "1GiB"}}}},
    "zfs_parameters": {"zfs_dirty_data_max": "16MiB", "zfs_arc_max": "64MiB", "zfs_delay_scale": 0},
    "workload.targets": ["tank/vm"],
    "workload.warm_up": "100ms",
    "workload.duration": "500ms",
}
"""A mirror of two drives as a pool, with little memory."""

MUTANTS = {
    each.plant.__name__: each
    for each in (
        Mutant("little", latency_begins_late, fields={**BARE, **CLOSED}),
        Mutant("waits", a_wait_without_a_name, fields={**BARE, **CLOSED}),
        Mutant("interface", interface_without_a_queue, SATA, {**BARE, **CLOSED, **READS}),
        Mutant("links", links_that_nobody_waits_for, SATA, {**TWELVE, **CLOSED, **READS}),
        Mutant("half", busy_with_a_command_inside, DISK, {**BARE, **CLOSED, **WRITES, **RANDOM}),
        Mutant("more-jobs", one_stream_is_read_ahead, fields={**BARE, **CLOSED, **READS, **ORDERED, **SINGLE}),
        Mutant("conservation", a_mirror_is_not_written, fields={**MIRROR, **CLOSED, **WRITES, **RANDOM}),
        Mutant("destaged", no_destaging_in_idle_time, DISK, {**BARE, **CLOSED, **WRITES, **RANDOM}),
        Mutant("endings", a_read_gets_lost, fields={**BARE, **CLOSED}),
        Mutant("replay", a_replay_of_one_at_a_time, fields={**BARE, **CLOSED, **READS, **RANDOM, "workload.jobs": 1}),
        Mutant("cpu-time", free_processors, fields=BARE),
        Mutant("power", power_falls_under_load, fields=BARE),
        Mutant("unsaturated", no_part_limits, fields={**BARE, **CLOSED, **READS}),
        Mutant("bottleneck", saturated_too_early, fields={**BARE, **CLOSED, **READS, "workload.block_size": "64KiB"}),
        Mutant("more-depth", the_farthest_command_first, DISK, {**BARE, **CLOSED, **READS, **RANDOM, **TWO}),
        Mutant("fewer-reads", one_barrier_for_a_mirror, SATA, {**CHECKED, **OPEN, **READS, **RANDOM}),
        Mutant("block-step", large_reads_stall, fields={**BARE, **CLOSED, **READS, "workload.block_size": "128KiB"}),
        Mutant("endings", a_full_pool_forgets_a_writer, SATA, {**POOLED, **WRITES, **RANDOM}),
    )
}


def drawn(mutant: Mutant) -> Iterator[dict[str, Any]]:
    """Scenarios of the drive, with the fields that the mutant needs; those that are refused are left out."""
    for scenario in hunt._drawn(mutant.model, DRAWS, SEED):
        document = Trial(scenario).document
        if scenario["workload"]["kind"] != "load":
            continue
        try:
            changed = Trial(Trial(document.changed(mutant.fields).data).document.data)
            yield (changed.varied({}) or changed).data
        except InputError:
            continue


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_found_by_its_law(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the laws themselves: each notices a broken mechanism, and has nothing to say of the whole one."""
    mutant = MUTANTS[name]
    law = LAWS[mutant.law]
    for scenario in drawn(mutant):
        with monkeypatch.context() as patch:
            mutant.plant(patch)
            found = [each for each in violations(law, scenario) if each.law == law.name]
        if found:
            assert violations(law, scenario) == []
            return
    pytest.fail(f"{DRAWS} scenarios do not tell {name}")


def test_ten_mechanisms_are_broken() -> None:
    """Protects the spread: the mutants break ten laws and more."""
    assert len({each.law for each in MUTANTS.values()}) >= 10
