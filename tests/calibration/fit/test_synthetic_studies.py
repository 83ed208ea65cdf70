"""Studies of every kind of load, "measured" on the model with known parameters: every start of a fit finds these."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raidsim.calibration.fit.fit import Fit
from raidsim.calibration.fit.starts import search_from
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.study.figures import figure_value
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import PRICES

STARTS = {"dd": 2, "bonnie": 1, "queue depths": 2, "fio": 2, "rebuild": 2}
"""Searches of a fit; all but the first begin at a draw. Bonnie++ takes longest and has only the first."""
_NEAR = 0.1
"""How far (ln) a parameter may be from what it was measured with: two standard errors of cells that repeat to 5 %."""
_TRUE = {"one": 1.18, "other": 0.85}
"""Factors of the two parameters of each study."""


def _parameter(name: str, sd: str, *paths: str) -> dict[str, Any]:
    return {"name": name, "paths": [f"machine.{path}" for path in paths], "sd": sd, "reason": "made up"}


def _hard_disks(count: int, **more: Any) -> dict[str, Any]:
    """A computer with old drives, each on a cable of its own, behind one bus."""
    names = [f"sd{letter}" for letter in "abc"[:count]]
    return {
        "name": "drives on a bus",
        "memory": "64MiB",
        "cpu": {"name": "some CPU", "clock": "2GHz", "prices": PRICES},
        "links": {"pci": {"rate": "105MB/s", "source": "made up"}},
        "channels": {name: {"rate": "100MB/s", "links": ["pci"], "source": "made up"} for name in names},
        "drives": {name: {"model": "WD2500JB", "channel": name} for name in names},
        **more,
    }


def _one_drive(model: str, rate: str, kind: str, **instance: Any) -> dict[str, Any]:
    return {
        "name": "one drive",
        "memory": "1GiB",
        "cpu": {
            "name": "some CPU",
            "clock": "3GHz",
            "cores": 4,
            "prices": {**PRICES, "command": "2us", "switch": "1us"},
        },
        "links": {},
        "channels": {"port": {"kind": kind, "rate": rate, "source": "made up"}},
        "drives": {"sda": {"model": model, "channel": "port", **instance}},
    }


def _dd(bus: str = "105MB/s") -> dict[str, Any]:
    reads = {"kind": "dd", "direction": "read", "block_size": "64KiB", "size": "128MiB"}
    media = ("drives.sda.outer_media_rate", "drives.sdb.outer_media_rate")
    return {
        "machine": _hard_disks(2, links={"pci": {"rate": bus, "source": "made up"}}),
        "runs": {
            "alone": {"kernel": "linux-2.4.26", "workload": {**reads, "targets": ["sda"]}},
            "both": {"kernel": "linux-2.4.26", "workload": {**reads, "targets": ["sda", "sdb"]}},
        },
        "cells": {"alone": "rate", "both": "rate"},
        "parameters": [_parameter("one", "20%", *media), _parameter("other", "20%", "links.pci.rate")],
    }


def _bonnie() -> dict[str, Any]:
    steps = [{"program": "bonnie", "size": "24MiB"}]
    run = {
        "kernel": "linux-2.4.26",
        "file_systems": {"/mnt": {"kind": "ext2", "on": "sda"}},
        "workload": {"kind": "programs", "steps": steps},
    }
    return {
        "machine": _hard_disks(
            1,
            memory="24MiB",
            cpu={"name": "some CPU", "clock": "2GHz", "prices": {**PRICES, "putc": "60ns", "getc": "60ns"}},
        ),
        "runs": {"bonnie": run},
        "cells": {
            f"bonnie {figure}": f"bonnie.{figure}_rate" for figure in ("putc", "write", "rewrite", "getc", "read")
        },
        "parameters": [
            _parameter("one", "20%", "drives.sda.outer_media_rate", "drives.sda.inner_media_rate"),
            _parameter("other", "30%", "cpu.prices.putc", "cpu.prices.getc"),
        ],
    }


def _depths() -> dict[str, Any]:
    seeks = (f"drives.sda.seek_{which}" for which in ("average", "full_stroke"))
    load = {"kind": "load", "targets": ["sda"], "warm_up": "0.5s", "duration": "3s"}
    return {
        "machine": _one_drive("IronWolf-8TB", "600MB/s", "sata"),
        "runs": {f"{depth}": {"kernel": "linux-6.1", "workload": {**load, "depth": depth}} for depth in (1, 8, 32)},
        "cells": {"1": "iops", "8": "iops", "32": "iops"},
        "parameters": [_parameter("one", "25%", *seeks), _parameter("other", "50%", "drives.sda.queue_effort")],
    }


def _fio_grid() -> dict[str, Any]:
    def job(depth: int, rw: str) -> dict[str, Any]:
        options = f"rw={rw}\nbs=4k\nioengine=libaio\ndirect=1\niodepth={depth}"
        text = f"[job]\nfilename=/dev/sda\n{options}\ntime_based\nramp_time=1ms\nruntime=3ms\n"
        return {"kernel": "linux-6.1", "workload": {"kind": "fio", "job": text}}

    return {
        "machine": _one_drive("Samsung-PM9A3-3840GB", "7.1GB/s", "pcie", state="sequential"),
        "runs": {"read/1": job(1, "randread"), "read/8": job(8, "randread"), "write/1": job(1, "randwrite")},
        "cells": {"read/1": "job.read_iops", "read/8": "job.read_iops", "write/1": "job.write_iops"},
        "parameters": [
            _parameter("one", "40%", "drives.sda.read_time"),
            _parameter("other", "60%", "drives.sda.write_overhead"),
        ],
    }


def _rebuild() -> dict[str, Any]:
    def rebuilt(level: str, members: list[str]) -> dict[str, Any]:
        resync = {"action": "recover", "speed_max": "1GB/s"}
        return {"level": level, "members": members, "failed": ["sdb"], "rebuilding": ["sdb"], "resync": resync}

    def run(array: str) -> dict[str, Any]:
        return {
            "kernel": "linux-2.6.12",
            "workload": {"kind": "idle", "targets": [array], "warm_up": "0.2s", "duration": "0.4s"},
        }

    media = (f"drives.sd{letter}.outer_media_rate" for letter in "abc")
    return {
        "machine": _hard_disks(3, links={"pci": {"rate": "190MB/s", "source": "made up"}}),
        "arrays": {"two": rebuilt("raid1", ["sda", "sdb"]), "three": rebuilt("raid5", ["sda", "sdb", "sdc"])},
        "runs": {"two": run("two"), "three": run("three")},
        "cells": {"two": "resync_rate", "three": "resync_rate"},
        "parameters": [_parameter("one", "20%", *media), _parameter("other", "20%", "links.pci.rate")],
    }


def _plateau() -> dict[str, Any]:
    """One drive already reads as fast as the bus is: how much faster its media are, no cell tells."""
    return _dd("80MB/s")


KINDS = {"dd": _dd, "bonnie": _bonnie, "queue depths": _depths, "fio": _fio_grid, "rebuild": _rebuild}
_PLATEAU = "plateau"


def _document(kind: str, measured: Mapping[str, float]) -> dict[str, Any]:
    """A study with these measured numbers, in the units of its cells; 1 unless given."""
    found = (KINDS | {_PLATEAU: _plateau})[kind]()
    cells = [
        {
            "id": name,
            "use": "calibrate",
            "run": name.partition(" ")[0],
            "figure": figure,
            "measured": measured.get(name, 1.0),
            "unit": "1/s" if figure.endswith("iops") else "MB/s",
        }
        for name, figure in found["cells"].items()
    ]
    source = {"author": "nobody", "date": "2026-01-01", "where": "the model", "notes": "made by the model"}
    head = {"id": "synthetic", "title": kind, "source": source, "conventions": {"MB": 1000000}}
    return {**head, **found, "cells": cells}


def synthetic(kind: str) -> StudySpec:
    """A study that was measured on the model with other parameters than it has."""
    blank = validate(StudySpec, _document(kind, {}))
    builder = RunBuilder(blank, _TRUE)
    made = {run: simulate(builder.scenario(run), Sample()) for run in blank.wanted_runs}
    values = {cell.id: figure_value(made[cell.run], cell.run, cell.figure) / cell.scale for cell in blank.all_cells}
    return validate(StudySpec, _document(kind, values))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_start_finds_what_was_measured(kind: str) -> None:
    """Protects fits of every kind of load: searches from draws of the priors end at one place, which is the truth."""
    study = synthetic(kind)
    with Evaluator(1) as evaluator:
        fit = Fit(study, evaluator)
        searches = search_from(fit, STARTS[kind])
        best = searches.best
        errors = np.sqrt(np.diag(fit.covariance(best)))
    assert all(optimum.converged for optimum in searches.optima)
    for optimum in searches.optima:
        assert np.all(np.abs(optimum.theta - best.theta) < 1.645 * errors)
    true = np.array([math.log(_TRUE[parameter.name]) for parameter in study.parameters])
    assert np.all(np.abs(best.theta - true) < np.maximum(2 * errors, _NEAR))
    assert np.all(errors < 0.7 * fit.prior_sd), "the cells tell each parameter"


@pytest.mark.slow
def test_errors_reach_over_a_plateau() -> None:
    """Protects intervals where a search ends at the edge of a plateau, on which slopes say that a parameter is known.

    The media are faster than the bus. Counter-test: by the slopes alone the interval leaves out the truth.
    """
    study = synthetic(_PLATEAU)
    true = math.log(_TRUE["one"])
    with Evaluator(1) as evaluator:
        fit = Fit(study, evaluator)
        found = fit.optimum()
        held, by_slopes = fit.covariance(found), fit.covariance(replace(found, moved=()))
    assert found.theta[0] < true - 0.05
    assert found.theta[0] + 1.645 * math.sqrt(held[0, 0]) > true
    assert found.theta[0] + 1.645 * math.sqrt(by_slopes[0, 0]) < true
    assert held[1, 1] < 1.5 * by_slopes[1, 1]
