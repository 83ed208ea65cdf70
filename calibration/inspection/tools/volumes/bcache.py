"""bcache's devices from ``bcache-super-show``, and its settings of /sys/block.

The superblock of a backing device and of a cache have the same set. Source: bcache-tools bcache.c and
bcache-super-show.c; Linux 6.1 drivers/md/bcache/sysfs.c.
"""

from __future__ import annotations

import re

from ....text.report_text import Cell
from ..command_line import device_before
from ..facts import fact, place
from ..findings import Findings
from ..found_volumes import FoundVolume
from ..output_text import SECTOR, bounded, size_of
from ..outputs import Output
from .dmsetup import device_name

START = re.compile(r"sb\.magic\s")
_COMMAND = re.compile(r"\bbcache-super-show\b.*\s(/dev/\S{1,100})")
_LINE = re.compile(r"(?P<key>(?:sb|dev|cset)\.[\w.]+)\s+(?P<value>\S.*?)\s*$")
_WORD = re.compile(r"\d+ \[(?P<word>[^\]]+)\]")
_CHOICE = re.compile(r"\[(\w+)\]")
_KINDS = {"backing device": "backing", "cache device": "cache"}
_NO_SET = re.compile(r"[0-]+$")
_MOST_SECTORS = 1 << 24
_SIZES = ("sequential_cutoff", "bucket_size", "dirty_data")
_STATES = ("clean", "dirty", "no cache", "inconsistent", "detached", "stale")


def super_show(output: Output) -> Findings:
    """One superblock: of a backing device, or of a cache."""
    text, found = output.text, Findings()
    name = device_before(output, _COMMAND, START, found, "bcache-super-show")
    if name is None:
        return found
    device = device_name(f"/dev/{name}")
    lines: dict[str, Cell] = {}
    for number in output.lines:
        match = _LINE.match(text.line(number))
        if match is not None:
            lines[match["key"]] = text.group(number, match, "value")
        elif text.line(number).strip():
            raise text.refused(number, "a line of bcache-super-show, such as sb.version 3 [cache device]")
    version = lines.get("sb.version")
    word = _WORD.match(version.text) if version is not None else None
    kind = _KINDS.get(word["word"]) if word is not None else None
    if version is None or kind is None:
        at = version or text.cell(output.first, 0, len(text.line(output.first)))
        raise at.refused("sb.version with [backing device] or [cache device]")
    volume = FoundVolume(f"{BACKING if kind == 'backing' else FAST}{device}", place(version))
    volume.target = fact("bcache", version)
    if kind == "backing":
        volume.slow = fact(device, version)
    else:
        volume.fast = fact(device, version)
    group = lines.get("cset.uuid")
    volume.set_id = group.text if group is not None and not _NO_SET.match(group.text) else None
    mode = _WORD.match(lines["dev.data.cache_mode"].text) if "dev.data.cache_mode" in lines else None
    if mode is not None:
        _mode(volume, lines["dev.data.cache_mode"], mode["word"])
    for key, field in (("dev.sectors_per_bucket", "bucket_size"), ("dev.sectors_per_block", "block_size")):
        if key in lines and kind == "cache":
            volume.options[field] = fact(bounded(lines[key], _MOST_SECTORS, SECTOR), lines[key])
    found.volumes[volume.name] = volume
    return found


BACKING, FAST = "bcache: backing ", "bcache: cache "
"""Before the name of a device whose part in bcache is known, and not yet the bcache that it is in."""


def setting(found: Findings, device: str, key: str, value: Cell) -> bool:
    """Take a file of a folder "bcache" of /sys/block; whether it is one that is known.

    Parameters
    ----------
    found
        Gets the cache.
    device
        The block device that has the folder: bcache's own, or one of its parts.
    key
        The file's name.
    """
    own = device.startswith("bcache")
    if not own and key in ("cache_replacement_policy", "nbuckets"):
        part = found.volumes.setdefault(f"{FAST}{device}", FoundVolume(f"{FAST}{device}", place(value)))
        part.fast, part.target = fact(device, value), fact("bcache", value)
        return False
    name = device if own else f"{FAST}{device}" if key == "bucket_size" else f"{BACKING}{device}"
    if key not in ("cache_mode", "writeback_percent", "writeback_delay", "state", "backing_dev_name", *_SIZES):
        return False
    volume = found.volumes.setdefault(name, FoundVolume(name, place(value)))
    volume.target = volume.target or fact("bcache", value)
    if key == "bucket_size" and not own:
        volume.fast = fact(device, value)
    elif not own:
        volume.slow = fact(device, value)
    if key == "cache_mode":
        chosen = _CHOICE.search(value.text)
        if chosen is None:
            raise value.refused("the modes with the one in use in brackets: writethrough [writeback] ...")
        _mode(volume, value, chosen[1])
    elif key == "backing_dev_name":
        volume.slow = fact(device_name(value.text), value)
    elif key == "state":
        if value.text not in _STATES:
            raise value.refused(f"a state: {', '.join(_STATES)}")
        if value.text in ("no cache", "inconsistent", "detached"):
            volume.notes.append(f"{name} ({place(value)}) is {value.text}: it has no cache at present")
    elif key in _SIZES:
        size = fact(size_of(value._replace(text=value.text.replace("k", "K"))), value)
        if key == "dirty_data":
            volume.dirty = size
        else:
            volume.options[key] = size
    else:
        volume.options[key] = fact(bounded(value, 1 << 20), value)
    return True


def _mode(volume: FoundVolume, cell: Cell, word: str) -> None:
    volume.options["mode"] = fact("none" if word == "no caching" else word, cell)
