"""Module parameters and the size of the ARC: /sys/module/zfs/parameters, arcstats, arc_summary, modprobe's options.

A dump of the parameters has a line "path:value" for each, as `grep . /sys/module/zfs/parameters/*` prints it. arcstats
(/proc/spl/kstat/zfs/arcstats) has the largest size of the ARC as c_max, arc_summary the same, rounded, as "Max size".
"""

from __future__ import annotations

import re

from .....scenarios.description.tuning import ZfsParameters
from ..facts import Fact, fact, place
from ..findings import Findings
from ..output_text import LARGEST, bounded, size_of
from ..outputs import Output

_KNOWN = ZfsParameters.model_fields
_PARAMETER = re.compile(r"(?:\S*/)?(?P<name>[a-z]\w*)\s*[:=]\s*(?P<value>\S+)\s*$", re.ASCII)
_OPTION = re.compile(r"\b(?P<name>z\w+|spa_\w+|l2arc_\w+)=(?P<value>\d+)\b", re.ASCII)
_TUNABLE = re.compile(r"\s+(?P<name>[a-z]\w*)\s+(?P<value>\d+)\s*$", re.ASCII)
_LARGEST_ARC = re.compile(r"\s*Max [Ss]ize \([Hh]igh [Ww]ater\):\s+\d+:1\s+(?P<size>[\d.]+\s+[KMGT]iB)\s*$", re.ASCII)
_ARC_MAX = "zfs_arc_max"


def parameters(output: Output) -> Findings:
    """The parameters of a dump that a scenario can have."""
    text, found, others = output.text, Findings(), 0
    for number in output.lines:
        line = text.line(number)
        matches = list(_OPTION.finditer(line)) if line.startswith("options") else [_PARAMETER.match(line)]
        for match in matches:
            if match is None:
                if line.strip():
                    raise text.refused(number, "a parameter and its value, such as zfs_arc_max:0")
            elif match["name"] in _KNOWN:
                value = text.group(number, match, "value")
                found.parameters.setdefault(match["name"], fact(bounded(value, LARGEST), value))
            else:
                others += 1
    if others:
        found.notes.append(f"{text.name}:{output.first}: {others} module parameters are not simulated")
    return found


def arcstats(output: Output) -> Findings:
    """The largest size of the ARC."""
    text, found = output.text, Findings()
    for number in range(text.after(output.first), output.last + 1):
        cells = text.cells(number)
        if cells and len(cells) != 3:
            raise text.refused(number, "a name, a type and a number, as arcstats has them")
        if cells and cells[0].text == "c_max":
            found.parameters[_ARC_MAX] = fact(bounded(cells[2], LARGEST), cells[2])
    return found


def arc_summary(output: Output) -> Findings:
    """The largest size of the ARC, and the parameters where it lists them."""
    text, found = output.text, Findings()
    for number in output.lines:
        largest = _LARGEST_ARC.match(text.line(number))
        tunable = _TUNABLE.match(text.line(number))
        if largest is not None:
            size = text.group(number, largest, "size")
            found.parameters.setdefault(_ARC_MAX, Fact(size_of(size), place(size)))
        elif tunable is not None and tunable["name"] in _KNOWN and tunable["name"] != _ARC_MAX:
            value = text.group(number, tunable, "value")
            found.parameters.setdefault(tunable["name"], fact(bounded(value, LARGEST), value))
    return found
