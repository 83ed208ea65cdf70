"""A drive and the port of its controller agree on the slower rate, in runs, bounds and supplies alike."""

from __future__ import annotations

import pytest

from raidsim.model.controller.catalogue import controller
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.supply import supply
from raidsim.scenarios.running.simulate import simulate

SLOW, FAST = "LSI-9260-8i", "LSI-9361-8i"
TEXT = """
kernel: linux-6.1
machine:
  model: server
  drives: {{model: {drive}, count: 1, state: sequential}}
  controllers:
    raid: {{model: {controller}, overrides: {{host_rate: 8GB/s, cache: 0MB, write_policy: write-through}}}}
arrays: {{md0: {{level: raid0, members: [disk0], controller: raid}}}}
workload: {{kind: load, targets: [md0], pattern: sequential, block_size: 1MiB, depth: 16, warm_up: 50ms,
  duration: 90ms}}
"""


def behind(model: str, drive: str = "Samsung-PM1643-30720GB") -> ScenarioSpec:
    """One drive behind a controller with its cache off and a link to the host that never limits."""
    return document_from(TEXT.format(controller=model, drive=drive)).spec()


def test_a_faster_drive_runs_at_the_rate_of_the_port() -> None:
    """Protects one number for one thing: what `advise` takes as the limit of a port limits the run."""
    port = controller(SLOW).drive_rate
    scenario = behind(SLOW)
    drive = scenario.machine.drives["disk0"].spec()
    assert drive.interface_rate > 1.5 * port
    assert 0.9 * port < simulate(scenario).rate <= 1.001 * port
    assert supply(scenario, ("md0",), "read").rate <= port


def test_a_fast_port_limits_less() -> None:
    """Counter-test: on a controller of the drive's own age it reads as fast as it is rated."""
    assert simulate(behind(FAST)).rate > 1.5 * controller(SLOW).drive_rate


def test_a_drive_on_lanes_of_its_own_keeps_its_rate() -> None:
    """The rate of a SAS port says nothing about drives on PCI Express behind a tri-mode controller."""
    scenario = behind("LSI-9560-16i", "Samsung-PM9A3-3840GB")
    instance = scenario.machine.controllers["raid"]
    drive = scenario.machine.drives["disk0"].spec()
    assert instance.attached(drive).interface_rate == drive.interface_rate > instance.spec().drive_rate


def test_a_slower_drive_is_left_as_it_is() -> None:
    """A SATA drive keeps its own rate behind a port of 12 Gbit/s."""
    scenario = behind(FAST, "Intel-S4510-960GB")
    drive = scenario.machine.drives["disk0"].spec()
    assert scenario.machine.controllers["raid"].attached(drive) is drive
    assert simulate(scenario).rate == pytest.approx(drive.interface_rate, rel=0.15)
