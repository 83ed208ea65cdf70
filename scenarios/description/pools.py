"""Pools of ZFS as data: vdevs of drives, and the volumes and files that stand on them.

A volume or a file of the pool `tank` called `vm` is the device `tank/vm`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ...model.core.errors import InputError
from ...model.files.description import Fraction, PositiveSize, ShareBelowAll, Size, Spec, refusal
from ...model.files.quantities import format_size
from ...model.zfs.map.capacity import SLOP_SHIFT, USUAL_BLOCK, PoolCapacity, pool_capacity
from ...model.zfs.map.draid import Draid
from ...model.zfs.map.kinds import STRIPE, vdevs_for
from ...model.zfs.map.pool import LOG, NORMAL, SPECIAL, PoolMap
from ...model.zfs.map.vdev import Vdev
from ...model.zfs.map.words import vdev_words
from ...model.zfs.records.metadata import METADATA_BYTES, POINTERS, indirect_psize

_ROLES = {"data": NORMAL, "special": SPECIAL, "log": LOG}
_LEAST_BLOCK, _MOST_RECORD, _MOST_VOLUME_BLOCK, _MOST_SMALL = 512, 16 << 20, 128 << 10, 1 << 20
_WASTE = 0.1
"""Share of space lost against blocks of 128 KiB from which on a warning says so."""


class VdevSpec(Spec):
    """A top-level vdev; a stripe makes one of each member."""

    kind: str = STRIPE
    """`stripe`, `mirror`, `raidz1`, `raidz2`, `raidz3`, or such as `draid2:4d:8c:1s`: parity, data columns of a group,
    members and distributed spares."""
    members: tuple[str, ...] = Field(min_length=1)
    """Drives, arrays, partitions or other devices."""
    use: Literal["data", "special", "log", "cache", "spare"] = "data"
    """What it is for; `special` takes metadata and small blocks, `log` the intent log, `cache` the L2ARC."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        try:
            vdevs_for(self.kind, len(self.members), 12)
        except InputError as error:
            raise refusal(error.found.removeprefix("found "), error.expected, ("kind",)) from None
        if self.use in ("cache", "spare") and self.kind != STRIPE:
            raise refusal(f"{self.kind} for {self.use}", "expected: single devices", ("kind",))
        if self.use == "log" and self.kind not in (STRIPE, "mirror"):
            raise refusal(f"{self.kind} for log", "expected: stripe or mirror", ("kind",))
        return self


class DatasetSpec(Spec):
    """A volume, or a file in a file system of its own."""

    volume: PositiveSize | Literal["all"] | None = None
    file: PositiveSize | Literal["all"] | None = None
    """Size of the volume, or of the file; one of the two is given. `all` is what the others leave of the pool."""
    recordsize: PositiveSize = 128 << 10
    """Of a file."""
    volblocksize: PositiveSize = 16 << 10
    """Of a volume."""
    sync: Literal["standard", "always", "disabled"] = "standard"
    logbias: Literal["latency", "throughput"] = "latency"
    primarycache: Literal["all", "metadata", "none"] = "all"
    secondarycache: Literal["all", "metadata", "none"] = "all"
    """ZFS's properties of these names."""
    direct: Literal["standard", "disabled"] = "standard"
    """Of a file: whether O_DIRECT goes past the ARC, which is not simulated. `fio` with direct=1 needs `disabled`; a
    load goes through the ARC either way."""
    compression: float = Field(default=1.0, ge=1.0, le=1000.0)
    """Ratio of a block's size to what compression leaves of it; 1 for none."""
    compressor: Literal["lz4", "zstd"] = "lz4"
    checksum: Literal["fletcher4", "sha256", "blake3", "off"] = "fletcher4"
    """What compresses blocks, if anything does, and what sums them: both take CPU time."""
    special_small_blocks: Size = 0
    """Blocks up to this size go to the special vdevs."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.volume is None) == (self.file is None):
            found = "neither volume nor file" if self.volume is None else "both volume and file"
            raise refusal(found, "expected: the size of one of them", ("volume",))
        for field, most in (
            ("recordsize", _MOST_RECORD),
            ("volblocksize", _MOST_VOLUME_BLOCK),
            ("special_small_blocks", _MOST_SMALL),
        ):
            value = getattr(self, field)
            if value and (value & (value - 1) or not _LEAST_BLOCK <= value <= most):
                allowed = f"expected: a power of two from {_LEAST_BLOCK}B to {format_size(most)}"
                raise refusal(format_size(value), allowed, (field,))
        return self

    @property
    def size(self) -> int | None:
        """Bytes, of a volume in whole blocks; None: what the others leave."""
        given = self.file if self.volume is None else self.volume
        if not isinstance(given, int):
            return None
        return given if self.volume is None else -(-given // self.volblocksize) * self.volblocksize

    @property
    def block_bytes(self) -> int:
        """Bytes of a record of the file, or of a block of the volume."""
        return self.recordsize if self.volume is None else self.volblocksize

    @property
    def stored_bytes(self) -> int:
        """Bytes of a block after compression, in whole sectors of 512 bytes."""
        return -(-int(self.block_bytes / self.compression) // _LEAST_BLOCK) * _LEAST_BLOCK


class ScanSpec(Spec):
    """What goes over the blocks of a pool meanwhile."""

    action: Literal["resilver", "rebuild", "scrub", "trim"] | None = None
    """`scrub` reads all blocks, `trim` discards what is free. `resilver` writes what the members in `rebuilding` lack.
    `rebuild` does so in the order of space, without checksums (`zpool replace -s`), on a mirror or onto the distributed
    spares of a dRAID. Unless given, members are rebuilt onto distributed spares where there are some, and resilvered
    elsewhere."""
    done: ShareBelowAll = 0.0
    """Share of the blocks that is done when the run begins."""


class PoolSpec(Spec):
    """A pool of ZFS."""

    vdevs: Annotated[tuple[VdevSpec, ...], Field(min_length=1)]
    """Its vdevs; in a file also the words of `zpool create`: "raidz2 disk0 disk1 disk2 disk3 log ssd0"."""
    ashift: int = Field(default=12, ge=9, le=16)
    """log2 of the smallest block in bytes."""
    datasets: dict[str, DatasetSpec] = Field(default_factory=dict)
    """Volumes and files by name."""
    failed: tuple[str, ...] = ()
    rebuilding: tuple[str, ...] = ()
    """Members that are lost, and those of them whose place new drives or distributed spares have taken."""
    scan: ScanSpec | None = None
    """A scrub, resilver or rebuild; the last two with `rebuilding`."""
    used: ShareBelowAll = 0.0
    """Share of the data vdevs that other data take."""
    fragmentation: Fraction = 0.0
    """Fragmentation of the free space, FRAG of `zpool list`."""
    autotrim: bool = False
    """If true, drives are told of freed space."""
    arc: Literal["warm", "cold"] = "warm"
    """What the ARC holds at the beginning: what the loads leave in it in the long run, or nothing, as after an
    import."""

    @model_validator(mode="before")
    @classmethod
    def _in_words(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = {"vdevs": data}
        if not isinstance(data, Mapping) or not isinstance(data.get("vdevs"), str):
            return data
        try:
            found = vdev_words(data["vdevs"].split())
        except InputError as error:
            raise refusal(error.found.removeprefix("found "), error.expected, ("vdevs",)) from None
        return {**data, "vdevs": [{"use": each.use, "kind": each.kind, "members": each.members} for each in found]}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        members = self.members
        twice = next((name for name in members if members.count(name) > 1), None)
        if twice is not None:
            raise refusal(f"{twice} twice", "expected: each device once", ("vdevs",))
        if not any(vdev.use == "data" for vdev in self.vdevs):
            raise refusal("no vdev for data", "expected: at least one", ("vdevs",))
        self._check_failed()
        whole = [name for name, dataset in self.datasets.items() if dataset.size is None]
        if len(whole) > 1:
            raise refusal(f"all for {' and '.join(whole)}", "expected: for one of them", ("datasets", whole[1]))
        for name, dataset in self.datasets.items():
            if dataset.block_bytes < 1 << self.ashift:
                field = "recordsize" if dataset.volume is None else "volblocksize"
                found = f"{format_size(dataset.block_bytes)}, below the smallest block of ashift {self.ashift}"
                raise refusal(found, f"expected: at least {format_size(1 << self.ashift)}", ("datasets", name, field))
        return self

    def _check_failed(self) -> None:
        pool, leaves = self.map(), self.leaves()
        for name in self.failed:
            if name not in leaves:
                raise refusal(f"{name} is not in a vdev", f"expected: {', '.join(leaves)}", ("failed",))
        for number, vdev in enumerate(pool.vdevs):
            lost = [leaves[leaf] for leaf in pool.leaves(number) if leaves[leaf] in self.failed]
            if len(lost) > vdev.parity:
                found = f"{', '.join(lost)} of one vdev failed"
                raise refusal(found, f"expected: up to {vdev.parity}, which it survives", ("failed",))
        self._check_scan(pool)

    def _check_scan(self, pool: PoolMap) -> None:
        healthy = [name for name in self.rebuilding if name not in self.failed]
        if healthy:
            raise refusal(
                f"{healthy[0]} has not failed", f"expected: {', '.join(self.failed) or 'none'}", ("rebuilding",)
            )
        logs = [name for vdev in self.vdevs if vdev.use == "log" for name in vdev.members if name in self.rebuilding]
        if logs:
            found = f"{logs[0]}, a log device, which holds no blocks to rebuild"
            raise refusal(found, "expected: members of other vdevs", ("rebuilding",))
        wrong = self.action is None or (self.action in ("scrub", "trim")) == bool(self.rebuilding)
        if self.scan is not None and wrong:
            found = f"a {self.action or 'scan'} {'with' if self.rebuilding else 'without'} a member in rebuilding"
            raise refusal(
                found, "expected: resilver or rebuild with `rebuilding`, scrub or trim without", ("scan", "action")
            )
        if self.action == "rebuild":
            hurt = self._hurt(pool)
            whole = [number for number in hurt if not pool.vdevs[number].rebuilds_in_order]
            if len(hurt) > 1 or whole:
                found = f"a rebuild of {', '.join(self.rebuilding)}"
                allowed = "expected: members of one mirror, or of one dRAID up to its distributed spares"
                raise refusal(found, allowed, ("scan", "action"))

    def _hurt(self, pool: PoolMap) -> list[int]:
        """Numbers of the vdevs with members that are rebuilding."""
        leaves = self.leaves()
        names = set(self.rebuilding)
        return [each for each in range(len(pool.vdevs)) if names & {leaves[leaf] for leaf in pool.leaves(each)}]

    @property
    def action(self) -> Literal["resilver", "rebuild", "scrub", "trim"] | None:
        """What goes over its blocks; None: nothing."""
        if self.scan is not None and self.scan.action is not None:
            return self.scan.action
        if not self.rebuilding:
            return None
        pool = self._placed()
        return "rebuild" if all(isinstance(pool.vdevs[each], Draid) for each in self._hurt(pool)) else "resilver"

    @property
    def members(self) -> tuple[str, ...]:
        """All its devices, in the order of the vdevs; those with blocks in the order of :meth:`map`'s members."""
        return tuple(member for vdev in self.vdevs for member in vdev.members)

    def leaves(self) -> tuple[str, ...]:
        """The devices of :meth:`map`'s members: all but caches and spares."""
        return tuple(member for vdev in self.vdevs if vdev.use in _ROLES for member in vdev.members)

    @property
    def moves_data(self) -> bool:
        """Whether a member is being rebuilt."""
        return bool(self.rebuilding)

    def at_rest(self) -> Self:
        """The same without a scan; members that are lost stay lost."""
        return self.model_copy(update={"rebuilding": (), "scan": None})

    def whole(self) -> Self:
        """The same with all members."""
        return self.at_rest().model_copy(update={"failed": ()})

    def with_last_rebuilding(self, done: float) -> Self:
        """The same with only the last member of its data vdevs being rebuilt, of which a share is done."""
        placed, action = self._placed(), None if self.scan is None else self.scan.action
        vdev = max(number for number in placed.of_role(NORMAL) if placed.vdevs[number].parity)
        lost = (self.leaves()[placed.leaves(vdev)[-1]],)
        scan = ScanSpec(action=None if action in ("scrub", "trim") else action, done=done)
        return self.model_copy(update={"failed": lost, "rebuilding": lost, "scan": scan})

    @property
    def is_redundant(self) -> bool:
        """Whether a data vdev survives the loss of a member."""
        placed = self._placed()
        return any(placed.vdevs[number].parity for number in placed.of_role(NORMAL))

    @property
    def caches(self) -> tuple[str, ...]:
        """The devices of the L2ARC."""
        return tuple(member for vdev in self.vdevs if vdev.use == "cache" for member in vdev.members)

    def map(self) -> PoolMap:
        """Where blocks lie: those of members that are rebuilt onto distributed spares are there."""
        placed = self._placed()
        if self.action == "rebuild":
            leaves = self.leaves()
            for number in self._hurt(placed):
                vdev = placed.vdevs[number]
                if isinstance(vdev, Draid):
                    lost = [
                        place for place, leaf in enumerate(placed.leaves(number)) if leaves[leaf] in self.rebuilding
                    ]
                    vdev.spared = {member: spare for spare, member in enumerate(lost[: vdev.spares])}
        return placed

    def _placed(self) -> PoolMap:
        made = [
            (vdev, _ROLES[spec.use])
            for spec in self.vdevs
            if spec.use in _ROLES
            for vdev in vdevs_for(spec.kind, len(spec.members), self.ashift)
        ]
        return PoolMap([vdev for vdev, _ in made], [role for _, role in made])

    def capacity(self, size_of: Callable[[str], int], slop_shift: int = SLOP_SHIFT) -> PoolCapacity:
        """What it holds; `size_of` gives the size of a device."""
        return pool_capacity(self.map(), [size_of(name) for name in self.leaves()], slop_shift)

    def usable(self, size_of: Callable[[str], int], slop_shift: int = SLOP_SHIFT) -> int:
        """Bytes of data: its volumes and files as they are, other data and what is left in blocks of 128 KiB."""
        sizes = {name: self.size(name, size_of) for name in self.datasets}
        padded = sum(self._taken(self.datasets[name], size) for name, size in sizes.items())
        return max(0, self.capacity(size_of, slop_shift).usable - padded + sum(sizes.values()))

    def size(self, dataset: str, size_of: Callable[[str], int]) -> int:
        """Bytes of a volume or file; `size_of` gives the size of a device."""
        spec = self.datasets[dataset]
        return spec.size if spec.size is not None else self._most(spec, self._left(size_of))

    def _left(self, size_of: Callable[[str], int]) -> int:
        """Bytes that other data and the volumes and files of a given size leave, in blocks of 128 KiB."""
        usable = int(self.capacity(size_of).usable * (1.0 - self.used))
        return usable - sum(self._taken(spec, spec.size) for spec in self.datasets.values() if spec.size is not None)

    def _taken(self, spec: DatasetSpec, size: int) -> int:
        """Bytes that a volume or file of `size` takes, in blocks of 128 KiB of the same space."""
        return int(size / spec.block_bytes * self._of_block(spec))

    def _most(self, spec: DatasetSpec, left: int) -> int:
        """Bytes of the largest volume or file that takes `left`."""
        return int(left / self._of_block(spec)) * spec.block_bytes

    def _of_block(self, spec: DatasetSpec) -> float:
        """Bytes that a block takes with its part of a block of pointers, in blocks of 128 KiB of the same space."""
        pointers = (indirect_psize(POINTERS), METADATA_BYTES)
        return max(
            (vdev.asize(spec.stored_bytes) + sum(map(vdev.asize, pointers)) / POINTERS)
            / (vdev.asize(USUAL_BLOCK) / USUAL_BLOCK)
            for vdev in self._data_vdevs()
        )

    def _data_vdevs(self) -> Iterator[Vdev]:
        pool = self.map()
        return (pool.vdevs[number] for number in pool.of_role(NORMAL))

    def check_room(self, name: str, size_of: Callable[[str], int]) -> None:
        """Refuse members that are too small, and more volumes and files than the pool `name` has room for."""
        if not self.capacity(size_of).usable:
            least = min(self.leaves(), key=size_of)
            found = f"{least} of {format_size(size_of(least))}"
            raise refusal(found, "expected: members with room for a metaslab", ("pools", name, "vdevs"))
        left, whole = self._left(size_of), [each for each, spec in self.datasets.items() if spec.size is None]
        if left < 0 or (whole and not self._most(self.datasets[whole[0]], left)):
            taken = sum(self._taken(spec, spec.size or 0) for spec in self.datasets.values())
            found = f"volumes and files that take {format_size(taken)}"
            raise refusal(found, f"expected: up to {format_size(max(left + taken, 0))}", ("pools", name, "datasets"))

    def warnings(self) -> Iterator[str]:
        """What ZFS allows and nobody wants: space lost to parity of small blocks, metadata without redundancy."""
        pool = self.map()
        safe = all(pool.vdevs[number].parity for number in pool.of_role(NORMAL))
        if safe and not all(pool.vdevs[number].parity for number in pool.of_role(SPECIAL)):
            yield "a special vdev without redundancy: the whole pool is lost with it"
        for name, dataset in self.datasets.items():
            waste = self._waste(dataset)
            if waste >= _WASTE:
                field = "recordsize" if dataset.volume is None else "volblocksize"
                size = format_size(dataset.block_bytes)
                yield f"{name}: a {field} of {size} takes {100 * waste:.0f} % more space than blocks of 128 KiB"

    def _waste(self, dataset: DatasetSpec) -> float:
        """Share of space that its blocks take more than blocks of 128 KiB, on the vdev where that is most."""
        stored = dataset.stored_bytes
        return max(
            vdev.asize(stored) / stored / (vdev.asize(USUAL_BLOCK) / USUAL_BLOCK) - 1 for vdev in self._data_vdevs()
        )


def pool_devices(pools: Mapping[str, PoolSpec]) -> dict[str, tuple[PoolSpec, DatasetSpec]]:
    """The volumes and files of pools by their names as devices."""
    return {
        f"{name}/{dataset}": (pool, spec) for name, pool in pools.items() for dataset, spec in pool.datasets.items()
    }
