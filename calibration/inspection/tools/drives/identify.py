"""Drives from what they say of themselves: nvme list -o json, nvme id-ctrl (nvme-cli), hdparm -I and -W."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....text.positioned_json import Value
from ..facts import Fact, fact, place
from ..findings import Findings, FoundDrive
from ..output_text import LARGEST, SECTOR, bounded, first_word, inner, key_lines, said
from ..outputs import Output

_COMMAND = re.compile(r"\bnvme\s+id-ctrl\s.*?(?:/dev/)?(nvme\d{1,4})")
_HEAD = re.compile(r"/dev/(?P<name>[\w/-]+):\s*$")
_CONTROLLER = re.compile(r"nvme\d{1,4}")
_SPEED = re.compile(r"\s*\*?\s*Gen\d signaling speed \((?P<rate>[\d.]+)Gb/s\)")
_ANY_SPEED = re.compile(r"signaling speed|\*\s+Gen\d")
_CACHE = re.compile(r"\s+(?P<on>\*)?\s+Write cache\s*$")
_STATE = re.compile(r"\s*write-caching =\s+(?P<on>[01])\b")
"""What -W says."""
_ROTATION = re.compile(r"\s*Nominal Media Rotation Rate:\s*(?P<rate>.+?)\s*$")
_LEAST_RPM, _MOST_RPM = 1000, 30000
_MOST_SECTOR = 1 << 16


def namespace(name: str) -> str:
    """The disk of an NVMe controller: its first namespace ("nvme0n1" of "nvme0"); other names stay."""
    return f"{name}n1" if _CONTROLLER.fullmatch(name) else name


def nvme_list(output: Output) -> Findings:
    """The namespaces of nvme list -o json, of nvme-cli 1 and 2."""
    found = Findings()
    listed = inner(output.root, "Devices")
    if listed is None or listed.kind != "list":
        raise output.text.refused(output.first, "a list with the key 'Devices'")
    for item, model in _namespaces(listed):
        named, size, sector = said(item, "DevicePath"), said(item, "PhysicalSize"), said(item, "SectorSize")
        named = named or said(item, "NameSpace")
        if named is None:
            raise item.cell.refused("a namespace with 'DevicePath' or 'NameSpace'")
        drive = FoundDrive(named.text.rsplit("/", 1)[-1], place(named))
        drive.solid_state, drive.interface = fact(True, named), fact("nvme", named)
        words = said(item, "ModelNumber") or said(model, "ModelNumber")
        if words is not None:
            drive.model = fact(" ".join(words.text.split()), words)
        serial = said(item, "SerialNumber") or said(model, "SerialNumber")
        drive.ids += [serial.text.strip()] if serial is not None else []
        if size is not None and size.text != "0":
            drive.capacity = fact(bounded(size, LARGEST), size)
        if sector is not None and sector.text.isdecimal():
            drive.logical_sector = fact(bounded(sector, _MOST_SECTOR), sector)
        found.drives[drive.name] = drive
    return found


def _namespaces(listed: Value) -> Iterator[tuple[Value, Value]]:
    """Each namespace, and the object that has its model."""
    for item in listed.items:
        systems = inner(item, "Subsystems")
        if systems is None:
            yield item, item
            continue
        for system in systems.items:
            controllers = inner(system, "Controllers")
            for controller in controllers.items if controllers is not None else ():
                own, shared = inner(controller, "Namespaces"), inner(system, "Namespaces")
                for group in (own, shared):
                    yield from ((each, controller) for each in (group.items if group is not None else ()))


def id_ctrl(output: Output) -> Findings:
    """Model and capacity of a controller; the command before it tells which."""
    text, found = output.text, Findings()
    lines = key_lines(text, output.lines)
    before = next((line for line in map(text.line, range(output.first - 1, 0, -1)) if line.strip()), "")
    command = _COMMAND.search(before)
    name = namespace(command[1] if command is not None else "nvme0")
    where = f"{text.name}:{output.first}"
    if command is None:
        found.notes.append(f"{where}: no command before it tells which drive this is of; it is called {name}")
    drive = FoundDrive(name, where, solid_state=Fact(True, where), interface=Fact("nvme", where))
    model, size = lines.get("mn"), lines.get("tnvmcap")
    if model is not None and model.value.text:
        drive.model = fact(" ".join(model.value.text.split()), model.value)
    if size is not None and size.value.text.isdecimal() and size.value.text != "0":
        drive.capacity = fact(bounded(size.value, LARGEST), size.value)
    found.drives[name] = drive
    return found


def hdparm(output: Output) -> Findings:
    """What hdparm -I or -W says of each disk."""
    text, found = output.text, Findings()
    starts = [number for number in output.lines if _HEAD.match(text.line(number))]
    for first, after in zip(starts, [*starts[1:], output.last + 1], strict=True):
        head = _HEAD.match(text.line(first))
        assert head is not None
        name = head["name"].rsplit("/", 1)[-1]
        drive = found.drives[name] = FoundDrive(name, f"{text.name}:{first}")
        _identified(output, range(first + 1, after), drive)
    return found


def _identified(output: Output, lines: range, drive: FoundDrive) -> None:
    text, fields = output.text, key_lines(output.text, lines)
    drive.interface = Fact("pata" if drive.name.startswith("hd") else "sata", drive.where)
    model = fields.get("Model Number")
    if model is not None and model.value.text:
        drive.model = fact(" ".join(model.value.text.split()), model.value)
    logical = fields.get("Logical  Sector size") or fields.get("Logical/Physical Sector size")
    physical = fields.get("Physical Sector size") or logical
    unit = SECTOR
    if logical is not None and first_word(logical.value).text.isdecimal():
        unit = bounded(first_word(logical.value), _MOST_SECTOR)
        drive.logical_sector = fact(unit, logical.value)
    if physical is not None and first_word(physical.value).text.isdecimal():
        drive.physical_sector = fact(bounded(first_word(physical.value), _MOST_SECTOR), physical.value)
    sectors = fields.get("LBA48  user addressable sectors") or fields.get("LBA    user addressable sectors")
    if sectors is not None:
        drive.capacity = fact(bounded(sectors.value, LARGEST, unit), sectors.value)
    rates: list[tuple[float, int]] = []
    for number in lines:
        line = text.line(number)
        if turns := _ROTATION.match(line):
            cell = text.group(number, turns, "rate")
            if turns["rate"] == "Solid State Device":
                drive.solid_state = fact(True, cell)
            elif turns["rate"].isdecimal() and _LEAST_RPM <= int(turns["rate"][:6]) <= _MOST_RPM:
                drive.rotation = fact(float(turns["rate"]), cell)
        elif state := _STATE.match(line):
            drive.write_cache = Fact(state["on"] == "1", f"{text.name}:{number}")
        elif cache := _CACHE.match(line):
            drive.write_cache = Fact(cache["on"] is not None, f"{text.name}:{number}")
        elif _ANY_SPEED.search(line) and not _SPEED.match(line):
            raise text.refused(number, "a speed such as 'Gen3 signaling speed (6.0Gb/s)'")
        elif speed := _SPEED.match(line):
            rates.append((text.group(number, speed, "rate").number(1e9, 10), number))
    if rates:
        rate, number = max(rates)
        drive.interface_rate = Fact(rate, f"{text.name}:{number}")
