"""Pictures: the same bytes every time, nothing cut off and nothing on top of something else, whatever is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from raidsim.api.pictures.compare import designs_figure
from raidsim.api.pictures.layout import layout_figure
from raidsim.api.pictures.predict import comparison_figure
from raidsim.api.pictures.run import run_figure
from raidsim.api.pictures.sweep import _Axis, _measure, sweep_figure
from raidsim.api.pictures.timeline import timeline_figure
from raidsim.calibration.study.study import load_study
from raidsim.cli.main import main
from raidsim.cli.support.files import check_picture, write_picture
from raidsim.model.core.errors import InputError
from raidsim.scenarios.comparison.alternatives import designs_of
from raidsim.scenarios.comparison.side_by_side import Settings, compare
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.pictures.style import blank, series, styled
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.sweeps.plan import read_sweep
from raidsim.scenarios.sweeps.result_store import ResultStore
from raidsim.scenarios.sweeps.sweep import run_sweep
from raidsim.scenarios.sweeps.workers import ThisProcess
from raidsim.scenarios.timeline.timeline import record
from raidsim.scenarios.workers.task_pool import TaskPool
from raidsim.tests.validation.prediction.test_comparison import compared
from raidsim.validation.prediction.comparison import StudyComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from raidsim.scenarios.description.scenario import ScenarioSpec

LONG = "a name that is much longer than any that a person would give to a thing that is drawn"


def scenario(disks: int, name: str = "small", level: str = "raid5") -> ScenarioSpec:
    """Small writes and reads on so many disks."""
    text = (
        f"name: {name}\nkernel: linux-6.1\nmachine: {{drives: {{model: WD2500JS, count: {disks}}}}}\n"
        f"arrays: {{md0: {{level: {level}, bitmap: none}}}}\n"
        f"workload: {{kind: load, block_size: 4KiB, read_share: 50%, depth: {2 * disks}, "
        "warm_up: 50ms, duration: 300ms}\n"
    )
    return document_from(text, "a test").spec()


def drawn(make: Callable[[], Figure]) -> Figure:
    """The figure after it was laid out; all its text is inside it, and names beside bars do not touch."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    with styled():
        figure = make()
        canvas = FigureCanvasAgg(figure)
        canvas.draw()  # type: ignore[no-untyped-call]
        width, height = canvas.get_width_height()
        renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
        hidden = {
            label
            for axes in figure.axes
            for axis in (axes.xaxis, axes.yaxis)
            for tick in axis.get_major_ticks()
            if not axis.get_view_interval()[0] - 1e-9 <= tick.get_loc() <= axis.get_view_interval()[1] + 1e-9
            and not axis.get_view_interval()[1] - 1e-9 <= tick.get_loc() <= axis.get_view_interval()[0] + 1e-9
            for label in (tick.label1, tick.label2)
        }
        for text in figure.findobj(Text):
            if text.get_visible() and text.get_text() and text not in hidden and not text.get_clip_on():
                box = text.get_window_extent(renderer)
                assert box.x0 >= -1, text
                assert box.x1 <= width + 1, text
                assert box.y0 >= -1, text
                assert box.y1 <= height + 1, text
        for axes in figure.axes:
            boxes = sorted(
                (label.get_window_extent(renderer) for label in axes.get_yticklabels() if label.get_text()),
                key=lambda box: float(box.y0),
            )
            assert all(above.y0 >= below.y1 - 1 for below, above in pairwise(boxes))
    return figure


@pytest.mark.parametrize("disks", [3, 24])
def test_a_run_and_its_timeline_fit(disks: int) -> None:
    """Protects from names on top of each other, and from bars of many disks that nobody could tell apart."""
    spec = scenario(disks, LONG)
    run = drawn(lambda: run_figure(spec, simulate(spec)))
    assert len(run.axes) == 2
    timeline = record(spec, ios=20)
    shown = drawn(lambda: timeline_figure(timeline))
    names = [label.get_text() for label in shown.axes[0].get_yticklabels()]
    assert names == ["I/Os", *sorted({each.drive for each in timeline.commands}, key=lambda name: int(name[4:]))]


def test_a_timeline_shows_what_small_writes_cost() -> None:
    """Protects the lesson of the picture: on RAID 5 a small write is four commands, and without parity one."""
    parity = drawn(lambda: timeline_figure(record(scenario(5), ios=12)))
    plain = drawn(lambda: timeline_figure(record(scenario(5, level="raid0"), ios=12)))
    assert "writes, 4 commands each" in parity.get_suptitle()
    assert "writes, 1 command each" in plain.get_suptitle()
    words = [text.get_text() for text in parity.legends[0].get_texts()]
    assert {"reads old data", "reads old parity", "writes data", "writes new parity"} <= set(words)


@pytest.mark.parametrize("level", ["raid1", "raid5"])
def test_a_timelines_heading_counts_what_marks_its_writes(level: str) -> None:
    """Protects the words above the picture: of the writes of metadata only those that an I/O has caused are its."""
    text = (
        "name: small\nmachine: {drives: {model: WD2500JS, count: 4}}\n"
        f"arrays: {{md0: {{level: {level}, bitmap: 64MiB}}}}\n"
        "workload: {kind: load, block_size: 4KiB, read_share: 0%, depth: 2, warm_up: 50ms, duration: 300ms}\n"
    )
    timeline = record(document_from(text, "a test").spec(), ios=12)
    marks = [command for command in timeline.commands if command.kind == "metadata"]
    caused = sum(1 for command in marks if command.causes)
    title = timeline_figure(timeline).get_suptitle()
    assert marks
    assert (f"; {caused} more for bitmap and journal" in title) if caused else ("more for" not in title)


@pytest.mark.parametrize(("last", "log"), [(19, False), (20, False), (21, True), (1000, True)])
def test_values_that_are_far_apart_have_a_logarithmic_axis(last: float, log: bool) -> None:
    """Protects both axes of a sweep: they are logarithmic beyond a factor of 20."""
    figure = blank(4, 3)
    axes = figure.subplots()
    axes.plot([1, last], [1, last])
    _Axis("depth", [({"depth": cell}, {}) for cell in (1, last)]).label(axes)
    _measure(axes, "iops")
    assert (axes.get_xscale(), axes.get_yscale()) == (("log", "log") if log else ("linear", "linear"))


@pytest.mark.parametrize("members", [2, 24])
def test_a_layout_fits_and_says_what_is_lost(members: int) -> None:
    """Protects maps of two and of many disks; a lost one is crossed out, which needs no color."""
    fields = {(member, row): f"D{row}{chr(39) if member else ''}" for member in range(members) for row in range(3)}
    figure = drawn(lambda: layout_figure("RAID 1\na second line", fields, members, 3, {1}))
    assert len(figure.axes[0].lines) == 2
    assert "lost" in figure.axes[0].get_xticklabels()[1].get_text()


def test_designs_side_by_side_fit() -> None:
    """Protects the comparison: long names are broken, one that cannot be is left out, one bar is a picture too."""
    text = (
        f"name: {LONG}\nmachine: {{drives: {{model: WD2500JS, count: 4}}}}\narrays: {{md0: raid5}}\n"
        "workload: {kind: load, block_size: 4KiB, read_share: 50%, depth: 4, warm_up: 50ms, duration: 300ms}\n"
    )
    document = document_from(text, "a test")
    varied = [("layout", ["raid5", "raid10", "raid60"]), ("workload.block_size", ["4KiB"])]
    with TaskPool(1) as pool:
        found = compare(designs_of(document, varied), Settings(replications=2, rebuild=False), pool)
    figure = drawn(lambda: designs_figure(LONG, found))
    assert len(figure.axes) == 2
    assert len(figure.axes[0].patches) == 2
    one = type(found)(found.designs[:1], 1, 2, True)
    assert len(drawn(lambda: designs_figure("one", one)).axes[0].patches) == 1


def test_designs_under_programs_show_what_those_report() -> None:
    """Protects comparisons of programs and of dd: a picture of rates, as in the tables, not of the cache's I/Os."""
    base = (
        "{name: copies, kernel: linux-2.6.8, machine: {drives: {model: WD2500JB, count: 4}}, "
        "arrays: {md0: {level: raid5}}, "
    )
    files = "file_systems: {/raid: {kind: ext3, on: md0}}, "
    programs = "workload: {kind: programs, steps: [{program: dd, file: zero, size: 4MiB}]}}"
    dd = "workload: {kind: dd, targets: [md0], direction: read, block_size: 64KiB, size: 4MiB}}"
    for text, names in (
        (base + files + programs, ["dd.rate (hatched: what the others are compared with)", "dd.seconds"]),
        (base + dd, ["How fast (hatched: what the others are compared with)"]),
    ):
        with TaskPool(1) as pool:
            designs = designs_of(document_from(text, "a test"), [("layout", ["raid5", "raid0"])])
            found = compare(designs, Settings(replications=2, rebuild=False), pool)
        figure = drawn(lambda found=found: designs_figure("copies", found))  # type: ignore[misc]
        titles = [axes.get_title(loc="left") for axes in figure.axes]
        assert titles[: len(names)] == names
        assert figure.axes[0].get_xlabel() == "MB/s"


def test_a_sweep_is_lines_or_points(tmp_path: Path) -> None:
    """Protects the choice: a few values are lines, told apart by markers too; samples are points in panels."""
    base = (
        "scenario:\n  machine: {drives: {model: WD2500JS, count: 4}}\n  arrays: {md0: {level: raid5}}\n"
        "  workload: {kind: load, read_share: 50%, depth: 4, warm_up: 10ms, duration: 100ms}\n"
    )
    grid, sample = tmp_path / "grid.yaml", tmp_path / "sample.yaml"
    grid.write_text(base + "vary: {layout: [raid5, raid10], chunk: [16KiB, 1MiB]}\n", encoding="utf-8")
    ranges = "{block_size: {from: 4KiB, to: 1MiB, log: true, step: 4KiB}, read_share: {from: 0.0, to: 1.0}}"
    sample.write_text(f"{base}sample: {{points: 14, ranges: {ranges}}}\n", encoding="utf-8")
    with ResultStore(":memory:", write=True) as store:
        number, _ = run_sweep(read_sweep(grid), store, ThisProcess())
        lines = drawn(lambda: sweep_figure(store, store.record(number), ["rate"]))
        assert [text.get_text() for text in lines.legends[0].get_texts()] == ["raid5", "raid10"]
        assert [label.get_text() for label in lines.axes[0].get_xticklabels()] == ["16 KiB", "1 MiB"]
        number, _ = run_sweep(read_sweep(sample), store, ThisProcess())
        points = drawn(lambda: sweep_figure(store, store.record(number), ["rate", "read_mean_seconds"]))
        assert len(points.axes) == 4


def test_predicted_against_measured_fits() -> None:
    """Protects the main job's picture: a panel for each kind of number, calibrated cells told by their markers."""
    cells = (
        compared(10.0, 10.0, "calibrate"),
        compared(60.0, 50.0),
        compared(3000.0, 2000.0, unit="KB/s", scale=1024),
        compared(20.0, 30.0, unit="s", scale=1.0),
        compared(50.0, 51.0, unit="%", scale=0.01),
    )
    figure = drawn(lambda: comparison_figure([StudyComparison(load_study("gentoo-2004"), None, cells)]))
    assert len(figure.axes) == 3


def test_the_same_picture_has_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects pictures under version control: no date, no random names; and the ending says the format."""
    files = [tmp_path / name for name in ("a.svg", "b.svg", "c.png", "d.pdf")]
    for file in files:
        with pytest.raises(SystemExit):
            main(["layout", "--level", "raid6", "--disks", "5", "--chunk", "64KiB", "--plot", str(file)])
    first, second, png, pdf = (file.read_bytes() for file in files)
    assert first == second
    assert b"<dc:date>" not in first
    assert png.startswith(b"\x89PNG")
    assert pdf.startswith(b"%PDF")
    capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "package"), [("数据库", "fonts-noto-cjk"), ("\N{RUNIC LETTER ANSUZ A}\U0001fbf0", "fonts-noto-core")]
)
def test_letters_that_no_font_has_are_named_once(
    name: str, package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects names in other scripts: one note says what to install, and SVG, where the viewer has the font, none."""
    monkeypatch.setattr("raidsim.scenarios.pictures.letters.FALLBACKS", ())
    spec = scenario(4, name)
    prediction = simulate(spec)
    write_picture(tmp_path / "a.png", lambda: run_figure(spec, prediction))
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(f"note: {tmp_path}/a.png: no installed font has ")
    assert set(name) <= set(said)
    assert package in said
    write_picture(tmp_path / "a.svg", lambda: run_figure(spec, prediction))
    assert name in (tmp_path / "a.svg").read_text(encoding="utf-8")
    write_picture(tmp_path / "b.png", lambda: run_figure(scenario(4), prediction))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("fonts", "drawn_letters"), [(("No Such Font", "STIXGeneral"), True), ((), False)])
def test_letters_are_looked_for_in_other_fonts(
    fonts: tuple[str, ...],
    drawn_letters: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Protects names in other scripts where a font for them is installed: its letters are drawn, without a note."""
    monkeypatch.setattr("raidsim.scenarios.pictures.letters.FALLBACKS", fonts)
    spec = scenario(4, "\N{LATIN SMALL LETTER D WITH PALATAL HOOK}isks")
    prediction = simulate(spec)
    write_picture(tmp_path / "a.png", lambda: run_figure(spec, prediction))
    assert (capsys.readouterr().err == "") == drawn_letters


def test_series_are_told_apart_without_colour() -> None:
    """Protects black and white: markers, dashes and filling differ among sixteen, and hatching among seven."""
    assert len({(look.marker, look.line, look.hollow) for look in map(series, range(16))}) == 16
    assert len({look.hatch for look in map(series, range(7))}) == 7


@pytest.mark.parametrize("name", ["a.txt", "a.svg.gz", "missing/a.png", "."])
def test_a_picture_that_cannot_be_drawn_is_refused_at_once(name: str, tmp_path: Path) -> None:
    """Protects long runs from a wrong ending or folder: it is named before anything is simulated."""
    with pytest.raises(InputError, match="--plot"):
        check_picture(tmp_path / name)


def test_a_picture_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    """Protects the picture of yesterday from a new one that cannot be drawn."""
    path = tmp_path / "old.svg"
    path.write_text("yesterday", encoding="utf-8")
    with pytest.raises(ZeroDivisionError):
        write_picture(path, lambda: math.floor(1 / 0))  # type: ignore[arg-type, return-value]
    assert path.read_text(encoding="utf-8") == "yesterday"
    assert list(tmp_path.iterdir()) == [path]
