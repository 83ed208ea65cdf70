"""A thread that sleeps in its submission takes completions late: latency by Little's law beyond the tags, too."""

from __future__ import annotations

import json

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate


@pytest.mark.parametrize(("depth", "jobs"), [(8, 2), (32, 8), (16, 32)])
def test_latency_times_rate_is_what_the_jobs_keep_outstanding(depth: int, jobs: int) -> None:
    """mq-deadline has 64 tags for this drive. Measured to completion alone, latency would be that of 64 I/Os.

    fio on a drive with 512 outstanding in 16 jobs: 3.3 s at 149 I/Os a second (study louwrentius-2019).
    """
    document = {
        "machine": {"model": "server", "drives": {"model": "WD5000AAKS", "count": 1}},
        "workload": {
            "kind": "load",
            "targets": ["disk0"],
            "depth": depth,
            "jobs": jobs,
            "warm_up": "20s",
            "duration": "20s",
        },
    }
    result = simulate(document_from(json.dumps(document)).spec())
    outstanding = result.iops["read"] * result.latencies["read"]["mean_s"]
    assert outstanding == pytest.approx(depth * jobs, rel=0.1)
