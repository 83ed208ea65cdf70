"""From a drive and a kernel to the settings of the drive's request queue: scheduler, tags, throttling."""

from __future__ import annotations

from typing import Literal

from ...model.block.request_queue import MAX_SEGMENTS
from ...model.kernels.queue_section import QueueSection
from ...model.schedulers import NO_SCHEDULER, SCHEDULERS
from .parts import QueuePlan

_SEGMENTS = {"NVMe": 127, "SATA": 168}
"""Pieces of memory in a request, where the driver takes another number than 128: drivers/nvme/host/pci.c,
NVME_MAX_SEGS, and drivers/ata/ahci.h, AHCI_MAX_SG. Drivers of SAS adapters take 128 (drivers/scsi/mpt3sas, Kconfig)."""


def queue_plan(
    name: str,
    section: QueueSection,
    depth: int,
    *,
    hardware_queues: int = 1,
    single: bool = False,
    queued: bool = True,
    rotational: bool = True,
    interface: str = "",
    scheduler: str | None = None,
    nr_requests: int | None = None,
    max_request: int | None = None,
    wbt_lat: float | None = None,
) -> QueuePlan:
    """A request queue of the host's kernel.

    Parameters
    ----------
    name
        The device that it is in front of.
    section
        How the kernel's queues work.
    depth
        Commands that the device takes at once in each of its queues.
    hardware_queues
        How many queues it has.
    single
        If true, its driver has the request queue of before blk-mq (`single_queue_drivers` of a kernel with both).
    queued
        If false, its driver takes block I/Os as they come: nothing is scheduled, tagged or throttled.
    rotational
        Whether it turns.
    interface
        Of the drive: "PCIe 4.0 x4 NVMe", "SATA 6Gb/s".
    scheduler, nr_requests, max_request, wbt_lat
        As :class:`raidsim.scenarios.description.machine.DriveInstance` has them; None for the kernel's choice.
    """
    several = hardware_queues > 1 if not section.single_queue_drivers else not single
    own = NO_SCHEDULER if several else section.scheduler
    chosen = scheduler or own
    throttle_s = wbt_lat
    if throttle_s is None:
        usual_s = section.throttle_rotational if rotational else section.throttle_solid
        throttle_s = usual_s if not single and (chosen == NO_SCHEDULER or SCHEDULERS[chosen].throttled) else 0.0
    commands, requests, writes = depth, nr_requests or section.limit_requests, 0
    first = 0
    if single:
        # Two lists of nr_requests each: one of reads and waited-for writes, one of other writes (blk_init_rl).
        first = requests
        requests, writes = 2 * first, first
    elif section.multiqueue and chosen == NO_SCHEDULER:
        commands = first = min(depth, nr_requests or depth)
    elif section.multiqueue:
        tags = section.tags_for(depth)
        first = nr_requests or tags
        commands, requests = depth * hardware_queues, first * hardware_queues
        writes = _tags_of_writes(section, chosen, first, depth) * hardware_queues
    return QueuePlan(
        name,
        kind=_kind(section, chosen) if queued else "bio",
        section=section,
        depth=commands,
        requests=requests,
        write_requests=writes,
        hardware_queues=hardware_queues,
        max_request=max_request or section.max_request,
        scheduler=chosen,
        usual=chosen == section.scheduler,
        rotational=rotational,
        throttle_s=throttle_s if section.multiqueue else 0.0,
        throttle_requests=first,
        max_segments=next((_SEGMENTS[bus] for bus in interface.split() if bus in _SEGMENTS), MAX_SEGMENTS),
    )


def _kind(section: QueueSection, scheduler: str) -> Literal["single", "tags", "hardware"]:
    if not section.multiqueue:
        return "single"
    return "hardware" if scheduler == NO_SCHEDULER else "tags"


def _tags_of_writes(section: QueueSection, scheduler: str, requests: int, depth: int) -> int:
    """How many of a scheduler's `requests` tags writes may take."""
    kind = SCHEDULERS[scheduler]
    return section.write_tags(requests, depth) if kind.limits_all_writes else max(int(requests * kind.async_share), 1)
