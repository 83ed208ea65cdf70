"""Machines with SSD caches: scenarios from what LVM, the device mapper, bcache and lsblk print of them."""

from __future__ import annotations

import re
from functools import cache as cache_of
from pathlib import Path

import pytest

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.caches import CacheSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.calibration.formats.pastes import PASTES

from .cache_texts import (
    BACKING,
    CACHE,
    FLASHCACHE,
    LS,
    LVS,
    LVS_JSON,
    MDSTAT,
    STATUS,
    SYSFS,
    TABLE,
    WRITECACHE,
    lsblk,
)

SAMPLES = Path(__file__).with_name("samples")
ARRAY = ("sda", "sdb", "sdc", "sdd", "nvme0n1")
GIB = 1 << 30


def made(*texts: str) -> tuple[ScenarioSpec, Inspection]:
    """The scenario of some outputs, each a file."""
    found = inspect([Source(f"x{number}", text) for number, text in enumerate(texts)], "test")
    return document_from(found.text, "again").spec(), found


def cache(*texts: str) -> CacheSpec:
    """The only cache on md0 of some outputs."""
    spec, found = made(MDSTAT, lsblk(*ARRAY), *texts)
    (only,) = spec.caches.values()
    assert only.on == "md0"
    assert found.document["workload"]["targets"] == list(spec.caches)
    return only


@pytest.mark.parametrize("texts", [(LVS,), (LVS_JSON,), (TABLE, LS), (TABLE,), (STATUS, TABLE, LVS)])
def test_dm_cache(texts: tuple[str, ...]) -> None:
    """Protects LVM's cache by each tool: the array below, the SSD with what of it is used, the mode."""
    found = cache(*texts)
    assert (found.kind, found.mode, found.cache, found.metadata) == ("dm-cache", "writeback", "nvme0n1", None)
    assert found.size == 200 * GIB + (52 << 20)
    assert (found.block_size == 256 << 10) == (texts != (LVS_JSON,)), "only lvs +chunk_size and the table tell it"
    assert found.migration_threshold == (2 << 20 if TABLE in texts else 1 << 20)


def test_each_value_says_where_it_is_from() -> None:
    """Protects the comments: file and line of what was read, and why the mode is assumed."""
    _, found = made(MDSTAT, lsblk(*ARRAY), LVS)
    places = {each["path"]: each["where"] for each in found.found}
    assert places["caches.vg0-data.mode"] == "x2:2"
    assert places["caches.vg0-data.cache"] == "x2:2"
    without = LVS.replace("writeback", "         ")
    _, found = made(MDSTAT, lsblk(*ARRAY), without)
    assert found.document["caches"]["vg0-data"]["mode"] == "writethrough"
    assert any(each["path"] == "caches.vg0-data.mode" and "cache_mode" in each["why"] for each in found.assumed)


def test_a_volume_without_a_cache_is_none() -> None:
    """Counter-test: linear volumes make no cache, and are said to be left out."""
    plain = "vg0-data: 0 23429726208 linear 9:0 2048\n"
    spec, found = made(MDSTAT, lsblk(*ARRAY), plain)
    assert not spec.caches
    assert found.document["workload"]["targets"] == ["md0"]
    assert any("vg0-data" in note and "without a cache" in note for note in found.notes)


def test_dirty_data_is_said() -> None:
    """Protects who reads the notes: they tell what only the SSD holds, and nothing where nothing is dirty."""
    notes = made(MDSTAT, lsblk(*ARRAY), TABLE, LS, STATUS)[1].notes
    assert any("255 MiB" in note and "lost with it" in note for note in notes)
    clean = STATUS.replace(" 1021 3 ", " 0 3 ")
    assert not any("lost with it" in note for note in made(MDSTAT, lsblk(*ARRAY), TABLE, LS, clean)[1].notes)


def test_an_unused_cache_is_cold() -> None:
    """Protects `state`: a cache without a used block begins cold, another one warm for its load."""
    spec, _ = made(MDSTAT, lsblk(*ARRAY), TABLE, LS, STATUS.replace("255842/819200", "0/819200"))
    assert spec.caches["vg0-data"].started == "cold"
    spec, _ = made(MDSTAT, lsblk(*ARRAY), TABLE, LS, STATUS)
    assert spec.caches["vg0-data"].started == "warm"


def test_another_policy_is_said() -> None:
    """Protects from policies that are not modeled: smq takes their place, with a note."""
    _, found = made(MDSTAT, lsblk(*ARRAY), TABLE.replace("smq", "mq"), LS)
    assert any("the policy mq" in note and "smq takes its place" in note for note in found.notes)


def test_dm_writecache() -> None:
    """Protects LVM's writecache: parameters with the drivers' names, times in their units."""
    found = cache(WRITECACHE)
    assert (found.kind, found.cache, found.size) == ("dm-writecache", "nvme0n1", 100 * GIB)
    assert (found.high_watermark, found.low_watermark, found.autocommit_time) == (70, 45, 0.25)


def test_bcache() -> None:
    """Protects bcache by its superblocks, by sysfs, and by both."""
    shown = f"# bcache-super-show /dev/md0\n{BACKING}\n# bcache-super-show /dev/nvme0n1\n{CACHE}"
    found = cache(shown)
    assert (found.kind, found.mode, found.cache, found.bucket_size) == ("bcache", "writeback", "nvme0n1", 2 << 20)
    assert found.block_size == 4096
    assert found.sequential_cutoff == 4 << 20
    set_up = cache(SYSFS)
    assert (set_up.mode, set_up.sequential_cutoff, set_up.writeback_percent) == ("writeback", 0, 40)
    assert cache(SYSFS, shown).sequential_cutoff == 0
    assert any("1,536 MiB" in note for note in made(MDSTAT, lsblk(*ARRAY), SYSFS)[1].notes)


def test_bcache_of_another_set_is_not_joined() -> None:
    """Counter-test: two caches, and the backing device belongs to one of them."""
    other = CACHE.replace("d6420bd9", "aaaaaaaa").replace("7e099d6e", "bbbbbbbb")
    shown = "".join(
        f"# bcache-super-show /dev/{name}\n{text}\n"
        for name, text in (("nvme1n1", other), ("md0", BACKING), ("nvme0n1", CACHE))
    )
    spec, _ = made(MDSTAT, lsblk(), shown)
    assert [(each.on, each.cache) for each in spec.caches.values()] == [("md0", "nvme0n1")]


def test_lsblk_alone() -> None:
    """Protects a machine of which only lsblk tells: LVM's names say which device is which, bcache's the drives."""
    lines = lsblk("nvme0n1").replace(
        '"tran": "nvme"',
        '"tran": "nvme", "children": ['
        '{"name": "vg0-c_cdata", "kname": "dm-1", "type": "lvm", "size": 214748364800, "children": ['
        '{"name": "vg0-data", "kname": "dm-0", "type": "lvm", "size": 4000770252800}]}]',
    )
    slow = lsblk("sda").replace(
        '"tran": "sata"',
        '"tran": "sata", "children": ['
        '{"name": "vg0-data_corig", "kname": "dm-3", "type": "lvm", "size": 4000770252800, "children": ['
        '{"name": "vg0-data", "kname": "dm-0", "type": "lvm", "size": 4000770252800}]}]',
    )
    spec, _ = made(slow, lines)
    assert {name: (each.on, each.cache, each.size) for name, each in spec.caches.items()} == {
        "vg0-data": ("sda", "nvme0n1", 200 * GIB)
    }
    child = '"children": [{"name": "bcache0", "kname": "bcache0", "type": "disk", "size": 4000787021824}]'
    slow = lsblk("sda").replace('"tran": "sata"', f'"tran": "sata", {child}')
    fast = lsblk("nvme0n1").replace('"tran": "nvme"', f'"tran": "nvme", {child}')
    spec, _ = made(slow, fast)
    assert {name: (each.kind, each.on, each.cache) for name, each in spec.caches.items()} == {
        "bcache0": ("bcache", "sda", "nvme0n1")
    }


def test_synologys_cache() -> None:
    """Protects the appliance's flashcache: bcache takes its place, with a note; its SSDs are a mirror."""
    mirror = "md1 : active raid1 nvme0n1[0] nvme1n1[1]\n      976630464 blocks super 1.2 [2/2] [UU]\n\nunused"
    spec, found = made(MDSTAT.replace("unused", mirror).replace("[raid4]", "[raid4] [raid1]"), lsblk(), FLASHCACHE)
    only = spec.caches["cachedev_0"]
    assert (only.on, only.cache, only.kind, only.mode, only.size) == ("md0", "md1", "bcache", "writeback", 200 * GIB)
    assert any("Synology" in note for note in found.notes)
    assert any("1,000 MiB" in note for note in found.notes)


def test_two_caches_on_one_drive() -> None:
    """Protects an SSD that two caches share, and an array with two cached volumes: ranges become volumes."""
    table = """vg0-a: 0 2147483648 cache 253:2 253:1 253:0 128 1 writethrough smq 0
vg0-b: 0 4294967296 writecache s 253:4 253:5 4096 0
vg0-a_corig: 0 2147483648 linear 9:0 2048
vg0-b_wcorig: 0 4294967296 linear 9:0 2147485696
vg0-a_cdata: 0 209715200 linear 259:0 2048
vg0-a_cmeta: 0 16384 linear 259:0 209717248
vg0-b_cvol: 0 419430400 linear 259:0 209733632
"""
    names = ("a_corig", "a_cdata", "a_cmeta", "x", "b_wcorig", "b_cvol")
    numbers = "".join(f"vg0-{name}\t(253:{number})\n" for number, name in enumerate(names))
    spec, _ = made(MDSTAT, lsblk(*ARRAY), table, numbers)
    assert {name: (each.on, each.cache) for name, each in spec.caches.items()} == {
        "vg0-a": ("vg0-a_corig", "vg0-a_cdata"),
        "vg0-b": ("vg0-b_wcorig", "vg0-b_cvol"),
    }
    slow, fast = spec.volumes["vg0-b_wcorig"], spec.volumes["vg0-a_cdata"]
    assert (slow.on, slow.start, slow.size) == (("md0",), 2147485696 * 512, 2 << 40)
    assert (fast.start, fast.size) == (1 << 20, 100 * GIB + (8 << 20))


def test_metadata_on_another_drive() -> None:
    """Protects `metadata`: its own drive where it is not on the fast one."""
    table = TABLE.replace("linear 259:0 419432448", "linear 259:1 2048")
    spec, _ = made(MDSTAT, lsblk(), table, LS)
    only = spec.caches["vg0-data"]
    assert only.metadata == "vg0-fast_cpool_cmeta"
    assert spec.volumes["vg0-fast_cpool_cmeta"].on == ("nvme1n1",)
    assert only.size == 200 * GIB


def test_striped_and_linear_volumes() -> None:
    """Protects a slow device of several drives: one after the other, or in turn with the stripe."""
    table = """vg0-data: 0 15627968512 cache 253:2 253:1 253:3 512 1 writeback smq 0
vg0-data_corig: 0 15627968512 striped 2 128 8:0 2048 8:16 2048
vg0-c_cdata: 0 419430400 linear 259:0 2048
vg0-c_cmeta: 0 106496 linear 259:0 419432448
"""
    numbers = "vg0-data_corig (253, 3)\nvg0-c_cdata (253, 1)\nvg0-c_cmeta (253, 2)\n"
    spec, _ = made(lsblk("sda", "sdb", "nvme0n1"), table, numbers)
    volume = spec.volumes["vg0-data_corig"]
    assert (volume.kind, volume.on, volume.stripe) == ("striped", ("sda", "sdb"), 64 << 10)
    linear = table.replace(
        "vg0-data_corig: 0 15627968512 striped 2 128 8:0 2048 8:16 2048",
        "vg0-data_corig: 0 7813984256 linear 8:0 2048\nvg0-data_corig: 7813984256 7813984256 linear 8:16 2048",
    )
    spec, _ = made(lsblk("sda", "sdb", "nvme0n1"), linear, numbers)
    assert (spec.volumes["vg0-data_corig"].kind, spec.volumes["vg0-data_corig"].on) == ("linear", ("sda", "sdb"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("raid5_ls 3 128 region_size 4096 3", ("raid5", "left-symmetric", None, 64 << 10)),
        ("raid6_zr 3 128 region_size 4096 3", ("raid6", "ddf-zero-restart", None, 64 << 10)),
        ("raid1 3 0 region_size 4096 3", ("raid1", None, None, None)),
        ("raid10 7 128 region_size 4096 raid10_copies 2 raid10_format near 3", ("raid10", "near", 2, 64 << 10)),
    ],
)
def test_raid_of_lvm(words: str, expected: tuple[str, str | None, int | None, int | None]) -> None:
    """Protects dm-raid: md's array on what the images are on; a member that has failed is failed."""
    letters = "abcd"[: 4 if expected[0] != "raid1" else 3]
    words = f"{words[:-1]}{len(letters)}"
    images = "".join(f" 253:{2 * at} 253:{2 * at + 1}" for at in range(len(letters)))
    lines = [f"vg0-r: 0 7813000000 raid {words}{images}"]
    lines += [f"vg0-r_rimage_{at}: 0 7812000000 linear 8:{16 * at} 10240" for at in range(len(letters))]
    numbers = "".join(f"vg0-r_rimage_{at}\t(253:{2 * at + 1})\n" for at in range(len(letters)))
    spec, _ = made(lsblk(*(f"sd{letter}" for letter in letters)), "\n".join(lines) + "\n", numbers)
    array = spec.arrays["vg0-r"]
    assert (array.level, array.members) == (expected[0], tuple(f"sd{letter}" for letter in letters))
    assert (array.algorithm, array.copies) == expected[1:3]
    assert array.chunk == expected[3] or expected[3] is None
    status = f"vg0-r: 0 7813000000 raid {words.split()[0]} {len(letters)} A{'A' * (len(letters) - 2)}D 1/1 idle 0 0 -\n"
    spec, _ = made(lsblk(*(f"sd{letter}" for letter in letters)), "\n".join(lines) + "\n", numbers, status)
    assert spec.arrays["vg0-r"].failed == (f"sd{letters[-1]}",)


def test_a_cache_above_a_raid_of_lvm() -> None:
    """Protects the most usual machine without md: LVM's RAID below LVM's cache."""
    lvs = (SAMPLES / "lvs-raid.txt").read_text(encoding="utf-8")
    spec, _ = made(lsblk("sda", "sdb", "nvme0n1"), lvs)
    assert (spec.arrays["vg0-r_corig"].level, spec.arrays["vg0-r_corig"].members) == ("raid1", ("sda", "sdb"))
    assert (spec.caches["vg0-r"].on, spec.caches["vg0-r"].size) == ("vg0-r_corig", 100 * GIB)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE.replace("259:0 2048", "259:0 2x48"), "x2:3:48: found '2x48'; expected: a whole number"),
        (TABLE.replace(" 512 2 metadata2", " 512 9 metadata2"), "features at the end of the line: is it complete"),
        (TABLE.replace("linear 9:0 2048", "linear 9:0"), "its first sector at the end of the line"),
        (STATUS.replace("255842/819200", "255842"), "used blocks and all of them"),
        (WRITECACHE.replace("writecache s", "writecache q"), "s .an SSD. or p"),
        (LVS.replace("200.00g                           31.23", "two hundred"), "rows in one line each"),
        (SYSFS.replace(":dirty\n", ":broken\n"), "a state: clean, dirty"),
        (SYSFS.replace("[writeback]", "writeback"), "the modes with the one in use in brackets"),
        (f"# bcache-super-show /dev/md0\n{BACKING.replace('1 [backing device]', 'unknown')}", "sb.version with"),
    ],
)
def test_damaged_output_is_refused(text: str, message: str) -> None:
    """Protects from scenarios of damaged output: an error with file, line and what belongs there."""
    with pytest.raises(InputError, match=message):
        made(MDSTAT, lsblk(*ARRAY), text)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            TABLE.replace("cache 253:2 253:1 253:3", "cache 252:2 252:1 252:7").replace("vg0-fast_cpool_cdata", "x"),
            "give dmsetup ls",
        ),
        ("vg0-x: 0 23429726208 snapshot 253:1 253:2 P 8\n", "snapshots are not modeled"),
        ("vg0-x: 0 23429726208 frobnicate 253:1\n", "frobnicate: this target of the device mapper is not modeled"),
        ("vg0-x: 0 23429726208 crypt aes-xts-plain64 :64:logon:x 0 9:0 32768\n", "encrypted with aes-xts-plain64"),
        (LVS.replace("Devices            ", "Tags               "), "give lvs -a -o .devices"),
        ("# bcache-super-show /dev/md0\n" + BACKING, "nothing tells its fast device"),
        (TABLE.replace(" 9:0 2048", " 9:7 2048"), "nothing tells what md7 is"),
    ],
)
def test_what_is_left_out_is_said(text: str, note: str) -> None:
    """Protects from silence: no cache, and a note that names what is missing or not modeled."""
    spec, found = made(MDSTAT, lsblk(*ARRAY), text)
    assert not spec.caches
    assert any(re.search(note, each) for each in found.notes), found.notes


@cache_of
def as_printed(sheet: str) -> tuple[ScenarioSpec, int, str, tuple[str, ...]]:
    """The scenario of a sheet as its program prints it, how much is said of dirty data, its text and further ones."""
    shown = f"$ bcache-super-show /dev/md0\n{BACKING}\n$ bcache-super-show /dev/nvme0n1\n{CACHE}"
    text = {"lvs": LVS, "table": f"{TABLE}{LS}", "status": STATUS, "super": shown, "sysfs": SYSFS}[sheet]
    more = (TABLE, LS) if sheet == "status" else ()
    spec, found = made(MDSTAT, lsblk(*ARRAY), text, *more)
    return spec, sum("lost with it" in note for note in found.notes), text, more


@pytest.mark.parametrize("sheet", ["lvs", "table", "status", "super", "sysfs"])
@pytest.mark.parametrize("way", sorted(PASTES))
def test_pastes(way: str, sheet: str) -> None:
    """Protects pasted outputs: the same cache, or a refusal where a table or its lines are broken."""
    whole, dirty, text, more = as_printed(sheet)
    try:
        spec, found = made(MDSTAT, lsblk(*ARRAY), PASTES[way](text), *more)
    except InputError:
        assert "wrapped" in way
        assert sheet in ("lvs", "sysfs")
        return
    assert spec == whole
    assert sum("lost with it" in note for note in found.notes) == dirty


def test_the_scenario_runs() -> None:
    """Protects the whole way: what inspect writes is simulated, and hits the cache."""
    small = TABLE.replace("419430400", "2097152").replace("419432448", "2099200")
    spec, found = made(MDSTAT, lsblk(*ARRAY), small, LS)
    assert found.document["workload"]["targets"] == ["vg0-data"]
    prediction = simulate(spec)
    assert prediction.rate > 0
    assert prediction.ssd_caches
