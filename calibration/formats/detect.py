"""Which program printed a text, told by what is in it, and the way from a file to its figures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ...model.core.errors import InputError
from ..text.paste import lift
from ..text.report import Report
from ..text.report_text import MOST_BYTES, ReportText, too_long
from .benchmarks import (
    bonnie,
    bonnie_plus_plus,
    crystal_disk_mark,
    dd_and_time,
    diskinfo,
    diskspd,
    fio_json,
    fio_text,
    hdparm,
    iozone,
    postmark,
    sysbench,
    tiobench,
    vdbench,
)
from .monitors import dstat, iostat, iostat_json, mdstat, sar, zpool_iostat


class Format(NamedTuple):
    """One program's output.

    Attributes
    ----------
    name
        Of the format.
    signature
        A line that only this program prints.
    parse
        From a text to its figures.
    """

    name: str
    signature: re.Pattern[str]
    parse: Callable[[ReportText], Report]


FORMATS = tuple(
    Format(module.NAME, module.SIGNATURE, module.parse)
    for module in (
        *(fio_json, fio_text, bonnie_plus_plus, bonnie, postmark, tiobench, iozone, iostat, mdstat),
        *(hdparm, diskinfo, crystal_disk_mark, iostat_json, sysbench, sar, zpool_iostat),
        *(vdbench, diskspd, dstat),
    )
)
"""The formats that are told by their own lines."""
AROUND = Format(dd_and_time.NAME, dd_and_time.SIGNATURE, dd_and_time.parse)
"""What is also printed around another program ("real 0m1s"); it is the report only where there is no other."""

_LONGEST_LINE = 4000
"""Of any format but JSON, which may stand in one line."""
_FOREIGN = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


def detect(text: ReportText) -> Format:
    """The format of a text; raises `InputError` if none is recognized, or several are."""
    first: dict[Format, int] = {}
    for number, line in enumerate(text.lines, 1):
        for each in (*FORMATS, AROUND):
            if each not in first and each.signature.search(line, 0, _LONGEST_LINE):
                first[each] = number
    found = [each for each in FORMATS if each in first]
    if {fio_json.NAME, fio_text.NAME} <= {each.name for each in found}:  # --output-format=json,normal
        found = [each for each in found if each.name != fio_text.NAME]
    if len(found) > 1:
        where = ", ".join(f"{each.name} (line {first[each]})" for each in found)
        raise InputError(text.name, f"found the reports of several programs: {where}", "expected: one program's a file")
    chosen = found[0] if found else AROUND if AROUND in first else None
    if chosen is not None:
        for number, line in enumerate(text.lines, 1):
            if len(line) > _LONGEST_LINE and chosen.name != fio_json.NAME:
                raise text.refused(number, f"lines of at most {_LONGEST_LINE} characters", f"{len(line)} characters")
        return chosen
    known = ", ".join(each.name for each in (*FORMATS, AROUND))
    raise text.refused(1, f"the output of one of {known}", "a text that none of the known programs prints")


def parse(text: str, name: str) -> Report:
    """The figures of a report.

    Parameters
    ----------
    text
        What the program printed, perhaps with other lines around it.
    name
        What errors call it.

    Raises
    ------
    InputError
        Naming file, line and column, what was found there, and what is allowed.
    """
    lines = ReportText(text, name)
    lift(lines)
    return detect(lines).parse(lines)


def read_report(path: Path | str) -> Report:
    """The figures of the report in a file; its name says nothing about its format."""
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(name, f"cannot be read ({reason})", "expected: a file with a program's output") from None
    if len(content) > MOST_BYTES:
        raise too_long(name)
    for start, kind in _FOREIGN.items():
        if content.startswith(start):
            raise InputError(name, f"found {kind}", "expected: plain text in UTF-8")
    try:
        return parse(content.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise InputError(
            f"{name}:{line}:{column}", f"found the byte 0x{content[error.start]:02x}", "expected: text in UTF-8"
        ) from None
