"""The catalogue's drive for solid-state drives that were found."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.calibration.inspection.matching.hard_disk import Match
from raidsim.calibration.inspection.matching.solid_state import match_solid_state
from raidsim.calibration.inspection.tools.facts import Fact
from raidsim.calibration.inspection.tools.findings import FoundDrive
from raidsim.model.drives.catalogue import drive, solid_state_names
from raidsim.model.solid_state.spec import SolidStateSpec


def matched(name: str = "nvme0n1", **known: Any) -> Match:
    """The match of a drive of which some things are known."""
    disk = FoundDrive(name, "x:1")
    for key, value in known.items():
        setattr(disk, key, Fact(value, "x:1"))
    found = match_solid_state(disk, None)
    assert isinstance(found, Match), found
    return found


@pytest.mark.parametrize("name", [name for name in solid_state_names() if drive(name).interface != "memory"])
def test_every_drive_of_the_catalogue_is_itself(name: str) -> None:
    """Protects exact matches: the part number of the catalogue, as smartctl prints it, is that drive unchanged."""
    spec = drive(name)
    for printed in (spec.model, f"MAKER {spec.model}-00A07"):
        found = matched(model=printed, capacity=spec.capacity)
        assert (found.model, found.overrides, found.why) == (name, {}, "")


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("Seagate FireCuda 530 ZP4000GM30023", {"Samsung-990-PRO-2TB", "Samsung-980-PRO-1TB"}),
        ("Seagate FireCuda 510 SSD ZP1000GM30001", {"Samsung-970-EVO-Plus-1TB", "WD-SN570-1TB"}),
        ("Seagate FireCuda 540 ZP2000GM30004", {"Crucial-T700-2TB"}),
        (
            "KBG50ZNV512G KIOXIA",
            {"Corsair-MP600-1TB", "Samsung-990-EVO-2TB", "Samsung-970-EVO-Plus-1TB", "WD-SN570-1TB"},
        ),
    ],
)
def test_the_nearest_is_about_as_fast(model: str, names: set[str]) -> None:
    """Protects rates: a drive of another maker is one of its generation of PCI Express, an unknown one is not the
    fastest of all.
    """
    assert matched(model=model, capacity=1000204886016).model in names


@pytest.mark.parametrize(
    ("model", "size", "name"),
    [
        ("Samsung SSD 970 EVO Plus 2TB", 2000398934016, "Samsung-970-EVO-Plus-1TB"),
        ("Samsung SSD 980 PRO 500GB", 500107862016, "Samsung-980-PRO-1TB"),
        ("CT500MX500SSD1", 500107862016, "Crucial-MX500-1TB"),
        ("SAMSUNG MZQL21T9HCJR-00A07", 1920383410176, "Samsung-PM9A3-3840GB"),
        ("INTEL SSDSC2KB480G8", 480103981056, "Intel-S4510-960GB"),
        ("WD Blue SN570 500GB", 500107862016, "WD-SN570-1TB"),
    ],
)
def test_another_size_of_a_family(model: str, size: int, name: str) -> None:
    """Protects relatives: flash, dies and cache go with the capacity, the controller and the flash's times stay."""
    found = matched(model=model, capacity=size)
    base = drive(name)
    assert isinstance(base, SolidStateSpec)
    spec = base.with_values(**found.overrides)
    assert found.model == name
    assert "same family" in found.why
    assert spec.capacity == pytest.approx(size, rel=1e-6)
    assert spec.flash / spec.capacity == pytest.approx(base.flash / base.capacity, rel=1e-3)
    assert spec.dies / base.dies == pytest.approx(size / base.capacity, rel=0.51)
    assert (spec.program_time, spec.command_rate, spec.channels) == (
        base.program_time,
        base.command_rate,
        base.channels,
    )


@pytest.mark.parametrize(("interface", "starts"), [("nvme", "PCIe"), ("sata", "SATA"), ("sas", "SAS")])
def test_the_nearest_has_the_same_interface(interface: str, starts: str) -> None:
    """Protects strangers: the connector counts first, then the capacity, and what is assumed is said."""
    for size in (240 * 10**9, 10**12, 4 * 10**12, 15 * 10**12):
        found = matched("sda", model="NOBODY KNOWS IT", interface=interface, capacity=size)
        base = drive(found.model)
        assert base.interface.startswith(starts)
        base.with_values(**found.overrides)
        assert "nearest" in found.why


@pytest.mark.parametrize(
    ("model", "interface", "servers"),
    [
        ("KINGSTON SA400S37480G", "sata", False),
        ("ADATA SX8200PNP", "nvme", False),
        ("Micron_M600_MTFDDAK1T0MBF", "sata", False),
        ("MTFDDAK480TDS-1AW1ZABYY", "sata", True),
        ("Micron_9300_MTFDHAL3T8TDP", "nvme", True),
        ("KCD61LUL3T84", "nvme", True),
        ("SAMSUNG MZWLJ3T8HBLS-00007", "nvme", True),
        ("INTEL SSDSC2BB480G7", "sata", True),
        ("NOBODY KNOWS IT", "sata", False),
        ("QEMU NVMe Ctrl", "nvme", True),
    ],
)
def test_drives_for_servers_and_for_desktops_are_told_apart(model: str, interface: str, servers: bool) -> None:
    """Protects the cost of a flush: with and without protection it differs by ten; a guess is called one."""
    for size in (480 * 10**9, 4 * 10**12):
        found = matched("sda", model=model, interface=interface, capacity=size)
        base = drive(found.model)
        assert isinstance(base, SolidStateSpec)
        assert base.power_loss_protection == servers
        assert not base.in_place
        assert ("a guess" in found.why) == (model in ("NOBODY KNOWS IT", "QEMU NVMe Ctrl"))


def test_what_is_none_of_them() -> None:
    """Protects from an eMMC or memory as a drive, and from sizes that no drive has."""
    assert "SATA, SAS and NVMe only" in str(match_solid_state(FoundDrive("mmcblk0", "x:1"), None))
    huge = FoundDrive("nvme0n1", "x:1", capacity=Fact(10**18, "x:1"))
    assert "stands in for drives" in str(match_solid_state(huge, None))
    slow = matched("sda", model="Samsung SSD 870 EVO 1TB", interface="sata", interface_rate=300e6)
    assert slow.overrides == {"interface_rate": "280000000B/s"}
