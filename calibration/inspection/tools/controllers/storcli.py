"""Controllers, virtual and physical drives from StorCLI and PercCLI, as JSON ("... show all J") and as text.

Read are the lists "VD LIST", "PD LIST", "TOPOLOGY", "/cX/vX", "PDs for VD X" and "Drive /cX/eX/sX" with their details
and properties, "Basics", "HwCfg", "BBU_Info", "Cachevault_Info" (Broadcom, StorCLI Reference Manual), and the list of
"show rebuild".
"""

from __future__ import annotations

import re

from ....text.positioned_json import Value
from ....text.report_text import Cell
from ..facts import Fact, fact, place
from ..findings import Findings, FoundArray, FoundController, FoundDrive, State
from ..output_text import bounded, first_word, has_unit, inner, rate_of, said, sectors_of, size_of
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
    policy_letters,
)
from .storcli_text import UNNAMED, document

RANK = 4
_VOLUME = re.compile(r"/c(\d{1,4})/v(\d{1,4})$")
_DRIVE = re.compile(r"(?:Drive )?/c(\d{1,4})(?:/e(\d{1,5}))?/s(\d{1,4})$")
_DETAILS = re.compile(r"(Drive /c\d{1,4}(?:/e\d{1,5})?/s\d{1,4}) - Detailed Information$")
_PROPERTIES = re.compile(r"VD(\d{1,4}) Properties$")
_OF_VOLUME = re.compile(r"PDs for VD (\d{1,4})$")
_STATES: dict[str, State] = {"Onln": "in use", "Rbld": "rebuilding", "Offln": "failed", "Failed": "failed"}
_SPARES = ("DHS", "GHS")
_LEVELS = {f"RAID{number}": f"raid{number}" for number in (0, 1, 5, 6, 10, 50, 60)}
_STRIPED = "RAID00"
_OFFLINE = ("OfLn", "Offln")
_GROUP = re.compile(r"(?:(\d{1,4})|-)/(\d{1,4})$")
_KEPT_GB = 1 << 30


def read(output: Output) -> Findings:
    """Everything of all controllers."""
    found = Findings()
    listed = inner(output.root if output.root is not None else document(output), "Controllers")
    if listed is None or listed.kind != "list":
        raise output.text.refused(output.first, "a list with the key 'Controllers'")
    for position, item in enumerate(listed.items):
        status, data = inner(item, "Command Status"), inner(item, "Response Data")
        told = said(status, "Controller") or said(inner(data, "Basics"), "Controller")
        number = bounded(told, MOST_NUMBER) if told is not None and told.text.isdecimal() else position
        verdict = said(status, "Status")
        if verdict is not None and verdict.text != "Success":
            why = said(status, "Description")
            words = f": {why.text}" if why is not None else ""
            found.notes.append(f"{place(verdict)}: storcli says {verdict.text}{words}")
        if data is not None:
            _Reader(found, number, place(item.cell)).read(data)
    return found


class _Reader:
    """What one command said of one controller."""

    def __init__(self, found: Findings, number: int, where: str) -> None:
        self.found = found
        self.number = number
        self.controller = found.controllers.setdefault(
            controller_name(number), FoundController(controller_name(number), where)
        )

    def read(self, data: Value) -> None:
        if data.kind == "list":
            for item in data.items:
                self._rebuild(item)
            return
        self._basics(data)
        for row in _rows(data, "TOPOLOGY"):
            self._topology(row)
        for key in ("VD LIST", "Virtual Drives"):
            for row in _rows(data, key):
                self._volume(row, None)
        for key in ("PD LIST", "Physical Drives", "Drive Information"):
            for row in _rows(data, key):
                self._drive(row, None)
        for row in _rows(data, UNNAMED):
            self._rebuild(row)
        for key, value in [*data.members.items(), *_inside(data)]:
            if match := _VOLUME.match(key):
                for row in _rows(data, key):
                    self._volume(row, int(match[2]))
            elif match := _OF_VOLUME.match(key):
                array = self._array(int(match[1]), value.cell)
                for row in value.items:
                    drive = self._drive(row, None)
                    if array.group is None and drive is not None and drive.seat is not None:
                        array.group = drive.seat.group
            elif match := _PROPERTIES.match(key):
                self._properties(value, self._array(int(match[1]), value.cell))
            elif match := _DRIVE.match(key):
                for row in value.items:
                    self._drive(row, drive_name(int(match[1]), match[2] or "", match[3]))
            elif match := _DETAILS.match(key):
                self._details(value, match[1])

    def _basics(self, data: Value) -> None:
        controller, config = self.controller, inner(data, "HwCfg")
        product = said(inner(data, "Basics"), "Model") or said(data, "Product Name")
        if product is not None:
            controller.product = fact(product.text, product)
        memory, cache = said(config, "On Board Memory Size"), said(config, "Current Size of FW Cache (MB)")
        if memory is not None and memory.text[:1].isdecimal():
            controller.memory = fact(size_of(memory), memory)
        if cache is not None and cache.text.isdecimal():
            controller.cache = fact(bounded(cache, _KEPT_GB, 1) << 20, cache)
        bus, defaults = said(inner(data, "Bus"), "Device Interface"), said(inner(data, "Defaults"), "Strip Size")
        if bus is not None:
            controller.interface = fact(bus.text, bus)
        if defaults is not None and defaults.text[:1].isdecimal():
            controller.chunk = fact(size_of(defaults), defaults)
        kept = _rows(data, "Cachevault_Info") or _rows(data, "BBU_Info")
        state = said(kept[0], "State") if kept else None
        present = said(config, "BBU")
        if state is not None:
            controller.battery = battery_state(state)
        elif present is not None and present.text == "Absent":
            controller.battery = fact("failed", present)

    def _array(self, number: int, cell: Cell) -> FoundArray:
        name = f"c{self.number}v{number}"
        known = self.found.arrays.get(name)
        if known is None:
            known = self.found.arrays[name] = FoundArray(name, place(cell), RANK, controller=self.controller.name)
        return known

    def _volume(self, row: Value, number: int | None) -> None:
        both = said(row, "DG/VD")
        match = _GROUP.match(both.text) if both is not None else None
        if number is None:
            if match is None:
                raise (both or row.cell).refused("a virtual drive with 'DG/VD', such as 0/0")
            number = int(match[2])
        array = self._array(number, both or row.cell)
        if match is not None and match[1] is not None:
            array.group = int(match[1])
        kind, state, cache, size = (said(row, key) for key in ("TYPE", "State", "Cache", "Size"))
        if kind is not None:
            if kind.text == _STRIPED:
                array.level = fact("raid0", kind)
                array.notes.append(f"{array.name}: a stripe over stripes ({place(kind)}) is simulated as one stripe")
            elif kind.text in _LEVELS:
                array.level = fact(_LEVELS[kind.text], kind)
            else:
                array.reason = f"the model has no {kind.text}"
        if state is not None and state.text in _OFFLINE:
            array.reason = "it is offline"
        if size is not None and size.text[:1].isdecimal():
            array.size = fact(size_of(size), size)
        if cache is not None:
            array.policy = policy_letters(cache)

    def _properties(self, value: Value, array: FoundArray) -> None:
        strip, depth, each = (said(value, key) for key in ("Strip Size", "Span Depth", "Number of Drives Per Span"))
        if strip is not None:
            array.chunk = fact(size_of(strip), strip)
        if depth is not None:
            array.depth = fact(bounded(depth, MOST_IN_SPAN, least=1), depth)
        if each is not None:
            array.per_span = fact(bounded(each, MOST_IN_SPAN, least=1), each)
        shown, cache, working = (
            said(value, key) for key in ("OS Drive Name", "Disk Cache Policy", "Active Operations")
        )
        if shown is not None and shown.text.startswith("/dev/"):
            array.shown_as = shown.text.removeprefix("/dev/")
        if cache is not None and cache.text in ("Enabled", "Disabled"):
            array.disk_cache = fact(cache.text == "Enabled", cache)
        if working is not None and working.text != "None":
            array.notes.append(f"{array.name}: {working.text} ({place(working)}) is not simulated")

    def _topology(self, row: Value) -> None:
        """A row with a place: a drive in it, or nobody."""
        kind, state = said(row, "Type"), said(row, "State")
        group, span, arm, seat = (said(row, key) for key in ("DG", "Arr", "Row", "EID:Slot"))
        if kind is None or kind.text != "DRIVE" or state is None:
            return
        numbers = [
            bounded(cell, MOST_NUMBER) if cell is not None and cell.text.isdecimal() else None
            for cell in (group, span, arm)
        ]
        taken = _seat_state(state.text)
        here = Seat(self.controller.name, taken, numbers[0], numbers[1] or 0, numbers[2])
        name = self._seat_name(seat)
        if name is not None:
            model_drive(self.found, name, place(state), here)
        elif taken == "missing":
            self.found.empty.append((here, place(state)))

    def _seat_name(self, cell: Cell | None) -> str | None:
        if cell is None or ":" not in cell.text:
            return None
        enclosure, _, slot = (part.strip() for part in cell.text.partition(":"))
        if not re.fullmatch(r"\d{1,4}", slot, re.ASCII) or not re.fullmatch(r"\d{0,5}", enclosure, re.ASCII):
            raise cell.refused("enclosure and slot, such as 252:0")
        return drive_name(self.number, enclosure, slot)

    def _drive(self, row: Value, name: str | None) -> FoundDrive | None:
        """A row of a list of physical drives."""
        seat, state, group = said(row, "EID:Slt"), said(row, "State"), said(row, "DG")
        name = name or self._seat_name(seat)
        if name is None or state is None:
            raise (seat or row.cell).refused("a physical drive with 'EID:Slt' and 'State', such as 252:0 and Onln")
        number = bounded(group, MOST_NUMBER) if group is not None and group.text.isdecimal() else None
        where = place(state)
        drive = model_drive(self.found, name, where, Seat(self.controller.name, _seat_state(state.text), number))
        hba = self.controller.product is not None and "HBA" in self.controller.product.value
        drive.passed = state.text == "JBOD" or (hba and state.text in ("UGood", "Onln"))
        size, kind, medium, model, numbered = (said(row, key) for key in ("Size", "Intf", "Med", "Model", "DID"))
        if size is not None and size.text[:1].isdecimal():
            rough = has_unit(size)
            drive.rough_capacity = (
                fact(size_of(size), size) if rough and drive.rough_capacity is None else (drive.rough_capacity)
            )
        if kind is not None and kind.text in INTERFACES:
            drive.interface = fact(INTERFACES[kind.text], kind)
        if medium is not None and medium.text in ("SSD", "HDD"):
            drive.solid_state = fact(medium.text == "SSD", medium)
        if model is not None:
            drive.model = fact(model.text, model)
        if numbered is not None and numbered.text.isdecimal():
            drive.device_id = bounded(numbered, 65535)
        return drive

    def _details(self, value: Value, name: str) -> None:
        match = _DRIVE.match(name)
        attributes = inner(value, f"{name} Device attributes")
        if match is None or attributes is None:
            return
        known = self.found.drives.get(drive_name(int(match[1]), match[2] or "", match[3]))
        if known is None:
            return
        size, speed, model = (said(attributes, key) for key in ("Raw size", "Device Speed", "Model Number"))
        sectors = sectors_of(size) if size is not None else None
        logical = said(attributes, "Logical Sector Size")
        if size is not None and sectors and (logical is None or logical.text == "512B"):
            known.capacity = fact(sectors, size)
        rate = rate_of(speed) if speed is not None else None
        if speed is not None and rate is not None:
            known.interface_rate = fact(rate, speed)
        if model is not None and known.model is None:
            known.model = fact(model.text, model)

    def _rebuild(self, item: Value) -> None:
        """A row of "show rebuild"."""
        drive, share = said(item, "Drive-ID"), said(item, "Progress%")
        match = _DRIVE.match(drive.text) if drive is not None else None
        if match is not None and share is not None and share.text.isdecimal():
            done = bounded(first_word(share), 100) / 100
            self.found.rebuilds[drive_name(int(match[1]), match[2] or "", match[3])] = Fact(done, place(share))


def _seat_state(text: str) -> SeatState:
    """What a drive does: "UGood", "UBad" and "JBOD" are in no array."""
    if text in _SPARES:
        return "spare"
    if text == "Msng":
        return "missing"
    return _STATES.get(text, "free")


def _inside(data: Value) -> list[tuple[str, Value]]:
    """The drives of an HBA, which stand in a part of their own."""
    part = inner(data, "Physical Device Information")
    return list(part.members.items()) if part is not None else []


def _rows(data: Value, key: str) -> list[Value]:
    listed = data.members.get(key)
    return listed.items if listed is not None and listed.kind == "list" else []
