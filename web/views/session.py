"""What the page remembers of one visitor between two looks: the form, the run under way, and results so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ... import InputError
from ...api.support.files import decoded
from ..form.choices import FIELDS
from ..form.fields import Form
from ..form.forms import Built, built, built_text, changed, fitted
from ..form.limits import check_work
from ..form.state import State, from_query, to_query
from ..work.runs import Ticket
from ..work.service import server_runs
from ..work.task import AnyTask


@dataclass(frozen=True, slots=True)
class Subject:
    """What is explored: the form's design, or an uploaded file.

    Attributes
    ----------
    built
        Its scenario, if it can be.
    form
        None for a file.
    """

    built: Built
    form: Form | None

    @property
    def key(self) -> str:
        """What results of it are known by."""
        return self.built.text


def _state() -> State:
    found: State = st.session_state.state
    return found


def current_state() -> State:
    """The state after what the visitor did last, with every value made to fit; what did not fit is noted."""
    memory = st.session_state
    if "state" not in memory or _travelled():
        memory.state, memory.notes = from_query(_address())
        for field in FIELDS:
            memory.pop(_key(field), None)
        return _state()
    widgets = {field: memory[_key(field)] for field in FIELDS if _key(field) in memory}
    if any(getattr(memory.state.form, field) != value for field, value in widgets.items()):
        form, memory.notes = fitted(changed(memory.state.form, widgets))
        memory.state = replace(memory.state, form=form)
    return _state()


def _address() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params}


def _travelled() -> bool:
    """Whether the visitor went Back or Forward.

    Any other address than the state's is one that the browser sent before it had the newest; it says nothing.
    """
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def write_link(state: State) -> None:
    """Put the state into the address."""
    st.session_state.state = state
    wanted = {name: [value] if isinstance(value, str) else value for name, value in to_query(state).items()}
    if _address() != wanted:
        st.query_params.from_dict(wanted)


def set_form(form: Form) -> None:
    """Put other values into the form; for callbacks, before the page is shown again."""
    memory = st.session_state
    memory.state = replace(memory.state, form=fitted(form)[0])
    memory.notes = []
    for field in FIELDS:
        memory.pop(_key(field), None)


def set_kept(kept: tuple[Form, ...]) -> None:
    """Keep other designs; for callbacks."""
    st.session_state.state = replace(st.session_state.state, kept=kept)


def widget_key(field: str, value: Any) -> str:
    """The key of a field's widget, which will show `value`."""
    key = _key(field)
    if st.session_state.get(key) != value:
        st.session_state[key] = value
    return key


def _key(field: str) -> str:
    return f"f_{field}"


def uploaded(raw: bytes, name: str) -> Subject:
    """What an uploaded file describes; everything in it may be wrong on purpose."""
    try:
        found = built_text(decoded(raw, name), name)
        if found.spec is not None:
            check_work(found.spec)
    except InputError as error:
        found = Built("", None, None, f"{error.place}: {error.found}; {error.expected}")
    return Subject(found, None)


def take_file(raw: bytes, name: str) -> None:
    """Explore a text as if it had been uploaded; for callbacks."""
    st.session_state.taken = (raw, name)


def leave_file() -> None:
    """Go back to the form; for callbacks."""
    st.session_state.taken = None


def of_form(form: Form) -> Subject:
    """The form's design."""
    return Subject(built(form), form)


@dataclass(slots=True)
class Running:
    """A visitor's run under way.

    Attributes
    ----------
    ticket
        How it stands.
    kind, key
        The view that it is for, and what it is of.
    shown
        What has been shown of it so far; None if nothing has.
    """

    ticket: Ticket
    kind: str
    key: str
    shown: Any = None


def start(kind: str, key: str, make: Callable[[], AnyTask]) -> None:
    """Begin a run; the visitor's other run of the same lane is given up."""
    try:
        task = make()
    except InputError as error:
        messages()[kind] = (key, f"{error.found}; {error.expected}")
        return
    messages().pop(kind, None)
    running = _lanes().get(task.SHORT)
    if running is not None:
        cancel(running)
    _lanes()[task.SHORT] = Running(server_runs().start(task, (kind, key)), kind, key)


def cancel(running: Running) -> None:
    """Give a run up; what it gave so far is kept."""
    _take(running)
    running.ticket.cancel()
    for lane, other in list(_lanes().items()):
        if other is running:
            del _lanes()[lane]


def under_way(kind: str) -> Running | None:
    """The visitor's run for a view; None if there is none, or it is over. What it gave, also so far, is kept."""
    for lane, running in list(_lanes().items()):
        _take(running)
        if not running.ticket.open:
            del _lanes()[lane]
            if running.ticket.state == "refused":
                messages()[running.kind] = (running.key, running.ticket.message)
        elif running.kind == kind:
            return running
    return None


def _take(running: Running) -> None:
    """Keep what a run has given."""
    ticket = running.ticket
    found = ticket.result if ticket.state == "done" else ticket.early
    if found is not None:
        results()[running.kind] = (running.key, found)


def _lanes() -> dict[bool, Running]:
    """The visitor's runs under way: a short one (True), and a long one."""
    found: dict[bool, Running] = st.session_state.setdefault("running", {})
    return found


def results() -> dict[str, tuple[str, Any]]:
    """What the last run of each view gave, with what it was of."""
    found: dict[str, tuple[str, Any]] = st.session_state.setdefault("results", {})
    return found


def answer(kind: str, key: str) -> Any:
    """The answer to a question, if this visitor or another one has asked it; None otherwise."""
    found = results().get(kind)
    if found is not None and found[0] == key:
        return found[1]
    known = server_runs().kept.get(kind, key)
    if known is not None:
        results()[kind] = (key, known)
    return known


def result_of(kind: str, key: str) -> Any:
    """What the last run of a view gave if it was of the design with this key; None otherwise."""
    found = results().get(kind)
    return found[1] if found is not None and (found[0] == key or found[0].startswith(f"{key} ")) else None


def messages() -> dict[str, tuple[str, str]]:
    """Why the last run of a view gave nothing, with what it was of."""
    found: dict[str, tuple[str, str]] = st.session_state.setdefault("messages", {})
    return found
