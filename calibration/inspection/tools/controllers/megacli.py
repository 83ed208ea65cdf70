"""Controllers, virtual and physical drives from MegaCli: -LDInfo, -PDList, -LdPdInfo, -AdpAllInfo, -AdpBbuCmd.

The texts are described in LSI's MegaRAID SAS Software User Guide. Inquiry data hold serial number, model and revision
without gaps; only a maker's model is taken out of them.
"""

from __future__ import annotations

import re

from ....text.report_text import Cell
from ..facts import fact, place
from ..findings import Findings, FoundArray, FoundController, FoundDrive
from ..output_text import Line, bounded, has_unit, pairs, rate_of, sectors_of, size_of
from ..outputs import Output
from ..seat import Seat, SeatState
from .hardware import (
    INTERFACES,
    MOST_IN_SPAN,
    MOST_NUMBER,
    battery_state,
    controller_name,
    drive_name,
    model_drive,
    policy_words,
)

RANK = 3
_ADAPTER = re.compile(r"(?:Adapter|BBU status for Adapter)\b[ #:]*(?P<number>\d{1,4})", re.ASCII)
_VOLUME = re.compile(r"(?P<number>\d{1,4}) \(Target Id: ?\d+\)", re.ASCII)
_PRIMARY = re.compile(r"Primary-(\d)")
_POSITION = re.compile(r"DiskGroup: (\d{1,4})(?:, Span: (\d{1,4}), Arm: (\d{1,4}))?", re.ASCII)
_MODEL = re.compile(
    r"(?:WDC )?WD\d{2,6}[A-Z]{2,5}[A-Z0-9]*(?:-[A-Z0-9]+)?|ST\d{2,8}[A-Z]{2}\w*(?:-[A-Z0-9]+)?|H[UDTS][A-Z]\d{4}\w+"
    r"|(?:TOSHIBA|FUJITSU|HITACHI|HGST|SAMSUNG|Maxtor|MAXTOR|INTEL|Micron)[ _]\w[\w-]*(?: \w[\w-]*)?",
    re.ASCII,
)
_MEMORY_CACHE = "Current Size of FW Cache"
_STATES: tuple[tuple[str, SeatState], ...] = (
    ("Online", "in use"),
    ("Rebuild", "rebuilding"),
    ("Failed", "failed"),
    ("Offline", "failed"),
    ("Hotspare", "spare"),
)
_SOLID, _TURNING = "Solid State Device", "Hard Disk Device"


def read(output: Output) -> Findings:
    """Everything of all adapters."""
    found = Findings()
    reader = _Reader(found, output.text.name)
    text = output.text
    for line in _lines(output):
        reader.read(line)
    if not (found.arrays or found.drives or any(each.product or each.battery for each in found.controllers.values())):
        found.notes.append(f"{text.name}:{output.first}: MegaCli names no virtual and no physical drive")
    return found


def _lines(output: Output) -> list[Line]:
    """Lines with a colon, and those that begin an adapter's part without one."""
    found = {line.key.line: line for line in pairs(output.text, output.lines)}
    for number in output.lines:
        line = output.text.line(number)
        if number not in found and _ADAPTER.match(line):
            whole = Cell(line.strip(), output.text.name, number, 1)
            found[number] = Line(whole, whole._replace(text=""))
    return [found[number] for number in sorted(found)]


class _Reader:
    """Where in the text it is: at an adapter, in a virtual drive, in a physical one."""

    def __init__(self, found: Findings, name: str) -> None:
        self.found = found
        self.name = name
        self.number = 0
        self.array: FoundArray | None = None
        self.listed = False
        self.enclosure: Cell | None = None
        self.drive: FoundDrive | None = None
        self.default: Cell | None = None

    @property
    def controller(self) -> FoundController:
        name = controller_name(self.number)
        return self.found.controllers.setdefault(name, FoundController(name, self.name))

    def read(self, line: Line) -> None:
        key, value = line
        head = _ADAPTER.match(key.text) or _ADAPTER.match(f"{key.text}:{value.text}")
        if head is not None and key.text.startswith(("Adapter", "BBU status")):
            self.number = bounded(key._replace(text=head["number"]), MOST_NUMBER)
            self.array = self.drive = self.enclosure = None
            self.controller.where = place(key)
        elif key.text in ("Virtual Drive", "Virtual Disk", "CacheCade Virtual Drive"):
            self._volume(line)
        elif key.text == "PD" and value.text.endswith("Information"):
            self.listed = True
        elif key.text == "Enclosure Device ID":
            self.enclosure, self.drive = value, None
        elif key.text == "Slot Number":
            self._slot(line)
        elif self.drive is not None:
            self._of_drive(key, value, self.drive)
        elif self.array is not None:
            self._of_array(key, value, self.array)
        else:
            self._of_adapter(key, value)

    def _volume(self, line: Line) -> None:
        match = _VOLUME.match(line.value.text)
        if match is None:
            raise line.value.refused("the number of a virtual drive, such as '0 (Target Id: 0)'")
        name = f"c{self.number}v{int(match['number'])}"
        self.array = FoundArray(name, place(line.key), RANK, controller=self.controller.name)
        self.found.arrays[name] = self.array
        self.drive, self.default, self.listed = None, None, False
        if line.key.text.startswith("CacheCade"):
            self.array.reason = "it is a cache of solid-state drives"

    def _slot(self, line: Line) -> None:
        slot = line.value
        bounded(slot, MOST_NUMBER)
        enclosure = self.enclosure.text if self.enclosure is not None else ""
        if len(enclosure) > 5:
            raise slot.refused("an enclosure's number in the line before")
        name = drive_name(self.number, enclosure, slot.text)
        known = self.controller.name
        self.drive = model_drive(self.found, name, place(slot), Seat(known, "free"))

    def _of_array(self, key: Cell, value: Cell, array: FoundArray) -> None:
        name = " ".join(key.text.split()).lower()
        if name == "raid level":
            match = _PRIMARY.match(value.text)
            level = f"raid{match[1]}" if match is not None else ""
            if level not in ("raid0", "raid1", "raid5", "raid6"):
                raise value.refused("Primary-0, -1, -5 or -6")
            array.level = fact(level, value)
        elif name == "size":
            array.size = fact(size_of(value), value)
        elif name in ("strip size", "stripe size"):
            array.chunk = fact(size_of(value), value)
        elif name in ("number of drives", "number of drives per span"):
            array.per_span = fact(bounded(value, MOST_IN_SPAN, least=1), value)
        elif name == "span depth":
            array.depth = fact(bounded(value, MOST_IN_SPAN, least=1), value)
        elif name == "state" and value.text.startswith("Offline"):
            array.reason = "it is offline"
        elif name == "default cache policy":
            self.default = value
        elif name == "current cache policy":
            array.policy = policy_words(self.controller, self.default, value)
        elif name == "disk cache policy" and value.text in ("Enabled", "Disabled"):
            array.disk_cache = fact(value.text == "Enabled", value)

    def _of_drive(self, key: Cell, value: Cell, drive: FoundDrive) -> None:
        name, seat = key.text, drive.seat
        if name == "Firmware state" and seat is not None:
            state = next((state for word, state in _STATES if value.text.startswith(word)), None)
            seat.state = state or "free"
        elif name in ("Drive's position", "Drive's postion") and seat is not None:
            match = _POSITION.match(value.text)
            if match is not None:
                seat.group, seat.span = int(match[1]), int(match[2] or 0)
                seat.arm = int(match[3]) if match[3] else None
                if self.listed and self.array is not None and self.array.group is None:
                    self.array.group = seat.group
        elif name == "Device Id" and value.text.isdecimal():
            drive.device_id = bounded(value, 65535)
        elif name == "PD Type" and value.text in INTERFACES:
            drive.interface = fact(INTERFACES[value.text], value)
        elif name == "Raw Size":
            sectors = sectors_of(value)
            if sectors:
                drive.capacity = fact(sectors, value)
            elif value.text[:1].isdecimal() and has_unit(value):
                drive.rough_capacity = fact(size_of(value), value)
        elif name == "Media Type" and value.text in (_SOLID, _TURNING):
            drive.solid_state = fact(value.text == _SOLID, value)
        elif name == "Device Speed":
            rate = rate_of(value)
            drive.interface_rate = fact(rate, value) if rate is not None else None
        elif name == "Inquiry Data":
            match = _MODEL.search(value.text)
            drive.model = fact(match[0], value) if match is not None else None

    def _of_adapter(self, key: Cell, value: Cell) -> None:
        controller = self.controller
        if key.text == "Product Name":
            controller.product = fact(value.text, value)
        elif key.text == "Memory Size" and value.text[:1].isdecimal():
            controller.memory = fact(size_of(value), value)
        elif key.text == _MEMORY_CACHE and value.text[:1].isdecimal():
            controller.cache = fact(size_of(value), value)
        elif key.text == "BBU" and value.text == "Absent":
            controller.battery = fact("failed", value)
        elif key.text == "Battery State":
            controller.battery = battery_state(value)
        elif key.text == "Learn Cycle Active" and value.text == "Yes":
            controller.battery = fact("learning", value)
