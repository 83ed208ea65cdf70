"""One disk from smartctl -i or -a, with or without -j (smartmontools: ataprint.cpp, scsiprint.cpp, nvmeprint.cpp).

A disk behind a RAID controller is named by the controller's number of it ("megaraid,4"). Without -j, only the command
line before the text tells which disk it is of; a file with one disk's text gives it the file's name.
"""

from __future__ import annotations

import re

from ..command_line import device_before, line_before
from ..facts import Fact, fact, place
from ..findings import Findings, FoundDrive, Interface
from ..output_text import LARGEST, Line, bounded, inner, key_lines, link_rates, rate_of, said, slower_link
from ..outputs import Output
from .identify import namespace

_BEHIND = re.compile(r"megaraid,(\d{1,5})", re.ASCII)
_COMMAND = re.compile(r"\bsmartctl\b.*\s(/dev/\S{1,100})")
_BYTES = re.compile(r"(\d[\d,.\u2019'\u00a0\u202f ]{0,40}) bytes")
_START = re.compile(r"smartctl (?:version )?\d+\.\d+ ")
_OLD_VERSION = re.compile(r"\s+Version:.*")
"""What smartctl 5 prints behind vendor and product of a SCSI disk."""
_RPM = re.compile(r"(\d{4,5}) rpm", re.ASCII)
_SECTORS = re.compile(r"(\d{3,5}) bytes(?:(?: logical)?, (\d{3,5}) bytes physical| logical/physical)?\s*$", re.ASCII)
_MOST_SECTOR = 1 << 16
_MOST_RPM = 30000
_LEAST_RPM = 1000
_TRANSPORTS: dict[str, Interface] = {"SAS": "sas", "Fibre": "fc", "Parallel": "scsi"}


def read(output: Output) -> Findings:
    """The disk; only a note if smartctl could not open it."""
    root, found = output.root, Findings()
    if root is None:
        return _from_text(output)
    device = inner(root, "device")
    name = said(device, "name")
    model = said(root, "model_name") or said(root, "scsi_model_name")
    size = said(inner(root, "user_capacity"), "bytes") or said(root, "nvme_total_capacity")
    if name is None:
        raise output.text.refused(output.first, "an object with device.name: the output of smartctl -j -i DEVICE")
    kind = said(device, "type")
    behind = _BEHIND.search(kind.text) if kind is not None else None
    if model is None and size is None:
        message = _message(output)
        found.notes.append(f"{place(name)}: smartctl says nothing of {name.text}{message}")
        return found
    known = namespace(name.text.rsplit("/", 1)[-1]) if behind is None else f"megaraid{behind[1]}"
    drive = FoundDrive(known, place(name))
    if behind is not None:
        drive.device_id = int(behind[1])
    if model is not None:
        drive.model = fact(model.text, model)
    serial = said(root, "serial_number")
    drive.ids += [serial.text] if serial is not None else []
    if size is not None:
        drive.capacity = fact(bounded(size, LARGEST), size) if size.text != "0" else None
    rotation = said(root, "rotation_rate")
    if rotation is not None:
        turns = bounded(rotation, _MOST_RPM)
        if turns == 0:
            drive.solid_state = fact(True, rotation)
        elif turns >= _LEAST_RPM:
            drive.rotation = fact(float(turns), rotation)
    _interface(output, drive, found)
    cache = said(inner(root, "write_cache"), "enabled") or said(inner(root, "scsi_cache"), "write_cache_enabled")
    if cache is not None and cache.text in ("true", "false"):
        drive.write_cache = fact(cache.text == "true", cache)
    logical, physical = said(root, "logical_block_size"), said(root, "physical_block_size")
    if logical is not None and logical.text.isdecimal():
        drive.logical_sector = fact(bounded(logical, _MOST_SECTOR), logical)
    if physical is not None and physical.text.isdecimal():
        drive.physical_sector = fact(bounded(physical, _MOST_SECTOR), physical)
    found.drives[known] = drive
    return found


def _from_text(output: Output) -> Findings:
    """The disk of a text without -j."""
    text, found = output.text, Findings()
    where = f"{text.name}:{output.first}"
    behind = _BEHIND.search(line_before(output))
    device = (
        f"megaraid{behind[1]}" if behind is not None else device_before(output, _COMMAND, _START, found, "smartctl")
    )
    if device is None:
        return found
    name = namespace(device)
    drive = FoundDrive(name, where, device_id=int(behind[1]) if behind is not None else None)
    lines = key_lines(text, output.lines)
    keys = ("Device Model", "Product", "Model Number", "Device")
    model = next((lines[key] for key in keys if key in lines), None)
    size = lines.get("User Capacity") or lines.get("Total NVM Capacity") or lines.get("Namespace 1 Size/Capacity")
    rotation = lines.get("Rotation Rate")
    if model is None and size is None:
        found.notes.append(f"{where}: smartctl says nothing of {name}")
        return found
    if model is not None and model.value.text:
        said = _OLD_VERSION.sub("", model.value.text) if model.key.text == "Device" else model.value.text
        drive.model = fact(" ".join(said.split()), model.value)
    if size is None:
        found.notes.append(f"{where}: {name} has no size in this text; it is the catalogue's, or what an array needs")
    number = _BYTES.match(size.value.text) if size is not None else None
    if size is not None and number is not None:
        digits = size.value._replace(text=re.sub(r"\D", "", number[1]))
        drive.capacity = fact(bounded(digits, LARGEST), size.value)
    turns = _RPM.match(rotation.value.text) if rotation is not None else None
    if rotation is not None and turns is not None:
        drive.rotation = fact(float(turns[1]), rotation.value)
    elif "NVMe Version" in lines or (rotation is not None and rotation.value.text == "Solid State Device"):
        drive.solid_state = Fact(True, where)
    serial = lines.get("Serial Number") or lines.get("Serial number")
    drive.ids += [serial.value.text] if serial is not None and serial.value.text else []
    _text_interface(lines, drive, found)
    sectors = lines.get("Sector Size") or lines.get("Sector Sizes") or lines.get("Logical block size")
    if sectors is not None and (match := _SECTORS.match(sectors.value.text)) is not None:
        drive.logical_sector = fact(int(match[1]), sectors.value)
        drive.physical_sector = fact(int(match[2] or match[1]), sectors.value)
    cache = lines.get("Write cache is") or lines.get("Writeback Cache is")
    if cache is not None and cache.value.text in ("Enabled", "Disabled"):
        drive.write_cache = fact(cache.value.text == "Enabled", cache.value)
    found.drives[name] = drive
    return found


def _text_interface(lines: dict[str, Line], drive: FoundDrive, found: Findings) -> None:
    sata, transport = lines.get("SATA Version is"), lines.get("Transport protocol")
    if sata is not None:
        drive.interface = fact("sata", sata.value)
        rates = link_rates(sata.value)
        if rates is not None:
            drive.interface_rate = fact(rates[0], sata.value)
            note = slower_link(drive.name, *rates, place(sata.value))
            found.notes += [note] if note is not None else []
    elif transport is not None:
        known = next((kind for word, kind in _TRANSPORTS.items() if transport.value.text.startswith(word)), None)
        drive.interface = fact(known, transport.value) if known is not None else None


def _message(output: Output) -> str:
    """What smartctl reports of itself, if it does."""
    messages = inner(output.root, "smartctl", "messages")
    first = messages.items[0] if messages is not None and messages.items else None
    words = said(first, "string")
    return f": {words.text}" if words is not None else ""


def _interface(output: Output, drive: FoundDrive, found: Findings) -> None:
    root = output.root
    protocol, sata = said(inner(root, "device"), "protocol"), said(inner(root, "sata_version"), "string")
    transport = said(inner(root, "scsi_transport_protocol"), "name")
    if protocol is not None and protocol.text == "NVMe":
        drive.interface = fact("nvme", protocol)
        drive.solid_state = fact(True, protocol)
    elif sata is not None:
        drive.interface = fact("sata", sata)
    elif protocol is not None and protocol.text == "ATA":
        old = drive.name.startswith("hd")
        drive.interface = fact("pata" if old else "sata", protocol)
    elif transport is not None:
        known = next((kind for word, kind in _TRANSPORTS.items() if transport.text.startswith(word)), None)
        drive.interface = fact(known, transport) if known is not None else None
    made, now = (said(inner(root, "interface_speed", key), "string") for key in ("max", "current"))
    speed = now or made
    rate = rate_of(speed) if speed is not None else None
    if speed is not None and rate is not None:
        drive.interface_rate = Fact(rate, place(speed))
        able = rate_of(made) if made is not None else None
        note = slower_link(drive.name, rate, able or rate, place(speed))
        found.notes += [note] if note is not None else []
