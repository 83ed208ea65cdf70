"""Which programs printed a text: one output, or several one after another as they are pasted from a terminal.

An output begins with a line that only its program prints, or with a brace for JSON, and ends with the next one, or with
a prompt. What is between them belongs to nobody. White space in front of a whole output, and the marks of a quoted
mail, are no part of it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ....model.core.errors import InputError
from ...formats import in_paste
from ...formats.in_paste import Part
from ...text.paste import PROMPT, breaks, join_wrapped, unquote
from ...text.positioned_json import JsonText, Value, beginning, begins_object
from ...text.report_text import ReportText, shown
from . import not_read
from .wrapping import JOINTS, ZPOOL_KEY, ZPOOL_ROW

MOST_CHARACTERS = 4 << 20
"""What the tools print of the largest machine is shorter."""
MOST_OUTPUTS = 1000
_LONGEST_LINE = 4000
_NO_BREAK = "\u00a0"
"""The blank that web pages put in place of others."""


class Output(NamedTuple):
    """What one program printed.

    Attributes
    ----------
    kind
        A name in :data:`KINDS`.
    text
        All of the file.
    first, last
        Lines that are this output's, from 1.
    root
        The object that it is, if it is JSON.
    program
        That printed it, if it is a measurement.
    """

    kind: str
    text: ReportText
    first: int
    last: int
    root: Value | None = None
    program: str = ""

    @property
    def lines(self) -> range:
        """The numbers of its lines."""
        return range(self.first, self.last + 1)


MEASURED = "measured"
"""The kind of a report of a benchmark or a monitor, which tells nothing of the machine."""
KINDS = {
    "mdstat": "/proc/mdstat",
    "mdadm": "mdadm --detail, --detail --export or --examine",
    "lsblk": "lsblk",
    "smartctl": "smartctl -i, as text or with -j",
    "storcli": "storcli or perccli, with and without J",
    "megacli": "megacli -LDInfo, -PDList, -LdPdInfo, -AdpAllInfo or -AdpBbuCmd",
    "ssacli": "ssacli (hpssacli, hpacucli) ctrl all show config",
    "arcconf": "arcconf getconfig",
    "tw_cli": "tw_cli /c0 show",
    "omreport": "omreport storage controller, vdisk, pdisk or battery",
    "disks": "nvme list or fdisk -l",
    "cpuinfo": "/proc/cpuinfo",
    "meminfo": "/proc/meminfo",
    "nvme": "nvme list -o json",
    "id_ctrl": "nvme id-ctrl",
    "hdparm": "hdparm -I or -W",
    "lspci": "lspci -vv",
    "dmesg": "dmesg",
    "lscpu": "lscpu",
    "free": "free",
    "uname": "uname -a, -sr or -r",
    "by_id": "ls -l /dev/disk/by-id",
    "zpool_status": "zpool status",
    "zpool_list": "zpool list, with or without -v",
    "zfs_get": "zpool get or zfs get",
    "zfs_list": "zfs list",
    "zfs_parameters": "grep . /sys/module/zfs/parameters/*",
    "arcstats": "/proc/spl/kstat/zfs/arcstats",
    "arc_summary": "arc_summary",
    "sysfs": "grep . /sys/block/*/queue/*",
    "dmsetup": "dmsetup table, status or ls",
    "lvs": "lvs -a -o +devices,segtype,cache_mode, also with --reportformat json",
    "bcache": "bcache-super-show",
}
"""What can be read, and what prints it."""

_STARTS = {
    "sysfs": r"/sys/block/[\w!-]+/[\w/.-]+:",
    "bcache": r"sb\.magic\s",
    "lvs": r"\s*LV\s+(?=.*\b(?:VG|Attr|LSize|Devices)\b)",
    "dmsetup": r"[^\s:/#>][^\s:]*: \d+ \d+ [a-z][\w-]*(?:\s|$)|[^\s:/(]+\s+\(\d+[:,] ?\d+\)\s*$",
    "zpool_status": r"\s*pool: \S",
    "zpool_list": r"NAME\s+(?=.*\b(?:ALLOC|FRAG|HEALTH|DEDUP)\b)",
    "zfs_get": r"NAME\s+PROPERTY\s+VALUE\b",
    "zfs_list": r"NAME\s+(?=.*\b(?:REFER|VOLSIZE|RECSIZE|VOLBLOCK)\b)",
    "zfs_parameters": r"\S*/sys/module/zfs/parameters/\w+:|options zfs \w|(?:zfs|zfetch|zil|zio|spa|l2arc)_\w+[:=]\d",
    "arcstats": r"\d+ \d 0x01 \d+ \d+ \d+ \d+\s*$|name\s+type\s+data\s*$",
    "arc_summary": r"ZFS Subsystem Report\b|ARC (?:status|size \(current\)):",
    "by_id": r"total \d+\s*$|l[r-][w-]\S+\s.* -> (?:\.\./)+\w+\s*$",
    "mdstat": r"Personalities\s*:|md\S*\s*: (?:in)?active\b",
    "mdadm": r"/dev/\S+:\s*$|MD_LEVEL=",
    "lsblk": r"(?:NAME|KNAME) +(?=.*\b(?:TYPE|SIZE|ROTA|MODEL|FSTYPE|MAJ:MIN)\b)"
    r'|(?:NAME|KNAME)="[^"]*" \S+="',
    "storcli": r"(?:CLI Version|Controller) = \S",
    "ssacli": r"(?:HPE? )?(?:Dynamic )?Smart (?:Array|HBA) \S+.* in Slot \S+",
    "arcconf": r"Controllers found: \d|(?:Controller|Logical [Dd]evice|Physical Device) information\s*$"
    r"|Logical [Dd]evice number \d",
    "tw_cli": r"//\S+> |Unit +UnitType +Status\b|V?Port +Status +Unit\b|Ctl +Model +",
    "omreport": r"List of (?:Controllers|Virtual Disks|Batteries) [io]n |List of Physical Disks "
    r"|(?:Virtual|Physical) Disk \S+ on Controller \S|\s*Controller +\S.*\((?:PCI )?(?:Slot )?\w+\)\s*$",
    "disks": r"Node +(?:Generic +)?SN +Model\b"
    r"|(?:Disk|Festplatte|Disque) /dev/\S+ ?: \d.*\b\d+ (?:bytes|Bytes|octets)\b",
    "megacli": r"Adapter #?\d+\b|BBU status for Adapter: \d+",
    "cpuinfo": r"processor\s*:\s*\d+\s*$",
    "meminfo": r"MemTotal:\s*\d+ kB",
    "lspci": r"(?:[\da-f]{4}:)?[\da-f]{2}:[\da-f]{2}\.\d [A-Z][\w -]+: \S",
    "id_ctrl": r"NVME Identify Controller:",
    "dmesg": r"(?:\w{3} +\d+ [\d:]{8} \S+ )?(?:kernel: ?)?\[ *\d+\.\d{6}\] |\[\w{3} \w{3} +\d+ [\d:]{8} \d{4}\] "
    r"|\w{3} +\d+ [\d:]{8} \S+ kernel: |ata\d+(?:\.\d\d)?: \S|(?:sd|scsi) \d+:\d+:\d+:\d+: \S"
    r"|nvme nvme\d+: \S|mpt[23]sas_cm\d+: \S|megaraid_sas [\da-f:.]+: \S|md/\w+:\w+: \S"
    r"|(?:pci|nvme) [\da-f:]+\.\d: .*available PCIe bandwidth|(?:blk_update_request: )?\S+ error, dev \w+, sector",
    "lscpu": r"(?:Architecture|Architektur) *: +\w",
    "free": r"\s*(?:total|gesamt)\s+(?:used|benutzt|utilisé)\s+(?:free|frei|libre)\b",
    "smartctl": r"smartctl (?:version )?\d+\.\d+ ",
    "uname": r"Linux (?:\S+ |version )?\d+\.\d+|FreeBSD \S*\s?\d+\.\d+",
}
_START = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _STARTS.items()), re.ASCII)
_DEVICE_NEXT = re.compile(r"\s+(?:Version|Magic|MBR Magic|Container|Raid Level)\s*:")
"""mdadm's first line below the name of a device; that of a volume with external metadata has no version."""
_ATA_NEXT = re.compile(r"(?:CompactFlash )?ATA device| write-caching = ")
"""hdparm's."""
_RELEASE = re.compile(r"\d{1,2}\.\d{1,3}(?:\.\d{1,3})?(?:[-.+]\w[\w.+~-]*|)\s*$", re.ASCII)
_UNAME = re.compile(r"(?:^|[#$>%]\s*)(?:sudo\s+)?uname\s+-\w*r\w*\s*$", re.ASCII)
_COMMAND = re.compile(
    r"[#$>%\u276f\u279c\u00bb]\s*(?:~\s+)?(?:sudo\s+)?(?:LC_ALL=C\s+)?(?:\S*/)?"
    r"(?:cat|mdadm|lsblk|smartctl|(?:stor|perc|mega|ssa|hpssa|hpacu)cli\w*|uname|df|mount|fdisk|dmesg|hdparm|ls|exit"
    r"|omreport|nvme|z(?:pool|fs)|arc_?s\w+|btrfs|[plv]vs|dmsetup|blkid|free|lscpu|lspci|dmesg|journalctl|dd|fio|iostat|head|tail|grep|echo)\b",
    re.IGNORECASE,
)
"""A prompt with a command after it."""
_PROMPT_LENGTH = 200
_JSON_KINDS = {
    "blockdevices": "lsblk",
    "smartctl": "smartctl",
    "json_format_version": "smartctl",
    "Controllers": "storcli",
    "Devices": "nvme",
    "report": "lvs",
}
_OBJECT = re.compile(rf'\{{\s*"(?:{"|".join(_JSON_KINDS)})"\s*:')
_TEXT_QUOTE = re.compile(r'(?<!\\)"')
_CONTINUES: dict[str, tuple[str, ...]] = {
    kind: (kind,)
    for kind in (
        *("mdadm", "megacli", "mdstat", "cpuinfo", "disks", "storcli", "ssacli", "lsblk", "arcconf", "tw_cli"),
        *(
            "omreport",
            "hdparm",
            "lspci",
            "dmesg",
            "zpool_status",
            "zfs_parameters",
            "by_id",
            "arcstats",
            "sysfs",
            "dmsetup",
        ),
    )
}
_CONTINUES["arc_summary"] = ("arc_summary", "uname")  # its own lines of the kernel
"""Kinds of which a second beginning is a part of the first output."""
_TABLE_LINE = {
    "lsblk": re.compile(r'[\s|`+├└│─-]*[\w!./:+-]{1,100}(?:\s|$)|(?:NAME|KNAME)="'),
    "disks": re.compile(
        r"/dev/|-{4}|Dis[kq]|Festplatte|Modèle|Einheit|Sektor|E/A|Gerät|Périph|Unit|Sector size|I/O size|Device\b"
        r"|\s|\d+ heads|$"
    ),
    "zpool_status": re.compile(rf"\s|$|{ZPOOL_KEY.pattern}|{ZPOOL_ROW.pattern}"),
    **dict.fromkeys(("zpool_list", "zfs_list", "zfs_get", "lvs"), re.compile(r"\s*\S")),
    "zfs_parameters": re.compile(r"(?:\S*/)?[a-z]\w*[:=]\S|options zfs |\s*$"),
    "arcstats": re.compile(r"name |\w+\s+\d"),
    "sysfs": re.compile(r"/sys/|\s*$"),
    "dmsetup": re.compile(r"[^\s:/]+: \d+ \d+ [a-z]|[^\s:/(]+\s+\(\d|\s|Size Hist|$"),
    "bcache": re.compile(r"(?:sb|dev|cset)\.|\s*$"),
    "dmesg": re.compile(r"\[|\w{3} +\d+ [\d:]{8} |[a-z][\w/:.-]*(?: [\w:.-]+)?: |\S+ error, dev |\s*$"),
    "by_id": re.compile(r"l[r-][w-]|total \d"),
}
"""What a line below the first one of a table is; another one ends the table, and so does an empty one of many."""
_MDSTAT_LINE = re.compile(
    r"\s|\d+ blocks\b|bitmap: |\[[=>.]+\]|(?:recovery|resync|reshape|check|repair)="
    r"|md\S*\s*:|unused devices:|read_ahead |(?:[\w!/.:-]+\[\d+\](?:\([A-Z]\))*\s*)+$|$"
)


def outputs(text: str, name: str, wanted: str | None = None) -> list[Output]:
    """The outputs in a text.

    Parameters
    ----------
    text
        What was printed.
    name
        What errors call it.
    wanted
        The only kind that is allowed; any unless given.

    Raises
    ------
    InputError
        If none is found, or not the one that is wanted.
    """
    if len(text) > MOST_CHARACTERS:
        found = f"{len(text):,} characters"
        raise InputError(name, found, f"expected: at most {MOST_CHARACTERS >> 20} million, as these programs print")
    lines, measured = opened(text, name)
    for part in measured:
        for number in range(part.first, part.last + 1):
            if _kind(lines, number) != "uname":  # iostat's heading tells the kernel
                lines.lines[number - 1] = ""
    if measured and all_measured(lines, measured):
        raise InputError(
            f"{name}:{measured[0].first}",
            f"found what {measured[0].program} prints: it is a measurement",
            "give raidsim parse, or raidsim diagnose",
        )
    _rejoin(lines)
    printed = _all(lines)
    reports = [Output(MEASURED, lines, part.first, part.last, None, part.program) for part in measured]
    kinds = (wanted,) if wanted is not None else tuple(KINDS)
    for output in printed:
        if output.kind not in kinds:
            what = f"what {KINDS[output.kind]} prints"
            raise lines.refused(output.first, f"only what {KINDS[kinds[0]]} prints", what)
    if not printed:
        not_read.refuse(lines)
        known = "; ".join(KINDS[kind] for kind in kinds)
        first = next(line for line in lines.lines if line.strip())
        raise lines.refused(1, f"what one of these prints: {known}", f"no such output, but {shown(first.strip())}")
    return [*printed, *reports]


def opened(text: str, name: str) -> tuple[ReportText, list[Part]]:
    """The lines of a text without the marks of a quoted mail, and the reports of benchmarks and monitors in it."""
    lines = ReportText(text.replace(_NO_BREAK, " "), name)

    def begins(number: int) -> bool:
        return _kind(lines, number) is not None or _begins_object(lines, number)

    unquote(lines, lambda number: begins(number) or in_paste.begins(lines, number) is not None)
    return lines, in_paste.parts(lines, lambda number: begins(number) or _is_prompt(lines.line(number)))


def all_measured(lines: ReportText, measured: list[Part]) -> bool:
    """Whether a text has nothing that tells of the machine beside reports."""
    in_reports = {number for part in measured for number in range(part.first, part.last + 1)}
    return bool(measured) and not any(
        number not in in_reports and (_kind(lines, number) or begins_object(lines, number))
        for number in range(1, len(lines) + 1)
    )


def _rejoin(lines: ReportText) -> None:
    """Put together what mail has broken, in each output by the rule of its kind."""
    starts = []
    for number in range(1, len(lines) + 1):
        kind = "json" if begins_object(lines, number) else _kind(lines, number)
        if kind is not None:
            starts.append((number, kind))
        elif _is_prompt(lines.line(number)):
            starts.append((number, ""))
    ends = [number for number, _ in starts[1:]]
    for (first, kind), after in zip(starts, [*ends, len(lines) + 1], strict=False):
        if kind == "json":
            join_wrapped(lines, range(first, after), _in_a_text)
        elif kind in JOINTS:
            join_wrapped(lines, range(first, after), JOINTS[kind])


def _in_a_text(line: str, rest: str) -> str | None:
    """JSON goes on in the next line if a text has no end."""
    quotes = len(_TEXT_QUOTE.findall(rest))
    goes_on = quotes % 2 == 1 or (not quotes and rest.strip(" {}[],") != "")
    return " " if len(_TEXT_QUOTE.findall(line)) % 2 and goes_on and breaks(line, rest) else None


def _is_prompt(line: str) -> bool:
    """Whether a line is a command that somebody has typed, or a prompt that waits for one."""
    return _COMMAND.search(line, 0, _PROMPT_LENGTH) is not None or PROMPT.match(line) is not None


def _all(lines: ReportText) -> list[Output]:
    found: list[Output] = []
    number, last = 1, len(lines)
    json = JsonText(lines)
    while number <= last:
        if len(found) > MOST_OUTPUTS:
            raise lines.refused(number, f"at most {MOST_OUTPUTS} outputs", "one more output")
        line = lines.line(number)
        if len(line) > _LONGEST_LINE and not line.startswith(("{", "[")):
            raise lines.refused(number, f"lines of at most {_LONGEST_LINE} characters", f"{len(line)} characters")
        if begins_object(lines, number):
            root, end = json.read_object(number)
            kind = next((kind for key, kind in _JSON_KINDS.items() if key in root.members), None)
            if kind is None:
                keys = ", ".join(_JSON_KINDS)
                raise lines.refused(number, f"an object with one of the keys {keys}", "JSON of another kind")
            found.append(Output(kind, lines, number, end, root))
            number = end + 1
            continue
        kind = _kind(lines, number)
        if kind is None:
            number += 1
            continue
        end = _end(lines, number, kind)
        found.append(Output(kind, lines, number, end))
        number = end + 1
    return found


def _kind(lines: ReportText, number: int) -> str | None:
    """The kind of output that a line begins; None if it begins none."""
    line = lines.line(number)
    match = _START.match(line)
    if match is None or match.lastgroup is None:
        return "uname" if _RELEASE.match(line) and _alone(lines, number) else None
    if match.lastgroup == "mdadm" and line.startswith("/dev") and not _DEVICE_NEXT.match(lines.line(number + 1)):
        return "hdparm" if _ATA_NEXT.match(beginning(lines, number)[len(line) :]) else None
    return match.lastgroup


def _begins_object(lines: ReportText, number: int) -> bool:
    """Whether the object of one of the programs begins in a line: with its key there or in the next one."""
    return _OBJECT.match(beginning(lines, number)) is not None


def _alone(lines: ReportText, number: int) -> bool:
    """Whether a line follows the command "uname -r", or is the only one."""
    before = next((line for line in map(lines.line, range(number - 1, 0, -1)) if line.strip()), None)
    if before is not None:
        return _UNAME.search(before[-_PROMPT_LENGTH:]) is not None
    return not any(line.strip() for line in lines.lines[number:])


def _end(lines: ReportText, first: int, kind: str) -> int:
    """The last line of an output."""
    number = first
    if kind == "uname":
        return first
    while (following := lines.after(number)) <= len(lines):
        line = lines.line(following)
        if begins_object(lines, following) or _is_prompt(line):
            break
        if kind == "mdstat" and not _MDSTAT_LINE.match(line[:2000]):
            break
        if kind in _TABLE_LINE and not _TABLE_LINE[kind].match(line[:2000]):
            break
        if not_read.begins(line):
            break
        other = _kind(lines, following)
        if other is not None and other not in _CONTINUES.get(kind, ()):
            break
        if kind == "mdstat" and line.startswith("Personalities"):
            break
        number = following
    return number


def between(found: list[Output]) -> list[int]:
    """The first and last line of everything in a text that no output has, but empty lines and prompts: its numbers."""
    if not found:
        return []
    lines = found[0].text
    used = {number for output in found for number in output.lines}
    return [
        number
        for number, line in enumerate(lines.lines, 1)
        if number not in used and line.strip(" -=") and not _is_prompt(line)
    ]
