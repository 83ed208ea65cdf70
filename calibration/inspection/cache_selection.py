"""Which SSD caches can be simulated, and on what: whole drives and arrays, or ranges of them that become volumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from ...model.drives.catalogue import drive as catalogue_drive
from ...scenarios.description.caches import CacheSpec
from .chosen import ChosenCache, Joined, Selection, Slice
from .matching.hard_disk import Match, warning_of
from .refusal import listed
from .slices import ALIGNED, LEAST, whole
from .tools.facts import Fact
from .tools.findings import Findings, FoundDrive
from .tools.found_volumes import FoundCache, Part
from .volume_stack import whole_devices

_ALMOST = 0.97
"""A range of more than this share of a device is all of it."""
_TAKES: dict[str, tuple[str, ...]] = {
    "dm-cache": ("block_size", "migration_threshold", "state"),
    "dm-writecache": (
        "block_size",
        "high_watermark",
        "low_watermark",
        "autocommit_blocks",
        "autocommit_time",
        "pause_writeback",
    ),
    "bcache": ("block_size", "bucket_size", "sequential_cutoff", "writeback_percent", "writeback_delay"),
}
"""What a scenario says of each kind besides where writes go."""


class CacheSelection:
    """Chooses caches.

    Parameters
    ----------
    found
        Everything that was found.
    selection
        Gets the caches, their drives, volumes and notes.
    users
        Who uses a drive; caches are added.
    matched
        Gives the catalogue's drive for one, or the reason why there is none.
    device
        Gives the drive that a partition is on.
    refused
        Why caches cannot be simulated, by name.
    """

    def __init__(
        self,
        found: Findings,
        selection: Selection,
        users: dict[str, str],
        matched: Callable[[FoundDrive, None], Match | str],
        device: Callable[[str], str],
        refused: Mapping[str, str],
    ) -> None:
        self.found = found
        self.selection = selection
        self.users = users
        self.matched = matched
        self.device = device
        self.refused = refused
        # Ranges of all caches by the drive or array that they are on.
        self.ranges: dict[str, list[Part]] = {}

    def choose(self) -> None:
        """Take every cache that can be simulated."""
        for cache in self.found.caches.values():
            reason = self.refused.get(cache.name) or cache.reason or self._take(cache)
            if reason is not None:
                self.selection.notes.append(f"{cache.name} ({cache.where}) is left out: {reason}")
        for chosen in list(self.selection.caches.values()):
            reason = self._place(chosen)
            if reason is not None:
                del self.selection.caches[chosen.found.name]
                for name in chosen.volumes:
                    self.selection.volumes.pop(name, None)
                    self.selection.joined.pop(name, None)
                self.selection.notes.append(f"{chosen.found.name} ({chosen.found.where}) is left out: {reason}")

    def _take(self, cache: FoundCache) -> str | None:
        """Find its drives; why it cannot be, if so."""
        fast = self._of_fast(cache)
        every = [*cache.slow, *fast, *(cache.metadata if not self._beside(cache) else [])]
        drives: dict[str, Match] = {}
        for name in dict.fromkeys(self.device(part.device) for part in every):
            other = self.users.get(name)
            if name in self.found.caches:
                if name not in self.selection.caches:
                    return f"{name}, a part of it, is"
            elif name in self.found.arrays:
                if name not in self.selection.arrays:
                    return f"{name}, a part of it, is"
            elif other is not None and other not in self.selection.caches:
                return f"{name} is in {other} too"
            elif name not in self.selection.drives:
                drive = self.found.drives.get(name)
                if drive is None:
                    return f"nothing tells what {name} is; give lsblk -b -o NAME,SIZE,ROTA,MODEL"
                matched = self.matched(drive, None)
                if isinstance(matched, str):
                    return f"{name}: {matched}"
                drives[name] = matched
        same = {self.device(part.device) for part in cache.slow} & {self.device(part.device) for part in fast}
        if same:
            return f"its slow and its fast device are both on {listed(sorted(same))}"
        self.selection.drives |= drives
        chosen = ChosenCache(cache, list(dict.fromkeys(self.device(part.device) for part in every)))
        self.selection.caches[cache.name] = chosen
        for name in chosen.drives:
            if name in self.found.drives:
                self.users[name] = cache.name
                warning = warning_of(self.found.drives[name], cache.name)
                self.selection.notes += [warning] if warning is not None else []
        for part in every:
            self.ranges.setdefault(self.device(part.device), []).append(part)
        return None

    def _beside(self, cache: FoundCache) -> bool:
        """Whether the metadata is on the fast device, as LVM puts it."""
        return whole_devices(cache.metadata) == whole_devices(cache.fast)

    def _of_fast(self, cache: FoundCache) -> list[Part]:
        """The fast device with the metadata that is on it."""
        if not (cache.metadata and self._beside(cache) and len(cache.fast) == 1):
            return cache.fast
        data, metadata = cache.fast[0], cache.metadata[0]
        starts = [part.start for part in (data, metadata) if part.start is not None]
        lengths = [part.length for part in (data, metadata)]
        length = sum(each for each in lengths if each) if data.length is not None else None
        return [Part(data.device, min(starts) if starts else None, length)]

    def _place(self, chosen: ChosenCache) -> str | None:
        """Say what it is on; why that cannot be, if so."""
        cache = chosen.found
        slow = self._device(chosen, cache.slow, cache.named[0], cache.stripe)
        fast_parts = self._of_fast(cache)
        fast = self._device(chosen, fast_parts, cache.named[1], alone_whole=True)
        metadata = None
        if cache.metadata and not self._beside(cache):
            metadata = self._device(chosen, cache.metadata, cache.named[2])
        for name in (slow, fast):
            if name is None:
                return "its volumes do not fit on their devices"
        fields: dict[str, Any] = {"on": slow, "cache": fast, "kind": cache.kind.value}
        if "mode" in cache.options:
            fields["mode"] = cache.options["mode"].value
        size = cache.options["size"].value if "size" in cache.options else None
        if size is None and len(fast_parts) == 1 and fast == self.device(fast_parts[0].device):
            size = fast_parts[0].length
            whole_size = self._size(str(fast))
            size = size if size is not None and whole_size and size < _ALMOST * whole_size else None
        if size is not None:
            fields["size"] = size
        if metadata is not None:
            fields["metadata"] = metadata
        for key in _TAKES[cache.kind.value]:
            option: Fact[Any] | None = cache.options.get(key)
            if option is not None and option.value != CacheSpec.model_fields[key].default:
                fields[key] = option.value
        chosen.fields = fields
        try:
            CacheSpec.model_validate(fields)
        except ValidationError as error:
            return "; ".join(str(each["msg"]) for each in error.errors()[:2])
        self._remark(cache)
        return None

    def _remark(self, cache: FoundCache) -> None:
        policy = cache.options.get("policy")
        if policy is not None and policy.value not in ("smq", "default") and cache.kind.value == "dm-cache":
            said = f"{cache.name}: the policy {policy.value} ({policy.where}) is not modeled; smq takes its place"
            self.selection.notes.append(said)
        if cache.dirty is not None and cache.dirty.value:
            mebibytes = f"{cache.dirty.value / (1 << 20):,.0f} MiB"
            self.selection.notes.append(
                f"{cache.name}: {mebibytes} ({cache.dirty.where}) are on the fast device only, and lost with it"
            )

    def _device(
        self,
        chosen: ChosenCache,
        parts: list[Part],
        named: Fact[str] | None,
        stripe: Fact[int] | None = None,
        alone_whole: bool = False,
    ) -> str | None:
        """What a scenario calls some ranges; None if they do not fit."""
        names = []
        label = named.value if named is not None else ""
        for number, part in enumerate(parts):
            drive = self.device(part.device)
            sharing = self.ranges[drive]
            capacity = self._size(drive)
            most = part.length is None or not capacity or part.length >= _ALMOST * capacity
            if len(sharing) == 1 and (most or alone_whole):
                names.append(drive)
                continue
            name = label if len(parts) == 1 else f"{label}-{number}"
            name = f"{name}-part" if name in (drive, *self.found.drives, *self.found.arrays) else name
            made = self._slice(drive, part, capacity, chosen.found.where)
            if made is None:
                return None
            self.selection.volumes[name] = made
            chosen.volumes.append(name)
            names.append(name)
        if len(names) == 1:
            return names[0]
        if len(set(names)) < len(names):
            return None
        self.selection.joined[label] = Joined(
            tuple(names), stripe.value if stripe is not None else None, chosen.found.where
        )
        chosen.volumes.append(label)
        return label

    def _slice(self, drive: str, part: Part, capacity: int, where: str) -> Slice | None:
        """A range as a volume: at its place, or behind those before it where its place is not known."""
        sharing = self.ranges[drive]
        known = all(each.start is not None and each.device == drive for each in sharing)
        share = max(LEAST, (capacity - ALIGNED) // len(sharing) // ALIGNED * ALIGNED)
        if known:
            start = part.start or 0
            later = [each.start for each in sharing if each.start is not None and each.start > start]
            end = min([*later, start + (part.length or share), *([capacity] if capacity else [])])
            return Slice(drive, start, end - start, where) if end - start >= LEAST else None
        start = ALIGNED
        for each in sorted(sharing, key=lambda other: (other.device, other.start or 0)):
            size = whole(each.length or share)
            if each is part:
                end = min(start + size, capacity) if capacity else start + size
                return Slice(drive, start, end - start, where) if end - start >= LEAST else None
            start += size
        return None

    def _size(self, name: str) -> int:
        """Bytes of a drive, an array or a cache; 0 if nothing tells them."""
        if name in self.found.caches:
            length = self.found.caches[name].length
            return length.value if length is not None else 0
        if name in self.found.arrays:
            return self.found.arrays[name].bytes
        matched = self.selection.drives[name]
        return catalogue_drive(matched.model).with_values(**matched.overrides).capacity
