"""The catalogue's drive, kernel and core for what was found."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.calibration.inspection.matching.computer import nearest_cpu, nearest_kernel
from raidsim.calibration.inspection.matching.hard_disk import LARGEST, SMALLEST, Match, match, rounded
from raidsim.calibration.inspection.tools.facts import Fact
from raidsim.calibration.inspection.tools.findings import FoundDrive
from raidsim.model.drives.catalogue import hard_disk, hard_disk_names


def matched(at_least: int | None = None, **known: Any) -> Match:
    """The match of a drive of which some things are known."""
    disk = FoundDrive("sda", "x:1")
    for key, value in known.items():
        setattr(disk, key, Fact(value, "x:1"))
    found = match(disk, at_least)
    assert isinstance(found, Match), found
    return found


@pytest.mark.parametrize("name", [name for name in hard_disk_names() if not name.startswith("Generic")])
def test_every_drive_of_the_catalogue_is_itself(name: str) -> None:
    """Protects exact matches: a drive with the catalogue's own model, as programs print it, is that drive unchanged."""
    spec = hard_disk(name)
    for printed in (spec.model, f"ATA {spec.model}", f"{spec.model}-00XYZ0"):
        found = matched(model=printed, capacity=spec.capacity)
        assert (found.model, found.overrides, found.why) == (name, {}, "")


def test_a_rounded_size_is_that_of_a_drive_that_is_sold() -> None:
    """Protects tools that print 3.6T: every disk of the catalogue whose data sheet has a size of IDEMA LBA1-03 is found
    from a size that is off by 1 %.
    """
    checked = 0
    for name in hard_disk_names():
        capacity = hard_disk(name).capacity
        if (capacity // 512 - 97_696_368) % 1_953_504 == 0:
            for rough in (0.99 * capacity, 1.01 * capacity):
                disk = FoundDrive("sda", "x:1", rough_capacity=Fact(int(rough), "x:1"))
                assert rounded(disk, None) == capacity, name
            checked += 1
    assert checked > 40


@pytest.mark.parametrize(
    ("known", "base", "rate"),
    [
        ({"capacity": 4000787030016, "interface": "sata", "rotation": 7200.0}, "Barracuda-7200.14-3TB", (140, 180)),
        ({"capacity": 2000398934016, "interface": "sata", "rotation": 7200.0}, "Barracuda-7200.14-3TB", (110, 220)),
        ({"capacity": 4000787030016, "interface": "sas", "rotation": 7200.0}, "Constellation-ES.3-4TB-SAS", (140, 180)),
        ({"capacity": 600127266816, "interface": "sas", "rotation": 10000.0}, "Savvio-10K.4-600GB", (100, 180)),
        ({"capacity": 300000000000, "interface": "sas", "rotation": 15000.0}, "Ultrastar-C15K600-600GB", (150, 260)),
        (
            {"capacity": 18000207937536, "interface": "sata", "model": "NONAME 18TB"},
            "Ultrastar-DC-HC550-18TB",
            (260, 286),
        ),
    ],
)
def test_the_nearest_drive_of_the_class(known: dict[str, Any], base: str, rate: tuple[int, int]) -> None:
    """Protects derived drives: class by rotation and interface, capacity as found, media rate in between."""
    found = matched(**known)
    assert found.model == base
    spec = hard_disk(found.model).with_values(**found.overrides)
    assert spec.capacity == known["capacity"]
    assert rate[0] * 1e6 <= spec.outer_media_rate <= rate[1] * 1e6
    assert spec.inner_media_rate < spec.outer_media_rate
    assert "nearest" in found.why


def test_rates_grow_with_capacity_and_rotation() -> None:
    """Protects the law: a much larger drive that turns alike is faster, and one that turns slower is slower."""
    rates = []
    for size in (5 * 10**11, 2 * 10**12, 8 * 10**12, 24 * 10**12):
        found = matched(capacity=size, interface="sata", rotation=7200.0)
        rates.append(hard_disk(found.model).with_values(**found.overrides).outer_media_rate)
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]
    slow = matched(capacity=8 * 10**12, interface="sata", rotation=5400.0)
    assert hard_disk(slow.model).with_values(**slow.overrides).outer_media_rate < rates[2]


def test_families() -> None:
    """Protects relatives: Seagate's capacity and letters, Western Digital's letters; the suffix does not matter."""
    assert matched(model="ST20000NM007D-3DJ103").model == "Exos-X20-20TB-SAS"
    assert "same family" in matched(model="WDC WD1600JB-00GVA0", capacity=160041885696).why
    assert matched(model="WDC WD1600JB-00GVA0", capacity=160041885696).model in ("WD2500JB", "WD800JB")
    assert "family" not in matched(model="QUANTUM FIREBALL", capacity=40 * 10**9).why


def test_drives_that_were_measured_are_only_themselves() -> None:
    """Protects derived drives: a list of measured tracks has one capacity, so nothing is derived from it."""
    near = matched(capacity=9 * 10**9, interface="scsi", rotation=7200.0)
    assert isinstance(hard_disk(near.model).zones, int)
    assert matched(model="ATA DEC RZ26", capacity=1050040320).model == "DEC-RZ26"
    relative = matched(model="ST39103LW", capacity=9 * 10**9, interface="scsi")
    assert isinstance(hard_disk(relative.model).zones, int)


def test_nothing_known_is_said() -> None:
    """Protects the emptiest case: some drive, with no override, and what is assumed."""
    found = matched()
    assert found.overrides == {}
    assert "assumed" in found.why


@pytest.mark.parametrize("size", [1, SMALLEST - 1, LARGEST + 1, 10**18])
def test_sizes_that_no_disk_has(size: int) -> None:
    """Protects from building a disk of an absurd size, which would take all memory there is."""
    found = match(FoundDrive("sda", "x:1", capacity=Fact(size, "x:1")), None)
    assert isinstance(found, str)
    assert "stands in for disks" in found


def test_every_size_and_rotation_has_a_drive() -> None:
    """Protects the derivation: whatever a disk says within reason, a drive comes out that the model can build."""
    for size in (SMALLEST, 10 * SMALLEST, 73 * 10**9, 10**12, 6 * 10**12, LARGEST):
        for rotation in (4200.0, 5400.0, 7200.0, 10000.0, 15000.0):
            found = matched(capacity=size, rotation=rotation, interface="sas", write_cache=True)
            hard_disk(found.model).with_values(**found.overrides)


@pytest.mark.parametrize(
    ("release", "kernel"),
    [
        ("2.2.16-22", "linux-2.2.7"),
        ("2.4", "linux-2.4.17"),
        ("2.4.6", "linux-2.4.5"),
        ("2.4.20", "linux-2.4.21"),
        ("2.4.20-ac1", "linux-2.4.20-ac1"),
        ("2.4.18-3bigmem", "linux-2.4.18-3"),
        ("2.4.18-27.7.x", "linux-2.4.18"),
        ("2.4.20-8", "linux-2.4.21"),
        ("2.4.27-2-386", "linux-2.4.26"),
        ("2.6.9-42.EL", "linux-2.6.8"),
        ("2.6.18-164.el5", "linux-2.6.20"),
        ("2.6.20-16-server", "linux-2.6.20-server"),
        ("2.6.32-754.el6.x86_64", "linux-2.6.32"),
        ("3.10.0-1160.el7.x86_64", "linux-3.10"),
        ("3.2.0-4-amd64", "linux-3.10"),
        ("4.15.0-20-generic", "linux-4.18"),
        ("4.18.0-193.el8.x86_64", "linux-4.19"),
        ("4.18.0-305.12.1.el8_4.x86_64", "linux-5.10"),
        ("4.18.20", "linux-4.18"),
        ("5.10.0-8-amd64", "linux-5.10"),
        ("5.14.0-427.13.1.el9_4.x86_64", "linux-5.14"),
        ("5.15.0-91-generic", "linux-5.15"),
        ("6.8.0-31-generic", "linux-6.8"),
        ("6.12.9", "linux-6.12"),
        ("FreeBSD 13.1-RELEASE", "freebsd-6.2"),
        ("nonsense", "linux-6.1"),
    ],
)
def test_the_kernel_that_came_out_nearest(release: str, kernel: str) -> None:
    """Protects the choice of the modeled kernel, by when releases came out."""
    assert nearest_kernel(release) == kernel


def test_cores() -> None:
    """Protects prices: small cores, old cores, and all others; without a name the kernel's age decides."""
    assert nearest_cpu("Intel(R) Celeron(R) CPU J3455 @ 1.50GHz", "linux-6.1") == "nas-core"
    assert nearest_cpu("Intel(R) Pentium(R) 4 CPU 2.40GHz", "linux-2.6.8") == "core-2004"
    assert nearest_cpu("AMD EPYC 7302P 16-Core Processor", "linux-6.1") == "server-core"
    assert nearest_cpu(None, "linux-2.4.18") == "core-2004"
    assert nearest_cpu(None, "linux-6.1") == nearest_cpu(None, "linux-6.12") == "server-core"


@pytest.mark.parametrize(
    ("model", "size"),
    [("WDC WD30EFAX-68JH4N1", 3 * 10**12), ("ST4000DM004-2CV104", 4 * 10**12), ("ST2000LM015-2E8174", 2 * 10**12)],
)
def test_shingled_models_stay_shingled(model: str, size: int) -> None:
    """Protects SMR drives that the catalogue lacks: the nearest shingled drive, and it says so; others never are."""
    found = matched(model=model, capacity=size, interface="sata")
    spec = hard_disk(found.model).with_values(**found.overrides)
    assert spec.band_size
    assert spec.capacity == size
    assert "shingled (SMR)" in found.why
    assert not hard_disk(matched(model="WDC WD30EFRX-68EUZN0", capacity=size, interface="sata").model).band_size


@pytest.mark.parametrize("size", [4 * 10**9, 20 * 10**9, 74 * 10**8, 500 * 10**9])
@pytest.mark.parametrize("known", [{"interface": "virtual"}, {"model": "QEMU HARDDISK"}, {}])
def test_an_unknown_drive_is_none_of_the_last_century(size: int, known: dict[str, Any]) -> None:
    """Protects virtual disks and drives of which only a size is known: no interface of old, and how sure it is."""
    found = matched(capacity=size, **known)
    assert not hard_disk(found.model).interface.startswith(("PATA", "ATA", "SCSI", "Ultra", "FC"))
    assert ("a virtual disk; a guess" in found.why) == bool(known)
    if known:
        assert hard_disk(found.model).with_values(**found.overrides).outer_media_rate > 150e6


def test_a_number_of_seagates_servers_tells_capacity_and_rotation() -> None:
    """Protects old SAS drives, of which smartctl 5 prints no size."""
    for model, size, turns in (
        ("ST3300655SS", 300e9, 15000),
        ("ST373455SS", 73e9, 15000),
        ("ST3146807LC", 146e9, 10000),
    ):
        found = matched(model=model, interface="sas")
        spec = hard_disk(found.model).with_values(**found.overrides)
        assert spec.rotation == turns
        assert spec.capacity == pytest.approx(size, rel=0.02)
