"""What MegaRAID controllers and their relatives (PERC, ServeRAID) call things, and which drives are in which array.

Words of MegaCli and StorCLI: LSI, MegaRAID SAS Software User Guide and StorCLI Reference Manual. An array is spans
(inner arrays) of arms; a drive group may hold several virtual drives, slices of the same drives.
"""

from __future__ import annotations

import re
from itertools import count, islice

from .....model.layouts import levels_where
from ....text.report_text import Cell
from ..facts import Fact, fact
from ..findings import Findings, FoundArray, FoundController, FoundDrive, FoundMember, Interface
from ..seat import Seat
from ..volume_policy import VolumePolicy

INTERFACES: dict[str, Interface] = {"SATA": "sata", "SAS": "sas", "NVMe": "nvme", "FC": "fc"}
MOST_NUMBER = 4095
"""Of adapters, enclosures, slots, groups, spans and arms."""
MOST_IN_SPAN = 255
"""Of spans, and of members of a span: a byte each in MR_LD_RAID (Linux, megaraid_sas_fusion.h)."""
_LETTERS = re.compile(r"(?P<read>NR|R|AR?A?)(?P<write>AWB|FWB|WB|WT)(?P<keep>[DC])?$")
_GROUPED = levels_where(lambda level: bool(level.inner))
_PLAIN = levels_where(lambda level: not level.is_redundant)
_SPANS = {"raid1": "raid10", "raid5": "raid50", "raid6": "raid60", "raid0": "raid0"}
_CHARGED = ("optimal", "operational", "opt")


def controller_name(number: int) -> str:
    """What a scenario calls a controller."""
    return f"c{number}"


def drive_name(controller: int, enclosure: str, slot: str) -> str:
    """What a scenario calls a drive; some controllers have no enclosures."""
    return f"c{controller}e{enclosure}s{slot}" if enclosure.isdecimal() else f"c{controller}s{slot}"


def policy_letters(cell: Cell) -> VolumePolicy | None:
    """StorCLI's "RWBD": read ahead or not (NR), write back (always: AWB), through (WT), direct or cached I/O."""
    match = _LETTERS.match(cell.text)
    if match is None:
        return None
    return VolumePolicy(
        written(match["write"] != "WT", cell),
        fact(match["write"] in ("AWB", "FWB"), cell),
        fact(match["read"] != "NR", cell),
        fact(match["keep"] == "C", cell) if match["keep"] else None,
    )


def written(back: bool, cell: Cell) -> Fact[str]:
    """The write policy: into memory or not."""
    return fact("write-back" if back else "write-through", cell)


def policy_words(controller: FoundController, wanted: Cell | None, now: Cell) -> VolumePolicy:
    """MegaCli's "WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU": what is set, and what holds now."""
    words = [word.strip() for word in now.text.split(",")]
    asked = [word.strip() for word in wanted.text.split(",")] if wanted is not None else words
    back = "WriteBack" in asked
    if back and "WriteThrough" in words:
        controller.battery = fact("failed", now)
    return VolumePolicy(
        written(back, wanted if wanted is not None else now),
        fact("Write Cache OK if Bad BBU" in words, now),
        fact("ReadAheadNone" not in words, now),
        fact("Cached" in words, now),
    )


def battery_state(cell: Cell) -> Fact[str]:
    """The state of a battery or of the capacitor behind the cache, as a controller's catalogue entry has it."""
    said = cell.text.lower()
    for word in ("learn", "charging"):
        if word in said and "dis" not in said:
            return fact("learning" if word == "learn" else "charging", cell)
    return fact("good" if said.startswith(_CHARGED) else "failed", cell)


def connect(found: Findings) -> None:
    """Put the drives behind controllers into the arrays."""
    for controller in found.controllers:
        arrays = [each for each in found.arrays.values() if each.controller == controller]
        seated = {
            name: each.seat
            for name, each in found.drives.items()
            if each.seat is not None and each.seat.controller == controller
        }
        groups = sorted({seat.group for seat in seated.values() if seat.group is not None})
        unknown = [each for each in arrays if each.group is None and not each.members]
        taken = {each.group for each in arrays if each.group is not None}
        free = [group for group in groups if group not in taken]
        if unknown and len(unknown) == len(free):
            for array, group in zip(unknown, free, strict=True):
                array.group = group
        _the_only_one(unknown, groups, seated)
        for array in arrays:
            if not array.members and array.group is not None:
                _seat(array, found, seated)
            _state(array, found)
        _spares(arrays, found, seated)
        _policy(controller, found.controllers[controller], arrays)
        for array in arrays:
            if array.disk_cache is not None:
                for member in array.members:
                    drive = found.drives.get(member.device or "")
                    if drive is not None and drive.write_cache is None:
                        drive.write_cache = array.disk_cache


def _the_only_one(unknown: list[FoundArray], groups: list[int], seated: dict[str, Seat]) -> None:
    """Drives in use of which nothing tells the group are the only array's; of several arrays each needs its list."""
    loose = [seat for seat in seated.values() if seat.group is None and seat.state not in ("spare", "free")]
    if len(unknown) == 1 and not groups and loose:
        unknown[0].group = 0
        for seat in loose:
            seat.group = 0
    elif loose:
        for array in unknown:
            if array.group is None:
                command = f"omreport storage pdisk controller={(array.controller or 'c0')[1:]} vdisk=..."
                array.reason = array.reason or f"nothing tells its drives; give what {command} prints for each"


def _seat(array: FoundArray, found: Findings, seated: dict[str, Seat]) -> None:
    """The members of an array in the order of its spans and arms, with a place for each that is gone."""
    places: dict[tuple[int, int], FoundMember] = {}
    for name, seat in sorted(seated.items()):
        if seat.group == array.group and seat.state != "spare" and seat.state != "free":
            _place(places, seat, FoundMember(name, seat.state, found.drives[name].where))
    for seat, where in found.empty:
        if seat.controller == array.controller and seat.group == array.group:
            _place(places, seat, FoundMember(None, "missing", where))
    spans = array.depth.value if array.depth is not None else len({span for span, _ in places})
    expected = array.per_span.value if array.per_span is not None else 0
    if array.depth is not None and spans > 1 and {span for span, _ in places} == {0}:
        _deal(places, spans)
    for span in range(spans):
        there = sum(1 for place in places if place[0] == span)
        free = (arm for arm in count() if (span, arm) not in places)
        for arm in islice(free, max(expected - there, 0)):
            places[span, arm] = FoundMember(None, "missing", array.where)
    array.members = [places[place] for place in sorted(places)]
    if array.depth is None and spans > 1:
        array.depth = Fact(spans, array.where)


def _place(places: dict[tuple[int, int], FoundMember], seat: Seat, member: FoundMember) -> None:
    arm = seat.arm
    if arm is None or (seat.span, arm) in places:
        arm = next(free for free in count() if (seat.span, free) not in places)
    places[seat.span, arm] = member


def _deal(places: dict[tuple[int, int], FoundMember], spans: int) -> None:
    """Divide members whose span nothing tells: the first to the first span."""
    members = [places[place] for place in sorted(places)]
    places.clear()
    each = -(-len(members) // spans)
    for index, member in enumerate(members):
        places[index // each, index % each] = member


def _state(array: FoundArray, found: Findings) -> None:
    """Level by its spans; how far a rebuild has come."""
    depth = array.depth.value if array.depth is not None else 1
    level = array.level
    if level is not None and depth > 1 and level.value in _SPANS:
        array.level = Fact(_SPANS[level.value], level.where)
    elif level is not None and level.value == "raid1" and len(array.members) > 2:
        array.level = Fact("raid10", level.where)
    if array.level is not None and array.level.value in _GROUPED and depth > 1:
        array.groups = array.depth
    for member in array.members:
        if member.state == "rebuilding" and array.action is None:
            array.action = Fact("recover", member.where)
            array.progress = found.rebuilds.get(member.device or "")


def _policy(name: str, controller: FoundController, arrays: list[FoundArray]) -> None:
    """A modeled controller has one policy: that of its largest array, which is loaded; another one's is noted."""
    for array in sorted(arrays, key=_bytes, reverse=True):
        if array.policy is None or array.reason is not None:
            continue
        mine, its = controller.policy.write_policy, array.policy.write_policy
        if mine is not None and its is not None and mine.value != its.value:
            array.notes.append(
                f"{array.name} is {its.value} ({its.where}); {name} has one policy in the model, {mine.value} "
                f"({mine.where})"
            )
        controller.policy.learn(array.policy)


def _spares(arrays: list[FoundArray], found: Findings, seated: dict[str, Seat]) -> None:
    """A spare of a group is that array's; one for all is the largest redundant array's."""
    redundant = [each for each in arrays if each.level is not None and each.level.value not in _PLAIN]
    for name, seat in sorted(seated.items()):
        if seat.state != "spare" or any(name in each.spares for each in arrays):
            continue
        own = [each for each in redundant if each.group == seat.group and seat.group is not None]
        best = max(own or redundant, key=_bytes, default=None)
        if best is not None:
            best.spares.append(name)
            if not own and len(redundant) > 1:
                found.notes.append(f"{name} is a spare for all arrays; it is given to {best.name}, the largest")


def _bytes(array: FoundArray) -> int:
    return array.size.value if array.size is not None else len(array.members)


def model_drive(found: Findings, name: str, where: str, seat: Seat) -> FoundDrive:
    """The drive of that name, which is new or known."""
    drive = found.drives.setdefault(name, FoundDrive(name, where))
    if drive.seat is None:
        drive.seat = seat
    else:
        drive.seat.learn(seat)
    return drive
