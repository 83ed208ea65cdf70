"""The page in a browser: what a planner and a student do, on a desk and on a telephone."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.serve.client import served as array_served
from raidsim.tests.web.browser import (
    DESKTOP,
    PHONE,
    REQUIRE,
    brightness,
    broken_rules,
    browser_path,
    check_access,
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
    """Of a server that all tests share, with an array to look at; it opens no connection to another machine."""
    browser_path()
    folder = tmp_path_factory.mktemp("web")
    log, control = folder / "log", folder / "control.sock"
    with array_served(folder, control=control), served(log, "--serve", str(control), "--operate") as found:
        yield found
    assert connections(log) == []


PAGES = (
    *("Result", "Layout", "Single I/Os", "Load curve", "Failure", "Explain", "Compare", "Live", "Advise"),
    *("Diagnose", "Lessons", "Files"),
)


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desk", "telephone"])
def test_a_tour_of_all_pages(browser: Browser, address: str, size: tuple[int, int], scheme: str) -> None:
    """Protects the first look: a result without a click, no page breaks a rule of axe, Back and Forward go through."""
    with opened(browser, f"{address}/?{SMALL}", size, scheme) as page:
        page.get_by_text("Bottleneck:").wait_for()
        page.get_by_role("table", name="Throughput and latencies of the load").wait_for()
        for name in PAGES:
            look_at(page, name)
            page.get_by_role("progressbar").wait_for(state="detached")
            if name == "Live":
                page.get_by_text("md0: 4 members").wait_for()
                page.get_by_role("button", name="Insert a new drive").wait_for()
            check_access(page)
            wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, f"{name} is wider than the window"
        bright = brightness(page, "[data-testid=stApp]", "backgroundColor")
        assert bright > 0.9 if scheme == "light" else bright < 0.2
        page.go_back()
        page.get_by_role("heading", name="Six questions about arrays").wait_for()
        page.go_back()
        page.get_by_role("heading", name="Is my array as fast as it should be?").wait_for()
        page.go_forward()
        page.get_by_role("heading", name="Six questions about arrays").wait_for()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desk", "telephone"])
def test_a_planner_finds_a_design(browser: Browser, address: str, size: tuple[int, int], tmp_path: Path) -> None:
    """Protects the planner's path: the form by keyboard, up to four designs, their table, files and a link."""
    # The server keeps answers: each size asks a question of its own.
    with opened(browser, f"{address}/compare?{SMALL}&seed={size[0]}", size) as page:
        page.get_by_role("button", name="Add RAID 10").wait_for()
        fields = tabbed_to(page, "Add RAID 10")
        assert size == PHONE or {"Drive", "Disks", "RAID level", "Pattern"} <= fields
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Remove").wait_for()
        open_form(page)
        choose(page, "RAID level", "RAID 6")
        close_form(page)
        page.get_by_role("heading", name="RAID 6, 4 x WD2500JS").wait_for()
        pressed(page, "Compare", page.get_by_text("4 runs of each design"))
        expect(page.get_by_role("table", name=re.compile("^Speed on the first")).get_by_role("row")).to_have_count(3)
        plan = page.get_by_role("table", name="What it holds, and what limits")
        expect(plan.get_by_role("row").nth(2)).to_contain_text("1 to 2")
        for level in ("RAID 0", "RAID 5"):
            pressed(page, f"Add {level}", page.get_by_text(f"{level}, 4 x WD2500JS").first)
        expect(page.get_by_role("button", name="Keep this design")).to_be_disabled()
        look_at(page, "Files")
        page.get_by_role("button", name="Download scenario (YAML)").wait_for()
        assert "level: raid6" in downloaded(page, "Download scenario (YAML)", tmp_path)
        link = page.url
        assert "level=raid6" in link
    if size == PHONE:
        return
    with opened(browser, link, size) as again:
        again.get_by_role("heading", name="RAID 6, 4 x WD2500JS").wait_for()
        again.get_by_role("button", name="Download scenario (YAML)").wait_for()
        choose(again, "RAID level", "RAID 10")
        again.wait_for_url("**level=raid10**")
        again.go_back()
        again.get_by_role("heading", name="RAID 6, 4 x WD2500JS").wait_for()
        again.go_forward()
        again.get_by_role("heading", name="RAID 10, 4 x WD2500JS").wait_for()


def test_a_student_sees_why_small_writes_are_slow(browser: Browser, address: str) -> None:
    """Protects the student's path: a guess, the picture, parity in the layout, four commands, a run canceled."""
    with opened(browser, f"{address}/lessons", PHONE) as page:
        page.get_by_text("Less than half as fast", exact=True).click()
        page.get_by_text("Right.").wait_for()
        page.get_by_role("table", name="random writes of 4 KiB").wait_for()
    with opened(
        browser, f"{address}/layout?length=short&drive=WD2500JS&disks=5&depth=2&read=0", DESKTOP, "dark"
    ) as page:
        chart = page.get_by_role("table", name="The first 5 rows of md0")
        expect(chart.get_by_role("cell", name="P", exact=True)).to_have_count(5)
        look_at(page, "Single I/Os")
        page.get_by_text("On average 4 commands for each write of the load.").wait_for()
        fan = page.get_by_role("table", name="Commands of the disks for the recorded I/Os")
        expect(fan.get_by_role("row", name="reads old parity")).to_have_count(1)
        look_at(page, "Load curve")
        page.get_by_role("button", name="Draw the load curve").click()
        page.get_by_role("button", name="Cancel").click()
        page.get_by_text("The run was cancelled.").wait_for()
        look_at(page, "Explain")
        pressed(page, "Explain", page.get_by_text("Parity costs"))


def test_what_is_taken_away_says_the_same_as_the_page(browser: Browser, address: str, tmp_path: Path) -> None:
    """Protects downloads: the scenario gives the same result to the last digit, and JSON, CSV and report have it."""
    with opened(browser, f"{address}/?{SMALL}", DESKTOP) as page:
        page.get_by_text(RELIEF).wait_for()
        on_page = page.get_by_test_id("stMetricValue").first.inner_text()
        look_at(page, "Files")
        scenario = downloaded(page, "Download scenario (YAML)", tmp_path)
        results = json.loads(downloaded(page, "Download results (JSON)", tmp_path))
        rows = list(csv.reader(downloaded(page, "Download CSV", tmp_path).splitlines()))
        report = downloaded(page, "Download report (HTML)", tmp_path)
    check_report(browser, report)
    again = simulate(document_from(scenario).spec())
    assert results["iops"] == dict(again.iops)
    assert results["relief"]["rate"] > again.rate
    assert rows[:2] == [["# Latency (ms)"], ["", "I/Os per s", *rows[1][2:]]]
    assert {row[0]: float(row[1]) for row in rows[2:4]} == dict(again.iops)
    assert on_page.startswith(f"{sum(again.iops.values()):,.0f} ±")
    assert escape(f"bottleneck: {again.bottleneck}") in report
    assert scenario.splitlines()[1] in report


def check_report(browser: Browser, report: str) -> None:
    """The report on a telephone: no rule of axe is broken, and only what is wide scrolls."""
    page = browser.new_page(viewport={"width": PHONE[0], "height": PHONE[1]}, bypass_csp=True)
    try:
        page.set_content(report)
        assert broken_rules(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    finally:
        page.close()


def test_a_disk_fails_when_the_slider_says(browser: Browser, address: str) -> None:
    """Protects the failure view in the dark: time by keyboard, fewer I/Os after it, the rebuild, and the knee."""
    with opened(browser, f"{address}/failure?{SMALL}&spares=1&read=100", DESKTOP, "dark") as page:
        page.get_by_text("disk0 fails").wait_for()
        slider = page.get_by_role("slider", name="A disk fails after (% of the run)")
        before = int(slider.input_value())
        slider.press("ArrowRight")
        expect(slider).to_have_value(str(before + 5))
        page.wait_for_url(f"**fail_at={before + 5}**")
        pressed(page, "Simulate the failure", page.get_by_text("the rebuild runs at"))
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
        page.get_by_role("heading", name="File: mine").wait_for()
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
