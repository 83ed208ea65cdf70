"""Devices of the device mapper from ``dmsetup table``, ``dmsetup status`` and ``dmsetup ls``.

A line has a range of a device, its target, and the target's words. Numbers of sectors are of 512 bytes. Source: Linux
6.1 drivers/md/dm-linear.c, dm-stripe.c, dm-raid.c, dm-cache-target.c, dm-writecache.c (the functions ..._status), and
Documentation/admin-guide/device-mapper; flashcache_conf.c for Synology's cache.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from ....text.report_text import Cell, ReportText
from ..facts import Fact, fact, place
from ..findings import Findings
from ..found_volumes import FoundVolume, Part
from ..output_text import LARGEST, SECTOR, bounded
from ..outputs import Output

LINE = re.compile(r"(?P<name>[^\s:/][^\s:]*): (?P<start>\d+) (?P<length>\d+) (?P<target>[a-z][\w-]*)(?P<rest>\s.*)?$")
NUMBERS = re.compile(r"(?P<name>[^\s:/(]+)\s+\((?P<major>\d{1,4})[:,] ?(?P<minor>\d{1,7})\)\s*$", re.ASCII)
_RANGE = re.compile(r"\d+/\d+")
_LEFT_OUT = {
    "snapshot": "LVM's snapshots are not modeled",
    "snapshot-origin": "LVM's snapshots are not modeled",
    "mirror": "the target mirror is not modeled; a RAID 1 of md or LVM is",
    "multipath": "several paths to one disk are no array of disks",
    "integrity": "dm-integrity is not modeled",
    "vdo": "deduplication is not modeled",
    "era": "dm-era is not modeled",
    "clone": "dm-clone is not modeled",
    "zoned": "dm-zoned is not modeled",
    "verity": "dm-verity is not modeled",
    "error": "it fails every I/O",
    "zero": "it has no data",
}
_PARITY_ALGORITHMS = {
    "la": "left-asymmetric",
    "ra": "right-asymmetric",
    "ls": "left-symmetric",
    "rs": "right-symmetric",
    "zr": "ddf-zero-restart",
    "nr": "ddf-N-restart",
    "nc": "ddf-N-continue",
    "n": "parity-last",
}
_LEVEL = re.compile(r"(?P<level>raid\d+)(?:_(?P<algorithm>[a-z]{1,2}))?(?:_meta|_near|_far|_offset)?$")
CACHE_MODES = ("writethrough", "writeback", "passthrough")
_FLASHCACHE_MODES = {"WRITE_BACK": "writeback", "WRITE_THROUGH": "writethrough", "WRITE_AROUND": "writearound"}
_FLASHCACHE = {
    "disks": re.compile(r"ssd dev \((?P<fast>\S+?)\), disk dev \((?P<slow>\S+?)\)(?: cache mode\((?P<mode>\w+)\))?"),
    "sizes": re.compile(r"capacity\((?P<megabytes>\d{1,12})M\)"),
    "dirty": re.compile(r"dirty blocks\((?P<dirty>\d{1,15})\)"),
    "block": re.compile(r"block size\((?P<block>\d{1,6})K\)"),
}
_MILLISECONDS = ("autocommit_time", "pause_writeback")
_WRITECACHE_OPTIONS = ("high_watermark", "low_watermark", "autocommit_blocks", *_MILLISECONDS)
_FLAGS = ("fua", "nofua", "cleaner", "metadata_only")
_MOST = 1 << 40


def read(output: Output) -> Findings:
    """Volumes, and the numbers of devices."""
    text, found = output.text, Findings()
    for number in output.lines:
        match, numbers = LINE.match(text.line(number)), NUMBERS.match(text.line(number))
        if match is not None:
            _volume(found, text, number, match, output.last)
        elif numbers is not None:
            found.aliases[f"{numbers['major']}:{numbers['minor']}"] = numbers["name"]
    return found


def raid_level(word: str) -> tuple[str, str | None, int | None] | None:
    """Level, algorithm and copies that dm-raid or LVM calls by a word ("raid5_ls"); None if it is none of them."""
    match = _LEVEL.match(word)
    if match is None:
        return None
    algorithm = _PARITY_ALGORITHMS.get(match["algorithm"]) if match["algorithm"] else None
    return match["level"], algorithm, None


def _volume(found: Findings, text: ReportText, number: int, match: re.Match[str], last: int) -> None:
    """One line: a segment of a volume."""
    name, target = match["name"], match["target"]
    where = f"{text.name}:{number}"
    volume = found.volumes.setdefault(name, FoundVolume(name, where))
    length = bounded(text.group(number, match, "length"), LARGEST, SECTOR)
    first = match["start"] == "0"
    if first:
        volume.length = fact(length, text.group(number, match, "length"))
    elif volume.length is not None:
        volume.length = Fact(volume.length.value + length, volume.length.where)
    if target.startswith("flashcache"):
        volume.target = Fact("flashcache", where)
        _flashcache(volume, text, number, last)
        return
    words = text.cells(number, match.start("rest")) if match["rest"] else []
    reader = _READERS.get(target)
    if reader is None:
        why = _LEFT_OUT.get(target, "this target of the device mapper is not modeled")
        volume.notes.append(f"{name} ({where}) is a {target}: {why}")
    if volume.target is not None and volume.target.value != target and not first:
        volume.target = Fact("mixed", where)
        return
    volume.target = Fact(target, where)
    if reader is not None:
        reader(volume, _Words(words, text, number), length)


class _Words:
    """The words of a target, taken one after the other."""

    def __init__(self, cells: list[Cell], text: ReportText, number: int) -> None:
        self.cells = cells
        self.text = text
        self.number = number
        self.at = 0

    def __len__(self) -> int:
        return len(self.cells) - self.at

    def take(self, what: str) -> Cell:
        """The next one; refused if there is none."""
        if self.at >= len(self.cells):
            raise self.text.refused(self.number, f"{what} at the end of the line: is it complete?")
        self.at += 1
        return self.cells[self.at - 1]

    def whole(self, what: str, most: int = _MOST) -> int:
        """The next one as a number."""
        return bounded(self.take(what), most)

    def counted(self, what: str) -> list[Cell]:
        """As many words as the next one says."""
        return [self.take(what) for _ in range(self.whole(f"the number of {what}", 1000))]

    def device(self, what: str) -> str:
        """A device by its numbers or its path."""
        return device_name(self.take(what).text)


def device_name(text: str) -> str:
    """A device's name: "vg0-data" of /dev/mapper/vg0-data and of /dev/vg0/data, "9:0" of its numbers."""
    if not text.startswith("/dev/"):
        return text
    last = text.removeprefix("/dev/").removeprefix("mapper/").split("/")
    return volume_name(*last) if len(last) == 2 and last[0] not in ("md", "disk") else last[-1]


def volume_name(group: str, volume: str) -> str:
    """The device mapper's name of one of LVM's volumes."""
    return f"{group.replace('-', '--')}-{volume.replace('-', '--')}"


def _linear(volume: FoundVolume, words: _Words, length: int) -> None:
    if len(words):
        device = words.device("a device")
        volume.parts.append(Part(device, bounded(words.take("its first sector"), LARGEST, SECTOR), length))


def _striped(volume: FoundVolume, words: _Words, length: int) -> None:
    count = words.take("the number of stripes")
    stripes = bounded(count, 1000, least=1)
    if len(words) and not words.cells[words.at].text.isdecimal():
        return  # the status, which has devices and letters
    stripe = words.take("the sectors of a stripe")
    volume.stripe = fact(bounded(stripe, LARGEST, SECTOR), stripe)
    for _ in range(stripes):
        device = words.device("a device")
        volume.parts.append(Part(device, bounded(words.take("its first sector"), LARGEST, SECTOR), length // stripes))


def _raid(volume: FoundVolume, words: _Words, length: int) -> None:
    kind = words.take("a level")
    raid = raid_level(kind.text)
    if raid is None:
        raise kind.refused("a level of dm-raid, such as raid1, raid5_ls or raid10")
    count = words.whole("a number", 1000)
    following = words.take("the members' states, or the sectors of a chunk")
    volume.raid = volume.raid or fact(raid, kind)
    if re.fullmatch(r"[ADaUu-]+", following.text):  # dmsetup status
        volume.health = fact(following.text, following)
        return
    chunk = following
    given = [words.take("a parameter") for _ in range(count - 1)]
    options = {key.text: value for key, value in pairwise(given)}
    if chunk.text != "0":
        volume.stripe = fact(bounded(chunk, LARGEST, SECTOR), chunk)
    if raid[0] == "raid10":
        form = options.get("raid10_format")
        copies = bounded(options["raid10_copies"], 100, least=1) if "raid10_copies" in options else 2
        volume.raid = fact((raid[0], form.text if form is not None else "near", copies), kind)
    for _ in range(words.whole("the number of members", 1000)):
        words.take("a member's metadata")
        member = words.take("a member")
        volume.parts.append(Part(device_name(member.text)))


def _cache(volume: FoundVolume, words: _Words, length: int) -> None:
    """dm-cache: devices and block of the table, counts of the status, and features, arguments and policy of both."""
    first = words.take("its metadata, or the block of that")
    if len(words) and _RANGE.fullmatch(words.cells[words.at].text):
        words.take("used blocks of the metadata")
        block = words.take("the sectors of a block")
        used = words.take("used blocks")
        for _ in range(6):
            words.whole("a count")
        dirty = words.take("dirty blocks")
        _cache_used(volume, block, used, dirty)
    elif first.text in ("Fail", "Error"):
        volume.notes.append(f"{volume.name} ({place(first)}): dm-cache says {first.text}: the cache has failed")
        return
    else:
        fast, slow = words.take("the fast device"), words.take("the slow device")
        volume.metadata = fact(device_name(first.text), first)
        volume.fast, volume.slow = fact(device_name(fast.text), fast), fact(device_name(slow.text), slow)
        block = words.take("the sectors of a block")
    volume.options["block_size"] = fact(bounded(block, LARGEST, SECTOR), block)
    for feature in words.counted("features"):
        if feature.text in CACHE_MODES:
            volume.options["mode"] = fact(feature.text, feature)
    if not len(words):
        return
    if words.cells[words.at].text.isdecimal():
        _arguments(volume, words.counted("arguments"))
    policy = words.take("a policy")
    volume.options["policy"] = fact(policy.text, policy)
    if len(words) and words.cells[words.at].text.isdecimal():
        _arguments(volume, words.counted("arguments of the policy"))


def _arguments(volume: FoundVolume, words: list[Cell]) -> None:
    for key, value in zip(words[::2], words[1::2], strict=False):
        if key.text == "migration_threshold":
            volume.options["migration_threshold"] = fact(bounded(value, LARGEST, SECTOR), value)


def _cache_used(volume: FoundVolume, block: Cell, used: Cell, dirty: Cell) -> None:
    size = bounded(block, LARGEST, SECTOR)
    if not _RANGE.fullmatch(used.text):
        raise used.refused("used blocks and all of them, such as 1000/3276800")
    volume.dirty = fact(bounded(dirty, _MOST) * size, dirty)
    if used.text.startswith("0/"):
        volume.options["state"] = fact("cold", used)


def _writecache(volume: FoundVolume, words: _Words, length: int) -> None:
    """dm-writecache: the table begins with the kind of its fast device; the status has counts only."""
    kind = words.take("s or p")
    if kind.text.isdecimal():
        blocks = words.take("the number of blocks")
        free = words.take("free blocks")
        size = int(volume.options["block_size"].value) if "block_size" in volume.options else 4096
        volume.dirty = fact((bounded(blocks, _MOST) - bounded(free, blocks.whole())) * size, free)
        return
    if kind.text not in ("s", "p"):
        raise kind.refused("s (an SSD) or p (persistent memory)")
    if kind.text == "p":
        volume.notes.append(
            f"{volume.name} ({place(kind)}): persistent memory as a write cache is simulated as a drive"
        )
    slow, fast, block = (words.take(what) for what in ("the slow device", "the fast device", "bytes of a block"))
    volume.slow, volume.fast = fact(device_name(slow.text), slow), fact(device_name(fast.text), fast)
    volume.options["block_size"] = fact(bounded(block, LARGEST), block)
    given = words.counted("options")
    while given:
        key = given.pop(0)
        if key.text in _FLAGS:
            continue
        value = given.pop(0) if given else key
        if key.text in _WRITECACHE_OPTIONS:
            number = bounded(value, _MOST)
            volume.options[key.text] = fact(number / 1000 if key.text in _MILLISECONDS else number, value)


def _flashcache(volume: FoundVolume, text: ReportText, number: int, last: int) -> None:
    """Facebook's flashcache, as Synology has it: words in parentheses, in some lines below."""
    block = 0
    while number <= last and (LINE.match(text.line(number)) is None or f"{text.name}:{number}" == volume.where):
        line = text.line(number)
        for key, pattern in _FLASHCACHE.items():
            match = pattern.search(line)
            if match is None:
                continue
            if key == "disks":
                volume.fast = fact(device_name(match["fast"]), text.group(number, match, "fast"))
                volume.slow = fact(device_name(match["slow"]), text.group(number, match, "slow"))
                if match["mode"] in _FLASHCACHE_MODES:
                    volume.options["mode"] = fact(_FLASHCACHE_MODES[match["mode"]], text.group(number, match, "mode"))
            elif key == "sizes":
                cell = text.group(number, match, "megabytes")
                volume.options["size"] = fact(bounded(cell, LARGEST, 1 << 20), cell)
            elif key == "block":
                block = int(match["block"]) << 10
            elif block:
                cell = text.group(number, match, "dirty")
                volume.dirty = fact(bounded(cell, LARGEST, block), cell)
        number += 1
    note = "flashcache (Synology's cache) is not modeled; bcache takes its place, which also brings in every miss at "
    note += "once and lets streams pass by"
    volume.notes.append(f"{volume.name} ({volume.where}): {note}")


def _thin(volume: FoundVolume, words: _Words, length: int) -> None:
    if len(words) and ":" in words.cells[words.at].text:
        volume.parts.append(Part(words.device("its pool")))


def _thin_pool(volume: FoundVolume, words: _Words, length: int) -> None:
    if len(words) > 1 and ":" in words.cells[words.at].text:
        words.take("its metadata")
        volume.parts.append(Part(words.device("its data")))


def _crypt(volume: FoundVolume, words: _Words, length: int) -> None:
    if len(words) < 5:
        return
    cipher, _, _ = (words.take(what) for what in ("a cipher", "a key", "an offset"))
    device = words.device("a device")
    volume.parts.append(Part(device, bounded(words.take("its first sector"), LARGEST, SECTOR), length))
    volume.notes.append(
        f"{volume.name} ({place(cipher)}) is encrypted with {cipher.text}; the cipher is not in the scenario"
    )


_READERS: dict[str, Callable[[FoundVolume, _Words, int], None]] = {
    "linear": _linear,
    "striped": _striped,
    "raid": _raid,
    "cache": _cache,
    "writecache": _writecache,
    "thin": _thin,
    "thin-pool": _thin_pool,
    "crypt": _crypt,
}
