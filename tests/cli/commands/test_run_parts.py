"""`raidsim run` on a machine with many parts alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.model.statistics.usage import Usage
from raidsim.scenarios.documents.document import read_document
from raidsim.scenarios.running.simulate import simulate


def test_many_parts_alike_share_a_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Twelve disks are one line with the least, the median and the most of the prediction's figures; --all-parts lists
    them; eight are listed.
    """
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
    (row,) = (line for line in out.splitlines() if "12 x disk (disk0 to disk11)" in line)
    prediction = simulate(read_document(path).spec())
    disks = [usage for usage in prediction.usages if usage.kind == "disk"]

    def spread(digits: int, figure: Callable[[Usage], float]) -> str:
        values = sorted(figure(each) for each in disks)
        texts = [f"{value:,.{digits}f}" for value in (values[0], (values[5] + values[6]) / 2, values[-1])]
        return texts[0] if len(set(texts)) == 1 else "/".join(texts)

    assert row.partition(")")[2].split() == [
        *(spread(0, lambda usage: 100 * usage.utilization), "%", spread(1, lambda usage: usage.mean_queue)),
        *(spread(0, lambda usage: usage.reads / 0.05), spread(0, lambda usage: usage.writes / 0.05)),
        spread(1, lambda usage: usage.bytes / 0.05 / 1e6),
    ]
    assert "\n  disk3 " not in out
    assert "Figures with slashes: least, median and most of parts that are alike;" in out
    for arguments in (("--all-parts",), ("--set", "disks=8")):
        out = shown(*arguments)
        assert "\n  disk3 " in out
        assert "disk (disk0" not in out


def test_wide_numbers_break_names_and_are_whole(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Protects from "1,830/1,894/1,...": where 24 disks have long numbers, a name takes two lines."""
    path = tmp_path / "wide.yaml"
    path.write_text(
        "machine: {model: storage-server, drives: {model: Exos-15E900-900GB, count: 24}}\n"
        "network: {protocol: nfs4, port: 25GbE, clients: 2, threads: 64}\n"
        "arrays: {md0: {level: raid60, groups: 2, bitmap: none}}\n"
        "workload: {pattern: sequential, block_size: 1MiB, read_share: 0%, depth: 64, warm_up: 0s, duration: 150ms}\n"
    )
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(path), "--no-relief"])
    assert not ended.value.code
    table = capsys.readouterr().out.partition("Utilization over")[2].partition("Figures with slashes")[0]
    assert "24 x disk" in table
    assert "\N{HORIZONTAL ELLIPSIS}" not in table
    assert max(len(line) for line in table.splitlines()) <= 100
