"""The view of files: the link, the scenario, its Python code, results and a report; and files that a visitor brings."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from ... import __version__
from ...api.answer.html import page
from ...api.answer.svg import lines as curves
from ...api.answer.tree import Answer, Part, Picture, Verbatim, Words, lines
from ...api.comparison import Comparison
from ...api.curve import LoadCurve
from ..figures.tables import course_table, effects_table, json_text
from ..form.forms import built, load_words, title, with_load_of
from ..work.explain import mean_latency, total_iops
from ..work.service import RESULT
from ..work.tasks import Explained, FailureCourse, Outcome
from .designs import course_words, settled
from .files_in import show_fio, show_machine, show_trace
from .render import download
from .session import Subject, answer, result_of


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
        text = json_text(outcome)
        st.download_button(
            "Download results (JSON)", text, "raidsim-result.json", "application/json", on_click="ignore"
        )
        download(list(outcome.result.answer(all_parts=True).tables()), "raidsim-result", "files")
    else:
        st.markdown("Simulate this design first.")
    if sections:
        st.header("Report", anchor=False)
        st.markdown(f"One page with what was found: {', '.join(each.title.lower() for each in sections)}.")
        title_words, load = _words(subject)
        scenario = Answer("The scenario", [Verbatim(subject.built.text), Words(f"Made with raidsim {__version__}.")])
        text = page(Answer(title_words, [*sections, scenario]), load)
        st.download_button("Download report (HTML)", text, "raidsim-report.html", "text/html", on_click="ignore")
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


def _sections(key: str) -> Iterator[Answer]:
    """What the views found out about a design so far."""
    outcome: Outcome | None = answer(RESULT, key)
    if outcome is not None:
        yield Answer("Result", outcome.result.answer(all_parts=True, without=outcome.without).parts)
    curve: LoadCurve | None = result_of("curve", key)
    if curve is not None:
        yield Answer("Load curve", curve.answer().parts)
    compared: Comparison | None = result_of("compare", key)
    if compared is not None:
        yield Answer("Comparison", compared.answer().parts)
    failed: FailureCourse | None = result_of("failure", key)
    if failed is not None:
        told: list[Part] = [Words(course_words(failed)), course_table(failed.course), _course_lines(failed)]
        yield Answer("Failure", told)
    explained: Explained | None = result_of("explain", key)
    if explained is not None:
        base = explained.base
        effects = effects_table(explained.effects, total_iops(base), mean_latency(base))
        yield Answer("Explanation", [*lines(each.words for each in explained.effects), effects])


def _course_lines(found: FailureCourse) -> Picture:
    """I/Os per second over the run."""
    points = [((each.begin_s + each.end_s) / 2, each.iops) for each in settled(found.course)]
    caption = f"I/Os per second; the disk fails at {found.failed_s:.3g} s"
    return Picture(caption, lambda: curves([("I/Os per second", points)], "time (s)", "I/Os per second", caption))
