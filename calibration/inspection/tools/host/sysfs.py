"""Settings of disks, of md's arrays and of bcache from a dump of /sys/block.

A line "path:value" for each, as grep prints them. Documentation/ABI/stable/sysfs-block and
Documentation/admin-guide/md.rst of Linux have their units.
"""

from __future__ import annotations

import re

from ....text.report_text import Cell
from ..facts import fact, place
from ..findings import Findings, FoundArray, FoundDrive
from ..output_text import LARGEST, SECTOR, bounded
from ..outputs import Output
from ..volumes import bcache

_LINE = re.compile(r"/sys/block/(?P<device>[\w!-]+)/(?P<key>[\w/.-]+):(?P<value>.*?)\s*$", re.ASCII)
_NO_DISKS = re.compile(r"md|dm-|loop|ram|zram|zd|sr|nbd|bcache")
_BCACHE = re.compile(r"(?:(?P<part>[\w-]+)/)?bcache/(?P<file>\w+)")
_STRIPES, _ACTION = "md/stripe_cache_size", "md/sync_action"
_MOST_SECTOR = 1 << 16
_MOST_STRIPES = 1 << 20
_CACHES = {"write back": True, "write through": False}


def read(output: Output) -> Findings:
    """Sizes, sectors, rotation and caches of disks; stripe cache and action of arrays; how bcache is set up."""
    text, found, others = output.text, Findings(), 0
    for number in output.lines:
        line = _LINE.match(text.line(number))
        if line is None:
            if text.line(number).strip():
                raise text.refused(number, "a setting and its value, such as /sys/block/sda/queue/rotational:1")
            continue
        value, key, name = text.group(number, line, "value"), line["key"], line["device"]
        if key == _STRIPES:
            array = found.arrays.setdefault(name, FoundArray(name, place(value), 0))
            array.stripe_cache = fact(bounded(value, _MOST_STRIPES), value)
        elif key == _ACTION and value.text:
            found.arrays.setdefault(name, FoundArray(name, place(value), 0)).sync_action = fact(value.text, value)
        elif (part := _BCACHE.fullmatch(key)) is not None:
            others += not bcache.setting(found, part["part"] or name, part["file"], value)
        elif _NO_DISKS.match(name):
            others += 1
        else:
            drive = found.drives.setdefault(name, FoundDrive(name, place(value)))
            others += not _set(drive, key, value)
    if others:
        found.notes.append(f"{text.name}:{output.first}: {others} other settings of /sys/block are not read")
    return found


def _set(drive: FoundDrive, key: str, value: Cell) -> bool:
    """Take a setting of a disk; whether it is one that is known."""
    if key == "size":
        drive.capacity = fact(bounded(value, LARGEST, SECTOR), value)
    elif key == "queue/rotational" and value.text in ("0", "1"):
        drive.solid_state = fact(value.text == "0", value)
    elif key == "queue/logical_block_size":
        drive.logical_sector = fact(bounded(value, _MOST_SECTOR), value)
    elif key == "queue/physical_block_size":
        drive.physical_sector = fact(bounded(value, _MOST_SECTOR), value)
    elif key == "queue/write_cache" and value.text in _CACHES:
        drive.write_cache = fact(_CACHES[value.text], value)
    elif key == "device/model" and value.text:
        drive.model = fact(" ".join(value.text.split()), value)
    else:
        return False
    return True
