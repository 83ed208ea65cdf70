"""The computer from /proc/cpuinfo, /proc/meminfo and uname (proc(5), uname(1)); names of hosts are read past."""

from __future__ import annotations

import re

from .findings import Fact, Findings, fact, place
from .output_text import LARGEST, bounded, first_word, key_lines, pairs
from .outputs import Output

_MOST_CORES = 4096
_KERNEL = re.compile(r"(?:Linux|FreeBSD)\b.*?\b(\d{1,2}\.\d{1,3}(?:\.\d{1,3})?[\w.+~-]*)", re.ASCII)
_RELEASE = re.compile(r"(\d{1,2}\.\d{1,3}(?:\.\d{1,3})?[\w.+~-]*)\s*$", re.ASCII)
"""What uname -r prints."""
_LEAST_CLOCK, _MOST_CLOCK = 1e7, 1e10
_NAME_KEYS = ("model name", "cpu model", "Processor", "cpu")


def cpuinfo(output: Output) -> Findings:
    """Name, highest clock and number of processors."""
    found = Findings()
    processors = 0
    lines = list(pairs(output.text, output.lines))
    for key, value in lines:
        if key.text == "processor" and value.text.isdecimal():
            processors += 1
        elif key.text == "cpu MHz":
            clock = value.number() * 1e6
            known = found.computer.clock
            if _LEAST_CLOCK <= clock <= _MOST_CLOCK and (known is None or clock > known.value):
                found.computer.clock = fact(clock, value)
    named = next(((key, value) for key, value in lines if key.text in _NAME_KEYS and value.text), None)
    if named is not None:
        found.computer.cpu = fact(" ".join(named[1].text.split()), named[1])
    if not 1 <= processors <= _MOST_CORES:
        raise output.text.refused(output.first, f"1 to {_MOST_CORES} processors")
    found.computer.cores = Fact(processors, f"{output.text.name}:{output.first}")
    return found


def meminfo(output: Output) -> Findings:
    """The memory that the kernel manages."""
    found = Findings()
    total = key_lines(output.text, output.lines)["MemTotal"].value
    found.computer.memory = fact(bounded(first_word(total), LARGEST, 1024), total)
    return found


def uname(output: Output) -> Findings:
    """The kernel's release; FreeBSD's with its name before it."""
    found = Findings()
    line = output.text.line(output.first)
    match = _KERNEL.match(line) or _RELEASE.match(line)
    if match is None:
        raise output.text.refused(output.first, "a release such as 6.1.0")
    cell = output.text.group(output.first, match, 1)
    system = "FreeBSD " if line.startswith("FreeBSD") else ""
    found.computer.kernel = Fact(system + match[1], place(cell))
    return found
