"""What I/Os wait for is named by its cause, and goes away with it."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.without_waits import longest_waits, run_without_waits
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate
from raidsim.validation.laws.little import WAITS
from raidsim.validation.laws.trial import Trial

FOUR = ["disk0", "disk1", "disk2", "disk3"]
DISKS, FLASH = "IronWolf-8TB", "Samsung-PM9A3-3840GB"


def scenario(array: dict[str, Any], model: str = DISKS, kernel: str = "linux-6.12", **load: Any) -> dict[str, Any]:
    """Small random I/Os on an array of four drives."""
    return {
        "kernel": kernel,
        "machine": {"model": "server", "drives": {"model": model, "count": 4}},
        "arrays": {"md0": {"members": FOUR, **array}},
        "workload": {
            "kind": "load",
            "targets": ["md0"],
            "block_size": "4KiB",
            "pattern": "random",
            "read_share": "50%",
            "depth": 8,
            "warm_up": "100ms",
            "duration": "1s",
            **load,
        },
    }


def run(array: dict[str, Any], **values: Any) -> Prediction:
    """What such a load gives."""
    return Trial(scenario(array, **values)).outcome.prediction


def share(found: Prediction, op: str, cause: str) -> float:
    """Share of a cause of the time of reads or writes."""
    return found.waits[op].get(cause, 0.0) / found.latencies[op]["mean_s"]


@pytest.mark.parametrize("level", ["raid5", "raid10"])
def test_a_bitmap_is_named_and_goes_away_with_it(level: str) -> None:
    """Protects the answer to "why": most of a write's time is the bitmap's; without one none is."""
    kept, never = run({"level": level}), run({"level": level, "bitmap": "none"})
    assert share(kept, "write", "write-intent bitmap") > 0.5
    assert share(never, "write", "write-intent bitmap") == 0.0


def test_a_thread_that_sleeps_for_the_bitmap_holds_up_reads() -> None:
    """One task submits all I/Os of a job: while it waits for new bits, its reads are not sent."""
    load = {"model": FLASH, "kernel": "linux-6.1", "read_share": "70%", "depth": 32}
    load |= {"warm_up": "5ms", "duration": "20ms"}
    assert share(run({"level": "raid10"}, **load), "read", "write-intent bitmap") > 0.3
    assert share(run({"level": "raid10", "bitmap": "none"}, **load), "read", "write-intent bitmap") == 0.0


def test_small_writes_read_first_and_full_stripes_do_not() -> None:
    """The penalty of small writes has a name; RAID 0, and writes of whole stripes, do not have it."""
    no_bitmap = {"bitmap": "none"}
    assert share(run({"level": "raid5", **no_bitmap}), "write", "reads before writes") > 0.3
    whole = {"block_size": "192KiB", "read_share": "0%", "pattern": "sequential", "depth": 1}
    striped = {"level": "raid5", "chunk": "64KiB", **no_bitmap}
    assert share(run(striped, **whole), "write", "reads before writes") < 0.05
    assert share(run({"level": "raid0"}), "write", "reads before writes") == 0.0


def test_one_read_at_a_time_is_mechanics_alone() -> None:
    """With one I/O outstanding nothing queues: a read is seek, rotation and transfer; with many it queues."""
    one = run({"level": "raid0"}, read_share="100%", depth=1)
    moved = sum(share(one, "read", cause) for cause in ("seek", "rotational latency", "media transfer"))
    assert moved > 0.95
    assert share(one, "read", "drive queue") == 0.0
    assert share(run({"level": "raid0"}, read_share="100%", depth=64), "read", "drive queue") > 0.5


def test_a_resync_keeps_writes_out() -> None:
    """A write to a mirror that is checked waits at the barrier; without a check there is none to wait at."""
    whole = {"level": "raid10", "bitmap": "none"}
    assert share(run({**whole, "resync": {"action": "check"}}), "write", "resync barrier") > 0.1
    assert share(run(whole), "write", "resync barrier") == 0.0


@pytest.mark.parametrize(
    ("array", "kernel"),
    [
        ({"level": "raid5"}, "linux-6.12"),
        ({"level": "raid6", "failed": ["disk1"]}, "linux-6.12"),
        ({"level": "raid5"}, "linux-2.6.20"),
        ({"level": "raid5", "failed": ["disk1"]}, "linux-2.6.20"),
        ({"level": "raid10"}, "linux-6.1"),
        ({"level": "raid1", "members": FOUR[:2]}, "linux-2.4.18"),
        ({"level": "raid3", "members": FOUR[:3]}, "freebsd-6.2"),
    ],
)
def test_parts_add_up_on_every_path(array: dict[str, Any], kernel: str) -> None:
    """Each kind of array and driver accounts for all of a response time, to the nanosecond."""
    case = Trial(scenario(array, kernel=kernel, block_size="8KiB"))
    assert WAITS.where(case)
    assert list(WAITS.check(case)) == []


def test_without_a_wait_a_run_says_what_that_gives() -> None:
    """The longest wait is taken away, and the run without it is the run of a machine that never had it."""
    text = """
kernel: linux-6.12
machine: {{model: server, drives: {{model: IronWolf-8TB, count: 4}}}}
arrays: {{md0: {{level: raid10, members: [disk0, disk1, disk2, disk3]{bitmap}}}}}
workload: {{kind: load, block_size: 4KiB, read_share: 0%, depth: 1, warm_up: 100ms, duration: 1s}}
"""
    spec = document_from(text.format(bitmap="")).spec()
    found = simulate(spec)
    first = longest_waits(found)[0]
    assert first.cause == "write-intent bitmap"
    assert found.bottleneck.startswith("write-intent bitmap: ")
    without = run_without_waits(spec, found)[0]
    assert without.waits[0] == first
    never = simulate(document_from(text.format(bitmap=", bitmap: none")).spec())
    assert without.without.prediction.iops == never.iops
