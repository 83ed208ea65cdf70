"""Comparisons, load curves, advice, sweeps and layouts as values."""

from __future__ import annotations

import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.api import sweep as sweep_module
from raidsim.scenarios.sweeps.sweep import run_sweep
from raidsim.tests.api.small import small


def test_a_list_and_keywords_compare_the_same() -> None:
    """Protects both ways to compare: the alternatives get the same requests, and so the same numbers."""
    quick: dict[str, Any] = {"replications": 2, "rebuild": False, "workers": 0, "progress": False}
    varied = raidsim.compare(small(), layout=["raid5", "raid10"], **quick)
    listed = raidsim.compare([small(), small(layout="raid10")], **quick)
    assert [each.name for each in varied] == ["raid5", "raid10"]
    assert [each.iops for each in varied] == [each.iops for each in listed]
    assert listed["raid10"].iops == varied["raid10"].iops > varied[0].iops
    assert varied.best("iops").name == "raid10"
    assert varied.best("write.mean").name == "raid10"
    assert varied.baseline.name == "raid5"
    assert varied["raid10"].difference("iops").value == pytest.approx(varied[1].iops - varied[0].iops)
    frame = varied.to_frame()
    assert list(frame["layout"]) == ["raid5", "raid10"]
    assert frame["iops.half_width"][1] > 0
    assert varied.to_dict()["schema"] == "raidsim.comparison"
    assert "most IOPS: raid10" in repr(varied)


def test_a_mapping_names_the_designs() -> None:
    """Protects names of a user's own: a mapping gives the numbers of a list, and one value changes all designs."""
    quick: dict[str, Any] = {"replications": 1, "rebuild": False, "workers": 0, "progress": False}
    two = {"fast": small(layout="raid10", machine__drives__price=50), "wide": small()}
    found = raidsim.compare(two, span="1GB", depth=4, **quick)
    listed = raidsim.compare([each.with_(span="1GB", depth=4) for each in two.values()], **quick)
    assert [each.name for each in found] == ["fast", "wide"]
    assert [each.iops for each in found] == [each.iops for each in listed]
    assert found.span is None
    assert found["fast"].read_p99 == found[0].interval("read.p99").value > found["fast"].read_mean > 0
    assert found["wide"].write_mean > found["fast"].write_mean
    assert (found["fast"].cost, found["wide"].cost) == (200, None)
    power = found["fast"].power
    assert power is not None
    assert power > 0
    with pytest.raises(AttributeError, match="did you mean write_p99"):
        getattr(found[0], "write_p98")  # noqa: B009


def test_what_cannot_be_compared_is_refused() -> None:
    """Protects a comparison from one that is none: an alternative that cannot be is among the rows, with the reason."""
    quick: dict[str, Any] = {"replications": 1, "rebuild": False, "workers": 0, "progress": False}
    found = raidsim.compare(small(disks=3), layout=["raid5", "raid6"], **quick)
    assert found["raid6"].refused is not None
    assert "raid6 needs at least 4" in repr(found["raid6"])
    assert math.isnan(found["raid6"].iops)
    assert found.best().name == "raid5"
    for scenarios, words in ((small(), "what differs"), ([], "no scenario"), ({}, "no scenario")):
        with pytest.raises(raidsim.InputError, match=words):
            raidsim.compare(scenarios, **quick)
    with pytest.raises(raidsim.InputError, match=r"compare: found replicatons; did you mean replications\?"):
        raidsim.compare(small(), replicatons=2)
    with pytest.raises(raidsim.InputError, match="several scenarios and disks"):
        raidsim.compare([small()], disks=[4, 5], **quick)
    with pytest.raises(raidsim.InputError, match="did you mean 'raid5'"):
        found["raid51"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"precision": 2}, "precision: found 2; expected: 0.05% to 99%"),
        ({"precision": "0%"}, "precision: found 0%"),
        ({"replications": 0}, "replications: found 0; expected: 1 to 60"),
        ({"curve": True, "points": 3}, "points: found 3; expected: 6 to 40"),
        ({"workers": -1}, "workers: found -1; expected: 0 to 1,024"),
    ],
)
def test_what_no_comparison_can_be_is_refused(given: dict[str, Any], words: str) -> None:
    """Protects from a call that never ends or says nothing: one message names the parameter and what is expected."""
    with pytest.raises(raidsim.InputError, match=re.escape(words)):
        raidsim.compare(small(), depth=[1, 2], progress=False, **given)


def test_what_no_sweep_or_map_can_be_is_refused() -> None:
    """The same of sweeps, load curves and maps."""
    with pytest.raises(raidsim.InputError, match="timeout: found 0"):
        raidsim.sweep(small(), depth=[1, 2], timeout=0)
    with pytest.raises(raidsim.InputError, match="points: found 41"):
        raidsim.load_curve(small(), points=41)
    with pytest.raises(raidsim.InputError, match="rows: found 0"):
        raidsim.layout("raid5", 4, rows=0)


def test_a_load_curve_rises_to_its_saturation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the curve: latency rises with the load, and the knee is one of its points."""
    monkeypatch.setattr("raidsim.scenarios.questions.load_curve.LEAST_IOS", 300)
    curve = raidsim.load_curve(small(duration="200ms"), points=6, workers=0, progress=False)
    assert curve.knee in curve.points
    assert curve.points[0].mean_s < curve.points[-1].mean_s
    assert curve.points[-1].offered_iops <= 1.01 * curve.saturation
    assert list(curve.to_frame()["knee"]).count(True) == 1
    with pytest.raises(raidsim.InputError, match="kind load"):
        raidsim.load_curve(small(workload={"kind": "dd", "direction": "read", "size": "1MiB"}), workers=0)


def test_advice_is_a_table_of_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the planner: each design has its reasons, and is a scenario to go on with."""
    monkeypatch.setattr("raidsim.scenarios.advice.advice.Alternatives.search", lambda *_: ([], []))
    wanted = {
        "load": {"total_iops": 20, "read_share": "80%", "block_size": "4KiB", "pattern": "random"},
        "drives": [{"model": "WD2500JS", "count": 4}],
        "levels": ["raid0", "raid6"],
        "chunks": ["64KiB"],
        "survives": 3,
    }
    found = raidsim.advise(wanted, workers=0, progress=False)
    assert (found.meets, found.best) == ((), ())
    assert [each.status for each in found.others] == ["fails", "fails"]
    assert "failure" in found.others[0].reasons[0]
    assert found.others[1].scenario().spec.arrays["md0"].level == "raid6"
    assert math.isinf(found.others[1].p99)
    assert list(found.to_frame()["status"]) == ["fails", "fails"]
    assert "0 of 2 designs meet it" in repr(found)
    with pytest.raises(raidsim.InputError, match="levles"):
        raidsim.advise({**wanted, "levles": ["raid0"]}, workers=0)


def test_a_sweep_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects long sweeps: an interrupt leaves what is done, and the same call simulates the rest only."""
    store = tmp_path / "kept.sqlite"
    base = small(warm_up="10ms", duration="100ms")
    varied: dict[str, Any] = {"depth": list(range(1, 21)), "store": store, "workers": 0, "progress": False}
    run = run_sweep

    def interrupted(*arguments: Any, **named: Any) -> Any:
        watch = named["watch"]

        def told(progress: Any) -> None:
            watch(progress)
            if progress.settled >= 1:
                raise KeyboardInterrupt

        return run(*arguments, **{**named, "watch": told})

    monkeypatch.setattr(sweep_module, "run_sweep", interrupted)
    part = raidsim.sweep(base, **varied)
    assert not part.complete
    assert 1 <= len(part) < 20
    monkeypatch.undo()
    whole = raidsim.sweep(base, **varied)
    assert whole.complete
    assert whole.progress.simulated == 20 - len(part)
    assert list(whole.to_frame()["depth"]) == list(range(1, 21))
    assert whole.store == str(store)


def test_a_sweep_leaves_a_lent_executor_open() -> None:
    """Protects an executor that is used for other things too, and that processes make no difference."""
    with ThreadPoolExecutor(2) as executor:
        lent = raidsim.sweep(small(), depth=[1, 2], executor=executor, progress=False)
        assert executor.submit(len, "abc").result() == 3
    own = raidsim.sweep(small(), depth=[1, 2], workers=0, progress=False)
    assert [row["iops"] for row in lent] == [row["iops"] for row in own]
    with pytest.raises(raidsim.InputError, match="did you mean depth"):
        raidsim.sweep(small(), dept=[1, 2], workers=0)
    with pytest.raises(raidsim.InputError, match="nothing that varies"):
        raidsim.sweep("database-server")


def test_a_layout_is_a_map() -> None:
    """Protects the map: its rows are those of md's left-symmetric RAID 5, and it knows what may be lost."""
    found = raidsim.layout("raid5", 3, rows=3)
    assert found.rows == (("D0", "D1", "P"), ("D3", "P", "D2"), ("P", "D4", "D5"))
    assert found.readable_without(1)
    assert not found.readable_without(0, 1)
    assert found.survives == 1
    assert list(found.to_frame().columns) == ["disk 0", "disk 1", "disk 2"]
    assert found.to_dict()["parity"][0] == [2]
    with pytest.raises(raidsim.InputError, match="expected: 0 to 2"):
        found.readable_without(3)
    with pytest.raises(raidsim.InputError, match="disks"):
        raidsim.layout("raid5", 0)
