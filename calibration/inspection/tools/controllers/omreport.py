"""Dell's controllers, virtual and physical disks from omreport storage controller, battery, vdisk and pdisk.

A record is lines "key : value" that begin with "ID", or with -fmt ssv a row below a row of keys (Dell, OpenManage
Server Administrator, Command Line Interface User's Guide). What a disk belongs to is only told by "omreport storage
pdisk controller=0 vdisk=0", whose heading names the virtual disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....text.report_text import Cell
from ..facts import fact, place
from ..findings import Findings, FoundArray, FoundController, FoundDrive
from ..output_text import LARGEST, bounded, pairs, rate_of, size_of
from ..outputs import Output
from ..seat import Seat, SeatState
from ..volume_policy import VolumePolicy
from .hardware import INTERFACES, MOST_NUMBER, battery_state, controller_name, model_drive, written

RANK = 3
_BELONGING = re.compile(r"List of Physical Disks [Bb]elonging to (?P<disk>\S.*?)\s*$")
_CONTROLLER = re.compile(r"\s*Controller\s+(?P<name>\S.*?)\s*\((?:PCI )?(?:Slot )?(?P<slot>\w+)\)\s*$", re.ASCII)
_BARE = re.compile(r"\s*Controllers?\s*$")
_BYTES = re.compile(r"\((?P<number>\d{1,18}) bytes\)", re.ASCII)
_PHYSICAL = re.compile(r"\d{1,3}(?::\d{1,4}){1,2}", re.ASCII)
_PERCENT = re.compile(r"(?P<number>\d{1,3})% complete", re.ASCII)
_LAYOUTS = {f"RAID-{number}": f"raid{number}" for number in (0, 1, 5, 6, 10, 50, 60)}
_STATES: dict[str, SeatState] = {
    "Online": "in use",
    "Rebuilding": "rebuilding",
    "Failed": "failed",
    "Offline": "failed",
    "Removed": "failed",
}
_FIRST = ("Status", "Name", "State", "Layout", "Capacity")
"""Keys of a record that has an ID in its first line."""
Record = dict[str, Cell]


def read(output: Output) -> Findings:
    """Everything of all controllers."""
    reader = _Reader(output)
    reader.remember()
    for number in output.lines:
        reader.heading(number)
    reader.records()
    reader.seat()
    return reader.found


class _Reader:
    """What headings and records say."""

    def __init__(self, output: Output) -> None:
        self.text = output.text
        self.lines = output.lines
        self.found = Findings()
        self.starts: dict[int, tuple[str, str]] = {}
        self.numbers: dict[tuple[str, str], int] = {}
        self.names: dict[str, str] = {}
        self.owner: dict[str, str] = {}

    def remember(self) -> None:
        """Names of controllers and virtual disks that earlier commands in the same text have told, with numbers."""
        number = name = ""
        for key, value in pairs(self.text, range(1, self.lines.start)):
            if key.text == "ID" and value.text.isdecimal():
                number = value.text
            elif key.text == "Name":
                name = value.text
            elif key.text == "Slot ID" and number and value.text:
                self.numbers[name, value.text.split()[-1]] = int(number)
            elif key.text == "Layout":
                self.names[name] = number

    def heading(self, number: int) -> None:
        """Remember what begins in a line: the records of a controller, or of the disks of a virtual one."""
        line = self.text.line(number)
        if match := _BELONGING.match(line):
            self.starts[number] = ("belonging", match["disk"])
        elif match := _CONTROLLER.match(line):
            self.starts[number] = ("of", "\t".join((match["name"], match["slot"].removeprefix("Slot "))))
        elif _BARE.match(line):
            self.starts[number] = ("controller", "")
        elif line.lstrip().startswith("List of "):
            self.starts[number] = ("list", "")

    def records(self) -> None:
        """Read each record under the headings before it."""
        kind, disk, of = "", "", ("", "")
        for start, record in self._all():
            if isinstance(record, dict):
                self._record(record, kind, disk, of)
                continue
            word, rest = self.starts[start]
            if word == "of":
                name, slot = rest.split("\t")
                of, kind = (name, slot), ""
            elif word == "belonging":
                disk, kind = rest, ""
            elif word == "list":
                disk, kind = "", ""
            else:
                kind = word

    def _all(self) -> Iterator[tuple[int, Record | None]]:
        """Headings (None) and records, in order."""
        record: Record = {}
        keys: list[str] = []
        begun = 0
        for number in self.lines:
            line = self.text.line(number)
            if number in self.starts:
                if record:
                    yield begun, record
                yield number, None
                record, keys = {}, []
            elif line.startswith("ID;"):
                keys = line.split(";")
            elif keys and ";" in line:
                yield number, self._row(number, keys)
            else:
                if not line.strip() and record:
                    yield begun, record
                    record = {}
                for key, value in pairs(self.text, [number]):
                    if key.text == "ID":
                        if record:
                            yield begun, record
                        record, begun = {}, number
                    elif not record and key.text in _FIRST:
                        raise key.refused("a line 'ID : ...' before it")
                    if record or key.text == "ID":
                        record.setdefault(key.text, value)
        if record:
            yield begun, record

    def _row(self, number: int, keys: list[str]) -> Record:
        line, at, record = self.text.line(number), 0, Record()
        cells = line.split(";")
        if len(cells) != len(keys):
            raise self.text.refused(number, f"{len(keys)} values, one for each key", f"{len(cells)}")
        for key, piece in zip(keys, cells, strict=True):
            record[key.strip()] = self.text.cell(number, at, at + len(piece.rstrip()))
            at += len(piece) + 1
        return record

    def _record(self, record: Record, kind: str, disk: str, of: tuple[str, str]) -> None:
        name = record["ID"].text
        if kind == "controller" or "Cache Memory Size" in record:
            self._controller(record)
        elif "Layout" in record:
            self._virtual(record, of)
        elif "Capacity" in record:
            if not _PHYSICAL.fullmatch(name):
                raise record["ID"].refused("the place of a disk, such as 0:1:5")
            self._physical(record, disk, of)
        elif "Learn State" in record or record.get("Name", record["ID"]).text.startswith("Battery"):
            self._of(of, record["ID"]).battery = battery_state(_plain(record.get("State", record["ID"])))

    def _of(self, of: tuple[str, str], cell: Cell) -> FoundController:
        """The controller of a heading: the one with this name, or a new one."""
        number = self.numbers.setdefault(of, len(self.numbers))
        name = controller_name(number)
        known = self.found.controllers.setdefault(name, FoundController(name, place(cell)))
        if known.product is None and of[0]:
            known.product = fact(of[0], cell)
        return known

    def _controller(self, record: Record) -> None:
        product, slot = record.get("Name"), record.get("Slot ID")
        number = bounded(record["ID"], MOST_NUMBER)
        if product is None:
            raise record["ID"].refused("a line with the controller's Name after its ID")
        words = slot.text.split() if slot is not None else []
        self.numbers[product.text, words[-1] if words else ""] = number
        name = controller_name(number)
        controller = self.found.controllers.setdefault(name, FoundController(name, place(record["ID"])))
        controller.product = fact(product.text, product)
        memory = record.get("Cache Memory Size")
        if memory is not None and memory.text[:1].isdecimal():
            controller.memory = fact(size_of(memory), memory)

    def _virtual(self, record: Record, of: tuple[str, str]) -> None:
        controller = self._of(of, record["ID"])
        name = f"{controller.name}v{bounded(record['ID'], MOST_NUMBER)}"
        array = FoundArray(name, place(record["ID"]), RANK, controller=controller.name)
        self.found.arrays[name] = array
        if "Name" in record:
            self.names[record["Name"].text] = record["ID"].text
        level = record["Layout"]
        if level.text not in _LAYOUTS:
            raise level.refused(f"one of {', '.join(_LAYOUTS)}")
        array.level = fact(_LAYOUTS[level.text], level)
        if "Size" in record:
            array.size = fact(_bytes(record["Size"]), record["Size"])
        chunk, shown, state = (record.get(key) for key in ("Stripe Element Size", "Device Name", "State"))
        if chunk is not None and chunk.text[:1].isdecimal():
            array.chunk = fact(size_of(chunk), chunk)
        if shown is not None and shown.text.startswith("/dev/"):
            array.shown_as = shown.text.removeprefix("/dev/")
        if state is not None and state.text == "Failed":
            array.reason = "it has failed"
        reads, writes, keeps = (record.get(key) for key in ("Read Policy", "Write Policy", "Cache Policy"))
        array.policy = policy = VolumePolicy()
        if reads is not None and "Read Ahead" in reads.text:
            policy.reads_ahead = fact(not reads.text.startswith("No "), reads)
        if writes is not None:
            policy.write_policy = written("Write Back" in writes.text, writes)
            policy.forced = fact(writes.text.startswith("Force"), writes)
        if keeps is not None and keeps.text.endswith("I/O"):
            policy.keeps_reads = fact(keeps.text.startswith("Cache"), keeps)
        cache = record.get("Disk Cache Policy")
        if cache is not None and cache.text in ("Enabled", "Disabled"):
            array.disk_cache = fact(cache.text == "Enabled", cache)

    def _physical(self, record: Record, disk: str, of: tuple[str, str]) -> None:
        controller = self._of(of, record["ID"])
        name = f"{controller.name}p{record['ID'].text.replace(':', '-')}"
        state = record.get("State")
        spare = record.get("Hot Spare")
        taken = _STATES.get(state.text, "free") if state is not None else "free"
        if spare is not None and spare.text in ("Global", "Dedicated"):
            taken = "spare"
        drive = model_drive(self.found, name, place(record["ID"]), Seat(controller.name, taken))
        drive.passed = state is not None and state.text == "Non-RAID"
        if disk:
            self.owner[name] = disk
        self._kind(record, drive)
        progress = record.get("Progress")
        match = _PERCENT.search(progress.text) if progress is not None else None
        if match is not None and progress is not None and taken == "rebuilding":
            self.found.rebuilds[name] = fact(min(int(match["number"]), 100) / 100, progress)

    def _kind(self, record: Record, drive: FoundDrive) -> None:
        bus, media, model, speed = (
            record.get(key) for key in ("Bus Protocol", "Media", "Product ID", "Negotiated Speed")
        )
        if bus is not None and bus.text in INTERFACES:
            drive.interface = fact(INTERFACES[bus.text], bus)
        if media is not None and media.text in ("SSD", "HDD"):
            drive.solid_state = fact(media.text == "SSD", media)
        if model is not None and model.text and not model.text.startswith("Not "):
            drive.model = fact(" ".join(model.text.split()), model)
        rate = rate_of(speed._replace(text=speed.text.replace("Gbps", "Gb/s"))) if speed is not None else None
        if rate is not None and speed is not None:
            drive.interface_rate = fact(rate, speed)
        drive.rough_capacity = fact(_bytes(record["Capacity"]), record["Capacity"])

    def seat(self) -> None:
        """Put the disks of each list of a virtual disk into its group: by the name of that one, or by its number."""
        for name, disk in self.owner.items():
            seat = self.found.drives[name].seat
            number = re.search(r"\d+$", self.names.get(disk, disk))
            if seat is None or number is None:
                continue
            seat.group = bounded(Cell(number[0], self.text.name, self.lines.start, 1), MOST_NUMBER)
            array = self.found.arrays.get(f"{seat.controller}v{seat.group}")
            if array is not None:
                array.group = seat.group


def _plain(cell: Cell) -> Cell:
    """The state of a battery in the words of other tools."""
    return cell._replace(text="Optimal") if cell.text == "Ready" else cell


def _bytes(cell: Cell) -> int:
    """Bytes of "1,862.00 GB (1999307276288 bytes)"."""
    match = _BYTES.search(cell.text)
    if match is None:
        raise cell.refused("a size with its bytes, such as 1,862.00 GB (1999307276288 bytes)")
    size = int(match["number"])
    if size > LARGEST:
        raise cell.refused("a size that a disk can have")
    return size
