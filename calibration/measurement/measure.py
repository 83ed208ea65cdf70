"""Measures a disk with a short suite of fio jobs, so that a model of it can be fitted.

Reads in order: large ones give the media rate, small ones what a command costs, one at a time with the CPU's part of
it, several at a time without. Random reads at six depths: seeks and rotation at depth 1, and what the drive makes of a
queue. Each job's report is a file of its own, and a job whose report is there already, of the same settings, is not run
again.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from ...model.core.errors import InputError
from ...model.files.atomic_file import write_whole
from ...model.files.quantities import format_duration, format_size
from ...scenarios.workers.process_setup import interrupts_postponed
from ..formats.detect import read_report
from ..text.report import Report
from .machine import FILE_NAME, Kernel, MeasuredMachine, MeasuredSuite, load_machine
from .target import Target

DEPTHS = (1, 2, 4, 8, 16, 32)
WRITE_DEPTHS = (1, 16)
ENGINES = ("libaio", "io_uring", "psync")
"""fio's engines, the best first; with psync a depth is as many threads."""
INSTALL = "expected: fio on the PATH (apt install fio, dnf install fio, zypper install fio or apk add fio)"

_PERCENTILES = "50:90:95:99:99.9"
_PATIENCE_S = 60.0
"""What fio may take beyond the job's own time: opening, and collecting what is outstanding."""
_STOPPED_S = 5.0


@dataclass(frozen=True, slots=True)
class Job:
    """One job of the suite.

    Attributes
    ----------
    name
        Also of its report, without ``.json``.
    rw
        As fio's option.
    block_size
        Bytes.
    depth
        I/Os outstanding.
    syncs
        Whether every write is followed by fdatasync, which makes the drive flush its cache.
    jobs
        Threads that do the same at the same time.
    read_percent
        Of reads and writes mixed; None without a mix.
    """

    name: str
    rw: str
    block_size: int
    depth: int = 1
    syncs: bool = False
    jobs: int = 1
    read_percent: int | None = None

    @property
    def writes(self) -> bool:
        """Whether it overwrites what is there."""
        return self.rw.removeprefix("rand") != "read"


def suite(writes: bool) -> tuple[Job, ...]:
    """The jobs in their order; those that write come last."""
    jobs = [Job("read-1m", "read", 1 << 20), Job("read-4k", "read", 4096), Job("read-4k-qd8", "read", 4096, 8)]
    jobs += [Job(f"randread-4k-qd{depth}", "randread", 4096, depth) for depth in DEPTHS]
    jobs.append(Job("randread-128k-qd4", "randread", 128 << 10, 4))
    if writes:
        jobs.append(Job("write-1m", "write", 1 << 20))
        jobs += [Job(f"randwrite-4k-qd{depth}", "randwrite", 4096, depth) for depth in WRITE_DEPTHS]
        jobs.append(Job("randwrite-4k-fdatasync", "randwrite", 4096, syncs=True))
    return tuple(jobs)


@dataclass(frozen=True, slots=True)
class Fio:
    """The installed fio.

    Attributes
    ----------
    path, version
        Where and which it is.
    engine
        The best of :data:`ENGINES` that it has.
    """

    path: str
    version: str
    engine: str


def find_fio() -> Fio:
    """The fio on the PATH; raises `InputError` saying how to install it if there is none."""
    path = shutil.which("fio")
    if path is None:
        raise InputError("fio", "not installed", INSTALL)
    version = _said(path, "--version").removeprefix("fio-")
    offered = _said(path, "--enghelp").split()
    engine = next((each for each in ENGINES if each in offered), None)
    if engine is None:
        raise InputError("fio", f"version {version} has none of its usual engines", f"expected: {', '.join(ENGINES)}")
    return Fio(path, version, engine)


def _said(path: str, option: str) -> str:
    try:
        command = [path, option]  # fio as PATH has it, and an option of this module
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)  # nosec B603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError("fio", f"{path} cannot be run ({type(error).__name__})", INSTALL) from None
    if done.returncode:
        raise InputError("fio", f"{path} {option} ended with status {done.returncode}", INSTALL)
    return done.stdout.strip()


def describe(target: Target, fio: Fio, seconds: float, direct: bool, writes: bool, kernel: Kernel) -> MeasuredMachine:
    """What is written with the results."""
    return MeasuredMachine(
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        fio=fio.version,
        kernel=kernel.release(),
        cpu=kernel.cpu(),
        memory=kernel.memory(),
        device=kernel.device_of(target.number),
        suite=MeasuredSuite(
            target=target.kind, size=target.size, seconds=seconds, engine=fio.engine, direct=direct, writes=writes
        ),
    )


class Measurement:
    """The suite, on one target, with its results in one folder.

    Parameters
    ----------
    folder
        Where the reports are kept; made if it is not there.
    target, fio
        What is measured, with what.
    machine
        From :func:`describe`.
    jobs
        What is run; default: the suite.

    Raises
    ------
    InputError
        If the folder holds something else, or a measurement with other settings.
    """

    def __init__(
        self, folder: Path, target: Target, fio: Fio, machine: MeasuredMachine, jobs: tuple[Job, ...] | None = None
    ) -> None:
        self.folder = folder.resolve()
        self._target = target
        self._fio = fio
        self.machine = machine
        self.jobs = suite(machine.suite.writes) if jobs is None else jobs
        self._prepare()
        self.reports = {job: report for job in self.jobs if (report := self._finished(job)) is not None}
        self.resumed = tuple(self.reports)

    def _prepare(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError("--output", f"{self.folder}: {error.strerror}", "expected: a folder to write to") from None
        before = load_machine(self.folder)
        if before is None:
            if any(self.folder.iterdir()):
                found = f"{self.folder} holds other files"
                raise InputError("--output", found, "expected: an empty folder, or one of an earlier measurement")
            self._write(FILE_NAME, yaml.safe_dump(self.machine.document(), sort_keys=False, width=120))
            return
        changes = _differences(before, self.machine)
        if changes:
            found = f"{self.folder} holds a measurement with other settings ({', '.join(changes)})"
            raise InputError("--output", found, "expected: the same settings, to go on with it, or another folder")
        self.machine = before

    def _write(self, name: str, text: str) -> None:
        try:
            write_whole(self.folder / name, text)
        except OSError as error:
            raise InputError("--output", f"{self.folder}: {error.strerror}", "expected: a folder to write to") from None

    def _path(self, job: Job) -> Path:
        return self.folder / f"{job.name}.json"

    def _finished(self, job: Job) -> Report | None:
        """The report of a job that has been run before, if it is whole."""
        if not self._path(job).exists():
            return None
        try:
            return read_report(self._path(job))
        except InputError:
            return None  # a report that was cut short is measured again

    def run(self, progress: Callable[[int, int], None]) -> None:
        """Run the jobs that have no report yet; an interrupt ends fio and leaves the reports of finished jobs."""
        with _terminated_like_interrupted():
            for job in self.jobs:
                progress(len(self.reports), len(self.jobs))
                if job not in self.reports:
                    self.reports[job] = self._run(job)
        progress(len(self.jobs), len(self.jobs))

    def _run(self, job: Job) -> Report:
        handle, part = tempfile.mkstemp(dir=self.folder, prefix=f"{job.name}.", suffix=".part")
        os.close(handle)
        try:
            self._fio_run(job, part)
            try:
                report = read_report(part)
            except InputError as error:
                raise InputError(
                    f"fio job {job.name}", f"an unreadable report: {error.found}", "expected: JSON"
                ) from None
            os.replace(part, self._path(job))
        finally:
            Path(part).unlink(missing_ok=True)
        return report

    def _fio_run(self, job: Job, output: str) -> None:
        seconds = self.machine.suite.seconds
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            process: subprocess.Popen[bytes] | None = None
            try:
                with interrupts_postponed():
                    process = subprocess.Popen(  # nosec B603 # the same fio; no shell sees a name
                        [self._fio.path, *self._arguments(job, output)],
                        cwd=self._target.path.parent,
                        stdin=subprocess.DEVNULL,
                        stdout=errors,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,  # Ctrl-C is for raidsim, which ends fio itself
                    )
                status = process.wait(seconds + _PATIENCE_S)
            except subprocess.TimeoutExpired:
                found = f"fio has not ended after {format_duration(seconds + _PATIENCE_S)}"
                raise InputError(f"fio job {job.name}", found, "expected: a device that answers") from None
            finally:
                if process is not None:
                    _stop(process)
            errors.seek(0)
            said = " ".join(errors.read().split())
        if status:
            found = f"fio ended with status {status}: {said[-200:] or 'without a word'}"
            raise InputError(f"fio job {job.name}", found, "expected: a target that fio can measure")

    def _arguments(self, job: Job, output: str) -> list[str]:
        settings = self.machine.suite
        # A thread for each I/O outstanding, where the engine has one at a time.
        one = settings.engine == "psync"
        threads, depth = (job.jobs * job.depth, 1) if one else (job.jobs, job.depth)
        options = {
            "name": job.name,
            "filename": self._target.path.name.replace(":", r"\:"),
            "rw": job.rw,
            "bs": job.block_size,
            "iodepth": depth,
            "numjobs": threads,
            "ioengine": settings.engine,
            "direct": int(settings.direct),
            "size": settings.size,
            "time_based": 1,
            "runtime": f"{settings.seconds:g}",
            "thread": 1,
            "group_reporting": 1,
            "allow_file_create": 0,
            "lat_percentiles": 1,
            "percentile_list": _PERCENTILES,
        }
        if job.syncs:
            options["fdatasync"] = 1
        if job.read_percent is not None:
            options["rwmixread"] = job.read_percent
        first = ["--output-format=json", f"--output={output}", *([] if job.writes else ["--readonly"])]
        return [*first, *(f"--{name}={value}" for name, value in options.items())]


def _differences(before: MeasuredMachine, now: MeasuredMachine) -> list[str]:
    """Settings that are other ones, in words."""
    found = []
    for name in MeasuredSuite.model_fields:
        old, new = getattr(before.suite, name), getattr(now.suite, name)
        if old != new:
            shown = [format_size(each) if name == "size" else f"{each}" for each in (old, new)]
            found.append(f"{name} {shown[0]}, now {shown[1]}")
    names = [each.device.name if each.device is not None else None for each in (before, now)]
    sizes = [each.device.size if each.device is not None else None for each in (before, now)]
    if names[0] != names[1] or sizes[0] != sizes[1]:
        found.append(f"device {names[0]}, now {names[1]}" if names[0] != names[1] else "a device of another size")
    return found


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End fio, whatever it is doing."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOPPED_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """While fio runs in a session of its own, a request to end reaches it like Ctrl-C, but for one that is ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) is signal.SIG_DFL]
    for each in heeded:
        signal.signal(each, signal.default_int_handler)
    try:
        yield
    finally:
        for each in heeded:
            signal.signal(each, signal.SIG_DFL)


def default_folder(target: Target, jobs: str = "") -> Path:
    """Where the reports are kept unless told: ``fio-NAME`` here, and ``fio-NAME-JOBS`` of a job file."""
    name = f"{target.path.name}-{jobs}" if jobs else target.path.name
    return Path(f"fio-{re.sub(r'[^A-Za-z0-9._-]', '_', name)}")
