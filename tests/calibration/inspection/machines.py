"""Machines that do not exist, and what their tools would print: mdstat, mdadm --detail and --examine, and lsblk.

Formats: md.c (md_seq_show), raid5.c, raid10.c and md-bitmap.c of Linux; mdadm's Detail.c and super1.c; util-linux's
lsblk.c and libsmartcols.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

_PARITIES = {"raid4": 1, "raid5": 1, "raid6": 2}
_ALGORITHMS = {0: "left-asymmetric", 1: "right-asymmetric", 2: "left-symmetric", 3: "right-symmetric"}
_SIZES = (1000204886016, 2000398934016, 4000787030016, 8001563222016)
_START = 1 << 20
_KIB = 1024


@dataclass(frozen=True)
class Machine:
    """One array on drives that are alike; `gone` is the slot of a member that is not there."""

    level: str
    members: tuple[str, ...]
    drives: tuple[str, ...]
    capacity: int
    chunk: int
    algorithm: int
    copies: str
    count: int
    gone: int | None

    @property
    def slots(self) -> int:
        """Members, one that is gone too."""
        return len(self.members)

    @property
    def used(self) -> int:
        """KiB of each member."""
        return (self.capacity - 4 * _START) // _KIB // 1024 * 1024

    @property
    def size(self) -> int:
        """KiB of the array."""
        if self.level == "raid0":
            return self.used * self.slots
        if self.level == "raid1":
            return self.used
        if self.level == "raid10":
            return self.used * self.slots // self.count
        return self.used * (self.slots - _PARITIES[self.level])

    @property
    def marks(self) -> str:
        """A letter for each slot."""
        return "".join("_" if slot == self.gone else "U" for slot in range(self.slots))

    @property
    def there(self) -> Iterator[tuple[int, str, str]]:
        """Slot, device and drive of each member that is there."""
        return ((slot, self.members[slot], self.drives[slot]) for slot in range(self.slots) if slot != self.gone)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Any of them."""
    level = draw(st.sampled_from(["raid0", "raid1", "raid5", "raid6", "raid10"]))
    least = {"raid6": 4, "raid5": 3, "raid10": 3}.get(level, 2)
    slots = draw(st.integers(least, 8))
    kind = draw(st.sampled_from(["sd", "nvme"]))
    whole = draw(st.booleans())
    if kind == "sd":
        drives = tuple(f"sd{chr(ord('b') + slot)}" for slot in range(slots))
        members = drives if whole else tuple(f"{name}{draw(st.integers(1, 9))}" for name in drives)
    else:
        drives = tuple(f"nvme{slot}n1" for slot in range(slots))
        members = drives if whole else tuple(f"{name}p{draw(st.integers(1, 9))}" for name in drives)
    return Machine(
        level,
        members,
        drives,
        draw(st.sampled_from(_SIZES)),
        draw(st.sampled_from([64, 128, 256, 512])),
        draw(st.sampled_from(sorted(_ALGORITHMS))),
        draw(st.sampled_from(["near", "far", "offset"])),
        2,
        draw(st.none() | st.integers(0, slots - 1)) if level != "raid0" else None,
    )


def mdstat(machine: Machine) -> str:
    """/proc/mdstat."""
    members = " ".join(f"{device}[{slot}]" for slot, device, _ in reversed(list(machine.there)))
    words = {
        "raid0": f" {machine.chunk}k chunks",
        "raid1": "",
        "raid10": f" {machine.chunk}K chunks {machine.count} {machine.copies}-copies",
    }.get(machine.level, f" level {machine.level[4:]}, {machine.chunk}k chunk, algorithm {machine.algorithm}")
    up = machine.marks.count("U")
    marks = "" if machine.level == "raid0" else f" [{machine.slots}/{up}] [{machine.marks}]"
    return (
        f"Personalities : [{machine.level}] \nmd7 : active {machine.level} {members}\n"
        f"      {machine.size} blocks super 1.2{words}{marks}\n      \nunused devices: <none>\n"
    )


def _shape(machine: Machine) -> str:
    """Layout and chunk, as --detail and --examine print both."""
    layout = {"raid10": f"{machine.copies}={machine.count}"}.get(machine.level, _ALGORITHMS[machine.algorithm])
    lines = f"            Layout : {layout}\n" if machine.level not in ("raid0", "raid1") else ""
    return lines + (f"        Chunk Size : {machine.chunk}K\n" if machine.level != "raid1" else "")


def detail(machine: Machine) -> str:
    """mdadm --detail."""
    rows = {slot: f"active sync   /dev/{device}" for slot, device, _ in machine.there}
    table = "".join(
        f"       {slot}       8       {16 * slot + 1}        {slot}      {rows[slot]}\n"
        if slot in rows
        else f"       -       0        0        {slot}      removed\n"
        for slot in range(machine.slots)
    )
    return (
        f"/dev/md7:\n           Version : 1.2\n        Raid Level : {machine.level}\n"
        f"        Array Size : {machine.size} (1.00 TiB)\n     Used Dev Size : {machine.used} (1.00 TiB)\n"
        f"      Raid Devices : {machine.slots}\n             State : clean \n{_shape(machine)}"
        f"    Number   Major   Minor   RaidDevice State\n{table}"
    )


def examine(machine: Machine) -> str:
    """mdadm --examine of all that are there."""
    state = machine.marks.replace("U", "A").replace("_", ".")
    return "".join(
        f"/dev/{device}:\n          Magic : a92b4efc\n        Version : 1.2\n     Array UUID : 0:0:0:1\n"
        f"           Name : host:7\n     Raid Level : {machine.level}\n   Raid Devices : {machine.slots}\n"
        f"     Array Size : {machine.size} KiB (1.00 TiB 1.00 TB)\n"
        f"  Used Dev Size : {2 * machine.used} sectors (1.00 TiB 1.00 TB)\n         Events : 18\n{_shape(machine)}"
        f"   Device Role : Active device {slot}\n   Array State : {state} ('A' == active, '.' == missing)\n"
        for slot, device, _ in machine.there
    )


def _blocks(machine: Machine) -> list[dict[str, object]]:
    """What lsblk knows, as a tree."""
    array = {"name": "md7", "type": machine.level, "size": machine.size * _KIB, "rota": True, "model": ""}
    disks: list[dict[str, object]] = []
    for _, device, drive in machine.there:
        kind = {"type": "disk", "rota": not drive.startswith("nvme"), "model": "MAKER MODEL 7"}
        disk: dict[str, object] = {"name": drive, "size": machine.capacity, **kind, "children": [array]}
        if device != drive:
            part = {
                "name": device,
                "type": "part",
                "size": machine.capacity - _START,
                "rota": kind["rota"],
                "model": "",
            }
            disk["children"] = [{**part, "children": [array]}]
        disks.append(disk)
    return disks


def lsblk_json(machine: Machine) -> str:
    """lsblk -J -b -o NAME,TYPE,SIZE,ROTA,MODEL."""
    return json.dumps({"blockdevices": _blocks(machine)}, indent=1) + "\n"


def _rows(machine: Machine, branches: tuple[str, str, str]) -> Iterator[tuple[str, dict[str, object], str]]:
    """Name with its branches, the device, and the device below it."""

    def walk(items: object, front: str, above: str) -> Iterator[tuple[str, dict[str, object], str]]:
        assert isinstance(items, list)
        for number, item in enumerate(items):
            last = number == len(items) - 1
            branch = (branches[1] if last else branches[0]) if above else ""
            yield front + branch + str(item["name"]), item, above
            deeper = front + ("  " if last else f"{branches[2]} ") if above else ""
            yield from walk(item.get("children", []), deeper, str(item["name"]))

    return walk(_blocks(machine), "", "")


def lsblk_table(machine: Machine, branches: tuple[str, str, str] = ("├─", "└─", "│")) -> str:
    """lsblk -b -o NAME,TYPE,SIZE,ROTA,MODEL."""
    rows = [(name, item) for name, item, _ in _rows(machine, branches)]
    wide = max(len(name) for name, _ in rows)
    lines = [f"{'NAME':{wide}} {'TYPE':6} {'SIZE':>14} ROTA MODEL"]
    for name, item in rows:
        line = f"{name:{wide}} {item['type']:6} {item['size']:>14} {int(bool(item['rota'])):>4} {item['model']}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def lsblk_ascii(machine: Machine) -> str:
    """The same with --ascii."""
    return lsblk_table(machine, ("|-", "`-", "|"))


def lsblk_pairs(machine: Machine) -> str:
    """lsblk -P -b -o NAME,TYPE,SIZE,ROTA,MODEL,PKNAME."""
    return "".join(
        f'NAME="{item["name"]}" TYPE="{item["type"]}" SIZE="{item["size"]}" ROTA="{int(bool(item["rota"]))}" '
        f'MODEL="{item["model"]}" PKNAME="{above}"\n'
        for _, item, above in _rows(machine, ("", "", ""))
    )


ARRAYS: tuple[Callable[[Machine], str], ...] = (mdstat, detail, examine)
"""What tells all of an array."""
DRIVES: tuple[Callable[[Machine], str], ...] = (lsblk_json, lsblk_table, lsblk_ascii, lsblk_pairs)
"""What tells the drives, and level and members of an array."""


def pasted(text: str, front: str) -> str:
    """A text as a page or a mail shows it, with something before every line."""
    return "".join(f"{front}{line}\n" if line.strip() else f"{front.rstrip()}\n" for line in text.split("\n")[:-1])
