"""Controllers, logical and physical devices of Adaptec's controllers from arcconf getconfig (Microsemi Adaptec ARCCONF
Command Line Utility User's Guide).

A logical device names its drives by segments ("Group 0, Segment 1 : Present (457862MB, SATA, SSD, Connector:0,
Device:1) SERIAL"); older versions have only their place. Serial numbers tell which physical device a segment is, and
are not kept. A size in MB is one of 2^20 bytes.
"""

from __future__ import annotations

import re

from ....text.report_text import Cell
from ..facts import Fact, fact, place
from ..findings import Findings, FoundArray, FoundController, FoundDrive, FoundMember, Interface, State
from ..output_text import bounded, key_lines, pairs, rate_of, size_of
from ..outputs import Output
from ..seat import Seat, SeatState
from ..volume_policy import VolumePolicy
from .hardware import MOST_NUMBER, battery_state, controller_name, written

RANK = 3
MAKER = "Adaptec"
_CONTROLLER = re.compile(r"Controllers? (?:#|number )?(?P<number>\d{1,4})\s*:?\s*$", re.ASCII)
_LOGICAL = re.compile(r"Logical [Dd]evice number (?P<number>\d{1,4})", re.ASCII)
_PHYSICAL = re.compile(r"\s*Device #(?P<number>\d{1,4})\s*$", re.ASCII)
_DAMAGED = re.compile(r"\s*\S*evice #\S*\s*$|\S*ogical \S*evice \S*umber\b|\S*(?:ogical|hysical) \S*evice information")
_PART = re.compile(
    r"(?:Controller|Logical [Dd]evice|Physical Device|Maxcache|Connector) information\s*$", re.IGNORECASE
)
_SEGMENT = re.compile(r"(?:Group (?P<group>\d{1,3}), )?Segment (?P<segment>\d{1,3})$", re.ASCII)
_PRESENT = re.compile(r"(?P<state>[A-Z][a-z]+(?: [A-Z][a-z]+)?)\s*(?:\((?P<words>[^)]*)\)\s*(?P<serial>\S+)?)?")
_PLACE = re.compile(
    r"(?:Connector|Enclosure|Channel)[: ]*(\d{1,4})[, ]+(?:Device|Slot)[: ]*(\d{1,4})|^(\d{1,3}),\s*(\d{1,4})"
)
_SIZE = re.compile(r"(\d{1,9}) ?(MB|GB|TB)", re.ASCII)
_LEVELS = {"0": "raid0", "1": "raid1", "5": "raid5", "6": "raid6", "10": "raid10", "50": "raid50", "60": "raid60"}
_ALONE = ("simple_volume", "simple volume", "volume")
_STATES: dict[str, State] = {"Present": "in use", "Online": "in use", "Rebuilding": "rebuilding", "Failed": "failed"}
_GONE = ("Missing", "Inconsistent", "Not Present", "Unknown")
_MOST_RPM = 30000


def read(output: Output) -> Findings:
    """Everything of all controllers."""
    reader = _Reader(output)
    for first, last in reader.blocks():
        reader.read(range(first, last + 1))
    reader.seat()
    return reader.found


class _Reader:
    """The controller that lines belong to, and what is known of the drives so far."""

    def __init__(self, output: Output) -> None:
        self.text = output.text
        self.lines = output.lines
        self.found = Findings()
        self.number = 0
        self.segments: list[tuple[FoundArray, int, Cell, re.Match[str]]] = []
        self.by_serial: dict[str, str] = {}

    def blocks(self) -> list[tuple[int, int]]:
        """First and last line of the controller, and of each logical and physical device."""
        starts = [
            number
            for number in self.lines
            if any(form.match(self.text.line(number)) for form in (_PART, _LOGICAL, _PHYSICAL))
        ]
        for number in self.lines:
            if _DAMAGED.match(self.text.line(number)) and number not in starts:
                raise self.text.refused(number, "'Device #0', 'Logical device number 0' or '... information'")
        return list(zip(starts, [*(each - 1 for each in starts[1:]), self.lines.stop - 1], strict=False))

    @property
    def controller(self) -> FoundController:
        name = controller_name(self.number)
        known = self.found.controllers.get(name)
        if known is None:
            where = f"{self.text.name}:{self.lines.start}"
            known = self.found.controllers[name] = FoundController(name, where, product=Fact(MAKER, where))
        return known

    def read(self, lines: range) -> None:
        line = self.text.line(lines.start)
        if match := _LOGICAL.match(line):
            self._logical(lines, self.text.group(lines.start, match, "number"))
        elif match := _PHYSICAL.match(line):
            self._physical(lines, self.text.group(lines.start, match, "number"))
        elif line.startswith("Controller"):
            self._controller(lines)

    def _controller(self, lines: range) -> None:
        fields, controller = key_lines(self.text, lines), self.controller
        model, memory = fields.get("Controller Model"), fields.get("Installed memory") or fields.get("Cache memory")
        if model is not None and model.value.text:
            said = model.value.text
            controller.product = fact(said if said.startswith(MAKER) else f"{MAKER} {said}", model.value)
        if memory is not None and _SIZE.fullmatch(memory.value.text):
            controller.memory = fact(size_of(memory.value), memory.value)
        backup = fields.get("Overall Backup Unit Status")
        if backup is not None:
            text = "Optimal" if backup.value.text in ("Ready", "Optimal") else backup.value.text
            controller.battery = battery_state(backup.value._replace(text=text))

    def _logical(self, lines: range, number: Cell) -> None:
        name = f"c{self.number}v{bounded(number, MOST_NUMBER)}"
        array = self.found.arrays[name] = FoundArray(name, place(number), RANK, controller=self.controller.name)
        groups = set()
        for key, value in pairs(self.text, lines):
            if segment := _SEGMENT.match(key.text):
                match = _PRESENT.match(value.text)
                if match is None:
                    raise value.refused("the state of a segment, such as 'Present (...)'")
                group = int(segment["group"] or 0)
                groups.add(group)
                self.segments.append((array, group, value, match))
            elif key.text == "RAID level":
                self._level(value, array)
            elif key.text == "Size" and _SIZE.fullmatch(value.text):
                array.size = fact(size_of(value), value)
            elif key.text == "Stripe-unit size" and value.text[:1].isdecimal():
                array.chunk = fact(size_of(value), value)
            elif key.text in ("Write-cache setting", "Write-cache mode") and array.policy is None:
                back = value.text.startswith(("Enabled", "On")) and "write-through" not in value.text
                array.policy = VolumePolicy(written(back, value))
            elif key.text.startswith("Status of") and value.text.startswith(("Failed", "Offline")):
                array.reason = "it has failed"
        if len(groups) > 1 and array.level is not None and array.level.value in ("raid50", "raid60"):
            array.depth = Fact(len(groups), array.level.where)

    def _level(self, value: Cell, array: FoundArray) -> None:
        said = value.text.split(" ")[0]
        if said in _LEVELS:
            array.level = fact(_LEVELS[said], value)
        elif value.text.lower() in _ALONE:
            array.level = fact("raid0", value)
        else:
            array.reason = f"the model has no RAID {value.text} of {MAKER}'s controllers"

    def _physical(self, lines: range, number: Cell) -> None:
        fields = key_lines(self.text, lines)
        state, serial = fields.get("State"), fields.get("Serial number")
        where = fields.get("Reported Location") or fields.get("Reported Channel,Device(T:L)")
        spot = _spot(where.value.text) if where is not None else None
        if where is not None and spot is None:
            raise where.value.refused("the place of a drive, such as 'Enclosure 0, Slot 6'")
        if state is None or spot is None:  # an enclosure
            return
        name = f"c{self.number}p{spot}"
        drive = self.found.drives.setdefault(name, FoundDrive(name, place(number)))
        taken: SeatState = "spare" if "pare" in state.value.text else "free"
        drive.seat = Seat(self.controller.name, taken)
        drive.passed = state.value.text.startswith(("JBOD", "Raw"))
        if serial is not None and serial.value.text:
            self.by_serial[serial.value.text] = name
        model, size = fields.get("Model"), fields.get("Total Size") or fields.get("Size")
        if model is not None and model.value.text:
            drive.model = fact(" ".join(model.value.text.split()), model.value)
        if size is not None and _SIZE.fullmatch(size.value.text):
            drive.rough_capacity = fact(size_of(size.value), size.value)
        speed, solid = fields.get("Transfer Speed"), fields.get("SSD")
        if speed is not None:
            self._interface(drive, speed.value.text.split(" ")[0], speed.value)
            rate = rate_of(speed.value)
            drive.interface_rate = fact(rate, speed.value) if rate is not None else None
        if solid is not None and solid.value.text in ("Yes", "No"):
            drive.solid_state = fact(solid.value.text == "Yes", solid.value)
        turns, cache = fields.get("Rotational Speed"), fields.get("Write Cache")
        if turns is not None and turns.value.text.removesuffix(" RPM").isdecimal():
            rpm = turns.value._replace(text=turns.value.text.removesuffix(" RPM"))
            drive.rotation = fact(float(bounded(rpm, _MOST_RPM, least=1000)), turns.value)
        if cache is not None and cache.value.text.startswith(("Enabled", "Disabled")):
            drive.write_cache = fact(cache.value.text.startswith("Enabled"), cache.value)

    def _interface(self, drive: FoundDrive, word: str, cell: Cell) -> None:
        kinds: dict[str, Interface] = {"SATA": "sata", "SAS": "sas", "NVMe": "nvme"}
        if word in kinds and drive.interface is None:
            drive.interface = fact(kinds[word], cell)

    def seat(self) -> None:
        """Put the drives of the segments into their arrays, in the order of groups and segments."""
        for array, _, value, match in self.segments:
            words = match["words"] or ""
            spot = _spot(words)
            name = self.by_serial.get(match["serial"] or "") or (f"c{self.number}p{spot}" if spot is not None else None)
            state = next((each for word, each in _STATES.items() if match["state"].startswith(word)), None)
            if name is None or state is None:
                if state is None and match["state"] not in _GONE:
                    raise value.refused(f"a segment that is {', '.join((*_STATES, *_GONE))}")
                if state == "in use":
                    raise value.refused("the place of a segment, such as 'Connector:0, Device:1', or '(0,1)'")
                array.members.append(FoundMember(None, "missing", place(value)))
                continue
            drive = self.found.drives.setdefault(name, FoundDrive(name, place(value)))
            drive.seat = Seat(self.controller.name, state)
            array.members.append(FoundMember(name, state, place(value)))
            size = _SIZE.match(words)
            if size is not None and drive.rough_capacity is None:
                drive.rough_capacity = fact(size_of(value._replace(text=size[0])), value)
            kinds = [word.strip() for word in words.split(",")]
            for word in kinds:
                self._interface(drive, word, value)
            if drive.solid_state is None and ("SSD" in kinds or "HDD" in kinds):
                drive.solid_state = fact("SSD" in kinds, value)


def _spot(text: str) -> str | None:
    """The place of a drive: "0-1" of "Connector:0, Device:1", "Enclosure 0, Slot 1" and "0,1"."""
    match = _PLACE.search(text)
    return "-".join(part for part in match.groups() if part is not None) if match is not None else None
