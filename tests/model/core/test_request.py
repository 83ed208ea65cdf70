"""A request: small, and its own completion event."""

from __future__ import annotations

import pytest

from raidsim.model.core.request import FLUSHER_ISSUER, PREREAD_ISSUER, READ, RESYNC_ISSUER, WRITE, Request


def test_a_request_takes_no_other_attributes() -> None:
    """Protects the price of a member I/O: no dictionary per request, and no misspelt field."""
    request = Request(READ, 0, 512, lambda _: None)
    assert not hasattr(request, "__dict__")
    with pytest.raises(AttributeError):
        request.ofset = 1  # type: ignore[attr-defined]


def test_somebody_waits_unless_said_otherwise() -> None:
    """Protects the default of `sync`, which arrays and schedulers act on."""
    assert Request(READ, 0, 512, lambda _: None).sync
    assert not Request(WRITE, 0, 512, lambda _: None, sync=False).sync


def test_kernel_threads_are_no_programs() -> None:
    """Protects schedulers and idle detection from taking a kernel thread for a process: programs are positive."""
    kernel = {FLUSHER_ISSUER, RESYNC_ISSUER, PREREAD_ISSUER}
    assert len(kernel) == 3
    assert max(kernel) < 0


def test_it_says_what_it_is() -> None:
    """Protects error messages, which name the request."""
    assert repr(Request(WRITE, 4096, 512, lambda _: None)) == "Request(WRITE, offset=4096, size=512)"
    assert repr(Request(READ, 0, 1, lambda _: None)) == "Request(READ, offset=0, size=1)"
