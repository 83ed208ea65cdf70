"""Outputs as people have pasted them (see pasted/SOURCES.md): what the scenario has, and what is said of the rest."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect, read_source
from raidsim.model.core.errors import InputError
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from

PASTED = Path(__file__).with_name("pasted")


def made(name: str) -> tuple[ScenarioSpec, Inspection]:
    """The scenario of one file."""
    found = inspect([read_source(PASTED / f"{name}.txt")], "test")
    return document_from(found.text, "again").spec(), found


def terabytes(spec: ScenarioSpec, drive: str) -> float:
    """The capacity of a drive."""
    return spec.machine.drives[drive].spec().capacity / 1e12


def test_a_container_is_no_array() -> None:
    """Protects Intel's and DDF's machines: the volumes are read, and only the container is left out."""
    spec, found = made("mdstat-imsm-raid0")
    assert {name: (each.level, each.members, each.chunk) for name, each in spec.arrays.items()} == {
        "md126": ("raid0", ("sdb", "sda"), 128 << 10)
    }
    assert [note for note in found.notes if "md127" in note and "only holds" in note]
    spec, _ = made("mdstat-imsm-two-raid10")
    assert {name: (each.level, each.chunk, len(each.members)) for name, each in spec.arrays.items()} == {
        "md124": ("raid10", 64 << 10, 4),
        "md126": ("raid10", 64 << 10, 4),
    }


def test_volumes_of_external_metadata() -> None:
    """Protects --detail of a volume, which has no version, and --examine of Intel's own metadata."""
    spec, _ = made("mdadm-detail-of-external-volume")
    assert (spec.arrays["md127"].level, spec.arrays["md127"].members) == ("raid1", ("vdb", "vda"))
    spec, found = made("made-imsm-examine")
    data = spec.arrays["Data"]
    assert (data.level, data.algorithm, data.chunk, data.failed) == ("raid5", "left-asymmetric", 64 << 10, ())
    assert data.members == ("sda", "Data-slot1", "Data-slot2", "Data-slot3")
    assert terabytes(spec, "sda") == pytest.approx(1.0, rel=0.01), "both volumes are on it"
    assert [note for note in found.notes if "System" in note]


def test_members_of_a_volume_without_a_list_are_in_use() -> None:
    """Protects older mdadm, which prints no slots of Intel's volumes, only how many members they have."""
    text = re.sub(r" +Slots : .*\n", "", (PASTED / "made-imsm-examine.txt").read_text(encoding="utf-8"))
    found = inspect([Source("x", text)], "test")
    data = document_from(found.text, "again").spec().arrays["Data"]
    assert (len(data.members), data.failed) == (4, ())


def test_a_drive_whose_interface_is_not_known_is_read() -> None:
    """Protects storcli's column Intf: an interface that is not known here is left open, and so is a missing one."""
    text = (PASTED / "made-storcli-text.txt").read_text(encoding="utf-8")
    assert " SATA " in text
    for other in (" XYZ  ", "      "):
        found = inspect([Source("x", text.replace(" SATA ", other))], "test")
        assert len(document_from(found.text, "again").spec().arrays["c0v0"].members) == 3


def test_what_was_not_examined_is_not_lost() -> None:
    """Protects --examine of one member: the others are in use if it says so, and each is assumed to be like it."""
    spec, found = made("mdadm-examine-one-member-of-raid5")
    assert spec.arrays["md0"].members == ("sda", "md0-slot1", "md0-slot2")
    assert spec.arrays["md0"].failed == ()
    assert any(each["path"].endswith("md0-slot1") and "as sda" in each["why"] for each in found.assumed)
    spec, _ = made("mdadm-examine-090")
    assert (spec.arrays["md0"].level, spec.arrays["md0"].members) == ("raid1", ("sda", "sdb"))
    assert spec.arrays["md0"].failed == ()


def test_the_newest_metadata_of_several_files_tells_who_is_lost() -> None:
    """Protects --examine in a file for each member: a member that was put out still believes that it is in use."""
    text = (PASTED / "mdadm-examine-one-member-of-raid5.txt").read_text(encoding="utf-8")
    old = text.replace("sda1", "sdb1").replace("device 0", "device 1")
    new = text.replace("Events : 18", "Events : 77").replace("AAA", "A.A")
    for texts in ((old, new), (new, old)):
        for sources in ([texts[0] + texts[1]], list(texts)):
            made = inspect([Source("x", each) for each in sources], "x")
            array = document_from(made.text, "again").spec().arrays["md0"]
            assert array.members == ("sda", "sdb", "md0-slot2")
            assert array.failed == ("sdb",)


def test_drives_hold_all_their_slices() -> None:
    """Protects arrays on partitions of the same drives: all are there, and a drive is as large as all of them need."""
    spec, found = made("mdstat-slices-on-four-drives")
    drives = ("sda", "sdb", "sdc", "sdd")
    numbers = {"md126": 1, "md4": 8, "md2": 6, "md1": 5, "md3": 7}
    assert {name: array.members for name, array in spec.arrays.items()} == {
        name: tuple(f"{drive}{number}" for drive in drives) for name, number in numbers.items()
    }
    assert found.document["workload"]["targets"] == ["md2"]
    for drive in drives:
        assert terabytes(spec, drive) == pytest.approx(2.50, abs=0.01)
        ranges = [spec.volumes[f"{drive}{number}"].range(0) for number in sorted(numbers.values())]
        assert all(start + size == after for (start, size), (after, _) in pairwise(ranges))
    assert spec.volumes["sda6"].size == pytest.approx(4101562368 * 1024 // 3, abs=1 << 20)
    assert not [note for note in found.notes if "left out" in note or "gives it all" in note]


def test_arrays_that_cannot_share_their_drives() -> None:
    """Protects whole drives next to partitions: the largest array has the drives, and the others say why not."""
    text = (PASTED / "mdstat-slices-on-four-drives.txt").read_text(encoding="utf-8").replace("sda6", "sda")
    found = inspect([Source("x", text)], "x")
    assert list(found.document["arrays"]) == ["md2"]
    assert [note for note in found.notes if note.startswith("md4 ") and "known size" in note]


def test_a_mirror_of_one_member_is_its_drive() -> None:
    """Protects a NAS whose data arrays have one member each: its drives are large, and the swap array is left out."""
    spec, found = made("mdstat-nas-one-member-arrays")
    assert spec.arrays == {}
    assert terabytes(spec, "sda") == pytest.approx(8.0, rel=0.01)
    assert terabytes(spec, "nvme0n1") == pytest.approx(1.8, rel=0.01)
    assert found.document["workload"]["targets"][0] in ("sda", "sdb")
    assert any("md3 is a mirror of one member" in note for note in found.notes)


@pytest.mark.parametrize("name", ["mdstat-raid0-of-one", "megacli-raid0-of-one"])
def test_a_stripe_of_one_member(name: str) -> None:
    """Protects controllers without JBOD, and cloud guests: one drive as a RAID 0, never a drive of the last century."""
    spec, _ = made(name)
    (array,) = spec.arrays.values()
    (member,) = array.members
    assert array.level == "raid0"
    assert spec.machine.drives[member].hard_disk().outer_media_rate > 150e6


def test_an_indent_is_no_damage() -> None:
    """Protects code blocks of forums and quoted mails; a place still counts what stands before the line."""
    spec, _ = made("mdstat-indented")
    assert (spec.arrays["md1"].level, spec.arrays["md1"].members) == ("raid1", ("sdb3", "sda3"))
    damaged = (PASTED / "mdstat-indented.txt").read_text().replace("sdb3[0]", "sdb3[x]")
    with pytest.raises(InputError) as refused:
        inspect([Source("x", damaged)], "x")
    assert refused.value.place == "x:2:22"
    assert damaged.split("\n")[1][21:].startswith("sdb3[x]")


@pytest.mark.parametrize("change", [lambda line: line.replace(" ", "\u00a0"), str.lstrip, lambda line: f"{line}\r"])
def test_what_pages_do_to_blanks(change: Callable[[str], str]) -> None:
    """Protects text copied from web pages: blanks that do not break, white space taken away, line ends of Windows."""
    text = (PASTED / "mdstat-slices-on-four-drives.txt").read_text(encoding="utf-8")
    changed = "\n".join(map(change, text.split("\n")))
    assert changed != text
    assert inspect([Source("x", changed)], "x").document == inspect([Source("x", text)], "x").document


def test_rounded_sizes_tell_which_array_is_the_largest() -> None:
    """Protects lsblk without -b: of two arrays on the same drives the one for data stays, not the one for /boot."""
    text = (
        "NAME      SIZE TYPE\nsda       3.6T disk\n|-sda1    512M part\n| `-md0   511M raid1\n`-sda2    3.6T part\n"
        "  `-md1   3.6T raid1\nsdb       3.6T disk\n|-sdb1    512M part\n| `-md0   511M raid1\n`-sdb2    3.6T part\n"
        "  `-md1   3.6T raid1\n"
    )
    assert list(inspect([Source("x", text)], "x").document["arrays"]) == ["md1"]


def test_smartctl_of_an_old_drive_alone_in_its_file() -> None:
    """Protects smartctl 5 on SAS: vendor, product and transport; capacity and rotation are in Seagate's number."""
    spec, found = made("smartctl-old-scsi-text")
    drive = spec.machine.drives["smartctl-old-scsi-text"].hard_disk()
    assert drive.rotation == 15000
    assert drive.capacity / 1e9 == pytest.approx(300, rel=0.01)
    assert any("has no size in this text" in note for note in found.notes)


def test_a_quoted_terminal_with_lsblk() -> None:
    """Protects a mail with a session: uname -r, lsblk's table, and df, which is named and skipped."""
    spec, found = made("made-session-lsblk")
    assert spec.kernel == "linux-5.15"
    assert (spec.arrays["md0"].level, spec.arrays["md0"].members) == ("raid5", ("sda", "sdb", "sdc"))
    assert {spec.machine.drives[name].model for name in ("sda", "sdb", "sdc")} == {"WD-Red-4TB-SMR"}
    assert any("what df prints is skipped: it tells file systems" in note for note in found.notes)


def test_plain_lsblk() -> None:
    """Protects lsblk without options: disks, partitions and an array; a virtual disk is a part of a drive of today."""
    spec, found = made("made-lsblk-plain")
    assert spec.arrays["md1"].members == ("sda", "sdb")
    assert spec.machine.drives["vda"].hard_disk().outer_media_rate > 150e6
    assert any(each["path"] == "machine.drives.vda" and "a guess" in each["why"] for each in found.assumed)


def test_lists_of_drives() -> None:
    """Protects nvme list and fdisk -l: models and capacities; arrays in fdisk's list are no disks."""
    spec, found = made("made-nvme-list")
    drives = [spec.machine.drives[name].spec() for name in ("nvme0n1", "nvme1n1")]
    assert [isinstance(each, SolidStateSpec) and each.power_loss_protection for each in drives] == [False, True]
    assert terabytes(spec, "nvme1n1") == pytest.approx(4.0, rel=0.001)
    assert any("a drive for servers" in each["why"] for each in found.assumed)
    spec, _ = made("made-fdisk")
    assert list(spec.machine.drives) == ["sda"]
    assert terabytes(spec, "sda") == pytest.approx(8.0, rel=0.001)


def test_controllers_as_text() -> None:
    """Protects perccli without J, and ssacli: controller, arrays with their drives, spares."""
    spec, _ = made("made-storcli-text")
    assert spec.machine.controllers["c0"].model == "Dell-PERC-H730P"
    assert spec.machine.controllers["c0"].spec().cache == 1618 << 20
    assert spec.arrays["c0v0"].level == "raid5"
    assert spec.arrays["c0v0"].members == ("c0e32s0", "c0e32s1", "c0e32s2")
    assert terabytes(spec, "c0e32s0") == pytest.approx(1.92, rel=0.001)
    spec, _ = made("made-ssacli")
    first, second = spec.arrays["c0v1"], spec.arrays["c0v2"]
    assert (first.level, len(first.members), first.spares) == ("raid5", 4, ("c0p2I-1-5",))
    assert (second.level, second.members) == ("raid1", ("c0p2I-1-7", "c0p2I-1-8"))
    assert not spec.machine.drives["c0p2I-1-7"].spec().rotational


def test_ssacli_with_details() -> None:
    """Protects "config detail", whose drives follow the logical drive: members, a failed one, the spare, the policy."""
    spec, _ = made("made-ssacli-detail")
    array = spec.arrays["c0v1"]
    assert (array.level, array.chunk, array.failed) == ("raid5", 128 << 10, ("c0p1I-1-2",))
    assert array.members == ("c0p1I-1-1", "c0p1I-1-2", "c0p1I-1-3")
    assert array.spares == ("c0p1I-1-4",)
    assert spec.machine.controllers["c0"].model == "HPE-P408i-a"
    assert spec.machine.controllers["c0"].spec().write_policy == "write-through"
    assert terabytes(spec, "c0p1I-1-1") == pytest.approx(0.9, rel=0.01)


def test_arcconf_of_a_logical_device_alone() -> None:
    """Protects getconfig LD: a RAID 10 of four SATA SSDs that write back, on the nearest of Adaptec's."""
    spec, _ = made("arcconf-ld")
    array = spec.arrays["c0v0"]
    assert (array.level, array.chunk, len(array.members)) == ("raid10", 256 << 10, 4)
    drive = spec.machine.drives["c0p0-0"].spec()
    assert not drive.rotational
    assert drive.interface.startswith("SATA")
    assert drive.capacity == pytest.approx(480e9, rel=0.01)
    assert spec.machine.controllers["c0"].model == "Adaptec-3154-8i"
    assert spec.machine.controllers["c0"].spec().writes_back


def test_ssacli_of_solid_state_drives() -> None:
    """Protects "config detail" of a RAID 6 of four SATA SSDs on a P408i-a, whose cache is on."""
    spec, _ = made("ssacli-config-detail")
    array = spec.arrays["c0v1"]
    assert (array.level, array.chunk, len(array.members), array.failed) == ("raid6", 256 << 10, 4, ())
    assert [spec.machine.drives[each].spec().rotational for each in array.members] == [False] * 4
    assert terabytes(spec, array.members[0]) == pytest.approx(0.96, rel=0.001)
    assert spec.machine.controllers["c0"].model == "HPE-P408i-a"
    assert spec.machine.controllers["c0"].spec().writes_back


def test_an_hba_with_jbod_drives_as_json() -> None:
    """Protects an HBA 9500-8i: the drives that it passes on, no array and no controller."""
    found = inspect([read_source(PASTED / "storcli-hba-9500.json")], "test")
    spec = document_from(found.text, "again").spec()
    assert (len(spec.machine.drives), spec.arrays, spec.machine.controllers) == (6, {}, {})
    assert terabytes(spec, "c0e23s2") == pytest.approx(18.0, rel=0.001)
    assert [name for name in spec.machine.drives if not spec.machine.drives[name].spec().rotational] == [
        *("c0e23s1", "c0e23s3", "c0e23s5")
    ]


OMREPORT = (PASTED / "made-omreport.txt").read_text(encoding="utf-8")


def test_omreport() -> None:
    """Protects Dell's OpenManage: volumes and their disks by the name in the heading, as text and with -fmt ssv, the
    rebuild, the spare, and the policy of the volume with the data.
    """
    spec, found = made("made-omreport")
    system, data = spec.arrays["c0v0"], spec.arrays["c0v1"]
    assert (system.level, system.members, system.controller) == ("raid1", ("c0p0-1-0", "c0p0-1-1"), "c0")
    assert (data.level, data.chunk) == ("raid6", 256 << 10)
    assert data.members == ("c0p0-1-2", "c0p0-1-3", "c0p0-1-4", "c0p0-1-5")
    assert (data.failed, data.rebuilding, data.spares) == (("c0p0-1-4",), ("c0p0-1-4",), ("c0p0-1-6",))
    assert data.resync is not None
    assert data.resync.position == pytest.approx(0.37 * 2e12, rel=0.01)
    controller = spec.machine.controllers["c0"]
    assert (controller.model, controller.spec().cache) == ("Dell-PERC-H730P", 1931 << 20)
    assert controller.spec().writes_back
    assert controller.spec().read_ahead_rows > 0
    assert not spec.machine.drives["c0p0-1-0"].spec().rotational
    assert spec.machine.drives["c0p0-1-2"].hard_disk().write_cache is False
    assert [note for note in found.notes if note.startswith("c0v0 is write-through") and "one policy" in note]


def test_omreport_of_one_volume_needs_no_list_of_its_disks() -> None:
    """Protects "pdisk controller=0" alone: the disks in use are the only volume's; of two each needs its list."""
    one = OMREPORT[OMREPORT.index("List of Virtual") : OMREPORT.index("ID                                : 1")]
    two = OMREPORT[OMREPORT.index("List of Virtual") : OMREPORT.index("# omreport storage pdisk")]
    disks = OMREPORT[OMREPORT.index("List of Physical Disks belonging to system") :].partition("# omreport")[0]
    disks = disks.replace("belonging to system", "on Controller PERC H730P Mini (Slot Embedded)")
    for sources in ([Source("x", one + disks)], [Source("x", one), Source("y", disks)]):
        spec = document_from(inspect(sources, "x").text, "again").spec()
        assert spec.arrays["c0v0"].members == ("c0p0-1-0", "c0p0-1-1")
    with pytest.raises(InputError, match=r"nothing tells its drives; give what omreport storage pdisk controller=0"):
        inspect([Source("x", two + disks)], "x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("RAID-6", "RAID-7"), "found 'RAID-7'; expected: one of RAID-0, RAID-1"),
        (("(3999688294400 bytes)", ""), "expected: a size with its bytes"),
        (("0:1:2;Ok", "0:1:2"), "expected: 13 values, one for each key"),
        (("0:1:2;Ok", "x;Ok"), "expected: the place of a disk, such as 0:1:5"),
    ],
)
def test_a_damaged_omreport_is_refused(change: tuple[str, str], message: str) -> None:
    """Protects from another machine in silence: the place, what was found and what is expected."""
    assert change[0] in OMREPORT
    with pytest.raises(InputError, match=message) as refused:
        inspect([Source("x", OMREPORT.replace(*change))], "x")
    assert re.match(r"x:\d+", refused.value.place)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("made-omreport", "Write Through", "Write Back"),
        ("made-ssacli-policies", "Disabled", "Enabled"),
    ],
)
def test_the_policy_is_the_largest_volumes(name: str, first: str, second: str) -> None:
    """Protects machines whose system volume, the first one, writes through: the loaded volume's policy counts.
    Counter-test: with the policies exchanged it writes through.
    """
    text = (PASTED / f"{name}.txt").read_text(encoding="utf-8")
    exchanged = text.replace(first, "~").replace(second, first).replace("~", second)
    for changed, back in ((text, True), (exchanged, False)):
        spec = document_from(inspect([Source("x", changed)], "x").text, "again").spec()
        assert spec.machine.controllers["c0"].spec().writes_back is back


def test_drives_behind_an_hba_are_the_hosts() -> None:
    """Protects storcli of an HBA: its drives, no array and no controller; once if the host names them too."""
    spec, _ = made("made-storcli-hba")
    assert list(spec.machine.drives) == ["c0e1s0", "c0e1s1"]
    assert (spec.arrays, spec.machine.controllers) == ({}, {})
    assert terabytes(spec, "c0e1s0") == pytest.approx(8.0, rel=0.01)
    assert not spec.machine.drives["c0e1s1"].spec().rotational
    both = (PASTED / "made-storcli-hba.txt").read_text(encoding="utf-8") + (
        "NAME SIZE ROTA TYPE TRAN MODEL\nsda  7.3T    1 disk sas  ST8000NM0055-1RM112\n"
    )
    found = inspect([Source("x", both)], "x")
    assert list(found.document["machine"]["drives"]) == ["c0e1s1", "sda"]


def test_lsblk_with_all_columns() -> None:
    """Protects lsblk -O, whose rows have empty cells."""
    spec, _ = made("made-lsblk-all")
    assert list(spec.machine.drives) == ["sda", "sdb"]
    assert terabytes(spec, "sda") == pytest.approx(4.0, rel=0.01)
    assert spec.machine.drives["sda"].hard_disk().interface.startswith("SATA")


def test_members_without_a_role_and_a_journal_alone() -> None:
    """Protects --examine that was cropped, or of the journal only: the lines that are missing are named."""
    text = (PASTED / "mdadm-examine-one-member-of-raid5.txt").read_text(encoding="utf-8")
    cropped = re.sub(r" +Device Role : .*\n", "", text)
    with pytest.raises(InputError, match=r"no line 'Device Role'.*; give all of mdadm --examine's lines"):
        inspect([Source("x", cropped)], "x")
    journal = re.sub(r"(Device Role : ).*", r"\1Journal", text)
    with pytest.raises(
        InputError, match=r"only its journal \(sda1\) is described; give mdadm --examine of its members"
    ):
        inspect([Source("x", journal)], "x")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("     Raid Level : raid5\n   Raid Devices : 4\n", "mdadm --detail or --examine"),
        ("Device Model:     WDC WD40EFAX-68JH4N0\n", "smartctl"),
        ("Enclosure Device ID: 32\nSlot Number: 0\n", "MegaCli"),
        ("EID:Slt DID State DG     Size Intf Med\n", "storcli or perccli"),
        ("   physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS HDD, 900 GB, OK)\n", "ssacli"),
        ("├─sda1   8:1    0   512M  0 part  /boot/efi\n", "lsblk"),
    ],
)
def test_an_output_without_its_beginning_is_named(text: str, what: str) -> None:
    """Protects cropped pastes: refused, or noted next to another output, with what is missing; never dropped."""
    with pytest.raises(InputError, match=rf"x:1: found what {what} prints: .* missing; give all"):
        inspect([Source("x", text)], "x")
    disk = "NAME SIZE TYPE\nsda 3.6T disk\n\n"
    notes = inspect([Source("x", disk + text)], "x").notes
    assert any(f"a part of what {what} prints is skipped" in note and "give all" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Filesystem     1K-blocks  Used Available Use% Mounted on\n/dev/sda1 1 1 1 1% /\n", "df prints.*; give lsblk"),
        (
            "NAME   FSTYPE\nsda    ext4\n",
            "sda: nothing tells size or model; left out .lsblk -b -o NAME,SIZE,ROTA,MODEL",
        ),
        ("mdadm: No md superblock detected on /dev/sda.\n", "it has found no array there; give mdadm --detail"),
        ("ARRAY /dev/md0 metadata=1.2 UUID=0:0:0:0\n", "mdadm --scan prints: it names no members; give mdadm --detail"),
        ("  PV         VG Fmt  Attr PSize PFree\n  /dev/md0   vg lvm2 a--  1t 0\n", "LVM's pvs, vgs"),
    ],
)
def test_other_programs_are_refused_by_name(text: str, message: str) -> None:
    """Protects people from "no such output": what it is, why it makes no scenario, and what to give."""
    with pytest.raises(InputError, match=re.compile(message, re.DOTALL)):
        inspect([Source("x", text)], "x")
