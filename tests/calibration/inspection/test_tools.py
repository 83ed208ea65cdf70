"""Scenarios from mdadm, lsblk, smartctl, storcli and megacli: what each tells, and what they tell together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect, read_source
from raidsim.calibration.inspection.tools.facts import Fact
from raidsim.calibration.inspection.tools.findings import FoundDrive
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate

SAMPLES = Path(__file__).with_name("samples")


def made(*names: str, change: Callable[[str], str] = str) -> tuple[ScenarioSpec, Inspection]:
    """The scenario of some samples, and how it was found."""
    sources = [read_source(SAMPLES / name) for name in names]
    changed = [Source(source.name, change(source.text)) for source in sources]
    found = inspect(changed, "test")
    return document_from(found.text, "again").spec(), found


def where(found: Inspection, path: str) -> str:
    """Where a value was found: the file's name and the line."""
    (entry,) = [each for each in found.found if each["path"] == path]
    return Path(entry["where"]).name


def why(found: Inspection, path: str) -> str:
    """Why a value is assumed."""
    (entry,) = [each for each in found.assumed if each["path"] == path]
    return str(entry["why"])


def test_mdadm_detail_of_a_rebuild() -> None:
    """Protects the table's slots: the drive that is rebuilt is in its slot whatever its number, the spare is none."""
    spec, found = made("mdadm-detail.txt")
    md0 = spec.arrays["md0"]
    assert (md0.level, md0.chunk, md0.algorithm) == ("raid6", 512 << 10, "left-symmetric")
    assert md0.members == ("sdb", "sdc", "sdg", "sde", "sdf")
    assert (md0.failed, md0.rebuilding, md0.spares) == (("sdg",), ("sdg",), ("sdh",))
    assert md0.resync is not None
    assert md0.resync.position == pytest.approx(0.42 * 4.0e12, rel=0.01)
    assert where(found, "arrays.md0.chunk") == "mdadm-detail.txt:21"
    assert md0.bitmap == 64 << 20
    assert "usual" in why(found, "arrays.md0.bitmap")


RESHAPES: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "more members": ("     Delta Devices : 1, (4->5)\n", {}, {"members": 4}),
    "another chunk": ("     New Chunksize : 64K\n", {"chunk": "64KiB"}, {"chunk": "512KiB"}),
    "another algorithm": (
        "        New Layout : right-asymmetric\n",
        {"algorithm": "right-asymmetric"},
        {"algorithm": "left-symmetric"},
    ),
    "another level": (
        "        New Layout : left-symmetric\n",
        {"algorithm": "left-symmetric"},
        {"level": "raid5", "members": 4, "algorithm": "left-symmetric"},
    ),
    "all of it": (
        "     Delta Devices : 1, (4->5)\n        New Layout : left-symmetric\n     New Chunksize : 1024K\n",
        {"algorithm": "left-symmetric", "chunk": "1MiB"},
        {"level": "raid5", "members": 3, "chunk": "512KiB", "algorithm": "left-symmetric"},
    ),
}


@pytest.mark.parametrize("what", sorted(RESHAPES))
def test_mdadm_detail_of_a_reshape(what: str) -> None:
    """Protects growing arrays: mdadm prints the old layout above, and what becomes of it below."""
    lines, new, old = RESHAPES[what]

    def change(text: str) -> str:
        kept = text.replace("spare rebuilding", "active sync").replace("Spare Devices : 2", "Spare Devices : 0")
        kept = kept.replace("degraded, recovering", "reshaping").replace("Rebuild Status : 42", "Reshape Status : 12")
        if old.get("level") == "raid5":
            kept = kept.replace("left-symmetric\n", "left-symmetric-6\n", 1)
        return kept.replace("              Name", f"{lines}\n              Name")

    spec, found = made("mdadm-detail.txt", change=change)
    said = found.document["arrays"]["md0"]
    assert said["state"] == {"reshaping": {"from": old, "at": "12%"}}
    assert {key: said[key] for key in new} == new
    assert spec.arrays["md0"].resync is not None


def test_a_reshape_that_shrinks_is_left_out() -> None:
    """Counter-test: fewer members than before; the array is there, and a note says why it is not reshaped."""

    def change(text: str) -> str:
        kept = text.replace("spare rebuilding", "active sync").replace("Rebuild Status : 42", "Reshape Status : 12")
        return kept.replace("              Name", "     Delta Devices : -1, (6->5)\n\n              Name")

    spec, found = made("mdadm-detail.txt", change=change)
    assert spec.arrays["md0"].resync is None
    assert any("reshape" in note and "left out" in note and "no more than now" in note for note in found.notes)


EXAMINED = """/dev/sdb:
          Magic : a92b4efc
        Version : 1.2
    Feature Map : 0x5
     Array UUID : 00000000:11111111:22222222:55555555
           Name : nas:2
     Raid Level : raid5
   Raid Devices : 4

 Avail Dev Size : 7813774336 sectors (3.64 TiB 4.00 TB)
     Array Size : 11720660736 KiB (10.92 TiB 12.00 TB)
  Used Dev Size : 7813773824 sectors (3.64 TiB 4.00 TB)
          State : clean
Internal Bitmap : 8 sectors from superblock
  Reshape pos'n : 2930165184 (2.73 TiB 3.00 TB)
  Delta Devices : 1 (3->4)

         Events : 1822
         Layout : left-symmetric
     Chunk Size : 512K

   Device Role : Active device 0
   Array State : AAAA ('A' == active, '.' == missing, 'R' == replacing)
"""


SYSFS = """
/sys/block/md2/md/stripe_cache_size:256
/sys/block/md2/md/sync_action:{}
"""
"""What md's files say of the array."""


def test_mdadm_examine_of_a_reshape() -> None:
    """Protects an array that is not assembled: the share follows from the position in the new layout."""
    found = inspect([Source("x", EXAMINED)], "x")
    state = found.document["arrays"]["md2"]["state"]["reshaping"]
    assert state == {"from": {"members": 3}, "at": "25%"}
    assert inspect([Source("x", EXAMINED + SYSFS.format("reshape"))], "x").document["arrays"]["md2"]["state"] == {
        "reshaping": state
    }
    frozen = inspect([Source("x", EXAMINED + SYSFS.format("frozen"))], "x").document["arrays"]["md2"]["state"]
    assert frozen == {"reshaping": {**state, "frozen": True}}
    lost = inspect([Source("x", EXAMINED.replace("AAAA", "AAA."))], "x")
    assert "state" not in lost.document["arrays"]["md2"]
    assert any("failed of an array that is being reshaped" in note for note in lost.notes)


def test_mdadm_detail_of_a_removed_member() -> None:
    """Protects "removed": an empty place, and no rebuild."""

    def change(text: str) -> str:
        kept = [line for line in text.splitlines() if "rebuilding" not in line and "Rebuild Status" not in line]
        return "\n".join(kept).replace(
            "       7       8", "       -       0        0        2      removed\n       7       8"
        )

    spec, _ = made("mdadm-detail.txt", change=change)
    assert spec.arrays["md0"].failed == ("md0-slot2",)
    assert not spec.arrays["md0"].rebuilding
    assert spec.arrays["md0"].resync is None


def test_mdadm_examine_brings_the_members_of_an_array_together() -> None:
    """Protects what is known of an array that is not assembled: members by role, and who is missing."""
    spec, found = made("mdadm-examine.txt")
    md2 = spec.arrays["md2"]
    assert (md2.level, md2.algorithm, md2.copies, md2.chunk) == ("raid10", "near", 2, 512 << 10)
    assert md2.members == ("sdb", "sdc", "md2-slot2", "sde")
    assert md2.failed == ("md2-slot2",)
    assert any("when the array was last written" in note for note in found.notes)


def test_mdadm_export_alone_has_no_chunk() -> None:
    """Protects --detail --export: level and members; capacities are assumed, and nothing else is invented."""
    spec, found = made("mdadm-export.txt")
    assert spec.arrays["md1"].members == ("sda", "sdb")
    assert "no model was found" in why(found, "machine.drives.sda")


def test_partitions_of_the_same_drives() -> None:
    """Protects machines with /boot on a small mirror: both arrays are there, each on its own partitions."""
    spec, found = made("lsblk.json")
    assert {name: array.members for name, array in spec.arrays.items()} == {
        "md0": ("sda1", "sdb1"),
        "md1": ("sda2", "sdb2"),
    }
    assert spec.volumes["sda1"].on == ("sda",)
    assert {spec.machine.drives[name].model for name in ("sda", "sdb")} == {"WD5000AAKS"}
    notes = " ".join(found.notes)
    assert not spec.machine.drives["nvme0n1"].spec().rotational
    assert "sdc: not disks" in notes
    assert "sr0" not in notes


def test_rounded_sizes_are_those_that_are_sold() -> None:
    """Protects lsblk without -b: 3.6T is a disk of 4 TB, whose exact size is known."""
    spec, _ = made("lsblk-rounded.json")
    assert {drive.spec().capacity for drive in spec.machine.drives.values()} == {4000787030016}
    assert not spec.arrays


def test_smartctl_tells_rotation_interface_and_write_cache() -> None:
    """Protects the drive: same model as it is; otherwise the nearest with what is known in its place."""
    spec, found = made("smartctl-sata.json")
    drive = spec.machine.drives["sda"].hard_disk()
    assert (drive.rotation, drive.capacity, drive.write_cache) == (5400, 4000787030016, False)
    assert "5,400 rpm" in why(found, "machine.drives.sda")
    known, _ = made("smartctl-sas.json")
    assert known.machine.drives["sda"].model == "Exos-15E900-900GB"
    assert known.machine.drives["sda"].overrides == {}


def test_smartctl_of_flash_is_flash_and_a_failure_is_noted() -> None:
    """Protects from a disk in place of flash, and from a scenario of a drive that smartctl could not open."""
    spec, found = made("smartctl-nvme.json")
    drive = spec.machine.drives["nvme0n1"].spec()
    assert not drive.rotational
    assert (drive.interface[:4], drive.capacity) == ("PCIe", 512110190592)
    assert "is the nearest" in found.text
    _, found = made("smartctl-denied.json", "lsblk.json")
    assert any("Permission denied" in note for note in found.notes)
    with pytest.raises(InputError, match=r"nothing to simulate.*Permission denied"):
        made("smartctl-denied.json")


def test_storcli_raid50_rebuilding() -> None:
    """Protects a controller: product, cache, spans as groups, strip size, state, progress, the global spare."""
    spec, _ = made("storcli-controller.json", "storcli-volumes.json", "storcli-drives.json", "storcli-rebuild.json")
    volume = spec.arrays["c0v0"]
    assert (volume.level, volume.groups, volume.chunk, volume.controller) == ("raid50", 2, 64 << 10, "c0")
    assert volume.members == tuple(f"c0e252s{slot}" for slot in range(6))
    assert volume.failed == volume.rebuilding == ("c0e252s4",)
    assert volume.spares == ("c0e252s6",)
    assert volume.resync is not None
    assert volume.resync.position == pytest.approx(0.34 * 4.0e12, rel=0.001)
    controller = spec.machine.controllers["c0"]
    assert controller.model == "LSI-9361-8i"
    settings = controller.spec()
    assert settings.model == "LSI MegaRAID SAS 9361-8i"
    assert settings.cache == 826 << 20
    assert (settings.write_policy, settings.battery, settings.drive_rate) == ("write-back", "good", 1.15e9)
    drive = spec.machine.drives["c0e252s0"].hard_disk()
    assert (drive.capacity, drive.rotation, drive.write_cache) == (4000787030016, 7200, False)


def test_a_controller_that_is_not_in_the_catalogue_has_a_stand_in() -> None:
    """Protects other controllers: the nearest stands in with what was found, and says so."""
    spec, found = made("storcli-controller.json", change=lambda text: text.replace("9361-8i", "9380-8e"))
    controller = spec.machine.controllers["c0"]
    assert (controller.model, controller.spec().model) == ("LSI-9361-8i", "LSI MegaRAID SAS 9380-8e")
    assert "of the same chip" in why(found, "machine.controllers.c0.model")
    assert "processor stands in" in why(found, "machine.controllers.c0.model")


def test_storcli_in_any_order_and_in_parts() -> None:
    """Protects from the order of files; and the controller alone lacks the strip size, which is then assumed."""
    names = ("storcli-controller.json", "storcli-volumes.json", "storcli-drives.json", "storcli-rebuild.json")
    forward, backward = made(*names)[0], made(*reversed(names))[0]
    assert forward.arrays == backward.arrays
    assert forward.machine.drives == backward.machine.drives
    spec, found = made("storcli-controller.json")
    assert spec.arrays["c0v0"].chunk == 256 << 10
    assert "for new arrays" in why(found, "arrays.c0v0.chunk")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("RWBD", "NRWTD"), {"write_policy": "write-through"}),
        (("RWBD", "RAWBD"), {"forced_write_back": True}),
        (("RWBD", "RFWBC"), {"forced_write_back": True, "keeps_reads": True}),
        (('"State": "Optimal", "Temp"', '"State": "Failed", "Temp"'), {"battery": "failed"}),
        (('"State": "Optimal", "Temp"', '"State": "Learning", "Temp"'), {"battery": "learning"}),
    ],
)
def test_cache_policies_of_storcli(change: tuple[str, str], expected: dict[str, Any]) -> None:
    """Protects what decides how fast writes are: policy, force, battery; and how reads are kept."""

    def changed(text: str) -> str:
        flat = json.dumps(json.loads(text))
        assert change[0] in flat
        return flat.replace(*change)

    controller = made("storcli-controller.json", change=changed)[0].machine.controllers["c0"]
    assert expected.items() <= controller.overrides.items()
    whole = made("storcli-controller.json")[0].machine.controllers["c0"]
    assert not set(expected) & set(whole.overrides)


def test_storcli_drive_that_is_missing() -> None:
    """Protects a place that is empty: the topology names no drive there, and the array is degraded."""

    def changed(text: str) -> str:
        data = json.loads(text)
        response = data["Controllers"][0]["Response Data"]
        for row in response["TOPOLOGY"]:
            if row["EID:Slot"] == "252:4":
                row.update({"EID:Slot": "-", "DID": "-", "State": "Msng"})
        response["PD LIST"] = [row for row in response["PD LIST"] if row["EID:Slt"] != "252:4"]
        return json.dumps(data)

    volume = made("storcli-controller.json", change=changed)[0].arrays["c0v0"]
    assert volume.members[4] == "c0v0-slot4"
    assert volume.failed == ("c0v0-slot4",)
    assert not volume.rebuilding


def test_storcli_flash_is_flash() -> None:
    """Protects from a disk model in place of solid-state drives behind a controller."""
    spec, _ = made("storcli-controller.json", change=lambda text: text.replace('"HDD"', '"SSD"'))
    assert not any(drive.spec().rotational for drive in spec.machine.drives.values())


def test_storcli_that_failed_is_noted() -> None:
    """Protects from reading a failure as an empty controller."""
    status = {"Controller": 0, "Status": "Failure", "Description": "Controller 0 not found"}
    text = json.dumps({"Controllers": [{"Command Status": status}]})
    with pytest.raises(InputError, match=r"nothing to simulate.*storcli says Failure: Controller 0 not found"):
        inspect([Source("x", text)], "x")


def test_megacli_two_arrays() -> None:
    """Protects MegaCli: arrays by group, the failed drive, the spare, and write-through because of the battery."""
    spec, found = made("megacli-ld.txt", "megacli-pd.txt", "megacli-adapter.txt")
    assert (spec.arrays["c0v0"].level, spec.arrays["c0v1"].level) == ("raid1", "raid5")
    assert spec.arrays["c0v0"].members == ("c0e252s0", "c0e252s1")
    assert spec.arrays["c0v1"].members == tuple(f"c0e252s{slot}" for slot in (2, 3, 4, 5))
    assert spec.arrays["c0v1"].failed == ("c0e252s4",)
    assert spec.arrays["c0v1"].spares == ("c0e252s6",)
    assert spec.arrays["c0v1"].chunk == 256 << 10
    controller = spec.machine.controllers["c0"]
    assert controller.model == "LSI-9260-8i"
    assert (controller.spec().write_policy, controller.spec().battery) == ("write-back", "failed")
    assert where(found, "arrays.c0v1.chunk") == "megacli-ld.txt:30"
    assert spec.machine.drives["c0e252s2"].spec().capacity == 2000398934016
    assert "ST2000NM0033-9ZM175" in why(found, "machine.drives.c0e252s2")


def test_no_serial_number_is_kept() -> None:
    """Protects people who show their scenario: serial numbers, host names and UUIDs are in no part of the result."""
    for names in (
        ("megacli-ld.txt", "megacli-pd.txt", "megacli-adapter.txt"),
        ("storcli-controller.json", "storcli-volumes.json", "storcli-drives.json"),
        ("smartctl-sata.json",),
        ("mdadm-detail.txt",),
        ("session.txt",),
    ):
        _, found = made(*names)
        said = found.text + json.dumps([found.document, found.notes, found.assumed])
        said = said.replace(str(SAMPLES), "").replace("raidsim", "")
        for private in ("SERIAL", "SV0000", "WD-S", "nas:", "Linux nas", "00000000:", "11111111"):
            assert private not in said, (names, private)


def test_a_session_with_prompts() -> None:
    """Protects pasted terminals: five outputs in one text, the computer from /proc, the rest noted."""
    spec, found = made("session.txt")
    cpu = spec.machine.cpu
    assert (cpu.cores, cpu.clock, cpu.name) == (2, 2234.11e6, "Intel(R) Celeron(R) CPU J3455 @ 1.50GHz")
    assert spec.machine.memory == 7990704 * 1024
    assert spec.kernel == "linux-5.10"
    assert spec.arrays["md127"].members == ("sda", "sdb", "sdc", "sdd")
    assert spec.arrays["md127"].bitmap == 64 << 20
    assert "5.10.0-21-amd64" in why(found, "kernel")
    assert {drive.spec().capacity for drive in spec.machine.drives.values()} == {4000787030016}
    assert any("lines 30-31 are skipped" in note for note in found.notes)


def test_sources_agree_or_the_first_is_taken() -> None:
    """Protects from silent contradictions: the same array from two tools, with another chunk, is noted."""
    mdstat = (
        "md0 : active raid6 sdf[4] sde[3] sdg[6] sdc[1] sdb[0] sdh[7](S)\n"
        "      11720659968 blocks super 1.2 level 6, 256k chunk, algorithm 2 [5/4] [UU_UU]\n"
        "      [========>............]  recovery = 42.1% (1644800000/3906886656) finish=300.0min speed=120000K/sec\n"
        "      bitmap: 2/30 pages [8KB], 131072KB chunk\n"
    )
    sources = [Source("mdstat", mdstat), read_source(SAMPLES / "mdadm-detail.txt")]
    found = inspect(sources, "x")
    spec = document_from(found.text, "x").spec()
    assert spec.arrays["md0"].chunk == 512 << 10
    assert spec.arrays["md0"].bitmap == 128 << 20
    (note,) = [note for note in found.notes if "chunk" in note]
    assert "524288" in note
    assert "262144 (mdstat:2)" in note
    assert "the first is taken" in note


def test_arrays_on_a_controllers_virtual_drives() -> None:
    """Protects md over hardware RAID: the member that the host sees is the controller's array."""
    mdstat = "md0 : active raid1 sdb[0] sdz[1]\n      15624826880 blocks super 1.2 [2/2] [UU]\n"
    sources = [read_source(SAMPLES / name) for name in ("storcli-controller.json", "storcli-volumes.json")]
    found = inspect([*sources, Source("mdstat", mdstat)], "x")
    spec = document_from(found.text, "x").spec()
    assert spec.arrays["md0"].members == ("c0v0", "sdz")


def test_smartctl_through_a_controller_is_the_controllers_drive() -> None:
    """Protects smartctl -d megaraid,N: its drive is the one that the controller numbers so."""
    names = ("storcli-controller.json", "storcli-volumes.json", "smartctl-megaraid.json")
    spec, _ = made(*names)
    assert "megaraid8" not in spec.machine.drives
    assert spec.machine.drives["c0e252s0"].hard_disk().rotation == 7200


def test_findings_fill_each_other() -> None:
    """Protects the merge itself: what is open is filled, what is known stays."""
    drive = FoundDrive("sda", "a:1", model=Fact("X", "a:1"))
    assert drive.capacity is None
    assert drive.model == Fact("X", "a:1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("mdadm-detail.txt",),
        ("mdadm-examine.txt",),
        ("storcli-controller.json", "storcli-volumes.json", "storcli-rebuild.json"),
        ("megacli-ld.txt", "megacli-pd.txt", "megacli-adapter.txt"),
        ("session.txt",),
        ("smartctl-sata.json",),
    ],
)
def test_what_was_made_can_be_simulated(names: tuple[str, ...]) -> None:
    """Protects the point of it: every sample's scenario runs, and something is moved."""
    _, found = made(*names)
    short = ["workload.warm_up=0.1s", "workload.duration=3s"]
    assert simulate(document_from(found.text, "again", short).spec()).rate > 0


def test_smartctl_as_text() -> None:
    """Protects pasted texts of smartctl: the command before each tells the disk; without it a file has one disk."""
    spec, _ = made("smartctl-text.txt")
    drive = spec.machine.drives["sda"].hard_disk()
    assert (drive.rotation, drive.capacity, drive.write_cache) == (5400, 4000787030016, True)
    assert spec.machine.drives["sdb"].model == "Exos-15E900-900GB"
    alone = (SAMPLES / "smartctl-text.txt").read_text().split("\n", 1)[1].split("root@")[0]
    assert list(inspect([Source("folder/ada3.txt", alone)], "x").document["machine"]["drives"]) == ["ada3"]
    with pytest.raises(InputError, match=r"x:1: nothing tells which disk"):
        inspect([Source("x", alone + alone)], "x")


def test_megacli_with_drives_inside_arrays() -> None:
    """Protects -LdPdInfo: the drives listed in an array are its own, whatever the number of their group."""
    drives = (SAMPLES / "megacli-pd.txt").read_text().split("Enclosure Device ID")[3:7]
    inside = "".join(
        f"PD: {number} Information\nEnclosure Device ID{each}".replace("DiskGroup: 1", "DiskGroup: 7")
        for number, each in enumerate(drives)
    )
    volume = (SAMPLES / "megacli-ld.txt").read_text().split("Virtual Drive: 1")[1].replace("Exit Code: 0x00", "")
    text = (
        f"Adapter #0\n\nNumber of Virtual Disks: 1\nVirtual Drive: 1{volume}"
        f"Number of Spans: 1\nSpan: 0 - Number of PDs: 4\n\n{inside}"
    )
    spec = document_from(inspect([Source("x", text)], "x").text, "x").spec()
    assert spec.arrays["c0v1"].members == tuple(f"c0e252s{slot}" for slot in (2, 3, 4, 5))
    assert spec.arrays["c0v1"].failed == ("c0e252s4",)


@pytest.mark.parametrize(
    ("transport", "interface", "port"),
    [
        ("sata", "SATA 3Gb/s", "sata"),
        ("sas", "SAS", "sata"),
        ("spi", "SCSI", "scsi"),
        ("ata", "PATA", "ata"),
        ("fc", "FC", "scsi"),
        ("nvme", "PCIe 4.0 x4 NVMe", "pcie"),
    ],
)
def test_lsblk_tells_the_interface_of_a_drive(transport: str, interface: str, port: str) -> None:
    """Protects lsblk's column TRAN: the drive has that interface, and a port for it."""
    machine = made("lsblk.json", change=lambda text: text.replace('"sata"', f'"{transport}"'))[0].machine
    drive = machine.drives["sda"]
    assert (drive.spec().interface, machine.channels[drive.channel].kind) == (interface, port)


@pytest.mark.parametrize("sizes", [("10.0 TB", "4.5 TB"), ("4.5 TB", "10.0 TB")])
def test_the_largest_of_a_controllers_volumes_stays(sizes: tuple[str, str]) -> None:
    """Protects sizes of StorCLI: of two virtual drives on the same drives the larger is simulated, with a note."""

    def cut(text: str) -> str:
        data = json.loads(text)
        response = data["Controllers"][0]["Response Data"]
        (row,) = response["VD LIST"]
        response["VD LIST"] = [{**row, "DG/VD": f"0/{number}", "Size": size} for number, size in enumerate(sizes)]
        return json.dumps(data)

    spec, found = made("storcli-controller.json", change=cut)
    largest = f"c0v{sizes.index('10.0 TB')}"
    assert list(spec.arrays) == [largest]
    assert any(note.startswith(f"{largest} uses 2.5 TiB of each drive") for note in found.notes)
