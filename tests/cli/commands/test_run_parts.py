"""`raidsim run` on a machine with many parts alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.cli import main as cli


def test_many_parts_alike_share_a_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Twelve disks are one line with the least, the median and the most; --all-parts lists them; eight are listed."""
    path = tmp_path / "many.yaml"
    path.write_text(
        "machine: {model: server, drives: {model: Exos-15E900-900GB, count: 12}}\n"
        "arrays: {md0: {level: raid0}}\nworkload: {depth: 64, warm_up: 20ms, duration: 50ms}\n"
    )

    def shown(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            cli.main(["run", str(path), "--no-relief", *arguments])
        assert not ended.value.code
        return capsys.readouterr().out

    out = shown()
    assert "12 x disk (disk0 to disk11)" in out
    assert "\n  disk3 " not in out
    assert "least/median/most of the parts of a kind; --all-parts lists each." in out
    for arguments in (("--all-parts",), ("--set", "disks=8")):
        out = shown(*arguments)
        assert "\n  disk3 " in out
        assert "disk (disk0" not in out
