"""An array in a line, with the defaults that decide its speed: "md RAID 5 of 8, chunk 512 KiB, bitmap 64 MiB"."""

from __future__ import annotations

from ...model.files.quantities import format_size
from ...model.layouts import LEVELS
from ..description.arrays import ArraySpec
from ..description.scenario import ScenarioSpec


def array_words(spec: ScenarioSpec) -> list[str]:
    """A line for each array of a scenario, nested ones first."""
    return [_words(name, array, spec) for name, array in spec.arrays.items()]


def _words(name: str, array: ArraySpec, spec: ScenarioSpec) -> str:
    level = LEVELS[array.level]
    driver = _driver(array, spec)
    parts = [f"{name}: {driver} {level.label} of {len(array.members)}"]
    if level.has_chunk:
        parts.append(f"chunk {format_size(array.chunk)}")
    if array.controller is None and "bitmap" in level.options and driver == "md":
        parts.append("no bitmap" if array.bitmap is None else f"bitmap {format_size(array.bitmap)}")
    if array.journal is not None:
        parts.append(f"journal {array.journal}")
    lost = len(array.failed) - len(array.rebuilding)
    if lost:
        parts.append(f"{lost} lost")
    if array.rebuilding:
        parts.append(f"{len(array.rebuilding)} being rebuilt")
    return ", ".join(parts)


def _driver(array: ArraySpec, spec: ScenarioSpec) -> str:
    if array.controller is not None:
        return spec.machine.controllers[array.controller].model
    return "GEOM" if spec.kernel.startswith("freebsd") else "md"
