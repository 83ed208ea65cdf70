"""How far one read goes, by what the device below takes in a request."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.files.description_errors import validate
from raidsim.model.kernels import kernel as kernel_called
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine.cache_plan import cache_plan
from raidsim.tests.scenarios.small_machine import DRIVES, scenario_document

KIB = 1024


@pytest.mark.parametrize(
    ("level", "drive_kib", "request_kib"),
    [
        (None, 128, 128),
        (None, None, 1280),
        ("raid1", 128, 128),
        ("raid10", 128, 128),
        ("raid0", 32, 32),
        ("raid0", 128, 64),
        ("raid5", 128, 1024),
    ],
)
def test_one_read_takes_what_the_device_takes(level: str | None, drive_kib: int | None, request_kib: int) -> None:
    """Protects reads that are larger than the read-ahead window: they go in requests of the drives' max_sectors_kb
    (bdi->io_pages), of the chunk on RAID 0, and of 256 stripe heads on RAID 5. Counter-test: a drive that names no
    limit has the kernel's.
    """
    array = None if level is None else {"level": level, "members": list(DRIVES), "chunk": "64KiB"}
    document: dict[str, Any] = scenario_document(kernel="linux-6.1", array=array)
    if drive_kib is not None:
        for drive in document["machine"]["drives"].values():
            drive["max_request"] = drive_kib * KIB
    spec = validate(ScenarioSpec, document)
    on = "sda" if level is None else "md0"
    plan = cache_plan(spec, kernel_called("linux-6.1"), on, 4 * KIB)
    assert plan.read_ahead.max_request == request_kib * KIB
