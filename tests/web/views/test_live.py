"""The live view of an array that is really served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from raidsim.model.core.errors import InputError
from raidsim.serve import recent
from raidsim.serve.server import Server
from raidsim.tests.serve.client import Client, served
from raidsim.tests.web.views.test_shell import go, page, quiet, words
from raidsim.web.work import live as module
from raidsim.web.work.live import Watched, watch

CONTROL = "control.sock"


@pytest.fixture(autouse=True)
def _not_watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every look is a new one here, and no other test sees an array."""
    monkeypatch.setattr(module, "_EVERY_S", 0.0)
    monkeypatch.setattr(recent, "EVERY_S", 0.0)
    yield
    watch(None)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A RAID 5 of four drives, as `raidsim serve` has it."""
    with served(tmp_path, control=tmp_path / CONTROL) as found:
        yield found


def live(at: AppTest) -> str:
    """All that the live view says, tables and bars too."""
    html = [str(each.proto) for each in at.get("html")]
    return "\n".join([words(at), *html, *(f"{each.label} {each.value}" for each in at.metric)])


def test_a_page_without_a_served_array_says_how_to_start_one() -> None:
    """Protects who finds the page first: the two commands, and no empty figures."""
    at = go(page(length="short"), "live")
    assert "--control" in at.code[0].value
    assert not at.metric
    assert not at.button


def test_figures_follow_what_programs_do(server: Server, tmp_path: Path) -> None:
    """Protects the live view: rates, latencies, utilization and rebuilds of a served array, and its end."""
    watch(tmp_path / CONTROL, operated=True)
    with Client(tmp_path / "nbd.sock") as client:
        at = go(page(length="short"), "live")
        assert "No request has come yet" in live(at)
        for number in range(30):
            client.read(number * 977 % 64 << 28, 4096)
        said = live(quiet(at.run()))
        assert "md0: 4 members; whole" in said
        assert "p99 of reads" in said
        assert "Utilization of the parts" in said
        assert "Bottleneck: disk" in said.replace("*", "")
        at.selectbox(key="live_drive").set_value("disk1").run()
        at.button(key="live_fail").click().run()
        assert "disk1 has failed; md0 is degraded" in live(quiet(at))
        at.selectbox(key="live_drive").set_value("disk2").run()
        at.button(key="live_fail").click().run()
        assert "expected: a member that the array survives" in live(quiet(at))
        at.selectbox(key="live_drive").set_value("disk1").run()
        at.button(key="live_insert").click().run()
        client.read(1 << 30, 4096)
        said = live(quiet(at.run()))
        assert "rebuilding onto disk1-2" in said
        assert "I/Os per second in the last" in said
    assert server.operator is not None
    assert [what for _, what in server.operator.done] == [
        "disk1 has failed; md0 is degraded",
        "disk1-2 is in the bay of disk1: md0 rebuilds onto it",
    ]


def test_visitors_may_look_and_no_more(server: Server, tmp_path: Path) -> None:
    """Protects a served array: without --operate no visitor changes it, with it not by other commands."""
    watch(tmp_path / CONTROL)
    at = go(page(length="short"), "live")
    assert "md0: 4 members" in live(at)
    assert not at.button
    assert str(tmp_path) not in live(at)
    with pytest.raises(InputError, match="--operate"):
        Watched(tmp_path / CONTROL).do("fail", "disk0")
    with pytest.raises(InputError, match="--operate"):
        Watched(tmp_path / CONTROL, operated=True).do("end", "disk0")
    assert server.operator is not None
    assert server.operator.done == []


def test_a_server_that_has_ended_leaves_its_last_figures(tmp_path: Path) -> None:
    """Protects the page: no error when the server ends, and another one at the same socket is shown."""
    watch(tmp_path / CONTROL)
    at = go(page(length="short"), "live")
    assert "No server answers" in live(at)
    with served(tmp_path, control=tmp_path / CONTROL):
        assert "No server answers" not in live(quiet(at.run()))
    said = live(quiet(at.run()))
    assert "The figures below are its last ones" in said
    assert "md0: 4 members" in said
