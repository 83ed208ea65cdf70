"""The page itself, as a visitor meets it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import raidsim
from raidsim.scenarios.running.simulate import simulate
from raidsim.web.form.forms import built
from raidsim.web.form.limits import COMMANDS
from raidsim.web.form.state import VIEWS
from raidsim.web.pages.session import server_runs
from raidsim.web.work.runs import Ticket
from raidsim.web.work.tasks import Outcome, RunTask

APP = Path(raidsim.__file__).parent / "web" / "app.py"
PATIENCE_S = 60.0


@pytest.fixture(scope="module", autouse=True)
def _small_server() -> Iterator[None]:
    """Short runs are shorter still here, and the runs of the page's server end with these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(COMMANDS, "short", 800)
        built.cache_clear()
        yield
    built.cache_clear()
    server_runs().close()


def page(**query: str | list[str]) -> AppTest:
    """The page at an address, looked at once."""
    at = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    return quiet(at)


def quiet(at: AppTest) -> AppTest:
    """The page, which shows no trace of an error."""
    assert [element.value for element in at.exception] == []
    return at


def finished(at: AppTest) -> AppTest:
    """The page after the run under way."""
    end = time.monotonic() + PATIENCE_S
    while at.session_state["running"] is not None:
        assert time.monotonic() < end
        time.sleep(0.05)
        quiet(at.run())
    return at


def words(at: AppTest) -> str:
    """All that the page says."""
    kinds = (at.markdown, at.error, at.warning, at.info, at.caption, at.success)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")


def test_the_page_comes_up_and_simulates() -> None:
    """Protects the first minute: the usual design is there at once, and one click gives its figures."""
    at = page(length="short")
    assert not at.error
    assert len(at.metric) == 0
    at.button(key="start_result").click().run()
    finished(at)
    assert [metric.label for metric in at.metric][:2] == ["I/Os per second", "Throughput"]
    assert "Bottleneck:" in words(at)
    at.slider(key="f_read").set_value(0).run()
    assert "earlier design" in words(quiet(at))
    at.radio(key="view").set_value("files").run()
    assert "Simulate this design first" in words(quiet(at))
    assert at.query_params == {"read": "0", "view": "files", "length": "short"}


def test_the_figures_are_shown_before_the_run_without_the_bottleneck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the first answer: it is on the page while the rest is simulated, and stays if that is given up."""
    tickets: list[Ticket] = []

    def started(task: RunTask) -> Ticket:
        """The first answer is there, and the rest takes for ever."""
        early = Outcome(task.spec, simulate(task.spec), None, known=False)
        tickets.append(Ticket(task, "running", 0.4, early))
        return tickets[-1]

    monkeypatch.setattr(server_runs(), "start", started)
    at = page(length="short", drive="WD2500JS", disks="4")
    at.button(key="start_result").click().run()
    assert at.metric[0].label == "I/Os per second"
    assert "simulated next" in words(quiet(at))
    assert not at.button(key="start_result").disabled
    at.button(key="cancel").click().run()
    tickets[0].state = "cancelled"
    at.run()
    assert at.metric
    assert "was not simulated" in words(quiet(at))


def test_an_address_that_comes_late_takes_nothing_back() -> None:
    """Protects what was chosen: until the browser has the new address, it sends the old one with what comes next."""
    at = page(length="short")
    at.radio(key="view").set_value("compare").run()
    at.number_input(key="f_disks").set_value(9).run()
    address = dict(at.query_params)
    for name in address:
        del at.query_params[name]
    at.run()
    assert at.radio(key="view").value == "compare"
    assert at.number_input(key="f_disks").value == 9
    assert at.query_params == address == {"disks": "9", "view": "compare", "length": "short"}


def test_a_change_of_level_changes_the_rest() -> None:
    """Protects the form: options come and go with the level, and what must change is said."""
    at = page(disks="3")
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
    at = page(view="layout", level="raid10", disks="5", algorithm="far", failed="1")
    levels = ("raid10", "linear", "raid60", "raid01", "raid3", "raid1", "raid0", "raid4")
    for view, level in zip(VIEWS, levels, strict=True):
        at.radio(key="view").set_value(view)
        at.selectbox(key="f_level").set_value(level).run()
        assert at.query_params.get("view", VIEWS[0]) == view
        quiet(at)
    at.selectbox(key="f_drive").set_value("Samsung-PM9A3-3840GB").run()
    quiet(at)


def test_designs_are_kept_and_compared() -> None:
    """Protects the comparison: a design is kept, the form changes, both are run and shown with their intervals."""
    at = page(view="compare", length="short", drive="WD2500JS", disks="4", depth="4")
    at.button(key="keep").click().run()
    at.selectbox(key="f_level").set_value("raid10").run()
    at.button(key="start_compare").click().run()
    finished(at)
    shown = at.get("html")
    assert any("no certain difference" in str(each.proto) or "to +" in str(each.proto) or "to -" in str(each.proto)
               for each in shown)  # fmt: skip
    assert at.query_params["with"] == "drive=WD2500JS&disks=4"
    at.button(key="drop_0").click().run()
    assert "No design is kept yet" in words(quiet(at))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"machine: [", "The file is not used"),
        (b"\xff\xfe\x00bad", "The file is not used"),
        (b"arrays: {md0: {level: raid5, members: 2}}", "raid5"),
        (b"arrays: {'![x](http://example.invalid/x)': {level: nonsense}}", "The file is not used"),
        (b"machine: {drives: {model: Samsung-PM9A3-3840GB, count: 8}}\nworkload: {depth: 64, duration: 1h}", "allowed"),
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
    assert "File: mine" in words(quiet(at))
    at.button(key="start_result").click().run()
    finished(at)
    assert at.metric
    for view in VIEWS:
        at.radio(key="view").set_value(view).run()
        quiet(at)


def test_a_link_from_anyone_is_met_with_a_note() -> None:
    """Protects visitors of a broken link: the page comes up, says what was left out, and mends the address."""
    at = page(level="raid9", disks="many", zzz="1", view="nowhere")
    assert len(at.warning) == 1
    assert "raid9" in words(at)
    assert at.query_params == {}


def test_a_run_can_be_cancelled() -> None:
    """Protects the cancel button: the run is gone, and the next may begin."""
    at = page(view="curve", length="long")
    at.button(key="start_curve").click().run()
    assert at.button(key="start_curve").disabled
    at.button(key="cancel").click().run()
    finished(at)
    assert not at.button(key="start_curve").disabled
    assert not at.error
