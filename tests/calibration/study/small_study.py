"""Studies small enough to fit in a test, "measured" on the model itself: reads of two drives behind one bus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raidsim.calibration.study.figures import figure_value
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import PRICES

TRUE_FACTORS = {"media rate": 1.12, "bus": 0.94}
GUESS = {"one": 60.0, "both": 100.0, "other": 60.0}
"""Rates (MB/s, MB = 10^6) by case, before the model has measured."""

_PRICES = {**PRICES, "read_call": "0.5us", "copy_rate": "2GB/s"}
_SIZE = 1 << 30
Names = str | list[str]


def _head(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "title": "A small study",
        "source": {"author": "nobody", "date": "2026-01-01", "where": "the model", "notes": "made by the model"},
        "conventions": {"MB": 1000000, "KB": 1000},
        "machine": {
            "name": "two drives on a bus",
            "memory": "1GiB",
            "cpu": {"name": "some CPU", "clock": "2GHz", "prices": _PRICES},
            "links": {"pci": {"rate": "115MB/s", "source": "made up"}},
            "channels": {
                "a": {"rate": "95MB/s", "links": ["pci"], "source": "made up"},
                "b": {"rate": "95MB/s", "links": ["pci"], "source": "made up"},
            },
            "drives": {
                "sda": {"model": "WD2500JB", "channel": "a"},
                "sdb": {"model": "WD2500JB", "channel": "b"},
            },
        },
        "parameters": [
            {
                "name": "media rate",
                "paths": ["machine.drives.sda.outer_media_rate", "machine.drives.sdb.outer_media_rate"],
                "sd": "20%",
                "reason": "zone 0",
            },
            {"name": "bus", "paths": ["machine.links.pci.rate"], "sd": "20%", "reason": "bursts"},
        ],
    }


def small_document(rates: Mapping[str, float]) -> dict[str, Any]:
    """The file of a study of dd in short form, with these measured rates (MB/s, MB = 10^6) by case."""

    def case(name: str, use: str, targets: list[str]) -> dict[str, Any]:
        rate = rates[name]
        seconds = _SIZE * len(targets) / 1e6 / rate
        return {
            "id": name,
            "use": use,
            "kernel": "linux-2.4.26",
            "direction": "read",
            "targets": targets,
            "seconds": seconds,
            "rate": rate,
        }

    return {
        **_head("small"),
        "workload": {"block_size": "4KiB", "size": f"{_SIZE}B"},
        "cases": [
            case("one", "calibrate", ["sda"]),
            case("both", "calibrate", ["sda", "sdb"]),
            case("other", "predict", ["sdb"]),
        ],
        "missing": [{"id": "copy", "measured": 1, "unit": "s", "needs": "a file system"}],
    }


def runs_document(measured: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The file of a study of runs: two to fit, a stripe and a random load to predict, and claims about them."""
    values = {"one": 20.0, "both": 50_000.0, "both/seconds": 20.0, "stripe": 100.0, "load": 100.0, **(measured or {})}

    def dd(*targets: str) -> dict[str, Any]:
        return {"kind": "dd", "direction": "read", "block_size": "4KiB", "size": f"{_SIZE}B", "targets": list(targets)}

    def cell(name: str, use: str, run: str, figure: str, unit: str) -> dict[str, Any]:
        return {"id": name, "use": use, "run": run, "figure": figure, "measured": values[name], "unit": unit}

    def claim(
        name: str, left: str | list[str], right: str | list[str], low: float, high: float | None
    ) -> dict[str, Any]:
        return {"id": name, "gist": name, "where": "p. 1", "left": left, "right": right, "ratio": [low, high]}

    load = {"kind": "load", "targets": ["sda"], "duration": "1s", "warm_up": "0.1s"}
    return {
        **_head("runs"),
        "arrays": {
            "stripe": {"level": "raid0", "members": ["sda", "sdb"], "chunk": "64KiB"},
            "mirror": {"level": "raid1", "members": ["sda", "sdb"]},
        },
        "workloads": {"pair": dd("sda", "sdb"), "random": load},
        "runs": {
            "one": {"kernel": "linux-2.4.26", "workload": dd("sda")},
            "both": {"kernel": "linux-2.4.26", "workload": "pair"},
            "stripe": {"kernel": "linux-2.4.26", "workload": dd("stripe")},
            "load": {"kernel": "linux-2.4.26", "workload": "random"},
        },
        "cells": [
            cell("one", "calibrate", "one", "seconds", "s"),
            cell("both", "calibrate", "both", "rate", "KB/s"),
            cell("both/seconds", "predict", "both", "seconds", "s"),
            cell("stripe", "predict", "stripe", "rate", "MB/s"),
            cell("load", "predict", "load", "iops", "1/s"),
        ],
        "claims": [
            claim("two drives beat one", "stripe:rate", "one:rate", 1.2, None),
            claim("both take as long as one", ["both:seconds"], ["one:seconds"], 0.5, 0.9),
        ],
        "suspects": [{"claims": ["both take as long as one"], "mechanism": "a claim that is made to be wrong"}],
    }


def small_study() -> StudySpec:
    """The study in short form, measured on the model with :data:`TRUE_FACTORS`."""
    blank = validate(StudySpec, small_document(GUESS))
    return validate(StudySpec, small_document(_measured(blank)))


def runs_study() -> StudySpec:
    """The study of runs, measured on the model with :data:`TRUE_FACTORS`."""
    blank = validate(StudySpec, runs_document())
    return validate(StudySpec, runs_document(_measured(blank)))


def _measured(blank: StudySpec) -> dict[str, float]:
    builder = RunBuilder(blank, TRUE_FACTORS)
    made = {run: simulate(builder.scenario(run), Sample()) for run in blank.wanted_runs}
    return {c.id: figure_value(made[c.run], c.run, c.figure) / c.scale for c in blank.all_cells}
