"""The study of one drive over queue depth and jobs: its marks, and what its profile says of the drive's order."""

from __future__ import annotations

from raidsim.calibration.study.study import load_study


def test_only_totals_of_1_4_and_32_are_calibrated_on() -> None:
    """Protects the prediction from being fitted to what it predicts."""
    study = load_study("louwrentius-2019")
    totals: dict[str, set[int]] = {"calibrate": set(), "predict": set()}
    for cell in study.all_cells:
        depth, jobs = cell.run.partition("/")[2].split("x")
        totals[cell.use].add(int(depth) * int(jobs))
    assert totals["calibrate"] == {1, 4, 32}
    assert totals["predict"] == {2, 8, 16, 64, 128, 256, 512, 1024}
    assert len(study.all_cells) == 2 * 2 * 36


def test_latencies_and_rates_obey_littles_law() -> None:
    """Protects against misread digits: I/Os a second times latency is the number outstanding, within a tenth."""
    study = load_study("louwrentius-2019")
    measured = {cell.id: cell.measured for cell in study.all_cells}
    for run in study.runs:
        op, _, point = run.partition("/")
        depth, jobs = (int(number) for number in point.split("x"))
        outstanding = measured[f"{run}/iops"] * measured[f"{run}/{op}_mean_seconds"] * 1e-6
        assert abs(outstanding / (depth * jobs) - 1) < 0.1, run
