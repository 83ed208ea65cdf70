"""`raidsim web`: where it listens, and what it refuses."""

from __future__ import annotations

import importlib.util
import socket

import pytest

from raidsim.cli.main import main
from raidsim.web.server import is_local, server_options


def refused(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """The one line that the command says when it does not start."""
    with pytest.raises(SystemExit) as end:
        main(["web", *options])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.invalid"])
def test_other_machines_are_let_in_only_when_asked_for_twice(capsys: pytest.CaptureFixture[str], host: str) -> None:
    """Protects a visitor's machine: anything but the loopback takes --yes-expose."""
    assert "--yes-expose" in refused(capsys, "--host", host)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--serve", "c.sock", "--host", "0.0.0.0", "--yes-expose"),
        ("--serve", "c.sock", "--allow-host", "public.example"),
    ],
)
def test_a_served_array_is_operated_from_this_machine_only(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    """Protects a served array: nobody on another machine fails its drives, and nothing is operated without one."""
    assert "--operate" in refused(capsys, "--operate", *options)


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects from a trace when another program listens there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} cannot be used" in refused(capsys, "--port", str(port))


def test_without_streamlit_it_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects an installation without the extra: one message that names it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "expected, in the checkout: make web" in refused(capsys)


def test_the_server_is_quiet_and_closed() -> None:
    """Protects visitors: no reports to anyone, no traces on the page, small uploads."""
    options = server_options("127.0.0.1", 8501)
    assert options["browser.gatherUsageStats"] is False
    assert options["client.showErrorDetails"] == "none"
    assert options["server.maxUploadSize"] == 1
    assert options["server.enableXsrfProtection"] is True
    assert options["server.enableCORS"] is True
    assert is_local("127.0.0.7")
    assert is_local("::1")
    assert is_local("LOCALHOST")
    assert not is_local("localhost.example.invalid")
