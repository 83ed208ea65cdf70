"""From a kernel and a layout to the settings of page caches: blocks, write-back and read-ahead.

The layout is that of the md array below, as far as the kernel looks at it (:func:`.array_plan.shown_layout`); None for
a drive, for a mirror, and for what a controller runs.
"""

from __future__ import annotations

import math

from ...model.kernels import KernelSpec
from ...model.layouts import Layout
from ...model.memory.settings import PageCacheSettings
from ...model.raid.base.io_limit import largest_request_bytes, optimal_request_bytes
from ..description.pools import pool_devices
from ..description.scenario import ScenarioSpec
from ..description.tuning import VirtualMemorySpec
from .array_plan import has_stripe_cache, is_rotational, shown_layout
from .parts import CachePlan, RawCachePlan, ReadAheadPlan
from .pool_plan import VOLUME_REQUEST


def read_ahead_plan(
    known: KernelSpec,
    layout: Layout | None,
    tuned: int | None = None,
    rotational: bool = False,
    largest_request: int | None = None,
) -> ReadAheadPlan:
    """How a kernel reads ahead.

    Parameters
    ----------
    known
        The kernel.
    layout
        Of the array that is read; None for a drive.
    tuned
        The window (bytes) that its user has set; None for the kernel's own.
    rotational
        If true, the device turns.
    largest_request
        Bytes that the device takes in one request, or the members of the array (max_sectors_kb); None: as many as the
        kernel lets any device take.
    """
    section, most = known.read_ahead, largest_request or known.queue.max_request
    if tuned is not None:
        rules = {"parity_chunks": 0, "parity_least": 0, "stripes": 0, "optimal_ios": None, "rotational_requests": 0}
        section = section.model_copy(update={"window": tuned, **rules})
    turns = most if rotational else 0
    window = section.window_for(0, turns)
    if layout is not None and section.optimal_ios is not None:
        window = section.window_for(optimal_request_bytes(layout), turns)
        most = largest_request_bytes(layout, most)
    elif layout is not None and has_stripe_cache(layout):
        window = section.window_for_parity(layout.data_members, layout.chunk_bytes)
    elif layout is not None:
        window = section.window_for_stripes(optimal_request_bytes(layout), layout.members)
    return ReadAheadPlan(section.policy, window, most)


def page_cache_settings(
    known: KernelSpec,
    layout: Layout | None,
    block: int,
    largest_command: int,
    vm: VirtualMemorySpec | None = None,
    write_run: int = 0,
    scale: int = 1,
) -> PageCacheSettings:
    """How a kernel caches files.

    Parameters
    ----------
    known, layout
        The kernel, and what it caches.
    block
        Block of the file system (bytes).
    largest_command
        Bytes of the largest request to the device.
    vm
        What its user has set.
    write_run
        Bytes that a file system which makes large bios writes with one; 0: it makes one for every block.
    scale
        The run is of this fraction of the size.
    """
    section, vm = known.cache, vm or VirtualMemorySpec()
    in_stripes = layout is not None and has_stripe_cache(layout)
    # In a run at a scale pages must grow old before it is over; but were they looked for as often as in the whole run,
    # the seeks of each pass would count `scale` times.
    return section.model_copy(
        update={
            "block": block,
            "flush_run": write_run or (section.flush_run if in_stripes else largest_command),
            "expire": (vm.dirty_expire or section.expire) / scale,
            "look": (vm.dirty_writeback or section.look) / math.sqrt(scale),
            "turn": section.turn if known.time_slice is None else known.time_slice,
            "interleaves": known.time_slice is not None,
            "bio": write_run,
            "metadata_bio": block,
            "task_plug": known.queue.task_plug,
        }
    )


def cache_plan(
    scenario: ScenarioSpec, known: KernelSpec, on: str, block: int, scale: int = 1, write_run: int = 0
) -> CachePlan:
    """The page cache of the device called `on`, or of a file system on it, with blocks of `block` bytes."""
    layout = shown_layout(scenario, on)
    largest = _largest_command(scenario, known, on)
    settings = page_cache_settings(known, layout, block, largest, scenario.vm, write_run, scale)
    return CachePlan(settings, _read_ahead_on(scenario, known, on, layout))


def raw_cache_plan(scenario: ScenarioSpec, known: KernelSpec, on: str) -> RawCachePlan:
    """The cache of a raw device that dd works on."""
    from ...model.memory.raw_cache import RawCacheSettings

    section, layout = known.cache, shown_layout(scenario, on)
    settings = RawCacheSettings(
        section.block_on(scenario.capacity(on)),
        scenario.machine.memory,
        run_bytes=section.read_run,
        task_plug=known.queue.task_plug,
        **({"flush_run_bytes": section.flush_run} if layout is not None and has_stripe_cache(layout) else {}),
    )
    return RawCachePlan(settings, _read_ahead_on(scenario, known, on, layout))


def _read_ahead_on(scenario: ScenarioSpec, known: KernelSpec, on: str, layout: Layout | None) -> ReadAheadPlan:
    largest = _largest_request(scenario, known, on)
    return read_ahead_plan(known, layout, scenario.read_ahead, is_rotational(scenario, on), largest)


def _largest_request(scenario: ScenarioSpec, known: KernelSpec, on: str) -> int:
    """Bytes of the largest request of a drive or a controller's array, or of what lies below another device.

    The queue of a device that is made of others takes the smallest of their limits (blk_stack_limits).
    """
    if on in scenario.encrypted:
        return _largest_request(scenario, known, scenario.encrypted[on].on)
    if on in scenario.caches:
        return min(_largest_request(scenario, known, device) for device in scenario.caches[on].devices)
    if on in scenario.volumes:
        return min(_largest_request(scenario, known, device) for device in scenario.volumes[on].on)
    if on in scenario.machine.drives:
        return _largest_command(scenario, known, on)
    if on in pool_devices(scenario.pools):
        return VOLUME_REQUEST
    while on not in scenario.arrays:  # a part of a nested array, "md0.1"
        on = on.rpartition(".")[0]
    spec = scenario.arrays[on]
    if spec.controller is not None:
        return _largest_command(scenario, known, on)
    return min(_largest_request(scenario, known, member) for member in spec.members)


def _largest_command(scenario: ScenarioSpec, known: KernelSpec, on: str) -> int:
    """Bytes of the largest command to a drive or to an array of a controller; to others the kernel's own."""
    machine, spec = scenario.machine, scenario.arrays.get(on)
    limit: int | None = None
    if spec is not None and spec.controller is not None:
        limit = machine.controllers[spec.controller].max_request
    elif on in machine.drives:
        limit = machine.drives[on].max_request
    return limit or known.queue.max_request
