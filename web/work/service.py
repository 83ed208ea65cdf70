"""The runs of the server that this process is."""

from __future__ import annotations

from functools import cache

from ..form.fields import DEFAULT
from ..form.forms import built
from .runs import Runs
from .tasks import RunTask

RESULT = "result"
"""The question that the first page asks."""


@cache
def server_runs() -> Runs:
    """The runs of the whole server."""
    return Runs()


def warm_up() -> None:
    """Answer the question of the first page before the first visitor comes."""
    found = built(DEFAULT)
    assert found.scenario is not None
    server_runs().start(RunTask(found.scenario), (RESULT, found.text))
