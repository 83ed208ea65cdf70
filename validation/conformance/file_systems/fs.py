"""Files on an array compared with recordings of ext4 and XFS: what each phase sends to the devices, and how long it
takes.

A phase of an array is two cases: its traffic, which matches when bytes are within 3 % and requests within 10 % in every
class, and flushes and FUA writes are the same in number; and its time, within 20 %, where the devices set it. Phases of
an array run in order on one file system, as they were recorded. CPU times of the recorded machine are no truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from ....model.kernels import KernelSpec
from ....scenarios.description.tuning import VirtualMemorySpec
from ..base import KindResult, NotSupported, Progress, TruthFile
from ..md.kernels import recorded_kernel
from ..md.mdadm import LEVELS
from ..md.vm_member import MIB, Member, RecordedArray, algorithm_of
from . import fsb
from .machine import FileMachine, file_machine
from .traffic import differences, recorded_traffic

TIME_WITHIN = 0.20
_CPU_BOUND = ("create", "stat", "unlink", "unlink_fsynced", "unlink.syncfs", "unlink_fsynced.syncfs")
"""Phases whose time is the recorded machine's CPU."""
_MEMORY = re.compile(r"MemTotal:\s*(\d+) kB")
_NO_CHUNK = 65_536
"""Of a mirror, which has none."""


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Run every recorded phase on the model and compare traffic and times."""
    result = KindResult("fs")
    errors: list[float] = []
    for file in files:
        content = file.content
        try:
            known = recorded_kernel(file)
        except NotSupported as error:
            result.skip(file.path.name, "", error, sum(len(phases) for phases in content["results"].values()))
            continue
        for array_name, recorded in content["arrays"].items():
            phases = content["results"].get(array_name, {})
            try:
                machine = _machine(known, content, recorded)
            except NotSupported as error:
                result.skip(file.path.name, array_name, error, len(phases))
                continue
            commands = [phase["command"] for phase in content["phases"]]
            machine.engine.run(machine.engine.spawn(fsb.make_folders(machine, commands)))
            for phase in content["phases"]:
                name, command = phase["name"], phase["command"]
                if name not in phases:
                    continue
                if not command.startswith("fsb "):
                    result.skip(
                        file.path.name, f"{array_name} {name}", "fio made it, whose buffered jobs are not played"
                    )
                    continue
                progress(f"{file.path.stem} {array_name} {name}")
                for part, seconds, traffic in _ran(machine, phase):
                    if part not in phases:
                        continue
                    case = f"{array_name} {part}"
                    found = "\n".join(differences(recorded_traffic(phases[part]), traffic))
                    result.record(file.path.name, f"{case} traffic", found)
                    told = _seconds(phases[part])
                    if told and part not in _CPU_BOUND and _device_bound(phases[part], content, told):
                        errors.append(abs(seconds / told - 1.0))
                        result.record(file.path.name, f"{case} time", _slower(told, seconds))
    if errors:
        within = sum(error <= TIME_WITHIN for error in errors)
        result.notes.append(f"times: median error {100 * median(errors):.1f} %, {within} of {len(errors)} within 20 %")
    return result


def _machine(known: KernelSpec, content: Mapping[str, Any], recorded: Any) -> FileMachine:
    member = Member.recorded({**content["member"], "max_sectors_kb": content["member"]["max_sectors"] // 2})
    if isinstance(recorded, str):
        array = RecordedArray("single", 1)
    else:
        level = recorded["level"]
        if level not in LEVELS:
            raise NotSupported("field arrays", f"level {level!r}", f"expected: {', '.join(LEVELS)}")
        array = RecordedArray(
            level, recorded["members"], recorded["chunk_bytes"] or _NO_CHUNK, algorithm_of(level, recorded["md_layout"])
        )
    said = dict(line.rpartition("/")[2].split(":", 1) for line in content["vm"] if line.startswith("/proc"))
    total = next(int(found[1]) for line in content["vm"] if (found := _MEMORY.match(line)))
    dirty = VirtualMemorySpec.model_validate(
        {"dirty_background_bytes": int(said["dirty_background_bytes"]), "dirty_bytes": int(said["dirty_bytes"])}
    )
    return file_machine(known, content["file_system"], member, array, dirty, total * 1024 // MIB * MIB)


def _ran(machine: FileMachine, phase: Mapping[str, Any]) -> Iterator[tuple[str, float, Any]]:
    """Run a phase, and the syncfs after it: name, seconds, traffic of each."""
    engine = machine.engine
    if phase["drop_caches_before"]:
        engine.run(engine.spawn(fsb.sync(machine)))
        engine.run(engine.spawn(fsb.drop_caches(machine)))
    traffic, began = machine.counts(), engine.now
    engine.run(engine.spawn(fsb.phase(machine, phase["command"])))
    yield phase["name"], engine.now - began, traffic
    if phase["syncfs_after"]:
        traffic, began = machine.counts(), engine.now
        engine.run(engine.spawn(fsb.sync(machine)))
        yield f"{phase['name']}.syncfs", engine.now - began, traffic


def _seconds(recorded: Mapping[str, Any]) -> float:
    """How long the phase took; 0 where that was not recorded."""
    return float(recorded.get("result", {}).get("elapsed_us", 0.0)) * 1e-6


def _device_bound(recorded: Mapping[str, Any], content: Mapping[str, Any], seconds: float) -> bool:
    """Whether the busiest member was busy for at least half of the time."""
    served_s = content["member"]["completion_nsec"] * 1e-9 / content["member"]["hw_queue_depth"]
    busiest = max((each[0] + each[2] + each[4] for each in recorded.get("per_member", {}).values()), default=0)
    return bool(busiest * served_s >= 0.5 * seconds)


def _slower(recorded: float, model: float) -> str:
    if abs(model / recorded - 1.0) <= TIME_WITHIN:
        return ""
    return f"recorded {1e3 * recorded:,.1f} ms, model {1e3 * model:,.1f} ms ({model / recorded:.2f}, allowed 0.80-1.20)"
