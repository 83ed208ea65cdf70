"""Screening and shares of the variance against functions whose answers are known, and on small machines."""

from __future__ import annotations

import sys
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.special import ndtr

from raidsim.calibration.sensitivity.parameters import default_parameters, given_parameters, with_factors
from raidsim.calibration.sensitivity.runs import Sensitivity, Settings, sensitivity
from raidsim.calibration.sensitivity.sensitivity import MOST_SD, Matrix, Vector, check_salib, screen, variance_shares
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import QUICK, scenario

LOAD = {"kind": "load", "targets": ["sda"], "duration": "0.2s", "warm_up": "0.05s"}
SLOPES = np.array([3.0, -1.0, 0.0])


def linear(rows: Matrix) -> Vector:
    """Three inputs; the last one does nothing."""
    return np.asarray(rows @ SLOPES)


def ishigami(rows: Matrix) -> Vector:
    """Ishigami and Homma's function (1990) with a = 7 and b = 0.1, of inputs even on -pi to pi."""
    low = ndtr(-MOST_SD)
    x = np.pi * (2 * (ndtr(rows) - low) / (1 - 2 * low) - 1)
    return np.asarray(np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]))


def found(
    spec: ScenarioSpec, *paths: str, figure: str = "rate", method: str | None = "morris", trajectories: int = 2
) -> Sensitivity:
    """What comes out for some parameters of a scenario."""
    with Evaluator(1) as evaluator:
        settings = Settings(method, trajectories, samples=4)
        progress = nullcontext(lambda done, total: None)
        return sensitivity(spec, given_parameters(spec, paths), figure, evaluator, settings, lambda what: progress)


def effects(result: Sensitivity) -> dict[str, float]:
    """mu* by path."""
    assert result.screening is not None
    pairs = zip(result.parameters, result.screening.effects, strict=True)
    return {parameter.path: effect.mu_star for parameter, effect in pairs}


def test_the_effects_of_a_straight_line_are_its_slopes() -> None:
    """Protects the unit of effects, change per standard deviation: there is nothing random about a straight line."""
    result = screen(linear, 3, trajectories=4, seed=0)
    for effect, slope in zip(result.effects, SLOPES, strict=True):
        assert effect.mu == pytest.approx(slope, abs=1e-12)
        assert effect.mu_star == pytest.approx(abs(slope), abs=1e-12)
        assert effect.sigma == pytest.approx(0.0, abs=1e-12)


def test_inputs_that_act_together_have_a_sigma() -> None:
    """Protects what sigma is for: a product of two inputs has no effect in the mean, and a large one each time."""
    result = screen(lambda rows: rows[:, 0] * rows[:, 1], 2, trajectories=40, seed=0)
    for effect in result.effects:
        assert effect.sigma > 0.8
        assert effect.mu_star > 0.8
        assert abs(effect.mu) < 0.5


def test_shares_of_ishigamis_function() -> None:
    """Protects the indices: first order and total of the three inputs within 0.05 of the analytic ones."""
    result = variance_shares(ishigami, 3, samples=1024, seed=0)
    firsts = [share.first for share in result.shares]
    totals = [share.total for share in result.shares]
    assert firsts == pytest.approx([0.3139, 0.4424, 0.0], abs=0.05)
    assert totals == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.05)
    assert all(0 < share.total_error < 0.1 for share in result.shares)


def test_shares_of_a_straight_line_are_its_squared_slopes() -> None:
    """Protects the inputs of the shares: normal with a standard deviation of 1, so that slopes weigh as they are."""
    result = variance_shares(linear, 3, samples=512, seed=1)
    assert [share.first for share in result.shares] == pytest.approx([0.9, 0.1, 0.0], abs=0.03)
    assert [share.total for share in result.shares] == pytest.approx([0.9, 0.1, 0.0], abs=0.03)


def test_an_answer_that_never_changes_has_no_shares() -> None:
    """Protects against dividing by a variance of 0."""
    result = variance_shares(lambda rows: np.ones(len(rows)), 2, samples=4, seed=0)
    assert [share.total for share in result.shares] == [0.0, 0.0]


def test_the_same_seed_gives_the_same_bits() -> None:
    """Protects repeatability, also with the seed 0, whatever state numpy's own generator is in."""
    before = (screen(ishigami, 3, 5, seed=0), variance_shares(ishigami, 3, 32, seed=0))
    np.random.seed(7)
    assert (screen(ishigami, 3, 5, seed=0), variance_shares(ishigami, 3, 32, seed=0)) == before
    assert screen(ishigami, 3, 5, seed=1) != before[0]


def test_machines_that_cannot_be_are_left_out_and_counted() -> None:
    """Protects the effects from samples without an answer, and says when hardly any has one."""

    def partly(rows: Matrix) -> Vector:
        return np.where((rows[:, 0] > 1) & (rows[:, 1] > 1), np.nan, linear(rows))

    result = screen(partly, 3, trajectories=8, seed=0)
    assert 0 < result.left_out < 8
    assert result.trajectories + result.left_out == 8
    assert [effect.mu for effect in result.effects] == pytest.approx(list(SLOPES), abs=1e-12)
    with pytest.raises(InputError, match="only 0 of 4 samples"):
        screen(lambda rows: np.full(len(rows), np.nan), 3, trajectories=4, seed=0)


def test_without_salib_one_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects those who installed raidsim without the extra."""
    monkeypatch.setitem(sys.modules, "SALib", None)
    with pytest.raises(InputError, match=r"pip install -e '\.\[sensitivity\]'"):
        check_salib()


CLONE = "machine.cpu.prices.clone"
MEDIA, READ_CALL, MEMORY = "machine.drives.WD2500JB.media_rates", "machine.cpu.prices.read_call", "machine.memory"


def test_a_read_that_waits_for_the_disk_follows_from_its_media_rate() -> None:
    """A sequential read of a raw disk: 20 % of media rate are 20 % of the figure, a system call nearly nothing."""
    moved = effects(found(scenario(), MEDIA, READ_CALL, MEMORY))
    assert moved[MEDIA] == pytest.approx(20, abs=3)
    assert moved[READ_CALL] < 0.1 * moved[MEDIA]


def test_a_read_that_waits_for_the_cpu_follows_from_its_prices() -> None:
    """The counterpart: where a system call takes longer than the disk needs for its bytes, the disk does not matter."""
    moved = effects(found(scenario(machine_changes={"read_call": "60us"}), MEDIA, READ_CALL, MEMORY))
    assert moved[READ_CALL] == pytest.approx(40, abs=4)
    assert moved[MEDIA] < 0.1 * moved[READ_CALL]


def test_a_latency_is_a_figure_like_any_other() -> None:
    """Random reads of one disk: their p99 follows from the seek times; then comes the share of the variance."""
    spec = with_load(scenario())
    paths = ("machine.drives.sda.seeks", "machine.drives.sda.media_rates")
    result = found(spec, *paths, figure="read_mean_seconds", method=None)
    assert effects(result)[paths[0]] > 3 * effects(result)[paths[1]]
    assert result.parameters[result.leading[0]].path == paths[0]
    sobol = found(spec, *paths, figure="read_p99_seconds", method="sobol")
    assert sobol.screening is None
    assert sobol.shared == (0, 1)
    assert sobol.leading[0] == 0


def with_load(spec: ScenarioSpec) -> ScenarioSpec:
    """The same machine under a direct random load."""
    return ScenarioSpec.model_validate({**spec.model_dump(), "workload": LOAD})


def test_a_parameter_that_leaves_no_machine_says_why() -> None:
    """Protects from a message about samples where the trouble is one number: daemons that need more than the memory."""
    spec = scenario().model_dump()
    spec["machine"]["resident"] = spec["machine"]["memory"] - (1 << 20)
    with pytest.raises(InputError, match=r"only 0 of 2 samples .*machine\.resident found"):
        found(ScenarioSpec.model_validate(spec), "machine.memory")


def test_unknown_figures_are_answered_with_those_there_are() -> None:
    """Protects from misspelt figures, and from figures that are 0 and have no percentages."""
    with pytest.raises(InputError, match=r"did you mean rate\?.*seconds"):
        found(scenario(), MEDIA, figure="rat")


def test_what_is_uncertain_is_what_the_scenario_uses() -> None:
    """Drives of one model and equal cables move together; unused drives and prices that are not paid do not move."""
    spec = scenario(targets=("md0",), array={"level": "raid0", "members": ["sda", "sdb"], "chunk": "64KiB"})
    read = simulate(spec, QUICK).prices_read
    parameters = {parameter.path: parameter for parameter in default_parameters(spec, read)}
    assert parameters[MEDIA].names == ("sda", "sdb")
    assert parameters["machine.channels.sda,sdb.rate"].names == ("sda", "sdb")
    assert parameters["machine.links.pci.rate"].sd == 0.2
    assert parameters[READ_CALL].sd == 0.4
    assert parameters["kernels.linux-2.6.8.path_length"].sd == 0.05
    assert not {CLONE, "machine.cpu.prices.write_call", "machine.cpu.prices.putc"} & set(parameters)
    mirror = scenario(targets=("md0",), array={"level": "raid1", "members": ["sda", "sdb"]})
    paths = {parameter.path for parameter in default_parameters(mirror, simulate(mirror, QUICK).prices_read)}
    assert CLONE in paths
    assert "machine.memory" not in {parameter.path for parameter in default_parameters(with_load(spec))}


def test_what_no_maker_publishes_is_the_most_uncertain() -> None:
    """A media cache and bands move by 70 %, and only where a drive has them."""
    moved = {}
    for model in ("Exos-X20-20TB-SAS", "Exos-X24-24TB-SAS", "WD-Red-6TB-SMR"):
        spec = scenario()
        drives = {"sda": spec.machine.drives["sda"].model_copy(update={"model": model})}
        spec = spec.model_copy(update={"machine": spec.machine.model_copy(update={"drives": drives})})
        parameters = [each for each in default_parameters(spec) if each.kind == "unpublished"]
        assert all(each.sd == 0.7 for each in parameters)
        moved[model] = {each.path.rpartition(".")[2] for each in parameters}
    cache = {"media_cache", "media_cache_batch", "media_cache_idle"}
    assert moved == {"Exos-X20-20TB-SAS": set(), "Exos-X24-24TB-SAS": cache, "WD-Red-6TB-SMR": {*cache, "bands"}}


def test_what_is_uncertain_can_be_asked_for_by_its_path() -> None:
    """Every default parameter's path, given by hand, is the same parameter; another SD can be given with it."""
    spec = scenario(targets=("md0",), array={"level": "raid1", "members": ["sda", "sdb"]})
    for parameter in default_parameters(spec):
        (given,) = given_parameters(spec, [parameter.path])
        assert set(parameter.moves) <= set(given.moves)
        assert (given.words, given.sd) == (parameter.words, parameter.sd)
    (pattern,) = given_parameters(spec, ["machine.drives.sd[ab].read_overhead=7%"])
    assert pattern.names == ("sda", "sdb")
    assert pattern.sd == 0.07


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("machine.links.pic.rate", r"did you mean machine\.links\.pci\.rate\?"),
        ("machine.drives.sda.model", "names no number"),
        ("path_length", "names no number"),
        ("machine.cpu.prices.putc", "is 0 or not given"),
        ("machine.memory=0", "an SD of 0"),
        ("machine.memory=20", "did you mean 20%"),
        ("machine.memory=lots", "--parameter machine.memory"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(text: str, message: str) -> None:
    """Protects from silently moving nothing."""
    with pytest.raises(InputError, match=message):
        given_parameters(scenario(), [text])


@pytest.mark.parametrize("factor", [0.3, 0.77, 1.0, 1.3, 3.1])
def test_factors_leave_machines_that_can_be(factor: float) -> None:
    """Sizes stay whole sectors and buffers within the cache they are of; a factor of 1 changes nothing."""
    spec = scenario()
    parameters = default_parameters(spec)
    moved = with_factors(spec, parameters, [factor] * len(parameters))
    drive, before = moved.machine.drives["sda"].hard_disk(), spec.machine.drives["sda"].hard_disk()
    assert drive.cache % 512 == 0
    assert drive.outer_media_rate == pytest.approx(factor * before.outer_media_rate)
    assert moved.machine.drives["sdb"] == spec.machine.drives["sdb"]
    assert moved.path_length == pytest.approx(factor)
    if factor == 1.0:
        assert drive == before
        assert moved.machine.cpu == spec.machine.cpu


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "monte-carlo"}, "expected: morris, sobol"),
        ({"trajectories": 1}, "expected: 2 or more"),
        ({"samples": 48}, "a power of two"),
        ({"seed": -1}, "0 or more"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, object], message: str) -> None:
    """Protects from samples that SALib would take and make nothing good of."""
    with pytest.raises(InputError, match=message):
        Settings(**settings)  # type: ignore[arg-type]
