"""The view of a diagnosis: outputs of a machine's tools and what was measured on it, as files or as pasted text."""

from __future__ import annotations

import hashlib

import streamlit as st

from ... import InputError
from ...api.answer.tree import Answer
from ...api.diagnosis import Diagnosis
from ...api.support.files import decoded
from ..figures.markup import plain
from ..work.file_tasks import DiagnosisTask
from .form_panel import plain_name
from .render import answered, asked
from .session import Subject, take_file

MOST_FILES = 24
MOST_PASTED = 1 << 20
_COMMANDS = "mdadm --detail, cat /proc/mdstat, lsblk, smartctl -i, lscpu, zpool status ..."
_FIO = "fio --output-format=json, fio, iostat -x 1, zpool iostat -vl"


def show_diagnose(subject: Subject) -> None:
    """Whether an array is as fast as it should be, and if not, why."""
    st.title("Is my array as fast as it should be?", anchor=False)
    st.markdown(
        "Give what the machine's tools print, and what fio measured. The jobs run on a model of the machine, as it "
        "should be and with each of some forty causes, as with `raidsim diagnose`."
    )
    files = st.file_uploader(
        "Files of both kinds (text, up to 1 MiB each)", accept_multiple_files=True, key="diagnosed", max_upload_size=1
    )
    left, right = st.columns(2)
    machine = left.text_area(
        "Or pasted: the machine", key="pasted_machine", height=220, placeholder=_COMMANDS, max_chars=MOST_PASTED
    )
    measured = right.text_area(
        "Or pasted: what was measured", key="pasted_measured", height=220, placeholder=_FIO, max_chars=MOST_PASTED
    )
    given = [(plain_name(file.name), file.getvalue()) for file in (files or [])[:MOST_FILES]]
    pasted = (("machine.txt", machine), ("measured.txt", measured))
    given += [(name, f"{text}\n".encode()) for name, text in pasted if text.strip()]
    if not given:
        return
    try:
        texts = tuple((name, f"{decoded(raw, name)}\n") for name, raw in given)
    except InputError as error:
        st.error(plain(f"{error.place}: {error.found}; {error.expected}"), icon=":material/block:")
        return
    key = hashlib.sha256(repr(texts).encode()).hexdigest()
    found: Diagnosis | None = asked("diagnose", key, lambda: DiagnosisTask(texts), "Diagnose")
    if found is None:
        return
    (st.success if found.found.found is None and not found.found.seen else st.warning)(plain(found.verdict))
    answered(Answer("", found.answer().parts[1:]), "raidsim-diagnosis", "csv_diagnosis")
    st.button(
        "Explore this machine",
        on_click=take_file,
        args=(found.scenario.to_yaml().encode(), "machine.yaml"),
        key="diagnosed_as",
    )
