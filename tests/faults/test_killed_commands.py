"""Commands that are killed while they write: what was there stays, what is there is whole, and again gives all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from raidsim.calibration.fit.profile import load_profile
from raidsim.tests.calibration.study import small_study as small
from raidsim.tests.faults.killed import NAMED, OLD, STUDY, WRITERS
from raidsim.tests.faults.test_disk_full import JOB, SCENARIO
from raidsim.tests.processes import PATIENCE_S
from raidsim.tests.scenarios.sweeps.sweep_bench import plan_of

KILLED = -signal.SIGKILL


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read."""
    folder = tmp_path_factory.mktemp("killed")
    (folder / "s.yaml").write_text(SCENARIO)
    (folder / "job.fio").write_text(JOB)
    (folder / "pm.txt").write_text("set number 20\nset transactions 20\nrun\nquit\n")
    plan_of(folder, 3)
    measured = {"one": 18.0, "both": 110_000.0, "both/seconds": 19.0, "stripe": 108.0, "load": 90.0}
    document = small.runs_document(measured)
    document["parameters"] = document["parameters"][:1]
    (folder / STUDY).write_text(yaml.safe_dump(document), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    """What each command did, by its name and where it was killed."""
    command = [sys.executable, "-m", "raidsim.tests.faults.killed", str(folder)]
    environment = {**os.environ, "RAIDSIM_HOME": str(folder / "home")}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert answer.returncode == 0, answer.stderr
    answers: dict[str, Any] = json.loads(answer.stdout)
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_what_was_there_stays_until_all_of_it_is_new(found: dict[str, Any], name: str) -> None:
    """Protects files against kill -9 while they are written; the command alone, again, writes all of the new one."""
    status, old, size = found[f"{name}, end"]
    assert (status, old) == (0, False)
    assert size > 3 * len(OLD)
    for end in ("fsync", "name") if name == NAMED else ("fsync",):
        assert found[f"{name}, {end}"] == [KILLED, True, len(OLD)], end


@pytest.mark.slow
def test_the_profiles_of_the_user_are_whole(found: dict[str, Any], folder: Path) -> None:
    """Protects what was fitted: killed before the first profile there is none, later there is the old one."""
    first, whole, second = found["profiles"]
    assert first == [KILLED, {}]
    assert whole[0] == 0
    assert second == [KILLED, whole[1]]
    (file,) = whole[1]
    assert load_profile(folder / "home" / file).study == STUDY.removesuffix(".yaml")
