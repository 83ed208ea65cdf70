"""Advice with a file system: made on every design, with what it keeps and what its metadata costs."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.advice.fewest_drives import FewestDrives
from raidsim.scenarios.advice.runs import Simulations, Task, run_task
from raidsim.scenarios.advice.trials import Trials
from raidsim.scenarios.designs.designs import Design
from raidsim.scenarios.designs.file_system_words import file_system_geometry
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.tests.scenarios.designs.test_requirement import DRIVE, wanted

FILES: dict[str, Any] = {
    "load": {"total_iops": 150, "read_share": "50%", "block_size": "8KiB", "span": "500GB"},
    "limits": {"p99": "150ms"},
    "survives": 1,
    "levels": ["raid10", "raid5", "raid0"],
    "chunks": ["64KiB"],
    "drives": [{"model": DRIVE, "count": 4, "price": 300}],
    "bitmap": "none",
    "file_system": "xfs-v5",
}


def _design(requirement: RequirementSpec, number: int = 0) -> Design:
    return FewestDrives(Trials(requirement)).candidates[number].designs[0]


def test_every_candidate_has_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """RAID 10 and RAID 5 meet it with intervals of several runs, and RAID 0 survives nothing."""
    monkeypatch.setattr("raidsim.scenarios.advice.runs._FILE_IOS", 150)
    monkeypatch.setattr("raidsim.scenarios.advice.trials.BRIEF_IOS", (150,))
    requirement = wanted(**FILES)
    fewest = FewestDrives(Trials(requirement))
    with Simulations(requirement, workers=1) as simulations:
        found = simulations.run([fewest.search(each) for each in fewest.candidates])
    assert [(each.design.family.level.level, each.status) for each in found] == [
        ("raid10", "meets"),
        ("raid5", "meets"),
        ("raid0", "fails"),
    ]
    for each in found[:2]:
        assert each.measured is not None
        assert 0 < each.measured.latencies["write_p99"].half_width < 0.1
        assert each.measured.latencies["write_p99"].high < 0.15
    assert "survives no failure" in found[2].reasons[0]


def test_mkfs_takes_the_stripes_of_each_design() -> None:
    """XFS is as wide as the data of each array, and knows nothing of stripes if told so."""
    requirement = wanted(**FILES)
    designs = [_design(requirement, number) for number in range(2)]
    widths = [file_system_geometry(each.scenario(requirement))["/srv"] for each in designs]
    assert [each["stripe_width"] for each in widths] == [2 * 65536, 3 * 65536]
    plain = wanted(**{**FILES, "file_system": {"kind": "ext4", "stripe_aligned": False}})
    assert file_system_geometry(_design(plain).scenario(plain))["/srv"]["stripe_unit"] is None


def test_files_have_what_the_file_system_does_not_keep() -> None:
    """Of 1.8 TB ext4 keeps more than 5 %, and a requirement between that and the array's size refuses the design."""
    bare, ext4 = (wanted(**{**FILES, "file_system": kind}) for kind in (None, "ext4"))
    whole, usable = (Trials(each).facts(_design(each)).usable_bytes for each in (bare, ext4))
    assert 0.93 * whole < usable < 0.95 * whole
    for requirement, refused in ((bare, []), (ext4, ["capacity"])):
        limited = requirement.model_copy(update={"capacity": (whole + usable) // 2})
        assert [each.bound for each in Trials(limited).refused(_design(limited))] == refused


def test_the_load_on_a_file_is_the_load_on_the_array_and_its_metadata() -> None:
    """Rate and mean latencies are those of the array's own load, and only the file system's run writes a journal."""
    bare, xfs = (wanted(**{**FILES, "file_system": kind}) for kind in (None, "xfs-v5"))
    direct, files = (run_task(each, Task(_design(each, 1), "brief", 150, 900)) for each in (bare, xfs))
    assert files.iops == pytest.approx(150, rel=0.1)
    for op in ("read", "write"):
        assert files.latencies[f"{op}_mean"].mean == pytest.approx(direct.latencies[f"{op}_mean"].mean, rel=0.15)
    assert files.commands / files.iops > direct.commands / direct.iops


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"file_system": "ntfs"}, r"file_system.kind: found 'ntfs'; expected: ext2, ext3, ext4, xfs, xfs-v5"),
        ({"file_system": {"kind": "ext4", "on": "md0"}}, r"file_system.on: "),
        (
            {"load": {"total_iops": 9, "locality": "zipf"}},
            r"load.locality: found zipf with a file system; expected: uniform",
        ),
        ({"load": {"total_iops": 9, "arrivals": "constant"}}, r"load.arrivals: found constant with a file system"),
        ({"beside": [{"name": "b", "block_size": "1MiB"}]}, r"beside: found other loads with a file system"),
    ],
)
def test_what_files_do_not_have_is_refused(changes: dict[str, Any], message: str) -> None:
    """Each with its field, what was found and what is expected."""
    with pytest.raises(InputError, match=message):
        wanted(**{**FILES, **changes})
