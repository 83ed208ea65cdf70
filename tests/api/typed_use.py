"""Uses every public name with its types; `make check` has mypy read it in strict mode. Nothing here is run."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import raidsim
from raidsim import (
    Advice,
    Calibration,
    Capacity,
    Comparison,
    Diagnosis,
    EmulatedScenario,
    FioResult,
    InputError,
    Inspection,
    Interval,
    Latency,
    LayoutMap,
    LearnedBox,
    LoadCurve,
    Predictions,
    RaidsimError,
    Replay,
    Result,
    Scenario,
    Sensitivity,
    Sweep,
    Table,
    Validation,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def all_of_it() -> str:
    """Every question, and what its answer is."""
    base = Scenario.load("database-server").with_(layout="raid6", disks=12, machine__cpu__cores=8)
    own = Scenario(machine="nas", array="raid5", workload={"kind": "load"}, name="own")
    again: Scenario = Scenario.from_yaml(own.to_yaml(full=True))
    result: Result = raidsim.run(base, seed=1, precision=0.02, progress=False)
    number: float = result.iops + result.throughput + result.latency.p99 + result.reads.latency.mean
    latency: Latency = result.latency
    interval: Interval = result.interval("iops")
    busiest: str = result.busiest + result.cause
    axes: tuple[Axes, ...] = result.plot("timeline")
    found: Comparison = raidsim.compare([base, again], workers=2)
    named: Comparison = raidsim.compare({"as it is": base, "again": again}, span="100GB")
    guesses: list[float | None] = [result.read_p99, result.write_p50, result.power, named[0].read_p99, named[0].cost]
    varied: Comparison = raidsim.compare("home-nas", layout=["raid5", "raid10"], curve=True)
    curve: LoadCurve | None = varied["raid10"].curve
    best: float = found.best("iops").interval("iops").high
    knee: LoadCurve = raidsim.load_curve(base, points=8)
    advice: Advice = raidsim.advise({"load": {"total_iops": 100}})
    swept: Sweep = raidsim.sweep(base, depth=[1, 2], executor=ProcessPoolExecutor(2), store="kept.sqlite")
    room: Capacity = raidsim.capacity("raid6", 8, size="18TB")
    layout: LayoutMap = raidsim.layout("raid5", 5, "64KiB")
    predicted: Predictions = raidsim.predict("gentoo-2004", workers=0)
    judged: Validation = raidsim.validate()
    fitted: Calibration = raidsim.calibrate("measured", drive="WD5000AAKS")
    jobs: FioResult = raidsim.fio("[job]\nrw=read\n", fitted.scenario())
    played: Replay = raidsim.replay("trace.csv", base, speedup=2.0)
    played = raidsim.replay(b"0,0,4096,r,0.5", base)
    tables: list[Table] = [raidsim.drives(), raidsim.studies()]
    moved: Sensitivity = raidsim.sensitivity(base, figure="iops", parameters=["machine.memory=20%"])
    seen: Inspection = raidsim.inspect("mdstat.txt")
    wrong: Diagnosis = raidsim.diagnose("mdstat.txt", measured=["fio.json"])
    causes: tuple[str, ...] = wrong.causes
    box: LearnedBox = raidsim.learn("box.csv", seed=1)
    rates = [each.rate for each in box.predict("block_size=4KiB,read_share=70%")]
    slider: EmulatedScenario = raidsim.emulate(base, {"depth": (1, 64)}, within=0.05)
    rates += [slider.rate(depth=8).value, slider.simulated(depth=8)]
    try:
        text: str = raidsim.run(seen.scenario).to_json()
    except InputError as error:
        text = error.place
    except RaidsimError as error:
        text = str(error)
    words = [
        text,
        busiest,
        *causes,
        raidsim.__version__,
        repr((guesses, latency, interval, curve, axes, tables, box, rates)),
    ]
    words += [repr(each) for each in (knee, advice, swept, room, layout, predicted, judged, jobs, played, moved)]
    return " ".join([*words, str(number + best), str(result.to_dict()["iops"]), str(len(varied.to_frame()))])
