"""Which member served each read of one reader, compared with recordings of md RAID 1 and RAID 10.

The I/Os of an array are played in the recorded order, each when the one before is complete; where the heads are
and what continues what carries over from case to case, as it did on the real array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ....model.core.device import Device
from ....model.core.engine import Engine
from ....model.core.request import READ, WRITE, Request
from ....model.kernels import KernelSpec
from ....model.layouts import Raid10Layout, layout_for
from ....model.raid.base.array import Array
from ..base import KindResult, NotSupported, Progress, TruthFile
from .footprint import SECTOR, Run
from .kernels import raid1_array, raid10_array, recorded_kernel
from .mdadm import parameter, recorded_array
from .recorder import RecordingMember

CHUNK = 64 * 1024
"""What the recordings use where the command does not say it."""

_SHOWN = 3


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Compare the member, sector and length of every read sent to a member, in order."""
    result = KindResult("readchoice")
    for file in files:
        for array in file.content["arrays"]:
            try:
                player = _Player(f"{file.path.name}, array {array['name']}", array, recorded_kernel(file))
            except NotSupported as error:
                result.skip(file.path.name, array["name"], error, len(array["cases"]))
                continue
            for case in array["cases"]:
                name = f"{array['name']} {case['case']}"
                progress(name)
                result.record(file.path.name, name, _difference(case, player.play(case["ios"])))
    return result


def md_mirrors(
    known: KernelSpec,
    engine: Engine,
    members: Sequence[Device],
    level: str,
    rotational: bool,
    algorithm: str | None = None,
    chunk: int = CHUNK,
    failed: frozenset[int] = frozenset(),
) -> Array:
    """RAID 1 or RAID 10 as the kernel `known` runs it; `algorithm` is the layout of RAID 10 by md's name ("f2")."""
    turns = [rotational] * len(members)
    if level == "raid1":
        return raid1_array(known, engine, members, turns, failed=failed)
    layout = layout_for(level, len(members), chunk, [member.capacity for member in members], algorithm)
    assert isinstance(layout, Raid10Layout)
    return raid10_array(known, engine, members, layout, turns, failed=failed)


class _Member(RecordingMember):
    """A recording member that also adds its reads to a list of all members'."""

    __slots__ = ("_served", "_slot")

    def __init__(self, engine: Engine, slot: int, capacity: int, served: list[Run]) -> None:
        super().__init__(engine, f"d{slot}", capacity)
        self._slot = slot
        self._served = served

    def submit(self, request: Request) -> None:
        if request.op == READ:
            self._served.append((self._slot, request.offset // SECTOR, request.size // SECTOR))
        super().submit(request)


class _Player:
    """An array of recording members that I/Os are played on."""

    def __init__(self, place: str, array: Mapping[str, Any], known: KernelSpec) -> None:
        made = recorded_array(place, array)
        if made.level not in ("raid1", "raid10"):
            raise NotSupported(
                f"{place}, field cmd", f"level {made.level}", "expected: raid1 and raid10 choose a mirror"
            )
        self._engine = Engine()
        end = max((offset + size for case in array["cases"] for _, offset, size in case["ios"]), default=CHUNK)
        capacity = -(-end // CHUNK) * CHUNK * made.devices
        self._served: list[Run] = []
        members = [_Member(self._engine, slot, capacity, self._served) for slot in range(made.devices)]
        rotational = bool(parameter(place, array, "q_rotational", 1))
        chunk = made.chunk_bytes or CHUNK
        self._array = md_mirrors(
            known, self._engine, members, made.level, rotational, made.algorithm, chunk, made.failed
        )

    def play(self, ios: Sequence[tuple[str, int, int]]) -> list[Run]:
        """The reads that the members were sent, in the order of the I/Os."""
        self._served.clear()
        for op, offset, size in ios:
            if op == "s":
                self._engine.run(until=self._engine.now + size * 1e-3)
                continue
            self._array.submit(Request(READ if op == "r" else WRITE, offset, size, _complete))
            self._engine.run()
        return list(self._served)


def _difference(case: Mapping[str, Any], served: Sequence[Run]) -> str:
    recorded = [tuple(run) for run in case["served_by"]]
    wrong = [
        f"read {number}: recorded {_shown(real)}, model {_shown(ours)}"
        for number, (real, ours) in enumerate(zip_longest(recorded, served))
        if real != ours
    ]
    if not wrong:
        return ""
    return "\n".join([f"{len(wrong)} of {len(recorded)} reads differ", *wrong[:_SHOWN]])


def _shown(run: tuple[int, ...] | None) -> str:
    return "none" if run is None else f"member {run[0]}, sector {run[1]}, {run[2]} sectors"


def _complete(_: Request) -> None:
    """Nobody waits: the engine runs until all is done."""
