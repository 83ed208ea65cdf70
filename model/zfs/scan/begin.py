"""Makes the scan of a pool, and its autotrim."""

from __future__ import annotations

from ...core.engine import Engine
from ...core.errors import InputError
from ...core.request import RESYNC_ISSUER
from ...statistics.rebuild_report import Rebuild
from ...tasks.host import Host
from ..map.pool import LOG
from ..pool.pool import Pool
from .allocated import AllocatedBlocks
from .autotrim import AutoTrim
from .cpu import ScanCpu
from .rebuild import SequentialRebuild
from .scan import Scan
from .settings import ScanAction, ScanSettings, TrimSettings
from .trim import Trim


def begin_scan(
    engine: Engine,
    host: Host | None,
    pool: Pool,
    action: ScanAction,
    done: float,
    settings: ScanSettings,
    warm: bool = False,
) -> Rebuild:
    """A scan that has done a share of its work before the run.

    Parameters
    ----------
    engine, host
        The clock, and the CPU that computes checksums; without one, they take no time.
    pool
        What is scanned. A resilver or rebuild writes to its members that are rebuilding.
    action
        What is done.
    done
        Share, 0 to 1.
    settings
        Module parameters.
    warm
        If true, the first blocks have been found: a run of seconds sees the pace of hours, which are spent on reading.
    """
    # A transaction group takes seconds now, and the logs have had theirs long ago.
    for dataset in pool.datasets.values():
        dataset.begun()
    members, placed = pool.members, pool.members.pool
    new = members.rebuilding
    vdevs = [
        vdev
        for vdev in range(len(placed.vdevs))
        if placed.roles[vdev] != LOG and (action in ("scrub", "trim") or new & set(placed.leaves(vdev)))
    ]
    issuer = engine.thread_issuer(RESYNC_ISSUER)
    if action == "rebuild":
        (vdev,) = vdevs
        fill = pool.fills[vdev]
        return SequentialRebuild(engine, members, vdev, fill, settings, int(done * int(fill.used)), issuer)
    if action == "trim":
        trim = Trim(engine, members, pool.fills, vdevs, done, issuer, settings.trim)
        if not trim.report.total_bytes:
            refused = members.queues[0].device.discard_limits.refusal or "no member has free ranges of 32 KiB"
            raise InputError("scan.action", f"found trim, but {refused}", "expected: members that take discards")
        return trim
    blocks = {vdev: AllocatedBlocks(vdev, pool.tables, done) for vdev in vdevs}
    if not any(each.total_bytes for each in blocks.values()):
        raise InputError("scan", f"found a pool without data to {action}", "expected: volumes, files, or used")
    cpu = ScanCpu(host, pool.costs)
    memory = pool.settings.memory
    return Scan(
        engine, members, pool.groups, pool.dirty, action, blocks, settings, memory, issuer, cpu, found=warm or done > 0
    )


def begin_autotrim(engine: Engine, pool: Pool, settings: TrimSettings) -> list[AutoTrim]:
    """The threads that trim what is freed, one for each vdev, which run from now on."""
    issuer = engine.thread_issuer(RESYNC_ISSUER)
    threads = [
        AutoTrim(pool.members, pool.groups, metaslabs, vdev, settings, issuer)
        for vdev, metaslabs in enumerate(pool.allocator.metaslabs)
    ]
    for thread in threads:
        engine.spawn(thread.run())
    return threads
