"""Scenarios of one array on drives of one kind, for tests that compare designs."""

from __future__ import annotations

from typing import Any

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.tests.scenarios.small_machine import PRICES

DRIVE = "Exos-15E900-900GB"


def design_document(
    level: str,
    disks: int,
    *,
    drive: str = DRIVE,
    price: float | None = None,
    overrides: dict[str, Any] | None = None,
    workload: dict[str, Any] | None = None,
    arrays: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """A document with `disks` drives d0, d1 ... in an array md0 (or in `arrays`)."""
    names = [f"d{number}" for number in range(disks)]
    options = {name: value for name, value in options.items() if value is not None}
    if arrays is None:
        arrays = {"md0": {"level": level, "members": names, **options}}
    channel = {"kind": "sata", "rate": "600MB/s", "source": "test"}
    return {
        "name": f"{level} of {disks}",
        "kernel": "linux-6.1",
        "machine": {
            "name": "test",
            "memory": "1GiB",
            "cpu": {"name": "test", "clock": "2GHz", "cores": 4, "prices": PRICES},
            "links": {},
            "channels": {f"port{number}": channel for number in range(disks)},
            "drives": {
                name: {"model": drive, "channel": f"port{i}", "price": price, "overrides": overrides or {}}
                for i, name in enumerate(names)
            },
        },
        "arrays": arrays,
        "workload": {
            "kind": "load",
            "targets": ["md0" if arrays else "d0"],
            "block_size": "8KiB",
            "warm_up": "200ms",
            "duration": "1s",
            **(workload or {}),
        },
    }


def design(level: str, disks: int, **options: Any) -> ScenarioSpec:
    """The same as a scenario."""
    return ScenarioSpec.model_validate(design_document(level, disks, **options))
