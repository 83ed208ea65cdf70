"""The frame of every page: logo, pages, form in the sidebar, and the run under way."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ..figures.markup import plain
from ..figures.theme import ICON, LOGO, STYLE
from ..form.fields import DEFAULT
from ..form.forms import load_words, title
from ..form.state import to_query
from .advise import show_advise
from .designs import show_compare, show_explain, show_failure
from .diagnose import show_diagnose
from .files import show_files
from .form_panel import form_panel
from .lessons import show_lessons
from .live import show_live
from .one_design import show_curve, show_ios, show_layout, show_result
from .session import Subject, current_state, of_form, under_way, write_link

RESULT = "result"
PAGES: dict[str, tuple[str, Callable[[Subject], None]]] = {
    RESULT: ("Result", show_result),
    "layout": ("Layout", show_layout),
    "ios": ("Single I/Os", show_ios),
    "curve": ("Load curve", show_curve),
    "failure": ("Failure", show_failure),
    "explain": ("Explain", show_explain),
    "compare": ("Compare", show_compare),
    "advise": ("Advise", show_advise),
    "diagnose": ("Diagnose", show_diagnose),
    "lessons": ("Lessons", show_lessons),
    "files": ("Files", show_files),
    "live": ("Live", show_live),
}
"""Every page by its path, with its name and what shows it; the first has no path."""
_WELCOME = (
    "**How fast will a storage array be, before anyone builds it?** This is the prediction for one example. "
    "Change the design in the form; the figures follow."
)
NO_FORM = ("diagnose", "lessons", "live")
"""Pages that do not use the form."""


def show() -> None:
    """Show the page of the address."""
    subjects: list[Subject] = []

    def shower(name: str) -> Callable[[], None]:
        return lambda: PAGES[name][1](subjects[0])

    pages = {
        name: st.Page(shower(name), title=words, url_path="" if name == RESULT else name, default=name == RESULT)
        for name, (words, _) in PAGES.items()
    }
    chosen = st.navigation(list(pages.values()), position="hidden")
    name = chosen.url_path or RESULT
    st.set_page_config(
        page_title=f"{PAGES[name][0]} - raidsim", page_icon=ICON, layout="wide", menu_items={"about": "raidsim"}
    )
    st.logo(LOGO, size="large")
    st.html(STYLE)
    under_way("")  # takes what runs have given meanwhile
    state = current_state()
    if name in NO_FORM:
        subjects.append(of_form(state.form))
    else:
        with st.sidebar:
            subjects.append(form_panel(state.form))
    state = current_state()
    with st.container(horizontal=True, key="pages", wrap=False, gap="small"):
        for each, page in pages.items():
            st.page_link(page, query_params=to_query(state), disabled=False, label=PAGES[each][0])
    _notes()
    if name not in NO_FORM:
        _heading(subjects[0])
    if name == RESULT and state.form == DEFAULT:
        st.markdown(_WELCOME)
    if subjects[0].built.spec is None and name not in NO_FORM:
        _refusal(subjects[0])
    else:
        chosen.run()
    write_link(st.session_state.state)


def _notes() -> None:
    notes = [plain(note) for note in st.session_state.notes]
    if notes:
        st.warning(notes[0] if len(notes) == 1 else "\n".join(f"- {note}" for note in notes), icon=":material/info:")


def _heading(subject: Subject) -> None:
    """What is being looked at."""
    if subject.form is None:
        name = "the file" if subject.built.spec is None else subject.built.spec.name
        st.title(plain(f"File: {name}"), anchor=False)
        st.caption("The form is set aside: remove the file to use it, or go back to the form below it.")
        return
    st.title(plain(title(subject.form)), anchor=False)
    st.caption(plain(load_words(subject.form)))


def _refusal(subject: Subject) -> None:
    if not subject.built.field or subject.form is None:
        st.error(plain(subject.built.refused), icon=":material/block:")
    said = "This cannot be simulated: see the message at the field." if subject.form else "The file is not used."
    st.info(said)
