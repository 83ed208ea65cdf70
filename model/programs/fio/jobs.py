"""What the jobs of a job file do: their files and which I/Os they ask for (fio's init.c, filesetup.c)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from ...core.errors import InputError
from . import values as fio_values
from .job import FioJob, JobFile, Part, Sizes
from .options import check_simulated
from .random import DEFAULT_RANDSEED, Seed, Tausworthe, job_seeds
from .reader import OptionReader
from .sections import MOST_JOBS, Section

MOST_FILES = 10_000
_WHOLE_FILE = 1 << 62
"""``file_service_type=sequential``: all I/Os of a file before the next one."""
_DIRECTIONS = {
    "read": (True, False, False),
    "write": (False, True, False),
    "trim": (False, False, True),
    "rw": (True, True, False),
    "readwrite": (True, True, False),
    "trimwrite": (False, True, True),
}
_FORMAT = "$jobname.$jobnum.$filenum"


def jobs(
    found: Iterable[Section], file_bytes: Mapping[str, int] | None = None, fixed: Collection[str] = ()
) -> list[FioJob]:
    """What the jobs do, clones (``numjobs``) one by one.

    Parameters
    ----------
    found
        The sections of a job file.
    file_bytes
        Sizes of files that are there before; others are made as large as a job needs them.
    fixed
        Those of them that cannot grow: devices.
    """
    made: list[FioJob] = []
    for section in found:
        check_simulated(section.options)
        reader = JobReader(section, file_bytes or {}, fixed)
        for clone in reader.subjob_numbers:
            made.append(reader.job(len(made) + 1, clone))
        if len(made) > MOST_JOBS:
            raise InputError(section.place, f"more than {MOST_JOBS} jobs", "expected: fewer (numjobs)")
    return made


class JobReader(OptionReader):
    """Reads which I/Os a section asks for.

    Parameters
    ----------
    section
        The job.
    file_bytes, fixed
        As of :func:`jobs`.
    """

    def __init__(self, section: Section, file_bytes: Mapping[str, int], fixed: Collection[str] = ()) -> None:
        super().__init__(section)
        self._file_bytes = file_bytes
        self._fixed = fixed

    @property
    def clones(self) -> int:
        """``numjobs``."""
        return self.number("numjobs", 1, MOST_JOBS)

    @property
    def subjob_numbers(self) -> list[int]:
        """Numbers of the clones in the order in which fio makes them: 0, and then from the last down to 1 (add_job)."""
        return [0, *range(self.clones - 1, 0, -1)][: self.clones]

    def job(self, thread_number: int, clone: int) -> FioJob:
        """One of its clones, by its number among them."""
        reads, writes, trims, random, skip, every = self._direction()
        sizes = self._sizes()
        names = self.names(clone)
        there = sum(self._file_bytes.get(name, 0) for name in names)
        smallest = min(each.least for each in sizes)
        offset = self._offset(there, clone, smallest)
        if self.has("filesize"):
            drawn = self._drawn_sizes(thread_number, smallest, len(names))
            size = min(self.size("size") or sum(drawn), sum(drawn))
            files = tuple(
                JobFile(name, self._file_size(name, part + offset), part)
                for name, part in zip(names, drawn, strict=True)
            )
        else:
            size = self._size(names, there, offset, smallest)
            files = tuple(JobFile(name, self._file_size(name, size // len(names) + offset)) for name in names)
        theta, h, deviation, center, zones, absolute = self._distribution()
        percents = fio_values.per_direction(self.text("percentage_random", "100"))
        place = self.option("percentage_random").place
        reads_at, writes_at, trims_at = (fio_values.number(part, place, 100) for part in percents)
        reads_by, writes_by, trims_by = (
            fio_values.size(each, self.option("ba").place, 0, self.kb_base)
            for each in fio_values.per_direction(self.text("ba", "0"))
        )
        # An alignment other than the block size turns off the random map (fixup_options).
        align = (reads_by, writes_by, trims_by)
        mapless = any(each and each != those.least for each, those in zip(align, sizes, strict=True))
        seed = self.option("randseed")
        service, file_random = self._service()
        return FioJob(
            files=files,
            reads=reads,
            writes=writes,
            random=random,
            sizes=sizes,
            size=size,
            thread_number=thread_number,
            subjob_number=clone,
            io_size=self.size("io_size", size),
            offset=offset,
            skip=skip,
            every=every,
            identical=self.one_of("rw_sequencer", "sequential", ("sequential", "identical")) == "identical",
            rwmixread=self._mix(),
            percentage_random=(reads_at, writes_at, trims_at),
            randseed=fio_values.number(seed.value, seed.place) if seed.value else None,
            # With a randseed, clones inherit from the first that nothing repeats (fixup_options).
            randrepeat=self.flag("randrepeat", True) and not (clone and seed.value),
            allrandrepeat=self.flag("allrandrepeat", False),
            random_generator=self.one_of("random_generator", "tausworthe", ("tausworthe", "tausworthe64")),
            norandommap=self.flag("norandommap", False) or mapless or bool(theta or h or deviation or zones),
            theta=theta,
            h=h,
            deviation=deviation,
            center=center,
            zones=zones,
            zones_absolute=absolute,
            time_based=self.flag("time_based", False) and self.seconds("runtime") > 0,
            fsync=self.number("fsync", 0),
            fdatasync=self.number("fdatasync", 0),
            openfiles=self.number("openfiles", 0),
            service=service,
            file_random=file_random,
            trims=trims,
            trim_before=trims and writes,
            align=align,
            unaligned=self.flag("bs_unaligned", False),
            sizes_by_order=self.flag("bs_is_seq_rand", False),
            overwrite=self.flag("overwrite", False),
            number_ios=self.number("number_ios", 0),
            loops=max(1, self.number("loops", 1)),
        )

    def names(self, clone: int) -> list[str]:
        """The files of a clone."""
        directories = [part for part in self.text("directory").split(":") if part]
        prefix = f"{directories[clone % len(directories)]}/" if directories else ""
        given = self.text("filename")
        if given:
            names = [name.replace("\0", ":") for name in given.replace("\\:", "\0").split(":") if name]
            if names:
                return [prefix + name for name in names]
            raise self.refusal("filename", "names with colons between them")
        form = self.text("filename_format", _FORMAT)
        made = []
        for number in range(self.number("nrfiles", 1, MOST_FILES, least=1)):
            name = form.replace("$jobname", self.section.name).replace("$jobnum", str(clone))
            made.append(prefix + name.replace("$filenum", str(number)).replace("$clientuid", "localhost"))
        return list(dict.fromkeys(made))

    def _file_size(self, name: str, needed: int) -> int:
        there = self._file_bytes.get(name, 0)
        return there if name in self._fixed else max(there, needed)

    def _offset(self, there: int, clone: int, smallest: int) -> int:
        percent = self.text("offset").endswith("%") or self.text("offset_increment").endswith("%")
        offset = self.size("offset", there) + clone * self.size("offset_increment", there)
        align = self.size("offset_align") or smallest
        return -(-offset // align) * align if percent else offset

    def _size(self, names: list[str], there: int, offset: int, smallest: int) -> int:
        """Bytes used of all files."""
        size = 0 if self._fills else self.size("size", there)
        size = size or there - offset * len(names)
        if size <= 0:
            if there:
                found = f"it begins beyond the end of {', '.join(names)}, at {there}"
                raise InputError(self.option("offset").place, found, "expected: an offset inside")
            place = f"{self.section.place}, job {self.section.name}, size"
            required = "required for a file that is not there yet: size=1g, also as --size=1g beside the job file"
            raise InputError(place, "it is missing", required)
        if size < len(names) * smallest:
            allowed = f"expected: {len(names) * smallest} or more, an I/O for each file"
            raise InputError(self.option("size").place, f"found {size} bytes", allowed)
        return size

    @property
    def _fills(self) -> bool:
        return self.flag("fill_device", False)

    def _drawn_sizes(self, thread_number: int, smallest: int, count: int) -> list[int]:
        """``filesize``; of a range one is drawn for each file."""
        option = self.option("filesize")
        least, most = fio_values.size_range(option.value, option.place, self.kb_base)
        if least == most:
            return [least] * count
        seeds = job_seeds(self.number("randseed", DEFAULT_RANDSEED), thread_number)
        random = Tausworthe(seeds[Seed.FILE_SIZE])
        drawn = [least + int((most - least) * (random.draw() / random.span)) for _ in range(count)]
        return [max(smallest, size - size % smallest) for size in drawn]

    def _direction(self) -> tuple[bool, bool, bool, bool, int, int]:
        """Reads, writes, trims, random, bytes skipped, I/Os between random ones."""
        option = self.option("rw", "read")
        kind, _, extra = option.value.partition(":")
        random = kind.startswith("rand")
        kind = kind.removeprefix("rand")
        if kind not in _DIRECTIONS:
            allowed = "read, write, trim, rw, trimwrite, randread, randwrite, randtrim, randrw and randtrimwrite"
            raise self.refusal("rw", f"{allowed}, with :number or :bytes")
        every = fio_values.number(extra, option.place) if extra and random else 0
        every = 0 if every == 1 else every
        skip = 0
        if extra and not random:
            skip = fio_values.size(extra.removeprefix("-"), option.place, 0, self.kb_base)
        return *_DIRECTIONS[kind], random, -skip if extra.startswith("-") else skip, every

    def _sizes(self) -> tuple[Sizes, Sizes, Sizes]:
        if self.has("bssplit"):
            option = self.option("bssplit")
            return fio_values.split_sizes(option.value, option.place, self.kb_base)
        option = self.option("bsrange" if self.has("bsrange") else "bs", "4096")
        return fio_values.block_sizes(option.value, option.place, self.kb_base)

    def _mix(self) -> int:
        """Percent of reads; the option that comes last counts."""
        given = [name for name in self.section.options if name in ("rwmixread", "rwmixwrite")]
        if not given:
            return 50
        percent = self.number(given[-1], 50, 100)
        return percent if given[-1] == "rwmixread" else 100 - percent

    def _distribution(self) -> tuple[float, float, float, float | None, tuple[Part, ...], bool]:
        """The parameters of Zipf, Pareto and normal, the center, and the zones; what is not there is 0."""
        option = self.option("random_distribution", "random")
        kind, _, value = option.value.partition(":")
        if kind == "random":
            return 0.0, 0.0, 0.0, None, (), False
        if kind in ("zoned", "zoned_abs"):
            absolute = kind == "zoned_abs"
            if "," in value:
                raise self.refusal("random_distribution", "the same zones for reads and writes")
            return 0.0, 0.0, 0.0, None, fio_values.zones(value, option.place, absolute, self.kb_base), absolute
        if kind not in ("zipf", "pareto", "normal"):
            raise self.refusal("random_distribution", "random, zipf, pareto, normal, zoned and zoned_abs")
        allowed = (
            "zipf: with a number above 0 but 1, pareto: with one below 1, normal: with one up to 100, and then perhaps "
            "a colon and a center from 0 to 1"
        )
        parameter, _, middle = value.partition(":")
        try:
            exponent = float(parameter) if parameter else {"zipf": 1.1, "pareto": 0.2, "normal": 0.0}[kind]
            center = float(middle) if middle else None
        except ValueError:
            raise self.refusal("random_distribution", allowed) from None
        if not math.isfinite(exponent) or (center is not None and not 0 <= center <= 1):
            raise self.refusal("random_distribution", allowed)
        if kind == "normal":
            if not 0 < exponent <= 100:
                raise self.refusal("random_distribution", allowed)
            return 0.0, 0.0, exponent, center, (), False
        if exponent <= 0.0 or exponent == 1.0 or (kind == "pareto" and exponent > 1.0):
            raise self.refusal("random_distribution", allowed)
        theta, h = (exponent, 0.0) if kind == "zipf" else (0.0, exponent)
        return theta, h, 0.0, center, (), False

    def _service(self) -> tuple[int, bool]:
        """I/Os on a file before the next, and whether that is drawn."""
        option = self.option("file_service_type", "roundrobin:1")
        kind, _, count = option.value.partition(":")
        if kind == "sequential":
            return _WHOLE_FILE, False
        if kind not in ("roundrobin", "random"):
            raise self.refusal("file_service_type", "roundrobin, random and sequential")
        return (fio_values.number(count, option.place, _WHOLE_FILE) or 1) if count else 1, kind == "random"
