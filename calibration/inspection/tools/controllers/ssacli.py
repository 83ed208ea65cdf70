"""Controllers, logical and physical drives of HP's Smart Arrays from ssacli, hpssacli and hpacucli.

"ctrl all show config" names an array's drives in a line each ("physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS HDD,
900 GB, OK)"); "... detail" adds lines "key: value" (HPE Smart Storage Administrator, User Guide). Sizes of logical
drives are binary, those of physical drives decimal.
"""

from __future__ import annotations

import re

from ....text.report_text import Cell
from ..facts import Fact, fact, place
from ..findings import Findings, FoundArray, FoundController, FoundDrive, Interface
from ..output_text import LARGEST, bounded, size_of
from ..outputs import Output
from ..seat import Seat, SeatState
from ..volume_policy import VolumePolicy
from .hardware import MOST_NUMBER, battery_state, controller_name, written

RANK = 3
_CONTROLLER = re.compile(
    r"(?P<product>(?:HPE? )?(?:Dynamic )?Smart (?:Array|HBA) \S+(?: (?!in Slot)\S+){0,4})\s+in Slot (?P<slot>\w+)",
    re.ASCII,
)
_ARRAY = re.compile(r"\s+[Aa]rray:? (?P<letter>[A-Z]{1,2})\b")
_LOGICAL = re.compile(r"\s+(?:logicaldrive|Logical Drive:) (?P<number>\d{1,4})(?: \((?P<words>[^)]*)\))?", re.ASCII)
_PHYSICAL = re.compile(r"\s+physicaldrive (?P<seat>[\w:]{1,20})(?: \((?P<words>[^)]*)\))?\s*$", re.ASCII)
_DAMAGED = re.compile(
    r"drive \S+ \(|^\s+(?:physicaldrive|\S+ \S{1,4}:\S{1,4}:\S{1,4})\s*$|rray [A-Z] \(|(?:\bport |RAID )\S+.*\)\s*$"
)
"""A piece of one of these."""
_UNASSIGNED = re.compile(r"\s+[Uu]nassigned\b")
_PAIR = re.compile(r"\s+(?P<key>[\w /()-]+?):\s+(?P<value>\S.*?)\s*$")
_LEVEL = re.compile(r"RAID (?P<level>\S+)")
_SIZE = re.compile(r"(?P<number>\d{1,6}(?:\.\d{1,4})?) ?(?P<unit>[MGT]B)", re.ASCII)
_UNIT = re.compile(r" [MGT]B$")
_LEVELS = {"0": "raid0", "1": "raid1", "1+0": "raid10", "10": "raid10", "5": "raid5", "6": "raid6", "ADG": "raid6"} | {
    "50": "raid50",
    "60": "raid60",
}
_INTERFACES: dict[str, Interface] = {"SAS": "sas", "SATA": "sata", "NVMe": "nvme", "SCSI": "scsi"}
_SOLID = ("SSD", "Solid State")
_STATES: dict[str, SeatState] = {"OK": "in use", "Rebuilding": "rebuilding", "Failed": "failed"}
_DECIMAL = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
_MOST_RPM = 30000


def read(output: Output) -> Findings:
    """Everything of all controllers."""
    reader = _Reader(output)
    for number in output.lines:
        reader.read(number)
    return reader.found


class _Reader:
    """Where in the text it is: at a controller, in an array, a logical drive or a physical one."""

    def __init__(self, output: Output) -> None:
        self.text = output.text
        self.found = Findings()
        self.number = 0
        self.group: int | None = None
        self.array: FoundArray | None = None
        self.drive: FoundDrive | None = None
        self.controller = FoundController("", "")
        self.drive_cache: Fact[bool] | None = None

    def read(self, number: int) -> None:
        line = self.text.line(number)
        if match := _CONTROLLER.match(line):
            self._controller(number, match)
        elif match := _ARRAY.match(line):
            self.group, self.array, self.drive = _letters(match["letter"]), None, None
        elif _UNASSIGNED.match(line):
            self.group, self.array, self.drive = None, None, None
        elif match := _LOGICAL.match(line):
            self._logical(number, match)
        elif match := _PHYSICAL.match(line):
            self._physical(number, match)
        elif match := _PAIR.match(line):
            key, value = match["key"], self.text.group(number, match, "value")
            if self.drive is not None:
                self._of_drive(key, value, self.drive)
            elif self.array is not None:
                self._of_array(key, value, self.array)
            else:
                self._of_controller(key, value)
        elif _DAMAGED.search(line):
            raise self.text.refused(number, "an array, a logicaldrive or a physicaldrive with its words in parentheses")

    def _controller(self, number: int, match: re.Match[str]) -> None:
        slot = self.text.group(number, match, "slot")
        self.number = bounded(slot, MOST_NUMBER) if slot.text.isdecimal() else len(self.found.controllers)
        name, product = controller_name(self.number), self.text.group(number, match, "product")
        self.controller = self.found.controllers.setdefault(name, FoundController(name, place(product)))
        self.controller.product = fact(product.text, product)
        self.group, self.array, self.drive, self.drive_cache = None, None, None, None

    def _logical(self, number: int, match: re.Match[str]) -> None:
        cell = self.text.group(number, match, "number")
        name = f"c{self.number}v{int(cell.text)}"
        self.drive = None
        self.array = self.found.arrays.setdefault(
            name,
            FoundArray(
                name,
                place(cell),
                RANK,
                controller=self.controller.name,
                group=self.group,
                disk_cache=self.drive_cache,
            ),
        )
        words = self.text.group(number, match, "words")
        if not words.text:
            return
        size, level = _SIZE.search(words.text), _LEVEL.search(words.text)
        if size is not None:
            self.array.size = fact(size_of(words._replace(text=size[0])), words)
        if level is not None:
            self._level(level["level"].rstrip(","), words, self.array)
        if "Failed" in words.text:
            self.array.reason = "it has failed"

    def _level(self, said: str, cell: Cell, array: FoundArray) -> None:
        if said in _LEVELS:
            array.level = fact(_LEVELS[said], cell)
        else:
            array.reason = f"the model has no RAID {said} of a Smart Array"

    def _physical(self, number: int, match: re.Match[str]) -> None:
        seat = self.text.group(number, match, "seat")
        name = f"c{self.number}p{seat.text.replace(':', '-')}"
        state: SeatState = "in use" if self.group is not None else "free"
        drive = self.found.drives.setdefault(name, FoundDrive(name, place(seat)))
        if drive.seat is None:
            drive.seat = Seat(self.controller.name, state, self.group)
        self.drive = drive
        words = self.text.group(number, match, "words")
        for word in words.text.split(", ") if words.text else ():
            self._word(word.strip(), words, drive)

    def _word(self, word: str, cell: Cell, drive: FoundDrive) -> None:
        kind = next((kind for start, kind in _INTERFACES.items() if start in word.split()), None)
        if kind is not None:
            drive.interface = fact(kind, cell)
            if any(each in word for each in _SOLID):
                drive.solid_state = fact(True, cell)
        elif _SIZE.fullmatch(word):
            drive.rough_capacity = fact(_decimal(cell, word), cell)
        elif _UNIT.search(word):
            raise cell.refused("a size such as 900.1 GB")
        elif drive.seat is not None and word == "spare":
            drive.seat.state = "spare"
        elif drive.seat is not None and word in _STATES and drive.seat.state == "in use":
            drive.seat.state = _STATES[word]

    def _of_drive(self, key: str, value: Cell, drive: FoundDrive) -> None:
        if key == "Status" and drive.seat is not None and drive.seat.state == "in use":
            drive.seat.state = _STATES.get(value.text, "in use")
        elif key == "Drive Type" and value.text.startswith("Spare") and drive.seat is not None:
            drive.seat.state = "spare"
        elif key == "Interface Type":
            self._word(value.text, value, drive)
        elif key == "Size" and _SIZE.fullmatch(value.text):
            drive.rough_capacity = fact(_decimal(value, value.text), value)
        elif key == "Model":
            drive.model = fact(" ".join(value.text.split()), value)
        elif key == "Rotational Speed" and value.text.isdecimal():
            drive.rotation = fact(float(bounded(value, _MOST_RPM, least=1000)), value)

    def _of_array(self, key: str, value: Cell, array: FoundArray) -> None:
        if key == "Size":
            array.size = fact(size_of(value), value)
        elif key in ("Fault Tolerance", "RAID"):
            self._level(value.text.removeprefix("RAID "), value, array)
        elif key in ("Strip Size", "Stripe Size"):
            array.chunk = array.chunk or fact(size_of(value), value)
        elif key in ("Parity Groups", "Number of Parity Groups"):
            array.depth = fact(bounded(value, MOST_NUMBER, least=1), value)
        elif key == "Status" and value.text == "Failed":
            array.reason = "it has failed"
        elif key in ("Caching", "Array Accelerator") and value.text in ("Enabled", "Disabled"):
            array.policy = array.policy or VolumePolicy(written(value.text == "Enabled", value))
        elif key == "Disk Name" and value.text.startswith("/dev/"):
            array.shown_as = value.text.split()[0].removeprefix("/dev/")

    def _of_controller(self, key: str, value: Cell) -> None:
        controller = self.controller
        if key in ("Total Cache Size", "Cache Size"):
            if value.text[:1].isdecimal():
                controller.memory = controller.memory or fact(_memory(value), value)
        elif key == "Total Cache Memory Available":
            controller.cache = controller.cache or fact(_memory(value), value)
        elif key == "Battery/Capacitor Status":
            controller.battery = battery_state(value._replace(text="Optimal" if value.text == "OK" else value.text))
        elif key in ("Drive Write Cache", "Physical Drive Write Cache Policy") and value.text in (
            "Enabled",
            "Disabled",
        ):
            self.drive_cache = fact(value.text == "Enabled", value)
        elif key == "No-Battery Write Cache":
            controller.policy.forced = fact(value.text == "Enabled", value)


def _letters(text: str) -> int:
    """A is 0, B is 1, AA is 26."""
    number = 0
    for letter in text:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _memory(cell: Cell) -> int:
    """Bytes of "512 MB", "2.0 GB", and of "2.0", as newer versions print GB; whole MiB."""
    plain = re.fullmatch(r"\d{1,4}(?:\.\d{1,3})?", cell.text)
    return (int(float(cell.text) * 2**30) if plain is not None else size_of(cell)) >> 20 << 20


def _decimal(cell: Cell, text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise cell.refused("a size such as 900.1 GB")
    size = int(float(match["number"]) * _DECIMAL[match["unit"]])
    if size > LARGEST:
        raise cell.refused("a size that a disk can have")
    return size
