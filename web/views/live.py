"""The view of a served array: what `raidsim serve` does at the moment, refreshed every second."""

from __future__ import annotations

import streamlit as st

from ... import InputError
from ...api.answer.html import table_html
from ..figures import live
from ..figures.markup import plain
from ..work.live import Watched, watched
from .session import Subject

EVERY_S = 1.0
_COMMANDS = """raidsim serve raid5.yaml --unix /tmp/md0.sock --control /tmp/md0.control
raidsim web --serve /tmp/md0.control"""
_OPERATE = "With `--operate`, this page can fail and replace drives while the programs run."


def show_live(subject: Subject) -> None:
    """The array that this page was started with, while real programs use it."""
    source = watched()
    st.title("A served array, live", anchor=False)
    if source is None:
        st.markdown(
            "`raidsim serve` gives a predicted array to real programs as a block device. This page shows what the "
            "array does meanwhile. It was started without one. Whoever starts it names the server's control socket:"
        )
        st.code(_COMMANDS, language="bash")
        st.markdown(_OPERATE)
        return
    with st.container(key="live"):
        _figures(source)
    if source.operated:
        _operator(source)


@st.fragment(run_every=EVERY_S)
def _figures(source: Watched) -> None:
    """What was seen last, and how it has changed."""
    answers, seen = source.seen()
    if not answers:
        trouble = "The server is of another version of raidsim." if source.is_other_version else "No server answers."
        st.warning(
            trouble + (" The figures below are its last ones." if seen else " This page goes on asking."),
            icon=":material/link_off:",
        )
    if not seen:
        return
    last = seen[-1]
    look = last.look
    st.caption(
        plain(
            f"{last.served} at {look.at_s:.1f} s of simulated time; "
            f"rates, latencies and utilization of the last {look.span_s:.1f} s."
        )
    )
    with st.container(horizontal=True, key="live_figures"):
        for name, value in live.figures(look):
            st.metric(name, value, border=True)
    if look.bottleneck is not None:
        st.markdown(f"**Bottleneck:** {plain(look.bottleneck)}")
    for name, state in last.arrays.items():
        st.markdown(plain(live.state_words(name, state)))
    for rebuild in look.rebuilds:
        st.progress(min(1.0, rebuild.position / rebuild.total_bytes), text=plain(live.rebuild_words(rebuild)))
    late = live.lateness_words(look)
    if live.is_late(look):
        st.warning(plain(f"{late} The programs see a slower array than the simulated one: lower --speed."))
    elif late:
        st.caption(plain(late))
    left, right = st.columns(2)
    with left:
        st.header("Utilization", anchor=False)
        if look.parts:
            st.html(live.meters(look, "Utilization of the parts, highest first"))
        else:
            st.markdown("No request has come yet.")
    with right:
        st.header("Throughput", anchor=False)
        drawn = live.course(seen)
        if drawn:
            st.html(drawn)
        else:
            st.markdown("The picture begins with the second look.")
    if look.requests:
        st.html(table_html(live.requests_table(look)))


def _operator(source: Watched) -> None:
    """Fail and replace drives. Outside what is refreshed: that would close a list that is open."""
    _, seen = source.seen()
    if not seen:
        return
    st.header("Break it", anchor=False)
    members = [name for state in seen[-1].arrays.values() for name in state.members]
    failed = {name for state in seen[-1].arrays.values() for name in state.failed}
    with st.container(horizontal=True, vertical_alignment="bottom", key="operator"):
        drive = st.selectbox("Drive", members, key="live_drive", width=260,
                             format_func=lambda name: f"{name} (failed)" if name in failed else name)  # fmt: skip
        if drive is not None:
            st.button("Fail it", key="live_fail", on_click=_do, args=(source, "fail", drive))
            st.button("Insert a new drive", key="live_insert", on_click=_do, args=(source, "insert", drive))
    said = st.session_state.pop("live_said", None)
    if said is not None:
        (st.success if said[0] else st.error)(plain(said[1]))


def _do(source: Watched, action: str, drive: str) -> None:
    try:
        st.session_state.live_said = True, source.do(action, drive)
    except InputError as error:
        st.session_state.live_said = False, error.found if error.place in ("fail", "insert") else "No server answers."
