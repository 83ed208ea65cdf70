"""What a run sets at once of what takes long to fill."""

from __future__ import annotations

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate

TEXT = """
machine:
  cpu: {model: server-core, cores: 4}
  drives: {model: Exos-15E900-900GB, count: 3}
arrays: {md0: {level: raid5}}
workload: {kind: load, block_size: 64KiB, read_share: 0, precision: 20%}
"""


@pytest.mark.parametrize("load", ["workload.pattern=sequential", "workload.pattern=random"])
def test_a_load_whose_bits_do_not_spread_evenly_runs(load: str) -> None:
    """Protects loads of which no bits can be set at once, as a sequential writer's: the run goes on without them. The
    random one has them set.
    """
    found = simulate(document_from(TEXT, "test.yaml", (load,)).spec())
    assert found.precision_reached is not None
    assert found.iops["write"] > 0
