"""The view of files: the link, the scenario, its Python code, results and a report; and files that a visitor brings."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from ...api.comparison import Comparison
from ...api.curve import LoadCurve
from ...api.support.explorer import Prediction
from ..figures import drawings, pictures, tables
from ..figures.report import Section, report_html
from ..form.forms import built, load_words, title, with_load_of
from ..work.explain import mean_latency, total_iops
from ..work.service import RESULT
from ..work.tasks import Explained, FailureCourse, Outcome
from .designs import course_words, settled
from .files_in import show_fio, show_machine, show_trace
from .one_design import sure_words, without_words
from .render import download
from .session import Subject, answer, result_of

_OPS = ("reads", "writes")
_BARS, _IDLE = 16, 0.005
"""Parts that the report's picture shows, and the utilization below which it leaves them out."""


def show_files(subject: Subject) -> None:
    """The scenario, the results and the link."""
    st.header("Link", anchor=False)
    if subject.form is None:
        st.markdown("An uploaded file is not part of the address of this page: pass the file on.")
    else:
        st.markdown("The address of this page has the whole form in it: copy it from the browser.")
    st.header("Scenario", anchor=False)
    st.markdown("For `raidsim run`, `raidsim compare` and the others; and the same in Python.")
    st.download_button(
        "Download scenario (YAML)", subject.built.text, "scenario.yaml", "application/yaml", on_click="ignore"
    )
    with st.expander("The scenario"):
        st.code(subject.built.text, language="yaml")
    with st.expander("The Python code of what is shown"):
        st.code(python_code(subject), language="python")
    st.header("Results", anchor=False)
    outcome: Outcome | None = answer(RESULT, subject.key)
    sections = list(_sections(subject.key))
    if outcome is not None:
        text = tables.json_text(outcome)
        st.download_button(
            "Download results (JSON)", text, "raidsim-result.json", "application/json", on_click="ignore"
        )
        found = [tables.load_table(outcome.prediction), tables.usage_table(outcome.prediction)]
        download(found, "raidsim-result", "files")
    else:
        st.markdown("Simulate this design first.")
    if sections:
        st.header("Report", anchor=False)
        st.markdown(f"One page with what was found: {', '.join(heading.lower() for heading, *_ in sections)}.")
        page = report_html(*_words(subject), sections, subject.built.text)
        st.download_button("Download report (HTML)", page, "raidsim-report.html", "text/html", on_click="ignore")
    show_machine()
    show_fio(subject)
    show_trace(subject)


def python_code(subject: Subject) -> str:
    """A program that gives the same figures: the run, the load curve, and the comparison with the designs kept."""
    lines = ["import raidsim", "", f'scenario = raidsim.Scenario.from_yaml("""\\\n{subject.built.text}""")']
    lines += ["print(raidsim.run(scenario))", "print(raidsim.load_curve(scenario))"]
    form = subject.form
    kept = () if form is None else st.session_state.state.kept
    names = ["scenario"]
    for number, design in enumerate(kept, start=2):
        text = built(with_load_of(design, form or design)).text
        names.append(f"design_{number}")
        lines.append(f'{names[-1]} = raidsim.Scenario.from_yaml("""\\\n{text}""")')
    if kept:
        lines.append(f"print(raidsim.compare([{', '.join(names)}]).to_frame())")
    return "\n".join(lines) + "\n"


def _words(subject: Subject) -> tuple[str, str]:
    """The design and its load."""
    if subject.form is not None:
        return title(subject.form), load_words(subject.form)
    spec = subject.built.spec
    return (spec.name if spec is not None else "a scenario"), "The scenario is an uploaded file."


def _sections(key: str) -> Iterator[Section]:
    """What the views found out about a design so far."""
    outcome: Outcome | None = answer(RESULT, key)
    if outcome is not None:
        prediction = outcome.prediction
        words = [f"{name}: {value}" for name, value in tables.headline(prediction, False)]
        said = [", ".join(words) + ".", f"Bottleneck: {prediction.bottleneck}."]
        if outcome.without is not None:
            said.append(without_words(prediction, outcome.without))
        said.append(sure_words(outcome.result.spec, prediction))
        shown = [(tables.load_table(prediction), "Throughput and latencies of the load")]
        if prediction.phases:
            shown.append((tables.phases_table(prediction), "Parts of the day"))
        if prediction.loads:
            shown.append((tables.loads_table(prediction), "Each of the loads"))
        shown.append((tables.usage_table(prediction), "Utilization of every part, highest first"))
        yield "Result", said, [each for each in shown if each[0].rows], result_pictures(prediction)
    curve: LoadCurve | None = result_of("curve", key)
    if curve is not None:
        yield (
            "Load curve",
            [],
            [(tables.curve_table(curve), "Response time against offered load")],
            [curve_lines(curve)],
        )
    compared: Comparison | None = result_of("compare", key)
    if compared is not None:
        caption = f"{compared.found.replications} runs of each design with the same requests"
        found = [(tables.comparison_table(compared), caption)]
        if compared.settings.rebuild:
            found.append((tables.plan_table(compared), "Capacity, failures, rebuilds, risk and cost"))
        yield "Comparison", [], found, [comparison_bars(compared)]
    failed: FailureCourse | None = result_of("failure", key)
    if failed is not None:
        course = [(tables.course_table(failed.course), "The run piece by piece")]
        yield "Failure", [course_words(failed)], course, [course_lines(failed)]
    explained: Explained | None = result_of("explain", key)
    if explained is not None:
        base = explained.base
        shown_effects = tables.effects_table(explained.effects, total_iops(base), mean_latency(base))
        caption = "The load with and without each mechanism"
        yield "Explanation", [each.words for each in explained.effects], [(shown_effects, caption)], []


def result_pictures(prediction: Prediction) -> list[str]:
    """Utilization of the parts, and the share of the I/Os that are complete within a latency."""
    ranked = sorted(prediction.usages, key=lambda each: -each.utilization)
    busiest = [each for each in ranked if each.utilization >= _IDLE][:_BARS] or ranked[:1]
    drawn = [
        drawings.bars(
            [(each.name, each.utilization, f"{100 * each.utilization:.0f} %") for each in busiest],
            "Utilization of the parts, highest first",
        )
    ]
    if not prediction.saturated and prediction.latency_bins:
        points = pictures.latency_shares(prediction)["data"]["values"]
        series = [(op, [(each["ms"], each["share"]) for each in points if each["op"] == op]) for op in _OPS]
        known = [each for each in series if each[1]]
        caption = "Share of the I/Os that are complete within a latency"
        drawn.append(drawings.lines(known, "latency (ms)", "% of I/Os", caption, log_x=True))
    return drawn


def curve_lines(curve: LoadCurve) -> str:
    """Response time over the offered load."""
    points = [each for each in curve.points if not each.saturated]
    series = [
        ("mean", [(each.offered_iops, 1e3 * each.mean_s) for each in points]),
        ("99 %", [(each.offered_iops, 1e3 * each.p99_s) for each in points]),
    ]
    return drawings.lines(series, "offered load (I/Os per second)", "ms", "Response time against offered load")


def comparison_bars(found: Comparison) -> str:
    """Throughput of the designs."""
    values = [(each.name, each.iops, f"{each.iops:,.0f}") for each in found if each.refused is None]
    return drawings.bars(values, "I/Os per second of each design")


def course_lines(found: FailureCourse) -> str:
    """I/Os per second over the run."""
    points = [((each.begin_s + each.end_s) / 2, each.iops) for each in settled(found.course)]
    caption = f"I/Os per second; the disk fails at {found.failed_s:.3g} s"
    return drawings.lines([("I/Os per second", points)], "time (s)", "I/Os per second", caption)
