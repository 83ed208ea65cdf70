"""`raidsim sensitivity` as a person runs it: the table, the sentence, JSON, a picture, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from raidsim.cli.main import main
from raidsim.tests.scenarios.small_machine import scenario_document

PATHS = ("machine.drives.WD2500JB.media_rates", "machine.cpu.prices.read_call=30%", "machine.memory")
QUICK = ("--workers", "1", "--trajectories", "2", *(word for path in PATHS for word in ("--parameter", path)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A sequential read of one raw disk."""
    path = tmp_path / "read.yaml"
    path.write_text(yaml.safe_dump(scenario_document()), encoding="utf-8")
    return path


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    with pytest.raises(SystemExit) as left:
        main(["sensitivity", *arguments])
    printed = capsys.readouterr()
    return int(left.value.code or 0), printed.out, printed.err


def test_the_table_and_the_sentence(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """The parameter that matters comes first, those that do not are named, and the assumptions are told."""
    status, out, _ = ran(capsys, str(file), *QUICK, "--method", "morris")
    text = " ".join(out.split())
    assert status == 0
    assert "rate: 63." in text
    assert "2 trajectories: 9 simulations" in text
    assert "The rate follows most from media rate of WD2500JB (17 % per standard deviation)" in text
    assert "this parameter does not matter: memory." in text
    assert "20 % (hardware), 40 % (software)" in text
    assert "drives sda, sdb, sdc and sdd" in text
    assert max(map(len, out.splitlines())) <= 100


def test_json_and_picture(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """One object with all effects and shares, the same from the same seed; and a picture of them."""
    picture = file.with_suffix(".svg")
    command = (str(file), *QUICK, "--json", "--samples", "4", "--method", "sobol")
    status, out, _ = ran(capsys, *command, "--plot", str(picture))
    document = json.loads(out)
    assert status == 0
    assert picture.stat().st_size > 1000
    assert document["figure"] == "rate"
    assert document["dimension"] == "bytes/s"
    assert document["samples"] == 4
    assert document["trajectories"] is None
    first = document["parameters"][0]
    assert first["path"] == PATHS[0]
    assert first["mu_star"] is None
    assert first["ST"] > 10 * document["parameters"][1]["ST"]
    assert document["sentence"].startswith("The rate follows most from media rate of WD2500JB")
    assert ran(capsys, *command)[1] == out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--parameter", "machine.links.pic.rate"), "did you mean machine.links.pci.rate?"),
        (("--figure", "speed"), "expected: rate, seconds"),
        (("--method", "guess"), "expected: morris, sobol"),
        (("--samples", "5"), "a power of two"),
        (("--plot", "x.doc"), "--plot"),
    ],
)
def test_bad_input_gives_one_message_and_status_2(
    capsys: pytest.CaptureFixture[str], file: Path, arguments: tuple[str, ...], message: str
) -> None:
    """Nothing on stdout, one line on stderr."""
    status, out, err = ran(capsys, str(file), "--workers", "1", *arguments)
    assert status == 2
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
