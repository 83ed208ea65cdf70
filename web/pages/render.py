"""What the views have in common: the button that starts a run, and pictures with their words and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ..work.tasks import AnyTask
from .markup import plain, table_html
from .pictures import Picture
from .session import messages, results, start, under_way
from .tables import Table, csv_text

_INK, _INK_ON_DARK = "#31333f", "#e6e9ee"


def asked(kind: str, key: str, make: Callable[[], AnyTask], label: str) -> Any:
    """The button that starts a view's run, and what its last one gave; None if there is nothing yet.

    Parameters
    ----------
    kind
        The view.
    key
        What is simulated; a result of something else is shown as an earlier one.
    make
        Makes the task; `InputError` if there can be none.
    label
        On the button.
    """
    running = under_way()
    st.button(
        label,
        key=f"start_{kind}",
        type="primary",
        disabled=running is not None and running.ticket.early is None,
        on_click=start,
        args=(kind, key, make),
    )
    if kind in messages():
        st.error(plain(messages()[kind]), icon=":material/block:")
    found = results().get(kind)
    if found is None:
        return None
    if found[0] != key:
        st.info("The result below is of an earlier design or load. Run again for the present one.")
    return found[1]


def picture(drawn: Picture, alt: str) -> None:
    """A picture, with a text for those who do not see it."""
    height: int = drawn["height"]
    # Streamlit sends data of the whole picture after the picture, which would first be drawn without any.
    inner = {key: value for key, value in drawn.items() if key != "height"}
    config = {"text": {"color": _INK_ON_DARK if st.context.theme.type == "dark" else _INK}}
    st.vega_lite_chart({"layer": [inner], "config": config}, width="stretch", height=height, theme="streamlit", alt=alt)


def table(found: Table, caption: str) -> None:
    """A table under its caption."""
    st.html(table_html(found, caption))


def download(found: Sequence[Table], name: str, key: str) -> None:
    """The numbers of a view to take away."""
    st.download_button("Download CSV", csv_text(found), f"{name}.csv", "text/csv", key=key, on_click="ignore")
