"""What an administrator tunes: queues of drives, resync, limits of dirty memory (sysctl vm), module parameters of ZFS.

And how the drives are looked after over the years, which the risk of losing data depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from ...model.core.errors import InputError
from ...model.files.description import (
    Duration,
    Fraction,
    PositiveDuration,
    PositiveSize,
    Rate,
    Size,
    Spec,
    below_all,
    refusal,
)
from ...model.kernels import KernelSpec, kernel, kernel_names
from ...model.layouts import LEVELS, Layout, LevelName, ParityLayout, Raid10Layout, layout_for
from ...model.memory.dirty_memory import DirtyLimits
from ...model.raid.reshape.geometry import least_move, refusal_of
from ...model.solid_state.spec import SolidStateSpec
from ...model.zfs.intent_log.records import LogRules
from ...model.zfs.map.capacity import SLOP_SHIFT
from .machine import MachineSpec
from .pools import DatasetSpec, PoolSpec

QUEUE_FIELDS = ("scheduler", "nr_requests", "max_request", "wbt_lat")
"""Of :class:`raidsim.scenarios.description.machine.DriveInstance`."""


Movable = ParityLayout | Raid10Layout
"""Layouts that md reshapes."""


class OldShape(Spec):
    """The layout that an array had before it was reshaped: what is not said is as it is now."""

    level: LevelName | None = None
    members: int | None = Field(default=None, ge=2)
    """How many of the array's members it had: the first ones."""
    chunk: PositiveSize | None = None
    algorithm: str | None = None
    """The algorithm; of another level its usual one unless given."""

    def layouts(self, new: Layout, member_bytes: Sequence[int]) -> tuple[Layout, Layout]:
        """The old layout and the new one, on members without the room by which mdadm moves the data offset.

        `new` is the new layout on members of these sizes.
        """
        old = self._layout(new, member_bytes)
        reason = refusal_of(old, new)
        if reason:
            raise InputError("resync.old", reason, "expected: RAID 4, 5, 6 or 10 that keeps its size or grows")
        assert isinstance(old, Movable)
        assert isinstance(new, Movable)
        step = max(old.chunk_bytes, new.chunk_bytes)
        size = (min(new.member_bytes) - least_move(old, new)) // step * step
        made = []
        for layout in (old, new):
            copies = layout.copies_per_chunk if isinstance(layout, Raid10Layout) else 1
            made.append(
                layout.made(layout.level, [size] * layout.members, layout.chunk_bytes, str(layout.algorithm), copies)
            )
        return made[0], made[1]

    def _layout(self, new: Layout, member_bytes: Sequence[int]) -> Layout:
        level, members = self.level or new.level, self.members or new.members
        if members > new.members:
            raise InputError("resync.old.members", f"{members} of {new.members} members", "expected: no more than now")
        algorithm = self.algorithm or (new.algorithm if level == new.level else None)
        copies = new.copies_per_chunk if isinstance(new, Raid10Layout) and level == new.level else None
        chunk = self.chunk or new.chunk_bytes or None
        return layout_for(level, members, chunk, member_bytes[:members], algorithm, copies=copies, truncate=True)


class ResyncSpec(Spec):
    """A resync thread at work: what it does, the limits set by hand, and where it stands."""

    action: Literal["recover", "check", "repair", "reshape"] = "recover"
    """"recover" rebuilds the members in `rebuilding`; "check" and "repair" read everything and compare; "reshape"
    brings the array from the layout `old` into its own."""
    old: OldShape | None = None
    """The layout that an array which is being reshaped comes from."""
    backup: str | None = None
    """Reshape of RAID 4, 5 or 6: the drive that mdadm's backup file is on. Where the data members stay as many, mdadm
    copies all data to it before they are overwritten, and of an array that grows the beginning. Unless given, the data
    offset moves instead, as mdadm has it if there is room."""
    frozen: bool = False
    """If true, the reshape is interrupted (sync_action "frozen"): the array is in use in both of its layouts."""
    mismatched: Fraction = 0.0
    """Share of the array whose parity or copies differ, which a repair writes (default: 0)."""
    speed_min: Rate | None = None
    speed_max: Rate | None = None
    """``sync_speed_min`` and ``sync_speed_max``; the kernel's defaults unless given."""
    position: Size = 0
    """Bytes per member that are done already; the thread goes on with the request that this falls into."""
    at: Fraction | None = None
    """Share that is done already, instead of `position`."""
    stripe_heads: int | None = Field(default=None, ge=17, le=32768)
    """Stripe heads that the cache of RAID 4, 5 or 6 has when the run begins: `stripe_cache_size` to 32,768 (default:
    8,192 since Linux 4.1). A resync makes it grow, and holds all its heads: 8,192 after three minutes at 180 MB/s,
    32,768 after fifty. The cache does not grow where the page cache has taken the memory."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.old is None) == (self.action == "reshape"):
            found = f"{self.action} with old" if self.old is not None else "a reshape without old"
            raise refusal(found, "expected: action reshape with the layout that it comes from", ("old",))
        for field in ("backup", "frozen"):
            if self.old is None and getattr(self, field):
                raise refusal(f"{field} of a {self.action}", "expected: with a reshape", (field,))
        if self.at is not None and self.position:
            raise refusal("at and position", "expected: one of them", ("at",))
        return self

    @property
    def reshapes(self) -> bool:
        """Whether it brings an array into another layout now."""
        return self.old is not None and not self.frozen

    def recovering(self, position: int) -> Self:
        """The same limits for a rebuild."""
        none = {"old": None, "at": None, "backup": None, "frozen": False}
        return self.model_copy(update={"action": "recover", "position": position, **none})

    def check(self, level: LevelName) -> None:
        """Refuse what the driver of a level does not do."""
        known = LEVELS[level]
        if not known.is_redundant:
            raise refusal(f"resync of {level}", "expected: with redundancy", ("resync",))
        if self.action != "recover" and not known.checks:
            found = f"a {self.action} of {level}, whose driver does not have it"
            raise refusal(found, "expected: recover", ("resync", "action"))
        if self.backup is not None and not known.has_parity:
            found = f"a backup file of {level}, whose data offset always moves"
            raise refusal(found, "expected: RAID 4, 5 or 6, or no backup", ("resync", "backup"))
        if self.mismatched and self.action != "repair":
            found = f"mismatched with action {self.action}"
            raise refusal(found, "expected: action repair", ("resync", "mismatched"))


def check_queues(machine: MachineSpec, kernel_name: str, hidden: Mapping[str, str]) -> None:
    """Refuse what the kernel cannot set, and what a controller does not let it set or cannot have.

    Parameters
    ----------
    machine
        Whose drives they are.
    kernel_name
        What it runs.
    hidden
        Drives that the kernel does not see, with the controller in front of them.

    Raises
    ------
    PydanticCustomError
        Naming what is wrong, and what is allowed.
    """
    known = kernel(kernel_name).queue
    for name, instance in machine.drives.items():
        given = [field for field in QUEUE_FIELDS if getattr(instance, field) is not None]
        if given and name in hidden:
            found = f"{given[0]} of {name}, which is behind {hidden[name]}"
            raise refusal(found, "expected: for drives that the kernel sees", ("machine", "drives", name, given[0]))
        spec = instance.spec()
        unqueued = isinstance(spec, SolidStateSpec) and not spec.queued
        if unqueued and given and (given[0] != "scheduler" or instance.scheduler != "none" or given[1:]):
            found = f"{' and '.join(given)} of {name}, a {instance.model}, whose driver has no request queue"
            raise refusal(found, "expected: no such setting", ("machine", "drives", name, given[-1]))
        if name in hidden and isinstance(spec, SolidStateSpec) and spec.in_submission is not None:
            found = f"a {instance.model} behind {hidden[name]}"
            expected = "expected: a physical drive; this one is the host's memory"
            raise refusal(found, expected, ("machine", "drives", name))
        choices = known.choices(instance.queues())
        if instance.scheduler is not None and instance.scheduler not in choices:
            found = f"{instance.scheduler}, which {kernel_name} does not have"
            allowed = f"expected: {', '.join(choices)}"
            raise refusal(found, allowed, ("machine", "drives", name, "scheduler"))
        if instance.wbt_lat is not None and not known.throttle_rotational:
            found = f"write-back throttling on {kernel_name}, which has none"
            raise refusal(found, "expected: with Linux 4.10 or later", ("machine", "drives", name, "wbt_lat"))


class VirtualMemorySpec(Spec):
    """What ``/proc/sys/vm`` says; what is not given is the kernel's default."""

    dirty_ratio: Fraction | None = None
    dirty_bytes: PositiveSize | None = None
    """How much memory may be dirty before writers stop: a share of it, or bytes."""
    dirty_background_ratio: Fraction | None = None
    dirty_background_bytes: PositiveSize | None = None
    """How much before it is written back; half of the limit if it is not below that."""
    dirty_expire: PositiveDuration | None = None
    """What has been dirty for so long is written back anyway (``dirty_expire_centisecs``)."""
    dirty_writeback: PositiveDuration | None = None
    """How often that is looked for (``dirty_writeback_centisecs``)."""

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        for ratio, size in (("dirty_ratio", "dirty_bytes"), ("dirty_background_ratio", "dirty_background_bytes")):
            if getattr(self, ratio) is not None and getattr(self, size) is not None:
                found = f"both {ratio} and {size}, of which setting one clears the other"
                raise refusal(found, "expected: one of them", (size,))
            if getattr(self, ratio) == 0:
                raise refusal("0", "expected: a share above 0", (ratio,))
        return self

    def check(self, name: str) -> None:
        """Refuse a kernel that does not have these settings in this form."""
        if kernel(name).cache.throttle != "balance":
            have = [other for other in kernel_names() if kernel(other).cache.throttle == "balance"]
            raise refusal(f"vm on {name}", f"expected: with {', '.join(have)}", ("vm",))


def dirty_limits(known: KernelSpec, memory: int, vm: VirtualMemorySpec | None, scale: int = 1) -> DirtyLimits:
    """The limits of a kernel on a machine with this memory (bytes), in a run with `scale` times less of it."""
    section = known.cache
    memory //= scale
    above, below = int(section.flush_above * memory), int(section.flush_below * memory)
    limit = int(section.limit * memory)
    if vm is not None:
        limit = vm.dirty_bytes // scale if vm.dirty_bytes else int((vm.dirty_ratio or section.limit) * memory)
        above = int((vm.dirty_background_ratio or section.flush_above) * memory)
        if vm.dirty_background_bytes:
            above = vm.dirty_background_bytes // scale
        above = below = above if above < limit else limit // 2
    return DirtyLimits(
        above,
        below,
        limit,
        section.duty,
        section.flush_pass,
        section.limit_counts_writeback,
        section.throttle == "balance",
        1 / scale,
        section.running_above,
        section.running_below,
    )


class ServiceSpec(Spec):
    """How the drives are looked after, and how often they fail: what the risk of losing data depends on."""

    life: PositiveDuration = 5 * 31557600.0
    """Time for which the probability of losing data is given (default 5 years)."""
    replacement: Duration = 86400.0
    """Time until a failed drive has been replaced by hand (default 24 hours; 0: at once). A hot spare takes its place
    without that wait, and is replaced in the same time."""
    scrub: PositiveDuration | Literal["none"] = 30 * 86400.0
    """Interval between two checks of all data, which repair unreadable sectors ("none": they stay until a rebuild meets
    them). Default 30 days: Debian's and Red Hat's packages of mdadm check every month or every week."""
    latent_errors: Fraction = 0.013
    """Share of the hard disks in which sectors become unreadable within a year (default 1.3 %). Bairavasundaram et al.,
    "An Analysis of Latent Sector Errors in Disk Drives" (SIGMETRICS 2007): 3.45 % of 1.53 million disks in 32
    months."""
    afr: Literal["data-sheet", "field"] | Fraction = "data-sheet"
    """Share of the drives that fail within a year: "data-sheet" (default), "field" or a share for all drives. "field"
    is 1.57 %, what 300,000 hard disks did in 2024 (Backblaze Drive Stats for 2024); for solid-state drives the data
    sheet's."""
    stress: float = Field(default=1.0, ge=1, le=1000)
    """Factor on the failure rate of the other drives of a group from a failure until the array is whole again, for
    drives of one batch and the work of a rebuild (default 1: failures are independent)."""

    def document(self) -> dict[str, Any]:
        """The same as a document has it, with units."""
        times = ("life", "replacement", "scrub")
        given = self.model_dump(exclude_defaults=True)
        return {name: f"{v!r}s" if name in times and not isinstance(v, str) else v for name, v in given.items()}

    @field_validator("afr", "latent_errors")
    @classmethod
    def _below_all(cls, value: float | str) -> float | str:
        return value if isinstance(value, str) else below_all(value)


class ZfsParameters(Spec):
    """Module parameters of ZFS by their names, with the defaults of OpenZFS 2.3; 0: chosen by the size of memory."""

    zfs_arc_max: Size = 0
    """Bytes of the ARC."""
    zfs_dirty_data_max: Size = 0
    """Bytes of dirty data at which writers wait."""
    zfs_dirty_data_sync_percent: int = Field(default=20, ge=1, le=100)
    """Percent of that at which a transaction group is written."""
    zfs_delay_min_dirty_percent: int = Field(default=60, ge=0, le=99)
    zfs_delay_scale: int = Field(default=500_000, ge=0)
    """Percent of that from which on writers are delayed, and the scale of the delay (ns)."""
    zfs_txg_timeout: int = Field(default=5, ge=1, le=3600)
    """Seconds between transaction groups."""
    zfs_prefetch_disable: bool = False
    """If true, nothing is read ahead."""
    zfetch_min_distance: Size = 4 << 20
    zfetch_max_distance: PositiveSize = 64 << 20
    """Bytes that a stream is read ahead at first and at most."""
    l2arc_write_max: PositiveSize = 32 << 20
    l2arc_write_boost: Size = 32 << 20
    """Bytes that a cache device is fed at once, and as many more while the ARC is not full."""
    l2arc_headroom: int = Field(default=8, ge=1)
    l2arc_headroom_boost: int = Field(default=200, ge=100)
    """How far from the ends of the ARC's lists blocks to feed are looked for, in `l2arc_write_max` and in percent."""
    l2arc_feed_secs: int = Field(default=1, ge=1)
    l2arc_feed_min_ms: int = Field(default=200, ge=1)
    """Seconds between feeds, and milliseconds after one of more than half of the most."""
    zfs_vdev_max_active: int = Field(default=1000, ge=1)
    zfs_vdev_sync_read_min_active: int = Field(default=10, ge=1)
    zfs_vdev_sync_read_max_active: int = Field(default=10, ge=1)
    zfs_vdev_sync_write_min_active: int = Field(default=10, ge=1)
    zfs_vdev_sync_write_max_active: int = Field(default=10, ge=1)
    zfs_vdev_async_read_min_active: int = Field(default=1, ge=1)
    zfs_vdev_async_read_max_active: int = Field(default=3, ge=1)
    zfs_vdev_async_write_min_active: int = Field(default=2, ge=1)
    zfs_vdev_async_write_max_active: int = Field(default=10, ge=1)
    """I/Os that a member has outstanding: of all classes, and of each at least and at most."""
    zfs_vdev_async_write_active_min_dirty_percent: int = Field(default=30, ge=0, le=99)
    zfs_vdev_async_write_active_max_dirty_percent: int = Field(default=60, ge=1, le=100)
    """Percent of dirty data between which the number of asynchronous writes rises."""
    zfs_vdev_aggregation_limit: Size = 1 << 20
    zfs_vdev_aggregation_limit_non_rotating: Size = 128 << 10
    """Bytes of a request that I/Os are joined to, on hard disks and on others."""
    zfs_vdev_read_gap_limit: Size = 32 << 10
    zfs_vdev_write_gap_limit: Size = 4 << 10
    """Bytes of gaps that are read along, and of padding that is written along, to join I/Os."""
    zfs_immediate_write_sz: Size = 32 << 10
    """Bytes of a synchronous write from which on its record is written in place, without a log device."""
    zil_maxblocksize: PositiveSize = Field(default=128 << 10, ge=4096)
    zil_maxcopied: Size = 7680
    """Bytes of the largest log block, and of a write that one log block holds whole."""
    zfs_vdev_scrub_min_active: int = Field(default=1, ge=1)
    zfs_vdev_scrub_max_active: int = Field(default=3, ge=1)
    zfs_vdev_trim_min_active: int = Field(default=1, ge=1)
    zfs_vdev_trim_max_active: int = Field(default=2, ge=1)
    zfs_vdev_rebuild_min_active: int = Field(default=1, ge=1)
    zfs_vdev_rebuild_max_active: int = Field(default=3, ge=1)
    """I/Os of a scrub or resilver, of trims, and of a sequential rebuild that a member has outstanding."""
    zfs_vdev_nia_credit: int = Field(default=5, ge=0)
    zfs_vdev_nia_delay: int = Field(default=5, ge=0)
    """I/Os of a scan between those of a load, and after it until the scan has all its places."""
    zfs_scan_vdev_limit: PositiveSize = 16 << 20
    """Bytes that a scan has under way for each data member of a vdev."""
    zfs_scan_mem_lim_fact: int = Field(default=20, ge=1)
    """Part of memory that found blocks take until they are read: a twentieth."""
    zfs_scrub_min_time_ms: int = Field(default=1000, ge=0)
    zfs_resilver_min_time_ms: int = Field(default=3000, ge=0)
    """Least time of a scan in each transaction group that somebody waits for."""
    zfs_rebuild_max_segment: PositiveSize = 1 << 20
    zfs_rebuild_vdev_limit: PositiveSize = 64 << 20
    """Bytes of a member that a sequential rebuild reads at a time, and that it has under way for each member."""
    zfs_trim_extent_bytes_min: PositiveSize = 32 << 10
    zfs_trim_extent_bytes_max: PositiveSize = 128 << 20
    """Bytes of a range that is trimmed: smaller ones are left out, larger ones divided."""
    zfs_trim_queue_limit: int = Field(default=10, ge=1)
    zfs_trim_txg_batch: int = Field(default=32, ge=1)
    """Ranges that a trim has under way, and transaction groups between two autotrims of the same space."""
    spa_slop_shift: int = Field(default=SLOP_SHIFT, ge=1, le=31)
    """The pool keeps this power of two's part of its space back."""

    def log_rules(self, pool: PoolSpec, dataset: DatasetSpec) -> LogRules:
        """How the synchronous writes of a dataset are logged."""
        return LogRules(
            dataset.block_bytes,
            log_device=any(vdev.use == "log" for vdev in pool.vdevs),
            throughput=dataset.logbias == "throughput",
            immediate_bytes=self.zfs_immediate_write_sz,
            copied_bytes=self.zil_maxcopied,
            largest_block=self.zil_maxblocksize,
        )
