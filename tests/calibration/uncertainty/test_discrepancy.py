"""What the model lacks, learnt from other studies: intervals hold what they promise, and nobody's own cells count."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import yaml

from raidsim.calibration.fit import profile as profile_module
from raidsim.calibration.fit.fit import UNCALIBRATED_SD
from raidsim.calibration.fit.problem import CELL_SD, PROGRAM_CELL_SD
from raidsim.calibration.fit.profile import Profile
from raidsim.calibration.fit.quantile import NORMAL_QUANTILE
from raidsim.calibration.study.study import StudySpec, load_study, study_names
from raidsim.calibration.uncertainty import learn_discrepancy
from raidsim.calibration.uncertainty.discrepancy import (
    COVERED,
    POINTS,
    CellError,
    Device,
    DiscrepancyTable,
    FigureClass,
    StudyErrors,
    excess,
    figure_classes,
    groups_of,
    learnt,
    load_table,
    model_half_width,
    size_of_errors,
    study_errors,
)
from raidsim.calibration.uncertainty.intervals import Intervals, left_out_errors, noise_sd
from raidsim.calibration.uncertainty.learn_discrepancy import lacking, learn
from raidsim.calibration.uncertainty.scales import Spreads, fitted_spreads
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.simulation.stand_in import stand_in_fit, stand_in_study, with_measured
from raidsim.tests.calibration.study import small_study as small

RAW: FigureClass = ("disk", "raw")
_SPREAD = 0.05
_STUDIES = 11


def _profile(study: StudySpec, standard_error: float) -> Profile:
    """A profile whose factors are 1.1, and on which every cell depends in proportion."""
    size = len(study.parameters)
    fitted = [
        {"name": p.name, "factor": 1.1, "standard_error": standard_error, "prior_sd": 0.2} for p in study.parameters
    ]
    return Profile.model_validate(
        {
            "study": study.id,
            "fingerprint": "",
            "data": profile_module.data_fingerprint(study),
            "parameters": fitted,
            "correlation": np.eye(size).tolist(),
            "discrepancy": 0.0,
            "sensitivities": {cell.id: [1.0] * size for cell in study.all_cells},
            "simulations": 1,
            "converged": True,
            "message": "",
        }
    )


def _study(random: np.random.Generator, cells: int, scale: float, heavy: bool = False) -> list[CellError]:
    draws = random.standard_t(3, cells) if heavy else random.standard_normal(cells)
    errors = scale * draws + _SPREAD * random.standard_normal(cells)
    return [CellError(RAW, float(error), _SPREAD) for error in errors]


def _covered(replications: int, between: float, heavy: bool = False) -> float:
    """How often the interval of a study, learnt from all others, holds one of its predicted cells."""
    random = np.random.default_rng(3)
    inside = 0
    for _ in range(replications):
        scales = 0.15 * np.exp(between * random.standard_normal(_STUDIES))
        sizes = random.choice([2, 5, 14, 50, 100], _STUDIES)
        predicted = [_study(random, int(n), scale, heavy) for n, scale in zip(sizes, scales, strict=True)]
        rows = [study_errors(cells) for cells in predicted]
        spreads = fitted_spreads(groups_of(rows))
        for i, scale in enumerate(scales):
            calibrated = study_errors(_study(random, 10, scale, heavy))
            width = model_half_width([*rows[:i], *rows[i + 1 :], calibrated], RAW, spreads)
            assert width is not None
            inside += abs(predicted[i][0].error) <= math.hypot(width, NORMAL_QUANTILE * _SPREAD)
    return inside / (replications * _STUDIES)


@pytest.mark.parametrize(("between", "heavy"), [(0.0, False), (0.5, False), (0.8, False), (0.5, True)])
def test_intervals_hold_nine_in_ten(between: float, heavy: bool) -> None:
    """Made-up studies that are alike, or differ by factors, with normal errors or heavy tails: 90 % are inside.

    Within three standard deviations of a binomial of as many studies; more where studies are alike, as eleven of them
    do not show that the twelfth is.
    """
    replications = 30
    allowed = 3 * math.sqrt(COVERED * (1 - COVERED) / (replications * _STUDIES))
    assert COVERED - allowed < _covered(replications, between, heavy) < 0.97 + (0.02 if not between else 0.0)


def test_calibrated_cells_alone_would_not() -> None:
    """The counter-test: predicted cells that are off by three times as much are mostly outside of residuals' width."""
    random = np.random.default_rng(4)
    inside = 0
    for _ in range(200):
        width = model_half_width([study_errors(_study(random, 30, 0.05))] * 3, RAW)
        assert width is not None
        (cell,) = _study(random, 1, 0.25)
        inside += abs(cell.error) <= math.hypot(width, NORMAL_QUANTILE * _SPREAD)
    assert inside / 200 < 0.7


def test_excess_completes_the_width() -> None:
    """With the excess added by squares an interval just reaches the error; one that reaches anyway needs none."""
    wide = excess(-0.5, 0.1)
    assert math.hypot(wide, NORMAL_QUANTILE * 0.1) == pytest.approx(0.5)
    assert excess(0.16, 0.1) == 0.0


def test_too_few_cells_say_nothing() -> None:
    """Beyond what was seen nobody knows: two studies of two cells give no width, twenty studies do."""
    few = study_errors(_study(np.random.default_rng(0), 2, 0.2))
    assert model_half_width([few] * 2, RAW) is None
    assert model_half_width([few] * 20, RAW) is not None


def test_a_class_without_cells_takes_all() -> None:
    """CPU shares of which nothing is known get the width of everything that is; one that is known gets its own."""
    random = np.random.default_rng(1)
    narrow: StudyErrors = study_errors(_study(random, 100, 0.05))
    wide: StudyErrors = {"disk": {"programs": study_errors(_study(random, 100, 0.8))["disk"]["raw"]}}
    studies = [*[narrow] * 4, *[wide] * 4]
    of_raw, of_programs, of_cpu = (
        model_half_width(studies, each) for each in (RAW, ("disk", "programs"), ("disk", "cpu"))
    )
    assert of_raw is not None
    assert of_programs is not None
    assert of_cpu is not None
    assert of_raw < of_cpu < of_programs
    assert of_raw < 0.5 < of_programs


def test_figures_have_classes() -> None:
    """Raw devices, programs, CPU shares and random access are told apart in the studies that come with raidsim."""
    gateway, gentoo = load_study("gateway-2005"), load_study("gentoo-2004")
    classes = figure_classes(gateway)
    assert {device for device, _ in classes.values()} == {"disk"}
    kinds = {cell.figure: classes[cell.id][1] for cell in gateway.all_cells}
    assert kinds["bonnie.seeks_rate"] == "random"
    assert kinds["bonnie.write_rate"] == "programs"
    assert kinds["bonnie.write_cpu"] == kinds["bonnie.seeks_cpu"] == "cpu"
    raw = next(cell for cell in gentoo.all_cells if cell.id == "2.6.8/raid1/read")
    assert figure_classes(gentoo)[raw.id] == RAW
    assert noise_sd(gentoo, raw) == CELL_SD < PROGRAM_CELL_SD == noise_sd(gateway, gateway.all_cells[0])


def test_latencies_random_access_and_flash_have_classes() -> None:
    """A rate, a mean and a percentile of one load are three kinds; hard disks and flash are told apart."""
    random = figure_classes(load_study("louwrentius-2019"))
    kinds = ("random", "latency", "queued random", "queued latency")
    assert set(random.values()) == {("disk", kind) for kind in kinds}
    modern = {each for name in ("broadcom-2019", "xiaoni-2025") for each in figure_classes(load_study(name)).values()}
    assert "flash" in {device for device, _ in modern}


def test_what_a_block_device_in_memory_is_off_by_says_nothing_of_drives() -> None:
    """A RAM disk and NVMe drives of one study are told apart; drives complete memory, never the other way round."""
    devices = {cell: device for cell, (device, _) in figure_classes(load_study("galofri-2021")).items()}
    assert {device for cell, device in devices.items() if cell.startswith("brd/")} == {"memory"}
    assert {device for cell, device in devices.items() if not cell.startswith("brd/")} == {"flash"}
    few = {device: study_errors([CellError((device, "tail"), 0.5, 0.0)] * 2) for device in get_args(Device)}
    for device in get_args(Device):
        found = learnt([*few.values()] * 4, (device, "tail"))
        assert found is not None
        assert (("memory", "tail") in found.classes) == (device == "memory")
        assert len(found.classes) == (3 if device == "memory" else 2)


def test_a_class_with_few_cells_is_drawn_to_the_nearest() -> None:
    """One small study of flash is drawn to disks' wide tails; many studies of flash speak for themselves."""
    random = np.random.default_rng(6)
    of_disks: StudyErrors = {"disk": {"tail": study_errors(_study(random, 100, 0.8))["disk"]["raw"]}}
    one = study_errors([CellError(("flash", "tail"), 0.1, 0.0)] * 12)
    few = learnt([*[of_disks] * 4, one], ("flash", "tail"), Spreads())
    many = learnt([*[of_disks] * 4, *[one] * 12], ("flash", "tail"), Spreads())
    assert few is not None
    assert many is not None
    assert few.half_width > 2 * many.half_width > 0.2
    assert many.classes == (("flash", "tail"),)
    assert few.classes == (("flash", "tail"), ("disk", "tail"))


def test_deep_queues_do_not_widen_single_ios() -> None:
    """What deep queues are off by widens their own figures, and those of a single I/O by far less."""
    single = study_errors([CellError(("disk", "random"), 0.05, 0.0)] * 20)
    deep = study_errors([CellError(("disk", "queued random"), 1.5, 0.0)] * 20)
    line: StudyErrors = {"disk": {**single["disk"], **deep["disk"]}}
    both = [line] * 6
    spreads = fitted_spreads(groups_of(both))
    alone = model_half_width([single] * 6, ("disk", "random"), spreads)
    with_deep, queued = (model_half_width(both, ("disk", kind), spreads) for kind in ("random", "queued random"))
    assert alone is not None
    assert with_deep is not None
    assert queued is not None
    assert with_deep < 1.5 * alone
    assert queued > 5 * with_deep


def test_a_queue_is_counted_for_each_drive() -> None:
    """One I/O at a time is single, 32 on a drive are queued; single and queued figures of a study are two classes."""
    classes = figure_classes(load_study("louwrentius-2019"))
    assert classes["read/1x2/iops"] == ("disk", "random")
    assert classes["read/32x2/iops"] == ("disk", "queued random")
    assert classes["read/32x2/read_mean_seconds"] == ("disk", "queued latency")


def test_own_predicted_cells_never_count() -> None:
    """A study's interval is the same whatever the table says of itself."""
    study = small.runs_study()
    row = study_errors(_study(np.random.default_rng(1), 60, 0.2))
    others = {"a": row, "b": row, "c": row}
    own = {study.id: study_errors([CellError(RAW, 5.0, 0.0)] * 100)}
    calibrated = {"one": 0.01, "both": -0.01}
    cell = next(cell for cell in study.all_cells if cell.use == "predict")
    without, with_own = (
        Intervals(study, None, calibrated, DiscrepancyTable(date="", source="", studies=studies)).of(cell)
        for studies in (others, others | own)
    )
    assert without == with_own
    assert without.noise == pytest.approx(NORMAL_QUANTILE * CELL_SD)
    assert without.total == pytest.approx(math.hypot(without.model, without.noise))


def test_without_others_twenty_percent_stand() -> None:
    """No table: the model is taken to be off by what it always was taken to, or by what its residuals show."""
    study = small.runs_study()
    profile = _profile(study, 0.0)
    empty = DiscrepancyTable(date="", source="", studies={})
    predicted = next(cell for cell in study.all_cells if cell.use == "predict")
    for off, expected in ((0.01, UNCALIBRATED_SD), (0.5, 0.5)):
        width = Intervals(study, profile, {"one": off, "both": -off}, empty).of(predicted)
        assert width.total == pytest.approx(NORMAL_QUANTILE * expected)


def test_leaving_a_cell_out_is_what_the_formula_says() -> None:
    """Of a linear problem a residual over 1 - leverage is the error of a fit without the cell, to a few percent."""
    random = np.random.default_rng(5)
    slopes = random.normal(0.6, 0.4, (8, 2))

    def linear(theta: np.ndarray) -> np.ndarray:
        logs: np.ndarray = 4.0 + slopes @ theta
        return logs

    measured = linear(np.array([0.1, -0.1])) + CELL_SD * random.standard_normal(8)
    study = with_measured(stand_in_study(linear(np.zeros(2)), 8), measured)
    fit, _ = stand_in_fit(study, linear)
    # With errors as expected, so that a fit without one cell weighs the others as this one does.
    profile = fit.profile(fit.optimum()).model_copy(update={"discrepancy": 0.0})
    jacobian = np.vstack([slopes / CELL_SD, np.eye(2) / 0.2])
    covariance = np.linalg.inv(jacobian.T @ jacobian)
    errors = np.sqrt(np.diag(covariance))
    parameters = tuple(
        p.model_copy(update={"standard_error": float(e)}) for p, e in zip(profile.parameters, errors, strict=True)
    )
    correlation = tuple(tuple(float(x) for x in row) for row in covariance / np.outer(errors, errors))
    profile = profile.model_copy(update={"parameters": parameters, "correlation": correlation})
    theta = covariance @ (slopes.T @ (measured - 4.0)) / CELL_SD**2
    ratios = {f"c{i}": float(r) for i, r in enumerate(linear(theta) - measured)}
    left_out = left_out_errors(study, profile, ratios)
    for i in range(8):
        others = np.arange(8) != i
        system = slopes[others].T @ slopes[others] / CELL_SD**2 + np.eye(2) / 0.2**2
        without = np.linalg.solve(system, slopes[others].T @ (measured[others] - 4.0) / CELL_SD**2)
        assert left_out[i].error == pytest.approx(float(linear(without)[i] - measured[i]), rel=1e-6)


@pytest.fixture
def predictions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `predict --json` prints of a study of which raidsim has the profile; every cell is 10 % too high."""
    study = load_study("larsen-2003")
    profile = _profile(study, 0.0)
    monkeypatch.setattr(profile_module, "_KEPT", tmp_path / "kept")
    profile.save(tmp_path / "kept" / f"{study.id}.yaml")
    document = {
        "id": study.id,
        "profile": {"parameters": [{"name": p.name, "factor": 1.1} for p in study.parameters]},
        "cases": [{"id": cell.id, "predicted": 1.1 * cell.measured} for cell in study.all_cells],
    }
    path = tmp_path / "larsen.json"
    path.write_text(json.dumps({"studies": [document]}))
    return path


def test_the_table_is_learnt_from_predictions(predictions: Path, tmp_path: Path) -> None:
    """All predicted cells are 10 % off: so says the row; others' rows stay; it survives its file."""
    row = study_errors([CellError(RAW, 0.3, 0.0)])
    before = DiscrepancyTable(date="", source="", studies={"gentoo-2004": row, "gone": row})
    table = learn([predictions], before, "2026-01-01")
    assert list(table.studies) == ["gentoo-2004", "larsen-2003"]
    found = table.studies["larsen-2003"]["disk"]["raw"]
    assert found.cells == len([cell for cell in load_study("larsen-2003").all_cells if cell.use == "predict"])
    assert found.errors == pytest.approx((math.log(1.1),) * 3, abs=1e-4)
    assert found.excess == pytest.approx((excess(math.log(1.1), CELL_SD),) * POINTS, abs=1e-4)
    table.save(tmp_path / "table.yaml")
    text = (tmp_path / "table.yaml").read_text()
    assert DiscrepancyTable.model_validate(yaml.safe_load(text)) == table


def test_predictions_of_another_fit_are_refused(predictions: Path) -> None:
    """How open the parameters were is in the profile, so predictions are only worth something with their own."""
    empty = DiscrepancyTable(date="", source="", studies={})
    text = predictions.read_text()
    predictions.write_text(text.replace('"factor": 1.1', '"factor": 1.2'))
    with pytest.raises(InputError, match="profile that is not there"):
        learn([predictions], empty, "")
    document = json.loads(text)
    del document["studies"][0]["cases"][0]
    predictions.write_text(json.dumps(document))
    with pytest.raises(InputError, match="no prediction of"):
        learn([predictions], empty, "")
    for broken in ("", "{}", '{"studies": [{"id": "larsen-2003"}]}', '{"studies": [{"id": "nobody", "cases": []}]}'):
        predictions.write_text(broken)
        with pytest.raises(InputError, match=r"larsen\.json"):
            learn([predictions], empty, "")
    with pytest.raises(InputError, match="No such file"):
        learn([predictions.parent / "nothing.json"], empty, "")


def test_a_table_that_lacks_a_study_is_refused() -> None:
    """Every study that has predicted cells must be known, and is named if it is not; one without them need not be."""
    full = {name: study_errors([CellError(RAW, 0.1, 0.0)]) for name in study_names()}
    assert lacking(DiscrepancyTable(date="", source="", studies=full)) == []
    del full["prinkey-2002"], full["freebsd-2007"]
    assert lacking(DiscrepancyTable(date="", source="", studies=full)) == ["prinkey-2002"]


def test_the_table_that_comes_with_raidsim_is_whole() -> None:
    """Protects intervals from a study that was added or predicted anew without learning from it."""
    assert learn_discrepancy.lacking(load_table()) == []


@pytest.mark.parametrize("device", ["disk", "flash"])
def test_the_size_of_errors_in_a_new_study_has_its_interval(device: Device) -> None:
    """Protects the prior of learnt machines: its median and spread give the half-width that intervals have."""
    median, spread = size_of_errors((device, "queued random"))
    known = learnt(load_table().studies.values(), (device, "queued random"))
    assert known is not None
    normal = np.random.default_rng(0).standard_normal((2, 200_000))
    errors = np.abs(normal[0]) * median * np.exp(spread * normal[1])
    assert np.quantile(errors, 0.9) == pytest.approx(known.half_width, rel=0.03)
