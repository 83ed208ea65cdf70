"""Mounted file systems as data, and whether they and the programs on them fit the devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import Field

from ...model.core.errors import InputError
from ...model.file_system import FileSystemSettings, file_system_names, file_system_settings, instead_of
from ...model.files.description import PositiveSize, Size, Spec, refusal
from ...model.files.description_errors import changed
from ...model.files.quantities import format_size
from ...model.files.switches import as_switched
from ..programs import Step
from ..programs.remount import DropCacheStep
from ..programs.tree import TreeSpec
from .programs import ProgramsSpec

LEAST_BYTES = 256 << 20
"""A file system smaller than that has no room for its groups and its journal."""


class FileSystemSpec(Spec):
    """A mounted file system."""

    kind: str
    """Name in the catalogue of file systems."""
    on: str
    """Drive, array or encrypted device."""
    start: Size = 0
    size: PositiveSize | None = None
    """The partition it is on; all of the device unless given."""
    age: float = Field(default=0.0, ge=0.0, le=1.0)
    """How fragmented it is, from 0 (just made) to 1."""
    stripe_aligned: bool = True
    """If true, mkfs is told of the chunks of an array below, as by default. If false, it makes the file system as on a
    drive (``mkfs.xfs -d noalign -l su=...``, ``mke2fs -E stride=0,stripe_width=0``)."""
    journal_on: str | None = None
    """Drive or array that has the journal, as large as inside (``mke2fs -O journal_dev``, ``mkfs.xfs -l logdev=...``).
    None: the journal is inside the file system."""
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Fields of the catalogue's file system that are different in this one."""

    def settings(self, units_required: bool = False) -> FileSystemSettings:
        """The catalogue's file system with the overrides."""
        entry = file_system_settings(self.kind)
        if not self.overrides:
            return entry
        return as_switched("file_system", changed(entry, self.overrides, units_required))


class HasDevices(Protocol):
    """Devices by name."""

    @property
    def names(self) -> list[str]:
        """Every device."""

    @property
    def hidden(self) -> Mapping[str, str]:
        """Drives that the host does not see, with the controller in front of them."""

    def capacity(self, name: str) -> int:
        """Its bytes."""

    def below(self, name: str) -> set[str]:
        """The device, and all that it is built of."""


class FileSystems:
    """The file systems of a scenario.

    Parameters
    ----------
    mounted
        By mount point.
    devices
        What they may be on.
    """

    def __init__(self, mounted: Mapping[str, FileSystemSpec], devices: HasDevices) -> None:
        self._mounted = mounted
        self._devices = devices

    def check(self, workload: object) -> None:
        """Refuse what cannot be mounted, and programs without a place.

        Raises
        ------
        PydanticCustomError
            Naming what is wrong, and what is allowed.
        """
        for point, spec in self._mounted.items():
            self._check_mount(point, spec)
            self._check_apart(point, spec)
        if isinstance(workload, ProgramsSpec):
            self._check_programs(workload)

    def _check_mount(self, point: str, spec: FileSystemSpec) -> None:
        at = ("file_systems", point)
        if not point.startswith("/") or (len(point) > 1 and point.endswith("/")):
            raise refusal(f"mount point {point!r}", "expected: an absolute path without / at its end", at)
        if spec.kind not in file_system_names():
            allowed = f"expected: {', '.join(file_system_names())}{instead_of(spec.kind)}"
            raise refusal(f"unknown file system {spec.kind!r}", allowed, (*at, "kind"))
        try:
            spec.settings()
        except InputError as error:
            field = (error.place,) if error.place else ()
            raise refusal(error.found.removeprefix("found "), error.expected, (*at, "overrides", *field)) from None
        if spec.on not in self._devices.names:
            raise refusal(f"unknown device {spec.on!r}", f"expected: {', '.join(self._devices.names)}", (*at, "on"))
        if spec.on in self._devices.hidden:
            seen = [name for name in self._devices.names if name not in self._devices.hidden]
            found = f"{spec.on}, which is behind {self._devices.hidden[spec.on]}"
            raise refusal(found, f"expected: {', '.join(seen)}", (*at, "on"))
        if spec.journal_on is not None:
            self._check_journal(spec, spec.journal_on, (*at, "journal_on"))
        capacity = self._devices.capacity(spec.on)
        end = spec.start + (spec.size or 0)
        if end > capacity or capacity - spec.start < LEAST_BYTES or (spec.size or LEAST_BYTES) < LEAST_BYTES:
            found = f"{format_size(spec.size or capacity)} from byte {spec.start} of {spec.on}"
            allowed = f"expected: at least {format_size(LEAST_BYTES)} within its {format_size(capacity)}"
            raise refusal(found, allowed, (*at, "size"))

    def _check_journal(self, spec: FileSystemSpec, journal_on: str, at: tuple[str, ...]) -> None:
        """Refuse a journal that the file system does not have, or that is not on a separate device."""
        devices = self._devices
        if spec.settings().journal == "none":
            raise refusal(f"a journal of {spec.kind}, which has none", "expected: ext4 or xfs-v5, for example", at)
        used = {name for mounted in self._mounted.values() for name in devices.below(mounted.on)}
        parts = {part for name in devices.names for part in devices.below(name) - {name}} | set(devices.hidden)
        free = [name for name in devices.names if name not in parts and not used & devices.below(name)]
        if journal_on not in free:
            found = f"a journal on {journal_on}"
            expected = ", ".join(free) or "a drive or an array that no file system is on"
            raise refusal(found, f"expected: {expected}", at)

    def _check_apart(self, point: str, spec: FileSystemSpec) -> None:
        """Refuse two file systems in one place."""
        capacity = self._devices.capacity(spec.on)
        for other, placed in self._mounted.items():
            if other == point or placed.on != spec.on:
                continue
            if placed.start <= spec.start < placed.start + (placed.size or capacity):
                found = f"{point} inside {other} on {spec.on}"
                raise refusal(found, "expected: `start` and `size` apart", ("file_systems", point, "start"))

    def _check_programs(self, workload: ProgramsSpec) -> None:
        if not self._mounted:
            raise refusal("programs without a file system", "expected: at least one in `file_systems`", ("workload",))
        allowed = f"expected: {', '.join(self._mounted)}"
        written: set[tuple[str, str]] = set()
        trees: dict[str, TreeSpec] = {}
        for i, step in enumerate(workload.steps):
            at = ("workload", "steps", i)
            if isinstance(step, DropCacheStep):
                continue
            if step.on is None and len(self._mounted) > 1:
                raise refusal(f"{step.program} without a mount point", allowed, (*at, "on"))
            if step.on is not None and step.on not in self._mounted:
                raise refusal(f"unknown mount point {step.on!r}", allowed, (*at, "on"))
            source = step.from_mount
            if source is not None and source not in self._mounted:
                raise refusal(f"unknown mount point {source!r}", allowed, (*at, "source"))
            on = step.on or next(iter(self._mounted))
            self._check_room(step, on, workload.processes, at)
            tree: TreeSpec | None = getattr(step, "tree", None)
            for place in (on, source or on):
                if tree is not None and trees.setdefault(place, tree) != tree:
                    found = f"another tree than an earlier step's on {place}"
                    raise refusal(found, "expected: one tree on each file system", (*at, "tree"))
            if step.made_file is not None:
                written.add((on, step.made_file))
            if step.read_file is not None and (on, step.read_file) not in written:
                found = f"{step.read_file!r}, which no step before has written there"
                raise refusal(found, "expected: the `file` of a dd or cp before, or none", (*at, "archive"))

    def _check_room(self, step: Step, on: str, processes: int, at: tuple[str | int, ...]) -> None:
        """Refuse files that cannot fit their file system."""
        files, size = step.new_files
        spec = self._mounted[on]
        room = spec.size or self._devices.capacity(spec.on) - spec.start
        if processes * files * size > room:
            times = "" if processes * files == 1 else f"{processes * files} x "
            found = f"{times}{format_size(size)} on {on}"
            raise refusal(found, f"expected: what fits in its {format_size(room)}", (*at, "size"))
