"""The views that need designs in addition to the form's: a comparison, a failure, and what each mechanism costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from ... import InputError
from ...api.advice import OFFERED_LEVELS
from ...api.answer.numbers import decimal_size
from ...api.answer.units import format_duration
from ...api.comparison import Comparison
from ...api.scenario import Scenario
from ...api.tables.parts.waits import waits_table
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.documents.document import Document
from ..figures import pictures, pictures_of_designs, tables
from ..figures.markup import plain
from ..form.choices import Range, offer
from ..form.fields import LABELS, Form
from ..form.forms import (
    built,
    can_fail,
    changed,
    difference,
    fitted,
    level_words,
    load_words,
    title,
    with_load_of,
)
from ..form.state import MOST_KEPT
from ..work.explain import mean_latency, total_iops, variants
from ..work.tasks import CompareTask, CoursePart, Explained, ExplainTask, FailureCourse, FailureTask
from ..work.uploaded_file import DIFFERS, failing, file_variants, other
from .one_design import needs_one_load
from .render import answered, asked, download, picture, table
from .session import Subject, set_form, set_kept, widget_key


def show_compare(subject: Subject) -> None:
    """Up to four designs under the same load."""
    form = subject.form
    if form is None:
        _compare_files(subject)
        return
    kept: tuple[Form, ...] = st.session_state.state.kept
    st.markdown("Up to four designs serve the same I/Os at the same times. The first is the one in the form.")
    full = len(kept) >= MOST_KEPT
    there = {form.level, *(design.level for design in kept)}
    others = [level for level in OFFERED_LEVELS if level not in there]
    with st.container(horizontal=True, key="add"):
        for level in others:
            added = fitted(changed(form, {"level": level}))[0]
            more = (*kept, added)
            st.button(f"Add {level_words(level)}", on_click=set_kept, args=(more,), disabled=full, key=f"add_{level}")
        st.button(
            "Keep this design",
            on_click=set_kept,
            args=((*kept, form),),
            disabled=full,
            help="Keep the design of the form, then change the form: for other drives, chunks or numbers of disks.",
            key="keep",
        )
    for place, design in enumerate(kept):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept_{place}"):
            st.markdown(f"{place + 2}. {plain(_name(design, form))}", width="stretch")
            rest = (*kept[:place], *kept[place + 1 :])
            st.button("Remove", key=f"drop_{place}", on_click=set_kept, args=(rest,), help=title(design))
            st.button("Show", key=f"show_{place}", on_click=set_form, args=(with_load_of(design, form),))
    if not kept:
        st.info("Add a level, or keep this design and change the form.")
        return
    designs = [form, *(with_load_of(design, form) for design in kept)]
    key = f"{subject.key} {designs!r}"
    found: Comparison | None = asked("compare", key, lambda: _compare_task(designs), "Compare")
    if found is not None:
        _show_comparison(found, load_words(form))


def _compare_files(subject: Subject) -> None:
    """The file's design next to the same with other values."""
    document = _document(subject)
    st.markdown("The file's design, and the same with other values: all get the same I/Os at the same times.")
    name = st.selectbox("What differs", list(DIFFERS), format_func=lambda each: DIFFERS[each][0], key="file_differs")
    chosen = st.multiselect(
        "Values in addition to the file's own", DIFFERS[name][1], max_selections=MOST_KEPT, key="file_with"
    )
    if not chosen:
        st.info("No other value is chosen yet.")
        return
    named: list[tuple[str, Scenario]] = [("1. as in the file", _scenario(subject))]
    for value in chosen:
        try:
            named.append((f"{len(named) + 1}. {DIFFERS[name][0]}: {value}", other(document, {name: value})))
        except InputError as error:
            st.warning(plain(f"{value} cannot be: {error.found}; {error.expected}"))
    key = f"{subject.key} {name} {chosen!r}"
    found: Comparison | None = asked("compare", key, lambda: CompareTask(tuple(named)), "Compare")
    if found is not None:
        _show_comparison(found, "the file's load")


def _show_comparison(found: Comparison, load: str) -> None:
    left, right = st.columns(2)
    with left:
        st.header("Throughput", anchor=False)
        picture(
            pictures_of_designs.comparison_picture(found),
            "Bars: I/Os per second of each design, with the 90 % interval; the table has the numbers.",
        )
    with right:
        st.header("Latency", anchor=False)
        picture(
            pictures_of_designs.latency_picture(found),
            "Points: mean latency and that of 99 % of the reads and writes of each design; the table has the numbers.",
        )
    if found.span is not None:
        st.caption(plain(span_words(found.span)))
    st.caption(plain(f"{len(found)} designs under {load}."))
    answered(found.answer(), "raidsim-comparison", "csv_compare")


def span_words(span: int) -> str:
    """Which part of the designs was compared, and why other pages show other figures."""
    return (
        f"Every design gets its I/Os on its first {decimal_size(span)}, the capacity of the smallest one. A larger "
        "design is faster there than on all of its capacity (page Result): its seeks are shorter, and it has fewer "
        "bitmap pages to write."
    )


def _name(design: Form, first: Form) -> str:
    """A design's title, and what else is other than in the first."""
    other = difference(design, first)
    return f"{title(design)} ({other})" if other else title(design)


def _compare_task(designs: list[Form]) -> CompareTask:
    named: list[tuple[str, Scenario]] = []
    for number, design in enumerate(designs, start=1):
        found = built(design)
        if found.scenario is None:
            raise InputError(f"design {number}", f"design {number} cannot be: {found.refused}", "remove it")
        named.append((f"{number}. {_name(design, designs[0])}", found.scenario))
    return CompareTask(tuple(named))


def show_failure(subject: Subject) -> None:
    """A disk fails while the load runs."""
    form = subject.form
    if form is None:
        if _spec(subject).pools:
            st.info("The members of pools are lost before a run: name them in the file (`failed`), or compare states.")
            return
        percent = st.slider(LABELS["fail_at"], 5, 95, value=30, step=5, key="file_fail_at")
        try:
            scenario, member = failing(_document(subject), _spec(subject), percent)
        except InputError as error:
            st.info(plain(f"A failure cannot be simulated with {error.found}; {error.expected}."))
            return
        spares = any(array.spares for array in scenario.spec.arrays.values())
    else:
        if not can_fail(form):
            st.info(
                "This array does not survive another failure while it runs, or its day has another part: choose a "
                "level with redundancy, and one load all day."
            )
            return
        offered = offer("fail_at", form)
        assert isinstance(offered, Range)
        st.slider(LABELS["fail_at"], offered.low, offered.high, step=5, key=widget_key("fail_at", form.fail_at))
        made = built(form, failing=True)
        if made.scenario is None:
            st.error(plain(made.refused))
            return
        scenario, member, spares = made.scenario, f"disk{form.failed}", form.spares > 0
    spec = scenario.spec
    assert isinstance(spec.workload, LoadSpec)
    at = format_duration(spec.failures[0].at - spec.workload.warm_up)
    of = format_duration(spec.workload.duration)
    then = "a spare takes its place, and the rebuild begins" if spares else "no spare stands by"
    st.markdown(plain(f"{member} fails {at} into a run of {of}; {then}."))
    key = f"{subject.key} {spec.failures[0].at}"
    found: FailureCourse | None = asked("failure", key, lambda: FailureTask(scenario), "Simulate the failure")
    if found is None:
        return
    words = course_words(found)
    st.markdown(plain(words))
    shown = settled(found.course)
    picture(pictures.course_picture(shown, found.failed_s), f"I/Os per second over the run. {words}")
    late = pictures.course_picture(shown, found.failed_s, latency=True)
    picture(late, "Mean latency over the run; the table has the numbers.")
    course = tables.course_table(found.course)
    with st.expander("The course as a table"):
        table(course)
    download([course], "raidsim-failure", "csv_failure")


def course_words(found: FailureCourse) -> str:
    """What the failure does to the load, and how long the rebuild takes."""
    course = settled(found.course)
    before = [part for part in course if part.end_s <= found.failed_s]
    after = [part for part in course if part.begin_s >= found.failed_s]
    said = []
    if before and after:
        then, now = _mean_iops(before), _mean_iops(after)
        said.append(f"{then:,.0f} I/Os per second before the failure, {now:,.0f} after it")
        times = [_mean_latency(parts) for parts in (before, after)]
        if times[0] is not None and times[1] is not None:
            said[-1] += f"; mean latency {format_duration(times[0])} and {format_duration(times[1])}"
    for rebuild in found.prediction.rebuilds:
        if rebuild.action == "recover":
            whole = format_duration(rebuild.duration_s) if math.isfinite(rebuild.duration_s) else "no end"
            said.append(f"the rebuild runs at {rebuild.rate / 1e6:.3g} MB/s and would take {whole} under this load")
    return ". ".join(f"{line[0].upper()}{line[1:]}" for line in said) + "."


def settled(parts: Sequence[CoursePart]) -> Sequence[CoursePart]:
    """Without the first latency: what was over then had begun before the measurement, and is not counted."""
    mean_s = _mean_latency(parts)
    return parts if mean_s is None else [part for part in parts if part.begin_s >= mean_s] or parts


def _mean_iops(parts: Sequence[CoursePart]) -> float:
    return sum(part.iops for part in parts) / len(parts)


def _mean_latency(parts: Sequence[CoursePart]) -> float | None:
    known = [(part.mean_s, part.iops) for part in parts if part.mean_s is not None]
    total = sum(iops for _, iops in known)
    return sum(mean * iops for mean, iops in known) / total if total else None


def show_explain(subject: Subject) -> None:
    """What each mechanism costs, from runs without it."""
    if subject.form is None and not isinstance(_spec(subject).workload, LoadSpec):
        st.info(needs_one_load("Explain", _spec(subject)))
        return
    st.markdown("Runs the design again with one mechanism at a time switched off, and says what the difference is.")
    found: Explained | None = asked("explain", subject.key, lambda: _explain_task(subject), "Explain")
    if found is None:
        return
    effects = sorted(found.effects, key=lambda each: (not each.certain, -abs(math.log(1 + each.change))))
    picture(
        pictures_of_designs.effects_picture(effects),
        "Bars: by how much the throughput, or the latency of a load at a rate, changes without each mechanism.",
    )
    for each in effects:
        st.markdown(f"- {plain(each.words)}")
    if found.base.waits:
        table(waits_table(found.base), "What the mean latency of the design is made of, without remainder")
    shown = tables.effects_table(effects, total_iops(found.base), mean_latency(found.base))
    table(shown)
    download([shown], "raidsim-explain", "csv_explain")


def _explain_task(subject: Subject) -> ExplainTask:
    base = _scenario(subject)
    if subject.form is None:
        return ExplainTask(base, tuple(file_variants(_document(subject), base.spec)))
    return ExplainTask(base, tuple((each, found) for each in variants(subject.form) if (found := each.scenario())))


def _spec(subject: Subject) -> ScenarioSpec:
    assert subject.built.spec is not None
    return subject.built.spec


def _document(subject: Subject) -> Document:
    assert subject.built.document is not None
    return subject.built.document


def _scenario(subject: Subject) -> Scenario:
    assert subject.built.scenario is not None
    return subject.built.scenario
