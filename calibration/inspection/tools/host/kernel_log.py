"""Links, write caches, capacities and errors of drives from the kernel's log (dmesg, journalctl -k).

Formats of Linux: libata-core.c and ahci (SATA), sd.c, nvme/host/pci.c, drivers/pci/pci.c
(pcie_print_link_status), drivers/md. The log names a port ("ata3") and a disk ("sda") in different lines: the ports of
the hosts that libata has are in the order of their disks, and are matched only if all models agree.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from ....text.report_text import Cell
from ..facts import Fact, fact, place
from ..findings import Findings, FoundDrive
from ..output_text import LARGEST, bounded, rate_of
from ..outputs import Output
from .lspci import PER_LANE

_STAMP = re.compile(r"(?:\w{3} +\d+ [\d:]+ \S+ )?(?:kernel: ?)?(?:\[[^\]]*\] ?)?(?:kernel: )?")
_PORT = re.compile(r"ata(?P<port>\d{1,3})(?:\.\d\d)?: (?P<words>.*)", re.ASCII)
_LINK = re.compile(r"SATA link up (?P<rate>\d(?:\.\d)? Gbps)", re.ASCII)
_MODEL = re.compile(r"ATA(?:PI)?-\d+: (?P<model>[^,]+), ", re.ASCII)
_QUEUE = re.compile(r"NCQ \((?:depth (?P<depth>\d+)(?:/\d+)?|(?P<off>not used))\)", re.ASCII)
_SCSI = re.compile(
    r"scsi (?P<host>\d{1,3}):(?P<rest>\d+:\d+:\d+): Direct-Access +ATA +(?P<model>\S.{0,15}?)\s+\S+\s+PQ:"
)
_DISK = re.compile(r"sd (?P<host>\d{1,3}):(?P<rest>\d+:\d+:\d+): \[(?P<name>sd[a-z]{1,3})\] (?P<words>.*)", re.ASCII)
_BLOCKS = re.compile(r"(?P<blocks>\d{1,15}) (?P<size>\d{3,5})-byte logical blocks", re.ASCII)
_PHYSICAL = re.compile(r"(?P<size>\d{3,5})-byte physical blocks", re.ASCII)
_CACHE = re.compile(r"Write cache: (?P<state>enabled|disabled)", re.ASCII)
_FUNCTION = re.compile(r"nvme (?P<name>nvme\d{1,3}): pci function (?P<address>\S+)", re.ASCII)
_SLOWED = re.compile(
    r"\S+ (?P<address>[\da-f:]+\.\d): [\d.]+ Gb/s available PCIe bandwidth, limited by (?P<speed>[\d.]+) ?GT/s"
    r"(?: PCIe)? x(?P<width>\d+) link at \S+ "
    r"\(capable of .*? with (?P<able>[\d.]+) ?GT/s(?: PCIe)? x(?P<wide>\d+) link\)",
    re.ASCII,
)
_ERROR = re.compile(
    r"(?:I/O|medium|target|nexus) error, dev (?P<dev>[a-z]\w*)|\[(?P<disk>sd[a-z]{1,3})\].*"
    r"(?:Sense Key : (?:Medium|Hardware)|Unrecovered read error|UNKNOWN\(0x2003\)|FAILED Result)"
    r"|nvme (?P<nvme>nvme\d+): .*(?:timeout|Abort status|resetting)",
    re.ASCII,
)
_PORT_ERROR = re.compile(
    r"exception Emask|failed command|error: \{|hard resetting link|limiting SATA link speed|link is slow|"
    r"NCQ disabled|revalidation failed|disabled$"
)
_ADAPTER = re.compile(
    r"(?P<driver>mpt[23]sas_cm\d+|mpt[23]?sas\d*|megaraid_sas \S+|hpsa \S+|smartpqi \S+|aacraid|arcmsr\d*|3w-\w+)\s?:? "
    r"(?P<words>.*)"
)
_BAD = re.compile(
    r"log_info\(|fault|fail|reset|timed? ?out|abort|degraded|offline|battery|write[ -]?through|error", re.IGNORECASE
)
_ARRAY = re.compile(r"(?:md/\w+:|md: ?)(?P<words>.*)")
_ARRAY_BAD = re.compile(
    r"Disk failure|Operation continuing|not clean|dirty degraded|kicking non-fresh|cannot start|read error|"
    r"active with (?P<here>\d+) out of (?P<all>\d+)|recovery of|resync of|data-check of|reshape of"
)
_LEAST_DEPTH = 2
_GBPS = " Gb/s"


@dataclass
class _Port:
    """What the log says of a port of libata."""

    model: str = ""
    rate: Cell | None = None
    notes: list[tuple[int, str]] = field(default_factory=list)


def read(output: Output) -> Findings:
    """Facts of disks, and notes on what is wrong with them."""
    reader = _Reader(output)
    for number in output.lines:
        reader.read(number)
    reader.finish()
    return reader.found


class _Reader:
    """What is known so far."""

    def __init__(self, output: Output) -> None:
        self.text, self.first = output.text, output.first
        self.found = Findings()
        self.ports: dict[int, _Port] = {}
        self.seats: dict[tuple[int, str], str] = {}
        self.disks: dict[tuple[int, str], str] = {}
        self.functions: dict[str, str] = {}
        self.slowed: list[tuple[int, re.Match[str]]] = []
        self.errors = Counter[str]()
        self.where: dict[str, int] = {}

    def read(self, number: int) -> None:
        """Take a line."""
        line = self.text.line(number)
        stamp = _STAMP.match(line)
        start = stamp.end() if stamp is not None else 0
        said = line[start:]
        if error := _ERROR.search(said):
            self._error(error["dev"] or error["disk"] or error["nvme"], number)
        elif port := _PORT.match(line, start):
            self._port(number, port)
        elif scsi := _SCSI.match(line, start):
            self.seats[int(scsi["host"]), scsi["rest"]] = " ".join(scsi["model"].split())
        elif disk := _DISK.match(line, start):
            self._disk(number, disk)
        elif function := _FUNCTION.match(line, start):
            self.functions[function["address"].removeprefix("0000:")] = function["name"]
        elif slowed := _SLOWED.match(line, start):
            self.slowed.append((number, slowed))
        elif "available PCIe bandwidth, limited" in said:
            raise self.text.refused(number, "the link's speed and width, such as 'limited by 8.0 GT/s PCIe x2 link at'")
        elif adapter := _ADAPTER.match(line, start):
            if _BAD.search(adapter["words"]):
                self._count(f"the adapter {adapter['driver'].split(' ')[0]}", number)
        elif (
            (array := _ARRAY.match(line, start))
            and (bad := _ARRAY_BAD.search(array["words"]))
            and (bad["here"] is None or bad["here"] != bad["all"])
        ):
            self._note(number, f"{said.strip()}; what mdadm --detail or /proc/mdstat says now is taken")

    def _note(self, number: int, words: str) -> None:
        self.found.notes.append(f"{self.text.name}:{number}: the kernel's log says: {words}")

    def _count(self, what: str, number: int) -> None:
        self.errors[what] += 1
        self.where.setdefault(what, number)

    def _error(self, name: str, number: int) -> None:
        whole = re.sub(r"(?<=[a-z])\d+$|p\d+$", "", name) if name.startswith(("sd", "vd")) else name
        self._count(whole, number)

    def _port(self, number: int, match: re.Match[str]) -> None:
        port = self.ports.setdefault(int(match["port"]), _Port())
        words, shift = match["words"], match.start("words")
        if link := _LINK.match(words):
            port.rate = self.text.cell(number, shift + link.start("rate"), shift + link.end("rate"))
        elif "SStatus" in words and "link down" not in words:
            raise self.text.refused(number, "the rate of the link, such as 'SATA link up 3.0 Gbps'")
        elif model := _MODEL.match(words):
            port.model = " ".join(model["model"].split())
        elif queue := _QUEUE.search(words):
            if queue["off"] or int(queue["depth"]) < _LEAST_DEPTH:
                port.notes.append((number, "native command queueing (NCQ) is off: one command at a time"))
        elif _PORT_ERROR.search(words):
            port.notes.append((number, words.strip()))

    def _disk(self, number: int, match: re.Match[str]) -> None:
        name, words, shift = match["name"], match["words"], match.start("words")
        self.disks[int(match["host"]), match["rest"]] = name
        drive = self.found.drives.setdefault(name, FoundDrive(name, f"{self.text.name}:{number}"))

        def cell(piece: re.Match[str], group: str) -> Cell:
            return self.text.cell(number, shift + piece.start(group), shift + piece.end(group))

        if blocks := _BLOCKS.match(words):
            size = bounded(cell(blocks, "size"), 1 << 16)
            drive.logical_sector = fact(size, cell(blocks, "size"))
            drive.capacity = fact(bounded(cell(blocks, "blocks"), LARGEST, size), cell(blocks, "blocks"))
        elif physical := _PHYSICAL.match(words):
            drive.physical_sector = fact(bounded(cell(physical, "size"), 1 << 16), cell(physical, "size"))
        elif cache := _CACHE.match(words):
            drive.write_cache = fact(cache["state"] == "enabled", cell(cache, "state"))
        elif words.startswith("Write cache:"):
            raise self.text.refused(number, "'Write cache: enabled' or 'Write cache: disabled'")

    def finish(self) -> None:
        """Give the ports to their disks, and the links to the NVMe drives."""
        names = self._names()
        for key, model in self.seats.items():
            drive = self.found.drives.get(self.disks.get(key, ""))
            if drive is not None and len(model) < _CUT:
                drive.model = Fact(model, drive.where)
        for number, port in self.ports.items():
            name = names.get(number)
            if port.rate is not None and (name is not None or self._is_slow(port.rate)):
                self._rate(number, port, name)
            for line, words in port.notes:
                self._note(line, f"ata{number}{f' ({name})' if name else ''}: {words}")
        for number, match in self.slowed:
            self._lanes(number, match)
        for what, count in self.errors.items():
            times = f"{count} errors" if count > 1 else "an error"
            check = f"; check it with smartctl -x /dev/{what}" if " " not in what else ""
            self._note(self.where[what], f"{times} of {what}, which may make it slow{check}")
        if not (self.found.drives or self.found.notes):
            self.found.notes.append(f"{self.text.name}:{self.first}: the kernel's log says nothing of drives")

    def _names(self) -> dict[int, str]:
        """The disk of each port, if all models agree."""
        ports = [number for number in sorted(self.ports) if self.ports[number].model]
        seats = sorted(self.seats)
        models = [self.seats[each] for each in seats]
        alike = len(ports) == len(seats) and all(
            self.ports[port].model.startswith(model) for port, model in zip(ports, models, strict=True)
        )
        if not alike:
            return {}
        found = {port: self.disks.get(seat, "") for port, seat in zip(ports, seats, strict=True)}
        for port, name in found.items():
            if name:
                self.found.drives[name].model = Fact(self.ports[port].model, self.found.drives[name].where)
        return {port: name for port, name in found.items() if name}

    @staticmethod
    def _is_slow(cell: Cell) -> bool:
        return not cell.text.startswith("6")

    def _rate(self, number: int, port: _Port, name: str | None) -> None:
        assert port.rate is not None
        rate = rate_of(port.rate)
        if rate is None:
            raise port.rate.refused("the rate of a link, such as 3.0 Gbps")
        if name is not None:
            self.found.drives[name].interface_rate = fact(rate, port.rate)
            self.found.drives[name].interface = fact("sata", port.rate)
        if self._is_slow(port.rate):
            which = f"{name} (ata{number})" if name is not None else f"ata{number}"
            more = "" if name is not None else "; smartctl -i of each drive tells which one it is"
            words = f"the link of {which} runs at {port.rate.text.split(' ')[0]}{_GBPS}{more}"
            self.found.notes.append(f"{place(port.rate)}: {words}")

    def _lanes(self, number: int, match: re.Match[str]) -> None:
        """A PCIe device that could have more lanes, or faster ones."""
        address = match["address"].removeprefix("0000:")
        now = PER_LANE.get(match["speed"].removesuffix(".0"), 0.0) * int(match["width"])
        said = f"{match['speed']} GT/s x{match['width']}, and it is made for {match['able']} GT/s x{match['wide']}"
        name = self.functions.get(address)
        which = f"{name}n1" if name is not None else address
        self.found.notes.append(f"{self.text.name}:{number}: the link of {which} runs at {said}")
        if name is not None and now:
            where = f"{self.text.name}:{number}"
            drive = self.found.drives.setdefault(which, FoundDrive(which, where))
            drive.interface_rate, drive.interface = Fact(now, where), Fact("nvme", where)
            drive.solid_state = Fact(True, where)


_CUT = 16
"""Characters of a model that SCSI's inquiry has at most."""
