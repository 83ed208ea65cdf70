"""Links of NVMe controllers from lspci -vv (pciutils, ls-caps.c): a link that is slower than its device is named.

lspci names a device by its address and not by its disk, so the rate is not put into the scenario.
"""

from __future__ import annotations

import re

from ..findings import Findings
from ..outputs import Output

_DEVICE = re.compile(r"(?P<address>(?:[\da-f]{4}:)?[\da-f]{2}:[\da-f]{2}\.\d) (?P<kind>[^:]+): (?P<name>\S.*)")
_LINK = re.compile(r"\s+(?P<what>LnkCap|LnkSta):.*?Speed (?P<speed>[\d.]+)GT/s.*?Width x(?P<width>\d{1,2})\b", re.ASCII)
_DRIVES = ("Non-Volatile memory", "RAID bus", "Serial Attached SCSI", "SATA")
"""Kinds of controllers that drives are, or are behind."""
PER_LANE = {"2.5": 250e6, "5": 500e6, "8": 985e6, "16": 1969e6, "32": 3938e6, "64": 7563e6}
"""Bytes per second of a lane (PCI Express Base Specification, with the coding of each generation)."""


def read(output: Output) -> Findings:
    """Notes on links that run at less than they can."""
    text, found = output.text, Findings()
    device: re.Match[str] | None = None
    able: tuple[float, str] | None = None
    for number in output.lines:
        line = text.line(number)
        if match := _DEVICE.match(line):
            device, able = (match if match["kind"].startswith(_DRIVES) else None), None
        elif device is not None and (link := _LINK.match(line)):
            rate = PER_LANE.get(link["speed"].removesuffix(".0"), 0.0) * int(link["width"])
            said = f"{link['speed']} GT/s x{link['width']}"
            if link["what"] == "LnkCap":
                able = rate, said
            elif able is not None and 0 < rate < 0.99 * able[0]:
                which = f"{device['address']} ({device['name'].strip()})"
                found.notes.append(
                    f"{text.name}:{number}: the link of {which} runs at {said}, and the device is made for {able[1]}; "
                    f"if it is a drive of the scenario, give that overrides: {{interface_rate: {rate / 1e6:.0f}MB/s}}"
                )
    return found
