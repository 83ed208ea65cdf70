"""One array of a scenario, and the arrays inside it: the parts that its layout asks for, each with its settings.

Every array is built from its layout alone: a layout of layouts becomes an array of arrays, so RAID 10, 01, 50, 60
and what a scenario stacks by hand need no case of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...model.controller.catalogue import ControllerSpec
from ...model.core.engine import Engine
from ...model.core.errors import InputError
from ...model.kernels import KernelSpec
from ...model.layouts import ByteStripedLayout, Layout, MirroredLayout, NestedLayout, ParityLayout, Raid10Layout
from ...model.raid.base.array import Array
from ...model.raid.base.io_limit import behind_limit
from ...model.raid.metadata.bitmap import ArrayMetadata, WriteIntentBitmap
from ...model.raid.metadata.journal import Journal
from ...model.raid.metadata.superblock import GEOM, VERSION_0_90
from ...model.raid.mirrors.barrier import RESYNC_BARRIER
from ...model.raid.mirrors.mirror import MirrorArray
from ...model.raid.mirrors.raid10 import Raid10Array
from ...model.raid.parity.array import ParityArray
from ...model.raid.read_balance import READ_BALANCE, Mirrors, ReadBalance, balance
from ...model.raid.resync.spares import HotSpares, MemberSlot
from ...model.raid.resync.thread import Action, Resync
from ...model.raid.striped.raid3 import ByteStripedArray
from ...model.raid.striped.stripe import StripeArray
from ...model.raid.stripes.settings import ParitySettings
from ...model.tasks.host import Host
from ..description.arrays import ArraySpec
from ..description.scenario import ScenarioSpec
from .observer import Observer
from .resync import resync_settings, resync_thread


@dataclass(frozen=True, slots=True)
class ArrayParts:
    """What the arrays of a scenario have in common, and all that is built for them, by the name of the array.

    Attributes
    ----------
    engine, kernel, scenario
        The clock, how arrays are run, and the description.
    observer
        Sees each part.
    rotational
        Whether a device turns, by its name.
    arrays
        The second array inside a nested one is "md0.1".
    resyncs
        Threads that rebuild or check from the start.
    spares
        What waits for members to fail.
    """

    engine: Engine
    kernel: KernelSpec
    scenario: ScenarioSpec
    observer: Observer
    rotational: Callable[[str], bool]
    arrays: dict[str, Any] = field(default_factory=dict)
    resyncs: dict[str, Resync] = field(default_factory=dict)
    spares: dict[str, HotSpares] = field(default_factory=dict)


class ArrayBuilder:
    """Builds one array of a scenario, and the arrays inside it.

    Parameters
    ----------
    parts
        Where all that is built is kept.
    root
        Name of the array.
    spec
        Its description.
    host
        The host or the firmware that runs it.
    member
        Gives a drive or array by name, as whoever runs the array sees it.
    controller
        The controller that runs it, if one does.
    """

    def __init__(
        self,
        parts: ArrayParts,
        root: str,
        spec: ArraySpec,
        host: Host,
        member: Callable[[str], Any],
        controller: ControllerSpec | None = None,
    ) -> None:
        self._parts = parts
        self._engine = parts.engine
        self._kernel = parts.kernel
        self._root = root
        self._spec = spec
        self._host = host
        self._controller = controller
        self._member = member
        self._stand_by: list[Any] | None = None
        self._shared: dict[str, Any] = {}

    def assemble(self, name: str, layout: Layout, members: Sequence[Any], slots: Sequence[str]) -> Any:
        """The array of `layout` over `members`, which are called `slots`; of a layout of layouts the whole stack."""
        spec = self._spec
        failed = [slot for slot, member in enumerate(slots) if member in spec.failed]
        rebuilding = [slot for slot, member in enumerate(slots) if member in spec.rebuilding]
        if isinstance(layout, NestedLayout):
            return self._nested(name, layout, members, slots)
        return self._single(name, layout, members, slots, failed, rebuilding)

    def limited(self, array: Any) -> Any:
        """An array behind the limits of its queue, where the kernel's block layer cuts what is larger."""
        queue, layout = self._kernel.queue, array.striping if isinstance(array, Array) else None
        if self._controller is not None or not queue.multiqueue or layout is None:
            return array
        limited = behind_limit(array, layout, queue.max_request)
        self._parts.observer.part(limited)
        return limited

    def _nested(self, name: str, layout: NestedLayout, members: Sequence[Any], slots: Sequence[str]) -> Any:
        """Groups that survive their losses are degraded arrays; one that does not is a lost member of the outer."""
        spec = self._spec
        groups: list[Any] = []
        names: list[str] = []
        failed, rebuilding = [], []
        first = 0
        for number, inner in enumerate(layout.groups):
            part = slice(first, first + inner.members)
            first += inner.members
            inside = frozenset(slot for slot, member in enumerate(slots[part]) if member in spec.failed)
            names.append(f"{name}.{number}")
            if inner.tolerates(inside):
                groups.append(self.limited(self.assemble(names[-1], inner, members[part], slots[part])))
                continue
            failed.append(number)
            if any(member in spec.rebuilding for member in slots[part]):
                rebuilding.append(number)
            groups.append(self._single(names[-1], inner, members[part], slots[part], [], []))
        return self._single(name, layout.outer, groups, names, failed, rebuilding)

    def _single(
        self,
        name: str,
        layout: Layout,
        members: Sequence[Any],
        slots: Sequence[str],
        failed: Sequence[int],
        rebuilding: Sequence[int],
    ) -> Any:
        hurt = {failure.member for failure in self._parts.scenario.failures} & set(slots)
        if hurt:
            members = [MemberSlot(member) for member in members]
        array: Any = self._made(name, layout, members, slots, failed)
        self._parts.observer.part(array)
        self._parts.arrays[name] = array
        if isinstance(array, StripeArray):
            return array
        for slot in rebuilding:
            array.rebuild_onto(slot)
        spec = self._spec
        if spec.bitmap is not None:
            bitmap = WriteIntentBitmap(self._engine, array, spec.bitmap)
            array.keep_metadata(ArrayMetadata(self._engine, array, bitmap))
        elif self._marks_clean(array):
            section = self._kernel.superblock
            assert section is not None
            superblock = GEOM if section.format == "geom" else VERSION_0_90
            written = replace(superblock, in_turn=section.in_turn, write_through=section.barrier)
            marks = ArrayMetadata(self._engine, array, None, section.clean_after, superblock=written)
            array.keep_metadata(marks)
        if rebuilding:
            self._parts.resyncs[name] = self._resync(array, slots, "recover")
        elif spec.resync is not None and spec.resync.action != "recover":
            self._parts.resyncs[name] = self._resync(array, slots, spec.resync.action)
        if hurt:
            self._will_fail(name, array, slots)
        else:
            self._spares()  # they stand by idle, and are in the table of what was used
        return array

    def _marks_clean(self, array: Any) -> bool:
        """Whether it is an array of the kernel's own that its superblocks say to be clean or dirty."""
        if self._kernel.superblock is None or self._controller is not None:
            return False
        marked = MirrorArray | Raid10Array | ParityArray | ByteStripedArray
        return isinstance(array, marked) and not (isinstance(array, MirrorArray) and not array.balance.marks_clean)

    def _resync(
        self, array: Any, slots: Sequence[str], action: Action, finished: Callable[[], None] | None = None
    ) -> Resync:
        """The thread that rebuilds or checks an array; one that begins during the run begins at the start."""
        spec, scenario = self._spec, self._parts.scenario
        drives = scenario.machine.drives
        majors = [drives[slot].major for slot in slots if slot in drives]
        settings = resync_settings(self._kernel, array, spec, majors)
        if finished is not None:
            return resync_thread(self._engine, self._kernel, array, settings, action, finished=finished)
        start = spec.resync.position if spec.resync is not None else 0
        total = array.resync_bytes if action == "recover" else getattr(array, "check_bytes", array.resync_bytes)
        if start >= total:
            found = f"{start} bytes, where the array has {total} to {action}"
            raise InputError(f"arrays.{self._root}.resync.position", found, "allowed: less than that")
        start -= start % settings.request_bytes
        # A thread that naps is looked at in the middle of its rebuild, when it is down to its minimum.
        warm = scenario.workload.kind == "dd" or settings.when_busy == "nap"
        return resync_thread(self._engine, self._kernel, array, settings, action, start, warm)

    def _will_fail(self, name: str, array: Any, slots: Sequence[str]) -> None:
        """Members fail when the scenario says so, and spares take their place."""

        def start(finished: Callable[[], None]) -> Resync:
            return self._resync(array, slots, "recover", finished)

        spares = self._parts.spares[name] = HotSpares(self._engine, array, self._spares(), start)
        for failure in self._parts.scenario.failures:
            if failure.member in slots:
                spares.fail_at(failure.at, slots.index(failure.member))

    def _spares(self) -> list[Any]:
        """The devices that stand by for all arrays under the root."""
        if self._stand_by is None:
            self._stand_by = [self._member(name) for name in self._spec.spares]
        return self._stand_by

    def _made(
        self, name: str, layout: Layout, members: Sequence[Any], slots: Sequence[str], failed: Sequence[int]
    ) -> Any:
        engine, host, kernel = self._engine, self._host, self._kernel
        match layout:
            case MirroredLayout():
                section = kernel.raid1
                balance = self._balance(section.balance, slots, near=True)
                barrier = RESYNC_BARRIER[section.barrier]
                return MirrorArray(
                    engine,
                    name,
                    members,
                    balance,
                    host,
                    failed,
                    section.resync_depth,
                    barrier,
                    section.clones_pages,
                    section.submitter_pays,
                )
            case Raid10Layout():
                tenth = kernel.raid10
                assert tenth is not None  # the scenario has checked that this kernel has the level
                balance = self._balance(tenth.balance, slots, near=layout.algorithm == "near")
                barrier = RESYNC_BARRIER[tenth.barrier]
                return Raid10Array(engine, name, members, layout, balance, host, failed, tenth.resync_depth, barrier)
            case ByteStripedLayout():
                return ByteStripedArray(engine, name, members, layout, host, failed, self._spec.round_robin)
            case ParityLayout():
                settings, journal = self._parity_settings(), self._journal()
                return ParityArray(engine, name, members, layout, settings, host, failed, journal)
            case _:
                return StripeArray(engine, name, members, layout, host, failed)

    def _balance(self, default: str, slots: Sequence[str], near: bool) -> ReadBalance:
        """The policy that the array asks for, or the kernel's; a controller without one takes turns."""
        spec = self._spec
        if self._controller is not None:
            default = "gmirror-round-robin"
        options = spec.balance or balance(default)
        mirrors = Mirrors(
            names=tuple(slots),
            rotational=tuple(self._parts.rotational(slot) for slot in slots),
            write_mostly=frozenset(slot for slot, member in enumerate(slots) if member in spec.write_mostly),
            near=near,
            columns=max(1, len(spec.members) // len(slots)),
            shared=self._shared,
        )
        return READ_BALANCE[options.name].for_members(mirrors, options)

    def _journal(self) -> Journal | None:
        return None if self._spec.journal is None else Journal(self._member(self._spec.journal))

    def _head_bytes(self) -> int:
        """Height of a stripe head: the kernel's, or that of the blocks of the file system on the array."""
        section = self._kernel.raid5
        blocks = self._parts.scenario.file_system_blocks(self._root) if section.head_is_file_system_block else ()
        return max(blocks, default=section.head)

    def _parity_settings(self) -> ParitySettings:
        spec, section = self._spec, self._kernel.raid5
        if self._controller is not None:
            return self._controller.parity_settings()
        return ParitySettings(
            heads=section.heads if spec.stripe_cache is None else spec.stripe_cache,
            head_bytes=self._head_bytes(),
            hold_s=section.hold,
            shared_plug=section.shared_plug,
            locks_rows=section.locks_rows,
            waiting_readers=section.waiting_readers,
            gathers_per_head=section.gathers_per_head,
            copies_reads=section.copies_reads,
            rmw_level=section.rmw_level if spec.rmw_level is None else spec.rmw_level,
            direct_reads=section.direct_reads,
            most_heads=section.most_heads if section.grows else 0,
            workers=spec.group_thread_cnt or 0,
            discards=spec.devices_handle_discard_safely,
        )
