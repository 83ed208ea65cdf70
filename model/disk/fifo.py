"""Requests that wait, first in, first out."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from ..core.request import Request

_KEPT: Final = 64
"""Places of requests that have left are removed when there are this many of them, and as many as of those that wait."""


class RequestFifo:
    """A queue of requests, a list that compiled code reads without a call of Python's."""

    __slots__ = ("_head", "_requests")

    def __init__(self) -> None:
        self._requests: list[Request] = []
        self._head: i64 = 0  # where the queue begins: what is before has left

    def __len__(self) -> int:
        return len(self._requests) - self._head

    def push(self, request: Request) -> None:
        """Put a request at the end."""
        self._requests.append(request)

    def pop(self) -> Request:
        """Take the request that has waited longest; there is one."""
        requests, head = self._requests, self._head
        request = requests[head]
        head += 1
        if head == len(requests):
            requests.clear()
            head = 0
        elif head >= _KEPT and 2 * head >= len(requests):
            del requests[:head]
            head = 0
        self._head = head
        return request
