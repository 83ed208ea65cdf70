"""Drives from lists of them: nvme list (nvme-cli, nvme-print-stdout.c) and fdisk -l (util-linux, fdisk-list.c)."""

from __future__ import annotations

import re

from ....text.report_text import Cell, ReportText
from ..columns import row, ruled
from ..facts import Fact, fact, place
from ..findings import Findings, FoundDrive
from ..output_text import LARGEST, bounded
from ..outputs import Output

_DISK = re.compile(
    r"(?:Disk|Festplatte|Disque) /dev/(?P<name>[\w!/-]+) ?: .*?(?P<bytes>\d{6,20}) (?:bytes|Bytes|octets)", re.ASCII
)
_MODEL = re.compile(r"(?:Disk model|Festplattenmodell|Modèle de disque) ?: (?P<model>\S.*?)\s*$")
_USAGE = re.compile(r"/\s*(?P<size>[\d.]+\s*[kKMGTP]?B)\s*$", re.ASCII)
_NVME_ROW = re.compile(
    r"(?P<Node>/dev/\S+)\s+(?:/dev/\S+\s+)?\S+\s+(?P<Model>\S.*?)\s+(?:0x)?[\da-f]{1,8}\s+"
    r"(?P<Usage>[\d.]+\s+[kKMGTP]?B\s+/\s+[\d.]+\s+[kKMGTP]?B)\s+\d+\s+K?i?B\s+\+\s+\d+\s+B\s+\S+\s*$"
)
_NOT_DISKS = ("md", "mapper/", "loop", "ram", "zram", "dm-", "zd")
_NO_PHYSICAL_DISK = ("sr", "fd")
_POWERS = {"kB": 1, "KB": 1, "MB": 2, "GB": 3, "TB": 4, "PB": 5}


def read(output: Output) -> Findings:
    """The drives, each with what its line says."""
    if output.text.line(output.first).startswith("Node"):
        return _nvme(output)
    return _fdisk(output)


def _nvme(output: Output) -> Findings:
    """A line for a namespace: node, model, and "used / size"."""
    text, found = output.text, Findings()
    rule = text.after(output.first)
    while rule < output.last and not text.line(rule).strip():
        rule += 1
    names = ruled(text.line(output.first), text.line(rule))
    if any(not heading for heading, _, _ in names) or text.line(output.first)[names[-1][2] if names else 0 :].strip():
        raise text.refused(output.first, "a heading above each of the dashes in the line below")
    if not names:
        raise text.refused(rule, "a rule of dashes below the headings")
    for number in output.lines:
        if not text.line(number).startswith("/dev/"):
            continue
        broken = text.after(number) != number + 1
        cells = _broken_row(text, number) if broken else row(text, number, names)
        node = cells.get("Node")
        if node is None:
            raise text.refused(number, "a namespace's node, such as /dev/nvme0n1, in the first column")
        drive = FoundDrive(node.text.rsplit("/", 1)[-1], place(node))
        drive.solid_state = fact(True, node)
        drive.interface = fact("nvme", node)
        model, usage = cells.get("Model"), cells.get("Usage")
        if model is not None:
            drive.model = fact(model.text, model)
        size = _USAGE.search(usage.text) if usage is not None else None
        if size is not None and usage is not None:
            words = re.fullmatch(r"([\d.]+)\s*(\w+)", size["size"])
            digits = words[1] if words is not None else ""
            if words is None or not re.fullmatch(r"\d{1,6}(?:\.\d{1,4})?", digits) or words[2] not in _POWERS:
                raise usage.refused("a size such as '250.06 GB / 1.00 TB'")
            drive.rough_capacity = fact(int(float(digits) * 1000 ** _POWERS[words[2]]), usage)
        found.drives[drive.name] = drive
    return found


def _broken_row(text: ReportText, number: int) -> dict[str, Cell]:
    """The cells of a row that mail has broken: nothing stands below its heading, but each has its form."""
    match = _NVME_ROW.match(text.line(number))
    if match is None:
        raise text.refused(number, "a row of nvme list in one line, or what nvme list -o json prints", "a broken line")
    return {heading: text.group(number, match, heading) for heading in ("Node", "Model", "Usage")}


def _fdisk(output: Output) -> Findings:
    """A block for a disk: name and bytes, then the model; arrays and volumes are no disks."""
    text, found = output.text, Findings()
    drive: FoundDrive | None = None
    for number in output.lines:
        line = text.line(number)
        match = _DISK.match(line)
        if match is not None:
            drive = None
            if match["name"].startswith(_NOT_DISKS):
                continue
            size = text.group(number, match, "bytes")
            drive = FoundDrive(match["name"].rsplit("/", 1)[-1], place(size))
            drive.loose = drive.name.startswith(_NO_PHYSICAL_DISK)
            drive.capacity = fact(bounded(size, LARGEST), size)
            if drive.name.startswith(("vd", "xvd")):
                drive.interface = Fact("virtual", place(size))
            found.drives[drive.name] = drive
        elif drive is not None and (model := _MODEL.match(line)):
            cell = text.group(number, model, "model")
            drive.model = fact(cell.text, cell)
    return found
