"""dd writes to a degraded RAID 5 more slowly than to a clean one on 2.6.8, and no more slowly on 2.4.26.

Measured: 11.3 beside 15.0 MiB/s on 2.6.8, 11.7 beside 10.1 on 2.4.26. dd reads each block before it writes to it. To
read one of the missing member it needs two others at once; the first of them to be done is not kept idle for dd, who
has a request under way elsewhere, and goes far away to write.
"""

from __future__ import annotations

import pytest

from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.dd_run import WriteRun
from raidsim.tests.phenomena.machine_variants import LINUX_24, LINUX_26, MIB, Case, built, rate

LONGER = Sample(write_bytes=48 * MIB, cycles=3)


def _of_clean(kernel: str, *changes: tuple[str, object]) -> float:
    """Rate of a degraded array over that of a clean one."""
    clean, degraded = (
        rate(Case(kernel, "write", array=array, kernel_changes=changes), LONGER) for array in ("raid5", "raid5-failed")
    )
    return degraded / clean


def test_a_degraded_array_is_slower_on_26() -> None:
    """Protects what the anticipatory scheduler knows of a program: it hangs on the task, one for all disks."""
    assert _of_clean(LINUX_26) < 0.95


def test_it_is_no_slower_where_each_disk_remembers_by_itself() -> None:
    """The counter-test: disks that are kept idle for dd though it waits for another one."""
    assert _of_clean(LINUX_26, ("queue.task_history", False)) > 1.03


def test_it_is_no_slower_without_anticipation() -> None:
    """Another one: an elevator that keeps no disk idle, as 2.4's."""
    assert _of_clean(LINUX_24) > 0.95


@pytest.mark.parametrize(
    ("rise", "seconds", "throttled", "is_open"),
    [
        (4 * MIB, 2.0, False, True),
        (4 * MIB, 60.0, False, False),
        (64 * MIB, 2.0, False, False),
        (0, 2.0, False, False),
        (-4 * MIB, 2.0, False, False),
        (4 * MIB, 2.0, True, False),
    ],
)
def test_a_swing_of_dirty_memory_is_not_taken_for_growth(
    rise: int, seconds: float, throttled: bool, is_open: bool
) -> None:
    """Protects long writes from what a short look makes of them: where dirty memory has risen by a pass of write-back,
    so that it would fill before dd ends if it went on, the run goes on until that is known.
    """
    run = WriteRun(built(Case(LINUX_26, "write", ("hde",))), LONGER, throttled)
    assert run._is_open(rise, int(20e6 * seconds), seconds) == is_open


def test_a_swing_is_not_watched_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects who writes terabytes: there a rise of a few bytes would fill memory in the end."""
    monkeypatch.setattr(WriteRun, "_is_open", lambda *_: True)
    run = WriteRun(built(Case(LINUX_26, "write", ("hde",))), Sample(write_bytes=MIB, cycles=1), throttled=False)
    run.run()
    (dd,) = run.machine.dds
    assert 32 * MIB <= dd.bytes_done < 64 * MIB
    assert run.rate > 0
