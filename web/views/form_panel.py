"""The form in the sidebar: every field with the values that it may have, and the place for a scenario file."""

from __future__ import annotations

import streamlit as st

from ...api.answer.units import format_duration, parse_time
from ...model.disk.spec import DriveSpec
from ..figures.markup import plain
from ..form.choices import Range, known_drive, offer
from ..form.examples import EXAMPLES
from ..form.fields import DEFAULT, LABELS, NONE, USUAL, Form
from ..form.forms import MORE_LOAD_FIELDS, THINK_TIME, level_words
from .session import Subject, leave_file, of_form, set_form, uploaded, widget_key

ALWAYS = ("drive", "disks", "level", "groups", "chunk", "spares", "price", "controller", "write_back")
DETAILS = (
    "machine",
    "kernel",
    "algorithm",
    "copies",
    "drive_state",
    "drive_cache",
    "scheduler",
    "throttle",
    "cipher",
    "bitmap",
    "stripe_cache",
    "threads",
    "failed",
    "rebuilding",
)
LOAD = ("pattern", "block", "read", "hot", "how", "depth", "iops", "jobs", "independent")
NETWORK = ("network", "port", "clients", "nfsd")
PARTS = ("parts", "hours", "pattern_2", "block_2", "read_2", "depth_2", "iops_2", "loads_2")
RUN = ("length", "seed")

HELP = {
    "drive": "From the catalogue (raidsim drives). Every number has a source or is marked as assumed.",
    "chunk": "Consecutive data on one disk before the next is used.",
    "spares": "Disks that take the place of one that fails during the run.",
    "groups": "Inner arrays that the outer one is made of.",
    "controller": "none: the kernel of the machine runs the array.",
    "write_back": "Answer from the controller's memory, before the data are on the disks.",
    "kernel": "Sets the md driver, the I/O scheduler and the CPU time of each step.",
    "drive_state": "steady: overwritten at random until the write amplification is constant; fresh: erased.",
    "throttle": "wbt: the kernel holds back writes while reads are late. Off is wbt_lat 0.",
    "bitmap": "md marks the regions that are being written on the disks, so that a crash needs no full resync.",
    "stripe_cache": "stripe_cache_size of md; 0 is the kernel's own choice.",
    "threads": "0: one thread of md handles all stripes.",
    "failed": "The first disks of the array are lost before the run begins.",
    "rebuilding": "New disks are in their place, and md rebuilds them under the load.",
    "hot": "Locality. zipf: some offsets are asked for much more often than others.",
    "how": "outstanding: each job keeps a number of I/Os under way. rate: I/Os come at a rate, whatever happens.",
    "independent": "On: every outstanding I/O has a thread of its own, as the clients of a server have. Off: one "
    "thread submits all I/Os of a job, as fio does, and md can block it.",
    "price": "In any currency; 0: unknown. The comparison then shows costs.",
    "depth": "I/Os that each job keeps under way (fio: iodepth).",
    "jobs": "Programs that send I/Os (fio: numjobs).",
    "cipher": "The array is encrypted: processors do it for every block that comes and goes.",
    "network": "The load runs on clients, which reach the machine over it; none: on the machine itself.",
    "clients": "The jobs are assigned to the clients in turn.",
    "nfsd": "Each thread works on one request at a time.",
    "loads": "For example a backup next to the users. The page Result has the figures of each load.",
    "parts": "For example a backup at night. Each part is simulated alone; the result is the mean of the day.",
    "loads_2": "1: the first load alone. The others do the same as in the rest of the day.",
    "length": "Until the speed is known to 10, 5 or 2 % of itself.",
    "seed": "Starts the random numbers; the same seed gives the same result to the last digit.",
}


def form_panel(form: Form) -> Subject:
    """The form, and the place for a file."""
    st.selectbox(
        "Start from an example",
        list(EXAMPLES),
        index=None,
        placeholder="choose one",
        key="example",
        on_change=_take_example,
    )
    subject = of_form(form)
    st.subheader("Array", anchor=False)
    for field in ALWAYS:
        _field(field, form, subject)
    with st.expander("Machine, kernel and state", expanded=_unusual(form, subject)):
        for field in DETAILS:
            _field(field, form, subject)
    st.subheader("Load", anchor=False)
    for field in LOAD:
        _field(field, form, subject)
    for words, names in (
        ("Network", NETWORK),
        ("More loads at the same time", MORE_LOAD_FIELDS),
        ("Parts of the day", PARTS),
    ):
        if offer(names[0], form) is not None:
            with st.expander(words, expanded=_other(names, form) or subject.built.field in names):
                for field in names:
                    _field(field, form, subject)
    st.subheader("Run", anchor=False)
    for field in RUN:
        _field(field, form, subject)
    with st.expander("Scenario file instead of the form"):
        file = st.file_uploader(
            "Scenario (YAML, up to 1 MiB)", type=["yaml", "yml"], key="upload", help="As of raidsim run."
        )
    if file is not None:
        return uploaded(file.getvalue(), plain_name(file.name))
    taken: tuple[bytes, str] | None = st.session_state.get("taken")
    if taken is None:
        return subject
    st.button("Back to the form", on_click=leave_file, key="leave")
    return uploaded(*taken)


def plain_name(name: str) -> str:
    """A file's name as far as messages show it."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[-60:])


def _take_example() -> None:
    chosen = st.session_state.example
    if chosen is not None:
        set_form(EXAMPLES[chosen])


def _unusual(form: Form, subject: Subject) -> bool:
    """Whether something in the details needs to be seen."""
    return subject.built.field in DETAILS or _other(DETAILS, form)


def _other(names: tuple[str, ...], form: Form) -> bool:
    return any(getattr(form, name) != getattr(DEFAULT, name) for name in names)


def _field(name: str, form: Form, subject: Subject) -> None:
    """One field with what it offers, and what is wrong with it, if anything."""
    offered = offer(name, form)
    if offered is None:
        return
    # Streamlit sends a value of the session's state once. If that look at the page is broken off, the field shows its
    # first value in the next, so the value is its first value too.
    value = getattr(form, name)
    key, label, words = widget_key(name, value), LABELS[name], HELP.get(name)
    if isinstance(offered, Range):
        if name.startswith("read"):
            st.slider(label, offered.low, offered.high, value=value, step=5, key=key, help=words)
        else:
            st.number_input(label, offered.low, offered.high, value=value, step=1, key=key, help=words)
    elif isinstance(offered[0], bool):
        st.checkbox(label, value=value, key=key, help=words)
    else:
        place = offered.index(value)
        st.selectbox(label, offered, place, key=key, format_func=lambda each: _option(name, each), help=words)
    if name == "drive":
        st.caption(plain(_drive_words(form.drive)))
    if subject.built.spec is None and subject.built.field == name:
        st.error(plain(subject.built.refused), icon=":material/block:")


def _option(field: str, value: str | int | bool) -> str:
    """An option as it is offered."""
    field = field.removesuffix("_b").removesuffix("_c")
    if field == "level":
        return level_words(str(value))
    if value == USUAL:
        return "the kernel's own" if field == "scheduler" else "as md makes it"
    if field in ("stripe_cache", "threads") and value == 0:
        return "the kernel's own" if field == "stripe_cache" else "md's one thread"
    if field == "nfsd" and value == 0:
        return "as usual"
    words = {
        ("cipher", NONE): "none",
        ("network", NONE): "none (the load is on the machine)",
        ("controller", NONE): "none (the kernel's md)",
        ("how", "outstanding"): "I/Os outstanding",
        ("how", "rate"): "I/Os per second",
        ("how", "users"): f"users with one I/O each, {format_duration(parse_time(THINK_TIME))} think time",
        ("hot", "even"): "all alike",
        ("hot", "zipf"): "some wanted more often (Zipf)",
    }
    return words.get((field, str(value)), f"{value:,}" if isinstance(value, int) else value)


def _drive_words(name: str) -> str:
    spec = known_drive(name)
    kind = f"{spec.rotation:,.0f} rpm" if isinstance(spec, DriveSpec) else "flash"
    size = f"{spec.capacity / 1e12:.3g} TB" if spec.capacity >= 1e12 else f"{spec.capacity / 1e9:.3g} GB"
    return f"{size}, {kind}, {spec.interface}"
