"""What benchmark programs do, compared with recordings of the real ones: their operations, one by one or counted.

Each program has its own check: PostMark's log and everything it prints; bonnie's and bonnie++'s system calls by phase,
and their seeks; the requests that dd causes on a raw block device; iozone's calls and offsets by phase; the calls of
tar and cp on a recorded tree; and file, direction, offset and size of every I/O of fio's jobs. Operations have no time,
so times and rates in the recordings are not compared. Neither are the samples in the folder `traces`, which are
examples of file formats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import KindResult, NotSupported, Progress, TruthFile
from . import bonnie as workloads_bonnie
from . import copying as workloads_copying
from . import dd as workloads_dd
from . import fio as workloads_fio
from . import iozone as workloads_iozone
from . import postmark as workloads_postmark

ProgramCheck = Callable[[TruthFile, Sequence[TruthFile], KindResult, Progress], None]
"""Compares one file; the others are for what it refers to."""

_CHECKS: tuple[tuple[frozenset[str], ProgramCheck], ...] = (
    (frozenset(("script", "by_phase")), workloads_postmark.check),
    (frozenset(("command_output", "phases")), workloads_bonnie.check),
    (frozenset(("record", "phases")), workloads_iozone.check),
    (frozenset(("what", "rows")), workloads_dd.check),
    (frozenset(("dirs_incl_root", "total_bytes")), workloads_copying.check_tree),
    (frozenset(("tree",)), workloads_copying.check_programs),
    (frozenset(("job", "jobfile")), workloads_fio.check_run),
    (frozenset(("fio version", "jobs")), workloads_fio.check_totals),
)
"""Fields by which each program's recordings are recognised."""


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Compare every recorded run."""
    result = KindResult("workloads")
    for file in files:
        try:
            _check_of(file)(file, files, result, progress)
        except NotSupported as error:
            result.skip(file.path.name, "", error)
    return result


def _check_of(file: TruthFile) -> ProgramCheck:
    content: Any = file.content
    for fields, program in _CHECKS:
        if fields <= content.keys():
            return program
    raise NotSupported(file.path.name, "this is the recording of no known program", "expected: as the manual shows")
