"""Jobs of fio that measure loads of a box: a file that names them, and the same read again.

A file has what makes a load (`rw`, `bs`, `iodepth`, `numjobs`, `rwmixread`); where and how long is said when it is run.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...model.core.errors import InputError
from ...model.programs.fio import values as fio_values
from ...model.programs.fio.options import Option
from ...model.programs.fio.sections import Section, sections
from ..measurement.measure import Job
from .loads import BoxLoad

_KIB = 1024
OPTIONS = ("rw", "bs", "iodepth", "numjobs", "rwmixread")
_SHARES = {"read": 100, "write": 0, "rw": None}
_ALIASES = {"readwrite": "rw"}
_USUAL_MIX = 50
"""fio's rwmixread."""
_SECTOR = 512


def job_of(load: BoxLoad) -> Job:
    """The job of a load; its name says what it does, so a report of this name is one of this load."""
    percent, size = round(100 * load.read_share), int(load.block_size)
    kind = next((name for name, share in _SHARES.items() if share == percent), "rw")
    rw = kind if load.sequential else f"rand{kind}"
    block = f"{size // _KIB}k" if size % _KIB == 0 else f"{size}b"
    mix = percent if kind == "rw" else None
    name = f"{rw}{'' if mix is None else mix}-{block}-{load.jobs}x{load.depth}"
    return Job(name, rw, size, load.depth, jobs=load.jobs, read_percent=mix)


def job_file(loads: Iterable[BoxLoad]) -> str:
    """A job file of some loads, for ``raidsim measure DEVICE --job FILE``."""
    text = "# Loads of a box; raidsim measure DEVICE --job THIS_FILE runs them, one after the other.\n"
    for job in map(job_of, loads):
        text += f"\n[{job.name}]\nrw={job.rw}\nbs={job.block_size}\niodepth={job.depth}\nnumjobs={job.jobs}\n"
        text += "" if job.read_percent is None else f"rwmixread={job.read_percent}\n"
    return text


def read_job_file(path: Path) -> tuple[Job, ...]:
    """The jobs of a file, each once.

    Raises
    ------
    InputError
        If it cannot be read, or has an option besides `OPTIONS`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "not text in UTF-8"
        raise InputError(str(path), str(found), "expected: a job file of fio") from None
    found_jobs = []
    for section in sections(text, str(path)):
        for name, option in section.options.items():
            if name not in OPTIONS:
                allowed = f"expected: {', '.join(OPTIONS)}; raidsim measure says the rest"
                raise InputError(option.place, f"found {name}", allowed)
        found_jobs.append(job_of(load_of(section)))
    if not found_jobs:
        raise InputError(str(path), "no jobs", "expected: a job file of fio, such as raidsim learn --next writes")
    return tuple(dict.fromkeys(found_jobs))


def load_of(section: Section) -> BoxLoad:
    """What a job does, by the options that make a load; others are not looked at.

    Raises
    ------
    InputError
        If one of these is missing or impossible.
    """
    options = section.options
    for name in ("rw", "bs"):
        if name not in options:
            raise InputError(section.place, f"no {name}", f"expected: {name} of every job")
    rw = options["rw"]
    kind = rw.value.removeprefix("rand")
    kind = _ALIASES.get(kind, kind)
    if kind not in _SHARES:
        raise InputError(rw.place, f"found {rw.value!r}", "expected: read, write, rw, randread, randwrite or randrw")
    share = _SHARES[kind]
    if share is None:
        share = _whole(options, "rwmixread", _USUAL_MIX, 0, 100)
    size = options["bs"]
    block = fio_values.size(size.value, size.place)
    if block < _SECTOR or block % _SECTOR:
        raise InputError(size.place, f"found {size.value}", f"expected: a multiple of {_SECTOR} bytes")
    jobs, depth = (_whole(options, name, 1, 1, most) for name, most in (("numjobs", 4096), ("iodepth", 65536)))
    return BoxLoad(block, jobs, depth, share / 100, not rw.value.startswith("rand"))


def _whole(options: dict[str, Option], name: str, usual: int, least: int, most: int) -> int:
    option = options.get(name)
    if option is None:
        return usual
    value = fio_values.number(option.value, option.place, most)
    if value < least:
        raise InputError(option.place, f"found {option.value}", f"expected: {least} to {most}")
    return value
