"""What is said of a study that is not finished."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.calibration.sensitivity import study_check
from raidsim.calibration.sensitivity.study_check import StudyCheck, check_study, resolve_study
from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate

STUDY: dict[str, Any] = {
    "id": "small",
    "title": "one drive, and two of it",
    "source": {"author": "somebody", "date": "2026", "where": "here", "notes": "made up"},
    "machine": {"model": "server", "drives": {"model": "WD5000AAKS", "count": 2}},
    "arrays": {"md0": {"level": "raid0", "members": ["disk0", "disk1"]}},
    "runs": {
        name: {
            "kernel": "linux-6.1",
            "workload": {"kind": "load", "targets": [target], "warm_up": "100ms", "duration": "1s", "depth": 4},
        }
        for name, target in (("one", "disk0"), ("two", "md0"))
    },
    "cells": [
        {"id": "one", "use": "calibrate", "run": "one", "figure": "iops", "measured": 110, "unit": "1/s"},
        {"id": "two", "use": "predict", "run": "two", "figure": "iops", "measured": 190, "unit": "1/s"},
    ],
    "parameters": [{"name": "seek", "paths": ["machine.drives.*.seek_average"], "sd": "20%", "reason": "made up"}],
}


def checked(**changes: Any) -> StudyCheck:
    """The check of the study with other parts."""
    return check_study(validate(StudySpec, {**STUDY, **changes}), lambda done, total: None)


def test_open_numbers_are_ranked_by_what_they_move() -> None:
    """Protects the advice of what to look up first: seeks and rotation move random reads, and seeks are fitted."""
    found = checked()
    assert [each.change for each in found.moved] == sorted((each.change for each in found.moved), reverse=True)
    fitted = {each.path.rpartition(".")[2]: each.fitted for each in found.moved}
    assert fitted["seeks"]
    assert not all(fitted.values())
    assert set(found.run_s) == {"one", "two"}
    assert found.fit_s == pytest.approx(8 * 2 * found.run_s["one"])


def test_a_zero_is_named() -> None:
    """Protects a study from a check that ends at a figure of 0: the cell is named."""
    load = {"kind": "load", "targets": ["md0"], "warm_up": "50ms", "duration": "100ms"}
    found = checked(
        cells=[
            {"id": "idle", "use": "predict", "run": "one", "figure": "least_drive_iops", "measured": 3, "unit": "1/s"}
        ],
        runs={"one": {"kernel": "linux-6.1", "workload": load}},
        arrays={"md0": {"level": "raid1", "members": ["disk0", "disk1"], "write_mostly": ["disk1"]}},
        parameters=[],
    )
    assert any("the model gives 0: idle;" in problem for problem in found.problems)


def test_numbers_that_do_not_matter_are_not_shown() -> None:
    """Protects the list from everything that the machine has."""
    assert all(each.change >= 0.02 for each in checked().moved)
    assert not any("putc" in each.path for each in checked().moved)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"cells": [STUDY["cells"][1]]}, "no cell is marked calibrate"),
        ({"cells": [STUDY["cells"][0]]}, "nothing is predicted"),
        ({"cells": []}, "nothing was measured"),
        ({"parameters": []}, "nothing can be fitted"),
        ({"source": {**STUDY["source"], "author": "TODO: who"}}, "source.author is empty"),
        ({"cells": [STUDY["cells"][0]]}, "runs without a cell or a claim: two"),
    ],
)
def test_what_is_missing_is_said(changes: dict[str, Any], told: str) -> None:
    """Protects a report from a study that cannot be calibrated, or that predicts nothing."""
    assert any(told in problem for problem in checked(**changes).problems)


def test_a_finished_study_has_no_problem_of_form() -> None:
    """Protects the counter-example: of a study with marks, parameters and a source only open numbers are told."""
    assert all(problem.startswith("not fitted") for problem in checked().problems)


def test_a_study_is_resolved_without_a_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects whoever writes a study: what is missing is said at once. Counter-test: the whole check simulates."""

    def never(*_: object) -> None:
        raise AssertionError("simulated")

    monkeypatch.setattr(study_check, "simulate", never)
    assert resolve_study(validate(StudySpec, STUDY)) == ()
    assert resolve_study(validate(StudySpec, {**STUDY, "cells": []}))[0].startswith("no cells")
    with pytest.raises(AssertionError, match="simulated"):
        checked()


def test_a_run_whose_machine_cannot_be_built_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects from a message about a machine that the study does not name."""

    def refuse(*_: object) -> None:
        raise InputError("machine.memory", "found 1MiB", "expected: more")

    monkeypatch.setattr(study_check, "BuiltMachine", refuse)
    with pytest.raises(InputError, match=r"runs\.one: machine\.memory: found 1MiB; expected: more"):
        resolve_study(validate(StudySpec, STUDY))


@pytest.mark.parametrize("study", ["dpt-1999", "coolcold-2023"])
def test_studies_that_come_with_raidsim_resolve(study: str) -> None:
    """Programs on files at a scale, and loads on flash."""
    resolve_study(load_study(study))
