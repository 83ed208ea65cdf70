"""What LVM's volumes, the device mapper's and bcache's devices are on: drives, partitions and arrays.

The tools call the same device by its name, by its numbers, or by a name of LVM's alone. What lsblk shows below a device
is known to be a cache by the names that LVM gives its parts. RAID of LVM becomes an array like md's, which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .tools.facts import Fact
from .tools.findings import Findings, FoundArray, FoundMember, State
from .tools.found_volumes import CACHES, FoundCache, FoundVolume, Part
from .tools.volumes.bcache import BACKING, FAST

_SLOW = re.compile(r"(?P<name>.+)_(?P<kind>corig|wcorig)$")
_FAST = re.compile(r".+_(?:cdata|cvol(?:-cdata)?|cpool)$|.+-cdata$")
_METADATA = re.compile(r".+(?:_cmeta|-cmeta)$")
_POOL = re.compile(r"_cdata$|-cdata$")
_SPARE = "_pmspare"
_DEEPEST = 16
_RANK = 2
_STATES: dict[str, State] = {"A": "in use", "a": "rebuilding", "D": "failed", "-": "missing"}
_TELLS = "dmsetup ls, or lsblk -o NAME,KNAME,TYPE,SIZE,MAJ:MIN, too"


def connect_volumes(found: Findings) -> None:
    """Add the caches, and LVM's RAID as arrays."""
    stack = _Stack(found)
    stack.join_bcache()
    stack.name_parts()
    for volume in list(found.volumes.values()):
        target = volume.target.value if volume.target is not None else ""
        if target == "raid" and volume.raid is not None:
            stack.add_array(volume)
        elif target in CACHES:
            found.caches[volume.name] = stack.cache(volume)
        found.notes += volume.notes
    inside = {part for volume in found.volumes.values() for part in stack.below(volume)}
    plain = [
        volume
        for volume in found.volumes.values()
        if volume.target is not None
        and volume.target.value in ("linear", "striped", "thin")
        and volume.name not in inside
        and not volume.name.endswith(_SPARE)
    ]
    if plain:
        names = ", ".join(volume.name for volume in plain[:4]) + (", ..." if len(plain) > 4 else "")
        found.notes.append(f"{names} ({plain[0].where}): volumes without a cache; what they are on is simulated")


class _Stack:
    def __init__(self, found: Findings) -> None:
        self.found = found

    def resolve(self, name: str) -> str:
        """The name of a device that is called by its numbers or by another name."""
        for _ in range(_DEEPEST):
            if name in self.found.volumes or name not in self.found.aliases:
                break
            name = self.found.aliases[name]
        numbers = re.fullmatch(r"(\d+):(\d+)", name)
        return name if numbers is None else _by_numbers(int(numbers[1]), int(numbers[2])) or name

    def below(self, volume: FoundVolume) -> list[str]:
        """What it is on, by name."""
        named = [part.device for part in volume.parts]
        named += [each.value for each in (volume.slow, volume.fast, volume.metadata) if each is not None]
        return [self.resolve(name) for name in named]

    # bcache

    def join_bcache(self) -> None:
        """Bring the halves of a bcache together: by what lsblk or sysfs say, by their set, or as the only ones."""
        volumes = self.found.volumes
        halves = {name: volumes.pop(name) for name in list(volumes) if name.startswith((BACKING, FAST))}
        backing = {self.resolve(each.slow.value): each for each in halves.values() if each.slow is not None}
        fast = {self.resolve(each.fast.value): each for each in halves.values() if each.fast is not None}
        own = [each for name, each in volumes.items() if re.fullmatch(r"bcache\d+", name)]
        for number, (device, half) in enumerate(backing.items()):
            if not any(device in self.below(each) for each in own):
                loose = [each for each in own if not each.parts and each.slow is None]
                volume = loose[0] if loose else FoundVolume(f"bcache{number}", half.where)
                volume.slow = half.slow
                volumes[volume.name] = volume
                own += [] if loose else [volume]
        for volume in own:
            volume.target = volume.target or Fact("bcache", volume.where)
            self._halves(volume, backing, fast)

    def _halves(self, volume: FoundVolume, backing: dict[str, FoundVolume], fast: dict[str, FoundVolume]) -> None:
        parts = [self.resolve(part.device) for part in volume.parts]
        slow = self.resolve(volume.slow.value) if volume.slow is not None else None
        if slow is None:
            flash = [part for part in parts if part in fast or (part not in backing and self._is_solid(part))]
            rest = [part for part in parts if part not in flash]
            slow = next((part for part in parts if part in backing), rest[0] if len(rest) == 1 else None)
        half = backing.get(slow) if slow is not None else None
        group = half.set_id if half is not None else None
        of_set = [name for name, each in fast.items() if group is not None and each.set_id == group]
        others = of_set or [part for part in parts if part != slow] or list(fast)
        if half is not None:
            volume.options = half.options | volume.options
            volume.dirty = volume.dirty or half.dirty
        volume.slow = Fact(slow, half.where if half is not None else volume.where) if slow is not None else None
        volume.parts = []
        if len(others) == 1:
            other = fast.get(others[0])
            volume.fast = Fact(others[0], other.where if other is not None else volume.where)
            volume.options = (other.options if other is not None else {}) | volume.options

    def _is_solid(self, name: str) -> bool:
        drive = self.found.drives.get(self.found.parents.get(name, name))
        return name.startswith("nvme") or (
            drive is not None and drive.solid_state is not None and drive.solid_state.value
        )

    # LVM's names

    def name_parts(self) -> None:
        """Find caches that only their parts' names tell, and parts that are told by numbers alone."""
        for volume in self.found.volumes.values():
            names = [self.resolve(part.device) for part in volume.parts]
            slow = next((name for name in names if _SLOW.match(name)), None)
            if volume.target is None and slow is not None:
                write = slow.endswith("_wcorig")
                volume.target = Fact("writecache" if write else "cache", volume.where)
                volume.slow = Fact(slow, volume.where)
                quick = next((name for name in names if name != slow and not _METADATA.match(name)), None)
                volume.fast = Fact(quick, volume.where) if quick is not None else None
                metadata = next((name for name in names if _METADATA.match(name)), None)
                volume.metadata = Fact(metadata, volume.where) if metadata is not None else None
                volume.parts = []
            if volume.target is not None and volume.target.value in ("cache", "writecache"):
                self._by_name(volume)

    def _by_name(self, volume: FoundVolume) -> None:
        """The slow and the fast device by LVM's names, where the numbers say nothing."""
        group = volume.name.partition("-")[0]
        near = [name for name in self.found.volumes if name.startswith(f"{group}-")]
        if volume.slow is not None and self._is_unknown(volume.slow.value):
            own = [name for name in near if name in (f"{volume.name}_corig", f"{volume.name}_wcorig")]
            volume.slow = Fact(own[0], volume.slow.where) if own else volume.slow
        for field, pattern in (("fast", _FAST), ("metadata", _METADATA)):
            told: Fact[str] | None = getattr(volume, field)
            matching = [name for name in near if pattern.match(name)]
            data = [name for name in matching if name.endswith("cdata")] or matching
            if told is not None and self._is_unknown(told.value) and len(data) == 1:
                setattr(volume, field, Fact(data[0], told.where))

    def _is_unknown(self, name: str) -> bool:
        return re.fullmatch(r"\d+:\d+", self.resolve(name)) is not None

    # ranges

    def ranges(self, part: Part, depth: int = 0) -> list[Part] | str:
        """The ranges of drives, partitions, arrays and caches that a range of a device is, or why they are not told."""
        name = self.resolve(part.device)
        volume = self.found.volumes.get(name)
        target = volume.target.value if volume is not None and volume.target is not None else ""
        if re.fullmatch(r"\d+:\d+", name):
            return f"nothing tells which device {name} is; give {_TELLS}"
        if volume is None or target in CACHES or target == "raid":
            return [part._replace(device=name)]
        if depth > _DEEPEST:
            return f"{name} is on itself"
        if not volume.parts:
            return f"nothing tells what {name} ({volume.where}) is on; give lvs -a -o +devices, or dmsetup table"
        if target not in ("", "linear", "striped", "crypt", "thin", "thin-pool", "cache-pool"):
            return f"{name} ({volume.where}) is a {target}, which is not modeled"
        if len(volume.parts) == 1:
            return self.ranges(_inner(volume.parts[0], part), depth + 1)
        found: list[Part] = []
        for each in volume.parts:
            below = self.ranges(each, depth + 1)
            if isinstance(below, str):
                return below
            found += below
        return found

    def cache(self, volume: FoundVolume) -> FoundCache:
        """A cache on what its devices are on."""
        assert volume.target is not None
        kind = Fact(CACHES[volume.target.value], volume.target.where)
        cache = FoundCache(volume.name, volume.where, kind, length=volume.length, options=dict(volume.options))
        cache.dirty = volume.dirty
        named = [self.resolve(each.value) if each is not None else "" for each in (volume.slow, volume.fast)]
        if not all(named):
            missing = "slow" if not named[0] else "fast"
            cache.reason = f"nothing tells its {missing} device; give {_told_by(volume.target.value)} too"
            return cache
        fast, metadata = self._of_pool(named[1], volume, cache)
        slow_where = volume.slow.where if volume.slow is not None else volume.where
        fast_where = volume.fast.where if volume.fast is not None else volume.where
        cache.named = (
            Fact(named[0], slow_where),
            Fact(fast, fast_where),
            Fact(metadata, fast_where) if metadata is not None else None,
        )
        for field, name in (("slow", named[0]), ("fast", fast), ("metadata", metadata)):
            below = self.ranges(Part(name, 0, self._bytes(name))) if name is not None else []
            if isinstance(below, str):
                cache.reason = below
                return cache
            setattr(cache, field, below)
        slow = self.found.volumes.get(named[0])
        if slow is not None and slow.target is not None and slow.target.value == "striped" and len(cache.slow) > 1:
            cache.stripe = slow.stripe
        if cache.length is None and self._bytes(named[0]) is not None:
            cache.length = Fact(self._bytes(named[0]) or 0, volume.where)
        return cache

    def _of_pool(self, fast: str, volume: FoundVolume, cache: FoundCache) -> tuple[str, str | None]:
        """The data and the metadata of a cache pool; a cache volume has both."""
        pool = self.found.volumes.get(fast)
        if pool is not None:
            cache.options = pool.options | cache.options
        told = self.resolve(volume.metadata.value) if volume.metadata is not None else None
        inner = [self.resolve(part.device) for part in pool.parts] if pool is not None else []
        data = next((name for name in inner if _POOL.search(name)), fast)
        beside = _POOL.sub("-cmeta" if data.endswith("-cdata") else "_cmeta", data)
        return data, told or (beside if beside != data and beside in self.found.volumes else None)

    def _bytes(self, name: str) -> int | None:
        volume = self.found.volumes.get(name)
        if volume is not None:
            return volume.length.value if volume.length is not None else None
        known = self.found.partitions.get(name)
        return known.value if known is not None else None

    # RAID of LVM

    def add_array(self, volume: FoundVolume) -> None:
        """A RAID of LVM as an array of what its images are on."""
        assert volume.raid is not None
        level, algorithm, copies = volume.raid.value
        array = FoundArray(volume.name, volume.where, _RANK, level=Fact(level, volume.raid.where))
        array.size = volume.length
        array.chunk = volume.stripe
        array.algorithm = Fact(algorithm, volume.raid.where) if algorithm is not None else None
        array.copies = Fact(copies, volume.raid.where) if copies is not None else None
        letters = volume.health.value if volume.health is not None else ""
        for slot, part in enumerate(volume.parts):
            below = self.ranges(part) if part.device != "-" else []
            if isinstance(below, str) or len({each.device for each in below}) > 1:
                array.reason = (
                    below if isinstance(below, str) else f"{part.device}, a part of it, is on several devices"
                )
                break
            state = _STATES.get(letters[slot : slot + 1], "in use") if below else "missing"
            array.members.append(FoundMember(below[0].device if below else None, state, volume.where))
        if any(member.state == "rebuilding" for member in array.members):
            array.action = Fact("recover", volume.health.where if volume.health is not None else volume.where)
        self.found.arrays[volume.name] = array


def _inner(below: Part, part: Part) -> Part:
    """A range of a volume that has one part, as a range of that part."""
    start = below.start + (part.start or 0) if below.start is not None else None
    lengths = [each for each in (part.length, below.length) if each is not None]
    return Part(below.device, start, min(lengths) if lengths else None)


def _by_numbers(major: int, minor: int) -> str | None:
    """The kernel's name of a device by its numbers (Documentation/admin-guide/devices.txt)."""
    if major == 9:
        return f"md{minor}"
    disks = {8: 0, **{number: number - 64 for number in range(65, 72)}, **{n: n - 120 for n in range(128, 136)}}
    if major not in disks:
        return None
    disk, part = divmod(minor, 16)
    index = disks[major] * 16 + disk
    letters = (chr(ord("a") + index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)
    return f"sd{letters}{part or ''}"


def _told_by(target: str) -> str:
    return (
        "bcache-super-show of both devices, or lsblk,"
        if target == "bcache"
        else "lvs -a -o +devices, or dmsetup table,"
    )


def whole_devices(parts: Iterable[Part]) -> list[str]:
    """The devices of some ranges, each once."""
    return list(dict.fromkeys(part.device for part in parts))
