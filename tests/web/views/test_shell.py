"""The page itself, as a visitor meets it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import raidsim
from raidsim.api.run import run
from raidsim.web.form.forms import built
from raidsim.web.form.limits import COMMANDS, PRECISIONS
from raidsim.web.views.shell import NO_FORM, PAGES, RESULT
from raidsim.web.work.runs import Ticket
from raidsim.web.work.service import server_runs
from raidsim.web.work.tasks import Outcome, RunTask

APP = Path(raidsim.__file__).parent / "web" / "app.py"
PATIENCE_S = 300.0


@pytest.fixture(scope="module", autouse=True)
def _small_server() -> Iterator[None]:
    """Short runs are shorter still here, and the runs of the page's server end with these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(COMMANDS, "short", 800)
        patch.setitem(PRECISIONS, "short", 0.2)
        built.cache_clear()
        yield
    built.cache_clear()
    server_runs().close()
    server_runs.cache_clear()


def page(**query: str | list[str]) -> AppTest:
    """The first page at an address, looked at once."""
    at = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    return quiet(at)


def go(at: AppTest, name: str) -> AppTest:
    """Another page, as a click on its name shows it."""
    path = "" if name == RESULT else name
    at._page_hash = next(key for key, info in at._registered_pages.items() if info.get("url_pathname") == path)
    return quiet(at.run())


def quiet(at: AppTest) -> AppTest:
    """The page, which shows no trace of an error."""
    assert [element.value for element in at.exception] == []
    return at


def finished(at: AppTest) -> AppTest:
    """The page after the run under way."""
    end = time.monotonic() + PATIENCE_S
    while at.session_state["running"]:
        assert time.monotonic() < end
        time.sleep(0.05)
        quiet(at.run())
    return at


def words(at: AppTest) -> str:
    """All that the page says."""
    kinds = (at.markdown, at.error, at.warning, at.info, at.caption, at.success)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")


def test_the_first_page_has_a_result_and_follows_the_form() -> None:
    """Protects the first minute: figures are there without a click, and a change of the form gives new ones."""
    at = finished(page(length="short"))
    assert not at.error
    assert [metric.label for metric in at.metric][:2] == ["I/Os per second", "Throughput"]
    assert "Bottleneck:" in words(at)
    before = at.metric[0].value
    at.slider(key="f_read").set_value(0).run()
    assert finished(quiet(at)).metric[0].value != before
    go(at, "files")
    assert at.query_params == {"read": "0", "length": "short"}


def test_the_figures_are_shown_before_the_run_without_the_bottleneck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the first answer: it is on the page while the rest is simulated, and stays if that is canceled."""
    tickets: list[Ticket] = []

    def started(task: RunTask, question: object) -> Ticket:
        """The first answer is there, and the rest takes for ever."""
        early = Outcome(run(task.scenario), None, known=False)
        tickets.append(Ticket(task, "running", 0.4, early=early))
        return tickets[-1]

    monkeypatch.setattr(server_runs(), "start", started)
    at = page(length="short", drive="WD2500JS", disks="4")
    assert at.metric[0].label == "I/Os per second"
    assert "simulated next" in words(quiet(at))
    at.button(key="cancel_result").click().run()
    tickets[0].state = "cancelled"
    at.run()
    assert at.metric
    assert "was not simulated" in words(quiet(at))
    assert not at.button(key="start_result").disabled
    assert len(tickets) == 1


def test_an_address_that_comes_late_takes_nothing_back() -> None:
    """Protects what was chosen: until the browser has the new address, it sends the old one with what comes next."""
    at = page(length="short")
    at.number_input(key="f_disks").set_value(9).run()
    address = dict(at.query_params)
    for name in address:
        del at.query_params[name]
    at.run()
    assert at.number_input(key="f_disks").value == 9
    assert at.query_params == address == {"disks": "9", "length": "short"}


def test_a_change_of_level_changes_the_rest() -> None:
    """Protects the form: options come and go with the level, and what must change is said; a group of fields is open
    if one of them is not as usual.
    """
    at = page(disks="3", network="nfs4")
    groups = {"Machine, kernel and state", "Network", "More loads at the same time"}
    assert {each.label for each in at.expander if each.proto.expanded} & groups == {"Network"}
    at.selectbox(key="f_level").set_value("raid6").run()
    assert at.number_input(key="f_disks").value == 4
    assert "4 instead" in words(quiet(at))
    at.selectbox(key="f_level").set_value("raid1").run()
    assert "f_chunk" not in [box.key for box in at.selectbox]
    at.selectbox(key="f_level").set_value("raid50").run()
    assert at.selectbox(key="f_groups").options == ["2"]
    at.selectbox(key="example").set_value("Video on RAID 6").run()
    assert at.selectbox(key="f_drive").value == "IronWolf-Pro-20TB"
    quiet(at)


def test_every_view_comes_up_for_many_designs() -> None:
    """Protects the views: each shows itself before anything is run, for arrays of every kind."""
    at = page(level="raid10", disks="5", algorithm="far", failed="1", length="short")
    levels = [
        "raid10",
        "linear",
        "raid60",
        "raid01",
        "raid3",
        "raid1",
        "raid0",
        "raid4",
        "raid5",
        "raid6",
        "raid50",
        "raid5",
    ]
    for name, level in zip(PAGES, levels, strict=True):
        at.selectbox(key="f_level").set_value(level)
        if name == "explain":
            at.number_input(key="f_loads").set_value(3)
        go(at, name)
        if name in NO_FORM:
            go(at, RESULT)
    at.selectbox(key="f_drive").set_value("Samsung-PM9A3-3840GB").run()
    quiet(at)


def test_designs_are_kept_and_compared() -> None:
    """Protects the comparison: a design is kept, the form changes, both are run and shown with their intervals."""
    at = go(page(length="short", drive="WD2500JS", disks="4", depth="4"), "compare")
    at.button(key="keep").click().run()
    at.selectbox(key="f_level").set_value("raid10").run()
    at.button(key="start_compare").click().run()
    finished(at)
    shown = at.get("html")
    assert any("Against design 1" in str(each.proto) for each in shown)
    assert "on its first 500 GB" in words(at), "RAID 10 has less than RAID 5: both get their I/Os on as much"
    assert at.query_params["with"] == "drive=WD2500JS&disks=4"
    at.button(key="drop_0").click().run()
    assert "keep this design" in words(quiet(at))
    at.button(key="add_raid6").click().run()
    assert at.query_params["with"] == "drive=WD2500JS&level=raid6&disks=4"


def test_a_lesson_asks_before_it_answers() -> None:
    """Protects the student's entrance: no picture before a guess, then figures, and other ones with other numbers."""
    at = go(page(), "lessons")
    assert not at.get("vega_lite_chart")
    at.button(key="show_small-writes").click().run()
    finished(quiet(at))
    assert "four commands for one small write" in words(at)
    assert at.get("vega_lite_chart")
    before = [str(each.proto) for each in at.get("html")]
    at.number_input(key="lesson_small-writes_disks").set_value(4).run()
    assert [str(each.proto) for each in finished(quiet(at)).get("html")] != before


def test_designs_are_found_for_a_load() -> None:
    """Protects the planner who starts from a requirement: designs are ranked, and those that fail say why."""
    at = go(page(drive="WD2500JS", length="short"), "advise")
    at.number_input(key="need_capacity").set_value(0.5).run()
    at.number_input(key="need_iops").set_value(20).run()
    at.slider(key="need_disks").set_value((2, 4)).run()
    at.button_group(key="need_levels").set_value(["raid0", "raid10"]).run()
    at.button(key="start_advise").click().run()
    finished(at)
    assert "Shortlist: RAID 10" in words(quiet(at))
    assert any("survives no failure" in str(each.proto) for each in at.get("html"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"machine: [", "The file is not used"),
        (b"\xff\xfe\x00bad", "The file is not used"),
        (b"arrays: {md0: {level: raid5, members: 2}}", "raid5"),
        (b"arrays: {'![x](http://example.invalid/x)': {level: nonsense}}", "The file is not used"),
        (
            b"machine: {drives: {model: Samsung-PM9A3-3840GB, count: 8}}\nworkload: {depth: 64, duration: 1h}",
            "expected",
        ),
    ],
)
def test_a_bad_file_is_refused_in_words(content: bytes, said: str) -> None:
    """Protects the page from uploads: one message, no trace, and the form is still there."""
    at = page()
    at.file_uploader(key="upload").upload("bad.yaml", content, "application/yaml")
    quiet(at.run())
    assert len(at.error) == 1
    assert said in words(at)
    assert "![x](http" not in str(at.error[0].value)


def test_a_file_is_explored_instead_of_the_form() -> None:
    """Protects uploads: a good file is run as it is."""
    text = (
        b"name: mine\nmachine: {drives: {model: WD2500JS, count: 4}}\narrays: {md0: raid5}\n"
        b"workload: {duration: 1s, warm_up: 0s}"
    )
    at = page()
    at.file_uploader(key="upload").upload("mine.yaml", text, "application/yaml")
    at.run()
    assert at.title[0].value == "File\\: mine"
    finished(quiet(at))
    assert at.metric
    for name in PAGES:
        if name not in NO_FORM:
            go(at, name)


def test_a_link_from_anyone_is_met_with_a_note() -> None:
    """Protects visitors of a broken link: the page comes up, says what was left out, and mends the address."""
    at = page(level="raid9", disks="many", zzz="1")
    assert len(at.warning) == 1
    assert "raid9" in words(at)
    assert at.query_params == {}


def test_a_run_can_be_cancelled() -> None:
    """Protects the cancel button: the run is gone, and the next may begin."""
    at = go(page(length="long"), "curve")
    at.button(key="start_curve").click().run()
    assert "start_curve" not in [button.key for button in at.button]
    at.button(key="cancel_curve").click().run()
    finished(at)
    assert not at.button(key="start_curve").disabled
    assert "was cancelled" in words(at)


def test_the_folder_of_the_pages_is_none_of_streamlit_s() -> None:
    """Protects the addresses: Streamlit makes a page of every module of a folder `pages`, so there is none."""
    assert not (APP.parent / "pages").exists()
    at = page(length="short")
    assert {info.get("url_pathname") for info in at._registered_pages.values()} == {*PAGES, ""} - {RESULT}


def test_files_of_visitors_become_scenarios_and_figures() -> None:
    """Protects files: a machine's outputs become a design, and jobs of fio run on it next to what fio measured."""
    mdstat = Path(raidsim.__file__).parent / "docs" / "examples" / "inspect" / "mdstat-2002.txt"
    at = go(page(length="short", drive="WD2500JS", disks="4"), "files")
    assert "raidsim.run(scenario)" in at.code[1].value
    job = b"[a]\nfilename=/dev/md0\nrw=randread\nbs=4k\niodepth=4\nioengine=libaio\ndirect=1\nruntime=1\ntime_based\n"
    at.file_uploader(key="fio_jobs").upload("a.fio", job, "text/plain")
    finished(quiet(at.run().button(key="start_fio").click().run()))
    assert any("What fio would report" in str(each.proto) for each in at.get("html"))
    at.file_uploader(key="fio_jobs").upload("a.fio", job.replace(b"bs=4k", b"bs=${HOME}"), "text/plain")
    finished(quiet(at.run().button(key="start_fio").click().run()))
    assert "a variable of the environment" in words(at)
    trace = b"".join(b"0,%d,4096,%s,%d.5\n" % (8 * n, b"rw"[n % 2 : n % 2 + 1], n) for n in range(20))
    at.file_uploader(key="trace").upload("t.spc", trace, "text/plain")
    finished(quiet(at.run().button(key="start_replay").click().run()))
    assert "20 I/Os on md0." in words(at)
    at.file_uploader(key="trace").upload("t.spc", trace + b"0,1,1,r,much\n", "text/plain")
    finished(quiet(at.run().button(key="start_replay").click().run()))
    assert "<trace>:21" in words(at)
    at.file_uploader(key="printed").upload("mdstat", mdstat.read_bytes(), "text/plain")
    at.run()
    at.button(key="explore").click().run()
    assert "inspected" in quiet(at).title[0].value
    at.button(key="leave").click().run()
    assert "RAID 5" in quiet(at).title[0].value
