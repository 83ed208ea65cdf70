"""Streamlit's server behind a guard: who may ask, how often, and who may put the page into a frame.

Streamlit answers every Host, so that a name of an attacker's that resolves to this machine reaches the page (DNS
rebinding); and it compares a foreign Origin with the machine's external address, which it asks a service on the
internet for. The guard refuses both before Streamlit sees them.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .figures.theme import theme_options

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PAGE = Path(__file__).resolve().parent / "app.py"
MOST_SOCKETS = 200
"""WebSockets open at the same time; a browser's tab has one."""
MESSAGES_PER_S, BURST = 20.0, 60.0
"""Of one WebSocket: more are read later, so that other visitors are served between them."""
_REFUSED, _TOO_MANY = 1008, 1013
HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


def is_local(host: str) -> bool:
    """Whether only programs on this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


class HostList:
    """The names by which the page may be asked for.

    A name of the DNS can be pointed at any address by whoever owns it, an address can not: where other machines are
    let in, every address is accepted, and the names that were given.

    Parameters
    ----------
    listens_on
        Address or name that the server listens on.
    names
        Further names, as of a proxy in front.
    """

    def __init__(self, listens_on: str, names: Iterable[str] = ()) -> None:
        self._exposed = not is_local(listens_on)
        self._names = {name.casefold() for name in (listens_on, *names)}

    def accepts(self, header: str) -> bool:
        """Whether a Host header (name or address, with or without a port) names this server."""
        try:
            name = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return False
        if is_local(name) or name.casefold() in self._names:
            return True
        if not self._exposed:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


class Guard:
    """ASGI middleware in front of the page.

    Parameters
    ----------
    app
        What is behind it.
    hosts
        The names that are accepted.
    """

    def __init__(self, app: Application, hosts: HostList) -> None:
        self._app = app
        self._hosts = hosts
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        if self._hosts.accepts(_header(scope, b"host")):
            await self._app(scope, receive, marked)
            return
        text = b"raidsim web does not answer to this name; `raidsim web --allow-host NAME` adds one\n"
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
        await marked({"type": "http.response.start", "status": 421, "headers": headers})
        await send({"type": "http.response.body", "body": text})

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        host, origin = _header(scope, b"host"), _header(scope, b"origin")
        foreign = bool(origin) and _place(origin) != host.casefold()
        if foreign or not self._hosts.accepts(host):
            await send({"type": "websocket.close", "code": _REFUSED})
            return
        if self._open >= MOST_SOCKETS:
            await send({"type": "websocket.close", "code": _TOO_MANY})
            return
        self._open += 1
        try:
            await self._app(scope, _slowed(receive), send)
        finally:
            self._open -= 1


def _slowed(receive: Receive) -> Receive:
    """Messages of a WebSocket, no more a second than a page sends (a token bucket)."""
    clock = asyncio.get_running_loop().time
    tokens, last = BURST, clock()

    async def slowed() -> Message:
        nonlocal tokens, last
        now = clock()
        tokens = min(BURST, tokens + (now - last) * MESSAGES_PER_S)
        last = now
        if tokens < 1.0:
            await asyncio.sleep((1.0 - tokens) / MESSAGES_PER_S)
        tokens -= 1.0
        return await receive()

    return slowed


def _header(scope: Scope, name: bytes) -> str:
    """A header of a request; empty if it is missing or sent twice."""
    found = [value for key, value in scope["headers"] if key == name]
    return found[0].decode("latin-1") if len(found) == 1 else ""


def _place(origin: str) -> str:
    """Host and port of an Origin; empty if it has none."""
    try:
        return urlsplit(origin).netloc.casefold()
    except ValueError:
        return ""


def serve(host: str, port: int, names: Iterable[str] = (), control: Path | None = None, operated: bool = False) -> None:
    """Serve the page until the process is ended.

    Parameters
    ----------
    host, port
        Where to listen.
    names
        Names that the page may be asked for by, besides its address.
    control
        Control socket of the `raidsim serve` that the page shows; None: none.
    operated
        If true, visitors may fail and replace drives of its array.
    """
    from starlette.middleware import Middleware
    from streamlit.starlette import App

    from .work.live import watch
    from .work.service import warm_up

    watch(control, operated)
    warm_up()
    app = App(PAGE, middleware=[Middleware(Guard, hosts=HostList(host, names))])
    app.run(config=server_options(host, port))


def server_options(host: str, port: int) -> dict[str, object]:
    """How Streamlit is set: quiet, without reports to its makers, without traces of errors for visitors."""
    return {
        "server.address": host,
        "server.port": port,
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.maxUploadSize": 1,
        "server.maxMessageSize": 50,
        "server.enableXsrfProtection": True,
        "server.enableCORS": True,
        "browser.gatherUsageStats": False,
        "browser.serverAddress": host,
        "client.allowedOrigins": [],
        "client.toolbarMode": "viewer",
        "client.showErrorDetails": "none",
        "global.developmentMode": False,
        "global.disableWidgetStateDuplicationWarning": True,
        "logger.level": "warning",
        "runner.magicEnabled": False,
        **theme_options(),
    }
