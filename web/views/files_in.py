"""Files that a visitor brings: outputs of a machine's tools, jobs of fio with what fio measured, and traces."""

from __future__ import annotations

import hashlib

import streamlit as st

from ... import InputError
from ...api.answer.numbers import number
from ...api.answer.tree import Column, Table
from ...api.answer.units import format_duration
from ...api.inspection import Inspection, inspect
from ...api.replay import Replay
from ...api.support.explorer import Fit
from ...api.support.files import decoded
from ...api.tables.fio import compared
from ...api.tables.parts.usages import every_usage
from ...api.tables.run import latencies
from ..figures.markup import plain
from ..figures.tables import headline
from ..form.choices import MOST_DEPTH
from ..work.file_tasks import FioAnswer, FioTask, ReplayTask
from .form_panel import plain_name
from .render import asked, download, table
from .session import Subject, take_file

MOST_FILES = 24
MOST_SPEEDUP = 1000.0
_FITS: dict[Fit, str] = {"refuse": "are refused", "wrap": "begin again at the front", "scale": "are scaled to fit"}


def show_machine() -> None:
    """A machine from what its tools printed."""
    st.header("A machine that is there", anchor=False)
    st.markdown(
        "The output of `cat /proc/mdstat`, `mdadm --detail`, `lsblk`, `smartctl`, `storcli` and others becomes a "
        "scenario, as with `raidsim inspect`."
    )
    files = st.file_uploader(
        "Outputs of tools (text, up to 1 MiB each)", accept_multiple_files=True, key="printed", max_upload_size=1
    )
    if not files:
        return
    try:
        found = _inspected([(plain_name(file.name), file.getvalue()) for file in files[:MOST_FILES]])
    except InputError as error:
        st.error(plain(f"{error.place}: {error.found}; {error.expected}"), icon=":material/block:")
        return
    st.success(plain(f"{len(found.found.found)} values read, {len(found.found.assumed)} assumed."))
    for note in found.notes:
        st.markdown(f"- {plain(note)}")
    with st.expander("The scenario, with the source of every value"):
        st.code(found.text, language="yaml")
    st.button("Explore this machine", on_click=take_file, args=(found.text.encode(), "machine.yaml"), key="explore")


def _inspected(files: list[tuple[str, bytes]]) -> Inspection:
    texts = [decoded(raw, name) for name, raw in files]
    return inspect(*(f"{text}\n" for text in texts), name="inspected", progress=False)


def show_fio(subject: Subject) -> None:
    """Jobs of fio on the design, next to what fio measured."""
    st.header("Jobs of fio", anchor=False)
    st.markdown(
        "A job file runs on the design shown here; with fio's results of the same jobs, both stand side by side."
    )
    left, right = st.columns(2)
    jobs = left.file_uploader("Job file of fio", key="fio_jobs", max_upload_size=1)
    report = right.file_uploader("Results of fio (JSON or text)", key="fio_report", max_upload_size=1)
    if jobs is None or subject.built.scenario is None:
        return
    scenario = subject.built.scenario
    try:
        job = f"{decoded(jobs.getvalue(), plain_name(jobs.name))}\n"
        measured = "" if report is None else f"{decoded(report.getvalue(), plain_name(report.name))}\n"
    except InputError as error:
        st.error(plain(f"{error.place}: {error.found}; {error.expected}"), icon=":material/block:")
        return
    print_of_both = hashlib.sha256(f"{job}\0{measured}".encode()).hexdigest()
    key = f"{subject.key} {print_of_both}"
    found: FioAnswer | None = asked("fio", key, lambda: FioTask(job, scenario, measured), "Run the jobs")
    if found is None:
        return
    st.markdown(f"**Bottleneck:** {plain(found.bottleneck)}")
    shown = compared(found.compared, "Predicted next to measured") if measured else jobs_table(found)
    table(shown)
    for note in found.notes:
        st.markdown(f"- {plain(note)}")
    download([shown], "raidsim-fio", "csv_fio")


def jobs_table(found: FioAnswer) -> Table:
    """Every job in each direction, as fio reports it."""
    rows = []
    for row in found.report["jobs"]:
        for op in ("read", "write"):
            figures = row[op]
            if figures["total_ios"]:
                p99 = figures["clat_ns"].get("percentile", {}).get("99.000000")
                p99 = None if p99 is None else 1e-9 * p99
                head, rate = (row["jobname"], op), figures["bw_bytes"]
                rows.append((*head, float(figures["iops"]), rate, 1e-9 * figures["lat_ns"]["mean"], p99))
    columns = [Column("job"), Column("direction"), Column("I/Os per s", show=number)]
    columns.append(Column("MB/s", show=number, scale=1e-6))
    columns += [Column(name, "ms", number, 1e3) for name in ("mean", "99 %")]
    return Table("What fio would report", columns, rows, keys=2)


def show_trace(subject: Subject) -> None:
    """A recorded trace on the design."""
    st.header("A recorded trace", anchor=False)
    st.markdown(
        "The I/Os that a real machine recorded (`blktrace`, `blkparse`, fio's I/O logs, SPC, MSR and other formats; "
        "also packed) run on the design shown here, instead of its load."
    )
    file = st.file_uploader("Trace (up to 1 MiB)", key="trace", max_upload_size=1)
    left, middle, right = st.columns(3)
    fit = left.selectbox(
        "I/Os beyond the end of the array", list(_FITS), format_func=_FITS.__getitem__, key="trace_fit"
    )
    depth = int(middle.number_input("Outstanding I/Os (0: at their times)", 0, MOST_DEPTH, key="trace_depth"))
    speedup = right.number_input("Divide the times by", 0.001, MOST_SPEEDUP, value=1.0, key="trace_speedup",
                                 disabled=depth > 0)  # fmt: skip
    if file is None or subject.built.scenario is None:
        return
    scenario, content = subject.built.scenario, file.getvalue()
    key = f"{subject.key} {hashlib.sha256(content).hexdigest()} {fit} {depth} {speedup}"
    found: Replay | None = asked(
        "replay", key, lambda: ReplayTask(content, scenario, fit, speedup, depth), "Replay the trace"
    )
    if found is None:
        return
    prediction = found.prediction
    st.markdown(f"**{found.completed:,} I/Os on {plain(found.found.target)}.** {plain(_course_of(found))}")
    with st.container(horizontal=True, key="trace_figures"):
        for name, value in headline(prediction, depth == 0):
            st.metric(name, value, border=True)
    st.markdown(f"**Bottleneck:** {plain(prediction.bottleneck)}")
    shown = [latencies(prediction), every_usage(prediction)]
    table(shown[0], "Throughput and latencies of the trace (ms)")
    table(shown[1], "Utilization of every part during the trace, highest first")
    for note in found.notes:
        st.markdown(f"- {plain(note)}")
    download(shown, "raidsim-replay", "csv_replay")


def _course_of(found: Replay) -> str:
    """How long the trace is, and how far the array was behind it."""
    drained = found.found.drained_s
    behind = "" if drained is None else f" All are complete {format_duration(drained)} after the last came."
    return f"They came within {format_duration(found.found.survey.length_s)} when they were recorded.{behind}"
