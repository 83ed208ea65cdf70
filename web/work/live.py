"""The served array that the page shows: one connection for all visitors, and the figures of the last two minutes.

The socket is named where the page is started, and nowhere else: a visitor can neither choose nor read its path.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ... import InputError
from ...serve.ask import ask
from ...serve.recent import Look

KEPT = 120
"""Looks that are kept, one a second."""
ACTIONS = ("fail", "insert")
"""What visitors may do to the array, where they may do anything."""
_EVERY_S = 0.9
_ANSWER_S = 3.0
"""A visitor waits this long for figures. A command to a drive may take longer: a busy server carries it out anyway."""


@dataclass(frozen=True, slots=True)
class ArrayState:
    """Drives of a served array: all in its slots, those that have failed, those that are rebuilt, and hot spares."""

    members: tuple[str, ...]
    failed: tuple[str, ...]
    rebuilding: tuple[str, ...]
    spares: int


@dataclass(frozen=True, slots=True)
class Seen:
    """One answer of the server: what is served, the state of its arrays, and the figures of the last second."""

    served: str
    arrays: Mapping[str, ArrayState]
    look: Look


_SEEN = TypeAdapter(Seen)


class Watched:
    """A served array.

    Parameters
    ----------
    control
        The control socket of its server.
    operated
        If true, visitors may fail and replace drives.

    Attributes
    ----------
    is_other_version
        Whether the last answer could not be read: that of a server of another version.
    """

    def __init__(self, control: Path, operated: bool = False) -> None:
        self._control = control
        self.operated = operated
        self._seen: deque[Seen] = deque(maxlen=KEPT)
        self._asked_s = -_EVERY_S
        self._answers = False
        self.is_other_version = False
        self._asking = threading.Lock()

    def seen(self) -> tuple[bool, tuple[Seen, ...]]:
        """Whether the server answers, and what was seen of it in the last two minutes."""
        with self._asking:
            if time.monotonic() - self._asked_s >= _EVERY_S:
                try:
                    self._take(_SEEN.validate_python(ask(self._control, {"do": "look"}, _ANSWER_S)))
                    self._answers = True
                except (InputError, ValidationError) as error:  # the page says which
                    self._answers, self.is_other_version = False, isinstance(error, ValidationError)
                self._asked_s = time.monotonic()
            return self._answers, tuple(self._seen)

    def _take(self, found: Seen) -> None:
        if self._seen and found.look.at_s < self._seen[-1].look.at_s:
            self._seen.clear()  # another server has taken the place of the first
        if not self._seen or found.look.at_s > self._seen[-1].look.at_s:
            self._seen.append(found)
        else:  # simulated time stands still while no program asks: the last figures stay
            self._seen[-1] = replace(self._seen[-1], arrays=found.arrays)

    def do(self, action: str, drive: str) -> str:
        """Do something to a drive, and say what was done.

        Raises
        ------
        InputError
            If visitors may not, or the server refuses.
        """
        if not self.operated or action not in ACTIONS:
            raise InputError("action", f"found {action}", "expected: a page that was started with --operate")
        answer = ask(self._control, {"do": action, "drive": drive})
        if not answer.get("ok"):
            raise InputError(action, str(answer.get("error", "no answer"))[:300], "see the server")
        self._asked_s = -_EVERY_S
        return str(answer.get("done", ""))


_watched: list[Watched] = []


def watch(control: Path | None, operated: bool = False) -> None:
    """Say which served array all pages of this process show; None: none."""
    _watched[:] = [] if control is None else [Watched(control, operated)]


def watched() -> Watched | None:
    """The served array that the page shows."""
    return _watched[0] if _watched else None
