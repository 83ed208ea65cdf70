"""Job files of fio, as far as they decide which I/Os a job does (fio's init.c).

Options that only decide when or how I/Os are done are passed over; options that would change what is done, and are
not modelled, are errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ..errors import InputError
from . import fio_values
from .fio_job import FioJob, JobFile, Part, Sizes

_GLOBAL = "global"
_VARIABLE = re.compile(r"\$\{(\w+)\}")

_SYNONYMS = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "io_limit": "io_size",
    "allrandrepeat": "randrepeat",
    "filesize": "size",
}
_ACTIONS = (
    *("rw", "bs", "bsrange", "bssplit", "size", "io_size", "offset", "offset_increment", "filename", "directory"),
    *("nrfiles", "openfiles", "file_service_type", "numjobs", "randseed", "randrepeat", "random_generator"),
    *("norandommap", "random_distribution", "percentage_random", "rwmixread", "rwmixwrite", "rw_sequencer"),
    *("time_based", "fsync", "fdatasync"),
)
_TIMING = (
    *(
        "direct",
        "buffered",
        "ioengine",
        "iodepth",
        "iodepth_batch",
        "iodepth_batch_submit",
        "iodepth_low",
        "invalidate",
    ),
    *("iodepth_batch_complete", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "runtime", "ramp_time"),
    *("startdelay", "wait_for", "stonewall", "new_group", "group_reporting", "thread", "name", "description", "hipri"),
    *("thinktime", "thinktime_blocks", "thinktime_spin", "rate", "rate_iops", "rate_process", "rate_min", "sync"),
    *("write_iolog", "write_bw_log", "write_lat_log", "write_iops_log", "log_avg_msec", "end_fsync", "fallocate"),
    *("create_on_open", "refill_buffers", "scramble_buffers", "cpus_allowed", "nice", "prio", "overwrite"),
)


class Option(NamedTuple):
    """An option as it stands in a job file; `place` names file and line."""

    value: str
    place: str


class Section(NamedTuple):
    """A job of a job file with all its options, those of the global sections before it included."""

    name: str
    options: dict[str, Option]


def sections(
    text: str,
    name: str = "job file",
    environment: Mapping[str, str] | None = None,
    include: Callable[[str], str] | None = None,
) -> list[Section]:
    """The jobs of a job file.

    Parameters
    ----------
    text, name
        The file, and what errors call it.
    environment
        For ``${NAME}``.
    include
        Gives the text of an included file.

    Raises
    ------
    InputError
        If a line is neither section nor option, or a variable or an included file is not there.
    """
    found: list[Section] = []
    shared: dict[str, Option] = {}
    current: dict[str, Option] | None = None
    for place, line in _lines(text, name, include):
        if line.startswith("["):
            title = line[1:].partition("]")[0].strip()
            if not line.endswith("]") or not title:
                raise InputError(place, f"found {line!r}", "allowed: [name of the job]")
            if title == _GLOBAL:
                current = shared
            else:
                current = dict(shared)
                found.append(Section(title, current))
            continue
        if current is None:
            raise InputError(place, f"found {line!r} before any section", "allowed: a section first, [name of the job]")
        key, _, value = line.partition("=")
        key = key.strip().lower()
        key = _SYNONYMS.get(key, key)
        current[key] = Option(_expanded(value.strip(), place, environment or {}), f"{place}, {key}")
    return found


def _lines(text: str, name: str, include: Callable[[str], str] | None) -> Iterable[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        place = f"{name}, line {number}"
        if not line or line[0] in "#;":
            continue
        if line.startswith("include "):
            if include is None:
                raise InputError(place, f"found {line!r}", "allowed: no included files here")
            included = line.removeprefix("include ").strip()
            yield from _lines(include(included), included, include)
        else:
            yield place, line


def _expanded(value: str, place: str, environment: Mapping[str, str]) -> str:
    def variable(found: re.Match[str]) -> str:
        if found[1] not in environment:
            raise InputError(place, f"the variable {found[1]} is not set", "allowed: variables of the environment")
        return environment[found[1]]

    return _VARIABLE.sub(variable, value)


def jobs(found: Iterable[Section], file_bytes: Mapping[str, int] | None = None) -> list[FioJob]:
    """What the jobs do, clones (``numjobs``) one by one.

    Parameters
    ----------
    found
        The sections of a job file.
    file_bytes
        Sizes of files that are there before; others are made as large as a job needs them.
    """
    made: list[FioJob] = []
    for section in found:
        reader = _Reader(section, file_bytes or {})
        for clone in range(reader.number("numjobs", 1)):
            made.append(reader.job(len(made) + 1, clone))
    return made


class _Reader:
    """Reads the options of one section."""

    def __init__(self, section: Section, file_bytes: Mapping[str, int]) -> None:
        self._name = section.name
        self._options = section.options
        self._file_bytes = file_bytes
        for key, option in section.options.items():
            if key not in _ACTIONS and key not in _TIMING:
                raise InputError(option.place, "this option is not modelled", f"allowed: {', '.join(_ACTIONS)}")

    def _text(self, key: str, default: str = "") -> tuple[str, str]:
        option = self._options.get(key)
        return (default, f"job {self._name}, {key}") if option is None else option

    def number(self, key: str, default: int, most: int = 2**63) -> int:
        text, place = self._text(key)
        return default if not text else fio_values.number(text, place, most)

    def _flag(self, key: str, default: bool) -> bool:
        return fio_values.flag(*self._options[key]) if key in self._options else default

    def _size(self, key: str, whole: int = 0) -> int:
        text, place = self._text(key)
        return fio_values.size(text, place, whole) if text else 0

    def _refuse(self, key: str, allowed: str) -> InputError:
        text, place = self._text(key)
        return InputError(place, f"found {text!r}", f"allowed: {allowed}")

    def job(self, thread_number: int, clone: int) -> FioJob:
        reads, writes, random, skip, every = self._direction()
        names = self._names(clone)
        there = sum(self._file_bytes.get(name, 0) for name in names)
        offset = self._size("offset", there) + clone * self._size("offset_increment", there)
        size = self._size("size", there) or there - offset
        if size <= 0:
            raise InputError(f"job {self._name}, size", "it is missing", "required for a file that is not there yet")
        part = size // len(names) + offset
        files = tuple(JobFile(name, max(self._file_bytes.get(name, 0), part)) for name in names)
        theta, h, zones = self._distribution()
        percent = [fio_values.number(part, self._text("percentage_random")[1], 100) for part in self._percentages()]
        seed_text, seed_place = self._text("randseed")
        mix = self.number("rwmixread", 100 - self.number("rwmixwrite", 50, 100), 100)
        return FioJob(
            files=files,
            reads=reads,
            writes=writes,
            random=random,
            sizes=self._sizes(),
            size=size,
            thread_number=thread_number,
            subjob_number=clone,
            io_size=self._size("io_size", size),
            offset=offset,
            skip=skip,
            every=every,
            identical=self._one_of("rw_sequencer", "sequential", ("sequential", "identical")) == "identical",
            rwmixread=mix,
            percentage_random=(percent[0], percent[1]),
            randseed=fio_values.number(seed_text, seed_place) if seed_text else None,
            randrepeat=self._flag("randrepeat", True),
            random_generator=self._one_of("random_generator", "tausworthe", ("tausworthe", "tausworthe64")),
            norandommap=self._flag("norandommap", False) or bool(theta or h or zones),
            theta=theta,
            h=h,
            zones=zones,
            time_based=self._flag("time_based", False),
            fsync=self.number("fsync", 0),
            fdatasync=self.number("fdatasync", 0),
            openfiles=self.number("openfiles", 0),
            service=self._service(),
        )

    def _one_of(self, key: str, default: str, allowed: tuple[str, ...]) -> str:
        text, _ = self._text(key, default)
        if text not in allowed:
            raise self._refuse(key, ", ".join(allowed))
        return text

    def _direction(self) -> tuple[bool, bool, bool, int, int]:
        """Reads, writes, random, bytes skipped, I/Os between random ones."""
        text, place = self._text("rw", "read")
        kind, _, extra = text.partition(":")
        random = kind.startswith("rand")
        kind = kind.removeprefix("rand")
        if kind not in ("read", "write", "rw", "readwrite"):
            raise self._refuse("rw", "read, write, rw, randread, randwrite and randrw, with :number or :bytes")
        every = fio_values.number(extra, place) if extra and random else 0
        skip = fio_values.size(extra.removeprefix("-"), place) if extra and not random else 0
        return kind != "write", kind != "read", random, -skip if extra.startswith("-") else skip, every

    def _names(self, clone: int) -> list[str]:
        directory, _ = self._text("directory")
        prefix = f"{directory}/" if directory else ""
        given, _ = self._text("filename")
        if given:
            return [prefix + name for name in given.split(":")]
        return [f"{prefix}{self._name}.{clone}.{number}" for number in range(self.number("nrfiles", 1))]

    def _sizes(self) -> tuple[Sizes, Sizes]:
        if "bssplit" in self._options:
            return fio_values.split_sizes(*self._options["bssplit"])
        key = "bsrange" if "bsrange" in self._options else "bs"
        return fio_values.block_sizes(*self._text(key, "4k"))

    def _percentages(self) -> tuple[str, str]:
        return fio_values.per_direction(self._text("percentage_random", "100")[0])

    def _distribution(self) -> tuple[float, float, tuple[Part, ...]]:
        """The exponents of Zipf and Pareto, and the zones; what is not there is 0."""
        text, place = self._text("random_distribution", "random")
        kind, _, value = text.partition(":")
        if kind == "random":
            return 0.0, 0.0, ()
        if kind == "zoned":
            return 0.0, 0.0, fio_values.zones(value, place)
        if kind not in ("zipf", "pareto"):
            raise self._refuse("random_distribution", "random, zipf, pareto and zoned")
        try:
            exponent = float(value) if value else {"zipf": 1.1, "pareto": 0.2}[kind]
        except ValueError:
            exponent = 0.0
        if exponent <= 0.0 or exponent == 1.0 or (kind == "pareto" and exponent > 1.0):
            raise self._refuse("random_distribution", "zipf: with a number above 0 but 1, pareto: with one below 1")
        return (exponent, 0.0, ()) if kind == "zipf" else (0.0, exponent, ())

    def _service(self) -> int:
        text, place = self._text("file_service_type", "roundrobin:1")
        kind, _, count = text.partition(":")
        if kind == "sequential":
            return 1 << 62
        if kind != "roundrobin":
            raise self._refuse("file_service_type", "roundrobin and sequential")
        return fio_values.number(count, place) if count else 1
