"""Recorded trims: no range below 32 KiB, in order, and exact ranges in the metaslabs that are empty.

Which blocks the pool's own metadata take is not recorded, so only metaslabs without any are compared range by range.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....model.zfs.allocation.fill import Fill
from ....model.zfs.map.capacity import metaslab_shift
from ....model.zfs.map.labels import FRONT_SECTORS
from ....model.zfs.map.vdev import SECTOR_BYTES, Vdev
from ....model.zfs.scan.settings import TrimSettings
from ....model.zfs.scan.trim import trimmed_ranges
from .recording import Phase, Recording

LEAST_SECTORS = TrimSettings().extent_min // SECTOR_BYTES
_ASCENDING = 0.98
"""Share of the ranges of a member that must come after the one before."""
_MEMBER_BYTES = 638 << 20
"""Bytes of a member's partition, or a little less: only whole metaslabs are trimmed."""


def trim_differences(recording: Recording, phase: Phase) -> tuple[list[str], int]:
    """What is different in the ranges of a trim, and how many were compared."""
    got: dict[int, list[tuple[int, int]]] = {}
    for request in phase.requests:
        if request.rwbs.startswith("D"):
            got.setdefault(request.member, []).append((request.sector, request.sectors))
    found: list[str] = []
    compared = 0
    pool = recording.pool
    for slot, member in _slots(pool.members, sorted(got)).items():
        ranges = got[member]
        compared += len(ranges)
        found += [f"member {member}: {at} + {size} is below 32 KiB" for at, size in ranges if size < LEAST_SECTORS]
        ascending = sum(after > at for (at, _), (after, _) in pairwise(ranges))
        if ascending < _ASCENDING * (len(ranges) - 1):
            found += [f"member {member}: {ascending} of {len(ranges)} ranges ascend"] * len(ranges)
        vdev = max(number for number, first in enumerate(pool.first) if first <= slot)
        for whole in _empty_metaslabs(pool.vdevs[vdev], slot - pool.first[vdev]):
            inside = [each for each in ranges if whole[0] <= each[0] + FRONT_SECTORS and each[0] < sum(whole)]
            if len(inside) == 1 and inside[0][0] <= whole[0] + LEAST_SECTORS:
                compared += 1
                found += [] if inside == [whole] else [f"member {member}: recorded {inside}; the model has {whole}"]
    return found, compared


def _empty_metaslabs(vdev: Vdev, member: int) -> Iterator[tuple[int, int]]:
    """Sector and sectors of what is trimmed of each metaslab, if it and the one before are empty."""
    size = vdev.size(_MEMBER_BYTES)
    metaslab = 1 << metaslab_shift(size)
    for start in range(metaslab, size // metaslab * metaslab, metaslab):
        _, second, *_ = trimmed_ranges(vdev, Fill(size, start - metaslab), member)
        yield second.sector, second.sectors


def _slots(slots: int, members: list[int]) -> dict[int, int]:
    """The recorded member of each slot: a new one has a number above all others, and the slot of a lost one."""
    own = {member: member for member in members if member < slots}
    free = [slot for slot in range(slots) if slot not in own]
    return own | dict(zip(free, [member for member in members if member >= slots], strict=False))
