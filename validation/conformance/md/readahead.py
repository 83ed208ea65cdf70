"""Read-ahead compared with recorded runs: which I/Os a buffered reader causes, at the device it reads and at the
members.

A recorded program read a block device through the page cache, with nothing cached before: 4 KiB at random places; 4,
64 or 1024 KiB in order; 64 KiB of every 256 KiB. The model's page cache reads the same over an array of the same
kind. Compared are the sizes of the I/Os that enter md, in order and in all, of those that enter the members, of the
requests that the members get after merging in the reader's plug, and what each member has read in all; and for every
array what read_ahead_kb, max_sectors_kb and optimal_io_size are by default.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ....model.block.multi_queue import BlkMqQueue
from ....model.core.device import Device, Wrapper
from ....model.core.engine import Engine
from ....model.core.request import Request
from ....model.kernels import KernelSpec
from ....model.layouts import Layout, ParityLayout, Raid10Layout, StripedLayout, layout_for
from ....model.memory.dirty_memory import DirtyLimits, DirtyMemory
from ....model.memory.raw_cache import RawCache, RawCacheSettings
from ....model.raid.base.io_limit import behind_limit, largest_request_bytes, optimal_request_bytes
from ....model.raid.parity.array import ParityArray
from ....model.raid.striped.stripe import StripeArray
from ....model.raid.stripes.settings import ParitySettings
from ....model.readahead import PAGE, READ_AHEAD, ReadAhead
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ....model.tasks.prices import FREE
from ..base import KindResult, NotSupported, Progress, TruthFile
from .kernels import raid1_array, raid10_array, raid10_section, recorded_kernel
from .recorder import RecordingMember

KIB = 1024

MEMBER_BYTES = 256 << 20
MEMBER_DEPTH = 32
MEMBER_REQUEST_BYTES = 1280 * KIB
"""Of the recorded members: null_blk, 32 requests at a time, max_sectors_kb 1280."""

PRICES = replace(FREE, page_s=6.6e-6, copy_s_per_byte=4.5e-6 / PAGE, read_call_s=4.1e-6)
"""CPU of the recorded machine, a slow one: from what longer windows and smaller calls add on a single member."""

RANDOM_PAGES, RANDOM_STEP = 60_000, 2_654_435_761
"""The recorded random reads: the i-th is of page i x step modulo pages, which gives what each member has read."""

FIRST_BIOS = 12
"""So many I/Os are recorded in their order."""

Run = Mapping[str, Any]


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Compare every recorded run, and the defaults of every recorded array."""
    result = KindResult("readahead")
    for file in files:
        for array in file.content["arrays"]:
            place = f"{file.path.name}, array {array['array']}"
            try:
                known = recorded_kernel(file)
                layout = _layout(place, array["array"])
            except NotSupported as error:
                result.skip(file.path.name, array["array"], error, 1 + len(array["runs"]))
                continue
            case = f"{array['array']} defaults"
            progress(case)
            result.record(file.path.name, case, _differences(_defaults(known, layout), array))
            for run in array["runs"]:
                case = f"{array['array']} {run['case']} read_ahead_kb={run['read_ahead_kb']}"
                progress(case)
                result.compare(file.path.name, case, partial(_run_difference, place, known, layout, run))
    return result


def _run_difference(place: str, known: KernelSpec, layout: Layout | None, run: Run) -> str:
    calls = list(_calls(place, run))
    recording = Recording(layout, run["read_ahead_kb"] * KIB, known)
    recording.read(calls, run["app_read_bytes"])
    return _differences(recording.seen(), run)


class Recording:
    """A machine whose I/Os are written down: a reader's page cache over an array, or over a single member.

    Parameters
    ----------
    layout
        Of the array; None for a single member.
    window
        ``read_ahead_kb`` in bytes.
    known
        The kernel.
    """

    def __init__(self, layout: Layout | None, window: int, known: KernelSpec) -> None:
        self.engine = Engine()
        host = Host(Cpu(self.engine), PRICES)
        self.members = [
            RecordingMember(self.engine, f"d{slot}", MEMBER_BYTES) for slot in range(layout.members if layout else 1)
        ]
        self.at_members = [
            Tap(BlkMqQueue(self.engine, host, member, depth=MEMBER_DEPTH, max_request_bytes=known.queue.max_request))
            for member in self.members
        ]
        self.at_array: Tap | None = None
        device: Device = self.at_members[0]
        request_bytes = MEMBER_REQUEST_BYTES
        if layout is not None:
            request_bytes = largest_request_bytes(layout, MEMBER_REQUEST_BYTES)
            array = _array(known, self.engine, layout, self.at_members)
            chunks = raid10_section(known).chunk_limit
            device = self.at_array = Tap(behind_limit(array, layout, MEMBER_REQUEST_BYTES, chunks))
        section = known.cache
        self.cache = RawCache(
            self.engine,
            host,
            device,
            RawCacheSettings(section.block, 1 << 40, section.read_run, section.flush_run, known.queue.task_plug),
            DirtyMemory(DirtyLimits(1 << 40, 1 << 40, 1 << 40)),
            lambda end: _read_ahead(known, window, end, request_bytes),
        )

    def read(self, calls: Sequence[int], size: int) -> None:
        """Read `size` bytes at each of the offsets `calls`, one after the other from one open file."""
        per_byte = PRICES.copy_s_per_byte + PRICES.read_call_s / size

        def program() -> Generator[Any, Any, None]:
            file = self.cache.open()
            for offset in calls:
                yield from self.cache.stream_read(offset, offset + size, 1, per_byte, lambda _: None, size, file)

        self.engine.spawn(program())
        self.engine.run()

    def seen(self) -> dict[str, Any]:
        """What was written down, as the truth names it."""
        at_array = self.at_array.sizes if self.at_array is not None else []
        return {
            "md_bio_kib": _histogram(at_array),
            "md_first_bios_kib": [size / KIB for size in at_array[:FIRST_BIOS]],
            "member_bio_kib": _histogram(size for tap in self.at_members for size in tap.sizes),
            "member_rq_kib": _histogram(sent.size for member in self.members for sent in member.log),
            "member_read_kib": [sum(sent.size for sent in member.log) // KIB for member in self.members],
        }


class Tap(Wrapper):
    """Writes down the size of every I/O on its way into a device."""

    __slots__ = ("sizes",)

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.sizes: list[int] = []

    def submit(self, request: Request) -> None:
        """Write the I/O down and pass it on."""
        self.sizes.append(request.size)
        self.device.submit(request)


def _layout(place: str, name: str) -> Layout | None:
    """The layout of "raid10f2_n4_c64"; None for "single"."""
    if name == "single":
        return None
    found = re.fullmatch(r"(raid\d+?)(?:(?<=raid10)([nfo])(\d))?_n(\d+)(?:_c(\d+))?", name)
    if found is None:
        raise NotSupported(
            place, f"unknown array {name!r}", "expected: single, or level_nMEMBERS_cCHUNK like raid5_n4_c64"
        )
    level, algorithm, copies, members, chunk = found.groups()
    return layout_for(
        level,
        int(members),
        int(chunk) * KIB if chunk else None,
        MEMBER_BYTES,
        algorithm={"n": "near", "f": "far", "o": "offset"}[algorithm] if algorithm else None,
        copies=int(copies) if copies else None,
    )


def _read_ahead(known: KernelSpec, window: int, end: int, request_bytes: int) -> ReadAhead:
    return READ_AHEAD[known.read_ahead.policy].opened(window, end, request_bytes)


def _array(known: KernelSpec, engine: Engine, layout: Layout, members: Sequence[Tap]) -> Device:
    still = [False] * layout.members
    if isinstance(layout, StripedLayout):
        return StripeArray(engine, "md0", members, layout)
    if isinstance(layout, ParityLayout):
        return ParityArray(engine, "md0", members, layout, ParitySettings(heads=0, direct_reads=True))
    if isinstance(layout, Raid10Layout):
        return raid10_array(known, engine, members, layout, still)
    return raid1_array(known, engine, members, still)


def _calls(place: str, run: Run) -> Iterator[int]:
    """The offsets that the program read."""
    kind = re.fullmatch(r"(rand|seq|stride)(\d+)k", run["case"])
    if kind is None:
        raise NotSupported(
            place, f"unknown case {run['case']!r}", "expected: rand, seq or stride and a size, like seq64k"
        )
    for i in range(run["app_reads"]):
        if kind[1] == "rand":
            yield i * RANDOM_STEP % RANDOM_PAGES * PAGE
        elif kind[1] == "seq":
            yield i * run["app_read_bytes"]
        else:
            yield i * int(kind[2]) * KIB


def _defaults(known: KernelSpec, layout: Layout | None) -> dict[str, Any]:
    optimal = optimal_request_bytes(layout) if layout is not None else 0
    most = largest_request_bytes(layout, MEMBER_REQUEST_BYTES) if layout is not None else MEMBER_REQUEST_BYTES
    return {
        "default_read_ahead_kb": known.read_ahead.window_for(optimal) // KIB,
        "max_sectors_kb": most // KIB,
        "optimal_io_size": optimal,
    }


def _histogram(sizes: Iterable[int]) -> dict[str, int]:
    counts = Counter(sizes)
    return {str(size / KIB): counts[size] for size in sorted(counts)}


def _differences(predicted: Mapping[str, Any], recorded: Run) -> str:
    return "\n".join(
        f"{field}: recorded {recorded[field]}, the model {value}"
        for field, value in predicted.items()
        if recorded[field] != value
    )
