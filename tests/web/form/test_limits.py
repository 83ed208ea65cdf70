"""How much work a run may be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import raidsim
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.running.simulate import simulate
from raidsim.web.form.fields import DEFAULT, Form
from raidsim.web.form.forms import built, built_text, fitted
from raidsim.web.form.limits import LONGEST_S, MOST_COMMANDS, check_work, commands_per_second, duration_for

SSD = replace(DEFAULT, drive="Samsung-PM9A3-3840GB", level="raid10", disks=4, depth=64, length="short")


@pytest.mark.parametrize(
    "form",
    [
        replace(DEFAULT, length="short"),
        replace(DEFAULT, length="short", drive="IronWolf-Pro-20TB", level="raid1", disks=2, depth=1),
        SSD,
        replace(SSD, level="raid6", read=0),
        replace(SSD, level="raid1", disks=2, read=0, block=64),
    ],
)
def test_a_short_run_is_little_work(form: Form) -> None:
    """Protects the visitor's patience: a short run has at most some ten thousands of commands, of any drives."""
    spec = built(fitted(form)[0]).spec
    assert spec is not None
    prediction = simulate(spec)
    assert prediction.member_ios < 50_000
    assert prediction.iops


def test_a_single_io_on_flash_takes_at_least_what_is_expected() -> None:
    """Protects the length of short runs: with one I/O at a time the drive serves what is expected at most, or little
    less.
    """
    spec = built(fitted(replace(SSD, level="raid0", depth=1))[0]).spec
    assert spec is not None
    assert 0.9 < sum(simulate(spec).iops.values()) / commands_per_second(spec) <= 1.0


def test_drives_that_are_fast_are_simulated_for_less_time() -> None:
    """Protects the meaning of the length: it is work, and the simulated time follows from the drives."""
    disks, flash = built(DEFAULT).spec, built(fitted(SSD)[0]).spec
    assert disks is not None
    assert flash is not None
    assert commands_per_second(flash) > 50 * commands_per_second(disks)
    assert duration_for(flash, "normal")[0] < duration_for(disks, "normal")[0] / 50
    assert duration_for(disks, "long")[0] > duration_for(disks, "short")[0]
    assert duration_for(disks, "long")[0] <= LONGEST_S


def test_a_file_that_takes_too_long_is_refused_with_what_would_do() -> None:
    """Protects the server from files: simulated time times commands a second is bounded, and the bound is told."""
    text = "machine: {drives: {model: Samsung-PM9A3-3840GB, count: 8}}\narrays: {md0: raid5}\n"
    spec = built_text(f"{text}workload: {{depth: 256, jobs: 16, duration: 1000s}}", "x").spec
    assert spec is not None
    with pytest.raises(InputError, match=r"workload\.duration.*commands.*expected here"):
        check_work(spec)
    load = spec.workload
    assert isinstance(load, LoadSpec)
    most = MOST_COMMANDS / commands_per_second(spec)
    values = {"duration": 0.7 * most, "warm_up": 0.2 * most}
    check_work(spec.model_copy(update={"workload": load.model_copy(update=values)}))


def test_every_phase_is_bounded() -> None:
    """Protects against long phases: each of them counts by itself."""
    text = (
        "machine: {drives: {model: Samsung-PM9A3-3840GB, count: 4}}\narrays: {md0: raid10}\n"
        "workload: {depth: 64, duration: 0.1s, warm_up: 10ms, phases: [{name: day, lasts: 8h}, "
        "{name: night, lasts: 16h, duration: 1h}]}"
    )
    spec = built_text(text, "x").spec
    assert spec is not None
    with pytest.raises(InputError, match="night"):
        check_work(spec)


def test_people_who_think_are_less_work() -> None:
    """Protects files with users, such as the manual's office: what they can send follows from how long they think."""
    office = (Path(raidsim.__file__).parent / "docs" / "examples" / "office-day.yaml").read_text(encoding="utf-8")
    spec = built_text(office, "office").spec
    assert spec is not None
    check_work(spec)
    hasty = built_text(office.replace("think_time: 500ms", "think_time: 0s"), "hasty").spec
    assert hasty is not None
    with pytest.raises(InputError, match="phases day"):
        check_work(hasty.model_copy(update={"workload": _longer(hasty.workload)}))
    check_work(spec.model_copy(update={"workload": _longer(spec.workload)}))


def _longer(load: object) -> LoadSpec:
    """The first part of a day, eight times as long."""
    assert isinstance(load, LoadSpec)
    first = load.phases[0].model_copy(update={"duration": 8 * load.duration})
    return load.model_copy(update={"phases": (first, *load.phases[1:])})


@pytest.mark.parametrize("pattern", ["{}", "{run_length: 2}", "{sequential_share: 90%, run_length: 64}"])
def test_runs_among_random_ios_are_no_more_work_than_thought(pattern: str) -> None:
    """Protects the estimate of mixed loads: what drives do is between that of random I/Os and of those in order."""
    fields = f"pattern: mixed, depth: 16, duration: 2s, warm_up: 0s, {pattern[1:]}"
    spec = built_text(f"machine: {{drives: {{model: WD2500JS, count: 2}}}}\nworkload: {{{fields}", "x").spec
    assert spec is not None
    done = simulate(spec).member_ios / 2.0
    load = spec.workload
    assert isinstance(load, LoadSpec)
    rates = {}
    for name in ("random", "mixed", "sequential"):
        runs = {} if name == "mixed" else {"sequential_share": None, "run_length": None}
        other = load.model_copy(update={"pattern": name, **runs})
        rates[name] = commands_per_second(spec.model_copy(update={"workload": other}))
    assert rates["random"] < rates["mixed"] < rates["sequential"]
    assert done < 1.2 * rates["mixed"]


def test_other_workloads_are_left_to_the_clock() -> None:
    """Protects dd and programs in files: how much they do is not known before."""
    spec = built_text("workload: {direction: read, size: 1GiB, targets: disk0}", "x").spec
    assert spec is not None
    check_work(spec)
