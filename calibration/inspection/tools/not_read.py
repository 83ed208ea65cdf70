"""What other programs print, by name: why it makes no scenario, and what to give instead."""

from __future__ import annotations

import re
from typing import NamedTuple

from ....model.core.errors import InputError
from ...text.report_text import ReportText

_LONGEST = 400
"""Characters of a line that are looked at."""


class NotRead(NamedTuple):
    """An output that makes no scenario.

    Attributes
    ----------
    start
        A line that only this program prints.
    what
        The program.
    why
        Why it cannot be used.
    instead
        What can.
    """

    start: re.Pattern[str]
    what: str
    why: str
    instead: str


_OUTPUTS = tuple(
    NotRead(re.compile(start), what, why, instead)
    for start, what, why, instead in (
        (
            r"Label: .* uuid: ",
            "btrfs filesystem show",
            "Btrfs's own RAID places every piece by itself, which is not modeled",
            "an array of the same level, written by hand",
        ),
        (
            r"Filesystem\s+(?:Type\s+)?(?:1K-blocks|1024-blocks|512-blocks|Size)\b",
            "df",
            "it tells file systems, and not which drives they are on",
            "lsblk",
        ),
        (
            r"mdadm: (?:No md superblock|cannot open|Unknown|.*(?:does not appear|doesn't))",
            "mdadm",
            "it has found no array there",
            "mdadm --detail of the array, or --examine of its members (often partitions), as root",
        ),
        (r"ARRAY (?:/dev/\S+|metadata=|<ignore>)", "mdadm --scan", "it names no members", "mdadm --detail /dev/md0"),
        (
            r"\s*--- (?:(?:Phys|Log)ical volume|Volume group) ---|\s*(?:PV|VG)\s.*\b(?:VG|PV|Attr)\b|\s*VG\s+#PV",
            "LVM's pvs, vgs, lvdisplay or vgdisplay",
            "it does not tell which volume is on which drives",
            "lvs -a -o +devices,segtype,cache_mode, with lsblk and /proc/mdstat",
        ),
        (r"\s*Timing (?:buffered disk|cached) reads:", "hdparm -t", "it is a measurement", "raidsim parse"),
    )
)
_PARTS = tuple(
    NotRead(re.compile(start), what, why, instead)
    for start, what, why, instead in (
        (
            r"\s*(?:Raid (?:Level|Devices)|Array (?:Size|State)|Used Dev Size|Device Role|Chunk Size|Number +Major)\b",
            "mdadm --detail or --examine",
            "the line with the device's name (/dev/md0:) before it is missing",
            "all that it prints",
        ),
        (
            r"(?:Device Model|Model Number|User Capacity|SATA Version is|Rotation Rate):\s",
            "smartctl",
            "its first line (smartctl 7.2 ...) is missing",
            "all that smartctl -i prints",
        ),
        (
            r"(?:Enclosure Device ID|Slot Number|Inquiry Data|Firmware state): |RAID Level\s+: Primary-",
            "MegaCli",
            "the line of its adapter (Adapter #0) is missing",
            "all that MegaCli prints",
        ),
        (
            r"(?:EID:Slt +DID|DG/VD +TYPE|DG Arr Row)\b",
            "storcli or perccli",
            "the lines before the table (Controller = 0) are missing",
            "all that it prints, or the same with J",
        ),
        (
            r"\s*(?:logicaldrive \d|physicaldrive \w+:\d)",
            "ssacli",
            "the line of its controller (Smart Array ... in Slot 0) is missing",
            "all that ssacli ctrl all show config prints",
        ),
        (
            r"\s*NAME\s+STATE\s+READ\b|\s+(?:mirror|raidz[123]|draid[123]\S*)-\d+\s+[A-Z]{5,}\s",
            "zpool status",
            "the line with the pool's name (pool: tank) before it is missing",
            "all that it prints",
        ),
        (
            r"[├└]─\w|(?:sd[a-z]{1,3}|nvme\d+n\d+|vd[a-z])\s.*\bdisk\b",
            "lsblk",
            "its line of headings (NAME ...) is missing",
            "all that lsblk prints",
        ),
    )
)
"""Parts of outputs that are read, which cannot be read without their beginning."""


def begins(line: str) -> NotRead | None:
    """The output that a line begins, if it is one of these."""
    return next((each for each in _OUTPUTS if each.start.match(line[:_LONGEST])), None)


def part(line: str) -> NotRead | None:
    """The output that a line is a part of, though none that can be read alone."""
    return next((each for each in _PARTS if each.start.match(line[:_LONGEST])), None)


def refuse(text: ReportText) -> None:
    """Refuse a text that has one of these.

    Raises
    ------
    InputError
        With what it is, why it makes no scenario, and what does.
    """
    for number, line in enumerate(text.lines, 1):
        other = begins(line) or part(line)
        if other is None:
            continue
        raise InputError(
            f"{text.name}:{number}", f"found what {other.what} prints: {other.why}", f"give {other.instead}"
        )
