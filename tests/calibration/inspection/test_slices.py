"""Arrays on partitions of the same drives: degraded ones, spares on partitions, and a member whose rebuild waits."""

from __future__ import annotations

import pytest

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from

SPARE_ON_A_SLICE = """\
Personalities : [raid1] [raid6] [raid5] [raid4]
md9 : active raid5 sda2[0] sdd2[4](S) sdc2[2] sdb2[1]
      3900000256 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]
      bitmap: 0/15 pages [0KB], 65536KB chunk

md8 : active raid1 sda1[0] sdd1[3] sdc1[2] sdb1[1]
      2000000 blocks super 1.2 [4/4] [UUUU]

unused devices: <none>
"""
SECOND_COPY_WAITS = """\
Personalities : [raid1] [raid10]
md2 : active raid10 sdd2[1] sdc2[0]
      3000000000 blocks super 1.2 512K chunks 2 near-copies [2/1] [U_]
      \tresync=DELAYED

md1 : active raid10 sdc1[0]
      900000000 blocks super 1.2 512K chunks 2 near-copies [2/1] [U_]

unused devices: <none>
"""


def made(text: str) -> tuple[ScenarioSpec, Inspection]:
    """The scenario of a text."""
    found = inspect([Source("x", text)], "x")
    return document_from(found.text, "again").spec(), found


def test_a_spare_on_a_partition() -> None:
    """Protects arrays that share drives and have a spare: it waits on its partition, and both arrays are there."""
    spec, found = made(SPARE_ON_A_SLICE)
    assert (spec.arrays["md9"].members, spec.arrays["md9"].spares) == (("sda2", "sdb2", "sdc2"), ("sdd2",))
    assert spec.arrays["md8"].members == ("sda1", "sdb1", "sdc1", "sdd1")
    assert not [note for note in found.notes if "left out" in note]


def test_a_member_whose_rebuild_waits() -> None:
    """Protects mdstat's DELAYED: the device is the second member and has failed, and never a spare."""
    spec, found = made(SECOND_COPY_WAITS)
    assert (spec.arrays["md2"].members, spec.arrays["md2"].failed) == (("sdc2", "sdd2"), ("sdd2",))
    assert (spec.arrays["md1"].members, spec.arrays["md1"].failed) == (("sdc1", "md1-slot1"), ("md1-slot1",))
    assert any("sdd2 is not in sync, and its rebuild waits" in note for note in found.notes)
    idle = made(SECOND_COPY_WAITS.replace("      \tresync=DELAYED\n", ""))[0]
    assert idle.arrays["md2"].spares == ("sdd2",)


@pytest.mark.parametrize(
    ("marks", "line", "failed", "rebuilding"),
    [
        ("[3/2] [UU_]", "", ("sdc2",), ()),
        (
            "[3/2] [UU_]",
            "      [==>....]  recovery = 10.0% (195000012/1950000128) finish=99.1min speed=70000K/sec\n",
            ("sdc2",),
            ("sdc2",),
        ),
    ],
)
def test_degraded_arrays_share_their_drives(
    marks: str, line: str, failed: tuple[str, ...], rebuilding: tuple[str, ...]
) -> None:
    """Protects arrays that have lost a partition, or rebuild one: the position is that of the partition."""
    text = SPARE_ON_A_SLICE.replace("[3/3] [UUU]\n", f"{marks}\n{line}").replace(" sdd2[4](S)", "")
    text = text.replace("sdc2[2]", "sdc2[4]" if line else "sdc2[2](F)")
    spec, _ = made(text)
    array = spec.arrays["md9"]
    assert (array.members, array.failed, array.rebuilding) == (("sda2", "sdb2", "sdc2"), failed, rebuilding)
    assert set(spec.arrays) == {"md8", "md9"}
    if line:
        assert array.resync is not None
        assert array.resync.position == pytest.approx(0.1 * 1950000128 * 1024, rel=0.01)
