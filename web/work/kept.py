"""Answers that are kept for all visitors of the server: the same question has the same answer, to the last digit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

MOST_KEPT = 128
"""Answers; the one that was asked for least recently is dropped."""


class Kept:
    """Final answers by question.

    Parameters
    ----------
    most
        Answers that are kept.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._found: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, kind: str, key: str) -> Any:
        """The answer to a question; None if it is not known.

        Parameters
        ----------
        kind
            What is asked.
        key
            Of which design.
        """
        with self._changing:
            if (kind, key) not in self._found:
                return None
            self._found.move_to_end((kind, key))
            return self._found[kind, key]

    def keep(self, kind: str, key: str, answer: Any) -> None:
        """Keep the answer to a question."""
        with self._changing:
            self._found[kind, key] = answer
            self._found.move_to_end((kind, key))
            while len(self._found) > self._most:
                self._found.popitem(last=False)
