"""Other names of disks from ls -l of a folder below /dev/disk ("ata-WDC_WD40EFRX-68N32N0_WD-0000 -> ../../sda")."""

from __future__ import annotations

import re

from ..findings import Findings
from ..outputs import Output

_LINK = re.compile(r"(?P<name>\S+) -> (?:\.\./)+(?P<device>[\w!-]+)\s*$", re.ASCII)


def read(output: Output) -> Findings:
    """The kernel's name of each."""
    text, found = output.text, Findings()
    for number in output.lines:
        link = _LINK.search(text.line(number))
        if link is not None:
            found.aliases[link["name"]] = link["device"]
        elif text.line(number).startswith("l"):
            raise text.refused(number, "a link of ls -l: name -> ../../sda")
    return found
