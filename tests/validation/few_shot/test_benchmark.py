"""The few-shot benchmark: one draw, its rules, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raidsim.calibration.learning.loads import BoxLoad, Measured
from raidsim.validation.few_shot import benchmark
from raidsim.validation.few_shot.benchmark import Draw, Line, Outcome, kept, load_boxes, outcomes, summary, tried
from raidsim.validation.few_shot.methods import METHODS, Predicted
from raidsim.validation.few_shot.of_studies import FEWEST, study_boxes
from raidsim.validation.few_shot.shown import draw, study_table, table


def test_ten_measurements_of_the_box_predict_the_rest() -> None:
    """Protects the aim: from ten of 60 measurements, reads are known within 20 % in the median, and writes."""
    found = tried(Draw("nvme-24", "raidsim", 10, 1), load_boxes()["nvme-24"])
    assert np.median(found.reads) <= 0.2
    assert np.median(found.writes) <= 0.2
    assert found.inside is not None
    assert 0.7 <= found.inside <= 1


@pytest.mark.parametrize("method", ["Gaussian process", "boosted trees"])
def test_baselines_are_no_straw_men(method: str) -> None:
    """Protects the comparison: from 50 of the 60, standard methods are right within 30 % in the median."""
    assert np.median(tried(Draw("nvme-24", method, 50, 1), load_boxes()["nvme-24"]).reads) < 0.3


def test_what_is_predicted_is_not_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects honesty: all configurations are either learnt from or predicted, none both; rates are not shown."""
    seen: list[tuple[set[str], set[BoxLoad]]] = []

    def method(measured: list[Measured], loads: list[BoxLoad], seed: int) -> Predicted:
        seen.append(({each.name for each in measured}, set(loads)))
        return Predicted(np.full(len(loads), 200.0), np.array([np.full(len(loads), 50.0), np.full(len(loads), 150.0)]))

    monkeypatch.setitem(METHODS, "raidsim", method)
    box = [Measured(f"{k}", BoxLoad(4096, k + 1, 1, k % 2), 100.0 if k < 10 else 400.0) for k in range(20)]
    found = tried(Draw("a", "raidsim", 6, 0), box)
    ((names, loads),) = seen
    assert len(names) == 6
    assert loads == {each.load for each in box if each.name not in names}
    assert len(found.reads) + len(found.writes) == 14
    assert set(found.reads + found.writes) == {1.0, 0.5}
    assert found.inside == pytest.approx(sum(each.rate == 100 and each.name not in names for each in box) / 14)
    tried(Draw("a", "raidsim", 6, 1), box)
    assert seen[1][0] != names


def test_it_goes_on_where_it_was_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Protects long work: finished draws are not tried again, a line cut short is, and so is all with other code."""
    work: list[Draw] = []

    def quick(draw: Draw, measured: list[Measured]) -> Outcome:
        work.append(draw)
        return Outcome(draw, benchmark.digest(), (0.1,), (0.2,), (0.1, 0.2), None, 0.0)

    monkeypatch.setattr(benchmark, "tried", quick)
    store, draws = tmp_path / "below" / "draws.jsonl", benchmark.all_draws()[:3]
    first = list(outcomes(store, draws, lambda line: None))
    assert work == draws
    assert list(outcomes(store, draws, lambda line: None)) == first
    assert work == draws
    store.write_text(store.read_text()[:-5])
    list(outcomes(store, draws, lambda line: None))
    assert work == [*draws, draws[-1]]
    monkeypatch.setattr(benchmark, "digest", lambda: "other")
    list(outcomes(store, draws, lambda line: None))
    assert work[4:] == draws


def test_errors_of_all_draws_count_alike() -> None:
    """Protects the table: medians are over configurations of all draws; the row says what is not known."""
    reads = [(0.1 * k,) for k in range(3)]
    found = [
        Outcome(Draw("nvme-24", "raidsim", 5, k), "", each, (0.3, 0.3), each, None, 1.0 + k)
        for k, each in enumerate(reads)
    ]
    (line,) = summary(found)
    assert line == Line("nvme-24", "raidsim", 5, (10.0, 18.0), (30.0, 30.0), (10.0, 18.0), None, 2.0)
    assert table([line]).splitlines()[2] == "| 5 | raidsim | 10.0 % | 18.0 % | 30.0 % | 30.0 % | - | 2.0 |"


def test_boxes_of_a_study_count_together() -> None:
    """Protects the studies' table: one row for all hosts of a study, methods next to each other, no other boxes."""
    found = [
        Outcome(Draw(box, method, 10, 0), "", (error,), (error,), (error,), inside, 1.0)
        for box, error in (("drives/one", 0.1), ("drives/other", 0.3), ("nvme-24", 0.9))
        for method, inside in (("raidsim", 0.5), ("Gaussian process", 1.0), ("boosted trees", None))
    ]
    rows = study_table(summary(found)).splitlines()[2:]
    assert rows == ["| drives | 10 | 20.0 % / 28 % | 20.0 % / 28 % | 20.0 % / 28 % | 50 % |"]


def test_a_study_is_as_many_boxes_as_it_has_machines() -> None:
    """Protects the data: rates as the study has them, of loads that keep I/Os outstanding, and of no other machine."""
    found = study_boxes()
    assert {name.partition("/")[0] for name in found} >= {"kangeek-2020", "louwrentius-2019", "dragan-2024"}
    assert {"louwrentius-pm883/gen8", "dragan-2024/raid5", "dragan-2024/raid5-bitmap"} <= set(found)
    assert min(len(box) for box in found.values()) >= FEWEST
    assert all(len({each.load for each in box}) == len(box) for box in found.values())
    rates = {each.load: each.rate for each in found["kangeek-2020"]}
    assert rates[BoxLoad(4096, 4, 32, 1.0)] == 393_000
    assert rates[BoxLoad(65536, 1, 1, 0.0, sequential=True)] == 21_800
    assert BoxLoad(4096, 16, 2, 1.0) in {each.load for each in found["louwrentius-2019"]}


def test_what_is_kept_meets_the_aims_and_is_drawn(tmp_path: Path) -> None:
    """Protects the manual's claim: raidsim needs ten measurements where others need fifty."""
    lines = {(line.method, line.known): line for line in kept() if line.box == "nvme-24"}
    for count, most in ((10, 20), (20, 12), (50, 8)):
        assert lines["raidsim", count].reads[0] <= most
        assert lines["raidsim", count].reads[0] < min(
            lines[name, count].reads[0] for name in METHODS if name != "raidsim"
        )
    assert {line.box for line in kept()} == {name.partition("/")[0] for name in load_boxes()}
    draw(kept(), tmp_path / "one.svg")
    draw(kept(), tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
