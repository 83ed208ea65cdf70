"""What a write-intent bitmap costs, compared with the recorded rates: the order of the member writes, and the writes
when all is over.

`probe` is a trace of single writes of 4 KiB. Each write and each pause after one is compared in steps: requests of one
kind (superblock, bitmap, data) and direction that follow each other, of whichever member. `members_after` counts what
each member was sent in the seconds after a job, when bits are cleared and the array is marked clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....model.core.errors import InputError
from ....model.core.fixed_service import FixedServiceDevice
from ....model.core.request import DIRECT, WRITE, Request
from ....model.kernels import KernelSpec
from ....model.raid.metadata.superblock import BITMAP_SECTORS, SECTOR, SUPERBLOCK_SECTOR, MetadataWrite
from .vm_member import Member, RecordedArray, VirtualMachine, build

AFTER_BITMAP_S = 16.0
AFTER_S = 2.0
"""How long the members were watched after a job, with a bitmap and without."""

_WRITE_BYTES = 4096
_PAGE_SECTORS = 8
"""Of the recorded bitmaps, which fit into a page."""

_DATA_OFFSET = re.compile(r"(\d+) sectors")


class Step(NamedTuple):
    """Requests of one kind that follow each other.

    Attributes
    ----------
    kind
        "superblock", "bitmap", "reads" or "writes".
    requests
        Member, sector from the beginning of the member, and sectors of each.
    """

    kind: str
    requests: tuple[tuple[int, int, int], ...]

    def __str__(self) -> str:
        ranges = ", ".join(f"{member}:{sector}+{sectors}" for member, sector, sectors in self.requests)
        return f"{self.kind} {ranges}"


class TracedMember(FixedServiceDevice):
    """A member that notes what it is sent, in a list that all members share.

    Attributes
    ----------
    trace
        Member, whether it is a write, sector from the beginning of the member, and sectors.
    """

    trace: list[tuple[int, bool, int, int]]
    slot: int
    data_offset: int

    def submit(self, request: Request) -> None:
        """Note the request, and serve it."""
        [*_, part] = getattr(request, "parts", (request,))
        at = part.sector if isinstance(part, MetadataWrite) else request.offset // SECTOR
        self.trace.append((self.slot, request.op == WRITE, at + self.data_offset, request.size // SECTOR))
        super().submit(request)


def probe_difference(place: str, known: KernelSpec, content: Mapping[str, Any], name: str, array: RecordedArray) -> str:
    """Play the single writes of an array's `probe` as the kernel `known`; the first step that differs, or ""."""
    offset = _data_offset(place, content, name)
    recorded_member = Member.recorded(content["member"])
    machine = build(known, recorded_member, array, member_type=TracedMember, data_offset_sectors=offset)
    trace: list[tuple[int, bool, int, int]] = []
    for slot, queue in enumerate(machine.queues):
        member = queue.device
        assert isinstance(member, TracedMember)
        member.trace, member.slot, member.data_offset = trace, slot, offset
    for what, until, recorded in list(_recorded_probe(place, content["probe"][name])):
        if what is None:
            machine.engine.run(until=max(until, machine.engine.now + 1e-9))
        else:
            _write(machine, what)
        model = _steps(trace)
        trace.clear()
        if model != recorded:
            said = "pause" if what is None else f"write at {what}"
            return f"{said}, up to {until:.3f} s: recorded {_listed(recorded)}; model {_listed(model)}"
    return ""


def after_difference(machine: VirtualMachine, bitmap: bool, recorded: Sequence[Sequence[float]]) -> str:
    """Let the machine stand idle after a job; what its members are then sent otherwise than recorded."""
    counts = [(device.writes, device.write_bytes) for device in machine.members]
    machine.engine.run(until=machine.engine.now + (AFTER_BITMAP_S if bitmap else AFTER_S))
    for slot, (device, before, expected) in enumerate(zip(machine.members, counts, recorded, strict=True)):
        writes, kib = device.writes - before[0], (device.write_bytes - before[1]) / 1024
        if (writes, kib) != (expected[2], expected[3]):
            return (
                f"member {slot} afterwards: recorded {expected[2]} writes of {expected[3]} KiB in all, "
                f"model {writes} of {kib}"
            )
    return ""


def _data_offset(place: str, content: Mapping[str, Any], name: str) -> int:
    text = str(content.get("bitmap", {}).get(name, {}).get("data_offset"))
    found = _DATA_OFFSET.fullmatch(text)
    if found is None:
        raise InputError(f"{place}, field bitmap.{name}.data_offset", repr(text), 'expected: "N sectors"')
    return int(found[1])


def _recorded_probe(place: str, entries: Sequence[Any]) -> Iterator[tuple[int | None, float, list[Step]]]:
    """For each write its offset, and for each pause None; the time at which it is over (s), and its steps."""
    writing: int | None = None
    trace: list[tuple[int, bool, int, int]] = []
    for entry in entries:
        if len(entry) > 2:
            _, member, flags, sector, sectors, _ = entry
            trace.append((member, "W" in flags, sector, sectors))
            continue
        ms, text = entry
        yield writing, ms / 1000, _steps(trace)
        trace.clear()
        word, _, number = text.partition(" ")
        if word not in {"W", "D", "END"} or (word != "END" and not number.isdecimal()):
            raise InputError(f"{place}, field probe", repr(text), 'expected: "W offset", "D offset" or "END"')
        writing = int(number) if word == "W" else None


def _write(machine: VirtualMachine, offset: int) -> None:
    done: list[Request] = []
    machine.device.submit(Request(WRITE, offset, _WRITE_BYTES, done.append, 0, DIRECT))
    while not done:
        machine.engine.step()


def _steps(trace: Sequence[tuple[int, bool, int, int]]) -> list[Step]:
    """Requests as steps; the order of members within one does not count."""
    steps: list[tuple[str, list[tuple[int, int, int]]]] = []
    for member, is_write, sector, sectors in trace:
        if sector == SUPERBLOCK_SECTOR:
            kind = "superblock"
        elif 0 <= sector - SUPERBLOCK_SECTOR - BITMAP_SECTORS < _PAGE_SECTORS:
            kind = "bitmap"
        else:
            kind = "writes" if is_write else "reads"
        if not steps or steps[-1][0] != kind:
            steps.append((kind, []))
        steps[-1][1].append((member, sector, sectors))
    return [Step(kind, tuple(sorted(requests))) for kind, requests in steps]


def _listed(steps: Sequence[Step]) -> str:
    return "; ".join(map(str, steps)) or "nothing"
