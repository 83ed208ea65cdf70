"""`raidsim web`: the explorer in a browser."""

from __future__ import annotations

import importlib.util
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import InputError
from ..api.support.files import how_to_install
from .server import is_local, serve

PORT = 8501


def web_command(
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; default: this machine only."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="TCP port.")] = PORT,
    expose: Annotated[
        bool, typer.Option("--yes-expose", help="Let other machines use it: it has no passwords and no encryption.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A name that the page may be asked for by; several times."),
    ] = None,
    served: Annotated[
        Path | None,
        typer.Option("--serve", metavar="SOCKET", help="Show this array live: the --control of a raidsim serve."),
    ] = None,
    operate: Annotated[
        bool, typer.Option("--operate", help="If true, visitors may fail and replace drives of the served array.")
    ] = False,
) -> None:
    """Explore designs in a browser: build, run, compare, see why."""
    if importlib.util.find_spec("streamlit") is None:
        raise InputError("raidsim web", "Streamlit is not installed", how_to_install("web"))
    if operate and (served is None or allow_host or not is_local(host)):
        other = f"--allow-host {allow_host[0]}" if allow_host else host
        found = "it without --serve" if served is None else f"it with {other}, which other machines may reach"
        raise InputError("--operate", f"found {found}", "expected: --serve SOCKET, and an address of this machine")
    check_address(host, port, expose)
    shown = f"[{host}]" if ":" in host else host
    print(f"raidsim web: http://{shown}:{port} (Ctrl-C ends it)", file=sys.stderr, flush=True)
    if expose and not is_local(host):
        print("warning: anyone who reaches this address can use it", file=sys.stderr, flush=True)
    serve(host, port, allow_host or (), served, operate)


def check_address(host: str, port: int, expose: bool) -> None:
    """Refuse an address of other machines that is not asked for twice, and one that cannot be listened on.

    Raises
    ------
    InputError
        Naming the option.
    """
    if not is_local(host) and not expose:
        found = f"{host}, which other machines may reach"
        raise InputError("--host", found, "expected: 127.0.0.1, ::1, localhost; others with --yes-expose")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise InputError("--host", f"{host[:80]!r} is no address", "expected: an address of this machine") from None
    with socket.socket(family, kind, protocol) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(address)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                "--port", f"{host} port {port} cannot be used ({reason})", "expected: a free one"
            ) from None
