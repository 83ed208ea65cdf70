"""From an array of a scenario to its parts: one plan for it, and for every array inside it.

Every array follows from its layout alone: a layout of layouts becomes an array of arrays, so RAID 10, 01, 50, 60 and
what a scenario stacks by hand need no case of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeGuard

from ...model.controller.catalogue import ControllerSpec
from ...model.files.plugins import classes_in
from ...model.kernels import KernelSpec
from ...model.kernels.spec import Raid1Section
from ...model.layouts import (
    LEVELS,
    ByteStripedLayout,
    Layout,
    MirroredLayout,
    NestedLayout,
    ParityLayout,
    Raid10Layout,
)
from ...model.layouts.byte_striped import MEMBER_SECTOR
from ...model.raid import mirrors, parity, striped
from ...model.raid.base.array import Array
from ...model.raid.read_balance import READ_BALANCE, Mirrors, balance
from ...model.raid.resync.settings import ResyncSettings
from ...model.raid.striped.stripe import StripeArray
from ...model.raid.stripes.write_plan import RmwLevel
from ..description.arrays import ArraySpec
from ..description.devices import Devices
from ..description.pools import pool_devices
from ..description.scenario import ScenarioSpec
from ..description.tuning import ResyncSpec
from .lock_plan import locks_plan
from .parts import (
    ArrayPlan,
    ByteStripeDriver,
    Driver,
    LimitPlan,
    MirrorDriver,
    ParityDriver,
    Part,
    PlainDriver,
    Raid10Driver,
    ResyncPlan,
    SparesPlan,
)

RESYNC_HEADS = 32
"""Stripe heads whose members md merges into one request when it rebuilds RAID 4, 5 or 6; at most a chunk."""
SYNC_IO_BYTES = 65536
"""One resync I/O of a mirror, as sync_io_within_limit counts (RESYNC_PAGES)."""
GROWN_HEADS = 8192
"""Stripe heads at which a run looks at a resync, to say how long all of it takes: it has these after 34 GB of a member,
the root of 8 n after n heads (see :mod:`raidsim.model.raid.stripes.stripe_cache`)."""


def has_stripe_cache(layout: Layout) -> TypeGuard[ParityLayout]:
    """Whether the driver of a layout keeps a stripe cache: RAID 4, 5 and 6."""
    return isinstance(layout, ParityLayout) and not isinstance(layout, ByteStripedLayout)


def shown_layout(scenario: ScenarioSpec, on: str) -> Layout | None:
    """The map of an array under its name or under what is made of it alone, as its queue shows it to the kernel above.

    None for a drive, for what a controller runs, and for a mirror, which has no chunks to show. A striped volume shows
    its stripes, a linear one on several devices what the first of them shows.
    """
    devices = Devices.of(scenario)
    while (below := devices.one_below(on)) is not None:
        on = below
    if on in scenario.volumes:
        volume = scenario.volumes[on]
        return devices.volume_layout(on) if volume.kind == "striped" else shown_layout(scenario, volume.on[0])
    spec = scenario.arrays.get(on)
    if spec is None or spec.controller is not None:
        return None
    layout = spec.layout([scenario.capacity(member) for member in spec.members])
    outer = layout.outer if isinstance(layout, NestedLayout) else layout
    return None if isinstance(outer, MirroredLayout) else outer


def is_rotational(scenario: ScenarioSpec, name: str) -> bool:
    """Whether a device turns; an array does if one of its members does (md.c, md_run: QUEUE_FLAG_NONROT)."""
    below = [name]
    while below:
        name = below.pop()
        if (drive := scenario.machine.drives.get(name)) is not None and drive.spec().rotational:
            return True
        if (one := scenario.encrypted.get(name) or scenario.caches.get(name)) is not None:
            below.append(one.on)
        elif name in scenario.volumes:
            below.extend(scenario.volumes[name].on)
        elif drive is None and not (scenario.pools and name in pool_devices(scenario.pools)):
            while name not in scenario.arrays:  # a part of a nested array, "md0.1"
                name = name.rpartition(".")[0]
            below.extend(scenario.arrays[name].members)
    return False


def array_parts(
    scenario: ScenarioSpec,
    known: KernelSpec,
    root: str,
    layout: Layout,
    below: Callable[[str], Iterator[Part]],
    controller: ControllerSpec | None = None,
    serviced: bool = False,
) -> Iterator[Part]:
    """The parts of one array of a scenario: every array inside it before the array itself.

    Parameters
    ----------
    scenario, known
        The description, and the kernel that runs the array unless a controller does.
    root, layout
        Its name and its map.
    below
        The parts of a device that are not there yet.
    controller
        The controller that runs it.
    serviced
        Whether members may fail and be replaced at any time.
    """
    spec = scenario.arrays[root]
    own = "" if spec.controller is None else f"{spec.controller}/"
    for member in spec.members:
        yield from below(member)
    for array in _inside(root, layout, spec):
        slots = array.slots
        for device in (*spec.other_drives.get("journal", ()), *spec.other_drives.get("backup", ())):
            yield from below(device)
        driver = _driver(scenario, known, root, array.layout, slots, controller)
        redundant = LEVELS[array.layout.level].is_redundant
        failures = tuple((each.at, slots.index(each.member)) for each in scenario.failures if each.member in slots)
        fails = bool(failures) or (serviced and not array.over_arrays and _can_lose_members(spec, array.layout))
        pace, resync = _resync(scenario, known, root, array, driver, fails) if redundant else (None, None)
        marked = not isinstance(driver, MirrorDriver) or READ_BALANCE[driver.balance.name].marks_clean
        plan = ArrayPlan(
            array.name,
            root,
            array.layout,
            driver,
            slots if array.over_arrays or not own else tuple(own + slot for slot in slots),
            slots,
            controller=spec.controller,
            failed=array.failed,
            rebuilding=array.rebuilding if redundant else (),
            bitmap=spec.bitmap if redundant else None,
            bitmap_waits=known.bitmap_waits,
            marks=known.superblock if redundant and marked and controller is None else None,
            pace=pace,
            resync=resync,
            resync_sleeps=known.queue.multiqueue and isinstance(driver, MirrorDriver | Raid10Driver | ParityDriver),
            fails=fails,
        )
        yield plan
        if controller is None and not is_rotational(scenario, array.name):
            locks = locks_plan(scenario, known, array.name, array.layout, bool(array.failed))
            if locks is not None:
                yield locks
        if redundant:
            for spare in spec.spares:  # they are idle, and in the table of what was used
                yield from below(spare)
            if fails:
                yield SparesPlan(plan, tuple(own + spare for spare in spec.spares), failures)
        if controller is None:
            yield from _limits(known, spec, array, outermost=array.name == root)


def _resync(
    scenario: ScenarioSpec, known: KernelSpec, root: str, array: _Inside, driver: Driver, fails: bool
) -> tuple[ResyncSettings | None, ResyncPlan | None]:
    """How fast a redundant array is resynced, if it ever is, and the resync that it begins with, if there is one."""
    spec = scenario.arrays[root]
    tuned, drives = spec.resync, scenario.machine.drives
    action = "recover" if array.rebuilding else None if tuned is None or tuned.action == "recover" else tuned.action
    if action is None and not fails:
        return None, None
    majors = [drives[disk].major for disk in (_disk_of(scenario, slot) for slot in array.slots) if disk in drives]
    pace = resync_settings(known, array.layout, driver, spec, majors)
    if spec.controller is not None:
        pace = scenario.machine.controllers[spec.controller].spec().paced(pace)
    if action is None:
        return pace, None
    # A thread that naps is looked at in the middle of its rebuild, when it is down to its minimum.
    warm = scenario.workload.kind == "dd" or pace.when_busy == "nap"
    tuned = tuned or ResyncSpec()
    heads = tuned.stripe_heads or _grown_heads(driver)
    layouts = spec.layouts([scenario.capacity(member) for member in spec.members]) if tuned.old is not None else ()
    if layouts:  # a reshape moves a chunk of every member, or 64 KiB of a RAID 10
        chunks = [layout.chunk_bytes for layout in layouts]
        request = min(SYNC_IO_BYTES, *chunks) if isinstance(driver, Raid10Driver) else max(chunks)
        pace = replace(pace, request_bytes=request, resume_depth=None, resume_delay_s=0.0)
    done = tuned.position, warm, _resynced_before(scenario, root), heads, tuned.mismatched, tuned.at
    return pace, ResyncPlan(action, *done, layouts, tuned.backup, tuned.frozen)


def _limits(known: KernelSpec, spec: ArraySpec, array: _Inside, outermost: bool) -> Iterator[LimitPlan]:
    """The largest request that the kernel sends to an array that it runs, where that is limited."""
    queue = known.queue
    if outermost and spec.balance is not None and READ_BALANCE[spec.balance.name].as_disk:
        yield LimitPlan(array.name, queue.max_request, None)
    elif array.works and queue.multiqueue and not isinstance(array.layout, MirroredLayout):
        chunks = known.raid10 is not None and known.raid10.chunk_limit
        yield LimitPlan(array.name, queue.max_request, array.layout, chunks)


def _can_lose_members(spec: ArraySpec, layout: Layout) -> bool:
    """Whether members of an array, or of one inside it, can fail while it runs."""
    return LEVELS[spec.level].failures_in_a_run and LEVELS[layout.level].failures_in_a_run


def _resynced_before(scenario: ScenarioSpec, root: str) -> tuple[str, ...]:
    """Arrays whose resync md lets end before that of `root` begins, because they share a disk ("DELAYED" in mdstat).

    Source: drivers/md/md.c, md_do_sync and match_mddev_units, unless parallel_resync is set.
    """
    if not scenario.volumes:
        return ()
    earlier = list(scenario.arrays)[: list(scenario.arrays).index(root)]
    own = {_disk_of(scenario, member) for member in scenario.arrays[root].members}
    return tuple(
        name
        for name in earlier
        if (scenario.arrays[name].rebuilding or scenario.arrays[name].resync is not None)
        and scenario.arrays[name].controller is None
        and own.intersection(_disk_of(scenario, member) for member in scenario.arrays[name].members)
    )


def _disk_of(scenario: ScenarioSpec, slot: str) -> str:
    """The device that a member is, or is a partition of."""
    while slot in scenario.volumes and scenario.volumes[slot].kind == "partition":
        slot = scenario.volumes[slot].on[0]
    return slot


@dataclass(frozen=True, slots=True)
class _Inside:
    """An array inside another one, or the outermost: its map, its slots, their state, and whether those are arrays."""

    name: str
    layout: Layout
    slots: tuple[str, ...]
    failed: tuple[int, ...]
    rebuilding: tuple[int, ...]
    works: bool = True
    over_arrays: bool = False


def _inside(root: str, layout: Layout, spec: ArraySpec) -> Iterator[_Inside]:
    """The arrays of a layout of layouts, the outer one last.

    Groups that survive their losses are degraded arrays; one that does not is a lost member of the outer.
    """
    lost, fresh, slots = set(spec.failed), set(spec.rebuilding), spec.members
    if isinstance(layout, NestedLayout):
        names, dead, new = [], [], []
        first = 0
        for number, inner in enumerate(layout.groups):
            inside = spec.members[first : first + inner.members]
            first += inner.members
            names.append(f"{root}.{number}")
            gone = tuple(slot for slot, member in enumerate(inside) if member in lost)
            rebuilt = tuple(slot for slot, member in enumerate(inside) if member in fresh)
            works = inner.tolerates(frozenset(gone))
            yield _Inside(names[-1], inner, inside, gone if works else (), rebuilt if works else (), works)
            if not works:
                dead.append(number)
                new += [number] if rebuilt else []
        yield _Inside(root, layout.outer, tuple(names), tuple(dead), tuple(new), over_arrays=True)
        return
    gone = tuple(slot for slot, member in enumerate(slots) if member in lost)
    yield _Inside(root, layout, slots, gone, tuple(slot for slot, member in enumerate(slots) if member in fresh))


def _driver(
    scenario: ScenarioSpec,
    known: KernelSpec,
    root: str,
    layout: Layout,
    slots: Sequence[str],
    controller: ControllerSpec | None,
) -> Driver:
    """What is special about an array of this kind; a controller has a read balance of its own."""
    spec = scenario.arrays[root]
    match layout:
        case MirroredLayout() | Raid10Layout():
            section = known.raid1 if isinstance(layout, MirroredLayout) else known.raid10
            assert section is not None  # the scenario has checked that this kernel has the level
            mirrors = Mirrors(
                names=tuple(slots),
                rotational=tuple(is_rotational(scenario, slot) for slot in slots),
                write_mostly=frozenset(slot for slot, member in enumerate(slots) if member in spec.write_mostly),
                near=isinstance(layout, MirroredLayout) or layout.algorithm == "near",
                columns=max(1, len(spec.members) // len(slots)),
            )
            options = spec.balance or balance(section.balance if controller is None else controller.read_balance)
            if isinstance(section, Raid1Section):
                return MirrorDriver(section, options, mirrors)
            return Raid10Driver(section, options, mirrors)
        case ByteStripedLayout():
            return ByteStripeDriver(spec.round_robin)
        case ParityLayout() if controller is not None:
            return ParityDriver(controller.parity_settings(), spec.journal)
        case ParityLayout():
            blocks = scenario.file_system_blocks(root) if known.raid5.head_is_file_system_block else ()
            head = max(blocks, default=known.raid5.head)
            own: dict[str, object] = {
                "head": head,
                "most_heads": known.raid5.most_heads if known.raid5.grows else 0,
                "workers": spec.group_thread_cnt or 0,
                "discards": spec.devices_handle_discard_safely,
            }
            if known.raid5.raid6_reconstructs and layout.parities == 2:
                own["rmw_level"] = RmwLevel.NEVER
            set_by_hand = {"heads": spec.stripe_cache, "rmw_level": spec.rmw_level}
            own |= {field: value for field, value in set_by_hand.items() if value is not None}
            return ParityDriver(known.raid5.model_copy(update=own), spec.journal)
    return PlainDriver(plain_array_class(layout.level))


def _grown_heads(driver: Driver) -> int | None:
    """Stripe heads that a resync has made a cache grow to that may grow; None for its size."""
    if not isinstance(driver, ParityDriver) or not driver.settings.most_heads:
        return None
    return max(driver.settings.heads, min(GROWN_HEADS, driver.settings.most_heads))


def resync_settings(
    known: KernelSpec, layout: Layout, driver: Driver, spec: ArraySpec, majors: Sequence[int]
) -> ResyncSettings:
    """How a kernel's resync thread works on an array: what it asks for at a time, and how fast it may go.

    Parameters
    ----------
    known
        Whose thread it is.
    layout, driver
        What it works on.
    spec
        Where limits may have been set by hand.
    majors
        Block majors of the array's drives, by which Linux 2.4 decided whether it sees their load.
    """
    section, tuned = known.resync, spec.resync
    resume_depth, resume_delay_s = None, 0.0
    io_bytes = SYNC_IO_BYTES
    match driver:
        case ParityDriver():
            heads, head = spec.stripe_cache or known.raid5.heads, driver.settings.head
            io_bytes = head
            request = min(layout.chunk_bytes, RESYNC_HEADS * head)
            if driver.settings.hold is None:
                # The stripe cache limits it: the thread takes every head that is free, and sleeps for more.
                depth, resume_delay_s = max(heads, driver.settings.most_heads) + 1, known.raid5.resync_pause
            else:
                depth = max(1, heads * head // request)
                if known.raid5.resync_pause and depth > 1:
                    resume_depth, resume_delay_s = depth * 3 // 4, known.raid5.resync_pause
        case Raid10Driver():
            # A request ends with its chunk, except where every member holds everything (raid10_sync_request).
            request, depth = min(driver.section.resync_request, layout.chunk_bytes), driver.section.resync_depth
        case ByteStripeDriver():
            # graid3 synchronizes the array's addresses as gmirror does, so each member has its share of a request.
            share = known.raid1.resync_request // (layout.members - 1)
            request, depth = max(MEMBER_SECTOR, share // MEMBER_SECTOR * MEMBER_SECTOR), known.raid1.resync_depth
        case _:
            request, depth = known.raid1.resync_request, known.raid1.resync_depth
    unseen = section.unseen_majors_from
    return ResyncSettings(
        speed_min=section.speed_min if tuned is None or tuned.speed_min is None else tuned.speed_min,
        speed_max=section.speed_max if tuned is None or tuned.speed_max is None else tuned.speed_max,
        request_bytes=request,
        window_bytes=section.window,
        depth=depth,
        nap_s=section.nap,
        sees_load=unseen is None or any(major < unseen for major in majors),
        when_busy=section.when_busy,
        busy_by=section.busy_by,
        unseen_bytes=section.io_depth * io_bytes,
        resume_depth=resume_depth,
        resume_delay_s=resume_delay_s,
    )


@cache
def plain_array_class(level: str) -> type[Array]:
    """The class of a module below ``model/raid`` that names the level in its `levels`; a stripe runs all others."""
    for package in (mirrors, parity, striped):
        for kind in classes_in(package.__name__):
            if issubclass(kind, Array) and level in vars(kind).get("levels", ()):
                return kind
    return StripeArray
