"""Arrays from /proc/mdstat (Linux md.c: md_seq_show; the format itself is read by
:mod:`raidsim.calibration.formats.monitors.mdstat`).

The number behind a member is that of its descriptor, which is its slot only until a spare has taken somebody's place:
from then on, only the marks ([UU_U]) tell which slots work. Before 2.6 a spare has no (S); it is known by a number
beyond the last slot of an array that misses nobody.
"""

from __future__ import annotations

import re

from .....model.layouts import LEVELS
from ....formats.monitors import mdstat
from ....text.report import Figure, Report
from ....text.report_text import ReportText
from ..facts import Fact
from ..findings import Findings, FoundArray, FoundMember
from ..output_text import LARGEST
from ..outputs import Output

RANK = 3
NOT_SIMULATED = {
    "multipath": "several paths to one disk are no array of disks",
    "faulty": "its level is for tests of errors",
    "container": "it only holds other arrays' members",
}
"""Levels that are left out, and why."""
PERSONALITIES_2_4 = "2.4"
"""Only Linux 2.4 has a line "read_ahead" in /proc/mdstat."""
ACTIONS = {
    "recovery": "recover",
    "resync": "repair",
    "check": "check",
    "repair": "repair",
    "reshape": "reshape",
}
"""A resync after a crash reads everything and writes what differs, as a repair does."""

WITH_Q = "-6"
"""Behind the algorithm of a RAID 5 that a RAID 6 has kept, with Q on its last member (ALGORITHM_LEFT_SYMMETRIC_6)."""
_MARKS = re.compile(r"\[([U_]+)\]\s*$")
_COPIES = re.compile(r" \d+ (?:near|far|offset)-copies")
_EXTERNAL = re.compile(r"external:[^/]")
_READ_AHEAD = re.compile(r"read_ahead (?:\d+ sectors|not set)")
_MOST_SLOTS = 1024


def read(output: Output) -> Findings:
    """The arrays and their members."""
    text = output.text.part(output.first, output.last)
    report = mdstat.parse(text)
    found = Findings()
    for name in dict.fromkeys(dict(figure.context)["array"] for figure in report.figures):
        figures = [each for each in report.figures if dict(each.context)["array"] == name]
        sizes = [figure for figure in figures if figure.name == "size"]
        if len(sizes) > 1:
            raise text.refused(sizes[1].line - 1, f"each array once: {name} ends in line {sizes[0].line}")
        found.arrays[name] = _array(name, figures, text)
    for number in output.lines:
        if _READ_AHEAD.match(text.line(number)):
            found.computer.kernel = Fact(PERSONALITIES_2_4, f"{text.name}:{number}")
    found.notes += _waiting(report, text.name)
    return found


def _waiting(report: Report, name: str) -> list[str]:
    """What the parser warns of, but for lines that are none of mdstat's."""
    return [
        f"{name}: {warning}" for warning in report.warnings if "skipped" not in warning and "cut off" not in warning
    ]


def _array(name: str, figures: list[Figure], text: ReportText) -> FoundArray:
    here = dict(next(figure for figure in figures if figure.name == "size").context)
    size = next(figure for figure in figures if figure.name == "size")
    header = next((figure.line for figure in figures if figure.name == "slot"), size.line - 1)
    array = FoundArray(name, f"{text.name}:{header}", RANK)
    below = f"{text.name}:{size.line}"
    if size.value > LARGEST:
        raise text.refused(size.line, "a size that disks can have")
    level = here.get("level")
    if level is not None:
        array.level = Fact(level, array.where)
    if here["state"].startswith("inactive"):
        array.reason = "it is inactive"
    elif level in NOT_SIMULATED:
        array.reason = NOT_SIMULATED[level]
    if _EXTERNAL.match(here.get("metadata", "")):
        array.reason, array.container = NOT_SIMULATED["container"], True
    array.size = Fact(int(size.value), below)
    for figure in figures:
        if figure.name == "chunk" and 0 < figure.value <= LARGEST and (level not in LEVELS or LEVELS[level].has_chunk):
            array.chunk = Fact(int(figure.value), below)
        elif figure.name == "algorithm":
            array.algorithm = Fact(here["algorithm"], below)
        elif figure.name == "copies":
            array.algorithm = Fact(here["copies"], below)
            array.copies = Fact(min(int(figure.value), _MOST_SLOTS), below)
        elif figure.name == "bitmap_chunk":
            array.bitmap = Fact(int(figure.value), f"{text.name}:{figure.line}")
    if len(_COPIES.findall(text.line(size.line))) > 1:
        array.reason = "it has both near and far copies, which the model does not combine"
    _progress(array, figures, text)
    _members(array, figures, text)
    return array


def _progress(array: FoundArray, figures: list[Figure], text: ReportText) -> None:
    for figure in figures:
        action, _, what = figure.name.partition("_")
        if what != "done":
            continue
        total = next(other.value for other in figures if other.name == f"{action}_total")
        where = f"{text.name}:{figure.line}"
        if total:
            array.action = Fact(ACTIONS[action], where)
            array.progress = Fact(figure.value / total, where)
            if action == "reshape":
                _reshaped(array, total, where)
            if action == "resync":
                array.notes.append(f"{array.name}: a resync ({where}) is simulated as a repair")


def _reshaped(array: FoundArray, counted: float, where: str) -> None:
    """How many members a parity array had before its reshape, which counts what is used of a member.

    Until the reshape is over the array has its old size. Of a RAID 10 nothing tells. md prints the new chunk and the
    old algorithm (raid5_status, raid5_start_reshape); that of a RAID 5 with a Q behind it says that it was a RAID 5.
    """
    known = LEVELS.get(array.level.value) if array.level is not None else None
    if known is None or not known.has_parity or array.size is None:
        return
    parities = known.parities
    if array.algorithm is not None and array.algorithm.value.endswith(WITH_Q):
        array.algorithm = Fact(array.algorithm.value.removesuffix(WITH_Q), array.algorithm.where)
        array.old_level = Fact("raid5", array.algorithm.where)
        parities = 1
    array.member_size = Fact(int(counted), where)
    array.old_members = Fact(round(array.size.value / counted) + parities, where)


def _members(array: FoundArray, figures: list[Figure], text: ReportText) -> None:
    """Who is in which slot."""
    wanted = next((figure for figure in figures if figure.name == "members"), None)
    marks = _MARKS.search(text.line(wanted.line)) if wanted is not None else None
    people = [figure for figure in figures if figure.name == "slot"]
    if len(people) > _MOST_SLOTS or (wanted is not None and wanted.value > _MOST_SLOTS):
        raise text.refused(people[0].line if people else 1, f"at most {_MOST_SLOTS} members")
    contexts = {id(each): dict(each.context) for each in people}
    working: list[Figure] = []
    faulty: list[Figure] = []
    for each in sorted(people, key=lambda figure: figure.value):
        states = contexts[id(each)]["member_state"].split()
        where = f"{text.name}:{each.line}"
        device = contexts[id(each)]["member"]
        if "journal" in states:
            array.journal = Fact(device, where)
        elif "faulty" in states:
            faulty.append(each)
        elif "spare" in states:
            array.spares.append(device)
        elif "replacement" in states:
            array.notes.append(f"{array.name}: {device} ({where}) replaces a member that still works; left out")
        else:
            working.append(each)

    def member(each: Figure, state: str) -> FoundMember:
        said = contexts[id(each)]
        mostly = "write-mostly" in said["member_state"].split()
        taken = "failed" if state == "failed" else "rebuilding" if state == "rebuilding" else "in use"
        return FoundMember(said["member"], taken, f"{text.name}:{each.line}", mostly)  # type: ignore[arg-type]

    if marks is None or wanted is None:
        array.members = [member(each, "in use") for each in working]
        array.stray += [contexts[id(each)]["member"] for each in faulty]
        return
    signs = marks[1]
    slots: list[FoundMember | None] = [None] * len(signs)
    late = []
    for each in working:
        number = int(each.value)
        if number < len(slots) and slots[number] is None and signs[number] == "U":
            slots[number] = member(each, "in use")
        else:
            late.append(each)
    for each in list(late):
        free = next((slot for slot, sign in enumerate(signs) if sign == "U" and slots[slot] is None), None)
        if free is None:
            break
        slots[free] = member(each, "in use")
        late.remove(each)
    rebuilding = array.action is not None and array.action.value == "recover"
    waits = next((figure for figure in figures if figure.name in ("recovery_waiting", "resync_waiting")), None)
    for each in late:
        own = int(each.value)
        empty = [slot for slot, sign in enumerate(signs) if sign == "_" and slots[slot] is None]
        if rebuilding and empty:
            slots[own if own in empty else empty[0]] = member(each, "rebuilding")
        elif waits is not None and empty:
            slots[own if own in empty else empty[0]] = member(each, "failed")
            device = contexts[id(each)]["member"]
            array.notes.append(
                f"{array.name}: {device} is not in sync, and its rebuild waits ({text.name}:{waits.line}); it is "
                "simulated as failed"
            )
        else:
            array.spares.append(contexts[id(each)]["member"])
    for each in faulty:
        own = int(each.value)
        empty = [slot for slot, sign in enumerate(signs) if sign == "_" and slots[slot] is None]
        if empty:
            slots[own if own in empty else empty[0]] = member(each, "failed")
        else:
            array.stray.append(contexts[id(each)]["member"])
    where = f"{text.name}:{wanted.line}"
    array.members = [each or FoundMember(None, "missing", where) for each in slots]
