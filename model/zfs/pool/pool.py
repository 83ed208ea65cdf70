"""A pool: its members, free space, cache and transaction groups, and the volumes and files on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.device import Device
from ...core.engine import Engine
from ...core.errors import InputError
from ...core.request import FLUSHER_ISSUER
from ...tasks.host import Host
from ..allocation.allocator import Allocator
from ..allocation.fill import Fill
from ..arc.cache import Arc
from ..arc.dbuf_cache import CACHE_SHIFT, DbufCache
from ..arc.second_level import SecondLevel
from ..arc.visits import RandomVisits, SequentialVisits
from ..cpu.costs import NO_COSTS, Costs
from ..cpu.task_queue import TaskQueue
from ..intent_log.records import LogRules
from ..map.capacity import USUAL_BLOCK
from ..map.labels import data_bytes
from ..map.pool import LOG, NORMAL, SPECIAL, PoolMap
from ..records.block_table import BlockTable
from ..records.metadata import METADATA_BYTES, POINTERS, indirect_psize
from .begin import keep_pointers, settle_loads
from .cache_devices import CacheDevices
from .dataset import Dataset
from .dirty_data import DirtyData
from .leaf_queue import LeafQueue
from .members import Members
from .settings import DatasetSettings, PoolSettings
from .transaction_groups import TransactionGroups


class Pool:
    """A pool.

    Parameters
    ----------
    engine, host
        The clock, and the CPU; without one, work takes no time.
    name
        Shown in results.
    pool
        Its vdevs.
    devices, rotating
        Its members, and which are hard disks.
    settings
        See :class:`PoolSettings`.
    datasets
        Volumes and files, which are written one after the other before the run.
    lost, rebuilding
        Members that do not have all data, and those of them that are new.

    Attributes
    ----------
    datasets
        By name.
    arc, members, allocator, dirty, groups, costs
        Its parts.
    fills
        What of each vdev is in use when the run begins.
    tables
        The blocks that are there then, with their number, in the order of their places.
    """

    __slots__ = (
        *("allocator", "arc", "caches", "costs", "datasets", "dirty", "fills", "groups", "members", "name", "settings"),
        "tables",
    )

    def __init__(
        self,
        engine: Engine,
        host: Host | None,
        name: str,
        pool: PoolMap,
        devices: Sequence[Device],
        rotating: Sequence[bool],
        settings: PoolSettings,
        datasets: Sequence[DatasetSettings],
        lost: frozenset[int] = frozenset(),
        rebuilding: frozenset[int] = frozenset(),
        caches: Sequence[Device] = (),
    ) -> None:
        self.name = name
        self.settings = settings
        queue = settings.queue
        self.dirty = DirtyData(
            settings.dirty,
            settings.dirty.limit(settings.memory),
            queue.async_write_min_active,
            queue.async_write_max_active,
            queue.async_write_active_min_dirty_percent,
            queue.async_write_active_max_dirty_percent,
        )
        self.members = Members(engine, pool, devices, rotating, queue, self.dirty, lost, rebuilding)
        self.arc = Arc(settings.arc_bytes)
        dbufs = DbufCache(settings.arc_bytes >> CACHE_SHIFT)
        self.costs = costs = NO_COSTS if host is None else Costs.of(host.prices, settings.vectors)
        threads = TaskQueue(host)
        sizes = [
            each.size(min(devices[leaf].capacity for leaf in pool.leaves(vdev))) for vdev, each in enumerate(pool.vdevs)
        ]
        tables, used = _tables(pool, sizes, settings, datasets)
        self.fills = fills = [
            Fill(size, taken, settings.fragmentation if role == NORMAL else 0.0, vdev.place_bytes)
            for size, taken, role, vdev in zip(sizes, used, pool.roles, pool.vdevs, strict=True)
        ]
        self.allocator = Allocator(pool, fills, settings.autotrim)
        issuer = engine.thread_issuer(FLUSHER_ISSUER)
        timeout_s = settings.dirty.zfs_txg_timeout
        self.groups = TransactionGroups(engine, self.members, self.allocator, self.dirty, timeout_s, issuer, host)
        # What other data take is in blocks of the usual size.
        self.tables: list[tuple[BlockTable, int]] = [
            (table, int(size * settings.used) // table.asize(vdev))
            for vdev, size in enumerate(sizes)
            if pool.roles[vdev] == NORMAL
            for table in [BlockTable(pool, fills, [vdev], [0] * len(sizes), USUAL_BLOCK)]
        ]
        self.caches: CacheDevices | None = None
        if caches:
            rooms = [data_bytes(device.capacity) for device in caches]
            kept = [
                frozenset([number + 1 for number, each in enumerate(datasets) if each.secondarycache == value])
                for value in ("metadata", "none")
            ]
            level = SecondLevel(self.arc, rooms, settings.feed, kept[0], kept[1])
            leaves = [LeafQueue(engine, device, queue, self.dirty, False) for device in caches]
            self.caches = CacheDevices(engine, level, leaves, settings.feed, issuer)
        self.datasets: dict[str, Dataset] = {}
        for number, (each, (role, bases, pointers_role, pointer_bases)) in enumerate(
            zip(datasets, tables, strict=True)
        ):
            psize = each.psize or each.block_bytes
            pointer_psize = _pointer_psize(each)
            data = BlockTable(pool, fills, pool.of_role(role), bases, psize)
            pointers = BlockTable(
                pool, fills, pool.of_role(pointers_role), pointer_bases, pointer_psize, METADATA_BYTES
            )
            blocks = -(-each.size // each.block_bytes)
            self.tables += [(data, blocks), (pointers, -(-blocks // POINTERS))]
            self.datasets[each.name] = Dataset(
                engine,
                host,
                each.name,
                number + 1,
                each.size,
                each.block_bytes,
                data,
                pointers,
                self.arc,
                dbufs,
                self.members,
                self.allocator,
                self.dirty,
                self.groups,
                costs if host is None else Costs.of(host.prices, settings.vectors, each.checksum, each.compressor),
                threads,
                self.caches,
                each.rules or LogRules(each.block_bytes, bool(pool.of_role(LOG))),
                issuer,
                each.sync,
                each.primarycache == "all",
                each.primarycache != "none",
                settings.prefetch,
            )
        if settings.warm:
            keep_pointers(self.arc, self.datasets.values())

    def settle(
        self, random: Mapping[str, Sequence[RandomVisits]], sequential: Mapping[str, Sequence[SequentialVisits]]
    ) -> None:
        """Let the ARC hold what loads on volumes and files, by their names, leave in it in the long run."""
        second = None if self.caches is None else self.caches.level
        settle_loads(self.arc, self.datasets, random, sequential, second)


def _pointer_psize(dataset: DatasetSettings) -> int:
    blocks = -(-dataset.size // dataset.block_bytes)
    return indirect_psize(min(POINTERS, blocks))


_Bases = tuple[str, list[int], str, list[int]]


def _tables(
    pool: PoolMap, sizes: Sequence[int], settings: PoolSettings, datasets: Sequence[DatasetSettings]
) -> tuple[list[_Bases], list[int]]:
    """Where each dataset begins on each vdev, with its indirect blocks behind it, and how much of each is used."""
    used = [
        int(size * settings.used) // vdev.place_bytes * vdev.place_bytes if role == NORMAL else 0
        for size, role, vdev in zip(sizes, pool.roles, pool.vdevs, strict=True)
    ]
    empty = [Fill(size, 0) for size in sizes]
    special = SPECIAL if pool.of_role(SPECIAL) else NORMAL
    found: list[_Bases] = []
    for each in datasets:
        psize = each.psize or each.block_bytes
        role = pool.role(psize, each.special_small_blocks)
        blocks = -(-each.size // each.block_bytes)
        parts: list[list[int]] = []
        pointers = -(-blocks // POINTERS)
        for kind, count, size, between in (
            (role, blocks, psize, 0),
            (special, pointers, _pointer_psize(each), METADATA_BYTES),
        ):
            vdevs = pool.of_role(kind)
            parts.append(list(used))
            taken = BlockTable(pool, empty, vdevs, used, size, between).used(count)
            for vdev, more in zip(vdevs, taken, strict=True):
                used[vdev] += more
        found.append((role, parts[0], special, parts[1]))
    for vdev, (taken_bytes, size) in enumerate(zip(used, sizes, strict=True)):
        if taken_bytes > size:
            words = f"volumes and files that take {taken_bytes} bytes of vdev {vdev}, with parity and padding"
            raise InputError("pools", words, f"expected: up to {size}")
    return found, used
