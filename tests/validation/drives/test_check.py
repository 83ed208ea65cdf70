"""The models of ten drives against the traces measured on them, beside what DiskSim 4.0 reaches.

DiskSim has the same extracted parameters, so what is left is mechanisms; where a parameter is off, both are.
"""

from __future__ import annotations

from functools import lru_cache

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import hard_disk
from raidsim.scenarios.traces.formats.record import MeasuredIo
from raidsim.scenarios.traces.reading import open_trace
from raidsim.validation.drives.check import DriveCheck, check, disksim_results, trace_of
from raidsim.validation.drives.demerit import Demerit

RESULTS = disksim_results()
AT_LEAST = 6
"""Drives whose reads and writes both have a demerit no larger than DiskSim's, to a tenth of a percent of the mean."""
LOCKED = ("HP-C2247A",)
"""Drives whose trace fixes the rotation and whose parameters are right: single requests can be compared."""


@lru_cache(maxsize=1)
def _ios(name: str) -> tuple[MeasuredIo, ...]:
    return tuple(open_trace(trace_of(name)).measured())


@lru_cache(maxsize=16)
def _checked(name: str) -> DriveCheck:
    return check(hard_disk(name), _ios(name))


def _changed(name: str, **values: object) -> DriveCheck:
    return check(hard_disk(name).with_values(**values), _ios(name))


def _share(demerit: Demerit | None) -> float:
    assert demerit is not None
    return demerit.share


def _no_worse(share: float, reference: float) -> bool:
    return round(share, 3) <= round(reference, 3)


@pytest.mark.parametrize("name", RESULTS)
def test_no_drive_is_twice_as_far_off_as_in_disksim(name: str) -> None:
    """Protects every drive: reads, writes, all requests, and single ones."""
    found, reference = _checked(name), RESULTS[name]
    assert _share(found.reads) <= 2 * reference.reads
    assert _share(found.writes) <= 2 * reference.writes
    assert found.all.share <= 2 * reference.all
    assert found.all.deviation_share <= 1.25 * reference.deviation


def test_most_drives_are_no_farther_off_than_in_disksim() -> None:
    """Protects the sum of the mechanisms: reads and writes apart."""
    good = [
        name
        for name, reference in RESULTS.items()
        if _no_worse(_share(_checked(name).reads), reference.reads)
        and _no_worse(_share(_checked(name).writes), reference.writes)
    ]
    assert len(good) >= AT_LEAST, good


@pytest.mark.parametrize("name", LOCKED)
def test_single_requests_follow_the_real_drive(name: str) -> None:
    """Where skews, spare and slipped tracks and overheads are right, the platters stay in step for 10,000 requests."""
    assert _checked(name).all.deviation_share < 0.04


@pytest.mark.parametrize(
    ("name", "part", "off"),
    [
        ("QM39100TD-SW", "reads", {"segment_wraps": False, "look_ahead": "32KiB", "look_ahead_first": "32KiB"}),
        ("DNES-309170W", "reads", {"segment_wraps": False}),
        ("ST32171W", "reads", {"writes_clear": False}),
        ("ST39102LW", "reads", {"keeps_sent": True}),
        ("ST39102LW", "writes", {"write_overhead_after_write": None}),
        ("Atlas-10K-9GB", "reads", {"keeps_before": False}),
        ("Atlas-10K-9GB", "reads", {"look_ahead_until": "segment"}),
        ("HP-C2247A", "writes", {"write_data_overhead": None, "write_ahead": 0}),
        ("HP-C2247A", "reads", {"seek_points": (), "write_seek_points": ()}),
        ("HP-C3323A", "reads", {"read_watermark": None}),
        ("DEC-RZ26", "reads", {"reads_at_once": False}),
        ("DEC-RZ26", "reads", {"look_ahead_until": "segment"}),
    ],
)
def test_without_its_mechanism_a_drive_is_farther_off(name: str, part: str, off: dict[str, object]) -> None:
    """Each mechanism is there because a drive is farther from its trace without it."""
    assert _share(getattr(_changed(name, **off), part)) > 1.03 * _share(getattr(_checked(name), part))


def test_the_layout_keeps_the_platters_in_step() -> None:
    """Without the slipped tracks, the C2247A's requests come at other angles: each is off by twice as much."""
    drive = hard_disk("HP-C2247A")
    assert not isinstance(drive.zones, int)
    zones = [zone.model_copy(update={"slipped_tracks": ()}) for zone in drive.zones]
    assert _changed("HP-C2247A", zones=tuple(zones)).all.deviation_share > 0.08


def test_a_trace_of_reads_has_no_demerit_of_writes() -> None:
    """Protects traces with one kind of request."""
    found = check(hard_disk("HP-C2247A"), [MeasuredIo(READ, 0, 512, 0.01, 0.01)])
    assert found.writes is None
    assert found.reads == found.all


@pytest.mark.parametrize(
    ("ios", "words"),
    [
        ([], "found no I/O; expected: at least one"),
        (
            [MeasuredIo(WRITE, 1 << 40, 512, 0.01, 0.01)],
            "found an I/O that ends at byte 1099511628288; expected: at most",
        ),
    ],
)
def test_what_does_not_fit_is_refused(ios: list[MeasuredIo], words: str) -> None:
    """An empty trace, and one that reaches beyond the drive."""
    drive: DriveSpec = hard_disk("HP-C2247A")
    with pytest.raises(InputError) as caught:
        check(drive, ios, "some.trace")
    assert str(caught.value).startswith(f"some.trace: {words}")
