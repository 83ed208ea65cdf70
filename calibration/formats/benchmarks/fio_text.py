"""fio's normal output, of fio 2 and fio 3 (stat.c, show_thread_status_normal).

The figures have the names of :mod:`.fio_json`, but have the four digits that the text has.
fio 3 says its units: "KiB/s" is 1024 bytes, "kB/s" 1000. To fio 1 and 2 KB and MB are powers of 1024. IOPS and
latencies may have a prefix ("10.5k"), which is always decimal. Of options the text has direction, block sizes, engine
and depth only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...text.paste import breaks, join_wrapped
from ...text.report import FigureList, Report
from ...text.report_text import Cell, ReportText

NAME = "fio-text"
SIGNATURE = re.compile(r"^[^\s>].*: \(groupid=\d+, jobs=\d+\): err=")

_VERSION = re.compile(r"^fio-(\d\S*)\s*$")
_HEADER = re.compile(
    r"^(?P<job>\S.*): \(g=(?P<group>\d+)\): rw=(?P<rw>\w+), (?:bs=(?P<bs>.*), )?ioengine=(?P<engine>\S+), "
    r"iodepth=(?P<depth>\d+)\s*$"
)
_HEADER_LINE = re.compile(r"\S.*: \((?:g=\d+\): rw=|groupid=)")
_SIZES = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|k|K|M)?B?-(\d+(?:\.\d+)?)(Ki|Mi|k|K|M)?B?")
_JOB = re.compile(r"^(?P<job>\S.*): \(groupid=(?P<group>\d+), jobs=(?P<jobs>\d+)\): err=\s*(?P<error>\d+)")
_NEW = re.compile(
    r"^\s+(?P<direction>read|write|trim|mixed): IOPS=(?P<iops>[^,\s]+), BW=(?P<rate>\S+)(?: \([^)]*\))?"
    r"\((?P<bytes>[^/]+)/(?P<runtime>\d+)msec\)"
)
_OLD = re.compile(
    r"^\s+(?P<direction>read|write|trim|mixed)\s*: io=(?P<bytes>[^,\s]+), bw=(?P<rate>[^,\s]+), "
    r"iops=(?P<iops>[^,\s]+), runt(?:ime)?=\s*(?P<runtime>\d+)msec"
)
_DIRECTION = re.compile(r"^\s+(?:read|write|trim|mixed)\s*: (?:IOPS|io)=")
_LATENCY = re.compile(
    r"^\s+(?P<kind>slat|clat|lat|sync) \((?P<unit>[num]?sec)\)\s*: min=\s*(?P<min>\S+), max=\s*(?P<max>\S+), "
    r"avg=\s*(?P<mean>\S+), stdev=\s*(?P<stddev>\S+)"
)
_LATENCY_LINE = re.compile(r"^\s+(?:slat|clat|lat|sync) \([num]?sec\)\s*: min=")
_PERCENTILES = re.compile(r"^\s+(?:(?P<kind>slat|clat|lat|sync) )?percentiles \((?P<unit>[num]?sec)\):")
_PERCENTILE_LINE = re.compile(r"^\s+\| ")
_PERCENTILE = re.compile(r"(?P<share>\d+(?:\.\d+)?)th=\[\s*(?P<value>[^\]]*)\]")
_SHARES = re.compile(r"^\s+lat \((?P<unit>[num]?sec)\)\s*: (?P<shares>.*)$")
_SHARE = re.compile(r"(?P<bound>>?=?\d+)=(?P<share>[\d.]+)%")
_CPU = re.compile(r"^\s+cpu\s+: usr=(?P<user>[^%\s]+)%, sys=(?P<system>[^%\s]+)%")
_DEPTHS = re.compile(r"^\s+IO depths\s+: (?P<shares>.*)$")
_ISSUED = re.compile(r"^\s+issued rwts: total=(?P<read>\d+),(?P<write>\d+),(?P<trim>\d+)")
_ISSUED_OLD = re.compile(r"^\s+issued\s+: total=r=(?P<read>\d+)/w=(?P<write>\d+)/d=(?P<trim>\d+)")
_DISKS = re.compile(r"^Disk stats")
_DISK = re.compile(r"^\s+(?P<disk>\S+): ios=(?P<reads>\d+)/(?P<writes>\d+),.*?util=(?P<util>[^%\s]+)%")
_END = re.compile(r"^Run status group")
_RATE = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<prefix>[KMGTP]i|[kKMGTP])?(?P<unit>B|bit|b)?(?:/s)?$", re.ASCII)
_PREFIXED = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<prefix>[kKMG]?)$", re.ASCII)
_SECONDS = {"sec": 1.0, "msec": 1e3, "usec": 1e6, "nsec": 1e9}
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_UNITS = {"nsec": "ns", "usec": "us", "msec": "ms"}
_OWN_LINE = re.compile(
    r".*: \((?:g=|groupid=)|fio[- ]|Starting |Jobs: |Run status|Disk stats|(?:READ|WRITE|TRIM|MIXED): |"
    r"(?:read|write|trim|mixed)\s*: |cpu\s+: |IO depths|submit\s+: |complete\s+: |issued |latency\s+: "
)
_RWT = ("read", "write", "trim")


class _Asked(NamedTuple):
    """What the line of a job before the run says: context, depth and block size with its line."""

    context: dict[str, str]
    depth: Cell
    size: int | None


def _joint(line: str, rest: str) -> str | None:
    """Lines of a job are indented, unless mail has broken them off the line before."""
    broken = not rest[:1].isspace() and not _OWN_LINE.match(rest) and breaks(line, rest)
    return " " if broken and (line[:1].isspace() or _HEADER_LINE.match(line)) else None


def parse(text: ReportText) -> Report:
    """The figures of every job, and of the disks below."""
    join_wrapped(text, range(1, len(text) + 1), _joint)
    return _Reader(text).report()


class _Reader:
    """The job and the direction that a line belongs to."""

    def __init__(self, text: ReportText) -> None:
        self.text = text
        self.figures = FigureList()
        self.warnings: list[str] = []
        self.version: str | None = None
        self.asked: dict[str, _Asked] = {}
        self.here: dict[str, str] = {}
        self.direction = ""
        self.percentiles: tuple[str, str] | None = None
        self.inside = False
        self.jobs = 0

    def report(self) -> Report:
        """The whole."""
        for number in range(1, len(self.text) + 1):
            if self._line(number):
                self.text.use(number)
        if not len(self.figures):
            raise self.text.refused(len(self.text) + 1, "a job with a line 'read: IOPS=...' or 'write: IOPS=...'")
        rounded = "figures have the digits that fio's text has; --output-format=json has all of them"
        return Report(NAME, self.version, self.figures.all(), (rounded, *self.warnings, *self.text.skipped()))

    def _line(self, number: int) -> bool:
        """Read a line; returns whether it is part of the report."""
        line = self.text.line(number)
        if version := _VERSION.match(line):
            self.version = version[1]
        elif header := _HEADER.match(line):
            self._header(number, header)
        elif job := _JOB.match(line):
            self._job(number, job)
        elif _END.match(line) or _DISKS.match(line):
            self.inside, self.here = True, {}
        elif disk := _DISK.match(line):
            self._disk(number, disk)
        elif self.inside and self.here:
            self._of_job(number, line)
        return bool(self.inside or version or header) or line.startswith(("Starting ", "Jobs: "))

    def _header(self, number: int, match: re.Match[str]) -> None:
        """The line of a job before the run; several sizes are no figure."""
        sizes = {_bytes(each, unit) for found in _SIZES.findall(match["bs"] or "") for each, unit in _pairs(found)}
        context = {"rw": match["rw"], "iodepth": match["depth"], "ioengine": match["engine"]}
        depth = self.text.group(number, match, "depth")
        self.asked[match["job"]] = _Asked(context, depth, sizes.pop() if len(sizes) == 1 else None)

    def _job(self, number: int, match: re.Match[str]) -> None:
        self.jobs += 1
        self.inside, self.direction, self.percentiles = True, "", None
        name = match["job"]
        self.here = {"job": name, "number": str(self.jobs), "group": match["group"]}
        if match["jobs"] != "1":
            self.here["jobs"] = match["jobs"]
        asked = self.asked.get(name)
        if asked is not None:
            self.here |= asked.context
            self.figures.add("iodepth", asked.depth.number(), "count", asked.depth.line, **self.here)
            if asked.size is not None:
                self.figures.add("block_size", asked.size, "bytes", asked.depth.line, **self.here)
        if match["error"].strip("0"):
            self.warnings.append(f"job {name!r} (line {number}) ended with error {match['error']}")

    def _of_job(self, number: int, line: str) -> None:
        if _DIRECTION.match(line):
            self._direction(number, line)
        elif _LATENCY_LINE.match(line):
            self._latency(number, line)
        elif block := _PERCENTILES.match(line):
            self.percentiles = (block["kind"] or "clat", block["unit"])
        elif _PERCENTILE_LINE.match(line):
            self._percentile(number, line)
        elif shares := _SHARES.match(line):
            self._latency_shares(number, shares)
        elif cpu := _CPU.match(line):
            for name in ("user", "system"):
                share = self.text.group(number, cpu, name).number(per=100)
                self.figures.add(f"{name}_cpu", share, "share", number, **self.here)
        elif depths := _DEPTHS.match(line):
            self._depths(number, depths)
        elif issued := _ISSUED.match(line) or _ISSUED_OLD.match(line):
            self._issued(number, issued)

    def _direction(self, number: int, line: str) -> None:
        match = _NEW.match(line) or _OLD.match(line)
        if match is None:
            raise self.text.refused(
                number, "'read: IOPS=N, BW=N (N)(N/Nmsec)' of fio 3, or 'read : io=N, bw=N, ...' of fio 2"
            )
        self.direction, self.percentiles = match["direction"], None
        old = match.re is _OLD  # only fio 2 writes io= and bw=; a paste may lack the line of the version
        rate, moved = (_amount(self.text.group(number, match, name), old) for name in ("rate", "bytes"))
        runtime = self.text.group(number, match, "runtime").number(per=1000)
        iops = _prefixed(self.text.group(number, match, "iops"))
        for name, value, unit in (("rate", rate, "bytes/s"), ("iops", iops, "1/s"), ("bytes", moved, "bytes")):
            self.figures.add(f"{self.direction}_{name}", value, unit, number, **self.here)  # type: ignore[arg-type]
        self.figures.add(f"{self.direction}_seconds", runtime, "s", number, **self.here)

    def _latency(self, number: int, line: str) -> None:
        match = _LATENCY.match(line)
        if match is None:
            raise self.text.refused(number, "'min=N, max=N, avg=N, stdev=N' of a latency")
        kind, scale = match["kind"], _SECONDS[match["unit"]]
        prefix = "sync_lat" if kind == "sync" else f"{self.direction}_{kind}"
        for moment in ("min", "max", "mean", "stddev"):
            value = _prefixed(self.text.group(number, match, moment)) / scale
            self.figures.add(f"{prefix}_{moment}", value, "s", number, **self.here)

    def _percentile(self, number: int, line: str) -> None:
        if self.percentiles is None:
            raise self.text.refused(number, "percentiles below a line 'clat percentiles (usec):'")
        kind, unit = self.percentiles
        prefix = "sync_lat" if kind == "sync" else f"{self.direction}_{kind}"
        found = list(_PERCENTILE.finditer(line))
        if not found:
            raise self.text.refused(number, "percentiles such as '99.00th=[ 4048]'")
        for match in found:
            value = self.text.group(number, match, "value")
            percent = self.text.group(number, match, "share").number()
            seconds = value._replace(text=value.text.strip().lstrip(">=")).number() / _SECONDS[unit]
            self.figures.add(f"{prefix}_p{percent:g}", seconds, "s", number, **self.here)

    def _latency_shares(self, number: int, match: re.Match[str]) -> None:
        unit = _UNITS.get(match["unit"], "s")
        for share in _SHARE.finditer(self.text.line(number), match.start("shares")):
            bound = share["bound"]
            limit = f"{bound}{unit}" if bound.startswith(">") else f"<={bound}{unit}"
            value = self.text.group(number, share, "share").number(per=100)
            if value:
                self.figures.add("latency_share", value, "share", number, **self.here, latency=limit)

    def _depths(self, number: int, match: re.Match[str]) -> None:
        for share in _SHARE.finditer(self.text.line(number), match.start("shares")):
            value = self.text.group(number, share, "share").number(per=100)
            if value:
                self.figures.add("iodepth_share", value, "share", number, **self.here, depth=share["bound"])

    def _issued(self, number: int, match: re.Match[str]) -> None:
        for name in _RWT:
            count = self.text.group(number, match, name).number()
            if count:
                self.figures.add(f"{name}_ios", count, "count", number, **self.here)

    def _disk(self, number: int, match: re.Match[str]) -> None:
        here = {"disk": match["disk"]}
        for group, name in (("reads", "disk_read_ios"), ("writes", "disk_write_ios")):
            self.figures.add(name, self.text.group(number, match, group).number(), "count", number, **here)
        share = self.text.group(number, match, "util").number(per=100)
        self.figures.add("disk_utilization", share, "share", number, **here)


def _pairs(found: tuple[str, str, str, str]) -> tuple[tuple[str, str], tuple[str, str]]:
    return (found[0], found[1]), (found[2], found[3])


def _bytes(number: str, prefix: str) -> int:
    """A block size of a job's line, where every prefix is one of 1024."""
    return int(float(number[:12]) * 1024 ** _POWERS[prefix[:1]])


def _amount(cell: Cell, old: bool) -> float:
    """Bytes, or bytes a second: "8854KiB/s", "1.2GB" and, of fio 2, "123456KB/s" in powers of 1024."""
    match = _RATE.match(cell.text)
    if match is None or len(match["number"]) > 20:
        raise cell.refused("an amount such as 8854KiB, 12.5MB/s or 1024B")
    prefix = match["prefix"] or ""
    base = 1024.0 if prefix.endswith("i") or (old and prefix) else 1000.0
    value = cell._replace(text=match["number"]).number() * base ** _POWERS[prefix[:1]]
    return value / 8 if match["unit"] in ("bit", "b") else value


def _prefixed(cell: Cell) -> float:
    """A number with a decimal prefix, "10.5k"."""
    match = _PREFIXED.match(cell.text)
    if match is None:
        return cell.number()
    return cell._replace(text=match["number"]).number(1000.0 ** _POWERS[match["prefix"]])
