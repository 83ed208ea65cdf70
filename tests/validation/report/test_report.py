"""The report on predictions: coverage, comparison with guesses, weaknesses, and the page, all without simulating."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from raidsim.api.answer.html import page as page_of
from raidsim.api.answer.tree import Marked
from raidsim.api.tables.validate import covered_cells, validation_answer
from raidsim.calibration.study.study import StudySpec
from raidsim.cli.support.terminal import show
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.tests.calibration.study import small_study as small
from raidsim.validation.conformance.totals import ConformanceTotals, KindTotal, totals_from_file
from raidsim.validation.prediction.baseline_comparison import Match, grouped
from raidsim.validation.prediction.baselines import BASELINES
from raidsim.validation.prediction.comparison import Claimed, Compared, StudyComparison
from raidsim.validation.prediction.leave_out import LeftOut
from raidsim.validation.prediction.proportion import Proportion
from raidsim.validation.report.report import NO_SUSPECT, Report, report, suspects, unanswered
from raidsim.validation.report.words import standings

WRONG = {"one": 1.0, "both": 0.99, "both/seconds": 1.05, "stripe": 1.6, "load": 0.9}
"""Predicted over measured, by cell."""
_VOID = {"meta", "br", "hr", "link", "img", "input"}


def comparison(half_width: float = 0.1, wrong: dict[str, float] | None = None) -> StudyComparison:
    """The small study of runs, predicted as wrongly as said."""
    study = validate(StudySpec, small.runs_document())
    ratios = {**WRONG, **(wrong or {})}
    cells = []
    for cell in study.all_cells:
        value = cell.measured * ratios[cell.id]
        low, high = value * math.exp(-half_width), value * math.exp(half_width)
        cells.append(
            Compared(cell, value, 1.0, low, high, "disk sda (99 % busy)", "sda 99 %", study.suspected(cell.id))
        )
    claims = (
        Claimed(study.claims[0], 1.9, None, None),
        Claimed(study.claims[1], 1.1, 1.0, study.suspected(study.claims[1].id)),
    )
    return StudyComparison(study, None, tuple(cells), claims)


@pytest.fixture(scope="module")
def made() -> Report:
    """A report with everything in it."""
    one = comparison()
    totals = ConformanceTotals((KindTotal("layout", 10, 10), KindTotal("io", 100, 90)), "from a.json")
    left = LeftOut("runs", "RAID 0", 4, tuple(each for each in one.cells if each.cell.id == "stripe"))
    return report([one], totals, [left], {"<other>": "InputError: a & b"})


def test_modern_studies_stand_in_tables_of_their_own() -> None:
    """Their errors are neither mixed with the others' on the terminal, on the page and in JSON, nor left out."""
    usual = comparison()
    modern = replace(usual, study=usual.study.model_copy(update={"id": "newer", "report": "modern"}))
    both = report([modern, usual])
    assert [[study.id for study in part.studies] for part in both.parts()] == [[usual.study.id], ["newer"]]
    document = both.document()
    assert document["modern"]["predict"]["n"] == 3
    assert document["summary"]["predict"]["n"] == 6
    assert report([usual]).document()["modern"]["predict"]["n"] == 0
    console = Console(width=100, file=io.StringIO())
    show(validation_answer(both), console)
    assert isinstance(console.file, io.StringIO)
    tables = console.file.getvalue().split("Predicted cells of ")[1:]
    assert [table.split("\n")[0].strip() for table in tables] == ["all studies", "modern studies"]
    assert ("newer" in tables[0], "newer" in tables[1]) == (False, True)
    for title in ("Inside their 90 % interval", "raidsim and guesses on the same predicted cells"):
        assert f"{title} (modern studies)" in tables[1]
    page = page_of(validation_answer(both, whole=True))
    assert page.count("(modern studies)</caption>") == 4
    assert "Modern studies: 3 predicted cells" in " ".join(standings(both))
    assert "odern studies" not in page_of(validation_answer(report([usual]), whole=True))


def test_limits_are_those_of_clopper_and_pearson() -> None:
    """Of 9 in 10 the tables have 55.5 to 99.75 %, of none in ten 0 to 30.85 %."""
    assert Proportion(9, 10).limits == pytest.approx((0.5550, 0.9975), abs=5e-5)
    assert Proportion(0, 10).limits == pytest.approx((0.0, 0.3085), abs=5e-5)
    assert Proportion(10, 10).limits == pytest.approx((0.6915, 1.0), abs=5e-5)
    assert Proportion(0, 0).share is None


def test_intervals_are_judged_by_their_limits() -> None:
    """Half of a hundred is too few for 90 %, a thousand of a thousand too many; nine of ten are what was promised."""
    verdicts = [Proportion(*each).against(0.9) for each in ((50, 100), (9, 10), (1000, 1000))]
    assert verdicts == ["too narrow", "as promised", "too wide"]


def test_coverage_counts_predicted_cells(made: Report) -> None:
    """Of 1.05, 1.6 and 0.9 one is within 10 % (in ln); calibrated cells do not count."""
    summary = made.document()["summary"]
    assert summary["coverage_pct"] == pytest.approx(100 / 3)
    assert (summary["coverage"]["count"], summary["coverage"]["n"]) == (1, 3)
    assert summary["calibrate"]["n"] == 2
    assert summary["claims"] == {"n": 2, "held": 1}


def test_coverage_is_known_by_kind_of_figure(made: Report, page: Page) -> None:
    """Random access and sequential rates stand apart, each with its studies; the page has them as well."""
    found = made.document()["coverage_by_class"]
    random, raw = found["random access of hard disks"], found["sequential rates of hard disks"]
    assert (random["count"], random["n"], random["studies"]) == (0, 1, 1)
    assert (raw["count"], raw["n"], raw["studies"]) == (1, 2, 1)
    assert sum(each["n"] for each in found.values()) == made.document()["summary"]["coverage"]["n"]
    assert "random access of hard disks" in page.words


@pytest.mark.parametrize(("count", "good"), [(50, False), (90, True), (100, False)])
def test_the_color_of_a_verdict_is_its_sense(count: int, good: bool) -> None:
    """Protects the page from good news in red: only coverage as promised is good."""
    mark = covered_cells(Proportion(count, 100))[-1]
    assert isinstance(mark, Marked)
    assert (mark.tone == "good") == good == (mark.value == "as promised")


def test_all_three_are_compared_on_the_same_cells(made: Report) -> None:
    """The load has no guess and is left out; both guess 50 MB/s where 100 were measured, and 20 s, which were."""
    for name, one in made.document()["summary"]["baselines"].items():
        assert name in ("rule_of_thumb", "nearest")
        assert (one["n"], one["unanswered"]) == (2, 1)
        assert one["raidsim_median_error_pct"] == pytest.approx(50 * (math.log(1.6) + math.log(1.05)))
        assert one["median_error_pct"] == pytest.approx(50 * math.log(2))
        assert one["raidsim_nearer_pct"] == 50.0
    (named,) = unanswered(made.cells)["nearest"].values()
    assert named == ["runs: load"]


def test_as_good_is_not_better() -> None:
    """A tie goes to neither side."""
    match = Match(BASELINES[0], (1.0, 2.0, 3.0), (1.0, 2.0, 3.0))
    assert not match.better
    assert match.nearer == 0


def test_weaknesses_need_a_group() -> None:
    """Six cells of one level that are guessed better are a weakness by level; two of them are none."""
    document = small.runs_document()
    more = [
        {"id": f"more{i}", "use": "predict", "run": "stripe", "figure": "rate", "measured": 50.0, "unit": "MB/s"}
        for i in range(6)
    ]
    document["cells"] += more
    study = validate(StudySpec, document)
    cells = [each for each in study.all_cells if each.id.startswith("more")]
    compared = [Compared(c, 60.0, 1.0, 50.0, 70.0, "", "", None) for c in cells]
    whole, part = (report([StudyComparison(study, None, tuple(some))]) for some in (compared, compared[:2]))
    found = {(each["by"], each["group"], each["baseline"]) for each in whole.document()["not_better"]}
    assert {("level", "RAID 0", "rule_of_thumb"), ("kernel", "linux-2.4.26", "nearest")} <= found
    assert part.document()["not_better"] == []


def test_groups_are_in_the_order_of_their_numbers(made: Report) -> None:
    """10 processes come after 2."""
    assert list(grouped(made.cells, "processes")) == ["1 process", "2 processes"]
    assert set(grouped(made.predicted, "level")) == {"RAID 0", "drives side by side", "single drive"}


def test_misses_are_named_with_their_suspect(made: Report) -> None:
    """Cells beyond 40 % and broken claims, by the mechanism, or by the lack of one."""
    found = suspects(made.studies[0])
    assert found[NO_SUSPECT] == ["stripe (+47 %)"]
    assert found["a claim that is made to be wrong"] == ["claim both take as long as one"]


def test_the_document_is_json(made: Report) -> None:
    """Every cell with its class, its guesses, and whether it is inside."""
    document = json.loads(json.dumps(made.document()))
    (study,) = document["studies"]
    stripe = next(case for case in study["cases"] if case["id"] == "stripe")
    assert stripe["inside"] is False
    assert stripe["class"]["level"] == "RAID 0"
    assert stripe["baselines"] == {"rule_of_thumb": pytest.approx(50.0), "nearest": pytest.approx(50.0)}
    assert document["conformance"]["kinds"]["io"]["reached"] is False
    assert document["leave_out"][0]["level"] == "RAID 0"
    assert document["failed"] == [{"id": "<other>", "error": "InputError: a & b"}]
    assert document["by"]["level"]["RAID 0"]["n"] == 1


class Page(HTMLParser):
    """What a page holds; tags have to close in the order in which they opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.words: list[str] = []
        self.counts: dict[str, int] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "xlink:href"):
                self.links.append(value or "")
            elif name in ("src", "srcset", "data"):
                self.fetched.append(value or "")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def page(made: Report) -> Page:
    """The page, parsed."""
    return Page(page_of(validation_answer(made, whole=True)))


def test_the_page_stands_alone(page: Page) -> None:
    """Every tag closes, every id is there once, every link stays within the page, and nothing is fetched."""
    assert len(page.ids) == len(set(page.ids))
    assert page.fetched == []
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert all(link.startswith("#") for link in page.links)
    assert "script" not in page.counts


def test_the_page_has_all_of_the_report(made: Report, page: Page) -> None:
    """A section for every part, pictures in it, all cells, and names with markup in them as text."""
    sections = {"predicted-cells", "errors", "intervals", "against-guessing", "cross-validation", "claims"}
    assert sections | {"conformance", "what-is-wrong", "what-is-missing", "all-cells"} <= set(page.ids)
    assert page.counts["svg"] == 3 + 1 + 6 + 1 + 1
    for cell in made.cells:
        assert cell.compared.cell.id in page.words
    for words in ("<other>", "as promised", "stripe (+47 %)", "two drives beat one"):
        assert words in page.words
    assert "<other> could not be predicted: InputError: a & b" in page.words


def test_a_page_of_claims_only_is_made() -> None:
    """A study without cells, and conformance that was not run, are said to be so."""
    document = small.runs_document()
    document["cells"] = []
    study = validate(StudySpec, document)
    only_claims = StudyComparison(study, None, (), comparison().claims)
    words = " ".join(Page(page_of(validation_answer(report([only_claims]), whole=True))).words)
    assert "have no predicted cells" in words
    assert "Not run for this report" in words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("{", "is not JSON"),
        ("[]", "holds no kinds"),
        ('{"speed": {"cases": 1, "matched": 1}}', "unknown kind 'speed'"),
        ('{"layout": {"cases": 1, "matched": 2}}', "layout has no counts"),
        ('{"layout": 7}', "layout has no counts"),
    ],
)
def test_a_file_that_is_no_conformance_is_refused(text: str | None, message: str, tmp_path: Path) -> None:
    """The message names the file and what is wrong with it."""
    path = tmp_path / "c.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        totals_from_file(path)


def test_conformance_is_read_as_it_was_printed(tmp_path: Path) -> None:
    """Cases and matches per kind, and whether the aim is reached."""
    path = tmp_path / "c.json"
    path.write_text(
        '{"layout": {"cases": 4, "matched": 4, "misses": []},'
        ' "resync": {"cases": 9, "matched": 1, "cases_not_checked": 2}}'
    )
    totals = totals_from_file(path)
    assert totals.kinds == (KindTotal("layout", 4, 4), KindTotal("resync", 9, 1, 2))
    assert totals.reached
    assert not ConformanceTotals((KindTotal("layout", 4, 3),), "").reached
