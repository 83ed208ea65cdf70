"""What raidsim's own programs print is read back: the same figures under the names of a prediction."""

from __future__ import annotations

import pytest

from raidsim.calibration.formats.detect import parse
from raidsim.calibration.text.report import Report
from raidsim.model.programs import bonnie_plus_plus_report, bonnie_report, iozone_report, tiobench_report
from raidsim.model.programs.bonnie import Bonnie, BonnieSettings
from raidsim.model.programs.bonnie_plus_plus import (
    BonniePlusPlus,
    BonniePlusPlusSettings,
    version_1_03,
    version_1_9,
)
from raidsim.model.programs.iozone import Iozone
from raidsim.model.programs.phase_result import PhaseResult
from raidsim.model.programs.postmark import PostMark, PostMarkSettings
from raidsim.model.programs.postmark_report import Clock, progress, report
from raidsim.model.programs.time_report import dd_lines, time_lines
from raidsim.model.programs.tiobench import TiobenchSettings
from raidsim.scenarios.fio.output.json_document import json_document, json_text
from raidsim.scenarios.fio.output.normal_text import normal_text
from raidsim.tests.scenarios.fio.fio_runs import run as fio_run

KIB, MIB = 1024, 1024 * 1024
RATES = {"putc": 31.7e6, "rewrite": 181.3e6, "write": 512.9e6, "getc": 47.1e6, "read": 1203.7e6}
CPU = 0.373
SMALL = tuple(f"{verb} {order}" for order in ("in order", "at random") for verb in ("create", "stat", "delete"))


def transfers(size: int) -> list[PhaseResult]:
    """Phases of so many bytes at different rates."""
    return [
        PhaseResult(name, size / rate, size, cpu_s=CPU * size / rate, longest_s=0.0123) for name, rate in RATES.items()
    ]


def counted(name: str, number: int, rate: float) -> PhaseResult:
    """A phase of so many operations."""
    return PhaseResult(name, number / rate, 0, number, CPU * number / rate, longest_s=0.0456)


@pytest.mark.parametrize("version", ["1.2", "1.4"])
@pytest.mark.parametrize("files", [1, 10])
def test_bonnie(version: str, files: int) -> None:
    """Protects the comparison with a prediction: names and units of bonnie's figures, with columns that touch."""
    run = Bonnie(BonnieSettings(10300, files=files))
    results = [*transfers(run.size * files), counted("seeks", 4000, 432.1)]
    found = parse(bonnie_report.report(run, results, version, "machine"), "x")
    assert (found.format, found.version, found.warnings) == ("bonnie", version, ())
    for name, rate in RATES.items():
        assert found.value(f"{name}_rate") == pytest.approx(rate, abs=KIB)
        assert found.value(f"{name}_cpu") == pytest.approx(CPU, abs=0.001)
    assert found.value("seeks_rate") == pytest.approx(432.1, abs=0.1)
    assert found.value("size") == run.size * files


@pytest.mark.parametrize(("version", "make"), [("1.03", version_1_03), ("1.96", version_1_9)])
def test_bonnie_plus_plus(version: str, make: type[BonniePlusPlus]) -> None:
    """Protects both versions, in which the table and the line of CSV must agree, with latencies since 1.9x."""
    run = make(BonniePlusPlusSettings(63 * KIB))
    results = [*transfers(run.size), counted("seeks", 8192, 432.1)]
    results += [counted(name, 16384, 900.0 + 10 * index) for index, name in enumerate(SMALL)]
    found = parse(bonnie_plus_plus_report.report(run, results, version, "box", 7), "x")
    assert (found.format, found.version, found.warnings) == ("bonnie++", version, ())
    for name, rate in RATES.items():
        assert found.value(f"{name}_rate", machine="box") == pytest.approx(rate, abs=KIB)
    for index, name in enumerate(SMALL):
        assert found.value(f"{name.replace(' ', '_')}_rate") == pytest.approx(900 + 10 * index, abs=1)
    if version == "1.96":
        assert found.value("read_latency") == 0.0123
        assert found.value("delete_at_random_latency") == 0.0456


def test_bonnie_plus_plus_that_was_too_fast() -> None:
    """Protects from figures of what took no time: a warning names them."""
    run = version_1_03(BonniePlusPlusSettings(0))
    results = [PhaseResult(name, 0.1 if name.startswith("stat") else 10.0, 0, 16384) for name in SMALL]
    found = parse(bonnie_plus_plus_report.report(run, results), "x")
    assert found.value("create_in_order_rate") == 1638
    assert found.warnings == ("too fast to measure (+++++): stat_in_order, stat_at_random",)


@pytest.mark.parametrize("terse", [False, True])
def test_postmark(terse: bool) -> None:
    """Protects the long and the one-line report; the times of the parts are those that were put in."""
    run = PostMark(PostMarkSettings(number=500, transactions=1000, terse=terse))
    for _ in run.operations():
        pass
    text = progress(run) + report(run, Clock(0, 17, 117, 124))
    found = parse(text, "x")
    assert (found.format, found.warnings) == ("PostMark", ())
    assert found.value("seconds") == 124
    assert found.value("transactions_seconds") == 100
    assert found.value("transactions_rate") == 10
    assert found.value("write_rate") == pytest.approx(float(run.bytes_written) / 124, rel=5e-3)
    if not terse:
        assert (found.value("create_seconds"), found.value("delete_seconds")) == (17, 7)
        assert found.value("files_created") == run.created
        assert found.value("read_bytes") == pytest.approx(float(run.bytes_read), rel=1e-2)


def test_tiobench() -> None:
    """Protects the four phases' names and the order of the columns."""
    rates = {"read": 38.605, "random read": 0.8445, "write": 32.855, "random write": 1.0905}
    results = [PhaseResult(name, 1.0, round(rate * MIB), cpu_s=CPU) for name, rate in rates.items()]
    found = parse(tiobench_report.report([(TiobenchSettings(512), results)]), "x")
    names = {"read": "seq_read", "random read": "rand_read", "write": "seq_write", "random write": "rand_write"}
    for name, rate in rates.items():
        assert found.value(f"{names[name]}_rate", megabytes="512") == pytest.approx(rate * MIB, rel=1e-2)
        assert found.value(f"{names[name]}_cpu") == pytest.approx(CPU, abs=0.001)
    assert found.warnings == ()


def test_iozone() -> None:
    """Protects all phases' names, which are a prediction's."""
    run = Iozone(16 * MIB, 64 * KIB)
    results = []
    for index, name in enumerate(run.phases):
        size = (1000 + index) * KIB
        results += [PhaseResult(name, 7.0), PhaseResult(name, 1.0, size), PhaseResult(name, 7.0)]
    found = parse(iozone_report.report(run, results), "x")
    rates = {figure.name: figure.value for figure in found.figures}
    expected = {name: (1000 + index) * KIB for index, name in enumerate(run.phases) if name in run.reported}
    assert rates == {f"{name.replace(' ', '_')}_rate": float(rate) for name, rate in expected.items()}
    assert found.warnings == ()


@pytest.mark.parametrize("rate", [True, False])
def test_dd_and_time(rate: bool) -> None:
    """Protects dd's lines before and since 2005, and bash's three."""
    result = PhaseResult("write", 123.456, 10 * 512 + 1, cpu_s=3.5, user_s=1.25)
    found = parse(dd_lines(result, 512, rate=rate) + time_lines(result), "x")
    assert found.value("records_in", program="dd") == 10
    assert found.value("partial_records_out", program="dd") == 1
    assert found.value("seconds", program="time") == pytest.approx(123.456)
    assert found.value("system_seconds", program="time") == pytest.approx(2.25)
    if rate:
        assert found.value("rate", program="dd") == pytest.approx(5121 / 123.456)


def test_fios_text_has_what_its_json_has() -> None:
    """Protects fio's text: what raidsim prints of one run as text and as JSON has the same figures, by its digits."""
    run = fio_run(
        "[a] rw=randrw bs=4k direct=1 size=8m number_ios=60 ioengine=libaio iodepth=4 "
        "[b] rw=write bs=64k direct=1 size=4m fsync=8 stonewall"
    )
    text, whole = parse(normal_text(run), "x"), parse(json_text(json_document(run, False)), "x")
    assert (text.format, whole.format) == ("fio-text", "fio")
    options = {"job", "number", "latency", "disk"}

    def by_name(report: Report) -> dict[object, float]:
        return {
            (each.name, tuple(pair for pair in each.context if pair[0] in options or pair[0] == "depth")): each.value
            for each in report.figures
        }

    ours, theirs = by_name(text), by_name(whole)
    assert len(ours) > 80
    for key, value in ours.items():
        if str(key).startswith("('iodepth',"):
            continue  # the text has fio's default, too
        digits = 0.01 if "_stddev" in str(key) or "_mean" in str(key) else 0.003
        assert value == pytest.approx(theirs[key], rel=digits, abs=1e-6 if "_p" in str(key) else 5.1e-4), key
