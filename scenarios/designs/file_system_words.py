"""What mkfs made of a device: as a line ("/srv: xfs-v5 on md0, 8 groups, ..."), and as data."""

from __future__ import annotations

from typing import Any

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


def file_system_geometry(spec: ScenarioSpec) -> dict[str, dict[str, Any]]:
    """By mount point what mkfs chose, in bytes; null where it has no such thing."""
    found = {}
    for point, mounted in spec.file_systems.items():
        settings, capacity = mount_settings(spec, mounted), _capacity(spec, mounted)
        found[point] = {
            "kind": mounted.kind,
            "on": mounted.on,
            "capacity": capacity,
            "groups": group_count(settings, capacity),
            "stripe_unit": settings.stripe_unit or None,
            "stripe_width": settings.stripe_width or None,
            "journal": journal_bytes(settings, capacity) or None,
            "journal_on": mounted.journal_on or mounted.on if settings.journal != "none" else None,
            "log_unit": settings.log_unit or None,
            "inode": settings.inode,
        }
    return found


def _capacity(spec: ScenarioSpec, mounted: FileSystemSpec) -> int:
    return mounted.size or spec.capacity(mounted.on) - mounted.start


def _words(point: str, mounted: FileSystemSpec, spec: ScenarioSpec) -> str:
    settings = mount_settings(spec, mounted)
    made = _made(settings, _capacity(spec, mounted), mounted.journal_on)
    return ", ".join([f"{point}: {mounted.kind} on {mounted.on}", *made])


def _made(settings: FileSystemSettings, capacity: int, journal_on: str | None) -> list[str]:
    parts = []
    if settings.groups:
        parts.append(f"{group_count(settings, capacity)} groups")
    if settings.stripe_unit:
        parts.append(f"stripe unit {format_size(settings.stripe_unit)}, width {format_size(settings.stripe_width)}")
    else:
        parts.append("no stripes")
    journal = f"journal {format_size(journal_bytes(settings, capacity))}"
    if journal_on is not None:
        journal += f" on {journal_on}"
    elif settings.flexible:
        journal += f" in block group {journal_group(settings, capacity)}"
    if settings.log_unit:
        journal += f" in units of {format_size(settings.log_unit)}"
    return [*parts, journal, f"inodes of {settings.inode} bytes"]
