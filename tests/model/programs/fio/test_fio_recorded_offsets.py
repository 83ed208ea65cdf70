"""Offsets, sizes and order of jobs that were run with the real fio.

Recorded with fio 3.33: ``ioengine=null`` and ``--write_iolog``, without the lines of opened and closed files. Of each
log the number of lines, the first three and a digest of all are kept, clones sorted by their lines.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.programs.fio.jobs import jobs
from raidsim.model.programs.fio.offsets import FioOffsets, iolog
from raidsim.model.programs.fio.sections import sections

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("fio_recorded_offsets.json").read_text())


@pytest.mark.parametrize("name", RECORDED)
def test_a_job_does_what_the_real_fio_does(name: str) -> None:
    """Protects trims, loops, distributions, alignment, files, sizes by order, fsyncs: each its own job."""
    recorded = RECORDED[name]
    made = jobs(sections(f"[j]\nioengine=null\n{recorded['job']}\n", name))
    logs = sorted(
        [line for line in iolog(FioOffsets(job).operations()) if not line.endswith((" open", " close"))] for job in made
    )
    assert [len(log) for log in logs] == [job["ios"] for job in recorded["jobs"]]
    for log, job in zip(logs, recorded["jobs"], strict=True):
        assert log[:3] == job["first"]
        assert hashlib.sha256("\n".join(log).encode()).hexdigest()[:16] == job["sha256"]


def test_there_are_recordings() -> None:
    """Protects the file from being empty."""
    assert len(RECORDED) > 50
