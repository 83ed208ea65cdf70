"""A recorded pool: its vdevs, the places of its blocks, and what its members got in each phase."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ....model.zfs.map.kinds import vdevs_for
from ....model.zfs.map.pool import LOG, NORMAL, SPECIAL, PoolMap
from ....model.zfs.map.words import vdev_words
from ..base import NotSupported

_WITH_VALUE = ("-o", "-O", "-m", "-R", "-t")
"""Options of `zpool create` that a value follows."""
_ASHIFT = re.compile(r"ashift=(\d+)")
_ROLES = {"data": NORMAL, "special": SPECIAL, "log": LOG}
_RECORD = re.compile(r"recordsize=(\d+)")
_BY_NAME = re.compile(r"[rvs](\d+)(k?|m)")
_VOLUME = re.compile(r"v\d+")
_DEFAULT_RECORD = 128 * 1024


class Block(NamedTuple):
    """A block pointer: level, offset in the file, vdev, DVA offset, allocated, logical and physical size (bytes)."""

    level: int
    offset: int
    vdev: int
    dva: int
    asize: int
    lsize: int
    psize: int


class Request(NamedTuple):
    """What a member got: time (us), member, kind as block_rq_issue has it, sector and sectors."""

    us: float
    member: int
    rwbs: str
    sector: int
    sectors: int


class Phase(NamedTuple):
    """A phase: its name, kind and operation, the offsets of its calls where they are random, and its requests."""

    name: str
    kind: str
    op: str
    offsets: list[int]
    requests: list[Request]


def _block(entry: list[Any]) -> Block:
    level, offset, (vdev, dva, asize), lsize, psize, *_ = entry
    return Block(level, offset, vdev, dva, asize, lsize, psize)


def is_volume(file: str) -> bool:
    """Whether a name is a volume's, and not a file's."""
    return _VOLUME.fullmatch(file) is not None


class Recording:
    """A recording of one pool.

    Parameters
    ----------
    file
        Its name.
    content
        What is in it.

    Attributes
    ----------
    pool
        Map of its members.
    phases
        In order.
    snapshots
        Block pointers by object ("r128#2"), of each time when they were read: "zdb1" after the first writes, "zdb2" or
        "zdb" after the overwrites, before the first import.
    service_us
        Time (us) that a member takes for a request.
    rotating
        Whether the members are hard disks to the kernel.
    """

    def __init__(self, file: str, content: Mapping[str, Any]) -> None:
        command = content["create"]
        words, ashift = command.split(), _ASHIFT.search(command)
        if words[:2] != ["zpool", "create"] or ashift is None:
            raise NotSupported(file, f"the command {command!r}"[:90], "expected: zpool create -o ashift=...")
        del words[:2]
        while words and words[0].startswith("-"):
            del words[: 2 if words[0] in _WITH_VALUE else 1]
        made = [
            (vdev, _ROLES[each.use])
            for each in vdev_words(words[1:])
            if each.use in _ROLES
            for vdev in vdevs_for(each.kind, len(each.members), int(ashift[1]))
        ]
        self.pool = PoolMap([vdev for vdev, _ in made], [role for _, role in made])
        self.phases = [
            Phase(
                phase.get("phase", phase.get("kind", "")),
                phase.get("kind") or "",
                phase.get("op") or "",
                list(phase.get("offsets") or ()),
                [Request(*request) for request in phase.get("requests") or ()],
            )
            for phase in content["phases"]
        ]
        self.snapshots = {
            moment: {name: [_block(each) for each in blocks] for name, blocks in objects.items()}
            for moment, objects in content["blocks"].items()
        }
        self.service_us = float(content["member"]["completion_us"])
        self.rotating = bool(content["member"].get("rotational"))
        record = _RECORD.search(command)
        self._record = int(record[1]) if record else _DEFAULT_RECORD
        self._objects = self._named_objects()

    def record_bytes(self, file: str) -> int:
        """Size of the records of a file, or of the blocks of a volume."""
        match = _BY_NAME.fullmatch(file.partition("/")[0])
        if match is None:
            return self._record
        return int(match[1]) * (1 << 20 if match[2] == "m" else 1024)

    def blocks(self, moment: str, file: str) -> list[Block]:
        """The blocks of data of a file at a moment, by offset; none if they were not read."""
        found = self.snapshots.get(moment, {}).get(self._objects.get(file, ""), [])
        return sorted((block for block in found if block.level == 0), key=lambda block: block.offset)

    def _named_objects(self) -> dict[str, str]:
        """Object of each file: those of a dataset are numbered as the files were made."""
        numbers: dict[str, list[int]] = {}
        for objects in self.snapshots.values():
            for name in objects:
                dataset, _, number = name.partition("#")
                numbers.setdefault(dataset, []).append(int(number))
        made: dict[str, list[str]] = {}
        for phase in self.phases:
            words = phase.op.split()
            if len(words) > 2 and not words[0].isdigit():
                files = made.setdefault(words[1].partition("/")[0], [])
                if words[1] not in files:
                    files.append(words[1])
        found = {}
        for dataset, files in made.items():
            for file, number in zip(files, sorted(set(numbers.get(dataset, ()))), strict=False):
                found[file] = f"{dataset}#{number}"
        return found
