"""Volumes of Intel's RST and VROC from mdadm --examine of a whole disk (super-intel.c, examine_super_imsm).

A disk's metadata has all volumes that are on it, each below its name in brackets. Sizes are in sectors of 512 bytes
("Sector Size" is that of the disk, by which they are divided). RAID 10 has two near copies, RAID 5 is left-asymmetric.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ....text.report_text import ReportText
from ..facts import fact
from ..findings import GONE, FoundArray, FoundMember
from ..output_text import LARGEST, SECTOR, Line, bounded, first_word, key_lines, size_of

MAGIC = "Intel Raid ISM Cfg Sig"
RANK = 3
_VOLUME = re.compile(r"\[(?P<name>[^\]]{1,60})\]:\s*$")
_PART = re.compile(r"\s*(?:Disk\d+ Serial|Spare\b)")
_SLOTS = re.compile(r"\[([U_]{1,64})\]")
_MOST_SLOTS = 64
_LEVELS = {"0": "raid0", "1": "raid1", "5": "raid5", "10": "raid10"}


def volumes(text: ReportText, lines: range, device: str, known: dict[str, FoundArray]) -> Iterator[FoundArray]:
    """The volumes of one examined disk that no other one had.

    Parameters
    ----------
    text, lines
        What was printed of the disk.
    device
        Its name.
    known
        Volumes of other disks by their UUID; those of this one are added.
    """
    starts = [number for number in lines if _VOLUME.match(text.line(number))]
    for first, after in pairwise([*starts, lines.stop]):
        end = next((each for each in range(first + 1, after) if _PART.match(text.line(each))), after)
        fields = key_lines(text, range(first + 1, end))
        head = _VOLUME.match(text.line(first))
        if head is None or "RAID Level" not in fields:
            continue
        name = re.sub(r"\W", "-", head["name"])
        uuid = fields.get("UUID")
        key = uuid.value.text if uuid is not None else name
        array = known.get(key)
        if array is None:
            array = known[key] = _volume(name, f"{text.name}:{first}", fields)
            yield array
        slot = fields.get("This Slot")
        if slot is not None and slot.value.text.isdecimal():
            at = bounded(slot.value, _MOST_SLOTS)
            if at < len(array.members):
                array.members[at] = FoundMember(device, "in use", f"{text.name}:{first}")


def _volume(name: str, where: str, fields: dict[str, Line]) -> FoundArray:
    """A volume with a place for each of its members."""
    array = FoundArray(name, where, RANK)
    level = fields["RAID Level"].value
    if first_word(level).text in _LEVELS:
        array.level = fact(_LEVELS[first_word(level).text], level)
    else:
        array.reason = f"the model has no level {level.text} of Intel's"
    members = fields.get("Members")
    count = bounded(first_word(members.value), _MOST_SLOTS) if members is not None else 0
    slots = fields.get("Slots")
    signs = _SLOTS.match(slots.value.text) if slots is not None else None
    array.members = [FoundMember(None, "in use", where) for _ in range(count)]
    letters = signs[1] if signs is not None else "U" * count
    array.letters = "".join("A" if letter == "U" else GONE for letter in letters)
    sector = fields.get("Sector Size")
    scale = SECTOR
    if sector is not None and sector.value.text.isdecimal():
        scale = bounded(sector.value, 4096, least=SECTOR)
    for key, attribute in (("Array Size", "size"), ("Per Dev Size", "member_size")):
        line = fields.get(key)
        if line is not None:
            setattr(array, attribute, fact(bounded(first_word(line.value), LARGEST, scale), line.value))
    chunk = fields.get("Chunk Size")
    if chunk is not None:
        array.chunk = fact(size_of(chunk.value), chunk.value)
    if array.level is not None and array.level.value == "raid5":
        array.algorithm = fact("left-asymmetric", level)
    elif array.level is not None and array.level.value == "raid10":
        array.algorithm, array.copies = fact("near", level), fact(2, level)
    return array
