"""What the views have in common: the run of a question, and pictures with their words and tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ...api.answer.html import html, table_html
from ...api.answer.tree import Answer, Picture, Table, csv_text
from ..figures.markup import plain
from ..figures.pictures import Picture as Drawn
from ..work.service import server_runs
from ..work.task import AnyTask
from .session import Running, answer, cancel, messages, results, start, under_way

_INK, _INK_ON_DARK = "#31333f", "#e6e9ee"
_TELL_S = 0.25
_AT_ONCE_S, _LOOK_S = 0.6, 0.02
"""A run that is over within this time is shown without a progress bar."""


def asked(kind: str, key: str, make: Callable[[], AnyTask], label: str, auto: bool = False) -> Any:
    """Ask a view's question, and return what is known of the answer; None if nothing is.

    Parameters
    ----------
    kind
        The view.
    key
        What is simulated; a result of something else is shown as an earlier one.
    make
        Makes the task; `InputError` if there can be none.
    label
        On the button that starts the run.
    auto
        If true, the run starts without the button.
    """
    running = under_way(kind)
    if running is not None and running.key != key and auto:
        cancel(running)
        running = None
    found, refused = answer(kind, key), _refused(kind, key)
    if auto and found is None and running is None and refused is None:
        start(kind, key, make)
        running, found = _settled(kind, key)
        refused = _refused(kind, key)
    if running is None and server_runs().kept.get(kind, key) is None:
        st.button(label, key=f"start_{kind}", type="primary", on_click=start, args=(kind, key, make))
    if refused is not None:
        st.error(plain(refused), icon=":material/block:")
    if running is not None:
        running.shown = running.ticket.early
        _progress(kind)
    if found is not None:
        return found
    earlier = results().get(kind)
    if earlier is None:
        return None
    st.info("The result below is of an earlier design or load.")
    return earlier[1]


def _refused(kind: str, key: str) -> str | None:
    """Why the run of a question gave nothing, or not all; None if it did."""
    said = messages().get(kind)
    return said[1] if said is not None and said[0] == key else None


def _settled(kind: str, key: str) -> tuple[Running | None, Any]:
    """A run that has just begun, after a moment; a short one is over by then."""
    end = time.monotonic() + _AT_ONCE_S
    while (running := under_way(kind)) is not None and running.ticket.early is None and time.monotonic() < end:
        time.sleep(_LOOK_S)
    return running, answer(kind, key)


@st.fragment(run_every=_TELL_S)
def _progress(kind: str) -> None:
    """How far a run is, and the way to end it."""
    running = under_way(kind)
    if running is None or running.ticket.early is not running.shown:
        st.rerun()
    ticket = running.ticket
    place = server_runs().place(ticket)
    if place:
        text = "Next in the queue of this server" if place == 1 else f"Place {place} in the queue of this server"
    elif ticket.early is not None:
        text = f"First figures below; the rest is being simulated, {100 * ticket.share:.0f} %"
    else:
        text = f"Simulating, {100 * ticket.share:.0f} %"
    bar, button = st.columns([5, 1], vertical_alignment="bottom")
    bar.progress(ticket.share, text=text)
    if button.button("Cancel", key=f"cancel_{kind}", width="stretch"):
        cancel(running)
        messages()[kind] = (running.key, "The run was cancelled.")
        st.rerun()


def picture(drawn: Drawn, alt: str, choose: str | None = None) -> Any:
    """A picture, with a text for those who do not see it; with `choose`, its key, what was clicked on."""
    height: int = drawn["height"]
    # Streamlit sends data of the whole picture after the picture, which would first be drawn without any.
    inner = {key: value for key, value in drawn.items() if key != "height"}
    config = {"text": {"color": _INK_ON_DARK if st.context.theme.type == "dark" else _INK}}
    spec = {"layer": [inner], "config": config}
    if choose is None:
        st.vega_lite_chart(spec, width="stretch", height=height, theme="streamlit", alt=alt)
        return None
    return st.vega_lite_chart(
        spec, width="stretch", height=height, theme="streamlit", alt=alt, key=choose, on_select="rerun"
    )


def table(found: Table, caption: str = "") -> None:
    """A table under its caption, by default its title."""
    st.html(table_html(found, caption))


def answered(found: Answer, name: str, key: str) -> None:
    """The sentences and tables of an answer, and the tables to take away; pictures are the view's."""
    st.html(html(Answer("", [part for part in found.parts if not isinstance(part, Picture)])))
    download(list(found.tables()), name, key)


def download(found: Sequence[Table], name: str, key: str) -> None:
    """The numbers of a view to take away."""
    st.download_button("Download CSV", csv_text(found), f"{name}.csv", "text/csv", key=key, on_click="ignore")
