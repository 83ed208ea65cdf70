"""The points of a sweep: lists, ranges with units, Latin hypercubes, their order, and files that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from pydantic_core import PydanticCustomError
from scipy.stats import qmc

import raidsim
from raidsim.model.core.errors import InputError
from raidsim.scenarios.sweeps.axes import Choices, Range, latin_hypercube
from raidsim.scenarios.sweeps.plan import read_sweep
from raidsim.tests.scenarios.sweeps.sweep_bench import RANGES, SCENARIO, plan_of


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ((1, 64, 7, True), [1, 2, 4, 8, 16, 32, 64]),
        ((1, 5, 3), [1, 3, 5]),
        ((0.0, 1.0, 5), [0.0, 0.25, 0.5, 0.75, 1.0]),
        ((0, "100%", 5), [0.0, 0.25, 0.5, 0.75, 1.0]),
        (("64KiB", "1MiB", 5, True), ["65536B", "131072B", "262144B", "524288B", "1048576B"]),
        (("4KiB", "20KiB", 4), ["4096B", "9728B", "14848B", "20480B"]),
        (("4KiB", "20KiB", 3, False, "4KiB"), ["4096B", "12288B", "20480B"]),
        (("1ms", "1s", 4, True), ["0.001s", "0.01s", "0.1s", "1.0s"]),
        (("1.5GHz", "3GHz", 3), ["1500000000.0Hz", "2250000000.0Hz", "3000000000.0Hz"]),
        ((0.0, 1.0, 4, False, 0.25), [0.0, 0.25, 0.75, 1.0]),
        ((0, 1, 3, False, 0.5), [0.0, 0.5, 1.0]),
    ],
)
def test_values_of_a_range(arguments: tuple[Any, ...], values: list[Any]) -> None:
    """Ends are exact, what is between them has no dust, sizes are whole sectors, and units stay."""
    steps = Range(*arguments)
    assert [steps.at(i) for i in range(steps.count)] == values
    assert [type(steps.at(i)) for i in range(steps.count)] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 1, 5), "5 steps, of which 2 are different whole numbers"),
        ((0, 1, None), "0.0 and 1.0 for fractions"),
        ((5, 1, 5), "from 5 to 1; expected: from below to"),
        (("1s", "64KiB", 5), "a time, to 64KiB, a size"),
        ((0, 8, 5, True), "above 0"),
        (("64KiB", "1000KiB", 5, False, "48KiB"), "a multiple of the step"),
        ((1, 9, 3, False, "1s"), "a number above 0"),
        (("some", 9, 3), "a quantity such as 64KiB"),
        ((1, 10**70, 3), "1E-18 to 1E+18"),
    ],
)
def test_ranges_that_mean_nothing_are_refused(arguments: tuple[Any, ...], words: str) -> None:
    """Protects from grids that are not the one that was meant."""
    with pytest.raises(PydanticCustomError, match="expected") as refused:
        Range(*arguments)
    assert words in str(refused.value)


def test_a_latin_hypercube_takes_every_part_of_a_range_once() -> None:
    """What it is for: as many points as parts, one in each, in an order of its own for each path."""
    one, other = latin_hypercube(64, 1, "depth"), latin_hypercube(64, 1, "chunk")
    for shares in (one, other):
        assert sorted((shares * 64).astype(int)) == list(range(64))
    assert list(one) != list(other)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.4
    assert qmc.discrepancy(np.column_stack([one, other])) < qmc.discrepancy(np.random.default_rng(0).random((64, 2)))


def test_a_latin_hypercube_is_the_same_everywhere() -> None:
    """Protects results from a generator that changes: these are the numbers of SeedSequence and PCG64, which do not."""
    assert [share.hex() for share in latin_hypercube(3, 7, "depth").tolist()] == [
        "0x1.6a1788e6860dcp-1",
        "0x1.bd5a102d0f105p-2",
        "0x1.9687936e24d95p-3",
    ]


def test_sampled_whole_numbers_are_equally_likely() -> None:
    """The two at the ends are as likely as the others, and a list gives each of its values as often."""
    numbers = Range(1, 4, None)
    shares = latin_hypercube(400, 1, "depth")
    for sampled in ([numbers.sampled(s) for s in shares], [Choices((1, 2, 3, 4)).sampled(s) for s in shares]):
        assert {value: sampled.count(value) for value in sampled} == dict.fromkeys((1, 2, 3, 4), 100)


def test_sampled_sizes_are_multiples_of_the_step() -> None:
    """A sampled size is one that the device takes, within the range, and small ones as often as large ones."""
    sizes = Range("4KiB", "1MiB", None, True, "4KiB")
    values = [int(str(sizes.sampled(share)).removesuffix("B")) for share in latin_hypercube(200, 1, "size")]
    assert not any(value % 4096 for value in values)
    assert min(values) >= 4096
    assert max(values) <= 1 << 20
    assert 80 < sum(value < 1 << 16 for value in values) < 120


def test_the_grid_and_the_sample_together(tmp_path: Path) -> None:
    """Every combination of the grid has the same sample, and the last path changes first."""
    vary = {"chunk": ["64KiB", "128KiB"], "layout": ["raid5", "raid10"]}
    plan = plan_of(tmp_path, 3, vary=vary, replications=2)
    rows = [plan.cells(plan.values(point)) for point in range(plan.points)]
    assert (plan.points, plan.runs) == (12, 24)
    assert [(row["chunk"], row["layout"]) for row in rows[::3]] == [
        (65536, "raid5"),
        (65536, "raid10"),
        (131072, "raid5"),
        (131072, "raid10"),
    ]
    assert len({(row["depth"], row["block_size"]) for row in rows}) == 3
    assert plan.paths == ("chunk", "layout", *RANGES)


def test_the_fingerprint_follows_the_points(tmp_path: Path) -> None:
    """What changes no point leaves a sweep what it is; what does makes another one of it."""
    plan = plan_of(tmp_path)
    assert plan_of(tmp_path, name="other.yaml", figures=["rate"]).fingerprint == plan.fingerprint
    assert plan_of(tmp_path, replications=2).fingerprint != plan.fingerprint
    assert plan_of(tmp_path, 61).fingerprint != plan.fingerprint
    assert plan_of(tmp_path, scenario={**SCENARIO, "seed": 1}).fingerprint != plan.fingerprint


def test_a_scenario_of_the_library_a_file_and_one_that_extends(tmp_path: Path) -> None:
    """A scenario may be named, stand in a file beside the sweep's, or be written out, also on top of another one."""
    (tmp_path / "box.yaml").write_text(yaml.safe_dump(SCENARIO), encoding="utf-8")
    for scenario in ("home-nas", "library:home-nas", "box.yaml", {"extends": "box.yaml", "seed": 3}):
        plan = plan_of(tmp_path, scenario=scenario, sample=None, vary={"path_length": [1, 2]})
        assert plan.document.changed(plan.values(1)).spec().path_length == 2
    assert plan.document.spec().seed == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"vary": {"dept": [1, 2]}}, "did you mean depth?"),
        ({"vary": {"machine.memry": ["1GiB"]}}, "did you mean machine.memory"),
        ({"vary": {"chunk": []}}, "vary.chunk: found an empty list"),
        ({"vary": {"chunk": 3}}, "a list of values, or a range"),
        ({"vary": {"chunk": ["64KiB", "65536B"]}}, "vary.chunk[1]: found '65536B' twice"),
        ({"vary": {"chunk": {"from": "4KiB", "to": "64KiB"}}}, "vary.chunk.steps: it is missing"),
        ({"vary": {"depth": [1, 2]}}, "found depth, which vary has already"),
        ({"vary": {"workload.depth": [1, 2]}}, "changes the same"),
        ({"vary": {"seed": {"from": 1, "to": 60000, "steps": 60000}}}, "found 3,600,000 points; expected: 1,000,000"),
        ({"replications": 20_000}, "found 60 points x 20,000"),
        ({"sample": None}, "nothing that varies"),
        ({"scenario": "../other.yaml"}, "a file in the same folder or below it"),
        ({"scenario": "/etc/passwd"}, "a file in the same folder or below it"),
        ({"scenario": "nowhere.yaml"}, "there is no file 'nowhere.yaml'"),
        ({"scenario": {"machine": {"drives": {"model": "none", "count": 2}}}}, "'none' is not in the catalogue"),
        ({"vary": {"layout": ["raid7", "raid8"]}}, "raid7"),
        ({"figures": ["rate", "rate"]}, "found rate twice"),
        ({"vari": {}}, "did you mean 'vary'?"),
        ({"sample": {"points": 3, "method": "halton", "ranges": RANGES}}, "expected: latin-hypercube"),
    ],
)
def test_sweeps_that_mean_nothing_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """One message with file, line and what would be right, before anything is run."""
    with pytest.raises(InputError) as refused:
        plan_of(tmp_path, **changes)
    assert words in str(refused.value)


@pytest.mark.parametrize("text", ["", "[]", "a: *b", "scenario: !!python/name:os.system", "{" * 10_000, "\0", "- 1: {"])
def test_files_that_are_no_sweep_are_refused(tmp_path: Path, text: str) -> None:
    """Whatever stands in a file, the answer is one message that names it."""
    path = tmp_path / "sweep.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"sweep\.yaml"):
        read_sweep(path)


def test_the_examples_of_the_manual_are_sweeps() -> None:
    """Protects the files that readers start from."""
    folder = Path(raidsim.__file__).parent / "docs" / "examples" / "sweeps"
    plans = {path.stem: read_sweep(path) for path in sorted(folder.glob("*.yaml"))}
    assert {name: plan.runs for name, plan in plans.items()} == {"chunk-size": 9, "team-load": 9, "unknown-load": 600}
    plan = plans["unknown-load"]
    assert plan.document.changed(plan.values(199)).spec().workload.kind == "load"
