"""The page in a browser: what a planner and a student do, on a desk and on a telephone."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.web.browser import (
    DESKTOP,
    PHONE,
    REQUIRE,
    brightness,
    browser_path,
    choose,
    close_form,
    connections,
    downloaded,
    launched,
    look_at,
    open_form,
    opened,
    pressed,
    served,
    tabbed_to,
)

pytestmark = pytest.mark.slow

BAD = "arrays: {md0: {level: raid5, members: 2}}\n"
GOOD = (
    "name: mine\nmachine: {drives: {model: WD2500JS, count: 4}}\narrays: {md0: raid5}\n"
    "workload: {read_share: 0%, depth: 4, duration: 1s, warm_up: 0s}\n"
)
SMALL = "length=short&drive=WD2500JS&disks=4&depth=4"
"""A design that is simulated in no time, as a link."""
RELIEF = re.compile("^With .*: .* instead of .*; then ")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests."""
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server that all tests share; none of them makes it open a connection to another machine."""
    browser_path()
    log = tmp_path_factory.mktemp("web") / "log"
    with served(log) as found:
        yield found
    assert connections(log) == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desk", "telephone"])
def test_a_planner_finds_a_design(browser: Browser, address: str, size: tuple[int, int], tmp_path: Path) -> None:
    """Protects the planner's path: simulate by keyboard alone, keep, change, compare, take away files and a link."""
    with opened(browser, f"{address}/?{SMALL}", size) as page:
        page.get_by_role("button", name="Simulate", exact=True).wait_for()
        expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)  # no list of the modules of web/pages
        fields = tabbed_to(page, "Simulate")
        assert size == PHONE or {"Drive", "Disks", "RAID level", "Pattern"} <= fields
        page.keyboard.press("Enter")
        page.get_by_role("table", name="Throughput and latencies of the load").wait_for()
        page.get_by_text("Bottleneck:").wait_for()
        look_at(page, "Compare")
        pressed(page, "Keep this design", page.get_by_role("button", name="Remove"))
        open_form(page)
        choose(page, "RAID level", "RAID 10")
        close_form(page)
        page.get_by_text("RAID 10, 4 x WD2500JS").first.wait_for()
        designs = page.get_by_role("table", name="2 designs")
        pressed(page, "Compare", designs)
        expect(designs.get_by_role("row")).to_have_count(3)
        look_at(page, "Files and link")
        page.get_by_role("button", name="Download scenario (YAML)").wait_for()
        assert "level: raid10" in downloaded(page, "Download scenario (YAML)", tmp_path)
        assert "Comparison" in downloaded(page, "Download report (HTML)", tmp_path)
        link = page.url
        assert "level=raid10" in link
    if size == PHONE:
        return
    with opened(browser, link, size) as again:
        again.get_by_text("RAID 10, 4 x WD2500JS").first.wait_for()
        assert again.get_by_role("radio", name="Files and link").is_checked()


def test_the_browser_s_back_takes_back(browser: Browser, address: str) -> None:
    """Protects the Back button: form and view are as they were at the address before, and Forward brings them again."""
    with opened(browser, f"{address}/?{SMALL}", DESKTOP) as page:
        choose(page, "RAID level", "RAID 10")
        page.wait_for_url("**level=raid10**")
        look_at(page, "Layout")
        page.wait_for_url("**view=layout**")
        page.go_back()
        expect(page.get_by_role("radio", name="Result", exact=True)).to_be_checked()
        page.get_by_text("RAID 10, 4 x WD2500JS").first.wait_for()
        page.go_back()
        page.get_by_text("RAID 5, 4 x WD2500JS").first.wait_for()
        assert "level" not in page.url
        page.go_forward()
        page.get_by_text("RAID 10, 4 x WD2500JS").first.wait_for()


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "dark"), (PHONE, "light")], ids=["desk", "telephone"])
def test_a_student_sees_why_small_writes_are_slow(
    browser: Browser, address: str, size: tuple[int, int], scheme: str
) -> None:
    """Protects the student's path: a run can be cancelled, the layout shows parity, single I/Os show four commands."""
    query = "length=short&drive=WD2500JS&disks=5&depth=2&read=0"
    with opened(browser, f"{address}/?{query}&view=curve", size, scheme) as page:
        page.get_by_role("button", name="Draw the load curve").click()
        page.get_by_role("button", name="Cancel the run").click()
        page.get_by_role("button", name="Cancel the run").wait_for(state="detached")
        expect(page.get_by_role("button", name="Draw the load curve")).to_be_enabled()
        look_at(page, "Layout")
        chart = page.get_by_role("table", name="The first 5 rows of md0")
        expect(chart.get_by_role("cell", name="P", exact=True)).to_have_count(5)
        look_at(page, "Single I/Os")
        said = page.get_by_text("On average 4 commands for each write of the load.")
        pressed(page, "Record single I/Os", said)
        fan = page.get_by_role("table", name="Commands of the disks for the recorded I/Os")
        expect(fan.get_by_role("row", name="reads old parity")).to_have_count(1)
        if size == PHONE:
            return
        look_at(page, "Explain")
        pressed(page, "Explain", page.get_by_text("Parity costs"))


def test_figures_come_before_what_would_be_without_the_bottleneck(browser: Browser, address: str) -> None:
    """Protects the first answer: it is on the page, with pictures and tables, while the longer part is simulated."""
    with opened(browser, f"{address}/?length=long", DESKTOP) as page:
        page.get_by_role("button", name="Simulate", exact=True).click()
        page.get_by_text("Bottleneck:").wait_for()
        expect(page.get_by_text(RELIEF)).to_have_count(0)
        page.get_by_role("button", name="Cancel the run").click()
        page.get_by_text("was not simulated to its end").wait_for()
        expect(page.get_by_role("table", name="Throughput and latencies of the load")).to_have_count(1)


def test_what_is_taken_away_says_the_same_as_the_page(browser: Browser, address: str, tmp_path: Path) -> None:
    """Protects downloads: the scenario gives the same result to the last digit, and JSON, CSV and report have it."""
    with opened(browser, f"{address}/?{SMALL}", DESKTOP) as page:
        pressed(page, "Simulate", page.get_by_text(RELIEF))
        on_page = page.get_by_test_id("stMetricValue").first.inner_text()
        look_at(page, "Files and link")
        scenario = downloaded(page, "Download scenario (YAML)", tmp_path)
        results = json.loads(downloaded(page, "Download results (JSON)", tmp_path))
        rows = list(csv.reader(downloaded(page, "Download CSV", tmp_path).splitlines()))
        report = downloaded(page, "Download report (HTML)", tmp_path)
    again = simulate(document_from(scenario).spec())
    assert results["iops"] == dict(again.iops)
    assert results["relief"]["rate"] > again.rate
    assert rows[:2] == [["# load"], ["", "I/Os per s", *rows[1][2:]]]
    assert {row[0]: float(row[1]) for row in rows[2:4]} == {f"{op}s": rate for op, rate in again.iops.items()}
    assert on_page.startswith(f"{sum(again.iops.values()):,.0f} ±")
    assert f"Bottleneck: {again.bottleneck}." in report
    assert scenario.splitlines()[1] in report


def test_a_disk_fails_when_the_slider_says(browser: Browser, address: str) -> None:
    """Protects the failure view in the dark: time by keyboard, fewer I/Os after it, the rebuild, and the knee."""
    with opened(browser, f"{address}/?{SMALL}&spares=1&read=100&view=failure", DESKTOP, "dark") as page:
        page.get_by_text("disk0 fails").wait_for()
        slider = page.get_by_role("slider", name="A disk fails after (% of the run)")
        before = int(slider.input_value())
        slider.press("ArrowRight")
        expect(slider).to_have_value(str(before + 5))
        page.wait_for_url(f"**fail_at={before + 5}**")
        pressed(page, "Simulate the failure", page.get_by_text("the rebuild goes at"))
        page.get_by_text("The course as a table").click()
        course = page.get_by_role("table", name="The run piece by piece")
        done = [float(row.split("\t")[2].replace(",", "")) for row in course.inner_text().splitlines()[2:]]
        failed = len(done) * (before + 5) // 100
        assert sum(done[failed:]) / (len(done) - failed) < sum(done[:failed]) / failed
        assert brightness(page, "[data-testid=stApp]", "backgroundColor") < 0.2
        assert brightness(page, "[data-testid=stHtml] td", "color") > 0.7
        look_at(page, "Load curve")
        pressed(page, "Draw the load curve", page.get_by_text("Knee at"))
        curve = page.get_by_role("table", name="The load curve")
        expect(curve.get_by_role("cell", name="knee", exact=True)).to_have_count(1)


def test_four_designs_on_a_telephone(browser: Browser, address: str) -> None:
    """Protects the comparison that a link carries: four designs, none wider than the screen, no fifth."""
    designs = "".join(f"&with=level%3D{level}%26drive%3DWD2500JS%26disks%3D4" for level in ("raid0", "raid10", "raid6"))
    with opened(browser, f"{address}/?{SMALL}{designs}&view=compare", PHONE) as page:
        page.get_by_role("button", name="Remove").nth(2).wait_for()
        expect(page.get_by_role("button", name="Keep this design")).to_be_disabled()
        table = page.get_by_role("table", name="4 designs")
        pressed(page, "Compare", table)
        expect(table.get_by_role("row")).to_have_count(5)
        first = table.get_by_role("row").nth(1).get_by_role("cell")
        expect(first.nth(2)).to_have_text("the baseline")
        assert brightness(page, "[data-testid=stApp]", "backgroundColor") > 0.9


def test_files_from_anyone_are_met_with_a_message(browser: Browser, address: str) -> None:
    """Protects uploads: a bad file is one message and no harm, a good one is simulated and its disk can fail."""
    with opened(browser, address, DESKTOP) as page:
        page.get_by_text("Scenario file instead of the form").click()
        upload = page.get_by_test_id("stFileUploaderDropzoneInput")
        upload.set_input_files({"name": "bad.yaml", "mimeType": "text/yaml", "buffer": BAD.encode()})
        alert = page.get_by_role("alert").first
        alert.wait_for()
        assert "raid5" in alert.inner_text()
        page.get_by_text("The file is not used.").wait_for()
        upload.set_input_files({"name": "good.yaml", "mimeType": "text/yaml", "buffer": GOOD.encode()})
        page.get_by_text("File: mine").wait_for()
        look_at(page, "Failure")
        pressed(page, "Simulate the failure", page.get_by_text("I/Os per second before the failure"))


def test_without_a_browser_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects machines without a browser, where tests are skipped, and a pipeline, where they may not be."""
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.delenv(REQUIRE, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"install_chromium\.sh"):
        browser_path()
    monkeypatch.setenv(REQUIRE, "1")
    with pytest.raises(pytest.fail.Exception, match=r"install_chromium\.sh"):
        browser_path()
