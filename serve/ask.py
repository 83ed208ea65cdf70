"""The other end of the control socket: one question to a running server, and its answer."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from ..model.core.errors import InputError

ANSWER_S = 60.0
"""How long (s) an answer may take: a server that is busy with clients answers between them."""
_MOST_BYTES = 1 << 20


def ask(control: Path, asked: dict[str, Any], answer_s: float = ANSWER_S) -> dict[str, Any]:
    """Ask a running server, and give its answer.

    Parameters
    ----------
    control
        The server's control socket.
    asked
        A command and its arguments: see :mod:`.control`.
    answer_s
        How long (s) the answer may take.

    Raises
    ------
    InputError
        If no server answers.
    """
    received = b""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(answer_s)
            connection.connect(str(control))
            connection.sendall(json.dumps(asked).encode() + b"\n")
            while not received.endswith(b"\n") and len(received) <= _MOST_BYTES:
                part = connection.recv(65536)
                if not part:
                    break
                received += part
        found = json.loads(received)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError("SOCKET", f"{control}: {reason}", "expected: the --control of a running server") from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError("SOCKET", f"{control} gave no answer", "expected: the --control of a running server")
    return found
