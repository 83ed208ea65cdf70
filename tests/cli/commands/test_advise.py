"""`raidsim advise` as a person runs it: the table, exit status, JSON, a picture, bad input."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from raidsim.api.answer.tree import Answer, Table
from raidsim.api.pictures.advise import advice_figure
from raidsim.api.tables import advise as tables
from raidsim.api.tables.advice_document import document
from raidsim.api.tables.advise import _interval, _not_known, _rooms
from raidsim.cli.main import main
from raidsim.cli.support.standings import drawn
from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.advice.advice import Advice, advise
from raidsim.scenarios.advice.fewest_drives import FewestDrives
from raidsim.scenarios.advice.runs import Measured, Task
from raidsim.scenarios.advice.standings import Standings
from raidsim.scenarios.advice.trials import Trials
from raidsim.scenarios.advice.verdict import Verdict
from raidsim.scenarios.comparison.array_facts import array_facts
from raidsim.scenarios.designs.requirement import read_requirement

REQUIREMENT = """
name: small
load: {total_iops: 120, read_share: 80%, block_size: 8KiB}
limits: {mean: 30ms}
survives: 1
levels: [raid0, raid10]
precision: 15%
drives: [{model: Exos-15E900-900GB, count: 4, price: 300}]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A light load for four drives."""
    path = tmp_path / "small.yaml"
    path.write_text(REQUIREMENT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def advised(tmp_path_factory: pytest.TempPathFactory) -> Advice:
    """The answer for these drives."""
    path = tmp_path_factory.mktemp("advised") / "small.yaml"
    path.write_text(REQUIREMENT, encoding="utf-8")
    return advise(read_requirement(path), 0)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    with pytest.raises(SystemExit) as left:
        main(["advise", *arguments, "--workers", "1"])
    printed = capsys.readouterr()
    return int(left.value.code or 0), printed.out, printed.err


def test_the_table_and_the_picture(capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path) -> None:
    """What meets it comes first, then why the others do not; status 0, and a picture."""
    picture = tmp_path / "small.svg"
    status, out, _ = ran(capsys, str(file), "--plot", str(picture))
    text = " ".join(out.split())
    assert status == 0
    assert text.index("Meets it") < text.index("Why the others do not")
    assert "RAID 0 of 4 x Exos-15E900-900GB: survives no failure for sure, not 1" in text
    assert picture.stat().st_size > 1000


def test_a_picture_of_times_that_are_far_apart(advised: Advice) -> None:
    """Protects the logarithmic axis: it has the slowest and the fastest design, and leaves out one without a time."""
    (first, *_) = advised.ranked
    assert first.measured is not None
    slow = {name: replace(each, mean=100 * each.mean) for name, each in first.measured.latencies.items()}
    others = [replace(first, status="fails", measured=replace(first.measured, latencies=each)) for each in (slow, {})]
    figure = advice_figure(replace(advised, verdicts=(first, *others)))
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    assert axes.get_yscale() == "log"
    assert 0 < low < 1e3 * first.worst_p99 < 1e5 * first.worst_p99 < high < 2e5 * first.worst_p99


def test_the_ranking_so_far_is_shown_on_a_terminal(file: Path) -> None:
    """Every stage is drawn: what bounds say at first, brief runs, and the status at the end."""
    shown: list[str] = []
    console = Console(width=160, record=True, file=io.StringIO())

    def seen(standings: Standings) -> None:
        console.print(drawn(standings))
        shown.append(console.export_text())

    advise(read_requirement(file), 1, seen=seen)
    assert "small: so far" in shown[0]
    assert "bounds" in shown[0]
    assert "1 out, 1 of them by bounds" in shown[0]
    assert "600 I/Os" in shown[1]
    assert "meets" in shown[-1]


def test_what_is_not_known_is_said(advised: Advice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the ranking from a question mark without a reason: it names the drives and what to give."""
    assert _not_known(advised) == []
    bare = tuple(replace(each, risk=None, saturation=None) for each in advised.ranked)
    monkeypatch.setattr(tables, "unknown_rates", lambda spec: [drive.model for drive in spec.machine.drives.values()])
    assert _not_known(replace(advised, ranked=bare)) == [
        "loss ?: the failure rate of Exos-15E900-900GB is not known; give mtbf or afr in overrides of the drives.",
        "of max ?: the run at saturation reached no steady state, or was left out.",
    ]


def test_json_and_nothing_that_meets_it(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """Status 1 if nothing does; one object says why, by number."""
    status, out, _ = ran(capsys, str(file), "--json", "--set", "survives=3", "--set", "capacity=90TB")
    found = json.loads(out)
    assert status == 1
    assert found["meets"] == []
    assert {each["bounds"][0]["bound"] for each in found["others"]} == {"failures"}
    assert found["requirement"]["survives"] == 3
    assert found["simulations"] == 0


@pytest.mark.parametrize("drive", ["RAM-disk", "Constellation-ES.3-4TB-SAS"])
def test_what_it_takes_is_the_same_in_the_table_and_in_json(file: Path, drive: str) -> None:
    """Protects each column of the table of heights and powers: its numbers are those of --json, and a power that nobody
    knows has neither a figure nor a price.
    """
    text = REQUIREMENT.replace("Exos-15E900-900GB", drive)
    file.write_text(f"{text}chassis: {{bays: 2, rack_units: 1.5, watts: 60}}\nenergy_price: 0.3\n", encoding="utf-8")
    requirement = read_requirement(file)
    design = next(each for each in FewestDrives(Trials(requirement)).candidates if each.possible).designs[0]
    measured = Measured(Task(design, "precise", 120.0), 120.0, {}, False, 0.0, 0.0, "", None, busy=0.5)
    verdict = Verdict(design, array_facts(design.scenario(requirement)), "meets", measured=measured)
    advice = Advice(requirement, (verdict,), (verdict,), 1, (), ())
    (told,) = document(advice)["meets"]
    ((table, *_),) = (part.parts for part in _rooms(advice) if isinstance(part, Answer))
    assert isinstance(table, Table)
    texts = [column.text(cell) for column, cell in zip(table.columns, table.rows[-1], strict=True)]
    cells = dict(zip((column.heading.replace("\n", " ") for column in table.columns), texts, strict=True))
    wanted = {
        "drives": told["drives"],
        "U": told["rack_units"],
        "W at this load": told["watts"],
        "W with all busy": told["watts_all_busy"],
        "kWh a year": told["kwh_a_year"],
        "price of that": told["energy_cost_a_year"],
    }
    del cells["layout"]
    assert cells == {name: "no figure" if each is None else f"{each:,.0f}" for name, each in wanted.items()}
    assert (told["rack_units"], told["drives"]) == (3, 4)
    if drive == "RAM-disk":
        assert [told[name] for name in ("watts", "watts_all_busy", "kwh_a_year", "energy_cost_a_year")] == [None] * 4
    else:
        assert told["watts"] == pytest.approx(2 * 60 + 4 * (7.97 + 11.86) / 2)
        assert told["watts_all_busy"] == pytest.approx(2 * 60 + 4 * 11.86)
        assert told["kwh_a_year"] == pytest.approx(8.766 * told["watts"])
        assert told["energy_cost_a_year"] == pytest.approx(0.3 * told["kwh_a_year"])


def test_bad_input_is_one_message(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """Status 2, the line and the field, and nothing on stdout."""
    file.write_text(REQUIREMENT.replace("30ms", "30"), encoding="utf-8")
    status, out, err = ran(capsys, str(file))
    assert (status, out) == (2, "")
    assert "small.yaml:4" in err
    assert "limits.mean" in err


def test_latencies_of_flash_are_shown_to_the_microsecond() -> None:
    """In milliseconds with one decimal they would all be 0.1."""
    assert _interval(Estimate(35.1e-6, 1.2e-6, 0.9, 20, 0.0, 0.0, False)) == "0.035 ±0.001"
    assert _interval(Estimate(20.3e-3, 1e-3, 0.9, 20, 0.0, 0.0, False)) == "20.3 ±1.0"
