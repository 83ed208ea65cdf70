"""What the page and the server need of the simulator besides the public names of `raidsim`.

They import results, and the types of results, from `api` alone; `tests/test_faces.py` checks it.
"""

from __future__ import annotations

from ...calibration.fio_study.comparison import Compared, compared
from ...calibration.formats.detect import parse
from ...calibration.uncertainty.model_interval import scenario_interval
from ...model.statistics.batch_means import Estimate
from ...model.statistics.usage import SATURATED, limit
from ...scenarios.comparison.redundancy import top_parts
from ...scenarios.questions.load_curve import CurvePoint
from ...scenarios.questions.without_bottleneck import WithoutBottleneck, is_open
from ...scenarios.running.base.prediction import Prediction, RebuildProgress
from ...scenarios.timeline.chrome_trace import chrome_trace
from ...scenarios.timeline.events import LogicalIO
from ...scenarios.timeline.timeline import Recorder, Timeline, record
from ...scenarios.traces.replay.placement import Fit

__all__ = [
    "SATURATED",
    "Compared",
    "CurvePoint",
    "Estimate",
    "Fit",
    "LogicalIO",
    "Prediction",
    "RebuildProgress",
    "Recorder",
    "Timeline",
    "WithoutBottleneck",
    "chrome_trace",
    "compared",
    "is_open",
    "limit",
    "parse",
    "record",
    "scenario_interval",
    "top_parts",
]
