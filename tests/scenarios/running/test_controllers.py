"""Every controller of the catalogue runs what it offers, on disks and on flash, and volumes of one drive."""

from __future__ import annotations

import pytest

from raidsim.model.controller.catalogue import controller, controller_names
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

DISK, FLASH = "WD5000AAKS", "Samsung-870-EVO-1TB"
DISKS = {"raid0": 3, "raid1": 2, "raid5": 3, "raid6": 4, "raid10": 4}
THROUGH = ("machine.controllers.c0.overrides={write_policy: write-through, read_ahead_rows: 0}",)
KINDS = list({(controller(name).processor, controller(name).levels): name for name in controller_names()}.values())
"""One controller of each chip and set of levels."""
WITH_FAST_PATH = [name for name in KINDS if controller(name).fast_path]


def run(name: str, level: str, disks: int, model: str, *sets: str) -> Prediction:
    """Small random I/Os on a volume of a controller."""
    times = "warm_up: 10ms, duration: 100ms" if model == DISK else "warm_up: 2ms, duration: 8ms"
    text = f"""
machine:
  cpu: {{model: server-core, cores: 8}}
  controllers: {{c0: {{model: {name}}}}}
  drives: {{model: {model}, count: {disks}}}
arrays: {{md0: {{level: {level}, controller: c0}}}}
workload:
  {{kind: load, block_size: 4KiB, pattern: random, read_share: 0.7, jobs: 4, depth: 8, {times}}}
"""
    return simulate(document_from(text, "test.yaml", sets).spec())


@pytest.mark.parametrize("model", [DISK, FLASH])
@pytest.mark.parametrize("name", KINDS)
def test_every_controller_runs_its_levels(name: str, model: str) -> None:
    """Protects catalogue entries from values that no load has met: each level that is offered reads and writes."""
    for level, disks in DISKS.items():
        if level in controller(name).levels:
            found = run(name, level, disks, model)
            assert found.iops["read"] > 0, level
            assert found.iops["write"] > 0, level


@pytest.mark.parametrize("model", [DISK, FLASH])
@pytest.mark.parametrize("name", [name for name in KINDS if "raid0" in controller(name).levels])
def test_a_volume_may_be_one_drive(name: str, model: str) -> None:
    """Protects "RAID 0 of one", in which controllers without pass-through show single drives."""
    assert run(name, "raid0", 1, model).iops["read"] > 0


@pytest.mark.parametrize("name", WITH_FAST_PATH)
def test_the_fast_path_spares_the_firmware(name: str) -> None:
    """Protects reads past the cache: the firmware spends on a command what its entry says. Counter-test: with
    read-ahead on, data may be in memory, and every read asks the firmware.
    """

    def firmware_s(*sets: str) -> float:
        found = run(name, "raid5", 4, FLASH, *THROUGH, "workload.read_share=1", *sets)
        busy = next(part for part in found.usages if part.name == "c0 cpu")
        return busy.utilization * controller(name).cores / found.iops["read"]

    spec = controller(name)
    assert firmware_s() == pytest.approx(spec.fast_path, rel=0.05)
    if not spec.cache:
        return
    slow = firmware_s("machine.controllers.c0.overrides.read_ahead_rows=1")
    assert slow == pytest.approx(spec.command + spec.drive_command, rel=0.3)
