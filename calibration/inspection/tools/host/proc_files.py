"""The computer from /proc/cpuinfo, /proc/meminfo, lscpu, free and uname (proc(5), lscpu(1), free(1), uname(1)).

Names of hosts are read past. free prints KiB, or with -m, -g and -h other units; without the command, a number that no
machine has in KiB tells them.
"""

from __future__ import annotations

import re

from ..facts import Fact, fact, place
from ..findings import Findings
from ..output_text import LARGEST, bounded, first_word, key_lines, pairs, size_of
from ..outputs import Output

_MOST_CORES = 4096
_KERNEL = re.compile(r"(?:Linux|FreeBSD)\b.*?\b(\d{1,2}\.\d{1,3}(?:\.\d{1,3})?[\w.+~-]*)", re.ASCII)
_RELEASE = re.compile(r"(\d{1,2}\.\d{1,3}(?:\.\d{1,3})?[\w.+~-]*)\s*$", re.ASCII)
"""What uname -r prints."""
_LEAST_CLOCK, _MOST_CLOCK = 1e7, 1e10
_LSCPU_NAMES = ("Model name", "Modellname", "Nom de modèle")
_LSCPU_CLOCKS = ("CPU max MHz", "CPU MHz", "Maximale Taktfrequenz der CPU", "Vitesse maximale du processeur en MHz")
_MEMORY = re.compile(r"(?:Mem|Speicher|Mem\.)\s*:?\s+(?P<total>\d+(?:\.\d+)?)(?P<unit>[KMGTkmgt]?)i?B?\s")
_FREE_UNIT = re.compile(r"\bfree\s+(?:-\w\s+)*-(?:w|t)?([bkmg])\b")
_FREE_POWERS = {"b": 0, "k": 1, "m": 2, "g": 3}
_LEAST_KIB, _LEAST_MIB = 200_000, 200
"""No machine has less memory in KiB, or in MiB."""
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


def lscpu(output: Output) -> Findings:
    """Name, highest clock and number of processors; in English, German and French."""
    found, fields = Findings(), key_lines(output.text, output.lines)
    name = next((fields[key].value for key in _LSCPU_NAMES if key in fields), None)
    clock = next((fields[key].value for key in _LSCPU_CLOCKS if key in fields), None)
    if name is not None and name.text and name.text != "-":
        found.computer.cpu = fact(" ".join(name.text.split()), name)
    cores = fields.get("CPU(s)") or fields.get("Processeur(s)")
    if cores is None:
        raise output.text.refused(output.first, "the line 'CPU(s):' of lscpu")
    found.computer.cores = fact(bounded(cores.value, _MOST_CORES, least=1), cores.value)
    if clock is not None:
        hertz = clock._replace(text=clock.text.replace(",", ".")).number() * 1e6
        if _LEAST_CLOCK <= hertz <= _MOST_CLOCK:
            found.computer.clock = fact(hertz, clock)
    return found


def free(output: Output) -> Findings:
    """The memory in the column "total"."""
    found, text = Findings(), output.text
    line = next((each for each in output.lines if _MEMORY.match(text.line(each))), None)
    match = _MEMORY.match(text.line(line)) if line is not None else None
    if line is None or match is None:
        raise text.refused(text.after(output.first), "the line 'Mem:' of free")
    total = text.group(line, match, "total")
    if match["unit"]:
        found.computer.memory = fact(size_of(total._replace(text=f"{total.text}{match['unit'].upper()}")), total)
        return found
    before = next((each for each in map(text.line, range(output.first - 1, 0, -1)) if each.strip()), "")
    option = _FREE_UNIT.search(before)
    size = bounded(total, LARGEST)
    guessed = 1 if size >= _LEAST_KIB else 2 if size >= _LEAST_MIB else 3
    power = _FREE_POWERS[option[1]] if option is not None else guessed
    found.computer.memory = fact(bounded(total, LARGEST, 1024**power), total)
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
