"""Which runs a mechanism that is switched off has anything to do with.

What a run is made of is in its machine's plan. Where that is the same with a mechanism and without it, so is the
result, and the run is not simulated again. Of the kernel, md's sections count only as far as the plan has them: RAID
5's are nothing to a mirror. Its other sections are also read while a run goes on, so they always count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ...model.core.errors import InputError
from ...model.disk.spec import DriveSpec
from ...model.file_system import FileSystemSettings
from ...model.files.description import Spec
from ...model.files.switches import all_on, now_off, switched_off, switches
from ...model.kernels import KernelSpec, kernel
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.machine.plan import machine_plan

KINDS: Mapping[str, type[Spec]] = {
    "kernel": KernelSpec,
    "hard_disk": DriveSpec,
    "solid_state": SolidStateSpec,
    "file_system": FileSystemSettings,
}
"""Descriptions with optional mechanisms, by the first part of the mechanisms' names."""
PLANNED = (
    *("raid5", "raid1", "raid10", "resync", "superblock", "locks", "crypt"),
    *("bitmap_waits", "parity", "checks", "write_intent", "discards"),
)
"""Fields of a kernel that reach a run by its plan alone."""
_EVERYTHING_ON: frozenset[str] = frozenset()


def all_switches() -> tuple[str, ...]:
    """Every optional mechanism of kernels, drives and file systems, by its full name ("kernel.raid5.grows")."""
    return tuple(f"{kind}.{name}" for kind, spec in KINDS.items() for name in switches(spec))


def chosen_switches(text: str) -> tuple[str, ...]:
    """Full names of mechanisms from "FIELD,FIELD"; a name may lack what stands in front of it if it is the only one.

    Raises
    ------
    InputError
        If a name is unknown, or several have it.
    """
    every = all_switches()
    found: dict[str, None] = {}
    for name in (part.strip() for part in text.split(",")):
        fits = [each for each in every if each == name or (name and each.endswith(f".{name}"))]
        if name not in fits and len(fits) != 1:
            near = fits or [each for each in every if name and name.rpartition(".")[2] in each] or list(KINDS)
            what = "several mechanisms have the name" if fits else "no optional mechanism has the name"
            expected = (
                f"expected: all, or of {', '.join(near[:12])}"
                if fits or near != list(KINDS)
                else ("expected: all, or fields of kernels, drives and file systems, such as kernel.raid5.hold")
            )
            raise InputError("--without", f"{what} {name!r}", expected)
        found[name if name in fits else fits[0]] = None
    return tuple(found)


def descriptions(scenario: ScenarioSpec) -> Iterator[tuple[str, Spec]]:
    """The descriptions that a scenario is made from, with their kinds."""
    yield "kernel", kernel(scenario.kernel)
    for instance in scenario.machine.drives.values():
        spec = instance.spec()
        yield "hard_disk" if spec.rotational else "solid_state", spec
    for mounted in scenario.file_systems.values():
        yield "file_system", mounted.settings()


def switches_on(scenario: ScenarioSpec) -> set[str]:
    """The optional mechanisms that descriptions of a scenario have, whatever is switched off just now."""
    with switched_off(_EVERYTHING_ON):
        return {name for kind, spec in descriptions(scenario) for name in all_on(kind, spec)}


def touched_by(scenario: ScenarioSpec) -> tuple[str, ...]:
    """What is switched off just now and makes another machine of a scenario; nothing if the machine is the same.

    Raises
    ------
    InputError
        If a description cannot be without it.
    """
    off = now_off()
    if not off:
        return ()
    concerned = off & switches_on(scenario)
    if not concerned:
        return ()
    without = _machine(scenario)
    with switched_off(_EVERYTHING_ON):
        whole = _machine(scenario)
    return () if without == whole else tuple(sorted(concerned))


def _machine(scenario: ScenarioSpec) -> tuple[Any, ...]:
    """All that a run's machine is made from, comparable."""
    plan = machine_plan(scenario)
    known = plan.kernel.model_copy(update=dict.fromkeys(PLANNED))
    parts = (plan.limits, plan.room, plan.mounts, plan.caches, plan.parts, plan.busy)
    return known, tuple(spec for kind, spec in descriptions(scenario) if kind != "kernel"), _content(parts)


def _content(value: Any) -> Any:
    """A value of plain data and objects as something that is equal where these have the same contents."""
    if value is None or isinstance(value, (str, int, float, bool, BaseModel, type)):
        return value
    if isinstance(value, Mapping):
        return tuple((key, _content(each)) for key, each in value.items())
    if isinstance(value, (tuple, list, frozenset, set, range)):
        return tuple(_content(each) for each in value)
    if callable(value) and hasattr(value, "__qualname__"):
        return value.__qualname__
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    fields = {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})
    return type(value), tuple((name, _content(each)) for name, each in sorted(fields.items()))


def _slots(kind: type) -> tuple[str, ...]:
    found = kind.__dict__.get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(name for name in found if not name.startswith("__"))
