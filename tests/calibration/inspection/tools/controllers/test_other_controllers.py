"""Controllers of Adaptec (arcconf) and 3ware (tw_cli): levels, members and their states, spares, sizes, policies."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.calibration.inspection.inspection import Source, inspect
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from

PASTED = Path(__file__).parents[2] / "pasted"
ARCCONF = (PASTED / "made-arcconf.txt").read_text(encoding="utf-8")
TW_CLI = (PASTED / "made-tw_cli.txt").read_text(encoding="utf-8")
SEGMENTS = """\
Logical device information
Logical Device number 2
   RAID level                               : 10
   Size                                     : 915446 MB
   Stripe-unit size                         : 256 KB
   Write-cache setting                      : Enabled
   Group 0, Segment 0                       : Present (457862MB, SATA, SSD, Connector:0, Device:0) A
   Group 0, Segment 1                       : Present (457862MB, SATA, SSD, Connector:0, Device:1) B
   Group 1, Segment 0                       : Present (457862MB, SATA, SSD, Connector:1, Device:0) C
   Group 1, Segment 1                       : Present (457862MB, SATA, SSD, Connector:1, Device:1) D
"""


def made(text: str) -> ScenarioSpec:
    """The scenario of a text."""
    return document_from(inspect([Source("x", text)], "x").text, "again").spec()


def test_arcconf() -> None:
    """Protects getconfig: RAID 50 with a member that is gone, the spare, the controller's memory and policy."""
    spec = made(ARCCONF)
    array = spec.arrays["c0v0"]
    assert (array.level, array.chunk, array.groups) == ("raid50", 128 << 10, 2)
    assert array.members == ("c0p0-0", "c0p0-1", "c0v0-slot2", "c0p0-3", "c0p0-4", "c0p0-5")
    assert (array.failed, array.spares) == (("c0v0-slot2",), ("c0p0-6",))
    drive = spec.machine.drives["c0p0-1"].hard_disk()
    assert drive.capacity == pytest.approx(2.0e12, rel=0.01)
    assert drive.interface.startswith("SAS")
    controller = spec.machine.controllers["c0"]
    assert controller.model == "Adaptec-3154-8i"
    assert controller.spec().write_policy == "write-through"


def test_arcconf_without_the_controller() -> None:
    """Protects the logical device alone: its drives by their places, MB of 2^20 bytes, and Adaptec's controller."""
    spec = made(SEGMENTS)
    array = spec.arrays["c0v2"]
    assert (array.level, array.members) == ("raid10", ("c0p0-0", "c0p0-1", "c0p1-0", "c0p1-1"))
    drive = spec.machine.drives["c0p0-0"].spec()
    assert not drive.rotational
    assert drive.capacity == pytest.approx(480e9, rel=0.001)
    assert spec.machine.controllers["c0"].model == "Adaptec-3154-8i"
    with pytest.raises(InputError, match=r"x:7:\d+: .*expected: the place of a segment"):
        made(SEGMENTS.replace("(457862MB, SATA, SSD, Connector:0, Device:0)", ""))


def test_tw_cli() -> None:
    """Protects /c0 show: a RAID 5 that rebuilds one port, the spare, ports without a drive, the policy."""
    spec = made(TW_CLI)
    array = spec.arrays["c0u0"]
    assert (array.level, array.chunk, array.spares) == ("raid5", 64 << 10, ("c0port10",))
    assert array.members == ("c0port0", "c0port1", "c0port2", "c0port3")
    assert array.failed == array.rebuilding == ("c0port2",)
    assert array.resync is not None
    assert array.resync.position == pytest.approx(0.47e12, rel=0.01)
    assert spec.machine.controllers["c0"].model == "3ware-8500"
    assert spec.machine.drives["c0port0"].hard_disk().capacity == pytest.approx(1e12, rel=0.01)
    whole = made(TW_CLI.replace("REBUILDING     47%", "OK             -  ").replace("p2    DEGRADED", "p2    OK      "))
    assert whole.arrays["c0u0"].failed == ()
