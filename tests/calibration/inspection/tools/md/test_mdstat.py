"""Scenarios from /proc/mdstat: every level and state, as the arrays of the scenario that is made."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.arrays import ArraySpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.tests.calibration.inspection.mdstat_texts import KIB_PER_MEMBER, LEVELS, progress, text

PRINKEY = """Personalities : [raid5]
read_ahead 1024 sectors
md0 : active raid5 hdl1[10] hdk1[9] hdj1[8] hdi1[7] hdh1[6] hdg1[5] hdf1[4]
hde1[3] hdd1[2] hdc1[1] hdb1[0]
      1080546624 blocks level 5, 32k chunk, algorithm 2 [10/10] [UUUUUUUUUU]

unused devices: <none>
"""

THREE = "md9 : active raid5 sdx[0] sdy[1] sdz[2]\n      976759936 blocks level 5, 64k chunk, algorithm 2"


def made(printed: str, ignore_solid_state: bool = False) -> tuple[ScenarioSpec, Inspection]:
    """The scenario, as it is read again from its own text."""
    found = inspect([Source("x", printed)], "test", ignore_solid_state)
    return document_from(found.text, "again").spec(), found


def array(printed: str, name: str = "md0") -> ArraySpec:
    """The only array of the scenario."""
    return made(printed)[0].arrays[name]


@pytest.mark.parametrize("name", LEVELS)
def test_every_level(name: str) -> None:
    """Protects level, members in slot order, chunk and algorithm of whole arrays."""
    printed = LEVELS[name]
    spec, found = made(text(printed))
    md0 = spec.arrays["md0"]
    assert md0.level == printed.level
    assert md0.members == tuple(f"sd{letter}" for letter in "bcdefgh"[: printed.slots])
    assert not md0.failed
    assert md0.resync is None
    assert not md0.spares
    chunks = {"512": 524288, "64": 65536, "256": 262144, "128": 131072}
    words = printed.words + printed.chunk
    number = next((number for number in chunks if f" {number}k " in words.lower()), None)
    if number is not None:
        assert md0.chunk == chunks[number]
        assert {"path": "arrays.md0.chunk", "value": f"{number}KiB", "where": "x:3"} in found.found
    for code, algorithm in {
        0: "left-asymmetric",
        1: "right-asymmetric",
        2: "left-symmetric",
        9: "ddf-N-restart",
    }.items():
        if printed.level != "raid4" and f"algorithm {code}" in words:
            assert md0.algorithm == algorithm
    for kind in ("near", "far", "offset"):
        if f"2 {kind}-copies" in words:
            assert (md0.algorithm, md0.copies) == (kind, 2)


def test_the_array_has_the_size_that_was_printed() -> None:
    """Protects the drives' capacity: the scenario's array is as large as the one that was printed, to a percent."""
    for name, printed in LEVELS.items():
        spec, _ = made(text(printed))
        layout = spec.arrays["md0"].layout([drive.spec().capacity for drive in spec.machine.drives.values()])
        assert layout.capacity == pytest.approx(KIB_PER_MEMBER * 1024 * printed.data, rel=0.01), name


@pytest.mark.parametrize(
    ("level", "slots", "data", "old"),
    [
        ("raid5", 4, 2, {"members": 3}),
        ("raid6", 6, 3, {"members": 5}),
        ("raid6", 5, 3, {"level": "raid5", "members": 4}),
    ],
)
def test_a_reshape_goes_on_where_it_is(level: str, slots: int, data: int, old: dict[str, Any]) -> None:
    """Protects growing arrays: the printed size is the old one, the drives have what the reshape counts of each."""
    members = " ".join(f"sd{letter}[{number}]" for number, letter in enumerate("bcdefg"[:slots]))
    printed = (
        f"Personalities : [{level}]\nmd0 : active {level} {members}\n      {data * KIB_PER_MEMBER} blocks super 1.2 "
        f"level {level[-1]}, 512k chunk, algorithm 2 [{slots}/{slots}] [{'U' * slots}]\n{progress('reshape', 0.25)}\n"
    )
    spec, _ = made(printed)
    resync = spec.arrays["md0"].resync
    assert resync is not None
    assert resync.old is not None
    assert (resync.action, resync.at) == ("reshape", 0.25)
    assert resync.old.model_dump(exclude_none=True) == old
    assert spec.capacity("md0") == pytest.approx(data * KIB_PER_MEMBER * 1024, rel=0.01)


def test_the_kept_algorithm_of_a_raid5_tells_where_a_raid6_comes_from() -> None:
    """Protects RAID 5 to 6: md prints the old algorithm with a Q behind it until the reshape is over."""
    members = " ".join(f"sd{letter}[{number}]" for number, letter in enumerate("bcdef"))
    printed = (
        f"Personalities : [raid6]\nmd0 : active raid6 {members}\n      {2 * KIB_PER_MEMBER} blocks super 1.2 level 6, "
        f"512k chunk, algorithm 18 [5/5] [UUUUU]\n{progress('reshape', 0.126)}\n"
    )
    spec, found = made(printed)
    resync = spec.arrays["md0"].resync
    assert resync is not None
    assert resync.old is not None
    assert resync.old.model_dump(exclude_none=True) == {"level": "raid5", "members": 3}
    assert spec.arrays["md0"].algorithm == "left-symmetric"
    assert found.document["arrays"]["md0"]["state"]["reshaping"]["at"] == "12.6%"


def test_a_reshape_from_nobody_knows_what_is_left_out() -> None:
    """Counter-test: another chunk or algorithm is not printed, nor the old members of a RAID 10."""
    printed = f"Personalities : [raid5]\n{THREE} [3/3] [UUU]\n{progress('reshape', 0.5, 976759936 // 2)}\n"
    spec, found = made(printed)
    assert spec.arrays["md9"].resync is None
    assert any("nothing tells its old layout" in note for note in found.notes)


def test_prinkeys_array() -> None:
    """Protects the published listing of Linux 2.4: a wrapped line, ten members, a spare that nothing marks."""
    spec, found = made(PRINKEY)
    md0 = spec.arrays["md0"]
    assert (md0.level, md0.chunk, md0.algorithm) == ("raid5", 32768, "left-symmetric")
    assert md0.members == tuple(f"hd{letter}" for letter in "bcdefghijk")
    assert md0.spares == ("hdl",)
    assert spec.kernel == "linux-2.4.17"
    assert {drive.model for drive in spec.machine.drives.values()} == {"Maxtor-4G120J6"}
    assert [spec.machine.drives[name].major for name in ("hdb", "hdc", "hdl")] == [3, 22, 57]
    assert (
        spec.machine.drives["hdc"].channel == spec.machine.drives["hdd"].channel != spec.machine.drives["hde"].channel
    )
    assert any(each["path"] == "kernel" and "nearest" in each["why"] for each in found.assumed)
    assert any(each["path"] == "arrays.md0.chunk" and each["where"] == "x:5" for each in found.found)


def test_a_member_that_is_gone() -> None:
    """Protects a degraded array: the empty place is a member that nobody has seen, failed, and like the others."""
    spec, found = made(text(dataclasses.replace(LEVELS["raid5"], marks="UU_U", gone=(2,))))
    md0 = spec.arrays["md0"]
    assert md0.members == ("sdb", "sdc", "md0-slot2", "sde")
    assert (md0.failed, md0.rebuilding, md0.resync) == (("md0-slot2",), (), None)
    assert spec.machine.drives["md0-slot2"].model == spec.machine.drives["sdb"].model
    assert any(each["path"] == "machine.drives.md0-slot2" and "as sdb" in each["why"] for each in found.assumed)


def test_a_member_that_failed_keeps_its_name_and_place() -> None:
    """Protects (F): the drive that failed is still there, and is named."""
    md0 = array(text(dataclasses.replace(LEVELS["raid6"], marks="_UUU_", faulty=(0, 4))))
    assert md0.members == ("sdb", "sdc", "sdd", "sde", "sdf")
    assert md0.failed == ("sdb", "sdf")


@pytest.mark.parametrize("name", ["raid1", "raid4", "raid5", "raid6", "raid10-near", "raid10-far", "raid10-offset"])
def test_a_rebuild(name: str) -> None:
    """Protects a rebuild: who is rebuilt, in which slot, and how far it has come."""
    whole = LEVELS[name]
    marks = "U_" + "U" * (whole.slots - 2)
    printed = dataclasses.replace(whole, marks=marks, rebuilding=1, extra=progress("recovery", 0.25))
    md0 = array(text(printed))
    assert md0.failed == md0.rebuilding == ("sdc",)
    assert md0.members[1] == "sdc"
    assert md0.resync is not None
    assert md0.resync.action == "recover"
    assert md0.resync.position == pytest.approx(0.25 * KIB_PER_MEMBER * 1024, rel=0.03)


def test_a_degraded_array_without_a_rebuild_has_a_spare_and_no_resync() -> None:
    """Protects from a rebuild that is not there: what waits (DELAYED) is noted, and the spare stays one."""
    printed = dataclasses.replace(LEVELS["raid5"], marks="U_UU", faulty=(1,), spares=1, extra="      resync=DELAYED")
    spec, found = made(text(printed))
    assert spec.arrays["md0"].spares == ("sdf",)
    assert spec.arrays["md0"].failed == ("sdc",)
    assert spec.arrays["md0"].resync is None
    assert any("delayed" in note for note in found.notes)


@pytest.mark.parametrize(("word", "action"), [("check", "check"), ("repair", "repair"), ("resync", "repair")])
def test_checks_and_resyncs(word: str, action: str) -> None:
    """Protects what runs on a whole array; a resync after a crash is a repair, and that is said."""
    spec, found = made(text(dataclasses.replace(LEVELS["raid6"], extra=progress(word, 0.5))))
    resync = spec.arrays["md0"].resync
    assert resync is not None
    assert resync.action == action
    assert ("simulated as a repair" in " ".join(found.notes)) == (word == "resync")


def test_a_replaced_members_number_is_no_slot() -> None:
    """Protects arrays in which a spare took a place: number 4 of four members is in the slot that nobody else has."""
    printed = text(dataclasses.replace(LEVELS["raid5"], rebuilding=2))
    assert "sdd1[4]" in printed
    assert array(printed).members == ("sdb", "sdc", "sdd", "sde")


def test_bitmap_journal_and_write_mostly() -> None:
    """Protects options: the bitmap's chunk, the journal, and mirrors that are read last."""
    bitmap = "      bitmap: 2/30 pages [8KB], 65536KB chunk"
    assert array(text(dataclasses.replace(LEVELS["raid1"], extra=bitmap))).bitmap == 64 << 20
    journal = text(LEVELS["raid5"]).replace("raid5 sde1[3]", "raid5 sdf[4](J) sde1[3]")
    assert array(journal).journal == "sdf"
    assert array(text(LEVELS["raid1"]).replace("sdc1[1]", "sdc1[1](W)")).write_mostly == ("sdc",)
    assert not array(text(LEVELS["raid1"])).write_mostly


def test_what_2_4_has_not_is_left_out_with_a_note() -> None:
    """Protects options that the nearest kernel does not know: the scenario runs, and says what it lost."""
    bitmap = "      bitmap: 2/30 pages [8KB], 65536KB chunk"
    printed = text(dataclasses.replace(LEVELS["raid1"], extra=bitmap)).replace("md0 :", "read_ahead not set\nmd0 :")
    spec, found = made(printed)
    assert spec.kernel == "linux-2.4.17"
    assert spec.arrays["md0"].bitmap is None
    assert any("no write-intent bitmap" in note for note in found.notes)


def test_raid10_takes_a_kernel_that_has_it() -> None:
    """Protects md's RAID 10 on an old kernel: the only modeled one with it, and that is said."""
    spec, found = made("Linux version 2.6.9-5-amd64 (x)\n" + text(LEVELS["raid10-far"]))
    assert spec.kernel == "linux-6.1"
    assert any(each["path"] == "kernel" and "RAID 10" in each["why"] for each in found.assumed)
    assert made("Linux version 2.6.9-5-amd64 (x)\n" + text(LEVELS["raid5"]))[0].kernel == "linux-2.6.8"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("md9 : inactive sdx1[0](S)\n      976759936 blocks super 1.2", "it is inactive"),
        ("md9 : inactive sdx[1](S) sdy[0](S)\n      6306 blocks super external:imsm", "only holds other arrays"),
        ("md9 : active multipath sdx[0] sdy[1]\n      976759936 blocks [2/2] [UU]", "several paths"),
        (
            f"{THREE} [3/1] [U__]",
            "lost 2 of 3 members",
        ),
        (
            (
                "md9 : active raid10 sdx[0] sdy[1] sdz[2]\n      976759936 blocks 64K chunks 2 near-copies 2 far-copies"
                " [3/3] [UUU]"
            ),
            "both near and far",
        ),
        ("md9 : active raid1 sdb[0] sdc[1]\n      1000 blocks [2/2] [UU]", "its drives are in md0 too"),
        ("md9 : active raid1 sdx1[0] sdx2[1]\n      976759936 blocks [2/2] [UU]", "two of its members are on sdx"),
        ("md9 : active raid1 loop0[0] loop1[1]\n      102400 blocks [2/2] [UU]", "stands in for disks of"),
    ],
)
def test_arrays_that_are_left_out(line: str, why: str) -> None:
    """Protects people from a scenario that lacks an array in silence: it is noted, with its place and why."""
    printed = text(LEVELS["raid5"]).replace("unused", f"{line}\n\nunused")
    spec, found = made(printed)
    assert list(spec.arrays) == ["md0"]
    assert any("md9" in note and "left out" in note and why in note for note in found.notes), found.notes


def test_arrays_of_arrays() -> None:
    """Protects a stack by hand: the outer array's members are the inner ones, and only it is loaded."""
    spec, _ = made(
        "Personalities : [raid1] [raid0]\n"
        "md2 : active raid0 md1[1] md0[0]\n      976759808 blocks super 1.2 512k chunks\n\n"
        "md1 : active raid1 sdd1[1] sdc1[0]\n      488379904 blocks super 1.2 [2/2] [UU]\n\n"
        "md0 : active raid1 sdb1[1] sda1[0]\n      488379904 blocks super 1.2 [2/2] [UU]\n\n"
        "unused devices: <none>\n"
    )
    assert spec.arrays["md2"].members == ("md0", "md1")
    assert spec.arrays["md0"].members == ("sda", "sdb")
    assert spec.workload.kind == "load"
    assert spec.workload.targets == ("md2",)


def test_solid_state_is_taken_and_can_be_left_out() -> None:
    """Protects flash in arrays: NVMe drives by their names; --ignore-solid-state leaves the array out."""
    flash = "md1 : active raid1 nvme1n1p1[1] nvme0n1p1[0]\n      976759936 blocks super 1.2 [2/2] [UU]\n\nunused"
    printed = text(LEVELS["raid5"]).replace("unused", flash)
    spec, _ = made(printed)
    assert set(spec.arrays) == {"md0", "md1"}
    for name in spec.arrays["md1"].members:
        drive = spec.machine.drives[name].spec()
        assert not drive.rotational
        assert drive.interface.endswith("NVMe")
        assert drive.capacity >= 976759936 * 1024
    spec, found = made(printed, ignore_solid_state=True)
    assert list(spec.arrays) == ["md0"]
    assert any("no moving parts" in note for note in found.notes)
    with pytest.raises(InputError, match=r"only drives without moving parts|nothing to simulate"):
        made("Personalities :\n" + flash, ignore_solid_state=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[UUUU]", "[UUU"), r"x:3:"),
        (("algorithm 2", "algorithm 77"), r"x:3:\d+: found '77'; expected: md's algorithms"),
        (("active raid5", "active"), r"x:2:1: .*the level of an active array"),
        (("sdc1[1]", "sdc1[999999999999999999999]"), r""),
        (("1464763392", "99999999999999999999999999"), r"x:3:1?\d*:? ?.*"),
    ],
)
def test_damage_is_named_with_its_place(change: tuple[str, str], message: str) -> None:
    """Protects people from silent defaults: file, line and column of what cannot be read."""
    printed = text(LEVELS["raid5"])
    assert change[0] in printed
    if message:
        with pytest.raises(InputError, match=message):
            made(printed.replace(*change))
    else:
        made(printed.replace(*change))


def test_a_machine_of_prints_is_a_machine_to_run() -> None:
    """Protects the point of it: the same text gives the same document twice, and its own comments are no data."""
    first, second = (made(text(LEVELS["raid6"]))[1] for _ in range(2))
    assert first == second
    assert document_from(first.text, "x").data == first.document
