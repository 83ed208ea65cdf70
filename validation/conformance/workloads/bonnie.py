"""bonnie and bonnie++ compared with their recorded system calls by phase, and the seeks of their processes.

bonnie's seekers seed their random numbers with their process numbers, which follow the one in the name of the file, so
their offsets are compared one by one. bonnie++ seeds with the time, which is not recorded: of its seeks, their number,
pattern and range are compared, and where it updates at random, that one in ten does. What it prints names its version,
its sizes and whether there were per-character phases; whether it was told to sync (``-b``) follows from the first phase
of the small files. Calls of the dynamic loader and of printing are not the program's I/O.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Literal, NamedTuple

from pydantic import NonNegativeInt

from ....model.programs.bonnie import MIB, SEEKERS, SEEKS, UPDATE_EVERY, Bonnie, bonnie_64
from ....model.programs.bonnie_plus_plus import SEEKS as PLUS_SEEKS
from ....model.programs.bonnie_plus_plus import (
    BonniePlusPlus,
    BonniePlusPlusSettings,
    version_1_03,
    version_1_9,
    version_2_00,
)
from ....model.programs.operation import Kind, Operation, system_calls
from ..base import KindResult, NotSupported, Progress, TruthFile
from ..shapes import Shape
from .files import field_differences, first_difference, parsed

_NAMES = (
    ("open(O_WRONLY|O_CREAT|O_TRUNC)", "creat()"),
    ("open(", "openat("),
    ("getdents", "getdents64"),
    ("fork", "fork/thread"),
    ("write-pipe[", "write-pipe/tty["),
    ("read-pipe[", "read["),
)
"""Beginnings of the model's names of calls, and what the recordings have for them."""

_FIRST_MESSAGE = "Using uid:0, gid:0."
"""bonnie++ prints it before it creates the file for the first phase."""

_TICKETS = "write-pipe/tty[{}]"
_SMALL_FILES = "Create files in sequ"
"""Beginning of the title of the first phase of the small files."""

_FAR = 5.0
"""Standard deviations by which random updates may be off."""

_LOADER = "start"
"""The recordings' name for what is before the first message: calls of the dynamic loader."""


class _Seeker(Shape):
    """One process that seeks: its first reads and writes, and what it did in all."""

    counts: dict[str, NonNegativeInt]
    first: list[tuple[Literal["R", "W"], NonNegativeInt, NonNegativeInt]]
    all_read_offsets_min: NonNegativeInt
    all_read_offsets_max: NonNegativeInt


class _Truth(Shape):
    """A recorded run."""

    command_output: str
    phases: dict[str, dict[str, int]]
    seekers: list[_Seeker]
    seek_reads_total: int
    seek_writes_total: int


class _Program(NamedTuple):
    """The recorded program in the model; `process` is its number, 0 if its seeks do not follow from that."""

    run: Bonnie | BonniePlusPlus
    chunk: int
    seeks: int
    process: int
    seekers: int = SEEKERS
    tickets: int = 0
    """Bytes of all tickets, if that is not one each."""
    random_updates: bool = False
    seeker_syncs: tuple[int, int] = (0, 0)
    """fsync calls of a seeker for each update, and at its end."""


def check(file: TruthFile, _: Sequence[TruthFile], result: KindResult, progress: Progress) -> None:
    """Compare every phase and every seeker."""
    truth = parsed(_Truth, file)
    name = file.path.name
    program = _program(name, truth)
    tickets = _TICKETS.format(program.tickets or program.seeks + SEEKERS)
    segments = _segments(program.run)
    found = set()
    for phase, recorded in truth.phases.items():
        case = phase.rstrip(".")
        progress(f"{name} {case}")
        title = next((title for title in segments if phase != _LOADER and title.startswith(phase)), None)
        found.add(title)
        named = {call.replace("read-pipe/tty[32]", "read[32]"): count for call, count in recorded.items()}
        calls = {call: count for call, count in named.items() if "-pipe/tty" not in call or call == tickets}
        result.record(name, case, field_differences(calls, {} if title is None else segments[title]))
    unseen = [title for title in segments if title not in found and segments[title]]
    result.record(name, "all phases", f"not recorded: {', '.join(unseen)}" if unseen else "")
    for number, seeker in enumerate(truth.seekers, 1):
        case = f"seeker {number}"
        progress(f"{name} {case}")
        result.record(name, case, _seeker_difference(seeker, program, number))
    totals = {"reads": truth.seek_reads_total, "writes": truth.seek_writes_total, "seekers": len(truth.seekers)}
    updates = sum(_updates(seeker, program) for seeker in truth.seekers)
    model = {"reads": program.seeks, "writes": updates, "seekers": program.seekers}
    result.record(name, "all seeks", field_differences(totals, model))
    result.record(name, "messages", _message_difference(truth.command_output, program.run))


def _program(name: str, truth: _Truth) -> _Program:
    """The program and its settings, from what it printed and whether it synced."""
    output = truth.command_output
    plain = re.search(r"File '.*/Bonnie\.(\d+)', size: (\d+)", output)
    if plain and int(plain[2]) >= MIB:
        run = bonnie_64(int(plain[2]) // MIB)
        return _Program(run, run.settings.seek_chunk, SEEKS, int(plain[1]))
    last = output.rstrip("\n").rpartition("\n")[2].split(",")
    if len(last) >= 15 and re.fullmatch(r"[1-9]\d*M", last[1]) and last[14].isdigit():
        make, size, small, fast = version_1_03, last[1], last[14], not last[2]
    elif len(last) >= 24 and re.fullmatch(r"1\.9\d", last[0]) and re.fullmatch(r"(1\.9|2\.0).*", last[1]):
        # Since 1.98 the line names seeks and seekers before the first rate.
        first = 9 if last[0] >= "1.98" else 7
        make = version_2_00 if last[1].startswith("2.") else version_1_9
        size, small, fast = last[5], last[first + 12], not last[first]
    else:
        size = small = ""
    if not re.fullmatch(r"[1-9]\d*M", size) or not re.fullmatch(r"\d*", small):
        found = "field command_output names no size that is known"
        raise NotSupported(name, found, "expected: what bonnie or bonnie++ prints")
    small_phases = [calls for phase, calls in truth.phases.items() if phase.startswith(_SMALL_FILES)]
    telling = small_phases if small_phases or make is not version_1_03 else truth.phases.values()
    told = any("fsync" in calls for calls in telling)
    megabytes, small_files = int(size[:-1]), int(small or 0)
    plus = make(BonniePlusPlusSettings(megabytes=megabytes, small_files=small_files, sync=told, fast=fast))
    settings = plus.settings
    tickets = (settings.seeks + settings.seekers) * (4 if settings.threads else 1)
    return _Program(
        plus,
        settings.chunk,
        PLUS_SEEKS,
        0,
        settings.seekers,
        tickets,
        settings.random_updates,
        (int(told), int(settings.sync)),
    )


def _segments(run: Bonnie | BonniePlusPlus) -> dict[str, dict[str, int]]:
    """System calls of each phase by its title, in the words of the recordings."""
    parts: dict[str, list[Operation]] = {_FIRST_MESSAGE: []}
    current = parts[_FIRST_MESSAGE]
    for operation in run.operations():
        if operation.kind is Kind.MARK:
            current = parts[run.titles[operation.file]] = []
        elif operation.kind is not Kind.SLEEP:
            current.append(operation)
    return {title: _recorded_names(system_calls(part)) for title, part in parts.items()}


def _recorded_names(calls: Mapping[str, int]) -> dict[str, int]:
    named: dict[str, int] = {}
    for call, count in calls.items():
        for ours, recorded in _NAMES:
            if call.startswith(ours):
                call = recorded + call[len(ours) :]
                break
        named[call] = named.get(call, 0) + count
    return named


def _seeker_difference(seeker: _Seeker, program: _Program, number: int) -> str:
    """Pattern, range and number of the seeks of one process; and each offset where its seed is known."""
    chunk, size = program.chunk, program.run.size
    reads = seeker.counts.get("read", 0)
    updates = _updates(seeker, program)
    each, last = program.seeker_syncs
    syncs = {"fsync": each * updates + last} if each * updates + last else {}
    wrong = field_differences(seeker.counts, {"read": reads, "write": updates} | syncs)
    if wrong:
        return wrong
    recorded = [f"{letter} {offset} {moved}" for letter, offset, moved in seeker.first]
    if program.process and isinstance(program.run, Bonnie):
        process = program.process + number
        model = islice(_moves(program.run.seeks(process)), len(recorded))
        ends = [offset for letter, offset in _offsets(islice(program.run.seeks(process), reads)) if letter == "R"] or [
            0
        ]
        limits = {"smallest": seeker.all_read_offsets_min, "largest": seeker.all_read_offsets_max}
        return first_difference(recorded, model) or field_differences(
            limits, {"smallest": min(ends), "largest": max(ends)}
        )
    places = [offset for letter, offset, _ in seeker.first if letter == "R"]
    letters = [f"R {place} {chunk}" for place in places]
    if program.random_updates:
        chosen = {recorded[at - 1] for at, line in enumerate(recorded) if line.startswith("W") and at}
    else:
        chosen = set(letters[::UPDATE_EVERY])
    updated = ([line, line.replace("R", "W")] if line in chosen else [line] for line in letters)
    outside = [place for place in [*places, seeker.all_read_offsets_max] if place % chunk or not 0 <= place < size]
    if outside:
        return f"recorded offset {outside[0]} is no block of {chunk} bytes in a file of {size}"
    return first_difference(recorded, islice(chain.from_iterable(updated), len(recorded)))


def _updates(seeker: _Seeker, program: _Program) -> int:
    """How many of its seeks a process updates: one in ten from the first on, or as recorded if that may be chance."""
    reads, writes = seeker.counts.get("read", 0), seeker.counts.get("write", 0)
    if not program.random_updates:
        return -(-reads // UPDATE_EVERY)
    expected = reads / UPDATE_EVERY
    far = _FAR * math.sqrt(expected * (1 - 1 / UPDATE_EVERY))
    return writes if abs(writes - expected) <= far else round(expected)


def _offsets(seeks: Iterator[list[Operation]]) -> Iterator[tuple[str, int]]:
    for operation in chain.from_iterable(seeks):
        if operation.kind is not Kind.SEEK:
            yield ("R" if operation.kind is Kind.READ else "W"), operation.offset


def _moves(seeks: Iterator[list[Operation]]) -> Iterator[str]:
    for operation in chain.from_iterable(seeks):
        if operation.kind is not Kind.SEEK:
            yield f"{'R' if operation.kind is Kind.READ else 'W'} {operation.offset} {operation.size}"


def _message_difference(output: str, run: Bonnie | BonniePlusPlus) -> str:
    """Whether the titles of the phases stand in the output in the model's order."""
    places = {title: output.find(title) for title in run.titles.values()}
    missing = [title for title, place in places.items() if place < 0]
    if missing:
        return f"recorded nowhere: {missing[0]!r}"
    recorded = sorted(places, key=lambda title: places[title])
    return first_difference(recorded, list(places))
