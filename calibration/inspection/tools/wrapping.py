"""Lines of tools that mail or a terminal has broken: when a line is the rest of the one before it.

Each kind of output has its rule. A rule is sure of what it joins; tables whose columns cannot be told any more are
refused by their readers.
"""

from __future__ import annotations

import re

from ...formats.monitors import mdstat
from ...text.paste import Joint, breaks

_KEY = re.compile(
    r"\s*(?:[A-Z](?:[\w'.,/#& -]|\([^()]*\)){0,60}?\s*(?::|=)(?:\s|$)"
    r"|\S{0,2}D_\w+=|/\S+:\s*$|=== |---|\*|\S[^:]{0,60}?(?: +: |:  ))"
)
"""A line "key : value", or a heading."""
_MDADM_ROW = re.compile(r"\s*(?:this\s+)?(?:\d+|-)\s+\d+\s+\d+\s+\S|\s*Number\s+Major")
_ROW_WITHOUT_DEVICE = re.compile(r"\s*(?:this\s+)?(?:\d+\s+){3,4}\S+\s+[a-z][\w -]*$")
_SSACLI_LINE = re.compile(r"\s*(?:logicaldrive|physicaldrive|[Aa]rray|[Uu]nassigned|(?:HPE? )?(?:Dynamic )?Smart )")
_FDISK_LINE = re.compile(r"(?:/dev/|-{4}|Dis[kq]|Festplatte|Unit|Einheit|Unité|Device\b|[^:]{1,60}:\s)")
_PAIR_START = re.compile(r'(?:NAME|KNAME)="')
_CPU_REST = re.compile(
    r"(?:@ |[\d.]+GHz|\(R\)|\w+-[Cc]ore|Processor|CPU|with |[a-z\d_]+(?: [a-z\d_]+)+$|[a-z]+\d*_\w+$)"
)
"""The end of a processor's name, or of its flags."""
_UNAME_END = re.compile(r"(?:GNU/Linux|x86_64|aarch64|i\d86|amd64|\d{4}\)?)\s*$")
_STORCLI_RULE = re.compile(r"-{5,}$")
ZPOOL_KEY = re.compile(
    r"\s*(?:pool|id|state|status|action|see|scan|scrub|config|errors|remove|expand|checkpoint|dedup|comment)"
    r":(?:\s|$)"
)
_ZPOOL_STATES = "ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|AVAIL|INUSE|SPLIT"
ZPOOL_ROW = re.compile(rf"\s*(?:NAME\s+STATE\b|(?:logs|cache|spares|special|dedup)\s*$|\S+\s+(?:{_ZPOOL_STATES})\b)")
"""Lines of zpool status."""
ZFS_PROPERTY = re.compile(
    r"(?P<name>\S+)\s+(?P<key>[a-z][\w@:.-]*)\s+(?P<value>\S.*?)"
    r"\s+(?:-|default|local|received|temporary|none|inherited from \S+)\s*$"
)
"""A line of zpool get or zfs get."""
_DM_LINE = re.compile(r"[^\s:/]+: \d+ \d+ [a-z]|[^\s:/(]+\s+\(\d")
_LINK = re.compile(r"l[r-][w-]\S+ |total \d")


def _by_key(line: str, rest: str) -> str | None:
    """Keys with values: a line without a key, and without an indent, goes on with a long one."""
    return " " if not rest[:1].isspace() and not _KEY.match(rest) and breaks(line, rest) else None


def _mdadm(line: str, rest: str) -> str | None:
    """Members in a table, too: the device may be what was broken off."""
    if rest.lstrip().startswith("/dev/") and not rest.rstrip().endswith(":"):
        return "   " if _ROW_WITHOUT_DEVICE.match(line) else None
    if _MDADM_ROW.match(rest):
        return None
    if _MDADM_ROW.match(line):
        return " " if re.match(r"(?:spare|sync|rebuilding|writemostly|set-[A-Z]|\w+ +/dev/|/)", rest.lstrip()) else None
    return _by_key(line, rest)


def _ssacli(line: str, rest: str) -> str | None:
    """What stands in parentheses, and keys with values."""
    if _SSACLI_LINE.match(rest):
        return None
    if line.count("(") > line.count(")"):
        return " "
    return None if _KEY.match(rest) else _by_key(line, rest)


def _arcconf(line: str, rest: str) -> str | None:
    """A line without an indent that is neither a heading nor a rule goes on with a key and its value."""
    if line.count("(") > line.count(")"):
        return " "
    own = rest[:1].isspace() or rest.startswith(("---", "Controller", "Logical", "Physical", "Command", "Connector"))
    return " " if " : " in line and not own and " : " not in rest and breaks(line, rest) else None


def _lists(line: str, rest: str) -> str | None:
    """Rows of nvme list, its headings and the rule below them; lines of fdisk."""
    if line.startswith(("Node", "---", "/dev/nvme")):
        same = rest.startswith("---") == line.startswith("---")
        return " " if same and not rest.startswith("/dev/") else None
    return " " if not _FDISK_LINE.match(rest) and not rest[:1].isspace() and breaks(line, rest) else None


def _pairs(line: str, rest: str) -> str | None:
    """lsblk -P: a break is between two pairs, or in one."""
    return " " if _PAIR_START.match(line) and not _PAIR_START.match(rest) and '"' in rest else None


def _cpuinfo(line: str, rest: str) -> str | None:
    return " " if _CPU_REST.match(rest) and breaks(line, rest) else None


def _storcli(line: str, rest: str) -> str | None:
    """Rules of dashes, which are longer than a line, and keys with values."""
    if _STORCLI_RULE.match(line) and _STORCLI_RULE.match(rest):
        return ""
    return " " if " = " in line and " = " not in rest and breaks(line, rest) and not rest.startswith("-") else None


def _log(line: str, rest: str) -> str | None:
    """A log with a time before each line."""
    return " " if line.startswith("[") and not rest.startswith("[") and breaks(line, rest) else None


def _uname(line: str, rest: str) -> str | None:
    return " " if not line.endswith("Linux") and breaks(line, rest) and _UNAME_END.search(rest) else None


def _zpool_status(line: str, rest: str) -> str | None:
    """A row of a device may lose its state and counts, or the words behind these."""
    if rest[:1].isspace() or ZPOOL_KEY.match(rest) or ZPOOL_ROW.match(rest):
        return None
    return " " if breaks(line, rest) else None


def _zfs_get(line: str, rest: str) -> str | None:
    """A line without a source goes on."""
    if line.startswith("NAME"):
        return " " if rest.strip() == "SOURCE" else None
    return None if ZFS_PROPERTY.match(line) or ZFS_PROPERTY.match(rest) else " "


def _links(line: str, rest: str) -> str | None:
    return " " if _LINK.match(line) and not _LINK.match(rest) and breaks(line, rest) else None


def _dmsetup(line: str, rest: str) -> str | None:
    """A device's words go on until the next device."""
    return None if rest[:1].isspace() or _DM_LINE.match(rest) or not _DM_LINE.match(line) else " "


JOINTS: dict[str, Joint] = {
    "mdstat": mdstat.joint,
    "mdadm": _mdadm,
    "smartctl": _by_key,
    "megacli": _by_key,
    "ssacli": _ssacli,
    "arcconf": _arcconf,
    "disks": _lists,
    "lsblk": _pairs,
    "cpuinfo": _cpuinfo,
    "storcli": _storcli,
    "lscpu": _by_key,
    "dmesg": _log,
    "uname": _uname,
    "zpool_status": _zpool_status,
    "zfs_get": _zfs_get,
    "by_id": _links,
    "dmsetup": _dmsetup,
}
"""By kind of output."""
