"""Arrays from mdadm: --detail, --detail --export, --examine (Detail.c; examine_super of super0.c and super1.c).

Sizes are in KiB with the same in other units behind, or in sectors. Names of hosts and UUIDs are read past; UUIDs only
tell which of the examined devices belong together. --examine shows one member, which knows of the others whether they
are in use: what was not examined is not lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from .....model.layouts import LEVELS
from ....text.report_text import Cell, ReportText
from ..facts import Fact, fact
from ..findings import GONE, Findings, FoundArray, FoundMember, State, by_letters
from ..output_text import LARGEST, SECTOR, Line, bounded, first_word, key_lines, size_of
from ..outputs import Output
from . import imsm
from .mdstat import NOT_SIMULATED, WITH_Q

DETAIL_RANK, EXAMINE_RANK, EXPORT_RANK = 4, 3, 2
MOST_SLOTS = 1024
_HEAD = re.compile(r"(?P<path>/dev/\S+):\s*$")
_NO_HEAD = re.compile(r"/(?!dev/\S+:\s*$)\S*\s*$")
_ROW = re.compile(
    r"^(?:\s+\d+)?\s+(?P<number>\d+|-)\s+\d+\s+\d+\s+(?P<slot>\d+|-|none)\s+(?P<state>[a-zA-Z][\w -]*?)"
    r"(?:\s+(?P<device>/\S+))?\s*$",
    re.ASCII,
)
_DAMAGED = re.compile(r"/dev/\w|\d\s+\d+\s+\d|active sync|removed|spare")
"""What is in a row of the table, and not in what people write below it."""
_TABLE = re.compile(r"^\s*Number\s+Major\s+Minor\s+RaidDevice\s+State")
_SECTORS = re.compile(r"(\d+) sectors")
_ROLE = re.compile(r"MD_DEVICE_(?P<device>\w+)_ROLE=(?P<role>\d+|spare|journal)\s*$", re.ASCII)
_EXPORTED = re.compile(r"MD_(?!DEVICE_\w+_R)[A-Z]+(?:_\w+)?=", re.ASCII)
_NEAR_EXPORTED = re.compile(r"\S*=\S*\s*$|M\S?D\S*\s*$")
_COPIES = re.compile(r"(near|far|offset)=(\d+)", re.ASCII)
_STATUS = {"Rebuild Status": "recover", "Resync Status": "repair", "Check Status": "check", "Reshape Status": "reshape"}
_PERCENT = re.compile(r"(\d{1,3})% complete", re.ASCII)
_DELTA = re.compile(r"\((\d{1,4})->\d+\)", re.ASCII)
_INTEGER = re.compile(r"[0-9a-f]{8}\b")
_LEVELS = {"stripe": "raid0", "mirror": "raid1"}


def read(output: Output) -> Findings:
    """The arrays, and their members as drives."""
    text, found = output.text, Findings()
    examined: dict[str, FoundArray] = {}
    starts = [number for number in output.lines if _begins(text, number)]
    for first, after in zip(starts, [*starts[1:], output.last + 1], strict=True):
        lines = range(first, after)
        fields = key_lines(text, lines)
        strange = next((number for number in lines if _NO_HEAD.match(text.line(number))), None)
        if strange is not None:
            raise text.refused(strange, "the name of a device, such as /dev/sda1:")
        head = _HEAD.match(text.line(first))
        if head is None:
            _keep(found, _exported(text, lines, fields))
            continue
        path = text.group(first, head, "path")
        if "MBR Magic" in fields:
            found.notes.append(
                f"{text.name}:{first}: {_name(path.text)} has a partition table and no metadata of an array; examine "
                "its partitions"
            )
        elif "Magic" not in fields:
            _keep(found, _detailed(text, lines, path, fields))
        elif fields["Magic"].value.text.startswith(imsm.MAGIC):
            for array in imsm.volumes(text, lines, _name(path.text), examined):
                _keep(found, array)
        elif not _INTEGER.match(fields["Magic"].value.text) or "Raid Level" not in fields:
            found.notes.append(
                f"{text.name}:{first}: {_name(path.text)} has {fields['Magic'].value.text} metadata, whose --examine "
                "is not read; give mdadm --detail of the volume, or /proc/mdstat"
            )
        else:
            new = _examined(text, lines, path, fields, examined)
            if new is not None:
                _keep(found, new)
    for array in examined.values():
        by_letters(array)
    return found


def _keep(found: Findings, array: FoundArray) -> None:
    """Keep an array; one of the same name is the same only if it has as many slots of the same level."""
    known = found.arrays.get(array.name)
    if known is not None and (known.letters or array.letters):
        array.name = next(name for name in (f"{array.name}-{each}" for each in count(2)) if name not in found.arrays)
        known = None
    if known is None:
        found.arrays[array.name] = array
    else:
        found.add(Findings(arrays={array.name: array}))


def _begins(text: ReportText, number: int) -> bool:
    return bool(_HEAD.match(text.line(number))) or text.line(number).startswith("MD_LEVEL=")


def _name(path: str) -> str:
    """The kernel's name of an array or a member: "md0" of /dev/md0 and /dev/md/0."""
    last = path.rstrip("/").rsplit("/", 1)[-1]
    return f"md{last}" if last.isdecimal() else last


def _detailed(text: ReportText, lines: range, path: Cell, fields: dict[str, Line]) -> FoundArray:
    array = FoundArray(_name(path.text), f"{path.file}:{path.line}", DETAIL_RANK)
    _shape(array, fields)
    state = fields.get("State")
    if state is not None and "FAILED" in state.value.text:
        array.reason = "it has failed"
    if "Array Size" in fields:
        array.size = fact(_kib(fields["Array Size"].value), fields["Array Size"].value)
    used = fields.get("Used Dev Size") or fields.get("Device Size")
    if used is not None and used.value.text[:1].isdecimal():
        array.member_size = fact(_kib(used.value), used.value)
    if fields.get("Intent Bitmap") is not None:
        array.bitmap = fact(0, fields["Intent Bitmap"].value)
    for key, action in _STATUS.items():
        status = fields.get(key)
        percent = _PERCENT.match(status.value.text) if status is not None else None
        if status is not None and percent is not None:
            array.action = fact(action, status.value)
            array.progress = fact(min(1.0, int(percent[1]) / 100), status.value)
    _reshaped(array, fields)
    members = _rows(text, lines, array)
    slots = fields.get("Raid Devices")
    number = bounded(slots.value, MOST_SLOTS) if slots is not None else max(members, default=-1) + 1
    if number <= max(members, default=-1):
        cell = slots.value if slots is not None else path
        raise cell.refused(f"{max(members) + 1} at least, by the slots of the table")
    where = array.where
    array.members = [members.get(slot, FoundMember(None, "missing", where)) for slot in range(number)]
    recovers = array.action is not None and array.action.value == "recover"
    if recovers and not any(member.state == "rebuilding" for member in array.members):
        array.action = array.progress = None
    return array


def _rows(text: ReportText, lines: range, array: FoundArray) -> dict[int, FoundMember]:
    """The members in the table, by slot; spares, the journal and strays go to the array."""
    members: dict[int, FoundMember] = {}
    table = next((number for number in lines if _TABLE.match(text.line(number))), lines.stop)
    for number in range(table + 1, lines.stop):
        line = text.line(number)
        if not line.strip() or line.startswith("this "):  # metadata 0.90: the examined member, listed again below
            continue
        row = _ROW.match(line)
        if row is None:
            if _DAMAGED.search(line):
                raise text.refused(number, "a row: number, major, minor, slot, state and device")
            break
        where = f"{text.name}:{number}"
        device = _name(row["device"]) if row["device"] else None
        words, slot = row["state"].split(), row["slot"]
        if device is None or "removed" in words:
            if slot.isdecimal():
                at = bounded(text.group(number, row, "slot"), MOST_SLOTS - 1)
                members.setdefault(at, FoundMember(None, "missing", where))
            continue
        if "journal" in words:
            array.journal = Fact(device, where)
        elif not slot.isdecimal() or ("spare" in words and "rebuilding" not in words):
            (array.stray if "faulty" in words else array.spares).append(device)
        else:
            at = bounded(text.group(number, row, "slot"), MOST_SLOTS - 1)
            taken: State = "failed" if "faulty" in words else "rebuilding" if "rebuilding" in words else "in use"
            if at in members and members[at].device is not None:
                array.notes.append(f"{array.name}: {device} ({where}) is on a place that has a device; left out")
            else:
                members[at] = FoundMember(device, taken, where, "writemostly" in words or "write-mostly" in words)
    return members


def _shape(array: FoundArray, fields: dict[str, Line]) -> None:
    """Level, layout and chunk, which --detail and --examine print alike."""
    level = fields.get("Raid Level")
    if level is not None and level.value.text:
        said = level.value.text
        array.level = fact(_LEVELS.get(said, said), level.value)
        array.container = said == "container"
        if said in NOT_SIMULATED:
            array.reason = NOT_SIMULATED[said]
        elif said.startswith("-"):
            array.reason = "it is inactive"
    else:
        array.reason = "it is inactive"
    layout = fields.get("Layout")
    if layout is not None and layout.value.text not in ("", "-unknown-"):
        _layout(array, layout)
    chunk = fields.get("Chunk Size")
    if chunk is not None and chunk.value.text:
        array.chunk = fact(size_of(first_word(chunk.value)), chunk.value)


def _layout(array: FoundArray, layout: Line) -> None:
    """A parity algorithm, or copies of RAID 10."""
    copies = [(kind, int(count)) for kind, count in _COPIES.findall(layout.value.text) if len(count) < 4]
    several = [each for each in copies if each[1] > 1]
    if len(several) > 1:
        array.reason = "it has both near and far copies, which the model does not combine"
    elif copies:
        kind, count = (several or copies)[0]
        array.algorithm, array.copies = fact(kind, layout.value), fact(count, layout.value)
    else:
        array.algorithm = fact(layout.value.text, layout.value)


def _reshaped(array: FoundArray, fields: dict[str, Line]) -> None:
    """What an array that is being reshaped had before: mdadm prints the old layout, and what becomes of it below."""
    delta = _DELTA.search(fields["Delta Devices"].value.text) if "Delta Devices" in fields else None
    if delta is not None:
        array.old_members = fact(int(delta[1]), fields["Delta Devices"].value)
    level, layout, chunk = (fields.get(f"New {key}") for key in ("Level", "Layout", "Chunksize"))
    if level is not None and level.value.text:
        array.old_level, array.level = array.level, fact(level.value.text, level.value)
    if layout is not None and layout.value.text:
        array.old_algorithm = array.algorithm
        _layout(array, layout)
    if chunk is not None:
        array.old_chunk, array.chunk = array.chunk, fact(size_of(first_word(chunk.value)), chunk.value)
    old = array.old_algorithm
    if old is not None and old.value.endswith(WITH_Q):
        array.old_algorithm = Fact(old.value.removesuffix(WITH_Q), old.where)
        array.old_level = Fact("raid5", old.where)
        slots = fields.get("Raid Devices")
        if array.old_members is not None:
            array.old_members = Fact(array.old_members.value - 1, array.old_members.where)
        elif slots is not None:
            array.old_members = fact(bounded(slots.value, MOST_SLOTS, least=1) - 1, slots.value)


def _kib(cell: Cell) -> int:
    """Bytes of "11720661504 (10.92 TiB 12.00 TB)" and of "7813774336 sectors (...)"."""
    if _SECTORS.match(cell.text):
        return bounded(first_word(cell), LARGEST, SECTOR)
    return bounded(first_word(cell), LARGEST, 1024)


def _examined(
    text: ReportText, lines: range, path: Cell, fields: dict[str, Line], known: dict[str, FoundArray]
) -> FoundArray | None:
    """One examined device: a member of an array that others may be of too; the array when it is first met."""
    where = f"{path.file}:{path.line}"
    uuid = fields.get("Array UUID") or fields.get("UUID")
    key = uuid.value.text.split(" ")[0] if uuid is not None else where
    array, new = known.get(key), None
    if array is None:
        name = _named(fields) or f"md{len(known)}"
        array = new = known[key] = FoundArray(name, where, EXAMINE_RANK)
        _shape(array, fields)
        if "Array Size" in fields:
            array.size = fact(_kib(fields["Array Size"].value), fields["Array Size"].value)
        if "Used Dev Size" in fields:
            array.member_size = fact(_kib(fields["Used Dev Size"].value), fields["Used Dev Size"].value)
        if "Internal Bitmap" in fields:
            array.bitmap = fact(0, fields["Internal Bitmap"].value)
        slots = fields.get("Raid Devices")
        number = bounded(slots.value, MOST_SLOTS) if slots is not None else 0
        if "Reshape pos'n" in fields:
            _reshaped(array, fields)
            _position(array, fields["Reshape pos'n"].value, number)
        array.members = [FoundMember(None, "missing", where) for _ in range(number)]
        array.notes.append(f"{name}: what --examine reads was true when the array was last written")
    if "Device Role" in fields or not any(_TABLE.match(text.line(number)) for number in lines):
        _by_role(array, fields, _name(path.text), where)
    else:
        _by_table(text, lines, array)
    events = fields.get("Events")
    seen = bounded(first_word(events.value), LARGEST) if events is not None and _WHOLE.match(events.value.text) else 0
    letters = _letters(array, fields)
    if not array.letters or seen > array.events:
        array.letters, array.events = letters, seen
    return new


def _position(array: FoundArray, position: Cell, members: int) -> None:
    """The share that is done, by the position in the array in its new layout (KiB) and what is used of a member."""
    known = LEVELS.get(array.level.value) if array.level is not None else None
    if array.member_size is None or not array.member_size.value or known is None:
        return
    copies = array.copies.value if array.copies is not None else 1
    data = (members - (known.parities if known.has_parity else 0)) * array.member_size.value / copies
    array.action = fact("reshape", position)
    array.progress = fact(min(1.0, _kib(position) / max(data, 1)), position)


_WHOLE = re.compile(r"\d+(?:\s|$)")


def _named(fields: dict[str, Line]) -> str:
    """The kernel's name of an examined array, by its own name ("host:0") or the minor number of metadata 0.90."""
    named, minor = fields.get("Name"), fields.get("Preferred Minor")
    if minor is not None and minor.value.text.isdecimal():
        return f"md{minor.value.text[:4]}"
    last = re.split(r"[:\s]", named.value.text.split(" ")[0])[-1] if named is not None else ""
    return f"md{last}" if last.isdecimal() else last


def _by_role(array: FoundArray, fields: dict[str, Line], device: str, where: str) -> None:
    """The examined device by its role; metadata 1.x (older versions of mdadm say "Array Slot : 0 (0, 1, 2)")."""
    role, slot = fields.get("Device Role"), fields.get("Array Slot")
    number = re.fullmatch(r"Active device (\d{1,4})", role.value.text) if role is not None else None
    if number is None and role is None and slot is not None:
        number = _old_slot(slot.value.text)
    if number is not None and int(number[1]) < len(array.members):
        array.members[int(number[1])] = FoundMember(device, "in use", where)
    elif role is not None and role.value.text.startswith("Journal"):
        array.journal = Fact(device, where)
    elif role is None and slot is None:
        array.reason = (
            "its devices have no line 'Device Role', so nothing tells which slot each has; give all of mdadm "
            "--examine's lines, or /proc/mdstat"
        )
    else:
        array.spares.append(device)


def _old_slot(text: str) -> re.Match[str] | None:
    """The role in "1 (0, 1, 2)": the entry of that number in the list."""
    match = re.match(r"(\d{1,4}) \(([^)]*)\)", text)
    roles = match[2].split(", ") if match is not None else []
    at = int(match[1]) if match is not None else 0
    return re.fullmatch(r"(\d{1,4})", roles[at]) if at < len(roles) else None


def _by_table(text: ReportText, lines: range, array: FoundArray) -> None:
    """All members by the table of metadata 0.90, whose line "this" is the examined one."""
    seen = FoundArray(array.name, array.where, EXAMINE_RANK)
    for slot, member in _rows(text, lines, seen).items():
        if slot < len(array.members) and array.members[slot].device is None:
            array.members[slot] = member
    array.spares += [each for each in seen.spares if each not in array.spares]


def _letters(array: FoundArray, fields: dict[str, Line]) -> str:
    """A letter for each slot: of "Array State" ("AA.A", formerly "Uu_u"); else by the table's members."""
    state = fields.get("Array State")
    said = state.value.text.split(" ")[0] if state is not None else ""
    if state is not None and len(said) >= len(array.members):
        return "".join(GONE if letter in "._" else "A" for letter in said[: len(array.members)])
    return "".join("A" if member.state == "in use" else GONE for member in array.members)


def _exported(text: ReportText, lines: range, fields: dict[str, Line]) -> FoundArray:
    """What --detail --export says: no chunk, no layout and no sizes."""
    level = fields["MD_LEVEL"].value
    given = fields.get("MD_DEVNAME")
    name = _name(given.value.text) if given is not None and given.value.text else "md0"
    array = FoundArray(name, f"{text.name}:{level.line}", EXPORT_RANK)
    array.level = fact(_LEVELS.get(level.text, level.text), level)
    if level.text in NOT_SIMULATED:
        array.reason = NOT_SIMULATED[level.text]
    members = dict(_roles(text, lines, fields, array))
    slots = fields.get("MD_DEVICES")
    count = bounded(slots.value, MOST_SLOTS) if slots is not None else max(members, default=-1) + 1
    array.members = [members.get(slot, FoundMember(None, "missing", array.where)) for slot in range(count)]
    return array


def _roles(
    text: ReportText, lines: range, fields: dict[str, Line], array: FoundArray
) -> Iterator[tuple[int, FoundMember]]:
    for number in lines:
        match = _ROLE.match(text.line(number))
        if match is None:
            if _NEAR_EXPORTED.match(text.line(number)) and not _EXPORTED.match(text.line(number)):
                raise text.refused(number, "a line of mdadm --export, such as MD_DEVICE_dev_sda1_ROLE=0")
            continue
        path = fields.get(f"MD_DEVICE_{match['device']}_DEV")
        if path is None and "MD_METADATA" in fields:
            raise text.refused(number, f"a line MD_DEVICE_{match['device']}_DEV=/dev/... too")
        device = _name(path.value.text) if path is not None else match["device"].removeprefix("dev_")
        where = f"{text.name}:{number}"
        if match["role"] == "journal":
            array.journal = Fact(device, where)
        elif match["role"] == "spare":
            array.spares.append(device)
        else:
            yield bounded(text.group(number, match, "role"), MOST_SLOTS - 1), FoundMember(device, "in use", where)
