"""A study small enough to fit in a test: three reads of two drives behind one bus, "measured" on the model itself."""

from __future__ import annotations

from typing import Any

from raidsim.calibration.study import CaseBuilder, StudySpec
from raidsim.model.spec_errors import validate
from raidsim.scenarios.run import simulate
from raidsim.scenarios.sample import Sample
from raidsim.tests.scenarios.small_machine import PRICES

TRUE_FACTORS = {"media rate": 1.12, "bus": 0.94}

_PRICES = {**PRICES, "read_call": "0.5us", "copy_rate": "2GB/s"}


def small_document(rates: dict[str, float]) -> dict[str, Any]:
    """The study's file, with these measured rates (MB/s, MB = 10^6) by case."""
    size = 1 << 30

    def case(name: str, use: str, targets: list[str]) -> dict[str, Any]:
        rate = rates[name]
        seconds = size * len(targets) / 1e6 / rate
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
        "id": "small",
        "title": "A small study",
        "source": {"author": "nobody", "date": "2026-01-01", "where": "the model", "notes": "made by the model"},
        "conventions": {"MB": 1000000},
        "workload": {"block_size": "4KiB", "size": f"{size}B"},
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
        "cases": [
            case("one", "calibrate", ["sda"]),
            case("both", "calibrate", ["sda", "sdb"]),
            case("other", "predict", ["sdb"]),
        ],
        "open_cases": [
            {"id": "copy", "use": "predict", "megabytes": 1, "seconds": 1, "rate": 1, "needs": "a file system"}
        ],
    }


def small_study() -> StudySpec:
    """The study, measured on the model with :data:`TRUE_FACTORS`."""
    blank = validate(StudySpec, small_document({"one": 60.0, "both": 100.0, "other": 60.0}))
    builder = CaseBuilder(blank, TRUE_FACTORS)
    rates = {case.id: simulate(builder.scenario(case), Sample()).rate / 1e6 for case in blank.cases}
    return validate(StudySpec, small_document(rates))
