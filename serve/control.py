"""The control socket: an operator's commands to a running server, one JSON object a line, and one answer a line.

A command is ``{"do": NAME, ...}`` with the arguments of the method of :class:`.service.Service` of that name. The
answer is ``{"ok": true, "at_s": T, ...}`` or ``{"ok": false, "error": TEXT}``. What is no command is answered as well,
and the connection goes on; only a line that is too long ends it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

from ..model.core.errors import InputError, RaidsimError
from .commands import COMMANDS, arguments_of
from .pace import Pace
from .recent import Looks
from .service import Service

MOST_LINE_BYTES = 64 * 1024
MOST_OPERATORS = 8


class Operator:
    """Carries out commands.

    Parameters
    ----------
    service
        What they are done to.
    pace
        Lets the array's time pass; it is told of commands, after which requests may be complete.
    status
        What the server adds to the answer of "status".
    looks
        The figures of "look".
    end
        Ends the server.
    """

    def __init__(
        self, service: Service, pace: Pace, status: Callable[[], dict[str, Any]], looks: Looks, end: Callable[[], None]
    ) -> None:
        self._service = service
        self._pace = pace
        self._status = status
        self._looks = looks
        self._end = end
        self.done: list[tuple[float, str]] = []

    def answer(self, line: bytes) -> bytes:
        """The answer to a line, with its end."""
        try:
            found: dict[str, Any] = {"ok": True, **self._carry_out(_parsed(line))}
        except RaidsimError as error:
            found = {"ok": False, "error": " ".join(str(error).split())}
        return json.dumps(found, allow_nan=False).encode() + b"\n"

    def _carry_out(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = asked.pop("do", None)
        if not isinstance(name, str) or name not in COMMANDS:
            raise InputError("do", f"found {json.dumps(name)}", f"expected: {', '.join(COMMANDS)}")
        arguments = arguments_of(name, asked)
        at = self._pace.array.engine.now
        if name == "status":
            return {"at_s": at, **self._service.status(), **self._status()}
        if name == "look":
            return {"at_s": at, **self._service.status(), **self._looks.document()}
        if name == "end":
            self._end()
            return {"at_s": at, "done": "the server ends"}
        words: str = getattr(self._service, name)(*arguments)
        self.done.append((at, words))
        self._pace.changed()
        return {"at_s": at, "done": words}


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("command", f"found {line[:60]!r}", 'expected: a JSON object such as {"do": "status"}')
    return found


class ControlConnection(asyncio.Protocol):
    """One operator's connection.

    Parameters
    ----------
    operator
        Carries the commands out.
    connections
        All that are open; this one is among them while it is.
    """

    def __init__(self, operator: Operator, connections: set[ControlConnection]) -> None:
        self._operator = operator
        self._connections = connections
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :meth:`asyncio.BaseProtocol.connection_made`."""
        self._transport = cast("asyncio.Transport", transport)
        if len(self._connections) >= MOST_OPERATORS:
            self._transport.abort()
            return
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """See :meth:`asyncio.BaseProtocol.connection_lost`."""
        self._connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """See :meth:`asyncio.Protocol.data_received`."""
        self._buffer += data
        while (end := self._buffer.find(b"\n")) >= 0 and not self._transport.is_closing():
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if line.strip():
                self._transport.write(self._operator.answer(line))
        if len(self._buffer) > MOST_LINE_BYTES:
            self._transport.close()

    def close(self) -> None:
        """Disconnect when the answers have gone out."""
        self._transport.close()
