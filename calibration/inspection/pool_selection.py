"""Which pools of ZFS can be simulated, and of which drives: the largest first, where drives are not in use already.

Partitions of a drive that several vdevs or pools share become volumes of it. Caches and spares wait with the pool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from pydantic import ValidationError

from ...model.core.errors import InputError
from ...model.drives.catalogue import drive as catalogue_drive
from ...model.zfs.map.words import USES
from ...scenarios.description.pools import PoolSpec
from .chosen import ChosenPool, Selection, Slice
from .matching.hard_disk import Match, warning_of
from .pool_datasets import choose_datasets
from .refusal import listed
from .slices import ALIGNED, LEAST, whole
from .tools.findings import Findings, FoundDrive
from .tools.found_pools import FoundLeaf, FoundPool

_ASHIFT = 12
_WITHOUT_BLOCKS = ("cache", "spare")
_TELLS = "lsblk -b -o NAME,SIZE,ROTA,MODEL,SERIAL,PARTUUID"


class PoolSelection:
    """Chooses pools.

    Parameters
    ----------
    found
        Everything that was found.
    selection
        Gets the pools, their drives and notes.
    users
        Who uses a drive; pools are added.
    matched
        Gives the catalogue's drive for one, or the reason why there is none.
    refused
        Why pools cannot be simulated, by name.
    """

    def __init__(
        self,
        found: Findings,
        selection: Selection,
        users: dict[str, str],
        matched: Callable[[FoundDrive, None], Match | str],
        refused: Mapping[str, str],
    ) -> None:
        self.found = found
        self.selection = selection
        self.users = users
        self.matched = matched
        self.refused = refused

    def choose(self) -> None:
        """Take every pool that can be simulated."""
        pools = [pool for pool in self.found.pools.values() if pool.vdevs]
        for pool in self.found.pools.values():
            if not pool.vdevs:
                self._leave_out(pool, "nothing tells its devices; give zpool status too")
        for pool in sorted(pools, key=lambda each: (-len(each.leaves), each.name)):
            reason = self.refused.get(pool.name) or self._drives(pool) or self._take(pool)
            if reason is not None:
                self._leave_out(pool, reason)

    def _leave_out(self, pool: FoundPool, reason: str) -> None:
        self.selection.notes.append(f"{pool.name} ({pool.where}) is left out: {reason}")

    def _drives(self, pool: FoundPool) -> str | None:
        """Find a drive of the catalogue for every device; why it cannot be, if so."""
        taken = sorted(
            {self.users[leaf.device] for leaf in pool.leaves if leaf.device in self.users} - {*self.found.pools}
        )
        if taken:
            return f"its drives are in {listed(taken)} too"
        matches: dict[str, Match] = {}
        bare: list[str] = []
        gone: list[str] = []
        for leaf in pool.leaves:
            drive = self.found.drives.get(leaf.device)
            if leaf.device in self.found.arrays:
                if leaf.device not in self.selection.arrays:
                    return f"{leaf.device}, a part of it, is"
                continue
            assert drive is not None
            if drive.model is None and drive.capacity is None and drive.rough_capacity is None:
                (bare if leaf.serves else gone).append(leaf.device)
                continue
            matched = self.matched(drive, None)
            if isinstance(matched, str):
                return f"{leaf.device}: {matched}"
            matches[leaf.device] = matched
        if bare or not matches:
            return f"nothing tells size or model of {listed(dict.fromkeys([*bare, *gone]))}; give {_TELLS} too"
        like = next(iter(matches))
        for name in gone:
            matches[name] = matches[like]
            self.selection.copies[name] = like
        for name, matched in matches.items():
            self.selection.drives.setdefault(name, matched)
            self.users[name] = pool.name
            warning = warning_of(self.found.drives[name], pool.name)
            self.selection.notes += [warning] if warning is not None else []
        return None

    def _take(self, pool: FoundPool) -> str | None:
        """Put a pool into the selection; why it cannot be, if so."""
        names = self._names(pool)
        use, before, words = "data", "stripe", list[str]()
        failed, rebuilding = dict[str, str](), list[str]()
        for vdev in sorted(pool.vdevs, key=lambda each: USES.index(each.use)):
            if vdev.use != use:
                use, before = vdev.use, "stripe"
                words.append(use)
            words += [vdev.kind] if (vdev.kind, before) != ("stripe", "stripe") else []
            words += [names[id(leaf)] for leaf in vdev.leaves]
            before = vdev.kind
            if use not in _WITHOUT_BLOCKS:
                lost = [leaf for leaf in vdev.leaves if not leaf.serves]
                failed |= {names[id(leaf)]: leaf.where for leaf in lost}
                rebuilding += [names[id(leaf)] for leaf in lost if leaf.resilvering]
        words = ["stripe", *words] if len(words) == 1 else words  # one word alone is a kind
        ashift = pool.ashift.value if pool.ashift is not None else _ASHIFT
        chosen = ChosenPool(pool, " ".join(words), list(names.values()), failed, rebuilding, ashift)
        try:
            spec = PoolSpec.model_validate(chosen.fields)
            if not spec.capacity(self._size).usable:
                return "its drives are too small for a pool"
            notes = choose_datasets(chosen, self.found.datasets, self._size)
            PoolSpec.model_validate(chosen.fields)
        except ValidationError as error:
            return "; ".join(str(each["msg"]) for each in error.errors()[:2])
        except InputError as error:
            return f"{error.found}; {error.expected}"
        self.selection.notes += [*pool.notes, *notes, *_remarks(chosen)]
        self.selection.pools[pool.name] = chosen
        return None

    def _names(self, pool: FoundPool) -> dict[int, str]:
        """What a scenario calls each device: the drive, or a partition of it as a volume."""
        names = {}
        for leaf in pool.leaves:
            own = self._volume(leaf) if leaf.part is not None and self._is_partial(leaf) else None
            names[id(leaf)] = own or leaf.device
        return names

    def _is_partial(self, leaf: FoundLeaf) -> bool:
        """Whether other devices are on the same drive."""
        several = Counter(other.device for pool in self.found.pools.values() for other in pool.leaves)
        return several[leaf.device] > 1

    def _volume(self, leaf: FoundLeaf) -> str:
        """A partition as a volume: behind those that are there, as large as it is or as its share of the drive."""
        drive = leaf.device
        name = _part_name(leaf)
        sharing = [other for pool in self.found.pools.values() for other in pool.leaves if other.device == drive]
        capacity = self._size(drive)
        sizes = [self._part_bytes(other) for other in sharing]
        known = all(sizes) and sum(whole(size or 0) for size in sizes) + ALIGNED <= capacity
        start = ALIGNED
        for other, size in sorted(zip(sharing, sizes, strict=True), key=lambda pair: pair[0].part or 0):
            taken = whole(size or 0) if known else (capacity - ALIGNED) // len(sharing) // ALIGNED * ALIGNED
            if other is leaf:
                self.selection.volumes[name] = Slice(drive, start, max(taken, LEAST), leaf.where)
            start += taken
        return name

    def _part_bytes(self, leaf: FoundLeaf) -> int | None:
        """Bytes of a partition, where something tells them."""
        known = self.found.partitions.get(_part_name(leaf)) or next(
            (pool.sizes[leaf.name] for pool in self.found.pools.values() if leaf.name in pool.sizes), None
        )
        return known.value if known is not None else None

    def _size(self, name: str) -> int:
        """Bytes of a device."""
        if name in self.selection.volumes:
            return self.selection.volumes[name].size
        if name in self.found.arrays:
            return self.found.arrays[name].bytes
        matched = self.selection.drives[name]
        return catalogue_drive(matched.model).with_values(**matched.overrides).capacity


def _part_name(leaf: FoundLeaf) -> str:
    """The kernel's name of its partition."""
    return f"{leaf.device}{'p' if leaf.device[-1].isdecimal() else ''}{leaf.part}"


def _remarks(chosen: ChosenPool) -> list[str]:
    """What goes over the blocks of a pool and is not simulated: a resilver of which no device is named."""
    action = chosen.found.action
    if action is None or chosen.scan is not None:
        return []
    return [f"{chosen.found.name}: a {action.value} runs ({action.where}), and nothing tells of what; it is left out"]
