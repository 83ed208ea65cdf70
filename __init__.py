"""raidsim predicts how fast a storage array will be before anyone builds it.

`Scenario` is a machine with its arrays and a load; `run`, `compare`, `load_curve`, `advise` and `sweep` ask what it
does. Their answers are values with numbers in SI units. Nothing is loaded before it is used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .compiled.loader import install as _install

if TYPE_CHECKING:
    from .api.advice import Advice, advise
    from .api.base import Table
    from .api.capacity import Capacity, capacity
    from .api.catalogue import drives, studies
    from .api.comparison import Comparison, compare
    from .api.curve import LoadCurve, load_curve
    from .api.diagnosis import Diagnosis, diagnose
    from .api.figures import Interval, Latency
    from .api.fio import FioResult, fio
    from .api.inspection import Inspection, inspect
    from .api.layout import LayoutMap, layout
    from .api.learning import EmulatedScenario, LearnedBox, emulate, learn
    from .api.replay import Replay, replay
    from .api.result import Result
    from .api.run import run
    from .api.scenario import Scenario
    from .api.sensitivity import Sensitivity, sensitivity
    from .api.studies import Calibration, Predictions, Validation, calibrate, predict, validate
    from .api.sweep import Sweep, sweep
    from .model.core.errors import InputError, RaidsimError

__version__ = "0.3.0"

_WHERE = {
    "api.advice": ("Advice", "advise"),
    "api.base": ("Table",),
    "api.capacity": ("Capacity", "capacity"),
    "api.catalogue": ("drives", "studies"),
    "api.comparison": ("Comparison", "compare"),
    "api.curve": ("LoadCurve", "load_curve"),
    "api.diagnosis": ("Diagnosis", "diagnose"),
    "api.figures": ("Interval", "Latency"),
    "api.fio": ("FioResult", "fio"),
    "api.inspection": ("Inspection", "inspect"),
    "api.layout": ("LayoutMap", "layout"),
    "api.learning": ("EmulatedScenario", "LearnedBox", "emulate", "learn"),
    "api.replay": ("Replay", "replay"),
    "api.result": ("Result",),
    "api.run": ("run",),
    "api.scenario": ("Scenario",),
    "api.sensitivity": ("Sensitivity", "sensitivity"),
    "api.studies": ("Calibration", "Predictions", "Validation", "calibrate", "predict", "validate"),
    "api.sweep": ("Sweep", "sweep"),
    "model.core.errors": ("InputError", "RaidsimError"),
}
"""Public names by the module that has them."""
_MODULE = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "Advice",
    "Calibration",
    "Capacity",
    "Comparison",
    "Diagnosis",
    "EmulatedScenario",
    "FioResult",
    "InputError",
    "Inspection",
    "Interval",
    "Latency",
    "LayoutMap",
    "LearnedBox",
    "LoadCurve",
    "Predictions",
    "RaidsimError",
    "Replay",
    "Result",
    "Scenario",
    "Sensitivity",
    "Sweep",
    "Table",
    "Validation",
    "__version__",
    "advise",
    "calibrate",
    "capacity",
    "compare",
    "diagnose",
    "drives",
    "emulate",
    "fio",
    "inspect",
    "layout",
    "learn",
    "load_curve",
    "predict",
    "replay",
    "run",
    "sensitivity",
    "studies",
    "sweep",
    "validate",
]

_install()


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _MODULE:
        # With the name, Python adds the closest one that there is.
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    from importlib import import_module

    return getattr(import_module(f".{_MODULE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
