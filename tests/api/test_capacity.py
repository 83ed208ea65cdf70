"""`raidsim.capacity`: the quick question, from Python."""

from __future__ import annotations

import json
from typing import Any

import pytest

import raidsim
from raidsim.cli import main as cli


def test_python_and_the_command_give_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects from a second way to count: every key of the command's JSON, spares and flash included."""
    found = raidsim.capacity("raid5", 8, drive="Samsung-PM9A3-3840GB", spares=1, price=600, written="1TB", fill=0.8)
    options = (
        "--drive",
        "Samsung-PM9A3-3840GB",
        "--spares",
        "1",
        "--price",
        "600",
        "--written",
        "1TB",
        "--fill",
        "80%",
    )
    with pytest.raises(SystemExit):
        cli.main(["capacity", "raid5", "8", *options, "--json"])
    told = found.to_dict()
    assert told["schema"] == "raidsim.capacity"
    assert json.loads(capsys.readouterr().out) == {key: told[key] for key in told if not key.startswith("schema")}
    # Six of eight drives hold data.
    assert found.plan.array_bytes == pytest.approx(6 * found.drive_bytes, rel=1e-3)
    assert found.planned_bytes == int(0.8 * found.usable_bytes)
    assert found.cost == 4800
    assert "survives 1, cost 4,800" in repr(found)
    assert [row["what"] for row in found._rows()] == ["raw", "array", "file_system", "usable", "planned"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "--size: missing"),
        ({"size": "4TB", "drive": "IronWolf-10TB"}, "found both"),
        ({"size": "4TB", "written": "1TB"}, "--written: found it without --drive"),
        ({"size": "4TB", "spares": 4}, "spares: 4 of 4 drives"),
        ({"size": "4 apples"}, "--size"),
    ],
)
def test_nonsense_is_refused(options: dict[str, Any], message: str) -> None:
    """One message with the option and what is expected."""
    with pytest.raises(raidsim.InputError, match=message):
        raidsim.capacity("raid5", 4, **options)
