"""fio's ``--output-format=json`` and ``json+``, of fio 2 and fio 3 (stat.c).

Latencies are in microseconds under ``slat``, ``clat`` and ``lat`` (fio 2) and in nanoseconds under ``slat_ns``,
``clat_ns`` and ``lat_ns`` (since 2.99). ``bw`` is in KiB a second; ``io_bytes`` is in KiB before ``io_kbytes`` was
added, and in bytes since. Run times are in milliseconds, shares in percent. With ``--status-interval`` fio prints one
object after another: each is a separate report, numbered in the context.

A direction without I/O has no figures. Percentiles are named ``read_clat_p99.9``; the bins of json+ are
``read_clat_bin``, a count, with the latency in seconds as context.
"""

from __future__ import annotations

import re

from ....model.programs.fio import values as fio_values
from ...text.positioned_json import JsonText, Value, begins_object
from ...text.report import FigureList, Report, Unit
from ...text.report_text import ReportText

NAME = "fio"
SIGNATURE = re.compile(r'^\s*(?:\{\s*)?"fio version"\s*:')

_KIB = 1024
_DIRECTIONS = ("read", "write", "trim", "mixed")
_LATENCIES = ("slat", "clat", "lat")
_MOMENTS = ("min", "max", "mean", "stddev")
_OPTIONS = {
    "rw": ("rw", "readwrite"),
    "bs": ("bs", "blocksize"),
    "iodepth": ("iodepth",),
    "numjobs": ("numjobs",),
    "ioengine": ("ioengine",),
    "direct": ("direct",),
}
_LEVELS = {"latency_ns": "ns", "latency_us": "us", "latency_ms": "ms"}
_SLACK = 1.5
"""Bytes a second that differ more than this from bytes over run time are not of the same run."""
_SHORTEST_S = 0.1


def parse(text: ReportText) -> Report:
    """The figures of every job, and of the disks below."""
    figures, warnings, versions = FigureList(), [], []
    starts = [number for number in range(1, len(text) + 1) if begins_object(text, number)]
    if not starts:
        (first, *_) = [number for number, line in enumerate(text.lines, 1) if SIGNATURE.match(line)]
        raise text.refused(first, "the whole object, from its opening brace at the start of a line")
    end, roots, json = 0, [], JsonText(text)
    for start in starts:
        if start > end:
            root, end = json.read_object(start)
            text.use(*range(start, end + 1))
            roots.append(root)
    for number, root in enumerate(roots, 1):
        context = {"report": str(number)} if len(roots) > 1 else {}
        version = _member(root, "fio version", "text").cell.text
        versions.append(version)
        key = "client_stats" if "client_stats" in root.members else "jobs"
        jobs = _member(root, key, "list").items
        options = root.members.get("global options")
        for index, job in enumerate(jobs, 1):
            warnings += _job(job, options, index, context, figures)
        if "disk_util" in root.members:
            _disks(_member(root, "disk_util", "list"), context, figures)
    if len(roots) > 1:
        warnings.append(f"{len(roots)} reports, as of --status-interval: each counts from the start of the run")
    if not len(figures):
        raise text.refused(starts[0], "jobs that did some I/O", "no job with figures")
    return Report(NAME, versions[0].removeprefix("fio-"), figures.all(), (*warnings, *text.skipped()))


def _member(value: Value, key: str, kind: str) -> Value:
    found = value.members.get(key)
    if value.kind != "object" or found is None:
        raise value.cell.refused(f"an object with the key {key!r}", f"{_article(value.kind)} without it")
    if found.kind != kind:
        raise found.cell.refused(f"{_article(kind)} for {key!r}", _article(found.kind))
    return found


def _article(kind: str) -> str:
    return {"object": "an object", "list": "a list", "text": "a text", "plain": "a plain value"}[kind]


def _number(value: Value, key: str, times: float = 1, per: float = 1) -> float:
    return _member(value, key, "plain").cell.number(times, per)


def _job(job: Value, shared: Value | None, index: int, context: dict[str, str], figures: FigureList) -> list[str]:
    """The figures of one job or group; returns warnings."""
    name = _member(job, "jobname", "text").cell.text
    here = {**context, "job": name, "number": str(index)}
    if "groupid" in job.members:
        here["group"] = str(_member(job, "groupid", "plain").cell.whole())
    own = job.members.get("job options")
    options = {**_texts(shared), **_texts(own)}
    for option, aliases in _OPTIONS.items():
        said = [options[alias] for alias in aliases if alias in options]
        if said:
            here[option] = said[-1].cell.text
    _settings(options, here, figures)
    moved = 0
    for direction in _DIRECTIONS:
        if direction in job.members:
            moved += _direction(_member(job, direction, "object"), direction, here, figures)
    if "sync" in job.members:
        sync = _member(job, "sync", "object")
        if "total_ios" in sync.members and _number(sync, "total_ios"):
            figures.add("sync_ios", _number(sync, "total_ios"), "count", sync.line, **here)
            _latency(sync, "sync_", "lat", here, figures)
    for key, said_name in (("usr_cpu", "user_cpu"), ("sys_cpu", "system_cpu")):
        if key in job.members:
            figures.add(said_name, _number(job, key, per=100), "share", job.members[key].line, **here)
    if "job_runtime" in job.members:
        figures.add("job_seconds", _number(job, "job_runtime", per=1000), "s", job.members["job_runtime"].line, **here)
    _distributions(job, here, figures)
    warnings = [] if moved else [f"job {name!r} (line {job.line}) did no I/O"]
    if "error" in job.members and _number(job, "error"):
        warnings.append(f"job {name!r} (line {job.line}) ended with error {job.members['error'].cell.text}")
    return warnings


def _texts(options: Value | None) -> dict[str, Value]:
    if options is None:
        return {}
    if options.kind != "object":
        raise options.cell.refused("an object of options")
    return {key: value for key, value in options.members.items() if value.kind == "text"}


def _settings(options: dict[str, Value], here: dict[str, str], figures: FigureList) -> None:
    """Queue depth and block size, where the options give one number."""
    depth = options.get("iodepth")
    if depth is not None and depth.cell.text.isdecimal():
        figures.add("iodepth", depth.cell.number(), "count", depth.line, **here)
    size = options.get("bs", options.get("blocksize"))
    if size is not None and "kb_base" not in options and re.fullmatch(r"[0-9]{1,12}[a-zA-Z]{0,3}", size.cell.text):
        place = f"{size.cell.file}:{size.cell.line}:{size.cell.column}"
        figures.add("block_size", fio_values.size(size.cell.text, place), "bytes", size.line, **here)


def _direction(value: Value, direction: str, here: dict[str, str], figures: FigureList) -> bool:
    """The figures of reads, writes or trims; returns whether there were any."""
    in_bytes = "io_kbytes" in value.members
    moved = _number(value, "io_bytes", 1 if in_bytes else _KIB)
    rate = _number(value, "bw_bytes") if "bw_bytes" in value.members else _number(value, "bw", _KIB)
    seconds, iops = _number(value, "runtime", per=1000), _number(value, "iops")
    if not moved and not iops:
        return False
    if seconds >= _SHORTEST_S and not moved / seconds / _SLACK <= rate <= moved / seconds * _SLACK + _KIB:
        raise value.members["io_bytes"].cell.refused(
            "bytes that fit the rate and the run time",
            f"{moved:.0f} bytes in {seconds:g} s beside {rate:.0f} bytes/s",
        )

    def add(name: str, key: str, number: float, unit: Unit) -> None:
        figures.add(f"{direction}_{name}", number, unit, value.members[key].line, **here)

    add("rate", "bw_bytes" if "bw_bytes" in value.members else "bw", rate, "bytes/s")
    add("iops", "iops", iops, "1/s")
    add("bytes", "io_bytes", moved, "bytes")
    add("seconds", "runtime", seconds, "s")
    if "total_ios" in value.members:
        add("ios", "total_ios", _number(value, "total_ios"), "count")
    for kind in _LATENCIES:
        _latency(value, f"{direction}_", kind, here, figures)
    return True


def _latency(value: Value, prefix: str, kind: str, here: dict[str, str], figures: FigureList) -> None:
    """Moments, percentiles and bins of one kind of latency."""
    key, a_second = (f"{kind}_ns", 1e9) if f"{kind}_ns" in value.members else (kind, 1e6)
    if key not in value.members:
        return
    found = _member(value, key, "object")
    if not _number(found, "max"):
        return
    for moment in _MOMENTS:
        if moment in found.members:
            number = _number(found, moment, per=a_second)
            figures.add(f"{prefix}{kind}_{moment}", number, "s", found.members[moment].line, **here)
    if "percentile" in found.members:
        for share, each in _member(found, "percentile", "object").members.items():
            percent = each.cell._replace(text=share).number()
            if percent:  # fio 2 fills its list up with "0.00": 0
                figures.add(f"{prefix}{kind}_p{percent:g}", each.cell.number(per=a_second), "s", each.line, **here)
    if "bins" in found.members:
        for bound, each in _member(found, "bins", "object").members.items():
            latency = each.cell._replace(text=bound).number(per=a_second)
            figures.add(f"{prefix}{kind}_bin", each.cell.number(), "count", each.line, **here, seconds=f"{latency:.9g}")


def _distributions(job: Value, here: dict[str, str], figures: FigureList) -> None:
    """Shares of I/Os by queue depth and by latency; those of nobody are left out."""
    if "iodepth_level" in job.members:
        for depth, each in _member(job, "iodepth_level", "object").members.items():
            if each.cell.number():
                figures.add("iodepth_share", each.cell.number(per=100), "share", each.line, **here, depth=depth)
    for key, unit in _LEVELS.items():
        if key in job.members:
            for bound, each in _member(job, key, "object").members.items():
                if each.cell.number():
                    limit = f"{bound}{unit}" if bound.startswith(">") else f"<={bound}{unit}"
                    figures.add("latency_share", each.cell.number(per=100), "share", each.line, **here, latency=limit)


def _disks(disks: Value, context: dict[str, str], figures: FigureList) -> None:
    for disk in disks.items:
        here = {**context, "disk": _member(disk, "name", "text").cell.text}
        for key, name in (("read_ios", "disk_read_ios"), ("write_ios", "disk_write_ios")):
            if key in disk.members:
                figures.add(name, _number(disk, key), "count", disk.members[key].line, **here)
        if "util" in disk.members:
            figures.add("disk_utilization", _number(disk, "util", per=100), "share", disk.members["util"].line, **here)
