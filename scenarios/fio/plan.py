"""The jobs of a job file as they will run: their threads, groups, and what was said about them that changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...model.core.errors import InputError
from ...model.programs.fio import values as fio_values
from ...model.programs.fio.job import FioJob
from ...model.programs.fio.jobs import JobReader
from ...model.programs.fio.options import Option, check_simulated
from ...model.programs.fio.sections import MOST_JOBS, Section
from ...model.programs.fio.timing import PERCENTILES, FioTiming, timing_of

SECTOR = 512


@dataclass(frozen=True, slots=True)
class Reporting:
    """How a job is reported.

    Attributes
    ----------
    grouped
        ``group_reporting``.
    description, iodepth, percentiles, clat, lat, slat
        As the options.
    bw_s, iops_s
        ``bwavgtime`` and ``iopsavgtime`` (s).
    unit_base, kb_base
        As the options.
    disables
        Of "lat", "clat" and "slat": those that are not measured.
    disks
        ``disk_util``.
    logs_ios, logs_operations
        Whether a log wants every I/O that is complete, or every operation that begins.
    """

    grouped: bool
    description: str
    iodepth: int
    percentiles: tuple[float, ...]
    clat: bool
    lat: bool
    slat: bool
    bw_s: float
    iops_s: float
    unit_base: int
    kb_base: int
    disables: frozenset[str]
    disks: bool
    logs_ios: bool
    logs_operations: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """One thread of fio.

    Attributes
    ----------
    section
        Its job in the file.
    job, timing, reporting
        What it does, how and when, and how it is reported.
    groupid
        Its group, from 0.
    stonewall
        Whether it waits for all before it: of clones only the first does.
    """

    section: Section
    job: FioJob
    timing: FioTiming
    reporting: Reporting
    groupid: int
    stonewall: bool

    @property
    def name(self) -> str:
        """Of the job."""
        return self.section.name


def chosen(sections: Sequence[Section], names: Collection[str], place: str) -> list[Section]:
    """The sections to run (``--section``); all without names.

    Raises
    ------
    InputError
        If there is none, or none of that name.
    """
    if not sections:
        raise InputError(place, "no job in it", "expected: a section that is not [global]")
    known = [section.name for section in sections]
    for name in names:
        if name not in known:
            raise InputError("--section", f"unknown job {name!r}", f"expected: {', '.join(dict.fromkeys(known))}")
    return [section for section in sections if not names or section.name in names]


def plans(
    sections: Sequence[Section], file_bytes: Mapping[str, int], fixed: Collection[str], sector: int = SECTOR
) -> list[Plan]:
    """The threads of all jobs, clones one by one.

    Parameters
    ----------
    sections
        The jobs.
    file_bytes, fixed
        As of :func:`raidsim.model.programs.fio.jobs.jobs`.
    sector
        Bytes that direct I/Os are multiples of: the largest logical sector of the machine's drives.
    """
    made: list[Plan] = []
    groupid = in_group = 0
    for section in sections:
        check_simulated(section.options)
        reader = JobReader(section, file_bytes, fixed)
        for clone in reader.subjob_numbers:
            job = reader.job(len(made) + 1, clone)
            smallest = (job.sizes[0].least, job.sizes[1].least, job.sizes[2].least)
            timing = timing_of(reader, len(made) + 1, smallest)
            _check_sizes(section, job, timing, sector)
            begins = not clone and (timing.stonewall or timing.new_group)
            if begins and in_group:
                groupid += 1
                in_group = 0
            in_group += 1
            stonewall = timing.stonewall and not clone
            made.append(Plan(section, job, timing, _reporting(reader), groupid, stonewall))
        if len(made) > MOST_JOBS:
            raise InputError(section.place, f"more than {MOST_JOBS} jobs", "expected: fewer (numjobs)")
    for plan in made:
        _check_awaited(plan, made)
    return made


def notes_on(sections: Sequence[Section]) -> list[str]:
    """What was said that changes nothing, and sizes that mean something else than they seem to."""
    ignored: dict[str, list[str]] = {}
    for section in sections:
        for name, why in check_simulated(section.options).items():
            ignored.setdefault(why, [])
            if name not in ignored[why]:
                ignored[why].append(name)
    notes = [f"{', '.join(names)}: no effect ({why})" for why, names in ignored.items()]
    swapped: dict[str, str] = {}
    for section in sections:
        base = section.options.get("kb_base", Option("1024", "")).value
        for name in ("bs", "bsrange", "bssplit", "size", "io_size", "filesize", "offset", "offset_increment", "rate"):
            option = section.options.get(name)
            if option is not None and fio_values.has_swapped_unit(option.value) and base == "1024":
                swapped[f"{name}={option.value}"] = base
    if swapped:
        notes.append(f"{', '.join(swapped)}: to fio a unit written out is decimal, 4KiB is 4000 bytes; 4k is 4096")
    return notes


def _check_sizes(section: Section, job: FioJob, timing: FioTiming, sector: int) -> None:
    """Direct I/O takes whole sectors only."""
    if not timing.direct or timing.kind == "null":
        return
    for name, sizes, used in zip(
        ("reads", "writes", "trims"), job.sizes, (job.reads, job.writes, job.trims), strict=True
    ):
        values = [part.value for part in sizes.parts] or [sizes.least, sizes.most]
        wrong = next((value for value in values if value % sector), None)
        if used and (wrong is not None or job.unaligned):
            place = next(
                (section.options[key].place for key in ("bssplit", "bsrange", "bs") if key in section.options),
                section.place,
            )
            found = f"{name} of {wrong} bytes" if wrong is not None else f"{name} of any number of bytes"
            raise InputError(place, f"{found} with direct=1", f"expected: multiples of {sector} bytes (4k is 4096)")
    if job.skip % sector:
        allowed = f"expected: multiples of {sector} bytes (rw=read:4k leaves gaps of 4 KiB)"
        raise InputError(section.options["rw"].place, f"gaps of {job.skip} bytes with direct=1", allowed)
    if job.offset % sector:
        place = section.options["offset"].place if "offset" in section.options else section.place
        raise InputError(place, f"an offset of {job.offset} bytes with direct=1", f"expected: multiples of {sector}")


def _check_awaited(plan: Plan, made: Sequence[Plan]) -> None:
    """A job waits for one before it."""
    awaited = plan.timing.wait_for
    if not awaited:
        return
    place = plan.section.options["wait_for"].place
    before = [each.name for each in made[: made.index(plan)] if each.name != plan.name]
    if awaited not in before:
        allowed = f"expected: {', '.join(dict.fromkeys(before))}" if before else "expected: jobs before this one"
        raise InputError(place, f"unknown job {awaited!r}", allowed)


def _reporting(reader: JobReader) -> Reporting:
    reduces = reader.flag("gtod_reduce", False)
    listed = reader.option("percentile_list")
    off = {"lat": "disable_lat", "clat": "disable_clat", "slat": "disable_slat"}
    return Reporting(
        grouped=reader.flag("group_reporting", False),
        description=reader.text("description"),
        iodepth=reader.number("iodepth", 1),
        percentiles=tuple(sorted(fio_values.numbers(listed.value, listed.place))) if listed.value else PERCENTILES,
        clat=reader.flag("clat_percentiles", True),
        lat=reader.flag("lat_percentiles", False),
        slat=reader.flag("slat_percentiles", False),
        bw_s=reader.number("bwavgtime", 500, least=1) / 1000.0,
        iops_s=reader.number("iopsavgtime", 500, least=1) / 1000.0,
        unit_base=int(reader.one_of("unit_base", "0", ("0", "8", "1"))),
        kb_base=reader.kb_base,
        disables=frozenset(name for name, option in off.items() if reduces or reader.flag(option, False)),
        disks=reader.flag("disk_util", True),
        logs_ios=any(reader.has(option) for option in ("write_bw_log", "write_iops_log", "write_lat_log")),
        logs_operations=reader.has("write_iolog"),
    )
