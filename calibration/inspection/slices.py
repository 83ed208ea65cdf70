"""Arrays on partitions of the same drives: which can share a drive, and where each partition lies.

Only the sizes of partitions are known, by what their arrays use of them. They are laid one after the other in the order
of their numbers, as partitioning tools do: the first begins at 1 MiB, and all end at whole MiB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ...model.layouts import LEVELS
from .chosen import Chosen, Slice
from .tools.findings import FoundArray

ALIGNED = 1 << 20
LEAST = 16 << 20
"""Bytes of a partition; a smaller one may not hold a chunk."""
_NUMBER = re.compile(r"(\d+)$")


def whole(size: int) -> int:
    """Bytes, up to whole MiB."""
    return -(-size // ALIGNED) * ALIGNED


def is_on_partitions(array: FoundArray, device: Callable[[str], str], used: int | None) -> bool:
    """Whether an array can share its drives: one whose members and spares are partitions of known size.

    Parameters
    ----------
    array
        The array.
    device
        Gives the drive that a member is a part of.
    used
        Bytes that it uses of each member, if known.
    """
    named = [*(member.device for member in array.members if member.device is not None), *array.spares]
    plain = array.controller is None and array.journal is None and bool(named)
    return plain and used is not None and used >= LEAST and all(device(name) != name for name in named)


def slices(arrays: Iterable[tuple[Chosen, int]]) -> dict[str, Slice]:
    """The partitions of some arrays, each with the bytes that it uses of a member."""
    parts: dict[str, list[tuple[int, str, int, str]]] = {}
    for chosen, used in arrays:
        for drive, name, where in chosen.partitions:
            number = _NUMBER.search(name)
            parts.setdefault(drive, []).append((int(number[1]) if number else 0, name, whole(used), where))
    found = {}
    for drive, several in parts.items():
        start = ALIGNED
        for _, name, size, where in sorted(several):
            found[name] = Slice(drive, start, size, where)
            start += size
    return found


def bytes_needed(arrays: Iterable[FoundArray], device: Callable[[str], str]) -> dict[str, int]:
    """What all arrays need of each drive together, those that are left out too; of several, in whole MiB."""
    parts: dict[str, list[tuple[str, int]]] = {}
    for array in arrays:
        each = member_bytes(array) if not array.container else None
        for name in {device(part) for part in array.devices} if each is not None else ():
            parts.setdefault(name, []).append((array.name, each or 0))
    sharing = {array for several in parts.values() if len(several) > 1 for array, _ in several}
    found = {}
    for name, several in parts.items():
        sizes = [size for _, size in several]
        alone = len(several) == 1 and several[0][0] not in sharing
        found[name] = sizes[0] if alone else ALIGNED + sum(map(whole, sizes))
    return found


def member_bytes(array: FoundArray) -> int | None:
    """Bytes that an array uses of each member."""
    if array.member_size is not None and array.member_size.value:
        return array.member_size.value
    if array.size is None or not array.size.value or array.level is None or not array.members:
        return None
    members, level = len(array.members), array.level.value
    if array.action_is("reshape"):  # it has its old size until that is over
        members = array.old_members.value if array.old_members is not None else members
        level = array.old_level.value if array.old_level is not None else level
    members = max(1, members)
    groups = array.groups.value if array.groups is not None else 1
    copies = array.copies.value if array.copies is not None else 2
    known = LEVELS.get(level)
    if known is not None and known.has_mirrors:
        return -(-array.size.value * max(1, copies) // members) if known.has_chunk else array.size.value
    parities = known.parities if known is not None and known.has_parity else 0
    data = members - parities * (groups if known is not None and known.has_groups else 1)
    return -(-array.size.value // data) if data > 0 else None


def only_member(array: FoundArray) -> str | None:
    """The device of a mirror that has no other member; None if it is no such mirror."""
    mirror = array.level is not None and array.level.value == "raid1" and array.controller is None
    return array.members[0].device if mirror and len(array.members) == 1 else None
