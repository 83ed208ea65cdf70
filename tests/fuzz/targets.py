"""Every reader of input from outside, as a function of bytes: one table for the fuzzer and for the tests.

A function does with the bytes what the command does that reads such a file, up to where the simulation would begin.
It may raise `InputError`, and nothing else.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

from raidsim.calibration.fio_study.comparison import compared
from raidsim.calibration.fio_study.study import FioStudy
from raidsim.calibration.fit.choices import read_choices
from raidsim.calibration.fit.profile import load_profile
from raidsim.calibration.formats.detect import read_report
from raidsim.calibration.inspection.inspection import inspect, read_source
from raidsim.calibration.measurement.machine import FILE_NAME, load_machine
from raidsim.calibration.study.study import load_study
from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio.command_line import is_command_line, job_file
from raidsim.model.programs.fio.sections import sections
from raidsim.model.programs.postmark_script import commands
from raidsim.scenarios.designs.requirement import read_requirement
from raidsim.scenarios.documents.changes.assignment import parse_alternatives
from raidsim.scenarios.documents.document import Document, document_from, read_document
from raidsim.scenarios.fio.files import FileNames
from raidsim.scenarios.fio.plan import notes_on, plans
from raidsim.scenarios.fio.result import FioRun
from raidsim.scenarios.fio.run import FioOptions, _named, run_fio
from raidsim.scenarios.sweeps.plan import read_sweep
from raidsim.scenarios.traces.fitted import fitted_load
from raidsim.scenarios.traces.formats.table import FORMATS
from raidsim.scenarios.traces.reading import open_trace
from raidsim.scenarios.traces.summary import summarised
from raidsim.web.form.forms import built_text
from raidsim.web.form.limits import check_work
from raidsim.web.form.state import from_query, to_query

INSPECTED = ("mdstat", "mdadm", "lsblk", "smartctl", "storcli", "megacli", "session", "zfs")
REPORTS = (
    *("fio", "bonnie", "bonnie++", "postmark", "tiobench", "iozone", "iostat", "mdstat", "dd-and-time"),
    *("zpool", "vdbench", "dstat", "DiskSpd"),
)
OTHER_CPU = b"\n--- other CPU ---\n"
"""Between what blktrace has of one CPU and of another."""
_SCENARIO = "kernel: linux-6.1\nmachine: {drives: {count: 2, model: WD800JB}}\nworkload: {kind: load}\n"
_DRIVE = "disk0"


class Target(NamedTuple):
    """A reader.

    Attributes
    ----------
    read
        What is done with the bytes.
    packed
        Whether they may be packed as gzip, xz or zstd.
    """

    read: Callable[[bytes], object]
    packed: bool = False


class _Folder:
    """A folder of this process for files that have to be files, in memory where that is possible."""

    def __init__(self) -> None:
        self._process = 0

    def file(self, name: str, data: bytes) -> Path:
        """Write a file; the folder is made for the first one, and again in a process that was forked."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._kept = tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        path = Path(self._kept.name, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path


MEMORY = "/dev/shm"
"""Where the files are, if there is such a place."""
_FOLDER = _Folder()


def _text(data: bytes) -> str:
    """What the command line takes from bytes that are a file of text."""
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace").read()


def _trace(format: str | None) -> Callable[[bytes], object]:
    """`raidsim trace info`, strict and again without what is malformed."""

    def read(data: bytes) -> object:
        first, _, second = data.partition(OTHER_CPU)
        path = _FOLDER.file("trace/t.blktrace.0" if format == "blktrace" else "trace/t", first)
        other = path.with_name("t.blktrace.1")
        other.unlink(missing_ok=True)
        if format == "blktrace" and second:
            other.write_bytes(second)
        refused = None
        for skips in (False, True):
            try:
                trace = open_trace(path, format, skips)
                summary = summarised(trace.records(), "t")
                json.dumps(fitted_load(summary, "md0", trace.tick_s), allow_nan=False)
            except InputError as error:
                refused = error
        if refused is not None:
            raise refused
        return summary

    return read


def _report(data: bytes) -> object:
    """`raidsim parse`."""
    report = read_report(_FOLDER.file("report", data))
    assert all(0 <= figure.value < float("inf") for figure in report.figures)
    return json.dumps(report.document(), allow_nan=False)


def _fio_study(data: bytes) -> object:
    """`raidsim calibrate --from-fio`, up to the fit."""
    return FioStudy(_FOLDER.file("fio/measured.json", data).parent).study


_RUN: list[FioRun] = []


def _fio_compare(data: bytes) -> object:
    """`raidsim fio --compare`, beside a run that is made once."""
    if not _RUN:
        job = "[j]\nfilename=/dev/disk0\nrw=randrw\nbs=4k\nsize=64k\n"
        _RUN.append(run_fio(document_from(_SCENARIO).spec(), sections(job), FioOptions(_DRIVE)))
    return compared(_RUN[0], read_report(_FOLDER.file("report", data)), "report")


def _inspected(data: bytes) -> object:
    """`raidsim inspect`."""
    return inspect([read_source(_FOLDER.file("printed", data))], "x", ignore_solid_state=True)


def _fio_plans(text: str) -> object:
    """What `raidsim fio` does with a job file before it runs it."""
    spec = document_from(_SCENARIO).spec()

    def include(name: str) -> str:
        if name == "missing":
            raise FileNotFoundError(2, "No such file or directory")
        return text if name == "itself" else "bs=8k\n"

    keywords = {"pagesize": 4096, "mb_memory": 1024, "ncpus": 4}
    found = sections(text, "job", dict.fromkeys(("A", "DEPTH", "FSIZE", "SIZE"), "4"), include, keywords)
    names = FileNames(spec, _DRIVE)
    fixed = names.sizes(_named(found))
    return plans(found, fixed, fixed), notes_on(found)


def _fio_command_line(data: bytes) -> object:
    """The same with fio's command line."""
    text = "fio " + _text(data)
    return _fio_plans(job_file(text)) if is_command_line(text) else None


def _described(document: Document) -> object:
    spec = document.spec()
    return spec, document.title, document.fingerprint


def _assignments(data: bytes) -> object:
    """``--set`` and ``--vary``, one a line."""
    document = document_from(_SCENARIO)
    for line in _text(data).splitlines():
        path, values = parse_alternatives(line)
        for value in values[:3]:
            _described(document.changed({path: value}))
        _described(document_from(_SCENARIO, sets=[line]))
        read_choices([line])
    return document


def _upload(data: bytes) -> object:
    """The explorer's upload."""
    built = built_text(data.decode("utf-8", "replace"), "upload.yaml")
    if built.spec is not None:
        check_work(built.spec)
    return built


def _link(data: bytes) -> object:
    """The explorer's address; it is never refused."""
    state, _ = from_query(parse_qs(_text(data), keep_blank_values=True))
    again, _ = from_query({name: [each] if isinstance(each, str) else each for name, each in to_query(state).items()})
    assert again == state
    return state


def _sweep(data: bytes) -> object:
    """`raidsim sweep`, up to its first and its last run."""
    plan = read_sweep(_FOLDER.file("sweep.yaml", data))
    for point in {0, plan.points - 1}:
        try:
            plan.document.changed(plan.values(point)).spec()
        except InputError:
            continue  # a point that means nothing is left out of the sweep
    return plan.runs, plan.fingerprint


TARGETS: dict[str, Target] = {
    "trace": Target(_trace(None), packed=True),
    **{f"trace-{name}": Target(_trace(name), packed=True) for name in FORMATS},
    **{f"report-{name}": Target(_report) for name in REPORTS},
    **{f"inspect-{name}": Target(_inspected) for name in INSPECTED},
    "fio-study": Target(_fio_study),
    "fio-compare": Target(_fio_compare),
    "fio-job": Target(lambda data: _fio_plans(_text(data))),
    "fio-command-line": Target(_fio_command_line),
    "postmark-script": Target(lambda data: list(commands(_text(data)))),
    "scenario": Target(lambda data: _described(read_document(_FOLDER.file("scenario.yaml", data)))),
    "upload": Target(_upload),
    "link": Target(_link),
    "assignments": Target(_assignments),
    "requirement": Target(lambda data: read_requirement(_FOLDER.file("requirement.yaml", data))),
    "sweep": Target(_sweep),
    "study": Target(lambda data: load_study(str(_FOLDER.file("study.yaml", data)))),
    "profile": Target(lambda data: load_profile(_FOLDER.file("profile.yaml", data))),
    "machine": Target(lambda data: load_machine(_FOLDER.file(f"measured/{FILE_NAME}", data).parent)),
}
"""By the name of the folder of its corpus."""
