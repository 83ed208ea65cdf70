"""The student's entrance: a question and a guess first, then the picture as the answer, with numbers to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from ... import InputError
from ...api.answer.numbers import number
from ...api.answer.tree import Column, Table
from ...api.result import Result
from ...api.scenario import Scenario
from ..figures import pictures_of_designs as pictures
from ..figures.markup import plain
from ..form.choices import Range, offer
from ..form.fields import LABELS, Form, Value
from ..form.forms import built, changed, fitted, level_words, load_words
from ..work.explain import commands_per_io
from ..work.tasks import LessonTask
from .render import asked, download, picture, table
from .session import Subject, set_form

_DRIVE = "WD2500JS"


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question that a few runs answer.

    Attributes
    ----------
    name, question
        What it is called, and what is asked.
    guesses, right
        What may be guessed, and which of them is right with the numbers of the beginning.
    why
        The mechanism, in a few sentences.
    form
        The design and the load.
    field, values
        What differs between the runs.
    controls
        Fields that the student may change.
    bytes
        If true, the picture shows MB/s instead of I/Os per second.
    """

    name: str
    question: str
    guesses: tuple[str, ...]
    right: int
    why: str
    form: Form
    field: str
    values: tuple[Value, ...]
    controls: tuple[str, ...]
    bytes: bool = False


LESSONS = {
    "small-writes": Lesson(
        "Small writes",
        "Programs write blocks of 4 KiB to random offsets on six disks. How fast is RAID 5 compared with RAID 10?",
        ("Faster", "About half as fast", "Less than half as fast"),
        2,
        "RAID 5 reads the old data and the old parity, then writes both: four commands for one small write. RAID 10 "
        "writes two copies. RAID 6 has two parities to update: six commands. And a block that was read can be written "
        "only after another turn of the platter. A write of a whole stripe needs no reads: try larger blocks.",
        Form(drive=_DRIVE, disks=6, chunk=64, read=0, depth=16, bitmap=False, length="short"),
        "level",
        ("raid10", "raid5", "raid6"),
        ("disks", "chunk", "depth", "block"),
    ),
    "queue-depth": Lesson(
        "Queue depth",
        "Four disks serve random reads, one at a time. What happens with 32 reads outstanding?",
        ("Nothing: a disk has one arm", "About four times as many reads per second", "More than four times as many"),
        2,
        "With several reads outstanding all disks work at the same time. Each disk also chooses the read that it "
        "reaches first, so the mean seek gets shorter. The price is latency: each read waits for others.",
        Form(drive="IronWolf-Pro-20TB", level="raid0", disks=4, read=100, length="short"),
        "depth",
        (1, 2, 4, 8, 16, 32, 64),
        ("disks", "chunk", "block"),
    ),
    "chunk-size": Lesson(
        "Chunk size",
        "Sixteen programs read 256 KiB each from random offsets on eight disks in RAID 0. Which chunk is fastest?",
        ("Small chunks: all disks help with a read", "Large chunks: one disk serves a read", "It does not matter"),
        1,
        "Every chunk that a read touches costs a seek. With small chunks each read moves the arms of all disks; with "
        "large chunks one arm moves, and the other disks serve other reads. Lower the queue depth to 1, and the "
        "difference is gone: then most disks wait.",
        Form(drive=_DRIVE, level="raid0", disks=8, read=100, depth=16, block=256, length="short"),
        "chunk",
        (16, 32, 64, 128, 256, 512),
        ("disks", "depth", "block"),
    ),
    "block-size": Lesson(
        "Block size",
        "A program writes to random offsets on RAID 5. How does the throughput in MB/s grow with the size of a write?",
        ("In proportion to the size", "It jumps where a write fills a stripe", "It is always the same"),
        1,
        "Below a stripe, md reads before it writes. A write that fills a stripe needs no reads, because the parity "
        "follows from the new data alone. Change the disks or the chunk, and the jump moves.",
        Form(drive=_DRIVE, disks=5, chunk=64, read=0, depth=4, bitmap=False, length="short"),
        "block",
        (4, 16, 64, 128, 256, 512),
        ("disks", "chunk", "depth"),
        bytes=True,
    ),
    "mirrors": Lesson(
        "Mirrors",
        "Two disks hold the same data. How many random reads per second do they serve, compared with two disks in "
        "RAID 0 that hold twice as much?",
        ("Half as many", "About as many", "Twice as many"),
        1,
        "Either copy can serve a read, so both arms work. A write goes to both disks: lower the share of reads, and "
        "the mirror falls behind.",
        Form(drive=_DRIVE, level="raid1", disks=2, read=100, depth=8, bitmap=False, length="short"),
        "level",
        ("raid0", "raid1"),
        ("read", "depth", "block"),
    ),
    "more-disks": Lesson(
        "More disks",
        "RAID 5 gets random reads and writes, 16 at a time. What do more disks bring?",
        ("In proportion to the disks", "Less and less", "Nothing, because of the parity"),
        1,
        "With 16 I/Os outstanding, a part of many disks is always idle. Raise the queue depth, and more disks help "
        "again. The parity takes its share of the commands with any number of disks.",
        Form(drive=_DRIVE, read=70, depth=16, bitmap=False, length="short"),
        "disks",
        (3, 6, 12, 24),
        ("read", "depth", "block"),
    ),
}


def show_lessons(subject: Subject) -> None:
    """Questions to play with."""
    st.title("Six questions about arrays", anchor=False)
    st.caption("Guess first; the simulator answers. Then change the numbers and ask again.")
    chosen = st.segmented_control(
        "Question", list(LESSONS), format_func=lambda each: LESSONS[each].name, default="small-writes", key="lesson"
    )
    name = chosen or "small-writes"
    lesson = LESSONS[name]
    st.header(plain(lesson.question), anchor=False)
    guess = st.pills("Your guess", lesson.guesses, key=f"guess_{name}")
    if guess is None and not st.session_state.get(f"tell_{name}"):
        st.button("Show the answer", key=f"show_{name}", on_click=_tell, args=(name,))
        return
    form = _controls(name, lesson)
    designs = _designs(lesson, form)
    key = f"{name} {[form for _, form in designs]!r}"
    found: tuple[tuple[str, Result], ...] | None = asked("lesson", key, lambda: _task(designs), "Simulate", auto=True)
    if guess is not None:
        right = lesson.guesses[lesson.right]
        (st.success if guess == right else st.info)("Right." if guess == right else plain(f"The answer: {right}."))
    st.markdown(lesson.why)
    if found is None:
        return
    shown = lesson_table(found, lesson.field)
    picture(
        pictures.lesson_picture(found, lesson.bytes),
        f"Bars: {'MB/s' if lesson.bytes else 'I/Os per second'} for each value; the table has the numbers.",
    )
    table(shown, load_words(form))
    with st.container(horizontal=True):
        st.button(
            "Continue with this design", on_click=set_form, args=(changed(form, {"length": "normal"}),), key="use"
        )
        download([shown], f"raidsim-{name}", "csv_lesson")


def _tell(name: str) -> None:
    st.session_state[f"tell_{name}"] = True


def _controls(name: str, lesson: Lesson) -> Form:
    """The form of a lesson with the student's numbers."""
    form = lesson.form
    with st.container(horizontal=True, key="controls"):
        for field in lesson.controls:
            offered, key = offer(field, form), f"lesson_{name}_{field}"
            usual = getattr(form, field)
            if isinstance(offered, Range):
                most = min(offered.high, {"disks": 24, "depth": 256}.get(field, offered.high))
                value: Any = st.number_input(LABELS[field], offered.low, most, value=usual, key=key)
            elif offered is not None:
                value = st.selectbox(LABELS[field], offered, index=offered.index(usual), key=key)
            else:
                continue
            form = fitted(changed(form, {field: value}))[0]
    return form


def _designs(lesson: Lesson, form: Form) -> list[tuple[str, Form]]:
    """A design for every value; a value that does not fit the student's numbers is left out."""
    found = []
    for value in lesson.values:
        design, _ = fitted(changed(form, {lesson.field: value}))
        if getattr(design, lesson.field) == value:
            found.append((value_words(lesson.field, value), design))
    return found


def value_words(field: str, value: Value) -> str:
    """What differs, as the picture says it."""
    if field == "level":
        return level_words(str(value))
    unit = {"chunk": " KiB", "block": " KiB", "disks": " disks", "depth": " outstanding"}.get(field, "")
    return f"{value:,}{unit}" if isinstance(value, int) else str(value)


def _task(designs: list[tuple[str, Form]]) -> LessonTask:
    named: list[tuple[str, Scenario]] = []
    for name, form in designs:
        found = built(form)
        if found.scenario is None:
            raise InputError("lesson", f"{name}: {found.refused}", "expected: other numbers")
        named.append((name, found.scenario))
    return LessonTask(tuple(named))


def lesson_table(found: tuple[tuple[str, Result], ...], field: str) -> Table:
    """The numbers of a lesson's picture."""
    rows = [
        (name, each.iops, each.throughput, each.latency.mean, commands_per_io(each.prediction)) for name, each in found
    ]
    columns = [Column(LABELS[field]), Column("I/Os per s", show=number), Column("MB/s", show=number, scale=1e-6)]
    columns += [Column("mean latency", "ms", number, 1e3), Column("commands for each I/O", show=number)]
    return Table("The lesson's numbers", columns, rows)
