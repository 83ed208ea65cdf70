"""From what was printed to a scenario: read every output, bring together what they say, choose, write it down."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...model.core.errors import InputError
from ...scenarios.documents.document import document_from
from ..formats.monitors import mdstat as mdstat_format
from .chosen import Selection
from .commented_yaml import Mapping
from .pool_drives import name_drives
from .refusal import blamed
from .scenario_document import scenario
from .selection import select
from .tools import not_read
from .tools.controllers import arcconf, megacli, omreport, ssacli, storcli, tw_cli
from .tools.controllers.hardware import connect
from .tools.doubts import check_names, doubts, lost_datasets
from .tools.drives import by_id, disk_lists, identify, lsblk, smartctl
from .tools.findings import Findings
from .tools.host import kernel_log, lspci, proc_files, sysfs
from .tools.md import mdadm, mdstat
from .tools.outputs import MEASURED, MOST_CHARACTERS, Output, between, outputs
from .tools.volumes import bcache, dmsetup, lvs
from .tools.zfs import module, properties, space, status
from .volume_stack import connect_volumes

_READERS: dict[str, Callable[[Output], Findings]] = {
    "storcli": storcli.read,
    "megacli": megacli.read,
    "ssacli": ssacli.read,
    "arcconf": arcconf.read,
    "tw_cli": tw_cli.read,
    "omreport": omreport.read,
    "mdadm": mdadm.read,
    "mdstat": mdstat.read,
    "dmsetup": dmsetup.read,
    "lvs": lvs.read,
    "bcache": bcache.super_show,
    "lsblk": lsblk.read,
    "smartctl": smartctl.read,
    "hdparm": identify.hdparm,
    "lspci": lspci.read,
    "dmesg": kernel_log.read,
    "nvme": identify.nvme_list,
    "id_ctrl": identify.id_ctrl,
    "disks": disk_lists.read,
    "cpuinfo": proc_files.cpuinfo,
    "meminfo": proc_files.meminfo,
    "lscpu": proc_files.lscpu,
    "free": proc_files.free,
    "uname": proc_files.uname,
    "sysfs": sysfs.read,
    "by_id": by_id.read,
    "zpool_status": status.read,
    "zpool_list": space.read,
    "zfs_get": properties.read_get,
    "zfs_list": properties.read_list,
    "arcstats": module.arcstats,
    "zfs_parameters": module.parameters,
    "arc_summary": module.arc_summary,
}
"""By kind, in the order in which they are believed."""
_MOST_SKIPPED = 3
_WIDTH = 100


class Source(NamedTuple):
    """A text to inspect.

    Attributes
    ----------
    name
        What errors and comments call it.
    text
        What was printed.
    kind
        The only kind of output that it may be; any unless given.
    """

    name: str
    text: str
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """The scenario that was made.

    Attributes
    ----------
    text
        The document, with a comment after each value.
    document
        The same as plain data.
    found
        Each value that was read: its path, the value, and where.
    assumed
        Each that was not: its path, the value, and why.
    notes
        What was left out, and what a reader should know.
    names
        Drives by what udev or a pool calls them.
    """

    text: str
    document: dict[str, Any]
    found: list[dict[str, Any]]
    assumed: list[dict[str, Any]]
    notes: list[str]
    names: dict[str, str] = field(default_factory=dict)


def inspect(sources: Sequence[Source], name: str, ignore_solid_state: bool = False) -> Inspection:
    """The scenario of the machine that printed the sources.

    Parameters
    ----------
    sources
        What was printed; each may hold several outputs.
    name
        What the scenario is called.
    ignore_solid_state
        Leave out arrays of drives without moving parts.

    Raises
    ------
    InputError
        If something is damaged, or nothing in it can be simulated.
    """
    found = Findings()
    printed: list[Output] = []
    for source in sources:
        printed += _printed(source, found)
    for kind, read in _READERS.items():
        for output in printed:
            if output.kind == kind:
                said = read(output)
                said.notes += doubts(output, said)
                found.add(said)
    check_names(found)
    found.notes += lost_datasets(found)
    connect(found)
    connect_volumes(found)
    name_drives(found)
    names = list(dict.fromkeys(source.name for source in sources))
    selection, top, notes, text = _checked(found, names, name, ignore_solid_state)
    remarks = top.remarks()
    return Inspection(
        text,
        top.plain(),
        [{"path": path, "value": value, "where": entry.found} for path, value, entry in remarks if entry.found],
        [{"path": path, "value": value, "why": entry.assumed} for path, value, entry in remarks if entry.assumed],
        list(dict.fromkeys([*selection.notes, *notes])),
        found.aliases | {leaf.name: leaf.device for pool in found.pools.values() for leaf in pool.leaves},
    )


def _checked(
    found: Findings, names: Sequence[str], name: str, ignore_solid_state: bool
) -> tuple[Selection, Mapping, list[str], str]:
    """The scenario, without the arrays and drives that its own check refuses."""
    refused: dict[str, str] = {}
    lines = textwrap.wrap(f"Made by raidsim inspect from {', '.join(names)}.", _WIDTH, break_on_hyphens=False)
    while True:
        selection = select(found, ignore_solid_state, refused, f"{names[0]}:1")
        top, notes = scenario(found, selection, name)
        text = "".join(f"# {line}\n" for line in lines) + top.text(_in_short(names))
        try:
            document_from(text, name).spec()
        except InputError as error:
            wrong = blamed(error, selection)
            if wrong is None or wrong[0] in refused:
                said = f"found a machine that cannot be simulated ({error.found.removeprefix('found ')})"
                raise InputError(f"{names[0]}:1", said, error.expected) from None
            refused[wrong[0]] = wrong[1]
            continue
        return selection, top, notes, text


def _in_short(names: Sequence[str]) -> dict[str, str]:
    """Names of files for comments: without their folders, where that is enough to tell them apart."""
    last = [Path(name).name for name in names]
    return {
        f"{name}:": f"{short}:"
        for name, short in zip(names, last, strict=True)
        if last.count(short) == 1 and not name.startswith("/proc/")
    }


def _printed(source: Source, found: Findings) -> list[Output]:
    """The outputs of one source; what is none of them is noted."""
    several = outputs(source.text, source.name, source.kind)
    for each in several:
        if each.kind == MEASURED:
            found.notes.append(
                f"{source.name}:{each.first}: what {each.program} prints is skipped: it is a measurement; give it to "
                "raidsim diagnose"
            )
    left = between(several)
    if not left:
        return several
    spans: list[list[int]] = []
    others: list[str] = []
    parts: set[str] = set()
    for number in left:
        line = several[0].text.line(number)
        if mdstat_format.is_part(line) and not line.startswith("unused"):
            raise several[0].text.refused(
                number, "the lines of /proc/mdstat together, with the array's name above them"
            )
        other = not_read.begins(line)
        if other is not None:
            others.append(f"{source.name}:{number}: what {other.what} prints is skipped: {other.why}")
        elif (cropped := not_read.part(line)) is not None and cropped.what not in parts:
            parts.add(cropped.what)
            said = f"{source.name}:{number}: a part of what {cropped.what} prints is skipped: {cropped.why}"
            others.append(f"{said}; give {cropped.instead}")
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    found.notes += list(dict.fromkeys(others))
    texts = [f"{first}-{last}" if first != last else f"{first}" for first, last in spans[:_MOST_SKIPPED]]
    more = ", ..." if len(spans) > _MOST_SKIPPED else ""
    found.notes.append(f"{source.name}: lines {', '.join(texts)}{more} are skipped: no output that is read")
    return several


def read_source(path: Path, kind: str | None = None) -> Source:
    """A file to inspect.

    Raises
    ------
    InputError
        If it cannot be read, or is no text.
    """
    name = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(4 * MOST_CHARACTERS + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(name, f"cannot be read ({reason})", "expected: a file with a program's output") from None
    return Source(name, decoded(content, name), kind)


def decoded(content: bytes, name: str) -> str:
    """The text of a file; `InputError` if it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        found = f"found the byte 0x{content[error.start]:02x}"
        raise InputError(f"{name}:{line}:{column}", found, "expected: plain text in UTF-8") from None
