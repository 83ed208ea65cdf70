"""Single I/Os compared with what the Linux md driver sent to its members for them.

Every recorded array is built from the model's own classes over members that write down what they are sent. Its
cases are played in order, one I/O at a time, on one array, so what a case leaves in the stripe cache is there for
the next. Compared are the merged footprint of the member reads and writes, their sectors in all (a range moved
twice counts twice), how many requests of each size the members get after merging, and the writes of superblock and
write-intent bitmap. The program plugs a call where the recorded kernel does (:mod:`raidsim.model.block.block_file`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ....model.block.multi_queue import BlkMqQueue
from ....model.core.device import Device
from ....model.core.discard import issue
from ....model.core.engine import Engine
from ....model.core.errors import InputError, ModelError
from ....model.core.request import ASYNC, DIRECT, READ, TRIM, WAITED, WRITE, Request
from ....model.kernels import KernelSpec
from ....model.layouts import (
    Layout,
    LinearLayout,
    MirroredLayout,
    ParityLayout,
    Raid10Layout,
    StripedLayout,
    layout_for,
)
from ....model.raid.base.array import Array
from ....model.raid.base.io_limit import behind_limit
from ....model.raid.metadata.array_metadata import ArrayMetadata
from ....model.raid.metadata.bitmap import WriteIntentBitmap
from ....model.raid.mirrors.mirror import MirrorArray
from ....model.raid.mirrors.raid10 import Raid10Array
from ....model.raid.parity.array import ParityArray
from ....model.raid.striped.stripe import StripeArray
from ....model.schedulers import MqDeadline
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ....model.tasks.prices import FREE
from ..base import KindResult, NotSupported, Progress, TruthFile
from .footprint import SECTOR, Run, merged, side_by_side
from .kernels import opened, raid1_array, raid10_array, raid10_section, recorded_kernel
from .mdadm import BITMAP_CHUNK_BYTES, MdadmArray, parameter, recorded_array
from .recorder import RecordingMember, SentRequest

MEMBER_KIB = 127 * 1024
"""Data area of the recorded members (128 MiB less 1 MiB), unless the recording has `member_data_kib`."""

TAGS = 32
"""Requests that a recorded member (null_blk) takes at once. Its queue has the usual scheduler, mq-deadline."""

SETTLED_S = 1.0
"""From mdadm --create to the first I/O, while its parameters were read; the bitmap's daemon counts from the former."""

_PROGRAM_ISSUER = 1
_OP = {"r": READ, "w": WRITE, "D": TRIM, "Z": WRITE}
_SLEEP = "s"
_COMPARED = (("reads", READ), ("writes", WRITE), ("discards", TRIM))

ZEROS_BYTES = 128 * 4096
"""BLKZEROOUT of a device that takes no write-zeroes writes the same page of zeros over and over, so each page is a
segment of its own, and neither the array's queue nor a member's takes more than 128 (BLK_MAX_SEGMENTS) in a request."""


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Play every recorded case and compare what the members got."""
    result = KindResult("io")
    for file in files:
        for array in file.content["arrays"]:
            _check_array(file, array, result, progress)
    return result


def _check_array(file: TruthFile, array: Mapping[str, Any], result: KindResult, progress: Progress) -> None:
    name, cases = file.path.name, array["cases"]
    if not any(case.get("reads") or case.get("writes") for case in cases):
        result.skip(name, array["name"], "no member I/O was recorded", len(cases))
        return
    try:
        members = str(file.content.get("members", ""))
        played = PlayedArray(f"{name}, array {array['name']}", array, recorded_kernel(file), members)
    except NotSupported as error:
        result.skip(name, array["name"], error, len(cases))
        return
    for number, case in enumerate(cases):
        title = f"{array['name']} {case['case']}"
        progress(title)
        try:
            played.refuse_unknown(case)
        except NotSupported as error:
            # The cases that follow find the array as this one left it.
            result.skip(name, title, error, len(cases) - number)
            return
        result.record(name, title, played.difference(case))


class PlayedArray:
    """A recorded array, built from the model's classes, on which its cases are played.

    Parameters
    ----------
    place
        File and array, for errors.
    array
        The recording.
    known
        The recorded kernel.
    members
        What the recording says of its members and of md's module: "scheduler none", and
        "devices_handle_discard_safely=Y" if it was told that all drives return zeros for what was discarded.
    """

    def __init__(self, place: str, array: Mapping[str, Any], known: KernelSpec, members: str = "") -> None:
        self._place = place
        self._discards_safely = "devices_handle_discard_safely=Y" in members
        scheduled = "scheduler none" not in members
        self._kernel = known
        self._engine = Engine()
        made = recorded_array(place, array)
        kib = array.get("member_data_kib") or [MEMBER_KIB] * made.devices
        if len(kib) != made.devices:
            found, allowed = f"{len(kib)} sizes", f"the command says {made.devices} devices"
            raise InputError(f"{place}, field member_data_kib", found, allowed)
        sizes = [size * 1024 for size in kib]
        discard_bytes = parameter(place, array, "member_discard_max_bytes", 0)
        self._members = [
            RecordingMember(self._engine, f"d{slot}", size, discard_bytes=discard_bytes)
            for slot, size in enumerate(sizes)
        ]
        self._host = Host(Cpu(self._engine), FREE)
        self._queues = [
            BlkMqQueue(
                self._engine,
                self._host,
                member,
                depth=TAGS,
                scheduler=MqDeadline(known.queue.max_request) if scheduled else None,
                max_request_bytes=known.queue.max_request,
                requests=known.queue.tags_for(TAGS) if scheduled else 1,
                write_requests=known.queue.write_tags(known.queue.tags_for(TAGS), TAGS) if scheduled else None,
            )
            for member in self._members
        ]
        try:
            layout = self._layout(made, sizes)
            built = self._built(array, made, layout)
            if not isinstance(built, StripeArray):
                self._keep_metadata(built, array, made)
            self._device = self._behind_queue(built, layout)
            self._engine.run(until=SETTLED_S)
        except ModelError as error:
            raise NotSupported(place, str(error), "expected: an array that can run") from None

    def _layout(self, made: MdadmArray, sizes: list[int]) -> Layout:
        try:
            return layout_for(made.level, made.devices, made.chunk_bytes, sizes, made.algorithm)
        except InputError as error:
            raise NotSupported(f"{self._place}: {error.place}", error.found, error.expected) from None

    def _built(
        self, array: Mapping[str, Any], made: MdadmArray, layout: Layout
    ) -> StripeArray | MirrorArray | Raid10Array | ParityArray:
        engine, members, host, failed = self._engine, self._queues, self._host, made.failed
        rotational = [bool(parameter(self._place, array, "q_rotational", 1))] * made.devices
        match layout:
            case LinearLayout() | StripedLayout():
                return StripeArray(engine, "md0", members, layout, host, failed)
            case MirroredLayout():
                return raid1_array(self._kernel, engine, members, rotational, host, failed)
            case Raid10Layout():
                return raid10_array(self._kernel, engine, members, layout, rotational, host, failed)
            case ParityLayout():
                rules = self._kernel.raid5
                changed = {
                    "heads": parameter(self._place, array, "stripe_cache_size", rules.heads),
                    "rmw_level": parameter(self._place, array, "rmw_level", rules.rmw_level),
                    "workers": parameter(self._place, array, "group_thread_cnt", 0),
                    "discards": self._discards_safely,
                }
                settings = rules.model_copy(update=changed)
                lost = failed if made.rebuilding is None else failed | {made.rebuilding}
                parity = ParityArray(engine, "md0", members, layout, settings, host, lost)
                if made.rebuilding is not None:
                    parity.rebuild_onto(made.rebuilding)
                return parity
        raise NotSupported(f"{self._place}, field cmd", f"level {made.level}", "expected: a level that md runs")

    def _behind_queue(self, built: Array, layout: Layout) -> Device:
        """The array behind the limit of its own queue, as a program opens it."""
        device: Device = built
        if not isinstance(layout, LinearLayout):
            chunks = raid10_section(self._kernel).chunk_limit
            device = behind_limit(built, layout, self._kernel.queue.max_request, chunks)
        return opened(self._kernel, device, self._host)

    def _keep_metadata(
        self, built: MirrorArray | Raid10Array | ParityArray, array: Mapping[str, Any], made: MdadmArray
    ) -> None:
        """Have superblock and bitmap written, before data that begin where mdadm puts them or the recording says."""
        offset_kib = array.get("data_offset_kib") or max(1024, 4 * (made.chunk_bytes or 0) // 1024)
        offset = offset_kib * 1024 // SECTOR
        bitmap = waits = None
        if made.bitmap:
            chunk = made.bitmap_chunk_bytes or BITMAP_CHUNK_BYTES
            bitmap = WriteIntentBitmap(self._engine, built, chunk, fresh=True, data_offset_sectors=offset)
            waits = built.bitmap_waits(bitmap, self._kernel.bitmap_waits)
        # The recordings stay dirty through 20 s without a write: safe_mode_delay was 0.
        built.keep_metadata(ArrayMetadata(self._engine, built, bitmap, 0.0, offset, waits=waits))

    def refuse_unknown(self, case: Mapping[str, Any]) -> None:
        """Raise `NotSupported` if a case has an operation, or something recorded, that this check does not know."""
        place = f"{self._place}, case {case['case']}"
        for op, _, _ in case["ios"]:
            if op not in _OP and op != _SLEEP:
                raise NotSupported(place, f"operation {op!r}", f"expected: {', '.join((*_OP, _SLEEP))}")
            if op == "D" and self._device.discard_limits.refusal:
                raise NotSupported(place, self._device.discard_limits.refusal, "expected: a device that discards")
        if case.get("zeroes"):
            raise NotSupported(place, "write-zeroes requests of the members", "expected: members that take none")

    def difference(self, case: Mapping[str, Any]) -> str:
        """Play the I/Os of a case; what its recording says otherwise, "" if nothing."""
        for number, (op, offset, size) in enumerate(case["ios"]):
            if op == _SLEEP:
                self._engine.run(until=self._engine.now + size / 1000)
            else:
                self._play(f"{self._place}, case {case['case']}, field ios[{number}]", op, offset, size)
        sent = [(slot, request) for slot, member in enumerate(self._members) for request in member.take()]
        parts = [_footprint_difference(what, op, case, sent) for what, op in _COMPARED]
        parts.append(_metadata_difference(case, sent))
        return "\n".join(part for part in parts if part)

    def _play(self, place: str, op: str, offset: int, size: int) -> None:
        capacity = self._device.capacity
        if not 0 < size <= capacity - offset:
            raise InputError(place, f"{size} bytes at {offset}", f"expected: within the array of {capacity} bytes")
        if (offset | size) % SECTOR:
            raise InputError(place, f"{size} bytes at {offset}", f"expected: whole sectors of {SECTOR} bytes")
        done: list[object] = []
        if op == "D":
            issue(self._device, offset, size, lambda: done.append(op), _PROGRAM_ISSUER)
            wanted = 1
        elif op == "Z":
            wanted = self._write_zeros(offset, size, done)
        else:
            sync = WAITED if op == "r" else DIRECT
            self._device.submit(Request(_OP[op], offset, size, done.append, _PROGRAM_ISSUER, sync))
            wanted = 1
        while len(done) < wanted:
            self._engine.step()
        for queue in self._queues:
            queue.max_request_bytes = self._kernel.queue.max_request

    def _write_zeros(self, offset: int, size: int, done: list[object]) -> int:
        """Write zeros under one plug; the number of bios."""
        for queue in self._queues:
            queue.max_request_bytes = ZEROS_BYTES
        starts = range(offset, offset + size, ZEROS_BYTES)
        self._device.plug()
        for start in starts:
            part = min(ZEROS_BYTES, offset + size - start)
            self._device.submit(Request(WRITE, start, part, done.append, _PROGRAM_ISSUER, ASYNC))
        self._device.unplug()
        return len(starts)


def _footprint_difference(what: str, op: int, case: Mapping[str, Any], sent: list[tuple[int, SentRequest]]) -> str:
    runs = [
        (slot, request.offset // SECTOR, request.size // SECTOR)
        for slot, request in sent
        if request.op == op and request.offset >= 0
    ]
    difference = side_by_side(what, merged(case.get(what, ())), merged(runs))
    recorded = case.get(f"{what}_n", {})
    total = sum(run[2] for run in runs)
    if not difference and recorded.get("sectors") not in (None, total):
        return f"{what}: the same ranges, but {recorded['sectors']} sectors in all recorded, {total} from the model"
    if difference or "rq_sizes" not in recorded:
        return difference
    sizes = Counter(str(run[2]) for run in runs)
    if sizes == recorded["rq_sizes"]:
        return ""
    return f"requests of the {what}: {_sizes(recorded['rq_sizes'])} recorded, {_sizes(sizes)} from the model"


def _sizes(sizes: Mapping[str, int]) -> str:
    """Requests by their size in sectors ("16 x 128 + 1 x 64 sectors")."""
    return " + ".join(f"{sizes[size]} x {size}" for size in sorted(sizes, key=int, reverse=True)) + " sectors"


def _metadata_difference(case: Mapping[str, Any], sent: list[tuple[int, SentRequest]]) -> str:
    """Compare the writes of superblock and bitmap, which lie before the data, in number as well."""
    recorded = Counter[Run]((member, at, size) for _, member, at, size in case.get("superblock_bitmap_flush_bios", ()))
    model = Counter[Run](
        (slot, request.offset // SECTOR, request.size // SECTOR) for slot, request in sent if request.offset < 0
    )
    return side_by_side("metadata writes", sorted(recorded.elements()), sorted(model.elements()))
