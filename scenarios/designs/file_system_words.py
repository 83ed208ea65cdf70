"""A file system on an array in a line, with what mkfs made of the array: "/srv: xfs-v5 on md0, 8 groups, ..."."""

from __future__ import annotations

from ...model.file_system import FileSystemSettings
from ...model.file_system.geometry import group_count, journal_bytes, journal_group
from ...model.files.quantities import format_size
from ..description.file_systems import FileSystemSpec
from ..description.scenario import ScenarioSpec
from ..machine.plan import mount_settings


def file_system_words(spec: ScenarioSpec) -> list[str]:
    """A line for each file system that mkfs tells of the stripes of an array."""
    return [
        _words(point, mounted, spec)
        for point, mounted in spec.file_systems.items()
        if mounted.settings().knows_stripes and mounted.on not in spec.machine.drives
    ]


def _words(point: str, mounted: FileSystemSpec, spec: ScenarioSpec) -> str:
    settings = mount_settings(spec, mounted)
    capacity = mounted.size or spec.capacity(mounted.on) - mounted.start
    return ", ".join([f"{point}: {mounted.kind} on {mounted.on}", *_made(settings, capacity)])


def _made(settings: FileSystemSettings, capacity: int) -> list[str]:
    parts = []
    if settings.groups:
        parts.append(f"{group_count(settings, capacity)} groups")
    if settings.stripe_unit:
        parts.append(f"stripe unit {format_size(settings.stripe_unit)}, width {format_size(settings.stripe_width)}")
    else:
        parts.append("no stripes")
    journal = f"journal {format_size(journal_bytes(settings, capacity))}"
    if settings.flexible:
        journal += f" in block group {journal_group(settings, capacity)}"
    if settings.log_unit:
        journal += f" in units of {format_size(settings.log_unit)}"
    return [*parts, journal, f"inodes of {settings.inode} bytes"]
