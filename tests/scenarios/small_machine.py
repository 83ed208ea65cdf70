"""A machine of four equal drives, each on a cable of its own, behind one bus; and scenarios on it."""

from __future__ import annotations

from typing import Any

from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.machine import MachineSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.base.sample import Sample

MIB = 1 << 20
DRIVES = ("sda", "sdb", "sdc", "sdd")
QUICK = Sample(read_bytes=8 * MIB, write_bytes=4 * MIB, cycles=1)

PRICES: dict[str, Any] = {
    "write_call": "5us",
    "read_call": "0.5us",
    "page": "1us",
    "bio": "1us",
    "command": "20us",
    "switch": "3us",
    "clone": "1us",
    "stripe": "1us",
    "copy_rate": "2GB/s",
    "xor_rate": "1GB/s",
    "source": "made up",
}


def machine_document(bus: str = "1GB/s", memory: str = "1GiB", major: int = 8, **prices: str) -> dict[str, Any]:
    """The machine as a file would have it."""
    return {
        "name": "four drives",
        "memory": memory,
        "cpu": {"name": "some CPU", "clock": "2GHz", "prices": {**PRICES, **prices}},
        "links": {"pci": {"rate": bus, "source": "made up"}},
        "channels": {name: {"rate": "100MB/s", "links": ["pci"], "source": "made up"} for name in DRIVES},
        "drives": {name: {"model": "WD2500JB", "channel": name, "major": major} for name in DRIVES},
    }


def machine(**changes: Any) -> MachineSpec:
    """The machine."""
    return validate(MachineSpec, machine_document(**changes))


def scenario_document(
    direction: str = "read",
    targets: tuple[str, ...] = ("sda",),
    array: dict[str, Any] | None = None,
    kernel: str = "linux-2.6.8",
    size: str = "5GiB",
    machine_changes: dict[str, Any] | None = None,
    seed: int = 0,
    **workload: Any,
) -> dict[str, Any]:
    """dd on `targets`, of which md0 is `array`."""
    return {
        "name": "test",
        "machine": machine_document(**(machine_changes or {})),
        "kernel": kernel,
        "arrays": {} if array is None else {"md0": {"chunk": "64KiB", "bitmap": "none", **array}},
        "workload": {"direction": direction, "size": size, "targets": list(targets), **workload},
        "seed": seed,
    }


def scenario(**changes: Any) -> ScenarioSpec:
    """The scenario."""
    return validate(ScenarioSpec, scenario_document(**changes))
