"""The views of one design: what a run gives, the layout, the load curve, and single I/Os."""

from __future__ import annotations

import math

import streamlit as st

from ...api.answer.tree import Answer
from ...api.answer.units import format_duration
from ...api.curve import LoadCurve
from ...api.scenario import Scenario
from ...api.support.explorer import (
    Prediction,
    Timeline,
    WithoutBottleneck,
    is_open,
    limit,
    scenario_interval,
)
from ...api.tables.curve import curve_table, knee_words
from ...api.tables.parts.usages import every_usage
from ...api.tables.parts.waits import wait_lines, waits_table
from ...api.tables.pool_map import PoolMap
from ...api.tables.run import latencies, loads, phases, unsettled
from ...scenarios.description.any_workload import LoadsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ..figures import pictures, tables
from ..figures.markup import plain
from ..form.forms import built, first_load
from ..work.layout_map import layout_html, layout_map, layout_words
from ..work.service import RESULT
from ..work.tasks import CurveTask, Outcome, RunTask, TimelineTask
from .render import answered, asked, download, picture, table
from .session import Subject, under_way

MOST_LOST = 3
MOST_POOL_BLOCKS = 4
"""Sizes of blocks that are drawn of a pool."""
_NOT_KNOWN = "What there would be without that was not simulated to its end."


def show_result(subject: Subject) -> None:
    """Throughput, latencies, what was busy, and what limits."""
    outcome: Outcome | None = asked(RESULT, subject.key, lambda: RunTask(_scenario(subject)), "Simulate", auto=True)
    if outcome is None:
        return
    spec, prediction = outcome.result.spec, outcome.prediction
    with st.container(horizontal=True, key="figures"):
        for name, value in tables.headline(prediction, is_open(spec)):
            st.metric(name, value, border=True)
    for words in unsettled(prediction):
        st.warning(plain(words))
    if prediction.saturated:
        st.warning("More I/Os come than can be done: they wait longer and longer, so there is no latency to tell.")
    st.markdown(f"**Bottleneck:** {plain(prediction.bottleneck)}")
    for words in wait_lines(prediction):
        st.markdown(plain(f"{words[0].upper()}{words[1:]}."))
    if outcome.without is not None:
        st.markdown(plain(without_words(prediction, outcome.without)))
    elif not outcome.known:
        st.markdown("What there would be without that is simulated next." if under_way(RESULT) else _NOT_KNOWN)
    left, right = st.columns(2)
    with left:
        st.header("Utilization of every part", anchor=False)
        picture(pictures.usage_bars(prediction), _busy_words(prediction))
    with right:
        st.header("Latency", anchor=False)
        if prediction.saturated or not prediction.latencies:
            st.markdown("None to tell.")
        else:
            picture(pictures.latency_shares(prediction), _latency_words(prediction))
    load, parts = latencies(prediction), every_usage(prediction)
    if load.rows:
        table(load, "Throughput and latencies of the load (ms)")
    if prediction.phases:
        table(phases(prediction), "Parts of the day; all else on this page is the mean of the day")
    if prediction.loads:
        table(loads(prediction), "Each load; all else on this page is of all loads together")
    if prediction.waits:
        with st.expander("What the mean latency is made of"):
            table(waits_table(prediction), "What the mean latency is made of, without remainder")
    with st.expander("The parts as a table"):
        table(parts, "Utilization of every part, highest first")
    recovery = outcome.result.rebuild
    if recovery is not None:
        st.markdown(plain(rebuild_words(recovery.whole.rate, recovery.degraded.rate, prediction.rate)))
    for rebuild in prediction.rebuilds:
        whole = format_duration(rebuild.duration_s) if math.isfinite(rebuild.duration_s) else "for ever"
        st.markdown(plain(f"The rebuild moves at {rebuild.rate / 1e6:.3g} MB/s a disk; at this rate it takes {whole}."))
    st.caption(plain(sure_words(spec, prediction)))
    download([load, parts], "raidsim-result", "csv_result")


def rebuild_words(whole: float, degraded: float, rebuilding: float) -> str:
    """The load's throughput (bytes/s) on the whole array, without the disk, and during the rebuild."""
    rates = [f"{rate / 1e6:.3g} MB/s {when}" for rate, when in ((whole, "on the whole array"),
             (degraded, "without the disk"), (rebuilding, "during the rebuild"))]  # fmt: skip
    return f"The load: {', '.join(rates)}."


def without_words(prediction: Prediction, without: WithoutBottleneck) -> str:
    """What would happen without what limits."""
    then, now = sum(without.prediction.iops.values()), sum(prediction.iops.values())
    more = abs(then - now) > 0.02 * now  # programs may find all in memory, before and then
    gained = f"{then:,.0f} instead of {now:,.0f} I/Os per second" if more else "no more I/Os"
    return f"With {without.what}: {gained}; {without.then}."


def sure_words(spec: ScenarioSpec, prediction: Prediction) -> str:
    """How far all that may be off."""
    interval = scenario_interval(spec)
    own = "± is the 90 % interval of this simulation alone. " if "iops" in prediction.estimates else ""
    if interval is None:
        return f"{own}How far such figures are off on real machines is not known: too few reports give any."
    low, high = interval.around(prediction.rate / 1e6)
    return (
        f"{own}On real machines, 90 % of measured rates were within a factor of {interval.factor:.2g} of the "
        f"prediction ({low:.3g} to {high:.3g} MB/s here). Evidence: {interval.evidence}."
    )


def _busy_words(prediction: Prediction) -> str:
    busiest = sorted(prediction.usages, key=lambda each: -each.utilization)[:12]
    bars = ", ".join(f"{each.name} {100 * each.utilization:.0f} %" for each in busiest)
    found = limit(prediction.usages)
    role = "" if found is None else f" {'Limits' if found.saturated else 'Busiest'}: {found.words}."
    return f"Bars: {bars}.{role}"


def _latency_words(prediction: Prediction) -> str:
    told = [
        f"{op}s: half within {format_duration(known['p50_s'])}, 99 % within {format_duration(known['p99_s'])}"
        for op, known in prediction.latencies.items()
    ]
    return f"Share of the I/Os that are over within a time. {'; '.join(told)}."


def show_layout(subject: Subject) -> None:
    """Where data, copies and parity lie, also without some disks."""
    spec = _spec(subject)
    if spec.pools and not spec.arrays:
        _show_pools(spec)
        return
    if not spec.arrays:
        st.info("There is no array: the load goes to the drives themselves.")
        return
    name = next(iter(spec.arrays))
    if len(spec.arrays) > 1:
        name = st.selectbox("Array", list(spec.arrays), key="layout_array")
    array = spec.arrays[name]
    first = [place for place, member in enumerate(array.members) if member in array.failed]
    lost = st.multiselect(
        "Disks that are lost",
        range(len(array.members)),
        default=first,
        max_selections=max(MOST_LOST, len(first)),
        format_func=lambda place: f"disk {place}",
        key=f"lost_{name}_{len(array.members)}_{len(first)}",
    )
    found = layout_map(array, frozenset(lost))
    words = layout_words(found)
    if words:
        (st.success if found.kept else st.error)(words)
    st.html(layout_html(found, f"The first {found.rows} rows of {name}, {array.level} of {found.disks} disks"))


def _show_pools(spec: ScenarioSpec) -> None:
    for name, drawn in pool_maps(spec).items():
        st.markdown(plain(f"The first vdev of {name}, {drawn.title}: two blocks of each size on it."))
        answered(drawn, f"raidsim-layout-{name}", f"csv_layout_{name}")


def pool_maps(spec: ScenarioSpec) -> dict[str, Answer]:
    """Where blocks of each pool's volumes and files lie in its first vdev."""
    found = {}
    for name, pool in spec.pools.items():
        vdev = next(each for each in pool.vdevs if each.use == "data")
        sizes = dict.fromkeys(each.stored_bytes or each.block_bytes for each in pool.datasets.values()) or [128 << 10]
        blocks = [size for size in list(sizes)[:MOST_POOL_BLOCKS] for _ in range(2)]
        lost = frozenset(number for number, member in enumerate(vdev.members) if member in pool.failed)
        found[name] = PoolMap(f"{vdev.kind} {' '.join(vdev.members)}", blocks, pool.ashift, 0, lost).answer(None)
    return found


def show_curve(subject: Subject) -> None:
    """Response time against offered load."""
    spec, scenario = _spec(subject), _scenario(subject)
    if subject.form is None and not isinstance(spec.workload, LoadSpec):
        st.info(needs_one_load("A load curve", spec))
        return
    if subject.form is not None:
        scenario = built(first_load(subject.form)).scenario or scenario
    alone = " Of several loads, it is the first one alone." if subject.form and subject.form.loads > 1 else ""
    st.markdown(f"The same I/Os arrive at a rate, from a low one up to more than the array serves.{alone}")
    curve: LoadCurve | None = asked("curve", subject.key, lambda: CurveTask(scenario), "Draw the load curve")
    if curve is None:
        return
    words = knee_words(curve.found)
    st.markdown(plain(words))
    picture(pictures.curve_picture(curve), f"Response time against offered load. {words}")
    found = curve_table(curve.found, "The load curve")
    table(found)
    download([found], "raidsim-load-curve", "csv_curve")


def show_ios(subject: Subject) -> None:
    """The first I/Os, and the commands that each became."""
    st.markdown("What one I/O of the load becomes on the disks: thick bars are service, thin lines are waits.")
    spec = _spec(subject)
    recorded = recorded_words(spec)
    if recorded:
        st.markdown(plain(recorded))
    timeline: Timeline | None = asked(
        "ios", subject.key, lambda: TimelineTask(_scenario(subject)), "Record single I/Os", auto=True
    )
    if timeline is None:
        return
    if not timeline.ios:
        pools = " Those on pools cannot be: one request of a member serves blocks of several." if spec.pools else ""
        st.info(f"No I/O of the load was recorded.{pools}")
        return
    fan = tables.fan_out_table(timeline)
    st.markdown(f"**{plain(fan_words(timeline))}**")
    key = f"io_{len(timeline.ios)}"
    st.number_input(
        f"Number of the I/O (0 to {len(timeline.ios) - 1})", 0, len(timeline.ios) - 1, value=typical(timeline), key=key
    )
    number = int(st.session_state[key])
    io = timeline.ios[number]
    if io.ended_s is not None:
        took = format_duration(io.ended_s - io.began_s)
        st.markdown(plain(f"A {io.op} of {io.size / 1024:g} KiB at byte {io.offset:,}; latency {took}."))
    waits, one = tables.io_waits_table(timeline, number), tables.commands_table(timeline, number)
    told = f"What I/O {number} spent its time on, and its commands in time; the tables have all."
    picture(pictures.one_io_picture(timeline, number), told)
    table(waits)
    table(one)
    st.header("The first hundred I/Os, disk by disk", anchor=False)
    picture(
        pictures.timeline_picture(timeline),
        "Commands of each disk in time, for the recorded I/Os; those of parity are narrow, writes are dark.",
    )
    table(fan)
    download([fan, waits, one], "raidsim-ios", "csv_ios")


def needs_one_load(view: str, spec: ScenarioSpec) -> str:
    """Why a view cannot show a file whose workload is something else."""
    several = isinstance(spec.workload, LoadsSpec)
    found = "several loads at the same time" if several else "a workload of another kind"
    return f"{view} needs one load of direct I/O; this file has {found}. Result has the figures of all of it."


def recorded_words(spec: ScenarioSpec) -> str:
    """Which part of a day the recorded I/Os are from; "" if the load is the same all day."""
    workload = spec.workload
    parts = workload.parts() if isinstance(workload, LoadSpec | LoadsSpec) else ()
    return f"The I/Os are from the last part of the day ({parts[-1][0]})." if len(parts) > 1 else ""


def typical(timeline: Timeline) -> int:
    """The write with the median latency; of a load without writes, the read."""
    for op in ("write", "read"):
        known = [(io.ended_s - io.began_s, io.number) for io in timeline.ios if io.op == op and io.ended_s is not None]
        if known:
            return sorted(known)[len(known) // 2][1]
    return 0


def fan_words(timeline: Timeline) -> str:
    """What a write and a read cost on average."""
    said = []
    for op in ("write", "read"):
        numbers = {io.number for io in timeline.ios if io.op == op}
        if numbers:
            commands = sum(len(numbers.intersection(each.causes)) for each in timeline.commands)
            each = f"{commands / len(numbers):.2g}"
            said.append(f"{each} command{'' if each == '1' else 's'} for each {op}")
    return f"On average {' and '.join(said)} of the load."


def _spec(subject: Subject) -> ScenarioSpec:
    assert subject.built.spec is not None
    return subject.built.spec


def _scenario(subject: Subject) -> Scenario:
    assert subject.built.scenario is not None
    return subject.built.scenario
