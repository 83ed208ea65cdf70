"""The guard before the page: names, origins, floods, frames; and the server process opens no connection."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from raidsim.tests.web.browser import connections, served
from raidsim.web.server import BURST, HEADERS, MESSAGES_PER_S, MOST_SOCKETS, Guard, HostList, Message

HERE = HostList("127.0.0.1")
PUBLIC = HostList("0.0.0.0", ["arrays.example"])
FLOODS = 10


@pytest.mark.parametrize(
    ("header", "here", "public"),
    [
        ("127.0.0.1:8501", True, True),
        ("localhost", True, True),
        ("LOCALHOST:8501", True, True),
        ("[::1]:8501", True, True),
        ("192.0.2.7:8501", False, True),
        ("[2001:db8::1]", False, True),
        ("arrays.example", False, True),
        ("rebound.example:8501", False, False),
        ("127.0.0.1.rebound.example", False, False),
        ("localhost.example", False, False),
        ("", False, False),
        ("[", False, False),
    ],
)
def test_only_names_of_this_server_are_answered(header: str, here: bool, public: bool) -> None:
    """Protects from names of others that resolve to this machine (DNS rebinding)."""
    assert HERE.accepts(header) is here
    assert PUBLIC.accepts(header) is public


def passed(kind: str, *headers: tuple[bytes, bytes], open_sockets: int = 0) -> tuple[bool, list[Message]]:
    """Whether a request reached what is behind the guard, and what was answered."""
    reached: list[bool] = []
    answers: list[Message] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        reached.append(True)
        await send({"type": f"{kind}.response.start" if kind == "http" else "websocket.accept", "headers": []})

    async def send(message: Message) -> None:
        answers.append(message)

    async def receive() -> Message:
        raise AssertionError("nothing is read of a request that is refused")

    guard = Guard(behind, HERE)
    guard._open = open_sockets
    asyncio.run(guard({"type": kind, "headers": list(headers)}, receive, send))
    return bool(reached), answers


def test_a_foreign_host_gets_no_page() -> None:
    """Protects from DNS rebinding; the answer says which option lets a name in."""
    reached, answers = passed("http", (b"host", b"rebound.example"))
    assert not reached
    assert answers[0]["status"] == 421
    assert b"--allow-host" in answers[1]["body"]
    assert not passed("http", (b"host", b"localhost"), (b"host", b"rebound.example"))[0]


def test_no_page_is_shown_in_a_frame() -> None:
    """Protects from pages that put this one into a frame and have a visitor click in it."""
    reached, answers = passed("http", (b"host", b"localhost:8501"))
    assert reached
    assert set(HEADERS) <= set(answers[0]["headers"])


@pytest.mark.parametrize("origin", [b"https://other.example", b"http://localhost:1", b"null", b"http://[", b"file://"])
def test_a_foreign_origin_gets_no_socket(origin: bytes) -> None:
    """Protects the server from Streamlit's own check, which asks the internet for the machine's address."""
    reached, answers = passed("websocket", (b"host", b"localhost:8501"), (b"origin", origin))
    assert not reached
    assert [answer["type"] for answer in answers] == ["websocket.close"]


def test_a_page_and_a_program_get_a_socket() -> None:
    """Protects the page itself, whose Origin is its Host, and programs, which send none."""
    assert passed("websocket", (b"host", b"localhost:8501"), (b"origin", b"http://LOCALHOST:8501"))[0]
    assert passed("websocket", (b"host", b"localhost:8501"))[0]


def test_sockets_are_bounded() -> None:
    """Protects memory from sockets without end; one that is closed makes room."""
    headers = (b"host", b"localhost")
    assert passed("websocket", headers, open_sockets=MOST_SOCKETS - 1)[0]
    assert not passed("websocket", headers, open_sockets=MOST_SOCKETS)[0]


def test_messages_of_one_socket_are_read_at_a_rate() -> None:
    """Protects other visitors: after a burst, messages are read as fast as a page sends them, and no faster."""

    async def timed(messages: float) -> float:
        async def behind(scope: Any, receive: Any, send: Any) -> None:
            for _ in range(int(messages)):
                await receive()

        async def receive() -> Message:
            return {"type": "websocket.receive", "text": ""}

        async def send(message: Message) -> None:
            raise AssertionError(message)

        before = asyncio.get_running_loop().time()
        await Guard(behind, HERE)({"type": "websocket", "headers": [(b"host", b"localhost")]}, receive, send)
        return asyncio.get_running_loop().time() - before

    more = 4
    assert asyncio.run(timed(BURST + more)) >= (more - 1) / MESSAGES_PER_S


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server, and the log of the connections that its process opens."""
    log = tmp_path_factory.mktemp("server") / "log"
    with served(log) as address:
        yield address, log


def _status(address: str, **headers: str) -> int:
    with pytest.raises(InvalidStatus) as refused, connect(address, additional_headers=headers):
        pass
    return int(refused.value.response.status_code)


@pytest.mark.slow
def test_hostile_handshakes_open_no_connection(server: tuple[str, Path]) -> None:
    """Protects the promise that the page's server opens no connection: seen in the server's own process."""
    address, log = server
    socket = address.replace("http", "ws") + "/_stcore/stream"
    for origin in ("https://other.example", "http://192.0.2.1", "null"):
        assert _status(socket, Origin=origin) == 403
    request = urllib.request.Request(address, headers={"Host": "rebound.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    refused.value.close()
    assert refused.value.code == 421
    with urllib.request.urlopen(f"{address}/_stcore/host-config", timeout=30) as answer:
        assert b"streamlit" not in answer.read()
    assert connections(log) == []


@pytest.mark.slow
def test_floods_do_not_stop_other_visitors(server: tuple[str, Path]) -> None:
    """Protects visitors from programs that send without end: the page is answered while ten of them do."""
    address, _ = server
    with ExitStack() as closing:
        stream = address.replace("http", "ws") + "/_stcore/stream"
        sockets = [closing.enter_context(connect(stream)) for _ in range(FLOODS)]
        for _ in range(200):
            for socket in sockets:
                socket.send(b"")
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert answer.status == 200
