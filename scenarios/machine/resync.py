"""How a kernel's resync thread works on an array: what it asks for at a time, and how fast it may go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...model.block.kernel_thread import KernelThread
from ...model.core.engine import Engine
from ...model.kernels import KernelSpec
from ...model.layouts.byte_striped import MEMBER_SECTOR
from ...model.raid.mirrors.mirror import MirrorArray
from ...model.raid.mirrors.raid10 import Raid10Array
from ...model.raid.parity.array import ParityArray
from ...model.raid.resync.settings import ResyncSettings
from ...model.raid.resync.thread import Action, Resync
from ...model.raid.striped.raid3 import ByteStripedArray
from ..description.arrays import ArraySpec

RESYNC_HEADS = 32
"""Stripe heads whose members md merges into one request when it rebuilds RAID 4, 5 or 6; at most a chunk."""


def resync_settings(kernel: KernelSpec, array: Any, spec: ArraySpec, majors: Sequence[int]) -> ResyncSettings:
    """The thread's settings.

    Parameters
    ----------
    kernel
        Whose thread it is.
    array
        What it works on.
    spec
        Where limits may have been set by hand.
    majors
        Block majors of the array's drives, by which Linux 2.4 decided whether it sees their load.
    """
    section, tuned = kernel.resync, spec.resync
    resume_depth, resume_delay_s = None, 0.0
    if isinstance(array, MirrorArray):
        request, depth = kernel.raid1.resync_request, kernel.raid1.resync_depth
    elif isinstance(array, ByteStripedArray):
        # graid3 synchronises the array's addresses as gmirror does, so each member has its share of a request.
        share = kernel.raid1.resync_request // (len(array.members) - 1)
        request, depth = max(MEMBER_SECTOR, share // MEMBER_SECTOR * MEMBER_SECTOR), kernel.raid1.resync_depth
    elif isinstance(array, Raid10Array) and kernel.raid10 is not None:
        request, depth = kernel.raid10.resync_request, kernel.raid10.resync_depth
    else:
        heads, head = spec.stripe_cache or kernel.raid5.heads, array.cache.head_bytes
        request = min(array.layout.chunk_bytes, RESYNC_HEADS * head)
        depth = max(1, heads * head // request)
        if kernel.raid5.resync_pause and depth > 1:
            resume_depth, resume_delay_s = depth * 3 // 4, kernel.raid5.resync_pause
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
        resume_depth=resume_depth,
        resume_delay_s=resume_delay_s,
    )


def resync_thread(
    engine: Engine,
    kernel: KernelSpec,
    array: Any,
    settings: ResyncSettings,
    action: Action = "recover",
    start: int = 0,
    warm: bool = False,
    finished: Callable[[], None] | None = None,
) -> Resync:
    """The thread at work on `array`; on blk-mq it sleeps where a member has no tag for it."""
    thread = None
    if kernel.queue.multiqueue and isinstance(array, (MirrorArray, Raid10Array, ParityArray)):
        array.resync_thread = submitter = KernelThread(engine, array.members, array.host)
        # In a parity array another thread, md's own, submits.
        thread = None if isinstance(array, ParityArray) else submitter
    return Resync(engine, array, settings, start, warm, action, finished, thread)
