"""`raidsim laws`: what it prints, keeps, and ends with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from raidsim.cli.main import main
from raidsim.validation.laws import laws
from raidsim.validation.laws.broken import Kept
from raidsim.validation.laws.hunting.hunt import Hunt
from raidsim.validation.laws.law import Law, Violation
from raidsim.validation.laws.trial import Trial


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of the command."""
    with pytest.raises(SystemExit) as end:
        main(["laws", *arguments])
    out, err = capsys.readouterr()
    assert isinstance(end.value.code, int)
    return end.value.code, out, err


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only law is one that every scenario breaks, without a simulation."""

    def check(_: Trial) -> Iterator[Violation]:
        yield Violation("too much", "7 apples", "3 apples")

    law = Law("apples", "Three apples.", "all", "none", check, lambda _: True)
    for name in list(laws.LAWS):
        monkeypatch.delitem(laws.LAWS, name)
    monkeypatch.setitem(laws.LAWS, "apples", law)
    monkeypatch.setattr(Trial, "outcome", None)


@pytest.mark.usefixtures("broken")
def test_a_violation_is_printed_with_a_scenario_that_can_be_pasted(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the report: law, figures and expectation on a line, the simplest scenario as YAML, status 1."""
    status, out, _ = run(capsys, "--count", "3")
    assert status == 1
    assert out.count("apples: too much: 7 apples; expected: 3 apples") == 3
    small = yaml.safe_load(out[out.index("kernel:") : out.rindex("3 scenarios")])
    assert list(Trial(small).spec.machine.drives) == ["disk0"]
    assert small["machine"]["drives"]["count"] == 1
    assert "3 violations of 1 kinds" in out


@pytest.mark.usefixtures("broken")
def test_json_has_every_violation(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects programs that read it: counts, each violation with its scenario, and each kind."""
    status, out, _ = run(capsys, "--count", "3", "--json", "--no-shrink", "--seed", "5")
    found = json.loads(out)
    assert status == 1
    assert (found["drawn"], found["seed"], found["interrupted"]) == (3, 5, False)
    assert [each["said"] for each in found["violations"]] == ["7 apples"] * 3
    assert [(each["kind"], each["violations"], each["open"]) for each in found["kinds"]] == [
        ("apples: too much", 3, False)
    ]


@pytest.mark.usefixtures("broken")
def test_found_scenarios_are_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Protects what was found: a file that the tests read as it is, and that a later hunt does not replace."""
    run(capsys, "--count", "2", "--keep", str(tmp_path))
    (path,) = tmp_path.iterdir()
    found = Kept.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert (found.law, found.kind, found.status) == ("apples", "too much", "open")
    path.write_text("mine", encoding="utf-8")
    run(capsys, "--count", "2", "--keep", str(tmp_path))
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("broken")
def test_an_interrupt_leaves_what_was_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects a long hunt: Ctrl-C prints what there is, and the status is the shell's."""
    whole = Hunt.run

    def interrupted(self: Hunt, watch: object = None) -> Iterator[object]:
        for number, each in enumerate(whole(self)):
            if number == 2:
                raise KeyboardInterrupt
            yield each

    monkeypatch.setattr(Hunt, "run", interrupted)
    status, out, _ = run(capsys, "--count", "50")
    assert status == 130
    assert "apples: too much (3 violations)" in out


def test_laws_are_listed_and_unknown_ones_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects whoever looks for a law: its name, statement, range and tolerance; a misspelt one is refused."""
    status, out, _ = run(capsys, "--list")
    assert status == 0
    for law in laws.LAWS.values():
        assert f"{law.name}: {law.statement}" in out
        assert law.tolerance in out
    status, _, err = run(capsys, "--law", "litle")
    assert status == 2
    assert "--law" in err
    assert "little" in err


def test_a_law_that_holds_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the counter-case: real scenarios, a law that they keep, and nothing is reported."""
    status, out, _ = run(capsys, "--count", "3", "--law", "links")
    assert status == 0
    assert "no law is broken" in out
