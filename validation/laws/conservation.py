"""Conservation: members move what the layout needs and no more, every I/O ends, and caches are emptied in the end."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.core.exact_sums import sum_in_order
from ...model.files.quantities import format_duration
from ...model.layouts import LEVELS
from ...model.loads.direct_load import DirectLoad
from ...model.readahead import PAGE
from ...scenarios.description.arrays import ArraySpec
from ...scenarios.description.devices import Devices
from ...scenarios.machine.drives import is_solid_state
from .law import Law, Violation
from .trial import Trial

TOLERANCE = 0.02
_MARKS_S = 0.1
"""Least time between two marks of md in the superblocks (it waits for 200 ms without a write; two marks for that)."""
_TIMES = 4
"""The load moves this many times what may count on one side only."""
_IDLE_S = 120.0
"""Time after which a disk has written its cache back: some thousand extents of 20 ms, and a pause before."""
_LONGEST_S = 600.0
"""Time after which an I/O that is not complete has been lost: a backlog is served in less."""
_FIRST_S = 0.1


def _array(trial: Trial) -> ArraySpec | None:
    """The array that the load goes to, if that stands on equal drives and nothing else goes on."""
    load, spec = trial.closed, trial.spec
    if load is None or load.fsync or len(load.targets) != 1 or spec.network is not None or spec.failures:
        return None
    array = spec.arrays.get(load.targets[0])
    if array is None or array.controller or array.journal or array.failed or array.rebuilding or array.resync:
        return None
    models = {spec.machine.drives[name].model for name in array.members if name in spec.machine.drives}
    alone = len(models) == 1 and set(array.members) <= set(spec.machine.drives)
    return array if alone and array.bitmap is None and len(spec.arrays) == 1 else None


def _applies(trial: Trial) -> bool:
    load, array = trial.closed, _array(trial)
    if load is None or array is None or load.read_share not in (0, 1) or load.span is not None or load.locality:
        return False
    redundancy = LEVELS[array.level].redundancy
    if redundancy == "byte parity" or trial.outcome.ios == 0:
        return False
    whole_pages = all(size % PAGE == 0 for sizes in load.sizes for size in sizes)
    return redundancy != "parity" or (load.read_share == 0 and whole_pages)


def _check(trial: Trial) -> Iterator[Violation]:
    load, array, run = trial.closed, _array(trial), trial.outcome.run
    assert load is not None
    assert array is not None
    name, level = load.targets[0], LEVELS[array.level]
    drives = [run.machine.disks[member] for member in array.members]
    devices = Devices.of(trial.spec)
    sizes = [devices.capacity(member) for member in array.members]
    asked = sum(each.bytes for each in run.machine.loads)
    least = most = 1.0
    if load.read_share:
        moved = sum(drive.read_bytes for drive in drives)
    else:
        moved = sum(drive.write_bytes for drive in drives)
        if level.redundancy != "none":
            least = most = len(sizes) * min(sizes) / devices.capacity(name)
        if level.redundancy == "parity":
            most = 1.0 + level.parities
    outstanding = load.depth * load.jobs * max(map(max, load.sizes))
    either = 2 * most * outstanding + len(drives) * PAGE * (2 + run.span / _MARKS_S)
    if level.redundancy == "parity":
        either += (array.stripe_cache or run.machine.kernel.raid5.heads) * PAGE * len(drives)
    if asked < _TIMES * either:
        return
    if not (1 - TOLERANCE) * least * asked - either <= moved <= (1 + TOLERANCE) * most * asked + either:
        yield Violation(
            "reads" if load.read_share else "writes",
            f"the members move {moved / asked:.4g} bytes for each byte of the load",
            f"{least:.4g}" if most == least else f"{least:.4g} to {most:.4g}",
        )


def _has_cache(trial: Trial) -> bool:
    load = trial.load
    busy = any(array.resync or array.failed for array in trial.spec.arrays.values())
    if load is None or load.read_share == 1 or busy or trial.spec.failures:
        return False
    return any(not is_solid_state(drive) for drive in trial.outcome.run.machine.disks.values())


def _destaged(trial: Trial) -> Iterator[Violation]:
    run = trial.stopped()
    if run is None:
        return
    engine = run.machine.engine
    engine.run_to(engine.now + _IDLE_S)
    disks = [drive for drive in run.machine.disks.values() if not is_solid_state(drive)]
    left = sum_in_order(drive.dirty_bytes for drive in disks)
    if left:
        yield Violation("destaging", f"{left:,.0f} bytes are in the caches of idle disks", "none")


def _ended(trial: Trial) -> Iterator[Violation]:
    run = trial.stopped()
    if run is None:
        return
    engine, loads = run.machine.engine, run.machine.loads
    began, step_s = engine.now, _FIRST_S

    def left() -> int:
        return sum(DirectLoad.unfinished(load, engine.now)[0] for load in loads)

    while left() and engine.now < began + _LONGEST_S:
        engine.run_to(engine.now + step_s)
        step_s *= 2
    if left():
        waited = format_duration(engine.now - began)
        yield Violation("endings", f"{left()} I/Os are outstanding {waited} after the last one was submitted", "none")


CONSERVATION = Law(
    "conservation",
    "Members move each byte of the load once for each copy, and parity for rows or parts of rows.",
    "reads or writes with a depth on one array of equal drives, without a bitmap, a journal or a rebuild",
    "2 %, what is outstanding or in the stripe cache at the ends, and marks in superblocks",
    _check,
    _applies,
)
DESTAGED = Law(
    "destaged",
    "A disk that is left alone writes its whole cache back.",
    "loads that write to hard disks, without a failed member or a resync",
    "none, two minutes after the load",
    _destaged,
    _has_cache,
    runs=1,
)
ENDINGS = Law(
    "endings",
    "All I/Os that are outstanding when a load stops are completed.",
    "loads of direct I/O",
    "none, ten minutes after the load",
    _ended,
    lambda trial: trial.load is not None,
    runs=1,
)
