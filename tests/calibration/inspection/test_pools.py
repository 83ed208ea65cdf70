"""Pools of ZFS from what zpool, zfs and the kernel module print: the scenario has them, or says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.tests.calibration.formats.pastes import PASTES
from raidsim.tests.calibration.inspection import pool_texts

PASTED = Path(__file__).with_name("pasted")
STATUS, LSBLK = (PASTED / "made-zfs-draid.txt").read_text(encoding="utf-8").split("\n$ lsblk")
LSBLK = f"$ lsblk{LSBLK}"


def made(*texts: str) -> tuple[ScenarioSpec, Inspection]:
    """The scenario of some texts, which can be simulated."""
    found = inspect([Source(f"x{number}", text) for number, text in enumerate(texts)], "test")
    return document_from(found.text, "again").spec(), found


def sheet(name: str) -> str:
    """A pasted text."""
    return (PASTED / f"made-zfs-{name}.txt").read_text(encoding="utf-8")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pool=pool_texts.pools(), form=st.sampled_from(["kernel", "path"]), way=st.sampled_from(sorted(PASTES)))
def test_any_pool_is_read_as_it_is(pool: pool_texts.Printed, form: str, way: str) -> None:
    """Protects vdevs, their use and lost devices, over pools that nobody thought of, however they are pasted."""
    spec, _ = made(PASTES[way](pool_texts.status(pool, form)), pool_texts.drives(pool))
    assert spec.pools["tank"] == spec.pools["tank"].model_validate(
        {**dict(spec.pools["tank"]), "vdevs": pool.words, "failed": tuple(pool.states)}
    )


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pool=pool_texts.pools())
def test_a_list_without_indents(pool: pool_texts.Printed) -> None:
    """Protects pastes of web pages, which lose blanks: the names of the groups tell what is in them."""
    data = [kind for use, kind, _ in pool.vdevs if use == "data"]
    if "stripe" in data[1:]:
        return  # nothing tells a single disk behind a group from one in it
    spec, _ = made(pool_texts.status(pool, indent=False), pool_texts.drives(pool))
    assert [vdev.kind for vdev in spec.pools["tank"].vdevs if vdev.use == "data"] == data


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pool=pool_texts.pools())
def test_names_of_udev_tell_the_model(pool: pool_texts.Printed) -> None:
    """Protects pools by /dev/disk/by-id without anything else: model and capacity are in the names, serials are not."""
    spec, found = made(pool_texts.status(pool, "id"))
    assert {each.spec().capacity for each in spec.machine.drives.values()} == {4000787030016}
    assert "ZDH" not in found.text


def test_a_session_becomes_a_pool() -> None:
    """Protects a whole paste: a place that is replaced, log and cache on one drive, volumes, parameters, used space."""
    spec, found = made(sheet("session"))
    pool = spec.pools["tank"]
    assert [(vdev.use, vdev.kind, len(vdev.members)) for vdev in pool.vdevs] == [
        ("data", "raidz2", 6),
        ("log", "mirror", 2),
        ("cache", "stripe", 1),
        ("spare", "stripe", 1),
    ]
    assert pool.failed == ("ST4000VN008-2DR166-1",)
    assert pool.vdevs[0].members[3] == pool.failed[0]
    vm = pool.datasets["vm"]
    assert (vm.volume, vm.volblocksize, vm.sync, vm.compression) == (800 << 30, 16 << 10, "always", 1.46)
    assert pool.datasets["media"].recordsize == 1 << 20
    assert spec.zfs_parameters.zfs_arc_max == 16 << 30
    assert pool.fragmentation == 0.12
    assert 0 < pool.used < 0.14, "what media and vm leave of 66 %"
    assert {volume.on for volume in spec.volumes.values()} == {("Samsung_SSD_970_EVO_Plus_500GB-1",)}
    assert pool.rebuilding == pool.failed
    assert (pool.action, pool.scan and pool.scan.done) == ("resilver", 0.0155)
    assert found.notes == ["x0:53: 1 module parameters are not simulated"]


def test_several_pools_on_the_same_drive() -> None:
    """Protects partitions of one drive in two pools, and a dRAID whose distributed spare serves."""
    spec, _ = made(STATUS, LSBLK)
    assert set(spec.pools) == {"backup", "rpool", "fast"}
    assert (spec.pools["backup"].vdevs[0].kind, spec.pools["backup"].failed) == ("draid2:4d:8c:1s", ("sdg",))
    assert {name: (volume.on, volume.size) for name, volume in spec.volumes.items()} == {
        "sdi3": (("sdi",), 100 << 30),
        "sdi4": (("sdi",), 286103 << 20),
    }
    assert spec.pools["rpool"].vdevs[0].members == ("sdi3", "sdj")
    assert (spec.pools["backup"].action, spec.pools["rpool"].action) == ("scrub", None)
    filled = STATUS.replace(
        "draid2-0-0          ONLINE       0     0     0", "draid2-0-0  ONLINE  0  0  0  (resilvering)"
    )
    filled = filled.replace("scrub in progress", "resilver (draid2:4d:8c:1s-0) in progress")
    backup = made(filled, LSBLK)[0].pools["backup"]
    assert (backup.action, backup.failed, backup.rebuilding) == ("rebuild", ("sdg",), ("sdg",))


def test_what_is_missing_is_asked_for() -> None:
    """Protects from a guess: a pool of which nothing tells the drives names the command that does."""
    with pytest.raises(
        InputError, match=r"nothing tells size or model of sda, .*; give lsblk -b -o NAME,SIZE,ROTA,MODEL"
    ):
        made(STATUS)
    with pytest.raises(InputError, match=r"nothing tells its devices; give zpool status too"):
        made("NAME  SIZE  ALLOC  FREE  FRAG  CAP  DEDUP  HEALTH  ALTROOT\ntank  1T  1G  1T  1%  1%  1.00x  ONLINE  -\n")


def test_sizes_of_devices_without_a_model() -> None:
    """Protects TrueNAS's names: zpool list -v gives sizes, zpool get the ashift, zfs list what is on the pool."""
    text = sheet("freebsd")
    ssd = "smartctl 7.2 2020\nDevice Model: INTEL SSDSC2KB480G8\nRotation Rate: Solid State Device\n"
    spec, _ = made(text, *(f"# smartctl -i /dev/ada{number}\n{ssd}" for number in (4, 5)))
    pool = spec.pools["tank"]
    assert [(vdev.use, vdev.kind) for vdev in pool.vdevs] == [("data", "raidz1"), ("special", "mirror")]
    assert spec.machine.drives["tank-disk-1"].spec().capacity == pytest.approx(8e12, rel=0.001)
    assert not spec.machine.drives["ada4"].spec().rotational
    assert set(pool.datasets) == {"films", "home", "iscsi"}
    assert pool.datasets["iscsi"].volume is not None
    rough, _ = made(text.replace("ashift                         12", "ashift                         13"))
    assert (pool.ashift, rough.pools["tank"].ashift) == (12, 13)


def test_the_largest_arc() -> None:
    """Protects the ARC's size: arcstats has what holds, before what modprobe was told and arc_summary rounds."""
    text = sheet("module")
    spec, _ = made(text)
    assert (spec.zfs_parameters.zfs_arc_max, spec.zfs_parameters.zfs_txg_timeout) == (8 << 30, 10)
    assert [vdev.kind for vdev in spec.pools["vault"].vdevs] == ["mirror", "mirror", "stripe"]
    spec, _ = made(text.replace("c_max ", "c_other "))
    assert spec.zfs_parameters.zfs_arc_max == 4 << 30
    spec, _ = made(text.replace("c_max ", "c_other ").replace("zfs_arc_max", "zfs_arc_x"))
    assert spec.zfs_parameters.zfs_arc_max == 8 << 30


def test_a_volume_that_is_larger_than_its_pool() -> None:
    """Protects thin volumes: the largest is cut to what fits, and what is not simulated is used space."""
    listed = "NAME PROPERTY VALUE SOURCE\n" + "".join(
        f"fast/vm{number}  volsize  {size}  local\n"
        for number, size in enumerate(("9T", "300G", "1G", "2G", "3G", "4G"))
    )
    spec, found = made(STATUS, LSBLK, listed)
    datasets = spec.pools["fast"].datasets
    assert 1e12 < (datasets["vm0"].size or 0) < 1.4e12
    assert [note for note in found.notes if "fast/vm0" in note and "larger than its pool" in note]
    assert [note for note in found.notes if "smaller volumes and file systems" in note]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("sda                   ONLINE", "sda                   BROKEN"), r"x0:11:6: .*a device of zpool status"),
        (("config:", "confg:"), "the list of the devices of backup below 'config:'"),
        (("\tbackup  ", "\tother   "), "the row of backup itself before its devices"),
        (
            ("draid2:4d:8c:1s-0", "raidz9-0         "),
            "found raidz9-0 with devices below it; expected: a group of",
        ),
    ],
)
def test_a_damaged_status_is_refused(change: tuple[str, str], message: str) -> None:
    """Protects from a pool that lost a device in silence."""
    with pytest.raises(InputError, match=message):
        made(STATUS.replace(*change).partition("\n  pool: rpool")[0], LSBLK)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("session", ("tank   21.8T", "tank   21.8 T"), "a pool in one line, with 11 columns"),
        ("session", ("  12%", " 812%"), "a share of 0% to 100%"),
        ("session", ("1.46x           -", "1.46x"), "name, property, value and source in one line"),
        ("session", ("zfs_txg_timeout:5", "zfs_txg_timeout:soon"), "a whole number of at least 0"),
        ("freebsd", ("1.04T  9.80T  1.04T", "1.04T  9.80T"), "a dataset in one line, with 5 columns"),
        ("module", ("4    8589934592", "8589934592"), "a name, a type and a number"),
    ],
)
def test_damaged_tables_are_refused(name: str, change: tuple[str, str], message: str) -> None:
    """Protects from figures under a wrong heading."""
    assert change[0] in sheet(name)
    with pytest.raises(InputError, match=message):
        made(sheet(name).replace(*change))


def test_links_tell_the_drives_of_names_without_a_model() -> None:
    """Protects wwn names: ls -l /dev/disk/by-id or the WWN of lsblk tells the drive, and no number is written down."""
    rows = [f"wwn-0x5000c500aaaa000{number}" for number in range(3)]
    body = "".join(f"\t    {row}  ONLINE  0 0 0\n" for row in rows)
    status = f"  pool: tank\n state: ONLINE\nconfig:\n\n\ttank  ONLINE  0 0 0\n\t  raidz1-0  ONLINE  0 0 0\n{body}"
    links = "".join(
        f"lrwxrwxrwx 1 root root 9 Feb  1 10:00 {row} -> ../../sd{letter}\n"
        for row, letter in zip(rows, "abc", strict=True)
    )
    disk = 'NAME="sd{}" WWN="{}" SIZE="4000787030016" ROTA="1" MODEL="ST4000VN008-2DR166"\n'
    disks = "".join(disk.format(letter, "") for letter in "abc")
    spec, found = made(status, links, disks)
    assert spec.pools["tank"].vdevs[0].members == ("sda", "sdb", "sdc")
    assert "5000c500" not in found.text
    turned = "".join(
        disk.format(letter, row.removeprefix("wwn-")) for row, letter in zip(rows[::-1], "abc", strict=True)
    )
    assert made(status, turned)[0].pools["tank"].vdevs[0].members == ("sdc", "sdb", "sda")
