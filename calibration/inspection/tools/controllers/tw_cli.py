"""Units and ports of 3ware's controllers from tw_cli /cX show (3ware SATA+SAS RAID Controller Card CLI Guide).

Sizes in GB are of 2^30 bytes. Ports are given in the order of their numbers. Of a unit that is degraded, the port
that is not OK is the one that is lost or rebuilt.
"""

from __future__ import annotations

import re

from ....text.report_text import Cell
from ..facts import Fact, fact, place
from ..findings import Findings, FoundArray, FoundController, FoundDrive, FoundMember, State
from ..output_text import bounded, size_of
from ..outputs import Output
from ..seat import Seat
from ..volume_policy import VolumePolicy
from .hardware import controller_name, written

RANK = 3
MAKER = "3ware"
_COMMAND = re.compile(r"//\S+> */?c(?P<number>\d{1,3})\b|(?:.*\btw_cli\s+)/?c(?P<other>\d{1,3})\b", re.ASCII)
_CARD = re.compile(r"c(?P<number>\d{1,3})\s+(?P<model>\d{3,5}\S*)\s", re.ASCII)
_UNIT = re.compile(r"u(?P<number>\d{1,3})\s+(?P<kind>[A-Z]+(?:-\d{1,2})?)\s+(?P<status>[A-Z-]+)\s", re.ASCII)
_PORT = re.compile(
    r"p(?P<number>\d{1,3})\s+(?P<status>[A-Z-]+)\s+(?:u(?P<unit>\d{1,3})|-)\s+(?P<size>[\d.]+ [MGT]B)"
    r"(?:\s+(?P<kind>SATA|SAS)\s+(?P<phy>\d+|-)\s+(?P<seat>\S+)\s+(?P<model>\S.*?))?(?:\s|$)",
    re.ASCII,
)
_GONE = re.compile(r"p\d{1,3}\s+NOT-PRESENT\b", re.ASCII)
_HEADINGS = re.compile(r"Unit\s+UnitType\b")
_DAMAGED = re.compile(r"UnitType|^[up]\S{0,4}\s+[A-Z-]{2,}\s")
"""A piece of a line of the tables."""
_STRIPE = re.compile(r"\d{1,4}K", re.ASCII)
_LEVELS = {f"RAID-{number}": f"raid{number}" for number in (0, 1, 5, 6, 10, 50)} | {"SINGLE": "raid0"}


def read(output: Output) -> Findings:
    """The units and the drives of one controller."""
    text, found = output.text, Findings()
    number = next((match[1] or match[2] for each in output.lines if (match := _COMMAND.match(text.line(each)))), "0")
    name, where = controller_name(int(number)), f"{text.name}:{output.first}"
    controller = found.controllers[name] = FoundController(name, where, product=Fact(MAKER, where))
    units: dict[int, FoundArray] = {}
    spares: set[int] = set()
    members: dict[int, list[tuple[int, str, str]]] = {}
    headings: list[str] = []
    for each in output.lines:
        line = text.line(each)
        if _HEADINGS.match(line):
            headings = line.split()
        elif card := _CARD.match(line):
            model = text.group(each, card, "model")
            controller.product = fact(f"{MAKER} {model.text}", model)
        elif unit := _UNIT.match(line):
            cells = dict(zip(headings, text.cells(each), strict=False))
            at = int(unit["number"])
            if unit["kind"] == "SPARE":
                spares.add(at)
            else:
                units[at] = _unit(f"{name[0]}{number}u{at}", name, cells, text.group(each, unit, "kind"), found)
                units[at].policy = _policy(cells)
        elif port := _PORT.match(line):
            cell = text.group(each, port, "number")
            drive = _drive(f"c{number}port{int(cell.text)}", text.group(each, port, "size"), port, cell)
            found.drives[drive.name] = drive
            belongs = int(port["unit"]) if port["unit"] is not None else None
            drive.seat = Seat(name, "spare" if belongs in spares else "free")
            if belongs is not None and belongs not in spares:
                members.setdefault(belongs, []).append((int(cell.text), drive.name, port["status"]))
        elif _DAMAGED.search(line) and not _GONE.match(line):
            raise text.refused(each, "headings, a unit or a port, such as 'p0 OK u0 931.51 GB ...'")
    for at, array in units.items():
        _seat(array, sorted(members.get(at, [])), found)
        found.arrays[array.name] = array
    return found


def _unit(name: str, controller: str, cells: dict[str, Cell], kind: Cell, found: Findings) -> FoundArray:
    array = FoundArray(name, place(kind), RANK, controller=controller)
    if kind.text in _LEVELS:
        array.level = fact(_LEVELS[kind.text], kind)
    else:
        array.reason = f"the model has no {kind.text} of {MAKER}'s controllers"
    stripe, size, status, share = (cells.get(each) for each in ("Stripe", "Size(GB)", "Status", "%RCmpl"))
    if stripe is not None and _STRIPE.fullmatch(stripe.text):
        array.chunk = fact(size_of(stripe), stripe)
    if size is not None and re.fullmatch(r"\d{1,7}(?:\.\d{1,4})?", size.text):
        array.size = fact(size_of(size._replace(text=f"{size.text} GB")), size)
    if status is not None and status.text == "INOPERABLE":
        array.reason = "it has failed"
    elif status is not None and status.text.startswith("REBUILD"):
        array.action = fact("recover", status)
        digits = share._replace(text=share.text.rstrip("%")) if share is not None else None
        if digits is not None and digits.text.isdecimal():
            array.progress = fact(bounded(digits, 100) / 100, digits)
    return array


def _policy(cells: dict[str, Cell]) -> VolumePolicy | None:
    """The cache of a unit: "ON" or with a W it takes writes."""
    cache = cells.get("Cache")
    if cache is None or not re.fullmatch(r"ON|OFF|Ri?W?|W|-", cache.text):
        return None
    return VolumePolicy(written(cache.text == "ON" or cache.text.endswith("W"), cache))


def _drive(name: str, size: Cell, port: re.Match[str], cell: Cell) -> FoundDrive:
    drive = FoundDrive(name, place(cell))
    drive.rough_capacity = fact(size_of(size), size)
    if port["kind"] is not None:
        drive.interface = fact("sas" if port["kind"] == "SAS" else "sata", cell)
        drive.model = fact(" ".join(port["model"].split()), cell)
    return drive


def _seat(array: FoundArray, ports: list[tuple[int, str, str]], found: Findings) -> None:
    rebuilds = array.action is not None
    for _, name, status in ports:
        state: State = "in use" if status in ("OK", "VERIFYING", "SMART-FAILURE") else "failed"
        if state == "failed" and rebuilds:
            state = "rebuilding"
        drive = found.drives[name]
        drive.seat = Seat(array.controller or "", state)
        array.members.append(FoundMember(name, state, drive.where))
    if rebuilds and not any(member.state == "rebuilding" for member in array.members):
        array.notes.append(
            f"{array.name}: it is rebuilt, and no port says which drive; give tw_cli /c0/u0 show; left out"
        )
        array.action = array.progress = None
